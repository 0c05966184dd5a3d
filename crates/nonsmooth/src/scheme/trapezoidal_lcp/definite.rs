//! Whether M̃ is positive definite, as [Potra2006, Theorem 6.1] asks for, and by how much:
//!
//! ```text
//! xᵀ M̃ x ≥ θ xᵀ M̄ x for all x,   θ = 0.95.
//! ```
//!
//! Where forces drive the motion, M̃ = M̄ − (h/2) k̃_v − (h²/4) k̃_q is smaller than inertia. Close to singular it is positive definite still, and the step is wrong by orders of magnitude: a motion that
//! grows by exp(z) in a step grows by (1 + z/2)/(1 − z/2). With θ = 0.95 it is z ≤ 0.45 for a force that drives by position, z ≤ 0.1 for one that drives by velocity, and growth is right to 1 %.
//!
//! Driven motions do not stay where their forces are linear. In a step that is driven, and in those after it that are long enough for what was left out there to matter (it grows with h² and fades by 4 from step to step), the force at the end, s = h, and in the middle of the path, s = h/2, must be the one of the linearisation,
//!
//! ```text
//! ‖M̃⁻¹ (h/2) (k(t+s, q(s), v(s)) − k(t+s, q, v) − k̃_q (q(s) − q) − k̃_v (v(s) − v))‖ ≤ 0.02 (‖v‖ + ‖v̄‖)   in the norm of M̄.
//! ```
//!
//! At the end alone a force that turns round on the way, as that of the van der Pol oscillator, may be right by chance.
//!
//! A longer step is refused.

use complementarity::linear::Matrix;

/// Part of inertia that forces must leave.
const MIN_INERTIA_SHARE: f64 = 0.95;
/// Part of inertia that forces leave which do not drive.
const UNDRIVEN_INERTIA_SHARE: f64 = 1.0 - 1e-9;
/// Largest velocity that the linearisation may leave out, and up to which nobody asks after a driven step, relative to that of the motion.
pub(super) const MAX_LINEARISATION_ERROR: f64 = 0.02;
pub(super) const FORGET_DRIVE_BELOW: f64 = 0.002;
/// Rounding of sums of a row, relative to its entries.
const ROUNDING: f64 = 1e-12;

/// Workspace: a Cholesky factorisation by its envelope, in the numbering of the velocities.
#[derive(Default)]
pub(super) struct Definite {
    /// By row: what M̃ − M̄ has on the diagonal, and beside it.
    diagonal: Vec<f64>,
    beside: Vec<f64>,
    /// First column of every row, and where its values begin.
    first: Vec<usize>,
    begin: Vec<usize>,
    values: Vec<f64>,
}

impl Definite {
    /// Whether forces drive the motion; or the velocity at which M̃ − θ M̄ stops being positive definite.
    pub(super) fn drives(&mut self, tilde: &Matrix, mass: &Matrix) -> Result<bool, usize> {
        if self.only_resists(tilde, mass) {
            return Ok(false);
        }
        match self.factor(tilde, mass, MIN_INERTIA_SHARE) {
            Some(at) => Err(at),
            None => Ok(self.factor(tilde, mass, UNDRIVEN_INERTIA_SHARE).is_some()),
        }
    }

    /// Whether M̃ − M̄ is positive semidefinite since its diagonal dominates (Gershgorin): springs in a chain, dampers, nothing at all.
    fn only_resists(&mut self, tilde: &Matrix, mass: &Matrix) -> bool {
        let n = tilde.size();
        for row in [&mut self.diagonal, &mut self.beside] {
            row.clear();
            row.resize(n, 0.0);
        }
        let Self { diagonal, beside, .. } = self;
        tilde.for_each_entry(|i, j, v| {
            let change = v - mass.get(i, j);
            if i == j {
                diagonal[i] = change;
            } else {
                beside[i] += 0.5 * change.abs();
                beside[j] += 0.5 * change.abs();
            }
        });
        diagonal.iter().zip(beside).all(|(d, b)| *d >= *b - ROUNDING * *b)
    }

