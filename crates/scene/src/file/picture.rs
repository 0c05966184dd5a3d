//! The format of `[picture]`, key by key: what is drawn of a scene whose model is formulas. Words are those of the shapes of bodies.

use super::decode::{Decode, Formula, Key};
use super::format::HalfPlane;
use super::tree::{Fault, Node, Value};
use crate::record;
use serde_json::{Value as Json, json};

record! {
    "[picture]"
    /// What is drawn besides bodies. Places and directions are formulas of t, coordinates, velocities and parameters; sizes are numbers.
    pub struct Picture {
        /// 2, or 3 with z up. Default 2.
        pub dimension: Option<u64>,
        /// What is drawn, from back to front.
        pub draw: Vec<Draw>,
        /// Where contacts are, for their percussions.
        pub contact: Vec<DrawnContact>,
    }
}

record! {
    "[[picture.draw]]"
    /// A figure: one of its kinds.
    pub struct Draw {
        /// Its name.
        pub name: Option<Key>,
        /// Number of its colour. Default: grey, as surroundings are.
        pub colour: Option<Formula>,
        /// Whether it is filled. Default true.
        pub fill: Option<bool>,
        /// A point (m).
        pub point: Option<Vec<Formula>>,
        /// Lines from point to point.
        pub line: Option<Line>,
        /// A spring; in the plane only.
        pub spring: Option<Spring>,
        /// A disc; in space a flat one, whose axis is its local z.
        pub disc: Option<Disc>,
        /// A circle seen from within: a drum, a ring; in the plane only.
        pub inner_circle: Option<InnerCircle>,
        /// A rectangle; in the plane only.
        pub rectangle: Option<Rectangle>,
        /// Everything behind a line; in the plane only.
        pub half_plane: Option<HalfPlane>,
        /// A sphere; in space only.
        pub sphere: Option<Sphere>,
        /// A cuboid; in space only.
        pub cuboid: Option<Cuboid>,
        /// Everything below a plane, in space only. It does not move.
        pub floor: Option<HalfPlane>,
    }
}

record! {
    "a line"
    /// Lines from point to point.
    pub struct Line {
        /// Its points (m), two or more.
        pub points: Vec<Vec<Formula>>,
        /// Whether it goes back to its first point, so that it is the outline of an area. Default false.
        pub closed: Option<bool>,
    }
}

record! {
    "a spring of the picture"
    /// A spring.
    pub struct Spring {
        /// One end (m).
        pub from: Vec<Formula>,
        /// The other end (m).
        pub to: Vec<Formula>,
    }
}

record! {
    "a disc of the picture"
    /// A disc.
    pub struct Disc {
        /// Its centre (m).
        pub centre: Vec<Formula>,
        /// Its radius (m).
        pub radius: Formula,
        /// Its angle (rad), in the plane. Default 0.
        pub angle: Option<Formula>,
        /// Its thickness (m), in space. Default: a tenth of the radius.
        pub thickness: Option<Formula>,
        /// In space: its orientation as a quaternion w, x, y, z; of any length.
        pub quaternion: Option<Vec<Formula>>,
        /// In space, instead of `quaternion`: the rows of the rotation matrix from the disc to the world.
        pub rotation: Option<Vec<Vec<Formula>>>,
        /// In space, instead of both: the direction of its axis.
        pub axis: Option<Vec<Formula>>,
    }
}

record! {
    "an inner circle of the picture"
    /// A circle seen from within.
    pub struct InnerCircle {
        /// Its centre (m). Default [0, 0].
        pub centre: Option<Vec<Formula>>,
        /// Its radius (m).
        pub radius: Formula,
        /// Its angle (rad). Default 0.
        pub angle: Option<Formula>,
    }
}

record! {
    "a rectangle of the picture"
    /// A rectangle.
    pub struct Rectangle {
        /// Its centre (m).
        pub centre: Vec<Formula>,
        /// Its width (m).
        pub width: Formula,
        /// Its height (m).
        pub height: Formula,
        /// Its angle (rad). Default 0.
        pub angle: Option<Formula>,
    }
}

record! {
    "a sphere"
    /// A sphere.
    pub struct Sphere {
        /// Its centre (m).
        pub centre: Vec<Formula>,
        /// Its radius (m).
        pub radius: Formula,
        /// Its orientation as a quaternion w, x, y, z; of any length.
        pub quaternion: Option<Vec<Formula>>,
        /// Instead of `quaternion`: the rows of the rotation matrix from the sphere to the world.
        pub rotation: Option<Vec<Vec<Formula>>>,
    }
}

record! {
    "a cuboid"
    /// A cuboid.
    pub struct Cuboid {
        /// Its centre (m).
        pub centre: Vec<Formula>,
        /// Its three edges (m).
        pub size: Vec<Formula>,
        /// Its orientation as a quaternion w, x, y, z; of any length.
        pub quaternion: Option<Vec<Formula>>,
        /// Instead of `quaternion`: the rows of the rotation matrix from the cuboid to the world.
        pub rotation: Option<Vec<Vec<Formula>>>,
    }
}

record! {
    "[[picture.contact]]"
    /// Where a contact is and how its percussions act.
    pub struct DrawnContact {
        /// Name of the contact.
        pub contact: Key,
        /// Where it acts (m).
        pub point: Vec<Formula>,
        /// Direction in which a normal percussion pushes what is drawn; of any length.
        pub normal: Vec<Formula>,
        /// Direction of positive slip, of any length; in space a list of two. Default: in the plane the normal turned by a right angle
        /// to the right, in space none.
        pub tangent: Option<Tangent>,
    }
}

/// Directions of slip.
#[derive(Debug, Clone, PartialEq)]
pub enum Tangent {
    /// In the plane.
    One(Vec<Formula>),
    /// In space.
    Two(Vec<Vec<Formula>>),
}

impl Decode for Tangent {
    fn decode(node: &Node) -> Result<Self, Fault> {
        match &node.value {
            Value::Array(items) if items.iter().any(|n| matches!(n.value, Value::Array(_))) => {
                Vec::decode(node).map(Tangent::Two)
            }
            _ => Vec::decode(node).map(Tangent::One),
        }
    }
    fn schema() -> Json {
        let list = json!({ "type": "array", "items": Formula::schema() });
        json!({ "anyOf": [list, { "type": "array", "items": list }] })
    }
}
