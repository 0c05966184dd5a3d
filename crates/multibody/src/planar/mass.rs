//! Mass and moment of inertia of a body: given, or from its shapes and a mass per area.

use super::body::{Body, Weight};
use super::plane::{Vec2, add, dot, norm, scale, sub};
use super::shape::Shape;
use crate::error::{BuildError, check};

impl Shape {
    /// Area (m²), centroid, and second moment of area about the centroid (m⁴); `None` for unbounded or thin shapes.
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
            Shape::Segment { .. } | Shape::HalfPlane { .. } | Shape::InnerCircle { .. } => None,
        }
    }
}

/// Mass (kg) and moment of inertia about the centre of mass (kg m²) of a body that moves by forces.
pub(super) fn mass_and_inertia(body: &Body) -> Result<(f64, f64), BuildError> {
    let number = |what: &'static str, value: f64| {
        check(&body.name, what, "positive and finite", value, value > 0.0 && value.is_finite())
    };
    let missing = |why: String| Err(BuildError::Mass { body: body.name.clone(), why });
    match body.weight {
        Weight::Given { mass, inertia } => {
            number("its mass", mass)?;
            number("its moment of inertia", inertia)?;
            Ok((mass, inertia))
        }
        Weight::Density(density) => {
            number("its density", density)?;
            if body.shapes.is_empty() {
                return missing("it has no shape: give mass and inertia".into());
            }
            let (mut area, mut moment, mut first) = (0.0, 0.0, [0.0, 0.0]);
            for shape in &body.shapes {
                if let Some(fault) = shape.fault() {
                    return missing(format!("{}: {fault}", shape.kind()));
                }
                let Some((a, c, j)) = shape.area() else {
                    return missing(format!("a {} has no area: give mass and inertia", shape.kind()));
                };
                area += a;
                first = [first[0] + a * c[0], first[1] + a * c[1]];
                moment += j + a * dot(c, c);
            }
            let centroid = [first[0] / area, first[1] / area];
            let size = body.shapes.iter().map(|s| s.bound().1).fold(0.0, f64::max);
            // Rounding of a few terms.
            if norm(sub(centroid, [0.0, 0.0])) > 1e-9 * size {
                let why = format!(
                    "its shapes have their centroid at ({}, {}), and the origin of a body is its centre of mass: move them, or give \
                     mass and inertia",
                    centroid[0], centroid[1]
                );
                return missing(why);
            }
            // The numbers may be too large or too small for their squares.
            let (mass, inertia) = (density * area, density * moment);
            number("its mass", mass)?;
            number("its moment of inertia", inertia)?;
            Ok((mass, inertia))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::planar::shape::samples::samples;

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
}
