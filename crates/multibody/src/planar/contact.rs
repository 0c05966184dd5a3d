//! Contacts of two bodies in terms of the contract: g, W, χ and their derivatives over the coordinates of both.
//!
//! Columns are those of the body with the point, then those of the body with the surface, of each that moves by forces.

use super::bodies::{Bodies, RigidBody};
use super::kept::Kept;
use super::pose::{Pose, Twist};
use super::touch::Touch;
use crate::layout::{PLANAR_NU, Part};
use crate::pairing::Laws;
use crate::proximity::identity::{Feature, Identity};
use nonsmooth::contract::{Interaction, Kind, Workspace};
use nonsmooth::law::Law;
use std::cell::RefCell;

/// Slip velocities of a contact in the plane, at most, and how to say it.
pub(crate) const SLIP: (usize, &str) = (1, "0 or 1 in the plane");

/// A contact: the shape with the point, which point, and the shape with the surface.
#[derive(Debug, Clone, Copy)]
pub(super) struct Meeting {
    pub(super) point: usize,
    pub(super) index: usize,
    pub(super) surface: usize,
}

impl Meeting {
    #[inline]
    pub(super) fn of(id: Identity) -> Self {
        let pair = id.pair();
        let (first, second) = (pair.first as usize, pair.second as usize);
        match id.feature() {
            Feature::PointOfFirst(k) => Self { point: first, index: usize::from(k), surface: second },
            Feature::PointOfSecond(k) => Self { point: second, index: usize::from(k), surface: first },
        }
    }
}

/// Acceleration of a body whose motion is prescribed; zero for any other.
fn prescribed_acceleration(body: &RigidBody, t: f64) -> Twist {
    body.motion().map(|m| m.at(t).2).unwrap_or_default()
}

/// Bodies with the contacts that were evaluated last.
#[derive(Clone, Copy)]
pub(crate) struct Met<'a> {
    pub(crate) bodies: &'a Bodies,
    pub(crate) work: &'a Workspace,
    /// Mark of the system.
    pub(crate) system: u64,
}

impl Bodies {
    #[inline]
    fn touch(&self, m: &Meeting, t: f64, q: &[f64]) -> Touch {
        let (p, s) = (&self.shapes[m.point], &self.shapes[m.surface]);
        let (bp, bs) = (&self.list[p.body as usize], &self.list[s.body as usize]);
        Touch::new(&p.shape, m.index, &bp.pose(t, q), &s.shape, &bs.pose(t, q))
    }

    /// The contact at (t, q) with the pose of the body of the point, if the system has these shapes.
    pub(crate) fn touch_if_known(&self, id: Identity, t: f64, q: &[f64]) -> Option<(Touch, Pose)> {
        let m = Meeting::of(id);
        let (p, s) = (self.shapes.get(m.point)?, self.shapes.get(m.surface)?);
        let pose = self.list[p.body as usize].pose(t, q);
        let other = self.list[s.body as usize].pose(t, q);
        Some((Touch::new(&p.shape, m.index, &pose, &s.shape, &other), pose))
    }

    /// The two bodies of a contact, in the order of its name.
    pub(crate) fn of_contact(&self, id: Identity) -> (usize, usize) {
        let pair = id.pair();
        (self.shapes[pair.first as usize].body as usize, self.shapes[pair.second as usize].body as usize)
    }

    /// The name of a contact: those of its bodies.
    pub(crate) fn contact_name(&self, id: Identity) -> String {
        let (a, b) = self.of_contact(id);
        format!("{}-{}", &self.names[a], &self.names[b])
    }

    /// The interaction of a contact, if a law holds for its bodies.
    pub(crate) fn interaction(&self, id: Identity, laws: &Laws) -> Option<Interaction> {
        let m = Meeting::of(id);
        let (p, s) = (&self.shapes[m.point], &self.shapes[m.surface]);
        let law = laws.between(p.class, s.class)?;
        let mut dofs = [0u32; 2 * PLANAR_NU];
        let mut n = 0;
        for body in [p.body, s.body] {
            if let Some(first) = self.list[body as usize].first() {
                for dof in first.velocities(Part::PlanarBody, 1) {
                    dofs[n] = dof as u32;
                    n += 1;
                }
            }
        }
        let dim = match &**law {
            Law::Contact(law) => 1 + law.slip_dim,
            Law::Bilateral | Law::Element(_) => 1,
        };
        Some(Interaction::new(id.number(), Kind::Contact, dim, law.clone(), &dofs[..n]).found_by_detection())
    }

