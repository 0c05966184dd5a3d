//! The loop. See the [module](super).

use super::energy::EnergySummary;
use super::events::EventLog;
use super::instability::EnergyMonitor;
use super::joints::JointWatch;
use super::observer::Observer;
use super::options::SimulationOptions;
use super::percussions::PercussionSums;
use super::side_steps::{SideSteps, project};
use super::start;
use super::summary::{Status, Summary, WorkCounts};
use crate::accounting::{Certificate, Judge, Ledger, Meter, potential_energy};
use crate::contract::{Candidates, Evaluator, Reach};
use crate::control::{Controller, Proposal, Verdict};
use crate::error::Error;
use crate::scheme::stabilise::{JointProjection, Stabilise};
use crate::scheme::{Failure, Scheme, Solve};
use crate::state::{State, Step};
use complementarity::{Options as SolverOptions, capacity, solver};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

/// A step that is accepted and not yet final.
#[derive(Default)]
pub(super) struct Frame {
    pub(super) start: Box<State>,
    pub(super) step: Step,
    /// The end of the step after its correction (normalised, projected), where that changed it.
    pub(super) corrected: Box<State>,
    pub(super) is_corrected: bool,
    /// Velocity without percussions, for telling slip from rest.
    pub(super) free: Vec<f64>,
}

impl Frame {
    /// The end that the next step starts from.
    #[inline]
    pub(super) fn end(&self) -> &State {
        if self.is_corrected { &self.corrected } else { &self.step.end }
    }
}

/// A run without its system: present state, records, and everything needed to continue.
pub(super) struct Run {
    pub(super) scheme: Box<dyn Scheme>,
    pub(super) controller: Box<dyn Controller>,
    pub(super) options: SimulationOptions,
    pub(super) solve: Solve,
    fallback: Option<Solve>,
    pub(super) projection: Option<JointProjection>,
    pub(super) side: SideSteps,
    pub(super) meter: Meter,
    pub(super) state: Box<State>,
    /// Step being tried, and scratch. Boxed, so that frames are swapped by pointer.
    pub(super) trial: Box<Frame>,
    /// Accepted, not final, oldest first.
    #[allow(clippy::vec_box)]
    pub(super) pending: Vec<Box<Frame>>,
    #[allow(clippy::vec_box)]
    pub(super) spare: Vec<Box<Frame>>,
    pub(super) reach: f64,
    /// Start, end and step that the controller was made for, s.
    pub(super) span: [f64; 3],
    pub(super) ledger: Ledger,
    pub(super) judge: Judge,
    pub(super) log: EventLog,
    pub(super) energy_monitor: EnergyMonitor,
    pub(super) joints: JointWatch,
    pub(super) summary: Summary,
    pub(super) sums: PercussionSums,
    /// Scratch: rows and offsets of one interaction.
    pub(super) rows: RefCell<Vec<f64>>,
    pub(super) offsets: RefCell<Vec<f64>>,
    pub(super) certificate: Certificate,
    pub(super) breaks: Vec<f64>,
}

/// What one call of [`advance`](super::Simulation::advance) did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Advance {
    /// A step was accepted.
    Stepped,
    /// The end is reached.
    Finished,
    /// The run stopped; see the summary.
    Stopped,
    /// The run was interrupted.
    Interrupted,
}

/// First guess of the reach, m; it adapts from the first step on.
const FIRST_REACH: f64 = 1e-3;

impl Run {
    /// A run from a start state, after all checks that are possible before the first step.
    pub(super) fn new(
        system: &Evaluator,
        start: State,
        scheme: Box<dyn Scheme>,
        options: SimulationOptions,
        controller: Box<dyn Controller>,
    ) -> Result<Self, Error> {
        let missing = scheme.base().supports.missing(&system.structure().needs);
        if let Some(feature) = missing {
            return Err(Error::Unsupported { scheme: scheme.info().name, feature });
        }
        options.solver_options.validate()?;
        let longest = controller.longest().unwrap_or(options.step);
        let warnings = start::check(system, &start, scheme.as_ref(), &options, longest)?;
        if scheme.info().position_level && options.stabilise != Stabilise::None {
            return Err(Error::Stabilise { scheme: scheme.info().name });
        }
        if !scheme.base().variable_step {
            controller.one_length().map_err(|why| Error::Uneven { scheme: scheme.info().name, why })?;
        }
        let mut run = Self::assemble(system, start, scheme, options, controller)?;
        run.summary.warnings = warnings;
        run.begin(system);
        Ok(run)
    }

