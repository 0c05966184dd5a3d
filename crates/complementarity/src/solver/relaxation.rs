//! Projected relaxation: the fixed-point forms of Studer (22), (23).
//!
//! ```text
//! r_i ← proj_{C_i}( r_i − ρ_i (Σ_j A_ij r_j + b_i) ),   ρ_i = ω / ‖A_ii‖
//! ```
//!
//! with the friction section frozen at the block's new normal percussion. One scalar ρ per set, from
//! the diagonal blocks of A: 1/A_NN for the normal law, 1/‖A_TT‖_∞ for the friction law.
//! ω may differ between friction and other laws, the diagonal matrix of (24)-(28), and ρ may be given as r of (22), (23), by law too.
//! PJOR uses old values of all other blocks, PSOR the newest. PSOR takes ω = 1. PJOR converges only
//! if ω is small enough for the coupling; its default is ω = min_i (diagonal / row sum) of A, which
//! bounds the spectral radius of the iteration by one.

use super::eliminate::Eliminated;
use super::{Best, Judge, Options, Report, Solver, SolverInfo, Status, info, sanitise};
use crate::problem::{Problem, ReducedMatrix, Relative};
use crate::sets::MAX_DIM;

#[derive(Debug, Default)]
struct Relaxation {
    judge: Judge,
    eliminated: Eliminated,
    rho: Vec<f64>,
    relative: Relative,
    best: Best,
}

/// Projected Jacobi relaxation, PJOR. See [`super::SOLVERS`].
#[derive(Debug, Default)]
pub struct ProjectedJacobi(Relaxation);

/// Projected Gauss-Seidel relaxation, PSOR. See [`super::SOLVERS`].
#[derive(Debug, Default)]
pub struct ProjectedGaussSeidel(Relaxation);

impl Solver for ProjectedJacobi {
    fn info(&self) -> &'static SolverInfo {
        info("jacobi")
    }
    fn solve(&mut self, problem: &Problem, r: &mut [f64], options: &Options) -> Report {
        self.0.run(problem, r, options, true, "jacobi")
    }
}

impl Solver for ProjectedGaussSeidel {
    fn info(&self) -> &'static SolverInfo {
        info("gauss-seidel")
    }
    fn solve(&mut self, problem: &Problem, r: &mut [f64], options: &Options) -> Report {
        self.0.run(problem, r, options, false, "gauss-seidel")
    }
}

/// Smallest ratio of a diagonal entry to the absolute sum of its row.
fn dominance(problem: &Problem) -> f64 {
    let mut worst: f64 = 1.0;
    let mut include = |diagonal: f64, sum: f64| {
        if diagonal > 0.0 {
            worst = worst.min(diagonal / sum);
        }
    };
    let mut expanded = Problem::default();
    let matrix = match problem.matrix() {
        ReducedMatrix::Gram(_) => {
            problem.expand(&mut expanded);
            expanded.matrix()
        }
        other => other,
    };
    match matrix {
        ReducedMatrix::Dense(a) => {
            for i in 0..a.rows() {
                include(a[(i, i)], a.row(i).iter().map(|v| v.abs()).sum());
            }
        }
        ReducedMatrix::BlockSparse(a) => {
            for i in 0..a.row.len() - 1 {
                let d = a.start[i + 1] - a.start[i];
                for p in 0..d {
                    let (mut diagonal, mut sum) = (0.0, 0.0);
                    for k in a.row[i]..a.row[i + 1] {
                        let e = a.start[a.column[k] + 1] - a.start[a.column[k]];
                        let row = &a.values[a.offset[k] + p * e..][..e];
                        sum += row.iter().map(|v| v.abs()).sum::<f64>();
                        if a.column[k] == i {
                            diagonal = row[p];
                        }
                    }
                    include(diagonal, sum);
                }
            }
        }
        ReducedMatrix::Gram(_) => {}
    }
    worst
}

impl Relaxation {
    fn run(&mut self, problem: &Problem, r: &mut [f64], options: &Options, jacobi: bool, name: &'static str) -> Report {
        let mut eliminated = std::mem::take(&mut self.eliminated);
        let report = eliminated.around(problem, r, options, |p, r, o| self.sweeps(p, r, o, jacobi, name), name);
        self.eliminated = eliminated;
        report
    }

