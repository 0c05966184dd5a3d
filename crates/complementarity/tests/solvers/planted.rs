//! Planted solutions: the judge confirms them and nothing beside them, and solvers find them where they are unique.

use super::{SOME, solve};
use crate::random::verify::judge;
use crate::random::{FAMILIES, Sample, named};
use complementarity::Options;

#[test]
fn planted_solutions_are_solutions() {
    // The generators themselves: the judge and the residual of the crate both accept what was planted.
    let mut planted = 0;
    for family in FAMILIES {
        for index in 0..SOME {
            let Sample { problem, planted: Some((r, _)) } = family.problem(index) else { continue };
            planted += 1;
            let verdict = judge(&problem, &r);
            assert!(verdict.violation <= verdict.rounding, "{} {index}: {verdict:?}", family.name);
            let residual = problem.residual(&r, &mut vec![0.0; problem.size()]);
            assert!(residual <= 10.0 * verdict.rounding, "{} {index}: {residual:e}", family.name);
        }
    }
    assert!(planted > 800);
}

#[test]
fn the_judge_refutes_what_is_nearly_a_solution() {
    // The judge can fail: a planted percussion that is off by 1e-6 in one component is never confirmed at 1e-10.
    // Only where A is regular: elsewhere the moved percussion may be a solution too.
    let mut refuted = 0;
    for name in
        ["lcp-pd", "lcp-p-matrix", "mixed-lcp", "friction-2d", "friction-3d", "friction-4d", "friction-polyhedral"]
    {
        for index in 0..SOME {
            let Sample { problem, planted: Some((mut r, _)) } = named(name).problem(index) else { continue };
            let moved = index as usize % r.len();
            r[moved] += 1e-6;
            assert!(!judge(&problem, &r).confirms(1e-10), "{name} {index}");
            refuted += 1;
        }
    }
    assert_eq!(refuted, 7 * SOME);
}

#[test]
fn unique_percussions_are_the_planted_ones() {
    // P-matrices and positive definite A: the solution is unique.
    let mut compared = 0;
    for name in ["lcp-pd", "lcp-p-matrix", "mixed-lcp"] {
        for index in 0..4 * SOME {
            let Sample { problem, planted: Some((planted, _)) } = named(name).problem(index) else { continue };
            for solver in ["auto", "lemke"] {
                let (report, r) = solve(solver, &problem, &Options::default());
                assert!(report.solved());
                for i in 0..r.len() {
                    // A direct solution: rounding times the condition number, at most 1/0.01 · 20 rows · ε.
                    assert!(
                        (r[i] - planted[i]).abs() < 1e-11,
                        "{solver} on {name} {index}: {r:?}, planted {planted:?}"
                    );
                }
                compared += 1;
            }
        }
    }
    assert_eq!(compared, 2 * 3 * 4 * SOME);
}
