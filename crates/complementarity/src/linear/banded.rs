//! Banded LU (chains, finite-element bars).
//!
//! Row i keeps columns i−k .. i+2k in one stretch of memory: k below and k above the diagonal as
//! assembled, k more above for the fill-in of row exchanges. Rows are exchanged only where a pivot is smaller than
//! [`PIVOT_THRESHOLD`] times the largest entry below it, so that growth stays bounded. A matrix that needs no exchange, as most positive
//! definite or diagonally dominant ones, is solved without pivots and fill-in.

use super::{Singular, dense};

#[derive(Debug, Clone)]
pub(crate) struct Banded {
    n: usize,
    /// Half bandwidth.
    k: usize,
    values: Vec<f64>,
    lu: Vec<f64>,
    /// 1/U_ii.
    inverse: Vec<f64>,
    pivots: Vec<usize>,
    exchanged: bool,
    /// (L_{i,i−1}, U_{i,i+1}, 1/U_ii) of a tridiagonal matrix without exchanges.
    thomas: Vec<[f64; 3]>,
}

/// A pivot is kept if it is at least this part of the largest entry of its column.
const PIVOT_THRESHOLD: f64 = 0.1;

impl Banded {
    pub(crate) fn new(n: usize, k: usize) -> Self {
        let width = 3 * k + 1;
        Self {
            n,
            k,
            values: vec![0.0; n * width],
            lu: vec![0.0; n * width],
            inverse: vec![0.0; n],
            pivots: vec![0; n],
            exchanged: false,
            thomas: Vec::new(),
        }
    }

