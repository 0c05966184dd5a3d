//! Options of the schemes.

use super::tableau::{MAX_DEGREE, Side};
use crate::scheme::settings::{OptionInfo, OptionKind, Settings, SettingsError};
use crate::scheme::theta_step::NEWTON_TOL;

const DEGREE: OptionInfo = OptionInfo {
    key: "degree",
    kind: OptionKind::Number { default: 1.0, min: 0.0, max: MAX_DEGREE as f64, unit: "" },
    summary: "degree M of the velocity polynomials (a whole number); 0 is the Moreau-Jean scheme",
};
const THRESHOLD: OptionInfo = OptionInfo {
    key: "restitution_threshold",
    kind: OptionKind::Number { default: 0.0, min: 0.0, max: 1e6, unit: "m/s" },
    summary: "a slower approach is an impact without restitution, as is always one whose flight would be shorter than a step",
};
const POSITION: OptionInfo = OptionInfo {
    key: "position",
    kind: OptionKind::Choice { default: "auto", words: &["auto", "continuous", "discontinuous"] },
    summary: "positions of stages: continuous (67), by the rule of velocities (stable for stiff forces), or that in stiff steps only",
};

pub(super) const MINUS: &[OptionInfo] = &[DEGREE, NEWTON_TOL, THRESHOLD];
pub(super) const PLUS: &[OptionInfo] = &[DEGREE, NEWTON_TOL, THRESHOLD, POSITION];

/// Positions of the stages of D⁺.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Position {
    /// Discontinuous in stiff steps.
    Auto,
    /// The integral of the velocity, (67).
    Continuous,
    /// With the weights of the velocities.
    Discontinuous,
}

/// Options of [`super::Tdg`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TdgOptions {
    /// D⁻ or D⁺.
    pub side: Side,
    /// Degree M of the velocity polynomials, 0 to 8.
    pub degree: usize,
    /// Change of velocities and positions, relative to what they changed in the step, at which iterations stop.
    pub newton_tol: f64,
    /// Approach below which an impact has no restitution, m/s.
    pub restitution_threshold: f64,
    /// Positions of the stages (D⁺).
    pub position: Position,
}

impl TdgOptions {
    /// The defaults of a degree.
    pub fn new(side: Side, degree: usize) -> Self {
        let position = if side == Side::Plus { Position::Auto } else { Position::Continuous };
        Self { side, degree, newton_tol: 1e-10, restitution_threshold: 0.0, position }
    }

    /// From settings, checked.
    pub(super) fn from_settings(side: Side, s: &Settings) -> Result<Self, SettingsError> {
        let degree = s.get_number(&DEGREE)?;
        if degree.fract() != 0.0 {
            let expected = format!("a whole number in [0, {MAX_DEGREE}]");
            return Err(SettingsError::Value { key: DEGREE.key, found: degree.to_string(), expected });
        }
        let plain = Self::new(side, degree as usize);
        let position = match (side, s.get_word(&POSITION)?) {
            (Side::Minus, _) => plain.position,
            (_, "continuous") => Position::Continuous,
            (_, "discontinuous") => Position::Discontinuous,
            _ => Position::Auto,
        };
        let newton_tol = s.get_number(&NEWTON_TOL)?;
        Ok(Self { newton_tol, restitution_threshold: s.get_number(&THRESHOLD)?, position, ..plain })
    }
}
