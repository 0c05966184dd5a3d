//! `nonsmooth race`: every solver on every problem below a folder.

mod files;
mod page;
mod picture;
mod profile;
mod results;
mod table;

use crate::arguments::RaceArguments;
use crate::errors::Failed;
use crate::problem::{LoadedProblem, SolveOutcome, known_solver, time_limit, tolerance};
use complementarity::Status;
use complementarity::solver::SOLVERS;
use indicatif::{ProgressBar, ProgressStyle};
use nonsmooth_scene::output::Folder;
use nonsmooth_scene::page::shell_word;
use profile::profiles;
use results::{Entry, MotionDifference, Race, Raced, Run};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

pub(crate) fn race(arguments: &RaceArguments) -> Result<ExitCode, Failed> {
    let solvers = if arguments.solvers.is_empty() {
        SOLVERS.iter().map(|s| s.name).collect()
    } else {
        let mut list = Vec::new();
        for name in &arguments.solvers {
            let name = known_solver("--solvers", name.trim())?;
            if list.contains(&name) {
                return Err(Failed(format!("--solvers: `{name}` is given twice")));
            }
            list.push(name);
        }
        list
    };
    let tolerance = tolerance(arguments.tol)?;
    let limit = time_limit(arguments.time_limit)?;
    let shown = arguments.folder.display().to_string();
    let files =
        files::below(&arguments.folder, arguments.out.as_deref()).map_err(|e| Failed(format!("{shown}: {e}")))?;
    if files.is_empty() {
        return Err(Failed(format!("{shown}: no files in this folder, expected one-step problems")));
    }
    if let Some(path) = &arguments.out {
        Folder::check(path, arguments.force).map_err(|e| Failed(e.to_string()))?;
    }
    let interrupt = Arc::new(AtomicBool::new(false));
    let flag = interrupt.clone();
    // Without a handler Ctrl-C still ends the program, only less gracefully.
    let _ = ctrlc::set_handler(move || flag.store(true, Ordering::Relaxed));
    let bar =
        if arguments.json { ProgressBar::hidden() } else { ProgressBar::new((files.len() * solvers.len()) as u64) };
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len}  {msg}") {
        bar.set_style(style);
    }

    let mut race = Race { tolerance, time_limit: limit.as_secs_f64(), solvers, entries: Vec::new() };
    // Nothing is printed before a problem was read: a folder without any is bad input.
    let mut unread = Vec::new();
    for (name, path) in files {
        if interrupt.load(Ordering::Relaxed) {
            break;
        }
        bar.set_message(name.clone());
        let found = LoadedProblem::load(&path, None).map(|ready| run_all(&ready, &race, limit, &interrupt, &bar));
        if found.is_err() {
            bar.inc(race.solvers.len() as u64);
        }
        let entry = Entry { file: name, found };
        if !arguments.json {
            unread.push(table::of_problem(&race.solvers, &entry));
            if entry.found.is_ok() || race.read() > 0 {
                bar.suspend(|| unread.drain(..).for_each(|text| crate::print_text(&text)));
            }
        }
        race.entries.push(entry);
    }
    bar.finish_and_clear();
    let interrupted = interrupt.load(Ordering::Relaxed);
    if race.read() == 0 && !interrupted {
        return Err(Failed(no_problem(&shown, &race)));
    }
    let profiles = profiles(&race);
    if let Some(path) = &arguments.out {
        let folder = Folder::open(path, arguments.force).map_err(|e| Failed(e.to_string()))?;
        let picture = picture::svg(&race, &profiles);
        let page = page::html(&race, &profiles, &picture, &command(arguments));
        let json = race.json(&profiles) + "\n";
        let contents = [("race.csv", race.csv()), ("profiles.svg", picture), ("race.html", page), ("race.json", json)];
        for (name, content) in contents {
            folder.write(name, content.as_bytes()).map_err(|e| Failed(e.to_string()))?;
        }
    }
    if arguments.json {
        say!("{}", race.json(&profiles));
    } else {
        crate::print_text(&table::of_solvers(&race, &profiles));
        if let Some(path) = &arguments.out {
            say!("files      {}", path.display());
        }
        if interrupted {
            say!("interrupted after {} problems", race.read());
        }
    }
    let any = race.raced().any(|(_, raced)| raced.fastest().is_some());
    Ok(ExitCode::from(if interrupted { 130 } else { u8::from(!any) }))
}

