//! One step of the semismooth Newton method in active-set form [Breuling2024, §4]. It is for schemes that linearise their own equations in every
//! step of the iteration, so that a [`super::Solver`] cannot do the whole iteration.
//!
//! At percussions r and velocities u (of the scheme's nonlinear equations, so that u need not be A r + b), with the linear model u⁺ = A r⁺ + b and the
//! pieces F, R = ∂F/∂r, U = ∂F/∂u of the laws (see `equation`),
//!
//! ```text
//! (R + U A) r⁺ = R r + U (u − b) − F .
//! ```
//!
//! Where the matrix is singular (hyperstatic contacts, redundant joints), r⁺ is the solution of least norm.

use super::equation::{Equation, factors};
use super::jacobian::{Jacobian, Solved};
use crate::capacity;
use crate::linear::dense::max_norm;
use crate::problem::{Block, Problem, ReducedMatrix};

/// Steps of the semismooth Newton method in active-set form [Breuling2024, §4] at percussions r and velocities u of nonlinear equations, with a
/// linear model u⁺ = A r⁺ + b of them.
#[derive(Debug, Default)]
pub struct ActiveSet {
    jacobian: Jacobian,
    model: Vec<f64>,
    next: Vec<f64>,
}

/// How a step was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActiveSetStep {
    /// The solution is unique.
    Unique,
    /// The modes do not determine the percussions: the solution of least norm.
    LeastNorm,
    /// There is no solution.
    Failed,
}

impl ActiveSet {
    /// (1/A_NN, 1/‖A_TT‖_∞) of every block: the default factors of the switching tests.
    pub fn factors(problem: &Problem, rho: &mut Vec<(f64, f64)>) {
        rho.clear();
        rho.extend((0..problem.blocks().len()).map(|i| factors(problem, i, 0.0)));
    }

    /// Reserves memory for problems of up to `n` rows, here and in `problem`.
    pub fn reserve(&mut self, problem: &mut Problem, n: usize) {
        self.jacobian.reserve(n);
        capacity::reserve(&mut self.model, n);
        capacity::reserve(&mut self.next, n);
        problem.reserve(n, n);
        if let ReducedMatrix::Dense(a) = &mut problem.matrix {
            a.reserve(n * n);
        }
    }

    /// F of all laws of some blocks at (r, u), row by row: to `row(k, F_k, constrained)`, where F_k is the velocity u_k of a row that is
    /// constrained and a percussion else.
    pub fn residual(blocks: &[Block], rho: &[(f64, f64)], r: &[f64], u: &[f64], mut row: impl FnMut(usize, f64, bool)) {
        for (block, rho) in blocks.iter().zip(rho) {
            let rows = block.start..block.start + block.set.dim();
            let p = Equation::ActiveSet.at(&block.set, &r[rows.clone()], &u[rows.clone()], *rho);
            for (i, k) in rows.enumerate() {
                row(k, p.f[i], p.by_r[i * p.d..(i + 1) * p.d].iter().all(|v| *v == 0.0));
            }
        }
    }

    /// Replaces r by r⁺.
    pub fn step(&mut self, problem: &Problem, rho: &[(f64, f64)], r: &mut [f64], u: &[f64]) -> ActiveSetStep {
        if !self.jacobian.begin(problem) || self.jacobian.is_sparse() {
            return ActiveSetStep::Failed;
        }
        self.model.resize(problem.size(), 0.0);
        problem.velocity(r, &mut self.model);
        // Where the linear model and the true velocity agree, their difference is rounding.
        let apart = |k: usize| self.model[k] - u[k];
        let start = &*r;
        let piece = |b: usize| {
            let block = &problem.blocks()[b];
            let rows = block.start..block.start + block.set.dim();
            let mut p = Equation::ActiveSet.at(&block.set, &start[rows.clone()], &u[rows], rho[b]);
            for i in 0..p.d {
                let shift: f64 = (0..p.d).map(|k| p.by_u[i * p.d + k] * apart(block.start + k)).sum();
                p.f[i] += shift;
            }
            p
        };
        let solved = self.jacobian.next(problem, start, &mut self.next, piece);
        if solved == Solved::Not || !max_norm(&self.next).is_finite() {
            return ActiveSetStep::Failed;
        }
        r.copy_from_slice(&self.next);
        if solved == Solved::LeastNorm { ActiveSetStep::LeastNorm } else { ActiveSetStep::Unique }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::Dense;
    use crate::random::sequence;
    use crate::sets::Set;
    use crate::solver::{Options, make};

    #[test]
    fn steps_end_at_what_the_other_solvers_find() {
        let mut random = sequence(3);
        let mut solved = 0;
        for _ in 0..200 {
            let sets = vec![Set::Coulomb { dim: 2, mu: 0.4 }, Set::Free { dim: 1 }, Set::Coulomb { dim: 1, mu: 0.3 }];
            let w: Vec<f64> = (0..48).map(|_| random()).collect();
            let a = Dense::from_rows(
                6,
                6,
                (0..36).map(|k| (0..8).map(|j| w[k / 6 * 8 + j] * w[k % 6 * 8 + j]).sum()).collect(),
            );
            let b = (0..6).map(|_| random()).collect();
            let problem = Problem::dense(sets, a.unwrap(), b).unwrap();
            let mut rho = Vec::new();
            ActiveSet::factors(&problem, &mut rho);
            let (mut r, mut u, mut worst) = (vec![0.0; 6], problem.b().to_vec(), f64::INFINITY);
            let mut method = ActiveSet::default();
            for _ in 0..20 {
                assert_eq!(method.step(&problem, &rho, &mut r, &u), ActiveSetStep::Unique);
                problem.velocity(&r, &mut u);
                worst = 0.0;
                ActiveSet::residual(problem.blocks(), &rho, &r, &u, |_, f, _| worst = worst.max(f.abs()));
                if worst <= 1e-12 {
                    break;
                }
            }
            if worst > 1e-12 {
                // A cycle: schemes go on with another rung then.
                continue;
            }
            solved += 1;
            let mut judged = problem.residual(&r, &mut u);
            assert!(judged <= 1e-10, "{judged}");
            let mut other = vec![0.0; 6];
            make("auto").unwrap().solve(&problem, &mut other, &Options::default());
            judged = r.iter().zip(&other).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(judged <= 1e-6 * (1.0 + max_norm(&r)), "{r:?} {other:?}");
        }
        assert!(solved >= 150, "{solved} of 200");
    }
}
