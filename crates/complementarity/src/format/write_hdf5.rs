//! Writes small HDF5 files: superblock version 0, symbol-table groups, contiguous datasets.
//!
//! The layout is what libhdf5 writes by default for such files, so that every HDF5 tool reads them. Every object comes
//! before the group that lists it; the superblock, at the front, is filled in last. Stands alone, so that tests can
//! make files with it, well formed or not.

/// Part of a file.
#[derive(Debug, Clone)]
pub(crate) enum Node {
    /// A group of named members.
    Group(Vec<(String, Node)>),
    /// A one-dimensional dataset of 32-bit integers.
    Integers(Vec<i32>),
    /// A one-dimensional dataset of doubles.
    Floats(Vec<f64>),
    /// A string of fixed length, terminated by a zero byte.
    Text(String),
}

impl Node {
    /// A group.
    pub(crate) fn group<const N: usize>(members: [(&str, Node); N]) -> Node {
        Node::Group(members.into_iter().map(|(name, node)| (name.to_owned(), node)).collect())
    }

    /// A dataset of one integer.
    pub(crate) fn integer(value: i32) -> Node {
        Node::Integers(vec![value])
    }
}

const UNDEFINED: u64 = u64::MAX;
const SUPERBLOCK: usize = 96;
/// Half the members of a full symbol node.
const LEAF_K: usize = 4;
/// Half the children of a full B-tree node.
const INTERNAL_K: usize = 16;

/// Where an object is: its header, and for a group B-tree and heap.
#[derive(Debug, Clone, Copy)]
struct Place {
    header: u64,
    table: Option<(u64, u64)>,
}

/// The bytes of a file whose root is the group of `members`, no group with more than 256 of them.
pub(crate) fn file(members: &[(String, Node)]) -> Vec<u8> {
    let mut out = vec![0; SUPERBLOCK];
    let root = group(&mut out, members);
    let mut head = b"\x89HDF\r\n\x1a\n".to_vec();
    // Versions, sizes of offsets and lengths.
    head.extend([0, 0, 0, 0, 0, 8, 8, 0]);
    head.extend((LEAF_K as u16).to_le_bytes());
    head.extend((INTERNAL_K as u16).to_le_bytes());
    head.extend([0; 4]);
    // Base, free space, end of file, driver.
    for address in [0, UNDEFINED, out.len() as u64, UNDEFINED] {
        head.extend(address.to_le_bytes());
    }
    symbol(&mut head, 0, root);
    out[..SUPERBLOCK].copy_from_slice(&head);
    out
}

/// Pads to a multiple of 8 and returns the address of what comes next.
fn align(out: &mut Vec<u8>) -> u64 {
    out.resize(out.len().next_multiple_of(8), 0);
    out.len() as u64
}

/// A symbol table entry.
fn symbol(out: &mut Vec<u8>, name: u64, place: Place) {
    out.extend(name.to_le_bytes());
    out.extend(place.header.to_le_bytes());
    let (tree, heap) = place.table.unwrap_or((0, 0));
    out.extend(u64::from(place.table.is_some()).to_le_bytes());
    out.extend(tree.to_le_bytes());
    out.extend(heap.to_le_bytes());
}

/// An object header of these messages.
fn header(out: &mut Vec<u8>, messages: &[(u16, Vec<u8>)]) -> u64 {
    let at = align(out);
    let padded = |m: &[u8]| m.len().next_multiple_of(8);
    let size: usize = messages.iter().map(|m| 8 + padded(&m.1)).sum();
    out.extend([1, 0]);
    out.extend((messages.len() as u16).to_le_bytes());
    out.extend(1_u32.to_le_bytes());
    out.extend((size as u32).to_le_bytes());
    out.extend([0; 4]);
    for (kind, data) in messages {
        out.extend(kind.to_le_bytes());
        out.extend((padded(data) as u16).to_le_bytes());
        out.extend([0; 4]);
        out.extend(data);
        align(out);
    }
    at
}

