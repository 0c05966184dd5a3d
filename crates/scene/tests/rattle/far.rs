//! Beside the paper: steps in which joints turn far, surfaces that accelerate, a solver that is named.

use crate::watched::{Point, prepare, watch};
use nonsmooth::simulation::{Status, Summary};

fn run(scene: &str, step: f64, end: f64, set: &[&str]) -> (Summary, Vec<Point>) {
    watch(&prepare(scene, "rattle", step, end, set))
}

/// A mass on a rod of little inertia that spins at 100 rad/s.
const SPIN: &str = r#"
[model]
coordinates = ["x", "y", "phi"]
mass = [1, 1, "J"]
potential = "9.81*y"
[parameters]
J = 0.01
[[joint]]
name = "rod"
position = ["x - sin(phi)", "y + cos(phi)"]
[initial]
q = [0, -1, 0]
u = [100, 0, 100]
[time]
step = 1e-3
end = 0.2
"#;

/// Gravity slows the mass down by a few parts in ten thousand: φ(0.2) = 19.981, for every J to 2e-4.
const TURNED: f64 = 19.9813;

#[test]
fn a_step_ends_where_its_velocities_lead() {
    let mut divided = 0;
    for inertia in ["J=1e-2", "J=1e-3", "J=1e-4", "J=1e-5"] {
        for turn in [0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2] {
            for guess in ["predicted", "previous"] {
                let set = [format!("parameters.{inertia}"), format!("scheme.guess={guess}")];
                let set: Vec<&str> = set.iter().map(String::as_str).collect();
                let (s, points) = run(SPIN, turn / 100.0, 0.2, &set);
                divided += s.work.rejected;
                if s.status != Status::Done {
                    continue;
                }
                let off = points.last().unwrap().q[2] / TURNED - 1.0;
                // A rod without inertia turns by asin ωh in a step, beyond 0.85 rad in half of it; and a last step that is shorter.
                let own = f64::asin(f64::min(turn, 0.85)) / f64::min(turn, 0.85) - 1.0;
                assert!(off.abs() <= 1.1 * own + 1e-3, "{inertia}, {turn} rad per step, {guess}: off by {off:.3}");
                // No step takes another root: what a step turns by differs by less than 2 rad from its neighbours.
                let turns: Vec<f64> = points.windows(2).map(|p| p[1].q[2] - p[0].q[2]).collect();
                assert!(turns.iter().all(|t| (0.0..=1.5).contains(t)), "{inertia}, {turn}: {turns:?}");
            }
        }
    }
    assert!(divided > 0);
}

/// A disc on a plate that accelerates by 3 m/s², within the friction of the contact: it rolls, x = a t²/6.
#[test]
fn friction_on_a_surface_that_accelerates_is_of_second_order() {
    const BELT: &str = r#"
[world]
gravity = [0, -9.81]
[[body]]
name = "plate"
motion = { x = "1.5*t^2 + 0.2*t^3" }
shape.rectangle = { width = 20, height = 0.2 }
[[body]]
name = "d"
shape.disc.radius = 0.1
density = 100
position = [0, 0.2]
[[contact]]
name = "c"
friction = 0.5
[time]
step = 1e-2
end = 1
"#;
    // A homogeneous disc takes a third of the motion of the plate.
    let exact = (1.5 + 0.2) / 3.0;
    for word in ["end", "mean"] {
        let off = [2e-2, 1e-2, 5e-3].map(|h| {
            let (s, points) = run(BELT, h, 1.0, &[&format!("scheme.friction_direction={word}")]);
            assert_eq!(s.status, Status::Done);
            let last = points.last().unwrap();
            (last.q[0] - exact).abs().max((last.u[0] - (3.0 + 0.6) / 3.0).abs())
        });
        println!("belt, {word}: {off:?}");
        for pair in off.windows(2) {
            // Exact but for rounding, or of order 2.
            assert!(pair[1] <= 1e-12 || (pair[0] / pair[1]).log2() > 1.9, "{word}: {off:?}");
        }
        // Order 1 would leave h/2 · a/3: 2.5e-3.
        assert!(off[2] <= 1e-5, "{word}: {off:?}");
    }
}

/// A solver that is named solves the laws of every stage; `auto` leaves few contacts to the scheme's own Newton method.
#[test]
fn a_solver_that_is_named_is_used() {
    let with = |name: &str| run("slider_crank_joints", 1e-4, 0.01, &[&format!("solver.name={name}")]);
    let (auto, a) = with("auto");
    let (named, b) = with("newton");
    assert_eq!(auto.work.solves, 0);
    assert!(named.work.solves >= 2 * named.work.steps, "{} solves in {} steps", named.work.solves, named.work.steps);
    // The same equations, to Newton's tolerance.
    let off = a.last().unwrap().q.iter().zip(&b.last().unwrap().q).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(off <= 1e-8, "{off:e}");
}
