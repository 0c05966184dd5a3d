//! From a description to a system: everything is checked here.

use crate::elastic::bar::{Bar, Chain};
use crate::error::BuildError;
use crate::force::spring::{Link, Spring};
use crate::planar::body::{Body, Mobility, Weight};
use crate::planar::detection::{Detection, IDENTITY, MAX_SHAPES};
use crate::planar::plane::{Vec2, dot, norm, sub};
use crate::planar::shape::{Shape, encounters};
use crate::system::{Entry, ForceKind, Limit, MAX_COORDINATES, Multibody, Place, Placed};
use complementarity::linear::Pattern;
use nonsmooth::State;
use nonsmooth::contract::{ForceInfo, Interaction, Kind, Needs, Structure};
use nonsmooth::law::{ContactLaw, Friction, Law, Normal};
use nonsmooth::names::{Names, is_name, nearest};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A law for pairs of bodies.
#[derive(Debug, Clone)]
struct Pairing {
    name: String,
    /// Names of bodies or materials; all pairs if there are none.
    between: Option<[String; 2]>,
    law: ContactLaw,
}

/// A stop of one coordinate.
#[derive(Debug, Clone)]
struct Stop {
    name: String,
    coordinate: String,
    sign: f64,
    offset: f64,
    law: ContactLaw,
}

/// Describes bodies, bars, springs and contacts; makes a [`Multibody`] of them.
#[derive(Debug, Clone, Default)]
pub struct Builder {
    gravity: Vec2,
    bodies: Vec<Body>,
    bars: Vec<Bar>,
    springs: Vec<Spring>,
    pairings: Vec<Pairing>,
    stops: Vec<Stop>,
    threads: usize,
}

impl Builder {
    /// An empty world without gravity.
    pub fn new() -> Self {
        Self { threads: 1, ..Self::default() }
    }

    /// Sets the acceleration of gravity, m/s². Its potential is zero at the origin.
    pub fn gravity(&mut self, gravity: Vec2) -> &mut Self {
        self.gravity = gravity;
        self
    }

    /// Adds a body.
    pub fn body(&mut self, body: Body) -> &mut Self {
        self.bodies.push(body);
        self
    }

    /// Adds a bar.
    pub fn bar(&mut self, bar: Bar) -> &mut Self {
        self.bars.push(bar);
        self
    }

    /// Adds a spring.
    pub fn spring(&mut self, spring: Spring) -> &mut Self {
        self.springs.push(spring);
        self
    }

    /// Sets the law between two bodies or materials, by name. A law that names a body goes before one that names its material.
    pub fn contact(&mut self, name: &str, a: &str, b: &str, law: ContactLaw) -> &mut Self {
        self.pairings.push(Pairing { name: name.into(), between: Some([a.into(), b.into()]), law });
        self
    }

    /// Sets the law of all pairs that no other names. Without it such pairs do not touch.
    pub fn contact_of_all(&mut self, name: &str, law: ContactLaw) -> &mut Self {
        self.pairings.push(Pairing { name: name.into(), between: None, law });
        self
    }

    /// Adds a stop: a frictionless contact with the gap `sign`·(q − `offset`) of one coordinate.
    pub fn stop(&mut self, name: &str, coordinate: &str, sign: f64, offset: f64, law: ContactLaw) -> &mut Self {
        self.stops.push(Stop { name: name.into(), coordinate: coordinate.into(), sign, offset, law });
        self
    }

    /// Sets the number of threads of the search for contacts. The result is the same for any number.
    pub fn threads(&mut self, threads: usize) -> &mut Self {
        self.threads = threads.max(1);
        self
    }

    /// The bodies so far.
    pub fn bodies(&self) -> &[Body] {
        &self.bodies
    }

    /// The bars so far.
    pub fn bars(&self) -> &[Bar] {
        &self.bars
    }

