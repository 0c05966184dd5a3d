//! What an impact is: one judgment of every step, in the log, in the step and in the files.

use crate::schemes::fewer;
use nonsmooth::contract::Kind;
use nonsmooth::scheme::SCHEMES;
use nonsmooth::simulation::{Event, EventKind, Observer, StepView, Summary};
use nonsmooth::{Hit, State};
use nonsmooth_scene::bundled::EXAMPLES;
use nonsmooth_scene::file::Document;
use nonsmooth_scene::prepare::{Prepared, Request};
use nonsmooth_scene::report::run_json;
use nonsmooth_scene::run::RunOptions;
use std::collections::BTreeMap;

/// A contact that was hit, with the start and the end of the step.
struct Seen {
    id: u64,
    start: f64,
    end: f64,
}

/// What the steps of a run say.
#[derive(Default)]
struct Hits {
    of_contacts: Vec<Seen>,
    of_joints: usize,
    steps: usize,
    /// Contacts that carry the remainder of an impact.
    remainders: usize,
    /// State at the end of the last step.
    end: State,
}

impl Observer for Hits {
    fn step(&mut self, view: &StepView) {
        let step = view.step;
        self.steps += usize::from(step.impact());
        for (i, k) in step.candidates.items().iter().enumerate() {
            match (step.hit(i), k.kind) {
                (Hit::None, _) => {}
                (Hit::Remainder, _) => self.remainders += 1,
                (_, Kind::Contact) => {
                    self.of_contacts.push(Seen { id: k.id, start: view.start.t, end: view.end.t });
                }
                _ => self.of_joints += 1,
            }
        }
        self.end.q.clone_from(&view.end.q);
    }
}

fn scene(text: &str, scheme: &str, set: &[&str]) -> Option<Prepared> {
    let set = set.iter().map(|s| (*s).to_string()).collect();
    let request = Request { scheme: Some(scheme.into()), set, ..Request::default() };
    Prepared::new(Document::parse("impacts", text).unwrap(), &request).ok()
}

fn run(prepared: &Prepared) -> Option<(Summary, Hits)> {
    let mut hits = Hits::default();
    let summary = prepared.simulation().ok()?.run_with(&mut hits);
    Some((summary, hits))
}

fn impacts(summary: &Summary) -> Vec<&Event> {
    summary.events.iter().filter(|e| e.kind == EventKind::Impact).collect()
}

/// Every contact that a step calls hit has its event, and the other way round. Its time lies within a step of the start of that step.
fn agree(what: &str, summary: &Summary, hits: &Hits) {
    let of_contact = |e: &&Event| matches!(e.kind, EventKind::Impact | EventKind::Paradox);
    let mut events: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    summary.events.iter().filter(of_contact).for_each(|e| events.entry(e.id.unwrap()).or_default().push(e.t));
    let mut steps: BTreeMap<u64, Vec<&Seen>> = BTreeMap::new();
    hits.of_contacts.iter().for_each(|s| steps.entry(s.id).or_default().push(s));
    assert_eq!(events.keys().collect::<Vec<_>>(), steps.keys().collect::<Vec<_>>(), "{what}");
    for ((id, times), steps) in events.iter().zip(steps.values()) {
        assert_eq!(times.len(), steps.len(), "{what}: contact {id}");
        for (t, s) in times.iter().zip(steps) {
            let (dt, rounding) = (s.end - s.start, 1e-12 * s.end.abs().max(1.0));
            assert!(*t >= s.start - dt - rounding && *t <= s.end + rounding, "{what}: {t} in {} to {}", s.start, s.end);
        }
    }
    assert_eq!(hits.steps == 0, hits.of_contacts.is_empty(), "{what}");
}

/// Names of all schemes.
fn schemes() -> impl Iterator<Item = &'static str> {
    SCHEMES.iter().map(|s| s.name)
}

