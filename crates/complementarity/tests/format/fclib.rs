//! FCLIB files: what right ones hold, and what is said of wrong ones.

use super::samples::{MU, Q, Storage, W, at, entries, file_of, global, local, remove, sparse};
use super::write_hdf5::{Node, file};
use super::{error, full, load, reduced, rows};
use complementarity::Set;
use complementarity::format::ProblemKind;

#[test]
fn the_three_storages_hold_the_same_problem() {
    for storage in [Storage::Columns, Storage::Rows, Storage::Triplets] {
        let loaded = load(&file_of("fclib_local", local(storage)));
        assert_eq!((loaded.kind, loaded.contacts, loaded.rows()), (ProblemKind::Friction2d, 2, 4));
        assert_eq!(loaded.title.as_deref(), Some("two contacts"));
        assert_eq!(loaded.description.as_deref(), Some("by hand"));
        assert_eq!(loaded.guess, None);
        let p = reduced(&loaded);
        assert_eq!(p.as_dense().unwrap().data(), W.as_flattened(), "{storage:?}");
        assert_eq!(p.b(), Q);
        let sets: Vec<Set> = p.blocks().iter().map(|b| b.set.clone()).collect();
        assert_eq!(sets, MU.map(|mu| Set::Coulomb { dim: 1, mu }));
    }
}

#[test]
fn triplets_that_are_given_twice_add_up_and_the_rest_of_long_arrays_is_ignored() {
    let mut group = local(Storage::Triplets);
    let mut twice = entries(&W);
    twice[5].2 -= 0.5;
    twice.push((1, 1, 0.5));
    let count = twice.len();
    // Not used: beyond nz.
    twice.push((3, 3, 100.0));
    *at(&mut group, "W") = sparse(4, 4, &twice, Storage::Triplets);
    *at(&mut group, "W/nz") = Node::integer(count as i32);
    let loaded = load(&file_of("fclib_local", group));
    assert_eq!(reduced(&loaded).as_dense().unwrap().data(), W.as_flattened());
}

#[test]
fn a_sparse_matrix_stays_sparse() {
    // Five contacts in space, the first and the last coupled: 7 of 25 blocks.
    let mut w: Vec<_> = (0..15).map(|i| (i, i, 1.0 + i as f64)).collect();
    w.extend([(0, 14, 0.5), (12, 1, -0.25)]);
    let vectors = Node::group([("q", Node::Floats(vec![-1.0; 15])), ("mu", Node::Floats(vec![0.2; 5]))]);
    let group = Node::group([
        ("spacedim", Node::integer(3)),
        ("W", sparse(15, 15, &w, Storage::Columns)),
        ("vectors", vectors),
    ]);
    let loaded = load(&file_of("fclib_local", group));
    let p = reduced(&loaded);
    assert!(p.as_dense().is_none());
    assert_eq!(loaded.title, None);
    let a = rows(p);
    for i in 0..15 {
        for j in 0..15 {
            let expected = w.iter().find(|e| (e.0, e.1) == (i, j)).map_or(0.0, |e| e.2);
            assert_eq!(a[i][j], expected, "({i}, {j})");
        }
    }
}

/// The local sample with two equalities, V = [1 2; 3 4; 5 6; 7 8], R = [9 10; 11 12], s = (13, 14).
fn with_equalities() -> Node {
    let mut group = local(Storage::Rows);
    let v = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]];
    if let Node::Group(members) = &mut group {
        members.push(("V".into(), sparse(4, 2, &entries(&v), Storage::Triplets)));
        members.push(("R".into(), sparse(2, 2, &entries(&[[9.0, 10.0], [11.0, 12.0]]), Storage::Columns)));
    }
    if let Node::Group(members) = at(&mut group, "vectors") {
        members.push(("s".into(), Node::Floats(vec![13.0, 14.0])));
    }
    group
}

#[test]
fn equalities_of_the_local_form_become_free_rows() {
    let mut group = with_equalities();
    let loaded = load(&file_of("fclib_local", group.clone()));
    let p = reduced(&loaded);
    assert_eq!((loaded.contacts, p.size(), p.blocks().len()), (2, 6, 4));
    assert_eq!(p.blocks()[3].set, Set::Free { dim: 1 });
    assert_eq!(p.b()[4..], [13.0, 14.0]);
    let a = p.as_dense().unwrap();
    assert_eq!(a.row(1), [0.75, 3.0, 0.125, 1.5, 3.0, 4.0]);
    assert_eq!(a.row(4), [1.0, 3.0, 5.0, 7.0, 9.0, 10.0]);
    assert_eq!(a.row(5), [2.0, 4.0, 6.0, 8.0, 11.0, 12.0]);
    // R may be left out: it is zero then.
    remove(&mut group, "R");
    let loaded = load(&file_of("fclib_local", group.clone()));
    assert_eq!(reduced(&loaded).as_dense().unwrap().row(5), [2.0, 4.0, 6.0, 8.0, 0.0, 0.0]);
    remove(&mut group, "vectors/s");
    assert_eq!(error(&file_of("fclib_local", group)), "/fclib_local/vectors/s: missing");
}

