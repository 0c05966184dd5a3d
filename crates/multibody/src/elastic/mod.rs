//! Elastic bodies.
//!
//! - `bar`: a linear elastic bar by finite elements.

pub(crate) mod bar;
