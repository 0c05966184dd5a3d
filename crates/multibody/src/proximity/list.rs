//! The list of contacts that were found, and its mark.

use super::broad_phase::{Circle, Grid};
use super::identity::Identity;
use std::sync::atomic::{AtomicU64, Ordering};

/// Contacts per shape beyond which a list cannot be that of bodies that hardly overlap.
const CROWD: usize = 100;
/// The same for few shapes.
pub(crate) const CROWD_OF_FEW: usize = 100_000;

/// Contacts of so many shapes beyond which they overlap.
pub(crate) fn crowd(shapes: usize) -> usize {
    CROWD_OF_FEW + CROWD * shapes
}

static LISTS: AtomicU64 = AtomicU64::new(1);

/// Identities of contacts, in ascending order.
#[derive(Debug, Default)]
pub(crate) struct List {
    grid: Grid,
    /// Bounds of the shapes, with their margins.
    pub(crate) circles: Vec<Circle>,
    pub(crate) found: Vec<Identity>,
    /// Mark of the list; zero if there is none.
    pub(crate) stamp: u64,
    /// Whether it has all contacts: not if there are far too many.
    pub(crate) complete: bool,
}

impl List {
    /// Makes the list anew: `meet` appends the contacts of two shapes whose bounds overlap.
    pub(crate) fn search(&mut self, threads: usize, meet: impl Fn(&Circle, &Circle, &mut Vec<Identity>) + Sync) {
        self.complete = self.grid.search(&self.circles, threads, crowd(self.circles.len()), meet, &mut self.found);
        self.stamp = LISTS.fetch_add(1, Ordering::Relaxed);
    }
}
