//! How q_{n+1} follows the velocity of the middle where q̇ = B(t,q) u + β(t,q): from (27),
//!
//! ```text
//! K δq = −R_q + (dt/2)(B_n + B_{n+1}) δv,    K = I − (dt/2) ∂q̇/∂q(t_{n+1},q_{n+1},v),
//! ```
//!
//! so that δq = −y + X δv with y = K⁻¹R_q and X = (dt/2) K⁻¹(B_n + B_{n+1}).

use crate::contract::Evaluator;
use crate::state::State;
use complementarity::linear::dense::{lu_factor, lu_solve};

/// Coordinates up to which K is factored; beyond that K ≈ I, which costs iterations and no accuracy.
const SMALL: usize = 64;

#[derive(Default)]
pub(super) struct Sensitivity {
    /// Whether q̇ = u: then y = R_q and X = dt·I.
    pub(super) identity: bool,
    /// Whether X is known.
    pub(super) exact: bool,
    pub(super) y: Vec<f64>,
    /// X, row by row.
    x: Vec<f64>,
    /// B_n, and whether it is known.
    b0: Vec<f64>,
    begun: bool,
    by_q: Vec<f64>,
    by_u: Vec<f64>,
    pivots: Vec<usize>,
    column: Vec<f64>,
}

impl Sensitivity {
    pub(super) fn prepare(&mut self, system: &Evaluator) {
        let s = system.structure();
        let (nq, nu) = (s.nq(), s.nu());
        self.identity = s.identity_kinematics;
        self.exact = !self.identity && nq <= SMALL;
        self.y.clear();
        self.y.resize(nq, 0.0);
        let size = if self.exact { (nq * nq, nq * nu) } else { (0, 0) };
        self.by_q.resize(size.0, 0.0);
        for m in [&mut self.x, &mut self.b0, &mut self.by_u] {
            m.resize(size.1, 0.0);
        }
        self.pivots.resize(nq, 0);
        self.column.resize(nq, 0.0);
    }

    /// A step begins: B at its start is not known yet.
    pub(super) fn begin(&mut self) {
        self.begun = false;
    }

    /// y, with R_q in its place, by the K of the last update.
    pub(super) fn solve_y(&mut self) {
        if self.exact {
            lu_solve(&self.by_q, self.y.len(), &self.pivots, &mut self.y);
        }
    }

    /// X at the end (t,q) of a step, with the velocity v of its middle.
    pub(super) fn update(&mut self, system: &Evaluator, start: &State, t: f64, q: &[f64], v: &[f64], dt: f64) {
        if !self.exact {
            return;
        }
        if !self.begun {
            self.begun = true;
            system.kinematics_jacobian(start.t, &start.q, &start.u, &mut [], &mut self.b0);
        }
        let (nq, nu) = (q.len(), v.len());
        system.kinematics_jacobian(t, q, v, &mut self.by_q, &mut self.by_u);
        for (i, row) in self.by_q.chunks_exact_mut(nq).enumerate() {
            for (j, k) in row.iter_mut().enumerate() {
                *k = f64::from(i == j) - 0.5 * dt * *k;
            }
        }
        if lu_factor(&mut self.by_q, nq, &mut self.pivots).is_err() {
            // A step that turns by half a revolution: K ≈ I.
            self.by_q.fill(0.0);
            (0..nq).for_each(|i| self.by_q[i * nq + i] = 1.0);
            let _ = lu_factor(&mut self.by_q, nq, &mut self.pivots);
        }
        for j in 0..nu {
            for i in 0..nq {
                self.column[i] = 0.5 * dt * (self.b0[i * nu + j] + self.by_u[i * nu + j]);
            }
            lu_solve(&self.by_q, nq, &self.pivots, &mut self.column);
            for i in 0..nq {
                self.x[i * nu + j] = self.column[i];
            }
        }
    }

    /// out += factor · Xᵀ g over the given velocities, for a gradient g over the given coordinates.
    pub(super) fn add_gradient(
        &self,
        g: &[f64],
        coordinates: &[u32],
        dofs: &[u32],
        dt: f64,
        factor: f64,
        out: &mut [f64],
    ) {
        if self.identity {
            for (g, &c) in g.iter().zip(coordinates) {
                if let Some(j) = dofs.iter().position(|&d| d == c) {
                    out[j] += factor * dt * g;
                }
            }
            return;
        }
        let nu = self.x.len() / self.y.len().max(1);
        for (g, &c) in g.iter().zip(coordinates) {
            let row = &self.x[c as usize * nu..(c as usize + 1) * nu];
            for (out, &d) in out.iter_mut().zip(dofs) {
                *out += factor * g * row[d as usize];
            }
        }
    }

