//! Bodies of the plane: everything with a planar pose.
//!
//! - `plane`: vectors and rotations.
//! - `pose`: pose, twist, prescribed motions.
//! - `body`: the description of a body. `mass`: its mass by density.
//! - `shape`: the shapes. `surface`: their signed distances and points.
//! - `touch`: gap, slip, their directions and derivatives, for one point against one surface.
//! - `bodies`: the bodies of a system and how they move.
//! - `contact`: gaps, velocities and derivatives of contacts, as the contract requires them.
//! - `detection`: the list of contacts.
//! - `sweep`: contacts that a step passes.

pub(crate) mod bodies;
pub(crate) mod body;
pub(crate) mod contact;
pub(crate) mod detection;
pub(crate) mod kept;
pub(crate) mod mass;
pub(crate) mod plane;
pub(crate) mod pose;
pub(crate) mod shape;
pub(crate) mod surface;
pub(crate) mod sweep;
pub(crate) mod touch;
