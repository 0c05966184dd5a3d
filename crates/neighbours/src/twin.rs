//! Runs that must agree: the same scene in other units, in another frame, with contacts stated twice, in other coordinates, and by other
//! schemes.
//!
//! Rounding differs between twins, and a motion may enlarge it. How much is measured: the scene runs twice more with its start
//! velocities changed by ± 1e-10 of the largest, the tolerance of Newton's method and the solvers. Twins may differ by ten times what that does, and by 1e-7 of the range of the motion
//! (1e-5 where the steps themselves are chosen by an error or located at events, which rounding shifts).

use crate::judge::{Failed, Limits, scene_motion};
use crate::measure::{self, Measure};
use crate::motion::{Ending, Motion};
use crate::walk::{Question, Walk, member};
use nonsmooth_scene::file::{Document, Value};

/// Change of the start velocities that shows what rounding does.
const NUDGE: f64 = 1e-10;
/// Times of samples as parts of the run: away from round numbers, at which events may lie.
const SAMPLES: [f64; 8] = [0.1123, 0.2347, 0.3571, 0.4793, 0.6017, 0.7243, 0.8467, 0.9691];

/// Times of samples of a run with this end, s.
pub fn times(end: f64) -> Vec<f64> {
    SAMPLES.iter().map(|s| s * end).collect()
}

/// Exponents of metre and second of the unit of a coordinate or velocity.
fn unit(d: &Document, name: &str, velocity: bool) -> (i32, i32) {
    let units = d.get(&["model"]).and_then(|m| member(m, "units"));
    let coordinate = name.trim_end_matches('\'');
    let text = |key: &str| match units.and_then(|u| member(u, key)).map(|n| &n.value) {
        Some(Value::String(s)) => Some(s.as_str()),
        _ => None,
    };
    match text(name).or_else(|| text(coordinate)) {
        Some("m/s") => (1, -1),
        Some("rad/s") => (0, -1),
        Some("rad") => (0, -i32::from(velocity)),
        // A body of the plane: NAME_x, NAME_y, NAME_phi.
        None if coordinate.ends_with("_phi") => (0, -i32::from(velocity)),
        _ => (1, -i32::from(velocity)),
    }
}

/// What both twins have at a sample, in the units of the first, and the group of quantities of one unit that each belongs to.
struct Common {
    /// Whether coordinates and velocities are compared; else energies.
    states: bool,
    /// Unit of every quantity in units of the first.
    scales: Vec<f64>,
    /// Exponents of its unit.
    groups: Vec<(i32, i32)>,
}

impl Common {
    fn new(walk: &Walk, document: &Document, metre: f64, second: f64) -> Result<Self, Failed> {
        if !matches!(walk.question, Question::Units | Question::Doubled) {
            return Ok(Self { states: false, scales: vec![1.0; 2], groups: vec![(2, -2); 2] });
        }
        let scene = Walk::prepare(document.clone()).map_err(|e| Failed::Refused(e.message))?;
        let structure = scene.system.structure();
        let q = structure.coordinates.iter().map(|n| unit(document, n, false));
        let groups: Vec<(i32, i32)> = q.chain(structure.velocities.iter().map(|n| unit(document, n, true))).collect();
        let scales = groups.iter().map(|(m, s)| metre.powi(*m) * second.powi(*s)).collect();
        Ok(Self { states: true, scales, groups })
    }

    fn of(&self, m: &Motion, i: usize, twin: bool) -> Vec<f64> {
        if !self.states {
            return m.energies.get(i).map_or(Vec::new(), |(kinetic, potential)| vec![*kinetic, *potential]);
        }
        let (q, u) = &m.samples[i];
        let scaled = |(v, scale): (&f64, &f64)| if twin { v / scale } else { *v };
        q.iter().chain(u).zip(&self.scales).map(scaled).collect()
    }

    /// Raises the values of a group to its largest.
    fn raise(&self, values: &mut [f64], by: impl Fn(usize) -> f64) {
        for j in 0..values.len() {
            let v = by(j);
            for k in 0..values.len() {
                if self.groups[k] == self.groups[j] && !(v <= values[k]) {
                    values[k] = v;
                }
            }
        }
    }
}

