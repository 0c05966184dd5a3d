//! Collisions: when the first gap reaches zero in a step.

use super::super::TrapezoidalLcp;
use super::{ContactState, LOCATED};
use crate::contract::{Evaluator, Kind};
use crate::root::brent;
use crate::scheme::velocity_level::gap;
use crate::scheme::{Failure, Solve};
use crate::state::{State, Step};

/// Points of the path at which a gap that may have been negative is evaluated.
const SAMPLES: usize = 8;

impl TrapezoidalLcp {
    /// When the first gap reaches zero along the first `limit` of the path.
    pub(super) fn collision(
        &mut self,
        system: &Evaluator,
        start: &State,
        limit: f64,
        out: &Step,
    ) -> Result<Option<f64>, Failure> {
        let list = &out.candidates;
        let (mut q, mut v) = (std::mem::take(&mut self.q), std::mem::take(&mut self.v));
        let mut at_limit = std::mem::take(&mut self.after);
        self.predict.path(system, start, limit, &mut at_limit, &mut v);
        let mut first: Option<f64> = None;
        for (i, k) in list.items().iter().enumerate() {
            let begin = self.starts[i];
            if k.kind != Kind::Contact || matches!(begin.state, ContactState::Closed | ContactState::Approaching) {
                continue;
            }
            let level = if begin.state == ContactState::Separating { begin.gap.min(0.0) } else { 0.0 };
            let predict = &mut self.predict;
            let mut at = |s: f64| -> Result<f64, Failure> {
                predict.path(system, start, s, &mut q, &mut v);
                Ok(gap(system, k, start.t + s, &q)? - level)
            };
            // The path is evaluated anew only for those that collide.
            let mut end = (limit, gap(system, k, start.t + limit, &at_limit)? - level);
            let mut from = (0.0, begin.gap - level);
            if begin.state == ContactState::Open && end.1 >= 0.0 {
                // It may have been below zero in between: only if it approached fast enough.
                let n = k.dofs.len();
                self.rows.resize(k.dim() * n, 0.0);
                self.chi.resize(k.dim(), 0.0);
                system.velocity(k, start.t, &start.q, &mut self.rows, &mut self.chi);
                let velocity = self.chi[0] + k.row_times(&self.rows[..n], &start.u);
                if begin.gap + limit * velocity < 0.0 {
                    for j in 1..SAMPLES {
                        let s = limit * j as f64 / SAMPLES as f64;
                        let value = at(s)?;
                        if value < 0.0 {
                            end = (s, value);
                            break;
                        }
                        from = (s, value);
                    }
                }
            }
            if end.1 >= 0.0 {
                continue;
            }
            if begin.state == ContactState::Separating {
                // Away from the contact first.
                let mut s = 0.5 * end.0;
                from = (s, at(s)?);
                while from.1 <= 0.0 && s > LOCATED * limit {
                    s *= 0.5;
                    from = (s, at(s)?);
                }
                if from.1 <= 0.0 {
                    first = Some(0.0);
                    continue;
                }
            }
            let s = brent(from, end, LOCATED * limit, &mut at)?;
            first = Some(first.map_or(s, |f: f64| f.min(s)));
        }
        (self.q, self.v, self.after) = (q, v, at_limit);
        Ok(first)
    }

    /// Whether forces change within the step by as much as inertia: what happens on the path between its ends then means nothing.
    pub(super) fn is_stiff(&self) -> bool {
        let Some(work) = self.work.as_ref() else { return false };
        let (tilde, mass) = (&work.full.matrix, &work.mass);
        (0..tilde.size()).any(|i| (tilde.get(i, i) - mass.get(i, i)).abs() > mass.get(i, i))
    }

    /// The smallest distance of a gap from where it would collide, at the end of a step of length `s` by the laws.
    pub(super) fn nearest(
        &mut self,
        system: &Evaluator,
        start: &State,
        solve: &mut Solve,
        out: &mut Step,
        s: f64,
    ) -> Result<f64, Failure> {
        self.try_step(system, start, s, false, solve, out)?;
        let mut least = f64::INFINITY;
        for (k, begin) in out.candidates.items().iter().zip(&self.starts) {
            if k.kind == Kind::Contact && matches!(begin.state, ContactState::Open | ContactState::Separating) {
                let level = if begin.state == ContactState::Separating { begin.gap.min(0.0) } else { 0.0 };
                least = least.min(gap(system, k, start.t + s, &self.predict.q)? - level);
            }
        }
        Ok(least)
    }

    /// The collision that the path shows at `s`, located by steps of their own length up to `limit`, at the end of which a gap is below zero. The
    /// last of them is the trial.
    pub(super) fn collision_by_steps(
        &mut self,
        system: &Evaluator,
        start: &State,
        solve: &mut Solve,
        out: &mut Step,
        s: f64,
        limit: f64,
    ) -> Result<f64, Failure> {
        let shortest = self.earliest(start).min(limit);
        let mut a = (s.max(shortest), 0.0);
        let mut b = (limit, self.nearest(system, start, solve, out, limit)?);
        a.1 = self.nearest(system, start, solve, out, a.0)?;
        while a.1 < 0.0 && a.0 > shortest {
            b = a;
            a.0 = (0.5 * a.0).max(shortest);
            a.1 = self.nearest(system, start, solve, out, a.0)?;
        }
        let found = if a.1 > 0.0 && b.1 < 0.0 {
            brent(a, b, LOCATED * limit, |s| self.nearest(system, start, solve, out, s))?
        } else {
            a.0
        };
        self.try_step(system, start, found, false, solve, out)?;
        Ok(found)
    }
}
