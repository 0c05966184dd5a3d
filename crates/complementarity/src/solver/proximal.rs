//! Proximal point iteration around a semismooth Newton, for problems that are rank-deficient and hard to settle.
//!
//! ```text
//! x_k solves   −û_i ∈ N_{C_i}(x_i),   u = A x + b + αD(x − r_k)
//! r_{k+1} = r_k + ω (x_k − r_k),      ω = 1.5
//! ```
//!
//! D holds the mean of the diagonal of A of every block. The matrix A + αD of an inner problem is positive definite where A is positive
//! semidefinite, so that Newton on the frozen projections settles: few steps from r_k, damped by halving until ‖F‖ falls. A fixed point
//! solves the problem itself, whatever α.
//!
//! The path of r_k follows the self-stresses of the pile, from one opening or slipping contact to the next. The smaller α, the shorter the
//! path, as long as Newton converges. α falls while an inner problem takes at most three steps and rises where it takes more than six. If twelve
//! steps do not solve it, r_k stays and α is multiplied by four. Over-relaxation as in \[EcksteinBertsekas1992\] halves the number of problems.
//!
//! With friction the problem is not monotone, and the path can cycle: after [`MAX_STAGNATION`] problems without progress it restarts
//! with another α.

use super::equation::{Equation, Piece, factors, frozen_value};
use super::jacobian::Jacobian;
use super::{Best, Judge, Options, Report, Solver, SolverInfo, Status, info, sanitise};
use crate::linear::dense::{dot, norm};
use crate::problem::Problem;

/// Proximal point iteration. See [`super::SOLVERS`].
#[derive(Debug, Default)]
pub struct Proximal {
    jacobian: Jacobian,
    judge: Judge,
    best: Best,
    /// D, and (ρ_N, ρ_T) of A + αD.
    diagonal: Vec<f64>,
    rho: Vec<(f64, f64)>,
    x: Vec<f64>,
    trial: Vec<f64>,
    step: Vec<f64>,
    u: Vec<f64>,
}

/// ω.
const RELAXATION: f64 = 1.5;
/// Initial α of each attempt.
const INITIAL_WEIGHTS: [f64; 4] = [0.1, 1.0, 1e-3, 1e-2];
/// Smallest and largest α.
const WEIGHT_RANGE: (f64, f64) = (1e-9, 1e4);
/// Inner problems without the residual falling by a tenth after which an attempt ends.
const MAX_STAGNATION: usize = 100;
/// Most Newton steps of an inner problem. α falls up to the second number of steps and rises above the third.
const MAX_INNER_STEPS: usize = 12;
const FEW_INNER_STEPS: usize = 3;
const MANY_INNER_STEPS: usize = 6;
/// Factors of α after few steps, after many steps, and if the inner problem is not solved.
const WEIGHT_DECREASE: f64 = 0.7;
const WEIGHT_INCREASE: f64 = 1.5;
const WEIGHT_INCREASE_UNSOLVED: f64 = 4.0;
/// Residual of an inner problem relative to that of the problem itself.
const INNER_TOLERANCE: f64 = 0.1;
/// Detection of a drift: α, tolerance and step limits of the inner problems, the difference below which two steps are equal, and iterations.
const DRIFT_WEIGHT: f64 = 1e-5;
const DRIFT_TOLERANCE: f64 = 1e-14;
const DRIFT_STEPS: (usize, usize) = (60, 3000);
const DRIFT_REPEAT_TOLERANCE: f64 = 1e-9;
const DRIFT_ITERATIONS: usize = 60;
/// Halvings of a Newton step.
const MAX_HALVINGS: usize = 10;

