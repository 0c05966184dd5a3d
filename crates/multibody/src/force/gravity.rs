//! Gravity: h = m g on every body that moves by forces, V = −Σ m g·c, zero at the origin.

use crate::planar::bodies::Bodies;
use crate::planar::plane::{Vec2, dot};

/// Gravity.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Gravity {
    /// m/s².
    pub(crate) acceleration: Vec2,
}

impl Gravity {
    /// Adds h.
    pub(crate) fn add_force(&self, bodies: &Bodies, h: &mut [f64]) {
        for (body, first) in bodies.free() {
            for (h, g) in h[first.u()..].iter_mut().zip(&self.acceleration) {
                *h += body.mass * g;
            }
        }
    }

    /// V.
    pub(crate) fn potential(&self, bodies: &Bodies, t: f64, q: &[f64]) -> f64 {
        -bodies.free().fold(0.0, |sum, (body, _)| sum + body.mass * dot(self.acceleration, body.pose(t, q).centre))
    }
}
