//! What a run records besides the motion: the key `[output] watch`.

use super::decode::{Decode, expected};
use super::tree::{Fault, Node, Value};
use nonsmooth::names::nearest;
use nonsmooth::simulation::Observe;
use serde_json::{Value as Json, json};

/// What a run records besides the motion, as a list of names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WatchList(pub Observe);

/// The names that a list may hold.
const WATCHABLE: [&str; 4] = ["events", "certificate", "energy", "percussions"];
/// Names for everything and nothing; each must be the only one in its list.
const EXCLUSIVE: [(&str, Observe); 2] = [("all", Observe::ALL), ("none", Observe::NONE)];

impl WatchList {
    /// Names of what is watched, and of what is not.
    pub fn names(self) -> (Vec<&'static str>, Vec<&'static str>) {
        let Observe { events, certificate, energy, percussions } = self.0;
        let parts = WATCHABLE.into_iter().zip([events, certificate, energy, percussions]);
        let (watched, others): (Vec<_>, Vec<_>) = parts.partition(|(_, on)| *on);
        let names = |list: Vec<(&'static str, bool)>| list.into_iter().map(|(name, _)| name).collect();
        (names(watched), names(others))
    }
}

impl Decode for WatchList {
    fn decode(node: &Node) -> Result<Self, Fault> {
        let Value::Array(items) = &node.value else {
            return Err(expected(node, &format!("a list of {}, or [\"all\"] or [\"none\"]", WATCHABLE.join(", "))));
        };
        let mut observe = Observe::NONE;
        for item in items {
            let word = String::decode(item)?;
            if let Some((name, whole)) = EXCLUSIVE.iter().find(|(name, _)| *name == word) {
                if items.len() > 1 {
                    let message = format!("`{name}` stands alone: there are other words beside it in `watch`");
                    return Err(Fault::new(&item.origin, message));
                }
                observe = *whole;
                continue;
            }
            match word.as_str() {
                "events" => observe.events = true,
                "certificate" => observe.certificate = true,
                "energy" => observe.energy = true,
                "percussions" => observe.percussions = true,
                _ => {
                    let words = || WATCHABLE.into_iter().chain(EXCLUSIVE.iter().map(|(name, _)| *name));
                    let hint = match nearest(&word, words()) {
                        Some(n) => format!(": did you mean `{n}`?"),
                        None => format!(" (there are {})", words().collect::<Vec<_>>().join(", ")),
                    };
                    let message = format!("`{}` cannot be watched{hint}", word.escape_debug());
                    return Err(Fault::new(&item.origin, message));
                }
            }
        }
        Ok(Self(observe))
    }

    fn schema() -> Json {
        let whole: Vec<[&str; 1]> = EXCLUSIVE.iter().map(|(name, _)| [*name]).collect();
        json!({ "anyOf": [{ "type": "array", "items": { "enum": WATCHABLE } }, { "enum": whole }] })
    }
}