#[test]
fn log_and_steps_agree_in_every_scene_with_every_scheme() {
    let (mut runs, mut hit, mut paradoxes, mut remainders) = (0, 0, 0, 0);
    for example in EXAMPLES {
        for scheme in schemes() {
            let set = fewer(example.name).map(String::from).collect();
            let mut request = Request { scheme: Some(scheme.into()), set, ..Request::default() };
            let whole = Prepared::load(example.name, &request).unwrap();
            let dear = whole.scheme.adaptive || example.name.contains("disc") || example.name.contains("disk");
            let steps = if dear { 300.0 } else { 2000.0 };
            request.end = Some((steps * whole.options.step).min(whole.options.end));
            let prepared = Prepared::load(example.name, &request).unwrap();
            let Some((summary, hits)) = run(&prepared) else { continue };
            agree(&format!("{} with {scheme}", example.name), &summary, &hits);
            paradoxes += summary.events.iter().filter(|e| e.kind == EventKind::Paradox).count();
            (runs, hit, remainders) = (runs + 1, hit + hits.of_contacts.len(), remainders + hits.remainders);
        }
    }
    println!("{runs} runs, {hit} contacts hit, {paradoxes} paradoxes, {remainders} steps with a remainder");
    assert!(runs > 150 && hit > 500 && paradoxes > 0 && remainders > 0, "{runs} {hit} {paradoxes} {remainders}");
}

/// A particle that slides towards a wall and hits it, in x, y.
const CARTESIAN: &str = r#"
[model]
coordinates = ["x", "y"]
mass = [1, 1]
[[contact]]
name = "wall"
gap = "1.005 - x"
restitution = 0.5
[initial]
q = ["cos(0.1)", "-sin(0.1)"]
u = [0.15, 10]
[time]
step = 1e-3
end = 0.2
"#;

/// The same in polar coordinates, whose own terms change the gap velocity in a step by as much as it approaches.
const POLAR: &str = r#"
[model]
coordinates = ["r", "phi"]
kinetic = "0.5*(r'^2 + (r*phi')^2)"
[[contact]]
name = "wall"
gap = "1.005 - r*cos(phi)"
restitution = 0.5
[initial]
q = [1, -0.1]
u = { r = "0.15*cos(-0.1) + 10*sin(-0.1)", phi = "-0.15*sin(-0.1) + 10*cos(-0.1)" }
[time]
step = 1e-3
end = 0.2
"#;

#[test]
fn an_impact_is_one_in_any_coordinates() {
    let (mut seen, approach) = (0, 0.15);
    // x(0) + 0.15 t = 1.005.
    let exact = (1.005 - 0.1f64.cos()) / approach;
    for scheme in schemes() {
        for (text, coordinates) in [(CARTESIAN, "x, y"), (POLAR, "r, phi")] {
            let Some((summary, hits)) = scene(text, scheme, &[]).as_ref().and_then(run) else { continue };
            let what = format!("{scheme} in {coordinates}");
            agree(&what, &summary, &hits);
            let [event] = impacts(&summary)[..] else { panic!("{what}: {:?}", summary.events) };
            let numbers = event.impact.unwrap();
            println!("{what}: {} s, {numbers:?}", event.t);
            // In polar coordinates schemes of order 1 drift by 100·dt·t/2 = 3e-3 m/s up to the wall, and m = 1 kg.
            // Half a step further, where moreau-midpoint takes its directions, the same velocities differ by 100·dt/2.
            let off = if coordinates == "x, y" { 1e-9 } else { 0.05 * approach + 0.05 };
            // A step, and in polar coordinates the drift 100·dt·t²/2 = 2.2e-4 m at 0.15 m/s.
            let late = if coordinates == "x, y" { 1e-3 } else { 2.5e-3 };
            assert!((event.t - exact).abs() <= late, "{what}: {} not {exact}", event.t);
            assert!((numbers.approach - approach).abs() <= off, "{what}: {numbers:?}");
            // What the whole step carries has its forces in it, so that polar coordinates add up to 100·dt.
            let forces = if coordinates == "x, y" { 1e-9 } else { 0.11 };
            assert!((numbers.percussion - 1.5 * approach).abs() <= forces, "{what}: {numbers:?}");
            seen += 1;
        }
    }
    // All schemes but the one without restitution.
    assert_eq!(seen, 2 * (schemes().count() - 1));
}

