//! What a solver promises beyond the solution: the best percussions found, the same bits from a used solver, any start
//! guess, quick restarts, the iteration limit, options in their range.

use super::{SOME, assert_none, keeps_promises, solve};
use crate::random::FAMILIES;
use complementarity::linear::Dense;
use complementarity::solver::{Order, SOLVERS, make};
use complementarity::{Options, Problem, Set, Status};

#[test]
fn the_returned_percussions_are_no_worse_than_the_start() {
    // "r receives the best percussions found": the start guess is one of those found.
    let options = Options { max_iterations: 300, ..Options::default() };
    let mut worse = Vec::new();
    for info in SOLVERS {
        for family in FAMILIES {
            for index in 0..SOME {
                let problem = family.problem(index).problem;
                let mut u = vec![0.0; problem.size()];
                let before = problem.residual(&vec![0.0; problem.size()], &mut u);
                let (report, r) = solve(info.name, &problem, &options);
                let after = problem.residual(&r, &mut u);
                if !report.solved() && (after > before || after.is_nan()) {
                    worse.push(format!(
                        "{} on {} {index}: {before:.1e} -> {after:.1e}, {:?}",
                        info.name, family.name, report.status
                    ));
                }
            }
        }
    }
    assert_none("results worse than their start", &worse);
}

#[test]
fn a_used_solver_gives_the_same_bits_as_a_new_one() {
    let options = Options { max_iterations: 1000, ..Options::default() };
    for info in SOLVERS {
        let mut used = (info.make)();
        // Sizes and sets change from problem to problem.
        for index in 0..12 {
            for family in FAMILIES {
                let problem = family.problem(index).problem;
                let (expected, r) = solve(info.name, &problem, &options);
                let mut again = vec![0.0; problem.size()];
                let report = used.solve(&problem, &mut again, &options);
                let what = format!("{} on {} {index}", info.name, family.name);
                assert_eq!(report, expected, "{what}");
                let bits = |x: &[f64]| x.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
                assert_eq!(bits(&again), bits(&r), "{what}");
            }
        }
    }
}

