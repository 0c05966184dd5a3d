//! The contract between systems and the loop: general kinematics, derivatives, hand-written systems, reach, sparsity,
//! controllers, elements.

use complementarity::linear::{Matrix, Pattern};
use nonsmooth::contract::{Candidates, Derivatives, ForceInfo, Interaction, Kind, Needs, Structure, check};
use nonsmooth::law::{ContactLaw, ElementLaw, Law};
use nonsmooth::reference::{Ball, Balls, Chain, RigidBody, Ring, Swing, cases};
use nonsmooth::scheme::{Forecast, MoreauJean, MoreauJeanOptions, SCHEMES, Scheme};
use nonsmooth::simulation::{
    Controller, Observer, Proposal, Record, Recording, Status, StepView, Summary, Trajectory, Verdict,
};
use nonsmooth::{Differentiated, Layout, Model, Scalar, Simulation, SimulationOptions, State, Step, System, scheme};
use std::sync::Arc;

const BOTH: [&str; 2] = ["moreau-jean", "moreau-midpoint"];

fn take<M: Model>(model: M) -> Differentiated<M> {
    Differentiated::new(model).expect("the model fits together")
}

fn make(name: &str) -> Box<dyn Scheme> {
    scheme::make(name, &Default::default()).expect("a registered scheme")
}

fn run_with(
    system: &dyn System,
    scheme: Box<dyn Scheme>,
    q: &[f64],
    u: &[f64],
    h: f64,
    end: f64,
) -> (Summary, Vec<Record>) {
    let mut trajectory = Trajectory::new(Recording::Every(1));
    let start = State::new(0.0, q.to_vec(), u.to_vec());
    let options = SimulationOptions::new(h, end);
    let summary = Simulation::new(system, start, scheme, options).expect("a good start").run_with(&mut trajectory);
    assert_eq!(summary.status, Status::Done, "{:?}", summary.stop.map(|s| s.to_string()));
    (summary, trajectory.records().to_vec())
}

fn run(system: &dyn System, name: &str, q: &[f64], u: &[f64], h: f64, end: f64) -> (Summary, Vec<Record>) {
    run_with(system, make(name), q, u, h, end)
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max)
}

fn orders(errors: &[f64]) -> Vec<f64> {
    errors.windows(2).map(|w| (w[0] / w[1]).log2()).collect()
}

// General kinematics.

/// Rates of position, quaternion, velocity and angular velocity of the free rigid body, written anew.
fn rigid_rates(y: &[f64; 13], body: &RigidBody) -> [f64; 13] {
    let (p, v, w) = (&y[3..7], &y[7..10], &y[10..13]);
    let [a, b, c] = body.inertia;
    let mut out = [0.0; 13];
    out[..3].copy_from_slice(v);
    out[3] = -0.5 * (p[1] * w[0] + p[2] * w[1] + p[3] * w[2]);
    out[4] = 0.5 * (p[0] * w[0] + p[2] * w[2] - p[3] * w[1]);
    out[5] = 0.5 * (p[0] * w[1] + p[3] * w[0] - p[1] * w[2]);
    out[6] = 0.5 * (p[0] * w[2] + p[1] * w[1] - p[2] * w[0]);
    out[10] = (b - c) / a * w[1] * w[2];
    out[11] = (c - a) / b * w[2] * w[0];
    out[12] = (a - b) / c * w[0] * w[1];
    out
}

fn rk4(mut y: [f64; 13], body: &RigidBody, end: f64, n: usize) -> [f64; 13] {
    let h = end / n as f64;
    for _ in 0..n {
        let shifted = |k: &[f64; 13], s: f64| -> [f64; 13] { std::array::from_fn(|i| y[i] + s * k[i]) };
        let k1 = rigid_rates(&y, body);
        let k2 = rigid_rates(&shifted(&k1, 0.5 * h), body);
        let k3 = rigid_rates(&shifted(&k2, 0.5 * h), body);
        let k4 = rigid_rates(&shifted(&k3, h), body);
        for i in 0..13 {
            y[i] += h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]);
        }
    }
    y
}

const TUMBLE: ([f64; 7], [f64; 6]) = ([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], [0.3, -0.2, 0.1, 1.5, 0.4, -1.0]);

#[test]
fn a_free_rigid_body_with_a_quaternion_tumbles_with_second_order() {
    let body = RigidBody::free();
    let (q, u) = TUMBLE;
    let start: [f64; 13] = std::array::from_fn(|i| if i < 7 { q[i] } else { u[i - 7] });
    let end = 2.0;
    // RK4 at 1e-4: (1e-4)⁴ times rates of order one, rounding besides.
    let exact = rk4(start, &body, end, 20_000);
    let kinetic = |u: &[f64]| {
        let turning: f64 = (0..3).map(|k| body.inertia[k] * u[3 + k] * u[3 + k]).sum();
        0.5 * (turning + body.mass * u[..3].iter().map(|v| v * v).sum::<f64>())
    };
    let system = take(body.clone());
    for (name, order) in [("moreau-jean", 2.0), ("moreau-midpoint", 1.0)] {
        let mut errors = Vec::new();
        for h in [2e-2, 1e-2, 5e-3] {
            let (summary, records) = run(&system, name, &q, &u, h, end);
            let mut drift: f64 = 0.0;
            for r in &records {
                let norm = r.q[3..].iter().map(|x| x * x).sum::<f64>().sqrt();
                // Normalised after every step: one division.
                assert!((norm - 1.0).abs() <= 1e-12, "{name}: norm {norm}");
                drift = drift.max((kinetic(&r.u) - kinetic(&u)).abs());
            }
            // The ledger closes: each step to rounding, solves to 1e-10.
            assert!(summary.energy.closure <= 1e-9, "{name}: {:?}", summary.energy);
            let last = records.last().expect("records");
            errors.push(distance(&last.q, &exact[..7]).max(distance(&last.u, &exact[7..])));
            if name == "moreau-jean" {
                // The midpoint rule keeps quadratic invariants: Newton leaves 1e-10 of dt·h in a step, over 2 s.
                assert!(drift <= 1e-9, "{name}, h = {h}: kinetic energy drifts by {drift:e}");
            } else {
                // Explicit gyroscopic force: first order in h, from dt²|h|²/2m per step.
                assert!(drift <= 10.0 * h, "{name}, h = {h}: kinetic energy drifts by {drift:e}");
            }
        }
        println!("tumbling body, {name}: errors {errors:?}, orders {:?}", orders(&errors));
        for o in orders(&errors) {
            // Asymptotic to a tenth.
            assert!((o - order).abs() < 0.15, "{name}: {o}");
        }
    }
}

