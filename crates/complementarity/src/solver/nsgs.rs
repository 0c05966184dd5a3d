//! Block nonlinear Gauss-Seidel: sweeps over the blocks, each solved exactly with the others frozen
//! (see [`super::local`]). Converges for the usual contact problems, also rank-deficient ones; slow
//! where many bodies are stacked.
//!
//! A sweep meets every block once, and with it its natural map at the percussions of that moment; their norm estimates the residual
//! at no cost. The residual itself is taken when the estimate is within the tolerance, and now and then.

use super::eliminate::Eliminated;
use super::local::Local;
use super::{Best, Judge, Options, Report, Solver, SolverInfo, Status, info, sanitise};
use crate::linear::dense::norm;
use crate::problem::{Problem, Relative};
use crate::sets::{MAX_DIM, Set};

/// Block nonlinear Gauss-Seidel. See [`super::SOLVERS`].
#[derive(Debug, Default)]
pub struct GaussSeidel {
    local: Local,
    judge: Judge,
    relative: Relative,
    eliminated: Eliminated,
    diagonal: Vec<f64>,
    best: Best,
}

/// Sweeps between two residuals while the estimate is above the tolerance.
const CHECK_EVERY: usize = 100;
/// Sweeps without one per cent of progress after which there is none: linear convergence may be slow.
const PATIENCE: usize = 1000;

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
        let mut report = Report::failed("nsgs", Status::MaxIterations);
        self.best.start();
        let scale = norm(problem.b());
        let scale = if scale > 0.0 { scale } else { 1.0 };
        let (mut progress, mut since_progress) = (f64::INFINITY, 0);
        let mut estimate = 0.0;
        for sweep in 0..=options.max_iterations {
            report.iterations = sweep;
            let last = sweep == options.max_iterations || since_progress > PATIENCE || !(estimate < f64::INFINITY);
            if last || estimate <= options.tolerance || sweep.is_multiple_of(CHECK_EVERY) {
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
                if since_progress > PATIENCE {
                    report.status = Status::Stalled;
                }
                if last {
                    break;
                }
                if sweep == 0 {
                    self.take_diagonal(problem);
                }
                self.relative.begin(problem, r);
            }
            let mut sum = 0.0;
            let mut diagonal = &self.diagonal[..];
            for (i, block) in blocks.iter().enumerate() {
                let (s, d) = (block.start, block.set.dim());
                let (a, rest) = diagonal.split_at(d * d);
                diagonal = rest;
                let mut u = [0.0; MAX_DIM];
                self.relative.velocity(problem, i, r, &mut u);
                let own = &mut r[s..s + d];
                let mut change = [0.0; MAX_DIM];
                if let (Set::Coulomb { dim: 1, mu }, Ok(a), [p, q]) = (&block.set, <&[f64; 4]>::try_from(a), &mut *own) {
                    let u = [u[0], u[1]];
                    sum += planar::natural_map(*mu, [*p, *q], u);
                    let c = [u[0] - a[0] * *p - a[1] * *q, u[1] - a[2] * *p - a[3] * *q];
                    if let Some(next) = planar::solve(a, c, *mu) {
                        let change = [next[0] - *p, next[1] - *q];
                        (*p, *q) = (next[0], next[1]);
                        self.relative.change(problem, i, &change);
                        continue;
                    }
                } else {
                    block.set.natural_map(own, &u[..d], &mut change);
                    sum += change[..d].iter().map(|f| f * f).sum::<f64>();
                }
                let mut c = u;
                for p in 0..d {
                    for q in 0..d {
                        c[p] -= a[p * d + q] * own[q];
                    }
                }
                change[..d].copy_from_slice(own);
                self.local.solve(&block.set, a, &c[..d], own);
                for k in 0..d {
                    change[k] = own[k] - change[k];
                }
                self.relative.change(problem, i, &change[..d]);
            }
            estimate = sum.sqrt() / scale;
            if estimate < 0.99 * progress {
                progress = estimate;
                since_progress = 0;
            } else {
                since_progress += 1;
            }
        }
        self.best.restore(r, &mut report);
        if problem.infeasible_block().is_some() {
            report.status = Status::Infeasible;
        }
        report
    }

    fn take_diagonal(&mut self, problem: &Problem) {
        let blocks = problem.blocks();
        self.diagonal.clear();
        self.diagonal.resize(blocks.iter().map(|b| b.set.dim() * b.set.dim()).sum(), 0.0);
        let mut at = 0;
        for (i, block) in blocks.iter().enumerate() {
            let d2 = block.set.dim() * block.set.dim();
            problem.diagonal_block(i, &mut self.diagonal[at..at + d2]);
            at += d2;
        }
    }
}

/// Planar Coulomb friction by itself: the block that granular problems are made of.
mod planar {
    /// ‖r − proj(r − û)‖² with û = (u_N + μ|u_T|, u_T).
    #[inline]
    pub(super) fn natural_map(mu: f64, r: [f64; 2], u: [f64; 2]) -> f64 {
        let x = [r[0] - u[0] - mu * u[1].abs(), r[1] - u[1]];
        let t = x[1].abs();
        let p = if t <= mu * x[0] {
            x
        } else if mu * t <= -x[0] {
            [0.0, 0.0]
        } else {
            let s = (x[0] + mu * t) / (1.0 + mu * mu);
            [s, (mu * s).copysign(x[1])]
        };
        (r[0] - p[0]) * (r[0] - p[0]) + (r[1] - p[1]) * (r[1] - p[1])
    }

    /// Take-off, stick or slip as in [`super::super::local`]; nothing where A is not positive definite or no case fits.
    #[inline]
    pub(super) fn solve(a: &[f64; 4], c: [f64; 2], mu: f64) -> Option<[f64; 2]> {
        if c[0] >= 0.0 {
            return Some([0.0, 0.0]);
        }
        if mu == 0.0 {
            return (a[0] > 0.0).then(|| [-c[0] / a[0], 0.0]);
        }
        let det = a[0] * a[3] - a[1] * a[2];
        // A singular block is left to the general solver.
        if !(det > 1e-12 * a[0] * a[3]) {
            return None;
        }
        let (n, t) = (a[1] * c[1] - a[3] * c[0], a[2] * c[0] - a[0] * c[1]);
        if t.abs() <= mu * n {
            let inverse = 1.0 / det;
            return Some([n * inverse, t * inverse]);
        }
        // The sign of the stick percussion is the likelier one.
        let likely = if t > 0.0 { -1.0 } else { 1.0 };
        for s in [likely, -likely] {
            let denominator = a[0] - s * mu * a[1];
            if denominator > 0.0 {
                let rn = -c[0] / denominator;
                let rt = -s * mu * rn;
                if s * (a[2] * rn + a[3] * rt + c[1]) >= 0.0 {
                    return Some([rn, rt]);
                }
            }
        }
        None
    }
}
