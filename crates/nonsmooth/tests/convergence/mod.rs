//! Convergence: schemes × exact solutions, with the expected order read from the scheme.
//!
//! Errors are L¹ over the grid, Σ dt |x_k − x(t_k)| summed over components, for q and u; through impacts also the
//! largest error of q and the graph distance of u: the symmetric Hausdorff distance (Euclidean, seconds and m/s)
//! between the curves {(t, u)}, jumps filled by vertical segments. Orders are slopes of least squares in
//! logarithms. The tables show with `cargo test -p nonsmooth --test tests convergence -- --nocapture`.

mod closed_forms;
mod impacts;
mod smooth;

use nonsmooth::contract::Evaluator;
use nonsmooth::measure::fit_order;
use nonsmooth::scheme::{self, Scheme, Settings};
use nonsmooth::simulation::{Observe, Observer, Status, StepView};
use nonsmooth::{Differentiated, Model, Simulation, SimulationOptions, State, System};

type Point = (f64, f64);

/// A row of the table: a scheme with options.
struct Row {
    label: &'static str,
    name: &'static str,
    settings: Settings,
}

impl Row {
    fn make(&self) -> Box<dyn Scheme> {
        scheme::make(self.name, &self.settings).unwrap()
    }
}

fn row(label: &'static str, name: &'static str, settings: Settings) -> Row {
    Row { label, name, settings }
}

/// A scheme without a row would go unmeasured.
fn assert_every_scheme(rows: &[Row]) {
    for info in scheme::SCHEMES {
        assert!(rows.iter().any(|r| r.name == info.name), "{} has no row in this table", info.name);
    }
}

fn jean(theta: f64) -> Settings {
    Settings::new().number("theta", theta)
}

fn degree(m: usize) -> Settings {
    Settings::new().number("degree", m as f64)
}

/// A step end.
struct Record {
    t: f64,
    q: Vec<f64>,
    u: Vec<f64>,
    /// First velocity before a jump that the scheme located there.
    before: Option<f64>,
}

/// Step ends alone: millions of steps are kept here.
struct Ends(Vec<Record>);

impl Observer for Ends {
    fn begin(&mut self, _system: &Evaluator, start: &State) {
        self.0.push(Record { t: start.t, q: start.q.clone(), u: start.u.clone(), before: None });
    }
    fn step(&mut self, view: &StepView) {
        let (end, before) = (&view.end, view.step.u_minus().first().copied());
        self.0.push(Record { t: end.t, q: end.q.clone(), u: end.u.clone(), before });
    }
}

/// The run up to `end`; for a scheme that takes steps of one length only, up to the last whole step.
fn run(system: &dyn System, start: &State, scheme: Box<dyn Scheme>, step: f64, end: f64) -> Vec<Record> {
    let whole = step * (end / step + 1e-6).floor();
    let end = if scheme.info().variable_step { end } else { whole };
    let mut options = SimulationOptions::new(step, end);
    options.observe = Observe::NONE;
    let mut ends = Ends(Vec::new());
    let summary = Simulation::new(system, start.clone(), scheme, options).unwrap().run_with(&mut ends);
    assert_eq!(summary.status, Status::Done, "{:?}", summary.stop);
    ends.0
}

/// Slope of the least-squares line through (ln h, ln error).
fn order(steps: &[f64], errors: &[f64]) -> f64 {
    fit_order(steps, errors).unwrap().order
}

/// Σ dt |x_k − x(t_k)| over the grid for q and u.
fn l1<X: AsRef<[f64]>>(records: &[Record], exact: &[(X, X)]) -> Point {
    let distance = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| (x - y).abs()).sum::<f64>();
    let (mut q, mut u) = (0.0, 0.0);
    for i in 1..records.len() {
        let dt = records[i].t - records[i - 1].t;
        q += dt * distance(&records[i].q, exact[i].0.as_ref());
        u += dt * distance(&records[i].u, exact[i].1.as_ref());
    }
    (q, u)
}

fn system<M: Model + 'static>(model: M) -> Box<dyn System> {
    Box::new(Differentiated::new(model).unwrap())
}
