//! Modules of the crate use one another in one direction only, as the table below and `ARCHITECTURE.md` say.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Every module and those that it may use; a module uses only those above it.
const ARROWS: [(&str, &[&str]); 12] = [
    ("error", &[]),
    ("layout", &[]),
    ("proximity", &[]),
    ("material", &["error"]),
    ("pairing", &["error", "material"]),
    ("planar", &["error", "layout", "material", "pairing", "proximity"]),
    ("force", &["error", "layout", "planar"]),
    ("elastic", &["error", "layout"]),
    ("stop", &["error", "layout", "proximity"]),
    ("geometry", &["planar", "proximity"]),
    ("system", &["elastic", "force", "geometry", "layout", "pairing", "planar", "proximity", "stop"]),
    ("world", &["elastic", "error", "force", "layout", "material", "pairing", "planar", "proximity", "stop", "system"]),
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Source files below a folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut out = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            out.extend(sources(&path));
        } else if path.extension().is_some_and(|e| e == "rs") {
            out.push(path);
        }
    }
    out
}

/// What follows each `crate::` of a source, comments left out.
fn used(code: &str) -> Vec<&str> {
    let code = code.lines().map(|line| line.split("//").next().unwrap_or(""));
    code.flat_map(|line| line.split("crate::").skip(1))
        .map(|rest| rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or(""))
        .collect()
}

#[test]
fn modules_use_one_another_along_the_arrows_alone() {
    let table: BTreeMap<&str, &[&str]> = ARROWS.into_iter().collect();
    let mut seen = BTreeSet::new();
    for path in sources(&root().join("src")) {
        let inside = path.strip_prefix(root().join("src")).unwrap().with_extension("");
        let parts: Vec<&str> = inside.iter().map(|p| p.to_str().unwrap()).collect();
        let (module, file) = (parts[0], path.display());
        if module == "lib" {
            continue;
        }
        let Some(allowed) = table.get(module) else { panic!("{file}: module `{module}` is not in the table") };
        seen.insert(module.to_string());
        let code = std::fs::read_to_string(&path).unwrap();
        for target in used(&code) {
            // A name that the root exports would hide the arrow, and so would a list.
            assert!(table.contains_key(target), "{file}: `crate::{target}` does not begin with a module: name it");
            assert!(target == module || allowed.contains(&target), "{file}: `{module}` may not use `{target}`");
        }
        let leaves = code.replace("use super::*;", "");
        let up = if parts.len() == 1 { "super::" } else { "super::super::" };
        assert!(!leaves.contains(up), "{file}: `{up}` leads out of the module: write `crate::`");
    }
    assert_eq!(seen.len(), ARROWS.len(), "the table has a module that does not exist");
}

#[test]
fn arrows_point_upwards_in_the_table() {
    let mut above = BTreeSet::new();
    for (module, allowed) in ARROWS {
        assert!(allowed.iter().all(|a| above.contains(a)), "`{module}` uses a module below it");
        above.insert(module);
    }
}

#[test]
fn the_architecture_states_the_same_arrows() {
    let text = std::fs::read_to_string(root().join("../../ARCHITECTURE.md")).unwrap();
    for (module, allowed) in ARROWS {
        let list: Vec<String> = allowed.iter().map(|a| format!("`{a}`")).collect();
        let list = if list.is_empty() { "-".to_string() } else { list.join(", ") };
        let row = format!("| `{module}` | {list} |");
        assert!(text.contains(&row), "ARCHITECTURE.md lacks the row {row}");
    }
}
