//! Declarations of options: each is stated once, with its key, what it takes, what it does, and the field that it fills.

use super::settings::{OptionInfo, OptionKind, Settings, SettingsError};

/// How the value of an option is read from settings, checked.
pub(super) type Read<T> = fn(&Settings, &OptionInfo) -> Result<T, SettingsError>;

/// An option whose value is a `T`, made of what is given, of which there is a default.
#[derive(Clone, Copy)]
pub(super) struct Declared<T, D = T> {
    /// What lists say of it.
    pub(super) info: OptionInfo,
    /// What is taken where nothing is given.
    pub(super) default: D,
    read: Read<T>,
}

impl<T, D: Copy> Declared<T, D> {
    /// The value in settings, checked, or that of the default.
    pub(super) fn read(&self, settings: &Settings) -> Result<T, SettingsError> {
        (self.read)(settings, &self.info)
    }

    /// The same option, with another value made of it.
    pub(super) const fn read_by<U>(self, read: Read<U>) -> Declared<U, D> {
        Declared { info: self.info, default: self.default, read }
    }

    /// What lists say of it.
    pub(super) const fn listed(self) -> OptionInfo {
        self.info
    }
}

const fn range(default: f64, [min, max]: [f64; 2], unit: &'static str) -> OptionKind {
    OptionKind::Number { default, min, max, unit }
}

/// A number in a range.
pub(super) const fn number(
    key: &'static str,
    default: f64,
    limits: [f64; 2],
    unit: &'static str,
    summary: &'static str,
) -> Declared<f64> {
    let info = OptionInfo { key, kind: range(default, limits, unit), summary };
    Declared { info, default, read: |s, option| s.get_number(option) }
}

/// A whole number in a range.
pub(super) const fn whole(
    key: &'static str,
    default: usize,
    limits: [f64; 2],
    summary: &'static str,
) -> Declared<usize> {
    let info = OptionInfo { key, kind: range(default as f64, limits, ""), summary };
    Declared { info, default, read: |s, option| checked_whole(option, s.get_number(option)?) }
}

/// A number in a range, or chosen by the scheme.
pub(super) const fn automatic(
    key: &'static str,
    [min, max]: [f64; 2],
    unit: &'static str,
    summary: &'static str,
) -> Declared<Option<f64>> {
    let info = OptionInfo { key, kind: OptionKind::Automatic { min, max, unit }, summary };
    Declared { info, default: None, read: |s, option| s.get_automatic(option) }
}

/// A whole number in a range, or chosen by the scheme.
pub(super) const fn automatic_whole(
    key: &'static str,
    [min, max]: [f64; 2],
    summary: &'static str,
) -> Declared<Option<usize>> {
    let info = OptionInfo { key, kind: OptionKind::Automatic { min, max, unit: "" }, summary };
    let read: Read<Option<usize>> = |s, option| s.get_automatic(option)?.map(|v| checked_whole(option, v)).transpose();
    Declared { info, default: None, read }
}

/// One of the words of an enum.
pub(super) const fn choice<T: Words>(key: &'static str, summary: &'static str) -> Declared<T> {
    let kind = OptionKind::Choice { default: T::DEFAULT_WORD, words: T::WORDS };
    let read: Read<T> = |s, option| Ok(T::of(s.get_word(option)?));
    Declared { info: OptionInfo { key, kind, summary }, default: T::DEFAULT, read }
}

/// One of some words.
pub(super) const fn word(
    key: &'static str,
    default: &'static str,
    words: &'static [&'static str],
    summary: &'static str,
) -> Declared<&'static str> {
    let info = OptionInfo { key, kind: OptionKind::Choice { default, words }, summary };
    Declared { info, default, read: |s, option| s.get_word(option) }
}

fn checked_whole(option: &OptionInfo, v: f64) -> Result<usize, SettingsError> {
    if v.fract() == 0.0 {
        return Ok(v as usize);
    }
    Err(SettingsError::Value { key: option.key, found: v.to_string(), expected: "a whole number".into() })
}

/// An enum whose variants are words.
pub(super) trait Words: Copy + 'static {
    /// All words, in the order of the variants.
    const WORDS: &'static [&'static str];
    /// The variant where nothing is given.
    const DEFAULT: Self;
    /// Its word.
    const DEFAULT_WORD: &'static str;

    /// The variant of a word; the default of any other.
    fn of(word: &str) -> Self;
}

/// An enum with the word of each variant, and which of them is the default.
macro_rules! words {
    (
        $(#[$doc:meta])*
        pub enum $name:ident (default $default:ident) { $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)+ }
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $name {
            $($(#[$variant_doc])* $variant,)+
        }

        impl $crate::scheme::option::Words for $name {
            const WORDS: &'static [&'static str] = &[$($word),+];
            const DEFAULT: Self = Self::$default;
            const DEFAULT_WORD: &'static str = match Self::DEFAULT {
                $(Self::$variant => $word,)+
            };

            fn of(word: &str) -> Self {
                match word {
                    $($word => Self::$variant,)+
                    _ => Self::DEFAULT,
                }
            }
        }
    };
}
pub(super) use words;

/// A struct of options: fields with their types and declarations, in the order of lists. With `: Default` it has the defaults of
/// the declarations.
macro_rules! options {
    (
        $(#[$attribute:meta])*
        pub struct $name:ident { $($(#[$doc:meta])* pub $field:ident: $type:ty = $option:expr,)+ }
    ) => {
        $(#[$attribute])*
        pub struct $name {
            $($(#[$doc])* pub $field: $type,)+
        }

        impl $name {
            /// The options, one for each field.
            pub(in crate::scheme) const ALL: &'static [$crate::scheme::OptionInfo] = &[$($crate::scheme::option::Declared::<$type, _>::listed($option)),+];

            /// From settings, each checked.
            pub(in crate::scheme) fn from_settings(
                settings: &$crate::scheme::Settings,
            ) -> Result<Self, $crate::scheme::SettingsError> {
                Ok(Self { $($field: $option.read(settings)?,)+ })
            }
        }
    };
    (
        $(#[$attribute:meta])*
        pub struct $name:ident: Default { $($(#[$doc:meta])* pub $field:ident: $type:ty = $option:expr,)+ }
    ) => {
        $crate::scheme::option::options! {
            $(#[$attribute])*
            pub struct $name { $($(#[$doc])* pub $field: $type = $option,)+ }
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $option.default,)+ }
            }
        }
    };
}
pub(super) use options;