    /// The velocity at which M̃ − left·M̄ stops being positive definite, if there is one.
    fn factor(&mut self, tilde: &Matrix, mass: &Matrix, left: f64) -> Option<usize> {
        let n = tilde.size();
        self.first.clear();
        self.first.extend(0..n);
        let first = &mut self.first;
        tilde.for_each_entry(|i, j, v| {
            if v != 0.0 {
                let (low, high) = (i.min(j), i.max(j));
                first[high] = first[high].min(low);
            }
        });
        self.begin.clear();
        let mut length = 0;
        for (i, first) in self.first.iter().enumerate() {
            self.begin.push(length);
            length += i - first + 1;
        }
        let Self { first, begin, values, .. } = self;
        values.clear();
        values.resize(length, 0.0);
        tilde.for_each_entry(|i, j, v| {
            let (low, high) = (i.min(j), i.max(j));
            if low >= first[high] {
                let part = if low == high { 1.0 } else { 0.5 };
                values[begin[high] + low - first[high]] += part * (v - left * mass.get(i, j));
            }
        });
        for i in 0..n {
            for j in first[i]..=i {
                let from = first[i].max(first[j]);
                let a = &values[begin[i] + from - first[i]..begin[i] + j - first[i]];
                let b = &values[begin[j] + from - first[j]..begin[j] + j - first[j]];
                let sum: f64 = a.iter().zip(b).map(|(a, b)| a * b).sum();
                let rest = values[begin[i] + j - first[i]] - sum;
                if i == j {
                    if !(rest > 0.0) {
                        return Some(i);
                    }
                    values[begin[i] + i - first[i]] = rest.sqrt();
                } else {
                    values[begin[i] + j - first[i]] = rest / values[begin[j] + j - first[j]];
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use complementarity::linear::Pattern;

    fn drives(n: usize, tilde: &[f64], mass: &[f64]) -> Result<bool, usize> {
        let mut pattern = Pattern::new(n);
        pattern.couple(&(0..n).collect::<Vec<_>>());
        let matrix = |values: &[f64]| {
            let mut m = Matrix::new(&pattern);
            m.add_all(values);
            m
        };
        Definite::default().drives(&matrix(tilde), &matrix(mass))
    }

    #[test]
    fn forces_must_leave_most_of_inertia() {
        let mass = [2.0, 0.0, 0.0, 1.0];
        assert_eq!(drives(2, &mass, &mass), Ok(false));
        assert_eq!(drives(2, &[1.91, 0.0, 0.0, 5.0], &mass), Ok(true));
        assert_eq!(drives(2, &[1.89, 0.0, 0.0, 5.0], &mass), Err(0));
        assert_eq!(drives(2, &[2.0, 0.0, 0.0, 0.94], &mass), Err(1));
        // A spring that is not diagonal in these coordinates; one that drives (1, -1) as well.
        let equal = [2.0, 0.0, 0.0, 2.0];
        assert_eq!(drives(2, &[3.0, 1.0, 1.0, 3.0], &equal), Ok(false));
        assert_eq!(drives(2, &[2.5, 0.55, 0.55, 2.5], &equal), Ok(true));
        assert_eq!(drives(2, &[2.5, 0.8, 0.8, 2.5], &equal), Err(1));
        // What is antisymmetric does no work.
        assert_eq!(drives(2, &[2.0, 50.0, -50.0, 2.0], &equal), Ok(false));
        assert_eq!(drives(2, &[f64::NAN, 0.0, 0.0, 2.0], &equal), Err(0));
    }

    #[test]
    fn a_mass_matrix_that_is_not_diagonal_is_its_own_measure() {
        let mass = [2.0, 1.0, 0.0, 1.0, 2.0, 1.0, 0.0, 1.0, 2.0];
        let of = |scale: f64| mass.map(|m| scale * m);
        assert_eq!(drives(3, &of(1.1), &mass), Ok(false));
        assert_eq!(drives(3, &of(0.96), &mass), Ok(true));
        assert!(drives(3, &of(0.94), &mass).is_err());
    }
}
