//! The direct projected scheme [Acary2013, (28), Algorithm 1]: Moreau-Jean's scheme with the Gear-Gupta-Leimkuhler projection.
//!
//! With t_θ = t_k + θ dt, q_θ = (1−θ) q_k + θ q_{k+1}, u_θ = (1−θ) u_k + θ u_{k+1}:
//!
//! ```text
//! M(t_θ,q_θ)(u_{k+1} − u_k) = dt h(t_θ,q_θ,u_θ) + Σ W̄ P
//! q_{k+1} = q_k + dt (B(t_θ,q_θ) u_θ + β(t_θ,q_θ)) + B N Σ G(t_{k+1},q_{k+1}) τ
//! −(γ⁺ + e γ⁻) ∈ N_Â(P)      active interactions: joints, elements, contacts with ḡ ≤ ε
//! 0 ≤ g_N(t_{k+1},q_{k+1}) ⊥ τ ≥ 0                               all contacts
//! g(t_{k+1},q_{k+1}) = 0, τ of free sign                         joints
//! ```
//!
//! W̄, γ⁺ and γ⁻ are those of `moreau_jean.rs`. G is W_N of a contact, W_g of a joint. Forecasts ḡ, explicit (61) or free (62), and Newton's method stand in `theta_step.rs`, the projection and its
//! metric N in `projection.rs`, the coupled form (52)-(55) in `theta_step/coupled.rs`. The forms are two ways to the same step: iterated
//! until everything above holds, they agree to the tolerances (the paper stops earlier, so that its two differ by O(dt²)).
//!
//! Order 1 in q through impacts, τ = O(dt). Positions and velocities hold at the end of every step. After an accumulation of impacts a contact
//! chatters with the explicit forecast (§4.5): a projection without a percussion lifts the position and leaves the velocity as it is.
//! `projected-combined` does not.

use super::projected::{COUPLING, METRIC, Projected, ProjectedOptions, VIOLATION_TOL};
use super::projection::Onto;
use super::settings::{OptionInfo, Settings, SettingsError};
use super::theta_step::{Begin, DIRECTIONS, FORECAST, Forecast, GAMMA, NEWTON_TOL, THETA, forecast_from};
use super::velocity_level::SUPPORTS;
use super::{Examination, Failure, Order, Scheme, SchemeInfo, Solve};
use super::{ProjectedStep, ThetaMemory};
use crate::contract::Evaluator;
use crate::state::{Record, State, Step};
use complementarity::FullProblem;

const OPTIONS: &[OptionInfo] = &[
    THETA.info,
    FORECAST.info,
    GAMMA.info,
    VIOLATION_TOL.info,
    COUPLING.info,
    METRIC.info,
    DIRECTIONS.info,
    NEWTON_TOL.info,
];

pub(super) static INFO: SchemeInfo = SchemeInfo {
    name: "projected-direct",
    summary: "Moreau-Jean with positions projected onto gaps and joints; chatters at rest with the explicit forecast",
    reference: "Acary2013, (28), Alg. 1",
    position_level: true,
    impact_steps: 1,
    looks_ahead: false,
    adaptive: false,
    variable_step: true,
    stages: 1,
    supports: SUPPORTS,
    options: OPTIONS,
    make: |s: &Settings| -> Result<Box<dyn Scheme>, SettingsError> {
        Ok(Box::new(ProjectedDirect::new(ProjectedOptions::from_settings(s)?, forecast_from(s)?)))
    },
};

/// The direct projected scheme. See the [module](self).
pub struct ProjectedDirect {
    forecast: Forecast,
    projected: Projected,
}

impl ProjectedDirect {
    /// With given options; wrong ranges are refused by [`super::make`].
    pub fn new(options: ProjectedOptions, forecast: Forecast) -> Self {
        Self { forecast, projected: Projected::new(options, Onto::All) }
    }

    /// The options.
    pub fn options(&self) -> &ProjectedOptions {
        &self.projected.options
    }
}

impl Scheme for ProjectedDirect {
    fn info(&self) -> &'static SchemeInfo {
        &INFO
    }

    fn order(&self) -> Order {
        Order { smooth: if self.options().theta == 0.5 { 2 } else { 1 }, impacts: 1 }
    }

    fn step(
        &mut self,
        system: &Evaluator,
        start: &State,
        dt: f64,
        solve: &mut Solve,
        out: &mut Step,
    ) -> Result<(), Failure> {
        let closed = self.options().closed();
        let p = &mut self.projected;
        p.step.begin(system, start, dt, out)?;
        p.step.activate(system, start, self.forecast, closed, solve, out)?;
        p.projection.begin(system, &out.candidates);
        p.newton(system, start, solve, out, Begin::Anew)?;
        p.finish(system, start, out)
    }

    fn examine(&mut self, system: &Evaluator, start: &State, step: &Step, asked: Examination) {
        self.projected.examine(system, start, step, asked);
    }

    fn records(&self) -> Vec<Box<dyn Record>> {
        vec![Box::<ThetaMemory>::default(), Box::<ProjectedStep>::default()]
    }

    fn last_problem(&self) -> Option<&FullProblem> {
        self.projected.step.work.as_ref().map(|w| &w.full)
    }
}
