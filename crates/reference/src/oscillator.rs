//! The impacting linear oscillator [Acary2013, Ex. 2]: m q̈ + c q̇ + k q = f(t), stop at q = `stop`.

use nonsmooth::law::ContactLaw;
use nonsmooth::{Layout, Model, Scalar};

/// A mass on spring and damper, with a rigid stop below.
#[derive(Debug, Clone)]
pub struct Oscillator {
    /// Mass, kg.
    pub mass: f64,
    /// Damping, N·s/m.
    pub c: f64,
    /// Stiffness, N/m.
    pub k: f64,
    /// Restitution at the stop.
    pub e: f64,
    /// Position of the stop, m; −∞ for none.
    pub stop: f64,
}

impl Default for Oscillator {
    fn default() -> Self {
        Self { mass: 1.0, c: 0.1, k: 1.0, e: 0.5, stop: 0.0 }
    }
}

impl Model for Oscillator {
    fn layout(&self) -> Layout {
        let layout = Layout::new(["q"]).constant_mass().potential("spring").linear().force("damper").linear();
        if self.stop.is_finite() { layout.contact("stop", ContactLaw::newton(self.e)).linear() } else { layout }
    }
    fn mass<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], m: &mut [T]) {
        m[0] = T::from(self.mass);
    }
    fn potential<T: Scalar>(&self, _i: usize, _t: T, q: &[T]) -> T {
        q[0] * q[0] * (0.5 * self.k)
    }
    fn force<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], u: &[T], h: &mut [T]) {
        h[0] = -(u[0] * self.c);
    }
    fn gap<T: Scalar>(&self, _i: usize, _t: T, q: &[T]) -> T {
        q[0] - self.stop
    }
}

impl Oscillator {
    /// Exact (q, v) through all impacts for a stop at 0, underdamped: arcs between zeros.
    ///
    /// From q = 0 with speed v₁ the arc is (v₁/ω) e^{−δs} sin ωs and ends after π/ω with speed −v₁ e^{−δπ/ω}.
    pub fn exact(&self, q0: f64, v0: f64, t: f64) -> (f64, f64) {
        let delta = 0.5 * self.c / self.mass;
        let omega = (self.k / self.mass - delta * delta).sqrt();
        // First zero of the free motion from (q0, v0): q = e^{−δt}(q0 cos ωt + b sin ωt).
        let b = (v0 + delta * q0) / omega;
        let mut first = (-q0).atan2(b) / omega;
        if first <= 0.0 {
            first += std::f64::consts::PI / omega;
        }
        if t < first || self.stop != 0.0 {
            return damped_free(delta, omega, q0, v0, t);
        }
        let mut start = first;
        let mut speed = -self.e * damped_free(delta, omega, q0, v0, first).1;
        let arc = std::f64::consts::PI / omega;
        while t >= start + arc {
            start += arc;
            speed *= self.e * (-delta * arc).exp();
        }
        damped_free(delta, omega, 0.0, speed, t - start)
    }
}

/// Free damped motion from (q0, v0) after time t, with decay rate δ and frequency ω.
pub fn damped_free(delta: f64, omega: f64, q0: f64, v0: f64, t: f64) -> (f64, f64) {
    let (s, c) = (omega * t).sin_cos();
    let b = (v0 + delta * q0) / omega;
    let d = (-delta * t).exp();
    (d * (q0 * c + b * s), d * ((b * omega - delta * q0) * c - (q0 * omega + delta * b) * s))
}
