//! The runs of a comparison, in parallel, with their errors and orders.

use super::curve::Curve;
use super::errors::{Errors, SampleTimes, errors};
use super::reference::Reference;
use super::request::{CompareRequest, SchemeChoice};
use crate::file::Document;
use crate::prepare::{Prepared, Request};
use nonsmooth::measure::{Fit, fit_order};
use nonsmooth::scheme::SCHEMES;
use nonsmooth::simulation::{Observe, Observer, Status};
use nonsmooth::{Simulation, Summary};
use serde::Serialize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// One run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// Name of the scheme.
    pub scheme: String,
    /// Its options, `key=value`.
    pub options: Vec<String>,
    /// Step, s.
    pub step: f64,
    /// Calls of the scheme.
    pub calls: usize,
    /// CPU seconds of the time loop.
    pub seconds: f64,
    /// Errors, if the run reached its end.
    pub errors: Option<Errors>,
    /// Why it did not reach its end, if so.
    pub reason: Option<String>,
}

/// Fitted orders (L¹) of one scheme.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OrderRow {
    /// Scheme with its options.
    pub scheme: String,
    /// Order in q.
    pub q: Option<f64>,
    /// Its standard error.
    pub q_uncertainty: Option<f64>,
    /// Why there is no order, if so; likewise of the others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub q_reason: Option<String>,
    /// Order in u.
    pub u: Option<f64>,
    /// Its standard error.
    pub u_uncertainty: Option<f64>,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub u_reason: Option<String>,
    /// Order in the sums of percussions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p: Option<f64>,
    /// Its standard error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p_uncertainty: Option<f64>,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p_reason: Option<String>,
    /// Order of u in graph distance.
    pub u_graph: Option<f64>,
    /// Its standard error.
    pub u_graph_uncertainty: Option<f64>,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub u_graph_reason: Option<String>,
}

/// The whole comparison.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// Name of the scene.
    pub scene: String,
    /// What errors are measured against.
    pub reference: String,
    /// Runs, scheme by scheme, step by step.
    pub rows: Vec<Row>,
    /// Orders, scheme by scheme.
    pub orders: Vec<OrderRow>,
}

/// CPU time of this thread, where the system tells it, else time of the clock.
struct Timer {
    clock: Instant,
    cpu: Option<f64>,
}

fn thread_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse::<f64>().ok().map(|ns| ns * 1e-9)
}

impl Timer {
    fn start() -> Self {
        Self { clock: Instant::now(), cpu: thread_seconds() }
    }

    fn seconds(&self) -> f64 {
        let wall = self.clock.elapsed().as_secs_f64();
        match (self.cpu, thread_seconds()) {
            // The scheduler's counter moves in ticks; a short run is better timed by the clock.
            (Some(a), Some(b)) if b - a > 0.0 && wall > 0.02 => (b - a).min(wall),
            _ => wall,
        }
    }
}

/// Runs everything and measures it. Results do not depend on the number of threads.
pub fn compare(document: &Document, request: &CompareRequest) -> Result<Comparison, String> {
    let base = Request { end: request.end, set: request.set.clone(), ..Request::default() };
    let plain = Prepared::new(document.clone(), &base).map_err(|e| e.to_string())?;
    let (start, end) = (plain.start.t, plain.options.end);
    if let Some(t) = request.at.iter().find(|t| !(**t >= start && **t <= end)) {
        return Err(format!("--at {t} lies outside [{start}, {end}]"));
    }
    if let Some(h) = request.steps.iter().find(|h| !(**h > 0.0 && h.is_finite())) {
        return Err(format!("step {h}: a step must be finite and > 0"));
    }
    if request.dense && !request.at.is_empty() {
        return Err("--dense and --at: errors are taken over all of every step, or at given times".into());
    }
    let needs = plain.system.structure().needs;
    let schemes: Vec<SchemeChoice> = if request.schemes.is_empty() {
        let fitting = SCHEMES.iter().filter(|s| s.supports.missing(&needs).is_none());
        fitting.map(|s| SchemeChoice { name: s.name.into(), options: Vec::new() }).collect()
    } else {
        request.schemes.clone()
    };
    for s in &schemes {
        let mut set = request.set.clone();
        set.extend(s.overrides());
        let probe = Request {
            scheme: Some(s.name.clone()),
            step: request.steps.first().copied(),
            end: request.end,
            set,
            ..Request::default()
        };
        Prepared::new(document.clone(), &probe).map_err(|e| e.to_string())?;
    }
    let (reference, name) = Reference::make(document, &request.reference, &request.set, request.end, &request.steps)?;
    let unit = unit_groups(&plain);

    let jobs: Vec<(&SchemeChoice, f64)> =
        schemes.iter().flat_map(|s| request.steps.iter().map(move |h| (s, *h))).collect();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = if request.threads == 0 { cores } else { request.threads }.min(jobs.len()).max(1);
    let next = AtomicUsize::new(0);
    let rows: Mutex<Vec<Option<Row>>> = Mutex::new(vec![None; jobs.len()]);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    let Some((scheme, step)) = jobs.get(i) else { break };
                    let row = run(document, request, scheme, *step, &reference, &unit);
                    if let Ok(mut rows) = rows.lock() {
                        rows[i] = Some(row);
                    }
                }
            });
        }
    });
    let rows: Vec<Row> = rows.into_inner().unwrap_or_default().into_iter().flatten().collect();
    let orders = schemes.iter().map(|s| orders(s, &rows)).collect();
    Ok(Comparison { scene: document.name.clone(), reference: name, rows, orders })
}

