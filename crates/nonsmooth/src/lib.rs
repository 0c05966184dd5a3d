//! Time stepping of mechanical systems with contact, impact and friction, as set-valued laws and measure
//! differential inclusions.
//!
//! A [`Model`] gives values; [`Differentiated`] adds the derivatives and makes it a [`System`]. A [scheme] makes
//! one step. A [`Simulation`] is the loop over time: it certifies steps, keeps the energy ledger and logs events.
//!
//! ```
//! use nonsmooth::{Differentiated, Layout, Model, Scalar, Simulation, SimulationOptions, State, law::ContactLaw, scheme};
//!
//! struct Ball;
//! impl Model for Ball {
//!     fn layout(&self) -> Layout {
//!         Layout::new(["q"]).potential("weight").contact("ground", ContactLaw::newton(0.5))
//!     }
//!     fn mass<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], m: &mut [T]) {
//!         m[0] = T::from(1.0);
//!     }
//!     fn potential<T: Scalar>(&self, _i: usize, _t: T, q: &[T]) -> T {
//!         q[0] * 2.0
//!     }
//!     fn gap<T: Scalar>(&self, _i: usize, _t: T, q: &[T]) -> T {
//!         q[0]
//!     }
//! }
//!
//! let ball = Differentiated::new(Ball)?;
//! let start = State::new(0.0, vec![1.0], vec![0.0]);
//! let scheme = scheme::make("moreau-jean", &Default::default())?;
//! let summary = Simulation::new(&ball, start, scheme, SimulationOptions::new(1e-3, 5.0))?.run();
//! assert!(summary.end.u[0].abs() < 1e-12, "the ball rests after infinitely many impacts");
//! assert!(summary.energy.closure < 1e-10);
//! # Ok::<(), nonsmooth::Error>(())
//! ```

pub mod accounting;
pub mod contract;
pub mod control;
mod error;
pub mod law;
pub mod measure;
#[doc(hidden)] // for the crates above
pub mod names;
#[doc(hidden)] // for the crates above
pub mod polynomial;
mod root;
pub mod scheme;
pub mod simulation;
pub mod state;

pub use contract::{Differentiated, Layout, Model, ModelError, Scalar, System};
pub use error::Error;
pub use simulation::{Simulation, SimulationOptions, Summary};
pub use state::{Hit, Percussions, Reason, Sigma, Stages, State, Step, StepReport};

/// Compiles and runs the Rust blocks of the README.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
