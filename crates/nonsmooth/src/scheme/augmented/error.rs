//! Sizes of differences between approximations of a state.
//!
//! Velocities are compared as they are. Positions are compared as what moves from one to the other within the step: where q̇ = B(t,q) u + β,
//!
//! ```text
//! δq = B⁺ (q_{i,i} − q_{i−1,i−1}),    B⁺ = (BᵀB)⁻¹Bᵀ,
//! ```
//!
//! block of kinematics by block, so that only what a velocity can do counts: of a unit quaternion its three turns, not its length.

use crate::contract::Evaluator;
use complementarity::linear::dense::{lu_factor, lu_solve};

/// Room for B⁺.
#[derive(Default)]
pub(super) struct Tangent {
    by_q: Vec<f64>,
    b: Vec<f64>,
    square: Vec<f64>,
    pivots: Vec<usize>,
    column: Vec<f64>,
}

/// Largest |a − b|; NaN if one is.
pub(super) fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0f64, |m, (a, b)| if (a - b).abs() <= m { m } else { (a - b).abs() })
}

impl Tangent {
    /// Largest entry of B⁺(t,q) (a − b); of a − b where q̇ = u.
    pub(super) fn distance(&mut self, system: &Evaluator, t: f64, q: &[f64], u: &[f64], a: &[f64], b: &[f64]) -> f64 {
        let s = system.structure();
        if s.identity_kinematics() {
            return distance(a, b);
        }
        let mut largest = 0.0f64;
        for (at, block) in s.kinematics.iter().enumerate() {
            let (n, m) = (block.coordinates.len(), block.velocities.len());
            if block.chart {
                // Local coordinates are displacements already.
                for &c in block.coordinates.iter().take(m) {
                    let d = (a[c] - b[c]).abs();
                    if !(d <= largest) {
                        largest = d;
                    }
                }
                continue;
            }
            self.by_q.clear();
            self.b.clear();
            self.b.resize(n * m, 0.0);
            system.kinematics_jacobian(at, t, q, u, &mut self.by_q, &mut self.b);
            self.square.clear();
            self.square.resize(m * m, 0.0);
            self.column.clear();
            self.column.resize(m, 0.0);
            self.pivots.resize(m, 0);
            for (row, &c) in self.b.chunks_exact(m.max(1)).zip(&block.coordinates) {
                for i in 0..m {
                    self.column[i] += row[i] * (a[c] - b[c]);
                    for j in 0..m {
                        self.square[i * m + j] += row[i] * row[j];
                    }
                }
            }
            let regular = lu_factor(&mut self.square, m, &mut self.pivots).is_ok();
            if regular {
                lu_solve(&self.square, m, &self.pivots, &mut self.column);
            }
            let moved =
                |i: usize| if regular { self.column[i] } else { a[block.coordinates[i]] - b[block.coordinates[i]] };
            // Where columns are dependent there is no B⁺: differences of coordinates then.
            for i in 0..if regular { m } else { n } {
                let d = moved(i).abs();
                if !(d <= largest) {
                    largest = d;
                }
            }
        }
        largest
    }
}
