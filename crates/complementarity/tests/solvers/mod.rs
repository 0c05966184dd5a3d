//! Solvers × problems: every solver of the registry on every family of random problems, problems without solution,
//! Lemke's method on the classical examples, and what a solver promises beyond the solution.
//!
//! Whatever is reported solved is judged again in `random/verify.rs`, from the complementarity conditions.

mod families;
mod lemke;
mod no_solution;
mod planted;
mod promises;
mod residual;
mod small;
mod unique;
mod units;

use crate::random::verify::judge;
use complementarity::linear::Dense;
use complementarity::solver::{SolverInfo, make};
use complementarity::{Options, Problem, Report, Status};

fn handles(info: &SolverInfo, problem: &Problem) -> bool {
    problem.blocks().iter().all(|b| (info.handles)(&b.set))
}

fn solve(name: &str, problem: &Problem, options: &Options) -> (Report, Vec<f64>) {
    let mut r = vec![0.0; problem.size()];
    let report = make(name).unwrap().solve(problem, &mut r, options);
    (report, r)
}

fn dense(rows: &[&[f64]]) -> Dense {
    Dense::from_rows(rows.len(), rows.len(), rows.concat()).unwrap()
}

/// What a report promises but does not keep, if anything.
fn broken_promise(problem: &Problem, report: &Report, r: &[f64], options: &Options) -> Option<String> {
    let residual = problem.residual(r, &mut vec![0.0; problem.size()]);
    let verdict = judge(problem, r);
    let complaint = if report.residual.is_nan() {
        "residual is NaN"
    } else if report.residual.is_finite() && report.residual != residual {
        "residual is not that of the returned r"
    } else if report.solved() && report.residual > options.tolerance {
        "residual above the tolerance but called solved"
    } else if report.solved() && !verdict.confirms(options.tolerance) {
        "called solved but refuted"
    } else if !report.solved() && report.status != Status::Unsupported && report.residual <= options.tolerance {
        "residual within the tolerance but not called solved"
    } else {
        return None;
    };
    Some(format!("{complaint}: {report:?}, {verdict:?}"))
}

fn keeps_promises(what: &str, problem: &Problem, report: &Report, r: &[f64], options: &Options) {
    if let Some(complaint) = broken_promise(problem, report, r, options) {
        panic!("{what}: {complaint}, r = {r:?}");
    }
}

fn assert_none(what: &str, list: &[String]) {
    assert!(list.is_empty(), "{} {what}:\n{}", list.len(), list.join("\n"));
}

/// Problems per family for every solver: more than 10³ problems.
const SOME: u64 = 45;
