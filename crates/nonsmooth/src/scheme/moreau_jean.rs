//! The Moreau-Jean scheme [Acary2013, (18)], θ ∈ [0, 1], and its variant with trapezoidal forces
//! [Schindler2014, Alg. 1.4].
//!
//! With t_θ = t_k + θ dt, q_θ = (1−θ) q_k + θ q_{k+1}, u_θ = (1−θ) u_k + θ u_{k+1}:
//!
//! ```text
//! M(t_θ,q_θ)(u_{k+1} − u_k) = dt h(t_θ,q_θ,u_θ) + Σ W̄ P
//! q_{k+1} = q_k + dt (B(t_θ,q_θ) u_θ + β(t_θ,q_θ))
//! −(γ⁺ + e γ⁻) ∈ N_Â(P)     for active interactions
//! ```
//!
//! `directions = "theta"` takes W̄ = (1−θ) W_k + θ W_{k+1} for P and for both velocities (`velocity_level/between.rs`); `"end"` is (18a) as printed: W̄ = W_{k+1},
//! γ⁺ = γ(t_{k+1},q_{k+1},u_{k+1}) and γ⁻ = γ(t_k,q_k,u_k).
//!
//! Joints and elements are always active, a contact if its forecast ḡ ≤ 0, explicit (61) or free (62). `force = "trapezoid"` weights the forces
//! of both ends. The step, its Newton iteration and the forecasts stand in `theta_step.rs`.
//!
//! Order 2 on smooth motion for θ = 1/2, else 1, with joints and frictionless contacts that turn and stay closed too; order 1 through impacts, where the slip of friction
//! turns, and, with `directions = "end"`, wherever a constraint turns. Velocity level: a contact that closes penetrates by O(dt), and nonlinear constraints
//! drift by O(dt²) (see `stabilise`). A step that passes through a contact is refused.

use super::ThetaMemory;
use super::settings::{OptionInfo, Settings, SettingsError};
use super::symmetry::directions_stay;
use super::theta_step::{
    Begin, DIRECTIONS, DirectionRule, FORCE, FORECAST, ForceRule, Forecast, GAMMA, Level, NEWTON_TOL, Positions, THETA,
    ThetaOptions, ThetaStep, forecast_from,
};
use super::velocity_level::{ACTIVATION, SUPPORTS};
use super::{Examination, Failure, Order, Scheme, SchemeInfo, Solve};
use crate::contract::Evaluator;
use crate::state::{Record, State, Step};
use complementarity::FullProblem;

const OPTIONS: &[OptionInfo] = &[THETA.info, FORECAST.info, GAMMA.info, FORCE.info, DIRECTIONS.info, NEWTON_TOL.info];

pub(super) static INFO: SchemeInfo = SchemeInfo {
    name: "moreau-jean",
    summary: "Moreau-Jean theta scheme: velocity level, implicit forces by Newton",
    reference: "Acary2013, (18); Schindler2014, Alg. 1.4",
    position_level: false,
    impact_steps: 1,
    looks_ahead: false,
    adaptive: false,
    variable_step: true,
    stages: 1,
    supports: SUPPORTS,
    options: OPTIONS,
    make: |s| Ok(Box::new(MoreauJean::new(MoreauJeanOptions::from_settings(s)?))),
};

/// Options of [`MoreauJean`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MoreauJeanOptions {
    /// θ, 0 to 1.
    pub theta: f64,
    /// Forecast of closing contacts.
    pub forecast: Forecast,
    /// Where forces are evaluated.
    pub force: ForceRule,
    /// Where directions of percussions are taken.
    pub directions: DirectionRule,
    /// Relative residual at which Newton's method stops.
    pub newton_tol: f64,
}

impl Default for MoreauJeanOptions {
    fn default() -> Self {
        let forecast = Forecast::Explicit { gamma: GAMMA.default };
        let (force, directions) = (FORCE.default, DIRECTIONS.default);
        Self { theta: THETA.default, forecast, force, directions, newton_tol: NEWTON_TOL.default }
    }
}

impl MoreauJeanOptions {
    /// From settings, checked.
    fn from_settings(s: &Settings) -> Result<Self, SettingsError> {
        let (forecast, force, directions) = (forecast_from(s)?, FORCE.read(s)?, DIRECTIONS.read(s)?);
        Ok(Self { theta: THETA.read(s)?, forecast, force, directions, newton_tol: NEWTON_TOL.read(s)? })
    }
}

/// The Moreau-Jean scheme. See the [module](self).
pub struct MoreauJean {
    options: MoreauJeanOptions,
    step: ThetaStep,
}

impl MoreauJean {
    /// With given options; panics never, wrong ranges are refused by [`super::make`].
    pub fn new(options: MoreauJeanOptions) -> Self {
        let MoreauJeanOptions { theta, force, directions, newton_tol, .. } = options;
        let step = ThetaOptions { theta, force, directions, level: Level::Velocity, newton_tol };
        Self { options, step: ThetaStep::new(step) }
    }

    /// The options.
    pub fn options(&self) -> &MoreauJeanOptions {
        &self.options
    }
}

impl Scheme for MoreauJean {
    fn info(&self) -> &'static SchemeInfo {
        &INFO
    }

    fn order(&self) -> Order {
        Order { smooth: if self.options.theta == 0.5 { 2 } else { 1 }, impacts: 1 }
    }

    /// With θ = 1/2: a step back from its end leads to its start.
    fn is_even(&mut self, _system: &Evaluator, _start: &State, step: &Step) -> bool {
        self.options.theta == 0.5 && directions_stay(step)
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
        self.step.activate(system, start, self.options.forecast, ACTIVATION, solve, out)?;
        self.step.newton(system, start, solve, out, Positions::Integrated, Begin::Anew)?;
        self.step.finish(system, start, out)
    }

    fn examine(&mut self, system: &Evaluator, start: &State, step: &Step, asked: Examination) {
        self.step.examine(system, start, step, None, asked);
    }

    fn records(&self) -> Vec<Box<dyn Record>> {
        vec![Box::<ThetaMemory>::default()]
    }

    fn last_problem(&self) -> Option<&FullProblem> {
        self.step.work.as_ref().map(|w| &w.full)
    }
}
