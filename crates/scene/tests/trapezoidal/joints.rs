//! Joints: drift, projection, and the order with and without it.

use super::{distance, end, run, scientific};
use nonsmooth::measure::fit_order;

const PENDULUM: &str = "double_pendulum_wall";

#[test]
fn projected_joints_stay_for_a_hundred_seconds() {
    let (summary, _) = run(PENDULUM, 0.5f64.powi(8), 100.0, &["scheme.stabilise=projection"]);
    let (drifting, _) = run(PENDULUM, 0.5f64.powi(8), 100.0, &["scheme.stabilise=none"]);
    println!(
        "joints after 100 s: {:.1e} m projected, {:.1e} m without",
        summary.worst.joint_violation, drifting.worst.joint_violation
    );
    assert!(summary.worst.joint_violation <= 1e-8, "{:e}", summary.worst.joint_violation);
    assert!(drifting.worst.joint_violation > 1e-6);
}

#[test]
fn the_order_is_two_with_projection_and_without() {
    let steps: Vec<f64> = (5..=11).map(|p| 0.5f64.powi(p)).collect();
    for stabilise in ["scheme.stabilise=none", "scheme.stabilise=projection"] {
        let [fine, coarse] = [15, 14].map(|p| end(PENDULUM, 0.5f64.powi(p), 2.5, &[stabilise]));
        let exact: Vec<f64> = fine.iter().zip(&coarse).map(|(a, b)| a + (a - b) / 3.0).collect();
        let errors: Vec<f64> = steps.iter().map(|&h| distance(&end(PENDULUM, h, 2.5, &[stabilise]), &exact)).collect();
        let fit = fit_order(&steps, &errors).unwrap();
        let errors_text = scientific(&errors);
        println!("{stabilise}: {errors_text}, order {:.3} (+-{:.3})", fit.order, fit.uncertainty.unwrap());
        // The projected errors scatter with the place of the impacts in their steps, by a factor of about 1.5: 0.2 in the slope over six halvings.
        assert!((fit.order - 2.0).abs() <= 0.25, "{}", fit.order);
    }
}
