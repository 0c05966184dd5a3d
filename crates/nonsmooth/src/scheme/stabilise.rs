//! Position projection of joints: one for all velocity- and acceleration-level schemes.
//!
//! After an accepted step, q is moved onto g(t,q) = 0 and u onto ġ = 0, both with the mass metric:
//!
//! ```text
//! δ = M⁻¹ W_g λ,  W_gᵀ δ = −g,  q ← q + B δ      repeated until |g| ≤ tolerance
//! u ← u + M⁻¹ W_g μ,  W_gᵀ (u + M⁻¹ W_g μ) + χ = 0
//! ```
//!
//! Contacts that stay closed may be projected with them, g_N = 0 and γ_N = 0, and γ_F = 0 where friction sticks: after extrapolation.
//!
//! A body that turns in space goes to q ⊕ δ. Redundant joints are no obstacle (least norm). What it changes shows as the ledger line `numerical.projection`.

use crate::contract::{Candidates, Evaluator, Interaction, Kind};
use crate::state::{Sigma, rates_into};
use complementarity::linear::dense::max_norm;
use complementarity::{FullProblem, Mode, Options, Set, Solver, sets::MAX_DIM, solver};

/// Whether joints are projected after accepted steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stabilise {
    /// No: velocity-level schemes drift.
    #[default]
    None,
    /// Yes, in position and velocity.
    Projection,
}

/// Workspace of the projection.
pub struct JointProjection {
    full: FullProblem,
    solver: Box<dyn Solver>,
    g: Vec<f64>,
    chi: Vec<f64>,
    w: Vec<f64>,
    r: Vec<f64>,
    v: Vec<f64>,
    qdot: [Vec<f64>; 2],
    iterations: usize,
    /// μ by component of the interactions of the last call.
    impulses: Vec<f64>,
}

/// Position defects up to this (m or rad) end the iteration: a few rounding errors of coordinates of order one.
const TOLERANCE: f64 = 1e-13;
/// Newton iterations: quadratic from a defect of O(dt²).
const MAX_ITERATIONS: usize = 20;

impl JointProjection {
    /// A workspace for a system.
    pub fn new(system: &Evaluator) -> Self {
        let s = system.structure();
        Self {
            full: FullProblem::new(&s.mass_pattern),
            solver: solver::make("newton").unwrap_or_else(|| Box::new(solver::Newton::default())),
            g: Vec::new(),
            chi: Vec::new(),
            w: Vec::new(),
            r: Vec::new(),
            v: vec![0.0; s.nu()],
            qdot: [vec![0.0; s.nq()], vec![0.0; s.nq()]],
            iterations: 0,
            impulses: Vec::new(),
        }
    }

    /// Position iterations of the last call.
    pub fn iterations(&self) -> usize {
        self.iterations
    }

    /// μ of the last call, by component of the interactions: percussions that change the momentum as the projection of u did.
    pub fn impulses(&self) -> &[f64] {
        &self.impulses
    }

    /// How many rows of an interaction take part: in the projection of q, or in that of u.
    fn wanted(k: &Interaction, sigma: Option<&Sigma>, position: bool) -> usize {
        let touches = k.kind == Kind::Contact && sigma.is_some_and(|s| s.mode(0) == Mode::Constraint);
        match k.kind {
            Kind::Joint => k.dim(),
            Kind::VelocityJoint if !position => k.dim(),
            Kind::Contact if touches && position => 1,
            Kind::Contact if touches => match sigma {
                Some(s) if k.dim() > 1 && s.mode(1) == Mode::Constraint => k.dim(),
                _ => 1,
            },
            _ => 0,
        }
    }

