//! How q_{n+1} follows the velocity of the middle where q̇ = B(t,q) u + β(t,q), block of kinematics by block: from (27),
//!
//! ```text
//! K δq = −R_q + (dt/2)(B_n + B_{n+1}) δv,    K = I − (dt/2) ∂q̇/∂q(t_{n+1},q_{n+1},v),
//! ```
//!
//! so that δq = −y + X δv with y = K⁻¹R_q and X = (dt/2) K⁻¹(B_n + B_{n+1}). Rows of interactions know directions of velocities only: with
//! B_{n+1} ζ for δq,
//!
//! ```text
//! ζ = −η + Z δv,    η = B⁺_{n+1} y,    Z = B⁺_{n+1} X,    B⁺ = (BᵀB)⁻¹Bᵀ .
//! ```
//!
//! Where a block has a chart, y and X are those of its local coordinates about q_n, where K = I and X = dt I, and B⁺ is T(ξ_{n+1}).

use crate::contract::{Evaluator, KinematicBlock};
use crate::state::State;
use complementarity::linear::dense::{lu_factor, lu_solve};

/// The kinematics of one block.
#[derive(Default)]
struct Block {
    coordinates: Vec<usize>,
    velocities: Vec<usize>,
    chart: bool,
    /// ∂q̇/∂q, then the factors of K.
    k: Vec<f64>,
    pivots: Vec<usize>,
    /// B_n and B_{n+1}, row by row.
    b0: Vec<f64>,
    b1: Vec<f64>,
    /// X, row by row.
    x: Vec<f64>,
    /// Z, row by row.
    z: Vec<f64>,
    /// B⁺_{n+1}, row by row.
    inverse: Vec<f64>,
    square: Vec<f64>,
    square_pivots: Vec<usize>,
    column: Vec<f64>,
}

#[derive(Default)]
pub(super) struct Sensitivity {
    /// Whether q̇ = u: then y = R_q and X = dt·I.
    pub(super) identity: bool,
    /// R_q.
    pub(super) y: Vec<f64>,
    /// η; R_q itself where q̇ = u.
    eta: Vec<f64>,
    blocks: Vec<Block>,
    /// Block and place in it of every velocity.
    place: Vec<(u32, u32)>,
    /// Whether B_n is known.
    begun: bool,
}

impl Block {
    fn new(block: &KinematicBlock) -> Self {
        let (n, m) = (block.coordinates.len(), block.velocities.len());
        Self {
            coordinates: block.coordinates.clone(),
            velocities: block.velocities.clone(),
            chart: block.chart,
            k: vec![0.0; n * n],
            pivots: vec![0; n],
            b0: vec![0.0; n * m],
            b1: vec![0.0; n * m],
            x: vec![0.0; n * m],
            z: vec![0.0; m * m],
            inverse: vec![0.0; m * n],
            square: vec![0.0; m * m],
            square_pivots: vec![0; m],
            column: vec![0.0; n.max(m)],
        }
    }

    /// K from ∂q̇/∂q in its place, factored.
    fn factor(&mut self, dt: f64) {
        let n = self.coordinates.len();
        for (i, row) in self.k.chunks_exact_mut(n.max(1)).enumerate() {
            for (j, k) in row.iter_mut().enumerate() {
                *k = f64::from(i == j) - 0.5 * dt * *k;
            }
        }
        if lu_factor(&mut self.k, n, &mut self.pivots).is_err() {
            // A step that turns by half a revolution: K ≈ I.
            self.k.fill(0.0);
            (0..n).for_each(|i| self.k[i * n + i] = 1.0);
            let _ = lu_factor(&mut self.k, n, &mut self.pivots);
        }
    }

    /// B⁺ of B_{n+1}; zero where its columns are not independent, so that Newton's method sees no position there.
    fn invert(&mut self) {
        let (n, m) = (self.coordinates.len(), self.velocities.len());
        for i in 0..m {
            for j in 0..m {
                self.square[i * m + j] = (0..n).map(|r| self.b1[r * m + i] * self.b1[r * m + j]).sum();
            }
        }
        if lu_factor(&mut self.square, m, &mut self.square_pivots).is_err() {
            self.inverse.fill(0.0);
            return;
        }
        for r in 0..n {
            self.column[..m].copy_from_slice(&self.b1[r * m..(r + 1) * m]);
            lu_solve(&self.square, m, &self.square_pivots, &mut self.column[..m]);
            for i in 0..m {
                self.inverse[i * n + r] = self.column[i];
            }
        }
    }

