//! (6.9) as printed and as corrected, by hand, on a mass that depends on the position.

use super::run;
use nonsmooth::measure::fit_order;

/// M(q) = 1 + q², V = q²/2: k = −q v² − q.
const SCENE: &str = r#"
[model]
coordinates = ["x"]
kinetic = "0.5*(1 + x^2)*x'^2"
[[force]]
name = "spring"
potential = "0.5*x^2"
[initial]
q = [1]
u = [0.5]
[time]
step = 1e-2
end = 2
[scheme]
name = "moreau-jean"
"#;

fn mass(q: f64) -> f64 {
    1.0 + q * q
}

fn force(q: f64, v: f64) -> f64 {
    -q * v * v - q
}

/// `printed`: M(q_l) and (h/2) k_q v, instead of M at the midpoint and h k_q v.
fn by_hand(h: f64, n: usize, printed: bool) -> (f64, f64) {
    let (mut q, mut v) = (1.0f64, 0.5f64);
    for _ in 0..n {
        let (by_q, by_v) = (-v * v - 1.0, -2.0 * q * v);
        let m = if printed { mass(q) } else { mass(q + 0.5 * h * v) };
        let tilde = m - 0.5 * h * by_v - 0.25 * h * h * by_q;
        let k = force(q, v) + if printed { 0.25 } else { 0.5 } * h * by_q * v;
        let next = v + h * k / tilde;
        (q, v) = (q + 0.5 * h * (v + next), next);
    }
    (q, v)
}

fn reference(end: f64) -> (f64, f64) {
    let f = |(q, v): (f64, f64)| (v, force(q, v) / mass(q));
    let add = |(q, v): (f64, f64), s: f64, (dq, dv): (f64, f64)| (q + s * dq, v + s * dv);
    let (n, mut y) = (20000, (1.0, 0.5));
    let h = end / f64::from(n);
    for _ in 0..n {
        let a = f(y);
        let b = f(add(y, 0.5 * h, a));
        let c = f(add(y, 0.5 * h, b));
        let d = f(add(y, h, c));
        y = add(y, h / 6.0, (a.0 + 2.0 * b.0 + 2.0 * c.0 + d.0, a.1 + 2.0 * b.1 + 2.0 * c.1 + d.1));
    }
    y
}

#[test]
fn second_order_with_a_mass_that_changes_needs_the_corrections() {
    let exact = reference(2.0);
    let counts = [100usize, 200, 400, 800];
    let steps: Vec<f64> = counts.iter().map(|n| 2.0 / *n as f64).collect();
    let order = |printed: bool| {
        let errors: Vec<f64> =
            counts.iter().zip(&steps).map(|(n, h)| (by_hand(*h, *n, printed).0 - exact.0).abs()).collect();
        fit_order(&steps, &errors).unwrap().order
    };
    let (printed, corrected) = (order(true), order(false));
    println!("M(q): order {printed:.3} as printed, {corrected:.3} corrected");
    // ±0.1: the next term of the error at the largest step.
    assert!((printed - 1.0).abs() <= 0.1 && (corrected - 2.0).abs() <= 0.1, "{printed}, {corrected}");
    for (n, h) in counts.iter().zip(&steps) {
        let (summary, _) = run(SCENE, *h, 2.0, &[]);
        let (q, v) = by_hand(*h, *n, false);
        // Rounding of 800 steps.
        assert!((summary.end.q[0] - q).abs() <= 1e-12 && (summary.end.u[0] - v).abs() <= 1e-12, "{:?}", summary.end);
    }
}
