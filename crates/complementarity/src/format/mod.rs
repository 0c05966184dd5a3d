//! Reads one-step problems from files: our own JSON, FCLIB files (HDF5), and the text files of Siconos.
//!
//! [`read`] tells the format from the content, never from a file name:
//!
//! | content | form | kinds |
//! |---|---|---|
//! | HDF5 with `/fclib_local` ([`fclib`]) | reduced, u = W r + q | `friction2d`, `friction3d` |
//! | HDF5 with `/fclib_global` ([`fclib`]) | full, M v = f + H r, u = Hᵀ v + w | `friction2d`, `friction3d` |
//! | JSON, `"format": "nonsmooth reduced problem 1"` | reduced | `reduced` |
//! | JSON, `"format": "nonsmooth full problem 1"` | full | `full` |
//! | numbers as text ([`text`]) | reduced | `friction2d`, `friction3d`, `lcp`, `mlcp` |
//!
//! The text formats have no signature: each is tried to the end of the file, and no text fits two of them.
//!
//! Files are not trusted: every declared size is checked against the remaining bytes before memory is allocated. Memory
//! is therefore at most a fixed multiple of the file's size, and nothing panics. Numbers must be finite.
//!
//! Writing: [`Problem::to_json`], [`FullProblem::to_json`]; FCLIB files by the module `write_fclib`, with the
//! feature `fclib-write`.

mod assemble;
mod error;
pub mod fclib;
mod hdf5;
mod summary;
pub mod text;
#[cfg(feature = "fclib-write")]
pub mod write_fclib;
#[cfg(feature = "fclib-write")]
mod write_hdf5;

pub use error::{Flaw, FormatError};
pub use summary::ProblemSummary;

use crate::full::FullProblem;
use crate::problem::Problem;
use crate::sets::Set;
use serde::Deserialize;
use std::fmt;
use std::str::FromStr;

/// What a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ProblemKind {
    /// Frictional contact in the plane, one tangent.
    Friction2d,
    /// Frictional contact in space, two tangents.
    Friction3d,
    /// Linear complementarity problem.
    Lcp,
    /// Mixed linear complementarity problem: equalities and complementarities.
    Mlcp,
    /// Any reduced problem, in our JSON.
    Reduced,
    /// Any full problem, in our JSON.
    Full,
}

impl ProblemKind {
    /// All kinds.
    pub const ALL: [ProblemKind; 6] = [
        ProblemKind::Friction2d,
        ProblemKind::Friction3d,
        ProblemKind::Lcp,
        ProblemKind::Mlcp,
        ProblemKind::Reduced,
        ProblemKind::Full,
    ];

    /// The name, as [`FromStr`] reads it.
    pub fn name(self) -> &'static str {
        match self {
            ProblemKind::Friction2d => "friction2d",
            ProblemKind::Friction3d => "friction3d",
            ProblemKind::Lcp => "lcp",
            ProblemKind::Mlcp => "mlcp",
            ProblemKind::Reduced => "reduced",
            ProblemKind::Full => "full",
        }
    }
}

impl fmt::Display for ProblemKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for ProblemKind {
    type Err = FormatError;

    fn from_str(name: &str) -> Result<Self, FormatError> {
        let found = ProblemKind::ALL.into_iter().find(|k| k.name() == name);
        found.ok_or_else(|| FormatError::UnknownKind { name: name.into() })
    }
}

/// A problem in the form that its file has.
#[derive(Debug, Clone)]
#[allow(clippy::large_enum_variant)] // one per file
pub enum Form {
    /// u = A r + b.
    Reduced(Problem),
    /// M̂ v = f + W r, u = Wᵀ v + c.
    Full(FullProblem),
}

/// What was read.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// What the file holds.
    pub kind: ProblemKind,
    /// The problem.
    pub form: Form,
    /// A start guess for r, if the file has one.
    pub guess: Option<Vec<f64>>,
    /// Title, if the file has one.
    pub title: Option<String>,
    /// Description or remark, if the file has one.
    pub description: Option<String>,
    /// Blocks with a unilateral law: friction cones and half lines.
    pub contacts: usize,
}

impl Loaded {
    fn new(kind: ProblemKind, form: Form) -> Self {
        let unilateral = |set: &Set| set.is_friction() || matches!(set, Set::NonNegative);
        let contacts = match &form {
            Form::Reduced(p) => p.blocks().iter().filter(|b| unilateral(&b.set)).count(),
            Form::Full(p) => p.blocks().iter().filter(|b| unilateral(&b.set)).count(),
        };
        Loaded { kind, form, guess: None, title: None, description: None, contacts }
    }

    fn reduced(kind: ProblemKind, problem: Problem) -> Self {
        Self::new(kind, Form::Reduced(problem))
    }

    /// Number of rows of r and u.
    pub fn rows(&self) -> usize {
        match &self.form {
            Form::Reduced(p) => p.size(),
            Form::Full(p) => p.c.len(),
        }
    }
}

/// Reads a problem; with `kind`, only that kind. See the [module](self).
pub fn read(bytes: &[u8], kind: Option<ProblemKind>) -> Result<Loaded, FormatError> {
    if bytes.is_empty() {
        return Err(FormatError::Empty);
    }
    if hdf5::is_hdf5(bytes) {
        if let Some(wanted @ (ProblemKind::Lcp | ProblemKind::Mlcp | ProblemKind::Reduced | ProblemKind::Full)) = kind {
            return Err(FormatError::OtherKind { wanted, found: "an HDF5 file (friction2d or friction3d)" });
        }
        let loaded = fclib::read(bytes)?;
        return match kind {
            Some(wanted) if wanted != loaded.kind => Err(FormatError::OtherKind { wanted, found: loaded.kind.name() }),
            _ => Ok(loaded),
        };
    }
    let json = bytes.iter().find(|b| !b.is_ascii_whitespace()) == Some(&b'{');
    match kind {
        Some(ProblemKind::Reduced | ProblemKind::Full) => read_json(bytes, kind),
        None if json => read_json(bytes, None),
        Some(wanted) if json => Err(FormatError::OtherKind { wanted, found: "JSON (reduced or full)" }),
        Some(kind) => text::read(bytes, kind),
        None => text::recognise(bytes),
    }
}

/// The part of a JSON file that says what it is.
#[derive(Deserialize)]
struct Head {
    format: String,
}

fn read_json(bytes: &[u8], kind: Option<ProblemKind>) -> Result<Loaded, FormatError> {
    let text = std::str::from_utf8(bytes).map_err(|e| FormatError::Json(e.to_string()))?;
    let head: Head = serde_json::from_str(text).map_err(|e| FormatError::Json(e.to_string()))?;
    let found = match head.format.as_str() {
        crate::problem::FORMAT => ProblemKind::Reduced,
        crate::full::FORMAT => ProblemKind::Full,
        other => {
            let (a, b) = (crate::problem::FORMAT, crate::full::FORMAT);
            return Err(FormatError::Json(format!("format is {other:?}, expected {a:?} or {b:?}")));
        }
    };
    if let Some(wanted) = kind.filter(|k| *k != found) {
        return Err(FormatError::OtherKind { wanted, found: found.name() });
    }
    if found == ProblemKind::Reduced {
        return Ok(Loaded::reduced(found, Problem::from_json(text)?));
    }
    let (problem, guess) = FullProblem::from_json(text)?;
    let mut loaded = Loaded::new(found, Form::Full(problem));
    // A file without a guess gives zeros.
    loaded.guess = guess.iter().any(|&r| r != 0.0).then_some(guess);
    Ok(loaded)
}
