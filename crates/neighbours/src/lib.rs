//! Neighbours: scenes that differ a little from those of the papers, and invariants that know no scheme.
//!
//! ```text
//! seed ─► walk (scene + changes) ─► motion (states, works, gaps) ─► measures ─► verdict ─► report, smallest failing scene
//! ```
//!
//! - [`catalogue`]: the scenes, and what is known of their motion.
//! - [`walk`]: a scene with changes; [`draw`]: walks from a seed.
//! - [`motion`]: a run, as the invariants see it.
//! - [`measure`]: what a single run may not do, with bounds. [`twin`]: runs that must agree.
//! - [`judge`]: a measure beyond its bound is a failure if it does not shrink with the step as the scheme's order says.
//! - [`shrink`]: the smallest walk that still fails; [`mod@write`]: its scene file.
//! - [`campaign`]: many walks, and the table of their verdicts.

pub mod campaign;
pub mod catalogue;
pub mod draw;
pub mod judge;
pub mod measure;
pub mod motion;
pub mod random;
pub mod shrink;
pub mod twin;
pub mod walk;
pub mod write;
