//! The part of HDF5 that FCLIB files use, read from memory.
//!
//! - Superblock version 0 with 8-byte offsets, version-1 object headers.
//! - Groups as symbol tables: a version-1 B-tree over symbol nodes, names in a local heap.
//! - Contiguous or compact datasets without filters: little-endian integers of 4 or 8 bytes, IEEE doubles, strings.
//!
//! Attributes are skipped. Anything else is an error that names what was found and its path in the file.
//! Reference: HDF5 File Format Specification, version 1.1.
//!
//! Groups are listed only when a path asks for them, so that circular links do no harm. Listing a group ends: levels of a
//! B-tree must fall by one from node to child, and no node may occur twice.

mod dataset;

use super::error::{Flaw, FormatError};
use dataset::Dataset;
use std::collections::{BTreeMap, BTreeSet};

const SIGNATURE: &[u8] = b"\x89HDF\r\n\x1a\n";
/// Size of the version-0 superblock with 8-byte offsets.
const SUPERBLOCK: u64 = 96;
/// Size of a symbol table entry.
const ENTRY: u64 = 40;

/// Whether the bytes begin as an HDF5 file.
pub(crate) fn is_hdf5(bytes: &[u8]) -> bool {
    bytes.starts_with(SIGNATURE)
}

fn damaged<T>(what: impl Into<String>) -> Result<T, Flaw> {
    Err(Flaw::Damaged(what.into()))
}

fn unsupported<T>(what: impl Into<String>) -> Result<T, Flaw> {
    Err(Flaw::Unsupported(what.into()))
}

/// Bytes with checked access at absolute offsets.
#[derive(Debug, Clone, Copy)]
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn slice(self, at: u64, size: u64) -> Result<&'a [u8], Flaw> {
        let left = (self.0.len() as u64).saturating_sub(at);
        if size > left {
            return Err(Flaw::Truncated { needed: size, left, unit: "bytes" });
        }
        // Both fit: they are at most the length of the slice.
        Ok(&self.0[at as usize..(at + size) as usize])
    }

    /// A little-endian number of up to 8 bytes.
    fn number(self, at: u64, size: u64) -> Result<u64, Flaw> {
        Ok(self.slice(at, size)?.iter().rev().fold(0, |n, &b| n << 8 | u64::from(b)))
    }

    fn expect(self, at: u64, signature: &[u8; 4]) -> Result<(), Flaw> {
        if self.slice(at, 4)? == signature {
            return Ok(());
        }
        damaged(format!("no {} at offset {at}", String::from_utf8_lossy(signature)))
    }
}

/// An HDF5 file in memory.
#[derive(Debug)]
pub(crate) struct File<'a> {
    bytes: Bytes<'a>,
    root: u64,
}

impl<'a> File<'a> {
    /// Checks the superblock.
    pub(crate) fn open(bytes: &'a [u8]) -> Result<Self, FormatError> {
        Self::superblock(Bytes(bytes)).map_err(|flaw| flaw.at("superblock"))
    }

    fn superblock(bytes: Bytes<'a>) -> Result<Self, Flaw> {
        if !is_hdf5(bytes.0) {
            return damaged("no HDF5 signature");
        }
        let version = bytes.number(8, 1)?;
        if version != 0 {
            return unsupported(format!("superblock version {version}"));
        }
        bytes.slice(0, SUPERBLOCK)?;
        let (offsets, lengths) = (bytes.number(13, 1)?, bytes.number(14, 1)?);
        if (offsets, lengths) != (8, 8) {
            return unsupported(format!("offsets of {offsets} and lengths of {lengths} bytes"));
        }
        let base = bytes.number(24, 8)?;
        if base != 0 {
            return unsupported(format!("base address {base}"));
        }
        let (end, size) = (bytes.number(40, 8)?, bytes.0.len() as u64);
        if end > size {
            return Err(Flaw::Truncated { needed: end, left: size, unit: "bytes" });
        }
        Ok(File { bytes, root: bytes.number(64, 8)? })
    }

    /// The group `/`.
    pub(crate) fn root(&self) -> Result<Group<'_>, FormatError> {
        Group::open(self.bytes, self.root, String::new())
    }
}

