//! The system: bodies, bars, springs and their contacts in the terms of the contract.
//!
//! Coordinates are (x, y, φ) of every free body, then the node displacements of every bar; q̇ = u, M constant. Contacts between bodies
//! are found by detection; the identity of one is made of its two shapes and of which point of which of them touches.

use crate::elastic::bar::Chain;
use crate::force::spring::{Link, six};
use crate::planar::detection::{DETECTED, Detection, IDENTITY, Meeting, meeting, shapes_of};
use crate::planar::plane::{Vec2, dot, norm, sub};
use crate::planar::pose::{Motion, Pose, Twist};
use crate::planar::shape::Shape;
use crate::planar::touch::Touch;
use complementarity::linear::Matrix;
use nonsmooth::System;
use nonsmooth::contract::{Candidates, Derivatives, Interaction, Kind, Reach, Structure};
use nonsmooth::law::Law;
use nonsmooth::names::Names;
use std::cell::RefCell;
use std::sync::Arc;

/// Coordinates that can be numbered by 32 bits; more are an error when a system is built. Scenes stop far below.
pub(crate) const MAX_COORDINATES: usize = u32::MAX as usize - 1;
/// How a body moves. A thin pointer for those that do not move by forces: they are few.
#[derive(Debug, Clone)]
pub(crate) enum Place {
    /// By forces; its first coordinate.
    Free(u32),
    Fixed(Box<Pose>),
    Driven(Box<Arc<dyn Motion>>),
}

/// A body at work.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) place: Place,
    pub(crate) mass: f64,
    pub(crate) inertia: f64,
    /// How far a turn of 1 rad moves its surface, m.
    pub(crate) lever: f64,
    /// Radius of its largest shape with an end, m.
    pub(crate) size: f64,
    /// Whether it has a shape.
    pub(crate) touches: bool,
    /// Whether it has a half-plane that can turn: no margin holds that, so that it is held against everything.
    pub(crate) sweeps: bool,
}

/// A shape and its body.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Placed {
    pub(crate) body: u32,
    pub(crate) class: u16,
    pub(crate) shape: Shape,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ForceKind {
    Gravity,
    Elastic(usize),
    Spring(usize),
    Damper(usize),
}

/// A stop of one coordinate.
#[derive(Debug, Clone)]
pub(crate) struct Limit {
    pub(crate) name: String,
    pub(crate) dof: usize,
    pub(crate) sign: f64,
    pub(crate) offset: f64,
    pub(crate) interaction: Interaction,
}

/// Bodies, bars, springs and contacts as a [`System`]. Made by a [`crate::Builder`].
#[derive(Debug)]
pub struct Multibody {
    pub(crate) structure: Structure,
    pub(crate) names: Names,
    pub(crate) entries: Arc<[Entry]>,
    pub(crate) shapes: Arc<[Placed]>,
    pub(crate) classes: usize,
    pub(crate) laws: Vec<Option<Arc<Law>>>,
    pub(crate) gravity: Vec2,
    pub(crate) forces: Vec<ForceKind>,
    pub(crate) links: Vec<Link>,
    pub(crate) chains: Vec<Chain>,
    pub(crate) limits: Vec<Limit>,
    pub(crate) threads: usize,
    pub(crate) detection: RefCell<Detection>,
}

impl Entry {
    /// Its first coordinate, if it moves by forces.
    #[inline]
    pub(crate) fn dof(&self) -> Option<usize> {
        match self.place {
            Place::Free(dof) => Some(dof as usize),
            _ => None,
        }
    }

    /// Its prescribed motion, if it has one.
    #[inline]
    fn motion(&self) -> Option<&dyn Motion> {
        match &self.place {
            Place::Driven(m) => Some(&***m),
            _ => None,
        }
    }

    #[inline]
    pub(crate) fn pose(&self, t: f64, q: &[f64]) -> Pose {
        match &self.place {
            Place::Free(dof) => {
                let at = *dof as usize;
                Pose { centre: [q[at], q[at + 1]], angle: q[at + 2] }
            }
            Place::Driven(m) => m.at(t).0,
            Place::Fixed(pose) => **pose,
        }
    }

