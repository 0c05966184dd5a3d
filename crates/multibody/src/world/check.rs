//! Checks of a description as a whole.

use super::Builder;
use crate::error::BuildError;
use crate::material::Classes;
use crate::pairing::Laws;
use crate::planar::body::Body;
use crate::planar::shape::Shape;
use crate::planar::surface::encounters;
use nonsmooth::names::is_name;
use std::collections::BTreeSet;

impl Builder {
    pub(super) fn check_names(&self) -> Result<(), BuildError> {
        let mut seen = BTreeSet::new();
        let named = self.bodies.iter().map(|b| &b.name).chain(self.bars.iter().map(|b| &b.name));
        let named = named.chain(self.springs.iter().map(|s| &s.name));
        for name in named.chain(self.pairings.iter().map(|p| &p.name)).chain(self.stops.iter().map(|s| &s.name)) {
            if !is_name(name) {
                return Err(BuildError::Name { name: name.clone() });
            }
            if !seen.insert(name) {
                return Err(BuildError::Twice { name: name.clone() });
            }
        }
        Ok(())
    }

    /// No corner may meet a wall without thickness.
    pub(super) fn check_thickness(&self, classes: &Classes, laws: &Laws) -> Result<(), BuildError> {
        // One body of each class and kind of shape stands for all.
        let thin = |b: &&Body| b.shapes.iter().any(Shape::is_thin);
        let cornered = |b: &&Body| b.shapes.iter().any(Shape::has_corners);
        let place = |name: &str| self.bodies.iter().position(|b| b.name == name).unwrap_or(0);
        for wall in self.bodies.iter().filter(thin) {
            let class = classes.of_body[place(&wall.name)];
            let mut seen = BTreeSet::new();
            for (i, corner) in self.bodies.iter().enumerate().filter(|(_, b)| cornered(b)) {
                let other = classes.of_body[i];
                let both_still = !wall.is_free() && !corner.is_free();
                if corner.name == wall.name || both_still || !seen.insert((other, both_still)) {
                    continue;
                }
                let meets = laws.between(class, other).is_some();
                let touch = corner.shapes.iter().any(|s| wall.shapes.iter().any(|w| encounters(w, s).1 > 0));
                if meets && touch {
                    return Err(BuildError::Thin { wall: wall.name.clone(), corner: corner.name.clone() });
                }
            }
        }
        Ok(())
    }
}
