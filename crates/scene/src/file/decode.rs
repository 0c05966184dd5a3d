//! Decodes nodes into typed values. A format is declared once, with [`record!`](crate::record), which generates the struct, its reader
//! (unknown keys are refused with the nearest known one) and its part of the JSON schema.

use super::tree::{Entry, Fault, Node, Origin, Value};
use nonsmooth::names::{hint_or_list, is_name};
use serde_json::{Value as Json, json};

/// Read from a node.
pub trait Decode: Sized {
    /// Reads a node.
    fn decode(node: &Node) -> Result<Self, Fault>;

    /// The value of a missing key, if the key is optional.
    fn missing() -> Option<Self> {
        None
    }

    /// JSON schema of what is accepted.
    fn schema() -> Json;
}

pub(crate) fn expected(node: &Node, what: &str) -> Fault {
    Fault::new(&node.origin, format!("expected {what}, found {}", node.value.kind()))
}

impl Decode for String {
    fn decode(node: &Node) -> Result<Self, Fault> {
        match &node.value {
            Value::String(s) => Ok(s.clone()),
            _ => Err(expected(node, "a string")),
        }
    }
    fn schema() -> Json {
        json!({ "type": "string" })
    }
}

impl Decode for bool {
    fn decode(node: &Node) -> Result<Self, Fault> {
        match &node.value {
            Value::Boolean(b) => Ok(*b),
            _ => Err(expected(node, "true or false")),
        }
    }
    fn schema() -> Json {
        json!({ "type": "boolean" })
    }
}

impl Decode for u64 {
    fn decode(node: &Node) -> Result<Self, Fault> {
        match &node.value {
            Value::Integer(i) if *i >= 0 => Ok(i.unsigned_abs()),
            Value::Integer(i) => Err(Fault::new(&node.origin, format!("{i} is negative: a count is expected"))),
            _ => Err(expected(node, "a whole number")),
        }
    }
    fn schema() -> Json {
        json!({ "type": "integer", "minimum": 0 })
    }
}

impl<T: Decode> Decode for Option<T> {
    fn decode(node: &Node) -> Result<Self, Fault> {
        T::decode(node).map(Some)
    }
    fn missing() -> Option<Self> {
        Some(None)
    }
    fn schema() -> Json {
        T::schema()
    }
}

impl<T: Decode> Decode for Vec<T> {
    fn decode(node: &Node) -> Result<Self, Fault> {
        match &node.value {
            Value::Array(items) => items.iter().map(T::decode).collect(),
            _ => Err(expected(node, "a list")),
        }
    }
    fn missing() -> Option<Self> {
        Some(Vec::new())
    }
    fn schema() -> Json {
        json!({ "type": "array", "items": T::schema() })
    }
}

/// A name of something, with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// The name.
    pub name: String,
    /// Where it was written.
    pub origin: Origin,
}

fn checked(name: &str, origin: &Origin) -> Result<Key, Fault> {
    if !is_name(name) {
        let shown: String = name.chars().map(|c| if c.is_control() { '?' } else { c }).take(80).collect();
        let bare = shown.trim_end_matches('\'');
        let message = if bare.len() < shown.len() && is_name(bare) {
            format!("`{shown}` is not a name: velocities go by the name of their coordinate here, `{bare}`")
        } else {
            format!("`{shown}` is not a name: letters, digits and _, not beginning with a digit, at most 64")
        };
        return Err(Fault::new(origin, message));
    }
    Ok(Key { name: name.into(), origin: origin.clone() })
}

impl Key {
    /// Refuses a word of the formula language: for names that may occur in formulas.
    pub(crate) fn refuse_reserved(&self) -> Result<(), Fault> {
        if crate::formula::is_reserved(&self.name) {
            let message = format!("`{}` is a word of the formula language: choose another name", self.name);
            return Err(Fault::new(&self.origin, message));
        }
        Ok(())
    }
}

impl Decode for Key {
    fn decode(node: &Node) -> Result<Self, Fault> {
        checked(&String::decode(node)?, &node.origin)
    }
    fn schema() -> Json {
        json!({ "type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]{0,63}$" })
    }
}

/// A formula as written; a number is one too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Formula {
    /// Its text.
    pub text: String,
    /// Where it was written.
    pub origin: Origin,
}

impl Decode for Formula {
    fn decode(node: &Node) -> Result<Self, Fault> {
        let text = match &node.value {
            Value::String(s) => s.clone(),
            Value::Integer(i) => i.to_string(),
            Value::Float(f) => format!("{f:?}"),
            _ => return Err(expected(node, "a formula (a string) or a number")),
        };
        Ok(Self { text, origin: node.origin.clone() })
    }
    fn schema() -> Json {
        json!({ "type": ["string", "number"] })
    }
}

/// Formulas for the components of a vector.
#[derive(Debug, Clone, PartialEq)]
pub enum Formulas {
    /// One component.
    One(Formula),
    /// All components in order, with the origin of the list.
    List(Vec<Formula>, Origin),
    /// Some components by name; the others are zero.
    Named(Vec<(Key, Formula)>, Origin),
}

