//! The stated ladder. Every rung is judged by the one residual; the first that is solved ends it,
//! otherwise the best r of all rungs is returned.
//!
//! 0. A single block (not bilateral): its exact local solution.
//! 1. Newton from the start guess (up to 400 rows): in the right mode, one step to rounding accuracy. Without a start guess, and with friction in
//!    space, a few sweeps of Gauss-Seidel come first.
//! 2. Newton from zero, if the start guess was not zero.
//! 3. Enumeration of all modes, if there are at most 512 (planar friction, boxes). Block Gauss-Seidel from zero, then a Newton finish in the mode found.
//! 4. Projected Gauss-Seidel from the best so far, with a Newton finish every thousand sweeps: where blocks are
//!    singular it goes on when exact local solves stall.
//! 5. Lemke, where the sets allow it.
//! 6. Proximal point iteration around Newton and Gauss-Seidel (dense problems).
//!
//! Problems of more than 40 rows that are not dense (many bodies): Gauss-Seidel from the start guess where that is much better than zero, then from
//! zero. Where ten sweeps bring little and A is at hand, a few iterations of alternating directions, which end at once for a structure
//! whose contacts stick and are given up at once for others. Sweeps for about as long as a proximal solve takes; the proximal iteration
//! from the best so far; and sweeps again with what is left of the limit.
//!
//! What is measured first: the number of rows and blocks, how many blocks a row of A has, and the steepest contact, max μ‖A_NT‖/A_NN. At one and above
//! a single contact can have several solutions and sweeps jump between them, so that fewer are made before the proximal iteration.
//!
//! Copies of a block are taken as one: see [`super::copies`].
//!
//! Where percussions are not unique, those of least norm are taken: see [`super::least_norm`].
//!
//! A rung that proves that there is no solution (`Infeasible`) decides the status of a failed ladder; where none does, a proof is looked for (see
//! [`super::impossible`]).

use super::copies::Copies;
use super::enumerate::Enumeration;
use super::impossible::Impossible;
use super::least_norm::LeastNormPercussions;
use super::local::Local;
use super::proximal::Proximal;
use super::{
    Admm, GaussSeidel, Judge, Lemke, Newton, Options, ProjectedGaussSeidel, Report, Solver, SolverInfo, Status, info,
};
use crate::capacity;
use crate::linear::dense::{dot, lu_factor, max_norm, norm};
use crate::problem::{Problem, ReducedMatrix};
use crate::sets::{MAX_DIM, Set};

/// The ladder of solvers. See [`super::SOLVERS`].
#[derive(Debug, Default)]
pub struct Auto {
    local: Local,
    newton: Newton,
    gauss_seidel: GaussSeidel,
    admm: Admm,
    projected: ProjectedGaussSeidel,
    lemke: Lemke,
    proximal: Proximal,
    enumeration: Enumeration,
    judge: Judge,
    least_norm: LeastNormPercussions,
    impossible: Impossible,
    copies: Copies,
    dense: Problem,
    best: Vec<f64>,
    start: Vec<f64>,
    settled: Settled,
    /// What the last solve tried.
    rungs: Vec<Rung>,
}

/// The last problem and its percussions of least norm. For the same problem they are not determined again.
#[derive(Debug, Default)]
struct Settled {
    problem: Problem,
    r: Vec<f64>,
    tolerance: f64,
    non_unique: bool,
}

impl Settled {
    /// Whether the problem is the same, up to the change of b from step to step at rest.
    fn is_settled_for(&self, problem: &Problem) -> bool {
        let (old, new) = (self.problem.b(), problem.b());
        old.len() == new.len()
            && old.iter().zip(new).all(|(a, b)| (a - b).abs() <= MAX_CHANGE_AT_REST * norm(new))
            && self.problem.blocks() == problem.blocks()
            && self.problem.as_dense() == problem.as_dense()
    }
}

/// One try.
#[derive(Debug, Clone, Copy)]
struct Rung {
    solver: &'static str,
    iterations: usize,
    residual: f64,
}

