//! Which shapes are near each other, by their bounding circles alone: only the caller knows the shapes.
//!
//! - `identity`: identities of contacts and stops.
//! - `broad_phase`: which bounds overlap.
//! - `list`: the list of contacts. `margin`: how long it holds.

pub(crate) mod broad_phase;
pub(crate) mod identity;
pub(crate) mod list;
pub(crate) mod margin;
