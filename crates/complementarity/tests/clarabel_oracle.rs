//! Clarabel as oracle for friction.
//!
//! Clarabel solves the convex, associated problem
//!
//! ```text
//! min ½ rᵀ A r + bᵀ r,  r ∈ K = Π {‖r_T‖ ≤ μ r_N}   ⇔   r ∈ K, w = A r + b ∈ K*, r·w = 0 .
//! ```
//!
//! Ours is not associated, but with û = u + μ‖u_T‖ n its solution (r*, u*) solves the associated problem whose b is
//! raised by μ‖u*_T‖ at each contact [DeSaxce1998]; and where all closed contacts stick, b is not raised at all there.
//!
//! A may be singular, so velocities A r are compared, not percussions. With r* exact, and d, d* the distances of
//! Clarabel's r from K and of its w from K*, g = r·w,
//!
//! ```text
//! (r − r*)ᵀ A (r − r*) = (r − r*)·(w − w*) ≤ g + d‖w*‖ + d*‖r*‖ =: e²,    ‖A(r − r*)‖ ≤ √(λ e²),  λ = trace A ≥ λ_max .
//! ```
//!
//! Clarabel is judged by e alone, whatever its status.

use crate::random::{Random, coulomb, dot, named, norm, plant};
use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettingsBuilder, DefaultSolver, IPSolver, SupportedConeT};
use complementarity::linear::Dense;
use complementarity::solver::make;
use complementarity::{Options, Problem, Set};

/// Clarabel's r for the associated problem with a given b.
fn oracle(problem: &Problem, b: &[f64]) -> Vec<f64> {
    let a = problem.as_dense().unwrap();
    let n = b.len();
    // Upper triangle of A, column by column.
    let (mut start, mut row, mut value) = (vec![0], Vec::new(), Vec::new());
    for j in 0..n {
        for i in 0..=j {
            row.push(i);
            value.push(a[(i, j)]);
        }
        start.push(row.len());
    }
    let p = CscMatrix::new(n, n, start, row, value);
    // s = (μ r_N, r_T) in second-order cones; a coefficient of zero leaves r_N ≥ 0 and r_T = 0.
    let (mut scale, mut cones) = (vec![1.0; n], Vec::new());
    for block in problem.blocks() {
        let Set::Coulomb { dim, mu } = block.set else { panic!("friction only") };
        if mu > 0.0 {
            scale[block.start] = mu;
            cones.push(SupportedConeT::SecondOrderConeT(1 + dim));
        } else {
            cones.push(SupportedConeT::NonnegativeConeT(1));
            cones.push(SupportedConeT::ZeroConeT(dim));
        }
    }
    let g = CscMatrix::new(n, n, (0..=n).collect(), (0..n).collect(), scale.iter().map(|v| -v).collect());
    let settings = DefaultSettingsBuilder::default()
        .verbose(false)
        // As far as it goes; what it reaches is measured.
        .tol_gap_abs(1e-15)
        .tol_gap_rel(1e-15)
        .tol_feas(1e-14)
        .max_iter(200)
        .build()
        .unwrap();
    let mut solver = DefaultSolver::new(&p, b, &g, &vec![0.0; n], &cones, settings).unwrap();
    solver.solve();
    solver.solution.x.clone()
}

/// Distance of x from the cone ‖x_T‖ ≤ μ x_N, from the geometry of the plane through the axis and x.
fn cone_distance(mu: f64, x: &[f64]) -> f64 {
    let t = norm(&x[1..]);
    let s = (1.0 + mu * mu).sqrt();
    if t <= mu * x[0] && x[0] >= 0.0 {
        0.0
    } else if x[0] + mu * t <= 0.0 {
        norm(x)
    } else {
        (t - mu * x[0]) / s
    }
}

/// Distance of w from the dual cone w_N ≥ μ‖w_T‖.
fn dual_distance(mu: f64, w: &[f64]) -> f64 {
    // Without friction it is the half space w_N ≥ 0.
    if mu > 0.0 { cone_distance(1.0 / mu, w) } else { (-w[0]).max(0.0) }
}

fn product(a: &Dense, r: &[f64]) -> Vec<f64> {
    (0..a.rows()).map(|i| dot(a.row(i), r)).collect()
}

/// A r + b.
fn velocity(problem: &Problem, r: &[f64]) -> Vec<f64> {
    plus(&product(problem.as_dense().unwrap(), r), problem.b())
}

fn plus(x: &[f64], y: &[f64]) -> Vec<f64> {
    x.iter().zip(y).map(|(p, q)| p + q).collect()
}

fn minus(x: &[f64], y: &[f64]) -> Vec<f64> {
    x.iter().zip(y).map(|(p, q)| p - q).collect()
}

/// The e² of the module head for an approximate r, against the exact pair (r*, w*).
fn energy_error(problem: &Problem, b: &[f64], r: &[f64], exact: (&[f64], &[f64])) -> f64 {
    let w = plus(&product(problem.as_dense().unwrap(), r), b);
    let (mut primal, mut dual) = (0.0_f64, 0.0_f64);
    for block in problem.blocks() {
        let Set::Coulomb { mu, .. } = block.set else { panic!("friction only") };
        let rows = block.start..block.start + block.set.dim();
        primal += cone_distance(mu, &r[rows.clone()]).powi(2);
        dual += dual_distance(mu, &w[rows]).powi(2);
    }
    dot(r, &w).abs() + primal.sqrt() * norm(exact.1) + dual.sqrt() * norm(exact.0)
}

