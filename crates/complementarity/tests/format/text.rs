//! Text formats: what right files hold, and what is said of wrong ones.

use super::samples::{FRICTION_BLOCKS, FRICTION_COLUMNS, FRICTION_DENSE, LCP, MLCP, MU, Q, W};
use super::{load, reduced, rows};
use complementarity::Set;
use complementarity::format::{ProblemKind, read};

/// The error of a text of a given kind.
fn wrong(text: &str, kind: ProblemKind) -> String {
    read(text.as_bytes(), Some(kind)).map(|l| l.kind).unwrap_err().to_string()
}

/// `text` with its only occurrence of `from` replaced.
fn with(text: &str, from: &str, to: &str) -> String {
    assert_eq!(text.matches(from).count(), 1, "{from:?}");
    text.replace(from, to)
}

#[test]
fn the_three_storages_of_friction_hold_the_same_problem() {
    for text in [FRICTION_DENSE, FRICTION_BLOCKS, FRICTION_COLUMNS] {
        let loaded = load(text.as_bytes());
        assert_eq!((loaded.kind, loaded.contacts, loaded.rows()), (ProblemKind::Friction2d, 2, 4));
        let p = reduced(&loaded);
        let sets: Vec<Set> = p.blocks().iter().map(|b| b.set.clone()).collect();
        assert_eq!(sets, MU.map(|mu| Set::Coulomb { dim: 1, mu }));
        assert_eq!(p.as_dense().unwrap().data(), W.as_flattened());
        assert_eq!(p.b(), Q);
    }
}

#[test]
fn a_contact_in_space_has_two_tangents() {
    let loaded = load(b"3 1 0 3 3 3 3  1 4 7 2 5 8 3 6 9  -1 0 0.5  0.25");
    assert_eq!((loaded.kind, loaded.contacts), (ProblemKind::Friction3d, 1));
    let p = reduced(&loaded);
    assert_eq!(p.blocks()[0].set, Set::Coulomb { dim: 2, mu: 0.25 });
    assert_eq!(p.as_dense().unwrap().data(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]);
}

#[test]
fn sparse_blocks_stay_sparse_and_empty_columns_are_read() {
    // Four uncoupled contacts: a quarter of the blocks.
    let mut text = String::from("2 4 2 8 8 2\nCSparse\n8-by-8, nzmax: 6 nnz: 6, 1-norm: 1\n");
    let mut count = 0_i64;
    for j in 0..8 {
        let filled = j != 0 && j != 5;
        text += &format!("col {j} : locations {count} to {}\n", count - 1 + i64::from(filled));
        if filled {
            text += &format!("{j} : {}\n", j + 1);
            count += 1;
        }
    }
    text += "-1 0 -1 0 -1 0 -1 0   1 1 1 1";
    let loaded = load(text.as_bytes());
    let p = reduced(&loaded);
    assert!(p.as_dense().is_none());
    let a = rows(p);
    for i in 0..8 {
        for j in 0..8 {
            let expected = if i == j && i != 0 && i != 5 { i as f64 + 1.0 } else { 0.0 };
            assert_eq!(a[i][j], expected, "({i}, {j})");
        }
    }
}

