//! Orders: dense L¹ errors by `compare`, with the polynomials of the schemes; friction; the accumulation of impacts.

use super::SIDES;
use nonsmooth_scene::compare::{CompareRequest, Comparison, ReferenceChoice, SchemeChoice, compare};
use nonsmooth_scene::file::Document;
use nonsmooth_scene::prepare::read;

fn compared(document: &Document, schemes: &[String], steps: &[f64], set: &[&str], dense: bool) -> Comparison {
    let request = CompareRequest {
        schemes: schemes.iter().map(|s| SchemeChoice::parse(s).unwrap()).collect(),
        steps: steps.to_vec(),
        reference: ReferenceChoice::ClosedForm,
        set: set.iter().map(|s| (*s).to_string()).collect(),
        end: None,
        at: Vec::new(),
        dense,
        threads: 0,
    };
    compare(document, &request).unwrap()
}

fn schemes(degrees: std::ops::RangeInclusive<usize>) -> Vec<String> {
    SIDES.iter().flat_map(|s| degrees.clone().map(move |m| format!("{s}{{degree={m}}}"))).collect()
}

/// Orders of positions and interactions.
const EVEN_GAINS: [f64; 4] = [2.0, 4.0, 4.0, 6.0];

#[test]
fn dense_orders_are_those_of_the_polynomials() {
    let steps = [0.5, 0.25, 0.125, 0.0625, 0.03125];
    let flight = compared(&read("ball_flight").unwrap(), &schemes(1..=4), &steps, &["parameters.w=1"], true);
    let rest = compared(&read("ball_rest").unwrap(), &schemes(1..=4), &steps, &["parameters.w=1"], true);
    for (i, (f, r)) in flight.orders.iter().zip(&rest.orders).enumerate() {
        let (m, q, u, p) = (i % 4 + 1, f.q.unwrap(), f.u.unwrap(), r.p.unwrap());
        println!("{}: velocity {u:.3}, position {q:.3}, interaction {p:.3}", f.scheme);
        // The issue of a lost order would be one; the longest step, half a second of exp(t), shifts the fit by up to 0.12.
        assert!((u - (m as f64 + 1.0)).abs() <= 0.25, "{}: {u}", f.scheme);
        assert!(
            (q - EVEN_GAINS[m - 1]).abs() <= 0.25 && (p - EVEN_GAINS[m - 1]).abs() <= 0.25,
            "{}: {q}, {p}",
            f.scheme
        );
        // At rest the state is zero, exactly.
        let state = rest.rows.iter().filter(|row| row.scheme == SIDES[i / 4]).map(|row| row.errors.unwrap());
        assert!(state.into_iter().all(|e| e.q.sup == 0.0 && e.u.sup == 0.0), "{}", r.scheme);
    }
}

#[test]
fn through_the_accumulation_of_impacts_order_is_one_and_minus_is_better() {
    // Steps that divide no time of an impact; where in a step impacts fall moves the error of one run by a factor of two or more, which sixteen steps over a decade and a half average.
    let steps: Vec<f64> = (0..16).map(|k| 0.02 / std::f64::consts::SQRT_2 * 0.785f64.powi(k)).collect();
    let c = compared(&read("bouncing_ball").unwrap(), &schemes(1..=1), &steps, &[], true);
    let total = |scheme: &str| -> [f64; 3] {
        let rows: Vec<_> = c.rows.iter().filter(|r| r.scheme == scheme).map(|r| r.errors.unwrap()).collect();
        let mean = |pick: fn(&nonsmooth_scene::compare::Errors) -> f64| {
            (rows.iter().map(|e| pick(e).ln()).sum::<f64>() / rows.len() as f64).exp()
        };
        [mean(|e| e.q.l1), mean(|e| e.u.l1), mean(|e| e.p.unwrap().l1)]
    };
    for o in &c.orders {
        let (q, u, p) = (o.q.unwrap(), o.u.unwrap(), o.p.unwrap());
        println!("{}: q {q:.2}, u {u:.2}, interaction {p:.2}", o.scheme);
        // About 1: scatter of ±0.1, and the factor log 1/h of the accumulation costs 0.15 (crates/nonsmooth/tests/zeno.rs).
        assert!([q, u, p].iter().all(|x| (0.7..=1.25).contains(x)), "{}: {q}, {u}, {p}", o.scheme);
    }
    let (minus, plus) = (total(SIDES[0]), total(SIDES[1]));
    println!("geometric means of L1 errors, q u p: D- {minus:?}, D+ {plus:?}");
    // The stages of D⁺ swing in the step of an impact. Its percussions are those of D⁻ where the force is constant: both take the same γ⁻, to rounding.
    assert!(minus[0] < plus[0] && minus[1] < plus[1] && (minus[2] - plus[2]).abs() <= 1e-9 * plus[2]);
}

