//! The law of a block as an equation F(r, u) = 0 that Newton's method can linearise: dF = R dr + U du.
//!
//! Frozen projections \[AlartCurnier1991\], for every set:
//!
//! ```text
//! F_N = r_N − proj_{R₊}(x_N),          x_N = r_N − ρ_N u_N
//! F_T = r_T − proj_{μ x_N⁺ S}(x_T),    x_T = r_T − ρ_T u_T
//! ```
//!
//! One scalar ρ per set. It selects the piece of the projection that is linearised; the solution does not depend on it.
//!
//! Active-set form [Breuling2024, (41), (43)], for schemes whose own equations are nonlinear: the same pieces, with the section at r_N itself and
//! ρ in the switching tests alone. F is then a velocity or a percussion, and its size does not depend on ρ:
//!
//! ```text
//! F_N = u_N  if x_N ≥ 0,  else r_N;        F_T = u_T  if x_T ∈ μ r_N⁺ S,  else r_T − proj_{μ r_N⁺ S}(x_T)
//! ```
//!
//! Fischer and Burmeister's function in the Jordan algebra of the cone L = {‖x̄‖ ≤ x₀} \[FukushimaLuoTseng2002\], for contacts with and without
//! friction; the other sets keep their projections:
//!
//! ```text
//! F = x + y − (x∘x + y∘y)^{1/2},    x = (μ r_N, r_T),   y = ρ (u_N + μ‖u_T‖, μ u_T)
//! ```
//!
//! It vanishes exactly where x, y ∈ L and xᵀy = 0, which is the law of the block. With w = x∘x + y∘y = (‖x‖² + ‖y‖², 2(x₀x̄ + y₀ȳ)) and its
//! root z, dF = dx + dy − L_z⁻¹(L_x dx + L_y dy), where L_x is the multiplication by x.

use super::relaxation::r_factors;
use crate::linear::dense::{dot, lu_factor, lu_solve, norm};
use crate::problem::Problem;
use crate::sets::{MAX_DIM, Set};

/// Which equation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Equation {
    #[default]
    FrozenProjections,
    FischerBurmeister,
    ActiveSet,
}

/// F of a block and its derivatives, row by row.
#[derive(Debug)]
pub(super) struct Piece {
    pub(super) d: usize,
    pub(super) f: [f64; MAX_DIM],
    pub(super) by_r: [f64; MAX_DIM * MAX_DIM],
    pub(super) by_u: [f64; MAX_DIM * MAX_DIM],
}

/// (ρ_N, ρ_T) of block `i` of u = A r + b + shift·r: 1/A_NN and 1/‖A_TT‖_∞. Without compliance any positive factor serves: the one of the mean.
pub(super) fn factors(problem: &Problem, i: usize, shift: f64) -> (f64, f64) {
    let set = &problem.blocks()[i].set;
    let mut a = [0.0; MAX_DIM * MAX_DIM];
    problem.diagonal_block(i, &mut a);
    for k in 0..set.dim() {
        a[k * set.dim() + k] += shift;
    }
    let positive = |v: f64| if v > 0.0 { v } else { 1.0 / problem.mean_compliance() };
    let (n, t) = r_factors(&a, set.dim(), set.is_friction());
    (positive(n), positive(t))
}

impl Equation {
    pub(super) fn at(self, set: &Set, r: &[f64], u: &[f64], rho: (f64, f64)) -> Piece {
        match (self, set) {
            (Equation::FischerBurmeister, Set::NonNegative) => fischer_burmeister(1.0, r, u, rho.0),
            (Equation::FischerBurmeister, Set::Coulomb { mu, .. }) if *mu > 0.0 => fischer_burmeister(*mu, r, u, rho.0),
            (Equation::ActiveSet, _) => active_set(set, r, u, rho),
            _ => frozen(set, r, u, rho),
        }
    }
}

/// F of the frozen projections alone.
#[inline]
pub(super) fn frozen_value(set: &Set, r: &[f64], u: &[f64], rho: (f64, f64)) -> [f64; MAX_DIM] {
    let d = set.dim();
    let mut x = [0.0; MAX_DIM];
    for k in 0..d {
        x[k] = r[k] - if k == 0 { rho.0 } else { rho.1 } * u[k];
    }
    set.project_frozen(x[0], &mut x[..d]);
    for k in 0..d {
        x[k] = r[k] - x[k];
    }
    x
}

