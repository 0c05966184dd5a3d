//! Derivatives: the checker finds nothing in models that are right and every error that is planted.

use super::kinematics::TUMBLE;
use super::take;
use complementarity::linear::Matrix;
use nonsmooth::contract::Workspace;
use nonsmooth::contract::{Candidates, Interaction, Reach, Structure, check};
use nonsmooth::law::{ContactLaw, ElementLaw};
use nonsmooth::{Layout, Model, Scalar, System};
use nonsmooth_reference::{Chain, RigidBody, Ring, cases};

/// Everything of a system, with one thing changed.
struct Wrong<'a> {
    inner: &'a dyn System,
    what: &'static str,
}

impl System for Wrong<'_> {
    fn structure(&self) -> &Structure {
        self.inner.structure()
    }
    fn mass(&self, work: &Workspace, t: f64, q: &[f64], m: &mut Matrix) {
        self.inner.mass(work, t, q, m);
    }
    fn force(&self, work: &Workspace, i: usize, t: f64, q: &[f64], u: &[f64], h: &mut [f64]) {
        self.inner.force(work, i, t, q, u, h);
    }
    fn candidates(&self, work: &Workspace, t: f64, q: &[f64], u: &[f64], reach: Reach, out: &mut Candidates) {
        self.inner.candidates(work, t, q, u, reach, out);
    }
    fn position(&self, work: &Workspace, k: &Interaction, t: f64, q: &[f64], g: &mut [f64]) {
        self.inner.position(work, k, t, q, g);
    }
    fn velocity(&self, work: &Workspace, k: &Interaction, t: f64, q: &[f64], w: &mut [f64], chi: &mut [f64]) {
        self.inner.velocity(work, k, t, q, w, chi);
        if self.what == "w" {
            w[0] += 0.01;
        }
        if self.what == "chi" {
            chi[0] += 0.01;
        }
    }
    fn kinematics(&self, work: &Workspace, t: f64, q: &[f64], u: &[f64], qdot: &mut [f64]) {
        self.inner.kinematics(work, t, q, u, qdot);
    }
    fn potential(&self, work: &Workspace, i: usize, t: f64, q: &[f64]) -> f64 {
        let scale = if self.what == "potential" { 1.01 } else { 1.0 };
        scale * self.inner.potential(work, i, t, q)
    }
    fn force_jacobian(&self, work: &Workspace, i: usize, t: f64, q: &[f64], u: &[f64], a: f64, b: f64, m: &mut Matrix) {
        self.inner.force_jacobian(work, i, t, q, u, a, b, m);
        match self.what {
            "h_q" => m.add(0, 0, 0.01 * a),
            "h_u" => m.add(0, 0, 0.01 * b),
            _ => {}
        }
    }
    fn velocity_gradient(
        &self,
        work: &Workspace,
        k: &Interaction,
        skip: usize,
        t: f64,
        q: &[f64],
        u: &[f64],
        out: &mut [f64],
    ) {
        self.inner.velocity_gradient(work, k, skip, t, q, u, out);
        if self.what == "gamma_q" {
            out[0] += 0.01;
        }
    }
    fn velocity_rate(&self, work: &Workspace, k: &Interaction, t: f64, q: &[f64], u: &[f64], out: &mut [f64]) {
        self.inner.velocity_rate(work, k, t, q, u, out);
        if self.what == "rate" {
            out[0] += 0.01;
        }
    }
    fn name(&self, id: u64) -> String {
        self.inner.name(id)
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

pub(crate) fn assert_derivatives(name: &str, system: &dyn System, q: &[f64], u: &[f64]) {
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
        ("gamma_q", "gamma_q B of"),
        ("rate", "rate of"),
        ("w", "W "), // along the motion, and along its velocity
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
