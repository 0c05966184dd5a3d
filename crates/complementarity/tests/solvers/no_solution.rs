//! Problems without solution: no solver calls them solved, `auto` says why, and nothing is reported as NaN.

use super::{assert_none, broken_promise, dense, handles, keeps_promises, solve};
use crate::random::named;
use complementarity::linear::Dense;
use complementarity::linear::Pattern;
use complementarity::solver::SOLVERS;
use complementarity::{FullProblem, Options, Problem, Set, Status};

/// (what, problem, status of `auto`). [`Status::Infeasible`]: equality rows that contradict each other, or a block that
/// no percussion satisfies, or constraints of several bodies that no motion can satisfy.
fn infeasible() -> Vec<(&'static str, Problem, Status)> {
    let fixed = |dim: usize, b: &[f64]| {
        Problem::dense(vec![Set::Coulomb { dim, mu: 0.5 }], Dense::zeros(1 + dim, 1 + dim), b.to_vec()).unwrap()
    };
    let half_line = Set::Interval { lower: -1.0, upper: f64::INFINITY };
    vec![
        (
            "bilateral rows that contradict each other",
            Problem::dense(vec![Set::Free { dim: 1 }; 2], dense(&[&[1.0, 1.0], &[1.0, 1.0]]), vec![1.0, 2.0]).unwrap(),
            Status::Infeasible,
        ),
        (
            "such rows beside a contact that can be solved",
            Problem::dense(
                vec![Set::Free { dim: 2 }, Set::NonNegative],
                dense(&[&[1.0, 1.0, 0.0], &[1.0, 1.0, 0.0], &[0.0, 0.0, 1.0]]),
                vec![1.0, 2.0, -1.0],
            )
            .unwrap(),
            Status::Infeasible,
        ),
        ("LCP with M = 0 and q < 0", Problem::lcp(Dense::zeros(2, 2), vec![-1.0, 1.0]).unwrap(), Status::Infeasible),
        ("two fixed bodies that approach, in the plane", fixed(1, &[-1.0, 0.5]), Status::Infeasible),
        ("two fixed bodies that approach, in space", fixed(2, &[-1.0, 0.5, 0.0]), Status::Infeasible),
        (
            "wedge: r1 - r2 >= 1 and r2 - r1 >= 1",
            Problem::lcp(dense(&[&[1.0, -1.0], &[-1.0, 1.0]]), vec![-1.0, -1.0]).unwrap(),
            Status::Infeasible,
        ),
        (
            "half line without compliance",
            Problem::dense(vec![half_line], Dense::zeros(1, 1), vec![-1.0]).unwrap(),
            Status::Infeasible,
        ),
    ]
}

/// A row of `n` discs between two walls that come closer, with or without friction, as a full problem: contacts 0 and n are the walls.
fn squeezed(n: usize, mu: f64, closing: f64) -> FullProblem {
    let mut pattern = Pattern::new(3 * n);
    (0..3 * n).for_each(|i| pattern.couple(&[i]));
    let mut full = FullProblem::new(&pattern);
    full.clear_blocks();
    for i in 0..3 * n {
        full.matrix.add(i, i, 1.0);
    }
    full.f.fill(0.0);
    // Discs move along x, y and turn; a contact between i − 1 and i presses along x.
    for contact in 0..=n {
        let dofs: Vec<u32> = [contact.checked_sub(1), (contact < n).then_some(contact)]
            .into_iter()
            .flatten()
            .flat_map(|disc| (0..3).map(move |k| (3 * disc + k) as u32))
            .collect();
        let left = contact > 0;
        let (normal, tangential): (Vec<f64>, Vec<f64>) = dofs
            .iter()
            .enumerate()
            .map(|(k, _)| {
                let own = left && k < 3;
                let sign = if own { -1.0 } else { 1.0 };
                match k % 3 {
                    0 => (sign, 0.0),
                    1 => (0.0, sign),
                    _ => (0.0, -0.5),
                }
            })
            .unzip();
        // The walls come closer.
        let c = if contact == 0 || contact == n { -closing } else { 0.0 };
        let values = full.push_block(Set::Coulomb { dim: 1, mu }, &dofs, &[c, 0.3]);
        values[..dofs.len()].copy_from_slice(&normal);
        values[dofs.len()..].copy_from_slice(&tangential);
    }
    full
}