#[test]
fn a_ball_with_a_quaternion_dropped_on_a_rough_table_ends_rolling() {
    let (radius, mu) = (0.2, 0.3);
    let law = ContactLaw::newton(0.0).coulomb(2, mu);
    let body = RigidBody::ball(radius, law);
    let system = take(body.clone());
    let h = 1e-3;
    // Angular velocity about all axes, orientation not special.
    let q = [0.0, 0.0, radius + 0.05, 0.8, 0.36, -0.48, 0.0];
    let u = [1.0, -0.5, 0.0, 2.0, 3.0, 7.0];
    for name in BOTH {
        let (_, records) = run(&system, name, &q, &u, h, 2.0);
        let in_space = |r: &Record| {
            let (p, w) = (&r.q[3..], &r.u[3..]);
            let (s, v) = (p[0], [p[1], p[2], p[3]]);
            // ω_space = (s² − v·v) w + 2 v (v·w) + 2 s v×w.
            let dot = v[0] * w[0] + v[1] * w[1] + v[2] * w[2];
            let square = s * s - v[0] * v[0] - v[1] * v[1] - v[2] * v[2];
            let cross = [v[1] * w[2] - v[2] * w[1], v[2] * w[0] - v[0] * w[2], v[0] * w[1] - v[1] * w[0]];
            std::array::from_fn::<f64, 3, _>(|k| square * w[k] + 2.0 * v[k] * dot + 2.0 * s * cross[k])
        };
        let (first, last) = (&records[0], records.last().expect("records"));
        let (w0, w) = (in_space(first), in_space(last));
        // Rolling: v = ω × (0, 0, radius). The law holds at q_M or q_{k+1}; the body turns by |ω| h in a step.
        let turn = h * w.iter().map(|x| x * x).sum::<f64>().sqrt();
        let slip = [last.u[0] - radius * w[1], last.u[1] + radius * w[0]];
        let speed = last.u[0].hypot(last.u[1]);
        assert!(slip[0].hypot(slip[1]) <= speed * turn + 1e-9, "{name}: slip {slip:?}");
        // The angular momentum about the point of contact stays: v_end = (m r v + J ω)/(m r + J/r), here J = 0.4 m r².
        // W at one end of the step rotates it by |ω| h/2 each step while it slips, 0.3 s: to 0.3·|ω|²·h relative.
        let exact = [(u[0] + 0.4 * radius * w0[1]) / 1.4, (u[1] - 0.4 * radius * w0[0]) / 1.4];
        let size = w0.iter().map(|x| x * x).sum::<f64>().sqrt();
        assert!(distance(&last.u[..2], &exact) <= 0.3 * size * size * h, "{name}: {:?} {exact:?}", last.u);
        // Spin about the vertical is not touched by a point contact; the same tolerance.
        assert!((w[2] - w0[2]).abs() <= 0.3 * size * size * size * h, "{name}: {w:?} {w0:?}");
        assert!(last.u[2].abs() <= 1e-9, "{name}: stays on the table");
    }
}

// Derivatives.

/// Everything of a system, with one thing changed.
struct Wrong<'a> {
    inner: &'a dyn System,
    what: &'static str,
}

impl System for Wrong<'_> {
    fn structure(&self) -> &Structure {
        self.inner.structure()
    }
    fn mass(&self, t: f64, q: &[f64], m: &mut Matrix) {
        self.inner.mass(t, q, m);
    }
    fn force(&self, i: usize, t: f64, q: &[f64], u: &[f64], h: &mut [f64]) {
        self.inner.force(i, t, q, u, h);
    }
    fn candidates(&self, t: f64, q: &[f64], reach: f64, out: &mut Candidates) {
        self.inner.candidates(t, q, reach, out);
    }
    fn position(&self, k: &Interaction, t: f64, q: &[f64], g: &mut [f64]) {
        self.inner.position(k, t, q, g);
    }
    fn velocity(&self, k: &Interaction, t: f64, q: &[f64], w: &mut [f64], chi: &mut [f64]) {
        self.inner.velocity(k, t, q, w, chi);
        if self.what == "w" {
            w[0] += 0.01;
        }
        if self.what == "chi" {
            chi[0] += 0.01;
        }
    }
    fn kinematics(&self, t: f64, q: &[f64], u: &[f64], qdot: &mut [f64]) {
        self.inner.kinematics(t, q, u, qdot);
    }
    fn potential(&self, i: usize, t: f64, q: &[f64]) -> f64 {
        let scale = if self.what == "potential" { 1.01 } else { 1.0 };
        scale * self.inner.potential(i, t, q)
    }
    fn force_jacobian(&self, i: usize, t: f64, q: &[f64], u: &[f64], a: f64, b: f64, m: &mut Matrix) {
        self.inner.force_jacobian(i, t, q, u, a, b, m);
        match self.what {
            "h_q" => m.add(0, 0, 0.01 * a),
            "h_u" => m.add(0, 0, 0.01 * b),
            _ => {}
        }
    }
    fn position_gradient(&self, k: &Interaction, t: f64, q: &[f64], out: &mut [f64]) {
        self.inner.position_gradient(k, t, q, out);
        if self.what == "g_q"
            && let Some(first) = out.first_mut()
        {
            *first += 0.01;
        }
    }
    fn velocity_gradient(&self, k: &Interaction, t: f64, q: &[f64], u: &[f64], out: &mut [f64]) {
        self.inner.velocity_gradient(k, t, q, u, out);
        if self.what == "gamma_q" {
            out[0] += 0.01;
        }
    }
    fn velocity_rate(&self, k: &Interaction, t: f64, q: &[f64], u: &[f64], out: &mut [f64]) {
        self.inner.velocity_rate(k, t, q, u, out);
        if self.what == "rate" {
            out[0] += 0.01;
        }
    }
    fn name(&self, k: &Interaction) -> String {
        self.inner.name(k)
    }
}

