//! Text files of one-step problems, as the platform Siconos prints them.
//!
//! Words and numbers separated by white space, matrices as in [`matrix`]:
//!
//! | kind | content, in order |
//! |---|---|
//! | `friction2d`, `friction3d` | dimension d (2 or 3), contacts nc, matrix of d·nc rows, q (d·nc numbers), mu (nc numbers) |
//! | `lcp` | n, matrix of n rows, q (n numbers) |
//! | `mlcp` | see [`mlcp`] |
//!
//! The relation is u = M r + q, per contact (normal, tangents), with 0 ≤ u ⊥ r ≥ 0 in an LCP.
//!
//! A trailer may follow; anything else is an error.
//!
//! - After a friction problem: a single 0 or 1, which is ignored (several files end so).
//! - After an LCP: a remark on a new line that does not begin with a number. It becomes the description.
//! - After a mixed LCP: the numbers of a solution.

pub mod matrix;
pub mod mlcp;
mod words;

use super::error::{Flaw, FormatError};
use super::{Loaded, ProblemKind};
use crate::sets::Set;
use words::Words;

/// The kinds that have a text format.
const KINDS: [ProblemKind; 4] = [ProblemKind::Friction2d, ProblemKind::Friction3d, ProblemKind::Lcp, ProblemKind::Mlcp];

/// Reads a text file of a given kind.
pub(super) fn read(bytes: &[u8], kind: ProblemKind) -> Result<Loaded, FormatError> {
    let words = Words::new(bytes);
    match kind {
        ProblemKind::Friction2d => friction(words, kind, 2),
        ProblemKind::Friction3d => friction(words, kind, 3),
        ProblemKind::Lcp => lcp(words),
        ProblemKind::Mlcp => mlcp::read(words),
        ProblemKind::Reduced | ProblemKind::Full => Err(FormatError::OtherKind { wanted: kind, found: "text" }),
    }
}

/// Reads a text file as the one kind that fits.
///
/// No text fits two. In d, nc, tag, d·nc (friction) and n, tag, n, n (LCP) only 2, 1, 2, 2 agrees, and then one has a
/// print-out where the other has a number. A mixed LCP begins with a flag, which d is not; as LCP it would need n = 1,
/// hence 1, tag, 1, 1, and its block rows 0, 1, 2 are no head of a matrix of one row.
pub(super) fn recognise(bytes: &[u8]) -> Result<Loaded, FormatError> {
    let mut attempts = Vec::new();
    for kind in KINDS {
        match read(bytes, kind) {
            Ok(loaded) => return Ok(loaded),
            Err(error) => attempts.push((kind, error)),
        }
    }
    Err(FormatError::Unrecognised { attempts })
}

fn friction(mut words: Words<'_>, kind: ProblemKind, dim: usize) -> Result<Loaded, FormatError> {
    words.integer("dimension", dim, dim)?;
    let contacts = words.integer("number of contacts", 1, usize::MAX / 4)?;
    let rows = dim * contacts;
    let m = matrix::read(&mut words, rows)?;
    let q = words.floats("q", rows)?;
    words.sufficient("mu", contacts)?;
    let mut sets = Vec::with_capacity(contacts);
    for index in 0..contacts {
        let mu = words.float("mu", index)?;
        if mu < 0.0 {
            return Err(Flaw::Friction { index, value: mu }.at(words.place("mu")));
        }
        sets.push(Set::Coulomb { dim: dim - 1, mu });
    }
    if !words.at_end() {
        words.integer("flag after mu", 0, 1)?;
    }
    words.end()?;
    Ok(Loaded::reduced(kind, m.problem(sets, q)?))
}

fn lcp(mut words: Words<'_>) -> Result<Loaded, FormatError> {
    let n = words.integer("size n", 1, usize::MAX / 4)?;
    let m = matrix::read(&mut words, n)?;
    let q = words.floats("q", n)?;
    let remark = words.remark()?;
    let mut loaded = Loaded::reduced(ProblemKind::Lcp, m.problem(vec![Set::NonNegative; n], q)?);
    loaded.description = remark;
    Ok(loaded)
}
