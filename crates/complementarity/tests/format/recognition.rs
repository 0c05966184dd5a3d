//! The kind is told from the content.

use super::samples::{FRICTION_BLOCKS, FRICTION_COLUMNS, FRICTION_DENSE, LCP, MLCP, Storage, file_of, global, local};
use super::{error, full, load, read_anything, reduced};
use complementarity::format::{FormatError, ProblemKind, ProblemSummary, read};
use complementarity::linear::Pattern;
use complementarity::{FullProblem, Set};

/// A full problem of two unknowns.
fn json_full(guess: &[f64]) -> String {
    let mut p = FullProblem::new(&Pattern::new(2));
    p.matrix.add(0, 0, 2.0);
    p.matrix.add(1, 1, 4.0);
    p.f = vec![1.0, 2.0];
    p.push_block(Set::NonNegative, &[1], &[0.5]).copy_from_slice(&[3.0]);
    p.to_json(&[], guess)
}

#[test]
fn names_of_kinds_are_read_back() {
    for kind in ProblemKind::ALL {
        assert_eq!(kind.to_string().parse::<ProblemKind>().unwrap(), kind);
    }
    let unknown = "LCP".parse::<ProblemKind>().unwrap_err();
    assert_eq!(
        unknown.to_string(),
        "unknown kind \"LCP\", expected one of friction2d, friction3d, lcp, mlcp, reduced, full"
    );
}

#[test]
fn every_format_is_told_from_its_content() {
    let json = reduced(&load(LCP.as_bytes())).to_json();
    for (bytes, kind) in [
        (file_of("fclib_local", local(Storage::Rows)), ProblemKind::Friction2d),
        (file_of("fclib_global", global(false)), ProblemKind::Friction3d),
        (FRICTION_DENSE.into(), ProblemKind::Friction2d),
        (FRICTION_BLOCKS.into(), ProblemKind::Friction2d),
        (FRICTION_COLUMNS.into(), ProblemKind::Friction2d),
        (LCP.into(), ProblemKind::Lcp),
        (MLCP.into(), ProblemKind::Mlcp),
        (format!("\n  {json}").into(), ProblemKind::Reduced),
        (json_full(&[]).into(), ProblemKind::Full),
    ] {
        assert_eq!(load(&bytes).kind, kind);
        assert_eq!(read(&bytes, Some(kind)).unwrap().kind, kind);
        // No other kind can be forced on it.
        for other in ProblemKind::ALL.into_iter().filter(|k| *k != kind) {
            assert!(read(&bytes, Some(other)).is_err(), "{kind} read as {other}");
        }
    }
}

#[test]
fn json_problems_come_back_with_their_guess() {
    let text = json_full(&[0.25]);
    let loaded = load(text.as_bytes());
    assert_eq!(loaded.guess.as_deref(), Some(&[0.25][..]));
    assert_eq!((loaded.contacts, loaded.rows()), (1, 1));
    assert_eq!(full(&loaded).to_json(&[], &[0.25]), text);
    // None was saved.
    assert_eq!(load(json_full(&[]).as_bytes()).guess, None);
    let first = load(FRICTION_DENSE.as_bytes());
    let again = load(reduced(&first).to_json().as_bytes());
    assert_eq!(reduced(&again), reduced(&first));
}

#[test]
fn a_kind_that_the_file_does_not_hold_is_refused() {
    let h5 = file_of("fclib_local", local(Storage::Rows));
    for (bytes, wanted, expected) in [
        (&h5[..], ProblemKind::Lcp, "the file holds an HDF5 file (friction2d or friction3d), but lcp was asked for"),
        (&h5, ProblemKind::Friction3d, "the file holds friction2d, but friction3d was asked for"),
        (json_full(&[]).as_bytes(), ProblemKind::Reduced, "the file holds full, but reduced was asked for"),
        (json_full(&[]).as_bytes(), ProblemKind::Mlcp, "the file holds JSON (reduced or full), but mlcp was asked for"),
        (LCP.as_bytes(), ProblemKind::Friction3d, "line 1: dimension: expected 3, found \"2\""),
    ] {
        assert_eq!(read(bytes, Some(wanted)).map(|l| l.kind).unwrap_err().to_string(), expected);
    }
    assert!(matches!(read(LCP.as_bytes(), Some(ProblemKind::Full)), Err(FormatError::Json(_))));
}

