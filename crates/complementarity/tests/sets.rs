//! Properties of the convex sets: projection, its Jacobians, modes, validation, JSON.
//!
//! What a property compares with is computed here from the definition of the set, never with the code under test.

#![allow(clippy::unwrap_used)]

mod random;

use complementarity::sets::PolygonError;
use complementarity::{BlockMode, Mode, Polygon, Set, SetError};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use random::verify::violation;
use random::{Random, dot, norm, pair};
use std::sync::Arc;

/// The same cases in every run.
fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        rng_seed: RngSeed::Fixed(20_080_101),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

fn irregular() -> Polygon {
    Polygon::new(vec![[1.0, -0.25], [0.75, 0.5], [-0.25, 1.0], [-1.0, 0.125], [-0.5, -0.75]]).unwrap()
}

/// Numbers of order one, with an emphasis on the few for which conditions hold with equality.
fn number() -> impl Strategy<Value = f64> {
    prop_oneof![3 => -5.0..5.0f64, 1 => prop::sample::select(vec![-2.0, -1.0, 0.0, 1.0, 2.0])]
}

fn point() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(number(), 6)
}

/// A point off all special positions.
fn generic_point() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(-5.0..5.0f64, 6)
}

fn mu() -> impl Strategy<Value = f64> {
    prop_oneof![1 => Just(0.0), 1 => Just(1.0), 6 => 0.01..2.0f64]
}

fn polygon() -> impl Strategy<Value = Arc<Polygon>> {
    prop::sample::select(vec![
        Arc::new(Polygon::regular(3).unwrap()),
        Arc::new(Polygon::regular(4).unwrap()),
        Arc::new(Polygon::regular(8).unwrap()),
        Arc::new(irregular()),
    ])
}

fn interval() -> impl Strategy<Value = Set> {
    prop_oneof![
        (number(), 0.0..4.0f64).prop_map(|(lower, width)| Set::Interval { lower, upper: lower + width }),
        number().prop_map(|lower| Set::Interval { lower, upper: f64::INFINITY }),
        number().prop_map(|upper| Set::Interval { lower: f64::NEG_INFINITY, upper }),
        Just(Set::Interval { lower: f64::NEG_INFINITY, upper: f64::INFINITY }),
        number().prop_map(|x| Set::Interval { lower: x, upper: x }),
    ]
}

fn friction() -> impl Strategy<Value = Set> {
    prop_oneof![
        (1..=3usize, mu()).prop_map(|(dim, mu)| Set::Coulomb { dim, mu }),
        (mu(), polygon()).prop_map(|(mu, polygon)| Set::Polyhedral { mu, polygon }),
    ]
}

fn any_set() -> impl Strategy<Value = Set> {
    prop_oneof![
        1 => (1..=6usize).prop_map(|dim| Set::Free { dim }),
        1 => Just(Set::NonNegative),
        2 => interval(),
        2 => (1..=3usize, prop_oneof![Just(0.0), 0.0..4.0f64]).prop_map(|(dim, radius)| Set::Ball { dim, radius }),
        4 => friction(),
    ]
}

/// How far x lies outside the set, from its inequalities (zero exactly for members up to rounding).
fn outside(set: &Set, x: &[f64]) -> f64 {
    let worst = match set {
        Set::Free { .. } => 0.0,
        Set::NonNegative => -x[0],
        Set::Interval { lower, upper } => (lower - x[0]).max(x[0] - upper),
        Set::Ball { radius, .. } => norm(x) - radius,
        Set::Coulomb { mu, .. } => (norm(&x[1..]) - mu * x[0]).max(-x[0]),
        Set::Polyhedral { mu, polygon } => {
            let c = polygon.generators();
            (0..c.len())
                .map(|j| {
                    let (p, q) = (c[j], c[(j + 1) % c.len()]);
                    let n = [q[1] - p[1], p[0] - q[0]];
                    (dot(&n, &x[1..]) - mu * x[0] * dot(&n, &p)) / norm(&n)
                })
                .fold(-x[0], f64::max)
        }
    };
    worst.max(0.0)
}

