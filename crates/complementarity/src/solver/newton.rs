//! Semismooth Newton on the frozen projections \[AlartCurnier1991\].
//!
//! ```text
//! F_N = r_N − proj_{R₊}(x_N),          x_N = r_N − ρ_N u_N
//! F_T = r_T − proj_{μ x_N⁺ S}(x_T),    x_T = r_T − ρ_T u_T,   u = A r + b
//! ```
//!
//! One scalar ρ per set (1/A_NN, 1/‖A_TT‖_∞); it only decides which piece of the projection is
//! linearised, the solution does not depend on it. In the plane and without friction F is
//! piecewise linear and the method is an active-set method: started in the right mode it ends after
//! one step at rounding accuracy. The new iterate is the solution of J r⁺ = J r − F; where J is
//! singular (hyperstatic contacts), the one of least norm, and the report says `non_unique`.
//!
//! Dense up to 400 rows; larger problems by a sparse factorisation of J with A + ε in place of A (see `sparse_step`), if they are not stored as
//! dense ones. Full steps first: they jump between modes, which is what finds the right one. If they cycle, damped steps from
//! the best iterate, each lowering the residual; if these stall, so does the method, and [`super::Auto`] goes on
//! with Gauss-Seidel.

use super::relaxation::r_factors;
use super::{Judge, Options, Report, Solver, SolverInfo, Status, info, sanitise};
use crate::linear::dense::{LeastNorm, dot, lu_factor, lu_solve, max_norm};
use crate::linear::{Matrix, Pattern};
use crate::problem::{Problem, ReducedMatrix};
use crate::sets::{MAX_DIM, Set};

/// Semismooth Newton. See [`super::SOLVERS`].
#[derive(Debug, Default)]
pub struct Newton {
    judge: Judge,
    rho: Vec<(f64, f64)>,
    jacobian: Vec<f64>,
    lu: Vec<f64>,
    pivots: Vec<usize>,
    rhs: Vec<f64>,
    next: Vec<f64>,
    best: Vec<f64>,
    /// A of a problem that is not stored as dense, and its blocks if it is large.
    dense: Problem,
    expanded: Problem,
    sparse: Option<Matrix>,
    least_norm: LeastNorm,
}

/// Steps after which a run without convergence is a cycle: active-set methods that converge do so
/// in far fewer.
const MAX_STEPS: usize = 30;
/// Largest number of rows for which a dense factorisation per step is sensible.
const MAX_ROWS: usize = 400;
/// Halvings of a damped step.
const MAX_HALVINGS: usize = 24;
/// Residual up to which a start guess is as good as a solution: some hundred rounding errors.
const AS_IT_IS: f64 = 1e-13;
/// ε of the sparse step, relative to the diagonal of A. Directions of compliance λ (relative) converge by ε/(ε + λ) per step: stacks
/// of a hundred bodies have λ of 1e-4.
const REGULARISATION: f64 = 1e-6;
/// Relative size of a pivot below which J counts as singular. Rows of J are scaled to about one.
const RANK_TOLERANCE: f64 = 1e-11;

impl Solver for Newton {
    fn info(&self) -> &'static SolverInfo {
        info("newton")
    }

    fn solve(&mut self, problem: &Problem, r: &mut [f64], options: &Options) -> Report {
        let n = problem.size();
        let mut report = Report::failed("newton", Status::Stalled);
        if n > MAX_ROWS && problem.as_dense().is_some() {
            report.status = Status::Unsupported;
            report.residual = self.judge.residual(problem, r);
            return report;
        }
        sanitise(r);
        // A start guess is taken as it is only at rounding accuracy.
        report.residual = self.judge.residual(problem, r);
        if report.residual <= options.tolerance.min(AS_IT_IS) {
            report.status = Status::Solved;
            return report;
        }
        self.sparse = None;
        if n > MAX_ROWS {
            self.prepare_sparse(problem);
        } else if problem.as_dense().is_none() {
            problem.densify(&mut self.dense);
        }
        self.rho.clear();
        for (i, block) in problem.blocks().iter().enumerate() {
            let mut a = [0.0; MAX_DIM * MAX_DIM];
            problem.diagonal_block(i, &mut a);
            let (n, t) = r_factors(&a, block.set.dim(), block.set.is_friction());
            // Without compliance any positive factor serves.
            self.rho.push((if n > 0.0 { n } else { 1.0 }, if t > 0.0 { t } else { 1.0 }));
        }
        let mut best = f64::INFINITY;
        let mut since_best = 0;
        // A sparse factorisation costs as much as a hundred sweeps of Gauss-Seidel: it is given up early.
        let (worsening, damped_steps) = if self.sparse.is_some() { (3, 5) } else { (12, MAX_STEPS) };
        // Within the tolerance a step may still pass through a wrong mode before it lands at rounding accuracy: worth a few
        // tries where the equations are piecewise linear.
        let curved = |s: &Set| match s {
            Set::Ball { dim, .. } | Set::Coulomb { dim, .. } => *dim > 1,
            _ => false,
        };
        let patience = if problem.blocks().iter().any(|b| curved(&b.set)) { 0 } else { 3 };
        for step in 0..=MAX_STEPS.min(options.max_iterations) {
            report.iterations = step;
            // Go on while a step still gains, so that what is solved is solved as well as the numbers allow.
            if step > 0 {
                report.residual = self.judge.residual(problem, r);
                if report.residual <= options.tolerance.min(1e-15) {
                    report.status = Status::Solved;
                    return report;
                }
            }
            if report.residual < best {
                if best <= options.tolerance && report.residual > 0.1 * best {
                    // Stagnation at rounding level.
                    report.status = Status::Solved;
                    return report;
                }
                best = report.residual;
                since_best = 0;
                self.best.clear();
                self.best.extend_from_slice(r);
            } else {
                since_best += 1;
                if (best <= options.tolerance && since_best > patience) || since_best > worsening {
                    break;
                }
            }
            if options.out_of_time()
                || step == MAX_STEPS.min(options.max_iterations)
                || !self.step(problem, r, &mut report.non_unique)
            {
                break;
            }
        }
        if best < f64::INFINITY {
            r.copy_from_slice(&self.best);
        }
        if best > options.tolerance && best < f64::INFINITY {
            best = self.damped(problem, r, options, best, damped_steps, &mut report);
        }
        report.residual = best;
        report.status = if best <= options.tolerance {
            Status::Solved
        } else if problem.infeasible_block().is_some() {
            Status::Infeasible
        } else if options.out_of_time() {
            Status::TimeLimit
        } else {
            Status::Stalled
        };
        report
    }
}

