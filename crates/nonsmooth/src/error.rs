//! Input that cannot be simulated.

use crate::contract::{ModelError, Part, PartKind, Violation};
use crate::control::Uneven;
use crate::names::did_you_mean;
use crate::scheme::SettingsError;
use crate::state::Unreadable;
use complementarity::solver::OptionsError;

/// Why a simulation cannot start. Every message names the part concerned.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Error {
    /// A vector of the wrong length.
    #[error("initial {what} has {found} entries, the system has {expected}")]
    Size {
        /// q or u.
        what: &'static str,
        /// What was given.
        found: usize,
        /// What the system has.
        expected: usize,
    },
    /// A start value that is NaN or infinite.
    #[error("initial value of `{name}` is not finite ({value})")]
    InitialValue {
        /// Coordinate or velocity.
        name: String,
        /// What was given.
        value: f64,
    },
    /// A checkpoint that is not one of this run.
    #[error("this is no checkpoint of the run: {0}")]
    Checkpoint(#[from] Unreadable),
    /// A run whose controller cannot go on beyond its end.
    #[error("the controller of this run cannot move its end to {end}")]
    Extend {
        /// Requested end, s.
        end: f64,
    },
    /// A step length that makes no progress.
    #[error("step {step} is not usable: it must be finite, > 0, and change t = {t} (t + step == t)")]
    Step {
        /// What was given.
        step: f64,
        /// Start time.
        t: f64,
    },
    /// An end before the start.
    #[error("end time {end} must be finite and after the start {start}")]
    End {
        /// Start time.
        start: f64,
        /// End time.
        end: f64,
    },
    /// More steps than allowed.
    #[error("the run needs {steps} steps, more than the limit of {limit}: raise `max_steps` or take a larger step")]
    TooManySteps {
        /// What it needs.
        steps: f64,
        /// What is allowed.
        limit: usize,
    },
    /// A mass matrix that is not symmetric.
    #[error("the mass matrix is not symmetric: entries ({row}, {column}) differ by {difference:.3e}")]
    MassNotSymmetric {
        /// Velocity of the row.
        row: String,
        /// Velocity of the column.
        column: String,
        /// |M_ij − M_ji|.
        difference: f64,
    },
    /// A mass matrix that is singular, negative, or not finite.
    #[error("the mass matrix is not positive definite at velocity `{velocity}` (singular, negative or not finite)")]
    Mass {
        /// Where it shows.
        velocity: String,
    },
    /// A contact that penetrates at the start.
    #[error("contact `{contact}` penetrates by {depth:.6e} m at the start, more than the tolerance {tolerance:.1e} m")]
    Penetration {
        /// Which contact.
        contact: String,
        /// How deep.
        depth: f64,
        /// What is allowed (`initial.tolerance`).
        tolerance: f64,
    },
    /// A contact that penetrates at the start by much of the size of its bodies.
    #[error(
        "contact `{contact}` penetrates by {depth:.6e} m at the start, more than 1 % of the smaller body ({extent:.3e} m)"
    )]
    Overlap {
        /// Which contact.
        contact: String,
        /// How deep, m.
        depth: f64,
        /// Smallest extent of its bodies, m.
        extent: f64,
    },
    /// A joint that is open at the start.
    #[error("joint `{joint}` is violated by {defect:.6e} at the start, more than the tolerance {tolerance:.1e}")]
    Joint {
        /// Which joint.
        joint: String,
        /// By how much.
        defect: f64,
        /// What is allowed (`initial.tolerance`).
        tolerance: f64,
    },
    /// A system that contradicts the contract.
    #[error(transparent)]
    Contract(Violation),
    /// A feature that the scheme does not have.
    #[error("scheme `{scheme}` does not support {feature}, which this model needs")]
    Unsupported {
        /// The scheme.
        scheme: &'static str,
        /// What is missing.
        feature: String,
    },
    /// Steps of different lengths with a scheme that takes one length only.
    #[error("scheme `{scheme}` takes steps of one length only: {why}")]
    Uneven {
        /// The scheme.
        scheme: &'static str,
        /// Where another length would be needed.
        why: Uneven,
    },
    /// Joint projection with a scheme on position level.
    #[error("scheme `{scheme}` keeps joints on position level by itself: leave `stabilise` out")]
    Stabilise {
        /// The scheme.
        scheme: &'static str,
    },
    /// No such solver.
    #[error("unknown solver `{name}`{}", did_you_mean(.nearest))]
    Solver {
        /// What was given.
        name: String,
        /// The nearest name, empty if none is near.
        nearest: String,
    },
    /// Solver options out of range.
    #[error(transparent)]
    SolverOptions(#[from] OptionsError),
    /// Scheme options.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The model.
    #[error(transparent)]
    Model(#[from] ModelError),
}

impl Error {
    /// The part of the model concerned, if it is one.
    pub fn part(&self) -> Option<Part> {
        match self {
            Error::InitialValue { name, .. } => Some(Part::new(PartKind::InitialValue, name)),
            Error::MassNotSymmetric { row, .. } => Some(Part::new(PartKind::Mass, row)),
            Error::Mass { velocity } => Some(Part::new(PartKind::Mass, velocity)),
            Error::Penetration { contact, .. } | Error::Overlap { contact, .. } => {
                Some(Part::new(PartKind::Contact, contact))
            }
            Error::Joint { joint, .. } => Some(Part::new(PartKind::Joint, joint)),
            Error::Contract(violation) => violation.part.clone(),
            Error::Model(e) => e.part(),
            Error::Size { .. }
            | Error::Step { .. }
            | Error::End { .. }
            | Error::Checkpoint(_)
            | Error::Extend { .. }
            | Error::TooManySteps { .. }
            | Error::Unsupported { .. }
            | Error::Uneven { .. }
            | Error::Stabilise { .. }
            | Error::Solver { .. }
            | Error::SolverOptions(_)
            | Error::Settings(_) => None,
        }
    }
}