    /// Names of the coordinates (those of the free bodies, then those of the bars) and of their rates.
    fn coordinates(&self) -> (Names, Names) {
        Names::with_rates(|add| {
            for body in self.bodies.iter().filter(|b| matches!(b.mobility, Mobility::Free)) {
                for c in ["_x", "_y", "_phi"] {
                    add(&[&body.name, c]);
                }
            }
            for bar in &self.bars {
                (0..=bar.elements).for_each(|i| add(&[&bar.name, "_", &i.to_string()]));
            }
        })
    }

    /// The system and its start.
    pub fn build(self) -> Result<(Multibody, State), BuildError> {
        self.build_beside(0)
    }

    /// The same as a part of a larger system that has `others` more coordinates behind these.
    pub fn build_beside(self, others: usize) -> Result<(Multibody, State), BuildError> {
        // Counted before they are named: a number of elements may be anything.
        let free = self.bodies.iter().filter(|b| matches!(b.mobility, Mobility::Free)).count();
        let nodes = self.bars.iter().fold(0usize, |sum, b| sum.saturating_add(b.elements).saturating_add(1));
        let total = nodes.saturating_add(3 * free).saturating_add(others);
        if total > MAX_COORDINATES {
            return Err(BuildError::Many { what: "coordinates", found: total, limit: MAX_COORDINATES });
        }
        self.check_names()?;
        if let Some(&value) = self.gravity.iter().find(|v| !v.is_finite()) {
            let (part, what, expected) = ("gravity".into(), "a component", "finite");
            return Err(BuildError::Number { part, what, expected, value });
        }
        let (coordinates, velocities) = self.coordinates();
        let mut q = Vec::with_capacity(total);
        let mut u = Vec::with_capacity(total);
        let mut entries = Vec::with_capacity(self.bodies.len());
        let mut shapes = Vec::with_capacity(self.bodies.iter().map(|b| b.shapes.len()).sum());
        let classes = Classes::new(&self)?;
        for (i, body) in self.bodies.iter().enumerate() {
            entries.push(entry(body, q.len())?);
            if matches!(body.mobility, Mobility::Free) {
                q.extend([body.pose.centre[0], body.pose.centre[1], body.pose.angle]);
                u.extend([body.twist.velocity[0], body.twist.velocity[1], body.twist.spin]);
            }
            for (index, shape) in body.shapes.iter().enumerate() {
                if let Some(fault) = shape.fault() {
                    return Err(BuildError::Shape { body: body.name.clone(), index, kind: shape.kind(), fault });
                }
                shapes.push(Placed { body: i as u32, class: classes.of_body[i], shape: shape.normalised() });
            }
        }
        if shapes.len() > MAX_SHAPES {
            return Err(BuildError::Many { what: "shapes", found: shapes.len(), limit: MAX_SHAPES });
        }
        self.check_thickness(&classes)?;
        let mut pattern = Pattern::new(total);
        let mut forces = Vec::new();
        let mut infos = Vec::new();
        let mut force = |kind: ForceKind, name: String, potential: bool, constant_jacobian: bool| {
            forces.push(kind);
            infos.push(ForceInfo { name, potential, constant_jacobian });
        };
        if self.gravity != [0.0, 0.0] && free > 0 {
            force(ForceKind::Gravity, "gravity".into(), true, true);
        }
        let mut chains = Vec::new();
        for bar in &self.bars {
            let chain = chain(bar, q.len())?;
            for i in chain.first..chain.first + chain.elements {
                pattern.couple(&[i, i + 1]);
            }
            q.extend(std::iter::repeat_n(bar.displacement, bar.elements + 1));
            u.extend(std::iter::repeat_n(bar.velocity, bar.elements + 1));
            force(ForceKind::Elastic(chains.len()), bar.name.clone(), true, true);
            chains.push(chain);
        }
        let mut links = Vec::new();
        for spring in &self.springs {
            let link = self.link(spring)?;
            let dofs = link.bodies.map(|b| entries[b].dof()).into_iter().flatten();
            let dofs: Vec<usize> = dofs.flat_map(|d| d..d + 3).collect();
            pattern.couple(&dofs);
            force(ForceKind::Spring(links.len()), spring.name.clone(), true, link.torsion);
            if link.damping > 0.0 {
                force(ForceKind::Damper(links.len()), format!("{}_damper", spring.name), false, link.torsion);
            }
            links.push(link);
        }
        // The lines of the energy ledger are told apart by the names of the forces.
        let mut seen = std::collections::BTreeSet::new();
        if let Some(twice) = infos.iter().find(|f| !seen.insert(&f.name)) {
            return Err(BuildError::Twice { name: twice.name.clone() });
        }
        let limits = self.limits(&coordinates)?;
        let laws = classes.laws.iter().flatten().map(|l| (**l).clone());
        let laws: Vec<Law> = laws.chain(limits.iter().map(|l| (*l.interaction.law).clone())).collect();
        let moving = self.bodies.iter().any(|b| matches!(b.mobility, Mobility::Driven(_)));
        let structure = Structure {
            velocities,
            coordinates,
            forces: infos,
            pattern,
            identity_kinematics: true,
            constant_mass: true,
            needs: needs(&laws, moving),
            breaks: Vec::new(),
        };
        let bodies = self.bodies;
        let system = Multibody {
            structure,
            names: bodies.iter().map(|b| &b.name).collect(),
            entries: entries.into(),
            shapes: shapes.into(),
            classes: classes.count,
            laws: classes.laws,
            gravity: self.gravity,
            forces,
            links,
            chains,
            limits,
            threads: self.threads,
            detection: RefCell::new(Detection::default()),
        };
        Ok((system, State::new(0.0, q, u)))
    }

