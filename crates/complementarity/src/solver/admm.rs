//! Alternating directions \[Boyd2011\], with the section term of friction taken from the multipliers \[Tasora2021\]:
//!
//! ```text
//! (A + ρD) x = ρD z − y − b − s(y),     s_N = μ‖y_T‖
//! z = proj_C(x + (ρD)⁻¹ y)
//! y ← y + ρD (x − z)
//! ```
//!
//! D holds the mean of the diagonal of A of every block. At a fixed point x = z and −y = A z + b + s is the modified velocity û. One factorisation of
//! A + ρD serves all iterations with the same ρ. Where nearly all contacts stick (masonry, towers at rest), a small ρ makes the first x almost the
//! solution: a few iterations replace hundreds of sweeps. Where contacts slip and open, ρ must be of the size of A, and the method is slow.
//!
//! ρ begins small. It is multiplied or divided by up to ten, and A factored again, where one of ‖x − z‖/‖z‖ and ‖ρD(z − z₋)‖/‖y‖ is more than
//! ten times the other; never twice within ten iterations.

use super::{Best, Judge, Options, Report, Solver, SolverInfo, Status, info, sanitise};
use crate::linear::BlockLu;
use crate::linear::dense::{dot, lu_factor, lu_solve, norm};
use crate::problem::{Problem, ReducedMatrix};
use crate::sets::{MAX_DIM, Set};

/// Alternating directions. See [`super::SOLVERS`].
#[derive(Debug, Default)]
pub struct Admm {
    /// Give up after [`TRIAL_ITERATIONS`] unless they converge fast, as they do for a structure at rest.
    pub(super) give_up_early: bool,
    judge: Judge,
    best: Best,
    /// A, by blocks or dense, and its factors.
    expanded: Problem,
    blocks: Option<BlockLu>,
    symmetric: bool,
    dense: Vec<f64>,
    pivots: Vec<usize>,
    /// D, one per block.
    diagonal: Vec<f64>,
    x: Vec<f64>,
    y: Vec<f64>,
    z: Vec<f64>,
    last: Vec<f64>,
}

/// ρ at the beginning, and its range.
const INITIAL_PENALTY: f64 = 3e-3;
const PENALTY_RANGE: (f64, f64) = (1e-6, 1e3);
/// Fewest iterations between two changes of ρ, the imbalance that triggers one, and the largest factor.
const PENALTY_INTERVAL: usize = 10;
const IMBALANCE: f64 = 10.0;
const MAX_PENALTY_CHANGE: f64 = 10.0;
/// Iterations without the residual falling by a tenth after which the method has stalled.
const MAX_STAGNATION: usize = 500;
/// With `give_up_early`, the iteration must reach this part of the first residual within so many iterations.
const TRIAL_ITERATIONS: usize = 4;
const TRIAL_REDUCTION: f64 = 1e-2;
/// Limits: rows of a dense problem, and numbers in the factors of any other.
const MAX_DENSE_ROWS: usize = 3000;
const MAX_FACTOR_VALUES: usize = 1 << 26;
/// Largest |A − Aᵀ| of a symmetric matrix, relative to the largest entry.
const SYMMETRY_TOLERANCE: f64 = 1e-12;

impl Solver for Admm {
    fn info(&self) -> &'static SolverInfo {
        info("admm")
    }

    fn solve(&mut self, problem: &Problem, r: &mut [f64], options: &Options) -> Report {
        sanitise(r);
        let mut report = Report::failed("admm", Status::MaxIterations);
        self.best.start();
        report.residual = self.judge.residual(problem, r);
        self.best.note(r, report.residual);
        if report.residual <= options.tolerance {
            report.status = Status::Solved;
            return report;
        }
        if !self.prepare(problem) {
            report.status = Status::Unsupported;
            return report;
        }
        report.status = self.iterate(problem, r, options, &mut report.iterations);
        self.best.restore(r, &mut report);
        if report.status != Status::Solved && problem.infeasible_block().is_some() {
            report.status = Status::Infeasible;
        }
        report
    }
}

impl Admm {
    /// The pattern of A and D; false if A is too large to be factored.
    fn prepare(&mut self, problem: &Problem) -> bool {
        problem.mean_diagonals(&mut self.diagonal);
        self.blocks = None;
        if problem.as_dense().is_some() {
            return problem.size() <= MAX_DENSE_ROWS;
        }
        problem.expand(&mut self.expanded);
        let ReducedMatrix::BlockSparse(a) = self.expanded.matrix() else { return false };
        if !a.has_symmetric_pattern() {
            return false;
        }
        self.symmetric = a.is_symmetric(SYMMETRY_TOLERANCE);
        self.blocks = BlockLu::new(&a.start, &a.row, &a.column, MAX_FACTOR_VALUES);
        self.blocks.is_some()
    }

