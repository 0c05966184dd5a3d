//! The stated ladder. Every rung is judged by the one residual; the first that is solved ends it,
//! otherwise the best r of all rungs is returned.
//!
//! 0. A single block (not bilateral): its exact local solution.
//! 1. Newton from the start guess (up to 400 rows): in the right mode, one step to rounding accuracy.
//! 2. Newton from zero, if the start guess was not zero.
//! 3. Enumeration of all modes, if there are at most 512 (planar friction, boxes). Block Gauss-Seidel from zero, then a Newton finish in the mode found.
//! 4. Projected Gauss-Seidel from the best so far, with a Newton finish every thousand sweeps: where blocks are
//!    singular it goes on when exact local solves stall.
//! 5. Lemke, where the sets allow it.
//! 6. Proximal point iteration around Newton and Gauss-Seidel (dense problems).
//!
//! Problems of more than 40 rows that are not dense (many bodies) begin with Gauss-Seidel from the start guess where that is much better than
//! zero, else from zero; a sparse Newton try whenever it has not arrived after a while; then on from the better of both.
//!
//! A rung that proves that there is no solution (`Infeasible`) decides the status of a failed ladder.

use super::enumerate::Enumeration;
use super::local::Local;
use super::proximal::Proximal;
use super::{
    GaussSeidel, Judge, Lemke, Newton, Options, ProjectedGaussSeidel, Report, Solver, SolverInfo, Status, info,
};
use crate::linear::dense::{dot, norm};
use crate::problem::Problem;
use crate::sets::{MAX_DIM, Set};

/// The ladder of solvers. See [`super::SOLVERS`].
#[derive(Debug, Default)]
pub struct Auto {
    local: Local,
    newton: Newton,
    gauss_seidel: GaussSeidel,
    projected: ProjectedGaussSeidel,
    lemke: Lemke,
    proximal: Proximal,
    enumeration: Enumeration,
    judge: Judge,
    dense: Problem,
    best: Vec<f64>,
    start: Vec<f64>,
}

/// Sweeps of projected Gauss-Seidel between two Newton finishes.
const FINISH_EVERY: usize = 1000;
/// Rows up to which a block-sparse problem is solved as a dense one: at once, and where sweeps do not arrive.
const ALWAYS_DENSE: usize = 40;
const RATHER_DENSE: usize = 400;
/// Sweeps of a large problem: from a start guess in any case; before Newton is tried, from a start guess and from zero.
const FEW_SWEEPS: usize = 10;
const WARM_SWEEPS: usize = 500;
const COLD_SWEEPS: usize = 4000;
/// Residual that is rounding alone.
const ROUNDING: f64 = 1e-14;
/// Part of the residual of zero that a start guess must have to be worth a try.
const WORTH: f64 = 0.1;
/// Sweeps before the first Newton finish is tried; then ten times as many.
const FIRST_SWEEPS: usize = 200;

impl Solver for Auto {
    fn info(&self) -> &'static SolverInfo {
        info("auto")
    }

    fn solve(&mut self, problem: &Problem, r: &mut [f64], options: &Options) -> Report {
        if let [only] = problem.blocks()
            && !matches!(only.set, Set::Free { .. })
            && let Some(residual) = self.single(problem, &only.set, r)
            && residual <= options.tolerance
        {
            return Report { residual, iterations: 1, ..Report::trivial("auto") };
        }
        if !problem.b().iter().all(|v| v.is_finite()) {
            return Report::failed("auto", Status::NotFinite);
        }
        // Some dozen contacts of bodies: sweeps are cheaper than what a dense ladder tries first.
        if problem.as_dense().is_none() && problem.size() > ALWAYS_DENSE {
            let report = self.large(problem, r, options);
            if report.solved() || problem.size() > RATHER_DENSE {
                return report;
            }
        }
        // A small block-sparse problem is solved as a dense one: bilateral rows can be eliminated, Lemke can pivot.
        if problem.as_dense().is_none() {
            let mut dense = std::mem::take(&mut self.dense);
            problem.densify(&mut dense);
            let report = self.ladder(&dense, r, options);
            self.dense = dense;
            return report;
        }
        self.ladder(problem, r, options)
    }
}

