//! One step of the θ-method with the laws on velocity level, for a given set of active interactions: what Moreau-Jean's scheme and the
//! projected schemes share.
//!
//! With t_θ = t_k + θ dt, q_θ = (1−θ) q_k + θ q_{k+1}, u_θ = (1−θ) u_k + θ u_{k+1}, and a shift s of the position that is zero without a
//! projection:
//!
//! ```text
//! M(t_θ,q_θ)(u_{k+1} − u_k) = dt h(t_θ,q_θ,u_θ) + Σ W̄ P
//! q_{k+1} = q_k + dt (B(t_θ,q_θ) u_θ + β(t_θ,q_θ)) + s
//! −(γ⁺ + e γ⁻) ∈ N_Â(P)     for active interactions
//! ```
//!
//! W̄, γ⁺ and γ⁻ are those between the ends of the step (`velocity_level/between.rs`), or with `directions = "end"` W_{k+1} and the velocities at the two ends with their own W, as (18a)
//! prints. Groups of coordinates of unit length, as quaternions, are scaled to it at every iterate, so that all laws and gaps hold at the q_{k+1} that is left.
//!
//! `force = "trapezoid"` replaces the first two lines by
//!
//! ```text
//! M_{k+1}(u_{k+1} − u_k) = dt ((1−θ) M_{k+1} M_k⁻¹ h_k + θ h_{k+1}) + Σ W_{k+1} P
//! q_{k+1} = q_k + dt ((1−θ) q̇(t_k,q_k,u_k) + θ q̇(t_{k+1},q_{k+1},u_{k+1}))
//! ```
//!
//! A body that turns in space moves by q_{k+1} = q_k ⊕ (dt u_θ + s) in both, without an iteration, and q_θ = q_k ⊕ θ (q_{k+1} ⊖ q_k).
//!
//! **Newton.** The laws are solved inside each iteration, [Acary2013, (43)-(45)] with the corrections of `docs/errata.md`: q follows from u and s
//! by the kinematics at every iterate, so that their defect drops out of (45):
//!
//! ```text
//! M̂ = M − dt θ h_u − dt² θ² h_q B,    M̂ (v⁺ − v) = −M (v − u_k) + dt h + W P⁺
//! ```
//!
//! until (at once where everything is stated to be linear) the dynamics with everything re-evaluated at the new (q, u, P) close to `newton_tol`
//! relative to their largest term, and γ changes by no more than `newton_tol`·(1 + max|γ|), or from the twelfth iteration on where the solver's tolerance is larger, to that; then the equations as they were evaluated there are
//! solved once more, which takes a method that converges fast to rounding. It begins at v = u_k + dt a_{k−1} with the mean acceleration
//! a_{k−1} of the last step, unless that would change velocities by more than a tenth of them, then at u_k. M̂ is made anew while iterations leave more than a tenth of the residual. A [`Projection`] moves the position within each
//! iteration.
//!
//! **Forecasts.** Joints and elements are always active, a contact if its forecast ḡ ≤ ε:
//!
//! - explicit, (61): ḡ = g_N(t_k,q_k) + γ dt ġ_N(t_k,q_k,u_k), option `gamma` (0 by default);
//! - free, (62): ḡ = g_N(t_k,q_k) + dt (θ ġ_N(t_k,q_k,u_free) + (1−θ) ġ_N(t_k,q_k,u_k)), where u_free
//!   solves the step without any contact.

mod coupled;
mod examine;
mod forecast;
mod memory;
mod options;

pub(super) use coupled::Coupled;
pub(super) use options::{DIRECTIONS, FORCE, FORECAST, GAMMA, Level, NEWTON_TOL, THETA, ThetaOptions, forecast_from};
pub use options::{DirectionRule, ForceRule, Forecast};

pub use memory::ThetaMemory;

use super::projection::{self, MAX_ITERATIONS, MAX_STAGNATION, Projection};
use super::velocity_level::{Between, Iteration, Restitution, Trial, VelocityLevel};
use super::{Failure, Solve};
use crate::contract::{Candidates, Evaluator, Kind};
use crate::state::{State, Step, rates_into};
use complementarity::linear::Matrix;
use complementarity::linear::dense::{all_finite, max_norm};

