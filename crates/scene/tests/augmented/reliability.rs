//! What is hard for a control of steps: each with the behaviour that is stated.

use super::{run, try_prepare};
use nonsmooth::simulation::{EventKind, Status};

/// A mass in one coordinate over a floor.
fn scene(force: &str, gaps: &[&str], e: f64, q: f64, u: f64) -> String {
    let contacts = gaps.iter().enumerate();
    let contacts: String = contacts
        .map(|(i, gap)| format!("[[contact]]\nname = \"c{i}\"\ngap = \"{gap}\"\nrestitution = {e}\n"))
        .collect();
    format!(
        "[model]\ncoordinates = [\"x\", \"y\"]\nmass = [[1, 0], [0, 1]]\nforce = [\"{force}\", \"-9.81\"]\n{contacts}\
         [initial]\nq = [0, {q}]\nu = [0, {u}]\n[time]\nstep = 0.02\nend = 1\n"
    )
}

#[test]
fn chattering_ends_in_rest() {
    for e in [0.2, 0.9] {
        let (summary, steps) = run(&scene("0", &["y"], e, 0.01, 0.0), 1.5, &["scheme.dt_min=1e-6"]);
        println!("e = {e}: {} base calls, {} switches resolved", summary.work.scheme_calls, summary.work.resolved);
        let last = steps.last().unwrap();
        assert!(last.q[1].abs() <= 1e-9 && last.u[1].abs() <= 1e-12, "e = {e}: {:?} {:?}", last.q, last.u);
        assert!(steps.iter().rev().nth(1).unwrap().dt == 0.02, "the largest step again");
    }
}

#[test]
fn grazing_contacts_are_passed() {
    // A throw that comes back to the floor at its start only, and one that just touches a ceiling at 0.2 m.
    let u = (2.0f64 * 9.81 * 0.2).sqrt();
    let (summary, _) = run(&scene("0", &["y", "0.2 - y"], 0.0, 0.0, u), 0.4, &["scheme.dt_min=1e-6"]);
    let top = summary.events.iter().filter(|e| e.kind == EventKind::Impact).count();
    println!("{top} impacts, {} base calls", summary.work.scheme_calls);
    let height = summary.end.q[1];
    let exact = u * 0.4 - 0.5 * 9.81 * 0.16;
    // Missed, or met with the speed that is left there within dt_min: v = g dt_min.
    assert!((height - exact).abs() <= 1e-5, "{height} {exact}");
}

#[test]
fn simultaneous_switches_are_one_event() {
    let gaps = ["y", "y", "y + 0*x"];
    let (three, a) = run(&scene("0", &gaps, 0.5, 0.1, 0.0), 0.3, &["scheme.dt_min=1e-6", "solver.tol=1e-12"]);
    let (one, b) = run(&scene("0", &gaps[..1], 0.5, 0.1, 0.0), 0.3, &["scheme.dt_min=1e-6", "solver.tol=1e-12"]);
    assert_eq!(three.work.resolved, one.work.resolved);
    let (a, b) = (a.last().unwrap(), b.last().unwrap());
    assert!((a.q[1] - b.q[1]).abs() <= 1e-9, "{:?} {:?}", a.q, b.q);
}

#[test]
fn a_switch_at_a_step_end_is_resolved() {
    // The fall takes exactly 1/8 s, which steps of 1/64 s meet, and the run ends right after.
    let q = 0.5 * 9.81 / 64.0;
    for end in [0.125, 0.1875] {
        let (summary, steps) =
            run(&scene("0", &["y"], 0.5, q, 0.0), end, &["scheme.dt_min=9.5367431640625e-7", "scheme.dt_max=0.015625"]);
        let last = steps.last().unwrap();
        // The flight after the impact.
        let s = end - 0.125;
        let expected = 0.5 * 9.81 / 8.0 * s - 0.5 * 9.81 * s * s;
        println!("end {end}: y = {:e}, expected {expected}; {} resolved", last.q[1], summary.work.resolved);
        // Within what the speed makes of dt_min.
        assert!((last.q[1] - expected).abs() <= 2.0 * 9.81 / 8.0 * 1e-6, "{} {expected}", last.q[1]);
    }
}

#[test]
fn a_break_ends_a_step() {
    let text = scene("if(t < 0.3, 1, -1)", &[], 0.0, 0.1, 0.0).replace("force = [", "breaks = [0.3]\nforce = [");
    let (_, steps) = run(&text, 1.0, &[]);
    assert!(steps.iter().any(|s| s.t == 0.3), "no step ends at the break");
    // Exact: the motion is a parabola on both sides.
    let x = steps.last().unwrap().q[0];
    let expected = 0.5 * 0.09 + 0.3 * 0.7 - 0.5 * 0.49;
    assert!((x - expected).abs() <= 1e-12, "{x} {expected}");
}

