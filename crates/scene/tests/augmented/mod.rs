//! Augmented time stepping [Studer2008]: the examples of the paper, orders, tolerances, and what is hard for the control of steps.
//!
//! `cargo test -p nonsmooth-scene --test tests augmented -- --nocapture` prints all figures.

mod cost;
mod neighbours;
mod orders;
mod paper;
mod reliability;

use crate::watched::{Point, watch};
use nonsmooth::simulation::{Status, Summary};
use nonsmooth_scene::prepare::Prepared;

/// A scene under this scheme.
pub(crate) fn try_prepare(scene: &str, end: f64, set: &[&str]) -> Result<Prepared, String> {
    crate::watched::try_prepare(scene, "augmented", None, end, set)
}

/// A run that reaches its end, with its books kept.
pub(crate) fn run(scene: &str, end: f64, set: &[&str]) -> (Summary, Vec<Point>) {
    let prepared = try_prepare(scene, end, set).unwrap();
    let (summary, steps) = watch(&prepared);
    assert_eq!(summary.status, Status::Done, "{:?}", summary.stop.as_ref().map(ToString::to_string));
    // The solver's tolerance of 1e-10 in the scale of the certificate, and rounding of the ledger.
    assert!(summary.worst.residual() <= 1e-8, "{scene} {set:?}: residual {:e}", summary.worst.residual());
    assert!(summary.energy.closure <= 1e-10, "{scene} {set:?}: closure {:e}", summary.energy.closure);
    assert_eq!(steps.last().unwrap().t, end);
    (summary, steps)
}
