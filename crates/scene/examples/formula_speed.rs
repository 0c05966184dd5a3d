//! What formulas cost: the woodpecker by formula and by hand, steps per CPU second, nothing recorded.
//!
//! `cargo run --release -p nonsmooth-scene --example formula_speed [REPEATS] [formula|hand]`

use nonsmooth::simulation::Observe;
use nonsmooth::{Differentiated, Error, Simulation, SimulationOptions, System, scheme};
use nonsmooth_reference::Woodpecker;
use nonsmooth_scene::prepare::{Prepared, Request};
use std::time::Instant;

const STEP: f64 = 1e-5;
const END: f64 = 1.0;

/// Steps per second of one run.
fn rate(system: &dyn System) -> Result<f64, Error> {
    let mut options = SimulationOptions::new(STEP, END);
    options.observe = Observe::NONE;
    let scheme = scheme::make("moreau-jean", &Default::default())?;
    let mut simulation = Simulation::new(system, Woodpecker::start(), scheme, options)?;
    let clock = Instant::now();
    let summary = simulation.run();
    Ok(summary.work.steps as f64 / clock.elapsed().as_secs_f64())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let repeats: usize = arguments.get(1).and_then(|a| a.parse().ok()).unwrap_or(15);
    let only = arguments.get(2).map(String::as_str);
    let scene = Prepared::load("woodpecker", &Request::default())?;
    let hand = Differentiated::new(Woodpecker)?;
    let systems: [(&str, &dyn System); 2] = [("formula", &*scene.system), ("hand", &hand)];
    let mut best = [0.0f64; 2];
    // Alternate, so that a slow spell of a shared machine meets both.
    for _ in 0..repeats {
        for (best, (name, system)) in best.iter_mut().zip(systems) {
            if only.is_none_or(|o| o == name) {
                *best = best.max(rate(system)?);
            }
        }
    }
    println!("woodpecker, step {STEP} s, {} steps, best of {repeats} runs", (END / STEP).round());
    println!("by formula  {:.3e} steps per CPU second", best[0]);
    println!("by hand     {:.3e} steps per CPU second", best[1]);
    println!("ratio       {:.2}", best[0] / best[1]);
    Ok(())
}
