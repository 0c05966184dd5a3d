//! The Moreau-Jean scheme [Acary2013, (18)], θ ∈ [0, 1], and its variant with trapezoidal forces
//! [Schindler2014, Alg. 1.4].
//!
//! With t_θ = t_k + θ dt, q_θ = (1−θ) q_k + θ q_{k+1}, u_θ = (1−θ) u_k + θ u_{k+1}:
//!
//! ```text
//! M(t_θ,q_θ)(u_{k+1} − u_k) = dt h(t_θ,q_θ,u_θ) + Σ W(t_{k+1},q_{k+1}) P
//! q_{k+1} = q_k + dt (B(t_θ,q_θ) u_θ + β(t_θ,q_θ))
//! −(γ(t_{k+1},q_{k+1},u_{k+1}) + e γ(t_k,q_k,u_k)) ∈ N_Â(P)     for active interactions
//! ```
//!
//! Joints and elements are always active, a contact if its forecast ḡ ≤ 0:
//!
//! - explicit, (61): ḡ = g_N(t_k,q_k) + γ dt ġ_N(t_k,q_k,u_k), option `gamma` (0 by default);
//! - free, (62): ḡ = g_N(t_k,q_k) + dt (θ ġ_N(t_k,q_k,u_free) + (1−θ) ġ_N(t_k,q_k,u_k)), where u_free
//!   solves the step without any contact.
//!
//! `force = "trapezoid"` replaces the first two lines by
//!
//! ```text
//! M_{k+1}(u_{k+1} − u_k) = dt ((1−θ) M_{k+1} M_k⁻¹ h_k + θ h_{k+1}) + Σ W_{k+1} P
//! q_{k+1} = q_k + dt ((1−θ) q̇(t_k,q_k,u_k) + θ q̇(t_{k+1},q_{k+1},u_{k+1}))
//! ```
//!
//! **Newton.** The laws are solved inside each iteration, (43)-(45) with the corrections of
//! `docs/errata.md`: with q = q(u) from the kinematics,
//!
//! ```text
//! M̂ = M − dt θ h_u − dt² θ² h_q B,    M̂ (v⁺ − v) = −M (v − u_k) + dt h + W P⁺
//! ```
//!
//! until (at once where everything is stated to be linear) the dynamics with everything re-evaluated at the new (q, u, P) close to `newton_tol`
//! relative to their largest term, and γ changes by no more than `newton_tol`·(1 + max|γ|).
//!
//! Order 2 on smooth motion for θ = 1/2, else 1; order 1 through impacts, and where a constraint acts whose direction
//! turns (a joint, a curved contact): its W is that of the end for the whole step. Velocity level: a contact that
//! closes penetrates by O(dt), and nonlinear constraints drift (see `stabilise`).

mod options;

pub use options::{ForceRule, Forecast, MoreauJeanOptions};

use super::velocity_level::{ACTIVATION, Applied, SUPPORTS, VelocityLevel, gap, kinematics_residual};
use super::{Failure, Order, Scheme, SchemeInfo, Solve};
use crate::contract::{Kind, System};
use crate::simulation::{Certificate, Ledger, Meter};
use crate::state::{State, Step, rates_into};
use complementarity::FullProblem;
use complementarity::linear::Matrix;
use complementarity::linear::dense::{all_finite, max_norm};

pub(super) static INFO: SchemeInfo = SchemeInfo {
    name: "moreau-jean",
    summary: "Moreau-Jean theta scheme: velocity level, implicit forces by Newton",
    reference: "Acary2013, (18); Schindler2014, Alg. 1.4",
    position_level: false,
    impact_steps: 1,
    looks_ahead: false,
    stages: 1,
    supports: SUPPORTS,
    options: options::OPTIONS,
    make: |s| Ok(Box::new(MoreauJean::new(MoreauJeanOptions::from_settings(s)?))),
};

/// The Moreau-Jean scheme. See the [module](self).
pub struct MoreauJean {
    options: MoreauJeanOptions,
    work: Option<Box<VelocityLevel>>,
    buffers: Buffers,
}

#[derive(Default)]
struct Buffers {
    q_theta: Vec<f64>,
    u_theta: Vec<f64>,
    q: Vec<f64>,
    v: Vec<f64>,
    qdot: Vec<f64>,
    /// q̇ at the start, and M_k⁻¹ h_k (trapezoidal forces).
    qdot0: Vec<f64>,
    a0: Vec<f64>,
    mass0: Option<Matrix>,
    /// Whether M̂ depends on the step length alone.
    constant_matrix: bool,
    /// Step length for which M̂ is assembled, if it can be kept.
    assembled_for: Option<f64>,
}

