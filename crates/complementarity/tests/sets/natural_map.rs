//! The natural map: zero at pairs of the law and a bound on every violation of it; the modified velocity in it.

use super::samples::{any_set, example_sets, member, point, unit_numbers};
use super::{config, rounding};
use crate::random::verify::violation;
use crate::random::{Random, dot, norm, pair};
use complementarity::Set;
use proptest::prelude::*;

proptest! {
    #![proptest_config(config(4000))]

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
