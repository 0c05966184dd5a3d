//! General kinematics: bodies with a quaternion, free and on a rough table.

use super::{BOTH, distance, run, take};
use nonsmooth::law::ContactLaw;
use nonsmooth::simulation::Record;
use nonsmooth_reference::RigidBody;

pub(crate) fn orders(errors: &[f64]) -> Vec<f64> {
    errors.windows(2).map(|w| (w[0] / w[1]).log2()).collect()
}

/// Rates of position, quaternion, velocity and angular velocity of the free rigid body, written anew.
fn rigid_rates(y: &[f64; 13], body: &RigidBody) -> [f64; 13] {
    let (p, v, w) = (&y[3..7], &y[7..10], &y[10..13]);
    let [a, b, c] = body.inertia;
    let mut out = [0.0; 13];
    out[..3].copy_from_slice(v);
    out[3] = -0.5 * (p[1] * w[0] + p[2] * w[1] + p[3] * w[2]);
    out[4] = 0.5 * (p[0] * w[0] + p[2] * w[2] - p[3] * w[1]);
    out[5] = 0.5 * (p[0] * w[1] + p[3] * w[0] - p[1] * w[2]);
    out[6] = 0.5 * (p[0] * w[2] + p[1] * w[1] - p[2] * w[0]);
    out[10] = (b - c) / a * w[1] * w[2];
    out[11] = (c - a) / b * w[2] * w[0];
    out[12] = (a - b) / c * w[0] * w[1];
    out
}

pub(crate) fn rk4(mut y: [f64; 13], body: &RigidBody, end: f64, n: usize) -> [f64; 13] {
    let h = end / n as f64;
    for _ in 0..n {
        let shifted = |k: &[f64; 13], s: f64| -> [f64; 13] { std::array::from_fn(|i| y[i] + s * k[i]) };
        let k1 = rigid_rates(&y, body);
        let k2 = rigid_rates(&shifted(&k1, 0.5 * h), body);
        let k3 = rigid_rates(&shifted(&k2, 0.5 * h), body);
        let k4 = rigid_rates(&shifted(&k3, h), body);
        for i in 0..13 {
            y[i] += h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]);
        }
    }
    y
}

pub(crate) const TUMBLE: ([f64; 7], [f64; 6]) = ([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], [0.3, -0.2, 0.1, 1.5, 0.4, -1.0]);

#[test]
fn a_free_rigid_body_with_a_quaternion_tumbles_with_the_order_of_the_scheme() {
    let body = RigidBody::free();
    let (q, u) = TUMBLE;
    let start: [f64; 13] = std::array::from_fn(|i| if i < 7 { q[i] } else { u[i - 7] });
    let end = 2.0;
    // RK4 at 1e-4: (1e-4)⁴ times rates of order one, rounding besides.
    let exact = rk4(start, &body, end, 20_000);
    let kinetic = |u: &[f64]| {
        let turning: f64 = (0..3).map(|k| body.inertia[k] * u[3 + k] * u[3 + k]).sum();
        0.5 * (turning + body.mass * u[..3].iter().map(|v| v * v).sum::<f64>())
    };
    let system = take(body.clone());
    for (name, order) in [("moreau-jean", 2.0), ("moreau-midpoint", 1.0)] {
        let mut errors = Vec::new();
        for h in [2e-2, 1e-2, 5e-3] {
            let (summary, records) = run(&system, name, &q, &u, h, end);
            let mut drift: f64 = 0.0;
            for r in &records {
                let norm = r.q[3..].iter().map(|x| x * x).sum::<f64>().sqrt();
                // Normalised after every step: one division.
                assert!((norm - 1.0).abs() <= 1e-12, "{name}: norm {norm}");
                drift = drift.max((kinetic(&r.u) - kinetic(&u)).abs());
            }
            // The ledger closes: each step to rounding, solves to 1e-10.
            assert!(summary.energy.closure <= 1e-9, "{name}: {:?}", summary.energy);
            let last = records.last().expect("records");
            errors.push(distance(&last.q, &exact[..7]).max(distance(&last.u, &exact[7..])));
            if name == "moreau-jean" {
                // The midpoint rule keeps quadratic invariants: Newton leaves 1e-10 of dt·h in a step, over 2 s.
                assert!(drift <= 1e-9, "{name}, h = {h}: kinetic energy drifts by {drift:e}");
            } else {
                // Explicit gyroscopic force: first order in h, from dt²|h|²/2m per step.
                assert!(drift <= 10.0 * h, "{name}, h = {h}: kinetic energy drifts by {drift:e}");
            }
        }
        println!("tumbling body, {name}: errors {errors:?}, orders {:?}", orders(&errors));
        for o in orders(&errors) {
            // Asymptotic to a tenth.
            assert!((o - order).abs() < 0.15, "{name}: {o}");
        }
    }
}

