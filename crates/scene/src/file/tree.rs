//! TOML as a tree in which every key and value knows its origin.

use std::ops::Range;
use toml::de::{DeTable, DeValue};

/// Longest scene file, bytes.
const MAX_FILE: usize = 16 * 1024 * 1024;

/// Where something was written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Origin {
    /// Bytes of the file.
    Text(Range<usize>),
    /// An override, by its number.
    Override(usize),
    /// Nowhere: it is missing, or the scene as a whole is meant.
    #[default]
    Scene,
}

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Text.
    String(String),
    /// A whole number.
    Integer(i64),
    /// A number.
    Float(f64),
    /// True or false.
    Boolean(bool),
    /// A list.
    Array(Vec<Node>),
    /// Keys and values, in the order of the file.
    Table(Vec<Entry>),
}

impl Value {
    /// What it is, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::String(_) => "a string",
            Value::Integer(_) => "a whole number",
            Value::Float(_) => "a number",
            Value::Boolean(_) => "true or false",
            Value::Array(_) => "a list",
            Value::Table(_) => "a table",
        }
    }
}

/// A value and where it was written.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// The value.
    pub value: Value,
    /// Where it was written.
    pub origin: Origin,
}

/// A key and its value.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// Where the key was written.
    pub origin: Origin,
    /// The value.
    pub node: Node,
}

/// An error in a scene, with its origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// What is wrong.
    pub message: String,
    /// Origin of the value concerned.
    pub origin: Origin,
}

impl Fault {
    pub(crate) fn new(origin: &Origin, message: impl Into<String>) -> Self {
        Self { message: message.into(), origin: origin.clone() }
    }
}

/// An error in a scene, as a user sees it: `file:line:column: message`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{message}", .place.as_ref().map(|p| format!("{p}: ")).unwrap_or_default())]
pub struct SceneError {
    /// What is wrong.
    pub message: String,
    /// File, line and column, or the override.
    pub place: Option<String>,
    /// Line and column, from 1.
    pub position: Option<(usize, usize)>,
    /// The line itself and the column, for showing.
    pub line: Option<String>,
}

/// A change of a scene that is not in its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Override {
    /// `key=value`.
    pub text: String,
    /// What the user typed.
    pub typed: String,
}

/// A scene file as read, with its overrides.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// Name of the file, or of the bundled example.
    pub name: String,
    /// Its text.
    pub text: String,
    /// Overrides in order.
    pub overrides: Vec<Override>,
    /// The tree, overrides applied.
    pub root: Node,
}

impl Document {
    /// Reads the text of a scene.
    pub fn parse(name: &str, text: &str) -> Result<Self, SceneError> {
        let mut this = Self {
            name: name.into(),
            text: text.into(),
            overrides: Vec::new(),
            root: Node { value: Value::Table(Vec::new()), origin: Origin::Scene },
        };
        if text.len() > MAX_FILE {
            let message = format!("the file has {} bytes, at most {MAX_FILE} are possible", text.len());
            return Err(this.explain(&Fault::new(&Origin::Scene, message)));
        }
        match DeTable::parse(text) {
            Ok(table) => {
                this.root = convert_table(table.get_ref(), Origin::Scene).map_err(|f| this.explain(&f))?;
                Ok(this)
            }
            Err(e) => {
                let origin = e.span().map_or(Origin::Scene, Origin::Text);
                Err(this.explain(&Fault::new(&origin, e.message().trim().replace('\n', ", "))))
            }
        }
    }

    /// A fault with its place.
    pub fn explain(&self, fault: &Fault) -> SceneError {
        match &fault.origin {
            Origin::Text(range) => {
                let start = range.start.min(self.text.len());
                let before = &self.text.as_bytes()[..start];
                let line = before.iter().filter(|b| **b == b'\n').count() + 1;
                let from = before.iter().rposition(|b| *b == b'\n').map_or(0, |i| i + 1);
                let column = String::from_utf8_lossy(&before[from..]).chars().count() + 1;
                let shown = self.text.get(from..).and_then(|rest| rest.lines().next()).map(str::to_string);
                SceneError {
                    message: fault.message.clone(),
                    place: Some(format!("{}:{line}:{column}", self.name)),
                    position: Some((line, column)),
                    line: shown,
                }
            }
            Origin::Override(i) => SceneError {
                message: fault.message.clone(),
                place: self.overrides.get(*i).map(|o| o.typed.clone()),
                position: None,
                line: None,
            },
            Origin::Scene => SceneError {
                message: fault.message.clone(),
                place: Some(self.name.clone()),
                position: None,
                line: None,
            },
        }
    }

    /// The origin of a place inside a string: `at` bytes after its beginning.
    pub fn inside(&self, origin: &Origin, text: &str, at: usize) -> Origin {
        let Origin::Text(range) = origin else { return origin.clone() };
        let raw = self.text.get(range.clone()).unwrap_or("");
        // Escapes change lengths; then the string as a whole is shown.
        match raw.find(text) {
            Some(begin) => {
                let start = range.start + begin + at.min(text.len());
                Origin::Text(start..range.end.max(start))
            }
            None => origin.clone(),
        }
    }
}

fn convert_table(table: &DeTable, origin: Origin) -> Result<Node, Fault> {
    let mut entries = Vec::new();
    for (key, value) in table {
        entries.push(Entry {
            key: key.get_ref().to_string(),
            origin: Origin::Text(key.span()),
            node: convert(value.get_ref(), Origin::Text(value.span()))?,
        });
    }
    let start = |e: &Entry| match &e.origin {
        Origin::Text(r) => r.start,
        _ => 0,
    };
    entries.sort_by_key(start);
    Ok(Node { value: Value::Table(entries), origin })
}

/// A parsed TOML value as a node.
pub(super) fn convert(value: &DeValue, origin: Origin) -> Result<Node, Fault> {
    let value = match value {
        DeValue::String(s) => Value::String(s.to_string()),
        DeValue::Integer(i) => match i64::from_str_radix(i.as_str(), i.radix()) {
            Ok(v) => Value::Integer(v),
            Err(_) => return Err(Fault::new(&origin, format!("the whole number {} is too large", i.as_str()))),
        },
        DeValue::Float(f) => match f.as_str().parse::<f64>() {
            Ok(v) if v.is_finite() => Value::Float(v),
            _ => {
                let message = format!("{0} is not a finite number (in a `range`, write \"{0}\" in quotes)", f.as_str());
                return Err(Fault::new(&origin, message));
            }
        },
        DeValue::Boolean(b) => Value::Boolean(*b),
        DeValue::Datetime(d) => {
            return Err(Fault::new(&origin, format!("a date ({d}) has no meaning in a scene: put strings in quotes")));
        }
        DeValue::Array(items) => {
            let list: Result<Vec<Node>, Fault> =
                items.iter().map(|v| convert(v.get_ref(), Origin::Text(v.span()))).collect();
            Value::Array(list?)
        }
        DeValue::Table(t) => return convert_table(t, origin),
    };
    Ok(Node { value, origin })
}
