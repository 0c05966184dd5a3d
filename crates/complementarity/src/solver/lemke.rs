//! Lemke's method with lexicographic pivoting \[CottlePangStone1992, 4.4, 4.9\].
//!
//! The problem is written as an LCP 0 ≤ w = M z + q ⊥ z ≥ 0 with r = r₀ + S z:
//!
//! | set | variables and rows |
//! |---|---|
//! | R₊ | r = z, w = u |
//! | interval, one finite bound | r = lower + z, w = u; or r = upper − z, w = −u |
//! | interval, two finite bounds | r = lower + z; 0 ≤ u + λ ⊥ z ≥ 0, 0 ≤ upper − lower − z ⊥ λ ≥ 0 |
//! | friction, generators d_j (±1 in the plane) | r_T = Σ β_j d_j; 0 ≤ d_j·u_T + λ ⊥ β_j ≥ 0, 0 ≤ μ r_N − Σ β_j ⊥ λ ≥ 0 |
//!
//! Bilateral rows are eliminated first; where that fails because their own block is singular (a mixed
//! LCP of a circuit), they enter as r = z⁺ − z⁻ with w = ±u.
//! The tableau w − M z − d z₀ = q (d = 1, symmetric scaling by the diagonal of M) is pivoted from z₀ until z₀
//! leaves. The lexicographic ratio test excludes cycling; ending on a ray is a status. The last basis
//! is solved once more from the original numbers.

use super::copies::Copies;
use super::eliminate::Eliminated;
use super::{Best, Judge, Options, Report, Solver, SolverInfo, Status, info, sanitise};
use crate::linear::dense::{lu_factor, lu_solve, max_norm, power_of_two};
use crate::problem::Problem;
use crate::sets::{MAX_DIM, Set};

/// Lemke's method. See [`super::SOLVERS`].
#[derive(Debug, Default)]
pub struct Lemke {
    judge: Judge,
    eliminated: Eliminated,
    lcp: Lcp,
    tableau: Vec<f64>,
    basis: Vec<usize>,
    z: Vec<f64>,
    lu: Vec<f64>,
    pivots: Vec<usize>,
    trial: Vec<f64>,
    best: Best,
    copies: Copies,
}

/// The problem as an LCP, with the map from z to r.
#[derive(Debug, Default)]
struct Lcp {
    /// Columns of S: start, rows, coefficients.
    start: Vec<usize>,
    entries: Vec<(usize, f64)>,
    r0: Vec<f64>,
    m: Vec<f64>,
    q: Vec<f64>,
    scale: Vec<f64>,
    /// What q is divided by, a power of two: tests of ratios compare numbers of about one.
    size: f64,
    /// Entries of M besides SᵀAS, and of q besides Sᵀ(A r₀ + b).
    extra: Vec<(usize, usize, f64)>,
    extra_q: Vec<(usize, f64)>,
    u0: Vec<f64>,
    image: Vec<f64>,
}

/// Largest number of LCP rows: the tableau has 2 n² entries.
const MAX_ROWS: usize = 2000;

impl Solver for Lemke {
    fn info(&self) -> &'static SolverInfo {
        info("lemke")
    }

    fn solve(&mut self, problem: &Problem, r: &mut [f64], options: &Options) -> Report {
        sanitise(r);
        if problem.as_dense().is_none() || !problem.blocks().iter().all(|b| (info("lemke").handles)(&b.set)) {
            let residual = self.judge.residual(problem, r);
            return Report { residual, ..Report::failed("lemke", Status::Unsupported) };
        }
        let mut copies = std::mem::take(&mut self.copies);
        let merged = copies.solve(problem, r, |p, s| self.solve_distinct(p, s, options));
        self.copies = copies;
        merged.unwrap_or_else(|| self.solve_distinct(problem, r, options))
    }
}

