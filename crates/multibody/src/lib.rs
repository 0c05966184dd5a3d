//! Planar rigid bodies with shapes, collision detection, springs, and finite-element bars, as one [`nonsmooth::System`].
//!
//! - [`Builder`]: checks a description of bodies, bars, springs and contacts, and builds a [`Multibody`].
//! - [`Multibody`]: the system.
//! - [`Shape`]: signed distances with their derivatives, from which the exact gaps of all pairs follow.
//! - [`Bar`]: a linear elastic bar [Acary2013, (71)].
//! - [`Geometry`]: poses of bodies and positions of contacts, for pictures.
//!
//! Coordinates of a body are its centre of mass and its angle, so that M is diagonal and constant.
//!
//! ```
//! use nonsmooth::{Simulation, SimulationOptions, law::ContactLaw, scheme};
//! use nonsmooth_multibody::{Body, Builder, Shape};
//!
//! let mut world = Builder::new();
//! world.gravity([0.0, -9.81]);
//! world.body(Body::fixed("ground").shape(Shape::half_plane([0.0, 0.0], [0.0, 1.0])));
//! world.body(Body::new("disc").density(1.0).at([0.0, 1.0], 0.0).shape(Shape::disc(0.1)));
//! world.contact_of_all("contact", ContactLaw::newton(0.5).coulomb(1, 0.3));
//! let (system, start) = world.build()?;
//! let scheme = scheme::make("moreau-jean", &Default::default())?;
//! let summary = Simulation::new(&system, start, scheme, SimulationOptions::new(1e-3, 3.0))?.run();
//! assert!(summary.end.u[1].abs() < 1e-9, "the disc rests after infinitely many impacts");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod elastic;
mod error;
mod force;
mod geometry;
mod layout;
mod material;
mod pairing;
mod planar;
mod proximity;
mod stop;
mod system;
mod world;

pub use elastic::bar::Bar;
pub use error::BuildError;
pub use force::spring::Spring;
pub use geometry::{ContactPlace, Geometry};
pub use layout::CoordinateLayout;
pub use material::DEFAULT_MATERIAL;
pub use planar::body::{Body, Mobility, Weight};
pub use planar::plane::Vec2;
pub use planar::pose::{Motion, Pose, Twist, Uniform};
pub use planar::shape::Shape;
pub use system::Multibody;
pub use world::Builder;
