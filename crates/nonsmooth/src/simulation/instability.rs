//! Detects a scheme beyond its stability limit, by the energy that the numerics add to a run.
//!
//! G is the sum of the ledger's numerical lines; the change of M, which balances gyroscopic forces, is left out. Errors of a stable scheme move
//! G up and down; an instability moves it up without end. Let G_min be its lowest value so far, n steps ago, and
//!
//! ```text
//! gain = G − G_min,    E_0 = max over time of (T + V − gain) − V_min
//! ```
//!
//! E_0 is the energy that the motion would have without the gain. A run is unstable if
//!
//! 1. n ≥ 4 and gain > E_0 · max(1, min(1.01ⁿ − 1, 1000)): the numerics have at least doubled the energy, by more than 1 % per step on average, or
//!    made a thousand times of it, however long that took;
//! 2. at least half of the gain is present in T + V: numerical lines may balance others, and dampers may take the gain at once;
//! 3. gain > what forces, contacts, friction, elements and drives have put in or taken out since G_min: at the onset of a slip T + V is about
//!    zero, while what friction takes of the work of forces is not, and the lines have the scheme's error of that;
//! 4. gain > ½ (dt h)ᵀM⁻¹(dt h) at the first step since G_min for which the others hold: the kinetic energy that forces alone give within one
//!    step. Where a contact at rest begins to slip or opens, steps do not resolve less. It stays the one of that step, since in an unstable
//!    motion h grows.
//!
//! An impact that is resolved at a step end, not where it happens, also moves G, by O(dt) of the energy; but not by 1 % in every step.
//!
//! A run that ends is told by [`EnergyMonitor::advice`] where the numerics have changed the energy more than all losses have.

use crate::accounting::Ledger;
use crate::state::bytes;

/// Smallest relative growth of the energy per step of an instability.
const GROWTH_PER_STEP: f64 = 0.01;
/// Rounding error of the energy, relative to its largest value.
const ENERGY_ROUNDING: f64 = 1e-8;
/// Gain, relative to the energy, that no rate of growth excuses.
const MOST: f64 = 1e3;
/// Fewest steps of growth: a motion that begins at rest has energy by then.
const MIN_STEPS: usize = 4;
/// Part of the energy of a motion from which on what the numerics have added or taken is told.
const TOLD: f64 = 0.05;

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
    /// Throughput of the ledger at G_min.
    throughput: f64,
    /// Energy that steps do not resolve, once it has been needed since G_min; else 0.
    unresolved: f64,
}

bytes!(EnergyMonitor { lowest, steps, lowest_potential, highest, scale, throughput, unresolved });

impl EnergyMonitor {
    /// Begins with these energies.
    pub(super) fn begin(&mut self, kinetic: f64, potential: f64) {
        *self = Self { lowest_potential: potential, highest: kinetic + potential, ..Self::default() };
    }

    /// Checks a step that ended with these energies. `kick` is the energy of the fourth condition. Returns gain over energy if the run is unstable.
    pub(super) fn check(
        &mut self,
        kinetic: f64,
        potential: f64,
        ledger: &Ledger,
        kick: impl FnOnce() -> f64,
    ) -> Option<f64> {
        let made = ledger.made();
        self.lowest_potential = self.lowest_potential.min(potential);
        if made <= self.lowest {
            (self.lowest, self.steps, self.throughput, self.unresolved) = (made, 0, ledger.throughput(), 0.0);
        } else {
            self.steps += 1;
        }
        let gain = made - self.lowest;
        self.highest = self.highest.max(kinetic + potential - gain);
        let energy = self.energy();
        // Rounding of energies and their changes, through many steps, is no motion.
        self.scale = self.scale.max(kinetic).max(potential.abs());
        let rounding = ENERGY_ROUNDING * self.scale + 1e-12 * ledger.absolute();
        let allowed = energy * ((1.0 + GROWTH_PER_STEP).powf(self.steps as f64) - 1.0).clamp(1.0, MOST);
        let is_there = kinetic + potential - self.lowest_potential >= 0.5 * gain;
        let passed = ledger.throughput() - self.throughput;
        if !(self.steps >= MIN_STEPS && gain > allowed.max(rounding).max(passed) && is_there) {
            return None;
        }
        if self.unresolved == 0.0 {
            self.unresolved = kick();
        }
        // A motion that has not yet shown its energy has at least a millionth of what there is now.
        (gain > self.unresolved).then(|| gain / energy.max(1e-6 * gain))
    }

    /// E_0.
    fn energy(&self) -> f64 {
        self.highest - self.lowest_potential
    }

    /// What to say of a run up to now: the numerics have added, or taken, more than all losses, and more than a twentieth of the energy of the
    /// motion or of what has passed through it.
    pub(super) fn advice(&self, ledger: &Ledger) -> Option<String> {
        let (made, taken) = (ledger.made(), ledger.taken());
        let energy = self.energy().max(ledger.throughput());
        let told = made.abs() > taken && made.abs() > TOLD * energy && made.abs() > ENERGY_ROUNDING * self.scale;
        told.then(|| {
            let (verb, made) = (if made > 0.0 { "added" } else { "taken" }, made.abs());
            format!(
                "numerical errors have {verb} {made:.3e} J of a motion of {energy:.3e} J, more than forces, contacts and friction have taken ({taken:.3e} J): take a shorter step"
            )
        })
    }
}