impl Lemke {
    /// The problem without copies.
    fn solve_distinct(&mut self, problem: &Problem, r: &mut [f64], options: &Options) -> Report {
        let mut best = std::mem::take(&mut self.best);
        best.start();
        let residual = self.judge.residual(problem, r);
        best.note(r, residual);
        let mut eliminated = std::mem::take(&mut self.eliminated);
        let mut report = eliminated.around(problem, r, options, |p, r, o| self.pivot(p, r, o), "lemke");
        self.eliminated = eliminated;
        if !report.solved() && problem.blocks().iter().any(|b| matches!(b.set, Set::Free { .. })) {
            let pivots = report.pivots;
            let second = self.pivot(problem, r, options);
            let status =
                if report.status == Status::Infeasible && !second.solved() { report.status } else { second.status };
            report = Report { status, pivots: pivots + second.pivots, iterations: pivots + second.pivots, ..second };
        }
        if !report.solved() {
            best.note(r, report.residual);
            best.restore(r, &mut report);
            if problem.infeasible_block().is_some() {
                report.status = Status::Infeasible;
            }
        }
        self.best = best;
        report
    }
}

impl Lcp {
    fn size(&self) -> usize {
        self.q.len()
    }

    fn variable(&mut self, entries: &[(usize, f64)]) -> usize {
        self.entries.extend_from_slice(entries);
        self.start.push(self.entries.len());
        self.start.len() - 2
    }

    fn column(&self, v: usize) -> &[(usize, f64)] {
        &self.entries[self.start[v]..self.start[v + 1]]
    }

    fn interval(&mut self, row: usize, lower: f64, upper: f64) {
        if lower.is_finite() {
            self.r0[row] = lower;
            let z = self.variable(&[(row, 1.0)]);
            if upper.is_finite() {
                let lambda = self.variable(&[]);
                self.extra.extend([(z, lambda, 1.0), (lambda, z, -1.0)]);
                self.extra_q.push((lambda, upper - lower));
            }
        } else if upper.is_finite() {
            self.r0[row] = upper;
            self.variable(&[(row, -1.0)]);
        } else {
            self.variable(&[(row, 1.0)]);
            self.variable(&[(row, -1.0)]);
        }
    }

    fn build(&mut self, problem: &Problem) {
        self.start.clear();
        self.start.push(0);
        self.entries.clear();
        self.extra.clear();
        self.extra_q.clear();
        self.r0.clear();
        self.r0.resize(problem.size(), 0.0);
        for block in problem.blocks() {
            let s = block.start;
            match &block.set {
                Set::NonNegative => {
                    self.variable(&[(s, 1.0)]);
                }
                Set::Free { dim } => {
                    for k in 0..*dim {
                        self.interval(s + k, f64::NEG_INFINITY, f64::INFINITY);
                    }
                }
                Set::Interval { lower, upper } => self.interval(s, *lower, *upper),
                Set::Ball { radius, .. } => self.interval(s, -radius, *radius),
                Set::Coulomb { mu, .. } => {
                    let n = self.variable(&[(s, 1.0)]);
                    let plus = self.variable(&[(s + 1, 1.0)]);
                    let minus = self.variable(&[(s + 1, -1.0)]);
                    let lambda = self.variable(&[]);
                    self.friction(*mu, n, plus, minus, lambda);
                }
                Set::Polyhedral { mu, polygon } => {
                    let n = self.variable(&[(s, 1.0)]);
                    let first = n + 1;
                    for d in polygon.generators() {
                        self.variable(&[(s + 1, d[0]), (s + 2, d[1])]);
                    }
                    let lambda = self.variable(&[]);
                    self.friction(*mu, n, first, lambda - 1, lambda);
                }
            }
        }
        // M = SᵀAS + extra, q = Sᵀ(A r₀ + b) + extra.
        let size = self.start.len() - 1;
        self.u0.resize(problem.size(), 0.0);
        problem.velocity(&self.r0, &mut self.u0);
        self.m.clear();
        self.m.resize(size * size, 0.0);
        self.q.clear();
        self.q.resize(size, 0.0);
        let Some(a) = problem.as_dense() else { return };
        for w in 0..size {
            self.image.clear();
            self.image.resize(problem.size(), 0.0);
            for &(row, coefficient) in &self.entries[self.start[w]..self.start[w + 1]] {
                for i in 0..problem.size() {
                    self.image[i] += a[(i, row)] * coefficient;
                }
            }
            for v in 0..size {
                self.m[v * size + w] = self.column(v).iter().map(|&(i, c)| c * self.image[i]).sum();
            }
            self.q[w] = self.column(w).iter().map(|&(i, c)| c * self.u0[i]).sum();
        }
        for &(v, w, value) in &self.extra {
            self.m[v * size + w] += value;
        }
        for &(v, value) in &self.extra_q {
            self.q[v] += value;
        }
        // Symmetric scaling z = D z', w' = D w: unit diagonal; a multiplier λ takes the inverse scale
        // of the variables it is coupled to.
        // Diagonals far below the largest are rounding (a direction without compliance) and take its scale.
        self.scale.clear();
        let largest = (0..size).map(|i| self.m[i * size + i]).fold(0.0, f64::max);
        self.scale.extend((0..size).map(|i| {
            if self.start[i] == self.start[i + 1] || largest == 0.0 {
                return 0.0;
            }
            let d = self.m[i * size + i];
            1.0 / (if d > 1e-12 * largest { d } else { largest }).sqrt()
        }));
        for &(v, lambda, _) in &self.extra {
            if self.scale[lambda] == 0.0 && self.scale[v] > 0.0 && self.column(lambda).is_empty() {
                self.scale[lambda] = 1.0 / self.scale[v];
            }
        }
        for s in &mut self.scale {
            if *s == 0.0 {
                *s = 1.0;
            }
        }
        for v in 0..size {
            for w in 0..size {
                self.m[v * size + w] *= self.scale[v] * self.scale[w];
            }
            self.q[v] *= self.scale[v];
        }
        let largest = max_norm(&self.q);
        self.size = power_of_two(largest);
        self.q.iter_mut().for_each(|q| *q /= self.size);
    }

