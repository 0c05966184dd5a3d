//! Words of a text file one after the other, with the line they stand on.

use crate::format::error::{Flaw, FormatError};

/// Longest part of a word that an error message shows.
const MAX_SHOWN_BYTES: usize = 40;

/// The rest of a text.
#[derive(Debug, Clone)]
pub(super) struct Words<'a> {
    rest: &'a [u8],
    /// Line of the last word that was read, from 1.
    line: usize,
}

impl<'a> Words<'a> {
    pub(super) fn new(text: &'a [u8]) -> Self {
        Words { rest: text, line: 1 }
    }

    /// The field at the last word, for an error.
    pub(super) fn place(&self, field: &str) -> String {
        format!("line {}: {field}", self.line)
    }

    /// Skips white space.
    fn skip(&mut self) {
        let end = self.rest.iter().position(|b| !b.is_ascii_whitespace()).unwrap_or(self.rest.len());
        let (space, rest) = self.rest.split_at(end);
        self.line += space.iter().filter(|&&b| b == b'\n').count();
        self.rest = rest;
    }

    /// The next word.
    pub(super) fn word(&mut self, field: &str) -> Result<&'a [u8], FormatError> {
        self.skip();
        let end = self.rest.iter().position(u8::is_ascii_whitespace).unwrap_or(self.rest.len());
        if end == 0 {
            return Err(Flaw::Missing.at(self.place(field)));
        }
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        Ok(word)
    }

    fn unexpected<T>(&self, field: &str, expected: String, word: &[u8]) -> Result<T, FormatError> {
        let found = String::from_utf8_lossy(&word[..word.len().min(MAX_SHOWN_BYTES)]).into_owned();
        Err(Flaw::Expected { expected, found }.at(self.place(field)))
    }

    /// A word that must be there.
    pub(super) fn literal(&mut self, field: &str, expected: &str) -> Result<(), FormatError> {
        let word = self.word(field)?;
        if word == expected.as_bytes() { Ok(()) } else { self.unexpected(field, format!("{expected:?}"), word) }
    }

    /// A whole number within bounds, both included.
    pub(super) fn integer(&mut self, field: &str, low: usize, high: usize) -> Result<usize, FormatError> {
        let word = self.word(field)?;
        let value = std::str::from_utf8(word).ok().and_then(|w| w.parse().ok());
        match value {
            Some(value) if (low..=high).contains(&value) => Ok(value),
            _ => {
                let expected = match (low, high) {
                    _ if low == high => format!("{low}"),
                    _ if high >= usize::MAX / 4 => format!("a whole number from {low}"),
                    _ => format!("a whole number from {low} to {high}"),
                };
                self.unexpected(field, expected, word)
            }
        }
    }

    /// Entry `index` of a field of finite numbers.
    pub(super) fn float(&mut self, field: &str, index: usize) -> Result<f64, FormatError> {
        let word = self.word(field).map_err(|e| match e {
            FormatError::Field { flaw, .. } => flaw.at(self.place(&format!("{field}[{index}]"))),
            other => other,
        })?;
        match std::str::from_utf8(word).ok().and_then(|w| w.parse::<f64>().ok()) {
            Some(value) if value.is_finite() => Ok(value),
            Some(value) => Err(Flaw::NotFinite { index, value }.at(self.place(field))),
            None => self.unexpected(&format!("{field}[{index}]"), "a number".into(), word),
        }
    }

    /// Checks that `count` more words can be there at all.
    pub(super) fn sufficient(&self, field: &str, count: usize) -> Result<(), FormatError> {
        // A word takes one byte and one to separate it.
        let left = self.rest.len().div_ceil(2);
        if count <= left {
            return Ok(());
        }
        Err(Flaw::Truncated { needed: count as u64, left: left as u64, unit: "numbers" }.at(self.place(field)))
    }

    /// A field of `count` finite numbers.
    pub(super) fn floats(&mut self, field: &str, count: usize) -> Result<Vec<f64>, FormatError> {
        self.sufficient(field, count)?;
        (0..count).map(|index| self.float(field, index)).collect()
    }

    /// A field of `count` whole numbers within bounds.
    pub(super) fn integers(
        &mut self,
        field: &str,
        count: usize,
        low: usize,
        high: usize,
    ) -> Result<Vec<usize>, FormatError> {
        self.sufficient(field, count)?;
        (0..count).map(|_| self.integer(field, low, high)).collect()
    }

    /// Skips the rest of the line.
    pub(super) fn skip_line(&mut self) {
        let end = self.rest.iter().position(|&b| b == b'\n').unwrap_or(self.rest.len());
        self.rest = &self.rest[end..];
    }

    /// Whether no word is left.
    pub(super) fn at_end(&self) -> bool {
        self.rest.iter().all(u8::is_ascii_whitespace)
    }

    /// Checks that no word is left.
    pub(super) fn end(&mut self) -> Result<(), FormatError> {
        if self.at_end() {
            return Ok(());
        }
        let word = self.word("")?;
        self.unexpected("after the problem", "the end of the file".into(), word)
    }

    /// What is left, if it is no number and stands on a line of its own.
    pub(super) fn remark(&mut self) -> Result<Option<String>, FormatError> {
        if self.at_end() {
            return Ok(None);
        }
        let before = self.line;
        self.skip();
        let text = self.rest;
        let word = self.clone().word("remark")?;
        let number = std::str::from_utf8(word).is_ok_and(|w| w.parse::<f64>().is_ok());
        if number || self.line == before {
            return self.end().map(|()| None);
        }
        Ok(Some(String::from_utf8_lossy(text).trim_end().to_owned()))
    }
}
