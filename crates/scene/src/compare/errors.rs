//! Errors of a run against a reference.

use super::curve::{Curve, Motion};
use super::reference::Reference;
use nonsmooth::contract::Evaluator;
use nonsmooth::measure::{Point, graph_distance};
use serde::Serialize;

/// Norms of the error of q or u.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Norms {
    /// Σ dt e.
    pub l1: f64,
    /// (Σ dt e²)^½.
    pub l2: f64,
    /// max e.
    pub sup: f64,
    /// Graph distance.
    pub graph: f64,
    /// Largest value of the reference.
    #[serde(skip)]
    pub peak: f64,
    /// Σ dt times that: the size of what `l1` is the error of.
    #[serde(skip)]
    pub sum: f64,
}

/// Errors of q, u and percussions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Errors {
    /// Of the coordinates.
    pub q: Norms,
    /// Of the velocities.
    pub u: Norms,
    /// Of normal percussions of contacts, summed up from the start, where the reference knows them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p: Option<Sums>,
}

/// Norms of the error of sums of percussions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Sums {
    /// Σ dt e.
    pub l1: f64,
    /// (Σ dt e²)^½.
    pub l2: f64,
    /// max e.
    pub sup: f64,
    /// Σ dt times the largest value of the reference.
    #[serde(skip)]
    pub sum: f64,
}

/// Coordinates or velocities.
type Pick = fn(&Motion) -> &Vec<f64>;

/// Samples of a curve per step, for the graph distance.
const SAMPLES_PER_STEP: usize = 8;
/// Most samples of a curve in a graph distance, unless it has more points itself.
const MAX_SAMPLES: usize = 1_000_000;

/// Points of the graph of a motion.
type Samples = Vec<(f64, Motion)>;

/// Times at which errors are taken.
#[derive(Debug, Clone, Copy)]
pub(super) enum SampleTimes<'a> {
    /// At step ends.
    Ends,
    /// At the Gauss points of every step.
    Dense,
    /// At these times.
    At(&'a [f64]),
}

/// Times, and what they weigh.
fn samples(run: &Curve, place: SampleTimes) -> (Vec<f64>, Vec<f64>) {
    match place {
        SampleTimes::Ends => {
            let weight = |k: usize| if k == 0 { 0.0 } else { run.t[k] - run.t[k - 1] };
            (run.t.clone(), (0..run.t.len()).map(weight).collect())
        }
        SampleTimes::Dense => {
            let (mut times, mut weights) = (Vec::new(), Vec::new());
            for w in run.t.windows(2) {
                for (x, weight) in nonsmooth::polynomial::gauss() {
                    times.push(w[0] + x * (w[1] - w[0]));
                    weights.push(weight * (w[1] - w[0]));
                }
            }
            (times, weights)
        }
        SampleTimes::At(at) => {
            let times = sorted(at);
            let weights = vec![1.0 / times.len() as f64; times.len()];
            (times, weights)
        }
    }
}

/// Errors of a run. `unit` lists groups of coordinates that are compared up to sign.
pub(super) fn errors(
    system: &Evaluator,
    run: &Curve,
    reference: &Reference,
    place: SampleTimes,
    unit: &[Vec<usize>],
) -> Errors {
    let (times, weights) = samples(run, place);
    let ends = matches!(place, SampleTimes::Ends);
    let (found, exact) = motions(system, run, reference, &times, ends, unit);
    let distance = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| (x - y) * (x - y)).sum::<f64>().sqrt();
    let names = reference.contacts();
    let p = (!names.is_empty()).then(|| {
        let known = |k: usize| if ends { run.percussions(k, &names) } else { run.percussions_at(times[k], &names) };
        let off = |k: usize| distance(&known(k), &reference.percussions(times[k], &names));
        let (l1, l2, sup) = sums((0..times.len()).map(|k| (weights[k], off(k))));
        let peak = largest(reference.percussions(times[times.len() - 1], &names));
        Sums { l1, l2, sup, sum: peak * weights.iter().sum::<f64>() }
    });
    let integral =
        |pick: Pick| sums((0..times.len()).map(|k| (weights[k], distance(pick(&found[k]), pick(&exact[k])))));
    let (over_q, over_u) = (integral(coordinates), integral(velocities));
    // The graph distance is that of the whole motions, or of the points at the given times alone. Both are sampled at the same times, so that
    // chords of smooth parts differ by no more than the motions; a closed form also at both sides of its jumps.
    let at_times = matches!(place, SampleTimes::At(_));
    let peaks = [coordinates as Pick, velocities]
        .map(|pick| exact.iter().map(|m| largest(pick(m).iter().copied())).fold(0.0, f64::max));
    let (mut mine, mut other): (Samples, Samples) = if at_times {
        (times.iter().copied().zip(found).collect(), times.iter().copied().zip(exact).collect())
    } else {
        let (from, to) = (run.t[0], run.t[run.t.len() - 1]);
        let common = common_times(run, reference, to);
        let other = match reference.curve() {
            Some(c) => c.graph(system, &common, from, to),
            None => with_jumps(system, reference, common.iter().map(|&t| (t, reference.at(system, t))).collect()),
        };
        (run.graph(system, &common, from, to), other)
    };
    if !unit.is_empty() {
        // Both take the sign of the reference along its curve.
        one_sign(&mut other, unit);
        for (t, (q, _)) in &mut mine {
            let k = other.partition_point(|(x, _)| x < t).min(other.len() - 1);
            align(q, &other[k].1.0, unit);
        }
    }
    let weight = weights.iter().sum::<f64>();
    let norms = |pick: Pick, (l1, l2, sup): (f64, f64, f64), peak: f64| {
        let components = mine.first().map_or(0, |(_, x)| pick(x).len());
        let graph = (0..components).fold(0.0f64, |worst, i| {
            let points = |c: &[(f64, Motion)]| c.iter().map(|(t, x)| (*t, pick(x)[i])).collect::<Vec<Point>>();
            worst.max(graph_distance(&points(&mine), &points(&other)))
        });
        Norms { l1, l2, sup, graph, peak, sum: peak * weight }
    };
    Errors { q: norms(coordinates, over_q, peaks[0]), u: norms(velocities, over_u, peaks[1]), p }
}