/// A mass that rests on a table, which accelerates by up to 20 m/s² under a weight of 30 N.
const MOVING_TABLE: &str = r#"
[model]
coordinates = ["x"]
mass = 1
potential = "30*x"
[[contact]]
name = "table"
gap = "x - 0.05*sin(20*t)"
restitution = 0.5
[initial]
u = [1]
[time]
step = 1e-3
end = 1
"#;

/// A bead slides in a frictionless bowl.
const BOWL: &str = r#"
[model]
coordinates = ["x", "y"]
mass = [1, 1]
potential = "9.81*y"
[[contact]]
name = "bowl"
gap = "1 - sqrt(x^2 + y^2)"
[initial]
q = ["sin(1)", "-cos(1)"]
[time]
step = 1e-2
end = 2
"#;

#[test]
fn what_stays_closed_is_never_hit() {
    for (text, name) in [(MOVING_TABLE, "moving table"), (BOWL, "bowl")] {
        for scheme in schemes() {
            let degrees: &[&[&str]] = match scheme {
                "tdg-minus" | "tdg-plus" => &[&["scheme.degree=1"], &["scheme.degree=3"]],
                _ => &[&[]],
            };
            for set in degrees {
                let Some((summary, hits)) = scene(text, scheme, set).as_ref().and_then(run) else { continue };
                let what = format!("{name} with {scheme} {set:?}");
                agree(&what, &summary, &hits);
                assert_eq!((impacts(&summary).len(), hits.steps), (0, 0), "{what}");
            }
        }
    }
}

#[test]
fn smooth_sliding_of_the_bundled_scenes_is_no_impact() {
    for (name, scheme) in [("slope_mass", "tdg-minus"), ("painleve_rod", "tdg-minus"), ("painleve_rod", "tdg-plus")] {
        let set = vec!["scheme.degree=3".to_string()];
        let request = Request { scheme: Some(scheme.into()), set, end: Some(0.2), ..Request::default() };
        let (summary, hits) = run(&Prepared::load(name, &request).unwrap()).unwrap();
        assert_eq!((impacts(&summary).len(), hits.steps), (0, 0), "{name} with {scheme}");
    }
}

/// Three equal masses in a row; the second and the third touch.
const CRADLE: &str = r#"
[model]
coordinates = ["a", "b", "c"]
mass = [1, 1, 1]
[[contact]]
name = "ab"
gap = "b - a - 0.1"
restitution = 1
[[contact]]
name = "bc"
gap = "c - b - 0.1"
restitution = 1
[initial]
q = [0, 0.5, 0.6]
u = [1, 0, 0]
[time]
step = 1e-2
end = 1
"#;

#[test]
fn an_impulse_that_passes_through_a_closed_contact_is_an_impact_of_it() {
    let mut seen = 0;
    for scheme in schemes() {
        let Some((summary, hits)) = scene(CRADLE, scheme, &[]).as_ref().and_then(run) else { continue };
        agree(scheme, &summary, &hits);
        let found = impacts(&summary);
        let of = |name: &str| found.iter().filter(|e| e.contact.as_deref() == Some(name)).collect::<Vec<_>>();
        let ([ab], [bc]) = (&of("ab")[..], &of("bc")[..]) else { panic!("{scheme}: {found:?}") };
        assert_eq!(ab.t, bc.t, "{scheme}: at one time");
        let (first, second) = (ab.impact.unwrap(), bc.impact.unwrap());
        // Newton's law for both: u⁺ = (−1/3, 2/3, 2/3) m/s, P = 4/3 and 2/3 N s. To the solver's tolerance.
        let close = |a: f64, b: f64| (a - b).abs() <= 1e-8;
        let numbers = close(first.percussion, 4.0 / 3.0) && close(second.percussion, 2.0 / 3.0);
        assert!(
            numbers && close(first.approach, 1.0) && close(first.separation, 1.0),
            "{scheme}: {first:?} {second:?}"
        );
        assert!(close(first.energy_lost, 0.0) && close(second.energy_lost, 0.0), "{scheme}: {first:?} {second:?}");
        // At rest without a force they are closed, though nothing is carried: no event before the impact.
        assert!(summary.events.iter().all(|e| e.t >= ab.t - 1e-12), "{scheme}: {:?}", summary.events);
        seen += 1;
    }
    assert_eq!(seen, schemes().count() - 1);
}

