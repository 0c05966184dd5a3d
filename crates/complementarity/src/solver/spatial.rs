//! One contact with friction in space, by cases: the block that most three-dimensional problems are made of.
//!
//! The cases are those of [`super::local`], with A as nine numbers. Slip is the root α > 0 of
//!
//! ```text
//! F(α) = ‖r_T(α)‖ − μ r_N(α),    u_N = 0,  u_T = −α r_T
//! ```
//!
//! by Newton's method inside the bracket that F has seen so far, begun where the percussion before had it: in the course of sweeps
//! that is close.

/// r at α and F with its derivative; nothing where A_TT + αI is singular.
struct Slip {
    r: [f64; 3],
    f: f64,
    df: f64,
}

#[inline(always)]
fn slip_at(a: &[f64; 9], c: [f64; 3], mu: f64, alpha: f64) -> Option<Slip> {
    let (p, q, s, t) = (a[4] + alpha, a[5], a[7], a[8] + alpha);
    let det = p * t - q * s;
    if !(det > 0.0) {
        return None;
    }
    let inverse = 1.0 / det;
    // B v, B = (A_TT + αI)⁻¹; its derivative is −B².
    let b = |v: [f64; 2]| [(t * v[0] - q * v[1]) * inverse, (p * v[1] - s * v[0]) * inverse];
    let dot = |v: [f64; 2], w: [f64; 2]| v[0] * w[0] + v[1] * w[1];
    let (normal, x, y) = ([a[1], a[2]], b([c[1], c[2]]), b([a[3], a[6]]));
    let (dx, dy) = (b(x), b(y));
    let below = a[0] - dot(normal, y);
    if !(below > 0.0) {
        return None;
    }
    let rn = (dot(normal, x) - c[0]) / below;
    let rt = [-(y[0] * rn + x[0]), -(y[1] * rn + x[1])];
    let drn = (-dot(normal, dx) - rn * dot(normal, dy)) / below;
    let drt = [dy[0] * rn - y[0] * drn + dx[0], dy[1] * rn - y[1] * drn + dx[1]];
    let size = dot(rt, rt).sqrt();
    Some(Slip { r: [rn, rt[0], rt[1]], f: size - mu * rn, df: dot(rt, drt) / size - mu * drn })
}

/// Most steps for α: Newton takes a few, bisection some dozens.
const MAX_STEPS: usize = 100;

