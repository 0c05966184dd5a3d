//! Reports of a run: one JSON object, and one page.
//!
//! The page, `report.html`, is a template with embedded data: replay, plots, energy ledger, events, numbers. It is made after the run
//! from the arrays of `trajectory.npz`, which are read row by row: only data of the page are kept in memory.
//!
//! ```text
//! trajectory.npz ──scan──► frames (poses, percussions between them) and rows of plots ──► arrays ──► page
//! ```
//!
//! - `result`: the JSON of `nonsmooth run --json`.
//! - `scenery`: what is drawn, from bodies, bars, springs and `[picture]`, and its poses.
//! - `thinning`: which rows are shown; peaks always are.
//! - `replay`, `plots`: the arrays of both.
//! - `arrays`, `page`: base64, escaping, the template.
//!
//! Comparisons use the same template ([`mod@crate::compare`]).

mod arrays;
mod page;
mod plots;
mod replay;
mod result;
mod run_page;
mod scenery;
mod thinning;

pub(crate) use page::write_page;
pub use result::run_json;
pub(crate) use run_page::write_run_page;
