//! What a step leaves for the next: its first stage.

use crate::record;
use crate::state::{ByComponent, ByVelocity};

record! {
    /// First stage of the step that led here; empty before the first step.
    "rattle memory" pub struct RattleMemory {
        /// Velocity v in the middle of the step.
        middle: ByVelocity = "velocity of the middle",
        /// Percussions P¹ of the first stage.
        first: ByComponent = "percussions of the first stage",
    }
}
