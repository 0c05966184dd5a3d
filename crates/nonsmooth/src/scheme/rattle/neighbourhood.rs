//! Whether a solved step stayed in the neighbourhood of its start.
//!
//! The equations of the first stage have more roots than the one that the motion leads to: with joints that turn, a body may have turned by 2π more, or be on the other
//! side. At the right root v = u_{n+1/2} is the mean ū of u_n and u_{n+1} up to O(dt²). A joint has **strayed** where
//!
//! ```text
//! max_ij |w_ij (v_j − ū_j)| > c s,    s(u) = max_i Σ_j |w_ij u_j|,        w at both ends,
//! ```
//!
//! with c = 0.05 of the smaller of s(u_n) and s(u_{n+1}), or where contacts take percussions, which may leave v anywhere between the velocities before and after, 2 of
//! their mean, and the displacement dt (v − ū) turns its
//! directions. A pendulum whose rod has no inertia solves sin α = ω dt for its turn α in a step: the two roots meet at α = π/2, where the left side is 0.29 of s.

use super::{Rattle, StepInput};
use crate::contract::{Evaluator, Kind};

/// c of the module head: without percussions of contacts, and with them.
const MAX_DEVIATION: f64 = 0.05;
const MAX_DEVIATION_AT_IMPACT: f64 = 2.0;
/// Fractions of the displacement at which directions are compared. Full turns at all of them are no coincidence.
const SAMPLES: [f64; 3] = [0.381_966, 0.25, 0.1];
/// Smallest relative change of the entries of a direction that counts as a turn.
const MIN_TURN: f64 = 0.05;

/// Workspace.
#[derive(Default)]
pub(super) struct Neighbourhood {
    difference: Vec<f64>,
    q: Vec<f64>,
    moved: Vec<f64>,
    still: Vec<f64>,
    w: Vec<f64>,
    chi: Vec<f64>,
}

impl Rattle {
    /// The joint that strayed, if one did.
    pub(super) fn strayed(&mut self, input: &StepInput) -> Option<usize> {
        let StepInput { system, start, dt, list } = *input;
        let t1 = input.end();
        let (first, second) = (&mut self.first, &self.second);
        let hit = (0..list.len()).any(|i| {
            let contact = list.items()[i].kind == Kind::Contact;
            contact && first.p[list.range(i).start] > 0.0
        });
        let c = if hit { MAX_DEVIATION_AT_IMPACT } else { MAX_DEVIATION };
        let near = &mut self.neighbourhood;
        let ends = start.u.iter().zip(&second.u);
        near.difference.clear();
        near.difference.extend(first.v.iter().zip(ends).map(|(v, (a, b))| v - 0.5 * (a + b)));
        for (i, k) in list.items().iter().enumerate() {
            if k.kind != Kind::Joint || k.constant {
                continue;
            }
            let n = k.dofs.len().max(1);
            let (mut off, mut sizes) = (0.0f64, [0.0f64; 2]);
            for at_end in [false, true] {
                let (w, _) = match at_end {
                    false => first.now.evaluate(system, list, i, start.t, &start.q),
                    true => first.ahead.evaluate(system, list, i, t1, &first.q),
                };
                for row in w.chunks_exact(n) {
                    let mut sums = [0.0; 2];
                    for (w, &j) in row.iter().zip(k.dofs.iter()) {
                        let j = j as usize;
                        off = off.max((w * near.difference[j]).abs());
                        sums[0] += (w * start.u[j]).abs();
                        sums[1] += (w * second.u[j]).abs();
                    }
                    sizes.iter_mut().zip(sums).for_each(|(size, sum)| *size = sum.max(*size));
                }
            }
            let size = if hit { 0.5 * (sizes[0] + sizes[1]) } else { sizes[0].min(sizes[1]) };
            if off <= c * size {
                continue;
            }
            for part in SAMPLES {
                // The directions at the end, and a part of the displacement before it.
                near.before(system, t1, &first.q, part * dt);
                near.w.resize(k.dim() * k.dofs.len(), 0.0);
                near.chi.resize(k.dim(), 0.0);
                system.velocity(k, t1, &near.q, &mut near.w, &mut near.chi);
                let (w, _) = first.ahead.evaluate(system, list, i, t1, &first.q);
                let largest = w.iter().fold(0.0f64, |m, w| m.max(w.abs()));
                let change = w.iter().zip(&near.w).fold(0.0f64, |m, (a, b)| m.max((a - b).abs()));
                if !(change <= MIN_TURN * largest) {
                    return Some(i);
                }
            }
        }
        None
    }
}

impl Neighbourhood {
    /// q − dt B (v − ū) into `q`.
    fn before(&mut self, system: &Evaluator, t: f64, q: &[f64], dt: f64) {
        for v in [&mut self.moved, &mut self.still, &mut self.q] {
            v.resize(q.len(), 0.0);
        }
        if system.structure().identity_kinematics() {
            self.moved.copy_from_slice(&self.difference);
        } else {
            system.kinematics(t, q, &self.difference, &mut self.moved);
            self.difference.iter_mut().for_each(|d| *d = -*d);
            system.kinematics(t, q, &self.difference, &mut self.still);
            self.difference.iter_mut().for_each(|d| *d = -*d);
            self.moved.iter_mut().zip(&self.still).for_each(|(a, b)| *a = 0.5 * (*a - b));
        }
        for ((at, q), moved) in self.q.iter_mut().zip(q).zip(&self.moved) {
            *at = q - dt * moved;
        }
    }
}
