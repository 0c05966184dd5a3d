//! Which shapes are near each other, over bounds alone.

pub(crate) mod broad_phase;
