//! The smallest walk that breaks the same invariant.

use crate::judge::{Failure, Limits, Verdict, judge};
use crate::walk::{self, Change, Question, Walk};
use crate::write;

/// Most runs of a search.
const TRIES: usize = 60;

/// The failure of a name, if a walk has it.
fn fails(walk: &Walk, name: &str, limits: &Limits) -> Option<Failure> {
    match judge(walk, limits) {
        Verdict::Failed(list) => list.into_iter().find(|f| f.name == name),
        _ => None,
    }
}

/// Walks that are a little simpler.
fn simpler(walk: &Walk) -> Vec<Walk> {
    let mut out = Vec::new();
    for i in 0..walk.changes.len() {
        let mut w = walk.clone();
        w.changes.remove(i);
        out.push(w);
    }
    for i in 0..walk.options.len() {
        let mut w = walk.clone();
        w.options.remove(i);
        out.push(w);
    }
    for i in 0..walk.other.len().saturating_sub(usize::from(walk.other.len() < 2)) {
        let mut w = walk.clone();
        w.other.remove(i);
        out.push(w);
    }
    for table in ["contact", "force", "joint", "element", "spring"] {
        let count = walk.document().map_or(0, |d| walk::parts(&d, table));
        for i in (0..count).rev().take(14) {
            let mut w = walk.clone();
            w.changes.push(Change::Drop(table, i));
            out.push(w);
        }
    }
    for part in [0.5, 0.75] {
        let steps = (walk.steps as f64 * part) as usize;
        if steps >= 2 {
            out.push(Walk { steps, ..walk.clone() });
        }
    }
    for (i, change) in walk.changes.iter().enumerate() {
        let mut w = walk.clone();
        match change {
            Change::Number { key, value, base } if (value - base).abs() > 0.05 => {
                w.changes[i] = Change::Number { key: key.clone(), value: 0.5 * (value + base), base: *base };
            }
            _ => continue,
        }
        out.push(w);
    }
    out
}

/// The smallest walk that was found, with its failure.
pub fn shrink(walk: &Walk, failure: &Failure, limits: &Limits) -> (Walk, Failure) {
    let (mut best, mut found) = (walk.clone(), failure.clone());
    let mut tries = 0;
    let mut halvings = 0;
    'search: loop {
        for candidate in simpler(&best) {
            let halves = candidate.changes.len() == best.changes.len() && candidate.changes != best.changes;
            if halves && halvings >= 6 {
                continue;
            }
            tries += 1;
            if tries > TRIES {
                break 'search;
            }
            if let Some(failure) = fails(&candidate, failure.name, limits) {
                halvings += usize::from(halves);
                (best, found) = (candidate, failure);
                continue 'search;
            }
        }
        break;
    }
    (best, found)
}

/// The scene files of a failing walk: the scene, and its twin if the question is one of twins. `path` is that of the first.
pub fn files(walk: &Walk, failure: &Failure, path: &str) -> Vec<(String, String)> {
    let twin = path.replace(".toml", "-twin.toml");
    let mut comment = vec![
        format!("nonsmooth run {path}"),
        format!("{failure} ({}, walk {}, from {})", walk.question.name(), walk.label, walk.entry),
    ];
    let has_twin = !matches!(walk.question, Question::Alone | Question::Agreement);
    if has_twin {
        comment.push(format!("its twin: nonsmooth run {twin}"));
    }
    let mut out = Vec::new();
    if let Ok(d) = walk.document() {
        out.push((path.to_string(), write::scene(&d, &comment)));
    }
    if let (true, Ok(d)) = (has_twin, walk.twin_document()) {
        out.push((twin, write::scene(&d, &[format!("the twin of {path}")])));
    }
    out
}
