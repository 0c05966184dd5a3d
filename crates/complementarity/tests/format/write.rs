//! FCLIB files that are written here are read back to the bit, and what has no FCLIB form is refused.

use super::samples::{MU, Q, W, global};
use super::{full, load, reduced};
use complementarity::format::ProblemKind;
use complementarity::format::write_fclib::{self, About, WriteError};
use complementarity::linear::{Dense, Pattern};
use complementarity::{FullProblem, Problem, Set};

/// Numbers that lose bits in careless hands.
const AWKWARD: [f64; 7] =
    [0.1 + 0.2, 1.0 / 3.0, -0.0, 5e-324, 1.7976931348623157e308, -9007199254740993.0, -1.0000000000000002];

fn awkward(n: usize) -> Vec<f64> {
    (0..n).map(|k| AWKWARD[k % 7] * if k % 3 == 0 { -1.0 } else { 1.0 }).collect()
}

fn dense(sets: Vec<Set>) -> Problem {
    let n: usize = sets.iter().map(Set::dim).sum();
    let mut a = Dense::from_rows(n, n, awkward(n * n)).unwrap();
    // The format keeps V only: the coupling of equalities is symmetric.
    for i in 0..n {
        for j in 0..i {
            a[(i, j)] = a[(j, i)];
        }
    }
    Problem::dense(sets, a, awkward(n)).unwrap()
}

fn contact(dim: usize, mu: f64) -> Set {
    Set::Coulomb { dim, mu }
}

#[test]
fn a_dense_problem_comes_back_to_the_bit() {
    for dim in [1, 2] {
        let p = dense(vec![contact(dim, 0.1 + 0.2), contact(dim, 0.0), contact(dim, 1.0 / 3.0)]);
        let guess = awkward(p.size());
        let about = About { title: "Größe", description: "two\nlines", guess: Some(&guess) };
        let loaded = load(&write_fclib::local(&p, about).unwrap());
        assert_eq!(loaded.kind, if dim == 1 { ProblemKind::Friction2d } else { ProblemKind::Friction3d });
        assert_eq!(reduced(&loaded).to_json(), p.to_json());
        assert_eq!(loaded.title.as_deref(), Some("Größe"));
        assert_eq!(loaded.description.as_deref(), Some("two\nlines"));
        let bits = |v: &[f64]| v.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&loaded.guess.unwrap()), bits(&guess));
    }
}

#[test]
fn rows_and_columns_are_not_mixed_up() {
    let a = Dense::from_rows(4, 4, W.as_flattened().to_vec()).unwrap();
    let p = Problem::dense(MU.map(|mu| contact(1, mu)).to_vec(), a, Q.to_vec()).unwrap();
    let loaded = load(&write_fclib::local(&p, About::default()).unwrap());
    assert_eq!(reduced(&loaded), &p);
    assert_eq!((loaded.title, loaded.description, loaded.guess), (None, None, None));
}

/// A chain of contacts in space, coupled with their neighbours, in JSON form.
fn chain(contacts: usize) -> Problem {
    let mut blocks = Vec::new();
    for i in 0..contacts {
        for j in i.saturating_sub(1)..(i + 2).min(contacts) {
            let values: Vec<String> = awkward(9 + i + j)[i + j..].iter().map(|v| format!("{v:?}")).collect();
            blocks.push(format!("{{\"row\":{i},\"column\":{j},\"values\":[{}]}}", values.join(",")));
        }
    }
    let sets = vec!["{\"coulomb\":{\"dim\":2,\"mu\":0.5}}"; contacts].join(",");
    let b = vec!["-0.1"; 3 * contacts].join(",");
    let blocks = blocks.join(",");
    let text =
        format!("{{\"format\":\"nonsmooth reduced problem 1\",\"sets\":[{sets}],\"blocks\":[{blocks}],\"b\":[{b}]}}");
    Problem::from_json(&text).unwrap()
}

#[test]
fn a_problem_by_blocks_comes_back_by_blocks() {
    let p = chain(20);
    assert!(p.as_dense().is_none());
    let loaded = load(&write_fclib::local(&p, About::default()).unwrap());
    assert_eq!(reduced(&loaded), &p);
    assert_eq!(reduced(&loaded).to_json(), p.to_json());
}

#[test]
fn equalities_come_back_as_free_rows() {
    let free = Set::Free { dim: 1 };
    let p = dense(vec![contact(2, 0.5), contact(2, 0.25), free.clone(), free]);
    let guess = awkward(8);
    let about = About { guess: Some(&guess), ..About::default() };
    let loaded = load(&write_fclib::local(&p, about).unwrap());
    assert_eq!(reduced(&loaded).to_json(), p.to_json());
    assert_eq!(loaded.guess.as_deref(), Some(&guess[..]));
    // One block of two rows comes back as two of one.
    let wide = dense(vec![contact(2, 0.5), contact(2, 0.25), Set::Free { dim: 2 }]);
    let loaded = load(&write_fclib::local(&wide, About::default()).unwrap());
    assert_eq!(reduced(&loaded).to_json(), p.to_json());
}

