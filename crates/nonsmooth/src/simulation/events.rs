//! Typed events, detected from the sequence of accepted steps.
//!
//! | kind | when |
//! |---|---|
//! | impact | a contact is hit: it approached, or an impulse passed through it (`accounting/impact.rs`, which the step was judged by) |
//! | close | an open or bouncing contact begins to carry percussions in consecutive steps, more of them than one impact takes |
//! | open | such a contact carries no percussion any more, and its gap or gap velocity is more than rounding |
//! | stick, slip | the friction law of a carrying contact, or an element, begins to stick or to slip (a force on the boundary of its set without motion still sticks) |
//! | accumulation-start | three impacts of a contact whose intervals shrink by a like factor |
//! | accumulation-end | after that, the contact closes: the located limit of its impacts |
//! | break | a known time of the model was met |
//! | redundancy | percussions are not unique (once per run) |
//! | paradox | a contact takes a percussion without approach since no force satisfies the laws |
//! | switch | a law changes its mode (`augmented` only), with the law and both modes; friction only while its contact stays closed |
//! | instability | the numerics have made more energy than there was (`instability.rs`); the run stops |
//!
//! **Times.** An impact is located where the gap, extrapolated with the approach velocity, is zero: t_k − g_k/ġ_k, within one
//! step of the start of its step. If the scheme separates its jump from forces, the extrapolation starts from the end of the step. An impulse passes through
//! other contacts at the time of the impact that made it.
//! All other events have the time at the end of their step, except the end of an accumulation. If the scheme ends steps at events, an impact
//! has the time at the end of its step. Slip or opening in the next step has the time at the start of that step.
//!
//! **Where impacts accumulate.** Under a force that hardly changes, intervals shrink by the restitution e, so that impacts at
//! t_{i−1}, t_i predict their limit
//!
//! ```text
//! T_i = t_i + (t_i − t_{i−1}) e/(1−e) .
//! ```
//!
//! Every step with an impact has an error of O(dt), so that late predictions contain more of the scheme's own error. The run itself
//! closes the contact away from the limit, by some steps times the number of impacts. Early predictions suffer from forces that do change.
//! The time of `accumulation-end` is the first prediction that the next impact confirms, |T_{i+1} − T_i| ≤ 2dt/(1−e) (two steps of error in
//! an interval), but not before the last impact. If none is confirmed, it is the step in which the contact closes. `close` is always that step.

mod impact;

pub(super) use impact::EventList;
pub use impact::Impact;

use super::by_identity::ByIdentity;
use crate::contract::Kind;
use crate::law::Law;
use crate::scheme::augmented::for_each_switch;
use crate::state::{
    Bytes, Hit, Impulses, Reader, Reason, State, Step, Unreadable, Writer, bytes, read_choice, write_choice,
};
use complementarity::Mode;

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum EventKind {
    /// A velocity jump at a contact.
    Impact,
    /// A contact closes and stays closed.
    Close,
    /// A closed contact opens.
    Open,
    /// Friction sticks.
    Stick,
    /// Friction slips.
    Slip,
    /// Impacts begin to accumulate.
    AccumulationStart,
    /// The accumulation is over: the contact stays closed.
    AccumulationEnd,
    /// A known time of the model.
    Break,
    /// Percussions are not unique.
    Redundancy,
    /// An impulse without collision: no force satisfies the laws (Painlevé).
    Paradox,
    /// The numerics have more than doubled the energy, by more than 1 % a step: the run stops.
    Instability,
    /// A law has changed its mode.
    Switch,
}

impl EventKind {
    /// All of them.
    pub const ALL: [EventKind; 12] = [
        EventKind::Impact,
        EventKind::Close,
        EventKind::Open,
        EventKind::Stick,
        EventKind::Slip,
        EventKind::AccumulationStart,
        EventKind::AccumulationEnd,
        EventKind::Break,
        EventKind::Redundancy,
        EventKind::Paradox,
        EventKind::Instability,
        EventKind::Switch,
    ];

