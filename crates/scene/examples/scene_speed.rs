//! Steps per second of a scheme on bundled scenes, nothing recorded and nothing observed.
//!
//! `cargo run --release -p nonsmooth-scene --example scene_speed -- [SCHEME] [REPEATS] [SCENE[:STEP[:END]]...]`

use nonsmooth::Simulation;
use nonsmooth::simulation::{Observe, Summary};
use nonsmooth_scene::prepare::{Prepared, Request};
use std::error::Error;
use std::time::Instant;

/// Scenes of Breuling's Table 1 with its steps and times.
const SCENES: [&str; 4] =
    ["rotating_ball:1e-2:1.5", "slope_mass:1e-2:3.28", "tippedisk:1e-3:3", "slider_crank_joints:1e-4:0.1466"];
/// Time that a measurement takes at least, s.
const SPELL: f64 = 0.2;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let scheme = arguments.first().map_or("rattle", String::as_str);
    let repeats: usize = arguments.get(1).and_then(|a| a.parse().ok()).unwrap_or(5);
    let scenes: Vec<&str> = match arguments.get(2..) {
        Some(given) if !given.is_empty() => given.iter().map(String::as_str).collect(),
        _ => SCENES.to_vec(),
    };
    println!("{scheme}: steps per CPU second, the best of {repeats}; Newton iterations per step");
    for scene in scenes {
        let mut parts = scene.split(':');
        let name = parts.next().unwrap_or_default();
        let mut number = || parts.next().map(str::parse).transpose();
        let (step, end) = (number()?, number()?);
        let request = Request { scheme: Some(scheme.into()), step, end, ..Request::default() };
        let prepared = Prepared::load(name, &request)?;
        let mut best = 0.0f64;
        let mut newton = 0.0;
        for _ in 0..repeats {
            let (mut steps, mut seconds) = (0, 0.0);
            while seconds < SPELL {
                let (summary, time) = once(&prepared)?;
                if let Some(stop) = &summary.stop {
                    return Err(format!("{name}: {stop}").into());
                }
                (steps, seconds) = (steps + summary.work.steps, seconds + time);
                newton = summary.work.newton as f64 / summary.work.steps as f64;
            }
            best = best.max(steps as f64 / seconds);
        }
        println!("{name:24} step {:8} {best:10.3e}   {newton:.2}", prepared.options.step);
    }
    Ok(())
}

fn once(prepared: &Prepared) -> Result<(Summary, f64), Box<dyn Error>> {
    let mut options = prepared.options.clone();
    options.observe = Observe::NONE;
    let scheme = (prepared.scheme.make)(&prepared.settings)?;
    let mut simulation = Simulation::new(&*prepared.system, prepared.start.clone(), scheme, options)?;
    let clock = Instant::now();
    let summary = simulation.run();
    Ok((summary, clock.elapsed().as_secs_f64()))
}
