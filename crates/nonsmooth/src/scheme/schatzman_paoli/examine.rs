//! Examination of a finished step: certificate and ledger.
//!
//! With q_{k+2} = q_k + 2dt u_{k+1}, a step shows both equations that made it, for q_{k+1} and for q_{k+2}; only their percussions are known by
//! their mean P alone. The laws tell them apart where a contact is open in one of the equations (its percussion is zero there, 2P in the other).
//! Where it is closed in both, and for joints, P_{k+1} is what fits the first equation best (in the metric of M⁻¹, not negative at contacts), and
//! P_{k+2} = 2P − P_{k+1} must then fit the second. A wrong P, q or u leaves a residual in one of them.

use super::SchatzmanPaoliMemory;
use super::equation::{Before, EquationInput};
use super::{SchatzmanPaoli, SchatzmanPaoliOptions};
use crate::accounting::{Certificate, Ledger, Line, Meter};
use crate::contract::{Candidates, Evaluator, Kind};
use crate::scheme::Examination;
use crate::scheme::velocity_level::VelocityLevel;
use crate::state::{State, Step};
use complementarity::linear::Matrix;
use complementarity::linear::dense::{dot, max_norm};
use complementarity::sets::MAX_DIM;
use complementarity::{FullProblem, Options, Solver, solver};

/// Workspace.
pub(super) struct Split {
    /// Pattern that it was made for.
    made_for: u64,
    full: FullProblem,
    solver: Box<dyn Solver>,
    /// ξ of both equations, by component.
    xi: [Vec<f64>; 2],
    /// Rounding of ξ.
    floor: Vec<f64>,
    /// Percussions of both equations.
    p: [Vec<f64>; 2],
    /// Blocks of the fit, as blocks of the equation.
    blocks: Vec<usize>,
    r: Vec<f64>,
    v: Vec<f64>,
    q_after: Vec<f64>,
    mean: Vec<f64>,
    middle: Vec<f64>,
    h: Vec<f64>,
    /// Work of each force over the mean velocity and over the velocity that moved the position.
    work: Vec<[f64; 2]>,
    /// M at the end of the step.
    star: Matrix,
    /// Δw of an equation.
    delta: Vec<f64>,
}

/// Relative size up to which ξ counts as zero when percussions are told apart: above what the schemes solve to; a contact that is taken for
/// closed and is open only has its percussion of zero fitted.
const CLOSED: f64 = 1e-8;

/// A gap is a difference of coordinates, and so is w: their rounding over dt, some ε·|q|/dt, is no residual.
const ROUNDING: f64 = 16.0 * f64::EPSILON;

/// What one equation left.
#[derive(Clone, Copy, Default)]
struct Defect {
    residual: f64,
    scale: f64,
    culprit: Option<usize>,
}

impl Split {
    fn new(system: &Evaluator) -> Self {
        let s = system.structure();
        let n = s.nu();
        Self {
            made_for: s.pattern.id(),
            full: FullProblem::new(&s.mass_pattern),
            solver: solver::make("auto").unwrap_or_else(|| Box::new(solver::Newton::default())),
            xi: Default::default(),
            floor: Vec::new(),
            p: Default::default(),
            blocks: Vec::new(),
            r: Vec::new(),
            v: vec![0.0; n],
            q_after: Vec::new(),
            mean: Vec::new(),
            middle: Vec::new(),
            h: vec![0.0; n],
            work: Vec::new(),
            star: Matrix::new(&s.mass_pattern),
            delta: vec![0.0; n],
        }
    }

