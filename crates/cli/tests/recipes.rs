//! The recipes of ARCHITECTURE.md for what is a variant of an enumeration (a shape, a set, a law): the files that each names are those that
//! decide about every variant there is, and so must decide about a new one. The recipes for a scheme and a solver are followed by
//! `crates/nonsmooth/tests/recipes.rs`. The walk of one step names one file for each station.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// All Rust files below a folder.
fn sources(folder: &Path, out: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            sources(&path, out);
        } else if path.extension().is_some_and(|e| e == "rs") {
            out.push(path);
        }
    }
}

/// Whether a text names a variant, as `Shape::Disc` or `Self::Disc`, and not as a part of a longer word.
fn names(text: &str, of: &str, variant: &str) -> bool {
    [of, "Self"].iter().any(|of| {
        let wanted = format!("{of}::{variant}");
        let whole = |at: usize| {
            let letter = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
            !letter(text[at + wanted.len()..].chars().next()) && !letter(text[..at].chars().next_back())
        };
        text.match_indices(&wanted).any(|(at, _)| whole(at))
    })
}

/// Files of the sources, relative to the root, that name all variants.
fn deciding(of: &str, variants: &[&str]) -> BTreeSet<String> {
    let (root, mut files) = (root(), Vec::new());
    for krate in ["complementarity", "nonsmooth", "multibody", "scene", "cli"] {
        sources(&root.join("crates").join(krate).join("src"), &mut files);
    }
    let decides = |path: &PathBuf| {
        let text = std::fs::read_to_string(path).unwrap();
        variants.iter().all(|v| names(&text, of, v))
    };
    let relative = |path: PathBuf| path.strip_prefix(&root).unwrap().to_str().unwrap().to_string();
    files.into_iter().filter(decides).map(relative).collect()
}

/// The files that a recipe lists as those that decide: in backticks, in the lines from its title to the next blank line.
fn listed(title: &str) -> BTreeSet<String> {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let (_, recipe) = text.split_once(title).unwrap_or_else(|| panic!("no recipe {title}"));
    let lines = recipe.lines().take_while(|line| !line.trim().is_empty());
    let line = lines.filter(|line| line.contains("decide")).collect::<Vec<_>>().join(" ");
    line.split('`').skip(1).step_by(2).filter(|path| path.ends_with(".rs")).map(str::to_string).collect()
}

#[test]
fn recipes_list_the_files_that_decide_about_every_variant() {
    for (title, of, variants) in [
        ("**A shape.**", "Shape", &["Disc", "HalfPlane", "Segment", "Box", "InnerCircle"][..]),
        ("**A set.**", "Set", &["Free", "NonNegative", "Interval", "Ball", "Coulomb", "Polyhedral"]),
        ("**A law of friction.**", "Friction", &["Coulomb", "Polyhedral", "Tresca"]),
        ("**A law of impact.**", "Normal", &["Newton", "Poisson"]),
        ("**A law of an element.**", "ElementSets", &["Ball", "Box"]),
    ] {
        assert_eq!(listed(title), deciding(of, variants), "{title} left: the recipe, right: the sources");
    }
}

#[test]
fn the_walk_of_one_step_has_at_most_15_stations_and_no_file_twice() {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let (_, walk) = text.split_once("## The walk of one step").unwrap();
    let walk = walk.split("\n## ").next().unwrap();
    let stations: Vec<&str> = walk.lines().filter(|l| l.starts_with(|c: char| c.is_ascii_digit())).collect();
    assert!((10..=15).contains(&stations.len()), "{} stations", stations.len());
    for (i, station) in stations.iter().enumerate() {
        assert!(station.starts_with(&format!("{}. `crates/", i + 1)), "a station without its file: {station}");
    }
    let paths: Vec<&str> = walk.split('`').skip(1).step_by(2).filter(|path| path.ends_with(".rs")).collect();
    let unique: BTreeSet<&&str> = paths.iter().collect();
    assert_eq!(unique.len(), paths.len(), "a file twice in {paths:?}");
    for path in paths {
        assert!(root().join(path).exists(), "{path}");
    }
}
