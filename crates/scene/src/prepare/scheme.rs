//! The scheme of a scene and its options.

use crate::file::format::{Scene, Setting};
use crate::file::{Document, Fault, Formula, Origin};
use crate::model::Numbers;
use nonsmooth::SimulationOptions;
use nonsmooth::names::hint_or_list;
use nonsmooth::scheme::stabilise::Stabilise;
use nonsmooth::scheme::{self, OptionKind, SchemeInfo, Settings, SettingsError};
use std::collections::BTreeMap;

/// The scheme that a scene names and its options; `stabilise` becomes an option of the run.
pub(super) fn scheme_settings(
    document: &Document,
    scene: &Scene,
    numbers: &mut Numbers,
    options: &mut SimulationOptions,
) -> Result<(&'static SchemeInfo, Settings), Fault> {
    let given = scene.scheme.clone().unwrap_or_default();
    let (name, origin) = given.name.clone().unwrap_or(("moreau-jean".into(), given.origin.clone()));
    let Some(info) = scheme::SCHEMES.iter().find(|s| s.name == name) else {
        let hint = hint_or_list(&name, scheme::SCHEMES.iter().map(|s| s.name));
        return Err(Fault::new(&origin, format!("unknown scheme `{name}`{hint}")));
    };
    let mut settings = Settings::new();
    // Which options there are may depend on a base.
    let chosen = given.options.iter().find_map(|(key, value, _)| match value {
        Setting::Word(w) if key == "base" => Some(w),
        _ => None,
    });
    let base = chosen.map_or_else(Settings::new, |w| Settings::new().word("base", w));
    let mut origins: BTreeMap<String, Origin> = BTreeMap::new();
    for (key, value, origin) in &given.options {
        origins.insert(key.clone(), origin.clone());
        if key == "stabilise" && !info.position_level {
            options.stabilise = match value {
                Setting::Word(w) if w == "none" => Stabilise::None,
                Setting::Word(w) if w == "projection" => Stabilise::Projection,
                _ => return Err(Fault::new(origin, "`stabilise` is \"none\" or \"projection\"")),
            };
            continue;
        }
        let wants_number = scheme::options(info, &base).any(|o| match (o.kind, value) {
            _ if o.key != key => false,
            (OptionKind::Number { .. }, _) => true,
            (OptionKind::Automatic { .. }, value) => *value != Setting::Word("auto".into()),
            (OptionKind::Choice { .. }, _) => false,
        });
        settings = match value {
            Setting::Number(v) => settings.number(key, *v),
            Setting::Word(w) if wants_number => {
                let formula = Formula { text: w.clone(), origin: origin.clone() };
                settings.number(key, numbers.evaluate(document, &formula)?)
            }
            Setting::Word(w) => settings.word(key, w),
        };
    }
    // Constructed once as a check; every run constructs its own.
    if let Err(e) = scheme::make(info.name, &settings) {
        let key = match &e {
            SettingsError::Unknown { key, .. } => key.clone(),
            SettingsError::Value { key, .. } | SettingsError::Useless { key, .. } => (*key).to_string(),
            SettingsError::Scheme { .. } => String::new(),
        };
        let origin = origins.get(&key).cloned().unwrap_or(given.origin);
        return Err(Fault::new(&origin, e.to_string()));
    }
    Ok((info, settings))
}
