//! General sparse LU, and orders of elimination: the only place that talks to `faer`.
//!
//! Symbolic analysis once per pattern, numeric factorisation into kept memory. `faer` returns
//! NaN or infinity on singular input without saying so: every factorisation is therefore probed with
//! a known solution, and a probe that is not reproduced is reported as [`Singular`].

use super::{Singular, dense};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::sparse::linalg::amd;
use faer::sparse::linalg::lu::{LuRef, LuSymbolicParams, NumericLu, SymbolicLu, factorize_symbolic_lu};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};
use faer::{Conj, MatMut, Par};
use std::cell::RefCell;

/// An order of approximately minimum degree for a symmetric pattern of `n` rows (`row[i]..row[i + 1]` are the entries of row i).
pub(crate) fn minimum_degree(n: usize, row: &[usize], column: &[usize]) -> Vec<usize> {
    let (mut order, mut step) = (vec![0; n], vec![0; n]);
    let pattern = SymbolicSparseColMatRef::new_checked(n, n, row, None, column);
    let mut memory = MemBuffer::new(amd::order_scratch::<usize>(n, column.len()));
    if amd::order(&mut order, &mut step, pattern, amd::Control::default(), MemStack::new(&mut memory)).is_err() {
        order = (0..n).collect();
    }
    order
}

pub(crate) struct Sparse {
    n: usize,
    col_start: Vec<usize>,
    row: Vec<usize>,
    values: Vec<f64>,
    symbolic: Option<SymbolicLu<usize>>,
    numeric: NumericLu<usize, f64>,
    memory: RefCell<MemBuffer>,
    probe: Vec<f64>,
}

impl std::fmt::Debug for Sparse {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sparse").field("n", &self.n).field("entries", &self.values.len()).finish()
    }
}

impl Clone for Sparse {
    fn clone(&self) -> Self {
        Self {
            n: self.n,
            col_start: self.col_start.clone(),
            row: self.row.clone(),
            values: self.values.clone(),
            symbolic: self.symbolic.clone(),
            numeric: self.numeric.clone(),
            memory: RefCell::new(scratch(self.symbolic.as_ref())),
            probe: self.probe.clone(),
        }
    }
}

fn scratch(symbolic: Option<&SymbolicLu<usize>>) -> MemBuffer {
    let request = match symbolic {
        Some(s) => s
            .factorize_numeric_lu_scratch::<f64>(Par::Seq, Default::default())
            .or(s.solve_in_place_scratch::<f64>(1, Par::Seq)),
        None => faer::dyn_stack::StackReq::EMPTY,
    };
    MemBuffer::new(request)
}

