//! Examination of a final step: what was hit, certificate, ledger, events and sums. Observers see it afterwards.

use super::events::{Event, EventKind, EventList, switches};
use super::observer::{Observer, StepView};
use super::run::{Frame, Run};
use crate::accounting::{Line, potential_energy};
use crate::contract::Evaluator;
use crate::scheme::Examination;
use crate::state::State;
use complementarity::linear::dense::max_norm;

/// Gaps and velocities up to so many terms are their rounding.
const ROUNDING: f64 = 16.0 * f64::EPSILON;

impl Run {
    /// Examines a final step: certificate and work from the end that the scheme computed, energy and violations from the corrected end, then
    /// events and sums. Observers see it afterwards.
    pub(super) fn finalise(&mut self, system: &Evaluator, frame: &mut Frame, last: bool, observer: &mut dyn Observer) {
        let observe = self.options.observe;
        let mut room = None;
        let (evaluator, system) = (system, system.inside(frame.start.t, frame.end().t, &mut room));
        if observe.events || observer.wants_hits() {
            self.judge.judge(system, &frame.start, &mut frame.step);
        }
        let (start, step, end) = (&*frame.start, &frame.step, frame.end());
        if observe.energy && system.begins_at_break() && start.t > self.span[0] {
            // A jump of the energy at a break is drive: the step before ended with the left limit.
            let before = evaluator.of_step(start.t - step.dt, start.t);
            let jump = self.energy_of(system, start).0 - self.energy_of(&before, start).0;
            self.ledger.add(Line::Drive, jump);
        }
        if observe.certificate || observe.energy {
            let asked = Examination {
                certificate: observe.certificate.then_some(&mut self.certificate),
                energy: observe.energy.then_some((&mut self.meter, &mut self.ledger)),
            };
            self.scheme.examine(system, start, step, asked);
        }
        if observe.certificate {
            if frame.is_corrected {
                self.certificate.joint_violation = 0.0;
                self.certificate.penetration = 0.0;
                self.certificate.geometry(system, end.t, &end.q, &step.candidates);
            }
            self.keep_worst(end.t);
        }
        self.check_mass(system, end);
        let mut energy = None;
        if observe.energy {
            energy = Some(self.balance(system, frame));
        }
        if observe.events {
            self.detect_events(system, frame);
        }
        if observe.percussions {
            self.sums.add(step);
        }
        let inside = self.evaluate_inside(system, frame, observer);
        observer.step(&StepView {
            system,
            start,
            step,
            end,
            certificate: observe.certificate.then_some(&self.certificate),
            energy,
            ledger: observe.energy.then_some(&self.ledger),
            within: self.side.states(inside),
            last,
        });
    }

    /// Keeps what is worse in the certificate of the step that ends at `t`.
    fn keep_worst(&mut self, t: f64) {
        let c = &self.certificate;
        if !(c.residual() <= self.summary.worst.residual()) {
            self.summary.worst_at.0 = t;
        }
        if !(c.penetration <= self.summary.worst.penetration) {
            self.summary.worst_at.1 = t;
        }
        self.summary.worst.worsen(c);
    }

    /// Energy at the end of a step, after what its correction changed has gone into the ledger. Ends the run if the energy is no number,
    /// or made by the numerics.
    fn balance(&mut self, system: &Evaluator, frame: &Frame) -> f64 {
        let end = frame.end();
        let before = if frame.is_corrected { self.energy_of(system, &frame.step.end).0 } else { 0.0 };
        let (total, kinetic) = self.energy_of(system, end);
        if frame.is_corrected {
            self.ledger.add(Line::Projection, total - before);
        }
        if total.is_finite() {
            self.summary.energy.update(kinetic, total - kinetic, &self.ledger);
            let meter = &mut self.meter;
            let kick = || meter.kick(system, (end.t, &end.q, &end.u), frame.step.dt);
            let gain = self.energy_monitor.check(kinetic, total - kinetic, &self.ledger, kick);
            if let (Some(gain), None) = (gain, &self.summary.stop) {
                self.unstable(end, gain);
            }
        } else if self.summary.stop.is_none() {
            self.undefined_energy(system, end);
        }
        total
    }

    fn energy_of(&mut self, system: &Evaluator, s: &State) -> (f64, f64) {
        let kinetic = self.meter.kinetic(system, s.t, &s.q, &s.u);
        (kinetic + potential_energy(system, s.t, &s.q), kinetic)
    }

    fn detect_events(&mut self, system: &Evaluator, frame: &Frame) {
        let (start, step, end) = (&*frame.start, &frame.step, frame.end());
        let (events, unlisted) = (&mut self.summary.events, &mut self.summary.events_unlisted);
        while self.breaks.first().is_some_and(|b| *b <= step.end.t + 1e-9 * step.dt) {
            let t = self.breaks.remove(0);
            if t > start.t {
                events.push(Event { t, kind: EventKind::Break, ..Event::default() });
            }
        }
        let mut list = EventList { events, most: self.options.max_events, unlisted };
        let (w, chi) = (&self.rows, &self.offsets);
        let load = |i: usize| -> f64 {
            let (k, v) = (&step.candidates.items()[i], &frame.free);
            if v.len() != start.u.len() {
                return 0.0;
            }
            let (w, chi) = (&mut *w.borrow_mut(), &mut *chi.borrow_mut());
            w.resize(k.dim() * k.dofs.len(), 0.0);
            chi.resize(k.dim(), 0.0);
            system.velocity(k, start.t, &start.q, w, chi);
            let change = |row: &[f64]| {
                k.dofs.iter().zip(row).map(|(&j, w)| w * (v[j as usize] - start.u[j as usize])).sum::<f64>()
            };
            let rows = w.chunks_exact(k.dofs.len().max(1));
            rows.fold(0.0, |m, row| change(row).abs().max(m))
        };
        let gap = |i: usize, at_end: bool| -> f64 {
            let mut g = [0.0];
            let s = if at_end { end } else { start };
            system.position(&step.candidates.items()[i], s.t, &s.q, &mut g);
            g[0]
        };
        let is_lifted = |i: usize, noise: f64| -> bool {
            let k = &step.candidates.items()[i];
            let (w, chi) = (&mut *w.borrow_mut(), &mut *chi.borrow_mut());
            w.resize(k.dim() * k.dofs.len(), 0.0);
            chi.resize(k.dim(), 0.0);
            system.velocity(k, end.t, &end.q, w, chi);
            let row = &w[..k.dofs.len()];
            let lever = row.iter().map(|w| w.abs()).sum::<f64>();
            let terms = k.dofs.iter().zip(row).map(|(&j, w)| (w * end.u[j as usize]).abs()).sum::<f64>() + chi[0].abs();
            let velocity = chi[0] + k.row_times(row, &end.u);
            velocity > 10.0 * noise + ROUNDING * terms || gap(i, true) > ROUNDING * lever * max_norm(&end.q)
        };
        self.log.detect(start.t, step, load, gap, is_lifted, &mut list);
        switches(start, step, |id, change| {
            let (t, kind) = (step.end.t, EventKind::Switch);
            list.push(Event { t, kind, id: Some(id), change: Some(change), ..Event::default() });
        });
    }
}
