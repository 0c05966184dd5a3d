//! The smooth part of a step: M̃ and k̃, the rows at the midpoint, the trial that the LCP leads to, and the path along it.

use super::jacobians::{ForceInput, Jacobians};
use super::options::JacobianRule;
use crate::contract::Evaluator;
use crate::scheme::velocity_level::VelocityLevel;
use crate::state::{State, rates, rates_into};
use complementarity::linear::Matrix;
use complementarity::linear::dense::{dot, max_norm};

/// Rounding of a force in a linearisation, some times.
const ROUNDING: f64 = 64.0 * f64::EPSILON;

/// M̃, k̃ and the midpoint for a step from a state, and where it leads.
#[derive(Default)]
pub(super) struct Predict {
    /// Length that everything was made for.
    pub(super) h: f64,
    /// q + (h/2) q̇.
    pub(super) q_mid: Vec<f64>,
    /// q̇ at the start.
    pub(super) rate: Vec<f64>,
    /// The trial: velocity and position at the end, percussions by component of the candidates.
    pub(super) v: Vec<f64>,
    pub(super) q: Vec<f64>,
    pub(super) p: Vec<f64>,
    pub(super) jacobians: Jacobians,
    /// Length for which M̃ is assembled, if it depends on nothing else.
    assembled_for: Option<f64>,
    /// Whether that M̃ has not been looked at.
    fresh: bool,
    /// Whether forces drive the motion: M̃ is smaller than M̄ in some direction.
    pub(super) driven: bool,
    scratch: KinematicsScratch,
    /// A point of the path.
    q_on_path: Vec<f64>,
    v_on_path: Vec<f64>,
    /// Forces, whose rounding is no error.
    size: Vec<f64>,
    /// KinematicsScratch for a change of velocity.
    change: Vec<f64>,
}

/// KinematicsScratch for the kinematics.
#[derive(Default)]
pub(super) struct KinematicsScratch {
    mean: Vec<f64>,
    mid: Vec<f64>,
    qdot: Vec<f64>,
    /// Local coordinates of the start, where there are charts.
    origin: Vec<f64>,
}

impl Predict {
    /// Forgets everything: another system.
    pub(super) fn reset(&mut self, system: &Evaluator, rule: JacobianRule) {
        self.jacobians.reset(&system.structure().pattern, rule);
        self.assembled_for = None;
    }

    /// M̄, M̃, k̃ and f = M̃ v + h k̃ for a step of length `h`, with v̇ at the start if it is known.
    pub(super) fn assemble(
        &mut self,
        system: &Evaluator,
        rule: JacobianRule,
        start: &State,
        h: f64,
        acceleration: &[f64],
        work: &mut VelocityLevel,
    ) {
        let s = system.structure();
        let (t, q, u) = (start.t, &start.q, &start.u);
        self.h = h;
        self.rate.resize(q.len(), 0.0);
        rates_into(system, t, q, u, &mut self.rate);
        self.q_mid.clear();
        self.q_mid
            .extend(system.origin(q, &mut self.scratch.origin).iter().zip(&self.rate).map(|(q, r)| q + 0.5 * h * r));
        system.retract(q, &mut self.q_mid);
        work.assemble_mass(system, t + 0.5 * h, &self.q_mid);
        // k̃ = ½ (k(t) + k(t+h) + h k_q q̇).
        work.assemble_forces(system, t, q, u);
        system.forces(t + h, q, u, &mut work.h);
        let input = ForceInput { t, h, q, u, q_mid: &self.q_mid, rate: &self.rate, acceleration };
        self.jacobians.make(system, rule, input, &work.mass);
        work.size_vectors();
        let (Some(by_q), Some(by_v)) = (&self.jacobians.by_q, &self.jacobians.by_v) else { return };
        by_q.multiply(u, &mut work.scratch);
        for (k, d) in work.h.iter_mut().zip(&work.scratch) {
            *k = 0.5 * (*k + h * d);
        }
        if self.jacobians.replaced {
            work.h.iter_mut().zip(&self.jacobians.beyond).for_each(|(k, b)| *k += b);
        }
        if !s.identity_kinematics() {
            drift(system, (t + h, q, u), 0.5 * h, &mut self.scratch, &mut work.h);
        }
        let keep = s.constant_mass && self.jacobians.made;
        if !(keep && self.assembled_for == Some(h)) {
            self.assembled_for = keep.then_some(h);
            self.fresh = true;
            let m = &mut work.full.matrix;
            m.clear();
            m.add_scaled(1.0, &work.mass);
            m.add_scaled(-0.5 * h, by_v);
            m.add_scaled(-0.25 * h * h, by_q);
        }
        work.full.matrix.multiply(u, &mut work.full.f);
        for (f, k) in work.full.f.iter_mut().zip(&work.h) {
            *f += h * k;
        }
    }

    /// Whether M̃ is another one since this was asked last.
    pub(super) fn unchecked(&mut self) -> bool {
        std::mem::replace(&mut self.fresh, false)
    }

    /// What the linearisation of the forces left out of the velocity at the end of the trial, relative to the velocities of the step, and where it is largest:
    /// in the middle of the path or at its end. At the end alone a force that has turned round on the way may be right by chance.
    pub(super) fn left_out(&mut self, system: &Evaluator, start: &State, work: &mut VelocityLevel) -> (f64, usize) {
        work.size_vectors();
        if work.full.matrix.factor().is_err() {
            return (f64::INFINITY, 0);
        }
        let (mut q, mut v) = (std::mem::take(&mut self.q_on_path), std::mem::take(&mut self.v_on_path));
        let mut worst = (0.0, 0);
        for part in [0.5, 1.0] {
            self.path(system, start, part * self.h, &mut q, &mut v);
            let found = self.left_out_at(system, start, part, (&q, &v), work);
            if !(found.0 <= worst.0) {
                worst = found;
            }
        }
        (self.q_on_path, self.v_on_path) = (q, v);
        worst
    }

