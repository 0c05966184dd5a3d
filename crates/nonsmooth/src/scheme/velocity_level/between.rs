//! Directions of a step between its ends, one for the velocities before and after.
//!
//! With W and χ at both ends, ū = (u_k + u_{k+1})/2 and the turn δ of a direction during the step,
//!
//! ```text
//! W̄ = (1−θ) W_k + θ W_{k+1},    χ̄ = (1−θ) χ_k + θ χ_{k+1},    δ = (W_{k+1} − W_k)ᵀ ū + χ_{k+1} − χ_k
//! γ⁺ = W̄ᵀ u_{k+1} + χ̄ + (1−θ) δ,    γ⁻ = W̄ᵀ u_k + χ̄ − θ δ
//! ```
//!
//! Percussions act along W̄. Up to ΔWᵀΔu/4, of second order on smooth motion, γ⁺ and γ⁻ are the velocities at the ends, so that what is closed stays closed; and at θ = 1/2
//! γ⁺ + γ⁻ = 2 (W̄ᵀ ū + (χ_k + χ_{k+1})/2), so that P works over the mean of the two: an elastic hit of a turning body takes no energy, an ideal joint O(dt²).
//!
//! **Sides.** A contact is *passed* where the motion ū goes against its direction at the start and along that of the end, and the two are more than
//! a right angle apart in the metric of the diagonal of M: the bodies have gone through each other. Such a trial keeps the direction of the
//! start; a step that ends so is refused.

use super::{Kinematics, VelocityLevel};
use crate::contract::{Candidates, Evaluator, Kind};
use crate::state::{State, Step};
use complementarity::linear::Matrix;
use complementarity::linear::dense::dot;

/// W and χ of one interaction, and its γ⁻ where they decide it.
pub(super) trait Directions {
    fn of(&mut self, i: usize, before: &mut [f64]) -> (&[f64], &[f64]);
}

/// Those at one point.
pub(super) struct At<'a> {
    pub(super) kinematics: &'a mut Kinematics,
    pub(super) system: &'a Evaluator<'a>,
    pub(super) list: &'a Candidates,
    pub(super) t: f64,
    pub(super) q: &'a [f64],
}

impl Directions for At<'_> {
    #[inline]
    fn of(&mut self, i: usize, _before: &mut [f64]) -> (&[f64], &[f64]) {
        self.kinematics.evaluate(self.system, self.list, i, self.t, self.q)
    }
}

/// The start of a step as its directions see it.
#[derive(Default)]
pub(in crate::scheme) struct Between {
    /// W and χ at the start.
    pub(in crate::scheme) start: Kinematics,
    /// W̄ and χ̄ + (1−θ) δ of one interaction.
    w: Vec<f64>,
    chi: Vec<f64>,
    /// Diagonal of M, once per step.
    diagonal: Vec<f64>,
    known: bool,
    /// The list of candidates, and whether any direction in it turns.
    version: u64,
    turns: bool,
}

/// The end of a step, or a trial of it.
#[derive(Clone, Copy)]
pub(in crate::scheme) struct Trial<'a> {
    pub(in crate::scheme) t: f64,
    pub(in crate::scheme) q: &'a [f64],
    pub(in crate::scheme) u: &'a [f64],
}

impl Between {
    /// For a step from `start`.
    pub(in crate::scheme) fn begin(&mut self, list: &Candidates, start: &State) {
        if self.version != list.version() {
            self.version = list.version();
            self.turns = list.items().iter().any(|k| !k.constant);
        }
        if self.turns {
            self.start.at(list, start.t, &start.q);
            self.known = false;
        }
    }

    fn take_diagonal(&mut self, mass: &Matrix, n: usize) {
        if !self.known {
            self.diagonal.clear();
            self.diagonal.resize(n, 0.0);
            mass.for_each_entry(|i, j, v| {
                if i == j {
                    self.diagonal[i] = v;
                }
            });
            self.known = true;
        }
    }
}