    fn friction(&mut self, mu: f64, n: usize, first: usize, last: usize, lambda: usize) {
        for beta in first..=last {
            self.extra.extend([(beta, lambda, 1.0), (lambda, beta, -1.0)]);
        }
        self.extra.push((lambda, n, mu));
    }

    /// r = r₀ + S D z' times the size of q.
    fn recover(&self, z: &[f64], r: &mut [f64]) {
        r.copy_from_slice(&self.r0);
        for v in 0..self.size() {
            for &(row, c) in self.column(v) {
                r[row] += c * self.scale[v] * self.size * z[v];
            }
        }
    }
}

impl Lemke {
    fn pivot(&mut self, problem: &Problem, r: &mut [f64], options: &Options) -> Report {
        self.lcp.build(problem);
        let mut report = Report::failed("lemke", Status::MaxIterations);
        let n = self.lcp.size();
        if n > MAX_ROWS {
            report.status = Status::Unsupported;
            return report;
        }
        if !(self.lcp.m.iter().chain(&self.lcp.q).all(|v| v.is_finite())) {
            report.status = Status::NotFinite;
            return report;
        }
        let status = self.run(n, options, &mut report.pivots);
        report.iterations = report.pivots;
        self.z.clear();
        self.z.resize(n, 0.0);
        let width = 2 * n + 2;
        for i in 0..n {
            let v = self.basis[i];
            if (n..2 * n).contains(&v) {
                self.z[v - n] = self.tableau[i * width + width - 1].max(0.0);
            }
        }
        self.lcp.recover(&self.z, r);
        report.residual = self.judge.residual(problem, r);
        if status == Status::Solved {
            self.refine(n, problem, r, &mut report);
        }
        report.status = if report.residual <= options.tolerance {
            Status::Solved
        } else if status == Status::Solved {
            Status::Stalled
        } else {
            status
        };
        report
    }

