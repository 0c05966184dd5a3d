//! Examination of a finished step: certificate and ledger.
//!
//! With v_k, a_k at the stages and s = u + dt Σ β_k a_k, the kinetic energy changes by
//!
//! ```text
//! dt Σ β_k v_k·(h + Wλ)_k                                                   forces and contact forces, by name
//! + ¼ sᵀ(M₁ − M₀)s + ¼ uᵀ(M₁ − M₀)u                                         mass change
//! + dt Σ β_k (M̄ ū − M_k v_k)·a_k,   M̄ = (M₀ + M₁)/2, ū = (u + s)/2          stages
//! + ½ (s + u⁺)·WP                                                           the jump
//! ```
//!
//! What the projection of the position changes in potentials is `numerical.projection`;
//! a potential that moves by itself gives the drive Σ V(t_k + β_k dt/2, q_k) − V(t_k − β_k dt/2, q_k), with the drift of coordinates likewise.

use super::Tdg;
use super::TdgStep;
use super::jump::StepInput;
use super::values::{self, Allowed};
use crate::accounting::{Certificate, Ledger, Line, Meter};
use crate::contract::Evaluator;
use crate::scheme::Examination;
use crate::scheme::velocity_level::line_of;
use crate::state::{State, Step};
use complementarity::linear::Matrix;
use complementarity::linear::dense::{dot, max_norm};
use complementarity::sets::MAX_DIM;

/// Workspace of the examination of a finished step.
#[derive(Default)]
pub(super) struct ExamineScratch {
    step: Step,
    mass: Option<Matrix>,
    x: Vec<f64>,
    y: Vec<f64>,
    rows: Vec<f64>,
    chi: Vec<f64>,
}

impl Tdg {
    /// Puts a finished step back: stages with their accelerations, the jump with its percussions alone in `examined`. False if the step is not one of this scheme. `off`
    /// is how far forces at the stages are from what slips make of them, N.
    fn revisit(&mut self, system: &Evaluator, start: &State, step: &Step) -> Option<f64> {
        let record: &TdgStep = step.record.of();
        let (n, stages) = (self.tableau.stages(), &record.stages);
        let list = &step.candidates;
        let (components, len) = (list.components(), list.len());
        let fits = stages.nodes.len() == n
            && stages.lambda.len() == n * components
            && record.acts.len() == len
            && record.rests.len() == len
            && record.restitution.len() == len
            && (record.eta.is_empty() || record.eta.len() == components);
        if !fits {
            return None;
        }
        self.prepare(system);
        self.values.v.copy_from_slice(&stages.u);
        self.values.q.copy_from_slice(&stages.q);
        self.values.stiff = record.stiff;
        self.values.q_end.copy_from_slice(&step.end.q);
        self.acts.clone_from(&record.acts);
        self.rests.clone_from(&record.rests);
        let work = self.jump.work.as_mut()?;
        work.begin(list);
        self.gamma.clear();
        self.gamma.resize(components, 0.0);
        for i in (0..len).filter(|&i| record.acts[i]) {
            work.velocity_before(system, start.t, &start.q, &start.u, list, i);
            self.gamma[list.range(i)].copy_from_slice(work.before(list, i));
        }
        let mut off = 0.0f64;
        for l in 0..n {
            self.assemble_stage(system, start, step, l);
            off = off.max(self.forces[l].gather(stages.lambda(l)));
            if !self.forces[l].accelerate() {
                return None;
            }
            let a = self.forces[l].acceleration();
            self.values.a[l * self.values.nu..(l + 1) * self.values.nu].copy_from_slice(a);
        }
        self.values.sum(&self.tableau, start, step.dt);
        self.values.take_left(&self.tableau);
        if record.left.len() == self.values.nu {
            self.values.left.copy_from_slice(&record.left);
        }
        for ((y, u), s) in self.values.y.iter_mut().zip(&step.end.u).zip(&self.values.smooth) {
            *y = (u - s) / step.dt;
        }
        self.jump.restitution.clone_from(&record.restitution);
        self.jump.persists.clone_from(&record.acts);
        self.jump.collision = !record.smooth.is_empty();
        self.jump.crowd = record.crowd;
        self.jump.included.clear();
        self.jump.included.extend(record.restitution.iter().map(|e| !e.is_nan()));
        self.smooth.clear();
        self.smooth.resize(components, 0.0);
        for l in 0..n {
            values::add(step.dt * self.tableau.beta[l], stages.lambda(l), &mut self.smooth);
        }
        let input = StepInput { tableau: &self.tableau, start, dt: step.dt };
        let acting = (&self.acts[..], &self.rests[..]);
        self.jump.carry(system, list, &self.values, acting, &self.smooth, input);
        self.jump.assemble(system, list, &self.values, input);

        let examined = &mut self.examined.step;
        examined.candidates.assign(list);
        examined.begin(step.dt);
        examined.end.t = step.end.t;
        examined.end.q.clone_from(&step.end.q);
        examined.end.u.clone_from(&step.end.u);
        examined.active.clone_from(&self.jump.included);
        let all = step.end.percussions.values();
        let p = examined.end.percussions.values_mut();
        p.copy_from_slice(all);
        p.iter_mut().zip(&self.smooth).for_each(|(p, s)| *p -= s);
        // What rounding leaves where there is no percussion.
        for (p, all) in p.iter_mut().zip(all) {
            if p.abs() <= 8.0 * f64::EPSILON * all.abs() {
                *p = 0.0;
            }
        }
        self.jump.work.as_mut()?.take_percussions(examined);
        Some(off)
    }

