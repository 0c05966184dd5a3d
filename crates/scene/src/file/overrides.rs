//! `--set KEY=VALUE`: any key by its dotted path.
//!
//! The text is split at the first `=`. VALUE is read as TOML; what is not TOML is a string. A list of named parts
//! (`[[contact]]`) is entered by the name of the part, or by its number from 0: `contact.ground.friction=0.3`; the start values
//! by the names of coordinates and velocities: `initial.q.x=1`.

use super::tree::{Document, Entry, Fault, Node, Origin, Override, SceneError, Value, convert};
use nonsmooth::names::{hint, hint_or_list};
use toml::de::DeValue;

impl Document {
    /// Applies one override, `key=value`.
    pub fn set(&mut self, text: &str) -> Result<(), SceneError> {
        self.set_as(text, &format!("--set {text}"))
    }

    /// Applies an override that was typed in another form.
    pub fn set_as(&mut self, text: &str, typed: &str) -> Result<(), SceneError> {
        let origin = Origin::Override(self.overrides.len());
        self.overrides.push(Override { text: text.into(), typed: typed.into() });
        let names = Names {
            coordinates: self.strings(&["model", "coordinates"]),
            velocities: self.strings(&["model", "velocities"]),
        };
        let result = apply(&mut self.root, text, &origin, &names);
        result.map_err(|f| self.explain(&f))
    }

    /// The strings of a list.
    fn strings(&self, path: &[&str]) -> Vec<String> {
        let Some(Value::Array(items)) = self.get(path).map(|n| &n.value) else { return Vec::new() };
        let text = |n: &Node| match &n.value {
            Value::String(s) => s.clone(),
            _ => String::new(),
        };
        items.iter().map(text).collect()
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

/// Names by which the entries of `initial.q` and `initial.u` go.
struct Names {
    coordinates: Vec<String>,
    velocities: Vec<String>,
}

impl Names {
    /// The names of the entries of the list at a path.
    fn list(&self, path: &[&str]) -> &[String] {
        match path {
            ["initial", "q"] => &self.coordinates,
            ["initial", "u"] if self.velocities.is_empty() => &self.coordinates,
            ["initial", "u"] => &self.velocities,
            _ => &[],
        }
    }
}

/// Tables with free keys: an override may change a key, but not add one.
const FREE_KEY_TABLES: [&str; 3] = ["parameters", "define", "kinematics"];

fn apply(root: &mut Node, text: &str, origin: &Origin, names: &Names) -> Result<(), Fault> {
    let Some((path, value)) = text.split_once('=') else {
        return Err(Fault::new(origin, "an override is KEY=VALUE"));
    };
    let path = path.trim();
    let keys: Vec<&str> = path.split('.').map(str::trim).collect();
    if keys.iter().any(|k| k.is_empty()) {
        return Err(Fault::new(origin, format!("`{path}` is not a key")));
    }
    let value = parse(value.trim(), origin)?;
    let mut node = root;
    for (i, key) in keys.iter().enumerate() {
        let last = i + 1 == keys.len();
        let here = if i == 0 { "the scene".to_string() } else { format!("`{}`", keys[..i].join(".")) };
        node = match &mut node.value {
            Value::Table(entries) => {
                if i == 1 && FREE_KEY_TABLES.contains(&keys[0]) && !entries.iter().any(|e| e.key == *key) {
                    let hint = hint(key, entries.iter().map(|e| e.key.as_str()), String::new);
                    return Err(Fault::new(origin, format!("the scene has no `{}.{key}`{hint}", keys[0])));
                }
                let at = entries.iter().position(|e| e.key == *key).unwrap_or_else(|| {
                    let table = Node { value: Value::Table(Vec::new()), origin: origin.clone() };
                    entries.push(Entry { key: (*key).into(), origin: origin.clone(), node: table });
                    entries.len() - 1
                });
                &mut entries[at].node
            }
            Value::Array(items) => {
                let own: Vec<String> = names.list(&keys[..i]).to_vec();
                let named = items.iter().position(|n| name_of(n).as_deref() == Some(*key));
                let at = named.or_else(|| own.iter().position(|n| n == key)).or_else(|| key.parse().ok());
                let names: Vec<String> = items.iter().filter_map(name_of).chain(own).collect();
                let count = items.len();
                match at.filter(|&at| at < count) {
                    Some(at) => &mut items[at],
                    None => {
                        let hint = match names.is_empty() {
                            true => format!(" (its length is {count}, numbers begin with 0)"),
                            false => hint_or_list(key, names.iter().map(String::as_str)),
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

fn parse(text: &str, origin: &Origin) -> Result<Value, Fault> {
    let as_string = || Ok(Value::String(text.into()));
    // TOML would take `1 2` as 1: the whole text must be the value.
    let value = match DeValue::parse(text) {
        Ok(value) if value.span() == (0..text.len()) => value,
        // No formula begins with a bracket or a brace.
        Err(e) if text.starts_with(['[', '{']) => {
            let message =
                format!("`{text}` is not TOML: {} (formulas in lists and tables stand in quotes)", e.message().trim());
            return Err(Fault::new(origin, message.replace('\n', ", ")));
        }
        _ => return as_string(),
    };
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
            Ok(node.value)
        }
        Err(_) => as_string(),
    }
}
