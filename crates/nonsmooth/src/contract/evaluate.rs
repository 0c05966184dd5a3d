//! Differentiation of local functions: values and derivatives of f(t, q, u) over the few coordinates
//! that a part of a model touches, in chunks of directions, without allocation.

use super::layout::Place;
use super::model::Model;
use super::scalar::{Dual, Scalar};
use std::ops::Range;

/// Most coordinates (or velocities) that one part of a model may touch. Parts work on the stack;
/// larger models are split into parts that touch few coordinates each.
pub const MAX_LOCAL: usize = 64;

/// A vector function of local variables. `CAP` bounds the sizes of q, u and out.
pub(super) trait Function {
    fn eval<T: Scalar, const CAP: usize>(&self, t: T, q: &[T], u: &[T], out: &mut [T]);
}

/// Runs `$body` with the smallest capacity constant that holds `$n`.
macro_rules! with_capacity {
    ($n:expr, $cap:ident => $body:expr) => {
        if $n <= 8 {
            const $cap: usize = 8;
            $body
        } else {
            const $cap: usize = MAX_LOCAL;
            $body
        }
    };
}

fn capacity(q: &[f64], u: &[f64], n_out: usize) -> usize {
    q.len().max(u.len()).max(n_out)
}

/// f(t, q, u).
#[inline]
pub(super) fn value<F: Function>(f: &F, t: f64, q: &[f64], u: &[f64], out: &mut [f64]) {
    with_capacity!(capacity(q, u, out.len()), CAP => f.eval::<f64, CAP>(t, q, u, out));
}

/// Values and derivatives with respect to the variables `vars`, numbered 0 for t, then q, then u.
/// `jacobian` is row by row, one column per variable.
#[inline]
pub(super) fn derivatives<F: Function>(
    f: &F,
    t: f64,
    q: &[f64],
    u: &[f64],
    vars: Range<usize>,
    values: &mut [f64],
    jacobian: &mut [f64],
) {
    with_capacity!(capacity(q, u, values.len()), CAP => match vars.len() {
        0..=2 => passes::<F, 2, CAP>(f, t, q, u, vars, values, jacobian),
        5..=6 => passes::<F, 6, CAP>(f, t, q, u, vars, values, jacobian),
        _ => passes::<F, 4, CAP>(f, t, q, u, vars, values, jacobian),
    });
}

#[inline]
fn passes<F: Function, const C: usize, const CAP: usize>(
    f: &F,
    t: f64,
    q: &[f64],
    u: &[f64],
    vars: Range<usize>,
    values: &mut [f64],
    jacobian: &mut [f64],
) {
    let width = vars.len();
    let mut first = vars.start;
    while first < vars.end {
        let seed = |x: f64, variable: usize| -> Dual<f64, C> {
            let mut d = Dual::constant(x);
            let k = variable.wrapping_sub(first);
            if k < C {
                d.eps[k] = 1.0;
            }
            d
        };
        let mut dq = [Dual::constant(0.0); CAP];
        let mut du = [Dual::constant(0.0); CAP];
        let mut out = [Dual::constant(0.0); CAP];
        for (i, &x) in q.iter().enumerate() {
            dq[i] = seed(x, 1 + i);
        }
        for (i, &x) in u.iter().enumerate() {
            du[i] = seed(x, 1 + q.len() + i);
        }
        let n = values.len();
        f.eval::<Dual<f64, C>, CAP>(seed(t, 0), &dq[..q.len()], &du[..u.len()], &mut out[..n]);
        for (row, o) in out[..n].iter().enumerate() {
            values[row] = o.re;
            for k in 0..C.min(vars.end - first) {
                jacobian[row * width + first - vars.start + k] = o.eps[k];
            }
        }
        first += C;
    }
}

/// Derivative along the direction (1, q̇, 0).
pub(super) fn along_motion<F: Function>(f: &F, t: f64, q: &[f64], u: &[f64], qdot: &[f64], out: &mut [f64]) {
    let mut dq = [Dual::constant(0.0); MAX_LOCAL];
    let mut du = [Dual::constant(0.0); MAX_LOCAL];
    let mut o = [Dual::constant(0.0); MAX_LOCAL];
    for i in 0..q.len() {
        dq[i] = Dual { re: q[i], eps: [qdot[i]] };
    }
    for i in 0..u.len() {
        du[i] = Dual::constant(u[i]);
    }
    let n = out.len();
    f.eval::<Dual<f64, 1>, MAX_LOCAL>(Dual { re: t, eps: [1.0] }, &dq[..q.len()], &du[..u.len()], &mut o[..n]);
    for i in 0..n {
        out[i] = o[i].eps[0];
    }
}

