//! What a single run may not do.
//!
//! With S the energy that moves (largest kinetic energy, range of the potential, work of drives), τ the time in which velocities change, T the
//! length of the run, r = h/τ, and p the stated order of the scheme on this kind of motion, errors of energy are bounded by
//!
//! ```text
//! B(h) = 1e-8 S + 1e-12 max|E| + C (1 + T/τ) r^p S,   C = 0.3 .
//! ```
//!
//! The first term is two powers above the tolerance of Newton's method and of the solvers (1e-10), the second is rounding, the third the local error
//! r^{p+1} S of T/h steps. C is small: what is only a larger
//! coefficient shrinks with the step, and [`crate::judge`] looks at that.
//!
//! p is 1 where something is hit, closes, opens, slides or sticks, and on directions that turn unless the scheme states 2 there;
//! otherwise the order of the scheme, at most 4. `trapezoidal-lcp` states 2 through events that it locates.

use crate::catalogue::Facts;
use crate::motion::{Motion, Row};
use crate::walk::{Change, Walk};

/// A number that may not be beyond its bound.
#[derive(Debug, Clone, PartialEq)]
pub struct Measure {
    /// The invariant.
    pub name: &'static str,
    /// The number.
    pub value: f64,
    /// Its bound at this step.
    pub bound: f64,
    /// Order in the step at which it vanishes.
    pub order: u32,
    /// Whether smaller steps decide. Else the bound does.
    pub vanishes: bool,
    /// The scale of the number: half of it is wrong whatever the order, if the step resolves the motion.
    pub scale: f64,
    /// Whether the step resolves the motion.
    pub resolved: bool,
}

/// Coefficient of the bounds.
pub const C: f64 = 0.3;

/// Schemes that state order 2 on directions that turn.
fn second_order_on_turning(walk: &Walk) -> bool {
    let option = |key: &str| walk.options.iter().find(|(k, _)| k == key).map(|(_, v)| v.as_str());
    let half = option("theta").is_none_or(|v| v == "0.5") && option("directions") != Some("end");
    match walk.scheme.as_str() {
        "moreau-jean" | "projected-combined" => half,
        // With the explicit forecast it hops on curved gaps (docs/schemes/projected.md).
        "projected-direct" => half && option("forecast") == Some("free"),
        "rattle" | "tdg-minus" | "tdg-plus" => true,
        "trapezoidal-lcp" => option("laws") != Some("midpoint"),
        _ => false,
    }
}

/// Whether a change makes obstacles move.
fn sways(walk: &Walk) -> bool {
    walk.changes.iter().any(|c| match c {
        Change::Number { key, value, .. } => {
            ["parameters.sway", "parameters.omega"].contains(&key.as_str()) && *value != 0.0
        }
        Change::Set(key, value) => key == "parameters.omega" || (key.ends_with(".gap") && value.contains("sin")),
        _ => false,
    })
}

/// Whether a change bends a gap or lets a contact open.
fn bends(walk: &Walk) -> bool {
    walk.changes.iter().any(|c| match c {
        Change::Number { key, value, .. } => key == "parameters.bend" && *value != 0.0,
        Change::Set(key, _) => key.ends_with(".gap"),
        _ => false,
    })
}

/// Order at which errors of a run vanish.
pub fn order(walk: &Walk, facts: &Facts, motion: &Motion) -> u32 {
    let laws = motion.laws;
    let turning = facts.turning || bends(walk);
    // What is held is not hit, whatever the run says.
    let switches = laws.friction || laws.elements || (!facts.held && (laws.restitution.is_some() || motion.impact));
    match () {
        _ if switches && walk.scheme == "trapezoidal-lcp" && locates(walk) && facts.regular => 2,
        _ if switches || walk.scheme == "augmented" => 1,
        _ if turning && !second_order_on_turning(walk) => 1,
        _ => motion.order.clamp(1, 4),
    }
}

/// Whether `trapezoidal-lcp` locates all events, with the laws that are of order 2 through them.
fn locates(walk: &Walk) -> bool {
    let default = |key: &str, value: &str| walk.options.iter().all(|(k, v)| k != key || v == value);
    default("detection", "all") && default("variant", "II") && default("laws", "ends")
}

