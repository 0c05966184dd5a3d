//! The one loop over time, and everything that a run records.
//!
//! A [`Controller`](crate::control::Controller) proposes a step, the scheme makes it, the controller judges it. What was accepted is
//! corrected (quaternions normalised, joints projected if wanted), and, once final, certified, accounted
//! for in the energy ledger, searched for events and shown to the observers.
//!
//! **A step that fails** goes up a ladder: the chosen solver, then `auto`; then the step is halved, up to
//! [`Policy::halvings`] times (the next step goes on to the grid; never for a scheme that takes steps of one length only); then the run stops with the time, the reason,
//! the culprit, and the one-step problem as JSON. An unconverged step is never taken.

mod by_identity;
mod checkpoint;
mod energy;
pub mod events;
mod examine;
mod instability;
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
pub use events::{Change, Event, EventKind};
pub use observer::{Each, Observer, StepView, each};
pub use options::{Observe, Policy, SimulationOptions};
pub use owned::{Handle, Simulation};
pub use run::Advance;
pub use summary::{Status, Stop, Summary, Work};
pub use trajectory::{Recheck, Record, Recording, StepRecord, Trajectory, along, between, dense_output, through};