/// The step of the [module](self) and its workspace.
pub(super) struct ThetaStep {
    options: ThetaOptions,
    pub(super) work: Option<Box<VelocityLevel>>,
    buffers: Buffers,
}

#[derive(Default)]
struct Buffers {
    q_theta: Vec<f64>,
    u_theta: Vec<f64>,
    /// The trial (q, u) at the end of the step.
    q: Vec<f64>,
    v: Vec<f64>,
    /// The trial position of the fixed-point iteration before.
    q_last: Vec<f64>,
    qdot: Vec<f64>,
    /// Local coordinates of the start, where there are charts.
    origin: Vec<f64>,
    /// q̇ at the start, and M_k⁻¹ h_k (trapezoidal forces).
    qdot0: Vec<f64>,
    a0: Vec<f64>,
    mass0: Option<Matrix>,
    /// Whether M̂ depends on the step length alone.
    constant_matrix: bool,
    /// Step length for which M̂ is assembled, if it can be kept.
    assembled_for: Option<f64>,
    /// Directions at the start.
    between: Between,
    /// Shift s of the position, and whether there is one.
    shift: Vec<f64>,
    shifted: bool,
    /// Whether f of the one-step problem holds for the trial too: everything is linear and one iteration was made.
    f_holds: bool,
}

/// Newton iterations before a step is given up: a quadratic iteration that needs more does not converge.
const MAX_NEWTON: usize = 30;
/// M̂ stays while an iteration leaves no more than this part of the residual: making it costs as much as an iteration.
const REUSE_MATRIX_BELOW: f64 = 0.1;
/// Iterations after which the tolerance of the solver is enough.
const LOOSE_AFTER: usize = 12;
/// Residual at which nothing is left to gain.
const RESIDUAL_FLOOR: f64 = 1e-14;
/// A step that changed velocities by a larger part of them is no guide to the next one.
const MAX_CHANGE_FOR_PREDICTOR: f64 = 0.1;
/// Fixed-point iterations for q from u where q̇ = B(q) u + β.
const MAX_KINEMATICS: usize = 50;

/// What a step asks of positions.
pub(super) enum Positions<'a> {
    /// Nothing: they follow from the velocities.
    Integrated,
    /// They are projected after every solve for velocities.
    Projected(&'a mut Projection),
    /// They are projected together with it.
    Coupled(&'a mut Projection, &'a mut Coupled),
}

/// Where Newton's method begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Begin {
    /// At the start of the step.
    Anew,
    /// At the trial where it ended with another set of active interactions.
    Again,
}

impl ThetaStep {
    pub(super) fn new(options: ThetaOptions) -> Self {
        Self { options, work: None, buffers: Buffers::default() }
    }

    /// q̇ and M_k⁻¹h_k at the start, for trapezoidal forces.
    fn begin_trapezoid(&mut self, system: &Evaluator, start: &State) -> Result<(), Failure> {
        let Some(work) = self.work.as_mut() else { return Ok(()) };
        let b = &mut self.buffers;
        b.qdot0.resize(start.q.len(), 0.0);
        rates_into(system, start.t, &start.q, &start.u, &mut b.qdot0);
        work.assemble_forces(system, start.t, &start.q, &start.u);
        b.a0.clone_from(&work.h);
        let mass0 = b.mass0.get_or_insert_with(|| Matrix::new(&system.structure().mass_pattern));
        mass0.clear();
        system.mass(start.t, &start.q, mass0);
        mass0.factor().map_err(|e| Failure::Singular {
            what: "the mass matrix",
            velocity: system.structure().velocities[e.row].into(),
        })?;
        mass0.solve(&mut b.a0);
        Ok(())
    }

