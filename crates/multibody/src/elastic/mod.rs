//! Elastic bodies.

pub(crate) mod bar;
