//! Bodies, springs and bars of a scene: from records to a [`Builder`] of the multibody crate.
//!
//! A record with `count` stands for many bodies; its formulas are evaluated for each, with `i` and random numbers that are made of the
//! seed, the record, i and which of them it is, so that they do not depend on what else is in the scene.

use super::scope::{Allowed, Numbers, Variables};
use crate::file::format::{self, Scene};
use crate::file::{Document, Fault, Formula, Key, Named, Origin};
use crate::formula::{Graph, Id, Slot, Tape};
use nonsmooth::law::ContactLaw;
use nonsmooth_multibody::{Bar, Body, BuildError, Builder, Mobility, Motion, Pose, Shape, Spring, Twist, Vec2, Weight};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What is drawn of a body: for files and pictures.
#[derive(Debug, Clone)]
pub struct Drawn {
    /// Its name.
    pub name: String,
    /// Its shapes.
    pub shapes: Vec<Shape>,
    /// Number of its colour.
    pub colour: f64,
    /// First of its three coordinates, if it has any.
    pub first: Option<usize>,
    /// Pose at the start.
    pub pose: Pose,
}

/// What is drawn of a spring.
#[derive(Debug, Clone)]
pub struct DrawnSpring {
    /// Its name.
    pub name: String,
    /// Numbers of its bodies.
    pub bodies: [usize; 2],
    /// Its ends in the frames of these.
    pub points: [Vec2; 2],
}

/// What is drawn of a bar.
#[derive(Debug, Clone)]
pub struct DrawnBar {
    /// Its name.
    pub name: String,
    /// Its first coordinate.
    pub first: usize,
    /// Number of its elements.
    pub elements: usize,
    /// Its length, m.
    pub length: f64,
}

/// Bodies read from a scene.
pub struct Bodies {
    /// The description.
    pub builder: Builder,
    /// What is drawn of each.
    pub drawn: Vec<Drawn>,
    /// What is drawn of springs; torsion springs have no place.
    pub springs: Vec<DrawnSpring>,
    /// What is drawn of bars.
    pub bars: Vec<DrawnBar>,
    /// Places of the records by their names.
    pub places: BTreeMap<String, Origin>,
}

/// Coordinates of bodies and bars that a scene may have without being asked.
pub const MAX_COORDINATES: usize = 3_000_000;

/// Names that formulas of a body may use besides parameters.
const OWN: [&str; 4] = ["i", "random", "random2", "random3"];

