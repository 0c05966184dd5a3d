//! Formulas: precedence, values against plain Rust, derivatives against differences and dual numbers, errors with their
//! place, and no text whatsoever that makes the reader fall over.

use nonsmooth::contract::Dual;
use nonsmooth_scene::formula::{Affinity, Graph, Id, Lookup, Role, Scope, Slot, Tape, lower, parse};
use proptest::prelude::*;

/// Variables a, b, c are 0, 1, 2.
struct Letters;

impl Scope for Letters {
    fn lookup(&mut self, graph: &mut Graph, name: &str, primes: usize) -> Lookup {
        match (["a", "b", "c"].iter().position(|n| *n == name), primes) {
            (Some(i), 0) => Lookup::Found(graph.variable(i as u32)),
            _ => Lookup::Unknown(None),
        }
    }
}

fn node(graph: &mut Graph, text: &str) -> Id {
    let tree = parse(text).unwrap_or_else(|e| panic!("{text}: {e} at {}", e.at));
    lower(&tree, graph, &mut Letters).unwrap_or_else(|e| panic!("{text}: {e} at {}", e.at))
}

fn tape(graph: &Graph, id: Id) -> Tape {
    Tape::new(graph, &[id], |v| Slot::Coordinate(v as usize)).unwrap()
}

fn value(text: &str, x: [f64; 3]) -> f64 {
    let mut graph = Graph::default();
    let id = node(&mut graph, text);
    tape(&graph, id).first(0.0, &x, &[])
}

#[test]
fn operators_bind_as_in_mathematics() {
    let cases = [
        ("-2^2", -4.0),
        ("2^3^2", 512.0),
        ("2^-1", 0.5),
        ("-2^-2", -0.25),
        ("(-2)^2", 4.0),
        ("2*3+4*5", 26.0),
        ("2-3-4", -5.0),
        ("24/4/3", 2.0),
        ("6/2*3", 9.0),
        ("--3", 3.0),
        ("+3", 3.0),
        ("2*-3", -6.0),
        ("1e3 + .5 + 2. + 1E-1", 1002.6),
        ("if(1 < 2 and not 3 < 2, 5, 6)", 5.0),
        ("if(1 < 2 and 3 < 2 or 1 == 1, 5, 6)", 5.0),
        ("if(not 1 < 2, 5, 6)", 6.0),
        ("if(1 != 1, 5, if(2 >= 2, 7, 8))", 7.0),
        ("min(3, 1, 2) + max(3, 1, 2)", 4.0),
        ("sign(-3) + sign(0) + sign(2) + abs(-4)", 4.0),
        ("atan2(1, -1)", 3.0 * std::f64::consts::FRAC_PI_4),
        ("cos(pi)", -1.0),
        ("exp(log(7))", 7.0),
        ("4^0.5 + 8^(1/3)", 4.0),
    ];
    for (text, expected) in cases {
        let found = value(text, [0.0; 3]);
        assert!((found - expected).abs() <= 4.0 * f64::EPSILON * expected.abs(), "{text} = {found}, not {expected}");
    }
}

#[test]
fn values_are_those_of_rust() {
    let (a, b, c) = (0.3f64, -1.7f64, 2.4f64);
    let cases: Vec<(&str, f64)> = vec![
        ("a*b + c", a * b + c),
        ("a*b - c/a", a * b - c / a),
        ("sqrt(c)*exp(a) - log(c)", c.sqrt() * a.exp() - c.ln()),
        ("sin(a)*cos(b) + tan(a)", a.sin() * b.cos() + a.tan()),
        ("asin(a) + acos(a) + atan(b)", a.asin() + a.acos() + b.atan()),
        ("sinh(a) + cosh(b) + tanh(c)", a.sinh() + b.cosh() + c.tanh()),
        ("atan2(b, a)", b.atan2(a)),
        ("c^a", c.powf(a)),
        ("b^3 + b^-2", b.powi(3) + b.powi(-2)),
        ("(a + b)*(a + b) + (a + b)", (a + b) * (a + b) + (a + b)),
        ("if(a < c, abs(b), b)", b.abs()),
        ("2 - a", 2.0 - a),
        ("2/a", 2.0 / a),
        ("-(a - b)", b - a),
    ];
    for (text, expected) in cases {
        let found = value(text, [a, b, c]);
        // Sums in another order may round differently in the last place or two.
        assert!((found - expected).abs() <= 4.0 * f64::EPSILON * expected.abs().max(1.0), "{text}: {found} {expected}");
    }
}

