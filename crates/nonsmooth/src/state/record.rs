//! Records of schemes: data of one scheme in a state or a step.
//!
//! A scheme declares its records in its own folder, by [`record!`](crate::record): its memory from step to step
//! ([`State::memory`](super::State)), and details of a step ([`Step::record`](super::Step)). A state or step has at most one record of each
//! type, so that a scheme built on another one adds its own to those of its base. Other modules read a record through the provided
//! methods of [`Record`].

use super::bytes::{Bytes, Reader, Unreadable, Writer};
use super::field::Misfit;
use super::stages::Stages;
use super::{Percussions, Step};
use crate::contract::{Candidates, Structure};
use std::any::Any;

/// Outcome of a step whose length is chosen by the controller [Studer2008, §9.2].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum StepOutcome {
    /// A step of a scheme without step-size control.
    #[default]
    Plain,
    /// All substeps have the discrete state of the step before, and the error is small enough.
    Smooth,
    /// The same, but the error is too large.
    Inaccurate,
    /// A substep has another discrete state: a switch. The step itself is then one step of the base scheme.
    Detected,
    /// A switch, in a step of the smallest length.
    Resolved,
}

/// What is projected at the end of a step, once it is accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Correction {
    /// What the options of the run request.
    #[default]
    Requested,
    /// The same. If joints are projected, so are contacts that stay closed.
    RequestedWithContacts,
    /// Joints, whatever the options of the run request.
    Joints,
    /// Joints, and contacts that stay closed.
    JointsAndContacts,
}

impl Correction {
    /// Whether joints are projected even if the options do not request it.
    pub fn is_forced(self) -> bool {
        matches!(self, Correction::Joints | Correction::JointsAndContacts)
    }

    /// Whether contacts that stay closed are projected with joints.
    pub fn has_contacts(self) -> bool {
        matches!(self, Correction::RequestedWithContacts | Correction::JointsAndContacts)
    }
}

/// What a scheme knows of impulses beside finite forces in a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Impulses {
    /// Percussions are those of both together.
    #[default]
    Mixed,
    /// There are none.
    Absent,
    /// There are: what percussions are more than [`Record::smooth`].
    Apart,
}

/// A type of record. Implemented by [`record!`](crate::record).
pub trait Record: Any + Send + Sync + std::fmt::Debug {
    /// Its name in checkpoints.
    fn name(&self) -> &'static str;
    /// Clears it, keeping the memory.
    fn clear(&mut self);
    /// Copies a record of the same type, keeping the memory; of another type: clears.
    fn assign(&mut self, other: &dyn Record);
    /// Whether another record is of the same type and has the same bits.
    fn same(&self, other: &dyn Record) -> bool;
    /// A copy, without spare memory.
    fn copy(&self) -> Box<dyn Record>;
    /// Copies a record in the layout of percussions `layout`, rearranged for another list of interactions.
    fn lay_out(&mut self, from: &dyn Record, layout: &Percussions, list: &Candidates);
    /// Whether its sizes are those of a system and its values finite; else what does not fit.
    fn check(&self, structure: &Structure, percussions: &Percussions) -> Result<(), (&'static str, Misfit)>;
    /// Appends it to a checkpoint.
    fn write(&self, out: &mut Writer);
    /// Takes it from a checkpoint.
    fn read(&mut self, from: &mut Reader) -> Result<(), Unreadable>;

    /// Polynomials inside the step: its dense output.
    fn stages(&self) -> Option<&Stages> {
        None
    }
    /// Velocity before the jump at the end, where the scheme locates one. Empty for Moreau-type schemes, whose percussions act over the
    /// whole step: their γ⁻ is taken with the start velocity.
    fn u_minus(&self) -> &[f64] {
        &[]
    }
    /// Velocity before the jump at the end, where the polynomials of the stages have the jump in them: inside such a step they are not the motion before it.
    /// Empty otherwise.
    fn left(&self) -> &[f64] {
        &[]
    }
    /// Percussions of finite forces, where the scheme separates them from those of a jump at the end; the rest belongs to the jump.
    fn smooth(&self) -> &[f64] {
        &[]
    }
    /// What it knows of impulses.
    fn impulses(&self) -> Impulses {
        Impulses::Mixed
    }
    /// Whether a contact took a percussion without approach because no force satisfies the laws at the start: a paradox of Painlevé.
    fn paradox(&self) -> bool {
        false
    }
    /// Multipliers τ of a projection of the position, by component (of a contact, its first).
    fn multipliers(&self) -> &[f64] {
        &[]
    }
    /// Positions and times besides the end at which interactions were evaluated: the reach of the list must cover them.
    fn visited(&self, _step: &Step, _see: &mut dyn FnMut(f64, &[f64])) {}
    /// How the step came out.
    fn outcome(&self) -> StepOutcome {
        StepOutcome::Plain
    }
    /// Order of this step, where it is chosen; else 0.
    fn order(&self) -> u32 {
        0
    }
    /// What is projected after it.
    fn correction(&self) -> Correction {
        Correction::Requested
    }
    /// Whether states inside the step need side steps: shorter steps of the same scheme from the same start.
    fn is_extrapolated(&self) -> bool {
        false
    }
}

/// A default for a record that is missing.
pub trait Empty: Record + Default {
    /// The record without anything in it.
    fn empty() -> &'static Self;
}

/// Records, one of each type at most.
#[derive(Debug, Default)]
pub struct Records(Vec<Box<dyn Record>>);

impl Records {
    /// The record of a type, if there is one.
    #[inline]
    pub fn get<T: Record>(&self) -> Option<&T> {
        self.0.iter().find_map(|r| (&**r as &dyn Any).downcast_ref())
    }

