//! Block nonlinear Gauss-Seidel: sweeps over the blocks, each solved exactly with the others frozen
//! (see [`super::local`]). Converges for the usual contact problems, also rank-deficient ones; slow
//! where many bodies are stacked.
//!
//! Two things make up for that, both only while the sweeps are far from done:
//!
//! - **Momentum** \[Nesterov1983\]: sweeps start from r_k + β_k (r_k − r_{k−1}), β_k = (θ_{k−1} − 1)/θ_k, θ_k = (1 + √(1 + 4θ_{k−1}²))/2, begun anew
//!   when a step points against the last one or the residual grows.
//! - **Drift.** Where friction wedges bodies, sweeps can move r by the same small step each, thousands of times, until a contact opens or
//!   slips. Where two stretches of plain sweeps changed r by the same d, r goes on along d at once, up to the first block that
//!   leaves its mode.
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
    momentum: Momentum,
    drift: Drift,
}

/// Sweeps between two residuals while the estimate is above the tolerance.
const CHECK_EVERY: usize = 100;
/// Sweeps without one per cent of progress after which there is none: linear convergence may be slow, and a drift long.
const PATIENCE: usize = 5000;
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
        let blocks = problem.blocks();
        let mut report = Report::failed("nsgs", Status::MaxIterations);
        self.best.start();
        let mut pace = Pace::default();
        self.momentum.stop();
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
                if let (Set::Coulomb { dim: 1, mu }, Ok(a), [p, q]) = (&block.set, <&[f64; 4]>::try_from(a), &mut *own)
                {
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
            if estimate <= options.tolerance || sweep < FIRST_PLAIN {
                continue;
            }
            match pace.next(estimate) {
                Next::Plain => self.momentum.stop(),
                Next::Momentum => self.momentum.push(r, &mut self.relative),
                Next::Begin => self.drift.begin(r),
                Next::Middle => self.drift.middle(r),
                Next::Jump => {
                    if self.drift.jump(problem, r) {
                        self.relative.begin(problem, r);
                    }
                    self.momentum.stop();
                }
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

/// What follows a sweep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    /// Nothing.
    Plain,
    /// A push.
    Momentum,
    /// Three looks at a drift: before the first stretch of plain sweeps, between the two, and after the second.
    Begin,
    Middle,
    Jump,
}

/// When sweeps are pushed, and when they are watched for a drift.
#[derive(Debug, Clone, Copy)]
struct Pace {
    best: f64,
    /// Sweeps with momentum since the residual last fell by a tenth.
    idle: usize,
    /// Plain sweeps made in a watch, if there is one.
    watch: Option<usize>,
    /// Times that the residual ran away.
    runaways: usize,
}

impl Default for Pace {
    fn default() -> Self {
        Self { best: f64::INFINITY, idle: 0, watch: None, runaways: 0 }
    }
}

impl Pace {
    /// Sweeps with momentum without progress before a watch.
    const IDLE: usize = 60;
    /// Sweeps of each stretch of a watch.
    const STRETCH: usize = 20;
    /// Growth of the residual at which momentum is stopped.
    const RUNAWAY: f64 = 10.0;
    /// Runaways after which it is not tried again.
    const TOO_OFTEN: usize = 20;

    fn next(&mut self, estimate: f64) -> Next {
        if let Some(made) = self.watch.as_mut() {
            *made += 1;
            return match *made {
                n if n == Self::STRETCH => Next::Middle,
                n if n == 2 * Self::STRETCH => {
                    (self.watch, self.idle, self.best) = (None, 0, estimate);
                    Next::Jump
                }
                _ => Next::Plain,
            };
        }
        if estimate < 0.9 * self.best {
            (self.best, self.idle) = (estimate, 0);
        } else {
            self.idle += 1;
        }
        if self.idle >= Self::IDLE {
            self.watch = Some(0);
            return Next::Begin;
        }
        if !(estimate <= Self::RUNAWAY * self.best) {
            self.runaways += 1;
            self.best = estimate;
            return Next::Plain;
        }
        if self.runaways > Self::TOO_OFTEN { Next::Plain } else { Next::Momentum }
    }
}

/// Nesterov's momentum over sweeps.
#[derive(Debug, Default)]
struct Momentum {
    /// r and G r after the last sweep; empty if there is none to go by.
    last: Vec<f64>,
    last_y: Vec<f64>,
    /// Where the last sweep began.
    from: Vec<f64>,
    theta: f64,
}

impl Momentum {
    fn stop(&mut self) {
        self.last.clear();
    }

    /// Pushes r, as a sweep left it, on.
    fn push(&mut self, r: &mut [f64], relative: &mut Relative) {
        if self.last.len() != r.len() {
            self.theta = 1.0;
            for (list, now) in [(&mut self.last, &*r), (&mut self.from, &*r), (&mut self.last_y, &relative.y[..])] {
                list.clear();
                list.extend_from_slice(now);
            }
            return;
        }
        let against: f64 = r.iter().zip(&self.from).zip(&self.last).map(|((r, f), l)| (f - r) * (r - l)).sum();
        let next = 0.5 * (1.0 + (1.0 + 4.0 * self.theta * self.theta).sqrt());
        let beta = if against > 0.0 { 0.0 } else { (self.theta - 1.0) / next };
        self.theta = if against > 0.0 { 1.0 } else { next };
        let push = |now: &mut [f64], last: &mut [f64]| {
            for (now, last) in now.iter_mut().zip(last) {
                let swept = *now;
                *now += beta * (swept - *last);
                *last = swept;
            }
        };
        push(r, &mut self.last);
        push(&mut relative.y, &mut self.last_y);
        self.from.clear();
        self.from.extend_from_slice(r);
    }
}

/// A step that sweeps repeat.
#[derive(Debug, Default)]
struct Drift {
    first: Vec<f64>,
    second: Vec<f64>,
}

/// Relative difference up to which two steps are the same.
const SAME: f64 = 0.1;

impl Drift {
    fn begin(&mut self, r: &[f64]) {
        self.first.clear();
        self.first.extend_from_slice(r);
    }

    fn middle(&mut self, r: &[f64]) {
        self.second.clear();
        self.second.extend_from_slice(r);
    }

    /// Goes on along the drift, if there is one, to the first block that leaves its mode.
    fn jump(&self, problem: &Problem, r: &mut [f64]) -> bool {
        let (mut change, mut size) = (0.0, 0.0);
        for ((c, b), a) in r.iter().zip(&self.second).zip(&self.first) {
            let (d, before) = (c - b, b - a);
            change += (d - before) * (d - before);
            size += d * d;
        }
        if !(change <= SAME * SAME * size) {
            return false;
        }
        // How many such steps every block can take.
        let mut steps = f64::INFINITY;
        for block in problem.blocks() {
            let s = block.start;
            let d = |k: usize| r[s + k] - self.second[s + k];
            let until = |value: f64, rate: f64| if rate < 0.0 { -value / rate } else { f64::INFINITY };
            match block.set {
                Set::NonNegative if r[s] > 0.0 => steps = steps.min(until(r[s], d(0))),
                Set::Coulomb { dim: 1, mu } if r[s] > 0.0 => {
                    steps = steps.min(until(r[s], d(0)));
                    // Sticking percussions reach the edge of the cone; slipping ones are on it and stay there.
                    for sign in [1.0, -1.0] {
                        let room = mu * r[s] - sign * r[s + 1];
                        if room > 1e-9 * mu * r[s] {
                            steps = steps.min(until(room, mu * d(0) - sign * d(1)));
                        }
                    }
                }
                _ => {}
            }
        }
        if !(steps > 1.0 && steps < f64::INFINITY) {
            return false;
        }
        for (r, b) in r.iter_mut().zip(&self.second) {
            *r += steps * (*r - b);
        }
        true
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
