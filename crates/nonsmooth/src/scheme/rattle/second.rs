//! The second stage, (43): u_{n+1} and the percussions P = P¹ + P² of the whole step.
//!
//! Written for P it is the one-step problem of a velocity-level scheme at (t_{n+1},q_{n+1}),
//!
//! ```text
//! M_{n+1} u_{n+1} = f + W_{n+1} P,    f = M_{n+1} v + (dt/2) h(t_{n+1},q_{n+1},v) − W_{n+1} P¹,
//! −ξ ∈ N_Â(P),    ξ = γ(t_{n+1},q_{n+1},u_{n+1}) + e γ(t_n,q_n,u_n)     for joints, elements and closed contacts,
//! ```
//!
//! so that besides the semismooth Newton method any solver can take it. A contact is closed if it carries P¹ or its gap is within
//! rounding of zero (errata: g_N ≤ 0 fails by rounding).
//!
//! **Impacts.** Of a contact that was open at t_n and has P¹_N > 0 (32) takes γ_N⁻ at q_n and γ_N⁺ at q_{n+1}. `approach = "arrival"` has one direction for both, and the approach with which the contact is reached:
//!
//! ```text
//! M_{n+1} (u_{n+1} − v) = (dt/2) h + W_{n+1} P² + (W_{n+1} − W_n) P¹      all of P along W_{n+1}
//! γ_N⁻ = −√(γ¹² + 2 dt G W_nᵀM⁻¹h P¹_N),   between γ⁰ = W_{n+1}ᵀu_n + χ_{n+1}, γ¹ = γ⁰ + dt W_{n+1}ᵀM⁻¹h and 0,   G = W_{n+1}ᵀM⁻¹W_{n+1}
//! ```
//!
//! The last term is what the forces do less in the step because P¹ ends the approach: a frictionless hit takes what its law says, nothing if e = 1, and a ball arrives with √(γ_n² + 2 g g_N). Joints and other
//! contacts of the bodies are not in G: with them that holds to O(dt).
//!
//! **Slip that turns.** (34) aligns the friction of the whole step with the slip at its end: backward Euler for the direction, and order 1 where it
//! turns. `friction_direction = "mean"` solves the stage with (34) first; then friction that slips without an impact, in two or more dimensions, with
//! γ_F(t_n)·γ_F(t_{n+1}) > 0, is aligned with γ_F(t_n) + γ_F(t_{n+1}) (the law with e_F = 1), and the stage solved again. Whatever
//! does not slip on like that keeps (34): stick, reversal and impact are as before, and friction works on the mean slip, never positive.
//! In the first stage γ_F is then the mean of both ends, which is what makes rolling (stick with W that turns) of order 2.

use super::RattleMemory;
use super::first::First;
use super::misfit::Misfit;
use super::{FrictionDirection, MAX_NEWTON, MAX_NEWTON_ROWS, RattleOptions, StepInput, Unsolved};
use crate::accounting::exceeds;
use crate::contract::{Evaluator, Kind};
use crate::scheme::velocity_level::{ACTIVATION, Iteration, Kinematics, VelocityLevel};
use crate::scheme::{Failure, Solve};
use crate::state::StepReport;
use complementarity::linear::dense::{all_finite, dot, max_norm, norm};
use complementarity::solver::{ActiveSet, ActiveSetStep};
use complementarity::{Set, capacity};

/// Slip velocity, relative to the largest velocity or percussion, that is none.
const RESTING: f64 = 1e-10;
/// Times that friction is aligned anew with the mean slip.
const MAX_ALIGNED: usize = 4;

/// How Newton's method ended.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Solution {
    /// Whether the percussions are not unique.
    pub(super) non_unique: bool,
    /// Whether a solver should have a look: percussions that are not unique have the least norm of all, not only of those with the modes found.
    pub(super) doubtful: bool,
}

