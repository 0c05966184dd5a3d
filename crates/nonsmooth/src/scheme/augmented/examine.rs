//! Certificate and ledger of an extrapolated step: those of its substeps, and what extrapolation adds.

use super::AugmentedStep;
use super::{Augmented, Tableau};
use crate::accounting::{Certificate, Ledger, Line, Meter, potential_energy};
use crate::contract::Evaluator;
use crate::state::{State, Step};

/// Every substep of a row with its start.
fn chain<'a>(start: &'a State, row: &'a [Step]) -> impl Iterator<Item = (&'a State, &'a Step)> {
    let starts = std::iter::once(start).chain(row.iter().map(|s| &*s.end));
    starts.zip(row)
}

impl Augmented {
    pub(super) fn examine(&mut self, system: &Evaluator, start: &State, step: &Step, out: &mut Certificate) {
        let e: &AugmentedStep = step.record.of();
        self.base_for(&step.candidates);
        let base = self.used;
        if e.counts.is_empty() {
            self.bases[base].certify(system, start, step, out);
            return;
        }
        out.clear();
        let power = if e.even { 2 } else { 1 };
        let nq = start.q.len();
        self.tableau.begin(power);
        for row in e.rows() {
            for (from, substep) in chain(start, row) {
                self.bases[base].certify(system, from, substep, &mut self.certificate);
                // Positions count where the step ends.
                self.certificate.penetration = 0.0;
                self.certificate.joint_violation = 0.0;
                out.worsen(&self.certificate);
            }
            if let Some(last) = row.last() {
                self.row.clear();
                self.row.extend(last.end.q.iter().chain(&last.end.u));
                self.tableau.push(row.len(), &self.row);
            }
        }
        let (best, _) = self.tableau.diagonal();
        let off = |found: &[f64], expected: &[f64]| {
            let size = expected.iter().fold(1.0f64, |m, x| m.max(x.abs()));
            found.iter().zip(expected).fold(0.0f64, |m, (a, b)| if (a - b).abs() <= m { m } else { (a - b).abs() })
                / size
        };
        for defect in [off(&step.end.q, &best[..nq]), off(&step.end.u, &best[nq..])] {
            if !(defect <= out.kinematics) {
                out.kinematics = defect;
            }
        }
        out.geometry(system, step.end.t, &step.end.q, &step.candidates);
    }

    pub(super) fn work_done(
        &mut self,
        system: &Evaluator,
        start: &State,
        step: &Step,
        meter: &mut Meter,
        out: &mut Ledger,
    ) {
        let e: &AugmentedStep = step.record.of();
        self.base_for(&step.candidates);
        let base = self.used;
        if e.counts.is_empty() {
            self.bases[base].account(system, start, step, meter, out);
            return;
        }
        let weights = Tableau::weights(&e.counts, if e.even { 2 } else { 1 });
        let mut energy = |s: &State| meter.kinetic(system, s.t, &s.q, &s.u) + potential_energy(system, s.t, &s.q);
        // What extrapolation itself does; weights sum to one.
        let mut defect = energy(&step.end);
        for (row, w) in e.rows().zip(&weights) {
            if let Some(last) = row.last() {
                defect -= w * energy(&last.end);
            }
        }
        out.add(Line::Extrapolation, defect);
        let ledger = self.ledger.get_or_insert_with(|| Ledger::new(system));
        for (row, w) in e.rows().zip(&weights) {
            ledger.reset();
            for (from, substep) in chain(start, row) {
                self.bases[base].account(system, from, substep, meter, ledger);
            }
            out.add_scaled(*w, ledger);
        }
    }
}
