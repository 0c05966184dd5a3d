//! The symmetric top with a unit quaternion: four coordinates, three velocities, q̇ = B(q) u.

use nonsmooth::{Layout, Model, Scalar};

/// A symmetric rigid body that turns about a fixed point. Coordinates: unit quaternion (w, x, y, z) from body to
/// space; velocities: angular velocity in the body frame. The body's third axis is the axis of symmetry.
#[derive(Debug, Clone)]
pub struct Top {
    /// Moment of inertia about the two equal axes, kg·m².
    pub a: f64,
    /// Moment of inertia about the axis of symmetry, kg·m².
    pub c: f64,
    /// Weight times distance of the centre of mass from the fixed point, N·m; 0 for free rotation.
    pub moment: f64,
}

impl Default for Top {
    fn default() -> Self {
        Self { a: 2.0, c: 1.0, moment: 0.0 }
    }
}

impl Model for Top {
    fn layout(&self) -> Layout {
        Layout::new(["w", "x", "y", "z"])
            .velocities(["o1", "o2", "o3"])
            .kinematic_block(0..4, 0..3)
            .constant_mass()
            .potential("weight")
            .force("gyroscopic")
    }
    fn mass<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], m: &mut [T]) {
        m[0] = T::from(self.a);
        m[4] = T::from(self.a);
        m[8] = T::from(self.c);
    }
    fn kinematics<T: Scalar>(&self, _i: usize, _t: T, q: &[T], u: &[T], qdot: &mut [T]) {
        // q̇ = ½ q ⊗ (0, ω).
        qdot[0] = (-(q[1] * u[0]) - q[2] * u[1] - q[3] * u[2]) * 0.5;
        qdot[1] = (q[0] * u[0] + q[2] * u[2] - q[3] * u[1]) * 0.5;
        qdot[2] = (q[0] * u[1] + q[3] * u[0] - q[1] * u[2]) * 0.5;
        qdot[3] = (q[0] * u[2] + q[1] * u[1] - q[2] * u[0]) * 0.5;
    }
    fn potential<T: Scalar>(&self, _i: usize, _t: T, q: &[T]) -> T {
        // Height of the axis of symmetry: R₃₃, homogeneous in q.
        (q[0] * q[0] - q[1] * q[1] - q[2] * q[2] + q[3] * q[3]) * self.moment
    }
    fn force<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], u: &[T], h: &mut [T]) {
        // −ω × Iω.
        h[0] = u[1] * u[2] * (self.a - self.c);
        h[1] = u[0] * u[2] * (self.c - self.a);
        h[2] = T::from(0.0);
    }
    fn normalise(&self, q: &mut [f64]) {
        let n = q.iter().map(|x| x * x).sum::<f64>().sqrt();
        for x in q {
            *x /= n;
        }
    }
}

fn product(p: [f64; 4], q: [f64; 4]) -> [f64; 4] {
    [
        p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3],
        p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2],
        p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1],
        p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0],
    ]
}

impl Top {
    /// Exact (quaternion, angular velocity) of the free top (`moment` = 0) at time t, from the unit quaternion
    /// (1, 0, 0, 0) and the angular velocity (o1, 0, o3). The axis precesses about the angular momentum
    /// (a·o1, 0, c·o3) at the rate |L|/a, and the body turns about its axis at (1 − c/a)·o3.
    pub fn exact(&self, o1: f64, o3: f64, t: f64) -> ([f64; 4], [f64; 3]) {
        let momentum = [self.a * o1, 0.0, self.c * o3];
        let size = momentum.iter().map(|x| x * x).sum::<f64>().sqrt();
        let spin = (1.0 - self.c / self.a) * o3;
        let (s, c) = (0.5 * size / self.a * t).sin_cos();
        let precession = [c, s * momentum[0] / size, 0.0, s * momentum[2] / size];
        let (s, c) = (0.5 * spin * t).sin_cos();
        let (sw, cw) = (spin * t).sin_cos();
        (product(precession, [c, 0.0, 0.0, s]), [o1 * cw, -o1 * sw, o3])
    }
}
