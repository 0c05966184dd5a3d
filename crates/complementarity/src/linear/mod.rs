//! Linear algebra behind the one-step problem.
//!
//! A [`Matrix`] is the iteration matrix M̂ of a time step: square, possibly unsymmetric, assembled
//! from small dense contributions. Its kernel is chosen once from the [`Pattern`] of its couplings, for each matrix by itself: a mass may be diagonal
//! where the derivative of its forces is not.
//!
//! | kernel | chosen when | cost of factor + solve |
//! |---|---|---|
//! | dense LU | n ≤ 32 (or n ≤ 96 without a better structure) | n³/3 |
//! | diagonal | nothing is coupled (planar bodies in their centres of mass) | n |
//! | block-diagonal LU | the coupling graph falls into components of at most 12 unknowns (bodies) | linear in n |
//! | banded LU | half bandwidth ≤ 8 in the given numbering (chains, bars) | linear in n |
//! | sparse LU | otherwise | fill-in of a COLAMD ordering, symbolic part once |

mod banded;
mod block_diagonal;
mod block_lu;
pub mod dense;
mod diagonal;
mod small;
mod sparse;

use banded::Banded;
pub(crate) use block_diagonal::BlockDiagonal;
pub(crate) use block_lu::BlockLu;
pub use dense::Dense;
use diagonal::Diagonal;
use sparse::Sparse;
use std::sync::atomic::{AtomicU64, Ordering};

/// A matrix that cannot be factored: the pivot of this row (in elimination order) vanishes or is not finite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("matrix is singular: no usable pivot for unknown {row}")]
pub struct Singular {
    /// Unknown at which the elimination broke down.
    pub row: usize,
}

static NEXT_PATTERN_ID: AtomicU64 = AtomicU64::new(1);

/// Which unknowns are coupled, as a list of cliques: each contribution couples all its unknowns.
#[derive(Debug, Clone, Default)]
pub struct Pattern {
    id: u64,
    n: usize,
    dofs: Vec<usize>,
    start: Vec<usize>,
}

impl Pattern {
    /// A pattern of `n` uncoupled unknowns: the diagonal alone.
    #[inline]
    pub fn new(n: usize) -> Self {
        Self { id: NEXT_PATTERN_ID.fetch_add(1, Ordering::Relaxed), n, dofs: Vec::new(), start: vec![0] }
    }

    /// Number of this pattern. No other has it, except clones, until one of them changes.
    #[inline]
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Number of unknowns.
    #[inline]
    pub fn size(&self) -> usize {
        self.n
    }

    /// Couples all `dofs` with each other. Indices must be below [`Pattern::size`]. The pattern is another one from then on.
    pub fn couple(&mut self, dofs: &[usize]) {
        debug_assert!(dofs.iter().all(|&d| d < self.n));
        self.id = NEXT_PATTERN_ID.fetch_add(1, Ordering::Relaxed);
        self.dofs.extend_from_slice(dofs);
        self.start.push(self.dofs.len());
    }

    /// Calls `f` with every group of unknowns that were coupled, in order.
    #[inline]
    pub fn for_each_clique(&self, f: impl FnMut(&[usize])) {
        self.cliques().for_each(f);
    }

    fn cliques(&self) -> impl Iterator<Item = &[usize]> {
        self.start.windows(2).map(|w| &self.dofs[w[0]..w[1]])
    }

    /// Component number of every unknown, numbered by their smallest member.
    fn components(&self) -> (Vec<usize>, usize) {
        let mut parent: Vec<usize> = (0..self.n).collect();
        fn root(parent: &mut [usize], mut i: usize) -> usize {
            while parent[i] != i {
                parent[i] = parent[parent[i]];
                i = parent[i];
            }
            i
        }
        for clique in self.cliques() {
            for w in clique.windows(2) {
                let (a, b) = (root(&mut parent, w[0]), root(&mut parent, w[1]));
                let (low, high) = (a.min(b), a.max(b));
                parent[high] = low;
            }
        }
        let mut number = vec![usize::MAX; self.n];
        let mut component = vec![0; self.n];
        let mut count = 0;
        for i in 0..self.n {
            let r = root(&mut parent, i);
            if number[r] == usize::MAX {
                number[r] = count;
                count += 1;
            }
            component[i] = number[r];
        }
        (component, count)
    }

    fn half_bandwidth(&self) -> usize {
        self.cliques()
            .map(|c| match (c.iter().min(), c.iter().max()) {
                (Some(a), Some(b)) => b - a,
                _ => 0,
            })
            .max()
            .unwrap_or(0)
    }
}