    /// The same without the checks of the start, and before recording begins.
    pub(super) fn assemble(
        system: &Evaluator,
        start: State,
        scheme: Box<dyn Scheme>,
        options: SimulationOptions,
        controller: Box<dyn Controller>,
    ) -> Result<Self, Error> {
        let info = scheme.base();
        let Some(chosen) = solver::make(&options.solver) else {
            let names = solver::SOLVERS.iter().map(|s| s.name);
            let nearest = crate::names::nearest(&options.solver, names).unwrap_or_default().into();
            return Err(Error::Solver { name: options.solver.clone(), nearest });
        };
        let fallback = (options.policy.fallback && options.solver != "auto").then(|| solver::make("auto"));
        let with = |solver| Solve { solver, options: options.solver_options };
        // The fallback is not held to the iteration limit of a weaker solver.
        let limit = options.solver_options.max_iterations.max(SolverOptions::default().max_iterations);
        let strong =
            |solver| Solve { solver, options: SolverOptions { max_iterations: limit, ..options.solver_options } };
        let summary = Summary {
            status: Status::Done,
            stop: None,
            end: State::default(),
            work: WorkCounts::default(),
            worst: Certificate::default(),
            worst_at: (start.t, start.t),
            energy: EnergySummary::default(),
            ledger: Vec::new(),
            events: Vec::new(),
            events_unlisted: 0,
            percussions: BTreeMap::new(),
            warnings: Vec::new(),
            derivatives: system.derivatives(),
        };
        Ok(Self {
            solve: with(chosen),
            fallback: fallback.flatten().map(strong),
            projection: None,
            side: SideSteps::default(),
            meter: Meter::default(),
            trial: Box::default(),
            pending: Vec::new(),
            spare: Vec::new(),
            reach: FIRST_REACH,
            span: [start.t, options.end, options.step],
            ledger: Ledger::new(system),
            judge: Judge::new(info.impact_steps),
            log: EventLog::new(info.impact_steps),
            energy_monitor: EnergyMonitor::default(),
            joints: JointWatch::default(),
            sums: PercussionSums::default(),
            rows: RefCell::default(),
            offsets: RefCell::default(),
            certificate: Certificate::default(),
            breaks: system.structure().breaks.clone(),
            state: Box::new(start),
            scheme,
            controller,
            options,
            summary,
        })
    }

    /// Room for the rows of one interaction, of those that are known beforehand or of two bodies.
    fn reserve_rows(&mut self, system: &Evaluator) {
        let State { t, q, u, .. } = &*self.state;
        let (mut list, mut rows, mut values) = (Candidates::default(), 4, 48);
        system.candidates(*t, q, u, Reach::ALL, &mut list);
        for k in list.items() {
            (rows, values) = (k.dim().max(rows), values.max(k.dim() * k.dofs.len()));
        }
        capacity::reserve(self.offsets.get_mut(), rows);
        capacity::reserve(self.rows.get_mut(), values);
    }

    /// Records of the start.
    pub(super) fn begin(&mut self, system: &Evaluator) {
        let system = &system.of_step(self.state.t, self.state.t + self.options.step);
        self.controller.arrived(self.state.t);
        if self.options.observe.events {
            self.reserve_rows(system);
            start::closed_contacts(system, &self.state, |id, slips| self.log.closed_at_start(id, slips));
        }
        if self.options.observe.energy {
            let (t, q, u) = (self.state.t, &self.state.q, &self.state.u);
            let kinetic = self.meter.kinetic(system, t, q, u);
            let potential = potential_energy(system, t, q);
            self.summary.energy.begin(kinetic, potential);
            self.energy_monitor.begin(kinetic, potential);
        }
    }

    /// The summary up to now.
    pub(super) fn summary(&mut self, system: &Evaluator) -> Summary {
        let mut s = self.summary.clone();
        s.end.assign(&self.state);
        // Impacts are located, so that they may precede what was logged with the step before.
        s.events.sort_by(|a, b| a.t.total_cmp(&b.t));
        s.ledger = self.ledger.lines();
        for e in &mut s.events {
            e.contact = e.id.map(|id| system.name(id));
        }
        s.percussions = self.sums.by_name(system);
        if self.options.observe.energy && s.status != Status::Stopped {
            s.warnings.extend(self.energy_monitor.advice(&self.ledger));
        }
        s.warnings.extend(self.joints.warning(&self.ledger, s.energy.max_kinetic));
        if s.events_unlisted > 0 {
            s.warnings.push(format!("{} events beyond the first {} are not listed", s.events_unlisted, s.events.len()));
        }
        s
    }

