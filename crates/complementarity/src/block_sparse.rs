//! A matrix stored by its coupled blocks: A where it is neither dense nor the product WᵀDW.

use crate::linear::dense;
use crate::problem::{Block, ProblemError};

/// A square matrix of dense blocks in compressed block rows, columns ascending. Diagonal blocks are always stored.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BlockSparse {
    /// Rows of each block row, cumulated.
    pub(crate) start: Vec<usize>,
    /// First entry of each block row in `column`.
    pub(crate) row: Vec<usize>,
    /// Block column of each block.
    pub(crate) column: Vec<usize>,
    /// First value of each block (row by row within the block).
    pub(crate) offset: Vec<usize>,
    pub(crate) values: Vec<f64>,
    /// Size of all blocks if they are of one size and lie one after the other, else 0: see [`BlockSparse::settle`].
    pub(crate) uniform: usize,
}

impl BlockSparse {
    /// u += (A r)_i of block row i.
    #[inline]
    pub(crate) fn add_row(&self, i: usize, r: &[f64], u: &mut [f64]) {
        // Blocks of one size throughout are what contacts make.
        match self.uniform {
            2 => return self.add_row_of::<2, 4>(i, r, u),
            3 => return self.add_row_of::<3, 9>(i, r, u),
            _ => {}
        }
        for k in self.row[i]..self.row[i + 1] {
            let (d, e, v) = self.block(k, i);
            let x = &r[self.start[self.column[k]]..][..e];
            for p in 0..d {
                u[p] += dense::dot(&v[p * e..(p + 1) * e], x);
            }
        }
    }

    /// The same where all blocks are of D rows and columns.
    #[inline]
    fn add_row_of<const D: usize, const DD: usize>(&self, i: usize, r: &[f64], u: &mut [f64]) {
        let sum = self.row_times::<D, DD>(i, r.as_chunks::<D>().0, [0.0; D]);
        for (u, s) in u.iter_mut().zip(sum) {
            *u += s;
        }
    }

    /// b + (A r)_i of block row i.
    #[inline(always)]
    pub(crate) fn row_times<const D: usize, const DD: usize>(&self, i: usize, r: &[[f64; D]], b: [f64; D]) -> [f64; D] {
        let mut sum = b;
        let blocks = &self.values.as_chunks::<DD>().0[self.row[i]..self.row[i + 1]];
        for (a, &j) in blocks.iter().zip(&self.column[self.row[i]..self.row[i + 1]]) {
            let x = &r[j];
            for p in 0..D {
                for q in 0..D {
                    sum[p] += a[p * D + q] * x[q];
                }
            }
        }
        sum
    }

    /// Records whether all blocks have one size and are stored contiguously.
    pub(crate) fn settle(&mut self) {
        let d = self.start.get(1).copied().unwrap_or(0);
        let same = self.start.windows(2).all(|w| w[1] - w[0] == d);
        let packed = self.offset.iter().enumerate().all(|(k, o)| *o == k * d * d);
        self.uniform = if same && packed { d } else { 0 };
    }

    /// Whether A_ji is stored wherever A_ij is.
    pub(crate) fn has_symmetric_pattern(&self) -> bool {
        let row = |i: usize| &self.column[self.row[i]..self.row[i + 1]];
        (0..self.row.len().saturating_sub(1)).all(|i| row(i).iter().all(|&j| row(j).binary_search(&i).is_ok()))
    }

    /// Whether A = Aᵀ, up to the part `tolerance` of its largest entry. The pattern must be symmetric.
    pub(crate) fn is_symmetric(&self, tolerance: f64) -> bool {
        let limit = tolerance * dense::max_norm(&self.values);
        (0..self.row.len().saturating_sub(1)).all(|i| {
            (self.row[i]..self.row[i + 1]).filter(|&k| self.column[k] >= i).all(|k| {
                let j = self.column[k];
                let (d, e, v) = self.block(k, i);
                let Ok(at) = self.column[self.row[j]..self.row[j + 1]].binary_search(&i) else { return false };
                let w = self.block(self.row[j] + at, j).2;
                (0..d).all(|p| (0..e).all(|q| (v[p * e + q] - w[q * d + p]).abs() <= limit))
            })
        })
    }

