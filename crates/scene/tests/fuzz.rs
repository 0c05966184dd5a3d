//! No text makes the reader of scenes fall over: mutated scenes and overrides are read or refused, in bounded time.

use nonsmooth_scene::bundled::EXAMPLES;
use nonsmooth_scene::file::Document;
use nonsmooth_scene::prepare::{Prepared, Request};
use proptest::prelude::*;
use std::time::{Duration, Instant};

/// Reads and prepares; a scene that is accepted takes a few steps.
fn try_scene(text: &str, set: Vec<String>) {
    let clock = Instant::now();
    if let Ok(document) = Document::parse("fuzz", text)
        && let Ok(scene) = Prepared::new(document, &Request { set, ..Request::default() })
        && let Ok(mut simulation) = scene.simulation()
    {
        for _ in 0..3 {
            simulation.advance(&mut ());
        }
        let _ = nonsmooth_scene::explain::explain(&scene);
    }
    // Preparing takes a millisecond; a hang would be minutes, on any machine.
    assert!(clock.elapsed() < Duration::from_secs(60), "{text}");
}

/// Pieces that scenes are made of.
const PIECES: &[&str] = &[
    "[[contact]]\n",
    "[model]\n",
    "name = ",
    "\"x\"",
    "gap = \"x\"\n",
    "= -1e308\n",
    "[",
    "]",
    "\"",
    "'",
    "\n",
    "0",
    "-",
    "1e-300",
    "nan",
    "inf",
    "slip = \"x'\"\n",
    "friction = 1e9\n",
    "(((",
    "^^",
    "^-",
    "if(",
    "coordinates = [",
    "mass = [[1, 2], [3]]\n",
    "kinetic = \"x'^2\"\n",
    "velocities = [\"u\"]\n",
    "[kinematics]\n",
    "x = \"u\"\n",
    "\u{0}",
    "é",
    "9999999999999999999",
    "{ poisson = 1 }",
    "restitution = ",
    "breaks = [1e-9, 2]\n",
    "unit = [[\"x\"]]\n",
    "range = [[0, 1]]\n",
    "true",
    "[define]\nd = \"d\"\n",
];

fn mutate(text: &str, edits: &[(usize, usize, usize)]) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for &(kind, at, what) in edits {
        let at = at % (bytes.len() + 1);
        match kind % 4 {
            0 => {
                let end = (at + 1 + what % 40).min(bytes.len());
                bytes.drain(at..end);
            }
            1 => {
                let piece = PIECES[what % PIECES.len()].as_bytes();
                bytes.splice(at..at, piece.iter().copied());
            }
            2 => {
                let end = (at + what % 60).min(bytes.len());
                let copy = bytes[at..end].to_vec();
                bytes.splice(at..at, copy);
            }
            _ => {
                if let Some(b) = bytes.get_mut(at) {
                    *b = (what % 256) as u8;
                }
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8000, max_shrink_iters: 200, ..ProptestConfig::default() })]

    #[test]
    fn mutated_scenes_are_read_or_refused(
        which in 0..EXAMPLES.len(),
        edits in prop::collection::vec((0usize..4, 0usize..6000, 0usize..4000), 1..6),
    ) {
        try_scene(&mutate(EXAMPLES[which].text, &edits), Vec::new());
    }

    #[test]
    fn any_text_is_a_scene_or_refused(text in "\\PC{0,200}") {
        try_scene(&text, Vec::new());
    }

    #[test]
    fn any_override_is_taken_or_refused(
        which in 0..EXAMPLES.len(),
        key in prop::sample::select(vec!["model.mass", "initial.q", "initial.u.0", "contact", "contact.0.gap", "time.step", "scheme", "scheme.theta", "parameters", "", "a.b.c", "model.coordinates", "force.0.potential", "solver.tol", "title"]),
        value in "\\PC{0,30}",
    ) {
        try_scene(EXAMPLES[which].text, vec![format!("{key}={value}")]);
    }
}

#[test]
fn sizes_that_are_declared_are_not_believed() {
    // Nothing that is large only in what it says may cost memory or time.
    let many: String = (0..3000).map(|i| format!("\"c{i}\", ")).collect();
    let text = format!("[model]\ncoordinates = [{many}]\nmass = 1\n[time]\nstep = 1\nend = 2\n");
    let error = Prepared::new(Document::parse("wide", &text).unwrap(), &Request::default()).err().unwrap();
    assert!(error.message.contains("3000 velocities"), "{error}");
    let deep = format!("x = {}{}", "[".repeat(5000), "]".repeat(5000));
    assert!(Document::parse("deep", &deep).is_err());
    let long = format!("title = \"{}\"", "a".repeat(17 * 1024 * 1024));
    assert!(Document::parse("long", &long).unwrap_err().message.contains("bytes"));
    // A chain of definitions that doubles with every link is shared, not written out.
    let chain: String = (1..90).map(|i| format!("d{i} = \"d{0} + d{0}\"\n", i - 1)).collect();
    let text = format!(
        "[model]\ncoordinates = [\"x\"]\nmass = 1\nforce = \"d89*1e-30\"\n[define]\nd0 = \"x\"\n{chain}[time]\nstep = 1e-3\nend = 1\n"
    );
    assert!(Prepared::new(Document::parse("chain", &text).unwrap(), &Request::default()).is_ok());
    let chain: String = (1..300).map(|i| format!("d{i} = \"d{} + 1\"\n", i - 1)).collect();
    let text = format!(
        "[model]\ncoordinates = [\"x\"]\nmass = 1\nforce = \"d299\"\n[define]\nd0 = \"x\"\n{chain}[time]\nstep = 1e-3\nend = 1\n"
    );
    let error = Prepared::new(Document::parse("long chain", &text).unwrap(), &Request::default()).err().unwrap();
    assert!(error.message.contains("longer than"), "{error}");
}
