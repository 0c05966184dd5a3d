//! The first stage, (41): q_{n+1}, the velocity v = u_{n+1/2} and the percussions P¹ of the first half.
//!
//! Rows of velocities in the unknown v, with δq = B_{n+1}(Z δv − η) of `sensitivity`:
//!
//! ```text
//! ξ = g(t_{n+1},q)/dt            δξ = W_{n+1}ᵀ (Z δv − η)/dt                contacts in normal direction, joints
//! ξ = W_{n+1}ᵀv + ½(χ_n + χ)     δξ = W_{n+1}ᵀ δv + γ_q B (Z δv − η)        friction, elements
//! ξ = ½(γ(t_n,q_n,v) + γ(t_{n+1},q,v))     likewise, half of it        velocity joints; friction and elements with mean slip
//! ```
//!
//! so that a Newton step is a one-step problem with force directions W_n and velocity rows Gᵀ = ∂ξ/∂v,
//!
//! ```text
//! M̂ v⁺ = f + W_n P⁺,    ξ⁺ = Gᵀv⁺ + c,    M̂ = M_n − (dt/2) h_u,    f = M̂ v − M_n (v − u_n) + (dt/2) h(t_n,q_n,v) ,
//! ```
//!
//! of which the semismooth Newton method solves the laws in the modes of the iterate ([`First::newton`]), and the other way
//! ([`First::by_solver`]) all of them, with G ≈ W_n: its rate is O(dt), and it serves any number of contacts. A contact takes part from the first
//! iterate on in which it is closed.

mod linear;
mod outer;

use super::RattleMemory;
use super::misfit::{Misfit, worsen};
use super::sensitivity::Sensitivity;
use super::{Guess, MAX_NEWTON, MAX_NEWTON_ROWS, RattleOptions, StepInput, Unsolved};
use crate::contract::{Candidates, Evaluator, Interaction, Kind};
use crate::scheme::Failure;
use crate::scheme::velocity_level::{ACTIVATION, Iteration, Kinematics, VelocityLevel};
use crate::state::{State, StepReport};
use complementarity::linear::dense::{all_finite, max_norm};
use complementarity::sets::MAX_DIM;
use complementarity::solver::{ActiveSet, ActiveSetStep};
use complementarity::{Problem, capacity};

/// Part of the residual that an iteration may leave for the linear model to be kept, where it starts near.
const CONTRACTION: f64 = 1e-2;
/// Fixed-point iterations for q of the start guess: each gains a factor of dt.
const PREDICTED: usize = 2;

/// Which velocities are taken with the mean kinematics of both ends.
#[derive(Debug, Clone, Copy)]
pub(super) struct Means {
    /// Slip of friction, and elements.
    pub(super) slip: bool,
    /// Velocity joints.
    pub(super) joints: bool,
}

impl Default for Means {
    fn default() -> Self {
        Self { slip: false, joints: true }
    }
}

#[derive(Default)]
pub(super) struct First {
    pub(super) work: Option<Box<VelocityLevel>>,
    /// W and χ at the start of the step, and at its end as far as it is known.
    pub(super) now: Kinematics,
    pub(super) ahead: Kinematics,
    /// Candidates that take part.
    pub(super) included: Vec<bool>,
    /// q_{n+1} and v.
    pub(super) q: Vec<f64>,
    pub(super) v: Vec<f64>,
    /// P¹ by component of the candidates.
    pub(super) p: Vec<f64>,
    /// ξ by row, and which rows are gaps or joints.
    pub(super) xi: Vec<f64>,
    pub(super) positional: Vec<bool>,
    /// Gaps over dt of contacts that take no part, by candidate; infinite for the others.
    open: Vec<f64>,
    /// max |R_q|.
    kinematics: f64,
    /// Gᵀ, and ∂ξ/∂q B without the 1/dt of positions, row by row.
    rows: Vec<f64>,
    slopes: Vec<f64>,
    /// Factors of the switching tests, block by block, and whether they are known.
    rho: Vec<(f64, f64)>,
    scaled: bool,
    sensitivity: Sensitivity,
    problem: Problem,
    active_set: ActiveSet,
    /// Forces with a potential.
    potentials: Vec<f64>,
    qdot: Vec<f64>,
    dv: Vec<f64>,
    g: Vec<f64>,
    /// Which velocities are means.
    pub(super) means: Means,
    constant_matrix: bool,
    room_for: u64,
    /// Whether open contacts were left out in this step.
    excluded: bool,
    /// Whether M̂ is that of the prediction.
    predicted: bool,
    assembled_for: Option<f64>,
}

