//! The list of detected contacts, and its mark.

use super::broad_phase::{Circle, Grid};
use super::identity::Identity;
use std::sync::atomic::{AtomicU64, Ordering};

/// Most contacts per shape of bodies that hardly overlap.
const CONTACTS_PER_SHAPE: usize = 100;
/// Smallest limit on the number of contacts, for few shapes.
pub(crate) const MIN_CONTACT_LIMIT: usize = 100_000;

/// Most contacts of a number of shapes that hardly overlap.
pub(crate) fn contact_limit(shapes: usize) -> usize {
    MIN_CONTACT_LIMIT + CONTACTS_PER_SHAPE * shapes
}

static NEXT_STAMP: AtomicU64 = AtomicU64::new(1);

/// Identities of contacts, in ascending order.
#[derive(Debug, Default)]
pub(crate) struct List {
    grid: Grid,
    /// Bounds of the shapes, with their margins.
    pub(crate) circles: Vec<Circle>,
    pub(crate) found: Vec<Identity>,
    /// Mark of the list; zero if there is none.
    pub(crate) stamp: u64,
    /// Whether it has all contacts: false if there are more than [`contact_limit`].
    pub(crate) complete: bool,
}

impl List {
    /// Rebuilds the list: `meet` appends the contacts of two shapes whose bounds overlap.
    pub(crate) fn search(&mut self, threads: usize, meet: impl Fn(&Circle, &Circle, &mut Vec<Identity>) + Sync) {
        self.complete =
            self.grid.search(&self.circles, threads, contact_limit(self.circles.len()), meet, &mut self.found);
        self.stamp = NEXT_STAMP.fetch_add(1, Ordering::Relaxed);
    }
}
