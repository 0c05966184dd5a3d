//! Tests whether the velocities determine the percussions, and finds the percussions of least norm where they do not.
//!
//! At a solution (r, u) let the orthonormal columns of N span the percussions that the modes leave free, block by block:
//!
//! - nothing where a contact opens;
//! - the normal where it is closed without friction;
//! - all of the block where it sticks;
//! - the one direction (1, −μ u_T/‖u_T‖) where it slips.
//!
//! A contact that neither opens nor is loaded counts as closed, because it could carry load. With r = r₀ + Nλ the same motion belongs to
//!
//! ```text
//! {λ ∈ C : G λ = G λ*},    G = A N,
//! ```
//!
//! C the cones and bounds of the blocks. If G has full column rank the percussions are unique. Otherwise the element of least norm is taken. With Q an
//! orthonormal basis of the row space of G and c = Q λ*, it is
//!
//! ```text
//! λ = proj_C(Qᵀp)   where   Q proj_C(Qᵀp) = c,
//! ```
//!
//! the optimality condition of the dual problem, max cᵀp − xᵀλ + ½‖λ‖² with x = Qᵀp. It is solved by Newton's method from p = c, damped so that the
//! dual rises. The start is the projection of λ* onto the row space; if it lies in C it is the solution. Without friction every solution has the
//! same u, and this one has the least norm of all; with friction the least norm within the mode found. u does not change.

use super::Judge;
use crate::linear::dense::{dot, lu_factor, lu_solve, max_norm, norm};
use crate::problem::{Block, Problem};
use crate::sets::{MAX_DIM, Set};
use std::ops::Range;

/// Scratch. See the [module](self).
#[derive(Debug, Default)]
pub(super) struct LeastNormPercussions {
    judge: Judge,
    dense: Problem,
    /// Columns of N: block, and the direction in it.
    columns: Vec<(usize, [f64; MAX_DIM])>,
    /// λ*, the least, and scratch.
    lambda: Vec<f64>,
    least: Vec<f64>,
    x: Vec<f64>,
    c: Vec<f64>,
    p: Vec<f64>,
    step: Vec<f64>,
    gradient: Vec<f64>,
    hessian: Vec<f64>,
    pivots: Vec<usize>,
    rows: Vec<f64>,
    /// Orthonormal rows that span the row space of G.
    basis: Vec<f64>,
    r: Vec<f64>,
}

/// Relative norm of an orthogonalised row of G below which the row depends on the others.
const DEPENDENCE_TOLERANCE: f64 = 1e-10;
/// Velocities below this, relative to the tolerance times ‖b‖ in the units of the residual, may be zero.
const REST_TOLERANCE: f64 = 10.0;
/// Percussions below this part of the largest count as zero.
const ZERO_PERCUSSION: f64 = 1e-12;
/// Most Newton steps, and the gradient, relative to ‖λ*‖, at which they end.
const MAX_NEWTON_STEPS: usize = 60;
const GRADIENT_TOLERANCE: f64 = 1e-15;
/// Residual at rounding level: a solution that reaches it must keep it.
const RESIDUAL_FLOOR: f64 = 1e-13;
/// Multiple of the identity that makes the Hessian regular.
const REGULARISATION: f64 = 1e-12;

/// The largest percussion in the units in which the residual of the problem is measured.
fn largest(problem: &Problem, r: &[f64]) -> f64 {
    let sizes = problem.blocks().iter().enumerate();
    let of = |(i, b): (usize, &Block)| problem.root_compliance(i) * max_norm(&r[b.start..b.start + b.set.dim()]);
    sizes.map(of).fold(0.0, f64::max)
}

impl LeastNormPercussions {
    /// Replaces the solution `r` by the one of least norm with the same velocities. Returns whether percussions are not unique.
    pub(super) fn settle(&mut self, problem: &Problem, r: &mut [f64], tolerance: f64) -> bool {
        let before = self.judge.residual(problem, r);
        if !(before <= tolerance) {
            return false;
        }
        self.modes(problem, r, REST_TOLERANCE * tolerance * problem.scale());
        let m = self.columns.len();
        let rank = self.row_space(problem);
        if rank == m {
            return false;
        }
        self.minimise(problem);
        self.r.clear();
        self.r.extend_from_slice(r);
        for (&(b, direction), (l, from)) in self.columns.iter().zip(self.least.iter().zip(&self.lambda)) {
            let block = &problem.blocks()[b];
            for k in 0..block.set.dim() {
                self.r[block.start + k] += direction[k] * (l - from);
            }
        }
        for block in problem.blocks() {
            let rows = block.start..block.start + block.set.dim();
            block.set.project(&mut self.r[rows]);
        }
        let after = self.judge.residual(problem, &self.r);
        if norm(&self.r) <= norm(r) && after <= before.max(RESIDUAL_FLOOR.min(tolerance)) {
            r.copy_from_slice(&self.r);
        }
        true
    }