impl First {
    pub(super) fn prepare(&mut self, system: &Evaluator) {
        let (work, fresh) = VelocityLevel::prepare(&mut self.work, system, Iteration::Jacobian);
        if !fresh {
            return;
        }
        work.size_vectors();
        (self.now, self.ahead) = Default::default();
        let s = system.structure();
        self.sensitivity.prepare(system);
        // A potential has no part in h_u.
        self.constant_matrix = s.constant_mass && s.forces.iter().all(|f| f.constant_jacobian || f.potential);
        (self.assembled_for, self.room_for) = (None, 0);
        for v in [&mut self.q, &mut self.qdot] {
            v.resize(s.nq(), 0.0);
        }
        for v in [&mut self.v, &mut self.dv] {
            v.resize(s.nu(), 0.0);
        }
    }

    /// Begins a step: M_n, the start guess, and what takes part from the beginning.
    pub(super) fn begin(&mut self, input: &StepInput) {
        let StepInput { system, start, list, .. } = *input;
        self.begin_directions(input);
        self.guess(start, list);
        self.sensitivity.begin();
        self.excluded = false;
        self.predicted = false;
        let Some(work) = self.work.as_mut() else { return };
        work.begin(list);
        work.assemble_mass(system, start.t, &start.q);
        self.assemble_potentials(input);
        if self.room_for != list.version() {
            self.room_for = list.version();
            self.reserve_candidates(list);
        }
        self.included.clear();
        for (i, k) in list.items().iter().enumerate() {
            self.included.push(k.kind != Kind::Contact || self.p[list.range(i).start] > 0.0);
        }
        self.assemble(input);
    }

    /// Room for all candidates, where Newton's method may see them all: which of them it sees changes from step to step.
    fn reserve_candidates(&mut self, list: &Candidates) {
        let n = list.components();
        if n > MAX_NEWTON_ROWS {
            return;
        }
        let (mut rows, mut slopes) = (0, 0);
        for k in list.items() {
            rows += k.dim() * k.dofs.len();
            slopes += k.dim() * k.dofs.len();
        }
        self.active_set.reserve(&mut self.problem, n);
        capacity::reserve(&mut self.rho, n);
        for (v, n) in [(&mut self.rows, rows), (&mut self.slopes, slopes), (&mut self.xi, n)] {
            capacity::reserve(v, n);
        }
        capacity::reserve(&mut self.positional, n);
    }

    /// Forces with a potential at the start of the step, where v does not change them.
    fn assemble_potentials(&mut self, input: &StepInput) {
        let StepInput { system, start, .. } = *input;
        self.potentials.clear();
        self.potentials.resize(start.u.len(), 0.0);
        for (i, info) in system.structure().forces.iter().enumerate() {
            if info.potential {
                system.force(i, start.t, &start.q, &start.u, &mut self.potentials);
            }
        }
    }

    /// h(t_n,q_n,v).
    fn assemble_forces(&mut self, input: &StepInput) {
        let StepInput { system, start, .. } = *input;
        let Some(work) = self.work.as_mut() else { return };
        work.h.copy_from_slice(&self.potentials);
        for (i, info) in system.structure().forces.iter().enumerate() {
            if !info.potential {
                system.force(i, start.t, &start.q, &self.v, &mut work.h);
            }
        }
    }

