//! Beyond the paper: friction that turns. (34) aligns the friction of a step with the slip at its end, a backward Euler step for the direction;
//! `friction_direction = "mean"` is of second order.

use super::{order, run, scene};
use nonsmooth::simulation::{EventKind, Record};

const WORDS: [(&str, f64); 2] = [("end", 1.0), ("mean", 2.0)];

fn apart(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

/// Errors of q and u at the end of a run, for some steps, against a fine one.
fn orders(name: &str, end: f64, steps: &[f64], reference: f64, word: &str) -> (f64, f64) {
    let last = |step: f64, word: &str| -> Record {
        let (_, watch) = run(&scene(name, step, end, &[&format!("scheme.friction_direction={word}")]));
        watch.records().last().unwrap().clone()
    };
    let fine = last(reference, "mean");
    let (mut q, mut u) = (Vec::new(), Vec::new());
    for &step in steps {
        let r = last(step, word);
        q.push((step, apart(&r.q, &fine.q)));
        u.push((step, apart(&r.u, &fine.u)));
    }
    println!(
        "{name:14} {word:5} q {:.3}, u {:.3}; q at the smallest step {:.1e}",
        order(&q),
        order(&u),
        q[q.len() - 1].1
    );
    (order(&q), order(&u))
}

#[test]
fn friction_along_the_mean_slip_is_of_second_order_where_it_turns() {
    for (word, wanted) in WORDS {
        // At t = 0.46 s the force has turned the mass round; without the break at 3 s.
        let (q, u) = orders("sliding_mass", 2.5, &[2e-2, 1e-2, 5e-3, 2.5e-3, 1.25e-3], 2e-5, word);
        assert!((q - wanted).abs() <= 0.1 && (u - wanted).abs() <= 0.1, "sliding mass, {word}: {q}, {u}");
        // Slip, and rolling with drilling friction; a tenth of the motion that the larger steps cover is one turn.
        let (q, u) = orders("tippedisk", 0.5, &[1e-3, 5e-4, 2.5e-4, 1.25e-4], 1e-5, word);
        assert!((q - wanted).abs() <= 0.25 && (u - wanted).abs() <= 0.25, "tippedisk, {word}: {q}, {u}");
    }
}

#[test]
fn neither_stick_nor_dissipation_is_spoiled() {
    // Slides from t = 3 s on with 2 m/s² until it sticks: the scene's own note. The slip of 3 s is off by the order of the scheme.
    const STICKS: f64 = 3.6657;
    for (word, off) in [("end", 2e-3), ("mean", 1e-4)] {
        let step = 1e-3;
        let (summary, watch) = run(&scene("sliding_mass", step, 4.0, &[&format!("scheme.friction_direction={word}")]));
        let stick = summary.events.iter().find(|e| e.kind == EventKind::Stick).unwrap().t;
        assert!((stick - STICKS).abs() <= 2.0 * step + off, "{word}: sticks at {stick}");
        let records = watch.records();
        let rest: Vec<_> = records.iter().filter(|r| r.t > stick + step).collect();
        assert!(rest.iter().all(|r| r.q == rest[0].q && r.u == [0.0, 0.0]), "{word}: it creeps");
        for pair in records.windows(2) {
            let p = pair[1].step.as_ref().unwrap().percussions.values();
            let work = 0.5 * (0..2).map(|j| p[j] * (pair[0].u[j] + pair[1].u[j])).sum::<f64>();
            assert!(work <= 1e-17, "{word}: friction works {work:e} J at t = {}", pair[1].t);
        }
    }
}
