//! Detects a scheme beyond its stability limit, by the energy that the numerics add to a run.
//!
//! G is the sum of the ledger's numerical lines quadrature, theta, stages and jacobian. The change of M, which balances gyroscopic forces, and
//! projections are left out. Errors of a stable scheme move G up and down; an instability moves it up without end. Let G_min be its lowest value
//! so far, n steps ago, and
//!
//! ```text
//! gain = G − G_min,    E_0 = max over time of (T + V − gain) − V_min
//! ```
//!
//! E_0 is the energy that the motion would have without the gain. A run is unstable if n ≥ 4, if gain > E_0 · max(1, 1.01ⁿ − 1), and if at
//! least half of the gain is present in T + V. The second condition says that the numerics have at least doubled the energy, by more than 1 % per
//! step on average. The third allows for schemes in which numerical lines balance others, and for dampers that dissipate the gain at once.
//! An impact that is resolved at a step end, not where it happens, also moves G, by O(dt) of the energy; but not by 1 % in every step.

use crate::accounting::{Ledger, Line};
use crate::state::bytes;

/// Smallest relative growth of the energy per step of an instability.
const GROWTH_PER_STEP: f64 = 0.01;
/// Rounding error of the energy, relative to its largest value.
const ENERGY_ROUNDING: f64 = 1e-8;
/// Fewest steps of growth: a motion that begins at rest has energy by then.
const MIN_STEPS: usize = 4;

/// Energy that the numerics have added. See the [module](self).
#[derive(Debug, Clone, Default)]
pub(super) struct EnergyMonitor {
    lowest: f64,
    /// Steps since then.
    steps: usize,
    lowest_potential: f64,
    /// Largest T + V − gain, and largest T or |V|.
    highest: f64,
    scale: f64,
}

bytes!(EnergyMonitor { lowest, steps, lowest_potential, highest, scale });

impl EnergyMonitor {
    /// Begins with these energies.
    pub(super) fn begin(&mut self, kinetic: f64, potential: f64) {
        *self = Self { lowest_potential: potential, highest: kinetic + potential, ..Self::default() };
    }

    /// Checks a step that ended with these energies. Returns gain over energy if the run is unstable.
    pub(super) fn check(&mut self, kinetic: f64, potential: f64, ledger: &Ledger) -> Option<f64> {
        let lines = [Line::Quadrature, Line::Theta, Line::Stages, Line::Jacobian];
        let made: f64 = lines.iter().map(|l| ledger.get(*l)).sum();
        self.lowest_potential = self.lowest_potential.min(potential);
        if made <= self.lowest {
            (self.lowest, self.steps) = (made, 0);
        } else {
            self.steps += 1;
        }
        let gain = made - self.lowest;
        self.highest = self.highest.max(kinetic + potential - gain);
        let energy = self.highest - self.lowest_potential;
        // Rounding of energies and their changes, through many steps, is no motion.
        self.scale = self.scale.max(kinetic).max(potential.abs());
        let rounding = ENERGY_ROUNDING * self.scale + 1e-12 * ledger.absolute();
        let allowed = energy * ((1.0 + GROWTH_PER_STEP).powf(self.steps as f64) - 1.0).max(1.0);
        let is_there = kinetic + potential - self.lowest_potential >= 0.5 * gain;
        let unstable = self.steps >= MIN_STEPS && gain > allowed && gain > rounding && is_there;
        // A motion that has not yet shown its energy has at least a millionth of what there is now.
        unstable.then(|| gain / energy.max(1e-6 * gain))
    }
}
