//! Contacts that a step passes: bodies that change sides between two states.
//!
//! Poses go on straight lines from (t₀, q₀) to (t₁, q₁), those of driven bodies as prescribed. In the frame of the surface the point of a contact
//! then moves along a path y(τ), with the signed distance g(τ) = s(y(τ)) − ρ. With n₀, n₁ the normals at both ends in that frame and D the depth of
//! the middle of the shape with the surface, ρ included, the contact is passed if
//!
//! ```text
//! min g < −D/2 and min g < g(0) − D/4     the path goes deeper than half way to the middle, or
//! min g < −9D/10 and min g < g(0)         it goes on to the middle, however slowly, or
//! min g < −D/100 and n₀·n₁ < 0            it comes out on another side.
//! ```
//!
//! The middle of the shape of the point is looked at in the same way, with half the thickness of that shape as ρ: corners may slide along each other's sides while the bodies go through
//! each other. What is as deep as the middle has no side any more: the nearest part of the surface may be any. A step that resolves a motion does none of these. The distance
//! to a convex shape is a convex function, so that its minimum on a straight line is found by bisection. Paths that turn are followed in straight pieces.
//!
//! Half-planes and inner circles cannot be passed: nothing leads out of them on another side.
//!
//! In a step that resolves the motion bodies move by a small part of D. Contacts of bodies that move by less than D/4 are not looked at, unless a longer step was refused just
//! before: bodies that sink into each other a little in every step reach the middle so.

use super::bodies::{Bodies, Placed};
use super::contact::Meeting;
use super::plane::{Rotation, Vec2, add, dot, scale, sub};
use super::pose::Pose;
use super::shape::Shape;
use crate::proximity::identity::Identity;
use complementarity::capacity;
use nonsmooth::contract::Candidates;

/// Motion of two bodies relative to each other below which they change no sides, as a share of the depth of the middle: from a state with a resolved
/// contact, three quarters of the way to the middle are then left.
const STILL: f64 = 0.25;
/// Share of the depth of the middle that a path may reach, and how much deeper than its start that must be to be of this step.
const DEEP: f64 = 0.5;
const DIP: f64 = 0.25;
/// Share of the depth of the middle near which no step may go deeper by anything: bodies that sink slowly end there.
const LOST: f64 = 0.9;
/// Penetration of a path with another normal at its end, as a share of the depth of the middle, that is a touch in passing.
const GRAZE: f64 = 0.01;
/// n₀·n₁ of a normal that turns by a right angle at a corner, with its rounding.
const RIGHT_ANGLE: f64 = -1e-6;
/// Turn of a straight piece of a path, rad: its sagitta is 1/800 of the lever arm.
const PIECE: f64 = 0.1;
/// Pieces of the path of a driven body, whose motion may have any form.
const PIECES_DRIVEN: usize = 8;
/// Most pieces: they follow a turn by two revolutions in a step.
const MAX_PIECES: usize = 128;
/// Bisections of a piece: what is left of it is far below [`GRAZE`].
const BISECTIONS: usize = 24;

impl Shape {
    /// Depth of its middle below its surface, m. Infinite for an unbounded shape.
    pub(crate) fn half_thickness(&self) -> f64 {
        match *self {
            Shape::Disc { radius, .. } | Shape::Segment { radius, .. } => radius,
            Shape::Box { half, .. } => half[0].min(half[1]),
            Shape::HalfPlane { .. } | Shape::InnerCircle { .. } => f64::INFINITY,
        }
    }

    /// Smallest signed distance on the straight line from a to b, of a convex shape.
    fn nearest(&self, a: Vec2, b: Vec2) -> f64 {
        let along = sub(b, a);
        let at = |x: f64| {
            let y = add(a, scale(x, along));
            self.surface(y, y)
        };
        // The slope of a convex function changes its sign once.
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..BISECTIONS {
            let middle = 0.5 * (low + high);
            if dot(at(middle).n, along) < 0.0 { low = middle } else { high = middle }
        }
        at(low).s.min(at(high).s)
    }
}

/// A time with coordinates.
pub(crate) type Moment<'a> = (f64, &'a [f64]);

impl Bodies {
    /// The contact of a list that the motion between two moments passes. `closely`: bodies that hardly moved too. `moved` is scratch.
    pub(crate) fn passed(
        &self,
        list: &Candidates,
        start: Moment,
        end: Moment,
        closely: bool,
        moved: &mut Vec<f64>,
    ) -> Option<u64> {
        moved.clear();
        capacity::reserve(moved, self.list.len());
        let mut most: f64 = 0.0;
        for body in self.list.iter() {
            let d = if body.is_fixed() {
                0.0
            } else {
                body.displacement(&body.pose(start.0, start.1), &body.pose(end.0, end.1))
            };
            moved.push(d);
            most = most.max(d);
        }
        let still = if closely { 0.0 } else { STILL };
        if 2.0 * most <= still * self.thinnest {
            return None;
        }
        let found = list.items().iter().filter(|k| k.detected()).find(|k| {
            let m = Meeting::of(Identity::of(k.id));
            let (p, s) = (&self.shapes[m.point], &self.shapes[m.surface]);
            let depth = s.shape.half_thickness() + p.shape.point(m.index).1;
            let relative = moved[p.body as usize] + moved[s.body as usize];
            depth.is_finite() && relative > still * depth && self.changes_side(&m, p, s, relative, start, end)
        });
        found.map(|k| k.id)
    }

