//! The bodies of a system: poses, motion and shapes.

use super::body::{Body, Mobility};
use super::contact::Meeting;
use super::mass::mass_and_inertia;
use super::plane::{norm, sub};
use super::pose::{Motion, Pose, Twist};
use super::shape::Shape;
use crate::error::{BuildError, check};
use crate::layout::{First, PLANAR_NU, Part};
use crate::pairing::Laws;
use crate::proximity::identity::Identity;
use complementarity::linear::Matrix;
use nonsmooth::names::Names;
use std::sync::Arc;

/// How a body moves. Prescribed bodies are boxed so that the common variant stays small.
#[derive(Debug, Clone)]
pub(crate) enum Movement {
    /// By forces, with its first coordinate and velocity.
    Free(First),
    /// Not at all.
    Fixed(Box<Pose>),
    /// As prescribed.
    Driven(Box<Arc<dyn Motion>>),
}

/// A body of a system.
#[derive(Debug, Clone)]
pub(crate) struct RigidBody {
    pub(crate) movement: Movement,
    /// kg; zero for one that does not move by forces.
    pub(crate) mass: f64,
    /// Moment of inertia about the centre of mass, kg m²; zero for one that does not move by forces.
    pub(crate) inertia: f64,
    /// Largest displacement of its surface by a rotation of 1 rad, m.
    lever_arm: f64,
    /// Radius of its largest bounded shape, m: the scale of its margin.
    pub(crate) size: f64,
    /// Whether it has a shape.
    touches: bool,
    /// Whether it has a half-plane that can rotate. No margin bounds its motion, so it is tested against all shapes.
    pub(crate) sweeps: bool,
}

/// A shape and its body.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Placed {
    pub(crate) body: u32,
    /// Class of its body, for the law of a pair.
    pub(crate) class: u16,
    /// Whether the turn of its body does not change it.
    pub(crate) round: bool,
    pub(crate) shape: Shape,
}

/// The bodies of a system. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Bodies {
    pub(crate) names: Names,
    pub(crate) list: Arc<[RigidBody]>,
    pub(crate) shapes: Arc<[Placed]>,
    /// Depth of the middle of the thinnest shape, m.
    pub(super) thinnest: f64,
}

impl RigidBody {
    /// The body of a description. If it moves by forces its coordinates begin at `first`.
    pub(crate) fn new(body: &Body, first: First) -> Result<Self, BuildError> {
        for v in body.pose.coordinates() {
            check(&body.name, "its position", "finite", v, v.is_finite())?;
        }
        for v in body.twist.components() {
            check(&body.name, "its velocity", "finite", v, v.is_finite())?;
        }
        let lever_arm = body.shapes.iter().map(Shape::lever_arm).fold(0.0, f64::max);
        let size = body.shapes.iter().map(|s| s.bound().1).filter(|r| r.is_finite()).fold(0.0, f64::max);
        let (movement, turns) = match &body.mobility {
            Mobility::Free => (Movement::Free(first), true),
            Mobility::Driven(m) => (Movement::Driven(Box::new(m.clone())), m.turns()),
            Mobility::Fixed => (Movement::Fixed(Box::new(body.pose)), false),
        };
        let (mass, inertia) = if body.is_free() { mass_and_inertia(body)? } else { (0.0, 0.0) };
        let sweeps = turns && lever_arm == f64::INFINITY;
        Ok(Self { movement, mass, inertia, lever_arm, size, touches: !body.shapes.is_empty(), sweeps })
    }

    /// First coordinate and velocity, if it moves by forces.
    #[inline]
    pub(crate) fn first(&self) -> Option<First> {
        match self.movement {
            Movement::Free(first) => Some(first),
            Movement::Fixed(_) | Movement::Driven(_) => None,
        }
    }

    /// Its prescribed motion, if it has one.
    #[inline]
    pub(crate) fn motion(&self) -> Option<&dyn Motion> {
        match &self.movement {
            Movement::Driven(m) => Some(&***m),
            Movement::Free(_) | Movement::Fixed(_) => None,
        }
    }

    #[inline]
    pub(crate) fn pose(&self, t: f64, q: &[f64]) -> Pose {
        match &self.movement {
            Movement::Free(first) => Pose::of(&q[first.coordinates(Part::PlanarBody, 1)]),
            Movement::Driven(m) => m.at(t).0,
            Movement::Fixed(pose) => **pose,
        }
    }

    #[inline]
    pub(crate) fn twist(&self, t: f64, u: &[f64]) -> Twist {
        match &self.movement {
            Movement::Free(first) => Twist::of(&u[first.velocities(Part::PlanarBody, 1)]),
            Movement::Driven(m) => m.at(t).1,
            Movement::Fixed(_) => Twist::default(),
        }
    }

    /// Whether it never moves.
    #[inline]
    pub(crate) fn is_fixed(&self) -> bool {
        match self.movement {
            Movement::Fixed(_) => true,
            Movement::Free(_) | Movement::Driven(_) => false,
        }
    }

