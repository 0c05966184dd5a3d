//! Semismooth Newton on the equations of the blocks (see [`super::equation`]): frozen projections \[AlartCurnier1991\], or the function of
//! Fischer and Burmeister.
//!
//! Frozen projections of planar and frictionless problems are piecewise linear, and the method is an active-set method: from the right mode
//! one step reaches rounding accuracy. The new iterate solves J r⁺ = J r − F. Where J is singular (hyperstatic contacts) it is the solution of
//! least norm, and the report says `non_unique`.
//!
//! J is dense up to 400 rows. Larger problems use a sparse factorisation of J with A + ε in place of A, unless A is stored densely.
//! Full steps come first: they jump between modes and so find the right one. If they cycle, damped steps follow from
//! the best iterate, each lowering the residual. If these stall, so does the method, and [`super::Auto`] continues
//! with Gauss-Seidel.

use super::equation::{Equation, factors};
use super::jacobian::{Jacobian, Solved};
use super::{Judge, Options, Report, Solver, SolverInfo, Status, info, sanitise};
use crate::linear::dense::max_norm;
use crate::problem::Problem;
use crate::sets::Set;

/// Semismooth Newton. See [`super::SOLVERS`].
#[derive(Debug, Default)]
pub struct Newton {
    equation: Equation,
    judge: Judge,
    jacobian: Jacobian,
    rho: Vec<(f64, f64)>,
    next: Vec<f64>,
    best: Vec<f64>,
}

/// Semismooth Newton on the function of Fischer and Burmeister. See [`super::SOLVERS`].
#[derive(Debug)]
pub struct FischerBurmeister(Newton);

impl Default for FischerBurmeister {
    fn default() -> Self {
        Self(Newton { equation: Equation::FischerBurmeister, ..Newton::default() })
    }
}

impl Solver for FischerBurmeister {
    fn info(&self) -> &'static SolverInfo {
        info("fischer-burmeister")
    }

    fn solve(&mut self, problem: &Problem, r: &mut [f64], options: &Options) -> Report {
        let mut report = Report { solver: "fischer-burmeister", ..self.0.solve(problem, r, options) };
        if report.solved() {
            self.0.release_open(problem, r, &mut report);
        }
        report
    }
}

/// Percussion of a contact, over its velocity by its compliance, that is rounding: the function is smooth there and has no exact zeros.
const OPEN: f64 = 1e-9;

/// Steps after which a run without convergence is a cycle: active-set methods that converge do so
/// in far fewer.
const MAX_STEPS: usize = 30;
/// Largest number of rows for which a dense factorisation per step is sensible.
const MAX_ROWS: usize = 400;
/// Halvings of a damped step.
const MAX_HALVINGS: usize = 24;
/// Residual below which a start guess is accepted as the solution: some hundred rounding errors.
const ACCEPT_START_BELOW: f64 = 1e-13;
/// ε of the sparse step, relative to the diagonal of A. Directions of compliance λ (relative) converge by ε/(ε + λ) per step: stacks
/// of a hundred bodies have λ of 1e-4.
const REGULARISATION: f64 = 1e-6;

impl Solver for Newton {
    fn info(&self) -> &'static SolverInfo {
        info("newton")
    }

    fn solve(&mut self, problem: &Problem, r: &mut [f64], options: &Options) -> Report {
        let n = problem.size();
        let mut report = Report::failed("newton", Status::Stalled);
        sanitise(r);
        // A start guess is taken as it is only at rounding accuracy.
        report.residual = self.judge.residual(problem, r);
        if report.residual <= options.tolerance.min(ACCEPT_START_BELOW) {
            report.status = Status::Solved;
            return report;
        }
        if (n > MAX_ROWS && problem.as_dense().is_some()) || !self.jacobian.begin(problem) {
            report.status = Status::Unsupported;
            return report;
        }
        self.rho.clear();
        self.rho.extend((0..problem.blocks().len()).map(|i| factors(problem, i, 0.0)));
        let mut best = f64::INFINITY;
        let mut since_best = 0;
        // A sparse factorisation costs as much as a hundred sweeps of Gauss-Seidel: it is given up early.
        let (worsening, damped_steps) = if self.jacobian.is_sparse() { (3, 5) } else { (12, MAX_STEPS) };
        // Within the tolerance a step may still pass through a wrong mode before it lands at rounding accuracy: worth a few
        // tries where the equations are piecewise linear.
        let curved = |s: &Set| match s {
            Set::Ball { dim, .. } | Set::Coulomb { dim, .. } => *dim > 1,
            _ => false,
        };
        let patience = if problem.blocks().iter().any(|b| curved(&b.set)) { 0 } else { 3 };
        for step in 0..=MAX_STEPS.min(options.max_iterations) {
            report.iterations = step;
            // Continue while a step still reduces the residual, so that solutions reach rounding accuracy.
            if step > 0 {
                report.residual = self.judge.residual(problem, r);
                if report.residual <= options.tolerance.min(1e-15) {
                    report.status = Status::Solved;
                    return report;
                }
            }
            if report.residual < best {
                if best <= options.tolerance && report.residual > 0.1 * best {
                    // Stagnation at rounding level.
                    report.status = Status::Solved;
                    return report;
                }
                best = report.residual;
                since_best = 0;
                self.best.clear();
                self.best.extend_from_slice(r);
            } else {
                since_best += 1;
                if (best <= options.tolerance && since_best > patience) || since_best > worsening {
                    break;
                }
            }
            if options.out_of_time()
                || step == MAX_STEPS.min(options.max_iterations)
                || !self.step(problem, r, &mut report.non_unique)
            {
                break;
            }
        }
        if best < f64::INFINITY {
            r.copy_from_slice(&self.best);
        }
        if best > options.tolerance && best < f64::INFINITY {
            best = self.damped(problem, r, options, best, damped_steps, &mut report);
        }
        report.residual = best;
        report.status = if best <= options.tolerance {
            Status::Solved
        } else if problem.infeasible_block().is_some() {
            Status::Infeasible
        } else if options.out_of_time() {
            Status::TimeLimit
        } else {
            Status::Stalled
        };
        report
    }
}