    /// Certificate and ledger of a finished step.
    pub(super) fn evaluate_finished(&mut self, system: &Evaluator, start: &State, step: &Step, asked: Examination) {
        let off = self.revisit(system, start, step);
        // The ledger first: the certificate combines the stages anew.
        if let (Some(_), Some((meter, out))) = (off, asked.energy) {
            self.work_done(system, start, step, meter, out);
        }
        match (asked.certificate, off) {
            (Some(out), Some(off)) => self.certify_finished(system, start, step, off, out),
            (Some(out), None) => *out = Certificate { dynamics: f64::INFINITY, ..Certificate::default() },
            (None, _) => {}
        }
    }

    fn certify_finished(&mut self, system: &Evaluator, start: &State, step: &Step, off: f64, out: &mut Certificate) {
        out.clear();
        let (dt, list) = (step.dt, &step.candidates);
        let TdgStep { stages, .. } = step.record.of();
        let worst = |a: &[f64], b: &[f64]| {
            let off = a.iter().zip(b).map(|(a, b)| (a - b).abs());
            off.fold(0.0f64, |w, d| if d <= w { w } else { d })
        };
        // (69), (70), (74): velocities of the stages; the end is the jump's.
        let size_of_jump = max_norm(&self.values.y);
        if !(StepInput { tableau: &self.tableau, start, dt }).is_within(&self.jump) {
            self.values.y.fill(0.0);
        }
        self.values.velocities(&self.tableau, start, dt, Allowed::ANY);
        let velocities = worst(&self.values.v, &stages.u);
        // Relative to the largest term: what forces alone would do, accelerations, the jump.
        let alone = self.forces.iter_mut().map(|f| f.full.free().map_or(f64::NAN, max_norm)).fold(0.0, f64::max);
        let change = dt * max_norm(&self.values.a).max(size_of_jump).max(alone);
        let rounding = 64.0 * f64::EPSILON * (max_norm(&start.u) + change);
        out.dynamics = if velocities <= rounding { 0.0 } else { velocities / change.max(f64::MIN_POSITIVE) };
        // (67), (68), (72), (73).
        self.values.v.copy_from_slice(&stages.u);
        self.values.positions(system, &self.tableau, start, dt, Allowed::ANY);
        let mut positions = worst(&self.values.q, &stages.q);
        let TdgStep { eta, lands, .. } = step.record.of();
        positions = positions.max(if eta.is_empty() {
            worst(&self.values.q_end, &step.end.q)
        } else {
            self.projection.lands = *lands;
            self.projection.defect(system, list, (step.end.t, dt), &self.values, &step.end.q, eta)
        });
        out.kinematics = positions / (1.0 + max_norm(&step.end.q));
        // Laws at the stages, relative to the largest force and acceleration of all.
        let mut size = 0.0f64;
        for forces in &self.forces {
            size = size.max(max_norm(forces.lambda())).max(max_norm(&forces.full.c));
            forces.for_each_law(|_, _, _, xi| size = size.max(max_norm(xi)));
        }
        let size = if size > 0.0 { size } else { 1.0 };
        out.law = off / size;
        for forces in &self.forces {
            forces.for_each_law(|i, set, r, xi| {
                let mut f = [0.0; MAX_DIM];
                set.natural_map(r, xi, &mut f);
                let law = max_norm(&f[..r.len()]) / size;
                if !(law <= out.law) {
                    (out.law, out.law_culprit) = (law, Some(i));
                }
                let cone = dt * set.distance(r);
                if list.items()[i].kind == crate::contract::Kind::Contact && !(cone <= out.cone) {
                    out.cone = cone;
                }
            });
        }
        // The jump.
        if let Some(work) = self.jump.work.as_mut() {
            let mut second = Certificate::default();
            let (residual, scale) = work.dynamics_residual(&self.values.smooth, &step.end.u, 0.0);
            // A jump is measured by the change over the full step.
            let step_change = scale.max(change);
            second.dynamics = if residual == 0.0 { 0.0 } else { residual / step_change.max(f64::MIN_POSITIVE) };
            second.dynamics_culprit = work.explain_dynamics(&self.examined.step);
            // The laws are those of P̂ = P + S.
            let p = self.examined.step.end.percussions.values_mut();
            p.iter_mut().zip(&self.jump.carried).for_each(|(p, s)| *p += s);
            work.take_percussions(&self.examined.step);
            let floor = max_norm(step.end.percussions.values()).max(change);
            work.certify_laws_of(&self.examined.step, floor, &mut second);
            out.worsen(&second);
        }
        out.geometry(system, step.end.t, &step.end.q, list);
    }