#[test]
fn weight_in_a_stack_is_no_impact() {
    // Ten masses on top of each other; another one falls beside them, on the floor, and one on top.
    let names: Vec<String> = (1..=10).map(|i| format!("\"y{i}\"")).collect();
    let mut text = format!(
        "[model]\ncoordinates = [{}, \"z\", \"w\"]\nmass = [1,1,1,1,1,1,1,1,1,1,1,1]\npotential = \"9.81*({}+z+w)\"\n",
        names.join(","),
        (1..=10).map(|i| format!("y{i}")).collect::<Vec<_>>().join("+")
    );
    text += "[[contact]]\nname = \"c1\"\ngap = \"y1\"\n";
    (2..=10).for_each(|i| text += &format!("[[contact]]\nname = \"c{i}\"\ngap = \"y{i} - y{}\"\n", i - 1));
    text += "[[contact]]\nname = \"beside\"\ngap = \"z\"\nrestitution = 0.5\n";
    text += "[[contact]]\nname = \"top\"\ngap = \"w - y10\"\nrestitution = 0.5\n";
    text += "[initial]\nq = { z = 0.1, w = 0.5 }\n[time]\nstep = 1e-3\nend = 0.4\n";
    for scheme in ["moreau-jean", "moreau-midpoint", "projected-combined", "rattle", "trapezoidal-lcp", "tdg-minus"] {
        let (summary, hits) = run(&scene(&text, scheme, &[]).unwrap()).unwrap();
        agree(scheme, &summary, &hits);
        // Before the mass on top arrives, at sqrt(2·0.5/9.81) = 0.319 s, nothing but the one beside is hit.
        let before = impacts(&summary).into_iter().filter(|e| e.t < 0.31);
        let names: Vec<&str> = before.filter_map(|e| e.contact.as_deref()).collect();
        assert!(!names.is_empty() && names.iter().all(|n| *n == "beside"), "{scheme}: {names:?}");
        // Then the impulse passes down to the floor.
        for name in ["top", "c10", "c5", "c1"] {
            let hit = impacts(&summary).iter().any(|e| e.contact.as_deref() == Some(name) && e.t > 0.31);
            assert!(hit, "{scheme}: {name}");
        }
    }
}

#[test]
fn a_spread_impact_is_one_with_all_of_its_percussion() {
    let text = MOVING_TABLE
        .replace("potential = \"30*x\"", "")
        .replace("x - 0.05*sin(20*t)", "x")
        .replace("[initial]\nu = [1]", "[initial]\nq = [1]\nu = [-2]");
    let (summary, hits) = run(&scene(&text, "schatzman-paoli", &[]).unwrap()).unwrap();
    agree("schatzman-paoli", &summary, &hits);
    let [event] = impacts(&summary)[..] else { panic!("{:?}", summary.events) };
    let numbers = event.impact.unwrap();
    // m (1 + e) v = 3 N s, half of it m (1 − e²) v²: 1.5 J lost.
    assert!((numbers.percussion - 3.0).abs() <= 1e-12 && (numbers.separation - 1.0).abs() <= 1e-12, "{numbers:?}");
    assert!((numbers.approach - 2.0).abs() <= 1e-12 && (numbers.energy_lost - 1.5).abs() <= 1e-12, "{numbers:?}");
    assert!(hits.remainders >= 1 && hits.steps == 1, "{} {}", hits.remainders, hits.steps);
}

