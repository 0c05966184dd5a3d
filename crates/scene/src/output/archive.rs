//! Finds the arrays of an NPZ file, from the directory of the archive (ZIP without compression, with 64-bit sizes) and the headers of
//! its arrays. Every size is checked against the length of the file.

use std::io::{Read, Seek, SeekFrom};

/// An array in an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stored {
    /// Its name.
    pub(super) name: String,
    /// Kind of its numbers, `<f8` or another of NumPy's names.
    pub(super) descr: String,
    /// Rows.
    pub(super) rows: u64,
    /// Entries of a row; 1 for a vector.
    pub(super) width: u64,
    /// Where its numbers begin in the file, bytes.
    pub(super) start: u64,
    /// Bytes of its numbers.
    pub(super) bytes: u64,
}

impl Stored {
    /// Bytes of one number, of the kinds that are read.
    pub(super) fn item(&self) -> Option<u64> {
        match self.descr.as_str() {
            "<f8" => Some(8),
            "<u4" => Some(4),
            _ => None,
        }
    }
}

/// Bytes from the end of a file that hold the end of its directory: the record and the longest comment.
const MAX_TAIL: u64 = 66_000;
/// Longest header of an array that is read, bytes.
const MAX_HEADER: usize = 1 << 16;
/// Longest directory that is read, bytes.
const MAX_DIRECTORY: u64 = 1 << 24;

fn broken() -> String {
    "is not an NPZ file (or it is damaged)".into()
}

fn number(bytes: &[u8], at: usize, length: usize) -> Option<u64> {
    let part = bytes.get(at..at.checked_add(length)?)?;
    Some(part.iter().rev().fold(0, |n, b| n << 8 | u64::from(*b)))
}

fn read_at(source: &mut (impl Read + Seek), at: u64, length: usize) -> Result<Vec<u8>, String> {
    let mut bytes = vec![0; length];
    source.seek(SeekFrom::Start(at)).map_err(|e| format!("cannot be read: {e}"))?;
    source.read_exact(&mut bytes).map_err(|_| broken())?;
    Ok(bytes)
}

/// The arrays of an archive with one or two dimensions. Others, and those in another order than that of rows, are errors or left out
/// as `keep` says of their kind.
pub(super) fn arrays<R: Read + Seek>(source: &mut R, keep: impl Fn(&str) -> bool) -> Result<Vec<Stored>, String> {
    let length = source.seek(SeekFrom::End(0)).map_err(|e| format!("cannot be read: {e}"))?;
    let tail_at = length.saturating_sub(MAX_TAIL);
    let tail = read_at(source, tail_at, (length - tail_at) as usize)?;
    // The directory at the end has the sizes, whatever the entries themselves say.
    let end = tail.windows(4).rposition(|w| w == b"PK\x05\x06").ok_or_else(broken)?;
    let field = |at: usize, length: usize| number(&tail, end + at, length).ok_or_else(broken);
    let (mut count, mut size, mut at) = (field(10, 2)?, field(12, 4)?, field(16, 4)?);
    if count == 0xffff || size == 0xffff_ffff || at == 0xffff_ffff {
        // The record with 64 bits, by its locator right before this one.
        let locator = end.checked_sub(20).ok_or_else(broken)?;
        if tail.get(locator..locator + 4) != Some(b"PK\x06\x07") {
            return Err(broken());
        }
        let record = read_at(source, number(&tail, locator + 8, 8).ok_or_else(broken)?, 56)?;
        if !record.starts_with(b"PK\x06\x06") {
            return Err(broken());
        }
        let field = |at: usize| number(&record, at, 8).ok_or_else(broken);
        (count, size, at) = (field(32)?, field(40)?, field(48)?);
    }
    if size > MAX_DIRECTORY || at.checked_add(size).is_none_or(|end| end > length) {
        return Err(broken());
    }
    let directory = read_at(source, at, size as usize)?;
    let mut out = Vec::new();
    let mut at = 0;
    for _ in 0..count {
        let entry = directory.get(at..).filter(|d| d.starts_with(b"PK\x01\x02")).ok_or_else(broken)?;
        let field = |at: usize, length: usize| number(entry, at, length).ok_or_else(broken);
        let (name_length, extra_length) = (field(28, 2)? as usize, field(30, 2)? as usize);
        let name = entry.get(46..46 + name_length).ok_or_else(broken)?;
        let name = String::from_utf8_lossy(name).trim_end_matches(".npy").to_string();
        if field(10, 2)? != 0 {
            return Err(format!("array `{name}` is compressed: save it with numpy.savez"));
        }
        let extra = entry.get(46 + name_length..46 + name_length + extra_length).ok_or_else(broken)?;
        let mut large = wide_fields(extra);
        let mut wide = |short: u64| if short == 0xffff_ffff { large.next().ok_or_else(broken) } else { Ok(short) };
        let (size, _, local) = (wide(field(24, 4)?)?, wide(field(20, 4)?)?, wide(field(42, 4)?)?);
        let header = read_at(source, local, 30)?;
        let skip = number(&header, 26, 2).zip(number(&header, 28, 2)).map(|(a, b)| 30 + a + b);
        let start = skip.and_then(|s| s.checked_add(local)).ok_or_else(broken)?;
        if start.checked_add(size).is_none_or(|end| end > length) {
            return Err(broken());
        }
        out.extend(array(source, &name, start, size, &keep).map_err(|e| format!("array `{name}`: {e}"))?);
        at += 46 + name_length + extra_length + field(32, 2)? as usize;
    }
    Ok(out)
}