    /// δq = −y + X δv, added to q.
    pub(super) fn advance(&self, dv: &[f64], q: &mut [f64]) {
        let nu = dv.len();
        for (i, q) in q.iter_mut().enumerate() {
            let row = &self.x[i * nu..(i + 1) * nu];
            *q += row.iter().zip(dv).map(|(x, d)| x * d).sum::<f64>() - self.y[i];
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test fails on an error
mod tests {
    use super::*;
    use crate::contract::Workspace;
    use crate::{Differentiated, Layout, Model, Scalar};

    /// A body that turns: a unit quaternion and the angular velocity in the body.
    struct Turning;

    impl Model for Turning {
        fn layout(&self) -> Layout {
            Layout::new(["w", "x", "y", "z"]).velocities(["o1", "o2", "o3"]).kinematic_block(0..4, 0..3).constant_mass()
        }
        fn mass<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], m: &mut [T]) {
            (0..3).for_each(|i| m[4 * i] = T::from(1.0));
        }
        fn kinematics<T: Scalar>(&self, _i: usize, _t: T, q: &[T], u: &[T], out: &mut [T]) {
            let [w, x, y, z] = [q[0], q[1], q[2], q[3]];
            out[0] = (-(x * u[0]) - y * u[1] - z * u[2]) * 0.5;
            out[1] = (w * u[0] - z * u[1] + y * u[2]) * 0.5;
            out[2] = (z * u[0] + w * u[1] - x * u[2]) * 0.5;
            out[3] = (-(y * u[0]) + x * u[1] + w * u[2]) * 0.5;
        }
    }

    /// q_{n+1} of (27) for a given v, by fixed-point iteration.
    fn end(system: &Evaluator, start: &State, dt: f64, v: &[f64]) -> Vec<f64> {
        let mut q = start.q.clone();
        for _ in 0..100 {
            let (mut a, mut b) = (vec![0.0; q.len()], vec![0.0; q.len()]);
            system.kinematics(start.t, &start.q, v, &mut a);
            system.kinematics(start.t + dt, &q, v, &mut b);
            q = (0..q.len()).map(|i| start.q[i] + 0.5 * dt * (a[i] + b[i])).collect();
        }
        q
    }

    #[test]
    fn positions_follow_velocities_as_differences_say() {
        let (system, work) = (Differentiated::new(Turning).unwrap(), Workspace::default());
        let system = Evaluator::new(&system, &work);
        let start = State::new(0.3, vec![0.5, -0.1, 0.7, 0.5], vec![1.0, -2.0, 3.0]);
        let (dt, v) = (0.1, vec![1.2, -1.7, 2.5]);
        let q = end(&system, &start, dt, &v);
        let mut s = Sensitivity::default();
        s.prepare(&system);
        s.begin();
        s.update(&system, &start, start.t + dt, &q, &v, dt);
        let eps = 1e-6;
        for j in 0..3 {
            let [plus, minus] = [eps, -eps].map(|e| {
                let mut v = v.clone();
                v[j] += e;
                end(&system, &start, dt, &v)
            });
            let mut moved = vec![0.0; 4];
            let mut dv = vec![0.0; 3];
            dv[j] = 1.0;
            s.y.fill(0.0);
            s.advance(&dv, &mut moved);
            for (i, x) in moved.iter().enumerate() {
                // Central differences of numbers of order one with 1e-6: 1e-10 of rounding.
                let difference = (plus[i] - minus[i]) / (2.0 * eps);
                assert!((x - difference).abs() <= 1e-9, "dq{i}/dv{j}: {x}, by differences {difference}");
            }
        }
        // A position off (27) is put back by y, up to the square of the defect.
        let mut off = q.clone();
        off[2] += 1e-4;
        let (mut a, mut b) = (vec![0.0; 4], vec![0.0; 4]);
        system.kinematics(start.t, &start.q, &v, &mut a);
        system.kinematics(start.t + dt, &off, &v, &mut b);
        s.update(&system, &start, start.t + dt, &off, &v, dt);
        s.y = (0..4).map(|i| off[i] - start.q[i] - 0.5 * dt * (a[i] + b[i])).collect();
        s.solve_y();
        s.advance(&[0.0; 3], &mut off);
        for (x, q) in off.iter().zip(&q) {
            assert!((x - q).abs() <= 1e-8, "{off:?} is not {q:?}");
        }
    }
}
