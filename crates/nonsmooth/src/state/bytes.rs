//! Bytes of checkpoints: numbers as their bits, little-endian, so that reading restores the same bits.

use super::field::Value;
use super::record::Record;
use std::collections::VecDeque;

/// Writes values to bytes.
#[derive(Debug, Clone, Default)]
pub struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    /// Appends a number.
    pub fn value<T: Value>(&mut self, value: T) {
        self.bytes.extend_from_slice(&value.bits().to_le_bytes());
    }

    /// Appends numbers, and how many there are.
    pub fn values<T: Value>(&mut self, values: &[T]) {
        self.value(values.len() as u64);
        values.iter().for_each(|v| self.value(*v));
    }

    /// Appends a text.
    pub fn text(&mut self, text: &str) {
        self.value(text.len() as u64);
        self.bytes.extend_from_slice(text.as_bytes());
    }

    /// The bytes.
    pub fn finish(self) -> Vec<u8> {
        self.bytes
    }
}

/// Why bytes cannot be read as a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// They end too early.
    #[error("the checkpoint is cut off after {at} bytes")]
    CutOff {
        /// Where more was expected.
        at: usize,
    },
    /// They hold something else than expected.
    #[error("the checkpoint has {found} where {expected} is expected")]
    Other {
        /// What they hold.
        found: String,
        /// What was expected.
        expected: String,
    },
}

/// Reads values from bytes.
#[derive(Debug)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    /// One record of each type that may occur.
    known: &'a [Box<dyn Record>],
}

impl<'a> Reader<'a> {
    /// From the beginning, with one record of each type that may occur.
    pub fn new(bytes: &'a [u8], known: &'a [Box<dyn Record>]) -> Self {
        Self { bytes, at: 0, known }
    }

    /// An empty record with this name.
    pub fn record(&self, name: &str) -> Result<Box<dyn Record>, Unreadable> {
        let found = self.known.iter().find(|r| r.name() == name);
        let other = || Unreadable::Other { found: format!("a record `{name}`"), expected: "one of the scheme".into() };
        found.map(|r| r.copy()).ok_or_else(other)
    }

    fn take(&mut self, n: usize) -> Result<&'a [u8], Unreadable> {
        let end = self.at.checked_add(n).filter(|end| *end <= self.bytes.len());
        let end = end.ok_or(Unreadable::CutOff { at: self.bytes.len() })?;
        let part = &self.bytes[self.at..end];
        self.at = end;
        Ok(part)
    }

    /// A number.
    pub fn value<T: Value>(&mut self) -> Result<T, Unreadable> {
        let mut bits = [0; 8];
        bits.copy_from_slice(self.take(8)?);
        Ok(T::from_bits(u64::from_le_bytes(bits)))
    }

    /// Number of entries that follow, each of at least `size` bytes: at most as many as the bytes left can hold.
    pub fn count(&mut self, size: usize) -> Result<usize, Unreadable> {
        let n: u64 = self.value()?;
        let most = (self.bytes.len() - self.at) / size.max(1);
        if n as usize > most { Err(Unreadable::CutOff { at: self.bytes.len() }) } else { Ok(n as usize) }
    }

    /// Numbers.
    pub fn values<T: Value>(&mut self, out: &mut Vec<T>) -> Result<(), Unreadable> {
        let n = self.count(8)?;
        out.clear();
        out.reserve(n);
        for _ in 0..n {
            out.push(self.value()?);
        }
        Ok(())
    }

    /// A text.
    pub fn text(&mut self) -> Result<&'a str, Unreadable> {
        let n = self.count(1)?;
        let at = self.at;
        let other = |_| Unreadable::Other { found: format!("no text at byte {at}"), expected: "a text".into() };
        std::str::from_utf8(self.take(n)?).map_err(other)
    }

    /// A text that must be `expected`.
    pub fn expect(&mut self, expected: &str) -> Result<(), Unreadable> {
        let found = self.text()?;
        if found == expected {
            return Ok(());
        }
        Err(Unreadable::Other { found: format!("`{found}`"), expected: format!("`{expected}`") })
    }

    /// Whether nothing is left.
    pub fn is_at_end(&self) -> bool {
        self.at == self.bytes.len()
    }
}

