//! The schemes beside the algorithms as the paper prints them: degree 1, Algorithms 3.3 and 3.4; degree 0, the Moreau-Jean scheme.

use super::{Point, degree, run};

/// A ball on a spring and a damper under a force that grows, over the ground.
const BALL: &str = r#"
[model]
coordinates = ["q"]
mass = 2
[[force]]
name = "all"
value = "-10*exp(t) - 3*q - 0.4*q'"
[[contact]]
name = "ground"
gap = "q"
restitution = 0.5
[initial]
q = [1]
[time]
step = 1e-2
end = 1
[scheme]
name = "moreau-jean"
"#;

const MASS: f64 = 2.0;
const E: f64 = 0.5;

fn force(t: f64, q: f64, v: f64) -> f64 {
    -10.0 * t.exp() - 3.0 * q - 0.4 * v
}

/// Contact force that keeps a closed contact from accelerating into the ground.
fn reaction(closed: bool, f: f64) -> f64 {
    if closed { (-f).max(0.0) } else { 0.0 }
}

/// Percussion at the end: 0 ≤ v + e v⁻ ⊥ p ≥ 0 where q ≤ 0.
fn percussion(q: f64, free: f64, before: f64) -> f64 {
    if q <= 0.0 { (-MASS * (free + E * before)).max(0.0) } else { 0.0 }
}

/// Algorithm 3.4, D⁻.
fn forecasting(t: f64, q: f64, v: f64, dt: f64) -> (f64, f64) {
    let closed = q <= 0.0 && v <= 0.0;
    let f0 = force(t, q, v);
    let a0 = (f0 + reaction(closed, f0)) / MASS;
    let v1 = v + dt * a0;
    let q1 = q + 0.5 * dt * (v + v1);
    let f1 = force(t + dt, q1, v1);
    let free = v + 0.5 * dt * (a0 + (f1 + reaction(closed, f1)) / MASS);
    // A contact that persists has nothing to return.
    let before = if closed { 0.0 } else { v1 };
    (q1, free + percussion(q1, free, before) / MASS)
}

/// Algorithm 3.3, D⁺, whose stages are implicit.
fn contemplating(t: f64, q: f64, v: f64, dt: f64) -> (f64, f64) {
    let closed = q <= 0.0 && v <= 0.0;
    let (mut v0, mut v1, mut q1) = (v, v, q);
    // γ⁻ is the velocity at the end without a percussion, where the contact was open.
    let mut before = None;
    for sweep in 0..400 {
        let (f0, f1) = (force(t, q, v0), force(t + dt, q1, v1));
        let (a0, a1) = ((f0 + reaction(closed, f0)) / MASS, (f1 + reaction(closed, f1)) / MASS);
        let free = v + 0.5 * dt * (a0 + a1);
        if sweep == 200 {
            before = Some(if closed { 0.0 } else { free });
        }
        // A contact that was closed is put right at the end: its stages do not see that.
        let p = before.map_or(0.0, |before| percussion(q1, free, before));
        (v0, v1) = (v + 0.5 * dt * (a0 - a1) - p / MASS, free + p / MASS);
        q1 = q + 0.5 * dt * (v0 + v1);
    }
    (q1, v1)
}

/// Largest difference of a run to an algorithm that is given the state at every step.
fn largest(points: &[Point], start: (f64, f64), dt: f64, algorithm: fn(f64, f64, f64, f64) -> (f64, f64)) -> f64 {
    let mut worst: f64 = 0.0;
    let (mut t, mut state) = (0.0, start);
    for p in points {
        let (q, v) = algorithm(t, state.0, state.1, dt);
        worst = worst.max((p.q[0] - q).abs()).max((p.u[0] - v).abs());
        (t, state) = (p.t, (p.q[0], p.u[0]));
    }
    worst
}

#[test]
fn degree_one_is_the_algorithms_3_3_and_3_4() {
    let dt = 1e-2;
    for (scheme, algorithm) in [("tdg-minus", forecasting as fn(f64, f64, f64, f64) -> _), ("tdg-plus", contemplating)]
    {
        // Falls and bounces; its flights are longer than a step up to 1 s.
        let set = ["scheme.newton_tol=1e-15"];
        let (summary, points) = run(BALL, scheme, dt, 1.0, &set);
        let bounces = summary.events.iter().filter(|e| e.kind == nonsmooth::simulation::EventKind::Impact).count();
        let bouncing = largest(&points, (1.0, 0.0), dt, algorithm);
        // Rests from the start.
        let (_, points) = run(BALL, scheme, dt, 1.0, &["scheme.newton_tol=1e-15", "initial.q=[0]"]);
        let resting = largest(&points, (0.0, 0.0), dt, algorithm);
        println!("{scheme}: {bounces} bounces, off by {bouncing:.1e}; at rest by {resting:.1e}");
        // Velocities up to 5 m/s, sums of a few terms.
        assert!(
            bounces >= 2 && bouncing <= 1e-14 && resting <= 1e-14,
            "{scheme}: {bounces}, {bouncing:e}, {resting:e}"
        );
    }
}

#[test]
fn degree_zero_is_the_moreau_jean_scheme() {
    // Directions of the end, as (18a) prints them.
    let explicit = ["scheme.theta=0", "scheme.gamma=1", "scheme.newton_tol=1e-14", "scheme.directions=end"];
    let free = ["scheme.theta=1", "scheme.forecast=free", "scheme.newton_tol=1e-14", "scheme.directions=end"];
    let scenes = [
        ("bouncing_ball", 1.3e-3, 4.0),
        ("linear_oscillator", 1.3e-3, 10.0),
        ("rotating_ball", 1e-3, 1.5),
        ("sliding_mass", 1e-3, 4.0),
        ("woodpecker", 1e-4, 0.2),
        ("rocking_block", 1e-4, 0.5),
    ];
    for (scene, step, end) in scenes {
        for (scheme, set) in [("tdg-minus", explicit), ("tdg-plus", free)] {
            let (_, jean) = run(scene, "moreau-jean", step, end, &set);
            let (_, ours) = run(scene, scheme, step, end, &[&degree(0), "scheme.newton_tol=1e-14"]);
            let pairs = jean.iter().zip(&ours);
            let off = pairs.flat_map(|(a, b)| a.q.iter().chain(&a.u).zip(b.q.iter().chain(&b.u)));
            let off = off.map(|(a, b)| (a - b).abs() / (1.0 + a.abs())).fold(0.0, f64::max);
            println!("{scene}, {scheme}: off by {off:.1e}");
            // Rounding of some thousand steps, and what impacts make of it; an impact in another step would be 1e-3.
            assert!(jean.len() == ours.len() && off <= 1e-9, "{scene}, {scheme}: {off:e}");
        }
    }
}