#[derive(Default)]
pub(super) struct Second {
    pub(super) work: Option<Box<VelocityLevel>>,
    /// u_{n+1}.
    pub(super) u: Vec<f64>,
    /// P¹ by row.
    pub(super) p1: Vec<f64>,
    p2: Vec<f64>,
    xi: Vec<f64>,
    rho: Vec<(f64, f64)>,
    active_set: ActiveSet,
    /// Which rows were constrained in the last solution, and whether that left percussions open.
    constrained: Vec<bool>,
    now_constrained: Vec<bool>,
    open: bool,
    /// Friction that is aligned with the mean slip, by group.
    aligned: Vec<bool>,
    wanted: Vec<bool>,
    /// Whether velocities before an impact are those of the arrival.
    pub(super) arrival: bool,
    /// Contacts that are hit in the step, by place in the list, if that is at their arrival.
    pub(super) hits: Vec<usize>,
    /// M⁻¹h, and M⁻¹W of a contact.
    room: [Vec<f64>; 2],
}

impl Second {
    pub(super) fn prepare(&mut self, system: &Evaluator) {
        let (work, fresh) = VelocityLevel::prepare(&mut self.work, system, Iteration::Mass);
        if fresh {
            work.size_vectors();
            self.u.resize(system.structure().nu(), 0.0);
        }
    }

    /// Which contacts are closed at the end of the first stage.
    pub(super) fn activate(&mut self, input: &StepInput, q: &[f64], p1: &[f64], active: &mut [bool]) {
        for (i, k) in input.list.items().iter().enumerate() {
            active[i] = k.kind != Kind::Contact || {
                let carries = p1[input.list.range(i)].iter().any(|p| *p != 0.0);
                let mut g = [f64::INFINITY];
                if !carries {
                    input.system.position(k, input.end(), q, &mut g);
                }
                carries || g[0] <= ACTIVATION
            };
        }
    }

    /// M, h, rows and f at the end of the first stage, for what is active.
    pub(super) fn assemble(&mut self, input: &StepInput, first: &mut First, active: &[bool]) {
        let Some(work) = self.work.as_mut() else { return };
        let StepInput { system, start, dt, list } = *input;
        let t1 = input.end();
        let First { now, ahead, q, v, p: p1, .. } = first;
        work.begin(list);
        work.velocities_before_by(now, system, start.t, &start.q, &start.u, list, active);
        ahead.at(list, t1, q);
        work.assemble_mass(system, t1, q);
        work.assemble_forces(system, t1, q, v);
        if !system.structure().constant_mass || work.full.matrix.revision() == 0 {
            work.full.matrix.clear();
            work.full.matrix.add_scaled(1.0, &work.mass);
        }
        self.hits.clear();
        if self.arrival {
            for (i, k) in list.items().iter().enumerate() {
                if active[i] && k.kind == Kind::Contact && p1[list.range(i)][0] > 0.0 {
                    let mut g = [0.0];
                    system.position(k, start.t, &start.q, &mut g);
                    if g[0] > ACTIVATION {
                        let first = self.hits.is_empty();
                        work.meet(input, i, (now, ahead), q, &p1[list.range(i)], &mut self.room, first);
                        self.hits.push(i);
                    }
                }
            }
        }
        work.assemble_blocks(ahead, system, t1, q, list, active, dt);
        work.gather(list, p1);
        capacity::assign(&mut self.p1, &work.r);
        work.mass.multiply(v, &mut work.full.f);
        for (f, h) in work.full.f.iter_mut().zip(&work.h) {
            *f += 0.5 * dt * h;
        }
        for b in 0..work.full.blocks().len() {
            let rows = work.rows(b);
            self.p2.clear();
            self.p2.extend(rows.map(|row| -self.p1[row]));
            let full = &mut work.full;
            // The blocks stay as they are while f changes.
            let mut f = std::mem::take(&mut full.f);
            full.coupling().add_force(b, &self.p2, &mut f);
            full.f = f;
        }
    }

    /// Residual of the equation of motion, for looking at a finished step.
    pub(super) fn misfit_of(&mut self, input: &StepInput, v: &[f64]) -> Misfit {
        self.rho.clear();
        self.misfit(input, v)
    }

