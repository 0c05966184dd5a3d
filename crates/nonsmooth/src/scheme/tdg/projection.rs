//! The position at the end of a step, projected onto contacts that are closed: for all of them together,
//!
//! ```text
//! M̂ δ = Σ W_N η,    q⁺ = q_M + B δ                                          W at (t + dt, q⁺), B at (t + dt, q_M)
//! 0 ≤ g_N(t + dt, q⁺) ⊥ η + dt² Σ β_l (1 − c_l) λ_l ≥ 0
//! g(t + dt, q⁺) = g(t + dt, q_M)                                            joints
//! ```
//!
//! with q_M the position of the last stage. The sum is by how much the forces of the stages have moved the position along W: a closed contact is pulled down to zero gap
//! as far as it would have fallen without them, and opens beyond. So what is closed does not drift, and a contact that comes to rest does so at zero gap.
//!
//! The metric M̂ is M at (t + dt, q⁺), and M − dt² h_q B − dt h_u at the last stage in a stiff step and in one in which a contact comes to rest: it is moved by up to dt |γ_N| then, and takes with it
//! what is tied to it by forces that the step does not resolve.

use super::values::Values;
use crate::contract::{Candidates, Evaluator, Interaction, Kind};
use crate::scheme::velocity_level::{ACTIVATION, gap};
use crate::scheme::{Failure, Solve};
use crate::state::{StepReport, rates_into};
use complementarity::linear::dense::{all_finite, max_norm};
use complementarity::sets::MAX_DIM;
use complementarity::{FullProblem, Set, Status, capacity};

/// Gaps up to this part of 1 + max|q| are closed to rounding.
const TOLERANCE: f64 = 1e-13;
/// Gaps larger than this multiple of that are open.
const OPEN: f64 = 10.0;
/// The directions are those of the end when δ changes by no more than this part.
const CONSISTENT: f64 = 1e-10;
/// Iterations: they are quadratic.
const MAX_ITERATIONS: usize = 20;
/// Largest number of contacts whose gaps are closed to rounding. More contacts act on each other and are closed to the tolerance of solvers.
const MAX_EXACT_CONTACTS: usize = 50;

/// A closed contact of the projection.
struct Closed {
    interaction: usize,
    /// dt² Σ β_l (1 − c_l) λ_l.
    carried: f64,
}

/// Workspace of the projection.
#[derive(Default)]
pub(super) struct Projection {
    full: Option<FullProblem>,
    closed: Vec<Closed>,
    /// (η + the forces' part)/dt, row by row.
    r: Vec<f64>,
    /// Whether a contact comes to rest.
    pub(super) lands: bool,
    /// η by component of the candidates; empty without a projection.
    pub(super) eta: Vec<f64>,
    /// δ, and δ/dt of the iteration before.
    delta: Vec<f64>,
    velocity: Vec<f64>,
    /// Joints at q_M, by component.
    joints: Vec<f64>,
    w: Vec<f64>,
    chi: Vec<f64>,
    g: Vec<f64>,
    rates: [Vec<f64>; 2],
}

impl Projection {
    /// For another system.
    pub(super) fn reset(&mut self) {
        self.full = None;
    }

    /// No contacts.
    pub(super) fn begin(&mut self) {
        self.closed.clear();
        self.eta.clear();
        self.lands = false;
    }

    /// Adds a closed contact whose forces have moved the position by M⁻¹ W times `carried`.
    pub(super) fn add(&mut self, interaction: usize, carried: f64) {
        self.closed.push(Closed { interaction, carried });
    }

    /// Moves `values.q_end` from the last stage. Nothing is done where all gaps are zero to rounding.
    pub(super) fn project(
        &mut self,
        system: &Evaluator,
        list: &Candidates,
        (t, dt): (f64, f64),
        values: &mut Values,
        solve: &mut Solve,
        report: &mut StepReport,
    ) -> Result<(), Failure> {
        let last = (values.n - 1) * values.nq;
        values.q_end.copy_from_slice(&values.q[last..]);
        self.eta.clear();
        let constant = system.structure().identity_kinematics()
            && system.structure().constant_mass
            && list.items().iter().all(|k| k.constant);
        let (mut before, mut change, mut made) = (f64::INFINITY, f64::INFINITY, 0);
        loop {
            let off = self.off(system, list, t, &values.q_end, made > 0)?;
            let rounding = self.rounding(&values.q_end);
            let known = made == 0 || constant || change <= CONSISTENT * max_norm(&self.delta) + 0.01 * rounding;
            if off <= rounding && known || made > 1 && off >= before && off <= 1e3 * rounding {
                break;
            }
            if made == MAX_ITERATIONS {
                // Many contacts act on each other: what is left is for the next step.
                if off <= ACTIVATION {
                    break;
                }
                return Err(Failure::Newton { iterations: made, residual: off });
            }
            before = off;
            if made == 0 {
                self.start(system, list, t, &values.q_end);
            }
            self.iterate(system, list, (t, dt), values, solve, report)?;
            change = 0.0;
            for (d, v) in self.delta.iter_mut().zip(&self.velocity) {
                change = f64::max(change, (dt * v - *d).abs());
                *d = dt * v;
            }
            values.q_end.copy_from_slice(&values.q[last..]);
            self.shift(system, t, &values.q[last..], &mut values.q_end);
            if !all_finite(&values.q_end) {
                return Err(Failure::NotFinite { what: "the projection of the position".into() });
            }
            made += 1;
        }
        if made > 0 {
            self.take_multipliers(list, dt);
            report.projection += made;
        }
        Ok(())
    }

