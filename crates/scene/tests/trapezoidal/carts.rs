//! Two carts: stiff dampers and springs are bounded (Figs. 6, 7), not damped.

use super::run;

const STEP: f64 = 0.01;

#[test]
fn stiff_dampers_keep_the_carts_together_and_the_energy_below_its_start() {
    for delta in ["1e2", "1e3", "1e6"] {
        let set = format!("parameters.delta={delta}");
        for jacobian in ["exact", "spd"] {
            let (summary, points) = run("two_carts", STEP, 4.0, &[&set, &format!("scheme.jacobian={jacobian}")]);
            let apart = points.iter().map(|p| (p.q[1] - p.q[0] - 5.0).abs()).fold(0.0, f64::max);
            println!(
                "delta = {delta}, {jacobian}: x2 - x1 off by {apart:.2e} m, energy {:.6} J at most",
                summary.energy.max
            );
            // Located to rounding.
            assert!(summary.worst.penetration <= 1e-12, "{delta}: {:e} m", summary.worst.penetration);
            // Rounding of an energy of 4.5 J.
            assert!(summary.energy.max <= summary.energy.initial + 1e-14, "{delta}: {}", summary.energy.max);
            if delta == "1e6" {
                assert!(apart <= 1e-5, "{apart:e}");
            }
        }
    }
}

#[test]
fn stiff_springs_keep_the_energy_below_its_start() {
    for gamma in ["1e2", "1e4", "1e6"] {
        let set = [
            &format!("parameters.gamma={gamma}")[..],
            "parameters.delta=10",
            "initial.q=[0.2,5.2]",
            "initial.u=[-3,-3]",
        ];
        let (summary, points) = run("two_carts", STEP, 2.0, &set);
        let last = points.iter().rev().take(50).map(|p| p.u[0].abs()).fold(0.0, f64::max);
        println!(
            "gamma = {gamma}: energy {:.6} J at most, {:.2e} J at the end, |x1'| <= {last:.2e} m/s at last",
            summary.energy.max, summary.energy.last
        );
        assert!(summary.energy.max <= summary.energy.initial + 1e-13, "{gamma}: {}", summary.energy.max);
        assert!(summary.worst.penetration <= 1e-12, "{gamma}: {:e} m", summary.worst.penetration);
    }
}

/// What the stopper gives to two carts that are as good as one, beside another scheme with a fine step.
#[test]
fn the_stopper_gives_what_it_gives_with_a_fine_step() {
    let set = ["parameters.delta=1e6"];
    let normal = |s: &nonsmooth::Summary| s.percussions["stopper"][0];
    let (fine, _) = super::run_by("two_carts", "moreau-jean", 1e-6, 0.2, &set);
    // Carts that are as good as one lose all their momentum in impacts that follow each other: 2 m v. If the relative velocity were not damped at all they would bounce as
    // one body, (1 + e) 2 m v, 30 % more. A third of that tells the two apart with steps that are 1e4 times longer than the damping takes; with steps of ten times that
    // only the first of the impacts, 65 % of the impulse, still has an error of the order of a step times the velocity's change, 1 %.
    for (h, within) in [(1e-2, 0.1), (1e-3, 0.1), (1e-5, 0.01)] {
        let (summary, _) = run("two_carts", h, 0.2, &set);
        println!("stopper, h = {h}: {:.5} N s, moreau-jean at 1e-6 s {:.5}", normal(&summary), normal(&fine));
        assert!((normal(&summary) / normal(&fine) - 1.0).abs() <= within);
    }
}

/// The growth factor of an undamped stiff spring has modulus 1: what is in it stays.
#[test]
fn an_undamped_stiff_spring_keeps_its_energy_for_any_step() {
    let scene = "[model]\ncoordinates = [\"x\"]\nmass = [1]\n[[force]]\nname = \"spring\"\npotential = \"0.5*c*x^2\"\n[parameters]\nc = 1e8\n[initial]\nq = [1e-3]\n[time]\nstep = 0.01\nend = 1\n[scheme]\nname = \"moreau-jean\"\n";
    let (summary, points) = run(scene, STEP, 1.0, &[]);
    let off = points.iter().map(|p| (p.energy / summary.energy.initial - 1.0).abs()).fold(0.0, f64::max);
    println!("omega h = 100: energy within {off:.1e} of its start");
    // 100 steps, each with the rounding of a matrix of condition 2500.
    assert!(off <= 1e-9, "{off:e}");
}
