//! Convergence acceleration of sweeps over many coupled blocks.
//!
//! - **Momentum** \[Nesterov1983\]: sweeps start from r_k + β_k (r_k − r_{k−1}), β_k = (θ_{k−1} − 1)/θ_k, θ_k = (1 + √(1 + 4θ_{k−1}²))/2, begun anew
//!   when a step points against the last one or the residual grows.
//! - **Drift.** Where friction wedges bodies, sweeps can move r by the same small step each, thousands of times, until a contact opens or
//!   slips. If two runs of plain sweeps change r by the same d, r jumps along d, up to the first block that
//!   leaves its mode.
//!
//! Sweeps have momentum. When the residual has not fallen by a tenth for some time, plain sweeps test for a drift.

use crate::capacity;
use crate::linear::dense::dot;
use crate::problem::{Problem, Relative};
use crate::sets::{MAX_DIM, Set};

/// What happens after a sweep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    /// Nothing.
    Plain,
    /// An extrapolation by momentum.
    Momentum,
    /// The three stages of a drift test: before the first run of plain sweeps, between the two, and after the second.
    Begin,
    Middle,
    Jump,
}

/// Decides after which sweeps there is momentum, and when there is a drift test.
#[derive(Debug, Clone, Copy)]
struct Pace {
    best: f64,
    /// Sweeps with momentum since the residual last fell by a tenth.
    idle: usize,
    /// Plain sweeps made in a drift test, if one is under way.
    watch: Option<usize>,
    /// How often the residual has grown beyond [`Pace::RUNAWAY_GROWTH`].
    runaways: usize,
}

impl Default for Pace {
    fn default() -> Self {
        Self { best: f64::INFINITY, idle: 0, watch: None, runaways: 0 }
    }
}

impl Pace {
    /// Sweeps with momentum without progress before a drift test.
    const MAX_IDLE_SWEEPS: usize = 60;
    /// Sweeps in each run of a drift test.
    const DRIFT_SWEEPS: usize = 20;
    /// Growth of the residual at which momentum is stopped.
    const RUNAWAY_GROWTH: f64 = 10.0;
    /// Runaways after which momentum is given up.
    const MAX_RUNAWAYS: usize = 20;

