//! Forces with a skew Jacobian: a charge in a magnetic field keeps its energy and turns by a known angle.

use super::{distance, run, take};
use nonsmooth::simulation::Record;
use nonsmooth::{Layout, Model, Scalar};

/// A charge in a magnetic field: h = G u with skew G; a harmonic trap besides.
struct Cyclotron {
    b: f64,
    k: f64,
}

impl Model for Cyclotron {
    fn layout(&self) -> Layout {
        Layout::new(["x", "y"]).constant_mass().force("magnetic").linear().potential("trap").linear()
    }
    fn mass<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], m: &mut [T]) {
        m[0] = T::from(1.0);
        m[3] = T::from(1.0);
    }
    fn force<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], u: &[T], h: &mut [T]) {
        h[0] = u[1] * self.b;
        h[1] = u[0] * -self.b;
    }
    fn potential<T: Scalar>(&self, _i: usize, _t: T, q: &[T]) -> T {
        (q[0] * q[0] + q[1] * q[1]) * (0.5 * self.k)
    }
}

#[test]
fn a_gyroscopic_force_in_the_iteration_matrix_keeps_energy_and_turns_by_its_angle() {
    let (b, h, steps) = (3.0, 0.05, 2000);
    for k in [0.0, 2.0] {
        let system = take(Cyclotron { b, k });
        let (summary, records) = run(&system, "moreau-jean", &[0.0, 0.0], &[1.0, 0.0], h, h * f64::from(steps));
        let energy =
            |r: &Record| 0.5 * (r.u[0] * r.u[0] + r.u[1] * r.u[1]) + 0.5 * k * (r.q[0] * r.q[0] + r.q[1] * r.q[1]);
        for r in &records {
            // The midpoint rule keeps quadratic invariants: 2000 roundings of 1e-16.
            assert!((energy(r) - 0.5).abs() <= 1e-12, "k = {k}, t = {}: {:e}", r.t, energy(r) - 0.5);
        }
        assert!((summary.ledger[0].1).abs() <= 1e-12, "a gyroscopic force does no work: {:?}", summary.ledger[0]);
        if k == 0.0 {
            // Cayley's rotation: by −2 atan(b h/2) in a step. Rounding of 2000 rotations.
            let angle = -2.0 * (0.5 * b * h).atan();
            for (i, r) in records.iter().enumerate() {
                let exact = [(angle * i as f64).cos(), (angle * i as f64).sin()];
                assert!(distance(&r.u, &exact) <= 1e-11, "step {i}: {:?} {exact:?}", r.u);
            }
        }
    }
}