/// A block on two rough corners, on a spring, under a load that presses it in turns: it slides to the right.
const BLOCK: &str = r#"
[model]
coordinates = ["x", "y", "theta"]
mass = ["m", "m", "J"]
[parameters]
m = 2
J = 0.3
mu = 0.3
g = 9.81
k = 5
[[force]]
name = "spring"
value = ["-k*x", "0", "0"]
[[force]]
name = "load"
value = ["0", "-m*g*(1 + 0.3*sin(3*t))", "0"]
[[contact]]
name = "left"
gap = "y - 0.5*theta"
slip = "x' + 0.25*theta'"
friction = "mu"
[[contact]]
name = "right"
gap = "y + 0.5*theta"
slip = "x' + 0.25*theta'"
friction = "mu"
[initial]
u = [5, 0, 0]
[time]
step = 1e-2
end = 0.5
[scheme]
name = "moreau-jean"
[exact]
q = ["C + S*sin(3*t) - C*cos(w*t) + b*sin(w*t)", 0, 0]
u = ["3*S*cos(3*t) + C*w*sin(w*t) + b*w*cos(w*t)", 0, 0]
[exact.define]
w = "sqrt(k/m)"
C = "-mu*g/w^2"
S = "-0.3*mu*g/(w^2 - 9)"
b = "(5 - 3*S)/w"
"#;

#[test]
fn a_block_that_slides_on_two_corners_has_the_orders_of_smooth_motion() {
    let steps = [0.125, 0.0625, 0.03125, 0.015625, 0.0078125];
    let document = Document::parse("block", BLOCK).unwrap();
    let c = compared(&document, &schemes(1..=3), &steps, &[], false);
    for (i, o) in c.orders.iter().enumerate() {
        let (m, q, u) = (i % 3 + 1, o.q.unwrap(), o.u.unwrap());
        println!("{}: q {q:.3}, u {u:.3}", o.scheme);
        assert!(
            (q - EVEN_GAINS[m - 1]).abs() <= 0.25 && (u - EVEN_GAINS[m - 1]).abs() <= 0.25,
            "{}: {q}, {u}",
            o.scheme
        );
    }
}

/// A point slides on a table until it stops, pulled aside by a spring: the slip turns, in space.
const TURNING: &str = r#"
[model]
coordinates = ["x", "y", "z"]
mass = [1, 1, 1]
[[force]]
name = "springs"
value = ["-2*x", "-6*y", "-9.81"]
[[contact]]
name = "table"
gap = "z"
slip = ["x'", "y'"]
friction = 0.2
[initial]
u = [2, 1, 0]
[time]
step = 1e-2
end = 0.4
[scheme]
name = "moreau-jean"
"#;

#[test]
fn friction_whose_direction_turns_keeps_the_order() {
    let document = Document::parse("turning", TURNING).unwrap();
    let request = CompareRequest {
        schemes: schemes(1..=3).iter().map(|s| SchemeChoice::parse(s).unwrap()).collect(),
        steps: vec![0.1, 0.05, 0.025, 0.0125],
        reference: ReferenceChoice::Run(SchemeChoice::parse("tdg-minus{degree=6,newton_tol=1e-14}").unwrap(), 5e-3),
        set: Vec::new(),
        end: None,
        at: vec![0.1, 0.2, 0.3, 0.4],
        dense: false,
        threads: 0,
    };
    let c = compare(&document, &request).unwrap();
    for (i, o) in c.orders.iter().enumerate() {
        let (m, q, u) = (i % 3 + 1, o.q.unwrap(), o.u.unwrap());
        println!("{}: q {q:.3}, u {u:.3}", o.scheme);
        // The slip slows from 2.2 to 1 m/s, so that its direction turns by more in a step at the end: some tenths of an order, where it is lost by one or more with a direction
        // of the start or the end of the step.
        assert!(q >= EVEN_GAINS[m - 1] - 0.3 && u >= EVEN_GAINS[m - 1] - 0.3, "{}: {q}, {u}", o.scheme);
    }
}
