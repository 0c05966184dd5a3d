//! Plots and the ledger of the page.

use super::ran;
use nonsmooth_scene::output::{Archive, read_npz};

#[test]
fn thinned_plots_keep_the_peaks_and_few_rows() {
    let ran = ran("bouncing_ball", None, &["time.step=5e-5"]);
    let all = read_npz(&ran.directory.path().join("trajectory.npz")).unwrap();
    let rows = all["t"].rows;
    assert_eq!(rows, 100_001);
    let page = &ran.page;
    let shown = page.array("plot_t").rows;
    assert!(shown <= 4001 && shown > 1500, "{shown}");
    assert!(page.array("plot_t").values.windows(2).all(|w| w[0] < w[1]));
    assert_eq!(page.frames(), 2000);
    let largest = |values: &[f64]| values.iter().copied().filter(|v| !v.is_nan()).fold(0.0, f64::max);
    let curves = [("percussions", "ground normal", "percussion"), ("certificate", "residual", "residual")];
    for (group, name, array) in curves.into_iter().chain([("certificate", "penetration", "penetration")]) {
        let (kept, true_one) = (largest(&page.curve(group, name)), largest(&all[array].values));
        assert_eq!(kept, f64::from(true_one as f32), "{name}");
    }
    // Every impact of more than a hundredth of the first is seen, at its time.
    let percussions = page.curve("percussions", "ground normal");
    let times = &page.array("plot_t").values;
    for (t, p) in all["t"].values.iter().zip(&all["percussion"].values).filter(|(_, p)| **p > 0.03) {
        let at = times.iter().position(|s| s == t).unwrap_or_else(|| panic!("{p} at {t} is lost"));
        assert_eq!(percussions[at], f64::from(*p as f32));
    }
    let notes = page.data["notes"].to_string();
    assert!(notes.contains("Replay: 2000 of 100001 recorded steps"), "{notes}");
}

#[test]
fn steps_of_all_lengths_are_seen() {
    let set = ["scheme.name=augmented", "scheme.dt_min=1e-6"];
    let ran = ran("bouncing_ball", None, &set);
    let all = read_npz(&ran.directory.path().join("trajectory.npz")).unwrap();
    let (step, dt) = (ran.page.curve("step", "step"), &all["dt"].values[1..]);
    let of = |values: &[f64], f: fn(f64, f64) -> f64, start: f64| {
        values.iter().copied().filter(|v| !v.is_nan()).fold(start, f) as f32
    };
    assert_eq!(of(&step, f64::max, 0.0), of(dt, f64::max, 0.0));
    // The last step may end where the run does.
    assert_eq!(of(&step, f64::min, 1.0), of(dt, f64::min, 1.0));
    let orders = ran.page.curve("order", "order");
    assert!(orders[0].is_nan() && orders[1..].iter().all(|o| *o >= 1.0));
}

#[test]
fn the_ledger_is_recorded_line_by_line_and_closes_in_every_row() {
    let ran = ran("two_carts", Some(0.5), &[]);
    let all = read_npz(&ran.directory.path().join("trajectory.npz")).unwrap();
    let meta = std::fs::read_to_string(ran.directory.path().join("meta.json")).unwrap();
    let meta: serde_json::Value = serde_json::from_str(&meta).unwrap();
    let names: Vec<&str> = meta["ledger"].as_array().unwrap().iter().map(|n| n.as_str().unwrap()).collect();
    let (ledger, energy) = (&all["ledger"], &all["energy"].values);
    assert_eq!(ledger.width, names.len());
    assert!(names.contains(&"force.damper") && !names.contains(&"force.spring"), "{names:?}");
    for (row, (e, c)) in ledger.values.chunks_exact(ledger.width).zip(energy.iter().zip(&all["closure"].values)) {
        let sum: f64 = row.iter().sum();
        // Rounding of sums of some hundred joules' worth of entries.
        assert!((e - energy[0] - sum - c).abs() < 1e-10 && c.abs() < 1e-9, "{e} {sum} {c}");
    }
    let last = &ledger.values[ledger.values.len() - ledger.width..];
    for (name, work) in &ran.outcome.summary.ledger {
        match names.iter().position(|n| n == name) {
            Some(i) => assert_eq!(last[i], *work, "{name}"),
            None => assert_eq!(*work, 0.0, "{name}"),
        }
    }
    // On the page: the lines that are not zero.
    let series = ran.page.data["ledger"]["series"].as_array().unwrap();
    let shown: Vec<&str> = series.iter().map(|s| s["name"].as_str().unwrap()).collect();
    assert!(shown.contains(&"elements") && shown.contains(&"force.damper") && !shown.contains(&"joints"), "{shown:?}");
    let elements = shown.iter().position(|n| *n == "elements").unwrap();
    let column = ran.page.array("ledger").column(elements);
    let i = names.iter().position(|n| *n == "elements").unwrap();
    assert_eq!(*column.last().unwrap(), f64::from(last[i] as f32));
}

#[test]
fn groups_have_units_and_forces_leave_out_impacts() {
    let ran = ran("woodpecker", Some(0.1), &[]);
    let groups = ran.page.data["plots"]["groups"].as_array().unwrap();
    let ids: Vec<&str> = groups.iter().map(|g| g["id"].as_str().unwrap()).collect();
    let all = ["coordinates", "velocities", "gaps", "forces", "percussions", "step", "energy", "certificate"];
    assert_eq!(ids, all);
    assert_eq!(groups[1]["series"][1]["unit"], "rad/s");
    let (forces, percussions) =
        (ran.page.curve("forces", "upper normal"), ran.page.curve("percussions", "upper normal"));
    let path = ran.directory.path().join("trajectory.npz");
    let impacts = read_npz(&path).unwrap().remove("impact").unwrap().values;
    let mut hits = Archive::open(&path).unwrap().rows("hit").unwrap();
    let rows: Vec<[f64; 3]> = (0..hits.len())
        .map(|row| {
            let mut out = [0.0; 3];
            hits.read(row, &mut out).unwrap();
            out
        })
        .collect();
    // Contacts beak, lower, upper: a step is an impact if one of them is hit, and the others have their forces.
    let hit: Vec<f64> = rows.iter().map(|row| row[2]).collect();
    assert!(rows.iter().zip(&impacts).all(|(row, impact)| row.contains(&1.0) == (*impact == 1.0)));
    assert!(impacts.iter().zip(&hit).any(|(impact, hit)| *impact == 1.0 && *hit == 0.0));
    for (i, (f, p)) in forces.iter().zip(&percussions).enumerate() {
        if i == 0 || hit[i] == 1.0 {
            assert!(f.is_nan());
        } else {
            assert!((f - p / 1e-4).abs() <= 1e-6 * f.abs(), "{f} {p}");
        }
    }
    assert!(hit.contains(&1.0));
    let portraits = ran.page.data["plots"]["phase"].as_array().unwrap();
    assert_eq!((portraits.len(), &portraits[2]["name"]), (3, &serde_json::json!("phi_s")));
}

#[test]
fn pages_are_small() {
    // With a viewer of 900 kB at most 3 MB.
    let pecked = ran("woodpecker", None, &[]);
    assert!(pecked.page.bytes < 2_100_000, "{}", pecked.page.bytes);
    let many = ran("disc_pile", Some(0.4), &["parameters.number=300", "parameters.width=1"]);
    assert!(many.page.bytes < 25_000_000, "{}", many.page.bytes);
    assert!(many.page.frames() >= 50);
    let groups = &many.page.data["plots"]["groups"];
    assert_eq!(groups[0]["note"], "shown: 64 of 900");
}
