//! A finished step looked at again: certificate and ledger, as far as they do not depend on where a scheme evaluates its functions.

use super::VelocityLevel;
use crate::accounting::{Certificate, Ledger, Line, Meter};
use crate::contract::{Evaluator, Kind};
use crate::state::{State, Step};
use complementarity::linear::dense::{dot, max_norm};
use complementarity::sets::MAX_DIM;

/// Where and over which velocities a step applied its forces, for the ledger.
pub(in crate::scheme) struct Applied<'a> {
    /// (u₀ + u₁)/2.
    pub(in crate::scheme) mean: &'a [f64],
    /// The velocity that moved the position.
    pub(in crate::scheme) moved: &'a [f64],
    /// Where forces were evaluated.
    pub(in crate::scheme) q_star: &'a [f64],
    /// Where that velocity led: the end of the step, before a projection.
    pub(in crate::scheme) led_to: &'a [f64],
}

/// Largest entry of q_{k+1} − q_k − dt q̇ − s, relative to 1 + max|q|, with the shift s of a projection.
pub(in crate::scheme) fn kinematics_residual(
    system: &Evaluator,
    start: &State,
    step: &Step,
    qdot: &[f64],
    shift: Option<&[f64]>,
) -> f64 {
    let worst = system.about(&start.q, &step.end.q, |origin, end| {
        let mut worst: f64 = 0.0;
        for i in 0..qdot.len() {
            let d = (end[i] - origin[i] - step.dt * qdot[i] - shift.map_or(0.0, |s| s[i])).abs();
            if !(d <= worst) {
                worst = d;
            }
        }
        worst
    });
    worst / (1.0 + max_norm(&step.end.q))
}

/// The line of the ledger for component `j` of an interaction.
pub(in crate::scheme) fn line_of(kind: Kind, j: usize) -> Line {
    match kind {
        Kind::Joint | Kind::VelocityJoint => Line::Joints,
        Kind::Element => Line::Elements,
        Kind::Contact if j == 0 => Line::Normal,
        Kind::Contact => Line::Friction,
    }
}

impl VelocityLevel {
    /// Certificate of laws and dynamics with the rows as assembled, `r` taken from the step.
    pub(in crate::scheme) fn certify(
        &mut self,
        system: &Evaluator,
        start: &State,
        step: &Step,
        kinematics: f64,
        out: &mut Certificate,
    ) {
        out.clear();
        out.kinematics = kinematics;
        let (residual, scale) = self.dynamics_residual(&start.u, &step.end.u, step.dt);
        out.dynamics = if residual == 0.0 { 0.0 } else { residual / scale.max(f64::MIN_POSITIVE) };
        out.dynamics_culprit = self.explain_dynamics(step);
        self.certify_laws(step, out);
        out.geometry(system, step.end.t, &step.end.q, &step.candidates);
    }

    /// The interaction whose direction explains most of the dynamics residual in `scratch`.
    pub(in crate::scheme) fn explain_dynamics(&self, step: &Step) -> Option<usize> {
        let (mut best, mut culprit) = (0.0, None);
        for (gi, g) in self.groups.iter().enumerate() {
            let k = &step.candidates.items()[g.interaction()];
            for b in self.blocks(gi) {
                let d = self.full.coupling().dim(b);
                let mut along = [0.0; MAX_DIM];
                self.full.coupling().add_velocity(b, &self.scratch, &mut along[..d]);
                let n = k.dofs.len().max(1);
                for (row, a) in self.full.coupling().values(b).chunks_exact(n).zip(&along) {
                    let explained = a.abs() / dot(row, row).sqrt().max(f64::MIN_POSITIVE);
                    if explained > best {
                        (best, culprit) = (explained, Some(g.interaction()));
                    }
                }
            }
        }
        culprit
    }

    /// The laws at the end of a step with the percussions in `r`.
    pub(in crate::scheme) fn certify_laws(&mut self, step: &Step, out: &mut Certificate) {
        self.certify_laws_of(step, 0.0, out);
    }