    /// The record of a type; empty if it is missing.
    #[inline]
    pub fn of<T: Empty>(&self) -> &T {
        self.get().unwrap_or_else(|| T::empty())
    }

    /// The record of a type; inserted if it is missing.
    pub fn make<T: Record + Default>(&mut self) -> &mut T {
        let at = self.0.iter().position(|r| (&**r as &dyn Any).is::<T>()).unwrap_or_else(|| {
            self.0.push(Box::<T>::default());
            self.0.len() - 1
        });
        // The one that was found or made: a record of this type.
        match (&mut *self.0[at] as &mut dyn Any).downcast_mut() {
            Some(record) => record,
            None => unreachable!("the record at {at} is of the type that it was found by"),
        }
    }

    /// Clears all records, keeping the memory.
    #[inline]
    pub fn clear(&mut self) {
        self.0.iter_mut().for_each(|r| r.clear());
    }

    /// Copies, keeping the memory.
    pub fn assign(&mut self, other: &Records) {
        for mine in &mut self.0 {
            match other.0.iter().find(|r| r.name() == mine.name()) {
                Some(theirs) => mine.assign(&**theirs),
                None => mine.clear(),
            }
        }
        let had = self.0.len();
        let known = |r: &dyn Record| self.0[..had].iter().any(|mine| mine.name() == r.name());
        let new: Vec<_> = other.0.iter().filter(|r| !known(&***r)).map(|r| r.copy()).collect();
        self.0.extend(new);
    }

    /// Copies records in the layout of percussions `layout`, rearranged for another list of interactions.
    pub(crate) fn lay_out(&mut self, from: &Records, layout: &Percussions, list: &Candidates) {
        self.clone_from(from);
        self.0.iter_mut().zip(&from.0).for_each(|(mine, theirs)| mine.lay_out(&**theirs, layout, list));
    }

    pub(crate) fn check(&self, structure: &Structure, percussions: &Percussions) -> Result<(), (&'static str, Misfit)> {
        self.iter().try_for_each(|r| r.check(structure, percussions))
    }

