//! Scenes of bodies and bars through the real command: momentum, determinism, files.

use crate::command::{Directory, python};
use serde_json::Value;

fn numbers(v: &Value) -> Vec<f64> {
    v.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

#[test]
fn the_wall_gives_the_bar_its_momentum_and_lets_go_when_the_wave_is_back() {
    let d = Directory::new();
    let json = d.run(&["run", "impacting_bar", "--json"]).json();
    assert_eq!(json["status"], "done");
    let names: Vec<&str> = json["coordinates"].as_array().unwrap().iter().map(|n| n.as_str().unwrap()).collect();
    assert_eq!((names.len(), names[0], names[1000]), (1001, "bar_0", "bar_1000"));
    // Momentum of the consistent mass: the trapezoidal mean of the node velocities times ρ S L.
    let u = numbers(&json["u"]);
    let mass = 7800.0 * std::f64::consts::PI * 1e-4;
    let mean = (u.iter().sum::<f64>() - 0.5 * (u[0] + u[1000])) / 1000.0;
    let given = mass * (mean + 0.1);
    let percussion = json["percussions"]["wall"]["normal"].as_f64().unwrap();
    assert!((percussion - given).abs() <= 1e-9 * given, "{percussion} N s, momentum {given} N s");
    // An elastic bar of no loss would fly off with v0: 2 ρ S L v0, of which the waves behind the front keep 1 %.
    assert!((percussion / (0.2 * mass) - 1.0).abs() < 0.01, "{percussion}");
    let event = |kind: &str| {
        let list = json["events"].as_array().unwrap();
        let found: Vec<f64> = list.iter().filter(|e| e["kind"] == kind).map(|e| e["t"].as_f64().unwrap()).collect();
        assert_eq!(found.len(), 1, "{kind}: {}", json["events"]);
        found[0]
    };
    assert_eq!(event("close"), 2e-6);
    // 2 L/c0; the front is some steps wide.
    let back = 2.0 / (210e9f64 / 7800.0).sqrt();
    assert!((event("open") - back).abs() <= 4.0 * 2e-6, "{}", event("open"));
}

/// Forty of the thousand discs in a smaller drum and box; by a name of the output folder and more words.
fn small(d: &Directory, name: &str, folder: &str, more: &[&str]) -> Value {
    let size = if name == "mixing_disks" { "parameters.drum=0.25" } else { "parameters.width=0.5" };
    let words =
        ["run", name, "--json", "--out", folder, "--end", "0.5", "--set", "parameters.number=40", "--set", size];
    let output = d.run(&[&words[..], more].concat());
    assert_eq!(output.code, 0, "{name}: {}", output.err);
    output.json()
}

fn files(d: &Directory, folder: &str) -> [Vec<u8>; 2] {
    ["trajectory.npz", "events.csv"].map(|f| std::fs::read(d.path().join(folder).join(f)).unwrap())
}

#[test]
fn a_seed_makes_the_same_files_for_any_number_of_threads() {
    for name in ["mixing_disks", "disc_pile"] {
        let d = Directory::new();
        small(&d, name, "first", &[]);
        small(&d, name, "again", &[]);
        small(&d, name, "threads", &["--set", "world.threads=2"]);
        small(&d, name, "other", &["--set", "parameters.seed=2"]);
        let first = files(&d, "first");
        assert!(first[1].split(|b| *b == b'\n').count() > 100, "{name}: there is something to compare");
        assert!(files(&d, "again") == first, "{name}: the same seed");
        assert!(files(&d, "threads") == first, "{name}: two threads");
        let other = files(&d, "other");
        assert!(other[0] != first[0] && other[1] != first[1], "{name}: another seed");
        let meta = |folder: &str| -> Value { serde_json::from_str(&d.read(&format!("{folder}/meta.json"))).unwrap() };
        assert_eq!((&meta("first")["seed"], &meta("other")["seed"]), (&1.0.into(), &2.0.into()), "{name}");
        assert_eq!(meta("threads")["threads"], 2, "{name}");
    }
}

#[test]
fn the_arrays_of_found_contacts_sum_to_the_percussions_and_name_bodies() {
    let script = r#"
import json, numpy
run = numpy.load("result/trajectory.npz", allow_pickle=False)
meta = json.load(open("result/meta.json"))
row, contact, p, sigma = (run["found_" + k] for k in ("row", "contact", "percussion", "sigma"))
assert row.dtype == contact.dtype == sigma.dtype == numpy.uint32
assert len(row) == len(contact) == len(sigma) == len(p) > 1000 and p.shape[1] == 2
assert (numpy.diff(row.astype(int)) >= 0).all() and row.min() >= 1 and row.max() < len(run["t"])
assert set(contact) == set(range(len(meta["found"]))), "every contact of the list occurs"
assert (p[:, 0] >= 0).all() and numpy.abs(p).max(axis=1).min() > 0
sums = {}
for name, part in zip(numpy.array(meta["found"])[contact], p):
    sums[name] = sums.get(name, 0) + part
first = {b["name"]: b["first_coordinate"] for b in meta["bodies"]}
for name in meta["found"]:
    assert all(b in first for b in name.split("-")), name
for name, k in first.items():
    assert k is None or meta["coordinates"][k:k + 3] == [name + e for e in ("_x", "_y", "_phi")], name
print(json.dumps({"sums": {k: v.tolist() for k, v in sums.items()}, "bodies": len(first),
                  "free": sum(k is not None for k in first.values())}))
"#;
    for (name, bodies, tol) in [("mixing_disks", 41, 1e-3), ("disc_pile", 43, 1e-4)] {
        let d = Directory::new();
        let json = small(&d, name, "result", &[]);
        let out = std::process::Command::new(python()).args(["-c", script]).current_dir(d.path()).output().unwrap();
        assert!(out.status.success(), "{name}: {}", String::from_utf8_lossy(&out.stderr));
        let seen: Value = serde_json::from_slice(&out.stdout).unwrap();
        assert_eq!((seen["bodies"].as_u64(), seen["free"].as_u64()), (Some(bodies), Some(40)), "{name}");
        let percussions = json["percussions"].as_object().unwrap();
        let sums = seen["sums"].as_object().unwrap();
        assert!(percussions.len() > 40, "{name}: {}", percussions.len());
        assert!(percussions.keys().eq(sums.keys()), "{name}: {:?} {:?}", percussions.keys(), sums.keys());
        for (contact, p) in percussions {
            let here = [p["normal"].as_f64().unwrap(), p["tangential"][0].as_f64().unwrap()];
            let there = numbers(&sums[contact]);
            // Rounding of as many terms as there are steps.
            let close = |a: f64, b: f64| (a - b).abs() <= 1e-12 * here[0];
            assert!(close(here[0], there[0]) && close(here[1], there[1]), "{name}: {contact} {here:?} {there:?}");
        }
        // The residual is that of the scene's solver.tol; the ledger closes to rounding.
        assert!(json["worst"]["residual"].as_f64().unwrap() <= tol, "{name}: {}", json["worst"]);
        assert!(json["worst"]["energy_closure"].as_f64().unwrap() <= 1e-12, "{name}: {}", json["worst"]);
    }
}

#[test]
fn check_counts_bodies_and_shapes_and_warns_of_pairs_that_pass_through_each_other() {
    let d = Directory::new();
    let check = |words: &[&str]| {
        let output = d.run(&[&["check"], words].concat());
        assert_eq!(output.code, 0, "{words:?}: {}", output.err);
        output.out
    };
    let text = check(&["disc_pile", "--set", "parameters.number=40", "--set", "parameters.width=0.5"]);
    for part in ["bodies        43 (40 move by forces)", "shapes        40 disc, 4 half-plane", "no warnings"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    d.write(
        "pile.toml",
        d.run(&["show", "disc_pile"])
            .out
            .replace("name = \"touch\"", "name = \"touch\"\nbetween = [\"disc\", \"disc\"]"),
    );
    let text = check(&["pile.toml"]);
    // One pair stands for all of its materials: the floor has a law of its own, both sides have none.
    let warnings: Vec<&str> = text.lines().filter(|l| l.starts_with("warning")).collect();
    assert!(warnings.len() == 1 && warnings[0].contains("`left` and `disc_0`"), "{warnings:?}");
}

/// A box that hangs on a trolley: a body, a coordinate by formula, a joint, a force and a gap between them.
const TROLLEY: &str = r#"
[parameters]
k = 40

[world]
gravity = [0, -9.81]

[[body]]
name = "box"
shape.rectangle = { width = 0.4, height = 0.2 }
density = 50
position = [0, -0.5]
spin = 2

[model]
coordinates = ["s"]
mass = 3
potential = "0.5*k*(s - 0.1)^2"

[[force]]
name = "drag"
value = { box_x = "-0.2*box_x'", s = "-s'" }

[[joint]]
name = "hook"
position = ["box_x - 0.1*sin(box_phi) - s", "box_y + 0.1*cos(box_phi) + 0.4"]

[[contact]]
name = "buffer"
gap = "0.15 - s"
restitution = 0.5

[initial]
u = { box_x = 0.2 }

[time]
step = 1e-3
end = 2

[scheme]
name = "moreau-jean"
stabilise = "projection"
"#;

#[test]
fn a_body_and_a_formula_are_joined_and_the_ledger_closes() {
    let d = Directory::new();
    d.write("trolley.toml", TROLLEY);
    let json = d.run(&["run", "trolley.toml", "--json"]).json();
    assert_eq!((&json["status"], &json["warnings"]), (&"done".into(), &Value::Array(vec![])), "{json}");
    assert_eq!(json["coordinates"], serde_json::json!(["box_x", "box_y", "box_phi", "s"]), "bodies first");
    let q = numbers(&json["q"]);
    assert!((q[0] - 0.1 * q[2].sin() - q[3]).abs() < 1e-9 && (q[1] + 0.1 * q[2].cos() + 0.4).abs() < 1e-9, "{q:?}");
    let worst = &json["worst"];
    assert!(worst["energy_closure"].as_f64().unwrap() < 1e-11, "{worst}");
    assert!(worst["residual"].as_f64().unwrap() < 1e-9, "{worst}");
    let ledger = &json["energy"]["ledger"];
    assert!(ledger["force.drag"].as_f64().unwrap() < -1e-3, "the drag acts on body and trolley: {ledger}");
    assert!(json["percussions"]["buffer"]["normal"].as_f64().unwrap() > 0.1, "{}", json["percussions"]);
    // Start values of bodies go by name too, and an override of one is that of the body.
    let other = d.run(&["run", "trolley.toml", "--json", "--set", "body.box.spin=0", "--at", "0"]).json();
    assert_eq!(numbers(&other["at"][0]["u"]), [0.2, 0.0, 0.0, 0.0]);
}

#[test]
fn a_spring_without_length_rests_where_the_start_puts_its_bodies() {
    let d = Directory::new();
    let scene = "[[body]]\nname = \"w\"\nfixed = true\n[[body]]\nname = \"a\"\nmass = 1\ninertia = 1\nposition = [1, 0]\n\
                 [[spring]]\nname = \"s\"\nbodies = [\"w\", \"a\"]\nstiffness = 100\n[initial]\nq = { a_x = 2 }\n\
                 [time]\nstep = 1e-3\nend = 0.1\n";
    d.write("spring.toml", scene);
    let json = d.run(&["run", "spring.toml", "--json", "--out", "out"]).json();
    assert_eq!((numbers(&json["q"])[0], numbers(&json["u"])[0]), (2.0, 0.0));
    let meta: Value = serde_json::from_slice(&std::fs::read(d.path().join("out/meta.json")).unwrap()).unwrap();
    assert_eq!(numbers(&meta["bodies"][1]["pose"]), [2.0, 0.0, 0.0]);
    // One that is driven is where it is at `time.start`.
    let driven = scene.replace("fixed = true", "motion = { x = \"t\" }").replace("[time]", "[time]\nstart = 1");
    d.write("driven.toml", driven.replace("end = 0.1", "end = 1.001"));
    let json = d.run(&["run", "driven.toml", "--json"]).json();
    // 1 m long at the start, and shorter by at most what the wall goes in a step.
    assert!(numbers(&json["u"])[0].abs() <= 100.0 * 1e-3 * 1e-3, "{}", json["u"]);
}

#[test]
fn a_model_beside_bodies_may_have_breaks_alone() {
    let d = Directory::new();
    let scene =
        "[model]\nbreaks = [0.05]\n[[body]]\nname = \"a\"\nmass = 1\ninertia = 1\n[time]\nstep = 0.02\nend = 0.1\n";
    d.write("breaks.toml", scene);
    let json = d.run(&["run", "breaks.toml", "--json"]).json();
    let events = json["events"].as_array().unwrap();
    assert_eq!((events.len(), &events[0]["kind"], events[0]["t"].as_f64()), (1, &Value::from("break"), Some(0.05)));
    d.write("force.toml", scene.replace("[[body]]", "force = 1\n[[body]]"));
    let output = d.run(&["run", "force.toml"]);
    assert_eq!(output.code, 2);
    assert!(output.err.contains("[[force]]"), "{}", output.err);
}

#[test]
fn laws_without_geometry_are_named() {
    let d = Directory::new();
    let floor = "[[body]]\nname = \"floor\"\nfixed = true\nshape.half_plane.normal = [0, 1]\n";
    let ring = "[[body]]\nname = \"ring\"\nmass = 1\ninertia = 1\nposition = [0, 1]\nshape.inner_circle.radius = 0.5\n";
    let rest = "[[body]]\nname = \"p\"\nmass = 1\ninertia = 1\n[[contact]]\nname = \"c\"\n\
                [[contact]]\nname = \"d\"\nbetween = [\"p\", \"floor\"]\n[time]\nstep = 1e-2\nend = 0.1\n";
    d.write("ring.toml", [floor, ring, rest].concat());
    for command in ["check", "run"] {
        let out = d.run(&[command, "ring.toml"]).out;
        assert!(out.contains("`floor` and `ring` pass through each other"), "{out}");
        assert!(out.contains("contact `d` never acts: `p` has no shape"), "{out}");
    }
    d.write(
        "disc.toml",
        [floor, &ring.replace("inner_circle", "disc"), rest].concat().replace("\"p\", \"f", "\"ring\", \"f"),
    );
    let out = d.run(&["check", "disc.toml"]).out;
    assert!(out.contains("no warnings"), "{out}");
}

#[test]
fn overlaps_that_are_large_for_the_bodies_are_refused() {
    let d = Directory::new();
    let scene = |x: &str| {
        format!(
            "[[body]]\nname = \"a\"\ndensity = 1000\nshape.disc.radius = 4e-6\n[[body]]\nname = \"b\"\ndensity = 1000\n\
             position = [{x}, 0]\nshape.disc.radius = 4e-6\n[[contact]]\nname = \"c\"\n[time]\nstep = 1e-5\nend = 1e-4\n"
        )
    };
    d.write("deep.toml", scene("1e-6"));
    let output = d.run(&["run", "deep.toml"]);
    assert_eq!(output.code, 2);
    assert!(output.err.contains("`a-b`") && output.err.contains("8.000e-6 m"), "{}", output.err);
    // By 0.5 % of the diameter.
    d.write("slight.toml", scene("7.96e-6"));
    assert_eq!(d.run(&["run", "slight.toml"]).code, 0);
}
