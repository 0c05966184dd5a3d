//! Table 3: violation, and Newton, projection and index-set iterations on the slider-crank over two revolutions of the crank, which slows down: 0.1376 s.

use super::{COMBINED, DIRECT, run, scene};

struct Row {
    scheme: &'static str,
    step: f64,
    violation: f64,
    /// Mean and largest number of Newton, projection and index-set iterations; NaN where the paper has none.
    newton: (f64, f64),
    projection: (f64, f64),
    index_sets: (f64, f64),
}

const NONE: (f64, f64) = (f64::NAN, f64::NAN);
#[rustfmt::skip]
const PAPER: [Row; 9] = [
    Row { scheme: "moreau-jean", step: 1e-4, violation: 1.324e-4, newton: (2.95, 4.0), projection: NONE, index_sets: NONE },
    Row { scheme: "moreau-jean", step: 1e-5, violation: 1.234e-5, newton: (1.99, 3.0), projection: NONE, index_sets: NONE },
    Row { scheme: "moreau-jean", step: 1e-6, violation: 1.119e-6, newton: (1.96, 2.0), projection: NONE, index_sets: NONE },
    Row { scheme: DIRECT, step: 1e-4, violation: 8.099e-11, newton: (1.96, 2.0), projection: (0.09, 2.0), index_sets: NONE },
    Row { scheme: DIRECT, step: 1e-5, violation: 4.833e-11, newton: (1.01, 2.0), projection: (0.11, 1.0), index_sets: NONE },
    Row { scheme: DIRECT, step: 1e-6, violation: 9.99e-11, newton: (1.001, 2.0), projection: (0.04, 1.0), index_sets: NONE },
    Row { scheme: COMBINED, step: 1e-4, violation: 8.410e-11, newton: (2.15, 4.0), projection: (0.20, 2.0), index_sets: (1.18, 2.0) },
    Row { scheme: COMBINED, step: 1e-5, violation: 9.940e-11, newton: (1.127, 2.0), projection: (0.019, 1.0), index_sets: (1.127, 2.0) },
    Row { scheme: COMBINED, step: 1e-6, violation: 8.650e-11, newton: (1.12, 2.0), projection: (0.00036, 1.0), index_sets: (1.12, 2.0) },
];

#[test]
fn violations_and_iterations_are_those_of_table_3() {
    println!(
        "{:20} step   violation (paper)        Newton (paper)        projection (paper)      index sets (paper)",
        ""
    );
    for row in PAPER {
        // Directions of the end, as (18a) and (28) print them, and for the projected schemes N = I.
        let as_printed = ["scheme.directions=end", "scheme.metric=identity"];
        let set = if row.scheme == "moreau-jean" { &as_printed[..1] } else { &as_printed[..] };
        let (s, _) = run(&scene("slider_crank", row.scheme, Some(row.step), Some(0.1376), set));
        let w = &s.work;
        let mean = |n: usize| n as f64 / w.steps as f64;
        let pair = |n: usize, most: usize, (avg, max): (f64, f64)| format!("{:.4}/{most} ({avg}/{max})", mean(n));
        println!(
            "{:20} {:.0e}   {:.3e} ({:.3e})   {:20}  {:22}  {}",
            row.scheme,
            row.step,
            s.worst.penetration,
            row.violation,
            pair(w.newton, w.newton_max, row.newton),
            pair(w.projection, w.projection_max, row.projection),
            pair(w.index_sets, w.index_sets_max, row.index_sets),
        );
        assert_eq!((w.rejected, w.retries), (0, 0), "{} {}", row.scheme, row.step);
        // Converged: dynamics, kinematics and laws re-evaluated at every end, to Newton's and the solver's tolerance.
        assert!(s.worst.residual() <= 1e-9, "{:e}", s.worst.residual());
        if row.scheme == "moreau-jean" {
            // The depth of an impact depends on where in its step it falls: the paper's one sample of it, to a factor of 1.7.
            let ratio = s.worst.penetration / row.violation;
            assert!((1.0 / 1.7..=1.7).contains(&ratio), "{}: {ratio}", row.step);
        } else {
            assert!(s.worst.penetration <= 1e-10, "{}: {:e}", row.scheme, s.worst.penetration);
        }
        if row.scheme == COMBINED {
            assert!((mean(w.index_sets) - row.index_sets.0).abs() <= 0.05, "{}: {}", row.step, mean(w.index_sets));
            assert_eq!(w.index_sets_max as f64, row.index_sets.1);
        }
    }
}
