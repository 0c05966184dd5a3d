//! Options of the scheme.

use super::step_size::Lengths;
use crate::control::Span;
use crate::scheme::settings::{OptionInfo, OptionKind, Settings, SettingsError};

/// Schemes of one step that can be a base.
const BASES: &[&str] = &["moreau-midpoint", "moreau-jean", "rattle", "projected-direct", "projected-combined"];
/// Largest order.
const MAX_ORDER: f64 = 12.0;

pub(super) const BASE: OptionInfo = OptionInfo {
    key: "base",
    kind: OptionKind::Choice { default: "moreau-midpoint", words: BASES },
    summary: "scheme that makes the steps; options that this scheme does not have are its base's",
};
const DT_MIN: OptionInfo = OptionInfo {
    key: "dt_min",
    kind: OptionKind::Automatic { min: 0.0, max: 1e6, unit: "s" },
    summary: "smallest step, which resolves switches; auto: 1e-4 dt_max, or atol dt_max per m/s with control = \"tolerance\"",
};
const DT_MAX: OptionInfo = OptionInfo {
    key: "dt_max",
    kind: OptionKind::Automatic { min: 0.0, max: 1e6, unit: "s" },
    summary: "largest step; auto: the step of the run",
};
const ATOL: OptionInfo = OptionInfo {
    key: "atol",
    kind: OptionKind::Number { default: 1e-8, min: 0.0, max: 1e6, unit: "m/s" },
    summary: "error of the velocities that a step may have",
};
const RTOL: OptionInfo = OptionInfo {
    key: "rtol",
    kind: OptionKind::Number { default: 0.0, min: 0.0, max: 1.0, unit: "" },
    summary: "the same, relative to the largest velocity",
};
const ORDER: OptionInfo = OptionInfo {
    key: "max_order",
    kind: OptionKind::Number { default: 6.0, min: 2.0, max: MAX_ORDER, unit: "" },
    summary: "largest order of extrapolation (a whole number)",
};
const FIXED: OptionInfo = OptionInfo {
    key: "fixed_order",
    kind: OptionKind::Automatic { min: 1.0, max: MAX_ORDER, unit: "" },
    summary: "order of every smooth step, without a test of errors (a whole number); auto: by the error",
};
const SUBSTEPS: OptionInfo = OptionInfo {
    key: "substeps",
    kind: OptionKind::Choice { default: "odd", words: &["odd", "all"] },
    summary: "numbers of substeps: 1, 3, 5, .., or 1, 2, 3, .., which makes energy in contacts that persist",
};
const POWERS: OptionInfo = OptionInfo {
    key: "extrapolation",
    kind: OptionKind::Choice { default: "auto", words: &["auto", "every", "even"] },
    summary: "powers of dt in the error: every one (42), even ones, or even ones where the base scheme's errors are known to be even",
};
const INACCURATE: OptionInfo = OptionInfo {
    key: "inaccurate",
    kind: OptionKind::Choice { default: "reject", words: &["reject", "accept"] },
    summary: "what becomes of a smooth step whose error is too large",
};
const RESTITUTION: OptionInfo = OptionInfo {
    key: "restitution",
    kind: OptionKind::Choice { default: "law", words: &["law", "modified"] },
    summary: "restitution of a step dt: that of the law, or its power dt/dt_min (moreau-midpoint and moreau-jean)",
};
const CONTROL: OptionInfo = OptionInfo {
    key: "control",
    kind: OptionKind::Choice { default: "step", words: &["step", "tolerance"] },
    summary: "errors are tested per step, as in the paper; or per time, and dt_min follows the tolerance, so that errors are proportional to it",
};
const CROWD: OptionInfo = OptionInfo {
    key: "crowd",
    kind: OptionKind::Number { default: 64.0, min: 0.0, max: 1e9, unit: "" },
    summary: "switches within dt_max beyond which they are everywhere: steps then become base steps of length dt_max; 0: never",
};

pub(super) const ALL: &[OptionInfo] =
    &[BASE, DT_MIN, DT_MAX, ATOL, RTOL, ORDER, FIXED, SUBSTEPS, POWERS, INACCURATE, RESTITUTION, CONTROL, CROWD];

/// Numbers of substeps of the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Substeps {
    /// 1, 3, 5, ..
    Odd,
    /// 1, 2, 3, ..
    All,
}

/// Powers of dt in the error of the base scheme.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Powers {
    /// Even where it is known.
    Auto,
    /// Every one.
    Every,
    /// Even ones.
    Even,
}

/// What becomes of a smooth step whose error is too large.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inaccurate {
    /// It is made again with half the length.
    Reject,
    /// It is taken.
    Accept,
}

/// What the tolerance is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Control {
    /// Every step.
    Step,
    /// A length of time, and the time of switches.
    Tolerance,
}

