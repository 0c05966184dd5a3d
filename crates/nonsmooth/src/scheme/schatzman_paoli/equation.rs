//! One equation of the scheme: positions before, in the middle and after, and the percussions P = p/dt between them.
//!
//! With w = (q₊ − q)/dt, w₋ = (q − q₋)/dt and P = p/dt in N·s, (20a) and (22) read
//!
//! ```text
//! M(t₊,q₊)(w − w₋) = dt h(t_θ,q_θ,v_θ) + Σ G(t_e,q_e) P,    0 ≤ ξ ⊥ P ≥ 0,    ξ = (1 + e) g(t_e,q_e)/dt ,
//! ```
//!
//! an ordinary one-step problem in the unknown w, because ∂ξ/∂w = Gᵀ. The first step of a run has the same form with q_θ = q_{1/2} and
//! 2M(t_{1/2},q_{1/2})(w − u₀) on the left.
//!
//! Newton: M̂ (w⁺ − w) = −(M Δw − dt h) + G P⁺ with M̂ = κM − dt (dt θ h_q + ν h_u) and ξ linearised at w; κ = 1, ν = ½ + θ (first step: κ = 2,
//! ν = 1, θ = ½). What M and G change with w is left out of M̂: the rate of convergence is then O(dt), and what counts is the residual with everything
//! evaluated anew.
//!
//! A contact that is far from closing would only spoil the scale of the problem with its large ξ: it takes no part until an iterate has ξ < 0 there. At
//! the end ξ ≥ 0 at all that take none, so that with P = 0 they satisfy their law, and what is found solves the whole.

use super::SchatzmanPaoliOptions;
use crate::contract::{Candidates, Evaluator, Interaction, Kind};
use crate::scheme::velocity_level::{Iteration, VelocityLevel};
use crate::scheme::{Failure, Solve};
use crate::state::StepReport;
use complementarity::linear::dense::max_norm;
use complementarity::sets::MAX_DIM;

/// Newton iterations before a step is given up: an iteration that converges with O(dt) and needs more does not converge.
const MAX_NEWTON: usize = 30;
/// Residual at which nothing is left to gain.
const ROUNDING: f64 = 1e-14;

/// Steps like the present one within which a contact must close to take part from the beginning.
const NEAR: f64 = 2.0;
/// ξ (m/s) below which a contact takes part in any case: a contact at rest stands above zero by rounding.
const RESTING: f64 = 1e-6;

/// What came before the middle position.
#[derive(Clone, Copy)]
pub(super) enum Before<'a> {
    /// The position one step earlier.
    Position(&'a [f64]),
    /// The velocity with which the run starts.
    Velocity(&'a [f64]),
}

/// Data of an equation: everything that its solution depends on.
#[derive(Clone, Copy)]
pub(super) struct EquationInput<'a> {
    /// Time of the middle position, s.
    pub(super) t: f64,
    /// Step, s.
    pub(super) dt: f64,
    pub(super) before: Before<'a>,
    pub(super) middle: &'a [f64],
}

/// Workspace of an equation.
#[derive(Default)]
pub(super) struct Equation {
    pub(super) work: Option<Box<VelocityLevel>>,
    /// q₋; q₀ − dt u₀ in the first step.
    before: Vec<f64>,
    /// w₋; u₀ in the first step.
    pub(super) w0: Vec<f64>,
    /// w and q₊.
    pub(super) w: Vec<f64>,
    pub(super) q: Vec<f64>,
    pub(super) q_theta: Vec<f64>,
    pub(super) v_theta: Vec<f64>,
    /// ξ of all candidates, component by component.
    pub(super) xi: Vec<f64>,
    /// Which candidates take part, and the first row of each.
    pub(super) included: Vec<bool>,
    first_row: Vec<usize>,
    q_e: Vec<f64>,
    g: Vec<f64>,
    direction: Vec<f64>,
    chi: Vec<f64>,
    /// κ w and κ w₋.
    momentum: [Vec<f64>; 2],
    theta: f64,
    /// Factor of M: 1, and 2 in the first step.
    kappa: f64,
    /// Whether M̂ depends on dt and κ alone, and those it is assembled for.
    constant_matrix: bool,
    assembled_for: Option<(f64, f64)>,
    rows_version: u64,
    rows_included: Vec<bool>,
    rows_constant: bool,
}

impl Equation {
    /// Makes room for a system.
    pub(super) fn prepare(&mut self, system: &Evaluator) {
        let (work, fresh) = VelocityLevel::prepare(&mut self.work, system, Iteration::Jacobian);
        if !fresh {
            return;
        }
        work.size_vectors();
        let s = system.structure();
        let n = s.nq();
        self.constant_matrix = s.constant_mass && s.forces.iter().all(|f| f.constant_jacobian);
        self.assembled_for = None;
        self.rows_version = 0;
        for v in [&mut self.before, &mut self.w0, &mut self.w, &mut self.q, &mut self.q_theta, &mut self.v_theta] {
            v.resize(n, 0.0);
        }
        self.q_e.clear();
        self.q_e.resize(n, 0.0);
        self.momentum.iter_mut().for_each(|v| v.resize(n, 0.0));
    }

