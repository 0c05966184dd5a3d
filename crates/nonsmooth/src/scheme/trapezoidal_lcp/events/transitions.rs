//! Transitions: which laws a step leaves in another mode than it began with, and when.

use super::super::frozen::{Along, Hold, follows_normal};
use super::super::options::{Transitions, Variant};
use super::super::{TrapezoidalLcp, still};
use super::{EventFunction, LOCATED};
use crate::contract::{Evaluator, Interaction, Kind};
use crate::law::{ElementSets, Friction, Law};
use crate::root::brent;
use crate::scheme::acceleration::{Forces, Treat};
use crate::scheme::{Failure, Solve};
use crate::state::{State, Step};
use complementarity::linear::dense::{dot, max_norm, norm};
use complementarity::sets::MAX_DIM;
use complementarity::{Mode, Polygon};
use std::sync::Arc;

/// A force within this part of its bound is on it.
const ON_BOUND: f64 = 1e-7;

impl TrapezoidalLcp {
    /// Interactions whose laws the trial left in another mode than they had at the start; their modes into `holds`.
    pub(super) fn changes(
        &mut self,
        system: &Evaluator,
        start: &State,
        solve: &mut Solve,
        out: &Step,
        watches: &mut Vec<(usize, EventFunction)>,
    ) {
        self.holds.clear();
        let list = &out.candidates;
        let Some(work) = self.work.as_ref() else { return };
        let still = still(&self.predict.v, solve);
        let mut suspects = std::mem::take(&mut self.suspects);
        suspects.clear();
        let mut held = false;
        // Where forces change in a step by as much as inertia, those at its end are those of a velocity that alternates.
        let look_ahead = self.options.events == Transitions::Continuous && !self.is_stiff();
        for (i, blocks, row) in work.parts() {
            let (k, begin) = (&list.items()[i], &self.starts[i]);
            if matches!(k.kind, Kind::Joint | Kind::VelocityJoint) || self.groups.is_crowded(k) {
                continue;
            }
            let skip = usize::from(k.kind == Kind::Contact);
            let after = &work.after()[row..row + k.dim()];
            let sigma = work.sigma(blocks);
            let open = skip == 1 && (sigma.mode(0) == Mode::Impressed || self.predict.p[list.range(i).start] <= 0.0);
            // The velocity that the law is about.
            let law = |j: usize| after[j] + work.full.c[row + j] - work.chi(row + j);
            if open && law(0) > 0.0 {
                watches.push((i, EventFunction::Normal));
                held = true;
                continue;
            }
            if open {
                continue;
            }
            if look_ahead && skip == 1 {
                suspects.push((i, EventFunction::Normal));
            }
            if k.dim() == skip || k.dim() - skip > 3 {
                continue;
            }
            let moves = (skip..k.dim()).any(|j| law(j).abs() > still);
            match begin.slip {
                Some(d) => {
                    let goes_on = dot(&after[skip..], &d[..k.dim() - skip]);
                    if !moves || goes_on < -still {
                        watches.push((i, EventFunction::Slip(d)));
                    }
                }
                None if moves => {
                    watches.push((i, EventFunction::Friction));
                    held = true;
                }
                None if look_ahead => suspects.push((i, EventFunction::Friction)),
                None => {}
            }
        }
        // Means over the step are within bounds; forces at its end may not be.
        if !suspects.is_empty() {
            let (q, v) = (std::mem::take(&mut self.predict.q), std::mem::take(&mut self.predict.v));
            self.on_their_bounds((system, start.t + self.predict.h, &q, &v), watches, &mut suspects, solve, out);
            (self.predict.q, self.predict.v) = (q, v);
            held |= !suspects.is_empty();
            watches.extend_from_slice(&suspects);
        }
        self.suspects = suspects;
        if held {
            self.drop_what_changed_before(system, start, solve, out, watches);
        }
        if watches.is_empty() {
            return;
        }
        self.holds.resize(list.len(), Hold::Law);
        for (i, watch) in watches.iter() {
            let k = &list.items()[*i];
            let along = self.starts[*i].slip.map(|d| friction_along(k, &d, &self.options.facets));
            self.holds[*i] = match (watch, along) {
                (EventFunction::Slip(_), Some(along)) => Hold::Slip(along),
                (EventFunction::Normal, Some(along)) => Hold::Closed(along),
                _ => Hold::Stick,
            };
        }
    }

