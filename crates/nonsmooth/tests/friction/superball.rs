//! Tangential restitution: a superball reverses its slip.

use super::{SCHEMES, contact, of, one_step, take};
use complementarity::Mode;
use nonsmooth::law::ContactLaw;
use nonsmooth::{Layout, Model, Scalar};

/// A planar ball (x, y, φ) of mass 1 over the ground, without weight.
struct Superball {
    radius: f64,
    inertia: f64,
    law: ContactLaw,
}

impl Model for Superball {
    fn layout(&self) -> Layout {
        Layout::new(["x", "y", "phi"]).constant_mass().contact("ground", self.law.clone())
    }
    fn mass<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], m: &mut [T]) {
        m[0] = T::from(1.0);
        m[4] = T::from(1.0);
        m[8] = T::from(self.inertia);
    }
    fn gap<T: Scalar>(&self, _i: usize, _t: T, q: &[T]) -> T {
        q[1] - self.radius
    }
    fn slip<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], u: &[T], gamma: &mut [T]) {
        gamma[0] = u[0] + u[2] * self.radius;
    }
}

#[test]
fn a_superball_reverses_its_slip_in_stick_mode() {
    // γ_T⁺ = −e_F γ_T⁻, γ_N⁺ = −e_N γ_N⁻; P_T = −(1 + e_F) γ_T⁻/(1 + R²/J), as long as that is inside the cone.
    let (radius, inertia, mu) = (0.5, 0.1, 0.9);
    let u = [1.0, -2.0, 3.0];
    let slip = u[0] + radius * u[2];
    let compliance = 1.0 + radius * radius / inertia;
    for name in SCHEMES {
        for (e_n, e_f) in [(0.5, 0.0), (0.9, 0.9), (1.0, 1.0), (0.0, 0.4)] {
            let law = ContactLaw::newton(e_n).coulomb(1, mu).tangential_restitution(e_f);
            let system = take(Superball { radius, inertia, law });
            let end = one_step(&system, name, "auto", &[0.0, radius, 0.0], &u, 1e-3);
            let p = contact(&end, 0);
            let what = format!("{name}, e_N = {e_n}, e_F = {e_f}: {p:?}");
            let (normal, tangential) = ((1.0 + e_n) * 2.0, -(1.0 + e_f) * slip / compliance);
            assert!(tangential.abs() < mu * normal, "the case sticks");
            // Linear in the mode found: a few rounding errors of numbers of order one.
            let exact = [u[0] + tangential, u[1] + normal, u[2] + radius * tangential / inertia];
            for k in 0..3 {
                assert!((end.u[k] - exact[k]).abs() <= 1e-13, "{what}: {:?} {exact:?}", end.u);
            }
            assert!((end.u[0] + radius * end.u[2] + e_f * slip).abs() <= 1e-13, "{what}");
            assert!((p[0] - normal).abs() <= 1e-13 && (p[1] - tangential).abs() <= 1e-13, "{what}");
            assert_eq!(of(&end).sigma[0].mode(1), Mode::Constraint, "{what}");
            if (e_n, e_f) == (1.0, 1.0) {
                // The perfect superball keeps its energy.
                let energy = |u: &[f64]| u[0] * u[0] + u[1] * u[1] + inertia * u[2] * u[2];
                assert!((energy(&end.u) - energy(&u)).abs() <= 1e-12, "{what}");
            }
        }
        // With little friction it slips: P_T = −μ P_N, and the restitution has no say.
        let law = ContactLaw::newton(0.5).coulomb(1, 0.05).tangential_restitution(0.9);
        let system = take(Superball { radius, inertia, law });
        let end = one_step(&system, name, "auto", &[0.0, radius, 0.0], &u, 1e-3);
        let p = contact(&end, 0);
        assert!((p[0] - 3.0).abs() <= 1e-13 && (p[1] + 0.05 * 3.0).abs() <= 1e-13, "{name}: {p:?}");
        assert_eq!(of(&end).sigma[0].mode(1), Mode::Impressed, "{name}");
    }
}
