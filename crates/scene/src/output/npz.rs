//! Writes NPZ files during a run. Every array grows in a file of its own. At the end all are joined into one
//! archive that `numpy.load` reads without pickle: ZIP without compression, with 64-bit sizes where needed.
//!
//! Format: [NumPy's NPY 1.0](https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html) inside a ZIP archive
//! (APPNOTE 6.3.9).

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

/// A growing array of rows.
#[derive(Debug)]
pub struct Array {
    name: String,
    /// Length of a row; `None` for a vector.
    width: Option<usize>,
    descr: &'static str,
    rows: u64,
    crc: u32,
    path: PathBuf,
    file: BufWriter<File>,
    bytes: Vec<u8>,
}

/// Arrays of one archive.
#[derive(Debug)]
pub struct Npz {
    target: PathBuf,
    arrays: Vec<Array>,
    finished: bool,
}

impl Npz {
    /// Begins an archive that will be written to `target`.
    pub fn new(target: &Path) -> Self {
        Self { target: target.into(), arrays: Vec::new(), finished: false }
    }

    fn sibling(&self, name: &str) -> PathBuf {
        let file = self.target.file_name().map(|f| f.to_string_lossy().into_owned()).unwrap_or_default();
        self.target.with_file_name(format!(".{file}.{name}.part"))
    }

    /// Adds an array; rows have `width` entries, or it is a vector. `descr` is `<f8`, `<u4` or `<i8`.
    pub fn array(&mut self, name: &str, width: Option<usize>, descr: &'static str) -> io::Result<usize> {
        let path = self.sibling(name);
        let file = BufWriter::new(File::create(&path)?);
        self.arrays.push(Array { name: name.into(), width, descr, rows: 0, crc: 0, path, file, bytes: Vec::new() });
        Ok(self.arrays.len() - 1)
    }

    /// Appends a row of numbers.
    pub fn push(&mut self, array: usize, row: &[f64]) -> io::Result<()> {
        let a = &mut self.arrays[array];
        a.bytes.clear();
        for v in row {
            a.bytes.extend_from_slice(&v.to_le_bytes());
        }
        a.append(row.len())
    }

    /// Appends a row of whole numbers.
    pub fn push_u32(&mut self, array: usize, row: &[u32]) -> io::Result<()> {
        let a = &mut self.arrays[array];
        a.bytes.clear();
        for v in row {
            a.bytes.extend_from_slice(&v.to_le_bytes());
        }
        a.append(row.len())
    }

    /// Joins the arrays into the archive.
    pub fn finish(mut self) -> io::Result<()> {
        let temporary = self.sibling("zip");
        let result = self.join(&temporary).and_then(|()| fs::rename(&temporary, &self.target));
        if result.is_err() {
            let _ = fs::remove_file(&temporary);
        }
        self.finished = true;
        self.clean();
        result
    }

    fn join(&mut self, temporary: &Path) -> io::Result<()> {
        let mut out = BufWriter::new(File::create(temporary)?);
        let mut directory = Vec::new();
        let mut offset: u64 = 0;
        for a in &mut self.arrays {
            a.file.flush()?;
            let header = a.header();
            let data = a.rows * a.width.unwrap_or(1) as u64 * a.item() as u64;
            let size = header.len() as u64 + data;
            let mut crc = Crc::default();
            crc.update(&header);
            let mut reader = BufReader::new(File::open(&a.path)?);
            // The checksum stands before the data: one pass for it, one for copying.
            let mut buffer = vec![0; 1 << 16];
            loop {
                let n = reader.read(&mut buffer)?;
                if n == 0 {
                    break;
                }
                crc.update(&buffer[..n]);
            }
            a.crc = crc.value();
            let name = format!("{}.npy", a.name);
            let local = entry_header(&name, a.crc, size, None);
            out.write_all(&local)?;
            out.write_all(&header)?;
            io::copy(&mut BufReader::new(File::open(&a.path)?), &mut out)?;
            directory.extend(entry_header(&name, a.crc, size, Some(offset)));
            offset += local.len() as u64 + size;
        }
        out.write_all(&directory)?;
        out.write_all(&end_records(self.arrays.len() as u64, directory.len() as u64, offset))?;
        out.flush()?;
        out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
    }

    fn clean(&self) {
        for a in &self.arrays {
            let _ = fs::remove_file(&a.path);
        }
    }
}

impl Drop for Npz {
    fn drop(&mut self) {
        if !self.finished {
            self.clean();
        }
    }
}

impl Array {
    fn item(&self) -> usize {
        if self.descr == "<u4" { 4 } else { 8 }
    }

    fn append(&mut self, length: usize) -> io::Result<()> {
        debug_assert_eq!(length, self.width.unwrap_or(1));
        self.rows += 1;
        self.file.write_all(&self.bytes)
    }

