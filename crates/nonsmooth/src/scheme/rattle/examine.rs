//! Examination of a finished step: certificate and ledger.
//!
//! Both stages with everything evaluated anew from q_n, u_n, v, P¹, q_{n+1}, u_{n+1}, P. The kinetic energy changes by
//!
//! ```text
//! T_{n+1} − T_n = w₁·((dt/2) h_n + W_n P¹) + w₂·((dt/2) h_{n+1} + W_{n+1} P²) + ½ v·(M_{n+1} − M_n) v,
//! w₁ = (u_n + v)/2,    w₂ = (v + u_{n+1})/2 ,
//! ```
//!
//! where every force works over the mean velocity of its half. For percussions the lines of the ledger have the work over the mean relative
//! velocity of the step, ½(W_nᵀu_n + W_{n+1}ᵀu_{n+1})·P, of which the laws (32), (34) and the joints speak: ideal joints do none, an impact
//! with γ_N⁻ ≤ 0 does −½(1−e)|γ_N⁻|P_N (of a contact that is hit γ⁻ is that of its arrival). What the halves do beyond that is the line `numerical.stages`, O(dt²) and without sign as the energy of
//! every RATTLE scheme.

use super::RattleMemory;
use super::misfit::worsen;
use super::second::slips_on;
use super::{FrictionDirection, Rattle, StepInput};
use crate::accounting::{Certificate, Ledger, Line, Meter};
use crate::contract::{Candidates, Evaluator, Kind};
use crate::scheme::Examination;
use crate::scheme::velocity_level::line_of;
use crate::state::{State, Step};
use complementarity::linear::dense::{dot, max_norm};
use complementarity::sets::MAX_DIM;

#[derive(Default)]
pub(super) struct Scratch {
    w: [Vec<f64>; 2],
    h: Vec<f64>,
    middle: Vec<f64>,
}

impl Rattle {
    /// Puts a finished step back into both stages. False if something is not finite.
    fn revisit(&mut self, system: &Evaluator, start: &State, step: &Step) -> bool {
        let components = step.candidates.components();
        let memory: &RattleMemory = step.end.memory.of();
        if memory.middle.len() != start.u.len() || memory.first.len() != components {
            return false;
        }
        self.first.prepare(system);
        self.second.prepare(system);
        let input = StepInput { system, start, dt: step.dt, list: &step.candidates };
        self.first.revisit(&input, &step.end.q, &memory.middle, &memory.first);
        self.second.assemble(&input, &mut self.first, &step.active);
        self.second.u.clone_from(&step.end.u);
        if let Some(work) = self.second.work.as_mut() {
            work.take_percussions(step);
        }
        self.first.evaluate(&input).is_ok()
    }

    /// Certificate and ledger of a finished step.
    pub(super) fn evaluate_finished(&mut self, system: &Evaluator, start: &State, step: &Step, asked: Examination) {
        let evaluated = self.revisit(system, start, step);
        if let (true, Some((meter, out))) = (evaluated, asked.energy) {
            self.examine_work(system, start, step, meter, out);
        }
        match asked.certificate {
            Some(out) if evaluated => self.examine_laws(system, start, step, out),
            Some(out) => *out = Certificate { dynamics: f64::INFINITY, ..Certificate::default() },
            None => {}
        }
    }

    fn examine_laws(&mut self, system: &Evaluator, start: &State, step: &Step, out: &mut Certificate) {
        out.clear();
        let input = StepInput { system, start, dt: step.dt, list: &step.candidates };
        let m = self.first.natural_misfit(&input);
        out.kinematics = m.kinematics / (1.0 + m.q);
        out.dynamics = if m.dynamics == 0.0 { 0.0 } else { m.dynamics / m.momentum };
        if let Some(work) = self.first.work.as_ref() {
            out.dynamics_culprit = work.explain_dynamics(step);
        }
        let second = self.second.misfit_of(&input, &step.end.memory.of::<RattleMemory>().middle);
        let dynamics = if second.dynamics == 0.0 { 0.0 } else { second.dynamics / second.momentum };
        if !(dynamics <= out.dynamics) {
            out.dynamics = dynamics;
            out.dynamics_culprit = self.second.work.as_ref().and_then(|w| w.explain_dynamics(step));
        }
        if self.options.friction_direction == FrictionDirection::Mean {
            self.align_again(&step.candidates);
        }
        if let Some(work) = self.second.work.as_mut() {
            work.certify_laws(step, out);
        }
        self.certify_first(step, out);
        out.geometry(system, step.end.t, &step.end.q, &step.candidates);
    }

    /// Friction that slips on and follows the mean slip better than that of the end was aligned with it.
    fn align_again(&mut self, list: &Candidates) {
        let u = &self.second.u;
        let Some(work) = self.second.work.as_mut() else { return };
        work.velocities_after(u);
        for part in 0..work.parts().count() {
            let Some((i, blocks, row)) = work.parts().nth(part) else { return };
            let before = work.before(list, i);
            let mut mean = false;
            for b in blocks {
                let rows = work.rows(b);
                let (set, first) = (&work.full.blocks()[b].set, rows.start - row);
                let (r, after) = (&work.r[rows.clone()], &work.after()[rows.clone()]);
                let before = &before[first..first + after.len()];
                if !slips_on(set, r, before, after) {
                    continue;
                }
                let tangential = usize::from(set.is_friction());
                let defect = |e: f64| {
                    let (mut xi, mut f) = ([0.0; MAX_DIM], [0.0; MAX_DIM]);
                    for k in 0..after.len() {
                        let c = work.full.c[rows.start + k] - work.chi(rows.start + k);
                        xi[k] = after[k] + if k < tangential { c } else { e * before[k] };
                    }
                    set.natural_map(r, &xi[..after.len()], &mut f);
                    max_norm(&f[..after.len()])
                };
                let own = list.items()[i].law.restitution(tangential);
                mean |= defect(1.0) < defect(own);
            }
            if mean {
                work.set_slip_restitution(list, part, Some(1.0));
            }
        }
    }