/// A number that its bound alone judges.
fn hard(name: &'static str, value: f64, bound: f64) -> Measure {
    Measure { name, value, bound, order: 0, vanishes: false, scale: bound, resolved: true }
}

/// Compares a walk with its twin.
pub fn compare(walk: &Walk, limits: &Limits) -> Result<Vec<Measure>, Failed> {
    let at = times(walk.step * walk.steps as f64);
    let value = |name: &str, default: f64| walk.other.iter().find(|(n, _)| n == name).map_or(default, |(_, v)| *v);
    let (metre, second) = (value("metre", 1.0), value("second", 1.0));
    let document = walk.document().map_err(|e| Failed::Refused(e.message))?;
    let first = scene_motion(walk, document.clone(), &at, 0.0, 1.0, limits)?;
    let other_at: Vec<f64> = at.iter().map(|t| t * second).collect();
    let twin = walk.twin_document().map_err(|e| Failed::Refused(e.message))?;
    let other = scene_motion(walk, twin, &other_at, 0.0, metre / (second * second), limits)?;
    match (&first.ending, &other.ending) {
        (Ending::Done, Ending::Done) => {}
        (Ending::Stopped(_), Ending::Stopped(why)) => return Err(Failed::Stopped(why.clone())),
        (Ending::Cut, _) | (_, Ending::Cut) => return Err(Failed::Cut),
        _ => return Ok(vec![hard("one of two twins stops", 1.0, 0.5)]),
    }
    // With friction, more contacts than the motion needs leave the motion open, not only the percussions: a plate on four corners.
    if first.redundant && first.laws.friction {
        return Err(Failed::Unclear);
    }
    if walk.question == Question::Coordinates {
        return Ok(vec![coordinates(walk, &first, &other)]);
    }
    let common = Common::new(walk, &document, metre, second)?;
    if limits.bits {
        let same = (0..at.len()).all(|i| {
            let (a, b) = (common.of(&first, i, false), common.of(&other, i, true));
            a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| a.to_bits() == b.to_bits())
        });
        return Ok(vec![hard("same bits", if same { 0.0 } else { 1.0 }, 0.5)]);
    }
    let nudged = [NUDGE, -NUDGE].map(|by| scene_motion(walk, document.clone(), &at, by, 1.0, limits));
    let nudged: Vec<Motion> = nudged.into_iter().filter_map(Result::ok).filter(|m| m.ending == Ending::Done).collect();
    if nudged.len() < 2 {
        return Err(Failed::Unclear);
    }
    let chosen = ["augmented", "trapezoidal-lcp"].contains(&walk.scheme.as_str());
    // A shift takes digits: some 1e-15 of it in every position, which formulas of a frame enlarge tenfold; over h in velocities that follow from
    // positions, where they sum up at worst.
    let shift = value("right", 0.0).abs().max(value("up", 0.0).abs());
    let lost = 1e-14 * shift * walk.steps as f64 / (walk.step * first.speed.max(f64::MIN_POSITIVE));
    let tolerance = if chosen { 1e-5 } else { 1e-7 } + lost.min(1.0);
    let size = walk.entry().facts.size;
    // What does not move has the rounding of its energy, or of its positions.
    let least = if common.states { 1e-9 * size } else { first.rounding() * (1.0 + 1e-2 * shift / size) };

    let start = common.of(&first, 0, false);
    let (mut range, mut felt) = (vec![0.0; start.len()], vec![0.0; start.len()]);
    for i in 0..at.len() {
        let a = common.of(&first, i, false);
        // Of positions the change counts, of velocities and energies the value.
        common.raise(&mut range, |j| if common.groups[j].1 == 0 { (a[j] - start[j]).abs() } else { a[j].abs() });
    }
    let mut worst = 0.0;
    for i in 0..at.len() {
        let (a, b) = (common.of(&first, i, false), common.of(&other, i, true));
        let c = nudged.iter().map(|m| common.of(m, i, false)).collect::<Vec<_>>();
        if b.len() != a.len() || c.iter().any(|c| c.len() != a.len()) {
            return Err(Failed::Unclear);
        }
        c.iter().for_each(|c| common.raise(&mut felt, |j| (a[j] - c[j]).abs()));
        for j in 0..a.len() {
            let excess = (a[j] - b[j]).abs() / (tolerance * range[j] + 10.0 * felt[j] + least);
            if !(excess <= worst) {
                worst = excess;
            }
        }
    }
    let name = match walk.question {
        Question::Units => "other units, other motion",
        Question::Turned => "turned frame, other motion",
        Question::Shifted => "shifted origin, other motion",
        _ => "doubled contacts, other motion",
    };
    Ok(vec![hard(name, worst, 1.0)])
}

