//! The combined scheme of projection and activation [Acary2013, (65)-(70), Algorithm 2].
//!
//! Index sets I⁰ ⊂ I¹ ⊂ … of contacts; I⁰ is empty. For each, the step
//!
//! ```text
//! M(t_θ,q_θ)(u_{k+1} − u_k) = dt h(t_θ,q_θ,u_θ) + Σ W̄ P
//! q_{k+1} = q_k + dt (B(t_θ,q_θ) u_θ + β(t_θ,q_θ)) + B N Σ G(t_{k+1},q_{k+1}) τ
//! −(γ⁺ + e γ⁻) ∈ N_Â(P)      contacts of I^ν, joints, elements
//! g_N(t_{k+1},q_{k+1}) = 0, τ of free sign                       contacts of I^ν with P_N > 0: I_c           (68)
//! 0 ≤ g_N(t_{k+1},q_{k+1}) ⊥ τ ≥ 0                               contacts of I^ν \ I_c
//! g(t_{k+1},q_{k+1}) = 0                                         joints
//! I^{ν+1} = I^ν ∪ { g_N(t_{k+1},q_{k+1}) ≤ ε }                                                               (66)
//! ```
//!
//! until the set stays; W̄, γ⁺ and γ⁻ are those of `moreau_jean.rs`. A contact is so projected only where its impact law holds too, and a contact that takes a percussion ends the step on the
//! constraint: nothing chatters. Each set starts Newton's method where the one before ended (`theta_step.rs`); the projection and its metric N
//! stand in `projection.rs`, the coupled form in `theta_step/coupled.rs`. I_c is that of the new percussions (70), with `coupling = "coupled"` that of the iteration before (69).
//!
//! Where g = 0 cannot hold for all of I_c (redundant contacts), they are held to 0 ≤ g ⊥ τ ≥ 0 in that step, and that counts as a retry; so are more
//! than a hundred at once, as in a pack of bodies, where many are redundant.
//!
//! **Rest.** A contact that leaves with u = w > 0 under an acceleration −a is seen by the trial where w ≤ θ a dt. A faster one flies for a step, is hit with a dt − w and
//! leaves with e (a dt − w) < e (1 − θ) a dt. It comes to rest for certain where that is seen: θ ≥ e/(1 + e), which θ = 1/2 is for every e. Below, it may hop for
//! ever: the scheme says so before the first step.
//!
//! Order 1 in q through impacts, τ = O(dt). Positions and velocities hold at the end of every step.

use super::projected::{Projected, ProjectedOptions};
use super::projection::Onto;
use super::settings::{Settings, SettingsError};
use super::theta_step::Begin;
use super::velocity_level::{SUPPORTS, gap};
use super::{Examination, Failure, Order, Scheme, SchemeInfo, Solve};
use super::{ProjectedStep, ThetaMemory};
use crate::contract::{Candidates, Evaluator, Kind};
use crate::state::{Record, State, Step};
use complementarity::FullProblem;

pub(super) static INFO: SchemeInfo = SchemeInfo {
    name: "projected-combined",
    summary: "Moreau-Jean with contacts activated and projected together: gaps and joints hold, no chattering",
    reference: "Acary2013, (65)-(70), Alg. 2",
    position_level: true,
    impact_steps: 1,
    looks_ahead: false,
    adaptive: false,
    variable_step: true,
    stages: 1,
    supports: SUPPORTS,
    options: ProjectedOptions::ALL,
    make: |s: &Settings| -> Result<Box<dyn Scheme>, SettingsError> {
        Ok(Box::new(ProjectedCombined::new(ProjectedOptions::from_settings(s)?)))
    },
};

/// The combined scheme. See the [module](self).
pub struct ProjectedCombined {
    projected: Projected,
}

impl ProjectedCombined {
    /// With given options; wrong ranges are refused by [`super::make`].
    pub fn new(options: ProjectedOptions) -> Self {
        Self { projected: Projected::new(options, Onto::Active) }
    }

    /// The options.
    pub fn options(&self) -> &ProjectedOptions {
        &self.projected.options
    }

    /// The contacts that the trial violates join the set. Whether there are any.
    fn activate(&mut self, system: &Evaluator, start: &State, out: &mut Step) -> Result<bool, Failure> {
        let (t, closed) = (start.t + out.dt, self.options().closed());
        let mut grown = false;
        for (i, k) in out.candidates.items().iter().enumerate() {
            let p = &mut self.projected;
            if k.kind == Kind::Contact && !out.active[i] && gap(system, k, t, p.step.trial())? <= closed {
                p.step.velocity_before(system, start, &out.candidates, i);
                out.active[i] = true;
                grown = true;
            }
        }
        Ok(grown)
    }
}

impl Scheme for ProjectedCombined {
    fn info(&self) -> &'static SchemeInfo {
        &INFO
    }

    fn order(&self) -> Order {
        Order { smooth: if self.options().theta == 0.5 { 2 } else { 1 }, impacts: 1 }
    }

    /// The condition θ ≥ e/(1 + e) for coming to rest.
    fn advice(&self, list: &Candidates) -> Option<String> {
        let contacts = list.items().iter().filter(|k| k.kind == Kind::Contact);
        let e = contacts.map(|k| k.law.restitution(0)).fold(0.0, f64::max);
        let (theta, least) = (self.options().theta, e / (1.0 + e));
        (theta < least).then(|| {
            format!("theta = {theta}: contacts with restitution {e} come to rest for certain from theta = e/(1 + e) = {least:.3} on")
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
        let p = &mut self.projected;
        p.step.begin(system, start, dt, out)?;
        p.projection.begin(system, &out.candidates);
        p.step.activate_no_contact(system, start, out);
        p.newton(system, start, solve, out, Begin::Anew)?;
        while self.activate(system, start, out)? {
            out.report.index_sets += 1;
            self.projected.newton(system, start, solve, out, Begin::Again)?;
        }
        self.projected.finish(system, start, out)
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
