//! Parts of a model, as errors name them.

use super::candidates::Kind;

/// Kinds of parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartKind {
    /// A coordinate.
    Coordinate,
    /// A velocity.
    Velocity,
    /// A start value: of a coordinate, a velocity, or the memory of a scheme.
    InitialValue,
    /// The mass matrix.
    Mass,
    /// A block of the mass matrix.
    MassBlock,
    /// q̇ = B u + β.
    Kinematics,
    /// A block of the kinematics.
    KinematicBlock,
    /// A force contribution.
    Force,
    /// A joint on position level.
    Joint,
    /// A joint on velocity level.
    VelocityJoint,
    /// A contact.
    Contact,
    /// An element.
    Element,
    /// A joint, velocity joint, contact or element: names are unique among all of these.
    Interaction,
    /// A kind that only the system knows (bodies).
    Own(&'static str),
}

impl std::fmt::Display for PartKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            PartKind::Coordinate => "coordinate",
            PartKind::Velocity => "velocity",
            PartKind::InitialValue => "initial value",
            PartKind::Mass => "mass",
            PartKind::MassBlock => "mass block",
            PartKind::Kinematics => "kinematics",
            PartKind::KinematicBlock => "kinematic block",
            PartKind::Force => "force",
            PartKind::Joint => "joint",
            PartKind::VelocityJoint => "velocity joint",
            PartKind::Contact => "contact",
            PartKind::Element => "element",
            PartKind::Interaction => "joint, contact or element",
            PartKind::Own(kind) => kind,
        })
    }
}

impl From<Kind> for PartKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Joint => PartKind::Joint,
            Kind::VelocityJoint => PartKind::VelocityJoint,
            Kind::Contact => PartKind::Contact,
            Kind::Element => PartKind::Element,
        }
    }
}

/// A part by kind and name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Its kind.
    pub kind: PartKind,
    /// Its name.
    pub name: String,
}

impl Part {
    /// The part of a kind and a name.
    pub fn new(kind: impl Into<PartKind>, name: impl Into<String>) -> Self {
        Self { kind: kind.into(), name: name.into() }
    }
}

/// How a system contradicts the contract.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct Violation {
    /// The part concerned, if it is one.
    pub part: Option<Part>,
    /// What is wrong, with the name of the part.
    pub why: String,
}

impl Violation {
    /// Of a part.
    pub fn of(part: Part, why: impl Into<String>) -> Self {
        Self { part: Some(part), why: why.into() }
    }

    /// Of no part in particular.
    pub fn new(why: impl Into<String>) -> Self {
        Self { part: None, why: why.into() }
    }
}