    /// W and χ belong to this step from now on: where the last one ended, this one starts.
    fn begin_directions(&mut self, input: &StepInput) {
        let start = input.start;
        if self.ahead.is_at(start.t, &start.q) && !input.system.begins_at_break() {
            std::mem::swap(&mut self.now, &mut self.ahead);
        }
        self.now.at(input.list, start.t, &start.q);
    }

    /// (q_n, v, P¹) of the step before.
    fn guess(&mut self, start: &State, list: &Candidates) {
        self.q.copy_from_slice(&start.q);
        let memory: &RattleMemory = start.memory.of();
        self.v.copy_from_slice(if memory.middle.is_empty() { &start.u } else { &memory.middle });
        self.p.clear();
        capacity::resize(&mut self.p, list.components(), 0.0);
        if memory.first.len() != start.percussions.values().len() {
            return;
        }
        for (i, k) in list.items().iter().enumerate() {
            if let Some(at) = start.percussions.place(i, k.id) {
                let (from, to) = (start.percussions.range(at), list.range(i));
                if from.len() == to.len() {
                    self.p[to].copy_from_slice(&memory.first[from]);
                }
            }
        }
    }

    /// Puts a finished step back: (q, v, P¹), and all that carries P¹ takes part.
    pub(super) fn revisit(&mut self, input: &StepInput, q: &[f64], v: &[f64], p: &[f64]) {
        let StepInput { system, start, list, .. } = *input;
        self.now.at(list, start.t, &start.q);
        self.q.copy_from_slice(q);
        self.v.copy_from_slice(v);
        capacity::assign(&mut self.p, p);
        let Some(work) = self.work.as_mut() else { return };
        work.begin(list);
        work.assemble_mass(system, start.t, &start.q);
        self.assemble_potentials(input);
        self.included.clear();
        for (i, k) in list.items().iter().enumerate() {
            let carries = p[list.range(i)].iter().any(|p| *p != 0.0);
            self.included.push(k.kind != Kind::Contact || carries);
        }
        self.assemble(input);
    }

    /// Percussions to start from where there was no step before, of forces λ.
    pub(super) fn set_guess(&mut self, input: &StepInput, lambda: &[f64]) {
        self.p.clear();
        self.p.extend(lambda.iter().map(|l| 0.5 * input.dt * l));
        for (i, included) in self.included.iter_mut().enumerate() {
            *included |= self.p[input.list.range(i).start] > 0.0;
        }
        self.assemble(input);
    }

    /// v and q that the percussions of the guess lead to, with h and its derivative at u_n.
    pub(super) fn predict(&mut self, input: &StepInput) -> Result<(), Failure> {
        let StepInput { system, start, .. } = *input;
        self.v.copy_from_slice(&start.u);
        self.assemble_forces(input);
        self.assemble_matrix(input);
        self.assemble_right_side(input);
        let Some(work) = self.work.as_mut() else { return Ok(()) };
        if let Err(e) = work.full.matrix.factor() {
            return Err(work.singular(system, e.row));
        }
        work.full.velocity(&work.r, &mut self.v);
        self.predicted = true;
        self.move_position(input, PREDICTED);
        Ok(())
    }

    /// q_{n+1} from (27) for the present v, as far as some fixed-point iterations go.
    fn move_position(&mut self, input: &StepInput, most: usize) {
        if self.sensitivity.identity {
            for ((q, q0), v) in self.q.iter_mut().zip(&input.start.q).zip(&self.v) {
                *q = q0 + input.dt * v;
            }
        } else {
            self.settle_position(input, most);
        }
    }

    /// W_n of what takes part.
    pub(super) fn assemble(&mut self, input: &StepInput) {
        let StepInput { system, start, dt, list } = *input;
        let Some(work) = self.work.as_mut() else { return };
        work.assemble_blocks(&mut self.now, system, start.t, &start.q, list, &self.included, 0.5 * dt);
        work.gather(list, &self.p);
        self.positional.clear();
        for (k, _) in list.items().iter().zip(&self.included).filter(|(_, included)| **included) {
            self.positional.extend((0..k.dim()).map(|j| j < k.position_dim()));
        }
        self.scaled = false;
    }

