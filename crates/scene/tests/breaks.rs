//! Conditions on the time in formulas are breaks: a step ends where a force is switched, a motion has a kink.

use nonsmooth::Simulation;
use nonsmooth::scheme::SCHEMES;
use nonsmooth::simulation::EventKind;
use nonsmooth_scene::explain::explain;
use nonsmooth_scene::file::Document;
use nonsmooth_scene::prepare::{Prepared, Request};
use nonsmooth_scene::run::{RunOptions, RunOutcome};
use std::sync::Arc;

fn prepared(text: &str, request: &Request) -> Prepared {
    Prepared::new(Document::parse("switched", text).unwrap(), request).unwrap()
}

fn run(text: &str, request: &Request) -> RunOutcome {
    prepared(text, request).run(&RunOptions::default(), &mut |_, _| {}).unwrap()
}

/// A unit mass that a force of 3 N pushes until t_off.
fn switched(t_off: f64, force: &str) -> String {
    format!(
        "[model]\ncoordinates = [\"x\"]\nmass = 1\nforce = \"{force}\"\n[parameters]\nt_off = {t_off}\n[initial]\nu = [0.1]\n\
         [time]\nstep = 0.25\nend = 2\n"
    )
}

#[test]
fn a_force_that_is_switched_off_inside_a_step_is_exact_in_all_schemes() {
    let (end, step) = (2.0, 0.25);
    let mut tried = 0;
    for scheme in SCHEMES {
        for phase in [0.0, 1e-6, 0.1, 0.37, 0.5, 0.77, 0.999] {
            let t_off = 0.75 + phase * step;
            // A scheme of one step length needs breaks on its grid, and says so.
            if !scheme.variable_step && phase > 0.0 {
                let p = prepared(&switched(t_off, "if(t < t_off, 3, 0)"), &request(scheme.name));
                assert!(p.simulation().is_err(), "{}", scheme.name);
                continue;
            }
            for force in ["if(t < t_off, 3, 0)", "3*(1 - sign(t - t_off))/2", "max(0, 3*sign(t_off - t))"] {
                let outcome = run(&switched(t_off, force), &request(scheme.name));
                let (q, u) = (outcome.summary.end.q[0], outcome.summary.end.u[0]);
                let expected = [0.1 * end + 3.0 * t_off * (end - 0.5 * t_off), 0.1 + 3.0 * t_off];
                // Forces that are constant on each side are summed exactly, but for the rounding of some ten steps of numbers of the size 5.
                assert!((u - expected[1]).abs() <= 1e-13, "{} {t_off} {force}: u {u}", scheme.name);
                assert!((q - expected[0]).abs() <= 1e-12, "{} {t_off} {force}: q {q}", scheme.name);
                let breaks = outcome.summary.events.iter().filter(|e| e.kind == EventKind::Break);
                assert_eq!(breaks.map(|e| e.t).collect::<Vec<_>>(), [t_off], "{}", scheme.name);
                tried += 1;
            }
        }
    }
    assert!(tried > 3 * 7 * 8, "{tried}");
}

fn request(scheme: &str) -> Request {
    Request { scheme: Some(scheme.into()), ..Request::default() }
}

/// A force with a duty cycle, through definitions; the momentum is the sum of its pulses.
#[test]
fn a_periodic_force_acts_in_its_pulses_alone() {
    let text = "[model]\ncoordinates = [\"x\"]\nmass = 1\nforce = \"if(phase < 0.013, 100, 0)\"\n[define]\nphase = \"t - 0.07*floor(t/0.07)\"\n\
                [time]\nstep = 0.02\nend = 1\n";
    for scheme in SCHEMES.iter().filter(|s| s.variable_step) {
        let outcome = run(text, &request(scheme.name));
        // 15 pulses from 0 to 0.98 s: the last one ends at 0.993 s. Breaks are known to some roundings of t, times 100 N.
        assert!(
            (outcome.summary.end.u[0] - 15.0 * 1.3).abs() <= 1e-11,
            "{}: {}",
            scheme.name,
            outcome.summary.end.u[0]
        );
    }
}

