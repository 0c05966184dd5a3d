//! A recorded motion that can be evaluated at any time between its start and its end.

use nonsmooth::contract::Evaluator;
use nonsmooth::contract::{Candidates, Kind, Reach};
use nonsmooth::polynomial::lagrange_integral;
use nonsmooth::simulation::{Observer, StepView, interpolate_stages, interpolate_states, interpolate_step};
use nonsmooth::{Stages, State};

/// Step ends of a run, with data to interpolate between them.
#[derive(Debug, Clone, Default)]
pub(super) struct Curve {
    pub(super) t: Vec<f64>,
    states: Vec<State>,
    /// Of the step that led to each.
    steps: Vec<StepInterior>,
    /// Contacts that can be named beforehand, by identity and name.
    contacts: Vec<(u64, String)>,
    /// Their normal percussions, summed up to each step end, N·s.
    sums: Vec<Vec<f64>>,
}

/// Nodes of side steps in an extrapolated step, relative to its length. With both ends they give a polynomial of degree 9, whose error is far
/// below that of the step.
const INNER_NODES: [f64; 3] = [0.172_673_164_646_011_4, 0.5, 0.827_326_835_353_988_6];

/// Coordinates and velocities at a time.
pub(super) type Motion = (Vec<f64>, Vec<f64>);

/// The inside of a step.
#[derive(Debug, Clone, Default)]
struct StepInterior {
    /// Whether an impact happened in it.
    impact: bool,
    /// Velocity before the jump at its end, of schemes that locate it.
    left: Option<Vec<f64>>,
    /// States inside it, of steps that are extrapolated.
    within: Vec<State>,
    /// Its stages, of schemes that have them; forces are those of the contacts above, in normal direction.
    stages: Stages,
}

impl Observer for Curve {
    fn begin(&mut self, system: &Evaluator, start: &State) {
        let mut list = Candidates::default();
        system.candidates(start.t, &start.q, &start.u, Reach::ALL, &mut list);
        let contacts = list.items().iter().filter(|k| k.kind == Kind::Contact);
        self.contacts = contacts.map(|k| (k.id, system.name(k.id))).collect();
        self.push(State::new(start.t, start.q.clone(), start.u.clone()), false);
        self.sums.push(vec![0.0; self.contacts.len()]);
    }

    fn wanted_times(&mut self, start: f64, end: f64, times: &mut Vec<f64>) {
        times.extend(INNER_NODES.map(|s| start + s * (end - start)));
    }

    fn step(&mut self, view: &StepView) {
        let (step, end) = (view.step, &view.end);
        self.push(State::new(end.t, end.q.clone(), end.u.clone()), step.impact());
        let left = Some(step.u_minus()).filter(|u| !u.is_empty()).map(<[f64]>::to_vec);
        let mut sums = self.sums.last().cloned().unwrap_or_default();
        let mut stages = Stages::default();
        let ids = end.percussions.ids();
        let place = |id: u64| ids.binary_search(&id).ok();
        for ((id, _), sum) in self.contacts.iter().zip(&mut sums) {
            *sum += end.percussions.get(*id).map_or(0.0, |p| p[0]);
        }
        if let Some(of) = step.stages() {
            (stages.nodes, stages.q, stages.u) = (of.nodes.clone(), of.q.clone(), of.u.clone());
            for l in 0..of.nodes.len() {
                let lambda = of.lambda(l);
                let normal = |id: u64| place(id).map_or(0.0, |i| lambda[step.candidates.range(i).start]);
                stages.lambda.extend(self.contacts.iter().map(|(id, _)| normal(*id)));
            }
        }
        self.sums.push(sums);
        if let Some(inside) = self.steps.last_mut() {
            (inside.left, inside.stages) = (left, stages);
            inside.within = view.within.iter().map(|s| State::new(s.t, s.q.clone(), s.u.clone())).collect();
        }
    }
}

impl Curve {
    pub(super) fn push(&mut self, state: State, impact: bool) {
        self.t.push(state.t);
        self.states.push(state);
        self.steps.push(StepInterior { impact, ..StepInterior::default() });
    }

