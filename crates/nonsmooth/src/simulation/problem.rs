//! The one-step problem of a step as text: saved when a step fails, and of any step that is asked for.

use super::run::Simulation;
use crate::state::{State, Step};

/// What is kept of the next accepted step.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) enum Keep {
    #[default]
    Nothing,
    /// Its problem is wanted.
    Wanted,
    Problem(String),
}

impl Simulation<'_> {
    /// Keeps the one-step problem of the next accepted step for [`Simulation::take_problem`]. Of a scheme that makes several, it is
    /// the last.
    pub fn keep_problem(&mut self) {
        self.keep = Keep::Wanted;
    }

    /// The problem that was kept, as `complementarity::FullProblem::to_json` writes it: with the names of its interactions, and the
    /// percussions of the step before as guess.
    pub fn take_problem(&mut self) -> Option<String> {
        match std::mem::take(&mut self.keep) {
            Keep::Problem(text) => Some(text),
            Keep::Nothing | Keep::Wanted => None,
        }
    }

    /// The last problem of the scheme, which made `step` from `start`.
    pub(super) fn last_problem(&self, start: &State, step: &Step) -> Option<String> {
        let problem = self.scheme.last_problem()?;
        let included = self.scheme.last_included().unwrap_or(&step.active);
        let (mut names, mut guess) = (Vec::new(), Vec::new());
        for (k, _) in step.candidates.items().iter().zip(included).filter(|(_, included)| **included) {
            k.law.percussion_sets(k.dim(), step.dt, |_| names.push(self.system.name(k.id)));
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