    /// g_N, evaluated anew.
    pub(crate) fn gap(&self, id: Identity, t: f64, q: &[f64]) -> f64 {
        self.touch(&Meeting::of(id), t, q).gap
    }
}

impl<'a> Met<'a> {
    /// The contact at (t, q), with the body of the point and that of the surface.
    #[inline]
    fn meet(&self, id: Identity, t: f64, q: &[f64]) -> (Touch, &'a RigidBody, &'a RigidBody) {
        let (m, bodies) = (Meeting::of(id), self.bodies);
        let (p, s) = (&bodies.shapes[m.point], &bodies.shapes[m.surface]);
        let (bp, bs) = (&bodies.list[p.body as usize], &bodies.list[s.body as usize]);
        let touch =
            if p.round && s.round { bodies.touch(&m, t, q) } else { self.keep(id, &m, [bp.pose(t, q), bs.pose(t, q)]) };
        (touch, bp, bs)
    }

    #[inline(never)]
    fn keep(&self, id: Identity, m: &Meeting, poses: [Pose; 2]) -> Touch {
        let (p, s) = (&self.bodies.shapes[m.point].shape, &self.bodies.shapes[m.surface].shape);
        let mut kept = self.work.of::<RefCell<Kept>>().borrow_mut();
        kept.touch(self.system, id, poses, |[a, b]| Touch::new(p, m.index, a, s, b))
    }

    /// g_N.
    #[inline]
    pub(crate) fn gap(&self, id: Identity, t: f64, q: &[f64]) -> f64 {
        self.meet(id, t, q).0.gap
    }

    /// Rows of Wᵀ and χ: γ = Wᵀu + χ, with χ of bodies whose motion is prescribed.
    #[inline]
    pub(crate) fn directions(&self, k: &Interaction, t: f64, q: &[f64], w: &mut [f64], chi: &mut [f64]) {
        let (touch, p, s) = self.meet(Identity::of(k.id), t, q);
        chi.fill(0.0);
        let width = k.dofs.len();
        let mut first = 0;
        for (body, rows) in [(p, touch.rows_p()), (s, touch.rows_s())] {
            if body.first().is_some() {
                for (r, row) in rows.iter().take(k.dim()).enumerate() {
                    w[r * width + first..r * width + first + PLANAR_NU].copy_from_slice(row);
                }
                first += PLANAR_NU;
            } else if let Some(motion) = body.motion() {
                let v = motion.at(t).1.components();
                for (chi, row) in chi.iter_mut().zip(&rows) {
                    *chi += row.iter().zip(&v).map(|(a, b)| a * b).sum::<f64>();
                }
            }
        }
    }

    /// ∂γ/∂q B without the first `skip` rows.
    pub(crate) fn velocity_gradient(
        &self,
        k: &Interaction,
        skip: usize,
        t: f64,
        q: &[f64],
        u: &[f64],
        out: &mut [f64],
    ) {
        let (touch, p, s) = self.meet(Identity::of(k.id), t, q);
        let (vp, vs, zero) = (p.twist(t, u), s.twist(t, u), Twist::default());
        let width = k.dofs.len();
        let mut column = 0;
        for (body, second) in [(p, false), (s, true)] {
            if body.first().is_none() {
                continue;
            }
            for unit in &Twist::UNITS {
                let (dp, ds) = if second { (&zero, unit) } else { (unit, &zero) };
                let change = touch.velocity_change(&vp, &vs, dp, ds, &zero, &zero);
                for (r, c) in change.iter().take(k.dim()).skip(skip).enumerate() {
                    out[r * width + column] = *c;
                }
                column += 1;
            }
        }
    }

    /// dγ/dt at constant u.
    pub(crate) fn velocity_rate(&self, k: &Interaction, t: f64, q: &[f64], u: &[f64], out: &mut [f64]) {
        let (touch, p, s) = self.meet(Identity::of(k.id), t, q);
        let (vp, vs) = (p.twist(t, u), s.twist(t, u));
        let (ap, a_s) = (prescribed_acceleration(p, t), prescribed_acceleration(s, t));
        let rate = touch.velocity_change(&vp, &vs, &vp, &vs, &ap, &a_s);
        out[..k.dim()].copy_from_slice(&rate[..k.dim()]);
    }
}