    /// Percussions that the laws tell: zero where a contact is open. What is left goes to the fit.
    fn tell_apart(&mut self, options: &SchatzmanPaoliOptions, work: &VelocityLevel, step: &Step, speed: f64) {
        let mean = step.end.percussions.values();
        let closed = CLOSED.max(10.0 * options.newton_tol) * (1.0 + speed);
        self.blocks.clear();
        self.p.iter_mut().for_each(|p| p.resize(mean.len(), 0.0));
        let mut block = 0;
        for (i, k) in step.candidates.items().iter().enumerate() {
            let mut count = 0;
            k.law.percussion_sets(k.dim(), step.dt, |_| count += 1);
            let range = step.candidates.range(i);
            let open = |xi: &[f64]| k.kind == Kind::Contact && xi[range.start] > closed + self.floor[range.start];
            let (first, second) = (open(&self.xi[0]), open(&self.xi[1]));
            if !(first || second) {
                self.blocks.extend(block..block + count);
            }
            for j in range {
                self.p[0][j] = if second && !first { 2.0 * mean[j] } else { 0.0 };
                self.p[1][j] = if first && !second { 2.0 * mean[j] } else { 0.0 };
            }
            block += count;
        }
        // The fit: M v = dt h + G P with Gᵀ(v − Δw) = 0, or ≥ 0 and complementary to P.
        if self.blocks.is_empty() {
            return;
        }
        self.full.clear_blocks();
        self.full.matrix.clear();
        self.full.matrix.add_scaled(1.0, &work.mass);
        for (f, h) in self.full.f.iter_mut().zip(&work.h) {
            *f = step.dt * h;
        }
        for b in 0..work.full.blocks().len() {
            work.full.coupling().add_force(b, &self.p[0][work.rows(b)], &mut self.full.f);
        }
        for &b in &self.blocks {
            let set = work.full.blocks()[b].set.clone();
            let d = set.dim();
            let mut along = [0.0; MAX_DIM];
            work.full.coupling().add_velocity(b, &self.delta, &mut along[..d]);
            along.iter_mut().for_each(|a| *a = -*a);
            let rows = self.full.push_block(set, work.full.coupling().dofs(b), &along[..d]);
            rows.copy_from_slice(work.full.coupling().values(b));
        }
        self.r.clear();
        self.r.resize(self.full.c.len(), 0.0);
        // Not solved: the residual of the equations says so.
        self.full.solve(self.solver.as_mut(), &Options::default(), &mut self.r, &mut self.v);
        let mut at = 0;
        for &b in &self.blocks {
            for j in work.rows(b) {
                self.p[0][j] = self.r[at];
                self.p[1][j] = 2.0 * mean[j] - self.r[at];
                at += 1;
            }
        }
    }

    /// Laws and cone of the step.
    fn certify_laws(&self, step: &Step, size: f64, out: &mut Certificate) {
        let mean = step.end.percussions.values();
        for (i, k) in step.candidates.items().iter().enumerate() {
            for j in step.candidates.range(i) {
                // What is rounding counts as nothing.
                let xi = self.xi.each_ref().map(|xi| if xi[j].abs() <= self.floor[j] { 0.0 } else { xi[j] });
                let violation = if k.kind == Kind::Contact {
                    let p = self.p.each_ref().map(|p| -p[j]);
                    out.gap_velocity = out.gap_velocity.max(-xi[0]).max(-xi[1]);
                    out.cone = out.cone.max(-mean[j]);
                    let both = mean[j].min(xi[0]).min(xi[1]);
                    let taken = if step.active[i] { 0.0 } else { mean[j].abs() };
                    both.max(taken).max(-mean[j]).max(-xi[0]).max(-xi[1]).max(p[0]).max(p[1])
                } else {
                    xi[0].abs().max(xi[1].abs())
                };
                let law = violation / size;
                if !(law <= out.law) {
                    out.law = law;
                    out.law_culprit = Some(i);
                }
            }
        }
    }
}

/// Residual of an equation with the percussions in `work.r`, and the interaction that explains it best.
fn defect(work: &VelocityLevel, list: &Candidates, (residual, scale): (f64, f64), rounding: f64) -> Defect {
    if residual <= rounding {
        return Defect { residual: 0.0, scale, culprit: None };
    }
    let (mut best, mut culprit, mut block) = (0.0, None, 0);
    for (i, k) in list.items().iter().enumerate() {
        let (mut count, n) = (0, k.dofs.len().max(1));
        k.law.percussion_sets(k.dim(), 1.0, |_| count += 1);
        for b in block..block + count {
            let mut along = [0.0; MAX_DIM];
            work.full.coupling().add_velocity(b, &work.scratch, &mut along[..work.rows(b).len()]);
            for (row, a) in work.full.coupling().values(b).chunks_exact(n).zip(&along) {
                let explained = a.abs() / dot(row, row).sqrt().max(f64::MIN_POSITIVE);
                if explained > best {
                    (best, culprit) = (explained, Some(i));
                }
            }
        }
        block += count;
    }
    Defect { residual, scale, culprit }
}

