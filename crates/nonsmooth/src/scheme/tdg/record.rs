//! What a step leaves for the next, and what it is made of.

use crate::record;
use crate::state::{ByComponent, ByInteraction, ByVelocity, Impulses, Stages};

record! {
    /// Where the next step begins its iteration.
    "tdg memory" pub struct TdgMemory {
        /// Accelerations at the stages of the step that led here.
        accelerations: ByVelocity = "accelerations at the stages of the last step",
        /// Its length, s; 0 before the first step.
        length: f64 = "length of the last step",
        /// Contacts that it left closed: at rest, with a force or without approach.
        held: ByInteraction<bool> = "contacts that stay closed",
    }
}

record! {
    /// Stages and jump.
    "tdg step" pub struct TdgStep {
        /// Values at the stages.
        stages: Stages = "stages",
        /// Interactions that act with forces at the stages.
        acts: ByInteraction<bool> = "interactions of the stages",
        /// Those of them whose slip ends with the step.
        rests: ByInteraction<bool> = "interactions that come to rest",
        /// Restitution that the jump at the end took; NaN for those that took no part in it.
        restitution: ByInteraction<f64> = "restitutions",
        /// So many contacts take part in the jump that the stages do not see it.
        crowd: bool = "whether contacts are a crowd",
        /// Multipliers η of the position's projection; empty without one.
        eta: ByComponent = "multipliers of the projection",
        /// A contact comes to rest.
        lands: bool = "whether a contact comes to rest",
        /// Positions follow the rule of velocities, because the step is stiff.
        stiff: bool = "stiffness",
        /// Velocity before the jump, where it is located at the end (D⁻).
        u_minus: ByVelocity = "velocity before the jump",
        /// The same where it is located at the start (D⁺): the velocity at the end without percussions.
        left: ByVelocity = "velocity at the end without percussions",
        /// Percussions of forces; empty without a collision.
        smooth: ByComponent = "percussions of forces",
    }
    fn stages(&self) -> Option<&Stages> {
        (!self.stages.nodes.is_empty()).then_some(&self.stages)
    }
    fn u_minus(&self) -> &[f64] {
        &self.u_minus
    }
    fn smooth(&self) -> &[f64] {
        &self.smooth
    }
    fn impulses(&self) -> Impulses {
        match (self.smooth.is_empty(), self.stages.nodes.len()) {
            (false, _) => Impulses::Apart,
            // Degree 0 has percussions alone.
            (true, 0 | 1) => Impulses::Mixed,
            (true, _) => Impulses::Absent,
        }
    }
    fn left(&self) -> &[f64] {
        &self.left
    }
    fn multipliers(&self) -> &[f64] {
        &self.eta
    }
}
