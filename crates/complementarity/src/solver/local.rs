//! Exact solution of one block: u = A r + c with −û ∈ N_C(r), dimension 1 to 6.
//!
//! Friction contact, A = [A_NN A_NT; A_TN A_TT], section S = μ·ball:
//!
//! - take-off: c_N ≥ 0 ⇒ r = 0;
//! - stick: r = −A⁻¹c if ‖r_T‖ ≤ μ r_N;
//! - slip: u_N = 0 and u_T = −α r_T, α > 0. With B(α) = (A_TT + αI)⁻¹
//!   `r_N = −(c_N − A_NT B c_T)/(A_NN − A_NT B A_TN)`, `r_T = −B (A_TN r_N + c_T)`, and α is the root of
//!   F(α) = ‖r_T‖ − μ r_N. For a positive definite A the denominator is positive for all α ≥ 0,
//!   F(0) > 0 (stick was refused) and F(∞) = μ c_N/A_NN < 0, so that a root is bracketed
//!   (compare the quartic of \[Bonnefon2011\], whose positive root this is).
//!
//! In the plane the slip direction is ±1 and all is closed form; polyhedral sections are enumerated
//! (corners, then edges).

use super::spatial;
use crate::linear::dense::{LeastNorm, dot, lu_factor, lu_solve, norm};
use crate::sets::{Polygon, Set};

/// Scratch of local solves.
#[derive(Debug, Default, Clone)]
pub(super) struct Local {
    least_norm: LeastNorm,
}

impl Local {
    /// Solves one block; `r` holds the previous value. Returns false where no exact solution was
    /// found (then r holds a projected step).
    pub(super) fn solve(&mut self, set: &Set, a: &[f64], c: &[f64], r: &mut [f64]) -> bool {
        let d = set.dim();
        match set {
            Set::Free { .. } => {
                if d == 1 {
                    if a[0] != 0.0 {
                        r[0] = -c[0] / a[0];
                    }
                    return a[0] != 0.0;
                }
                self.unconstrained(a, c, r, d)
            }
            Set::NonNegative => scalar(a[0], c[0], 0.0, f64::INFINITY, &mut r[0]),
            Set::Interval { lower, upper } => scalar(a[0], c[0], *lower, *upper, &mut r[0]),
            Set::Ball { radius, .. } => {
                if d == 1 {
                    return scalar(a[0], c[0], -radius, *radius, &mut r[0]);
                }
                if self.unconstrained(a, c, r, d) && norm(&r[..d]) <= *radius {
                    return true;
                }
                ball_boundary(a, c, d, *radius, r)
            }
            Set::Coulomb { mu, .. } => {
                if c[0] >= 0.0 {
                    r[..d].fill(0.0);
                    return true;
                }
                if let (Ok(a), &[p, q, s], &mut [x, y, z]) = (<&[f64; 9]>::try_from(a), c, &mut *r)
                    && let Some(next) = spatial::solve(a, [p, q, s], *mu, [x, y, z])
                {
                    r.copy_from_slice(&next);
                    return true;
                }
                if *mu == 0.0 {
                    r[1..d].fill(0.0);
                    return scalar(a[0], c[0], 0.0, f64::INFINITY, &mut r[0]);
                }
                let old: [f64; 4] = std::array::from_fn(|i| if i < d { r[i] } else { 0.0 });
                if self.unconstrained(a, c, r, d) && norm(&r[1..d]) <= mu * r[0] {
                    return true;
                }
                r[..d].copy_from_slice(&old[..d]);
                if d == 2 {
                    return planar_slip(a, c, *mu, r) || frozen_step(set, a, c, r);
                }
                slip(a, c, d, *mu, r) || frozen_step(set, a, c, r)
            }
            Set::Polyhedral { mu, polygon } => {
                if c[0] >= 0.0 {
                    r[..3].fill(0.0);
                    return true;
                }
                if self.unconstrained(a, c, r, 3) && polygon.gauge([r[1], r[2]]) <= mu * r[0] {
                    return true;
                }
                polyhedral_slip(a, c, *mu, polygon, r) || frozen_step(set, a, c, r)
            }
        }
    }

