//! The interactions of one step attempt.

use super::part::Violation;
use crate::law::Law;
use complementarity::capacity;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

static VERSION: AtomicU64 = AtomicU64::new(1);

/// What an interaction is. See the table at [`super::System`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Bilateral constraint on position level.
    Joint,
    /// Bilateral constraint on velocity level.
    VelocityJoint,
    /// Unilateral contact.
    Contact,
    /// Set-valued element without a gap.
    Element,
}

/// How far points may move in a step attempt: each by `time` times its speed now, plus `distance`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reach {
    /// Length of the step, s.
    pub time: f64,
    /// What every point may go beyond that, m.
    pub distance: f64,
}

impl Reach {
    /// Everything that can be named beforehand. See [`super::System::candidates`].
    pub const ALL: Self = Self { time: 0.0, distance: f64::INFINITY };
    /// What touches now.
    pub const NONE: Self = Self { time: 0.0, distance: 0.0 };
}

/// Indices up to this many are kept without a heap: the velocities of two bodies in space.
const INLINE: usize = 12;

/// A short list of indices below 2³², cheap to make and to clone: lists of contacts change while bodies move.
#[derive(Clone)]
pub struct Indices(Store);

#[derive(Clone)]
enum Store {
    Inline(u8, [u32; INLINE]),
    Shared(Arc<[u32]>),
}

impl std::ops::Deref for Indices {
    type Target = [u32];
    #[inline]
    fn deref(&self) -> &[u32] {
        match &self.0 {
            Store::Inline(n, list) => &list[..usize::from(*n)],
            Store::Shared(list) => list,
        }
    }
}

impl std::fmt::Debug for Indices {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        (**self).fmt(f)
    }
}

impl From<&[u32]> for Indices {
    #[inline]
    fn from(list: &[u32]) -> Self {
        if list.len() > INLINE {
            return Self(Store::Shared(list.into()));
        }
        let mut at = [0; INLINE];
        at[..list.len()].copy_from_slice(list);
        Self(Store::Inline(list.len() as u8, at))
    }
}

impl<const N: usize> From<[u32; N]> for Indices {
    fn from(list: [u32; N]) -> Self {
        Self::from(&list[..])
    }
}

impl From<&[usize]> for Indices {
    fn from(list: &[usize]) -> Self {
        Self::from(&list.iter().map(|&i| i as u32).collect::<Vec<u32>>()[..])
    }
}

/// One interaction. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Interaction {
    /// Identity, the same from step to step.
    pub id: u64,
    /// What it is.
    pub kind: Kind,
    /// Whether W and χ depend neither on t nor on q: they are then evaluated once.
    pub constant: bool,
    detected: bool,
    dim: u32,
    /// Its law.
    pub law: Arc<Law>,
    /// Velocities that γ depends on: the columns of Wᵀ.
    pub dofs: Indices,
}

/// Lists of contacts are most of what a large simulation holds.
const _: () = assert!(size_of::<Interaction>() <= 80);

impl Interaction {
    /// An interaction of these velocities.
    pub fn new(id: u64, kind: Kind, dim: usize, law: Arc<Law>, dofs: impl Into<Indices>) -> Self {
        let dim = u32::try_from(dim).unwrap_or(u32::MAX);
        Self { id, kind, constant: false, detected: false, dim, law, dofs: dofs.into() }
    }

    /// States that W and χ are constant.
    pub fn with_constant_directions(mut self, constant: bool) -> Self {
        self.constant = constant;
        self
    }

    /// States that it was found by collision detection: it is listed only while it is near.
    pub fn found_by_detection(mut self) -> Self {
        self.detected = true;
        self
    }

    /// Whether it was found by collision detection.
    #[inline]
    pub fn detected(&self) -> bool {
        self.detected
    }

    /// Number of components of its velocity.
    #[inline]
    pub fn dim(&self) -> usize {
        self.dim as usize
    }

    /// Number of values of its rows of Wᵀ, if 32 bits can hold it.
    #[inline]
    fn values(&self) -> Option<u32> {
        u32::try_from(self.dofs.len()).ok()?.checked_mul(self.dim)
    }

    /// Σ row_j u_j over [`Interaction::dofs`]: one component of Wᵀu.
    #[inline]
    pub fn row_times(&self, row: &[f64], u: &[f64]) -> f64 {
        self.dofs.iter().zip(row).map(|(&j, w)| w * u[j as usize]).sum()
    }
}

/// The interactions of a step attempt, in ascending order of [`Interaction::id`].
///
/// Their percussion components, and the values of their rows of Wᵀ (`dim` times the number of `dofs` each), are numbered by 32 bits; so
/// are velocities and coordinates. A list with more of either is [at fault](Candidates::fault), and the step fails with that: the
/// sums of any list that has no fault fit into the one-step problem.
#[derive(Debug, Clone, Default)]
pub struct Candidates {
    items: Vec<Interaction>,
    /// First percussion component of each interaction, and the total.
    start: Vec<u32>,
    version: u64,
    source: u64,
    fault: Option<Box<Violation>>,
}

