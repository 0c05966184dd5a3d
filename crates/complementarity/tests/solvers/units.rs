//! What a solver does must not depend on units. Numbers that change by powers of two (masses and lengths by powers of four) change no rounding, so that
//! percussions, residual and iterations must be the same to the bit.

use super::{assert_none, handles};
use crate::random::{FAMILIES, Random};
use complementarity::solver::{SOLVERS, make};
use complementarity::{Measure, Options, Problem, Report, Set};
use serde_json::Value;

/// The problem with A_ij s_i s_j, and b and bounds to match, where row i of block k has s = `rows[k]`, and velocities in units of 1/`speed`.
fn in_units(problem: &Problem, rows: &[f64], speed: f64) -> Problem {
    let mut file: Value = serde_json::from_str(&problem.to_json()).unwrap();
    let starts: Vec<(usize, f64)> = problem.blocks().iter().zip(rows).map(|(b, s)| (b.start, *s)).collect();
    let of_row = |row: usize| starts.iter().rev().find(|(start, _)| *start <= row).unwrap().1;
    let scale = |value: &mut Value, by: f64| {
        if let Some(v) = value.as_f64() {
            *value = (v * by).into();
        }
    };
    let n = problem.size();
    if let Some(values) = file.get_mut("dense").and_then(Value::as_array_mut) {
        for (k, v) in values.iter_mut().enumerate() {
            scale(v, of_row(k / n) * of_row(k % n));
        }
    }
    if let Some(blocks) = file.get_mut("blocks").and_then(Value::as_array_mut) {
        for block in blocks {
            let at = |key: &str| rows[block[key].as_u64().unwrap() as usize];
            let by = at("row") * at("column");
            block["values"].as_array_mut().unwrap().iter_mut().for_each(|v| scale(v, by));
        }
    }
    for (row, b) in file["b"].as_array_mut().unwrap().iter_mut().enumerate() {
        scale(b, speed * of_row(row));
    }
    for (set, s) in file["sets"].as_array_mut().unwrap().iter_mut().zip(rows) {
        for (kind, key) in [("interval", "lower"), ("interval", "upper"), ("ball", "radius")] {
            if let Some(bound) = set.get_mut(kind).and_then(|of| of.get_mut(key)) {
                scale(bound, speed / s);
            }
        }
    }
    Problem::from_json(&file.to_string()).unwrap().measured(problem.measure())
}

fn run(name: &str, problem: &Problem, guess: &[f64], options: &Options) -> (Report, Vec<f64>) {
    let mut r = guess.to_vec();
    let report = make(name).unwrap().solve(problem, &mut r, options);
    (report, r)
}

/// Units of all problems; those of single blocks too where `mixed`.
fn differing(mixed: bool) -> Vec<String> {
    let options = Options { max_iterations: 300, ..Options::default() };
    let (mut other, mut seen) = (Vec::new(), 0);
    for family in FAMILIES {
        for index in 0..8 {
            let problem = family.problem(index).problem.measured(Measure::Compliance);
            // Stored alike on both sides.
            let problem = in_units(&problem, &vec![1.0; problem.blocks().len()], 1.0);
            let mut g = Random::new(index);
            let guess: Vec<f64> = if index % 2 == 0 { vec![0.0; problem.size()] } else { g.vector(problem.size()) };
            for (mass, speed) in [(-15, 20), (15, -10), (7, 0)] {
                let unit = 2f64.powi(mass);
                let rows: Vec<f64> = (problem.blocks().iter())
                    .map(|b| match b.set {
                        // Bounds have a unit of their own: a torque beside forces.
                        Set::Interval { .. } | Set::Ball { .. } if mixed => {
                            unit * 2f64.powi(g.count(0, 40) as i32 - 20)
                        }
                        _ => unit,
                    })
                    .collect();
                let speed = 2f64.powi(speed);
                let scaled = in_units(&problem, &rows, speed);
                let factors: Vec<f64> = (problem.blocks().iter().zip(&rows))
                    .flat_map(|(b, s)| std::iter::repeat_n(speed / s, b.set.dim()))
                    .collect();
                let start: Vec<f64> = guess.iter().zip(&factors).map(|(r, s)| r * s).collect();
                for info in SOLVERS.iter().filter(|info| handles(info, &problem) && (!mixed || info.name == "auto")) {
                    let (report, r) = run(info.name, &problem, &guess, &options);
                    let (again, scaled_r) = run(info.name, &scaled, &start, &options);
                    seen += 1;
                    // The least norm of percussions in several units is that of the units they are given in.
                    if mixed && report.non_unique {
                        continue;
                    }
                    let same = r.iter().zip(&factors).map(|(r, s)| r * s).eq(scaled_r.iter().copied());
                    if !same || again != report {
                        other.push(format!("{} {} {index} x{mass}: {report:?} {again:?}", info.name, family.name));
                    }
                }
            }
        }
    }
    assert!(seen > 500, "{seen}");
    other
}

#[test]
fn masses_and_velocities_in_other_units_give_the_same_bits_with_every_solver() {
    assert_none("problems depend on units", &differing(false));
}

#[test]
fn torques_beside_forces_may_have_any_unit() {
    assert_none("problems depend on units", &differing(true));
}
