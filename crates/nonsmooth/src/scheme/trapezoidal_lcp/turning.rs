//! Laws about velocities at the ends of a step, where joints and contacts turn or move.
//!
//! (6.5) to (6.8) and (6.12) take γ_½, with the directions of the middle of the step. Of the exact motion γ_½(v̄) is O(h) in variant I and γ_½(v̄) + γ_½(v) is O(h²) in variant II, (3.13): velocities keep an
//! error of that size across the constraint, a multiplier the h-th part of its change, and positions drift along with it. With `laws = "ends"` the laws get that difference as a right-hand side,
//!
//! ```text
//! γ_½(v̄) + s₁           s₁ = γ(t+h, q*, v*) − γ_½(v*)        variant I
//! γ_½(v̄) + γ_½(v) + s₁ + s₀,   s₀ = γ(t, q, v) − γ_½(v)      variant II
//! v* = v + h a,   q* = q + h (B_½ (v + v*)/2 + β_½)
//! ```
//!
//! with the acceleration a of the laws at the start. v* is off by O(h²), q* by O(h³), and the directions turn by O(h): the laws hold at the ends to O(h³), multipliers are of order 2, and the problem stays
//! the same linear one. Where directions are constant and still s₀ = s₁ = 0.
//!
//! **Joints** have γ_½(v̄) + s₁ = 0 in both variants. With the law for the mean velocity what a velocity is off across a joint would come back in the next step with the other sign, and where the joint turns at a
//! rate ω it would grow by 1 + ωh in each: by e^(ωt) at any h. γ_½(v̄) + s₁ = 0 forgets it.
//!
//! What is left of positions, O(h³) in a step, is projected away after the step: of joints and closed contacts if the run asks for it, and at any rate where a contact that
//! stays closed turns. Where there is a
//! crowd of contacts (`events/groups.rs`) both are left out: the laws of contacts are those of the middle, and a = 0 for joints.

use super::options::Laws;
use super::{TrapezoidalLcp, TrapezoidalStep};
use crate::contract::{Evaluator, Kind};
use crate::scheme::Solve;
use crate::state::{State, Step};
use complementarity::Mode;

impl TrapezoidalLcp {
    /// The acceleration by the laws at the start, if any law of the step turns; else nothing.
    pub(super) fn accelerate(&mut self, system: &Evaluator, start: &State, solve: &mut Solve, out: &mut Step) {
        let record: &mut TrapezoidalStep = out.record.make();
        record.acceleration.0.clear();
        let turns = out.candidates.items().iter().zip(&out.active).any(|(k, active)| *active && !k.constant);
        if !(turns && self.options.laws == Laws::Ends) || self.groups.crowds() {
            return;
        }
        let at = (start.t, &start.q[..], &start.u[..]);
        if self.held_forces(system, at, &[], solve, out)
            && let Some(forces) = &self.forces
        {
            let record: &mut TrapezoidalStep = out.record.make();
            record.acceleration.0.extend_from_slice(forces.acceleration());
        }
    }

    /// Notes which contacts stayed closed in a step, by its laws, if they are few.
    pub(super) fn note_closed(&self, out: &mut Step) {
        if self.options.laws != Laws::Ends || self.groups.crowds() {
            return;
        }
        let items = out.candidates.items().iter().zip(&out.active).zip(&out.sigma);
        let closed = items.filter(|((k, on), s)| **on && k.kind == Kind::Contact && s.mode(0) == Mode::Constraint);
        let (closes, turns) = closed.fold((false, false), |(_, turns), ((k, _), _)| (true, turns || !k.constant));
        let record: &mut TrapezoidalStep = out.record.make();
        (record.closes, record.turns) = (closes, turns);
    }

    /// Adds s₀ and s₁ to the laws that are assembled for a step of length `h`.
    pub(super) fn turn(&mut self, system: &Evaluator, start: &State, h: f64, step: &Step, weight: f64) {
        let acceleration = &step.record.of::<TrapezoidalStep>().acceleration;
        let joints_alone = acceleration.is_empty();
        let Some(work) = self.work.as_mut() else { return };
        if self.options.laws != Laws::Ends || work.constant_rows() {
            return;
        }
        let list = &step.candidates;
        let is_joint = |k: Kind| matches!(k, Kind::Joint | Kind::VelocityJoint);
        if joints_alone && !work.parts().any(|(i, ..)| is_joint(list.items()[i].kind) && !list.items()[i].constant) {
            return;
        }
        let (mut q, mut v) = (std::mem::take(&mut self.q), std::mem::take(&mut self.v));
        v.clone_from(&start.u);
        v.iter_mut().zip(acceleration.iter()).for_each(|(v, a)| *v += h * a);
        self.predict.position_after(system, start, h, &v, &mut q);
        let mut c = std::mem::take(&mut work.full.c);
        for (i, blocks, row) in work.parts() {
            let k = &list.items()[i];
            if k.constant || joints_alone && !is_joint(k.kind) {
                continue;
            }
            let (n, dim) = (k.dofs.len(), k.dim());
            self.rows.resize(dim * n, 0.0);
            self.chi.resize(dim, 0.0);
            system.velocity(k, start.t + h, &q, &mut self.rows, &mut self.chi);
            for j in 0..dim {
                c[row + j] += self.chi[j] + k.row_times(&self.rows[j * n..(j + 1) * n], &v) - work.chi(row + j);
            }
            let mut at = row;
            for b in blocks {
                for w in work.full.coupling().values(b).chunks_exact(n.max(1)) {
                    c[at] -= k.row_times(w, &v);
                    at += 1;
                }
            }
            if weight != 0.0 && !is_joint(k.kind) {
                system.velocity(k, start.t, &start.q, &mut self.rows, &mut self.chi);
                for (j, before) in work.before(list, i).iter().enumerate() {
                    let gamma = self.chi[j] + k.row_times(&self.rows[j * n..(j + 1) * n], &start.u);
                    c[row + j] += weight * (gamma - before);
                }
            }
        }
        work.full.c = c;
        (self.q, self.v) = (q, v);
    }
}