/// Formulas that exercise every rule of differentiation.
const SMOOTH: [&str; 20] = [
    "a*b*c",
    "a/b + b/c",
    "a^3 + b^-2",
    "c^a",
    "c^2.5",
    "sqrt(c + a^2)",
    "exp(a*b)",
    "log(c + a)",
    "sin(a*b) + cos(b*c)",
    "tan(a*0.3)",
    "asin(a*0.4) + acos(a*0.3)",
    "atan(a*b)",
    "sinh(a) + cosh(a*b) + tanh(c)",
    "abs(b)*a + sign(b)*c",
    "min(a, b, c)*max(a*b, c)",
    "atan2(a, b)",
    "if(a < b, a*c, b*c^2)",
    "(a*cos(b) + c)^2",
    "if(not a < b and c > 0, a^2, b^2)",
    "-(a - b)/(c - a)",
];

fn seeded(x: [f64; 3], v: usize) -> Vec<Dual<f64, 1>> {
    (0..3).map(|i| Dual { re: x[i], eps: [if i == v { 1.0 } else { 0.0 }] }).collect()
}

#[test]
fn derivatives_of_the_graph_are_those_of_dual_numbers_and_of_differences() {
    let x = [0.37, -0.9, 1.3];
    for text in SMOOTH {
        let mut graph = Graph::default();
        let id = node(&mut graph, text);
        let plain = tape(&graph, id);
        for v in 0..3 {
            let slope = graph.derivative(id, v as u32);
            let by_graph = tape(&graph, slope).first(0.0, &x, &[]);
            let by_dual = plain.first(Dual::from(0.0), &seeded(x, v), &[]).eps[0];
            // Two exact ways: rounding of a dozen operations.
            assert!((by_graph - by_dual).abs() <= 1e-13 * (1.0 + by_dual.abs()), "{text} by {v}: {by_graph} {by_dual}");
            let h = 1e-5;
            let at = |s: f64| {
                let mut y = x;
                y[v] += s;
                plain.first(0.0, &y, &[])
            };
            let by_difference = (at(h) - at(-h)) / (2.0 * h);
            // Truncation h² f'''/6 ~ 1e-9, rounding ε/h ~ 1e-11.
            let near = (by_dual - by_difference).abs() < 1e-7 * (1.0 + by_dual.abs());
            assert!(near, "{text} by {v}: {by_dual} {by_difference}");
            // Second derivatives: the graph's slope on dual numbers against the graph's second derivative.
            for w in 0..3 {
                let second = graph.derivative(slope, w as u32);
                let by_graph = tape(&graph, second).first(0.0, &x, &[]);
                let by_dual = tape(&graph, slope).first(Dual::from(0.0), &seeded(x, w), &[]).eps[0];
                let near = (by_graph - by_dual).abs() <= 1e-12 * (1.0 + by_dual.abs());
                assert!(near, "{text} by {v}, {w}: {by_graph} {by_dual}");
            }
        }
    }
}

#[test]
fn kinks_follow_the_stated_sides() {
    let slope = |text: &str, a: f64| {
        let mut graph = Graph::default();
        let id = node(&mut graph, text);
        let by_dual = tape(&graph, id).first(Dual::from(0.0), &[Dual { re: a, eps: [1.0] }], &[]).eps[0];
        let d = graph.derivative(id, 0);
        assert_eq!(tape(&graph, d).first(0.0, &[a], &[]), by_dual, "{text}: graph and dual numbers");
        by_dual
    };
    assert_eq!(slope("abs(a)", 0.0), 1.0);
    assert_eq!(slope("sign(a)", 0.0), 0.0);
    assert_eq!(slope("min(a, -a)", 0.0), 1.0);
    assert_eq!(slope("max(a, -a)", 0.0), 1.0);
    assert_eq!(slope("sqrt(a)", 0.0), 0.0);
    assert_eq!(slope("if(a < 0, -a, 2*a)", 0.0), 2.0);
    // The branch that is not taken may be undefined.
    assert_eq!(slope("if(a > 0, log(a), 3*a)", -1.0), 3.0);
}

#[test]
fn what_is_linear_is_seen() {
    use Affinity::{Affine, Constant, General, Offset};
    // a and c vary, b is an offset.
    let role = |v: u32| if v == 1 { Role::Offset } else { Role::Varying };
    let cases = [
        ("2 + 3", Constant),
        ("sin(b)^2", Offset),
        ("2*a + 3", Affine),
        ("a/4 - (c + a)*2 + exp(b)", Affine),
        ("a*b", General),
        ("a/b", General),
        ("b/2 + 1/b", Offset),
        ("a*c", General),
        ("sin(a)", General),
        ("abs(a)", General),
        ("if(b < 1, a, 2*a)", General),
        ("0*sin(a) + a", Affine),
    ];
    for (text, expected) in cases {
        let mut graph = Graph::default();
        let id = node(&mut graph, text);
        assert_eq!(graph.affinity(id, role), expected, "{text}");
    }
}