/// All measures of a run.
pub fn measures(walk: &Walk, facts: &Facts, motion: &Motion) -> Vec<Measure> {
    let mut out = Vec::new();
    let rows = &motion.rows;
    let (h, span) = (walk.step, walk.step * walk.steps as f64);
    let (r, n) = (h / facts.tau, 1.0 + span / facts.tau);
    let p = order(walk, facts, motion);
    let s = motion.throughput();
    let laws = motion.laws;
    let driven = facts.driven || sways(walk);
    let resolved = n * r.powi(p as i32) <= 0.1;
    // What sticks has the rounding of the forces that hold it, over the length of the motion.
    let held: f64 = motion.percussions.values().map(|p| p.abs()).sum::<f64>() / span * facts.size;
    let floor = 1e-8 * s + motion.rounding() + 1e-13 * held;
    let energy = |name, value: f64, p: u32| Measure {
        name,
        value,
        bound: floor + C * n * r.powi(p as i32) * s,
        order: p,
        vanishes: true,
        scale: s + 1e3 * motion.rounding(),
        resolved,
    };
    let hard = |name, value: f64, bound: f64| Measure {
        name,
        value,
        bound,
        order: 0,
        vanishes: false,
        scale: bound,
        resolved: true,
    };
    out.push(hard("finite", if motion.finite { 0.0 } else { 1.0 }, 0.5));
    // solver.accept: a step that is worse is not accepted.
    out.push(hard("residual", motion.residual, 1e-6));
    // A step that goes farther than three times the largest rates so far, and ten times the acceleration from rest, ends at another root.
    if r <= 0.5 && !facts.rest {
        out.push(hard("leap", motion.leap, 1.0 + 1e-6));
    }

    // Newton's law makes no energy if all contacts return the same part of their velocity, without friction or where friction acts on
    // other velocities; without restitution it never does. Slip that returns does not depend on the normal part.
    let uniform = laws.restitution.is_none_or(|(low, high)| low == high);
    let inelastic = laws.restitution.is_none_or(|(_, high)| high == 0.0) && !laws.tangential;
    let lawful = inelastic || (facts.central && uniform) || (uniform && !laws.friction);
    // Schatzman-Paoli spreads an impact over up to four steps (docs/schemes/schatzman-paoli.md); in between the velocities are those of no law.
    let impact = if walk.scheme == "schatzman-paoli" { 5 } else { 1 };
    // What rests has no energy that moves; its own measures are below.
    if !driven && !facts.rest {
        if lawful {
            out.push(energy("energy rises", rise(rows, impact, |r| r.kinetic + r.potential - r.works.active), p));
            out.push(energy("contacts drive", highest(rows, |r| r.works.normal + r.works.friction), p));
        }
        if facts.central || !laws.friction {
            out.push(energy("friction drives", highest(rows, |r| r.works.friction), p));
        }
        out.push(energy("passive forces drive", highest(rows, |r| r.works.passive), p));
        if laws.joints {
            out.push(energy("joints work", highest(rows, |r| r.works.joints.abs()), p));
        }
        let conservative = !laws.friction && !laws.elements && facts.passive.is_empty();
        if facts.held && conservative && laws.restitution.is_some() {
            out.push(energy("closed contacts work", highest(rows, |r| r.works.normal.abs()), p));
        }
        let elastic = laws.restitution.is_none_or(|(low, _)| low == 1.0);
        // θ other than 1/2, Schatzman-Paoli and D+ damp by design: of their order, so that the same bound holds.
        if conservative && elastic && lawful {
            let first = rows.first().map_or(0.0, |r| r.kinetic + r.potential);
            out.push(energy(
                "energy is lost",
                lasting(rows, impact, |r| (r.kinetic + r.potential - r.works.active - first).abs()),
                p,
            ));
        }
    }
    // An impact is seen a step late: h v. What is closed drifts at the order of the scheme. Schemes that keep gaps on position level
    // keep them to 1e-10 m (violation_tol), or a thousandth of Newton's tolerance.
    let kept = ["rattle", "projected-direct", "projected-combined"].contains(&walk.scheme.as_str());
    let seen_late = 1.5 * h * motion.approach + if driven { h * facts.size / facts.tau } else { 0.0 };
    let drift = 1e-7 * facts.size + C * n * r * r * facts.size;
    let deepest = motion.start_depth + if kept { 2e-10 + 1e-8 * facts.size } else { seen_late + drift };
    out.push(Measure {
        name: "penetration",
        value: motion.penetration,
        bound: deepest,
        order: if facts.held { p.min(2) } else { 1 },
        vanishes: !kept,
        scale: facts.size,
        resolved,
    });
    if let Some((i, far, reach)) = facts.stopped
        && h * motion.speed < reach
    {
        // Seen a step late at most; the way back from the wall is as long as the way to it if it bounces off at once.
        let way = motion.range.get(i).copied().unwrap_or(0.0);
        out.push(hard("through a wall", way, far.max(motion.speed * span - far) + h * motion.speed + 1e-6));
    }
    if facts.rest && !driven && !bends(walk) {
        let moved = motion.range.iter().fold(0.0f64, |m, v| m.max(*v));
        // The direct scheme chatters at rest with the explicit forecast, by design: g h² in every step at most.
        let chatter = if walk.scheme == "projected-direct" { 10.0 * span * h * 9.81 } else { 0.0 };
        out.push(hard("rest", moved, 1e-9 * facts.size + chatter));
        out.push(hard("rest of velocities", motion.speed, 1e-7 * facts.size / facts.tau + 10.0 * chatter));
    }
    out
}

/// Largest value.
fn highest(rows: &[Row], f: impl Fn(&Row) -> f64) -> f64 {
    rows.iter().map(f).fold(0.0, |m, v| if v <= m { m } else { v })
}

/// Largest value that lasts for some rows.
fn lasting(rows: &[Row], rows_of_an_impact: usize, f: impl Fn(&Row) -> f64) -> f64 {
    let least = |w: &[Row]| w.iter().map(&f).fold(f64::INFINITY, |m, v| if v >= m { m } else { v });
    rows.windows(rows_of_an_impact.min(rows.len()).max(1)).map(least).fold(0.0, |m, v| if v <= m { m } else { v })
}

/// Largest rise above an earlier value. What is lower for fewer rows than an impact takes does not count.
fn rise(rows: &[Row], rows_of_an_impact: usize, f: impl Fn(&Row) -> f64) -> f64 {
    let (mut low, mut most) = (f64::INFINITY, 0.0f64);
    for (i, row) in rows.iter().enumerate() {
        let v = f(row);
        if i + 1 >= rows_of_an_impact {
            let before = rows[i + 1 - rows_of_an_impact..=i].iter().map(&f).fold(f64::NEG_INFINITY, f64::max);
            low = low.min(before);
        }
        if !(v - low <= most) && low.is_finite() || v.is_nan() {
            most = v - low;
        }
    }
    most
}
