//! A race as text.

use super::profile::Profile;
use super::results::{Entry, Race};
use crate::problem::counted;
use std::fmt::Write;

/// One problem: a heading and a line per solver, the fastest marked.
pub(super) fn of_problem(solvers: &[&str], entry: &Entry) -> String {
    // Writing to a string cannot fail.
    let mut out = String::new();
    let p = match &entry.found {
        Err(error) => {
            let first = error.lines().next().unwrap_or_default();
            let _ = writeln!(out, "{}\n    ERROR: {first}\n", entry.file);
            return out;
        }
        Ok(p) => p,
    };
    let rank = p.rank.map_or("-".into(), |k| k.to_string());
    let (contacts, rows) = (counted(p.contacts, "contact"), counted(p.rows, "row"));
    let _ = writeln!(out, "{}: {}, {contacts}, {rows}, rank {rank}", entry.file, p.kind);
    let width = solvers.iter().map(|s| s.len()).max().unwrap_or(0).max(6);
    let _ = writeln!(out, "    {:width$} {:>11} {:>11} {:>10}  status", "solver", "seconds", "iterations", "residual");
    let fastest = p.fastest().map(|r| r.solver);
    for r in &p.runs {
        let mark = if Some(r.solver) == fastest { '*' } else { ' ' };
        let _ = writeln!(
            out,
            "  {mark} {:width$} {:>11.3e} {:>11} {:>10.2e}  {}",
            r.solver,
            r.seconds,
            r.iterations,
            r.residual,
            r.status.name()
        );
    }
    if let Some(apart) = p.apart.as_ref().filter(|a| a.several_motions()) {
        let (first, second, difference) = (apart.first, apart.second, apart.difference);
        let _ = writeln!(out, "    the motions differ: {first} and {second} by {difference:.1e} |b|");
    }
    out + "\n"
}

/// All problems: what each solver solved, and how its times compare with the best.
pub(super) fn of_solvers(race: &Race, profiles: &[Profile]) -> String {
    let mut out = String::new();
    let width = race.solvers.iter().map(|s| s.len()).max().unwrap_or(0).max(6);
    let problems = profiles.first().map_or(0, |p| p.problems);
    let problems = counted(problems, "problem");
    let _ = writeln!(out, "{problems}, tolerance {:e}, at most {} s each", race.tolerance, race.time_limit);
    let _ = writeln!(out, "{:width$} {:>8} {:>9} {:>14}", "solver", "solved", "fastest", "times the best");
    for p in profiles {
        let mean = p.mean.map_or("-".into(), |m| format!("{m:.2}"));
        let fastest = (p.share[0] * p.problems as f64).round();
        let _ = writeln!(out, "{:width$} {:>8} {:>9} {:>14}", p.solver, p.solved, fastest, mean);
    }
    let _ = writeln!(out, "(times the best: geometric mean over the problems that a solver solved)");
    let failed = race.entries.len() - race.read();
    if failed > 0 {
        let _ = writeln!(out, "{} could not be read", counted(failed, "file"));
    }
    out
}