    /// Whether a block on the boundary of its set has zero velocity, so that another mode is possible. Cheap, unlike [`LeastNormPercussions::settle`].
    pub(super) fn undecided(&mut self, problem: &Problem, r: &[f64], tolerance: f64) -> bool {
        let nothing = REST_TOLERANCE * tolerance * largest(problem, r);
        let on_edge = |(i, b): &(usize, &Block)| {
            let own = &r[b.start..b.start + b.set.dim()];
            let nothing = nothing / problem.root_compliance(*i);
            match b.set {
                Set::Free { .. } => false,
                Set::NonNegative => own[0] <= nothing,
                Set::Interval { lower, upper } => own[0] - lower <= nothing || upper - own[0] <= nothing,
                Set::Ball { radius, .. } => radius - norm(own) <= nothing,
                Set::Coulomb { mu, .. } => mu * own[0] - norm(&own[1..]) <= nothing,
                Set::Polyhedral { .. } => true,
            }
        };
        if !problem.blocks().iter().enumerate().any(|b| on_edge(&b)) {
            return false;
        }
        self.judge.u.resize(problem.size(), 0.0);
        problem.velocity(r, &mut self.judge.u);
        let still = REST_TOLERANCE * tolerance * problem.scale();
        problem.blocks().iter().enumerate().filter(on_edge).any(|(i, b)| {
            let root = problem.root_compliance(i);
            let (still, nothing) = (still * root, nothing / root);
            let u = &self.judge.u[b.start..b.start + b.set.dim()];
            let unloaded = r[b.start] <= nothing && u[0] <= still;
            let sticks = norm(&u[1..]) <= still && u[0] <= still;
            match b.set {
                Set::Coulomb { .. } | Set::Polyhedral { .. } => unloaded || sticks,
                Set::Free { .. } | Set::NonNegative | Set::Interval { .. } | Set::Ball { .. } => norm(u) <= still,
            }
        })
    }

    /// N and λ* at r, whose velocities `judge.u` holds.
    fn modes(&mut self, problem: &Problem, r: &[f64], still: f64) {
        self.columns.clear();
        self.lambda.clear();
        let nothing = ZERO_PERCUSSION * largest(problem, r);
        for (b, block) in problem.blocks().iter().enumerate() {
            let root = problem.root_compliance(b);
            let (still, nothing) = (still * root, nothing / root);
            let (s, d) = (block.start, block.set.dim());
            let (r, u) = (&r[s..s + d], &self.judge.u[s..s + d]);
            let closed = u[0] <= still || r[0] > nothing;
            let slip = norm(&u[1..]);
            let mut all_components = || {
                for k in 0..d {
                    let mut direction = [0.0; MAX_DIM];
                    direction[k] = 1.0;
                    self.columns.push((b, direction));
                    self.lambda.push(r[k]);
                }
            };
            match &block.set {
                Set::Free { .. } => all_components(),
                Set::NonNegative if closed => all_components(),
                Set::Interval { .. } | Set::Ball { .. } if norm(u) <= still => all_components(),
                Set::Coulomb { mu, .. } if closed && *mu == 0.0 => {
                    let mut direction = [0.0; MAX_DIM];
                    direction[0] = 1.0;
                    self.columns.push((b, direction));
                    self.lambda.push(r[0]);
                }
                Set::Coulomb { .. } | Set::Polyhedral { .. } if closed && slip <= still => all_components(),
                Set::Coulomb { mu, .. } if closed => {
                    let mut direction = [0.0; MAX_DIM];
                    let length = (1.0 + mu * mu).sqrt();
                    direction[0] = 1.0 / length;
                    for k in 1..d {
                        direction[k] = -mu * u[k] / (slip * length);
                    }
                    self.columns.push((b, direction));
                    self.lambda.push(dot(r, &direction[..d]));
                }
                Set::Polyhedral { .. } if r[0] > 0.0 => {
                    let (length, mut direction) = (norm(r), [0.0; MAX_DIM]);
                    for k in 0..d {
                        direction[k] = r[k] / length;
                    }
                    self.columns.push((b, direction));
                    self.lambda.push(length);
                }
                _ => {}
            }
        }
    }

    /// An orthonormal basis of the row space of G; returns its dimension.
    fn row_space(&mut self, problem: &Problem) -> usize {
        let m = self.columns.len();
        self.basis.clear();
        if m == 0 {
            return 0;
        }
        if problem.as_dense().is_none() {
            problem.densify(&mut self.dense);
        }
        let Some(a) = problem.as_dense().or(self.dense.as_dense()) else { return m };
        self.rows.clear();
        for i in 0..problem.size() {
            let row = a.row(i);
            self.rows.extend(self.columns.iter().map(|(b, direction)| {
                let block = &problem.blocks()[*b];
                let d = block.set.dim();
                dot(&row[block.start..block.start + d], &direction[..d])
            }));
        }
        // Gram and Schmidt, the longest row first.
        let mut largest = 0.0;
        for rank in 0..m {
            let (mut best, mut length) = (0, 0.0);
            for (i, row) in self.rows.chunks_exact(m).enumerate() {
                let square = dot(row, row);
                if square > length {
                    (best, length) = (i, square);
                }
            }
            let length = length.sqrt();
            largest = if rank == 0 { length } else { largest };
            if !(length > DEPENDENCE_TOLERANCE * largest) {
                return rank;
            }
            let start = self.basis.len();
            self.basis.extend(self.rows[best * m..(best + 1) * m].iter().map(|v| v / length));
            // Once more against those before it, for the digits that the subtractions have cost.
            let (before, own) = self.basis.split_at_mut(start);
            for q in before.chunks_exact(m) {
                let part = dot(q, own);
                own.iter_mut().zip(q).for_each(|(v, q)| *v -= part * q);
            }
            let length = norm(own);
            own.iter_mut().for_each(|v| *v /= length);
            for row in self.rows.chunks_exact_mut(m) {
                let part = dot(own, row);
                row.iter_mut().zip(&*own).for_each(|(v, q)| *v -= part * q);
            }
        }
        m
    }