    fn check_names(&self) -> Result<(), BuildError> {
        let mut seen = std::collections::BTreeSet::new();
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
    fn check_thickness(&self, classes: &Classes) -> Result<(), BuildError> {
        // One body of each class and kind of shape stands for all.
        let thin = |b: &&Body| b.shapes.iter().any(|s| matches!(s, Shape::Segment { radius: 0.0, .. }));
        let cornered =
            |b: &&Body| b.shapes.iter().any(|s| matches!(s, Shape::Box { .. } | Shape::Segment { radius: 0.0, .. }));
        let place = |name: &str| self.bodies.iter().position(|b| b.name == name).unwrap_or(0);
        for wall in self.bodies.iter().filter(thin) {
            let class = classes.of_body[place(&wall.name)];
            let mut seen = std::collections::BTreeSet::new();
            for (i, corner) in self.bodies.iter().enumerate().filter(|(_, b)| cornered(b)) {
                let other = classes.of_body[i];
                let both_still = !matches!(wall.mobility, Mobility::Free) && !matches!(corner.mobility, Mobility::Free);
                if corner.name == wall.name || both_still || !seen.insert((other, both_still)) {
                    continue;
                }
                let meets = classes.law(class, other).is_some();
                let touch = corner.shapes.iter().any(|s| wall.shapes.iter().any(|w| encounters(w, s).1 > 0));
                if meets && touch {
                    return Err(BuildError::Thin { wall: wall.name.clone(), corner: corner.name.clone() });
                }
            }
        }
        Ok(())
    }

    fn link(&self, s: &Spring) -> Result<Link, BuildError> {
        let number = |what, value: f64, ok: bool| {
            let expected = "finite and not negative";
            if ok { Ok(()) } else { Err(BuildError::Number { part: s.name.clone(), what, expected, value }) }
        };
        number("its stiffness", s.stiffness, s.stiffness >= 0.0 && s.stiffness.is_finite())?;
        number("its damping", s.damping, s.damping >= 0.0 && s.damping.is_finite())?;
        if let Some(rest) = s.rest {
            number("its length without force", rest, rest.is_finite() && (s.torsion || rest >= 0.0))?;
        }
        for p in s.points.iter().flatten() {
            number("a coordinate of its ends", *p, p.is_finite())?;
        }
        let find = |name: &String| {
            self.bodies.iter().position(|b| b.name == *name).ok_or_else(|| {
                let hint = hint(name, self.bodies.iter().map(|b| b.name.as_str()));
                BuildError::Unknown { part: s.name.clone(), name: name.clone(), expected: "not a body", hint }
            })
        };
        let bodies = [find(&s.bodies[0])?, find(&s.bodies[1])?];
        let mut link = Link {
            bodies,
            points: s.points,
            stiffness: s.stiffness,
            damping: s.damping,
            rest: s.rest.unwrap_or(0.0),
            torsion: s.torsion,
        };
        if s.rest.is_none() {
            let pose = |i: usize| match &self.bodies[i].mobility {
                Mobility::Driven(m) => m.at(0.0).0,
                _ => self.bodies[i].pose,
            };
            link.rest = link.deflection(&pose(bodies[0]), &pose(bodies[1])).value;
            number("its length at the start", link.rest, link.rest.is_finite())?;
        }
        Ok(link)
    }

    fn unknown(&self, part: &str, name: &str) -> BuildError {
        let hint = hint(name, self.bodies.iter().flat_map(|b| [b.name.as_str(), b.material.as_str()]));
        let expected = "neither a body nor a material";
        BuildError::Unknown { part: part.into(), name: name.into(), expected, hint }
    }

    fn limits(&self, coordinates: &Names) -> Result<Vec<Limit>, BuildError> {
        let mut limits = Vec::new();
        for (i, s) in self.stops.iter().enumerate() {
            let dof = coordinates.iter().position(|c| c == s.coordinate).ok_or_else(|| {
                let hint = hint(&s.coordinate, coordinates.iter());
                let (part, name) = (s.name.clone(), s.coordinate.clone());
                BuildError::Unknown { part, name, expected: "not a coordinate", hint }
            })?;
            let law = Law::Contact(s.law.clone());
            law.validate(1).map_err(|source| BuildError::Law { contact: s.name.clone(), source })?;
            for (what, value) in [("its sign", s.sign), ("its offset", s.offset)] {
                if !value.is_finite() || (what == "its sign" && value == 0.0) {
                    let (part, expected) = (s.name.clone(), "finite, and the sign not zero");
                    return Err(BuildError::Number { part, what, expected, value });
                }
            }
            let interaction = Interaction::new(IDENTITY | i as u64, Kind::Contact, 1, Arc::new(law), [dof as u32])
                .with_constant_directions(true);
            limits.push(Limit { name: s.name.clone(), dof, sign: s.sign.signum(), offset: s.offset, interaction });
        }
        Ok(limits)
    }
}

/// What may have been meant by a name.
fn hint<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    nearest(name, known).map(|n| format!(": did you mean `{n}`?")).unwrap_or_default()
}

