//! Jacobians of the projection and of its frozen form against differences.

use super::samples::{any_set, generic_point};
use super::{config, projected};
use proptest::prelude::*;

/// Central differences of a function against a column of its Jacobian.
///
/// At a smooth point the error is O(h²); where a kink lies within h, the derivative of either side differs from the
/// central one by at most half the difference of the one-sided slopes, which is therefore added, and the caller skips
/// points where that is not small. Returns (error, half the difference of slopes).
fn compare(f: impl Fn(f64) -> Vec<f64>, column: &[f64]) -> (f64, f64) {
    const H: f64 = 1e-5;
    let (low, mid, high) = (f(-H), f(0.0), f(H));
    let (mut error, mut kink) = (0.0_f64, 0.0_f64);
    for i in 0..column.len() {
        error = error.max(((high[i] - low[i]) / (2.0 * H) - column[i]).abs());
        kink = kink.max((high[i] - 2.0 * mid[i] + low[i]).abs() / (2.0 * H));
    }
    (error, kink)
}

/// Largest half difference of one-sided slopes at a point that counts as smooth: with h = 1e-5 this admits second
/// derivatives up to 100.
const SMOOTH: f64 = 1e-3;
/// Rounding of the difference quotient, 1e-15·10/1e-5 = 1e-9, and its truncation h²·f'''/6 ≤ 1e-10·100²/6 for the
/// third derivatives that go with [`SMOOTH`].
const QUOTIENT: f64 = 2e-7;

proptest! {
    #![proptest_config(config(3000))]

    #[test]
    fn projection_jacobian_agrees_with_differences(set in any_set(), x in generic_point()) {
        let d = set.dim();
        let mut jac = vec![f64::NAN; d * d];
        set.project_jacobian(&x[..d], &mut jac);
        for j in 0..d {
            let column: Vec<f64> = (0..d).map(|i| jac[i * d + j]).collect();
            let (error, kink) = compare(|h| { let mut y = x.clone(); y[j] += h; projected(&set, &y) }, &column);
            prop_assume!(kink < SMOOTH);
            prop_assert!(error <= kink + QUOTIENT, "{set:?} {x:?}: column {j} is {column:?}, off by {error:e}");
        }
    }

    #[test]
    fn frozen_jacobian_agrees_with_differences(set in any_set(), x in generic_point(), normal in -2.0..4.0f64) {
        let d = set.dim();
        let mut jac = vec![f64::NAN; d * d];
        let mut d_normal = vec![f64::NAN; d];
        set.frozen_jacobian(normal, &x[..d], &mut jac, &mut d_normal);
        let frozen = |normal: f64, y: &[f64]| { let mut p = y[..d].to_vec(); set.project_frozen(normal, &mut p); p };
        for j in 0..d {
            let column: Vec<f64> = (0..d).map(|i| jac[i * d + j]).collect();
            let (error, kink) = compare(|h| { let mut y = x.clone(); y[j] += h; frozen(normal, &y) }, &column);
            prop_assume!(kink < SMOOTH);
            prop_assert!(error <= kink + QUOTIENT, "{set:?} {normal} {x:?}: column {j} is {column:?}, off by {error:e}");
        }
        let (error, kink) = compare(|h| frozen(normal + h, &x), &d_normal);
        prop_assume!(kink < SMOOTH);
        prop_assert!(error <= kink + QUOTIENT, "{set:?} {normal} {x:?}: d_normal {d_normal:?}, off by {error:e}");
    }
}
