//! `nonsmooth solve`.

use crate::arguments::SolveArguments;
use crate::errors::Failed;
use crate::problem::{Attempt, LoadedProblem, SolveOutcome, counted, finite, known_solver, time_limit, tolerance};
use complementarity::{Mode, Set, Status};
use serde::Serialize;
use std::process::ExitCode;

pub(crate) fn solve(arguments: &SolveArguments) -> Result<ExitCode, Failed> {
    let solver = known_solver("--solver", &arguments.solver)?;
    let tolerance = tolerance(arguments.tol)?;
    let limit = time_limit(arguments.time_limit)?;
    let kind = arguments.kind.as_deref().map(str::parse).transpose().map_err(|e| Failed(format!("--kind: {e}")))?;
    let shown = arguments.problem.display();
    if arguments.problem.is_dir() {
        return Err(Failed(format!("{shown} is a folder, expected a file (`nonsmooth race` takes folders)")));
    }
    let ready = LoadedProblem::load(&arguments.problem, kind).map_err(|e| Failed(format!("{shown}: {e}")))?;
    let attempt = ready.solve(solver, tolerance, limit, arguments.warm, POLISH_MAX_ROWS);
    let reason = reason(&ready, &attempt, solver);
    if arguments.json {
        let answer = Answer {
            kind: ready.kind.name(),
            status: attempt.status.name(),
            solver: attempt.solver,
            residual: finite(attempt.residual),
            iterations: attempt.iterations,
            seconds: attempt.seconds,
            contacts: ready.contacts,
            rank: ready.rank,
            reason: &reason,
            r: &attempt.r,
            u: &attempt.u,
        };
        say!("{}", serde_json::to_string(&answer).unwrap_or_default());
    } else {
        let (contacts, rows) = (counted(ready.contacts, "contact"), counted(ready.rows, "row"));
        say!("{shown}: {}, {contacts}, {rows}", ready.kind);
        print_attempt(&ready, &attempt, tolerance, &reason);
    }
    Ok(if attempt.status.solved() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// The JSON of an answer; `null` stands for what is not known or not finite.
#[derive(Serialize)]
struct Answer<'a> {
    kind: &'a str,
    status: &'a str,
    solver: &'a str,
    residual: Option<f64>,
    iterations: usize,
    seconds: f64,
    contacts: usize,
    rank: Option<usize>,
    reason: &'a str,
    r: &'a [f64],
    u: &'a [f64],
}

/// Why this solver, or why it failed.
fn reason(ready: &LoadedProblem, attempt: &Attempt, asked: &str) -> String {
    if let Some(singular) = &ready.singular {
        return format!("{}: {singular}", Status::Singular.explain());
    }
    match attempt.status {
        SolveOutcome::Said(Status::Solved) if asked == "auto" => {
            let rank = ready.rank.map_or(String::new(), |k| format!("; rank {k} of {}", ready.rows));
            format!("{}{rank}", attempt.choice.as_deref().unwrap_or("nothing to solve"))
        }
        SolveOutcome::Said(Status::Solved) => format!("{asked} was asked for, and its answer was verified"),
        other => {
            let tried = attempt.choice.as_ref().map_or(String::new(), |c| format!(" ({c})"));
            format!("{}{tried}", other.explain())
        }
    }
}

/// Largest problem, in rows, whose answer is polished: about a second.
const POLISH_MAX_ROWS: usize = 400;

/// Most blocks that are listed.
const MAX_SHOWN_BLOCKS: usize = 5;

fn print_attempt(ready: &LoadedProblem, attempt: &Attempt, tolerance: f64, reason: &str) {
    let iterations = counted(attempt.iterations, "iteration");
    say!("solver     {}, {iterations} in {:.3e} s", attempt.solver, attempt.seconds);
    let verdict = if attempt.status.solved() { "solved" } else { "UNSOLVED" };
    say!("{verdict:<10} residual {:.2e}, computed anew (tolerance {tolerance:e})", attempt.residual);
    if !attempt.status.solved() {
        say!("status     {}", attempt.status.name());
    }
    say!("reason     {reason}");
    match ready.rank {
        Some(rank) => say!("rank       {rank} of {}", ready.rows),
        None => say!("rank       -"),
    }
    if attempt.non_unique {
        say!(
            "           the percussions are not unique: the velocities do not determine them; these have the least norm"
        );
    }
    if attempt.r.is_empty() {
        return;
    }
    say!("modes      {}", modes(ready, attempt));
    // The largest first; among equals the first.
    let blocks = ready.problem().blocks();
    let rows = |i: usize| blocks[i].start..blocks[i].start + blocks[i].set.dim();
    let size = |i: usize| attempt.r[rows(i)].iter().map(|v| v * v).sum::<f64>();
    let mut order: Vec<usize> = (0..blocks.len()).filter(|&i| size(i) > 0.0).collect();
    order.sort_by(|&i, &j| size(j).total_cmp(&size(i)));
    let list = |v: &[f64]| v.iter().map(|x| format!("{x:>13.5e}")).collect::<String>();
    for (k, &i) in order.iter().take(MAX_SHOWN_BLOCKS).enumerate() {
        let name = ready.names.get(i).filter(|n| !n.is_empty()).cloned().unwrap_or_else(|| format!("block {i}"));
        let label = if k == 0 { "largest r" } else { "" };
        say!("{label:<10} {name:<14} r ={}   u ={}", list(&attempt.r[rows(i)]), list(&attempt.u[rows(i)]));
    }
    if order.len() > MAX_SHOWN_BLOCKS {
        say!("           ... {} more (--json lists all)", order.len() - MAX_SHOWN_BLOCKS);
    }
}

/// How many blocks are in which mode.
fn modes(ready: &LoadedProblem, attempt: &Attempt) -> String {
    let names = ["open", "stick", "slip", "closed", "inside", "at a bound", "bilateral"];
    let mut counts = [0; 7];
    for (i, block) in ready.problem().blocks().iter().enumerate() {
        let rows = block.start..block.start + block.set.dim();
        let mode = ready.problem().mode(i, &attempt.r[rows.clone()], &attempt.u[rows]);
        let place = match (&block.set, mode.normal, mode.tangential) {
            (Set::Free { .. }, ..) => 6,
            (Set::NonNegative, Mode::Constraint, _) => 3,
            (Set::NonNegative, Mode::Impressed, _) => 0,
            (Set::Interval { .. } | Set::Ball { .. }, Mode::Constraint, _) => 4,
            (Set::Interval { .. } | Set::Ball { .. }, Mode::Impressed, _) => 5,
            (_, Mode::Impressed, _) => 0,
            (_, Mode::Constraint, Some(Mode::Constraint)) => 1,
            (_, Mode::Constraint, _) => 2,
        };
        counts[place] += 1;
    }
    let some: Vec<String> =
        names.iter().zip(counts).filter(|(_, n)| *n > 0).map(|(name, n)| format!("{n} {name}")).collect();
    some.join(", ")
}