    /// The rows of all joints; `position`: c = g, else c = χ and velocity joints take part too.
    fn rows(
        &mut self,
        system: &Evaluator,
        candidates: &Candidates,
        closed: &[Sigma],
        (t, q): (f64, &[f64]),
        position: bool,
    ) -> f64 {
        self.full.clear_blocks();
        let mut defect = 0.0f64;
        for (i, k) in candidates.items().iter().enumerate() {
            let wanted = Self::wanted(k, closed.get(i), position);
            if wanted == 0 {
                continue;
            }
            let n = k.dofs.len();
            self.w.resize(k.dim() * n, 0.0);
            self.chi.resize(k.dim(), 0.0);
            self.g.resize(k.dim(), 0.0);
            system.velocity(k, t, q, &mut self.w, &mut self.chi);
            if position {
                system.position(k, t, q, &mut self.g);
                defect = defect.max(max_norm(&self.g[..wanted]));
            }
            let c = if position { &self.g } else { &self.chi };
            let mut at = 0;
            while at < wanted {
                let d = (wanted - at).min(MAX_DIM);
                let rows = self.full.push_block(Set::Free { dim: d }, &k.dofs, &c[at..at + d]);
                rows.copy_from_slice(&self.w[at * n..(at + d) * n]);
                at += d;
            }
        }
        defect
    }

    fn solve(&mut self) -> bool {
        self.r.clear();
        self.r.resize(self.full.c.len(), 0.0);
        let options = Options { tolerance: 1e-9, ..Options::default() };
        self.full.solve(self.solver.as_mut(), &options, &mut self.r, &mut self.v).solved()
    }

    /// Projects (q, u) at time t. `closed` has the modes of contacts that are projected too, or is empty. Returns whether all close to the tolerance.
    pub fn project(
        &mut self,
        system: &Evaluator,
        candidates: &Candidates,
        closed: &[Sigma],
        t: f64,
        q: &mut [f64],
        u: &mut [f64],
    ) -> bool {
        let mut last = f64::INFINITY;
        self.iterations = 0;
        self.impulses.clear();
        self.impulses.resize(candidates.components(), 0.0);
        for _ in 0..MAX_ITERATIONS {
            let defect = self.rows(system, candidates, closed, (t, q), true);
            if self.full.blocks().is_empty() || defect <= TOLERANCE || !(defect < last) {
                break;
            }
            last = defect;
            self.iterations += 1;
            self.full.matrix.clear();
            system.mass(t, q, &mut self.full.matrix);
            self.full.f.fill(0.0);
            if !self.solve() {
                return false;
            }
            // q += B δ.
            let [moved, still] = &mut self.qdot;
            rates_into(system, t, q, &self.v, moved);
            if system.structure().identity_kinematics() {
                for i in 0..q.len() {
                    q[i] += moved[i];
                }
            } else {
                self.r.clear();
                self.r.resize(u.len(), 0.0);
                rates_into(system, t, q, &self.r, still);
                if system.has_charts() {
                    // q ⊕ δ, from y₀ + δ.
                    moved.iter_mut().zip(&*still).for_each(|(m, s)| *m -= s);
                    system.about(q, q, |origin, _| moved.iter_mut().zip(origin).for_each(|(m, y)| *m += y));
                    system.retract(q, moved);
                    q.copy_from_slice(moved);
                } else {
                    for i in 0..q.len() {
                        q[i] += moved[i] - still[i];
                    }
                }
            }
        }
        self.rows(system, candidates, closed, (t, q), false);
        if self.full.blocks().is_empty() {
            return true;
        }
        self.full.matrix.clear();
        system.mass(t, q, &mut self.full.matrix);
        self.full.matrix.multiply(u, &mut self.full.f);
        if !self.solve() {
            return false;
        }
        u.copy_from_slice(&self.v);
        let mut at = 0;
        for (i, k) in candidates.items().iter().enumerate() {
            let rows = Self::wanted(k, closed.get(i), false);
            let first = candidates.range(i).start;
            self.impulses[first..first + rows].copy_from_slice(&self.r[at..at + rows]);
            at += rows;
        }
        self.rows(system, candidates, closed, (t, q), true) <= 1e-10
    }
}
