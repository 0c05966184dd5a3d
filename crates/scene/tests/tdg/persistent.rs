//! Contacts that stay closed on gaps that bend and move, with friction, beside joints: they keep the orders of smooth motion, do not drift, and nothing hits.

use super::{SIDES, degree, run};
use nonsmooth::simulation::{EventKind, Summary};
use nonsmooth_scene::compare::{CompareRequest, ReferenceChoice, SchemeChoice, compare};
use nonsmooth_scene::file::Document;

/// Orders of degrees 1 to 4.
const ORDERS: [f64; 4] = [2.0, 4.0, 4.0, 6.0];

fn impacts(summary: &Summary) -> usize {
    summary.events.iter().filter(|e| e.kind == EventKind::Impact).count()
}

/// A bead in a bowl of 1 m, without friction: a pendulum.
const BEAD: &str = r#"
[model]
coordinates = ["x", "y"]
mass = [1, 1]
potential = "9.81*y"
[[contact]]
name = "bowl"
gap = "1 - sqrt(x^2 + y^2)"
[initial]
q = ["sin(1)", "-cos(1)"]
[time]
step = 1e-2
end = 5
[scheme]
name = "moreau-jean"
"#;

/// The pendulum θ'' = −9.81 sin θ from rest at 1 rad, by the classical Runge-Kutta method: position and velocity of the bead.
fn pendulum(end: f64) -> [f64; 4] {
    let (n, f) = (20_000, |s: [f64; 2]| [s[1], -9.81 * s[0].sin()]);
    let (h, mut s) = (end / f64::from(n), [1.0, 0.0]);
    let add = |s: [f64; 2], k: [f64; 2], h: f64| [s[0] + h * k[0], s[1] + h * k[1]];
    for _ in 0..n {
        let a = f(s);
        let b = f(add(s, a, 0.5 * h));
        let c = f(add(s, b, 0.5 * h));
        let d = f(add(s, c, h));
        for i in 0..2 {
            s[i] += h / 6.0 * (a[i] + 2.0 * b[i] + 2.0 * c[i] + d[i]);
        }
    }
    let (sin, cos) = s[0].sin_cos();
    [sin, -cos, cos * s[1], sin * s[1]]
}

#[test]
fn a_bead_in_a_bowl_swings_as_a_pendulum() {
    let exact = pendulum(5.0);
    // Measured in q at h = 1e-2: 4.0e-4, 2.8e-8, 4.4e-9; in energy 1.6e-3, 3.4e-8, 5.9e-9 J.
    for (m, bound, energy) in [(1, 1e-3, 4e-3), (2, 1e-7, 1e-7), (3, 2e-8, 2e-8)] {
        for scheme in SIDES {
            let error = |step: f64| {
                let (summary, _) = run(BEAD, scheme, step, 5.0, &[&degree(m)]);
                let end = &summary.end;
                let off = end.q.iter().zip(&exact).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                let gain = (summary.energy.last - summary.energy.initial).abs();
                // Gaps are closed to rounding, 1e-13 (1 + |q|).
                assert!(impacts(&summary) == 0 && summary.worst.penetration <= 1e-12, "{scheme} {m}");
                (off, gain)
            };
            let ((coarse, _), (fine, gain)) = (error(2e-2), error(1e-2));
            let order = (coarse / fine).log2();
            println!("{scheme}, M = {m}: {coarse:.1e}, {fine:.1e}, order {order:.2}; energy {gain:.1e} J");
            assert!(fine <= bound && gain <= energy, "{scheme} {m}: {fine:e}, {gain:e}");
            // D⁺ of degree 1 comes from below: 1.84, 1.91 and 1.95 at the next halvings.
            assert!((order - ORDERS[m - 1]).abs() <= 0.3, "{scheme} {m}: {order}");
        }
    }
}

