//! Layouts that do not fit together and laws with parameters out of range.

use super::flawed::{Flaw, model_error, names};
use nonsmooth::ModelError;
use nonsmooth::contract::PartKind;
use nonsmooth::law::LawError;

#[test]
fn law_parameters_out_of_range_are_refused() {
    use LawError as L;
    for mu in [-0.1, f64::NAN, f64::INFINITY] {
        let number = mu.to_string();
        names!(
            model_error(Flaw::Friction(mu)),
            ModelError::Law { kind: PartKind::Contact, source: L::Friction(_), .. },
            "ground",
            "friction coefficient",
            &number
        );
    }
    for e in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
        let number = e.to_string();
        names!(
            model_error(Flaw::Restitution(e)),
            ModelError::Law { source: L::Restitution { which: "normal", .. }, .. },
            "ground",
            "normal restitution",
            &number
        );
        names!(
            model_error(Flaw::TangentialRestitution(e)),
            ModelError::Law { source: L::Restitution { which: "tangential", .. }, .. },
            "ground",
            "tangential restitution",
            &number
        );
    }
    for b in [-1.0, f64::NAN, f64::INFINITY] {
        names!(model_error(Flaw::Bound(b)), ModelError::Law { source: L::Bound { .. }, .. }, "ground", "bound");
    }
    for d in [0, 4, 63] {
        names!(
            model_error(Flaw::SlipDimension(d)),
            ModelError::Law { source: L::Dimension { .. }, .. },
            "ground",
            &d.to_string()
        );
    }
    for d in [64, 1000, usize::MAX] {
        names!(model_error(Flaw::SlipDimension(d)), ModelError::Dimension { .. } | ModelError::Law { .. }, "ground");
    }
    names!(
        model_error(Flaw::ElementBox),
        ModelError::Law { kind: PartKind::Element, source: L::Box { which: "force", .. }, .. },
        "clutch",
        "[1, -1]"
    );
    names!(
        model_error(Flaw::ElementDimension),
        ModelError::Law { kind: PartKind::Element, source: L::Dimension { found: 4, .. }, .. },
        "clutch",
        "4"
    );
}

#[test]
fn layouts_that_do_not_fit_are_refused() {
    names!(model_error(Flaw::NoCoordinates), ModelError::Empty, "no coordinates");
    names!(model_error(Flaw::DuplicateCoordinate), ModelError::Name { kind: PartKind::Coordinate, .. }, "`x`");
    names!(model_error(Flaw::DuplicateForce), ModelError::Name { kind: PartKind::Force, .. }, "`wind`");
    names!(model_error(Flaw::DuplicateInteraction), ModelError::Name { .. }, "`ground`", "contact");
    names!(model_error(Flaw::EmptyName), ModelError::Name { .. }, "empty");
    names!(
        model_error(Flaw::CoordinateOutOfRange),
        ModelError::Coordinate { kind: PartKind::Force, index: 2, size: 2, .. },
        "`wind`",
        "2"
    );
    names!(
        model_error(Flaw::CoordinateTwice),
        ModelError::Coordinate { kind: PartKind::Contact, index: 1, .. },
        "`ground`",
        "twice"
    );
    names!(model_error(Flaw::MassOutOfRange), ModelError::Coordinate { index: 5, .. }, "`body`", "5");
    names!(
        model_error(Flaw::TooWide),
        ModelError::TooWide { kind: PartKind::Force, count: 100, .. },
        "`wind`",
        "100",
        "`on`"
    );
    for d in [0, 65, usize::MAX] {
        names!(model_error(Flaw::JointDimension(d)), ModelError::Dimension { .. }, "`rod`", &d.to_string());
    }
    names!(model_error(Flaw::Break), ModelError::Break(_), "break", "NaN");
}

#[test]
fn kinematic_blocks_must_cover_everything_once() {
    names!(
        model_error(Flaw::NoKinematicBlocks),
        ModelError::Kinematics { what: "coordinate", index: 0, count: 0 },
        "coordinate 0"
    );
    names!(
        model_error(Flaw::TwoKinematicBlocks),
        ModelError::Kinematics { what: "coordinate", index: 1, count: 2 },
        "coordinate 1"
    );
    names!(model_error(Flaw::KinematicIndex), ModelError::Kinematics { what: "velocity", index: 9, .. }, "velocity 9");
}

#[test]
fn kinematic_blocks_without_velocities_are_not_ignored() {
    // q' = u is used without `velocities`: a block would never be called.
    names!(model_error(Flaw::BlocksWithoutVelocities), ModelError::Kinematics { .. }, "kinematic");
}