/// Times at which a run and its reference are sampled for the graph distance: their grid points up to the end, and equal parts of every step of
/// the run.
fn common_times(run: &Curve, reference: &Reference, to: f64) -> Vec<f64> {
    let parts = (MAX_SAMPLES / run.t.len().max(1)).clamp(1, SAMPLES_PER_STEP);
    let inside = |w: &[f64]| {
        (0..parts)
            .map(move |i| (w[0], w[1] - w[0], i as f64 / parts as f64))
            .map(|(t, h, s)| t + s * h)
            .collect::<Vec<f64>>()
    };
    let mut times: Vec<f64> = run.t.windows(2).flat_map(inside).collect();
    times.push(to);
    if let Some(c) = reference.curve() {
        times.extend(c.t.iter().copied().filter(|t| *t <= to && *t >= run.t[0]));
    }
    sorted(&times)
}

/// Largest size of numbers.
fn largest(values: impl IntoIterator<Item = f64>) -> f64 {
    values.into_iter().fold(0.0, |m, v| m.max(v.abs()))
}

/// Turns unit vectors along a curve so that none is opposite to the one before it.
fn one_sign(curve: &mut [(f64, Motion)], unit: &[Vec<usize>]) {
    for k in 1..curve.len() {
        let (before, rest) = curve.split_at_mut(k);
        align(&mut rest[0].1.0, &before[k - 1].1.0, unit);
    }
}

/// Motions of a run and of the reference at times, which are step ends or not.
fn motions(
    system: &Evaluator,
    run: &Curve,
    reference: &Reference,
    times: &[f64],
    ends: bool,
    unit: &[Vec<usize>],
) -> (Vec<Motion>, Vec<Motion>) {
    let (mut found, mut exact) = (Vec::with_capacity(times.len()), Vec::with_capacity(times.len()));
    for (k, &t) in times.iter().enumerate() {
        let (mut q, u) = if ends { run.point(k) } else { run.at(system, t) };
        let (q_exact, u_exact) = reference.at(system, t);
        align(&mut q, &q_exact, unit);
        found.push((q, u));
        exact.push((q_exact, u_exact));
    }
    (found, exact)
}

/// Σ w e, (Σ w e²)^½ and max e of weights and errors.
fn sums(errors: impl Iterator<Item = (f64, f64)>) -> (f64, f64, f64) {
    let (mut l1, mut l2, mut sup) = (0.0, 0.0, 0.0f64);
    for (w, e) in errors {
        l1 += w * e;
        l2 += w * e * e;
        sup = if e <= sup { sup } else { e };
    }
    (l1, l2.sqrt(), sup)
}

/// Largest change of a velocity between two samples.
fn change(a: &Motion, b: &Motion) -> f64 {
    a.1.iter().zip(&b.1).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max)
}

/// Samples of a closed form, with both sides of every jump of the velocity: intervals over which it changes much more than on the average are
/// bisected to the last bit.
fn with_jumps(system: &Evaluator, reference: &Reference, samples: Vec<(f64, Motion)>) -> Vec<(f64, Motion)> {
    let intervals = samples.len().saturating_sub(1).max(1) as f64;
    let mean = samples.windows(2).map(|w| change(&w[0].1, &w[1].1)).sum::<f64>() / intervals;
    let mut out: Vec<(f64, Motion)> = Vec::with_capacity(samples.len());
    for sample in samples {
        if let Some(last) = out.last().cloned()
            && change(&last.1, &sample.1) > 4.0 * mean
        {
            let (mut a, mut b) = (last, sample.clone());
            let total = change(&a.1, &b.1);
            loop {
                let t = 0.5 * (a.0 + b.0);
                if t <= a.0 || t >= b.0 {
                    break;
                }
                let middle = (t, reference.at(system, t));
                if change(&a.1, &middle.1) > change(&middle.1, &b.1) {
                    b = middle;
                } else {
                    a = middle;
                }
            }
            if change(&a.1, &b.1) > 0.1 * total {
                out.push(a);
                out.push(b);
            }
        }
        out.push(sample);
    }
    out
}

fn coordinates(x: &Motion) -> &Vec<f64> {
    &x.0
}

fn velocities(x: &Motion) -> &Vec<f64> {
    &x.1
}

fn sorted(at: &[f64]) -> Vec<f64> {
    let mut out = at.to_vec();
    out.sort_by(f64::total_cmp);
    out.dedup();
    out
}

/// Turns unit vectors (quaternions) to the sign that is nearer to the reference.
fn align(q: &mut [f64], exact: &[f64], unit: &[Vec<usize>]) {
    for group in unit {
        if group.iter().map(|&i| q[i] * exact[i]).sum::<f64>() < 0.0 {
            group.iter().for_each(|&i| q[i] = -q[i]);
        }
    }
}