fn unit_groups(p: &Prepared) -> Vec<Vec<usize>> {
    let Some(model) = &p.scene.model else { return Vec::new() };
    let place = |name: &str| model.coordinates.iter().position(|k| k.name == name);
    model.unit.iter().map(|g| g.iter().filter_map(|k| place(&k.name)).collect()).collect()
}

fn timed_run(simulation: &mut Simulation, observer: &mut dyn Observer) -> (Summary, f64) {
    let timer = Timer::start();
    let summary = simulation.run_with(observer);
    (summary, timer.seconds())
}

fn run(
    document: &Document,
    request: &CompareRequest,
    scheme: &SchemeChoice,
    step: f64,
    reference: &Reference,
    unit: &[Vec<usize>],
) -> Row {
    let mut row = Row {
        scheme: scheme.name.clone(),
        options: scheme.options.clone(),
        step,
        calls: 0,
        seconds: 0.0,
        errors: None,
        reason: None,
    };
    let mut set = request.set.clone();
    set.extend(scheme.overrides());
    let wanted =
        Request { scheme: Some(scheme.name.clone()), step: Some(step), end: request.end, set, ..Request::default() };
    let mut prepared = match Prepared::new(document.clone(), &wanted) {
        Ok(p) => p,
        Err(e) => {
            row.reason = Some(e.to_string());
            return row;
        }
    };
    prepared.options.observe = Observe::NONE;
    let mut curve = Curve::default();
    let runs = prepared.simulation().and_then(|mut simulation| {
        let (summary, seconds) = timed_run(&mut simulation, &mut curve);
        if !prepared.adaptive() {
            return Ok((summary, seconds));
        }
        // The curve of an extrapolating scheme needs side steps, which are not part of its cost: the run is repeated for timing.
        Ok((summary, timed_run(&mut prepared.simulation()?, &mut ()).1))
    });
    let (summary, seconds) = match runs {
        Ok(r) => r,
        Err(e) => {
            row.reason = Some(e.to_string());
            return row;
        }
    };
    row.seconds = seconds;
    row.calls = summary.work.scheme_calls;
    if summary.status == Status::Done {
        let place = match request.at.is_empty() {
            false => SampleTimes::At(&request.at),
            true if request.dense => SampleTimes::Dense,
            true => SampleTimes::Ends,
        };
        row.errors = Some(errors(&prepared.evaluator(), &curve, reference, place, unit));
    } else {
        row.reason = Some(summary.stop.map_or_else(|| "interrupted".into(), |s| s.to_string()));
    }
    row
}

/// Roundings of its largest value that the sum of a run has besides one per step: those of a short run.
const SHORT_RUN: f64 = 100.0;
/// Error, relative to the largest value, below which it must fall with the step to count: what stays there is rounding.
const SUSPECT: f64 = 1e-10;
/// Least order by which it must fall there.
const FALLS: f64 = 0.5;

/// A step, its error, the size of what it is the error of, and the calls of the scheme.
type Measured = (f64, f64, f64, usize);