    /// h, R_q (in `sensitivity.y`) and ξ at the present (q, v); gaps of contacts that take no part too.
    pub(super) fn evaluate(&mut self, input: &StepInput) -> Result<(), Failure> {
        let StepInput { system, start, dt, list } = *input;
        let t1 = input.end();
        self.assemble_forces(input);
        let y = &mut self.sensitivity.y;
        system.about(&start.q, &self.q, |origin, q| {
            for ((y, q), q0) in y.iter_mut().zip(q).zip(origin) {
                *y = q - q0;
            }
        });
        if self.sensitivity.identity {
            y.iter_mut().zip(&self.v).for_each(|(y, v)| *y -= dt * v);
        } else {
            for (t, q) in [(start.t, &start.q), (t1, &self.q)] {
                system.kinematics(t, q, &self.v, &mut self.qdot);
                y.iter_mut().zip(&self.qdot).for_each(|(y, qdot)| *y -= 0.5 * dt * qdot);
            }
        }
        self.kinematics = max_norm(y);
        self.ahead.at(list, t1, &self.q);
        self.xi.clear();
        self.open.clear();
        for (i, k) in list.items().iter().enumerate() {
            let positions = k.position_dim();
            self.g.resize(positions, 0.0);
            if positions > 0 {
                system.position(k, t1, &self.q, &mut self.g);
                if !all_finite(&self.g) {
                    return Err(undefined(system, k));
                }
            }
            if !self.included[i] {
                self.open.push(self.g[0] / dt);
                continue;
            }
            self.open.push(f64::INFINITY);
            self.xi.extend(self.g.iter().map(|g| g / dt));
            if positions < k.dim() {
                let (w, chi) = self.ahead.evaluate(system, list, i, t1, &self.q);
                let (n, first) = (k.dofs.len(), self.xi.len());
                let v = &self.v;
                let gamma = |w: &[f64], chi: &[f64], j: usize| chi[j] + k.row_times(&w[j * n..(j + 1) * n], v);
                self.xi.extend((positions..k.dim()).map(|j| gamma(w, chi, j)));
                if takes_mean(k, self.means) {
                    let (w, chi) = self.now.evaluate(system, list, i, start.t, &start.q);
                    for (xi, j) in self.xi[first..].iter_mut().zip(positions..) {
                        *xi = 0.5 * (*xi + gamma(w, chi, j));
                    }
                } else if moves(k) {
                    let (_, before) = self.now.evaluate(system, list, i, start.t, &start.q);
                    let (_, after) = self.ahead.evaluate(system, list, i, t1, &self.q);
                    for (xi, j) in self.xi[first..].iter_mut().zip(positions..) {
                        *xi += 0.5 * (before[j] - after[j]);
                    }
                }
            }
        }
        Ok(())
    }

    /// Takes contacts in that are closed at the present iterate. Whether there were any.
    fn include_closed(&mut self) -> bool {
        let mut any = false;
        for (included, open) in self.included.iter_mut().zip(&self.open) {
            if *open <= 0.0 {
                (*included, any) = (true, true);
            }
        }
        any
    }

    /// Friction that does not follow the normal percussion (Tresca's) would act across a gap: contacts that take part in a solution but are open
    /// are left out of it, once in a step. Whether there are any.
    fn exclude_open(&mut self, input: &StepInput) -> bool {
        if std::mem::replace(&mut self.excluded, true) {
            return false;
        }
        let mut any = false;
        let mut row = 0;
        for (i, k) in input.list.items().iter().enumerate() {
            if !self.included[i] {
                continue;
            }
            let range = input.list.range(i);
            let open = k.kind == Kind::Contact && self.p[range.start] <= 0.0 && input.dt * self.xi[row] > ACTIVATION;
            if open && self.p[range.clone()].iter().any(|p| *p != 0.0) {
                self.included[i] = false;
                self.p[range].fill(0.0);
                any = true;
            }
            row += k.dim();
        }
        if any {
            self.assemble(input);
        }
        any
    }

