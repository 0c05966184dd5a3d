//! Moreau's midpoint rule [Studer2008, (15)-(23)].
//!
//! ```text
//! q_M = q_B + (dt/2) q̇(t_B,q_B,u_B),   t_M = t_B + dt/2
//! M_M (u_E − u_B) = dt h(t_M,q_M,u_B) + Σ W_M P
//! −(γ_E + e γ_B) ∈ N_Â(P),   γ = W_Mᵀ u + χ_M        for active interactions
//! q_E = q_B + dt (B(t_M,q_M)(u_B + u_E)/2 + β(t_M,q_M))
//! ```
//!
//! Joints and elements are always active, a contact if g_N(t_M,q_M) ≤ 0 up to rounding, or ≤ 1e-10 m if it carried in the step before. One linear problem per
//! step, no Newton: forces are explicit in u. (For q̇ = u this is the paper's rule; c of (18) without
//! its extra ζ, see `docs/errata.md`.) The step is that of `explicit_step.rs` with both weights ½.
//!
//! The velocity γ_E of (18) is that of the end with the directions of the middle. By default (`laws = "ends"`) it is that of the end, by a right-hand side and a second problem in steps in which something that takes part turns; `laws =
//! "midpoint"` is the rule as printed.
//!
//! Order 1; order 2 in q and u on smooth motion where h = h(t,q) and M is constant (a leapfrog then).

use super::explicit_step::{ExplicitStep, Weights};
use super::option::{choice, options};
use super::symmetry::{Symmetry, directions_stay};
use super::trapezoidal_lcp::Laws;
use super::velocity_level::{SUPPORTS, has_turning_joint};
use super::{Examination, Failure, Order, Scheme, SchemeInfo, Solve};
use crate::contract::{Candidates, Evaluator};
use crate::record;
use crate::state::{ByVelocity, Record, State, Step};
use complementarity::FullProblem;

pub(super) static INFO: SchemeInfo = SchemeInfo {
    name: "moreau-midpoint",
    summary: "Moreau's midpoint rule: velocity level, explicit forces, one problem per step",
    reference: "Studer2008, (15)-(23)",
    position_level: false,
    impact_steps: 1,
    looks_ahead: false,
    adaptive: false,
    variable_step: true,
    stages: 1,
    supports: SUPPORTS,
    options: MoreauMidpointOptions::ALL,
    make: |s| Ok(Box::new(MoreauMidpoint::new(MoreauMidpointOptions::from_settings(s)?))),
};

options! {
    /// Options of [`MoreauMidpoint`].
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct MoreauMidpointOptions: Default {
        /// Where the laws take their velocities.
        pub laws: Laws = choice("laws",
            "laws about velocities at the ends of the step, or with the directions of its middle, as (18) is printed: order 1 where joints or contacts turn"),
    }
}

record! {
    /// What the laws of a step were made with.
    "moreau-midpoint step" pub struct MidpointStep {
        /// Velocity at the end to which the step leads; empty where nothing turns.
        ahead: ByVelocity = "velocity that the step leads to",
    }
}

/// Forces and directions of the middle, and the mean velocity.
struct Midpoint;

impl Weights for Midpoint {
    const SIGMA: f64 = 0.5;
    const KAPPA: f64 = 0.5;
}

/// Moreau's midpoint rule. See the [module](self).
pub struct MoreauMidpoint {
    step: ExplicitStep<Midpoint>,
    laws: Laws,
    symmetry: Symmetry,
}

impl MoreauMidpoint {
    /// With given options.
    pub fn new(options: MoreauMidpointOptions) -> Self {
        Self { step: ExplicitStep::new(options.laws), laws: options.laws, symmetry: Symmetry::default() }
    }
}

impl Default for MoreauMidpoint {
    fn default() -> Self {
        Self::new(MoreauMidpointOptions::default())
    }
}

impl Scheme for MoreauMidpoint {
    fn info(&self) -> &'static SchemeInfo {
        &INFO
    }

    fn order(&self) -> Order {
        Order { smooth: 1, impacts: 1 }
    }

    /// Where h = h(t,q) and M is constant: a leapfrog.
    fn is_even(&mut self, system: &Evaluator, start: &State, step: &Step) -> bool {
        let s = system.structure();
        let leapfrog = s.constant_mass && s.identity_kinematics() && directions_stay(step);
        leapfrog && self.symmetry.forces_without_velocity(system, start)
    }

    fn advice(&self, list: &Candidates) -> Option<String> {
        (self.laws == Laws::Midpoint && has_turning_joint(list)).then(|| {
            "laws = midpoint: joints that turn take energy, of first order in the step; laws = ends does not".into()
        })
    }

    fn step(
        &mut self,
        system: &Evaluator,
        start: &State,
        dt: f64,
        solve: &mut Solve,
        out: &mut Step,
    ) -> Result<(), Failure> {
        self.step.step(system, start, dt, solve, out)
    }

    fn examine(&mut self, system: &Evaluator, start: &State, step: &Step, asked: Examination) {
        self.step.examine(system, start, step, asked);
    }

    fn records(&self) -> Vec<Box<dyn Record>> {
        vec![Box::<MidpointStep>::default()]
    }

    fn last_problem(&self) -> Option<&FullProblem> {
        self.step.last_problem()
    }
}
