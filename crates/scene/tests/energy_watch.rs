//! The watch over the energy that numerics add: no false alarm where a motion begins, an alarm where a scheme is unstable, a word where it gains.

use crate::watched::{prepare, watch};
use nonsmooth::simulation::{Status, Summary};

fn run(scene: &str, scheme: &str, step: f64, end: f64, set: &[&str]) -> Summary {
    watch(&prepare(scene, scheme, step, end, set)).0
}

fn told(summary: &Summary) -> bool {
    summary.warnings.iter().any(|w| w.contains("numerical errors have"))
}

/// A block that a growing force pulls loose after 1.962 s, at rest and without energy until then.
const PULLED: &str = r#"
[model]
coordinates = ["x", "y"]
mass = [2, 2]
potential = "2*9.81*y"
force = ["3*t", 0]
[[contact]]
name = "floor"
gap = "y"
slip = "x'"
friction = 0.3
[time]
step = 0.01
end = 4
[scheme]
name = "moreau-jean"
"#;

/// The same force on a plank on two supports with friction of different size: how they share the load is not unique.
const PLANK: &str = r#"
[model]
coordinates = ["x", "y", "p"]
mass = [2, 2, 0.7]
potential = "2*9.81*y"
force = ["3*t", 0, 0]
[[contact]]
name = "left"
gap = "y - 0.8*sin(p)"
slip = "x'"
friction = 0.5
[[contact]]
name = "right"
gap = "y + 0.8*sin(p)"
slip = "x'"
friction = 0.1
[time]
step = 0.01
end = 4
[scheme]
name = "moreau-jean"
"#;

const SCHEMES: [&str; 8] = [
    "moreau-jean",
    "moreau-midpoint",
    "projected-direct",
    "projected-combined",
    "rattle",
    "tdg-minus",
    "tdg-plus",
    "trapezoidal-lcp",
];

#[test]
fn a_slip_that_begins_is_no_instability() {
    // x'' = (3 t − μ m g)/m from t₀ = μ m g/3 on.
    let t0 = 0.3 * 2.0 * 9.81 / 3.0;
    let exact = 3.0 / 12.0 * (4.0f64 - t0).powi(3);
    for scene in [PULLED, PLANK] {
        for scheme in SCHEMES {
            let degrees: &[&str] = if scheme.starts_with("tdg") { &["1", "2", "3"] } else { &[""] };
            for degree in degrees {
                let set = format!("scheme.degree={degree}");
                let set: &[&str] = if degree.is_empty() { &[] } else { &[&set] };
                for h in [0.05, 0.013, 0.003] {
                    let summary = run(scene, scheme, h, 4.0, set);
                    let stop = summary.stop.as_ref().map(ToString::to_string);
                    assert_eq!(summary.status, Status::Done, "{scheme} {degree} {h}: {stop:?}");
                    assert!(!told(&summary), "{scheme} {degree} {h}: {:?}", summary.warnings);
                    // Order 1 at worst: the onset may come up to a step late.
                    let off = (summary.end.q[0] - exact).abs();
                    assert!(off <= 2.0 * h * exact, "{scheme} {degree} {h}: {off:e} of {exact}");
                }
            }
        }
    }
}

/// An oscillator beyond the limit of `tdg-minus`, beside a mass that is dragged with friction and a mass that falls: both have energy of their own.
const BESIDE: &str = r#"
[model]
coordinates = ["q", "x", "y"]
mass = [1, 1, 1]
potential = "0.5*q^2 + 9.81*y"
force = ["-c*q'", "f", 0]
[parameters]
c = 0
f = 19.62
[[contact]]
name = "floor"
gap = "y"
slip = "x'"
friction = 2
[initial]
q = [1e-3, 0, 0]
u = [0, 5, 0]
[time]
step = 1
end = 10
[scheme]
name = "moreau-jean"
"#;