#[test]
fn a_mass_goes_with_its_table() {
    let scene = BEAD
        .replace(r#"coordinates = ["x", "y"]"#, r#"coordinates = ["x"]"#)
        .replace("mass = [1, 1]\npotential = \"9.81*y\"", "mass = 1\npotential = \"9.81*x\"")
        .replace("gap = \"1 - sqrt(x^2 + y^2)\"", "gap = \"x - 0.05*sin(10*t)\"")
        .replace("q = [\"sin(1)\", \"-cos(1)\"]", "q = [0]\nu = [0.5]");
    for scheme in SIDES {
        for m in 1..=6 {
            let (summary, points) = run(&scene, scheme, 1e-2, 5.0, &[&degree(m)]);
            let off = points.iter().map(|p| (p.q[0] - 0.05 * (10.0 * p.t).sin()).abs()).fold(0.0, f64::max);
            let slow = points.iter().map(|p| (p.u[0] - 0.5 * (10.0 * p.t).cos()).abs()).fold(0.0, f64::max);
            println!("{scheme}, M = {m}: off by {off:.1e} m, {slow:.1e} m/s");
            // One coordinate on one gap: the end of a step leaves nothing to choose.
            assert!(off <= 1e-12 && slow <= 1e-12 && impacts(&summary) == 0, "{scheme} {m}: {off:e}, {slow:e}");
        }
    }
}

/// A point slides on a wave that travels and grows.
const WAVE: &str = r#"
[model]
coordinates = ["x", "y"]
mass = [1, 1]
potential = "9.81*y"
[[contact]]
name = "wave"
gap = "y - 0.1*sin(x - t) - 0.05*x*x*sin(2*t)"
slip = "x' + y'*(0.1*cos(x - t) + 0.1*x*sin(2*t))"
friction = 0.1
[initial]
u = [2, 0.1]
[time]
step = 1e-2
end = 0.5
[scheme]
name = "moreau-jean"
"#;

/// A rod slides in a bowl with both ends.
const ROD: &str = r#"
[model]
coordinates = ["x", "y", "p"]
mass = [1, 1, 0.05]
potential = "9.81*y"
[define]
ax = "x - 0.3*cos(p)"
ay = "y - 0.3*sin(p)"
bx = "x + 0.3*cos(p)"
by = "y + 0.3*sin(p)"
[[contact]]
name = "a"
gap = "1 - sqrt(ax^2 + ay^2)"
slip = "(ax*(y' - 0.3*cos(p)*p') - ay*(x' + 0.3*sin(p)*p'))/sqrt(ax^2 + ay^2)"
friction = 0.1
[[contact]]
name = "b"
gap = "1 - sqrt(bx^2 + by^2)"
slip = "(bx*(y' + 0.3*cos(p)*p') - by*(x' - 0.3*sin(p)*p'))/sqrt(bx^2 + by^2)"
friction = 0.1
[initial]
q = ["sqrt(0.91)*sin(1)", "-sqrt(0.91)*cos(1)", 1]
[time]
step = 1e-2
end = 0.5
[scheme]
name = "moreau-jean"
"#;

/// A bead that slides in a bowl and carries a second mass on a rod.
const CARRIER: &str = r#"
[model]
coordinates = ["x", "y", "a", "b"]
mass = [1, 1, 0.5, 0.5]
potential = "9.81*y + 0.5*9.81*b"
[[joint]]
name = "rod"
position = "(x - a)^2 + (y - b)^2 - 0.16"
[[contact]]
name = "bowl"
gap = "1 - sqrt(x^2 + y^2)"
slip = "(x*y' - y*x')/sqrt(x^2 + y^2)"
friction = 0.1
[initial]
q = ["sin(1)", "-cos(1)", "sin(1)", "-cos(1) - 0.4"]
[time]
step = 1e-2
end = 0.4
[scheme]
name = "moreau-jean"
"#;

/// A point slides in a hollow sphere: the slip turns.
const SPHERE: &str = r#"
[model]
coordinates = ["x", "y", "z"]
mass = [1, 1, 1]
potential = "9.81*z"
[define]
r = "sqrt(x^2 + y^2 + z^2)"
[[contact]]
name = "sphere"
gap = "1 - r"
slip = ["(x*z' - z*x')/sqrt(x^2 + z^2)", "y'*sqrt(x^2 + z^2)/r - y*(x*x' + z*z')/(r*sqrt(x^2 + z^2))"]
friction = 0.1
[initial]
q = ["sin(1)", 0, "-cos(1)"]
u = [0, 1.5, 0]
[time]
step = 1e-2
end = 0.4
[scheme]
name = "moreau-jean"
"#;

#[test]
fn sliding_on_gaps_that_bend_and_move_keeps_the_orders() {
    // Errors of degree 4 lie between the steps that resolve the motion and rounding.
    let (long, short, shortest) = ([0.08, 0.05, 0.04], [0.04, 0.025, 0.02], [0.02, 0.0125, 0.01]);
    for (name, scene, sixth) in
        [("wave", WAVE, long), ("rod", ROD, long), ("carrier", CARRIER, shortest), ("sphere", SPHERE, short)]
    {
        let document = Document::parse(name, scene).unwrap();
        let chosen = |degrees: std::ops::RangeInclusive<usize>, steps: Vec<f64>| {
            let all =
                SIDES.iter().flat_map(|s| degrees.clone().map(move |m| format!("{s}{{degree={m},newton_tol=1e-14}}")));
            let request = CompareRequest {
                schemes: all.map(|s| SchemeChoice::parse(&s).unwrap()).collect(),
                steps,
                reference: ReferenceChoice::Run(
                    SchemeChoice::parse("tdg-minus{degree=6,newton_tol=1e-14}").unwrap(),
                    2.5e-3,
                ),
                set: Vec::new(),
                end: None,
                at: vec![0.4],
                dense: false,
                threads: 0,
            };
            compare(&document, &request).unwrap()
        };
        for (degrees, steps) in [(1..=3, vec![2e-2, 1e-2, 5e-3]), (4..=4, sixth.to_vec())] {
            let first = *degrees.start();
            let count = degrees.clone().count();
            for (i, o) in chosen(degrees, steps).orders.iter().enumerate() {
                let (m, q, u) = (first + i % count, o.q.unwrap(), o.u.unwrap());
                println!("{name}, {}: q {q:.2}, u {u:.2}", o.scheme);
                // Three steps: up to 0.3 off, and more where the next order is still larger.
                assert!(q >= ORDERS[m - 1] - 0.3 && u >= ORDERS[m - 1] - 0.3, "{name}, {}: {q}, {u}", o.scheme);
            }
        }
        for scheme in SIDES {
            let (summary, _) = run(scene, scheme, 1e-2, 0.4, &[&degree(2)]);
            assert!(impacts(&summary) == 0 && summary.worst.penetration <= 1e-12, "{name}, {scheme}");
        }
    }
}

#[test]
fn what_stays_closed_is_not_hit() {
    // Painlevé's rod jumps once, without an approach; the mass slides down its slope until it sticks.
    for (scene, step, end) in [("painleve_rod", 1e-3, 0.3), ("slope_mass", 1e-2, 3.0)] {
        for scheme in SIDES {
            for m in [1, 3] {
                let (summary, _) = run(scene, scheme, step, end, &[&degree(m)]);
                assert_eq!(impacts(&summary), 0, "{scene}, {scheme}, M = {m}");
                assert!(summary.worst.penetration <= 1e-12, "{scene}, {scheme}, M = {m}");
            }
        }
    }
}

#[test]
fn a_rod_that_hangs_in_a_ring_does_not_sink() {
    for scheme in SIDES {
        for m in 1..=3 {
            let (summary, _) = run("pendulum_ring", scheme, 1e-2, 5.0, &[&degree(m)]);
            println!("{scheme}, M = {m}: penetration {:.1e} m", summary.worst.penetration);
            assert!(impacts(&summary) == 1 && summary.worst.penetration <= 1e-12, "{scheme} {m}");
        }
    }
}

#[test]
fn a_contact_opens_within_a_step() {
    // A bead slides off a dome: at cos θ = 2/3 + v²/(3 g r) it leaves.
    let dome = BEAD
        .replace("1 - sqrt(x^2 + y^2)", "sqrt(x^2 + y^2) - 1")
        .replace("q = [\"sin(1)\", \"-cos(1)\"]", "q = [0, 1]\nu = [2, 0]");
    let cos: f64 = (2.0 + 4.0 / 9.81) / 3.0;
    let (v, sin) = ((4.0 + 2.0 * 9.81 * (1.0 - cos)).sqrt(), (1.0 - cos * cos).sqrt());
    for scheme in SIDES {
        for m in [2, 4] {
            for h in [1e-2, 6.1e-3, 3.7e-3] {
                let (summary, points) = run(&dome, scheme, h, 0.5, &[&degree(m)]);
                // The horizontal velocity stays as it was when it left.
                let off = (points[points.len() - 1].u[0] - v * cos).abs();
                println!("{scheme}, M = {m}, h = {h}: horizontal velocity off by {off:.1e} m/s");
                // The normal force is off by its rate times h for a step: 30 N/s, 0.5 h² 30 sin θ.
                assert!(off <= 15.0 * sin * h * h && impacts(&summary) == 0, "{scheme} {m} {h}: {off:e}");
            }
        }
    }
    // Over the edge of a block nothing takes the velocity along it.
    let edge = BEAD
        .replace("1 - sqrt(x^2 + y^2)", "max(x, y)")
        .replace("q = [\"sin(1)\", \"-cos(1)\"]", "q = [-0.503, 0]\nu = [1, 0]");
    for scheme in SIDES {
        let (summary, _) = run(&edge, scheme, 1e-2, 1.0, &[]);
        let u = summary.end.u[0];
        assert!((u - 1.0).abs() <= 1e-12 && impacts(&summary) == 0, "{scheme}: {u}");
    }
}
