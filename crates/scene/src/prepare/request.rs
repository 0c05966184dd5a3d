//! Requests: changes of a scene by the command line; and reading of the scene itself.

use crate::bundled;
use crate::file::{Document, SceneError};
use nonsmooth::names::hint;
use std::path::Path;

/// Changes of a scene, such as those of the command line.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Request {
    /// Another scheme. It drops the scheme options of the file.
    pub scheme: Option<String>,
    /// Another step, s.
    pub step: Option<f64>,
    /// Another end, s.
    pub end: Option<f64>,
    /// Overrides, `key=value`.
    pub set: Vec<String>,
    /// Names of what is recorded, instead of those in the file.
    pub watch: Option<Vec<String>>,
    /// Another limit on the coordinates of bodies and bars.
    pub max_coordinates: Option<usize>,
}

/// Reads a scene: a file, or a bundled example by name.
pub fn read(name: &str) -> Result<Document, SceneError> {
    let bad = |message: String| SceneError { message, place: Some(name.into()), position: None, line: None };
    let path = Path::new(name);
    if path.is_file() {
        let bytes = std::fs::read(path).map_err(|e| bad(format!("the file cannot be read: {e}")))?;
        let text = String::from_utf8(bytes)
            .map_err(|e| bad(format!("not a text file (byte {} is not UTF-8)", e.utf8_error().valid_up_to())))?;
        return Document::parse(name, &text);
    }
    // A folder of that name may be where an example was written to before.
    if path.is_dir() && bundled::find(name).is_none() {
        return Err(bad("a folder; a scene is a file, or the name of a bundled example".into()));
    }
    match bundled::find(name) {
        Some(example) => Document::parse(name, example.text),
        None => {
            let hint = hint(name, bundled::EXAMPLES.iter().map(|e| e.name), || {
                " (`nonsmooth list examples` shows them)".into()
            });
            Err(bad(format!("neither a file nor a bundled example{hint}")))
        }
    }
}

/// Applies a request to the tree.
pub(super) fn apply(document: &mut Document, request: &Request) -> Result<(), SceneError> {
    if let Some(name) = &request.scheme {
        let same = matches!(
            document.get(&["scheme", "name"]).map(|n| &n.value),
            Some(crate::file::Value::String(s)) if s == name
        );
        if !same {
            document.remove(&["scheme"]);
        }
        document.set_as(&format!("scheme.name={name:?}"), &format!("--scheme {name}"))?;
    }
    for text in &request.set {
        document.set(text)?;
    }
    for (key, value) in [("step", request.step), ("end", request.end)] {
        if let Some(v) = value {
            // A string, so that NaN and infinity come to the check of the run.
            document.set_as(&format!("time.{key}={v:?}"), &format!("--{key} {v}"))?;
        }
    }
    if let Some(words) = &request.watch {
        let list = serde_json::json!(words);
        document.set_as(&format!("output.watch={list}"), &format!("--watch {}", words.join(",")))?;
    }
    Ok(())
}
