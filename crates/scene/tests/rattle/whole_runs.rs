//! §5.1 and §5.4: what the ball and the tippedisk do.

use super::{largest, run, scene};

#[test]
fn the_ball_passes_its_accumulation_of_impacts_and_rests() {
    for (approach, most) in [("scheme.approach=start", 1e-4), ("scheme.approach=arrival", 0.5 * 9.81e-2)] {
        let (summary, watch) =
            run(&scene("rotating_ball", 1e-2, 1.5, &["parameters.omega=0", "parameters.e_N=0.5", approach]));
        // t_end = t_1 (1 + 2e/(1 − e)) = 3 t_1, with t_1 = √(2·0.9/9.81); the impacts of the last steps before it are in one step each.
        let end = 3.0 * (1.8f64 / 9.81).sqrt();
        let rest: Vec<_> = watch.records().iter().filter(|r| r.t > end + 3e-2).collect();
        assert!(rest.len() > 15);
        // At rest to rounding: the gap of a centre at 0.1 m.
        assert!(rest.iter().all(|r| (r.q[1] - 0.1).abs() <= 1e-15), "{:?}", rest[0]);
        // As printed it begins a thousandth below what the weight gives in a step; with the velocity of the arrival below that, when the first flight is within a step. What is left of the velocity is halved in every step, as (32) has it, by a percussion of 1 + 1/2 times it.
        let speeds: Vec<f64> = rest.iter().map(|r| r.u[1].abs()).collect();
        assert!(speeds[0] <= most && speeds.windows(2).all(|s| s[1] <= 0.5 * s[0] + 1e-17), "{speeds:?}");
        let weight = rest[rest.len() - 1].step.as_ref().unwrap().percussions.values()[0];
        assert!((weight - 9.81e-2).abs() <= 3.001 * speeds[speeds.len() - 1] + 1e-15, "{weight} N s");
        // Rounding of a fall of 1 m.
        assert!(summary.worst.penetration <= 1e-14, "{:e}", summary.worst.penetration);
        println!(
            "ball 1: rests from t = {:.2} (impacts end at {end:.4}), penetration {:.1e}",
            rest[0].t, summary.worst.penetration
        );
    }
}

/// γ_F, P_N and P_F of every step.
fn slip(omega: &str) -> Vec<(f64, f64, f64, f64)> {
    let (_, watch) = run(&scene("rotating_ball", 1e-2, 1.5, &[&format!("parameters.omega={omega}")]));
    let row = |r: &nonsmooth::simulation::Record| {
        let p = r.step.as_ref().unwrap().percussions.values();
        (r.t, r.u[0] + 0.1 * r.u[2], p[0], p[1])
    };
    watch.records().iter().skip(1).map(row).collect()
}

#[test]
fn the_ball_slips_then_rolls_without_friction_or_sticks_at_impact() {
    let landing = (1.8f64 / 9.81).sqrt();
    let steps = slip("50");
    // Zero is the rounding of 150 steps at 1 m/s. Slips with μ P_N until t = 0.7281, the closed form of the scene; rolls from then on and friction is zero.
    let rolls = 0.7281;
    for &(t, gamma, p_n, p_f) in &steps {
        if t > landing + 1e-2 && t < rolls - 1e-2 {
            assert!(gamma > 0.0 && (p_f + 0.2 * p_n).abs() <= 1e-14, "t = {t}: slip {gamma}, friction {p_f}, {p_n}");
        }
        if t > rolls + 2e-2 {
            assert!(gamma.abs() <= 1e-13 && p_f.abs() <= 1e-13, "t = {t}: slip {gamma}, friction {p_f}");
        }
    }
    // Sticks in the step of the impact.
    let steps = slip("10");
    let impact = steps.iter().position(|s| s.2 > 0.0).unwrap();
    assert!((steps[impact].0 - landing).abs() <= 1e-2);
    let &(t, gamma, p_n, p_f) = &steps[impact];
    assert!(gamma.abs() <= 1e-13 && p_f.abs() < 0.2 * p_n, "t = {t}: slip {gamma}, friction {p_f} of {p_n}");
    for &(t, gamma, _, p_f) in &steps[impact + 1..] {
        assert!(gamma.abs() <= 1e-13 && p_f.abs() <= 1e-13, "t = {t}: slip {gamma}, friction {p_f}");
    }
}

#[test]
fn the_tippedisk_inverts_and_its_height_is_right() {
    let heights = |step: f64, end: f64| -> Vec<f64> {
        let (_, watch) = run(&scene("tippedisk", step, end, &[]));
        watch.records().iter().map(|r| r.q[2]).collect()
    };
    let (coarse, fine) = (heights(1e-3, 3.0), heights(1e-4, 2.0));
    let apart = largest(coarse.iter().zip(fine.iter().step_by(10)).map(|(a, b)| (a - b).abs()), 0.0);
    let last = coarse[coarse.len() - 1];
    println!(
        "tippedisk: z from {:.4} to {last:.6} m; {apart:.2e} m from a run with a tenth of the step over 2 s",
        coarse[0]
    );
    // From r − e to r + e = 0.0475 m, about which it still wobbles at t = 3 s.
    assert!((coarse[0] - 0.0425).abs() < 1e-9 && (last - 0.0475).abs() < 1e-4);
    assert!(apart <= 2e-4, "{apart}");
}