    /// r = −A⁺c. False if A is singular and c not in its range: then no r makes the velocity vanish.
    fn unconstrained(&mut self, a: &[f64], c: &[f64], r: &mut [f64], d: usize) -> bool {
        let mut lu = [0.0; 36];
        let mut pivots = [0; 6];
        lu[..d * d].copy_from_slice(&a[..d * d]);
        if lu_factor(&mut lu[..d * d], d, &mut pivots[..d]).is_ok() {
            for k in 0..d {
                r[k] = -c[k];
            }
            lu_solve(&lu[..d * d], d, &pivots[..d], &mut r[..d]);
            true
        } else {
            let mut rhs = [0.0; 6];
            for k in 0..d {
                rhs[k] = -c[k];
            }
            let (_, left) = self.least_norm.solve(a, d, &rhs[..d], &mut r[..d], 1e-12);
            // Rounding of a consistent system stays far below this.
            left <= 1e-10 * norm(&c[..d])
        }
    }
}

fn scalar(a: f64, c: f64, lower: f64, upper: f64, r: &mut f64) -> bool {
    if a > 0.0 {
        let x = -c / a;
        *r = if x < lower {
            lower
        } else if x > upper {
            upper
        } else {
            x
        };
        return true;
    }
    // No compliance: the sign of c decides, if the bound on that side is finite.
    let bound = if c > 0.0 {
        lower
    } else if c < 0.0 {
        upper
    } else {
        *r
    };
    if bound.is_finite() {
        *r = bound;
        return true;
    }
    false
}

/// One projected relaxation step on the block: progress where no closed solution exists.
fn frozen_step(set: &Set, a: &[f64], c: &[f64], r: &mut [f64]) -> bool {
    let d = set.dim();
    let mut x = [0.0; 6];
    let scale = (0..d).map(|i| (0..d).map(|j| a[i * d + j].abs()).sum::<f64>()).fold(0.0, f64::max);
    if !r[..d].iter().all(|v| v.is_finite()) {
        r[..d].fill(0.0);
    }
    if scale > 0.0 {
        for i in 0..d {
            x[i] = r[i] - (dot(&a[i * d..(i + 1) * d], &r[..d]) + c[i]) / scale;
        }
        set.project_frozen(x[0], &mut x[..d]);
        r[..d].copy_from_slice(&x[..d]);
    }
    false
}

fn planar_slip(a: &[f64], c: &[f64], mu: f64, r: &mut [f64]) -> bool {
    // Slip with u_T of sign s: r_T = −s μ r_N.
    for s in [1.0, -1.0] {
        let denominator = a[0] - s * mu * a[1];
        if denominator > 0.0 {
            let rn = -c[0] / denominator;
            let rt = -s * mu * rn;
            if s * (a[2] * rn + a[3] * rt + c[1]) >= 0.0 {
                r[0] = rn;
                r[1] = rt;
                return true;
            }
        }
    }
    false
}

/// (A_TT + αI)⁻¹ applied to two right-hand sides; n = 2 or 3.
fn shifted_solve(att: &[f64], n: usize, alpha: f64, x: &mut [f64; 3], y: &mut [f64; 3]) -> bool {
    if n == 2 {
        let (p, q, s, t) = (att[0] + alpha, att[1], att[2], att[3] + alpha);
        let det = p * t - q * s;
        if det == 0.0 {
            return false;
        }
        *x = [(t * x[0] - q * x[1]) / det, (p * x[1] - s * x[0]) / det, 0.0];
        *y = [(t * y[0] - q * y[1]) / det, (p * y[1] - s * y[0]) / det, 0.0];
        return true;
    }
    let mut m = [0.0; 9];
    m[..n * n].copy_from_slice(&att[..n * n]);
    for i in 0..n {
        m[i * n + i] += alpha;
    }
    let mut pivots = [0; 3];
    if lu_factor(&mut m[..n * n], n, &mut pivots[..n]).is_err() {
        return false;
    }
    lu_solve(&m[..n * n], n, &pivots[..n], &mut x[..n]);
    lu_solve(&m[..n * n], n, &pivots[..n], &mut y[..n]);
    true
}

