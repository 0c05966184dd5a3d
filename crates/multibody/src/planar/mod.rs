//! Bodies of the plane: everything with a planar pose.
//!
//! - `plane`: vectors and rotations.
//! - `pose`: pose, twist, prescribed motions.
//! - `body`: the description of a body.
//! - `shape`: signed distances and points of shapes.
//! - `touch`: gap, slip, their directions and derivatives, for one point against one surface.
//! - `detection`: the list of contacts.

pub(crate) mod body;
pub(crate) mod detection;
pub(crate) mod plane;
pub(crate) mod pose;
pub(crate) mod shape;
pub(crate) mod touch;
