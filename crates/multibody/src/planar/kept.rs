//! Contacts as they were evaluated last: position, velocity and derivatives of a contact ask for the same geometry at the same poses, in a
//! step and at the start of the next.
//!
//! A table of pairs of places by the identity of the contact. What is found there is what [`Touch::new`] gave for exactly these poses, so that results do not depend on it.
//! Contacts between discs alone are not kept: they cost no more than a look here.

use super::pose::Pose;
use super::touch::Touch;
use crate::proximity::identity::Identity;

/// Places at first, and at most: beyond that contacts share them.
const SIZES: (usize, usize) = (16, 1 << 16);

#[derive(Debug, Clone, Copy)]
struct Entry {
    id: Identity,
    poses: [Pose; 2],
    touch: Touch,
}

/// Whether two poses have the same bits: a zero of another sign is another pose.
#[inline]
fn is_same(a: &Pose, b: &Pose) -> bool {
    a.coordinates().map(f64::to_bits) == b.coordinates().map(f64::to_bits)
}

/// Places for a number of contacts.
#[inline]
fn size(contacts: usize) -> usize {
    contacts.clamp(SIZES.0, SIZES.1).next_power_of_two()
}

/// The table. It is made when the first contact is kept.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    /// Mark of the system that it belongs to.
    system: u64,
    /// Contacts in the list.
    contacts: usize,
    /// The last two evaluations of the contacts of a place, the last one first: schemes go to and fro between the ends of a step.
    places: Vec<[Option<Entry>; 2]>,
}

impl Kept {
    /// Says how many contacts there are.
    #[inline]
    pub(crate) fn expect(&mut self, contacts: usize) {
        self.contacts = contacts;
    }

    /// Makes room for these contacts, of the system with this mark.
    #[cold]
    fn prepare(&mut self, system: u64) {
        self.system = system;
        self.places.clear();
        self.places.resize(size(self.contacts), [None; 2]);
    }

    /// The contact at these poses, by `evaluate` if it was not evaluated there.
    #[inline]
    pub(crate) fn touch(
        &mut self,
        system: u64,
        id: Identity,
        poses: [Pose; 2],
        evaluate: impl FnOnce(&[Pose; 2]) -> Touch,
    ) -> Touch {
        if self.system != system || self.places.len() < size(self.contacts) {
            self.prepare(system);
        }
        // Fibonacci hashing: identities differ in few of their middle bits.
        let at = (id.number().wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) as usize & (self.places.len() - 1);
        let [last, before] = &mut self.places[at];
        for known in [&*last, &*before] {
            if let Some(e) = known
                && e.id == id
                && e.poses.iter().zip(&poses).all(|(a, b)| is_same(a, b))
            {
                return e.touch;
            }
        }
        let touch = evaluate(&poses);
        *before = last.replace(Entry { id, poses, touch });
        touch
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::planar::shape::Shape;
    use crate::proximity::identity::{Feature, Pair};

    #[test]
    fn a_contact_is_evaluated_once_for_the_two_poses_that_it_was_seen_in_last() {
        let shape = Shape::Disc { radius: 0.1, centre: [0.3, 0.0] };
        let id = |k| Identity::contact(Pair::of(0, k), Feature::PointOfFirst(0));
        let at = |x: f64| [Pose { centre: [x, 0.0], angle: 0.2 * x }, Pose::default()];
        let (mut kept, mut made) = (Kept::default(), 0);
        kept.expect(3);
        let mut ask = |kept: &mut Kept, system: u64, id: Identity, x: f64| {
            let touch = kept.touch(system, id, at(x), |[a, b]| {
                made += 1;
                Touch::new(&shape, 0, a, &shape, b)
            });
            let [a, b] = at(x);
            assert_eq!(touch.gap.to_bits(), Touch::new(&shape, 0, &a, &shape, &b).gap.to_bits());
            made
        };
        // The two ends of a step, to and fro.
        assert_eq!([1.0, 2.0, 1.0, 2.0].map(|x| ask(&mut kept, 7, id(1), x)), [1, 2, 2, 2]);
        // A third pose takes the place of the older one; a zero of another sign is another pose.
        assert_eq!([3.0, 2.0, 1.0].map(|x| ask(&mut kept, 7, id(1), x)), [3, 3, 4]);
        assert_eq!([0.0, -0.0].map(|x| ask(&mut kept, 7, id(1), x)), [5, 6]);
        // Another contact, and another system, know nothing of it.
        assert_eq!(ask(&mut kept, 7, id(2), 0.0), 7);
        assert_eq!(ask(&mut kept, 8, id(2), 0.0), 8);
    }
}