/// A member of the set made from six numbers in [0, 1).
fn member(set: &Set, t: &[f64]) -> Vec<f64> {
    let d = set.dim();
    let ball = |dim: usize, radius: f64, t: &[f64]| -> Vec<f64> {
        let x: Vec<f64> = t[..dim].iter().map(|v| 2.0 * v - 1.0).collect();
        // Inside the cube; shrunk onto the ball, to its boundary half of the time.
        let length = norm(&x).max(if t[5] < 0.5 { 1e-3 } else { 1.0 });
        x.iter().map(|v| radius * v / length).collect()
    };
    match set {
        Set::Free { .. } => t[..d].iter().map(|v| 10.0 * v - 5.0).collect(),
        Set::NonNegative => vec![5.0 * t[0]],
        Set::Interval { lower, upper } => vec![match (lower.is_finite(), upper.is_finite()) {
            (true, true) => lower + t[0] * (upper - lower),
            (true, false) => lower + 5.0 * t[0],
            (false, true) => upper - 5.0 * t[0],
            (false, false) => 10.0 * t[0] - 5.0,
        }],
        Set::Ball { radius, .. } => ball(d, *radius, t),
        Set::Coulomb { mu, .. } => {
            let normal = 5.0 * t[4];
            std::iter::once(normal).chain(ball(d - 1, mu * normal, t)).collect()
        }
        Set::Polyhedral { mu, polygon } => {
            let c = polygon.generators();
            let normal = 5.0 * t[4];
            let (i, j) = ((t[0] * c.len() as f64) as usize, (t[1] * c.len() as f64) as usize);
            let (p, q) = (t[2], t[3] * (1.0 - t[2]));
            let f = mu * normal;
            vec![normal, f * (p * c[i][0] + q * c[j][0]), f * (p * c[i][1] + q * c[j][1])]
        }
    }
}

fn unit_numbers() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(0.0..1.0f64, 6)
}

fn projected(set: &Set, x: &[f64]) -> Vec<f64> {
    let mut p = x[..set.dim()].to_vec();
    set.project(&mut p);
    p
}

fn minus(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(x, y)| x - y).collect()
}

/// Rounding of a projection of numbers of this size: some thirty operations, among them a division by the angle
/// between neighbouring generators (sin² 45° for the octagon, 0.2 for the irregular pentagon).
fn rounding(size: f64) -> f64 {
    200.0 * f64::EPSILON * (1.0 + size)
}

/// Projection onto the polar cone, from its definition; `None` for sets that are no cone.
fn polar_projection(set: &Set, x: &[f64]) -> Option<Vec<f64>> {
    match set {
        Set::Free { dim } => Some(vec![0.0; *dim]),
        Set::NonNegative => Some(vec![x[0].min(0.0)]),
        Set::Coulomb { mu, .. } => {
            // In the plane of the axis and x: rays (1, μ) of the cone and (−μ, 1) normal to it.
            let t = norm(&x[1..]);
            let along_normal = (t - mu * x[0]) / (1.0 + mu * mu).sqrt();
            let along_ray = (x[0] + mu * t) / (1.0 + mu * mu).sqrt();
            if along_normal <= 0.0 && x[0] >= 0.0 {
                Some(vec![0.0; x.len()])
            } else if along_ray <= 0.0 {
                Some(x.to_vec())
            } else {
                let f = along_normal / (1.0 + mu * mu).sqrt();
                Some(std::iter::once(-mu * f).chain(x[1..].iter().map(|v| f * v / t)).collect())
            }
        }
        Set::Polyhedral { mu, polygon } => {
            // The polar {w: a_j·w ≤ 0} with a_j = (1, μ d_j): the nearest feasible point with no, one or two active
            // inequalities, or the apex.
            let rays: Vec<Vec<f64>> = polygon.generators().iter().map(|d| vec![1.0, mu * d[0], mu * d[1]]).collect();
            let mut candidates = vec![x.to_vec(), vec![0.0; 3]];
            for (i, a) in rays.iter().enumerate() {
                let f = dot(a, x) / dot(a, a);
                candidates.push((0..3).map(|k| x[k] - f * a[k]).collect());
                for b in &rays[i + 1..] {
                    // Onto the line of both planes.
                    let e = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
                    if dot(&e, &e) > 1e-20 {
                        let f = dot(&e, x) / dot(&e, &e);
                        candidates.push(e.iter().map(|v| f * v).collect());
                    }
                }
            }
            let slack = rounding(norm(x));
            candidates
                .into_iter()
                .filter(|w| rays.iter().all(|a| dot(a, w) <= slack))
                .min_by(|p, q| norm(&minus(x, p)).total_cmp(&norm(&minus(x, q))))
        }
        _ => None,
    }
}

