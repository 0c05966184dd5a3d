//! A mass on a spring whose foot moves: a potential that depends on time.

use nonsmooth::{Layout, Model, Scalar};

/// Unit mass on a spring of stiffness `k` whose foot is at a·sin(Ωt): V = ½k(q − a sin Ωt)².
#[derive(Debug, Clone)]
pub struct DrivenSpring {
    /// Stiffness, N/m.
    pub k: f64,
    /// Amplitude a of the foot, m.
    pub amplitude: f64,
    /// Frequency Ω of the foot, rad/s; not √k (no resonance).
    pub frequency: f64,
}

impl Default for DrivenSpring {
    fn default() -> Self {
        Self { k: 4.0, amplitude: 0.5, frequency: 3.0 }
    }
}

impl Model for DrivenSpring {
    fn layout(&self) -> Layout {
        Layout::new(["q"]).constant_mass().potential("spring").linear()
    }
    fn mass<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], m: &mut [T]) {
        m[0] = T::from(1.0);
    }
    fn potential<T: Scalar>(&self, _i: usize, t: T, q: &[T]) -> T {
        let stretch = q[0] - (t * self.frequency).sin() * self.amplitude;
        stretch * stretch * (0.5 * self.k)
    }
}

impl DrivenSpring {
    /// Exact (q, v) at time t from (q0, v0) at time 0: q̈ + k q = k a sin Ωt.
    pub fn exact(&self, q0: f64, v0: f64, t: f64) -> (f64, f64) {
        let (omega, drive) = (self.k.sqrt(), self.frequency);
        let forced = self.k * self.amplitude / (self.k - drive * drive);
        let b = (v0 - forced * drive) / omega;
        let (s, c) = (omega * t).sin_cos();
        let (sd, cd) = (drive * t).sin_cos();
        (q0 * c + b * s + forced * sd, omega * (b * c - q0 * s) + forced * drive * cd)
    }
}