impl Formulas {
    /// Where they were written.
    pub fn origin(&self) -> &Origin {
        match self {
            Formulas::One(f) => &f.origin,
            Formulas::List(_, o) | Formulas::Named(_, o) => o,
        }
    }

    /// The components in order, where they are not given by name.
    pub fn in_order(&self) -> Option<&[Formula]> {
        match self {
            Formulas::One(f) => Some(std::slice::from_ref(f)),
            Formulas::List(list, _) => Some(list),
            Formulas::Named(..) => None,
        }
    }
}

impl Decode for Formulas {
    fn decode(node: &Node) -> Result<Self, Fault> {
        match &node.value {
            Value::Array(_) => Ok(Formulas::List(Vec::decode(node)?, node.origin.clone())),
            Value::Table(_) => Ok(Formulas::Named(Named::decode(node)?.0, node.origin.clone())),
            _ => match Formula::decode(node) {
                Ok(f) => Ok(Formulas::One(f)),
                Err(_) => Err(expected(node, "a formula, a list of formulas, or a table of formulas by name")),
            },
        }
    }
    fn schema() -> Json {
        json!({ "anyOf": [
            Formula::schema(),
            { "type": "array", "items": Formula::schema() },
            { "type": "object", "additionalProperties": Formula::schema() },
        ] })
    }
}

/// A table of free keys, in the order of the file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Named<T>(pub Vec<(Key, T)>);

impl<T: Decode> Decode for Named<T> {
    fn decode(node: &Node) -> Result<Self, Fault> {
        let Value::Table(entries) = &node.value else { return Err(expected(node, "a table")) };
        let list: Result<Vec<_>, Fault> =
            entries.iter().map(|e| Ok((checked(&e.key, &e.origin)?, T::decode(&e.node)?))).collect();
        list.map(Named)
    }
    fn missing() -> Option<Self> {
        Some(Named(Vec::new()))
    }
    fn schema() -> Json {
        json!({
            "type": "object",
            "propertyNames": { "pattern": "^[A-Za-z_][A-Za-z0-9_]{0,63}$" },
            "additionalProperties": T::schema(),
        })
    }
}

/// The keys of a table that is read.
pub struct Fields<'a> {
    entries: &'a [Entry],
    origin: &'a Origin,
    what: &'static str,
}

impl<'a> Fields<'a> {
    /// Opens a table whose keys are all in `known`.
    pub fn open(node: &'a Node, what: &'static str, known: &[&str]) -> Result<Self, Fault> {
        let Value::Table(entries) = &node.value else { return Err(expected(node, &format!("a table: {what}"))) };
        if let Some(e) = entries.iter().find(|e| !known.contains(&e.key.as_str())) {
            let hint = hint_or_list(&e.key, known.iter().copied());
            return Err(Fault::new(&e.origin, format!("unknown key `{}` in {what}{hint}", e.key.escape_debug())));
        }
        Ok(Self { entries, origin: &node.origin, what })
    }

    /// Reads one key.
    pub fn take<T: Decode>(&self, key: &str) -> Result<T, Fault> {
        match self.entries.iter().find(|e| e.key == key) {
            Some(e) => T::decode(&e.node).map_err(|f| match f.message.strip_prefix("expected ") {
                // Name the key where the message speaks of its value.
                Some(_) if f.origin == e.node.origin => Fault::new(&f.origin, format!("`{key}`: {}", f.message)),
                _ => f,
            }),
            None => T::missing()
                .ok_or_else(|| Fault::new(self.origin, format!("the key `{key}` is missing in {}", self.what))),
        }
    }
}

/// Defines a table of the format: its struct, its reader and its schema.
#[doc(hidden)]
#[macro_export]
macro_rules! record {
    (
        $what:literal
        $(#[doc = $doc:literal])*
        pub struct $name:ident {
            $( $(#[doc = $field_doc:literal])* pub $field:ident : $type:ty, )*
        }
    ) => {
        $(#[doc = $doc])*
        #[derive(Debug, Clone, PartialEq)]
        pub struct $name {
            $( $(#[doc = $field_doc])* pub $field: $type, )*
            /// Where it was written.
            pub origin: $crate::file::Origin,
        }

        impl $crate::file::Decode for $name {
            fn decode(node: &$crate::file::Node) -> Result<Self, $crate::file::Fault> {
                let fields = $crate::file::Fields::open(node, $what, &[$(stringify!($field)),*])?;
                Ok(Self {
                    $( $field: fields.take(stringify!($field))?, )*
                    origin: node.origin.clone(),
                })
            }

            fn schema() -> serde_json::Value {
                let mut properties = serde_json::Map::new();
                let mut required: Vec<&str> = Vec::new();
                $(
                    let mut schema = <$type as $crate::file::Decode>::schema();
                    schema["description"] = concat!($($field_doc,)*).trim().into();
                    properties.insert(stringify!($field).into(), schema);
                    if <$type as $crate::file::Decode>::missing().is_none() {
                        required.push(stringify!($field));
                    }
                )*
                serde_json::json!({
                    "type": "object",
                    "description": concat!($($doc,)*).trim(),
                    "properties": properties,
                    "required": required,
                    "additionalProperties": false,
                })
            }
        }
    };
}
