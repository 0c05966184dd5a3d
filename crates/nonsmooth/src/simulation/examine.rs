//! What happens to a step once it is final: certificate, ledger, events, sums, observers.

use super::events::{Event, EventKind, switches};
use super::options::Observe;
use super::run::{Frame, Simulation};
use crate::accounting::{Certificate, Ledger, Line, potential_energy};
use crate::contract::System;
use crate::state::{State, Step};

/// A final step, as observers see it.
pub struct StepView<'a> {
    /// The system.
    pub system: &'a dyn System,
    /// State before.
    pub start: &'a State,
    /// The step, its end corrected.
    pub step: &'a Step,
    /// Its certificate, if computed.
    pub certificate: Option<&'a Certificate>,
    /// (q, u) as the scheme left them, if they were corrected.
    pub raw: Option<(&'a [f64], &'a [f64])>,
    /// Kinetic plus potential energy at the end, if computed, J.
    pub energy: Option<f64>,
    /// The ledger since the start, if kept.
    pub ledger: Option<&'a Ledger>,
    /// States inside it, at the times that [`Observer::wanted`] gave, in that order; only of steps that are extrapolated, and not where a side step failed.
    pub within: &'a [State],
    /// Whether it is the last of the run.
    pub last: bool,
}

/// Sees every final step of a run.
pub trait Observer {
    /// Before the first step.
    fn begin(&mut self, _system: &dyn System, _start: &State) {}
    /// Before a final step from `start` to `end` is shown: appends times inside it at which its state is wanted. It is asked of steps that are
    /// extrapolated, whose inside is known by side steps alone.
    fn wanted(&mut self, _start: f64, _end: f64, _times: &mut Vec<f64>) {}
    /// After every final step.
    fn step(&mut self, view: &StepView);
}

impl Observer for () {
    fn step(&mut self, _view: &StepView) {}
}

impl Simulation<'_> {
    /// Certificate, ledger, events, sums, observers of a final step.
    pub(super) fn finalise(&mut self, frame: &mut Frame, last: bool, observer: &mut dyn Observer) {
        let observe = self.options.observe;
        let system = self.system;
        if observe == Observe::NONE {
            let raw = frame.corrected.then_some((&frame.raw_q[..], &frame.raw_u[..]));
            let inside = self.look_inside(frame, observer);
            let (start, step, within) = (&frame.start, &frame.step, self.side.states(inside));
            let (certificate, energy, ledger) = (None, None, None);
            observer.step(&StepView { system, start, step, certificate, raw, energy, ledger, within, last });
            return;
        }
        // Certificate and ledger look at what the scheme made, before corrections.
        if frame.corrected {
            std::mem::swap(&mut frame.step.end.q, &mut frame.raw_q);
            std::mem::swap(&mut frame.step.end.u, &mut frame.raw_u);
        }
        let mut raw_energy = 0.0;
        if observe.certificate {
            self.scheme.certify(system, &frame.start, &frame.step, &mut self.certificate);
        }
        if observe.energy {
            self.scheme.account(system, &frame.start, &frame.step, &mut self.meter, &mut self.ledger);
            if frame.corrected {
                raw_energy = self.energy_of(&frame.step.end).0;
            }
        }
        if frame.corrected {
            std::mem::swap(&mut frame.step.end.q, &mut frame.raw_q);
            std::mem::swap(&mut frame.step.end.u, &mut frame.raw_u);
        }
        let mut energy = None;
        if observe.energy {
            let (total, kinetic) = self.energy_of(&frame.step.end);
            if frame.corrected {
                self.ledger.add(Line::Projection, total - raw_energy);
            }
            energy = Some(total);
            if total.is_finite() {
                self.summary.energy.update(kinetic, total - kinetic, &self.ledger);
                let gain = self.watch.look(kinetic, total - kinetic, &self.ledger);
                if let (Some(gain), None) = (gain, &self.summary.stop) {
                    self.unstable(&frame.step.end, gain);
                }
            } else if self.summary.stop.is_none() {
                self.undefined_energy(&frame.step.end);
            }
        }
        if observe.certificate {
            // Violations are those of the corrected end.
            if frame.corrected {
                self.certificate.joint_violation = 0.0;
                self.certificate.penetration = 0.0;
                let end = &frame.step.end;
                self.certificate.geometry(system, end.t, &end.q, &frame.step.candidates);
            }
            let (t, c) = (frame.step.end.t, &self.certificate);
            if !(c.residual() <= self.summary.worst.residual()) {
                self.summary.worst_at.0 = t;
            }
            if !(c.penetration <= self.summary.worst.penetration) {
                self.summary.worst_at.1 = t;
            }
            self.summary.worst.worsen(c);
        }
        if observe.events {
            self.look_for_events(frame);
        }
        if observe.percussions {
            self.sums.add(&frame.step);
        }
        let inside = self.look_inside(frame, observer);
        observer.step(&StepView {
            system,
            start: &frame.start,
            step: &frame.step,
            certificate: observe.certificate.then_some(&self.certificate),
            raw: frame.corrected.then_some((&frame.raw_q, &frame.raw_u)),
            energy,
            ledger: observe.energy.then_some(&self.ledger),
            within: self.side.states(inside),
            last,
        });
    }

    fn energy_of(&mut self, s: &State) -> (f64, f64) {
        let kinetic = self.meter.kinetic(self.system, s.t, &s.q, &s.u);
        (kinetic + potential_energy(self.system, s.t, &s.q), kinetic)
    }

    fn look_for_events(&mut self, frame: &Frame) {
        let system = self.system;
        let (start, step) = (&frame.start, &frame.step);
        let (events, unlisted, max_events) =
            (&mut self.summary.events, &mut self.summary.events_unlisted, self.options.max_events);
        while self.breaks.first().is_some_and(|b| *b <= step.end.t + 1e-9 * step.dt) {
            let t = self.breaks.remove(0);
            if t > start.t {
                events.push(Event { t, kind: EventKind::Break, id: None, contact: None, change: None });
            }
        }
        let (w, chi) = (&self.rows, &self.offsets);
        let free = |i: usize| -> (f64, f64) {
            let (k, v) = (&step.candidates.items()[i], &frame.free);
            if v.len() != start.u.len() {
                return (0.0, 0.0);
            }
            let (w, chi) = (&mut *w.borrow_mut(), &mut *chi.borrow_mut());
            w.resize(k.dim() * k.dofs.len(), 0.0);
            chi.resize(k.dim(), 0.0);
            system.velocity(k, start.t, &start.q, w, chi);
            let change = |row: &[f64]| {
                k.dofs.iter().zip(row).map(|(&j, w)| w * (v[j as usize] - start.u[j as usize])).sum::<f64>()
            };
            let rows = w.chunks_exact(k.dofs.len().max(1));
            (change(w), rows.fold(0.0, |m, row| change(row).abs().max(m)))
        };
        let gap = |i: usize, at_end: bool| -> f64 {
            let mut g = [0.0];
            let s = if at_end { &step.end } else { start };
            system.position(&step.candidates.items()[i], s.t, &s.q, &mut g);
            g[0]
        };
        let mut emit = |event: Event| {
            if events.len() < max_events {
                events.push(event);
            } else {
                *unlisted += 1;
            }
        };
        self.log.look(start.t, step, free, gap, |t, kind, id| emit(Event { t, kind, id, contact: None, change: None }));
        switches(start, step, |id, change| {
            let (t, kind) = (step.end.t, EventKind::Switch);
            emit(Event { t, kind, id: Some(id), contact: None, change: Some(change) });
        });
    }
}