    #[inline]
    pub(crate) fn twist(&self, t: f64, u: &[f64]) -> Twist {
        match &self.place {
            Place::Free(dof) => {
                let at = *dof as usize;
                Twist { velocity: [u[at], u[at + 1]], spin: u[at + 2] }
            }
            Place::Driven(m) => m.at(t).1,
            Place::Fixed(_) => Twist::default(),
        }
    }

    /// Whether it never moves.
    #[inline]
    pub(crate) fn still(&self) -> bool {
        matches!(self.place, Place::Fixed(_))
    }

    /// Speed of the fastest point of its surface, m/s.
    #[inline]
    pub(crate) fn speed(&self, w: &Twist) -> f64 {
        norm(w.velocity) + self.turned(w.spin)
    }

    /// Whether its way must be watched.
    #[inline]
    pub(crate) fn moves_surface(&self) -> bool {
        self.touches && !self.sweeps && !self.still()
    }

    /// Way of the surface for a turn, m. A half-plane that turns moves without bound.
    #[inline]
    fn turned(&self, angle: f64) -> f64 {
        if angle == 0.0 { 0.0 } else { angle.abs() * self.lever }
    }

    /// Way between two poses, m.
    #[inline]
    pub(crate) fn way(&self, a: &Pose, b: &Pose) -> f64 {
        norm(sub(b.centre, a.centre)) + self.turned(b.angle - a.angle)
    }
}

impl Multibody {
    /// The first identity of an interaction of this kind of system.
    pub const FIRST_IDENTITY: u64 = IDENTITY;

    /// Number of bodies, with those that do not move by forces.
    pub fn bodies(&self) -> usize {
        self.entries.len()
    }

    /// The name of a body.
    pub fn body_name(&self, body: usize) -> &str {
        &self.names[body]
    }

