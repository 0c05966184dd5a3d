//! A document as TOML text, changes applied.

use crate::walk::toml_number;
use nonsmooth_scene::file::{Document, Node, Value};
use std::fmt::Write;

/// The text of a scene that `nonsmooth run` repeats, with a comment at its head.
pub fn scene(document: &Document, comment: &[String]) -> String {
    let mut out = String::new();
    for line in comment.iter().flat_map(|c| c.lines()) {
        let _ = writeln!(out, "# {line}");
    }
    let Value::Table(entries) = &document.root.value else { return out };
    let is_section = |v: &Value| match v {
        Value::Table(_) => true,
        Value::Array(items) => !items.is_empty() && items.iter().all(|n| matches!(n.value, Value::Table(_))),
        _ => false,
    };
    for e in entries.iter().filter(|e| !is_section(&e.node.value)) {
        let _ = writeln!(out, "{} = {}", e.key, inline(&e.node));
    }
    for e in entries {
        match &e.node.value {
            Value::Table(_) => section(&mut out, &format!("[{}]", e.key), &e.node),
            Value::Array(items) if is_section(&e.node.value) => {
                items.iter().for_each(|n| section(&mut out, &format!("[[{}]]", e.key), n));
            }
            _ => {}
        }
    }
    out
}

fn section(out: &mut String, head: &str, node: &Node) {
    let _ = writeln!(out, "\n{head}");
    if let Value::Table(entries) = &node.value {
        for e in entries {
            let _ = writeln!(out, "{} = {}", e.key, inline(&e.node));
        }
    }
}

fn inline(node: &Node) -> String {
    match &node.value {
        Value::String(s) => format!("\"{}\"", s.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")),
        Value::Integer(i) => i.to_string(),
        Value::Float(v) => toml_number(*v),
        Value::Boolean(b) => b.to_string(),
        Value::Array(items) => format!("[{}]", items.iter().map(inline).collect::<Vec<_>>().join(", ")),
        Value::Table(entries) => {
            let list = entries.iter().map(|e| format!("{} = {}", e.key, inline(&e.node)));
            format!("{{ {} }}", list.collect::<Vec<_>>().join(", "))
        }
    }
}