/// q̇ of the extended coordinates of a part.
#[inline]
pub(super) fn rates<M: Model, T: Scalar, const CAP: usize>(
    model: &M,
    place: &Place,
    t: T,
    q: &[T],
    u: &[T],
    qdot: &mut [T],
) {
    if place.blocks.is_empty() {
        qdot[..u.len()].copy_from_slice(u);
        return;
    }
    let zero = T::from(0.0);
    for (b, coordinates, velocities) in &place.blocks {
        let (mut lq, mut lu, mut lr) = ([zero; CAP], [zero; CAP], [zero; CAP]);
        for (i, &c) in coordinates.iter().enumerate() {
            lq[i] = q[c];
        }
        for (i, &v) in velocities.iter().enumerate() {
            lu[i] = u[v];
        }
        model.kinematics(*b, t, &lq[..coordinates.len()], &lu[..velocities.len()], &mut lr[..coordinates.len()]);
        for (i, &c) in coordinates.iter().enumerate() {
            qdot[c] = lr[i];
        }
    }
}

/// out += scale·rowᵀ B, with `row` over the extended coordinates; returns row·β.
pub(super) fn row_times_b<M: Model>(
    model: &M,
    place: &Place,
    t: f64,
    q: &[f64],
    row: &[f64],
    scale: f64,
    out: &mut [f64],
) -> f64 {
    with_capacity!(capacity(q, out, 0), CAP => times_b::<M, f64, CAP>(model, place, t, q, row, scale, out))
}

/// The same for any scalar.
fn times_b<M: Model, T: Scalar, const CAP: usize>(
    model: &M,
    place: &Place,
    t: T,
    q: &[T],
    row: &[T],
    scale: f64,
    out: &mut [T],
) -> T {
    let zero = T::from(0.0);
    let mut drift = zero;
    if place.blocks.is_empty() {
        for (o, r) in out.iter_mut().zip(row) {
            *o += *r * scale;
        }
        return drift;
    }
    for (b, coordinates, velocities) in &place.blocks {
        let (mut lq, mut lu) = ([zero; CAP], [zero; CAP]);
        for (i, &c) in coordinates.iter().enumerate() {
            lq[i] = q[c];
        }
        let (n, m) = (coordinates.len(), velocities.len());
        let (mut beta, mut column) = ([zero; CAP], [zero; CAP]);
        model.kinematics(*b, t, &lq[..n], &lu[..m], &mut beta[..n]);
        for (i, &c) in coordinates.iter().enumerate() {
            drift += row[c] * beta[i];
        }
        for (j, &v) in velocities.iter().enumerate() {
            lu[j] = T::from(1.0);
            model.kinematics(*b, t, &lq[..n], &lu[..m], &mut column[..n]);
            lu[j] = zero;
            for (i, &c) in coordinates.iter().enumerate() {
                out[v] += row[c] * (column[i] - beta[i]) * scale;
            }
        }
    }
    drift
}

/// g_N of contact `i`.
pub(super) struct Gap<'a, M>(pub(super) &'a M, pub(super) usize, pub(super) &'a Place);

impl<M: Model> Function for Gap<'_, M> {
    #[inline]
    fn eval<T: Scalar, const CAP: usize>(&self, t: T, q: &[T], _u: &[T], out: &mut [T]) {
        out[0] = self.0.gap(self.1, t, &q[..self.2.own]);
    }
}

/// g of joint `i`.
pub(super) struct Joint<'a, M>(pub(super) &'a M, pub(super) usize, pub(super) &'a Place);

impl<M: Model> Function for Joint<'_, M> {
    #[inline]
    fn eval<T: Scalar, const CAP: usize>(&self, t: T, q: &[T], _u: &[T], out: &mut [T]) {
        self.0.joint(self.1, t, &q[..self.2.own], out);
    }
}

/// q̇ of kinematic block `i`.
pub(super) struct Kinematics<'a, M>(pub(super) &'a M, pub(super) usize);