#[test]
fn the_energy_of_impacts_is_that_of_the_ledger() {
    // No forces, so that percussions are those of impacts alone.
    for scheme in schemes() {
        let Some((summary, _)) = scene(CARTESIAN, scheme, &[]).as_ref().and_then(run) else { continue };
        let lost: f64 = impacts(&summary).iter().map(|e| e.impact.unwrap().energy_lost).sum();
        let (_, work) = summary.ledger.iter().find(|(name, _)| name == "contact.normal").unwrap();
        // ½ m (1 − e²) v² with v = 0.15 m/s; the spread impact is booked over its steps.
        let exact = 0.5 * 0.75 * 0.15f64.powi(2);
        assert!((lost - exact).abs() <= 1e-9 && (lost + work).abs() <= 1e-9, "{scheme}: {lost} {work}");
    }
}

#[test]
fn a_projection_does_not_hide_an_impact() {
    for coupling in ["coupled", "decoupled"] {
        let set = vec![format!("scheme.coupling={coupling}"), "parameters.elements=100".into()];
        let request = Request { scheme: Some("projected-combined".into()), set, ..Request::default() };
        let (summary, hits) = run(&Prepared::load("impacting_bar", &request).unwrap()).unwrap();
        agree(coupling, &summary, &hits);
        assert_eq!(impacts(&summary).len(), 1, "{coupling}");
    }
}

/// Joints carry an impact of a contact, and the numbers of both are in the JSON.
const HAMMER: &str = r#"
[model]
coordinates = ["x", "y"]
mass = [1, 1]
potential = "9.81*y"
[[joint]]
name = "rod"
position = "sqrt(x^2 + y^2) - 1"
[[contact]]
name = "wall"
gap = "x + y + 1.3"
restitution = 0.5
[initial]
q = [1, 0]
[time]
step = 1e-3
end = 1
[scheme]
name = "rattle"
"#;

#[test]
fn joints_are_hit_with_contacts_and_files_have_the_numbers() {
    let mut prepared = scene(HAMMER, "rattle", &[]).unwrap();
    let (summary, hits) = run(&prepared).unwrap();
    agree("hammer", &summary, &hits);
    assert!(hits.of_joints > 0 && hits.of_joints <= hits.steps, "{} of {}", hits.of_joints, hits.steps);
    let outcome = prepared.run(&RunOptions::default(), &mut |_, _| {}).unwrap();
    let json: serde_json::Value = serde_json::from_str(&run_json(&prepared, &outcome)).unwrap();
    assert_eq!(json["percussions"]["rod"]["components"][0], summary.percussions["rod"][0]);
    assert_eq!(json["percussions"]["wall"]["normal"], summary.percussions["wall"][0]);
    let keys = ["percussion", "approach", "separation", "energy_lost"];
    for event in json["events"].as_array().unwrap() {
        let is_impact = event["kind"] == "impact";
        assert!(keys.iter().all(|key| event.get(key).is_some_and(|v| v.is_number()) == is_impact), "{event}");
    }
    let csv = nonsmooth_scene::output::events_csv(&summary.events);
    assert!(csv.starts_with("t,kind,contact,percussion,approach,separation,energy_lost\n"), "{csv}");
    for (line, event) in csv.lines().skip(1).zip(&summary.events) {
        let numbers: Vec<&str> = line.split(',').skip(3).collect();
        let expected = event.impact.map(|i| [i.percussion, i.approach, i.separation, i.energy_lost]);
        match expected {
            Some(values) => assert_eq!(numbers.iter().map(|n| n.parse().unwrap()).collect::<Vec<f64>>(), values),
            None => assert_eq!(numbers, [""; 4]),
        }
    }
}
