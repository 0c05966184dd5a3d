//! One Newton iteration with percussions and multipliers of the projection together [Acary2013, (52)-(55), corrected: `docs/errata.md`].
//!
//! At the trial (q, v) with multipliers τ and δ = N G τ, with D = dt θ h_q B (the paper's −h θ K) and M̂ as in the [step](super):
//!
//! ```text
//! M̂ v⁺ = f + W P⁺ + D N G (τ⁺ − τ)
//! γ⁺ = Wᵀ v⁺ + χ,                                     −(γ⁺ + e γ⁻) ∈ N_Â(P⁺)
//! g⁺ = g(q) + θ dt Gᵀ(v⁺ − v) + Gᵀ(N G τ⁺ − δ),        0 ≤ g⁺ ⊥ τ⁺ ≥ 0   or   g⁺ = 0
//! ```
//!
//! Eliminating v⁺, with σ = τ⁺/dt and g⁺/dt, so that all rows are velocities:
//!
//! ```text
//! A = [ WᵀM̂⁻¹W      dt WᵀM̂⁻¹DNG           ]      b = [ Wᵀṽ + χ + eγ⁻                                   ]      ṽ = M̂⁻¹(f − DNGτ)
//!     [ θ GᵀM̂⁻¹W    GᵀNG + θ dt GᵀM̂⁻¹DNG ]          [ (g(q) − Gᵀδ)/dt + θ Gᵀ(ṽ − v)                  ]
//! ```
//!
//! A is dense and not symmetric: for few contacts.

use super::ThetaStep;
use crate::contract::Evaluator;
use crate::scheme::projection::Projection;
use crate::scheme::{Failure, Solve};
use crate::state::{State, Step};
use complementarity::linear::Matrix;
use complementarity::{FullProblem, Measure, Problem};

/// Workspace.
#[derive(Default)]
pub(in crate::scheme) struct Coupled {
    problem: Problem,
    /// D.
    forces: Option<Matrix>,
    made_for: u64,
    r: Vec<f64>,
    /// Columns of M̂⁻¹W and M̂⁻¹DNG, and of NG, each over all velocities.
    columns: Vec<f64>,
    directions: Vec<f64>,
    free: Vec<f64>,
}

/// Rows of a full problem times v, one after the other.
fn rows_times(full: &FullProblem, v: &[f64], mut take: impl FnMut(usize, f64)) {
    let mut row = 0;
    for i in 0..full.coupling().len() {
        let dofs = full.coupling().dofs(i);
        let mut values = full.coupling().values(i);
        for _ in 0..full.coupling().dim(i) {
            let (w, rest) = values.split_at(dofs.len());
            take(row, dofs.iter().zip(w).map(|(&j, w)| w * v[j as usize]).sum());
            (values, row) = (rest, row + 1);
        }
    }
}

/// The directions of a full problem, each over all velocities, appended to `out`.
fn spread(full: &FullProblem, n: usize, out: &mut Vec<f64>) {
    for i in 0..full.coupling().len() {
        let dofs = full.coupling().dofs(i);
        let mut values = full.coupling().values(i);
        for _ in 0..full.coupling().dim(i) {
            let (w, rest) = values.split_at(dofs.len());
            let at = out.len();
            out.resize(at + n, 0.0);
            dofs.iter().zip(w).for_each(|(&j, w)| out[at + j as usize] += w);
            values = rest;
        }
    }
}

