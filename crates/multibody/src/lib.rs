//! Planar rigid bodies with shapes, collision detection, springs, and finite-element bars, as one [`nonsmooth::System`].
//!
//! - [`Builder`] takes the description and checks it; [`Multibody`] is the system.
//! - [`Shape`]: signed distances with their derivatives; exact gaps for all pairs come from these alone.
//! - `touch`: gap, slip, their directions and derivatives, for one point against one surface.
//! - `broad_phase`: which shapes are near; the list is kept while no body has used up its margin.
//! - [`Geometry`]: where bodies and contacts are, for pictures.
//! - [`Bar`]: a linear elastic bar [Acary2013, (71)].
//!
//! Coordinates of a body are its centre of mass and its angle, so that M is diagonal and constant.

mod bar;
mod body;
mod broad_phase;
mod builder;
mod detection;
mod error;
mod geometry;
mod plane;
mod shape;
mod spring;
mod system;
mod touch;

pub use bar::Bar;
pub use body::{Body, DEFAULT_MATERIAL, Mobility, Motion, Uniform, Weight};
pub use builder::Builder;
pub use error::BuildError;
pub use geometry::{ContactPlace, Geometry};
pub use plane::Vec2;
pub use shape::Shape;
pub use spring::Spring;
pub use system::Multibody;
pub use touch::{Pose, Twist};
