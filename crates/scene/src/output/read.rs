//! Reads NPZ files of plain arrays: ours, and those of `numpy.savez`.

use std::collections::BTreeMap;
use std::path::Path;

/// An array of numbers, row by row.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadArray {
    /// Rows.
    pub rows: usize,
    /// Entries of a row; 1 for a vector.
    pub width: usize,
    /// All entries.
    pub values: Vec<f64>,
}

/// Largest file that is read, bytes.
const MAX_BYTES: u64 = 4 << 30;

fn u16_at(b: &[u8], at: usize) -> Option<usize> {
    Some(u16::from_le_bytes(b.get(at..at + 2)?.try_into().ok()?) as usize)
}

fn u32_at(b: &[u8], at: usize) -> Option<usize> {
    Some(u32::from_le_bytes(b.get(at..at + 4)?.try_into().ok()?) as usize)
}

/// The arrays of an archive whose entries are stored without compression. Every size is checked against the bytes that are there.
pub fn read_npz(path: &Path) -> Result<BTreeMap<String, ReadArray>, String> {
    let length = std::fs::metadata(path).map_err(|e| format!("cannot be read: {e}"))?.len();
    if length > MAX_BYTES {
        return Err(format!("has {length} bytes, at most {MAX_BYTES} are read"));
    }
    let bytes = std::fs::read(path).map_err(|e| format!("cannot be read: {e}"))?;
    parse(&bytes)
}

fn parse(bytes: &[u8]) -> Result<BTreeMap<String, ReadArray>, String> {
    let broken = || "is not an NPZ file (or it is damaged)".to_string();
    // The directory at the end has the sizes, whatever the entries themselves say.
    let tail = bytes.len().saturating_sub(66_000);
    let end = bytes[tail..].windows(4).rposition(|w| w == b"PK\x05\x06").map(|i| tail + i).ok_or_else(broken)?;
    let count = u16_at(bytes, end + 10).ok_or_else(broken)?;
    let mut at = u32_at(bytes, end + 16).ok_or_else(broken)?;
    if count == 0xffff || at == 0xffff_ffff {
        return Err("is larger than 4 GiB: not supported as a reference".into());
    }
    let mut out = BTreeMap::new();
    for _ in 0..count {
        if bytes.get(at..at + 4) != Some(b"PK\x01\x02") {
            return Err(broken());
        }
        let method = u16_at(bytes, at + 10).ok_or_else(broken)?;
        let size = u32_at(bytes, at + 24).ok_or_else(broken)?;
        let (name_length, extra, comment) = (
            u16_at(bytes, at + 28).ok_or_else(broken)?,
            u16_at(bytes, at + 30).ok_or_else(broken)?,
            u16_at(bytes, at + 32).ok_or_else(broken)?,
        );
        let local = u32_at(bytes, at + 42).ok_or_else(broken)?;
        let name = bytes.get(at + 46..at + 46 + name_length).ok_or_else(broken)?;
        let name = String::from_utf8_lossy(name).trim_end_matches(".npy").to_string();
        if method != 0 {
            return Err(format!("array `{name}` is compressed: save it with numpy.savez"));
        }
        let skip = 30 + u16_at(bytes, local + 26).ok_or_else(broken)? + u16_at(bytes, local + 28).ok_or_else(broken)?;
        let data = bytes.get(local + skip..).and_then(|b| b.get(..size)).ok_or_else(broken)?;
        if let Some(array) = array(data).map_err(|e| format!("array `{name}`: {e}"))? {
            out.insert(name, array);
        }
        at += 46 + name_length + extra + comment;
    }
    Ok(out)
}

/// One NPY file; `None` for kinds of arrays that are of no use here.
fn array(data: &[u8]) -> Result<Option<ReadArray>, String> {
    let broken = || "is not NPY 1.0".to_string();
    if data.get(..8) != Some(b"\x93NUMPY\x01\x00") {
        return Err(broken());
    }
    let length = u16_at(data, 8).ok_or_else(broken)?;
    let header = String::from_utf8_lossy(data.get(10..10 + length).ok_or_else(broken)?).into_owned();
    let value = |key: &str| header.split(&format!("'{key}':")).nth(1).map(str::trim_start);
    let descr = value("descr").and_then(|v| v.split('\'').nth(1)).ok_or_else(broken)?;
    if descr != "<f8" {
        return Ok(None);
    }
    if !value("fortran_order").is_some_and(|v| v.starts_with("False")) {
        return Err("is in Fortran order".into());
    }
    let shape =
        value("shape").and_then(|v| v.strip_prefix('(')).and_then(|v| v.split(')').next()).ok_or_else(broken)?;
    let sizes: Result<Vec<usize>, _> =
        shape.split(',').map(str::trim).filter(|s| !s.is_empty()).map(str::parse::<usize>).collect();
    let sizes = sizes.map_err(|_| broken())?;
    let (rows, width) = match sizes.as_slice() {
        [n] => (*n, 1),
        [n, w] => (*n, *w),
        _ => return Ok(None),
    };
    let body = &data[10 + length..];
    let wanted = rows.checked_mul(width).and_then(|n| n.checked_mul(8)).ok_or_else(broken)?;
    if body.len() != wanted {
        return Err(format!("says {rows} x {width} numbers and has {} bytes", body.len()));
    }
    let number = |c: &[u8]| c.try_into().map(f64::from_le_bytes).unwrap_or(f64::NAN);
    Ok(Some(ReadArray { rows, width, values: body.chunks_exact(8).map(number).collect() }))
}
