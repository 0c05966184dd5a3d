//! Local coordinates: a body that moves by the exponential map keeps the order of every scheme.

use super::derivatives::assert_derivatives;
use super::kinematics::{TUMBLE, orders, rk4};
use super::{distance, run_with, take};
use nonsmooth::law::ContactLaw;
use nonsmooth::scheme::{self, Settings};
use nonsmooth_reference::{ChartedBody, RigidBody};

#[test]
fn the_checker_finds_nothing_in_a_body_with_a_chart() {
    let (q, u) = TUMBLE;
    assert_derivatives("charted body", &ChartedBody::new(RigidBody::free()).unwrap(), &q, &u);
    let q = [0.1, 0.2, 0.4, 0.5, -0.1, 0.7, 0.5];
    let law = ContactLaw::newton(0.5).coulomb(2, 0.3);
    assert_derivatives("charted ball", &ChartedBody::new(RigidBody::ball(0.1, law)).unwrap(), &q, &u);
}

#[test]
fn a_tumbling_body_keeps_the_order_of_every_scheme_and_a_unit_quaternion() {
    let body = RigidBody::free();
    let (q, u) = TUMBLE;
    let start: [f64; 13] = std::array::from_fn(|i| if i < 7 { q[i] } else { u[i - 7] });
    let end = 2.0;
    // RK4 at 1e-4: (1e-4)⁴ times rates of order one, rounding besides: 1e-13.
    let exact = rk4(start, &body, end, 20_000);
    let system = ChartedBody::new(body).unwrap();
    let degree = |m: f64| Settings::new().number("degree", m);
    let fixed = |p: f64| {
        let s = Settings::new().number("fixed_order", p).number("dt_min", 1e-6);
        s.word("base", "moreau-jean")
    };
    let rows = [
        ("moreau-jean", Settings::new(), 2.0),
        ("moreau-jean", Settings::new().word("force", "trapezoid"), 2.0),
        ("moreau-midpoint", Settings::new(), 1.0),
        ("projected-direct", Settings::new(), 2.0),
        ("projected-combined", Settings::new(), 2.0),
        ("rattle", Settings::new(), 2.0),
        ("trapezoidal-lcp", Settings::new(), 2.0),
        ("tdg-minus", degree(1.0), 2.0),
        ("tdg-minus", degree(2.0), 4.0),
        ("tdg-minus", degree(3.0), 4.0),
        ("tdg-minus", degree(4.0), 6.0),
        ("tdg-plus", degree(1.0), 2.0),
        ("tdg-plus", degree(2.0), 4.0),
        ("tdg-plus", degree(4.0), 6.0),
        ("augmented", fixed(4.0), 4.0),
    ];
    for (name, settings, order) in rows {
        let steps = if order > 4.0 { [0.4, 0.2, 0.1] } else { [4e-2, 2e-2, 1e-2] };
        let mut errors = Vec::new();
        for h in steps {
            let (summary, records) = run_with(&system, scheme::make(name, &settings).unwrap(), &q, &u, h, end);
            for r in &records {
                let norm = r.q[3..].iter().map(|x| x * x).sum::<f64>().sqrt();
                // The product of two unit quaternions: a few roundings.
                assert!((norm - 1.0).abs() <= 1e-14, "{name}: norm {norm}");
            }
            assert!(summary.energy.closure <= 1e-9, "{name} {settings:?}: {:?}", summary.energy);
            assert!(summary.worst.residual() <= 1e-9, "{name} {settings:?}: {:?}", summary.worst);
            let last = records.last().expect("records");
            // Both quaternions of a rotation are right.
            let flipped: Vec<f64> = (0..7).map(|i| if i < 3 { last.q[i] } else { -last.q[i] }).collect();
            let off = distance(&last.q, &exact[..7]).min(distance(&flipped, &exact[..7]));
            errors.push(off.max(distance(&last.u, &exact[7..])));
        }
        println!("charted body, {name} {settings:?}: errors {errors:?}, orders {:?}", orders(&errors));
        let last = *orders(&errors).last().unwrap();
        // Asymptotic to two tenths; where the error is within a hundred roundings of the reference, there is no slope to see.
        assert!((last - order).abs() < 0.2 || errors[2] < 1e-12, "{name} {settings:?}: {last} instead of {order}");
    }
}

#[test]
fn a_ball_with_a_chart_does_on_a_rough_table_what_the_formula_does() {
    let radius = 0.2;
    let body = RigidBody::ball(radius, ContactLaw::newton(0.0).coulomb(2, 0.3));
    let (charted, formula) = (ChartedBody::new(body.clone()).unwrap(), take(body));
    let q = [0.0, 0.0, radius + 0.05, 0.8, 0.36, -0.48, 0.0];
    let u = [1.0, -0.5, 0.0, 2.0, 3.0, 7.0];
    for name in
        ["moreau-jean", "moreau-midpoint", "rattle", "projected-direct", "projected-combined", "trapezoidal-lcp"]
    {
        let off = |h: f64| {
            let make = || scheme::make(name, &Settings::new()).unwrap();
            let (a, one) = run_with(&charted, make(), &q, &u, h, 1.0);
            let (_, other) = run_with(&formula, make(), &q, &u, h, 1.0);
            assert!(a.worst.residual() <= 1e-9, "{name}: {:?}", a.worst);
            assert!(a.energy.closure <= 1e-9, "{name}: {:?}", a.energy);
            let (one, other) = (one.last().unwrap(), other.last().unwrap());
            distance(&one.q, &other.q).max(distance(&one.u, &other.u))
        };
        let (coarse, fine) = (off(4e-3), off(1e-3));
        println!("{name}: {coarse:e} {fine:e}");
        // Two discretisations of first order of the same motion: their difference falls with the step, by four here; a factor of two is left for
        // where the impact falls in a step.
        assert!(fine <= 0.5 * coarse && coarse <= 0.1, "{name}: {coarse:e} {fine:e}");
    }
}
