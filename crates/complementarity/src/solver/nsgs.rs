//! Block nonlinear Gauss-Seidel: sweeps over the blocks, each solved exactly with the others frozen
//! (see [`super::local`]). Converges for the usual contact problems, also rank-deficient ones; slow
//! where many bodies are stacked.

use super::eliminate::Eliminated;
use super::local::Local;
use super::{Best, Judge, Options, Report, Solver, SolverInfo, Status, info, sanitise};
use crate::problem::Problem;
use crate::sets::MAX_DIM;

/// Block nonlinear Gauss-Seidel. See [`super::SOLVERS`].
#[derive(Debug, Default)]
pub struct GaussSeidel {
    local: Local,
    judge: Judge,
    eliminated: Eliminated,
    diagonal: Vec<f64>,
    best: Best,
}

impl Solver for GaussSeidel {
    fn info(&self) -> &'static SolverInfo {
        info("nsgs")
    }

    fn solve(&mut self, problem: &Problem, r: &mut [f64], options: &Options) -> Report {
        let mut eliminated = std::mem::take(&mut self.eliminated);
        let report = eliminated.around(problem, r, options, |p, r, o| self.sweeps(p, r, o), "nsgs");
        self.eliminated = eliminated;
        report
    }
}

impl GaussSeidel {
    fn sweeps(&mut self, problem: &Problem, r: &mut [f64], options: &Options) -> Report {
        sanitise(r);
        let blocks = problem.blocks();
        self.diagonal.clear();
        self.diagonal.resize(blocks.iter().map(|b| b.set.dim() * b.set.dim()).sum(), 0.0);
        let mut at = 0;
        for (i, block) in blocks.iter().enumerate() {
            let d2 = block.set.dim() * block.set.dim();
            problem.diagonal_block(i, &mut self.diagonal[at..at + d2]);
            at += d2;
        }
        let mut report = Report::failed("nsgs", Status::MaxIterations);
        let mut progress = f64::INFINITY;
        let mut since_progress = 0;
        self.best.start();
        for sweep in 0..=options.max_iterations {
            report.iterations = sweep;
            report.residual = self.judge.residual(problem, r);
            self.best.note(r, report.residual);
            if report.residual <= options.tolerance {
                report.status = Status::Solved;
                return report;
            }
            if !report.residual.is_finite() {
                report.status = Status::NotFinite;
                break;
            }
            // Linear convergence may be slow; a thousand sweeps without one per cent is none.
            if report.residual < 0.99 * progress {
                progress = report.residual;
                since_progress = 0;
            } else {
                since_progress += 1;
            }
            if since_progress > 1000 {
                report.status = Status::Stalled;
                break;
            }
            if sweep == options.max_iterations {
                break;
            }
            let mut at = 0;
            for (i, block) in blocks.iter().enumerate() {
                let (s, d) = (block.start, block.set.dim());
                let a = &self.diagonal[at..at + d * d];
                at += d * d;
                let mut c = [0.0; MAX_DIM];
                problem.block_velocity(i, r, &mut c);
                for p in 0..d {
                    for q in 0..d {
                        c[p] -= a[p * d + q] * r[s + q];
                    }
                }
                self.local.solve(&block.set, a, &c[..d], &mut r[s..s + d]);
            }
        }
        self.best.restore(r, &mut report);
        if problem.infeasible_block().is_some() {
            report.status = Status::Infeasible;
        }
        report
    }
}
