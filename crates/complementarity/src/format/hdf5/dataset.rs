//! Datasets: type, number of entries, where the data is.

use super::{Bytes, DATASPACE, DATATYPE, EXTERNAL, FILTERS, LAYOUT, damaged, messages, unsupported};
use crate::format::error::Flaw;

/// Address that HDF5 writes for an object that does not exist.
const UNDEFINED: u64 = u64::MAX;

/// Type of the entries of a dataset.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Entry {
    Integer {
        signed: bool,
    },
    Double,
    Text,
    /// A string elsewhere, by length, address of a heap and number in it.
    VariableText,
}

/// A dataset: its raw bytes, checked against the declared size.
#[derive(Debug)]
pub(super) struct Dataset<'a> {
    entry: Entry,
    /// Bytes of an entry.
    size: u64,
    data: &'a [u8],
    /// The whole file.
    file: Bytes<'a>,
}

impl<'a> Dataset<'a> {
    pub(super) fn open(bytes: Bytes<'a>, address: u64) -> Result<Self, Flaw> {
        let messages = messages(bytes, address)?;
        let find = |kind| messages.iter().find(|m| m.kind == kind).map(|m| m.data);
        let (Some(space), Some(datatype), Some(layout)) = (find(DATASPACE), find(DATATYPE), find(LAYOUT)) else {
            return damaged("not a dataset");
        };
        if find(EXTERNAL).is_some() {
            return unsupported("data in another file");
        }
        let (entry, size) = entry_type(datatype)?;
        let count = entries(space)?;
        let Some(needed) = count.checked_mul(size) else {
            return damaged(format!("{count} entries of {size} bytes"));
        };
        // Filters come with a chunked layout; the message names the layout.
        let data = layout_data(bytes, layout, needed)?;
        if let Some(filters) = find(FILTERS)
            && filters.number(1, 1)? > 0
        {
            return unsupported("filter (compression)");
        }
        Ok(Dataset { entry, size, data, file: bytes })
    }

    pub(super) fn integers(&self) -> Result<Vec<i64>, Flaw> {
        let Entry::Integer { signed } = self.entry else { return self.other("integers") };
        let read = |b: &[u8]| match (b.try_into(), b.try_into()) {
            (Ok(four), _) if signed => i64::from(i32::from_le_bytes(four)),
            (Ok(four), _) => i64::from(u32::from_le_bytes(four)),
            (_, Ok(eight)) if signed => i64::from_le_bytes(eight),
            // An unsigned number beyond i64 is out of every range that is asked for.
            (_, Ok(eight)) => i64::try_from(u64::from_le_bytes(eight)).unwrap_or(i64::MAX),
            _ => 0,
        };
        Ok(self.data.chunks_exact(self.size as usize).map(read).collect())
    }

    pub(super) fn floats(&self) -> Result<Vec<f64>, Flaw> {
        if self.entry != Entry::Double {
            return self.other("doubles");
        }
        let values = self.data.chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().unwrap_or_default()));
        let values: Vec<f64> = values.collect();
        match values.iter().position(|v| !v.is_finite()) {
            Some(index) => Err(Flaw::NotFinite { index, value: values[index] }),
            None => Ok(values),
        }
    }

    pub(super) fn text(&self) -> Result<String, Flaw> {
        let data = match self.entry {
            Entry::Text => self.data,
            Entry::VariableText => heap_object(self.file, Bytes(self.data))?,
            _ => return self.other("a string"),
        };
        let end = data.iter().position(|&b| b == 0).unwrap_or(data.len());
        Ok(String::from_utf8_lossy(&data[..end]).into_owned())
    }

    fn other<T>(&self, expected: &str) -> Result<T, Flaw> {
        let found = match self.entry {
            Entry::Integer { .. } => "integers",
            Entry::Double => "doubles",
            Entry::Text | Entry::VariableText => "a string",
        };
        Err(Flaw::Expected { expected: expected.into(), found: found.into() })
    }
}

