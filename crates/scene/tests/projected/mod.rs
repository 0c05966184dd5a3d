//! The projected schemes on the examples of their paper [Acary2013, §4 to §6]: constraints on both levels, rest, Table 3, energy, orders of τ.
//!
//! `cargo test --release -p nonsmooth-scene --test tests projected -- --nocapture` prints all tables.

mod constraints;
mod directions;
mod forms;
mod rest;
mod table_3;

use nonsmooth::simulation::{Observer, Status, StepView, Summary};
use nonsmooth_scene::prepare::{Prepared, Request};

pub(crate) const DIRECT: &str = "projected-direct";
pub(crate) const COMBINED: &str = "projected-combined";

/// A scene under a scheme, at its own step and end unless they are given.
pub(crate) fn scene(name: &str, scheme: &str, step: Option<f64>, end: Option<f64>, set: &[&str]) -> Prepared {
    let set = set.iter().map(|s| (*s).to_string()).collect();
    Prepared::load(name, &Request { scheme: Some(scheme.into()), step, end, set, ..Request::default() }).unwrap()
}

/// t, q, u, energy and the force on every component at the end of every step.
#[derive(Default)]
pub(crate) struct Watch(pub(crate) Vec<Point>);

pub(crate) struct Point {
    pub(crate) t: f64,
    pub(crate) q: Vec<f64>,
    pub(crate) u: Vec<f64>,
    pub(crate) energy: f64,
    pub(crate) multiplier: f64,
}

impl Observer for Watch {
    fn step(&mut self, view: &StepView) {
        let end = &view.end;
        let multiplier = view.step.multipliers().iter().fold(0.0, |m: f64, tau| m.max(tau.abs()));
        let (q, u) = (end.q.clone(), end.u.clone());
        self.0.push(Point { t: end.t, q, u, energy: view.energy.unwrap(), multiplier });
    }
}

pub(crate) fn run(prepared: &Prepared) -> (Summary, Vec<Point>) {
    let scheme = (prepared.scheme.make)(&prepared.settings).unwrap();
    let options = prepared.options.clone();
    let mut simulation =
        nonsmooth::Simulation::new(&*prepared.system, prepared.start.clone(), scheme, options).unwrap();
    let mut watch = Watch::default();
    let summary = simulation.run_with(&mut watch);
    assert_eq!(summary.status, Status::Done, "{:?}", summary.stop.as_ref().map(ToString::to_string));
    (summary, watch.0)
}

pub(crate) fn line(summary: &Summary, name: &str) -> f64 {
    summary.ledger.iter().find(|(n, _)| n == name).unwrap().1
}
