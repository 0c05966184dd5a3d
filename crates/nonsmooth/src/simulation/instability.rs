//! Whether the numerics pump energy into a run: a scheme beyond its limit of stability.
//!
//! G is the sum of the ledger's numerical lines that a step makes by itself (quadrature, theta, stages, jacobian: not the change of M, which balances
//! gyroscopic forces, nor projections). Errors of a stable scheme move it up and down; an instability moves it up without end. With G_min its lowest value so far, n steps ago, and
//!
//! ```text
//! gain = G − G_min,    E_0 = max over time of (T + V − gain) − V_min
//! ```
//!
//! the energy that the motion would have without what the numerics have added since, a run is unstable if n ≥ 4 and gain > E_0 · max(1, 1.01ⁿ − 1): the numerics have at least doubled the energy, and it grew by more than 1 % in
//! every step on the average; and if at least half of that is there: in some schemes numerical lines balance others, and what dampers take at once does no harm. An impact that is resolved at a step end, not where it happens, also moves G, by O(dt) of the energy; but not one per cent in every step.

use crate::accounting::{Ledger, Line};
use crate::state::bytes;

/// Growth of the energy per step that is one of an instability.
const PER_STEP: f64 = 0.01;
/// Part of the largest energy that its rounding may come to.
const ROUNDING: f64 = 1e-8;
/// Steps after which the energy of a motion that begins at rest shows.
const FEWEST: usize = 4;

/// What is known of the energy that the numerics made. See the [module](self).
#[derive(Debug, Clone, Default)]
pub(super) struct EnergyWatch {
    lowest: f64,
    /// Steps since then.
    steps: usize,
    lowest_potential: f64,
    /// Largest T + V − gain, and largest T or |V|.
    highest: f64,
    scale: f64,
}

bytes!(EnergyWatch { lowest, steps, lowest_potential, highest, scale });

impl EnergyWatch {
    /// Begins with these energies.
    pub(super) fn begin(&mut self, kinetic: f64, potential: f64) {
        *self = Self { lowest_potential: potential, highest: kinetic + potential, ..Self::default() };
    }

    /// Looks at a step that ended with these energies. The gain over the energy, if that is one of an instability.
    pub(super) fn look(&mut self, kinetic: f64, potential: f64, ledger: &Ledger) -> Option<f64> {
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
        let rounding = ROUNDING * self.scale + 1e-12 * ledger.absolute();
        let allowed = energy * ((1.0 + PER_STEP).powf(self.steps as f64) - 1.0).max(1.0);
        let is_there = kinetic + potential - self.lowest_potential >= 0.5 * gain;
        let unstable = self.steps >= FEWEST && gain > allowed && gain > rounding && is_there;
        // A motion that has not yet shown its energy has at least a millionth of what there is now.
        unstable.then(|| gain / energy.max(1e-6 * gain))
    }
}