/// Type and size of an entry from a datatype message.
fn entry_type(m: Bytes<'_>) -> Result<(Entry, u64), Flaw> {
    let (class, bits, size) = (m.number(0, 1)? & 15, m.number(1, 3)?, m.number(4, 4)?);
    if class <= 1 && bits & 1 != 0 {
        return unsupported("big-endian data");
    }
    let padded = |width| Ok::<_, Flaw>((m.number(8, 2)?, m.number(10, 2)?) != (0, width));
    match (class, size) {
        (0, 4 | 8) if padded(size * 8)? => unsupported("integer with padding bits"),
        (0, 4 | 8) => Ok((Entry::Integer { signed: bits & 8 != 0 }, size)),
        (0, _) => unsupported(format!("integer of {size} bytes")),
        // IEEE 754 double: sign at bit 63, 11 bits of exponent at 52, 52 of fraction, bias 1023.
        (1, 8) if bits == 0x3f20 && m.slice(8, 12)? == [0, 0, 64, 0, 52, 11, 0, 52, 0xff, 3, 0, 0] => {
            Ok((Entry::Double, size))
        }
        (1, _) => unsupported(format!("floating-point number of {size} bytes (not an IEEE double)")),
        (3, 1..) => Ok((Entry::Text, size)),
        (3, _) => damaged("string of no bytes"),
        // The low bits tell strings from other sequences.
        (9, 16) if bits & 15 == 1 => Ok((Entry::VariableText, size)),
        (9, _) => unsupported("variable-length data"),
        _ => unsupported(format!("data of class {class}")),
    }
}

/// Number of entries from a dataspace message.
fn entries(m: Bytes<'_>) -> Result<u64, Flaw> {
    let (version, rank) = (m.number(0, 1)?, m.number(1, 1)?);
    let first = match version {
        1 => 8,
        2 if m.number(3, 1)? == 2 => return Ok(0),
        2 => 4,
        _ => return unsupported(format!("dataspace version {version}")),
    };
    let mut count: u64 = 1;
    for k in 0..rank {
        let dim = m.number(first + 8 * k, 8)?;
        let Some(product) = count.checked_mul(dim) else {
            return damaged(format!("dimension {k} of {dim} entries"));
        };
        count = product;
    }
    Ok(count)
}

/// The bytes that a layout message points to, `needed` of them.
fn layout_data<'a>(bytes: Bytes<'a>, m: Bytes<'a>, needed: u64) -> Result<&'a [u8], Flaw> {
    let (version, class) = (m.number(0, 1)?, m.number(1, 1)?);
    match (version, class) {
        (3, 0) => m.slice(4, needed),
        (3, 1) => {
            let (address, size) = (m.number(2, 8)?, m.number(10, 8)?);
            if needed == 0 {
                return Ok(&[]);
            }
            if address == UNDEFINED {
                return damaged("declared, but never written");
            }
            if size < needed {
                return damaged(format!("{needed} bytes of data in a stretch of {size}"));
            }
            bytes.slice(address, needed)
        }
        (3 | 4, 2) => unsupported("chunked layout"),
        (3 | 4, 3) => unsupported("virtual layout"),
        _ => unsupported(format!("layout version {version}, class {class}")),
    }
}

/// The bytes that an entry of variable length refers to: its size (4 bytes), address of a global heap (8), number (4).
fn heap_object<'a>(file: Bytes<'a>, reference: Bytes<'_>) -> Result<&'a [u8], Flaw> {
    let (size, heap, number) = (reference.number(0, 4)?, reference.number(4, 8)?, reference.number(12, 4)?);
    if size == 0 {
        return Ok(&[]);
    }
    file.expect(heap, b"GCOL")?;
    let objects = Bytes(file.slice(heap, file.number(heap + 8, 8)?)?);
    let mut at = 16;
    // Objects: number (2), count of references, size (8), data padded to 8; number 0 is free space up to the end.
    while at + 16 <= objects.0.len() as u64 {
        let (found, length) = (objects.number(at, 2)?, objects.number(at + 8, 8)?);
        if found == 0 {
            break;
        }
        let data = objects.slice(at + 16, length)?;
        if found == number {
            return Bytes(data).slice(0, size);
        }
        at += 16 + length.next_multiple_of(8);
    }
    damaged(format!("no object {number} in the heap at offset {heap}"))
}