    /// q_{k+1} from u_{k+1} into `buffers.q`.
    fn positions(&mut self, system: &Evaluator, start: &State, dt: f64) {
        let (theta, b) = (self.options.theta, &mut self.buffers);
        let n = start.q.len();
        if system.structure().identity_kinematics() {
            // Both rules coincide: q̇ is u.
            for (((q, q0), u0), v) in b.q.iter_mut().zip(&start.q).zip(&start.u).zip(&b.v) {
                *q = q0 + dt * between(theta, *u0, *v);
            }
            if b.shifted {
                b.q.iter_mut().zip(&b.shift).for_each(|(q, s)| *q += s);
            }
            return;
        }
        let origin = system.origin(&start.q, &mut b.origin);
        for _ in 0..MAX_KINEMATICS {
            match self.options.force {
                ForceRule::Theta => {
                    // Charts come last: what moves otherwise does not see them.
                    blend(theta, &start.q, &b.q, &mut b.q_theta);
                    blend(theta, &start.u, &b.v, &mut b.u_theta);
                    system.kinematics(start.t + theta * dt, &b.q_theta, &b.u_theta, &mut b.qdot);
                }
                ForceRule::Trapezoid => {
                    system.kinematics(start.t + dt, &b.q, &b.v, &mut b.qdot);
                    for i in 0..n {
                        b.qdot[i] = (1.0 - theta) * b.qdot0[i] + theta * b.qdot[i];
                    }
                }
            }
            b.q_last.clone_from(&b.q);
            for i in 0..n {
                b.q[i] = origin[i] + dt * b.qdot[i] + if b.shifted { b.shift[i] } else { 0.0 };
            }
            system.retract(&start.q, &mut b.q);
            system.normalise(&mut b.q);
            let change = b.q.iter().zip(&b.q_last).fold(0.0f64, |m, (a, b)| m.max((a - b).abs()));
            if !(change > 4.0 * f64::EPSILON * (1.0 + max_norm(&b.q))) {
                break;
            }
        }
    }

    /// The trial (q, v) that Newton's method starts from, with q_θ and u_θ: v = u_k, or, `ahead`, v = u_k + dt a_{k−1}.
    fn guess(&mut self, system: &Evaluator, start: &State, dt: f64, ahead: bool) {
        let (theta, b) = (self.options.theta, &mut self.buffers);
        if ahead {
            b.v.clear();
            b.v.extend(start.u.iter().zip(start.memory.of::<ThetaMemory>().rates.iter()).map(|(u, a)| u + dt * a));
            b.q.clone_from(&start.q);
            self.positions(system, start, dt);
            self.blend_trial(system, start);
            return;
        }
        if !system.structure().identity_kinematics() {
            b.v.clone_from(&start.u);
            b.q.clone_from(&start.q);
            self.positions(system, start, dt);
            self.blend_trial(system, start);
            return;
        }
        // The same in one pass.
        b.q.resize(start.q.len(), 0.0);
        b.v.resize(start.u.len(), 0.0);
        let ends = start.q.iter().zip(&start.u).zip(b.q.iter_mut().zip(&mut b.v));
        for (((q0, u0), (q, v)), (q_theta, u_theta)) in ends.zip(b.q_theta.iter_mut().zip(&mut b.u_theta)) {
            *v = *u0;
            *u_theta = between(theta, *u0, *u0);
            *q = q0 + dt * *u_theta;
            *q_theta = between(theta, *q0, *q);
        }
    }

    /// q_θ and u_θ of the trial (q, v) in the buffers.
    fn blend_trial(&mut self, system: &Evaluator, start: &State) {
        let (theta, b) = (self.options.theta, &mut self.buffers);
        system.about(&start.q, &b.q, |origin, q| blend(theta, origin, q, &mut b.q_theta));
        system.retract(&start.q, &mut b.q_theta);
        blend(theta, &start.u, &b.v, &mut b.u_theta);
    }

    /// M and h with everything at the trial (q, v) and (q_θ, u_θ) in the buffers.
    fn evaluate_dynamics(&mut self, system: &Evaluator, start: &State, step: &Step) {
        let Some(work) = self.work.as_mut() else { return };
        let (theta, dt, b) = (self.options.theta, step.dt, &mut self.buffers);
        let t1 = start.t + dt;
        match self.options.force {
            ForceRule::Theta => {
                let t_theta = start.t + theta * dt;
                work.assemble_mass(system, t_theta, &b.q_theta);
                work.assemble_forces(system, t_theta, &b.q_theta, &b.u_theta);
            }
            ForceRule::Trapezoid => {
                work.assemble_mass(system, t1, &b.q);
                work.assemble_forces(system, t1, &b.q, &b.v);
                work.mass.multiply(&b.a0, &mut work.scratch);
                for i in 0..work.h.len() {
                    work.h[i] = theta * work.h[i] + (1.0 - theta) * work.scratch[i];
                }
            }
        }
    }

