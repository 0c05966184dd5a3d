//! Sticking on a slope: exactly below the limit, and without creep.

use super::{G, SCHEMES, of, run, take};
use complementarity::Mode;
use nonsmooth::simulation::{Observe, Record, Status};
use nonsmooth::{Simulation, SimulationOptions, State, Summary, System, scheme};
use nonsmooth_reference::{Block, Incline};

/// The end state after `steps` steps, with nothing but the step itself computed.
fn run_bare(system: &dyn System, name: &str, q: &[f64], h: f64, steps: usize) -> State {
    let mut options = SimulationOptions::new(h, h * steps as f64);
    options.observe = Observe::NONE;
    let scheme = scheme::make(name, &Default::default()).expect("a registered scheme");
    let start = State::new(0.0, q.to_vec(), vec![0.0; q.len()]);
    let summary = Simulation::new(system, start, scheme, options).expect("a good start").run();
    assert_eq!((summary.status, summary.work.steps, summary.work.rejected), (Status::Done, steps, 0), "{name}");
    summary.end
}

/// Slope whose tangent is `factor` times μ.
fn slope(mu: f64, factor: f64) -> f64 {
    (mu * factor).atan()
}

#[test]
fn a_point_on_a_slope_sticks_exactly_when_the_tangent_is_below_mu() {
    let mu = 0.4;
    for name in SCHEMES {
        for (factor, sticks) in [(0.5, true), (1.0 - 1e-6, true), (1.0 + 1e-6, false), (2.0, false)] {
            let alpha = slope(mu, factor);
            let system = take(Incline { slope: alpha, mu, mass: 2.0, g: G });
            let (summary, records) = run(&system, name, &[0.0; 2], &[0.0; 2], SimulationOptions::new(1e-3, 2.0));
            check_slope(&summary, &records, name, alpha, mu, sticks, &["slope"]);
        }
    }
}

#[test]
fn a_block_on_two_corners_sticks_exactly_when_the_tangent_is_below_mu() {
    // The corners carry unequally: near the limit the even split of the tangential force is outside the smaller cone.
    let mu = 0.4;
    for name in SCHEMES {
        for (factor, sticks) in [(0.5, true), (1.0 - 1e-6, true), (1.0 + 1e-6, false), (2.0, false)] {
            let alpha = slope(mu, factor);
            let system = take(Block { slope: alpha, mu: Some(mu), ..Block::default() });
            let q = [0.0, 0.25, 0.0];
            let (summary, records) = run(&system, name, &q, &[0.0; 3], SimulationOptions::new(1e-3, 2.0));
            check_slope(&summary, &records, name, alpha, mu, sticks, &["left", "right"]);
        }
    }
}

fn check_slope(
    summary: &Summary,
    records: &[Record],
    name: &str,
    alpha: f64,
    mu: f64,
    sticks: bool,
    contacts: &[&str],
) {
    let end = records.last().expect("records");
    let what = format!("{name}, tan = {} mu: x = {:e}, x' = {:e}", alpha.tan() / mu, end.q[0], end.u[0]);
    if sticks {
        // The solver leaves at most 1e-10 g dt of velocity.
        assert!(end.q[0].abs() <= 1e-10 * G * 1e-3 * end.t, "{what}");
    } else {
        let a = G * (alpha.sin() - mu * alpha.cos());
        let exact = 0.5 * a * end.t * end.t;
        // The solver stops at a residual of 1e-10 g dt while the slope exceeds friction by 1e-6 g: 1e-4; ten times that.
        assert!((end.q[0] - exact).abs() <= 1e-3 * exact, "{what}, exact {exact:e}");
    }
    // The tangential percussion balances the slope, or is μ times the normal one: a sum over 2 s.
    let sum = |k: usize| contacts.iter().map(|c| summary.percussions[*c][k]).sum::<f64>();
    let (normal, tangential) = (sum(0), sum(1));
    let ratio = if sticks { alpha.tan() } else { mu };
    // 2000 steps solved to 1e-10 each.
    assert!((tangential + ratio * normal).abs() <= 1e-9 * normal, "{what}: {normal} {tangential}");
    // What sticks has a contact in constraint mode (another may be at the edge of its cone); what slides has none.
    for r in &records[1..] {
        let held = (0..contacts.len()).any(|i| of(r).sigma[i].mode(1) == Mode::Constraint);
        assert_eq!(held, sticks, "{what} at t = {}", r.t);
    }
}

#[test]
fn a_point_on_a_slope_does_not_creep_in_a_million_steps() {
    let mu = 0.4;
    for name in SCHEMES {
        let system = take(Incline { slope: slope(mu, 0.999), mu, mass: 2.0, g: G });
        let end = run_bare(&system, name, &[0.0; 2], 1e-3, 1_000_000);
        println!("creep of the point, {name}: {:e} m, {:e} m", end.q[0], end.q[1]);
        // The bound that is asked for: 1000 s at velocities of rounding size, 1e-16 · 1e3 s, and a factor of ten.
        assert!(end.q.iter().all(|x| x.abs() <= 1e-12), "{name}: {:?}", end.q);
    }
}

#[test]
fn a_block_on_two_corners_does_not_creep_in_a_million_steps() {
    let mu = 0.4;
    for name in SCHEMES {
        let system = take(Block { slope: slope(mu, 0.999), mu: Some(mu), ..Block::default() });
        let end = run_bare(&system, name, &[0.0, 0.25, 0.0], 1e-3, 1_000_000);
        let moved = [end.q[0], end.q[1] - 0.25, end.q[2]];
        println!("creep of the block, {name}: {moved:?}");
        // As for the point.
        assert!(moved.iter().all(|x| x.abs() <= 1e-12), "{name}: {moved:?}");
    }
}