/// A group and the addresses of its members.
#[derive(Debug)]
pub(crate) struct Group<'a> {
    bytes: Bytes<'a>,
    path: String,
    members: BTreeMap<String, Link>,
}

#[derive(Debug, Clone, Copy)]
enum Link {
    Hard(u64),
    Soft,
}

impl<'a> Group<'a> {
    fn open(bytes: Bytes<'a>, address: u64, path: String) -> Result<Self, FormatError> {
        let members = list(bytes, address).map_err(|flaw| flaw.at(if path.is_empty() { "/" } else { &path }))?;
        Ok(Group { bytes, path, members })
    }

    /// Path of a member.
    pub(crate) fn path(&self, name: &str) -> String {
        format!("{}/{name}", self.path)
    }

    /// Names of the members, in order.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.members.keys().map(String::as_str)
    }

    /// Whether there is such a member.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.members.contains_key(name)
    }

    fn address(&self, name: &str) -> Result<u64, FormatError> {
        match self.members.get(name) {
            Some(Link::Hard(address)) => Ok(*address),
            Some(Link::Soft) => Err(Flaw::Unsupported("soft link".into()).at(self.path(name))),
            None => Err(Flaw::Missing.at(self.path(name))),
        }
    }

    /// A group in this group.
    pub(crate) fn group(&self, name: &str) -> Result<Group<'a>, FormatError> {
        Group::open(self.bytes, self.address(name)?, self.path(name))
    }

    /// A group in this group, if it is there.
    pub(crate) fn optional_group(&self, name: &str) -> Result<Option<Group<'a>>, FormatError> {
        if self.has(name) { self.group(name).map(Some) } else { Ok(None) }
    }

    fn dataset(&self, name: &str) -> Result<Dataset<'a>, FormatError> {
        let address = self.address(name)?;
        Dataset::open(self.bytes, address).map_err(|flaw| flaw.at(self.path(name)))
    }

    /// All entries of an integer dataset.
    pub(crate) fn integers(&self, name: &str) -> Result<Vec<i64>, FormatError> {
        self.dataset(name)?.integers().map_err(|flaw| flaw.at(self.path(name)))
    }

    /// All entries of a dataset of doubles, finite.
    pub(crate) fn floats(&self, name: &str) -> Result<Vec<f64>, FormatError> {
        self.dataset(name)?.floats().map_err(|flaw| flaw.at(self.path(name)))
    }

    /// A string, if it is there.
    pub(crate) fn text(&self, name: &str) -> Result<Option<String>, FormatError> {
        if !self.has(name) {
            return Ok(None);
        }
        self.dataset(name)?.text().map(Some).map_err(|flaw| flaw.at(self.path(name)))
    }
}

/// One message of an object header.
#[derive(Debug, Clone, Copy)]
struct Message<'a> {
    kind: u64,
    data: Bytes<'a>,
}