#[test]
fn lengths_that_cannot_be_are_refused() {
    let start = |set: &[&str]| {
        try_prepare("falling_mass", 1.0, set).and_then(|p| p.simulation().map(|_| ()).map_err(|e| e.to_string()))
    };
    for (set, part) in [
        (&["scheme.dt_min=0.1", "scheme.dt_max=0.05"][..], "at most dt_max"),
        (&["scheme.dt_min=1e-18"], "rounding of t"),
        (&["scheme.dt_min=0"], "> 0"),
        (&["scheme.base=schatzman-paoli"], "one of moreau-midpoint"),
        (&["scheme.max_order=2.5"], "whole number"),
        (&["scheme.atol=0"], "tolerance > 0"),
        (&["scheme.base=rattle", "scheme.restitution=modified"], "only moreau-midpoint"),
        (&["scheme.theta=0.5"], "no option `theta`"),
        (&["scheme.base=moreau-jean", "scheme.theta=7"], "[0, 1]"),
    ] {
        let error = start(set).unwrap_err();
        assert!(error.contains(part), "{set:?}: {error}");
    }
    assert_eq!(start(&["scheme.base=moreau-jean", "scheme.theta=1"]), Ok(()));
}

#[test]
fn a_run_that_needs_too_many_steps_stops_and_says_so() {
    let mut prepared = try_prepare("falling_mass", 1.0, &["scheme.dt_min=1e-5", "scheme.dt_max=0.05"]).unwrap();
    prepared.options.max_steps = 100;
    let summary = prepared.simulation().unwrap().run();
    assert_eq!(summary.status, Status::Stopped);
    let reason = summary.stop.unwrap().to_string();
    assert!(reason.contains("100 steps were not enough"), "{reason}");
}

/// Where switches are everywhere the run costs what the base scheme costs.
#[test]
fn a_crowd_of_discs_is_stepped_by_the_base_scheme() {
    let small = ["parameters.number=40", "parameters.drum=0.25", "solver.tol=1e-10"];
    let prepared = try_prepare("mixing_disks", 5.0, &small).unwrap();
    let summary = prepared.simulation().unwrap().run();
    assert_eq!(summary.status, Status::Done);
    let (calls, base) = (summary.work.scheme_calls as f64, 5.0 / 1e-3);
    println!("{calls} base calls where the base scheme makes {base}; {} coarse steps", summary.work.coarse);
    assert!(summary.work.coarse > 1000 && calls <= 3.0 * base);
}

/// Two velocities whose momenta cancel: M u is small beside the terms that it is the sum of.
const CANCELLING: &str = r#"
[model]
coordinates = ["x", "p"]
mass = [[1, 1e-3], [1e-3, 2e-6]]
[[force]]
name = "weight"
potential = "9.81*x + 0.011*p"
[[force]]
name = "spring"
potential = "0.5*c*(x - 1e-3*p)^2"
[parameters]
c = 5
[[contact]]
name = "floor"
gap = "x + 1e-3"
restitution = 0.4
[initial]
u = [-0.2, 200]
[time]
step = 1e-4
end = 0.02
[scheme]
name = "moreau-jean"
"#;

#[test]
fn momenta_that_cancel_do_not_stop_newtons_method() {
    // As a base of short steps: a change of momentum in dt_min = 1e-8 s is below the rounding of its terms.
    let mut ends = Vec::new();
    for base in ["rattle", "moreau-jean", "projected-direct"] {
        for atol in ["1e-8", "1e-10"] {
            let set = [&format!("scheme.base={base}")[..], &format!("scheme.atol={atol}")];
            let (summary, _) = run(CANCELLING, 0.02, &set);
            println!(
                "{base}, {atol}: {} calls, {} loose, {:?}",
                summary.work.scheme_calls, summary.work.loose, summary.end.q
            );
            ends.push(summary.end.q[0]);
        }
    }
    // The impact is resolved within dt_min.
    assert!(ends.iter().all(|x| (x - ends[0]).abs() <= 1e-7), "{ends:?}");
    // And by itself.
    for (h, end) in [(1e-8, 2e-6), (1e-10, 2e-8), (1e-6, 1e-3)] {
        for tol in ["1e-10", "1e-12", "1e-14"] {
            let prepared =
                crate::watched::prepare(CANCELLING, "rattle", h, end, &[&format!("scheme.newton_tol={tol}")]);
            let (summary, _) = crate::watched::watch(&prepared);
            assert_eq!(summary.status, Status::Done, "{h} {tol}: {:?}", summary.stop.as_ref().map(ToString::to_string));
            assert_eq!(summary.work.rejected, 0, "{h} {tol}");
        }
    }
}