impl Newton {
    /// Damped steps from r, each of which must lower the residual; returns what is reached.
    fn damped(
        &mut self,
        problem: &Problem,
        r: &mut [f64],
        options: &Options,
        mut best: f64,
        steps: usize,
        report: &mut Report,
    ) -> f64 {
        for _ in 0..steps {
            self.judge.residual(problem, r);
            self.best.clear();
            self.best.extend_from_slice(r);
            if options.out_of_time()
                || report.iterations >= options.max_iterations
                || !self.step(problem, r, &mut report.non_unique)
            {
                r.copy_from_slice(&self.best);
                break;
            }
            report.iterations += 1;
            // The length with the smallest residual: modes change along the way, so that the first decrease may be a poor one.
            for (d, (x, old)) in self.next.iter_mut().zip(r.iter().zip(&self.best)) {
                *d = x - old;
            }
            let (mut length, mut chosen, mut least) = (1.0, 0.0, best);
            for _ in 0..MAX_HALVINGS {
                for (x, (old, d)) in r.iter_mut().zip(self.best.iter().zip(&self.next)) {
                    *x = old + length * d;
                }
                let residual = self.judge.residual(problem, r);
                if residual < least {
                    (chosen, least) = (length, residual);
                } else if chosen > 0.0 {
                    break;
                }
                length *= 0.5;
            }
            for (x, (old, d)) in r.iter_mut().zip(self.best.iter().zip(&self.next)) {
                *x = old + chosen * d;
            }
            if chosen == 0.0 {
                break;
            }
            best = least;
            if best <= options.tolerance.min(1e-15) {
                break;
            }
        }
        best
    }

    /// One step from r; `judge.u` holds A r + b. False if no finite step was found.
    fn step(&mut self, problem: &Problem, r: &mut [f64], non_unique: &mut bool) -> bool {
        if self.sparse.is_some() {
            return self.sparse_step(problem, r);
        }
        let n = problem.size();
        let Some(a) = problem.as_dense().or(self.dense.as_dense()) else { return false };
        self.jacobian.clear();
        self.jacobian.resize(n * n, 0.0);
        self.rhs.clear();
        self.rhs.resize(n, 0.0);
        for (block, &rho) in problem.blocks().iter().zip(&self.rho) {
            let (s, d) = (block.start, block.set.dim());
            let piece = Piece::new(&block.set, &r[s..s + d], &self.judge.u[s..s + d], rho);
            for i in 0..d {
                let row = &mut self.jacobian[(s + i) * n..(s + i + 1) * n];
                // dF_i = dr_i − Σ_k w_ik (dr_k − ρ_k A_k dr).
                row[s + i] += 1.0;
                for (k, weight, rho) in piece.weights(i) {
                    row[s + k] -= weight;
                    for (v, a) in row.iter_mut().zip(a.row(s + k)) {
                        *v += weight * rho * a;
                    }
                }
                self.rhs[s + i] = dot(row, r) - piece.f[i];
            }
        }
        self.lu.clear();
        self.lu.extend_from_slice(&self.jacobian);
        self.pivots.resize(n, 0);
        self.next.clear();
        self.next.extend_from_slice(&self.rhs);
        let regular = lu_factor(&mut self.lu, n, &mut self.pivots).is_ok() && {
            let scale = max_norm(&self.jacobian);
            (0..n).all(|i| self.lu[i * n + i].abs() > RANK_TOLERANCE * scale)
        };
        if regular {
            lu_solve(&self.lu, n, &self.pivots, &mut self.next);
        } else {
            *non_unique = true;
            self.least_norm.solve(&self.jacobian, n, &self.rhs, &mut self.next, RANK_TOLERANCE);
        }
        if !self.next.iter().all(|v| v.is_finite()) {
            return false;
        }
        r.copy_from_slice(&self.next);
        true
    }

