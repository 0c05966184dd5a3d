//! Known times at which a model jumps or has a kink: those of `model.breaks`, and those of conditions on the time in formulas.

use crate::file::{Formula, Origin};
use crate::formula::{Graph, Id, Unlocated};
use std::collections::BTreeSet;

/// Most breaks of formulas in one run. A condition that would give more is not located.
pub const MAX_BREAKS: usize = 10_000;

/// Times nearer than this, in units of the rounding of the time, are one: a bisected time has the rounding of its formula.
const ROUNDINGS: f64 = 8.0;

/// A break.
#[derive(Debug, Clone, PartialEq)]
pub struct Break {
    /// When, s.
    pub t: f64,
    /// The operation of a formula; none if it is an entry of `model.breaks`.
    pub operation: Option<&'static str>,
    /// Where it was written.
    pub origin: Origin,
}

/// An operation that depends on the time, but switches at times that are not known before the run.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenSwitch {
    /// The operation.
    pub operation: &'static str,
    /// Why.
    pub why: Unlocated,
    /// The formula.
    pub origin: Origin,
}

/// Breaks of a model in a run.
#[derive(Debug, Clone, Default)]
pub struct Breaks {
    /// First and last time of the run, s; `None` if they make no sense, which is reported elsewhere.
    span: Option<(f64, f64)>,
    /// Breaks in ascending order, once they are settled.
    pub list: Vec<Break>,
    /// What could not be located.
    pub open: Vec<OpenSwitch>,
}

impl Breaks {
    /// None yet, of a run from `start` to `end`.
    pub fn new(start: f64, end: f64) -> Self {
        let span = Some((start, end)).filter(|(a, b)| a.is_finite() && b.is_finite() && a < b);
        Self { span, ..Self::default() }
    }

    /// An entry of `model.breaks`.
    pub(super) fn state(&mut self, t: f64, formula: &Formula) {
        self.list.push(Break { t, operation: None, origin: formula.origin.clone() });
    }

    /// Looks for conditions on the time in formulas, each with the place of its text.
    pub(super) fn find(&mut self, graph: &Graph, formulas: &[(Id, Origin)]) {
        let Some(span) = self.span else { return };
        let roots: Vec<Id> = formulas.iter().map(|(id, _)| *id).collect();
        let mut switches = graph.switches(&roots, span, MAX_BREAKS);
        if switches.is_empty() {
            return;
        }
        // A switch belongs to the first formula in which it stands: definitions come before what uses them.
        let mut seen = BTreeSet::new();
        for (root, origin) in formulas {
            let inside = graph.below(*root, |id| seen.insert(id));
            for switch in switches.iter_mut().filter(|s| inside.binary_search(&s.node).is_ok()) {
                let operation = switch.name;
                let located = self.list.iter().filter(|b| b.operation.is_some()).count();
                match std::mem::replace(&mut switch.times, Ok(Vec::new())) {
                    Ok(times) if located + times.len() <= MAX_BREAKS => {
                        let place = || origin.clone();
                        self.list.extend(times.into_iter().map(|t| Break {
                            t,
                            operation: Some(operation),
                            origin: place(),
                        }));
                    }
                    other => {
                        let why = other.err().unwrap_or(Unlocated::Many);
                        self.open.push(OpenSwitch { operation, why, origin: origin.clone() });
                    }
                }
            }
        }
    }

    /// Sorts the breaks, and keeps one of those that rounding alone tells apart: a stated one, if there is one.
    pub(super) fn settle(&mut self) {
        self.list.sort_by(|a, b| a.t.total_cmp(&b.t));
        let size = self.span.map_or(0.0, |(a, b)| a.abs().max(b - a));
        let mut kept: Vec<Break> = Vec::with_capacity(self.list.len());
        for b in self.list.drain(..) {
            match kept.last_mut() {
                Some(last) if b.t - last.t <= ROUNDINGS * f64::EPSILON * b.t.abs().max(1e-3 * size) => {
                    if last.operation.is_some() && b.operation.is_none() {
                        *last = b;
                    }
                }
                _ => kept.push(b),
            }
        }
        self.list = kept;
        // One line for a formula, however often it was read: many bodies may come from one record.
        let mut once: Vec<OpenSwitch> = Vec::new();
        for open in self.open.drain(..) {
            if !once.contains(&open) {
                once.push(open);
            }
        }
        self.open = once;
    }

    /// Their times, s.
    pub(super) fn times(&self) -> Vec<f64> {
        self.list.iter().map(|b| b.t).collect()
    }
}
