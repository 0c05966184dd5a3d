//! Enumeration of modes, for tiny dense problems whose sets are piecewise linear: every combination of modes is a
//! linear system; the one with the smallest residual is kept. Finds what iterations miss where two modes differ by a
//! velocity of the order of rounding.

use super::{Best, Judge, Options, Report, Status};
use crate::linear::dense::LeastNorm;
use crate::problem::Problem;
use crate::sets::{MAX_DIM, Set};

#[derive(Debug, Default)]
pub(super) struct Enumeration {
    judge: Judge,
    best: Best,
    least_norm: LeastNorm,
    matrix: Vec<f64>,
    rhs: Vec<f64>,
}

/// Most combinations that are tried.
const MAX_COMBINATIONS: usize = 512;
/// Relative size of a pivot below which a mode's matrix counts as singular: tighter than elsewhere, since here
/// every mode gets its chance.
const RANK_TOLERANCE: f64 = 1e-14;

fn modes(set: &Set) -> Option<usize> {
    match set {
        Set::Free { .. } => Some(1),
        Set::NonNegative => Some(2),
        Set::Interval { .. } => Some(3),
        Set::Ball { dim: 1, .. } => Some(3),
        Set::Coulomb { dim: 1, .. } => Some(4),
        Set::Ball { .. } | Set::Coulomb { .. } | Set::Polyhedral { .. } => None,
    }
}

impl Enumeration {
    pub(super) fn solve(&mut self, problem: &Problem, r: &mut [f64], options: &Options) -> Report {
        let mut report = Report::failed("enumeration", Status::Stalled);
        let count = problem
            .blocks()
            .iter()
            .try_fold(1usize, |n, b| n.checked_mul(modes(&b.set)?).filter(|&n| n <= MAX_COMBINATIONS));
        let (Some(a), Some(count)) = (problem.as_dense(), count) else {
            report.status = Status::Unsupported;
            return report;
        };
        let n = problem.size();
        self.best.start();
        let residual = self.judge.residual(problem, r);
        self.best.note(r, residual);
        for combination in 0..count {
            self.matrix.clear();
            self.matrix.resize(n * n, 0.0);
            self.rhs.clear();
            self.rhs.resize(n, 0.0);
            let mut rest = combination;
            let mut possible = true;
            for block in problem.blocks() {
                let of = modes(&block.set).unwrap_or(1);
                let mode = rest % of;
                rest /= of;
                possible &= self.equations(a, problem.b(), &block.set, block.start, mode);
            }
            if !possible {
                continue;
            }
            report.iterations += 1;
            self.least_norm.solve(&self.matrix, n, &self.rhs, r, RANK_TOLERANCE);
            let residual = self.judge.residual(problem, r);
            self.best.note(r, residual);
        }
        self.best.restore(r, &mut report);
        if report.residual <= options.tolerance {
            report.status = Status::Solved;
        }
        report
    }

    /// Writes the rows of a block in a mode; false where the mode does not exist.
    fn equations(&mut self, a: &crate::linear::Dense, b: &[f64], set: &Set, s: usize, mode: usize) -> bool {
        let n = a.rows();
        let velocity = |m: &mut [f64], rhs: &mut [f64], i: usize| {
            let scale = if a[(i, i)] > 0.0 { 1.0 / a[(i, i)] } else { 1.0 };
            for j in 0..n {
                m[i * n + j] = scale * a[(i, j)];
            }
            rhs[i] = -scale * b[i];
        };
        let fixed = |m: &mut [f64], rhs: &mut [f64], i: usize, value: f64| {
            m[i * n + i] = 1.0;
            rhs[i] = value;
            value.is_finite()
        };
        let (m, rhs) = (&mut self.matrix, &mut self.rhs);
        let bound = |k: usize| match set {
            Set::Interval { lower, upper } => [*lower, *upper][k],
            Set::Ball { radius, .. } => [-radius, *radius][k],
            _ => 0.0,
        };
        match (set, mode) {
            (Set::Coulomb { .. }, 0) => fixed(m, rhs, s, 0.0) && fixed(m, rhs, s + 1, 0.0),
            (Set::Coulomb { .. }, 1) => {
                velocity(m, rhs, s);
                velocity(m, rhs, s + 1);
                true
            }
            (Set::Coulomb { mu, .. }, _) => {
                velocity(m, rhs, s);
                fixed(m, rhs, s + 1, 0.0);
                m[(s + 1) * n + s] = if mode == 2 { -mu } else { *mu };
                true
            }
            (_, 0) => {
                for i in s..s + set.dim().min(MAX_DIM) {
                    velocity(m, rhs, i);
                }
                true
            }
            (_, k) => fixed(m, rhs, s, bound(k - 1)),
        }
    }
}