#[test]
fn an_lcp_is_read_column_by_column_and_its_remark_kept() {
    let loaded = load(LCP.as_bytes());
    assert_eq!((loaded.kind, loaded.contacts), (ProblemKind::Lcp, 2));
    assert_eq!(loaded.description.as_deref(), Some("A remark\nof two lines"));
    let p = reduced(&loaded);
    assert!(p.blocks().iter().all(|b| b.set == Set::NonNegative));
    assert_eq!(p.as_dense().unwrap().data(), [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(p.b(), [-1.0, -5.0]);
}

#[test]
fn a_mixed_lcp_keeps_the_order_of_its_rows() {
    let loaded = load(MLCP.as_bytes());
    assert_eq!((loaded.kind, loaded.contacts), (ProblemKind::Mlcp, 2));
    let p = reduced(&loaded);
    let sets: Vec<Set> = p.blocks().iter().map(|b| b.set.clone()).collect();
    assert_eq!(sets, [Set::NonNegative, Set::Free { dim: 1 }, Set::NonNegative]);
    assert_eq!(p.as_dense().unwrap().data(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]);
    assert_eq!(p.b(), [-1.0, -2.0, -3.0]);
}

#[test]
fn a_mixed_lcp_in_parts_has_its_equalities_first() {
    // A = 5, B = [1 3; 7 9], C = [4 6], D = [2; 8], a = -2, b = (-1, -3).
    let loaded = load(b"0 1 1 2  5  1 3 7 9  4 6  2 8  -2  -1 -3");
    let p = reduced(&loaded);
    assert_eq!(p.blocks()[0].set, Set::Free { dim: 1 });
    assert_eq!(p.as_dense().unwrap().data(), [5.0, 4.0, 6.0, 2.0, 1.0, 3.0, 8.0, 7.0, 9.0]);
    assert_eq!(p.b(), [-2.0, -1.0, -3.0]);
    // The first storage alone.
    let first = &MLCP[..MLCP.find("5\n1 3").unwrap()];
    let alone = load(with(first, "1\n1\n1\n2\n0 ", "1\n0\n1\n2\n0 ").as_bytes());
    assert_eq!(reduced(&alone), reduced(&load(MLCP.as_bytes())));
}

#[test]
fn wrong_friction_files_are_named_by_line_and_field() {
    let cases = [
        (with(FRICTION_DENSE, "2\n2\n0", "4\n2\n0"), "line 1: dimension: expected 2, found \"4\""),
        (
            with(FRICTION_DENSE, "2\n2\n0", "2\n0\n0"),
            "line 2: number of contacts: expected a whole number from 1, found \"0\"",
        ),
        (
            with(FRICTION_DENSE, "2\n2\n0", "2\n2\n3"),
            "line 3: storage of M (0 dense, 1 block-sparse, 2 compressed columns): expected a whole number from 0 to 2, found \"3\"",
        ),
        (with(FRICTION_DENSE, "0\n4\n4", "0\n5\n4"), "line 4: rows of M: expected 4, found \"5\""),
        (with(FRICTION_DENSE, "0.375", "nan"), "line 8: M: entry 6 is not finite (NaN)"),
        (with(FRICTION_DENSE, "0.375", "1e999"), "line 8: M: entry 6 is not finite (inf)"),
        (with(FRICTION_DENSE, "0.375", "x1"), "line 8: M[6]: expected a number, found \"x1\""),
        (with(FRICTION_DENSE, "-1 0.3", "-inf 0.3"), "line 11: q: entry 0 is not finite (-inf)"),
        (
            with(FRICTION_DENSE, "0.5 0.7", "0.5 -0.7"),
            "line 12: mu: entry 1 is -0.7, expected a friction coefficient >= 0",
        ),
        (with(FRICTION_DENSE, "0.5 0.7\n1\n", "1"), "line 11: mu: needs 2 numbers, but the file has only 1 left"),
        (with(FRICTION_DENSE, "0.5 0.7\n1\n", "0.5   "), "line 12: mu[1]: missing"),
        (
            with(FRICTION_DENSE, "0.7\n1\n", "0.7\n2\n"),
            "line 13: flag after mu: expected a whole number from 0 to 1, found \"2\"",
        ),
        (
            with(FRICTION_DENSE, "0.7\n1\n", "0.7\n1\nmore"),
            "line 14: after the problem: expected the end of the file, found \"more\"",
        ),
        (
            with(FRICTION_BLOCKS, "4\n2\n2\n2\t4", "4\n2\n2\n3\t5"),
            "line 9: block row sizes of M: expected 4, found \"5\"",
        ),
        (
            with(FRICTION_BLOCKS, "0\t2\t4", "0\t3\t2"),
            "line 13: row pointers of M: damaged file: they must ascend from 0 to 4",
        ),
        (
            with(FRICTION_BLOCKS, "0\t1\t0\t1", "0\t1\t0\t2"),
            "line 14: block columns of M: expected a whole number from 0 to 1, found \"2\"",
        ),
        (
            with(FRICTION_BLOCKS, "3\n1\n-1\n", "3\n2\n-1\n"),
            "line 20: ordinal of a block of M: expected 1, found \"2\"",
        ),
        (
            with(FRICTION_COLUMNS, "4\n4\n2\nCS", "4\n4\n1\nCS"),
            "line 6: origin of M (2 compressed columns): expected 2, found \"1\"",
        ),
        (with(FRICTION_COLUMNS, "4-by-4", "4-by-5"), "line 8: head of M: expected \"4-by-4,\", found \"4-by-5,\""),
        (with(FRICTION_COLUMNS, "nnz: 16", "nnz: 17"), "inconsistent sizes: M has 16, expected 17"),
        (
            with(FRICTION_COLUMNS, "8 to 11", "8 to 16"),
            "line 19: last location of a column of M: damaged file: it must lie from 7 to 16, exclusively",
        ),
        (
            with(FRICTION_COLUMNS, "3 : 1.25", "4 : 1.25"),
            "line 18: row of M: expected a whole number from 0 to 3, found \"4\"",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(wrong(&text, ProblemKind::Friction2d), expected);
    }
}

#[test]
fn wrong_lcp_files_are_named_by_line_and_field() {
    for (text, expected) in [
        (with(LCP, "-1 -5", "-1 nan"), "line 8: q: entry 1 is not finite (NaN)"),
        (
            with(LCP, "A remark\nof two lines\n", "7"),
            "line 10: after the problem: expected the end of the file, found \"7\"",
        ),
        (with(LCP, "-5\n\nA", "-5 A"), "line 8: after the problem: expected the end of the file, found \"A\""),
        (with(LCP, "2\n0\n2\n2", "0\n0\n2\n2"), "line 1: size n: expected a whole number from 1, found \"0\""),
    ] {
        assert_eq!(wrong(&text, ProblemKind::Lcp), expected);
    }
}

#[test]
fn wrong_mixed_lcp_files_are_named_by_line_and_field() {
    for (text, expected) in [
        (with(MLCP, "1 0 1 ", "1 1 1 "), "line 6: equalities of the block kinds: has 0 entries, expected 1"),
        (with(MLCP, "0 1 2 3 ", "0 1 1 3 "), "line 5: block rows: expected a whole number from 2 to 3, found \"1\""),
        (with(MLCP, "7 9\n", "7 9.5\n"), "line 22: A, B, C, D, a, b: entry 8 is 9.5, but the same entry of M is 9"),
        (with(MLCP, "-1 -3\n", "-1 -4\n"), "line 22: A, B, C, D, a, b: entry 2 is -4, but the same entry of q is -3"),
        (with(MLCP, "5 0 0\n", "5 0 0 0\n"), "line 23: after the problem: expected the end of the file, found \"0\""),
        (with(MLCP, "5 0 0\n", "5 0 what\n"), "line 23: solution[4]: expected a number, found \"what\""),
    ] {
        assert_eq!(wrong(&text, ProblemKind::Mlcp), expected);
    }
    assert!(wrong("0 0 1 1 0 2 0", ProblemKind::Mlcp).starts_with("line 1: storage flag of A, B, C, D: expected 1"));
}
