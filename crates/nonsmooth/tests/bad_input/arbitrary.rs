//! Arbitrary models with arbitrary numbers: taken or refused, and run without a panic.

use complementarity::{FullProblem, Polygon};
use nonsmooth::law::{ContactLaw, ElementLaw, ElementSets, Friction, Normal};
use nonsmooth::scheme::{SCHEMES, Settings};
use nonsmooth::simulation::{Observe, Status};
use nonsmooth::{Differentiated, Layout, Model, Scalar, Simulation, SimulationOptions, State, System, scheme};
use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestRunner};
use std::sync::Arc;

type On = Option<Vec<usize>>;

#[derive(Debug, Clone)]
struct Part<L> {
    name: String,
    on: On,
    flag: bool,
    what: L,
}

/// A model of arbitrary parts with arbitrary numbers.
#[derive(Debug, Clone)]
struct Arbitrary {
    coordinates: Vec<String>,
    velocities: Option<Vec<String>>,
    blocks: Vec<(Vec<usize>, Vec<usize>)>,
    masses: Vec<Part<()>>,
    forces: Vec<Part<bool>>,
    contacts: Vec<Part<ContactLaw>>,
    joints: Vec<Part<usize>>,
    velocity_joints: Vec<Part<usize>>,
    elements: Vec<Part<(usize, ElementLaw)>>,
    breaks: Vec<f64>,
    constant_mass: bool,
    mass: f64,
    coefficient: f64,
    height: f64,
}

impl Model for Arbitrary {
    fn layout(&self) -> Layout {
        fn place<L>(layout: Layout, part: &Part<L>) -> Layout {
            let layout = if part.flag { layout.linear() } else { layout };
            match &part.on {
                Some(on) => layout.on(on.iter().copied()),
                None => layout,
            }
        }
        let mut l = Layout::new(self.coordinates.clone()).breaks(self.breaks.clone());
        if let Some(v) = &self.velocities {
            l = l.velocities(v.clone());
        }
        for (q, u) in &self.blocks {
            l = l.kinematic_block(q.iter().copied(), u.iter().copied());
        }
        if self.constant_mass {
            l = l.constant_mass();
        }
        for p in &self.masses {
            l = place(l.mass_block(p.name.clone()), p);
        }
        for p in &self.forces {
            l = place(if p.what { l.potential(p.name.clone()) } else { l.force(p.name.clone()) }, p);
        }
        for p in &self.joints {
            l = place(l.joint(p.name.clone(), p.what), p);
        }
        for p in &self.velocity_joints {
            l = place(l.velocity_joint(p.name.clone(), p.what), p);
        }
        for p in &self.contacts {
            l = place(l.contact(p.name.clone(), p.what.clone()), p);
        }
        for p in &self.elements {
            l = place(l.element(p.name.clone(), p.what.0, p.what.1.clone()), p);
        }
        l
    }
    fn mass<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], m: &mut [T]) {
        let n = m.len().isqrt();
        for k in 0..n {
            m[k * n + k] = T::from(self.mass);
        }
    }
    fn potential<T: Scalar>(&self, i: usize, _t: T, q: &[T]) -> T {
        q.iter().fold(T::from(0.0), |s, x| s + *x * *x * self.coefficient + *x * (1.0 + i as f64))
    }
    fn force<T: Scalar>(&self, _i: usize, t: T, q: &[T], u: &[T], h: &mut [T]) {
        for (k, h) in h.iter_mut().enumerate() {
            *h = t - u.get(k).copied().unwrap_or(t) * self.coefficient + q.first().copied().unwrap_or(t);
        }
    }
    fn gap<T: Scalar>(&self, i: usize, _t: T, q: &[T]) -> T {
        q.iter().fold(T::from(self.height), |s, x| s + *x * (1.0 + i as f64))
    }
    fn slip<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], u: &[T], gamma: &mut [T]) {
        for (k, g) in gamma.iter_mut().enumerate() {
            *g = u.get(k).copied().unwrap_or(T::from(self.coefficient));
        }
    }
    fn joint<T: Scalar>(&self, i: usize, _t: T, q: &[T], g: &mut [T]) {
        for (k, g) in g.iter_mut().enumerate() {
            *g = q.get(k).copied().unwrap_or(T::from(0.0)) * (i as f64);
        }
    }
    fn velocity_joint<T: Scalar>(&self, i: usize, t: T, q: &[T], u: &[T], gamma: &mut [T]) {
        self.slip(i, t, q, u, gamma);
    }
    fn element<T: Scalar>(&self, i: usize, t: T, q: &[T], u: &[T], gamma: &mut [T]) {
        self.slip(i, t, q, u, gamma);
    }
    fn kinematics<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], u: &[T], qdot: &mut [T]) {
        for (k, r) in qdot.iter_mut().enumerate() {
            *r = u.get(k).copied().unwrap_or(T::from(0.0));
        }
    }
}

