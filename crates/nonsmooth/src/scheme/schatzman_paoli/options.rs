//! Options of the Schatzman-Paoli scheme.

use crate::scheme::settings::{OptionInfo, OptionKind, Settings, SettingsError};

const THETA: OptionInfo = OptionInfo {
    key: "theta",
    kind: OptionKind::Number { default: 0.5, min: 0.0, max: 1.0, unit: "" },
    summary: "where forces are taken in the step: 0 its start (explicit in q), 1/2 its middle, 1 its end",
};
const NEWTON_TOL: OptionInfo = OptionInfo {
    key: "newton_tol",
    kind: OptionKind::Number { default: 1e-10, min: 1e-15, max: 1e-2, unit: "" },
    summary: "relative residual at which Newton's method stops",
};

/// All of them.
pub(super) const OPTIONS: &[OptionInfo] = &[THETA, NEWTON_TOL];

/// Options of [`SchatzmanPaoli`](super::SchatzmanPaoli).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SchatzmanPaoliOptions {
    /// θ, 0 to 1.
    pub theta: f64,
    /// Relative residual at which Newton's method stops.
    pub newton_tol: f64,
}

impl Default for SchatzmanPaoliOptions {
    fn default() -> Self {
        Self { theta: 0.5, newton_tol: 1e-10 }
    }
}

impl SchatzmanPaoliOptions {
    /// From settings, checked.
    pub(super) fn from_settings(s: &Settings) -> Result<Self, SettingsError> {
        Ok(Self { theta: s.get_number(&THETA)?, newton_tol: s.get_number(&NEWTON_TOL)? })
    }
}
