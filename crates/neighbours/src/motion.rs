//! A run, as the invariants see it: states, energies, works and gaps, evaluated here from the states at the ends of the steps.

use complementarity::linear::Matrix;
use nonsmooth::State;
use nonsmooth::contract::{Evaluator, Interaction, Kind};
use nonsmooth::law::{Friction, Law, Normal};
use nonsmooth::simulation::{EventKind, Observer, Recording, Status, StepView, Trajectory};
use nonsmooth_scene::prepare::Prepared;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// How much a run may cost.
#[derive(Debug, Clone, Copy)]
pub struct Budget {
    /// Calls of the scheme.
    pub calls: usize,
    /// Iterations of solvers and of Newton's method, and pivots.
    pub iterations: usize,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Ending {
    /// At its end.
    Done,
    /// It was refused before the first step.
    Refused(String),
    /// It stopped by name.
    Stopped(String),
    /// It cost more than the budget.
    Cut,
    /// It panicked.
    Panicked(String),
}

/// Works since the start, J.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Works {
    /// Forces by value that may drive.
    pub active: f64,
    /// Forces by value that only take energy.
    pub passive: f64,
    /// Normal percussions of contacts.
    pub normal: f64,
    /// Friction of contacts and set-valued elements.
    pub friction: f64,
    /// Joints.
    pub joints: f64,
}

/// The end of a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Row {
    /// Time, s.
    pub t: f64,
    /// Kinetic energy, J.
    pub kinetic: f64,
    /// Potential energy, J.
    pub potential: f64,
    /// Works since the start.
    pub works: Works,
}

/// What the laws of the contacts that were seen say.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Laws {
    /// Smallest and largest restitution; none without contacts.
    pub restitution: Option<(f64, f64)>,
    /// Whether any has friction.
    pub friction: bool,
    /// Whether any has a tangential restitution.
    pub tangential: bool,
    /// Whether there are elements.
    pub elements: bool,
    /// Whether there are joints.
    pub joints: bool,
}

/// A run.
#[derive(Debug, Clone)]
pub struct Motion {
    /// How it ended.
    pub ending: Ending,
    /// The start and the ends of all steps.
    pub rows: Vec<Row>,
    /// States at the requested times: q and u; empty where it did not come.
    pub samples: Vec<(Vec<f64>, Vec<f64>)>,
    /// Kinetic energy, and potential energy above that of the start, at the requested times, J.
    pub energies: Vec<(f64, f64)>,
    /// Coordinates at the end.
    pub end: Vec<f64>,
    /// Largest excursion of every coordinate.
    pub range: Vec<f64>,
    /// Deepest penetration at the end of a step, m.
    pub penetration: f64,
    /// Deepest penetration at the start, m.
    pub start_depth: f64,
    /// Fastest approach of a contact that could close within its step, m/s.
    pub approach: f64,
    /// Farthest that q went in a step, relative to what the largest rates so far explain.
    pub leap: f64,
    /// Largest |q̇|.
    pub speed: f64,
    /// Whether a contact was hit.
    pub impact: bool,
    /// Whether percussions were not unique.
    pub redundant: bool,
    /// Worst residual of the certificate.
    pub residual: f64,
    /// Normal percussions by contact, N s.
    pub percussions: BTreeMap<String, f64>,
    /// The laws.
    pub laws: Laws,
    /// Order of the scheme on smooth motion.
    pub order: u32,
    /// Whether all numbers are finite.
    pub finite: bool,
}

impl Motion {
    fn new(ending: Ending) -> Self {
        Self {
            ending,
            rows: Vec::new(),
            samples: Vec::new(),
            energies: Vec::new(),
            end: Vec::new(),
            range: Vec::new(),
            penetration: 0.0,
            start_depth: 0.0,
            approach: 0.0,
            leap: 0.0,
            speed: 0.0,
            impact: false,
            redundant: false,
            residual: 0.0,
            percussions: BTreeMap::new(),
            laws: Laws::default(),
            order: 1,
            finite: true,
        }
    }

    /// Energy that moves: the largest kinetic energy, the range of the potential, and the work of drives, J.
    pub fn throughput(&self) -> f64 {
        let Some(first) = self.rows.first() else { return 0.0 };
        let largest = |f: &dyn Fn(&Row) -> f64| self.rows.iter().map(f).fold(0.0f64, |m, v| if v <= m { m } else { v });
        largest(&|r| r.kinetic)
            + largest(&|r| (r.potential - first.potential).abs())
            + largest(&|r| r.works.active.abs())
    }

    /// Rounding of energies, J.
    pub fn rounding(&self) -> f64 {
        1e-12 * self.rows.iter().map(|r| r.kinetic.abs() + r.potential.abs()).fold(0.0, f64::max)
    }
}