/// Bodies that touch all others by the same laws.
struct Classes {
    of_body: Vec<u16>,
    count: usize,
    laws: Vec<Option<Arc<Law>>>,
}

impl Classes {
    fn new(b: &Builder) -> Result<Self, BuildError> {
        // A material is a class; a body that a contact names, one of its own.
        let named = |name: &str| b.pairings.iter().any(|p| p.between.iter().flatten().any(|n| n == name));
        let mut class_of: BTreeMap<(&str, Option<&str>), u16> = BTreeMap::new();
        let mut kinds: Vec<(&str, Option<&str>)> = Vec::new();
        let mut of_body = Vec::with_capacity(b.bodies.len());
        for body in &b.bodies {
            let kind = (body.material.as_str(), named(&body.name).then_some(body.name.as_str()));
            let next = kinds.len();
            if next > usize::from(u16::MAX) {
                return Err(BuildError::Many { what: "materials", found: next, limit: usize::from(u16::MAX) });
            }
            of_body.push(*class_of.entry(kind).or_insert_with(|| {
                kinds.push(kind);
                next as u16
            }));
        }
        for p in &b.pairings {
            let law = Law::Contact(p.law.clone());
            law.validate(1 + p.law.slip_dim).map_err(|source| BuildError::Law { contact: p.name.clone(), source })?;
            if p.law.slip_dim > 1 {
                let source =
                    nonsmooth::law::LawError::Dimension { found: p.law.slip_dim, expected: "0 or 1 in the plane" };
                return Err(BuildError::Law { contact: p.name.clone(), source });
            }
            for name in p.between.iter().flatten() {
                if !kinds.iter().any(|(material, body)| material == name || *body == Some(name.as_str())) {
                    return Err(b.unknown(&p.name, name));
                }
            }
        }
        // How well a name fits a class: 2 by its body, 1 by its material.
        let fit = |name: &str, (material, body): (&str, Option<&str>)| -> u8 {
            if body == Some(name) { 2 } else { u8::from(material == name) }
        };
        let count = kinds.len();
        let mut laws = vec![None; count * count];
        let mut of_pairing: Vec<Option<Arc<Law>>> = vec![None; b.pairings.len()];
        for i in 0..count {
            for j in i..count {
                let mut best: Option<(u8, usize)> = None;
                for (k, p) in b.pairings.iter().enumerate() {
                    let score = match &p.between {
                        None => Some(0),
                        Some([x, y]) => {
                            let way = |s: &str, t: &str| match (fit(s, kinds[i]), fit(t, kinds[j])) {
                                (0, _) | (_, 0) => None,
                                (m, n) => Some(m + n),
                            };
                            way(x, y).max(way(y, x))
                        }
                    };
                    let Some(score) = score else { continue };
                    match best {
                        Some((other, first)) if other == score => {
                            let name = |c: (&str, Option<&str>)| c.1.unwrap_or(c.0).to_string();
                            let (first, second) = (b.pairings[first].name.clone(), p.name.clone());
                            return Err(BuildError::Ambiguous { first, second, a: name(kinds[i]), b: name(kinds[j]) });
                        }
                        Some((other, _)) if other > score => {}
                        _ => best = Some((score, k)),
                    }
                }
                if let Some((_, k)) = best {
                    let law = of_pairing[k].get_or_insert_with(|| Arc::new(Law::Contact(b.pairings[k].law.clone())));
                    laws[i * count + j] = Some(law.clone());
                    laws[j * count + i] = Some(law.clone());
                }
            }
        }
        Ok(Self { of_body, count, laws })
    }

