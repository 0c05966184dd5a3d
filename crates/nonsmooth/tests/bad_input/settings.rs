//! Names and options that are unknown, and features that a scheme lacks.

use super::flawed::{Flaw, names, options, run_error, simulate, start};
use nonsmooth::contract::Feature;
use nonsmooth::control::{Controller, Proposal, Uneven, Verdict};
use nonsmooth::scheme::{SCHEMES, Settings, SettingsError};
use nonsmooth::{Differentiated, Error, Layout, Model, Scalar, Simulation, SimulationOptions, State, scheme};
use nonsmooth_reference::{Ball, cases};

#[test]
fn features_that_a_scheme_lacks_are_refused_by_name() {
    for s in SCHEMES.iter().filter(|s| !s.supports.has(Feature::Poisson)) {
        let error = simulate(Flaw::Poisson, s.name, start(), options()).unwrap_err();
        assert_eq!(error, Error::Unsupported { scheme: s.name, feature: "Poisson restitution".into() });
        names!(error, Error::Unsupported { .. }, s.name, "Poisson restitution");
    }
    let refused = |flaw: Flaw| simulate(flaw, "schatzman-paoli", start(), options()).unwrap_err();
    names!(refused(Flaw::None), Error::Unsupported { .. }, "`schatzman-paoli`", "friction of slip dimension 1");
    names!(refused(Flaw::Bound(1.0)), Error::Unsupported { .. }, "friction with a constant bound");
    names!(refused(Flaw::TangentialRestitution(0.5)), Error::Unsupported { .. }, "tangential restitution");
}

/// Reference models with one feature each that the scheme without it names.
#[test]
fn what_schatzman_paoli_lacks_is_named_for_every_reference_model() {
    let lacking = [
        ("top", "velocities that differ from q'"),
        ("pulled-slides", "elements without a gap"),
        ("belt", "velocities that differ from q'"),
        ("incline-slides", "friction of slip dimension 1"),
        ("table", "friction of slip dimension 2"),
        ("table-tresca", "constant bound"),
        ("table-springy", "tangential restitution"),
        ("rolling-ball", "velocities that differ from q'"),
        ("double-pendulum-projected", "`stabilise`"),
    ];
    let all = cases().unwrap();
    for (name, feature) in lacking {
        let case = all.iter().find(|c| c.name == name).unwrap();
        assert!(case.options_for("schatzman-paoli").is_none(), "{name}");
        let scheme = scheme::make("schatzman-paoli", &Settings::new()).unwrap();
        let Err(error) = Simulation::new(case.system.as_ref(), case.start.clone(), scheme, case.options()) else {
            panic!("{name} was taken");
        };
        assert!(error.to_string().contains(feature), "{name}: {error}");
    }
}

/// Any scheme that takes steps of one length only: checked before the run, for what the controller would do.
#[test]
fn steps_of_different_lengths_are_refused_where_one_is_needed() {
    let fixed = SCHEMES.iter().filter(|s| !s.variable_step);
    for info in fixed {
        let make = || scheme::make(info.name, &Settings::new()).unwrap();
        let plain = Differentiated::new(Ball::default()).unwrap();
        let start = State::new(0.0, vec![1.0], vec![0.0]);
        let whole = |h, end| {
            Simulation::new(&plain, start.clone(), make(), SimulationOptions::new(h, end)).map(|mut s| s.run())
        };
        names!(whole(0.3, 1.0).unwrap_err(), Error::Uneven { .. }, info.name, "one length", "0.25 or 0.33");
        names!(whole(3.0, 1.0).unwrap_err(), Error::Uneven { .. }, info.name, "one length");
        // Through rounding: 0.1 three times is not 0.3.
        assert_eq!(whole(0.1, 0.3).unwrap().work.steps, 3);

        let broken = Differentiated::new(Broken).unwrap();
        let at =
            |h| Simulation::new(&broken, start.clone(), make(), SimulationOptions::new(h, 1.0)).map(|mut s| s.run());
        names!(at(0.25).unwrap_err(), Error::Uneven { why: Uneven::Break { .. }, .. }, info.name, "break at t = 0.3");
        assert_eq!(at(0.1).unwrap().work.steps, 10);

        let controller = Box::new(Unknown);
        let options = SimulationOptions::new(0.1, 1.0);
        let Err(error) = Simulation::with_controller(&plain, start.clone(), make(), options, controller) else {
            panic!("a controller of unknown lengths was taken");
        };
        names!(error, Error::Uneven { why: Uneven::Controller, .. }, info.name, "controller");
    }
}

