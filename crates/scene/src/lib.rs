//! Scene files: mechanical models as text, their runs, and the files and reports of a run.
//!
//! ```text
//! file ──► document with places ──► records ──► model by formula ──► run ──► files and reports
//! ```
//!
//! [`prepare::Prepared::load`] reads a scene (a path, or the name of a [bundled] example) with overrides;
//! [`prepare::Prepared::run`] runs it. `docs/scene.md` explains the format by example; [`formula`] describes the formula language.
//!
//! ```
//! use nonsmooth_scene::prepare::{Prepared, Request};
//! use nonsmooth_scene::run::RunOptions;
//!
//! let request = Request { set: vec!["parameters.e_N=0.25".into()], ..Request::default() };
//! let mut scene = Prepared::load("bouncing_ball", &request)?;
//! let outcome = scene.run(&RunOptions::default(), &mut |_, _| {})?;
//! assert!(outcome.summary.end.u[0].abs() < 1e-12, "the ball rests");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod bundled;
pub mod compare;
pub mod dump;
pub mod explain;
pub mod file;
pub mod formula;
pub mod model;
pub mod output;
#[doc(hidden)] // for the command
pub mod page;
pub mod prepare;
pub mod report;
pub mod run;
