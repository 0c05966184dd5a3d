//! Options of schemes by name, with their types, defaults and ranges: one table for command line,
//! scene files, lists and docs.

use super::SchemeInfo;
use crate::names::{did_you_mean, nearest};
use std::collections::BTreeMap;

/// The value of an option.
#[derive(Debug, Clone, PartialEq)]
pub enum Setting {
    /// A number.
    Number(f64),
    /// A word.
    Word(String),
}

/// What an option takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum OptionKind {
    /// A number in [min, max].
    Number {
        /// Default.
        default: f64,
        /// Smallest.
        min: f64,
        /// Largest.
        max: f64,
        /// Unit, empty if none.
        unit: &'static str,
    },
    /// A number in [min, max], or chosen by the scheme.
    Automatic {
        /// Smallest.
        min: f64,
        /// Largest.
        max: f64,
        /// Unit, empty if none.
        unit: &'static str,
    },
    /// One of some words.
    Choice {
        /// Default.
        default: &'static str,
        /// All words.
        words: &'static [&'static str],
    },
}

/// An option of a scheme.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OptionInfo {
    /// Its key, without the prefix `scheme.`.
    pub key: &'static str,
    /// What it takes.
    pub kind: OptionKind,
    /// What it does, one line.
    pub summary: &'static str,
}

/// Options given by the user.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Settings(BTreeMap<String, Setting>);

/// An option that cannot be taken.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SettingsError {
    /// No such scheme.
    #[error("unknown scheme `{name}`{}", did_you_mean(.nearest))]
    Scheme {
        /// What was given.
        name: String,
        /// The nearest name, empty if none is near.
        nearest: String,
    },
    /// No such option.
    #[error("scheme `{scheme}` has no option `{key}`{}", did_you_mean(.nearest))]
    Unknown {
        /// The scheme.
        scheme: &'static str,
        /// The key.
        key: String,
        /// The nearest key, empty if none is near.
        nearest: String,
    },
    /// A value of the wrong type or outside its range.
    #[error("scheme option `{key}` = {found}: expected {expected}")]
    Value {
        /// The key.
        key: &'static str,
        /// What was given.
        found: String,
        /// What is possible.
        expected: String,
    },
    /// An option that has no effect beside another.
    #[error("scheme option `{key}` has no effect with `{other}` = \"{word}\": leave one of them out")]
    Useless {
        /// The key without effect.
        key: &'static str,
        /// The option that takes it away.
        other: &'static str,
        /// Its value.
        word: &'static str,
    },
}

impl Settings {
    /// No options: all defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets a number.
    pub fn number(mut self, key: &str, value: f64) -> Self {
        self.0.insert(key.into(), Setting::Number(value));
        self
    }

    /// Sets a word.
    pub fn word(mut self, key: &str, value: &str) -> Self {
        self.0.insert(key.into(), Setting::Word(value.into()));
        self
    }

    /// An option as given.
    pub fn get(&self, key: &str) -> Option<&Setting> {
        self.0.get(key)
    }

    /// Refuses keys that are none of these options.
    pub(super) fn check_keys(
        &self,
        info: &SchemeInfo,
        options: impl Iterator<Item = &'static OptionInfo>,
    ) -> Result<(), SettingsError> {
        let known: Vec<&str> = options.map(|o| o.key).collect();
        match self.0.keys().find(|k| !known.contains(&k.as_str())) {
            None => Ok(()),
            Some(key) => Err(SettingsError::Unknown {
                scheme: info.name,
                key: key.clone(),
                nearest: nearest(key, known.iter().copied()).unwrap_or_default().into(),
            }),
        }
    }

    /// The settings that are none of these options.
    pub(super) fn without(&self, options: &[OptionInfo]) -> Settings {
        let others = self.0.iter().filter(|(k, _)| !options.iter().any(|o| o.key == *k));
        Settings(others.map(|(k, v)| (k.clone(), v.clone())).collect())
    }

    /// The number of an option, checked, or its default.
    pub(super) fn get_number(&self, option: &OptionInfo) -> Result<f64, SettingsError> {
        let OptionKind::Number { default, min, max, .. } = option.kind else { return Ok(f64::NAN) };
        let expected = || format!("a number in [{min}, {max}]");
        match self.0.get(option.key) {
            None => Ok(default),
            Some(Setting::Number(v)) if *v >= min && *v <= max => Ok(*v),
            Some(Setting::Number(v)) => {
                Err(SettingsError::Value { key: option.key, found: v.to_string(), expected: expected() })
            }
            Some(Setting::Word(w)) => {
                Err(SettingsError::Value { key: option.key, found: format!("{w:?}"), expected: expected() })
            }
        }
    }

    /// The number of an option that the scheme may choose, checked; `None` if it does.
    pub(super) fn get_automatic(&self, option: &OptionInfo) -> Result<Option<f64>, SettingsError> {
        let OptionKind::Automatic { min, max, .. } = option.kind else { return Ok(None) };
        let found = match self.0.get(option.key) {
            None => return Ok(None),
            Some(Setting::Word(w)) if w == "auto" => return Ok(None),
            Some(Setting::Number(v)) if *v >= min && *v <= max => return Ok(Some(*v)),
            Some(Setting::Number(v)) => v.to_string(),
            Some(Setting::Word(w)) => format!("{w:?}"),
        };
        Err(SettingsError::Value {
            key: option.key,
            found,
            expected: format!("\"auto\" or a number in [{min}, {max}]"),
        })
    }

    /// The word of an option, checked, or its default.
    pub(super) fn get_word(&self, option: &OptionInfo) -> Result<&'static str, SettingsError> {
        let OptionKind::Choice { default, words } = option.kind else { return Ok("") };
        let found = match self.0.get(option.key) {
            None => return Ok(default),
            Some(Setting::Word(w)) => match words.iter().find(|x| *x == w) {
                Some(x) => return Ok(x),
                None => format!("{w:?}"),
            },
            Some(Setting::Number(v)) => v.to_string(),
        };
        Err(SettingsError::Value { key: option.key, found, expected: format!("one of {}", words.join(", ")) })
    }
}
