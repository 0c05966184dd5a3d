//! Where bodies and their contacts are: what a picture needs of a system, for use when the system itself is in other hands.

use crate::planar::detection::{DETECTED, meeting, shapes_of};
use crate::planar::plane::{Vec2, scale, sub};
use crate::planar::pose::Pose;
use crate::planar::touch::Touch;
use crate::system::{Entry, Multibody, Placed};
use std::sync::Arc;

/// Poses of the bodies of a system and places of their contacts.
#[derive(Debug, Clone)]
pub struct Geometry {
    entries: Arc<[Entry]>,
    shapes: Arc<[Placed]>,
}

/// Where a contact is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ContactPlace {
    /// The middle between the nearest points of both bodies, m.
    pub point: Vec2,
    /// Direction in which a normal percussion pushes the second body of its name; a tangential one pushes it along the normal turned
    /// by a right angle to the left.
    pub normal: Vec2,
    /// Gap, m.
    pub gap: f64,
}

impl Multibody {
    /// Where bodies and contacts are, shared with the system.
    pub fn geometry(&self) -> Geometry {
        Geometry { entries: self.entries.clone(), shapes: self.shapes.clone() }
    }
}

impl Geometry {
    /// Pose of a body at (t, q).
    pub fn pose(&self, body: usize, t: f64, q: &[f64]) -> Pose {
        self.entries[body].pose(t, q)
    }

    /// Whether a body never moves.
    pub fn still(&self, body: usize) -> bool {
        self.entries[body].still()
    }

    /// Where a contact that detection found is at (t, q), by its identity; `None` for any other interaction.
    pub fn contact_place(&self, id: u64, t: f64, q: &[f64]) -> Option<ContactPlace> {
        if id & DETECTED != DETECTED {
            return None;
        }
        let m = meeting(id);
        let (p, s) = (self.shapes.get(m.point)?, self.shapes.get(m.surface)?);
        let (bp, bs) = (&self.entries[p.body as usize], &self.entries[s.body as usize]);
        let pose = bp.pose(t, q);
        let touch = Touch::new(&p.shape, m.index, &pose, &s.shape, &bs.pose(t, q));
        // A percussion pushes the body with the point along n, the other one against it.
        let second = shapes_of(id).1 == m.point;
        let normal = if second { touch.n } else { scale(-1.0, touch.n) };
        Some(ContactPlace {
            point: sub(touch.on_point(&pose), scale(0.5 * touch.gap, touch.n)),
            normal,
            gap: touch.gap,
        })
    }
}
