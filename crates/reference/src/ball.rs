//! The bouncing ball [Acary2013, Ex. 1], [Schindler2014, 4.4]: force −2, e = 1/2, q₀ = 1.

use nonsmooth::law::ContactLaw;
use nonsmooth::{Layout, Model, Scalar};

/// A ball of mass `m` under a constant force, above the ground q = 0.
#[derive(Debug, Clone)]
pub struct Ball {
    /// Mass, kg.
    pub mass: f64,
    /// Weight, N (downwards).
    pub weight: f64,
    /// Restitution.
    pub e: f64,
}

impl Default for Ball {
    fn default() -> Self {
        Self { mass: 1.0, weight: 2.0, e: 0.5 }
    }
}

impl Model for Ball {
    fn layout(&self) -> Layout {
        Layout::new(["q"])
            .constant_mass()
            .potential("weight")
            .linear()
            .contact("ground", ContactLaw::newton(self.e))
            .linear()
    }
    fn mass<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], m: &mut [T]) {
        m[0] = T::from(self.mass);
    }
    fn potential<T: Scalar>(&self, _i: usize, _t: T, q: &[T]) -> T {
        q[0] * self.weight
    }
    fn gap<T: Scalar>(&self, _i: usize, _t: T, q: &[T]) -> T {
        q[0]
    }
}

/// Exact (q, v) of the ball with m = 1, weight 2, e = 1/2, q₀ = 1, v₀ = 0, for all t ≥ 0.
///
/// First impact at t = 1 with v⁻ = −2; bounce k ≥ 1 starts at t_k = 3 − 2^(2−k) with v = 2^(1−k)
/// and lasts 2^(1−k). The impacts accumulate at t = 3; afterwards the ball rests.
pub fn zeno(t: f64) -> (f64, f64) {
    if t < 1.0 {
        return (1.0 - t * t, -2.0 * t);
    }
    let (mut start, mut speed) = (1.0, 1.0);
    while start < 3.0 && speed > 0.0 {
        if t < start + speed {
            let s = t - start;
            return (speed * s - s * s, speed - 2.0 * s);
        }
        start += speed;
        speed *= 0.5;
        if speed < 1e-300 {
            break;
        }
    }
    (0.0, 0.0)
}
