//! The interactions of one step attempt.

use crate::law::Law;
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

/// One interaction. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Interaction {
    /// Identity, the same from step to step.
    pub id: u64,
    /// What it is.
    pub kind: Kind,
    /// Number of components of its velocity.
    pub dim: usize,
    /// Its law.
    pub law: Arc<Law>,
    /// Velocities that γ depends on: the columns of Wᵀ.
    pub dofs: Arc<[usize]>,
    /// Coordinates that g and γ depend on.
    pub coordinates: Arc<[usize]>,
    /// Whether W and χ depend neither on t nor on q: they are then evaluated once.
    pub constant: bool,
}

/// The interactions of a step attempt, in ascending order of [`Interaction::id`].
#[derive(Debug, Clone, Default)]
pub struct Candidates {
    items: Vec<Interaction>,
    /// First percussion component of each interaction, and the total.
    start: Vec<usize>,
    version: u64,
    source: u64,
}

impl Candidates {
    /// All interactions.
    #[inline]
    pub fn items(&self) -> &[Interaction] {
        &self.items
    }

    /// Number of interactions.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Range of the percussion components of interaction `i`.
    #[inline]
    pub fn range(&self, i: usize) -> std::ops::Range<usize> {
        self.start[i]..self.start[i + 1]
    }

    /// Number of percussion components of all interactions.
    pub fn components(&self) -> usize {
        self.start.last().copied().unwrap_or(0)
    }

    /// Unique to every filling of a list; copies share it; zero for a list that was never filled.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// A mark that a system may leave on a list it has filled, to know it again; zero at first.
    pub fn source(&self) -> u64 {
        self.source
    }

    /// Leaves a mark. See [`Candidates::source`].
    pub fn set_source(&mut self, source: u64) {
        self.source = source;
    }

    /// Replaces the list. Items must come in ascending order of their identity.
    pub fn fill(&mut self, items: impl IntoIterator<Item = Interaction>) {
        self.items.clear();
        self.items.extend(items);
        debug_assert!(self.items.windows(2).all(|w| w[0].id < w[1].id), "candidates must be sorted by identity");
        self.start.clear();
        self.start.push(0);
        let mut total = 0;
        for k in &self.items {
            total += k.dim;
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
        self.items.clone_from(&other.items);
        self.start.clone_from(&other.start);
        self.version = other.version;
        self.source = other.source;
    }
}
