//! Small dense kernels: LU with partial pivoting, and the solution of least norm of a
//! rank-deficient system by a complete orthogonal decomposition.
//!
//! For systems of 1 to about 60 unknowns; larger ones are sparse (see [`super::Matrix`]).

use super::{Singular, small};
use crate::capacity;

/// A dense matrix, row by row.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Dense {
    rows: usize,
    cols: usize,
    data: Vec<f64>,
}

impl Dense {
    /// A matrix of zeros.
    #[inline]
    pub fn zeros(rows: usize, cols: usize) -> Self {
        Self { rows, cols, data: vec![0.0; rows * cols] }
    }

    /// A matrix from its entries, row by row.
    ///
    /// Returns `None` if the number of entries is not `rows * cols`.
    #[inline]
    pub fn from_rows(rows: usize, cols: usize, data: Vec<f64>) -> Option<Self> {
        (rows.checked_mul(cols) == Some(data.len())).then_some(Self { rows, cols, data })
    }

    /// Changes the shape and fills with zeros, keeping the memory.
    pub fn reset(&mut self, rows: usize, cols: usize) {
        self.rows = rows;
        self.cols = cols;
        self.data.clear();
        self.data.resize(rows * cols, 0.0);
    }

    /// Reserves memory for `n` numbers.
    pub(crate) fn reserve(&mut self, n: usize) {
        capacity::reserve(&mut self.data, n);
    }

    /// Becomes a copy of another matrix, keeping its memory.
    pub(crate) fn copy_from(&mut self, other: &Dense) {
        (self.rows, self.cols) = (other.rows, other.cols);
        self.data.clear();
        self.data.extend_from_slice(&other.data);
    }

    /// Number of rows.
    #[inline]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    #[inline]
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// All entries, row by row.
    #[inline]
    pub fn data(&self) -> &[f64] {
        &self.data
    }

    /// All entries, row by row.
    #[inline]
    pub fn data_mut(&mut self) -> &mut [f64] {
        &mut self.data
    }

    /// One row.
    #[inline]
    pub fn row(&self, i: usize) -> &[f64] {
        &self.data[i * self.cols..(i + 1) * self.cols]
    }

    /// One row.
    #[inline]
    pub fn row_mut(&mut self, i: usize) -> &mut [f64] {
        &mut self.data[i * self.cols..(i + 1) * self.cols]
    }

    /// y = A x.
    pub fn multiply(&self, x: &[f64], y: &mut [f64]) {
        let done = match self.cols {
            2 => small::multiply::<2>(&self.data, x, y),
            3 => small::multiply::<3>(&self.data, x, y),
            4 => small::multiply::<4>(&self.data, x, y),
            _ => false,
        };
        if !done {
            for i in 0..self.rows {
                y[i] = dot(self.row(i), x);
            }
        }
    }
}

impl std::ops::Index<(usize, usize)> for Dense {
    type Output = f64;
    #[inline]
    fn index(&self, (i, j): (usize, usize)) -> &f64 {
        &self.data[i * self.cols + j]
    }
}

impl std::ops::IndexMut<(usize, usize)> for Dense {
    #[inline]
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut f64 {
        &mut self.data[i * self.cols + j]
    }
}

/// Scalar product, summed from the left.
#[inline]
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut s = 0.0;
    for (x, y) in a.iter().zip(b) {
        s += x * y;
    }
    s
}

/// Euclidean norm.
#[inline]
pub fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

/// The power of two below a positive number, by its exponent; 1 for what is not positive and finite, or too small.
pub fn power_of_two(x: f64) -> f64 {
    const EXPONENT: u64 = 0x7ff << 52;
    if x > 0.0 && x.is_normal() { f64::from_bits(x.to_bits() & EXPONENT) } else { 1.0 }
}

/// Largest absolute entry; NaN if any entry is NaN.
#[inline]
pub fn max_norm(a: &[f64]) -> f64 {
    fn worse(m: f64, x: f64) -> f64 {
        if x > m || x.is_nan() { x } else { m }
    }
    // A maximum is the same in any order, so that long vectors can be processed several entries at a time.
    const LANES: usize = 8;
    let (many, rest) = if a.len() < LANES { (&[][..], a) } else { a.as_chunks::<LANES>() };
    let mut m = rest.iter().fold(0.0, |m, x| worse(m, x.abs()));
    if !many.is_empty() {
        let (mut max, mut nan) = ([0.0f64; LANES], [false; LANES]);
        for x in many {
            for i in 0..LANES {
                let x = x[i].abs();
                nan[i] |= x.is_nan();
                max[i] = if x > max[i] { x } else { max[i] };
            }
        }
        m = max.into_iter().fold(m, worse);
        if nan.contains(&true) {
            m = f64::NAN;
        }
    }
    m
}

