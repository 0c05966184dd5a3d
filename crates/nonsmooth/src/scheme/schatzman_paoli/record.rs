//! Memory from step to step, and the positions that a step evaluated.

use crate::record;
use crate::state::{ByCoordinate, Step};

record! {
    /// The first of the two steps.
    "schatzman-paoli memory" pub struct SchatzmanPaoliMemory {
        /// q_{k−1}: it belongs to the step length that it was made with. Empty before the first step.
        before: ByCoordinate = "previous q",
    }
}

record! {
    /// Where the scheme looked.
    "schatzman-paoli step" pub struct SchatzmanPaoliStep {
        /// q_{k+2}, from which u_{k+1} follows.
        ahead: ByCoordinate = "q of the step ahead",
    }
    fn visited(&self, step: &Step, see: &mut dyn FnMut(f64, &[f64])) {
        if !self.ahead.is_empty() {
            see(step.end.t + step.dt, &self.ahead);
        }
    }
}
