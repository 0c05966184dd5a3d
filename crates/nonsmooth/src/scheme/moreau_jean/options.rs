//! Options of the Moreau-Jean scheme.

use crate::scheme::settings::{OptionInfo, OptionKind, Settings, SettingsError};

const THETA: OptionInfo = OptionInfo {
    key: "theta",
    kind: OptionKind::Number { default: 0.5, min: 0.0, max: 1.0, unit: "" },
    summary: "implicitness: 0 explicit, 1/2 second order on smooth motion, 1 fully implicit",
};
const FORECAST: OptionInfo = OptionInfo {
    key: "forecast",
    kind: OptionKind::Choice { default: "explicit", words: &["explicit", "free"] },
    summary: "how a contact is predicted to close: explicit (61) or free (62)",
};
const GAMMA: OptionInfo = OptionInfo {
    key: "gamma",
    kind: OptionKind::Number { default: 0.0, min: 0.0, max: 2.0, unit: "" },
    summary: "extrapolation of the explicit forecast: g + gamma dt g'",
};
const FORCE: OptionInfo = OptionInfo {
    key: "force",
    kind: OptionKind::Choice { default: "theta", words: &["theta", "trapezoid"] },
    summary: "forces at q_theta, or weighted from both ends (Schindler Alg. 1.4)",
};
const NEWTON_TOL: OptionInfo = OptionInfo {
    key: "newton_tol",
    kind: OptionKind::Number { default: 1e-10, min: 1e-15, max: 1e-2, unit: "" },
    summary: "relative residual at which Newton's method stops",
};

/// All of them.
pub(super) const OPTIONS: &[OptionInfo] = &[THETA, FORECAST, GAMMA, FORCE, NEWTON_TOL];

/// How a contact is predicted to close.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Forecast {
    /// ḡ = g + γ dt ġ.
    Explicit {
        /// γ, 0 to 2.
        gamma: f64,
    },
    /// With the velocity of the step without contacts.
    Free,
}

/// Where forces are evaluated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForceRule {
    /// At (t_θ, q_θ, u_θ).
    Theta,
    /// Weighted from both ends.
    Trapezoid,
}

/// Options of [`MoreauJean`](super::MoreauJean).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MoreauJeanOptions {
    /// θ, 0 to 1.
    pub theta: f64,
    /// Forecast of closing contacts.
    pub forecast: Forecast,
    /// Where forces are evaluated.
    pub force: ForceRule,
    /// Relative residual at which Newton's method stops.
    pub newton_tol: f64,
}

impl Default for MoreauJeanOptions {
    fn default() -> Self {
        Self { theta: 0.5, forecast: Forecast::Explicit { gamma: 0.0 }, force: ForceRule::Theta, newton_tol: 1e-10 }
    }
}

impl MoreauJeanOptions {
    /// From settings, checked.
    pub(super) fn from_settings(s: &Settings) -> Result<Self, SettingsError> {
        let gamma = s.get_number(&GAMMA)?;
        let forecast = match s.get_word(&FORECAST)? {
            word @ "free" if gamma != 0.0 => {
                return Err(SettingsError::Useless { key: GAMMA.key, other: FORECAST.key, word });
            }
            "free" => Forecast::Free,
            _ => Forecast::Explicit { gamma },
        };
        let force = match s.get_word(&FORCE)? {
            "trapezoid" => ForceRule::Trapezoid,
            _ => ForceRule::Theta,
        };
        let (theta, newton_tol) = (s.get_number(&THETA)?, s.get_number(&NEWTON_TOL)?);
        Ok(Self { theta, forecast, force, newton_tol })
    }
}
