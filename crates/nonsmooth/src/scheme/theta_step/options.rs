//! Options of the θ-method, shared by its schemes.

use crate::scheme::settings::{OptionInfo, OptionKind, Settings, SettingsError};

pub(in crate::scheme) const THETA: OptionInfo = OptionInfo {
    key: "theta",
    kind: OptionKind::Number { default: 0.5, min: 0.0, max: 1.0, unit: "" },
    summary: "implicitness: 0 explicit, 1/2 second order on smooth motion, 1 fully implicit",
};
pub(in crate::scheme) const FORECAST: OptionInfo = OptionInfo {
    key: "forecast",
    kind: OptionKind::Choice { default: "explicit", words: &["explicit", "free"] },
    summary: "how a contact is predicted to close: explicit (61) or free (62)",
};
pub(in crate::scheme) const GAMMA: OptionInfo = OptionInfo {
    key: "gamma",
    kind: OptionKind::Number { default: 0.0, min: 0.0, max: 2.0, unit: "" },
    summary: "extrapolation of the explicit forecast: g + gamma dt g'",
};
pub(in crate::scheme) const FORCE: OptionInfo = OptionInfo {
    key: "force",
    kind: OptionKind::Choice { default: "theta", words: &["theta", "trapezoid"] },
    summary: "forces at q_theta, or weighted from both ends (Schindler Alg. 1.4)",
};
pub(in crate::scheme) const NEWTON_TOL: OptionInfo = OptionInfo {
    key: "newton_tol",
    kind: OptionKind::Number { default: 1e-10, min: 1e-15, max: 1e-2, unit: "" },
    summary: "relative residual at which Newton's method stops",
};

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

/// What the laws of contacts are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::scheme) enum Level {
    /// Gap velocities, with restitution.
    Velocity,
    /// Gaps: 0 ≤ g(t_{k+1},q_{k+1}) ⊥ P ≥ 0.
    Position,
}

/// What Newton's method and the evaluation of a step depend on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::scheme) struct ThetaOptions {
    /// θ, 0 to 1.
    pub(in crate::scheme) theta: f64,
    /// Where forces are evaluated.
    pub(in crate::scheme) force: ForceRule,
    /// What the laws of contacts are about.
    pub(in crate::scheme) level: Level,
    /// Relative residual at which Newton's method stops.
    pub(in crate::scheme) newton_tol: f64,
}

/// The forecast that settings ask for.
pub(in crate::scheme) fn forecast_from(s: &Settings) -> Result<Forecast, SettingsError> {
    let gamma = s.get_number(&GAMMA)?;
    match s.get_word(&FORECAST)? {
        word @ "free" if gamma != 0.0 => Err(SettingsError::Useless { key: GAMMA.key, other: FORECAST.key, word }),
        "free" => Ok(Forecast::Free),
        _ => Ok(Forecast::Explicit { gamma }),
    }
}

/// Where settings want forces to be evaluated.
pub(in crate::scheme) fn force_from(s: &Settings) -> Result<ForceRule, SettingsError> {
    Ok(match s.get_word(&FORCE)? {
        "trapezoid" => ForceRule::Trapezoid,
        _ => ForceRule::Theta,
    })
}