    /// The start guess: u_n, and P² of the step before.
    pub(super) fn guess(&mut self, input: &StepInput, predicted: bool) {
        let Some(work) = self.work.as_mut() else { return };
        let start = input.start;
        self.u.copy_from_slice(&start.u);
        work.r.copy_from_slice(&self.p1);
        let RattleMemory { middle, first: memory } = start.memory.of();
        if middle.is_empty() && predicted {
            // The first step: the forces of its start act in both halves.
            work.r.iter_mut().for_each(|r| *r *= 2.0);
        }
        if memory.len() != start.percussions.values().len() {
            return;
        }
        let mut r = std::mem::take(&mut work.r);
        for (i, _, row) in work.parts() {
            let k = &input.list.items()[i];
            if let Some(at) = start.percussions.place(i, k.id) {
                let range = start.percussions.range(at);
                if range.len() == k.dim() {
                    for (r, j) in r[row..].iter_mut().zip(range) {
                        *r += start.percussions.values()[j] - memory[j];
                    }
                }
            }
        }
        work.r = r;
    }

    /// ξ = Wᵀu + c of all rows.
    fn velocities(&mut self) {
        let Some(work) = self.work.as_ref() else { return };
        self.xi.clear();
        self.xi.extend_from_slice(&work.full.c);
        for b in 0..work.full.blocks().len() {
            let rows = work.rows(b);
            work.full.coupling().add_velocity(b, &self.u, &mut self.xi[rows]);
        }
    }

    /// Residuals at the present iterate.
    fn misfit(&mut self, input: &StepInput, v: &[f64]) -> Misfit {
        let mut m = Misfit::default();
        let Some(work) = self.work.as_mut() else { return m };
        m.p = max_norm(&work.r);
        // M(u − v) − (dt/2) h − W P².
        work.r.iter_mut().zip(&self.p1).for_each(|(r, p)| *r -= p);
        (m.dynamics, m.momentum) = work.dynamics_residual(v, &self.u, 0.5 * input.dt);
        work.r.iter_mut().zip(&self.p1).for_each(|(r, p)| *r += p);
        m.v = max_norm(&self.u);
        ActiveSet::residual(work.full.blocks(), &self.rho, &work.r, &self.xi, |_, f, constrained| {
            m.law(f, constrained, None);
        });
        m
    }

    /// The semismooth Newton method from the present iterate, or from its percussions alone.
    pub(super) fn newton(
        &mut self,
        o: &RattleOptions,
        input: &StepInput,
        v: &[f64],
        smaller: f64,
        predicted: bool,
        report: &mut StepReport,
    ) -> Result<Solution, Unsolved> {
        let Some(work) = self.work.as_mut() else { return Ok(Solution::default()) };
        if self.p1.len() > MAX_NEWTON_ROWS {
            return Err(Unsolved::Many);
        }
        if let Err(e) = work.full.reduce() {
            return Err(work.singular(input.system, e.row).into());
        }
        if predicted {
            work.full.recover(&work.r, &mut self.u);
        }
        match o.r {
            Some(r) => {
                self.rho.clear();
                self.rho.resize(work.full.blocks().len(), (r, r));
            }
            None => ActiveSet::factors(work.full.reduced(), &mut self.rho),
        }
        self.rho.iter_mut().for_each(|(n, t)| (*n, *t) = (smaller * *n, smaller * *t));
        self.velocities();
        let (mut non_unique, mut moved) = (false, false);
        for iteration in 0.. {
            let measure = self.misfit(input, v).measure(o);
            if measure <= 1.0 {
                break;
            }
            if !measure.is_finite() {
                return Err(Failure::NotFinite { what: "the equation of motion".into() }.into());
            }
            let Some(work) = self.work.as_mut() else { break };
            if iteration == MAX_NEWTON {
                return Err(Unsolved::Newton);
            }
            match self.active_set.step(work.full.reduced(), &self.rho, &mut work.r, &self.xi) {
                ActiveSetStep::Unique => non_unique = false,
                ActiveSetStep::LeastNorm => non_unique = true,
                ActiveSetStep::Failed => return Err(Unsolved::Newton),
            }
            work.full.recover(&work.r, &mut self.u);
            self.velocities();
            report.newton += 1;
            report.stages[1] += 1;
            moved = true;
        }
        let non_unique = self.judge(moved.then_some(non_unique));
        Ok(Solution { non_unique, doubtful: moved && (non_unique || self.rubs_at_rest()) })
    }