proptest! {
    #![proptest_config(config(4000))]

    #[test]
    fn the_projection_is_a_member_and_members_stay(set in any_set(), x in point(), t in unit_numbers()) {
        let p = projected(&set, &x);
        prop_assert!(outside(&set, &p) <= rounding(norm(&x)), "{set:?} {x:?} -> {p:?}");
        let y = member(&set, &t);
        let q = projected(&set, &y);
        prop_assert!(norm(&minus(&q, &y)) <= rounding(norm(&y)), "{set:?} {y:?} -> {q:?}");
        prop_assert!(set.distance(&y) <= rounding(norm(&y)));
    }

    #[test]
    fn projecting_twice_changes_nothing(set in any_set(), x in point()) {
        let p = projected(&set, &x);
        let q = projected(&set, &p);
        prop_assert!(norm(&minus(&p, &q)) <= rounding(norm(&x)), "{set:?} {x:?} -> {p:?} -> {q:?}");
    }

    #[test]
    fn the_projection_does_not_expand(set in any_set(), x in point(), y in point()) {
        let d = set.dim();
        let (p, q) = (projected(&set, &x), projected(&set, &y));
        let (before, after) = (norm(&minus(&x[..d], &y[..d])), norm(&minus(&p, &q)));
        prop_assert!(after <= before + rounding(norm(&x) + norm(&y)), "{set:?} {x:?} {y:?}: {before} -> {after}");
    }

    #[test]
    fn the_remainder_makes_no_acute_angle_with_any_member(set in any_set(), x in point(), t in unit_numbers()) {
        let p = projected(&set, &x);
        let y = member(&set, &t);
        let (remainder, inward) = (minus(&x[..set.dim()], &p), minus(&y, &p));
        // Errors of p enter the product times the sizes of both factors.
        let size = 1.0 + norm(&x) + norm(&y);
        prop_assert!(dot(&remainder, &inward) <= rounding(size) * size, "{set:?} {x:?} {y:?}");
    }

    #[test]
    fn a_point_is_the_sum_of_its_projections_on_a_cone_and_its_polar(
        set in prop_oneof![2 => Just(Set::NonNegative), 1 => (1..=6usize).prop_map(|dim| Set::Free { dim }), 6 => friction()],
        x in point(),
    ) {
        let d = set.dim();
        let p = projected(&set, &x);
        let polar = polar_projection(&set, &x[..d]).unwrap();
        for k in 0..d {
            prop_assert!((x[k] - p[k] - polar[k]).abs() <= rounding(norm(&x)), "{set:?} {x:?}: {p:?} + {polar:?}");
        }
        prop_assert!(dot(&p, &polar).abs() <= rounding(norm(&x)) * (1.0 + norm(&x)));
    }

    #[test]
    fn the_distance_is_the_length_of_the_remainder(set in any_set(), x in point()) {
        let d = set.dim();
        let expected = norm(&minus(&x[..d], &projected(&set, &x)));
        prop_assert_eq!(set.distance(&x[..d]), expected);
    }

    #[test]
    fn frozen_projection_is_two_projections(set in friction(), x in point(), normal in number()) {
        let d = set.dim();
        let mut p = x[..d].to_vec();
        set.project_frozen(normal, &mut p);
        prop_assert_eq!(p[0], x[0].max(0.0));
        // The tangential part: member of the frozen section, and an obtuse angle with all of its corners or, for
        // the ball, with the nearest point of the boundary.
        let normal = normal.max(0.0);
        let remainder = minus(&x[1..d], &p[1..]);
        let size = 1.0 + norm(&x);
        match &set {
            Set::Coulomb { mu, .. } => {
                let radius = mu * normal;
                prop_assert!(norm(&p[1..]) <= radius + rounding(size));
                // max over the ball of remainder·y is radius·‖remainder‖.
                prop_assert!(radius * norm(&remainder) - dot(&remainder, &p[1..]) <= rounding(size) * size);
            }
            Set::Polyhedral { mu, polygon } => {
                let mut member = vec![normal];
                member.extend_from_slice(&p[1..]);
                prop_assert!(outside(&set, &member) <= rounding(size));
                for c in polygon.generators() {
                    let corner = [mu * normal * c[0], mu * normal * c[1]];
                    prop_assert!(dot(&remainder, &minus(&corner, &p[1..])) <= rounding(size) * size);
                }
            }
            _ => unreachable!(),
        }
    }

    #[test]
    fn the_modified_velocity_adds_the_support_of_the_section(set in any_set(), u in point(), t in unit_numbers()) {
        let d = set.dim();
        let mut modified = u[..d].to_vec();
        set.modified_velocity(&mut modified);
        prop_assert_eq!(&modified[1..], &u[1..d]);
        let sigma = modified[0] - u[0];
        if !set.is_friction() {
            prop_assert_eq!(sigma, 0.0);
            return Ok(());
        }
        // σ bounds −s·u_T over the section at r_N = 1, and is attained.
        let mut s = member(&set, &t);
        if s[0] > 0.0 {
            let normal = s[0];
            s.iter_mut().for_each(|v| *v /= normal);
            prop_assert!(-dot(&s[1..], &u[1..d]) <= sigma + rounding(norm(&u)) / normal.min(1.0));
        }
        let best = match &set {
            Set::Coulomb { mu, .. } => mu * norm(&u[1..d]),
            Set::Polyhedral { mu, polygon } => {
                polygon.generators().iter().map(|c| -mu * dot(c, &u[1..d])).fold(f64::NEG_INFINITY, f64::max)
            }
            _ => unreachable!(),
        };
        prop_assert!((sigma - best).abs() <= rounding(norm(&u)));
    }
}