fn node(out: &mut Vec<u8>, node: &Node) -> Place {
    // Class and version, properties, size; then the details of the class.
    let (scalar, count, datatype, data) = match node {
        Node::Group(members) => return group(out, members),
        Node::Integers(values) => {
            let datatype = [0x10, 8, 0, 0, 4, 0, 0, 0, 0, 0, 32, 0].to_vec();
            (false, values.len(), datatype, values.iter().flat_map(|v| v.to_le_bytes()).collect())
        }
        Node::Floats(values) => {
            let datatype = [0x11, 0x20, 0x3f, 0, 8, 0, 0, 0, 0, 0, 64, 0, 52, 11, 0, 52, 0xff, 3, 0, 0].to_vec();
            (false, values.len(), datatype, values.iter().flat_map(|v| v.to_le_bytes()).collect())
        }
        Node::Text(text) => {
            let data: Vec<u8> = text.bytes().take_while(|&b| b != 0).chain([0]).collect();
            let datatype = [&[0x13, 0, 0, 0], &(data.len() as u32).to_le_bytes()[..]].concat();
            (true, 1, datatype, data)
        }
    };
    let data: Vec<u8> = data;
    let address = if data.is_empty() { UNDEFINED } else { align(out) };
    out.extend(&data);
    let mut space = vec![1, u8::from(!scalar), 0, 0, 0, 0, 0, 0];
    if !scalar {
        space.extend((count as u64).to_le_bytes());
    }
    let mut layout = vec![3, 1];
    layout.extend(address.to_le_bytes());
    layout.extend((data.len() as u64).to_le_bytes());
    // Fill value: allocated late, written if set, not set.
    let fill = vec![2, 2, 2, 0];
    let header = header(out, &[(0x01, space), (0x03, datatype), (0x05, fill), (0x08, layout)]);
    Place { header, table: None }
}

fn group(out: &mut Vec<u8>, members: &[(String, Node)]) -> Place {
    let mut sorted: Vec<_> = members.iter().map(|(name, n)| (name.as_bytes(), node(out, n))).collect();
    sorted.sort_by_key(|m| m.0);

    // Names, the empty one first.
    let mut names = vec![0; 8];
    let offsets: Vec<u64> = sorted
        .iter()
        .map(|(name, _)| {
            let at = align(&mut names);
            names.extend_from_slice(name);
            names.push(0);
            at
        })
        .collect();
    align(&mut names);
    let heap = align(out);
    out.extend(b"HEAP\0\0\0\0");
    // Size, no free list, address of the names.
    for value in [names.len() as u64, 1, heap + 32] {
        out.extend(value.to_le_bytes());
    }
    out.extend(names);

    // Symbol nodes, each of fixed size, and the tree over them.
    let mut children = Vec::new();
    for (k, members) in sorted.chunks(2 * LEAF_K).enumerate() {
        let at = align(out);
        out.extend(b"SNOD\x01\0");
        out.extend((members.len() as u16).to_le_bytes());
        for (l, (_, place)) in members.iter().enumerate() {
            symbol(out, offsets[2 * LEAF_K * k + l], *place);
        }
        out.resize(at as usize + 8 + 2 * LEAF_K * 40, 0);
        children.push((at, offsets[2 * LEAF_K * k + members.len() - 1]));
    }
    let tree = align(out);
    out.extend(b"TREE\0\0");
    out.extend((children.len() as u16).to_le_bytes());
    out.extend(UNDEFINED.to_le_bytes());
    out.extend(UNDEFINED.to_le_bytes());
    out.extend(0_u64.to_le_bytes());
    // A child and the offset of its last name.
    for (address, last) in children {
        out.extend(address.to_le_bytes());
        out.extend(last.to_le_bytes());
    }
    out.resize(tree as usize + 24 + 8 + 2 * INTERNAL_K * 16, 0);
    let table = [tree.to_le_bytes(), heap.to_le_bytes()].concat();
    Place { header: header(out, &[(0x11, table)]), table: Some((tree, heap)) }
}
