//! Elimination of the bilateral rows of a dense problem.
//!
//! With rows f (free) and c (the rest), A_ff r_f + A_fc r_c + b_f = 0 gives r_f = −A_ff⁺(b_f + A_fc r_c)
//! and the problem A' = A_cc − A_cf A_ff⁺ A_fc, b' = b_c − A_cf A_ff⁺ b_f in the other rows. Redundant
//! constraints make A_ff singular: the pseudo-inverse then gives the multipliers of least norm, and
//! rows that contradict each other show in the residual of the whole problem. All this needs the columns of A_fc to lie in the range of
//! A_ff, as they do for A = WᵀM⁻¹W. Otherwise (a circuit) a failure proves nothing, and the status is `Unsupported`.

use super::{Judge, Options, Report, Status};
use crate::linear::Dense;
use crate::linear::dense::{LeastNorm, norm};
use crate::problem::{Problem, ReducedMatrix};
use crate::sets::Set;

/// Relative compliance after an elimination, below which it is rounding.
const COMPLIANCE_FLOOR: f64 = 1e-12;

#[derive(Debug, Default)]
pub(super) struct Eliminated {
    free: Vec<usize>,
    rest: Vec<usize>,
    /// A_ff⁺ [A_fc b_f], one row per free row.
    x: Vec<f64>,
    reduced: Problem,
    aff: Vec<f64>,
    column: Vec<f64>,
    solution: Vec<f64>,
    r_rest: Vec<f64>,
    least_norm: LeastNorm,
    judge: Judge,
    /// Whether the columns of A_fc lie in the range of A_ff.
    in_range: bool,
}

/// Residual of bilateral rows above which they contradict each other.
const CONTRADICTION_RESIDUAL: f64 = 1e-6;
/// Largest relative distance of a column from the range of A_ff: rounding.
const RANGE_TOLERANCE: f64 = 1e-10;

impl Eliminated {
    /// Runs `inner` on the problem without bilateral rows and completes r. Problems without such
    /// rows, or block-sparse ones, go to `inner` as they are.
    pub(super) fn around(
        &mut self,
        problem: &Problem,
        r: &mut [f64],
        options: &Options,
        mut inner: impl FnMut(&Problem, &mut [f64], &Options) -> Report,
        name: &'static str,
    ) -> Report {
        let has_free = problem.blocks().iter().any(|b| matches!(b.set, Set::Free { .. }));
        let Some(a) = problem.as_dense().filter(|_| has_free) else { return inner(problem, r, options) };
        self.reduce(problem, a);
        self.r_rest.clear();
        self.r_rest.extend(self.rest.iter().map(|&i| r[i]));
        // The residual of the whole is judged below, relative to the whole b: keep the same absolute accuracy.
        let none = |p: &Problem| p.b().iter().all(|b| *b == 0.0);
        let factor = if none(problem) || none(&self.reduced) { 1.0 } else { problem.scale() / self.reduced.scale() };
        let inner_options = Options { tolerance: options.tolerance * factor.clamp(1e-3, 1.0) * 0.5, ..*options };
        let mut report = if self.rest.is_empty() {
            Report::trivial(name)
        } else {
            inner(&self.reduced, &mut self.r_rest, &inner_options)
        };
        self.complete(r);
        report.residual = self.judge.residual(problem, r);
        if report.residual <= options.tolerance {
            report.status = Status::Solved;
        } else if !self.in_range {
            report.status = Status::Unsupported;
        } else if report.status == Status::Infeasible && problem.infeasible_block().is_none() {
            // A compliance that the elimination leaves at the size of rounding proves nothing of the problem itself.
            report.status = Status::Stalled;
        } else if report.status == Status::Solved {
            // The rest is solved, so it is the bilateral rows that do not close: a contradiction, or rounding.
            report.status = match report.residual {
                v if !v.is_finite() => Status::NotFinite,
                v if v > CONTRADICTION_RESIDUAL => Status::Infeasible,
                _ => Status::Stalled,
            };
        }
        report
    }

    fn reduce(&mut self, problem: &Problem, a: &Dense) {
        self.free.clear();
        self.rest.clear();
        self.reduced.clear_blocks();
        self.reduced.b.clear();
        self.reduced.measure = problem.measure;
        for block in problem.blocks() {
            let rows = block.start..block.start + block.set.dim();
            if matches!(block.set, Set::Free { .. }) {
                self.free.extend(rows);
            } else {
                self.rest.extend(rows);
                self.reduced.push_block(block.set.clone());
            }
        }
        let (nf, nc) = (self.free.len(), self.rest.len());
        self.aff.clear();
        for &i in &self.free {
            self.aff.extend(self.free.iter().map(|&j| a[(i, j)]));
        }
        self.x.clear();
        self.x.resize(nf * (nc + 1), 0.0);
        self.solution.clear();
        self.solution.resize(nf, 0.0);
        self.in_range = true;
        for col in 0..=nc {
            self.column.clear();
            self.column.extend(self.free.iter().map(
                |&i| {
                    if col < nc { a[(i, self.rest[col])] } else { problem.b()[i] }
                },
            ));
            let (_, left) = self.least_norm.solve(&self.aff, nf, &self.column, &mut self.solution, 1e-12);
            self.in_range &= col == nc || left <= RANGE_TOLERANCE * norm(&self.column).max(norm(&self.aff));
            for k in 0..nf {
                self.x[k * (nc + 1) + col] = self.solution[k];
            }
        }
        if !matches!(self.reduced.matrix, ReducedMatrix::Dense(_)) {
            self.reduced.matrix = ReducedMatrix::default();
        }
        if let ReducedMatrix::Dense(m) = &mut self.reduced.matrix {
            m.reset(nc, nc);
            for (p, &i) in self.rest.iter().enumerate() {
                let mut b = problem.b()[i];
                for (q, &j) in self.rest.iter().enumerate() {
                    m[(p, q)] = a[(i, j)];
                }
                for (k, &f) in self.free.iter().enumerate() {
                    let aif = a[(i, f)];
                    for q in 0..nc {
                        m[(p, q)] -= aif * self.x[k * (nc + 1) + q];
                    }
                    b -= aif * self.x[k * (nc + 1) + nc];
                }
                self.reduced.b.push(b);
            }
            // A direction that the bilateral rows hold has no compliance left: what remains is rounding.
            for (p, &i) in self.rest.iter().enumerate() {
                if m[(p, p)] <= COMPLIANCE_FLOOR * a[(i, i)] {
                    for q in 0..nc {
                        m[(p, q)] = 0.0;
                        m[(q, p)] = 0.0;
                    }
                    let size = problem.b()[i].abs()
                        + self
                            .free
                            .iter()
                            .enumerate()
                            .map(|(k, &f)| (a[(i, f)] * self.x[k * (nc + 1) + nc]).abs())
                            .sum::<f64>();
                    if self.reduced.b[p].abs() <= COMPLIANCE_FLOOR * size {
                        self.reduced.b[p] = 0.0;
                    }
                }
            }
        }
    }

    fn complete(&self, r: &mut [f64]) {
        let nc = self.rest.len();
        for (q, &i) in self.rest.iter().enumerate() {
            r[i] = self.r_rest[q];
        }
        for (k, &f) in self.free.iter().enumerate() {
            let row = &self.x[k * (nc + 1)..(k + 1) * (nc + 1)];
            r[f] = -row[nc] - crate::linear::dense::dot(&row[..nc], &self.r_rest);
        }
    }
}
