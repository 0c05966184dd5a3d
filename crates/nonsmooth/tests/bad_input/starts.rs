//! Initial values, steps and times from which no run can start.

use super::flawed::{Flaw, fitting, names, options, run_error, simulate, start};
use nonsmooth::scheme::rattle::RattleMemory;
use nonsmooth::scheme::schatzman_paoli::SchatzmanPaoliMemory;
use nonsmooth::state::{Empty, Records};
use nonsmooth::{Error, SimulationOptions, State};

#[test]
fn initial_values_must_be_finite_and_fit() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let number = bad.to_string();
        let state = State::new(0.0, vec![0.0, bad], vec![0.0; 2]);
        names!(run_error(Flaw::None, state, options()), Error::InitialValue { .. }, "`y`", &number);
        let state = State::new(0.0, vec![0.0, 1.0], vec![bad, 0.0]);
        names!(run_error(Flaw::None, state, options()), Error::InitialValue { .. }, "`x'`", &number);
    }
    for (q, u, what, found) in [(1, 2, "q", 1), (3, 2, "q", 3), (2, 0, "u", 0), (2, 5, "u", 5)] {
        let error = run_error(Flaw::None, State::new(0.0, vec![1.0; q], vec![0.0; u]), options());
        assert_eq!(error, Error::Size { what, found, expected: 2 });
        names!(error, Error::Size { .. }, what, &found.to_string(), "2");
    }
    // The memory of schemes of two steps or two stages, as a checkpoint has it.
    fn with<R: Empty>(set: impl FnOnce(&mut R)) -> Error {
        let mut memory = Records::default();
        set(memory.make());
        run_error(Flaw::None, State { memory, ..start() }, options())
    }
    let before = |before: Vec<f64>| with(|m: &mut SchatzmanPaoliMemory| m.before.0 = before);
    assert_eq!(before(vec![0.0; 3]), Error::Size { what: "previous q", found: 3, expected: 2 });
    names!(before(vec![0.0, f64::NAN]), Error::InitialValue { .. }, "`y`", "NaN");
    let middle = |middle: Vec<f64>| with(|m: &mut RattleMemory| m.middle.0 = middle);
    assert_eq!(middle(vec![0.0]), Error::Size { what: "velocity of the middle", found: 1, expected: 2 });
    names!(middle(vec![f64::NAN, 0.0]), Error::InitialValue { .. }, "`x'`", "NaN");
    let first = with(|m: &mut RattleMemory| m.first.0 = vec![0.0; 5]);
    assert_eq!(first, Error::Size { what: "percussions of the first stage", found: 5, expected: 0 });
}

#[test]
fn steps_and_times_that_lead_nowhere_are_refused() {
    for step in [0.0, -0.1, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0] {
        let error = run_error(Flaw::None, start(), SimulationOptions::new(step, 1.0));
        names!(error, Error::Step { .. }, &step.to_string());
    }
    // t + step == t: at t = 1e6 the spacing of numbers is 1e-10.
    let late = State { t: 1e6, ..start() };
    let error = run_error(Flaw::None, late.clone(), SimulationOptions::new(1e-11, 1e6 + 1e-3));
    names!(error, Error::Step { t: 1e6, .. }, "0.00000000001", "t + step == t");
    // At the start it goes, but not at the end.
    let error = run_error(
        Flaw::None,
        start(),
        SimulationOptions { max_steps: usize::MAX, ..SimulationOptions::new(1e-11, 1e6) },
    );
    names!(error, Error::Step { .. }, "0.00000000001");
    for end in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        names!(
            run_error(Flaw::None, start(), SimulationOptions::new(0.1, end)),
            Error::End { .. },
            "end time",
            &end.to_string()
        );
    }
    let nowhere = State { t: f64::NAN, ..start() };
    names!(run_error(Flaw::None, nowhere, options()), Error::End { .. }, "NaN");
    let mut many = SimulationOptions::new(1e-6, 1.0);
    many.max_steps = 1000;
    names!(
        run_error(Flaw::None, start(), many),
        Error::TooManySteps { limit: 1000, .. },
        "1000000",
        "1000",
        "max_steps"
    );
}

#[test]
fn a_start_inside_an_obstacle_or_off_a_joint_is_refused() {
    let inside = State::new(0.0, vec![0.0, -0.02], vec![0.0; 2]);
    let error = run_error(Flaw::None, inside.clone(), options());
    names!(error, Error::Penetration { .. }, "`ground`", "2.000000e-2", "1.0e-5");
    names!(run_error(Flaw::OpenJoint, start(), options()), Error::Joint { .. }, "`rod`", "3.000000e0");
    // Up to the tolerance, which may be changed, it is a warning that names the contact, and the contact starts closed.
    let mut tolerant = options();
    tolerant.initial_tolerance = 0.1;
    for s in fitting(Flaw::None) {
        let summary = simulate(Flaw::None, s.name, inside.clone(), tolerant.clone()).unwrap();
        assert_eq!(summary.warnings.len(), 1, "{:?}", summary.warnings);
        assert!(
            summary.warnings[0].contains("`ground`") && summary.warnings[0].contains("2.000e-2"),
            "{:?}",
            summary.warnings
        );
        let slight = State::new(0.0, vec![0.0, -8.8e-7], vec![0.0, -1.0]);
        let mut one = options();
        one.end = one.step;
        let summary = simulate(Flaw::None, s.name, slight, one).unwrap();
        assert!(summary.warnings[0].contains("`ground`"), "{:?}", summary.warnings);
        assert!(summary.percussions["ground"][0] > 0.0, "{}: starts closed", s.name);
    }
}
