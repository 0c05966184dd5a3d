//! Examination of a finished step: certificate and ledger.

use super::{ForceRule, ThetaStep, blend};
use crate::accounting::{Certificate, Ledger, Line, Meter, potential_energy};
use crate::contract::Evaluator;
use crate::scheme::Examination;
use crate::scheme::velocity_level::{Applied, Restitution, VelocityLevel};
use crate::state::{State, Step, rates_into};
use complementarity::linear::Matrix;
use complementarity::linear::dense::max_norm;

impl ThetaStep {
    /// Puts a finished step back into the buffers, with everything evaluated there.
    fn revisit(&mut self, system: &Evaluator, start: &State, step: &Step) -> bool {
        self.resize(system);
        if self.options.force == ForceRule::Trapezoid && self.begin_trapezoid(system, start).is_err() {
            return false;
        }
        self.buffers.q.clone_from(&step.end.q);
        self.buffers.v.clone_from(&step.end.u);
        if let Some(work) = self.work.as_mut() {
            work.restitution = Restitution::wanted(step);
            work.begin(&step.candidates);
            self.buffers.between.begin(&step.candidates, start);
            work.velocities_before(system, start.t, &start.q, &start.u, &step.candidates, &step.active);
        }
        self.blend_trial(system, start);
        self.evaluate(system, start, step);
        if let Some(work) = self.work.as_mut() {
            work.take_percussions(step);
        }
        true
    }

    /// Certificate and ledger of a finished step whose position a projection shifted.
    pub(in crate::scheme) fn examine(
        &mut self,
        system: &Evaluator,
        start: &State,
        step: &Step,
        shift: Option<&[f64]>,
        asked: Examination,
    ) {
        let evaluated = self.revisit(system, start, step);
        match asked.certificate {
            Some(out) if evaluated => self.certify(system, start, step, shift, out),
            Some(out) => *out = Certificate { dynamics: f64::INFINITY, ..Certificate::default() },
            None => {}
        }
        if let (true, Some((meter, out))) = (evaluated, asked.energy) {
            self.account(system, start, step, shift, meter, out);
        }
    }

    fn certify(
        &mut self,
        system: &Evaluator,
        start: &State,
        step: &Step,
        shift: Option<&[f64]>,
        out: &mut Certificate,
    ) {
        // Kinematics with q_θ from the stored end.
        let (theta, b) = (self.options.theta, &mut self.buffers);
        match self.options.force {
            ForceRule::Theta => rates_into(system, start.t + theta * step.dt, &b.q_theta, &b.u_theta, &mut b.qdot),
            ForceRule::Trapezoid => {
                rates_into(system, start.t + step.dt, &step.end.q, &step.end.u, &mut b.qdot);
                for i in 0..b.qdot.len() {
                    b.qdot[i] = (1.0 - theta) * b.qdot0[i] + theta * b.qdot[i];
                }
            }
        }
        // The shift and the scaling to unit length are part of the step.
        let origin = system.origin(&start.q, &mut b.origin);
        for i in 0..b.q.len() {
            b.q[i] = origin[i] + step.dt * b.qdot[i] + shift.map_or(0.0, |s| s[i]);
        }
        system.retract(&start.q, &mut b.q);
        if !system.structure().identity_kinematics() {
            system.normalise(&mut b.q);
        }
        let off =
            step.end.q.iter().zip(&b.q).fold(0.0f64, |m, (a, b)| if (a - b).abs() <= m { m } else { (a - b).abs() });
        let kinematics = off / (1.0 + max_norm(&step.end.q));
        if let Some(work) = self.work.as_mut() {
            work.certify(system, start, step, kinematics, out);
        }
    }

    fn account(
        &mut self,
        system: &Evaluator,
        start: &State,
        step: &Step,
        shift: Option<&[f64]>,
        meter: &mut Meter,
        out: &mut Ledger,
    ) {
        let Some(work) = self.work.as_mut() else { return };
        let (theta, rule, b) = (self.options.theta, self.options.force, &mut self.buffers);
        blend(0.5, &start.u, &step.end.u, &mut b.v);
        let t_theta = start.t + theta * step.dt;
        let shift = shift.filter(|s| s.iter().any(|&s| s != 0.0));
        if let Some(shift) = shift {
            system.about(&start.q, &step.end.q, |_, end| {
                for ((q, end), s) in b.q.iter_mut().zip(end).zip(shift) {
                    *q = end - s;
                }
            });
            system.retract(&start.q, &mut b.q);
            // What the projection does to the energy by itself.
            let mut energy =
                |q: &[f64]| meter.kinetic(system, step.end.t, q, &step.end.u) + potential_energy(system, step.end.t, q);
            out.add(Line::Projection, energy(&step.end.q) - energy(&b.q));
        }
        let led_to = if shift.is_some() { &b.q } else { &step.end.q };
        let applied = Applied { mean: &b.v, moved: &b.u_theta, q_star: &b.q_theta, led_to };
        let force = |work: &mut VelocityLevel, i: usize, h: &mut [f64]| match rule {
            ForceRule::Theta => system.force(i, t_theta, &b.q_theta, &b.u_theta, h),
            ForceRule::Trapezoid => {
                // θ h_i(k+1) + (1−θ) M_{k+1} M_k⁻¹ h_i(k).
                work.v.fill(0.0);
                system.force(i, start.t, &start.q, &start.u, &mut work.v);
                if let Some(m0) = &b.mass0 {
                    m0.solve(&mut work.v);
                }
                work.mass.multiply(&work.v, &mut work.scratch);
                system.force(i, step.end.t, &step.end.q, &step.end.u, h);
                for (h, lagged) in h.iter_mut().zip(&work.scratch) {
                    *h = theta * *h + (1.0 - theta) * lagged;
                }
            }
        };
        work.account(system, start, step, &applied, force, meter, out);
    }

    /// M̂ of the first Newton iteration of a step.
    pub(in crate::scheme) fn first_matrix(
        &mut self,
        system: &Evaluator,
        start: &State,
        step: &Step,
    ) -> Option<&Matrix> {
        self.resize(system);
        self.buffers.shifted = false;
        self.guess(system, start, step.dt, false);
        self.evaluate_dynamics(system, start, step);
        self.assemble_matrix(system, start, step.dt);
        self.work.as_ref().map(|work| &work.full.matrix)
    }
}
