//! Forces on bodies.

pub(crate) mod spring;