#[test]
fn the_global_form_becomes_a_full_problem() {
    let loaded = load(&file_of("fclib_global", global(false)));
    assert_eq!((loaded.kind, loaded.contacts, loaded.rows()), (ProblemKind::Friction3d, 1, 3));
    let mut p = full(&loaded);
    assert_eq!(p.coupling().dofs(0), [0, 1, 2]);
    let p = p.reduce().unwrap();
    // H = diag(1, 1, −1), M⁻¹ = [1/2 −1/8 0; 0 1/4 0; 0 0 1/8], M⁻¹ f = (1/2, 1, 1).
    assert_eq!(rows(p), [[0.5, -0.125, 0.0], [0.0, 0.25, 0.0], [0.0, 0.0, 0.125]]);
    assert_eq!(p.b(), [-2.5, 1.5, -0.75]);
    assert_eq!(p.blocks()[0].set, Set::Coulomb { dim: 2, mu: 0.3 });
}

#[test]
fn equalities_of_the_global_form_become_free_blocks() {
    let loaded = load(&file_of("fclib_global", global(true)));
    assert_eq!((loaded.contacts, loaded.rows()), (1, 4));
    let mut p = full(&loaded);
    assert_eq!((&p.blocks()[1].set, p.coupling().dofs(1)), (&Set::Free { dim: 1 }, &[2][..]));
    let p = p.reduce().unwrap();
    assert_eq!(rows(p)[2..], [[0.0, 0.0, 0.125, -0.25], [0.0, 0.0, -0.25, 0.5]]);
    assert_eq!(p.b()[3], 2.125);
}

#[test]
fn the_first_guess_comes_before_the_solution() {
    let group = |r: [f64; 4], l: Option<[f64; 2]>| {
        let mut members = vec![("r".to_owned(), Node::Floats(r.to_vec()))];
        members.extend(l.map(|l| ("l".to_owned(), Node::Floats(l.to_vec()))));
        Node::Group(members)
    };
    let guesses = Node::group([
        ("number_of_guesses", Node::integer(2)),
        ("1", group([1.0, 0.25, 3.0, 0.5], Some([0.1, 0.2]))),
        ("2", group([9.0; 4], None)),
    ]);
    let problem = ("fclib_local".to_owned(), with_equalities());
    let solution = ("solution".to_owned(), group([5.0, 0.0, 6.0, 0.0], None));
    let only = load(&file(&[problem.clone(), solution.clone()]));
    // Without λ, zeros stand for it.
    assert_eq!(only.guess.as_deref(), Some(&[5.0, 0.0, 6.0, 0.0, 0.0, 0.0][..]));
    let both = load(&file(&[problem.clone(), solution.clone(), ("guesses".to_owned(), guesses)]));
    assert_eq!(both.guess.as_deref(), Some(&[1.0, 0.25, 3.0, 0.5, 0.1, 0.2][..]));
    // None in the group of guesses.
    let empty = Node::group([("number_of_guesses", Node::integer(0))]);
    let none = load(&file(&[problem.clone(), solution, ("guesses".to_owned(), empty)]));
    assert_eq!(none.guess, only.guess);
    let short = ("solution".to_owned(), Node::group([("r", Node::Floats(vec![1.0; 3]))]));
    assert_eq!(error(&file(&[problem, short])), "/solution/r: has 3 entries, expected 4");
}

/// The message about the local sample with one node replaced.
fn wrong(storage: Storage, path: &str, node: Node) -> String {
    let mut group = local(storage);
    *at(&mut group, path) = node;
    error(&file_of("fclib_local", group))
}

