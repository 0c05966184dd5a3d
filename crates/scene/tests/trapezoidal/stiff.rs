//! Stiff springs and dampers between points that turn, and Coriolis forces: the Jacobians of (10.13), (10.14).

use super::{prepare, ratios, run, scientific, watch};
use nonsmooth::simulation::Status;

const DUMBBELL: &str = r#"
[world]
gravity = [0, 0]
[[body]]
name = "a"
shape.disc.radius = 0.1
mass = 1
inertia = 5e-3
position = [-0.5, 0]
velocity = [0, -1]
[[body]]
name = "b"
shape.disc.radius = 0.1
mass = 1
inertia = 5e-3
position = [0.5, 0]
velocity = [0, 1]
[[spring]]
name = "s"
bodies = ["a", "b"]
stiffness = 1e6
rest = 1
damping = 1e4
[time]
step = 1e-2
end = 1
[scheme]
name = "moreau-jean"
"#;

/// Angle by which the dumbbell turned.
fn turned(q: &[f64]) -> f64 {
    (q[4] - q[1]).atan2(q[3] - q[0])
}

#[test]
fn a_stiff_dumbbell_turns_by_two_radians_in_a_second() {
    for (k, c) in [(1e4, 0.0), (1e4, 1e2), (1e6, 0.0), (1e6, 1e4), (1e8, 0.0), (1e8, 1e4), (1e8, 1e6)] {
        let set = [format!("spring.s.stiffness={k}"), format!("spring.s.damping={c}")];
        let set: Vec<&str> = set.iter().map(String::as_str).collect();
        for h in [1e-2, 1e-3, 1e-4] {
            let (summary, _) = run(DUMBBELL, h, 1.0, &set);
            let off = turned(&summary.end.q) - 2.0;
            println!(
                "dumbbell k = {k:.0e}, c = {c:.0e}, h = {h}: off by {off:.1e} rad, energy {:.9} J at most",
                summary.energy.max
            );
            // The spring's own stretch under the turning is 2 m v²/(k ℓ) of ℓ, 2e-4 with k = 1e4, and slows it by four times that.
            assert!(off.abs() <= 1e-3, "k = {k}, c = {c}, h = {h}: {off}");
            // Kinetic energy of 1 J; with k = 1e4, h = 0.01 s it swings by what the spring takes in a step.
            assert!(summary.energy.max <= 1.0 + 1e-4, "{}", summary.energy.max);
        }
    }
}

#[test]
fn the_jacobian_of_the_paper_bounds_the_dumbbell_at_first_order() {
    // Its direction is that of the start of the step: at k = 1e6 and h = 0.01 s the ledger's watch stops the run.
    let errors = [1e-2, 1e-3].map(|h| {
        let set = ["spring.s.stiffness=1e4", "spring.s.damping=1e2", "scheme.jacobian=paper"];
        (turned(&run(DUMBBELL, h, 1.0, &set).0.end.q) - 2.0).abs()
    });
    println!("dumbbell by (10.13) as printed: {}", scientific(&errors));
    assert!(errors[0] <= 0.03 && errors[1] <= 0.003, "{errors:?}");
    let (summary, _) = watch(&prepare(DUMBBELL, "trapezoidal-lcp", 1e-2, 1.0, &["scheme.jacobian=paper"]));
    assert!(summary.status == Status::Done || summary.stop.is_some());
    let off = (turned(&run(DUMBBELL, 1e-2, 1.0, &["scheme.jacobian=exact"]).0.end.q) - 2.0).abs();
    println!("by the exact one {off:.2} rad");
    assert!(off > 0.3, "the contrast: {off}");
}

const DAMPER: &str = r#"
[model]
coordinates = ["x", "y"]
mass = [1, 1]
[parameters]
d = 1e6
[define]
r = "sqrt(x^2+y^2)"
rd = "(x*x'+y*y')/r"
[[force]]
name = "damper"
value = ["-d*rd*x/r", "-d*rd*y/r"]
[initial]
q = [1, 0]
u = [0, 1]
[time]
step = 1e-2
end = 2
[scheme]
name = "moreau-jean"
"#;

