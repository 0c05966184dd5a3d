//! The loop. See the [module](super).

use super::certificate::Certificate;
use super::controller::{Controller, FixedStep, Proposal, Verdict};
use super::energy::{EnergySummary, Ledger, Line, Meter, potential_energy};
use super::events::{Event, EventKind, EventLog};
use super::start;
use crate::contract::{Derivatives, Kind, System};
use crate::error::Error;
use crate::scheme::stabilise::{JointProjection, Stabilise};
use crate::scheme::{Failure, Scheme, Solve};
use crate::state::{State, Step};
use complementarity::{Options as SolverOptions, solver};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What is computed for every step besides the step itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Observe {
    /// Certificates.
    pub certificate: bool,
    /// Energies and ledger.
    pub energy: bool,
    /// Events.
    pub events: bool,
    /// Sums of percussions by contact.
    pub percussions: bool,
}

impl Observe {
    /// Everything.
    pub const ALL: Self = Self { certificate: true, energy: true, events: true, percussions: true };
    /// Nothing: for measuring the step alone.
    pub const NONE: Self = Self { certificate: false, energy: false, events: false, percussions: false };
}

/// What to do when a step fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// Try `auto` when the chosen solver does not solve a problem.
    pub fallback: bool,
    /// How often a step may be halved.
    pub halvings: usize,
}

impl Default for Policy {
    fn default() -> Self {
        Self { fallback: true, halvings: 8 }
    }
}

/// Options of a run.
#[derive(Debug, Clone)]
pub struct SimulationOptions {
    /// Step, s.
    pub step: f64,
    /// End time, s.
    pub end: f64,
    /// Solver of the one-step problems.
    pub solver: String,
    /// Its options.
    pub solver_options: SolverOptions,
    /// Projection of joints.
    pub stabilise: Stabilise,
    /// Penetration or joint defect up to which a start is accepted, m.
    pub initial_tolerance: f64,
    /// What is computed for every step.
    pub observe: Observe,
    /// What to do when a step fails.
    pub policy: Policy,
    /// Largest number of steps.
    pub max_steps: usize,
    /// Set from outside to end the run after the present step.
    pub interrupt: Option<Arc<AtomicBool>>,
}

impl SimulationOptions {
    /// Defaults for a step and an end time.
    pub fn new(step: f64, end: f64) -> Self {
        Self {
            step,
            end,
            solver: "auto".into(),
            solver_options: SolverOptions::default(),
            stabilise: Stabilise::None,
            initial_tolerance: 1e-5,
            observe: Observe::ALL,
            policy: Policy::default(),
            max_steps: 1_000_000_000,
            interrupt: None,
        }
    }
}

/// A final step, as observers see it.
pub struct StepView<'a> {
    /// The system.
    pub system: &'a dyn System,
    /// State before.
    pub start: &'a State,
    /// The step, its end corrected.
    pub step: &'a Step,
    /// Its certificate, if computed.
    pub certificate: Option<&'a Certificate>,
    /// (q, u) as the scheme left them, if they were corrected.
    pub raw: Option<(&'a [f64], &'a [f64])>,
    /// Kinetic plus potential energy at the end, if computed, J.
    pub energy: Option<f64>,
    /// Whether it is the last of the run.
    pub last: bool,
}

/// Sees every final step of a run.
pub trait Observer {
    /// Before the first step.
    fn begin(&mut self, _system: &dyn System, _start: &State) {}
    /// After every final step.
    fn step(&mut self, view: &StepView);
}

impl Observer for () {
    fn step(&mut self, _view: &StepView) {}
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// At its end time.
    Done,
    /// A step could not be made.
    Stopped,
    /// From outside.
    Interrupted,
}

/// Why and where a run stopped.
#[derive(Debug, Clone, PartialEq)]
pub struct Stop {
    /// Time of the last good state, s.
    pub t: f64,
    /// The failure.
    pub failure: Failure,
    /// Force or interaction that is to blame, if one was found.
    pub culprit: Option<String>,
    /// The one-step problem as JSON, if there was one.
    pub problem: Option<String>,
}

impl std::fmt::Display for Stop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "stopped at t = {}: {}", self.t, self.failure)?;
        if let Some(c) = &self.culprit {
            write!(f, " (culprit: {c})")?;
        }
        Ok(())
    }
}

