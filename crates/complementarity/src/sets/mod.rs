//! The convex sets of percussions, with projection, projection Jacobian and mode.
//!
//! A block r of a one-step problem lies in a [`Set`] and is paired with a velocity u by
//!
//! ```text
//! −û ∈ N_C(r)   ⇔   r = proj_C(r − ρ û)   for one, hence every, ρ > 0
//! ```
//!
//! For a fixed convex set û = u. A friction contact r = (r_N, r_T) has the cone
//! K = {r_T ∈ r_N·S} with the section S = μ·unit ball, or μ·conv{d_j} for a polyhedral cone, and
//! the non-associated law `0 ≤ u_N ⊥ r_N ≥ 0, −u_T ∈ N_{r_N S}(r_T)`. Both of its forms are used:
//!
//! - one inclusion into the cone with û = u + σ(u_T) n, where σ(u_T) = max_{s ∈ S} −s·u_T is
//!   μ‖u_T‖ for the ball \[DeSaxce1998\]; the residual of the whole crate is written with it;
//! - two inclusions into R₊ and the section frozen at the present normal percussion
//!   \[AlartCurnier1991\], [Studer2008, (19)]: projected relaxation, Newton, and the modes.
//!
//! **Modes** [Studer2008, §4]. A law is in *constraint* mode when the argument of its projection
//! lies inside the set (then u = 0 is enforced), else *impressed*: the percussion is given by the
//! boundary of the set. An argument exactly on the boundary counts as impressed.

mod polygon;

pub use polygon::{Polygon, PolygonError};

use crate::linear::dense::{dot, norm};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Largest dimension of a block.
pub const MAX_DIM: usize = 6;

/// A convex set of percussions (N·s). See the [module](self).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Set {
    /// All of R^dim: a bilateral constraint.
    Free {
        /// Dimension, 1 to [`MAX_DIM`].
        dim: usize,
    },
    /// R₊: a frictionless unilateral contact.
    NonNegative,
    /// [lower, upper], either bound may be infinite (`null` in JSON). A box is one interval per component.
    Interval {
        /// Lower bound, N·s.
        #[serde(with = "lower_bound")]
        lower: f64,
        /// Upper bound, N·s.
        #[serde(with = "upper_bound")]
        upper: f64,
    },
    /// {‖r‖ ≤ radius} in R^dim: friction with a constant bound.
    Ball {
        /// Dimension, 1 to 3.
        dim: usize,
        /// Radius, N·s.
        radius: f64,
    },
    /// Coulomb friction cone {‖r_T‖ ≤ μ r_N}, normal component first.
    Coulomb {
        /// Tangential dimension, 1 to 3.
        dim: usize,
        /// Friction coefficient.
        mu: f64,
    },
    /// Polyhedral friction cone {r_T ∈ μ r_N conv{d_j}}, tangential dimension 2, normal component first.
    Polyhedral {
        /// Friction coefficient.
        mu: f64,
        /// The generators d_j.
        polygon: Arc<Polygon>,
    },
}

mod lower_bound {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    pub(super) fn serialize<S: Serializer>(v: &f64, s: S) -> Result<S::Ok, S::Error> {
        v.is_finite().then_some(*v).serialize(s)
    }
    pub(super) fn deserialize<'a, D: Deserializer<'a>>(d: D) -> Result<f64, D::Error> {
        Ok(Option::<f64>::deserialize(d)?.unwrap_or(f64::NEG_INFINITY))
    }
}

mod upper_bound {
    pub(super) use super::lower_bound::serialize;
    use serde::{Deserialize, Deserializer};
    pub(super) fn deserialize<'a, D: Deserializer<'a>>(d: D) -> Result<f64, D::Error> {
        Ok(Option::<f64>::deserialize(d)?.unwrap_or(f64::INFINITY))
    }
}

/// A set whose parameters make no sense.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SetError {
    /// Friction coefficient negative or not finite.
    #[error("friction coefficient must be finite and >= 0, got {0}")]
    Friction(f64),
    /// Radius negative or not finite.
    #[error("friction bound must be finite and >= 0, got {0}")]
    Radius(f64),
    /// Empty or undefined interval.
    #[error("interval [{lower}, {upper}] is empty or undefined")]
    Interval {
        /// Lower bound.
        lower: f64,
        /// Upper bound.
        upper: f64,
    },
    /// Dimension out of range.
    #[error("dimension {dim} is outside 1..={max}")]
    Dimension {
        /// What was given.
        dim: usize,
        /// Largest that is supported.
        max: usize,
    },
}