    /// Whether friction is on its bound without slip, beside other closed contacts: it might as well stick.
    fn rubs_at_rest(&self) -> bool {
        let Some(work) = self.work.as_ref() else { return false };
        let still = RESTING * max_norm(&self.u).max(max_norm(&work.r));
        let resting = |start: usize, set: &Set| {
            let first = usize::from(set.is_friction());
            let rows = start + first..start + set.dim();
            let bounded = set.is_friction() && work.r[start] > 0.0 || matches!(set, Set::Ball { .. });
            bounded && !self.constrained[rows.start] && max_norm(&self.xi[rows]) <= still
        };
        work.full.blocks().len() > 1 && work.full.blocks().iter().any(|b| resting(b.start, &b.set))
    }

    /// Whether the percussions of the present solution are not unique: `known` if Newton's method came here by a step. If the guess was the
    /// solution already, that is what it was with the same rows constrained, else what a step from here says.
    fn judge(&mut self, known: Option<bool>) -> bool {
        let Some(work) = self.work.as_ref() else { return false };
        let now = &mut self.now_constrained;
        now.clear();
        ActiveSet::residual(work.full.blocks(), &self.rho, &work.r, &self.xi, |_, _, constrained| {
            now.push(constrained);
        });
        self.open = match known {
            Some(open) => open,
            None if *now == self.constrained => self.open,
            None => {
                capacity::assign(&mut self.p2, &work.r);
                let step = self.active_set.step(work.full.reduced(), &self.rho, &mut self.p2, &self.xi);
                step == ActiveSetStep::LeastNorm
            }
        };
        std::mem::swap(&mut self.constrained, &mut self.now_constrained);
        self.open
    }

    /// The stage by a solver, from the present percussions.
    pub(super) fn by_solver(
        &mut self,
        input: &StepInput,
        solve: &mut Solve,
        report: &mut StepReport,
    ) -> Result<(), Failure> {
        let Some(work) = self.work.as_mut() else { return Ok(()) };
        let before = std::mem::take(&mut report.non_unique);
        let solved = work.solve(input.system, solve, report);
        self.open = report.non_unique;
        report.non_unique |= before;
        solved?;
        report.newton += 1;
        report.stages[1] += 1;
        self.u.copy_from_slice(&work.v);
        if all_finite(&self.u) { Ok(()) } else { Err(Failure::NotFinite { what: "the state".into() }) }
    }

    /// Decides which friction is to be aligned with the mean slip, at the present solution. Whether that changes what is aligned now.
    pub(super) fn align(&mut self, o: &RattleOptions, input: &StepInput, noise: f64, round: usize) -> bool {
        if o.friction_direction == FrictionDirection::End || round == MAX_ALIGNED {
            return false;
        }
        let Some(work) = self.work.as_mut() else { return false };
        work.velocities_after(&self.u);
        self.wanted.clear();
        let mut any = false;
        for (i, blocks, row) in work.parts() {
            let before = work.before(input.list, i);
            let mut wanted = false;
            for b in blocks {
                let rows = work.rows(b);
                let (set, first) = (&work.full.blocks()[b].set, rows.start - row);
                let after = &work.after()[rows.clone()];
                wanted |= slips_on(set, &work.r[rows], &before[first..first + after.len()], after);
            }
            let contact = input.list.items()[i].kind == Kind::Contact;
            if wanted && contact {
                let e = input.list.items()[i].law.restitution(0);
                let forces = work.full.reduced().b()[row] - (1.0 + e) * before[0];
                wanted = !exceeds(-before[0], forces, noise);
            }
            any |= wanted;
            self.wanted.push(wanted);
        }
        let same = if round == 0 { !any } else { self.wanted == self.aligned };
        if same {
            return false;
        }
        if round > 0 {
            // What has been aligned once and does not slip on is left to (34).
            self.wanted.iter_mut().zip(&self.aligned).for_each(|(w, a)| *w &= *a);
        }
        std::mem::swap(&mut self.aligned, &mut self.wanted);
        for (part, aligned) in self.aligned.iter().enumerate() {
            work.set_slip_restitution(input.list, part, aligned.then_some(1.0));
        }
        true
    }
}