fn slip(a: &[f64], c: &[f64], d: usize, mu: f64, r: &mut [f64]) -> bool {
    let n = d - 1;
    let mut att = [0.0; 9];
    let (mut ant, mut atn) = ([0.0; 3], [0.0; 3]);
    let mut scale: f64 = 0.0;
    for i in 0..n {
        ant[i] = a[1 + i];
        atn[i] = a[(1 + i) * d];
        for j in 0..n {
            att[i * n + j] = a[(1 + i) * d + 1 + j];
            scale = scale.max(att[i * n + j].abs());
        }
    }
    if scale == 0.0 {
        scale = a[0].abs();
    }
    let mut at = |alpha: f64| -> f64 {
        let mut x = [0.0; 3];
        x[..n].copy_from_slice(&c[1..d]);
        let mut y = atn;
        if !shifted_solve(&att, n, alpha, &mut x, &mut y) {
            return f64::NAN;
        }
        let rn = -(c[0] - dot(&ant[..n], &x[..n])) / (a[0] - dot(&ant[..n], &y[..n]));
        r[0] = rn;
        for i in 0..n {
            r[1 + i] = -(y[i] * rn + x[i]);
        }
        norm(&r[1..d]) - mu * rn
    };
    // Bracket the root between lo (F > 0) and hi (F < 0).
    let (mut lo, mut hi) = (0.0, scale);
    let mut f_lo = at(0.0);
    if f_lo.is_nan() {
        f_lo = at(scale * 1e-14);
        lo = scale * 1e-14;
    }
    let mut f_hi = at(hi);
    for _ in 0..80 {
        if f_hi <= 0.0 || f_hi.is_nan() {
            break;
        }
        (lo, f_lo) = (hi, f_hi);
        hi *= 4.0;
        f_hi = at(hi);
    }
    if !(f_lo > 0.0 && f_hi <= 0.0) {
        return false;
    }
    // Illinois: regula falsi with the stale end halved; falls back on bisection by construction.
    let mut side = 0;
    let mut alpha = hi;
    for _ in 0..200 {
        let mut next = (lo * f_hi - hi * f_lo) / (f_hi - f_lo);
        if !(next > lo && next < hi) {
            next = 0.5 * (lo + hi);
        }
        if next == alpha || hi - lo <= f64::EPSILON * hi {
            break;
        }
        alpha = next;
        let f = at(alpha);
        if f == 0.0 {
            break;
        }
        if f > 0.0 {
            (lo, f_lo) = (alpha, f);
            if side == 1 {
                f_hi *= 0.5;
            }
            side = 1;
        } else {
            (hi, f_hi) = (alpha, f);
            if side == -1 {
                f_lo *= 0.5;
            }
            side = -1;
        }
    }
    at(alpha);
    let (t, rn) = (norm(&r[1..d]), r[0]);
    if !(rn >= 0.0 && t.is_finite()) {
        return false;
    }
    // Onto the cone exactly.
    if t > 0.0 {
        for v in &mut r[1..d] {
            *v *= mu * rn / t;
        }
    }
    true
}

