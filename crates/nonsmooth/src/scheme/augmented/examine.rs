//! Certificate and ledger of an extrapolated step: those of its substeps, and what extrapolation adds.

use super::AugmentedStep;
use super::{Augmented, Tableau};
use crate::accounting::{Certificate, Ledger, Line, potential_energy};
use crate::contract::Evaluator;
use crate::scheme::Examination;
use crate::state::{State, Step};

/// Every substep of a row with its start.
fn chain<'a>(start: &'a State, row: &'a [Step]) -> impl Iterator<Item = (&'a State, &'a Step)> {
    let starts = std::iter::once(start).chain(row.iter().map(|s| &*s.end));
    starts.zip(row)
}

impl Augmented {
    /// Certificate and ledger of a finished step: every substep is evaluated once.
    pub(super) fn evaluate_finished(&mut self, system: &Evaluator, start: &State, step: &Step, asked: Examination) {
        let e: &AugmentedStep = step.record.of();
        self.base_for(&step.candidates);
        let base = self.used;
        if e.counts.is_empty() {
            self.bases[base].examine(system, start, step, asked);
            return;
        }
        let Examination { mut certificate, mut energy } = asked;
        let power = if e.even { 2 } else { 1 };
        let weights = Tableau::weights(&e.counts, power);
        if let Some(out) = certificate.as_deref_mut() {
            out.clear();
        }
        if let Some((meter, out)) = &mut energy {
            let mut energy = |s: &State| meter.kinetic(system, s.t, &s.q, &s.u) + potential_energy(system, s.t, &s.q);
            // What extrapolation itself does; weights sum to one.
            let mut defect = energy(&step.end);
            for (row, w) in e.rows().zip(&weights) {
                if let Some(last) = row.last() {
                    defect -= w * energy(&last.end);
                }
            }
            out.add(Line::Extrapolation, defect);
        }
        let ledger = self.ledger.get_or_insert_with(|| Ledger::new(system));
        self.tableau.begin(power);
        for (row, w) in e.rows().zip(&weights) {
            ledger.reset();
            for (from, substep) in chain(start, row) {
                let wanted = certificate.is_some().then_some(&mut self.certificate);
                let energy = energy.as_mut().map(|(meter, _)| (&mut **meter, &mut *ledger));
                self.bases[base].examine(system, from, substep, Examination { certificate: wanted, energy });
                if let Some(out) = certificate.as_deref_mut() {
                    // Positions count where the step ends.
                    self.certificate.penetration = 0.0;
                    self.certificate.joint_violation = 0.0;
                    out.worsen(&self.certificate);
                }
            }
            if let Some((_, out)) = &mut energy {
                out.add_scaled(*w, ledger);
            }
            if let Some(last) = row.last() {
                self.row.clear();
                self.row.extend(last.end.q.iter().chain(&last.end.u));
                system.localise(&start.q, &mut self.row[..start.q.len()]);
                self.tableau.push(row.len(), &self.row);
            }
        }
        if let Some(out) = certificate {
            self.certify_extrapolation(system, start, step, out);
        }
    }

    /// The difference of the end from the tableau, and the geometry of the end.
    fn certify_extrapolation(&self, system: &Evaluator, start: &State, step: &Step, out: &mut Certificate) {
        let nq = start.q.len();
        let (best, _) = self.tableau.diagonal();
        let off = |found: &[f64], expected: &[f64]| {
            let size = expected.iter().fold(1.0f64, |m, x| m.max(x.abs()));
            found.iter().zip(expected).fold(0.0f64, |m, (a, b)| if (a - b).abs() <= m { m } else { (a - b).abs() })
                / size
        };
        let positions = system.about(&start.q, &step.end.q, |_, end| off(end, &best[..nq]));
        for defect in [positions, off(&step.end.u, &best[nq..])] {
            if !(defect <= out.kinematics) {
                out.kinematics = defect;
            }
        }
        out.geometry(system, step.end.t, &step.end.q, &step.candidates);
    }
}
