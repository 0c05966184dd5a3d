//! The comparison as one page: the same template as the report of a run, with other data.

use super::rows::{Comparison, Row};
use crate::file::{Document, Value};
use crate::report::write_page;
use serde_json::json;
use std::io::{self, Write};

impl Row {
    /// The scheme with its options, `name{key=value,..}`.
    pub fn label(&self) -> String {
        if self.options.is_empty() {
            return self.scheme.clone();
        }
        format!("{}{{{}}}", self.scheme, self.options.join(","))
    }
}

/// Writes the page of a comparison of a scene. `command` is how to make it again.
pub fn compare_page(out: &mut impl Write, c: &Comparison, document: &Document, command: &str) -> io::Result<()> {
    let title = match document.get(&["title"]).map(|n| &n.value) {
        Some(Value::String(title)) => title,
        _ => &c.scene,
    };
    let row = |r: &Row| {
        json!({
            "scheme": r.scheme, "options": r.options, "label": r.label(), "step": r.step, "calls": r.calls,
            "seconds": r.seconds, "errors": r.errors, "status": r.reason.as_deref().unwrap_or("done"),
        })
    };
    let rows: Vec<_> = c.rows.iter().map(row).collect();
    let orders: Vec<_> = c
        .orders
        .iter()
        .map(|o| {
            let mut value = json!(o);
            value["label"] = json!(o.scheme);
            if let Some(row) = value.as_object_mut() {
                row.retain(|key, _| !key.ends_with("_reason"));
            }
            value
        })
        .collect();
    let mut notes = vec![
        "Orders are fitted to the errors in L1, and of u also in graph distance; errors that are rounding take no part."
            .to_string(),
    ];
    for o in &c.orders {
        notes.extend(o.missing().map(|(what, why)| format!("{}: no order of {what}: {why}.", o.scheme)));
    }
    write_page(out, |data| {
        data.field("kind", &"compare")?;
        data.field("format", &1)?;
        data.field("title", title)?;
        data.field("scene", &c.scene)?;
        data.field("version", &env!("CARGO_PKG_VERSION"))?;
        data.field("command", &command)?;
        data.field("scene_text", &document.text)?;
        data.field("reference", &c.reference)?;
        data.field("notes", &notes)?;
        data.field("rows", &rows)?;
        data.field("orders", &orders)
    })
}