    /// Sets the data of an equation.
    pub(super) fn begin(&mut self, options: &SchatzmanPaoliOptions, input: &EquationInput) {
        let dt = input.dt;
        match input.before {
            Before::Position(p) => {
                (self.kappa, self.theta) = (1.0, options.theta);
                self.before.copy_from_slice(p);
                for ((w, q), p) in self.w0.iter_mut().zip(input.middle).zip(p) {
                    *w = (q - p) / dt;
                }
            }
            Before::Velocity(u) => {
                (self.kappa, self.theta) = (2.0, 0.5);
                self.w0.copy_from_slice(u);
                for ((p, q), u) in self.before.iter_mut().zip(input.middle).zip(u) {
                    *p = q - dt * u;
                }
            }
        }
    }

    /// q₊ from w.
    fn move_on(&mut self, input: &EquationInput) {
        for ((q, middle), w) in self.q.iter_mut().zip(input.middle).zip(&self.w) {
            *q = middle + input.dt * w;
        }
    }

    /// w from a given q₊.
    pub(super) fn set_after(&mut self, input: &EquationInput, after: &[f64]) {
        self.q.copy_from_slice(after);
        for ((w, middle), q) in self.w.iter_mut().zip(input.middle).zip(after) {
            *w = (q - middle) / input.dt;
        }
    }

    /// M, h, G and ξ with everything at the present w and q₊.
    pub(super) fn evaluate(
        &mut self,
        system: &Evaluator,
        input: &EquationInput,
        list: &Candidates,
    ) -> Result<(), Failure> {
        let (theta, dt) = (self.theta, input.dt);
        for i in 0..self.q.len() {
            self.q_theta[i] = (1.0 - theta) * input.middle[i] + theta * self.q[i];
            // The slope at t_θ of the parabola through the three positions; in the first step the mean velocity.
            let before = if self.kappa == 1.0 { (0.5 - theta) * self.w0[i] } else { 0.0 };
            self.v_theta[i] = (0.5 + theta) * self.w[i] + before;
        }
        let Some(work) = self.work.as_mut() else { return Ok(()) };
        let t_theta = input.t + theta * dt;
        match input.before {
            Before::Position(_) => work.assemble_mass(system, input.t + dt, &self.q),
            Before::Velocity(_) => work.assemble_mass(system, t_theta, &self.q_theta),
        }
        match system.at_break(input.t, dt) {
            None => work.assemble_forces(system, t_theta, &self.q_theta, &self.v_theta),
            Some(sides) => {
                // Central differences reach half a step to both sides, in the step that ends there and in the one that begins.
                work.h.fill(0.0);
                for side in sides {
                    side.forces(t_theta, &self.q_theta, &self.v_theta, &mut work.h);
                }
                work.h.iter_mut().for_each(|h| *h *= 0.5);
            }
        }
        self.rows(system, input, list)
    }

    /// Adds force `i` as the equation has it.
    pub(super) fn add_force(&self, system: &Evaluator, input: &EquationInput, i: usize, h: &mut [f64]) {
        let t_theta = input.t + self.theta * input.dt;
        match system.at_break(input.t, input.dt) {
            None => system.force(i, t_theta, &self.q_theta, &self.v_theta, h),
            Some(sides) => {
                sides.iter().for_each(|side| side.force(i, t_theta, &self.q_theta, &self.v_theta, h));
                h.iter_mut().for_each(|h| *h *= 0.5);
            }
        }
    }

    /// ξ of a candidate at the present q₊ into `g`, with q_e in `q_e`; returns t_e.
    fn gap(&mut self, system: &Evaluator, input: &EquationInput, k: &Interaction) -> Result<f64, Failure> {
        let e = k.law.restitution(0);
        for &j in k.dofs.iter() {
            let j = j as usize;
            self.q_e[j] = (self.q[j] + e * self.before[j]) / (1.0 + e);
        }
        let t_e = input.t + input.dt * (1.0 - e) / (1.0 + e);
        self.g.resize(k.dim(), 0.0);
        system.position(k, t_e, &self.q_e, &mut self.g);
        if !self.g.iter().all(|g| g.is_finite()) {
            let kind = if k.kind == Kind::Contact { "gap of contact" } else { "defect of joint" };
            return Err(Failure::NotFinite { what: format!("the {kind} `{}`", system.name(k.id)) });
        }
        self.g.iter_mut().for_each(|g| *g = (1.0 + e) * *g / input.dt);
        Ok(t_e)
    }

