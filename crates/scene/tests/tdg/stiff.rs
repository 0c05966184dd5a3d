//! Stiff forces: D⁺ stays bounded, D⁻ has limits, and what lies beyond them is noticed.

use super::{SIDES, degree, run, try_run};
use nonsmooth::scheme::tdg::{Side, Tableau};
use nonsmooth::simulation::{EventKind, Status};

/// A mass on a spring, ω = 1.
const OSCILLATOR: &str = r#"
[model]
coordinates = ["q"]
mass = 1
[[force]]
name = "spring"
potential = "q^2/2"
[initial]
q = [1]
[time]
step = 1
end = 10
[scheme]
name = "moreau-jean"
"#;

#[test]
fn plus_stays_bounded_at_ten_radians_a_step() {
    for m in 0..=8 {
        let (summary, points) = run(OSCILLATOR, "tdg-plus", 10.0, 1e3, &[&degree(m)]);
        let most = points.iter().map(|p| p.energy).fold(0.0, f64::max);
        println!(
            "tdg-plus, M = {m}: largest energy {most:.1e} of 0.5 J, last {:.1e} J",
            points[points.len() - 1].energy
        );
        assert!(summary.energy.max <= 0.5 * (1.0 + 1e-12), "M = {m}: {}", summary.energy.max);
        // Eigenvalues of 0.99 for M = 8 and less below.
        assert!(points[points.len() - 1].energy <= 0.25, "M = {m}");
    }
    // A stiff mode that is not excited at the start, beside a soft one that is resolved, with a contact.
    let chain = OSCILLATOR
        .replace("coordinates = [\"q\"]", "coordinates = [\"q\", \"s\"]")
        .replace("mass = 1", "mass = [1, 1]")
        .replace("potential = \"q^2/2\"", "potential = \"q^2/2 + 1e6*(s - q)^2\"")
        .replace("q = [1]", "q = [1, 1]");
    let chain = format!("{chain}\n[[contact]]\nname = \"stop\"\ngap = \"q + 0.5\"\nrestitution = 0.5\n");
    for m in 1..=4 {
        let (summary, _) = try_run(&chain, "tdg-plus", 1e-2, 20.0, &[&degree(m)]);
        assert_eq!(summary.status, Status::Done, "{:?}", summary.stop.as_ref().map(ToString::to_string));
        // Forces of 2e6 N/m make that much more of rounding and of the iteration's tolerance.
        assert!(summary.worst.residual() <= 1e-6, "M = {m}: {:e}", summary.worst.residual());
        println!("tdg-plus, M = {m}, stiff pair: largest energy {:.6} of 0.5 J", summary.energy.max);
        // The stop hits one of two bodies that are as good as one: the energy of their relative motion, which a step does not resolve, may be
        // misplaced once, and is damped.
        assert!(summary.energy.max <= 1.0 && summary.energy.last <= 0.5, "M = {m}: {:?}", summary.energy);
    }
}

/// Largest modulus of the eigenvalues of a step of the oscillator with ω dt = z.
fn growth(t: &Tableau, z: f64) -> f64 {
    let n = t.stages();
    let column = |q0: f64, u0: f64| {
        // a_l = −z² q_l, v = u + A a, q = q₀ + b v by Gaussian elimination for a.
        let mut m = vec![vec![0.0; n + 1]; n];
        for l in 0..n {
            for k in 0..n {
                let ba: f64 = (0..n).map(|j| t.b[l * n + j] * t.a[j * n + k]).sum();
                m[l][k] = z * z * ba + if l == k { 1.0 } else { 0.0 };
            }
            let row: f64 = t.b[l * n..(l + 1) * n].iter().sum();
            m[l][n] = -z * z * (q0 + u0 * row);
        }
        for i in 0..n {
            let pivot = (i..n).max_by(|a, b| m[*a][i].abs().total_cmp(&m[*b][i].abs())).unwrap();
            m.swap(i, pivot);
            for r in 0..n {
                if r != i {
                    let f = m[r][i] / m[i][i];
                    for c in i..=n {
                        m[r][c] -= f * m[i][c];
                    }
                }
            }
        }
        let a: Vec<f64> = (0..n).map(|i| m[i][n] / m[i][i]).collect();
        let v = |l: usize| u0 + (0..n).map(|k| t.a[l * n + k] * a[k]).sum::<f64>();
        let q = q0 + (0..n).map(|l| t.beta[l] * v(l)).sum::<f64>();
        (q, u0 + (0..n).map(|l| t.beta[l] * a[l]).sum::<f64>())
    };
    let ((a, c), (b, d)) = (column(1.0, 0.0), column(0.0, 1.0));
    let (trace, det) = (a + d, a * d - b * c);
    let disc = 0.25 * trace * trace - det;
    if disc <= 0.0 { det.abs().sqrt() } else { 0.5 * trace.abs() + disc.sqrt() }
}

