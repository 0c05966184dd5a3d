//! The woodpecker toy [Studer2008, §10.4]: data as in the scene `woodpecker`.

use nonsmooth::law::ContactLaw;
use nonsmooth::{Layout, Model, Scalar, State};

/// A woodpecker (angle φ_S) on a sleeve (height y, angle φ_M) that slides down a pole.
#[derive(Debug, Clone, Copy, Default)]
pub struct Woodpecker;

const M_M: f64 = 3e-4;
const J_M: f64 = 5e-9;
const M_S: f64 = 4.5e-3;
const J_S: f64 = 7e-7;
const C_PHI: f64 = 0.0056;
const G: f64 = 9.81;
const R_0: f64 = 0.0025;
const R_M: f64 = 0.0031;
const H_M: f64 = 0.0058;
const L_M: f64 = 0.010;
const L_G: f64 = 0.015;
const H_S: f64 = 0.02;
const L_S: f64 = 0.0201;
const MU: f64 = 0.3;

impl Woodpecker {
    /// The start of the paper.
    pub fn start() -> State {
        State::new(0.0, vec![0.0, -0.1036, -0.2788], vec![-0.3411, 0.0, -7.4583])
    }
}

impl Model for Woodpecker {
    fn layout(&self) -> Layout {
        let contact = |e| ContactLaw::newton(e).coulomb(1, MU);
        Layout::new(["y", "phi_m", "phi_s"])
            .constant_mass()
            .potential("gravity")
            .linear()
            .potential("spring")
            .linear()
            .contact("beak", contact(0.5))
            .linear()
            .contact("lower", contact(0.0))
            .linear()
            .contact("upper", contact(0.0))
            .linear()
    }
    fn mass<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], m: &mut [T]) {
        let rows = [
            [M_S + M_M, M_S * L_M, M_S * L_G],
            [M_S * L_M, J_M + M_S * L_M * L_M, M_S * L_M * L_G],
            [M_S * L_G, M_S * L_M * L_G, J_S + M_S * L_G * L_G],
        ];
        for (m, v) in m.iter_mut().zip(rows.iter().flatten()) {
            *m = T::from(*v);
        }
    }
    fn potential<T: Scalar>(&self, i: usize, _t: T, q: &[T]) -> T {
        if i == 0 {
            (q[0] * (M_S + M_M) + (q[1] * L_M + q[2] * L_G) * M_S) * G
        } else {
            let d = q[1] - q[2];
            d * d * (0.5 * C_PHI)
        }
    }
    fn gap<T: Scalar>(&self, i: usize, _t: T, q: &[T]) -> T {
        match i {
            0 => -q[2] * H_S + (L_M + L_G - L_S - R_0),
            1 => q[1] * H_M + (R_M - R_0),
            _ => -q[1] * H_M + (R_M - R_0),
        }
    }
    fn slip<T: Scalar>(&self, i: usize, _t: T, _q: &[T], u: &[T], gamma: &mut [T]) {
        gamma[0] = if i == 0 { u[0] + u[1] * L_M + u[2] * (L_G - L_S) } else { u[0] + u[1] * R_M };
    }
}
