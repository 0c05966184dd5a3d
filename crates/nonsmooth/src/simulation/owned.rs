//! A run with the system that it moves.

use super::checkpoint::Checkpoint;
use super::observer::Observer;
use super::options::SimulationOptions;
use super::run::{Advance, Run};
use super::summary::{Summary, WorkCounts};
use crate::contract::{Evaluator, System, Workspace};
use crate::control::{Controller, FixedStep, Span};
use crate::error::Error;
use crate::scheme::Scheme;
use crate::state::State;
use complementarity::Solver;
use std::sync::Arc;

/// How a run holds its system: borrowed or shared. A run that shares its system is `'static` and can be sent to another thread.
pub enum Handle<'a> {
    /// Borrowed.
    Borrowed(&'a (dyn System + 'a)),
    /// Shared.
    Shared(Arc<dyn System + 'a>),
}

impl<'a> std::ops::Deref for Handle<'a> {
    type Target = dyn System + 'a;
    #[inline]
    fn deref(&self) -> &Self::Target {
        match self {
            Handle::Borrowed(system) => *system,
            Handle::Shared(system) => &**system,
        }
    }
}

impl<'a, S: System> From<&'a S> for Handle<'a> {
    fn from(system: &'a S) -> Self {
        Handle::Borrowed(system)
    }
}

impl<'a> From<&'a (dyn System + 'a)> for Handle<'a> {
    fn from(system: &'a (dyn System + 'a)) -> Self {
        Handle::Borrowed(system)
    }
}

impl<'a, S: System + 'a> From<Arc<S>> for Handle<'a> {
    fn from(system: Arc<S>) -> Self {
        Handle::Shared(system)
    }
}

impl<'a> From<Arc<dyn System + 'a>> for Handle<'a> {
    fn from(system: Arc<dyn System + 'a>) -> Self {
        Handle::Shared(system)
    }
}

/// A run of a system from a start state, with a scheme and options. [`Simulation::run`] runs it to its end.
///
/// The system is borrowed or shared: with an `Arc`, the run is `Simulation<'static>`, and several runs on several threads may have one
/// system.
pub struct Simulation<'a> {
    system: Handle<'a>,
    work: Workspace,
    run: Run,
}

impl<'a> Simulation<'a> {
    /// Checks everything that can be checked before the first step. Fixed steps, unless the scheme wants others.
    pub fn new(
        system: impl Into<Handle<'a>>,
        start: State,
        mut scheme: Box<dyn Scheme>,
        options: SimulationOptions,
    ) -> Result<Self, Error> {
        let system = system.into();
        let breaks = &system.structure().breaks;
        super::start::check_times(start.t, &options)?;
        let span = Span { start: start.t, end: options.end, step: options.step, breaks };
        let controller = match scheme.controller(&span)? {
            Some(own) => own,
            None => Box::new(FixedStep::new(start.t, options.step, options.end, breaks)),
        };
        Self::with_controller(system, start, scheme, options, controller)
    }

    /// The same with a controller of your own.
    pub fn with_controller(
        system: impl Into<Handle<'a>>,
        start: State,
        scheme: Box<dyn Scheme>,
        options: SimulationOptions,
        controller: Box<dyn Controller>,
    ) -> Result<Self, Error> {
        let (system, work) = (system.into(), Workspace::default());
        let run = Run::new(&Evaluator::new(&*system, &work), start, scheme, options, controller)?;
        Ok(Self { system, work, run })
    }

    /// The system.
    pub fn system(&self) -> &(dyn System + 'a) {
        &*self.system
    }

    /// The state that the next step starts from.
    pub fn state(&self) -> &State {
        &self.run.state
    }

    /// Takes a solver of your own for the one-step problems.
    pub fn set_solver(&mut self, solver: Box<dyn Solver>) {
        self.run.solve.solver = solver;
    }

    /// The scheme.
    pub fn scheme_mut(&mut self) -> &mut dyn Scheme {
        self.run.scheme.as_mut()
    }

    /// Counts up to now.
    pub fn work(&self) -> &WorkCounts {
        &self.run.summary.work
    }

    /// Warnings that were found before the first step.
    pub fn warnings(&self) -> &[String] {
        &self.run.summary.warnings
    }

    /// Steps still to come, if the controller knows.
    pub fn remaining(&self) -> Option<usize> {
        self.run.controller.remaining()
    }

    /// Runs to the end.
    pub fn run(&mut self) -> Summary {
        self.run_with(&mut ())
    }

    /// Runs to the end, showing every final step to an observer.
    pub fn run_with(&mut self, observer: &mut dyn Observer) -> Summary {
        observer.begin(&Evaluator::new(&*self.system, &self.work), &self.run.state);
        while self.advance(observer) == Advance::Stepped {}
        self.summary()
    }

    /// Runs until a step ends at `t` or after it, showing every final step to an observer. Moves the end of the run to `t` if that is later.
    pub fn run_to(&mut self, t: f64, observer: &mut dyn Observer) -> Result<Advance, Error> {
        if t > self.run.options.end {
            self.extend(t)?;
        }
        let near = 1e-9 * self.run.options.step;
        while self.run.state.t < t - near {
            let advance = self.advance(observer);
            if advance != Advance::Stepped {
                return Ok(advance);
            }
        }
        Ok(Advance::Stepped)
    }

    /// Moves the end of the run, s, so that a finished run can continue.
    pub fn extend(&mut self, end: f64) -> Result<(), Error> {
        let t = self.run.state.t;
        if !(end.is_finite() && end > t) {
            return Err(Error::End { start: t, end });
        }
        if !self.run.controller.extend(end) {
            return Err(Error::Extend { end });
        }
        self.run.options.end = end;
        Ok(())
    }

    /// The present state of the run as bytes. See [`Checkpoint`].
    pub fn checkpoint(&self) -> Checkpoint {
        self.run.write(&Evaluator::new(&*self.system, &self.work))
    }

    /// Resumes a run from a checkpoint. System, scheme and options must be the same; only the end may differ, and is then moved.
    pub fn resume(
        system: impl Into<Handle<'a>>,
        mut scheme: Box<dyn Scheme>,
        options: SimulationOptions,
        checkpoint: &Checkpoint,
    ) -> Result<Self, Error> {
        let (system, work) = (system.into(), Workspace::default());
        let (breaks, [start, first_end, step]) = (&system.structure().breaks, checkpoint.span()?);
        let controller = match scheme.controller(&Span { start, end: first_end, step, breaks })? {
            Some(own) => own,
            None => Box::new(FixedStep::new(start, step, first_end, breaks)),
        };
        let end = options.end;
        let evaluator = Evaluator::new(&*system, &work);
        let mut run = Run::assemble(&evaluator, State::default(), scheme, options, controller)?;
        run.read(&evaluator, checkpoint)?;
        let moved = run.options.end != end;
        let mut resumed = Self { system, work, run };
        if moved {
            resumed.extend(end)?;
        }
        Ok(resumed)
    }

    /// Makes one accepted step.
    pub fn advance(&mut self, observer: &mut dyn Observer) -> Advance {
        self.run.advance(&Evaluator::new(&*self.system, &self.work), observer)
    }

    /// The summary up to now.
    pub fn summary(&mut self) -> Summary {
        self.run.summary(&Evaluator::new(&*self.system, &self.work))
    }
}
