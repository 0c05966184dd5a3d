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
//! its extra ζ, see `docs/errata.md`.)
//!
//! Order 1; order 2 in q and u on smooth motion where h = h(t,q) and M is constant (a leapfrog then).

use super::symmetry::{Symmetry, directions_stay};
use super::velocity_level::{ACTIVATION, Applied, Restitution, SUPPORTS, VelocityLevel, gap, kinematics_residual};
use super::{Failure, Order, Scheme, SchemeInfo, Solve};
use crate::accounting::{Certificate, Ledger, Meter};
use crate::contract::{Evaluator, Kind};
use crate::state::{State, Step, rates};
use complementarity::FullProblem;
use complementarity::linear::dense::{all_finite, max_norm};

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

/// Gaps up to this times the largest coordinate (or 1) are rounding: a contact that is met so closely is closed.
const ROUNDING: f64 = 64.0 * f64::EPSILON;

#[inline]
fn mean(a: f64, b: f64) -> f64 {
    0.5 * (a + b)
}

/// Moreau's midpoint rule. See the [module](self).
#[derive(Default)]
pub struct MoreauMidpoint {
    work: Option<Box<VelocityLevel>>,
    q_mid: Vec<f64>,
    qdot: Vec<f64>,
    u_mean: Vec<f64>,
    /// Whether M̂ = M is assembled and constant.
    assembled: bool,
    symmetry: Symmetry,
}

impl MoreauMidpoint {
    /// Everything at the midpoint.
    fn evaluate(&mut self, system: &Evaluator, start: &State, dt: f64) {
        let (_, fresh) = VelocityLevel::prepare(&mut self.work, system);
        if fresh {
            self.assembled = false;
        }
        self.q_mid.resize(start.q.len(), 0.0);
        let qdot = rates(system, start.t, &start.q, &start.u, &mut self.qdot);
        for ((mid, q), rate) in self.q_mid.iter_mut().zip(&start.q).zip(qdot) {
            *mid = q + 0.5 * dt * rate;
        }
        let t_mid = start.t + 0.5 * dt;
        if let Some(work) = self.work.as_mut() {
            work.assemble_mass(system, t_mid, &self.q_mid);
            work.assemble_forces(system, t_mid, &self.q_mid, &start.u);
        }
    }

    fn mean_velocity(&mut self, start: &State, u: &[f64]) {
        self.u_mean.clear();
        self.u_mean.extend(start.u.iter().zip(u).map(|(a, b)| mean(*a, *b)));
    }

    fn revisit(&mut self, system: &Evaluator, start: &State, step: &Step) {
        self.evaluate(system, start, step.dt);
        self.mean_velocity(start, &step.end.u);
        if let Some(work) = self.work.as_mut() {
            let t_mid = start.t + 0.5 * step.dt;
            work.restitution = Restitution::wanted(step);
            work.begin(&step.candidates);
            work.velocities_before(system, t_mid, &self.q_mid, &start.u, &step.candidates, &step.active);
            work.assemble_rows(system, t_mid, &self.q_mid, step);
            work.take_percussions(step);
        }
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
        let leapfrog = s.constant_mass && s.identity_kinematics && directions_stay(step);
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
        out.begin(dt);
        self.evaluate(system, start, dt);
        let t_mid = start.t + 0.5 * dt;
        let rounding = ROUNDING * (1.0 + max_norm(&self.q_mid));
        for (i, k) in out.candidates.items().iter().enumerate() {
            let carried = || start.percussions.at(i, k.id).is_some_and(|p| p[0] > 0.0);
            out.active[i] = k.kind != Kind::Contact || {
                let g = gap(system, k, t_mid, &self.q_mid)?;
                g <= rounding || g <= ACTIVATION && carried()
            };
        }
        let Some(work) = self.work.as_mut() else { return Ok(()) };
        work.restitution = Restitution::wanted(out);
        work.begin(&out.candidates);
        work.velocities_before(system, t_mid, &self.q_mid, &start.u, &out.candidates, &out.active);
        work.assemble_rows(system, t_mid, &self.q_mid, out);
        work.warm_start(start, &out.candidates);
        if !(self.assembled && system.structure().constant_mass) {
            work.full.matrix.clear();
            work.full.matrix.add_scaled(1.0, &work.mass);
            self.assembled = true;
        }
        // f = M u_B + dt h.
        work.mass.multiply(&start.u, &mut work.full.f);
        for i in 0..start.u.len() {
            work.full.f[i] += dt * work.h[i];
        }
        if !all_finite(&work.full.f) {
            return Err(Failure::NotFinite { what: "the equation of motion".into() });
        }
        // Straight into the end of the step.
        std::mem::swap(&mut work.v, &mut out.end.u);
        let solved = work.solve(system, solve, &mut out.report);
        std::mem::swap(&mut work.v, &mut out.end.u);
        solved?;
        out.end.t = start.t + dt;
        work.forget_velocities();
        work.velocities_after(&out.end.u);
        work.finish(out);
        out.end.q.clear();
        if system.structure().identity_kinematics {
            let ends = start.q.iter().zip(&start.u).zip(&out.end.u);
            out.end.q.extend(ends.map(|((q, before), after)| q + dt * mean(*before, *after)));
        } else {
            self.mean_velocity(start, &out.end.u);
            let qdot = rates(system, t_mid, &self.q_mid, &self.u_mean, &mut self.qdot);
            out.end.q.extend(start.q.iter().zip(qdot).map(|(q, r)| q + dt * r));
        }
        if !(all_finite(&out.end.u) && all_finite(&out.end.q)) {
            return Err(Failure::NotFinite { what: "the state".into() });
        }
        Ok(())
    }

    fn certify(&mut self, system: &Evaluator, start: &State, step: &Step, out: &mut Certificate) {
        self.revisit(system, start, step);
        let qdot = rates(system, start.t + 0.5 * step.dt, &self.q_mid, &self.u_mean, &mut self.qdot);
        let kinematics = kinematics_residual(start, step, qdot, None);
        if let Some(work) = self.work.as_mut() {
            work.certify(system, start, step, kinematics, out);
        }
    }

    fn account(&mut self, system: &Evaluator, start: &State, step: &Step, meter: &mut Meter, out: &mut Ledger) {
        self.revisit(system, start, step);
        let Some(work) = self.work.as_mut() else { return };
        let (t_mid, q_mid) = (start.t + 0.5 * step.dt, &self.q_mid);
        // The position moves with the mean velocity.
        let applied = Applied { mean: &self.u_mean, moved: &self.u_mean, q_star: q_mid, led_to: &step.end.q };
        let force = |_: &mut VelocityLevel, i: usize, h: &mut [f64]| system.force(i, t_mid, q_mid, &start.u, h);
        work.account(system, start, step, &applied, force, meter, out);
    }

    fn last_problem(&self) -> Option<&FullProblem> {
        self.work.as_ref().map(|w| &w.full)
    }
}
