//! The state of a simulation, and the result of a step.

pub mod bytes;
pub mod field;
mod record;
mod sigma;
mod stages;
mod step;

pub use bytes::{Bytes, Reader, Unreadable, Writer};
pub(crate) use bytes::{bytes, read_choice, write_choice};
pub use field::{ByComponent, ByCoordinate, ByInteraction, ByVelocity, Field, Misfit};
pub use record::{Correction, Empty, Impulses, Record, Records, StepOutcome};
pub use sigma::Sigma;
pub use stages::Stages;
pub use step::{Hit, Reason, Step, StepReport};

use crate::contract::{Candidates, Evaluator, Structure};
use complementarity::capacity;

/// Percussions of the last step by interaction: the warm start of the next.
#[derive(Debug, Clone, Default)]
pub struct Percussions {
    ids: Vec<u64>,
    start: Vec<u32>,
    values: Vec<f64>,
    /// Version of the candidate list that they belong to.
    version: u64,
}

impl PartialEq for Percussions {
    fn eq(&self, other: &Self) -> bool {
        self.ids == other.ids && self.start == other.start && self.values == other.values
    }
}

impl Percussions {
    /// All components, interaction after interaction (N·s).
    #[inline]
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// All components, interaction after interaction (N·s).
    #[inline]
    pub fn values_mut(&mut self) -> &mut [f64] {
        &mut self.values
    }

    /// Identities of the interactions.
    #[inline]
    pub fn ids(&self) -> &[u64] {
        &self.ids
    }

    /// Components of interaction `i` of the list.
    pub(crate) fn range(&self, i: usize) -> std::ops::Range<usize> {
        self.start[i] as usize..self.start[i + 1] as usize
    }

    fn slot(&self, i: usize) -> &[f64] {
        &self.values[self.range(i)]
    }

    /// Index of an interaction in the list, looked up first at `i`.
    #[inline]
    pub(crate) fn place(&self, i: usize, id: u64) -> Option<usize> {
        if self.ids.get(i) == Some(&id) { Some(i) } else { self.ids.binary_search(&id).ok() }
    }

    /// The percussion of one interaction, if it is listed.
    #[inline]
    pub fn get(&self, id: u64) -> Option<&[f64]> {
        Some(self.slot(self.ids.binary_search(&id).ok()?))
    }

    /// The percussion of one interaction, looked up first at `i`, because lists rarely change.
    #[inline]
    pub(crate) fn at(&self, i: usize, id: u64) -> Option<&[f64]> {
        self.place(i, id).map(|i| self.slot(i))
    }

    /// Zeros for every interaction of a list.
    pub fn reset(&mut self, candidates: &Candidates) {
        self.ids.clear();
        capacity::reserve(&mut self.ids, candidates.len());
        self.ids.extend(candidates.items().iter().map(|k| k.id));
        capacity::assign(&mut self.start, candidates.starts());
        self.values.clear();
        capacity::resize(&mut self.values, candidates.components(), 0.0);
        self.version = candidates.version();
    }

    /// Copies another set of percussions, keeping the memory.
    fn assign(&mut self, other: &Percussions) {
        if self.version != other.version || self.ids.len() != other.ids.len() {
            capacity::assign(&mut self.ids, &other.ids);
            capacity::assign(&mut self.start, &other.start);
            self.version = other.version;
        }
        capacity::assign(&mut self.values, &other.values);
    }
}

impl Bytes for Percussions {
    fn write(&self, out: &mut Writer) {
        out.values(&self.ids);
        out.values(&self.start);
        out.values(&self.values);
    }

    fn read(&mut self, from: &mut Reader) -> Result<(), Unreadable> {
        from.values(&mut self.ids)?;
        from.values(&mut self.start)?;
        from.values(&mut self.values)?;
        self.version = 0;
        let ascending = self.ids.is_sorted_by(|a, b| a < b) && self.start.is_sorted();
        let ends = self.start.last().map_or(0, |n| *n as usize) == self.values.len();
        if ascending && ends && (self.ids.is_empty() || self.start.len() == self.ids.len() + 1) {
            return Ok(());
        }
        Err(Unreadable::Other { found: "percussions in no order".into(), expected: "percussions by identity".into() })
    }
}

/// The state of a simulation at a time: everything that a step starts from.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct State {
    /// Time, s.
    pub t: f64,
    /// Coordinates.
    pub q: Vec<f64>,
    /// Velocities (right limit).
    pub u: Vec<f64>,
    /// Percussions of the step that led here: warm start.
    pub percussions: Percussions,
    /// Memory of the scheme from step to step: empty before the first step, and for schemes without memory.
    pub memory: Records,
}

bytes!(State { t, q, u, percussions, memory });

impl State {
    /// A state without history.
    #[inline]
    pub fn new(t: f64, q: Vec<f64>, u: Vec<f64>) -> Self {
        Self { t, q, u, percussions: Percussions::default(), memory: Records::default() }
    }

    /// Checks that the sizes are those of a system and that the memory of the scheme fits; else names what does not.
    pub(crate) fn check(&self, structure: &Structure) -> Result<(), (&'static str, Misfit)> {
        for (what, found, expected) in [("q", self.q.len(), structure.nq()), ("u", self.u.len(), structure.nu())] {
            if found != expected {
                return Err((what, Misfit::Size(found, expected)));
            }
        }
        self.memory.check(structure, &self.percussions)
    }

    /// Copies another state, keeping the memory.
    pub fn assign(&mut self, other: &State) {
        self.t = other.t;
        capacity::assign(&mut self.q, &other.q);
        capacity::assign(&mut self.u, &other.u);
        self.percussions.assign(&other.percussions);
        self.memory.assign(&other.memory);
    }
}

/// q̇ into `out`.
#[inline]
pub(crate) fn rates_into(system: &Evaluator, t: f64, q: &[f64], u: &[f64], out: &mut [f64]) {
    if system.structure().identity_kinematics() {
        out.copy_from_slice(u);
    } else {
        system.kinematics(t, q, u, out);
    }
}

/// q̇: u itself where they are the same, else what `scratch` then holds.
#[inline]
pub(crate) fn rates<'a>(system: &Evaluator, t: f64, q: &[f64], u: &'a [f64], scratch: &'a mut Vec<f64>) -> &'a [f64] {
    if system.structure().identity_kinematics() {
        return u;
    }
    scratch.resize(q.len(), 0.0);
    system.kinematics(t, q, u, scratch);
    scratch
}
