//! What ends a step early: where contacts stand at its start, collisions along its path, and transitions of the laws.

mod collisions;
mod groups;
mod transitions;

pub(super) use groups::Groups;

use super::frozen::Along;
use super::options::{Detection, Laws, Transitions, Variant};
use super::{TrapezoidalLcp, still};
use super::{TrapezoidalMemory, TrapezoidalStep};
use crate::contract::{Evaluator, Kind};
use crate::scheme::velocity_level::gap;
use crate::scheme::{Failure, Solve};
use crate::state::{State, Step};
use complementarity::linear::dense::{max_norm, norm};
use transitions::sticks;

/// State of a contact at the start of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ContactState {
    /// Open, or no contact.
    Open,
    /// It touches and separates.
    Separating,
    /// It touches and stays.
    Closed,
    /// It touches and approaches.
    Approaching,
}

/// An interaction at the start of a step.
#[derive(Debug, Clone, Copy)]
pub(super) struct Start {
    pub(super) state: ContactState,
    gap: f64,
    /// Direction of its slip, if it slips.
    slip: Option<Along>,
}

const NO_CONTACT: Start = Start { state: ContactState::Open, gap: f64::INFINITY, slip: None };
/// Accuracy of a located event, in parts of the step.
const LOCATED: f64 = 1e-14;

/// Function whose change of sign ends a mode.
#[derive(Debug, Clone, Copy)]
pub(super) enum EventFunction {
    /// Slip velocity along its direction.
    Slip(Along),
    /// Distance of the friction force from its bound.
    Friction,
    /// Normal force.
    Normal,
}

impl TrapezoidalLcp {
    /// Finds the states of all interactions at the start, and those that take part. Returns whether a contact approaches.
    pub(super) fn classify_interactions(
        &mut self,
        system: &Evaluator,
        start: &State,
        dt: f64,
        solve: &Solve,
        out: &mut Step,
    ) -> Result<bool, Failure> {
        let still = still(&start.u, solve);
        let touching = self.options.touching(dt);
        let smooth = &start.memory.of::<TrapezoidalMemory>().smooth;
        let jumped = !smooth.is_empty() && smooth.len() == start.percussions.values().len();
        self.starts.clear();
        let mut approaching = false;
        for i in 0..out.candidates.len() {
            let k = &out.candidates.items()[i];
            if matches!(k.kind, Kind::Joint | Kind::VelocityJoint) {
                self.starts.push(NO_CONTACT);
                out.active[i] = true;
                continue;
            }
            let place = start.percussions.place(i, k.id);
            let range = place.map(|at| start.percussions.range(at)).filter(|r| r.len() == k.dim());
            let values = if jumped { smooth } else { start.percussions.values() };
            let p = range.map(|r| &values[r]);
            let contact = k.kind == Kind::Contact;
            let mut found = NO_CONTACT;
            if contact {
                found.gap = gap(system, k, start.t, &start.q)?;
                let carried = p.is_some_and(|p| p[0] > 0.0);
                if !(carried || found.gap <= touching) {
                    self.starts.push(found);
                    out.active[i] = false;
                    continue;
                }
                let velocity = self.normal_velocity(system, out, i, (start.t, &start.q), &start.u);
                found.state = if (carried && !jumped) || velocity.abs() <= still {
                    ContactState::Closed
                } else if velocity < 0.0 {
                    approaching = true;
                    ContactState::Approaching
                } else {
                    ContactState::Separating
                };
            }
            let k = &out.candidates.items()[i];
            let skip = usize::from(contact);
            if (!contact || found.state == ContactState::Closed) && k.dim() > skip && k.dim() - skip <= 3 {
                let stuck = p.is_some_and(|p| !jumped && sticks(k, p, &self.options.facets));
                found.slip = self.slip(system, start, dt, out, i, still).filter(|_| !stuck);
            }
            out.active[i] = !contact || found.state == ContactState::Closed;
            self.starts.push(found);
        }
        Ok(approaching)
    }