    /// Gaps up to this are closed.
    fn rounding(&self, q: &[f64]) -> f64 {
        if self.closed.len() > MAX_EXACT_CONTACTS { ACTIVATION } else { TOLERANCE * (1.0 + max_norm(q)) }
    }

    /// Closed contacts that have opened at q.
    pub(super) fn opened<'a>(
        &'a self,
        system: &'a Evaluator,
        list: &'a Candidates,
        t: f64,
        q: &'a [f64],
    ) -> impl Iterator<Item = usize> + 'a {
        let rounding = OPEN * self.rounding(q);
        let at = move |i: usize| gap(system, &list.items()[i], t, q).is_ok_and(|g| g > rounding);
        self.closed.iter().map(|c| c.interaction).filter(move |i| at(*i))
    }

    /// How far gaps are from their law at q.
    fn off(&mut self, system: &Evaluator, list: &Candidates, t: f64, q: &[f64], made: bool) -> Result<f64, Failure> {
        let mut off = 0.0f64;
        for (j, closed) in self.closed.iter().enumerate() {
            let g = gap(system, &list.items()[closed.interaction], t, q)?;
            let pressed = if made { self.r[j] > 0.0 } else { closed.carried > 0.0 };
            off = off.max(if pressed { g.abs() } else { -g });
        }
        Ok(off)
    }

    /// δ = 0, joints as they are, and the forces' part as first guess.
    fn start(&mut self, system: &Evaluator, list: &Candidates, t: f64, q: &[f64]) {
        capacity::resize(&mut self.delta, system.structure().nu(), 0.0);
        capacity::resize(&mut self.velocity, system.structure().nu(), 0.0);
        self.delta.fill(0.0);
        self.joints.clear();
        capacity::resize(&mut self.joints, list.components(), 0.0);
        for (i, k) in list.items().iter().enumerate().filter(|(_, k)| k.kind == Kind::Joint) {
            system.position(k, t, q, &mut self.joints[list.range(i)]);
        }
        self.r.clear();
    }

    /// Rows of Wᵀ of an interaction into `w`.
    fn directions(&mut self, system: &Evaluator, k: &Interaction, t: f64, q: &[f64]) {
        capacity::resize(&mut self.w, k.dim() * k.dofs.len(), 0.0);
        capacity::resize(&mut self.chi, k.dim(), 0.0);
        system.velocity(k, t, q, &mut self.w, &mut self.chi);
    }

    /// The workspace, with M̂ as its matrix.
    fn metric(&mut self, system: &Evaluator, (t, dt): (f64, f64), q: &[f64], values: &Values) -> FullProblem {
        let mut full = self.full.take().unwrap_or_else(|| FullProblem::new(&system.structure().pattern));
        full.matrix.clear();
        system.mass(t, q, &mut full.matrix);
        if self.lands || values.stiff {
            let l = values.n - 1;
            for i in 0..system.structure().forces.len() {
                system.force_jacobian(i, t, values.q(l), values.v(l), -dt * dt, -dt, &mut full.matrix);
            }
        }
        full
    }

    /// The laws linearised at q, divided by dt: of δ/dt and (η + ..)/dt.
    fn iterate(
        &mut self,
        system: &Evaluator,
        list: &Candidates,
        (t, dt): (f64, f64),
        values: &Values,
        solve: &mut Solve,
        report: &mut StepReport,
    ) -> Result<(), Failure> {
        let q = &values.q_end;
        let mut full = self.metric(system, (t, dt), q, values);
        full.clear_blocks();
        full.f.fill(0.0);
        let begin = self.r.is_empty();
        for j in 0..self.closed.len() {
            let Closed { interaction, carried } = self.closed[j];
            let k = &list.items()[interaction];
            self.directions(system, k, t, q);
            let row = &self.w[..k.dofs.len()];
            let c = (gap(system, k, t, q)? - k.row_times(row, &self.delta)) / dt;
            for (&d, w) in k.dofs.iter().zip(row) {
                full.f[d as usize] -= w * carried / dt;
            }
            full.push_block(Set::NonNegative, &k.dofs, &[c]).copy_from_slice(row);
            if begin {
                self.r.push(carried / dt);
            }
        }
        for (i, k) in list.items().iter().enumerate().filter(|(_, k)| k.kind == Kind::Joint) {
            self.directions(system, k, t, q);
            let (n, dim) = (k.dofs.len(), k.dim());
            capacity::resize(&mut self.g, dim, 0.0);
            system.position(k, t, q, &mut self.g);
            let was = &self.joints[list.range(i)];
            for j in 0..dim {
                let along = k.row_times(&self.w[j * n..(j + 1) * n], &self.delta);
                self.g[j] = (self.g[j] - was[j] - along) / dt;
            }
            let mut at = 0;
            while at < dim {
                let d = (dim - at).min(MAX_DIM);
                let rows = full.push_block(Set::Free { dim: d }, &k.dofs, &self.g[at..at + d]);
                rows.copy_from_slice(&self.w[at * n..(at + d) * n]);
                at += d;
            }
        }
        self.r.resize(full.c.len(), 0.0);
        let solved = full.solve(solve.solver.as_mut(), &solve.options, &mut self.r, &mut self.velocity);
        report.take(&solved, full.reduced());
        self.full = Some(full);
        if let (Status::Singular, Some(row)) = (solved.status, solved.row) {
            let velocity = system.structure().velocities[row].into();
            return Err(Failure::Singular { what: "the mass matrix", velocity });
        }
        if !all_finite(&self.velocity) {
            return Err(Failure::NotFinite { what: "the projection of the position".into() });
        }
        if !solved.solved() {
            return Err(Failure::Solver(solved));
        }
        Ok(())
    }

    /// B δ onto `out`, with B at (t, q).
    fn shift(&mut self, system: &Evaluator, t: f64, q: &[f64], out: &mut [f64]) {
        let [moved, still] = &mut self.rates;
        capacity::resize(moved, q.len(), 0.0);
        rates_into(system, t, q, &self.delta, moved);
        system.localise(q, out);
        out.iter_mut().zip(&*moved).for_each(|(q, m)| *q += m);
        if !system.structure().identity_kinematics() {
            capacity::resize(still, q.len(), 0.0);
            self.velocity.fill(0.0);
            rates_into(system, t, q, &self.velocity, still);
            out.iter_mut().zip(&*still).for_each(|(q, m)| *q -= m);
        }
        system.retract(q, out);
    }

    /// η by component, from the rows.
    fn take_multipliers(&mut self, list: &Candidates, dt: f64) {
        capacity::resize(&mut self.eta, list.components(), 0.0);
        for (closed, r) in self.closed.iter().zip(&self.r) {
            self.eta[list.range(closed.interaction).start] = dt * r - closed.carried;
        }
        let mut at = self.closed.len();
        for (i, k) in list.items().iter().enumerate().filter(|(_, k)| k.kind == Kind::Joint) {
            let range = list.range(i);
            let rows = &self.r[at..at + range.len()];
            self.eta[range].iter_mut().zip(rows).for_each(|(e, r)| *e = dt * r);
            at += k.dim();
        }
    }

    /// How far a position is from that of the last stage, moved by these multipliers with the directions at the position itself.
    pub(super) fn defect(
        &mut self,
        system: &Evaluator,
        list: &Candidates,
        (t, dt): (f64, f64),
        values: &Values,
        to: &[f64],
        eta: &[f64],
    ) -> f64 {
        let from = values.q(values.n - 1);
        let mut full = self.metric(system, (t, dt), to, values);
        capacity::resize(&mut self.delta, system.structure().nu(), 0.0);
        capacity::resize(&mut self.velocity, system.structure().nu(), 0.0);
        self.delta.fill(0.0);
        for (i, k) in list.items().iter().enumerate() {
            let eta = &eta[list.range(i)];
            if eta.iter().any(|e| *e != 0.0) {
                self.directions(system, k, t, to);
                for (row, eta) in self.w.chunks_exact(k.dofs.len().max(1)).zip(eta) {
                    k.dofs.iter().zip(row).for_each(|(&d, w)| self.delta[d as usize] += w * eta);
                }
            }
        }
        let factored = full.matrix.factor().is_ok();
        full.matrix.solve(&mut self.delta);
        self.full = Some(full);
        if !factored {
            return f64::INFINITY;
        }
        let mut there = from.to_vec();
        self.shift(system, t, from, &mut there);
        there.iter().zip(to).map(|(a, b)| (a - b).abs()).fold(0.0, |m, d| if d <= m { m } else { d })
    }
}