#[test]
fn what_is_no_problem_says_why_for_every_format() {
    assert_eq!(error(b""), "the file is empty");
    assert_eq!(
        error(b"[solver]\nname = \"auto\"\n"),
        "not a problem in any known format (HDF5, JSON or text)\
         \n  as friction2d: line 1: dimension: expected 2, found \"[solver]\"\
         \n  as friction3d: line 1: dimension: expected 3, found \"[solver]\"\
         \n  as lcp: line 1: size n: expected a whole number from 1, found \"[solver]\"\
         \n  as mlcp: line 1: storage flag of M: expected a whole number from 0 to 1, found \"[solver]\""
    );
    assert!(error(b"   \n").contains("as lcp: line 2: size n: missing"));
    assert!(error(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x01\0").contains("as lcp: line 1: size n: expected"));
    assert_eq!(
        error(b"{\"format\": \"scene 3\"}"),
        "JSON without a problem: format is \"scene 3\", expected \"nonsmooth reduced problem 1\" or \
         \"nonsmooth full problem 1\""
    );
    assert!(error(b"{\"a\": 1}").contains("missing field `format`"));
    assert!(error(b"{\"format\": \"nonsmooth reduced problem 1\"}").contains("missing field `sets`"));
    assert!(error(b"{\xff}").starts_with("JSON without a problem: invalid utf-8"));
}

#[test]
fn every_beginning_of_a_text_file_is_read_or_refused() {
    let json = reduced(&load(LCP.as_bytes())).to_json();
    for (text, last) in [
        // From here on a beginning is a whole problem: the last number may be shorter, the flag or remark missing.
        (FRICTION_DENSE, FRICTION_DENSE.find("0.7\n1").unwrap() + 1),
        (FRICTION_BLOCKS, FRICTION_BLOCKS.find(" .7\n").unwrap() + 3),
        (FRICTION_COLUMNS, FRICTION_COLUMNS.len() - 3),
        (LCP, LCP.find("-5").unwrap() + 2),
        (MLCP, MLCP.find("-3\n0 3").unwrap() + 1),
        (&json, json.len()),
    ] {
        for length in 0..text.len() {
            let result = read_anything(&text.as_bytes()[..length]);
            if length < last {
                assert!(result.is_err(), "{length} bytes of {text:?}");
            }
        }
    }
}

#[test]
fn sizes_that_no_file_can_hold_are_refused_without_memory() {
    let huge = "999999999999999999";
    for text in [
        format!("2 {huge} 0"),
        format!("{huge} 0 {huge} {huge} {huge} {huge} 1 2 3"),
        format!("3 {huge} 1 2999999999999999997 2999999999999999997 {huge} {huge} {huge} 3"),
        format!("{huge} 1 {huge} {huge} 1 1 1 {huge} {huge} 2 1 0 1 0 0 1.5"),
        format!("4 1 4 4 {huge} 1 1 4 4 2 {huge} 0 {huge} 0"),
        format!("{huge} 2 {huge} {huge} 2 CSparse\n{huge}-by-{huge}, nzmax: 1 nnz: {huge}, 1-norm: 1\ncol"),
        format!("1 1 {huge} {huge} 0 {huge}"),
        format!("0 1 {huge} 0 1 2 3"),
        format!("2 {}", "9".repeat(400)),
        "{\"format\":\"nonsmooth full problem 1\",\"unknowns\":99999999,\"matrix\":[],\"f\":[],\"blocks\":[]}".into(),
    ] {
        assert!(read_anything(text.as_bytes()).is_err(), "{text}");
    }
    assert_eq!(
        read(format!("4 1 4 4 {huge} 1 1 4 4 2 {huge} 0 {huge} 0 1").as_bytes(), Some(ProblemKind::Lcp))
            .map(|l| l.kind)
            .unwrap_err()
            .to_string(),
        format!("line 1: block columns of M: needs {huge} numbers, but the file has only 2 left")
    );
}

#[test]
fn a_summary_tells_size_filling_and_asymmetry() {
    let s = ProblemSummary::of(reduced(&load(FRICTION_DENSE.as_bytes())));
    assert_eq!((s.rows, s.blocks, s.filled, s.largest, s.mu), (4, 2, 4, 6.0, Some((0.5, 0.7))));
    // −1 against −2.
    assert_eq!(s.asymmetry, 1.0 / 6.0);
    assert!((s.b_norm - 5.25_f64.sqrt()).abs() < 1e-15);

    // Five contacts by blocks, the first coupled with the last but not the last with the first.
    let by_blocks = |diagonal: &str, coupling: &str| {
        let mut text = String::from("2 5 1 10 10 6 5 5 2 4 6 8 10 2 4 6 8 10 6 6 0 2 3 4 5 6 0 4 1 2 3 4");
        for k in 0..6 {
            text += &format!(" {k} {}", if k == 1 { coupling } else { diagonal });
        }
        text += " 1 0 1 0 1 0 1 0 1 0  0 0 0 0 0";
        ProblemSummary::of(reduced(&load(text.as_bytes())))
    };
    let s = by_blocks("0 0 0 2", "-4 0 0 2");
    assert_eq!((s.filled, s.largest, s.asymmetry, s.mu), (6, 4.0, 1.0, Some((0.0, 0.0))));
    // Within the blocks.
    let s = by_blocks("2 1 0 2", "0 0 0 0");
    assert_eq!((s.filled, s.largest, s.asymmetry), (5, 2.0, 0.5));
    let lcp = ProblemSummary::of(reduced(&load(LCP.as_bytes())));
    assert_eq!((lcp.mu, lcp.filled, lcp.asymmetry), (None, 4, 0.25));
}
