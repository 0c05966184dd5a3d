//! A scheme around another one: every call goes to the scheme inside, but for those that a [`Change`] takes over.
//!
//! With it the tests plant faults in a scheme, watch it or take its workspace away.

use complementarity::FullProblem;
use nonsmooth::accounting::{Certificate, Ledger, Meter};
use nonsmooth::contract::Evaluator;
use nonsmooth::control::Controller;
use nonsmooth::control::Span;
use nonsmooth::scheme::{Examination, Failure, Order, Scheme, SchemeInfo, SettingsError, Solve};
use nonsmooth::{State, Step};

/// What is done instead of a call to the scheme inside. What is not written here is that call.
pub(crate) trait Change: Send {
    fn begin(&mut self, _span: &Span) {}
    fn step(
        &mut self,
        inner: &mut Box<dyn Scheme>,
        system: &Evaluator,
        start: &State,
        dt: f64,
        solve: &mut Solve,
        out: &mut Step,
    ) -> Result<(), Failure> {
        inner.step(system, start, dt, solve, out)
    }
    fn certify(
        &mut self,
        inner: &mut Box<dyn Scheme>,
        system: &Evaluator,
        start: &State,
        step: &Step,
        out: &mut Certificate,
    ) {
        inner.certify(system, start, step, out);
    }
    fn account(
        &mut self,
        inner: &mut Box<dyn Scheme>,
        system: &Evaluator,
        start: &State,
        step: &Step,
        meter: &mut Meter,
        out: &mut Ledger,
    ) {
        inner.account(system, start, step, meter, out);
    }
}

/// A scheme with a change.
pub(crate) struct Wrapped<C> {
    inner: Box<dyn Scheme>,
    change: C,
}

impl<C: Change> Wrapped<C> {
    pub(crate) fn new(inner: Box<dyn Scheme>, change: C) -> Self {
        Self { inner, change }
    }
}

impl<C: Change> Scheme for Wrapped<C> {
    fn info(&self) -> &'static SchemeInfo {
        self.inner.info()
    }
    fn order(&self) -> Order {
        self.inner.order()
    }
    fn base(&self) -> &'static SchemeInfo {
        self.inner.base()
    }
    fn controller(&mut self, span: &Span) -> Result<Option<Box<dyn Controller>>, SettingsError> {
        self.change.begin(span);
        self.inner.controller(span)
    }
    fn is_even(&mut self, system: &Evaluator, start: &State, step: &Step) -> bool {
        self.inner.is_even(system, start, step)
    }
    fn step(
        &mut self,
        system: &Evaluator,
        start: &State,
        dt: f64,
        solve: &mut Solve,
        out: &mut Step,
    ) -> Result<(), Failure> {
        self.change.step(&mut self.inner, system, start, dt, solve, out)
    }
    fn examine(&mut self, system: &Evaluator, start: &State, step: &Step, asked: Examination) {
        if let Some(out) = asked.certificate {
            self.change.certify(&mut self.inner, system, start, step, out);
        }
        if let Some((meter, out)) = asked.energy {
            self.change.account(&mut self.inner, system, start, step, meter, out);
        }
    }
    fn last_problem(&self) -> Option<&FullProblem> {
        self.inner.last_problem()
    }
}
