//! Poses of bodies and positions of contacts, for pictures: a copy of the geometry that outlives the borrow of the system.

use crate::planar::bodies::Bodies;
use crate::planar::plane::{Vec2, scale, sub};
use crate::planar::pose::Pose;
use crate::proximity::identity::{Feature, Identity};

/// Poses of the bodies of a system and positions of their contacts.
#[derive(Debug, Clone)]
pub struct Geometry {
    pub(crate) bodies: Bodies,
}

/// Position, normal and gap of a contact.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ContactPlace {
    /// The midpoint between the nearest points of both bodies, m.
    pub point: Vec2,
    /// Direction in which a normal percussion pushes the second body named by the contact. A tangential one pushes it along the normal
    /// rotated by 90° to the left.
    pub normal: Vec2,
    /// Gap, m.
    pub gap: f64,
}

impl Geometry {
    /// Pose of a body at (t, q).
    pub fn pose(&self, body: usize, t: f64, q: &[f64]) -> Pose {
        self.bodies.list[body].pose(t, q)
    }

    /// Whether a body never moves.
    pub fn is_fixed(&self, body: usize) -> bool {
        self.bodies.list[body].is_fixed()
    }

    /// Position of a contact found by detection at (t, q), by its identity; `None` for any other interaction.
    pub fn contact_place(&self, id: u64, t: f64, q: &[f64]) -> Option<ContactPlace> {
        let id = Identity::of(id);
        if !id.is_contact() {
            return None;
        }
        let (touch, pose) = self.bodies.touch_if_known(id, t, q)?;
        // A percussion pushes the body with the point along n, the other one against it.
        let normal = match id.feature() {
            Feature::PointOfFirst(_) => scale(-1.0, touch.n),
            Feature::PointOfSecond(_) => touch.n,
        };
        Some(ContactPlace {
            point: sub(touch.on_point(&pose), scale(0.5 * touch.gap, touch.n)),
            normal,
            gap: touch.gap,
        })
    }
}
