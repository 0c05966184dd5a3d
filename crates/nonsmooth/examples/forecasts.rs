//! How the forecast of Moreau-Jean biases the time at which a ball comes to rest, and how well the limit of its
//! impacts is located all the same.
//!
//! The ball of [Acary2013, Ex. 1] comes to rest at t = 3. For many steps h, the deviation of the logged
//! `close` and `accumulation-end` from 3, in units of h: mean, standard deviation, and how often it is within two steps.
//!
//! `cargo run --release --example forecasts`

use nonsmooth::scheme::{Forecast, MoreauJean, MoreauJeanOptions, MoreauMidpoint, Scheme};
use nonsmooth::simulation::{EventKind, Observe};
use nonsmooth::{Differentiated, Error, Simulation, SimulationOptions, State};
use nonsmooth_reference::Ball;

/// Steps per decade from 1e-2 to 1e-4; none divides 1.
const STEPS: usize = 40;

fn main() -> Result<(), Error> {
    let e = 0.5;
    let ball = Differentiated::new(Ball { e, ..Ball::default() })?;
    println!("ball with e = {e}: logged time - 3, in steps, over {} steps from 1e-2 to 1e-4 s", STEPS + 1);
    println!("{:<24} {:^30}   {:^30}", "", "close", "accumulation-end");
    println!(
        "{:<24} {:>7} {:>6} {:>15}   {:>7} {:>6} {:>15}",
        "forecast", "mean", "std", "within 2", "mean", "std", "within 2"
    );
    let gammas = [0.0, 0.5, 1.0 / (1.0 + e), 1.0, 2.0];
    let mut rows: Vec<(String, Option<Forecast>)> =
        gammas.iter().map(|&g| (format!("explicit, gamma = {g:.3}"), Some(Forecast::Explicit { gamma: g }))).collect();
    rows.push(("free".into(), Some(Forecast::Free)));
    rows.push(("(moreau-midpoint)".into(), None));
    for (name, forecast) in rows {
        let mut deviations = [Vec::new(), Vec::new()];
        for k in 0..=STEPS {
            let h = 1e-2 * 10f64.powf(-2.0 * k as f64 / STEPS as f64) * 0.983;
            let scheme: Box<dyn Scheme> = match forecast {
                Some(forecast) => Box::new(MoreauJean::new(MoreauJeanOptions { forecast, ..Default::default() })),
                None => Box::new(MoreauMidpoint::default()),
            };
            let mut o = SimulationOptions::new(h, 4.0);
            o.observe = Observe { events: true, ..Observe::NONE };
            let summary = Simulation::new(&ball, State::new(0.0, vec![1.0], vec![0.0]), scheme, o)?.run();
            for (kind, list) in [EventKind::Close, EventKind::AccumulationEnd].into_iter().zip(&mut deviations) {
                let end = summary.events.iter().find(|e| e.kind == kind);
                list.extend(end.map(|e| (e.t - 3.0) / h));
            }
        }
        let columns = deviations.map(|list| column(&list));
        println!("{name:<24} {}   {}", columns[0], columns[1]);
    }
    Ok(())
}

/// Mean, standard deviation, and how many are within two steps.
fn column(deviations: &[f64]) -> String {
    let n = deviations.len() as f64;
    let mean = deviations.iter().sum::<f64>() / n;
    let variance = deviations.iter().map(|d| (d - mean) * (d - mean)).sum::<f64>() / n;
    let within = deviations.iter().filter(|d| d.abs() <= 2.0).count();
    format!("{mean:>+7.2} {:>6.2} {within:>9} of {}", variance.sqrt(), deviations.len())
}