/// Central differences of a function against a column of its Jacobian.
///
/// At a smooth point the error is O(h²); where a kink lies within h, the derivative of either side differs from the
/// central one by at most half the difference of the one-sided slopes, which is therefore added, and the caller skips
/// points where that is not small. Returns (error, half the difference of slopes).
fn compare(f: impl Fn(f64) -> Vec<f64>, column: &[f64]) -> (f64, f64) {
    const H: f64 = 1e-5;
    let (low, mid, high) = (f(-H), f(0.0), f(H));
    let (mut error, mut kink) = (0.0_f64, 0.0_f64);
    for i in 0..column.len() {
        error = error.max(((high[i] - low[i]) / (2.0 * H) - column[i]).abs());
        kink = kink.max((high[i] - 2.0 * mid[i] + low[i]).abs() / (2.0 * H));
    }
    (error, kink)
}

/// Largest half difference of one-sided slopes at a point that counts as smooth: with h = 1e-5 this admits second
/// derivatives up to 100.
const SMOOTH: f64 = 1e-3;
/// Rounding of the difference quotient, 1e-15·10/1e-5 = 1e-9, and its truncation h²·f'''/6 ≤ 1e-10·100²/6 for the
/// third derivatives that go with [`SMOOTH`].
const QUOTIENT: f64 = 2e-7;

proptest! {
    #![proptest_config(config(3000))]

    #[test]
    fn projection_jacobian_agrees_with_differences(set in any_set(), x in generic_point()) {
        let d = set.dim();
        let mut jac = vec![f64::NAN; d * d];
        set.project_jacobian(&x[..d], &mut jac);
        for j in 0..d {
            let column: Vec<f64> = (0..d).map(|i| jac[i * d + j]).collect();
            let (error, kink) = compare(|h| { let mut y = x.clone(); y[j] += h; projected(&set, &y) }, &column);
            prop_assume!(kink < SMOOTH);
            prop_assert!(error <= kink + QUOTIENT, "{set:?} {x:?}: column {j} is {column:?}, off by {error:e}");
        }
    }

    #[test]
    fn frozen_jacobian_agrees_with_differences(set in any_set(), x in generic_point(), normal in -2.0..4.0f64) {
        let d = set.dim();
        let mut jac = vec![f64::NAN; d * d];
        let mut d_normal = vec![f64::NAN; d];
        set.frozen_jacobian(normal, &x[..d], &mut jac, &mut d_normal);
        let frozen = |normal: f64, y: &[f64]| { let mut p = y[..d].to_vec(); set.project_frozen(normal, &mut p); p };
        for j in 0..d {
            let column: Vec<f64> = (0..d).map(|i| jac[i * d + j]).collect();
            let (error, kink) = compare(|h| { let mut y = x.clone(); y[j] += h; frozen(normal, &y) }, &column);
            prop_assume!(kink < SMOOTH);
            prop_assert!(error <= kink + QUOTIENT, "{set:?} {normal} {x:?}: column {j} is {column:?}, off by {error:e}");
        }
        let (error, kink) = compare(|h| frozen(normal + h, &x), &d_normal);
        prop_assume!(kink < SMOOTH);
        prop_assert!(error <= kink + QUOTIENT, "{set:?} {normal} {x:?}: d_normal {d_normal:?}, off by {error:e}");
    }
}

