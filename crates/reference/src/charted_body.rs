//! The rigid body of [`RigidBody`] with local coordinates: it moves by the exponential map.

use crate::RigidBody;
use complementarity::linear::Matrix;
use nonsmooth::contract::{
    Candidates, Derivatives, Interaction, KinematicBlock, ModelError, Reach, Structure, Violation, Workspace,
};
use nonsmooth::{Differentiated, System};

type V3 = [f64; 3];

/// A rigid body in space whose seven coordinates are one block with a chart: local coordinates are the displacement of the centre and the
/// vector of a rotation in body axes,
///
/// ```text
/// x = x₀ + ξ_x,   p = p₀ ∘ exp(ξ_φ/2),   T(ξ) = diag(I, dexp_{−ξ_φ})
/// ```
pub struct ChartedBody {
    inner: Differentiated<RigidBody>,
    structure: Structure,
}

impl ChartedBody {
    /// The body with a chart.
    pub fn new(body: RigidBody) -> Result<Self, ModelError> {
        let inner = Differentiated::new(body)?;
        let mut structure = inner.structure().clone();
        structure.kinematics =
            vec![KinematicBlock { coordinates: (0..7).collect(), velocities: (0..6).collect(), chart: true }];
        Ok(Self { inner, structure })
    }
}

/// p ∘ r.
fn product(p: &[f64], r: [f64; 4]) -> [f64; 4] {
    [
        p[0] * r[0] - p[1] * r[1] - p[2] * r[2] - p[3] * r[3],
        p[0] * r[1] + p[1] * r[0] + p[2] * r[3] - p[3] * r[2],
        p[0] * r[2] + p[2] * r[0] + p[3] * r[1] - p[1] * r[3],
        p[0] * r[3] + p[3] * r[0] + p[1] * r[2] - p[2] * r[1],
    ]
}

fn norm(v: &[f64]) -> f64 {
    v.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// The unit quaternion of a rotation vector.
fn exponential(w: V3) -> [f64; 4] {
    let angle = norm(&w);
    let s = if angle == 0.0 { 0.5 } else { (0.5 * angle).sin() / angle };
    [(0.5 * angle).cos(), s * w[0], s * w[1], s * w[2]]
}

/// The rotation vector of a unit quaternion, of an angle up to π.
fn logarithm(r: [f64; 4]) -> V3 {
    let r = if r[0] < 0.0 { r.map(|x| -x) } else { r };
    let s = norm(&r[1..]);
    let scale = if s == 0.0 { 2.0 } else { 2.0 * s.atan2(r[0]) / s };
    [scale * r[1], scale * r[2], scale * r[3]]
}

fn cross(a: V3, b: V3) -> V3 {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// v + a w×v + b w×(w×v).
fn turned(w: V3, v: V3, a: f64, b: f64) -> V3 {
    let first = cross(w, v);
    let second = cross(w, first);
    std::array::from_fn(|i| v[i] + a * first[i] + b * second[i])
}

/// dexp_{−w} v: the angular velocity in body axes of a rotation vector w that changes by v.
fn velocity(w: V3, v: V3) -> V3 {
    let x = norm(&w);
    // Up to x = 1e-2 the series to x²: the next terms are below 1e-10.
    let (a, b) = if x < 1e-2 {
        (0.5 - x * x / 24.0, 1.0 / 6.0 - x * x / 120.0)
    } else {
        ((1.0 - x.cos()) / (x * x), (x - x.sin()) / (x * x * x))
    };
    turned(w, v, -a, b)
}

/// Its inverse.
fn rate(w: V3, v: V3) -> V3 {
    let x = norm(&w);
    let b = if x < 1e-2 { 1.0 / 12.0 + x * x / 720.0 } else { (1.0 - 0.5 * x / (0.5 * x).tan()) / (x * x) };
    turned(w, v, 0.5, b)
}

fn take(v: &[f64]) -> V3 {
    [v[0], v[1], v[2]]
}

impl System for ChartedBody {
    fn structure(&self) -> &Structure {
        &self.structure
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
    }
    fn kinematics(&self, _work: &Workspace, _t: f64, _q: &[f64], u: &[f64], qdot: &mut [f64]) {
        qdot[..6].copy_from_slice(u);
        qdot[6] = 0.0;
    }
    fn retract(&self, q0: &[f64], y: &mut [f64]) {
        let p = product(&q0[3..], exponential(take(&y[3..])));
        (0..3).for_each(|i| y[i] += q0[i]);
        y[3..].copy_from_slice(&p);
    }
    fn localise(&self, q0: &[f64], q: &mut [f64]) {
        let inverse = [q0[3], -q0[4], -q0[5], -q0[6]];
        let w = logarithm(product(&inverse, [q[3], q[4], q[5], q[6]]));
        (0..3).for_each(|i| q[i] -= q0[i]);
        q[3..6].copy_from_slice(&w);
        q[6] = 0.0;
    }
    fn local_rates(&self, y: &[f64], rates: &mut [f64]) {
        let turning = rate(take(&y[3..]), take(&rates[3..]));
        rates[3..6].copy_from_slice(&turning);
    }
    fn tangent(&self, _block: usize, y: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        for j in 0..3 {
            out[7 * j] = 1.0;
            let column = velocity(take(&y[3..]), std::array::from_fn(|i| f64::from(i == j)));
            (0..3).for_each(|i| out[6 * (3 + i) + 3 + j] = column[i]);
        }
    }
    fn potential(&self, work: &Workspace, i: usize, t: f64, q: &[f64]) -> f64 {
        self.inner.potential(work, i, t, q)
    }
    fn force_jacobian(&self, work: &Workspace, i: usize, t: f64, q: &[f64], u: &[f64], a: f64, b: f64, m: &mut Matrix) {
        self.inner.force_jacobian(work, i, t, q, u, a, b, m);
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
    }
    fn velocity_rate(&self, work: &Workspace, k: &Interaction, t: f64, q: &[f64], u: &[f64], out: &mut [f64]) {
        self.inner.velocity_rate(work, k, t, q, u, out);
    }
    fn normalise(&self, q: &mut [f64]) {
        self.inner.normalise(q);
    }
    fn derivatives(&self) -> Derivatives {
        Derivatives::Exact
    }
    fn name(&self, id: u64) -> String {
        self.inner.name(id)
    }
    fn probe(&self, work: &Workspace, t: f64, q: &[f64], u: &[f64]) -> Result<(), Violation> {
        System::probe(&self.inner, work, t, q, u)
    }
}
