//! Lemke's method on the LCPs of the runs: always a solution, and how many pivots it takes.

use super::run;

#[test]
fn lemke_solves_every_step_of_every_run() {
    let runs: [(&str, f64, f64, &[&str]); 8] = [
        ("double_pendulum_wall", 0.5f64.powi(8), 2.5, &[]),
        ("sliding_block", 0.5f64.powi(7), 10.0, &[]),
        ("two_carts", 0.01, 4.0, &["parameters.delta=1e6"]),
        ("painleve_rod", 1e-3, 0.6, &[]),
        ("slope_mass", 1e-2, 3.0, &[]),
        ("woodpecker", 1e-4, 0.15, &[]),
        ("rocking_block", 1e-3, 2.0, &[]),
        ("slider_crank", 1e-4, 0.05, &[]),
    ];
    println!("scene                    solves   pivots   per solve");
    for (name, step, end, set) in runs {
        for variant in ["scheme.variant=I", "scheme.variant=II"] {
            let mut set = set.to_vec();
            set.extend([variant, "solver.name=lemke"]);
            let (summary, _) = run(name, step, end, &set);
            let work = &summary.work;
            println!(
                "{name:22} {:2} {:7} {:8}   {:.2}",
                &variant[15..],
                work.solves,
                work.pivots,
                work.pivots as f64 / work.solves as f64
            );
            // A ray, or anything else that is no solution, would have called the fallback.
            assert_eq!((work.fallbacks, work.rejected), (0, 0), "{name}, {variant}");
            assert!(work.pivots > 0, "{name}");
        }
    }
}
