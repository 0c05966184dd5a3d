//! Bodies, springs and bars of a scene: reads their records into a [`Builder`] of the multibody crate.
//!
//! - `body`: many bodies by one record; with `motion`, `shape`, `fill`, `random`.
//! - `bar`, `spring`, `contact`: the other records.
//! - `drawn`: what is drawn of all these.
//!
//! A record with `count` stands for many bodies. Its formulas are evaluated for each, with `i` and random numbers. A random number is a
//! function of the seed, the record, i and its own index, so that it does not depend on the rest of the scene.

mod bar;
mod body;
mod contact;
mod drawn;
mod fill;
mod motion;
mod random;
mod shape;
mod spring;

pub(crate) use drawn::locate;
pub use drawn::{Drawn, DrawnBar, DrawnSpring};

use super::Places;
use super::breaks::Breaks;
use super::scope::Numbers;
use crate::file::format::Scene;
use crate::file::{Document, Fault, Formula, Origin};
use nonsmooth_multibody::{Builder, Vec2};

/// Bodies read from a scene.
pub struct Bodies {
    /// The description.
    pub builder: Builder,
    /// What is drawn of each.
    pub drawn: Vec<Drawn>,
    /// What is drawn of springs, without torsion springs.
    pub springs: Vec<DrawnSpring>,
    /// What is drawn of bars.
    pub bars: Vec<DrawnBar>,
    /// Places of the records by their names.
    pub places: Places,
    /// Times at which a motion jumps or has a kink.
    pub breaks: Breaks,
}

/// Default limit on the coordinates of bodies and bars.
pub const MAX_COORDINATES: usize = 3_000_000;

/// Whether a scene has any.
pub fn any(scene: &Scene) -> bool {
    !(scene.body.is_empty() && scene.bar.is_empty())
}

/// Reads the bodies, springs, bars and laws of a scene.
pub fn read(
    document: &Document,
    scene: &Scene,
    numbers: &mut Numbers,
    most: usize,
    breaks: Breaks,
) -> Result<Bodies, Fault> {
    let mut reader = Reader {
        document,
        scene,
        numbers,
        out: Bodies {
            builder: Builder::new(),
            drawn: Vec::new(),
            springs: Vec::new(),
            bars: Vec::new(),
            places: Places::default(),
            breaks,
        },
        seed: 1,
        coordinates: 0,
        most,
    };
    reader.world()?;
    for (k, record) in scene.body.iter().enumerate() {
        reader.bodies(k as u64, record)?;
    }
    for record in &scene.bar {
        reader.bar(record)?;
    }
    for record in &scene.spring {
        reader.spring(record)?;
    }
    for record in scene.contact.iter().filter(|c| c.gap.is_none()) {
        reader.contact(record)?;
    }
    Ok(reader.out)
}

struct Reader<'a> {
    document: &'a Document,
    scene: &'a Scene,
    numbers: &'a mut Numbers,
    out: Bodies,
    seed: u64,
    coordinates: usize,
    most: usize,
}

impl Reader<'_> {
    fn number(&mut self, f: &Formula) -> Result<f64, Fault> {
        self.numbers.evaluate(self.document, f)
    }

    fn number_or(&mut self, f: Option<&Formula>, default: f64) -> Result<f64, Fault> {
        f.map_or(Ok(default), |f| self.number(f))
    }

    fn pair(&mut self, list: &[Formula], what: &str, origin: &Origin) -> Result<Vec2, Fault> {
        let [x, y] = list else {
            let origin = list.first().map_or(origin, |f| &f.origin);
            return Err(Fault::new(origin, format!("{what} has two components, this has {}", list.len())));
        };
        Ok([self.number(x)?, self.number(y)?])
    }

    fn pair_or(&mut self, list: Option<&Vec<Formula>>, what: &str, origin: &Origin) -> Result<Vec2, Fault> {
        list.map_or(Ok([0.0, 0.0]), |l| self.pair(l, what, origin))
    }

    /// A whole number that is not negative.
    fn count(&mut self, f: &Formula, what: &str) -> Result<usize, Fault> {
        let v = self.number(f)?;
        if v >= 0.0 && v.fract() == 0.0 && v < 1e15 {
            return Ok(v as usize);
        }
        Err(Fault::new(&f.origin, format!("{what} must be a whole number that is not negative, this is {v}")))
    }

    fn reserve(&mut self, count: usize, origin: &Origin) -> Result<(), Fault> {
        self.coordinates = self.coordinates.saturating_add(count);
        if self.coordinates > self.most {
            let message = format!(
                "the bodies and bars have {} coordinates or more, the limit is {}: raise it with --max-coordinates",
                self.coordinates, self.most
            );
            return Err(Fault::new(origin, message));
        }
        Ok(())
    }

    fn world(&mut self) -> Result<(), Fault> {
        let Some(world) = &self.scene.world else { return Ok(()) };
        if let Some(g) = &world.gravity {
            let g = self.pair(g, "`gravity`", &world.origin)?;
            self.out.builder.gravity(g);
        }
        if let Some(seed) = &world.seed {
            self.seed = self.count(seed, "`seed`")? as u64;
        }
        if let Some(threads) = world.threads {
            if !(1..=64).contains(&threads) {
                let node = self.document.get(&["world", "threads"]);
                let origin = node.map_or(&world.origin, |n| &n.origin);
                return Err(Fault::new(origin, format!("`threads` is 1 to 64, this is {threads}")));
            }
            self.out.builder.threads(threads as usize);
        }
        Ok(())
    }
}
