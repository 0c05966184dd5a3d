//! Orders of fixed extrapolation through impacts, and errors over tolerances.

use nonsmooth::measure::fit_order;
use nonsmooth_scene::compare::{CompareRequest, Comparison, ReferenceChoice, SchemeChoice, compare};
use nonsmooth_scene::prepare::read;

fn compared(scene: &str, schemes: &[String], steps: &[f64], end: Option<f64>) -> Comparison {
    let request = CompareRequest {
        schemes: schemes.iter().map(|s| SchemeChoice::parse(s).unwrap()).collect(),
        steps: steps.to_vec(),
        reference: ReferenceChoice::ClosedForm,
        set: Vec::new(),
        end,
        at: Vec::new(),
        dense: false,
        threads: 0,
    };
    compare(&read(scene).unwrap(), &request).unwrap()
}

/// Fig. 12 (e), (f): with dt_min = dt_max^p the order through impacts is p.
#[test]
fn fixed_orders_are_orders_through_impacts() {
    // Where an impact falls within dt_min is chance: enough steps for it to even out.
    let steps: Vec<f64> = (0..16).map(|k| 0.02 * 0.91f64.powi(k)).collect();
    for p in 1..=6 {
        let scheme = format!("augmented{{fixed_order={p},dt_min=step^{p}}}");
        let result = compared("impact_oscillator", std::slice::from_ref(&scheme), &steps, None);
        let errors: Vec<f64> = result.rows.iter().map(|r| r.errors.unwrap().q.sup).collect();
        let calls = result.rows.last().unwrap().calls;
        let order = fit_order(&steps, &errors).unwrap().order;
        println!("p = {p}: slope {order:.2}, error {:.1e} with {calls} base calls", errors[errors.len() - 1]);
        assert!((order - f64::from(p)).abs() <= 0.35, "p = {p}: {order}");
    }
}

/// Errors per time, and switches located as well as the tolerance asks for: the error is proportional to it. With the paper's test per step and its dt_min, it
/// is not.
#[test]
fn errors_are_proportional_to_the_tolerance() {
    let tolerances: Vec<f64> = (3..=8).map(|k| 0.1f64.powi(k)).collect();
    for (scene, step, end) in
        [("falling_mass", 0.05, 0.5), ("impact_oscillator", 0.05, 0.9), ("bouncing_ball", 0.1, 2.4)]
    {
        let slope = |control: &str| {
            let scheme = |tol: &f64| format!("augmented{{atol={tol:e},control={control}}}");
            let schemes: Vec<String> = tolerances.iter().map(scheme).collect();
            let result = compared(scene, &schemes, &[step], Some(end));
            let errors: Vec<f64> = result.rows.iter().map(|r| r.errors.unwrap().q.sup).collect();
            println!("{scene}, control = {control}: {errors:?}");
            fit_order(&tolerances, &errors).unwrap().order
        };
        let (per_step, per_time) = (slope("step"), slope("tolerance"));
        println!("{scene}: slope {per_step:.2} per step, {per_time:.2} with the tolerance");
        assert!((0.8..=1.2).contains(&per_time), "{scene}: {per_time}");
        assert!(per_step < 0.5, "{scene}: {per_step}");
    }
}

/// Fig. 14: the woodpecker at t = 0.06 s, after one switch, at dt_min = 1e-10 s; the lower edge of its sleeve touches the pole exactly at the start. The rule is a leapfrog here: orders are even.
#[test]
fn fixed_orders_of_the_woodpecker_are_2_2_4_4() {
    let phi = |set: &[&str]| {
        let start = "initial.q=[0, -0.10344827586206896, -0.2788]";
        let (summary, _) = crate::run("woodpecker", 0.06, &[&["scheme.dt_min=1e-10", start], set].concat());
        summary.end.q[2]
    };
    let exact = phi(&["scheme.dt_max=9e-4", "scheme.atol=1e-10"]);
    let steps = [9e-4, 7.2e-4, 5.8e-4, 4.6e-4, 3.7e-4, 3e-4];
    for (p, expected) in [(1, 2.0), (2, 2.0), (3, 4.0), (4, 4.0)] {
        for extrapolation in ["auto", "every"] {
            let error = |h: &f64| {
                let [order, longest, powers] =
                    [format!("fixed_order={p}"), format!("dt_max={h}"), format!("extrapolation={extrapolation}")];
                let set = [order, longest, powers].map(|s| format!("scheme.{s}"));
                (phi(&[&set[0], &set[1], &set[2]]) - exact).abs()
            };
            let errors: Vec<f64> = steps.iter().map(error).collect();
            let order = fit_order(&steps, &errors).unwrap().order;
            println!("p = {p}, {extrapolation}: order {order:.2}, errors {:.1e} to {:.1e}", errors[0], errors[5]);
            assert!((order - expected).abs() <= 0.35, "p = {p}, {extrapolation}: {order}");
        }
    }
}
