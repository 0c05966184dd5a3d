//! Observers: they see the final steps of a run.

use crate::accounting::{Certificate, Ledger};
use crate::contract::Evaluator;
use crate::state::{State, Step};

/// A final step, as observers see it.
pub struct StepView<'a> {
    /// The system.
    pub system: &'a Evaluator<'a>,
    /// State before.
    pub start: &'a State,
    /// The step, as the scheme left it.
    pub step: &'a Step,
    /// State after: the end of the step, normalised and projected.
    pub end: &'a State,
    /// Its certificate, if computed.
    pub certificate: Option<&'a Certificate>,
    /// Kinetic plus potential energy at the end, if computed, J.
    pub energy: Option<f64>,
    /// The ledger since the start, if kept.
    pub ledger: Option<&'a Ledger>,
    /// States inside the step at the times of [`Observer::wanted_times`], in that order. Empty if the step is not extrapolated or a side step failed.
    pub within: &'a [State],
    /// Whether it is the last of the run.
    pub last: bool,
}

impl StepView<'_> {
    /// Whether the end was normalised or projected after the step, so that it differs from the one that the scheme computed.
    pub fn is_corrected(&self) -> bool {
        !std::ptr::eq(self.end, &*self.step.end)
    }
}

/// Sees every final step of a run.
pub trait Observer {
    /// Before the first step.
    fn begin(&mut self, _system: &Evaluator, _start: &State) {}
    /// Before a final step from `start` to `end` is shown: appends times inside it at which the state is wanted. Called for extrapolated steps
    /// only, whose inner states take side steps.
    fn wanted_times(&mut self, _start: f64, _end: f64, _times: &mut Vec<f64>) {}
    /// After every final step.
    fn step(&mut self, view: &StepView);
    /// Whether the one-step problem of accepted step `number` is wanted; the first step is 1. If a step has several problems, it is the last.
    fn wants_problem(&mut self, _number: usize) -> bool {
        false
    }
    /// The one-step problem of accepted step `number`, as `complementarity::FullProblem::to_json` writes it: with the names of its
    /// interactions, and the percussions of the step before as guess. The step may still be rolled back.
    fn problem(&mut self, _number: usize, _problem: String) {}
    /// Whether the run is to end after the present step, with the status of an interrupted run.
    fn ends_run(&self) -> bool {
        false
    }
    /// Whether it looks at what was hit ([`Step::hit`]). Without events nothing else does, and steps are not judged.
    fn wants_hits(&self) -> bool {
        true
    }
}

/// No observer.
impl Observer for () {
    fn step(&mut self, _view: &StepView) {}
    fn wants_hits(&self) -> bool {
        false
    }
}

impl<O: Observer + ?Sized> Observer for &mut O {
    fn begin(&mut self, system: &Evaluator, start: &State) {
        (**self).begin(system, start);
    }
    fn wanted_times(&mut self, start: f64, end: f64, times: &mut Vec<f64>) {
        (**self).wanted_times(start, end, times);
    }
    fn step(&mut self, view: &StepView) {
        (**self).step(view);
    }
    fn wants_problem(&mut self, number: usize) -> bool {
        (**self).wants_problem(number)
    }
    fn problem(&mut self, number: usize, problem: String) {
        (**self).problem(number, problem);
    }
    fn ends_run(&self) -> bool {
        (**self).ends_run()
    }
    fn wants_hits(&self) -> bool {
        (**self).wants_hits()
    }
}

/// An optional observer.
impl<O: Observer> Observer for Option<O> {
    fn begin(&mut self, system: &Evaluator, start: &State) {
        self.iter_mut().for_each(|o| o.begin(system, start));
    }
    fn wanted_times(&mut self, start: f64, end: f64, times: &mut Vec<f64>) {
        self.iter_mut().for_each(|o| o.wanted_times(start, end, times));
    }
    fn step(&mut self, view: &StepView) {
        self.iter_mut().for_each(|o| o.step(view));
    }
    fn wants_problem(&mut self, number: usize) -> bool {
        self.as_mut().is_some_and(|o| o.wants_problem(number))
    }
    fn problem(&mut self, number: usize, problem: String) {
        if let Some(o) = self {
            o.problem(number, problem);
        }
    }
    fn ends_run(&self) -> bool {
        self.as_ref().is_some_and(Observer::ends_run)
    }
    fn wants_hits(&self) -> bool {
        self.as_ref().is_some_and(Observer::wants_hits)
    }
}

/// Two observers, one after the other. At most one of them may want states inside a step.
impl<A: Observer, B: Observer> Observer for (A, B) {
    fn begin(&mut self, system: &Evaluator, start: &State) {
        self.0.begin(system, start);
        self.1.begin(system, start);
    }
    fn wanted_times(&mut self, start: f64, end: f64, times: &mut Vec<f64>) {
        self.0.wanted_times(start, end, times);
        self.1.wanted_times(start, end, times);
    }
    fn step(&mut self, view: &StepView) {
        self.0.step(view);
        self.1.step(view);
    }
    fn wants_problem(&mut self, number: usize) -> bool {
        let first = self.0.wants_problem(number);
        self.1.wants_problem(number) || first
    }
    fn problem(&mut self, number: usize, problem: String) {
        if self.0.wants_problem(number) {
            self.0.problem(number, problem.clone());
        }
        if self.1.wants_problem(number) {
            self.1.problem(number, problem);
        }
    }
    fn ends_run(&self) -> bool {
        self.0.ends_run() || self.1.ends_run()
    }
    fn wants_hits(&self) -> bool {
        self.0.wants_hits() || self.1.wants_hits()
    }
}

/// A function that sees every final step. See [`each`].
pub struct Each<F>(F);

/// An observer of a function.
pub fn each<F: FnMut(&StepView)>(see: F) -> Each<F> {
    Each(see)
}

impl<F: FnMut(&StepView)> Observer for Each<F> {
    fn step(&mut self, view: &StepView) {
        (self.0)(view);
    }
}
