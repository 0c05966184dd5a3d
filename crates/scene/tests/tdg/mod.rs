//! The time discontinuous Galerkin schemes: the algorithms of their paper [Schindler2014], orders, rest, stiffness, cost, and the mechanisms among the examples.
//!
//! `cargo test --release -p nonsmooth-scene --test tests tdg -- --nocapture` prints all tables.

mod algorithms;
mod cost;
mod mechanisms;
mod orders;
mod persistent;
mod pull;
mod rest;
mod stiff;

use crate::watched::watch;
pub(crate) use crate::watched::{Point, prepare};
use nonsmooth::simulation::{Status, Summary};

pub(crate) const SIDES: [&str; 2] = ["tdg-minus", "tdg-plus"];

/// A run and its step ends, however it ends.
pub(crate) fn try_run(scene: &str, scheme: &str, step: f64, end: f64, set: &[&str]) -> (Summary, Vec<Point>) {
    watch(&prepare(scene, scheme, step, end, set))
}

/// A run that reaches its end and keeps its books.
pub(crate) fn run(scene: &str, scheme: &str, step: f64, end: f64, set: &[&str]) -> (Summary, Vec<Point>) {
    let (summary, points) = try_run(scene, scheme, step, end, set);
    assert_eq!(summary.status, Status::Done, "{:?}", summary.stop.as_ref().map(ToString::to_string));
    // The solver's and the iteration's tolerance is 1e-10 of the terms of a step.
    assert!(summary.worst.residual() <= 1e-9, "{scheme} {set:?}: residual {:e}", summary.worst.residual());
    assert!(summary.energy.closure <= 1e-10, "{scheme} {set:?}: closure {:e}", summary.energy.closure);
    (summary, points)
}

pub(crate) fn degree(m: usize) -> String {
    format!("scheme.degree={m}")
}
