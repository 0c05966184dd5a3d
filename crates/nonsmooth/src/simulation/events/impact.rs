//! The numbers of an impact, and the list that events go to.

use super::Event;
use crate::state::{Step, bytes};

/// What an impact did to its contact.
#[derive(Debug, Clone, Copy, PartialEq, Default, serde::Serialize)]
pub struct Impact {
    /// Normal percussion of the jump, or of the whole step where the scheme does not separate the jump, N·s.
    pub percussion: f64,
    /// −γ_N⁻, m/s.
    pub approach: f64,
    /// γ_N⁺, m/s.
    pub separation: f64,
    /// −½(γ⁻ + γ⁺)·P of this contact, normal and tangential, J.
    pub energy_lost: f64,
}

bytes!(Impact { percussion, approach, separation, energy_lost });

impl Impact {
    /// That of interaction `i` in a step.
    pub(super) fn of(step: &Step, i: usize) -> Self {
        let range = step.candidates.range(i);
        let (minus, plus) = (&step.gamma_minus[range.clone()], &step.gamma_plus[range.clone()]);
        let smooth = |j: usize| step.smooth().get(range.start + j).copied().unwrap_or(0.0);
        let jump = |j: usize| step.percussion(i)[j] - smooth(j);
        let work = (0..range.len()).map(|j| 0.5 * (minus[j] + plus[j]) * jump(j)).sum::<f64>();
        Self { percussion: jump(0), approach: 0.0 - minus[0], separation: plus[0], energy_lost: 0.0 - work }
    }

    /// Adds the remainder that interaction `i` takes in a later step.
    pub(super) fn extend(&mut self, step: &Step, i: usize) {
        self.percussion += step.percussion(i)[0];
        self.separation = step.gamma_plus[step.candidates.range(i).start];
        // Schemes that spread impacts have no friction.
        self.energy_lost = 0.5 * (self.approach - self.separation) * self.percussion;
    }
}

/// Events up to a number; the others are counted.
pub(crate) struct EventList<'a> {
    pub(crate) events: &'a mut Vec<Event>,
    pub(crate) most: usize,
    pub(crate) unlisted: &'a mut usize,
}

impl EventList<'_> {
    /// Adds an event. Returns its place, if it is listed.
    pub(crate) fn push(&mut self, event: Event) -> Option<usize> {
        if self.events.len() < self.most {
            self.events.push(event);
            return Some(self.events.len() - 1);
        }
        *self.unlisted += 1;
        None
    }
}