fn frozen(set: &Set, r: &[f64], u: &[f64], rho: (f64, f64)) -> Piece {
    let d = set.dim();
    let factor = |k: usize| if k == 0 { rho.0 } else { rho.1 };
    let mut x = [0.0; MAX_DIM];
    for k in 0..d {
        x[k] = r[k] - factor(k) * u[k];
    }
    let mut by_normal = [0.0; MAX_DIM];
    let mut piece =
        Piece { d, f: frozen_value(set, r, u, rho), by_r: [0.0; MAX_DIM * MAX_DIM], by_u: [0.0; MAX_DIM * MAX_DIM] };
    set.frozen_jacobian(x[0], &x[..d], &mut piece.by_r, &mut by_normal);
    for i in 0..d {
        for k in 0..d {
            let weight = piece.by_r[i * d + k] + if k == 0 { by_normal[i] } else { 0.0 };
            piece.by_r[i * d + k] = if i == k { 1.0 - weight } else { -weight };
            piece.by_u[i * d + k] = weight * factor(k);
        }
    }
    piece
}

/// The law in active-set form.
fn active_set(set: &Set, r: &[f64], u: &[f64], rho: (f64, f64)) -> Piece {
    let d = set.dim();
    let mut piece = Piece { d, f: [0.0; MAX_DIM], by_r: [0.0; MAX_DIM * MAX_DIM], by_u: [0.0; MAX_DIM * MAX_DIM] };
    match set {
        Set::Free { .. } => (0..d).for_each(|k| piece.constrain(k, u[k])),
        Set::NonNegative => piece.signorini(r[0], u[0], rho.0),
        Set::Interval { lower, upper } => match r[0] - rho.0 * u[0] {
            x if x < *lower => piece.impress(0, r[0] - lower),
            x if x > *upper => piece.impress(0, r[0] - upper),
            _ => piece.constrain(0, u[0]),
        },
        Set::Ball { radius, .. } => {
            piece.in_ball(0, r, u, rho.0, *radius);
        }
        Set::Coulomb { mu, .. } => {
            piece.signorini(r[0], u[0], rho.0);
            if let Some(direction) = piece.in_ball(1, r, u, rho.1, mu * r[0].max(0.0)) {
                for k in 1..d {
                    piece.by_r[k * d] = -mu * direction[k];
                }
            }
        }
        Set::Polyhedral { mu, polygon } => {
            piece.signorini(r[0], u[0], rho.0);
            let mut x = [r[1] - rho.1 * u[1], r[2] - rho.1 * u[2]];
            let mut by_x = [0.0; 4];
            let radius = mu * r[0].max(0.0);
            let inside = polygon.gauge(x) <= radius && radius > 0.0;
            let by_radius = polygon.project(radius, &mut x, Some(&mut by_x));
            for k in 0..2 {
                if inside {
                    piece.constrain(1 + k, u[1 + k]);
                    continue;
                }
                piece.f[1 + k] = r[1 + k] - x[k];
                piece.by_r[(1 + k) * d] = -mu * by_radius[k];
                for j in 0..2 {
                    piece.by_r[(1 + k) * d + 1 + j] = f64::from(k == j) - by_x[2 * k + j];
                    piece.by_u[(1 + k) * d + 1 + j] = rho.1 * by_x[2 * k + j];
                }
            }
        }
    }
    piece
}

impl Piece {
    /// F_k = u_k.
    fn constrain(&mut self, k: usize, u: f64) {
        self.f[k] = u;
        self.by_u[k * self.d + k] = 1.0;
    }

    /// F_k = r_k − given.
    fn impress(&mut self, k: usize, defect: f64) {
        self.f[k] = defect;
        self.by_r[k * self.d + k] = 1.0;
    }

    fn signorini(&mut self, r: f64, u: f64, rho: f64) {
        if r - rho * u >= 0.0 { self.constrain(0, u) } else { self.impress(0, r) }
    }