    /// Factors A + ρD.
    fn factor(&mut self, problem: &Problem, rho: f64) -> bool {
        if let (Some(lu), ReducedMatrix::BlockSparse(a)) = (self.blocks.as_mut(), self.expanded.matrix()) {
            lu.clear();
            for b in 0..problem.blocks().len() {
                for e in a.row[b]..a.row[b + 1] {
                    let (d, width, values) = a.block(e, b);
                    let own = lu.block_mut(e, d * width);
                    own.copy_from_slice(values);
                    if a.column[e] == b {
                        (0..d).for_each(|k| own[k * d + k] += rho * self.diagonal[b]);
                    }
                }
            }
            return if self.symmetric { lu.factor_symmetric().is_ok() } else { lu.factor().is_ok() };
        }
        let Some(a) = problem.as_dense() else { return false };
        let n = problem.size();
        self.dense.clear();
        self.dense.extend_from_slice(a.data());
        for (b, block) in problem.blocks().iter().enumerate() {
            for k in block.start..block.start + block.set.dim() {
                self.dense[k * n + k] += rho * self.diagonal[b];
            }
        }
        self.pivots.resize(n, 0);
        lu_factor(&mut self.dense, n, &mut self.pivots).is_ok()
    }

    fn iterate(&mut self, problem: &Problem, r: &[f64], options: &Options, iterations: &mut usize) -> Status {
        let n = problem.size();
        let mut rho = INITIAL_PENALTY;
        if !self.factor(problem, rho) {
            return Status::Singular;
        }
        // y = −û at the start guess, or nothing is known.
        self.z.clear();
        self.z.extend_from_slice(r);
        self.y.clear();
        self.y.resize(n, 0.0);
        if r.iter().any(|&v| v != 0.0) {
            // (Bilateral rows have none, and z = x.)
            for block in problem.blocks().iter().filter(|b| !matches!(b.set, Set::Free { .. })) {
                let rows = block.start..block.start + block.set.dim();
                let mut u = [0.0; MAX_DIM];
                u[..rows.len()].copy_from_slice(&self.judge.u[rows.clone()]);
                block.set.modified_velocity(&mut u[..rows.len()]);
                for (y, u) in self.y[rows].iter_mut().zip(u) {
                    *y = -u;
                }
            }
        }
        let begin = self.best.residual;
        let (mut progress, mut since, mut changed) = (f64::INFINITY, 0, 0);
        loop {
            if *iterations >= options.max_iterations {
                return Status::MaxIterations;
            }
            if options.out_of_time() {
                return Status::TimeLimit;
            }
            *iterations += 1;
            let (primal, dual) = self.iteration(problem, rho);
            let residual = self.judge.residual(problem, &self.z);
            self.best.note(&self.z, residual);
            if residual <= options.tolerance {
                return Status::Solved;
            }
            if !residual.is_finite() {
                return Status::NotFinite;
            }
            if self.give_up_early && *iterations == TRIAL_ITERATIONS && residual > TRIAL_REDUCTION * begin {
                return Status::Stalled;
            }
            if residual < 0.9 * progress {
                (progress, since) = (residual, 0);
            } else {
                since += 1;
                if since > MAX_STAGNATION {
                    return Status::Stalled;
                }
            }
            changed += 1;
            let balance = primal / dual;
            if changed >= PENALTY_INTERVAL && !(balance < IMBALANCE && balance > 1.0 / IMBALANCE) {
                let next = (rho * balance.sqrt().clamp(1.0 / MAX_PENALTY_CHANGE, MAX_PENALTY_CHANGE))
                    .clamp(PENALTY_RANGE.0, PENALTY_RANGE.1);
                if next != rho {
                    (rho, changed) = (next, 0);
                    if !self.factor(problem, rho) {
                        return Status::Singular;
                    }
                }
            }
        }
    }

    /// One iteration; returns ‖x − z‖/‖z‖ and ‖ρD(z − z₋)‖/‖y‖.
    fn iteration(&mut self, problem: &Problem, rho: f64) -> (f64, f64) {
        self.x.clear();
        self.x.resize(problem.size(), 0.0);
        for (b, block) in problem.blocks().iter().enumerate() {
            let (s, d, weight) = (block.start, block.set.dim(), rho * self.diagonal[b]);
            for k in s..s + d {
                self.x[k] = weight * self.z[k] - self.y[k] - problem.b()[k];
            }
            if block.set.is_friction() {
                // What û has more than u: the support function of the section.
                let mut v = [0.0; MAX_DIM];
                for k in 1..d {
                    v[k] = -self.y[s + k];
                }
                block.set.modified_velocity(&mut v[..d]);
                self.x[s] -= v[0];
            }
        }
        if let Some(lu) = self.blocks.as_mut() {
            lu.solve(&mut self.x);
        } else {
            lu_solve(&self.dense, problem.size(), &self.pivots, &mut self.x);
        }
        self.last.clone_from(&self.z);
        let (mut apart, mut moved) = (0.0, 0.0);
        for (b, block) in problem.blocks().iter().enumerate() {
            let (s, d, weight) = (block.start, block.set.dim(), rho * self.diagonal[b]);
            let rows = s..s + d;
            if matches!(block.set, Set::Free { .. }) {
                self.z[rows.clone()].copy_from_slice(&self.x[rows.clone()]);
            } else {
                for k in rows.clone() {
                    self.z[k] = self.x[k] + self.y[k] / weight;
                }
                block.set.project(&mut self.z[rows.clone()]);
            }
            for k in rows {
                let off = self.x[k] - self.z[k];
                self.y[k] += weight * off;
                apart += off * off;
                moved += (weight * (self.z[k] - self.last[k])).powi(2);
            }
        }
        let safe = |v: f64| v.max(f64::MIN_POSITIVE);
        (
            (apart.sqrt() / safe(norm(&self.z))).max(f64::MIN_POSITIVE),
            safe(moved.sqrt() / safe(dot(&self.y, &self.y).sqrt())),
        )
    }
}
