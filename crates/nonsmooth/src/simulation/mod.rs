//! The one loop over time, and everything that a run records.
//!
//! A [`Controller`](crate::control::Controller) proposes a step, the scheme makes it, the controller judges it. An accepted step is
//! corrected: quaternions are normalised, joints projected if wanted. Once final it is certified, accounted
//! for in the energy ledger, searched for events and shown to the observers.
//!
//! **A step that fails** is tried again:
//!
//! 1. with the solver `auto` instead of the chosen one;
//! 2. with half the length, up to [`Policy::halvings`] times, unless the scheme takes steps of one length only. The next step returns to the grid.
//!
//! Then the run stops with the time, the reason, the interaction or force concerned, and the one-step problem as JSON. An unconverged step is
//! never taken.

mod by_identity;
mod checkpoint;
mod energy;
pub mod events;
mod examine;
mod instability;
mod joints;
mod observer;
mod options;
mod owned;
mod percussions;
mod problem;
mod run;
mod side_steps;
mod start;
mod stop;
mod summary;
pub mod trajectory;

pub use checkpoint::Checkpoint;
pub use energy::EnergySummary;
pub use events::{Event, EventKind, Impact, ModeChange};
pub use observer::{Each, Observer, StepView, each};
pub use options::{Observe, Policy, SimulationOptions};
pub use owned::{Handle, Simulation};
pub use run::Advance;
pub use summary::{Status, Stop, Summary, WorkCounts};
pub use trajectory::{
    Recheck, Record, Recording, StepRecord, Trajectory, dense_output, interpolate_stages, interpolate_states,
    interpolate_step,
};
