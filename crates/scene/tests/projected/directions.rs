//! Where directions W are taken: `directions = "theta"` against `"end"`, on all bundled scenes and where each matters.

use super::{COMBINED, DIRECT, line};
use crate::watched::{Point, prepare, try_prepare, watch};
use nonsmooth::simulation::{Status, Summary};

const SCHEMES: [&str; 3] = ["moreau-jean", DIRECT, COMBINED];

fn run(scene: &str, scheme: &str, step: f64, end: f64, set: &[&str]) -> (Summary, Vec<Point>) {
    let (summary, points) = watch(&prepare(scene, scheme, step, end, set));
    assert_eq!(summary.status, Status::Done, "{:?}", summary.stop.as_ref().map(ToString::to_string));
    // Newton's tolerance is 1e-10 of the terms of a step.
    assert!(summary.worst.residual() <= 1e-9, "{scheme} {set:?}: residual {:e}", summary.worst.residual());
    (summary, points)
}

/// Largest difference of q between the last points of two runs.
fn apart(a: &[Point], b: &[Point]) -> f64 {
    let (a, b) = (a.last().unwrap(), b.last().unwrap());
    a.q.iter().zip(&b.q).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// Bundled scenes in which a direction turns, with the time that is run: up to about twice the first impact, or some turns.
const SCENES: [(&str, f64); 11] = [
    ("double_pendulum_wall", 0.5),
    ("mixing_disks", 0.02),
    ("painleve_rod", 0.2),
    ("pendulum_ring", 1.0),
    ("rocking_block", 0.5),
    ("rotating_ball", 1.0),
    ("slider_crank", 0.02),
    ("slider_crank_joints", 0.02),
    ("slope_mass", 1.0),
    ("tippedisk", 0.2),
    ("woodpecker", 0.1),
];

/// The numbers that chose the default: errors of q at the step of the scene against a sixteenth of it, and what contacts and joints took.
#[test]
fn directions_of_the_middle_are_the_better_default_on_the_bundled_scenes() {
    println!("{:20} {:>10} {:>10}   {:>10} {:>10}", "moreau-jean", "q theta", "q end", "J theta", "J end");
    let (mut better, mut worse) = (0, 0);
    for (scene, end) in SCENES {
        let step = try_prepare(scene, "moreau-jean", None, end, &[]).unwrap().options.step;
        let (_, fine) = run(scene, "moreau-jean", step / 16.0, end, &[]);
        let made = ["theta", "end"].map(|word| {
            let (s, points) = run(scene, "moreau-jean", step, end, &[&format!("scheme.directions={word}")]);
            (apart(&points, &fine), line(&s, "joints") + line(&s, "contact.normal"))
        });
        let [(q, e), (q_end, e_end)] = made;
        println!("{scene:20} {q:10.1e} {q_end:10.1e}   {e:10.1e} {e_end:10.1e}");
        better += usize::from(q < 0.9 * q_end);
        worse += usize::from(q_end < 0.9 * q);
    }
    println!("better on {better}, worse on {worse}");
    assert!(better >= 2 * worse, "{better} against {worse}");
}

/// A bead in a frictionless bowl: an ideal contact that stays closed takes nothing.
#[test]
fn a_contact_that_guides_takes_no_energy() {
    const BOWL: &str = r#"
[model]
coordinates = ["x", "y", "z"]
mass = [1, 1, 1]
potential = "9.81*z"
[[contact]]
name = "bowl"
gap = "1 - sqrt(x^2 + y^2 + z^2)"
[initial]
q = { x = 0.6, z = -0.8 }
u = { y = 2.0 }
[time]
step = 1e-3
end = 1
"#;
    for scheme in SCHEMES {
        for h in [1e-2, 5e-3, 1e-3] {
            // The first step lifts moreau-jean's contact by O(h³), which opens it from h = 2e-3 on: it closes once, by an impact at a speed of O(h).
            // Where it stays closed, O(h³) is left.
            let bound = if scheme == "moreau-jean" && h > 2e-3 { 200.0 * h * h } else { 2.0 * h * h * h };
            // The explicit forecast of the direct scheme lets go what the first step lifts, and hops from then on.
            let forecast = if scheme == DIRECT { "scheme.forecast=free" } else { "scheme.newton_tol=1e-10" };
            let taken = |word: &str| line(&run(BOWL, scheme, h, 5.0, &[forecast, word]).0, "contact.normal");
            let (new, old) = (taken("scheme.directions=theta"), taken("scheme.directions=end"));
            println!("{scheme}, h = {h}: {new:.1e} J, with directions of the end {old:.1e} J of 2 J");
            assert!(new.abs() <= bound, "{scheme}, h = {h}: {new:e}");
            // First order and a large constant.
            assert!(old < -h, "{scheme}, h = {h}: {old:e}");
        }
    }
}

/// A capsule that turns by ωh = 0.1 in the step of its elastic hit: W turns by 0.05 m within the step.
#[test]
fn an_elastic_hit_of_a_turning_body_keeps_its_energy() {
    const CAPSULE: &str = r#"
[[body]]
name = "capsule"
shape.segment = { from = [-0.5, 0], to = [0.5, 0], thickness = 0.05 }
density = 10
velocity = [0, -1]
spin = 100
[[body]]
name = "floor"
fixed = true
shape.half_plane = { normal = [0, 1], point = [0, -1] }
[[contact]]
name = "k"
restitution = 1
[time]
step = 1e-3
end = 3
"#;
    // moreau-jean follows the velocities: nothing but rounding is left. A projection moves the body by the depth of the hit.
    for (scheme, h) in [("moreau-jean", 1e-3), ("moreau-jean", 3.7e-4), (DIRECT, 1e-3), (COMBINED, 1e-3)] {
        let gain = |set: &[&str]| {
            let (s, _) = run(CAPSULE, scheme, h, 3.0, set);
            assert!(s.events.iter().any(|e| e.kind.name() == "impact"));
            (s.energy.last - s.energy.initial) / s.energy.initial
        };
        let (new, old) = (gain(&[]), gain(&["scheme.directions=end"]));
        println!("{scheme}, h = {h}: {new:.1e} of the energy, with directions of the end {old:.1e}");
        // Some hundred thousand terms of rounding.
        assert!(new.abs() <= 1e-11, "{scheme}: {new:e}");
        assert!(old.abs() > 1e-3, "{scheme}: {old:e}");
    }
}

/// A disc of 0.1 m flies at walls half of whose thickness is 0.1 m: safe while it moves by less than 0.2 m in a step.
#[test]
fn nothing_passes_a_wall_within_the_bound() {
    const SHAPES: [&str; 3] = [
        "shape.segment = { from = [0, -1], to = [0, 1], thickness = 0.2 }",
        "shape.rectangle = { width = 0.2, height = 2 }",
        "shape.disc.radius = 0.1",
    ];
    let phases = 25;
    let mut divided = 0;
    for shape in SHAPES {
        for wall in ["fixed = true", "motion = { x = \"-1 - 5*t\" }"] {
            for e in [0.0, 0.5, 1.0] {
                for travel in [0.1, 0.15, 0.19, 0.199] {
                    for phase in 0..phases {
                        let x = -2.0 - travel * f64::from(phase) / f64::from(phases);
                        let (place, own) =
                            if wall.starts_with("fixed") { ("position = [-1, 0]", 0.0) } else { ("", 5.0) };
                        let speed = 100.0 * travel - own;
                        // A force pushes on after an impact that is not elastic.
                        let push = if e < 1.0 { 5.0 } else { 0.0 };
                        let scene = format!(
                            "[world]\ngravity = [{push}, 0]\n[[body]]\nname = \"wall\"\n{wall}\n{place}\n{shape}\n[[body]]\nname = \"disc\"\n\
                             shape.disc.radius = 0.1\ndensity = 100\nposition = [{x}, 0]\nvelocity = [{speed}, 0]\n\
                             [[contact]]\nname = \"c\"\nrestitution = {e}\n[time]\nstep = 1e-2\nend = 0.25\n"
                        );
                        for scheme in ["moreau-jean", "moreau-midpoint", DIRECT, COMBINED] {
                            let (s, points) = run(&scene, scheme, 1e-2, 0.25, &[]);
                            divided += s.work.rejected;
                            let end = points.last().unwrap().q[0];
                            let face = if own > 0.0 { -1.0 - own * 0.25 } else { -1.0 };
                            assert!(
                                end < face,
                                "{scheme}, {shape}, {wall}, e = {e}, v h = {travel}, phase {phase}: {end}"
                            );
                        }
                    }
                }
            }
        }
    }
    // Steps that would have passed were made shorter.
    assert!(divided > 0);
}

/// The gap of a body that turns holds where quaternions have their unit length.
#[test]
fn a_thrown_brick_rests_on_the_floor() {
    let brick = brick();
    let five: [(&str, &[&str]); 5] = [
        (DIRECT, &[]),
        (DIRECT, &["scheme.forecast=free"]),
        (DIRECT, &["scheme.gamma=1"]),
        (COMBINED, &[]),
        (COMBINED, &["scheme.coupling=coupled"]),
    ];
    // At h = 1e-3 an impact moves the point of rest by some millimetres; it converges to 0.2425 m.
    for (h, spread) in [(1e-3, 7e-3), (5e-4, 1e-3)] {
        let mut rest = Vec::new();
        for (scheme, set) in five {
            let (s, points) = run(&brick, scheme, h, 2.0, set);
            let last = points.last().unwrap();
            println!(
                "h = {h}, {scheme} {set:?}: rests at x = {:.5} m, z = {:.6}, penetration {:.1e}",
                last.q[0], last.q[2], s.worst.penetration
            );
            // `violation_tol`, at the ends that are left.
            assert!(s.worst.penetration <= 1e-10, "{scheme} {set:?}: {:e}", s.worst.penetration);
            // On its largest side, 0.04 m below its centre; the free forecast hops by O(h²).
            assert!((last.q[2] - 0.04).abs() <= 3e-6, "{scheme} {set:?}: {}", last.q[2]);
            assert!(s.energy.max - s.energy.initial <= 1e-2 * s.energy.initial, "{scheme} {set:?}: {:?}", s.energy);
            rest.push(last.q[0]);
        }
        let (low, high) = rest.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| (l.min(*x), h.max(*x)));
        assert!(high - low <= spread, "h = {h}: {rest:?}");
    }
}

