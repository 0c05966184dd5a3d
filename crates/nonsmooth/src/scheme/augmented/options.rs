//! Options of the scheme.

use super::step_size::Lengths;
use crate::control::Span;
use crate::scheme::option::{Declared, automatic, automatic_whole, choice, number, options, whole, word, words};
use crate::scheme::settings::{Setting, Settings, SettingsError};
use crate::scheme::theta_step::NEWTON_TOL;
use crate::scheme::{SCHEMES, Scheme, make};

/// Schemes of one step that can be a base.
const BASES: &[&str] = &["moreau-midpoint", "moreau-jean", "rattle", "projected-direct", "projected-combined", AUTO];
/// The base that is chosen step by step from [`LADDER`].
pub(super) const AUTO: &str = "auto";
/// The bases of `auto`: the first while every contact keeps its direction or many are listed, the second where one moves or turns.
pub(super) const LADDER: [&str; 2] = ["moreau-midpoint", "moreau-jean"];
/// Largest order.
const MAX_ORDER: f64 = 12.0;

pub(super) const BASE: Declared<&str> = word(
    "base",
    AUTO,
    BASES,
    "scheme that makes the steps; auto: moreau-midpoint, and moreau-jean where contacts move or turn; options that this scheme does not have are those of a base that is named",
);
const DT_MIN: Declared<Option<f64>> = automatic(
    "dt_min",
    [0.0, 1e6],
    "s",
    "smallest step, which resolves switches; auto: 1e-4 dt_max, or atol dt_max per m/s with control = \"tolerance\"",
);
const DT_MAX: Declared<Option<f64>> = automatic("dt_max", [0.0, 1e6], "s", "largest step; auto: the step of the run");
const ATOL: Declared<f64> =
    number("atol", 1e-8, [0.0, 1e6], "m/s", "error that a step may have: of velocities, and of positions over dt_max");
const RESTITUTION: Declared<StepRestitution> = choice(
    "restitution",
    "restitution of a step dt: that of the law, or its power dt/dt_min (moreau-midpoint and moreau-jean)",
);

options! {
    /// Options of [`super::Augmented`].
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct AugmentedOptions: Default {
        /// Base scheme.
        pub base: &'static str = BASE,
        /// Smallest step, s; `None` for 1e-4 of the largest, or what the tolerance asks for.
        pub dt_min: Option<f64> = DT_MIN,
        /// Largest step, s; `None` for the step of the run.
        pub dt_max: Option<f64> = DT_MAX,
        /// Error of velocities, and of positions over the largest step, absolute.
        pub atol: f64 = ATOL,
        /// The same, relative.
        pub rtol: f64 = number("rtol", 0.0, [0.0, 1.0], "",
            "the same, relative to the largest velocity"),
        /// Largest order.
        pub max_order: usize = whole("max_order", 6, [2.0, MAX_ORDER],
            "largest order of extrapolation (a whole number)"),
        /// Order of all smooth steps, if it is not chosen by the error.
        pub fixed_order: Option<usize> = automatic_whole("fixed_order", [1.0, MAX_ORDER],
            "order of every smooth step, without a test of errors (a whole number); auto: by the error"),
        /// Numbers of substeps.
        pub substeps: Substeps = choice("substeps",
            "numbers of substeps: 1, 3, 5, .., or 1, 2, 3, .., which makes energy in contacts that persist"),
        /// Powers of dt that are extrapolated.
        pub powers: Powers = choice("extrapolation",
            "powers of dt in the error: every one (42), even ones, or even ones where the base scheme's errors are known to be even"),
        /// What becomes of inaccurate steps.
        pub inaccurate: Inaccurate = choice("inaccurate",
            "what becomes of a smooth step whose error is too large"),
        /// Restitution of short steps.
        pub restitution: StepRestitution = RESTITUTION,
        /// What the tolerance is for.
        pub control: Control = choice("control",
            "errors are tested per step, as in the paper; or per time, and dt_min follows the tolerance, so that errors are proportional to it"),
        /// Switches within the largest step that are too many to be resolved, where more than sixteen interactions are listed; 0: never.
        pub crowd: usize = whole("crowd", 64, [0.0, 1e9],
            "switches within dt_max, of more than 16 interactions, beyond which they are everywhere: steps then become base steps of length dt_max; 0: never"),
    }
}

words! {
    /// Numbers of substeps of the rows.
    pub enum Substeps (default Odd) {
        /// 1, 3, 5, ..
        Odd = "odd",
        /// 1, 2, 3, ..
        All = "all",
    }
}

words! {
    /// Powers of dt in the error of the base scheme.
    pub enum Powers (default Auto) {
        /// Even where it is known.
        Auto = "auto",
        /// Every one.
        Every = "every",
        /// Even ones.
        Even = "even",
    }
}

words! {
    /// What becomes of a smooth step whose error is too large.
    pub enum Inaccurate (default Reject) {
        /// It is made again with half the length.
        Reject = "reject",
        /// It is taken.
        Accept = "accept",
    }
}

words! {
    /// Restitution of a step that is longer than the smallest.
    pub enum StepRestitution (default Law) {
        /// That of the law.
        Law = "law",
        /// Raised to the power dt/dt_min [Studer2008, §8.2].
        Modified = "modified",
    }
}

