//! Proximal point iteration around the other solvers, for dense problems that are rank-deficient and hard to settle.
//!
//! ```text
//! r_{k+1} solves   −û_i ∈ N_{C_i}(r_i),   u = (A + ρI) r + b − ρ r_k
//! ```
//!
//! Every inner problem has a positive definite matrix where A is positive semidefinite, so that Newton and block
//! Gauss-Seidel settle; a fixed point solves the problem itself. ρ falls while the outer residual falls and rises when an
//! inner problem is not solved.

use super::{Best, GaussSeidel, Judge, Newton, Options, Report, Solver, Status};
use crate::problem::{Problem, ReducedMatrix};
use crate::sets::Set;

#[derive(Debug, Default)]
pub(super) struct Proximal {
    inner: Problem,
    newton: Newton,
    gauss_seidel: GaussSeidel,
    judge: Judge,
    best: Best,
    next: Vec<f64>,
}

/// Outer iterations.
const MAX_OUTER: usize = 200;
/// Sweeps of an inner Gauss-Seidel.
const INNER_SWEEPS: usize = 500;

impl Proximal {
    pub(super) fn solve(&mut self, problem: &Problem, r: &mut [f64], options: &Options) -> Report {
        let mut report = Report::failed("proximal", Status::Stalled);
        let Some(a) = problem.as_dense() else {
            report.status = Status::Unsupported;
            return report;
        };
        let largest = (0..a.rows()).map(|i| a[(i, i)].abs()).fold(0.0, f64::max);
        let mut rho = 1e-2 * largest;
        self.best.start();
        report.residual = self.judge.residual(problem, r);
        self.best.note(r, report.residual);
        for _ in 0..MAX_OUTER {
            if options.out_of_time() {
                report.status = Status::TimeLimit;
                break;
            }
            problem.densify(&mut self.inner);
            if let ReducedMatrix::Dense(m) = &mut self.inner.matrix {
                // Bilateral rows are linear and stay as they are.
                for block in problem.blocks().iter().filter(|b| !matches!(b.set, Set::Free { .. })) {
                    for i in block.start..block.start + block.set.dim() {
                        m[(i, i)] += rho;
                        self.inner.b[i] -= rho * r[i];
                    }
                }
            }
            self.next.clear();
            self.next.extend_from_slice(r);
            let mut inner = self.newton.solve(&self.inner, &mut self.next, options);
            report.iterations += inner.iterations;
            if !inner.solved() {
                let limited = Options { max_iterations: INNER_SWEEPS, ..*options };
                inner = self.gauss_seidel.solve(&self.inner, &mut self.next, &limited);
                report.iterations += inner.iterations;
                if !inner.solved() {
                    inner = self.newton.solve(&self.inner, &mut self.next, options);
                    report.iterations += inner.iterations;
                }
            }
            // An inner problem that is not solved still moves on, with more regularisation next time.
            r.copy_from_slice(&self.next);
            let residual = self.judge.residual(problem, r);
            rho = if inner.solved() && residual < report.residual { 0.5 * rho } else { (4.0 * rho).min(largest) };
            report.residual = residual;
            self.best.note(r, residual);
            if residual <= options.tolerance {
                report.status = Status::Solved;
                return report;
            }
            if !residual.is_finite() {
                break;
            }
        }
        self.best.restore(r, &mut report);
        report
    }
}
