//! Accelerated projected gradient \[Mazhar2015\], for many contacts: products with A are all it needs.
//!
//! ```text
//! r⁺ = proj_C(y − (L D)⁻¹ û(y)),   û = A y + b + s(u),   s_N = μ‖u_T‖
//! y⁺ = r⁺ + β (r⁺ − r),            β = (θ − 1)/θ⁺,       θ⁺ = (1 + √(1 + 4θ²))/2
//! ```
//!
//! D holds the mean of the diagonal of A of every block. L doubles until dᵀA d ≤ L dᵀD d for d = r⁺ − y, and else falls by a tenth
//! from iteration to iteration. Momentum begins anew where the gradient points against the last step. u(y) follows from u(r) by the same
//! combination, so that an iteration costs one product. Without friction it minimises ½ rᵀA r + bᵀr over C; with friction s belongs to
//! the point where the gradient is taken, and there is no guarantee.

use super::{Best, Judge, Options, Report, Solver, SolverInfo, Status, info, sanitise};
use crate::linear::dense::{max_norm, norm};
use crate::problem::Problem;

/// Accelerated projected gradient. See [`super::SOLVERS`].
#[derive(Debug, Default)]
pub struct ProjectedGradient {
    judge: Judge,
    best: Best,
    diagonal: Vec<f64>,
    y: Vec<f64>,
    u_y: Vec<f64>,
    gradient: Vec<f64>,
    next: Vec<f64>,
    u_next: Vec<f64>,
    u: Vec<f64>,
}

/// Iterations without the residual falling by a tenth after which the method has stalled.
const MAX_STAGNATION: usize = 5000;
/// Largest percussion of a problem that has a solution, relative to ‖b‖ over the smallest compliance.
const MAX_PERCUSSION: f64 = 1e8;
/// Doublings of L in one iteration.
const MAX_DOUBLINGS: usize = 60;
/// Factor of L from one iteration to the next.
const LIPSCHITZ_DECAY: f64 = 0.9;

impl Solver for ProjectedGradient {
    fn info(&self) -> &'static SolverInfo {
        info("apgd")
    }

    fn solve(&mut self, problem: &Problem, r: &mut [f64], options: &Options) -> Report {
        sanitise(r);
        let mut report = Report::failed("apgd", Status::MaxIterations);
        self.best.start();
        problem.mean_diagonals(&mut self.diagonal);
        report.residual = self.judge.residual(problem, r);
        self.best.note(r, report.residual);
        self.u.clone_from(&self.judge.u);
        self.y.clear();
        self.y.extend_from_slice(r);
        self.u_y.clone_from(&self.u);
        let (mut lipschitz, mut theta) = (1.0f64, 1.0f64);
        let (mut progress, mut since) = (report.residual, 0);
        let least = self.diagonal.iter().copied().fold(f64::INFINITY, f64::min);
        let bound = MAX_PERCUSSION * norm(problem.b()) / least;
        let bound = if bound > 0.0 { bound.max(max_norm(r)) } else { f64::INFINITY };
        loop {
            if report.residual <= options.tolerance && max_norm(r) <= bound {
                report.status = Status::Solved;
                return report;
            }
            if !report.residual.is_finite() {
                report.status = Status::NotFinite;
                break;
            }
            if report.iterations >= options.max_iterations {
                break;
            }
            if options.out_of_time() {
                report.status = Status::TimeLimit;
                break;
            }
            // Without a solution r grows beyond all bounds, until velocities drown in its rounding.
            if since > MAX_STAGNATION || max_norm(r) > bound {
                report.status = Status::Stalled;
                break;
            }
            report.iterations += 1;
            lipschitz = self.step(problem, lipschitz);
            // Momentum, unless the gradient is against the step.
            let against: f64 = self.gradient.iter().zip(self.next.iter().zip(&*r)).map(|(g, (n, r))| g * (n - r)).sum();
            let next = 0.5 * (1.0 + (1.0 + 4.0 * theta * theta).sqrt());
            let beta = if against > 0.0 { 0.0 } else { (theta - 1.0) / next };
            theta = if against > 0.0 { 1.0 } else { next };
            for k in 0..r.len() {
                self.y[k] = self.next[k] + beta * (self.next[k] - r[k]);
                self.u_y[k] = self.u_next[k] + beta * (self.u_next[k] - self.u[k]);
            }
            r.copy_from_slice(&self.next);
            self.u.copy_from_slice(&self.u_next);
            lipschitz *= LIPSCHITZ_DECAY;
            report.residual = problem.residual_at(r, &self.u);
            if max_norm(r) <= bound {
                self.best.note(r, report.residual);
            }
            if report.residual < 0.9 * progress {
                (progress, since) = (report.residual, 0);
            } else {
                since += 1;
            }
        }
        self.best.restore(r, &mut report);
        if problem.infeasible_block().is_some() {
            report.status = Status::Infeasible;
        }
        report
    }
}

impl ProjectedGradient {
    /// A gradient step from y to `next`; returns the L that it took.
    fn step(&mut self, problem: &Problem, mut lipschitz: f64) -> f64 {
        self.gradient.clone_from(&self.u_y);
        for block in problem.blocks() {
            block.set.modified_velocity(&mut self.gradient[block.start..block.start + block.set.dim()]);
        }
        self.u_next.resize(problem.size(), 0.0);
        for _ in 0..MAX_DOUBLINGS {
            self.next.clone_from(&self.y);
            let mut bound = 0.0;
            for (block, d) in problem.blocks().iter().zip(&self.diagonal) {
                let rows = block.start..block.start + block.set.dim();
                let step = 1.0 / (lipschitz * d);
                for k in rows.clone() {
                    self.next[k] -= step * self.gradient[k];
                }
                block.set.project(&mut self.next[rows.clone()]);
                bound += d * rows.map(|k| (self.next[k] - self.y[k]).powi(2)).sum::<f64>();
            }
            problem.velocity(&self.next, &mut self.u_next);
            let change = self.next.iter().zip(&self.y).zip(self.u_next.iter().zip(&self.u_y));
            let curvature: f64 = change.map(|((n, y), (un, uy))| (n - y) * (un - uy)).sum();
            if curvature <= lipschitz * bound * (1.0 + 1e-12) || bound == 0.0 {
                break;
            }
            lipschitz *= 2.0;
        }
        lipschitz
    }
}