/// Largest problem, in rows, for which a solver warms up before it is timed, and the time limit of that: a first call takes some microseconds
/// longer.
const WARM_UP_MAX_ROWS: usize = 200;
const WARM_UP_TIME: Duration = Duration::from_millis(1);

/// All solvers on one problem.
fn run_all(ready: &LoadedProblem, race: &Race, limit: Duration, interrupt: &AtomicBool, bar: &ProgressBar) -> Raced {
    let (mut runs, mut motions) = (Vec::new(), Vec::new());
    for &solver in &race.solvers {
        if interrupt.load(Ordering::Relaxed) {
            break;
        }
        if ready.rows <= WARM_UP_MAX_ROWS {
            ready.solve(solver, race.tolerance, WARM_UP_TIME, false, RACE_POLISH);
        }
        let attempt = ready.solve(solver, race.tolerance, limit, false, RACE_POLISH);
        // Solvers check the clock between iterations only: an answer after the limit does not count.
        let late = attempt.status.solved() && attempt.seconds > race.time_limit;
        let status = if late { SolveOutcome::Said(Status::TimeLimit) } else { attempt.status };
        let (seconds, iterations, residual) = (attempt.seconds, attempt.iterations, attempt.residual);
        runs.push(Run { solver, status, seconds, iterations, residual });
        if status.solved() {
            motions.push((solver, attempt.u));
        }
        bar.inc(1);
    }
    let apart = apart(&motions, ready.problem().b());
    Raced { kind: ready.kind, contacts: ready.contacts, rows: ready.rows, rank: ready.rank, runs, apart }
}

/// A race ends at the tolerance: no polishing.
const RACE_POLISH: usize = 0;

/// The two solvers whose velocities differ most, with the difference relative to ‖b‖.
fn apart(motions: &[(&'static str, Vec<f64>)], b: &[f64]) -> Option<MotionDifference> {
    let norm = |v: &mut dyn Iterator<Item = f64>| v.map(|x| x * x).sum::<f64>().sqrt();
    let scale = norm(&mut b.iter().copied());
    let scale = if scale > 0.0 { scale } else { 1.0 };
    let mut most: Option<MotionDifference> = None;
    for (i, (first, u)) in motions.iter().enumerate() {
        for (second, v) in &motions[i + 1..] {
            let difference = norm(&mut u.iter().zip(v).map(|(u, v)| u - v)) / scale;
            if most.as_ref().is_none_or(|m| difference > m.difference) {
                most = Some(MotionDifference { first, second, difference });
            }
        }
    }
    most
}

/// Most files that an error lists.
const MAX_LISTED_FILES: usize = 3;

fn no_problem(folder: &str, race: &Race) -> String {
    let mut text = format!("{folder}: none of {} files holds a one-step problem", race.entries.len());
    for entry in race.entries.iter().take(MAX_LISTED_FILES) {
        if let Err(e) = &entry.found {
            text += &format!("\n{}: {e}", entry.file);
        }
    }
    if race.entries.len() > MAX_LISTED_FILES {
        text += &format!("\n... {} more", race.entries.len() - MAX_LISTED_FILES);
    }
    text
}

/// The command that reproduces the page.
fn command(a: &RaceArguments) -> String {
    let mut out = format!("nonsmooth race {}", shell_word(&a.folder.display().to_string()));
    if !a.solvers.is_empty() {
        out += &format!(" --solvers {}", shell_word(&a.solvers.join(",")));
    }
    out + &format!(" --tol {:e} --time-limit {}", a.tol, a.time_limit)
}