    /// Direction of the slip of interaction `i` at the start, if it is more than what the turning of the contact in a step explains.
    fn slip(&mut self, system: &Evaluator, start: &State, dt: f64, step: &Step, i: usize, still: f64) -> Option<Along> {
        self.velocity_of(system, step, i, (start.t, &start.q), &start.u, 0);
        let k = &step.candidates.items()[i];
        let (n, skip) = (k.dofs.len(), usize::from(k.kind == Kind::Contact));
        let mut slip = [0.0; 3];
        for j in skip..k.dim() {
            slip[j - skip] = self.chi[j] + k.row_times(&self.rows[j * n..(j + 1) * n], &start.u);
        }
        let speed = norm(&slip);
        let mut least = still;
        if speed > least && !k.constant && self.options.variant == Variant::I && self.options.laws == Laws::Midpoint {
            // Laws at the midpoint leave that much at the end.
            system.velocity_rate(k, start.t, &start.q, &start.u, &mut self.chi);
            least += dt * max_norm(&self.chi[skip..k.dim()]);
        }
        (speed > least).then(|| slip.map(|s| s / speed))
    }

    /// The first event of the trial by the laws: where the step ends, and whether that is at an event. Leaves a trial that belongs to it.
    pub(super) fn event(
        &mut self,
        system: &Evaluator,
        start: &State,
        solve: &mut Solve,
        out: &mut Step,
    ) -> Result<Option<(f64, bool)>, Failure> {
        let h = self.predict.h;
        if self.options.detection == Detection::None {
            return Ok(None);
        }
        let earliest = self.earliest(start).min(h);
        let mut watches = std::mem::take(&mut self.watches);
        watches.clear();
        if self.options.detection == Detection::All && h > earliest {
            self.changes(system, start, solve, out, &mut watches);
        }
        let found = self.first_event(system, start, solve, out, &watches, earliest);
        self.watches = watches;
        found
    }

    /// The same with what changes in the trial.
    fn first_event(
        &mut self,
        system: &Evaluator,
        start: &State,
        solve: &mut Solve,
        out: &mut Step,
        watches: &[(usize, EventFunction)],
        earliest: f64,
    ) -> Result<Option<(f64, bool)>, Failure> {
        let h = self.predict.h;
        if watches.is_empty() {
            let Some(s) = self.collision(system, start, h, out)? else { return Ok(None) };
            let s = if self.is_stiff() { self.collision_by_steps(system, start, solve, out, s, h)? } else { s };
            return Ok(Some((s.max(earliest).min(self.predict.h), s.max(earliest) < h)));
        }
        if !self.try_step(system, start, h, true, solve, out)? {
            let slips = watches.iter().any(|(_, w)| matches!(w, EventFunction::Slip(_)));
            // No force keeps the slip: an impulse without collision.
            let length = if slips { earliest } else { h };
            out.record.make::<TrapezoidalStep>().paradox = slips;
            self.try_step(system, start, length, false, solve, out)?;
            return Ok(Some((length, length < h)));
        }
        let mut first = h;
        for (i, watch) in watches {
            let s = match self.options.events {
                Transitions::Continuous => self.transition(system, start, solve, out, *i, *watch)?,
                Transitions::Basis => self.degenerate(system, start, solve, out, (*i, *watch), h)?,
            };
            first = first.min(s.unwrap_or(h));
        }
        if self.options.events == Transitions::Basis {
            // Its steps of other lengths have taken the place of the trial.
            self.try_step(system, start, h, true, solve, out)?;
        }
        let collision = self.collision(system, start, first, out)?;
        let s = collision.unwrap_or(first).max(earliest);
        let s = if s < h && collision.is_none() { self.refined(system, start, solve, out, watches, s)? } else { s };
        // Once more with that length, by the laws. Its path is another one: it may meet what the kept modes did not.
        self.try_step(system, start, s, false, solve, out)?;
        let Some(c) = self.collision(system, start, s, out)? else { return Ok(Some((s, s < h))) };
        let c = if self.is_stiff() { self.collision_by_steps(system, start, solve, out, c, s)? } else { c };
        Ok(Some((c.max(earliest).min(self.predict.h), true)))
    }
}