#[test]
fn a_cone_without_friction_projects_the_negative_axis_to_the_apex() {
    // Found by the random check: 0 ≤ μ·x_N holds for μ = 0 and every x_N.
    let square = Arc::new(Polygon::regular(4).unwrap());
    let mut sets: Vec<Set> = (1..=3).map(|dim| Set::Coulomb { dim, mu: 0.0 }).collect();
    sets.push(Set::Polyhedral { mu: 0.0, polygon: square });
    for set in sets {
        let d = set.dim();
        let mut x = vec![0.0; d];
        x[0] = -1.0;
        assert_eq!(projected(&set, &x), vec![0.0; d], "{set:?}");
        let mut jac = vec![f64::NAN; d * d];
        set.project_jacobian(&x, &mut jac);
        assert_eq!(jac, vec![0.0; d * d], "{set:?}");
        assert_eq!(set.distance(&x), 1.0, "{set:?}");
        // A percussion that pulls is no solution.
        let mut f = vec![0.0; d];
        set.natural_map(&x, &vec![0.0; d], &mut f);
        assert_eq!(f[0], -1.0, "{set:?}");
    }
}

#[test]
fn the_natural_map_vanishes_at_pairs_of_the_law() {
    let mut g = Random::new(7);
    let sets = example_sets();
    for round in 0..4000 {
        let set = &sets[round % sets.len()];
        let degenerate = g.chance(0.3);
        let (r, u) = pair(&mut g, set, degenerate);
        let mut f = vec![0.0; set.dim()];
        set.natural_map(&r, &u, &mut f);
        // Numbers up to 4; see `rounding`.
        assert!(norm(&f) <= rounding(4.0), "{set:?} r {r:?} u {u:?}: {f:?}");
        // The judge of the random problems agrees.
        let verdict = violation(&[set], &r, &u);
        assert!(verdict <= rounding(4.0), "{set:?} r {r:?} u {u:?}: {verdict:e}");
    }
}

proptest! {
    #![proptest_config(config(8000))]

    #[test]
    fn the_natural_map_bounds_every_violation_of_the_law(set in any_set(), r in point(), u in point()) {
        // The derivation is in random/verify.rs; no pair may violate the law more than its natural map says.
        let d = set.dim();
        let mut f = vec![0.0; d];
        set.natural_map(&r[..d], &u[..d], &mut f);
        let verdict = violation(&[&set], &r[..d], &u[..d]);
        prop_assert!(verdict <= norm(&f) + rounding(norm(&r) + norm(&u)), "{set:?} {r:?} {u:?}: {verdict} > {f:?}");
    }
}

fn example_sets() -> Vec<Set> {
    let polygon = |p: Polygon| Arc::new(p);
    vec![
        Set::Free { dim: 1 },
        Set::Free { dim: 6 },
        Set::NonNegative,
        Set::Interval { lower: -1.0, upper: 0.5 },
        Set::Interval { lower: f64::NEG_INFINITY, upper: 0.5 },
        Set::Interval { lower: -1.0, upper: f64::INFINITY },
        Set::Interval { lower: f64::NEG_INFINITY, upper: f64::INFINITY },
        Set::Ball { dim: 1, radius: 0.7 },
        Set::Ball { dim: 2, radius: 0.7 },
        Set::Ball { dim: 3, radius: 0.7 },
        Set::Coulomb { dim: 1, mu: 0.3 },
        Set::Coulomb { dim: 2, mu: 0.3 },
        Set::Coulomb { dim: 3, mu: 1.2 },
        Set::Polyhedral { mu: 0.3, polygon: polygon(Polygon::regular(3).unwrap()) },
        Set::Polyhedral { mu: 0.3, polygon: polygon(Polygon::regular(4).unwrap()) },
        Set::Polyhedral { mu: 0.8, polygon: polygon(Polygon::regular(8).unwrap()) },
        Set::Polyhedral { mu: 0.5, polygon: polygon(irregular()) },
    ]
}

