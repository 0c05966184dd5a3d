//! Free flight under a force that grows exponentially [Schindler2014, Problem 4.2 with f = −10 exp t].

use nonsmooth::{Layout, Model, Scalar};

/// A unit mass under the force −`pull`·exp(t), without any contact: no quadrature rule integrates it exactly.
#[derive(Debug, Clone)]
pub struct Flight {
    /// Force at t = 0, N (downwards).
    pub pull: f64,
}

impl Default for Flight {
    fn default() -> Self {
        Self { pull: 10.0 }
    }
}

impl Model for Flight {
    fn layout(&self) -> Layout {
        Layout::new(["q"]).constant_mass().force("pull").linear()
    }
    fn mass<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], m: &mut [T]) {
        m[0] = T::from(1.0);
    }
    fn force<T: Scalar>(&self, _i: usize, t: T, _q: &[T], _u: &[T], h: &mut [T]) {
        h[0] = t.exp() * -self.pull;
    }
}

impl Flight {
    /// Exact (q, v) at time t from (q0, v0) at time 0.
    pub fn exact(&self, q0: f64, v0: f64, t: f64) -> (f64, f64) {
        let grown = t.exp_m1();
        (q0 + v0 * t - self.pull * (grown - t), v0 - self.pull * grown)
    }
}