    fn law(&self, a: u16, b: u16) -> Option<&Arc<Law>> {
        self.laws[usize::from(a) * self.count + usize::from(b)].as_ref()
    }
}

fn entry(body: &Body, dof: usize) -> Result<Entry, BuildError> {
    let number = |what, expected, value: f64, ok: bool| {
        if ok { Ok(()) } else { Err(BuildError::Number { part: body.name.clone(), what, expected, value }) }
    };
    for v in body.pose.centre.into_iter().chain([body.pose.angle]) {
        number("its position", "finite", v, v.is_finite())?;
    }
    for v in body.twist.velocity.into_iter().chain([body.twist.spin]) {
        number("its velocity", "finite", v, v.is_finite())?;
    }
    // What a turn moves, and the size beside which a margin is small.
    let lever = body.shapes.iter().map(Shape::lever).fold(0.0, f64::max);
    let size = body.shapes.iter().map(|s| s.bound().1).filter(|r| r.is_finite()).fold(0.0, f64::max);
    let (place, turns) = match &body.mobility {
        Mobility::Free => (Place::Free(dof as u32), true),
        Mobility::Driven(m) => (Place::Driven(Box::new(m.clone())), m.turns()),
        Mobility::Fixed => (Place::Fixed(Box::new(body.pose)), false),
    };
    let (mass, inertia) = if matches!(place, Place::Free(_)) { weight(body)? } else { (0.0, 0.0) };
    let sweeps = turns && lever == f64::INFINITY;
    Ok(Entry { place, mass, inertia, lever, size, touches: !body.shapes.is_empty(), sweeps })
}