    /// The rows from `first` on: percussions in a ball. The direction of the percussion where it is on the boundary.
    fn in_ball(&mut self, first: usize, r: &[f64], u: &[f64], rho: f64, radius: f64) -> Option<[f64; MAX_DIM]> {
        let d = self.d;
        let mut x = [0.0; MAX_DIM];
        for k in first..d {
            x[k] = r[k] - rho * u[k];
        }
        let length = norm(&x[first..d]);
        if radius <= 0.0 || length == 0.0 {
            for k in first..d {
                if radius <= 0.0 { self.impress(k, r[k]) } else { self.constrain(k, u[k]) }
            }
            return None;
        }
        if length <= radius {
            (first..d).for_each(|k| self.constrain(k, u[k]));
            return None;
        }
        let (direction, part) = (x.map(|v| v / length), radius / length);
        for k in first..d {
            self.f[k] = r[k] - radius * direction[k];
            for j in first..d {
                let across = part * (f64::from(k == j) - direction[k] * direction[j]);
                self.by_r[k * d + j] = f64::from(k == j) - across;
                self.by_u[k * d + j] = rho * across;
            }
        }
        Some(direction)
    }
}

/// Size of z₁, relative to z₂, below which the root counts as having a kink. The derivative there is that of a nearby point.
const KINK_TOLERANCE: f64 = 1e-10;