    /// Keeps those whose forces at (t, q, v), by the laws, are on their bounds, and would be beyond them if their modes were held.
    fn on_their_bounds(
        &mut self,
        (system, t, q, v): (&Evaluator, f64, &[f64], &[f64]),
        watches: &mut Vec<(usize, EventFunction)>,
        suspects: &mut Vec<(usize, EventFunction)>,
        solve: &mut Solve,
        out: &Step,
    ) {
        let list = &out.candidates;
        let before = watches.len();
        // By the laws first: where forces are not unique, those of the laws are within their bounds if any are.
        for (held, beyond) in [(false, ON_BOUND), (true, 0.0)] {
            if suspects.is_empty() {
                return;
            }
            if held {
                watches.extend_from_slice(suspects);
            }
            let found = self.held_forces(system, (t, q, v), watches, solve, out);
            watches.truncate(before);
            let (true, Some(forces)) = (found, &self.forces) else {
                // A paradox: the laws have no forces there. The kept modes may.
                if held {
                    suspects.clear();
                }
                continue;
            };
            suspects.retain(|(i, w)| {
                let lambda = &forces.lambda()[list.range(*i)];
                let (margin, size) = margin(&list.items()[*i], lambda, *w, &self.options.facets);
                if held { margin < 0.0 } else { margin <= beyond * size }
            });
        }
    }

    /// Keeps only those whose forces at the start are still within their bounds.
    pub(super) fn drop_what_changed_before(
        &mut self,
        system: &Evaluator,
        start: &State,
        solve: &mut Solve,
        out: &Step,
        watches: &mut Vec<(usize, EventFunction)>,
    ) {
        loop {
            let at = (start.t, &start.q[..], &start.u[..]);
            let before = watches.len();
            if !self.held_forces(system, at, watches, solve, out) {
                // No forces at all: what happens, happens from the start on.
                watches.retain(|(_, w)| matches!(w, EventFunction::Slip(_)));
                return;
            }
            let Some(forces) = &self.forces else { return };
            watches.retain(|(i, w)| {
                let lambda = &forces.lambda()[out.candidates.range(*i)];
                let (margin, size) = margin(&out.candidates.items()[*i], lambda, *w, &self.options.facets);
                matches!(w, EventFunction::Slip(_)) || margin > ON_BOUND * size
            });
            if watches.len() == before {
                return;
            }
        }
    }

    /// Forces at (t, q, u) with the watched interactions held.
    pub(in super::super) fn held_forces(
        &mut self,
        system: &Evaluator,
        at: (f64, &[f64], &[f64]),
        watches: &[(usize, EventFunction)],
        solve: &mut Solve,
        out: &Step,
    ) -> bool {
        let forces = self.forces.get_or_insert_with(|| Forces::new(system));
        let starts = &self.starts;
        let treat = |i: usize, _: &[f64]| {
            let held = watches.iter().any(|(j, w)| *j == i && !matches!(w, EventFunction::Slip(_)));
            match (out.active[i], held, starts[i].slip.is_some()) {
                (false, ..) => Treat::Open,
                (_, false, true) => Treat::Law,
                (_, false, false) => Treat::Rest,
                (_, true, true) => Treat::Closed,
                (_, true, false) => Treat::Stuck,
            }
        };
        forces.solve_by(system, at, &out.candidates, treat, solve)
    }

    /// When a transition happens along the path of the kept modes, by the functions of the continuous problem.
    pub(super) fn transition(
        &mut self,
        system: &Evaluator,
        start: &State,
        solve: &mut Solve,
        out: &Step,
        i: usize,
        watch: EventFunction,
    ) -> Result<Option<f64>, Failure> {
        let h = self.predict.h;
        let (mut q, mut v) = (std::mem::take(&mut self.q), std::mem::take(&mut self.v));
        let mut at = |this: &mut Self, s: f64| -> f64 {
            this.predict.path(system, start, s, &mut q, &mut v);
            let place = (start.t + s, &q[..], &v[..]);
            match watch {
                EventFunction::Slip(d) => this.slip_along(system, out, i, place, &d),
                _ => {
                    if !this.held_forces(system, place, &[(i, watch)], solve, out) {
                        return f64::NAN;
                    }
                    let lambda = this.forces.as_ref().map_or(&[][..], |f| f.lambda());
                    margin(&out.candidates.items()[i], &lambda[out.candidates.range(i)], watch, &this.options.facets).0
                }
            }
        };
        let (from, end) = (at(self, 0.0), at(self, h));
        let found = if from > 0.0 && end < 0.0 {
            Some(brent((0.0, from), (h, end), LOCATED * h, |s| Ok(at(self, s)))?)
        } else {
            None
        };
        (self.q, self.v) = (q, v);
        Ok(found)
    }

