//! Small problem files, right as they are.

use super::write_hdf5::{Node, file};

/// W of two planar contacts, not symmetric, so that rows and columns cannot be mixed up unseen.
pub(crate) const W: [[f64; 4]; 4] =
    [[4.0, 0.5, -1.0, 0.25], [0.75, 3.0, 0.125, 1.5], [-2.0, 0.375, 5.0, 0.0625], [0.1, 1.25, -0.7, 6.0]];
pub(crate) const Q: [f64; 4] = [-1.0, 0.3, -2.0, 0.4];
pub(crate) const MU: [f64; 2] = [0.5, 0.7];

/// How a sparse matrix is stored.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Storage {
    Columns,
    Rows,
    Triplets,
}

/// A sparse matrix of the entries that are not zero.
pub(crate) fn sparse(rows: usize, columns: usize, entries: &[(usize, usize, f64)], storage: Storage) -> Node {
    let mut sorted = entries.to_vec();
    let line = |e: &(usize, usize, f64)| if matches!(storage, Storage::Columns) { e.1 } else { e.0 };
    sorted.sort_by_key(line);
    let count = |k: usize| sorted.iter().filter(|e| line(e) < k).count() as i32;
    let (nz, p, i): (i32, Vec<i32>, Vec<i32>) = match storage {
        Storage::Columns => (-1, (0..=columns).map(count).collect(), sorted.iter().map(|e| e.0 as i32).collect()),
        Storage::Rows => (-2, (0..=rows).map(count).collect(), sorted.iter().map(|e| e.1 as i32).collect()),
        Storage::Triplets => (
            sorted.len() as i32,
            sorted.iter().map(|e| e.1 as i32).collect(),
            sorted.iter().map(|e| e.0 as i32).collect(),
        ),
    };
    Node::group([
        ("m", Node::integer(rows as i32)),
        ("n", Node::integer(columns as i32)),
        ("nz", Node::integer(nz)),
        ("nzmax", Node::integer(sorted.len() as i32)),
        ("p", Node::Integers(p)),
        ("i", Node::Integers(i)),
        ("x", Node::Floats(sorted.iter().map(|e| e.2).collect())),
    ])
}

/// Entries of a dense matrix.
pub(crate) fn entries<const N: usize>(a: &[[f64; N]]) -> Vec<(usize, usize, f64)> {
    a.iter().enumerate().flat_map(|(i, row)| row.iter().enumerate().map(move |(j, &v)| (i, j, v))).collect()
}

/// `/fclib_local` of W, Q, MU.
pub(crate) fn local(storage: Storage) -> Node {
    let vectors = Node::group([("q", Node::Floats(Q.to_vec())), ("mu", Node::Floats(MU.to_vec()))]);
    let info =
        Node::group([("title", Node::Text("two contacts".into())), ("description", Node::Text("by hand".into()))]);
    Node::group([
        ("spacedim", Node::integer(2)),
        ("W", sparse(4, 4, &entries(&W), storage)),
        ("vectors", vectors),
        ("info", info),
    ])
}

/// `/fclib_global`: a body of three unknowns with one contact in space and, if asked for, one equality.
///
/// M = diag(2, 4, 8) with one coupling, H the identity up to signs, G on the last unknown.
pub(crate) fn global(equality: bool) -> Node {
    let m = [(0, 0, 2.0), (1, 1, 4.0), (2, 2, 8.0), (0, 1, 1.0)];
    let h = [(0, 0, 1.0), (1, 1, 1.0), (2, 2, -1.0)];
    let mut vectors = vec![
        ("f".to_owned(), Node::Floats(vec![2.0, 4.0, 8.0])),
        ("w".to_owned(), Node::Floats(vec![-3.0, 0.5, 0.25])),
        ("mu".to_owned(), Node::Floats(vec![0.3])),
    ];
    let mut members = vec![
        ("spacedim".to_owned(), Node::integer(3)),
        ("M".to_owned(), sparse(3, 3, &m, Storage::Triplets)),
        ("H".to_owned(), sparse(3, 3, &h, Storage::Columns)),
    ];
    if equality {
        vectors.push(("b".to_owned(), Node::Floats(vec![0.125])));
        members.push(("G".to_owned(), sparse(3, 1, &[(2, 0, 2.0)], Storage::Rows)));
    }
    members.push(("vectors".to_owned(), Node::Group(vectors)));
    Node::Group(members)
}

