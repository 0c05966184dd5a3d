//! §5.3: orders on the slope, with the paper's eight steps, reference and error measure (56).

use super::{order, run, scene};
use nonsmooth::simulation::Record;

const STEPS: [f64; 8] = [2.56e-2, 1.28e-2, 6.4e-3, 3.2e-3, 1.6e-3, 8e-4, 4e-4, 2e-4];
const REFERENCE: f64 = 5e-5;
const END: f64 = 3.2768;

/// Σ dt |f − f_ref| over the steps of a run, for positions, velocities, and the mean contact force of each step.
fn errors(run: &[Record], reference: &[Record]) -> [f64; 3] {
    let many = (reference.len() - 1) / (run.len() - 1);
    let dt = END / (run.len() - 1) as f64;
    let apart = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
    let mut sums = [0.0; 3];
    for (i, r) in run.iter().enumerate().skip(1) {
        let fine = &reference[i * many];
        assert!((r.t - fine.t).abs() < 1e-9);
        sums[0] += dt * apart(&r.q, &fine.q);
        sums[1] += dt * apart(&r.u, &fine.u);
        let percussion = |r: &Record| r.step.as_ref().unwrap().percussions.values().to_vec();
        let mut whole = vec![0.0; 2];
        for fine in &reference[(i - 1) * many + 1..=i * many] {
            whole.iter_mut().zip(percussion(fine)).for_each(|(sum, p)| *sum += p);
        }
        sums[2] += apart(&percussion(r), &whole);
    }
    sums
}

#[test]
fn orders_are_two_in_persistent_contact_and_one_through_its_changes() {
    let cases: [(&str, &[&str], bool); 4] = [
        ("1, from rest", &[], true),
        ("2, downhill", &[r#"initial.u=["sqrt(0.5)", "-sqrt(0.5)"]"#], true),
        ("3, uphill", &[r#"initial.u=["-sqrt(0.5)", "sqrt(0.5)"]"#], false),
        ("4, falling", &["initial.q=[0, 1.5]"], false),
    ];
    println!("slope, case      q       u       P     deepest gap");
    for (name, set, smooth) in cases {
        let at = |step: f64| run(&scene("slope_mass", step, END, set));
        let (_, reference) = at(REFERENCE);
        let mut lists = [Vec::new(), Vec::new(), Vec::new()];
        let mut deepest = 0.0f64;
        for step in STEPS {
            let (summary, watch) = at(step);
            deepest = deepest.max(summary.worst.penetration);
            for (list, e) in lists.iter_mut().zip(errors(watch.records(), reference.records())) {
                list.push((step, e));
            }
        }
        let [q, u, p] = lists.map(|l| order(&l));
        println!("{name:14} {q:.3}   {u:.3}   {p:.3}   {deepest:.1e}");
        // The paper's Fig. 8: the bounds are the issue's; cases 3 and 4 converge in jumps.
        let (wanted, apart) = if smooth { (2.0, 0.15) } else { (1.0, 0.35) };
        assert!((q - wanted).abs() <= apart && (u - wanted).abs() <= apart, "case {name}: q {q}, u {u}");
        if smooth {
            assert!((p - wanted).abs() <= apart, "case {name}: percussions {p}");
        }
        assert!(deepest <= 1e-12, "case {name}: gap -{deepest:e}");
    }
}
