//! Verdicts.
//!
//! A measure beyond its bound B(h) may be a large coefficient. The walk then runs with h/4 and h/16: if the measure is still beyond its bound, and has not
//! shrunk from h/4 to h/16 by 4^(0.6 p), nor from h to h/16 by 16^(0.6 p), p its order, it is a failure. So is what is larger than half of its scale at a step that resolves the motion
//! (1 + T/τ) r^p ≤ 0.1, however fast it shrinks.

use crate::measure::{self, Measure};
use crate::motion::{self, Budget, Ending, Motion, Wanted};
use crate::twin;
use crate::walk::{Question, Walk};
use nonsmooth_scene::file::Document;

/// What a judge may spend, and what it asks of twins.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Cost of one run.
    pub budget: Budget,
    /// Whether twins in other units have the same bits.
    pub bits: bool,
    /// Step of the walk as it was drawn, s.
    pub coarsest: f64,
}

/// An invariant that does not hold.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    /// The invariant.
    pub name: &'static str,
    /// The number, and its bound.
    pub value: f64,
    /// Its bound.
    pub bound: f64,
    /// The number at smaller steps.
    pub finer: Vec<f64>,
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {:.3e}, bound {:.3e}", self.name, self.value, self.bound)?;
        if !self.finer.is_empty() {
            let list: Vec<String> = self.finer.iter().map(|v| format!("{v:.3e}")).collect();
            write!(f, " (with h/4, h/16: {})", list.join(", "))?;
        }
        Ok(())
    }
}

/// Why there is no measure.
#[derive(Debug, Clone, PartialEq)]
pub enum Failed {
    /// Refused by name.
    Refused(String),
    /// Stopped by name.
    Stopped(String),
    /// Beyond the budget.
    Cut,
    /// Neither reference nor sensitivity is known.
    Unclear,
    /// A panic.
    Panicked(String),
}

/// The verdict on a walk.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// All invariants hold.
    Passed,
    /// Refused by name.
    Refused(String),
    /// Stopped by name.
    Stopped(String),
    /// Too costly to judge, or without a reference.
    Open,
    /// Invariants that do not hold.
    Failed(Vec<Failure>),
}

/// Runs a document.
pub fn scene_motion(
    walk: &Walk,
    document: Document,
    at: &[f64],
    nudge: f64,
    units: f64,
    limits: &Limits,
) -> Result<Motion, Failed> {
    let facts = walk.entry().facts;
    let scene = match std::panic::catch_unwind(|| Walk::prepare(document)) {
        Ok(Ok(scene)) => scene,
        Ok(Err(e)) => return Err(Failed::Refused(e.message)),
        Err(_) => return Err(Failed::Panicked("while the scene was prepared".into())),
    };
    let acceleration = units * facts.size / (facts.tau * facts.tau);
    let wanted = Wanted { at, nudge, acceleration, passive: facts.passive, budget: limits.budget };
    let motion = motion::run(&scene, &wanted);
    match motion.ending.clone() {
        Ending::Refused(why) => Err(Failed::Refused(why)),
        Ending::Panicked(why) => Err(Failed::Panicked(why)),
        _ => Ok(motion),
    }
}

/// The measures of a walk.
pub fn measures(walk: &Walk, limits: &Limits) -> Result<Vec<Measure>, Failed> {
    match walk.question {
        Question::Alone => {
            let document = walk.document().map_err(|e| Failed::Refused(e.message))?;
            let motion = scene_motion(walk, document, &[], 0.0, 1.0, limits)?;
            match &motion.ending {
                Ending::Stopped(why) if why.is_empty() => Err(Failed::Panicked("it stopped without a reason".into())),
                Ending::Stopped(why) => Err(Failed::Stopped(why.clone())),
                Ending::Cut => Err(Failed::Cut),
                _ => Ok(measure::measures(walk, &walk.entry().facts, &motion)),
            }
        }
        Question::Agreement => twin::agreement(walk, limits),
        _ => twin::compare(walk, limits),
    }
}

/// Judges a walk.
pub fn judge(walk: &Walk, limits: &Limits) -> Verdict {
    let limits = Limits { coarsest: walk.step, ..*limits };
    let first = match measures(walk, &limits) {
        Ok(first) => first,
        Err(Failed::Refused(why)) => return Verdict::Refused(why),
        Err(Failed::Stopped(why)) => return Verdict::Stopped(why),
        Err(Failed::Cut | Failed::Unclear) => return Verdict::Open,
        Err(Failed::Panicked(_)) => return Verdict::Failed(vec![panic_failure()]),
    };
    let mut failures = Vec::new();
    let mut open = false;
    let doubtful = first.iter().any(|m| beyond(m) && m.vanishes && !gross(m));
    let finer: Vec<_> =
        if doubtful { [4, 16].iter().map(|f| measures(&walk.refined(*f), &limits)).collect() } else { Vec::new() };
    for m in first.iter().filter(|m| beyond(m)) {
        if !m.vanishes || gross(m) {
            failures.push(Failure { name: m.name, value: m.value, bound: m.bound, finer: Vec::new() });
            continue;
        }
        let same = |list: &Vec<Measure>| list.iter().find(|f| f.name == m.name).cloned();
        let later: Vec<Option<Measure>> = finer.iter().map(|f| f.as_ref().ok().and_then(same)).collect();
        match later.as_slice() {
            [Some(a), Some(b)] => {
                if !vanishes(a, b) && b.value > m.value / 16f64.powf(0.6 * f64::from(b.order)) {
                    failures.push(Failure {
                        name: m.name,
                        value: m.value,
                        bound: m.bound,
                        finer: vec![a.value, b.value],
                    });
                }
            }
            _ => open = true,
        }
    }
    match (failures.is_empty(), open) {
        (false, _) => Verdict::Failed(failures),
        (true, true) => Verdict::Open,
        (true, false) => Verdict::Passed,
    }
}

fn beyond(m: &Measure) -> bool {
    !(m.value <= m.bound)
}

/// Whether a measure vanishes as its order says: from a step to a quarter of it.
pub fn vanishes(coarse: &Measure, fine: &Measure) -> bool {
    !beyond(fine) || fine.value <= coarse.value / 4f64.powf(0.6 * f64::from(fine.order))
}

/// Wrong whatever the order.
fn gross(m: &Measure) -> bool {
    m.vanishes && m.resolved && m.value > 0.5 * m.scale && m.value > m.bound
}

fn panic_failure() -> Failure {
    Failure { name: "panic", value: 1.0, bound: 0.0, finer: Vec::new() }
}