/// A file of one group.
pub(crate) fn file_of(name: &str, group: Node) -> Vec<u8> {
    file(&[(name.to_owned(), group)])
}

/// The node at a path, for changing it.
pub(crate) fn at<'a>(node: &'a mut Node, path: &str) -> &'a mut Node {
    path.split('/').fold(node, |node, name| match node {
        Node::Group(members) => &mut members.iter_mut().find(|m| m.0 == name).unwrap().1,
        _ => panic!("{name} is in no group"),
    })
}

/// Removes the member at a path.
pub(crate) fn remove(node: &mut Node, path: &str) {
    let (parent, name) = path.rsplit_once('/').map_or((None, path), |(p, n)| (Some(p), n));
    let parent = match parent {
        Some(p) => at(node, p),
        None => node,
    };
    if let Node::Group(members) = parent {
        let before = members.len();
        members.retain(|m| m.0 != name);
        assert_eq!(members.len() + 1, before, "{path} is not there");
    }
}

/// W, Q, MU as dense text, a line per column.
pub(crate) const FRICTION_DENSE: &str = "2\n2\n0\n4\n4\n4\t4\n\
    4 0.75 -2 0.1\n0.5 3 0.375 1.25\n-1 0.125 5 -0.7\n0.25 1.5 0.0625 6\n-1 0.3 -2 0.4\n0.5 0.7\n1\n";

/// W, Q, MU by blocks, each column by column.
pub(crate) const FRICTION_BLOCKS: &str = "2\n2\n1\n4\n4\n4\n2\n2\n2\t4\n2\t4\n3\n4\n0\t2\t4\n0\t1\t0\t1\n\
    0\n4\n0.75\n0.5\n3\n1\n-1\n0.125\n0.25\n1.5\n2\n-2\n0.1\n0.375\n1.25\n3\n5\n-0.7\n0.0625\n6\n\
    -1 0.3 -2 0.4\n5e-1 .7\n";

/// W, Q, MU as the print-out of compressed columns.
pub(crate) const FRICTION_COLUMNS: &str = "2\n2\n2\n4\n4\n2\nCSparse Version 3.1.9, May 4, 2016.  Copyright\n\
    4-by-4, nzmax: 16 nnz: 16, 1-norm: 7.8125\n    col 0 : locations 0 to 3\n\
    0 : 4\n      1 : 0.75\n      2 : -2\n      3 : 0.1\n\
    col 1 : locations 4 to 7\n0 : 0.5\n1 : 3\n2 : 0.375\n3 : 1.25\n\
    col 2 : locations 8 to 11\n0 : -1\n1 : 0.125\n2 : 5\n3 : -0.7\n\
    col 3 : locations 12 to 15\n0 : 0.25\n1 : 1.5\n2 : 0.0625\n3 : 6\n-1 0.3 -2 0.4\n0.5 0.7\n";

/// M = [1 2; 3 4] (lines are columns), q = (-1, -5).
pub(crate) const LCP: &str = "2\n0\n2\n2\n2\t2\n1 3\n2 4\n-1 -5\n\nA remark\nof two lines\n";

/// One equality between two complementarities, in both storages, and the numbers of a solution.
///
/// M = [1 2 3; 4 5 6; 7 8 9], q = (-1, -2, -3), the second row an equality.
pub(crate) const MLCP: &str = "1\n1\n1\n2\n0 1 2 3 \n1 0 1 \n0\n3\n3\n3\t3\n1 4 7\n2 5 8\n3 6 9\n-1 -2 -3\n\
    5\n1 3\n7 9\n4 6\n2\n8\n-2\n-1 -3\n0 3 5 0 0\n";
