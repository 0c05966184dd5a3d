//! `nonsmooth run`.

use crate::arguments::RunArguments;
use crate::errors::Failed;
use indicatif::{ProgressBar, ProgressStyle};
use nonsmooth::names::Names;
use nonsmooth::simulation::{Event, EventKind, Status, Summary};
use nonsmooth_scene::dump::Steps;
use nonsmooth_scene::file::WatchList;
use nonsmooth_scene::prepare::Prepared;
use nonsmooth_scene::report::run_json;
use nonsmooth_scene::run::{RunOptions, RunOutcome};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

pub(crate) fn run(arguments: &RunArguments) -> Result<ExitCode, Failed> {
    let dump = arguments.dump_steps.as_deref().map(Steps::parse).transpose();
    let dump = dump.map_err(|e| Failed(format!("--dump-steps: {e}")))?;
    let mut prepared = Prepared::load(&arguments.scene, &arguments.request())?;
    let interrupt = Arc::new(AtomicBool::new(false));
    let flag = interrupt.clone();
    // Without a handler Ctrl-C still ends the program, only less gracefully.
    let _ = ctrlc::set_handler(move || flag.store(true, Ordering::Relaxed));
    let options = RunOptions {
        at: arguments.at.clone(),
        out: arguments.out.clone(),
        force: arguments.force,
        max_steps: arguments.max_steps,
        max_bytes: arguments.max_bytes,
        interrupt: Some(interrupt),
        dump: dump.unwrap_or_default(),
        dump_to: arguments.dump_to.clone().unwrap_or_default(),
    };
    let bar = if arguments.json { ProgressBar::hidden() } else { ProgressBar::new(1000) };
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {percent:>3} %  {msg}  {eta} left") {
        bar.set_style(style);
    }
    let outcome = prepared.run(&options, &mut |t, fraction| {
        bar.set_position((1000.0 * fraction) as u64);
        bar.set_message(format!("t = {t:.4} s"));
    });
    bar.finish_and_clear();
    let outcome = outcome?;
    if arguments.json {
        say!("{}", run_json(&prepared, &outcome));
    } else {
        print_summary(&prepared, &outcome, arguments);
    }
    Ok(match outcome.summary.status {
        Status::Done => ExitCode::SUCCESS,
        Status::Stopped => ExitCode::from(1),
        Status::Interrupted => ExitCode::from(130),
    })
}

/// Most coordinates that are printed.
const MAX_SHOWN_VALUES: usize = 24;
/// Most events that are printed.
const MAX_SHOWN_EVENTS: usize = 24;

/// What a scheme that chooses its steps made of them.
fn print_choices(s: &Summary) {
    let w = &s.work;
    say!(
        "steps      {} rejected ({} with a switch, {} inaccurate), {} resolved a switch, {} loose, {} coarse",
        w.rejected,
        w.detected,
        w.inaccurate,
        w.resolved,
        w.loose,
        w.coarse
    );
    if w.coarse > 0 {
        say!(
            "warning    {} coarse steps: their switches are not resolved but as accurate as the base scheme",
            w.coarse
        );
    }
    if w.loose > 0 {
        say!("warning    {} loose steps: their error is larger than asked for, and shorter ones do not help", w.loose);
    }
}