/// min over ‖r‖ = radius: (A + αI) r = −c, ‖r(α)‖ falling in α for a positive semidefinite A.
fn ball_boundary(a: &[f64], c: &[f64], d: usize, radius: f64, r: &mut [f64]) -> bool {
    if radius == 0.0 {
        r[..d].fill(0.0);
        return true;
    }
    let mut at = |alpha: f64| {
        let mut x = [0.0; 3];
        x[..d].copy_from_slice(&c[..d]);
        let mut unused = [0.0; 3];
        if !shifted_solve(a, d, alpha, &mut x, &mut unused) {
            return f64::NAN;
        }
        for i in 0..d {
            r[i] = -x[i];
        }
        norm(&r[..d]) - radius
    };
    let (mut lo, mut hi) = (0.0, norm(&c[..d]) / radius);
    // ‖(A + αI)⁻¹c‖ ≤ ‖c‖/α, so that hi is a bracket; both ends are found by bisection in 1/‖r‖.
    for _ in 0..200 {
        let mid = 0.5 * (lo + hi);
        if mid == lo || mid == hi {
            break;
        }
        let f = at(mid);
        if f > 0.0 {
            lo = mid;
        } else {
            hi = mid;
        }
    }
    at(hi);
    let t = norm(&r[..d]);
    if !(t > 0.0 && t.is_finite()) {
        return false;
    }
    for v in &mut r[..d] {
        *v *= radius / t;
    }
    true
}

fn polyhedral_slip(a: &[f64], c: &[f64], mu: f64, polygon: &Polygon, r: &mut [f64]) -> bool {
    let g = polygon.generators();
    let m = g.len();
    let velocity = |r: &[f64; 3]| -> [f64; 3] {
        std::array::from_fn(|i| a[3 * i] * r[0] + a[3 * i + 1] * r[1] + a[3 * i + 2] * r[2] + c[i])
    };
    // Corner j: −u_T in the normal cone of the corner, i.e. u_T·(d_k − d_j) ≥ 0 for its neighbours.
    for j in 0..m {
        let d = g[j];
        let denominator = a[0] + mu * (a[1] * d[0] + a[2] * d[1]);
        if denominator <= 0.0 {
            continue;
        }
        let rn = -c[0] / denominator;
        let x = [rn, mu * rn * d[0], mu * rn * d[1]];
        let u = velocity(&x);
        let scale = f64::EPSILON * 8.0 * (u[1].abs() + u[2].abs());
        let fits =
            [g[(j + 1) % m], g[(j + m - 1) % m]].iter().all(|k| u[1] * (k[0] - d[0]) + u[2] * (k[1] - d[1]) >= -scale);
        if fits {
            r[..3].copy_from_slice(&x);
            return true;
        }
    }
    // Edge j: r_T = μ(r_N d_j + s e), 0 ≤ s ≤ r_N, u_T·e = 0, u_N = 0, u_T pointing inwards.
    for j in 0..m {
        let (d, k) = (g[j], g[(j + 1) % m]);
        let e = [k[0] - d[0], k[1] - d[1]];
        let row = |i: usize, v: [f64; 2]| a[3 * i + 1] * v[0] + a[3 * i + 2] * v[1];
        // Unknowns (r_N, s).
        let (m11, m12) = (a[0] + mu * row(0, d), mu * row(0, e));
        let along = |v: f64, w: f64| v * e[0] + w * e[1];
        let m21 = along(a[3] + mu * row(1, d), a[6] + mu * row(2, d));
        let m22 = mu * along(row(1, e), row(2, e));
        let rhs = [-c[0], -along(c[1], c[2])];
        let det = m11 * m22 - m12 * m21;
        if det == 0.0 {
            continue;
        }
        let rn = (rhs[0] * m22 - m12 * rhs[1]) / det;
        let s = (m11 * rhs[1] - m21 * rhs[0]) / det;
        let slack = 8.0 * f64::EPSILON * rn.abs();
        if rn >= 0.0 && s >= -slack && s <= rn + slack {
            let x = [rn, mu * (rn * d[0] + s * e[0]), mu * (rn * d[1] + s * e[1])];
            let u = velocity(&x);
            // Outward normal of the edge (counter-clockwise corners): (e_y, −e_x).
            if u[1] * e[1] - u[2] * e[0] <= 0.0 {
                r[..3].copy_from_slice(&x);
                return true;
            }
        }
    }
    false
}
