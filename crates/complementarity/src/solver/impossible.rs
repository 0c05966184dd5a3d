//! A proof that there is no solution, for symmetric A.
//!
//! Every contact has u_N ≥ 0, open or closed, with or without friction; every bilateral row has u = 0. Let d ≥ 0 on the normal rows, of any sign
//! on bilateral ones and zero elsewhere, with A d = 0 and bᵀd < 0. Then 0 ≤ uᵀd = bᵀd + rᵀA d = bᵀd < 0 for every r: the constraints
//! contradict each other, as for a body between two approaching walls. If A d is only almost zero, every solution has
//! ‖r‖ ≥ |bᵀd|/‖A d‖. A bound above 1e8 times ‖b‖/max A_ii counts as no solution.
//!
//! d is the drift of a proximal point iteration for the problem without friction: where there is no solution its steps tend to such a direction.

use super::Options;
use super::proximal::Proximal;
use crate::linear::dense::{dot, max_norm, norm};
use crate::problem::{Problem, ReducedMatrix};
use crate::sets::{MAX_DIM, Set};

/// Scratch. See the [module](self).
#[derive(Debug, Default)]
pub(super) struct Impossible {
    frictionless: Problem,
    proximal: Proximal,
    d: Vec<f64>,
    image: Vec<f64>,
}

/// Bound on ‖r‖, relative to ‖b‖/max A_ii, above which there is no solution.
const MAX_PERCUSSION_RATIO: f64 = 1e8;
/// Largest |A − Aᵀ| of a symmetric matrix, relative to the largest entry.
const SYMMETRY_TOLERANCE: f64 = 1e-12;

impl Impossible {
    /// Whether there is a proof; then also the block that has the largest part in it.
    pub(super) fn proof(&mut self, problem: &Problem, options: &Options) -> Option<usize> {
        let symmetric = match problem.matrix() {
            ReducedMatrix::Gram(_) => true,
            ReducedMatrix::BlockSparse(a) => a.has_symmetric_pattern() && a.is_symmetric(SYMMETRY_TOLERANCE),
            ReducedMatrix::Dense(a) => {
                let limit = SYMMETRY_TOLERANCE * max_norm(a.data());
                (0..a.rows()).all(|i| (0..i).all(|j| (a[(i, j)] - a[(j, i)]).abs() <= limit))
            }
        };
        if !symmetric {
            return None;
        }
        self.frictionless.clone_from(problem);
        for (i, block) in problem.blocks().iter().enumerate() {
            match &block.set {
                Set::Coulomb { dim, .. } => self.frictionless.replace_set(i, Set::Coulomb { dim: *dim, mu: 0.0 }),
                Set::Polyhedral { polygon, .. } => {
                    self.frictionless.replace_set(i, Set::Polyhedral { mu: 0.0, polygon: polygon.clone() });
                }
                Set::Free { .. } | Set::NonNegative | Set::Interval { .. } | Set::Ball { .. } => {}
            }
        }
        self.d.clear();
        self.d.extend_from_slice(self.proximal.drift(&self.frictionless, options)?);
        // Onto the directions that prove something.
        for block in problem.blocks() {
            let own = &mut self.d[block.start..block.start + block.set.dim()];
            match &block.set {
                Set::Free { .. } => {}
                Set::NonNegative => own[0] = own[0].max(0.0),
                Set::Coulomb { .. } | Set::Polyhedral { .. } => {
                    own[0] = own[0].max(0.0);
                    own[1..].fill(0.0);
                }
                Set::Interval { lower, upper } => {
                    let from = if *lower == f64::NEG_INFINITY { f64::NEG_INFINITY } else { 0.0 };
                    let to = if *upper == f64::INFINITY { f64::INFINITY } else { 0.0 };
                    own[0] = own[0].clamp(from, to);
                }
                Set::Ball { .. } => own.fill(0.0),
            }
        }
        let size = norm(&self.d);
        if !(size > 0.0 && size.is_finite()) {
            return None;
        }
        let mut largest: f64 = 0.0;
        for (i, block) in problem.blocks().iter().enumerate() {
            let (d, mut a) = (block.set.dim(), [0.0; MAX_DIM * MAX_DIM]);
            problem.diagonal_block(i, &mut a);
            largest = (0..d).map(|k| a[k * d + k]).fold(largest, f64::max);
        }
        // Of the natural size ‖b‖/max A_ii: then A d is of the size of b, and its rounding known.
        let scale = norm(problem.b());
        self.d.iter_mut().for_each(|v| *v *= scale / (size * largest));
        self.image.resize(problem.size(), 0.0);
        problem.velocity(&self.d, &mut self.image);
        self.image.iter_mut().zip(problem.b()).for_each(|(v, b)| *v -= b);
        let image = norm(&self.image).max(4.0 * f64::EPSILON * scale);
        let work = dot(problem.b(), &self.d);
        if !(work < 0.0 && -work * largest >= MAX_PERCUSSION_RATIO * image * scale) {
            return None;
        }
        let part = |i: usize| {
            let block = &problem.blocks()[i];
            norm(&self.d[block.start..block.start + block.set.dim()])
        };
        (0..problem.blocks().len()).max_by(|&i, &j| part(i).total_cmp(&part(j)))
    }
}