fn fischer_burmeister(mu: f64, r: &[f64], u: &[f64], rho: f64) -> Piece {
    let d = r.len();
    let (mut x, mut y) = ([0.0; MAX_DIM], [0.0; MAX_DIM]);
    let slip = norm(&u[1..d]);
    (x[0], y[0]) = (mu * r[0], rho * (u[0] + mu * slip));
    for k in 1..d {
        (x[k], y[k]) = (r[k], rho * mu * u[k]);
    }
    // w and its root by the two eigenvalues z₁² ≤ z₂² of w.
    let mut w = [0.0; MAX_DIM];
    w[0] = dot(&x[..d], &x[..d]) + dot(&y[..d], &y[..d]);
    for k in 1..d {
        w[k] = 2.0 * (x[0] * x[k] + y[0] * y[k]);
    }
    let length = norm(&w[1..d]);
    let (z1, z2) = ((w[0] - length).max(0.0).sqrt(), (w[0] + length).sqrt());
    let direction = |k: usize| if length > 0.0 { w[k] / length } else { 0.0 };
    let mut piece = Piece { d, f: [0.0; MAX_DIM], by_r: [0.0; MAX_DIM * MAX_DIM], by_u: [0.0; MAX_DIM * MAX_DIM] };
    piece.f[0] = x[0] + y[0] - 0.5 * (z1 + z2);
    for k in 1..d {
        piece.f[k] = x[k] + y[k] - 0.5 * (z2 - z1) * direction(k);
    }
    // dF = (I − L_z⁻¹L_x) dx + (I − L_z⁻¹L_y) dy.
    let away = z1.max(KINK_TOLERANCE * z2).max(f64::MIN_POSITIVE.sqrt());
    let far = z2.max(away);
    let mut z = [0.0; MAX_DIM];
    z[0] = 0.5 * (away + far);
    for k in 1..d {
        z[k] = 0.5 * (far - away) * direction(k);
    }
    let multiplication = |v: &[f64], m: &mut [f64]| {
        m[..d * d].fill(0.0);
        for k in 0..d {
            m[k * d + k] = v[0];
        }
        for k in 1..d {
            (m[k], m[k * d]) = (v[k], v[k]);
        }
    };
    let (mut lz, mut pivots) = ([0.0; MAX_DIM * MAX_DIM], [0; MAX_DIM]);
    multiplication(&z, &mut lz);
    if lu_factor(&mut lz[..d * d], d, &mut pivots[..d]).is_err() {
        // x = y = 0: half of each.
        multiplication(&[std::f64::consts::SQRT_2, 0.0, 0.0, 0.0, 0.0, 0.0], &mut lz);
        let _ = lu_factor(&mut lz[..d * d], d, &mut pivots[..d]);
    }
    let mut by_x = [0.0; MAX_DIM * MAX_DIM];
    let mut by_y = [0.0; MAX_DIM * MAX_DIM];
    for (v, out) in [(&x, &mut by_x), (&y, &mut by_y)] {
        let mut l = [0.0; MAX_DIM * MAX_DIM];
        multiplication(v, &mut l);
        for c in 0..d {
            let mut column = [0.0; MAX_DIM];
            for k in 0..d {
                column[k] = l[k * d + c];
            }
            lu_solve(&lz[..d * d], d, &pivots[..d], &mut column[..d]);
            for k in 0..d {
                out[k * d + c] = if k == c { 1.0 - column[k] } else { -column[k] };
            }
        }
    }
    // dx = diag(μ, 1, ..) dr; dy₀ = ρ (du_N + μ u_Tᵀdu_T/‖u_T‖), dȳ = ρ μ du_T.
    for i in 0..d {
        for k in 0..d {
            let along = if k > 0 && slip > 0.0 { mu * u[k] / slip } else { 0.0 };
            piece.by_r[i * d + k] = by_x[i * d + k] * if k == 0 { mu } else { 1.0 };
            piece.by_u[i * d + k] = rho * if k == 0 { by_y[i * d] } else { by_y[i * d] * along + mu * by_y[i * d + k] };
        }
    }
    piece
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::sequence;

    const SETS: [Set; 6] = [
        Set::NonNegative,
        Set::Interval { lower: -0.5, upper: 0.7 },
        Set::Ball { dim: 2, radius: 0.4 },
        Set::Coulomb { dim: 1, mu: 0.6 },
        Set::Coulomb { dim: 2, mu: 0.6 },
        Set::Coulomb { dim: 3, mu: 0.6 },
    ];

    #[test]
    fn derivatives_are_those_of_differences() {
        let mut random = sequence(11);
        for equation in [Equation::FrozenProjections, Equation::FischerBurmeister, Equation::ActiveSet] {
            for set in &SETS {
                let d = set.dim();
                let mut kinks = 0;
                for _ in 0..300 {
                    let v: [f64; 2 * MAX_DIM] = std::array::from_fn(|_| random());
                    let rho = (0.7, 1.3);
                    let piece = equation.at(set, &v[..d], &v[MAX_DIM..MAX_DIM + d], rho);
                    for k in 0..2 * d {
                        let place = if k < d { k } else { MAX_DIM + k - d };
                        let shifted = |h: f64| {
                            let mut w = v;
                            w[place] += h;
                            equation.at(set, &w[..d], &w[MAX_DIM..MAX_DIM + d], rho).f
                        };
                        let (plus, minus) = (shifted(1e-6), shifted(-1e-6));
                        for i in 0..d {
                            let by = if k < d { piece.by_r[i * d + k] } else { piece.by_u[i * d + k - d] };
                            // Truncation 1e-12 over the smallest curvature radius met, rounding 1e-10; a kink in between now and then.
                            kinks += usize::from(((plus[i] - minus[i]) / 2e-6 - by).abs() > 1e-6);
                        }
                    }
                }
                assert!(kinks <= 3, "{equation:?} {set:?}: {kinks} of 300 points");
            }
        }
    }

    #[test]
    fn both_vanish_exactly_where_the_law_holds() {
        let mut random = sequence(5);
        for set in &SETS {
            let d = set.dim();
            for _ in 0..200 {
                // x = r − û with r its projection makes a solution, of which û is −(x − r); the velocity behind it is u_N = û_N − μ‖u_T‖.
                let x: [f64; MAX_DIM] = std::array::from_fn(|_| random());
                let mut r = x;
                set.project(&mut r[..d]);
                let mut u: [f64; MAX_DIM] = std::array::from_fn(|k| r[k] - x[k]);
                if let Set::Coulomb { mu, .. } = set {
                    u[0] -= mu * norm(&u[1..d]);
                }
                let mut other = r;
                other[0] += 0.1;
                for equation in [Equation::FrozenProjections, Equation::FischerBurmeister, Equation::ActiveSet] {
                    // A set that is not split has one factor.
                    let rho = if set.is_friction() { (0.8, 1.1) } else { (0.8, 0.8) };
                    let size = |r: &[f64]| norm(&equation.at(set, r, &u[..d], rho).f[..d]);
                    // A root loses half of the digits at the kink of the root.
                    let limit = if equation == Equation::FischerBurmeister { 1e-7 } else { 1e-14 };
                    assert!(size(&r[..d]) <= limit, "{equation:?} {set:?} {r:?} {u:?}: {}", size(&r[..d]));
                    let mut map = [0.0; MAX_DIM];
                    set.natural_map(&other[..d], &u[..d], &mut map);
                    assert!(norm(&map[..d]) < 1e-9 || size(&other[..d]) > 1e-6, "{equation:?} {set:?}");
                }
            }
        }
    }
}