#[test]
fn an_unstable_scheme_stops_whatever_passes_beside() {
    for m in [1, 2, 3] {
        // Further beyond, degree 3 is stable again. Growth by a few per cent per step needs time to outgrow 460 J that friction takes in each.
        let limit = [2.0, 2.82, 2.35][m - 1];
        for damping in ["0", "0.001"] {
            let set = [&format!("scheme.degree={m}")[..], &format!("parameters.c={damping}")];
            let summary = run(BESIDE, "tdg-minus", 1.06 * limit, 3000.0 * limit, &set);
            let stop = summary.stop.as_ref().map(ToString::to_string).unwrap_or_default();
            println!("degree {m}, c = {damping}: {stop}");
            assert!(summary.status == Status::Stopped && stop.contains("unstable"), "{m} {damping}: {stop}");
            let summary = run(BESIDE, "tdg-minus", 0.8 * limit, 3000.0 * limit, &set);
            assert!(summary.status == Status::Done && !told(&summary), "{m} {damping}: {:?}", summary.warnings);
        }
    }
}

/// Options with which a scheme is as its paper prints it: rattle then takes γ⁻ from the start of the step.
fn printed(scheme: &str) -> &'static [&'static str] {
    if scheme == "rattle" { &["scheme.approach=start"] } else { &[] }
}

/// A rod with round ends that falls on its end while it turns fast, without friction: γ⁻ and γ⁺ of a step have different directions.
const ROD: &str = r#"
[model]
coordinates = ["x", "y", "p"]
mass = [1, 1, 0.05]
[parameters]
e = 1
[[contact]]
name = "end"
gap = "y - 0.5*sin(p) - 0.1"
restitution = "e"
[initial]
q = [0, 0.45, 0.2]
u = [0, -1, 20]
[time]
step = 5e-3
end = 0.3
[scheme]
name = "moreau-jean"
"#;

#[test]
fn energy_that_elastic_hits_make_or_lose_is_told() {
    // Rattle as printed takes γ⁻ + γ⁺ = 0 with two directions: the gain is O(dt).
    let gain = |summary: &Summary| summary.energy.last / summary.energy.initial - 1.0;
    let mut seen = [false, false];
    for scheme in ["rattle", "moreau-jean", "tdg-minus", "trapezoidal-lcp"] {
        for h in [1e-2, 5e-3, 1e-3, 1e-4] {
            let summary = run(ROD, scheme, h, 0.3, printed(scheme));
            let gain = gain(&summary);
            println!("{scheme}, h = {h}: {:+.2} % {:?}", 100.0 * gain, summary.warnings);
            // Nothing takes energy here. What is told begins at a twentieth of the energy of the motion.
            assert_eq!(told(&summary), gain.abs() > 0.05, "{scheme} {h}: {gain}");
            seen[usize::from(told(&summary))] = true;
        }
    }
    assert!(seen[0] && seen[1]);
}

/// A ball that bounces without loss: rattle as printed loses O(dt) at every hit, or gains it.
const BALL: &str = r#"
[model]
coordinates = ["y"]
mass = 3
potential = "3*9.81*y"
[[contact]]
name = "floor"
gap = "y"
restitution = 1
[initial]
q = [0.4]
[time]
step = 1e-2
end = 8
[scheme]
name = "moreau-jean"
"#;

#[test]
fn energy_that_a_bouncing_ball_loses_is_told() {
    let mut most = 0.0f64;
    for scheme in ["rattle", "tdg-minus", "trapezoidal-lcp"] {
        for h in [2.3e-2, 1e-2, 1e-3] {
            let summary = run(BALL, scheme, h, 8.0, printed(scheme));
            let change = summary.energy.last / summary.energy.initial - 1.0;
            println!("{scheme}, h = {h}: {:+.2} % {:?}", 100.0 * change, summary.warnings);
            assert_eq!(told(&summary), change.abs() > 0.05, "{scheme} {h}: {change}");
            most = most.max(change.abs());
        }
    }
    assert!(most > 0.05);
}
