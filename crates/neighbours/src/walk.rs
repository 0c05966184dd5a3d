//! A walk: a scene with changes, and the question that is asked of it.

use crate::catalogue::Entry;
use nonsmooth_scene::file::{Document, Entry as Key, Node, Origin, SceneError, Value};
use nonsmooth_scene::prepare::{Prepared, Request};

/// What is asked of a walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Question {
    /// Does the run keep the invariants of a single run?
    Alone,
    /// Does it agree with the same scene in other units?
    Units,
    /// In a frame that is turned?
    Turned,
    /// With another origin?
    Shifted,
    /// With every contact stated twice?
    Doubled,
    /// In other coordinates?
    Coordinates,
    /// Does it agree with other schemes?
    Agreement,
}

impl Question {
    /// All of them.
    pub const ALL: [Question; 7] = [
        Question::Alone,
        Question::Units,
        Question::Turned,
        Question::Shifted,
        Question::Doubled,
        Question::Coordinates,
        Question::Agreement,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Question::Alone => "alone",
            Question::Units => "units",
            Question::Turned => "turned",
            Question::Shifted => "shifted",
            Question::Doubled => "doubled",
            Question::Coordinates => "coordinates",
            Question::Agreement => "agreement",
        }
    }
}

/// One change of a scene.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// `key=value`.
    Set(String, String),
    /// A number by its key, and the value of the scene as it is.
    Number {
        /// Its dotted path.
        key: String,
        /// The new value.
        value: f64,
        /// The old value.
        base: f64,
    },
    /// A parameter times a factor.
    Factor(String, f64),
    /// Every contact with a gap stated twice.
    Double,
    /// A named part left out: its table and its place.
    Drop(&'static str, usize),
}

/// A scene with changes.
#[derive(Debug, Clone, PartialEq)]
pub struct Walk {
    /// Seed and number, for reports.
    pub label: String,
    /// What is asked.
    pub question: Question,
    /// The scene.
    pub entry: &'static str,
    /// The scheme.
    pub scheme: String,
    /// Its options.
    pub options: Vec<(String, String)>,
    /// Changes of the scene.
    pub changes: Vec<Change>,
    /// Parameters of the other scene of a twin, `key=value`.
    pub other: Vec<(String, f64)>,
    /// Step, s in the scene's own second.
    pub step: f64,
    /// Number of steps.
    pub steps: usize,
}

/// A number as TOML.
pub fn toml_number(v: f64) -> String {
    format!("{v:?}")
}

impl Walk {
    /// Its scene.
    pub fn entry(&self) -> &'static Entry {
        crate::catalogue::find(self.entry).unwrap_or(&crate::catalogue::SCENES[0])
    }

    /// The same with another step, to the same end.
    pub fn refined(&self, factor: usize) -> Self {
        Self { step: self.step / factor as f64, steps: self.steps * factor, ..self.clone() }
    }

    /// The same with another scheme without options.
    pub fn with_scheme(&self, scheme: &str) -> Self {
        Self { scheme: scheme.into(), options: Vec::new(), ..self.clone() }
    }

    /// The scene with all changes.
    pub fn document(&self) -> Result<Document, SceneError> {
        let mut d = self.entry().document()?;
        // Stated stabilisation and options belong to the scene's own scheme.
        d.remove(&["scheme"]);
        d.set(&format!("scheme.name={:?}", self.scheme))?;
        for change in &self.changes {
            match change {
                Change::Set(key, value) => d.set(&format!("{key}={value}"))?,
                Change::Number { key, value, .. } => d.set(&format!("{key}={}", toml_number(*value)))?,
                Change::Factor(name, factor) => {
                    let old = d.get(&["parameters", name]).map(|n| text_of(&n.value)).unwrap_or_default();
                    d.set(&format!("parameters.{name}=\"({old})*{}\"", toml_number(*factor)))?;
                }
                Change::Double => double_contacts(&mut d),
                Change::Drop(table, i) => drop_part(&mut d, table, *i),
            }
        }
        let second = if d.get(&["parameters", "second"]).is_some() { "*second" } else { "" };
        let own_units = !second.is_empty();
        d.set(&format!("time.step=\"{}{second}\"", toml_number(self.step)))?;
        d.set(&format!("time.end=\"{}*{}{second}\"", self.steps, toml_number(self.step)))?;
        for (key, value) in &self.options {
            d.set(&format!("scheme.{key}={value}"))?;
        }
        if own_units {
            set_lengths_of_options(&mut d, &self.scheme, &self.options)?;
        }
        Ok(d)
    }

    /// The scene of the twin.
    pub fn twin_document(&self) -> Result<Document, SceneError> {
        let mut d = match self.question {
            Question::Coordinates => Self { entry: "particle_cartesian", ..self.clone() }.document()?,
            _ => self.document()?,
        };
        for (name, value) in &self.other {
            d.set(&format!("parameters.{name}={}", toml_number(*value)))?;
        }
        if self.question == Question::Doubled {
            double_contacts(&mut d);
        }
        Ok(d)
    }

    /// A document, ready to run.
    pub fn prepare(d: Document) -> Result<Prepared, SceneError> {
        Prepared::new(d, &Request::default())
    }
}