    fn width(&self) -> usize {
        3 * self.k + 1
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

    #[inline]
    pub(crate) fn add(&mut self, i: usize, j: usize, v: f64) {
        if i.abs_diff(j) <= self.k {
            let w = self.width();
            self.values[i * w + j + self.k - i] += v;
        }
    }

    pub(crate) fn get(&self, i: usize, j: usize) -> f64 {
        if i.abs_diff(j) <= self.k { self.values[i * self.width() + j + self.k - i] } else { 0.0 }
    }

    pub(crate) fn for_each_entry(&self, mut f: impl FnMut(usize, usize, f64)) {
        for i in 0..self.n {
            for j in i.saturating_sub(self.k)..(i + self.k + 1).min(self.n) {
                f(i, j, self.get(i, j));
            }
        }
    }

    pub(crate) fn multiply(&self, x: &[f64], y: &mut [f64]) {
        let (n, k, w) = (self.n, self.k, self.width());
        if k == 1 && n >= 2 {
            // Rows of four values: below, diagonal, above, and one for fill-in.
            let (rows, _) = self.values.as_chunks::<4>();
            y[0] = rows[0][1] * x[0] + rows[0][2] * x[1];
            for ((y, row), x) in y[1..n - 1].iter_mut().zip(&rows[1..n - 1]).zip(x.windows(3)) {
                *y = row[0] * x[0] + row[1] * x[1] + row[2] * x[2];
            }
            y[n - 1] = rows[n - 1][0] * x[n - 2] + rows[n - 1][1] * x[n - 1];
            return;
        }
        for i in 0..n {
            let lo = i.saturating_sub(k);
            let hi = (i + k + 1).min(n);
            y[i] = dense::dot(&self.values[i * w + lo + k - i..i * w + hi + k - i], &x[lo..hi]);
        }
    }

    pub(crate) fn factor(&mut self) -> Result<(), Singular> {
        let (n, k, w) = (self.n, self.k, self.width());
        self.lu.copy_from_slice(&self.values);
        let a = &mut self.lu;
        let scale = dense::max_norm(a);
        if !scale.is_finite() {
            return Err(Singular { row: 0 });
        }
        let tiny = scale * f64::EPSILON;
        self.exchanged = false;
        for c in 0..n {
            let last = (c + k + 1).min(n);
            let mut p = c;
            let mut best = a[c * w + k].abs();
            let own = best;
            for i in c + 1..last {
                let v = a[i * w + c + k - i].abs();
                if v > best {
                    best = v;
                    p = i;
                }
            }
            if own >= PIVOT_THRESHOLD * best {
                (p, best) = (c, own);
            }
            self.pivots[c] = p;
            if best <= tiny {
                return Err(Singular { row: c });
            }
            let right = (c + 2 * k + 1).min(n);
            if p != c {
                self.exchanged = true;
                for j in c..right {
                    a.swap(c * w + j + k - c, p * w + j + k - p);
                }
            }
            let inv = 1.0 / a[c * w + k];
            self.inverse[c] = inv;
            let (upper, lower) = a.split_at_mut((c + 1) * w);
            let pivot_row = &upper[c * w + k + 1..c * w + k + right - c];
            for i in c + 1..last {
                let row = &mut lower[(i - c - 1) * w..(i - c) * w];
                let at = c + k - i;
                let l = row[at] * inv;
                row[at] = l;
                for (x, u) in row[at + 1..].iter_mut().zip(pivot_row) {
                    *x -= l * u;
                }
            }
        }
        self.thomas.clear();
        if k == 1 && !self.exchanged {
            let rows = self.lu.chunks_exact(w).zip(&self.inverse);
            self.thomas.extend(rows.map(|(row, inverse)| [row[0], row[2], *inverse]));
        }
        Ok(())
    }

    pub(crate) fn solve(&self, x: &mut [f64]) {
        let (n, k, w) = (self.n, self.k, self.width());
        if !self.thomas.is_empty() {
            let mut before = x[0];
            for (x, [l, _, _]) in x[1..n].iter_mut().zip(&self.thomas[1..]) {
                before = *x - l * before;
                *x = before;
            }
            let mut after = 0.0;
            for (x, [_, u, inverse]) in x[..n].iter_mut().zip(&self.thomas).rev() {
                after = (*x - u * after) * inverse;
                *x = after;
            }
            return;
        }
        for c in 0..n {
            x.swap(c, self.pivots[c]);
            let xc = x[c];
            for i in c + 1..(c + k + 1).min(n) {
                x[i] -= self.lu[i * w + c + k - i] * xc;
            }
        }
        let above = if self.exchanged { 2 * k } else { k };
        for c in (0..n).rev() {
            let right = (c + above + 1).min(n);
            let s = dense::dot(&self.lu[c * w + k + 1..c * w + k + right - c], &x[c + 1..right]);
            x[c] = (x[c] - s) * self.inverse[c];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tridiagonal matrix with these diagonals; its solve must reproduce a known solution.
    fn check(n: usize, lower: f64, diagonal: f64, upper: f64, exchanges: bool) {
        let mut m = Banded::new(n, 1);
        for i in 0..n {
            // The first diagonal entry vanishes where exchanges are wanted.
            m.add(i, i, if exchanges && i % 3 == 0 { 0.0 } else { diagonal });
            if i > 0 {
                m.add(i, i - 1, lower);
                m.add(i - 1, i, upper);
            }
        }
        m.factor().unwrap();
        assert_eq!(m.exchanged, exchanges);
        let x: Vec<f64> = (0..n).map(|i| (1.3 * i as f64).cos()).collect();
        let mut b = vec![0.0; n];
        m.multiply(&x, &mut b);
        let by_entry = |i: usize| (0..n).map(|j| m.get(i, j) * x[j]).sum::<f64>();
        assert!((0..n).all(|i| (by_entry(i) - b[i]).abs() < 1e-12));
        // Backward stable: the solution, whatever its own error, gives b back to rounding.
        let (mut y, mut back) = (b.clone(), vec![0.0; n]);
        m.solve(&mut y);
        m.multiply(&y, &mut back);
        assert!(back.iter().zip(&b).all(|(p, q)| (p - q).abs() < 1e-13), "{back:?} {b:?}");
    }

    #[test]
    fn a_chain_is_solved_with_and_without_exchanges() {
        check(50, -1.0, 2.5, -1.2, false);
        check(50, 1.0, 2.5, 0.7, false);
        check(50, 1.5, 0.4, 0.7, true);
        check(2, -1.0, 2.5, -1.2, false);
    }
}
