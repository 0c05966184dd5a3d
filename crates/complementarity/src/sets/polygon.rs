//! The section of a polyhedral friction cone: a convex polygon around the origin.

use serde::{Deserialize, Serialize};

/// conv{d_1, …, d_m} in the tangent plane, counter-clockwise, with the origin inside.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<[f64; 2]>", into = "Vec<[f64; 2]>")]
pub struct Polygon {
    generators: Vec<[f64; 2]>,
}

/// Generators that do not make a polygon around the origin.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PolygonError {
    /// Fewer than three generators.
    #[error("a polyhedral friction cone needs at least 3 generators, got {0}")]
    TooFew(usize),
    /// A generator that breaks convexity, order, or is not finite.
    #[error("generator {0} is not a corner of a convex polygon around the origin (counter-clockwise order, finite)")]
    NotConvex(usize),
}

type V2 = [f64; 2];

fn cross(a: V2, b: V2) -> f64 {
    a[0] * b[1] - a[1] * b[0]
}

fn dot2(a: V2, b: V2) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}

fn sub(a: V2, b: V2) -> V2 {
    [a[0] - b[0], a[1] - b[1]]
}

impl TryFrom<Vec<V2>> for Polygon {
    type Error = PolygonError;
    fn try_from(generators: Vec<V2>) -> Result<Self, PolygonError> {
        Self::new(generators)
    }
}

impl From<Polygon> for Vec<V2> {
    fn from(p: Polygon) -> Self {
        p.generators
    }
}

impl Polygon {
    /// A polygon from its corners in counter-clockwise order.
    pub fn new(generators: Vec<V2>) -> Result<Self, PolygonError> {
        let m = generators.len();
        if m < 3 {
            return Err(PolygonError::TooFew(m));
        }
        for j in 0..m {
            let (a, b, c) = (generators[j], generators[(j + 1) % m], generators[(j + 2) % m]);
            let turns_left = cross(sub(b, a), sub(c, b)) > 0.0;
            let origin_inside = cross(a, b) > 0.0;
            if !(turns_left && origin_inside && a[0].is_finite() && a[1].is_finite()) {
                return Err(PolygonError::NotConvex((j + 1) % m));
            }
        }
        // Left turns alone allow a star that winds around several times: the angles must sum to one turn.
        let turn: f64 = (0..m)
            .map(|j| {
                let (a, b) = (generators[j], generators[(j + 1) % m]);
                cross(a, b).atan2(dot2(a, b))
            })
            .sum();
        if (turn - std::f64::consts::TAU).abs() > 1e-6 {
            return Err(PolygonError::NotConvex(0));
        }
        Ok(Self { generators })
    }

    /// The regular polygon with `facets` corners on the unit circle, the first at (1, 0).
    pub fn regular(facets: usize) -> Result<Self, PolygonError> {
        let step = std::f64::consts::TAU / facets.max(1) as f64;
        Self::new((0..facets).map(|j| [(step * j as f64).cos(), (step * j as f64).sin()]).collect())
    }

    /// The corners.
    pub fn generators(&self) -> &[V2] {
        &self.generators
    }

    fn edge(&self, j: usize) -> (V2, V2) {
        (self.generators[j], self.generators[(j + 1) % self.generators.len()])
    }

    /// Support function max_j d_j·v.
    pub fn support(&self, v: V2) -> f64 {
        self.generators.iter().map(|&d| dot2(d, v)).fold(f64::NEG_INFINITY, f64::max)
    }

    /// Gauge: the smallest ρ with x ∈ ρ·conv{d_j}.
    pub fn gauge(&self, x: V2) -> f64 {
        let mut g: f64 = 0.0;
        for j in 0..self.generators.len() {
            let (a, b) = self.edge(j);
            // The edge line: cross(p − a, b − a) = 0, scaled by ρ.
            g = g.max(cross(x, sub(b, a)) / cross(a, b));
        }
        g
    }

