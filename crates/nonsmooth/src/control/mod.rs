//! Controllers: they propose steps, and accept or reject them.
//!
//! There is only one loop over time ([`crate::Simulation`]). Fixed stepping, event stepping and
//! step-size control differ only in the controller.

mod fixed;

pub use fixed::FixedStep;

use crate::state::{Reader, Step, Unreadable, Writer};

/// A step to try.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Proposal {
    /// Its length, s.
    pub dt: f64,
    /// Where it ends: set exactly, so that grids do not drift.
    pub t_end: f64,
}

/// Judgment of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Take it.
    Accept,
    /// Drop it and propose again from its start.
    Retry,
    /// Drop it and this number of accepted steps before it (at most [`Controller::lag`]).
    RollBack(usize),
}

/// Decides on steps.
pub trait Controller: Send {
    /// The next step from time `t`, or `None` at the end.
    fn propose(&mut self, t: f64) -> Option<Proposal>;

    /// Judges a step that was made.
    fn judge(&mut self, step: &Step) -> Verdict;

    /// The step that was proposed last could not be made. True if the controller goes on without it.
    fn failed(&mut self) -> bool {
        false
    }

    /// A step was accepted and the loop is now at `t`; also called after a roll-back.
    fn arrived(&mut self, t: f64);

    /// How many accepted steps may still be rolled back (0 to 2). Observers see a step only when it is final.
    fn lag(&self) -> usize {
        0
    }

    /// Steps still to come, if known: for progress.
    fn remaining(&self) -> Option<usize> {
        None
    }

    /// Moves the end of the run, s. False if it cannot: the run is then at its end.
    fn extend(&mut self, _end: f64) -> bool {
        false
    }

    /// Appends its state to a checkpoint.
    fn write(&self, _out: &mut Writer) {}

    /// Restores its state from a checkpoint.
    fn read(&mut self, _from: &mut Reader) -> Result<(), Unreadable> {
        Ok(())
    }

    /// Longest step that it will propose, s, if it is not the step of the run.
    fn longest(&self) -> Option<f64> {
        None
    }

    /// Whether all steps that it will propose have one length, as schemes of several steps need it; if not, why.
    fn one_length(&self) -> Result<(), Uneven> {
        Err(Uneven::Controller)
    }
}

/// Why steps will not all have one length.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum Uneven {
    /// The controller changes it.
    #[error("this controller changes their length")]
    Controller,
    /// The run is not a whole number of steps.
    #[error(
        "from {start} to {end} there are {} of {step}; {} or {} would fit",
        (.end - .start) / .step,
        (.end - .start) / ((.end - .start) / .step).ceil(),
        (.end - .start) / ((.end - .start) / .step).floor().max(1.0)
    )]
    End {
        /// Start, s.
        start: f64,
        /// End, s.
        end: f64,
        /// Step, s.
        step: f64,
    },
    /// A known time at which something jumps is not a grid point.
    #[error("the model has a break at t = {t}, which is no whole number of steps of {step} from {start}")]
    Break {
        /// Time of the break, s.
        t: f64,
        /// Start, s.
        start: f64,
        /// Step, s.
        step: f64,
    },
}

/// The times of a run.
#[derive(Debug, Clone, Copy)]
pub struct Span<'a> {
    /// Start, s.
    pub start: f64,
    /// End, s.
    pub end: f64,
    /// Requested step, s.
    pub step: f64,
    /// Times at which a step ends, in ascending order, s.
    pub breaks: &'a [f64],
}