    /// Rows, columns and values of block k, which lies in block row i.
    #[inline]
    pub(crate) fn block(&self, k: usize, i: usize) -> (usize, usize, &[f64]) {
        let j = self.column[k];
        let (d, e) = (self.start[i + 1] - self.start[i], self.start[j + 1] - self.start[j]);
        (d, e, &self.values[self.offset[k]..self.offset[k] + d * e])
    }

    /// Values of the diagonal block A_ii.
    #[inline]
    pub(crate) fn diagonal(&self, i: usize) -> &[f64] {
        let place = (self.row[i]..self.row[i + 1]).find(|&k| self.column[k] == i);
        place.map_or(&[], |k| self.block(k, i).2)
    }

    /// Checks that sizes and indices fit together and to the blocks of a problem.
    pub(crate) fn validate(&self, blocks: &[Block]) -> Result<(), ProblemError> {
        let size = |what, found, expected| {
            if found == expected { Ok(()) } else { Err(ProblemError::Size { what, found, expected }) }
        };
        let nb = blocks.len();
        size("block rows of A", self.row.len(), nb + 1)?;
        size("block sizes of A", self.start.len(), nb + 1)?;
        for i in 0..nb {
            size("block of A", self.start[i + 1].wrapping_sub(self.start[i]), blocks[i].set.dim())?;
            let (from, to, count) = (self.row[i], self.row[i + 1], self.column.len());
            if from > to || to > count {
                return Err(ProblemError::Index { what: "block rows of A", index: to, size: count });
            }
            let mut diagonal = false;
            for k in from..to {
                let j = self.column[k];
                if j >= nb {
                    return Err(ProblemError::Index { what: "block columns of A", index: j, size: nb });
                }
                diagonal |= j == i;
                let area = blocks[i].set.dim() * blocks[j].set.dim();
                let end = self.offset.get(k).map_or(usize::MAX, |o| o.saturating_add(area));
                if end > self.values.len() {
                    return Err(ProblemError::Index { what: "values of A", index: end, size: self.values.len() });
                }
            }
            if !diagonal {
                return Err(ProblemError::Size { what: "diagonal blocks of A", found: i, expected: nb });
            }
        }
        size("block columns of A", self.column.len(), self.offset.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks of two rows: on the diagonal, and between the first and the last of three.
    fn pairs() -> BlockSparse {
        let mut a = BlockSparse {
            start: vec![0, 2, 4, 6],
            row: vec![0, 2, 3, 5],
            column: vec![0, 2, 1, 0, 2],
            offset: (0..5).map(|k| 4 * k).collect(),
            values: (1..=20).map(f64::from).collect(),
            uniform: 0,
        };
        a.settle();
        a
    }

    #[test]
    fn rows_of_equal_blocks_are_those_of_blocks_of_any_size() {
        let equal = pairs();
        assert_eq!(equal.uniform, 2);
        let any = BlockSparse { uniform: 0, ..equal.clone() };
        let r = [1.0, -2.0, 3.0, -4.0, 5.0, -6.0];
        for i in 0..3 {
            let (mut u, mut v) = ([0.5; 2], [0.5; 2]);
            equal.add_row(i, &r, &mut u);
            any.add_row(i, &r, &mut v);
            assert_eq!(u, v, "row {i}");
        }
        let mut u = [0.0; 2];
        equal.add_row(2, &r, &mut u);
        assert_eq!(u, [13.0 - 2.0 * 14.0 + 5.0 * 17.0 - 6.0 * 18.0, 15.0 - 2.0 * 16.0 + 5.0 * 19.0 - 6.0 * 20.0]);
        assert_eq!(equal.diagonal(2), [17.0, 18.0, 19.0, 20.0]);
    }

    #[test]
    fn blocks_out_of_order_or_of_several_sizes_are_not_uniform() {
        let mut a = pairs();
        a.offset.swap(0, 1);
        a.settle();
        assert_eq!(a.uniform, 0);
        a = pairs();
        a.start = vec![0, 2, 3, 5];
        a.settle();
        assert_eq!(a.uniform, 0);
    }
}