    /// NPY 1.0 header, padded to a multiple of 64 bytes.
    fn header(&self) -> Vec<u8> {
        let shape = match self.width {
            None => format!("({},)", self.rows),
            Some(w) => format!("({}, {w})", self.rows),
        };
        let mut text = format!("{{'descr': '{}', 'fortran_order': False, 'shape': {shape}, }}", self.descr);
        while !(10 + text.len() + 1).is_multiple_of(64) {
            text.push(' ');
        }
        text.push('\n');
        let mut out = b"\x93NUMPY\x01\x00".to_vec();
        out.extend((text.len() as u16).to_le_bytes());
        out.extend(text.into_bytes());
        out
    }
}

/// Sizes beyond this are in the 64-bit fields.
const ZIP32_LIMIT: u64 = 0xffff_ffff;

/// The header of an entry: before its data, or (with its offset) in the directory.
fn entry_header(name: &str, crc: u32, size: u64, offset: Option<u64>) -> Vec<u8> {
    let large = size >= ZIP32_LIMIT || offset.is_some_and(|o| o >= ZIP32_LIMIT);
    let mut out = Vec::new();
    let version: u16 = if large { 45 } else { 20 };
    match offset {
        None => out.extend(b"PK\x03\x04"),
        Some(_) => {
            out.extend(b"PK\x01\x02");
            out.extend(version.to_le_bytes());
        }
    }
    out.extend(version.to_le_bytes());
    // No flags, stored, 1980-01-01 00:00: the same bits from the same run.
    out.extend([0, 0, 0, 0, 0, 0, 0x21, 0]);
    out.extend(crc.to_le_bytes());
    let short = if large { ZIP32_LIMIT as u32 } else { size as u32 };
    out.extend(short.to_le_bytes());
    out.extend(short.to_le_bytes());
    out.extend((name.len() as u16).to_le_bytes());
    let mut extra = Vec::new();
    if large {
        let fields = if offset.is_some() { 24u16 } else { 16 };
        extra.extend(1u16.to_le_bytes());
        extra.extend(fields.to_le_bytes());
        extra.extend(size.to_le_bytes());
        extra.extend(size.to_le_bytes());
        extra.extend(offset.iter().flat_map(|o| o.to_le_bytes()));
    }
    out.extend((extra.len() as u16).to_le_bytes());
    if let Some(o) = offset {
        out.extend([0; 10]);
        out.extend(if large { ZIP32_LIMIT as u32 } else { o as u32 }.to_le_bytes());
    }
    out.extend(name.as_bytes());
    out.extend(extra);
    out
}

/// The end of the archive, with the 64-bit records where they are needed.
fn end_records(count: u64, size: u64, offset: u64) -> Vec<u8> {
    let mut out = Vec::new();
    let large = offset >= ZIP32_LIMIT || size >= ZIP32_LIMIT || count >= 0xffff;
    if large {
        out.extend(b"PK\x06\x06");
        out.extend(44u64.to_le_bytes());
        out.extend([45, 0, 45, 0]);
        out.extend([0; 8]);
        for v in [count, count, size, offset] {
            out.extend(v.to_le_bytes());
        }
        out.extend(b"PK\x06\x07");
        out.extend([0; 4]);
        out.extend((offset + size).to_le_bytes());
        out.extend(1u32.to_le_bytes());
    }
    out.extend(b"PK\x05\x06");
    out.extend([0; 4]);
    let short = |v: u64| if large { 0xffff } else { v as u16 };
    out.extend(short(count).to_le_bytes());
    out.extend(short(count).to_le_bytes());
    let long = |v: u64| if large { ZIP32_LIMIT as u32 } else { v as u32 };
    out.extend(long(size).to_le_bytes());
    out.extend(long(offset).to_le_bytes());
    out.extend([0, 0]);
    out
}

/// CRC-32 of ZIP (polynomial 0xEDB88320, reflected).
struct Crc {
    table: [u32; 256],
    state: u32,
}

impl Default for Crc {
    fn default() -> Self {
        let table = std::array::from_fn(|i| {
            (0..8).fold(i as u32, |c, _| if c & 1 == 1 { 0xedb8_8320 ^ (c >> 1) } else { c >> 1 })
        });
        Self { table, state: !0 }
    }
}

impl Crc {
    fn update(&mut self, bytes: &[u8]) {
        for b in bytes {
            self.state = self.table[((self.state ^ u32::from(*b)) & 0xff) as usize] ^ (self.state >> 8);
        }
    }

    fn value(&self) -> u32 {
        !self.state
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_that_of_the_standard() {
        let mut crc = Crc::default();
        crc.update(b"123456789");
        assert_eq!(crc.value(), 0xcbf4_3926); // the check value of CRC-32/ISO-HDLC
    }
}
