//! Every scheme on every bundled scene: it runs, or it is refused for a reason that is listed here.

use nonsmooth::scheme::SCHEMES;
use nonsmooth::simulation::Status;
use nonsmooth_scene::bundled::EXAMPLES;
use nonsmooth_scene::file::format::json_schema;
use nonsmooth_scene::prepare::{Prepared, Request};
use nonsmooth_scene::run::RunOptions;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Scheme, scene, and a part of the message.
const REFUSED: &[(&str, &str, &str)] = &[
    ("trapezoidal-lcp", "tippedisk", "friction of slip dimension 3"),
    (SP, "disc_pile", FRICTION),
    (SP, "mixing_disks", FRICTION),
    (SP, "painleve_rod", FRICTION),
    (SP, "pendulum_ring", FRICTION),
    (SP, "roller_slider", FRICTION),
    (SP, "rotating_ball", FRICTION),
    (SP, "slider_crank", FRICTION),
    (SP, "slider_crank_joints", FRICTION),
    (SP, "sliding_block", FRICTION),
    (SP, "sliding_mass", ELEMENTS),
    (SP, "slope_mass", FRICTION),
    (SP, "tippedisk", KINEMATICS),
    (SP, "two_carts", ELEMENTS),
    (SP, "woodpecker", FRICTION),
    (PT, "bouncing_ball", RESTITUTION),
    (PT, "disc_pile", RESTITUTION),
    (PT, "double_pendulum_wall", JOINTS),
    (PT, "falling_mass", RESTITUTION),
    (PT, "impact_oscillator", RESTITUTION),
    (PT, "linear_oscillator", RESTITUTION),
    (PT, "mixing_disks", FRICTION),
    (PT, "painleve_rod", FRICTION),
    (PT, "pendulum_ring", FRICTION),
    (PT, "rocking_block", RESTITUTION),
    (PT, "roller_slider", RESTITUTION),
    (PT, "rotating_ball", FRICTION),
    (PT, "slider_crank", RESTITUTION),
    (PT, "slider_crank_joints", JOINTS),
    (PT, "sliding_block", FRICTION),
    (PT, "sliding_mass", ELEMENTS),
    (PT, "slope_mass", FRICTION),
    (PT, "tippedisk", KINEMATICS),
    (PT, "two_carts", RESTITUTION),
    (PT, "woodpecker", RESTITUTION),
];

const SP: &str = "schatzman-paoli";
const PT: &str = "position-theta";
const RESTITUTION: &str = "does not support restitution of contacts (e > 0)";
const JOINTS: &str = "does not support joints";
const FRICTION: &str = "does not support friction of slip dimension 1";
const ELEMENTS: &str = "does not support elements without a gap";
const KINEMATICS: &str = "does not support velocities that differ from q' (nq != nu)";

/// Scenes of many bodies or elements are run with few of them, to a residual as small as that of the others.
const FEWER: &[(&str, &[&str])] = &[
    ("disc_pile", &["parameters.number=40", "parameters.width=0.5", "solver.tol=1e-10"]),
    // Explicit schemes are stable up to a step of l/(c0 sqrt(3)): coarse elements.
    ("impacting_bar", &["parameters.elements=20"]),
    ("mixing_disks", &["parameters.number=40", "parameters.drum=0.25", "solver.tol=1e-10"]),
];

/// Overrides that make a scene of many bodies or elements one of few.
pub(crate) fn fewer(scene: &str) -> impl Iterator<Item = &'static str> {
    FEWER.iter().filter(move |(name, _)| *name == scene).flat_map(|(_, set)| set.iter().copied())
}

/// Steps that are taken of every pair: through the first impacts of every scene.
const STEPS: f64 = 3000.0;
/// The same of heaps, whose steps are dear, and of schemes that choose their steps and make many of one.
const DEAR: f64 = 1000.0;

#[test]
fn every_scheme_runs_every_scene_that_its_capabilities_allow() {
    let pairs: Vec<_> = EXAMPLES.iter().flat_map(|e| SCHEMES.iter().map(|s| (e.name, s.name))).collect();
    let (next, refused) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, |n| n.get()) {
            scope.spawn(|| {
                while let Some(&(scene, scheme)) = pairs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    refused.fetch_add(usize::from(!runs(scene, scheme)), Ordering::Relaxed);
                }
            });
        }
    });
    assert_eq!(refused.into_inner(), REFUSED.len());
}

/// Runs a scheme on a scene and looks at the result. False if it is refused, for the reason in the list.
fn runs(name: &str, scheme: &str) -> bool {
    let what = format!("{scheme} on {name}");
    let set = fewer(name).map(String::from).collect();
    let mut request = Request { scheme: Some(scheme.into()), set, ..Request::default() };
    let whole = Prepared::load(name, &request).unwrap();
    let dear = whole.scheme.adaptive || name.contains("disc") || name.contains("disk");
    request.end = Some((if dear { DEAR } else { STEPS } * whole.options.step).min(whole.options.end));
    let mut scene = Prepared::load(name, &request).unwrap();
    match scene.run(&RunOptions::default(), &mut |_, _| {}) {
        Ok(outcome) => {
            let s = &outcome.summary;
            assert_eq!(s.status, Status::Done, "{what}: {:?}", s.stop.as_ref().map(ToString::to_string));
            // The solver's tolerance of 1e-10 in the scale of the certificate, and rounding of the ledger.
            assert!(s.worst.residual() <= 1e-8, "{what}: residual {:e}", s.worst.residual());
            assert!(s.energy.closure <= 1e-9, "{what}: closure {:e}", s.energy.closure);
            true
        }
        Err(e) => {
            let message = e.to_string();
            let known = REFUSED.iter().find(|(s, n, _)| (*s, *n) == (scheme, name));
            let (.., part) = known.unwrap_or_else(|| panic!("{what}: {message}"));
            assert!(message.contains(part), "{what}: {message}");
            false
        }
    }
}

/// The file that editors read, beside the documents.
#[test]
fn the_schema_file_is_current() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/scene.schema.json");
    let current = serde_json::to_string_pretty(&json_schema()).unwrap() + "\n";
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(path, &current).unwrap();
    }
    let found = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        found == current,
        "docs/scene.schema.json is old: UPDATE=1 cargo test -p nonsmooth-scene --test tests schemes"
    );
}

#[test]
fn the_schema_knows_every_key_that_the_examples_use() {
    let schema = json_schema();
    for example in EXAMPLES {
        let value: toml::Value = toml::from_str(example.text).unwrap();
        for (key, node) in value.as_table().unwrap() {
            let part = &schema["properties"][key];
            assert!(part.is_object(), "{}: {key} is not in the schema", example.name);
            let items = if node.is_array() { &part["items"] } else { part };
            let tables: Vec<&toml::Value> = node.as_array().map_or(vec![node], |a| a.iter().collect());
            let closed = items["additionalProperties"] == false;
            for table in tables.iter().filter_map(|t| t.as_table()).filter(|_| closed) {
                for inner in table.keys() {
                    assert!(items["properties"][inner].is_object(), "{}: {key}.{inner}", example.name);
                }
            }
        }
    }
}