    /// Laws of the first stage: gaps and joints are lengths, relative to 1 + max|q|; a force across a gap counts as the smaller of both.
    fn certify_first(&mut self, step: &Step, out: &mut Certificate) {
        let Some(work) = self.first.work.as_ref() else { return };
        let unit = |size: f64| if size == 0.0 { 1.0 } else { size };
        let (force, speed) = (unit(max_norm(&work.r)), unit(max_norm(&work.r).max(max_norm(&self.first.v))));
        let length = 1.0 + max_norm(&step.end.q);
        for (i, blocks, _) in work.parts() {
            let contact = step.candidates.items()[i].kind == Kind::Contact;
            for b in blocks {
                let rows = work.rows(b);
                let (set, r) = (&work.full.blocks()[b].set, &work.r[rows.clone()]);
                let (mut xi, mut f) = ([0.0; MAX_DIM], [0.0; MAX_DIM]);
                let mut defect = 0.0;
                for (k, row) in rows.clone().enumerate() {
                    xi[k] = self.first.xi[row];
                    if self.first.positional[row] {
                        let g = step.dt * xi[k] / length;
                        worsen(&mut defect, if contact && g > 0.0 { g.min(r[k].max(0.0) / force) } else { g });
                        if !contact || r[k] > 0.0 {
                            // What is left of the law sees it as closed.
                            xi[k] = 0.0;
                        }
                    }
                }
                set.natural_map(r, &xi[..r.len()], &mut f);
                for (row, f) in rows.clone().zip(f) {
                    if !self.first.positional[row] {
                        worsen(&mut defect, f / speed);
                    }
                }
                if !(defect <= out.law) {
                    (out.law, out.law_culprit) = (defect, Some(i));
                }
                if contact {
                    let cone = set.distance(r);
                    if !(cone <= out.cone) {
                        out.cone = cone;
                    }
                }
            }
        }
    }

    fn examine_work(&mut self, system: &Evaluator, start: &State, step: &Step, meter: &mut Meter, out: &mut Ledger) {
        let (v, dt) = (&step.end.memory.of::<RattleMemory>().middle, step.dt);
        let scratch = &mut self.ledger;
        for (w, u) in scratch.w.iter_mut().zip([&start.u, &step.end.u]) {
            w.clear();
            w.extend(v.iter().zip(u).map(|(v, u)| 0.5 * (v + u)));
        }
        let Some(second) = self.second.work.as_ref() else { return };
        let (list, [w1, w2]) = (&step.candidates, &scratch.w);
        // What takes no part in the second stage has no P¹ either.
        for (i, _, first) in second.parts() {
            let k = &list.items()[i];
            let (now, _) = self.first.now.evaluate(system, list, i, start.t, &start.q);
            let (ahead, _) = self.first.ahead.evaluate(system, list, i, start.t + dt, &step.end.q);
            let n = k.dofs.len();
            for j in 0..k.dim() {
                let (now, ahead) = (&now[j * n..(j + 1) * n], &ahead[j * n..(j + 1) * n]);
                let (p1, p) = (self.second.p1[first + j], second.r[first + j]);
                let hit = self.second.hits.contains(&i);
                let before =
                    if hit { second.before(list, i)[j] - second.chi(first + j) } else { k.row_times(now, &start.u) };
                let mean = 0.5 * p * (before + k.row_times(ahead, &step.end.u));
                // Of a contact that is hit the second half changes the direction of P¹ too.
                let turned = if hit { p1 * (k.row_times(ahead, w2) - k.row_times(now, w2)) } else { 0.0 };
                let work = p1 * k.row_times(now, w1) + (p - p1) * k.row_times(ahead, w2) + turned;
                out.add(line_of(k.kind, j), mean);
                out.add(Line::Stages, work - mean);
            }
        }
        if !system.structure().constant_mass {
            let kinetic = |meter: &mut Meter, t: f64, q: &[f64]| meter.kinetic(system, t, q, v);
            let change = kinetic(meter, step.end.t, &step.end.q) - kinetic(meter, start.t, &start.q);
            out.add(Line::MassChange, change);
        }
        if system.has_charts() {
            system.between(&start.q, &step.end.q, 0.5, &mut scratch.middle);
        } else {
            scratch.middle.clear();
            scratch.middle.extend(start.q.iter().zip(&step.end.q).map(|(a, b)| 0.5 * (a + b)));
        }
        for (i, info) in system.structure().forces.iter().enumerate() {
            let (mut mean, mut moved) = (0.0, 0.0);
            for (s, w) in [start, &step.end].into_iter().zip(&scratch.w) {
                scratch.h.clear();
                scratch.h.resize(v.len(), 0.0);
                system.force(i, s.t, &s.q, v, &mut scratch.h);
                mean += 0.5 * dt * dot(w, &scratch.h);
                moved += 0.5 * dt * dot(v, &scratch.h);
            }
            if info.potential {
                out.add_potential(system, i, start, (step.end.t, &step.end.q), &scratch.middle, mean, moved);
            } else {
                out.add_force(i, mean);
            }
        }
    }
}
