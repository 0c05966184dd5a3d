//! The certificate of a step: the scheme's full discrete system, re-evaluated at the accepted state.

use crate::contract::{Candidates, Evaluator, Kind};
use crate::state::bytes;

/// Residuals of a step and violations at its end. All are zero for a perfect step.
#[derive(Debug, Clone, Copy, PartialEq, Default, serde::Serialize)]
pub struct Certificate {
    /// Equation of motion: largest entry of M Δu − dt h − W P, relative to its largest term.
    pub dynamics: f64,
    /// Kinematics: largest entry of Δq − dt q̇, relative to 1 + max|q|.
    pub kinematics: f64,
    /// Laws: largest entry of the natural map P − proj(P − ξ), relative to the largest |P|, |γ|.
    pub law: f64,
    /// Deepest penetration at the end, m.
    pub penetration: f64,
    /// Largest violation of ξ_N ≥ 0 at an active contact, m/s.
    pub gap_velocity: f64,
    /// Largest |g| of a joint.
    pub joint_violation: f64,
    /// Largest distance of a contact percussion from its cone, N·s.
    pub cone: f64,
    /// Largest multiplier |τ| of a projection of the position within the step. A measure of the correction, not a defect.
    pub multiplier: f64,
    /// Index of the interaction that best explains `dynamics`.
    pub dynamics_culprit: Option<usize>,
    /// Index of the interaction with the largest `law`.
    pub law_culprit: Option<usize>,
    /// Index of the contact that penetrates most.
    pub penetration_culprit: Option<usize>,
    /// Index of the joint with the largest violation.
    pub joint_culprit: Option<usize>,
}

impl Certificate {
    /// A certificate without any defect.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// The largest residual of dynamics, kinematics and laws; NaN if one of them is.
    pub fn residual(&self) -> f64 {
        let mut worst = self.dynamics;
        for v in [self.kinematics, self.law] {
            if !(v <= worst) {
                worst = v;
            }
        }
        worst
    }

    /// The interaction that explains the largest residual: of the dynamics if they are worse than the laws, else of the laws.
    pub fn culprit(&self) -> Option<usize> {
        if self.law <= self.dynamics { self.dynamics_culprit } else { self.law_culprit }
    }

    /// Gaps and joints at (t,q), over all candidates.
    pub(crate) fn geometry(&mut self, system: &Evaluator, t: f64, q: &[f64], candidates: &Candidates) {
        let mut few = [0.0; 8];
        let mut many = Vec::new();
        for (i, k) in candidates.items().iter().enumerate() {
            let n = k.position_dim();
            if n == 0 {
                continue;
            }
            let g = if n <= few.len() {
                &mut few[..n]
            } else {
                many.resize(n, 0.0);
                &mut many[..n]
            };
            system.position(k, t, q, g);
            if k.kind == Kind::Contact {
                if !(-g[0] <= self.penetration) {
                    self.penetration = -g[0];
                    self.penetration_culprit = Some(i);
                }
            } else {
                for v in g.iter() {
                    if !(v.abs() <= self.joint_violation) {
                        self.joint_violation = v.abs();
                        self.joint_culprit = Some(i);
                    }
                }
            }
        }
    }

    /// Keeps the worse value of each kind.
    pub(crate) fn worsen(&mut self, other: &Certificate) {
        fn max(a: &mut f64, b: f64) -> bool {
            let worse = !(b <= *a);
            if worse {
                *a = b;
            }
            worse
        }
        if max(&mut self.dynamics, other.dynamics) {
            self.dynamics_culprit = other.dynamics_culprit;
        }
        max(&mut self.kinematics, other.kinematics);
        if max(&mut self.law, other.law) {
            self.law_culprit = other.law_culprit;
        }
        if max(&mut self.penetration, other.penetration) {
            self.penetration_culprit = other.penetration_culprit;
        }
        max(&mut self.gap_velocity, other.gap_velocity);
        if max(&mut self.joint_violation, other.joint_violation) {
            self.joint_culprit = other.joint_culprit;
        }
        max(&mut self.cone, other.cone);
        max(&mut self.multiplier, other.multiplier);
    }
}

bytes!(Certificate {
    dynamics,
    kinematics,
    law,
    penetration,
    gap_velocity,
    joint_violation,
    cone,
    multiplier,
    dynamics_culprit,
    law_culprit,
    penetration_culprit,
    joint_culprit,
});