    /// The rows of the active interactions at the trial.
    fn evaluate_rows(&mut self, system: &Evaluator, start: &State, step: &Step) {
        if let Some(work) = self.work.as_mut() {
            let (t, b) = (start.t + step.dt, &mut self.buffers);
            match self.options.directions {
                DirectionRule::End => work.assemble_rows(system, t, &b.q, step),
                DirectionRule::Theta => {
                    let (theta, trial) = (self.options.theta, Trial { t, q: &b.q, u: &b.v });
                    work.assemble_rows_between(&mut b.between, system, start, trial, theta, step);
                }
            }
            if self.options.level == Level::Position {
                work.use_gap_laws(system, t, &b.q, &b.v, self.options.theta * step.dt, &step.candidates);
            }
        }
    }

    /// Both.
    fn evaluate(&mut self, system: &Evaluator, start: &State, step: &Step) {
        self.evaluate_dynamics(system, start, step);
        self.evaluate_rows(system, start, step);
    }

    /// M̂ into the one-step problem.
    fn assemble_matrix(&mut self, system: &Evaluator, start: &State, dt: f64) {
        let Some(work) = self.work.as_mut() else { return };
        let (theta, b) = (self.options.theta, &mut self.buffers);
        let keep = b.constant_matrix;
        if keep && b.assembled_for == Some(dt) {
            return;
        }
        let s = system.structure();
        b.assembled_for = keep.then_some(dt);
        work.full.matrix.clear();
        work.full.matrix.add_scaled(1.0, &work.mass);
        if theta == 0.0 {
            return;
        }
        let (coefficient_q, coefficient_u) = (-dt * dt * theta * theta, -dt * theta);
        for i in 0..s.forces.len() {
            let m = &mut work.full.matrix;
            match self.options.force {
                ForceRule::Theta => {
                    let t = start.t + theta * dt;
                    system.force_jacobian(i, t, &b.q_theta, &b.u_theta, coefficient_q, coefficient_u, m);
                }
                ForceRule::Trapezoid => {
                    system.force_jacobian(i, start.t + dt, &b.q, &b.v, coefficient_q, coefficient_u, m);
                }
            }
        }
    }

    /// f = M̂ v − M (v − u_k) + dt h at the trial v, or at v = u_k.
    fn right_hand_side(&mut self, start: &State, dt: f64, at_start: bool) {
        let Some(work) = self.work.as_mut() else { return };
        let v = &self.buffers.v;
        work.full.matrix.multiply(v, &mut work.full.f);
        if !at_start {
            for i in 0..v.len() {
                work.v[i] = v[i] - start.u[i];
            }
            work.mass.multiply(&work.v, &mut work.scratch);
            for i in 0..v.len() {
                work.full.f[i] -= work.scratch[i];
            }
        }
        for (f, h) in work.full.f.iter_mut().zip(&work.h) {
            *f += dt * h;
        }
    }