#[test]
fn a_start_guess_of_nonsense_does_no_harm() {
    let options = Options { max_iterations: 2000, ..Options::default() };
    for family in FAMILIES.iter().filter(|f| f.certain) {
        for index in 0..10 {
            let problem = family.problem(index).problem;
            for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, -1e6] {
                for info in SOLVERS {
                    let mut r = vec![bad; problem.size()];
                    let report = (info.make)().solve(&problem, &mut r, &options);
                    let what = format!("{} on {} {index} from {bad}", info.name, family.name);
                    if info.name == "auto" {
                        assert!(report.solved(), "{what}: {report:?}");
                    }
                    if report.solved() {
                        keeps_promises(&what, &problem, &report, &r, &options);
                    } else if report.status != Status::Unsupported {
                        assert!(r.iter().all(|x| x.is_finite()), "{what}: {:?} left {r:?}", report.status);
                        assert!(!report.residual.is_nan(), "{what}: {report:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn solving_again_from_the_solution_takes_at_most_one_iteration_or_a_few_tries_for_the_last_digits() {
    let options = Options::default();
    let mut solver = make("auto").unwrap();
    let mut slow = Vec::new();
    for family in FAMILIES {
        for index in 0..200 {
            let problem = family.problem(index).problem;
            let mut r = vec![0.0; problem.size()];
            let first = solver.solve(&problem, &mut r, &options);
            if !first.solved() {
                continue;
            }
            let report = solver.solve(&problem, &mut r, &options);
            assert!(report.solved(), "{} {index}: {report:?}", family.name);
            // A solution at rounding accuracy is taken as it is, or after one step. One that only meets the tolerance gets
            // Newton's patience of three more tries: giving up earlier makes a body near the edge of its cone creep.
            let allowed = if first.residual <= 1e-13 { 1 } else { 4 };
            if report.iterations > allowed {
                let reason = solver.reason(&problem).unwrap_or_default();
                slow.push(format!("{} {index}: from {:.1e}, {report:?}, {reason}", family.name, first.residual));
            }
        }
    }
    assert_none("slow restarts", &slow);
}

#[test]
fn the_iteration_limit_is_kept() {
    for family in FAMILIES {
        for index in 0..10 {
            let problem = family.problem(index).problem;
            for limit in [1, 3] {
                let options = Options { max_iterations: limit, ..Options::default() };
                for info in SOLVERS.iter().filter(|s| s.name != "auto") {
                    let (report, _) = solve(info.name, &problem, &options);
                    // Lemke takes bilateral rows first by elimination, then as split variables: two runs.
                    let runs = if info.name == "lemke" { 2 } else { 1 };
                    assert!(
                        report.iterations <= runs * limit,
                        "{} on {} {index}: {report:?}, limit {limit}",
                        info.name,
                        family.name
                    );
                }
            }
        }
    }
}

#[test]
fn options_outside_their_range_are_refused() {
    let good = Options::default();
    assert!(good.validate().is_ok());
    for tolerance in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(Options { tolerance, ..good }.validate().unwrap_err().option, "tolerance");
    }
    assert_eq!(Options { max_iterations: 0, ..good }.validate().unwrap_err().option, "max_iterations");
    for w in [0.0, 2.0, -0.5, f64::NAN] {
        assert_eq!(Options { relaxation: Some(w), ..good }.validate().unwrap_err().option, "relaxation");
        let friction = Options { friction_relaxation: Some(w), ..good };
        assert_eq!(friction.validate().unwrap_err().option, "friction_relaxation");
    }
    for r in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(Options { r: [None, Some(r)], ..good }.validate().unwrap_err().option, "friction_r");
    }
    assert!(make("simplex").is_none());
}

#[test]
fn sweeps_in_any_order_and_with_any_factor_come_to_a_solution() {
    let orders = [Order::Natural, Order::Shuffled(1), Order::Shuffled(2), Order::Coloured];
    let mut solved = [0; 4];
    let mut tried = 0;
    // Bodies with contacts, in the plane and in space.
    for family in FAMILIES.iter().filter(|f| f.name.starts_with("bodies") && f.name != "bodies-joints") {
        for index in 0..40 {
            let problem = family.problem(index).problem;
            tried += 1;
            for (order, count) in orders.into_iter().zip(&mut solved) {
                for relaxation in [None, Some(0.9), Some(1.1)] {
                    let options = Options { order, relaxation, tolerance: 1e-8, ..Options::default() };
                    let (report, r) = solve("nsgs", &problem, &options);
                    keeps_promises(family.name, &problem, &report, &r, &options);
                    *count += usize::from(report.solved() && relaxation.is_none());
                }
            }
        }
    }
    // Natural order solves most of them; the others must not be worse by more than a few.
    assert!(solved.iter().all(|&n| n + 5 >= solved[0]) && 10 * solved[0] >= 9 * tried, "{solved:?} of {tried}");
}

#[test]
fn solvers_take_any_start_also_with_bilateral_rows_or_without_velocities() {
    let a = || Dense::from_rows(2, 2, vec![2.0, 0.5, 0.5, 1.0]).unwrap();
    let joint = Problem::dense(vec![Set::Free { dim: 1 }, Set::NonNegative], a(), vec![-1.0, -1.0]).unwrap();
    let still = Problem::lcp(a(), vec![0.0, 0.0]).unwrap();
    for problem in [joint, still] {
        for info in SOLVERS {
            for start in [[0.0, 0.0], [0.1, 0.2], [1.0, 1.0], [1e9, 1.0]] {
                let mut r = start.to_vec();
                let report = make(info.name).unwrap().solve(&problem, &mut r, &Options::default());
                assert!(report.solved(), "{} from {start:?}: {report:?}", info.name);
            }
        }
    }
}