    /// X and Z.
    fn solve(&mut self, dt: f64) {
        let (n, m) = (self.coordinates.len(), self.velocities.len());
        for j in 0..m {
            let column = &mut self.column[..n];
            for (i, c) in column.iter_mut().enumerate() {
                *c = 0.5 * dt * (self.b0[i * m + j] + self.b1[i * m + j]);
            }
            lu_solve(&self.k, n, &self.pivots, column);
            for (i, c) in column.iter().enumerate() {
                self.x[i * m + j] = *c;
            }
            for i in 0..m {
                self.z[i * m + j] = self.inverse[i * n..(i + 1) * n].iter().zip(&*column).map(|(b, c)| b * c).sum();
            }
        }
    }
}

impl Sensitivity {
    pub(super) fn prepare(&mut self, system: &Evaluator) {
        let s = system.structure();
        self.identity = s.identity_kinematics();
        self.blocks = s.kinematics.iter().map(Block::new).collect();
        self.place = vec![(0, 0); s.nu()];
        for (b, block) in self.blocks.iter().enumerate() {
            for (i, &v) in block.velocities.iter().enumerate() {
                self.place[v] = (b as u32, i as u32);
            }
        }
        self.y.clear();
        self.y.resize(s.nq(), 0.0);
        self.eta.clear();
        self.eta.resize(s.nu(), 0.0);
    }

    /// A step begins: B at its start is not known yet.
    pub(super) fn begin(&mut self) {
        self.begun = false;
    }

    /// y, with R_q in its place, and η, by the K of the last update.
    pub(super) fn solve_y(&mut self) {
        for block in &mut self.blocks {
            let n = block.coordinates.len();
            let column = &mut block.column[..n];
            column.iter_mut().zip(&block.coordinates).for_each(|(c, &i)| *c = self.y[i]);
            lu_solve(&block.k, n, &block.pivots, column);
            column.iter().zip(&block.coordinates).for_each(|(c, &i)| self.y[i] = *c);
            for (row, &v) in block.inverse.chunks_exact(n.max(1)).zip(&block.velocities) {
                self.eta[v] = row.iter().zip(&*column).map(|(b, c)| b * c).sum();
            }
        }
    }

    /// η after [`Sensitivity::solve_y`].
    pub(super) fn eta(&self) -> &[f64] {
        if self.identity { &self.y } else { &self.eta }
    }

    /// X and Z at the end (t,q) of a step, with the velocity v of its middle.
    pub(super) fn update(&mut self, system: &Evaluator, start: &State, t: f64, q: &[f64], v: &[f64], dt: f64) {
        for (b, block) in self.blocks.iter_mut().enumerate() {
            if !self.begun {
                system.kinematics_jacobian(b, start.t, &start.q, &start.u, &mut [], &mut block.b0);
            }
            system.kinematics_jacobian(b, t, q, v, &mut block.k, &mut block.b1);
            block.factor(dt);
            if block.chart {
                let m = block.velocities.len();
                system.about(&start.q, q, |_, y| system.tangent(b, y, &mut block.square));
                let n = block.coordinates.len();
                block.inverse.fill(0.0);
                (0..m).for_each(|i| block.inverse[i * n..i * n + m].copy_from_slice(&block.square[i * m..(i + 1) * m]));
            } else {
                block.invert();
            }
            block.solve(dt);
        }
        self.begun = true;
    }

    /// out += factor · Zᵀ g over the given velocities, for a gradient g over the same.
    pub(super) fn add_gradient(&self, g: &[f64], dofs: &[u32], dt: f64, factor: f64, out: &mut [f64]) {
        if self.identity {
            out.iter_mut().zip(g).for_each(|(out, g)| *out += factor * dt * g);
            return;
        }
        for (g, &i) in g.iter().zip(dofs) {
            let (block, row) = self.place[i as usize];
            let m = self.blocks[block as usize].velocities.len();
            let z = &self.blocks[block as usize].z[row as usize * m..(row as usize + 1) * m];
            for (out, &j) in out.iter_mut().zip(dofs) {
                let (other, column) = self.place[j as usize];
                if other == block {
                    *out += factor * g * z[column as usize];
                }
            }
        }
    }

    /// δq = −y + X δv, added to q.
    pub(super) fn advance(&self, dv: &[f64], q: &mut [f64]) {
        for block in &self.blocks {
            let m = block.velocities.len();
            for (row, &i) in block.x.chunks_exact(m.max(1)).zip(&block.coordinates) {
                q[i] += row.iter().zip(&block.velocities).map(|(x, &v)| x * dv[v]).sum::<f64>() - self.y[i];
            }
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