/// A model with every kind of part, all of them nonlinear and moving.
struct Everything;

impl Model for Everything {
    fn layout(&self) -> Layout {
        Layout::new(["a", "b", "p", "r"])
            .velocities(["ua", "ub", "up"])
            .kinematic_block([0, 1], [0, 1])
            .kinematic_block([2, 3], [2])
            .potential("hills")
            .force("wind")
            .force("local")
            .on([3])
            .joint("rod", 2)
            .moving()
            .velocity_joint("wheel", 1)
            .moving()
            .on([1, 2])
            .contact("wall", ContactLaw::newton(0.5).coulomb(2, 0.3))
            .moving()
            .element("clutch", 2, ElementLaw::bound(1.0))
    }
    fn mass<T: Scalar>(&self, _i: usize, t: T, q: &[T], m: &mut [T]) {
        for k in 0..3 {
            m[4 * k] = (q[0] * q[k] + t).sin() * 0.1 + 2.0;
        }
    }
    fn kinematics<T: Scalar>(&self, i: usize, t: T, q: &[T], u: &[T], qdot: &mut [T]) {
        if i == 0 {
            qdot[0] = u[0] * q[1].cos() + u[1] * 0.2 + t.sin();
            qdot[1] = u[1] - u[0] * q[0];
        } else {
            qdot[0] = u[0] * q[1];
            qdot[1] = -(u[0] * q[0]) + q[0] * q[1] * 0.1;
        }
    }
    fn potential<T: Scalar>(&self, _i: usize, t: T, q: &[T]) -> T {
        (q[0] * q[2] + t).cos() + q[1] * q[1] * q[3]
    }
    fn force<T: Scalar>(&self, i: usize, t: T, q: &[T], u: &[T], h: &mut [T]) {
        if i == 0 {
            h[0] = u[0] * u[1] * q[2] + t;
            h[1] = (u[2] * q[0]).sin();
            h[2] = q[3].exp() * u[0];
        } else {
            h[0] = q[0] * q[0] * u[0];
        }
    }
    fn joint<T: Scalar>(&self, _i: usize, t: T, q: &[T], g: &mut [T]) {
        g[0] = q[0] * q[0] + q[1] * q[3] - t.cos();
        g[1] = (q[2] * q[0]).sin() + t * t;
    }
    fn velocity_joint<T: Scalar>(&self, _i: usize, t: T, q: &[T], u: &[T], gamma: &mut [T]) {
        gamma[0] = u[0] * q[0].sin() + u[2] * q[1] - t * q[0];
    }
    fn gap<T: Scalar>(&self, _i: usize, t: T, q: &[T]) -> T {
        q[1] * q[2] + (t * 2.0).sin() - q[0].cos() + 5.0
    }
    fn slip<T: Scalar>(&self, _i: usize, t: T, q: &[T], u: &[T], gamma: &mut [T]) {
        gamma[0] = u[0] * q[3] - u[1] * q[0] + t.exp();
        gamma[1] = u[2] * q[1].sin() + q[2];
    }
    fn element<T: Scalar>(&self, _i: usize, t: T, q: &[T], u: &[T], gamma: &mut [T]) {
        gamma[0] = u[0] * q[2] * t + u[1];
        gamma[1] = u[2] - u[0] * q[1] * q[1];
    }
}

/// States near a start, none of them special.
fn states(q: &[f64], u: &[f64]) -> Vec<(f64, Vec<f64>, Vec<f64>)> {
    let near = |x: &[f64], size: f64, shift: f64| -> Vec<f64> {
        x.iter().enumerate().map(|(i, x)| x + size * (shift + 1.7 * i as f64).sin()).collect()
    };
    [(0.0, 0.0), (0.05, 0.3), (0.2, 1.1), (0.4, 2.9)]
        .into_iter()
        .map(|(size, shift)| (shift, near(q, size, shift), near(u, 5.0 * size, shift + 0.5)))
        .collect()
}

/// The checker's page: differences are good to 1e-9, a wrong formula shows at 1e-6.
const CHECK: f64 = 1e-6;

fn assert_derivatives(name: &str, system: &dyn System, q: &[f64], u: &[f64]) {
    for (t, q, u) in states(q, u) {
        let found = check::derivatives(system, t, &q, &u, CHECK);
        assert!(found.is_empty(), "{name} at t = {t}, q = {q:?}, u = {u:?}: {found:?}");
    }
}

#[test]
fn the_checker_finds_nothing_in_any_reference_model() {
    for case in cases().unwrap() {
        assert_derivatives(case.name, case.system.as_ref(), &case.start.q, &case.start.u);
    }
    let (q, u) = TUMBLE;
    assert_derivatives("free body", &take(RigidBody::free()), &q, &u);
    let rough = ContactLaw::newton(0.0).coulomb(2, 0.3);
    assert_derivatives("ball on a table", &take(RigidBody::ball(0.2, rough)), &q, &u);
    assert_derivatives("everything", &take(Everything), &[0.4, -0.3, 0.8, 0.5], &[0.7, -1.1, 0.6]);
    let chain = Chain { count: 7, group: 7, k: 3.0, c: 5.0, stop: 0.1, e: 0.5 };
    assert_derivatives("chain", &take(chain), &[0.0; 7], &[0.0; 7]);
    assert_derivatives("ring", &take(Ring { count: 8, far: 3, k: 3.0, c: 5.0 }), &[0.1; 8], &[0.0; 8]);
}