    /// Factors of the switching tests: r of the options, or 1/G_ii of the linear model, made smaller on lower rungs.
    fn scale(&mut self, o: &RattleOptions, dt: f64, smaller: f64) {
        match o.r {
            Some(r) => {
                self.rho.clear();
                let blocks = self.work.as_ref().map_or(&[][..], |w| w.full.blocks());
                // r g = (r dt) ξ.
                self.rho.extend(blocks.iter().map(|b| (if self.positional[b.start] { r * dt } else { r }, r)));
            }
            None => ActiveSet::factors(&self.problem, &mut self.rho),
        }
        self.rho.iter_mut().for_each(|(n, t)| (*n, *t) = (smaller * *n, smaller * *t));
        self.scaled = true;
    }

    /// Residuals at the present iterate.
    fn misfit(&mut self, input: &StepInput) -> Misfit {
        let mut m = Misfit { kinematics: self.kinematics, ..Misfit::default() };
        let Some(work) = self.work.as_mut() else { return m };
        (m.dynamics, m.momentum) = work.dynamics_residual(&input.start.u, &self.v, 0.5 * input.dt);
        (m.q, m.v, m.p) = (max_norm(&self.q), max_norm(&self.v), max_norm(&work.r));
        let (positional, dt) = (&self.positional, input.dt);
        ActiveSet::residual(work.full.blocks(), &self.rho, &work.r, &self.xi, |k, f, constrained| {
            m.law(f, constrained, positional[k].then_some(dt));
        });
        m
    }

    /// The semismooth Newton method from the present iterate. Ends with whether the percussions are not unique.
    pub(super) fn newton(
        &mut self,
        o: &RattleOptions,
        input: &StepInput,
        smaller: f64,
        report: &mut StepReport,
    ) -> Result<bool, Unsolved> {
        let mut non_unique = false;
        self.scaled = false;
        let mut last = f64::INFINITY;
        for iteration in 0.. {
            self.evaluate(input)?;
            let mut fresh = iteration == 0;
            while self.include_closed() {
                fresh = true;
                self.scatter(input);
                self.assemble(input);
                self.evaluate(input)?;
            }
            if self.positional.len() > MAX_NEWTON_ROWS {
                return Err(Unsolved::Many);
            }
            let mut reduced = false;
            if !self.scaled {
                if o.r.is_none() {
                    self.reduce(input, false)?;
                    reduced = true;
                }
                self.scale(o, input.dt, smaller);
            }
            let measure = self.misfit(input).measure(o);
            let keep = !fresh && o.guess == Guess::Predicted && measure <= CONTRACTION * last;
            last = measure;
            if measure <= 1.0 {
                self.scatter(input);
                if self.exclude_open(input) {
                    continue;
                }
                return Ok(non_unique);
            }
            if !measure.is_finite() {
                return Err(Failure::NotFinite { what: "the equation of motion".into() }.into());
            }
            if iteration == MAX_NEWTON {
                return Err(Unsolved::Newton);
            }
            if !reduced {
                self.reduce(input, keep)?;
            }
            let Some(work) = self.work.as_mut() else { break };
            match self.active_set.step(&self.problem, &self.rho, &mut work.r, &self.xi) {
                ActiveSetStep::Unique => non_unique = false,
                ActiveSetStep::LeastNorm => non_unique = true,
                ActiveSetStep::Failed => return Err(Unsolved::Newton),
            }
            report.newton += 1;
            report.stages[0] += 1;
            work.full.velocity(&work.r, &mut work.v);
            self.advance(input);
        }
        Ok(non_unique)
    }

    /// Takes v from the one-step problem, and q with it.
    fn advance(&mut self, input: &StepInput) {
        let Some(work) = self.work.as_mut() else { return };
        std::mem::swap(&mut self.v, &mut work.v);
        if self.sensitivity.identity {
            self.move_position(input, 1);
            return;
        }
        for (d, (v, before)) in self.dv.iter_mut().zip(self.v.iter().zip(&work.v)) {
            *d = v - before;
        }
        input.system.localise(&input.start.q, &mut self.q);
        self.sensitivity.advance(&self.dv, &mut self.q);
        input.system.retract(&input.start.q, &mut self.q);
    }

