//! The HDF5 container: what is not supported or damaged is said, by path, and reading always ends.

use super::samples::{Storage, at, file_of, global, local};
use super::write_hdf5::{Node, file};
use super::{error, load, read_anything};

fn sample() -> Vec<u8> {
    file_of("fclib_local", local(Storage::Rows))
}

/// Offset of the n-th occurrence of a pattern.
fn find(bytes: &[u8], pattern: &[u8], n: usize) -> usize {
    (0..bytes.len()).filter(|&k| bytes[k..].starts_with(pattern)).nth(n).unwrap()
}

/// The sample with bytes replaced from an offset on.
fn patched(offset: usize, with: &[u8]) -> Vec<u8> {
    let mut bytes = sample();
    bytes[offset..offset + with.len()].copy_from_slice(with);
    bytes
}

/// Offset of the object header of W/x: the last dataset of 16 doubles.
fn header_of_x(bytes: &[u8]) -> usize {
    let space = [&[1, 1, 0, 0, 0, 0, 0, 0], &16_u64.to_le_bytes()[..]].concat();
    let at = (0..).map_while(|n| (0..bytes.len()).filter(|&k| bytes[k..].starts_with(&space)).nth(n)).last();
    at.unwrap() - 24
}

/// Places in the header of a dataset of doubles, after 16 bytes of its own: messages of 8 bytes and their data, the
/// dataspace of 16, the datatype of 24, the fill value of 8 (here with its 8 bytes before it), and the layout of 24.
const DIMENSION: usize = 16 + 8 + 8;
const DATATYPE: usize = 16 + 24 + 8;
const FILL: usize = DATATYPE + 24;
const LAYOUT: usize = FILL + 16 + 8;

#[test]
fn what_is_not_supported_is_named_with_its_path() {
    let bytes = sample();
    let x = header_of_x(&bytes);
    let fill_as = |kind: u8| patched(x + FILL, &[kind, 0, 8, 0, 0, 0, 0, 0, 1, 1, 0, 0]);
    let entry_of_w = find(&bytes, b"SNOD", 0);
    assert_eq!(load(&patched(x + LAYOUT, &[3, 1])).contacts, 2, "the offsets are right");
    let int = find(&bytes, &[0x10, 8, 0, 0, 4, 0, 0, 0], 0);
    for (bytes, expected) in [
        (patched(8, &[2]), "superblock: superblock version 2 is not supported"),
        (patched(13, &[4]), "superblock: offsets of 4 and lengths of 8 bytes is not supported"),
        (patched(24, &[0, 2]), "superblock: base address 512 is not supported"),
        (patched(x, b"OHDR"), "/fclib_local/W/x: object header version 2 is not supported"),
        (patched(x + LAYOUT, &[3, 2]), "/fclib_local/W/x: chunked layout is not supported"),
        (patched(x + LAYOUT, &[4, 3]), "/fclib_local/W/x: virtual layout is not supported"),
        (patched(x + LAYOUT, &[1, 1]), "/fclib_local/W/x: layout version 1, class 1 is not supported"),
        (fill_as(0x0b), "/fclib_local/W/x: filter (compression) is not supported"),
        (fill_as(0x07), "/fclib_local/W/x: data in another file is not supported"),
        (patched(x + DATATYPE + 1, &[0x21]), "/fclib_local/W/x: big-endian data is not supported"),
        (patched(x + DATATYPE, &[0x19, 0]), "/fclib_local/W/x: variable-length data is not supported"),
        (patched(x + DATATYPE, &[0x16]), "/fclib_local/W/x: data of class 6 is not supported"),
        (
            patched(x + DATATYPE + 4, &[4]),
            "/fclib_local/W/x: floating-point number of 4 bytes (not an IEEE double) is not supported",
        ),
        (
            patched(x + DATATYPE + 16, &[0]),
            "/fclib_local/W/x: floating-point number of 8 bytes (not an IEEE double) is not supported",
        ),
        (patched(x + DATATYPE - 4, &[2]), "/fclib_local/W/x: shared header message is not supported"),
        (patched(x + DIMENSION - 8, &[3]), "/fclib_local/W/x: dataspace version 3 is not supported"),
        (patched(entry_of_w + 8 + 16, &[2]), "/fclib_local/W/i: soft link is not supported"),
        (patched(int + 4, &[2]), "/fclib_local/spacedim: integer of 2 bytes is not supported"),
        (patched(int + 10, &[31]), "/fclib_local/spacedim: integer with padding bits is not supported"),
    ] {
        assert_eq!(error(&bytes), expected);
    }
}

