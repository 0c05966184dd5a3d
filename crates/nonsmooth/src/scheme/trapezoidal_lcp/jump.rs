//! Collisions: compression and decompression at a point, (7.5)-(7.9), and Newton's law.

use super::TrapezoidalStep;
use crate::accounting::Certificate;
use crate::contract::{Evaluator, Kind};
use crate::law::{Law, Normal};
use crate::scheme::velocity_level::{Iteration, Restitution, VelocityLevel};
use crate::scheme::{Failure, Solve};
use crate::state::{State, Step, StepReport};
use complementarity::Polygon;
use complementarity::linear::dense::max_norm;
use complementarity::sets::MAX_DIM;
use std::sync::Arc;

/// Workspace of a jump.
#[derive(Default)]
pub(super) struct Jump {
    pub(super) work: Option<Box<VelocityLevel>>,
    /// Which interactions take part.
    pub(super) touching: Vec<bool>,
    /// Restitution by interaction.
    pub(super) restitution: Vec<f64>,
    /// Percussions by component: of the jump, and of its compression (empty without one).
    pub(super) p: Vec<f64>,
    pub(super) compression: Vec<f64>,
    /// Velocities after the compression.
    compressed: Vec<f64>,
    /// Room for the restitution of the laws.
    laws: Vec<f64>,
}

/// Which laws a jump is solved with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// Without restitution.
    Compression,
    /// Newton's restitution; Poisson's has been returned already.
    Whole,
}

/// Whether a contact that touches returns its compression.
fn poisson(law: &Law, e: f64) -> bool {
    e > 0.0 && matches!(law, Law::Contact(c) if matches!(c.normal, Normal::Poisson { .. }))
}

impl Jump {
    /// Everything at (t, q) with the velocity before the jump.
    pub(super) fn assemble(
        &mut self,
        system: &Evaluator,
        facets: &Option<Arc<Polygon>>,
        (t, q, u): (f64, &[f64], &[f64]),
        step: &Step,
        phase: Phase,
    ) {
        let (work, fresh) = VelocityLevel::prepare(&mut self.work, system, Iteration::Mass);
        if fresh {
            work.facets = facets.clone();
        }
        // The list of the laws keeps its memory.
        if let Restitution::Normal(laws) = std::mem::take(&mut work.restitution) {
            self.laws = laws;
        }
        work.restitution = match phase {
            Phase::Compression => Restitution::All(0.0),
            Phase::Whole => {
                let mut laws = std::mem::take(&mut self.laws);
                let items = step.candidates.items().iter().zip(&self.restitution);
                laws.clear();
                laws.extend(items.map(|(k, &e)| if poisson(&k.law, e) || e.is_nan() { 0.0 } else { e }));
                Restitution::Normal(laws)
            }
        };
        work.assemble_mass(system, t, q);
        work.full.matrix.clear();
        work.full.matrix.add_scaled(1.0, &work.mass);
        work.begin(&step.candidates);
        let list = &step.candidates;
        work.velocities_before(system, t, q, u, list, &self.touching);
        let mut kinematics = std::mem::take(&mut work.kinematics);
        // A jump takes no time: elements act with their impulse sets alone.
        work.assemble_blocks(&mut kinematics, system, t, q, list, &self.touching, 0.0);
        work.kinematics = kinematics;
        work.size_vectors();
        work.mass.multiply(u, &mut work.full.f);
        work.h.fill(0.0);
    }

    fn poisson_takes_part(&self, step: &Step) -> bool {
        let items = step.candidates.items().iter();
        items.zip(&self.touching).zip(&self.restitution).any(|((k, &on), &e)| on && poisson(&k.law, e))
    }

    /// Adds W P of what the compression and its restitution give to contacts with Poisson's law to f.
    fn add_returned(&mut self, step: &Step) {
        let Some(work) = self.work.as_mut() else { return };
        let list = &step.candidates;
        let mut f = std::mem::take(&mut work.full.f);
        for (i, blocks, _) in work.parts() {
            let k = &list.items()[i];
            if !poisson(&k.law, self.restitution[i]) {
                continue;
            }
            let mut at = list.range(i).start;
            for b in blocks {
                let d = work.full.coupling().dim(b);
                let mut p = [0.0; MAX_DIM];
                p[..d].copy_from_slice(&self.compression[at..at + d]);
                if at == list.range(i).start {
                    p[0] *= 1.0 + self.restitution[i];
                }
                work.full.coupling().add_force(b, &p[..d], &mut f);
                at += d;
            }
        }
        work.full.f = f;
    }