/// Newton iterations before a step is given up: a quadratic iteration that needs more does not converge.
const MAX_NEWTON: usize = 30;
/// Residual at which nothing is left to gain.
const ROUNDING: f64 = 1e-14;
/// Fixed-point iterations for q from u where q̇ = B(q) u + β.
const MAX_KINEMATICS: usize = 50;

impl MoreauJean {
    /// With given options; panics never, wrong ranges are refused by [`super::make`].
    pub fn new(options: MoreauJeanOptions) -> Self {
        Self { options, work: None, buffers: Buffers::default() }
    }

    /// The options.
    pub fn options(&self) -> &MoreauJeanOptions {
        &self.options
    }

    /// q̇ and M_k⁻¹h_k at the start, for trapezoidal forces.
    fn begin_trapezoid(&mut self, system: &dyn System, start: &State) -> Result<(), Failure> {
        let Some(work) = self.work.as_mut() else { return Ok(()) };
        let b = &mut self.buffers;
        b.qdot0.resize(start.q.len(), 0.0);
        rates_into(system, start.t, &start.q, &start.u, &mut b.qdot0);
        work.assemble_forces(system, start.t, &start.q, &start.u);
        b.a0.clone_from(&work.h);
        let mass0 = b.mass0.get_or_insert_with(|| Matrix::new(&system.structure().pattern));
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
    fn positions(&mut self, system: &dyn System, start: &State, dt: f64) {
        let (theta, b) = (self.options.theta, &mut self.buffers);
        let n = start.q.len();
        if system.structure().identity_kinematics {
            // Both rules coincide: q̇ is u.
            for (((q, q0), u0), v) in b.q.iter_mut().zip(&start.q).zip(&start.u).zip(&b.v) {
                *q = q0 + dt * between(theta, *u0, *v);
            }
            return;
        }
        for _ in 0..MAX_KINEMATICS {
            match self.options.force {
                ForceRule::Theta => {
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
            let mut change: f64 = 0.0;
            for i in 0..n {
                let next = start.q[i] + dt * b.qdot[i];
                change = change.max((next - b.q[i]).abs());
                b.q[i] = next;
            }
            if !(change > 4.0 * f64::EPSILON * (1.0 + max_norm(&b.q))) {
                break;
            }
        }
    }

    /// The trial (q, v) that Newton's method starts from, v = u_k, with q_θ and u_θ.
    fn guess(&mut self, system: &dyn System, start: &State, dt: f64) {
        let (theta, b) = (self.options.theta, &mut self.buffers);
        if !system.structure().identity_kinematics {
            b.v.clone_from(&start.u);
            b.q.clone_from(&start.q);
            self.positions(system, start, dt);
            self.blend_trial(start);
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
    fn blend_trial(&mut self, start: &State) {
        let (theta, b) = (self.options.theta, &mut self.buffers);
        blend(theta, &start.q, &b.q, &mut b.q_theta);
        blend(theta, &start.u, &b.v, &mut b.u_theta);
    }

    /// M, h and the rows with everything at the trial (q, v) and (q_θ, u_θ) in the buffers.
    fn evaluate(&mut self, system: &dyn System, start: &State, step: &Step) {
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
        work.assemble_rows(system, t1, &b.q, step);
    }

    /// M̂ into the one-step problem.
    fn assemble_matrix(&mut self, system: &dyn System, start: &State, dt: f64) {
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

    /// Newton's method for the step with the active set as it is in `step`.
    fn newton(
        &mut self,
        system: &dyn System,
        start: &State,
        solve: &mut Solve,
        step: &mut Step,
    ) -> Result<(), Failure> {
        let dt = step.dt;
        self.guess(system, start, dt);
        self.evaluate(system, start, step);
        if let Some(work) = self.work.as_mut() {
            work.warm_start(start, &step.candidates);
            work.forget_velocities();
        }
        let affine = system.structure().identity_kinematics && self.buffers.constant_matrix;
        let mut residual = f64::INFINITY;
        let mut polished = false;
        for iteration in 0..MAX_NEWTON {
            self.assemble_matrix(system, start, dt);
            let Some(work) = self.work.as_mut() else { break };
            // f = M̂ v − M (v − u_k) + dt h.
            let v = &self.buffers.v;
            work.full.matrix.multiply(v, &mut work.full.f);
            if iteration > 0 {
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
            work.solve(system, solve, &mut step.report)?;
            std::mem::swap(&mut self.buffers.v, &mut work.v);
            work.velocities_after(&self.buffers.v);
            step.report.newton += 1;
            if affine && work.constant_rows() {
                // One iteration is exact.
                self.positions(system, start, dt);
                if !all_finite(&self.buffers.v) {
                    return Err(Failure::NotFinite { what: "the state".into() });
                }
                return Ok(());
            }

            // Everything anew at the new state: the true residual.
            self.positions(system, start, dt);
            if !(all_finite(&self.buffers.v) && all_finite(&self.buffers.q)) {
                return Err(Failure::NotFinite { what: "the state".into() });
            }
            self.blend_trial(start);
            self.evaluate(system, start, step);
            let Some(work) = self.work.as_mut() else { break };
            let change = work.velocities_after(&self.buffers.v);
            let (dynamics, scale) = work.dynamics_residual(&start.u, &self.buffers.v, dt);
            if !dynamics.is_finite() {
                return Err(Failure::NotFinite { what: "the equation of motion".into() });
            }
            residual = if dynamics > 0.0 { dynamics / scale } else { 0.0 };
            let (tol, velocity) = (self.options.newton_tol, 1.0 + work.velocity_scale());
            if residual <= tol && change <= tol * velocity {
                // Within the tolerance, one more iteration takes a quadratic method to rounding.
                if polished || (residual <= ROUNDING && change <= ROUNDING * velocity) {
                    return Ok(());
                }
                polished = true;
            } else {
                polished = false;
            }
        }
        Err(Failure::Newton { iterations: MAX_NEWTON, residual })
    }

    fn resize(&mut self, system: &dyn System) {
        let (work, fresh) = VelocityLevel::prepare(&mut self.work, system);
        if !fresh {
            return;
        }
        work.size_vectors();
        let s = system.structure();
        let (nq, nu) = (s.nq(), s.nu());
        let b = &mut self.buffers;
        b.constant_matrix = s.constant_mass && s.forces.iter().all(|f| f.constant_jacobian);
        for v in [&mut b.q_theta, &mut b.q, &mut b.qdot, &mut b.qdot0] {
            v.resize(nq, 0.0);
        }
        for v in [&mut b.u_theta, &mut b.v, &mut b.a0] {
            v.resize(nu, 0.0);
        }
        b.assembled_for = None;
        b.mass0 = None;
    }

    /// Forecast (61): decides which contacts are active and takes γ⁻ of all active interactions.
    fn activate_explicit(
        &mut self,
        system: &dyn System,
        start: &State,
        gamma: f64,
        out: &mut Step,
    ) -> Result<(), Failure> {
        let Some(work) = self.work.as_mut() else { return Ok(()) };
        let (t, q, u) = (start.t, &start.q, &start.u);
        for (i, k) in out.candidates.items().iter().enumerate() {
            let mut known = false;
            out.active[i] = match k.kind {
                Kind::Contact => {
                    let mut forecast = gap(system, k, t, q)?;
                    if gamma > 0.0 {
                        work.velocity_before(system, t, q, u, &out.candidates, i);
                        known = true;
                        forecast += gamma * out.dt * work.before(&out.candidates, i)[0];
                    }
                    forecast <= ACTIVATION
                }
                _ => true,
            };
            if out.active[i] && !known {
                work.velocity_before(system, t, q, u, &out.candidates, i);
            }
        }
        Ok(())
    }

    /// Forecast (62): the same with the end velocity of the step without contacts.
    fn activate_free(
        &mut self,
        system: &dyn System,
        start: &State,
        solve: &mut Solve,
        out: &mut Step,
    ) -> Result<(), Failure> {
        let contacts = out.candidates.items().iter().any(|k| k.kind == Kind::Contact);
        for (i, k) in out.candidates.items().iter().enumerate() {
            out.active[i] = k.kind != Kind::Contact;
        }
        let (t, q, u) = (start.t, &start.q, &start.u);
        if let Some(work) = self.work.as_mut() {
            work.velocities_before(system, t, q, u, &out.candidates, &out.active);
        }
        if !contacts {
            return Ok(());
        }
        self.newton(system, start, solve, out)?;
        let Some(work) = self.work.as_mut() else { return Ok(()) };
        let b = &mut self.buffers;
        blend(self.options.theta, u, &b.v, &mut b.u_theta);
        for (i, k) in out.candidates.items().iter().enumerate() {
            if k.kind == Kind::Contact {
                work.velocity_before(system, t, q, &b.u_theta, &out.candidates, i);
                let forecast = gap(system, k, t, q)? + out.dt * work.before(&out.candidates, i)[0];
                out.active[i] = forecast <= ACTIVATION;
            }
        }
        work.velocities_before(system, t, q, u, &out.candidates, &out.active);
        Ok(())
    }

    /// Puts a finished step back into the buffers, with everything evaluated there.
    fn revisit(&mut self, system: &dyn System, start: &State, step: &Step) -> bool {
        self.resize(system);
        if self.options.force == ForceRule::Trapezoid && self.begin_trapezoid(system, start).is_err() {
            return false;
        }
        self.buffers.q.clone_from(&step.end.q);
        self.buffers.v.clone_from(&step.end.u);
        if let Some(work) = self.work.as_mut() {
            work.begin(&step.candidates);
            work.velocities_before(system, start.t, &start.q, &start.u, &step.candidates, &step.active);
        }
        self.blend_trial(start);
        self.evaluate(system, start, step);
        if let Some(work) = self.work.as_mut() {
            work.take_percussions(step);
        }
        true
    }
}

impl Scheme for MoreauJean {
    fn info(&self) -> &'static SchemeInfo {
        &INFO
    }

    fn order(&self) -> Order {
        Order { smooth: if self.options.theta == 0.5 { 2 } else { 1 }, impacts: 1 }
    }

    fn step(
        &mut self,
        system: &dyn System,
        start: &State,
        dt: f64,
        solve: &mut Solve,
        out: &mut Step,
    ) -> Result<(), Failure> {
        self.resize(system);
        out.begin(dt);
        if self.options.force == ForceRule::Trapezoid {
            self.begin_trapezoid(system, start)?;
        }

        if let Some(work) = self.work.as_mut() {
            work.begin(&out.candidates);
        }
        match self.options.forecast {
            Forecast::Explicit { gamma } => self.activate_explicit(system, start, gamma, out)?,
            Forecast::Free => self.activate_free(system, start, solve, out)?,
        }
        self.newton(system, start, solve, out)?;
        out.end.t = start.t + dt;
        std::mem::swap(&mut out.end.q, &mut self.buffers.q);
        std::mem::swap(&mut out.end.u, &mut self.buffers.v);
        if let Some(work) = self.work.as_mut() {
            work.finish(out);
        }
        Ok(())
    }

    fn certify(&mut self, system: &dyn System, start: &State, step: &Step, out: &mut Certificate) {
        if !self.revisit(system, start, step) {
            out.clear();
            out.dynamics = f64::INFINITY;
            return;
        }
        // Kinematics with q_θ from the stored end.
        let (theta, b) = (self.options.theta, &mut self.buffers);
        match self.options.force {
            ForceRule::Theta => rates_into(system, start.t + theta * step.dt, &b.q_theta, &b.u_theta, &mut b.qdot),
            ForceRule::Trapezoid => {
                rates_into(system, start.t + step.dt, &step.end.q, &step.end.u, &mut b.qdot);
                for i in 0..b.qdot.len() {
                    b.qdot[i] = (1.0 - theta) * b.qdot0[i] + theta * b.qdot[i];
                }
            }
        }
        let kinematics = kinematics_residual(start, step, &b.qdot);
        if let Some(work) = self.work.as_mut() {
            work.certify(system, start, step, kinematics, out);
        }
    }

    fn account(&mut self, system: &dyn System, start: &State, step: &Step, meter: &mut Meter, out: &mut Ledger) {
        if !self.revisit(system, start, step) {
            return;
        }
        let Some(work) = self.work.as_mut() else { return };
        let (theta, rule, b) = (self.options.theta, self.options.force, &mut self.buffers);
        blend(0.5, &start.u, &step.end.u, &mut b.v);
        let t_theta = start.t + theta * step.dt;
        let applied = Applied { mean: &b.v, moved: &b.u_theta, q_star: &b.q_theta };
        let force = |work: &mut VelocityLevel, i: usize, h: &mut [f64]| match rule {
            ForceRule::Theta => system.force(i, t_theta, &b.q_theta, &b.u_theta, h),
            ForceRule::Trapezoid => {
                // θ h_i(k+1) + (1−θ) M_{k+1} M_k⁻¹ h_i(k).
                work.v.fill(0.0);
                system.force(i, start.t, &start.q, &start.u, &mut work.v);
                if let Some(m0) = &b.mass0 {
                    m0.solve(&mut work.v);
                }
                work.mass.multiply(&work.v, &mut work.scratch);
                system.force(i, step.end.t, &step.end.q, &step.end.u, h);
                for (h, lagged) in h.iter_mut().zip(&work.scratch) {
                    *h = theta * *h + (1.0 - theta) * lagged;
                }
            }
        };
        work.account(system, start, step, &applied, force, meter, out);
    }

    fn last_problem(&self) -> Option<&FullProblem> {
        self.work.as_ref().map(|w| &w.full)
    }
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
