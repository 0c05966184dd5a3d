//! Reads the records of figures and compiles the formulas of their poses.

use super::figure::Figure;
use super::orientation::Turn;
use super::{ContactMark, Item};
use crate::file::format::HalfPlane;
use crate::file::picture::{self, Draw, DrawnContact, Tangent};
use crate::file::{Fault, Formula, Origin};
use crate::formula::{Graph, Id, Slot, Tape};
use crate::model::scope::{Allowed, Variables};

pub(super) struct Reader<'a> {
    pub(super) dimension: usize,
    pub(super) graph: Graph,
    pub(super) variables: Variables<'a>,
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

    pub(super) fn item(&mut self, draw: &Draw) -> Result<Item, Fault> {
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

    pub(super) fn mark(&mut self, c: &DrawnContact) -> Result<ContactMark, Fault> {
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
        Ok(ContactMark { contact: c.contact.name.clone(), tape, dimension: self.dimension, vectors, right })
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
