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
//! Dense. Full steps first: they jump between modes, which is what finds the right one. If they cycle, damped steps from
//! the best iterate, each lowering the residual; if these stall, so does the method, and [`super::Auto`] goes on
//! with Gauss-Seidel.

use super::relaxation::r_factors;
use super::{Judge, Options, Report, Solver, SolverInfo, Status, info, sanitise};
use crate::linear::dense::{LeastNorm, dot, lu_factor, lu_solve, max_norm};
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
    dense: Vec<f64>,
    least_norm: LeastNorm,
}

/// Steps after which a run without convergence is a cycle: active-set methods that converge do so
/// in far fewer.
const MAX_STEPS: usize = 30;
/// Largest number of rows for which a dense factorisation per step is sensible.
const MAX_ROWS: usize = 400;
/// Halvings of a damped step.
const MAX_HALVINGS: usize = 12;
/// Residual up to which a start guess is as good as a solution: some hundred rounding errors.
const AS_IT_IS: f64 = 1e-13;
/// Relative size of a pivot below which J counts as singular. Rows of J are scaled to about one.
const RANK_TOLERANCE: f64 = 1e-11;

impl Solver for Newton {
    fn info(&self) -> &'static SolverInfo {
        info("newton")
    }

    fn solve(&mut self, problem: &Problem, r: &mut [f64], options: &Options) -> Report {
        let n = problem.size();
        let mut report = Report::failed("newton", Status::Stalled);
        if n > MAX_ROWS {
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
                if (best <= options.tolerance && since_best > patience) || since_best > 12 {
                    break;
                }
            }
            if step == MAX_STEPS.min(options.max_iterations) || !self.step(problem, r, &mut report.non_unique) {
                break;
            }
        }
        if best < f64::INFINITY {
            r.copy_from_slice(&self.best);
        }
        if best > options.tolerance && best < f64::INFINITY {
            best = self.damped(problem, r, options, best, &mut report);
        }
        report.residual = best;
        report.status = if best <= options.tolerance {
            Status::Solved
        } else if problem.infeasible_block().is_some() {
            Status::Infeasible
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
        report: &mut Report,
    ) -> f64 {
        for _ in 0..MAX_STEPS {
            self.judge.residual(problem, r);
            self.best.clear();
            self.best.extend_from_slice(r);
            if report.iterations >= options.max_iterations || !self.step(problem, r, &mut report.non_unique) {
                r.copy_from_slice(&self.best);
                break;
            }
            report.iterations += 1;
            let mut residual = self.judge.residual(problem, r);
            for _ in 0..MAX_HALVINGS {
                if residual < best {
                    break;
                }
                for (x, old) in r.iter_mut().zip(&self.best) {
                    *x = 0.5 * (*x + old);
                }
                residual = self.judge.residual(problem, r);
            }
            if !matches!(residual.partial_cmp(&best), Some(std::cmp::Ordering::Less)) {
                r.copy_from_slice(&self.best);
                break;
            }
            best = residual;
            if best <= options.tolerance.min(1e-15) {
                break;
            }
        }
        best
    }

    /// One step from r; `judge.u` holds A r + b. False if no finite step was found.
    fn step(&mut self, problem: &Problem, r: &mut [f64], non_unique: &mut bool) -> bool {
        let n = problem.size();
        let rows = match problem.matrix() {
            ReducedMatrix::Dense(a) => a.data(),
            ReducedMatrix::BlockSparse(a) => {
                self.dense.clear();
                self.dense.resize(n * n, 0.0);
                for i in 0..problem.blocks().len() {
                    for k in a.row[i]..a.row[i + 1] {
                        let (s, t) = (a.start[i], a.start[a.column[k]]);
                        let (d, e) = (a.start[i + 1] - s, a.start[a.column[k] + 1] - t);
                        for p in 0..d {
                            let from = a.offset[k] + p * e;
                            self.dense[(s + p) * n + t..][..e].copy_from_slice(&a.values[from..from + e]);
                        }
                    }
                }
                &self.dense
            }
        };
        let u = &self.judge.u;
        self.jacobian.clear();
        self.jacobian.resize(n * n, 0.0);
        self.rhs.clear();
        self.rhs.resize(n, 0.0);
        for (block, &(rho_n, rho_t)) in problem.blocks().iter().zip(&self.rho) {
            let (s, d) = (block.start, block.set.dim());
            let mut x = [0.0; MAX_DIM];
            for k in 0..d {
                let rho = if k == 0 { rho_n } else { rho_t };
                x[k] = r[s + k] - rho * u[s + k];
            }
            let normal = x[0];
            let mut jac = [0.0; MAX_DIM * MAX_DIM];
            let mut d_normal = [0.0; MAX_DIM];
            block.set.frozen_jacobian(normal, &x[..d], &mut jac, &mut d_normal);
            let mut p = x;
            block.set.project_frozen(normal, &mut p[..d]);
            for i in 0..d {
                let row = &mut self.jacobian[(s + i) * n..(s + i + 1) * n];
                // dF_i = dr_i − Σ_k J_ik (dr_k − ρ_k A_k dr) − (∂P_i/∂x_N)(dr_N − ρ_N A_N dr).
                row[s + i] += 1.0;
                for k in 0..d {
                    let weight = jac[i * d + k] + if k == 0 { d_normal[i] } else { 0.0 };
                    if weight == 0.0 {
                        continue;
                    }
                    let rho = if k == 0 { rho_n } else { rho_t };
                    row[s + k] -= weight;
                    for (v, a) in row.iter_mut().zip(&rows[(s + k) * n..(s + k + 1) * n]) {
                        *v += weight * rho * a;
                    }
                }
                self.rhs[s + i] = dot(row, r) - (r[s + i] - p[i]);
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
}
