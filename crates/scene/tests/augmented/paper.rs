//! The examples of the paper, §10.

use super::run;
use nonsmooth::simulation::{EventKind, Summary};

const FALLING: [&str; 2] = ["scheme.dt_min=1e-5", "scheme.dt_max=0.05"];

#[test]
fn a_mass_that_falls_on_a_table() {
    let (summary, steps) = run("falling_mass", 1.0, &FALLING);
    let w = summary.work;
    println!("{} base calls, {} steps, {} rejected, {} resolved", w.scheme_calls, w.steps, w.rejected, w.resolved);
    // Fig. 10; the checks of the paper's three readings gave 2645 to 2781.
    assert!((2500..=3000).contains(&w.scheme_calls), "{}", w.scheme_calls);
    // Order 2 in every step that is long enough for it, and exact to rounding in the first flight.
    assert!(steps.iter().all(|s| s.order == 2 || s.dt < 3e-5 * (1.0 - 1e-9)), "orders");
    let (z_0, g) = (0.07, 9.81);
    for s in steps.iter().take_while(|s| s.t < 0.1194) {
        let off = (s.q[0] - z_0 + 0.5 * g * s.t * s.t).abs();
        assert!(off <= 1e-15, "t = {}: {off:e}", s.t);
    }
    // After the accumulation of impacts the step is the largest again, but for the last, which ends the run.
    let rest = steps.iter().rev().skip(1).take_while(|s| s.dt == 0.05).count();
    assert!(rest >= 5, "{rest} largest steps at the end");
    assert!(steps.last().unwrap().q[0].abs() <= 1e-15);
}

#[test]
fn all_numbers_of_substeps_keep_the_step_small() {
    let (all, steps) = run("falling_mass", 1.0, &[FALLING[0], FALLING[1], "scheme.substeps=all"]);
    let (odd, _) = run("falling_mass", 1.0, &FALLING);
    let longest = steps.iter().filter(|s| s.t > 0.7).fold(0.0f64, |m, s| m.max(s.dt));
    println!("largest step after the accumulation {longest:e} s, {} calls", all.work.scheme_calls);
    // Fig. 9: it does not come up to dt_max = 0.05 again, and the run costs much more.
    assert!(longest <= 1e-3, "{longest}");
    assert!(all.work.scheme_calls >= 10 * odd.work.scheme_calls);
    // A restitution that is raised to the power dt/dt_min is the other remedy of §8.2.
    let (modified, _) = run("falling_mass", 1.0, &[FALLING[0], FALLING[1], "scheme.restitution=modified"]);
    assert!((2500..=3000).contains(&modified.work.scheme_calls), "{}", modified.work.scheme_calls);
}

#[test]
fn a_mass_that_slides_on_a_table() {
    let (summary, steps) = run("sliding_mass", 4.0, &["scheme.dt_min=1e-6", "scheme.dt_max=0.05"]);
    let slowest =
        steps.iter().filter(|s| s.t < 2.9).min_by(|a, b| a.u[0].hypot(a.u[1]).total_cmp(&b.u[0].hypot(b.u[1])));
    let turn = slowest.unwrap().t;
    let near = steps.iter().filter(|s| (s.t - turn).abs() < 0.1);
    let (shortest, highest) = near.fold((1.0f64, 0), |(dt, p), s| (dt.min(s.dt), p.max(s.order)));
    println!("turn at {turn}: steps down to {shortest:e} s, order up to {highest}");
    // Fig. 11: small steps of high order where the mass turns.
    assert!(shortest < 0.02 && highest == 6, "{shortest} {highest}");
    // One switch, slip to stick, at 3.6657 s (the scene says where it comes from).
    let switches = switches(&summary);
    assert_eq!(switches.len(), 1, "{switches:?}");
    assert!((switches[0].0 - 3.6657).abs() <= 5e-5 && switches[0].1.ends_with("slip to stick"), "{switches:?}");
    // The break at 3 s ends a step.
    assert!(steps.iter().any(|s| s.t == 3.0));
}

fn switches(summary: &Summary) -> Vec<(f64, String)> {
    let switches = summary.events.iter().filter(|e| e.kind == EventKind::Switch);
    let text = |e: &nonsmooth::simulation::Event| {
        let c = e.change.unwrap();
        format!("{} {} {} to {}", c.law, e.contact.as_deref().unwrap_or(""), c.from, c.to)
    };
    switches.map(|e| (e.t, text(e))).collect()
}

#[test]
fn the_woodpecker_switches_as_in_table_7() {
    let set = ["scheme.dt_min=1e-7", "scheme.dt_max=5e-3", "scheme.atol=1e-6"];
    let (summary, _) = run("woodpecker", 0.15, &set);
    let found = switches(&summary);
    for (t, what) in &found {
        println!("{t:.7} {what}");
    }
    // Contact 1 is the beak, 2 the lower and 3 the upper edge of the sleeve.
    let expected = [
        "friction lower slip to stick",
        "friction lower stick to slip",
        "normal lower closed to open",
        "normal upper open to closed",
        "normal upper closed to open",
        "normal beak open to closed",
        "normal beak closed to open",
        "normal upper open to closed",
        "normal upper closed to open",
        "normal lower open to closed",
        "normal lower closed to open",
        "normal lower open to closed",
    ];
    assert_eq!(found.iter().map(|(_, what)| what.as_str()).collect::<Vec<_>>(), expected);
    let (every, _) = run("woodpecker", 0.15, &[set[0], set[1], set[2], "scheme.extrapolation=every"]);
    println!("base calls: {}, with every power {}", summary.work.scheme_calls, every.work.scheme_calls);
    assert!(summary.work.scheme_calls < every.work.scheme_calls && every.work.scheme_calls <= 9000);
}
