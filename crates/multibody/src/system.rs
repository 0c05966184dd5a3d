//! The system: bodies, bars, springs and their contacts in the terms of the contract.
//!
//! Coordinates are (x, y, φ) of every free body, then the node displacements of every bar; q̇ = u, M constant. Contacts between bodies
//! are found by detection; the identity of one is made of its two shapes and of which point of which of them touches.
//!
//! **The list of contacts** is made with a margin m_i around every body and kept while
//!
//! ```text
//! (way of body i since then) + (what it may go in this step) ≤ m_i     for all bodies i
//! ```
//!
//! where a body may go reach.time·(its speed) + reach.distance, and m_i holds a few such steps and a part of its size. So a body
//! at rest never causes a search, and a fast one widens the margin around itself alone. A half-plane that turns moves without bound:
//! its margin is infinite.

use crate::bar::Chain;
use crate::body::Motion;
use crate::broad_phase::{Circle, Grid};
use crate::plane::{Turn, Vec2, add, dot, norm, sub};
use crate::shape::{Shape, encounters};
use crate::spring::{Link, six};
use crate::touch::{Pose, Touch, Twist};
use complementarity::linear::Matrix;
use nonsmooth::System;
use nonsmooth::contract::{Candidates, Derivatives, Interaction, Kind, Reach, Structure};
use nonsmooth::law::Law;
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// No coordinates.
pub(crate) const NO_DOF: u32 = u32::MAX;
/// Identities of this crate begin here, so that they can stand beside those of other systems.
pub(crate) const IDENTITY: u64 = 1 << 62;
const DETECTED: u64 = IDENTITY | 1 << 60;
const SHAPE_BITS: u32 = 24;
const FEATURE_BITS: u32 = 4;
/// Bit of a feature: the point belongs to the second shape.
const OF_SECOND: u64 = 8;
/// Shapes that identities can tell apart.
pub(crate) const MAX_SHAPES: usize = 1 << SHAPE_BITS;

/// Margin of the list of contacts: part of the size of a body.
const SKIN: f64 = 0.05;
/// Further steps at the present speed that the margin holds.
const STEPS_AHEAD: f64 = 3.0;
/// Contacts per shape beyond which a list cannot be that of bodies that hardly overlap.
const CROWD: usize = 100;
/// The same for few shapes.
const CROWD_OF_FEW: usize = 100_000;

static LISTS: AtomicU64 = AtomicU64::new(1);

/// A body at work.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    /// First coordinate, or [`NO_DOF`].
    pub(crate) dof: u32,
    /// Pose of a fixed body.
    pub(crate) pose: Pose,
    pub(crate) motion: Option<Arc<dyn Motion>>,
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

/// The list of contacts and what it was made for.
#[derive(Debug, Default)]
pub(crate) struct Detection {
    grid: Grid,
    circles: Vec<Circle>,
    /// Identities of the contacts found.
    found: Vec<u64>,
    poses: Vec<Pose>,
    margins: Vec<f64>,
    /// Mark of the list; zero if there is none.
    stamp: u64,
    complete: bool,
    /// A body whose prescribed motion is not finite.
    lost: Option<usize>,
}

/// Bodies, bars, springs and contacts as a [`System`]. Made by a [`crate::Builder`].
#[derive(Debug)]
pub struct Multibody {
    pub(crate) structure: Structure,
    pub(crate) names: Vec<Box<str>>,
    pub(crate) entries: Vec<Entry>,
    pub(crate) shapes: Vec<Placed>,
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

/// A contact found by detection: the shape with the point, which point, and the shape with the surface.
#[derive(Debug, Clone, Copy)]
struct Meeting {
    point: usize,
    index: usize,
    surface: usize,
}

#[inline]
fn identity(first: u32, second: u32, feature: u64) -> u64 {
    DETECTED | (u64::from(first) << (SHAPE_BITS + FEATURE_BITS)) | (u64::from(second) << FEATURE_BITS) | feature
}

#[inline]
fn shapes_of(id: u64) -> (usize, usize) {
    let mask = (1u64 << SHAPE_BITS) - 1;
    (((id >> (SHAPE_BITS + FEATURE_BITS)) & mask) as usize, ((id >> FEATURE_BITS) & mask) as usize)
}

#[inline]
fn meeting(id: u64) -> Meeting {
    let ((first, second), feature) = (shapes_of(id), id & 15);
    let index = (feature & 7) as usize;
    if feature & OF_SECOND == 0 {
        Meeting { point: first, index, surface: second }
    } else {
        Meeting { point: second, index, surface: first }
    }
}

impl Entry {
    #[inline]
    fn pose(&self, t: f64, q: &[f64]) -> Pose {
        if self.dof != NO_DOF {
            let at = self.dof as usize;
            return Pose { centre: [q[at], q[at + 1]], angle: q[at + 2] };
        }
        match &self.motion {
            Some(m) => m.at(t).0,
            None => self.pose,
        }
    }