/// The 64-bit fields in the extra part of an entry.
fn wide_fields(extra: &[u8]) -> impl Iterator<Item = u64> {
    let mut at = 0;
    let mut found: &[u8] = &[];
    while let (Some(id), Some(length)) = (number(extra, at, 2), number(extra, at + 2, 2)) {
        let length = length as usize;
        if id == 1 {
            found = extra.get(at + 4..at + 4 + length).unwrap_or(&[]);
            break;
        }
        at += 4 + length;
    }
    found.chunks_exact(8).filter_map(|c| number(c, 0, 8))
}

/// The header of one NPY file; `None` for kinds of arrays that are of no use.
fn array<R: Read + Seek>(
    source: &mut R,
    name: &str,
    start: u64,
    size: u64,
    keep: &impl Fn(&str) -> bool,
) -> Result<Option<Stored>, String> {
    let broken = || "is not NPY 1.0".to_string();
    if size < 10 {
        return Err(broken());
    }
    let magic = read_at(source, start, 10)?;
    if magic.get(..8) != Some(b"\x93NUMPY\x01\x00") {
        return Err(broken());
    }
    let length = number(&magic, 8, 2).ok_or_else(broken)? as usize;
    if length > MAX_HEADER || size < 10 + length as u64 {
        return Err(broken());
    }
    let header = read_at(source, start + 10, length)?;
    let header = String::from_utf8_lossy(&header).into_owned();
    let value = |key: &str| header.split(&format!("'{key}':")).nth(1).map(str::trim_start);
    let descr = value("descr").and_then(|v| v.split('\'').nth(1)).ok_or_else(broken)?;
    if !keep(descr) {
        return Ok(None);
    }
    if !value("fortran_order").is_some_and(|v| v.starts_with("False")) {
        return Err("is in Fortran order".into());
    }
    let shape =
        value("shape").and_then(|v| v.strip_prefix('(')).and_then(|v| v.split(')').next()).ok_or_else(broken)?;
    let sizes: Result<Vec<u64>, _> =
        shape.split(',').map(str::trim).filter(|s| !s.is_empty()).map(str::parse::<u64>).collect();
    let (rows, width) = match sizes.map_err(|_| broken())?.as_slice() {
        [n] => (*n, 1),
        [n, w] => (*n, *w),
        _ => return Ok(None),
    };
    let bytes = size - 10 - length as u64;
    let stored =
        Stored { name: name.into(), descr: descr.into(), rows, width, start: start + 10 + length as u64, bytes };
    let wanted = rows.checked_mul(width).and_then(|n| n.checked_mul(stored.item()?)).ok_or_else(broken)?;
    if bytes != wanted {
        return Err(format!("says {rows} x {width} numbers and has {bytes} bytes"));
    }
    Ok(Some(stored))
}