    /// Complementary pivoting; columns 0..n are w, n..2n are z, 2n is z₀, 2n+1 the right-hand side.
    fn run(&mut self, n: usize, options: &Options, pivots: &mut usize) -> Status {
        let width = 2 * n + 2;
        let (z0, rhs) = (2 * n, 2 * n + 1);
        let t = &mut self.tableau;
        t.clear();
        t.resize(n * width, 0.0);
        self.basis.clear();
        self.basis.extend(0..n);
        for i in 0..n {
            t[i * width + i] = 1.0;
            for j in 0..n {
                t[i * width + n + j] = -self.lcp.m[i * n + j];
            }
            t[i * width + z0] = -1.0;
            t[i * width + rhs] = self.lcp.q[i];
        }
        // First pivot: z₀ enters in the lexicographically smallest row of (q, I).
        let mut row = 0;
        for i in 1..n {
            // On a tie the later row is the smaller one: its unit vector has its one further right.
            if t[i * width + rhs] <= t[row * width + rhs] {
                row = i;
            }
        }
        if n == 0 || t[row * width + rhs] >= 0.0 {
            return Status::Solved;
        }
        let mut entering = z0;
        loop {
            let leaving = self.basis[row];
            exchange(t, n, width, row, entering);
            self.basis[row] = entering;
            *pivots += 1;
            if leaving == z0 {
                return Status::Solved;
            }
            if *pivots >= options.max_iterations {
                return Status::MaxIterations;
            }
            if options.out_of_time() {
                return Status::TimeLimit;
            }
            entering = if leaving < n { leaving + n } else { leaving - n };
            let largest = (0..n).map(|i| t[i * width + entering].abs()).fold(0.0, f64::max);
            if !largest.is_finite() {
                return Status::NotFinite;
            }
            // Entries below this are rounding of the eliminations before.
            let tiny = 1e-11 * largest.max(1.0);
            let mut best: Option<usize> = None;
            for i in 0..n {
                if t[i * width + entering] > tiny {
                    best = Some(match best {
                        Some(b) if !lexicographically_less(t, n, width, entering, i, b, &self.basis, z0) => b,
                        _ => i,
                    });
                }
            }
            match best {
                Some(i) => row = i,
                None => return Status::Ray,
            }
        }
    }

    /// Solves M_ZZ z = −q_Z for the basic z from the original numbers and keeps the better one.
    fn refine(&mut self, n: usize, problem: &Problem, r: &mut [f64], report: &mut Report) {
        let basic: Vec<usize> = (0..n).filter(|&v| self.z[v] > 0.0).collect();
        let k = basic.len();
        self.lu.clear();
        for &i in &basic {
            self.lu.extend(basic.iter().map(|&j| self.lcp.m[i * n + j]));
        }
        self.pivots.resize(k.max(1), 0);
        let mut x: Vec<f64> = basic.iter().map(|&i| -self.lcp.q[i]).collect();
        if k == 0 || lu_factor(&mut self.lu, k, &mut self.pivots).is_err() {
            return;
        }
        lu_solve(&self.lu, k, &self.pivots, &mut x);
        let mut z = vec![0.0; n];
        for (&i, &v) in basic.iter().zip(&x) {
            z[i] = v.max(0.0);
        }
        self.trial.resize(problem.size(), 0.0);
        self.lcp.recover(&z, &mut self.trial);
        let residual = self.judge.residual(problem, &self.trial);
        if residual < report.residual {
            r.copy_from_slice(&self.trial);
            report.residual = residual;
        }
    }
}

/// Whether row i comes before row b in the ratio test: (rhs, B⁻¹)/pivot entry, z₀ first on ties.
fn lexicographically_less(
    t: &[f64],
    n: usize,
    width: usize,
    entering: usize,
    i: usize,
    b: usize,
    basis: &[usize],
    z0: usize,
) -> bool {
    let (pi, pb) = (t[i * width + entering], t[b * width + entering]);
    let compare = |col: usize| -> Option<bool> {
        let (x, y) = (t[i * width + col] / pi, t[b * width + col] / pb);
        let tie = 1e-12 * (x.abs() + y.abs()).max(1e-3);
        if (x - y).abs() <= tie { None } else { Some(x < y) }
    };
    if let Some(less) = compare(width - 1) {
        return less;
    }
    if basis[b] == z0 || basis[i] == z0 {
        return basis[i] == z0;
    }
    (0..n).find_map(compare).unwrap_or(false)
}

fn exchange(t: &mut [f64], n: usize, width: usize, row: usize, col: usize) {
    let inverse = 1.0 / t[row * width + col];
    for v in &mut t[row * width..(row + 1) * width] {
        *v *= inverse;
    }
    for i in 0..n {
        let f = t[i * width + col];
        if i == row || f == 0.0 {
            continue;
        }
        let (a, b) = if i < row {
            let (x, y) = t.split_at_mut(row * width);
            (&mut x[i * width..(i + 1) * width], &y[..width])
        } else {
            let (x, y) = t.split_at_mut(i * width);
            (&mut y[..width], &x[row * width..(row + 1) * width])
        };
        for (p, q) in a.iter_mut().zip(b) {
            *p -= f * q;
        }
        a[col] = 0.0;
    }
}

const _: () = assert!(MAX_DIM >= 3);