    /// Speed of the fastest point of its surface, m/s.
    #[inline]
    pub(crate) fn speed(&self, w: &Twist) -> f64 {
        norm(w.velocity) + self.surface_displacement(w.spin)
    }

    /// Whether its displacement must be compared with its margin.
    #[inline]
    pub(crate) fn moves_surface(&self) -> bool {
        self.touches && !self.sweeps && !self.is_fixed()
    }

    /// Largest displacement of the surface by a rotation, m. Unbounded for a half-plane.
    #[inline]
    fn surface_displacement(&self, angle: f64) -> f64 {
        if angle == 0.0 { 0.0 } else { angle.abs() * self.lever_arm }
    }

    /// Largest displacement of the surface between two poses, m.
    #[inline]
    pub(crate) fn displacement(&self, a: &Pose, b: &Pose) -> f64 {
        norm(sub(b.centre, a.centre)) + self.surface_displacement(b.angle - a.angle)
    }
}

impl Bodies {
    /// Bodies with their names and shapes.
    pub(crate) fn new(names: Names, list: Vec<RigidBody>, shapes: Vec<Placed>) -> Self {
        let thinnest = shapes.iter().map(|s| s.shape.half_thickness()).fold(f64::INFINITY, f64::min);
        Self { names, list: list.into(), shapes: shapes.into(), thinnest }
    }

    /// The bodies that move by forces, each with its first coordinate and velocity.
    pub(crate) fn free(&self) -> impl Iterator<Item = (&RigidBody, First)> {
        self.list.iter().filter_map(|b| Some((b, b.first()?)))
    }

    /// Adds M = diag(m, m, J) of every body.
    pub(crate) fn add_mass(&self, m: &mut Matrix) {
        for (body, first) in self.free() {
            let diagonal: [f64; PLANAR_NU] = [body.mass, body.mass, body.inertia];
            for (i, value) in first.velocities(Part::PlanarBody, 1).zip(diagonal) {
                m.add(i, i, value);
            }
        }
    }

    /// Largest displacement of a body's surface beyond dt times its speed at the start, m.
    pub(crate) fn travel(&self, t0: f64, q0: &[f64], u0: &[f64], t1: f64, q1: &[f64]) -> f64 {
        let moved = self.list.iter().filter(|b| b.moves_surface());
        moved.fold(0.0, |worst, b| {
            let excess = b.displacement(&b.pose(t0, q0), &b.pose(t1, q1)) - (t1 - t0) * b.speed(&b.twist(t0, u0));
            if excess > worst || excess.is_nan() { excess } else { worst }
        })
    }

    /// Pairs of bodies with shapes but without a law, one for each pair of classes: they pass through each other.
    pub(crate) fn pairs_without_law(&self, laws: &Laws) -> Vec<(String, String)> {
        let classes = laws.classes();
        let mut first: Vec<Option<&Placed>> = vec![None; classes];
        let mut free = vec![false; classes];
        let mut second: Vec<Option<&Placed>> = vec![None; classes];
        for s in self.shapes.iter() {
            let c = usize::from(s.class);
            if first[c].get_or_insert(s).body != s.body {
                second[c].get_or_insert(s);
            }
            free[c] |= self.list[s.body as usize].first().is_some();
        }
        let mut out = Vec::new();
        for i in 0..classes {
            for j in i..classes {
                let (Some(a), Some(b)) = (first[i], if i == j { second[j] } else { first[j] }) else { continue };
                if (free[i] || free[j]) && laws.between(a.class, b.class).is_none() {
                    out.push((self.names[a.body as usize].to_string(), self.names[b.body as usize].to_string()));
                }
            }
        }
        out
    }

    /// Pairs of bodies with a law whose shapes are all unbounded: none of them meets another.
    pub(crate) fn pairs_without_geometry(&self, laws: &Laws) -> Vec<(String, String)> {
        let mut bounded = vec![false; self.list.len()];
        self.shapes.iter().for_each(|s| bounded[s.body as usize] |= s.shape.points() > 0);
        let mut last = None;
        let mut unbounded: Vec<&Placed> = self.shapes.iter().filter(|s| !bounded[s.body as usize]).collect();
        unbounded.retain(|s| last.replace(s.body) != Some(s.body));
        let free = |s: &Placed| self.list[s.body as usize].first().is_some();
        let name = |s: &Placed| self.names[s.body as usize].to_string();
        let mut out = Vec::new();
        for (i, a) in unbounded.iter().enumerate() {
            for b in &unbounded[i + 1..] {
                if (free(a) || free(b)) && laws.between(a.class, b.class).is_some() {
                    out.push((name(a), name(b)));
                }
            }
        }
        out
    }

    /// Smallest extent of the smaller of the two shapes of a contact, m.
    pub(crate) fn extent(&self, id: Identity) -> f64 {
        let m = Meeting::of(id);
        let [a, b] = [m.point, m.surface].map(|i| self.shapes[i].shape.extent());
        a.min(b)
    }
}