/// A brick of 0.2 × 0.12 × 0.08 m by quaternions, with its eight corners.
fn brick() -> String {
    let mut scene = String::from(
        r#"
[model]
coordinates = ["x", "y", "z", "a", "b", "c", "d"]
velocities = ["vx", "vy", "vz", "o1", "o2", "o3"]
mass = [1, 1, 1, "J1", "J2", "J3"]
unit = [["a", "b", "c", "d"]]
force = { o1 = "(J2-J3)*o2*o3", o2 = "(J3-J1)*o3*o1", o3 = "(J1-J2)*o1*o2" }
[parameters]
J1 = "(0.06^2+0.04^2)/3"
J2 = "(0.1^2+0.04^2)/3"
J3 = "(0.1^2+0.06^2)/3"
[kinematics]
x = "vx"
y = "vy"
z = "vz"
a = "0.5*(-b*o1 - c*o2 - d*o3)"
b = "0.5*(a*o1 + c*o3 - d*o2)"
c = "0.5*(a*o2 + d*o1 - b*o3)"
d = "0.5*(a*o3 + b*o2 - c*o1)"
[define]
R11 = "a^2+b^2-c^2-d^2"
R12 = "2*(b*c-a*d)"
R13 = "2*(b*d+a*c)"
R21 = "2*(b*c+a*d)"
R22 = "a^2-b^2+c^2-d^2"
R23 = "2*(c*d-a*b)"
R31 = "2*(b*d-a*c)"
R32 = "2*(c*d+a*b)"
R33 = "a^2-b^2-c^2+d^2"
[[force]]
name = "gravity"
potential = "9.81*z"
[initial]
q = { z = 0.3, a = "cos(0.3)", b = "sin(0.3)*0.6", c = "sin(0.3)*0.8" }
u = { vx = 0.5, o1 = 2, o2 = -3, o3 = 1 }
[time]
step = 1e-3
end = 2
"#,
    );
    for corner in 0..8 {
        let side = |bit: usize, half: f64| if corner >> bit & 1 == 0 { half } else { -half };
        let (x, y, z) = (side(2, 0.1), side(1, 0.06), side(0, 0.04));
        let slip = |row: usize, v: &str| {
            format!("{v} + R{row}1*(o2*({z})-o3*({y})) + R{row}2*(o3*({x})-o1*({z})) + R{row}3*(o1*({y})-o2*({x}))")
        };
        scene += &format!(
            "[[contact]]\nname = \"k{corner}\"\ngap = \"z + R31*({x}) + R32*({y}) + R33*({z})\"\nslip = [\"{}\", \"{}\"]\nrestitution = 0.4\nfriction = 0.3\n",
            slip(1, "vx"),
            slip(2, "vy")
        );
    }
    scene
}

/// Restitution e needs θ ≥ e/(1 + e) to come to rest for certain: where that fails, the run says so.
#[test]
fn a_ball_rests_where_theta_is_large_enough_and_the_run_says_where_it_is_not() {
    for (theta, e) in
        [(0.1, 0.2), (0.2, 0.5), (0.3, 0.5), (0.17, 0.2), (0.34, 0.5), (0.45, 0.8), (0.5, 0.95), (1.0, 0.95)]
    {
        let large = theta >= e / (1.0 + e);
        let mut hops = false;
        for h in [1.37e-2, 1e-2, 3.1e-3] {
            let set = [format!("scheme.theta={theta}"), format!("parameters.e_N={e}")];
            let set: Vec<&str> = set.iter().map(String::as_str).collect();
            let prepared = prepare("bouncing_ball", COMBINED, h, 200.0, &set);
            let (s, points) = watch(&prepared);
            let warned = s.warnings.iter().any(|w| w.contains("come to rest"));
            assert_eq!(warned, !large, "theta = {theta}, e = {e}: {:?}", s.warnings);
            hops |= points.last().unwrap().u[0].abs() > 1e-12;
        }
        assert_eq!(hops, !large, "theta = {theta}, e = {e}");
    }
}
