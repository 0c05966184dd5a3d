//! `--watch` and `[output] watch`: what is not watched is absent from files and null in the JSON, and the motion is the same.

use crate::command::{Directory, python};
use serde_json::{Value, json};

const PARTS: [&str; 4] = ["events", "certificate", "energy", "percussions"];
const CERTIFICATE: [&str; 6] = ["penetration", "gap_velocity", "joint_violation", "cone", "residual", "multiplier"];

/// The words of a list that watch a part.
fn watches(list: &str, part: &str) -> bool {
    list == "all" || list.split(',').any(|word| word.trim() == part)
}

/// Keys of an object.
fn keys(object: &Value) -> Vec<&str> {
    object.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn the_json_is_null_where_nothing_was_watched_and_nowhere_else() {
    let d = Directory::new();
    let plain = d.run(&["run", "woodpecker", "--end", "0.3", "--json"]).json();
    for list in ["all", "none", "", "events", "certificate", "energy", "percussions", "percussions, events"] {
        let output = d.run(&["run", "woodpecker", "--end", "0.3", "--json", "--watch", list]);
        assert_eq!((output.code, output.err.as_str()), (0, ""), "{list}");
        let run = output.json();
        assert_eq!(keys(&run), keys(&plain), "{list}");
        assert_eq!(keys(&run["worst"]), keys(&plain["worst"]), "{list}");
        let is = |value: &Value, same: &Value, part: &str, name: &str| {
            let expected = if watches(list, part) { same } else { &Value::Null };
            assert_eq!(value, expected, "--watch {list}: {name}");
        };
        for part in ["events", "energy", "percussions"] {
            is(&run[part], &plain[part], part, part);
        }
        for name in CERTIFICATE {
            is(&run["worst"][name], &plain["worst"][name], "certificate", name);
        }
        is(&run["worst"]["energy_closure"], &plain["worst"]["energy_closure"], "energy", "energy_closure");
        for key in ["status", "stopped", "t", "q", "u", "warnings"] {
            assert_eq!(run[key], plain[key], "--watch {list}: {key}");
        }
    }
}

#[test]
fn the_motion_has_the_same_bits_whatever_is_watched_with_every_scheme() {
    let d = Directory::new();
    let schemes = d.run(&["list", "schemes", "--json"]).json();
    let mut ran = 0;
    for (scene, end) in [("woodpecker", "0.2"), ("bouncing_ball", "2.5")] {
        for scheme in schemes["schemes"].as_array().unwrap() {
            let scheme = scheme["name"].as_str().unwrap();
            let run = |list: &str| d.run(&["run", scene, "--end", end, "--scheme", scheme, "--json", "--watch", list]);
            let all = run("all");
            if all.code == 2 {
                assert!(all.err.contains("does not support"), "{scene}, {scheme}: {}", all.err);
                continue;
            }
            ran += 1;
            let all = all.json();
            for list in ["none", "events", "certificate", "energy", "percussions"] {
                let other = run(list).json();
                for key in ["status", "t", "q", "u"] {
                    // Texts of numbers are those of their bits.
                    assert_eq!(other[key].to_string(), all[key].to_string(), "{scene}, {scheme}, {list}: {key}");
                }
                let mut work = other["work"].clone();
                work["wall_seconds"] = all["work"]["wall_seconds"].clone();
                assert_eq!(work, all["work"], "{scene}, {scheme}, {list}");
            }
        }
    }
    assert!(ran >= 16, "{ran} runs");
}

/// The arrays of a trajectory.
fn arrays(d: &Directory, folder: &str) -> Vec<String> {
    let script = format!("import numpy; print(*sorted(numpy.load('{folder}/trajectory.npz').files))");
    let out = std::process::Command::new(python()).args(["-c", &script]).current_dir(d.path()).output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8_lossy(&out.stdout).split_whitespace().map(String::from).collect()
}

#[test]
fn files_hold_what_was_watched_and_say_so() {
    let d = Directory::new();
    for scene in ["woodpecker", "mixing_disks"] {
        // One folder: what an earlier run left there is gone.
        for list in ["all", "none", "events", "certificate", "energy", "percussions"] {
            let words = ["run", scene, "--end", "0.01", "--watch", list, "--out", scene];
            let output = d.run(&words);
            assert_eq!(output.code, 0, "{list}: {}", output.err);
            let file = |name: &str| d.path().join(scene).join(name).is_file();
            assert_eq!(file("events.csv"), watches(list, "events"), "{scene}, {list}");
            assert!(file("report.html") && file("meta.json"), "{scene}, {list}");
            let arrays = arrays(&d, scene);
            let has = |name: &str| arrays.iter().any(|a| a == name);
            for name in ["energy", "ledger", "closure"] {
                assert_eq!(has(name), watches(list, "energy"), "{scene}, {list}: {name}");
            }
            for name in ["residual", "penetration"] {
                assert_eq!(has(name), watches(list, "certificate"), "{scene}, {list}: {name}");
            }
            for name in ["t", "dt", "q", "u", "percussion", "sigma", "impact", "order"] {
                assert!(has(name), "{scene}, {list}: {name}");
            }
            let meta: Value = serde_json::from_str(&d.read(&format!("{scene}/meta.json"))).unwrap();
            assert_eq!(keys(&meta["arrays"]), arrays, "every array is explained, and nothing else");
            assert_eq!(meta.get("ledger").is_some(), watches(list, "energy"), "{scene}, {list}");
            let watched: Vec<&str> = PARTS.into_iter().filter(|part| watches(list, part)).collect();
            assert_eq!(meta["watched"], json!(watched), "{scene}, {list}");
            let over = if ["all", "none"].contains(&list) { vec![list] } else { watched };
            assert_eq!(meta["overrides"], json!(["time.end=0.01", format!("output.watch={}", json!(over))]));
            let page = d.read(&format!("{scene}/report.html"));
            assert!(page.contains(&format!("--watch {list} --out {scene}")), "the command that makes it again");
            // The summary has one line on it, if something was left out.
            let line = output.out.lines().find(|l| l.starts_with("watched "));
            assert_eq!(line.is_none(), list == "all", "{scene}, {list}: {}", output.out);
            for (start, part) in [("energy ", "energy"), ("closure ", "energy"), ("worst ", "certificate")] {
                let there = output.out.lines().any(|l| l.starts_with(start));
                assert_eq!(there, watches(list, part), "{scene}, {list}: {}", output.out);
            }
        }
    }
    let text = |list: &str| d.run(&["run", "woodpecker", "--end", "0.1", "--watch", list]).out;
    assert!(text("events").contains("\nwatched    events; not certificate, energy, percussions\n"));
    assert!(text("none").contains("\nwatched    nothing; not events, certificate, energy, percussions\n"));
    assert!(text("events").contains("\nevents ") && !text("energy").contains("\nevents "));
}

#[test]
fn the_scene_says_what_is_watched_and_the_option_overrides_it() {
    let d = Directory::new();
    let ball = d.run(&["show", "bouncing_ball"]).out;
    let watched = |list: &str, words: &[&str]| {
        d.write("ball.toml", format!("{ball}\n[output]\nwatch = {list}\n"));
        let output = d.run(&[&["run", "ball.toml", "--end", "1.5", "--json"], words].concat());
        assert_eq!(output.code, 0, "{list}: {}", output.err);
        let run = output.json();
        let there = [&run["events"], &run["worst"]["residual"], &run["energy"], &run["percussions"]];
        there.map(|value| !value.is_null())
    };
    assert_eq!(watched("[\"energy\", \"events\"]", &[]), [true, false, true, false]);
    assert_eq!(watched("[\"all\"]", &[]), [true; 4]);
    assert_eq!(watched("[\"none\"]", &[]), [false; 4]);
    assert_eq!(watched("[]", &[]), [false; 4]);
    assert_eq!(watched("[\"none\"]", &["--watch", "certificate"]), [false, true, false, false]);
    let set = ["--set", "output.watch=[\"events\"]"];
    assert_eq!(watched("[\"none\"]", &set), [true, false, false, false]);
    assert_eq!(watched("[]", &[&set[..], &["--watch", "percussions"]].concat()), [false, false, false, true]);
    // A comparison measures motions: it is the same, whatever the scene says.
    let compare = || d.run(&["compare", "ball.toml", "--schemes", "moreau-jean", "--steps", "0.01,0.005", "--json"]);
    let rows = |json: Value| json["rows"].as_array().unwrap().iter().map(|r| r["errors"].clone()).collect::<Vec<_>>();
    let none = rows(compare().json());
    d.write("ball.toml", &ball);
    assert_eq!(none, rows(compare().json()));
}

#[test]
fn wrong_words_are_refused_with_the_right_one() {
    let d = Directory::new();
    for (list, says) in [
        ("event", "`event` cannot be watched: did you mean `events`?"),
        ("energy,certificates", "did you mean `certificate`?"),
        ("nonee", "did you mean `none`?"),
        ("motion", "there are events, certificate, energy, percussions, all, none"),
        ("energy,,events", "`` cannot be watched"),
        ("all,events", "`all` stands alone"),
        ("events,none", "`none` stands alone"),
        ("all,none", "`all` stands alone"),
    ] {
        let output = d.run(&["run", "bouncing_ball", "--json", "--out", "result", "--watch", list]);
        assert_eq!((output.code, output.out.as_str()), (2, ""), "{list}");
        assert!(output.err.contains(says) && output.err.contains(&format!("--watch {list}")), "{list}: {}", output.err);
        assert!(d.names().is_empty(), "{list}");
    }
}

/// Force that is undefined from t = 0.5 on.
const UNDEFINED: &str = "[model]\ncoordinates = [\"x\"]\nmass = 1\n[[force]]\nname = \"pull\"\nvalue = \"sqrt(0.5 - t)\"\n[time]\nstep = 0.01\nend = 1\n";

#[test]
fn a_step_that_fails_stops_the_run_whatever_is_watched() {
    let d = Directory::new();
    d.write("undefined.toml", UNDEFINED);
    let stopped = |list: &str| {
        let output = d.run(&["run", "undefined.toml", "--json", "--watch", list]);
        assert_eq!(output.code, 1, "{list}: {}", output.err);
        output.json()["stopped"].clone()
    };
    assert!(stopped("none")["reason"].as_str().unwrap().contains("`pull`"));
    assert_eq!(stopped("none"), stopped("all"));
}
