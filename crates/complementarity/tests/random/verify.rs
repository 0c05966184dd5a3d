//! An independent judge: the complementarity conditions themselves, without projections.
//!
//! Per block, with own u = A r + b:
//!
//! | set | conditions |
//! |---|---|
//! | free | u = 0 |
//! | [l, h] | l ≤ r ≤ h; u > 0 only at l; u < 0 only at h |
//! | ball R | ‖r‖ ≤ R; R‖u‖ + r·u = 0 |
//! | friction | r_N ≥ 0, r_T ∈ r_N S, u_N ≥ 0, r_N u_N = 0, r_T·u_T + r_N σ(u_T) = 0 with σ(u_T) = max_{s ∈ S} −s·u_T |
//!
//! A violation is divided by a constant C such that it is at most |e| for every e = r − proj_C(r − û):
//! with p = r − e ∈ C and −w = −(û − e) in the normal cone at p, Cauchy-Schwarz gives
//!
//! - interval: C = 1. Ball: C = 1 for ‖r‖ − R; for R‖u‖ + r·u ≤ |e|(2R + ‖u‖): C = 2(R + ‖u‖).
//! - friction, m = μ (or μ max‖d_j‖), s = √(1 + m²): p_T ∈ p_N S, w_N ≥ σ(w_T) and the Lipschitz constant m of σ give
//!   C = s for the cone and for u_N ≥ 0. The sum of both products is r·û = e·(r + û) − |e|², each product is
//!   ≥ −s|e|(‖r‖ + ‖u‖), ‖û‖ ≤ (1 + m)‖u‖ and |e| ≤ 2‖r‖ + ‖û‖, so that each is at most
//!   |e|(3 + 2m + s)(‖r‖ + ‖u‖).
//!
//! The violation is therefore zero exactly at solutions, and a solver that reports a residual ≤ tol has a
//! violation ≤ tol·‖b‖ apart from rounding: the test needs no constant of its own.

use super::{dot, norm};
use complementarity::{Problem, Set};

/// What the judge found, in the units of `Problem::residual` (relative to ‖b‖ where b ≠ 0).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Verdict {
    /// Violation of the conditions.
    pub(crate) violation: f64,
    /// What rounding in A r + b and in the projections may contribute.
    pub(crate) rounding: f64,
}

impl Verdict {
    /// Whether a solver with this tolerance may call it solved. NaN and infinity confirm nothing, and percussions so
    /// large that rounding may exceed the tolerance are granted no more than the tolerance for it.
    pub(crate) fn confirms(&self, tolerance: f64) -> bool {
        self.violation <= tolerance + self.rounding.min(tolerance)
    }
}

/// Judges r for a dense problem.
pub(crate) fn judge(problem: &Problem, r: &[f64]) -> Verdict {
    let a = problem.as_dense().expect("the judge reads dense problems");
    let b = problem.b();
    let n = b.len();
    let (mut u, mut size) = (vec![0.0; n], vec![0.0; n]);
    for i in 0..n {
        u[i] = b[i] + dot(a.row(i), r);
        size[i] = b[i].abs() + a.row(i).iter().zip(r).map(|(x, y)| (x * y).abs()).sum::<f64>();
    }
    let sets: Vec<&Set> = problem.blocks().iter().map(|b| &b.set).collect();
    let violation = violation(&sets, r, &u);
    // n + 1 roundings per component of u in the judge and in the solver, a factor (1 + m) ≤ 3 from û, some ten
    // operations in a projection.
    let rounding = f64::EPSILON * (8.0 * (n + 1) as f64 * norm(&size) + 16.0 * norm(r));
    let scale = if norm(b) > 0.0 { norm(b) } else { 1.0 };
    Verdict { violation: violation / scale, rounding: rounding / scale }
}

/// Violation of the conditions by (r, u), absolute; NaN if anything is NaN.
pub(crate) fn violation(sets: &[&Set], r: &[f64], u: &[f64]) -> f64 {
    let mut at = 0;
    let mut sum = 0.0;
    for set in sets {
        let d = set.dim();
        let v = block(set, &r[at..at + d], &u[at..at + d]);
        sum += v * v;
        at += d;
    }
    sum.sqrt()
}

fn block(set: &Set, r: &[f64], u: &[f64]) -> f64 {
    if !r.iter().chain(u).all(|v| v.is_finite()) {
        return f64::NAN;
    }
    match set {
        Set::Free { .. } => norm(u),
        Set::NonNegative => interval(0.0, f64::INFINITY, r[0], u[0]),
        Set::Interval { lower, upper } => interval(*lower, *upper, r[0], u[0]),
        Set::Ball { radius, .. } => {
            let dissipation = (radius * norm(u) + dot(r, u)).abs();
            (norm(r) - radius).max(share(dissipation, 2.0 * (radius + norm(u)))).max(0.0)
        }
        Set::Coulomb { mu, .. } => {
            let outside = norm(&r[1..]) - mu * r[0];
            friction(outside, mu * norm(&u[1..]), *mu, r, u)
        }
        Set::Polyhedral { mu, polygon } => {
            let corners = polygon.generators();
            let m = corners.len();
            let mut outside = f64::NEG_INFINITY;
            let (mut sigma, mut largest) = (f64::NEG_INFINITY, 0.0_f64);
            for j in 0..m {
                let (p, q) = (corners[j], corners[(j + 1) % m]);
                // Outward unit normal of the edge from p to q (counter-clockwise).
                let length = norm(&[q[0] - p[0], q[1] - p[1]]);
                let normal = [(q[1] - p[1]) / length, (p[0] - q[0]) / length];
                outside = outside.max(dot(&normal, &r[1..]) - mu * r[0] * dot(&normal, &p));
                sigma = sigma.max(-mu * dot(&p, &u[1..]));
                largest = largest.max(norm(&p));
            }
            friction(outside, sigma, mu * largest, r, u)
        }
    }
}

fn interval(lower: f64, upper: f64, r: f64, u: f64) -> f64 {
    let outside = (lower - r).max(r - upper).max(0.0);
    let unbalanced = if u > 0.0 { u.min(r - lower) } else { (-u).min(upper - r) };
    outside.max(unbalanced)
}

fn friction(outside: f64, sigma: f64, m: f64, r: &[f64], u: &[f64]) -> f64 {
    let s = (1.0 + m * m).sqrt();
    let weight = (3.0 + 2.0 * m + s) * (norm(r) + norm(u));
    let signs = (outside / s).max(-r[0]).max(-u[0] / s).max(0.0);
    let normal = share((r[0] * u[0]).abs(), weight);
    let tangential = share((dot(&r[1..], &u[1..]) + r[0] * sigma).abs(), weight);
    signs.max(normal).max(tangential)
}

/// x/y, zero where x is.
fn share(x: f64, y: f64) -> f64 {
    if x == 0.0 { 0.0 } else { x / y }
}
