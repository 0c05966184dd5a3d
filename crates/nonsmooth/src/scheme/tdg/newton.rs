//! Newton's method for all stages at once, where forces are too stiff for a fixed point.
//!
//! Unknowns are the accelerations a_l of the stages and, for D⁺, the jump y = M⁻¹WP/dt. With the weights ā = (a, κ) of velocities and w of positions
//! (Jacobians of W and M are left out: they enter with dt²),
//!
//! ```text
//! Σ_k [δ_lk M_l − dt ā_lk h_u − dt² (w ā)_lk h_q B]_l a_k⁺ = h_l − M_l a_l + Σ_k [..] a_k + W_l λ_l⁺,    M y⁺ = W P⁺/dt
//! ```
//!
//! with the laws on acceleration level in every stage and those of the jump: one problem for all. Unknowns are numbered by velocities first, so that what is banded stays so.

use super::jump::Jump;
use super::tableau::Tableau;
use super::values::Values;
use crate::contract::Evaluator;
use crate::scheme::acceleration::Forces;
use crate::scheme::velocity_level::VelocityLevel;
use crate::scheme::{Failure, Solve};
use crate::state::{State, StepReport};
use complementarity::linear::{Matrix, Pattern};
use complementarity::{FullProblem, Problem, Set};

/// Workspace of the method.
pub(super) struct Newton {
    full: FullProblem,
    problem: Problem,
    rows: Vec<f64>,
    r: Vec<f64>,
    by_q: Matrix,
    by_v: Matrix,
    x: Vec<f64>,
    momentum: Vec<f64>,
    /// Unknowns by velocity: stages, and the jump.
    n: usize,
    dofs: Vec<u32>,
}

impl Newton {
    pub(super) fn new(system: &Evaluator, stages: usize, jump: bool) -> Self {
        let s = system.structure();
        let n = stages + usize::from(jump);
        let mut pattern = Pattern::new(s.nu() * n);
        let mut group = Vec::new();
        let mut couple = |dofs: &[usize]| {
            group.clear();
            group.extend(dofs.iter().flat_map(|d| d * n..(d + 1) * n));
            pattern.couple(&group);
        };
        (0..s.nu()).for_each(|d| couple(&[d]));
        s.pattern.for_each_clique(&mut couple);
        Self {
            full: FullProblem::new(&pattern),
            problem: Problem::default(),
            rows: Vec::new(),
            r: Vec::new(),
            by_q: Matrix::new(&s.pattern),
            by_v: Matrix::new(&s.pattern),
            x: vec![0.0; s.nu() * n],
            momentum: vec![0.0; s.nu()],
            n,
            dofs: Vec::new(),
        }
    }

    /// The matrix, with Jacobians at the stages as they are.
    pub(super) fn assemble_matrix(
        &mut self,
        system: &Evaluator,
        tableau: &Tableau,
        values: &Values,
        forces: &[Forces],
        jump: Option<&VelocityLevel>,
        (t0, dt): (f64, f64),
    ) {
        let (stages, n) = (tableau.stages(), self.n);
        let weights = values.position_weights(tableau);
        let velocity = |l: usize, k: usize| if k < stages { tableau.a[l * stages + k] } else { tableau.kappa[l] };
        self.full.matrix.clear();
        for l in 0..stages {
            let t = t0 + tableau.c[l] * dt;
            self.by_q.clear();
            self.by_v.clear();
            for i in 0..system.structure().forces.len() {
                system.force_jacobian(i, t, values.q(l), values.v(l), 1.0, 0.0, &mut self.by_q);
                system.force_jacobian(i, t, values.q(l), values.v(l), 0.0, 1.0, &mut self.by_v);
            }
            let matrix = &mut self.full.matrix;
            forces[l].full.matrix.for_each_entry(|i, j, m| matrix.add(i * n + l, j * n + l, m));
            for k in 0..n {
                let of_v = velocity(l, k);
                let of_q: f64 = (0..stages).map(|j| weights[l * stages + j] * velocity(j, k)).sum();
                self.by_v.for_each_entry(|i, j, h| matrix.add(i * n + l, j * n + k, -dt * of_v * h));
                self.by_q.for_each_entry(|i, j, h| matrix.add(i * n + l, j * n + k, -dt * dt * of_q * h));
            }
        }
        if let Some(work) = jump {
            let matrix = &mut self.full.matrix;
            work.mass.for_each_entry(|i, j, m| matrix.add(i * n + stages, j * n + stages, m));
        }
    }

