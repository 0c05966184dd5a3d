//! After an accumulation of impacts with e > 0 a contact does not sink.

use super::{SIDES, degree, run};

#[test]
fn a_ball_that_has_bounced_infinitely_often_rests_within_the_drift_of_a_step() {
    for scheme in SIDES {
        for m in [1, 2, 3, 4] {
            for h in [1.43e-3, 1e-3, 7.1e-4] {
                // Ten thousand steps of rest after t = 3 s.
                let (summary, points) = run("bouncing_ball", scheme, h, 3.5 + 1e4 * h, &[&degree(m)]);
                let (q, u) = (summary.end.q[0], summary.end.u[0]);
                let moved = points.iter().filter(|p| p.t > 3.5).map(|p| (p.q[0] - q).abs()).fold(0.0, f64::max);
                println!(
                    "{scheme}, M = {m}, h = {h}: q = {q:.1e} m, moved {moved:.1e} m; drift of a step {:.1e} m",
                    h * h / 3.0
                );
                // A scheme with impulses in every step sinks by h²/3 in each (docs/errata.md).
                assert!(
                    q.abs() <= h * h / 3.0 && moved <= 1e-12 && u.abs() <= 1e-12,
                    "{scheme} {m} {h}: {q:e} {u:e} {moved:e}"
                );
            }
        }
    }
}

#[test]
fn any_restitution_ends_at_rest_at_zero_gap() {
    for scheme in SIDES {
        for e in [0.1, 0.3, 0.8] {
            let h = 1e-3;
            let set = [&degree(2)[..], &format!("parameters.e_N={e}")];
            // The last impact is at 1 + 2 e/(1 − e) s.
            let (summary, points) = run("bouncing_ball", scheme, h, 14.0, &set);
            let q = summary.end.q[0];
            let moved = points.iter().filter(|p| p.t > 10.0).map(|p| (p.q[0] - q).abs()).fold(0.0, f64::max);
            println!("{scheme}, e = {e}: q = {q:.1e} m, moved {moved:.1e} m");
            assert!(q.abs() <= h * h / 3.0 && moved <= 1e-12, "{scheme} {e}: {q:e} {moved:e}");
        }
    }
}

#[test]
fn a_threshold_ends_the_bouncing_earlier() {
    let impacts = |set: &[&str]| {
        let (summary, _) = run("bouncing_ball", "tdg-minus", 1e-3, 4.0, set);
        summary.events.iter().filter(|e| e.kind == nonsmooth::simulation::EventKind::Impact).count()
    };
    // Impacts at 2, 1, 0.5, ... m/s; those at 0.25 m/s and below come to rest.
    assert_eq!(impacts(&["scheme.restitution_threshold=0.3"]), 4);
    assert!(impacts(&[]) > 6);
}
