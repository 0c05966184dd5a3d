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
    /// A block of M, for its Cholesky factor.
    block: Vec<f64>,
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

    /// What is wrong with M(t,q): the velocity at which a block is not symmetric or not positive definite. A block of M that is not makes M
    /// not either; blocks that share no velocity decide.
    pub fn mass_flaw(&mut self, system: &Evaluator, t: f64, q: &[f64]) -> Option<MassFlaw> {
        let s = system.structure();
        if s.constant_mass {
            return None;
        }
        let mass = self.mass.get_or_insert_with(|| Matrix::new(&s.mass_pattern));
        mass.clear();
        system.mass(t, q, mass);
        let (mut flaw, a) = (None, &mut self.block);
        s.mass_pattern.for_each_clique(|dofs| {
            let n = dofs.len();
            if flaw.is_some() || n > MAX_BLOCK {
                return;
            }
            a.clear();
            a.extend((0..n * n).map(|k| mass.get(dofs[k / n], dofs[k % n])));
            flaw = block_flaw(a, n).map(|(symmetric, row)| MassFlaw { symmetric, velocity: dofs[row] });
        });
        flaw
    }
}

/// Largest block of M that is looked at.
const MAX_BLOCK: usize = 64;

/// A mass matrix that is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MassFlaw {
    /// Whether it is symmetric, and not positive definite then.
    pub symmetric: bool,
    /// A velocity at which it shows.
    pub velocity: usize,
}

/// Whether a matrix is symmetric, and the row at which it is not or at which its Cholesky factor ends.
fn block_flaw(a: &mut [f64], n: usize) -> Option<(bool, usize)> {
    for i in 0..n {
        let d = a[i * n + i];
        if !(d > 0.0 && d.is_finite()) {
            return Some((true, i));
        }
        for j in 0..i {
            let scale = (d * a[j * n + j]).sqrt();
            // To rounding of a sum of a few contributions.
            if !((a[i * n + j] - a[j * n + i]).abs() <= 1e-12 * scale) {
                return Some((false, i));
            }
        }
    }
    for k in 0..n {
        let diagonal = a[k * n + k];
        let d = (0..k).fold(diagonal, |d, j| d - a[k * n + j] * a[k * n + j]);
        // A pivot below n rounding errors of its diagonal entry is none.
        if !(d > n as f64 * f64::EPSILON * diagonal) {
            return Some((true, k));
        }
        let l = d.sqrt();
        a[k * n + k] = l;
        for i in k + 1..n {
            let v = (0..k).fold(a[i * n + k], |v, j| v - a[i * n + j] * a[k * n + j]);
            a[i * n + k] = v / l;
        }
    }
    None
}

/// Σ V_i(t,q), J.
pub fn potential_energy(system: &Evaluator, t: f64, q: &[f64]) -> f64 {
    let forces = system.structure().forces.iter().enumerate();
    forces.filter(|(_, f)| f.potential).fold(0.0, |sum, (i, _)| sum + system.potential(i, t, q))
}