    /// q from (27) for the present v, by fixed-point iteration.
    fn settle_position(&mut self, input: &StepInput, most: usize) {
        let StepInput { system, start, dt, .. } = *input;
        for _ in 0..most {
            let mut change: f64 = 0.0;
            self.dv.resize(self.v.len(), 0.0);
            let y = &mut self.sensitivity.y;
            system.about(&start.q, &start.q, |origin, _| y.copy_from_slice(origin));
            for (t, q) in [(start.t, &start.q), (input.end(), &self.q)] {
                system.kinematics(t, q, &self.v, &mut self.qdot);
                y.iter_mut().zip(&self.qdot).for_each(|(y, qdot)| *y += 0.5 * dt * qdot);
            }
            system.retract(&start.q, y);
            for (q, y) in self.q.iter_mut().zip(&*y) {
                worsen(&mut change, *q - *y);
                *q = *y;
            }
            if !(change > 4.0 * f64::EPSILON * (1.0 + max_norm(&self.q))) {
                return;
            }
        }
    }

    /// P¹ by component from the rows.
    pub(super) fn scatter(&mut self, input: &StepInput) {
        if let Some(work) = self.work.as_ref() {
            work.scatter(input.list, &mut self.p);
        }
    }

    /// Residuals with the natural map of the laws, which needs no factors.
    pub(super) fn natural_misfit(&mut self, input: &StepInput) -> Misfit {
        let mut m = Misfit { kinematics: self.kinematics, ..Misfit::default() };
        let Some(work) = self.work.as_mut() else { return m };
        (m.dynamics, m.momentum) = work.dynamics_residual(&input.start.u, &self.v, 0.5 * input.dt);
        (m.q, m.v, m.p) = (max_norm(&self.q), max_norm(&self.v), max_norm(&work.r));
        for block in work.full.blocks() {
            let rows = block.start..block.start + block.set.dim();
            let (mut xi, mut f) = ([0.0; MAX_DIM], [0.0; MAX_DIM]);
            for (xi, row) in xi.iter_mut().zip(rows.clone()) {
                *xi = self.xi[row];
                if self.positional[row] && work.r[row] > self.xi[row].max(0.0) {
                    // The rounding of a gap over dt is no velocity: friction of a closed contact does not see it. (Rounding of a percussion at an open
                    // contact is less than ξ.)
                    m.law(*xi, true, Some(input.dt));
                    *xi = 0.0;
                }
            }
            block.set.natural_map(&work.r[rows.clone()], &xi[..rows.len()], &mut f);
            for (row, f) in rows.zip(f) {
                m.law(f, true, self.positional[row].then_some(input.dt));
            }
        }
        m
    }
}

/// Whether the velocities of an interaction are taken with the mean kinematics of both ends.
fn takes_mean(k: &Interaction, means: Means) -> bool {
    match k.kind {
        Kind::VelocityJoint => means.joints,
        Kind::Contact | Kind::Element => means.slip && !k.constant,
        Kind::Joint => false,
    }
}

/// Whether the surface of friction or an element may have a velocity of its own that changes.
fn moves(k: &Interaction) -> bool {
    matches!(k.kind, Kind::Contact | Kind::Element) && !k.constant
}

/// Σ g_j y_j over the given places of y.
#[inline]
fn along(g: &[f64], places: &[u32], y: &[f64]) -> f64 {
    g.iter().zip(places).map(|(g, &c)| g * y[c as usize]).sum()
}

fn undefined(system: &Evaluator, k: &Interaction) -> Failure {
    let kind = if k.kind == Kind::Contact { "gap of contact" } else { "defect of joint" };
    Failure::NotFinite { what: format!("the {kind} `{}`", system.name(k.id)) }
}
