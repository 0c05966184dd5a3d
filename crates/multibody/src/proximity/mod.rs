//! Which shapes are near each other, over bounds alone: what a shape is, only the caller knows.
//!
//! - `identity`: identities of contacts and stops.
//! - `broad_phase`: which bounds overlap.
//! - `list`: the list of contacts. `margin`: how long it holds.

pub(crate) mod broad_phase;
pub(crate) mod identity;
pub(crate) mod list;
pub(crate) mod margin;
