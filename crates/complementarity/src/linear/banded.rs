//! Banded LU with partial pivoting (chains, finite-element bars).
//!
//! Row i keeps columns i−k .. i+2k in one stretch of memory: k below and k above the diagonal as
//! assembled, k more above for the fill-in of row exchanges.

use super::{Singular, dense};

#[derive(Debug, Clone)]
pub(crate) struct Banded {
    n: usize,
    /// Half bandwidth.
    k: usize,
    values: Vec<f64>,
    lu: Vec<f64>,
    pivots: Vec<usize>,
}

impl Banded {
    pub(crate) fn new(n: usize, k: usize) -> Self {
        let width = 3 * k + 1;
        Self { n, k, values: vec![0.0; n * width], lu: vec![0.0; n * width], pivots: vec![0; n] }
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
        let (k, w) = (self.k, self.width());
        for i in 0..self.n {
            let lo = i.saturating_sub(k);
            let hi = (i + k + 1).min(self.n);
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
        for c in 0..n {
            let last = (c + k + 1).min(n);
            let mut p = c;
            let mut best = a[c * w + k].abs();
            for i in c + 1..last {
                let v = a[i * w + c + k - i].abs();
                if v > best {
                    best = v;
                    p = i;
                }
            }
            self.pivots[c] = p;
            if best <= tiny {
                return Err(Singular { row: c });
            }
            let right = (c + 2 * k + 1).min(n);
            if p != c {
                for j in c..right {
                    a.swap(c * w + j + k - c, p * w + j + k - p);
                }
            }
            let inv = 1.0 / a[c * w + k];
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
        Ok(())
    }

    pub(crate) fn solve(&self, x: &mut [f64]) {
        let (n, k, w) = (self.n, self.k, self.width());
        for c in 0..n {
            x.swap(c, self.pivots[c]);
            let xc = x[c];
            for i in c + 1..(c + k + 1).min(n) {
                x[i] -= self.lu[i * w + c + k - i] * xc;
            }
        }
        for c in (0..n).rev() {
            let right = (c + 2 * k + 1).min(n);
            let s = dense::dot(&self.lu[c * w + k + 1..c * w + k + right - c], &x[c + 1..right]);
            x[c] = (x[c] - s) / self.lu[c * w + k];
        }
    }
}
