//! Options of a run.

use crate::scheme::stabilise::Stabilise;
use complementarity::Options as SolverOptions;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// What is computed for every step besides the step itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Observe {
    /// Certificates.
    pub certificate: bool,
    /// Energies and ledger.
    pub energy: bool,
    /// Events.
    pub events: bool,
    /// Sums of percussions by contact.
    pub percussions: bool,
}

impl Observe {
    /// Everything.
    pub const ALL: Self = Self { certificate: true, energy: true, events: true, percussions: true };
    /// Nothing: for measuring the step alone.
    pub const NONE: Self = Self { certificate: false, energy: false, events: false, percussions: false };
}

/// What to do when a step fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// Try `auto` when the chosen solver does not solve a problem.
    pub fallback: bool,
    /// How often a step may be halved.
    pub halvings: usize,
}

impl Default for Policy {
    fn default() -> Self {
        Self { fallback: true, halvings: 8 }
    }
}

/// Options of a run.
#[derive(Debug, Clone)]
pub struct SimulationOptions {
    /// Step, s.
    pub step: f64,
    /// End time, s.
    pub end: f64,
    /// Solver of the one-step problems.
    pub solver: String,
    /// Its options.
    pub solver_options: SolverOptions,
    /// Projection of joints.
    pub stabilise: Stabilise,
    /// Penetration or joint defect up to which a start is accepted, m.
    pub initial_tolerance: f64,
    /// What is computed for every step.
    pub observe: Observe,
    /// What to do when a step fails.
    pub policy: Policy,
    /// Largest number of steps.
    pub max_steps: usize,
    /// Largest number of events that are listed; the others are counted.
    pub max_events: usize,
    /// Flag that another thread sets to end the run after the present step.
    pub interrupt: Option<Arc<AtomicBool>>,
}

impl SimulationOptions {
    /// Defaults for a step and an end time.
    pub fn new(step: f64, end: f64) -> Self {
        Self {
            step,
            end,
            solver: "auto".into(),
            solver_options: SolverOptions::default(),
            stabilise: Stabilise::None,
            initial_tolerance: 1e-5,
            observe: Observe::ALL,
            policy: Policy::default(),
            max_steps: 1_000_000_000,
            max_events: 2_000_000,
            interrupt: None,
        }
    }
}