fn weight(body: &Body) -> Result<(f64, f64), BuildError> {
    let number = |what, value: f64| {
        let expected = "positive and finite";
        let ok = value > 0.0 && value.is_finite();
        if ok { Ok(()) } else { Err(BuildError::Number { part: body.name.clone(), what, expected, value }) }
    };
    let missing = |why: String| Err(BuildError::Mass { body: body.name.clone(), why });
    match body.weight {
        Weight::Given { mass, inertia } => {
            number("its mass", mass)?;
            number("its moment of inertia", inertia)?;
            Ok((mass, inertia))
        }
        Weight::Density(density) => {
            number("its density", density)?;
            if body.shapes.is_empty() {
                return missing("it has no shape: give mass and inertia".into());
            }
            let (mut area, mut moment, mut first) = (0.0, 0.0, [0.0, 0.0]);
            for shape in &body.shapes {
                if let Some(fault) = shape.fault() {
                    return missing(format!("{}: {fault}", shape.kind()));
                }
                let Some((a, c, j)) = shape.area() else {
                    return missing(format!("a {} has no area: give mass and inertia", shape.kind()));
                };
                area += a;
                first = [first[0] + a * c[0], first[1] + a * c[1]];
                moment += j + a * dot(c, c);
            }
            let centroid = [first[0] / area, first[1] / area];
            let size = body.shapes.iter().map(|s| s.bound().1).fold(0.0, f64::max);
            // Rounding of a few terms.
            if norm(sub(centroid, [0.0, 0.0])) > 1e-9 * size {
                let why = format!(
                    "its shapes have their centroid at ({}, {}), and the origin of a body is its centre of mass: move them, or give \
                     mass and inertia",
                    centroid[0], centroid[1]
                );
                return missing(why);
            }
            // The numbers may be too large or too small for their squares.
            let (mass, inertia) = (density * area, density * moment);
            number("its mass", mass)?;
            number("its moment of inertia", inertia)?;
            Ok((mass, inertia))
        }
    }
}

fn chain(bar: &Bar, first: usize) -> Result<Chain, BuildError> {
    let numbers = [
        ("its length", bar.length),
        ("its area", bar.area),
        ("its density", bar.density),
        ("its modulus", bar.modulus),
        ("its number of elements", bar.elements as f64),
    ];
    for (what, value) in numbers {
        if !(value > 0.0 && value.is_finite()) {
            return Err(BuildError::Number { part: bar.name.clone(), what, expected: "positive and finite", value });
        }
    }
    for (what, value) in [("its displacement", bar.displacement), ("its velocity", bar.velocity)] {
        if !value.is_finite() {
            return Err(BuildError::Number { part: bar.name.clone(), what, expected: "finite", value });
        }
    }
    let element = bar.length / bar.elements as f64;
    Ok(Chain {
        first,
        elements: bar.elements,
        sixth: bar.density * bar.area * element / 6.0,
        stiffness: bar.modulus * bar.area / element,
    })
}

fn needs(laws: &[Law], moving: bool) -> Needs {
    let mut needs = Needs { moving, ..Needs::default() };
    for law in laws {
        let Law::Contact(law) = law else { continue };
        needs.contacts = true;
        needs.friction_dim = needs.friction_dim.max(law.slip_dim);
        needs.poisson |= matches!(law.normal, Normal::Poisson { .. });
        needs.restitution |= law.normal.restitution() > 0.0;
        needs.tangential_restitution |= law.e_tangential > 0.0;
        needs.tresca |= matches!(law.friction, Some(Friction::Tresca { .. }));
    }
    needs
}
