//! Poses of the plane, their rates, and prescribed motions.

use super::plane::Vec2;
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

/// A motion that is prescribed: pose, velocity and acceleration at a time.
pub trait Motion: Debug + Send + Sync {
    /// Pose, its rate, and the rate of that, at time `t` (s).
    fn at(&self, t: f64) -> (Pose, Twist, Twist);

    /// Whether the angle may change. A half-plane that turns sweeps everything and is held against all bodies; one that only
    /// shifts, against those that are near.
    fn turns(&self) -> bool {
        true
    }
}

/// Uniform motion: a drum that turns, a belt that runs.
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
