//! A θ-method with the gaps on position level and no impact law: a contrast [Acary2013, 6.2, Fig. 11].
//!
//! With t_θ, q_θ, u_θ as in Moreau-Jean's scheme:
//!
//! ```text
//! M(t_θ,q_θ)(u_{k+1} − u_k) = dt h(t_θ,q_θ,u_θ) + Σ W_N(t_{k+1},q_{k+1}) P
//! q_{k+1} = q_k + dt u_θ
//! 0 ≤ g_N(t_{k+1},q_{k+1}) ⊥ P ≥ 0
//! ```
//!
//! For θ = ½ this is the trapezoidal rule that structural dynamics would use. Gaps hold at every grid point, but nothing holds the gap velocity: while a
//! contact is closed, g_{k+1} = g_k = 0 asks for ġ_θ = 0, so that ġ_{k+1} = −ġ_k (1−θ)/θ. At θ = ½ it flips in every step for as long as the contact lasts,
//! and the percussions with it; at θ = 1 it is zero from the second step on. The projected schemes hold both levels.
//!
//! Limits: contacts without friction and restitution, q̇ = u, θ > 0. Order 2 on smooth motion at θ = ½, else 1; none in u while a contact is closed at θ = ½.

use super::option::{Declared, number};
use super::settings::{OptionInfo, Settings, SettingsError};
use super::theta_step::{Begin, DirectionRule, ForceRule, Level, NEWTON_TOL, Positions, ThetaOptions, ThetaStep};
use super::{Examination, Failure, Order, Scheme, SchemeInfo, Solve};
use super::{ProjectedStep, ThetaMemory};
use crate::contract::{Evaluator, Feature, Features};
use crate::state::{Record, State, Step};
use complementarity::FullProblem;

const THETA: Declared<f64> =
    number("theta", 0.5, [0.1, 1.0], "", "implicitness: 1/2 the trapezoidal rule, 1 fully implicit");
const OPTIONS: &[OptionInfo] = &[THETA.info, NEWTON_TOL.info];

pub(super) static INFO: SchemeInfo = SchemeInfo {
    name: "position-theta",
    summary: "theta method with gaps on position level and no impact law, a contrast: gap velocities flip in every step",
    reference: "Acary2013, 6.2, Fig. 11",
    position_level: true,
    impact_steps: 1,
    looks_ahead: false,
    adaptive: false,
    variable_step: true,
    stages: 1,
    supports: Features::of(&[Feature::Moving]),
    options: OPTIONS,
    make: |s: &Settings| -> Result<Box<dyn Scheme>, SettingsError> {
        Ok(Box::new(PositionTheta::new(THETA.read(s)?, NEWTON_TOL.read(s)?)))
    },
};

/// The θ-method on position level. See the [module](self).
pub struct PositionTheta {
    theta: f64,
    step: ThetaStep,
}

impl PositionTheta {
    /// With θ in (0, 1] and the relative residual at which Newton's method stops.
    pub fn new(theta: f64, newton_tol: f64) -> Self {
        let options = ThetaOptions {
            theta,
            force: ForceRule::Theta,
            directions: DirectionRule::End,
            level: Level::Position,
            newton_tol,
        };
        Self { theta, step: ThetaStep::new(options) }
    }
}

impl Scheme for PositionTheta {
    fn info(&self) -> &'static SchemeInfo {
        &INFO
    }

    fn order(&self) -> Order {
        Order { smooth: if self.theta == 0.5 { 2 } else { 1 }, impacts: 1 }
    }

    fn step(
        &mut self,
        system: &Evaluator,
        start: &State,
        dt: f64,
        solve: &mut Solve,
        out: &mut Step,
    ) -> Result<(), Failure> {
        self.step.begin(system, start, dt, out)?;
        self.step.activate_all(system, start, out);
        self.step.newton(system, start, solve, out, Positions::Integrated, Begin::Anew)?;
        self.step.finish(system, start, out)
    }

    fn examine(&mut self, system: &Evaluator, start: &State, step: &Step, asked: Examination) {
        self.step.examine(system, start, step, None, asked);
    }

    fn records(&self) -> Vec<Box<dyn Record>> {
        vec![Box::<ThetaMemory>::default(), Box::<ProjectedStep>::default()]
    }

    fn last_problem(&self) -> Option<&FullProblem> {
        self.step.work.as_ref().map(|w| &w.full)
    }
}
