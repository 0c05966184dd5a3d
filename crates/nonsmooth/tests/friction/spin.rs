//! Sliding with spin on a table: Coulomb-Contensou friction.

use super::{G, SCHEMES, contact, run, take};
use nonsmooth::law::ContactLaw;
use nonsmooth::{Layout, Model, Scalar, SimulationOptions};

/// A disc (x, y, z, φ about z) on a table with Coulomb-Contensou friction: slip (x', y', r φ').
struct Spinner {
    mu: f64,
    r: f64,
    /// J/(m r²).
    inertia: f64,
}

impl Model for Spinner {
    fn layout(&self) -> Layout {
        Layout::new(["x", "y", "z", "phi"])
            .constant_mass()
            .potential("gravity")
            .linear()
            .contact("table", ContactLaw::newton(0.0).coulomb(3, self.mu))
    }
    fn mass<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], m: &mut [T]) {
        for k in 0..3 {
            m[5 * k] = T::from(1.0);
        }
        m[15] = T::from(self.inertia * self.r * self.r);
    }
    fn potential<T: Scalar>(&self, _i: usize, _t: T, q: &[T]) -> T {
        q[2] * G
    }
    fn gap<T: Scalar>(&self, _i: usize, _t: T, q: &[T]) -> T {
        q[2]
    }
    fn slip<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], u: &[T], gamma: &mut [T]) {
        gamma[0] = u[0];
        gamma[1] = u[1];
        gamma[2] = u[3] * self.r;
    }
}

#[test]
fn spin_lowers_sliding_friction_and_both_stop_together_with_matched_inertia() {
    // J = m r²: the slip s = (x', y', r φ') is braked by μ g along itself, so it keeps its direction, stops after
    // |s|/(μ g), and the way is v|s|/(2 μ g): farther by |s|/v than without spin.
    let (mu, r) = (0.4, 0.2);
    let (v, spin) = ([1.2, -0.9], 10.0);
    let s = [v[0], v[1], r * spin];
    let size = (s[0] * s[0] + s[1] * s[1] + s[2] * s[2]).sqrt();
    let stop = size / (mu * G);
    let h = stop / 80.5;
    let system = take(Spinner { mu, r, inertia: 1.0 });
    for name in SCHEMES {
        let u = [v[0], v[1], 0.0, spin];
        let (_, records) = run(&system, name, &[0.0; 4], &u, SimulationOptions::new(h, 1.5 * stop));
        for record in &records[1..] {
            let p = contact(record, 0);
            if record.t < stop {
                // 80 steps solved to 1e-10 of g h.
                for k in 0..3 {
                    let expected = s[k] * (1.0 - record.t / stop);
                    let found = if k == 2 { r * record.u[3] } else { record.u[k] };
                    assert!((found - expected).abs() <= 1e-9, "{name}: slip {k} at t = {}", record.t);
                    assert!((p[1 + k] + mu * p[0] * s[k] / size).abs() <= 1e-9 * p[0], "{name}: {p:?}");
                }
                let braking = p[1].hypot(p[2]) / p[0];
                assert!(braking < 0.999 * mu, "{name}: spin must lower the sliding friction, {braking}");
            } else if record.t > stop + h {
                assert!(record.u.iter().all(|x| x.abs() <= 1e-9), "{name}: at rest, {:?}", record.u);
            }
        }
        let end = records.last().expect("records");
        // The last sliding step adds μg h²/8 along s (see `sliding_block.rs`).
        let way = size / (2.0 * mu * G) + mu * G * h * h / 8.0 / size;
        for (k, x) in [(0, end.q[0]), (1, end.q[1]), (2, r * end.q[3])] {
            assert!((x - way * s[k]).abs() <= 1e-9, "{name}: {k} {x} {}", way * s[k]);
        }
    }
}

#[test]
fn with_other_inertias_sliding_and_spin_still_stop_in_the_same_step() {
    // v' = −μ g v/|s|, (rφ')' = −(μ g/κ) rφ'/|s| with κ = J/(m r²): v/v0 = (φ'/φ0')^κ, so that neither stops first.
    let (mu, r, v, spin) = (0.4, 0.2, 1.5, 10.0);
    for kappa in [0.5, 2.0] {
        let system = take(Spinner { mu, r, inertia: kappa });
        for name in SCHEMES {
            let mut errors = Vec::new();
            for h in [2e-3, 1e-3, 5e-4] {
                let u = [v, 0.0, 0.0, spin];
                let (_, records) = run(&system, name, &[0.0; 4], &u, SimulationOptions::new(h, 1.5));
                let mut worst: f64 = 0.0;
                for w in records.windows(2) {
                    let (slides, spins) = (w[1].u[0].abs() > 1e-9, w[1].u[3].abs() > 1e-9);
                    assert_eq!(slides, spins, "{name}, kappa = {kappa}, t = {}: {:?}", w[1].t, w[1].u);
                    if slides {
                        worst = worst.max((w[1].u[0] / v - (w[1].u[3] / spin).powf(kappa)).abs());
                    }
                }
                assert!(records.last().expect("records").u[0].abs() < 1e-9, "{name}: it stops within 1.5 s");
                errors.push(worst);
            }
            println!("{name}, kappa = {kappa}: deviation from v = c spin^kappa {errors:?}");
            // First order in h, from μ g h/|s| of one step: halving h halves it, within a third of the factor.
            for w in errors.windows(2) {
                let ratio = w[0] / w[1];
                assert!((1.5..2.7).contains(&ratio), "{name}, kappa = {kappa}: {errors:?}");
            }
        }
    }
}