#[test]
fn the_checker_finds_every_planted_error() {
    let right = take(Everything);
    let (q, u) = ([0.4, -0.3, 0.8, 0.5], [0.7, -1.1, 0.6]);
    for (what, named) in [
        ("h_q", "h_q B of force"),
        ("h_u", "h_u of force"),
        ("potential", "potential of force"),
        ("g_q", "g_q of"),
        ("gamma_q", "gamma_q of"),
        ("rate", "rate of"),
        ("w", "W and chi of"),
        ("chi", "W and chi of"),
    ] {
        let wrong = Wrong { inner: &right, what };
        for (t, q, u) in states(&q, &u) {
            let found = check::derivatives(&wrong, t, &q, &u, CHECK);
            assert!(!found.is_empty(), "{what} planted at t = {t} and not found");
            assert!(found.iter().all(|m| m.what.starts_with(named)), "{what} planted, found {found:?}");
        }
    }
    let none = Wrong { inner: &right, what: "" };
    assert_derivatives("unchanged", &none, &q, &u);
}

// Systems by hand.

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
        let force = |name: &str| ForceInfo { name: name.into(), potential: false, constant_jacobian: false };
        let law = Arc::new(Law::Contact(ContactLaw::newton(0.6)));
        Self {
            structure: Structure {
                coordinates: vec!["phi".into()],
                velocities: vec!["phi'".into()],
                forces: vec![force("gravity"), force("damper")],
                pattern,
                identity_kinematics: true,
                constant_mass: true,
                needs: Needs { contacts: true, ..Needs::default() },
                breaks: Vec::new(),
            },
            contact: Interaction {
                id: 7,
                kind: Kind::Contact,
                dim: 1,
                law,
                dofs: Arc::new([0]),
                coordinates: Arc::new([0]),
                constant: false,
            },
        }
    }
}

