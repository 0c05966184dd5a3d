//! Poses and percussions of the replay.

use super::{Ran, ran};
use nonsmooth_scene::bundled::EXAMPLES;
use nonsmooth_scene::output::{ReadArray, read_npz};
use std::collections::BTreeMap;

/// Single precision, of numbers up to 1.
const SINGLE: f64 = 1e-7;

fn trajectory(ran: &Ran) -> BTreeMap<String, ReadArray> {
    read_npz(&ran.directory.path().join("trajectory.npz")).unwrap()
}

/// q, u and t at the row of every frame.
fn states(ran: &Ran) -> Vec<(f64, Vec<f64>, Vec<f64>)> {
    let all = trajectory(ran);
    let (t, q, u) = (&all["t"], &all["q"], &all["u"]);
    let row = |a: &ReadArray, i: usize| a.values[i * a.width..(i + 1) * a.width].to_vec();
    let at = |time: &f64| {
        let i = t.values.iter().position(|t| t == time).unwrap();
        (*time, row(q, i), row(u, i))
    };
    ran.page.array("frame_t").values.iter().map(at).collect()
}

fn close(found: &[f64], expected: &[f64], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let same = found.iter().zip(expected).all(|(a, b)| (a - b).abs() <= SINGLE * b.abs().max(1.0));
    assert!(same, "{what}: {found:?}, expected {expected:?}");
}

#[test]
fn the_woodpecker_is_where_its_coordinates_say() {
    let ran = ran("woodpecker", Some(0.2), &[]);
    for (i, (_, q, _)) in states(&ran).iter().enumerate() {
        let (y, phi_m, phi_s) = (q[0], q[1], q[2]);
        let pose = |name: &str, n: usize| ran.page.pose(name, i, n);
        close(&pose("sleeve", 3), &[0.0, y, phi_m], "sleeve");
        let (x_w, y_w) = (0.010 + 0.015, y + 0.010 * phi_m + 0.015 * phi_s);
        close(&pose("body", 3), &[x_w, y_w, phi_s], "body");
        // The tip of the beak is its gap away from the pole.
        let beak = [x_w - 0.0201 - 0.02 * phi_s, y_w + 0.02 - 0.0201 * phi_s];
        close(&pose("neck", 6)[4..], &beak, "beak");
        let contacts = ran.page.contacts(i);
        assert_eq!(contacts.iter().map(|c| c.0).collect::<Vec<_>>(), ["beak", "lower", "upper"]);
        close(contacts[0].1, &beak, "point of the beak");
        for (name, point, _, k) in contacts {
            close(&[point[0] - 0.0025], &[ran.page.array("contact_gap").values[k]], name);
        }
    }
}

#[test]
fn the_slider_crank_is_where_its_coordinates_say() {
    let ran = ran("slider_crank", Some(0.01), &[]);
    for (i, (_, q, _)) in states(&ran).iter().enumerate() {
        let joint = [0.153 * q[0].cos(), 0.153 * q[0].sin()];
        let slider = [joint[0] + 0.306 * q[1].cos(), joint[1] + 0.306 * q[1].sin()];
        close(&ran.page.pose("crank", i, 4), &[0.0, 0.0, joint[0], joint[1]], "crank");
        close(&ran.page.pose("rod", i, 4), &[joint[0], joint[1], slider[0], slider[1]], "rod");
        close(&ran.page.pose("slider", i, 3), &[slider[0], slider[1], q[2]], "slider");
        // Corners are their gaps away from the channel.
        for (name, point, _, k) in ran.page.contacts(i) {
            close(&[0.026 - point[1].abs()], &[ran.page.array("contact_gap").values[k]], name);
        }
    }
}

#[test]
fn the_tippedisk_turns_with_its_quaternion() {
    let ran = ran("tippedisk", Some(0.3), &[]);
    let e = 0.02 * 0.015 * 0.015 / (0.045 * 0.045 - 0.015 * 0.015);
    for (i, (_, q, _)) in states(&ran).iter().enumerate() {
        let pose = ran.page.pose("disk", i, 7);
        let p = &q[3..7];
        // Local x in space: the centre is −e of it away from the centre of mass.
        let x = [
            1.0 - 2.0 * (p[2] * p[2] + p[3] * p[3]),
            2.0 * (p[1] * p[2] + p[0] * p[3]),
            2.0 * (p[1] * p[3] - p[0] * p[2]),
        ];
        close(&pose[..3], &[q[0] - e * x[0], q[1] - e * x[1], q[2] - e * x[2]], "centre");
        // The same rotation, up to the sign of the quaternion, in single precision.
        let same: f64 = pose[3..].iter().zip(p).map(|(a, b)| a * b).sum();
        assert!((same.abs() - 1.0).abs() < 3.0 * SINGLE, "{pose:?} {p:?}");
        let contact = ran.page.contacts(i)[0];
        close(&[contact.1[2]], &[ran.page.array("contact_gap").values[contact.3]], "height of the contact");
    }
}