/// Looks at every step.
struct Watch<'a> {
    motion: Motion,
    budget: Budget,
    calls: usize,
    iterations: usize,
    passive: &'a [&'a str],
    mass: Option<Matrix>,
    start: Vec<f64>,
    /// size/tau², the acceleration that a step from rest may have.
    acceleration: f64,
    /// Step of the run, s.
    step: f64,
    room: (Vec<f64>, Vec<f64>, Vec<f64>),
}

impl Watch<'_> {
    fn energies(&mut self, system: &Evaluator, s: &State) -> (f64, f64) {
        let structure = system.structure();
        let mass = self.mass.get_or_insert_with(|| Matrix::new(&structure.mass_pattern));
        mass.clear();
        system.mass(s.t, &s.q, mass);
        let mut momentum = vec![0.0; s.u.len()];
        mass.multiply(&s.u, &mut momentum);
        let kinetic = 0.5 * momentum.iter().zip(&s.u).map(|(p, u)| p * u).sum::<f64>();
        let forces = structure.forces.iter().enumerate().filter(|(_, f)| f.potential);
        (kinetic, forces.map(|(i, _)| system.potential(i, s.t, &s.q)).sum())
    }

    fn contact(&mut self, system: &Evaluator, k: &Interaction, view: &StepView) {
        let mut gap = [0.0; 8];
        let dim = k.dim().min(8);
        system.position(k, view.end.t, &view.end.q, &mut gap[..1]);
        self.motion.penetration = worse(self.motion.penetration, -gap[0]);
        let (start, dt) = (view.start, view.step.dt);
        system.position(k, start.t, &start.q, &mut gap[..1]);
        if self.motion.rows.len() == 1 {
            self.motion.start_depth = worse(self.motion.start_depth, -gap[0]);
        }
        let (w, chi, _) = &mut self.room;
        w.resize(dim * k.dofs.len(), 0.0);
        chi.resize(dim, 0.0);
        system.velocity(k, start.t, &start.q, w, chi);
        let approach = -(k.row_times(&w[..k.dofs.len()], &start.u) + chi[0]) + dt * self.acceleration;
        if gap[0] <= 2.0 * dt * approach {
            self.motion.approach = worse(self.motion.approach, approach);
        }
    }

    fn law(&mut self, law: &Law) {
        let laws = &mut self.motion.laws;
        match law {
            Law::Bilateral => laws.joints = true,
            Law::Element(_) => laws.elements = true,
            Law::Contact(c) => {
                let (Normal::Newton { e } | Normal::Poisson { e }) = c.normal;
                let (low, high) = laws.restitution.unwrap_or((e, e));
                laws.restitution = Some((low.min(e), high.max(e)));
                laws.friction |= match &c.friction {
                    None => false,
                    Some(Friction::Coulomb { mu } | Friction::Polyhedral { mu, .. }) => *mu > 0.0,
                    Some(Friction::Tresca { bound }) => *bound > 0.0,
                };
                laws.tangential |= c.e_tangential > 0.0;
            }
        }
    }
}

/// The larger value, and NaN if there is one.
fn worse(a: f64, b: f64) -> f64 {
    if b <= a { a } else { b }
}

impl Observer for Watch<'_> {
    fn begin(&mut self, system: &Evaluator, start: &State) {
        let (kinetic, potential) = self.energies(system, start);
        self.motion.rows.push(Row { t: start.t, kinetic, potential, works: Works::default() });
        self.motion.range = vec![0.0; start.q.len()];
        self.start.clone_from(&start.q);
    }

    fn step(&mut self, view: &StepView) {
        let system = view.system;
        let (kinetic, potential) = self.energies(system, view.end);
        let mut works = Works::default();
        if let Some(ledger) = view.ledger {
            for (name, work) in ledger.lines() {
                match name.as_str() {
                    "contact.normal" => works.normal += work,
                    "contact.friction" | "elements" => works.friction += work,
                    "joints" => works.joints += work,
                    "force.gyroscopic" => {}
                    _ => match name.strip_prefix("force.") {
                        Some(force) if self.passive.contains(&force) => works.passive += work,
                        Some(_) => works.active += work,
                        None => {}
                    },
                }
            }
        }
        let list = &view.step.candidates;
        for k in list.items() {
            self.law(&k.law);
            if k.kind == Kind::Contact {
                self.contact(system, k, view);
            }
        }
        for (i, k) in list.items().iter().enumerate().filter(|(_, k)| k.kind == Kind::Contact) {
            let p = view.step.percussion(i)[0];
            if p != 0.0 {
                *self.motion.percussions.entry(system.name(k.id)).or_default() += p;
            }
        }
        let (start, end, dt) = (view.start, view.end, view.step.dt);
        let (_, a, b) = &mut self.room;
        a.resize(start.q.len(), 0.0);
        b.resize(start.q.len(), 0.0);
        system.kinematics(start.t, &start.q, &start.u, a);
        system.kinematics(end.t, &end.q, &end.u, b);
        let rates = a.iter().chain(b.iter()).fold(0.0f64, |m, v| worse(m, v.abs()));
        let m = &mut self.motion;
        m.speed = worse(m.speed, rates);
        // A step that an event ends early may be as short as rounding; one that lands takes back what a fast one before it sank in.
        let h = self.step.max(dt);
        let scale = h * (3.0 * m.speed + 10.0 * h * self.acceleration);
        for i in 0..start.q.len() {
            // The first step lifts out what penetrates at the start.
            if m.rows.len() > 1 || m.start_depth == 0.0 {
                m.leap = worse(m.leap, (end.q[i] - start.q[i]).abs() / scale);
            }
            m.range[i] = worse(m.range[i], (end.q[i] - self.start[i]).abs());
        }
        m.impact |= view.step.impact();
        m.finite &= kinetic.is_finite() && potential.is_finite() && end.q.iter().chain(&end.u).all(|v| v.is_finite());
        m.rows.push(Row { t: end.t, kinetic, potential, works });
        self.calls += view.step.report.calls;
        self.iterations += view.step.report.iterations + view.step.report.pivots + view.step.report.newton;
    }

    fn ends_run(&self) -> bool {
        self.calls > self.budget.calls || self.iterations > self.budget.iterations
    }
}

