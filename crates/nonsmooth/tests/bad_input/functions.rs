//! Functions of a model that give nonsense: masses that are none, functions that are missing, statements that are false.

use super::flawed::{Flaw, Flawed, names, options, run_error, start};
use nonsmooth::contract::{Part, PartKind};
use nonsmooth::{Differentiated, Error, ModelError};

#[test]
fn mass_matrices_that_are_none_are_refused() {
    names!(run_error(Flaw::NegativeMass, start(), options()), Error::Mass { .. }, "y'");
    names!(run_error(Flaw::ZeroMass, start(), options()), Error::Mass { .. }, "y'");
    names!(run_error(Flaw::SingularMass, start(), options()), Error::Mass { .. }, "y'");
    names!(run_error(Flaw::NotFiniteMass, start(), options()), Error::Mass { .. }, "y'");
    names!(
        run_error(Flaw::UnsymmetricMass, start(), options()),
        Error::MassNotSymmetric { .. },
        "x'",
        "y'",
        "5.000e-1"
    );
}

#[test]
fn functions_that_are_missing_are_named() {
    for (flaw, name) in [
        (Flaw::NoGap, "contact `ground`"),
        (Flaw::NoSlip, "contact `ground`"),
        (Flaw::NoForce, "force `wind`"),
        (Flaw::NoPotential, "force `hills`"),
        (Flaw::NoJoint, "joint `rod`"),
        (Flaw::NoKinematics, "kinematics"),
    ] {
        names!(run_error(flaw, start(), options()), Error::Contract(_), name, "not finite");
        // The adapter itself gives the typed reason.
        let found = Differentiated::new(Flawed(flaw)).unwrap().probe(0.0, &[0.0, 1.0], &[0.0, 0.0]).unwrap_err();
        names!(found, ModelError::NotFinite { .. }, name);
    }
}

#[test]
fn statements_that_are_false_are_named() {
    names!(run_error(Flaw::NotAffine, start(), options()), Error::Contract(_), "contact `ground`", "not affine");
    let found = Differentiated::new(Flawed(Flaw::NotAffine)).unwrap().probe(0.0, &[0.0, 1.0], &[0.0; 2]).unwrap_err();
    names!(found, ModelError::NotAffine { kind: PartKind::Contact, .. }, "`ground`");
    let error = run_error(Flaw::NotAffine, start(), options());
    assert_eq!(error.part(), Some(Part::new(PartKind::Contact, "ground")));
    names!(run_error(Flaw::NotLinear, start(), options()), Error::Contract(_), "force `hills`", "linear");
    names!(run_error(Flaw::NotConstantMass, start(), options()), Error::Contract(_), "mass", "constant");
}
