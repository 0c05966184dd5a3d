//! Where parts were written: for errors that name them.

use crate::file::{Fault, Origin};
use nonsmooth_multibody::BuildError;
use std::collections::BTreeMap;

/// An error of the builder at the record that it names.
pub fn blame(error: &BuildError, places: &BTreeMap<String, Origin>) -> Fault {
    let message = error.to_string();
    let used = match error {
        BuildError::Unknown { part, name, .. } => places.get(&use_of(part, name)),
        _ => None,
    };
    let words = message.split('`').skip(1).step_by(2);
    let origin = used.or_else(|| words.into_iter().find_map(|name| record(name, places)));
    Fault::new(&origin.cloned().unwrap_or_default(), message)
}

/// The record of a body, which may be one of many.
fn record<'a>(name: &str, places: &'a BTreeMap<String, Origin>) -> Option<&'a Origin> {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    places.get(name).or_else(|| places.get(stem.strip_suffix('_').unwrap_or(stem)))
}

/// The record of a body of a contact that was found; it goes by the names of both.
pub fn place_of_found(contact: &str, places: &BTreeMap<String, Origin>) -> Option<Origin> {
    let (a, b) = contact.split_once('-')?;
    record(b, places).or_else(|| record(a, places)).cloned()
}

/// Where a part names another. It has a blank, which no name has.
pub(super) fn use_of(part: &str, name: &str) -> String {
    format!("{part} {name}")
}