    fn work_done(&mut self, system: &Evaluator, start: &State, step: &Step, meter: &mut Meter, out: &mut Ledger) {
        let s = system.structure();
        let (dt, n, list) = (step.dt, self.tableau.stages(), &step.candidates);
        let TdgStep { stages, acts, eta, .. } = step.record.of();
        let q_of_stages = if eta.is_empty() { &step.end.q[..] } else { stages.q(n - 1) };
        let Self { values, tableau, forces, examined, jump, .. } = self;
        let ExamineScratch { step: alone, mass, x, y, rows, chi } = examined;
        let Some(work) = jump.work.as_mut() else { return };
        x.resize(values.nu, 0.0);
        y.resize(values.nu, 0.0);
        // The jump, over the mean of the velocities on both sides.
        for ((x, a), b) in x.iter_mut().zip(&values.smooth).zip(&step.end.u) {
            *x = 0.5 * (a + b);
        }
        work.account_percussions(alone, x, out);
        // Contact forces at the stages.
        for (i, k) in list.items().iter().enumerate().filter(|(i, _)| acts[*i]) {
            let (m, dim) = (k.dofs.len(), k.dim());
            rows.resize(dim * m, 0.0);
            chi.resize(dim, 0.0);
            for l in 0..n {
                let (t, lambda) = (start.t + tableau.c[l] * dt, &stages.lambda(l)[list.range(i)]);
                system.velocity(k, t, values.q(l), rows, chi);
                for j in 0..dim {
                    let power = k.row_times(&rows[j * m..(j + 1) * m], values.v(l)) * lambda[j];
                    out.add(line_of(k.kind, j), dt * tableau.beta[l] * power);
                }
            }
        }
        // ½ (M₀ + M₁) ū into y; and M that changes.
        for ((x, a), b) in x.iter_mut().zip(&values.smooth).zip(&start.u) {
            *x = 0.5 * (a + b);
        }
        work.mass.multiply(x, y);
        if !s.constant_mass {
            let mass = mass.get_or_insert_with(|| Matrix::new(&s.mass_pattern));
            mass.clear();
            system.mass(start.t, &start.q, mass);
            let end = y.clone();
            mass.multiply(x, y);
            y.iter_mut().zip(&end).for_each(|(y, e)| *y = 0.5 * (*y + e));
            let mut change = 0.0;
            for u in [&values.smooth, &start.u] {
                let after = meter.kinetic(system, step.end.t, &step.end.q, u);
                change += 0.5 * (after - meter.kinetic(system, start.t, &start.q, u));
            }
            out.add(Line::MassChange, change);
        }
        let mut defect = 0.0;
        for l in 0..n {
            forces[l].full.matrix.multiply(values.v(l), x);
            defect += dt * tableau.beta[l] * (dot(y, values.a(l)) - dot(x, values.a(l)));
        }
        out.add(Line::Stages, defect);
        // Forces by name.
        for (i, info) in s.forces.iter().enumerate() {
            let mut work = 0.0;
            for l in 0..n {
                x.fill(0.0);
                system.force(i, start.t + tableau.c[l] * dt, values.q(l), values.v(l), x);
                work += dt * tableau.beta[l] * dot(values.v(l), x);
            }
            if !info.potential {
                out.add_force(i, work);
                continue;
            }
            let mut drive = 0.0;
            for l in 0..n {
                let (t, half) = (start.t + tableau.c[l] * dt, 0.5 * tableau.beta[l] * dt);
                drive += moves_by_itself(system, i, t, half, values.q(l));
            }
            let end = system.potential(i, step.end.t, q_of_stages);
            out.add(Line::Drive, drive);
            out.add(Line::Quadrature, end - system.potential(i, start.t, &start.q) - drive + work);
            if !eta.is_empty() {
                out.add(Line::Projection, system.potential(i, step.end.t, &step.end.q) - end);
            }
        }
    }
}

/// What the potential of force `i` gains from t − `half` to t + `half` while only time and the drift β of coordinates go on.
fn moves_by_itself(system: &Evaluator, i: usize, t: f64, half: f64, q: &[f64]) -> f64 {
    let mut gain = system.potential(i, t + half, q) - system.potential(i, t - half, q);
    let s = system.structure();
    if !s.identity_kinematics() {
        let mut beta = vec![0.0; q.len()];
        system.kinematics(t, q, &vec![0.0; s.nu()], &mut beta);
        if beta.iter().any(|b| *b != 0.0) {
            let shifted = |s: f64| -> Vec<f64> { q.iter().zip(&beta).map(|(q, b)| q + s * b).collect() };
            gain += system.potential(i, t, &shifted(half)) - system.potential(i, t, &shifted(-half));
        }
    }
    gain
}
