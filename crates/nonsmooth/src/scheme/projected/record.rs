//! How positions of a step were projected.

use crate::record;
use crate::state::ByComponent;

record! {
    /// The projection of a step.
    "projected step" pub struct ProjectedStep {
        /// Multipliers τ, of a contact its first component.
        multipliers: ByComponent = "multipliers",
    }
    fn multipliers(&self) -> &[f64] {
        &self.multipliers
    }
}