    /// The same for a part of a step in which percussions or velocities of the size `floor` are at work.
    pub(in crate::scheme) fn certify_laws_of(&mut self, step: &Step, floor: f64, out: &mut Certificate) {
        self.forget_velocities();
        self.velocities_after(&step.end.u);
        // Scale: percussions, and the velocities of what takes part, whole, seen along the rows: where the motion is across
        // the row, the terms of the sum itself are rounding.
        let mut size: f64 = max_norm(&self.r).max(max_norm(&self.full.c)).max(floor);
        for i in 0..self.full.blocks().len() {
            let dofs = self.full.coupling().dofs(i);
            let mut values = self.full.coupling().values(i);
            for _ in 0..self.full.coupling().dim(i) {
                let (row, rest) = values.split_at(dofs.len());
                let speed = dofs.iter().fold(0.0, |m: f64, &j| m.max(step.end.u[j as usize].abs()));
                size = size.max(speed * row.iter().map(|w| w.abs()).sum::<f64>());
                values = rest;
            }
        }
        if size == 0.0 {
            size = 1.0;
        }
        // An interaction that took no part has no percussion.
        for (i, active) in step.active.iter().enumerate() {
            let p = max_norm(step.percussion(i));
            if !active && p > 0.0 && p / size.max(p) > out.law {
                out.law = p / size.max(p);
                out.law_culprit = Some(i);
            }
        }
        for (gi, g) in self.groups.iter().enumerate() {
            let k = &step.candidates.items()[g.interaction()];
            for b in self.blocks(gi) {
                let (at, set) = (self.rows(b).start, &self.full.blocks()[b].set);
                let d = set.dim();
                let mut xi = [0.0; MAX_DIM];
                let mut f = [0.0; MAX_DIM];
                for j in 0..d {
                    xi[j] = self.gamma[at + j] + self.full.c[at + j] - self.chi[at + j];
                }
                set.natural_map(&self.r[at..at + d], &xi[..d], &mut f);
                let law = max_norm(&f[..d]) / size;
                if !(law <= out.law) {
                    out.law = law;
                    out.law_culprit = Some(g.interaction());
                }
                if k.kind == Kind::Contact {
                    let cone = set.distance(&self.r[at..at + d]);
                    if !(cone <= out.cone) {
                        out.cone = cone;
                    }
                    if at == g.row() && !(-xi[0] <= out.gap_velocity) {
                        out.gap_velocity = -xi[0];
                    }
                }
            }
        }
    }

    /// Ledger lines of the percussions: work over the mean velocity ū.
    pub(in crate::scheme) fn account_percussions(&self, step: &Step, mean: &[f64], out: &mut Ledger) {
        for (gi, g) in self.groups.iter().enumerate() {
            let k = &step.candidates.items()[g.interaction()];
            for b in self.blocks(gi) {
                let rows = self.rows(b);
                let mut power = [0.0; MAX_DIM];
                self.full.coupling().add_velocity(b, mean, &mut power[..rows.len()]);
                for (row, power) in rows.zip(power) {
                    out.add(line_of(k.kind, row - g.row()), power * self.r[row]);
                }
            }
        }
    }

    /// All ledger lines of a step M*(u₁ − u₀) = dt Σ h_i* + Σ W P, with M* and the rows as assembled and `force` giving
    /// h_i* (it may use the workspace).
    pub(in crate::scheme) fn account(
        &mut self,
        system: &Evaluator,
        start: &State,
        step: &Step,
        applied: &Applied,
        mut force: impl FnMut(&mut Self, usize, &mut [f64]),
        meter: &mut Meter,
        out: &mut Ledger,
    ) {
        self.account_percussions(step, applied.mean, out);
        // ½ uᵀ(M − M*)u at both ends.
        if !system.structure().constant_mass {
            let mut change = 0.0;
            self.size_vectors();
            for (sign, s, q) in [(1.0, &*step.end, applied.led_to), (-1.0, start, &start.q)] {
                self.mass.multiply(&s.u, &mut self.scratch);
                change += sign * (meter.kinetic(system, s.t, q, &s.u) - 0.5 * dot(&s.u, &self.scratch));
            }
            out.add(Line::MassChange, change);
        }
        let mut h = std::mem::take(&mut self.h);
        for (i, info) in system.structure().forces.iter().enumerate() {
            h.fill(0.0);
            force(self, i, &mut h);
            let mean = step.dt * dot(applied.mean, &h);
            if info.potential {
                let moved = step.dt * dot(applied.moved, &h);
                out.add_potential(system, i, start, (step.end.t, applied.led_to), applied.q_star, mean, moved);
            } else {
                out.add_force(i, mean);
            }
        }
        self.h = h;
    }
}