/// The messages of a version-1 object header, continuation blocks included.
fn messages(bytes: Bytes<'_>, address: u64) -> Result<Vec<Message<'_>>, Flaw> {
    if bytes.slice(address, 4)? == b"OHDR" {
        return unsupported("object header version 2");
    }
    let version = bytes.number(address, 1)?;
    if version != 1 {
        return damaged(format!("object header version {version} at offset {address}"));
    }
    let count = bytes.number(address + 2, 2)? as usize;
    let size = bytes.number(address + 8, 4)?;
    let mut blocks = vec![(address + 16, size)];
    let mut seen = BTreeSet::from([address + 16]);
    let mut out = Vec::new();
    let mut next = 0;
    while let Some(&(mut at, size)) = blocks.get(next) {
        next += 1;
        bytes.slice(at, size)?;
        let end = at + size;
        while at + 8 <= end && out.len() < count {
            let (kind, size, flags) = (bytes.number(at, 2)?, bytes.number(at + 2, 2)?, bytes.number(at + 4, 1)?);
            at += 8;
            if at + size > end {
                return damaged(format!("header message of {size} bytes leaves its block"));
            }
            let data = Bytes(bytes.slice(at, size)?);
            // A message that is stored elsewhere and shared.
            if flags & 2 != 0 && matches!(kind, DATASPACE | DATATYPE | LAYOUT | FILTERS) {
                return unsupported("shared header message");
            }
            if kind == CONTINUATION {
                let block = (data.number(0, 8)?, data.number(8, 8)?);
                if !seen.insert(block.0) {
                    return damaged("object header continues in itself");
                }
                blocks.push(block);
            }
            out.push(Message { kind, data });
            at += size;
        }
    }
    Ok(out)
}

const DATASPACE: u64 = 0x01;
const LINK_INFO: u64 = 0x02;
const DATATYPE: u64 = 0x03;
const LAYOUT: u64 = 0x08;
const EXTERNAL: u64 = 0x07;
const FILTERS: u64 = 0x0b;
const CONTINUATION: u64 = 0x10;
const SYMBOL_TABLE: u64 = 0x11;

/// Members of the group whose object header is at `address`.
fn list(bytes: Bytes<'_>, address: u64) -> Result<BTreeMap<String, Link>, Flaw> {
    let messages = messages(bytes, address)?;
    let Some(table) = messages.iter().find(|m| m.kind == SYMBOL_TABLE) else {
        return match messages.iter().any(|m| m.kind == LINK_INFO) {
            true => unsupported("group of the new style (link messages)"),
            false => damaged("not a group"),
        };
    };
    let (tree, heap) = (table.data.number(0, 8)?, table.data.number(8, 8)?);
    bytes.expect(heap, b"HEAP")?;
    let names = bytes.slice(bytes.number(heap + 24, 8)?, bytes.number(heap + 8, 8)?)?;

    let mut members = BTreeMap::new();
    let mut seen = BTreeSet::new();
    // Nodes to visit, with the level they must have; the root may have any.
    let mut open = vec![(tree, None)];
    while let Some((at, level)) = open.pop() {
        if !seen.insert(at) {
            return damaged(format!("B-tree reaches the node at offset {at} twice"));
        }
        if level == Some(None) {
            symbols(bytes, at, names, &mut members)?;
            continue;
        }
        bytes.expect(at, b"TREE")?;
        let (kind, found) = (bytes.number(at + 4, 1)?, bytes.number(at + 5, 1)?);
        if kind != 0 {
            return damaged(format!("B-tree of type {kind} in a group"));
        }
        if level.is_some_and(|expected| expected != Some(found)) {
            return damaged(format!("B-tree node of level {found} in a wrong place"));
        }
        let used = bytes.number(at + 6, 2)?;
        // Keys and children take turns, a key first.
        bytes.slice(at + 24, used * 16)?;
        // Distinct nodes cannot be more than fit into the file.
        if open.len() as u64 + used > bytes.0.len() as u64 / 8 {
            return damaged("B-tree with more nodes than the file can hold");
        }
        for k in (0..used).rev() {
            open.push((bytes.number(at + 32 + 16 * k, 8)?, Some(found.checked_sub(1))));
        }
    }
    Ok(members)
}

/// Adds the members that a symbol node lists.
fn symbols(bytes: Bytes<'_>, at: u64, names: &[u8], members: &mut BTreeMap<String, Link>) -> Result<(), Flaw> {
    bytes.expect(at, b"SNOD")?;
    let used = bytes.number(at + 6, 2)?;
    bytes.slice(at + 8, used * ENTRY)?;
    for k in 0..used {
        let entry = at + 8 + k * ENTRY;
        let (name, address, cache) =
            (bytes.number(entry, 8)?, bytes.number(entry + 8, 8)?, bytes.number(entry + 16, 4)?);
        let Some(name) = usize::try_from(name).ok().and_then(|n| names.get(n..)) else {
            return damaged(format!("name at offset {name} of a heap of {} bytes", names.len()));
        };
        let Some(end) = name.iter().position(|&b| b == 0) else { return damaged("name without end") };
        let name = String::from_utf8_lossy(&name[..end]).into_owned();
        // Cache type 2 is a soft link.
        let link = if cache == 2 { Link::Soft } else { Link::Hard(address) };
        if members.insert(name.clone(), link).is_some() {
            return damaged(format!("member {name:?} twice"));
        }
    }
    Ok(())
}
