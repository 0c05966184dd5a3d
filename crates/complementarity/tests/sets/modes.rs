//! Modes: the same for every ρ, and impressed on the boundary.

use super::samples::example_sets;
use crate::random::{Random, norm, pair};
use complementarity::{BlockMode, Mode, Polygon, Set};
use std::sync::Arc;

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
        seen.insert((
            round % sets.len(),
            expected.normal == Mode::Constraint,
            expected.tangential.map(|m| m == Mode::Constraint),
        ));
    }
    // Open, sliding and sticking of every cone; both modes of the others but the bilateral ones and the unbounded interval.
    let cones = sets.iter().filter(|s| matches!(s, Set::Coulomb { .. } | Set::Polyhedral { .. })).count();
    let frictionless = sets.iter().filter(|s| matches!(s, Set::Coulomb { mu: 0.0, .. })).count();
    assert_eq!(seen.len(), 2 * sets.len() - 3 + cones - frictionless);
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