    /// The number of a body by its name.
    pub fn body(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|n| n == name)
    }

    /// Mass (kg) and moment of inertia (kg m²) of a body; zero for one that does not move by forces.
    pub fn mass_of(&self, body: usize) -> (f64, f64) {
        (self.entries[body].mass, self.entries[body].inertia)
    }

    /// Pose of a body at (t, q).
    pub fn pose(&self, body: usize, t: f64, q: &[f64]) -> Pose {
        self.entries[body].pose(t, q)
    }

    /// Velocity of a body at (t, u).
    pub fn twist(&self, body: usize, t: f64, u: &[f64]) -> Twist {
        self.entries[body].twist(t, u)
    }

    /// First coordinate of a body that moves by forces.
    pub fn first_coordinate(&self, body: usize) -> Option<usize> {
        self.entries[body].dof()
    }

    /// Shapes of a body.
    pub fn shapes_of_body(&self, body: usize) -> impl Iterator<Item = &Shape> {
        self.shapes.iter().filter(move |s| s.body as usize == body).map(|s| &s.shape)
    }

    /// The two bodies of a contact that detection found.
    pub fn bodies_of_contact(&self, id: u64) -> Option<(usize, usize)> {
        (id & DETECTED == DETECTED).then(|| {
            let (a, b) = shapes_of(id);
            (self.shapes[a].body as usize, self.shapes[b].body as usize)
        })
    }

    /// Pairs of bodies (classes of them) that have shapes and no law: they pass through each other. A pair of names each.
    pub fn pairs_without_law(&self) -> Vec<(String, String)> {
        let mut first: Vec<Option<&Placed>> = vec![None; self.classes];
        let mut free = vec![false; self.classes];
        let mut second: Vec<Option<&Placed>> = vec![None; self.classes];
        for s in self.shapes.iter() {
            let c = usize::from(s.class);
            if first[c].get_or_insert(s).body != s.body {
                second[c].get_or_insert(s);
            }
            free[c] |= self.entries[s.body as usize].dof().is_some();
        }
        let mut out = Vec::new();
        for i in 0..self.classes {
            for j in i..self.classes {
                let (Some(a), Some(b)) = (first[i], if i == j { second[j] } else { first[j] }) else { continue };
                let meet = free[i] || free[j];
                if meet && self.laws[i * self.classes + j].is_none() {
                    out.push((self.names[a.body as usize].to_string(), self.names[b.body as usize].to_string()));
                }
            }
        }
        out
    }

    /// The bodies that move by forces, each with its first coordinate.
    fn free(&self) -> impl Iterator<Item = (&Entry, usize)> {
        self.entries.iter().filter_map(|e| Some((e, e.dof()?)))
    }

    #[inline]
    pub(crate) fn touch(&self, m: &Meeting, t: f64, q: &[f64]) -> Touch {
        let (p, s) = (&self.shapes[m.point], &self.shapes[m.surface]);
        let (bp, bs) = (&self.entries[p.body as usize], &self.entries[s.body as usize]);
        Touch::new(&p.shape, m.index, &bp.pose(t, q), &s.shape, &bs.pose(t, q))
    }

    #[inline]
    fn bodies_of(&self, m: &Meeting) -> (&Entry, &Entry) {
        (&self.entries[self.shapes[m.point].body as usize], &self.entries[self.shapes[m.surface].body as usize])
    }

    fn limit_of(&self, id: u64) -> &Limit {
        &self.limits[(id & 0xffff_ffff) as usize]
    }

    fn interaction(&self, id: u64) -> Option<Interaction> {
        let m = meeting(id);
        let (p, s) = (&self.shapes[m.point], &self.shapes[m.surface]);
        let law = self.laws[usize::from(p.class) * self.classes + usize::from(s.class)].as_ref()?;
        let mut dofs = [0u32; 6];
        let mut n = 0;
        for body in [p.body, s.body] {
            if let Place::Free(dof) = self.entries[body as usize].place {
                for k in 0..3 {
                    dofs[n] = dof + k;
                    n += 1;
                }
            }
        }
        let dim = match &**law {
            Law::Contact(law) => 1 + law.slip_dim,
            _ => 1,
        };
        Some(Interaction::new(id, Kind::Contact, dim, law.clone(), &dofs[..n]).found_by_detection())
    }

    /// Links with their poses and velocities.
    fn link_state(&self, i: usize, t: f64, q: &[f64], u: &[f64]) -> (&Link, Pose, Pose, [f64; 6]) {
        let link = &self.links[i];
        let [a, b] = link.bodies.map(|b| &self.entries[b]);
        let w = if u.is_empty() { [0.0; 6] } else { six(&a.twist(t, u), &b.twist(t, u)) };
        (link, a.pose(t, q), b.pose(t, q), w)
    }

    /// The coordinate with the number k of the six of a link.
    fn link_dof(&self, link: &Link, k: usize) -> Option<usize> {
        self.entries[link.bodies[k / 3]].dof().map(|dof| dof + k % 3)
    }
}

impl System for Multibody {
    fn structure(&self) -> &Structure {
        &self.structure
    }

    fn mass(&self, _t: f64, _q: &[f64], m: &mut Matrix) {
        for (e, i) in self.free() {
            m.add(i, i, e.mass);
            m.add(i + 1, i + 1, e.mass);
            m.add(i + 2, i + 2, e.inertia);
        }
        for chain in &self.chains {
            chain.add_mass(m);
        }
    }

    fn force(&self, i: usize, t: f64, q: &[f64], u: &[f64], h: &mut [f64]) {
        match self.forces[i] {
            ForceKind::Gravity => {
                for (e, at) in self.free() {
                    h[at] += e.mass * self.gravity[0];
                    h[at + 1] += e.mass * self.gravity[1];
                }
            }
            ForceKind::Elastic(k) => self.chains[k].add_force(q, h),
            ForceKind::Spring(k) | ForceKind::Damper(k) => {
                let (link, a, b, w) = self.link_state(k, t, q, u);
                let d = link.deflection(&a, &b);
                let f = match self.forces[i] {
                    ForceKind::Spring(_) => d.spring_force(link.stiffness),
                    _ => d.damper_force(link.damping, &w),
                };
                for (k, f) in f.into_iter().enumerate() {
                    if let Some(dof) = self.link_dof(link, k) {
                        h[dof] += f;
                    }
                }
            }
        }
    }

