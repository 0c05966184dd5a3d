//! What can be wrong with a model.

use crate::contract::{MAX_LOCAL, Part, PartKind, Violation};
use crate::law::LawError;

/// Why a model is inconsistent.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ModelError {
    /// No coordinates.
    #[error("the model has no coordinates")]
    Empty,
    /// Two parts of one kind with the same name, or an empty name.
    #[error("{kind} name `{name}` is empty or used twice")]
    Name {
        /// Which kind of part.
        kind: PartKind,
        /// The name.
        name: String,
    },
    /// A part that lists a coordinate twice, or one that does not exist.
    #[error("{kind} `{name}`: coordinate {index} does not exist or is listed twice (there are {size})")]
    Coordinate {
        /// Which kind of part.
        kind: PartKind,
        /// Its name.
        name: String,
        /// The index.
        index: usize,
        /// Number of coordinates.
        size: usize,
    },
    /// A part that touches more than [`MAX_LOCAL`] coordinates.
    #[error(
        "{kind} `{name}` touches {count} coordinates, at most {MAX_LOCAL} are possible: split it into parts with `on`"
    )]
    TooWide {
        /// Which kind of part.
        kind: PartKind,
        /// Its name.
        name: String,
        /// How many it touches.
        count: usize,
    },
    /// A law with impossible parameters.
    #[error("{kind} `{name}`: {source}")]
    Law {
        /// Which kind of part.
        kind: PartKind,
        /// Its name.
        name: String,
        /// What is wrong.
        source: LawError,
    },
    /// A joint without components, or with more than the model has velocities.
    #[error("{kind} `{name}`: dimension {dim} is outside 1..={max}")]
    Dimension {
        /// Which kind of part.
        kind: PartKind,
        /// Its name.
        name: String,
        /// Its dimension.
        dim: usize,
        /// Largest possible.
        max: usize,
    },
    /// Kinematic blocks that do not cover every coordinate and velocity exactly once.
    #[error("kinematics: {what} {index} must be in exactly one kinematic block, it is in {count}")]
    Kinematics {
        /// Coordinate or velocity.
        what: &'static str,
        /// Which one.
        index: usize,
        /// In how many blocks it is.
        count: usize,
    },
    /// A break time that is not finite.
    #[error("break time {0} is not finite")]
    Break(f64),
    /// A function that gives NaN or infinity.
    #[error("{kind} `{name}` is not finite at t = {t} (is its function implemented for this part?)")]
    NotFinite {
        /// Which kind of part.
        kind: PartKind,
        /// Its name.
        name: String,
        /// When.
        t: f64,
    },
    /// A part that was stated to be linear (or the mass to be constant) and is not.
    #[error("{kind} `{name}` was stated to be {stated}, but it changes with t or q")]
    NotConstant {
        /// Which kind of part.
        kind: PartKind,
        /// Its name.
        name: String,
        /// What was stated.
        stated: &'static str,
    },
    /// A velocity that is not affine in u.
    #[error("{kind} `{name}`: its velocity is not affine in u (deviation {deviation:.3e})")]
    NotAffine {
        /// Which kind of part.
        kind: PartKind,
        /// Its name.
        name: String,
        /// By how much it deviates.
        deviation: f64,
    },
}

impl ModelError {
    /// The part concerned, if it is one.
    pub fn part(&self) -> Option<Part> {
        match self {
            ModelError::Name { kind, name }
            | ModelError::Coordinate { kind, name, .. }
            | ModelError::TooWide { kind, name, .. }
            | ModelError::Law { kind, name, .. }
            | ModelError::Dimension { kind, name, .. }
            | ModelError::NotFinite { kind, name, .. }
            | ModelError::NotConstant { kind, name, .. }
            | ModelError::NotAffine { kind, name, .. } => Some(Part::new(*kind, name)),
            ModelError::Empty | ModelError::Kinematics { .. } | ModelError::Break(_) => None,
        }
    }
}

impl From<ModelError> for Violation {
    fn from(e: ModelError) -> Self {
        Self { part: e.part(), why: e.to_string() }
    }
}