/// What is wanted of a run.
pub struct Wanted<'a> {
    /// Times of the samples, s.
    pub at: &'a [f64],
    /// Change of the velocities at the start, as a part of the largest of them: rounding, made visible.
    pub nudge: f64,
    /// size/tau².
    pub acceleration: f64,
    /// Forces by value that only take energy.
    pub passive: &'a [&'a str],
    /// How much it may cost.
    pub budget: Budget,
}

/// Runs a scene.
pub fn run(scene: &Prepared, wanted: &Wanted) -> Motion {
    let attempt = catch_unwind(AssertUnwindSafe(|| run_unguarded(scene, wanted)));
    attempt.unwrap_or_else(|payload| {
        let text = payload.downcast_ref::<String>().cloned();
        let text = text.or_else(|| payload.downcast_ref::<&str>().map(|s| (*s).to_string()));
        Motion::new(Ending::Panicked(text.unwrap_or_default()))
    })
}

fn run_unguarded(scene: &Prepared, wanted: &Wanted) -> Motion {
    let mut simulation = match scene.simulation() {
        Ok(simulation) => simulation,
        Err(e) => return Motion::new(Ending::Refused(e.message)),
    };
    if wanted.nudge != 0.0 {
        let mut start = scene.start.clone();
        let largest = start.u.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        let by = wanted.nudge * if largest > 0.0 { largest } else { 1.0 };
        for (i, u) in start.u.iter_mut().enumerate() {
            *u += by * if i % 2 == 0 { 1.0 } else { -0.7 };
        }
        let made = (scene.scheme.make)(&scene.settings).map_err(nonsmooth::Error::from);
        let other =
            made.and_then(|s| nonsmooth::Simulation::new(scene.system.clone(), start, s, scene.options.clone()));
        match other {
            Ok(other) => simulation = other,
            Err(e) => return Motion::new(Ending::Refused(e.to_string())),
        }
    }
    let order = simulation.scheme_mut().order().smooth;
    let watch = Watch {
        motion: Motion { order, ..Motion::new(Ending::Done) },
        budget: wanted.budget,
        calls: 0,
        iterations: 0,
        passive: wanted.passive,
        mass: None,
        start: Vec::new(),
        acceleration: wanted.acceleration,
        step: scene.options.step,
        room: Default::default(),
    };
    let mut both = (Trajectory::new(Recording::At(wanted.at.to_vec())), watch);
    let summary = simulation.run_with(&mut both);
    let (trajectory, mut watch) = both;
    let evaluator = scene.evaluator();
    let base = watch.motion.rows.first().map_or(0.0, |r| r.potential);
    for record in trajectory.records() {
        let (q, u) = (record.q.clone(), record.u.clone());
        if !q.is_empty() {
            let (kinetic, potential) = watch.energies(&evaluator, &State::new(record.t, q.clone(), u.clone()));
            watch.motion.energies.push((kinetic, potential - base));
        }
        watch.motion.samples.push((q, u));
    }
    let mut motion = watch.motion;
    motion.residual = summary.worst.residual();
    motion.end.clone_from(&summary.end.q);
    motion.redundant = summary.events.iter().any(|e| e.kind == EventKind::Redundancy);
    motion.ending = match (summary.status, summary.stop) {
        (Status::Done, _) => Ending::Done,
        (Status::Interrupted, _) => Ending::Cut,
        (Status::Stopped, Some(stop)) => Ending::Stopped(stop.failure.to_string()),
        (Status::Stopped, None) => Ending::Stopped(String::new()),
    };
    motion
}