/// Growth of D⁺ per step at ω dt = 10, M = 1..8, with (67), and with the weights of velocities for positions, as `docs/schemes/tdg.md` states them: computed apart from this code,
/// by eigenvalues of the steps' matrices.
const PLUS: [(f64, f64); 8] = [
    (97.98979, 0.0199960),
    (63.27452, 0.0644875),
    (0.341163, 0.160531),
    (2.078553, 0.262905),
    (1.565999, 0.408652),
    (0.926956, 0.662625),
    (0.999128, 0.912137),
    (1.000071, 0.989433),
];

#[test]
fn plus_with_continuous_positions_is_not_stable_and_with_others_it_is() {
    for (m, (continuous, discontinuous)) in (1..).zip(PLUS) {
        let plain = Tableau::new(Side::Plus, m);
        let ours = Tableau { b: plain.a.clone(), ..plain.clone() };
        let found = (growth(&plain, 10.0), growth(&ours, 10.0));
        println!(
            "tdg-plus, M = {m}, omega dt = 10: growth {:.6} with (67), {:.6} with the weights of velocities",
            found.0, found.1
        );
        // The digits that are stated.
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-5 * b;
        assert!(near(found.0, continuous) && near(found.1, discontinuous), "M = {m}: {found:?}");
    }
}

/// ω dt up to which the energy of an oscillator grows by less than 1 % per step, as `docs/schemes/tdg.md` states it.
const LIMITS: [f64; 9] = [0.10, 2.00, 2.82, 2.35, 3.13, 5.99, 6.27, 9.37, 12.37];

#[test]
fn minus_has_the_limits_that_its_page_states() {
    for (m, limit) in LIMITS.iter().enumerate() {
        let t = Tableau::new(Side::Minus, m);
        let first = (1..20_000).map(|i| 1e-3 * f64::from(i)).find(|z| growth(&t, *z).powi(2) > 1.01).unwrap();
        println!("tdg-minus, M = {m}: omega dt < {first:.3}");
        assert!((first - limit).abs() <= 0.011, "M = {m}: {first}");
    }
}

#[test]
fn beyond_its_limit_a_run_stops_and_says_so() {
    for m in 0..=3 {
        let page = LIMITS[m];
        let (summary, points) = try_run(OSCILLATOR, "tdg-minus", 1.06 * page, 400.0 * page, &[&degree(m)]);
        let stop = summary.stop.as_ref().map(ToString::to_string).unwrap_or_default();
        println!("M = {m} at 1.06 of its limit: {stop}");
        assert!(summary.status == Status::Stopped && stop.contains("unstable"), "M = {m}: {stop}");
        assert!(summary.events.iter().any(|e| e.kind == EventKind::Instability), "M = {m}");
        assert!(points.len() < 400, "M = {m}");
        // Well within, nothing is said.
        let (summary, _) = run(OSCILLATOR, "tdg-minus", 0.8 * page, 400.0 * page, &[&degree(m)]);
        assert!(summary.events.is_empty(), "M = {m}: {:?}", summary.events);
    }
    // Nor of impacts that come at step ends, with all their energy.
    for scheme in SIDES {
        let set = ["parameters.e_N=1"];
        let (summary, _) = run("bouncing_ball", scheme, 1e-2, 100.0, &set);
        assert_eq!(summary.status, Status::Done);
    }
}
