//! Step size of the augmented scheme: the step-size module [Studer2008, §9.3, Tables III-VI].
//!
//! Of the three steps of the paper, the accepted one is final, the previous one is what the loop may still roll back, the actual one is the trial. After a step from t of length dt that came out
//!
//! ```text
//! smooth      the actual step becomes the previous one (final at once if it is one base step); from t_noInc on, and where dt is at most 1/32 of
//!             what is left up to it, dt ← min(max(2 dt, 3 dt_min), dt_max)
//! inaccurate  again with dt/2; as smooth if that is wanted, or if it was for want of substeps ≥ dt_min (halving ends in base steps of dt_min, which are worse),
//!             or if what changes from row to row is rounding
//! detected    t_noInc ← t + dt; actual and previous step are dropped, since the switch may be in either; again from there with dt/2
//! resolved    the actual step is final; t_noInc ← t + dt; dt ← min(max(2 dt, 3 dt_min), dt_max)
//! ```
//!
//! where dt < 3 dt_min becomes dt_min after halving; a step that the base cannot make is made again with dt/2. The first step has length dt_min.
//!
//! **Breaks and the end** end a step, which is shortened for that once. No rest of less than 3 dt_min is left for a step of its own: what remains is gone in two equal steps, unless they are that short themselves.
//! A short step that meets a switch resolves it only if the step before it is final; else the switch may lie in that one, and it is dropped as above. The last step has no successor that would confirm it: a trial of the same
//! length beyond the end does, and is dropped. If it shows a switch, so is the last step, and it is made again with half the length.
//!
//! Growing before t_noInc is not in the paper: without it, a run whose steps became short there for the sake of accuracy goes on with them up to t_noInc, which may be ten thousands of steps. The bisection that finds a switch hardly
//! meets it.
//!
//! **Progress.** A step of less than 3 dt_min is never rejected, and every rejection halves dt: between two final steps there are at most log₂(dt_max/dt_min) + 1 rejections of the actual step, each dropping at most one previous step.
//!
//! **Where switches are everywhere** refinement would end in steps of dt_min all the time. That takes more than sixteen interactions in the list of the step. Among so many switches are everywhere if more than `crowd` of them were resolved within the last
//! dt_max, or if more than four laws switch in a step, and no more than three quarters of them in its half from the same start: then they are spread in time, and not one event. From then on steps are **coarse**: a step in which a switch shows is taken as the
//! base step that it is, and dt grows up to dt_max, so that the run costs what the base scheme costs, and is as accurate. After some steps in a row without a switch it is as before. Coarse steps are counted (`Work::coarse`), and the summary says so. With
//! fewer interactions there are none, however often they switch: every step is smooth and confirmed, or resolves a switch.

use super::AugmentedStep;
use super::{ALWAYS_RESOLVED, ROUNDING, ROWS_FROM};
use crate::control::{Controller, Proposal, Span, Verdict};
use crate::state::{Bytes, Reader, Step, StepOutcome, Unreadable, Writer, bytes};
use std::collections::VecDeque;

/// Smallest and largest step of a run, s.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lengths {
    /// The smallest, which resolves switches.
    pub dt_min: f64,
    /// The largest.
    pub dt_max: f64,
}

/// The controller: the step-size module [Studer2008, §9.3].
#[derive(Debug, Clone)]
pub struct StepSize {
    end: f64,
    breaks: Vec<f64>,
    lengths: Lengths,
    accept_inaccurate: bool,
    crowd: usize,
    /// Where the loop stands, and the length of the next step.
    t: f64,
    dt: f64,
    /// Length of the step that was proposed.
    tried: f64,
    no_increase: f64,
    /// Length of the previous step, if it can still be dropped, s; else 0.
    open: f64,
    /// Whether a trial beyond the end has confirmed the last step.
    confirmed: bool,
    /// Times of the last switches that were resolved.
    resolved: VecDeque<f64>,
    /// Laws that switched in the step that was rejected last, and where it started.
    shown: Option<(f64, usize)>,
    /// Change, relative to the largest velocity, of the step that was inaccurate last, and where it started.
    halved: Option<(f64, f64)>,
    coarse: bool,
    /// Coarse steps in a row without a switch.
    calm: usize,
}

bytes!(Lengths { dt_min, dt_max });
// Breaks are those of the model: one with a later end may have more.
bytes!(StepSize {
    end,
    lengths,
    accept_inaccurate,
    crowd,
    t,
    dt,
    tried,
    no_increase,
    open,
    confirmed,
    resolved,
    shown,
    halved,
    coarse,
    calm,
});

