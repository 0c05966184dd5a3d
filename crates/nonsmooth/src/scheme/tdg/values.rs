//! Positions, velocities and accelerations of the stages, and the combinations (67) to (75) of them.

use super::tableau::{Side, Tableau};
use crate::contract::Evaluator;
use crate::state::State;
use complementarity::linear::dense::max_norm;

/// Values at the stages, stage after stage.
#[derive(Default)]
pub(super) struct Values {
    pub(super) n: usize,
    pub(super) nu: usize,
    pub(super) nq: usize,
    pub(super) v: Vec<f64>,
    pub(super) q: Vec<f64>,
    pub(super) a: Vec<f64>,
    /// The jump M⁻¹WP at the end over dt.
    pub(super) y: Vec<f64>,
    /// Positions follow the rule of velocities.
    pub(super) stiff: bool,
    /// Size of what forces alone would make of velocities in the step: terms that may cancel.
    pub(super) terms: f64,
    /// Position at the end, and velocity there before the jump's percussions.
    pub(super) q_end: Vec<f64>,
    pub(super) smooth: Vec<f64>,
    /// The same velocity from the polynomial of the accelerations, without the jump that the polynomial of the velocities has in smooth motion: it differs from `smooth` by the error of the scheme.
    pub(super) rough: Vec<f64>,
    /// Velocity before the jump: that of the last stage for D⁻, `smooth` without any percussion for D⁺.
    pub(super) left: Vec<f64>,
    /// By how much velocities changed last, at most.
    pub(super) changed: f64,
    rate: Vec<f64>,
    before: Vec<f64>,
    /// Local coordinates of the start, where there are charts.
    origin: Vec<f64>,
}

impl Values {
    pub(super) fn size(&mut self, stages: usize, system: &Evaluator) {
        let s = system.structure();
        (self.n, self.nu, self.nq) = (stages, s.nu(), s.nq());
        self.v.resize(stages * self.nu, 0.0);
        self.a.resize(stages * self.nu, 0.0);
        self.q.resize(stages * self.nq, 0.0);
        self.rate.resize(stages * self.nq, 0.0);
        self.y.resize(self.nu, 0.0);
        self.q_end.resize(self.nq, 0.0);
        self.smooth.resize(self.nu, 0.0);
        self.rough.resize(self.nu, 0.0);
        self.left.resize(self.nu, 0.0);
    }

    pub(super) fn v(&self, l: usize) -> &[f64] {
        &self.v[l * self.nu..(l + 1) * self.nu]
    }

    pub(super) fn q(&self, l: usize) -> &[f64] {
        &self.q[l * self.nq..(l + 1) * self.nq]
    }

    pub(super) fn a(&self, l: usize) -> &[f64] {
        &self.a[l * self.nu..(l + 1) * self.nu]
    }

    pub(super) fn a_mut(&mut self, l: usize) -> &mut [f64] {
        &mut self.a[l * self.nu..(l + 1) * self.nu]
    }

