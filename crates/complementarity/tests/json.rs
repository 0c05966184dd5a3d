//! Problem files: what is written comes back to the bit, and what is no problem is a typed error, never a panic.

use crate::random::{FAMILIES, Random};
use complementarity::linear::{Dense, Pattern};
use complementarity::{FullProblem, Polygon, Problem, ProblemError, Set};
use std::sync::Arc;

/// Numbers that lose bits in careless hands.
const AWKWARD: [f64; 10] = [
    0.1 + 0.2,
    1.0 / 3.0,
    -0.0,
    5e-324,
    2.2250738585072014e-308,
    1.7976931348623157e308,
    -9007199254740993.0,
    1e-17,
    123456789.12345679,
    -1.0000000000000002,
];

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|v| v.to_bits()).collect()
}

/// Five sets, ten rows.
fn sets() -> Vec<Set> {
    vec![
        Set::Free { dim: 2 },
        Set::NonNegative,
        Set::Interval { lower: f64::NEG_INFINITY, upper: 0.1 },
        Set::Coulomb { dim: 2, mu: 1.0 / 3.0 },
        Set::Polyhedral { mu: 0.7, polygon: Arc::new(Polygon::regular(7).unwrap()) },
    ]
}

fn dense_problem() -> Problem {
    let n = 10;
    let entries = (0..n * n).map(|k| AWKWARD[k % AWKWARD.len()] * if k % 3 == 0 { -1.0 } else { 1.0 }).collect();
    Problem::dense(sets(), Dense::from_rows(n, n, entries).unwrap(), AWKWARD.to_vec()).unwrap()
}

/// Bodies of two unknowns each, in the block-diagonal kernel.
fn full_problem() -> FullProblem {
    let n = 40;
    let mut pattern = Pattern::new(n);
    for i in 0..n / 2 {
        pattern.couple(&[i, i + n / 2]);
    }
    let mut p = FullProblem::new(&pattern);
    let mut g = Random::new(1);
    for i in 0..n / 2 {
        for (a, b, v) in [(i, i, 2.0 + 0.1), (i + 20, i + 20, 3.0), (i, i + 20, 1.0 / 3.0), (i + 20, i, -0.1)] {
            p.matrix.add(a, b, v * g.between(0.9, 1.1));
        }
    }
    for (k, f) in p.f.iter_mut().enumerate() {
        *f = AWKWARD[k % AWKWARD.len()] % 1e3;
    }
    for (k, set) in sets().into_iter().enumerate() {
        let dim = set.dim();
        let values = g.vector(dim * 2);
        p.push_block(set, &[k as u32, 39 - k as u32], &vec![AWKWARD[k]; dim]).copy_from_slice(&values);
    }
    p
}

#[test]
fn a_dense_problem_comes_back_to_the_bit() {
    let problem = dense_problem();
    let back = Problem::from_json(&problem.to_json()).unwrap();
    assert_eq!(back, problem);
    assert_eq!(bits(back.as_dense().unwrap().data()), bits(problem.as_dense().unwrap().data()));
    assert_eq!(bits(back.b()), bits(problem.b()));
    for family in FAMILIES {
        for index in 0..5 {
            let problem = family.problem(index).problem;
            let back = Problem::from_json(&problem.to_json()).unwrap();
            assert_eq!(back.blocks(), problem.blocks());
            assert_eq!(bits(back.as_dense().unwrap().data()), bits(problem.as_dense().unwrap().data()));
            assert_eq!(bits(back.b()), bits(problem.b()));
        }
    }
}

#[test]
fn a_block_sparse_problem_comes_back_to_the_bit() {
    let mut full = full_problem();
    let problem = full.reduce().unwrap();
    assert!(problem.as_dense().is_none());
    let text = problem.to_json();
    // The file does not say in which units a residual is measured.
    let back = Problem::from_json(&text).unwrap().measured(problem.measure());
    assert_eq!(&back, problem);
    assert_eq!(bits(back.b()), bits(problem.b()));
    // The text has every digit: equal text, equal bits, zeros' signs included.
    assert_eq!(back.to_json(), text);
    let mut g = Random::new(2);
    let r = g.vector(problem.size());
    let (mut u, mut again) = (vec![0.0; r.len()], vec![0.0; r.len()]);
    problem.velocity(&r, &mut u);
    back.velocity(&r, &mut again);
    assert_eq!(bits(&again), bits(&u));
}