impl System for Hand {
    fn structure(&self) -> &Structure {
        &self.structure
    }
    fn mass(&self, _t: f64, _q: &[f64], m: &mut Matrix) {
        m.add(0, 0, 1.0);
    }
    fn force(&self, i: usize, _t: f64, q: &[f64], u: &[f64], h: &mut [f64]) {
        h[0] += if i == 0 { -9.81 * q[0].sin() } else { -0.1 * u[0] * u[0] * u[0] };
    }
    fn candidates(&self, _t: f64, _q: &[f64], _reach: f64, out: &mut Candidates) {
        out.fill([self.contact.clone()]);
    }
    fn position(&self, _k: &Interaction, _t: f64, q: &[f64], g: &mut [f64]) {
        g[0] = q[0].sin() - STOP;
    }
    fn velocity(&self, _k: &Interaction, _t: f64, q: &[f64], w: &mut [f64], chi: &mut [f64]) {
        w[0] = q[0].cos();
        chi[0] = 0.0;
    }
    fn name(&self, _k: &Interaction) -> String {
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
    fn mass(&self, t: f64, q: &[f64], m: &mut Matrix) {
        self.0.mass(t, q, m);
    }
    fn force(&self, i: usize, t: f64, q: &[f64], u: &[f64], h: &mut [f64]) {
        self.0.force(i, t, q, u, h);
    }
    fn candidates(&self, t: f64, q: &[f64], reach: f64, out: &mut Candidates) {
        self.0.candidates(t, q, reach, out);
    }
    fn position(&self, k: &Interaction, t: f64, q: &[f64], g: &mut [f64]) {
        self.0.position(k, t, q, g);
    }
    fn velocity(&self, k: &Interaction, t: f64, q: &[f64], w: &mut [f64], chi: &mut [f64]) {
        self.0.velocity(k, t, q, w, chi);
    }
    fn kinematics(&self, t: f64, q: &[f64], u: &[f64], qdot: &mut [f64]) {
        self.0.kinematics(t, q, u, qdot);
    }
    fn potential(&self, i: usize, t: f64, q: &[f64]) -> f64 {
        self.0.potential(i, t, q)
    }
    fn normalise(&self, q: &mut [f64]) {
        self.0.normalise(q);
    }
    fn name(&self, k: &Interaction) -> String {
        self.0.name(k)
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

/// Balls of radius 0.05 on a line before a wall at the right; the list holds only contacts within reach, if `limited`.
struct Line {
    structure: Structure,
    contacts: Vec<Interaction>,
    limited: bool,
    /// Constant push on ball i, N, and the time from which a kick of 1000 N acts on ball 0.
    push: Vec<f64>,
    kick: f64,
    wall: f64,
}

const RADIUS: f64 = 0.05;

impl Line {
    fn new(count: usize, e: f64, limited: bool, push: Vec<f64>, kick: f64, wall: f64) -> Self {
        let force = |name: &str| ForceInfo { name: name.into(), potential: false, constant_jacobian: true };
        let law = Arc::new(Law::Contact(ContactLaw::newton(e)));
        let contacts = (0..count).map(|i| {
            let touched: Arc<[usize]> = if i + 1 < count { vec![i, i + 1].into() } else { vec![i].into() };
            Interaction {
                id: i as u64,
                kind: Kind::Contact,
                dim: 1,
                law: law.clone(),
                dofs: touched.clone(),
                coordinates: touched,
                constant: false,
            }
        });
        let contacts = contacts.collect();
        let structure = Structure {
            coordinates: (0..count).map(|i| format!("x{i}")).collect(),
            velocities: (0..count).map(|i| format!("v{i}")).collect(),
            forces: vec![force("push")],
            pattern: Pattern::new(count),
            identity_kinematics: true,
            constant_mass: true,
            needs: Needs { contacts: true, ..Needs::default() },
            breaks: Vec::new(),
        };
        Self { structure, contacts, limited, push, kick, wall }
    }

    fn gap(&self, i: usize, q: &[f64]) -> f64 {
        match q.get(i + 1) {
            Some(next) => next - q[i] - 2.0 * RADIUS,
            None => self.wall - q[i] - RADIUS,
        }
    }
}

impl System for Line {
    fn structure(&self) -> &Structure {
        &self.structure
    }
    fn mass(&self, _t: f64, q: &[f64], m: &mut Matrix) {
        for i in 0..q.len() {
            m.add(i, i, 1.0);
        }
    }
    fn force(&self, _i: usize, t: f64, _q: &[f64], _u: &[f64], h: &mut [f64]) {
        for (h, p) in h.iter_mut().zip(&self.push) {
            *h += p;
        }
        if t >= self.kick {
            h[0] += 1000.0;
        }
    }
    fn candidates(&self, _t: f64, q: &[f64], reach: f64, out: &mut Candidates) {
        let near = self.contacts.iter().enumerate().filter(|(i, _)| !self.limited || self.gap(*i, q) <= reach);
        out.fill(near.map(|(_, k)| k.clone()));
    }
    fn position(&self, k: &Interaction, _t: f64, q: &[f64], g: &mut [f64]) {
        g[0] = self.gap(k.id as usize, q);
    }
    fn velocity(&self, k: &Interaction, _t: f64, _q: &[f64], w: &mut [f64], chi: &mut [f64]) {
        w[0] = -1.0;
        if k.dofs.len() > 1 {
            w[1] = 1.0;
        }
        chi[0] = 0.0;
    }
    fn travel(&self, _t0: f64, q0: &[f64], _t1: f64, q1: &[f64]) -> f64 {
        if self.limited { distance(q0, q1) } else { 0.0 }
    }
    fn name(&self, k: &Interaction) -> String {
        format!("contact{}", k.id)
    }
}

/// Lists of the contacts of every step, the warm starts and the work.
#[derive(Default)]
struct Lists {
    ids: Vec<Vec<u64>>,
    iterations: Vec<usize>,
    warm: Vec<bool>,
}

impl Observer for Lists {
    fn step(&mut self, view: &StepView) {
        let ids: Vec<u64> = view.step.candidates.items().iter().map(|k| k.id).collect();
        assert!(ids.is_sorted(), "{ids:?}");
        assert_eq!(ids, view.step.end.percussions.ids(), "percussions are laid out as the list");
        // What a contact carried before it carries now.
        let kept = |id: &u64| match (view.start.percussions.get(*id), view.step.end.percussions.get(*id)) {
            (Some(a), Some(b)) => (a[0] - b[0]).abs() <= 1e-12,
            _ => true,
        };
        self.warm.push(ids.iter().all(kept));
        self.ids.push(ids);
        self.iterations.push(view.step.report.iterations);
    }
}

#[test]
fn a_system_with_limited_reach_misses_no_contact_of_fast_balls() {
    // A ball at 40 m/s and a kick in the middle: 0.2 m per step, twenty times what the first reach allows.
    // A weak push on all, so that no step is without forces.
    let q = [0.0, 1.0, 1.2, 3.0, 3.1];
    let u = [40.0, 0.0, 0.0, -1.0, 0.0];
    let push = || vec![0.5; 5];
    let forecasts = [Forecast::Explicit { gamma: 0.0 }, Forecast::Explicit { gamma: 1.0 }, Forecast::Free];
    for e in [0.0, 0.5, 1.0] {
        for forecast in forecasts {
            let all = Line::new(5, e, false, push(), 0.3, 5.0);
            let near = Line::new(5, e, true, push(), 0.3, 5.0);
            let scheme = || Box::new(MoreauJean::new(MoreauJeanOptions { forecast, ..Default::default() }));
            let (a, ra) = run_with(&all, scheme(), &q, &u, 5e-3, 0.6);
            let (b, rb) = run_with(&near, scheme(), &q, &u, 5e-3, 0.6);
            for (x, y) in ra.iter().zip(&rb) {
                // The same problems with rows left out that carry nothing: rounding of velocities up to 100 m/s.
                let d = distance(&x.q, &y.q).max(distance(&x.u, &y.u));
                assert!(d <= 1e-9, "e = {e}, {forecast:?}, t = {}: {d:e}", x.t);
            }
            assert_eq!(a.events, b.events, "e = {e}, {forecast:?}");
            assert!(!a.events.is_empty(), "there are impacts");
            assert_eq!(a.work.reach_redone, 0, "a complete list has no reach");
            assert!(b.work.reach_redone >= 1, "{:?}", b.work);
            assert_eq!(b.work.rejected, b.work.reach_redone, "{:?}", b.work);
            assert!(b.work.reach_redone < 20, "the reach follows the speed: {:?}", b.work);
        }
    }
}

#[test]
fn warm_starts_follow_the_identity_of_a_contact_through_a_changing_list() {
    // Balls 1 to 3 are pressed against the wall; ball 0 drifts into reach from the left, so that a contact comes up
    // in front of all others. It has not touched yet: the percussions of the others stay, and no solver works.
    let wall = 1.0;
    let x3 = wall - RADIUS;
    let q = [x3 - 6.0 * RADIUS - 0.4, x3 - 4.0 * RADIUS, x3 - 2.0 * RADIUS, x3];
    let u = [1.0, 0.0, 0.0, 0.0];
    let system = Line::new(4, 0.0, true, vec![0.0, 5.0, 5.0, 5.0], f64::INFINITY, wall);
    for name in BOTH {
        let mut lists = Lists::default();
        let start = State::new(0.0, q.to_vec(), u.to_vec());
        // Ends before the touch at t = 0.4.
        let summary = Simulation::new(&system, start, make(name), SimulationOptions::new(1e-3, 0.398))
            .unwrap()
            .run_with(&mut lists);
        assert_eq!(summary.status, Status::Done);
        assert_eq!(lists.ids[1], [1, 2, 3], "{name}: ball 0 is far away in the beginning");
        let change = lists.ids.iter().position(|l| l.contains(&0)).expect("ball 0 comes into reach");
        assert!(change > 100, "{name}: {change}");
        assert_eq!(lists.ids[change], [0, 1, 2, 3], "{name}");
        // From the second step on the pressed balls are in the steady state.
        assert!(lists.warm[2..].iter().all(|w| *w), "{name}: percussions of the others stay");
        assert!(lists.iterations[2..change].iter().all(|n| *n == 0), "{name}: {:?}", &lists.iterations[..5]);
        assert_eq!(lists.iterations[change], 0, "{name}: the list changed, the warm start must not be lost");
    }
}

// Large and sparse.

fn kernel(system: &dyn System) -> &'static str {
    Matrix::new(&system.structure().pattern).kernel_name()
}

#[test]
fn two_hundred_balls_move_as_one() {
    let (many, one) = (take(Balls { count: 200, e: 0.5 }), take(Ball::default()));
    assert_eq!(kernel(&many), "block-diagonal");
    let height = |i: usize| 0.5 + 0.005 * (i % 7) as f64;
    let q: Vec<f64> = (0..200).map(height).collect();
    for name in BOTH {
        let (summary, records) = run(&many, name, &q, &[0.0; 200], 1e-3, 2.5);
        assert!(summary.energy.closure <= 1e-9, "{name}: {:?}", summary.energy);
        for i in 0..7 {
            let (_, single) = run(&one, name, &[height(i)], &[0.0], 1e-3, 2.5);
            for (r, s) in records.iter().zip(&single) {
                for k in (i..200).step_by(7) {
                    // Independent problems: the same arithmetic up to rounding; 1e-10 as asked.
                    assert!(
                        (r.q[k] - s.q[0]).abs() <= 1e-10 && (r.u[k] - s.u[0]).abs() <= 1e-10,
                        "{name}: ball {k} {}",
                        r.t
                    );
                }
            }
        }
    }
}

#[test]
fn a_chain_of_three_hundred_masses_moves_as_its_groups_of_twenty() {
    let chain = |count| take(Chain { count, group: 20, k: 50.0, c: 400.0, stop: 0.15, e: 0.5 });
    let (long, short) = (chain(300), chain(20));
    assert_eq!((kernel(&long), kernel(&short)), ("banded", "dense"));
    let q: Vec<f64> = (0..20).map(|i| 0.1 * (0.9 * f64::from(i)).sin()).collect();
    let u: Vec<f64> = (0..20).map(|i| if i == 19 { -1.0 } else { 0.0 }).collect();
    let (many_q, many_u) = (q.repeat(15), u.repeat(15));
    for name in BOTH {
        let (a, ra) = run(&long, name, &many_q, &many_u, 2e-3, 1.5);
        let (b, rb) = run(&short, name, &q, &u, 2e-3, 1.5);
        assert!(b.events.iter().any(|e| e.kind.name() == "impact"), "{name}: the stop is hit");
        assert_eq!(a.events.len(), 15 * b.events.len(), "{name}");
        for (r, s) in ra.iter().zip(&rb) {
            for g in 0..15 {
                // Both are solved to 1e-10 of a step's terms and more; the motion is not chaotic in 1.5 s.
                let part = g * 20..(g + 1) * 20;
                let d = distance(&r.q[part.clone()], &s.q).max(distance(&r.u[part], &s.u));
                assert!(d <= 1e-10, "{name}, group {g}, t = {}: {d:e}", r.t);
            }
        }
    }
}

#[test]
fn a_ring_with_far_springs_moves_as_a_small_ring() {
    let ring = |count| take(Ring { count, far: 10, k: 50.0, c: 400.0 });
    let (large, small) = (ring(120), ring(20));
    assert_eq!((kernel(&large), kernel(&small)), ("sparse", "dense"));
    let q: Vec<f64> = (0..20).map(|i| 0.1 * (0.9 * f64::from(i)).sin()).collect();
    let u: Vec<f64> = (0..20).map(|i| 0.5 * (2.3 * f64::from(i)).cos()).collect();
    for name in BOTH {
        let (_, ra) = run(&large, name, &q.repeat(6), &u.repeat(6), 2e-3, 1.0);
        let (_, rb) = run(&small, name, &q, &u, 2e-3, 1.0);
        for (r, s) in ra.iter().zip(&rb) {
            for g in 0..6 {
                let part = g * 20..(g + 1) * 20;
                // As for the chain.
                let d = distance(&r.q[part.clone()], &s.q).max(distance(&r.u[part], &s.u));
                assert!(d <= 1e-10, "{name}, copy {g}, t = {}: {d:e}", r.t);
            }
        }
    }
}

// Controllers.

/// Steps of `h`; when it first makes the step from `at`, it goes two steps back and on with half the step until `at`.
struct TwoBack {
    h: f64,
    end: f64,
    at: f64,
    rolled: bool,
    lag: usize,
    arrivals: Vec<f64>,
}

impl TwoBack {
    fn new(rolled: bool, lag: usize) -> Self {
        Self { h: 0.0625, end: 1.0, at: 0.5, rolled, lag, arrivals: Vec::new() }
    }
}

impl Controller for TwoBack {
    fn propose(&mut self, t: f64) -> Option<Proposal> {
        if t >= self.end {
            return None;
        }
        let fine = self.rolled && t >= self.at - 2.0 * self.h && t < self.at;
        let dt = if fine { 0.5 * self.h } else { self.h };
        Some(Proposal { dt, t_end: t + dt })
    }
    fn judge(&mut self, step: &Step) -> Verdict {
        if !self.rolled && step.end.t > self.at {
            self.rolled = true;
            return Verdict::RollBack(2);
        }
        Verdict::Accept
    }
    fn arrived(&mut self, t: f64) {
        self.arrivals.push(t);
    }
    fn lag(&self) -> usize {
        self.lag
    }
}

/// Ends of the steps and whether each starts where the last ended.
#[derive(Default)]
struct Continuity {
    last: Option<State>,
    times: Vec<f64>,
    marked_last: usize,
}

impl Observer for Continuity {
    fn begin(&mut self, _system: &dyn System, start: &State) {
        self.last = Some(start.clone());
    }
    fn step(&mut self, view: &StepView) {
        let last = self.last.as_ref().expect("begun");
        assert_eq!((last.t, &last.q, &last.u), (view.start.t, &view.start.q, &view.start.u), "a step starts elsewhere");
        assert_eq!(last.percussions, view.start.percussions, "with other percussions");
        assert!(view.step.end.t > view.start.t, "time goes on");
        assert_eq!(view.step.end.t - view.start.t, view.step.dt, "binary fractions are exact");
        self.times.push(view.step.end.t);
        self.marked_last += usize::from(view.last);
        self.last = Some(view.step.end.clone());
    }
}

#[test]
fn a_controller_may_go_two_steps_back_and_nothing_of_them_remains() {
    // Impacts before, in and after the steps that are dropped.
    let system = take(Balls { count: 3, e: 0.5 });
    let start = || State::new(0.0, vec![0.05, 0.21, 0.9], vec![0.0; 3]);
    for name in BOTH {
        let go = |controller: TwoBack| {
            let mut seen = Continuity::default();
            let options = SimulationOptions::new(0.0625, 1.0);
            let mut simulation =
                Simulation::with_controller(&system, start(), make(name), options, Box::new(controller)).unwrap();
            let summary = simulation.run_with(&mut seen);
            assert_eq!(summary.status, Status::Done);
            assert_eq!(summary.work.steps, seen.times.len(), "{name}: every final step is seen once");
            assert_eq!(seen.last.as_ref(), Some(&summary.end), "{name}: the last one too");
            (summary, seen)
        };
        let (rolled, seen) = go(TwoBack::new(false, 2));
        // The step from 0.5 and the two before it.
        assert_eq!(rolled.work.rejected, 3, "{name}: {:?}", rolled.work);
        assert_eq!(rolled.work.scheme_calls, rolled.work.steps + 3, "{name}: {:?}", rolled.work);
        assert_eq!(seen.marked_last, 1, "{name}");
        // The same steps without any rolling back.
        let (direct, expected) = go(TwoBack::new(true, 0));
        assert_eq!(seen.times, expected.times, "{name}");
        assert_eq!(seen.times.len(), 18);
        assert_eq!(rolled.end, direct.end, "{name}: the same bits");
        assert_eq!(rolled.events, direct.events, "{name}");
        assert_eq!(rolled.ledger, direct.ledger, "{name}");
        assert_eq!(rolled.percussions, direct.percussions, "{name}");
        assert_eq!(rolled.energy, direct.energy, "{name}");
        assert_eq!(rolled.worst, direct.worst, "{name}");
        assert_eq!(direct.work.rejected, 0);
        let (delayed, _) = go(TwoBack::new(true, 2));
        assert_eq!((&delayed.end, &delayed.events), (&direct.end, &direct.events), "{name}: lag alone changes nothing");
    }
}

/// Tries every step with h first, drops it, and takes h/2.
struct Picky {
    dropped: bool,
}

impl Controller for Picky {
    fn propose(&mut self, t: f64) -> Option<Proposal> {
        let dt = if self.dropped { 0.03125 } else { 0.0625 };
        (t < 0.8125).then_some(Proposal { dt, t_end: t + dt })
    }
    fn judge(&mut self, step: &Step) -> Verdict {
        if step.dt > 0.04 {
            self.dropped = true;
            return Verdict::Retry;
        }
        self.dropped = false;
        Verdict::Accept
    }
    fn arrived(&mut self, _t: f64) {}
}

#[test]
fn a_dropped_step_leaves_no_trace_and_a_trajectory_keeps_the_last_state() {
    let system = take(Ball::default());
    for name in BOTH {
        let start = State::new(0.0, vec![0.3], vec![0.0]);
        let mut trajectory = Trajectory::new(Recording::Every(10));
        let options = SimulationOptions::new(0.0625, 0.8125);
        let controller = Box::new(Picky { dropped: false });
        let mut simulation = Simulation::with_controller(&system, start, make(name), options, controller).unwrap();
        let summary = simulation.run_with(&mut trajectory);
        assert_eq!((summary.work.steps, summary.work.rejected), (26, 26), "{name}: {:?}", summary.work);
        let (_, direct) = run(&system, name, &[0.3], &[0.0], 0.03125, 0.8125);
        let last = direct.last().expect("records");
        assert_eq!((&summary.end.q, &summary.end.u), (&last.q, &last.u), "{name}: the same bits");
        // Every tenth and the last, as `Recording::Every` promises.
        let times: Vec<f64> = trajectory.records().iter().map(|r| r.t).collect();
        assert_eq!(times, [0.0, 0.3125, 0.625, 0.8125], "{name}");
    }
}

// Elements and forces.

/// A unit mass on a spring with pre-stress 3 N that cannot be compressed, under a load that grows with 2 N/s.
struct PreStressed;

impl Model for PreStressed {
    fn layout(&self) -> Layout {
        let law = ElementLaw::boxed(vec![(-3.0, f64::INFINITY)], vec![(0.0, f64::INFINITY)]);
        Layout::new(["x"]).constant_mass().force("load").linear().element("spring", 1, law)
    }
    fn mass<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], m: &mut [T]) {
        m[0] = T::from(1.0);
    }
    fn force<T: Scalar>(&self, _i: usize, t: T, _q: &[T], _u: &[T], h: &mut [T]) {
        h[0] = t * 2.0 - 1.0;
    }
    fn element<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], u: &[T], gamma: &mut [T]) {
        gamma[0] = u[0];
    }
}