/// Sweeps of projected Gauss-Seidel between two Newton finishes.
const FINISH_EVERY: usize = 1000;
/// Largest block-sparse problem that is solved as a dense one: at first, and after sweeps have failed.
const MAX_ROWS_DENSE_FIRST: usize = 40;
const MAX_ROWS_DENSE_LATER: usize = 400;
/// Sweeps of a large problem: from a start guess in any case; before the proximal iteration, from a start guess and from zero.
const FEW_SWEEPS: usize = 10;
const WARM_SWEEPS: usize = 500;
const COLD_SWEEPS: usize = 2000;
/// Sweeps before the residual of a large problem is checked, the residual above which sweeps are slow, and iterations of `admm` then.
const CHECK_AFTER_SWEEPS: usize = 10;
const SLOW_RESIDUAL: f64 = 1e-2;
const ADMM_TRIAL: usize = 30;
/// Tolerance of the proximal iteration, relative to that of the options.
const PROXIMAL_TOLERANCE: f64 = 0.1;
/// Sweeps from zero where friction is steep, and the smallest μ‖A_NT‖/A_NN of steep friction.
const STEEP_SWEEPS: usize = 200;
const STEEP_FRICTION: f64 = 1.0;
/// Relative pivot, or determinant, of a block that is singular.
const SINGULAR_PIVOT: f64 = 1e-11;
/// Largest change of b relative to ‖b‖ at which a body at rest keeps its modes.
const MAX_CHANGE_AT_REST: f64 = 1e-9;
/// Residual that is rounding alone.
const RESIDUAL_FLOOR: f64 = 1e-14;
/// Largest residual of a useful start guess, relative to that of zero.
const MAX_WARM_RESIDUAL: f64 = 0.1;
/// Sweeps that come first where friction is curved and there is no start guess, in small problems and in others: what is easy is done sooner than by
/// Newton, which else begins nearer.
const CURVED_SWEEPS: (usize, usize) = (25, 5);
/// Sweeps before the first Newton finish is tried; then ten times as many.
const FIRST_SWEEPS: usize = 200;

impl Solver for Auto {
    fn info(&self) -> &'static SolverInfo {
        info("auto")
    }

    fn solve(&mut self, problem: &Problem, r: &mut [f64], options: &Options) -> Report {
        self.rungs.clear();
        let mut copies = std::mem::take(&mut self.copies);
        let merged = copies.solve(problem, r, |p, s| self.solve_distinct(p, s, options));
        self.copies = copies;
        merged.unwrap_or_else(|| self.solve_distinct(problem, r, options))
    }

    fn reason(&self, problem: &Problem) -> Option<String> {
        let (rows, blocks) = (problem.size(), problem.blocks().len());
        if self.rungs.is_empty() {
            return Some(format!("{blocks} block of {rows} rows: solved by itself"));
        }
        let density = match problem.matrix() {
            ReducedMatrix::Dense(_) => "A dense".into(),
            ReducedMatrix::BlockSparse(a) => {
                format!("{:.1} blocks of A per row of blocks", a.column.len() as f64 / blocks as f64)
            }
            ReducedMatrix::Gram(_) => "A by its factors".into(),
        };
        let steep = match steepest(problem) {
            0.0 => String::new(),
            s => format!(", mu |A_NT| / A_NN up to {s:.2}"),
        };
        let tried: Vec<String> = self
            .rungs
            .iter()
            .map(|t| format!("{} {} iterations to {:.1e}", t.solver, t.iterations, t.residual))
            .collect();
        Some(format!("{rows} rows in {blocks} blocks, {density}{steep}: {}", tried.join(", then ")))
    }
}

impl Auto {
    /// The problem without copies.
    fn solve_distinct(&mut self, problem: &Problem, r: &mut [f64], options: &Options) -> Report {
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
        let mut report = self.search(problem, r, options);
        if matches!(report.status, Status::Stalled | Status::Ray | Status::MaxIterations)
            && let Some(block) = self.impossible.proof(problem, options)
        {
            report.status = Status::Infeasible;
            report.row = Some(problem.blocks()[block].start);
        }
        if report.solved() && problem.size() <= options.polish {
            self.polish(problem, r, options, &mut report);
        }
        report
    }
}

/// Whether a small matrix has an inverse that means something.
#[inline]
fn regular(a: &[f64], d: usize) -> bool {
    if let &[p, q, s, t] = a {
        return (p * t - q * s).abs() > SINGULAR_PIVOT * (p * t).abs();
    }
    let (mut lu, mut pivots) = ([0.0; MAX_DIM * MAX_DIM], [0; MAX_DIM]);
    lu[..d * d].copy_from_slice(a);
    lu_factor(&mut lu[..d * d], d, &mut pivots[..d]).is_ok()
        && (0..d).all(|k| lu[k * d + k].abs() > SINGULAR_PIVOT * max_norm(a))
}

