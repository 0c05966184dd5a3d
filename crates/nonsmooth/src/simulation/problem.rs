//! The one-step problem of a step as text: for a step that fails, and for requested steps.

use super::run::Run;
use crate::contract::Evaluator;
use crate::state::{State, Step};

impl Run {
    /// The last problem of the scheme, which made `step` from `start`.
    pub(super) fn last_problem(&self, system: &Evaluator, start: &State, step: &Step) -> Option<String> {
        let problem = self.scheme.last_problem()?;
        let included = self.scheme.last_included().unwrap_or(&step.active);
        let (mut names, mut guess) = (Vec::new(), Vec::new());
        for (k, _) in step.candidates.items().iter().zip(included).filter(|(_, included)| **included) {
            k.law.percussion_sets(k.dim(), step.dt, |_| names.push(system.name(k.id)));
            match start.percussions.get(k.id) {
                Some(p) if p.len() == k.dim() => guess.extend_from_slice(p),
                _ => guess.resize(guess.len() + k.dim(), 0.0),
            }
        }
        // A step that failed before it had all its rows.
        if guess.len() != problem.c.len() {
            guess = vec![0.0; problem.c.len()];
        }
        Some(problem.to_json(&names, &guess))
    }
}
