//! Many walks, and the table of their verdicts.

use crate::draw::{Domain, walk};
use crate::judge::{Limits, Verdict, judge};
use crate::walk::{Question, Walk};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counts of the walks of one question.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Walks.
    pub walks: usize,
    /// Passed.
    pub passed: usize,
    /// Refused by name.
    pub refused: usize,
    /// Stopped by name.
    pub stopped: usize,
    /// Too costly, or without a reference.
    pub open: usize,
    /// Failed.
    pub failed: usize,
}

/// The verdicts of all walks, in the order of their numbers.
pub fn run(domain: &Domain, limits: &Limits, first: u64, count: u64, threads: usize) -> Vec<(Walk, Verdict)> {
    let next = AtomicU64::new(first);
    let done = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= first + count {
                        break;
                    }
                    let walk = walk(domain, number);
                    let verdict = judge(&walk, limits);
                    if let Ok(mut done) = done.lock() {
                        done.insert(number, (walk, verdict));
                    }
                }
            });
        }
    });
    done.into_inner().unwrap_or_default().into_values().collect()
}

/// Counts by question.
pub fn counts(verdicts: &[(Walk, Verdict)]) -> Vec<(Question, Counts)> {
    let of = |question: Question| {
        let mut c = Counts::default();
        for (_, verdict) in verdicts.iter().filter(|(w, _)| w.question == question) {
            c.walks += 1;
            match verdict {
                Verdict::Passed => c.passed += 1,
                Verdict::Refused(_) => c.refused += 1,
                Verdict::Stopped(_) => c.stopped += 1,
                Verdict::Open => c.open += 1,
                Verdict::Failed(_) => c.failed += 1,
            }
        }
        (question, c)
    };
    Question::ALL.iter().map(|q| of(*q)).filter(|(_, c)| c.walks > 0).collect()
}

/// The table of the counts, a line each.
pub fn table(verdicts: &[(Walk, Verdict)]) -> String {
    let mut out = format!(
        "{:<12} {:>6} {:>7} {:>8} {:>8} {:>6} {:>7}\n",
        "question", "walks", "passed", "refused", "stopped", "open", "failed"
    );
    let mut sum = Counts::default();
    let mut line = |name: &str, c: &Counts| {
        out += &format!(
            "{name:<12} {:>6} {:>7} {:>8} {:>8} {:>6} {:>7}\n",
            c.walks, c.passed, c.refused, c.stopped, c.open, c.failed
        );
    };
    for (question, c) in counts(verdicts) {
        line(question.name(), &c);
        sum.walks += c.walks;
        sum.passed += c.passed;
        sum.refused += c.refused;
        sum.stopped += c.stopped;
        sum.open += c.open;
        sum.failed += c.failed;
    }
    line("all", &sum);
    out
}

/// Reasons of refusals or stops with how often they were given, the most frequent first; numbers are left out, so that like reasons meet.
pub fn reasons(verdicts: &[(Walk, Verdict)], stops: bool) -> Vec<(usize, String)> {
    let mut all: BTreeMap<String, usize> = BTreeMap::new();
    for (walk, verdict) in verdicts {
        let why = match verdict {
            Verdict::Refused(why) if !stops => why,
            Verdict::Stopped(why) if stops => why,
            _ => continue,
        };
        let digits = |c: char| c.is_ascii_digit() || "+-.".contains(c);
        let words: Vec<&str> = why.split_whitespace().filter(|w| !w.starts_with(digits)).collect();
        *all.entry(format!("{}: {}", walk.scheme, words.join(" "))).or_default() += 1;
    }
    let mut list: Vec<(usize, String)> = all.into_iter().map(|(why, n)| (n, why)).collect();
    list.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    list
}

/// A walk in one line: what `--scenes`, `--schemes` and `--set` would say.
pub fn describe(walk: &Walk) -> String {
    let mut out = format!("{} {} {} h = {} × {}", walk.question.name(), walk.entry, walk.scheme, walk.step, walk.steps);
    for (k, v) in &walk.options {
        out += &format!(" {k}={v}");
    }
    for change in &walk.changes {
        out += &format!(" [{change:?}]");
    }
    for (k, v) in &walk.other {
        out += &format!(" {k}:={v}");
    }
    out
}
