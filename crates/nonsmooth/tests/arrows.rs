//! Modules of the crate use those below them and no others.

use std::path::Path;

/// Modules from below to above, as ARCHITECTURE.md draws them: each may use those before it.
const LAYERS: [&str; 12] = [
    "names",
    "root",
    "polynomial",
    "law",
    "contract",
    "state",
    "accounting",
    "control",
    "scheme",
    "error",
    "simulation",
    "measure",
];

/// Macros, which stand at the root of the crate, and their modules.
const MACROS: [(&str, &str); 1] = [("record", "state")];

/// Files of a folder, with those below it.
fn files(folder: &Path, out: &mut Vec<std::path::PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, out);
        } else if path.extension().is_some_and(|e| e == "rs") {
            out.push(path);
        }
    }
}

/// First segments of the paths that begin with `crate::`, outside comments and unit tests.
fn used(text: &str) -> Vec<String> {
    let code = text.split("#[cfg(test)]").next().unwrap();
    let lines = code.lines().filter(|l| !l.trim_start().starts_with("//"));
    let first = |rest: &str| rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    lines.flat_map(|l| l.split("crate::").skip(1).map(first).collect::<Vec<_>>()).collect()
}

#[test]
fn modules_use_those_below_them() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let layer = |name: &str| LAYERS.iter().position(|l| *l == name);
    let mut all = Vec::new();
    files(&source, &mut all);
    let mut arrows = 0;
    for path in all {
        let within = path.strip_prefix(&source).unwrap();
        let module = within.components().next().unwrap().as_os_str().to_str().unwrap().trim_end_matches(".rs");
        if module == "lib" {
            continue;
        }
        let own = layer(module).unwrap_or_else(|| panic!("`{module}` has no place in the layers"));
        for target in used(&std::fs::read_to_string(&path).unwrap()) {
            // What the crate shows at its root has no module in its path: none of its own code may use that.
            let target = MACROS.iter().find(|(name, _)| *name == target).map_or(&target[..], |(_, module)| module);
            let other = layer(target).unwrap_or_else(|| panic!("{}: crate::{target} is no module", within.display()));
            assert!(other <= own, "{}: `{module}` uses `{target}`, which stands above it", within.display());
            arrows += 1;
        }
    }
    assert!(arrows > 100, "{arrows}: the paths were not found");
}
