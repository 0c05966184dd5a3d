//! A rigid body in space with a unit quaternion: seven coordinates, six velocities.

use nonsmooth::law::ContactLaw;
use nonsmooth::{Layout, Model, Scalar};

/// A rigid body with a spherical surface around its centre of mass, free or over the table z = 0.
///
/// Coordinates: position (x, y, z) and unit quaternion (p0, p1, p2, p3) from body to space; velocities: those of the
/// centre in space and the angular velocity in the body frame.
#[derive(Debug, Clone)]
pub struct RigidBody {
    /// Mass, kg.
    pub mass: f64,
    /// Principal moments of inertia, kg·m².
    pub inertia: [f64; 3],
    /// Gravity, m/s².
    pub g: f64,
    /// Radius of the surface, m.
    pub radius: f64,
    /// Law of the contact with the table, slip dimension 0 or 2; `None` is no table.
    pub law: Option<ContactLaw>,
}

impl RigidBody {
    /// A body of three different moments of inertia, without weight or table.
    pub fn free() -> Self {
        Self { mass: 2.0, inertia: [1.0, 2.0, 3.0], g: 0.0, radius: 0.1, law: None }
    }

    /// A homogeneous ball of 1 kg over a table.
    pub fn ball(radius: f64, law: ContactLaw) -> Self {
        let j = 0.4 * radius * radius;
        Self { mass: 1.0, inertia: [j; 3], g: 9.81, radius, law: Some(law) }
    }
}

/// The vector w of the body frame, in space. Divided by |p|², so that rounding of the norm does not scale it.
fn rotate<T: Scalar>(p: &[T], w: &[T]) -> [T; 3] {
    let (a, b, c, d) = (p[0], p[1], p[2], p[3]);
    let norm = a * a + b * b + c * c + d * d;
    let two = |x: T| x + x;
    [
        ((a * a + b * b - c * c - d * d) * w[0] + two(b * c - a * d) * w[1] + two(b * d + a * c) * w[2]) / norm,
        (two(b * c + a * d) * w[0] + (a * a - b * b + c * c - d * d) * w[1] + two(c * d - a * b) * w[2]) / norm,
        (two(b * d - a * c) * w[0] + two(c * d + a * b) * w[1] + (a * a - b * b - c * c + d * d) * w[2]) / norm,
    ]
}

impl Model for RigidBody {
    fn layout(&self) -> Layout {
        let layout = Layout::new(["x", "y", "z", "p0", "p1", "p2", "p3"])
            .velocities(["vx", "vy", "vz", "ox", "oy", "oz"])
            .kinematic_block([0, 1, 2], [0, 1, 2])
            .kinematic_block([3, 4, 5, 6], [3, 4, 5])
            .constant_mass()
            .mass_block("translation")
            .on([0, 1, 2])
            .mass_block("rotation")
            .on([3, 4, 5])
            .force("gyroscopic")
            .on([3, 4, 5, 6])
            .potential("gravity")
            .linear()
            .on([2]);
        match &self.law {
            Some(law) => layout.contact("table", law.clone()),
            None => layout,
        }
    }
    fn mass<T: Scalar>(&self, i: usize, _t: T, _q: &[T], m: &mut [T]) {
        for k in 0..3 {
            m[4 * k] = T::from(if i == 0 { self.mass } else { self.inertia[k] });
        }
    }
    fn kinematics<T: Scalar>(&self, i: usize, _t: T, q: &[T], u: &[T], qdot: &mut [T]) {
        if i == 0 {
            qdot.copy_from_slice(u);
            return;
        }
        // ṗ = ½ p ⊗ (0, ω).
        qdot[0] = (-(q[1] * u[0]) - q[2] * u[1] - q[3] * u[2]) * 0.5;
        qdot[1] = (q[0] * u[0] + q[2] * u[2] - q[3] * u[1]) * 0.5;
        qdot[2] = (q[0] * u[1] + q[3] * u[0] - q[1] * u[2]) * 0.5;
        qdot[3] = (q[0] * u[2] + q[1] * u[1] - q[2] * u[0]) * 0.5;
    }
    fn force<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], u: &[T], h: &mut [T]) {
        // −ω × Jω.
        let [a, b, c] = self.inertia;
        h[0] = u[1] * u[2] * (b - c);
        h[1] = u[2] * u[0] * (c - a);
        h[2] = u[0] * u[1] * (a - b);
    }
    fn potential<T: Scalar>(&self, _i: usize, _t: T, q: &[T]) -> T {
        q[0] * (self.mass * self.g)
    }
    fn gap<T: Scalar>(&self, _i: usize, _t: T, q: &[T]) -> T {
        q[2] - self.radius
    }
    fn slip<T: Scalar>(&self, _i: usize, _t: T, q: &[T], u: &[T], gamma: &mut [T]) {
        // v + ω × (0, 0, −radius) with ω in space.
        let w = rotate(&q[3..], &u[3..]);
        gamma[0] = u[0] - w[1] * self.radius;
        gamma[1] = u[1] + w[0] * self.radius;
    }
    fn normalise(&self, q: &mut [f64]) {
        let n = q[3..].iter().map(|x| x * x).sum::<f64>().sqrt();
        for x in &mut q[3..] {
            *x /= n;
        }
    }
}
