//! Which flight is too short to be resolved depends on the acceleration of the gap itself, in coordinates that turn and over surfaces that move.

use super::{SIDES, degree, run};

/// A free particle that hits the wall x = 2 m with 0.2 m/s while it moves along it, in polar coordinates: forces of inertia, no acceleration.
const POLAR: &str = r#"
[model]
coordinates = ["r", "phi"]
kinetic = "0.5*(r'^2 + (r*phi')^2)"
[parameters]
e = 0.5
along = 10
[[contact]]
name = "wall"
gap = "2 - r*cos(phi)"
restitution = "e"
[initial]
q = ["1.98/cos(0.3)", -0.3]
u = { r = "0.2*cos(0.3) - along*sin(0.3)", phi = "(0.2*sin(0.3) + along*cos(0.3))*cos(0.3)/1.98" }
[time]
step = 1e-3
end = 0.15
[scheme]
name = "moreau-jean"
"#;

#[test]
fn turning_coordinates_keep_their_restitution() {
    for scheme in SIDES {
        for m in [1, 2, 3] {
            // Degree 1 needs more than 33 steps per radian here.
            for (along, h) in [(10, 2e-3), (30, 5e-4), (30, 2e-3)].into_iter().take(m + 1) {
                for e in [0.0, 0.3, 0.5, 0.9] {
                    let set = [&degree(m)[..], &format!("parameters.e={e}"), &format!("parameters.along={along}")];
                    let (summary, _) = run(POLAR, scheme, h, 0.15, &set);
                    let (q, u) = (&summary.end.q, &summary.end.u);
                    let (s, c) = q[1].sin_cos();
                    let (away, along_wall) = (q[0] * s * u[1] - c * u[0], s * u[0] + q[0] * c * u[1]);
                    // Degree 1 turns velocities by its error, (turn per step)² · dt · acceleration / 12 in each of the steps since; with e = 0 the
                    // particle is put onto the wall, by up to 0.2 dt, and keeps its rates.
                    let rate = 0.5 * f64::from(along);
                    let error = 0.15 * rate * f64::from(along) * (rate * h).powi(2) / 12.0 + 0.2 * h * rate + 1e-3;
                    let off = ((away - e * 0.2).abs(), (along_wall - f64::from(along)).abs());
                    println!(
                        "{scheme}, M = {m}, {along} m/s, h = {h}, e = {e}: leaves with {away:.6} m/s, off by {off:?}"
                    );
                    assert!(off.0 <= error && off.1 <= error, "{scheme} {m} {along} {h} {e}: {off:?} > {error:e}");
                }
            }
        }
    }
}

/// A ball over a table that accelerates.
const TABLE: &str = r#"
[model]
coordinates = ["y"]
mass = 2
potential = "2*9.81*y"
[parameters]
a = 100
e = 0.5
[[contact]]
name = "table"
gap = "y - 0.5*a*t^2"
restitution = "e"
[initial]
q = [0.05]
u = [0]
[time]
step = 1e-3
end = 0.3
[scheme]
name = "moreau-jean"
"#;

#[test]
fn a_ball_comes_to_rest_on_a_table_that_accelerates_upwards() {
    for scheme in SIDES {
        for m in [1, 2, 3] {
            for (a, h) in [(30, 1e-3), (100, 1e-3), (100, 3e-4), (300, 1e-3)] {
                for e in [0.2, 0.5, 0.7] {
                    let set = [&degree(m)[..], &format!("parameters.e={e}"), &format!("parameters.a={a}")];
                    let (summary, _) = run(TABLE, scheme, h, 0.4, &set);
                    let (t, a) = (summary.end.t, f64::from(a));
                    let (gap, velocity) = (summary.end.q[0] - 0.5 * a * t * t, summary.end.u[0] - a * t);
                    // The first fall over (1 + e)/(1 − e) is the time of rest: 0.29 s at most.
                    assert!(
                        gap.abs() <= 1e-11 && velocity.abs() <= 1e-10,
                        "{scheme} {m} {a} {h} {e}: {gap:e} {velocity:e}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_ball_bounces_on_a_table_that_falls_almost_as_fast() {
    // With g + a = 0.11 m/s² the flight after the first impact, of e √(2 · 0.11 · 0.05) = 0.05 m/s, lasts 0.95 s.
    for scheme in SIDES {
        for m in [1, 2] {
            for h in [1e-2, 1e-3] {
                let set = [&degree(m)[..], "parameters.a=-9.7"];
                let (summary, points) = run(TABLE, scheme, h, 1.5, &set);
                let after = points.iter().map(|p| p.u[0] + 9.7 * p.t).fold(f64::NEG_INFINITY, f64::max);
                let exact = 0.5 * f64::sqrt(2.0 * 0.11 * 0.05);
                // The impact is taken at the end of its step, where the approach is up to (g + a) dt more.
                assert!((after - exact).abs() <= 0.11 * h, "{scheme} {m} {h}: leaves with {after}, {exact} is right");
                assert!(summary.end.q[0] + 0.5 * 9.7 * summary.end.t.powi(2) >= 1e-2, "{scheme} {m} {h}");
            }
        }
    }
}