impl Solver for Proximal {
    fn info(&self) -> &'static SolverInfo {
        info("proximal")
    }

    fn solve(&mut self, problem: &Problem, r: &mut [f64], options: &Options) -> Report {
        sanitise(r);
        let mut report = Report::failed("proximal", Status::Stalled);
        self.best.start();
        report.residual = self.judge.residual(problem, r);
        self.best.note(r, report.residual);
        if report.residual <= options.tolerance {
            report.status = Status::Solved;
            return report;
        }
        if !self.prepare(problem) {
            report.status = Status::Unsupported;
            return report;
        }
        for (n, alpha) in INITIAL_WEIGHTS.into_iter().enumerate() {
            if n > 0 {
                r.fill(0.0);
            }
            report.status = self.path(problem, r, options, alpha, &mut report.iterations);
            if report.status != Status::Stalled {
                break;
            }
        }
        self.best.restore(r, &mut report);
        if report.status == Status::Stalled && problem.infeasible_block().is_some() {
            report.status = Status::Infeasible;
        }
        report
    }
}

impl Proximal {
    /// J and D; false if the problem is too large to be factored.
    fn prepare(&mut self, problem: &Problem) -> bool {
        if !self.jacobian.begin(problem) {
            return false;
        }
        problem.mean_diagonals(&mut self.diagonal);
        true
    }

    /// Limit of the steps of an iteration from zero with a small α, if they converge; zero where there is a solution. Needs inner problems
    /// that can be solved to rounding.
    pub(super) fn drift(&mut self, problem: &Problem, options: &Options) -> Option<&[f64]> {
        if !self.prepare(problem) {
            return None;
        }
        let mut r = vec![0.0; problem.size()];
        let mut last = vec![0.0; problem.size()];
        // A squeeze closes contact by contact.
        let steps = (DRIFT_STEPS.0 + 2 * problem.blocks().len()).min(DRIFT_STEPS.1).min(options.max_iterations);
        for k in 0..DRIFT_ITERATIONS {
            if options.out_of_time() {
                return None;
            }
            // A drift is of the size of ‖b‖/α, and rounding with it.
            let tolerance = DRIFT_TOLERANCE * (k + 1) as f64 / DRIFT_WEIGHT;
            self.inner(problem, &r, DRIFT_WEIGHT, tolerance, steps).ok()?;
            for (x, r) in self.x.iter_mut().zip(&mut r) {
                (*x, *r) = (*x - *r, *x);
            }
            let change = self.x.iter().zip(&last).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
            if change <= DRIFT_REPEAT_TOLERANCE * norm(&self.x) {
                return Some(&self.x);
            }
            last.copy_from_slice(&self.x);
        }
        None
    }

    /// One attempt from r.
    fn path(
        &mut self,
        problem: &Problem,
        r: &mut [f64],
        options: &Options,
        mut alpha: f64,
        iterations: &mut usize,
    ) -> Status {
        let mut residual = self.judge.residual(problem, r);
        let (mut progress, mut since) = (residual, 0);
        loop {
            if *iterations >= options.max_iterations {
                return Status::MaxIterations;
            }
            if options.out_of_time() {
                return Status::TimeLimit;
            }
            let tolerance = (INNER_TOLERANCE * residual).max(0.01 * options.tolerance);
            let inner =
                self.inner(problem, r, alpha, tolerance, (options.max_iterations - *iterations).min(MAX_INNER_STEPS));
            let (steps, solved) = match inner {
                Ok(steps) => (steps, true),
                Err(steps) => (steps, false),
            };
            *iterations += steps.max(1);
            let reached = self.judge.residual(problem, &self.x);
            self.best.note(&self.x, reached);
            if reached <= options.tolerance {
                // What is returned as solved lies in its sets, which iterates of Newton do only in the end.
                self.trial.clone_from(&self.x);
                for block in problem.blocks() {
                    block.set.project(&mut self.trial[block.start..block.start + block.set.dim()]);
                }
                let inside = self.judge.residual(problem, &self.trial);
                if inside <= options.tolerance {
                    self.best.start();
                    self.best.note(&self.trial, inside);
                    return Status::Solved;
                }
            }
            if reached < 0.9 * progress {
                (progress, since) = (reached, 0);
            } else {
                since += 1;
                if since > MAX_STAGNATION {
                    return Status::Stalled;
                }
            }
            if !solved {
                alpha *= WEIGHT_INCREASE_UNSOLVED;
                if alpha > WEIGHT_RANGE.1 {
                    return Status::Stalled;
                }
                continue;
            }
            for (r, x) in r.iter_mut().zip(&self.x) {
                *r += RELAXATION * (x - *r);
            }
            residual = reached;
            if steps <= FEW_INNER_STEPS {
                alpha = (WEIGHT_DECREASE * alpha).max(WEIGHT_RANGE.0);
            } else if steps > MANY_INNER_STEPS {
                alpha *= WEIGHT_INCREASE;
            }
        }
    }