/// A ball whose force jumps at a known time.
struct Broken;

impl Model for Broken {
    fn layout(&self) -> Layout {
        Layout::new(["q"]).force("push").breaks([0.3])
    }
    fn mass<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], m: &mut [T]) {
        m[0] = T::from(1.0);
    }
    fn force<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], _u: &[T], h: &mut [T]) {
        h[0] = T::from(1.0);
    }
}

/// A controller that says nothing of its lengths.
struct Unknown;

impl Controller for Unknown {
    fn propose(&mut self, _t: f64) -> Option<Proposal> {
        None
    }
    fn judge(&mut self, _step: &nonsmooth::Step) -> Verdict {
        Verdict::Accept
    }
    fn arrived(&mut self, _t: f64) {}
}

#[test]
fn unknown_names_and_options_suggest_the_nearest() {
    let scheme = |name: &str, settings: Settings| scheme::make(name, &settings).err().expect("made a scheme");
    names!(scheme("moreau-jaen", Settings::new()), SettingsError::Scheme { .. }, "`moreau-jaen`", "`moreau-jean`");
    names!(
        scheme("moreau-jean", Settings::new().number("thteta", 0.5)),
        SettingsError::Unknown { .. },
        "`thteta`",
        "`theta`",
        "`moreau-jean`"
    );
    names!(
        scheme("moreau-midpoint", Settings::new().number("theta", 0.5)),
        SettingsError::Unknown { .. },
        "`moreau-midpoint`",
        "`theta`"
    );
    for (key, value) in [("theta", 1.5), ("theta", -0.1), ("theta", f64::NAN), ("gamma", 3.0), ("newton_tol", 0.0)] {
        let number = value.to_string();
        names!(
            scheme("moreau-jean", Settings::new().number(key, value)),
            SettingsError::Value { .. },
            key,
            &number,
            "["
        );
    }
    names!(
        scheme("moreau-jean", Settings::new().word("forecast", "fre")),
        SettingsError::Value { key: "forecast", .. },
        "fre",
        "explicit, free"
    );
    names!(scheme("moreau-jean", Settings::new().word("theta", "half")), SettingsError::Value { .. }, "theta", "half");
    names!(
        scheme("moreau-jean", Settings::new().number("force", 1.0)),
        SettingsError::Value { .. },
        "force",
        "trapezoid"
    );

    names!(
        scheme("moreau-jean", Settings::new().word("forecast", "free").number("gamma", 1.0)),
        SettingsError::Useless { key: "gamma", .. },
        "`gamma`",
        "`forecast`"
    );

    let mut o = options();
    o.solver = "nsgz".into();
    names!(run_error(Flaw::None, start(), o), Error::Solver { .. }, "`nsgz`", "`nsgs`");
    for tolerance in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let mut o = options();
        o.solver_options.tolerance = tolerance;
        names!(run_error(Flaw::None, start(), o), Error::SolverOptions(_), "tolerance", &tolerance.to_string());
    }
    let mut o = options();
    o.solver_options.max_iterations = 0;
    names!(run_error(Flaw::None, start(), o), Error::SolverOptions(_), "max_iterations");
    for relaxation in [0.0, 2.0, f64::NAN] {
        let mut o = options();
        o.solver_options.relaxation = Some(relaxation);
        names!(run_error(Flaw::None, start(), o), Error::SolverOptions(_), "relaxation", &relaxation.to_string());
    }
}
