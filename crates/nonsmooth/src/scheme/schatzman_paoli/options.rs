//! Options of the Schatzman-Paoli scheme.

use crate::scheme::option::{number, options};
use crate::scheme::theta_step::NEWTON_TOL;

options! {
    /// Options of [`SchatzmanPaoli`](super::SchatzmanPaoli).
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct SchatzmanPaoliOptions: Default {
        /// θ, 0 to 1.
        pub theta: f64 = number("theta", 0.5, [0.0, 1.0], "",
            "where forces are taken in the step: 0 its start (explicit in q), 1/2 its middle, 1 its end"),
        /// Relative residual at which Newton's method stops.
        pub newton_tol: f64 = NEWTON_TOL,
    }
}
