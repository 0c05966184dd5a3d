//! Reference models with closed forms, shared by tests, benchmarks and examples of all schemes.
//!
//! Every model is written by its values, as a user would; exact solutions stand beside them.

mod ball;
mod block;
mod oscillator;
mod pendulum;
mod point;

pub use ball::{Ball, zeno};
pub use block::{Block, Incline};
pub use oscillator::{Oscillator, damped_free};
pub use pendulum::{DoublePendulum, Pendulum};
pub use point::{PointOnTable, PulledMass};
