//! Validation: parameters that make no set are refused.

use super::samples::example_sets;
use complementarity::sets::PolygonError;
use complementarity::{Polygon, Set, SetError};
use std::sync::Arc;

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