    /// The least λ, in `least`.
    fn minimise(&mut self, problem: &Problem) {
        let m = self.columns.len();
        let rank = self.basis.len() / m;
        self.c.clear();
        self.c.extend(self.basis.chunks_exact(m).map(|q| dot(q, &self.lambda)));
        self.p.clone_from(&self.c);
        let size = norm(&self.lambda);
        let mut dual = self.evaluate(problem);
        for _ in 0..MAX_NEWTON_STEPS {
            if norm(&self.gradient) <= GRADIENT_TOLERANCE * size {
                break;
            }
            self.newton_step(problem, rank);
            let start = self.p.clone();
            let rise = dot(&self.gradient, &self.step);
            let mut length = 1.0;
            let before = norm(&self.gradient);
            loop {
                for ((p, from), d) in self.p.iter_mut().zip(&start).zip(&self.step) {
                    *p = from + length * d;
                }
                let now = self.evaluate(problem);
                // At rounding level the dual no longer tells; the gradient does.
                if now >= dual + 1e-4 * length * rise || norm(&self.gradient) < 0.5 * before || length < 1e-6 {
                    dual = now;
                    break;
                }
                length *= 0.5;
            }
        }
    }

    /// λ = proj_C(Qᵀp) in `least` and the gradient c − Qλ at p; returns the dual.
    fn evaluate(&mut self, problem: &Problem) -> f64 {
        let m = self.columns.len();
        self.x.clear();
        self.x.resize(m, 0.0);
        for (q, p) in self.basis.chunks_exact(m).zip(&self.p) {
            self.x.iter_mut().zip(q).for_each(|(x, q)| *x += p * q);
        }
        self.least.clone_from(&self.x);
        for (at, set) in parts(problem, &self.columns) {
            match set {
                Some(set) => set.project(&mut self.least[at]),
                None => self.least[at.start] = self.least[at.start].max(0.0),
            }
        }
        self.gradient.clear();
        let (c, least) = (&self.c, &self.least);
        self.gradient.extend(self.basis.chunks_exact(m).zip(c).map(|(q, c)| c - dot(q, least)));
        dot(&self.c, &self.p) - dot(&self.x, &self.least) + 0.5 * dot(&self.least, &self.least)
    }

    /// (Q proj′ Qᵀ + εI) step = gradient.
    fn newton_step(&mut self, problem: &Problem, rank: usize) {
        let m = self.columns.len();
        // Rows of Q proj′, block by block.
        self.rows.clear();
        self.rows.resize(rank * m, 0.0);
        let mut jacobian = [0.0; MAX_DIM * MAX_DIM];
        for (at, set) in parts(problem, &self.columns) {
            let d = at.len();
            match set {
                Some(set) => set.project_jacobian(&self.x[at.clone()], &mut jacobian),
                None => jacobian[0] = f64::from(self.x[at.start] > 0.0),
            }
            for i in 0..rank {
                for k in 0..d {
                    let column = (0..d).map(|l| self.basis[i * m + at.start + l] * jacobian[l * d + k]);
                    self.rows[i * m + at.start + k] = column.sum();
                }
            }
        }
        self.hessian.clear();
        for row in self.rows.chunks_exact(m) {
            self.hessian.extend(self.basis.chunks_exact(m).map(|q| dot(row, q)));
        }
        for i in 0..rank {
            self.hessian[i * rank + i] += REGULARISATION;
        }
        self.pivots.resize(rank, 0);
        self.step.clone_from(&self.gradient);
        if lu_factor(&mut self.hessian, rank, &mut self.pivots).is_ok() {
            lu_solve(&self.hessian, rank, &self.pivots, &mut self.step);
        }
        if !self.step.iter().all(|v| v.is_finite()) {
            self.step.clone_from(&self.gradient);
        }
    }
}

/// The columns of each block, and its set; nothing for the one direction of a contact that slips or has no friction, which is a ray.
fn parts<'a>(
    problem: &'a Problem,
    columns: &'a [(usize, [f64; MAX_DIM])],
) -> impl Iterator<Item = (Range<usize>, Option<&'a Set>)> {
    columns.chunk_by(|a, b| a.0 == b.0).scan(0, |start, own| {
        let at = *start..*start + own.len();
        *start = at.end;
        let set = &problem.blocks()[own[0].0].set;
        Some((at, (own.len() == set.dim()).then_some(set)))
    })
}
