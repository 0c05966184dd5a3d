//! Numerical rank of the matrix A of a reduced problem.
//!
//! Contacts that share a load make A rank-deficient: percussions are then not unique, and solvers that need an inverse
//! fail. A symmetric positive semidefinite A (every A = WᵀM⁻¹W) is factored by Cholesky's method with diagonal
//! pivoting, in n·rank² operations; any other A by elimination with complete pivoting. The rank is the number of
//! pivots above max(n, 100)·ε times the largest.

use crate::problem::{Problem, ReducedMatrix};

/// Largest number of rows of a symmetric matrix whose rank is computed: some seconds.
pub const MAX_SYMMETRIC_ROWS: usize = 3000;
/// Largest number of rows of any other matrix.
pub const MAX_GENERAL_ROWS: usize = 1500;
/// Largest |A − Aᵀ| of a symmetric matrix, relative to the largest entry: rounding of a reduction.
const SYMMETRY_TOLERANCE: f64 = 1e-12;

/// Rank of A, or `None` for a matrix too large for it. See the [module](self).
pub fn rank(problem: &Problem) -> Option<usize> {
    let n = problem.size();
    if n > MAX_SYMMETRIC_ROWS {
        return None;
    }
    let mut dense = Problem::default();
    problem.densify(&mut dense);
    let ReducedMatrix::Dense(a) = &mut dense.matrix else { return None };
    let a = a.data_mut();
    if let Some(rank) = semidefinite(a, n) {
        return Some(rank);
    }
    (n <= MAX_GENERAL_ROWS).then(|| eliminate(a, n))
}

/// Pivots below this part of the largest are zero.
fn tiny(n: usize) -> f64 {
    n.max(100) as f64 * f64::EPSILON
}

