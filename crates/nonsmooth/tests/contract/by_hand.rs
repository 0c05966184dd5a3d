//! Systems by hand: values alone, with the provided differences, move as the differentiated model.

use super::derivatives::assert_derivatives;
use super::kinematics::TUMBLE;
use super::{BOTH, distance, run, take};
use complementarity::linear::{Matrix, Pattern};
use nonsmooth::contract::Workspace;
use nonsmooth::contract::{Candidates, Derivatives, Features, ForceInfo, Interaction, Kind, Reach, Structure};
use nonsmooth::law::{ContactLaw, Law};
use nonsmooth::{Layout, Model, Scalar, System};
use nonsmooth_reference::{Ball, RigidBody, Swing};
use std::sync::Arc;

/// A pendulum with a damper and a stop, written as a system: values only.
struct Hand {
    structure: Structure,
    contact: Interaction,
}

const STOP: f64 = -0.3;

impl Hand {
    fn new() -> Self {
        let mut pattern = Pattern::new(1);
        pattern.couple(&[0]);
        let force =
            |name: &str| ForceInfo { name: name.into(), potential: false, spring: false, constant_jacobian: false };
        let law = Arc::new(Law::Contact(ContactLaw::newton(0.6)));
        Self {
            structure: Structure {
                coordinates: ["phi"].into_iter().collect(),
                velocities: ["phi'"].into_iter().collect(),
                forces: vec![force("gravity"), force("damper")],
                mass_pattern: pattern.clone(),
                pattern,
                kinematics: Vec::new(),
                constant_mass: true,
                needs: Features::NONE,
                breaks: Vec::new(),
            },
            contact: Interaction::new(7, Kind::Contact, 1, law, [0]),
        }
    }
}

impl System for Hand {
    fn structure(&self) -> &Structure {
        &self.structure
    }
    fn mass(&self, _work: &Workspace, _t: f64, _q: &[f64], m: &mut Matrix) {
        m.add(0, 0, 1.0);
    }
    fn force(&self, _work: &Workspace, i: usize, _t: f64, q: &[f64], u: &[f64], h: &mut [f64]) {
        h[0] += if i == 0 { -9.81 * q[0].sin() } else { -0.1 * u[0] * u[0] * u[0] };
    }
    fn candidates(&self, _work: &Workspace, _t: f64, _q: &[f64], _u: &[f64], _reach: Reach, out: &mut Candidates) {
        out.fill([self.contact.clone()]);
    }
    fn position(&self, _work: &Workspace, _k: &Interaction, _t: f64, q: &[f64], g: &mut [f64]) {
        g[0] = q[0].sin() - STOP;
    }
    fn velocity(&self, _work: &Workspace, _k: &Interaction, _t: f64, q: &[f64], w: &mut [f64], chi: &mut [f64]) {
        w[0] = q[0].cos();
        chi[0] = 0.0;
    }
    fn name(&self, _id: u64) -> String {
        "stop".into()
    }
}

/// The same as a model.
struct Same;

impl Model for Same {
    fn layout(&self) -> Layout {
        Layout::new(["phi"]).constant_mass().force("gravity").force("damper").contact("stop", ContactLaw::newton(0.6))
    }
    fn mass<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], m: &mut [T]) {
        m[0] = T::from(1.0);
    }
    fn force<T: Scalar>(&self, i: usize, _t: T, q: &[T], u: &[T], h: &mut [T]) {
        h[0] = if i == 0 { q[0].sin() * -9.81 } else { u[0] * u[0] * u[0] * -0.1 };
    }
    fn gap<T: Scalar>(&self, _i: usize, _t: T, q: &[T]) -> T {
        q[0].sin() - STOP
    }
}

/// Values of another system, everything else by differences.
struct ValuesOnly<'a>(&'a dyn System);

impl System for ValuesOnly<'_> {
    fn structure(&self) -> &Structure {
        self.0.structure()
    }
    fn mass(&self, work: &Workspace, t: f64, q: &[f64], m: &mut Matrix) {
        self.0.mass(work, t, q, m);
    }
    fn force(&self, work: &Workspace, i: usize, t: f64, q: &[f64], u: &[f64], h: &mut [f64]) {
        self.0.force(work, i, t, q, u, h);
    }
    fn candidates(&self, work: &Workspace, t: f64, q: &[f64], u: &[f64], reach: Reach, out: &mut Candidates) {
        self.0.candidates(work, t, q, u, reach, out);
    }
    fn position(&self, work: &Workspace, k: &Interaction, t: f64, q: &[f64], g: &mut [f64]) {
        self.0.position(work, k, t, q, g);
    }
    fn velocity(&self, work: &Workspace, k: &Interaction, t: f64, q: &[f64], w: &mut [f64], chi: &mut [f64]) {
        self.0.velocity(work, k, t, q, w, chi);
    }
    fn kinematics(&self, work: &Workspace, t: f64, q: &[f64], u: &[f64], qdot: &mut [f64]) {
        self.0.kinematics(work, t, q, u, qdot);
    }
    fn potential(&self, work: &Workspace, i: usize, t: f64, q: &[f64]) -> f64 {
        self.0.potential(work, i, t, q)
    }
    fn normalise(&self, q: &mut [f64]) {
        self.0.normalise(q);
    }
    fn name(&self, id: u64) -> String {
        self.0.name(id)
    }
}

#[test]
fn a_system_by_hand_with_values_only_moves_as_the_differentiated_model() {
    let (hand, model) = (Hand::new(), take(Same));
    assert_derivatives("by hand", &hand, &[0.9], &[0.1]);
    let ball = take(Ball::default());
    let swing = take(Swing { damping: 0.3, ..Swing::default() });
    let body = take(RigidBody::free());
    let (q, u) = TUMBLE;
    for name in BOTH {
        type Pair<'a> = (&'a dyn System, &'a dyn System, &'a [f64], &'a [f64], f64);
        let pairs: [Pair; 4] = [
            (&hand, &model, &[1.0], &[0.0], 2.0),
            (&ValuesOnly(&ball), &ball, &[1.0], &[0.0], 3.5),
            (&ValuesOnly(&swing), &swing, &[1.0], &[0.0], 2.0),
            (&ValuesOnly(&body), &body, &q, &u, 1.0),
        ];
        for (values, exact, q, u, end) in pairs {
            let (a, ra) = run(values, name, q, u, 5e-3, end);
            let (b, rb) = run(exact, name, q, u, 5e-3, end);
            assert_eq!((a.derivatives, b.derivatives), (Derivatives::Differences, Derivatives::Exact));
            assert_eq!(ra.len(), rb.len());
            for (x, y) in ra.iter().zip(&rb) {
                // Differences only change the iteration matrix (1e-9); Newton ends both at 1e-10 of the step's terms.
                let d = distance(&x.q, &y.q).max(distance(&x.u, &y.u));
                assert!(d <= 1e-8, "{name}, t = {}: {d:e}", x.t);
            }
            assert_eq!(a.events.len(), b.events.len(), "{name}: {:?} {:?}", a.events, b.events);
        }
    }
}