    fn changes_side(
        &self,
        m: &Meeting,
        p: &Placed,
        s: &Placed,
        relative: f64,
        (t0, q0): Moment,
        (t1, q1): Moment,
    ) -> bool {
        let bodies = [&self.list[p.body as usize], &self.list[s.body as usize]];
        let ends = [bodies.map(|b| b.pose(t0, q0)), bodies.map(|b| b.pose(t1, q1))];
        let (pieces, driven) = self.pieces(p, s, &ends);
        let poses = |i: usize| {
            if i == 0 || i == pieces {
                return ends[i / pieces];
            }
            let x = i as f64 / pieces as f64;
            let pose = |k: usize| {
                if driven[k] { bodies[k].pose(t0 + x * (t1 - t0), q0) } else { between(&ends[0][k], &ends[1][k], x) }
            };
            [pose(0), pose(1)]
        };
        let (point, rho) = p.shape.point(m.index);
        let (middle, core) = (p.shape.bound().0, p.shape.half_thickness());
        let at = |local: Vec2, i: usize| {
            let [a, b] = poses(i);
            let x = add(sub(a.centre, b.centre), Rotation::by(a.angle).apply(local));
            Rotation::by(b.angle).back(x)
        };
        [(point, rho), (middle, core)].iter().take(if point == middle { 1 } else { 2 }).any(|&(local, radius)| {
            let seen = |i: usize| {
                let y = at(local, i);
                (y, s.shape.surface(y, at(middle, i)))
            };
            let ((y0, f0), (y1, f1)) = (seen(0), seen(pieces));
            // g changes at most as fast as the point moves.
            if f0.s + f1.s - 2.0 * radius > relative {
                return false;
            }
            let (mut lowest, mut before) = (f64::INFINITY, y0);
            for i in 1..=pieces {
                let y = if i == pieces { y1 } else { at(local, i) };
                lowest = lowest.min(s.shape.nearest(before, y) - radius);
                before = y;
            }
            let depth = s.shape.half_thickness() + radius;
            let turned = dot(f0.n, f1.n) < RIGHT_ANGLE && lowest < -GRAZE * depth;
            let start = f0.s - radius;
            let lost = lowest < -LOST * depth && lowest < start;
            turned || lost || lowest < (-DEEP * depth).min(start - DIP * depth)
        })
    }

    /// Straight pieces of the path of a point, and which of its two bodies are driven.
    fn pieces(&self, p: &Placed, s: &Placed, [a, b]: &[[Pose; 2]; 2]) -> (usize, [bool; 2]) {
        let driven = [p, s].map(|x| self.list[x.body as usize].motion().is_some());
        let turn = |x: &Placed, k: usize| if x.round { 0.0 } else { (b[k].angle - a[k].angle).abs() };
        let by_turn = ((turn(p, 0) + turn(s, 1)) / PIECE).ceil().min(MAX_PIECES as f64) as usize;
        let least = if driven.contains(&true) { PIECES_DRIVEN } else { 1 };
        (by_turn.max(least), driven)
    }
}

/// The pose at the share x of the way from one to the other.
fn between(a: &Pose, b: &Pose, x: f64) -> Pose {
    let centre = add(a.centre, scale(x, sub(b.centre, a.centre)));
    Pose { centre, angle: a.angle + x * (b.angle - a.angle) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::planar::plane::norm;
    use crate::planar::shape::samples::samples;

    #[test]
    fn the_nearest_place_on_a_line_is_that_of_a_fine_search() {
        for shape in samples().iter().filter(|s| s.half_thickness().is_finite()) {
            for i in 0..60 {
                let x = f64::from(i);
                let (a, b) = ([3.0 * (1.1 * x).sin(), 2.0 * x.cos()], [3.0 * (0.7 * x).cos(), 2.0 * (1.9 * x).sin()]);
                let at = |k: i32| {
                    let y = add(a, scale(f64::from(k) / 4000.0, sub(b, a)));
                    shape.surface(y, y).s
                };
                let fine = (0..=4000).map(at).fold(f64::INFINITY, f64::min);
                let found = shape.nearest(a, b);
                // The search has a step of at most norm(b − a)/4000.
                assert!(found <= fine + 1e-6 && found >= fine - norm(sub(b, a)) / 4000.0, "{shape:?}: {found} {fine}");
            }
        }
    }
}