impl Auto {
    /// Many blocks: sweeps, and Newton where they are slow.
    fn large(&mut self, problem: &Problem, r: &mut [f64], options: &Options) -> Report {
        let mut total = Total { report: Report::failed("auto", Status::Stalled), best: &mut self.best };
        total.best.clear();
        total.best.resize(problem.size(), 0.0);
        // Percussions of the step before are of no use where bodies have just met.
        let given = self.judge.residual(problem, r);
        let mut warm = given < WORTH * self.judge.residual(problem, total.best);
        if !warm {
            r.fill(0.0);
        }
        let mut made = 0;
        if warm {
            // A few sweeps in any case: bodies at rest so come to the solution itself in the course of some steps.
            let few = Options { max_iterations: FEW_SWEEPS, tolerance: options.tolerance.min(ROUNDING), ..*options };
            let mut first = self.gauss_seidel.solve(problem, r, &few);
            if first.residual <= options.tolerance {
                first.status = Status::Solved;
            }
            made = first.iterations;
            if total.take(first, r) {
                return total.report;
            }
        }
        let mut sweeps = if warm { WARM_SWEEPS } else { COLD_SWEEPS };
        while made < options.max_iterations && !options.out_of_time() {
            let limited = Options { max_iterations: sweeps.min(options.max_iterations - made), ..*options };
            let coarse = self.gauss_seidel.solve(problem, r, &limited);
            made += coarse.iterations.max(1);
            if total.take(coarse, r) {
                return total.report;
            }
            // Newton steps that fall short may still lower the residual: the sweeps go on from the better of both.
            self.start.clear();
            self.start.extend_from_slice(r);
            let finish = self.newton.solve(problem, &mut self.start, options);
            if finish.residual < coarse.residual {
                r.copy_from_slice(&self.start);
            }
            if total.take(finish, r) {
                return total.report;
            }
            // A warm start may lie in a corner of the solutions that sweeps leave only slowly.
            if std::mem::take(&mut warm) {
                r.fill(0.0);
            } else if coarse.status == Status::Stalled && finish.residual >= coarse.residual {
                break;
            }
            sweeps = COLD_SWEEPS;
        }
        r.copy_from_slice(total.best);
        total.report.residual = self.judge.residual(problem, r);
        total.report
    }

    fn ladder(&mut self, problem: &Problem, r: &mut [f64], options: &Options) -> Report {
        let warm = r.iter().any(|&v| v != 0.0);
        let first = self.newton.solve(problem, r, options);
        if first.solved() {
            return first;
        }
        let mut total = Total { report: Report::failed("auto", Status::Stalled), best: &mut self.best };
        total.best.clear();
        total.best.resize(problem.size(), 0.0);
        total.take(first, r);
        if warm {
            r.fill(0.0);
            if total.take(self.newton.solve(problem, r, options), r) {
                return total.report;
            }
        }
        if total.take(self.enumeration.solve(problem, r, options), r) {
            return total.report;
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
            if finished != Status::MaxIterations || sweeps >= options.max_iterations || options.out_of_time() {
                break;
            }
            sweeps *= 10;
        }
        r.copy_from_slice(total.best);
        for _ in 0..options.max_iterations.div_ceil(FINISH_EVERY) {
            if options.out_of_time() {
                break;
            }
            let limited = Options { max_iterations: FINISH_EVERY.min(options.max_iterations), ..*options };
            let coarse = self.projected.solve(problem, r, &limited);
            if total.take(coarse, r) {
                return total.report;
            }
            self.start.clear();
            self.start.extend_from_slice(r);
            if total.take(self.newton.solve(problem, &mut self.start, options), &self.start) {
                r.copy_from_slice(&self.start);
                return total.report;
            }
            if coarse.status != Status::MaxIterations {
                break;
            }
        }
        if problem.blocks().iter().all(|b| (info("lemke").handles)(&b.set)) {
            r.fill(0.0);
            let report = self.lemke.solve(problem, r, options);
            if total.take(report, r) {
                return total.report;
            }
        }
        if total.report.status != Status::Infeasible {
            r.copy_from_slice(total.best);
            if total.take(self.proximal.solve(problem, r, options), r) {
                return total.report;
            }
        }
        r.copy_from_slice(total.best);
        total.report.residual = self.judge.residual(problem, r);
        total.report
    }

    /// Exact solution of a problem of one block and its residual, on the stack.
    #[inline]
    fn single(&mut self, problem: &Problem, set: &Set, r: &mut [f64]) -> Option<f64> {
        let (b, d) = (problem.b(), set.dim());
        let mut a = [0.0; MAX_DIM * MAX_DIM];
        problem.diagonal_block(0, &mut a);
        if !self.local.solve(set, &a, b, r) {
            return None;
        }
        let (mut u, mut f) = ([0.0; MAX_DIM], [0.0; MAX_DIM]);
        for i in 0..d {
            u[i] = b[i] + dot(&a[i * d..(i + 1) * d], r);
        }
        set.natural_map(r, &u[..d], &mut f);
        let scale = norm(b);
        Some(if scale > 0.0 { norm(&f[..d]) / scale } else { norm(&f[..d]) })
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
        // A proof that there is no solution, or a ray, outlasts all that come after it.
        let keep = rung.status == Status::Unsupported
            || (matches!(self.report.status, Status::Infeasible | Status::Ray) && rung.status != Status::Solved);
        let status = if keep { self.report.status } else { rung.status };
        let solver = if rung.status == Status::Unsupported { self.report.solver } else { rung.solver };
        self.report = Report { iterations, pivots, residual, status, solver, ..rung };
        rung.solved()
    }
}