    #[inline]
    fn twist(&self, t: f64, u: &[f64]) -> Twist {
        if self.dof != NO_DOF {
            let at = self.dof as usize;
            return Twist { velocity: [u[at], u[at + 1]], spin: u[at + 2] };
        }
        match &self.motion {
            Some(m) => m.at(t).1,
            None => Twist::default(),
        }
    }

    /// Speed of the fastest point of its surface, m/s.
    #[inline]
    fn speed(&self, w: &Twist) -> f64 {
        norm(w.velocity) + self.turned(w.spin)
    }

    /// Whether its way must be watched.
    #[inline]
    fn moves_surface(&self) -> bool {
        self.touches && !self.sweeps && (self.dof != NO_DOF || self.motion.is_some())
    }

    /// Way of the surface for a turn, m. A half-plane that turns moves without bound.
    #[inline]
    fn turned(&self, angle: f64) -> f64 {
        if angle == 0.0 { 0.0 } else { angle.abs() * self.lever }
    }

    /// Way between two poses, m.
    #[inline]
    fn way(&self, a: &Pose, b: &Pose) -> f64 {
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
        self.names.iter().position(|n| **n == *name)
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
        let dof = self.entries[body].dof;
        (dof != NO_DOF).then_some(dof as usize)
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
        for s in &self.shapes {
            let c = usize::from(s.class);
            if first[c].get_or_insert(s).body != s.body {
                second[c].get_or_insert(s);
            }
            free[c] |= self.entries[s.body as usize].dof != NO_DOF;
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

    #[inline]
    fn touch(&self, m: &Meeting, t: f64, q: &[f64]) -> Touch {
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
            let dof = self.entries[body as usize].dof;
            if dof != NO_DOF {
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

    /// Whether no body has used up its margin.
    fn still_valid(&self, d: &Detection, t: f64, q: &[f64], u: &[f64], reach: Reach) -> bool {
        d.stamp != 0
            && self.entries.iter().zip(&d.poses).zip(&d.margins).all(|((e, before), margin)| {
                if !e.moves_surface() {
                    return true;
                }
                let may = reach.time * e.speed(&e.twist(t, u)) + reach.distance;
                e.way(before, &e.pose(t, q)) + may <= *margin
            })
    }

    /// Makes the list anew.
    fn detect(&self, d: &mut Detection, t: f64, q: &[f64], u: &[f64], reach: Reach) {
        d.poses.clear();
        d.margins.clear();
        d.lost = None;
        for (i, e) in self.entries.iter().enumerate() {
            let pose = e.pose(t, q);
            d.poses.push(pose);
            let still = e.dof == NO_DOF && e.motion.is_none();
            let margin = if still {
                0.0
            } else if e.sweeps {
                f64::INFINITY
            } else {
                let way = reach.time * e.speed(&e.twist(t, u));
                SKIN * e.size + (1.0 + STEPS_AHEAD) * way + 2.0 * reach.distance
            };
            d.margins.push(margin);
            if !(pose.centre[0].is_finite() && pose.centre[1].is_finite() && pose.angle.is_finite()) || margin.is_nan()
            {
                d.lost.get_or_insert(i);
            }
        }
        d.circles.clear();
        for (i, s) in self.shapes.iter().enumerate() {
            let (e, pose) = (&self.entries[s.body as usize], &d.poses[s.body as usize]);
            let (local, radius) = s.shape.bound();
            let centre =
                if local == [0.0, 0.0] { pose.centre } else { add(pose.centre, Turn::by(pose.angle).apply(local)) };
            let radius = radius + d.margins[s.body as usize];
            d.circles.push(Circle { shape: i as u32, centre, radius, free: e.dof != NO_DOF });
        }
        let (poses, margins) = (&d.poses, &d.margins);
        let (shapes, laws, classes) = (&self.shapes, &self.laws, self.classes);
        let meet = |a: &Circle, b: &Circle, out: &mut Vec<u64>| {
            let (first, second) = (a.shape.min(b.shape), a.shape.max(b.shape));
            let (x, y) = (&shapes[first as usize], &shapes[second as usize]);
            let law = &laws[usize::from(x.class) * classes + usize::from(y.class)];
            if x.body == y.body || law.is_none() {
                return;
            }
            let (i, j) = (x.body as usize, y.body as usize);
            let allowed = margins[i] + margins[j];
            let (of_first, of_second) = encounters(&x.shape, &y.shape);
            for k in 0..of_first {
                if Touch::new(&x.shape, k, &poses[i], &y.shape, &poses[j]).gap <= allowed {
                    out.push(identity(first, second, k as u64));
                }
            }
            for k in 0..of_second {
                if Touch::new(&y.shape, k, &poses[j], &x.shape, &poses[i]).gap <= allowed {
                    out.push(identity(first, second, OF_SECOND | k as u64));
                }
            }
        };
        let limit = CROWD_OF_FEW + CROWD * self.shapes.len();
        d.complete = d.grid.search(&d.circles, self.threads, limit, meet, &mut d.found) && d.lost.is_none();
        d.stamp = LISTS.fetch_add(1, Ordering::Relaxed);
    }

    /// What to say of bodies that lie upon one another, or nowhere.
    fn fault(&self, d: &Detection, t: f64, q: &[f64]) -> String {
        if let Some(lost) = d.lost {
            return format!("body `{}`: its position or velocity is not finite at t = {t}", self.names[lost]);
        }
        let gap = |id: &u64| self.touch(&meeting(*id), t, q).gap;
        let deepest = d.found.iter().take(CROWD_OF_FEW).min_by(|a, b| gap(a).total_cmp(&gap(b)));
        let example = deepest.map(|id| format!(", `{}` by {:.3e} m", self.name(*id), -gap(id))).unwrap_or_default();
        format!(
            "more than {} pairs of the {} shapes are in contact or nearly so: bodies overlap{example}",
            CROWD_OF_FEW + CROWD * self.shapes.len(),
            self.shapes.len()
        )
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
        let dof = self.entries[link.bodies[k / 3]].dof;
        (dof != NO_DOF).then(|| dof as usize + k % 3)
    }
}

impl System for Multibody {
    fn structure(&self) -> &Structure {
        &self.structure
    }

    fn mass(&self, _t: f64, _q: &[f64], m: &mut Matrix) {
        for e in self.entries.iter().filter(|e| e.dof != NO_DOF) {
            let i = e.dof as usize;
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
                for e in self.entries.iter().filter(|e| e.dof != NO_DOF) {
                    let at = e.dof as usize;
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
                let free = self.entries.iter().filter(|e| e.dof != NO_DOF);
                -free.fold(0.0, |sum, e| sum + e.mass * dot(self.gravity, e.pose(t, q).centre))
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
            if body.dof != NO_DOF {
                for (r, row) in rows.iter().take(k.dim).enumerate() {
                    w[r * width + first..r * width + first + 3].copy_from_slice(row);
                }
                first += 3;
            } else if let Some(motion) = &body.motion {
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
            if body.dof != NO_DOF {
                out[first..first + 3].copy_from_slice(&rows[0]);
                first += 3;
            }
        }
    }

    fn velocity_gradient(&self, k: &Interaction, t: f64, q: &[f64], u: &[f64], out: &mut [f64]) {
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
            if body.dof == NO_DOF {
                continue;
            }
            for unit in &units {
                let (dp, ds) = if second { (&zero, unit) } else { (unit, &zero) };
                let change = touch.velocity_change(&vp, &vs, dp, ds, &zero, &zero);
                for (r, c) in change.iter().take(k.dim).enumerate() {
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
        let acceleration = |e: &Entry| e.motion.as_ref().map(|m| m.at(t).2).unwrap_or_default();
        let rate = touch.velocity_change(&vp, &vs, &vp, &vs, &acceleration(p), &acceleration(s));
        out[..k.dim].copy_from_slice(&rate[..k.dim]);
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
            Some((a, b)) => format!("{}-{}", self.names[a], self.names[b]),
            None => self.limit_of(id).name.clone(),
        }
    }

    fn probe(&self, t: f64, q: &[f64], u: &[f64]) -> Result<(), String> {
        let d = &mut *self.detection.borrow_mut();
        self.detect(d, t, q, u, Reach::NONE);
        if d.complete { Ok(()) } else { Err(self.fault(d, t, q)) }
    }
}
