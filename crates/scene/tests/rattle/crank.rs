//! §5.2: the slider-crank mechanism with play.

use super::{largest, order, run, scene};

#[test]
fn the_slider_crank_keeps_its_joints_and_gains_no_energy() {
    let mut excess = Vec::new();
    println!("slider-crank: joints, their velocities, penetration; energy above its start (J);");
    println!("  largest work of a step of friction, impacts; gained in all at reversals, pressed back (J)");
    // The bound at 1e-3, and as the square of the step.
    for (step, bound) in [(1e-3, 0.2), (5e-4, 0.05), (2e-4, 8e-3), (1e-4, 2e-3)] {
        let (summary, watch) = run(&scene("slider_crank_joints", step, 0.1, &[]));
        let above = largest(watch.energy.iter().copied(), 0.0) - summary.energy.initial;
        let (impacts, friction) = (watch.impacts, watch.slipping);
        let (joints, velocities) = (summary.worst.joint_violation, watch.joint_velocity);
        let gap = summary.worst.penetration;
        println!(
            "  {step:5e}  {joints:.1e}  {velocities:.1e}  {gap:.1e}   {above:.2e}   {friction:.1e}  {impacts:.1e}   {:.1e}  {:.1e}",
            watch.reversed, watch.pressed
        );
        assert!(joints <= 1e-8 && velocities <= 1e-8, "step {step}: {joints:e}, {velocities:e}");
        assert!(gap <= 1e-12, "step {step}: penetration {gap:e}");
        assert!(above <= bound, "step {step}: energy {above} J above its start");
        // Rounding of a ledger of 1 J. Where slip reverses within a step, friction opposes the slip of its end while the mean of the step still
        // has the old direction; where a contact that opens is pressed back, (32) has it approach: both O(dt²), and never a line as a whole.
        assert!(friction <= 1e-14 && impacts <= 1e-14, "step {step}: friction {friction:e}, impacts {impacts:e} J");
        for list in [&watch.friction, &watch.normal] {
            let mut sum = 0.0;
            let line = list.iter().map(|w| {
                sum += w;
                sum
            });
            let worst = largest(line, f64::NEG_INFINITY);
            assert!(worst <= 1e-14, "step {step}: a line of the ledger is at {worst:e} J");
        }
        excess.push((step, above));
    }
    let order = order(&excess);
    println!("  the excess falls as step^{order:.2}");
    // A maximum over other impacts at every step: not as smooth as an error.
    assert!((order - 2.0).abs() <= 0.2, "{order}");
}