/// Counts of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub struct Work {
    /// Accepted steps.
    pub steps: usize,
    /// Steps that failed or were rejected.
    pub rejected: usize,
    /// All calls of the scheme.
    pub scheme_calls: usize,
    /// One-step problems solved.
    pub solves: usize,
    /// Solver iterations.
    pub iterations: usize,
    /// Most solver iterations in one step.
    pub iterations_max: usize,
    /// Pivots.
    pub pivots: usize,
    /// Newton iterations of the scheme.
    pub newton: usize,
    /// Most Newton iterations in one step.
    pub newton_max: usize,
    /// Solves that needed the fallback solver.
    pub fallbacks: usize,
    /// Steps that left their reach and were redone.
    pub reach_redone: usize,
}

/// The result of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// How it ended.
    pub status: Status,
    /// Why it stopped, if it did.
    pub stop: Option<Stop>,
    /// Last state.
    pub end: State,
    /// Counts.
    pub work: Work,
    /// Worst certificate values of all steps (indices refer to the candidates of the worst step).
    pub worst: Certificate,
    /// Times of the worst residual and the deepest penetration, s.
    pub worst_at: (f64, f64),
    /// Energies.
    pub energy: EnergySummary,
    /// Name and work of every ledger line, J.
    pub ledger: Vec<(String, f64)>,
    /// Events in order of time.
    pub events: Vec<Event>,
    /// Sums of percussions by interaction name, N·s.
    pub percussions: BTreeMap<String, Vec<f64>>,
    /// Things to know.
    pub warnings: Vec<String>,
    /// How derivatives were made.
    pub derivatives: Derivatives,
}

/// A step that is accepted and not yet final.
#[derive(Default)]
struct Frame {
    start: State,
    step: Step,
    raw_q: Vec<f64>,
    raw_u: Vec<f64>,
    corrected: bool,
    /// Velocity without percussions, for telling impacts from persistent contact.
    free: Vec<f64>,
}

/// A run. Made from a system, a start state, a scheme and options; [`Simulation::run`] does all.
pub struct Simulation<'a> {
    system: &'a dyn System,
    scheme: Box<dyn Scheme>,
    controller: Box<dyn Controller>,
    options: SimulationOptions,
    solve: Solve,
    fallback: Option<Solve>,
    projection: Option<JointProjection>,
    meter: Meter,
    state: State,
    /// Step being tried, and scratch. Boxed, so that frames change places by pointer.
    trial: Box<Frame>,
    /// Frame of the last final step.
    done: Box<Frame>,
    /// Accepted, not final, oldest first.
    #[allow(clippy::vec_box)]
    pending: Vec<Box<Frame>>,
    #[allow(clippy::vec_box)]
    spare: Vec<Box<Frame>>,
    reach: f64,
    ledger: Ledger,
    log: EventLog,
    summary: Summary,
    sums: BTreeMap<u64, Vec<f64>>,
    names: BTreeMap<u64, String>,
    certificate: Certificate,
    breaks: Vec<f64>,
}

/// What one call of [`Simulation::advance`] did.
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

impl<'a> Simulation<'a> {
    /// Checks everything that can be checked before the first step. Fixed steps.
    pub fn new(
        system: &'a dyn System,
        start: State,
        scheme: Box<dyn Scheme>,
        options: SimulationOptions,
    ) -> Result<Self, Error> {
        let breaks = &system.structure().breaks;
        let controller = FixedStep::new(start.t, options.step, options.end, breaks);
        Self::with_controller(system, start, scheme, options, Box::new(controller))
    }

