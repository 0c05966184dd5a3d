//! Forces that drive the motion: the step is short enough for them, or the run stops by name.

use super::{prepare, times, watch};
use nonsmooth::simulation::{EventKind, Status};

const PUSHED: &str = r#"
[model]
coordinates = ["x"]
mass = 1
[parameters]
c = 1
[[force]]
name = "push"
potential = "-0.5*c*x^2"
[[contact]]
name = "stop"
gap = "2 - x"
restitution = 0.5
[initial]
q = [0.1]
[time]
step = 1e-2
end = 0.5
[scheme]
name = "moreau-jean"
"#;

/// A mass that is pushed off its place with c x, and a stop: M̃ = 1 − h² c/4 changes its sign at c = 40,000.
#[test]
fn a_mass_that_is_pushed_away_comes_to_rest_at_its_stop() {
    for c in [1e4f64, 39999.0, 40001.0, 1e6, 1e8] {
        let set = format!("parameters.c={c}");
        let (summary, points) = watch(&prepare(PUSHED, "trapezoidal-lcp", 1e-2, 0.5, &[&set]));
        assert_eq!(summary.status, Status::Done, "{c}: {:?}", summary.stop);
        // x = 0.1 cosh(√c t) reaches 2.
        let exact = 20f64.acosh() / c.sqrt();
        let first = times(&summary, EventKind::Impact)[0];
        println!("pushed with {c}: first impact {first:.6} s, exact {exact:.6} s; x = {}", summary.end.q[0]);
        // Growth right to 1 % in each of seven steps.
        assert!((first / exact - 1.0).abs() <= 0.02, "{c}: {first} instead of {exact}");
        assert!(points.iter().all(|p| p.q[0] <= 2.0 + 1e-9), "{c}");
        assert!((summary.end.q[0] - 2.0).abs() <= 1e-9 && summary.end.u[0].abs() <= 1e-6, "{c}: {:?}", summary.end);
        assert!(summary.energy.max <= summary.energy.initial * (1.0 - 1e-12), "{c}: {}", summary.energy.max);
    }
}

const VAN_DER_POL: &str = r#"
[model]
coordinates = ["x"]
mass = 1
[[force]]
name = "drive"
value = "100*(1-x^2)*x' - x"
[initial]
q = [2]
[time]
step = 1e-2
end = 200
[scheme]
name = "moreau-jean"
"#;

#[test]
fn van_der_pols_oscillator_stays_on_its_cycle_or_the_run_stops() {
    for (h, done) in [(1e-3, true), (1e-2, true), (3e-2, true), (0.1, true), (1.0, false)] {
        let (summary, points) = watch(&prepare(VAN_DER_POL, "trapezoidal-lcp", h, 200.0, &[]));
        let largest = points.iter().map(|p| p.q[0].abs()).fold(0.0, f64::max);
        let stop = summary.stop.as_ref().map(ToString::to_string);
        println!("van der Pol, h = {h}: |x| <= {largest:.4}, {} steps, {:?}", summary.work.steps, stop);
        // The cycle's amplitude is 2.0014; a step of h = 0.03 s is as long as the jump between its branches.
        assert!(largest <= 2.0014 * 1.05, "h = {h}: {largest}");
        if done {
            assert_eq!(summary.status, Status::Done, "{stop:?}");
        } else {
            assert!(summary.status == Status::Done || stop.is_some_and(|s| s.contains("drive velocity `x'`")));
        }
    }
}

#[test]
fn a_force_that_turns_round_within_a_step_refuses_it() {
    // Amplitudes, and x(30), by Runge-Kutta of order 4 with 200 steps per 1/ε.
    for (eps, amplitude, end) in [(5, 2.0215, -1.87396), (10, 2.0143, -1.90659), (30, 2.0052, -1.89013)] {
        let scene = VAN_DER_POL.replace("100*", &format!("{eps}*"));
        for h in [0.3, 0.2, 0.15, 0.1, 0.03] {
            let (summary, points) = watch(&prepare(&scene, "trapezoidal-lcp", h, 30.0, &[]));
            let largest = points.iter().map(|p| p.q[0].abs()).fold(0.0, f64::max);
            let x = summary.end.q[0];
            println!(
                "van der Pol, eps = {eps}, h = {h}: |x| <= {largest:.4}, x(30) = {x:.4} ({end}), {} steps",
                summary.work.steps
            );
            assert_eq!(summary.status, Status::Done, "{:?}", summary.stop.as_ref().map(ToString::to_string));
            assert!(largest <= amplitude * 1.03, "eps = {eps}, h = {h}: {largest}");
            // The linearisation may leave out 2 % of the velocity of a step; x falls by less than 0.2 per second there.
            assert!((x - end).abs() <= 0.05, "eps = {eps}, h = {h}: {x}");
        }
    }
}
