//! Planar rigid bodies with shapes, collision detection, springs, and finite-element bars, as one [`nonsmooth::System`].
//!
//! - [`Builder`] takes the description and checks it; [`Multibody`] is the system.
//! - `planar`: pose, [`Shape`] (signed distances with their derivatives; exact gaps for all pairs follow), gap and slip of a contact.
//! - `proximity`: which shapes are near; the list is kept while no body has used up its margin.
//! - `force`: gravity, springs. `elastic`: [`Bar`], a linear elastic bar [Acary2013, (71)].
//! - [`Geometry`]: where bodies and contacts are, for pictures.
//!
//! Coordinates of a body are its centre of mass and its angle, so that M is diagonal and constant.

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
pub use layout::Layout;
pub use material::DEFAULT_MATERIAL;
pub use planar::body::{Body, Mobility, Weight};
pub use planar::plane::Vec2;
pub use planar::pose::{Motion, Pose, Twist, Uniform};
pub use planar::shape::Shape;
pub use system::Multibody;
pub use world::Builder;
