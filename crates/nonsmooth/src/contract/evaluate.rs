//! Differentiation of local functions: values and derivatives of f(t, q, u) over the few coordinates
//! that a part of a model touches, in chunks of directions, without allocation.

use super::functions::{Function, Functions, Level};
use super::layout::Blocks;
use super::scalar::Dual;
use std::ops::Range;

/// Most coordinates (or velocities) that one part of a model may touch. Parts work on the stack;
/// larger models are split into parts that touch few coordinates each.
pub const MAX_LOCAL: usize = 64;

/// Runs `$body` with the smallest capacity constant that holds `$n`.
macro_rules! with_capacity {
    ($n:expr, $cap:ident => $body:expr) => {
        if $n <= 2 {
            const $cap: usize = 2;
            $body
        } else if $n <= 8 {
            const $cap: usize = 8;
            $body
        } else {
            const $cap: usize = MAX_LOCAL;
            $body
        }
    };
}

/// What is evaluated of a part.
#[derive(Debug, Clone, Copy)]
pub(super) enum Quantity {
    /// A function of the model.
    Value(Function),
    /// The time derivative of a function of position, [`Function::Gap`] or [`Function::Joint`], as a function of (t, q, u).
    Rate(Function),
    /// h = −Bᵀ ∂V/∂q of a force given by its potential.
    PotentialForce,
}

/// A vector function of local variables (t, q, u): a quantity of part `i`.
#[derive(Clone, Copy)]
pub(super) struct Local<'a> {
    pub(super) model: &'a dyn Functions,
    pub(super) quantity: Quantity,
    pub(super) i: usize,
    /// Number of leading coordinates that the model's function receives; the rest are those of the kinematic blocks.
    pub(super) own: usize,
    /// Kinematic blocks touched.
    pub(super) blocks: &'a Blocks,
}

impl Local<'_> {
    /// The quantity; `CAP` bounds the sizes of q, u and out.
    #[inline]
    fn eval<T: Level, const CAP: usize>(&self, t: T, q: &[T], u: &[T], out: &mut [T]) {
        match self.quantity {
            Quantity::Value(function) => T::call(self.model, function, self.i, t, &q[..self.own], u, out),
            Quantity::Rate(function) => self.rate::<T, CAP>(function, t, q, u, out),
            Quantity::PotentialForce => {
                let zero = T::from(0.0);
                let mut row = [zero; CAP];
                gradient::<T, CAP>(self.model, self.i, t, &q[..self.own], &mut row);
                out.fill(zero);
                times_b::<T, CAP>(self.model, self.blocks, t, q, &row[..q.len()], -1.0, out);
            }
        }
    }

    /// The derivative along (1, q̇(t, q, u)).
    fn rate<T: Level, const CAP: usize>(&self, function: Function, t: T, q: &[T], u: &[T], out: &mut [T]) {
        let zero = T::from(0.0);
        let mut qdot = [zero; CAP];
        rates::<T, CAP>(self.model, self.blocks, t, q, u, &mut qdot);
        let mut dq = [Dual::<T, 1>::constant(zero); CAP];
        let mut o = [Dual::<T, 1>::constant(zero); CAP];
        for i in 0..self.own {
            dq[i] = Dual { re: q[i], eps: [qdot[i]] };
        }
        let n = out.len();
        let t = Dual { re: t, eps: [T::from(1.0)] };
        T::call_position(self.model, function, self.i, t, &dq[..self.own], &mut o[..n]);
        for i in 0..n {
            out[i] = o[i].eps[0];
        }
    }

    fn capacity(&self, q: &[f64], u: &[f64], n_out: usize) -> usize {
        q.len().max(u.len()).max(n_out)
    }

    /// f(t, q, u).
    pub(super) fn value(&self, t: f64, q: &[f64], u: &[f64], out: &mut [f64]) {
        if let Quantity::Value(function) = self.quantity {
            f64::call(self.model, function, self.i, t, &q[..self.own], u, out);
            return;
        }
        with_capacity!(self.capacity(q, u, out.len()), CAP => self.eval::<f64, CAP>(t, q, u, out));
    }

    /// Values and derivatives with respect to the variables `vars`, numbered 0 for t, then q, then u.
    /// `jacobian` is row by row, one column per variable.
    pub(super) fn derivatives(
        &self,
        t: f64,
        q: &[f64],
        u: &[f64],
        vars: Range<usize>,
        values: &mut [f64],
        jacobian: &mut [f64],
    ) {
        with_capacity!(self.capacity(q, u, values.len()), CAP => match vars.len() {
            0..=2 => self.passes::<2, CAP>(t, q, u, vars, values, jacobian),
            5..=6 => self.passes::<6, CAP>(t, q, u, vars, values, jacobian),
            _ => self.passes::<4, CAP>(t, q, u, vars, values, jacobian),
        });
    }

    fn passes<const C: usize, const CAP: usize>(
        &self,
        t: f64,
        q: &[f64],
        u: &[f64],
        vars: Range<usize>,
        values: &mut [f64],
        jacobian: &mut [f64],
    ) where
        Dual<f64, C>: Level,
    {
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
            self.eval::<Dual<f64, C>, CAP>(seed(t, 0), &dq[..q.len()], &du[..u.len()], &mut out[..n]);
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
    pub(super) fn along_motion(&self, t: f64, q: &[f64], u: &[f64], qdot: &[f64], out: &mut [f64]) {
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
        let t = Dual { re: t, eps: [1.0] };
        self.eval::<Dual<f64, 1>, MAX_LOCAL>(t, &dq[..q.len()], &du[..u.len()], &mut o[..n]);
        for i in 0..n {
            out[i] = o[i].eps[0];
        }
    }
}