    /// Makes one accepted step.
    pub(super) fn advance(&mut self, system: &Evaluator, observer: &mut dyn Observer) -> Advance {
        if self.summary.status == Status::Stopped {
            return Advance::Stopped;
        }
        let outside = self.options.interrupt.as_ref().is_some_and(|f| f.load(Ordering::Relaxed));
        let interrupted = outside || observer.ends_run();
        if interrupted && self.controller.remaining() != Some(0) {
            self.flush(system, observer);
            self.summary.status = Status::Interrupted;
            return Advance::Interrupted;
        }
        // Of controllers that know how many steps there are, the number was checked before the first.
        let (made, limit) = (self.summary.work.steps, self.options.max_steps);
        if made >= limit && self.controller.remaining().is_none() {
            return self.stop(system, Failure::Steps { steps: limit }, observer);
        }
        let mut halved = 0;
        loop {
            let Some(Proposal { dt, t_end }) = self.controller.propose(self.state.t) else {
                self.flush(system, observer);
                self.summary.status = Status::Done;
                return Advance::Finished;
            };
            // Halvings are dyadic, so that retried steps end on the same bits.
            let factor = 0.5f64.powi(halved as i32);
            let (dt, t_end) = if halved == 0 { (dt, t_end) } else { (dt * factor, self.state.t + dt * factor) };
            if self.state.t + dt == self.state.t {
                let what = "the step (it became too small to advance time)".into();
                return self.stop(system, Failure::NotFinite { what }, observer);
            }
            self.trial.step.end.t = t_end;
            match self.attempt(system.inside(self.state.t, t_end, &mut None), dt, halved > 0) {
                Ok(()) => {}
                Err(failure) => {
                    self.summary.work.rejected += 1;
                    if self.controller.failed() {
                        continue;
                    }
                    let variable = self.scheme.base().variable_step;
                    if !variable || halved >= self.options.policy.halvings {
                        return self.stop(system, failure, observer);
                    }
                    halved += 1;
                    continue;
                }
            }
            if self.trial.step.reason == crate::state::Reason::Full {
                self.trial.step.end.t = t_end;
            }
            let verdict = self.controller.judge(&self.trial.step);
            self.summary.work.take(self.trial.step.outcome(), verdict == Verdict::Accept);
            // What the controller proposes after this is shorter, or starts elsewhere.
            halved = 0;
            match verdict {
                Verdict::Accept => {
                    self.accept(system, observer);
                    let stopped = self.summary.status == Status::Stopped;
                    return if stopped { Advance::Stopped } else { Advance::Stepped };
                }
                Verdict::Retry => self.summary.work.rejected += 1,
                Verdict::RollBack(n) => {
                    self.summary.work.rejected += 1;
                    for _ in 0..n {
                        if let Some(frame) = self.pending.pop() {
                            self.state.assign(&frame.start);
                            self.summary.work.steps -= 1;
                            self.summary.work.rejected += 1;
                            self.spare.push(frame);
                        }
                    }
                    self.controller.arrived(self.state.t);
                }
            }
        }
    }

    /// One try of the scheme, with the fallback solver and enough reach. It is looked at `closely` for bodies that pass through each other after a longer one was refused.
    fn attempt(&mut self, system: &Evaluator, dt: f64, closely: bool) -> Result<(), Failure> {
        let t = self.state.t;
        loop {
            let (q, u, reach) = (
                &self.state.q,
                &self.state.u,
                Reach { time: if self.scheme.base().looks_ahead { 2.0 * dt } else { dt }, distance: self.reach },
            );
            system.candidates(t, q, u, reach, &mut self.trial.step.candidates);
            if let Some(why) = self.trial.step.candidates.fault() {
                return Err(Failure::Detection { why: why.to_string() });
            }
            let mut result = self.scheme.step(system, &self.state, dt, &mut self.solve, &mut self.trial.step);
            self.count();
            if let (Err(Failure::Solver(_)), Some(other)) = (&result, self.fallback.as_mut()) {
                self.summary.work.fallbacks += 1;
                result = self.scheme.step(system, &self.state, dt, other, &mut self.trial.step);
                self.count();
            }
            result?;
            let end = &self.trial.step.end;
            let mut travel = system.travel(t, &self.state.q, &self.state.u, end.t, &end.q);
            self.trial.step.visited(&mut |at, q| {
                travel = travel.max(system.travel(t, &self.state.q, &self.state.u, at, q));
            });
            if !(travel > self.reach) {
                if !self.scheme.base().position_level
                    && let Some(i) =
                        self.joints.left(system, &self.state, &self.trial.step, self.summary.work.steps == 0)
                {
                    let name = system.name(self.trial.step.candidates.items()[i].id);
                    return Err(Failure::Apart { name });
                }
                // The reach shrinks slowly, so that it is still large enough for an impact after a few calm steps.
                self.reach = (0.95 * self.reach).max(1.5 * travel);
                let ends = [(t, &self.state.q[..]), (end.t, &end.q[..])];
                return match system.passed(&self.trial.step.candidates, ends[0], ends[1], closely) {
                    Some(id) => Err(Failure::Passed { name: system.name(id) }),
                    None => Ok(()),
                };
            }
            if !travel.is_finite() {
                return Err(Failure::NotFinite { what: "the travel of the step".into() });
            }
            self.reach = 1.5 * travel;
            self.summary.work.reach_redone += 1;
            self.summary.work.rejected += 1;
        }
    }

