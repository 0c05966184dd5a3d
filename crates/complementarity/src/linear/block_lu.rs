//! LU factors of a matrix of dense blocks whose pattern is symmetric, without exchanging blocks.
//!
//! Blocks are eliminated in an order of approximately minimum degree, found once per pattern. Rows are exchanged within diagonal blocks only.
//! For matrices close to positive definite, as in Newton's method on regularised contact problems, this is stable. It has half of the fill and a
//! fraction of the cost of a general LU. For other matrices it may be inaccurate: callers check the solution and fall back on [`super::Matrix`].
//!
//! With rows in the order of elimination, for each row i: w = J_i, then for j < i ascending L_ij = w_j U_jj⁻¹ and w_k −= L_ij U_jk for
//! k > j; what is left is U_i.

use super::Singular;
use super::dense::{lu_factor, lu_solve};
use super::sparse::minimum_degree;

/// The factors, and the matrix before it is factored.
#[derive(Debug, Clone, Default)]
pub(crate) struct BlockLu {
    /// Block that is eliminated at each step, and its rows in the vectors.
    order: Vec<usize>,
    start: Vec<usize>,
    size: Vec<usize>,
    /// Row i of the factors: its columns (steps, ascending) are `column[row[i]..row[i + 1]]`, the diagonal at `diagonal[i]`; first value of each.
    row: Vec<usize>,
    column: Vec<usize>,
    diagonal: Vec<usize>,
    offset: Vec<usize>,
    values: Vec<f64>,
    /// U_ii⁻¹ in place of U_ii once factored; whether U_i has no other block.
    alone: Vec<bool>,
    /// The entry U_ji that mirrors each entry L_ij.
    mirror: Vec<usize>,
    /// Where each block of the given pattern is in `values`.
    place: Vec<usize>,
    /// Size of all blocks if it is one, else 0.
    uniform: usize,
    /// Entry of the current row in each column.
    entry: Vec<usize>,
    x: Vec<f64>,
}

