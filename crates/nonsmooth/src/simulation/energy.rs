//! Energies along a run, and how well the ledger closes.

use crate::accounting::Ledger;
use crate::state::bytes;

/// Energies along a run and the closure of the ledger.
#[derive(Debug, Clone, Copy, PartialEq, Default, serde::Serialize)]
pub struct EnergySummary {
    /// Kinetic plus potential energy at the start, J.
    pub initial: f64,
    /// The same at the end.
    pub last: f64,
    /// Largest value during the run, J.
    pub max: f64,
    /// Largest kinetic energy during the run, J.
    pub max_kinetic: f64,
    /// max over time of |E − E₀ − Σ lines| / (max kinetic energy + Σ|lines|).
    pub closure: f64,
    worst_gap: f64,
}

impl EnergySummary {
    pub(crate) fn begin(&mut self, kinetic: f64, potential: f64) {
        let e = kinetic + potential;
        *self = Self { initial: e, last: e, max: e, max_kinetic: kinetic, closure: 0.0, worst_gap: 0.0 };
    }

    pub(crate) fn update(&mut self, kinetic: f64, potential: f64, ledger: &Ledger) {
        self.last = kinetic + potential;
        self.max = self.max.max(self.last);
        self.max_kinetic = self.max_kinetic.max(kinetic);
        let gap = (self.last - self.initial - ledger.total()).abs();
        if !(gap <= self.worst_gap) {
            self.worst_gap = gap;
        }
        let scale = self.max_kinetic + ledger.absolute();
        self.closure = if self.worst_gap == 0.0 { 0.0 } else { self.worst_gap / scale };
    }
}

bytes!(EnergySummary { initial, last, max, max_kinetic, closure, worst_gap });