#[test]
fn a_pre_stressed_spring_gives_way_only_beyond_its_pre_stress() {
    // The load 2t − 1 pushes against the stiff side first, then pulls; it exceeds 3 N at t = 2, and then
    // x'' = 2(t − 2): x = (t − 2)³/3.
    let system = take(PreStressed);
    let h = 1e-2;
    for name in BOTH {
        let (summary, records) = run(&system, name, &[0.0], &[0.0], h, 4.0);
        for r in &records[1..] {
            let step = r.step.as_ref().expect("a step");
            let p = step.percussions.values()[0];
            // Mean load of the step: linear, so the middle is exact.
            let load = 2.0 * (r.t - 0.5 * h) - 1.0;
            let s = (r.t - 2.0).max(0.0);
            if r.t <= 2.0 + 1e-9 {
                // Held by the law: rounding.
                assert!(r.q[0].abs() <= 1e-14 && (p + load * h).abs() <= 1e-12, "{name}, t = {}: {} {p}", r.t, r.q[0]);
            } else {
                // P = −3 dt at the lower bound; x to the midpoint rule's h²/12 of x''' t.
                assert!((p + 3.0 * h).abs() <= 1e-12, "{name}, t = {}: {p}", r.t);
                assert!((r.q[0] - s * s * s / 3.0).abs() <= h * h * s, "{name}, t = {}: {}", r.t, r.q[0]);
                assert!((r.u[0] - s * s).abs() <= 1e-9, "{name}, t = {}: {}", r.t, r.u[0]);
            }
        }
        let slips: Vec<f64> = summary.events.iter().map(|e| e.t).collect();
        assert_eq!(slips.len(), 1, "{name}: {:?}", summary.events);
        assert!((slips[0] - 2.0).abs() <= 1.01 * h, "{name}: {slips:?}");
    }
}

