//! Our side of the speed comparison with peers: the same models, steps and counts, recording off.
//!
//! `cargo run --release -p nonsmooth --example peers` prints one JSON object; `benches/peers/run.sh` runs both sides.

use nonsmooth::scheme::{Forecast, MoreauJean, MoreauJeanOptions};
use nonsmooth::simulation::Observe;
use nonsmooth::{Differentiated, Error, Simulation, SimulationOptions, State, System};
use nonsmooth_reference::{Ball, Block};
use std::time::Instant;

/// Steps of one run, and of the early state that is compared.
const STEPS: usize = 20_000;
const EARLY: usize = 1_100;
const STEP: f64 = 1e-3;

fn run(system: &dyn System, start: &State, steps: usize) -> Result<(f64, State), Error> {
    // The packaged peer activates at g + h/2 g' <= 0.
    let options = MoreauJeanOptions { forecast: Forecast::Explicit { gamma: 0.5 }, ..Default::default() };
    let mut o = SimulationOptions::new(STEP, steps as f64 * STEP);
    o.observe = Observe::NONE;
    let mut simulation = Simulation::new(system, start.clone(), Box::new(MoreauJean::new(options)), o)?;
    let clock = Instant::now();
    let summary = simulation.run();
    let seconds = clock.elapsed().as_secs_f64();
    assert_eq!(summary.work.steps, steps);
    Ok((seconds, summary.end))
}

fn case(name: &str, system: &dyn System, start: &State, repeats: usize) -> Result<String, Error> {
    let early = run(system, start, EARLY)?.1;
    let mut best = f64::INFINITY;
    let mut last = State::default();
    for _ in 0..repeats {
        let (seconds, end) = run(system, start, STEPS)?;
        best = best.min(seconds);
        last = end;
    }
    let rate = STEPS as f64 / best;
    Ok(format!(
        "\"{name}\": {{\"steps\": {STEPS}, \"cpu_seconds\": {best:e}, \"steps_per_cpu_second\": {rate:e}, \
         \"early\": {{\"q\": {:?}, \"v\": {:?}}}, \"final\": {{\"q\": {:?}, \"v\": {:?}}}}}",
        early.q, early.u, last.q, last.u
    ))
}

fn main() -> Result<(), Error> {
    let arguments: Vec<String> = std::env::args().collect();
    let repeats = arguments.get(1).and_then(|a| a.parse().ok()).unwrap_or(25);
    let only = arguments.get(2);
    let ball = Differentiated::new(Ball::default())?;
    let block = Differentiated::new(Block { linearised: true, ..Block::default() })?;
    let rough = Differentiated::new(Block { linearised: true, mu: Some(0.5), ..Block::default() })?;
    let cases: [(&str, &dyn System, State); 3] = [
        ("ball", &ball, State::new(0.0, vec![1.0], vec![0.0])),
        ("block", &block, State::new(0.0, vec![0.0, 0.26, 0.0], vec![0.0; 3])),
        ("block-friction", &rough, State::new(0.0, vec![0.0, 0.26, 0.0], vec![6.0, 0.0, 0.0])),
    ];
    let mut out = Vec::new();
    for (name, system, start) in &cases {
        if only.is_none_or(|o| o == name) {
            out.push(case(name, *system, start, repeats)?);
        }
    }
    println!("{{\"nonsmooth\": \"{}\", \"cases\": {{{}}}}}", env!("CARGO_PKG_VERSION"), out.join(", "));
    Ok(())
}
