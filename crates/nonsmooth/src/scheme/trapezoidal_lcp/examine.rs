//! Examination of a finished step: certificate and ledger, of its smooth part and of its jump.

use super::TrapezoidalLcp;
use super::TrapezoidalStep;
use super::jacobians::ForceInput;
use super::jump::Phase;
use super::options::JacobianRule;
use super::predict::{KinematicsScratch, drift};
use crate::accounting::{Certificate, Ledger, Line, Meter};
use crate::contract::Evaluator;
use crate::scheme::Examination;
use crate::scheme::velocity_level::{Applied, VelocityLevel, kinematics_residual};
use crate::state::{State, Step, rates};
use complementarity::linear::Matrix;
use complementarity::linear::dense::dot;

impl TrapezoidalLcp {
    /// Puts the smooth part of a finished step into `seen`, with its coefficients assembled. Returns the length that they are for.
    fn revisit(&mut self, system: &Evaluator, start: &State, step: &Step) -> f64 {
        self.prepare(system);
        let record: &TrapezoidalStep = step.record.of();
        let h = if record.full_dt > 0.0 { record.full_dt } else { step.dt };
        let mut seen = std::mem::take(&mut self.seen);
        seen.candidates.assign(&step.candidates);
        seen.begin(step.dt);
        let seen_record: &mut TrapezoidalStep = seen.record.make();
        seen_record.paradox = record.paradox;
        seen_record.acceleration.0.clone_from(&record.acceleration);
        let jump = record.jump();
        seen.active.clone_from(if jump { &*record.active } else { &step.active });
        let p = if jump { &*record.smooth } else { step.end.percussions.values() };
        seen.end.percussions.values_mut().copy_from_slice(p);
        seen.end.t = step.end.t;
        seen.end.q.clone_from(&step.end.q);
        seen.end.u.clone_from(if jump { &*record.u_minus } else { &step.end.u });
        let active = std::mem::take(&mut seen.active);
        self.assemble(system, start, h, &seen, &active);
        seen.active = active;
        self.seen = seen;
        if let Some(work) = self.work.as_mut() {
            work.take_percussions(&self.seen);
        }
        h
    }

    /// Certificate and ledger of a finished step.
    pub(super) fn evaluate_finished(&mut self, system: &Evaluator, start: &State, step: &Step, asked: Examination) {
        let h = self.revisit(system, start, step);
        let wanted = asked.certificate.is_some();
        if let Some(out) = asked.certificate {
            self.certify_finished(system, start, step, h, out);
        }
        if let Some((meter, out)) = asked.energy {
            if wanted && h != step.dt {
                // The laws of a part are those of the whole: they have changed what was put back.
                self.revisit(system, start, step);
            }
            self.work_done(system, start, step, h, meter, out);
        }
    }

    fn certify_finished(&mut self, system: &Evaluator, start: &State, step: &Step, h: f64, out: &mut Certificate) {
        let record: &TrapezoidalStep = step.record.of();
        out.clear();
        // The position of the part.
        let mid = system.displaced(&start.q, &self.predict.rate, 0.5 * step.dt);
        let mean = mean(&start.u, &self.seen.end.u);
        let mut room = Vec::new();
        let rate = rates(system, start.t + 0.5 * step.dt, &mid, &mean, &mut room);
        out.kinematics = kinematics_residual(system, start, &self.seen, rate, None);
        let Some(work) = self.work.as_mut() else { return };
        let seen = &mut self.seen;
        let (residual, scale) = work.linear_residual(&start.u, &seen.end.u, step.dt);
        out.dynamics = if residual == 0.0 { 0.0 } else { residual / scale.max(f64::MIN_POSITIVE) };
        out.dynamics_culprit = work.explain_dynamics(seen);
        // Laws of the whole step that it is a part of.
        if h != step.dt {
            let part = h / step.dt;
            work.r.iter_mut().for_each(|p| *p *= part);
            seen.end.percussions.values_mut().iter_mut().for_each(|p| *p *= part);
            // The velocity of the part lies on the way to that of the whole.
            for ((v, whole), u) in seen.end.u.iter_mut().zip(record.full_velocity.iter()).zip(&start.u) {
                let off = (*v - (u + (whole - u) / part)).abs() / (1.0 + u.abs() + whole.abs());
                if !(off <= out.kinematics) {
                    out.kinematics = off;
                }
                *v = *whole;
            }
        }
        work.certify_laws(seen, out);
        if record.jump() {
            self.jump.certify(system, &self.options.facets, step, out);
        }
        out.geometry(system, step.end.t, &step.end.q, &step.candidates);
    }

