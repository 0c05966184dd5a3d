//! A sliding block on two corners: distance, normal forces and order.

use super::{G, SCHEMES, contact, run, take};
use nonsmooth::SimulationOptions;
use nonsmooth::simulation::EventKind;
use nonsmooth_reference::Block;

#[test]
fn a_launched_block_slides_its_closed_form_distance_on_both_corners() {
    // Stops after T = v/(μg) at v²/(2μg). With N + 1/2 steps until T, the mean velocity of the last sliding step takes
    // it too far by μg h²/8 and nothing else is approximate: the error is that, and the order is two.
    let (v, mu) = (6.0, 0.5);
    let block = Block { mu: Some(mu), ..Block::default() };
    let (a, b, weight) = (block.a, block.b, block.mass * block.g);
    assert!(a / b >= mu, "a higher block would tip");
    let system = take(block);
    let (stop, distance) = (v / (mu * G), v * v / (2.0 * mu * G));
    for name in SCHEMES {
        let mut errors = Vec::new();
        for n in [50.0, 100.0, 200.0] {
            let h = stop / (n + 0.5);
            let q = [0.0, b, 0.0];
            let (summary, records) = run(&system, name, &q, &[v, 0.0, 0.0], SimulationOptions::new(h, 2.0 * stop));
            let mut sliding = 0;
            for r in &records[1..] {
                let (left, right) = (contact(r, 0), contact(r, 1));
                assert!(left[0] > 0.0 && right[0] > 0.0, "{name}: a corner lifts off at t = {}", r.t);
                // Rotation and lift at rounding size: 1e-16 m/s over 2.4 s, and four decades of room.
                assert!(r.q[2].abs() <= 1e-12 && (r.q[1] - b).abs() <= 1e-12, "{name}: {:?} at t = {}", r.q, r.t);
                if r.t < stop {
                    sliding += 1;
                    // Moment balance: N_right − N_left = μ m g b/a. Solved to 1e-10.
                    let p = weight * h;
                    for (c, sign) in [(left, -1.0), (right, 1.0)] {
                        let normal = 0.5 * p * (1.0 + sign * mu * b / a);
                        assert!((c[0] - normal).abs() <= 1e-9 * p, "{name}: {c:?} {normal}");
                        assert!((c[1] + mu * normal).abs() <= 1e-9 * p, "{name}: {c:?}");
                    }
                }
            }
            assert_eq!(sliding, n as usize);
            let end = records.last().expect("records");
            assert_eq!(
                summary.events.iter().filter(|e| e.kind == EventKind::Stick).count(),
                2,
                "{name}: both corners stick"
            );
            let error = end.q[0] - distance;
            println!("{name}, h = {h:.5}: {:.9} m of {distance:.9} m, error {error:.3e}", end.q[0]);
            // 2n steps solved to 1e-10 of g h each: 1e-9 m at most.
            assert!((error - mu * G * h * h / 8.0).abs() <= 1e-9, "{name}: {error:e}");
            errors.push((h, error));
        }
        for w in errors.windows(2) {
            let order = (w[0].1 / w[1].1).ln() / (w[0].0 / w[1].0).ln();
            println!("{name}: order {order:.4}");
            // The error has one term only; what is left is the 1e-9 m above against 1.5e-5 m.
            assert!((order - 2.0).abs() < 1e-3, "{name}: order {order}");
        }
    }
}
