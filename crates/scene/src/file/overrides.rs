//! `--set KEY=VALUE`: any key by its dotted path.
//!
//! The text is split at the first `=`. VALUE is read as TOML; what is not TOML is a string. A list of named parts
//! (`[[contact]]`) is entered by the name of the part, or by its number from 0: `contact.ground.friction=0.3`.

use super::tree::{Document, Entry, Fault, Node, Origin, SceneError, Value, convert};
use crate::names::nearest;
use toml::de::DeValue;

impl Document {
    /// Applies one override.
    pub fn set(&mut self, text: &str) -> Result<(), SceneError> {
        let origin = Origin::Override(self.overrides.len());
        self.overrides.push(text.into());
        let result = apply(&mut self.root, text, &origin);
        result.map_err(|f| self.explain(&f))
    }

    /// Removes a key if it is there: `["scheme", "theta"]`.
    pub fn remove(&mut self, path: &[&str]) {
        let mut node = &mut self.root;
        for (i, key) in path.iter().enumerate() {
            let Value::Table(entries) = &mut node.value else { return };
            if i + 1 == path.len() {
                entries.retain(|e| e.key != *key);
                return;
            }
            let Some(entry) = entries.iter_mut().find(|e| e.key == *key) else { return };
            node = &mut entry.node;
        }
    }

    /// The value at a path, if there is one.
    pub fn get(&self, path: &[&str]) -> Option<&Node> {
        let mut node = &self.root;
        for key in path {
            let Value::Table(entries) = &node.value else { return None };
            node = &entries.iter().find(|e| e.key == *key)?.node;
        }
        Some(node)
    }
}

fn apply(root: &mut Node, text: &str, origin: &Origin) -> Result<(), Fault> {
    let Some((path, value)) = text.split_once('=') else {
        return Err(Fault::new(origin, "an override is KEY=VALUE"));
    };
    let path = path.trim();
    let keys: Vec<&str> = path.split('.').map(str::trim).collect();
    if keys.iter().any(|k| k.is_empty()) {
        return Err(Fault::new(origin, format!("`{path}` is not a key")));
    }
    let value = parse(value.trim(), origin);
    let mut node = root;
    for (i, key) in keys.iter().enumerate() {
        let last = i + 1 == keys.len();
        let here = if i == 0 { "the scene".to_string() } else { format!("`{}`", keys[..i].join(".")) };
        node = match &mut node.value {
            Value::Table(entries) => {
                let at = entries.iter().position(|e| e.key == *key).unwrap_or_else(|| {
                    let table = Node { value: Value::Table(Vec::new()), origin: origin.clone() };
                    entries.push(Entry { key: (*key).into(), origin: origin.clone(), node: table });
                    entries.len() - 1
                });
                &mut entries[at].node
            }
            Value::Array(items) => {
                let names: Vec<String> = items.iter().filter_map(name_of).collect();
                let count = items.len();
                let at = items.iter().position(|n| name_of(n).as_deref() == Some(*key)).or_else(|| key.parse().ok());
                match at.filter(|&at| at < count) {
                    Some(at) => &mut items[at],
                    None => {
                        let hint = match nearest(key, names.iter().map(String::as_str)) {
                            Some(n) => format!(": did you mean `{n}`?"),
                            None if names.is_empty() => format!(" ({count} items, numbered from 0)"),
                            None => format!(" (there are {})", names.join(", ")),
                        };
                        return Err(Fault::new(origin, format!("{here} has no `{key}`{hint}")));
                    }
                }
            }
            other => {
                let message = format!("{here} is {}, it has no key `{key}`", other.kind());
                return Err(Fault::new(origin, message));
            }
        };
        if last {
            node.value = value;
            node.origin = origin.clone();
            return Ok(());
        }
    }
    Ok(())
}

/// The name of a part in a list.
fn name_of(node: &Node) -> Option<String> {
    let Value::Table(entries) = &node.value else { return None };
    entries.iter().find(|e| e.key == "name").and_then(|e| match &e.node.value {
        Value::String(s) => Some(s.clone()),
        _ => None,
    })
}

fn parse(text: &str, origin: &Origin) -> Value {
    let as_string = || Value::String(text.into());
    // TOML would take `1 2` as 1: the whole text must be the value.
    let Ok(value) = DeValue::parse(text) else { return as_string() };
    if value.span() != (0..text.len()) {
        return as_string();
    }
    fn plant(node: &mut Node, origin: &Origin) {
        node.origin = origin.clone();
        match &mut node.value {
            Value::Array(items) => items.iter_mut().for_each(|n| plant(n, origin)),
            Value::Table(entries) => {
                for e in entries {
                    e.origin = origin.clone();
                    plant(&mut e.node, origin);
                }
            }
            _ => {}
        }
    }
    match convert(value.get_ref(), origin.clone()) {
        Ok(mut node) => {
            plant(&mut node, origin);
            node.value
        }
        Err(_) => as_string(),
    }
}
