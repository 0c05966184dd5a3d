//! The force directions W of a one-step problem: short dense blocks over the few unknowns that a block touches.
//!
//! Indices have 32 bits, half of `usize`: sweeps over many contacts are limited by memory traffic.

use crate::capacity;

/// Largest number of values that 32-bit indices can address.
const MAX_VALUES: usize = u32::MAX as usize;

/// The force directions W, block by block.
///
/// Holds up to 2³² − 1 values of Wᵀ in all, unknowns with numbers below 2³², and blocks of up to 255 rows: some 3.5·10⁸ contacts of two
/// planar bodies, 34 GB of values. Readers of files refuse more with an error, and so does a step whose interactions would need more.
#[derive(Debug, Clone, PartialEq)]
pub struct Coupling {
    /// First index of each block in `dofs`.
    start: Vec<u32>,
    dofs: Vec<u32>,
    /// Rows of each block.
    dims: Vec<u8>,
    /// First value of each block.
    offset: Vec<u32>,
    /// Rows of Wᵀ, block after block, each over the unknowns of its block.
    values: Vec<f64>,
}

impl Default for Coupling {
    fn default() -> Self {
        Self { start: vec![0], dofs: Vec::new(), dims: Vec::new(), offset: vec![0], values: Vec::new() }
    }
}

impl Coupling {
    /// Removes all blocks, keeping the memory.
    pub(crate) fn clear(&mut self) {
        self.start.truncate(1);
        self.dofs.clear();
        self.dims.clear();
        self.offset.truncate(1);
        self.values.clear();
    }

    /// Reserves memory for blocks, and for the unknowns and values of all of them.
    pub(crate) fn reserve(&mut self, blocks: usize, dofs: usize, values: usize) {
        capacity::reserve(&mut self.start, blocks + 1);
        capacity::reserve(&mut self.offset, blocks + 1);
        capacity::reserve(&mut self.dims, blocks);
        capacity::reserve(&mut self.dofs, dofs);
        capacity::reserve(&mut self.values, values);
    }

    /// Whether a block of `dim` rows over `dofs` unknowns still fits into 32-bit indices.
    pub(crate) fn fits(&self, dim: usize, dofs: usize) -> bool {
        let more = dim.max(1).checked_mul(dofs).and_then(|n| n.checked_add(self.values.len()));
        more.is_some_and(|n| n <= MAX_VALUES) && dim <= usize::from(u8::MAX)
    }

    /// Appends a block of `dim` rows over `dofs`; returns its values, rows of Wᵀ, to be filled. It must
    /// [fit](Coupling::fits).
    pub(crate) fn push(&mut self, dim: usize, dofs: &[u32]) -> &mut [f64] {
        debug_assert!(self.fits(dim, dofs.len()), "more values than 32 bits can number");
        self.dofs.extend_from_slice(dofs);
        self.start.push(self.dofs.len() as u32);
        self.dims.push(dim as u8);
        let at = self.values.len();
        self.values.resize(at + dim * dofs.len(), 0.0);
        self.offset.push(self.values.len() as u32);
        &mut self.values[at..]
    }

    /// Number of blocks.
    #[inline]
    pub fn len(&self) -> usize {
        self.dims.len()
    }

    /// Whether there is no block.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.dims.is_empty()
    }

    /// Rows of block `i`.
    #[inline]
    pub fn dim(&self, i: usize) -> usize {
        usize::from(self.dims[i])
    }

    /// Unknowns that block `i` touches.
    #[inline]
    pub fn dofs(&self, i: usize) -> &[u32] {
        &self.dofs[self.start[i] as usize..self.start[i + 1] as usize]
    }

    /// Unknowns of all blocks, one after the other.
    pub(crate) fn all_dofs(&self) -> &[u32] {
        &self.dofs
    }

    /// The block that entry `e` of [`Coupling::all_dofs`] belongs to.
    pub(crate) fn owner(&self, e: usize) -> usize {
        self.start.partition_point(|&s| s as usize <= e) - 1
    }

    /// Rows of Wᵀ of block `i`, each over [`Coupling::dofs`].
    #[inline]
    pub fn values(&self, i: usize) -> &[f64] {
        &self.values[self.offset[i] as usize..self.offset[i + 1] as usize]
    }

    /// Values of all blocks, one after the other.
    pub(crate) fn all_values(&self) -> &[f64] {
        &self.values
    }

    /// Row `k` of Wᵀ of block `i`.
    #[inline]
    pub fn row(&self, i: usize, k: usize) -> &[f64] {
        let n = self.dofs(i).len();
        &self.values(i)[k * n..(k + 1) * n]
    }

    /// Where the values of row `k` of block `i` are among all.
    #[inline]
    pub(crate) fn place(&self, i: usize, k: usize) -> std::ops::Range<usize> {
        let (first, n) = (self.offset[i] as usize, self.dofs(i).len());
        first + k * n..first + (k + 1) * n
    }

    /// y += W_i r_i.
    #[inline]
    pub fn add_force(&self, i: usize, r: &[f64], y: &mut [f64]) {
        let dofs = self.dofs(i);
        let mut values = self.values(i);
        for &rk in r {
            let (row, rest) = values.split_at(dofs.len());
            for (&j, w) in dofs.iter().zip(row) {
                y[j as usize] += w * rk;
            }
            values = rest;
        }
    }

    /// u += W_iᵀ v.
    #[inline(always)]
    pub fn add_velocity(&self, i: usize, v: &[f64], u: &mut [f64]) {
        let (dofs, values) = (self.dofs(i), self.values(i));
        if let (Ok(dofs), Ok(w), [p, q]) = (<&[u32; 6]>::try_from(dofs), <&[f64; 12]>::try_from(values), &mut *u) {
            // Two planar bodies with friction. Sums by pairs: sweeps wait for the last of these additions.
            let v = dofs.map(|d| v[d as usize]);
            let sum =
                |w: &[f64]| (w[0] * v[0] + w[1] * v[1]) + (w[2] * v[2] + w[3] * v[3]) + (w[4] * v[4] + w[5] * v[5]);
            *p += sum(&w[..6]);
            *q += sum(&w[6..]);
            return;
        }
        let mut values = values;
        for uk in u {
            let (row, rest) = values.split_at(dofs.len());
            let mut s = *uk;
            for (&j, w) in dofs.iter().zip(row) {
                s += w * v[j as usize];
            }
            *uk = s;
            values = rest;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_that_cannot_be_numbered_finds_no_room() {
        let mut w = Coupling::default();
        assert!(w.fits(1, MAX_VALUES) && w.fits(3, MAX_VALUES / 3));
        w.push(2, &[0, 1]);
        assert!(w.fits(1, MAX_VALUES - 4) && !w.fits(1, MAX_VALUES - 3));
        assert!(!w.fits(2, MAX_VALUES / 2) && !w.fits(255, usize::MAX) && !w.fits(256, 1));
    }
}