    /// Points of the graph of the motion from `from` to `to`, in order: step ends, with both velocities where a jump was located, states inside
    /// steps, and the dense output at `times`, ascending. A step in which a jump was not located is a straight line.
    pub(super) fn graph(&self, system: &Evaluator, times: &[f64], from: f64, to: f64) -> Vec<(f64, Motion)> {
        let mut out: Vec<(f64, Motion)> = Vec::with_capacity(self.t.len() + times.len());
        let mut next = 0;
        for (k, (inside, end)) in self.steps.iter().zip(&self.states).enumerate() {
            let first = out.len();
            out.extend(inside.within.iter().map(|s| (s.t, (s.q.clone(), s.u.clone()))));
            let start = if k == 0 { end.t } else { self.t[k - 1] };
            let near = 1e-9 * (end.t - start);
            while times.get(next).is_some_and(|t| *t < end.t - near) {
                let t = times[next];
                next += 1;
                if t > start + near && (!inside.impact || inside.left.is_some()) {
                    out.push((t, self.at(system, t)));
                }
            }
            out[first..].sort_by(|a, b| a.0.total_cmp(&b.0));
            out.extend(inside.left.iter().map(|u| (end.t, (end.q.clone(), u.clone()))));
            out.push((end.t, (end.q.clone(), end.u.clone())));
        }
        let near = 1e-9 * (to - from);
        out.retain(|(t, _)| *t >= from - near && *t <= to + near);
        if out.last().is_none_or(|(t, _)| *t < to - near) {
            out.push((to, self.at(system, to)));
        }
        out
    }

    /// Adds the normal percussions of contacts, summed up to every grid point.
    pub(super) fn with_percussions(mut self, contacts: Vec<(u64, String)>, sums: Vec<Vec<f64>>) -> Self {
        if sums.len() == self.t.len() {
            (self.contacts, self.sums) = (contacts, sums);
        }
        self
    }

    /// (q, u) at a grid point.
    pub(super) fn point(&self, k: usize) -> (Vec<f64>, Vec<f64>) {
        (self.states[k].q.clone(), self.states[k].u.clone())
    }

    /// The end of the step that a time lies in.
    fn end_of(&self, t: f64) -> usize {
        self.t.partition_point(|x| *x <= t).clamp(1, self.t.len().max(2) - 1)
    }

    /// (q, u) at a time: a grid point within 1e-9 of a step, else the dense output of the step.
    pub(super) fn at(&self, system: &Evaluator, t: f64) -> (Vec<f64>, Vec<f64>) {
        let k = self.end_of(t);
        let (a, b, inside) = (&self.states[k - 1], &self.states[k], &self.steps[k]);
        let dt = b.t - a.t;
        let near = 1e-9 * dt;
        if (t - a.t).abs() <= near {
            return self.point(k - 1);
        }
        if (t - b.t).abs() <= near {
            return self.point(k);
        }
        if !inside.stages.nodes.is_empty() {
            return interpolate_stages(system, a, &inside.stages, dt, t);
        }
        if !inside.within.is_empty() {
            let states: Vec<&State> = std::iter::once(a).chain(&inside.within).chain([b]).collect();
            return interpolate_states(system, &states, t);
        }
        match &inside.left {
            // Smooth up to the jump.
            Some(left) => interpolate_step(system, a, &State::new(b.t, b.q.clone(), left.clone()), dt, false, t),
            None => interpolate_step(system, a, b, dt, inside.impact, t),
        }
    }

    /// Names of the contacts whose percussions are known.
    pub(super) fn contacts(&self) -> impl Iterator<Item = &str> {
        self.contacts.iter().map(|(_, name)| &name[..]).take(if self.sums.is_empty() { 0 } else { usize::MAX })
    }

    /// Sums of the normal percussions of these contacts up to a grid point.
    pub(super) fn percussions(&self, k: usize, names: &[String]) -> Vec<f64> {
        self.pick(names, |c| self.sums[k][c])
    }

    /// The same at a time inside a step. With stages it is the integral of the force polynomial. Otherwise the force is constant in a step
    /// without an impact; in one with an impact the percussion acts at the end.
    pub(super) fn percussions_at(&self, t: f64, names: &[String]) -> Vec<f64> {
        let k = self.end_of(t);
        let (before, after, inside) = (&self.sums[k - 1], &self.sums[k], &self.steps[k]);
        let dt = self.t[k] - self.t[k - 1];
        let s = ((t - self.t[k - 1]) / dt).clamp(0.0, 1.0);
        if s >= 1.0 - 1e-9 {
            return self.percussions(k, names);
        }
        let nodes = &inside.stages.nodes;
        if !nodes.is_empty() {
            let weights: Vec<f64> = (0..nodes.len()).map(|l| dt * lagrange_integral(nodes, l, s)).collect();
            let force = |c: usize| weights.iter().enumerate().map(|(l, w)| w * inside.stages.lambda(l)[c]).sum::<f64>();
            return self.pick(names, |c| before[c] + force(c));
        }
        let part = if inside.impact { 0.0 } else { s };
        self.pick(names, |c| before[c] + part * (after[c] - before[c]))
    }

    fn pick(&self, names: &[String], value: impl Fn(usize) -> f64) -> Vec<f64> {
        let place = |name: &String| self.contacts.iter().position(|(_, n)| n == name);
        names.iter().map(|name| place(name).map_or(0.0, &value)).collect()
    }
}