#[test]
fn a_group_of_the_new_style_is_named() {
    let bytes = sample();
    // The message of W's symbol table becomes link info.
    let table = find(&bytes, &[0x11, 0, 16, 0, 0, 0, 0, 0], 0);
    assert_eq!(error(&patched(table, &[2])), "/fclib_local/W: group of the new style (link messages) is not supported");
}

#[test]
fn declared_sizes_are_compared_with_the_file() {
    let bytes = sample();
    let x = header_of_x(&bytes);
    let size = bytes.len();
    let huge = (1_u64 << 40).to_le_bytes();
    for (bytes, expected) in [
        (
            patched(x + DIMENSION, &huge),
            "/fclib_local/W/x: damaged file: 8796093022208 bytes of data in a stretch of 128".to_owned(),
        ),
        (
            patched(x + DIMENSION, &u64::MAX.to_le_bytes()),
            "/fclib_local/W/x: damaged file: 18446744073709551615 entries of 8 bytes".into(),
        ),
        (patched(x + LAYOUT + 2, &huge), "/fclib_local/W/x: needs 128 bytes, but the file has only 0 left".into()),
        (
            patched(x + LAYOUT + 2, &u64::MAX.to_le_bytes()),
            "/fclib_local/W/x: damaged file: declared, but never written".into(),
        ),
        (
            patched(x + LAYOUT + 2, &(size as u64 - 100).to_le_bytes()),
            "/fclib_local/W/x: needs 128 bytes, but the file has only 100 left".into(),
        ),
        (
            patched(40, &(size as u64 + 1).to_le_bytes()),
            format!("superblock: needs {} bytes, but the file has only {size} left", size + 1),
        ),
        (patched(64, &huge), "/: needs 4 bytes, but the file has only 0 left".into()),
    ] {
        let found = read_anything(&bytes).map(|l| l.kind).unwrap_err().to_string();
        assert_eq!(found, expected);
    }
    // Both the dimension and the stretch lie: only the length of the file is left to tell.
    let mut both = patched(x + DIMENSION, &(1_u64 << 37).to_le_bytes());
    both[x + LAYOUT + 10..x + LAYOUT + 18].copy_from_slice(&huge);
    let found = read_anything(&both).map(|l| l.kind).unwrap_err().to_string();
    assert!(found.starts_with("/fclib_local/W/x: needs 1099511627776 bytes, but the file has only "), "{found}");
}

#[test]
fn circles_end() {
    let bytes = sample();
    let size = bytes.len();
    let trees: Vec<usize> = (0..size).filter(|&k| bytes[k..].starts_with(b"TREE")).collect();
    let nodes: Vec<usize> = (0..size).filter(|&k| bytes[k..].starts_with(b"SNOD")).collect();
    let root = u64::from_le_bytes(bytes[64..72].try_into().unwrap());
    for (k, &tree) in trees.iter().enumerate() {
        let itself = (tree as u64).to_le_bytes();
        // A node that is its own child: at the bottom, and one level up.
        let bottom = error(&patched(tree + 32, &itself));
        assert!(bottom.contains("damaged file: "), "{bottom}");
        let mut above = patched(tree + 32, &itself);
        above[tree + 5] = 1;
        assert!(error(&above).contains("reaches the node at offset"), "{}", error(&above));
        // Two levels up and a child of a level that does not fit.
        let mut wrong = patched(tree + 32, &(trees[(k + 1) % trees.len()] as u64).to_le_bytes());
        wrong[tree + 5] = 2;
        assert!(error(&wrong).contains("B-tree node of level 0 in a wrong place"), "{}", error(&wrong));
        // The same child twice.
        let mut twice = patched(tree + 6, &[2]);
        twice.copy_within(tree + 32..tree + 40, tree + 48);
        assert!(error(&twice).contains("reaches the node at offset"), "{}", error(&twice));
        // More children than the file has room for.
        let many = error(&patched(tree + 6, &[0xff, 0xff]));
        assert!(many.contains("bytes, but the file has only"), "{many}");
    }
    // Each member of each group leads back to the root. Only two of them are not needed to read on: `nzmax`, which
    // is ignored, and `info`, in which there need not be anything.
    let mut read = 0;
    for &node in &nodes {
        for k in 0..bytes[node + 6] as usize {
            let looped = patched(node + 8 + 40 * k + 8, &root.to_le_bytes());
            read += usize::from(read_anything(&looped).is_ok());
        }
    }
    assert_eq!(read, 2);
    // The root's only member is the root.
    let last = nodes[nodes.len() - 1];
    assert_eq!(error(&patched(last + 16, &root.to_le_bytes())), "/fclib_local/vectors: missing");
}

