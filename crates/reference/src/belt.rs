//! A mass on a spring, its velocity measured from a belt that runs: q̇ = u + β.

use nonsmooth::law::ContactLaw;
use nonsmooth::{Layout, Model, Scalar};

/// A unit mass at the fixed position q = x on a belt of constant speed; u is its velocity relative to the belt.
///
/// A spring holds it to the ground, a normal force of 1 N presses it (through y ≥ 0) on the belt, which rubs.
#[derive(Debug, Clone)]
pub struct Belt {
    /// Speed of the belt, m/s: β of the first coordinate.
    pub speed: f64,
    /// Stiffness of the spring, N/m.
    pub k: f64,
    /// Friction coefficient between mass and belt.
    pub mu: f64,
}

impl Default for Belt {
    fn default() -> Self {
        Self { speed: 0.5, k: 2.0, mu: 0.4 }
    }
}

impl Model for Belt {
    fn layout(&self) -> Layout {
        Layout::new(["x", "y"])
            .velocities(["slip", "lift"])
            .kinematic_block([0, 1], [0, 1])
            .constant_mass()
            .potential("spring")
            .potential("weight")
            .contact("belt", ContactLaw::newton(0.0).coulomb(1, self.mu))
    }
    fn mass<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], m: &mut [T]) {
        m[0] = T::from(1.0);
        m[3] = T::from(1.0);
    }
    fn kinematics<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], u: &[T], qdot: &mut [T]) {
        qdot[0] = u[0] + self.speed;
        qdot[1] = u[1];
    }
    fn potential<T: Scalar>(&self, i: usize, _t: T, q: &[T]) -> T {
        if i == 0 { q[0] * q[0] * (0.5 * self.k) } else { q[1] }
    }
    fn gap<T: Scalar>(&self, _i: usize, _t: T, q: &[T]) -> T {
        q[1]
    }
    fn slip<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], u: &[T], gamma: &mut [T]) {
        gamma[0] = u[0];
    }
}
