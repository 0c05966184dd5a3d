//! `[picture]` of a scene: figures whose poses are formulas. They take no part in the run.

use super::figure::Figure;
use super::scope::{Allowed, Numbers, Variables};
use crate::file::format::{HalfPlane, Scene};
use crate::file::picture::{self, Draw, DrawnContact, Tangent};
use crate::file::{Document, Fault, Formula, Key, Origin};
use crate::formula::{Graph, Id, Slot, Tape};
use nonsmooth::names::nearest;
use std::collections::BTreeSet;

/// What is drawn by formulas.
#[derive(Debug, Clone, Default)]
pub struct Picture {
    /// 2 or 3.
    pub dimension: usize,
    /// Figures from back to front.
    pub items: Vec<Item>,
    /// Contacts that are drawn.
    pub contacts: Vec<Mark>,
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

/// Where a contact is: formulas of its point, its normal and its directions of slip.
#[derive(Debug, Clone)]
pub struct Mark {
    /// Name of the contact.
    pub contact: String,
    tape: Tape,
    dimension: usize,
    vectors: usize,
    /// Whether the direction of slip is the normal turned to the right.
    right: bool,
}

/// A contact at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Spot {
    /// Where it acts, m; z is 0 in the plane.
    pub point: [f64; 3],
    /// Unit vectors along which the components of its percussion act: normal, then tangential; zero where there is none.
    pub along: [[f64; 3]; 3],
}

/// How the numbers that formulas give become a pose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    /// They are the pose.
    None,
    /// A point and a direction of the plane, which becomes an angle.
    Direction,
    /// A point and a direction in space, which becomes one of length 1.
    Normal,
    /// A centre in space: the orientation is none.
    Still,
    /// A centre and a quaternion of any length.
    Quaternion,
    /// A centre and the rows of a rotation matrix.
    Rotation,
    /// A centre and the direction of the local z.
    Axis,
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

