//! Augmented time stepping [Studer2008]: the examples of the paper, orders, tolerances, and what is hard for the control of steps.
//!
//! `cargo test -p nonsmooth-scene --test augmented -- --nocapture` prints all figures.

#![allow(clippy::unwrap_used)] // a test fails on an error

mod cost;
mod orders;
mod paper;
mod reliability;

use nonsmooth::simulation::{Observer, Status, StepView, Summary};
use nonsmooth_scene::file::Document;
use nonsmooth_scene::prepare::{Prepared, Request};

/// A final step.
pub(crate) struct Point {
    pub(crate) t: f64,
    pub(crate) dt: f64,
    pub(crate) order: u32,
    pub(crate) q: Vec<f64>,
    pub(crate) u: Vec<f64>,
}

#[derive(Default)]
struct Watch(Vec<Point>);

impl Observer for Watch {
    fn step(&mut self, view: &StepView) {
        let (end, dt, order) = (&view.step.end, view.step.dt, view.step.extrapolation.order);
        self.0.push(Point { t: end.t, dt, order, q: end.q.clone(), u: end.u.clone() });
    }
}

/// A scene, by the name of an example or as text.
pub(crate) fn try_prepare(scene: &str, end: f64, set: &[&str]) -> Result<Prepared, String> {
    let set = set.iter().map(|s| (*s).to_string()).collect();
    let request = Request { scheme: Some("augmented".into()), end: Some(end), set, ..Request::default() };
    let document =
        if scene.contains('\n') { Document::parse("test", scene) } else { nonsmooth_scene::prepare::read(scene) };
    Prepared::new(document.unwrap(), &request).map_err(|e| e.to_string())
}

/// A run that reaches its end, with its books kept.
pub(crate) fn run(scene: &str, end: f64, set: &[&str]) -> (Summary, Vec<Point>) {
    let prepared = try_prepare(scene, end, set).unwrap();
    let mut watch = Watch::default();
    let summary = prepared.simulation().unwrap_or_else(|e| panic!("{e}")).run_with(&mut watch);
    assert_eq!(summary.status, Status::Done, "{:?}", summary.stop.as_ref().map(ToString::to_string));
    // The solver's tolerance of 1e-10 in the scale of the certificate, and rounding of the ledger.
    assert!(summary.worst.residual() <= 1e-8, "{scene} {set:?}: residual {:e}", summary.worst.residual());
    assert!(summary.energy.closure <= 1e-10, "{scene} {set:?}: closure {:e}", summary.energy.closure);
    assert_eq!(watch.0.last().unwrap().t, end);
    (summary, watch.0)
}