/// Options of [`super::Augmented`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AugmentedOptions {
    /// Base scheme.
    pub base: &'static str,
    /// Smallest step, s; `None` for 1e-4 of the largest, or what the tolerance asks for.
    pub dt_min: Option<f64>,
    /// Largest step, s; `None` for the step of the run.
    pub dt_max: Option<f64>,
    /// Error of velocities, absolute.
    pub atol: f64,
    /// The same, relative.
    pub rtol: f64,
    /// Largest order.
    pub max_order: usize,
    /// Order of all smooth steps, if it is not chosen by the error.
    pub fixed_order: Option<usize>,
    /// Numbers of substeps.
    pub substeps: Substeps,
    /// Powers of dt that are extrapolated.
    pub powers: Powers,
    /// What becomes of inaccurate steps.
    pub inaccurate: Inaccurate,
    /// Restitution is raised to the power dt/dt_min [Studer2008, §8.2].
    pub modified_restitution: bool,
    /// What the tolerance is for.
    pub control: Control,
    /// Switches within the largest step that are too many to be resolved; 0 for any.
    pub crowd: usize,
}

/// Part of the largest step that is the smallest, where nothing else is said.
const SMALLEST: f64 = 1e-4;
/// Largest part of it that a tolerance asks for.
const COARSEST: f64 = 1e-2;
/// Rounding of time, in steps of this many last digits, that the smallest step must exceed.
const DIGITS: f64 = 16.0;

impl AugmentedOptions {
    pub(super) fn from_settings(s: &Settings) -> Result<Self, SettingsError> {
        let whole = |option: &OptionInfo, v: f64| {
            if v.fract() == 0.0 {
                return Ok(v as usize);
            }
            Err(SettingsError::Value { key: option.key, found: v.to_string(), expected: "a whole number".into() })
        };
        let positive = |option: &OptionInfo| match s.get_automatic(option)? {
            Some(v) if !(v > 0.0) => {
                Err(SettingsError::Value { key: option.key, found: v.to_string(), expected: "a length > 0".into() })
            }
            v => Ok(v),
        };
        let options = Self {
            base: s.get_word(&BASE)?,
            dt_min: positive(&DT_MIN)?,
            dt_max: positive(&DT_MAX)?,
            atol: s.get_number(&ATOL)?,
            rtol: s.get_number(&RTOL)?,
            max_order: whole(&ORDER, s.get_number(&ORDER)?)?,
            fixed_order: s.get_automatic(&FIXED)?.map(|p| whole(&FIXED, p)).transpose()?,
            substeps: if s.get_word(&SUBSTEPS)? == "odd" { Substeps::Odd } else { Substeps::All },
            powers: match s.get_word(&POWERS)? {
                "even" => Powers::Even,
                "every" => Powers::Every,
                _ => Powers::Auto,
            },
            inaccurate: if s.get_word(&INACCURATE)? == "accept" { Inaccurate::Accept } else { Inaccurate::Reject },
            modified_restitution: s.get_word(&RESTITUTION)? == "modified",
            control: if s.get_word(&CONTROL)? == "tolerance" { Control::Tolerance } else { Control::Step },
            crowd: whole(&CROWD, s.get_number(&CROWD)?)?,
        };
        if !(options.atol > 0.0 || options.rtol > 0.0) {
            let expected = "a tolerance > 0, here or in `rtol`".into();
            return Err(SettingsError::Value { key: ATOL.key, found: "0".into(), expected });
        }
        if options.modified_restitution && !matches!(options.base, "moreau-midpoint" | "moreau-jean") {
            let expected = "\"law\": only moreau-midpoint and moreau-jean can change it".into();
            return Err(SettingsError::Value { key: RESTITUTION.key, found: "\"modified\"".into(), expected });
        }
        if let (Some(smallest), Some(largest)) = (options.dt_min, options.dt_max)
            && smallest > largest
        {
            return Err(too_large(smallest, largest));
        }
        Ok(options)
    }

    /// Smallest and largest step of a run.
    pub(super) fn lengths(&self, span: &Span) -> Result<Lengths, SettingsError> {
        let dt_max = self.dt_max.unwrap_or(span.step).min(span.end - span.start);
        let chosen = match self.control {
            Control::Step => SMALLEST * dt_max,
            Control::Tolerance => self.atol.min(COARSEST) * dt_max,
        };
        let rounding = DIGITS * f64::EPSILON * span.start.abs().max(span.end.abs());
        let dt_min = match self.dt_min {
            None => chosen.max(rounding).min(dt_max),
            Some(dt) if dt > self.dt_max.unwrap_or(span.step) => {
                return Err(too_large(dt, self.dt_max.unwrap_or(span.step)));
            }
            Some(dt) if dt < rounding => {
                let expected =
                    format!("at least {rounding:.1e} s: shorter steps drown in the rounding of t up to {}", span.end);
                return Err(SettingsError::Value { key: DT_MIN.key, found: dt.to_string(), expected });
            }
            Some(dt) => dt.min(dt_max),
        };
        Ok(Lengths { dt_min, dt_max })
    }
}

fn too_large(smallest: f64, largest: f64) -> SettingsError {
    let expected = format!("at most dt_max = {largest}");
    SettingsError::Value { key: DT_MIN.key, found: smallest.to_string(), expected }
}
