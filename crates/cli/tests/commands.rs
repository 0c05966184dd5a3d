//! The command as others script against it: JSON, times, files, exit codes.

use crate::command::{Directory, python};
use serde_json::Value;

fn numbers(v: &Value) -> Vec<f64> {
    v.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

#[test]
fn the_json_of_a_run_has_every_field_in_order_and_nothing_else_is_printed() {
    let d = Directory::new();
    let output = d.run(&["run", "bouncing_ball", "--json", "--at", "3.5,0,1.25,5"]);
    assert_eq!((output.code, output.err.as_str()), (0, ""));
    let json = output.json();
    let keys: Vec<&str> = [
        "status",
        "stopped",
        "scene",
        "scheme",
        "step",
        "t",
        "coordinates",
        "q",
        "u",
        "at",
        "events",
        "worst",
        "energy",
        "work",
        "percussions",
    ]
    .to_vec();
    let mut last = 0;
    for key in keys {
        assert!(json.get(key).is_some(), "{key} is missing");
        let at = output.out.find(&format!("\"{key}\":")).unwrap();
        assert!(at >= last, "{key} is out of order");
        last = at;
    }
    assert_eq!((&json["status"], &json["stopped"]), (&"done".into(), &Value::Null));
    assert_eq!((&json["scene"], &json["scheme"]), (&"bouncing_ball".into(), &"moreau-jean".into()));
    assert_eq!((json["step"].as_f64(), json["t"].as_f64()), (Some(1e-3), Some(5.0)));
    // Requested times in the requested order.
    let at: Vec<f64> = json["at"].as_array().unwrap().iter().map(|a| a["t"].as_f64().unwrap()).collect();
    assert_eq!(at, [3.5, 0.0, 1.25, 5.0]);
    assert_eq!(numbers(&json["at"][1]["q"]), [1.0]);
    assert_eq!(numbers(&json["at"][3]["q"]), numbers(&json["q"]));
    for key in ["penetration", "gap_velocity", "joint_violation", "cone", "residual", "energy_closure"] {
        assert!(json["worst"][key].as_f64().unwrap() >= 0.0, "{key}");
    }
    for key in ["initial", "final", "max"] {
        assert!(json["energy"][key].is_number(), "{key}");
    }
    assert_eq!(json["energy"]["initial"].as_f64(), Some(2.0));
    assert!(json["energy"]["ledger"]["contact.normal"].as_f64().unwrap() < 0.0);
    for key in [
        "steps",
        "rejected",
        "scheme_calls",
        "solves",
        "iterations",
        "newton_max",
        "newton_avg",
        "projection_max",
        "projection_avg",
        "index_set_max",
        "index_set_avg",
        "pivots",
        "detected",
        "resolved",
        "inaccurate",
        "loose",
        "coarse",
        "wall_seconds",
    ] {
        assert!(json["work"][key].is_number(), "{key}");
    }
    assert_eq!(json["work"]["steps"].as_u64(), Some(5000));
    assert_eq!(json["work"]["index_set_max"].as_u64(), Some(1));
    assert!(json["work"]["stages"][0]["newton_max"].is_number());
    // 2 N of weight over 5 s, and the ball starts and ends at rest.
    let normal = json["percussions"]["ground"]["normal"].as_f64().unwrap();
    assert!((normal - 10.0).abs() < 1e-10, "{normal}");
    assert_eq!(json["percussions"]["ground"]["tangential"].as_array().unwrap().len(), 0);
    let kinds: Vec<&str> = json["events"].as_array().unwrap().iter().map(|e| e["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds[..4], ["impact", "impact", "impact", "accumulation-start"]);
    assert!(json["events"].as_array().unwrap().iter().all(|e| e["contact"] == "ground"));
}

#[test]
fn the_same_command_gives_the_same_bits() {
    let d = Directory::new();
    let run = || {
        let mut json = d.run(&["run", "woodpecker", "--json", "--end", "0.3"]).json();
        json["work"]["wall_seconds"] = Value::Null;
        json.to_string()
    };
    assert_eq!(run(), run());
}

#[test]
fn overrides_scheme_step_and_end_are_taken() {
    let d = Directory::new();
    let json = |words: &[&str]| {
        let output = d.run(&[&["run", "bouncing_ball", "--json"], words].concat());
        assert_eq!(output.code, 0, "{words:?}: {}", output.err);
        output.json()
    };
    // Without a contact force for the first 0.1 s: free fall from another height with another weight.
    let v = json(&["--set", "initial.q=[7]", "--set", "parameters.weight=3", "--end", "0.1", "--step", "0.01"]);
    assert_eq!(v["work"]["steps"].as_u64(), Some(10));
    assert!((v["q"][0].as_f64().unwrap() - (7.0 - 1.5 * 0.01)).abs() < 1e-12);
    // A number for a one-component list, a formula of parameters, a formula where a number stood.
    assert_eq!(json(&["--set", "initial.q=2", "--end", "1e-3"])["at"], Value::Array(vec![]));
    let v = json(&["--set", "initial.u=[\"2*weight\"]", "--end", "1e-3", "--at", "0"]);
    assert_eq!(v["at"][0]["u"][0].as_f64(), Some(4.0));
    let v = json(&["--set", "force.weight.potential=weight*q + 0*sin(t)", "--end", "0.01"]);
    assert_eq!(v["work"]["steps"].as_u64(), Some(10));
    // Another scheme drops the options of the file's.
    d.write(
        "theta.toml",
        d.run(&["show", "bouncing_ball"]).out.replace("name = \"moreau-jean\"", "name = \"moreau-jean\"\ntheta = 1"),
    );
    let theta = d.run(&["run", "theta.toml", "--json", "--scheme", "moreau-midpoint"]);
    assert_eq!(theta.code, 0, "{}", theta.err);
    assert_eq!(theta.json()["scheme"], "moreau-midpoint");
    let kept = d.run(&["run", "theta.toml", "--json", "--scheme", "moreau-jean", "--set", "scheme.theta=0.5"]);
    let plain = d.run(&["run", "bouncing_ball", "--json"]);
    assert_eq!(kept.json()["q"], plain.json()["q"]);
    assert_ne!(d.run(&["run", "theta.toml", "--json"]).json()["q"], plain.json()["q"], "theta = 1 is used");
}

#[test]
fn times_follow_the_stated_rules() {
    let d = Directory::new();
    let steps = |words: &[&str]| {
        let output = d.run(&[&["run", "bouncing_ball", "--json"], words].concat());
        assert_eq!(output.code, 0, "{words:?}: {}", output.err);
        let json = output.json();
        (json["work"]["steps"].as_u64().unwrap(), json["t"].as_f64().unwrap())
    };
    assert_eq!(steps(&["--step", "0.1", "--end", "0.3"]), (3, 0.3));
    // Within 1e-6 of a whole number of steps.
    assert_eq!(steps(&["--step", "0.1", "--end", "0.30000002"]), (3, 0.30000002));
    // Otherwise the last step is shortened.
    assert_eq!(steps(&["--step", "0.1", "--end", "0.31"]), (4, 0.31));
    assert_eq!(steps(&["--step", "0.4", "--end", "1"]), (3, 1.0));
    // Dense output of a free flight is exact: the parabola is a cubic.
    let words = ["run", "bouncing_ball", "--json", "--step", "0.1", "--end", "0.5", "--at", "0.2345"];
    let json = d.run(&words).json();
    let t: f64 = 0.2345;
    assert!((json["at"][0]["q"][0].as_f64().unwrap() - (1.0 - t * t)).abs() < 1e-14);
    assert!((json["at"][0]["u"][0].as_f64().unwrap() + 2.0 * t).abs() < 1e-13);
    // Also in a contact that persists: x and x' of the sliding block have their closed form between grid points.
    let json = d.run(&["run", "sliding_block", "--json", "--at", "0.12345,1.00055"]).json();
    let (t, force): (f64, f64) = (0.12345, 0.8 * 9.81);
    let exact = (3.0 + 8.0 * (1.0 - t.cos()) - force * t * t / 2.0, 8.0 * t.sin() - force * t);
    // Order 2 of the scheme, h = 1e-3: h²/12 of third and second derivatives of order one.
    assert!((json["at"][0]["q"][0].as_f64().unwrap() - exact.0).abs() < 1e-7, "{}", json["at"]);
    assert!((json["at"][0]["u"][0].as_f64().unwrap() - exact.1).abs() < 1e-6, "{}", json["at"]);
    assert_eq!(json["at"][1]["u"][0].as_f64(), Some(0.0), "it sticks");
    // It does not change the run.
    let plain = d.run(&["run", "bouncing_ball", "--json", "--step", "0.1", "--end", "0.5"]).json();
    assert_eq!(d.run(&words).json()["q"], plain["q"]);
    // A known break ends a step.
    d.write("break.toml", d.run(&["show", "bouncing_ball"]).out.replace("mass = 1 ", "mass = 1\nbreaks = [0.25]\n"));
    let json = d.run(&["run", "break.toml", "--json", "--step", "0.1", "--end", "0.5"]).json();
    assert_eq!(json["work"]["steps"].as_u64(), Some(6));
    assert_eq!((&json["events"][0]["kind"], json["events"][0]["t"].as_f64()), (&"break".into(), Some(0.25)));
}

#[test]
fn the_files_of_a_run_load_in_python_and_say_how_to_run_again() {
    let d = Directory::new();
    let words = ["run", "woodpecker", "--json", "--end", "0.1", "--out", "result", "--set", "output.every=3"];
    let json = d.run(&words).json();
    let mut names: Vec<String> = std::fs::read_dir(d.path().join("result"))
        .unwrap()
        .map(|e| e.unwrap().file_name().to_string_lossy().into())
        .collect();
    names.sort();
    assert_eq!(names, ["events.csv", "meta.json", "report.html", "trajectory.npz"], "nothing temporary is left");
    let script = r#"
import json, numpy
run = numpy.load("result/trajectory.npz", allow_pickle=False)
meta = json.load(open("result/meta.json"))
shapes = {k: list(run[k].shape) for k in run.files}
print(json.dumps({
    "shapes": shapes,
    "last": run["q"][-1].tolist(), "t": run["t"].tolist(), "kind": str(run["sigma"].dtype),
    "normal": float(run["percussion"][:, meta["interactions"][1]["first"]].sum()),
    "names": [i["name"] for i in meta["interactions"]],
}))
"#;
    let out = std::process::Command::new(python()).args(["-c", script]).current_dir(d.path()).output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let seen: Value = serde_json::from_slice(&out.stdout).unwrap();
    // 1000 steps, every third, the start and the last.
    assert_eq!(seen["shapes"]["t"], serde_json::json!([335]));
    assert_eq!(seen["shapes"]["q"], serde_json::json!([335, 3]));
    assert_eq!(seen["shapes"]["percussion"], serde_json::json!([335, 6]));
    assert_eq!(seen["shapes"]["sigma"], serde_json::json!([335, 3]));
    assert_eq!(seen["kind"], "uint32");
    assert_eq!(seen["last"], json["q"], "the same bits");
    assert_eq!(seen["names"], serde_json::json!(["beak", "lower", "upper"]));
    let t = numbers(&seen["t"]);
    assert!(t.windows(2).all(|w| w[0] < w[1]) && t[0] == 0.0 && t[334] == 0.1);
    assert!(seen["normal"].as_f64().unwrap() > 0.0);

    let csv = d.read("result/events.csv");
    assert_eq!(csv.lines().count(), 1 + json["events"].as_array().unwrap().len());
    assert_eq!(csv.lines().next(), Some("t,kind,contact,percussion,approach,separation,energy_lost"));
    let meta: Value = serde_json::from_str(&d.read("result/meta.json")).unwrap();
    assert_eq!(meta["scene_text"].as_str().unwrap(), d.run(&["show", "woodpecker"]).out);
    assert_eq!(meta["overrides"], serde_json::json!(["output.every=3", "time.end=0.1"]));
    for key in [
        "version",
        "scene_hash",
        "scheme",
        "scheme_options",
        "solver",
        "time",
        "initial",
        "parameters",
        "seed",
        "threads",
    ] {
        assert!(meta.get(key).is_some(), "{key}");
    }
    assert_eq!(meta["scheme_options"]["theta"].as_f64(), Some(0.5));

    // Again into the same folder: it is ours. The bits are the same.
    let bytes = std::fs::read(d.path().join("result/trajectory.npz")).unwrap();
    assert_eq!(d.run(&words).code, 0);
    assert_eq!(std::fs::read(d.path().join("result/trajectory.npz")).unwrap(), bytes);
}

#[test]
fn a_folder_with_something_else_is_refused_without_force() {
    let d = Directory::new();
    std::fs::create_dir(d.path().join("full")).unwrap();
    d.write("full/thesis.tex", "\\end");
    d.write("file", "");
    let short = ["run", "bouncing_ball", "--json", "--end", "0.01", "--out"];
    let refused = d.run(&[&short[..], &["full"]].concat());
    assert_eq!(refused.code, 2);
    assert!(refused.err.contains("--force") && refused.out.is_empty(), "{}", refused.err);
    assert_eq!(d.run(&[&short[..], &["file"]].concat()).code, 2);
    let forced = d.run(&[&short[..], &["full", "--force"]].concat());
    assert_eq!(forced.code, 0, "{}", forced.err);
    assert_eq!(d.read("full/thesis.tex"), "\\end");
    // A new folder inside a new folder is made; nothing outside is touched.
    assert_eq!(d.run(&[&short[..], &["a/b"]].concat()).code, 0);
    assert_eq!(d.names(), ["a", "file", "full"]);
}

/// Force that is undefined from t = 0.5 on.
const UNDEFINED: &str = "[model]\ncoordinates = [\"x\"]\nmass = 1\n[[force]]\nname = \"pull\"\nvalue = \"sqrt(0.5 - t)\"\n[time]\nstep = 0.01\nend = 1\n";

/// Two joints that pull the same coordinate apart from t = 0 on.
const IMPOSSIBLE: &str = "[model]\ncoordinates = [\"x\"]\nmass = 1\n[[joint]]\nname = \"left\"\nposition = \"x + t\"\n\
                          [[joint]]\nname = \"right\"\nposition = \"x - t\"\n[time]\nstep = 0.01\nend = 1\n";

#[test]
fn a_run_that_stops_says_when_why_and_what_was_saved() {
    let d = Directory::new();
    d.write("undefined.toml", UNDEFINED);
    let output = d.run(&["run", "undefined.toml", "--json"]);
    assert_eq!(output.code, 1, "{}", output.err);
    let json = output.json();
    assert_eq!(json["status"], "stopped");
    let t = json["stopped"]["t"].as_f64().unwrap();
    assert!((0.45..=0.5).contains(&t), "{t}");
    assert!(json["stopped"]["reason"].as_str().unwrap().contains("`pull`"), "{}", json["stopped"]);

    d.write("impossible.toml", IMPOSSIBLE);
    let output = d.run(&["run", "impossible.toml", "--json"]);
    assert_eq!(output.code, 1, "{}", output.err);
    let json = output.json();
    let saved = json["stopped"]["saved"].as_str().unwrap().to_string();
    let problem: Value = serde_json::from_str(&d.read(&saved)).unwrap();
    assert_eq!(problem["format"], "nonsmooth full problem 1");
    let names: Vec<&Value> = problem["blocks"].as_array().unwrap().iter().map(|b| &b["name"]).collect();
    assert_eq!(names, ["left", "right"]);
    let solved = d.run(&["solve", &saved, "--json", "--time-limit", "5"]);
    assert!(solved.code == 1 && solved.json()["status"] != "solved", "it has no solution: {}", solved.out);
    let output = d.run(&["run", "impossible.toml", "--out", "result"]);
    assert_eq!(output.code, 1);
    assert!(output.out.contains("STOPPED"), "{}", output.out);
    assert!(d.path().join("result/failed-problem.json").is_file());
    assert!(d.path().join("result/trajectory.npz").is_file(), "what was computed is written");
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_finishes_its_step_and_writes_everything() {
    use std::io::Read;
    let d = Directory::new();
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_nonsmooth"))
        .args(["run", "bouncing_ball", "--json", "--step", "1e-6", "--end", "1000", "--max-steps", "2000000000"])
        .args(["--out", "result", "--set", "output.every=100000"])
        .current_dir(d.path())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(std::time::Duration::from_millis(700));
    let id = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let mut out = String::new();
    child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(130), "{out}");
    let json: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(json["status"], "interrupted");
    assert!(json["t"].as_f64().unwrap() > 0.0 && json["t"].as_f64().unwrap() < 1000.0);
    for name in ["trajectory.npz", "events.csv", "meta.json", "report.html"] {
        assert!(d.path().join("result").join(name).is_file(), "{name}");
    }
}

#[test]
fn every_example_is_listed_shown_checked_and_runs() {
    let d = Directory::new();
    let list = d.run(&["list", "examples", "--json"]).json();
    let examples = list["examples"].as_array().unwrap();
    assert!(!examples.is_empty());
    let mut slow = Vec::new();
    for example in examples {
        let name = example["name"].as_str().unwrap();
        assert!(!example["title"].as_str().unwrap().is_empty(), "{name} has a title");
        let shown = d.run(&["show", name]);
        assert!(
            shown.code == 0
                && ["[model]", "[[body]]", "[[bar]]"].iter().any(|k| shown.out.contains(k))
                && shown.out.starts_with('#'),
            "{name}"
        );
        assert!(
            shown.out.contains("Source:") && shown.out.contains("Look at:"),
            "{name} says source and what to look at"
        );
        let check = d.run(&["check", name]);
        assert_eq!(check.code, 0, "{name}: {}", check.err);
        assert!(check.out.contains("mass matrix at the start"), "{name}");
        let clock = std::time::Instant::now();
        // Many bodies: a part of the run here, the whole pile in crates/scene/tests/pile.rs; their residual is that of the scene.
        let many = ["disc_pile", "mixing_disks"].contains(&name);
        let run = if many { d.run(&["run", name, "--json", "--end", "0.15"]) } else { d.run(&["run", name, "--json"]) };
        let seconds = clock.elapsed().as_secs_f64();
        println!("{name:24} {seconds:6.2} s");
        if MAY_STOP.contains(&name) {
            assert!(run.code <= 1, "{name}: {}", run.err);
        } else {
            assert_eq!(run.code, 0, "{name}: {} {}", run.err, run.out);
        }
        let json = run.json();
        // Certificates and ledger of every example: the solver's tolerance, and rounding of as many steps as there are.
        let worst = &json["worst"];
        // The residual of a certificate has another scale than the solver's: some times 1e-4 for those of tol = 1e-4.
        let bound = if many { 1e-3 } else { 1e-8 };
        assert!(worst["residual"].as_f64().unwrap() <= bound, "{name}: {worst}");
        assert!(worst["energy_closure"].as_f64().unwrap() <= 1e-8, "{name}: {worst}");
        if seconds > 20.0 {
            slow.push(format!("{name}: {seconds:.1} s"));
        }
    }
    assert!(slow.is_empty(), "more than 20 s: {slow:?}");
}

/// Examples that may end with a stop: the paradox is their point.
const MAY_STOP: [&str; 1] = ["painleve_rod"];

#[test]
fn the_starter_scene_checks_and_runs() {
    let d = Directory::new();
    assert_eq!(d.run(&["new", "mine.toml"]).code, 0);
    let check = d.run(&["check", "mine.toml"]);
    assert!(check.code == 0 && check.out.contains("no warnings"), "{}{}", check.out, check.err);
    let run = d.run(&["run", "mine.toml"]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.out.contains("impact") && run.out.contains("wall"), "it hits the wall: {}", run.out);
    assert_eq!(d.run(&["new", "mine.toml"]).code, 2, "it is not overwritten");
    assert_eq!(d.run(&["new", "mine.toml", "--force"]).code, 0);
}

#[test]
fn lists_help_version_and_completions_are_there() {
    let d = Directory::new();
    for what in ["examples", "schemes", "solvers", "laws"] {
        let plain = d.run(&["list", what]);
        assert!(plain.code == 0 && plain.out.lines().count() >= 2, "{what}");
        assert!(d.run(&["list", what, "--json"]).json()[what].as_array().is_some_and(|l| !l.is_empty()), "{what}");
    }
    let schemes = d.run(&["list", "schemes", "--json"]).json();
    let jean = schemes["schemes"].as_array().unwrap().iter().find(|s| s["name"] == "moreau-jean").unwrap();
    let theta = jean["options"].as_array().unwrap().iter().find(|o| o["key"] == "scheme.theta").unwrap();
    assert_eq!((theta["default"].as_f64(), &theta["type"]), (Some(0.5), &"number".into()));
    assert_eq!(theta["range"], serde_json::json!([0.0, 1.0]));
    assert!(jean["unsupported"].as_array().unwrap().iter().any(|f| f == "Poisson restitution"));
    let paoli = schemes["schemes"].as_array().unwrap().iter().find(|s| s["name"] == "schatzman-paoli").unwrap();
    assert_eq!(paoli["position_level"], true);
    let lacks = |what: &str| paoli["unsupported"].as_array().unwrap().iter().any(|f| f == what);
    assert!(lacks("friction") && lacks("steps of changing length") && !lacks("joints") && !lacks("moving obstacles"));
    // It has no `stabilise`, and takes whole steps only: both are said before the run.
    let own = ["run", "bouncing_ball", "--scheme", "schatzman-paoli"];
    let stabilised = d.run(&[&own[..], &["--set", "scheme.stabilise=projection"]].concat());
    assert!(stabilised.code == 2 && stabilised.err.contains("no option `stabilise`"), "{}", stabilised.err);
    let uneven = d.run(&[&own[..], &["--step", "0.03"]].concat());
    assert!(uneven.code == 2 && uneven.err.contains("--step") && uneven.err.contains("one length"), "{}", uneven.err);
    for words in [&["--help"][..], &["run", "--help"], &["--version"], &["completions", "bash"]] {
        let output = d.run(words);
        assert!(output.code == 0 && !output.out.is_empty(), "{words:?}");
    }
    assert!(d.run(&["run", "--help"]).out.contains("Examples:"));
}

#[test]
fn check_explains_and_warns() {
    let d = Directory::new();
    let text = d.run(&["check", "woodpecker"]).out;
    for part in
        ["coordinates", "phi_m", "mass matrix", "contacts", "beak", "kinetic", "potential", "penetrates by 8.800e-7"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    let redundant = "[model]\ncoordinates = [\"x\", \"y\"]\nmass = [1, 1]\n[parameters]\nlost = 3\n\
                     [[joint]]\nname = \"a\"\nposition = \"x - y\"\n[[joint]]\nname = \"b\"\nposition = \"2*x - 2*y\"\n\
                     [initial]\nu = [1, 0]\n[time]\nstep = 0.01\nend = 1\n";
    d.write("redundant.toml", redundant);
    let text = d.run(&["check", "redundant.toml"]).out;
    for part in ["2 constraints of rank 1", "redundant", "`lost` is not used", "broken by the start velocities"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}
