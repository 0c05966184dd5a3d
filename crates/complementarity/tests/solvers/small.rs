//! Small problems at the edge: empty, at rest, without compliance in some direction, without friction.

use super::{assert_none, dense, handles, keeps_promises, solve};
use complementarity::linear::Dense;
use complementarity::solver::SOLVERS;
use complementarity::{Options, Polygon, Problem, Set};
use std::sync::Arc;

#[test]
fn small_problems_at_the_edge_are_solved_by_all() {
    let empty = Problem::dense(vec![], Dense::zeros(0, 0), vec![]).unwrap();
    let at_rest =
        Problem::dense(vec![Set::NonNegative, Set::Coulomb { dim: 2, mu: 0.5 }], Dense::zeros(4, 4), vec![0.0; 4]);
    let apart = Problem::lcp(dense(&[&[1.0]]), vec![1.0]).unwrap();
    for info in SOLVERS {
        for problem in [&empty, &at_rest.clone().unwrap(), &apart] {
            if handles(info, problem) {
                let (report, r) = solve(info.name, problem, &Options::default());
                // At most the one iteration of an exact local solution.
                assert!(report.solved() && report.iterations <= 1, "{}: {report:?}", info.name);
                assert!(r.iter().all(|&v| v == 0.0));
            }
        }
    }
}

/// Problems in which a block, or all of them, has no compliance in some direction, with their only velocity.
#[test]
fn blocks_with_a_singular_matrix_are_solved() {
    let square = Arc::new(Polygon::regular(4).unwrap());
    let flat: &[&[f64]] = &[&[1.0, 0.0, 0.0], &[0.0, 1.0, 0.0], &[0.0, 0.0, 0.0]];
    let line: &[&[f64]] = &[&[1.0, 0.5, 0.0], &[0.5, 0.25, 0.0], &[0.0, 0.0, 0.0]];
    type Case<'a> = (&'a str, Set, &'a [&'a [f64]], &'a [f64]);
    let cases: Vec<Case> = vec![
        ("box, A = 0", Set::Interval { lower: -1.0, upper: 2.0 }, &[&[0.0]], &[-1.0]),
        ("disc, A = 0, fast", Set::Ball { dim: 2, radius: 1.0 }, &[&[0.0, 0.0], &[0.0, 0.0]], &[3.0, 4.0]),
        ("disc, A = 0, slow", Set::Ball { dim: 2, radius: 1.0 }, &[&[0.0, 0.0], &[0.0, 0.0]], &[0.3, 0.4]),
        ("disc, rank 1", Set::Ball { dim: 2, radius: 1.0 }, &[&[1.0, 0.0], &[0.0, 0.0]], &[0.0, 1.0]),
        ("disc, rank 1, slow", Set::Ball { dim: 2, radius: 1.0 }, &[&[1.0, 0.0], &[0.0, 0.0]], &[0.5, 0.1]),
        (
            "planar contact, no tangential compliance",
            Set::Coulomb { dim: 1, mu: 0.5 },
            &[&[1.0, 0.0], &[0.0, 0.0]],
            &[-1.0, 1.0],
        ),
        ("contact, rank 2, fast", Set::Coulomb { dim: 2, mu: 0.5 }, flat, &[-1.0, 0.0, 1.0]),
        ("contact, rank 2, slow", Set::Coulomb { dim: 2, mu: 0.5 }, flat, &[-1.0, 0.25, 0.1]),
        ("contact, rank 1", Set::Coulomb { dim: 2, mu: 0.5 }, line, &[-1.0, 1.0, 1.0]),
        (
            "polyhedral contact, rank 2, fast",
            Set::Polyhedral { mu: 0.5, polygon: square.clone() },
            flat,
            &[-1.0, 0.0, 1.0],
        ),
        ("polyhedral contact, rank 2, slow", Set::Polyhedral { mu: 0.5, polygon: square }, flat, &[-1.0, 0.25, 0.1]),
    ];
    let mut wrong = Vec::new();
    for (what, set, a, b) in cases {
        let problem = Problem::dense(vec![set], dense(a), b.to_vec()).unwrap();
        // The local solver claims exactness, `auto` is the default, Lemke where it applies decides them all.
        for name in ["auto", "nsgs", "lemke"] {
            let info = SOLVERS.iter().find(|s| s.name == name).unwrap();
            if handles(info, &problem) {
                let (report, r) = solve(name, &problem, &Options::default());
                keeps_promises(what, &problem, &report, &r, &Options::default());
                if !report.solved() {
                    wrong.push(format!("{name} on {what}: {:?} at {:.1e}, r = {r:?}", report.status, report.residual));
                }
            }
        }
    }
    assert_none("unsolved", &wrong);
}

#[test]
fn a_contact_without_friction_coefficient_does_not_pull() {
    // Two contacts without friction on one direction, of which the second would have to pull (found by the random
    // check): r_N < 0 with u = 0 must not count as solved.
    let set = Set::Coulomb { dim: 1, mu: 0.0 };
    let a = dense(&[&[1.0, 0.0, 1.0, 0.0], &[0.0, 1.0, 0.0, 0.0], &[1.0, 0.0, 2.0, 0.0], &[0.0, 0.0, 0.0, 1.0]]);
    // u = 0 would need r_N = (2, −1); the solution has r_N = (1, 0).
    let problem = Problem::dense(vec![set.clone(), set], a, vec![-1.0, 0.0, 0.0, 0.0]).unwrap();
    let mut u = vec![0.0; 4];
    assert!(problem.residual(&[2.0, 0.0, -1.0, 0.0], &mut u) > 0.1);
    assert_eq!(problem.residual(&[1.0, 0.0, 0.0, 0.0], &mut u), 0.0);
    for info in SOLVERS {
        let (report, r) = solve(info.name, &problem, &Options::default());
        keeps_promises(info.name, &problem, &report, &r, &Options::default());
        assert!(report.solved(), "{}: {report:?}", info.name);
        // 1e-10 is the tolerance of the solvers; the problem is well scaled.
        assert!((r[0] - 1.0).abs() < 1e-9 && r[2].abs() < 1e-9, "{}: {r:?}", info.name);
    }
}