/// Whether a contact with these normal rows at start and end is passed by the motion with the mean of the velocities.
fn passed(
    dofs: &[u32],
    [w0, w1]: [&[f64]; 2],
    [chi0, chi1]: [f64; 2],
    [u0, u1]: [&[f64]; 2],
    diagonal: &[f64],
) -> bool {
    let (mut before, mut after, mut along) = (chi0, chi1, 0.0);
    for ((&j, w0), w1) in dofs.iter().zip(w0).zip(w1) {
        let j = j as usize;
        let mean = 0.5 * (u0[j] + u1[j]);
        before += w0 * mean;
        after += w1 * mean;
        along += w0 * w1 / diagonal[j];
    }
    before < 0.0 && after > 0.0 && along < 0.0
}

/// Directions between the start of a step and a trial of its end.
struct Ends<'a> {
    between: &'a mut Between,
    end: &'a mut Kinematics,
    system: &'a Evaluator<'a>,
    list: &'a Candidates,
    start: &'a State,
    trial: Trial<'a>,
    theta: f64,
}

impl Directions for Ends<'_> {
    fn of(&mut self, i: usize, before: &mut [f64]) -> (&[f64], &[f64]) {
        let k = &self.list.items()[i];
        let (w1, chi1) = self.end.evaluate(self.system, self.list, i, self.trial.t, self.trial.q);
        if k.constant {
            return (w1, chi1);
        }
        let b = &mut *self.between;
        let (w0, chi0) = b.start.evaluate(self.system, self.list, i, self.start.t, &self.start.q);
        let (u0, u1) = (&self.start.u[..], self.trial.u);
        let n = k.dofs.len();
        let keeps =
            k.kind == Kind::Contact && passed(&k.dofs, [&w0[..n], &w1[..n]], [chi0[0], chi1[0]], [u0, u1], &b.diagonal);
        // A trial on the wrong side keeps the direction of the start.
        let (w1, chi1, theta) = if keeps { (w0, chi0, 0.0) } else { (w1, chi1, self.theta) };
        b.w.clear();
        b.chi.clear();
        for (row, before) in before.iter_mut().enumerate() {
            let rows = row * n..(row + 1) * n;
            let (mut turn, mut minus) = (chi1[row] - chi0[row], 0.0);
            for ((&j, a), c) in k.dofs.iter().zip(&w0[rows.clone()]).zip(&w1[rows]) {
                let j = j as usize;
                let w = (1.0 - theta) * a + theta * c;
                b.w.push(w);
                turn += 0.5 * (c - a) * (u0[j] + u1[j]);
                minus += w * u0[j];
            }
            let chi = (1.0 - theta) * chi0[row] + theta * chi1[row];
            b.chi.push(chi + (1.0 - theta) * turn);
            *before = minus + chi - theta * turn;
        }
        (&b.w, &b.chi)
    }
}

/// Room for W and χ at the end to which a step leads, and for the χ of its laws.
#[derive(Default)]
pub(in crate::scheme) struct Ahead {
    w: Vec<f64>,
    chi: Vec<f64>,
    shifted: Vec<f64>,
}

/// Directions at one point of a step, with the velocities of its ends: see `explicit_step.rs`.
struct LawsAtEnds<'a> {
    at: At<'a>,
    room: &'a mut Ahead,
    start: &'a State,
    end: Trial<'a>,
    share: f64,
    /// Whether contacts keep the laws of the point.
    crowd: bool,
}

