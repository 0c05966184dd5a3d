//! Whether forces are too stiff for the positions of (67).

use super::{Position, Tdg};
use crate::contract::Evaluator;
use crate::state::State;
use complementarity::linear::Matrix;
use complementarity::linear::dense::norm;

/// Steps of the power iteration for the stiffness.
const POWER: usize = 6;

/// h_q B dt² + h_u dt and M at the start, and two vectors.
pub(super) struct Stiffness {
    matrix: Matrix,
    mass: Matrix,
    x: Vec<f64>,
    y: Vec<f64>,
    /// The step length that the last estimate is for, where nothing else changes it.
    known: Option<(f64, f64)>,
}

impl Tdg {
    /// Whether forces are so stiff that (67) would not be stable.
    pub(super) fn is_stiff(&mut self, system: &Evaluator, start: &State, dt: f64) -> bool {
        match self.options.position {
            Position::Continuous => return false,
            Position::Discontinuous => return self.tableau.degree() > 0,
            Position::Auto if self.tableau.degree() == 0 => return false,
            Position::Auto => {}
        }
        let s = system.structure();
        let stiffness = self.stiffness.get_or_insert_with(|| {
            Box::new(Stiffness {
                matrix: Matrix::new(&s.pattern),
                mass: Matrix::new(&s.mass_pattern),
                x: vec![0.0; s.nu()],
                y: vec![0.0; s.nu()],
                known: None,
            })
        });
        let limit = (1.0 + 0.5 * self.tableau.degree() as f64).powi(2);
        let Stiffness { matrix, mass, x, y, known } = &mut **stiffness;
        if let Some((length, estimate)) = *known
            && length == dt
        {
            return estimate > limit;
        }
        matrix.clear();
        for i in 0..s.forces.len() {
            system.force_jacobian(i, start.t, &start.q, &start.u, dt * dt, dt, matrix);
        }
        mass.clear();
        system.mass(start.t, &start.q, mass);
        // A mass matrix without factors shows at the stages.
        if mass.factor().is_err() {
            return false;
        }
        // Anything that is not orthogonal to a mode: entries of both signs, none alike.
        x.iter_mut().enumerate().for_each(|(i, x)| *x = ((i * 7 + 3) % 11) as f64 - 5.3);
        let mut estimate = 0.0;
        for _ in 0..POWER {
            let size = norm(x);
            if !(size > 0.0 && size.is_finite()) {
                break;
            }
            x.iter_mut().for_each(|x| *x /= size);
            matrix.multiply(x, y);
            mass.solve(y);
            std::mem::swap(x, y);
            estimate = norm(x);
        }
        if s.constant_mass && s.forces.iter().all(|f| f.constant_jacobian) {
            *known = Some((dt, estimate));
        }
        estimate > limit
    }
}
