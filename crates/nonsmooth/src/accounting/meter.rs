//! Kinetic and potential energy of a system.

use crate::contract::Evaluator;
use complementarity::linear::Matrix;
use complementarity::linear::dense::dot;

/// Measures the kinetic energy of one system, the first that it is used for.
#[derive(Default)]
pub struct Meter {
    /// Made at the first use.
    mass: Option<Matrix>,
    /// Whether `mass` holds M for good, since it is constant.
    assembled: bool,
    momentum: Vec<f64>,
}

impl Meter {
    /// ½ uᵀM(t,q)u, J.
    pub fn kinetic(&mut self, system: &Evaluator, t: f64, q: &[f64], u: &[f64]) -> f64 {
        let s = system.structure();
        let mass = self.mass.get_or_insert_with(|| Matrix::new(&s.mass_pattern));
        if !self.assembled {
            mass.clear();
            system.mass(t, q, mass);
            self.assembled = s.constant_mass;
        }
        self.momentum.resize(u.len(), 0.0);
        mass.multiply(u, &mut self.momentum);
        0.5 * dot(u, &self.momentum)
    }

    /// ½ (dt h)ᵀM⁻¹(dt h) at (t,q,u), J: the kinetic energy that forces alone give a body at rest within dt.
    pub(crate) fn kick(&mut self, system: &Evaluator, (t, q, u): (f64, &[f64], &[f64]), dt: f64) -> f64 {
        self.kinetic(system, t, q, u);
        let Some(mass) = self.mass.as_mut() else { return 0.0 };
        if mass.factor().is_err() {
            return 0.0;
        }
        let mut h = vec![0.0; u.len()];
        system.forces(t, q, u, &mut h);
        let mut a = h.clone();
        mass.solve(&mut a);
        0.5 * dt * dt * dot(&h, &a)
    }
}

/// Σ V_i(t,q), J.
pub fn potential_energy(system: &Evaluator, t: f64, q: &[f64]) -> f64 {
    let forces = system.structure().forces.iter().enumerate();
    forces.filter(|(_, f)| f.potential).fold(0.0, |sum, (i, _)| sum + system.potential(i, t, q))
}
