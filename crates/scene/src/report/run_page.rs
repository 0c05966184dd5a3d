//! The data of a run for the page.

use super::arrays::Arrays;
use super::page::write_page;
use super::plots::plots;
use super::replay::Replay;
use super::result::of_page;
use super::thinning::{Kept, Thinning, frames};
use crate::file::WatchList;
use crate::output::{Archive, Recorded, Rows, resolved};
use crate::page::shell_word;
use crate::prepare::Prepared;
use crate::run::RunOutcome;
use nonsmooth::State;
use nonsmooth::contract::{Candidates, Reach};
use nonsmooth::simulation::{Event, interpolate_step};
use serde_json::{Value, json};
use std::io::{self, Write};
use std::path::Path;

/// Approximate number of rows of plots.
const PLOT_ROWS: usize = 4000;
/// Most contacts with separate peaks; with more, the peaks of their sum are kept.
const MAX_SEPARATE_PEAKS: usize = 8;
/// Most events that are listed on the page.
const MAX_EVENTS: usize = 20_000;

/// Writes `report.html` of a run from its trajectory. `folder` is where its files are, as the user named it.
pub(crate) fn write_run_page(
    out: &mut impl Write,
    prepared: &Prepared,
    outcome: &RunOutcome,
    recorded: &Recorded,
    trajectory: &Path,
    folder: &str,
) -> io::Result<()> {
    let archive = Archive::open(trajectory)?;
    let s = &outcome.summary;
    let mut list = Candidates::default();
    prepared.evaluator().candidates(prepared.start.t, &prepared.start.q, &prepared.start.u, Reach::ALL, &mut list);
    let mut t = archive.rows("t")?;
    let rows = t.len();
    let span = if rows == 0 { (0.0, 0.0) } else { (t.one(0)?, t.one(rows - 1)?) };
    let mut found = if archive.has("found_row") { Some(FoundRows::open(&archive)?) } else { None };
    let carried = found.as_ref().map_or(0, |f| f.row.len());
    let mut replay = Replay::new(prepared, recorded, &list, &s.events, rows, carried);
    let (chosen, inside) = match &replay {
        Some((_, wanted)) => (frames(&mut t, *wanted)?, InnerFrames::of(prepared, span, wanted.saturating_sub(rows))),
        None => (Vec::new(), None),
    };
    let shown = replay.as_mut().map(|r| &mut r.0);
    let kept = scan(prepared, recorded, &archive, span, found.as_mut(), shown, &chosen, inside)?;

    let mut arrays = Arrays::default();
    let mut notes = Vec::new();
    let replay = match replay {
        Some((replay, _)) => replay.finish(&mut arrays, rows, &mut notes),
        None => {
            notes.push("No replay: the scene has no bodies and no [picture].".into());
            Value::Null
        }
    };
    let plotted = plots(prepared, recorded, &list, &archive, &kept, &mut arrays)?;
    if kept.len() < rows {
        let shown = kept.len();
        let certificate = if archive.has("residual") { ", residual, penetration" } else { "" };
        notes.push(format!(
            "Plots: {shown} of {rows} recorded steps; peaks of percussions{certificate} and step size are among them."
        ));
    }
    if prepared.every > 1 {
        notes.push(format!("One of {} steps is recorded: percussions between them are not shown.", prepared.every));
    }
    let observe = prepared.options.observe;
    let (_, others) = WatchList(observe).names();
    if !others.is_empty() {
        notes.push(format!("Not watched: {}.", others.join(", ")));
    }
    let listed = s.events.len().min(MAX_EVENTS);
    if listed < s.events.len() {
        notes.push(format!("Events: the first {listed}; events.csv lists {}.", s.events.len()));
    }
    let options = |map: serde_json::Map<String, Value>| -> Vec<Value> {
        map.into_iter().map(|(name, value)| json!({ "name": name, "value": plain(&value) })).collect()
    };
    let o = &prepared.options.solver_options;
    let solver = json!({ "tol": o.tolerance, "max_iterations": o.max_iterations });
    let solver = solver.as_object().cloned().unwrap_or_default();
    write_page(out, |data| {
        data.field("kind", &"run")?;
        data.field("format", &1)?;
        data.field("title", &prepared.scene.title.as_deref().unwrap_or(&prepared.document.name))?;
        data.field("scene", &prepared.document.name)?;
        data.field("version", &env!("CARGO_PKG_VERSION"))?;
        data.field("command", &command(prepared, folder))?;
        data.field("scene_text", &prepared.document.text)?;
        let overrides: Vec<&str> = prepared.document.overrides.iter().map(|o| o.text.as_str()).collect();
        data.field("overrides", &overrides)?;
        data.field("scheme", &json!({ "name": prepared.scheme.name, "options": options(resolved(prepared)) }))?;
        data.field("solver", &json!({ "name": prepared.options.solver, "options": options(solver) }))?;
        data.field("result", &of_page(prepared, outcome))?;
        let worst_at = json!({ "residual": s.worst_at.0, "penetration": s.worst_at.1 });
        data.field("worst_at", &observe.certificate.then_some(worst_at))?;
        data.field("warnings", &s.warnings)?;
        data.field("notes", &notes)?;
        data.field("time", &json!({ "start": span.0, "end": span.1 }))?;
        data.field("replay", &replay)?;
        data.field("plots", &plotted.plots)?;
        data.field("ledger", &plotted.ledger)?;
        let events = s.events[..listed].iter().map(event).collect::<Vec<_>>();
        data.field("events", &observe.events.then_some(events))?;
        data.field("events_unlisted", &(s.events.len() - listed + s.events_unlisted))?;
        data.field_with("arrays", |out| arrays.write(out))
    })
}