    /// Which contacts may close: those that would within some more steps like the one from `middle` to q₊.
    fn select(&mut self, system: &Evaluator, input: &EquationInput, list: &Candidates) -> Result<(), Failure> {
        self.included.clear();
        self.included.resize(list.len(), true);
        for (i, k) in list.items().iter().enumerate().filter(|(_, k)| k.kind == Kind::Contact) {
            self.gap(system, input, k)?;
            let moved = self.g[0];
            for &j in k.dofs.iter() {
                self.q[j as usize] = input.middle[j as usize];
            }
            self.gap(system, input, k)?;
            let still = self.g[0];
            for &j in k.dofs.iter() {
                self.q[j as usize] = input.middle[j as usize] + input.dt * self.w[j as usize];
            }
            self.included[i] = moved.min(still) <= NEAR * (moved - still).abs() + RESTING;
        }
        Ok(())
    }

    /// Lets all candidates take part.
    pub(super) fn include_all(&mut self, list: &Candidates) {
        self.included.clear();
        self.included.resize(list.len(), true);
    }

    /// Takes contacts in that are violated. Whether there were any.
    fn include_violated(&mut self, list: &Candidates) -> bool {
        let mut any = false;
        for (i, included) in self.included.iter_mut().enumerate() {
            if !*included && self.xi[list.range(i).start] < 0.0 {
                (*included, any) = (true, true);
            }
        }
        any
    }

    /// Rows of what takes part: G and ξ at (t_e, q_e), and c = ξ − Gᵀw; ξ of the others too.
    fn rows(&mut self, system: &Evaluator, input: &EquationInput, list: &Candidates) -> Result<(), Failure> {
        let same = self.rows_version == list.version() && self.rows_included == self.included;
        let kept = self.rows_constant && same;
        if !kept {
            self.rows_version = list.version();
            self.rows_included.clone_from(&self.included);
            self.rows_constant = true;
            self.first_row.clear();
            if let Some(work) = self.work.as_mut() {
                work.full.clear_blocks();
            }
        }
        self.xi.clear();
        for (i, k) in list.items().iter().enumerate() {
            let t_e = self.gap(system, input, k)?;
            self.xi.extend_from_slice(&self.g);
            if kept {
                continue;
            }
            let Some(work) = self.work.as_mut() else { break };
            self.first_row.push(work.full.c.len());
            if !self.included[i] {
                continue;
            }
            self.rows_constant &= k.constant;
            let n = k.dofs.len();
            self.direction.resize(k.dim() * n, 0.0);
            self.chi.resize(k.dim(), 0.0);
            system.velocity(k, t_e, &self.q_e, &mut self.direction, &mut self.chi);
            let (full, rows) = (&mut work.full, &self.direction);
            let mut at = 0;
            k.law.percussion_sets(k.dim(), input.dt, |set| {
                let d = set.dim();
                full.push_block(set, &k.dofs, &[0.0; MAX_DIM][..d]).copy_from_slice(&rows[at * n..(at + d) * n]);
                at += d;
            });
        }
        let Some(work) = self.work.as_mut() else { return Ok(()) };
        for (i, &row) in self.first_row.iter().enumerate().filter(|(i, _)| self.included[*i]) {
            let range = list.range(i);
            work.full.c[row..row + range.len()].copy_from_slice(&self.xi[range]);
        }
        for b in 0..work.full.blocks().len() {
            let rows = work.rows(b);
            let mut along = [0.0; MAX_DIM];
            work.full.coupling().add_velocity(b, &self.w, &mut along[..rows.len()]);
            for (c, a) in work.full.c[rows].iter_mut().zip(along) {
                *c -= a;
            }
        }
        Ok(())
    }

    /// M̂ into the one-step problem.
    fn assemble_matrix(&mut self, system: &Evaluator, input: &EquationInput) {
        let Some(work) = self.work.as_mut() else { return };
        let (theta, kappa, dt) = (self.theta, self.kappa, input.dt);
        let wanted = Some((dt, kappa));
        if self.constant_matrix && self.assembled_for == wanted {
            return;
        }
        self.assembled_for = wanted;
        work.full.matrix.clear();
        work.full.matrix.add_scaled(kappa, &work.mass);
        let nu = 0.5 + theta;
        for i in 0..system.structure().forces.len() {
            let m = &mut work.full.matrix;
            let t = input.t + theta * dt;
            system.force_jacobian(i, t, &self.q_theta, &self.v_theta, -dt * dt * theta, -dt * nu, m);
        }
    }

