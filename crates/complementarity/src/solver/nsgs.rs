//! Block nonlinear Gauss-Seidel: sweeps over the blocks, each solved exactly with the others frozen
//! (see [`super::local`]). Converges for the usual contact problems, also rank-deficient ones; slow
//! where many bodies are stacked.
//!
//! A block goes the part ω of the way to its own solution: all of it, unless [`Options::relaxation`] says otherwise. Where friction is large, a
//! single contact can have several solutions and sweeps may jump between them for ever; ω = 0.85 then helps, and [`super::Proximal`] more.
//!
//! Momentum and jumps along a drift make up for that while the sweeps are far from done: see [`super::acceleration`].
//!
//! A sweep meets every block once, in the order of [`Options::order`], and with it its natural map at the percussions of that moment; their norm estimates the residual
//! at no cost. The residual itself is taken when the estimate is within the tolerance, and now and then.

use super::acceleration::Acceleration;
use super::eliminate::Eliminated;
use super::local::Local;
use super::order::{Arrangement, Order};
use super::{Best, Options, Report, Solver, SolverInfo, Status, info, sanitise};
use super::{planar, spatial};
use crate::capacity;
use crate::problem::{Problem, Relative};
use crate::sets::MAX_DIM;

/// Block nonlinear Gauss-Seidel. See [`super::SOLVERS`].
#[derive(Debug, Default)]
pub struct GaussSeidel {
    local: Local,
    relative: Relative,
    eliminated: Eliminated,
    /// Diagonal blocks of A, and where each begins.
    diagonal: Vec<f64>,
    place: Vec<usize>,
    arrangement: Arrangement,
    contacts: Vec<spatial::Contact>,
    best: Best,
    acceleration: Acceleration,
}

/// Sweeps between two residuals while the estimate is above the tolerance.
const CHECK_EVERY: usize = 100;
/// Sweeps without one per cent of progress after which there is none: linear convergence may be slow, and a drift long.
const MAX_STAGNATION: usize = 5000;
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
        // What the kernels do is whole steps in natural order.
        let plain = options.relaxation.is_none() && options.order == Order::Natural;
        let granular = planar::granular(problem).filter(|_| plain);
        let in_plane = planar::by_blocks(problem).filter(|_| plain);
        let in_space = plain && spatial::fits(problem);
        let mut report = Report::failed("nsgs", Status::MaxIterations);
        self.best.start();
        self.acceleration.begin();
        let scale = problem.scale();
        let (mut progress, mut since_progress) = (f64::INFINITY, 0);
        let mut estimate = 0.0;
        let omega = options.relaxation.unwrap_or(1.0);
        for sweep in 0..=options.max_iterations {
            report.iterations = sweep;
            let late = options.out_of_time();
            let last = late
                || sweep == options.max_iterations
                || since_progress > MAX_STAGNATION
                || !(estimate < f64::INFINITY);
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
                if since_progress > MAX_STAGNATION {
                    report.status = Status::Stalled;
                } else if late {
                    report.status = Status::TimeLimit;
                }
                if last {
                    break;
                }
                if sweep == 0 && in_space {
                    spatial::prepare(problem, &mut self.contacts);
                } else if sweep == 0 && granular.is_none() {
                    self.take_diagonal(problem);
                    self.arrangement.begin(problem, options.order);
                }
            }
            let sum = if let Some(gram) = granular {
                planar::sweep(problem, gram, r, &mut self.relative.y, &mut self.local)
            } else if let Some(a) = in_plane {
                planar::sweep_blocks(problem, a, &self.diagonal, r, &mut self.local)
            } else if in_space {
                spatial::sweep(problem, &mut self.contacts, r, &mut self.relative.y, &mut self.local)
            } else {
                self.arrangement.next_sweep(options.order);
                self.sweep(problem, r, omega)
            };
            estimate = sum.sqrt() / scale;
            if estimate < 0.99 * progress {
                progress = estimate;
                since_progress = 0;
            } else {
                since_progress += 1;
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

    /// Every block once. Returns the sum of the errors met on the way.
    fn sweep(&mut self, problem: &Problem, r: &mut [f64], omega: f64) -> f64 {
        let mut sum = 0.0;
        for &i in &self.arrangement.blocks {
            let i = i as usize;
            let block = &problem.blocks()[i];
            let (s, d) = (block.start, block.set.dim());
            let a = &self.diagonal[self.place[i]..self.place[i] + d * d];
            let (mut u, mut change) = ([0.0; MAX_DIM], [0.0; MAX_DIM]);
            self.relative.velocity(problem, i, r, &mut u);
            let own = &mut r[s..s + d];
            sum += problem.block_error(i, own, &u[..d]);
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
        capacity::resize(&mut self.diagonal, blocks.iter().map(|b| b.set.dim() * b.set.dim()).sum(), 0.0);
        self.place.clear();
        let mut at = 0;
        for (i, block) in blocks.iter().enumerate() {
            let d2 = block.set.dim() * block.set.dim();
            self.place.push(at);
            problem.diagonal_block(i, &mut self.diagonal[at..at + d2]);
            at += d2;
        }
    }
}
