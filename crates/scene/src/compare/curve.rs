//! A recorded motion that can be evaluated at any time of its span.

use nonsmooth::simulation::{Observer, StepView, between};
use nonsmooth::{State, System};

/// Step ends of a run, and whether an impact happened in the step that led to each.
#[derive(Debug, Clone, Default)]
pub(super) struct Curve {
    pub(super) t: Vec<f64>,
    states: Vec<State>,
    impact: Vec<bool>,
}

impl Observer for Curve {
    fn begin(&mut self, _system: &dyn System, start: &State) {
        self.push(State::new(start.t, start.q.clone(), start.u.clone()), false);
    }

    fn step(&mut self, view: &StepView) {
        let end = &view.step.end;
        self.push(State::new(end.t, end.q.clone(), end.u.clone()), view.step.impact);
    }
}

impl Curve {
    pub(super) fn push(&mut self, state: State, impact: bool) {
        self.t.push(state.t);
        self.states.push(state);
        self.impact.push(impact);
    }

    /// (q, u) at a grid point.
    pub(super) fn point(&self, k: usize) -> (Vec<f64>, Vec<f64>) {
        (self.states[k].q.clone(), self.states[k].u.clone())
    }

    /// (q, u) at a time: a grid point within 1e-9 of a step, else the dense output of the step.
    pub(super) fn at(&self, system: &dyn System, t: f64) -> (Vec<f64>, Vec<f64>) {
        let k = self.t.partition_point(|x| *x <= t).clamp(1, self.t.len().max(2) - 1);
        let (a, b) = (&self.states[k - 1], &self.states[k]);
        let dt = b.t - a.t;
        let near = 1e-9 * dt;
        if (t - a.t).abs() <= near {
            return self.point(k - 1);
        }
        if (t - b.t).abs() <= near {
            return self.point(k);
        }
        between(system, a, b, dt, self.impact[k], t)
    }
}
