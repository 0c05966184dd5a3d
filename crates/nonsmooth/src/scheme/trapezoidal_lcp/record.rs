//! What a step leaves for the next, and its two parts: smooth motion, and a jump at its end.

use crate::record;
use crate::state::{ByComponent, ByInteraction, ByVelocity, Correction, Impulses};

record! {
    /// The step that led here.
    "trapezoidal-lcp memory" pub struct TrapezoidalMemory {
        /// Percussions of its smooth part; empty without a jump: all of them are.
        smooth: ByComponent = "percussions of the smooth part",
        /// Its length, s; 0 before the first step.
        length: f64 = "length of the last step",
        /// Steps in a row that ended at an event.
        events: u32 = "events in a row",
        /// What the linearisation of forces leaves out of the velocity, relative to that of the motion, per square of the length of a step; 0 where nothing drives it.
        left_out: f64 = "force left out",
    }
}

record! {
    /// The parts of a step.
    "trapezoidal-lcp step" pub struct TrapezoidalStep {
        /// Length of the unshortened step, s; 0 if the smooth part was not cut at an event.
        full_dt: f64 = "length of the unshortened step",
        /// Velocity at the end of the unshortened step.
        full_velocity: ByVelocity = "velocity of the unshortened step",
        /// Acceleration at the start; empty where no law turns.
        acceleration: ByVelocity = "acceleration at the start",
        /// Contacts stayed closed: they are projected with the joints.
        closes: bool = "closed contacts are projected with joints",
        /// Some of them turn: they are projected at any rate.
        turns: bool = "closed contacts are projected",
        /// A contact took a percussion without approach: a paradox of Painlevé.
        paradox: bool = "paradox",
        /// Velocity before the jump.
        u_minus: ByVelocity = "velocity before the jump",
        /// Interactions that took part in the smooth part; empty without a jump: all that took part did.
        active: ByInteraction<bool> = "interactions of the smooth part",
        /// Percussions of the smooth part; empty without a jump.
        smooth: ByComponent = "percussions of the smooth part",
        /// Percussions of the compression, of jumps that have one.
        compression: ByComponent = "percussions of the compression",
        /// Restitution that the jump took; NaN for those that took no part in it. Empty without a jump.
        restitution: ByInteraction<f64> = "restitutions",
    }
    fn correction(&self) -> Correction {
        match (self.closes, self.turns) {
            (true, true) => Correction::JointsAndContacts,
            (true, false) => Correction::RequestedWithContacts,
            (false, _) => Correction::Requested,
        }
    }
    fn u_minus(&self) -> &[f64] {
        &self.u_minus
    }
    fn smooth(&self) -> &[f64] {
        &self.smooth
    }
    fn impulses(&self) -> Impulses {
        if self.jump() { Impulses::Apart } else { Impulses::Absent }
    }
    fn paradox(&self) -> bool {
        self.paradox
    }
}

impl TrapezoidalStep {
    /// Whether there is a jump.
    pub fn jump(&self) -> bool {
        !self.restitution.is_empty()
    }
}
