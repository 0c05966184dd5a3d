//! After an accumulation of impacts with e > 0 a contact does not sink.

use super::{SIDES, degree, prepare, run};
use nonsmooth::simulation::{Recording, Trajectory};

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

#[test]
fn a_block_comes_to_rest_on_its_two_corners() {
    for scheme in SIDES {
        for m in [1, 4] {
            for h in [1e-2, 3e-3] {
                for e in [0.0, 0.2, 0.5, 0.8] {
                    let set = [&degree(m)[..], &format!("parameters.e_N={e}")];
                    let (summary, _) = run("rocking_block", scheme, h, 20.0, &set);
                    let (q, u) = (&summary.end.q, &summary.end.u);
                    let (off, speed) = ((q[1] - 0.75).abs().max(q[2].abs()), u[1].abs().max(u[2].abs()));
                    // Gaps are zero to rounding, whatever the way to rest.
                    assert!(off <= 1e-9 && speed <= 1e-9, "{scheme} {m} {h} {e}: {off:e} m, {speed:e} m/s");
                }
            }
        }
    }
}

#[test]
fn an_elastic_ball_keeps_its_energy() {
    for scheme in SIDES {
        for m in [1, 2, 3] {
            for h in [1.37e-2, 1e-3] {
                let (summary, _) = run("bouncing_ball", scheme, h, 200.0, &[&degree(m), "parameters.e_N=1"]);
                // A constant weight: energy is exact in flight, and γ⁻ is the velocity with which the ball arrives.
                assert!((summary.energy.last - 2.0).abs() <= 1e-9, "{scheme} {m} {h}: {}", summary.energy.last);
            }
        }
    }
}

#[test]
fn inside_the_step_of_an_impact_a_ball_falls() {
    for scheme in SIDES {
        for m in [1, 2, 3] {
            // From 0.91 to 1.04 s; the ball meets the ground at 1 s.
            let scene = prepare("bouncing_ball", scheme, 0.13, 1.04, &[&degree(m)]);
            let times = [0.94, 0.99, 1.03];
            let mut found = Trajectory::new(Recording::At(times.to_vec()));
            scene.simulation().unwrap().run_with(&mut found);
            for (t, record) in times.iter().zip(found.records()) {
                let (q, u) = (record.q[0], record.u[0]);
                let off = (q - (1.0 - t * t)).abs().max((u + 2.0 * t).abs());
                // A parabola, from rounded coefficients.
                assert!(off <= 1e-12, "{scheme} {m}: at {t} {q} m, {u} m/s");
            }
        }
    }
}
