//! Identities of interactions: stable from step to step, whatever else is in the list.
//!
//! ```text
//! bit  62          an interaction of this crate, beside those of other systems
//! bit  60          a contact; without it a stop, with its number in bits 0 to 31
//! bits 28 to 51    the first shape of the pair
//! bits  4 to 27    the second shape of the pair
//! bits  0 to  3    the feature: which of the two has the point, and which of its points
//! ```
//!
//! Lists are sorted by identity: stops, then contacts by pair, then by feature. Solvers sweep in this order, so that it determines the bits of
//! a result.

const OWN: u64 = 1 << 62;
const CONTACT: u64 = OWN | 1 << 60;
const STOP_BITS: u32 = 32;
const SHAPE_BITS: u32 = 24;
const FEATURE_BITS: u32 = 4;
const POINT_BITS: u32 = 3;
/// Bit of a feature: the point belongs to the second shape.
const OF_SECOND: u64 = 1 << POINT_BITS;

/// Largest number of shapes, from the bits of an identity; more are an error when a system is built.
pub(crate) const MAX_SHAPES: usize = 1 << SHAPE_BITS;
/// Largest number of points of one shape, from the bits of a feature.
const MAX_POINTS: usize = 1 << POINT_BITS;

const fn mask(bits: u32) -> u64 {
    (1 << bits) - 1
}

#[inline]
fn point(k: u8) -> u64 {
    debug_assert!(usize::from(k) < MAX_POINTS, "a shape has at most {MAX_POINTS} points");
    u64::from(k)
}

/// Two shapes by number, the smaller number first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pair {
    pub(crate) first: u32,
    pub(crate) second: u32,
}

impl Pair {
    #[inline]
    pub(crate) fn of(a: u32, b: u32) -> Self {
        Self { first: a.min(b), second: a.max(b) }
    }
}

/// The point and the surface of a pair that touch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Feature {
    /// A point of the first shape, by number, and the surface of the second.
    PointOfFirst(u8),
    /// A point of the second shape, by number, and the surface of the first.
    PointOfSecond(u8),
}

/// Identity of an interaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Identity(u64);

impl Identity {
    /// Identities of this crate begin here.
    pub(crate) const FIRST: u64 = OWN;

    /// The stop with a number.
    pub(crate) fn stop(number: u32) -> Self {
        Self(OWN | u64::from(number))
    }

    /// A contact of two shapes.
    #[inline]
    pub(crate) fn contact(pair: Pair, feature: Feature) -> Self {
        let feature = match feature {
            Feature::PointOfFirst(k) => point(k),
            Feature::PointOfSecond(k) => OF_SECOND | point(k),
        };
        let first = u64::from(pair.first) << (SHAPE_BITS + FEATURE_BITS);
        Self(CONTACT | first | u64::from(pair.second) << FEATURE_BITS | feature)
    }

    /// The identity with a number, as an interaction carries it.
    #[inline]
    pub(crate) fn of(number: u64) -> Self {
        Self(number)
    }

    /// Its number.
    #[inline]
    pub(crate) fn number(self) -> u64 {
        self.0
    }

    /// Whether it is a contact of two shapes.
    #[inline]
    pub(crate) fn is_contact(self) -> bool {
        self.0 & CONTACT == CONTACT
    }

    /// Number of a stop.
    #[inline]
    pub(crate) fn stop_number(self) -> usize {
        (self.0 & mask(STOP_BITS)) as usize
    }

    /// The shapes of a contact.
    #[inline]
    pub(crate) fn pair(self) -> Pair {
        let shape = |shift: u32| (self.0 >> shift & mask(SHAPE_BITS)) as u32;
        Pair { first: shape(SHAPE_BITS + FEATURE_BITS), second: shape(FEATURE_BITS) }
    }

    /// The point and the surface of a contact.
    #[inline]
    pub(crate) fn feature(self) -> Feature {
        let point = (self.0 & mask(POINT_BITS)) as u8;
        if self.0 & OF_SECOND == 0 { Feature::PointOfFirst(point) } else { Feature::PointOfSecond(point) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_holds_its_pair_and_feature() {
        let last = MAX_SHAPES as u32 - 1;
        let point = MAX_POINTS as u8 - 1;
        for pair in [Pair::of(0, 1), Pair::of(last, 7), Pair::of(last - 1, last)] {
            for feature in [Feature::PointOfFirst(0), Feature::PointOfFirst(point), Feature::PointOfSecond(point)] {
                let id = Identity::of(Identity::contact(pair, feature).number());
                assert!(id.is_contact());
                assert_eq!((id.pair(), id.feature()), (pair, feature));
            }
        }
        assert!(!Identity::stop(5).is_contact());
        assert_eq!(Identity::stop(5).stop_number(), 5);
    }

    #[test]
    fn identities_are_ordered_by_stops_pairs_and_features() {
        use Feature::{PointOfFirst, PointOfSecond};
        let list = [
            Identity::stop(0),
            Identity::stop(u32::MAX),
            Identity::contact(Pair::of(0, 1), PointOfFirst(0)),
            Identity::contact(Pair::of(0, 1), PointOfFirst(3)),
            Identity::contact(Pair::of(0, 1), PointOfSecond(0)),
            Identity::contact(Pair::of(2, 0), PointOfFirst(0)),
            Identity::contact(Pair::of(1, 2), PointOfFirst(0)),
        ];
        assert!(list.is_sorted());
        assert!(list.iter().all(|id| id.number() >= Identity::FIRST));
    }
}
