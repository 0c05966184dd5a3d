//! The page: a template with one place for the data, which is one JSON object.

use serde::Serialize;
use std::io::{self, Write};

const TEMPLATE: &str = include_str!("template.html");
/// Where the data go.
const PLACEHOLDER: &str = "/*DATA*/";

/// Writes the page with the object that `data` writes.
pub(crate) fn write_page<W: Write>(
    out: &mut W,
    data: impl FnOnce(&mut Fields<Escaped<'_, W>>) -> io::Result<()>,
) -> io::Result<()> {
    let (before, after) = TEMPLATE.split_once(PLACEHOLDER).unwrap_or((TEMPLATE, ""));
    out.write_all(before.as_bytes())?;
    let mut fields = Fields::open(Escaped { out, held: Vec::new() })?;
    data(&mut fields)?;
    fields.close()?.flush()?;
    out.write_all(after.as_bytes())
}

/// Escapes JSON for a script in a page: characters that could end the script or have a meaning in markup are written by number. JSON has
/// none of them outside of strings, so that bytes can be escaped one by one.
pub(crate) struct Escaped<'a, W: Write> {
    out: &'a mut W,
    /// Beginning of U+2028 or U+2029 (E2 80 A8, E2 80 A9) that is not yet complete.
    held: Vec<u8>,
}

impl<W: Write> Write for Escaped<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut from = 0;
        for (i, &b) in bytes.iter().enumerate() {
            let expected = match self.held.len() {
                1 => b == 0x80,
                2 => b == 0xa8 || b == 0xa9,
                _ => false,
            };
            if !self.held.is_empty() && !expected {
                self.out.write_all(&self.held)?;
                self.held.clear();
            }
            let text: &[u8] = match b {
                b'<' => b"\\u003c",
                b'>' => b"\\u003e",
                b'&' => b"\\u0026",
                0xa8 if expected => b"\\u2028",
                0xa9 if expected => b"\\u2029",
                0xe2 | 0x80 if expected || b == 0xe2 => b"",
                _ => continue,
            };
            self.out.write_all(&bytes[from..i])?;
            from = i + 1;
            if text.is_empty() {
                self.held.push(b);
            } else {
                self.held.clear();
                self.out.write_all(text)?;
            }
        }
        self.out.write_all(&bytes[from..])?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.write_all(&self.held)?;
        self.held.clear();
        self.out.flush()
    }
}

/// A JSON object that is written field by field.
pub(crate) struct Fields<W: Write> {
    out: W,
    first: bool,
}

impl<W: Write> Fields<W> {
    pub(super) fn open(mut out: W) -> io::Result<Self> {
        out.write_all(b"{")?;
        Ok(Self { out, first: true })
    }

    fn key(&mut self, key: &str) -> io::Result<()> {
        if !std::mem::take(&mut self.first) {
            self.out.write_all(b",\n")?;
        }
        serde_json::to_writer(&mut self.out, key)?;
        self.out.write_all(b":")
    }

    /// A value.
    pub(crate) fn field(&mut self, key: &str, value: &impl Serialize) -> io::Result<()> {
        self.key(key)?;
        serde_json::to_writer(&mut self.out, value)?;
        Ok(())
    }

    /// A value that `write` writes.
    pub(super) fn field_with(&mut self, key: &str, write: impl FnOnce(&mut W) -> io::Result<()>) -> io::Result<()> {
        self.key(key)?;
        write(&mut self.out)
    }

    pub(super) fn close(mut self) -> io::Result<W> {
        self.out.write_all(b"}")?;
        Ok(self.out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_has_one_place_for_the_data() {
        assert_eq!(TEMPLATE.matches(PLACEHOLDER).count(), 1);
        assert!(TEMPLATE.contains(&format!("<script type=\"application/json\" id=\"data\">{PLACEHOLDER}</script>")));
        assert_eq!(TEMPLATE.matches("<title>nonsmooth</title>").count(), 1);
    }

    #[test]
    fn nothing_in_the_data_can_end_the_script_however_it_is_cut() {
        let text = "</script><img src=x onerror=alert(1)> a & b \u{2028}\u{2029} â\u{80}x € \u{e2}";
        for size in [1, 2, 3, 1000] {
            let mut page = Vec::new();
            let mut escaped = Escaped { out: &mut page, held: Vec::new() };
            let json = serde_json::to_string(text).unwrap_or_default();
            for part in json.as_bytes().chunks(size) {
                assert!(escaped.write_all(part).is_ok());
            }
            assert!(escaped.flush().is_ok());
            let page = String::from_utf8(page).unwrap_or_default();
            assert!(!page.contains(['<', '>', '&', '\u{2028}', '\u{2029}']), "{page}");
            assert_eq!(serde_json::from_str::<String>(&page).unwrap_or_default(), text);
        }
    }
}