/// Initial capacity of the list of switches.
const SWITCH_CAPACITY: usize = 1024;
/// Largest number of laws that switch in one step without being a crowd of switches.
const MAX_SWITCHES_AT_ONCE: usize = 4;
/// Largest share of the switches of a step that half a step may have if switches are spread in time.
const MAX_SWITCHES_LEFT: f64 = 0.75;
/// A step shorter than the rest up to t_noInc by this factor may grow before it.
const GROW_BELOW: f64 = 32.0;
/// Rounding, relative to the largest velocity, that a badly conditioned mass matrix may make of 1e-16.
const AMPLIFIED: f64 = 1e-10;
/// Consecutive steps without a switch that end a crowd of switches.
const CALM_STEPS: usize = 8;

impl StepSize {
    /// For a run.
    pub fn new(span: &Span, lengths: Lengths, accept_inaccurate: bool, crowd: usize) -> Self {
        Self {
            end: span.end,
            breaks: span.breaks.iter().copied().filter(|b| *b > span.start).collect(),
            lengths,
            accept_inaccurate,
            crowd,
            t: span.start,
            dt: lengths.dt_min,
            tried: lengths.dt_min,
            no_increase: span.start,
            open: 0.0,
            confirmed: false,
            resolved: VecDeque::with_capacity(crowd.min(SWITCH_CAPACITY) + 2),
            shown: None,
            halved: None,
            coarse: false,
            calm: 0,
        }
    }

    fn is_at_end(&self) -> bool {
        self.t >= self.end - ROUNDING * self.lengths.dt_min
    }

    fn grow(&mut self, dt: f64) {
        let Lengths { dt_min, dt_max } = self.lengths;
        self.dt = (2.0 * dt).max(ROWS_FROM * dt_min).min(dt_max);
    }

    fn halve(&mut self, dt: f64) {
        let dt_min = self.lengths.dt_min;
        self.dt = 0.5 * dt;
        if self.dt < ROWS_FROM * dt_min * (1.0 - ROUNDING) {
            self.dt = dt_min;
        }
    }

    /// Whether switches are everywhere, after a step that shows one.
    fn is_crowd(&mut self, step: &Step) -> bool {
        if self.crowd == 0 || step.candidates.len() <= ALWAYS_RESOLVED {
            return false;
        }
        let now = step.record.of::<AugmentedStep>().switches;
        let spread = self.shown.is_some_and(|(t, before)| {
            t == self.t && before > MAX_SWITCHES_AT_ONCE && (now as f64) <= MAX_SWITCHES_LEFT * before as f64 && now > 1
        });
        self.shown = Some((self.t, now));
        let since = self.t - self.lengths.dt_max;
        while self.resolved.front().is_some_and(|t| *t < since) {
            self.resolved.pop_front();
        }
        spread || self.resolved.len() > self.crowd
    }

    /// A switch that may lie in the step or in the one before: both are dropped, and `dt` is halved.
    fn search(&mut self, dt: f64, end: f64) -> Verdict {
        self.no_increase = end;
        self.halve(dt);
        let back = usize::from(std::mem::take(&mut self.open) > 0.0);
        if back == 0 { Verdict::Retry } else { Verdict::RollBack(back) }
    }

    /// A trial beyond the end: whether the last step has a successor without a switch.
    fn confirm(&mut self, outcome: StepOutcome) -> Verdict {
        match outcome {
            StepOutcome::Detected | StepOutcome::Resolved => self.search(self.open, self.t),
            StepOutcome::Plain | StepOutcome::Smooth | StepOutcome::Inaccurate => {
                self.confirmed = true;
                Verdict::Retry
            }
        }
    }

    /// Whether the change that made a step inaccurate is rounding: small, and no smaller than half of what it was in the double step from the same start, where
    /// a change by the error of the scheme would be a quarter or less.
    fn is_rounding(&self, change: f64) -> bool {
        change <= AMPLIFIED && self.halved.is_some_and(|(t, before)| t == self.t && change > 0.5 * before)
    }

    /// A coarse step: taken as it is.
    fn take_coarse(&mut self, step: &Step, switched: bool) -> Verdict {
        self.calm = if switched { 0 } else { self.calm + 1 };
        if self.calm >= CALM_STEPS {
            self.coarse = false;
            self.resolved.clear();
        }
        self.open = 0.0;
        self.grow(step.dt);
        Verdict::Accept
    }
}