impl Candidates {
    /// All interactions.
    #[inline]
    pub fn items(&self) -> &[Interaction] {
        &self.items
    }

    /// Number of interactions.
    #[inline]
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there is none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Range of the percussion components of interaction `i`.
    #[inline]
    pub fn range(&self, i: usize) -> std::ops::Range<usize> {
        self.start[i] as usize..self.start[i + 1] as usize
    }

    /// First percussion component of each interaction, and the total.
    pub(crate) fn starts(&self) -> &[u32] {
        &self.start
    }

    /// Number of percussion components of all interactions.
    #[inline]
    pub fn components(&self) -> usize {
        self.start.last().map_or(0, |&n| n as usize)
    }

    /// Unique to every filling of a list; copies share it; zero for a list that was never filled.
    #[inline]
    pub fn version(&self) -> u64 {
        self.version
    }

    /// A mark that a system may leave on a list it has filled, to know it again; zero at first.
    #[inline]
    pub fn source(&self) -> u64 {
        self.source
    }

    /// Leaves a mark. See [`Candidates::source`].
    #[inline]
    pub fn set_source(&mut self, source: u64) {
        self.source = source;
    }

    /// Empties the list and says why it could not be made. The step fails with that.
    pub fn fail(&mut self, why: Violation) {
        self.fill([]);
        self.fault = Some(Box::new(why));
    }

    /// Why the list could not be made, if it could not.
    #[inline]
    pub fn fault(&self) -> Option<&Violation> {
        self.fault.as_deref()
    }

    /// Reserves capacity for `n` interactions in total. The list itself does not change.
    #[inline]
    pub fn reserve(&mut self, n: usize) {
        capacity::reserve(&mut self.items, n);
    }

    /// Replaces the list. Items must come in ascending order of their identity. Too many for 32-bit numbers leave it empty and
    /// [at fault](Candidates::fault).
    pub fn fill(&mut self, items: impl IntoIterator<Item = Interaction>) {
        self.fault = None;
        self.items.clear();
        self.items.extend(items);
        debug_assert!(self.items.windows(2).all(|w| w[0].id < w[1].id), "candidates must be sorted by identity");
        self.start.clear();
        capacity::reserve(&mut self.start, self.items.len() + 1);
        self.start.push(0);
        let (mut total, mut values) = (0u32, 0u32);
        for k in &self.items {
            let sums = (total.checked_add(k.dim), k.values().and_then(|n| values.checked_add(n)));
            let (Some(components), Some(entries)) = sums else {
                let why = "the interactions have more components, or more values in W, than 2³² − 1";
                return self.fail(Violation::new(why));
            };
            (total, values) = (components, entries);
            self.start.push(total);
        }
        self.version = VERSION.fetch_add(1, Ordering::Relaxed);
        self.source = 0;
    }

    /// Copies another list, keeping the memory; free if both are of the same filling.
    pub fn assign(&mut self, other: &Candidates) {
        if self.version == other.version {
            return;
        }
        capacity::assign(&mut self.items, &other.items);
        capacity::assign(&mut self.start, &other.start);
        self.version = other.version;
        self.source = other.source;
        self.fault.clone_from(&other.fault);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::ContactLaw;

    fn contact(id: u64, dim: usize) -> Interaction {
        Interaction::new(id, Kind::Contact, dim, Arc::new(Law::Contact(ContactLaw::newton(0.0))), [0, 1])
    }

    #[test]
    fn reserving_leaves_a_list_as_it_is() {
        let mut list = Candidates::default();
        list.fill([contact(3, 1), contact(5, 2)]);
        let version = list.version();
        list.reserve(1000);
        assert_eq!((list.len(), list.components(), list.version()), (2, 3, version));
        assert_eq!(list.range(1), 1..3);
        assert!(list.items.capacity() >= 1000);
    }

    #[test]
    fn more_than_can_be_numbered_is_a_fault() {
        let half = 1usize << 31;
        let mut list = Candidates::default();
        for (dims, fits) in [(vec![half - 1], true), (vec![half], false), (vec![half / 2; 2], false)] {
            list.fill(dims.iter().enumerate().map(|(i, dim)| contact(i as u64, *dim)));
            assert_eq!(list.fault().is_none(), fits, "{dims:?}");
            assert_eq!(list.len(), if fits { dims.len() } else { 0 });
        }
        list.fill([contact(0, 1)]);
        assert_eq!((list.fault(), list.components()), (None, 1));
    }
}
