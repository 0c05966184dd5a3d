//! Result of a run: status, counts, energies, events.

use super::energy::EnergySummary;
use super::events::Event;
use crate::accounting::Certificate;
use crate::contract::Derivatives;
use crate::scheme::Failure;
use crate::state::{State, StepOutcome, bytes};
use std::collections::BTreeMap;

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// At its end time.
    Done,
    /// A step could not be made.
    Stopped,
    /// Interrupted from outside.
    Interrupted,
}

/// Why and where a run stopped.
#[derive(Debug, Clone, PartialEq)]
pub struct Stop {
    /// Time of the last good state, s.
    pub t: f64,
    /// The failure.
    pub failure: Failure,
    /// Force or interaction that caused it, if one was found.
    pub culprit: Option<String>,
    /// The one-step problem as JSON, if there was one.
    pub problem: Option<String>,
}

impl std::fmt::Display for Stop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "stopped at t = {}: {}", self.t, self.failure)?;
        if let Some(c) = &self.culprit {
            write!(f, " (culprit: {c})")?;
        }
        Ok(())
    }
}

/// Counts of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub struct WorkCounts {
    /// Accepted steps.
    pub steps: usize,
    /// Steps that failed or were rejected.
    pub rejected: usize,
    /// All calls of the scheme.
    pub scheme_calls: usize,
    /// One-step problems solved.
    pub solves: usize,
    /// Solver iterations.
    pub iterations: usize,
    /// Most solver iterations in one step.
    pub iterations_max: usize,
    /// Pivots.
    pub pivots: usize,
    /// Newton iterations of the scheme.
    pub newton: usize,
    /// Most Newton iterations in one step.
    pub newton_max: usize,
    /// Newton iterations by stage, and most of them in one step, for schemes of two stages.
    pub stages: [(usize, usize); 2],
    /// Stages that the scheme's first method did not solve, so that a fallback did.
    pub retries: usize,
    /// Contacts that took part, summed over all calls.
    pub contacts: usize,
    /// Most contacts that took part in one step.
    pub contacts_max: usize,
    /// Index sets of contacts for which steps were solved.
    pub index_sets: usize,
    /// Most of them in one step.
    pub index_sets_max: usize,
    /// Iterations of position projections.
    pub projection: usize,
    /// Most of them in one step.
    pub projection_max: usize,
    /// Solves that needed the fallback solver.
    pub fallbacks: usize,
    /// Steps that left their reach and were redone.
    pub reach_redone: usize,
    /// Steps rejected because a switch was detected, without the earlier steps that were dropped with them.
    pub detected: usize,
    /// Steps of the smallest length that resolved a switch.
    pub resolved: usize,
    /// Steps rejected because their error was too large.
    pub inaccurate: usize,
    /// Steps accepted with too large an error, because a smaller step would be below the smallest allowed.
    pub loose: usize,
    /// Steps with a switch that was not resolved, since switches were everywhere.
    pub coarse: usize,
}

bytes!(WorkCounts {
    steps,
    rejected,
    scheme_calls,
    solves,
    iterations,
    iterations_max,
    pivots,
    newton,
    newton_max,
    stages,
    retries,
    contacts,
    contacts_max,
    index_sets,
    index_sets_max,
    projection,
    projection_max,
    fallbacks,
    reach_redone,
    detected,
    resolved,
    inaccurate,
    loose,
    coarse
});

impl WorkCounts {
    /// Counts how a step came out.
    pub(super) fn take(&mut self, outcome: StepOutcome, accepted: bool) {
        match (outcome, accepted) {
            (StepOutcome::Detected, false) => self.detected += 1,
            (StepOutcome::Detected, true) => self.coarse += 1,
            (StepOutcome::Resolved, true) => self.resolved += 1,
            (StepOutcome::Inaccurate, false) => self.inaccurate += 1,
            (StepOutcome::Inaccurate, true) => self.loose += 1,
            _ => {}
        }
    }
}

/// The result of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// How it ended.
    pub status: Status,
    /// Why it stopped, if it did.
    pub stop: Option<Stop>,
    /// Last state.
    pub end: State,
    /// Counts.
    pub work: WorkCounts,
    /// Worst certificate values of all steps (indices refer to the candidates of the worst step).
    pub worst: Certificate,
    /// Times of the worst residual and the deepest penetration, s.
    pub worst_at: (f64, f64),
    /// Energies.
    pub energy: EnergySummary,
    /// Name and work of every ledger line, J.
    pub ledger: Vec<(String, f64)>,
    /// Events in order of time.
    pub events: Vec<Event>,
    /// Events beyond `SimulationOptions::max_events`: they happened and are not listed.
    pub events_unlisted: usize,
    /// Sums of percussions by interaction name, N·s.
    pub percussions: BTreeMap<String, Vec<f64>>,
    /// Warnings.
    pub warnings: Vec<String>,
    /// How derivatives were made.
    pub derivatives: Derivatives,
}
