//! A = Wᵀ D W with a diagonal D: contacts between bodies.
//!
//! For a diagonal M̂, D = M̂⁻¹, and A itself, with its blocks between all contacts of a body, never needs to be formed: the velocities
//! y = D W r that percussions cause are kept, and a block is read by u_i = W_iᵀ y + b_i and changed by y += D W_i Δr_i. That is one
//! pass over the few unknowns of the block, whatever the number of its neighbours. W is that of the full problem, not a copy.

use crate::coupling::Coupling;
use crate::linear::Dense;
use crate::problem::BlockSparse;
use std::cell::RefCell;
use std::sync::{Arc, LazyLock};

/// A = Wᵀ D W by its parts. See the [module](self).
#[derive(Debug, Clone)]
pub struct Gram {
    coupling: Arc<Coupling>,
    /// D.
    inverse: Vec<f64>,
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

static NOTHING: LazyLock<Arc<Coupling>> = LazyLock::new(Arc::default);

impl Default for Gram {
    fn default() -> Self {
        Self { coupling: NOTHING.clone(), inverse: Vec::new(), scratch: RefCell::default() }
    }
}

impl PartialEq for Gram {
    fn eq(&self, other: &Self) -> bool {
        self.coupling == other.coupling && self.inverse == other.inverse
    }
}

impl Gram {
    /// Lets go of W, so that its owner can change it in place.
    pub(crate) fn release(&mut self) {
        self.coupling = NOTHING.clone();
    }

    /// Takes W and M̂.
    pub(crate) fn set(&mut self, coupling: &Arc<Coupling>, diagonal: &[f64]) {
        self.coupling = coupling.clone();
        self.inverse.clear();
        self.inverse.extend(diagonal.iter().map(|d| 1.0 / d));
    }

    pub(crate) fn coupling(&self) -> &Coupling {
        &self.coupling
    }

    /// D.
    pub(crate) fn inverse(&self) -> &[f64] {
        &self.inverse
    }

    fn len(&self) -> usize {
        self.coupling.len()
    }

    /// Σ_j w_j d_j v_j over unknowns that two rows share.
    #[inline]
    fn product(&self, dofs: &[u32], row: &[f64], other_dofs: &[u32], other: &[f64]) -> f64 {
        let mut sum = 0.0;
        for (&d, w) in dofs.iter().zip(row) {
            for (&e, v) in other_dofs.iter().zip(other) {
                if d == e {
                    sum += w * self.inverse[d as usize] * v;
                }
            }
        }
        sum
    }

    /// A_ii, entry (p, q).
    #[inline]
    pub(crate) fn diagonal(&self, i: usize, p: usize, q: usize) -> f64 {
        self.diagonal_of(&self.coupling, i, p, q)
    }

    /// The same with other directions.
    #[inline]
    pub(crate) fn diagonal_of(&self, w: &Coupling, i: usize, p: usize, q: usize) -> f64 {
        let (dofs, a, b) = (w.dofs(i), w.row(i, p), w.row(i, q));
        dofs.iter().zip(a).zip(b).map(|((&d, a), b)| a * self.inverse[d as usize] * b).sum()
    }

    /// u += W_iᵀ y.
    #[inline(always)]
    pub(crate) fn add_velocity(&self, i: usize, y: &[f64], u: &mut [f64]) {
        self.coupling.add_velocity(i, y, u);
    }

    /// y += D W_i r_i.
    #[inline(always)]
    pub(crate) fn add_force(&self, i: usize, r: &[f64], y: &mut [f64]) {
        let (dofs, values) = (self.coupling.dofs(i), self.coupling.values(i));
        if let (Ok(dofs), Ok(w), &[p, q]) = (<&[u32; 6]>::try_from(dofs), <&[f64; 12]>::try_from(values), r) {
            for k in 0..6 {
                let j = dofs[k] as usize;
                y[j] += self.inverse[j] * (w[k] * p + w[6 + k] * q);
            }
            return;
        }
        for (row, r) in values.chunks_exact(dofs.len().max(1)).zip(r) {
            for (&j, w) in dofs.iter().zip(row) {
                y[j as usize] += self.inverse[j as usize] * (w * r);
            }
        }
    }

