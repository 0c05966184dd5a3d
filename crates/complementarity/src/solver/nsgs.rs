//! Block nonlinear Gauss-Seidel: sweeps over the blocks, each solved exactly with the others frozen
//! (see [`super::local`]). Converges for the usual contact problems, also rank-deficient ones; slow
//! where many bodies are stacked.
//!
//! A block goes the part ω of the way to its own solution: all of it, unless [`Options::relaxation`] says otherwise. Where friction is large, a single contact
//! can have several solutions, and sweeps jump between them for ever: after many sweeps without progress, ω = 0.85.
//!
//! Momentum and jumps along a drift make up for that while the sweeps are far from done: see [`super::acceleration`].
//!
//! A sweep meets every block once, and with it its natural map at the percussions of that moment; their norm estimates the residual
//! at no cost. The residual itself is taken when the estimate is within the tolerance, and now and then.

use super::acceleration::Acceleration;
use super::eliminate::Eliminated;
use super::local::Local;
use super::planar;
use super::{Best, Options, Report, Solver, SolverInfo, Status, info, sanitise};
use crate::linear::dense::norm;
use crate::problem::{Problem, Relative};
use crate::room;
use crate::sets::MAX_DIM;

/// Block nonlinear Gauss-Seidel. See [`super::SOLVERS`].
#[derive(Debug, Default)]
pub struct GaussSeidel {
    local: Local,
    relative: Relative,
    eliminated: Eliminated,
    diagonal: Vec<f64>,
    best: Best,
    acceleration: Acceleration,
}

/// Sweeps between two residuals while the estimate is above the tolerance.
const CHECK_EVERY: usize = 100;
/// Sweeps without one per cent of progress after which there is none: linear convergence may be slow, and a drift long.
const PATIENCE: usize = 5000;
/// Sweeps without progress after which blocks go only this part of the way.
const CAREFUL_AFTER: usize = 1000;
const CAREFUL: f64 = 0.85;
/// Sweeps before anything else is tried: what is easy is done by then.
const FIRST_PLAIN: usize = 10;

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
        let granular = planar::granular(problem).filter(|_| options.relaxation.is_none());
        let mut report = Report::failed("nsgs", Status::MaxIterations);
        self.best.start();
        self.acceleration.begin();
        let scale = norm(problem.b());
        let scale = if scale > 0.0 { scale } else { 1.0 };
        let (mut progress, mut since_progress) = (f64::INFINITY, 0);
        let mut estimate = 0.0;
        let mut omega = options.relaxation.unwrap_or(1.0);
        for sweep in 0..=options.max_iterations {
            report.iterations = sweep;
            let late = options.out_of_time();
            let last =
                late || sweep == options.max_iterations || since_progress > PATIENCE || !(estimate < f64::INFINITY);
            if last || estimate <= options.tolerance || sweep.is_multiple_of(CHECK_EVERY) {
                report.residual = self.relative.residual(problem, r);
                self.best.note(r, report.residual);
                if report.residual <= options.tolerance {
                    report.status = Status::Solved;
                    return report;
                }
                if !report.residual.is_finite() {
                    report.status = Status::NotFinite;
                    break;
                }
                if since_progress > PATIENCE {
                    report.status = Status::Stalled;
                } else if late {
                    report.status = Status::TimeLimit;
                }
                if last {
                    break;
                }
                if sweep == 0 && granular.is_none() {
                    self.take_diagonal(problem);
                }
            }
            let sum = match granular {
                Some(gram) => planar::sweep(problem, gram, r, &mut self.relative.y, &mut self.local),
                None => self.sweep(problem, r, omega),
            };
            estimate = sum.sqrt() / scale;
            if estimate < 0.99 * progress {
                progress = estimate;
                since_progress = 0;
            } else {
                since_progress += 1;
                if since_progress > CAREFUL_AFTER && omega == 1.0 && options.relaxation.is_none() && granular.is_none()
                {
                    (omega, since_progress, progress) = (CAREFUL, 0, f64::INFINITY);
                    self.acceleration.begin();
                    // From the start: where the jumps led is no good place.
                    r.fill(0.0);
                    self.relative.begin(problem, r);
                    continue;
                }
            }
            if estimate <= options.tolerance || sweep < FIRST_PLAIN {
                continue;
            }
            self.acceleration.after_sweep(problem, r, &mut self.relative, estimate);
        }
        self.best.restore(r, &mut report);
        if problem.infeasible_block().is_some() {
            report.status = Status::Infeasible;
        }
        report
    }

    /// Every block once. Returns the squared norm of the natural maps met on the way.
    fn sweep(&mut self, problem: &Problem, r: &mut [f64], omega: f64) -> f64 {
        let mut sum = 0.0;
        let mut diagonal = &self.diagonal[..];
        for (i, block) in problem.blocks().iter().enumerate() {
            let (s, d) = (block.start, block.set.dim());
            let (a, rest) = diagonal.split_at(d * d);
            diagonal = rest;
            let (mut u, mut change) = ([0.0; MAX_DIM], [0.0; MAX_DIM]);
            self.relative.velocity(problem, i, r, &mut u);
            let own = &mut r[s..s + d];
            block.set.natural_map(own, &u[..d], &mut change);
            sum += change[..d].iter().map(|f| f * f).sum::<f64>();
            for p in 0..d {
                for q in 0..d {
                    u[p] -= a[p * d + q] * own[q];
                }
            }
            change[..d].copy_from_slice(own);
            self.local.solve(&block.set, a, &u[..d], own);
            if omega != 1.0 {
                for k in 0..d {
                    own[k] = change[k] + omega * (own[k] - change[k]);
                }
                if omega > 1.0 {
                    block.set.project(own);
                }
            }
            for k in 0..d {
                change[k] = own[k] - change[k];
            }
            self.relative.change(problem, i, &change[..d]);
        }
        sum
    }

    fn take_diagonal(&mut self, problem: &Problem) {
        let blocks = problem.blocks();
        self.diagonal.clear();
        room::resize(&mut self.diagonal, blocks.iter().map(|b| b.set.dim() * b.set.dim()).sum(), 0.0);
        let mut at = 0;
        for (i, block) in blocks.iter().enumerate() {
            let d2 = block.set.dim() * block.set.dim();
            problem.diagonal_block(i, &mut self.diagonal[at..at + d2]);
            at += d2;
        }
    }
}