/// Mostly sensible, sometimes anything.
fn number() -> impl Strategy<Value = f64> {
    let special = prop_oneof![
        Just(f64::NAN),
        Just(f64::INFINITY),
        Just(f64::NEG_INFINITY),
        Just(-0.0),
        Just(1e300),
        Just(1e-300),
        Just(-1.0),
        any::<f64>()
    ];
    prop_oneof![60 => 0.0..1.0, 1 => special]
}

fn dimension() -> impl Strategy<Value = usize> {
    prop_oneof![30 => 1usize..4, 3 => 0usize..80, 1 => Just(usize::MAX)]
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![40 => "[a-z]{6}", 1 => Just(String::new()), 1 => Just("same".to_string())]
}

fn on() -> impl Strategy<Value = On> {
    let index = prop_oneof![40 => 0usize..3, 1 => 0usize..9, 1 => Just(usize::MAX)];
    proptest::option::of(proptest::collection::vec(index, 0..3))
}

fn part<L: Clone + std::fmt::Debug>(what: impl Strategy<Value = L>) -> impl Strategy<Value = Part<L>> {
    let flag = prop_oneof![5 => Just(false), 1 => Just(true)];
    (name(), on(), flag, what).prop_map(|(name, on, flag, what)| Part { name, on, flag, what })
}

fn parts<L: Clone + std::fmt::Debug>(
    what: impl Strategy<Value = L>,
    most: usize,
) -> impl Strategy<Value = Vec<Part<L>>> {
    proptest::collection::vec(part(what), 0..=most)
}

fn contact_law() -> impl Strategy<Value = ContactLaw> {
    let normal = prop_oneof![20 => number().prop_map(|e| Normal::Newton { e }), 1 => number().prop_map(|e| Normal::Poisson { e })];
    let friction = prop_oneof![
        4 => number().prop_map(|mu| Some((Friction::Coulomb { mu }, 0))),
        1 => number().prop_map(|bound| Some((Friction::Tresca { bound }, 0))),
        1 => (number(), 3usize..9).prop_map(|(mu, n)| {
            let polygon = Arc::new(Polygon::regular(n).expect("a polygon"));
            Some((Friction::Polyhedral { mu, polygon }, 2))
        }),
        2 => Just(None)
    ];
    let off = prop_oneof![20 => Just(false), 1 => Just(true)];
    (normal, friction, dimension(), number(), off).prop_map(|(normal, friction, dim, e, off)| {
        let fitting = match &friction {
            None => 0,
            Some((_, 2)) => 2,
            Some(_) => dim,
        };
        let slip_dim = if off { dim } else { fitting };
        ContactLaw { normal, friction: friction.map(|f| f.0), slip_dim, e_tangential: e }
    })
}

fn element() -> impl Strategy<Value = (usize, ElementLaw)> {
    let bounds = |n: usize| {
        let pair =
            (number(), number(), any::<bool>()).prop_map(|(a, b, open)| (-a, if open { f64::INFINITY } else { b }));
        proptest::collection::vec(pair, n)
    };
    let ball =
        (dimension(), number(), number()).prop_map(|(dim, force, impulse)| (dim, ElementSets::Ball { force, impulse }));
    let boxed = (1usize..5)
        .prop_flat_map(move |n| (Just(n), bounds(n), bounds(n)))
        .prop_map(|(n, force, impulse)| (n, ElementSets::Box { force, impulse }));
    (prop_oneof![ball, boxed], number()).prop_map(|((dim, sets), e)| (dim, ElementLaw { sets, e }))
}

