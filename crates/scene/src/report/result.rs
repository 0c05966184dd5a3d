//! The result of a run as one JSON object.

use crate::prepare::Prepared;
use crate::run::{RunOutcome, status_name};
use nonsmooth::names::Names;
use nonsmooth::simulation::{Impact, ModeChange};
use serde::Serialize;
use serde_json::{Map, Value, json};

#[derive(Serialize)]
struct Stopped {
    t: f64,
    reason: String,
    saved: Option<String>,
}

#[derive(Serialize)]
struct At<'a> {
    t: f64,
    q: &'a [f64],
    u: &'a [f64],
}

#[derive(Serialize)]
struct Event<'a> {
    t: f64,
    kind: &'static str,
    contact: Option<&'a str>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    change: Option<ModeChange>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    impact: Option<Impact>,
}

/// `null` for what is not watched.
#[derive(Serialize)]
struct Worst {
    penetration: Option<f64>,
    gap_velocity: Option<f64>,
    joint_violation: Option<f64>,
    cone: Option<f64>,
    residual: Option<f64>,
    energy_closure: Option<f64>,
    multiplier: Option<f64>,
}

#[derive(Serialize)]
struct Energy {
    initial: f64,
    #[serde(rename = "final")]
    last: f64,
    max: f64,
    ledger: Map<String, Value>,
}

#[derive(Serialize)]
struct Stage {
    newton_max: usize,
    newton_avg: f64,
}

#[derive(Serialize)]
struct Work {
    steps: usize,
    rejected: usize,
    scheme_calls: usize,
    solves: usize,
    iterations: usize,
    newton_max: usize,
    newton_avg: f64,
    stages: Vec<Stage>,
    retries: usize,
    projection_max: usize,
    projection_avg: f64,
    index_set_max: usize,
    index_set_avg: f64,
    contacts_max: usize,
    contacts_avg: f64,
    pivots: usize,
    detected: usize,
    resolved: usize,
    inaccurate: usize,
    loose: usize,
    coarse: usize,
    wall_seconds: f64,
}

#[derive(Serialize)]
struct Report<'a> {
    status: &'static str,
    stopped: Option<Stopped>,
    scene: &'a str,
    scheme: &'static str,
    step: Option<f64>,
    t: f64,
    coordinates: &'a Names,
    q: &'a [f64],
    u: &'a [f64],
    at: Vec<At<'a>>,
    events: Option<Vec<Event<'a>>>,
    worst: Worst,
    energy: Option<Energy>,
    work: Work,
    percussions: Option<Map<String, Value>>,
    warnings: &'a [String],
}

/// JSON has no infinity: values that are not finite become the largest number.
fn finite(x: f64) -> f64 {
    if x.is_finite() { x } else { f64::MAX.copysign(if x.is_nan() { 1.0 } else { x }) }
}

fn event(e: &nonsmooth::simulation::Event) -> Event<'_> {
    let impact = e.impact.map(|i| Impact {
        percussion: finite(i.percussion),
        approach: finite(i.approach),
        separation: finite(i.separation),
        energy_lost: finite(i.energy_lost),
    });
    Event { t: e.t, kind: e.kind.name(), contact: e.contact.as_deref(), change: e.change, impact }
}

/// The result of a run.
pub fn run_json(prepared: &Prepared, outcome: &RunOutcome) -> String {
    serde_json::to_string(&report(prepared, outcome)).unwrap_or_default()
}

/// Most contacts found by detection whose percussions are listed on a page.
const MAX_FOUND_CONTACTS: usize = 1000;

/// The same for the page: without events, which the page lists separately, and without joints. Of very many contacts only those with the largest percussions.
pub(super) fn of_page<'a>(prepared: &'a Prepared, outcome: &'a RunOutcome) -> impl Serialize + 'a {
    let mut report = report(prepared, outcome);
    report.events.iter_mut().for_each(Vec::clear);
    let Some(percussions) = &mut report.percussions else { return report };
    percussions.retain(|_, value| value.get("components").is_none());
    let normal = |value: &Value| value["normal"].as_f64().unwrap_or(0.0);
    let mut found: Vec<f64> =
        percussions.iter().filter(|(name, _)| name.contains('-')).map(|(_, v)| normal(v)).collect();
    if found.len() > MAX_FOUND_CONTACTS {
        found.sort_by(|a, b| b.total_cmp(a));
        let least = found[MAX_FOUND_CONTACTS];
        percussions.retain(|name, v| !name.contains('-') || normal(v) > least);
    }
    report
}