/// A charge in a magnetic field: h = G u with skew G; a harmonic trap besides.
struct Cyclotron {
    b: f64,
    k: f64,
}

impl Model for Cyclotron {
    fn layout(&self) -> Layout {
        Layout::new(["x", "y"]).constant_mass().force("magnetic").linear().potential("trap").linear()
    }
    fn mass<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], m: &mut [T]) {
        m[0] = T::from(1.0);
        m[3] = T::from(1.0);
    }
    fn force<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], u: &[T], h: &mut [T]) {
        h[0] = u[1] * self.b;
        h[1] = u[0] * -self.b;
    }
    fn potential<T: Scalar>(&self, _i: usize, _t: T, q: &[T]) -> T {
        (q[0] * q[0] + q[1] * q[1]) * (0.5 * self.k)
    }
}

#[test]
fn a_gyroscopic_force_in_the_iteration_matrix_keeps_energy_and_turns_by_its_angle() {
    let (b, h, steps) = (3.0, 0.05, 2000);
    for k in [0.0, 2.0] {
        let system = take(Cyclotron { b, k });
        let (summary, records) = run(&system, "moreau-jean", &[0.0, 0.0], &[1.0, 0.0], h, h * f64::from(steps));
        let energy =
            |r: &Record| 0.5 * (r.u[0] * r.u[0] + r.u[1] * r.u[1]) + 0.5 * k * (r.q[0] * r.q[0] + r.q[1] * r.q[1]);
        for r in &records {
            // The midpoint rule keeps quadratic invariants: 2000 roundings of 1e-16.
            assert!((energy(r) - 0.5).abs() <= 1e-12, "k = {k}, t = {}: {:e}", r.t, energy(r) - 0.5);
        }
        assert!((summary.ledger[0].1).abs() <= 1e-12, "a gyroscopic force does no work: {:?}", summary.ledger[0]);
        if k == 0.0 {
            // Cayley's rotation: by −2 atan(b h/2) in a step. Rounding of 2000 rotations.
            let angle = -2.0 * (0.5 * b * h).atan();
            for (i, r) in records.iter().enumerate() {
                let exact = [(angle * i as f64).cos(), (angle * i as f64).sin()];
                assert!(distance(&r.u, &exact) <= 1e-11, "step {i}: {:?} {exact:?}", r.u);
            }
        }
    }
}

