//! A few walks of fixed seeds beside every scene, and the tools of the walks themselves.

use nonsmooth_neighbours::campaign;
use nonsmooth_neighbours::catalogue::SCENES;
use nonsmooth_neighbours::draw::{self, Domain, SCHEMES};
use nonsmooth_neighbours::judge::{Limits, Verdict, judge, measures, vanishes};
use nonsmooth_neighbours::measure::Measure;
use nonsmooth_neighbours::motion::Budget;
use nonsmooth_neighbours::walk::{Change, Question, Walk};
use nonsmooth_neighbours::write;
use nonsmooth_scene::file::{Document, Node, Value};

const LIMITS: Limits = Limits { budget: Budget { calls: 20_000, iterations: 100_000 }, bits: false, coarsest: 0.0 };

fn domain(seed: u64, questions: &[Question]) -> Domain {
    let schemes = SCHEMES.iter().map(|s| (*s).to_string()).collect();
    Domain { seed, schemes, scenes: Vec::new(), questions: questions.to_vec(), steps: 100 }
}

fn walk(question: Question, entry: &'static str, scheme: &str, step: f64, steps: usize) -> Walk {
    Walk {
        label: "test".into(),
        question,
        entry,
        scheme: scheme.into(),
        options: Vec::new(),
        changes: Vec::new(),
        other: Vec::new(),
        step,
        steps,
    }
}

/// The invariants that a walk breaks.
fn broken(walk: &Walk) -> Vec<&'static str> {
    match judge(walk, &LIMITS) {
        Verdict::Failed(list) => list.iter().map(|f| f.name).collect(),
        other => panic!("{}: {other:?}", campaign::describe(walk)),
    }
}

/// Draws walks and shows those that fail, with what repeats them.
fn pass(domain: &Domain, count: u64) {
    let verdicts = campaign::run(domain, &LIMITS, 0, count, 2);
    println!("{}", campaign::table(&verdicts));
    let failed: Vec<String> = verdicts
        .iter()
        .filter_map(|(w, v)| match v {
            Verdict::Failed(list) => Some(format!("{} {}: {}", w.label, campaign::describe(w), list[0])),
            _ => None,
        })
        .collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    let passed: usize = campaign::counts(&verdicts).iter().map(|(_, c)| c.passed).sum();
    assert!(passed * 10 >= 7 * count as usize, "most walks are judged, not refused");
}

#[test]
fn walks_keep_the_invariants_of_a_single_run() {
    pass(&domain(11, &[Question::Alone]), 80);
}

#[test]
fn twins_agree() {
    let twins = [Question::Units, Question::Turned, Question::Shifted, Question::Doubled, Question::Coordinates];
    pass(&domain(12, &twins), 50);
}

#[test]
fn schemes_agree() {
    pass(&domain(13, &[Question::Agreement]), 20);
}

#[test]
fn the_same_seed_draws_the_same_walks() {
    let domain = domain(5, &Question::ALL);
    assert!((0..40).all(|k| draw::walk(&domain, k) == draw::walk(&domain, k)));
    assert_ne!(draw::walk(&domain, 0), draw::walk(&domain, 1));
}

#[test]
fn every_scene_is_valid_and_runs() {
    for entry in SCENES {
        let mut w = walk(Question::Alone, entry.name, "moreau-jean", entry.facts.tau * 1e-2, 5);
        w.label = entry.name.into();
        assert_eq!(judge(&w, &LIMITS), Verdict::Passed, "{}", entry.name);
    }
}

/// A node without the places where things were written.
fn bare(node: &Node) -> String {
    match &node.value {
        Value::Table(entries) => {
            let mut list: Vec<String> = entries.iter().map(|e| format!("{}={}", e.key, bare(&e.node))).collect();
            list.sort();
            format!("{{{}}}", list.join(","))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(bare).collect::<Vec<_>>().join(",")),
        other => format!("{other:?}"),
    }
}

#[test]
fn a_written_scene_is_the_scene() {
    for entry in SCENES {
        let document = entry.document().unwrap();
        let text = write::scene(&document, &["a comment\nof two lines".into()]);
        let again = Document::parse("again", &text).unwrap();
        assert_eq!(bare(&again.root), bare(&document.root), "{}", entry.name);
    }
}

#[test]
fn errors_of_order_one_do_not_pass_for_order_two() {
    // Directions at the end of the step, as (18a) is printed: the joint takes energy to first order.
    let mut w = walk(Question::Alone, "pendulum", "moreau-jean", 5e-3, 200);
    w.options = vec![("directions".into(), "end".into())];
    let of = |factor| {
        let all = measures(&w.refined(factor), &LIMITS).unwrap();
        all.into_iter().find(|m| m.name == "joints work").unwrap()
    };
    let (coarse, fine) = (of(1), of(4));
    assert!(vanishes(&coarse, &fine), "{coarse:?} {fine:?}");
    assert!(!vanishes(&coarse, &Measure { order: 2, bound: 0.0, ..fine }));
    w.options.clear();
    assert_eq!(judge(&w, &LIMITS), Verdict::Passed);
}

#[test]
fn a_number_without_its_unit_is_found() {
    let mut w = walk(Question::Units, "drop", "moreau-jean", 4e-3, 100);
    w.other = vec![("metre".into(), 4.0), ("kilogram".into(), 0.25), ("second".into(), 0.5)];
    assert_eq!(judge(&w, &LIMITS), Verdict::Passed);
    w.changes = vec![Change::Set("parameters.g".into(), "9.81".into())];
    assert_eq!(broken(&w), ["other units, other motion"]);
}

#[test]
fn a_force_that_drives_is_found_where_it_is_called_passive() {
    let mut w = walk(Question::Alone, "top", "moreau-jean", 1e-3, 500);
    assert_eq!(judge(&w, &LIMITS), Verdict::Passed);
    let moments = "[\"(J_2 - J_3)*b'*c' + 0.1*a'\", \"(J_3 - J_1)*c'*a'\", \"(J_1 - J_2)*a'*b'\"]";
    w.changes = vec![Change::Set("force.gyroscopic_moment.value".into(), moments.into())];
    assert!(broken(&w).contains(&"passive forces drive"));
}
