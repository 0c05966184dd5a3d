//! Tests of scenes: formulas, every scheme on the bundled scenes, the tables of the papers, files and pages.
//!
//! One program: a file or folder of `tests` is a module of it, and its name picks its tests, as in
//! `cargo test -p nonsmooth-scene --test tests augmented`.
#![allow(clippy::unwrap_used)] // a test fails on an error

mod augmented;
mod breaks;
mod checkpoints;
mod claims;
mod closed_forms;
mod energy_watch;
mod fill;
mod formulas;
mod fuzz;
mod impacts;
mod pile;
mod projected;
mod rattle;
mod report;
mod schemes;
mod start;
mod tdg;
mod trapezoidal;
mod turning;
mod twins;
mod warm_start;
mod watched;
