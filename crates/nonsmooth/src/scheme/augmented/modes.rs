//! Modes of laws from step to step: which of them switched, and where rounding alone decides what the mode is.
//!
//! A contact that is closed, moves with its partner and carries nothing is in both modes at once,
//!
//! ```text
//! g = 0,  γ⁻ = γ⁺ = 0,  P = 0,
//! ```
//!
//! and so is friction that rests while its share of the percussions is not unique. What the set says of such a law is rounding: it counts as in
//! constraint mode. Constraint to impressed is therefore no switch, and of friction neither is the way back, where
//!
//! ```text
//! g ≤ 1e-10 m (contacts),    |γ⁻|, |γ⁺| ≤ c (ε Σ |w_j| v_j + |χ| + ν),    v_j = max(|u_j|, |u_j⁺|, |v_free,j|)
//! ```
//!
//! in the rows of the law, with c a hundred and ν what the solver leaves of its problems: in this step, and, as velocities come from the step before, what it may
//! leave, τ max |v_free| with its tolerance τ, up to a hundredth of atol. Velocities beyond it tell the modes apart.

use super::NOISE;
use super::record::AugmentedMemory;
use crate::contract::{Candidates, Evaluator, Interaction, Kind};
use crate::scheme::velocity_level::ACTIVATION;
use crate::state::{Sigma, State, Step};
use complementarity::{Mode, capacity};

/// Bits of σ̂ that mean something for an interaction.
fn meaning(k: &Interaction) -> u32 {
    match k.kind {
        Kind::Joint | Kind::VelocityJoint => 0,
        Kind::Contact if k.dim() > 1 => 0b11,
        Kind::Contact => 0b01,
        Kind::Element => u32::MAX,
    }
}

/// Calls `found` with the index and the bits of every law whose mode differs from that of the step before `start`.
fn for_each_change(start: &State, list: &Candidates, sigma: &[Sigma], mut found: impl FnMut(usize, u32)) {
    let memory = start.memory.of::<AugmentedMemory>();
    if !memory.judged {
        return;
    }
    for (i, k) in list.items().iter().enumerate() {
        let place = start.percussions.place(i, k.id);
        let last = place.and_then(|at| memory.sigma.get(at)).copied().unwrap_or(Sigma::OPEN);
        let bits = (sigma[i].0 ^ last.0) & meaning(k);
        // An element that was not there before has nothing to be compared with.
        if bits != 0 && (k.kind == Kind::Contact || place.is_some()) {
            found(i, bits);
        }
    }
}

/// Calls `found` with the place, the modes and the bits of every law that switched in a step.
pub(crate) fn for_each_switch(start: &State, step: &Step, mut found: impl FnMut(usize, Sigma, u32)) {
    let settled = &step.end.memory.of::<AugmentedMemory>().sigma;
    if settled.len() == step.candidates.len() {
        for_each_change(start, &step.candidates, settled, |i, bits| found(i, settled[i], bits));
    }
}

/// Modes of a step of the base scheme, settled where rounding decides.
#[derive(Default)]
pub(super) struct Modes {
    /// Settled modes of the last base step.
    pub(super) sigma: Vec<Sigma>,
    changes: Vec<(usize, u32)>,
    w: Vec<f64>,
    chi: Vec<f64>,
}

impl Modes {
    /// Number of laws that switch in a base step from `from` within a step from `start`. `free` is its velocity without percussions,
    /// `floor` the velocity error of the solver.
    pub(super) fn count_switches(
        &mut self,
        system: &Evaluator,
        start: &State,
        from: &State,
        step: &Step,
        free: Option<&[f64]>,
        floor: f64,
    ) -> usize {
        capacity::assign(&mut self.sigma, &step.sigma);
        self.changes.clear();
        let changes = &mut self.changes;
        for_each_change(start, &step.candidates, &step.sigma, |i, bits| changes.push((i, bits)));
        let mut count = 0;
        for c in 0..self.changes.len() {
            let (i, bits) = self.changes[c];
            let undecided = self.undecided(system, from, step, (free, floor), i, bits);
            self.sigma[i].0 &= !undecided;
            count += (bits & !undecided).count_ones() as usize;
        }
        count
    }

    /// Which of these bits of an interaction, which changed, are rounding.
    fn undecided(
        &mut self,
        system: &Evaluator,
        from: &State,
        step: &Step,
        (free, floor): (Option<&[f64]>, f64),
        i: usize,
        bits: u32,
    ) -> u32 {
        let k = &step.candidates.items()[i];
        let (n, end) = (k.dofs.len(), &step.end);
        if k.kind == Kind::Contact {
            let mut gap = [0.0];
            system.position(k, end.t, &end.q, &mut gap);
            if !(gap[0] <= ACTIVATION) {
                return 0;
            }
        }
        capacity::resize(&mut self.w, k.dim() * n, 0.0);
        capacity::resize(&mut self.chi, k.dim(), 0.0);
        system.velocity(k, end.t, &end.q, &mut self.w, &mut self.chi);
        let free = free.filter(|v| v.len() == end.u.len());
        let (w, chi) = (&self.w, &self.chi);
        let still = |rows: std::ops::Range<usize>| {
            rows.into_iter().all(|r| {
                let (mut minus, mut plus, mut size) = (chi[r], chi[r], chi[r].abs());
                for (&j, w) in k.dofs.iter().zip(&w[r * n..(r + 1) * n]) {
                    let j = j as usize;
                    let (a, b, v) = (from.u[j], end.u[j], free.map_or(0.0, |v| v[j]));
                    (minus, plus) = (minus + w * a, plus + w * b);
                    size += w.abs() * a.abs().max(b.abs()).max(v.abs());
                }
                minus.abs().max(plus.abs()) <= NOISE * (f64::EPSILON * size + step.report.noise) + floor
            })
        };
        if k.kind != Kind::Contact {
            return if still(0..k.dim()) { bits } else { 0 };
        }
        let closed = step.sigma[i].mode(0) == Mode::Constraint;
        let normal = u32::from(bits & 0b01 != 0 && !closed && still(0..1));
        let rests = bits & 0b10 != 0 && (closed && bits & 0b01 == 0 || normal != 0) && still(1..k.dim());
        normal | u32::from(rests) << 1
    }
}
