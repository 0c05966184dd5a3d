//! The same input gives the same bits, whatever the scheme did before and whoever watches.

use crate::wrapped::{Change, Wrapped};
use complementarity::solver;
use nonsmooth::accounting::{Certificate, Ledger, Meter};
use nonsmooth::contract::{Evaluator, Workspace};
use nonsmooth::contract::{Feature, Reach};
use nonsmooth::control::Span;
use nonsmooth::scheme::schatzman_paoli::SchatzmanPaoliMemory;
use nonsmooth::scheme::{self, Failure, Scheme, Settings, Solve};
use nonsmooth::simulation::{Observe, Recording, Trajectory};
use nonsmooth::{Differentiated, Model, Simulation, SimulationOptions, State, Step, Summary, System};
use nonsmooth_reference::{Ball, Case, Incline, Oscillator, Variant, cases, variants};

/// What a step gives besides its end.
#[derive(Debug, PartialEq)]
struct StepBits {
    dt: u64,
    percussions: Vec<u64>,
    active: Vec<bool>,
    modes: Vec<u32>,
    /// (q, u) before a correction.
    raw: Vec<u64>,
}

/// Everything that a run gives, numbers as bits.
#[derive(Debug, PartialEq)]
struct Bits {
    states: Vec<(u64, Vec<u64>, Vec<u64>)>,
    steps: Vec<StepBits>,
    certificates: Vec<[u64; 7]>,
    events: Vec<(u64, &'static str, Option<u64>, Option<String>)>,
    ledger: Vec<(String, u64)>,
    energy: [u64; 4],
    sums: Vec<(String, Vec<u64>)>,
    work: nonsmooth::simulation::WorkCounts,
    stopped_at: Option<u64>,
}

fn bits(x: &[f64]) -> Vec<u64> {
    x.iter().map(|v| v.to_bits()).collect()
}

fn bits_of(summary: &Summary, trajectory: &Trajectory) -> Bits {
    let records = trajectory.records();
    let steps = records.iter().filter_map(|r| r.step.as_ref());
    let certificate = |c: &Certificate| {
        [c.dynamics, c.kinematics, c.law, c.penetration, c.gap_velocity, c.joint_violation, c.cone].map(f64::to_bits)
    };
    let e = &summary.energy;
    Bits {
        states: records.iter().map(|r| (r.t.to_bits(), bits(&r.q), bits(&r.u))).collect(),
        steps: steps
            .clone()
            .map(|s| StepBits {
                dt: s.dt.to_bits(),
                percussions: bits(s.percussions.values()),
                active: s.active.clone(),
                modes: s.sigma.iter().map(|m| m.0).collect(),
                raw: s.raw.as_ref().map_or_else(Vec::new, |(q, u)| bits(&[q.as_slice(), u.as_slice()].concat())),
            })
            .collect(),
        certificates: steps.filter_map(|s| s.certificate.as_ref().map(certificate)).collect(),
        events: summary.events.iter().map(|e| (e.t.to_bits(), e.kind.name(), e.id, e.contact.clone())).collect(),
        ledger: summary.ledger.iter().map(|(name, v)| (name.clone(), v.to_bits())).collect(),
        energy: [e.initial, e.last, e.max, e.closure].map(f64::to_bits),
        sums: summary.percussions.iter().map(|(name, v)| (name.clone(), bits(v))).collect(),
        work: summary.work,
        stopped_at: summary.stop.as_ref().map(|s| s.t.to_bits()),
    }
}

fn run(system: &dyn System, start: &State, scheme: Box<dyn Scheme>, options: SimulationOptions) -> Bits {
    let mut trajectory = Trajectory::new(Recording::Every(1));
    let summary = Simulation::new(system, start.clone(), scheme, options).unwrap().run_with(&mut trajectory);
    bits_of(&summary, &trajectory)
}

fn run_case(case: &Case, scheme: Box<dyn Scheme>) -> Bits {
    let options = case.options_for(scheme.info().name).unwrap();
    run(case.system.as_ref(), &case.start, scheme, options)
}

/// Variants that do not refuse a case.
fn variants_for(case: &Case) -> impl Iterator<Item = Variant> {
    variants().into_iter().filter(|v| case.options_for(v.scheme).is_some())
}

fn make(variant: &Variant) -> Box<dyn Scheme> {
    scheme::make(variant.scheme, &variant.settings).unwrap()
}

/// Where two runs part, for a message.
fn parting(a: &Bits, b: &Bits) -> String {
    let at = a.states.iter().zip(&b.states).position(|(x, y)| x != y);
    let t = at.map(|i| f64::from_bits(a.states[i].0));
    let parts = [
        ("states", a.states == b.states),
        ("steps", a.steps == b.steps),
        ("certificates", a.certificates == b.certificates),
        ("events", a.events == b.events),
        ("ledger", a.ledger == b.ledger && a.energy == b.energy),
        ("percussions", a.sums == b.sums),
        ("work", a.work == b.work),
    ];
    let differ: Vec<&str> = parts.iter().filter(|(_, same)| !same).map(|(name, _)| *name).collect();
    format!("{} differ, first state at t = {t:?}", differ.join(", "))
}

/// One step with certificate and ledger, so that all of a scheme's workspace has been used.
fn use_scheme(scheme: &mut dyn Scheme, system: &dyn System, start: &State, dt: f64) {
    let work = Workspace::default();
    let system = &Evaluator::new(system, &work);
    let mut solve = Solve { solver: solver::make("auto").unwrap(), options: complementarity::Options::default() };
    let mut step = Step::default();
    system.candidates(start.t, &start.q, &start.u, Reach::ALL, &mut step.candidates);
    scheme.step(system, start, dt, &mut solve, &mut step).unwrap();
    scheme.certify(system, start, &step, &mut Certificate::default());
    scheme.account(system, start, &step, &mut Meter::default(), &mut Ledger::new(system));
}

/// Serves `before`, then `after` in the same place of memory, and compares with a new scheme.
fn same_place<M: Model>(before: M, after: M, q: &[f64], u: &[f64]) -> Vec<String> {
    let mut failures = Vec::new();
    let (start, options) = (State::new(0.0, q.to_vec(), u.to_vec()), SimulationOptions::new(7e-3, 1.4));
    let mut slot = Differentiated::new(before).unwrap();
    let needs = slot.structure().needs;
    let takes = |v: &Variant| make(v).info().supports.missing(&needs).is_none();
    let fitting = variants().into_iter().filter(takes);
    let mut used: Vec<(Variant, Box<dyn Scheme>)> = fitting.map(|v| (v.clone(), make(&v))).collect();
    for (_, scheme) in &mut used {
        use_scheme(scheme.as_mut(), &slot, &start, 7e-3);
    }
    slot = Differentiated::new(after).unwrap();
    for (variant, scheme) in used {
        let expected = run(&slot, &start, make(&variant), options.clone());
        let found = run(&slot, &start, scheme, options.clone());
        if expected != found {
            failures.push(format!("{}: {}", variant.label, parting(&expected, &found)));
        }
    }
    failures
}

#[test]
fn a_scheme_that_served_another_model_at_the_same_address_gives_the_same_bits() {
    // What a sweep over a parameter does that makes each model in turn and keeps the scheme.
    let heavy = same_place(Ball { mass: 5.0, ..Ball::default() }, Ball::default(), &[0.5], &[0.0]);
    assert!(heavy.is_empty(), "mass of the ball:\n{}", heavy.join("\n"));
    let stiff = same_place(Oscillator { k: 100.0, ..Oscillator::default() }, Oscillator::default(), &[0.5], &[0.0]);
    assert!(stiff.is_empty(), "stiffness of the oscillator:\n{}", stiff.join("\n"));
    let incline = |mu| Incline { slope: 0.5, mu, mass: 1.0, g: 9.81 };
    let rough = same_place(incline(0.9), incline(0.1), &[0.0, 0.0], &[0.0, 0.0]);
    assert!(rough.is_empty(), "friction of the incline:\n{}", rough.join("\n"));
}

/// Forgets everything but the options of the scheme before every call.
struct Forgetful {
    variant: Variant,
    /// Start, end and step of the run.
    span: [f64; 3],
}

impl Change for Forgetful {
    fn begin(&mut self, span: &Span) {
        self.span = [span.start, span.end, span.step];
    }
    fn step(
        &mut self,
        inner: &mut Box<dyn Scheme>,
        system: &Evaluator,
        start: &State,
        dt: f64,
        solve: &mut Solve,
        out: &mut Step,
    ) -> Result<(), Failure> {
        *inner = make(&self.variant);
        let [t, end, step] = self.span;
        inner.controller(&Span { start: t, end, step, breaks: &[] }).unwrap();
        inner.step(system, start, dt, solve, out)
    }
    fn certify(
        &mut self,
        _inner: &mut Box<dyn Scheme>,
        system: &Evaluator,
        start: &State,
        step: &Step,
        out: &mut Certificate,
    ) {
        make(&self.variant).certify(system, start, step, out);
    }
    fn account(
        &mut self,
        _inner: &mut Box<dyn Scheme>,
        system: &Evaluator,
        start: &State,
        step: &Step,
        meter: &mut Meter,
        out: &mut Ledger,
    ) {
        make(&self.variant).account(system, start, step, meter, out);
    }
}

/// A scheme that has served all the other cases: more and fewer coordinates, other masses, contacts and joints; and itself from elsewhere.
fn used(cases: &[Case], variant: &Variant) -> Box<dyn Scheme> {
    let mut scheme = make(variant);
    for other in cases.iter().filter(|c| c.options_for(variant.scheme).is_some()) {
        use_scheme(scheme.as_mut(), other.system.as_ref(), &other.start, 0.7 * other.step);
    }
    scheme
}

#[test]
fn every_model_with_every_scheme_gives_the_same_bits_whatever_came_before_and_whoever_watches() {
    let (first, again) = (cases().unwrap(), cases().unwrap());
    let mut failures = Vec::new();
    for (case, same) in first.iter().zip(&again) {
        for variant in variants_for(case) {
            let forgetful = Forgetful { variant: variant.clone(), span: [0.0; 3] };
            let expected = run_case(case, make(&variant));
            assert!(expected.states.len() > 100 && !expected.ledger.is_empty(), "{}: nothing to compare", case.name);
            let mut fail = |what, parts| failures.push(format!("{}, {}, {what}: {parts}", case.name, variant.label));
            for (what, scheme) in [
                ("run again", make(&variant)),
                ("by a scheme that has served other models", used(&again, &variant)),
                ("without its workspace", Box::new(Wrapped::new(make(&variant), forgetful)) as Box<dyn Scheme>),
            ] {
                let found = run_case(same, scheme);
                if expected != found {
                    fail(what, parting(&expected, &found));
                }
            }
            let mut options = case.options_for(variant.scheme).unwrap();
            options.observe = Observe::NONE;
            let alone = run(case.system.as_ref(), &case.start, make(&variant), options);
            if expected.states != alone.states || expected.steps != alone.steps {
                fail("not watched", parting(&expected, &alone));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn a_run_in_two_parts_is_the_run_in_one() {
    // Everything that a step starts from is in the state: stopped on the way and taken up by a new scheme.
    let (step, end) = (0.0078125, 2.0); // a power of two, so that t_k = k h is the same from any grid point
    // Where the next step depends on the length of the last, which is the controller's, the second part begins anew.
    for variant in variants().into_iter().filter(|v| !make(v).info().adaptive) {
        let e = if make(&variant).info().supports.has(Feature::Restitution) { 0.5 } else { 0.0 };
        let ball = Differentiated::new(Ball { e, ..Ball::default() }).unwrap();
        let start = State::new(0.0, vec![1.0], vec![0.0]);
        let go = |start: State, end: f64| {
            let mut options = SimulationOptions::new(step, end);
            // A velocity-level scheme may stand below the ground by O(h) on the way.
            options.initial_tolerance = 4.0 * step;
            Simulation::new(&ball, start, make(&variant), options).unwrap().run().end
        };
        let (whole, half) = (go(start.clone(), end), go(start, 1.0));
        let parts = go(half, end);
        let all = |s: &State| {
            (
                s.t.to_bits(),
                bits(&s.q),
                bits(&s.u),
                bits(s.percussions.values()),
                bits(&s.memory.of::<SchatzmanPaoliMemory>().before),
            )
        };
        assert_eq!(all(&whole), all(&parts), "{}", variant.label);
    }
}

#[test]
fn bits_that_differ_are_seen() {
    // The comparison itself: one last bit of the start makes another run.
    let ball = Differentiated::new(Ball::default()).unwrap();
    let go = |q: f64| {
        let scheme = scheme::make("moreau-jean", &Settings::new()).unwrap();
        run(&ball, &State::new(0.0, vec![q], vec![0.0]), scheme, SimulationOptions::new(7e-3, 1.0))
    };
    assert!(go(1.0) == go(1.0) && go(1.0) != go(1.0 - f64::EPSILON));
}
