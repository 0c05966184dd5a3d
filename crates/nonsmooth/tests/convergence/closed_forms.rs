//! The exact solutions themselves: each solves its equations of motion and its impact law.

use super::impacts::{Impacting, impacting_problems};
use super::{Point, system};
use nonsmooth::Differentiated;
use nonsmooth::contract::{Evaluator, Workspace};
use nonsmooth_reference::{DrivenSpring, Flight, Oscillator, Top, damped_free, zeno};

/// Central differences with ε = 1e-5: truncation ε² |x'''|/6 ≤ 1e-10·27/6 for the steepest of these functions,
/// rounding 1e-16·10/ε.
const DIFFERENCE: f64 = 1e-5;
const AGREES: f64 = 2e-9;

fn solves(name: &str, exact: impl Fn(f64) -> Point, acceleration: impl Fn(f64, f64, f64) -> f64, t: f64) {
    let (q, u) = exact(t);
    let (after, before) = (exact(t + DIFFERENCE), exact(t - DIFFERENCE));
    let rate = ((after.0 - before.0) / (2.0 * DIFFERENCE), (after.1 - before.1) / (2.0 * DIFFERENCE));
    assert!((rate.0 - u).abs() <= AGREES, "{name}: q' = {} but u = {u} at t = {t}", rate.0);
    let expected = acceleration(t, q, u);
    assert!((rate.1 - expected).abs() <= AGREES, "{name}: u' = {} but {expected} at t = {t}", rate.1);
}

#[test]
fn closed_forms_of_one_coordinate_solve_their_equations() {
    for k in 1..40 {
        let t = 0.05 * f64::from(k);
        solves("damped", |t| damped_free(0.15, (4.0f64 - 0.0225).sqrt(), 1.0, 0.5, t), |_, q, u| -0.3 * u - 4.0 * q, t);
        let flight = Flight::default();
        solves("flight", |t| flight.exact(0.0, 1.0, t), |t, _, _| -10.0 * t.exp(), 0.5 * t);
        let spring = DrivenSpring::default();
        solves("spring", |t| spring.exact(0.2, 0.0, t), |t, q, _| -4.0 * (q - 0.5 * (3.0 * t).sin()), t);
    }
    assert_eq!(Flight::default().exact(0.3, 1.0, 0.0), (0.3, 1.0));
    assert_eq!(DrivenSpring::default().exact(0.2, 0.7, 0.0), (0.2, 0.7));
}

#[test]
fn the_free_top_solves_eulers_equations_and_its_kinematics() {
    let (top, o1, o3) = (Top::default(), 1.5, 4.0);
    let system = Differentiated::new(top.clone()).unwrap();
    assert_eq!(top.exact(o1, o3, 0.0), ([1.0, 0.0, 0.0, 0.0], [o1, 0.0, o3]));
    let work = Workspace::default();
    for k in 1..20 {
        let t = 0.1 * f64::from(k);
        let (q, u) = top.exact(o1, o3, t);
        let (after, before) = (top.exact(o1, o3, t + DIFFERENCE), top.exact(o1, o3, t - DIFFERENCE));
        assert!((q.iter().map(|x| x * x).sum::<f64>() - 1.0).abs() < 1e-15 * 8.0, "a unit quaternion, to rounding");
        let mut rates = [0.0; 4];
        Evaluator::new(&system, &work).kinematics(t, &q, &u, &mut rates);
        for i in 0..4 {
            assert!((rates[i] - (after.0[i] - before.0[i]) / (2.0 * DIFFERENCE)).abs() <= AGREES, "q{i} at {t}");
        }
        let mut h = [0.0; 3];
        Evaluator::new(&system, &work).force(1, t, &q, &u, &mut h);
        for (i, inertia) in [top.a, top.a, top.c].into_iter().enumerate() {
            let rate = (after.1[i] - before.1[i]) / (2.0 * DIFFERENCE);
            assert!((inertia * rate - h[i]).abs() <= inertia * AGREES, "o{i} at {t}");
        }
    }
}

/// Checks equation and impact law of an exact solution through its listed jumps.
fn passes_impacts(problem: &Impacting, e: f64, acceleration: impl Fn(f64, f64, f64) -> f64) {
    let mut start = 0.0;
    for &(t, before, after) in &problem.jumps {
        if t - start < 1e-3 {
            // Arcs shorter than some differences: the rest of an accumulation.
            break;
        }
        for i in 1..10 {
            solves(problem.name, &problem.exact, &acceleration, start + (t - start) * f64::from(i) / 10.0);
        }
        // Just before and after the impact: q = 0 and u⁺ = −e u⁻; within 1e-9 s both move by |u| 1e-9 and |u'| 1e-9.
        let (near, far) = ((problem.exact)(t - 1e-9), (problem.exact)(t + 1e-9));
        assert!(near.0 >= 0.0 && far.0 >= 0.0, "{}: above the ground at {t}", problem.name);
        assert!(near.0 < 1e-8 && far.0 < 1e-8, "{}: at the ground at {t}", problem.name);
        assert!((near.1 - before).abs() < 1e-8 && (far.1 - after).abs() < 1e-8, "{}: jump at {t}", problem.name);
        assert!(before < 0.0 && (far.1 + e * near.1).abs() < 1e-8, "{}: impact law at {t}", problem.name);
        start = t;
    }
}

#[test]
fn the_exact_impacting_solutions_solve_their_equations_and_their_impact_law() {
    let [ball, oscillator] = <[Impacting; 2]>::try_from(impacting_problems()).ok().unwrap();
    passes_impacts(&ball, 0.5, |_, _, _| -2.0);
    passes_impacts(&oscillator, 0.5, |_, q, u| -0.1 * u - q);
    // At rest after the accumulation.
    assert_eq!([zeno(3.0), zeno(3.5)], [(0.0, 0.0); 2]);
    // A start that first rises, and the start itself.
    let model = Oscillator::default();
    assert_eq!(model.exact(1.0, 0.7, 0.0), (1.0, 0.7));
    let rising = Impacting {
        name: "oscillator thrown up",
        system: system(model.clone()),
        end: 3.0,
        jumps: Vec::new(),
        exact: Box::new(move |t| model.exact(0.5, 2.0, t)),
    };
    for k in 1..20 {
        solves(rising.name, &rising.exact, |_, q, u| -0.1 * u - q, 0.1 * f64::from(k));
    }
}