/// The order of errors that are not rounding; else why there is none.
///
/// Rounding is an error of up to ε N max|x| after N steps; and one below 1e-10 max|x| that does not fall with the step.
fn order_of(mut measured: Vec<Measured>) -> (Option<Fit>, Option<String>) {
    if measured.len() < 2 {
        return (None, Some("fewer than two runs reached their end".into()));
    }
    measured.sort_by(|a, b| b.0.total_cmp(&a.0));
    let (mut steps, mut errors): (Vec<f64>, Vec<f64>) = Default::default();
    for (step, error, size, calls) in measured {
        let rounding = f64::EPSILON * (calls as f64 + SHORT_RUN) * size;
        let falls = |h: f64, e: f64| error <= e * (step / h).powf(FALLS) || step == h;
        let stays =
            error <= SUSPECT * size && !steps.iter().zip(&errors).next_back().is_none_or(|(&h, &e)| falls(h, e));
        if !(error > rounding) || stays || !error.is_finite() {
            break;
        }
        steps.push(step);
        errors.push(error);
    }
    let fit = fit_order(&steps, &errors);
    let why = fit.is_none().then(|| match steps.len() {
        0 | 1 => "fewer than two errors are above rounding".to_string(),
        _ => "all steps are the same".into(),
    });
    (fit, why)
}

fn orders(scheme: &SchemeChoice, rows: &[Row]) -> OrderRow {
    let mine = rows.iter().filter(|r| r.scheme == scheme.name && r.options == scheme.options);
    let measured: Vec<(&Row, Errors)> = mine.filter_map(|r| r.errors.map(|e| (r, e))).collect();
    let fit = |pick: fn(&Errors) -> (f64, f64)| {
        let of = |(r, e): &(&Row, Errors)| (r.step, pick(e).0, pick(e).1, r.calls);
        order_of(measured.iter().map(of).collect())
    };
    let (q, q_reason) = fit(|e| (e.q.l1, e.q.sum));
    let (u, u_reason) = fit(|e| (e.u.l1, e.u.sum));
    let (graph, u_graph_reason) = fit(|e| (e.u.graph, e.u.peak));
    let (p, p_reason) = match measured.iter().any(|(_, e)| e.p.is_some()) {
        true => fit(|e| e.p.map_or((0.0, 0.0), |p| (p.l1, p.sum))),
        false => (None, None),
    };
    let numbers = |fit: Option<Fit>| (fit.map(|f| f.order), fit.and_then(|f| f.uncertainty));
    let ((q, q_uncertainty), (u, u_uncertainty)) = (numbers(q), numbers(u));
    let ((p, p_uncertainty), (u_graph, u_graph_uncertainty)) = (numbers(p), numbers(graph));
    OrderRow {
        scheme: scheme.text(),
        q,
        q_uncertainty,
        q_reason,
        u,
        u_uncertainty,
        u_reason,
        p,
        p_uncertainty,
        p_reason,
        u_graph,
        u_graph_uncertainty,
        u_graph_reason,
    }
}

impl OrderRow {
    /// The orders that there are not, by name, with the reason.
    pub fn missing(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let all =
            [("q", &self.q_reason), ("u", &self.u_reason), ("u graph", &self.u_graph_reason), ("p", &self.p_reason)];
        all.into_iter().filter_map(|(name, why)| Some((name, why.as_deref()?)))
    }
}

/// The comparison as one JSON object.
pub fn compare_json(c: &Comparison) -> String {
    serde_json::to_string(c).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_not_fitted_to_rounding() {
        let measured = |errors: &[f64]| -> Vec<Measured> {
            errors.iter().enumerate().map(|(i, &e)| (0.1 / f64::from(1 << i), e, 2.0, 10 << i)).collect()
        };
        let fit = |errors: &[f64]| order_of(measured(errors));
        // Order 6 down to rounding, which takes no part.
        let (order, why) = fit(&[6.4e-8, 1e-9, 1.6e-11, 3e-13, 4e-13, 2e-13]);
        assert!((order.unwrap().order - 6.0).abs() < 0.2 && why.is_none());
        // Below 1e-10 of 2, and not falling: rounding of a long sum.
        let (order, why) = fit(&[2e-11, 1.9e-11, 2.2e-11]);
        assert!(order.is_none() && why.unwrap().contains("rounding"));
        assert!(fit(&[0.0, 0.0]).0.is_none());
        // An error that stays, but is large, has the order 0.
        assert!(fit(&[1e-3, 1e-3, 1e-3]).0.unwrap().order.abs() < 1e-12);
        assert!(fit(&[1e-3]).1.unwrap().contains("fewer than two runs"));
    }
}