#[derive(Debug, Clone)]
enum Kernel {
    Dense { a: Dense, lu: Vec<f64>, pivots: Vec<usize> },
    Diagonal(Diagonal),
    BlockDiagonal(BlockDiagonal),
    Banded(Banded),
    Sparse(Box<Sparse>),
}

/// A square matrix with its factorisation. See the [module](self).
#[derive(Debug, Clone)]
pub struct Matrix {
    n: usize,
    /// Identity of its pattern.
    pattern: u64,
    kernel: Kernel,
    factored: bool,
    revision: u64,
}

/// Largest n for which the dense kernel is used whatever the structure.
const DENSE_UP_TO: usize = 32;
/// Largest n for which dense is preferred to general sparse.
const DENSE_UNLESS_STRUCTURED_UP_TO: usize = 96;
/// Largest component of the block-diagonal kernel.
const MAX_COMPONENT: usize = 12;
/// Largest half bandwidth of the banded kernel.
const MAX_HALF_BANDWIDTH: usize = 8;

impl Matrix {
    /// Chooses the kernel for `pattern`; all entries are zero.
    pub fn new(pattern: &Pattern) -> Self {
        let n = pattern.n;
        let dense = || Kernel::Dense { a: Dense::zeros(n, n), lu: vec![0.0; n * n], pivots: vec![0; n] };
        let kernel = if n <= DENSE_UP_TO {
            dense()
        } else {
            let (component, count) = pattern.components();
            let mut size = vec![0; count];
            for &c in &component {
                size[c] += 1;
            }
            if count == n {
                Kernel::Diagonal(Diagonal::new(n))
            } else if size.iter().all(|&s| s <= MAX_COMPONENT) {
                Kernel::BlockDiagonal(BlockDiagonal::new(component, count))
            } else if pattern.half_bandwidth() <= MAX_HALF_BANDWIDTH {
                Kernel::Banded(Banded::new(n, pattern.half_bandwidth()))
            } else if n <= DENSE_UNLESS_STRUCTURED_UP_TO {
                dense()
            } else {
                Kernel::Sparse(Box::new(Sparse::new(n, pattern.cliques())))
            }
        };
        Self { n, pattern: pattern.id, kernel, factored: false, revision: 0 }
    }

    /// Number of unknowns.
    #[inline]
    pub fn size(&self) -> usize {
        self.n
    }