impl VelocityLevel {
    /// γ⁻ with which contact `i` is reached, and (W_{n+1} − W_n) P¹ into h. M⁻¹h of the step is made by its `first` contact.
    fn meet(
        &mut self,
        input: &StepInput,
        i: usize,
        (now, ahead): (&mut Kinematics, &mut Kinematics),
        q: &[f64],
        p1: &[f64],
        [acceleration, along]: &mut [Vec<f64>; 2],
        first: bool,
    ) {
        let StepInput { system, start, dt, list } = *input;
        if first {
            capacity::assign(acceleration, &self.h);
            if self.full.matrix.factor().is_ok() {
                self.full.matrix.solve(acceleration);
            }
        }
        let (k, before) = (&list.items()[i], self.before_mut(list, i));
        let n = k.dofs.len();
        let (w1, chi) = ahead.evaluate(system, list, i, input.end(), q);
        for ((row, chi), before) in w1.chunks_exact(n).zip(chi).zip(before.iter_mut()) {
            *before = k.row_times(row, &start.u) + chi;
        }
        let (w0, _) = now.evaluate(system, list, i, start.t, &start.q);
        along.clear();
        along.resize(start.u.len(), 0.0);
        k.dofs.iter().zip(&w1[..n]).for_each(|(&j, w)| along[j as usize] = *w);
        if self.full.matrix.factor().is_ok() {
            self.full.matrix.solve(along);
        }
        let before = self.before_mut(list, i);
        let at_once = before[0];
        let last = at_once + dt * k.row_times(&w1[..n], acceleration);
        let less = dt * k.row_times(&w1[..n], along) * k.row_times(&w0[..n], acceleration) * p1[0];
        let arrival = -(last * last + 2.0 * less).max(0.0).sqrt();
        before[0] = arrival.max(at_once.min(last)).min(at_once.max(last)).min(0.0);
        for ((a, c), p) in w0.chunks_exact(n).zip(w1.chunks_exact(n)).zip(p1) {
            for ((&j, a), c) in k.dofs.iter().zip(a).zip(c) {
                self.h[j as usize] += 2.0 / dt * (c - a) * p;
            }
        }
    }
}

/// Whether the friction of a block slips at both ends of a step and turns by less than a right angle.
pub(super) fn slips_on(set: &Set, r: &[f64], before: &[f64], after: &[f64]) -> bool {
    let (first, radius, size) = match set {
        Set::Coulomb { dim, mu } if *dim > 1 => (1, mu * r[0], norm(&r[1..])),
        Set::Polyhedral { mu, polygon } => (1, mu * r[0], polygon.gauge([r[1], r[2]])),
        Set::Ball { dim, radius } if *dim > 1 => (0, *radius, norm(r)),
        // Friction along one line does not turn.
        Set::Coulomb { .. } | Set::Ball { .. } => return false,
        Set::Free { .. } | Set::NonNegative | Set::Interval { .. } => return false,
    };
    // On the boundary of its set, to the tolerance of solvers.
    let slips = size >= (1.0 - 1e-6) * radius;
    radius > 0.0 && slips && dot(&before[first..], &after[first..]) > 0.0
}
