//! Fields of records: clearing, copying, comparing, rearranging for another list of interactions, checking, writing and reading.

use super::Percussions;
use super::bytes::{Bytes, Reader, Unreadable, Writer};
use super::sigma::Sigma;
use crate::contract::{Candidates, Structure};
use complementarity::capacity;
use std::ops::{Deref, DerefMut};

/// What a field of a record can do.
pub trait Field: Bytes {
    /// Forgets the value and keeps the memory.
    fn clear(&mut self);
    /// Copies, keeping the memory.
    fn assign(&mut self, other: &Self);
    /// Whether both have the same bits.
    fn same(&self, other: &Self) -> bool;
    /// Copies a field in the layout of percussions `layout`, rearranged for another list of interactions.
    fn lay_out(&mut self, from: &Self, _layout: &Percussions, _list: &Candidates) {
        self.assign(from);
    }
    /// Whether sizes are those of a system and values are finite.
    fn check(&self, _structure: &Structure, _percussions: &Percussions) -> Result<(), Misfit> {
        Ok(())
    }
}

/// Why a field does not belong to a system.
#[derive(Debug, Clone, PartialEq)]
pub enum Misfit {
    /// Another number of values: found, expected.
    Size(usize, usize),
    /// A value that is not finite, and the coordinate or velocity that it belongs to.
    Value(f64, String),
}

/// A vector over the coordinates; empty where it is not known.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ByCoordinate(pub Vec<f64>);

/// Vectors over the velocities, one after the other; empty where they are not known.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ByVelocity(pub Vec<f64>);

/// Values in the layout of [`Percussions::values`]; empty where they are not known.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ByComponent(pub Vec<f64>);

/// One value for every interaction; empty where they are not known.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ByInteraction<T>(pub Vec<T>);

macro_rules! like_a_vector {
    ($($name:ty => $item:ty $(, $t:ident)?;)*) => { $(
        impl$(<$t>)? Deref for $name {
            type Target = Vec<$item>;
            fn deref(&self) -> &Self::Target { &self.0 }
        }
        impl$(<$t>)? DerefMut for $name {
            fn deref_mut(&mut self) -> &mut Self::Target { &mut self.0 }
        }
    )* };
}
like_a_vector! {
    ByCoordinate => f64;
    ByVelocity => f64;
    ByComponent => f64;
    ByInteraction<T> => T, T;
}

/// An element of a field.
pub trait Value: Copy {
    /// The value of an interaction that was not in the list.
    const ABSENT: Self;
    /// Its bits.
    fn bits(self) -> u64;
    /// The value of these bits.
    fn from_bits(bits: u64) -> Self;
}

impl Value for f64 {
    const ABSENT: Self = f64::NAN;
    fn bits(self) -> u64 {
        self.to_bits()
    }
    fn from_bits(bits: u64) -> Self {
        f64::from_bits(bits)
    }
}

impl Value for bool {
    const ABSENT: Self = false;
    fn bits(self) -> u64 {
        u64::from(self)
    }
    fn from_bits(bits: u64) -> Self {
        bits != 0
    }
}

impl Value for u32 {
    const ABSENT: Self = 0;
    fn bits(self) -> u64 {
        u64::from(self)
    }
    fn from_bits(bits: u64) -> Self {
        bits as u32
    }
}

impl Value for u64 {
    const ABSENT: Self = 0;
    fn bits(self) -> u64 {
        self
    }
    fn from_bits(bits: u64) -> Self {
        bits
    }
}

impl Value for usize {
    const ABSENT: Self = 0;
    fn bits(self) -> u64 {
        self as u64
    }
    fn from_bits(bits: u64) -> Self {
        bits as usize
    }
}

impl Value for Sigma {
    const ABSENT: Self = Sigma::OPEN;
    fn bits(self) -> u64 {
        u64::from(self.0)
    }
    fn from_bits(bits: u64) -> Self {
        Sigma(bits as u32)
    }
}

