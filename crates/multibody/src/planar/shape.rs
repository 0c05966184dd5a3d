//! Shapes, by what a contact needs to know of them: the signed distance to their surface, and their points.
//!
//! A contact is always that of a **point** with a radius ρ (a disc, the end of a segment, a corner) and a **surface** with the signed
//! distance s(y) in the frame of its body, positive outside:
//!
//! ```text
//! g_N = s(y) − ρ,    n = ∇s,    ∇²s = κ t tᵀ,  t ⟂ n
//! ```
//!
//! | shape | points | surface s(y) | κ |
//! |---|---|---|---|
//! | disc | its centre, ρ = r | ‖y‖ − r | 1/‖y‖ |
//! | half-plane | - | n·(y − p) | 0 |
//! | segment | its ends, ρ = half thickness | distance to the segment − half thickness | 0, at the ends 1/distance |
//! | inner circle | - | R − ‖y‖ | −1/‖y‖ |
//! | box | its corners, ρ = 0 | distance to the rectangle, inside − distance to a side | 0, at corners 1/distance |
//!
//! Two shapes touch by the points of each against the surface of the other. A disc is nothing but its point: its distance to a surface
//! is exact whatever part of that is nearest, so that a disc has one contact with any shape. For the others the nearest points of two
//! shapes without overlap are always a point of one and some part of the surface of the other, so that none is missed. A half-plane and
//! an inner circle reach to infinity, have no points, and do not touch each other.
//!
//! A point inside a box leaves it by a side that faces the middle of its own shape, of these the nearest. A shape that touches a side
//! lies wholly before it, so that this is the side that was passed; two boxes with a corner each in the other are
//! so never pushed in opposite directions.
//!
//! The distance to a segment has no sign: what crosses its middle line has passed. Half its thickness plus the radius of
//! the point is the penetration that it can stand; a pair where both are zero is refused.

use super::plane::{Turn, Vec2, add, dot, norm, perp, scale, sub};

/// A shape in the frame of its body, whose origin is the centre of mass. Lengths in m, angles in rad.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Shape {
    /// A disc.
    Disc {
        /// Its centre.
        centre: Vec2,
        /// Its radius.
        radius: f64,
    },
    /// Everything behind a line.
    HalfPlane {
        /// A point of the line.
        point: Vec2,
        /// The direction to the free side; any length.
        normal: Vec2,
    },
    /// A wall from one end to the other.
    Segment {
        /// One end.
        from: Vec2,
        /// The other end.
        to: Vec2,
        /// Half its thickness; its ends are round.
        radius: f64,
    },
    /// Everything outside a circle: a drum from within.
    InnerCircle {
        /// Centre of the circle.
        centre: Vec2,
        /// Its radius.
        radius: f64,
    },
    /// A rectangle.
    Box {
        /// Its centre.
        centre: Vec2,
        /// Half its width and height.
        half: Vec2,
        /// Its angle in the body.
        angle: f64,
    },
}

/// Signed distance to a surface with its derivatives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Surface {
    pub(crate) s: f64,
    pub(crate) n: Vec2,
    pub(crate) kappa: f64,
}

/// Distance to a centre of curvature; where that is met the direction is any.
#[inline]
fn radial(d: Vec2) -> Surface {
    let s = norm(d);
    if s > 0.0 { Surface { s, n: scale(1.0 / s, d), kappa: 1.0 / s } } else { Surface { s, n: [1.0, 0.0], kappa: 0.0 } }
}

impl Shape {
    /// A disc around the centre of mass.
    pub fn disc(radius: f64) -> Self {
        Shape::Disc { centre: [0.0, 0.0], radius }
    }

    /// A rectangle around the centre of mass.
    pub fn rectangle(width: f64, height: f64) -> Self {
        Shape::Box { centre: [0.0, 0.0], half: [0.5 * width, 0.5 * height], angle: 0.0 }
    }

    /// A half-plane through a point, free on the side of `normal`.
    pub fn half_plane(point: Vec2, normal: Vec2) -> Self {
        Shape::HalfPlane { point, normal }
    }

    /// A wall of a thickness.
    pub fn segment(from: Vec2, to: Vec2, thickness: f64) -> Self {
        Shape::Segment { from, to, radius: 0.5 * thickness }
    }

    /// A drum from within, around the centre of mass.
    pub fn inner_circle(radius: f64) -> Self {
        Shape::InnerCircle { centre: [0.0, 0.0], radius }
    }

