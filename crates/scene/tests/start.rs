//! Scenes that start at another time than 0.

use nonsmooth_scene::file::Document;
use nonsmooth_scene::prepare::{Prepared, Request};
use nonsmooth_scene::run::{RunOptions, RunOutcome};

/// A mass that is pushed by f(t) and bounces between walls; `shift` is added to t in the formulas.
fn scene(start: &str, end: f64, shift: &str) -> String {
    format!(
        r#"
[model]
coordinates = ["x"]
mass = 1
[[force]]
name = "push"
value = ["20*sin(3*(t + {shift}))"]
[[contact]]
name = "left"
gap = "x + 1 + 0.1*sin(t + {shift})"
restitution = 0.5
[[contact]]
name = "right"
gap = "1 - x"
[time]
step = 1e-3
{start}
end = {end}
"#
    )
}

fn run(text: &str, at: &[f64]) -> Result<RunOutcome, String> {
    let document = Document::parse("pushed", text).map_err(|e| e.to_string())?;
    let mut p = Prepared::new(document, &Request::default()).map_err(|e| e.to_string())?;
    let options = RunOptions { at: at.to_vec(), ..RunOptions::default() };
    p.run(&options, &mut |_, _| {}).map_err(|e| e.to_string())
}

#[test]
fn a_run_from_another_time_is_the_run_from_zero_with_formulas_of_a_later_time() {
    // The grid points of both are those of one step of 2⁻¹⁰ s, so that t is the same to the bit.
    let binary = |text: String| text.replace("1e-3", "0.0009765625");
    let late = run(&binary(scene("start = 2", 5.0, "0")), &[2.0, 3.5, 5.0]).unwrap();
    let early = run(&binary(scene("", 3.0, "2")), &[0.0, 1.5, 3.0]).unwrap();
    assert_eq!(late.summary.work, early.summary.work);
    assert!(late.summary.events.len() > 4, "it bounces: {}", late.summary.events.len());
    for (a, b) in late.at.iter().zip(&early.at) {
        assert_eq!((a.t - 2.0, &a.q, &a.u), (b.t, &b.q, &b.u));
    }
    for (a, b) in late.summary.events.iter().zip(&early.summary.events) {
        assert_eq!(a.kind, b.kind);
        // Rounding of times up to 5.
        assert!((a.t - 2.0 - b.t).abs() <= 4.0 * 5.0 * f64::EPSILON, "{} {}", a.t, b.t);
    }
}

#[test]
fn times_outside_the_run_are_refused_with_its_start() {
    let error = |start: &str, end: f64, at: &[f64]| run(&scene(start, end, "0"), at).err().unwrap();
    assert!(error("start = 2", 5.0, &[1.0]).contains("--at 1 lies outside [2, 5]"));
    assert!(error("start = 2", 1.0, &[]).contains("end time 1 must be finite and after the start 2"));
    assert!(run(&scene("start = -2", -1.0, "0"), &[-1.5]).is_ok(), "times may be negative");
}