fn event(e: &Event) -> Value {
    let detail = e.change.map(|c| format!("{} {} {}", c.law, c.from, c.to));
    json!({ "t": e.t, "kind": e.kind.name(), "contact": e.contact, "detail": detail })
}

/// An option as it would be typed.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), String::from)
}

/// The command that repeats the run.
fn command(prepared: &Prepared, folder: &str) -> String {
    let mut out = format!("nonsmooth run {}", shell_word(&prepared.document.name));
    for o in &prepared.document.overrides {
        let (option, value) = o.typed.split_once(' ').unwrap_or(("--set", &o.text));
        out += &format!(" {option} {}", shell_word(value));
    }
    out + &format!(" --out {}", shell_word(folder))
}

/// Entries of contacts that detection found.
struct FoundRows {
    row: Rows,
    contact: Rows,
    percussion: Rows,
    sigma: Rows,
    next: usize,
}

impl FoundRows {
    fn open(archive: &Archive) -> io::Result<Self> {
        Ok(Self {
            row: archive.rows("found_row")?,
            contact: archive.rows("found_contact")?,
            percussion: archive.rows("found_percussion")?,
            sigma: archive.rows("found_sigma")?,
            next: 0,
        })
    }

    /// Hands over the entries of a row; their normal percussions in all.
    fn take(&mut self, row: usize, mut replay: Option<&mut Replay>) -> io::Result<f64> {
        let mut sum = 0.0;
        while self.next < self.row.len() && self.row.one(self.next)? as usize <= row {
            let mut p = [0.0; 2];
            self.percussion.read(self.next, &mut p)?;
            sum += p[0];
            if let Some(replay) = replay.as_deref_mut() {
                let (contact, sigma) = (self.contact.one(self.next)?, self.sigma.one(self.next)?);
                replay.add_found(row, contact as u32, p, sigma as u32);
            }
            self.next += 1;
        }
        Ok(sum)
    }
}

/// Whether steps have different lengths. The last one does not count: it ends with the run.
fn varies(dts: &mut Rows) -> io::Result<bool> {
    let (mut least, mut most) = (f64::INFINITY, 0.0f64);
    for row in 1..dts.len().saturating_sub(1) {
        let dt = dts.one(row)?;
        (least, most) = (least.min(dt), most.max(dt));
    }
    Ok(most > 1.000_001 * least)
}

/// Frames inside steps of adaptive schemes: some steps are so long that a straight line between their ends is not the motion.
#[derive(Clone, Copy)]
struct InnerFrames {
    /// Time between frames, s.
    spacing: f64,
}

/// Wanted number of frames of a run with long steps.
const SMOOTH_FRAMES: usize = 300;

impl InnerFrames {
    /// For a run that may have this number of further frames.
    fn of(prepared: &Prepared, (start, end): (f64, f64), frames: usize) -> Option<Self> {
        let spacing = (end - start) / frames.min(SMOOTH_FRAMES) as f64;
        // Between rows that are not the ends of one step nothing is known.
        (prepared.adaptive() && prepared.every == 1 && spacing.is_finite()).then_some(Self { spacing })
    }

