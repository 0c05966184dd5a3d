//! The mathematical pendulum in its angle: smooth and nonlinear, mass constant, force h(q).

use nonsmooth::{Layout, Model, Scalar};

/// A point mass 1 kg on a rod of length 1 m; `phi` is measured from the downward vertical.
#[derive(Debug, Clone)]
pub struct Swing {
    /// Gravity, m/s².
    pub g: f64,
    /// Damping torque per angular velocity, N·m·s.
    pub damping: f64,
}

impl Default for Swing {
    fn default() -> Self {
        Self { g: 9.81, damping: 0.0 }
    }
}

impl Model for Swing {
    fn layout(&self) -> Layout {
        let layout = Layout::new(["phi"]).constant_mass().potential("gravity");
        if self.damping > 0.0 { layout.force("damper").linear() } else { layout }
    }
    fn mass<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], m: &mut [T]) {
        m[0] = T::from(1.0);
    }
    fn potential<T: Scalar>(&self, _i: usize, _t: T, q: &[T]) -> T {
        -(q[0].cos() * self.g)
    }
    fn force<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], u: &[T], h: &mut [T]) {
        h[0] = -(u[0] * self.damping);
    }
}

impl Swing {
    /// Angular acceleration, for reference integrations.
    pub fn acceleration(&self, phi: f64, u: f64) -> f64 {
        -self.g * phi.sin() - self.damping * u
    }
}
