//! The long check of the solvers on random problems.
//!
//! ```text
//! cargo run --release -p complementarity --example random_check -- [PROBLEMS] [FAMILY]
//! ```
//!
//! Makes PROBLEMS random problems (default 10000), spread over all families of `tests/random` or of one FAMILY,
//! and solves each with `auto`, every twentieth with all solvers. Whatever is reported solved is judged again from
//! the complementarity conditions. Prints a table of families for `auto` and one for the other solvers; exits 1 if
//! anything reported solved is refuted.

#[allow(clippy::unwrap_used)] // problems that are right by construction
#[path = "../tests/random/mod.rs"]
mod random;

use complementarity::solver::{SOLVERS, Solver, SolverInfo};
use complementarity::{Options, Problem, Report, Status};
use random::verify::judge;
use random::{FAMILIES, Family};
use std::process::ExitCode;
use std::time::Instant;

/// Every how manieth problem goes to all solvers.
const SAMPLE: u64 = 20;
const STATUSES: [(Status, &str); 8] = [
    (Status::Solved, "solved"),
    (Status::MaxIterations, "max-it"),
    (Status::Stalled, "stalled"),
    (Status::Ray, "ray"),
    (Status::Infeasible, "infeas"),
    (Status::Singular, "singular"),
    (Status::NotFinite, "nonfin"),
    (Status::Unsupported, "unsupp"),
];

/// What came of the problems of one row of a table.
#[derive(Default)]
struct Tally {
    problems: usize,
    by_status: [usize; STATUSES.len()],
    worst: f64,
    refuted: Vec<u64>,
    unsolved: Vec<u64>,
    seconds: f64,
    slowest: f64,
}

impl Tally {
    fn solve(&mut self, solver: &mut dyn Solver, problem: &Problem, index: u64) -> Report {
        let options = Options::default();
        let mut r = vec![0.0; problem.size()];
        let start = Instant::now();
        let report = solver.solve(problem, &mut r, &options);
        let seconds = start.elapsed().as_secs_f64();
        self.seconds += seconds;
        self.slowest = self.slowest.max(seconds);
        self.problems += 1;
        self.by_status[STATUSES.iter().position(|s| s.0 == report.status).unwrap_or(0)] += 1;
        if report.solved() {
            let verdict = judge(problem, &r);
            self.worst = self.worst.max(verdict.violation);
            if !verdict.confirms(options.tolerance) {
                self.refuted.push(index);
            }
        } else {
            self.unsolved.push(index);
        }
        report
    }

    fn print(&self, name: &str) {
        print!("{name:<34}{:>8}", self.problems);
        for count in self.by_status {
            print!("{count:>9}");
        }
        println!("{:>11.1e}{:>9}{:>9.2}{:>10.4}", self.worst, self.refuted.len(), self.seconds, self.slowest);
    }
}

fn header(first: &str) {
    print!("{first:<34}{:>8}", "problems");
    for (_, name) in STATUSES {
        print!("{name:>9}");
    }
    println!("{:>11}{:>9}{:>9}{:>10}", "worst", "refuted", "s", "slowest s");
}

fn list(what: &str, name: &str, indices: &[u64]) {
    if !indices.is_empty() {
        let shown: Vec<String> = indices.iter().take(12).map(u64::to_string).collect();
        let more = if indices.len() > 12 { ", …" } else { "" };
        println!("{what} in {name}: {}{more}", shown.join(", "));
    }
}

/// All solvers but the first, which is `auto`.
fn others() -> impl Iterator<Item = &'static SolverInfo> {
    SOLVERS.iter().skip(1)
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let count = arguments.next().map_or(Ok(10_000), |a| a.parse::<u64>());
    let only = arguments.next();
    let families: Vec<&Family> = FAMILIES.iter().filter(|f| only.as_deref().is_none_or(|n| n == f.name)).collect();
    let Some(count) = count.ok().filter(|_| !families.is_empty() && arguments.next().is_none()) else {
        let names: Vec<&str> = FAMILIES.iter().map(|f| f.name).collect();
        eprintln!("usage: random_check [PROBLEMS] [FAMILY], where FAMILY is one of {}", names.join(", "));
        return ExitCode::from(2);
    };

    let start = Instant::now();
    let mut solvers: Vec<Box<dyn Solver>> = SOLVERS.iter().map(|s| (s.make)()).collect();
    let mut by_family: Vec<Tally> = families.iter().map(|_| Tally::default()).collect();
    let mut by_solver: Vec<Vec<Tally>> =
        families.iter().map(|_| SOLVERS.iter().map(|_| Tally::default()).collect()).collect();
    for k in 0..count {
        let (f, index) = ((k % families.len() as u64) as usize, k / families.len() as u64);
        let sample = families[f].problem(index);
        for (s, solver) in solvers.iter_mut().enumerate() {
            let info = &SOLVERS[s];
            if info.name == "auto" {
                by_family[f].solve(solver.as_mut(), &sample.problem, index);
            } else if index % SAMPLE == 0 && sample.problem.blocks().iter().all(|b| (info.handles)(&b.set)) {
                by_solver[f][s].solve(solver.as_mut(), &sample.problem, index);
            }
        }
    }

    println!("auto on every problem (a star marks families that it must solve)");
    header("family");
    for (family, tally) in families.iter().zip(&by_family) {
        tally.print(&format!("{}{}", family.name, if family.certain { " *" } else { "" }));
    }
    println!("\nsolved by each solver, of each {SAMPLE}th problem that it handles");
    print!("{:<34}", "family");
    for info in others() {
        print!("{:>16}", info.name);
    }
    println!();
    for (family, tallies) in families.iter().zip(&by_solver) {
        print!("{:<34}", family.name);
        for tally in tallies.iter().skip(1) {
            let text =
                if tally.problems > 0 { format!("{}/{}", tally.by_status[0], tally.problems) } else { "-".into() };
            print!("{text:>16}");
        }
        println!();
    }
    print!("{:<34}", "worst");
    for s in 1..SOLVERS.len() {
        print!("{:>16.1e}", by_solver.iter().map(|t| t[s].worst).fold(0.0, f64::max));
    }
    println!();
    println!();
    let mut refuted = 0;
    for (f, family) in families.iter().enumerate() {
        list("unsolved by auto", family.name, &by_family[f].unsolved);
        list("REFUTED auto", family.name, &by_family[f].refuted);
        refuted += by_family[f].refuted.len();
        for (info, tally) in SOLVERS.iter().zip(&by_solver[f]) {
            list(&format!("REFUTED {}", info.name), family.name, &tally.refuted);
            refuted += tally.refuted.len();
        }
    }
    let unsolved: usize = by_family.iter().map(|t| t.problems - t.by_status[0]).sum();
    println!(
        "{count} problems, {unsolved} unsolved by auto, {refuted} refuted, {:.1} s",
        start.elapsed().as_secs_f64()
    );
    if refuted > 0 { ExitCode::from(1) } else { ExitCode::SUCCESS }
}
