//! Poses of the plane, their rates, and prescribed motions.

use super::plane::Vec2;
use crate::layout::{PLANAR_ANGLE, PLANAR_NQ, PLANAR_NU};
use std::fmt::Debug;

/// Position and angle of a body.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Pose {
    /// Centre of mass, m.
    pub centre: Vec2,
    /// Angle, rad.
    pub angle: f64,
}

/// Rate of a pose, or a displacement.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Twist {
    /// Velocity of the centre of mass, m/s.
    pub velocity: Vec2,
    /// Angular velocity, rad/s.
    pub spin: f64,
}

impl Pose {
    /// The pose with these coordinates.
    #[inline]
    pub(crate) fn of(q: &[f64]) -> Self {
        Self { centre: [q[0], q[1]], angle: q[PLANAR_ANGLE] }
    }

    /// Its coordinates.
    #[inline]
    pub(crate) fn coordinates(&self) -> [f64; PLANAR_NQ] {
        [self.centre[0], self.centre[1], self.angle]
    }
}

impl Twist {
    /// The twists of which one component is 1, in the order of the velocities.
    pub(crate) const UNITS: [Self; PLANAR_NU] = [
        Self { velocity: [1.0, 0.0], spin: 0.0 },
        Self { velocity: [0.0, 1.0], spin: 0.0 },
        Self { velocity: [0.0, 0.0], spin: 1.0 },
    ];

    /// The twist with these velocities.
    #[inline]
    pub(crate) fn of(u: &[f64]) -> Self {
        Self { velocity: [u[0], u[1]], spin: u[PLANAR_ANGLE] }
    }

    /// Its velocities.
    #[inline]
    pub(crate) fn components(&self) -> [f64; PLANAR_NU] {
        [self.velocity[0], self.velocity[1], self.spin]
    }
}

/// A prescribed motion: pose, velocity and acceleration at a time.
pub trait Motion: Debug + Send + Sync {
    /// Pose, velocity and acceleration at time `t` (s).
    fn at(&self, t: f64) -> (Pose, Twist, Twist);

    /// Whether the angle may change. A half-plane that rotates is tested against all bodies; one that only translates, against bodies
    /// nearby.
    fn turns(&self) -> bool {
        true
    }
}

/// Uniform motion: a rotating drum, a conveyor belt.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Uniform {
    /// Pose at t = 0.
    pub start: Pose,
    /// Its rate.
    pub rate: Twist,
}

impl Motion for Uniform {
    fn at(&self, t: f64) -> (Pose, Twist, Twist) {
        let (Pose { centre, angle }, Twist { velocity, spin }) = (self.start, self.rate);
        let centre = [centre[0] + t * velocity[0], centre[1] + t * velocity[1]];
        (Pose { centre, angle: angle + t * spin }, self.rate, Twist::default())
    }

    fn turns(&self) -> bool {
        self.rate.spin != 0.0
    }
}
