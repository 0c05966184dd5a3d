//! A mass on a table that shakes: it takes off, flies, and lands.

use super::{end, ratios, run, run_by, scientific, times};
use nonsmooth::simulation::EventKind;

const A: f64 = 0.05;
const OMEGA: f64 = 20.0;
const G: f64 = 9.81;
const SCENE: &str = r#"
[model]
coordinates = ["y"]
mass = [2]
[parameters]
A = 0.05
omega = 20
[[force]]
name = "gravity"
potential = "2*9.81*y"
[[contact]]
name = "table"
gap = "y - A*sin(omega*t)"
restitution = 0
[initial]
u = ["A*omega"]
[time]
step = 1e-3
end = 0.32
[scheme]
name = "moreau-jean"
"#;

/// Take-off (table falls faster than the mass), landing, and the position at the end, back on the table.
fn exact(until: f64) -> (f64, f64, f64) {
    let off = (G / (A * OMEGA * OMEGA)).asin() / OMEGA;
    let (y, v) = (A * (OMEGA * off).sin(), A * OMEGA * (OMEGA * off).cos());
    let gap = |t: f64| y + v * (t - off) - 0.5 * G * (t - off) * (t - off) - A * (OMEGA * t).sin();
    let (mut a, mut b) = (off + 0.05, off + 0.3);
    for _ in 0..100 {
        let m = 0.5 * (a + b);
        if gap(m) > 0.0 { a = m } else { b = m }
    }
    (off, a, A * (OMEGA * until).sin())
}

#[test]
fn take_off_and_landing_are_located_and_the_order_is_two() {
    let until = 0.32;
    let (off, lands, y) = exact(until);
    assert!(off < lands && lands < until);
    let (mut errors, mut late) = (Vec::new(), Vec::new());
    for n in [50.0, 100.0, 200.0, 400.0, 800.0] {
        let (summary, _) = run(SCENE, until / n, until, &["scheme.laws=midpoint"]);
        let (open, hit) = (times(&summary, EventKind::Open), times(&summary, EventKind::Impact));
        assert_eq!((open.len(), hit.len()), (1, 1), "{:?}", summary.events);
        // The table's acceleration alone decides when the force is gone.
        assert!((open[0] - off).abs() <= 1e-9, "opens at {} instead of {off}", open[0]);
        late.push((hit[0] - lands).abs());
        errors.push((summary.end.q[0] - y).abs());
    }
    let (errors_text, late_text) = (scientific(&errors), scientific(&late));
    println!(
        "shaken mass: errors {errors_text}, ratios {:.2?}; landing off by {late_text}, ratios {:.2?}",
        ratios(&errors),
        ratios(&late)
    );
    // ±0.4 of 4: orders 1.85 to 2.14.
    assert!(ratios(&errors).iter().chain(&ratios(&late)).all(|r| (3.6..=4.4).contains(r)), "{errors:?} {late:?}");
    // With laws about the ends nothing is left: the table's velocity there is exact.
    for n in [50.0, 100.0, 800.0] {
        let (summary, _) = run(SCENE, until / n, until, &[]);
        let (open, hit) = (times(&summary, EventKind::Open), times(&summary, EventKind::Impact));
        assert!((open[0] - off).abs() <= 1e-12 && (hit[0] - lands).abs() <= 1e-12, "{:?}", summary.events);
    }
    // Without detection the landing alone costs an order. (As printed too: else the closed contact is projected onto the table.)
    let printed = ["scheme.detection=none", "scheme.laws=midpoint"];
    let blind = (end(SCENE, until / 800.0, until, &printed)[0] - y).abs();
    let jean = (run_by(SCENE, "moreau-jean", until / 800.0, until, &[]).0.end.q[0] - y).abs();
    println!("the same with detection = none {blind:.1e}, moreau-jean {jean:.1e}");
    assert!(blind > 10.0 * errors[4] && jean > 10.0 * errors[4]);
}

/// The same on a faster table, over steps of all lengths: wherever in its step the take-off lies.
#[test]
fn take_off_is_found_at_sixty_steps_of_sixty() {
    let scene = SCENE.replace("A = 0.05", "A = 0.02").replace("omega = 20", "omega = 60");
    let off = (G / (0.02 * 3600.0)).asin() / 60.0;
    let mut worst: f64 = 0.0;
    for i in 0..60 {
        let h = 1e-3 * (1.0 + 4.0 * f64::from(i) / 59.0);
        for variant in ["scheme.variant=I", "scheme.variant=II"] {
            let (summary, _) = run(&scene, h, 0.02, &[variant]);
            let open = times(&summary, EventKind::Open);
            assert_eq!(open.len(), 1, "{:?}", summary.events);
            worst = worst.max((open[0] - off).abs());
        }
    }
    println!("take-off within {worst:.1e} s at sixty steps of sixty");
    assert!(worst <= 1e-9, "{worst:e}");
}

/// Infinitely many collisions between walls that close: progress is guaranteed, and the end is rest between them.
#[test]
fn a_ball_between_closing_walls_gets_through_infinitely_many_collisions() {
    let scene = r#"
[model]
coordinates = ["x"]
mass = [1]
breaks = [1]
[parameters]
d = 0.1
[[contact]]
name = "left"
gap = "x + if(t < 1, 1 - t, 0) + d"
restitution = 0.9
[[contact]]
name = "right"
gap = "if(t < 1, 1 - t, 0) + d - x"
restitution = 0.9
[initial]
u = [3]
[time]
step = 1e-2
end = 6
[scheme]
name = "moreau-jean"
"#;
    let (summary, points) = run(scene, 1e-2, 6.0, &[]);
    println!(
        "closing walls: {} impacts, {} steps, x' = {:.2e} at last",
        times(&summary, EventKind::Impact).len(),
        summary.work.steps,
        summary.end.u[0]
    );
    assert!(points.iter().all(|p| p.q[0].abs() <= 0.1 + (1.0 - p.t).max(0.0) + 1e-9));
    let shrink = scene.replace("d = 0.1", "d = 1e-4");
    let (summary, _) = run(&shrink, 1e-2, 2.0, &[]);
    println!("to 0.2 mm: {} steps", summary.work.steps);
    // 200 steps, each with at most 20 events and those in which the shortest step grows from 1e-9 to 1e-2 s.
    assert!(summary.work.steps <= 200 * (20 + 8), "{}", summary.work.steps);
}