    /// Name of the kernel in use.
    pub fn kernel_name(&self) -> &'static str {
        match self.kernel {
            Kernel::Dense { .. } => "dense",
            Kernel::Diagonal(_) => "diagonal",
            Kernel::BlockDiagonal(_) => "block-diagonal",
            Kernel::Banded(_) => "banded",
            Kernel::Sparse(_) => "sparse",
        }
    }

    /// Sets all entries to zero.
    pub fn clear(&mut self) {
        self.factored = false;
        match &mut self.kernel {
            Kernel::Dense { a, .. } => a.data_mut().fill(0.0),
            Kernel::Diagonal(k) => k.values_mut().fill(0.0),
            Kernel::BlockDiagonal(k) => k.clear(),
            Kernel::Banded(k) => k.clear(),
            Kernel::Sparse(k) => k.clear(),
        }
    }

    /// Adds `v` to entry (i, j). Entries outside the pattern must be zero; they are ignored.
    #[inline]
    pub fn add(&mut self, i: usize, j: usize, v: f64) {
        self.factored = false;
        match &mut self.kernel {
            Kernel::Dense { a, .. } => a[(i, j)] += v,
            Kernel::Diagonal(k) => k.add(i, j, v),
            Kernel::BlockDiagonal(k) => k.add(i, j, v),
            Kernel::Banded(k) => k.add(i, j, v),
            Kernel::Sparse(k) => k.add(i, j, v),
        }
    }

    /// Adds all entries, row by row.
    pub fn add_all(&mut self, values: &[f64]) {
        if let Kernel::Dense { a, .. } = &mut self.kernel {
            self.factored = false;
            a.data_mut().iter_mut().zip(values).for_each(|(a, v)| *a += v);
            return;
        }
        for (i, row) in values.chunks_exact(self.n.max(1)).enumerate() {
            for (j, &v) in row.iter().enumerate() {
                // Entries outside the pattern are zero.
                if v != 0.0 {
                    self.add(i, j, v);
                }
            }
        }
    }

    /// Adds a dense block (row by row) that couples `dofs` with each other.
    #[inline]
    pub fn add_clique(&mut self, dofs: &[usize], values: &[f64]) {
        let n = dofs.len().max(1);
        if let Kernel::Dense { a, .. } = &mut self.kernel {
            self.factored = false;
            for (&i, values) in dofs.iter().zip(values.chunks_exact(n)) {
                let row = a.row_mut(i);
                dofs.iter().zip(values).for_each(|(&j, v)| row[j] += v);
            }
            return;
        }
        for (&i, values) in dofs.iter().zip(values.chunks_exact(n)) {
            for (&j, &v) in dofs.iter().zip(values) {
                // Entries outside the pattern are zero.
                if v != 0.0 {
                    self.add(i, j, v);
                }
            }
        }
    }

    /// Adds a dense block of `rows` rows (row by row) with its first entry at (i, j). All its entries must be in the pattern.
    pub(crate) fn add_block(&mut self, i: usize, j: usize, rows: usize, values: &[f64]) {
        let columns = values.len() / rows.max(1);
        if let Kernel::Sparse(k) = &mut self.kernel {
            self.factored = false;
            return k.add_block(i, j, rows, values);
        }
        for p in 0..rows {
            for c in 0..columns {
                self.add(i + p, j + c, values[p * columns + c]);
            }
        }
    }

    /// Adds `scale` times the entries of `other`, a matrix of the same size whose pattern is this one or a part of it.
    pub fn add_scaled(&mut self, scale: f64, other: &Matrix) {
        fn axpy(y: &mut [f64], s: f64, x: &[f64]) {
            for (y, x) in y.iter_mut().zip(x) {
                *y += s * x;
            }
        }
        debug_assert_eq!(self.n, other.n, "matrices of different sizes");
        self.factored = false;
        let same = self.pattern == other.pattern;
        match (&mut self.kernel, &other.kernel) {
            (Kernel::Dense { a, .. }, Kernel::Dense { a: b, .. }) => axpy(a.data_mut(), scale, b.data()),
            (Kernel::Diagonal(a), Kernel::Diagonal(b)) => axpy(a.values_mut(), scale, b.values()),
            (Kernel::BlockDiagonal(a), Kernel::BlockDiagonal(b)) if same => axpy(a.values_mut(), scale, b.values()),
            (Kernel::Banded(a), Kernel::Banded(b)) if same => axpy(a.values_mut(), scale, b.values()),
            (Kernel::Sparse(a), Kernel::Sparse(b)) if same => axpy(a.values_mut(), scale, b.values()),
            _ => other.for_each_entry(|i, j, v| self.add(i, j, scale * v)),
        }
    }

    /// Entry (i, j), zero outside the pattern.
    pub fn get(&self, i: usize, j: usize) -> f64 {
        match &self.kernel {
            Kernel::Dense { a, .. } => a[(i, j)],
            Kernel::Diagonal(k) => k.get(i, j),
            Kernel::BlockDiagonal(k) => k.get(i, j),
            Kernel::Banded(k) => k.get(i, j),
            Kernel::Sparse(k) => k.get(i, j),
        }
    }

    /// Calls `f(i, j, value)` for every entry of the pattern that is not zero, in a fixed order.
    pub fn for_each_entry(&self, mut f: impl FnMut(usize, usize, f64)) {
        let mut visit = |i, j, v| {
            if v != 0.0 {
                f(i, j, v);
            }
        };
        match &self.kernel {
            Kernel::Dense { a, .. } => {
                for i in 0..self.n {
                    for j in 0..self.n {
                        visit(i, j, a[(i, j)]);
                    }
                }
            }
            Kernel::Diagonal(k) => k.values().iter().enumerate().for_each(|(i, v)| visit(i, i, *v)),
            Kernel::BlockDiagonal(k) => k.for_each_entry(visit),
            Kernel::Banded(k) => k.for_each_entry(visit),
            Kernel::Sparse(k) => k.for_each_entry(visit),
        }
    }

    /// y = A x, with the entries as assembled (also after factoring).
    pub fn multiply(&self, x: &[f64], y: &mut [f64]) {
        match &self.kernel {
            Kernel::Dense { a, .. } => a.multiply(x, y),
            Kernel::Diagonal(k) => k.multiply(x, y),
            Kernel::BlockDiagonal(k) => k.multiply(x, y),
            Kernel::Banded(k) => k.multiply(x, y),
            Kernel::Sparse(k) => k.multiply(x, y),
        }
    }

    /// Factors the matrix as assembled; a second call without change is free.
    pub fn factor(&mut self) -> Result<(), Singular> {
        if self.factored {
            return Ok(());
        }
        match &mut self.kernel {
            Kernel::Dense { a, lu, pivots } => {
                lu.copy_from_slice(a.data());
                dense::lu_factor(lu, self.n, pivots)?;
            }
            Kernel::Diagonal(k) => k.factor()?,
            Kernel::BlockDiagonal(k) => k.factor()?,
            Kernel::Banded(k) => k.factor()?,
            Kernel::Sparse(k) => k.factor()?,
        }
        self.factored = true;
        self.revision += 1;
        Ok(())
    }

    /// Counts factorisations: while it stays the same, so do the factors.
    #[inline]
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Solves A x = b in place. [`Matrix::factor`] must have succeeded.
    pub fn solve(&self, x: &mut [f64]) {
        debug_assert!(self.factored, "solve before factor");
        match &self.kernel {
            Kernel::Dense { lu, pivots, .. } => dense::lu_solve(lu, self.n, pivots, x),
            Kernel::Diagonal(k) => k.solve(x),
            Kernel::BlockDiagonal(k) => k.solve(x),
            Kernel::Banded(k) => k.solve(x),
            Kernel::Sparse(k) => k.solve(x),
        }
    }

    /// The entries of a diagonal kernel, if that is the kernel.
    pub(crate) fn as_diagonal(&self) -> Option<&[f64]> {
        match &self.kernel {
            Kernel::Diagonal(k) => Some(k.values()),
            _ => None,
        }
    }

    /// The blocks of a block-diagonal kernel, if that is the kernel.
    pub(crate) fn as_block_diagonal(&self) -> Option<&BlockDiagonal> {
        match &self.kernel {
            Kernel::BlockDiagonal(k) => Some(k),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fills a matrix with a diagonally strong, unsymmetric stencil over the cliques and solves.
    fn check(pattern: &Pattern, expected_kernel: &str) {
        let n = pattern.size();
        let mut m = Matrix::new(pattern);
        assert_eq!(m.kernel_name(), expected_kernel);
        for i in 0..n {
            m.add(i, i, 3.0 + (i % 5) as f64);
        }
        for clique in pattern.cliques().map(<[usize]>::to_vec).collect::<Vec<_>>() {
            for (a, &i) in clique.iter().enumerate() {
                for (b, &j) in clique.iter().enumerate() {
                    m.add(i, j, 0.1 * (a as f64 - 0.7 * b as f64));
                }
            }
        }
        let x: Vec<f64> = (0..n).map(|i| (i as f64).sin()).collect();
        let mut b = vec![0.0; n];
        m.multiply(&x, &mut b);
        // The product agrees with the entries one by one.
        let row = n / 2;
        let by_entry: f64 = (0..n).map(|j| m.get(row, j) * x[j]).sum();
        assert!((by_entry - b[row]).abs() < 1e-12);
        m.factor().unwrap();
        m.solve(&mut b);
        for i in 0..n {
            assert!((b[i] - x[i]).abs() < 1e-11, "{expected_kernel} {i}: {} {}", b[i], x[i]);
        }
        // A second assembly on the same memory.
        m.clear();
        for i in 0..n {
            m.add(i, i, 2.0);
        }
        m.factor().unwrap();
        let mut b = vec![1.0; n];
        m.solve(&mut b);
        assert!(b.iter().all(|v| (v - 0.5).abs() < 1e-15));
        m.clear();
        assert!(m.factor().is_err(), "{expected_kernel}: the zero matrix must not factor");
    }

    #[test]
    fn every_kernel_solves_its_pattern_and_reports_singularity() {
        let mut p = Pattern::new(5);
        p.couple(&[0, 4]);
        p.couple(&[1, 2, 3]);
        check(&p, "dense");

        check(&Pattern::new(50), "diagonal");

        let mut p = Pattern::new(60);
        for b in 0..20 {
            p.couple(&[b, b + 20, b + 40]);
        }
        check(&p, "block-diagonal");

        let mut p = Pattern::new(200);
        for i in 0..198 {
            p.couple(&[i, i + 2]);
            p.couple(&[i, i + 1]);
        }
        check(&p, "banded");

        let mut p = Pattern::new(150);
        for i in 0..149 {
            p.couple(&[i, i + 1]);
        }
        p.couple(&[0, 75, 149]);
        check(&p, "sparse");
    }
}
