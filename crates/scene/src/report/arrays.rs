//! Arrays of the page: numbers, little endian, as base64.

use super::page::Fields;
use serde_json::json;
use std::io::{self, Write};

/// Numbers of an array.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Data {
    F8(Vec<f64>),
    F4(Vec<f32>),
    U4(Vec<u32>),
    U1(Vec<u8>),
}

/// Named arrays of rows.
#[derive(Debug, Default)]
pub(super) struct Arrays(Vec<(&'static str, usize, Data)>);

impl Arrays {
    /// Adds an array with rows of `width` numbers.
    pub(super) fn add(&mut self, name: &'static str, width: usize, data: Data) {
        self.0.push((name, width, data));
    }

    /// Writes `{"name":{"type","shape","data"},..}`.
    pub(super) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let mut fields = Fields::open(out)?;
        for (name, width, data) in &self.0 {
            let (kind, count) = match data {
                Data::F8(v) => ("f8", v.len()),
                Data::F4(v) => ("f4", v.len()),
                Data::U4(v) => ("u4", v.len()),
                Data::U1(v) => ("u1", v.len()),
            };
            let rows = count.checked_div(*width).unwrap_or(0);
            fields.field_with(name, |out| {
                let mut array = Fields::open(out)?;
                array.field("type", &kind)?;
                array.field("shape", &json!([rows, width]))?;
                array.field_with("data", |out| {
                    out.write_all(b"\"")?;
                    match data {
                        Data::F8(v) => base64(v.iter().flat_map(|x| x.to_le_bytes()), out)?,
                        Data::F4(v) => base64(v.iter().flat_map(|x| x.to_le_bytes()), out)?,
                        Data::U4(v) => base64(v.iter().flat_map(|x| x.to_le_bytes()), out)?,
                        Data::U1(v) => base64(v.iter().copied(), out)?,
                    }
                    out.write_all(b"\"")
                })?;
                array.close().map(|_| ())
            })?;
        }
        fields.close().map(|_| ())
    }
}

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Writes bytes as base64 [RFC 4648], in pieces.
fn base64(mut bytes: impl Iterator<Item = u8>, out: &mut impl Write) -> io::Result<()> {
    let mut piece = Vec::with_capacity(1 << 12);
    loop {
        let group = [bytes.next(), bytes.next(), bytes.next()];
        let count = group.iter().flatten().count();
        if count > 0 {
            let n = group.iter().fold(0u32, |n, b| n << 8 | u32::from(b.unwrap_or(0)));
            for k in 0..4 {
                let digit = ALPHABET[(n >> (18 - 6 * k) & 63) as usize];
                piece.push(if k <= count { digit } else { b'=' });
            }
        }
        if count < 3 || piece.len() + 4 > piece.capacity() {
            out.write_all(&piece)?;
            piece.clear();
        }
        if count < 3 {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_the_standard() {
        // RFC 4648, section 10.
        let vectors =
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("foobar", "Zm9vYmFy")];
        for (text, code) in vectors {
            let mut out = Vec::new();
            assert!(base64(text.bytes(), &mut out).is_ok());
            assert_eq!(out, code.as_bytes());
        }
        let mut out = Vec::new();
        assert!(base64((0..10_000u32).map(|i| i as u8), &mut out).is_ok());
        assert_eq!(out.len(), 13_336);
    }
}
