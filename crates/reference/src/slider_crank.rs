//! The slider-crank with play in minimal coordinates [Acary2013, §6.4.1], derived by hand; data as in the scene `slider_crank`.
//!
//! With K = l₁l₂(m₂/2 + m₃) and δ = θ₁ − θ₂,
//!
//! ```text
//! M = [ J₁ + l₁²(m₁/4 + m₂ + m₃)   K cos δ                  0  ]
//!     [ K cos δ                    J₂ + l₂²(m₂/4 + m₃)      0  ]
//!     [ 0                          0                        J₃ ]
//! h = ( −K sin δ θ̇₂² − g l₁ cos θ₁ (m₁/2 + m₂ + m₃),  K sin δ θ̇₁² − g l₂ cos θ₂ (m₂/2 + m₃),  0 ) .
//! ```

use nonsmooth::law::ContactLaw;
use nonsmooth::{Layout, Model, Scalar, State};

/// Crank, connecting rod and a slider whose four corners may touch the channel.
#[derive(Debug, Clone, Copy, Default)]
pub struct SliderCrank;

const L_1: f64 = 0.153;
const L_2: f64 = 0.306;
const A: f64 = 0.05;
const B: f64 = 0.025;
const D: f64 = 0.052;
const M_1: f64 = 0.038;
const M_2: f64 = 0.038;
const M_3: f64 = 0.076;
const J_1: f64 = 7.4e-5;
const J_2: f64 = 5.9e-4;
const J_3: f64 = 2.7e-6;
const G: f64 = 9.81;
const MU: f64 = 0.01;
const E_N: f64 = 0.4;

impl SliderCrank {
    /// The start of the paper.
    pub fn start() -> State {
        State::new(0.0, vec![0.0; 3], vec![150.0, -75.0, 0.0])
    }
}

/// Side of the slider (+1 far from the crank) and of the channel (+1 above) of a corner.
fn corner(i: usize) -> (f64, f64) {
    (if i.is_multiple_of(2) { -1.0 } else { 1.0 }, if i < 2 { 1.0 } else { -1.0 })
}

impl Model for SliderCrank {
    fn layout(&self) -> Layout {
        let layout =
            Layout::new(["theta1", "theta2", "theta3"]).force("gyroscopic").on([0, 1]).potential("gravity").on([0, 1]);
        let contact = |l: Layout, name| l.contact(name, ContactLaw::newton(E_N).coulomb(1, MU));
        ["c1", "c2", "c3", "c4"].into_iter().fold(layout, contact)
    }
    fn mass<T: Scalar>(&self, _i: usize, _t: T, q: &[T], m: &mut [T]) {
        let k = (q[0] - q[1]).cos() * (L_1 * L_2 * (0.5 * M_2 + M_3));
        m[0] = T::from(J_1 + L_1 * L_1 * (0.25 * M_1 + M_2 + M_3));
        m[1] = k;
        m[3] = k;
        m[4] = T::from(J_2 + L_2 * L_2 * (0.25 * M_2 + M_3));
        m[8] = T::from(J_3);
    }
    fn force<T: Scalar>(&self, _i: usize, _t: T, q: &[T], u: &[T], h: &mut [T]) {
        let k = (q[0] - q[1]).sin() * (L_1 * L_2 * (0.5 * M_2 + M_3));
        h[0] = -(k * u[1] * u[1]);
        h[1] = k * u[0] * u[0];
    }
    fn potential<T: Scalar>(&self, _i: usize, _t: T, q: &[T]) -> T {
        (q[0].sin() * (L_1 * (0.5 * M_1 + M_2 + M_3)) + q[1].sin() * (L_2 * (0.5 * M_2 + M_3))) * G
    }
    fn gap<T: Scalar>(&self, i: usize, _t: T, q: &[T]) -> T {
        let (side, above) = corner(i);
        let y = q[0].sin() * L_1 + q[1].sin() * L_2 + q[2].sin() * (side * A) + q[2].cos() * (above * B);
        -y * above + 0.5 * D
    }
    fn slip<T: Scalar>(&self, i: usize, _t: T, q: &[T], u: &[T], gamma: &mut [T]) {
        let (side, above) = corner(i);
        let centre = -(q[0].sin() * u[0] * L_1 + q[1].sin() * u[1] * L_2);
        gamma[0] = centre - u[2] * (q[2].sin() * (side * A) + q[2].cos() * (above * B));
    }
}
