//! Kinematics of one contact: a point of one body against a surface of another.
//!
//! With x the centre of the point (radius ρ) on body P, s, n, κ of the surface on body S at x (see [`super::surface`]), t = e_z × n, and
//! the arms from the centres of mass to the nearest points of both,
//!
//! ```text
//! g_N = s − ρ
//! r_P = x − c_P − ρ n,     r_S = x − c_S − (ρ + g_N) n
//! γ   = (n·V, t·V),        V = v_P + ω_P e_z×r_P − v_S − ω_S e_z×r_S
//! ```
//!
//! γ_N is the time derivative of g_N, because the arms differ from x − c by multiples of n only. A displacement δ of both bodies gives
//!
//! ```text
//! δx = δc_P + δφ_P e_z×(x − c_P),   d = δx − δc_S − δφ_S e_z×(x − c_S)
//! δg = n·d,   δn = δφ_S t + κ (t·d) t
//! δr_P = δφ_P e_z×(x − c_P) − ρ δn,   δr_S = δx − δc_S − (ρ + g) δn − δg n
//! ```
//!
//! and δγ follows by the product rule. If the motion of body S is prescribed, its velocity and acceleration enter too.

use super::plane::{Rotation, Vec2, add, cross, dot, perp, scale, sub};
use super::pose::{Pose, Twist};
use super::shape::Shape;
use super::surface::Surface;
use crate::layout::PLANAR_NU;

/// A contact evaluated at two poses.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Touch {
    pub(crate) gap: f64,
    pub(crate) n: Vec2,
    kappa: f64,
    rho: f64,
    /// x − c_P and x − c_S.
    from_p: Vec2,
    from_s: Vec2,
}

/// Rotation of the frame of a shape; round shapes need none.
#[inline]
fn turn(shape: &Shape, pose: &Pose) -> Rotation {
    if shape.is_round() { Rotation::NONE } else { Rotation::by(pose.angle) }
}

impl Touch {
    #[inline]
    pub(crate) fn new(point: &Shape, index: usize, p: &Pose, surface: &Shape, s: &Pose) -> Self {
        let (local, rho) = point.point(index);
        let turn_p = turn(point, p);
        let from_p = turn_p.apply(local);
        let between = sub(p.centre, s.centre);
        let from_s = sub(add(p.centre, from_p), s.centre);
        let frame = turn(surface, s);
        let y = frame.back(from_s);
        // Where a point is not the middle of its shape, a box needs that too.
        let middle = match surface {
            Shape::Box { .. } => match point {
                Shape::Box { .. } | Shape::Segment { .. } => frame.back(add(between, turn_p.apply(point.bound().0))),
                Shape::Disc { .. } | Shape::HalfPlane { .. } | Shape::InnerCircle { .. } => y,
            },
            Shape::Disc { .. } | Shape::HalfPlane { .. } | Shape::Segment { .. } | Shape::InnerCircle { .. } => y,
        };
        let Surface { s, n, kappa } = surface.surface(y, middle);
        Self { gap: s - rho, n: frame.apply(n), kappa, rho, from_p, from_s }
    }

    /// The nearest point on the body with the point, whose pose is given.
    pub(crate) fn on_point(&self, pose: &Pose) -> Vec2 {
        add(pose.centre, self.arm_p())
    }

    #[inline]
    fn arm_p(&self) -> Vec2 {
        sub(self.from_p, scale(self.rho, self.n))
    }

    #[inline]
    fn arm_s(&self) -> Vec2 {
        sub(self.from_s, scale(self.rho + self.gap, self.n))
    }

    /// Rows of Wᵀ over (c_P, φ_P), normal then tangential.
    #[inline]
    pub(crate) fn rows_p(&self) -> [[f64; PLANAR_NU]; 2] {
        let (n, t, r) = (self.n, perp(self.n), self.arm_p());
        [[n[0], n[1], cross(r, n)], [t[0], t[1], cross(r, t)]]
    }

    /// Rows of Wᵀ over (c_S, φ_S).
    #[inline]
    pub(crate) fn rows_s(&self) -> [[f64; PLANAR_NU]; 2] {
        let (n, t, r) = (self.n, perp(self.n), self.arm_s());
        [[-n[0], -n[1], -cross(r, n)], [-t[0], -t[1], -cross(r, t)]]
    }

    /// Relative velocity V.
    #[inline]
    fn relative(&self, p: &Twist, s: &Twist) -> Vec2 {
        let v_p = add(p.velocity, scale(p.spin, perp(self.arm_p())));
        let v_s = add(s.velocity, scale(s.spin, perp(self.arm_s())));
        sub(v_p, v_s)
    }

    /// Change of γ for displacements dp, ds of the bodies, whose velocities p, s change by ap, as.
    pub(crate) fn velocity_change(
        &self,
        p: &Twist,
        s: &Twist,
        dp: &Twist,
        ds: &Twist,
        ap: &Twist,
        a_s: &Twist,
    ) -> [f64; 2] {
        let (n, t) = (self.n, perp(self.n));
        let turned = scale(dp.spin, perp(self.from_p));
        let dx = add(dp.velocity, turned);
        let d = sub(sub(dx, ds.velocity), scale(ds.spin, perp(self.from_s)));
        let dg = dot(n, d);
        let dn = scale(ds.spin + self.kappa * dot(t, d), t);
        let dr_p = sub(turned, scale(self.rho, dn));
        let dr_s = sub(sub(sub(dx, ds.velocity), scale(self.rho + self.gap, dn)), scale(dg, n));
        let v = self.relative(p, s);
        let mut dv = self.relative(ap, a_s);
        dv = add(dv, sub(scale(p.spin, perp(dr_p)), scale(s.spin, perp(dr_s))));
        [dot(dn, v) + dot(n, dv), dot(perp(dn), v) + dot(t, dv)]
    }
}