words! {
    /// What the tolerance is for.
    pub enum Control (default Step) {
        /// Every step.
        Step = "step",
        /// A length of time, and the time of switches.
        Tolerance = "tolerance",
    }
}

/// Part of the tolerance of a step that Newton's method of its base may leave, and the least that is asked of it.
const NEWTON_PART: f64 = 1e-4;
const NEWTON_TIGHTEST: f64 = 1e-12;
/// Default of dt_min, as a share of dt_max.
const DT_MIN_SHARE: f64 = 1e-4;
/// Largest share that follows from a tolerance.
const MAX_DT_MIN_SHARE: f64 = 1e-2;
/// The smallest step exceeds this number of rounding errors of time.
const TIME_ROUNDINGS: f64 = 16.0;

/// A scheme that makes the steps, and the tolerance of its Newton's method.
pub(super) type Base = (Box<dyn Scheme>, f64);

impl AugmentedOptions {
    /// Refuses values that do not go together.
    pub(super) fn checked(self) -> Result<Self, SettingsError> {
        for (option, length) in [(&DT_MIN, self.dt_min), (&DT_MAX, self.dt_max)] {
            if let Some(v) = length.filter(|v| !(*v > 0.0)) {
                let expected = "a length > 0".into();
                return Err(SettingsError::Value { key: option.info.key, found: v.to_string(), expected });
            }
        }
        if !(self.atol > 0.0 || self.rtol > 0.0) {
            let expected = "a tolerance > 0, here or in `rtol`".into();
            return Err(SettingsError::Value { key: ATOL.info.key, found: "0".into(), expected });
        }
        let modified = self.restitution == StepRestitution::Modified;
        if modified && self.base != AUTO && !LADDER.contains(&self.base) {
            let expected = "\"law\": only moreau-midpoint and moreau-jean can change it".into();
            return Err(SettingsError::Value { key: RESTITUTION.info.key, found: "\"modified\"".into(), expected });
        }
        if let (Some(smallest), Some(largest)) = (self.dt_min, self.dt_max)
            && smallest > largest
        {
            return Err(too_large(smallest, largest));
        }
        Ok(self)
    }

    /// Schemes that make the steps: one, or those of `auto`, each with the tolerance of its Newton's method, 0 where it has none. What that leaves is an
    /// error that no order takes away: it follows the tolerance of the step, if nothing else is said.
    pub(super) fn bases(&self, settings: &Settings) -> Result<Vec<Base>, SettingsError> {
        let follows = (NEWTON_PART * self.atol.max(self.rtol)).clamp(NEWTON_TIGHTEST, NEWTON_TOL.default);
        self.bases_to(settings, follows, false)
    }

    /// The same to the default tolerance, whatever is said: for steps of the smallest length that the others do not solve.
    pub(super) fn loose_bases(&self, settings: &Settings) -> Result<Vec<Base>, SettingsError> {
        self.bases_to(settings, NEWTON_TOL.default, true)
    }

    fn bases_to(&self, settings: &Settings, tolerance: f64, always: bool) -> Result<Vec<Base>, SettingsError> {
        let names: &[&str] = if self.base == AUTO { &LADDER } else { &[self.base] };
        let base = |name: &&str| {
            let key = NEWTON_TOL.info.key;
            let info = SCHEMES.iter().find(|s| s.name == *name);
            let mut settings = settings.clone();
            let newton = match (info.and_then(|s| s.options.iter().find(|o| o.key == key)), settings.get(key)) {
                (None, _) => 0.0,
                (Some(_), Some(Setting::Number(given))) if !always => *given,
                (Some(_), Some(Setting::Number(given))) => given.max(tolerance),
                (Some(_), _) => tolerance,
            };
            if newton > 0.0 && (always || settings.get(key).is_none()) {
                settings = settings.number(key, newton);
            }
            Ok((make(name, &settings)?, newton))
        };
        names.iter().map(base).collect()
    }

    /// Smallest and largest step of a run.
    pub(super) fn lengths(&self, span: &Span) -> Result<Lengths, SettingsError> {
        let dt_max = self.dt_max.unwrap_or(span.step).min(span.end - span.start);
        let chosen = match self.control {
            Control::Step => DT_MIN_SHARE * dt_max,
            Control::Tolerance => self.atol.min(MAX_DT_MIN_SHARE) * dt_max,
        };
        let rounding = TIME_ROUNDINGS * f64::EPSILON * span.start.abs().max(span.end.abs());
        let dt_min = match self.dt_min {
            None => chosen.max(rounding).min(dt_max),
            Some(dt) if dt > self.dt_max.unwrap_or(span.step) => {
                return Err(too_large(dt, self.dt_max.unwrap_or(span.step)));
            }
            Some(dt) if dt < rounding => {
                let expected =
                    format!("at least {rounding:.1e} s: shorter steps drown in the rounding of t up to {}", span.end);
                return Err(SettingsError::Value { key: DT_MIN.info.key, found: dt.to_string(), expected });
            }
            Some(dt) => dt.min(dt_max),
        };
        Ok(Lengths { dt_min, dt_max })
    }
}

fn too_large(smallest: f64, largest: f64) -> SettingsError {
    let expected = format!("at most dt_max = {largest}");
    SettingsError::Value { key: DT_MIN.info.key, found: smallest.to_string(), expected }
}