impl Mark {
    /// The contact at (t, q, u).
    pub fn at(&self, t: f64, q: &[f64], u: &[f64]) -> Spot {
        let d = self.dimension;
        let mut values = [0.0; 12];
        self.tape.evaluate(t, q, u, &mut values[..d * (1 + self.vectors)]);
        let mut spot = Spot::default();
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

/// Makes a vector one of length 1, if it has a length.
fn unit(v: &mut [f64]) {
    let norm = v.iter().map(|x| x * x).sum::<f64>().sqrt();
    if norm > 0.0 && norm.is_finite() {
        v.iter_mut().for_each(|x| *x /= norm);
    }
}

/// The unit quaternion of a rotation matrix, by the largest of its components.
fn by_rotation(rows: &[f64]) -> [f64; 4] {
    let a = |i: usize, j: usize| rows[3 * i + j];
    let candidates = [
        1.0 + a(0, 0) + a(1, 1) + a(2, 2),
        1.0 + a(0, 0) - a(1, 1) - a(2, 2),
        1.0 - a(0, 0) + a(1, 1) - a(2, 2),
        1.0 - a(0, 0) - a(1, 1) + a(2, 2),
    ];
    let largest = (0..4).max_by(|&i, &j| candidates[i].total_cmp(&candidates[j])).unwrap_or(0);
    let (x, y, z) = (a(2, 1) - a(1, 2), a(0, 2) - a(2, 0), a(1, 0) - a(0, 1));
    let (xy, xz, yz) = (a(0, 1) + a(1, 0), a(0, 2) + a(2, 0), a(1, 2) + a(2, 1));
    let mut p = match largest {
        0 => [candidates[0], x, y, z],
        1 => [x, candidates[1], xy, xz],
        2 => [y, xy, candidates[2], yz],
        _ => [z, xz, yz, candidates[3]],
    };
    unit(&mut p);
    p
}

/// The shortest turn from z to a direction.
fn by_axis(mut n: [f64; 3]) -> [f64; 4] {
    unit(&mut n);
    if n[2] < -1.0 + 1e-12 {
        return [0.0, 1.0, 0.0, 0.0];
    }
    let mut p = [1.0 + n[2], -n[1], n[0], 0.0];
    unit(&mut p);
    p
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
        let others: Vec<Key> = others.map(|n| Key { name: n.into(), origin: Origin::Whole }).collect();
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
        3 if super::bodies::any(scene) => {
            Err(Fault::new(&place(), "bodies and bars are drawn in the plane: `dimension` is 2 beside them"))
        }
        3 => Ok(3),
        other => Err(Fault::new(&place(), format!("`dimension` is 2 or 3, this is {other}"))),
    }
}

fn check_contact(scene: &Scene, key: &Key, drawn: &[Mark]) -> Result<(), Fault> {
    let name = &key.name;
    let fault = |message: String| Err(Fault::new(&key.origin, message));
    let Some(contact) = scene.contact.iter().find(|c| c.name.name == *name) else {
        let names = || scene.contact.iter().filter(|c| c.gap.is_some()).map(|c| c.name.name.as_str());
        let hint = match nearest(name, names()) {
            Some(n) => format!(": did you mean `{n}`?"),
            None => format!(" (there are {})", names().collect::<Vec<_>>().join(", ")),
        };
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

struct Reader<'a> {
    dimension: usize,
    graph: Graph,
    variables: Variables<'a>,
}

/// Formulas and how they become a pose.
type Posed = (Vec<Id>, Turn);

impl Reader<'_> {
    fn number(&mut self, f: &Formula) -> Result<f64, Fault> {
        self.variables.numbers.evaluate(self.variables.document, f)
    }

    /// A number that is positive.
    fn size(&mut self, f: &Formula, what: &str) -> Result<f64, Fault> {
        let v = self.number(f)?;
        if v > 0.0 { Ok(v) } else { Err(Fault::new(&f.origin, format!("`{what}` must be positive, it is {v}"))) }
    }

    fn node(&mut self, f: &Formula) -> Result<Id, Fault> {
        self.variables.node(&mut self.graph, f, Allowed::All)
    }

    fn node_or_zero(&mut self, f: Option<&Formula>) -> Result<Id, Fault> {
        match f {
            Some(f) => self.node(f),
            None => Ok(self.graph.constant(0.0)),
        }
    }

    fn components(&mut self, list: &[Formula], n: usize, what: &str, origin: &Origin) -> Result<Vec<Id>, Fault> {
        if list.len() != n {
            let origin = list.first().map_or(origin, |f| &f.origin);
            return Err(Fault::new(origin, format!("`{what}` has {n} components, this has {}", list.len())));
        }
        list.iter().map(|f| self.node(f)).collect()
    }

    fn point(&mut self, list: &[Formula], what: &str, origin: &Origin) -> Result<Vec<Id>, Fault> {
        self.components(list, self.dimension, what, origin)
    }

    fn item(&mut self, draw: &Draw) -> Result<Item, Fault> {
        let mut found: Vec<(Figure, Posed)> = Vec::new();
        if let Some(at) = &draw.point {
            let figure = if self.dimension == 2 { Figure::Point } else { Figure::Point3 };
            found.push((figure, (self.point(at, "point", &draw.origin)?, Turn::None)));
        }
        if let Some(line) = &draw.line {
            found.push(self.line(line)?);
        }
        if let Some(s) = &draw.spring {
            self.plane("spring", &s.origin)?;
            let mut ends = self.point(&s.from, "from", &s.origin)?;
            ends.extend(self.point(&s.to, "to", &s.origin)?);
            found.push((Figure::Spring, (ends, Turn::None)));
        }
        if let Some(d) = &draw.disc {
            found.push(self.disc(d)?);
        }
        if let Some(r) = &draw.inner_circle {
            self.plane("inner_circle", &r.origin)?;
            let zero = self.graph.constant(0.0);
            let mut pose = match &r.centre {
                Some(c) => self.point(c, "centre", &r.origin)?,
                None => vec![zero; 2],
            };
            pose.push(self.node_or_zero(r.angle.as_ref())?);
            found.push((Figure::Ring { radius: self.size(&r.radius, "radius")? }, (pose, Turn::None)));
        }
        if let Some(r) = &draw.rectangle {
            self.plane("rectangle", &r.origin)?;
            let mut pose = self.point(&r.centre, "centre", &r.origin)?;
            pose.push(self.node_or_zero(r.angle.as_ref())?);
            let size = [self.size(&r.width, "width")?, self.size(&r.height, "height")?];
            found.push((Figure::Box { size }, (pose, Turn::None)));
        }
        if let Some(h) = &draw.half_plane {
            self.plane("half_plane", &h.origin)?;
            found.push((Figure::Wall, (self.half(h)?, Turn::Direction)));
        }
        if let Some(s) = &draw.sphere {
            self.space("sphere", &s.origin)?;
            let centre = self.point(&s.centre, "centre", &s.origin)?;
            let pose = self.oriented(centre, s.quaternion.as_deref(), s.rotation.as_deref(), None, &s.origin)?;
            found.push((Figure::Sphere { radius: self.size(&s.radius, "radius")? }, pose));
        }
        if let Some(c) = &draw.cuboid {
            self.space("cuboid", &c.origin)?;
            let centre = self.point(&c.centre, "centre", &c.origin)?;
            let pose = self.oriented(centre, c.quaternion.as_deref(), c.rotation.as_deref(), None, &c.origin)?;
            let [x, y, z] = c.size.as_slice() else {
                let origin = c.size.first().map_or(&c.origin, |f| &f.origin);
                return Err(Fault::new(origin, format!("`size` has 3 components, this has {}", c.size.len())));
            };
            let size = [self.size(x, "size")?, self.size(y, "size")?, self.size(z, "size")?];
            found.push((Figure::Box3 { size }, pose));
        }
        if let Some(f) = &draw.floor {
            self.space("floor", &f.origin)?;
            found.push((Figure::Floor, (self.half(f)?, Turn::Normal)));
        }
        let colour = draw.colour.as_ref().map(|f| self.number(f)).transpose()?;
        let count = found.len();
        let (Some((figure, (roots, turn))), 1) = (found.pop(), count) else {
            let kinds = "point, line, spring, disc, inner_circle, rectangle, half_plane, sphere, cuboid, floor";
            return Err(Fault::new(&draw.origin, format!("a figure is one of {kinds}; this has {count} of them")));
        };
        let moves = !self.graph.variables(&roots).is_empty();
        if moves && figure == Figure::Floor {
            return Err(Fault::new(&draw.origin, "a `floor` does not move: its point and normal are numbers"));
        }
        let name = draw.name.as_ref().map_or_else(|| figure.kind().to_string(), |k| k.name.clone());
        let fill = draw.fill.unwrap_or(true);
        let tape = self.tape(&roots, &draw.origin)?;
        Ok(Item { name, colour, fill, figure, moves, tape, outputs: roots.len(), turn })
    }

    /// Refuses a figure that is for the plane.
    fn plane(&self, kind: &str, origin: &Origin) -> Result<(), Fault> {
        if self.dimension == 2 {
            return Ok(());
        }
        Err(Fault::new(origin, format!("`{kind}` is for pictures in the plane, and `dimension` is 3")))
    }

    /// Refuses a figure or a key that is for space.
    fn space(&self, kind: &str, origin: &Origin) -> Result<(), Fault> {
        if self.dimension == 3 {
            return Ok(());
        }
        Err(Fault::new(origin, format!("`{kind}` is for pictures in space: give `dimension = 3`")))
    }

    fn line(&mut self, line: &picture::Line) -> Result<(Figure, Posed), Fault> {
        let (points, closed) = (line.points.len(), line.closed == Some(true));
        if points < 2 {
            return Err(Fault::new(&line.origin, format!("a line has two points or more, this has {points}")));
        }
        let mut roots = Vec::new();
        for p in &line.points {
            roots.extend(self.point(p, "points", &line.origin)?);
        }
        let figure =
            if self.dimension == 2 { Figure::Line { points, closed } } else { Figure::Line3 { points, closed } };
        Ok((figure, (roots, Turn::None)))
    }

    fn disc(&mut self, d: &picture::Disc) -> Result<(Figure, Posed), Fault> {
        let radius = self.size(&d.radius, "radius")?;
        let mut centre = self.point(&d.centre, "centre", &d.origin)?;
        if self.dimension == 2 {
            let lists = [&d.quaternion, &d.axis].into_iter().flatten().flatten();
            let useless = lists.chain(d.rotation.iter().flatten().flatten()).chain(&d.thickness).next();
            if let Some(f) = useless {
                let message = "`thickness`, `quaternion`, `rotation` and `axis` are for discs in space: give \
                               `dimension = 3`, or `angle`";
                return Err(Fault::new(&f.origin, message));
            }
            centre.push(self.node_or_zero(d.angle.as_ref())?);
            return Ok((Figure::Circle { radius }, (centre, Turn::None)));
        }
        if let Some(f) = &d.angle {
            let message = "`angle` is for discs in the plane: give `quaternion`, `rotation` or `axis`";
            return Err(Fault::new(&f.origin, message));
        }
        let thickness = match &d.thickness {
            Some(f) => self.size(f, "thickness")?,
            None => 0.1 * radius,
        };
        let (quaternion, rotation, axis) = (d.quaternion.as_deref(), d.rotation.as_deref(), d.axis.as_deref());
        Ok((Figure::Disc3 { radius, thickness }, self.oriented(centre, quaternion, rotation, axis, &d.origin)?))
    }

    /// A point and a normal.
    fn half(&mut self, h: &HalfPlane) -> Result<Vec<Id>, Fault> {
        let zero = self.graph.constant(0.0);
        let mut out = match &h.point {
            Some(p) => self.point(p, "point", &h.origin)?,
            None => vec![zero; self.dimension],
        };
        out.extend(self.point(&h.normal, "normal", &h.origin)?);
        Ok(out)
    }

    /// A centre in space with its orientation.
    fn oriented(
        &mut self,
        mut pose: Vec<Id>,
        quaternion: Option<&[Formula]>,
        rotation: Option<&[Vec<Formula>]>,
        axis: Option<&[Formula]>,
        origin: &Origin,
    ) -> Result<Posed, Fault> {
        let turn = match (quaternion, rotation, axis) {
            (None, None, None) => Turn::Still,
            (Some(list), None, None) => {
                pose.extend(self.components(list, 4, "quaternion", origin)?);
                Turn::Quaternion
            }
            (None, Some(rows), None) => {
                if rows.len() != 3 {
                    return Err(Fault::new(origin, format!("`rotation` has 3 rows, this has {}", rows.len())));
                }
                for row in rows {
                    pose.extend(self.components(row, 3, "rotation", origin)?);
                }
                Turn::Rotation
            }
            (None, None, Some(list)) => {
                pose.extend(self.components(list, 3, "axis", origin)?);
                Turn::Axis
            }
            _ => return Err(Fault::new(origin, "give one of `quaternion`, `rotation`, `axis`")),
        };
        Ok((pose, turn))
    }

    fn mark(&mut self, c: &DrawnContact) -> Result<Mark, Fault> {
        let mut roots = self.point(&c.point, "point", &c.origin)?;
        roots.extend(self.point(&c.normal, "normal", &c.origin)?);
        let mut vectors = 1;
        match (&c.tangent, self.dimension) {
            (None, _) => {}
            (Some(Tangent::One(list)), 2) => {
                roots.extend(self.point(list, "tangent", &c.origin)?);
                vectors += 1;
            }
            (Some(Tangent::Two(list)), 3) if list.len() == 2 => {
                for direction in list {
                    roots.extend(self.point(direction, "tangent", &c.origin)?);
                    vectors += 1;
                }
            }
            (Some(given), d) => {
                let first = match given {
                    Tangent::One(list) => list.first(),
                    Tangent::Two(list) => list.iter().flatten().next(),
                };
                let wanted = if d == 2 { "one direction of the plane" } else { "a list of two directions in space" };
                let message = format!("`tangent` is {wanted}");
                return Err(Fault::new(first.map_or(&c.origin, |f| &f.origin), message));
            }
        }
        let tape = self.tape(&roots, &c.origin)?;
        let right = self.dimension == 2 && vectors == 1;
        Ok(Mark { contact: c.contact.name.clone(), tape, dimension: self.dimension, vectors, right })
    }

    fn tape(&self, roots: &[Id], origin: &Origin) -> Result<Tape, Fault> {
        let nq = self.variables.nq();
        let slot = |v: u32| match v as usize {
            0 => Slot::Time,
            v if v <= nq => Slot::Coordinate(v - 1),
            v => Slot::Velocity(v - 1 - nq),
        };
        Tape::new(&self.graph, roots, slot).map_err(|e| Fault::new(origin, e.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of the rotation matrix of a unit quaternion.
    fn rows([w, x, y, z]: [f64; 4]) -> [f64; 9] {
        [
            1.0 - 2.0 * (y * y + z * z),
            2.0 * (x * y - w * z),
            2.0 * (x * z + w * y),
            2.0 * (x * y + w * z),
            1.0 - 2.0 * (x * x + z * z),
            2.0 * (y * z - w * x),
            2.0 * (x * z - w * y),
            2.0 * (y * z + w * x),
            1.0 - 2.0 * (x * x + y * y),
        ]
    }

    #[test]
    fn a_rotation_matrix_gives_its_quaternion_whichever_component_is_largest() {
        for mut p in [[0.9, 0.1, -0.2, 0.3], [0.1, 0.9, 0.2, -0.3], [-0.1, 0.2, 0.9, 0.3], [0.2, 0.1, -0.3, 0.9]] {
            unit(&mut p);
            let found = by_rotation(&rows(p));
            let sign = if found.iter().zip(&p).map(|(a, b)| a * b).sum::<f64>() < 0.0 { -1.0 } else { 1.0 };
            // Unit quaternions to rounding.
            assert!(found.iter().zip(&p).all(|(a, b)| (sign * a - b).abs() < 1e-14), "{found:?} {p:?}");
        }
    }

    #[test]
    fn an_axis_is_where_its_quaternion_takes_z() {
        for mut n in [[0.0, 0.0, 1.0], [0.0, 0.0, -1.0], [1.0, 0.0, 0.0], [0.3, -0.5, 0.2], [0.1, 0.1, -0.99]] {
            unit(&mut n);
            let a = rows(by_axis(n));
            assert!((0..3).all(|i| (a[3 * i + 2] - n[i]).abs() < 1e-12), "{n:?}");
        }
    }
}
