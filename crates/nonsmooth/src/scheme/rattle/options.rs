//! Options of the nonsmooth RATTLE scheme.

use crate::scheme::settings::{OptionInfo, OptionKind, Settings, SettingsError};

const NEWTON_TOL: OptionInfo = OptionInfo {
    key: "newton_tol",
    kind: OptionKind::Number { default: 1e-10, min: 1e-15, max: 1e-2, unit: "" },
    summary: "residual at which Newton's method stops; gaps and joints to a thousandth of it",
};
const NEWTON_NORM: OptionInfo = OptionInfo {
    key: "newton_norm",
    kind: OptionKind::Choice { default: "scaled", words: &["scaled", "absolute"] },
    summary: "how the residual is measured: relative to the terms of each equation, or as the paper does, in SI units as it is",
};
const R: OptionInfo = OptionInfo {
    key: "r",
    kind: OptionKind::Automatic { min: 1e-12, max: 1e12, unit: "kg" },
    summary: "factor of the switching tests; auto: 1/G_ii of every contact. The paper has 0.1",
};
const GUESS: OptionInfo = OptionInfo {
    key: "guess",
    kind: OptionKind::Choice { default: "predicted", words: &["predicted", "previous"] },
    summary: "where Newton's method starts: where the percussions of the step before lead, or at its unknowns (the paper's)",
};
const DIRECTION: OptionInfo = OptionInfo {
    key: "friction_direction",
    kind: OptionKind::Choice { default: "end", words: &["end", "mean"] },
    summary: "slip that friction opposes: at the end of the step (the paper's), or the mean of both ends: order 2 where slip turns",
};

/// All of them.
pub(super) const OPTIONS: &[OptionInfo] = &[NEWTON_TOL, NEWTON_NORM, R, GUESS, DIRECTION];

/// How residuals of Newton's method are measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NewtonNorm {
    /// Relative to the terms of each equation.
    Scaled,
    /// In SI units as they are, all in one maximum.
    Absolute,
}

/// Where Newton's method starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Guess {
    /// Percussions of the step before, and the velocities and positions that they lead to.
    Predicted,
    /// All unknowns of the step before.
    Previous,
}

/// Which slip velocity friction opposes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrictionDirection {
    /// That of the end of the step, (34).
    End,
    /// The mean of start and end, where slip persists and turns.
    Mean,
}

/// Options of [`Rattle`](super::Rattle).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RattleOptions {
    /// Residual at which Newton's method stops.
    pub newton_tol: f64,
    /// How it is measured.
    pub newton_norm: NewtonNorm,
    /// Factor r of the switching tests, kg; `None`: 1/G_ii.
    pub r: Option<f64>,
    /// Where Newton's method starts.
    pub guess: Guess,
    /// Which slip velocity friction opposes.
    pub friction_direction: FrictionDirection,
}

impl Default for RattleOptions {
    fn default() -> Self {
        Self {
            newton_tol: 1e-10,
            newton_norm: NewtonNorm::Scaled,
            r: None,
            guess: Guess::Predicted,
            friction_direction: FrictionDirection::End,
        }
    }
}

impl RattleOptions {
    /// From settings, checked.
    pub(super) fn from_settings(s: &Settings) -> Result<Self, SettingsError> {
        Ok(Self {
            newton_tol: s.get_number(&NEWTON_TOL)?,
            newton_norm: match s.get_word(&NEWTON_NORM)? {
                "absolute" => NewtonNorm::Absolute,
                _ => NewtonNorm::Scaled,
            },
            r: s.get_automatic(&R)?,
            guess: match s.get_word(&GUESS)? {
                "previous" => Guess::Previous,
                _ => Guess::Predicted,
            },
            friction_direction: match s.get_word(&DIRECTION)? {
                "mean" => FrictionDirection::Mean,
                _ => FrictionDirection::End,
            },
        })
    }
}
