//! Results of a race, and their JSON and CSV.

use super::profile::Profile;
use crate::problem::{SolveOutcome, finite};
use complementarity::format::ProblemKind;
use serde::Serialize;

pub(super) struct Race {
    pub(super) tolerance: f64,
    /// For each solver and problem, s.
    pub(super) time_limit: f64,
    pub(super) solvers: Vec<&'static str>,
    pub(super) entries: Vec<Entry>,
}

/// A file, and what it held or why it could not be read.
pub(super) struct Entry {
    pub(super) file: String,
    pub(super) found: Result<Raced, String>,
}

/// A problem with one run per solver; fewer after an interrupt.
pub(super) struct Raced {
    pub(super) kind: ProblemKind,
    pub(super) contacts: usize,
    pub(super) rows: usize,
    pub(super) rank: Option<usize>,
    pub(super) runs: Vec<Run>,
    pub(super) apart: Option<MotionDifference>,
}

/// Two solvers, and the difference between the velocities of their solutions, relative to ‖b‖.
#[derive(Serialize)]
pub(super) struct MotionDifference {
    pub(super) first: &'static str,
    pub(super) second: &'static str,
    pub(super) difference: f64,
}

impl MotionDifference {
    /// Smallest difference of distinct motions: far above what residuals within the tolerance allow.
    const MIN_MOTION_DIFFERENCE: f64 = 1e-3;

    /// Whether there are several motions.
    pub(super) fn several_motions(&self) -> bool {
        self.difference > Self::MIN_MOTION_DIFFERENCE
    }
}

pub(super) struct Run {
    pub(super) solver: &'static str,
    pub(super) status: SolveOutcome,
    pub(super) seconds: f64,
    pub(super) iterations: usize,
    pub(super) residual: f64,
}

impl Raced {
    /// The run that solved the problem first, and its time.
    pub(super) fn fastest(&self) -> Option<&Run> {
        self.runs.iter().filter(|r| r.status.solved()).min_by(|a, b| a.seconds.total_cmp(&b.seconds))
    }
}

impl Race {
    /// The problems that could be read.
    pub(super) fn raced(&self) -> impl Iterator<Item = (&str, &Raced)> {
        self.entries.iter().filter_map(|e| Some((e.file.as_str(), e.found.as_ref().ok()?)))
    }

    /// How many could be read.
    pub(super) fn read(&self) -> usize {
        self.raced().count()
    }

    pub(super) fn json(&self, profiles: &[Profile]) -> String {
        let problems = self.entries.iter().map(ProblemJson::of).collect();
        let profile = |p: &Profile| ProfileJson { solver: p.solver, tau: p.tau.clone(), share: p.share.clone() };
        let race = RaceJson {
            tolerance: self.tolerance,
            time_limit: self.time_limit,
            problems,
            profiles: profiles.iter().map(profile).collect(),
        };
        serde_json::to_string(&race).unwrap_or_default()
    }

    /// A row per run; a file that could not be read has one row with the reason.
    pub(super) fn csv(&self) -> String {
        let mut out = String::from("file,kind,contacts,rows,rank,solver,status,seconds,iterations,residual,error\n");
        for e in &self.entries {
            let file = quoted(&e.file);
            match &e.found {
                Err(error) => out += &format!("{file},,,,,,,,,,{}\n", quoted(error)),
                Ok(p) => {
                    let rank = p.rank.map_or(String::new(), |k| k.to_string());
                    for r in &p.runs {
                        let residual = finite(r.residual).map_or(String::new(), |v| format!("{v:e}"));
                        out += &format!(
                            "{file},{},{},{},{rank},{},{},{:e},{},{residual},\n",
                            p.kind,
                            p.contacts,
                            p.rows,
                            r.solver,
                            r.status.name(),
                            r.seconds,
                            r.iterations
                        );
                    }
                }
            }
        }
        out
    }
}

#[derive(Serialize)]
struct RaceJson<'a> {
    tolerance: f64,
    time_limit: f64,
    problems: Vec<ProblemJson<'a>>,
    profiles: Vec<ProfileJson>,
}

/// `null` stands for what is not known or not finite.
#[derive(Serialize)]
struct ProblemJson<'a> {
    file: &'a str,
    kind: Option<&'static str>,
    contacts: Option<usize>,
    rows: Option<usize>,
    rank: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
    runs: Vec<RunJson>,
    /// The two solvers whose motions differ most.
    motion: Option<&'a MotionDifference>,
}

#[derive(Serialize)]
struct RunJson {
    solver: &'static str,
    status: &'static str,
    seconds: f64,
    iterations: usize,
    residual: Option<f64>,
}

#[derive(Serialize)]
struct ProfileJson {
    solver: &'static str,
    tau: Vec<f64>,
    share: Vec<f64>,
}

impl<'a> ProblemJson<'a> {
    fn of(entry: &'a Entry) -> Self {
        let (file, p) = (entry.file.as_str(), entry.found.as_ref().ok());
        let run = |r: &Run| RunJson {
            solver: r.solver,
            status: r.status.name(),
            seconds: r.seconds,
            iterations: r.iterations,
            residual: finite(r.residual),
        };
        Self {
            file,
            kind: p.map(|p| p.kind.name()),
            contacts: p.map(|p| p.contacts),
            rows: p.map(|p| p.rows),
            rank: p.and_then(|p| p.rank),
            error: entry.found.as_ref().err().map(String::as_str),
            runs: p.map_or(Vec::new(), |p| p.runs.iter().map(run).collect()),
            motion: p.and_then(|p| p.apart.as_ref()),
        }
    }
}

/// A field of a CSV file.
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.into() }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn fields_with_commas_quotes_and_lines_are_quoted() {
        assert_eq!(quoted("plain name.dat"), "plain name.dat");
        assert_eq!(quoted("a,\"b\"\nc"), "\"a,\"\"b\"\"\nc\"");
    }
}
