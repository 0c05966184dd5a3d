//! A = GᵀG with a sparse G: contacts between bodies.
//!
//! For a diagonal M̂, G = M̂^{−1/2} W has the pattern of W, so that A itself, with its blocks between all contacts of a body,
//! never needs to be formed: y = G r is kept, and a block is read by u_i = G_iᵀ y + b_i and changed by y += G_i Δr_i. That is one
//! pass over the few unknowns of the block, whatever the number of its neighbours.

use crate::linear::Dense;
use crate::problem::BlockSparse;
use std::cell::RefCell;

/// The factor G of A = GᵀG. See the [module](self).
#[derive(Debug, Clone, Default)]
pub struct Gram {
    unknowns: usize,
    /// First index of each block in `dofs`.
    start: Vec<u32>,
    dofs: Vec<u32>,
    /// Rows of each block.
    dims: Vec<u8>,
    /// First value of each block.
    offset: Vec<u32>,
    /// Rows of Gᵀ, block after block, each over the unknowns of its block.
    values: Vec<f64>,
    scratch: RefCell<Scratch>,
}

#[derive(Debug, Clone, Default)]
struct Scratch {
    y: Vec<f64>,
    /// Blocks that touch each unknown.
    head: Vec<u32>,
    next: Vec<u32>,
    neighbours: Vec<u32>,
}

impl PartialEq for Gram {
    fn eq(&self, other: &Self) -> bool {
        self.unknowns == other.unknowns
            && self.start == other.start
            && self.dofs == other.dofs
            && self.dims == other.dims
            && self.values == other.values
    }
}

impl Gram {
    /// Removes all blocks, keeping the memory.
    pub(crate) fn clear(&mut self, unknowns: usize) {
        self.unknowns = unknowns;
        self.start.clear();
        self.start.push(0);
        self.dofs.clear();
        self.dims.clear();
        self.offset.clear();
        self.offset.push(0);
        self.values.clear();
    }

    /// Appends a block; returns the rows of Gᵀ, to be filled.
    pub(crate) fn push(&mut self, dim: usize, dofs: &[u32]) -> &mut [f64] {
        self.dofs.extend_from_slice(dofs);
        self.start.push(self.dofs.len() as u32);
        self.dims.push(dim as u8);
        let at = self.values.len();
        self.values.resize(at + dim * dofs.len(), 0.0);
        self.offset.push(self.values.len() as u32);
        &mut self.values[at..]
    }

    pub(crate) fn len(&self) -> usize {
        self.start.len().saturating_sub(1)
    }

    pub(crate) fn values(&self) -> &[f64] {
        &self.values
    }

    #[inline]
    pub(crate) fn dofs(&self, i: usize) -> &[u32] {
        &self.dofs[self.start[i] as usize..self.start[i + 1] as usize]
    }

    /// All rows of Gᵀ of block i.
    #[inline]
    pub(crate) fn rows(&self, i: usize) -> &[f64] {
        &self.values[self.offset[i] as usize..self.offset[i + 1] as usize]
    }

    pub(crate) fn dim(&self, i: usize) -> usize {
        usize::from(self.dims[i])
    }

    /// Row k of Gᵀ of block i.
    #[inline]
    pub(crate) fn row(&self, i: usize, k: usize) -> &[f64] {
        let n = self.dofs(i).len();
        &self.rows(i)[k * n..(k + 1) * n]
    }

    /// u += G_iᵀ y.
    #[inline]
    pub(crate) fn add_velocity(&self, i: usize, y: &[f64], u: &mut [f64]) {
        let (dofs, rows) = (self.dofs(i), self.rows(i));
        if let (Ok(dofs), Ok(rows), [u, v]) = (<&[u32; 6]>::try_from(dofs), <&[f64; 12]>::try_from(rows), &mut *u) {
            // Two planar bodies with friction.
            for k in 0..6 {
                let y = y[dofs[k] as usize];
                *u += rows[k] * y;
                *v += rows[6 + k] * y;
            }
            return;
        }
        for (row, u) in rows.chunks_exact(dofs.len().max(1)).zip(u) {
            for (&j, g) in dofs.iter().zip(row) {
                *u += g * y[j as usize];
            }
        }
    }