impl Controller for StepSize {
    fn propose(&mut self, t: f64) -> Option<Proposal> {
        self.t = t;
        let dt_min = self.lengths.dt_min;
        if self.is_at_end() {
            self.tried = self.open;
            let wanted = self.open > 0.0 && !self.confirmed;
            return wanted.then_some(Proposal { dt: self.open, t_end: t + self.open });
        }
        let near = ROUNDING * dt_min;
        let target = self.breaks.iter().copied().find(|b| *b > t + near && *b < self.end).unwrap_or(self.end);
        let rest = target - t - self.dt;
        if rest > 0.5 * dt_min {
            let stub = rest < ROWS_FROM * dt_min && self.dt >= 2.0 * ROWS_FROM * dt_min;
            self.tried = if stub { 0.5 * (target - t) } else { self.dt };
            return Some(Proposal { dt: self.tried, t_end: t + self.tried });
        }
        // A rest that is too short to be a step of its own goes with the step before it.
        self.tried = target - t;
        Some(Proposal { dt: target - t, t_end: target })
    }

    fn judge(&mut self, step: &Step) -> Verdict {
        let e: &AugmentedStep = step.record.of();
        // Steps shortened by the loop or by a break do not change the length to come.
        let dt = if step.dt < self.tried || self.tried < self.dt { self.dt.min(2.0 * step.dt) } else { step.dt };
        let end = self.t + step.dt;
        if self.is_at_end() {
            return self.confirm(e.outcome);
        }
        if self.coarse && e.outcome != StepOutcome::Resolved {
            return self.take_coarse(step, e.switches > 0);
        }
        match e.outcome {
            StepOutcome::Plain | StepOutcome::Smooth => {}
            // Halves of it would be base steps of dt_min in the end, which are less accurate.
            StepOutcome::Inaccurate if self.accept_inaccurate || e.exhausted => {}
            // Halves do not help against rounding.
            StepOutcome::Inaccurate if self.is_rounding(e.change) => {}
            StepOutcome::Inaccurate => {
                self.halved = Some((self.t, e.change));
                self.halve(step.dt);
                return Verdict::Retry;
            }
            StepOutcome::Detected => {
                if self.is_crowd(step) {
                    self.coarse = true;
                    self.calm = 0;
                    return self.take_coarse(step, true);
                }
                // A step that was shortened does not tell how far to go back.
                let cut = self.tried < self.dt;
                return self.search(if cut { step.dt.max(self.open) } else { step.dt }, end);
            }
            // The step before is not final: the switch may lie in it.
            StepOutcome::Resolved if self.open > 0.0 => return self.search(step.dt.max(self.open), end),
            StepOutcome::Resolved => {
                self.no_increase = end;
                if self.resolved.len() > self.crowd {
                    self.resolved.pop_front();
                }
                self.resolved.push_back(end);
                self.grow(step.dt.max(self.lengths.dt_min));
                return Verdict::Accept;
            }
        }
        let long = step.dt >= ROWS_FROM * self.lengths.dt_min * (1.0 - ROUNDING);
        self.open = if long { step.dt } else { 0.0 };
        let rest = self.no_increase - end;
        if rest <= ROUNDING * self.lengths.dt_min || GROW_BELOW * dt <= rest {
            self.grow(dt);
        } else {
            self.dt = dt;
        }
        Verdict::Accept
    }

    fn failed(&mut self) -> bool {
        // Nothing is known beyond the end.
        self.confirmed |= self.is_at_end();
        let is_smallest = self.tried < ROWS_FROM * self.lengths.dt_min * (1.0 - ROUNDING);
        if !(self.is_at_end() || is_smallest) {
            self.halve(self.tried);
        }
        self.is_at_end() || !is_smallest
    }

    fn arrived(&mut self, t: f64) {
        self.t = t;
    }

    fn extend(&mut self, end: f64) -> bool {
        (self.end, self.confirmed) = (end, false);
        true
    }

    fn write(&self, out: &mut Writer) {
        Bytes::write(self, out);
    }

    fn read(&mut self, from: &mut Reader) -> Result<(), Unreadable> {
        Bytes::read(self, from)
    }

    fn lag(&self) -> usize {
        1
    }

    fn longest(&self) -> Option<f64> {
        Some(self.lengths.dt_max)
    }
}