/// Errors of schemes depend on coordinates; they vanish with the step.
fn coordinates(walk: &Walk, first: &Motion, other: &Motion) -> Measure {
    let facts = walk.entry().facts;
    let p = measure::order(walk, &facts, first);
    let (r, n) = (walk.step / facts.tau, 1.0 + walk.step * walk.steps as f64 / facts.tau);
    let s = first.throughput();
    let value = match (first.rows.last(), other.rows.last()) {
        (Some(a), Some(b)) => (a.kinetic - b.kinetic).abs(),
        _ => 0.0,
    };
    Measure {
        name: "other coordinates, other motion",
        value,
        bound: 1e-8 * s + measure::C * n * r.powi(p as i32) * s,
        order: p,
        vanishes: true,
        scale: s,
        resolved: n * r.powi(p as i32) <= 0.1,
    }
}

/// Schemes that make references, of different families.
const REFERENCES: [&str; 4] = ["tdg-minus", "rattle", "moreau-jean", "trapezoidal-lcp"];
/// How much smaller the step of the references is than that of the walk as it was drawn.
const FINER: f64 = 16.0;

/// Compares the end of a walk with what two other schemes agree on, with smaller steps.
pub fn agreement(walk: &Walk, limits: &Limits) -> Result<Vec<Measure>, Failed> {
    let document = walk.document().map_err(|e| Failed::Refused(e.message))?;
    let motion = scene_motion(walk, document, &[], 0.0, 1.0, limits)?;
    match &motion.ending {
        Ending::Done => {}
        Ending::Stopped(why) => return Err(Failed::Stopped(why.clone())),
        _ => return Err(Failed::Cut),
    }
    let mut references = Vec::new();
    for name in REFERENCES.iter().filter(|n| **n != walk.scheme) {
        if references.len() == 3 {
            break;
        }
        // The same for a walk and its refinements. The second one runs with twice the step too: schemes of one family share errors.
        let factor = (walk.step * FINER / limits.coarsest).round().max(1.0) as usize;
        let ends = |factor| {
            let finer = walk.refined(factor).with_scheme(name);
            let document = finer.document().ok()?;
            let m = scene_motion(&finer, document, &[], 0.0, 1.0, limits).ok()?;
            (m.ending == Ending::Done).then_some(m)
        };
        let Some(fine) = ends(factor) else { continue };
        if references.len() == 1 {
            let coarse = ends(factor.div_ceil(2));
            references.push(fine);
            references.extend(coarse);
        } else {
            references.push(fine);
        }
    }
    let [a, b, coarse] = references.as_slice() else { return Err(Failed::Unclear) };
    let facts = walk.entry().facts;
    let p = measure::order(walk, &facts, &motion);
    let span = walk.step * walk.steps as f64;
    let (r, n) = (walk.step / facts.tau, 1.0 + span / facts.tau);
    // Positions at the end as parts of their ranges; a coordinate that hardly moves has the range of the largest.
    let largest = a.range.iter().fold(0.0f64, |m, v| m.max(*v));
    let range = |i: usize| a.range[i].max(1e-2 * largest);
    let far = |x: &Motion, y: &Motion| {
        let pair = x.end.iter().zip(&y.end).enumerate();
        pair.map(|(i, (x, y))| (x - y).abs() / range(i)).fold(0.0, |m, v| if v <= m { m } else { v })
    };
    if largest == 0.0 {
        return Ok(Vec::new());
    }
    let unsure = far(a, b) + far(b, coarse);
    if !(unsure < 0.02) {
        return Err(Failed::Unclear);
    }
    Ok(vec![Measure {
        name: "schemes disagree",
        value: (far(&motion, b) - 5.0 * unsure).max(0.0),
        bound: 1e-6 + measure::C * n * r.powi(p as i32),
        order: p,
        vanishes: true,
        scale: 1.0,
        resolved: n * r.powi(p as i32) <= 0.1,
    }])
}