/// Whether a law enforces its constraint or impresses its percussion. See the [module](self).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Inside the set: velocity zero is enforced (σ̂ = 0).
    Constraint,
    /// On the boundary of the set: the percussion is given (σ̂ = 1).
    Impressed,
}

/// Modes of one block: of the set itself or of the normal law, and of the friction law if there is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct BlockMode {
    /// Mode of the normal law, or of the only law.
    pub normal: Mode,
    /// Mode of the friction law of a contact.
    pub tangential: Option<Mode>,
}

impl Set {
    /// Dimension of the block.
    #[inline]
    pub fn dim(&self) -> usize {
        match self {
            Set::Free { dim } | Set::Ball { dim, .. } => *dim,
            Set::NonNegative | Set::Interval { .. } => 1,
            Set::Coulomb { dim, .. } => dim.saturating_add(1),
            Set::Polyhedral { .. } => 3,
        }
    }

    /// Whether the normal component comes first and the section depends on it.
    #[inline]
    pub fn is_friction(&self) -> bool {
        matches!(self, Set::Coulomb { .. } | Set::Polyhedral { .. })
    }

    /// Checks the parameters.
    pub fn validate(&self) -> Result<(), SetError> {
        let dimension = |dim: usize, max: usize| {
            if (1..=max).contains(&dim) { Ok(()) } else { Err(SetError::Dimension { dim, max }) }
        };
        let friction = |mu: f64| if mu >= 0.0 && mu.is_finite() { Ok(()) } else { Err(SetError::Friction(mu)) };
        match *self {
            Set::Free { dim } => dimension(dim, MAX_DIM),
            Set::NonNegative => Ok(()),
            Set::Interval { lower, upper } => {
                // NaN fails the comparison; [∞, ∞] has no member.
                if lower <= upper && lower < f64::INFINITY && upper > f64::NEG_INFINITY {
                    Ok(())
                } else {
                    Err(SetError::Interval { lower, upper })
                }
            }
            Set::Ball { dim, radius } => {
                dimension(dim, 3)?;
                if radius >= 0.0 && radius.is_finite() { Ok(()) } else { Err(SetError::Radius(radius)) }
            }
            Set::Coulomb { dim, mu } => dimension(dim, 3).and(friction(mu)),
            Set::Polyhedral { mu, .. } => friction(mu),
        }
    }

    /// The nearest point of the set, in place.
    pub fn project(&self, x: &mut [f64]) {
        match self {
            Set::Free { .. } => {}
            Set::NonNegative => x[0] = x[0].max(0.0),
            Set::Interval { lower, upper } => x[0] = clamp(x[0], *lower, *upper),
            Set::Ball { radius, .. } => project_ball(x, *radius),
            Set::Coulomb { mu, .. } => {
                let t = norm(&x[1..]);
                if x[0] >= 0.0 && t <= mu * x[0] {
                } else if mu * t <= -x[0] {
                    x.fill(0.0);
                } else {
                    let s = (x[0] + mu * t) / (1.0 + mu * mu);
                    x[0] = s;
                    let f = mu * s / t;
                    for v in &mut x[1..] {
                        *v *= f;
                    }
                }
            }
            Set::Polyhedral { mu, polygon } => {
                polygon.project_cone(*mu, x, None);
            }
        }
    }