    /// Newton's method for the step with the active set as it is in `step`; `positions` says what is asked of positions, `from` where it begins.
    pub(super) fn newton(
        &mut self,
        system: &Evaluator,
        start: &State,
        solve: &mut Solve,
        step: &mut Step,
        mut positions: Positions,
        from: Begin,
    ) -> Result<(), Failure> {
        let dt = step.dt;
        let affine = system.structure().identity_kinematics() && self.buffers.constant_matrix;
        let anew = from == Begin::Anew;
        let (mut at_start, mut metric_known) = (false, false);
        if anew {
            self.buffers.shifted = false;
            self.buffers.f_holds = false;
            let by_matrix = match &positions {
                Positions::Integrated => false,
                Positions::Projected(p) | Positions::Coupled(p, _) => p.measures_by_matrix(),
            };
            let ahead = !affine && goes_on(start, dt);
            if by_matrix && ahead && step.candidates.items().iter().any(|k| projected(k.kind)) {
                // The metric is M̂ at the start, so that it can be made again.
                self.guess(system, start, dt, false);
                self.evaluate_dynamics(system, start, step);
                self.assemble_matrix(system, start, dt);
                if let (Positions::Projected(p) | Positions::Coupled(p, _), Some(work)) = (&mut positions, &self.work) {
                    p.set_matrix(&work.full.matrix);
                }
                metric_known = true;
            }
            self.guess(system, start, dt, ahead);
            at_start = !ahead;
            self.evaluate_dynamics(system, start, step);
            let idle = match &positions {
                Positions::Integrated => false,
                Positions::Projected(p) | Positions::Coupled(p, _) => p.leaves_inactive_alone(),
            };
            if affine && idle && !step.active.contains(&true) {
                return self.alone(system, start, step, &mut positions);
            }
        }
        if let Some(work) = self.work.as_mut() {
            // Another set of the same step has made a better guess than the step before.
            work.keep_percussions(if anew || self.buffers.f_holds { None } else { Some(&step.candidates) });
        }
        self.evaluate_rows(system, start, step);
        if let Some(work) = self.work.as_mut() {
            work.warm_start(start, &step.candidates);
            work.forget_velocities();
        }
        let (mut residual, mut before) = (f64::INFINITY, 1.0);
        let (mut within, mut settled) = (false, false);
        for iteration in 0..MAX_NEWTON {
            let first = iteration == 0;
            if !(first && self.buffers.f_holds) {
                if first || residual > REUSE_MATRIX_BELOW * before {
                    self.assemble_matrix(system, start, dt);
                }
                if let (true, Positions::Projected(p) | Positions::Coupled(p, _)) =
                    (first && anew && !metric_known, &mut positions)
                    && let Some(work) = self.work.as_ref()
                {
                    p.set_matrix(&work.full.matrix);
                }
                self.right_hand_side(start, dt, first && at_start);
            }
            self.buffers.f_holds = false;
            let (holds, exact) = self.iterate(system, start, solve, step, &mut positions, settled)?;
            let Some(work) = self.work.as_mut() else { break };
            if affine && work.constant_rows() && exact {
                // One iteration is exact.
                self.buffers.f_holds = first && anew;
                return Ok(());
            }
            if !all_finite(&self.buffers.q) {
                return Err(Failure::NotFinite { what: "the state".into() });
            }
            if within && holds && !settled {
                return Ok(());
            }

            // Everything anew at the new state: the true residual.
            self.blend_trial(system, start);
            self.evaluate(system, start, step);
            let Some(work) = self.work.as_mut() else { break };
            let change = work.velocities_after(&self.buffers.v);
            let (dynamics, scale) = work.dynamics_residual(&start.u, &self.buffers.v, dt);
            if !dynamics.is_finite() {
                return Err(Failure::NotFinite { what: "the equation of motion".into() });
            }
            before = residual.min(1.0);
            residual = if dynamics > 0.0 { dynamics / scale } else { 0.0 };
            // What the solver leaves of its problems may keep the iteration from going further.
            let tol = if iteration < LOOSE_AFTER { 0.0 } else { solve.options.tolerance }.max(self.options.newton_tol);
            let velocity = 1.0 + work.velocity_scale();
            if residual <= RESIDUAL_FLOOR && change <= RESIDUAL_FLOOR * velocity && holds {
                return Ok(());
            }
            if settled && residual <= self.options.newton_tol && holds {
                return Ok(());
            }
            // Within the tolerance, one more solve, with what is known, takes a fast method to rounding. Where the solver is coarse, its
            // percussions stay from here on, and the dynamics close for them.
            within = settled || residual <= tol && change <= tol * velocity && holds;
            settled |= within && residual > self.options.newton_tol && !matches!(positions, Positions::Coupled(..));
        }
        Err(Failure::Newton { iterations: MAX_NEWTON, residual })
    }