    /// The same with a controller of your own.
    pub fn with_controller(
        system: &'a dyn System,
        start: State,
        scheme: Box<dyn Scheme>,
        options: SimulationOptions,
        controller: Box<dyn Controller>,
    ) -> Result<Self, Error> {
        let info = scheme.info();
        if let Some(feature) = info.supports.missing(&system.structure().needs) {
            return Err(Error::Unsupported { scheme: info.name, feature });
        }
        options.solver_options.validate()?;
        let warnings = start::check(system, &start, &options)?;
        let Some(chosen) = solver::make(&options.solver) else {
            let names = solver::SOLVERS.iter().map(|s| s.name);
            let nearest = crate::scheme::nearest(&options.solver, names).into();
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
            end: start.clone(),
            work: Work::default(),
            worst: Certificate::default(),
            worst_at: (start.t, start.t),
            energy: EnergySummary::default(),
            ledger: Vec::new(),
            events: Vec::new(),
            percussions: BTreeMap::new(),
            warnings,
            derivatives: system.derivatives(),
        };
        let mut this = Self {
            solve: with(chosen),
            fallback: fallback.flatten().map(strong),
            projection: (options.stabilise == Stabilise::Projection).then(|| JointProjection::new(system)),
            meter: Meter::new(system),
            trial: Box::default(),
            done: Box::default(),
            pending: Vec::new(),
            spare: Vec::new(),
            reach: FIRST_REACH,
            ledger: Ledger::new(system),
            log: EventLog::default(),
            sums: BTreeMap::new(),
            names: BTreeMap::new(),
            certificate: Certificate::default(),
            breaks: system.structure().breaks.clone(),
            state: start,
            system,
            scheme,
            controller,
            options,
            summary,
        };
        this.controller.arrived(this.state.t);
        if this.options.observe.energy {
            let (t, q, u) = (this.state.t, &this.state.q, &this.state.u);
            let kinetic = this.meter.kinetic(system, t, q, u);
            this.summary.energy.begin(kinetic, potential_energy(system, t, q));
        }
        Ok(this)
    }

    /// The state that the next step starts from.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The scheme.
    pub fn scheme_mut(&mut self) -> &mut dyn Scheme {
        self.scheme.as_mut()
    }

    /// Steps still to come, if the controller knows.
    pub fn remaining(&self) -> Option<usize> {
        self.controller.remaining()
    }

    /// Runs to the end.
    pub fn run(&mut self) -> Summary {
        self.run_with(&mut ())
    }

    /// Runs to the end, showing every final step to an observer.
    pub fn run_with(&mut self, observer: &mut dyn Observer) -> Summary {
        observer.begin(self.system, &self.state);
        while self.advance(observer) == Advance::Stepped {}
        self.summary()
    }

    /// The summary up to now.
    pub fn summary(&mut self) -> Summary {
        let mut s = self.summary.clone();
        s.end.assign(&self.state);
        // Impacts are located, so that they may precede what was logged with the step before.
        s.events.sort_by(|a, b| a.t.total_cmp(&b.t));
        s.ledger = self.ledger.lines();
        for (id, sum) in &self.sums {
            if let Some(name) = self.names.get(id) {
                s.percussions.insert(name.clone(), sum.clone());
            }
        }
        s
    }

