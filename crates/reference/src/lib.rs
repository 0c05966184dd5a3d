//! Reference models with closed forms, shared by tests, benchmarks and examples of all schemes.
//!
//! Every model gives its values, as a user would write them, with its exact solution. [`cases`]
//! lists runs of all models, [`variants`] all schemes with their options.
//!
//! ```
//! use nonsmooth::{Differentiated, Simulation, SimulationOptions, State, scheme};
//! use nonsmooth_reference::{Ball, zeno};
//!
//! let ball = Differentiated::new(Ball::default())?;
//! let start = State::new(0.0, vec![1.0], vec![0.0]);
//! let scheme = scheme::make("trapezoidal-lcp", &Default::default())?;
//! let end = Simulation::new(&ball, start, scheme, SimulationOptions::new(1e-2, 1.3))?.run().end;
//! // Between the first impact and the second: the scheme locates impacts and is exact for constant forces.
//! assert!((end.q[0] - zeno(1.3).0).abs() < 1e-12);
//! # Ok::<(), nonsmooth::Error>(())
//! ```

mod ball;
mod bead;
mod belt;
mod block;
mod cases;
mod charted_body;
mod driven_spring;
mod flight;
mod many;
mod oscillator;
mod pendulum;
mod point;
mod rigid_body;
mod slider_crank;
mod swing;
mod top;
mod woodpecker;

pub use ball::{Ball, zeno};
pub use bead::Bead;
pub use belt::Belt;
pub use block::{Block, Incline};
pub use cases::{Case, Variant, cases, variants};
pub use charted_body::ChartedBody;
pub use driven_spring::DrivenSpring;
pub use flight::Flight;
pub use many::{Balls, Chain, Ring};
pub use oscillator::{Oscillator, damped_free};
pub use pendulum::{DoublePendulum, Pendulum};
pub use point::{PointOnTable, PulledMass};
pub use rigid_body::RigidBody;
pub use slider_crank::SliderCrank;
pub use swing::Swing;
pub use top::Top;
pub use woodpecker::Woodpecker;
