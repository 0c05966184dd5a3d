//! The dense kernels for systems of N = 2, 3, 4 unknowns: the operations of [`super::dense`] in the same order, to the last bit, without
//! loops. A step of a small mechanism spends as much on the loops as on the numbers.

use super::Singular;

/// The first N rows of N entries.
#[inline]
fn square<const N: usize>(a: &[f64]) -> Option<&[[f64; N]; N]> {
    a.as_chunks::<N>().0.first_chunk::<N>()
}

/// y = A x of a square A. False if the sizes do not fit.
#[inline]
pub(super) fn multiply<const N: usize>(a: &[f64], x: &[f64], y: &mut [f64]) -> bool {
    let sized = a.len() == N * N;
    let (Some(a), Some(x), Some(y)) = (square::<N>(a), x.first_chunk::<N>(), y.first_chunk_mut::<N>()) else {
        return false;
    };
    if !sized {
        return false;
    }
    for i in 0..N {
        let mut s = 0.0;
        for j in 0..N {
            s += a[i][j] * x[j];
        }
        y[i] = s;
    }
    true
}

/// P A = L U in place.
pub(super) fn lu_factor<const N: usize>(a: &mut [f64], pivots: &mut [usize]) -> Result<(), Singular> {
    let rows = a.as_chunks_mut::<N>().0.first_chunk_mut::<N>();
    let (Some(a), Some(pivots)) = (rows, pivots.first_chunk_mut::<N>()) else { return Err(Singular { row: 0 }) };
    let (mut scale, mut finite) = (0.0f64, true);
    for x in a.as_flattened() {
        let x = x.abs();
        finite &= x < f64::INFINITY;
        scale = if x > scale { x } else { scale };
    }
    if !finite {
        return Err(Singular { row: 0 });
    }
    let tiny = scale * f64::EPSILON * N as f64;
    for k in 0..N {
        let mut p = k;
        let mut best = a[k][k].abs();
        for i in k + 1..N {
            let v = a[i][k].abs();
            if v > best {
                (best, p) = (v, i);
            }
        }
        pivots[k] = p;
        if best <= tiny {
            return Err(Singular { row: k });
        }
        if p != k {
            a.swap(k, p);
        }
        let pivot = a[k];
        let inv = 1.0 / pivot[k];
        for i in k + 1..N {
            let l = a[i][k] * inv;
            a[i][k] = l;
            if l != 0.0 {
                for j in k + 1..N {
                    a[i][j] -= l * pivot[j];
                }
            }
        }
    }
    Ok(())
}

/// Solves with the factors of [`lu_factor`], in place.
#[inline]
pub(super) fn lu_solve<const N: usize>(a: &[f64], pivots: &[usize], x: &mut [f64]) {
    let (Some(a), Some(pivots), Some(x)) = (square::<N>(a), pivots.first_chunk::<N>(), x.first_chunk_mut::<N>()) else {
        return;
    };
    for k in 0..N {
        x.swap(k, pivots[k]);
    }
    for i in 1..N {
        let mut s = x[i];
        for j in 0..i {
            s -= a[i][j] * x[j];
        }
        x[i] = s;
    }
    for i in (0..N).rev() {
        let mut s = x[i];
        for j in i + 1..N {
            s -= a[i][j] * x[j];
        }
        x[i] = s / a[i][i];
    }
}

#[cfg(test)]
mod tests {
    use crate::linear::dense;

    /// A beside a unit matrix of 4 unknowns takes the general path: the same operations on A, and zeros.
    fn check<const N: usize>() {
        let size = N + 4;
        let (mut a, mut large) = (vec![0.0; N * N], vec![0.0; size * size]);
        for i in 0..N {
            for j in 0..N {
                // The largest entries stand below the diagonal: rows change places.
                a[i * N + j] = (1.3 * (i * N + j) as f64).sin() + if i == j + 1 { 2.0 } else { 0.0 };
                large[i * size + j] = a[i * N + j];
            }
        }
        (N..size).for_each(|i| large[i * size + i] = 1.0);
        let mut x: Vec<f64> = (0..size).map(|i| 0.7 - 0.3 * i as f64).collect();
        let mut y = x[..N].to_vec();
        let (mut pivots, mut small_pivots) = (vec![0; size], vec![0; N]);
        assert_eq!(dense::lu_factor(&mut large, size, &mut pivots), Ok(()));
        assert_eq!(dense::lu_factor(&mut a, N, &mut small_pivots), Ok(()));
        assert_eq!(small_pivots, pivots[..N]);
        dense::lu_solve(&large, size, &pivots, &mut x);
        dense::lu_solve(&a, N, &small_pivots, &mut y);
        assert_eq!(y, x[..N]);
        assert!(dense::lu_factor(&mut vec![0.0; N * N], N, &mut small_pivots).is_err());
        assert!(dense::lu_factor(&mut vec![f64::NAN; N * N], N, &mut small_pivots).is_err());
    }

    #[test]
    fn small_systems_have_the_bits_of_the_general_kernel() {
        check::<2>();
        check::<3>();
        check::<4>();
    }
}
