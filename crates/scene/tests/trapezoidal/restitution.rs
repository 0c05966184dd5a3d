//! Poisson's restitution and Newton's: where they coincide, and where they do not.

use super::{end, run, text};

fn poisson(scene: &str) -> String {
    scene.replace("restitution = \"e_N\"", "restitution = { poisson = \"e_N\" }")
}

/// `double_pendulum_wall` in the angles of its rods.
const IN_ANGLES: &str = r#"
[model]
coordinates = ["a", "b"]
kinetic = "a'^2 + 0.5*b'^2 + a'*b'*cos(a - b)"
[parameters]
e_N = 0.1
[[force]]
name = "gravity"
potential = "-9.81*(2*cos(a) + cos(b))"
[[contact]]
name = "bob1"
gap = "sin(a)"
restitution = "e_N"
[[contact]]
name = "bob2"
gap = "sin(a) + sin(b)"
restitution = "e_N"
[initial]
q = ["pi/3", "pi/5"]
[time]
step = 1e-3
end = 2.5
[scheme]
name = "moreau-jean"
"#;

/// A plank with two corners of its own restitution falls flat; m = 1, l = 1, J = 1/3, so that G = [[4, −2], [−2, 4]].
fn plank(left: &str, right: &str) -> String {
    format!(
        r#"
[model]
coordinates = ["y", "phi"]
mass = [1, "1/3"]
[[contact]]
name = "left"
gap = "y - phi"
restitution = {left}
[[contact]]
name = "right"
gap = "y + phi"
restitution = {right}
[initial]
q = [0.01, 0]
u = [-1, 0]
[time]
step = 4e-3
end = 0.012
[scheme]
name = "moreau-jean"
"#
    )
}

/// Gap velocities of the plank after its impact.
fn after(left: &str, right: &str) -> [f64; 2] {
    let (summary, _) = run(&plank(left, right), 4e-3, 0.012, &[]);
    let u = &summary.end.u;
    [u[0] - u[1], u[0] + u[1]]
}

fn near(found: [f64; 2], expected: [f64; 2]) {
    // The solver's 1e-10.
    let off = (found[0] - expected[0]).abs().max((found[1] - expected[1]).abs());
    assert!(off <= 1e-9, "{found:?} is not {expected:?}");
}

#[test]
fn with_one_coefficient_and_without_friction_they_coincide() {
    // The double pendulum in its angles: no joints.
    let newton = IN_ANGLES;
    for h in [1e-2, 1e-3] {
        let (a, b) = (run(newton, h, 2.5, &[]), run(&poisson(newton), h, 2.5, &[]));
        let off = a.0.end.q.iter().zip(&b.0.end.q).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        let impacts = super::times(&a.0, nonsmooth::simulation::EventKind::Impact).len();
        println!("double pendulum in angles, h = {h}: {impacts} impacts, off by {off:.1e} rad");
        // Five impacts, solved to 1e-10 each, and what the motion makes of that.
        assert!(impacts == 5 && off <= 1e-8, "h = {h}: {impacts} impacts, {off:e}");
    }
    // With joints these leave O(h²) of their velocity at an impact, which the compression counts and Newton's law does not.
    let newton = text("double_pendulum_wall");
    for h in [1e-2, 5e-3, 2.5e-3, 1e-3, 2.5e-4] {
        let (a, b) = (end(&newton, h, 2.5, &[]), end(&poisson(&newton), h, 2.5, &[]));
        let off = a.iter().zip(&b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        println!("double pendulum with joints, h = {h}: off by {off:.1e} m, {:.4} h^2", off / (h * h));
        // 0.004 to 0.035 h², by where in a step the impacts fall.
        assert!(off <= 0.05 * h * h, "h = {h}: {off:e}");
    }
    for e in ["0", "0.5", "1"] {
        let e_of: f64 = e.parse().unwrap();
        near(after(e, e), [e_of, e_of]);
        near(after(&format!("{{ poisson = {e} }}"), &format!("{{ poisson = {e} }}")), [e_of, e_of]);
    }
}

#[test]
fn with_two_coefficients_they_differ_as_by_hand() {
    // Newton: both corners keep their law, γ⁺ = (0.5, 0).
    near(after("0.5", "0"), [0.5, 0.0]);
    // Poisson: the compression takes 1/2 N s at each corner, a quarter more at the left one lifts it with 1 m/s and presses the right one with 1/2 m/s; 1/8 N s
    // there stop that.
    near(after("{ poisson = 0.5 }", "{ poisson = 0 }"), [0.75, 0.0]);
    // One of each: what the left one gives back is the same, and the right one's law is Newton's with e = 0.
    near(after("{ poisson = 0.5 }", "0"), [0.75, 0.0]);
    // Newton with e = 0.3 at the right: the returned quarter makes (1, −1/2) of (0, 0); the law asks for 0.3 at the right.
    near(after("{ poisson = 0.5 }", "0.3"), after("{ poisson = 0.5 }", "{ newton = 0.3 }"));
}

#[test]
fn with_friction_they_differ() {
    let scene = |restitution: &str| {
        format!(
            r#"
[model]
coordinates = ["x", "y", "phi"]
mass = [1, 1, "1/12"]
[[contact]]
name = "tip"
gap = "y - 0.5*sin(phi)"
slip = "x' + 0.5*sin(phi)*phi'"
restitution = {restitution}
friction = 0.3
[initial]
q = [0, "0.5*sin(0.8) + 0.01", 0.8]
u = [1, -1, 0]
[time]
step = 4e-3
end = 0.012
[scheme]
name = "moreau-jean"
"#
        )
    };
    let gap_velocity = |restitution: &str| {
        let (summary, _) = run(&scene(restitution), 4e-3, 0.012, &[]);
        let (q, u) = (&summary.end.q, &summary.end.u);
        u[1] - 0.5 * q[2].cos() * u[2]
    };
    let (newton, poisson) = (gap_velocity("0.8"), gap_velocity("{ poisson = 0.8 }"));
    println!(
        "rod with friction: gap velocity {newton:.4} m/s after Newton's, {poisson:.4} m/s after Poisson's restitution"
    );
    assert!(newton > 0.0 && poisson > 0.0 && (newton - poisson).abs() > 1e-2, "{newton}, {poisson}");
}

#[test]
fn a_slow_approach_is_without_restitution_where_that_is_asked_for() {
    let (all, _) = run("bouncing_ball", 1e-2, 4.0, &[]);
    let (some, _) = run("bouncing_ball", 1e-2, 4.0, &["scheme.restitution_threshold=0.1"]);
    let impacts = |s: &nonsmooth::Summary| super::times(s, nonsmooth::simulation::EventKind::Impact).len();
    // Approaches 2, 1, 1/2, ...: the sixth with 1/16 m/s is the last.
    assert_eq!(impacts(&some), 6);
    assert!(impacts(&all) > 25, "{}", impacts(&all));
}