/// Compares velocities; false if Clarabel did not reach a useful accuracy.
///
/// `ours` is (r, A r + b) with the residual it claims: its error adds the same terms with d = d* = residual·‖b‖ and
/// g = residual·‖b‖(‖r‖ + ‖w‖).
fn agrees(what: &str, problem: &Problem, b: &[f64], ours: (&[f64], &[f64]), residual: f64) -> bool {
    let a = problem.as_dense().unwrap();
    let r = oracle(problem, b);
    let error = energy_error(problem, b, &r, ours);
    let size = norm(b) * (norm(ours.0) + norm(ours.1)) + norm(b) * norm(b);
    // Worse than 1e-9 of the size of the problem tells velocities to 3e-5 only: not a judgement.
    if error > 1e-9 * size || error.is_nan() {
        return false;
    }
    // No claim is better than rounding.
    let own = 2.0 * residual.max(a.rows() as f64 * f64::EPSILON) * size;
    let trace: f64 = (0..a.rows()).map(|i| a[(i, i)]).sum();
    let difference = norm(&minus(&product(a, &r), &product(a, ours.0)));
    let bound = (trace * (error + own)).sqrt();
    assert!(difference <= bound, "{what}: velocities differ by {difference:e}, bound {bound:e}");
    true
}

#[test]
fn friction_problems_agree_with_the_convex_problem_frozen_at_their_solution() {
    // Three-dimensional friction: regular A, rank-deficient A, random mechanics with more contacts than unknowns,
    // rigid bodies.
    let mut judged = 0;
    for name in ["friction-3d", "friction-3d-deficient", "mechanics-3d", "bodies-3d", "friction-4d", "friction-2d"] {
        let mut here = 0;
        for index in 0..40 {
            let problem = named(name).problem(index).problem;
            let mut r = vec![0.0; problem.size()];
            let report = make("auto").unwrap().solve(&problem, &mut r, &Options::default());
            assert!(report.solved(), "{name} {index}: {report:?}");
            let mut raised = problem.b().to_vec();
            let u = velocity(&problem, &r);
            for block in problem.blocks() {
                let Set::Coulomb { dim, mu } = block.set else { panic!("friction only") };
                raised[block.start] += mu * norm(&u[block.start + 1..=block.start + dim]);
            }
            let w = plus(&product(problem.as_dense().unwrap(), &r), &raised);
            here += usize::from(agrees(&format!("{name} {index}"), &problem, &raised, (&r, &w), report.residual));
        }
        // The oracle must have spoken on most problems, or the test is none.
        assert!(here >= 30, "{name}: Clarabel judged {here} of 40");
        judged += here;
    }
    assert!(judged >= 200, "{judged}");
}

#[test]
fn problems_that_stick_agree_with_the_convex_problem_itself() {
    // Planted: every contact is open with u_T = 0 or sticks inside its cone, so that both problems coincide, for the
    // planted solution and for what `auto` finds.
    let mut g = Random::new(5);
    let mut judged = 0;
    for index in 0..60 {
        let sets = coulomb(&mut g, 1, 6, 2, 0.1, 0.7);
        let n = crate::random::rows(&sets);
        let w: Vec<Vec<f64>> = (0..n).map(|_| g.vector(n + 2)).collect();
        let mut a = Dense::zeros(n, n);
        for i in 0..n {
            for j in 0..n {
                a[(i, j)] = dot(&w[i], &w[j]) / n as f64;
            }
        }
        let (mut r, mut u) = (Vec::new(), Vec::new());
        for set in &sets {
            let Set::Coulomb { mu, .. } = set else { unreachable!() };
            if g.chance(0.3) {
                r.extend([0.0; 3]);
                u.extend([g.between(0.1, 1.0), 0.0, 0.0]);
            } else {
                let (normal, t) = (g.between(0.2, 2.0), g.direction(2));
                let share = 0.9 * g.unit() * mu * normal;
                r.extend([normal, share * t[0], share * t[1]]);
                u.extend([0.0; 3]);
            }
        }
        let b = minus(&u, &product(&a, &r));
        let problem = Problem::dense(sets, a, b.clone()).unwrap();
        judged += usize::from(agrees(&format!("planted {index}"), &problem, &b, (&r, &u), 0.0));
        let mut found = vec![0.0; n];
        let report = make("auto").unwrap().solve(&problem, &mut found, &Options::default());
        assert!(report.solved(), "{index}: {report:?}");
        // A is regular here (n + 2 random directions), the convex problem strictly convex: one solution.
        judged += usize::from(agrees(
            &format!("found {index}"),
            &problem,
            &b,
            (&found, &velocity(&problem, &found)),
            report.residual,
        ));
    }
    assert!(judged >= 100, "Clarabel judged {judged} of 120");
}

#[test]
fn the_oracle_can_disagree() {
    // A problem with slip: the associated solution without raising b is another one, and the comparison sees it.
    let mut g = Random::new(6);
    let mut refuted = 0;
    for _ in 0..20 {
        let a = Dense::from_rows(3, 3, vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]).unwrap();
        let sample = plant(&mut g, vec![Set::Coulomb { dim: 2, mu: 0.5 }], a, false);
        let (r, u) = sample.planted.clone().unwrap();
        let slips = r[0] > 0.0 && norm(&u[1..]) > 0.0;
        let problem = sample.problem;
        let found = oracle(&problem, problem.b());
        let difference = norm(&minus(&found, &r));
        // With A = 1 the associated law lifts the contact: u_N = μ‖u_T‖ > 0, ‖u_T‖ ≥ 0.05.
        if slips {
            assert!(difference > 1e-3, "{r:?} {u:?} {found:?}");
            refuted += 1;
        }
    }
    assert!(refuted > 3);
}
