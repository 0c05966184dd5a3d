//! The list of contacts between bodies: points and surfaces that are nearer than the margins of both bodies.
//!
//! A half-plane that rotates moves without bound: its margin is infinite.

use super::bodies::Bodies;
use super::plane::{Rotation, add};
use super::pose::Pose;
use super::surface::encounters;
use super::touch::Touch;
use crate::pairing::Laws;
use crate::proximity::broad_phase::Circle;
use crate::proximity::identity::{Feature, Identity, Pair};
use crate::proximity::list::{List, MIN_CONTACT_LIMIT, contact_limit};
use crate::proximity::margin::{holds, margin};
use complementarity::capacity;
use nonsmooth::contract::{Kind, Part, PartKind, Reach, Violation};

/// The list of contacts, with the poses and margins for which it was made.
#[derive(Debug, Default)]
pub(crate) struct Detection {
    /// Mark of the system that it belongs to.
    pub(crate) system: u64,
    pub(crate) list: List,
    /// Poses and margins of the bodies when it was made.
    poses: Vec<Pose>,
    margins: Vec<f64>,
    /// Scratch: displacements of the bodies in a step.
    pub(crate) moved: Vec<f64>,
    /// A body whose prescribed motion is not finite.
    lost: Option<usize>,
}

impl Detection {
    /// An empty list of the system with this mark.
    pub(crate) fn of(system: u64) -> Self {
        Self { system, ..Self::default() }
    }

    /// Whether the list has all contacts.
    pub(crate) fn is_complete(&self) -> bool {
        self.list.complete && self.lost.is_none()
    }

    /// Whether no body has used up its margin.
    pub(crate) fn still_valid(&self, bodies: &Bodies, t: f64, q: &[f64], u: &[f64], reach: Reach) -> bool {
        self.list.stamp != 0
            && bodies.list.iter().zip(&self.poses).zip(&self.margins).all(|((body, before), &margin)| {
                if !body.moves_surface() {
                    return true;
                }
                holds(margin, body.displacement(before, &body.pose(t, q)), body.speed(&body.twist(t, u)), reach)
            })
    }

    /// Rebuilds the list.
    pub(crate) fn detect(
        &mut self,
        bodies: &Bodies,
        laws: &Laws,
        threads: usize,
        t: f64,
        q: &[f64],
        u: &[f64],
        reach: Reach,
    ) {
        self.place_bodies(bodies, t, q, u, reach);
        self.bound_shapes(bodies);
        let (poses, margins, shapes) = (&self.poses, &self.margins, &bodies.shapes);
        self.list.search(threads, |a: &Circle, b: &Circle, out: &mut Vec<Identity>| {
            let pair = Pair::of(a.shape, b.shape);
            let (x, y) = (&shapes[pair.first as usize], &shapes[pair.second as usize]);
            if x.body == y.body || laws.between(x.class, y.class).is_none() {
                return;
            }
            let (i, j) = (x.body as usize, y.body as usize);
            let allowed = margins[i] + margins[j];
            let (of_first, of_second) = encounters(&x.shape, &y.shape);
            for k in 0..of_first {
                if Touch::new(&x.shape, k, &poses[i], &y.shape, &poses[j]).gap <= allowed {
                    out.push(Identity::contact(pair, Feature::PointOfFirst(k as u8)));
                }
            }
            for k in 0..of_second {
                if Touch::new(&y.shape, k, &poses[j], &x.shape, &poses[i]).gap <= allowed {
                    out.push(Identity::contact(pair, Feature::PointOfSecond(k as u8)));
                }
            }
        });
    }

    /// Poses and margins.
    fn place_bodies(&mut self, bodies: &Bodies, t: f64, q: &[f64], u: &[f64], reach: Reach) {
        self.poses.clear();
        self.margins.clear();
        capacity::reserve(&mut self.poses, bodies.list.len());
        capacity::reserve(&mut self.margins, bodies.list.len());
        self.lost = None;
        for (i, body) in bodies.list.iter().enumerate() {
            let pose = body.pose(t, q);
            self.poses.push(pose);
            let margin = if body.is_fixed() {
                0.0
            } else if body.sweeps {
                f64::INFINITY
            } else {
                margin(body.size, body.speed(&body.twist(t, u)), reach)
            };
            self.margins.push(margin);
            if !pose.coordinates().iter().all(|v| v.is_finite()) || margin.is_nan() {
                self.lost.get_or_insert(i);
            }
        }
    }

    /// Circles around the shapes, with the margins of their bodies.
    fn bound_shapes(&mut self, bodies: &Bodies) {
        let circles = &mut self.list.circles;
        circles.clear();
        capacity::reserve(circles, bodies.shapes.len());
        for (i, s) in bodies.shapes.iter().enumerate() {
            let (body, pose) = (&bodies.list[s.body as usize], &self.poses[s.body as usize]);
            let (local, radius) = s.shape.bound();
            let centre =
                if local == [0.0, 0.0] { pose.centre } else { add(pose.centre, Rotation::by(pose.angle).apply(local)) };
            let radius = radius + self.margins[s.body as usize];
            circles.push(Circle { shape: i as u32, centre, radius, free: body.first().is_some() });
        }
    }

    /// Error for bodies that overlap too much, or whose pose is not finite.
    pub(crate) fn fault(&self, bodies: &Bodies, t: f64, q: &[f64]) -> Violation {
        if let Some(lost) = self.lost {
            let name = &bodies.names[lost];
            let why = format!("body `{name}`: its position or velocity is not finite at t = {t}");
            return Violation::of(Part::new(PartKind::Own("body"), name), why);
        }
        let gap = |id: &Identity| bodies.gap(*id, t, q);
        let deepest = self.list.found.iter().take(MIN_CONTACT_LIMIT).min_by(|a, b| gap(a).total_cmp(&gap(b)));
        let example = deepest.map(|id| (bodies.contact_name(*id), -gap(id)));
        let why = format!(
            "more than {} pairs of the {} shapes are in contact or nearly so: bodies overlap{}",
            contact_limit(bodies.shapes.len()),
            bodies.shapes.len(),
            example.as_ref().map(|(name, depth)| format!(", `{name}` by {depth:.3e} m")).unwrap_or_default()
        );
        Violation { part: example.map(|(name, _)| Part::new(Kind::Contact, name)), why }
    }
}
