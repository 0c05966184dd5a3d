//! Sets, their members and points to try them with: arbitrary ones for properties, a list of examples for the rest.

use crate::random::norm;
use complementarity::{Polygon, Set};
use proptest::prelude::*;
use std::sync::Arc;

fn irregular() -> Polygon {
    Polygon::new(vec![[1.0, -0.25], [0.75, 0.5], [-0.25, 1.0], [-1.0, 0.125], [-0.5, -0.75]]).unwrap()
}

/// Numbers of order one, with an emphasis on the few for which conditions hold with equality.
pub(crate) fn number() -> impl Strategy<Value = f64> {
    prop_oneof![3 => -5.0..5.0f64, 1 => prop::sample::select(vec![-2.0, -1.0, 0.0, 1.0, 2.0])]
}

pub(crate) fn point() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(number(), 6)
}

/// A point off all special positions.
pub(crate) fn generic_point() -> impl Strategy<Value = Vec<f64>> {
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

pub(crate) fn friction() -> impl Strategy<Value = Set> {
    prop_oneof![
        (1..=3usize, mu()).prop_map(|(dim, mu)| Set::Coulomb { dim, mu }),
        (mu(), polygon()).prop_map(|(mu, polygon)| Set::Polyhedral { mu, polygon }),
    ]
}

pub(crate) fn any_set() -> impl Strategy<Value = Set> {
    prop_oneof![
        1 => (1..=6usize).prop_map(|dim| Set::Free { dim }),
        1 => Just(Set::NonNegative),
        2 => interval(),
        2 => (1..=3usize, prop_oneof![Just(0.0), 0.0..4.0f64]).prop_map(|(dim, radius)| Set::Ball { dim, radius }),
        4 => friction(),
    ]
}

/// A member of the set made from six numbers in [0, 1).
pub(crate) fn member(set: &Set, t: &[f64]) -> Vec<f64> {
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

pub(crate) fn unit_numbers() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(0.0..1.0f64, 6)
}

pub(crate) fn example_sets() -> Vec<Set> {
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
