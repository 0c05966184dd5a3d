//! Assembles the matrix of a problem from its entries.
//!
//! Duplicate entries are added, as in the sparse formats that the files come from. The matrix is stored by blocks
//! if fewer than [`DENSE_FROM`] of its blocks are filled, else densely.

use super::FormatError;
use crate::full::FullProblem;
use crate::linear::{Dense, Pattern};
use crate::problem::{BlockSparse, Measure, Problem, ProblemError, ReducedMatrix};
use crate::sets::Set;

/// Share of filled blocks from which a matrix is stored densely.
const DENSE_FROM: f64 = 0.3;

/// One entry: row, column, value (finite).
pub(crate) type Entry = (usize, usize, f64);

/// Sums in slots: entries are finite, so NaN marks a slot that is still empty. A single −0 stays −0.
const EMPTY_SLOT: f64 = f64::NAN;

fn add(what: &'static str, slots: &mut [f64], slot: usize, value: f64) -> Result<(), ProblemError> {
    let sum = &mut slots[slot];
    *sum = if sum.is_nan() { value } else { *sum + value };
    if sum.is_finite() { Ok(()) } else { Err(ProblemError::NotFinite { what, index: slot }) }
}

/// Sets empty slots to zero.
fn finish(slots: &mut [f64]) {
    for v in slots.iter_mut().filter(|v| v.is_nan()) {
        *v = 0.0;
    }
}

/// The problem u = A r + b with A from its entries, which lie inside the rows of `sets`.
pub(crate) fn reduced(sets: Vec<Set>, entries: &[Entry], b: Vec<f64>) -> Result<Problem, FormatError> {
    let mut problem = Problem::default();
    let mut block_of = Vec::with_capacity(b.len());
    let mut start = vec![0];
    for (i, set) in sets.into_iter().enumerate() {
        block_of.resize(block_of.len() + set.dim(), i);
        start.push(block_of.len());
        problem.push_block(set);
    }
    let n = block_of.len();
    let count = start.len() - 1;

    // Which blocks are filled; the diagonal always counts.
    let mut filled: Vec<(usize, usize)> = entries.iter().map(|&(i, j, _)| (block_of[i], block_of[j])).collect();
    filled.extend((0..count).map(|i| (i, i)));
    filled.sort_unstable();
    filled.dedup();

    problem.b = b;
    if filled.len() as f64 >= DENSE_FROM * count as f64 * count as f64 {
        let mut a = Dense::zeros(n, n);
        a.data_mut().fill(EMPTY_SLOT);
        for &(i, j, v) in entries {
            add("A", a.data_mut(), i * n + j, v)?;
        }
        finish(a.data_mut());
        problem.matrix = ReducedMatrix::Dense(a);
    } else {
        let mut a = BlockSparse { row: vec![0; count + 1], ..Default::default() };
        let dim = |i: usize| start[i + 1] - start[i];
        let mut size = 0;
        for &(i, j) in &filled {
            a.row[i + 1] += 1;
            a.column.push(j);
            a.offset.push(size);
            size += dim(i) * dim(j);
        }
        for i in 0..count {
            a.row[i + 1] += a.row[i];
        }
        a.values = vec![EMPTY_SLOT; size];
        for &(i, j, v) in entries {
            let (row, column) = (block_of[i], block_of[j]);
            let first = a.row[row];
            let k = first + a.column[first..a.row[row + 1]].partition_point(|&c| c < column);
            add("A", &mut a.values, a.offset[k] + (i - start[row]) * dim(column) + j - start[column], v)?;
        }
        finish(&mut a.values);
        a.start = start;
        a.settle();
        problem.matrix = ReducedMatrix::BlockSparse(a);
    }
    problem.validate()?;
    Ok(problem)
}

/// M̂ and f of a full problem, without blocks.
pub(crate) fn full(matrix: &[Entry], f: Vec<f64>) -> Result<FullProblem, FormatError> {
    let mut pattern = Pattern::new(f.len());
    for &(i, j, v) in matrix {
        if v != 0.0 && i != j {
            pattern.couple(&[i, j]);
        }
    }
    let mut problem = FullProblem::new(&pattern).measured(Measure::Unit);
    for &(i, j, v) in matrix {
        if v != 0.0 {
            problem.matrix.add(i, j, v);
        }
    }
    let mut bad = None;
    problem.matrix.for_each_entry(|i, _, v| bad = bad.or((!v.is_finite()).then_some(i)));
    if let Some(index) = bad {
        return Err(ProblemError::NotFinite { what: "a row of M", index }.into());
    }
    problem.f = f;
    Ok(problem)
}

/// Appends blocks of `dim` rows each: `columns` holds the entries of their columns of W, `velocity` their part of c.
pub(crate) fn push_blocks(
    problem: &mut FullProblem,
    sets: Vec<Set>,
    mut columns: Vec<Entry>,
    velocity: &[f64],
) -> Result<(), FormatError> {
    let dim = sets.first().map_or(1, Set::dim);
    // By block, then by unknown.
    columns.sort_by_key(|&(i, j, _)| (j / dim, i));
    let mut rest = &columns[..];
    let mut dofs = Vec::new();
    for (k, set) in sets.into_iter().enumerate() {
        let (mine, others) = rest.split_at(rest.partition_point(|&(_, j, _)| j / dim == k));
        rest = others;
        dofs.clear();
        // Unknowns are counted in files by 32-bit numbers.
        dofs.extend(mine.iter().map(|&(i, _, _)| i as u32));
        dofs.dedup();
        problem.check_room(dim, dofs.len())?;
        let w = problem.push_block(set, &dofs, &velocity[k * dim..(k + 1) * dim]);
        w.fill(EMPTY_SLOT);
        for &(i, j, v) in mine {
            let at = dofs.partition_point(|&d| (d as usize) < i);
            add("a block of W", w, (j % dim) * dofs.len() + at, v)?;
        }
        finish(w);
    }
    Ok(())
}
