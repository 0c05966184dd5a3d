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
//! Order 1; order 2 in q and u on smooth motion where h = h(t,q) and M is constant (a leapfrog then).

use super::explicit_step::{ExplicitStep, Weights};
use super::symmetry::{Symmetry, directions_stay};
use super::velocity_level::SUPPORTS;
use super::{Examination, Failure, Order, Scheme, SchemeInfo, Solve};
use crate::contract::Evaluator;
use crate::state::{State, Step};
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
    options: &[],
    make: |_| Ok(Box::new(MoreauMidpoint::default())),
};

/// Forces and directions of the middle, and the mean velocity.
struct Midpoint;

impl Weights for Midpoint {
    const SIGMA: f64 = 0.5;
    const KAPPA: f64 = 0.5;
}

/// Moreau's midpoint rule. See the [module](self).
#[derive(Default)]
pub struct MoreauMidpoint {
    step: ExplicitStep<Midpoint>,
    symmetry: Symmetry,
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

    fn last_problem(&self) -> Option<&FullProblem> {
        self.step.last_problem()
    }
}
