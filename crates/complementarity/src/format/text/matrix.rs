//! Square matrices in text files: a storage tag, rows, columns, then by tag
//!
//! - 0, dense: rows and columns again, then the entries **column by column**;
//! - 1, block-sparse: numbers of blocks, block rows and block columns. Cumulated sizes of the block rows, then of the block
//!   columns. Numbers of row pointers and of blocks (again). Row pointers. Block columns. The blocks, each preceded by its
//!   ordinal and **column by column**;
//! - 2, compressed columns: the origin 2 and the print-out of the CSparse library, two lines of head, then per column
//!   `col j : locations a to b` and its entries `i : value`.
//!
//! The print-out has six digits only; indices from 10⁶ on lose digits in it and are refused.

use super::words::Words;
use crate::format::FormatError;
use crate::format::assemble::{self, Entry};
use crate::format::error::Flaw;
use crate::linear::Dense;
use crate::problem::{Problem, ProblemError};
use crate::sets::Set;

/// A matrix as the file stores it.
#[derive(Debug)]
pub(super) enum Stored {
    /// All entries.
    Dense(Dense),
    /// The entries that are given.
    Entries(Vec<Entry>),
}

impl Stored {
    /// u = M r + b.
    pub(super) fn problem(self, sets: Vec<Set>, b: Vec<f64>) -> Result<Problem, FormatError> {
        match self {
            Stored::Dense(a) => Ok(Problem::dense(sets, a, b)?),
            Stored::Entries(entries) => assemble::reduced(sets, &entries, b),
        }
    }
}

/// Reads a matrix of n rows and columns.
pub(super) fn read(words: &mut Words<'_>, n: usize) -> Result<Stored, FormatError> {
    let tag = words.integer("storage of M (0 dense, 1 block-sparse, 2 compressed columns)", 0, 2)?;
    words.integer("rows of M", n, n)?;
    words.integer("columns of M", n, n)?;
    match tag {
        0 => dense(words, n),
        1 => blocks(words, n),
        _ => compressed(words, n),
    }
}

fn dense(words: &mut Words<'_>, n: usize) -> Result<Stored, FormatError> {
    words.integer("rows of M", n, n)?;
    words.integer("columns of M", n, n)?;
    words.sufficient("M", n.saturating_mul(n))?;
    let mut a = Dense::zeros(n, n);
    for j in 0..n {
        for i in 0..n {
            a[(i, j)] = words.float("M", j * n + i)?;
        }
    }
    Ok(Stored::Dense(a))
}

fn blocks(words: &mut Words<'_>, n: usize) -> Result<Stored, FormatError> {
    let count = words.integer("number of blocks of M", 0, usize::MAX / 4)?;
    let rows = words.integer("block rows of M", 1, n)?;
    let columns = words.integer("block columns of M", 1, n)?;
    let row_start = cumulated(words, "block row sizes of M", rows, n)?;
    let column_start = cumulated(words, "block column sizes of M", columns, n)?;
    words.integer("number of row pointers of M", rows + 1, rows + 1)?;
    words.integer("number of block columns of M", count, count)?;

    let pointers = words.integers("row pointers of M", rows + 1, 0, count)?;
    let complete = pointers[0] == 0 && pointers[rows] == count && pointers.is_sorted();
    if !complete {
        let flaw = Flaw::Damaged(format!("they must ascend from 0 to {count}"));
        return Err(flaw.at(words.place("row pointers of M")));
    }
    let column = words.integers("block columns of M", count, 0, columns - 1)?;
    let mut entries = Vec::new();
    for row in 0..rows {
        let (top, bottom) = (row_start[row], row_start[row + 1]);
        for k in pointers[row]..pointers[row + 1] {
            words.integer("ordinal of a block of M", k, k)?;
            for j in column_start[column[k]]..column_start[column[k] + 1] {
                for i in top..bottom {
                    entries.push((i, j, words.float("M", entries.len())?));
                }
            }
        }
    }
    Ok(Stored::Entries(entries))
}

/// Starts of blocks from their ends: ascending, the last one n.
fn cumulated(words: &mut Words<'_>, field: &str, count: usize, n: usize) -> Result<Vec<usize>, FormatError> {
    words.sufficient(field, count)?;
    let mut start = vec![0];
    for k in 0..count {
        let low = if k + 1 == count { n } else { start[k] + 1 };
        start.push(words.integer(field, low, n)?);
    }
    Ok(start)
}

fn compressed(words: &mut Words<'_>, n: usize) -> Result<Stored, FormatError> {
    words.integer("origin of M (2 compressed columns)", 2, 2)?;
    words.literal("head of M", "CSparse")?;
    words.skip_line();
    words.literal("head of M", &format!("{n}-by-{n},"))?;
    words.literal("head of M", "nzmax:")?;
    words.integer("nzmax of M", 0, usize::MAX / 4)?;
    words.literal("head of M", "nnz:")?;
    // Followed by a comma.
    let word = words.word("nnz of M")?;
    let nnz = std::str::from_utf8(word).ok().and_then(|w| w.strip_suffix(',')?.parse::<usize>().ok());
    let Some(nnz) = nnz else {
        let found = String::from_utf8_lossy(word).into_owned();
        return Err(Flaw::Expected { expected: "a whole number and a comma".into(), found }.at(words.place("nnz of M")));
    };
    words.skip_line();

    let mut entries = Vec::new();
    for j in 0..n {
        words.literal("M", "col")?;
        words.integer("column of M", j, j)?;
        words.literal("M", ":")?;
        words.literal("M", "locations")?;
        words.integer("first location of a column of M", entries.len(), entries.len())?;
        words.literal("M", "to")?;
        // The last location, −1 where M begins with an empty column.
        let last = words.word("last location of a column of M")?;
        let last = std::str::from_utf8(last).ok().and_then(|w| w.parse::<i64>().ok());
        let end = last.and_then(|l| usize::try_from(l.checked_add(1)?).ok());
        let Some(end) = end.filter(|e| (entries.len()..=nnz).contains(e)) else {
            let flaw = Flaw::Damaged(format!("it must lie from {} to {nnz}, exclusively", entries.len() as i64 - 1));
            return Err(flaw.at(words.place("last location of a column of M")));
        };
        while entries.len() < end {
            let i = words.integer("row of M", 0, n - 1)?;
            words.literal("M", ":")?;
            entries.push((i, j, words.float("M", entries.len())?));
        }
    }
    if entries.len() != nnz {
        return Err(ProblemError::Size { what: "M", found: entries.len(), expected: nnz }.into());
    }
    Ok(Stored::Entries(entries))
}
