//! The system: hands every question of the contract on to the parts that answer it.
//!
//! Coordinates are those of the free bodies, then those of the bars (see [`crate::layout`]); q̇ = u, M constant. Contacts between bodies are
//! found by detection; the identity of one is made of its two shapes and of which point of which of them touches.

use crate::elastic::bar::BarMatrices;
use crate::force::gravity::Gravity;
use crate::force::spring::SpringForce;
use crate::geometry::Geometry;
use crate::layout::CoordinateLayout;
use crate::pairing::Laws;
use crate::planar::bodies::Bodies;
use crate::planar::contact::Met;
use crate::planar::detection::Detection;
use crate::planar::kept::Kept;
use crate::planar::pose::{Pose, Twist};
use crate::planar::shape::Shape;
use crate::proximity::identity::Identity;
use crate::stop::Stop;
use complementarity::linear::Matrix;
use nonsmooth::System;
use nonsmooth::contract::{Candidates, Derivatives, Interaction, Reach, Structure, Violation, Workspace};
use std::cell::{RefCell, RefMut};

/// Which part gives a force, by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ForceKind {
    Gravity,
    Elastic(usize),
    Spring(usize),
    Damper(usize),
}

/// Bodies, bars, springs and contacts as a [`System`]. Made by a [`crate::Builder`].
#[derive(Debug)]
pub struct Multibody {
    pub(crate) structure: Structure,
    pub(crate) layout: CoordinateLayout,
    pub(crate) bodies: Bodies,
    pub(crate) laws: Laws,
    pub(crate) gravity: Gravity,
    pub(crate) forces: Vec<ForceKind>,
    pub(crate) springs: Vec<SpringForce>,
    pub(crate) bars: Vec<BarMatrices>,
    pub(crate) stops: Vec<Stop>,
    pub(crate) threads: usize,
    /// Tells this system from others in a workspace.
    pub(crate) mark: u64,
}

impl Multibody {
    /// The first identity of an interaction of this kind of system.
    pub const FIRST_IDENTITY: u64 = Identity::FIRST;

    /// Number of bodies, with those that do not move by forces.
    pub fn bodies(&self) -> usize {
        self.bodies.list.len()
    }

    /// The name of a body.
    pub fn body_name(&self, body: usize) -> &str {
        &self.bodies.names[body]
    }

    /// The number of a body by its name.
    pub fn body(&self, name: &str) -> Option<usize> {
        self.bodies.names.iter().position(|n| n == name)
    }

    /// Mass (kg) and moment of inertia (kg m²) of a body; zero for one that does not move by forces.
    pub fn mass_of(&self, body: usize) -> (f64, f64) {
        (self.bodies.list[body].mass, self.bodies.list[body].inertia)
    }

    /// Pose of a body at (t, q).
    pub fn pose(&self, body: usize, t: f64, q: &[f64]) -> Pose {
        self.bodies.list[body].pose(t, q)
    }

    /// Velocity of a body at (t, u).
    pub fn twist(&self, body: usize, t: f64, u: &[f64]) -> Twist {
        self.bodies.list[body].twist(t, u)
    }

    /// Coordinates and velocities of the bodies and bars, by number.
    pub fn layout(&self) -> CoordinateLayout {
        self.layout
    }

    /// First coordinate of a body that moves by forces.
    pub fn first_coordinate(&self, body: usize) -> Option<usize> {
        Some(self.bodies.list[body].first()?.q())
    }

    /// First coordinate of a bar: the displacement of its first node.
    pub fn first_coordinate_of_bar(&self, bar: usize) -> usize {
        self.bars[bar].first.q()
    }

    /// Shapes of a body.
    pub fn shapes_of_body(&self, body: usize) -> impl Iterator<Item = &Shape> {
        self.bodies.shapes.iter().filter(move |s| s.body as usize == body).map(|s| &s.shape)
    }

    /// The two bodies of a contact that detection found.
    pub fn bodies_of_contact(&self, id: u64) -> Option<(usize, usize)> {
        let id = Identity::of(id);
        id.is_contact().then(|| self.bodies.of_contact(id))
    }

    /// Pairs of bodies (classes of them) that have shapes and no law: they pass through each other. A pair of names each.
    pub fn pairs_without_law(&self) -> Vec<(String, String)> {
        self.bodies.pairs_without_law(&self.laws)
    }

    /// Pairs of bodies that have a law and no geometry, since all shapes of both are half-planes or inner circles: they pass through each other. A pair of names each.
    pub fn pairs_without_geometry(&self) -> Vec<(String, String)> {
        self.bodies.pairs_without_geometry(&self.laws)
    }

    /// Where bodies and contacts are, shared with the system.
    pub fn geometry(&self) -> Geometry {
        Geometry { bodies: self.bodies.clone() }
    }

    fn stop(&self, id: u64) -> &Stop {
        &self.stops[Identity::of(id).stop_number()]
    }

    /// Bodies with the contacts that were evaluated last.
    #[inline]
    fn met<'a>(&'a self, work: &'a Workspace) -> Met<'a> {
        Met { bodies: &self.bodies, work, system: self.mark }
    }

    /// What detection found last.
    fn detection<'a>(&self, work: &'a Workspace) -> RefMut<'a, Detection> {
        let mut detection = work.of::<RefCell<Detection>>().borrow_mut();
        if detection.system != self.mark {
            *detection = Detection::of(self.mark);
        }
        detection
    }

    fn detect(&self, d: &mut Detection, t: f64, q: &[f64], u: &[f64], reach: Reach) {
        d.detect(&self.bodies, &self.laws, self.threads, t, q, u, reach);
    }
}

