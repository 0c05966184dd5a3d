//! The documents name things that exist.

use std::path::Path;

fn root() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(name: &str) -> String {
    std::fs::read_to_string(root().join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// Words in backticks that look like paths: with a slash and an ending, or a folder of the workspace.
fn paths(text: &str) -> Vec<String> {
    text.split('`')
        .skip(1)
        .step_by(2)
        .filter(|w| !w.contains(char::is_whitespace) && w.contains('/') && !w.contains("::") && !w.contains('*'))
        .filter(|w| ["crates/", "docs/", "benches/", "examples/"].iter().any(|f| w.starts_with(f)))
        .map(str::to_string)
        .collect()
}

/// All documents, from the root.
fn documents() -> Vec<String> {
    let mut out: Vec<String> = ["ARCHITECTURE.md", "README.md", "CONTRIBUTING.md"].map(String::from).to_vec();
    let mut folders = vec!["docs".to_string()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(root().join(&folder)).unwrap() {
            let entry = entry.unwrap();
            let path = format!("{folder}/{}", entry.file_name().to_string_lossy());
            if entry.file_type().unwrap().is_dir() {
                folders.push(path);
            } else if path.ends_with(".md") {
                out.push(path);
            }
        }
    }
    out
}

#[test]
fn every_path_in_the_documents_exists() {
    let mut seen = 0;
    for document in documents() {
        for path in paths(&read(&document)) {
            assert!(root().join(&path).exists(), "{document} names `{path}`, which does not exist");
            seen += 1;
        }
    }
    assert!(seen > 20, "the documents name their files in backticks");
}

#[test]
fn every_link_of_the_readme_leads_somewhere() {
    let text = read("README.md");
    let links: Vec<&str> = text.split("](").skip(1).filter_map(|rest| rest.split(')').next()).collect();
    assert!(links.len() >= 5);
    for link in links.iter().filter(|l| !l.contains("://")) {
        assert!(root().join(link).exists(), "README links to {link}");
    }
}

#[test]
fn every_scheme_and_solver_is_in_the_readme_and_its_reference_in_the_bibliography() {
    let (readme, bibliography) = (read("README.md"), read("docs/references.bib"));
    for scheme in nonsmooth::scheme::SCHEMES {
        assert!(readme.contains(&format!("`{}`", scheme.name)), "{} is missing in the README", scheme.name);
        for reference in scheme.reference.split(';') {
            let key = reference.split(',').next().unwrap_or("").trim();
            assert!(bibliography.contains(&format!("{{{key},")), "{key} is missing in the bibliography");
        }
    }
    for solver in complementarity::solver::SOLVERS {
        assert!(readme.contains(&format!("`{}`", solver.name)), "{} is missing in the README", solver.name);
        let key = solver.reference.split(',').next().unwrap_or("").trim();
        assert!(key == "-" || bibliography.contains(&format!("{{{key},")), "{key} is missing in the bibliography");
    }
}
