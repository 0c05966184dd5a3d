//! The two forms of the equations, the two metrics, and the order of τ.

use super::{COMBINED, DIRECT, run, scene};
use nonsmooth::measure;

/// Scenes with K ≠ 0: springs, a bar, gravity on angles.
const SCENES: [(&str, f64, f64); 4] = [
    ("linear_oscillator", 1e-2, 5.0),
    ("woodpecker", 1e-4, 0.2),
    ("slider_crank", 1e-4, 0.02),
    ("double_pendulum_wall", 1e-3, 1.0),
];

/// Coupled and decoupled are two ways to solve the same equations (the paper's, which stop earlier, differ by O(h²)). They agree until an impact falls
/// into another step by the last bits: within that, to the tolerances of Newton's method and of the projection.
#[test]
fn coupled_and_decoupled_lead_to_the_same_positions() {
    for (name, h, end) in SCENES {
        for scheme in [DIRECT, COMBINED] {
            let tight = "scheme.violation_tol=1e-13";
            let (_, a) = run(&scene(name, scheme, Some(h), Some(end), &[tight]));
            let (s, b) = run(&scene(name, scheme, Some(h), Some(end), &[tight, "scheme.coupling=coupled"]));
            let off = a.iter().zip(&b).flat_map(|(a, b)| a.q.iter().zip(&b.q).map(|(a, b)| (a - b).abs()));
            let off = off.fold(0.0, f64::max);
            println!("{name}, {scheme}, h = {h:.0e}: |dq| = {off:.1e}, h² = {:.0e}", h * h);
            assert!(off <= h * h, "{name}, {scheme}: {off:e}");
            assert_eq!(s.work.retries, 0, "{name}, {scheme}: solved by the form that was asked for");
        }
    }
}

/// (59): whatever the metric, the constraints hold; which way the position goes there is another.
#[test]
fn both_metrics_hold_the_constraints() {
    for (name, h, end) in SCENES {
        for scheme in [DIRECT, COMBINED] {
            let mut ends = Vec::new();
            for metric in ["identity", "mass"] {
                for coupling in ["coupled", "decoupled"] {
                    let set = [format!("scheme.metric={metric}"), format!("scheme.coupling={coupling}")];
                    let (s, points) =
                        run(&scene(name, scheme, Some(h), Some(end), &set.each_ref().map(String::as_str)));
                    let w = &s.worst;
                    assert!(w.penetration <= 1e-10 && w.joint_violation <= 1e-10, "{name} {set:?}: {w:?}");
                    assert!(w.residual() <= 1e-8, "{name} {set:?}: {w:?}");
                    assert!(s.energy.closure <= 1e-11, "{name} {set:?}: {:e}", s.energy.closure);
                    ends.push(points.last().unwrap().q.clone());
                }
            }
            println!("{name}, {scheme}: {ends:?}");
        }
    }
}

/// Fig. 3, Proposition 1: τ = O(h).
#[test]
fn multipliers_are_of_the_order_of_the_step() {
    for name in ["bouncing_ball", "linear_oscillator"] {
        for scheme in [DIRECT, COMBINED] {
            // The multiplier of one impact depends on where in its step it falls: many steps, and their largest.
            let steps: Vec<f64> = (0..24).map(|k| 0.01 * std::f64::consts::SQRT_2 * 0.785f64.powi(k)).collect();
            let tau: Vec<f64> = steps
                .iter()
                .map(|&h| {
                    run(&scene(name, scheme, Some(h), None, &[])).1.iter().fold(0.0, |m: f64, p| m.max(p.multiplier))
                })
                .collect();
            let fit = measure::fit_order(&steps, &tau).unwrap();
            println!(
                "{name}, {scheme}: tau ~ h^{:.2} (± {:.2}), {:.1e} at h = {:.1e}",
                fit.order,
                fit.uncertainty.unwrap(),
                tau[23],
                steps[23]
            );
            // Uncertainty of a slope over two decades of a quantity that scatters by a factor of two.
            assert!((fit.order - 1.0).abs() <= 0.25, "{name}, {scheme}: {}", fit.order);
        }
    }
}