impl Newton {
    /// Makes percussions of open contacts zero, where that leaves the residual as good as it is.
    fn release_open(&mut self, problem: &Problem, r: &mut [f64], report: &mut Report) {
        self.judge.residual(problem, r);
        self.best.clear();
        self.best.extend_from_slice(r);
        for (i, block) in problem.blocks().iter().enumerate() {
            let own = block.start..block.start + block.set.dim();
            let contact = matches!(block.set, Set::NonNegative) || block.set.is_friction();
            let made = problem.first_diagonal(i) * max_norm(&self.best[own.clone()]);
            if contact && made > 0.0 && made < OPEN * self.judge.u[block.start] {
                self.best[own].fill(0.0);
            }
        }
        let residual = self.judge.residual(problem, &self.best);
        if residual <= report.residual.max(ACCEPT_START_BELOW) {
            r.copy_from_slice(&self.best);
            report.residual = residual;
        }
    }

    /// Damped steps from r, each of which must lower the residual; returns what is reached.
    fn damped(
        &mut self,
        problem: &Problem,
        r: &mut [f64],
        options: &Options,
        mut best: f64,
        steps: usize,
        report: &mut Report,
    ) -> f64 {
        for _ in 0..steps {
            self.judge.residual(problem, r);
            self.best.clear();
            self.best.extend_from_slice(r);
            if options.out_of_time()
                || report.iterations >= options.max_iterations
                || !self.step(problem, r, &mut report.non_unique)
            {
                r.copy_from_slice(&self.best);
                break;
            }
            report.iterations += 1;
            // The length with the smallest residual: modes change along the step, so that the first decrease may be poor.
            for (d, (x, old)) in self.next.iter_mut().zip(r.iter().zip(&self.best)) {
                *d = x - old;
            }
            let (mut length, mut chosen, mut least) = (1.0, 0.0, best);
            for _ in 0..MAX_HALVINGS {
                for (x, (old, d)) in r.iter_mut().zip(self.best.iter().zip(&self.next)) {
                    *x = old + length * d;
                }
                let residual = self.judge.residual(problem, r);
                if residual < least {
                    (chosen, least) = (length, residual);
                } else if chosen > 0.0 {
                    break;
                }
                length *= 0.5;
            }
            for (x, (old, d)) in r.iter_mut().zip(self.best.iter().zip(&self.next)) {
                *x = old + chosen * d;
            }
            if chosen == 0.0 {
                break;
            }
            best = least;
            if best <= options.tolerance.min(1e-15) {
                break;
            }
        }
        best
    }

    /// One step from r; `judge.u` holds A r + b. False if no finite step was found.
    fn step(&mut self, problem: &Problem, r: &mut [f64], non_unique: &mut bool) -> bool {
        let Self { equation, judge, jacobian, rho, next, .. } = self;
        let start = &*r;
        let piece = |b: usize| {
            let block = &problem.blocks()[b];
            let rows = block.start..block.start + block.set.dim();
            equation.at(&block.set, &start[rows.clone()], &judge.u[rows], rho[b])
        };
        if jacobian.is_sparse() {
            // Contacts of large piles are hyperstatic, and J singular: A + ε/ρ instead of A.
            if !jacobian.step(problem, |b| REGULARISATION / rho[b].0, next, piece) {
                return false;
            }
            r.iter_mut().zip(next).for_each(|(r, d)| *r += *d);
            return true;
        }
        match jacobian.next(problem, start, next, piece) {
            Solved::Not => return false,
            Solved::LeastNorm => *non_unique = true,
            Solved::Regular => *non_unique = false,
        }
        r.copy_from_slice(next);
        true
    }
}