fn print_summary(prepared: &Prepared, outcome: &RunOutcome, arguments: &RunArguments) {
    let s = &outcome.summary;
    let structure = prepared.system.structure();
    say!("{}", prepared.heading());
    let length = match (prepared.adaptive(), s.work.scheme_calls) {
        (true, calls) => format!("{calls} base steps"),
        (false, _) => format!("step {} s", prepared.options.step),
    };
    say!(
        "scheme     {}, {}, {} steps in {:.3} s ({:.0} steps/s)",
        prepared.scheme.name,
        length,
        s.work.steps,
        outcome.seconds,
        s.work.steps as f64 / outcome.seconds.max(1e-9)
    );
    match &s.stop {
        Some(stop) => say!("STOPPED    {stop}"),
        None if s.status == Status::Interrupted => say!("interrupted at t = {} s", s.end.t),
        None => say!("done       t = {} s", s.end.t),
    }
    if let Some(file) = &outcome.saved {
        say!("           the one-step problem that failed is in {file}");
    }
    for w in &s.warnings {
        say!("warning    {w}");
    }
    if prepared.adaptive() {
        print_choices(s);
    }
    let show = |label: &str, names: &Names, values: &[f64]| {
        for (i, (name, v)) in names.iter().zip(values).take(MAX_SHOWN_VALUES).enumerate() {
            say!("{:<10} {name:<12} {v:>18.10e}", if i == 0 { label } else { "" });
        }
        if names.len() > MAX_SHOWN_VALUES {
            say!("           ... {} more (--json or --out lists all)", names.len() - MAX_SHOWN_VALUES);
        }
    };
    show("state", &structure.coordinates, &s.end.q);
    show("", &structure.velocities, &s.end.u);
    for r in outcome.at.iter().filter(|r| !r.q.is_empty()) {
        let few = r.q.len() <= MAX_SHOWN_VALUES;
        let shown = |v: &[f64]| if few { format!("{v:?}") } else { format!("{:?} and more", &v[..MAX_SHOWN_VALUES]) };
        say!("at         t = {}: q = {}, u = {}", r.t, shown(&r.q), shown(&r.u));
    }
    let observe = prepared.options.observe;
    if observe.events {
        print_events(&s.events);
    }
    if observe.energy {
        let e = &s.energy;
        say!("energy     initial {:.6e} J, final {:.6e} J, largest {:.6e} J", e.initial, e.last, e.max);
        for (name, work) in s.ledger.iter().filter(|(_, w)| *w != 0.0) {
            say!("           {name:<28} {work:>+14.6e} J");
        }
        say!("closure    {:.1e} (of the ledger)", e.closure);
    }
    if observe.certificate {
        say!(
            "worst      residual {:.1e} at t = {:.4}, penetration {:.2e} m at t = {:.4}, joints {:.1e}",
            s.worst.residual(),
            s.worst_at.0,
            s.worst.penetration,
            s.worst_at.1,
            s.worst.joint_violation
        );
    }
    let (watched, others) = WatchList(observe).names();
    if !others.is_empty() {
        let watched = if watched.is_empty() { "nothing".into() } else { watched.join(", ") };
        say!("watched    {watched}; not {}", others.join(", "));
    }
    if let Some(dir) = &arguments.out {
        say!("files      {}: look at {}", dir.display(), dir.join("report.html").display());
    }
    if outcome.dumped > 0 {
        let folder = arguments.dump_to.as_ref().map_or(String::new(), |d| format!(" in {}", d.display()));
        say!("problems   of {} steps{folder}: step-*.json, for nonsmooth solve", outcome.dumped);
    }
}

fn print_events(events: &[Event]) {
    if events.is_empty() {
        return;
    }
    let count = |kind: EventKind| events.iter().filter(|e| e.kind == kind).count();
    let counts: Vec<String> = EventKind::ALL
        .iter()
        .map(|k| (k, count(*k)))
        .filter(|(_, n)| *n > 0)
        .map(|(k, n)| format!("{n} {}", k.name()))
        .collect();
    say!("events     {}", counts.join(", "));
    for e in events.iter().take(MAX_SHOWN_EVENTS) {
        let change = e.change.map_or(String::new(), |c| format!("  {}: {} to {}", c.law, c.from, c.to));
        say!("           t = {:<14.8} {:<20} {}{change}", e.t, e.kind.name(), e.contact.as_deref().unwrap_or(""));
    }
    if events.len() > MAX_SHOWN_EVENTS {
        say!("           ... {} more (--json or --out lists all)", events.len() - MAX_SHOWN_EVENTS);
    }
}