    /// Blocks of A and the pattern of J of a large problem.
    fn prepare_sparse(&mut self, problem: &Problem) {
        problem.expand(&mut self.expanded);
        let ReducedMatrix::BlockSparse(a) = self.expanded.matrix() else { return };
        let mut pattern = Pattern::new(problem.size());
        let mut both = Vec::new();
        for i in 0..problem.blocks().len() {
            for &j in a.column[a.row[i]..a.row[i + 1]].iter().filter(|&&j| j >= i) {
                both.clear();
                both.extend(a.start[i]..a.start[i + 1]);
                if j != i {
                    both.extend(a.start[j]..a.start[j + 1]);
                }
                pattern.couple(&both);
            }
        }
        self.sparse = Some(Matrix::new(&pattern));
    }

    /// The same step with a sparse J, A in it replaced by A + ε ρ⁻¹: contacts of large piles are hyperstatic, and J singular.
    fn sparse_step(&mut self, problem: &Problem, r: &mut [f64]) -> bool {
        let (Some(m), ReducedMatrix::BlockSparse(a)) = (self.sparse.as_mut(), self.expanded.matrix()) else {
            return false;
        };
        m.clear();
        self.next.clear();
        self.next.resize(problem.size(), 0.0);
        for (b, (block, &rho)) in problem.blocks().iter().zip(&self.rho).enumerate() {
            let (s, d) = (block.start, block.set.dim());
            let piece = Piece::new(&block.set, &r[s..s + d], &self.judge.u[s..s + d], rho);
            for i in 0..d {
                m.add(s + i, s + i, 1.0);
                self.next[s + i] = -piece.f[i];
                for (k, weight, rho) in piece.weights(i) {
                    m.add(s + i, s + k, weight * (REGULARISATION - 1.0));
                    for e in a.row[b]..a.row[b + 1] {
                        let (t, width) = (a.start[a.column[e]], a.start[a.column[e] + 1] - a.start[a.column[e]]);
                        let row = &a.values[a.offset[e] + k * width..][..width];
                        for (c, v) in row.iter().enumerate() {
                            m.add(s + i, t + c, weight * rho * v);
                        }
                    }
                }
            }
        }
        if m.factor().is_err() {
            return false;
        }
        m.solve(&mut self.next);
        if !self.next.iter().all(|v| v.is_finite()) {
            return false;
        }
        for (r, d) in r.iter_mut().zip(&self.next) {
            *r += d;
        }
        true
    }
}

/// The frozen projection of a block, linearised at x = r − ρ u.
struct Piece {
    d: usize,
    rho: (f64, f64),
    /// r − proj(x).
    f: [f64; MAX_DIM],
    jacobian: [f64; MAX_DIM * MAX_DIM],
    by_normal: [f64; MAX_DIM],
}

impl Piece {
    fn new(set: &Set, r: &[f64], u: &[f64], rho: (f64, f64)) -> Self {
        let d = set.dim();
        let mut x = [0.0; MAX_DIM];
        for k in 0..d {
            x[k] = r[k] - if k == 0 { rho.0 } else { rho.1 } * u[k];
        }
        let normal = x[0];
        let mut this =
            Self { d, rho, f: [0.0; MAX_DIM], jacobian: [0.0; MAX_DIM * MAX_DIM], by_normal: [0.0; MAX_DIM] };
        set.frozen_jacobian(normal, &x[..d], &mut this.jacobian, &mut this.by_normal);
        set.project_frozen(normal, &mut x[..d]);
        for k in 0..d {
            this.f[k] = r[k] - x[k];
        }
        this
    }

    /// (k, w_ik, ρ_k) with w_ik = ∂proj_i/∂x_k, where it does not vanish.
    fn weights(&self, i: usize) -> impl Iterator<Item = (usize, f64, f64)> + '_ {
        (0..self.d).filter_map(move |k| {
            let weight = self.jacobian[i * self.d + k] + if k == 0 { self.by_normal[i] } else { 0.0 };
            (weight != 0.0).then_some((k, weight, if k == 0 { self.rho.0 } else { self.rho.1 }))
        })
    }
}