    /// Solves the inner problem of the centre `c` from there, in `self.x`. Returns the steps made: `Err` if it is not solved.
    fn inner(&mut self, problem: &Problem, c: &[f64], alpha: f64, tolerance: f64, most: usize) -> Result<usize, usize> {
        self.rho.clear();
        self.rho.extend((0..problem.blocks().len()).map(|i| factors(problem, i, alpha * self.diagonal[i])));
        self.x.clear();
        self.x.extend_from_slice(c);
        let mut size = self.evaluate(problem, c, alpha);
        for made in 0..=most {
            if problem.residual_at(&self.x, &self.u) <= tolerance {
                return Ok(made);
            }
            if made == most {
                break;
            }
            let Self { jacobian, diagonal, rho, x, step, u, .. } = self;
            let piece = |b: usize| piece(problem, b, x, u, rho);
            if !jacobian.step(problem, |b| alpha * diagonal[b], step, piece) {
                return Err(made);
            }
            // The first length that lowers ‖F‖, or the best of all.
            self.trial.clear();
            self.trial.extend_from_slice(&self.x);
            let (mut length, mut best) = (1.0, (f64::INFINITY, 1.0));
            for halving in 0..=MAX_HALVINGS {
                for ((x, from), d) in self.x.iter_mut().zip(&self.trial).zip(&self.step) {
                    *x = from + length * d;
                }
                let now = self.evaluate(problem, c, alpha);
                if now < best.0 {
                    best = (now, length);
                }
                if now < (1.0 - 1e-4 * length) * size || (halving == MAX_HALVINGS && best.1 == length) {
                    best = (now, length);
                    break;
                }
                if halving + 1 == MAX_HALVINGS {
                    // The last evaluation is of the length that is kept.
                    length = best.1;
                } else {
                    length *= 0.5;
                }
            }
            size = best.0;
            if !size.is_finite() {
                return Err(made + 1);
            }
        }
        Err(most)
    }

    /// u at `self.x` with the shift around c; returns ‖F‖.
    fn evaluate(&mut self, problem: &Problem, c: &[f64], alpha: f64) -> f64 {
        self.u.resize(problem.size(), 0.0);
        problem.velocity(&self.x, &mut self.u);
        let mut sum = 0.0;
        for (b, block) in problem.blocks().iter().enumerate() {
            let (s, d) = (block.start, block.set.dim());
            for k in s..s + d {
                self.u[k] += alpha * self.diagonal[b] * (self.x[k] - c[k]);
            }
            let f = frozen_value(&block.set, &self.x[s..s + d], &self.u[s..s + d], self.rho[b]);
            sum += dot(&f[..d], &f[..d]);
        }
        sum.sqrt()
    }
}

fn piece(problem: &Problem, b: usize, x: &[f64], u: &[f64], rho: &[(f64, f64)]) -> Piece {
    let block = &problem.blocks()[b];
    let rows = block.start..block.start + block.set.dim();
    Equation::FrozenProjections.at(&block.set, &x[rows.clone()], &u[rows], rho[b])
}
