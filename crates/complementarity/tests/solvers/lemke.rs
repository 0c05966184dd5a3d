//! Lemke's method on the classical examples: exponential pivots, cycling, rays, scaling.

use super::{dense, solve};
use complementarity::linear::Dense;
use complementarity::{Options, Polygon, Problem, Set, Status};
use std::sync::Arc;

#[test]
fn lemke_takes_two_to_the_n_pivots_on_murtys_example() {
    // [Murty1988, section 6.1]: M lower triangular with 1 on and 2 below the diagonal, q_i = −Σ_{k ≤ i} 2^(n−k); the
    // only solution is z = (2^n, 0, …, 0), found after 2^n pivots. All numbers are integers: exact.
    for n in 2..=10usize {
        let mut a = Dense::zeros(n, n);
        for i in 0..n {
            a.row_mut(i)[..i].fill(2.0);
            a[(i, i)] = 1.0;
        }
        let q: Vec<f64> = (0..n).map(|i| -(0..=i).map(|k| f64::from(1u32 << (n - k))).sum::<f64>()).collect();
        let (report, r) = solve("lemke", &Problem::lcp(a, q).unwrap(), &Options::default());
        assert!(report.solved(), "{n}: {report:?}");
        assert_eq!(report.pivots, 1 << n);
        assert_eq!(r[0], f64::from(1u32 << n));
        assert!(r[1..].iter().all(|&v| v == 0.0));
    }
}

/// Lemke's method that takes the first row on ties: pivots until the basis repeats, or `None` if it ends.
fn first_row_cycle(m: &[&[f64]], q: &[f64]) -> Option<usize> {
    let n = q.len();
    let mut t: Vec<Vec<f64>> = (0..n)
        .map(|i| {
            let unit = (0..n).map(|j| if i == j { 1.0 } else { 0.0 });
            unit.chain(m[i].iter().map(|v| -v)).chain([-1.0, q[i]]).collect()
        })
        .collect();
    let mut basis: Vec<usize> = (0..n).collect();
    let smallest = |values: &[(usize, f64)]| {
        let low = values.iter().map(|v| v.1).fold(f64::INFINITY, f64::min);
        values.iter().find(|v| v.1 <= low + 1e-9).map(|v| v.0)
    };
    let mut row = smallest(&q.iter().copied().enumerate().collect::<Vec<_>>())?;
    let mut entering = 2 * n;
    let mut seen = std::collections::BTreeSet::new();
    for pivot in 1.. {
        let p = t[row][entering];
        t[row].iter_mut().for_each(|v| *v /= p);
        let pivot_row = t[row].clone();
        for i in (0..n).filter(|&i| i != row) {
            let f = t[i][entering];
            t[i].iter_mut().zip(&pivot_row).for_each(|(v, w)| *v -= f * w);
        }
        let leaving = std::mem::replace(&mut basis[row], entering);
        if leaving == 2 * n {
            return None;
        }
        if !seen.insert((basis.clone(), leaving)) {
            return Some(pivot);
        }
        entering = if leaving < n { leaving + n } else { leaving - n };
        let ratios: Vec<(usize, f64)> =
            (0..n).filter(|&i| t[i][entering] > 1e-9).map(|i| (i, t[i][2 * n + 1] / t[i][entering])).collect();
        row = smallest(&ratios)?;
    }
    None
}

#[test]
fn lemke_does_not_cycle_where_the_first_row_rule_does() {
    // [Kostreva1979]: a P-matrix, unique solution 1/3 each.
    let m: &[&[f64]] = &[&[1.0, 2.0, 0.0], &[0.0, 1.0, 2.0], &[2.0, 0.0, 1.0]];
    let q = [-1.0; 3];
    assert!(first_row_cycle(m, &q).is_some());
    let (report, r) = solve("lemke", &Problem::lcp(dense(m), q.to_vec()).unwrap(), &Options::default());
    assert!(report.solved(), "{report:?}");
    // Three operations per entry.
    assert!(r.iter().all(|v| (v - 1.0 / 3.0).abs() < 1e-15), "{r:?}");
}

#[test]
fn lemke_is_lexicographic_from_its_first_pivot() {
    // Degenerate, found by a search in exact arithmetic: with z₀ entering in the lexicographically smallest row of
    // (q, I), which on equal q is the last, the method ends with z = (0, 1, 1) after 3 pivots; entering in the first
    // row breaks the lexicographic order, and the same ratio test then cycles.
    let m: &[&[f64]] = &[&[0.0, 1.0, 1.0], &[-1.0, 1.0, 0.0], &[1.0, 0.0, 1.0]];
    let problem = Problem::lcp(dense(m), vec![-1.0; 3]).unwrap();
    let (report, r) = solve("lemke", &problem, &Options::default());
    assert!(report.solved(), "{report:?}");
    assert_eq!((report.pivots, r), (3, vec![0.0, 1.0, 1.0]));
}

#[test]
fn lemke_reports_a_ray() {
    for (m, q) in [
        (dense(&[&[-1.0]]), vec![-1.0]),
        (dense(&[&[0.0, -1.0], &[1.0, 0.0]]), vec![-1.0, 1.0]),
        (dense(&[&[1.0, -1.0], &[-1.0, 1.0]]), vec![-2.0, 1.0]),
    ] {
        let (report, _) = solve("lemke", &Problem::lcp(m, q).unwrap(), &Options::default());
        assert_eq!(report.status, Status::Ray, "{report:?}");
    }
}

#[test]
fn lemke_scales_by_compliances_not_by_rounding() {
    // The generators of a regular polygon hold cos(90°) = 6e-17: the square of that, times a compliance, is no diagonal
    // to scale by. r_T = (0, −μ r_N) against the slip (0, 1).
    for facets in [4, 8, 12] {
        let polygon = Arc::new(Polygon::regular(facets).unwrap());
        let set = Set::Polyhedral { mu: 0.5, polygon };
        let a = dense(&[&[1.0, 0.0, 0.0], &[0.0, 1.0, 0.0], &[0.0, 0.0, 0.0]]);
        let problem = Problem::dense(vec![set], a, vec![-1.0, 0.0, 1.0]).unwrap();
        let (report, r) = solve("lemke", &problem, &Options::default());
        assert!(report.solved(), "{facets} facets: {report:?}, r = {r:?}");
    }
}
