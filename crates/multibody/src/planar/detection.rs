//! Collision detection: the list of contacts and how long it holds.
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

use super::plane::{Turn, add};
use super::pose::Pose;
use super::shape::encounters;
use super::touch::Touch;
use crate::proximity::broad_phase::{Circle, Grid};
use crate::system::Multibody;
use complementarity::room;
use nonsmooth::System;
use nonsmooth::contract::Reach;
use std::sync::atomic::{AtomicU64, Ordering};

/// Identities of this crate begin here, so that they can stand beside those of other systems.
pub(crate) const IDENTITY: u64 = 1 << 62;
pub(crate) const DETECTED: u64 = IDENTITY | 1 << 60;
const SHAPE_BITS: u32 = 24;
const FEATURE_BITS: u32 = 4;
/// Bit of a feature: the point belongs to the second shape.
const OF_SECOND: u64 = 8;
/// Shapes that identities can tell apart; more are an error when a system is built.
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

/// The list of contacts and what it was made for.
#[derive(Debug, Default)]
pub(crate) struct Detection {
    grid: Grid,
    circles: Vec<Circle>,
    /// Identities of the contacts found.
    pub(crate) found: Vec<u64>,
    poses: Vec<Pose>,
    margins: Vec<f64>,
    /// Mark of the list; zero if there is none.
    pub(crate) stamp: u64,
    pub(crate) complete: bool,
    /// A body whose prescribed motion is not finite.
    lost: Option<usize>,
}

/// A contact found by detection: the shape with the point, which point, and the shape with the surface.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Meeting {
    pub(crate) point: usize,
    pub(crate) index: usize,
    pub(crate) surface: usize,
}

#[inline]
fn identity(first: u32, second: u32, feature: u64) -> u64 {
    DETECTED | (u64::from(first) << (SHAPE_BITS + FEATURE_BITS)) | (u64::from(second) << FEATURE_BITS) | feature
}

#[inline]
pub(crate) fn shapes_of(id: u64) -> (usize, usize) {
    let mask = (1u64 << SHAPE_BITS) - 1;
    (((id >> (SHAPE_BITS + FEATURE_BITS)) & mask) as usize, ((id >> FEATURE_BITS) & mask) as usize)
}

#[inline]
pub(crate) fn meeting(id: u64) -> Meeting {
    let ((first, second), feature) = (shapes_of(id), id & 15);
    let index = (feature & 7) as usize;
    if feature & OF_SECOND == 0 {
        Meeting { point: first, index, surface: second }
    } else {
        Meeting { point: second, index, surface: first }
    }
}

impl Multibody {
    /// Whether no body has used up its margin.
    pub(crate) fn still_valid(&self, d: &Detection, t: f64, q: &[f64], u: &[f64], reach: Reach) -> bool {
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
    pub(crate) fn detect(&self, d: &mut Detection, t: f64, q: &[f64], u: &[f64], reach: Reach) {
        d.poses.clear();
        d.margins.clear();
        room::reserve(&mut d.poses, self.entries.len());
        room::reserve(&mut d.margins, self.entries.len());
        d.lost = None;
        for (i, e) in self.entries.iter().enumerate() {
            let pose = e.pose(t, q);
            d.poses.push(pose);
            let margin = if e.still() {
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
        room::reserve(&mut d.circles, self.shapes.len());
        for (i, s) in self.shapes.iter().enumerate() {
            let (e, pose) = (&self.entries[s.body as usize], &d.poses[s.body as usize]);
            let (local, radius) = s.shape.bound();
            let centre =
                if local == [0.0, 0.0] { pose.centre } else { add(pose.centre, Turn::by(pose.angle).apply(local)) };
            let radius = radius + d.margins[s.body as usize];
            d.circles.push(Circle { shape: i as u32, centre, radius, free: e.dof().is_some() });
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
    pub(crate) fn fault(&self, d: &Detection, t: f64, q: &[f64]) -> String {
        if let Some(lost) = d.lost {
            return format!("body `{}`: its position or velocity is not finite at t = {t}", &self.names[lost]);
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
}
