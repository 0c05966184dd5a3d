//! What can be wrong with a problem file, and where.

use super::ProblemKind;
use crate::problem::ProblemError;
use std::fmt::Write;

/// Why a file cannot be read as a problem.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum FormatError {
    /// Nothing to read.
    #[error("the file is empty")]
    Empty,
    /// A field of the file is missing, out of range or not supported.
    #[error("{place}: {flaw}")]
    Field {
        /// Path inside an HDF5 file (`/fclib_local/W/x`), or line and field of a text file (`line 7: q[3]`).
        place: String,
        /// What is wrong there.
        flaw: Flaw,
    },
    /// Complete and well formed, but the parts do not make a problem.
    #[error(transparent)]
    Problem(#[from] ProblemError),
    /// JSON that is neither of our two forms.
    #[error("JSON without a problem: {0}")]
    Json(String),
    /// The file does not hold the requested kind.
    #[error("the file holds {found}, but {wanted} was asked for")]
    OtherKind {
        /// The requested kind.
        wanted: ProblemKind,
        /// What the file holds.
        found: &'static str,
    },
    /// No text format fits.
    #[error("not a problem in any known format (HDF5, JSON or text){}", list(.attempts))]
    Unrecognised {
        /// Why each text format does not fit.
        attempts: Vec<(ProblemKind, FormatError)>,
    },
    /// An unknown kind.
    #[error("unknown kind {name:?}, expected one of {}", names(&ProblemKind::ALL))]
    UnknownKind {
        /// The name.
        name: String,
    },
}

/// What is wrong with one field.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Flaw {
    /// Not there.
    #[error("missing")]
    Missing,
    /// A feature of HDF5 or of a text format that this reader does not know.
    #[error("{0} is not supported")]
    Unsupported(String),
    /// Bytes that do not follow the file format.
    #[error("damaged file: {0}")]
    Damaged(String),
    /// A declared size or offset reaches beyond the end of the file.
    #[error("needs {needed} {unit}, but the file has only {left} left")]
    Truncated {
        /// What the declared size asks for.
        needed: u64,
        /// What is there.
        left: u64,
        /// Bytes or numbers.
        unit: &'static str,
    },
    /// Another word than the format has in this place.
    #[error("expected {expected}, found {found:?}")]
    Expected {
        /// What belongs there.
        expected: String,
        /// What is there.
        found: String,
    },
    /// NaN or infinite.
    #[error("entry {index} is not finite ({value})")]
    NotFinite {
        /// Which entry.
        index: usize,
        /// Its value.
        value: f64,
    },
    /// An array of the wrong length.
    #[error("has {found} entries, expected {expected}")]
    Size {
        /// Its length.
        found: usize,
        /// The length that fits the rest.
        expected: usize,
    },
    /// A whole number out of range.
    #[error("entry {index} is {value}, expected {expected}")]
    Range {
        /// Which entry.
        index: usize,
        /// Its value.
        value: i64,
        /// The range.
        expected: String,
    },
    /// A friction coefficient below zero.
    #[error("entry {index} is {value}, expected a friction coefficient >= 0")]
    Friction {
        /// Which contact.
        index: usize,
        /// The coefficient.
        value: f64,
    },
    /// Two places of the file that say different things.
    #[error("entry {index} is {second}, but the same entry of {other} is {first}")]
    Contradiction {
        /// Which entry.
        index: usize,
        /// Where the first value stands.
        other: &'static str,
        /// The first value.
        first: f64,
        /// The second value.
        second: f64,
    },
}

impl Flaw {
    /// This flaw at a place.
    pub(crate) fn at(self, place: impl Into<String>) -> FormatError {
        FormatError::Field { place: place.into(), flaw: self }
    }
}

fn list(attempts: &[(ProblemKind, FormatError)]) -> String {
    let mut text = String::new();
    for (kind, error) in attempts {
        // Writing to a String cannot fail.
        let _ = write!(text, "\n  as {kind}: {error}");
    }
    text
}

fn names(kinds: &[ProblemKind]) -> String {
    kinds.iter().map(|k| k.name()).collect::<Vec<_>>().join(", ")
}