    /// Velocity, percussions (unless they are settled) and position from the equations as they are assembled. Whether the position holds, and whether it does so for
    /// the forces that the velocity was made with.
    fn iterate(
        &mut self,
        system: &Evaluator,
        start: &State,
        solve: &mut Solve,
        step: &mut Step,
        positions: &mut Positions,
        settled: bool,
    ) -> Result<(bool, bool), Failure> {
        match positions {
            _ if settled => {
                if let Some(work) = self.work.as_mut() {
                    work.full.velocity(&work.r, &mut work.v);
                }
            }
            Positions::Coupled(p, c) => self.solve_coupled(system, start, solve, step, p, c)?,
            _ => {
                let Some(work) = self.work.as_mut() else { return Ok((true, true)) };
                work.solve(system, solve, &mut step.report)?;
            }
        }
        let Some(work) = self.work.as_mut() else { return Ok((true, true)) };
        std::mem::swap(&mut self.buffers.v, &mut work.v);
        work.velocities_after(&self.buffers.v);
        step.report.newton += 1;
        self.positions(system, start, step.dt);
        if !all_finite(&self.buffers.v) {
            return Err(Failure::NotFinite { what: "the state".into() });
        }
        Ok(match positions {
            Positions::Integrated => (true, true),
            Positions::Projected(p) => (true, !self.project(system, start, step, p)?),
            Positions::Coupled(p, _) => {
                let holds = self.positions_hold(system, start, step, p)?;
                (holds, holds)
            }
        })
    }

    /// The step of a linear system on which nothing acts but forces. The rows of the last step stay as they are.
    fn alone(
        &mut self,
        system: &Evaluator,
        start: &State,
        step: &mut Step,
        positions: &mut Positions,
    ) -> Result<(), Failure> {
        self.assemble_matrix(system, start, step.dt);
        self.right_hand_side(start, step.dt, true);
        let Some(work) = self.work.as_mut() else { return Ok(()) };
        if let Positions::Projected(p) | Positions::Coupled(p, _) = positions {
            p.set_matrix(&work.full.matrix);
        }
        match work.full.free() {
            Ok(free) => self.buffers.v.copy_from_slice(free),
            Err(singular) => return Err(work.singular(system, singular.row)),
        }
        step.report.newton += 1;
        if !all_finite(&self.buffers.v) {
            return Err(Failure::NotFinite { what: "the equation of motion".into() });
        }
        self.positions(system, start, step.dt);
        self.buffers.f_holds = true;
        Ok(())
    }

    /// Moves the trial position until the rules of the projection hold. Whether it had to.
    fn project(
        &mut self,
        system: &Evaluator,
        start: &State,
        step: &mut Step,
        p: &mut Projection,
    ) -> Result<bool, Failure> {
        let (t, dt) = (start.t + step.dt, step.dt);
        if let Some(work) = self.work.as_ref() {
            p.set_rules(&step.candidates, work);
        }
        let (mut best, mut since) = (f64::INFINITY, 0);
        for iteration in 0..=MAX_ITERATIONS {
            let list = &step.candidates;
            let check = p.check_position(system, t, &self.buffers.q, list)?;
            if check.holds {
                step.report.projection += iteration;
                return Ok(iteration > 0);
            }
            since += 1;
            if check.worst < 0.9 * best {
                (best, since) = (check.worst, 0);
            }
            if since > MAX_STAGNATION {
                break;
            }
            let relaxed = p.is_relaxed();
            p.iterate(system, t, &self.buffers.q, list, &check)?;
            step.report.retries += usize::from(p.is_relaxed() && !relaxed);
            let b = &mut self.buffers;
            b.shifted = p.shift().is_some();
            b.shift.clone_from_slice(p.shift_values());
            self.positions(system, start, dt);
        }
        let check = p.check_position(system, t, &self.buffers.q, &step.candidates)?;
        if check.worst <= projection::ROUNDING * (1.0 + max_norm(&self.buffers.q)) {
            step.report.projection += MAX_ITERATIONS.min(since);
            return Ok(true);
        }
        let name = check.culprit.map(|i| system.name(step.candidates.items()[i].id)).unwrap_or_default();
        Err(Failure::Projection { name, violation: check.worst, tolerance: p.tolerance })
    }

    /// Whether the trial position satisfies the constraints that follow from the new percussions.
    fn positions_hold(
        &mut self,
        system: &Evaluator,
        start: &State,
        step: &mut Step,
        p: &mut Projection,
    ) -> Result<bool, Failure> {
        let Some(work) = self.work.as_ref() else { return Ok(true) };
        p.set_rules(&step.candidates, work);
        step.report.projection += usize::from(p.shift().is_some());
        Ok(p.check_position(system, start.t + step.dt, &self.buffers.q, &step.candidates)?.holds)
    }