/// The rank of a symmetric positive semidefinite matrix; `None` for any other. Left-looking: A stays as it is.
fn semidefinite(a: &[f64], n: usize) -> Option<usize> {
    let largest = a.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
    for i in 0..n {
        for j in 0..i {
            if (a[i * n + j] - a[j * n + i]).abs() > SYMMETRY_TOLERANCE * largest {
                return None;
            }
        }
    }
    let mut rest: Vec<f64> = (0..n).map(|i| a[i * n + i]).collect();
    let limit = tiny(n) * rest.iter().fold(0.0_f64, |m, v| m.max(*v));
    // Rows of L, in the order of A; rows that were pivots come first in `order`.
    let mut l = vec![0.0; n * n];
    let mut order: Vec<usize> = (0..n).collect();
    let mut rank = 0;
    while rank < n {
        let best = (rank..n).fold(rank, |p, i| if rest[order[i]] > rest[order[p]] { i } else { p });
        if !(rest[order[best]] > limit) {
            break;
        }
        order.swap(rank, best);
        let pivot = order[rank];
        let root = rest[pivot].sqrt();
        let (own, k) = (l[pivot * n..pivot * n + rank].to_vec(), rank);
        l[pivot * n + k] = root;
        for &i in &order[rank + 1..] {
            let row = &mut l[i * n..(i + 1) * n];
            row[k] = (a[i * n + pivot] - product(&row[..k], &own)) / root;
            rest[i] -= row[k] * row[k];
        }
        rank += 1;
    }
    // What is left must vanish: it does for a semidefinite matrix whose diagonal does, and for no other. Seen from its product
    // with a vector of signs.
    let sign = |i: usize| if (i as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 63 == 0 { 1.0 } else { -1.0 };
    let signs: Vec<f64> = (0..n).map(sign).collect();
    let mut by_column = vec![0.0; rank];
    for i in 0..n {
        by_column.iter_mut().zip(&l[i * n..]).for_each(|(y, l)| *y += signs[i] * l);
    }
    let left = |&i: &usize| product(&a[i * n..(i + 1) * n], &signs) - product(&l[i * n..i * n + rank], &by_column);
    let bound = n as f64 * tiny(n) * largest;
    order[rank..].iter().all(|i| rest[*i] >= -bound && left(i).abs() <= bound).then_some(rank)
}

/// The rank of any square matrix by elimination with complete pivoting, in place.
fn eliminate(a: &mut [f64], n: usize) -> usize {
    let (mut first, mut pivot) = (0.0, largest_entry(a, n, 0));
    for k in 0..n {
        let (value, row, column) = pivot;
        if k == 0 {
            first = value;
        }
        if !(value > tiny(n) * first) {
            return k;
        }
        for j in 0..n {
            a.swap(k * n + j, row * n + j);
        }
        for i in 0..n {
            a.swap(i * n + k, i * n + column);
        }
        let (above, below) = a.split_at_mut((k + 1) * n);
        let top = &above[k * n + k..];
        for row in below.chunks_exact_mut(n) {
            let factor = row[k] / top[0];
            if factor != 0.0 {
                row[k..].iter_mut().zip(top).for_each(|(x, t)| *x -= factor * t);
            }
        }
        pivot = largest_entry(a, n, k + 1);
    }
    n
}

/// Amount, row and column of the largest entry from row and column `k` on.
fn largest_entry(a: &[f64], n: usize, k: usize) -> (f64, usize, usize) {
    let mut best = (0.0, k, k);
    for i in k..n {
        for j in k..n {
            let value = a[i * n + j].abs();
            if value > best.0 {
                best = (value, i, j);
            }
        }
    }
    best
}

/// Scalar product in eight sums that run side by side.
fn product(a: &[f64], b: &[f64]) -> f64 {
    const LANES: usize = 8;
    let (many, rest) = a.as_chunks::<LANES>();
    let (others, others_rest) = b.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for (x, y) in many.iter().zip(others) {
        for i in 0..LANES {
            sums[i] += x[i] * y[i];
        }
    }
    sums.iter().sum::<f64>() + rest.iter().zip(others_rest).map(|(x, y)| x * y).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::Dense;
    use crate::random::sequence;

    fn of(n: usize, a: &[f64]) -> Option<usize> {
        rank(&Problem::lcp(Dense::from_rows(n, n, a.to_vec()).unwrap(), vec![-1.0; n]).unwrap())
    }

    /// Numbers in [-1, 1) that look random.
    fn numbers(count: usize) -> Vec<f64> {
        let mut random = sequence(1);
        (0..count).map(|_| random()).collect()
    }

    #[test]
    fn small_matrices_have_the_rank_that_one_sees() {
        assert_eq!(of(2, &[2.0, 0.0, 0.0, 3.0]), Some(2));
        assert_eq!(of(2, &[1.0, 1.0, 1.0, 1.0]), Some(1));
        assert_eq!(of(2, &[0.0, 0.0, 0.0, 0.0]), Some(0));
        assert_eq!(of(2, &[0.0, 1.0, 1.0, 0.0]), Some(2), "symmetric and indefinite, no diagonal");
        assert_eq!(of(2, &[0.0, 1.0, -1.0, 0.0]), Some(2), "skew");
        assert_eq!(of(2, &[0.0, 5.0, 0.0, 0.0]), Some(1), "nilpotent");
        assert_eq!(of(2, &[1.0, 0.0, 0.0, -1.0]), Some(2), "indefinite");
        assert_eq!(of(0, &[]), Some(0));
    }

    #[test]
    fn products_of_thin_matrices_have_the_rank_of_the_middle() {
        for (n, middle) in [(5, 2), (40, 17), (120, 119), (60, 60)] {
            let w = numbers(2 * n * middle);
            let (u, v) = w.split_at(n * middle);
            let outer = |x: &[f64], y: &[f64]| -> Vec<f64> {
                let entry = |e: usize| product(&x[e / n * middle..][..middle], &y[e % n * middle..][..middle]);
                (0..n * n).map(entry).collect()
            };
            assert_eq!(of(n, &outer(u, u)), Some(middle), "WᵀW, {n} rows");
            assert_eq!(of(n, &outer(u, v)), Some(middle), "not symmetric, {n} rows");
        }
    }

    #[test]
    fn a_large_matrix_is_left_alone() {
        let n = MAX_GENERAL_ROWS + 1;
        let mut a = vec![0.0; n * n];
        (0..n).for_each(|i| a[i * n + (i + 1) % n] = 1.0);
        assert_eq!(of(n, &a), None, "a rotation, not symmetric");
    }
}
