//! How far an iterate is from solving its stage, and when that is near enough.

use super::{NewtonNorm, RattleOptions};

/// Gaps, joints and kinematics are held to this part of the tolerance, relative to 1 + max|q|.
const FINE: f64 = 1e-3;
/// Rounding of a coordinate or a velocity: a few units in the last place.
const ROUNDING: f64 = 16.0 * f64::EPSILON;

/// Residuals of a stage by kind, with the sizes that they are relative to.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Misfit {
    /// Equation of motion, N·s, beyond rounding.
    pub(super) dynamics: f64,
    /// Largest of its terms.
    pub(super) momentum: f64,
    /// Kinematics, in units of q.
    pub(super) kinematics: f64,
    /// Gaps of closed contacts and joints, m.
    pub(super) position: f64,
    /// Velocities that must vanish, m/s.
    pub(super) velocity: f64,
    /// Percussions that are given by others, N·s.
    pub(super) percussion: f64,
    /// Largest |q|, |v|, |P|.
    pub(super) q: f64,
    pub(super) v: f64,
    pub(super) p: f64,
}

impl Misfit {
    /// Takes note of a row of the laws.
    #[inline]
    pub(super) fn law(&mut self, f: f64, constrained: bool, position: Option<f64>) {
        let kind = match (constrained, position) {
            (true, Some(dt)) => {
                worsen(&mut self.position, dt * f);
                return;
            }
            (true, None) => &mut self.velocity,
            (false, _) => &mut self.percussion,
        };
        worsen(kind, f);
    }

    /// The largest residual as the options measure it, in terms of the tolerance: solved where it is at most one.
    pub(super) fn measure(&self, o: &RattleOptions) -> f64 {
        let all = [self.dynamics, self.kinematics, self.position, self.velocity, self.percussion];
        if all.iter().any(|v| v.is_nan()) {
            return f64::NAN;
        }
        match o.newton_norm {
            NewtonNorm::Absolute => all.iter().fold(0.0, |m: f64, v| m.max(*v)) / o.newton_tol,
            NewtonNorm::Scaled => {
                let tol = o.newton_tol;
                let length = 1.0 + self.q;
                let fine = (FINE * tol).max(ROUNDING) * length;
                // As the certificate has it: a body at rest has no speed to compare with, but percussions.
                let velocity = (tol * self.v.max(self.p)).max(ROUNDING * (1.0 + self.v));
                let momentum = self.momentum.max(self.p).max(f64::MIN_POSITIVE);
                let limits = [tol * momentum, fine, fine, velocity, tol * momentum];
                all.iter().zip(limits).fold(0.0, |m: f64, (v, limit)| if *v <= m * limit { m } else { v / limit })
            }
        }
    }
}

#[inline]
pub(super) fn worsen(worst: &mut f64, v: f64) {
    if !(v.abs() <= *worst) {
        *worst = v.abs();
    }
}
