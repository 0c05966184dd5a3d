//! Point masses with friction.

use nonsmooth::law::{ContactLaw, ElementLaw};
use nonsmooth::{Layout, Model, Scalar};

/// Studer's mass on a table (31): pulled by a constant force against a friction bound.
#[derive(Debug, Clone)]
pub struct PulledMass {
    /// Mass, kg.
    pub mass: f64,
    /// Pulling force, N.
    pub force: f64,
    /// Friction bound, N.
    pub bound: f64,
    /// Restitution ε of the element.
    pub e: f64,
}

impl Model for PulledMass {
    fn layout(&self) -> Layout {
        let law = ElementLaw { e: self.e, ..ElementLaw::bound(self.bound) };
        Layout::new(["x"]).constant_mass().force("pull").linear().element("friction", 1, law).linear()
    }
    fn mass<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], m: &mut [T]) {
        m[0] = T::from(self.mass);
    }
    fn force<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], _u: &[T], h: &mut [T]) {
        h[0] = T::from(self.force);
    }
    fn element<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], u: &[T], gamma: &mut [T]) {
        gamma[0] = u[0];
    }
}

/// A point mass (x, y, z) on a table that may move with constant velocity, spatial Coulomb friction.
#[derive(Debug, Clone)]
pub struct PointOnTable {
    /// Mass, kg.
    pub mass: f64,
    /// Gravity, m/s².
    pub g: f64,
    /// Contact law with slip dimension 2.
    pub law: ContactLaw,
    /// Velocity of the table, m/s: a moving obstacle where z ≠ 0.
    pub table: [f64; 3],
}

impl Model for PointOnTable {
    fn layout(&self) -> Layout {
        Layout::new(["x", "y", "z"])
            .constant_mass()
            .potential("gravity")
            .linear()
            .contact("table", self.law.clone())
            .moving()
            .linear()
    }
    fn mass<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], m: &mut [T]) {
        for k in 0..3 {
            m[4 * k] = T::from(self.mass);
        }
    }
    fn potential<T: Scalar>(&self, _i: usize, _t: T, q: &[T]) -> T {
        q[2] * (self.mass * self.g)
    }
    fn gap<T: Scalar>(&self, _i: usize, t: T, q: &[T]) -> T {
        q[2] - t * self.table[2]
    }
    fn slip<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], u: &[T], gamma: &mut [T]) {
        gamma[0] = u[0] - self.table[0];
        gamma[1] = u[1] - self.table[1];
    }
}
