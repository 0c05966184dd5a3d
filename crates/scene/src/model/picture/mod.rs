//! `[picture]` of a scene: figures whose poses are formulas. They do not influence the run.

//!
//! - `figure`: kinds of figures. `read`: their records. `orientation`: quaternions of their poses.
//! - `units`: units of coordinates, for plots.

mod figure;
mod orientation;
mod read;
mod units;

pub use figure::{Bounds, Figure};
pub use units::Units;

use super::scope::{Numbers, Variables};
use crate::file::format::Scene;
use crate::file::picture;
use crate::file::{Document, Fault, Key, Origin};
use crate::formula::{Graph, Tape};
use nonsmooth::names::hint_or_list;
use orientation::{Turn, by_axis, by_rotation, unit};
use read::Reader;
use std::collections::BTreeSet;

/// What is drawn by formulas.
#[derive(Debug, Clone, Default)]
pub struct Picture {
    /// 2 or 3.
    pub dimension: usize,
    /// Figures from back to front.
    pub items: Vec<Item>,
    /// Contacts that are drawn.
    pub contacts: Vec<ContactMark>,
    /// Definitions that it uses.
    pub used: BTreeSet<String>,
}

/// A figure and the formulas of its pose.
#[derive(Debug, Clone)]
pub struct Item {
    /// Its name; its kind if it has none.
    pub name: String,
    /// Number of its colour; none is grey.
    pub colour: Option<f64>,
    /// Whether it is filled.
    pub fill: bool,
    /// What it is.
    pub figure: Figure,
    /// Whether its pose changes.
    pub moves: bool,
    tape: Tape,
    outputs: usize,
    turn: Turn,
}

/// A contact that is drawn: formulas of its point, its normal and its directions of slip.
#[derive(Debug, Clone)]
pub struct ContactMark {
    /// Name of the contact.
    pub contact: String,
    tape: Tape,
    dimension: usize,
    vectors: usize,
    /// Whether the direction of slip is the normal turned to the right.
    right: bool,
}

/// Point and directions of a contact at a time.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ContactPose {
    /// Where it acts, m; z is 0 in the plane.
    pub point: [f64; 3],
    /// Unit vectors along which the components of its percussion act: normal, then tangential; zero where there is none.
    pub along: [[f64; 3]; 3],
}

impl Item {
    /// Appends its pose at (t, q, u).
    pub fn pose(&self, t: f64, q: &[f64], u: &[f64], out: &mut Vec<f64>) {
        let first = out.len();
        out.resize(first + self.outputs, 0.0);
        self.tape.evaluate(t, q, u, &mut out[first..]);
        let v = &mut out[first..];
        let quaternion = match self.turn {
            Turn::None => return,
            Turn::Direction => {
                v[2] = v[3].atan2(v[2]);
                out.truncate(first + 3);
                return;
            }
            Turn::Normal => {
                unit(&mut v[3..6]);
                return;
            }
            Turn::Still => [1.0, 0.0, 0.0, 0.0],
            Turn::Quaternion => {
                unit(&mut v[3..7]);
                return;
            }
            Turn::Rotation => by_rotation(&v[3..12]),
            Turn::Axis => by_axis([v[3], v[4], v[5]]),
        };
        out.truncate(first + 3);
        out.extend(quaternion);
    }
}

impl ContactMark {
    /// The contact at (t, q, u).
    pub fn at(&self, t: f64, q: &[f64], u: &[f64]) -> ContactPose {
        let d = self.dimension;
        let mut values = [0.0; 12];
        self.tape.evaluate(t, q, u, &mut values[..d * (1 + self.vectors)]);
        let mut spot = ContactPose::default();
        spot.point[..d].copy_from_slice(&values[..d]);
        for (k, along) in spot.along.iter_mut().take(self.vectors).enumerate() {
            along[..d].copy_from_slice(&values[d * (1 + k)..d * (2 + k)]);
            unit(&mut along[..]);
        }
        if self.right {
            spot.along[1] = [spot.along[0][1], -spot.along[0][0], 0.0];
        }
        spot
    }
}

impl Picture {
    /// The picture of a scene, if it has one. Coordinates of bodies, `others`, come before those of the model.
    pub fn build<'n>(
        document: &Document,
        scene: &Scene,
        numbers: &mut Numbers,
        others: impl Iterator<Item = &'n str>,
    ) -> Result<Option<Self>, Fault> {
        let Some(picture) = &scene.picture else { return Ok(None) };
        let dimension = dimension(document, scene, picture)?;
        let others: Vec<Key> = others.map(|n| Key { name: n.into(), origin: Origin::Scene }).collect();
        let own = scene.model.as_ref();
        let coordinates: Vec<Key> = others.iter().chain(own.iter().flat_map(|m| &m.coordinates)).cloned().collect();
        let velocities = own.and_then(|m| m.velocities.as_ref());
        let velocities: Option<Vec<Key>> = velocities.map(|own| others.iter().chain(own).cloned().collect());
        let identity = scene.kinematics.0.is_empty();
        let mut reader = Reader {
            dimension,
            graph: Graph::default(),
            variables: Variables::new(document, numbers, &coordinates, velocities.as_deref(), identity, &scene.define),
        };
        let mut this = Self { dimension, ..Self::default() };
        for draw in &picture.draw {
            this.items.push(reader.item(draw)?);
        }
        for contact in &picture.contact {
            check_contact(scene, &contact.contact, &this.contacts)?;
            this.contacts.push(reader.mark(contact)?);
        }
        this.used = reader.variables.used;
        Ok(Some(this))
    }
}

fn dimension(document: &Document, scene: &Scene, picture: &picture::Picture) -> Result<usize, Fault> {
    let place = || document.get(&["picture", "dimension"]).map_or(picture.origin.clone(), |n| n.origin.clone());
    match picture.dimension.unwrap_or(2) {
        2 => Ok(2),
        3 if crate::model::bodies::any(scene) => {
            Err(Fault::new(&place(), "bodies and bars are drawn in the plane: `dimension` is 2 beside them"))
        }
        3 => Ok(3),
        other => Err(Fault::new(&place(), format!("`dimension` is 2 or 3, this is {other}"))),
    }
}

fn check_contact(scene: &Scene, key: &Key, drawn: &[ContactMark]) -> Result<(), Fault> {
    let name = &key.name;
    let fault = |message: String| Err(Fault::new(&key.origin, message));
    let Some(contact) = scene.contact.iter().find(|c| c.name.name == *name) else {
        let names = || scene.contact.iter().filter(|c| c.gap.is_some()).map(|c| c.name.name.as_str());
        let hint = hint_or_list(name, names());
        return fault(format!("there is no contact `{name}`{hint}"));
    };
    if contact.gap.is_none() {
        return fault(format!("`{name}` is a law of bodies: their contacts are drawn where they touch"));
    }
    if drawn.iter().any(|m| m.contact == *name) {
        return fault(format!("contact `{name}` is drawn twice"));
    }
    Ok(())
}
