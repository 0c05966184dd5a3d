//! Options of the θ-method, shared by its schemes.

use crate::scheme::option::{Declared, choice, number, word, words};
use crate::scheme::settings::{Settings, SettingsError};

pub(in crate::scheme) const THETA: Declared<f64> = number(
    "theta",
    0.5,
    [0.0, 1.0],
    "",
    "implicitness: 0 explicit, 1/2 second order on smooth motion, 1 fully implicit",
);
pub(in crate::scheme) const FORECAST: Declared<&str> = word(
    "forecast",
    "explicit",
    &["explicit", "free"],
    "how a contact is predicted to close: explicit (61) or free (62)",
);
pub(in crate::scheme) const GAMMA: Declared<f64> =
    number("gamma", 0.0, [0.0, 2.0], "", "extrapolation of the explicit forecast: g + gamma dt g'");
pub(in crate::scheme) const FORCE: Declared<ForceRule> =
    choice("force", "forces at q_theta, or weighted from both ends (Schindler Alg. 1.4)");
pub(in crate::scheme) const DIRECTIONS: Declared<DirectionRule> =
    choice("directions", "where percussions act: along directions at q_{k+1} (18a), or at q_{k+theta}");
pub(in crate::scheme) const NEWTON_TOL: Declared<f64> =
    number("newton_tol", 1e-10, [1e-15, 1e-2], "", "relative residual at which Newton's method stops");

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

words! {
    /// Where forces are evaluated.
    pub enum ForceRule (default Theta) {
        /// At (t_θ, q_θ, u_θ).
        Theta = "theta",
        /// Weighted from both ends.
        Trapezoid = "trapezoid",
    }
}

words! {
    /// Where the directions W of percussions are taken.
    pub enum DirectionRule (default Theta) {
        /// (1−θ) W_k + θ W_{k+1}, for the velocities before and after.
        Theta = "theta",
        /// W_{k+1} (18a); the velocity before with W_k.
        End = "end",
    }
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
    /// Where directions are taken.
    pub(in crate::scheme) directions: DirectionRule,
    /// What the laws of contacts are about.
    pub(in crate::scheme) level: Level,
    /// Relative residual at which Newton's method stops.
    pub(in crate::scheme) newton_tol: f64,
}

/// The forecast that settings ask for.
pub(in crate::scheme) fn forecast_from(s: &Settings) -> Result<Forecast, SettingsError> {
    let gamma = GAMMA.read(s)?;
    match FORECAST.read(s)? {
        word @ "free" if gamma != 0.0 => {
            Err(SettingsError::Useless { key: GAMMA.info.key, other: FORECAST.info.key, word })
        }
        "free" => Ok(Forecast::Free),
        _ => Ok(Forecast::Explicit { gamma }),
    }
}