impl Directions for LawsAtEnds<'_> {
    fn of(&mut self, i: usize, before: &mut [f64]) -> (&[f64], &[f64]) {
        let k = &self.at.list.items()[i];
        let (w, chi) = self.at.kinematics.evaluate(self.at.system, self.at.list, i, self.at.t, self.at.q);
        if k.constant || self.crowd && k.kind == Kind::Contact {
            return (w, chi);
        }
        let n = k.dofs.len();
        let Ahead { w: w1, chi: chi1, shifted } = &mut *self.room;
        w1.resize(w.len(), 0.0);
        chi1.resize(chi.len(), 0.0);
        self.at.system.velocity(k, self.end.t, self.end.q, w1, chi1);
        let joint = matches!(k.kind, Kind::Joint | Kind::VelocityJoint);
        // Beyond a contact its direction has turned round: such an end is none.
        if k.kind == Kind::Contact && dot(&w[..n], &w1[..n]) <= 0.0 {
            return (w, chi);
        }
        shifted.clear();
        for (row, before) in before.iter_mut().enumerate() {
            let rows = row * n..(row + 1) * n;
            let mut s = chi1[row] - chi[row];
            for ((&j, a), b) in k.dofs.iter().zip(&w[rows.clone()]).zip(&w1[rows]) {
                let (u0, u1) = (self.start.u[j as usize], self.end.u[j as usize]);
                s += (b - a) * if joint { u1 } else { 0.5 * (u0 + u1) };
            }
            shifted.push(chi[row] + s);
            *before -= self.share * s;
        }
        (w, shifted)
    }
}

impl VelocityLevel {
    /// The blocks of the one-step problem with directions at one point and velocities of the ends; γ⁻ is that of the point.
    pub(in crate::scheme) fn assemble_rows_ahead(
        &mut self,
        room: &mut Ahead,
        system: &Evaluator,
        (t, q): (f64, &[f64]),
        start: &State,
        end: Trial,
        share: f64,
        step: &Step,
        crowd: bool,
    ) {
        let list = &step.candidates;
        let mut kinematics = std::mem::take(&mut self.kinematics);
        let at = At { kinematics: &mut kinematics, system, list, t, q };
        self.assemble(&mut LawsAtEnds { at, room, start, end, share, crowd }, list, &step.active, step.dt);
        self.kinematics = kinematics;
    }

    /// The blocks of the one-step problem with directions between the start of a step and a trial of its end, and γ⁻ with them.
    pub(in crate::scheme) fn assemble_rows_between(
        &mut self,
        between: &mut Between,
        system: &Evaluator,
        start: &State,
        trial: Trial,
        theta: f64,
        step: &Step,
    ) {
        if !between.turns {
            self.assemble_rows(system, trial.t, trial.q, step);
            return;
        }
        let list = &step.candidates;
        if self.reuse_rows(list, &step.active, step.dt) {
            return;
        }
        between.take_diagonal(&self.mass, start.u.len());
        let mut end = std::mem::take(&mut self.kinematics);
        let mut ends = Ends { between, end: &mut end, system, list, start, trial, theta };
        self.assemble(&mut ends, list, &step.active, step.dt);
        self.kinematics = end;
    }

    /// The contact that a step passes, if there is one.
    pub(in crate::scheme) fn passed(
        &mut self,
        between: &mut Between,
        system: &Evaluator,
        start: &State,
        end: Trial,
        step: &Step,
    ) -> Option<usize> {
        if !between.turns {
            return None;
        }
        let list = &step.candidates;
        let changes =
            |(i, k): &(usize, &crate::contract::Interaction)| step.active[*i] && k.kind == Kind::Contact && !k.constant;
        for (i, k) in list.items().iter().enumerate().filter(changes) {
            between.take_diagonal(&self.mass, start.u.len());
            let (w1, chi1) = self.kinematics.evaluate(system, list, i, end.t, end.q);
            let (w0, chi0) = between.start.evaluate(system, list, i, start.t, &start.q);
            let n = k.dofs.len();
            if passed(&k.dofs, [&w0[..n], &w1[..n]], [chi0[0], chi1[0]], [&start.u, end.u], &between.diagonal) {
                return Some(i);
            }
        }
        None
    }
}