    /// Name of the kind.
    pub fn kind(&self) -> &'static str {
        match self {
            Shape::Disc { .. } => "disc",
            Shape::HalfPlane { .. } => "half-plane",
            Shape::Segment { .. } => "segment",
            Shape::InnerCircle { .. } => "inner circle",
            Shape::Box { .. } => "rectangle",
        }
    }

    /// What is wrong with its numbers, if anything is.
    pub(crate) fn fault(&self) -> Option<String> {
        let finite = |list: &[f64]| list.iter().all(|v| v.is_finite());
        let positive = |what: &str, v: f64| {
            (!(v > 0.0 && v.is_finite())).then(|| format!("its {what} must be positive and finite, it is {v}"))
        };
        match *self {
            Shape::Disc { centre, .. } | Shape::InnerCircle { centre, .. } | Shape::Box { centre, .. }
                if !finite(&centre) =>
            {
                Some("its centre is not finite".into())
            }
            Shape::Disc { radius, .. } | Shape::InnerCircle { radius, .. } => positive("radius", radius),
            Shape::HalfPlane { point, normal } => {
                let length = norm(normal);
                let ok = finite(&point) && length > 0.0 && length.is_finite();
                (!ok).then(|| format!("its normal {normal:?} and point {point:?} do not make a line"))
            }
            Shape::Segment { from, to, radius } => {
                if !(finite(&from) && finite(&to)) {
                    return Some("its ends are not finite".into());
                }
                if !(radius >= 0.0 && radius.is_finite()) {
                    return Some(format!("its thickness must not be negative, it is {}", 2.0 * radius));
                }
                (norm(sub(to, from)) <= 0.0).then(|| "it has no extent: both ends are the same point".into())
            }
            Shape::Box { half, angle, .. } => {
                if !angle.is_finite() {
                    return Some("its angle is not finite".into());
                }
                positive("width", 2.0 * half[0]).or_else(|| positive("height", 2.0 * half[1]))
            }
        }
    }

    /// The same with unit normals.
    pub(crate) fn normalised(self) -> Self {
        match self {
            Shape::HalfPlane { point, normal } => Shape::HalfPlane { point, normal: scale(1.0 / norm(normal), normal) },
            other => other,
        }
    }

    /// Number of its points.
    #[inline]
    pub(crate) fn points(&self) -> usize {
        match self {
            Shape::Disc { .. } => 1,
            Shape::Segment { .. } => 2,
            Shape::Box { .. } => 4,
            Shape::HalfPlane { .. } | Shape::InnerCircle { .. } => 0,
        }
    }

    /// One of its points and the radius around it.
    #[inline]
    pub(crate) fn point(&self, i: usize) -> (Vec2, f64) {
        match *self {
            Shape::Disc { centre, radius } => (centre, radius),
            Shape::Segment { from, to, radius } => (if i == 0 { from } else { to }, radius),
            Shape::Box { centre, half, angle } => {
                let corner = [if i & 1 == 0 { -half[0] } else { half[0] }, if i & 2 == 0 { -half[1] } else { half[1] }];
                (add(centre, Turn::by(angle).apply(corner)), 0.0)
            }
            Shape::HalfPlane { point, .. } => (point, 0.0),
            Shape::InnerCircle { centre, .. } => (centre, 0.0),
        }
    }

    /// Signed distance at y with its derivatives, in the frame of the body, for a point of a shape around `middle`.
    #[inline]
    pub(crate) fn surface(&self, y: Vec2, middle: Vec2) -> Surface {
        match *self {
            Shape::Disc { centre, radius } => {
                let f = radial(sub(y, centre));
                Surface { s: f.s - radius, ..f }
            }
            Shape::InnerCircle { centre, radius } => {
                let f = radial(sub(y, centre));
                Surface { s: radius - f.s, n: scale(-1.0, f.n), kappa: -f.kappa }
            }
            Shape::HalfPlane { point, normal } => Surface { s: dot(normal, sub(y, point)), n: normal, kappa: 0.0 },
            Shape::Segment { from, to, radius } => {
                let along = sub(to, from);
                let length = norm(along);
                let e = scale(1.0 / length, along);
                let at = dot(e, sub(y, from));
                let f = if at <= 0.0 {
                    radial(sub(y, from))
                } else if at >= length {
                    radial(sub(y, to))
                } else {
                    let d = dot(perp(e), sub(y, from));
                    let side = if d < 0.0 { -1.0 } else { 1.0 };
                    Surface { s: d.abs(), n: scale(side, perp(e)), kappa: 0.0 }
                };
                Surface { s: f.s - radius, ..f }
            }
            Shape::Box { centre, half, angle } => {
                let turn = if angle == 0.0 { Turn::NONE } else { Turn::by(angle) };
                let y = turn.back(sub(y, centre));
                let sides = |y: Vec2| [if y[0] < 0.0 { -1.0 } else { 1.0 }, if y[1] < 0.0 { -1.0 } else { 1.0 }];
                let mut side = sides(y);
                let mut d = [y[0].abs() - half[0], y[1].abs() - half[1]];
                if d[0] <= 0.0 && d[1] <= 0.0 {
                    side = sides(turn.back(sub(middle, centre)));
                    d = [side[0] * y[0] - half[0], side[1] * y[1] - half[1]];
                }
                let f = if d[0] > 0.0 && d[1] > 0.0 {
                    let f = radial(d);
                    Surface { n: [side[0] * f.n[0], side[1] * f.n[1]], ..f }
                } else if d[0] > d[1] {
                    Surface { s: d[0], n: [side[0], 0.0], kappa: 0.0 }
                } else {
                    Surface { s: d[1], n: [0.0, side[1]], kappa: 0.0 }
                };
                Surface { n: turn.apply(f.n), ..f }
            }
        }
    }

    /// Centre and radius of a circle around it; an infinite radius for what has no end.
    pub(crate) fn bound(&self) -> (Vec2, f64) {
        match *self {
            Shape::Disc { centre, radius } => (centre, radius),
            Shape::Segment { from, to, radius } => (scale(0.5, add(from, to)), 0.5 * norm(sub(to, from)) + radius),
            Shape::Box { centre, half, .. } => (centre, norm(half)),
            Shape::HalfPlane { point, .. } => (point, f64::INFINITY),
            Shape::InnerCircle { centre, .. } => (centre, f64::INFINITY),
        }
    }

    /// Whether a rotation of the body about its origin leaves it as it is.
    pub(crate) fn is_round(&self) -> bool {
        matches!(self, Shape::Disc { centre, .. } | Shape::InnerCircle { centre, .. } if *centre == [0.0, 0.0])
    }

    /// By how much its points can move at most if the body turns by 1 rad, m.
    pub(crate) fn lever(&self) -> f64 {
        match *self {
            Shape::Disc { centre, .. } | Shape::InnerCircle { centre, .. } => norm(centre),
            Shape::Segment { from, to, .. } => norm(from).max(norm(to)),
            Shape::Box { centre, half, .. } => norm(centre) + norm(half),
            Shape::HalfPlane { .. } => f64::INFINITY,
        }
    }

    /// Area (m²), centroid, and second moment of area about the centroid (m⁴), of what can have a mass by its density.
    pub(crate) fn area(&self) -> Option<(f64, Vec2, f64)> {
        use std::f64::consts::PI;
        match *self {
            Shape::Disc { centre, radius: r } => Some((PI * r * r, centre, 0.5 * PI * r.powi(4))),
            Shape::Box { centre, half: [a, b], .. } => Some((4.0 * a * b, centre, 4.0 * a * b * (a * a + b * b) / 3.0)),
            Shape::Segment { from, to, radius: r } if r > 0.0 => {
                let l = norm(sub(to, from));
                let (middle, ends) = (2.0 * r * l, PI * r * r);
                // Half discs: their centroids lie 4r/3π beyond the ends.
                let c = 4.0 * r / (3.0 * PI);
                let half_disc = 0.5 * ends * (0.5 * r * r - c * c + (0.5 * l + c) * (0.5 * l + c));
                let inertia = middle * (l * l + 4.0 * r * r) / 12.0 + 2.0 * half_disc;
                Some((middle + ends, scale(0.5, add(from, to)), inertia))
            }
            _ => None,
        }
    }
}