impl BlockLu {
    /// Analyses the pattern of block rows `row`, `column` (symmetric, with its diagonal) of blocks that begin at `start`. `None` if the factors
    /// would have more than `most` numbers.
    pub(crate) fn new(start: &[usize], row: &[usize], column: &[usize], most: usize) -> Option<Self> {
        let n = start.len().saturating_sub(1);
        let order = minimum_degree(n, row, column);
        let mut step = vec![0; n];
        for (i, &b) in order.iter().enumerate() {
            step[b] = i;
        }
        // Columns right of the diagonal of every U_i: its own, and those of the rows whose first one it is.
        let mut upper: Vec<Vec<usize>> = vec![Vec::new(); n];
        let mut seen = vec![usize::MAX; n];
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); n];
        let width = |step: usize| start[order[step] + 1] - start[order[step]];
        let mut numbers = 0;
        for i in 0..n {
            let mut found = Vec::new();
            let mut include = |k: usize| {
                if k > i && seen[k] != i {
                    seen[k] = i;
                    found.push(k);
                }
            };
            column[row[order[i]]..row[order[i] + 1]].iter().for_each(|&b| include(step[b]));
            for &c in &children[i] {
                upper[c].iter().for_each(|&k| include(k));
            }
            found.sort_unstable();
            if let Some(&first) = found.first() {
                children[first].push(i);
            }
            numbers += width(i) * (width(i) + 2 * found.iter().map(|&k| width(k)).sum::<usize>());
            if numbers > most {
                return None;
            }
            upper[i] = found;
        }
        let mut count = vec![1; n];
        for (i, list) in upper.iter().enumerate() {
            count[i] += list.len();
            list.iter().for_each(|&k| count[k] += 1);
        }
        let mut first = vec![0; n + 1];
        for i in 0..n {
            first[i + 1] = first[i] + count[i];
        }
        // L_ki for k in upper(i): rows k receive their columns in ascending order of i.
        let mut fill = first.clone();
        let mut columns = vec![0; first[n]];
        let mut mirror = vec![0; first[n]];
        let mut diagonal = vec![0; n];
        for i in 0..n {
            // All i' < i have been entered in row i by now.
            diagonal[i] = fill[i];
            columns[fill[i]] = i;
            for (k, &c) in upper[i].iter().enumerate() {
                columns[fill[i] + 1 + k] = c;
                columns[fill[c]] = i;
                mirror[fill[c]] = fill[i] + 1 + k;
                fill[c] += 1;
            }
        }
        let size: Vec<usize> = (0..n).map(width).collect();
        let mut offset = vec![0; first[n] + 1];
        for i in 0..n {
            for e in first[i]..first[i + 1] {
                offset[e + 1] = offset[e] + size[i] * size[columns[e]];
            }
        }
        let mut place = vec![0; column.len()];
        for b in 0..n {
            let i = step[b];
            let own = &columns[first[i]..first[i + 1]];
            for e in row[b]..row[b + 1] {
                let at = own.binary_search(&step[column[e]]).unwrap_or_default();
                place[e] = offset[first[i] + at];
            }
        }
        let d = size.first().copied().unwrap_or(0);
        Some(Self {
            start: order.iter().map(|&b| start[b]).collect(),
            uniform: if size.iter().all(|&s| s == d) { d } else { 0 },
            values: vec![0.0; offset[first[n]]],
            alone: vec![false; n],
            entry: vec![0; n],
            x: vec![0.0; start.last().copied().unwrap_or(0)],
            order,
            size,
            row: first,
            column: columns,
            diagonal,
            offset,
            mirror,
            place,
        })
    }

    /// Sets all entries to zero.
    pub(crate) fn clear(&mut self) {
        self.values.fill(0.0);
    }

    /// Block `e` of the given pattern, row by row.
    pub(crate) fn block_mut(&mut self, e: usize, len: usize) -> &mut [f64] {
        &mut self.values[self.place[e]..self.place[e] + len]
    }

    /// Factors the matrix as assembled.
    pub(crate) fn factor(&mut self) -> Result<(), Singular> {
        match self.uniform {
            1 => self.factor_of::<1, 1, false>(),
            2 => self.factor_of::<2, 4, false>(),
            3 => self.factor_of::<3, 9, false>(),
            _ => self.factor_any(),
        }
    }

    /// Factors a symmetric matrix: half of the work for blocks of one size up to three, of which only the upper half is read.
    pub(crate) fn factor_symmetric(&mut self) -> Result<(), Singular> {
        match self.uniform {
            1 => self.factor_of::<1, 1, true>(),
            2 => self.factor_of::<2, 4, true>(),
            3 => self.factor_of::<3, 9, true>(),
            _ => self.factor_any(),
        }
    }

    /// All blocks of D rows and columns: entry e begins at D² e. Of a symmetric matrix J_ij is that which U_ji was made of, J_ij − .. = U_jiᵀ, and
    /// columns before i are not needed.
    fn factor_of<const D: usize, const DD: usize, const SYMMETRIC: bool>(&mut self) -> Result<(), Singular> {
        let values = self.values.as_chunks_mut::<DD>().0;
        for i in 0..self.order.len() {
            let (from, to) = (self.row[i], self.row[i + 1]);
            for e in from..to {
                self.entry[self.column[e]] = e;
            }
            for e in from..self.diagonal[i] {
                let (j, mirror) = (self.column[e], self.mirror[e]);
                let left = if SYMMETRIC { transposed::<D, DD>(&values[mirror]) } else { values[e] };
                if left == [0.0; DD] {
                    values[e] = left;
                    continue;
                }
                let l = product::<D, DD>(&left, &values[self.diagonal[j]]);
                values[e] = l;
                if self.alone[j] {
                    continue;
                }
                for f in if SYMMETRIC { mirror } else { self.diagonal[j] + 1 }..self.row[j + 1] {
                    let change = product::<D, DD>(&l, &values[f]);
                    let target = &mut values[self.entry[self.column[f]]];
                    for k in 0..DD {
                        target[k] -= change[k];
                    }
                }
            }
            let d = self.diagonal[i];
            if !invert(&mut values[d], D) {
                return Err(Singular { row: self.start[i] });
            }
            self.alone[i] = values[d + 1..to].iter().all(|v| *v == [0.0; DD]);
        }
        Ok(())
    }

    /// Blocks of different sizes.
    fn factor_any(&mut self) -> Result<(), Singular> {
        let mut l = Vec::new();
        for i in 0..self.order.len() {
            let (from, to, p) = (self.row[i], self.row[i + 1], self.size[i]);
            for e in from..to {
                self.entry[self.column[e]] = e;
            }
            for e in from..self.diagonal[i] {
                let j = self.column[e];
                let (q, d) = (self.size[j], self.offset[self.diagonal[j]]);
                l.clear();
                l.resize(p * q, 0.0);
                add_product(&self.values[self.offset[e]..][..p * q], &self.values[d..d + q * q], q, &mut l, 1.0);
                self.values[self.offset[e]..][..p * q].copy_from_slice(&l);
                if self.alone[j] {
                    continue;
                }
                for f in self.diagonal[j] + 1..self.row[j + 1] {
                    // U_jk lies in a row before this one.
                    let width = self.size[self.column[f]];
                    let target = self.offset[self.entry[self.column[f]]];
                    let (before, own) = self.values.split_at_mut(self.offset[from]);
                    let u = &before[self.offset[f]..][..q * width];
                    add_product(&l, u, width, &mut own[target - self.offset[from]..][..p * width], -1.0);
                }
            }
            let d = self.diagonal[i];
            if !invert(&mut self.values[self.offset[d]..self.offset[d + 1]], p) {
                return Err(Singular { row: self.start[i] });
            }
            self.alone[i] = self.values[self.offset[d + 1]..self.offset[to]].iter().all(|v| *v == 0.0);
        }
        Ok(())
    }

    /// Solves in place with the factors.
    pub(crate) fn solve(&mut self, x: &mut [f64]) {
        match self.uniform {
            1 => self.solve_of::<1, 1>(x),
            2 => self.solve_of::<2, 4>(x),
            3 => self.solve_of::<3, 9>(x),
            _ => self.solve_any(x),
        }
    }

    fn solve_of<const D: usize, const DD: usize>(&mut self, x: &mut [f64]) {
        let (n, values) = (self.order.len(), self.values.as_chunks::<DD>().0);
        // In the order of elimination.
        let given = x.as_chunks_mut::<D>().0;
        let x = self.x.as_chunks_mut::<D>().0;
        for (x, &b) in x.iter_mut().zip(&self.order) {
            *x = given[b];
        }
        let rest = |i: usize, x: &[[f64; D]], entries: std::ops::Range<usize>| {
            let mut sum = x[i];
            for (a, &j) in values[entries.clone()].iter().zip(&self.column[entries]) {
                let x = &x[j];
                for p in 0..D {
                    for q in 0..D {
                        sum[p] -= a[p * D + q] * x[q];
                    }
                }
            }
            sum
        };
        for i in 0..n {
            x[i] = rest(i, x, self.row[i]..self.diagonal[i]);
        }
        for i in (0..n).rev() {
            let y = rest(i, x, self.diagonal[i] + 1..self.row[i + 1]);
            let inverse = &values[self.diagonal[i]];
            x[i] = std::array::from_fn(|p| (0..D).map(|q| inverse[p * D + q] * y[q]).sum());
        }
        for (x, &b) in x.iter().zip(&self.order) {
            given[b] = *x;
        }
    }

    fn solve_any(&mut self, x: &mut [f64]) {
        let n = self.order.len();
        for i in 0..n {
            self.subtract(i, self.row[i]..self.diagonal[i], x);
        }
        for i in (0..n).rev() {
            self.subtract(i, self.diagonal[i] + 1..self.row[i + 1], x);
            let (s, d) = (self.start[i], self.size[i]);
            let inverse = &self.values[self.offset[self.diagonal[i]]..][..d * d];
            let y = &mut self.x[..d];
            for p in 0..d {
                y[p] = (0..d).map(|q| inverse[p * d + q] * x[s + q]).sum();
            }
            x[s..s + d].copy_from_slice(y);
        }
    }

    /// x_i −= Σ over some entries of row i.
    #[inline]
    fn subtract(&self, i: usize, entries: std::ops::Range<usize>, x: &mut [f64]) {
        let (s, d) = (self.start[i], self.size[i]);
        for e in entries {
            let (t, width) = (self.start[self.column[e]], self.size[self.column[e]]);
            let values = &self.values[self.offset[e]..][..d * width];
            for p in 0..d {
                let sum: f64 = (0..width).map(|q| values[p * width + q] * x[t + q]).sum();
                x[s + p] -= sum;
            }
        }
    }
}