/// Bodies of two coupled unknowns; contacts between neighbours, then two equalities.
fn bodies() -> FullProblem {
    let n = 40;
    let mut pattern = Pattern::new(n);
    for i in 0..n / 2 {
        pattern.couple(&[2 * i, 2 * i + 1]);
    }
    let mut p = FullProblem::new(&pattern);
    for i in 0..n {
        p.matrix.add(i, i, 2.0 + i as f64 / 3.0);
        p.matrix.add(i, i ^ 1, 0.1 * i as f64);
    }
    p.f = awkward(n).iter().map(|v| v % 10.0).collect();
    for k in 0..8_u32 {
        let values = awkward(12 + k as usize)[k as usize..].to_vec();
        p.push_block(contact(2, 0.1 * f64::from(k)), &[k, k + 1, k + 9, k + 30], &awkward(3)).copy_from_slice(&values);
    }
    for k in 0..2 {
        p.push_block(Set::Free { dim: 1 }, &[5 + k, 20], &[0.1]).copy_from_slice(&[-0.0, 1.0 / 3.0]);
    }
    p
}

#[test]
fn a_full_problem_comes_back_to_the_bit() {
    let p = bodies();
    let guess = awkward(26);
    let about = About { title: "bodies", description: "", guess: Some(&guess) };
    let loaded = load(&write_fclib::global(&p, about).unwrap());
    assert_eq!((loaded.kind, loaded.contacts, loaded.title.as_deref()), (ProblemKind::Friction3d, 8, Some("bodies")));
    let back = full(&loaded);
    assert_eq!(back.matrix.kernel_name(), "block-diagonal");
    assert_eq!(back.to_json(&[], &guess), p.to_json(&[], &guess));
    assert_eq!(loaded.guess.as_deref(), Some(&guess[..]));
    // The sample of the readers as well.
    let sample = full(&load(&super::samples::file_of("fclib_global", global(true))));
    let again = full(&load(&write_fclib::global(&sample, About::default()).unwrap()));
    assert_eq!(again.to_json(&[], &[]), sample.to_json(&[], &[]));
}

#[test]
fn a_reduced_problem_by_its_factor_is_written_by_its_entries() {
    // A diagonal kernel keeps A = GᵀG by G.
    let mut p = FullProblem::new(&Pattern::new(40));
    for i in 0..40 {
        p.matrix.add(i, i, 1.0 + i as f64);
    }
    for k in 0..10_u32 {
        p.push_block(contact(1, 0.5), &[k, k + 1], &[-1.0, 0.5]).copy_from_slice(&[1.0, -0.5, 0.25, 2.0]);
    }
    let a = p.reduce().unwrap();
    assert!(a.as_dense().is_none());
    let loaded = load(&write_fclib::local(a, About::default()).unwrap());
    assert_eq!(reduced(&loaded).to_json(), a.to_json());
}

#[test]
fn what_has_no_fclib_form_is_refused() {
    let write = |p: &Problem| write_fclib::local(p, About::default()).unwrap_err();
    let free = Set::Free { dim: 1 };
    assert_eq!(write(&dense(vec![])), WriteError::NoContact);
    assert_eq!(write(&dense(vec![free.clone()])), WriteError::NoContact);
    assert_eq!(write(&dense(vec![contact(1, 0.5), Set::NonNegative])), WriteError::Set { block: 1 });
    assert_eq!(write(&dense(vec![contact(1, 0.5), free.clone(), contact(1, 0.5)])), WriteError::Set { block: 2 });
    assert_eq!(
        write(&dense(vec![contact(1, 0.5), contact(2, 0.5)])).to_string(),
        "block 1 has 3 components, but the contacts of an FCLIB file have 2"
    );
    assert_eq!(
        write(&dense(vec![contact(3, 0.5)])).to_string(),
        "block 0 has 4 components, but the contacts of an FCLIB file have 2 or 3"
    );
    let mut a = Dense::zeros(3, 3);
    a[(1, 2)] = 1.0;
    let skew = Problem::dense(vec![contact(1, 0.5), free], a, vec![0.0; 3]).unwrap();
    assert_eq!(write(&skew), WriteError::Asymmetric { row: 1, column: 2 });
    let about = About { guess: Some(&[1.0]), ..About::default() };
    let guess = write_fclib::local(&dense(vec![contact(1, 0.5)]), about).unwrap_err();
    assert_eq!(guess, WriteError::Guess { found: 1, expected: 2 });
}