// The first test of the design: a ball by hand runs every scheme.

struct PlainBall;

impl Model for PlainBall {
    fn layout(&self) -> Layout {
        Layout::new(["q"]).potential("weight").contact("ground", ContactLaw::newton(0.5))
    }
    fn mass<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], m: &mut [T]) {
        m[0] = T::from(1.0);
    }
    fn potential<T: Scalar>(&self, _i: usize, _t: T, q: &[T]) -> T {
        q[0] * 2.0
    }
    fn gap<T: Scalar>(&self, _i: usize, _t: T, q: &[T]) -> T {
        q[0]
    }
}

#[test]
fn the_plain_bouncing_ball_runs_every_scheme() {
    let ball = take(PlainBall);
    assert!(SCHEMES.len() >= 2);
    for info in SCHEMES {
        let h = 1e-3;
        let (summary, records) = run(&ball, info.name, &[1.0], &[0.0], h, 5.0);
        // Impacts accumulate at t = 3 in the exact motion; velocity errors of O(h) delay that by O(h).
        let last = records.last().expect("records");
        assert!(last.u[0].abs() <= 1e-10 && last.q[0].abs() <= 2.0 * 2.0 * h, "{}: {last:?}", info.name);
        assert!(summary.energy.closure <= 1e-9, "{}: {:?}", info.name, summary.energy);
        assert!(summary.worst.residual() <= 1e-9, "{}: {:?}", info.name, summary.worst);
        let kinds: Vec<&str> = summary.events.iter().map(|e| e.kind.name()).collect();
        assert!(kinds.contains(&"impact") && kinds.contains(&"close"), "{}: {kinds:?}", info.name);
    }
}
