//! Figures that characterise a reduced problem.

use crate::linear::dense::norm;
use crate::problem::{Problem, ReducedMatrix};
use crate::sets::Set;

/// Size, filling and symmetry of a reduced problem.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProblemSummary {
    /// Rows of r and u.
    pub rows: usize,
    /// Blocks of r.
    pub blocks: usize,
    /// Blocks of A with an entry that is not zero.
    pub filled: usize,
    /// Largest absolute entry of A.
    pub largest: f64,
    /// max |A − Aᵀ| / max |A|, zero for A = 0.
    pub asymmetry: f64,
    /// ‖b‖₂.
    pub b_norm: f64,
    /// Smallest and largest friction coefficient, if there is friction.
    pub mu: Option<(f64, f64)>,
}

impl ProblemSummary {
    /// The figures of a problem.
    pub fn of(problem: &Problem) -> Self {
        let mut expanded = Problem::default();
        problem.expand(&mut expanded);
        let blocks = expanded.blocks();
        let (mut filled, mut largest, mut gap) = (0, 0.0_f64, 0.0_f64);
        let mut visit = |i: usize, j: usize, v: &dyn Fn(usize, usize) -> f64, t: &dyn Fn(usize, usize) -> f64| {
            let mut max = 0.0_f64;
            for p in 0..blocks[i].set.dim() {
                for q in 0..blocks[j].set.dim() {
                    max = max.max(v(p, q).abs());
                    gap = gap.max((v(p, q) - t(q, p)).abs());
                }
            }
            filled += usize::from(max > 0.0);
            largest = largest.max(max);
        };
        match expanded.matrix() {
            ReducedMatrix::Dense(a) => {
                for i in 0..blocks.len() {
                    for j in 0..blocks.len() {
                        let (s, t) = (blocks[i].start, blocks[j].start);
                        visit(i, j, &|p, q| a[(s + p, t + q)], &|q, p| a[(t + q, s + p)]);
                    }
                }
            }
            ReducedMatrix::BlockSparse(a) => {
                for i in 0..blocks.len() {
                    for k in a.row[i]..a.row[i + 1] {
                        let j = a.column[k];
                        let (d, e) = (blocks[i].set.dim(), blocks[j].set.dim());
                        let v = &a.values[a.offset[k]..];
                        let opposite = (a.row[j]..a.row[j + 1]).find(|&l| a.column[l] == i);
                        let w = opposite.map(|l| &a.values[a.offset[l]..]);
                        visit(i, j, &|p, q| v[p * e + q], &|q, p| w.map_or(0.0, |w| w[q * d + p]));
                    }
                }
            }
            // Expanded above.
            ReducedMatrix::Gram(_) => {}
        }
        let mut mu = None;
        for block in blocks {
            if let Set::Coulomb { mu: m, .. } | Set::Polyhedral { mu: m, .. } = block.set {
                let (low, high) = mu.unwrap_or((m, m));
                mu = Some((m.min(low), m.max(high)));
            }
        }
        let asymmetry = if largest > 0.0 { gap / largest } else { 0.0 };
        let b_norm = norm(expanded.b());
        ProblemSummary { rows: expanded.size(), blocks: blocks.len(), filled, largest, asymmetry, b_norm, mu }
    }
}