/// ∂V/∂q of potential `i`, four directions at a time.
#[inline]
fn gradient<T: Level, const CAP: usize>(model: &dyn Functions, i: usize, t: T, q: &[T], row: &mut [T]) {
    if let [q] = *q {
        let q = Dual { re: q, eps: [T::from(1.0)] };
        row[0] = T::potential_1(model, i, Dual::constant(t), &[q]).eps[0];
        return;
    }
    let mut first = 0;
    while first < q.len() {
        let mut dq = [Dual::<T, 4>::constant(T::from(0.0)); CAP];
        for (k, (dq, q)) in dq.iter_mut().zip(q).enumerate() {
            dq.re = *q;
            if k >= first && k < first + 4 {
                dq.eps[k - first] = T::from(1.0);
            }
        }
        let v = T::potential_4(model, i, Dual::constant(t), &dq[..q.len()]);
        let n = 4.min(q.len() - first);
        row[first..first + n].copy_from_slice(&v.eps[..n]);
        first += 4;
    }
}

/// ∂V/∂q of potential `i`.
pub(super) fn potential_gradient(model: &dyn Functions, i: usize, t: f64, q: &[f64], row: &mut [f64]) {
    with_capacity!(q.len(), CAP => gradient::<f64, CAP>(model, i, t, q, row));
}

/// q̇ of the extended coordinates of a part.
#[inline]
pub(super) fn rates<T: Level, const CAP: usize>(
    model: &dyn Functions,
    blocks: &Blocks,
    t: T,
    q: &[T],
    u: &[T],
    qdot: &mut [T],
) {
    if blocks.is_empty() {
        qdot[..u.len()].copy_from_slice(u);
        return;
    }
    let zero = T::from(0.0);
    for (b, coordinates, velocities) in blocks {
        let (mut lq, mut lu, mut lr) = ([zero; CAP], [zero; CAP], [zero; CAP]);
        for (i, &c) in coordinates.iter().enumerate() {
            lq[i] = q[c];
        }
        for (i, &v) in velocities.iter().enumerate() {
            lu[i] = u[v];
        }
        let (n, m) = (coordinates.len(), velocities.len());
        T::call(model, Function::Kinematics, *b, t, &lq[..n], &lu[..m], &mut lr[..n]);
        for (i, &c) in coordinates.iter().enumerate() {
            qdot[c] = lr[i];
        }
    }
}

/// out += scale·rowᵀ B, with `row` over the extended coordinates; returns row·β.
pub(super) fn row_times_b(
    model: &dyn Functions,
    blocks: &Blocks,
    t: f64,
    q: &[f64],
    row: &[f64],
    scale: f64,
    out: &mut [f64],
) -> f64 {
    with_capacity!(q.len().max(out.len()), CAP => times_b::<f64, CAP>(model, blocks, t, q, row, scale, out))
}

/// The same for any scalar.
#[inline]
fn times_b<T: Level, const CAP: usize>(
    model: &dyn Functions,
    blocks: &Blocks,
    t: T,
    q: &[T],
    row: &[T],
    scale: f64,
    out: &mut [T],
) -> T {
    let zero = T::from(0.0);
    let mut drift = zero;
    if blocks.is_empty() {
        for (o, r) in out.iter_mut().zip(row) {
            *o += *r * scale;
        }
        return drift;
    }
    for (b, coordinates, velocities) in blocks {
        let (mut lq, mut lu) = ([zero; CAP], [zero; CAP]);
        for (i, &c) in coordinates.iter().enumerate() {
            lq[i] = q[c];
        }
        let (n, m) = (coordinates.len(), velocities.len());
        let (mut beta, mut column) = ([zero; CAP], [zero; CAP]);
        T::call(model, Function::Kinematics, *b, t, &lq[..n], &lu[..m], &mut beta[..n]);
        for (i, &c) in coordinates.iter().enumerate() {
            drift += row[c] * beta[i];
        }
        for (j, &v) in velocities.iter().enumerate() {
            lu[j] = T::from(1.0);
            T::call(model, Function::Kinematics, *b, t, &lq[..n], &lu[..m], &mut column[..n]);
            lu[j] = zero;
            for (i, &c) in coordinates.iter().enumerate() {
                out[v] += row[c] * (column[i] - beta[i]) * scale;
            }
        }
    }
    drift
}