    /// y = D W r.
    pub(crate) fn combine(&self, r: &[f64], y: &mut Vec<f64>) {
        y.clear();
        y.resize(self.inverse.len(), 0.0);
        self.add_combined(r, y);
    }

    /// y += D W r.
    pub(crate) fn add_combined(&self, r: &[f64], y: &mut [f64]) {
        let mut rest = r;
        for i in 0..self.len() {
            let (own, others) = rest.split_at(self.coupling.dim(i).min(rest.len()));
            self.add_force(i, own, y);
            rest = others;
        }
    }

    /// u += A r.
    pub(crate) fn add_product(&self, r: &[f64], u: &mut [f64]) {
        let y = &mut self.scratch.borrow_mut().y;
        self.combine(r, y);
        let mut rest = u;
        for i in 0..self.len() {
            let (own, others) = rest.split_at_mut(self.coupling.dim(i).min(rest.len()));
            self.add_velocity(i, y, own);
            rest = others;
        }
    }

    pub(crate) fn densify(&self, m: &mut Dense) {
        let w = &*self.coupling;
        let n: usize = (0..w.len()).map(|i| w.dim(i)).sum();
        m.reset(n, n);
        let y = &mut self.scratch.borrow_mut().y;
        y.clear();
        y.resize(self.inverse.len(), 0.0);
        let mut column = 0;
        for j in 0..w.len() {
            for k in 0..w.dim(j) {
                for (&d, v) in w.dofs(j).iter().zip(w.row(j, k)) {
                    y[d as usize] = self.inverse[d as usize] * v;
                }
                let mut row = 0;
                for i in 0..w.len() {
                    for p in 0..w.dim(i) {
                        m[(row, column)] = w.dofs(i).iter().zip(w.row(i, p)).map(|(&d, v)| v * y[d as usize]).sum();
                        row += 1;
                    }
                }
                w.dofs(j).iter().for_each(|&d| y[d as usize] = 0.0);
                column += 1;
            }
        }
    }

    /// A as blocks between the blocks that share an unknown.
    pub(crate) fn expand(&self, a: &mut BlockSparse) {
        const NONE: u32 = u32::MAX;
        let w = &*self.coupling;
        let scratch = &mut *self.scratch.borrow_mut();
        let (head, next) = (&mut scratch.head, &mut scratch.next);
        head.clear();
        head.resize(self.inverse.len(), NONE);
        next.clear();
        // Lists of the entries of `all_dofs` by unknown run from the last block to the first.
        for (e, &d) in w.all_dofs().iter().enumerate() {
            next.push(head[d as usize]);
            head[d as usize] = e as u32;
        }
        for list in [&mut a.start, &mut a.row, &mut a.column, &mut a.offset] {
            list.clear();
        }
        a.values.clear();
        a.start.push(0);
        a.row.push(0);
        for i in 0..w.len() {
            a.start.push(a.start[i] + w.dim(i));
        }
        for i in 0..w.len() {
            let neighbours = &mut scratch.neighbours;
            neighbours.clear();
            neighbours.push(i as u32);
            for &d in w.dofs(i) {
                let mut e = head[d as usize];
                while e != NONE {
                    neighbours.push(w.owner(e as usize) as u32);
                    e = next[e as usize];
                }
            }
            neighbours.sort_unstable();
            neighbours.dedup();
            for &j in neighbours.iter() {
                let j = j as usize;
                a.column.push(j);
                a.offset.push(a.values.len());
                for p in 0..w.dim(i) {
                    for k in 0..w.dim(j) {
                        a.values.push(self.product(w.dofs(i), w.row(i, p), w.dofs(j), w.row(j, k)));
                    }
                }
            }
            a.row.push(a.column.len());
        }
        a.settle();
    }
}
