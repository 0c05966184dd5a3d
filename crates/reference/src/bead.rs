//! A bead on the parabola y = x²/2 in the coordinate x: a mass matrix that depends on q.
//!
//! Kinetic energy ½(ẋ² + ẏ²) = ½(1 + x²)ẋ² gives M = 1 + x² and the gyroscopic force −x ẋ².

use nonsmooth::law::ContactLaw;
use nonsmooth::{Layout, Model, Scalar};

/// A bead of unit mass that slides on y = x²/2, with a stop at x = `stop`.
#[derive(Debug, Clone)]
pub struct Bead {
    /// Gravity, m/s².
    pub g: f64,
    /// Restitution at the stop.
    pub e: f64,
    /// Position of the stop, m; the bead stays above it. −∞ for none.
    pub stop: f64,
}

impl Default for Bead {
    fn default() -> Self {
        Self { g: 9.81, e: 0.5, stop: f64::NEG_INFINITY }
    }
}

impl Model for Bead {
    fn layout(&self) -> Layout {
        let layout = Layout::new(["x"]).potential("gravity").force("gyroscopic");
        if self.stop.is_finite() { layout.contact("stop", ContactLaw::newton(self.e)).linear() } else { layout }
    }
    fn mass<T: Scalar>(&self, _i: usize, _t: T, q: &[T], m: &mut [T]) {
        m[0] = q[0] * q[0] + 1.0;
    }
    fn potential<T: Scalar>(&self, _i: usize, _t: T, q: &[T]) -> T {
        q[0] * q[0] * (0.5 * self.g)
    }
    fn force<T: Scalar>(&self, _i: usize, _t: T, q: &[T], u: &[T], h: &mut [T]) {
        h[0] = -(q[0] * u[0] * u[0]);
    }
    fn gap<T: Scalar>(&self, _i: usize, _t: T, q: &[T]) -> T {
        q[0] - self.stop
    }
}

impl Bead {
    /// Acceleration ẍ of the free bead, for reference integrations.
    pub fn acceleration(&self, x: f64, u: f64) -> f64 {
        -(x * u * u + self.g * x) / (1.0 + x * x)
    }
}