    fn potential(&self, i: usize, t: f64, q: &[f64]) -> f64 {
        match self.forces[i] {
            ForceKind::Gravity => {
                -self.free().fold(0.0, |sum, (e, _)| sum + e.mass * dot(self.gravity, e.pose(t, q).centre))
            }
            ForceKind::Elastic(k) => self.chains[k].energy(q),
            ForceKind::Spring(k) => {
                let (link, a, b, _) = self.link_state(k, t, q, &[]);
                link.energy(&a, &b)
            }
            ForceKind::Damper(_) => 0.0,
        }
    }

    fn force_jacobian(&self, i: usize, t: f64, q: &[f64], u: &[f64], a: f64, b: f64, m: &mut Matrix) {
        match self.forces[i] {
            ForceKind::Gravity => {}
            ForceKind::Elastic(k) => self.chains[k].add_jacobian(a, m),
            ForceKind::Spring(k) | ForceKind::Damper(k) => {
                let (link, pa, pb, w) = self.link_state(k, t, q, u);
                let d = link.deflection(&pa, &pb);
                let spring = matches!(self.forces[i], ForceKind::Spring(_));
                for r in 0..6 {
                    for c in 0..6 {
                        let (Some(row), Some(column)) = (self.link_dof(link, r), self.link_dof(link, c)) else {
                            continue;
                        };
                        let value = if spring {
                            a * d.spring_jacobian(link.stiffness, r, c)
                        } else {
                            a * d.damper_position_jacobian(link.damping, &w, r, c)
                                + b * d.damper_velocity_jacobian(link.damping, r, c)
                        };
                        m.add(row, column, value);
                    }
                }
            }
        }
    }

    fn candidates(&self, t: f64, q: &[f64], u: &[f64], reach: Reach, out: &mut Candidates) {
        let limits = self.limits.iter().map(|l| &l.interaction);
        if reach == Reach::ALL {
            out.fill(limits.cloned());
            return;
        }
        let d = &mut *self.detection.borrow_mut();
        if !self.still_valid(d, t, q, u, reach) {
            self.detect(d, t, q, u, reach);
        } else if out.source() == d.stamp {
            return;
        }
        if !d.complete {
            out.fail(self.fault(d, t, q));
            return;
        }
        out.reserve(self.limits.len() + d.found.len());
        out.fill(limits.cloned().chain(d.found.iter().filter_map(|&id| self.interaction(id))));
        out.set_source(d.stamp);
    }

    #[inline]
    fn position(&self, k: &Interaction, t: f64, q: &[f64], g: &mut [f64]) {
        if !k.detected() {
            let l = self.limit_of(k.id);
            g[0] = l.sign * (q[l.dof] - l.offset);
            return;
        }
        g[0] = self.touch(&meeting(k.id), t, q).gap;
    }

    #[inline]
    fn velocity(&self, k: &Interaction, t: f64, q: &[f64], w: &mut [f64], chi: &mut [f64]) {
        if !k.detected() {
            (w[0], chi[0]) = (self.limit_of(k.id).sign, 0.0);
            return;
        }
        let m = meeting(k.id);
        let touch = self.touch(&m, t, q);
        let (p, s) = self.bodies_of(&m);
        chi.fill(0.0);
        let width = k.dofs.len();
        let mut first = 0;
        for (body, rows) in [(p, touch.rows_p()), (s, touch.rows_s())] {
            if body.dof().is_some() {
                for (r, row) in rows.iter().take(k.dim()).enumerate() {
                    w[r * width + first..r * width + first + 3].copy_from_slice(row);
                }
                first += 3;
            } else if let Some(motion) = body.motion() {
                let v = motion.at(t).1;
                let v = [v.velocity[0], v.velocity[1], v.spin];
                for (chi, row) in chi.iter_mut().zip(&rows) {
                    *chi += row[0] * v[0] + row[1] * v[1] + row[2] * v[2];
                }
            }
        }
    }