/// Options with a unit get it, so that a scene in other units is the same scene.
fn set_lengths_of_options(d: &mut Document, scheme: &str, given: &[(String, String)]) -> Result<(), SceneError> {
    let by_scheme: &[(&str, &str, &str)] = &[
        ("trapezoidal-lcp", "eps_a", "1e-10*metre"),
        ("trapezoidal-lcp", "min_step", "1e-9*second"),
        ("projected-direct", "violation_tol", "1e-10*metre"),
        ("projected-combined", "violation_tol", "1e-10*metre"),
        ("augmented", "atol", "1e-8*metre/second"),
    ];
    for (of, key, value) in by_scheme {
        if *of == scheme && !given.iter().any(|(k, _)| k == key) {
            d.set(&format!("scheme.{key}={value:?}"))?;
        }
    }
    d.set("initial.tolerance=\"1e-5*metre\"")
}

/// A number or formula as text.
fn text_of(value: &Value) -> String {
    match value {
        Value::String(s) => s.clone(),
        Value::Integer(i) => i.to_string(),
        Value::Float(v) => toml_number(*v),
        _ => String::new(),
    }
}

/// The value of a key in a table.
pub fn member<'a>(node: &'a Node, key: &str) -> Option<&'a Node> {
    let Value::Table(entries) = &node.value else { return None };
    entries.iter().find(|e| e.key == key).map(|e| &e.node)
}

fn top<'a>(d: &'a mut Document, table: &str) -> Option<&'a mut Vec<Node>> {
    let Value::Table(entries) = &mut d.root.value else { return None };
    match entries.iter_mut().find(|e| e.key == table).map(|e| &mut e.node.value) {
        Some(Value::Array(items)) => Some(items),
        _ => None,
    }
}

/// Number of parts of a table.
pub fn parts(d: &Document, table: &str) -> usize {
    match d.get(&[table]).map(|n| &n.value) {
        Some(Value::Array(items)) => items.len(),
        _ => 0,
    }
}

/// States every contact with a gap twice, the second time as `NAME_again`.
fn double_contacts(d: &mut Document) {
    let Some(contacts) = top(d, "contact") else { return };
    let mut again: Vec<Node> = contacts.iter().filter(|c| member(c, "gap").is_some()).cloned().collect();
    for contact in &mut again {
        let Value::Table(entries) = &mut contact.value else { continue };
        for Key { key, node, .. } in entries {
            if key == "name" {
                node.value = Value::String(text_of(&node.value) + "_again");
            }
        }
    }
    contacts.extend(again);
}

fn drop_part(d: &mut Document, table: &str, i: usize) {
    let Some(items) = top(d, table) else { return };
    if i < items.len() {
        items.remove(i);
    }
    if items.is_empty() {
        d.remove(&[table]);
    }
}

/// Whether a parameter is there.
pub fn has_parameter(d: &Document, name: &str) -> bool {
    d.get(&["parameters", name]).is_some()
}

/// A parameter that is stated as a number.
pub fn number(d: &Document, name: &str) -> Option<f64> {
    match &d.get(&["parameters", name])?.value {
        Value::Integer(i) => Some(*i as f64),
        Value::Float(v) => Some(*v),
        _ => None,
    }
}

/// A step or an end that is stated as a number, or as a number of seconds of the scene.
pub fn seconds(d: &Document, key: &str) -> Option<f64> {
    match &d.get(&["time", key])?.value {
        Value::Integer(i) => Some(*i as f64),
        Value::Float(v) => Some(*v),
        Value::String(s) => s.strip_suffix("*second")?.parse().ok(),
        _ => None,
    }
}

/// An origin for what no file states.
pub fn nowhere() -> Origin {
    Origin::Scene
}