#[inline(always)]
fn product<const D: usize, const DD: usize>(a: &[f64; DD], b: &[f64; DD]) -> [f64; DD] {
    let mut c = [0.0; DD];
    for i in 0..D {
        for k in 0..D {
            for j in 0..D {
                c[i * D + j] += a[i * D + k] * b[k * D + j];
            }
        }
    }
    c
}

#[inline(always)]
fn transposed<const D: usize, const DD: usize>(a: &[f64; DD]) -> [f64; DD] {
    std::array::from_fn(|k| a[(k % D) * D + k / D])
}

/// c += s a b, where b and c have `width` columns.
fn add_product(a: &[f64], b: &[f64], width: usize, c: &mut [f64], s: f64) {
    let inner = b.len() / width;
    for (row, c) in a.chunks_exact(inner).zip(c.chunks_exact_mut(width)) {
        for (a, b) in row.iter().zip(b.chunks_exact(width)) {
            for (c, b) in c.iter_mut().zip(b) {
                *c += s * a * b;
            }
        }
    }
}

/// Inverts a small matrix in place; false where it is singular.
#[inline]
fn invert(a: &mut [f64], d: usize) -> bool {
    if d == 1 {
        a[0] = 1.0 / a[0];
        return a[0].is_finite();
    }
    const MAX_BLOCK_ROWS: usize = 8;
    let mut lu = [0.0; MAX_BLOCK_ROWS * MAX_BLOCK_ROWS];
    let mut pivots = [0; MAX_BLOCK_ROWS];
    debug_assert!(d <= MAX_BLOCK_ROWS);
    lu[..d * d].copy_from_slice(a);
    if lu_factor(&mut lu[..d * d], d, &mut pivots[..d]).is_err() {
        return false;
    }
    for c in 0..d {
        let mut column = [0.0; MAX_BLOCK_ROWS];
        column[c] = 1.0;
        lu_solve(&lu[..d * d], d, &pivots[..d], &mut column[..d]);
        for k in 0..d {
            a[k * d + c] = column[k];
        }
    }
    a.iter().all(|v| v.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::sequence;

    /// A random graph of blocks of the given sizes, diagonally heavy, factored, and a known solution found again.
    fn check(sizes: &[usize], seed: u64) {
        let mut random = sequence(seed);
        let n = sizes.len();
        let mut start = vec![0];
        sizes.iter().for_each(|s| start.push(start[start.len() - 1] + s));
        let mut coupled = vec![vec![false; n]; n];
        for i in 0..n {
            coupled[i][i] = true;
            for _ in 0..2 {
                let j = ((0.5 * random() + 0.5) * n as f64) as usize;
                (coupled[i][j], coupled[j][i]) = (true, true);
            }
        }
        let (mut row, mut column) = (vec![0], Vec::new());
        for line in &coupled {
            column.extend((0..n).filter(|&j| line[j]));
            row.push(column.len());
        }
        let mut lu = BlockLu::new(&start, &row, &column, usize::MAX).unwrap();
        let x: Vec<f64> = (0..start[n]).map(|_| random()).collect();
        let mut b = vec![0.0; start[n]];
        lu.clear();
        for i in 0..n {
            // Now and then a row of its own, as an open contact has.
            let alone = i % 5 == 3;
            for e in row[i]..row[i + 1] {
                let (j, p, q) = (column[e], sizes[i], sizes[column[e]]);
                if alone && j != i {
                    continue;
                }
                let mut values: Vec<f64> = (0..p * q).map(|_| random()).collect();
                if i == j {
                    (0..p).for_each(|k| values[k * p + k] += 8.0);
                }
                for k in 0..p {
                    b[start[i] + k] += (0..q).map(|c| values[k * q + c] * x[start[j] + c]).sum::<f64>();
                }
                lu.block_mut(e, p * q).copy_from_slice(&values);
            }
        }
        lu.factor().unwrap();
        lu.solve(&mut b);
        let worst = x.iter().zip(&b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        // Diagonally dominant up to a few random rows: a growth of a hundred roundings at most was seen.
        assert!(worst < 1e-12, "sizes {:?}..: {worst:e}", &sizes[..4]);
    }

    #[test]
    fn a_known_solution_is_found_again_for_blocks_of_one_size_and_of_several() {
        for seed in 1..6 {
            for d in [1, 2, 3, 4] {
                check(&vec![d; 60], seed);
            }
            check(&(0..60).map(|i| 1 + (i * 7) % 6).collect::<Vec<_>>(), seed);
        }
    }

    #[test]
    fn half_of_a_symmetric_matrix_is_enough() {
        for d in [1, 2, 3, 4] {
            let mut random = sequence(9);
            let (n, start) = (40, (0..=40).map(|i| d * i).collect::<Vec<_>>());
            let coupled = |i: usize, j: usize| i.abs_diff(j) <= 1 || i.abs_diff(j) == 7;
            let (mut row, mut column) = (vec![0], Vec::new());
            for i in 0..n {
                column.extend((0..n).filter(|&j| coupled(i, j)));
                row.push(column.len());
            }
            let size = d * n;
            let mut a = vec![0.0; size * size];
            for i in 0..size {
                for j in 0..=i {
                    if coupled(i / d, j / d) {
                        let v = random() + if i == j { 10.0 } else { 0.0 };
                        (a[i * size + j], a[j * size + i]) = (v, v);
                    }
                }
            }
            let mut lu = BlockLu::new(&start, &row, &column, usize::MAX).unwrap();
            let mut solutions = Vec::new();
            for symmetric in [false, true] {
                lu.clear();
                for i in 0..n {
                    for e in row[i]..row[i + 1] {
                        let j = column[e];
                        let values = lu.block_mut(e, d * d);
                        for k in 0..d * d {
                            values[k] = a[(d * i + k / d) * size + d * j + k % d];
                        }
                    }
                }
                if symmetric { lu.factor_symmetric() } else { lu.factor() }.unwrap();
                let mut x: Vec<f64> = (0..size).map(|i| (i as f64).sin()).collect();
                lu.solve(&mut x);
                solutions.push(x);
            }
            let worst = (0..size).map(|i| (solutions[0][i] - solutions[1][i]).abs()).fold(0.0, f64::max);
            assert!(worst < 1e-14, "{d}: {worst:e}");
        }
    }

    #[test]
    fn a_chain_has_no_fill_and_a_singular_block_is_an_error() {
        let n = 50;
        let (mut row, mut column) = (vec![0], Vec::new());
        for i in 0..n {
            column.extend((0..n).filter(|&j: &usize| j.abs_diff(i) <= 1));
            row.push(column.len());
        }
        let start: Vec<usize> = (0..=n).map(|i| 2 * i).collect();
        // Without fill a chain has as many numbers as its matrix.
        assert!(BlockLu::new(&start, &row, &column, 4 * column.len() - 1).is_none());
        let mut lu = BlockLu::new(&start, &row, &column, 4 * column.len()).unwrap();
        assert_eq!(lu.column.len(), column.len());
        lu.clear();
        assert!(lu.factor().is_err());
    }
}