#[test]
fn a_full_problem_comes_back_to_the_bit() {
    let mut problem = full_problem();
    let names: Vec<String> = ["hinge", "stop", "", "sole \"left\"", "µ"].map(String::from).to_vec();
    let guess: Vec<f64> = AWKWARD.to_vec();
    let text = problem.to_json(&names, &guess);
    let (mut back, start) = FullProblem::from_json(&text).unwrap();
    assert_eq!(bits(&start), bits(&guess));
    assert_eq!(bits(&back.f), bits(&problem.f));
    assert_eq!(bits(&back.c), bits(&problem.c));
    assert_eq!(back.blocks(), problem.blocks());
    for i in 0..40 {
        for j in 0..40 {
            assert_eq!(back.matrix.get(i, j).to_bits(), problem.matrix.get(i, j).to_bits());
        }
    }
    for k in 0..problem.blocks().len() {
        assert_eq!(back.coupling().dofs(k), problem.coupling().dofs(k));
        assert_eq!(bits(back.coupling().values(k)), bits(problem.coupling().values(k)));
    }
    assert_eq!(back.to_json(&names, &guess), text);
    assert_eq!(back.matrix.kernel_name(), problem.matrix.kernel_name());
    assert_eq!(back.reduce().unwrap().to_json(), problem.reduce().unwrap().to_json());
    // Without a guess the start is zero.
    let (_, start) = FullProblem::from_json(&problem.to_json(&[], &[])).unwrap();
    assert_eq!(start, vec![0.0; 10]);
}

/// Runs `read` on a bad text; what went wrong if it is not an error.
fn refused<T>(what: &str, text: &str, read: fn(&str) -> Result<T, ProblemError>) -> Option<String> {
    match std::panic::catch_unwind(|| read(text).map(|_| ())) {
        Err(_) => Some(format!("{what}: panics")),
        Ok(Ok(())) => Some(format!("{what}: accepted")),
        Ok(Err(error)) if error.to_string().is_empty() => Some(format!("{what}: says nothing")),
        Ok(Err(_)) => None,
    }
}

