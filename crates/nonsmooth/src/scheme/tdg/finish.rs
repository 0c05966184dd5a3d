//! What a step leaves: state, percussions, stages, modes.

use super::{Side, Tdg};
use super::{TdgMemory, TdgStep};
use crate::contract::{Evaluator, Kind};
use crate::law::{ElementSets, Law};
use crate::scheme::acceleration::still;
use crate::state::{Sigma, State, Step};
use complementarity::linear::dense::norm;
use complementarity::{Mode, capacity};

impl Tdg {
    /// Everything that the step is into `out`.
    pub(super) fn finish(&mut self, system: &Evaluator, start: &State, out: &mut Step) {
        let nobody = self.jump.is_empty();
        let Some(work) = self.jump.work.as_mut() else { return };
        let (dt, degree) = (out.dt, self.tableau.degree());
        let (list, v) = (&out.candidates, &self.values);
        out.end.t = start.t + dt;
        capacity::assign(&mut out.end.q, &v.q_end);
        out.end.u.clear();
        out.end.u.extend(v.smooth.iter().zip(&v.y).map(|(s, y)| s + dt * y));
        if !(nobody || self.tableau.side == Side::Plus && (degree == 0 || self.jump.collision && !self.jump.crowd)) {
            capacity::assign(&mut out.end.u, &work.v);
        }
        // Percussions: those of the jump, and forces times their weights.
        let values = out.end.percussions.values_mut();
        if nobody {
            values.fill(0.0);
        } else {
            work.scatter(list, values);
        }
        let smooth = &self.smooth;
        let record: &mut TdgStep = out.record.make();
        let stages = &mut record.stages;
        self.forces.iter().for_each(|forces| stages.lambda.extend_from_slice(forces.lambda()));
        stages.nodes.extend_from_slice(&self.tableau.c);
        stages.q.extend_from_slice(&v.q);
        stages.u.extend_from_slice(&v.v);
        record.acts.extend_from_slice(&self.acts);
        record.rests.extend_from_slice(&self.rests);
        record.restitution.extend_from_slice(&self.jump.restitution);
        record.crowd = self.jump.crowd;
        record.lands = self.projection.lands;
        record.eta.extend_from_slice(&self.projection.eta);
        record.stiff = v.stiff;
        let jumped = degree > 0 && self.jump.collision;
        // P̂ has S in it.
        for (i, p) in values.iter_mut().enumerate() {
            *p += smooth[i] - if nobody { 0.0 } else { self.jump.carried[i] };
        }
        if jumped {
            record.smooth.extend_from_slice(smooth);
            let left = if self.tableau.side == Side::Minus { &mut record.u_minus } else { &mut record.left };
            left.extend_from_slice(&v.left);
        }

        // Modes and velocities.
        let (t, end) = (out.end.t, &out.end);
        let still = still(&end.u);
        let mut contacts = 0;
        self.held.clear();
        capacity::resize(&mut self.held, list.len(), false);
        if degree == 0 {
            work.forget_velocities();
            work.velocities_after(&out.end.u);
            capacity::assign(&mut out.active, &self.jump.included);
            work.finish(out);
        } else {
            for (i, k) in list.items().iter().enumerate() {
                let (range, took_part) = (list.range(i), self.acts[i] || self.jump.included[i]);
                out.active[i] = took_part;
                let skip = usize::from(k.kind == Kind::Contact);
                if !took_part {
                    out.sigma[i] = Sigma::OPEN;
                    out.gamma_minus[range.clone()].fill(0.0);
                    out.gamma_plus[range].fill(0.0);
                    continue;
                }
                contacts += skip;
                let minus = &mut out.gamma_minus[range.clone()];
                if self.jump.included[i] && !self.acts[i] {
                    minus.copy_from_slice(work.before(list, i));
                } else {
                    minus.copy_from_slice(&self.gamma[range.clone()]);
                    // What is closed does not approach.
                    minus[..skip].fill(0.0);
                }
                work.velocity_before(system, t, &end.q, &end.u, list, i);
                let plus = &mut out.gamma_plus[range.clone()];
                plus.copy_from_slice(work.before(list, i));
                if skip == 1 && self.jump.restitution[i] == 0.0 {
                    self.held[i] = end.percussions.values()[range.start] > 0.0 || plus[0].abs() <= still;
                }
                let mode = |impressed: bool| if impressed { Mode::Impressed } else { Mode::Constraint };
                let mut sigma = Sigma(0);
                if skip == 1 {
                    sigma.set(0, mode(end.percussions.values()[range.start] <= 0.0));
                    if k.dim() > 1 {
                        sigma.set(1, mode(norm(&out.gamma_plus[range][1..]) > still));
                    }
                } else if k.kind == Kind::Element {
                    let moves = &out.gamma_plus[range];
                    match &*k.law {
                        Law::Element(law) if matches!(law.sets, ElementSets::Box { .. }) => {
                            let bits = moves.iter().take(32).enumerate();
                            bits.for_each(|(bit, g)| sigma.set(bit, mode(g.abs() > still)));
                        }
                        _ => sigma.set(0, mode(norm(moves) > still)),
                    }
                }
                out.sigma[i] = sigma;
            }
            out.report.contacts = contacts;
        }
        let memory: &mut TdgMemory = out.end.memory.make();
        capacity::assign(&mut memory.accelerations, &self.values.a);
        memory.length = dt;
        capacity::assign(&mut memory.held, &self.held);
    }
}