    /// Name in files and lists.
    pub fn name(self) -> &'static str {
        match self {
            EventKind::Impact => "impact",
            EventKind::Close => "close",
            EventKind::Open => "open",
            EventKind::Stick => "stick",
            EventKind::Slip => "slip",
            EventKind::AccumulationStart => "accumulation-start",
            EventKind::AccumulationEnd => "accumulation-end",
            EventKind::Break => "break",
            EventKind::Redundancy => "redundancy",
            EventKind::Paradox => "paradox",
            EventKind::Instability => "instability",
            EventKind::Switch => "switch",
        }
    }
}

/// An event.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Event {
    /// Time, s.
    pub t: f64,
    /// What happened.
    pub kind: EventKind,
    /// Identity of the interaction, if one is concerned.
    pub id: Option<u64>,
    /// Its name; filled in when a summary is made.
    pub contact: Option<String>,
    /// What changed, of a switch.
    pub change: Option<ModeChange>,
    /// Numbers of an impact.
    pub impact: Option<Impact>,
}

/// A law that switched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct ModeChange {
    /// `normal`, `friction` or `element`.
    pub law: &'static str,
    /// Mode before.
    pub from: &'static str,
    /// Mode after.
    pub to: &'static str,
}

/// The laws that switched between the step that led to `start` and this one.
pub(crate) fn switches(start: &State, step: &Step, mut emit: impl FnMut(u64, ModeChange)) {
    for_each_switch(start, step, |i, after, bits| {
        let k = &step.candidates.items()[i];
        let mut change = |law, bit: usize, [constraint, impressed]: [&'static str; 2]| {
            let impressed_now = after.mode(bit) == Mode::Impressed;
            let (from, to) = if impressed_now { (constraint, impressed) } else { (impressed, constraint) };
            emit(k.id, ModeChange { law, from, to });
        };
        if k.kind == Kind::Contact {
            if bits & 1 != 0 {
                change("normal", 0, ["closed", "open"]);
            } else if after.mode(0) == Mode::Constraint {
                // Friction of an open contact means nothing.
                change("friction", 1, ["stick", "slip"]);
            }
        } else {
            (0..32).filter(|bit| bits >> bit & 1 == 1).for_each(|bit| change("element", bit, ["stick", "slip"]));
        }
    });
}

const LAWS: [&str; 3] = ["normal", "friction", "element"];
const MODES: [&str; 4] = ["closed", "open", "stick", "slip"];

impl Default for Event {
    fn default() -> Self {
        Self { t: 0.0, kind: EventKind::Break, id: None, contact: None, change: None, impact: None }
    }
}

impl Bytes for Event {
    fn write(&self, out: &mut Writer) {
        self.t.write(out);
        write_choice(&self.kind, &EventKind::ALL, out);
        self.id.write(out);
        self.change.is_some().write(out);
        if let Some(change) = &self.change {
            write_choice(&change.law, &LAWS, out);
            write_choice(&change.from, &MODES, out);
            write_choice(&change.to, &MODES, out);
        }
        self.impact.write(out);
    }
    fn read(&mut self, from: &mut Reader) -> Result<(), Unreadable> {
        self.t.read(from)?;
        self.kind = read_choice(&EventKind::ALL, from)?;
        self.id.read(from)?;
        self.change = None;
        if from.value()? {
            let (law, before, after) =
                (read_choice(&LAWS, from)?, read_choice(&MODES, from)?, read_choice(&MODES, from)?);
            self.change = Some(ModeChange { law, from: before, to: after });
        }
        self.impact.read(from)
    }
}

#[derive(Debug, Clone, Default)]
struct ContactHistory {
    /// Steps in a row in which it carried a percussion.
    carrying: usize,
    /// Whether `close` has been logged and not `open`.
    closed: bool,
    /// Friction mode last logged.
    friction: Option<Mode>,
    /// Largest slip seen, m/s.
    fastest: f64,
    /// Times of the last impacts, newest last, and how many there are.
    impacts: [f64; IMPACTS_KEPT],
    kept: usize,
    /// Impacts since the contact was last at rest.
    bounces: usize,
    accumulating: bool,
    limit: Limit,
    /// The contact has closed before the limit of its impacts: `accumulation-end` is due then.
    due: Option<f64>,
    /// Place of its last impact in the list of events.
    last: Option<usize>,
}

