//! Places of the parts of a model in the file, for errors that name them.

use crate::file::Origin;
use nonsmooth::contract::{Part, PartKind};
use std::collections::BTreeMap;

/// Places of parts.
#[derive(Debug, Clone, Default)]
pub struct Places(BTreeMap<String, Origin>);

/// Key of the mass matrix.
const MASS: &str = "mass";

/// Key of a force; forces have names of their own. It has a blank, which no name has.
fn force(name: &str) -> String {
    format!("force {name}")
}

/// Key of the place where a part names another.
fn mention(part: &str, name: &str) -> String {
    format!("{part} {name}")
}

impl Places {
    /// Notes where a part was written.
    pub fn insert(&mut self, name: &str, origin: &Origin) {
        self.0.insert(name.into(), origin.clone());
    }

    /// Notes where a force was written.
    pub fn insert_force(&mut self, name: &str, origin: &Origin) {
        self.insert(&force(name), origin);
    }

    /// Notes where the mass was written.
    pub fn insert_mass(&mut self, origin: &Origin) {
        self.insert(MASS, origin);
    }

    /// Notes where a part names another.
    pub fn insert_mention(&mut self, part: &str, name: &str, origin: &Origin) {
        self.insert(&mention(part, name), origin);
    }

    /// Adds other places.
    pub fn extend(&mut self, other: Places) {
        self.0.extend(other.0);
    }

    /// Whether there is a force of this name.
    pub fn has_force(&self, name: &str) -> bool {
        self.0.contains_key(&force(name))
    }

    /// The place of a part.
    pub fn of(&self, part: &Part) -> Origin {
        let exact = |key: &str| self.0.get(key);
        let found = match part.kind {
            PartKind::Mass | PartKind::MassBlock => exact(MASS),
            PartKind::Force => exact(&force(&part.name)),
            // A contact that was found between bodies goes by the names of both.
            PartKind::Contact => exact(&part.name).or_else(|| {
                let (a, b) = part.name.split_once('-')?;
                self.record(b).or_else(|| self.record(a))
            }),
            PartKind::Own(_) => self.record(&part.name),
            PartKind::Coordinate
            | PartKind::Velocity
            | PartKind::InitialValue
            | PartKind::Kinematics
            | PartKind::KinematicBlock
            | PartKind::Joint
            | PartKind::VelocityJoint
            | PartKind::Element
            | PartKind::Interaction => exact(&part.name),
        };
        found.cloned().unwrap_or_default()
    }

    /// The record of a body or another part of its world. One of many bodies has a number behind the name of its record.
    pub fn record(&self, name: &str) -> Option<&Origin> {
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
        self.0.get(name).or_else(|| self.0.get(stem.strip_suffix('_').unwrap_or(stem)))
    }

    /// Where a part names another.
    pub fn mention(&self, part: &str, name: &str) -> Option<&Origin> {
        self.0.get(&mention(part, name))
    }
}