/// Values that can be written to bytes and read from them.
pub trait Bytes {
    /// Appends the value.
    fn write(&self, out: &mut Writer);
    /// Takes the value.
    fn read(&mut self, from: &mut Reader) -> Result<(), Unreadable>;
}

macro_rules! numbers {
    ($($t:ty),*) => { $(
        impl Bytes for $t {
            fn write(&self, out: &mut Writer) {
                out.value(*self);
            }
            fn read(&mut self, from: &mut Reader) -> Result<(), Unreadable> {
                *self = from.value()?;
                Ok(())
            }
        }
    )* };
}
numbers!(f64, bool, u32, u64, usize, super::Sigma);

impl Bytes for String {
    fn write(&self, out: &mut Writer) {
        out.text(self);
    }
    fn read(&mut self, from: &mut Reader) -> Result<(), Unreadable> {
        *self = from.text()?.into();
        Ok(())
    }
}

impl<T: Bytes + Default> Bytes for Vec<T> {
    fn write(&self, out: &mut Writer) {
        out.value(self.len());
        self.iter().for_each(|v| v.write(out));
    }
    fn read(&mut self, from: &mut Reader) -> Result<(), Unreadable> {
        let n = from.count(1)?;
        self.clear();
        for _ in 0..n {
            let mut value = T::default();
            value.read(from)?;
            self.push(value);
        }
        Ok(())
    }
}

impl<T: Bytes + Default> Bytes for VecDeque<T> {
    fn write(&self, out: &mut Writer) {
        out.value(self.len());
        self.iter().for_each(|v| v.write(out));
    }
    fn read(&mut self, from: &mut Reader) -> Result<(), Unreadable> {
        let mut values = Vec::new();
        values.read(from)?;
        self.clear();
        self.extend(values);
        Ok(())
    }
}

impl<T: Bytes + Default> Bytes for Option<T> {
    fn write(&self, out: &mut Writer) {
        out.value(self.is_some());
        self.iter().for_each(|v| v.write(out));
    }
    fn read(&mut self, from: &mut Reader) -> Result<(), Unreadable> {
        *self = if from.value()? {
            let mut value = T::default();
            value.read(from)?;
            Some(value)
        } else {
            None
        };
        Ok(())
    }
}

impl<T: Bytes + ?Sized> Bytes for Box<T> {
    fn write(&self, out: &mut Writer) {
        (**self).write(out);
    }
    fn read(&mut self, from: &mut Reader) -> Result<(), Unreadable> {
        (**self).read(from)
    }
}

impl<T: Bytes, const N: usize> Bytes for [T; N] {
    fn write(&self, out: &mut Writer) {
        self.iter().for_each(|v| v.write(out));
    }
    fn read(&mut self, from: &mut Reader) -> Result<(), Unreadable> {
        self.iter_mut().try_for_each(|v| v.read(from))
    }
}

impl<A: Bytes, B: Bytes> Bytes for (A, B) {
    fn write(&self, out: &mut Writer) {
        self.0.write(out);
        self.1.write(out);
    }
    fn read(&mut self, from: &mut Reader) -> Result<(), Unreadable> {
        self.0.read(from)?;
        self.1.read(from)
    }
}

/// Writes a word as its place in a list.
pub(crate) fn write_choice<T: PartialEq>(value: &T, all: &[T], out: &mut Writer) {
    out.value(all.iter().position(|v| v == value).unwrap_or(all.len()));
}

/// Reads a word of a list.
pub(crate) fn read_choice<T: Copy>(all: &[T], from: &mut Reader) -> Result<T, Unreadable> {
    let at: usize = from.value()?;
    let other = || Unreadable::Other { found: format!("choice {at}"), expected: format!("one of {}", all.len()) };
    all.get(at).copied().ok_or_else(other)
}

/// Implements [`Bytes`] for a struct, field by field.
macro_rules! bytes {
    ($type:ty { $($field:ident),* $(,)? }) => {
        impl $crate::state::Bytes for $type {
            fn write(&self, out: &mut $crate::state::Writer) {
                $($crate::state::Bytes::write(&self.$field, out);)*
            }
            fn read(&mut self, from: &mut $crate::state::Reader) -> Result<(), $crate::state::Unreadable> {
                $($crate::state::Bytes::read(&mut self.$field, from)?;)*
                Ok(())
            }
        }
    };
}
pub(crate) use bytes;