    fn next(&mut self, estimate: f64) -> Next {
        if let Some(made) = self.watch.as_mut() {
            *made += 1;
            return match *made {
                n if n == Self::DRIFT_SWEEPS => Next::Middle,
                n if n == 2 * Self::DRIFT_SWEEPS => {
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
        if self.idle >= Self::MAX_IDLE_SWEEPS {
            self.watch = Some(0);
            return Next::Begin;
        }
        if !(estimate <= Self::RUNAWAY_GROWTH * self.best) {
            self.runaways += 1;
            self.best = estimate;
            return Next::Plain;
        }
        if self.runaways > Self::MAX_RUNAWAYS { Next::Plain } else { Next::Momentum }
    }
}

/// Momentum and drift of a solve. See the [module](self).
#[derive(Debug, Default)]
pub(super) struct Acceleration {
    pace: Pace,
    /// Whether there is momentum. Then `first` is r after the last sweep and `second` r at its start; in a drift test they are r at its
    /// start and between its two runs.
    moving: bool,
    first: Vec<f64>,
    second: Vec<f64>,
    /// Velocities that the percussions `first` cause.
    first_y: Vec<f64>,
    theta: f64,
}

/// Relative difference up to which two steps are the same.
const SAME_STEP_TOLERANCE: f64 = 0.1;

impl Acceleration {
    /// Begins a solve.
    pub(super) fn begin(&mut self) {
        self.pace = Pace::default();
        self.moving = false;
    }

    /// Takes r as a sweep left it, with the estimate of its residual, to where the next sweep begins.
    pub(super) fn after_sweep(&mut self, problem: &Problem, r: &mut [f64], relative: &mut Relative, estimate: f64) {
        match self.pace.next(estimate) {
            Next::Plain => self.moving = false,
            Next::Momentum => self.push(r, relative),
            Next::Begin => {
                self.moving = false;
                capacity::assign(&mut self.first, r);
            }
            Next::Middle => capacity::assign(&mut self.second, r),
            Next::Jump => {
                if self.jump(problem, r) {
                    relative.begin(problem, r);
                }
            }
        }
    }

    fn push(&mut self, r: &mut [f64], relative: &mut Relative) {
        if !self.moving {
            (self.moving, self.theta) = (true, 1.0);
            capacity::assign(&mut self.first, r);
            capacity::assign(&mut self.second, r);
            capacity::assign(&mut self.first_y, &relative.y);
            return;
        }
        let (last, from) = (&self.first, &self.second);
        let against: f64 = r.iter().zip(from).zip(last).map(|((r, f), l)| (f - r) * (r - l)).sum();
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
        push(r, &mut self.first);
        push(&mut relative.y, &mut self.first_y);
        capacity::assign(&mut self.second, r);
    }

    /// Goes on along the drift, if there is one, to the first block that leaves its mode.
    fn jump(&self, problem: &Problem, r: &mut [f64]) -> bool {
        let (mut change, mut size) = (0.0, 0.0);
        for ((c, b), a) in r.iter().zip(&self.second).zip(&self.first) {
            let (d, before) = (c - b, b - a);
            change += (d - before) * (d - before);
            size += d * d;
        }
        if !(change <= SAME_STEP_TOLERANCE * SAME_STEP_TOLERANCE * size) {
            return false;
        }
        // How many such steps every block can take.
        let mut steps = f64::INFINITY;
        for block in problem.blocks() {
            let (s, dim) = (block.start, block.set.dim());
            let mut d = [0.0; MAX_DIM];
            for k in 0..dim {
                d[k] = r[s + k] - self.second[s + k];
            }
            let (own, d) = (&r[s..s + dim], &d[..dim]);
            let until = |value: f64, rate: f64| if rate < 0.0 { -value / rate } else { f64::INFINITY };
            let own_steps = match block.set {
                Set::NonNegative if own[0] > 0.0 => until(own[0], d[0]),
                Set::Interval { lower, upper } if own[0] > lower && own[0] < upper => {
                    until(own[0] - lower, d[0]).min(until(upper - own[0], -d[0]))
                }
                Set::Ball { radius, .. } => steps_to_cone(radius, own, 0.0, d),
                // Sticking percussions reach the edge of the cone; slipping ones are on it and stay there.
                Set::Coulomb { mu, .. } if own[0] > 0.0 => {
                    until(own[0], d[0]).min(steps_to_cone(mu * own[0], &own[1..], mu * d[0], &d[1..]))
                }
                Set::Polyhedral { .. } if own[0] > 0.0 => until(own[0], d[0]),
                Set::Free { .. }
                | Set::NonNegative
                | Set::Interval { .. }
                | Set::Coulomb { .. }
                | Set::Polyhedral { .. } => f64::INFINITY,
            };
            steps = steps.min(own_steps);
        }
        if !(steps > 1.0 && steps < f64::INFINITY) {
            return false;
        }
        for (r, b) in r.iter_mut().zip(&self.second) {
            *r += steps * (*r - b);
        }
        // Percussions on the edge of their set move along it, which is curved.
        for block in problem.blocks() {
            block.set.project(&mut r[block.start..block.start + block.set.dim()]);
        }
        true
    }
}

/// The first t > 0 at which ‖x + t d‖ reaches the radius n + t dn from inside; infinite if it never does, or if it is there already.
fn steps_to_cone(n: f64, x: &[f64], dn: f64, d: &[f64]) -> f64 {
    // a t² + 2 b t + c = 0 with c < 0 inside.
    let (a, b, c) = (dot(d, d) - dn * dn, dot(x, d) - n * dn, dot(x, x) - n * n);
    if !(c < -2e-9 * n * n) {
        return f64::INFINITY;
    }
    let root = b * b - a * c;
    if a > 0.0 {
        return -c / (b + root.sqrt());
    }
    // The square falls in the end: the edge is reached only while it rises, if at all.
    if root >= 0.0 && b > 0.0 { -c / (b + root.sqrt()) } else { f64::INFINITY }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::Dense;

    /// Blocks u = r + b, none of which matters to what is tested.
    fn free_standing(sets: Vec<Set>) -> Problem {
        let n: usize = sets.iter().map(Set::dim).sum();
        let mut a = Dense::zeros(n, n);
        (0..n).for_each(|i| a[(i, i)] = 1.0);
        Problem::dense(sets, a, vec![0.0; n]).unwrap()
    }

    #[test]
    fn momentum_follows_nesterovs_sequence_and_forgets_where_it_is_against_the_last_step() {
        let (mut a, mut relative) = (Acceleration::default(), Relative::default());
        a.begin();
        let problem = free_standing(vec![Set::NonNegative]);
        // Sweeps that add one each; residuals that fall. The first only begins.
        let (mut r, mut theta, mut swept) = (vec![1.0], 1.0, 1.0);
        a.after_sweep(&problem, &mut r, &mut relative, 1.0);
        assert_eq!(r[0], 1.0);
        for k in 1..6 {
            r[0] += 1.0;
            let now = r[0];
            a.after_sweep(&problem, &mut r, &mut relative, 0.5f64.powi(k));
            let next: f64 = 0.5 * (1.0 + f64::sqrt(1.0 + 4.0 * theta * theta));
            assert!((r[0] - (now + (theta - 1.0) / next * (now - swept))).abs() < 1e-14, "push {k}: {r:?}");
            (theta, swept) = (next, now);
        }
        // A sweep that takes back a part of the push ends the momentum: r stays where the sweep left it.
        r[0] -= 0.1;
        let back = r[0];
        a.after_sweep(&problem, &mut r, &mut relative, 1e-3);
        assert_eq!(r[0], back);
    }

    /// 60 sweeps without progress, then two stretches of 20 that add `d` each time, `d2` in the second.
    fn watched(problem: &Problem, start: &[f64], d: &[f64], d2: &[f64]) -> Vec<f64> {
        let (mut a, mut relative) = (Acceleration::default(), Relative::default());
        a.begin();
        let mut r = start.to_vec();
        for _ in 0..=Pace::MAX_IDLE_SWEEPS {
            let mut still = start.to_vec();
            a.after_sweep(problem, &mut still, &mut relative, 1.0);
        }
        for k in 0..2 * Pace::DRIFT_SWEEPS {
            let d = if k < Pace::DRIFT_SWEEPS { d } else { d2 };
            r.iter_mut().zip(d).for_each(|(r, d)| *r += d);
            a.after_sweep(problem, &mut r, &mut relative, 1.0);
        }
        r
    }

    #[test]
    fn a_drift_is_followed_to_the_first_block_that_opens_or_begins_to_slip() {
        let problem = free_standing(vec![Set::Coulomb { dim: 1, mu: 0.5 }, Set::NonNegative]);
        // The third component would open after 1000 sweeps; the tangential one reaches the cone, 0.5·10, after 500.
        let r = watched(&problem, &[10.0, 0.0, 1.0], &[0.0, 0.01, -0.001], &[0.0, 0.01, -0.001]);
        assert!((r[0] - 10.0).abs() < 1e-12 && (r[1] - 5.0).abs() < 1e-9 && (r[2] - 0.5).abs() < 1e-9, "{r:?}");
        // With little friction to gain, the opening comes first.
        let r = watched(&problem, &[10.0, 0.0, 1.0], &[0.0, 0.004, -0.001], &[0.0, 0.004, -0.001]);
        assert!((r[1] - 4.0).abs() < 1e-9 && r[2].abs() < 1e-9, "{r:?}");
    }

    #[test]
    fn a_drift_in_space_ends_at_the_cone() {
        let problem = free_standing(vec![Set::Coulomb { dim: 2, mu: 0.5 }]);
        // |r_T| = 0.5·10 is reached after 5/0.005 = 1000 sweeps, of which 960 at once.
        let r = watched(&problem, &[10.0, 0.0, 0.0], &[0.0, 0.003, 0.004], &[0.0, 0.003, 0.004]);
        assert!((r[1] - 3.0).abs() < 1e-9 && (r[2] - 4.0).abs() < 1e-9, "{r:?}");
        // A cone that shrinks meets a percussion that does not move: 0.5·(10 − 0.01 k) = 3.
        let r = watched(&problem, &[10.0, 3.0, 0.0], &[-0.01, 0.0, 0.0], &[-0.01, 0.0, 0.0]);
        assert!((r[0] - 6.0).abs() < 1e-9 && (r[1] - 3.0).abs() < 1e-12, "{r:?}");
        assert_eq!(steps_to_cone(5.0, &[3.0, 0.0], 1.0, &[0.5, 0.0]), f64::INFINITY);
    }

    #[test]
    fn a_drift_ends_at_the_bounds_of_boxes_and_balls_and_four_dimensional_cones() {
        let interval = Set::Interval { lower: -1.0, upper: 2.0 };
        let r =
            watched(&free_standing(vec![interval, Set::Free { dim: 1 }]), &[0.0, 0.0], &[0.002, 5.0], &[0.002, 5.0]);
        assert!((r[0] - 2.0).abs() < 1e-9 && (r[1] - 5000.0).abs() < 1e-6, "{r:?}");
        let r =
            watched(&free_standing(vec![Set::Ball { dim: 2, radius: 1.0 }]), &[0.0, 0.6], &[0.001, 0.0], &[0.001, 0.0]);
        assert!((r[0] - 0.8).abs() < 1e-9 && (r[1] - 0.6).abs() < 1e-12, "{r:?}");
        let cone = Set::Coulomb { dim: 3, mu: 0.5 };
        let d = [0.0, 0.002, 0.001, 0.002];
        let r = watched(&free_standing(vec![cone]), &[12.0, 0.0, 0.0, 0.0], &d, &d);
        assert!((r[1] - 4.0).abs() < 1e-9 && (r[2] - 2.0).abs() < 1e-9 && (r[3] - 4.0).abs() < 1e-9, "{r:?}");
    }

    #[test]
    fn sweeps_that_do_not_repeat_themselves_are_left_alone() {
        let problem = free_standing(vec![Set::Coulomb { dim: 1, mu: 0.5 }, Set::NonNegative]);
        let r = watched(&problem, &[10.0, 0.0, 1.0], &[0.0, 0.01, -0.001], &[0.0, 0.005, -0.001]);
        assert!((r[1] - 0.3).abs() < 1e-12 && (r[2] - 0.96).abs() < 1e-12, "{r:?}");
    }
}