#[test]
fn the_mode_follows_from_the_planted_pair_for_every_rho() {
    let mut g = Random::new(11);
    let sets = example_sets();
    let mut seen = std::collections::BTreeSet::new();
    for round in 0..4000 {
        let set = &sets[round % sets.len()];
        let (r, u) = pair(&mut g, set, false);
        let inside = |yes: bool| if yes { Mode::Constraint } else { Mode::Impressed };
        let expected = match set {
            Set::Free { .. } => BlockMode { normal: Mode::Constraint, tangential: None },
            // Planted pairs either have u = 0 strictly inside or −u pointing outwards at the boundary.
            Set::NonNegative | Set::Interval { .. } | Set::Ball { .. } => {
                BlockMode { normal: inside(norm(&u) == 0.0), tangential: None }
            }
            Set::Coulomb { .. } | Set::Polyhedral { .. } => {
                let closed = r[0] > 0.0;
                BlockMode { normal: inside(closed), tangential: Some(inside(closed && norm(&u[1..]) == 0.0)) }
            }
        };
        for rho in [1e-3, 1.0, 1e3] {
            assert_eq!(set.mode(&r, &u, rho), expected, "{set:?} r {r:?} u {u:?} rho {rho}");
        }
        seen.insert((round % sets.len(), expected.normal == Mode::Constraint, expected.tangential.is_some()));
    }
    // Both modes of every set but the bilateral ones and the unbounded interval came up.
    assert_eq!(seen.len(), 2 * sets.len() - 3);
}

#[test]
fn an_argument_on_the_boundary_counts_as_impressed() {
    // Numbers chosen so that every product and norm is exact.
    let single = |m| BlockMode { normal: m, tangential: None };
    assert_eq!(Set::NonNegative.mode(&[0.0], &[0.0], 3.0), single(Mode::Impressed));
    let interval = Set::Interval { lower: -1.0, upper: 2.0 };
    assert_eq!(interval.mode(&[2.0], &[0.0], 3.0), single(Mode::Impressed));
    assert_eq!(interval.mode(&[-1.0], &[0.0], 3.0), single(Mode::Impressed));
    assert_eq!(Set::Ball { dim: 2, radius: 5.0 }.mode(&[3.0, 4.0], &[0.0, 0.0], 1.0), single(Mode::Impressed));
    let sliding = BlockMode { normal: Mode::Constraint, tangential: Some(Mode::Impressed) };
    let coulomb = Set::Coulomb { dim: 2, mu: 0.5 };
    assert_eq!(coulomb.mode(&[10.0, 3.0, 4.0], &[0.0; 3], 1.0), sliding);
    let square = Set::Polyhedral { mu: 0.5, polygon: Arc::new(Polygon::regular(4).unwrap()) };
    assert_eq!(square.mode(&[2.0, 1.0, 0.0], &[0.0; 3], 1.0), sliding);
    let open = BlockMode { normal: Mode::Impressed, tangential: Some(Mode::Impressed) };
    assert_eq!(coulomb.mode(&[0.0; 3], &[0.0; 3], 1.0), open);
}

