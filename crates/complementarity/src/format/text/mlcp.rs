//! Mixed linear complementarity problems in text files.
//!
//! ```text
//! w = M z + q,   w_i = 0 (equality)   or   0 ≤ w_i ⊥ z_i ≥ 0 (complementarity)
//! ```
//!
//! In order: two flags (0 or 1) for the two storages below, the number n of equalities and m of complementarities, then
//!
//! 1. as one matrix: first rows of the blocks, beginning with 0 and ending with n + m; their kinds (0 equality,
//!    1 complementarity); M as in [`matrix`]; q;
//! 2. in parts: A (n × n), B (m × m), C (n × m), D (m × n) **row by row**, a (n numbers), b (m numbers), where
//!    M = \[A C; D B\] and q = (a, b), the equalities coming first.
//!
//! With both, the second must say the same as the first. Up to n + 2m numbers of a solution may follow and are ignored.
//!
//! An equality becomes a [`Set::Free`] row, a complementarity a [`Set::NonNegative`] one, in the order of the file.

use super::matrix::{self, Stored};
use super::words::Words;
use crate::format::error::{Flaw, FormatError};
use crate::format::{Loaded, ProblemKind};
use crate::linear::Dense;
use crate::problem::Problem;
use crate::sets::Set;

const EQUALITY: Set = Set::Free { dim: 1 };

pub(super) fn read(mut words: Words<'_>) -> Result<Loaded, FormatError> {
    let whole = words.integer("storage flag of M", 0, 1)? == 1;
    let parts = words.integer("storage flag of A, B, C, D", if whole { 0 } else { 1 }, 1)? == 1;
    let n = words.integer("number of equalities n", 0, usize::MAX / 4)?;
    let m = words.integer("number of complementarities m", if n == 0 { 1 } else { 0 }, usize::MAX / 4)?;
    words.sufficient("q", n + m)?;

    let mut problem = None;
    let mut sets = vec![EQUALITY; n];
    sets.resize(n + m, Set::NonNegative);
    if whole {
        sets = kinds(&mut words, n, m)?;
        let matrix = matrix::read(&mut words, n + m)?;
        let q = words.floats("q", n + m)?;
        problem = Some(matrix.problem(sets.clone(), q)?);
    }
    if parts {
        let (a, b) = in_parts(&mut words, &sets, n, m)?;
        let second = Stored::Dense(a).problem(sets, b)?;
        if let Some(first) = &problem {
            let mut dense = Problem::default();
            first.densify(&mut dense);
            if let (Some(a), Some(b)) = (dense.as_dense(), second.as_dense()) {
                contradiction(&words, "M", a.data(), b.data())?;
            }
            contradiction(&words, "q", first.b(), second.b())?;
        }
        problem = problem.or(Some(second));
    }
    // The numbers of a solution.
    let mut left = n + 2 * m;
    while left > 0 && !words.at_end() {
        words.float("solution", n + 2 * m - left)?;
        left -= 1;
    }
    words.end()?;
    let problem = problem.ok_or_else(|| Flaw::Missing.at(words.place("M")))?;
    Ok(Loaded::reduced(ProblemKind::Mlcp, problem))
}

/// The set of every row, from first rows and kinds of blocks.
fn kinds(words: &mut Words<'_>, n: usize, m: usize) -> Result<Vec<Set>, FormatError> {
    let mut start = vec![words.integer("block rows", 0, 0)?];
    while start[start.len() - 1] < n + m {
        start.push(words.integer("block rows", start[start.len() - 1] + 1, n + m)?);
    }
    let mut sets = Vec::new();
    for block in start.windows(2) {
        let kind = words.integer("block kinds (0 equality, 1 complementarity)", 0, 1)?;
        sets.resize(block[1], if kind == 0 { EQUALITY } else { Set::NonNegative });
    }
    let found = sets.iter().filter(|s| **s == EQUALITY).count();
    if found != n {
        return Err(Flaw::Size { found, expected: n }.at(words.place("equalities of the block kinds")));
    }
    Ok(sets)
}

/// M and q from A, B, C, D, a, b.
fn in_parts(words: &mut Words<'_>, sets: &[Set], n: usize, m: usize) -> Result<(Dense, Vec<f64>), FormatError> {
    let (e, c): (Vec<usize>, Vec<usize>) = (0..n + m).partition(|&i| sets[i] == EQUALITY);
    words.sufficient("A, B, C, D", (n + m).saturating_mul(n + m))?;
    let mut matrix = Dense::zeros(n + m, n + m);
    for (field, rows, columns) in [("A", &e, &e), ("B", &c, &c), ("C", &e, &c), ("D", &c, &e)] {
        for (k, &i) in rows.iter().enumerate() {
            for (l, &j) in columns.iter().enumerate() {
                matrix[(i, j)] = words.float(field, k * columns.len() + l)?;
            }
        }
    }
    let mut q = vec![0.0; n + m];
    for (field, rows) in [("a", &e), ("b", &c)] {
        for (k, &i) in rows.iter().enumerate() {
            q[i] = words.float(field, k)?;
        }
    }
    Ok((matrix, q))
}

fn contradiction(words: &Words<'_>, other: &'static str, first: &[f64], second: &[f64]) -> Result<(), FormatError> {
    match (0..first.len()).find(|&k| first[k] != second[k]) {
        Some(index) => {
            let flaw = Flaw::Contradiction { index, other, first: first[index], second: second[index] };
            Err(flaw.at(words.place("A, B, C, D, a, b")))
        }
        None => Ok(()),
    }
}