    /// When the kept mode stops being one of the LCP: the length of the step at which its variable is zero, and what that says of the time.
    pub(super) fn degenerate(
        &mut self,
        system: &Evaluator,
        start: &State,
        solve: &mut Solve,
        out: &mut Step,
        (i, watch): (usize, EventFunction),
        h: f64,
    ) -> Result<Option<f64>, Failure> {
        let weight = self.options.weight();
        let mut at = |this: &mut Self, s: f64| -> Result<f64, Failure> {
            if !this.try_step(system, start, s, true, solve, out)? {
                return Ok(f64::NAN);
            }
            Ok(match watch {
                EventFunction::Slip(d) => {
                    let (q, mut v) = (std::mem::take(&mut this.predict.q_mid), std::mem::take(&mut this.v));
                    v.clear();
                    v.extend(this.predict.v.iter().zip(&start.u).map(|(v, u)| (v + weight * u) / (1.0 + weight)));
                    let slip = this.slip_along(system, out, i, (start.t + 0.5 * s, &q, &v), &d);
                    (this.predict.q_mid, this.v) = (q, v);
                    slip
                }
                _ => {
                    let mut p = [0.0; MAX_DIM];
                    let range = out.candidates.range(i);
                    let n = range.len().min(MAX_DIM);
                    p.iter_mut().zip(&this.predict.p[range]).for_each(|(to, p)| *to = p / s);
                    margin(&out.candidates.items()[i], &p[..n], watch, &this.options.facets).0
                }
            })
        };
        let end = at(self, h)?;
        let near = LOCATED.sqrt() * h;
        let from = at(self, near)?;
        if !(from > 0.0 && end < 0.0) {
            return Ok(None);
        }
        let s = brent((near, from), (h, end), LOCATED * h, |s| at(self, s))?;
        let at_end = matches!(watch, EventFunction::Slip(_)) && self.options.variant == Variant::I;
        Ok(Some(if at_end { s } else { 0.5 * s }))
    }

    /// The length of the step, near `s`, at whose end a slip stops exactly: by secants over steps with modes kept.
    pub(super) fn refined(
        &mut self,
        system: &Evaluator,
        start: &State,
        solve: &mut Solve,
        out: &mut Step,
        watches: &[(usize, EventFunction)],
        s: f64,
    ) -> Result<f64, Failure> {
        let h = self.predict.h;
        // The slip that stops first.
        let mut stops = None;
        let (mut q, mut v) = (std::mem::take(&mut self.q), std::mem::take(&mut self.v));
        self.predict.path(system, start, s, &mut q, &mut v);
        for (i, watch) in watches {
            if let EventFunction::Slip(d) = watch {
                let speed = self.slip_along(system, out, *i, (start.t + s, &q, &v), d);
                if stops.is_none_or(|(_, _, least)| speed < least) {
                    stops = Some((*i, *d, speed));
                }
            }
        }
        (self.q, self.v) = (q, v);
        let Some((i, d, speed)) = stops else { return Ok(s) };
        let scale = 1.0 + max_norm(&start.u);
        if speed.abs() > 1e-6 * scale {
            return Ok(s);
        }
        let at_start = self.slip_along(system, out, i, (start.t, &start.q, &start.u), &d);
        let mut end = |this: &mut Self, s: f64| -> Result<f64, Failure> {
            if !this.try_step(system, start, s, true, solve, out)? {
                return Ok(f64::NAN);
            }
            let (q, v) = (std::mem::take(&mut this.predict.q), std::mem::take(&mut this.predict.v));
            let slip = this.slip_along(system, out, i, (start.t + s, &q, &v), &d);
            (this.predict.q, this.predict.v) = (q, v);
            Ok(slip)
        };
        let (mut a, mut b) = ((0.0, at_start), (s, end(self, s)?));
        for _ in 0..6 {
            if !(b.1.abs() > 1e-15 * scale) {
                break;
            }
            let next = b.0 - b.1 * (b.0 - a.0) / (b.1 - a.1);
            if !(next > 0.5 * s && next < h) {
                return Ok(s);
            }
            (a, b) = (b, (next, end(self, next)?));
        }
        Ok(b.0)
    }