#[test]
fn bodies_are_at_their_coordinates_and_a_drum_turns() {
    let ran = ran("mixing_disks", Some(0.05), &["parameters.number=40", "parameters.drum=0.25"]);
    assert_eq!(ran.page.items().len(), 41);
    for (i, (t, q, _)) in states(&ran).iter().enumerate() {
        close(&ran.page.pose("drum", i, 3), &[0.0, 0.0, *t], "drum");
        for disc in 0..40 {
            let name = format!("disc_{disc}");
            close(&ran.page.pose(&name, i, 3), &q[3 * disc..3 * disc + 3], &name);
        }
    }
    let disc = ran.page.items().iter().find(|i| i["name"] == "disc_7").unwrap();
    assert!(disc["kind"] == "circle" && (disc["colour"] == 1 || disc["colour"] == 2), "{disc}");
}

#[test]
fn a_bar_is_drawn_by_its_nodes_and_its_displacements_magnified() {
    let ran = ran("impacting_bar", Some(2e-4), &["parameters.elements=20"]);
    let factor = |name: &str| -> f64 {
        let item = ran.page.items().iter().find(|i| i["name"] == name).unwrap();
        item["label"].as_str().unwrap().split(' ').next_back().unwrap().parse().unwrap()
    };
    let factor = factor("bar displacement");
    let mut largest = 0.0f64;
    for (i, (_, q, _)) in states(&ran).iter().enumerate() {
        let (bar, curve) = (ran.page.pose("bar", i, 42), ran.page.pose("bar displacement", i, 42));
        for (k, q) in q.iter().enumerate() {
            let x = k as f64 / 20.0;
            close(&bar[2 * k..2 * k + 2], &[x + q, 0.0], "bar");
            close(&curve[2 * k..2 * k + 2], &[x, factor * q], "curve");
            largest = largest.max((factor * q).abs());
        }
    }
    // A round number that fills at least two fifths of a fifth of the length.
    assert!((0.08..=0.2).contains(&largest), "{largest}");
}

/// Sums of the arrows of a contact over all frames, along the axes.
fn sums(ran: &Ran) -> BTreeMap<String, [f64; 2]> {
    let mut out: BTreeMap<String, [f64; 2]> = BTreeMap::new();
    for frame in 0..ran.page.frames() {
        for (name, _, arrow, _) in ran.page.contacts(frame) {
            let sum = out.entry(name.into()).or_default();
            *sum = [sum[0] + arrow[0], sum[1] + arrow[1]];
        }
    }
    out
}

#[test]
fn arrows_over_all_frames_are_the_percussions_of_the_run() {
    // More steps than frames: impacts between frames count.
    let pecked = ran("woodpecker", Some(0.5), &[]);
    assert!(pecked.page.frames() < pecked.outcome.summary.work.steps);
    for (name, sum) in sums(&pecked) {
        // Normals are along x, slip along y.
        let expected = &pecked.outcome.summary.percussions[&name];
        let scale = expected[0].abs().max(1e-6);
        assert!((sum[0] - expected[0]).abs() < 1e-4 * scale, "{name}: {sum:?} {expected:?}");
        assert!((sum[1] - expected[1]).abs() < 1e-4 * scale, "{name}: {sum:?} {expected:?}");
    }
    let cranked = ran("slider_crank", Some(0.02), &[]);
    for (name, sum) in sums(&cranked) {
        let expected = &cranked.outcome.summary.percussions[&name];
        // The upper side pushes down.
        let normal = if name == "c1" || name == "c2" { -sum[1] } else { sum[1] };
        let scale = expected[0].abs().max(1e-6);
        assert!((normal - expected[0]).abs() < 1e-4 * scale, "{name}: {sum:?} {expected:?}");
        assert!((sum[0] - expected[1]).abs() < 1e-4 * scale, "{name}: {sum:?} {expected:?}");
    }
    assert!(cranked.outcome.summary.percussions.values().any(|p| p[0] > 0.0), "the slider hits its channel");
}