#[test]
fn impossible_parameters_are_refused() {
    let square = Arc::new(Polygon::regular(4).unwrap());
    for mu in [-0.1, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(Set::Coulomb { dim: 2, mu }.validate(), Err(SetError::Friction(mu)));
        assert_eq!(Set::Polyhedral { mu, polygon: square.clone() }.validate(), Err(SetError::Friction(mu)));
        assert_eq!(Set::Ball { dim: 2, radius: mu }.validate(), Err(SetError::Radius(mu)));
    }
    assert!(matches!(Set::Coulomb { dim: 2, mu: f64::NAN }.validate(), Err(SetError::Friction(_))));
    assert!(matches!(Set::Ball { dim: 2, radius: f64::NAN }.validate(), Err(SetError::Radius(_))));
    for dim in [0, 4, usize::MAX] {
        assert_eq!(Set::Coulomb { dim, mu: 0.5 }.validate(), Err(SetError::Dimension { dim, max: 3 }));
        assert_eq!(Set::Ball { dim, radius: 0.5 }.validate(), Err(SetError::Dimension { dim, max: 3 }));
    }
    for dim in [0, 7, usize::MAX] {
        assert_eq!(Set::Free { dim }.validate(), Err(SetError::Dimension { dim, max: 6 }));
    }
    let inf = f64::INFINITY;
    for (lower, upper) in [(1.0, 0.0), (inf, inf), (-inf, -inf), (inf, -inf), (f64::NAN, 1.0), (0.0, f64::NAN)] {
        assert!(matches!(Set::Interval { lower, upper }.validate(), Err(SetError::Interval { .. })));
    }
    assert_eq!(Polygon::regular(2), Err(PolygonError::TooFew(2)));
    assert!(matches!(Polygon::new(vec![[1.0, 0.0], [2.0, 0.0], [1.0, 1.0]]), Err(PolygonError::NotConvex(_))));
    for set in example_sets() {
        assert_eq!(set.validate(), Ok(()), "{set:?}");
    }
}

#[test]
fn sets_survive_json_to_the_bit() {
    let mut sets = example_sets();
    sets.push(Set::Interval { lower: -0.1, upper: 0.1 + 0.2 });
    sets.push(Set::Ball { dim: 3, radius: f64::MIN_POSITIVE / 4.0 });
    sets.push(Set::Coulomb { dim: 1, mu: 1.0 / 3.0 });
    for set in sets {
        let text = serde_json::to_string(&set).unwrap();
        let back: Set = serde_json::from_str(&text).unwrap();
        // Derived equality compares numbers, which for these (no zeros, no NaN) is equality of bits.
        assert_eq!(back, set, "{text}");
    }
    let zero = Set::Interval { lower: -0.0, upper: 0.0 };
    let back: Set = serde_json::from_str(&serde_json::to_string(&zero).unwrap()).unwrap();
    let Set::Interval { lower, upper } = back else { panic!("{back:?}") };
    assert_eq!((lower.to_bits(), upper.to_bits()), ((-0.0_f64).to_bits(), 0));
}

#[test]
fn json_that_is_no_set_is_an_error() {
    for text in [
        "",
        "{",
        "null",
        "\"ice\"",
        r#"{"coulomb":{"dim":2}}"#,
        r#"{"coulomb":{"dim":2,"mu":"0.5"}}"#,
        r#"{"coulomb":{"dim":-1,"mu":0.5}}"#,
        r#"{"coulomb":{"dim":2,"mu":null}}"#,
        r#"{"coulomb":{"dim":2,"mu":NaN}}"#,
        r#"{"coulomb":{"dim":2,"mu":1e999}}"#,
        r#"{"interval":{"lower":0}}"#,
        r#"{"polyhedral":{"mu":0.5,"polygon":[]}}"#,
        r#"{"polyhedral":{"mu":0.5,"polygon":[[1,0],[0,1]]}}"#,
        r#"{"polyhedral":{"mu":0.5,"polygon":[[1,0],[0,-1],[-1,0]]}}"#,
        r#"{"polyhedral":{"mu":0.5,"polygon":[[1,0],[0],[-1,0]]}}"#,
    ] {
        assert!(serde_json::from_str::<Set>(text).is_err(), "{text}");
    }
}

#[test]
fn an_unknown_key_in_a_set_is_an_error() {
    for text in [
        r#"{"coulomb":{"dim":2,"mu":0.5,"nu":0.3}}"#,
        r#"{"free":{"dim":2,"stiffness":1.0}}"#,
        r#"{"interval":{"lower":0,"upper":1,"uper":2}}"#,
    ] {
        assert!(serde_json::from_str::<Set>(text).is_err(), "{text}");
    }
}
