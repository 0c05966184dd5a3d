//! Orders of fixed extrapolation through impacts, and errors over tolerances.

use nonsmooth::measure::fit_order;
use nonsmooth_scene::compare::{CompareRequest, Comparison, ReferenceChoice, SchemeChoice, compare};
use nonsmooth_scene::prepare::{Prepared, Request, read};
use nonsmooth_scene::run::RunOptions;

/// Against a scheme with the first step, or against the closed form.
fn compared(
    scene: &str,
    set: &[&str],
    schemes: &[String],
    steps: &[f64],
    end: Option<f64>,
    reference: Option<&str>,
) -> Comparison {
    let parse = |s: &str| SchemeChoice::parse(s).unwrap();
    let request = CompareRequest {
        schemes: schemes.iter().map(|s| parse(s)).collect(),
        steps: steps.to_vec(),
        reference: reference.map_or(ReferenceChoice::ClosedForm, |s| ReferenceChoice::Run(parse(s), steps[0])),
        set: set.iter().map(|s| (*s).to_string()).collect(),
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
        let result = compared("impact_oscillator", &[], std::slice::from_ref(&scheme), &steps, None, None);
        let errors: Vec<f64> = result.rows.iter().map(|r| r.errors.unwrap().q.sup).collect();
        let calls = result.rows.last().unwrap().calls;
        let order = fit_order(&steps, &errors).unwrap().order;
        println!("p = {p}: slope {order:.2}, error {:.1e} with {calls} base calls", errors[errors.len() - 1]);
        assert!((order - f64::from(p)).abs() <= 0.35, "p = {p}: {order}");
    }
}

/// The same over the other bases.
#[test]
fn orders_through_impacts_over_other_bases() {
    let steps: Vec<f64> = (0..12).map(|k| 0.02 * 0.9f64.powi(k)).collect();
    for base in ["moreau-jean", "rattle", "projected-direct", "projected-combined"] {
        for p in [2, 4] {
            let scheme = format!("augmented{{base={base},fixed_order={p},dt_min=step^{p}}}");
            let result = compared("impact_oscillator", &[], std::slice::from_ref(&scheme), &steps, None, None);
            let errors: Vec<f64> = result.rows.iter().map(|r| r.errors.unwrap().q.sup).collect();
            let order = fit_order(&steps, &errors).unwrap().order;
            println!("{base}, p = {p}: slope {order:.2}, errors {:.1e} to {:.1e}", errors[0], errors[11]);
            assert!((order - f64::from(p)).abs() <= 0.35, "{base}, p = {p}: {order}");
        }
    }
}

/// A model, what is set, its dt_max, its end, and whether its closed form is the reference.
type Proportional<'a> = (&'a str, &'a [&'a str], f64, f64, bool);

/// The largest step is long enough for the tolerance to decide, not dt_max: on `slope_mass`, which switches nowhere here, it takes 0.4 s. Impacts with and without accumulation, stick and slip, in one dimension and in two. The woodpecker starts with the lower edge of its sleeve exactly on the pole.
const PROPORTIONAL: [Proportional; 7] = [
    ("falling_mass", &[], 0.05, 0.5, true),
    ("impact_oscillator", &[], 0.05, 0.9, true),
    ("bouncing_ball", &[], 0.1, 2.4, true),
    ("rocking_block", &[], 0.02, 0.5, false),
    ("sliding_mass", &[], 0.05, 4.0, false),
    ("slope_mass", &[], 0.4, 1.0, false),
    ("woodpecker", &["initial.q=[0, -0.10344827586206896, -0.2788]"], 0.005, 0.15, false),
];

/// Errors per time, and switches located as well as the tolerance asks for: the error is proportional to it. With the paper's test per step and its dt_min, it
/// is not. Where there is no closed form, the reference has a hundredth of the smallest tolerance.
#[test]
fn errors_are_proportional_to_the_tolerance() {
    let tolerances: Vec<f64> = (3..=8).map(|k| 0.1f64.powi(k)).collect();
    for (scene, set, step, end, closed_form) in PROPORTIONAL {
        let reference = (!closed_form).then_some("augmented{atol=1e-10,control=tolerance}");
        let slope = |control: &str| {
            let scheme = |tol: &f64| format!("augmented{{atol={tol:e},control={control}}}");
            let schemes: Vec<String> = tolerances.iter().map(scheme).collect();
            let result = compared(scene, set, &schemes, &[step], Some(end), reference);
            let errors: Vec<f64> = result.rows.iter().map(|r| r.errors.unwrap().q.sup).collect();
            println!("{scene}, control = {control}: {errors:?}");
            fit_order(&tolerances, &errors).unwrap().order
        };
        let (per_step, per_time) = (slope("step"), slope("tolerance"));
        println!("{scene}: slope {per_step:.2} per step, {per_time:.2} with the tolerance");
        assert!((0.8..=1.2).contains(&per_time), "{scene}: {per_time}");
        // Between impacts errors follow the tolerance per step as well.
        assert!(!closed_form || per_step < 0.5, "{scene}: {per_step}");
    }
}

/// A state inside a step is that of a side step: as accurate as the ends, where the cubic between the ends of steps is not. The run does not notice.
#[test]
fn states_inside_a_step_have_its_accuracy() {
    // Up to the first impact, at π/2, without damping: cos t.
    let set = ["scheme.fixed_order=6", "scheme.dt_max=0.4", "scheme.dt_min=1e-3", "parameters.c=0"];
    let set = set.map(String::from).to_vec();
    let request = Request { scheme: Some("augmented".into()), end: Some(1.5), set, ..Request::default() };
    let run = |at: &[f64]| {
        let options = RunOptions { at: at.to_vec(), ..RunOptions::default() };
        Prepared::load("linear_oscillator", &request).unwrap().run(&options, &mut |_, _| {}).unwrap()
    };
    let times: Vec<f64> = (0..36).map(|k| 0.04 * f64::from(k) + 0.037).collect();
    let (with, without) = (run(&times), run(&[]));
    assert_eq!((&with.summary.end.q, &with.summary.end.u), (&without.summary.end.q, &without.summary.end.u));
    assert_eq!(with.summary.work.scheme_calls, without.summary.work.scheme_calls);
    let off = with.at.iter().fold(0.0f64, |m, r| m.max((r.q[0] - r.t.cos()).abs()).max((r.u[0] + r.t.sin()).abs()));
    let end = (with.summary.end.q[0] - 1.5f64.cos()).abs();
    println!("inside steps off by {off:.1e}, at the end by {end:.1e}");
    // Seen: 7e-8 and, at the end, 3e-8; the cubic would be off by up to 0.4⁴/384 = 7e-5.
    assert!(with.summary.work.steps < 30 && off <= 2e-7, "{off:e}");
}

/// Fig. 14: the woodpecker at t = 0.06 s, after one switch, at dt_min = 1e-10 s; the lower edge of its sleeve touches the pole exactly at the start. The rule is a leapfrog here: orders are even.
#[test]
fn fixed_orders_of_the_woodpecker_are_2_2_4_4() {
    let phi = |set: &[&str]| {
        let start = "initial.q=[0, -0.10344827586206896, -0.2788]";
        let (summary, _) = super::run("woodpecker", 0.06, &[&["scheme.dt_min=1e-10", start], set].concat());
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