/// Modes of friction in events: impressed or not.
const FRICTION: [Option<Mode>; 3] = [None, Some(Mode::Constraint), Some(Mode::Impressed)];

/// What is known of the limit of the impacts of a contact, s.
#[derive(Debug, Clone, Copy, Default)]
enum Limit {
    #[default]
    Unknown,
    Predicted(f64),
    Confirmed(f64),
}

impl Bytes for Limit {
    fn write(&self, out: &mut Writer) {
        let (kind, t): (usize, f64) = match *self {
            Limit::Unknown => (0, 0.0),
            Limit::Predicted(t) => (1, t),
            Limit::Confirmed(t) => (2, t),
        };
        (kind, t).write(out);
    }
    fn read(&mut self, from: &mut Reader) -> Result<(), Unreadable> {
        let (kind, t): (usize, f64) = (from.value()?, from.value()?);
        *self = [Limit::Unknown, Limit::Predicted(t), Limit::Confirmed(t)].get(kind).copied().unwrap_or_default();
        Ok(())
    }
}

impl Bytes for ContactHistory {
    fn write(&self, out: &mut Writer) {
        self.carrying.write(out);
        self.closed.write(out);
        write_choice(&self.friction, &FRICTION, out);
        self.fastest.write(out);
        self.impacts.write(out);
        self.kept.write(out);
        self.bounces.write(out);
        self.accumulating.write(out);
        self.limit.write(out);
        self.due.write(out);
        self.last.write(out);
    }
    fn read(&mut self, from: &mut Reader) -> Result<(), Unreadable> {
        self.carrying.read(from)?;
        self.closed.read(from)?;
        self.friction = read_choice(&FRICTION, from)?;
        self.fastest.read(from)?;
        self.impacts.read(from)?;
        self.kept = from.value::<usize>()?.min(IMPACTS_KEPT);
        self.bounces.read(from)?;
        self.accumulating.read(from)?;
        self.limit.read(from)?;
        self.due.read(from)?;
        self.last.read(from)
    }
}

/// Reads events off steps.
#[derive(Debug, Clone, Default)]
pub(crate) struct EventLog {
    contacts: ByIdentity<ContactHistory>,
    redundancy: bool,
    /// Noise of the step before, m/s.
    noise: f64,
    /// Steps in a row in which one impact shows.
    impact_steps: usize,
    /// Whether the step before ended at an event that its scheme located.
    located: bool,
}

bytes!(EventLog { contacts, redundancy, noise, impact_steps, located });

/// Impacts of a contact that are remembered.
const IMPACTS_KEPT: usize = 4;
/// Largest ratio of consecutive intervals of accumulating impacts; an elastic ball has 1.
const MAX_INTERVAL_RATIO: f64 = 0.98;
/// Consecutive ratios of intervals count as alike if they differ by at most this factor.
const MAX_RATIO_CHANGE: f64 = 2.0;
/// Error of an interval between impacts, in steps.
const INTERVAL_ERROR: f64 = 2.0;

impl EventLog {
    /// For a scheme that spreads the percussion of an impact over this many steps.
    pub(crate) fn new(impact_steps: usize) -> Self {
        Self { impact_steps, ..Self::default() }
    }

    /// Takes note of a contact that is closed at the start, or an element, and whether it slips: only what changes is an event.
    pub(crate) fn closed_at_start(&mut self, id: u64, slips: bool) {
        let friction = Some(if slips { Mode::Impressed } else { Mode::Constraint });
        self.contacts.insert(id, ContactHistory { closed: true, friction, ..ContactHistory::default() });
    }

