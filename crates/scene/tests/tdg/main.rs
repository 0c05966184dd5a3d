//! The time discontinuous Galerkin schemes: the algorithms of their paper [Schindler2014], orders, rest, stiffness, cost, and the mechanisms among the examples.
//!
//! `cargo test --release -p nonsmooth-scene --test tdg -- --nocapture` prints all tables.

#![allow(clippy::unwrap_used)] // a test fails on an error

mod algorithms;
mod cost;
mod mechanisms;
mod orders;
mod rest;
mod stiff;

use nonsmooth::simulation::{Observer, Status, StepView, Summary};
use nonsmooth_scene::file::Document;
use nonsmooth_scene::prepare::{Prepared, Request};

pub(crate) const SIDES: [&str; 2] = ["tdg-minus", "tdg-plus"];

/// The end of a step.
pub(crate) struct Point {
    pub(crate) t: f64,
    pub(crate) q: Vec<f64>,
    pub(crate) u: Vec<f64>,
    pub(crate) energy: f64,
}

#[derive(Default)]
struct Watch(Vec<Point>);

impl Observer for Watch {
    fn step(&mut self, view: &StepView) {
        let end = &view.step.end;
        let (q, u, energy) = (end.q.clone(), end.u.clone(), view.energy.unwrap());
        self.0.push(Point { t: end.t, q, u, energy });
    }
}

/// A scene, by the name of an example or as text, under a scheme.
pub(crate) fn prepare(scene: &str, scheme: &str, step: f64, end: f64, set: &[&str]) -> Prepared {
    let set = set.iter().map(|s| (*s).to_string()).collect();
    let request = Request { scheme: Some(scheme.into()), step: Some(step), end: Some(end), set, ..Request::default() };
    if scene.contains('\n') {
        return Prepared::new(Document::parse("test", scene).unwrap(), &request).unwrap_or_else(|e| panic!("{e}"));
    }
    Prepared::load(scene, &request).unwrap_or_else(|e| panic!("{e}"))
}

/// A run and its step ends, however it ends.
pub(crate) fn try_run(scene: &str, scheme: &str, step: f64, end: f64, set: &[&str]) -> (Summary, Vec<Point>) {
    let prepared = prepare(scene, scheme, step, end, set);
    let mut watch = Watch::default();
    let summary = prepared.simulation().unwrap_or_else(|e| panic!("{e}")).run_with(&mut watch);
    (summary, watch.0)
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