    /// Jacobian of [`Set::project`] at `x`, row by row; at a kink, the element of the side that is
    /// inside the set.
    pub fn project_jacobian(&self, x: &[f64], jac: &mut [f64]) {
        let d = self.dim();
        match self {
            Set::Free { .. } => identity(jac, d),
            Set::NonNegative => jac[0] = if x[0] >= 0.0 { 1.0 } else { 0.0 },
            Set::Interval { lower, upper } => jac[0] = if x[0] >= *lower && x[0] <= *upper { 1.0 } else { 0.0 },
            Set::Ball { radius, .. } => ball_jacobian(x, *radius, jac),
            Set::Coulomb { mu, .. } => {
                let t = norm(&x[1..]);
                if x[0] >= 0.0 && t <= mu * x[0] {
                    identity(jac, d);
                } else if mu * t <= -x[0] {
                    jac[..d * d].fill(0.0);
                } else {
                    // P = s (1, μ t̂), s = (x_N + μ‖x_T‖)/(1 + μ²).
                    let w = 1.0 / (1.0 + mu * mu);
                    let s = (x[0] + mu * t) * w;
                    for i in 0..d {
                        let a = if i == 0 { 1.0 } else { mu * x[i] / t };
                        for j in 0..d {
                            let b = if j == 0 { 1.0 } else { mu * x[j] / t };
                            let mut v = w * a * b;
                            if i > 0 && j > 0 {
                                v += s * mu / t * (delta(i, j) - x[i] * x[j] / (t * t));
                            }
                            jac[i * d + j] = v;
                        }
                    }
                }
            }
            Set::Polyhedral { mu, polygon } => {
                let mut p = [x[0], x[1], x[2]];
                polygon.project_cone(*mu, &mut p, Some(jac));
            }
        }
    }

    /// Projection with the friction section frozen at `normal`: x_N onto R₊, x_T onto max(0, normal)·S.
    /// The same as [`Set::project`] for sets without a section.
    #[inline]
    pub fn project_frozen(&self, normal: f64, x: &mut [f64]) {
        match self {
            Set::Coulomb { mu, .. } => {
                x[0] = x[0].max(0.0);
                project_ball(&mut x[1..], mu * normal.max(0.0));
            }
            Set::Polyhedral { mu, polygon } => {
                x[0] = x[0].max(0.0);
                polygon.project(mu * normal.max(0.0), &mut x[1..3], None);
            }
            _ => self.project(x),
        }
    }

    /// Jacobian of [`Set::project_frozen`] with respect to `x` (row by row), and its derivative with
    /// respect to `normal` in `d_normal`.
    pub fn frozen_jacobian(&self, normal: f64, x: &[f64], jac: &mut [f64], d_normal: &mut [f64]) {
        let d = self.dim();
        d_normal[..d].fill(0.0);
        if !self.is_friction() {
            return self.project_jacobian(x, jac);
        }
        jac[..d * d].fill(0.0);
        jac[0] = if x[0] > 0.0 { 1.0 } else { 0.0 };
        let mut tangential = [0.0; 9];
        let n = d - 1;
        match self {
            Set::Coulomb { mu, .. } => {
                let radius = mu * normal.max(0.0);
                ball_jacobian(&x[1..d], radius, &mut tangential);
                let t = norm(&x[1..d]);
                if t >= radius && normal > 0.0 && t > 0.0 {
                    for i in 1..d {
                        d_normal[i] = mu * x[i] / t;
                    }
                }
            }
            Set::Polyhedral { mu, polygon } => {
                let mut p = [x[1], x[2]];
                let by_radius = polygon.project(mu * normal.max(0.0), &mut p, Some(&mut tangential));
                if normal > 0.0 {
                    d_normal[1] = mu * by_radius[0];
                    d_normal[2] = mu * by_radius[1];
                }
            }
            _ => {}
        }
        for i in 0..n {
            for j in 0..n {
                jac[(i + 1) * d + j + 1] = tangential[i * n + j];
            }
        }
    }

    /// The velocity û of the single inclusion −û ∈ N_C(r): u, with σ(u_T) added to the normal
    /// component of a friction contact.
    #[inline]
    pub fn modified_velocity(&self, u: &mut [f64]) {
        match self {
            Set::Coulomb { mu, .. } => u[0] += mu * norm(&u[1..]),
            Set::Polyhedral { mu, polygon } => u[0] += mu * polygon.support([-u[1], -u[2]]),
            _ => {}
        }
    }

    /// Natural map of the block with unit scaling, r − proj_C(r − û).
    ///
    /// Where r − û lies inside the set this is û itself and is returned as such: a velocity does not drown in the
    /// rounding of a large percussion.
    #[inline]
    pub fn natural_map(&self, r: &[f64], u: &[f64], out: &mut [f64]) {
        self.natural_map_scaled(1.0, r, u, out);
    }