    /// Nearest point of radius·conv{d_j}, in place; optionally the Jacobian (row by row). Returns the
    /// derivative of the nearest point with respect to the radius.
    pub fn project(&self, radius: f64, x: &mut [f64], jac: Option<&mut [f64]>) -> V2 {
        let p = [x[0], x[1]];
        let mut best = f64::INFINITY;
        let mut nearest = p;
        let mut j_best = [1.0, 0.0, 0.0, 1.0];
        let mut by_radius = [0.0, 0.0];
        if self.gauge(p) > radius {
            for j in 0..self.generators.len() {
                let (a, b) = self.edge(j);
                let (ra, e) = ([radius * a[0], radius * a[1]], sub(b, a));
                let s = dot2(sub(p, ra), e) / dot2(e, e);
                let (candidate, jacobian, derivative) = if s > 0.0 && s < radius {
                    // Projection onto the line ρa + s e: only the part of x along e passes.
                    let q = [ra[0] + s * e[0], ra[1] + s * e[1]];
                    let n2 = dot2(e, e);
                    let jac = [e[0] * e[0] / n2, e[0] * e[1] / n2, e[0] * e[1] / n2, e[1] * e[1] / n2];
                    let f = dot2(a, e) / n2;
                    (q, jac, [a[0] - f * e[0], a[1] - f * e[1]])
                } else {
                    (ra, [0.0; 4], a)
                };
                let d = sub(p, candidate);
                if dot2(d, d) < best {
                    best = dot2(d, d);
                    nearest = candidate;
                    j_best = jacobian;
                    by_radius = derivative;
                }
            }
        }
        x[0] = nearest[0];
        x[1] = nearest[1];
        if let Some(jac) = jac {
            jac[..4].copy_from_slice(&j_best);
        }
        by_radius
    }

    /// Nearest point of the cone {(s, p): p ∈ μ s conv{d_j}}, in place; optionally the Jacobian.
    pub fn project_cone(&self, mu: f64, x: &mut [f64], jac: Option<&mut [f64]>) {
        let p = [x[0], x[1], x[2]];
        let mut best = f64::INFINITY;
        let mut nearest = p;
        let mut face = [0.0; 9];
        let inside = p[0] >= 0.0 && self.gauge([p[1], p[2]]) <= mu * p[0];
        if inside {
            face = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
        } else {
            let dot3 = |a: [f64; 3], b: [f64; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
            let mut offer = |q: [f64; 3], f: [f64; 9]| {
                let d = [p[0] - q[0], p[1] - q[1], p[2] - q[2]];
                if dot3(d, d) < best {
                    best = dot3(d, d);
                    nearest = q;
                    face = f;
                }
            };
            offer([0.0; 3], [0.0; 9]);
            for j in 0..self.generators.len() {
                let (da, db) = self.edge(j);
                let a = [1.0, mu * da[0], mu * da[1]];
                let b = [1.0, mu * db[0], mu * db[1]];
                let (aa, ab, bb) = (dot3(a, a), dot3(a, b), dot3(b, b));
                let (pa, pb) = (dot3(p, a), dot3(p, b));
                // Edge a.
                if pa > 0.0 {
                    let s = pa / aa;
                    offer([s * a[0], s * a[1], s * a[2]], std::array::from_fn(|k| a[k / 3] * a[k % 3] / aa));
                }
                // Facet between a and b.
                let det = aa * bb - ab * ab;
                let (ca, cb) = ((pa * bb - pb * ab) / det, (pb * aa - pa * ab) / det);
                if ca > 0.0 && cb > 0.0 {
                    let q = [ca * a[0] + cb * b[0], ca * a[1] + cb * b[1], ca * a[2] + cb * b[2]];
                    offer(
                        q,
                        std::array::from_fn(|k| {
                            let (i, l) = (k / 3, k % 3);
                            (bb * a[i] * a[l] - ab * (a[i] * b[l] + b[i] * a[l]) + aa * b[i] * b[l]) / det
                        }),
                    );
                }
            }
        }
        x[..3].copy_from_slice(&nearest);
        if let Some(jac) = jac {
            jac[..9].copy_from_slice(&face);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_generators_are_named() {
        assert_eq!(Polygon::regular(2), Err(PolygonError::TooFew(2)));
        assert!(Polygon::new(vec![[1.0, 0.0], [0.0, -1.0], [-1.0, 0.0], [0.0, 1.0]]).is_err());
        assert!(Polygon::new(vec![[1.0, 0.0], [2.0, 0.0], [3.0, 1.0]]).is_err());
        assert!(Polygon::new(vec![[1.0, 0.0], [f64::NAN, 1.0], [-1.0, -1.0]]).is_err());
        // A pentagram turns left at every corner but winds around twice.
        let star = (0..5).map(|j| (f64::from(j) * 0.8 * std::f64::consts::PI).sin_cos()).map(|(s, c)| [c, s]).collect();
        assert!(Polygon::new(star).is_err());
    }

    #[test]
    fn gauge_and_support_of_a_square() {
        let square = Polygon::regular(4).unwrap();
        assert!((square.gauge([0.5, 0.5]) - 1.0).abs() < 1e-15);
        assert!((square.gauge([2.0, 0.0]) - 2.0).abs() < 1e-15);
        assert!((square.support([3.0, 1.0]) - 3.0).abs() < 1e-15);
    }
}
