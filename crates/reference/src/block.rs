//! Planar blocks: two corners on the ground, and a point contact on an incline.

use nonsmooth::law::ContactLaw;
use nonsmooth::{Layout, Model, Scalar};

/// A planar block (x, y, theta) over flat ground, contacts at its two lower corners.
#[derive(Debug, Clone)]
pub struct Block {
    /// Half width, m.
    pub a: f64,
    /// Half height, m.
    pub b: f64,
    /// Mass, kg.
    pub mass: f64,
    /// Gravity, m/s².
    pub g: f64,
    /// Friction coefficient; `None` is frictionless.
    pub mu: Option<f64>,
    /// Restitution.
    pub e: f64,
    /// Slope angle of the ground, rad: gravity is turned, the ground stays y = 0.
    pub slope: f64,
    /// Corners linearised in theta (as packaged peers do), or exact.
    pub linearised: bool,
}

impl Default for Block {
    fn default() -> Self {
        Self { a: 0.5, b: 0.25, mass: 1.0, g: 9.81, mu: None, e: 0.0, slope: 0.0, linearised: false }
    }
}

impl Block {
    /// Moment of inertia of the homogeneous block, kg·m².
    pub fn inertia(&self) -> f64 {
        self.mass * (self.a * self.a + self.b * self.b) / 3.0
    }

    fn law(&self) -> ContactLaw {
        let law = ContactLaw::newton(self.e);
        match self.mu {
            Some(mu) => law.coulomb(1, mu),
            None => law,
        }
    }
}

impl Model for Block {
    fn layout(&self) -> Layout {
        let layout = Layout::new(["x", "y", "theta"]).constant_mass().potential("gravity").linear();
        ["left", "right"].into_iter().fold(layout, |l, name| {
            let l = l.contact(name, self.law());
            if self.linearised { l.linear() } else { l }
        })
    }
    fn mass<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], m: &mut [T]) {
        m[0] = T::from(self.mass);
        m[4] = T::from(self.mass);
        m[8] = T::from(self.inertia());
    }
    fn potential<T: Scalar>(&self, _i: usize, _t: T, q: &[T]) -> T {
        let w = self.mass * self.g;
        q[1] * (w * self.slope.cos()) - q[0] * (w * self.slope.sin())
    }
    fn gap<T: Scalar>(&self, i: usize, _t: T, q: &[T]) -> T {
        let side = if i == 0 { -self.a } else { self.a };
        if self.linearised { q[1] + q[2] * side - self.b } else { q[1] + q[2].sin() * side - q[2].cos() * self.b }
    }
    fn slip<T: Scalar>(&self, i: usize, _t: T, q: &[T], u: &[T], gamma: &mut [T]) {
        let side = if i == 0 { -self.a } else { self.a };
        gamma[0] = if self.linearised {
            u[0] + u[2] * self.b
        } else {
            // Horizontal velocity of the corner (side cos θ + b sin θ, side sin θ − b cos θ).
            u[0] + u[2] * (q[2].cos() * self.b - q[2].sin() * side)
        };
    }
}

/// A point mass (x along the slope, y normal to it) on an incline with friction.
#[derive(Debug, Clone)]
pub struct Incline {
    /// Slope angle, rad.
    pub slope: f64,
    /// Friction coefficient.
    pub mu: f64,
    /// Mass, kg.
    pub mass: f64,
    /// Gravity, m/s².
    pub g: f64,
}

impl Model for Incline {
    fn layout(&self) -> Layout {
        Layout::new(["x", "y"])
            .constant_mass()
            .potential("gravity")
            .linear()
            .contact("slope", ContactLaw::newton(0.0).coulomb(1, self.mu))
            .linear()
    }
    fn mass<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], m: &mut [T]) {
        m[0] = T::from(self.mass);
        m[3] = T::from(self.mass);
    }
    fn potential<T: Scalar>(&self, _i: usize, _t: T, q: &[T]) -> T {
        let w = self.mass * self.g;
        q[1] * (w * self.slope.cos()) - q[0] * (w * self.slope.sin())
    }
    fn gap<T: Scalar>(&self, _i: usize, _t: T, q: &[T]) -> T {
        q[1]
    }
    fn slip<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], u: &[T], gamma: &mut [T]) {
        gamma[0] = u[0];
    }
}