#[test]
fn bodies_between_walls_that_come_closer_are_a_contradiction_many_or_few() {
    for n in [3, 60, 400] {
        for mu in [0.0, 0.4] {
            let mut full = squeezed(n, mu, 1.0);
            let problem = full.reduce().unwrap();
            let (report, _) = solve("auto", problem, &Options::default());
            assert_eq!(report.status, Status::Infeasible, "{n} discs, mu = {mu}: {report:?}");
            // Walls that go apart: nothing is called impossible.
            let mut full = squeezed(n, mu, -1.0);
            let (report, _) = solve("auto", full.reduce().unwrap(), &Options::default());
            assert!(report.solved(), "{n} discs, mu = {mu}: {report:?}");
        }
    }
}

/// z = 1 from an equality that has no unknown of its own; x = 1 makes w = z − x vanish, as z > 0 asks.
#[test]
fn a_circuit_whose_equalities_cannot_be_eliminated_is_not_called_infeasible() {
    let sets = vec![Set::Free { dim: 1 }, Set::NonNegative];
    let problem = Problem::dense(sets, dense(&[&[0.0, 1.0], &[-1.0, 1.0]]), vec![-1.0, 0.0]).unwrap();
    for info in SOLVERS.iter().filter(|s| handles(s, &problem)) {
        let (report, r) = solve(info.name, &problem, &Options::default());
        keeps_promises(info.name, &problem, &report, &r, &Options::default());
        assert_ne!(report.status, Status::Infeasible, "{}: {report:?}", info.name);
        if info.name == "auto" {
            assert!(report.solved() && r == [1.0, 1.0], "{report:?} {r:?}");
        }
    }
}

#[test]
fn problems_without_solution_end_without_being_solved() {
    for (what, problem, _) in infeasible() {
        for info in SOLVERS.iter().filter(|s| handles(s, &problem)) {
            let (report, r) = solve(info.name, &problem, &Options::default());
            keeps_promises(&format!("{} on {what}", info.name), &problem, &report, &r, &Options::default());
            assert!(!report.solved(), "{} on {what}: {report:?}", info.name);
            assert_ne!(report.status, Status::Unsupported, "{} on {what}", info.name);
            assert!(report.residual.is_finite(), "{} on {what}: {report:?}", info.name);
            assert!(r.iter().all(|v| v.is_finite()), "{} on {what}: {r:?}", info.name);
        }
    }
}

#[test]
fn auto_says_why_a_problem_has_no_solution() {
    let mut wrong = Vec::new();
    for (what, problem, status) in infeasible() {
        let (report, _) = solve("auto", &problem, &Options::default());
        if report.status != status {
            wrong.push(format!("{what}: {:?}, expected {status:?}", report.status));
        }
    }
    assert_none("other statuses", &wrong);
}

#[test]
fn a_solver_that_diverges_does_not_report_nan() {
    // Each contact presses the other three times as hard: percussions grow without bound (no solution exists), and
    // the bilateral row sees the difference of two infinities.
    let set = Set::Coulomb { dim: 1, mu: 0.5 };
    let a = dense(&[
        &[1.0, 0.1, 0.0, -0.1, 0.0],
        &[0.1, 1.0, 0.0, -3.0, 0.0],
        &[0.0, 0.0, 1.0, 0.0, 0.0],
        &[-0.1, -3.0, 0.0, 1.0, 0.0],
        &[0.0, 0.0, 0.0, 0.0, 1.0],
    ]);
    let sets = vec![Set::Free { dim: 1 }, set.clone(), set];
    let problem = Problem::dense(sets, a, vec![1.0, -1.0, 0.1, -1.0, 0.1]).unwrap();
    for info in SOLVERS {
        let (report, _) = solve(info.name, &problem, &Options::default());
        assert!(!report.solved() && !report.residual.is_nan(), "{}: {report:?}", info.name);
    }
    // Joints that hold a body in the direction of a contact: elimination leaves A_NN of the size of rounding (found by
    // the random check; relaxation and block Gauss-Seidel diverge on these).
    let mut nan = Vec::new();
    for index in [46, 423, 435] {
        let problem = named("bodies-joints").problem(index).problem;
        for info in SOLVERS {
            let (report, r) = solve(info.name, &problem, &Options::default());
            let complaint = broken_promise(&problem, &report, &r, &Options::default());
            nan.extend(complaint.map(|c| format!("{} on bodies-joints {index}: {c}", info.name)));
        }
    }
    assert_none("broken promises", &nan);
}
