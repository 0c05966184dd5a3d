//! The residual: the stated one, by hand, and never smaller than the velocity it measures.

use super::assert_none;
use crate::random::{FAMILIES, Random, norm};
use complementarity::linear::Dense;
use complementarity::{Polygon, Problem, Set, verify};
use std::sync::Arc;

#[test]
fn the_residual_is_the_stated_one() {
    // ‖r − proj(r − û)‖₂ / ‖b‖₂ by hand, with numbers that are exact.
    let unit = |n: usize| {
        let mut a = Dense::zeros(n, n);
        (0..n).for_each(|i| a[(i, i)] = 1.0);
        a
    };
    let lcp = Problem::lcp(unit(2), vec![-3.0, 4.0]).unwrap();
    let mut u = vec![0.0; 3];
    // u = (−3, 4): the map is (min(0, −3), min(0, 4)).
    assert_eq!(lcp.residual(&[0.0, 0.0], &mut u[..2]), 3.0 / 5.0);
    assert_eq!(u[..2], [-3.0, 4.0]);
    assert_eq!(lcp.residual(&[3.0, 0.0], &mut u[..2]), 0.0);
    // u = (−2, 6), r = (1, 2): (min(1, −2), min(2, 6)), of length √8.
    assert_eq!(lcp.residual(&[1.0, 2.0], &mut u[..2]), 8f64.sqrt() / 5.0);
    // b = 0: not divided.
    let homogeneous = Problem::lcp(unit(1), vec![0.0]).unwrap();
    assert_eq!(homogeneous.residual(&[2.0], &mut u[..1]), 2.0);
    // Slip with μ = 1: u_T = (3, 4) needs û_N = u_N + 5. At r = 0, u_N = −4: −û = (−1, −3, −4) lies in the cone
    // polar to K only if 5 ≤ 1; its projection is s(1, −3/5, −4/5) with s = (−1 + 5)/2 = 2, of length 2√2.
    let contact = Problem::dense(vec![Set::Coulomb { dim: 2, mu: 1.0 }], unit(3), vec![-4.0, 3.0, 4.0]).unwrap();
    let expected = 8f64.sqrt() / 41f64.sqrt();
    // Some ten roundings.
    assert!((contact.residual(&[0.0; 3], &mut u) - expected).abs() < 1e-15);
}

#[test]
fn large_percussions_do_not_hide_a_velocity() {
    // No compliance, so that u = b whatever r is. Every percussion below lies deep inside its set, where the map is û
    // itself; r − (r − û) evaluated in that order is zero, and nonsense would count as solved.
    let big = 1e17;
    let cases: Vec<(Set, Vec<f64>, Vec<f64>)> = vec![
        (Set::Free { dim: 1 }, vec![big], vec![1.0]),
        (Set::NonNegative, vec![big], vec![1.0]),
        (Set::Interval { lower: 0.0, upper: f64::INFINITY }, vec![big], vec![1.0]),
        (Set::Coulomb { dim: 1, mu: 0.5 }, vec![10.0 * big, big], vec![0.0, 1.0]),
        (Set::Coulomb { dim: 2, mu: 0.5 }, vec![10.0 * big, big, big], vec![1.0, 1.0, 1.0]),
        (
            Set::Polyhedral { mu: 0.5, polygon: Arc::new(Polygon::regular(4).unwrap()) },
            vec![10.0 * big, big, big],
            vec![1.0, 1.0, 1.0],
        ),
    ];
    let mut hidden = Vec::new();
    for (set, r, b) in cases {
        let n = b.len();
        let problem = Problem::dense(vec![set.clone()], Dense::zeros(n, n), b).unwrap();
        let residual = problem.residual(&r, &mut vec![0.0; n]);
        // ‖û‖ ≥ ‖u‖ = ‖b‖: the residual is at least one.
        let again = verify::reduced(&problem, &r).residual;
        if residual < 0.9 || again < 0.9 {
            hidden.push(format!("{set:?}: residual {residual:e}, {again:e} at the second look, expected at least 1"));
        }
    }
    assert_none("velocities hidden", &hidden);
}

#[test]
fn a_second_look_finds_the_same_residual_anywhere() {
    let (mut seen, mut other) = (0, Vec::new());
    for family in FAMILIES {
        for index in 0..20 {
            let problem = family.problem(index).problem;
            let n = problem.size();
            let mut g = Random::new(index);
            for size in [1e-3, 1.0, 1e3] {
                let r: Vec<f64> = g.vector(n).iter().map(|v| size * v).collect();
                let mut u = vec![0.0; n];
                let residual = problem.residual(&r, &mut u);
                let found = verify::reduced(&problem, &r);
                // n + some ten roundings of terms that are at most of this size, in either.
                let scale = if norm(problem.b()) > 0.0 { norm(problem.b()) } else { 1.0 };
                let terms = norm(&r) * problem.as_dense().map_or(1.0, |a| norm(a.data())) + norm(problem.b());
                let rounding = f64::EPSILON * (n + 16) as f64 * (norm(&r) + 3.0 * terms) / scale;
                seen += 1;
                if !((found.residual - residual).abs() <= rounding) {
                    other.push(format!("{} {index}: {residual:e}, then {:e}", family.name, found.residual));
                }
                let worst = found.u.iter().zip(&u).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                if worst > rounding * scale {
                    other.push(format!("{} {index}: velocities differ by {worst:e}", family.name));
                }
            }
        }
    }
    assert!(seen > 500, "{seen}");
    assert_none("second looks differ", &other);
}