    fn count(&mut self) {
        let (w, r) = (&mut self.summary.work, &self.trial.step.report);
        w.scheme_calls += r.calls.max(1);
        w.solves += r.solves;
        w.iterations += r.iterations;
        w.iterations_max = w.iterations_max.max(r.iterations);
        w.pivots += r.pivots;
        w.newton += r.newton;
        w.newton_max = w.newton_max.max(r.newton);
        for ((total, most), n) in w.stages.iter_mut().zip(r.stages) {
            *total += n;
            *most = (*most).max(n);
        }
        w.retries += r.retries;
        w.contacts += r.contacts;
        w.contacts_max = w.contacts_max.max(r.contacts);
        w.index_sets += r.index_sets;
        w.index_sets_max = w.index_sets_max.max(r.index_sets);
        w.projection += r.projection;
        w.projection_max = w.projection_max.max(r.projection);
    }

    /// Takes the trial step: corrects its end and moves on.
    fn accept(&mut self, system: &Evaluator, observer: &mut dyn Observer) {
        let evaluator = system;
        let mut room = None;
        let system = evaluator.inside(self.state.t, self.trial.step.end.t, &mut room);
        let number = self.summary.work.steps + 1;
        if observer.wants_problem(number)
            && let Some(problem) = self.last_problem(system, &self.state, &self.trial.step)
        {
            observer.problem(number, problem);
        }
        let frame = &mut self.trial;
        let projects = self.options.stabilise == Stabilise::Projection || frame.step.correction().is_forced();
        frame.is_corrected = false;
        if !system.structure().identity_kinematics() || projects {
            frame.corrected.assign(&frame.step.end);
            system.normalise(&mut frame.corrected.q);
            if projects {
                let done = project(system, &mut self.projection, &frame.step, &mut frame.corrected);
                let work = &mut self.summary.work;
                let iterations = self.projection.as_ref().map_or(0, JointProjection::iterations);
                work.projection += iterations;
                work.projection_max = work.projection_max.max(iterations);
                let note = "joint projection did not close to 1e-10 in every step";
                if !done && !self.summary.warnings.iter().any(|w| w == note) {
                    self.summary.warnings.push(note.into());
                }
            }
            let (left, end) = (&frame.step.end, &frame.corrected);
            frame.is_corrected = left.q != end.q || left.u != end.u;
            // Of an extrapolated step no certificate balances what the projection of u has changed. Its start guess stays what the laws gave.
            if let Some(p) = self.projection.as_ref().filter(|_| frame.is_corrected && frame.step.is_extrapolated()) {
                let values = frame.step.end.percussions.values_mut();
                values.iter_mut().zip(p.impulses()).for_each(|(sum, p)| *sum += p);
            }
        }
        if let Some(text) = self.scheme.remark()
            && !self.summary.warnings.iter().any(|w| w == text)
        {
            self.summary.warnings.push(text.into());
        }
        std::mem::swap(&mut frame.start, &mut self.state);
        self.controller.arrived(frame.step.end.t);
        self.summary.work.steps += 1;
        // A controller that does not know its remaining steps cannot say which step is the last: hold one back.
        let lag = self.controller.lag().max(usize::from(self.controller.remaining().is_none()));
        if self.options.observe.events {
            let free = self.scheme.last_problem().map(|p| p.free_velocity());
            capacity::assign(&mut frame.free, free.unwrap_or(&[]));
        }
        let mut next = self.spare.pop().unwrap_or_default();
        if lag == 0 {
            std::mem::swap(&mut self.trial, &mut next);
            let last = self.controller.remaining() == Some(0);
            self.finalise(evaluator, &mut next, last, observer);
            // The end is the new state, and the memory of the old one is for the next end.
            let end = if next.is_corrected { &mut next.corrected } else { &mut next.step.end };
            std::mem::swap(&mut self.state, end);
            std::mem::swap(&mut next.step.end, &mut next.start);
            std::mem::swap(&mut self.trial, &mut next);
            self.spare.push(next);
            return;
        }
        self.state.assign(frame.end());
        next.step.candidates.assign(&frame.step.candidates);
        self.pending.push(std::mem::replace(&mut self.trial, next));
        while self.pending.len() > lag {
            let mut frame = self.pending.remove(0);
            self.finalise(evaluator, &mut frame, false, observer);
            self.spare.push(frame);
        }
    }

    /// Makes all pending steps final.
    pub(super) fn flush(&mut self, system: &Evaluator, observer: &mut dyn Observer) {
        let frames = std::mem::take(&mut self.pending);
        let n = frames.len();
        for (i, mut frame) in frames.into_iter().enumerate() {
            self.finalise(system, &mut frame, i + 1 == n, observer);
            self.spare.push(frame);
        }
    }
}