    /// Slip velocity of interaction `i` along a direction.
    pub(super) fn slip_along(
        &mut self,
        system: &Evaluator,
        step: &Step,
        i: usize,
        (t, q, u): (f64, &[f64], &[f64]),
        d: &Along,
    ) -> f64 {
        self.velocity_of(system, step, i, (t, q), u, 0);
        let k = &step.candidates.items()[i];
        let (n, skip) = (k.dofs.len(), usize::from(k.kind == Kind::Contact));
        (skip..k.dim()).map(|j| d[j - skip] * (self.chi[j] + k.row_times(&self.rows[j * n..(j + 1) * n], u))).sum()
    }
}

/// Friction force of a slip along `d`, per unit of the normal force where it follows that.
fn friction_along(k: &Interaction, d: &Along, facets: &Option<Arc<Polygon>>) -> Along {
    let against = |bound: f64| d.map(|d| -bound * d);
    let on = |mu: f64, polygon: &Polygon| {
        // The generator that dissipates most.
        let best = polygon.generators().iter().min_by(|a, b| {
            let along = |g: &[f64; 2]| g[0] * d[0] + g[1] * d[1];
            along(a).total_cmp(&along(b))
        });
        best.map_or([0.0; 3], |g| [mu * g[0], mu * g[1], 0.0])
    };
    match &*k.law {
        Law::Contact(law) => match &law.friction {
            Some(Friction::Coulomb { mu }) => match facets {
                Some(polygon) if law.slip_dim == 2 => on(*mu, polygon),
                _ => against(*mu),
            },
            Some(Friction::Polyhedral { mu, polygon }) => on(*mu, polygon),
            Some(Friction::Tresca { bound }) => against(*bound),
            None => [0.0; 3],
        },
        Law::Element(law) => match &law.sets {
            ElementSets::Ball { force, .. } => against(*force),
            ElementSets::Box { force, .. } => {
                let mut along = [0.0; 3];
                for (a, (&(lower, upper), d)) in along.iter_mut().zip(force.iter().zip(d)) {
                    let bound = if *d > 0.0 { lower } else { upper };
                    *a = if *d == 0.0 || !bound.is_finite() { 0.0 } else { bound };
                }
                along
            }
        },
        Law::Bilateral => [0.0; 3],
    }
}

/// How far a force is from where its law changes (positive: the mode holds), and the size of that bound.
fn margin(k: &Interaction, lambda: &[f64], watch: EventFunction, facets: &Option<Arc<Polygon>>) -> (f64, f64) {
    if let EventFunction::Normal = watch {
        return (lambda[0], lambda[0].abs().max(1.0));
    }
    match &*k.law {
        Law::Contact(law) => {
            let size = norm(&lambda[1..]);
            match &law.friction {
                Some(Friction::Coulomb { mu }) => {
                    let size = match facets {
                        Some(polygon) if law.slip_dim == 2 => polygon.gauge([lambda[1], lambda[2]]),
                        _ => size,
                    };
                    (mu * lambda[0] - size, mu * lambda[0].abs())
                }
                Some(Friction::Polyhedral { mu, polygon }) => {
                    (mu * lambda[0] - polygon.gauge([lambda[1], lambda[2]]), mu * lambda[0].abs())
                }
                Some(Friction::Tresca { bound }) => (bound - size, *bound),
                None => (f64::INFINITY, 1.0),
            }
        }
        Law::Element(law) => match &law.sets {
            ElementSets::Ball { force, .. } => (force - norm(lambda), *force),
            ElementSets::Box { force, .. } => {
                let margins = force.iter().zip(lambda).map(|(&(lower, upper), l)| (l - lower).min(upper - l));
                (margins.fold(f64::INFINITY, f64::min), 1.0)
            }
        },
        Law::Bilateral => (f64::INFINITY, 1.0),
    }
}

/// Whether the percussions of the step before are those of a contact that stuck: strictly within the cone.
pub(super) fn sticks(k: &Interaction, p: &[f64], facets: &Option<Arc<Polygon>>) -> bool {
    if !(follows_normal(&k.law) && p[0] > 0.0) {
        return false;
    }
    let (margin, size) = margin(k, p, EventFunction::Friction, facets);
    margin > 1e-9 * size
}