fn same_bits<T: Value>(a: &[T], b: &[T]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.bits() == b.bits())
}

macro_rules! scalars {
    ($($t:ty = $empty:expr),*) => { $(
        impl Field for $t {
            fn clear(&mut self) { *self = $empty; }
            fn assign(&mut self, other: &Self) { *self = *other; }
            fn same(&self, other: &Self) -> bool { self.bits() == other.bits() }
        }
    )* };
}
scalars!(f64 = 0.0, bool = false, u32 = 0);

impl<T: Value + Bytes + Default> Field for Vec<T> {
    fn clear(&mut self) {
        Vec::clear(self);
    }
    fn assign(&mut self, other: &Self) {
        capacity::assign(self, other);
    }
    fn same(&self, other: &Self) -> bool {
        same_bits(self, other)
    }
}

macro_rules! bytes_of_the_vector {
    ($($name:ty $(, $t:ident)?;)*) => { $(
        impl$(<$t: Bytes + Default>)? Bytes for $name {
            fn write(&self, out: &mut Writer) {
                self.0.write(out);
            }
            fn read(&mut self, from: &mut Reader) -> Result<(), Unreadable> {
                self.0.read(from)
            }
        }
    )* };
}
bytes_of_the_vector! {
    ByCoordinate;
    ByVelocity;
    ByComponent;
    ByInteraction<T>, T;
}

/// What a newtype does as the vector in it.
macro_rules! as_its_vector {
    () => {
        fn clear(&mut self) {
            self.0.clear();
        }
        fn assign(&mut self, other: &Self) {
            self.0.assign(&other.0);
        }
        fn same(&self, other: &Self) -> bool {
            self.0.same(&other.0)
        }
    };
}

fn size(found: usize, expected: usize) -> Result<(), Misfit> {
    if found == 0 || found == expected { Ok(()) } else { Err(Misfit::Size(found, expected)) }
}

fn finite(values: &[f64], name: impl Fn(usize) -> String) -> Result<(), Misfit> {
    match values.iter().position(|v| !v.is_finite()) {
        Some(i) => Err(Misfit::Value(values[i], name(i))),
        None => Ok(()),
    }
}

impl Field for ByCoordinate {
    as_its_vector!();
    fn check(&self, structure: &Structure, _percussions: &Percussions) -> Result<(), Misfit> {
        size(self.len(), structure.nq())?;
        finite(self, |i| structure.coordinates[i].into())
    }
}
impl Field for ByVelocity {
    as_its_vector!();
    fn check(&self, structure: &Structure, _percussions: &Percussions) -> Result<(), Misfit> {
        let n = structure.nu().max(1);
        size(self.len(), self.len().div_ceil(n) * n)?;
        finite(self, |i| structure.velocities[i % n].into())
    }
}
impl Field for ByComponent {
    as_its_vector!();
    fn check(&self, _structure: &Structure, percussions: &Percussions) -> Result<(), Misfit> {
        size(self.len(), percussions.values().len())
    }
    fn lay_out(&mut self, from: &Self, layout: &Percussions, list: &Candidates) {
        self.0.clear();
        if from.is_empty() {
            return;
        }
        self.0.resize(list.components(), 0.0);
        for (j, k) in list.items().iter().enumerate() {
            if let Some(at) = layout.place(j, k.id) {
                self.0[list.range(j)].copy_from_slice(&from[layout.range(at)]);
            }
        }
    }
}
impl<T: Value + Bytes + Default> Field for ByInteraction<T> {
    as_its_vector!();
    fn check(&self, _structure: &Structure, percussions: &Percussions) -> Result<(), Misfit> {
        size(self.len(), percussions.ids().len())
    }
    fn lay_out(&mut self, from: &Self, layout: &Percussions, list: &Candidates) {
        self.0.clear();
        if from.is_empty() {
            return;
        }
        self.0.extend(
            list.items().iter().enumerate().map(|(j, k)| layout.place(j, k.id).map_or(T::ABSENT, |at| from[at])),
        );
    }
}