    /// One iteration: accelerations and the jump into `values`, forces into `forces`, percussions into the jump.
    pub(super) fn iterate(
        &mut self,
        system: &Evaluator,
        tableau: &Tableau,
        start: &State,
        dt: f64,
        values: &mut Values,
        forces: &mut [Forces],
        jump: Option<&mut Jump>,
        solve: &mut Solve,
        work: &mut StepReport,
    ) -> Result<(), Failure> {
        let (jump, impulse) = match jump {
            Some(Jump { work, impulse, .. }) => (work.as_deref_mut(), &impulse[..]),
            None => (None, &[][..]),
        };
        let (stages, n, nu) = (tableau.stages(), self.n, values.nu);
        for d in 0..nu {
            for l in 0..stages {
                self.x[d * n + l] = values.a[l * nu + d];
            }
            if n > stages {
                self.x[d * n + stages] = values.y[d];
            }
        }
        self.full.matrix.multiply(&self.x, &mut self.full.f);
        self.full.clear_blocks();
        self.rows.clear();
        for (l, stage) in forces.iter().enumerate() {
            stage.full.matrix.multiply(values.a(l), &mut self.momentum);
            for d in 0..nu {
                self.full.f[d * n + l] += stage.full.f[d] - self.momentum[d];
            }
            for (b, block) in stage.full.blocks().iter().enumerate() {
                let (set, coupling) = (block.set.clone(), stage.full.coupling());
                self.dofs.clear();
                self.dofs.extend(coupling.dofs(b).iter().map(|d| d * n as u32 + l as u32));
                let c = &stage.full.c[block.start..block.start + set.dim()];
                self.full.push_block(set, &self.dofs, c).copy_from_slice(coupling.values(b));
            }
            self.rows.extend_from_slice(&stage.rows);
        }
        if let Some(work) = jump.as_deref() {
            // M y = W P/dt, with P = P̂ − S.
            (0..nu).for_each(|d| self.full.f[d * n + stages] = impulse.get(d).map_or(0.0, |x| x / dt));
            self.push_jump(work, tableau, start, dt);
        }
        self.r.clear();
        self.r.resize(self.full.c.len(), 0.0);
        let mut at = 0;
        for stage in forces.iter() {
            let m = stage.full.c.len();
            if stage.r.len() == m {
                self.r[at..at + m].copy_from_slice(&stage.r);
            }
            at += m;
        }
        if let Some(work) = jump.as_deref().filter(|w| w.r.len() == self.r.len() - at) {
            self.r[at..].iter_mut().zip(&work.r).for_each(|(r, p)| *r = p / dt);
        }
        let singular = |row: usize| Failure::Singular {
            what: "the iteration matrix of the stages",
            velocity: system.structure().velocities[row / n].into(),
        };
        self.full.reduce_onto(&self.rows, &mut self.problem).map_err(|e| singular(e.row))?;
        if !self.full.blocks().is_empty() {
            let report = solve.solver.solve(&self.problem, &mut self.r, &solve.options);
            work.take(&report, &self.problem);
            if let Some(first) = forces.first() {
                first.judge(system, &report)?;
            }
        }
        self.full.velocity(&self.r, &mut self.x);
        for d in 0..nu {
            for l in 0..stages {
                values.a[l * nu + d] = self.x[d * n + l];
            }
            if n > stages {
                values.y[d] = self.x[d * n + stages];
            }
        }
        let mut at = 0;
        for stage in forces.iter_mut() {
            let m = stage.full.c.len();
            stage.r.clear();
            stage.r.extend_from_slice(&self.r[at..at + m]);
            stage.scatter();
            at += m;
        }
        if let Some(work) = jump {
            work.r.clear();
            work.r.extend(self.r[at..].iter().map(|p| p * dt));
        }
        Ok(())
    }

    /// The laws of the jump, divided by dt: −(Wᵀ(u/dt + Σ β_k a_k + y) + c/dt) ∈ N(P/dt).
    fn push_jump(&mut self, work: &VelocityLevel, tableau: &Tableau, start: &State, dt: f64) {
        let (stages, n) = (tableau.stages(), self.n);
        let weight = |k: usize| if k < stages { tableau.beta[k] } else { 1.0 };
        for (b, block) in work.full.blocks().iter().enumerate() {
            let (coupling, dim) = (work.full.coupling(), block.set.dim());
            let dofs = coupling.dofs(b);
            self.dofs.clear();
            self.dofs.extend(dofs.iter().flat_map(|d| (0..n as u32).map(move |k| d * n as u32 + k)));
            let mut c = [0.0; complementarity::sets::MAX_DIM];
            for (j, c) in c.iter_mut().enumerate().take(dim) {
                let along = dofs.iter().zip(coupling.row(b, j)).map(|(&d, w)| w * start.u[d as usize]);
                *c = (work.full.c[block.start + j] + along.sum::<f64>()) / dt;
            }
            let out = self.full.push_block(scaled(&block.set, 1.0 / dt), &self.dofs, &c[..dim]);
            for j in 0..dim {
                for (i, w) in coupling.row(b, j).iter().enumerate() {
                    for k in 0..n {
                        out[(j * dofs.len() + i) * n + k] = if k == stages { *w } else { 0.0 };
                        self.rows.push(weight(k) * w);
                    }
                }
            }
        }
    }
}

/// The set of r·scale for r in `set`.
fn scaled(set: &Set, scale: f64) -> Set {
    match set {
        Set::Ball { dim, radius } => Set::Ball { dim: *dim, radius: radius * scale },
        Set::Interval { lower, upper } => Set::Interval { lower: lower * scale, upper: upper * scale },
        cone => cone.clone(),
    }
}