/// The solution of u = A r + c with −û ∈ N_K(r), from the percussion before; nothing where A is singular or no case fits.
#[inline]
pub(super) fn solve(a: &[f64; 9], c: [f64; 3], mu: f64, before: [f64; 3]) -> Option<[f64; 3]> {
    if c[0] >= 0.0 {
        return Some([0.0; 3]);
    }
    // Stick: r = −A⁻¹c by cofactors.
    let m = |i: usize, j: usize, k: usize, l: usize| a[i] * a[j] - a[k] * a[l];
    let (f0, f1, f2) = (m(4, 8, 5, 7), m(5, 6, 3, 8), m(3, 7, 4, 6));
    let det = a[0] * f0 + a[1] * f1 + a[2] * f2;
    if !(det > 1e-12 * a[0] * a[4] * a[8]) {
        return None;
    }
    let inverse = -1.0 / det;
    let stick = [
        (f0 * c[0] + m(2, 7, 1, 8) * c[1] + m(1, 5, 2, 4) * c[2]) * inverse,
        (f1 * c[0] + m(0, 8, 2, 6) * c[1] + m(2, 3, 0, 5) * c[2]) * inverse,
        (f2 * c[0] + m(1, 6, 0, 7) * c[1] + m(0, 4, 1, 3) * c[2]) * inverse,
    ];
    if stick[1] * stick[1] + stick[2] * stick[2] <= mu * mu * stick[0] * stick[0] && stick[0] >= 0.0 {
        return Some(stick);
    }
    if mu == 0.0 {
        return Some([-c[0] / a[0], 0.0, 0.0]);
    }
    // α of the percussion before, or the size of A_TT.
    let scale = a[4].abs() + a[8].abs();
    let square = before[1] * before[1] + before[2] * before[2];
    let u = [
        a[3] * before[0] + a[4] * before[1] + a[5] * before[2] + c[1],
        a[6] * before[0] + a[7] * before[1] + a[8] * before[2] + c[2],
    ];
    let last = -(u[0] * before[1] + u[1] * before[2]) / square;
    let mut alpha = if last > 1e-12 * scale && last < 1e12 * scale { last } else { scale };
    let (mut low, mut high) = (0.0, f64::INFINITY);
    for _ in 0..MAX_STEPS {
        let s = slip_at(a, c, mu, alpha)?;
        // F > 0 below the root.
        if s.f > 0.0 {
            low = alpha;
        } else {
            high = alpha;
        }
        let mut next = alpha - s.f / s.df;
        if !(next > low && next < high) {
            next = if high == f64::INFINITY { 4.0 * alpha } else { 0.5 * (low + high) };
        }
        let done = s.f.abs() <= 4.0 * f64::EPSILON * mu * s.r[0].abs() || (next - alpha).abs() <= f64::EPSILON * alpha;
        if done || next == alpha {
            let [rn, x, y] = s.r;
            let size = (x * x + y * y).sqrt();
            // Onto the cone exactly.
            let shrink = mu * rn / size;
            let fits = rn >= 0.0 && shrink.is_finite() && (shrink - 1.0).abs() < 1e-6;
            return fits.then_some([rn, x * shrink, y * shrink]);
        }
        alpha = next;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sets::{MAX_DIM, Set};

    #[test]
    fn the_cases_solve_the_law_of_one_contact() {
        let mut seed = 3u64;
        let mut random = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            2.0 * ((seed >> 11) as f64 / (1u64 << 53) as f64) - 1.0
        };
        let mut cases = [0; 4];
        for _ in 0..20_000 {
            // A = GᵀG + 0.1 I plus a skew part, as implicit forces make it.
            let g: [f64; 9] = std::array::from_fn(|_| random());
            let skew: [f64; 3] = std::array::from_fn(|_| 0.1 * random());
            let mut a = [0.0; 9];
            for i in 0..3 {
                for j in 0..3 {
                    a[3 * i + j] =
                        (0..3).map(|k| g[3 * k + i] * g[3 * k + j]).sum::<f64>() + if i == j { 0.1 } else { 0.0 };
                }
            }
            for (k, (i, j)) in [(0, 1), (0, 2), (1, 2)].into_iter().enumerate() {
                a[3 * i + j] += skew[k];
                a[3 * j + i] -= skew[k];
            }
            let (c, mu) = ([random(), random(), random()], random().abs());
            let before = [random().abs(), random(), random()];
            let Some(r) = solve(&a, c, mu, before) else {
                cases[3] += 1;
                continue;
            };
            let u: [f64; 3] = std::array::from_fn(|i| c[i] + (0..3).map(|j| a[3 * i + j] * r[j]).sum::<f64>());
            let mut f = [0.0; MAX_DIM];
            Set::Coulomb { dim: 2, mu }.natural_map(&r, &u, &mut f);
            let size = r.iter().fold(1.0f64, |m, v| m.max(v.abs()));
            // Rounding of α is amplified by at most the condition of A, here 40.
            assert!(f[..3].iter().all(|v| v.abs() <= 1e-12 * size), "{a:?} {c:?} {mu}: {r:?} {f:?}");
            let t = (r[1] * r[1] + r[2] * r[2]).sqrt();
            cases[if r[0] == 0.0 { 0 } else { 1 + usize::from(t < 0.999_999 * mu * r[0]) }] += 1;
        }
        // Open, slip, stick; now and then μ is so large that no case fits.
        assert!(cases[..3].iter().all(|n| *n > 1000) && cases[3] < 200, "{cases:?}");
    }
}
