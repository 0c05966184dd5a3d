//! Reads the records of springs.

use super::Reader;
use super::drawn::DrawnSpring;
use crate::file::format;
use crate::file::{Fault, Key};
use nonsmooth_multibody::Spring;

impl Reader<'_> {
    pub(super) fn spring(&mut self, spring: &format::Spring) -> Result<(), Fault> {
        let origin = &spring.origin;
        self.out.places.insert(&spring.name.name, &spring.name.origin);
        let [a, b] = spring.bodies.as_slice() else {
            let origin = spring.bodies.first().map_or(origin, |k| &k.origin);
            return Err(Fault::new(origin, format!("a spring is between two bodies, not {}", spring.bodies.len())));
        };
        for key in [a, b] {
            self.out.places.insert_mention(&spring.name.name, &key.name, &key.origin);
        }
        let points = match spring.points.as_deref() {
            None => [[0.0; 2]; 2],
            Some([p, q]) => [self.pair(p, "an end", origin)?, self.pair(q, "an end", origin)?],
            Some(other) => {
                let origin = other.first().and_then(|p| p.first()).map_or(origin, |f| &f.origin);
                return Err(Fault::new(origin, format!("`points` has two points, this has {}", other.len())));
            }
        };
        let made = Spring {
            name: spring.name.name.clone(),
            bodies: [a.name.clone(), b.name.clone()],
            points,
            stiffness: self.number(&spring.stiffness)?,
            damping: self.number_or(spring.damping.as_ref(), 0.0)?,
            rest: match &spring.rest {
                Some(f) => Some(self.number(f)?),
                None => None,
            },
            torsion: spring.torsion == Some(true),
        };
        let number = |key: &Key| self.out.drawn.iter().position(|d| d.name == key.name);
        // A name that no body has is an error of the builder.
        if let (Some(i), Some(j), false) = (number(a), number(b), made.torsion) {
            self.out.springs.push(DrawnSpring { name: made.name.clone(), bodies: [i, j], points });
        }
        self.out.builder.spring(made);
        Ok(())
    }
}
