//! What the θ-method carries into the next step.

use crate::record;
use crate::state::ByVelocity;

record! {
    /// Where Newton's method begins.
    "theta memory" pub struct ThetaMemory {
        /// Mean accelerations of the step that led here; empty where the iteration matrix is constant.
        rates: ByVelocity = "accelerations of the last step",
    }
}