    /// y += G_i r_i.
    #[inline]
    pub(crate) fn add_force(&self, i: usize, r: &[f64], y: &mut [f64]) {
        let (dofs, rows) = (self.dofs(i), self.rows(i));
        if let (Ok(dofs), Ok(rows), &[p, q]) = (<&[u32; 6]>::try_from(dofs), <&[f64; 12]>::try_from(rows), r) {
            for k in 0..6 {
                y[dofs[k] as usize] += rows[k] * p + rows[6 + k] * q;
            }
            return;
        }
        for (row, r) in rows.chunks_exact(dofs.len().max(1)).zip(r) {
            for (&j, g) in dofs.iter().zip(row) {
                y[j as usize] += g * r;
            }
        }
    }

    /// y = G r.
    pub(crate) fn combine(&self, r: &[f64], y: &mut Vec<f64>) {
        y.clear();
        y.resize(self.unknowns, 0.0);
        let mut rest = r;
        for i in 0..self.len() {
            let (own, others) = rest.split_at(self.dim(i).min(rest.len()));
            self.add_force(i, own, y);
            rest = others;
        }
    }

    /// u += GᵀG r.
    pub(crate) fn add_product(&self, r: &[f64], u: &mut [f64]) {
        let y = &mut self.scratch.borrow_mut().y;
        self.combine(r, y);
        let mut rest = u;
        for i in 0..self.len() {
            let (own, others) = rest.split_at_mut(self.dim(i).min(rest.len()));
            self.add_velocity(i, y, own);
            rest = others;
        }
    }

    pub(crate) fn densify(&self, m: &mut Dense) {
        let n: usize = (0..self.len()).map(|i| self.dim(i)).sum();
        m.reset(n, n);
        let y = &mut self.scratch.borrow_mut().y;
        y.clear();
        y.resize(self.unknowns, 0.0);
        let mut column = 0;
        for j in 0..self.len() {
            for k in 0..self.dim(j) {
                for (&d, g) in self.dofs(j).iter().zip(self.row(j, k)) {
                    y[d as usize] = *g;
                }
                let mut row = 0;
                for i in 0..self.len() {
                    for p in 0..self.dim(i) {
                        m[(row, column)] =
                            self.dofs(i).iter().zip(self.row(i, p)).map(|(&d, g)| g * y[d as usize]).sum();
                        row += 1;
                    }
                }
                self.dofs(j).iter().for_each(|&d| y[d as usize] = 0.0);
                column += 1;
            }
        }
    }

    /// A as blocks between the blocks that share an unknown.
    pub(crate) fn expand(&self, a: &mut BlockSparse) {
        const NONE: u32 = u32::MAX;
        let scratch = &mut *self.scratch.borrow_mut();
        let (head, next) = (&mut scratch.head, &mut scratch.next);
        head.clear();
        head.resize(self.unknowns, NONE);
        next.clear();
        // Entry e of `dofs` belongs to block `owner(e)`; lists run from the last block to the first.
        for (e, &d) in self.dofs.iter().enumerate() {
            next.push(head[d as usize]);
            head[d as usize] = e as u32;
        }
        let owner = |e: u32| self.start.partition_point(|&s| s <= e) as u32 - 1;
        for list in [&mut a.start, &mut a.row, &mut a.column, &mut a.offset] {
            list.clear();
        }
        a.values.clear();
        a.start.push(0);
        a.row.push(0);
        for i in 0..self.len() {
            a.start.push(a.start[i] + self.dim(i));
        }
        for i in 0..self.len() {
            let neighbours = &mut scratch.neighbours;
            neighbours.clear();
            neighbours.push(i as u32);
            for &d in self.dofs(i) {
                let mut e = head[d as usize];
                while e != NONE {
                    neighbours.push(owner(e));
                    e = next[e as usize];
                }
            }
            neighbours.sort_unstable();
            neighbours.dedup();
            for &j in neighbours.iter() {
                let j = j as usize;
                a.column.push(j);
                a.offset.push(a.values.len());
                for p in 0..self.dim(i) {
                    for k in 0..self.dim(j) {
                        let mut sum = 0.0;
                        for (&d, g) in self.dofs(i).iter().zip(self.row(i, p)) {
                            for (&e, h) in self.dofs(j).iter().zip(self.row(j, k)) {
                                if d == e {
                                    sum += g * h;
                                }
                            }
                        }
                        a.values.push(sum);
                    }
                }
            }
            a.row.push(a.column.len());
        }
    }
}
