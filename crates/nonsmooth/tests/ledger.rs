//! The energy ledger closes on every reference model with every scheme, fails to close if one of its formulas is broken, and
//! its lines say what they should.
//!
//! **Signs of the contact lines.** With a fixed obstacle (χ = 0) and one W for γ⁻, γ⁺ and the dynamics, the work of a
//! percussion over the mean velocity is ½ P·(γ⁺ + γ⁻) = ½ P·ξ + ½ (1 − e) P·γ⁻ with P·ξ ≤ 0. It can be positive only
//! where P·γ⁻ is, by no more than ½ (1 − e) P·γ⁻: at a contact that separates and is pressed back within the step, or slip that
//! turns into stick the other way; then |γ⁻| is at most what the forces of a step give, and the work is O(dt²).
//! `moreau-midpoint` has one W, at q_M. `moreau-jean` takes γ⁻ with W(q_k) and everything else with W(q_{k+1}): where W
//! changes, the difference O(dt) P|u| may be positive as well, so it is checked only where W is constant. An obstacle that
//! moves does work of either sign.

use crate::wrapped::{Change, Wrapped};
use nonsmooth::accounting::{Ledger, Line, Meter};
use nonsmooth::contract::Evaluator;
use nonsmooth::contract::Kind;
use nonsmooth::law::ContactLaw;
use nonsmooth::scheme::{self, Scheme, Settings};
use nonsmooth::simulation::Status;
use nonsmooth::{Differentiated, Layout, Model, Scalar, Simulation, SimulationOptions, State, Step, Summary};
use nonsmooth_reference::{Ball, Case, Incline, Oscillator, PulledMass, cases, variants};
use std::sync::{Arc, Mutex};

/// Rounding and the tolerance of Newton's method: both schemes solve M Δu = dt h + W P to 1e-10 of its largest term in
/// every step, and the closure is relative to the sum of all terms.
const CLOSED: f64 = 1e-10;

fn jean(theta: f64) -> Settings {
    Settings::new().number("theta", theta)
}

fn run(case: &Case, scheme: Box<dyn Scheme>) -> Summary {
    let options = case.options_for(scheme.info().name).unwrap();
    Simulation::new(case.system.as_ref(), case.start.clone(), scheme, options).unwrap().run()
}

fn value(summary: &Summary, line: &str) -> f64 {
    summary.ledger.iter().find(|(name, _)| name == line).map_or_else(|| panic!("no line `{line}`"), |(_, v)| *v)
}