fn report<'a>(prepared: &'a Prepared, outcome: &'a RunOutcome) -> Report<'a> {
    let s = &outcome.summary;
    let w = &s.work;
    let per = |total: usize, count: usize| if count == 0 { 0.0 } else { total as f64 / count as f64 };
    let newton_avg = per(w.newton, w.scheme_calls);
    let by_stage = |(total, newton_max): (usize, usize)| Stage { newton_max, newton_avg: per(total, w.scheme_calls) };
    let stages = match prepared.scheme.stages {
        1 => vec![Stage { newton_max: w.newton_max, newton_avg }],
        _ => w.stages.into_iter().map(by_stage).collect(),
    };
    let mut percussions = Map::new();
    let value = |p: &[f64]| json!({ "normal": finite(p[0]), "tangential": p[1..].iter().map(|x| finite(*x)).collect::<Vec<_>>() });
    for contact in &prepared.scene.contact {
        if let Some(p) = s.percussions.get(&contact.name.name) {
            percussions.insert(contact.name.name.clone(), value(p));
        }
    }
    // Contacts found by detection go by the names of both bodies, which no other name can be: it has a hyphen.
    for (name, p) in s.percussions.iter().filter(|(name, _)| name.contains('-')) {
        percussions.insert(name.clone(), value(p));
    }
    for element in &prepared.scene.element {
        if let Some(p) = s.percussions.get(&element.name.name) {
            let value = json!({ "normal": 0.0, "tangential": p.iter().map(|x| finite(*x)).collect::<Vec<_>>() });
            percussions.insert(element.name.name.clone(), value);
        }
    }
    for joint in &prepared.scene.joint {
        if let Some(p) = s.percussions.get(&joint.name.name) {
            let components: Vec<f64> = p.iter().map(|x| finite(*x)).collect();
            percussions.insert(joint.name.name.clone(), json!({ "components": components }));
        }
    }
    let stop = s.stop.as_ref();
    let observe = prepared.options.observe;
    let certified = |value: f64| observe.certificate.then(|| finite(value));
    Report {
        status: status_name(s.status),
        stopped: stop.map(|stop| Stopped { t: stop.t, reason: stop.to_string(), saved: outcome.saved.clone() }),
        scene: &prepared.document.name,
        scheme: prepared.scheme.name,
        step: (!prepared.adaptive()).then_some(prepared.options.step),
        t: s.end.t,
        coordinates: &prepared.system.structure().coordinates,
        q: &s.end.q,
        u: &s.end.u,
        at: outcome.at.iter().filter(|r| !r.q.is_empty()).map(|r| At { t: r.t, q: &r.q, u: &r.u }).collect(),
        events: observe.events.then(|| s.events.iter().map(event).collect()),
        worst: Worst {
            penetration: certified(s.worst.penetration),
            gap_velocity: certified(s.worst.gap_velocity),
            joint_violation: certified(s.worst.joint_violation),
            cone: certified(s.worst.cone),
            residual: certified(s.worst.residual()),
            energy_closure: observe.energy.then(|| finite(s.energy.closure)),
            multiplier: certified(s.worst.multiplier),
        },
        energy: observe.energy.then(|| Energy {
            initial: finite(s.energy.initial),
            last: finite(s.energy.last),
            max: finite(s.energy.max),
            ledger: s.ledger.iter().map(|(name, v)| (name.clone(), json!(finite(*v)))).collect(),
        }),
        work: Work {
            steps: w.steps,
            rejected: w.rejected,
            scheme_calls: w.scheme_calls,
            solves: w.solves,
            iterations: w.iterations,
            newton_max: w.newton_max,
            newton_avg,
            stages,
            retries: w.retries,
            projection_max: w.projection_max,
            projection_avg: per(w.projection, w.steps),
            index_set_max: w.index_sets_max,
            index_set_avg: per(w.index_sets, w.scheme_calls),
            contacts_max: w.contacts_max,
            contacts_avg: per(w.contacts, w.scheme_calls),
            pivots: w.pivots,
            detected: w.detected,
            resolved: w.resolved,
            inaccurate: w.inaccurate,
            loose: w.loose,
            coarse: w.coarse,
            wall_seconds: outcome.seconds,
        },
        percussions: observe.percussions.then_some(percussions),
        warnings: &s.warnings,
    }
}