impl ThetaStep {
    /// Percussions, velocity and shift of an iteration, from the trial whose rows and right-hand side are assembled.
    pub(super) fn solve_coupled(
        &mut self,
        system: &Evaluator,
        start: &State,
        solve: &mut Solve,
        step: &mut Step,
        p: &mut Projection,
        c: &mut Coupled,
    ) -> Result<(), Failure> {
        let (dt, theta, n) = (step.dt, self.options.theta, start.u.len());
        let (t, list) = (start.t + dt, &step.candidates);
        let Some(work) = self.work.as_mut() else { return Ok(()) };
        let b = &mut self.buffers;
        // The velocity without percussions is for telling impacts apart, too.
        let singular = work.full.reduce().err();
        if let Some(singular) = singular {
            return Err(work.singular(system, singular.row));
        }
        p.set_rules(list, work);
        let check = p.check_position(system, t, &b.q, list)?;
        let Some((position, tau)) = p.linearise(system, t, &b.q, list, &check) else {
            return Ok(());
        };

        // N G and M̂⁻¹ D N G beside M̂⁻¹ W.
        let (m, k) = (work.full.c.len(), position.c.len());
        let pattern = &system.structure().pattern;
        if c.made_for != pattern.id() {
            (c.forces, c.made_for) = (None, pattern.id());
        }
        let forces = c.forces.get_or_insert_with(|| Matrix::new(pattern));
        forces.clear();
        if k > 0 && theta > 0.0 {
            let t_theta = start.t + theta * dt;
            for i in 0..system.structure().forces.len() {
                system.force_jacobian(i, t_theta, &b.q_theta, &b.u_theta, dt * theta, 0.0, forces);
            }
        }
        c.columns.clear();
        spread(&work.full, n, &mut c.columns);
        c.directions.clear();
        spread(position, n, &mut c.directions);
        for direction in c.directions.chunks_exact_mut(n) {
            position.matrix.solve(direction);
            let at = c.columns.len();
            c.columns.resize(at + n, 0.0);
            forces.multiply(direction, &mut c.columns[at..]);
        }
        c.columns.chunks_exact_mut(n).for_each(|column| work.full.matrix.solve(column));
        c.free.clear();
        c.free.extend_from_slice(work.full.free_velocity());
        for (column, tau) in c.columns[m * n..].chunks_exact(n).zip(tau) {
            c.free.iter_mut().zip(column).for_each(|(v, x)| *v -= x * tau);
        }

        // A and b.
        let sets = work.full.blocks().iter().chain(position.blocks()).map(|block| block.set.clone());
        let (columns, directions, free, velocities) = (&c.columns, &c.directions, &c.free, &work.full);
        c.problem.set_measure(Measure::Compliance);
        c.problem.refill(sets, |a, offset| {
            for (j, column) in columns.chunks_exact(n).enumerate() {
                let scale = if j < m { 1.0 } else { dt };
                rows_times(velocities, column, |i, s| a[(i, j)] = scale * s);
                rows_times(position, column, |i, s| a[(m + i, j)] = theta * scale * s);
            }
            for (j, direction) in directions.chunks_exact(n).enumerate() {
                rows_times(position, direction, |i, s| a[(m + i, m + j)] += s);
            }
            rows_times(velocities, free, |i, s| offset[i] = s + velocities.c[i]);
            rows_times(position, free, |i, s| offset[m + i] = position.c[i] / dt + theta * s);
            rows_times(position, &b.v, |i, s| offset[m + i] -= theta * s);
        });
        c.r.clear();
        c.r.extend_from_slice(&work.r);
        c.r.extend(tau.iter().map(|tau| tau / dt));
        let report = solve.solver.solve(&c.problem, &mut c.r, &solve.options);
        step.report.take(&report, &c.problem);
        if !report.solved() {
            return Err(Failure::Solver(report));
        }

        // v⁺, P⁺, τ⁺.
        work.v.clone_from(&c.free);
        for (j, (column, r)) in c.columns.chunks_exact(n).zip(&c.r).enumerate() {
            let r = if j < m { *r } else { dt * r };
            work.v.iter_mut().zip(column).for_each(|(v, x)| *v += x * r);
        }
        work.r.copy_from_slice(&c.r[..m]);
        c.r[m..].iter_mut().for_each(|r| *r *= dt);
        p.take(system, t, &b.q, list, &c.r[m..], &c.directions)?;
        b.shifted = p.shift().is_some();
        b.shift.copy_from_slice(p.shift_values());
        Ok(())
    }
}