/// Whether no entry is infinite or NaN.
#[inline]
pub fn all_finite(a: &[f64]) -> bool {
    const EXPONENT: u64 = 0x7ff << 52;
    // An exponent of ones, and no other, carries into the bit of the sign. Without a branch in the loop.
    a.iter().fold(0, |carry, x| carry | ((x.to_bits() & EXPONENT) + (1 << 52))) >> 63 == 0
}

/// Factors a square matrix in place, P A = L U, with partial pivoting.
///
/// A pivot below `n · ε · max|column|` (in the original matrix) counts as zero.
pub fn lu_factor(a: &mut [f64], n: usize, pivots: &mut [usize]) -> Result<(), Singular> {
    if n == 1 {
        pivots[0] = 0;
        return if a[0] != 0.0 && a[0].is_finite() { Ok(()) } else { Err(Singular { row: 0 }) };
    }
    match n {
        2 => return small::lu_factor::<2>(a, pivots),
        3 => return small::lu_factor::<3>(a, pivots),
        4 => return small::lu_factor::<4>(a, pivots),
        _ => {}
    }
    let scale = max_norm(&a[..n * n]);
    if !scale.is_finite() {
        return Err(Singular { row: 0 });
    }
    let tiny = scale * f64::EPSILON * n as f64;
    for k in 0..n {
        let mut p = k;
        let mut best = a[k * n + k].abs();
        for i in k + 1..n {
            let v = a[i * n + k].abs();
            if v > best {
                best = v;
                p = i;
            }
        }
        pivots[k] = p;
        if best <= tiny {
            return Err(Singular { row: k });
        }
        if p != k {
            for j in 0..n {
                a.swap(k * n + j, p * n + j);
            }
        }
        let inv = 1.0 / a[k * n + k];
        for i in k + 1..n {
            let l = a[i * n + k] * inv;
            a[i * n + k] = l;
            if l != 0.0 {
                for j in k + 1..n {
                    a[i * n + j] -= l * a[k * n + j];
                }
            }
        }
    }
    Ok(())
}

/// Solves with the factors of [`lu_factor`], in place.
#[inline]
pub fn lu_solve(a: &[f64], n: usize, pivots: &[usize], x: &mut [f64]) {
    if n == 1 {
        x[0] /= a[0];
        return;
    }
    match n {
        2 => return small::lu_solve::<2>(a, pivots, x),
        3 => return small::lu_solve::<3>(a, pivots, x),
        4 => return small::lu_solve::<4>(a, pivots, x),
        _ => {}
    }
    for k in 0..n {
        x.swap(k, pivots[k]);
    }
    for i in 1..n {
        let mut s = x[i];
        for j in 0..i {
            s -= a[i * n + j] * x[j];
        }
        x[i] = s;
    }
    for i in (0..n).rev() {
        let mut s = x[i];
        for j in i + 1..n {
            s -= a[i * n + j] * x[j];
        }
        x[i] = s / a[i * n + i];
    }
}

/// Solver of rank-deficient square systems; its fields are scratch.
#[derive(Debug, Clone, Default)]
pub struct LeastNorm {
    qr: Vec<f64>,
    perm: Vec<usize>,
    tau: Vec<f64>,
    col: Vec<f64>,
    z_tau: Vec<f64>,
}

impl LeastNorm {
    /// Reserves memory for systems of `n` rows.
    pub(crate) fn reserve(&mut self, n: usize) {
        capacity::reserve(&mut self.qr, n * n);
        capacity::reserve(&mut self.perm, n);
        for v in [&mut self.tau, &mut self.col, &mut self.z_tau] {
            capacity::reserve(v, n);
        }
    }