impl System for Multibody {
    fn structure(&self) -> &Structure {
        &self.structure
    }

    fn mass(&self, _work: &Workspace, _t: f64, _q: &[f64], m: &mut Matrix) {
        self.bodies.add_mass(m);
        for bar in &self.bars {
            bar.add_mass(m);
        }
    }

    fn force(&self, _work: &Workspace, i: usize, t: f64, q: &[f64], u: &[f64], h: &mut [f64]) {
        match self.forces[i] {
            ForceKind::Gravity => self.gravity.add_force(&self.bodies, h),
            ForceKind::Elastic(k) => self.bars[k].add_force(q, h),
            ForceKind::Spring(k) => self.springs[k].add_spring_force(&self.bodies, t, q, h),
            ForceKind::Damper(k) => self.springs[k].add_damper_force(&self.bodies, t, q, u, h),
        }
    }

    fn potential(&self, _work: &Workspace, i: usize, t: f64, q: &[f64]) -> f64 {
        match self.forces[i] {
            ForceKind::Gravity => self.gravity.potential(&self.bodies, t, q),
            ForceKind::Elastic(k) => self.bars[k].energy(q),
            ForceKind::Spring(k) => self.springs[k].potential(&self.bodies, t, q),
            ForceKind::Damper(_) => 0.0,
        }
    }

    fn force_jacobian(
        &self,
        _work: &Workspace,
        i: usize,
        t: f64,
        q: &[f64],
        u: &[f64],
        a: f64,
        b: f64,
        m: &mut Matrix,
    ) {
        match self.forces[i] {
            ForceKind::Gravity => {}
            ForceKind::Elastic(k) => self.bars[k].add_jacobian(a, m),
            ForceKind::Spring(k) => self.springs[k].add_spring_jacobian(&self.bodies, t, q, a, m),
            ForceKind::Damper(k) => self.springs[k].add_damper_jacobian(&self.bodies, t, q, u, a, b, m),
        }
    }

    fn candidates(&self, work: &Workspace, t: f64, q: &[f64], u: &[f64], reach: Reach, out: &mut Candidates) {
        let stops = self.stops.iter().map(|s| &s.interaction);
        if reach == Reach::ALL {
            out.fill(stops.cloned());
            return;
        }
        let d = &mut *self.detection(work);
        if !d.still_valid(&self.bodies, t, q, u, reach) {
            self.detect(d, t, q, u, reach);
        } else if out.source() == d.list.stamp {
            return;
        }
        if !d.is_complete() {
            out.fail(d.fault(&self.bodies, t, q));
            return;
        }
        out.reserve(self.stops.len() + d.list.found.len());
        let found = d.list.found.iter().filter_map(|&id| self.bodies.interaction(id, &self.laws));
        out.fill(stops.cloned().chain(found));
        work.of::<RefCell<Kept>>().borrow_mut().expect(d.list.found.len());
        out.set_source(d.list.stamp);
    }

    #[inline]
    fn position(&self, work: &Workspace, k: &Interaction, t: f64, q: &[f64], g: &mut [f64]) {
        g[0] = if k.detected() { self.met(work).gap(Identity::of(k.id), t, q) } else { self.stop(k.id).gap(q) };
    }

    #[inline]
    fn velocity(&self, work: &Workspace, k: &Interaction, t: f64, q: &[f64], w: &mut [f64], chi: &mut [f64]) {
        if k.detected() {
            self.met(work).directions(k, t, q, w, chi);
        } else {
            (w[0], chi[0]) = (self.stop(k.id).direction(), 0.0);
        }
    }

    fn velocity_gradient(
        &self,
        work: &Workspace,
        k: &Interaction,
        skip: usize,
        t: f64,
        q: &[f64],
        u: &[f64],
        out: &mut [f64],
    ) {
        if k.detected() {
            self.met(work).velocity_gradient(k, skip, t, q, u, out);
        } else {
            out.fill(0.0);
        }
    }

    fn velocity_rate(&self, work: &Workspace, k: &Interaction, t: f64, q: &[f64], u: &[f64], out: &mut [f64]) {
        if k.detected() {
            self.met(work).velocity_rate(k, t, q, u, out);
        } else {
            out[0] = 0.0;
        }
    }

    fn travel(&self, t0: f64, q0: &[f64], u0: &[f64], t1: f64, q1: &[f64]) -> f64 {
        self.bodies.travel(t0, q0, u0, t1, q1)
    }

    fn extent(&self, k: &Interaction) -> f64 {
        if k.detected() { self.bodies.extent(Identity::of(k.id)) } else { f64::INFINITY }
    }

    fn passed(
        &self,
        work: &Workspace,
        list: &Candidates,
        start: (f64, &[f64]),
        end: (f64, &[f64]),
        closely: bool,
    ) -> Option<u64> {
        self.bodies.passed(list, start, end, closely, &mut self.detection(work).moved)
    }

    fn derivatives(&self) -> Derivatives {
        Derivatives::Exact
    }

    fn name(&self, id: u64) -> String {
        let identity = Identity::of(id);
        if identity.is_contact() { self.bodies.contact_name(identity) } else { self.stop(id).name.clone() }
    }

    fn probe(&self, work: &Workspace, t: f64, q: &[f64], u: &[f64]) -> Result<(), Violation> {
        let d = &mut *self.detection(work);
        self.detect(d, t, q, u, Reach::NONE);
        if d.is_complete() { Ok(()) } else { Err(d.fault(&self.bodies, t, q)) }
    }
}