impl SchatzmanPaoli {
    /// Goes through both equations of a finished step.
    pub(super) fn evaluate_finished(&mut self, system: &Evaluator, start: &State, step: &Step, asked: Examination) {
        let Examination { mut certificate, energy: mut ledger } = asked;
        if let Some(c) = certificate.as_deref_mut() {
            c.clear();
        }
        self.equation.prepare(system);
        let pattern = system.structure().pattern.id();
        let mut split = match self.split.take() {
            Some(split) if split.made_for == pattern => split,
            _ => Split::new(system),
        };
        if self.both(system, start, step, &mut split, certificate.as_deref_mut(), ledger.as_mut()).is_none()
            && let Some(c) = certificate
        {
            c.dynamics = f64::INFINITY;
        }
        self.split = Some(split);
    }

    /// `None` if something is NaN or infinite.
    fn both(
        &mut self,
        system: &Evaluator,
        start: &State,
        step: &Step,
        split: &mut Split,
        certificate: Option<&mut Certificate>,
        mut ledger: Option<&mut (&mut Meter, &mut Ledger)>,
    ) -> Option<()> {
        let (within, system) = (system, &system.unbounded());
        let (dt, list, n) = (step.dt, &step.candidates, start.q.len());
        split.q_after.clear();
        split.q_after.extend(start.q.iter().zip(&step.end.u).map(|(q, u)| q + 2.0 * dt * u));
        let first = start.memory.of::<SchatzmanPaoliMemory>().before.is_empty();
        let before = if first {
            Before::Velocity(&start.u)
        } else {
            Before::Position(&start.memory.of::<SchatzmanPaoliMemory>().before)
        };
        let places = [
            EquationInput { t: start.t, dt, before, middle: &start.q },
            EquationInput { t: step.end.t, dt, before: Before::Position(&start.q), middle: &step.end.q },
        ];
        if ledger.is_some() {
            split.begin_ledger(system, start, step);
        }

        // ξ of the second equation first: it tells percussions of the first apart.
        let e = &mut self.equation;
        e.include_all(list);
        let (mut size, mut speed): (f64, f64) = (max_norm(step.end.percussions.values()), 0.0);
        for half in [1, 0] {
            e.begin(&self.options, &places[half]);
            e.set_after(&places[half], if half == 0 { &step.end.q } else { &split.q_after });
            e.evaluate(system, &places[half], list).ok()?;
            split.xi[half].clone_from(&e.xi);
            speed = speed.max(max_norm(&e.w)).max(max_norm(&e.w0));
            let work = e.work.as_ref()?;
            let position = 1.0 + max_norm(&e.q);
            split.floor.resize(e.xi.len(), 0.0);
            for b in 0..work.full.blocks().len() {
                let dofs = work.full.coupling().dofs(b);
                let mut values = work.full.coupling().values(b);
                for row in work.rows(b) {
                    let (g, rest) = values.split_at(dofs.len());
                    let norm = g.iter().map(|g| g.abs()).sum::<f64>().max(1.0);
                    split.floor[row] = 2.0 * ROUNDING * position * norm / dt;
                    size = size.max(g.iter().zip(dofs).map(|(g, &j)| (g * e.w[j as usize]).abs()).sum());
                    values = rest;
                }
            }
        }
        if size == 0.0 {
            size = 1.0;
        }

        let mut defects = [Defect::default(); 2];
        for half in 0..2 {
            let e = &mut self.equation;
            if half == 1 {
                e.begin(&self.options, &places[1]);
                e.set_after(&places[1], &split.q_after);
                e.evaluate(system, &places[1], list).ok()?;
            }
            let kappa = if half == 0 && first { 2.0 } else { 1.0 };
            for i in 0..n {
                split.delta[i] = kappa * (e.w[i] - e.w0[i]);
            }
            if half == 0 {
                split.tell_apart(&self.options, e.work.as_ref()?, step, speed);
            }
            let work = e.work.as_mut()?;
            work.r.clone_from(&split.p[half]);
            // What M makes of the rounding of the positions.
            split.h.fill(0.0);
            let positions = [&start.q, &step.end.q, &split.q_after];
            work.mass.for_each_entry(|i, j, m| {
                let q = positions.iter().fold(0.0f64, |s, q| s.max(q[j].abs()));
                split.h[i] += m.abs() * q;
            });
            let rounding = kappa * ROUNDING * max_norm(&split.h) / dt;
            let found = e.dynamics_residual(dt);
            defects[half] = defect(e.work.as_ref()?, list, found, rounding);
            if let Some((_, ledger)) = ledger.as_deref_mut() {
                self.account_half(half, system, &places[half], step, split, ledger);
            }
        }
        if let Some((meter, ledger)) = ledger {
            split.end_ledger(within, start, step, meter, ledger);
        }
        let Some(out) = certificate else { return Some(()) };
        let scale = defects[0].scale.max(defects[1].scale).max(f64::MIN_POSITIVE);
        for d in defects {
            let relative = d.residual / scale;
            if !(relative <= out.dynamics) {
                out.dynamics = relative;
                out.dynamics_culprit = d.culprit;
            }
        }
        if !first {
            let gone = |i: usize| {
                (step.end.q[i] - start.memory.of::<SchatzmanPaoliMemory>().before[i] - 2.0 * dt * start.u[i]).abs()
            };
            out.kinematics =
                (0..n).map(gone).fold(0.0, |m: f64, d| if d <= m { m } else { d }) / (1.0 + max_norm(&step.end.q));
        }
        split.certify_laws(step, size, out);
        out.geometry(system, step.end.t, &step.end.q, list);
        Some(())
    }