/// max μ‖A_NT‖/A_NN over the contacts with friction.
fn steepest(problem: &Problem) -> f64 {
    let mut steepest: f64 = 0.0;
    let mut a = [0.0; MAX_DIM * MAX_DIM];
    for (i, block) in problem.blocks().iter().enumerate() {
        if let Set::Coulomb { mu, .. } = block.set {
            problem.diagonal_block(i, &mut a);
            if a[0] > 0.0 {
                steepest = steepest.max(mu * norm(&a[1..block.set.dim()]) / a[0]);
            }
        }
    }
    steepest
}

impl Auto {
    /// Percussions of least norm, where they are not unique.
    fn polish(&mut self, problem: &Problem, r: &mut [f64], options: &Options, report: &mut Report) {
        let dense = match problem.as_dense() {
            Some(_) => Some(problem),
            None => (problem.size() <= MAX_ROWS_DENSE_FIRST).then_some(&self.dense),
        };
        let untouched = report.iterations == 0;
        let undecided = self.least_norm.undecided(problem, r, options.tolerance);
        if untouched
            && !undecided
            && self.settled.r == *r
            && self.settled.tolerance == options.tolerance
            && dense.is_some_and(|p| self.settled.is_settled_for(p))
        {
            // A body at rest: as it was left.
            report.non_unique = self.settled.non_unique;
            return;
        }
        // A Newton step ends at the least norm of its mode and knows whether it is one of many; but a block may as well be in another mode.
        let shown = report.solver == "newton" && !untouched;
        if !shown || undecided {
            report.non_unique = self.least_norm.settle(problem, r, options.tolerance);
            report.residual = self.judge.residual(problem, r);
        }
        if let Some(dense) = dense {
            dense.densify(&mut self.settled.problem);
            capacity::assign(&mut self.settled.r, r);
            (self.settled.tolerance, self.settled.non_unique) = (options.tolerance, report.non_unique);
        }
    }

    /// The ladder that fits the problem.
    fn search(&mut self, problem: &Problem, r: &mut [f64], options: &Options) -> Report {
        // Some dozen contacts of bodies: sweeps are cheaper than what a dense ladder tries first.
        let mut before = 0;
        if problem.as_dense().is_none() && problem.size() > MAX_ROWS_DENSE_FIRST {
            let report = self.large(problem, r, options);
            if report.solved() || problem.size() > MAX_ROWS_DENSE_LATER {
                return report;
            }
            before = report.iterations;
        }
        // A small block-sparse problem is solved as a dense one: bilateral rows can be eliminated, Lemke can pivot.
        if problem.as_dense().is_none() {
            let mut dense = std::mem::take(&mut self.dense);
            problem.densify(&mut dense);
            let mut report = self.ladder(&dense, r, options);
            self.dense = dense;
            report.iterations += before;
            // The problem itself decides; its products are added up in another order.
            report.residual = self.judge.residual(problem, r);
            if report.solved() && !(report.residual <= options.tolerance) {
                report.status = Status::Stalled;
            } else if report.residual <= options.tolerance {
                report.status = Status::Solved;
            }
            return report;
        }
        self.ladder(problem, r, options)
    }