#[test]
fn an_object_header_may_continue_elsewhere_but_not_in_itself() {
    let bytes = sample();
    let x = header_of_x(&bytes);
    // The fill value becomes a continuation; the layout message moves to the end of the file.
    let target = bytes.len() as u64;
    let mut moved = bytes.clone();
    let layout = bytes[x + FILL + 16..x + LAYOUT + 24].to_vec();
    // Fill (16 bytes with head) and layout (32) make room for a continuation of 24 bytes and a message to skip.
    let start = x + FILL;
    moved[start..start + 8].copy_from_slice(&[0x10, 0, 16, 0, 0, 0, 0, 0]);
    moved[start + 8..start + 16].copy_from_slice(&target.to_le_bytes());
    moved[start + 16..start + 24].copy_from_slice(&(layout.len() as u64).to_le_bytes());
    moved[start + 24..start + 32].copy_from_slice(&[0, 0, 16, 0, 0, 0, 0, 0]);
    moved[x + 2] = 5;
    moved.extend(&layout);
    assert_eq!(load(&moved).contacts, 2);

    let itself = (start as u64).to_le_bytes();
    moved[start + 8..start + 16].copy_from_slice(&itself);
    let found = error(&moved);
    assert_eq!(found, "/fclib_local/W/x: damaged file: object header continues in itself");
}

#[test]
fn strings_of_variable_length_are_read_from_their_heap() {
    let mut group = local(Storage::Rows);
    *at(&mut group, "info/title") = Node::Text("0123456789abcde".into());
    let mut bytes = file_of("fclib_local", group);
    // The datatype: a sequence of characters; the entry: length, heap, number in the heap.
    let datatype = find(&bytes, &[0x13, 0, 0, 0, 16, 0, 0, 0], 0);
    bytes[datatype..datatype + 2].copy_from_slice(&[0x19, 1]);
    let entry = find(&bytes, b"0123456789abcde", 0);
    let heap = bytes.len() as u64;
    bytes[entry..entry + 4].copy_from_slice(&5_u32.to_le_bytes());
    bytes[entry + 4..entry + 12].copy_from_slice(&heap.to_le_bytes());
    bytes[entry + 12..entry + 16].copy_from_slice(&2_u32.to_le_bytes());
    bytes.extend(b"GCOL\x01\0\0\0");
    bytes.extend(80_u64.to_le_bytes());
    for (number, text) in [(1_u16, b"other\0\0\0"), (2, b"title\0\0\0"), (0, b"\0\0\0\0\0\0\0\0")] {
        bytes.extend(number.to_le_bytes());
        bytes.extend([0; 6]);
        bytes.extend(5_u64.to_le_bytes());
        bytes.extend(text);
    }
    bytes.truncate(heap as usize + 80);
    assert_eq!(load(&bytes).title.as_deref(), Some("title"));
    bytes[entry + 12] = 3;
    assert_eq!(
        error(&bytes),
        format!("/fclib_local/info/title: damaged file: no object 3 in the heap at offset {heap}")
    );
}

#[test]
fn a_group_of_many_members_is_listed_over_several_nodes() {
    let mut group = local(Storage::Columns);
    if let Node::Group(members) = &mut group {
        members.extend((0..100).map(|k| (format!("extra{k}"), Node::integer(k))));
    }
    let loaded = load(&file_of("fclib_local", group));
    assert_eq!(loaded.contacts, 2);
}

#[test]
fn every_beginning_of_a_file_is_refused() {
    for bytes in [sample(), file_of("fclib_global", global(true))] {
        for length in 0..bytes.len() {
            assert!(read_anything(&bytes[..length]).is_err(), "{length} bytes");
        }
    }
}

#[test]
fn every_byte_may_be_wrong() {
    for bytes in [sample(), file_of("fclib_global", global(true))] {
        let mut refused = 0;
        for k in 0..bytes.len() {
            for with in [0, 1, 2, 7, 0x7f, 0x80, 0xff, bytes[k].wrapping_add(1), bytes[k] ^ 0x10] {
                let mut wrong = bytes.clone();
                wrong[k] = with;
                refused += usize::from(read_anything(&wrong).is_err());
            }
        }
        assert!(refused > bytes.len(), "{refused} refused of {} changed", 9 * bytes.len());
    }
}

#[test]
fn a_file_without_members_is_refused() {
    assert_eq!(error(&file(&[])), "/: expected fclib_local or fclib_global, found \"\"");
    assert_eq!(error(b"\x89HDF\r\n\x1a\n"), "superblock: needs 1 bytes, but the file has only 0 left");
}