    /// Detects the events of a final step from time `t0`. `load` gives the largest change of a component of the velocity of interaction i by forces alone,
    /// `gap` its gap at the start, or at the end, `is_lifted` whether its gap or gap velocity at the end is more than rounding and this noise.
    pub(crate) fn detect(
        &mut self,
        t0: f64,
        step: &Step,
        mut load: impl FnMut(usize) -> f64,
        mut gap: impl FnMut(usize, bool) -> f64,
        mut is_lifted: impl FnMut(usize, f64) -> bool,
        list: &mut EventList,
    ) {
        let t = step.end.t;
        // Velocities below the residuals of this step and the one before are no motion.
        let noise = step.report.noise.max(std::mem::replace(&mut self.noise, step.report.noise));
        if step.report.non_unique && !self.redundancy {
            self.redundancy = true;
            push(list, t, EventKind::Redundancy, None);
        }
        // What begins in a step that starts at a located event begins with it.
        let located_here = step.reason == Reason::Event;
        let located = std::mem::replace(&mut self.located, located_here);
        let (apart, paradox) = (step.impulses() == Impulses::Apart, step.paradox());
        let begins = if located { t0 } else { t };
        // A contact that is so far away that it is no longer listed has opened.
        self.contacts.set_list_with(&step.candidates, |id, state| {
            if let Some(due) = state.due.take() {
                push(list, due.min(t), EventKind::AccumulationEnd, Some(id));
            }
            if state.closed {
                push(list, t, EventKind::Open, Some(id));
            }
            (state.closed, state.carrying, state.friction) = (false, 0, None);
        });
        for (i, k) in step.candidates.items().iter().enumerate() {
            match k.kind {
                Kind::Joint | Kind::VelocityJoint => {}
                Kind::Element => {
                    let state = self.contacts.entry(i, k.id);
                    let range = step.candidates.range(i);
                    let mode = state.motion(step.sigma[i].mode(0), &step.gamma_plus[range], noise, || load(i));
                    if state.friction.is_some_and(|m| m != mode) {
                        push(list, if mode == Mode::Impressed { begins } else { t }, friction_event(mode), Some(k.id));
                    }
                    state.friction = Some(mode);
                }
                Kind::Contact => {
                    let carries = step.active[i] && step.percussion(i)[0] > 0.0;
                    if !carries && self.contacts.get(i).is_none() {
                        continue;
                    }
                    let state = self.contacts.entry(i, k.id);
                    if let Some(due) = state.due.filter(|due| *due <= t || !carries) {
                        push(list, due.min(t), EventKind::AccumulationEnd, Some(k.id));
                        state.due = None;
                    }
                    if !carries {
                        state.carrying = 0;
                        // What carries nothing and stays where it is has not opened.
                        if state.closed && is_lifted(i, noise) {
                            push(list, begins, EventKind::Open, Some(k.id));
                            (state.closed, state.friction) = (false, None);
                        }
                        continue;
                    }
                    state.carrying += 1;
                    let restitution = match &*k.law {
                        Law::Contact(law) => law.normal.restitution(),
                        _ => 0.0,
                    };
                    let hit = step.hit(i);
                    let struck = hit == Hit::Struck && !paradox;
                    if hit == Hit::Remainder
                        && let Some(event) = state.last.and_then(|at| list.events.get_mut(at))
                        && let Some(numbers) = &mut event.impact
                    {
                        numbers.extend(step, i);
                    }
                    if hit.is_hit() && paradox {
                        push(list, t0, EventKind::Paradox, Some(k.id));
                    } else if hit.is_hit() {
                        let by = if let Hit::Passed { by } = hit { by } else { i };
                        let approach = -step.gamma_minus[step.candidates.range(by).start];
                        let t = match (apart, located_here) {
                            (true, true) => t,
                            (true, false) => t + (gap(by, true) / approach).clamp(-step.dt, 0.0),
                            _ => t0 + (gap(by, false) / approach).clamp(-step.dt, step.dt),
                        };
                        let impact = Some(Impact::of(step, i));
                        let event = Event { t, kind: EventKind::Impact, id: Some(k.id), impact, ..Event::default() };
                        state.last = list.push(event);
                        if struck {
                            state.note_impact(t, step.dt, restitution);
                            if !state.accumulating && state.shrinks() {
                                state.accumulating = true;
                                push(list, t, EventKind::AccumulationStart, Some(k.id));
                            }
                        }
                    }
                    if !state.closed && (state.carrying > self.impact_steps || (restitution == 0.0 && struck)) {
                        state.closed = true;
                        if state.accumulating {
                            let end = state.accumulation_end(t, step.dt, restitution);
                            if end <= t {
                                push(list, end, EventKind::AccumulationEnd, Some(k.id));
                            } else {
                                state.due = Some(end);
                            }
                        }
                        state.come_to_rest();
                        push(list, t, EventKind::Close, Some(k.id));
                    }
                    if k.dim() > 1 && state.closed {
                        let range = step.candidates.range(i);
                        let slip = &step.gamma_plus[range.start + 1..range.end];
                        let mode = state.motion(step.sigma[i].mode(1), slip, noise, || load(i));
                        if state.friction != Some(mode) {
                            let slips = mode == Mode::Impressed && state.friction.is_some();
                            push(list, if slips { begins } else { t }, friction_event(mode), Some(k.id));
                        }
                        state.friction = Some(mode);
                    }
                }
            }
        }
    }
}