    /// Shows the inside of a step without an impact, from one row to the next.
    fn show(&self, prepared: &Prepared, row: usize, from: &State, to: &State, sigma: &[f64], replay: &mut Replay) {
        let dt = to.t - from.t;
        let parts = (dt / self.spacing).ceil();
        for k in 1..parts as usize {
            let t = from.t + dt * k as f64 / parts;
            let (q, u) = interpolate_step(&prepared.evaluator(), from, to, dt, false, t);
            replay.frame_between(row, t, &q, &u, sigma);
        }
    }
}

/// One pass over all rows: makes the frames of the replay and chooses the rows of the plots.
fn scan(
    prepared: &Prepared,
    recorded: &Recorded,
    archive: &Archive,
    span: (f64, f64),
    mut found: Option<&mut FoundRows>,
    mut replay: Option<&mut Replay>,
    frames: &[usize],
    inside: Option<InnerFrames>,
) -> io::Result<Vec<Kept>> {
    let open = |name: &str| archive.rows(name);
    let (mut ts, mut dts) = (open("t")?, open("dt")?);
    let mut certificate = archive.some("residual")?.zip(archive.some("penetration")?);
    let (mut ps, mut sigmas, mut impacts) = (open("percussion")?, open("sigma")?, open("impact")?);
    let mut hits = open("hit")?;
    let (mut qs, mut us) = (open("q")?, open("u")?);
    let structure = prepared.system.structure();
    let (mut q, mut u) = (vec![0.0; structure.nq()], vec![0.0; structure.nu()]);
    let (mut p, mut sigma) = (vec![0.0; ps.width()], vec![0.0; sigmas.width()]);
    let normals: Vec<usize> = recorded.columns.iter().filter(|c| c.kind == "contact").map(|c| c.first).collect();
    let mut hit = vec![0.0; hits.width()];
    let rows = ts.len();
    // Signals: residual, penetration, percussions, longest and shortest step. What is not watched is zero.
    let single = normals.len() <= MAX_SEPARATE_PEAKS;
    let of_contacts = if single { normals.len() } else { 1 };
    let steps = 2 + of_contacts + usize::from(found.is_some());
    let varied = varies(&mut dts)?;
    let mut signals = vec![0.0; steps + if varied { 2 } else { 0 }];
    let mut thinning = Thinning::new(rows, span, signals.len(), PLOT_ROWS);
    let mut frames = frames.iter().peekable();
    for row in 0..rows {
        let t = ts.one(row)?;
        let dt = dts.one(row)?;
        if !p.is_empty() {
            ps.read(row, &mut p)?;
        }
        let impact = impacts.one(row)? != 0.0;
        if let (Some(inside), Some(replay), true) = (inside, replay.as_deref_mut(), row > 0 && !impact) {
            let mut state = |row: usize| -> io::Result<State> {
                qs.read(row, &mut q)?;
                us.read(row, &mut u)?;
                Ok(State::new(ts.one(row)?, q.clone(), u.clone()))
            };
            if dt > inside.spacing {
                let (from, to) = (state(row - 1)?, state(row)?);
                if !sigma.is_empty() {
                    sigmas.read(row, &mut sigma)?;
                }
                inside.show(prepared, row, &from, &to, &sigma, replay);
            }
        }
        if let Some(replay) = replay.as_deref_mut() {
            if !hit.is_empty() {
                hits.read(row, &mut hit)?;
            }
            replay.add(&p, &hit);
        }
        let carried = match found.as_deref_mut() {
            Some(found) => found.take(row, replay.as_deref_mut())?,
            None => 0.0,
        };
        if let Some((residuals, penetrations)) = &mut certificate {
            signals[..2].copy_from_slice(&[residuals.one(row)?, penetrations.one(row)?]);
        }
        let normal = normals.iter().map(|&c| p[c]);
        if single {
            signals[2..].iter_mut().zip(normal).for_each(|(s, p)| *s = p);
        } else {
            signals[2] = normal.fold(0.0, f64::max);
        }
        if found.is_some() {
            signals[2 + of_contacts] = carried;
        }
        if varied {
            // The start has no step.
            signals[steps..].copy_from_slice(&[dt, if row == 0 { f64::NEG_INFINITY } else { -dt }]);
        }
        thinning.push(row, t, carried, &signals);
        if frames.next_if_eq(&&row).is_some()
            && let Some(replay) = replay.as_deref_mut()
        {
            qs.read(row, &mut q)?;
            us.read(row, &mut u)?;
            if !sigma.is_empty() {
                sigmas.read(row, &mut sigma)?;
            }
            replay.frame(row, t, &q, &u, &sigma);
        }
    }
    Ok(thinning.finish())
}