    /// Ledger lines of one equation: half of its percussions and forces work over the mean velocity.
    fn account_half(
        &mut self,
        half: usize,
        system: &Evaluator,
        input: &EquationInput,
        step: &Step,
        split: &mut Split,
        out: &mut Ledger,
    ) {
        let e = &self.equation;
        let Some(work) = e.work.as_ref() else { return };
        let mut block = 0;
        for k in step.candidates.items() {
            let line = if k.kind == Kind::Contact { Line::Normal } else { Line::Joints };
            let mut count = 0;
            k.law.percussion_sets(k.dim(), step.dt, |_| count += 1);
            for b in block..block + count {
                let rows = work.rows(b);
                let mut power = [0.0; MAX_DIM];
                work.full.coupling().add_velocity(b, &split.mean, &mut power[..rows.len()]);
                for (row, power) in rows.zip(power) {
                    out.add(line, 0.5 * power * split.p[half][row]);
                }
            }
            block += count;
        }
        if !system.structure().constant_mass {
            // ½ ū·(M* − M)Δw.
            split.star.multiply(&split.delta, &mut split.v);
            let mut change = dot(&split.mean, &split.v);
            work.mass.multiply(&split.delta, &mut split.v);
            change -= dot(&split.mean, &split.v);
            out.add(Line::MassChange, 0.5 * change);
        }
        for i in 0..split.work.len() {
            split.h.fill(0.0);
            e.add_force(system, input, i, &mut split.h);
            split.work[i][0] += 0.5 * step.dt * dot(&split.mean, &split.h);
            split.work[i][1] += 0.5 * dot(&split.middle, &split.h);
        }
    }
}

impl Split {
    /// ū, M* and the displacement (in `middle`).
    fn begin_ledger(&mut self, system: &Evaluator, start: &State, step: &Step) {
        self.mean.clear();
        self.mean.extend(start.u.iter().zip(&step.end.u).map(|(a, b)| 0.5 * (a + b)));
        self.middle.clear();
        self.middle.extend(start.q.iter().zip(&step.end.q).map(|(a, b)| b - a));
        self.work.clear();
        self.work.resize(system.structure().forces.len(), [0.0; 2]);
        if !system.structure().constant_mass {
            self.star.clear();
            system.mass(step.end.t, &step.end.q, &mut self.star);
        }
    }

    /// Lines of the forces, and the change of M between the ends.
    fn end_ledger(&mut self, system: &Evaluator, start: &State, step: &Step, meter: &mut Meter, out: &mut Ledger) {
        if !system.structure().constant_mass {
            let mut change = 0.0;
            for (sign, s) in [(1.0, &*step.end), (-1.0, start)] {
                self.star.multiply(&s.u, &mut self.v);
                change += sign * (meter.kinetic(system, s.t, &s.q, &s.u) - 0.5 * dot(&s.u, &self.v));
            }
            out.add(Line::MassChange, change);
        }
        self.middle.clear();
        self.middle.extend(start.q.iter().zip(&step.end.q).map(|(a, b)| 0.5 * (a + b)));
        for (i, info) in system.structure().forces.iter().enumerate() {
            let [mean, moved] = self.work[i];
            if info.potential {
                out.add_potential(system, i, start, (step.end.t, &step.end.q), &self.middle, mean, moved);
            } else {
                out.add_force(i, mean);
            }
        }
    }
}
