//! The runs of a comparison, in parallel, with their errors and orders.

use super::curve::Curve;
use super::errors::{Errors, SampleTimes, errors};
use super::reference::Reference;
use super::request::{CompareRequest, SchemeChoice};
use crate::file::Document;
use crate::prepare::{Prepared, Request};
use nonsmooth::measure::fit_order;
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
    /// Order in u.
    pub u: Option<f64>,
    /// Its standard error.
    pub u_uncertainty: Option<f64>,
    /// Order in the sums of percussions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p: Option<f64>,
    /// Its standard error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p_uncertainty: Option<f64>,
    /// Order of u in graph distance.
    pub u_graph: Option<f64>,
    /// Its standard error.
    pub u_graph_uncertainty: Option<f64>,
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
        row.errors = Some(errors(&prepared.evaluator(), &curve, reference, place, step, unit));
    } else {
        row.reason = Some(summary.stop.map_or_else(|| "interrupted".into(), |s| s.to_string()));
    }
    row
}

/// Relative error below which it is rounding and takes no part in the fit of the order.
const ERROR_FLOOR: f64 = 1e-13;

fn orders(scheme: &SchemeChoice, rows: &[Row]) -> OrderRow {
    let mine = rows.iter().filter(|r| r.scheme == scheme.name && r.options == scheme.options);
    let measured: Vec<(f64, Errors)> = mine.filter_map(|r| r.errors.map(|e| (r.step, e))).collect();
    let fit = |pick: fn(&Errors) -> f64| {
        let (steps, errors): (Vec<f64>, Vec<f64>) =
            measured.iter().map(|(h, e)| (*h, pick(e))).filter(|(_, e)| *e > ERROR_FLOOR && e.is_finite()).unzip();
        fit_order(&steps, &errors)
    };
    let (q, u, graph) = (fit(|e| e.q.l1), fit(|e| e.u.l1), fit(|e| e.u.graph));
    let p = fit(|e| e.p.map_or(0.0, |p| p.l1));
    OrderRow {
        scheme: scheme.text(),
        q: q.map(|f| f.order),
        q_uncertainty: q.and_then(|f| f.uncertainty),
        u: u.map(|f| f.order),
        u_uncertainty: u.and_then(|f| f.uncertainty),
        p: p.map(|f| f.order),
        p_uncertainty: p.and_then(|f| f.uncertainty),
        u_graph: graph.map(|f| f.order),
        u_graph_uncertainty: graph.and_then(|f| f.uncertainty),
    }
}

/// The comparison as one JSON object.
pub fn compare_json(c: &Comparison) -> String {
    serde_json::to_string(c).unwrap_or_default()
}