    /// The same after a part of the path, at (q, v), as if that force acted at the end.
    fn left_out_at(
        &mut self,
        system: &Evaluator,
        start: &State,
        part: f64,
        (q, v): (&[f64], &[f64]),
        work: &mut VelocityLevel,
    ) -> (f64, usize) {
        let (Some(by_q), Some(by_v)) = (&self.jacobians.by_q, &self.jacobians.by_v) else { return (0.0, 0) };
        let (h, change) = (self.h, &mut self.change);
        let t = start.t + part * h;
        let size = |mass: &Matrix, x: &[f64], y: &mut [f64]| {
            mass.multiply(x, y);
            dot(x, y).max(0.0).sqrt()
        };
        work.h.fill(0.0);
        system.forces(t, &start.q, &start.u, &mut work.h);
        self.size.clone_from(&work.h);
        change.clear();
        change.extend(start.u.iter().zip(v).map(|(a, b)| 0.5 * part * h * (a + b)));
        by_q.multiply(change, &mut work.scratch);
        work.h.iter_mut().zip(&work.scratch).for_each(|(k, d)| *k += d);
        change.iter_mut().zip(&start.u).zip(v).for_each(|((c, a), b)| *c = b - a);
        by_v.multiply(change, &mut work.scratch);
        work.h.iter_mut().zip(&work.scratch).for_each(|(k, d)| *k = -*k - d);
        system.forces(t, q, v, &mut work.h);
        // Rounding of large forces that contacts balance is nothing beside them, but may be beside a motion that is none.
        let left = work.h.iter_mut().zip(&self.size);
        left.for_each(|(k, size)| *k = if k.abs() <= ROUNDING * size.abs() { 0.0 } else { 0.5 * h * *k });
        work.full.matrix.solve(&mut work.h);
        let off = size(&work.mass, &work.h, &mut work.scratch);
        let motion = size(&work.mass, &start.u, &mut work.scratch) + size(&work.mass, &self.v, &mut work.scratch);
        let worst = work.h.iter().enumerate().max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()));
        (if off == 0.0 { 0.0 } else { off / motion }, worst.map_or(0, |(i, _)| i))
    }

    /// The position that the trial velocity leads to.
    pub(super) fn set_position(&mut self, system: &Evaluator, start: &State) {
        let Self { h, rate, v, q, scratch, .. } = self;
        scratch.integrate_position(system, start, rate, *h, v, q);
    }

    /// The position that a velocity at the end of a step of length `h` leads to.
    pub(super) fn position_after(&mut self, system: &Evaluator, start: &State, h: f64, v: &[f64], q: &mut Vec<f64>) {
        self.scratch.integrate_position(system, start, &self.rate, h, v, q);
    }

    /// The path from the start along the trial: v̂(s) = v + (s/h)(v̄ − v) and where it leads.
    pub(super) fn path(&mut self, system: &Evaluator, start: &State, s: f64, q: &mut Vec<f64>, v: &mut Vec<f64>) {
        let part = s / self.h;
        v.clear();
        v.extend(start.u.iter().zip(&self.v).map(|(a, b)| a + part * (b - a)));
        self.scratch.integrate_position(system, start, &self.rate, s, v, q);
    }
}

impl KinematicsScratch {
    /// q + s q̇, with the mean of start and `v` as velocity at q + (s/2) q̇(start).
    fn integrate_position(
        &mut self,
        system: &Evaluator,
        start: &State,
        rate: &[f64],
        s: f64,
        v: &[f64],
        out: &mut Vec<f64>,
    ) {
        let pairs = start.u.iter().zip(v);
        out.clear();
        if system.structure().identity_kinematics() {
            out.extend(start.q.iter().zip(pairs).map(|(q, (a, b))| q + s * (0.5 * (a + b))));
            return;
        }
        self.mean.clear();
        self.mean.extend(pairs.map(|(a, b)| 0.5 * (a + b)));
        self.mid.clear();
        let origin = system.origin(&start.q, &mut self.origin);
        self.mid.extend(origin.iter().zip(rate).map(|(q, r)| q + 0.5 * s * r));
        system.retract(&start.q, &mut self.mid);
        let rate = rates(system, start.t + 0.5 * s, &self.mid, &self.mean, &mut self.qdot);
        out.extend(origin.iter().zip(rate).map(|(q, r)| q + s * r));
        system.retract(&start.q, out);
    }
}

/// Adds scale·k_q β, where q̇ = B u + β has a part that does not come from u, by central differences.
pub(super) fn drift(
    system: &Evaluator,
    (t, q, u): (f64, &[f64], &[f64]),
    scale: f64,
    scratch: &mut KinematicsScratch,
    out: &mut [f64],
) {
    let KinematicsScratch { mean: still, qdot: beta, mid: shifted, .. } = scratch;
    still.clear();
    still.resize(u.len(), 0.0);
    beta.resize(q.len(), 0.0);
    system.kinematics(t, q, still, beta);
    let size = max_norm(beta);
    if size == 0.0 {
        return;
    }
    let e = f64::EPSILON.cbrt() / size;
    for sign in [1.0, -1.0] {
        shifted.clear();
        shifted.extend(q.iter().zip(&*beta).map(|(q, b)| q + sign * e * b));
        still.fill(0.0);
        system.forces(t, shifted, u, still);
        out.iter_mut().zip(&*still).for_each(|(out, k)| *out += sign * scale * k / (2.0 * e));
    }
}