    /// Weights of the positions of stages.
    pub(super) fn position_weights<'a>(&self, tableau: &'a Tableau) -> &'a [f64] {
        if self.stiff { &tableau.a } else { &tableau.b }
    }

    /// All stages at the start of the step.
    pub(super) fn begin(&mut self, start: &State) {
        for l in 0..self.n {
            self.v[l * self.nu..(l + 1) * self.nu].copy_from_slice(&start.u);
            self.q[l * self.nq..(l + 1) * self.nq].copy_from_slice(&start.q);
        }
        self.y.fill(0.0);
    }

    /// v_l = u + dt (Σ a_lk a_k + κ_l y). Returns by how much they changed, over what is allowed: see [`Allowed`].
    pub(super) fn velocities(&mut self, tableau: &Tableau, start: &State, dt: f64, allowed: Allowed) -> f64 {
        let (n, nu) = (self.n, self.nu);
        self.before.clear();
        self.before.extend_from_slice(&self.v);
        for l in 0..n {
            let out = &mut self.v[l * nu..(l + 1) * nu];
            out.copy_from_slice(&start.u);
            for k in 0..n {
                add(dt * tableau.a[l * n + k], &self.a[k * nu..(k + 1) * nu], out);
            }
            add(dt * tableau.kappa[l], &self.y, out);
        }
        self.changed = self.before.iter().zip(&self.v).fold(0.0f64, |m, (a, b)| m.max((a - b).abs()));
        excess(&self.before, &self.v, &start.u, allowed)
    }

    /// q_l = q + dt Σ b_lk q̇_k, with q̇_k at (q_k, v_k) as they are, and q at the end. The same measure of change.
    pub(super) fn positions(
        &mut self,
        system: &Evaluator,
        tableau: &Tableau,
        start: &State,
        dt: f64,
        allowed: Allowed,
    ) -> f64 {
        let (n, nu, nq) = (self.n, self.nu, self.nq);
        for l in 0..n {
            let t = start.t + tableau.c[l] * dt;
            let (v, q) = (&self.v[l * nu..(l + 1) * nu], &self.q[l * nq..(l + 1) * nq]);
            system.local_rates(t, &start.q, q, v, &mut self.rate[l * nq..(l + 1) * nq]);
        }
        let mut room = std::mem::take(&mut self.origin);
        let origin = system.origin(&start.q, &mut room);
        let weights = self.position_weights(tableau);
        self.before.clear();
        self.before.extend_from_slice(&self.q);
        for l in 0..n {
            let out = &mut self.q[l * nq..(l + 1) * nq];
            out.copy_from_slice(origin);
            for k in 0..n {
                add(dt * weights[l * n + k], &self.rate[k * nq..(k + 1) * nq], out);
            }
            system.retract(&start.q, out);
        }
        if tableau.c[n - 1] == 1.0 {
            self.q_end.copy_from_slice(&self.q[(n - 1) * nq..]);
        } else {
            self.q_end.copy_from_slice(origin);
            for k in 0..n {
                add(dt * tableau.beta[k], &self.rate[k * nq..(k + 1) * nq], &mut self.q_end);
            }
            system.retract(&start.q, &mut self.q_end);
        }
        self.origin = room;
        excess(&self.before, &self.q, &start.q, Allowed { terms: dt * allowed.terms, ..allowed })
    }

    /// The velocity before the jump, of stages that do not see it.
    pub(super) fn take_left(&mut self, tableau: &Tableau) {
        let last = (self.n - 1) * self.nu;
        let from = if tableau.side == Side::Minus { &self.v[last..] } else { &self.smooth };
        self.left.copy_from_slice(from);
    }

    /// u + dt Σ β_k a_k into `smooth`, and the same with the jump of a smooth polynomial into `rough`: at the right end for D⁻, at the left end for D⁺.
    pub(super) fn sum(&mut self, tableau: &Tableau, start: &State, dt: f64) {
        let (n, nu) = (self.n, self.nu);
        self.smooth.copy_from_slice(&start.u);
        self.rough.copy_from_slice(&start.u);
        let minus = tableau.side == Side::Minus;
        // The row of the stage at the end, or at the start.
        let end = if minus { (n - 1) * n } else { 0 };
        for k in 0..n {
            let a = &self.a[k * nu..(k + 1) * nu];
            add(dt * tableau.beta[k], a, &mut self.smooth);
            add(dt * (tableau.a[end + k] + if minus { 0.0 } else { tableau.beta[k] }), a, &mut self.rough);
        }
    }
}

/// y += s x.
pub(super) fn add(s: f64, x: &[f64], y: &mut [f64]) {
    if s != 0.0 {
        y.iter_mut().zip(x).for_each(|(y, x)| *y += s * x);
    }
}

/// By how much values may still change in an iteration.
#[derive(Clone, Copy)]
pub(super) struct Allowed {
    /// This part of how far they are from the start of the step.
    pub(super) part: f64,
    /// Terms of this size cancel in them.
    pub(super) terms: f64,
}

impl Allowed {
    /// All of it.
    pub(super) const ANY: Self = Self { part: 1.0, terms: 0.0 };
}

/// Largest change of the values of all stages over what is allowed, or over rounding.
fn excess(before: &[f64], after: &[f64], origin: &[f64], allowed: Allowed) -> f64 {
    let n = origin.len().max(1);
    let (mut change, mut way) = (0.0f64, 0.0f64);
    for (old, new) in before.chunks_exact(n).zip(after.chunks_exact(n)) {
        for i in 0..n {
            let d = (new[i] - old[i]).abs();
            change = if d <= change { change } else { d };
            way = way.max((new[i] - origin[i]).abs()).max((old[i] - origin[i]).abs());
        }
    }
    let rounding = 16.0 * f64::EPSILON * (max_norm(origin) + way + allowed.terms);
    // Numbers that are about to underflow have no digits left.
    if change <= 1e-280 { 0.0 } else { change / (allowed.part * way).max(rounding) }
}
