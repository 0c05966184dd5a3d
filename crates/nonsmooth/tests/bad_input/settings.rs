//! Names and options that are unknown, and features that a scheme lacks.

use crate::flawed::{Flaw, names, options, run_error, simulate, start};
use nonsmooth::scheme::{SCHEMES, Settings, SettingsError};
use nonsmooth::{Error, scheme};

#[test]
fn features_that_a_scheme_lacks_are_refused_by_name() {
    for s in SCHEMES.iter().filter(|s| s.name.starts_with("moreau")) {
        let error = simulate(Flaw::Poisson, s.name, start(), options()).unwrap_err();
        assert_eq!(error, Error::Unsupported { scheme: s.name, feature: "Poisson restitution".into() });
        names!(error, Error::Unsupported { .. }, s.name, "Poisson restitution");
    }
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
