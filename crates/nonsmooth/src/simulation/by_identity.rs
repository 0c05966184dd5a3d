//! A map from identities of interactions to values.
//!
//! Contacts found by collision detection come and go. Their values are kept in one growing array, in the order of first appearance.
//! The indices of the present list of candidates are looked up once per list. Memory grows by doubling, with the number of
//! interactions that have ever appeared.

use crate::contract::Candidates;
use crate::state::{Bytes, Reader, Unreadable, Writer};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Spreads identities, which differ in few bits; never iterated, so that no result depends on it.
#[derive(Debug, Clone, Copy, Default)]
struct Spread(u64);

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for &b in bytes {
            self.write_u64(u64::from(b));
        }
    }
    fn write_u64(&mut self, x: u64) {
        // Multiplication by 2⁶⁴/φ spreads to the high bits; fold them down.
        let y = (self.0 ^ x).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 = y ^ (y >> 32);
    }
}

const NONE: u32 = u32::MAX;

/// Values by identity. See the [module](self).
#[derive(Debug, Clone)]
pub(crate) struct ByIdentity<T> {
    places: HashMap<u64, u32, BuildHasherDefault<Spread>>,
    values: Vec<(u64, T)>,
    /// Index in the array of every candidate of the list.
    present: Vec<u32>,
    before: Vec<u32>,
    version: u64,
}

impl<T> Default for ByIdentity<T> {
    fn default() -> Self {
        Self { places: HashMap::default(), values: Vec::new(), present: Vec::new(), before: Vec::new(), version: 0 }
    }
}

impl<T: Default> ByIdentity<T> {
    /// Looks up the candidates of a list.
    pub(crate) fn set_list(&mut self, list: &Candidates) {
        self.set_list_with(list, |_, _| {});
    }

    /// The same; calls `left` for every value whose interaction was in the list before and is not in this one.
    pub(crate) fn set_list_with(&mut self, list: &Candidates, mut left: impl FnMut(u64, &mut T)) {
        if self.version == list.version() && self.present.len() == list.len() {
            return;
        }
        self.version = list.version();
        std::mem::swap(&mut self.present, &mut self.before);
        self.present.clear();
        let places = &self.places;
        self.present.extend(list.items().iter().map(|k| places.get(&k.id).copied().unwrap_or(NONE)));
        // Both lists are in ascending order of identity.
        let mut at = 0;
        for &place in self.before.iter().filter(|p| **p != NONE) {
            let (id, value) = &mut self.values[place as usize];
            while list.items().get(at).is_some_and(|k| k.id < *id) {
                at += 1;
            }
            if list.items().get(at).is_none_or(|k| k.id != *id) {
                left(*id, value);
            }
        }
    }

    /// The value of candidate `i` of the present list, if it has one.
    #[inline]
    pub(crate) fn get(&mut self, i: usize) -> Option<&mut T> {
        self.values.get_mut(self.present[i] as usize).map(|(_, v)| v)
    }

    /// The value of candidate `i` of the present list, whose identity is `id`; inserted if it has none.
    #[inline]
    pub(crate) fn entry(&mut self, i: usize, id: u64) -> &mut T {
        if self.present[i] == NONE {
            self.present[i] = self.insert(id, T::default());
        }
        &mut self.values[self.present[i] as usize].1
    }

    /// Sets the value of an identity that is not in any list yet.
    pub(crate) fn insert(&mut self, id: u64, value: T) -> u32 {
        let next = self.values.len() as u32;
        let place = *self.places.entry(id).or_insert(next);
        if place == next {
            self.values.push((id, value));
        } else {
            self.values[place as usize].1 = value;
        }
        place
    }

    /// All identities and their values, in the order of first appearance.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &(u64, T)> {
        self.values.iter()
    }
}

impl<T: Bytes + Default> Bytes for ByIdentity<T> {
    fn write(&self, out: &mut Writer) {
        self.values.write(out);
        self.present.write(out);
    }
    fn read(&mut self, from: &mut Reader) -> Result<(), Unreadable> {
        self.values.read(from)?;
        self.present.read(from)?;
        self.places = self.values.iter().zip(0..).map(|((id, _), place)| (*id, place)).collect();
        // No list has this version: the next one is compared with what was present.
        self.version = 0;
        let last = self.values.len() as u32;
        if self.present.iter().any(|p| *p != NONE && *p >= last) {
            let expected = format!("less than {last}");
            return Err(Unreadable::Other { found: "a place beyond the last interaction".into(), expected });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::{Interaction, Kind};
    use crate::law::Law;
    use std::sync::Arc;

    #[test]
    fn values_stay_with_their_identity_while_lists_change() {
        let list = |ids: &[u64]| {
            let mut list = Candidates::default();
            let law = Arc::new(Law::Bilateral);
            list.fill(ids.iter().map(|&id| Interaction::new(id, Kind::Joint, 1, law.clone(), [0u32])));
            list
        };
        let mut map = ByIdentity::<f64>::default();
        map.insert(7, 0.5);
        map.set_list(&list(&[3, 7]));
        assert_eq!(map.get(0), None);
        assert_eq!(map.get(1), Some(&mut 0.5));
        *map.entry(0, 3) += 1.0;
        let mut left = Vec::new();
        map.set_list_with(&list(&[3, 4, 9]), |id, value| left.push((id, *value)));
        assert_eq!(left, [(7, 0.5)]);
        *map.entry(2, 9) += 2.0;
        *map.entry(0, 3) += 1.0;
        assert_eq!(map.get(1), None);
        let all: Vec<(u64, f64)> = map.iter().copied().collect();
        assert_eq!(all, [(7, 0.5), (3, 2.0), (9, 2.0)]);
    }
}
