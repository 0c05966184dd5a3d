//! Options of the schemes.

use super::tableau::{MAX_DEGREE, Side};
use crate::scheme::option::{Declared, choice, number, words};
use crate::scheme::settings::{OptionInfo, Settings, SettingsError};
use crate::scheme::theta_step::NEWTON_TOL;

const DEGREE: Declared<usize, f64> = number(
    "degree",
    1.0,
    [0.0, MAX_DEGREE as f64],
    "",
    "degree M of the velocity polynomials (a whole number); 0 is the Moreau-Jean scheme",
)
.read_by(degree);
const THRESHOLD: Declared<f64> = number(
    "restitution_threshold",
    0.0,
    [0.0, 1e6],
    "m/s",
    "a slower approach is an impact without restitution, as is always one whose flight would be shorter than two steps",
);
const POSITION: Declared<Position> = choice(
    "position",
    "positions of stages: continuous (67), by the rule of velocities (stable for stiff forces), or that in stiff steps only",
);

pub(super) const MINUS: &[OptionInfo] = &[DEGREE.info, NEWTON_TOL.info, THRESHOLD.info];
pub(super) const PLUS: &[OptionInfo] = &[DEGREE.info, NEWTON_TOL.info, THRESHOLD.info, POSITION.info];

words! {
    /// Positions of the stages of D⁺.
    pub enum Position (default Auto) {
        /// Discontinuous in stiff steps.
        Auto = "auto",
        /// The integral of the velocity, (67).
        Continuous = "continuous",
        /// With the weights of the velocities.
        Discontinuous = "discontinuous",
    }
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
        let position = if side == Side::Plus { POSITION.default } else { Position::Continuous };
        Self { side, degree, newton_tol: NEWTON_TOL.default, restitution_threshold: THRESHOLD.default, position }
    }

    /// From settings, checked.
    pub(super) fn from_settings(side: Side, s: &Settings) -> Result<Self, SettingsError> {
        let plain = Self::new(side, DEGREE.read(s)?);
        let position = if side == Side::Plus { POSITION.read(s)? } else { plain.position };
        let newton_tol = NEWTON_TOL.read(s)?;
        Ok(Self { newton_tol, restitution_threshold: THRESHOLD.read(s)?, position, ..plain })
    }
}

fn degree(settings: &Settings, option: &OptionInfo) -> Result<usize, SettingsError> {
    let degree = settings.get_number(option)?;
    if degree.fract() == 0.0 {
        return Ok(degree as usize);
    }
    let expected = format!("a whole number in [0, {MAX_DEGREE}]");
    Err(SettingsError::Value { key: option.key, found: degree.to_string(), expected })
}