#[test]
fn equal_parts_are_computed_once() {
    let mut graph = Graph::default();
    let id = node(&mut graph, "sin(a*b)^2 + cos(a*b)^2 + sin(a*b)");
    // a*b; its sine and cosine; the sum of their squares; the sum with the sine.
    assert_eq!(tape(&graph, id).len(), 4);
}

#[test]
fn mistakes_are_named_with_their_place() {
    let cases = [
        ("", 0, "empty"),
        ("  ", 0, "empty"),
        ("1 +", 3, "found the end"),
        ("(1 + 2", 0, "not closed"),
        ("1 + 2)", 5, "without `(`"),
        ("sin(1, 2)", 0, "takes 1 argument"),
        ("1 + sin", 4, "is a function"),
        ("foo(1)", 0, "unknown function `foo`"),
        ("sni(1)", 0, "did you mean `sin`"),
        ("2x", 1, "is a `*` missing"),
        ("a b", 2, "expected an operator"),
        ("a $ b", 2, "unexpected character"),
        ("a = b", 2, "compare with `==`"),
        ("1 < 2", 2, "a condition stands where a number"),
        ("if(1, 2, 3)", 3, "a number stands where a condition"),
        ("1 < 2 < 3", 6, "do not chain"),
        ("if(1 < 2, 3)", 0, "takes 3 arguments"),
        ("sin()", 0, "without arguments"),
        ("1e999", 0, "too large"),
        ("1..2", 2, "is a `*` missing"),
        ("d + 1", 0, "unknown name `d`"),
        ("a + (b < c)", 7, "a condition stands"),
    ];
    for (text, at, part) in cases {
        let e = match parse(text) {
            Err(e) => e,
            Ok(tree) => lower(&tree, &mut Graph::default(), &mut Letters).expect_err(text),
        };
        assert!(e.message.contains(part), "{text:?}: {}", e.message);
        assert_eq!(e.at, at, "{text:?}: {}", e.message);
    }
}

#[test]
fn limits_hold_for_depth_length_and_size() {
    let deep = |n: usize| format!("{}a{}", "(".repeat(n), ")".repeat(n));
    assert!(parse(&deep(200)).is_ok());
    assert!(parse(&deep(201)).unwrap_err().message.contains("deeper than 200"));
    assert!(parse(&"-".repeat(5000)).unwrap_err().message.contains("deeper"));
    assert!(parse(&"2^".repeat(5000)).unwrap_err().message.contains("deeper"));
    // A long chain is not deep.
    let chain = vec!["a"; 20_000].join("+");
    assert_eq!(value(&chain, [1.0, 0.0, 0.0]), 20_000.0);
    assert!(parse(&"a".repeat(64 * 1024 + 1)).unwrap_err().message.contains("bytes"));
    // Many values that are all needed at the end.
    let mut graph = Graph::default();
    let many: Vec<Id> = (0..400).map(|i| node(&mut graph, &format!("sin(a + {i})"))).collect();
    let error = Tape::new(&graph, &many, |v| Slot::Coordinate(v as usize)).unwrap_err();
    assert!(error.to_string().contains("256 intermediate values"), "{error}");
}

const TOKENS: [&str; 21] = [
    "a", "b", "1", "2.5", "+", "-", "*", "/", "^", "(", ")", ",", "sin", "if", "min", "<", "==", "and", "not", "'",
    "pi",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,80}") {
        if let Ok(tree) = parse(&text) {
            let _ = lower(&tree, &mut Graph::default(), &mut Letters);
        }
    }

    #[test]
    fn any_mixture_of_tokens_is_read_or_refused(tokens in prop::collection::vec(prop::sample::select(TOKENS.to_vec()), 0..40)) {
        let text = tokens.join(" ");
        if let Ok(tree) = parse(&text) {
            let mut graph = Graph::default();
            if let Ok(id) = lower(&tree, &mut graph, &mut Letters) {
                // What is accepted can be evaluated and differentiated.
                let _ = tape(&graph, id).first(0.0, &[0.3, 0.7, 1.1], &[]);
                let d = graph.derivative(id, 0);
                let _ = tape(&graph, d).first(0.0, &[0.3, 0.7, 1.1], &[]);
            }
        }
    }
}