    fn work_done(
        &mut self,
        system: &Evaluator,
        start: &State,
        step: &Step,
        h: f64,
        meter: &mut Meter,
        out: &mut Ledger,
    ) {
        let (t, q, u, dt) = (start.t, &start.q, &start.u, step.dt);
        let mid = system.displaced(q, &self.predict.rate, 0.5 * dt);
        let seen = &self.seen;
        let mean = mean(u, &seen.end.u);
        let change: Vec<f64> = seen.end.u.iter().zip(u).map(|(v, u)| v - u).collect();
        let Some(work) = self.work.as_mut() else { return };
        // What a force did, with its part of M̃ − M: k̃_i + ((h/2) k_v + (h²/4) k_q B)(v⁻ − v)/dt.
        let pattern = &system.structure().pattern;
        let (mut by_q, mut by_v) = (Matrix::new(pattern), Matrix::new(pattern));
        let mut y = vec![0.0; u.len()];
        let (rule, predict) = (self.options.jacobian, &mut self.predict);
        let acceleration = &step.record.of::<TrapezoidalStep>().acceleration;
        let input = ForceInput { t, h, q, u, q_mid: &predict.q_mid, rate: &predict.rate, acceleration };
        let (jacobians, mass) = (&mut predict.jacobians, Matrix::clone(&work.mass));
        let mut force = |_: &mut VelocityLevel, i: usize, k: &mut [f64]| {
            system.force(i, t, q, u, k);
            system.force(i, t + h, q, u, k);
            k.iter_mut().for_each(|k| *k *= 0.5);
            by_q.clear();
            by_v.clear();
            jacobians.add_of(system, rule, i, input, &mass, (&mut by_q, &mut by_v), k);
            add_product(&by_q, u, 0.5 * h, &mut y, k);
            add_product(&by_q, &change, 0.25 * h * h / dt, &mut y, k);
            add_product(&by_v, &change, 0.5 * h / dt, &mut y, k);
        };
        let applied = Applied { mean: &mean, moved: &mean, q_star: &mid, led_to: &seen.end.q };
        work.account(system, start, seen, &applied, &mut force, meter, out);
        // What the forces of the step had beyond that of each: the drift of the coordinates, and another Jacobian.
        let mut rest = vec![0.0; u.len()];
        if !system.structure().identity_kinematics() {
            drift(system, (t + h, q, u), 0.5 * h, &mut KinematicsScratch::default(), &mut rest);
        }
        let jacobians = &self.predict.jacobians;
        let mut y = vec![0.0; u.len()];
        if rule == JacobianRule::Spd
            && let (Some(by_q), Some(by_v)) = (&jacobians.by_q, &jacobians.by_v)
        {
            let (exact_q, exact_v) = exact(system, t + h, q, u);
            for (sign, by_q, by_v) in [(1.0, by_q, by_v), (-1.0, &exact_q, &exact_v)] {
                add_product(by_q, u, sign * 0.5 * h, &mut y, &mut rest);
                add_product(by_q, &change, sign * 0.25 * h * h / dt, &mut y, &mut rest);
                add_product(by_v, &change, sign * 0.5 * h / dt, &mut y, &mut rest);
            }
        }
        let extra = dt * dot(&mean, &rest);
        if extra != 0.0 {
            out.add(Line::Jacobian, extra);
        }
        let record: &TrapezoidalStep = step.record.of();
        if record.jump() {
            self.jump.take(step);
            let at = (step.end.t, &step.end.q[..], &record.u_minus[..]);
            self.jump.assemble(system, &self.options.facets, at, step, Phase::Compression);
            let middle: Vec<f64> = record.u_minus.iter().zip(&step.end.u).map(|(a, b)| 0.5 * (a + b)).collect();
            if let Some(work) = self.jump.work.as_mut() {
                work.gather(&step.candidates, &self.jump.p);
                work.account_percussions(step, &middle, out);
            }
        }
    }
}

fn mean(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| 0.5 * (a + b)).collect()
}

/// out += scale · m x.
fn add_product(m: &Matrix, x: &[f64], scale: f64, y: &mut [f64], out: &mut [f64]) {
    m.multiply(x, y);
    out.iter_mut().zip(y).for_each(|(out, y)| *out += scale * *y);
}

/// k_q B and k_v of all forces.
fn exact(system: &Evaluator, t: f64, q: &[f64], u: &[f64]) -> (Matrix, Matrix) {
    let s = system.structure();
    let (mut by_q, mut by_v) = (Matrix::new(&s.pattern), Matrix::new(&s.pattern));
    for i in 0..s.forces.len() {
        system.force_jacobian(i, t, q, u, 1.0, 0.0, &mut by_q);
        system.force_jacobian(i, t, q, u, 0.0, 1.0, &mut by_v);
    }
    (by_q, by_v)
}