    fn sweeps(
        &mut self,
        problem: &Problem,
        r: &mut [f64],
        options: &Options,
        jacobi: bool,
        name: &'static str,
    ) -> Report {
        sanitise(r);
        let blocks = problem.blocks();
        let omega = options.relaxation.unwrap_or_else(|| if jacobi { dominance(problem) } else { 1.0 });
        self.rho.clear();
        for (i, block) in blocks.iter().enumerate() {
            let d = block.set.dim();
            let mut a = [0.0; MAX_DIM * MAX_DIM];
            problem.diagonal_block(i, &mut a);
            let (normal, tangential) = r_factors(&a, d, block.set.is_friction());
            let friction = block.set.is_friction();
            let frictional = if friction { options.friction_relaxation.unwrap_or(omega) } else { omega };
            self.rho.push(options.r[0].unwrap_or(omega * normal));
            self.rho.push(options.r[usize::from(friction)].unwrap_or(frictional * tangential));
        }
        let mut report = Report::failed(name, Status::MaxIterations);
        self.best.start();
        for sweep in 0..=options.max_iterations {
            report.iterations = sweep;
            report.residual = self.judge.residual(problem, r);
            self.best.note(r, report.residual);
            if report.residual <= options.tolerance {
                report.status = Status::Solved;
                return report;
            }
            if !report.residual.is_finite() {
                report.status = Status::NotFinite;
                break;
            }
            if sweep == options.max_iterations {
                break;
            }
            if options.out_of_time() {
                report.status = Status::TimeLimit;
                break;
            }
            // Jacobi uses the velocities that the residual was taken at.
            if !jacobi {
                self.relative.begin(problem, r);
            }
            for (i, block) in blocks.iter().enumerate() {
                let (s, d) = (block.start, block.set.dim());
                let (rho_n, rho_t) = (self.rho[2 * i], self.rho[2 * i + 1]);
                let mut u = [0.0; MAX_DIM];
                if jacobi {
                    u[..d].copy_from_slice(&self.judge.u[s..s + d]);
                } else {
                    self.relative.velocity(problem, i, r, &mut u);
                }
                let mut x = [0.0; MAX_DIM];
                for k in 0..d {
                    let rho = if k == 0 { rho_n } else { rho_t };
                    x[k] = r[s + k] - rho * u[k];
                }
                block.set.project_frozen(x[0], &mut x[..d]);
                for k in 0..d {
                    u[k] = x[k] - r[s + k];
                }
                r[s..s + d].copy_from_slice(&x[..d]);
                if !jacobi {
                    self.relative.change(problem, i, &u[..d]);
                }
            }
        }
        self.best.restore(r, &mut report);
        if problem.infeasible_block().is_some() {
            report.status = Status::Infeasible;
        }
        report
    }
}

/// One scalar per set from the diagonal block (row by row): 1/A_NN and 1/‖A_TT‖_∞, or 1/‖A_ii‖_∞
/// twice for a block that is one set. Zero where the block has no compliance.
pub(super) fn r_factors(a: &[f64], d: usize, friction: bool) -> (f64, f64) {
    let inverse = |v: f64| if v > 0.0 { 1.0 / v } else { 0.0 };
    let row_sum = |i: usize, from: usize| (from..d).map(|j| a[i * d + j].abs()).sum::<f64>();
    if friction {
        let tangential = (1..d).map(|i| row_sum(i, 1)).fold(0.0, f64::max);
        (inverse(a[0]), inverse(tangential))
    } else {
        let v = inverse((0..d).map(|i| row_sum(i, 0)).fold(0.0, f64::max));
        (v, v)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test fails on an error
mod tests {
    use super::*;
    use crate::linear::Dense;
    use crate::sets::Set;

    /// One step of (22) from r = 0 with friction: r ← proj(−ρ b).
    #[test]
    fn factors_are_those_of_the_law() {
        let a = Dense::from_rows(2, 2, vec![2.0, 0.0, 0.0, 4.0]).unwrap();
        let problem = Problem::dense(vec![Set::Coulomb { dim: 1, mu: 1.0 }], a, vec![-1.0, -1.0]).unwrap();
        let step = |options: Options| {
            let mut r = [0.0; 2];
            ProjectedJacobi::default().solve(&problem, &mut r, &Options { max_iterations: 1, ..options });
            r
        };
        let base = Options { relaxation: Some(0.5), ..Options::default() };
        assert_eq!(step(base), [0.25, 0.125]);
        assert_eq!(step(Options { friction_relaxation: Some(1.0), ..base }), [0.25, 0.25]);
        assert_eq!(step(Options { r: [Some(0.125), None], ..base }), [0.125, 0.125]);
        assert_eq!(step(Options { r: [None, Some(0.0625)], ..base }), [0.25, 0.0625]);
    }
}
