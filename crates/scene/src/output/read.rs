//! Reads NPZ files of plain arrays, ours and those of `numpy.savez`: whole, or row by row.

use super::archive::{Stored, arrays};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
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

/// Largest file that is read as a whole, bytes.
const MAX_BYTES: u64 = 4 << 30;

/// The arrays of double precision of an archive whose entries are stored without compression.
pub fn read_npz(path: &Path) -> Result<BTreeMap<String, ReadArray>, String> {
    let unreadable = |e: io::Error| format!("cannot be read: {e}");
    let mut file = File::open(path).map_err(unreadable)?;
    let length = file.metadata().map_err(unreadable)?.len();
    if length > MAX_BYTES {
        return Err(format!("has {length} bytes, at most {MAX_BYTES} are read"));
    }
    let mut out = BTreeMap::new();
    for stored in arrays(&mut file, |descr| descr == "<f8")? {
        let mut bytes = vec![0; stored.bytes as usize];
        file.seek(SeekFrom::Start(stored.start)).map_err(unreadable)?;
        file.read_exact(&mut bytes).map_err(unreadable)?;
        let values = bytes.chunks_exact(8).map(double).collect();
        let (rows, width) = (stored.rows as usize, stored.width as usize);
        out.insert(stored.name, ReadArray { rows, width, values });
    }
    Ok(out)
}

fn double(bytes: &[u8]) -> f64 {
    bytes.try_into().map(f64::from_le_bytes).unwrap_or(f64::NAN)
}

/// An archive whose arrays are read row by row, so that no array is ever in memory.
#[derive(Debug)]
pub struct Archive<'a> {
    path: &'a Path,
    stored: Vec<Stored>,
}

/// An array of an archive, row by row. Whole numbers are read as numbers.
#[derive(Debug)]
pub struct Rows {
    file: BufReader<File>,
    stored: Stored,
    /// Bytes of a number.
    item: u64,
    /// The row at the current position of the file.
    next: u64,
    bytes: Vec<u8>,
}

/// Bytes that are read of an array at once.
const READ_BUFFER: usize = 1 << 16;

impl<'a> Archive<'a> {
    /// Opens an archive.
    pub fn open(path: &'a Path) -> io::Result<Self> {
        let mut file = File::open(path)?;
        let known = |descr: &str| descr == "<f8" || descr == "<u4";
        let stored = arrays(&mut file, known).map_err(|e| damaged(path, &e))?;
        Ok(Self { path, stored })
    }

    /// Whether it has an array.
    pub fn has(&self, name: &str) -> bool {
        self.stored.iter().any(|s| s.name == name)
    }

    /// One of its arrays, if it has it.
    pub fn some(&self, name: &str) -> io::Result<Option<Rows>> {
        if self.has(name) { self.rows(name).map(Some) } else { Ok(None) }
    }

    /// One of its arrays.
    pub fn rows(&self, name: &str) -> io::Result<Rows> {
        let stored = self.stored.iter().find(|s| s.name == name);
        let stored = stored.ok_or_else(|| damaged(self.path, &format!("has no array `{name}`")))?.clone();
        let mut file = BufReader::with_capacity(READ_BUFFER, File::open(self.path)?);
        file.seek(SeekFrom::Start(stored.start))?;
        let item = stored.item().unwrap_or(8);
        let bytes = vec![0; (stored.width * item) as usize];
        Ok(Rows { file, stored, item, next: 0, bytes })
    }
}

fn damaged(path: &Path, message: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("`{}` {message}", path.display()))
}

impl Rows {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.stored.rows as usize
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.stored.rows == 0
    }

    /// Entries of a row.
    pub fn width(&self) -> usize {
        self.stored.width as usize
    }

    /// Reads a row; `out` has the width of the array. The cheapest row is the next one.
    pub fn read(&mut self, row: usize, out: &mut [f64]) -> io::Result<()> {
        let row = row as u64;
        if row >= self.stored.rows || out.len() != self.width() {
            let message = format!("array `{}` has no row {row} of width {}", self.stored.name, out.len());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        let offset = (row as i64 - self.next as i64) * self.bytes.len() as i64;
        if offset != 0 {
            self.file.seek_relative(offset)?;
        }
        self.file.read_exact(&mut self.bytes)?;
        self.next = row + 1;
        for (o, c) in out.iter_mut().zip(self.bytes.chunks_exact(self.item as usize)) {
            *o = if self.item == 8 {
                double(c)
            } else {
                c.try_into().map_or(f64::NAN, |c| u32::from_le_bytes(c).into())
            };
        }
        Ok(())
    }

    /// Reads the only entry of a row.
    pub fn one(&mut self, row: usize) -> io::Result<f64> {
        let mut out = [0.0];
        self.read(row, &mut out)?;
        Ok(out[0])
    }
}
