//! Friction against closed forms: sticking, sliding, spin, tangential restitution, moving obstacles. Here is how the tests
//! run a system and read its percussions; each motion has its file.

mod moving_table;
mod pulled_mass;
mod rest;
mod sliding_block;
mod slope;
mod spin;
mod superball;
mod table;

use nonsmooth::contract::Kind;
use nonsmooth::simulation::{Record, Recording, Status, StepRecord, Trajectory};
use nonsmooth::{Differentiated, Model, Simulation, SimulationOptions, State, Summary, System, scheme};

const G: f64 = 9.81;

/// The velocity-level schemes: their friction law is one and the same, so that all closed forms hold for both.
const SCHEMES: [&str; 2] = ["moreau-jean", "moreau-midpoint"];

fn take<M: Model>(model: M) -> Differentiated<M> {
    Differentiated::new(model).expect("the model fits together")
}

fn run(system: &dyn System, name: &str, q: &[f64], u: &[f64], options: SimulationOptions) -> (Summary, Vec<Record>) {
    let mut trajectory = Trajectory::new(Recording::Every(1));
    let scheme = scheme::make(name, &Default::default()).expect("a registered scheme");
    let start = State::new(0.0, q.to_vec(), u.to_vec());
    let summary = Simulation::new(system, start, scheme, options).expect("a good start").run_with(&mut trajectory);
    assert_eq!(summary.status, Status::Done, "{name}: {:?}", summary.stop.map(|s| s.to_string()));
    (summary, trajectory.records().to_vec())
}

/// One step of length `dt`.
fn one_step(system: &dyn System, name: &str, solver: &str, q: &[f64], u: &[f64], dt: f64) -> Record {
    let mut options = SimulationOptions::new(dt, dt);
    options.solver = solver.into();
    run(system, name, q, u, options).1.pop().expect("a step")
}

fn of(record: &Record) -> &StepRecord {
    record.step.as_ref().expect("a step led here")
}

/// Percussion of interaction `i` of a kind.
fn percussion(record: &Record, kind: Kind, i: u64) -> &[f64] {
    of(record).percussions.get(((kind as u64) << 32) | i).expect("the interaction is listed")
}

fn contact(record: &Record, i: u64) -> &[f64] {
    percussion(record, Kind::Contact, i)
}