    /// The same for the set with its bounds times `scale`, of percussions that have been multiplied by it.
    #[inline]
    pub(crate) fn natural_map_scaled(&self, scale: f64, r: &[f64], u: &[f64], out: &mut [f64]) {
        let d = self.dim();
        match self {
            Set::NonNegative => out[0] = r[0].min(u[0]),
            Set::Free { .. } => out[..d].copy_from_slice(&u[..d]),
            Set::Interval { lower, upper } => out[0] = clamp(u[0], r[0] - scale * upper, r[0] - scale * lower),
            Set::Ball { .. } | Set::Coulomb { .. } | Set::Polyhedral { .. } => {
                out[..d].copy_from_slice(&u[..d]);
                self.modified_velocity(&mut out[..d]);
                let mut x = [0.0; MAX_DIM];
                for i in 0..d {
                    x[i] = r[i] - out[i];
                }
                let before = x;
                match self {
                    Set::Ball { radius, .. } => project_ball(&mut x[..d], scale * radius),
                    _ => self.project(&mut x[..d]),
                }
                if x != before {
                    for i in 0..d {
                        out[i] = r[i] - x[i];
                    }
                }
            }
        }
    }

    /// Distance of `r` from the set: the cone violation, N·s.
    pub fn distance(&self, r: &[f64]) -> f64 {
        let d = self.dim();
        let mut x = [0.0; MAX_DIM];
        x[..d].copy_from_slice(&r[..d]);
        self.project(&mut x[..d]);
        for i in 0..d {
            x[i] -= r[i];
        }
        norm(&x[..d])
    }

    /// Modes at a solution (r, u), with any ρ > 0 (kg): from the arguments r − ρ u of the frozen projections.
    pub fn mode(&self, r: &[f64], u: &[f64], rho: f64) -> BlockMode {
        let d = self.dim();
        let inside = |yes: bool| if yes { Mode::Constraint } else { Mode::Impressed };
        let single = |m: Mode| BlockMode { normal: m, tangential: None };
        match self {
            Set::Free { .. } => single(Mode::Constraint),
            Set::NonNegative => single(inside(r[0] - rho * u[0] > 0.0)),
            Set::Interval { lower, upper } => {
                let x = r[0] - rho * u[0];
                single(inside(x > *lower && x < *upper))
            }
            Set::Ball { radius, .. } => {
                let mut x = [0.0; 3];
                for i in 0..d {
                    x[i] = r[i] - rho * u[i];
                }
                single(inside(norm(&x[..d]) < *radius))
            }
            Set::Coulomb { .. } | Set::Polyhedral { .. } => {
                let closed = r[0] - rho * u[0] > 0.0;
                let mut x = [0.0; 3];
                for i in 1..d {
                    x[i - 1] = r[i] - rho * u[i];
                }
                let stick = closed
                    && match self {
                        Set::Coulomb { mu, .. } => norm(&x[..d - 1]) < mu * r[0],
                        Set::Polyhedral { mu, polygon } => polygon.gauge([x[0], x[1]]) < mu * r[0],
                        _ => false,
                    };
                BlockMode { normal: inside(closed), tangential: Some(inside(stick)) }
            }
        }
    }
}

fn clamp(x: f64, lower: f64, upper: f64) -> f64 {
    // Unlike f64::clamp this keeps NaN and does not panic on NaN bounds.
    if x < lower {
        lower
    } else if x > upper {
        upper
    } else {
        x
    }
}

fn project_ball(x: &mut [f64], radius: f64) {
    if x.len() == 1 {
        x[0] = clamp(x[0], -radius, radius);
        return;
    }
    let t2 = dot(x, x);
    if t2 > radius * radius {
        let f = radius / t2.sqrt();
        for v in x {
            *v *= f;
        }
    }
}

fn ball_jacobian(x: &[f64], radius: f64, jac: &mut [f64]) {
    let d = x.len();
    let t = norm(x);
    if t < radius {
        identity(jac, d);
    } else if t == 0.0 {
        jac[..d * d].fill(0.0);
    } else {
        for i in 0..d {
            for j in 0..d {
                jac[i * d + j] = radius / t * (delta(i, j) - x[i] * x[j] / (t * t));
            }
        }
    }
}

fn delta(i: usize, j: usize) -> f64 {
    if i == j { 1.0 } else { 0.0 }
}

fn identity(jac: &mut [f64], d: usize) {
    for i in 0..d {
        for j in 0..d {
            jac[i * d + j] = delta(i, j);
        }
    }
}