fn push(list: &mut EventList, t: f64, kind: EventKind, id: Option<u64>) {
    list.push(Event { t, kind, id, ..Event::default() });
}

fn friction_event(mode: Mode) -> EventKind {
    match mode {
        Mode::Constraint => EventKind::Stick,
        Mode::Impressed => EventKind::Slip,
    }
}

/// Smallest slip that is motion and not rounding, relative to the largest slip of an interaction, or to the slip that forces would cause in
/// the step without the percussions that balance them.
const REST_TOLERANCE: f64 = 1e-9;

impl ContactHistory {
    /// Whether friction slips: its law is impressed, and there is motion.
    fn motion(&mut self, mode: Mode, slip: &[f64], noise: f64, load: impl FnOnce() -> f64) -> Mode {
        let speed = slip.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        self.fastest = self.fastest.max(speed);
        let still = mode == Mode::Constraint || speed <= REST_TOLERANCE * self.fastest || speed <= 10.0 * noise;
        let rests = still || speed <= REST_TOLERANCE * load();
        if rests { Mode::Constraint } else { Mode::Impressed }
    }

    fn note_impact(&mut self, t: f64, dt: f64, e: f64) {
        if let (Some(before), true) = (self.last_impact(), e < 1.0) {
            let predicted = t + (t - before) * e / (1.0 - e);
            self.limit = match self.limit {
                Limit::Predicted(p) if (predicted - p).abs() <= INTERVAL_ERROR * dt / (1.0 - e) => Limit::Confirmed(p),
                Limit::Confirmed(p) => Limit::Confirmed(p),
                _ => Limit::Predicted(predicted),
            };
        }
        if self.kept == IMPACTS_KEPT {
            self.impacts.rotate_left(1);
            self.kept -= 1;
        }
        self.impacts[self.kept] = t;
        self.kept += 1;
        self.bounces += 1;
    }

    fn last_impact(&self) -> Option<f64> {
        self.impacts[..self.kept].last().copied()
    }

    /// When impacts that the run ended by closing the contact at `t` accumulate.
    fn accumulation_end(&self, t: f64, dt: f64, e: f64) -> f64 {
        match self.limit {
            // Every impact may have moved the end in the run by as much as its interval and the one before allow.
            Limit::Confirmed(limit)
                if (limit - t).abs() <= 2.0 * INTERVAL_ERROR * dt / (1.0 - e) * self.bounces as f64 =>
            {
                limit.max(self.last_impact().unwrap_or(limit))
            }
            _ => t,
        }
    }

    fn come_to_rest(&mut self) {
        self.accumulating = false;
        self.kept = 0;
        self.bounces = 0;
        self.limit = Limit::Unknown;
    }

    /// Whether the last three intervals (four impacts), or two if there are only three, shrink by like factors.
    fn shrinks(&self) -> bool {
        let times = &self.impacts[..self.kept];
        let ratio = |w: &[f64]| (w[2] - w[1]) / (w[1] - w[0]);
        let alike = |w: &[f64]| (1.0 / MAX_RATIO_CHANGE..=MAX_RATIO_CHANGE).contains(&(ratio(&w[1..]) / ratio(w)));
        times.len() >= 3 && times.windows(3).all(|w| ratio(w) < MAX_INTERVAL_RATIO) && times.windows(4).all(alike)
    }
}
