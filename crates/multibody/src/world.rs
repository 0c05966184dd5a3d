//! The builder: takes descriptions of bodies, bars, springs and contacts, checks them, and builds a system.
//!
//! - `check`: names, and pairs that would pass through each other.
//! - `assemble`: builds the system.

mod assemble;
mod check;

use crate::elastic::bar::Bar;
use crate::error::BuildError;
use crate::force::spring::Spring;
use crate::layout::PLANAR_NQ;
use crate::pairing::Pairing;
use crate::planar::body::Body;
use crate::planar::plane::Vec2;
use crate::planar::pose::Pose;
use crate::stop::StopDescription;
use crate::system::Multibody;
use nonsmooth::State;
use nonsmooth::law::ContactLaw;

/// Builds a [`Multibody`] from descriptions of bodies, bars, springs and contacts.
#[derive(Debug, Clone, Default)]
pub struct Builder {
    gravity: Vec2,
    bodies: Vec<Body>,
    bars: Vec<Bar>,
    springs: Vec<Spring>,
    pairings: Vec<Pairing>,
    stops: Vec<StopDescription>,
    threads: usize,
    /// Time at which the run starts, s.
    start: f64,
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

    /// Sets the law between two bodies or materials, by name. A law that names a body takes precedence over one that names its material.
    pub fn contact(&mut self, name: &str, a: &str, b: &str, law: ContactLaw) -> &mut Self {
        self.pairings.push(Pairing { name: name.into(), between: Some([a.into(), b.into()]), law });
        self
    }

    /// Sets the law of all pairs without a law of their own. Without it such pairs pass through each other.
    pub fn contact_of_all(&mut self, name: &str, law: ContactLaw) -> &mut Self {
        self.pairings.push(Pairing { name: name.into(), between: None, law });
        self
    }

    /// Adds a stop: a frictionless contact with the gap `sign`·(q − `offset`) of one coordinate.
    pub fn stop(&mut self, name: &str, coordinate: &str, sign: f64, offset: f64, law: ContactLaw) -> &mut Self {
        self.stops.push(StopDescription { name: name.into(), coordinate: coordinate.into(), sign, offset, law });
        self
    }

    /// Sets the number of threads of the search for contacts. The result is the same for any number.
    pub fn threads(&mut self, threads: usize) -> &mut Self {
        self.threads = threads.max(1);
        self
    }

    /// Sets the time `t` (s) at which the run starts, and the poses of the free bodies then: `q` begins with their coordinates. Springs without a rest length take it from there.
    pub fn start_at(&mut self, t: f64, q: &[f64]) -> &mut Self {
        self.start = t;
        let free = self.bodies.iter_mut().filter(|b| b.is_free());
        for (body, q) in free.zip(q.chunks_exact(PLANAR_NQ)) {
            body.pose = Pose::of(q);
        }
        self
    }

    /// Laws between two names of which one has no body with a shape: they never act. Names of the law and of that.
    pub fn contacts_without_shapes(&self) -> Vec<(String, String)> {
        let shaped = |name: &String| {
            self.bodies.iter().any(|b| (b.name == *name || b.material == *name) && !b.shapes.is_empty())
        };
        let without = |p: &Pairing| Some((p.name.clone(), p.between.as_ref()?.iter().find(|n| !shaped(n))?.clone()));
        self.pairings.iter().filter_map(without).collect()
    }

    /// The bodies so far.
    pub fn bodies(&self) -> &[Body] {
        &self.bodies
    }

    /// The bars so far.
    pub fn bars(&self) -> &[Bar] {
        &self.bars
    }

    /// Builds the system and its start state.
    pub fn build(self) -> Result<(Multibody, State), BuildError> {
        self.build_beside(0)
    }

    /// The same as a part of a larger system with `others` further coordinates after these.
    pub fn build_beside(self, others: usize) -> Result<(Multibody, State), BuildError> {
        assemble::assemble(&self, others)
    }
}
