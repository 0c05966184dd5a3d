//! The contract between systems and the loop: general kinematics, derivatives, hand-written systems, reach, sparsity,
//! controllers, elements. Here is how the tests run a system; each idea has its file.

mod by_hand;
mod charts;
mod controllers;
mod derivatives;
mod elements;
mod gyroscopic;
mod kinematics;
mod plain_ball;
mod reach;
mod sparsity;

use nonsmooth::scheme::Scheme;
use nonsmooth::simulation::{Record, Recording, Status, Summary, Trajectory};
use nonsmooth::{Differentiated, Model, Simulation, SimulationOptions, State, System, scheme};

const BOTH: [&str; 2] = ["moreau-jean", "moreau-midpoint"];

fn take<M: Model>(model: M) -> Differentiated<M> {
    Differentiated::new(model).expect("the model fits together")
}

fn make(name: &str) -> Box<dyn Scheme> {
    scheme::make(name, &Default::default()).expect("a registered scheme")
}

fn run_with(
    system: &dyn System,
    scheme: Box<dyn Scheme>,
    q: &[f64],
    u: &[f64],
    h: f64,
    end: f64,
) -> (Summary, Vec<Record>) {
    let mut trajectory = Trajectory::new(Recording::Every(1));
    let start = State::new(0.0, q.to_vec(), u.to_vec());
    let options = SimulationOptions::new(h, end);
    let summary = Simulation::new(system, start, scheme, options).expect("a good start").run_with(&mut trajectory);
    assert_eq!(summary.status, Status::Done, "{:?}", summary.stop.map(|s| s.to_string()));
    (summary, trajectory.records().to_vec())
}

fn run(system: &dyn System, name: &str, q: &[f64], u: &[f64], h: f64, end: f64) -> (Summary, Vec<Record>) {
    run_with(system, make(name), q, u, h, end)
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max)
}