    fn position_gradient(&self, k: &Interaction, t: f64, q: &[f64], out: &mut [f64]) {
        if !k.detected() {
            out[0] = self.limit_of(k.id).sign;
            return;
        }
        // g_q is the normal row of Wᵀ: q̇ = u.
        let m = meeting(k.id);
        let touch = self.touch(&m, t, q);
        let (p, s) = self.bodies_of(&m);
        let mut first = 0;
        for (body, rows) in [(p, touch.rows_p()), (s, touch.rows_s())] {
            if body.dof().is_some() {
                out[first..first + 3].copy_from_slice(&rows[0]);
                first += 3;
            }
        }
    }

    fn velocity_gradient(&self, k: &Interaction, skip: usize, t: f64, q: &[f64], u: &[f64], out: &mut [f64]) {
        if !k.detected() {
            out.fill(0.0);
            return;
        }
        let m = meeting(k.id);
        let touch = self.touch(&m, t, q);
        let (p, s) = self.bodies_of(&m);
        let (vp, vs, zero) = (p.twist(t, u), s.twist(t, u), Twist::default());
        let units = [
            Twist { velocity: [1.0, 0.0], spin: 0.0 },
            Twist { velocity: [0.0, 1.0], spin: 0.0 },
            Twist { velocity: [0.0, 0.0], spin: 1.0 },
        ];
        let width = k.dofs.len();
        let mut column = 0;
        for (body, second) in [(p, false), (s, true)] {
            if body.dof().is_none() {
                continue;
            }
            for unit in &units {
                let (dp, ds) = if second { (&zero, unit) } else { (unit, &zero) };
                let change = touch.velocity_change(&vp, &vs, dp, ds, &zero, &zero);
                for (r, c) in change.iter().take(k.dim()).skip(skip).enumerate() {
                    out[r * width + column] = *c;
                }
                column += 1;
            }
        }
    }

    fn velocity_rate(&self, k: &Interaction, t: f64, q: &[f64], u: &[f64], out: &mut [f64]) {
        if !k.detected() {
            out[0] = 0.0;
            return;
        }
        let m = meeting(k.id);
        let touch = self.touch(&m, t, q);
        let (p, s) = self.bodies_of(&m);
        let (vp, vs) = (p.twist(t, u), s.twist(t, u));
        let acceleration = |e: &Entry| e.motion().map(|m| m.at(t).2).unwrap_or_default();
        let rate = touch.velocity_change(&vp, &vs, &vp, &vs, &acceleration(p), &acceleration(s));
        out[..k.dim()].copy_from_slice(&rate[..k.dim()]);
    }

    fn travel(&self, t0: f64, q0: &[f64], u0: &[f64], t1: f64, q1: &[f64]) -> f64 {
        let moved = self.entries.iter().filter(|e| e.moves_surface());
        moved.fold(0.0, |worst, e| {
            let way = e.way(&e.pose(t0, q0), &e.pose(t1, q1)) - (t1 - t0) * e.speed(&e.twist(t0, u0));
            if way > worst || way.is_nan() { way } else { worst }
        })
    }

    fn derivatives(&self) -> Derivatives {
        Derivatives::Exact
    }

    fn name(&self, id: u64) -> String {
        match self.bodies_of_contact(id) {
            Some((a, b)) => format!("{}-{}", &self.names[a], &self.names[b]),
            None => self.limit_of(id).name.clone(),
        }
    }

    fn probe(&self, t: f64, q: &[f64], u: &[f64]) -> Result<(), String> {
        let d = &mut *self.detection.borrow_mut();
        self.detect(d, t, q, u, Reach::NONE);
        if d.complete { Ok(()) } else { Err(self.fault(d, t, q)) }
    }
}
