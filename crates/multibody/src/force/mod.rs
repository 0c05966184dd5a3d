//! Forces on bodies.
//!
//! - `gravity`: the same acceleration everywhere.
//! - `spring`: springs and dampers between two bodies.

pub(crate) mod gravity;
pub(crate) mod spring;
