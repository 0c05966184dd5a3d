//! The trapezoidal LCP scheme on the examples of its paper [Potra2006, §10] and on closed forms: tables, energy, events, restitution, paradox, joints, facets, Lemke.
//!
//! `cargo test --release -p nonsmooth-scene --test tests trapezoidal -- --nocapture` prints all tables.

mod carts;
mod driven;
mod facets;
mod groups;
mod joints;
mod lemke;
mod mass;
mod multipliers;
mod restitution;
mod rod;
mod stiff;
mod tables;
mod take_off;

use crate::watched::watch;
pub(crate) use crate::watched::{Point, prepare};
use nonsmooth::simulation::{EventKind, Status, Summary};
use nonsmooth_scene::bundled::EXAMPLES;

pub(crate) fn run_by(scene: &str, scheme: &str, step: f64, end: f64, set: &[&str]) -> (Summary, Vec<Point>) {
    let (summary, points) = watch(&prepare(scene, scheme, step, end, set));
    assert_eq!(summary.status, Status::Done, "{:?}", summary.stop.as_ref().map(ToString::to_string));
    // What every step of the scheme keeps: its equations to the solver's tolerance, and the books.
    if scheme == "trapezoidal-lcp" {
        assert!(summary.worst.residual() <= 1e-7, "residual {:e}", summary.worst.residual());
        // A damper of 1e6 N s/m makes forces of rounding errors that are 1e6 times larger.
        assert!(summary.energy.closure <= 1e-10, "closure {:e}", summary.energy.closure);
    }
    (summary, points)
}

/// The same under the scheme of these tests.
pub(crate) fn run(scene: &str, step: f64, end: f64, set: &[&str]) -> (Summary, Vec<Point>) {
    run_by(scene, "trapezoidal-lcp", step, end, set)
}

/// Where a run ends.
pub(crate) fn end(scene: &str, step: f64, end: f64, set: &[&str]) -> Vec<f64> {
    run(scene, step, end, set).0.end.q
}

/// Times of the events of a kind.
pub(crate) fn times(summary: &Summary, kind: EventKind) -> Vec<f64> {
    summary.events.iter().filter(|e| e.kind == kind).map(|e| e.t).collect()
}

/// Ratios of consecutive errors.
pub(crate) fn ratios(errors: &[f64]) -> Vec<f64> {
    errors.windows(2).map(|w| w[0] / w[1]).collect()
}

pub(crate) fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
}

/// The text of an example.
pub(crate) fn text(name: &str) -> String {
    EXAMPLES.iter().find(|e| e.name == name).unwrap().text.to_string()
}

/// Numbers as they are printed.
pub(crate) fn scientific(values: &[f64]) -> String {
    values.iter().map(|v| format!("{v:.2e}")).collect::<Vec<_>>().join(" ")
}