    /// The jump of `u`, with `touching` and `restitution` set: velocity after it into `after`, percussions into `p`.
    pub(super) fn solve(
        &mut self,
        system: &Evaluator,
        facets: &Option<Arc<Polygon>>,
        (t, q, u): (f64, &[f64], &[f64]),
        step: &Step,
        solve: &mut Solve,
        report: &mut StepReport,
        after: &mut Vec<f64>,
    ) -> Result<(), Failure> {
        let list = &step.candidates;
        self.compression.clear();
        let two = self.poisson_takes_part(step);
        if two {
            self.assemble(system, facets, (t, q, u), step, Phase::Compression);
            let Some(work) = self.work.as_mut() else { return Ok(()) };
            work.r.clear();
            work.r.resize(work.full.c.len(), 0.0);
            work.solve(system, solve, report)?;
            self.compression.resize(list.components(), 0.0);
            work.scatter(list, &mut self.compression);
        }
        self.assemble(system, facets, (t, q, u), step, Phase::Whole);
        if two {
            self.add_returned(step);
        }
        let Some(work) = self.work.as_mut() else { return Ok(()) };
        work.r.clear();
        work.r.resize(work.full.c.len(), 0.0);
        work.solve(system, solve, report)?;
        after.clone_from(&work.v);
        self.p.resize(list.components(), 0.0);
        work.scatter(list, &mut self.p);
        if two {
            for (i, k) in list.items().iter().enumerate() {
                if self.touching[i] && poisson(&k.law, self.restitution[i]) {
                    for (j, at) in list.range(i).enumerate() {
                        self.p[at] += self.compression[at] * if j == 0 { 1.0 + self.restitution[i] } else { 1.0 };
                    }
                }
            }
        }
        Ok(())
    }

    /// Discrete states, γ⁻ and γ⁺ of those that took part into the step, after a [`Jump::solve`].
    pub(super) fn finish(&mut self, after: &[f64], step: &mut Step) {
        let Some(work) = self.work.as_mut() else { return };
        work.forget_velocities();
        work.velocities_after(after);
        for (i, blocks, row) in work.parts() {
            let range = step.candidates.range(i);
            step.gamma_minus[range.clone()].copy_from_slice(work.before(&step.candidates, i));
            step.gamma_plus[range.clone()].copy_from_slice(&work.after()[row..row + range.len()]);
            if step.candidates.items()[i].kind == Kind::Contact {
                step.sigma[i] = work.sigma(blocks);
            }
        }
    }

    /// The jump of a finished step from `u_minus`: residuals of momentum and laws.
    pub(super) fn certify(
        &mut self,
        system: &Evaluator,
        facets: &Option<Arc<Polygon>>,
        step: &Step,
        out: &mut Certificate,
    ) {
        self.take(step);
        let TrapezoidalStep { u_minus, compression, .. } = step.record.of();
        let (end, list) = (&step.end, &step.candidates);
        let at = (end.t, &end.q[..], &u_minus[..]);
        // A step that is the jump alone.
        let mut alone = step.clone();
        alone.dt = 0.0;
        alone.active.clone_from(&self.touching);
        let before = State::new(end.t, end.q.clone(), u_minus.to_vec());
        let mut second = Certificate::default();
        if self.poisson_takes_part(step) {
            self.compression.clone_from(compression);
            self.assemble(system, facets, at, step, Phase::Compression);
            let Some(work) = self.work.as_mut() else { return };
            work.gather(list, &self.compression);
            // The velocity after the compression follows from its percussions.
            self.compressed.resize(u_minus.len(), 0.0);
            let factored = work.full.matrix.factor().is_ok();
            if factored {
                work.full.velocity(&work.r, &mut self.compressed);
            }
            alone.end.u.clone_from(&self.compressed);
            alone.end.percussions.values_mut().copy_from_slice(&self.compression);
            work.certify_laws(&alone, &mut second);
            if !factored {
                second.law = f64::INFINITY;
            }
            alone.end.u.clone_from(&end.u);
        }
        self.assemble(system, facets, at, step, Phase::Whole);
        let Some(work) = self.work.as_mut() else { return };
        // Momentum with all percussions, laws with what the last solve had to find.
        work.gather(list, &self.p);
        let (residual, scale) = work.dynamics_residual(&before.u, &end.u, 0.0);
        second.dynamics = if residual == 0.0 { 0.0 } else { residual / scale.max(f64::MIN_POSITIVE) };
        second.dynamics_culprit = work.explain_dynamics(step);
        let mut rest = self.p.clone();
        for (i, k) in list.items().iter().enumerate() {
            if self.touching[i] && poisson(&k.law, self.restitution[i]) {
                for (j, at) in list.range(i).enumerate() {
                    rest[at] -= self.compression[at] * if j == 0 { 1.0 + self.restitution[i] } else { 1.0 };
                }
                // What rounding leaves of a percussion that is not there.
                let range = list.range(i);
                if max_norm(&rest[range.clone()]) <= 1e-14 * max_norm(&self.p[range.clone()]) {
                    rest[range].fill(0.0);
                }
            }
        }
        work.gather(list, &rest);
        alone.end.percussions.values_mut().copy_from_slice(&rest);
        work.certify_laws(&alone, &mut second);
        out.worsen(&second);
    }

    /// Puts a finished step back.
    pub(super) fn take(&mut self, step: &Step) {
        let parts: &TrapezoidalStep = step.record.of();
        self.restitution.clone_from(&parts.restitution);
        self.touching.clear();
        self.touching.extend(parts.restitution.iter().map(|e| !e.is_nan()));
        self.p.clear();
        self.p.extend(step.end.percussions.values().iter().zip(parts.smooth.iter()).map(|(all, smooth)| all - smooth));
        self.compression.clone_from(&parts.compression);
    }
}