#[test]
fn arrows_between_bodies_carry_their_momentum() {
    let ran = ran("mixing_disks", Some(0.15), &["parameters.number=40", "parameters.drum=0.25", "solver.tol=1e-8"]);
    let states = states(&ran);
    let (t, _, u) = states.last().unwrap();
    let masses: Vec<f64> = (0..40)
        .map(|i| {
            let item = ran.page.items().iter().find(|x| x["name"] == format!("disc_{i}")).unwrap();
            1000.0 * std::f64::consts::PI * item["radius"].as_f64().unwrap().powi(2)
        })
        .collect();
    let total: f64 = masses.iter().sum();
    let momentum = |k: usize| masses.iter().enumerate().map(|(i, m)| m * u[3 * i + k]).sum::<f64>();
    // What the drum gave to all discs, and what they gave each other.
    let (mut drum, mut both) = ([0.0; 2], 0.0f64);
    for (name, sum) in sums(&ran) {
        if name.starts_with("drum-") {
            drum = [drum[0] + sum[0], drum[1] + sum[1]];
        } else {
            both = both.max(sum[0].hypot(sum[1]));
        }
    }
    let weight = total * 9.81 * t;
    // Directions are those at the ends of steps: they turn by a part of a per cent.
    assert!((drum[0] - momentum(0)).abs() < 0.01 * weight, "{drum:?} {}", momentum(0));
    assert!((drum[1] - weight - momentum(1)).abs() < 0.01 * weight, "{drum:?} {} {weight}", momentum(1));
    assert!(both > 0.0 && drum[1] > 0.1 * weight);
    let slips = ran.page.array("contact_state").values.iter().filter(|s| **s == 2.0).count();
    let impacts = ran.page.array("contact_impact").values.iter().filter(|s| **s == 1.0).count();
    assert!(slips > 0 && impacts > 0 && impacts < ran.page.array("contact_impact").rows);
}

#[test]
fn every_bundled_scene_has_something_to_see() {
    for example in EXAMPLES {
        let few: &[&str] = match example.name {
            "mixing_disks" => &["parameters.number=40", "parameters.drum=0.25"],
            "disc_pile" => &["parameters.number=40", "parameters.width=0.5"],
            _ => &[],
        };
        let step = nonsmooth_scene::prepare::Prepared::load(example.name, &Default::default()).unwrap().options.step;
        let ran = ran(example.name, Some(50.0 * step), few);
        let (name, page) = (example.name, &ran.page);
        assert!(!page.items().is_empty() && page.frames() == 51, "{name}");
        assert!(page.array("poses").values.iter().all(|v| v.is_finite()), "{name}");
        assert!(page.items().iter().any(|i| i["first"].is_u64()), "{name}: something moves");
        let d = page.data["replay"]["dimension"].as_u64().unwrap() as usize;
        for k in 0..d {
            let side = |key: &str| page.data["replay"]["box"][key][k].as_f64().unwrap();
            assert!(side("min") <= side("max"), "{name}: {}", page.data["replay"]["box"]);
        }
        // Every contact that the scene names is drawn, and has a gap in the plots.
        for contact in ran.prepared.scene.contact.iter().filter(|c| c.gap.is_some()) {
            let drawn = page.contacts(0).iter().any(|c| c.0 == contact.name.name);
            assert!(drawn, "{name}: {}", contact.name.name);
            page.curve("gaps", &contact.name.name);
        }
        let s = ran.prepared.system.structure();
        for i in 0..s.nq().min(64) {
            let unknown = ran.prepared.units.coordinate(i).is_empty();
            let quaternion = name == "tippedisk" && i >= 3;
            assert_eq!(unknown, quaternion, "{name}: unit of {}", &s.coordinates[i]);
        }
    }
}

/// Steps of 0.05 s in flight: between their ends the mass is on its parabola, which a cubic through them is.
#[test]
fn long_steps_of_an_adaptive_scheme_are_shown_from_inside() {
    let ran = ran("falling_mass", Some(0.11), &["scheme.name=augmented", "scheme.dt_max=0.05"]);
    let steps = ran.outcome.summary.work.steps;
    let times = &ran.page.array("frame_t").values;
    assert!(times.len() >= 250 && steps < 50, "{} frames of {steps} steps", times.len());
    assert!(times.windows(2).all(|w| w[0] < w[1]));
    let start = ran.page.pose("mass", 0, 3)[1];
    for (i, t) in times.iter().enumerate() {
        let fallen = start - ran.page.pose("mass", i, 3)[1];
        assert!((fallen - 0.5 * 9.81 * t * t).abs() <= SINGLE, "t = {t}: {fallen}");
    }
    let notes = ran.page.data["notes"].to_string();
    assert!(notes.contains("frames inside long ones"), "{notes}");
}