    /// Makes one accepted step.
    pub fn advance(&mut self, observer: &mut dyn Observer) -> Advance {
        if self.summary.status == Status::Stopped {
            return Advance::Stopped;
        }
        let interrupted = self.options.interrupt.as_ref().is_some_and(|f| f.load(Ordering::Relaxed));
        if interrupted && self.controller.remaining() != Some(0) {
            self.flush(observer);
            self.summary.status = Status::Interrupted;
            return Advance::Interrupted;
        }
        let mut halved = 0;
        loop {
            let Some(Proposal { dt, t_end }) = self.controller.propose(self.state.t) else {
                self.flush(observer);
                self.summary.status = Status::Done;
                return Advance::Finished;
            };
            // Halvings are dyadic, so that retried steps end on the same bits.
            let factor = 0.5f64.powi(halved as i32);
            let (dt, t_end) = if halved == 0 { (dt, t_end) } else { (dt * factor, self.state.t + dt * factor) };
            if self.state.t + dt == self.state.t {
                let what = "the step (it became too small to advance time)".into();
                return self.stop(Failure::NotFinite { what }, observer);
            }
            match self.attempt(dt) {
                Ok(()) => {}
                Err(failure) => {
                    self.summary.work.rejected += 1;
                    if halved >= self.options.policy.halvings {
                        return self.stop(failure, observer);
                    }
                    halved += 1;
                    continue;
                }
            }
            if self.trial.step.reason == crate::state::Reason::Full {
                self.trial.step.end.t = t_end;
            }
            match self.controller.judge(&self.trial.step) {
                Verdict::Accept => {
                    self.accept(observer);
                    return Advance::Stepped;
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

    /// One try of the scheme, with the fallback solver and enough reach.
    fn attempt(&mut self, dt: f64) -> Result<(), Failure> {
        let (t, system) = (self.state.t, self.system);
        loop {
            system.candidates(t, &self.state.q, self.reach, &mut self.trial.step.candidates);
            self.summary.work.scheme_calls += 1;
            let mut result = self.scheme.step(system, &self.state, dt, &mut self.solve, &mut self.trial.step);
            self.count();
            if let (Err(Failure::Solver(_)), Some(other)) = (&result, self.fallback.as_mut()) {
                self.summary.work.fallbacks += 1;
                self.summary.work.scheme_calls += 1;
                result = self.scheme.step(system, &self.state, dt, other, &mut self.trial.step);
                self.count();
            }
            result?;
            let end = &self.trial.step.end;
            let travel = system.travel(t, &self.state.q, end.t, &end.q);
            // Two points may approach each other by twice their travel.
            if !(2.0 * travel > self.reach) {
                if travel > 0.0 {
                    self.reach = self.reach.min(16.0 * travel).max(4.0 * travel);
                }
                return Ok(());
            }
            if !travel.is_finite() {
                return Err(Failure::NotFinite { what: "the travel of the step".into() });
            }
            self.reach = 4.0 * travel;
            self.summary.work.reach_redone += 1;
            self.summary.work.rejected += 1;
        }
    }

    fn count(&mut self) {
        let (w, r) = (&mut self.summary.work, &self.trial.step.report);
        w.solves += r.solves;
        w.iterations += r.iterations;
        w.iterations_max = w.iterations_max.max(r.iterations);
        w.pivots += r.pivots;
        w.newton += r.newton;
        w.newton_max = w.newton_max.max(r.newton);
    }

    /// Takes the trial step: corrects its end and moves on.
    fn accept(&mut self, observer: &mut dyn Observer) {
        let frame = &mut self.trial;
        frame.corrected = false;
        let end = &mut frame.step.end;
        let system = self.system;
        let has_joints = self.projection.is_some();
        if !system.structure().identity_kinematics || has_joints {
            frame.raw_q.clone_from(&end.q);
            frame.raw_u.clone_from(&end.u);
            system.normalise(&mut end.q);
            if let Some(p) = self.projection.as_mut()
                && !p.project(system, &frame.step.candidates, end.t, &mut end.q, &mut end.u)
            {
                let note = "joint projection did not close to 1e-10 in every step";
                if !self.summary.warnings.iter().any(|w| w == note) {
                    self.summary.warnings.push(note.into());
                }
            }
            frame.corrected = frame.raw_q != end.q || frame.raw_u != end.u;
        }
        std::mem::swap(&mut frame.start, &mut self.state);
        self.state.assign(&frame.step.end);
        self.controller.arrived(self.state.t);
        self.summary.work.steps += 1;
        // A controller that does not know what remains cannot say which step is the last: hold one back.
        let lag = self.controller.lag().max(usize::from(self.controller.remaining().is_none()));
        if self.options.observe.events {
            let free = self.scheme.last_problem().map(|p| p.free_velocity());
            self.trial.free.clear();
            self.trial.free.extend_from_slice(free.unwrap_or(&[]));
        }
        if lag == 0 {
            std::mem::swap(&mut self.trial, &mut self.done);
            // The frozen list goes on to the next attempt.
            self.trial.step.candidates.assign(&self.done.step.candidates);
            let last = self.controller.remaining() == Some(0);
            self.finalise(None, last, observer);
            return;
        }
        let mut next = self.spare.pop().unwrap_or_default();
        next.step.candidates.assign(&self.trial.step.candidates);
        self.pending.push(std::mem::replace(&mut self.trial, next));
        while self.pending.len() > lag {
            let frame = self.pending.remove(0);
            let used = self.finalise(Some(frame), false, observer);
            self.spare.extend(used);
        }
    }

    /// Makes all pending steps final.
    fn flush(&mut self, observer: &mut dyn Observer) {
        let frames = std::mem::take(&mut self.pending);
        let n = frames.len();
        for (i, frame) in frames.into_iter().enumerate() {
            let used = self.finalise(Some(frame), i + 1 == n, observer);
            self.spare.extend(used);
        }
    }

    /// Certificate, ledger, events, sums, observers of a final step: of `given`, or of `self.done`. Gives
    /// a frame back that can be used again.
    fn finalise(&mut self, given: Option<Box<Frame>>, last: bool, observer: &mut dyn Observer) -> Option<Box<Frame>> {
        let observe = self.options.observe;
        if observe == Observe::NONE {
            let f = given.as_ref().unwrap_or(&self.done);
            let raw = f.corrected.then_some((&f.raw_q[..], &f.raw_u[..]));
            let (system, start, step) = (self.system, &f.start, &f.step);
            observer.step(&StepView { system, start, step, certificate: None, raw, energy: None, last });
            return given;
        }
        let from_done = given.is_none();
        let mut frame = given.unwrap_or_else(|| std::mem::take(&mut self.done));
        self.examine(&mut frame, last, observer);
        if from_done {
            self.done = frame;
            None
        } else {
            Some(frame)
        }
    }

    fn examine(&mut self, frame: &mut Frame, last: bool, observer: &mut dyn Observer) {
        let observe = self.options.observe;
        let system = self.system;
        // Certificate and ledger look at what the scheme made, before corrections.
        if frame.corrected {
            std::mem::swap(&mut frame.step.end.q, &mut frame.raw_q);
            std::mem::swap(&mut frame.step.end.u, &mut frame.raw_u);
        }
        let mut raw_energy = 0.0;
        if observe.certificate {
            self.scheme.certify(system, &frame.start, &frame.step, &mut self.certificate);
        }
        if observe.energy {
            self.scheme.account(system, &frame.start, &frame.step, &mut self.meter, &mut self.ledger);
            if frame.corrected {
                raw_energy = self.energy_of(&frame.step.end).0;
            }
        }
        if frame.corrected {
            std::mem::swap(&mut frame.step.end.q, &mut frame.raw_q);
            std::mem::swap(&mut frame.step.end.u, &mut frame.raw_u);
        }
        let mut energy = None;
        if observe.energy {
            let (total, kinetic) = self.energy_of(&frame.step.end);
            if frame.corrected {
                self.ledger.add(Line::Projection, total - raw_energy);
            }
            self.summary.energy.update(kinetic, total - kinetic, &self.ledger);
            energy = Some(total);
        }
        if observe.certificate {
            // Violations are those of the corrected end.
            if frame.corrected {
                self.certificate.joint_violation = 0.0;
                self.certificate.penetration = 0.0;
                let end = &frame.step.end;
                self.certificate.geometry(system, end.t, &end.q, &frame.step.candidates);
            }
            let (t, c) = (frame.step.end.t, &self.certificate);
            if !(c.residual() <= self.summary.worst.residual()) {
                self.summary.worst_at.0 = t;
            }
            if !(c.penetration <= self.summary.worst.penetration) {
                self.summary.worst_at.1 = t;
            }
            self.summary.worst.worsen(c);
        }
        if observe.events {
            self.look_for_events(frame);
        }
        if observe.percussions {
            for (i, k) in frame.step.candidates.items().iter().enumerate() {
                let p = frame.step.percussion(i);
                if p.iter().all(|&v| v == 0.0) && self.sums.contains_key(&k.id) {
                    continue;
                }
                let sum = self.sums.entry(k.id).or_insert_with(|| vec![0.0; k.dim]);
                for (s, v) in sum.iter_mut().zip(p) {
                    *s += v;
                }
                self.names.entry(k.id).or_insert_with(|| system.name(k));
            }
        }
        observer.step(&StepView {
            system,
            start: &frame.start,
            step: &frame.step,
            certificate: observe.certificate.then_some(&self.certificate),
            raw: frame.corrected.then_some((&frame.raw_q, &frame.raw_u)),
            energy,
            last,
        });
    }

    fn energy_of(&mut self, s: &State) -> (f64, f64) {
        let kinetic = self.meter.kinetic(self.system, s.t, &s.q, &s.u);
        (kinetic + potential_energy(self.system, s.t, &s.q), kinetic)
    }

    fn look_for_events(&mut self, frame: &Frame) {
        let system = self.system;
        let (start, step) = (&frame.start, &frame.step);
        let events = &mut self.summary.events;
        while self.breaks.first().is_some_and(|b| *b <= step.end.t + 1e-9 * step.dt) {
            let t = self.breaks.remove(0);
            if t > start.t {
                events.push(Event { t, kind: EventKind::Break, id: None, contact: None });
            }
        }
        let free = |i: usize| -> f64 {
            let (k, v) = (&step.candidates.items()[i], &frame.free);
            if v.len() != start.u.len() {
                return 0.0;
            }
            let mut w = vec![0.0; k.dim * k.dofs.len()];
            let mut chi = vec![0.0; k.dim];
            system.velocity(k, start.t, &start.q, &mut w, &mut chi);
            k.dofs.iter().zip(&w).map(|(&j, w)| w * (v[j] - start.u[j])).sum()
        };
        let gap = |i: usize| -> f64 {
            let mut g = [0.0];
            system.position(&step.candidates.items()[i], start.t, &start.q, &mut g);
            g[0]
        };
        self.log.look(start.t, step, free, gap, |t, kind, i| {
            let k = i.map(|i| &step.candidates.items()[i]);
            events.push(Event { t, kind, id: k.map(|k| k.id), contact: k.map(|k| system.name(k)) });
        });
    }

    /// Ends the run with everything that is known about the failure.
    fn stop(&mut self, failure: Failure, observer: &mut dyn Observer) -> Advance {
        self.flush(observer);
        let names: Vec<String> = {
            let step = &self.trial.step;
            let mut out = Vec::new();
            for (i, k) in step.candidates.items().iter().enumerate() {
                if step.active.get(i) == Some(&true) {
                    k.law.percussion_sets(k.dim, step.dt, |_| out.push(self.system.name(k)));
                }
            }
            out
        };
        let problem = match &failure {
            Failure::Solver(_) | Failure::Newton { .. } => {
                self.scheme.last_problem().map(|p| p.to_json(&names, &vec![0.0; p.c.len()]))
            }
            _ => None,
        };
        let culprit = self.culprit(&failure);
        self.summary.status = Status::Stopped;
        self.summary.stop = Some(Stop { t: self.state.t, failure, culprit, problem });
        Advance::Stopped
    }

    /// The force or interaction that gives NaN or infinity near the present state.
    fn culprit(&self, failure: &Failure) -> Option<String> {
        if !matches!(failure, Failure::NotFinite { .. }) {
            return None;
        }
        let system = self.system;
        let (state, dt) = (&self.state, self.options.step);
        let mut qdot = vec![0.0; state.q.len()];
        crate::state::rates(system, state.t, &state.q, &state.u, &mut qdot);
        for fraction in [0.0, 0.5, 1.0] {
            let t = state.t + fraction * dt;
            let q: Vec<f64> = state.q.iter().zip(&qdot).map(|(q, r)| q + fraction * dt * r).collect();
            for (i, f) in system.structure().forces.iter().enumerate() {
                let mut h = vec![0.0; state.u.len()];
                system.force(i, t, &q, &state.u, &mut h);
                if let Some(j) = h.iter().position(|x| !x.is_finite()) {
                    return Some(format!("force `{}` on `{}`", f.name, system.structure().velocities[j]));
                }
            }
            for k in self.trial.step.candidates.items() {
                let mut g = vec![0.0; k.position_dim()];
                system.position(k, t, &q, &mut g);
                let (mut w, mut chi) = (vec![0.0; k.dim * k.dofs.len()], vec![0.0; k.dim]);
                system.velocity(k, t, &q, &mut w, &mut chi);
                if !g.iter().chain(&w).chain(&chi).all(|x| x.is_finite()) {
                    let kind = match k.kind {
                        Kind::Joint | Kind::VelocityJoint => "joint",
                        Kind::Contact => "contact",
                        Kind::Element => "element",
                    };
                    return Some(format!("{kind} `{}`", system.name(k)));
                }
            }
        }
        None
    }
}