fn model() -> impl Strategy<Value = Arbitrary> {
    let coordinates = prop_oneof![20 => 1usize..4, 1 => Just(0usize), 1 => Just(70usize)]
        .prop_map(|n| (0..n).map(|i| format!("q{i}")).collect::<Vec<_>>());
    let kinematics = prop_oneof![3 => Just(0), 2 => Just(1), 1 => Just(2)];
    let structure =
        (coordinates, kinematics, parts(Just(()), 2), any::<bool>(), proptest::collection::vec(number(), 0..2));
    let interactions = (
        parts(any::<bool>(), 2),
        parts(contact_law(), 2),
        parts(dimension(), 1),
        parts(dimension(), 1),
        parts(element(), 1),
    );
    (structure, interactions, (number(), number(), number())).prop_map(|(s, i, n)| {
        let (coordinates, kinematics, masses, constant_mass, breaks) = s;
        let (forces, contacts, joints, velocity_joints, elements) = i;
        let nq = coordinates.len();
        // Own velocities: fitting blocks, or a block that leaves something out.
        let (velocities, blocks) = match kinematics {
            0 => (None, Vec::new()),
            1 => (Some((0..nq).map(|i| format!("u{i}")).collect()), vec![((0..nq).collect(), (0..nq).collect())]),
            _ => (Some(vec!["u".to_string()]), vec![((0..nq.min(2)).collect(), vec![0])]),
        };
        Arbitrary {
            coordinates,
            velocities,
            blocks,
            masses,
            forces,
            contacts,
            joints,
            velocity_joints,
            elements,
            breaks,
            constant_mass,
            mass: n.0 + 0.5,
            coefficient: n.1,
            height: n.2,
        }
    })
}

#[test]
fn arbitrary_models_are_taken_or_refused_and_never_panic() {
    let config = ProptestConfig {
        cases: 6000,
        rng_seed: RngSeed::Fixed(20_260_727),
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let numbers = || proptest::collection::vec(number(), 4);
    let wrong_size = prop_oneof![30 => Just(false), 1 => Just(true)];
    let inputs = (model(), numbers(), numbers(), wrong_size, number(), 0..SCHEMES.len(), any::<bool>());
    let (mut taken, mut started, mut done) = (0, 0, 0);
    let counts = std::cell::RefCell::new((&mut taken, &mut started, &mut done));
    let outcome = TestRunner::new(config).run(&inputs, |(model, q, u, wrong_size, step, which, observed)| {
        let Ok(system) = Differentiated::new(model) else { return Ok(()) };
        *counts.borrow_mut().0 += 1;
        let s = system.structure();
        let (nq, nu) = if wrong_size { (s.nq() + 1, s.nu()) } else { (s.nq(), s.nu()) };
        let fill = |v: &[f64], n: usize| v.iter().copied().cycle().take(n).collect::<Vec<_>>();
        let state = State::new(0.0, fill(&q, nq), fill(&u, nu));
        let scheme = scheme::make(SCHEMES[which].name, &Settings::new()).unwrap();
        let step = 0.01 * step;
        let mut options = SimulationOptions::new(step, 5.0 * step);
        options.solver_options.max_iterations = 200;
        options.observe = if observed { Observe::ALL } else { Observe::NONE };
        let Ok(mut simulation) = Simulation::new(&system, state, scheme, options) else { return Ok(()) };
        *counts.borrow_mut().1 += 1;
        let summary = simulation.run();
        *counts.borrow_mut().2 += usize::from(summary.status == Status::Done);
        prop_assert!(summary.status != Status::Interrupted);
        prop_assert!(summary.end.q.iter().chain(&summary.end.u).all(|x| x.is_finite()), "{:?}", summary.end);
        // A problem that was saved can be loaded.
        if let Some(json) = summary.stop.and_then(|s| s.problem) {
            prop_assert!(FullProblem::from_json(&json).is_ok(), "{}", json);
        }
        Ok(())
    });
    if let Err(e) = outcome {
        panic!("{e}");
    }
    println!("of 6000 models {taken} were taken, {started} started, {done} ran to the end");
    // The test is worth something only if models of all kinds get through.
    assert!(taken >= 1000 && started >= 500 && done >= 300, "{taken} {started} {done}");
}