    /// M Δw − dt h − G P with P in `work.r`: its largest entry beyond the rounding of M w, and the size of its terms. The vector is left in
    /// `work.scratch`.
    pub(super) fn dynamics_residual(&mut self, dt: f64) -> (f64, f64) {
        let Some(work) = self.work.as_mut() else { return (0.0, 0.0) };
        let [now, then] = &mut self.momentum;
        for i in 0..self.w.len() {
            now[i] = self.kappa * self.w[i];
            then[i] = self.kappa * self.w0[i];
        }
        work.dynamics_residual(then, now, dt)
    }

    /// Largest entry of the natural map of (P, ξ).
    fn law_residual(&self, list: &Candidates) -> f64 {
        let Some(work) = self.work.as_ref() else { return 0.0 };
        let mut worst: f64 = 0.0;
        for (i, k) in list.items().iter().enumerate().filter(|(i, _)| self.included[*i]) {
            for (j, row) in list.range(i).zip(self.first_row[i]..) {
                let xi = self.xi[j];
                let f = if k.kind == Kind::Contact { work.r[row].min(xi) } else { xi };
                worst = worst.max(f.abs());
            }
        }
        worst
    }

    /// P by component of the candidates.
    pub(super) fn percussions(&self, list: &Candidates, p: &mut Vec<f64>) {
        p.clear();
        p.resize(list.components(), 0.0);
        let Some(work) = self.work.as_ref() else { return };
        for i in (0..list.len()).filter(|&i| self.included[i]) {
            let range = list.range(i);
            let row = self.first_row[i];
            p[range.clone()].copy_from_slice(&work.r[row..row + range.len()]);
        }
    }

    /// Solves for q₊ (left in `q`, its velocity in `w`) and P (see [`Equation::percussions`]), from P = 0: a function of its arguments
    /// alone.
    pub(super) fn solve(
        &mut self,
        options: &SchatzmanPaoliOptions,
        system: &Evaluator,
        input: &EquationInput,
        list: &Candidates,
        solve: &mut Solve,
        report: &mut StepReport,
    ) -> Result<(), Failure> {
        let dt = input.dt;
        self.begin(options, input);
        self.w.clone_from(&self.w0);
        self.move_on(input);
        self.select(system, input, list)?;
        self.evaluate(system, input, list)?;
        let mut start_anew = true;
        let mut residual = f64::INFINITY;
        let mut polished = false;
        for _ in 0..MAX_NEWTON {
            self.assemble_matrix(system, input);
            let Some(work) = self.work.as_mut() else { break };
            if start_anew {
                work.r.clear();
                work.r.resize(work.full.c.len(), 0.0);
            }
            // f = M̂ w − M Δw + dt h.
            work.full.matrix.multiply(&self.w, &mut work.full.f);
            for (d, (w, w0)) in work.v.iter_mut().zip(self.w.iter().zip(&self.w0)) {
                *d = self.kappa * (w - w0);
            }
            work.mass.multiply(&work.v, &mut work.scratch);
            for ((f, m), h) in work.full.f.iter_mut().zip(&work.scratch).zip(&work.h) {
                *f += dt * h - m;
            }
            work.solve(system, solve, report)?;
            // The solver stops at its own tolerance and does not go on from there.
            let left = solve.options.tolerance * work.full.reduced().velocity_scale();
            std::mem::swap(&mut self.w, &mut work.v);
            report.newton += 1;
            self.move_on(input);
            if !self.w.iter().chain(&self.q).all(|x| x.is_finite()) {
                return Err(Failure::NotFinite { what: "the state".into() });
            }

            // Everything anew at the new state: the true residual.
            let exact = self.constant_matrix && self.rows_constant;
            self.evaluate(system, input, list)?;
            start_anew = self.include_violated(list);
            if start_anew {
                self.rows(system, input, list)?;
                polished = false;
                continue;
            }
            if exact {
                // One iteration is enough.
                return Ok(());
            }
            let (dynamics, scale) = self.dynamics_residual(dt);
            if !dynamics.is_finite() {
                return Err(Failure::NotFinite { what: "the equation of motion".into() });
            }
            residual = if dynamics > 0.0 { dynamics / scale } else { 0.0 };
            let law = self.law_residual(list);
            // A gap is a difference of coordinates: its rounding, over dt, is no residual.
            let floor = 16.0 * f64::EPSILON * (1.0 + max_norm(&self.q)) / dt;
            let (tol, velocity) = (options.newton_tol, 1.0 + max_norm(&self.w));
            if residual <= tol && law <= tol * velocity + floor + left {
                // Within the tolerance, one more iteration takes it to rounding.
                if polished || (residual <= ROUNDING && law <= ROUNDING * velocity + floor) {
                    return Ok(());
                }
                polished = true;
            } else {
                polished = false;
            }
        }
        Err(Failure::Newton { iterations: MAX_NEWTON, residual })
    }
}