impl<M: Model> Function for Kinematics<'_, M> {
    #[inline]
    fn eval<T: Scalar, const CAP: usize>(&self, t: T, q: &[T], u: &[T], out: &mut [T]) {
        self.0.kinematics(self.1, t, q, u, out);
    }
}

macro_rules! velocity_function {
    ($(#[$doc:meta])* $name:ident, $method:ident) => {
        $(#[$doc])*
        pub(super) struct $name<'a, M>(pub(super) &'a M, pub(super) usize, pub(super) &'a Place);

        impl<M: Model> Function for $name<'_, M> {
            #[inline]
            fn eval<T: Scalar, const CAP: usize>(&self, t: T, q: &[T], u: &[T], out: &mut [T]) {
                self.0.$method(self.1, t, &q[..self.2.own], u, out);
            }
        }
    };
}

velocity_function!(
    /// γ_F of contact `i`.
    Slip, slip
);
velocity_function!(
    /// γ of velocity joint `i`.
    VelocityJoint, velocity_joint
);
velocity_function!(
    /// γ of element `i`.
    Element, element
);
velocity_function!(
    /// h of force `i`, given by value.
    Force, force
);

/// V of force `i`.
pub(super) struct Potential<'a, M>(pub(super) &'a M, pub(super) usize, pub(super) &'a Place);

impl<M: Model> Function for Potential<'_, M> {
    #[inline]
    fn eval<T: Scalar, const CAP: usize>(&self, t: T, q: &[T], _u: &[T], out: &mut [T]) {
        out[0] = self.0.potential(self.1, t, &q[..self.2.own]);
    }
}

/// h = −Bᵀ ∂V/∂q of force `i`.
pub(super) struct PotentialForce<'a, M>(pub(super) &'a M, pub(super) usize, pub(super) &'a Place);

impl<M: Model> PotentialForce<'_, M> {
    #[inline]
    fn gradient<T: Scalar, const C: usize, const CAP: usize>(&self, t: T, q: &[T], row: &mut [T]) {
        let own = self.2.own;
        let mut first = 0;
        while first < own {
            let mut dq = [Dual::<T, C>::constant(T::from(0.0)); CAP];
            for i in 0..own {
                dq[i] = Dual::constant(q[i]);
                if i >= first && i < first + C {
                    dq[i].eps[i - first] = T::from(1.0);
                }
            }
            let v = self.0.potential(self.1, Dual::constant(t), &dq[..own]);
            let n = C.min(own - first);
            row[first..first + n].copy_from_slice(&v.eps[..n]);
            first += C;
        }
    }
}

impl<M: Model> Function for PotentialForce<'_, M> {
    #[inline]
    fn eval<T: Scalar, const CAP: usize>(&self, t: T, q: &[T], _u: &[T], out: &mut [T]) {
        let zero = T::from(0.0);
        let mut row = [zero; CAP];
        if self.2.own == 1 {
            self.gradient::<T, 1, CAP>(t, q, &mut row);
        } else {
            self.gradient::<T, 4, CAP>(t, q, &mut row);
        }
        out.fill(zero);
        times_b::<M, T, CAP>(self.0, self.2, t, q, &row[..q.len()], -1.0, out);
    }
}

/// The time derivative of a position-level function as a function of (t, q, u).
pub(super) struct Rate<'a, M, P>(pub(super) &'a M, pub(super) &'a Place, pub(super) P);

impl<M: Model, P: Function> Function for Rate<'_, M, P> {
    fn eval<T: Scalar, const CAP: usize>(&self, t: T, q: &[T], u: &[T], out: &mut [T]) {
        let zero = T::from(0.0);
        let mut qdot = [zero; CAP];
        rates::<M, T, CAP>(self.0, self.1, t, q, u, &mut qdot);
        let mut dq = [Dual::<T, 1>::constant(zero); CAP];
        let mut o = [Dual::<T, 1>::constant(zero); CAP];
        for i in 0..q.len() {
            dq[i] = Dual { re: q[i], eps: [qdot[i]] };
        }
        let n = out.len();
        self.2.eval::<Dual<T, 1>, CAP>(Dual { re: t, eps: [T::from(1.0)] }, &dq[..q.len()], &[], &mut o[..n]);
        for i in 0..n {
            out[i] = o[i].eps[0];
        }
    }
}
