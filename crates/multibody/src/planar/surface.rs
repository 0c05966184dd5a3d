//! Points of shapes, and signed distances to their surfaces.
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
//! Two shapes touch by the points of each and the surface of the other. A disc is a point with a radius. Its distance to a surface
//! is exact whatever part of that is nearest, so that a disc has one contact with any shape. For all other pairs without overlap the nearest
//! points are a point of one shape and some part of the surface of the other, so that no contact is missed. A half-plane and
//! an inner circle are unbounded, have no points, and do not touch each other.
//!
//! A point inside a box is pushed out through the nearest side that faces the middle of the point's own shape. A shape that touches a side
//! lies entirely in front of it, so that this is the side it came through. Two boxes with a corner each inside the other are
//! therefore never pushed in opposite directions.
//!
//! Boxes of one width that lie flush have corners on the lines of each other's sides, where rounding would decide between two sides. A side that the middle lies
//! behind is then left out.
//!
//! The distance to a segment has no sign: a point that crosses the middle line has passed. The penetration may therefore be at most half the
//! thickness plus the radius of the point; a pair where both are zero is refused.

use super::plane::{Rotation, Vec2, add, dot, norm, perp, scale, sub};
use super::shape::Shape;

/// Distance of a point from the line of a side, over half the width, that is rounding.
const FLUSH: f64 = 1e-9;

/// Signed distance to a surface with its derivatives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Surface {
    pub(crate) s: f64,
    pub(crate) n: Vec2,
    pub(crate) kappa: f64,
}

/// Distance to a centre of curvature; the direction at the centre itself is arbitrary.
#[inline]
fn radial(d: Vec2) -> Surface {
    let s = norm(d);
    if s > 0.0 { Surface { s, n: scale(1.0 / s, d), kappa: 1.0 / s } } else { Surface { s, n: [1.0, 0.0], kappa: 0.0 } }
}

impl Shape {
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
                (add(centre, Rotation::by(angle).apply(corner)), 0.0)
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
                let turn = if angle == 0.0 { Rotation::NONE } else { Rotation::by(angle) };
                let y = turn.back(sub(y, centre));
                let sides = |y: Vec2| [if y[0] < 0.0 { -1.0 } else { 1.0 }, if y[1] < 0.0 { -1.0 } else { 1.0 }];
                let mut side = sides(y);
                let mut d = [y[0].abs() - half[0], y[1].abs() - half[1]];
                // A point on the line of a side that the middle lies behind slides along it, and touches the other side.
                let on_line = [d[0].abs() <= FLUSH * half[0], d[1].abs() <= FLUSH * half[1]];
                let along = if on_line[0] || on_line[1] {
                    let m = turn.back(sub(middle, centre));
                    let behind = |k: usize| on_line[k] && m[k].abs() < (1.0 - 2.0 * FLUSH) * half[k];
                    [behind(0), behind(1)]
                } else {
                    [false; 2]
                };
                let leave_out = |d: &mut [f64; 2]| {
                    if along[0] != along[1] {
                        d[usize::from(along[1])] = f64::NEG_INFINITY;
                    }
                };
                leave_out(&mut d);
                if d[0] <= 0.0 && d[1] <= 0.0 {
                    side = sides(turn.back(sub(middle, centre)));
                    d = [side[0] * y[0] - half[0], side[1] * y[1] - half[1]];
                    leave_out(&mut d);
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
}

/// How a shape takes part in contacts.
enum Role {
    /// By one point, which represents the whole shape.
    Point,
    /// By its points and its surface.
    Both,
    /// By its surface alone: it is unbounded.
    Surface,
}

impl Shape {
    fn role(&self) -> Role {
        match self {
            Shape::Disc { .. } => Role::Point,
            Shape::Segment { .. } | Shape::Box { .. } => Role::Both,
            Shape::HalfPlane { .. } | Shape::InnerCircle { .. } => Role::Surface,
        }
    }
}

/// Points of the first shape against the surface of the second, and of the second against the first: how many of each.
pub(crate) fn encounters(a: &Shape, b: &Shape) -> (usize, usize) {
    match (a.role(), b.role()) {
        (Role::Point, Role::Point | Role::Both | Role::Surface) => (1, 0),
        (Role::Both | Role::Surface, Role::Point) => (0, 1),
        (Role::Both, Role::Both) => (a.points(), b.points()),
        (Role::Both, Role::Surface) => (a.points(), 0),
        (Role::Surface, Role::Both) => (0, b.points()),
        (Role::Surface, Role::Surface) => (0, 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::planar::shape::samples::samples;

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
}