/// Points of the first shape against the surface of the second, and of the second against the first: how many of each.
pub(crate) fn encounters(a: &Shape, b: &Shape) -> (usize, usize) {
    match (a, b) {
        // A disc is its point.
        (Shape::Disc { .. }, _) => (1, 0),
        (_, Shape::Disc { .. }) => (0, 1),
        // What has no end is touched by points.
        (Shape::HalfPlane { .. } | Shape::InnerCircle { .. }, other) => (0, other.points()),
        (other, Shape::HalfPlane { .. } | Shape::InnerCircle { .. }) => (other.points(), 0),
        (a, b) => (a.points(), b.points()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples() -> Vec<Shape> {
        vec![
            Shape::Disc { centre: [0.3, -0.2], radius: 0.7 },
            Shape::HalfPlane { point: [0.1, 0.2], normal: [0.6, 0.8] },
            Shape::Segment { from: [-1.0, 0.2], to: [0.8, -0.5], radius: 0.1 },
            Shape::InnerCircle { centre: [0.2, 0.1], radius: 2.0 },
            Shape::Box { centre: [0.1, -0.3], half: [0.9, 0.4], angle: 0.4 },
        ]
    }

    /// Points that lie off the kinks of all surfaces.
    fn places() -> Vec<Vec2> {
        (0..200).map(|i| [1.7 * (1.3 * f64::from(i)).sin(), 1.9 * (0.7 * f64::from(i)).cos()]).collect()
    }

    #[test]
    fn gradients_and_curvatures_are_those_of_the_distance() {
        let e = 1e-6;
        for shape in samples() {
            for y in places() {
                let f = shape.surface(y, y);
                let at = |dx: f64, dy: f64| shape.surface([y[0] + dx, y[1] + dy], y);
                // Not across a kink: the curvature must be the same on both sides of the point.
                if [at(e, 0.0), at(-e, 0.0), at(0.0, e), at(0.0, -e)].iter().any(|o| dot(o.n, f.n) < 0.99) {
                    continue;
                }
                for (d, k) in [([e, 0.0], 0), ([0.0, e], 1)] {
                    let (plus, minus) = (at(d[0], d[1]), at(-d[0], -d[1]));
                    let slope = (plus.s - minus.s) / (2.0 * e);
                    assert!((slope - f.n[k]).abs() < 1e-8, "{shape:?} at {y:?}: {slope} {:?}", f.n);
                    if plus.kappa.signum() != minus.kappa.signum() || (plus.kappa == 0.0) != (minus.kappa == 0.0) {
                        continue;
                    }
                    let t = perp(f.n);
                    for j in 0..2 {
                        let turn = (plus.n[j] - minus.n[j]) / (2.0 * e);
                        assert!((turn - f.kappa * t[j] * t[k]).abs() < 1e-7, "{shape:?} at {y:?}: {turn}");
                    }
                }
                assert!((norm(f.n) - 1.0).abs() < 1e-14);
            }
        }
    }

    #[test]
    fn distances_are_distances() {
        // Outside, the foot y − s n lies on the surface, whatever the shape.
        for shape in samples() {
            for y in places() {
                let f = shape.surface(y, y);
                if f.s > 1e-3 {
                    let foot = shape.surface(sub(y, scale(f.s, f.n)), y);
                    assert!(foot.s.abs() < 1e-12, "{shape:?} at {y:?}: {}", foot.s);
                }
            }
        }
        let square = Shape::rectangle(2.0, 2.0);
        assert_eq!(square.surface([0.5, 0.2], [0.5, 0.2]).s, -0.5);
        assert_eq!(square.surface([4.0, 5.0], [4.0, 5.0]).s, 5.0);
        assert_eq!(Shape::inner_circle(2.0).surface([0.0, 1.5], [0.0, 1.5]).s, 0.5);
    }

    #[test]
    fn areas_and_moments_are_those_of_a_count() {
        for shape in samples() {
            let Some((area, centroid, moment)) = shape.area() else { continue };
            let (n, w) = (1200, 2.5);
            let h = 2.0 * w / f64::from(n);
            let (mut count, mut second) = (0.0, 0.0);
            for i in 0..n {
                for j in 0..n {
                    let y = [-w + (f64::from(i) + 0.5) * h, -w + (f64::from(j) + 0.5) * h];
                    if shape.surface(y, y).s < 0.0 {
                        count += h * h;
                        let d = sub(y, centroid);
                        second += h * h * dot(d, d);
                    }
                }
            }
            // Cells along the border: a random half of some thousand of them.
            assert!((count / area - 1.0).abs() < 2e-3, "{shape:?}: {count} {area}");
            assert!((second / moment - 1.0).abs() < 4e-3, "{shape:?}: {second} {moment}");
        }
    }

    #[test]
    fn shapes_without_extent_are_refused() {
        for (shape, part) in [
            (Shape::disc(0.0), "radius"),
            (Shape::disc(f64::NAN), "radius"),
            (Shape::disc(-1.0), "radius"),
            (Shape::inner_circle(0.0), "radius"),
            (Shape::rectangle(1.0, 0.0), "height"),
            (Shape::segment([1.0, 1.0], [1.0, 1.0], 0.1), "extent"),
            (Shape::segment([1.0, 1.0], [2.0, 1.0], -0.1), "thickness"),
            (Shape::half_plane([0.0, 0.0], [0.0, 0.0]), "line"),
            (Shape::Disc { centre: [f64::INFINITY, 0.0], radius: 1.0 }, "centre"),
        ] {
            let fault = shape.fault().unwrap_or_default();
            assert!(fault.contains(part), "{shape:?}: {fault}");
        }
        assert!(samples().iter().all(|s| s.fault().is_none()));
    }
}
