//! Mechanisms with contacts, friction, joints and quaternions.

use super::{SIDES, degree, run};
use nonsmooth::simulation::EventKind;

#[test]
fn the_mechanisms_of_the_examples_run() {
    // The last is the penetration, m: the way of a step at impacts with restitution, rounding without.
    let scenes = [
        ("slider_crank", 1e-5, 0.1376, 2e-5),
        ("woodpecker", 1e-4, 1.0, 1e-4),
        ("rocking_block", 1e-4, 2.0, 3e-4),
        ("slider_crank_joints", 1e-5, 0.1, 2e-5),
        ("tippedisk", 1e-3, 3.0, 1e-12),
        ("pendulum_ring", 1e-3, 5.0, 1e-12),
        ("impacting_bar", 2e-6, 1e-4, 1e-12),
    ];
    for (scene, step, end, deepest) in scenes {
        for scheme in SIDES {
            // Waves cross ten elements of the bar in a step: nothing for an explicit scheme.
            if scene == "impacting_bar" && scheme == SIDES[0] {
                continue;
            }
            for m in [1, 3] {
                let (summary, _) = run(scene, scheme, step, end, &[&degree(m)]);
                let w = &summary.worst;
                println!(
                    "{scene}, {scheme} M = {m}: residual {:.0e}, closure {:.0e}, penetration {:.1e} m, joints {:.1e} m, {} rejected, {} retries",
                    w.residual(),
                    summary.energy.closure,
                    w.penetration,
                    w.joint_violation,
                    summary.work.rejected,
                    summary.work.retries
                );
                assert!(w.penetration <= deepest, "{scene}, {scheme}: {:e} m", w.penetration);
                assert!(
                    summary.work.rejected <= summary.work.steps / 100,
                    "{scene}, {scheme}: {}",
                    summary.work.rejected
                );
            }
        }
    }
}

#[test]
fn joints_drift_little_and_not_at_all_with_projection() {
    for scheme in SIDES {
        for m in [1, 2, 3] {
            let drift = |set: &[&str]| {
                let mut all = vec![degree(m)];
                all.extend(set.iter().map(|s| (*s).to_string()));
                let all: Vec<&str> = all.iter().map(String::as_str).collect();
                run("slider_crank_joints", scheme, 1e-5, 0.1, &all).0.worst.joint_violation
            };
            let (without, with) = (drift(&[]), drift(&["scheme.stabilise=projection"]));
            println!("{scheme}, M = {m}: joints {without:.1e} m without, {with:.1e} m with projection");
            assert!(with <= 1e-10, "{scheme}, M = {m}: {with:e}");
            // What is asked of the projection, the laws of accelerations keep by themselves.
            assert!(without <= 1e-6, "{scheme}, M = {m}: {without:e}");
        }
    }
}

#[test]
fn the_woodpecker_goes_down_as_with_a_fine_step() {
    let (fine, _) = run("woodpecker", "moreau-jean", 2e-6, 0.15, &[]);
    let impacts = |s: &nonsmooth::Summary| -> Vec<(String, f64)> {
        let impacts = s.events.iter().filter(|e| e.kind == EventKind::Impact);
        impacts.map(|e| (e.contact.clone().unwrap(), e.t)).collect()
    };
    for scheme in SIDES {
        let (coarse, _) = run("woodpecker", scheme, 1e-4, 0.15, &[&degree(3)]);
        let (a, b) = (impacts(&fine), impacts(&coarse));
        println!("{scheme}: {b:?} beside {a:?}");
        assert_eq!(a.len(), b.len(), "{scheme}");
        for ((name, t), (found, s)) in a.iter().zip(&b) {
            // Impacts take effect at step ends: each moves the rest by up to a step, of five.
            assert!(name == found && (t - s).abs() <= 5e-4, "{scheme}: {name} at {t}, {found} at {s}");
        }
    }
}