    /// The trial position at the end of the step.
    pub(super) fn trial(&self) -> &[f64] {
        &self.buffers.q
    }

    /// Takes γ⁻ of interaction `i`.
    pub(super) fn velocity_before(&mut self, system: &Evaluator, start: &State, list: &Candidates, i: usize) {
        if let Some(work) = self.work.as_mut() {
            work.velocity_before(system, start.t, &start.q, &start.u, list, i);
        }
    }

    fn resize(&mut self, system: &Evaluator) {
        let (work, fresh) = VelocityLevel::prepare(&mut self.work, system, Iteration::Jacobian);
        if !fresh {
            return;
        }
        work.size_vectors();
        let s = system.structure();
        let (nq, nu) = (s.nq(), s.nu());
        let b = &mut self.buffers;
        b.constant_matrix = s.constant_mass && s.forces.iter().all(|f| f.constant_jacobian);
        b.shifted = false;
        for v in [&mut b.q_theta, &mut b.q, &mut b.q_last, &mut b.qdot, &mut b.qdot0, &mut b.shift] {
            v.resize(nq, 0.0);
        }
        for v in [&mut b.u_theta, &mut b.v, &mut b.a0] {
            v.resize(nu, 0.0);
        }
        b.assembled_for = None;
        b.mass0 = None;
    }

    /// Sizes everything for a system and a list of candidates.
    pub(super) fn begin(&mut self, system: &Evaluator, start: &State, dt: f64, out: &mut Step) -> Result<(), Failure> {
        self.resize(system);
        out.begin(dt);
        if self.options.force == ForceRule::Trapezoid {
            self.begin_trapezoid(system, start)?;
        }
        if let Some(work) = self.work.as_mut() {
            work.restitution = Restitution::wanted(out);
            work.begin(&out.candidates);
        }
        self.buffers.between.begin(&out.candidates, start);
        Ok(())
    }

    /// The trial that Newton's method ended with, as the end of the step.
    pub(super) fn finish(&mut self, system: &Evaluator, start: &State, out: &mut Step) -> Result<(), Failure> {
        out.end.t = start.t + out.dt;
        if let Some(work) = self.work.as_mut() {
            let b = &mut self.buffers;
            let end = Trial { t: out.end.t, q: &b.q, u: &b.v };
            if let Some(i) = work.passed(&mut b.between, system, start, end, out) {
                return Err(Failure::Passed { name: system.name(out.candidates.items()[i].id) });
            }
        }
        if !self.buffers.constant_matrix {
            let accelerations = self.buffers.v.iter().zip(&start.u).map(|(v, u)| (v - u) / out.dt);
            let rates = &mut out.end.memory.make::<ThetaMemory>().rates;
            rates.clear();
            rates.extend(accelerations);
        }
        std::mem::swap(&mut out.end.q, &mut self.buffers.q);
        std::mem::swap(&mut out.end.u, &mut self.buffers.v);
        if let Some(work) = self.work.as_mut() {
            // Where nothing is active, the rows may still be those of another step.
            if !out.active.contains(&true) {
                work.forget_rows();
            }
            work.finish(out);
        }
        Ok(())
    }
}

/// Whether a projection takes the position of such an interaction.
fn projected(kind: Kind) -> bool {
    matches!(kind, Kind::Contact | Kind::Joint)
}

/// Whether the last step is a guide to one of length `dt`.
fn goes_on(start: &State, dt: f64) -> bool {
    let rates = &start.memory.of::<ThetaMemory>().rates;
    rates.len() == start.u.len() && dt * max_norm(rates) <= MAX_CHANGE_FOR_PREDICTOR * max_norm(&start.u)
}

/// (1−θ) a + θ b.
#[inline]
fn between(theta: f64, a: f64, b: f64) -> f64 {
    (1.0 - theta) * a + theta * b
}

/// (1−θ) a + θ b, entry by entry.
#[inline]
fn blend(theta: f64, a: &[f64], b: &[f64], out: &mut [f64]) {
    for ((out, a), b) in out.iter_mut().zip(a).zip(b) {
        *out = between(theta, *a, *b);
    }
}
