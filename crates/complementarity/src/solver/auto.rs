//! The stated ladder. Every rung is judged by the one residual; the first that is solved ends it,
//! otherwise the best r of all rungs is returned with the status of the last.
//!
//! 1. Newton from the start guess (up to 400 rows): in the right mode, one step to rounding accuracy.
//! 2. Newton from zero, if the start guess was not zero.
//! 3. Block Gauss-Seidel from zero, then a Newton finish in the mode found.
//! 4. Lemke, where the sets allow it.

use super::{GaussSeidel, Judge, Lemke, Newton, Options, Report, Solver, SolverInfo, Status, info};
use crate::problem::Problem;

/// The ladder of solvers. See [`super::SOLVERS`].
#[derive(Debug, Default)]
pub struct Auto {
    newton: Newton,
    gauss_seidel: GaussSeidel,
    lemke: Lemke,
    judge: Judge,
    best: Vec<f64>,
    start: Vec<f64>,
}

/// Sweeps before the first Newton finish is tried; then ten times as many.
const FIRST_SWEEPS: usize = 200;

impl Solver for Auto {
    fn info(&self) -> &'static SolverInfo {
        info("auto")
    }

    fn solve(&mut self, problem: &Problem, r: &mut [f64], options: &Options) -> Report {
        if !(problem.b().iter().all(|v| v.is_finite())) {
            return Report::failed("auto", Status::NotFinite);
        }
        self.start.clear();
        self.start.extend_from_slice(r);
        let mut total = Total { report: Report::failed("auto", Status::Stalled), best: &mut self.best };
        total.best.clear();
        total.best.resize(problem.size(), 0.0);

        if total.take(self.newton.solve(problem, r, options), r) {
            return total.report;
        }
        if self.start.iter().any(|&v| v != 0.0) {
            r.fill(0.0);
            if total.take(self.newton.solve(problem, r, options), r) {
                return total.report;
            }
        }
        r.fill(0.0);
        let mut sweeps = FIRST_SWEEPS;
        loop {
            let limited = Options { max_iterations: sweeps.min(options.max_iterations), ..*options };
            let coarse = self.gauss_seidel.solve(problem, r, &limited);
            let finished = coarse.status;
            if total.take(coarse, r) {
                // Solved to the tolerance; the finish makes it exact where the mode is found.
                let mut finish = std::mem::take(&mut self.start);
                finish.clear();
                finish.extend_from_slice(r);
                let report = self.newton.solve(problem, &mut finish, options);
                if report.solved() && report.residual <= total.report.residual {
                    r.copy_from_slice(&finish);
                    total.take(report, r);
                }
                self.start = finish;
                return total.report;
            }
            let mut finish = std::mem::take(&mut self.start);
            finish.clear();
            finish.extend_from_slice(r);
            let done = total.take(self.newton.solve(problem, &mut finish, options), &finish);
            if done {
                r.copy_from_slice(&finish);
            }
            self.start = finish;
            if done {
                return total.report;
            }
            if finished != Status::MaxIterations || sweeps >= options.max_iterations {
                break;
            }
            sweeps *= 10;
        }
        if problem.blocks().iter().all(|b| (info("lemke").handles)(&b.set)) {
            r.fill(0.0);
            let report = self.lemke.solve(problem, r, options);
            if total.take(report, r) {
                return total.report;
            }
        }
        r.copy_from_slice(total.best);
        total.report.residual = self.judge.residual(problem, r);
        total.report
    }
}

struct Total<'a> {
    report: Report,
    best: &'a mut Vec<f64>,
}

impl Total<'_> {
    /// Adds a rung; true if it solved the problem.
    fn take(&mut self, rung: Report, r: &[f64]) -> bool {
        let iterations = self.report.iterations + rung.iterations;
        let pivots = self.report.pivots + rung.pivots;
        if rung.residual < self.report.residual {
            self.best.copy_from_slice(r);
        }
        let residual = rung.residual.min(self.report.residual);
        // The status of a rung that was not made for the problem says nothing.
        let status = if rung.status == Status::Unsupported { self.report.status } else { rung.status };
        self.report = Report { iterations, pivots, residual, status, ..rung };
        rung.solved()
    }
}
