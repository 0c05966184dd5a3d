//! `nonsmooth compare`: orders, references, failures as rows, the same results for any number of threads, the page; and small versions of the
//! figures that `docs/paper-figures.md` lists.

use crate::command::Directory;
use serde_json::Value;

fn json(d: &Directory, words: &[&str]) -> Value {
    let output = d.run(&[&["compare"], words, &["--json"]].concat());
    assert_eq!(output.code, 0, "{words:?}: {}{}", output.err, output.out);
    output.json()
}

/// The comparison without what is time.
fn timeless(mut v: Value) -> String {
    for row in v["rows"].as_array_mut().unwrap() {
        row["seconds"] = Value::Null;
    }
    v.to_string()
}

#[test]
fn the_json_has_rows_and_orders_as_promised() {
    let d = Directory::new();
    let v = json(&d, &["ball_flight", "--schemes", "moreau-jean,moreau-jean{theta=1}", "--steps", "1e-2,5e-3,2.5e-3"]);
    let rows = v["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 6);
    for row in rows {
        for key in ["scheme", "options", "step", "calls", "seconds"] {
            assert!(row.get(key).is_some(), "{key}");
        }
        for x in ["q", "u"] {
            for norm in ["l1", "l2", "sup", "graph"] {
                assert!(row["errors"][x][norm].as_f64().unwrap() > 0.0, "{x} {norm}");
            }
        }
    }
    assert_eq!(rows[0]["calls"].as_u64(), Some(100));
    assert_eq!(rows[3]["options"], serde_json::json!(["theta=1"]));
    let orders = v["orders"].as_array().unwrap();
    // theta = 1/2 is of order 2, theta = 1 of order 1; q = 1 - 5/6 t^4 leaves higher terms of some per mille.
    for (o, expected) in orders.iter().zip([2.0, 1.0]) {
        for key in ["q", "u"] {
            assert!((o[key].as_f64().unwrap() - expected).abs() < 0.05, "{o}");
            assert!(o[format!("{key}_uncertainty")].as_f64().unwrap() < 0.05, "{o}");
        }
    }
    assert_eq!(orders[1]["scheme"], "moreau-jean{theta=1}");
    assert_eq!(v["reference"], "closed form");
}

#[test]
fn threads_change_nothing_and_all_schemes_take_few_steps() {
    let d = Directory::new();
    let words = ["bouncing_ball", "--schemes", "all", "--steps", "1e-2,5e-3,2e-3,1e-3,5e-4,2e-4"];
    let one = json(&d, &[&words[..], &["--threads", "1"]].concat());
    let calls = |v: &Value| v["rows"].as_array().unwrap().iter().map(|r| r["calls"].as_u64().unwrap()).sum::<u64>();
    // Work, not time: time is a matter of what else the machine does. 18,500 steps a scheme; `augmented` makes some of each.
    let made = calls(&one);
    println!("six steps, all schemes: {made} steps");
    assert!(made <= 2_000_000, "{made}");
    let one = timeless(one);
    let many = timeless(json(&d, &[&words[..], &["--threads", "7"]].concat()));
    assert_eq!(one, many);
    assert_eq!(one, timeless(json(&d, &words)));
}

#[test]
fn references_are_a_run_or_a_file_on_another_grid() {
    let d = Directory::new();
    let base = ["linear_oscillator", "--schemes", "moreau-jean", "--steps", "1e-2,3e-3", "--end", "3"];
    let exact = json(&d, &base);
    let fine = json(&d, &[&base[..], &["--reference", "moreau-jean:1.7e-5"]].concat());
    assert_eq!(d.run(&["run", "linear_oscillator", "--step", "1.7e-5", "--end", "3", "--out", "fine"]).code, 0);
    let file = json(&d, &[&base[..], &["--reference", "fine/trajectory.npz"]].concat());
    for i in 0..2 {
        for norm in ["l1", "sup", "graph"] {
            let of = |v: &Value, x: &str| v["rows"][i]["errors"][x][norm].as_f64().unwrap();
            // The reference itself is wrong by about 1.7e-5 of O(1) at first order; errors here are of 1e-3 to 1e-2.
            assert!((of(&exact, "q") - of(&fine, "q")).abs() < 1e-4, "{norm}");
            // u at grid points beside a shifted jump differs by the jump itself in sup: only the others compare.
            if norm == "graph" {
                assert!((of(&exact, "u") - of(&fine, "u")).abs() < 1e-4, "{norm}");
            }
            assert!((of(&file, "q") - of(&fine, "q")).abs() < 1e-12, "{norm}: the file is the run");
        }
    }
    // Without a closed form a finer run is the default, and is named.
    let v = json(&d, &["woodpecker", "--schemes", "moreau-jean", "--steps", "4e-4,2e-4", "--end", "0.05"]);
    assert_eq!(v["reference"], "moreau-jean:0.0000125");
    // At given times only.
    let v = json(&d, &["ball_flight", "--schemes", "moreau-jean", "--steps", "1e-2", "--at", "0.5,1"]);
    let e = &v["rows"][0]["errors"]["q"];
    let sup = e["sup"].as_f64().unwrap();
    assert!(sup > 0.0 && e["l1"].as_f64().unwrap() < sup);
}

#[test]
fn quaternions_are_compared_up_to_sign() {
    // The same motion from the opposite quaternion: the errors are rounding, not 2.
    let d = Directory::new();
    let show = d.run(&["show", "tippedisk"]).out;
    let check = d.run(&["run", "tippedisk", "--json", "--at", "0", "--end", "1e-3"]).json();
    let q: Vec<f64> = check["at"][0]["q"].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect();
    d.write("disk.toml", show);
    let turned: Vec<String> = q.iter().enumerate().map(|(i, x)| format!("{:?}", if i < 3 { *x } else { -x })).collect();
    let set = format!("initial.q=[{}]", turned.join(","));
    assert_eq!(
        d.run(&["run", "disk.toml", "--step", "1e-3", "--end", "0.1", "--set", &set, "--out", "turned"]).code,
        0
    );
    let v = json(
        &d,
        &[
            "disk.toml",
            "--schemes",
            "moreau-jean",
            "--steps",
            "1e-3",
            "--end",
            "0.1",
            "--reference",
            "turned/trajectory.npz",
        ],
    );
    for norm in ["l1", "sup", "graph"] {
        let e = v["rows"][0]["errors"]["q"][norm].as_f64().unwrap();
        // Newton's tolerance of 1e-10 over 100 steps.
        assert!(e < 1e-7, "{norm}: {e}");
    }
}

#[test]
fn a_scheme_or_step_that_fails_is_a_row_with_its_reason() {
    let d = Directory::new();
    // A force that is undefined beyond x = 1.2, which only the coarse explicit run reaches.
    let text = "[model]\ncoordinates = [\"x\"]\nmass = 1\nforce = \"-1e4*x + 0*sqrt(1.2 - x)\"\n[initial]\nq = [1]\n[time]\nstep = 1e-3\nend = 1\n\
                [exact]\nq = [\"cos(100*t)\"]\nu = [\"-100*sin(100*t)\"]\n";
    d.write("stiff.toml", text);
    let v = json(
        &d,
        &[
            "stiff.toml",
            "--schemes",
            "moreau-jean,moreau-midpoint",
            "--steps",
            "0.05,1e-3",
            "--set",
            "model.force=-1e4*x + 1e-9*sqrt(1.2 - x)",
        ],
    );
    let rows = v["rows"].as_array().unwrap();
    let failed: Vec<&Value> = rows.iter().filter(|r| r["errors"].is_null()).collect();
    assert_eq!(failed.len(), 1, "{v}");
    assert!(failed[0]["scheme"] == "moreau-midpoint" && failed[0]["step"].as_f64() == Some(0.05));
    assert!(failed[0]["reason"].as_str().unwrap().contains("`force`"), "{}", failed[0]);
    let table = d.run(&[
        "compare",
        "stiff.toml",
        "--schemes",
        "moreau-midpoint",
        "--steps",
        "0.05,1e-3",
        "--set",
        "model.force=-1e4*x + 1e-9*sqrt(1.2 - x)",
    ]);
    assert!(table.code == 0 && table.out.contains("NaN or infinite"), "{}", table.out);
}

#[test]
fn wrong_requests_are_refused() {
    let d = Directory::new();
    let cases: &[(&[&str], &str)] = &[
        (&["bouncing_ball", "--schemes", "moreau-jaen", "--steps", "1e-2"], "did you mean `moreau-jean`"),
        (&["bouncing_ball", "--schemes", "moreau-jean{thet=1}", "--steps", "1e-2"], "did you mean `theta`"),
        (&["bouncing_ball", "--schemes", "moreau-jean{theta", "--steps", "1e-2"], "not closed"),
        (&["bouncing_ball", "--schemes", "all", "--steps", "0"], "step 0"),
        (&["bouncing_ball", "--schemes", "all", "--steps", "1e-2", "--at", "9"], "outside"),
        (&["bouncing_ball", "--schemes", "all", "--steps", "1e-2", "--reference", "none.npz"], "none.npz"),
        (&["bouncing_ball", "--schemes", "all", "--steps", "1e-2", "--reference", "moreau-jean"], "SCHEME:STEP"),
        (&["woodpecker", "--schemes", "all", "--steps", "1e-2", "--reference", "closed-form"], "no [exact]"),
        (&["bouncing_ball", "--schemes", "all", "--steps", "1e-2", "--set", "model.mass=2"], "equations of motion"),
        (&["bouncing_ball", "--steps", "1e-2"], "--schemes"),
        (&["bouncing_bal", "--schemes", "all", "--steps", "1e-2"], "bouncing_ball"),
    ];
    for (words, part) in cases {
        let output = d.run(&[&["compare"], *words].concat());
        assert!(output.code == 2 && output.out.is_empty(), "{words:?}: {} {}", output.code, output.out);
        assert!(output.err.contains(part), "{words:?}: {}", output.err);
    }
    assert!(d.names().is_empty());
}

/// The data of a page.
fn data(page: &str) -> Value {
    let begin = "<script type=\"application/json\" id=\"data\">";
    let from = page.find(begin).unwrap() + begin.len();
    let to = from + page[from..].find("</script>").unwrap();
    serde_json::from_str(&page[from..to]).unwrap()
}

#[test]
fn the_page_is_self_contained() {
    let d = Directory::new();
    let output = d.run(&[
        "compare",
        "bouncing_ball",
        "--schemes",
        "all",
        "--steps",
        "1e-2,5e-3",
        "--out",
        "page",
        "--set",
        "title=<b>x</b>",
    ]);
    assert_eq!(output.code, 0, "{}", output.err);
    let page = d.read("page/compare.html");
    assert!(page.starts_with("<!doctype html>") && page.trim_end().ends_with("</html>"));
    for outside in ["src=\"http", "href=\"http", "<link"] {
        assert!(!page.contains(outside), "{outside}");
    }
    assert!(!page.contains("<b>x"), "what a scene says is escaped");
    let shown = data(&page);
    assert_eq!(shown["kind"], "compare");
    let command = shown["command"].as_str().unwrap();
    assert!(command.starts_with("nonsmooth compare bouncing_ball --schemes all --steps 0.01,0.005"), "{command}");
    // A list of schemes with options is one word for a shell.
    let output = d.run(&[
        "compare",
        "bouncing_ball",
        "--schemes",
        "rattle,moreau-jean{theta=1,gamma=0}",
        "--steps",
        "1e-2",
        "--out",
        "one",
    ]);
    assert_eq!(output.code, 0, "{}", output.err);
    let one = data(&d.read("one/compare.html"));
    assert!(one["command"].as_str().unwrap().contains("--schemes 'rattle,moreau-jean{theta=1,gamma=0}' "), "{one}");
    // Four norms of q and of u, and those of percussions.
    let row = &shown["rows"][0];
    for (quantity, norm) in [("q", "l1"), ("q", "l2"), ("q", "sup"), ("q", "graph"), ("u", "graph"), ("p", "l1")] {
        assert!(row["errors"][quantity][norm].is_f64(), "{quantity} {norm}: {row}");
    }
    assert!(row["step"].is_f64() && row["calls"].is_u64() && row["seconds"].is_f64() && row["status"] == "done");
    assert!(shown["orders"][0]["u_graph"].is_f64() && shown["orders"][0]["label"].is_string());
    let kept: Value = serde_json::from_str(&d.read("page/compare.json")).unwrap();
    // Two steps of every scheme but `position-theta`, which refuses restitution.
    let schemes = d.run(&["list", "schemes", "--json"]).json()["schemes"].as_array().unwrap().len();
    assert_eq!(kept["rows"].as_array().unwrap().len(), 2 * (schemes - 1));
    assert_eq!(
        d.run(&["compare", "bouncing_ball", "--schemes", "all", "--steps", "1e-2", "--out", "page"]).code,
        0,
        "the folder is ours"
    );
}

/// Every command in the list of figures runs, with its steps cut to the two largest; and shows what the list says.
#[test]
fn the_figures_of_the_papers_run_in_small() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = std::fs::read_to_string(root.join("docs/paper-figures.md")).unwrap();
    let commands: Vec<&str> = text.lines().filter(|l| l.starts_with("nonsmooth compare ")).collect();
    assert!(commands.len() >= 2, "the list has commands");
    let d = Directory::new();
    for line in commands {
        let words: Vec<String> = line.split_whitespace().skip(1).map(|w| w.replace('\'', "")).collect();
        let mut words: Vec<String> = words;
        let at = words.iter().position(|w| w == "--steps").unwrap() + 1;
        words[at] = words[at].split(',').take(2).collect::<Vec<_>>().join(",");
        if let Some(out) = words.iter().position(|w| w == "--out") {
            words.drain(out..out + 2);
        }
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let output = d.run(&words);
        assert_eq!(output.code, 0, "{line}: {}", output.err);
        assert!(output.out.contains("order"), "{line}");
    }
}