/// A number in [0, 1) that is a function of its arguments alone (SplitMix64).
fn random(seed: u64, record: u64, i: u64, which: u64) -> f64 {
    let mut x = seed;
    for part in [record, i, which] {
        x = x.wrapping_add(part.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        x ^= x >> 31;
    }
    (x >> 11) as f64 / (1u64 << 53) as f64
}

/// A motion by formulas: x, y, phi, their rates, and the rates of these.
#[derive(Debug)]
struct ByFormula {
    tape: Tape,
    /// Whether phi depends on t.
    turns: bool,
}

impl Motion for ByFormula {
    fn at(&self, t: f64) -> (Pose, Twist, Twist) {
        let mut v = [0.0; 9];
        self.tape.evaluate(t, &[], &[], &mut v);
        let twist = |k: usize| Twist { velocity: [v[k], v[k + 1]], spin: v[k + 2] };
        (Pose { centre: [v[0], v[1]], angle: v[2] }, twist(3), twist(6))
    }

    fn turns(&self) -> bool {
        self.turns
    }
}

/// Whether a scene has any.
pub fn any(scene: &Scene) -> bool {
    !(scene.body.is_empty() && scene.bar.is_empty())
}

/// Reads the bodies, springs, bars and laws of a scene.
pub fn read(document: &Document, scene: &Scene, numbers: &mut Numbers, most: usize) -> Result<Bodies, Fault> {
    let mut reader = Reader {
        document,
        scene,
        numbers,
        out: Bodies {
            builder: Builder::new(),
            drawn: Vec::new(),
            springs: Vec::new(),
            bars: Vec::new(),
            places: BTreeMap::new(),
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

/// An error of the builder at the record that it names.
pub fn blame(error: &BuildError, places: &BTreeMap<String, Origin>) -> Fault {
    let message = error.to_string();
    let used = match error {
        BuildError::Unknown { part, name, .. } => places.get(&use_of(part, name)),
        _ => None,
    };
    let words = message.split('`').skip(1).step_by(2);
    let origin = used.or_else(|| words.into_iter().find_map(|name| record(name, places)));
    Fault::new(&origin.cloned().unwrap_or_default(), message)
}

/// The record of a body, which may be one of many.
fn record<'a>(name: &str, places: &'a BTreeMap<String, Origin>) -> Option<&'a Origin> {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    places.get(name).or_else(|| places.get(stem.strip_suffix('_').unwrap_or(stem)))
}

/// The record of a body of a contact that was found; it goes by the names of both.
pub fn place_of_found(contact: &str, places: &BTreeMap<String, Origin>) -> Option<Origin> {
    let (a, b) = contact.split_once('-')?;
    record(b, places).or_else(|| record(a, places)).cloned()
}

/// Where a part names another. It has a blank, which no name has.
fn use_of(part: &str, name: &str) -> String {
    format!("{part} {name}")
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

    fn restitution(&mut self, f: &Formula) -> Result<f64, Fault> {
        super::interactions::in_unit_interval(self.number(f)?, f)
    }

    fn not_negative(&mut self, f: &Formula, what: &str) -> Result<f64, Fault> {
        super::interactions::not_negative(self.number(f)?, f, what)
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

    fn bodies(&mut self, record: u64, body: &format::Body) -> Result<(), Fault> {
        let name = &body.name.name;
        self.out.places.insert(name.clone(), body.name.origin.clone());
        let count = match &body.count {
            Some(f) => Some(self.count(f, "`count`")?),
            None => None,
        };
        let made = count.unwrap_or(1);
        let mobility = self.mobility(body)?;
        if matches!(mobility, Mobility::Free) {
            self.reserve(made.saturating_mul(3), &body.name.origin)?;
        } else {
            self.reserve(made, &body.name.origin)?;
        }
        if let Some(position) = body.position.as_ref().filter(|_| body.fill.is_some()) {
            let origin = position.first().map_or(&body.origin, |f| &f.origin);
            return Err(Fault::new(origin, format!("body `{name}` has `position` and `fill`: give one of them")));
        }
        let places = match &body.fill {
            Some(fill) => Some(self.fill(fill, made, name)?),
            None => None,
        };
        for i in 0..made {
            let values = [
                i as f64,
                random(self.seed, record, i as u64, 0),
                random(self.seed, record, i as u64, 1),
                random(self.seed, record, i as u64, 2),
            ];
            if count.is_some() {
                OWN.iter().zip(values).for_each(|(n, v)| self.numbers.offer(n, v));
            }
            let own = if count.is_some() { format!("{name}_{i}") } else { name.clone() };
            let result = self.body(body, own, mobility.clone(), places.as_ref().map(|p| p[i]));
            if count.is_some() {
                OWN.iter().for_each(|n| self.numbers.withdraw(n));
            }
            result?;
        }
        Ok(())
    }

    fn mobility(&mut self, body: &format::Body) -> Result<Mobility, Fault> {
        let fixed = body.fixed == Some(true);
        if body.motion.0.is_empty() {
            return Ok(if fixed { Mobility::Fixed } else { Mobility::Free });
        }
        if fixed {
            let message = format!("body `{}` is fixed and has a motion", body.name.name);
            return Err(Fault::new(&body.motion.0[0].0.origin, message));
        }
        self.motion(&body.motion).map(Mobility::Driven)
    }

    fn motion(&mut self, motion: &Named<Formula>) -> Result<Arc<dyn Motion>, Fault> {
        let mut graph = Graph::default();
        let mut variables = Variables::new(self.document, self.numbers, &[], None, true, &self.scene.define);
        let zero = graph.constant(0.0);
        let mut values: [Id; 3] = [zero; 3];
        for (key, formula) in &motion.0 {
            let Some(k) = ["x", "y", "phi"].iter().position(|n| *n == key.name) else {
                let message = format!("a motion has x, y and phi, not `{}`", key.name);
                return Err(Fault::new(&key.origin, message));
            };
            values[k] = variables.node(&mut graph, formula, Allowed::Position("a motion"))?;
        }
        let rates = values.map(|v| graph.derivative(v, 0));
        let second = rates.map(|v| graph.derivative(v, 0));
        let outputs: Vec<Id> = values.into_iter().chain(rates).chain(second).collect();
        let tape = Tape::new(&graph, &outputs, |_| Slot::Time)
            .map_err(|e| Fault::new(&motion.0[0].1.origin, e.to_string()))?;
        let turns = !graph.variables(&[values[2]]).is_empty();
        Ok(Arc::new(ByFormula { tape, turns }))
    }

    fn body(
        &mut self,
        body: &format::Body,
        name: String,
        mobility: Mobility,
        place: Option<Vec2>,
    ) -> Result<(), Fault> {
        let origin = &body.origin;
        let mut shapes = Vec::new();
        for shape in body.shape.iter().chain(&body.shapes) {
            shapes.push(self.shape(shape)?);
        }
        let free = matches!(mobility, Mobility::Free);
        let weight = match (&body.density, &body.mass, &body.inertia) {
            (Some(d), None, None) => Weight::Density(self.number(d)?),
            (None, Some(m), Some(j)) => Weight::Given { mass: self.number(m)?, inertia: self.number(j)? },
            (None, None, None) if !free => Weight::Density(1.0),
            _ => {
                let message = format!("body `{}` needs `density`, or `mass` and `inertia`", body.name.name);
                return Err(Fault::new(origin, message));
            }
        };
        let driven = matches!(mobility, Mobility::Driven(_));
        let useless = [
            ("position", body.position.as_deref().and_then(<[_]>::first), driven, "its motion is prescribed"),
            ("angle", body.angle.as_ref(), driven, "its motion is prescribed"),
            ("velocity", body.velocity.as_deref().and_then(<[_]>::first), !free, "it does not move by forces"),
            ("spin", body.spin.as_ref(), !free, "it does not move by forces"),
        ];
        for (key, formula, refused, why) in useless {
            if let Some(f) = formula.filter(|_| refused) {
                let message = format!("body `{}`: `{key}` has no effect, {why}", body.name.name);
                return Err(Fault::new(&f.origin, message));
            }
        }
        let centre = match place {
            Some(p) => p,
            None => self.pair_or(body.position.as_ref(), "`position`", origin)?,
        };
        let pose = Pose { centre, angle: self.number_or(body.angle.as_ref(), 0.0)? };
        let velocity = self.pair_or(body.velocity.as_ref(), "`velocity`", origin)?;
        let twist = Twist { velocity, spin: self.number_or(body.spin.as_ref(), 0.0)? };
        let material = body.material.as_ref().map_or(nonsmooth_multibody::DEFAULT_MATERIAL.into(), |k| k.name.clone());
        let colour = self.number_or(body.colour.as_ref(), 0.0)?;
        let before = self.out.drawn.iter().rev().find_map(|d| d.first).map_or(0, |f| f + 3);
        let shown = match &mobility {
            Mobility::Driven(m) => m.at(0.0).0,
            _ => pose,
        };
        let first = free.then_some(before);
        self.out.drawn.push(Drawn { name: name.clone(), shapes: shapes.clone(), colour, first, pose: shown });
        self.out.builder.body(Body { name, mobility, weight, pose, twist, shapes, material });
        Ok(())
    }

    fn shape(&mut self, s: &format::Shape) -> Result<Shape, Fault> {
        let origin = &s.origin;
        let mut found = Vec::new();
        if let Some(d) = &s.disc {
            let centre = self.pair_or(d.centre.as_ref(), "`centre`", origin)?;
            found.push(Shape::Disc { centre, radius: self.number(&d.radius)? });
        }
        if let Some(d) = &s.inner_circle {
            let centre = self.pair_or(d.centre.as_ref(), "`centre`", origin)?;
            found.push(Shape::InnerCircle { centre, radius: self.number(&d.radius)? });
        }
        if let Some(h) = &s.half_plane {
            let point = self.pair_or(h.point.as_ref(), "`point`", origin)?;
            found.push(Shape::HalfPlane { point, normal: self.pair(&h.normal, "`normal`", origin)? });
        }
        if let Some(w) = &s.segment {
            let (from, to) = (self.pair(&w.from, "`from`", origin)?, self.pair(&w.to, "`to`", origin)?);
            found.push(Shape::segment(from, to, self.number_or(w.thickness.as_ref(), 0.0)?));
        }
        if let Some(r) = &s.rectangle {
            let centre = self.pair_or(r.centre.as_ref(), "`centre`", origin)?;
            let half = [0.5 * self.number(&r.width)?, 0.5 * self.number(&r.height)?];
            found.push(Shape::Box { centre, half, angle: self.number_or(r.angle.as_ref(), 0.0)? });
        }
        match found.as_slice() {
            [one] => Ok(*one),
            _ => {
                let kinds = "disc, inner_circle, half_plane, segment, rectangle";
                Err(Fault::new(origin, format!("a shape is one of {kinds}; this has {} of them", found.len())))
            }
        }
    }

    /// The first cells of a hexagonal lattice in a region, row by row from its bottom.
    fn fill(&mut self, fill: &format::Fill, count: usize, name: &str) -> Result<Vec<Vec2>, Fault> {
        let origin = &fill.origin;
        let s = self.number(&fill.spacing)?;
        if !(s > 0.0) {
            return Err(Fault::new(&fill.spacing.origin, format!("`spacing` must be positive, it is {s}")));
        }
        let (low, high, circle) = match (&fill.radius, &fill.from, &fill.to) {
            (Some(r), None, None) => {
                let (r, c) = (self.number(r)?, self.pair_or(fill.centre.as_ref(), "`centre`", origin)?);
                ([c[0] - r, c[1] - r], [c[0] + r, c[1] + r], Some((c, r)))
            }
            (None, Some(from), Some(to)) => (self.pair(from, "`from`", origin)?, self.pair(to, "`to`", origin)?, None),
            _ => return Err(Fault::new(origin, "a `fill` needs `radius`, or `from` and `to`")),
        };
        // Rows of n and n − 1 cells in turn, each in the middle of the region from side to side.
        let height = s * 0.75f64.sqrt();
        let columns = ((high[0] - low[0]) / s * (1.0 + 1e-12)).floor().clamp(0.0, 1e9);
        let middle = 0.5 * (low[0] + high[0]);
        let mut out = Vec::new();
        let mut row = 0.0;
        while out.len() < count {
            let y = low[1] + 0.5 * s + row * height;
            if !(y + 0.5 * s <= high[1] * (1.0 + 1e-12)) || columns < 1.0 {
                break;
            }
            let cells = if row % 2.0 == 0.0 { columns } else { columns - 1.0 };
            let mut column = 0.0;
            while column < cells && out.len() < count {
                let x = middle + (column - 0.5 * (cells - 1.0)) * s;
                let inside = circle.is_none_or(|(c, r): (Vec2, f64)| (x - c[0]).hypot(y - c[1]) + 0.5 * s <= r);
                if inside {
                    out.push([x, y]);
                }
                column += 1.0;
            }
            row += 1.0;
        }
        if out.len() < count {
            let message =
                format!("the region has room for {} bodies `{name}` at this spacing, {count} are asked for", out.len());
            return Err(Fault::new(origin, message));
        }
        Ok(out)
    }

    fn bar(&mut self, bar: &format::Bar) -> Result<(), Fault> {
        self.out.places.insert(bar.name.name.clone(), bar.name.origin.clone());
        let elements = self.count(&bar.elements, "`elements`")?;
        self.reserve(elements.saturating_add(1), &bar.name.origin)?;
        let made = Bar {
            name: bar.name.name.clone(),
            elements,
            length: self.number(&bar.length)?,
            area: self.number(&bar.area)?,
            density: self.number(&bar.density)?,
            modulus: self.number(&bar.modulus)?,
            displacement: self.number_or(bar.displacement.as_ref(), 0.0)?,
            velocity: self.number_or(bar.velocity.as_ref(), 0.0)?,
        };
        // Coordinates of bars stand behind those of all bodies.
        let bodies = || 3 * self.out.drawn.iter().filter(|d| d.first.is_some()).count();
        let first = self.out.bars.last().map_or_else(bodies, |b| b.first + b.elements + 1);
        let drawn = DrawnBar { name: made.name.clone(), first, elements, length: made.length };
        self.out.bars.push(drawn);
        self.out.builder.bar(made);
        Ok(())
    }

    fn spring(&mut self, spring: &format::Spring) -> Result<(), Fault> {
        let origin = &spring.origin;
        self.out.places.insert(spring.name.name.clone(), spring.name.origin.clone());
        let [a, b] = spring.bodies.as_slice() else {
            let origin = spring.bodies.first().map_or(origin, |k| &k.origin);
            return Err(Fault::new(origin, format!("a spring is between two bodies, not {}", spring.bodies.len())));
        };
        for key in [a, b] {
            self.out.places.insert(use_of(&spring.name.name, &key.name), key.origin.clone());
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

    fn contact(&mut self, contact: &format::Contact) -> Result<(), Fault> {
        let name = &contact.name.name;
        self.out.places.insert(name.clone(), contact.name.origin.clone());
        if let Some(f) = &contact.slip {
            let message = format!("contact `{name}` is between bodies: its slip velocity is known, remove `slip`");
            return Err(Fault::new(f.origin(), message));
        }
        let mut law = match &contact.restitution {
            None => ContactLaw::newton(0.0),
            Some(format::Restitution::Newton(e)) => ContactLaw::newton(self.restitution(e)?),
            Some(format::Restitution::Poisson(e)) => ContactLaw::poisson(self.restitution(e)?),
        };
        if let Some(e) = &contact.tangential_restitution {
            if contact.friction.is_none() {
                let message = format!("`tangential_restitution` has no effect: contact `{name}` has no `friction`");
                return Err(Fault::new(&e.origin, message));
            }
            law = law.tangential_restitution(self.restitution(e)?);
        }
        law = match &contact.friction {
            None => law,
            Some(format::Friction::Coulomb(mu)) => law.coulomb(1, self.not_negative(mu, "a friction coefficient")?),
            Some(format::Friction::Bound(a)) => law.tresca(1, self.not_negative(a, "a bound")?),
            Some(format::Friction::Polyhedral(mu, _)) => {
                return Err(Fault::new(
                    &mu.origin,
                    "polyhedral friction needs two directions of slip, the plane has one",
                ));
            }
        };
        for key in contact.between.iter().flatten() {
            self.out.places.insert(use_of(name, &key.name), key.origin.clone());
        }
        match contact.between.as_deref() {
            None => self.out.builder.contact_of_all(name, law),
            Some([a, b]) => self.out.builder.contact(name, &a.name, &b.name, law),
            Some(other) => {
                let origin = other.first().map_or(&contact.origin, |k: &Key| &k.origin);
                return Err(Fault::new(origin, format!("`between` has two names, this has {}", other.len())));
            }
        };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::random;

    #[test]
    fn random_numbers_are_spread_and_depend_on_every_argument() {
        let n = 10_000;
        let mean = (0..n).map(|i| random(1, 0, i, 0)).sum::<f64>() / n as f64;
        // Standard deviation of the mean: 1/√(12 n) = 0.0029.
        assert!((mean - 0.5).abs() < 0.0145, "{mean}");
        let one = random(1, 0, 7, 0);
        for other in [random(2, 0, 7, 0), random(1, 1, 7, 0), random(1, 0, 8, 0), random(1, 0, 7, 1)] {
            assert!((0.0..1.0).contains(&other) && other != one);
        }
    }
}
