//! The projection: onto the set, nearest, with the polar cone as its remainder; and its frozen form.

use super::samples::{any_set, friction, member, number, point, unit_numbers};
use super::{config, minus, projected, rounding};
use crate::random::{dot, norm};
use complementarity::{Polygon, Set};
use proptest::prelude::*;
use std::sync::Arc;

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
