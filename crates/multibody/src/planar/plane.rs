//! Vectors of the plane.

/// A point or direction, m.
pub type Vec2 = [f64; 2];

#[inline]
pub(crate) fn add(a: Vec2, b: Vec2) -> Vec2 {
    [a[0] + b[0], a[1] + b[1]]
}

#[inline]
pub(crate) fn sub(a: Vec2, b: Vec2) -> Vec2 {
    [a[0] - b[0], a[1] - b[1]]
}

#[inline]
pub(crate) fn scale(s: f64, a: Vec2) -> Vec2 {
    [s * a[0], s * a[1]]
}

#[inline]
pub(crate) fn dot(a: Vec2, b: Vec2) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}

/// a rotated by 90° to the left: e_z × a.
#[inline]
pub(crate) fn perp(a: Vec2) -> Vec2 {
    [-a[1], a[0]]
}

/// z component of a × b.
#[inline]
pub(crate) fn cross(a: Vec2, b: Vec2) -> f64 {
    a[0] * b[1] - a[1] * b[0]
}

/// Length, without protection against overflow: coordinates of bodies are far from the limits of `f64`.
#[inline]
pub(crate) fn norm(a: Vec2) -> f64 {
    dot(a, a).sqrt()
}

/// A rotation by an angle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rotation {
    pub(crate) cos: f64,
    pub(crate) sin: f64,
}

impl Rotation {
    pub(crate) const NONE: Self = Self { cos: 1.0, sin: 0.0 };

    #[inline]
    pub(crate) fn by(angle: f64) -> Self {
        let (sin, cos) = angle.sin_cos();
        Self { cos, sin }
    }

    #[inline]
    pub(crate) fn apply(self, a: Vec2) -> Vec2 {
        [self.cos * a[0] - self.sin * a[1], self.sin * a[0] + self.cos * a[1]]
    }

    #[inline]
    pub(crate) fn back(self, a: Vec2) -> Vec2 {
        [self.cos * a[0] + self.sin * a[1], self.cos * a[1] - self.sin * a[0]]
    }
}
