//! Shapes of bodies.

use super::plane::{Vec2, add, norm, scale, sub};

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
    /// A half-plane: everything behind a line.
    HalfPlane {
        /// A point of the line.
        point: Vec2,
        /// The direction to the free side; any length.
        normal: Vec2,
    },
    /// A wall: a segment with round ends.
    Segment {
        /// One end.
        from: Vec2,
        /// The other end.
        to: Vec2,
        /// Half its thickness; its ends are round.
        radius: f64,
    },
    /// The inside of a drum: everything outside a circle is solid.
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

    /// A wall with a thickness.
    pub fn segment(from: Vec2, to: Vec2, thickness: f64) -> Self {
        Shape::Segment { from, to, radius: 0.5 * thickness }
    }

    /// The inside of a drum, around the centre of mass.
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

    /// Why its numbers are invalid, if they are.
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
            Shape::Disc { .. } | Shape::Segment { .. } | Shape::InnerCircle { .. } | Shape::Box { .. } => self,
        }
    }

    /// Centre and radius of a circle around it. The radius of an unbounded shape is infinite.
    pub(crate) fn bound(&self) -> (Vec2, f64) {
        match *self {
            Shape::Disc { centre, radius } => (centre, radius),
            Shape::Segment { from, to, radius } => (scale(0.5, add(from, to)), 0.5 * norm(sub(to, from)) + radius),
            Shape::Box { centre, half, .. } => (centre, norm(half)),
            Shape::HalfPlane { point, .. } => (point, f64::INFINITY),
            Shape::InnerCircle { centre, .. } => (centre, f64::INFINITY),
        }
    }

    /// Its smallest extent, m: the thickness; of a segment without one, the length. Infinite for an unbounded shape.
    pub(crate) fn extent(&self) -> f64 {
        match *self {
            Shape::Disc { radius, .. } => 2.0 * radius,
            Shape::Segment { from, to, radius } => {
                if radius == 0.0 {
                    norm(sub(to, from))
                } else {
                    2.0 * radius
                }
            }
            Shape::Box { half, .. } => 2.0 * half[0].min(half[1]),
            Shape::HalfPlane { .. } | Shape::InnerCircle { .. } => f64::INFINITY,
        }
    }

    /// Whether it is invariant under rotations of the body about its origin.
    pub(crate) fn is_round(&self) -> bool {
        match *self {
            Shape::Disc { centre, .. } | Shape::InnerCircle { centre, .. } => centre == [0.0, 0.0],
            Shape::HalfPlane { .. } | Shape::Segment { .. } | Shape::Box { .. } => false,
        }
    }

    /// Largest displacement of its points by a rotation of the body by 1 rad, m.
    pub(crate) fn lever_arm(&self) -> f64 {
        match *self {
            Shape::Disc { centre, .. } | Shape::InnerCircle { centre, .. } => norm(centre),
            Shape::Segment { from, to, .. } => norm(from).max(norm(to)),
            Shape::Box { centre, half, .. } => norm(centre) + norm(half),
            Shape::HalfPlane { .. } => f64::INFINITY,
        }
    }

    /// Whether it is a wall without thickness: corners pass through it.
    pub(crate) fn is_thin(&self) -> bool {
        match *self {
            Shape::Segment { radius, .. } => radius == 0.0,
            Shape::Disc { .. } | Shape::HalfPlane { .. } | Shape::InnerCircle { .. } | Shape::Box { .. } => false,
        }
    }

    /// Whether it has points without a radius.
    pub(crate) fn has_corners(&self) -> bool {
        match *self {
            Shape::Box { .. } => true,
            Shape::Segment { radius, .. } => radius == 0.0,
            Shape::Disc { .. } | Shape::HalfPlane { .. } | Shape::InnerCircle { .. } => false,
        }
    }
}

#[cfg(test)]
pub(super) mod samples {
    use super::*;

    /// A shape of every kind, none of them in the middle of its body.
    pub(in crate::planar) fn samples() -> Vec<Shape> {
        vec![
            Shape::Disc { centre: [0.3, -0.2], radius: 0.7 },
            Shape::HalfPlane { point: [0.1, 0.2], normal: [0.6, 0.8] },
            Shape::Segment { from: [-1.0, 0.2], to: [0.8, -0.5], radius: 0.1 },
            Shape::InnerCircle { centre: [0.2, 0.1], radius: 2.0 },
            Shape::Box { centre: [0.1, -0.3], half: [0.9, 0.4], angle: 0.4 },
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::samples::samples;
    use super::*;

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