/// A table that begins to lift a box at a known time within a step: the box leaves with its velocity.
#[test]
fn the_motion_of_a_body_has_breaks() {
    let text = r#"
[[body]]
name = "table"
shape.rectangle = { width = 1, height = 0.2 }
motion.y = "-0.1 + max(0, 0.5*(t - 0.333))"
[[body]]
name = "box"
shape.rectangle = { width = 0.2, height = 0.2 }
density = 25
position = [0, 0.1]
[[contact]]
name = "floor"
restitution = 0
[time]
step = 0.01
end = 0.5
"#;
    let p = prepared(text, &Request::default());
    assert_eq!(p.system.structure().breaks, [0.333]);
    let shown = explain(&p).unwrap();
    assert!(shown.contains("0.333 s: `max` at switched:5"), "{shown}");
    let outcome = run(text, &Request::default());
    let (q, u) = (outcome.summary.end.q[1], outcome.summary.end.u[1]);
    // On velocity level the jump is felt at the end of the step in which it happens: at most a step late.
    assert!((u - 0.5).abs() <= 1e-12 && (q - (0.1 + 0.5 * 0.167)).abs() <= 0.5 * 0.01, "{q} {u}");
    assert!(outcome.summary.events.iter().any(|e| e.kind == EventKind::Break && e.t == 0.333));
}

#[test]
fn check_lists_breaks_with_their_origin_and_what_is_not_located() {
    let text = "[model]\ncoordinates = [\"x\"]\nmass = \"if(t < 0.7, 1, 2)\"\nforce = \"if(x > t, 1, 0) + floor(t/1e-6) + drive\"\nbreaks = [0.3, 0.5]\n\
                potential = \"x*sign(t - 0.5)\"\n[define]\ndrive = \"abs(sin(20*t))\"\n[time]\nstep = 0.1\nend = 1\n";
    let p = prepared(text, &Request::default());
    let sines: Vec<f64> = (0..7).map(|k| std::f64::consts::PI * f64::from(k) / 20.0).collect();
    let mut expected = [vec![0.3, 0.5, 0.7], sines].concat();
    expected.sort_by(f64::total_cmp);
    let found = &p.system.structure().breaks;
    assert!(
        found.len() == expected.len() && found.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-15),
        "{found:?}"
    );
    let shown = explain(&p).unwrap();
    for line in [
        "0.3, 0.5 s: `model.breaks` at switched:5",
        "0.7 s: `if` at switched:3",
        "`abs` at switched:8",
        "not located: `if` at switched:4",
        "`floor` at switched:4",
        "switches more than 10000 times",
    ] {
        assert!(shown.contains(line), "{line}\n{shown}");
    }
}

/// A run that goes on to a later end meets the breaks beyond the first one.
#[test]
fn a_resumed_run_knows_later_breaks() {
    let text = switched(1.62, "if(t < t_off, 3, 0)");
    for scheme in ["moreau-jean", "augmented"] {
        let request = |end: f64| Request { end: Some(end), ..request(scheme) };
        let (short, long) = (prepared(&text, &request(1.0)), prepared(&text, &request(2.0)));
        assert!(short.breaks.list.is_empty() && long.breaks.list.len() == 1);
        let mut first = short.simulation().unwrap();
        first.run();
        let scheme = (long.scheme.make)(&long.settings).unwrap();
        let mut second =
            Simulation::resume(Arc::clone(&long.system), scheme, long.options.clone(), &first.checkpoint()).unwrap();
        let end = second.run();
        assert!((end.end.u[0] - (0.1 + 3.0 * 1.62)).abs() <= 1e-13, "{}", end.end.u[0]);
        assert!(end.events.iter().any(|e| e.kind == EventKind::Break && e.t == 1.62));
    }
}
