//! `nonsmooth solve`: every format, exit codes, the JSON; and steps of runs, written and solved again.

use crate::command::{Directory, Output};
use crate::problems::{HOPELESS, LCP, MLCP, MU, SPACE, a, b, every_format};
use serde_json::Value;

const KEYS: [&str; 11] =
    ["kind", "status", "solver", "residual", "iterations", "seconds", "contacts", "rank", "reason", "r", "u"];

fn numbers(v: &Value) -> Vec<f64> {
    v.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

/// The JSON of a solve, with its keys checked.
fn solve(d: &Directory, words: &[&str], code: i32) -> Value {
    let output = d.run(&[&["solve"], words, &["--json"]].concat());
    assert_eq!((output.code, output.err.as_str()), (code, ""), "{words:?}: {}", output.out);
    let mut last = 0;
    for key in KEYS {
        let at = output.out.find(&format!("\"{key}\":")).unwrap_or_else(|| panic!("{words:?}: {key} is missing"));
        assert!(at >= last, "{words:?}: {key} is out of order");
        last = at;
    }
    let v = output.json();
    assert_eq!(v.as_object().unwrap().len(), KEYS.len());
    // Numbers are finite: JSON has no others, and what is not is null.
    assert!(v["residual"].is_number() && v["seconds"].as_f64().unwrap() >= 0.0, "{v}");
    assert!(!v["reason"].as_str().unwrap().is_empty());
    v
}

fn refused(d: &Directory, words: &[&str], parts: &[&str]) {
    let Output { code, out, err } = d.run(words);
    assert_eq!((code, out.as_str()), (2, ""), "{words:?}: {err}");
    for part in parts {
        assert!(err.contains(part), "{words:?}: {part:?} is not in {err}");
    }
}

#[test]
fn every_format_holds_the_same_problem() {
    let d = Directory::new();
    let mut answers = Vec::new();
    for (name, kind, content) in every_format() {
        d.write(name, content);
        let v = solve(&d, &[name, "--tol", "1e-12"], 0);
        assert_eq!((&v["kind"], &v["status"]), (&kind.into(), &"solved".into()), "{name}");
        assert_eq!((v["contacts"].as_u64(), v["rank"].as_u64()), (Some(2), Some(4)), "{name}");
        assert!(v["residual"].as_f64().unwrap() <= 1e-12);
        answers.push((name, numbers(&v["r"]), numbers(&v["u"])));
    }
    for (name, r, u) in &answers {
        // The law itself. Entries of A and r are below 10, and the residual is 1e-12 of ‖b‖ < 10.
        let tolerance = 1e-9;
        for i in 0..4 {
            let by_hand = b()[i] + (0..4).map(|j| a()[i][j] * r[j]).sum::<f64>();
            assert!((u[i] - by_hand).abs() < tolerance, "{name}: u[{i}] = {}, by hand {by_hand}", u[i]);
        }
        for (i, mu) in MU.iter().enumerate() {
            let (rn, rt, un, ut) = (r[2 * i], r[2 * i + 1], u[2 * i], u[2 * i + 1]);
            assert!(rn >= -tolerance && un >= -tolerance && (rn * un).abs() < tolerance, "{name}: {r:?} {u:?}");
            assert!(rt.abs() <= mu * rn + tolerance, "{name}: cone");
            assert!((rt * ut + mu * rn * ut.abs()).abs() < tolerance, "{name}: dissipation");
        }
        for (x, y) in r.iter().zip(&answers[0].1) {
            assert!((x - y).abs() < tolerance, "{name} {r:?}, {} {:?}", answers[0].0, answers[0].1);
        }
    }
    assert!(answers[0].1.iter().any(|r| *r > 0.1), "the problem is not trivial");
}

#[test]
fn linear_complementarity_problems_have_their_known_solutions() {
    let d = Directory::new();
    d.write("lcp.dat", LCP);
    d.write("mlcp.dat", MLCP);
    for (file, expected) in [("lcp.dat", 1.0 / 3.0), ("mlcp.dat", 0.5)] {
        let solvers = d.run(&["list", "solvers", "--json"]).json();
        for solver in solvers["solvers"].as_array().unwrap() {
            let solver = solver["name"].as_str().unwrap();
            // A gradient method is for symmetric A; that of the mixed problem is not.
            if (file, solver) == ("mlcp.dat", "apgd") {
                continue;
            }
            let v = solve(&d, &[file, "--solver", solver], 0);
            for r in numbers(&v["r"]) {
                // ‖b‖ ≤ √2, and the inverse of A has norm 1.
                assert!((r - expected).abs() < 2e-8, "{file} {solver}: {r}");
            }
            if solver != "auto" {
                assert_eq!(v["solver"], solver);
                assert!(v["reason"].as_str().unwrap().contains("asked for"), "{v}");
            }
        }
    }
}

#[test]
fn what_is_not_solved_says_why_and_is_exit_1() {
    let d = Directory::new();
    d.write("hopeless.dat", HOPELESS);
    let v = solve(&d, &["hopeless.dat"], 1);
    assert_ne!(v["status"], "solved");
    // r = 0 leaves u = −1 of ‖b‖ = 1.
    assert_eq!(v["residual"].as_f64(), Some(1.0));
    assert_eq!(v["rank"].as_u64(), Some(0));
    d.write("space.dat", SPACE);
    let v = solve(&d, &["space.dat", "--solver", "lemke"], 1);
    assert_eq!((&v["status"], &v["solver"]), (&"unsupported".into(), &"lemke".into()));
    assert!(v["reason"].as_str().unwrap().contains("does not handle"), "{v}");
    // Jacobi needs many sweeps for 1e-8: the clock has run out before the second.
    d.write("lcp.dat", LCP);
    let v = solve(&d, &["lcp.dat", "--solver", "jacobi", "--time-limit", "1e-9"], 1);
    assert_eq!(v["status"], "time_limit");
    assert!(v["residual"].as_f64().unwrap() > 1e-8);
    // A singular mass matrix.
    let text = crate::problems::full().to_json(&[], &[0.0; 4]).replace("[2,2,1.0]", "[2,2,0.0]");
    d.write("singular.json", text);
    let output = d.run(&["solve", "singular.json", "--json"]);
    let v = output.json();
    assert_eq!((output.code, &v["status"]), (1, &"singular".into()), "{v}");
    assert!(v["residual"].is_null() && v["rank"].is_null() && numbers(&v["r"]).is_empty(), "{v}");
    let text = d.run(&["solve", "hopeless.dat"]);
    assert_eq!(text.code, 1);
    assert!(text.out.contains("UNSOLVED   residual 1.00e0"), "{}", text.out);
}

#[test]
fn wrong_input_is_named_and_nothing_is_printed() {
    let d = Directory::new();
    d.write("lcp.dat", LCP);
    d.write("empty.dat", "");
    d.write("words.dat", "two contacts\n");
    d.write("short.dat", crate::problems::dense_text().replacen("0.5 0.25", "0.5", 1));
    d.write("letter.dat", LCP.replace("-1 -1", "-1 x"));
    d.write("mu.dat", crate::problems::dense_text().replace("0.5 0.25 \n", "0.5 -0.25 \n"));
    d.write("set.json", crate::problems::reduced().to_json().replace("\"mu\":0.25", "\"mu\":-1"));
    d.write("format.json", crate::problems::reduced().to_json().replace("problem 1", "problem 2"));
    d.write("key.json", crate::problems::reduced().to_json().replace("\"b\":", "\"bb\":"));
    let mut cut = every_format().remove(3).2;
    cut.truncate(cut.len() / 2);
    d.write("cut.hdf5", cut);
    std::fs::create_dir(d.path().join("folder")).unwrap();
    let cases: &[(&[&str], &[&str])] = &[
        (&["none.dat"], &["none.dat"]),
        (&["folder"], &["folder", "race"]),
        (&["empty.dat"], &["empty.dat", "empty"]),
        (&["words.dat"], &["words.dat", "as lcp: line 1", "\"two\""]),
        (&["short.dat", "--kind", "friction2d"], &["short.dat", "mu[1]"]),
        (&["letter.dat", "--kind", "lcp"], &["letter.dat: line 8: q[1]", "\"x\""]),
        (&["mu.dat", "--kind", "friction2d"], &["mu.dat", "mu", "-0.25", ">= 0"]),
        (&["set.json"], &["set.json", "block 1", "friction coefficient"]),
        (&["format.json"], &["format.json", "expected \"nonsmooth reduced problem 1\""]),
        (&["key.json"], &["key.json", "`bb`"]),
        (&["cut.hdf5"], &["cut.hdf5", "has only"]),
        (&["lcp.dat", "--kind", "friction3d"], &["lcp.dat", "dimension: expected 3"]),
        (&["set.json", "--kind", "lcp"], &["set.json", "JSON", "lcp was asked for"]),
        (&["lcp.dat", "--kind", "lpc"], &["--kind", "\"lpc\"", "lcp"]),
        (&["lcp.dat", "--solver", "newtn"], &["did you mean `newton`"]),
        (&["lcp.dat", "--solver", "xyzzyx"], &["nonsmooth list solvers"]),
        (&["lcp.dat", "--tol", "0"], &["--tol 0", "> 0"]),
        (&["lcp.dat", "--tol", "nan"], &["--tol NaN"]),
        (&["lcp.dat", "--time-limit", "-1"], &["--time-limit -1", "> 0"]),
        (&["lcp.dat", "--time-limit", "1e30"], &["--time-limit"]),
    ];
    for (words, parts) in cases {
        refused(&d, &[&["solve"], *words, &["--json"]].concat(), parts);
        refused(&d, &[&["solve"], *words].concat(), parts);
    }
}

#[test]
fn the_text_shows_names_modes_and_rank() {
    let d = Directory::new();
    for (name, _, content) in every_format() {
        d.write(name, content);
    }
    let text = d.run(&["solve", "full.json", "--solver", "newton"]);
    assert_eq!(text.code, 0, "{}", text.err);
    let v = solve(&d, &["full.json"], 0);
    let open = numbers(&v["r"]).chunks(2).filter(|r| r[0] == 0.0).count();
    let lines =
        ["full.json: full, 2 contacts, 4 rows", "solver     newton, ", "rank       4 of 4", "solved     residual "];
    for line in lines {
        assert!(text.out.lines().any(|l| l.starts_with(line)), "{line:?} is not in\n{}", text.out);
    }
    let modes = text.out.lines().find(|l| l.starts_with("modes")).unwrap();
    assert_eq!(modes.contains(&format!("{open} open")), open > 0, "{modes}");
    assert!(text.out.contains(" left ") || text.out.contains(" right "), "{}", text.out);
    // The same contact twice: half the rank.
    let mut twice: Value = serde_json::from_str(&d.read("full.json")).unwrap();
    twice["blocks"][1] = twice["blocks"][0].clone();
    d.write("twice.json", twice.to_string());
    assert_eq!(solve(&d, &["twice.json"], 0)["rank"].as_u64(), Some(2));
}

#[test]
fn a_start_guess_is_used_only_when_asked_for() {
    let d = Directory::new();
    d.write("cold.json", crate::problems::full().to_json(&[], &[0.0; 4]));
    let cold = solve(&d, &["cold.json", "--solver", "nsgs", "--tol", "1e-10"], 0);
    d.write("warm.json", crate::problems::full().to_json(&[], &numbers(&cold["r"])));
    let words = ["warm.json", "--solver", "nsgs", "--tol", "1e-10"];
    let without = solve(&d, &words, 0);
    assert_eq!((&without["iterations"], &without["r"]), (&cold["iterations"], &cold["r"]));
    let with = solve(&d, &[&words[..], &["--warm"]].concat(), 0);
    assert!(with["iterations"].as_u64() < cold["iterations"].as_u64(), "{with} {cold}");
}

/// Percussion sums of a contact after `steps` steps: normal, then tangential.
fn sums(d: &Directory, scene: &str, scheme: &str, steps: usize, step: f64, contact: &str) -> Vec<f64> {
    let end = (steps as f64 * step).to_string();
    let words = ["run", scene, "--scheme", scheme, "--step", &step.to_string(), "--end", &end, "--json"];
    let v = d.run(&words).json();
    assert_eq!(v["work"]["steps"].as_u64(), Some(steps as u64));
    let p = &v["percussions"][contact];
    let mut out = vec![p["normal"].as_f64().unwrap_or(0.0)];
    out.extend(p["tangential"].as_array().into_iter().flatten().map(|t| t.as_f64().unwrap()));
    out
}

#[test]
fn a_step_written_by_a_run_has_the_percussion_of_the_run() {
    let d = Directory::new();
    d.run(&["new", "box.toml"]);
    for (scene, contact, k) in [("box.toml", "table", 100), ("bouncing_ball", "ground", 4000)] {
        for scheme in ["moreau-jean", "moreau-midpoint"] {
            let step = 1e-3;
            let end = (k as f64 * step).to_string();
            let steps = format!("{k},{}..{}", k - 2, k - 1);
            let run = d.run(&[
                "run",
                scene,
                "--scheme",
                scheme,
                "--step",
                "1e-3",
                "--end",
                &end,
                "--dump-steps",
                &steps,
                "--dump-to",
                "steps",
            ]);
            assert_eq!(run.code, 0, "{}", run.err);
            assert!(run.out.contains("problems   of 3 steps in steps"), "{}", run.out);
            let files: Vec<String> = (k - 2..=k).map(|k| format!("step-{k:06}.json")).collect();
            let mut found: Vec<String> = std::fs::read_dir(d.path().join("steps"))
                .unwrap()
                .map(|e| e.unwrap().file_name().to_string_lossy().into_owned())
                .collect();
            found.sort();
            assert_eq!(found, files);

            let v = solve(&d, &[&format!("steps/{}", files[2]), "--tol", "1e-12"], 0);
            let of = |steps: usize| sums(&d, scene, scheme, steps, step, contact);
            let (now, before, earlier) = (of(k), of(k - 1), of(k - 2));
            let saved: Value = serde_json::from_str(&d.read(&format!("steps/{}", files[2]))).unwrap();
            let guess = numbers(&saved["guess"]);
            let names: Vec<&str> =
                saved["blocks"].as_array().unwrap().iter().map(|b| b["name"].as_str().unwrap()).collect();
            assert_eq!(names, [contact], "{scene} {scheme}");
            assert!(numbers(&v["r"])[0] > 0.0, "the contact carries load");
            for (i, r) in numbers(&v["r"]).into_iter().enumerate() {
                // A difference of sums of some units, with their rounding.
                let rounding = 16.0 * f64::EPSILON * (1.0 + now[i].abs()) * k as f64;
                assert!((r - (now[i] - before[i])).abs() < rounding, "{scene} {scheme}: {r}, {}", now[i] - before[i]);
                let last = before[i] - earlier[i];
                assert!((guess[i] - last).abs() < rounding, "{scene} {scheme}: guess {}, {last}", guess[i]);
            }
            std::fs::remove_dir_all(d.path().join("steps")).unwrap();
        }
    }
}

#[test]
fn steps_of_every_scheme_can_be_solved_again() {
    let d = Directory::new();
    let schemes = d.run(&["list", "schemes", "--json"]).json();
    for scheme in schemes["schemes"].as_array().unwrap() {
        let scheme = scheme["name"].as_str().unwrap();
        // The first impact is at t = 1: in flight, in the impact, after it.
        let words = ["run", "bouncing_ball", "--scheme", scheme, "--step", "1e-2", "--end", "1.2"];
        let run = d.run(&[&words[..], &["--dump-steps", "5,95..110", "--json"]].concat());
        if run.code == 2 && scheme == "position-theta" {
            assert!(run.err.contains("restitution"), "{}", run.err);
            continue;
        }
        assert_eq!(run.code, 0, "{scheme}: {}", run.err);
        let mut loaded = 0;
        for k in std::iter::once(5).chain(95..=110) {
            let file = format!("step-{k:06}.json");
            let v = solve(&d, &[&file, "--warm"], 0);
            let r = numbers(&v["r"]);
            loaded += usize::from(r.iter().any(|r| *r > 0.0));
            if !r.is_empty() {
                let saved: Value = serde_json::from_str(&d.read(&file)).unwrap();
                assert_eq!(saved["blocks"][0]["name"], "ground", "{scheme} {file}");
            }
            std::fs::remove_file(d.path().join(file)).unwrap();
        }
        // A scheme that chooses its steps has other numbers for them.
        assert!(scheme == "augmented" || (1..=4).contains(&loaded), "{scheme}: {loaded} of the steps have an impact");
    }
}

#[test]
fn steps_that_cannot_be_written_are_refused_before_the_run() {
    let d = Directory::new();
    d.write("file", "");
    let cases: &[(&[&str], &str)] = &[
        (&["--dump-steps", "0"], "`0` is no step"),
        (&["--dump-steps", "3.."], "`3..` is no step"),
        (&["--dump-steps", "7..3"], "backwards"),
        (&["--dump-steps", "1..10001", "--end", "20"], "at most 10000"),
        (&["--dump-steps", "5001"], "only 5000 steps"),
        (&["--dump-to", "x"], "--dump-steps"),
        (&["--dump-steps", "1", "--dump-to", "file"], "not a folder"),
    ];
    for (words, part) in cases {
        refused(&d, &[&["run", "bouncing_ball"], *words].concat(), &[part]);
    }
    assert_eq!(d.names(), ["file"]);
}