#[test]
fn a_ball_with_a_quaternion_dropped_on_a_rough_table_ends_rolling() {
    let (radius, mu) = (0.2, 0.3);
    let law = ContactLaw::newton(0.0).coulomb(2, mu);
    let body = RigidBody::ball(radius, law);
    let system = take(body.clone());
    let h = 1e-3;
    // Angular velocity about all axes, orientation not special.
    let q = [0.0, 0.0, radius + 0.05, 0.8, 0.36, -0.48, 0.0];
    let u = [1.0, -0.5, 0.0, 2.0, 3.0, 7.0];
    for name in BOTH {
        let (_, records) = run(&system, name, &q, &u, h, 2.0);
        let in_space = |r: &Record| {
            let (p, w) = (&r.q[3..], &r.u[3..]);
            let (s, v) = (p[0], [p[1], p[2], p[3]]);
            // ω_space = (s² − v·v) w + 2 v (v·w) + 2 s v×w.
            let dot = v[0] * w[0] + v[1] * w[1] + v[2] * w[2];
            let square = s * s - v[0] * v[0] - v[1] * v[1] - v[2] * v[2];
            let cross = [v[1] * w[2] - v[2] * w[1], v[2] * w[0] - v[0] * w[2], v[0] * w[1] - v[1] * w[0]];
            std::array::from_fn::<f64, 3, _>(|k| square * w[k] + 2.0 * v[k] * dot + 2.0 * s * cross[k])
        };
        let (first, last) = (&records[0], records.last().expect("records"));
        let (w0, w) = (in_space(first), in_space(last));
        // Rolling: v = ω × (0, 0, radius). The law holds at q_M or q_{k+1}; the body turns by |ω| h in a step.
        let turn = h * w.iter().map(|x| x * x).sum::<f64>().sqrt();
        let slip = [last.u[0] - radius * w[1], last.u[1] + radius * w[0]];
        let speed = last.u[0].hypot(last.u[1]);
        assert!(slip[0].hypot(slip[1]) <= speed * turn + 1e-9, "{name}: slip {slip:?}");
        // The angular momentum about the point of contact stays: v_end = (m r v + J ω)/(m r + J/r), here J = 0.4 m r².
        // W at one end of the step rotates it by |ω| h/2 each step while it slips, 0.3 s: to 0.3·|ω|²·h relative.
        let exact = [(u[0] + 0.4 * radius * w0[1]) / 1.4, (u[1] - 0.4 * radius * w0[0]) / 1.4];
        let size = w0.iter().map(|x| x * x).sum::<f64>().sqrt();
        assert!(distance(&last.u[..2], &exact) <= 0.3 * size * size * h, "{name}: {:?} {exact:?}", last.u);
        // Spin about the vertical is not touched by a point contact; the same tolerance.
        assert!((w[2] - w0[2]).abs() <= 0.3 * size * size * size * h, "{name}: {w:?} {w0:?}");
        assert!(last.u[2].abs() <= 1e-9, "{name}: stays on the table");
    }
}