impl Sparse {
    pub(crate) fn new<'a>(n: usize, cliques: impl Iterator<Item = &'a [usize]>) -> Self {
        let mut entries: Vec<(usize, usize)> = (0..n).map(|i| (i, i)).collect();
        for clique in cliques {
            for &j in clique {
                entries.extend(clique.iter().map(|&i| (j, i)));
            }
        }
        entries.sort_unstable();
        entries.dedup();
        let mut col_start = vec![0; n + 1];
        for &(j, _) in &entries {
            col_start[j + 1] += 1;
        }
        for j in 0..n {
            col_start[j + 1] += col_start[j];
        }
        let row: Vec<usize> = entries.into_iter().map(|(_, i)| i).collect();
        let symbolic = {
            let pattern = SymbolicSparseColMatRef::new_checked(n, n, &col_start, None, &row);
            factorize_symbolic_lu(pattern, LuSymbolicParams::default()).ok()
        };
        Self {
            n,
            values: vec![0.0; row.len()],
            memory: RefCell::new(scratch(symbolic.as_ref())),
            col_start,
            row,
            symbolic,
            numeric: NumericLu::new(),
            probe: vec![0.0; 2 * n],
        }
    }

    pub(crate) fn clear(&mut self) {
        self.values.fill(0.0);
    }

    pub(crate) fn values(&self) -> &[f64] {
        &self.values
    }

    pub(crate) fn values_mut(&mut self) -> &mut [f64] {
        &mut self.values
    }

    fn slot(&self, i: usize, j: usize) -> Option<usize> {
        let (a, b) = (self.col_start[j], self.col_start[j + 1]);
        self.row[a..b].binary_search(&i).ok().map(|k| a + k)
    }

    pub(crate) fn add(&mut self, i: usize, j: usize, v: f64) {
        if let Some(s) = self.slot(i, j) {
            self.values[s] += v;
        }
    }

    /// Adds a dense block (row by row) all of whose entries are there: its rows follow each other in every column.
    pub(crate) fn add_block(&mut self, i: usize, j: usize, rows: usize, values: &[f64]) {
        let columns = values.len() / rows.max(1);
        for c in 0..columns {
            let Some(slot) = self.slot(i, j + c) else { continue };
            debug_assert_eq!(self.row[slot + rows - 1], i + rows - 1);
            for p in 0..rows {
                self.values[slot + p] += values[p * columns + c];
            }
        }
    }

    pub(crate) fn get(&self, i: usize, j: usize) -> f64 {
        self.slot(i, j).map_or(0.0, |s| self.values[s])
    }

    pub(crate) fn for_each_entry(&self, mut f: impl FnMut(usize, usize, f64)) {
        for j in 0..self.n {
            for s in self.col_start[j]..self.col_start[j + 1] {
                f(self.row[s], j, self.values[s]);
            }
        }
    }

    pub(crate) fn multiply(&self, x: &[f64], y: &mut [f64]) {
        y[..self.n].fill(0.0);
        for j in 0..self.n {
            for s in self.col_start[j]..self.col_start[j + 1] {
                y[self.row[s]] += self.values[s] * x[j];
            }
        }
    }

    pub(crate) fn factor(&mut self) -> Result<(), Singular> {
        let Some(symbolic) = &self.symbolic else { return Err(Singular { row: 0 }) };
        // A column without a usable entry is singular; faer would divide by its zero pivot.
        let scale = dense::max_norm(&self.values);
        for j in 0..self.n {
            let largest = dense::max_norm(&self.values[self.col_start[j]..self.col_start[j + 1]]);
            if largest <= scale * f64::EPSILON || !largest.is_finite() {
                return Err(Singular { row: j });
            }
        }
        {
            let pattern = SymbolicSparseColMatRef::new_checked(self.n, self.n, &self.col_start, None, &self.row);
            let matrix = SparseColMatRef::new(pattern, &self.values);
            let memory = self.memory.get_mut();
            symbolic
                .factorize_numeric_lu(&mut self.numeric, matrix, Par::Seq, MemStack::new(memory), Default::default())
                .map_err(|_| Singular { row: 0 })?;
        }
        // Probe: A·(1, 1, ...) must solve back to ones. A loss of more than half of the digits
        // (relative error 1e-8) is a matrix that is singular for our purposes.
        let mut probe = std::mem::take(&mut self.probe);
        let (ones, image) = probe.split_at_mut(self.n);
        ones.fill(1.0);
        self.multiply(ones, image);
        self.solve(image);
        let worst = image.iter().enumerate().map(|(i, v)| ((v - 1.0).abs(), i));
        let bad = worst.filter(|(e, _)| *e >= 1e-8 || e.is_nan()).map(|(_, i)| i).next();
        self.probe = probe;
        match bad {
            Some(row) => Err(Singular { row }),
            None => Ok(()),
        }
    }

    pub(crate) fn solve(&self, x: &mut [f64]) {
        if let Some(symbolic) = &self.symbolic {
            let mut memory = self.memory.borrow_mut();
            let rhs = MatMut::from_column_major_slice_mut(&mut x[..self.n], self.n, 1);
            LuRef::new_unchecked(symbolic, &self.numeric).solve_in_place_with_conj(
                Conj::No,
                rhs,
                Par::Seq,
                MemStack::new(&mut memory),
            );
        }
    }
}
