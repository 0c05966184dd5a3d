//! Kinds of figures: the numbers of their pose, and their bounds.

/// A figure without its pose. Lengths in m.
///
/// | kind | numbers of its pose |
/// |---|---|
/// | point | x y |
/// | line | x y of every point |
/// | spring | x y of both ends |
/// | circle, ring, box, segment | x y angle |
/// | wall | x y of a point, angle of the normal to the free side |
/// | point3, line3 | x y z of every point |
/// | sphere, box3, disc3 | x y z, unit quaternion w x y z |
/// | floor | x y z of a point, unit normal |
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Figure {
    /// A point.
    Point,
    /// Lines from point to point.
    Line {
        /// Number of its points.
        points: usize,
        /// Whether it goes back to its first point.
        closed: bool,
    },
    /// A spring.
    Spring,
    /// A disc.
    Circle {
        /// Its radius.
        radius: f64,
    },
    /// A circle seen from within.
    Ring {
        /// Its radius.
        radius: f64,
    },
    /// A rectangle.
    Box {
        /// Width and height.
        size: [f64; 2],
    },
    /// Everything behind a line.
    Wall,
    /// A line with round ends in a frame of its own.
    Segment {
        /// One end.
        from: [f64; 2],
        /// The other end.
        to: [f64; 2],
        /// Its thickness.
        thickness: f64,
    },
    /// A point in space.
    Point3,
    /// Lines from point to point in space.
    Line3 {
        /// Number of its points.
        points: usize,
        /// Whether it goes back to its first point.
        closed: bool,
    },
    /// A sphere.
    Sphere {
        /// Its radius.
        radius: f64,
    },
    /// A cuboid.
    Box3 {
        /// Its edges.
        size: [f64; 3],
    },
    /// A flat cylinder; its axis is the local z.
    Disc3 {
        /// Its radius.
        radius: f64,
        /// Its thickness.
        thickness: f64,
    },
    /// Everything below a plane.
    Floor,
}

impl Figure {
    /// Name of its kind.
    pub fn kind(&self) -> &'static str {
        match self {
            Figure::Point => "point",
            Figure::Line { .. } => "line",
            Figure::Spring => "spring",
            Figure::Circle { .. } => "circle",
            Figure::Ring { .. } => "ring",
            Figure::Box { .. } => "box",
            Figure::Wall => "wall",
            Figure::Segment { .. } => "segment",
            Figure::Point3 => "point3",
            Figure::Line3 { .. } => "line3",
            Figure::Sphere { .. } => "sphere",
            Figure::Box3 { .. } => "box3",
            Figure::Disc3 { .. } => "disc3",
            Figure::Floor => "floor",
        }
    }

    /// How many numbers its pose has.
    pub fn numbers(&self) -> usize {
        match self {
            Figure::Point => 2,
            Figure::Line { points, .. } => 2 * points,
            Figure::Spring => 4,
            Figure::Circle { .. } | Figure::Ring { .. } | Figure::Box { .. } | Figure::Segment { .. } => 3,
            Figure::Wall | Figure::Point3 => 3,
            Figure::Line3 { points, .. } => 3 * points,
            Figure::Sphere { .. } | Figure::Box3 { .. } | Figure::Disc3 { .. } => 7,
            Figure::Floor => 6,
        }
    }

    /// Extends bounds by the figure at a pose; an unbounded figure does not extend them.
    pub fn extend_bounds(&self, pose: &[f64], bounds: &mut Bounds) {
        match *self {
            Figure::Point | Figure::Line { .. } | Figure::Spring => {
                pose.chunks_exact(2).for_each(|p| bounds.add(p, 0.0));
            }
            Figure::Point3 | Figure::Line3 { .. } => pose.chunks_exact(3).for_each(|p| bounds.add(p, 0.0)),
            Figure::Circle { radius } | Figure::Ring { radius } => bounds.add(&pose[..2], radius),
            Figure::Box { size: [a, b] } => {
                for (x, y) in [(a, b), (a, -b), (-a, b), (-a, -b)] {
                    bounds.add(&placed(pose, [0.5 * x, 0.5 * y]), 0.0);
                }
            }
            Figure::Segment { from, to, thickness } => {
                for end in [from, to] {
                    bounds.add(&placed(pose, end), 0.5 * thickness);
                }
            }
            Figure::Sphere { radius } => bounds.add(&pose[..3], radius),
            Figure::Disc3 { radius, thickness } => bounds.add(&pose[..3], radius.hypot(0.5 * thickness)),
            Figure::Box3 { size: [a, b, c] } => bounds.add(&pose[..3], 0.5 * (a * a + b * b + c * c).sqrt()),
            Figure::Wall | Figure::Floor => {}
        }
    }
}

/// A point of a frame with a pose x, y, angle.
fn placed(pose: &[f64], point: [f64; 2]) -> [f64; 2] {
    let (sin, cos) = pose[2].sin_cos();
    [pose[0] + cos * point[0] - sin * point[1], pose[1] + sin * point[0] + cos * point[1]]
}

/// A box parallel to the axes, m.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// Lower corner.
    pub min: [f64; 3],
    /// Upper corner.
    pub max: [f64; 3],
}

impl Bounds {
    /// Nothing.
    pub const EMPTY: Self = Self { min: [f64::INFINITY; 3], max: [f64::NEG_INFINITY; 3] };

    /// Adds a point with a radius; one that is not finite adds nothing.
    pub fn add(&mut self, point: &[f64], radius: f64) {
        if point.iter().any(|v| !(v.abs() + radius < f64::MAX)) {
            return;
        }
        for (k, v) in point.iter().enumerate() {
            self.min[k] = self.min[k].min(v - radius);
            self.max[k] = self.max[k].max(v + radius);
        }
    }

    /// Whether nothing was added.
    pub fn is_empty(&self) -> bool {
        self.min[0] > self.max[0]
    }
}