#[test]
fn the_ledger_closes_on_every_model_with_every_scheme() {
    let mut failures = Vec::new();
    let mut worst = (0.0, String::new());
    for case in cases().unwrap() {
        for variant in variants().into_iter().filter(|v| case.options_for(v.scheme).is_some()) {
            let summary = run(&case, scheme::make(variant.scheme, &variant.settings).unwrap());
            let (energy, label) = (summary.energy, format!("{}, {}", case.name, variant.label));
            assert!(summary.work.steps > 100, "{label}: made {} steps, {:?}", summary.work.steps, summary.stop);
            if !(energy.closure <= CLOSED) {
                failures.push(format!("{label}: closure {:e}", energy.closure));
            }
            if energy.closure > worst.0 {
                worst = (energy.closure, label.clone());
            }
            // The same from the lines that the summary shows.
            let sum: f64 = summary.ledger.iter().map(|(_, v)| v).sum();
            let size = energy.max_kinetic + summary.ledger.iter().map(|(_, v)| v.abs()).sum::<f64>();
            let gap = (energy.last - energy.initial - sum).abs() / size;
            if !(gap <= CLOSED) {
                failures.push(format!("{label}: lines sum to {sum}, energy changed by {gap:e} (relative) more"));
            }
        }
    }
    println!("largest closure {:e}: {}", worst.0, worst.1);
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// What is wrong with a ledger.
#[derive(Debug, Clone, Copy)]
enum Fault {
    /// Nothing: the wrapper itself keeps the ledger closed.
    None,
    /// A line is not booked.
    Drop(Line),
    /// A named force is not booked.
    DropForce(usize),
    /// Half of a line.
    Half(Line),
    /// Potentials work with their force at the start of the step instead of where the scheme has it.
    PotentialAtStart,
    /// The same for forces without a potential.
    ForceAtStart,
    /// Percussions work over the velocity at the end instead of the mean.
    PercussionAtEnd,
}

const LINES: [Line; 10] = [
    Line::Normal,
    Line::Friction,
    Line::Joints,
    Line::Elements,
    Line::Drive,
    Line::Quadrature,
    Line::Theta,
    Line::MassChange,
    Line::Projection,
    Line::Extrapolation,
];

/// Books with a fault.
struct Broken {
    fault: Fault,
}

impl Change for Broken {
    fn account(
        &mut self,
        inner: &mut Box<dyn Scheme>,
        system: &Evaluator,
        start: &State,
        step: &Step,
        meter: &mut Meter,
        out: &mut Ledger,
    ) {
        let mut right = Ledger::new(system);
        inner.account(system, start, step, meter, &mut right);
        let n = start.u.len();
        let mean: Vec<f64> = (0..n).map(|i| 0.5 * (start.u[i] + step.end.u[i])).collect();
        let middle: Vec<f64> = start.q.iter().zip(&step.end.q).map(|(a, b)| 0.5 * (a + b)).collect();
        // Work of force i at the start minus at the middle, over the mean velocity (θ = 1/2, q̇ = u).
        let misplaced = |i: usize| {
            let (mut h0, mut h1) = (vec![0.0; n], vec![0.0; n]);
            system.force(i, start.t, &start.q, &start.u, &mut h0);
            system.force(i, start.t + 0.5 * step.dt, &middle, &mean, &mut h1);
            step.dt * (0..n).map(|k| mean[k] * (h0[k] - h1[k])).sum::<f64>()
        };
        let forces = &system.structure().forces;
        let wrong_potential: f64 = (0..forces.len()).filter(|&i| forces[i].potential).map(misplaced).sum();
        for line in LINES {
            let booked = right.get(line);
            let work = match self.fault {
                Fault::Drop(dropped) if dropped == line => continue,
                Fault::Half(halved) if halved == line => 0.5 * booked,
                Fault::PotentialAtStart if line == Line::Quadrature => booked + wrong_potential,
                Fault::PercussionAtEnd if line == Line::Normal => {
                    let contacts = step.candidates.items().iter().enumerate().filter(|(_, k)| k.kind == Kind::Contact);
                    contacts.map(|(i, _)| step.percussion(i)[0] * step.gamma_plus[step.candidates.range(i).start]).sum()
                }
                _ => booked,
            };
            out.add(line, work);
        }
        // The forces are the first lines.
        for (i, (_, booked)) in right.lines().into_iter().take(forces.len()).enumerate() {
            match self.fault {
                Fault::DropForce(dropped) if dropped == i => {}
                Fault::ForceAtStart if !forces[i].potential => out.add_force(i, booked + misplaced(i)),
                _ => out.add_force(i, booked),
            }
        }
    }
}

#[test]
fn a_ledger_with_one_broken_formula_does_not_close() {
    // Case, θ, and the fault: every line that closes an energy balance, dropped, halved or evaluated elsewhere.
    let faults = [
        ("ball", 0.5, Fault::Drop(Line::Normal)),
        ("ball", 0.5, Fault::PercussionAtEnd),
        ("ball", 1.0, Fault::Drop(Line::Theta)),
        ("swing", 0.5, Fault::Drop(Line::Quadrature)),
        ("swing", 0.5, Fault::PotentialAtStart),
        ("oscillator", 0.5, Fault::PotentialAtStart),
        ("oscillator", 0.5, Fault::DropForce(1)),
        ("oscillator", 0.5, Fault::ForceAtStart),
        ("driven-spring", 0.5, Fault::Drop(Line::Drive)),
        ("bead", 0.5, Fault::Drop(Line::MassChange)),
        ("bead", 0.5, Fault::DropForce(1)),
        ("pulled-slides", 0.5, Fault::Drop(Line::Elements)),
        ("incline-slides", 0.5, Fault::Drop(Line::Friction)),
        ("incline-slides", 0.5, Fault::Half(Line::Friction)),
        ("table-rises", 0.5, Fault::Drop(Line::Normal)),
        ("block-rough", 0.5, Fault::Half(Line::Friction)),
        ("pendulum", 1.0, Fault::Drop(Line::Joints)),
        ("double-pendulum", 1.0, Fault::Half(Line::Joints)),
    ];
    // The same for a scheme of two steps, as far as a fault does not speak of where the other evaluates.
    let two_steps = [
        ("ball", 0.5, Fault::Drop(Line::Normal)),
        ("ball", 0.5, Fault::Half(Line::Normal)),
        ("swing", 0.5, Fault::Drop(Line::Quadrature)),
        ("oscillator", 0.5, Fault::Drop(Line::Theta)),
        ("oscillator", 0.5, Fault::DropForce(1)),
        ("driven-spring", 0.5, Fault::Drop(Line::Drive)),
        ("bead", 0.5, Fault::Drop(Line::MassChange)),
        ("bead-stop", 0.0, Fault::Drop(Line::Normal)),
        ("block", 1.0, Fault::Half(Line::Normal)),
        ("pendulum", 1.0, Fault::Drop(Line::Joints)),
        ("double-pendulum", 0.5, Fault::Half(Line::Joints)),
    ];
    let faults = faults.map(|f| ("moreau-jean", f)).into_iter().chain(two_steps.map(|f| ("schatzman-paoli", f)));
    let all = cases().unwrap();
    for (inner, (name, theta, fault)) in faults {
        let case = all.iter().find(|c| c.name == name).unwrap();
        let with = |fault| {
            let inner = scheme::make(inner, &jean(theta)).unwrap();
            run(case, Box::new(Wrapped::new(inner, Broken { fault }))).energy.closure
        };
        let (right, wrong) = (with(Fault::None), with(fault));
        println!("{inner:16} {name:20} {:28} {right:.1e} -> {wrong:.1e}", format!("{fault:?}"));
        assert!(right <= CLOSED, "{name}: the wrapper alone has closure {right:e}");
        // Four orders above what counts as closed, and below every fault of the order of dt² of the energies moved.
        assert!(wrong > 1e-6, "{name}: {fault:?} goes unnoticed, closure {wrong:e}");
    }
}

/// One contact percussion of one step: its work as the ledger has it is checked by the [`Watch`] against this.
struct Watched {
    t: f64,
    normal: f64,
    friction: f64,
    elements: f64,
    /// ½ (1 − e) max(0, P·γ⁻) by line.
    allowed: [f64; 3],
    /// Σ|P| times the largest |P| or |γ|, to which the residual of a law is relative.
    size: f64,
}

/// Books like the scheme inside, and notes every step.
struct Watch {
    seen: Arc<Mutex<Vec<Watched>>>,
}

impl Change for Watch {
    fn account(
        &mut self,
        inner: &mut Box<dyn Scheme>,
        system: &Evaluator,
        start: &State,
        step: &Step,
        meter: &mut Meter,
        out: &mut Ledger,
    ) {
        let mut own = Ledger::new(system);
        inner.account(system, start, step, meter, &mut own);
        inner.account(system, start, step, meter, out);
        let (mut allowed, mut sum, mut largest) = ([0.0; 3], 0.0, 0.0f64);
        for (i, k) in step.candidates.items().iter().enumerate().filter(|(i, _)| step.active[*i]) {
            let (p, range) = (step.percussion(i), step.candidates.range(i));
            let (before, after) = (&step.gamma_minus[range.clone()], &step.gamma_plus[range]);
            // Work of the whole friction vector counts, not of its components.
            let mut parts = [0.0; 3];
            for j in 0..k.dim() {
                let line = match k.kind {
                    Kind::Contact => usize::from(j > 0),
                    Kind::Element => 2,
                    Kind::Joint | Kind::VelocityJoint => continue,
                };
                parts[line] += 0.5 * (1.0 - k.law.restitution(j)) * p[j] * before[j];
                sum += p[j].abs();
                largest = largest.max(p[j].abs()).max(before[j].abs()).max(after[j].abs());
            }
            for (a, part) in allowed.iter_mut().zip(parts) {
                *a += part.max(0.0);
            }
        }
        let (normal, friction) = (own.get(Line::Normal), own.get(Line::Friction));
        let elements = own.get(Line::Elements);
        let size = sum * largest;
        self.seen.lock().unwrap().push(Watched { t: step.end.t, normal, friction, elements, allowed, size });
    }
}

fn watch(case: &Case, scheme: Box<dyn Scheme>) -> Vec<Watched> {
    let seen = Arc::new(Mutex::new(Vec::new()));
    run(case, Box::new(Wrapped::new(scheme, Watch { seen: seen.clone() })));
    std::mem::take(&mut *seen.lock().unwrap())
}

#[test]
fn contacts_with_fixed_obstacles_never_give_energy_beyond_the_bound() {
    let mut failures = Vec::new();
    let mut positive = Vec::new();
    for case in cases().unwrap() {
        let still = case.constant_directions && case.name != "belt";
        let mut schemes = vec![("moreau-midpoint", Settings::new(), still || case.name.starts_with("block"))];
        schemes.push(("moreau-jean", jean(0.5), still));
        schemes.push(("moreau-jean", jean(0.5).word("forecast", "free"), still));
        for (name, settings, checked) in schemes {
            if !checked {
                continue;
            }
            let seen = watch(&case, scheme::make(name, &settings).unwrap());
            let count = seen.iter().filter(|s| s.normal.max(s.friction).max(s.elements) > 1e-12 * s.size).count();
            positive.push((count, seen.len(), case.name, name));
            for s in &seen {
                for ((line, work), allowed) in
                    ["normal", "friction", "elements"].iter().zip([s.normal, s.friction, s.elements]).zip(s.allowed)
                {
                    // The laws hold to the 1e-9 of a certificate.
                    if !(work <= allowed + 1e-9 * s.size) {
                        let label = format!("{}, {name}, t = {}", case.name, s.t);
                        failures.push(format!("{label}: {line} gives {work:e} J, at most {allowed:e}"));
                    }
                }
            }
        }
    }
    for (count, steps, case, scheme) in positive.iter().filter(|p| p.0 > 0) {
        println!("{case}, {scheme}: {count} of {steps} steps with positive work of a contact");
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn contacts_that_never_separate_or_reverse_only_take_energy() {
    // Sliding, impacts that close, friction that stops a motion: P·γ⁻ ≤ 0 throughout.
    let all = cases().unwrap();
    for name in ["ball-plastic", "incline-slides", "incline-sticks", "pulled-slides", "block-flat-rough"] {
        let case = all.iter().find(|c| c.name == name).unwrap();
        for scheme in ["moreau-midpoint", "moreau-jean"] {
            let seen = watch(case, scheme::make(scheme, &Settings::new()).unwrap());
            assert!(seen.iter().any(|s| s.normal.min(s.friction).min(s.elements) < 0.0), "{name} takes some energy");
            for s in seen {
                let most = s.normal.max(s.friction).max(s.elements);
                // Rounding of the terms.
                assert!(most <= 1e-14 * s.size, "{name}, {scheme}, t = {}: {most:e} J of {:e}", s.t, s.size);
            }
        }
    }
}

#[test]
fn a_contact_that_separates_more_slowly_than_a_step_of_weight_gives_energy_of_order_dt_squared() {
    // At q = 0 with u = +v < weight·dt: the step presses it back, P = weight·dt − v·(1 + e), and books ½ (1 − e) P v > 0,
    // the potential energy of the height ½ (1 − e) v dt that the position gains, less the kinetic energy lost.
    let (dt, v) = (1e-3, 5e-4);
    let ball = Ball { e: 0.0, ..Ball::default() };
    let system = Differentiated::new(ball).unwrap();
    let start = State::new(0.0, vec![0.0], vec![v]);
    let scheme = scheme::make("moreau-jean", &jean(0.5)).unwrap();
    let summary = Simulation::new(&system, start, scheme, SimulationOptions::new(dt, dt)).unwrap().run();
    let expected = 0.5 * (2.0 * dt - v) * v;
    assert!((value(&summary, "contact.normal") - expected).abs() <= 1e-15 * expected.abs() + 1e-22);
    assert!(expected > 0.0 && summary.energy.closure <= CLOSED);
}

fn single<M: Model>(model: M, q: &[f64], u: &[f64], settings: &Settings, step: f64, end: f64) -> Summary {
    let system = Differentiated::new(model).unwrap();
    let start = State::new(0.0, q.to_vec(), u.to_vec());
    let scheme = scheme::make("moreau-jean", settings).unwrap();
    let summary = Simulation::new(&system, start, scheme, SimulationOptions::new(step, end)).unwrap().run();
    assert_eq!(summary.status, Status::Done, "{:?}", summary.stop);
    summary
}

#[test]
fn sliding_friction_takes_force_times_distance() {
    // On the slope from rest: x = ½ a t², a = g (sin − μ cos), all of it exact with θ = 1/2 and constant forces.
    let (slope, mu, mass, g) = (0.5f64, 0.3, 2.0, 9.81);
    let summary = single(Incline { slope, mu, mass, g }, &[0.0, 0.0], &[0.0, 0.0], &jean(0.5), 1e-2, 1.0);
    let distance = 0.5 * g * (slope.sin() - mu * slope.cos());
    let friction = -mu * mass * g * slope.cos() * distance;
    let near = |found: f64, expected: f64| (found - expected).abs() <= 1e-12 * expected.abs();
    assert!(near(summary.end.q[0], distance));
    assert!(near(value(&summary, "contact.friction"), friction));
    assert!(near(summary.energy.last - summary.energy.initial, friction));
    // The normal force does no work: γ_N = 0 up to the rounding of a hundred steps.
    assert!(value(&summary, "contact.normal").abs() <= 1e-12);
    for line in ["drive", "numerical.quadrature", "numerical.theta", "numerical.mass_change", "numerical.projection"] {
        assert!(value(&summary, line).abs() <= 1e-12, "{line}: {}", value(&summary, line));
    }

    let summary =
        single(PulledMass { mass: 1.0, force: 3.0, bound: 2.0, e: 0.0 }, &[0.0], &[0.0], &jean(0.5), 1e-2, 1.0);
    assert!(near(value(&summary, "force.pull"), 1.5) && near(value(&summary, "elements"), -1.0));
}

#[test]
fn a_plastic_impact_takes_the_kinetic_energy_of_the_approach() {
    // The step that takes the impact finds the speed v at the height of the penetration: mean velocity v/2 times P, where
    // P also holds the weight of the step.
    let (weight, h) = (2.0, 1e-3);
    let summary = single(Ball { e: 0.0, weight, mass: 1.0 }, &[1.0], &[0.0], &jean(0.5), h, 1.5);
    // −2.0 J, with v and P off by what the weight does in two steps.
    assert!((value(&summary, "contact.normal") + 2.0).abs() <= 4.0 * weight * h);
    assert!(value(&summary, "contact.friction") == 0.0 && value(&summary, "joints") == 0.0);
}

#[test]
fn the_damper_takes_what_the_oscillator_loses() {
    let free = Oscillator { stop: f64::NEG_INFINITY, c: 0.2, ..Oscillator::default() };
    let summary = single(free, &[1.0], &[0.0], &jean(0.5), 1e-2, 5.0);
    let lost = summary.energy.last - summary.energy.initial;
    // θ = 1/2 and a linear spring: the quadrature of V is exact, the damper takes everything.
    assert!(lost < -0.1 && (value(&summary, "force.damper") - lost).abs() <= 1e-13);
    assert!(value(&summary, "numerical.quadrature").abs() <= 1e-13);
}

/// A mass pushed by a wall that moves at constant speed against a constant force.
struct Pushed;

impl Model for Pushed {
    fn layout(&self) -> Layout {
        Layout::new(["x"]).constant_mass().potential("load").linear().contact("wall", ContactLaw::newton(0.0)).moving()
    }
    fn mass<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], m: &mut [T]) {
        m[0] = T::from(1.0);
    }
    fn potential<T: Scalar>(&self, _i: usize, _t: T, q: &[T]) -> T {
        q[0] * 3.0
    }
    fn gap<T: Scalar>(&self, _i: usize, t: T, q: &[T]) -> T {
        q[0] - t * 0.5
    }
}

#[test]
fn a_moving_wall_gives_the_energy_that_it_pushes_up() {
    // From u = 0.5 on the wall: x = t/2, the load of 3 N takes 1.5 J in a second, all from the contact.
    let summary = single(Pushed, &[0.0], &[0.5], &jean(0.5), 1e-2, 1.0);
    assert!((value(&summary, "contact.normal") - 1.5).abs() <= 1e-12);
    assert!((summary.energy.last - summary.energy.initial - 1.5).abs() <= 1e-12);
}
