//! The scene file: text is parsed into a tree with the origin of every value, overrides change the tree, and the tree is decoded into typed
//! records ([`mod@format`], [`picture`], [`WatchList`]).
//!
//! ```text
//! TOML ──tree──► nodes with origins ──overrides──► nodes ──decode──► records ──model, run──► a system that moves
//! ```

mod decode;
pub mod format;
mod overrides;
pub mod picture;
mod tree;
mod watch;

pub use decode::{Decode, Fields, Formula, Formulas, Key, Named};
pub use tree::{Document, Entry, Fault, Node, Origin, Override, SceneError, Value};
pub use watch::WatchList;
