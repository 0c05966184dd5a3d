//! Bytes of checkpoints: numbers as their bits, little-endian, so that what is read is what was written.

use super::field::Value;

/// Bytes under way out.
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

/// Why bytes are no checkpoint.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// They end too early.
    #[error("the checkpoint is cut off after {at} bytes")]
    CutOff {
        /// Where more was expected.
        at: usize,
    },
    /// Something else stands there.
    #[error("the checkpoint has {found} where {expected} is expected")]
    Other {
        /// What stands there.
        found: String,
        /// What was expected.
        expected: String,
    },
}

/// Bytes under way in.
#[derive(Debug)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    /// From the beginning.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
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

    /// How many things follow, each of at least `size` bytes: never more than there are bytes for.
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