fn reduced(sets: &str, matrix: &str, b: &str) -> String {
    format!(r#"{{"format":"nonsmooth reduced problem 1","sets":{sets},{matrix},"b":{b}}}"#)
}

#[test]
fn a_bad_reduced_problem_is_an_error() {
    let one = r#"["non_negative"]"#;
    let two = r#"["non_negative","non_negative"]"#;
    let block = |rows: &str| format!(r#""blocks":[{rows}]"#);
    let diagonal = r#"{"row":0,"column":0,"values":[1]},{"row":1,"column":1,"values":[1]}"#;
    let huge = usize::MAX;
    let cases = vec![
        ("empty text", String::new()),
        ("no object", "[]".into()),
        ("empty object", "{}".into()),
        ("deep nesting", "[".repeat(100_000)),
        ("other format", reduced(one, r#""dense":[1]"#, "[1]").replace("problem 1", "problem 2")),
        ("unknown key", reduced(one, r#""dense":[1],"mass":1"#, "[1]")),
        (
            "unknown key in a set",
            reduced(r#"[{"coulomb":{"dim":1,"mu":0.5,"nu":1}}]"#, r#""dense":[1,0,0,1]"#, "[1,1]"),
        ),
        ("unknown key in a block", reduced(one, &block(r#"{"row":0,"column":0,"values":[1],"x":0}"#), "[1]")),
        ("unknown set", reduced(r#"["sticky"]"#, r#""dense":[1]"#, "[1]")),
        ("matrix twice", reduced(one, r#""dense":[1],"blocks":[]"#, "[1]")),
        ("no matrix", reduced(one, r#""x":0"#, "[1]")),
        ("key twice", reduced(one, r#""dense":[1],"dense":[2]"#, "[1]")),
        ("short matrix", reduced(two, r#""dense":[1,0,0]"#, "[1,1]")),
        ("long matrix", reduced(two, r#""dense":[1,0,0,1,1]"#, "[1,1]")),
        ("short b", reduced(two, r#""dense":[1,0,0,1]"#, "[1]")),
        ("long b", reduced(two, r#""dense":[1,0,0,1]"#, "[1,1,1]")),
        ("NaN", reduced(one, r#""dense":[NaN]"#, "[1]")),
        ("null for a number", reduced(one, r#""dense":[null]"#, "[1]")),
        ("infinite number", reduced(one, r#""dense":[1e999]"#, "[1]")),
        ("infinite b", reduced(one, r#""dense":[1]"#, "[-1e999]")),
        ("negative friction", reduced(r#"[{"coulomb":{"dim":1,"mu":-1}}]"#, r#""dense":[1,0,0,1]"#, "[1,1]")),
        ("empty interval", reduced(r#"[{"interval":{"lower":1,"upper":0}}]"#, r#""dense":[1]"#, "[1]")),
        ("dimension zero", reduced(r#"[{"free":{"dim":0}}]"#, r#""dense":[]"#, "[]")),
        ("dimension seven", reduced(r#"[{"free":{"dim":7}}]"#, r#""dense":[]"#, "[]")),
        ("huge bilateral dimension", reduced(&format!(r#"[{{"free":{{"dim":{huge}}}}}]"#), r#""dense":[]"#, "[]")),
        (
            "two huge bilateral dimensions",
            reduced(&format!(r#"[{{"free":{{"dim":{huge}}}}},{{"free":{{"dim":{huge}}}}}]"#), r#""dense":[]"#, "[]"),
        ),
        (
            "huge friction dimension",
            reduced(&format!(r#"[{{"coulomb":{{"dim":{huge},"mu":1}}}}]"#), r#""dense":[]"#, "[]"),
        ),
        (
            "huge dimensions, block-sparse",
            reduced(
                &format!(r#"[{{"free":{{"dim":{huge}}}}},{{"free":{{"dim":{huge}}}}}]"#),
                &block(r#"{"row":0,"column":1,"values":[1]}"#),
                "[]",
            ),
        ),
        ("huge ball, block-sparse", {
            reduced(
                &format!(r#"[{{"ball":{{"dim":{huge},"radius":1}}}}]"#),
                &block(r#"{"row":0,"column":0,"values":[]}"#),
                "[]",
            )
        }),
        ("no diagonal block", reduced(two, &block(r#"{"row":0,"column":0,"values":[1]}"#), "[1,1]")),
        ("block outside", reduced(two, &block(&format!(r#"{diagonal},{{"row":2,"column":0,"values":[1]}}"#)), "[1,1]")),
        (
            "block far outside",
            reduced(two, &block(&format!(r#"{diagonal},{{"row":0,"column":{huge},"values":[1]}}"#)), "[1,1]"),
        ),
        (
            "negative index",
            reduced(two, &block(&format!(r#"{diagonal},{{"row":-1,"column":0,"values":[1]}}"#)), "[1,1]"),
        ),
        (
            "block of wrong size",
            reduced(two, &block(&format!(r#"{diagonal},{{"row":0,"column":1,"values":[1,2]}}"#)), "[1,1]"),
        ),
        ("block twice", reduced(two, &block(&format!(r#"{diagonal},{{"row":0,"column":0,"values":[2]}}"#)), "[1,1]")),
        ("infinite block", reduced(one, &block(r#"{"row":0,"column":0,"values":[1e999]}"#), "[1]")),
        ("block-sparse, short b", reduced(two, &block(diagonal), "[1]")),
    ];
    let wrong: Vec<String> = cases.iter().filter_map(|(what, text)| refused(what, text, Problem::from_json)).collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
    // The texts above are bad for the reason stated: their neighbours are good.
    for good in [
        reduced(two, r#""dense":[1,0,0,1]"#, "[1,1]"),
        reduced(two, &block(diagonal), "[1,1]"),
        reduced("[]", r#""dense":[]"#, "[]"),
        reduced("[]", r#""blocks":[]"#, "[]"),
    ] {
        Problem::from_json(&good).unwrap();
    }
}

fn full(unknowns: &str, matrix: &str, f: &str, blocks: &str, rest: &str) -> String {
    format!(
        r#"{{"format":"nonsmooth full problem 1","unknowns":{unknowns},"matrix":{matrix},"f":{f},"blocks":{blocks}{rest}}}"#
    )
}

#[test]
fn a_bad_full_problem_is_an_error() {
    let (m, f) = ("[[0,0,1],[1,1,2]]", "[1,1]");
    let block = r#"[{"name":"stop","set":"non_negative","dofs":[0,1],"w":[1,-1],"c":[0]}]"#;
    let with = |from: &str, to: &str| full("2", m, f, &block.replace(from, to), "");
    let huge = usize::MAX;
    let cases = vec![
        ("empty text", String::new()),
        ("reduced problem", reduced("[]", r#""dense":[]"#, "[]")),
        ("other format", full("2", m, f, block, "").replace("problem 1", "problem 9")),
        ("unknown key", full("2", m, f, block, r#","dt":0.1"#)),
        ("unknown key in a block", with(r#""c":[0]"#, r#""c":[0],"d":1"#)),
        ("missing key", full("2", m, f, block, "").replace(r#""f":[1,1],"#, "")),
        ("short f", full("2", m, "[1]", block, "")),
        ("long f", full("2", m, "[1,1,1]", block, "")),
        ("huge size", full("99999999", m, f, block, "")),
        ("huge size beyond the limit", full(&huge.to_string(), m, f, block, "")),
        ("negative size", full("-2", m, f, block, "")),
        ("fractional size", full("2.5", m, f, block, "")),
        ("matrix entry outside", full("2", "[[0,2,1]]", f, block, "")),
        ("matrix entry far outside", full("2", &format!("[[{huge},0,1]]"), f, block, "")),
        ("matrix entry of two numbers", full("2", "[[0,0]]", f, block, "")),
        ("matrix entry of four numbers", full("2", "[[0,0,1,1]]", f, block, "")),
        ("NaN in the matrix", full("2", "[[0,0,NaN]]", f, block, "")),
        ("infinity in the matrix", full("2", "[[0,0,1e999]]", f, block, "")),
        ("null in f", full("2", m, "[1,null]", block, "")),
        ("unknown outside", with("[0,1]", "[0,2]")),
        ("unknown far outside", with("[0,1]", &format!("[0,{huge}]"))),
        ("short w", with("[1,-1]", "[1]")),
        ("long w", with("[1,-1]", "[1,-1,1]")),
        ("short c", with(r#""c":[0]"#, r#""c":[]"#)),
        ("infinity in w", with("[1,-1]", "[1,1e999]")),
        ("infinity in c", with(r#""c":[0]"#, r#""c":[1e999]"#)),
        ("bad set", with(r#""non_negative""#, r#"{"coulomb":{"dim":2,"mu":-1}}"#)),
        ("huge set", with(r#""non_negative""#, &format!(r#"{{"coulomb":{{"dim":{huge},"mu":1}}}}"#))),
        ("long guess", full("2", m, f, block, r#","guess":[1,2]"#)),
        ("infinite guess", full("2", m, f, block, r#","guess":[1e999]"#)),
    ];
    let wrong: Vec<String> =
        cases.iter().filter_map(|(what, text)| refused(what, text, FullProblem::from_json)).collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
    FullProblem::from_json(&full("2", m, f, block, "")).unwrap();
    FullProblem::from_json(&full("0", "[]", "[]", "[]", "")).unwrap();
}

#[test]
fn every_truncated_file_is_an_error() {
    let texts = [dense_problem().to_json(), full_problem().reduce().unwrap().to_json()];
    for text in texts {
        // A step that hits all kinds of places, and the last bytes one by one.
        for end in (0..text.len()).step_by(37).chain(text.len().saturating_sub(50)..text.len()) {
            if text.is_char_boundary(end) {
                assert!(matches!(Problem::from_json(&text[..end]), Err(ProblemError::Json(_))), "{end}");
            }
        }
    }
    let text = full_problem().to_json(&[], &[]);
    for end in (0..text.len()).step_by(37).chain(text.len().saturating_sub(50)..text.len()) {
        assert!(matches!(FullProblem::from_json(&text[..end]), Err(ProblemError::Json(_))), "{end}");
    }
}

#[test]
fn no_number_in_a_file_can_make_the_reader_panic() {
    // Every number of a file in turn replaced by others: an error or another problem, which is then solvable or not, but
    // is never a crash of the reader.
    let small = Problem::dense(
        vec![Set::Free { dim: 1 }, Set::Coulomb { dim: 1, mu: 0.5 }],
        Dense::from_rows(3, 3, vec![2.0, 0.0, 0.5, 0.0, 3.0, 0.0, 0.5, 0.0, 2.0]).unwrap(),
        vec![1.0, -1.0, 0.5],
    )
    .unwrap();
    let mut full_text = String::new();
    {
        let mut p = FullProblem::new(&Pattern::new(2));
        p.matrix.add(0, 0, 2.0);
        p.matrix.add(1, 1, 3.0);
        p.f.copy_from_slice(&[1.0, -1.0]);
        p.push_block(Set::Coulomb { dim: 1, mu: 0.5 }, &[0, 1], &[0.0, 0.0]).copy_from_slice(&[1.0, 2.0, 3.0, 4.0]);
        full_text.push_str(&p.to_json(&["a".into()], &[0.5, 0.25]));
    }
    let values = [
        "-1",
        "0",
        "7",
        "1e308",
        "1e999",
        "-1e-320",
        "18446744073709551615",
        "99999999999999999999",
        "null",
        "\"1\"",
        "NaN",
        "[]",
        "{}",
    ];
    let mut panics = Vec::new();
    for (text, is_full) in [(small.to_json(), false), (full_text, true)] {
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            let number = |b: u8| b.is_ascii_digit() || matches!(b, b'.' | b'-' | b'e' | b'E' | b'+');
            // Digits in the format name are text.
            if !bytes[at].is_ascii_digit() && bytes[at] != b'-' || at < 40 {
                at += 1;
                continue;
            }
            let end = (at..bytes.len()).find(|&k| !number(bytes[k])).unwrap_or(bytes.len());
            for value in values {
                let changed = format!("{}{value}{}", &text[..at], &text[end..]);
                let outcome = std::panic::catch_unwind(|| {
                    if is_full { drop(FullProblem::from_json(&changed)) } else { drop(Problem::from_json(&changed)) }
                });
                if outcome.is_err() {
                    panics.push(changed);
                }
            }
            at = end;
        }
    }
    assert!(panics.is_empty(), "{} texts make the reader panic:\n{}", panics.len(), panics.join("\n"));
}