    /// Many blocks: sweeps, and Newton where they are slow.
    fn large(&mut self, problem: &Problem, r: &mut [f64], options: &Options) -> Report {
        let mut total =
            Total { report: Report::failed("auto", Status::Stalled), best: &mut self.best, rungs: &mut self.rungs };
        total.begin(problem);
        // Percussions of the step before are of no use where bodies have just met.
        let given = self.judge.residual(problem, r);
        let warm = given < MAX_WARM_RESIDUAL * self.judge.residual(problem, total.best);
        if !warm {
            r.fill(0.0);
        }
        let mut made = 0;
        if warm {
            // A few sweeps in any case: bodies at rest so come to the solution itself in the course of some steps.
            let few = Options {
                max_iterations: FEW_SWEEPS.min(options.max_iterations),
                tolerance: options.tolerance.min(RESIDUAL_FLOOR),
                ..*options
            };
            let mut first = self.gauss_seidel.solve(problem, r, &few);
            if first.residual <= options.tolerance {
                first.status = Status::Solved;
            }
            made = first.iterations;
            if total.take(first, r) {
                return total.report;
            }
            let limited =
                Options { max_iterations: WARM_SWEEPS.min(options.max_iterations.saturating_sub(made)), ..*options };
            let report = self.gauss_seidel.solve(problem, r, &limited);
            made += report.iterations;
            if total.take(report, r) {
                return total.report;
            }
            // A warm start may lie in a corner of the solutions that sweeps leave only slowly.
            r.fill(0.0);
        }
        // Where A is at hand, a look whether this is a structure at rest.
        if matches!(problem.matrix(), ReducedMatrix::BlockSparse(_)) {
            let limited = Options {
                max_iterations: CHECK_AFTER_SWEEPS.min(options.max_iterations.saturating_sub(made)),
                ..*options
            };
            let report = self.gauss_seidel.solve(problem, r, &limited);
            made += report.iterations;
            if total.take(report, r) {
                return total.report;
            }
            if report.residual > SLOW_RESIDUAL {
                self.start.clear();
                self.start.resize(problem.size(), 0.0);
                self.admm.give_up_early = true;
                let few =
                    Options { max_iterations: ADMM_TRIAL.min(options.max_iterations.saturating_sub(made)), ..*options };
                let report = self.admm.solve(problem, &mut self.start, &few);
                made += report.iterations;
                if total.take(report, &self.start) {
                    r.copy_from_slice(&self.start);
                    return total.report;
                }
            }
        }
        let cold = if steepest(problem) >= STEEP_FRICTION { STEEP_SWEEPS } else { COLD_SWEEPS };
        let limited = Options { max_iterations: cold.min(options.max_iterations.saturating_sub(made)), ..*options };
        let report = self.gauss_seidel.solve(problem, r, &limited);
        made += report.iterations;
        if total.take(report, r) {
            return total.report;
        }
        r.copy_from_slice(total.best);
        if made >= options.max_iterations {
            return total.report;
        }
        let limited = Options { max_iterations: options.max_iterations.saturating_sub(made), ..*options };
        // Where sweeps did not arrive the last digit is cheap, and the next step begins better.
        let limited = Options { tolerance: PROXIMAL_TOLERANCE * options.tolerance, ..limited };
        let mut report = self.proximal.solve(problem, r, &limited);
        if report.residual <= options.tolerance {
            report.status = Status::Solved;
        }
        made += report.iterations;
        if total.take(report, r) {
            return total.report;
        }
        r.copy_from_slice(total.best);
        if !options.out_of_time() {
            let limited = Options { max_iterations: options.max_iterations.saturating_sub(made), ..*options };
            if total.take(self.gauss_seidel.solve(problem, r, &limited), r) {
                return total.report;
            }
            r.copy_from_slice(total.best);
        }
        total.report
    }

    fn ladder(&mut self, problem: &Problem, r: &mut [f64], options: &Options) -> Report {
        let warm = r.iter().any(|&v| v != 0.0);
        let mut total =
            Total { report: Report::failed("auto", Status::Stalled), best: &mut self.best, rungs: &mut self.rungs };
        total.begin(problem);
        if !warm && problem.blocks().iter().any(|b| matches!(b.set, Set::Coulomb { dim: 2.., .. })) {
            let few = if problem.size() <= MAX_ROWS_DENSE_FIRST { CURVED_SWEEPS.0 } else { CURVED_SWEEPS.1 };
            let few = Options { max_iterations: few.min(options.max_iterations), ..*options };
            if total.take(self.gauss_seidel.solve(problem, r, &few), r) && problem.size() > options.polish {
                return total.report;
            }
        }
        if total.take(self.newton.solve(problem, r, options), r) {
            return total.report;
        }
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
        // A block that does not determine its percussion goes the way of the others.
        if d == 1 && !(a[0] > 0.0) || d > 1 && !regular(&a[..d * d], d) || !self.local.solve(set, &a, b, r) {
            return None;
        }
        if problem.as_dense().is_none() {
            return Some(self.judge.residual(problem, r));
        }
        let mut u = [0.0; MAX_DIM];
        for i in 0..d {
            u[i] = b[i] + dot(&a[i * d..(i + 1) * d], r);
        }
        Some(problem.block_error(0, r, &u[..d]).sqrt() / problem.scale())
    }
}

struct Total<'a> {
    report: Report,
    best: &'a mut Vec<f64>,
    rungs: &'a mut Vec<Rung>,
}

impl Total<'_> {
    fn begin(&mut self, problem: &Problem) {
        self.best.clear();
        self.best.resize(problem.size(), 0.0);
    }

    /// Adds a rung; true if it solved the problem.
    fn take(&mut self, rung: Report, r: &[f64]) -> bool {
        if rung.status != Status::Unsupported {
            self.rungs.push(Rung { solver: rung.solver, iterations: rung.iterations, residual: rung.residual });
        }
        let iterations = self.report.iterations + rung.iterations;
        let pivots = self.report.pivots + rung.pivots;
        // What is solved is returned as it is.
        if !rung.solved() && rung.residual < self.report.residual {
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
