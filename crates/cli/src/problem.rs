//! Shared by `solve` and `race`: a one-step problem from a file, and one attempt of a solver.
//!
//! A solver is timed from its start guess to its answer, without reading and reducing the problem. [`verify`] recomputes the residual of
//! the answer, which alone decides what is printed.

use crate::errors::Failed;
use complementarity::format::{self, Form, Loaded, ProblemKind};
use complementarity::linear::Singular;
use complementarity::solver::SOLVERS;
use complementarity::{Options, Problem, Status, rank, verify};
use nonsmooth::names::hint;
use serde::Deserialize;
use std::path::Path;
use std::time::{Duration, Instant};

/// No practical limit on iterations: the time limit ends a solve.
const MAX_ITERATIONS: usize = 1_000_000_000;

/// A problem, read and reduced.
pub(crate) struct LoadedProblem {
    pub(crate) kind: ProblemKind,
    pub(crate) contacts: usize,
    pub(crate) rows: usize,
    /// Rank of A, if A was small enough to compute it.
    pub(crate) rank: Option<usize>,
    /// Names of the blocks, if the file has them.
    pub(crate) names: Vec<String>,
    /// The unknown at which M̂ is singular, if it is: there is nothing to solve then.
    pub(crate) singular: Option<Singular>,
    guess: Option<Vec<f64>>,
    form: Form,
}

/// Result of one attempt of a solver.
pub(crate) struct Attempt {
    /// The solver whose r this is.
    pub(crate) solver: &'static str,
    pub(crate) status: SolveOutcome,
    pub(crate) iterations: usize,
    /// Of the solver alone.
    pub(crate) seconds: f64,
    /// Recomputed by [`verify`].
    pub(crate) residual: f64,
    pub(crate) r: Vec<f64>,
    pub(crate) u: Vec<f64>,
    /// Whether the percussions are not determined by the velocities.
    pub(crate) non_unique: bool,
    /// What a solver that chooses based its choice on.
    pub(crate) choice: Option<String>,
}

/// Status of a solve after verification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SolveOutcome {
    /// The status of the solver.
    Said(Status),
    /// The solver reports success, but the recomputed residual is above the tolerance.
    Refuted,
}

impl SolveOutcome {
    /// The status of a solver, checked against the recomputed residual.
    fn judge(status: Status, residual: f64, tolerance: f64) -> Self {
        let confirmed = residual <= tolerance;
        if status == Status::Solved && !confirmed { SolveOutcome::Refuted } else { SolveOutcome::Said(status) }
    }

    pub(crate) fn solved(self) -> bool {
        self == SolveOutcome::Said(Status::Solved)
    }

    /// The name in JSON and tables.
    pub(crate) fn name(self) -> &'static str {
        match self {
            SolveOutcome::Refuted => "refuted",
            SolveOutcome::Said(status) => match status {
                Status::Solved => "solved",
                Status::MaxIterations => "max_iterations",
                Status::TimeLimit => "time_limit",
                Status::Stalled => "stalled",
                Status::Ray => "ray",
                Status::Infeasible => "infeasible",
                Status::Singular => "singular",
                Status::NotFinite => "not_finite",
                Status::Unsupported => "unsupported",
            },
        }
    }

    /// One sentence for the user.
    pub(crate) fn explain(self) -> &'static str {
        match self {
            SolveOutcome::Said(status) => status.explain(),
            SolveOutcome::Refuted => {
                "the solver called it solved, but its residual, computed anew, is above the tolerance"
            }
        }
    }
}

/// The part of our JSON that the problem itself does not keep.
#[derive(Deserialize)]
struct Names {
    blocks: Vec<Name>,
}

#[derive(Deserialize)]
struct Name {
    #[serde(default)]
    name: String,
}

impl LoadedProblem {
    /// Reads a file and reduces what it holds.
    pub(crate) fn load(path: &Path, kind: Option<ProblemKind>) -> Result<Self, String> {
        let bytes = std::fs::read(path).map_err(|e| e.to_string())?;
        let Loaded { kind, mut form, guess, contacts, .. } = format::read(&bytes, kind).map_err(|e| e.to_string())?;
        let names = match kind {
            ProblemKind::Full => serde_json::from_slice(&bytes).map_or(Vec::new(), |n: Names| n.blocks),
            _ => Vec::new(),
        };
        let names = names.into_iter().map(|n| n.name).collect();
        let (rows, singular) = match &mut form {
            Form::Reduced(p) => (p.size(), None),
            Form::Full(p) => (p.c.len(), p.reduce().err()),
        };
        let mut ready = Self { kind, contacts, rows, rank: None, names, singular, guess, form };
        if ready.singular.is_none() {
            ready.rank = rank(ready.problem());
        }
        Ok(ready)
    }