#[test]
fn a_damper_never_gives_energy() {
    for d in [1.0f64, 1e2, 1e4, 1e6, 1e8] {
        let set = format!("parameters.d={d}");
        let [coarse, fine] = [1e-2, 1e-3].map(|h| {
            let (summary, points) = watch(&prepare(DAMPER, "trapezoidal-lcp", h, 2.0, &[&set]));
            assert_eq!(summary.status, Status::Done, "{:?}", summary.stop);
            // Forces of rounding errors that are d times larger.
            assert!(summary.energy.closure <= 1e-16 * d.max(1e4), "closure {:e}", summary.energy.closure);
            let mut before = summary.energy.initial;
            for p in &points {
                // Rounding of 0.5 J.
                assert!(p.energy <= before + 1e-15, "d = {d}, h = {h}: {} after {before}", p.energy);
                before = p.energy;
            }
            summary.end.q
        });
        let off = super::distance(&coarse, &fine);
        println!("damper d = {d:.0e}: energy never grows; h = 1e-2 and 1e-3 differ by {off:.1e} m");
        assert!(off <= 2e-3, "d = {d}: {coarse:?} {fine:?}");
        if d >= 1e6 {
            // On a circle, at unit speed.
            assert!(super::distance(&fine, &[2f64.cos(), 2f64.sin()]) <= 1e-4, "{fine:?}");
        }
    }
}

/// A point on a stiff spring about the origin, by the deflection of the spring.
#[test]
fn a_spring_by_its_deflection_is_known_as_one() {
    let scene = DAMPER.replace(
        "name = \"damper\"\nvalue = [\"-d*rd*x/r\", \"-d*rd*y/r\"]",
        "name = \"spring\"\ndeflection = \"r - 1\"\nstiffness = \"d\"\ndamping = 1e3",
    );
    assert!(scene.contains("deflection"));
    for k in [1e6, 1e8] {
        let (summary, _) = run(&scene, 1e-2, 2.0, &[&format!("parameters.d={k}")]);
        let off = super::distance(&summary.end.q, &[2f64.cos(), 2f64.sin()]);
        println!("point on a spring, k = {k:.0e}: off by {off:.1e} m, energy {:.9} J at most", summary.energy.max);
        // The angle of a chord of 0.01: h²/12 relative, 2 rad.
        assert!(off <= 1e-4, "{off:e}");
        assert!(summary.energy.max <= 0.5 + 1e-6, "{}", summary.energy.max);
    }
    // By its potential nothing is known of it.
    let blind =
        scene.replace("deflection = \"r - 1\"\nstiffness = \"d\"\ndamping = 1e3", "potential = \"0.5*d*(r-1)^2\"");
    let (summary, _) = watch(&prepare(&blind, "trapezoidal-lcp", 1e-2, 2.0, &["parameters.d=1e8"]));
    let off = super::distance(&summary.end.q, &[2f64.cos(), 2f64.sin()]);
    assert!(off > 1e-2 || summary.status != Status::Done, "{off:e}");
    for (wrong, part) in
        [("damping = 1e3", "damping = -1"), ("deflection = \"r - 1\"\n", ""), ("stiffness = \"d\"\ndamping = 1e3", "")]
    {
        let set = crate::watched::try_prepare(&scene.replace(wrong, part), "trapezoidal-lcp", None, 2.0, &[]);
        assert!(set.is_err_and(|e| e.contains("`spring`")), "{wrong}");
    }
}

const TOP: &str = r#"
[model]
coordinates = ["a", "b", "c"]
mass = [1, 2, 3]
[[force]]
name = "euler"
value = ["-b'*c'", "2*c'*a'", "-a'*b'"]
[initial]
u = [0.1, 5, 0.1]
[time]
step = 1e-2
end = 20
[scheme]
name = "moreau-jean"
"#;

#[test]
fn coriolis_forces_do_no_work_and_the_order_is_two() {
    for jacobian in ["scheme.jacobian=auto", "scheme.jacobian=paper"] {
        for h in [0.1, 0.01] {
            let (summary, points) = run(TOP, h, 20.0, &[jacobian]);
            let off = points.iter().map(|p| (p.energy / summary.energy.initial - 1.0).abs()).fold(0.0, f64::max);
            println!("top, {jacobian}, h = {h}: E/E0 - 1 within {off:.1e}");
            assert!(off <= 1e-12, "{jacobian}, h = {h}: {off:e}");
        }
    }
    let ends = [0.02, 0.01, 0.005, 0.0025, 0.00125].map(|h| run(TOP, h, 2.0, &[]).0.end.u);
    let differences: Vec<f64> = ends.windows(2).map(|e| super::distance(&e[0], &e[1])).collect();
    println!("top: differences {}, ratios {:.2?}", scientific(&differences), ratios(&differences));
    assert!(ratios(&differences).iter().all(|r| (3.7..=4.3).contains(r)), "{differences:?}");
}