    /// The x of least Euclidean norm that minimises ‖A x − b‖₂, for a square A (row by row).
    ///
    /// Complete orthogonal decomposition: Householder QR with column pivoting, rank decided where a
    /// diagonal entry of R falls below `rank_tol` times the largest, then the remaining trapezoid is
    /// reduced from the right. Returns the rank and the residual norm ‖A x − b‖₂.
    pub fn solve(&mut self, a: &[f64], n: usize, b: &[f64], x: &mut [f64], rank_tol: f64) -> (usize, f64) {
        self.qr.clear();
        self.qr.extend_from_slice(&a[..n * n]);
        self.perm.clear();
        self.perm.extend(0..n);
        self.tau.clear();
        self.tau.resize(n, 0.0);
        self.z_tau.clear();
        self.z_tau.resize(n, 0.0);
        self.col.clear();
        self.col.extend_from_slice(b);
        let qr = &mut self.qr;
        let rhs = &mut self.col;

        // QR with column pivoting, applied to b on the way.
        let mut rank = n;
        let mut first = 0.0;
        for k in 0..n {
            let mut best = -1.0;
            let mut p = k;
            for j in k..n {
                let mut s = 0.0;
                for i in k..n {
                    s += qr[i * n + j] * qr[i * n + j];
                }
                if s > best {
                    best = s;
                    p = j;
                }
            }
            let length = best.sqrt();
            if k == 0 {
                first = length;
            }
            if length <= rank_tol * first || length == 0.0 || length.is_nan() {
                rank = k;
                break;
            }
            if p != k {
                for i in 0..n {
                    qr.swap(i * n + k, i * n + p);
                }
                self.perm.swap(k, p);
            }
            // Householder vector v = (1, ...), stored below the diagonal.
            let alpha = qr[k * n + k];
            let beta = if alpha > 0.0 { -length } else { length };
            let tau = (beta - alpha) / beta;
            let inv = 1.0 / (alpha - beta);
            for i in k + 1..n {
                qr[i * n + k] *= inv;
            }
            qr[k * n + k] = beta;
            self.tau[k] = tau;
            for j in k + 1..n {
                let mut s = qr[k * n + j];
                for i in k + 1..n {
                    s += qr[i * n + k] * qr[i * n + j];
                }
                s *= tau;
                qr[k * n + j] -= s;
                for i in k + 1..n {
                    let v = qr[i * n + k];
                    qr[i * n + j] -= s * v;
                }
            }
            let mut s = rhs[k];
            for i in k + 1..n {
                s += qr[i * n + k] * rhs[i];
            }
            s *= tau;
            rhs[k] -= s;
            for i in k + 1..n {
                rhs[i] -= s * qr[i * n + k];
            }
        }
        let residual = norm(&rhs[rank..n]);

        // Rows 0..rank hold [R11 R12]: annihilate R12 from the right by Householder reflections
        // that act on columns k and rank..n.
        for k in (0..rank).rev() {
            if rank == n {
                break;
            }
            let mut s = 0.0;
            for j in rank..n {
                s += qr[k * n + j] * qr[k * n + j];
            }
            let alpha = qr[k * n + k];
            let length = (alpha * alpha + s).sqrt();
            if s == 0.0 {
                self.z_tau[k] = 0.0;
                continue;
            }
            let beta = if alpha > 0.0 { -length } else { length };
            let tau = (beta - alpha) / beta;
            let inv = 1.0 / (alpha - beta);
            for j in rank..n {
                qr[k * n + j] *= inv;
            }
            qr[k * n + k] = beta;
            self.z_tau[k] = tau;
            for i in 0..k {
                let mut s = qr[i * n + k];
                for j in rank..n {
                    s += qr[i * n + j] * qr[k * n + j];
                }
                s *= tau;
                qr[i * n + k] -= s;
                for j in rank..n {
                    let v = qr[k * n + j];
                    qr[i * n + j] -= s * v;
                }
            }
        }
        // Solve the triangle, then apply Zᵀ.
        for v in rhs[rank..n].iter_mut() {
            *v = 0.0;
        }
        for i in (0..rank).rev() {
            let mut s = rhs[i];
            for j in i + 1..rank {
                s -= qr[i * n + j] * rhs[j];
            }
            rhs[i] = s / qr[i * n + i];
        }
        for k in 0..rank {
            let tau = self.z_tau[k];
            if tau == 0.0 {
                continue;
            }
            let mut s = rhs[k];
            for j in rank..n {
                s += qr[k * n + j] * rhs[j];
            }
            s *= tau;
            rhs[k] -= s;
            for j in rank..n {
                rhs[j] -= s * qr[k * n + j];
            }
        }
        for k in 0..n {
            x[self.perm[k]] = rhs[k];
        }
        (rank, residual)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lu_solves_a_system_that_needs_pivoting() {
        let a = [0.0, 2.0, 1.0, 1.0, 0.0, 3.0, 4.0, 1.0, 0.0];
        let x = [1.0, -2.0, 0.5];
        let m = Dense::from_rows(3, 3, a.to_vec()).unwrap();
        let mut b = [0.0; 3];
        m.multiply(&x, &mut b);
        let mut lu = a;
        let mut p = [0; 3];
        lu_factor(&mut lu, 3, &mut p).unwrap();
        lu_solve(&lu, 3, &p, &mut b);
        for i in 0..3 {
            assert!((b[i] - x[i]).abs() < 1e-15, "{b:?}");
        }
    }

    #[test]
    fn a_long_vector_has_the_norm_of_its_largest_entry_wherever_it_stands() {
        for n in 1..40 {
            for at in 0..n {
                let mut a = vec![-0.5; n];
                for (x, norm, finite) in [
                    (-2.0, 2.0, true),
                    (f64::MAX, f64::MAX, true),
                    (f64::NEG_INFINITY, f64::INFINITY, false),
                    (5e-324, if n == 1 { 5e-324 } else { 0.5 }, true),
                ] {
                    a[at] = x;
                    assert_eq!(max_norm(&a), norm);
                    assert_eq!(all_finite(&a), finite);
                }
                a[at] = f64::NAN;
                assert!(max_norm(&a).is_nan() && !all_finite(&a));
            }
        }
        assert!(max_norm(&[]) == 0.0 && all_finite(&[]));
    }

    #[test]
    fn lu_reports_a_singular_matrix() {
        let mut a = [1.0, 2.0, 2.0, 4.0];
        assert!(lu_factor(&mut a, 2, &mut [0; 2]).is_err());
        assert!(lu_factor(&mut [f64::NAN], 1, &mut [0; 1]).is_err());
        assert!(lu_factor(&mut [1.0, f64::INFINITY, 0.0, 1.0], 2, &mut [0; 2]).is_err());
    }

    #[test]
    fn least_norm_of_a_rank_one_matrix_splits_evenly() {
        let mut x = [0.0; 2];
        let (rank, res) = LeastNorm::default().solve(&[1.0, 1.0, 1.0, 1.0], 2, &[3.0, 3.0], &mut x, 1e-12);
        assert_eq!(rank, 1);
        assert!(res < 1e-15);
        assert!((x[0] - 1.5).abs() < 1e-15 && (x[1] - 1.5).abs() < 1e-15, "{x:?}");
    }

    #[test]
    fn least_norm_reports_the_residual_of_an_inconsistent_system() {
        let mut x = [0.0; 2];
        let (_, res) = LeastNorm::default().solve(&[1.0, 0.0, 0.0, 0.0], 2, &[1.0, 2.0], &mut x, 1e-12);
        assert!((res - 2.0).abs() < 1e-15);
        assert_eq!(x, [1.0, 0.0]);
    }

    #[test]
    fn least_norm_is_orthogonal_to_the_null_space() {
        // A = Σ of two outer products in R⁴: rank 2, random-looking entries.
        let (u1, v1) = ([1.0, 2.0, -1.0, 0.5], [0.3, -1.0, 2.0, 1.0]);
        let (u2, v2) = ([-1.0, 0.0, 3.0, 2.0], [1.5, 0.2, -0.7, 2.0]);
        let mut a = [0.0; 16];
        for i in 0..4 {
            for j in 0..4 {
                a[i * 4 + j] = u1[i] * v1[j] + u2[i] * v2[j];
            }
        }
        let b: Vec<f64> = (0..4).map(|i| 2.0 * u1[i] - u2[i]).collect();
        let mut x = [0.0; 4];
        let (rank, res) = LeastNorm::default().solve(&a, 4, &b, &mut x, 1e-12);
        assert_eq!(rank, 2);
        assert!(res < 1e-13);
        // The row space is span(v1, v2): x minus its projection there must vanish.
        let (n11, n12, n22) = (dot(&v1, &v1), dot(&v1, &v2), dot(&v2, &v2));
        let (b1, b2) = (dot(&v1, &x), dot(&v2, &x));
        let det = n11 * n22 - n12 * n12;
        let (c1, c2) = ((b1 * n22 - b2 * n12) / det, (n11 * b2 - n12 * b1) / det);
        for i in 0..4 {
            assert!((x[i] - c1 * v1[i] - c2 * v2[i]).abs() < 1e-13);
        }
    }
}