    /// The reduced problem.
    pub(crate) fn problem(&self) -> &Problem {
        match &self.form {
            Form::Reduced(p) => p,
            Form::Full(p) => p.reduced(),
        }
    }

    /// Runs a solver, from zeros, or with `warm` from the guess of the file if it has one.
    ///
    /// `polish` as in [`Options::polish`].
    pub(crate) fn solve(
        &self,
        solver: &str,
        tolerance: f64,
        time_limit: Duration,
        warm: bool,
        polish: usize,
    ) -> Attempt {
        let mut r = match &self.guess {
            Some(guess) if warm => guess.clone(),
            _ => vec![0.0; self.rows],
        };
        let named = SOLVERS.iter().find(|s| s.name == solver).unwrap_or(&SOLVERS[0]);
        let mut attempt = Attempt {
            solver: named.name,
            status: SolveOutcome::Said(Status::Singular),
            iterations: 0,
            seconds: 0.0,
            residual: f64::INFINITY,
            r: Vec::new(),
            u: Vec::new(),
            non_unique: false,
            choice: None,
        };
        if self.singular.is_some() {
            return attempt;
        }
        if self.rows == 0 {
            attempt.status = SolveOutcome::Said(Status::Solved);
            attempt.residual = 0.0;
            return attempt;
        }
        let mut solver = (named.make)();
        let clock = Instant::now();
        let options = Options {
            tolerance,
            max_iterations: MAX_ITERATIONS,
            deadline: clock.checked_add(time_limit),
            polish,
            ..Options::default()
        };
        let report = solver.solve(self.problem(), &mut r, &options);
        attempt.seconds = clock.elapsed().as_secs_f64();
        if !r.iter().all(|v| v.is_finite()) {
            r.fill(0.0);
        }
        let found = match &self.form {
            Form::Reduced(p) => verify::reduced(p, &r),
            Form::Full(p) => verify::full(p, &r),
        };
        attempt.solver = report.solver;
        attempt.iterations = report.iterations;
        attempt.non_unique = report.non_unique;
        attempt.choice = solver.reason(self.problem());
        attempt.residual = found.residual;
        attempt.status = SolveOutcome::judge(report.status, found.residual, tolerance);
        attempt.r = r;
        attempt.u = found.u;
        attempt
    }
}

/// Checks the name of a solver.
pub(crate) fn known_solver(option: &str, name: &str) -> Result<&'static str, Failed> {
    if let Some(info) = SOLVERS.iter().find(|s| s.name == name) {
        return Ok(info.name);
    }
    let hint = hint(name, SOLVERS.iter().map(|s| s.name), || " (`nonsmooth list solvers` shows them)".into());
    Err(Failed(format!("{option}: unknown solver `{name}`{hint}")))
}

/// Checks a tolerance.
pub(crate) fn tolerance(value: f64) -> Result<f64, Failed> {
    if value > 0.0 && value.is_finite() {
        Ok(value)
    } else {
        Err(Failed(format!("--tol {value}: expected a number > 0")))
    }
}

/// Checks a time limit in seconds.
pub(crate) fn time_limit(value: f64) -> Result<Duration, Failed> {
    match Duration::try_from_secs_f64(value) {
        Ok(limit) if value > 0.0 => Ok(limit),
        _ => Err(Failed(format!("--time-limit {value}: expected a number of seconds > 0"))),
    }
}

/// A number for JSON: nothing that is not finite.
pub(crate) fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

/// `1 row`, `2 rows`.
pub(crate) fn counted(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_second_look_confirms_is_solved() {
        assert!(SolveOutcome::judge(Status::Solved, 1e-9, 1e-8).solved());
        assert!(SolveOutcome::judge(Status::Solved, 1e-8, 1e-8).solved());
        for residual in [1.1e-8, f64::INFINITY, f64::NAN] {
            let outcome = SolveOutcome::judge(Status::Solved, residual, 1e-8);
            assert!(!outcome.solved() && outcome.name() == "refuted", "{residual}");
        }
        assert_eq!(SolveOutcome::judge(Status::Stalled, 1e-9, 1e-8).name(), "stalled");
    }
}