    #[inline]
    pub(crate) fn iter(&self) -> impl Iterator<Item = &dyn Record> {
        self.0.iter().map(|r| &**r)
    }
}

impl Bytes for Records {
    fn write(&self, out: &mut Writer) {
        out.value(self.0.len());
        for record in &self.0 {
            out.text(record.name());
            record.write(out);
        }
    }
    fn read(&mut self, from: &mut Reader) -> Result<(), Unreadable> {
        self.0.clear();
        for _ in 0..from.count(8)? {
            let name = from.text()?;
            let mut record = from.record(name)?;
            record.read(from)?;
            self.0.push(record);
        }
        Ok(())
    }
}

impl Clone for Records {
    fn clone(&self) -> Self {
        Self(self.0.iter().map(|r| r.copy()).collect())
    }
}

impl PartialEq for Records {
    /// A missing record equals an empty one.
    fn eq(&self, other: &Self) -> bool {
        let covers = |a: &Records, b: &Records| {
            a.iter().all(|r| match b.iter().find(|o| o.name() == r.name()) {
                Some(o) => r.same(o),
                None => {
                    let mut empty = r.copy();
                    empty.clear();
                    r.same(&*empty)
                }
            })
        };
        covers(self, other) && covers(other, self)
    }
}

/// Declares a [`Record`](crate::state::Record): a struct of [fields](crate::state::Field), with its name in checkpoints, each field with words
/// for messages and, after the struct, overrides of the provided methods.
///
/// ```
/// nonsmooth::record! {
///     /// Memory of my scheme from step to step.
///     "my memory" pub struct MyMemory {
///         /// Accelerations of the step that led here.
///         accelerations: nonsmooth::state::ByVelocity = "accelerations of the last step",
///     }
/// }
/// ```
#[macro_export]
macro_rules! record {
    (
        $(#[$doc:meta])*
        $name:literal $visibility:vis struct $type:ident { $($(#[$field_doc:meta])* $field:ident: $kind:ty = $what:literal,)* }
        $($view:item)*
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Default)]
        $visibility struct $type { $($(#[$field_doc])* pub $field: $kind,)* }

        impl $crate::state::Record for $type {
            fn name(&self) -> &'static str {
                $name
            }
            fn clear(&mut self) {
                $($crate::state::Field::clear(&mut self.$field);)*
            }
            fn assign(&mut self, other: &dyn $crate::state::Record) {
                match (other as &dyn std::any::Any).downcast_ref::<Self>() {
                    Some(other) => { $($crate::state::Field::assign(&mut self.$field, &other.$field);)* }
                    None => self.clear(),
                }
            }
            fn same(&self, other: &dyn $crate::state::Record) -> bool {
                let other = (other as &dyn std::any::Any).downcast_ref::<Self>();
                other.is_some_and(|other| true $(&& $crate::state::Field::same(&self.$field, &other.$field))*)
            }
            fn copy(&self) -> Box<dyn $crate::state::Record> {
                Box::new(self.clone())
            }
            fn lay_out(
                &mut self,
                from: &dyn $crate::state::Record,
                layout: &$crate::state::Percussions,
                list: &$crate::contract::Candidates,
            ) {
                if let Some(from) = (from as &dyn std::any::Any).downcast_ref::<Self>() {
                    $($crate::state::Field::lay_out(&mut self.$field, &from.$field, layout, list);)*
                }
            }
            fn check(
                &self,
                structure: &$crate::contract::Structure,
                percussions: &$crate::state::Percussions,
            ) -> Result<(), (&'static str, $crate::state::Misfit)> {
                $($crate::state::Field::check(&self.$field, structure, percussions).map_err(|misfit| ($what, misfit))?;)*
                Ok(())
            }
            fn write(&self, out: &mut $crate::state::Writer) {
                $($crate::state::Bytes::write(&self.$field, out);)*
            }
            fn read(&mut self, from: &mut $crate::state::Reader) -> Result<(), $crate::state::Unreadable> {
                $($crate::state::Bytes::read(&mut self.$field, from)?;)*
                Ok(())
            }
            $($view)*
        }

        impl $crate::state::Empty for $type {
            fn empty() -> &'static Self {
                static EMPTY: std::sync::LazyLock<$type> = std::sync::LazyLock::new($type::default);
                &EMPTY
            }
        }
    };
}