#[test]
fn wrong_fields_are_named_by_path() {
    use Storage::{Columns, Rows, Triplets};
    let nan = |at: usize, n: usize| {
        let mut v = vec![1.0; n];
        v[at] = f64::NAN;
        Node::Floats(v)
    };
    let mut index = vec![0; 16];
    index[7] = 4;
    let integers = Node::Integers;
    let cases = [
        (wrong(Rows, "spacedim", Node::integer(4)), "/fclib_local/spacedim: entry 0 is 4, expected 2 to 3"),
        (wrong(Rows, "spacedim", integers(vec![2, 2])), "/fclib_local/spacedim: has 2 entries, expected 1"),
        (wrong(Rows, "spacedim", Node::integer(3)), "/fclib_local/vectors/q: has 4 entries, expected 6"),
        (
            wrong(Rows, "spacedim", Node::Floats(vec![2.0])),
            "/fclib_local/spacedim: expected integers, found \"doubles\"",
        ),
        (
            wrong(Rows, "vectors/q", integers(vec![2; 4])),
            "/fclib_local/vectors/q: expected doubles, found \"integers\"",
        ),
        (wrong(Rows, "info/title", Node::integer(1)), "/fclib_local/info/title: expected a string, found \"integers\""),
        (wrong(Rows, "W", Node::integer(1)), "/fclib_local/W: damaged file: not a group"),
        (wrong(Rows, "W/m", Node::Group(vec![])), "/fclib_local/W/m: damaged file: not a dataset"),
        (wrong(Rows, "vectors/q", nan(2, 4)), "/fclib_local/vectors/q: entry 2 is not finite (NaN)"),
        (wrong(Rows, "W/x", nan(15, 16)), "/fclib_local/W/x: entry 15 is not finite (NaN)"),
        (
            wrong(Rows, "vectors/mu", Node::Floats(vec![0.1, -0.5])),
            "/fclib_local/vectors/mu: entry 1 is -0.5, expected a friction coefficient >= 0",
        ),
        (wrong(Rows, "W/m", Node::integer(3)), "/fclib_local/W/m: entry 0 is 3, expected 4"),
        (wrong(Rows, "W/n", Node::integer(-4)), "/fclib_local/W/n: entry 0 is -4, expected 4"),
        (
            wrong(Rows, "W/nz", Node::integer(-3)),
            "/fclib_local/W/nz: entry 0 is -3, expected -1 (compressed columns), -2 (compressed rows) or the number \
             of triplets",
        ),
        (wrong(Triplets, "W/nz", Node::integer(17)), "/fclib_local/W/p: has 16 entries, expected 17"),
        (wrong(Triplets, "W/p", integers(index.clone())), "/fclib_local/W/p: entry 7 is 4, expected an index below 4"),
        (wrong(Columns, "W/i", integers(index)), "/fclib_local/W/i: entry 7 is 4, expected an index below 4"),
        (wrong(Rows, "W/p", integers(vec![0, 4, 8, 16])), "/fclib_local/W/p: has 4 entries, expected 5"),
        (wrong(Rows, "W/p", integers(vec![1, 4, 8, 12, 16])), "/fclib_local/W/p: entry 0 is 1, expected 0"),
        (wrong(Rows, "W/p", integers(vec![0, 4, 3, 12, 16])), "/fclib_local/W/p: entry 2 is 3, expected 4 to 16"),
        (wrong(Rows, "W/p", integers(vec![0, 4, 8, 12, 17])), "/fclib_local/W/i: has 16 entries, expected 17"),
        (wrong(Rows, "W/p", integers(vec![0, 4, 8, 12, -1])), "/fclib_local/W/p: entry 4 is -1, expected 0 or more"),
        (wrong(Rows, "W/x", Node::Floats(vec![1.0; 15])), "/fclib_local/W/x: has 15 entries, expected 16"),
        (wrong(Rows, "W/x", Node::Floats(vec![])), "/fclib_local/W/x: has 0 entries, expected 16"),
    ];
    for (found, expected) in cases {
        assert_eq!(found, expected);
    }
}

#[test]
fn missing_fields_are_named_by_path() {
    for path in ["spacedim", "W", "vectors", "vectors/mu", "vectors/q", "W/m", "W/n", "W/nz", "W/p", "W/i", "W/x"] {
        let mut group = local(Storage::Rows);
        remove(&mut group, path);
        assert_eq!(error(&file_of("fclib_local", group)), format!("/fclib_local/{path}: missing"));
    }
    for path in ["M", "H", "vectors/f", "vectors/w", "vectors/b", "G"] {
        let mut group = global(true);
        remove(&mut group, path);
        assert_eq!(error(&file_of("fclib_global", group)), format!("/fclib_global/{path}: missing"));
    }
    let other = file(&[("a".into(), Node::integer(1)), ("b".into(), Node::Group(vec![]))]);
    assert_eq!(error(&other), "/: expected fclib_local or fclib_global, found \"a, b\"");
}

#[test]
fn sums_that_overflow_are_refused() {
    let big = [(0, 0, 1e308), (0, 0, 1e308), (1, 1, 1.0)];
    let mut group = local(Storage::Triplets);
    *at(&mut group, "W") = sparse(4, 4, &big, Storage::Triplets);
    assert_eq!(error(&file_of("fclib_local", group)), "A[0] is not finite");
    for (matrix, message) in [("M", "a row of M[0] is not finite"), ("H", "a block of W[0] is not finite")] {
        let mut group = global(false);
        *at(&mut group, matrix) = sparse(3, 3, &big, Storage::Triplets);
        assert_eq!(error(&file_of("fclib_global", group)), message);
    }
}
