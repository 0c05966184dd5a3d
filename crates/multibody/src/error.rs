//! Errors in the description of a system.

use nonsmooth::law::LawError;

/// Why a description cannot be built. Names are those of the parts concerned.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum BuildError {
    /// A text that is not a valid name.
    #[error("`{name}` is not a name: letters, digits and _, not beginning with a digit, at most 64")]
    Name {
        /// The name.
        name: String,
    },
    /// A name that is used twice.
    #[error("the name `{name}` is used twice")]
    Twice {
        /// The name.
        name: String,
    },
    /// A name that no part has.
    #[error("`{part}` names `{name}`, which is {expected}{hint}")]
    Unknown {
        /// The part that refers to it.
        part: String,
        /// The name.
        name: String,
        /// What the message says of it: of which kinds it is not.
        expected: &'static str,
        /// A suggestion.
        hint: String,
    },
    /// A shape with impossible numbers.
    #[error("body `{body}`: shape {index} ({kind}): {fault}")]
    Shape {
        /// The body.
        body: String,
        /// Number of the shape from 0.
        index: usize,
        /// Its kind.
        kind: &'static str,
        /// What is wrong.
        fault: String,
    },
    /// A number out of its range.
    #[error("`{part}`: {what} must be {expected}, it is {value}")]
    Number {
        /// The part.
        part: String,
        /// Which number.
        what: &'static str,
        /// Its range.
        expected: &'static str,
        /// The number.
        value: f64,
    },
    /// A body that has no mass by its density.
    #[error("body `{body}` has no mass: {why}")]
    Mass {
        /// The body.
        body: String,
        /// Why.
        why: String,
    },
    /// A law with impossible parameters.
    #[error("contact `{contact}`: {source}")]
    Law {
        /// The contact.
        contact: String,
        /// What is wrong.
        source: LawError,
    },
    /// Two contacts for one pair.
    #[error("contacts `{first}` and `{second}` are both for `{a}` and `{b}`")]
    Ambiguous {
        /// A contact.
        first: String,
        /// The other.
        second: String,
        /// A body or material.
        a: String,
        /// The other.
        b: String,
    },
    /// A corner that would pass through a segment without thickness.
    #[error(
        "the wall of `{wall}` has no thickness and `{corner}` has corners: nothing would stop them; give the segment a thickness"
    )]
    Thin {
        /// Body with the segment.
        wall: String,
        /// Body with the corners.
        corner: String,
    },
    /// More than can be numbered.
    #[error("{found} {what}, at most {limit} are possible")]
    Many {
        /// What there are too many of.
        what: &'static str,
        /// How many.
        found: usize,
        /// The limit.
        limit: usize,
    },
}

impl BuildError {
    /// The name of the part concerned, if it is one. Names are unique among all parts of a description.
    pub fn part(&self) -> Option<&str> {
        match self {
            BuildError::Name { name } | BuildError::Twice { name } => Some(name),
            BuildError::Unknown { part, .. } | BuildError::Number { part, .. } => Some(part),
            BuildError::Shape { body, .. } | BuildError::Mass { body, .. } => Some(body),
            BuildError::Law { contact, .. } => Some(contact),
            BuildError::Ambiguous { first, .. } => Some(first),
            BuildError::Thin { wall, .. } => Some(wall),
            BuildError::Many { .. } => None,
        }
    }
}

/// An error unless a number of a part is in its range.
pub(crate) fn check(
    part: &str,
    what: &'static str,
    expected: &'static str,
    value: f64,
    ok: bool,
) -> Result<(), BuildError> {
    if ok { Ok(()) } else { Err(BuildError::Number { part: part.into(), what, expected, value }) }
}
