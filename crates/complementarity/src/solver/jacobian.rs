//! The linear systems of Newton's method, J = R + U (A + D): R and U are the derivatives of the blocks' equations (see [`super::equation`]), D a
//! diagonal shift, one number per block.
//!
//! J is dense if A is stored densely or has few rows. Otherwise it has the blocks of A and is factored by blocks, with the symbolic part
//! once per problem. Factors without exchange of blocks may be inaccurate: every solution is checked, and an inaccurate one is replaced by
//! that of a general sparse LU.
//!
//! A bound may be of a torque and stand beside forces. Pivots and ranks of a dense J are judged in units of its own: row i times s_i, column j over s_j, where
//! s is the power of two next to √D of a bounded block, and of the mean of all contacts and bilateral rows (so that a least norm of their percussions stays one).

use super::equation::Piece;
use crate::capacity;
use crate::linear::dense::{LeastNorm, dot, lu_factor, lu_solve, max_norm, norm, power_of_two};
use crate::linear::{BlockLu, Matrix, Pattern};
use crate::problem::{BlockSparse, Measure, Problem, ReducedMatrix};
use crate::sets::{MAX_DIM, Set};

/// Largest number of rows for which J is dense although A is not.
const DENSE_UP_TO: usize = 96;
/// Largest number of rows of a dense J: some dozen factorisations take a minute.
const MAX_DENSE_ROWS: usize = 3000;
/// Most numbers in the factors of a sparse J: half a gigabyte.
const MAX_FACTOR_VALUES: usize = 1 << 26;
/// Relative size of a pivot below which a dense J counts as singular. Rows of J are scaled to about one.
const RANK_TOLERANCE: f64 = 1e-11;

/// Residual of a linear system, relative to its right side, up to which factors without exchange of blocks are good enough for a Newton step.
const MAX_LINEAR_RESIDUAL: f64 = 1e-6;

#[derive(Debug, Default)]
pub(super) struct Jacobian {
    /// A of a problem that is not stored as dense: all of it, or its blocks.
    problem: Problem,
    blocks: Option<BlockLu>,
    general: Option<Matrix>,
    product: Vec<f64>,
    pieces: Vec<Piece>,
    moving: Vec<usize>,
    line: Vec<f64>,
    values: Vec<f64>,
    lu: Vec<f64>,
    pivots: Vec<usize>,
    rhs: Vec<f64>,
    /// s by row; empty where it is the same in all.
    units: Vec<f64>,
    least_norm: LeastNorm,
}

/// How a linear system was solved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Solved {
    Regular,
    /// J is singular: this is the solution of least norm.
    LeastNorm,
    /// There is no finite solution.
    Not,
}

impl Jacobian {
    /// Reserves memory for dense problems of up to `n` rows.
    pub(super) fn reserve(&mut self, n: usize) {
        capacity::reserve(&mut self.pieces, n);
        for v in [&mut self.moving, &mut self.pivots] {
            capacity::reserve(v, n);
        }
        for v in [&mut self.line, &mut self.rhs, &mut self.product, &mut self.units] {
            capacity::reserve(v, n);
        }
        for v in [&mut self.values, &mut self.lu] {
            capacity::reserve(v, n * n);
        }
        self.least_norm.reserve(n);
    }

    /// Begins with a problem; false if it is too large to be factored.
    pub(super) fn begin(&mut self, problem: &Problem) -> bool {
        (self.blocks, self.general) = (None, None);
        self.take_units(problem);
        if problem.as_dense().is_some() {
            return problem.size() <= MAX_DENSE_ROWS;
        }
        if problem.size() <= DENSE_UP_TO {
            problem.densify(&mut self.problem);
            return true;
        }
        problem.expand(&mut self.problem);
        let ReducedMatrix::BlockSparse(a) = self.problem.matrix() else { return false };
        if a.has_symmetric_pattern() {
            self.blocks = BlockLu::new(&a.start, &a.row, &a.column, MAX_FACTOR_VALUES);
        } else {
            self.general = Some(general(problem, a));
        }
        self.is_sparse()
    }

    /// s of every row.
    fn take_units(&mut self, problem: &Problem) {
        self.units.clear();
        let bounded = |set: &Set| matches!(set, Set::Interval { .. } | Set::Ball { .. });
        if problem.measure() == Measure::Unit || !problem.blocks().iter().any(|b| bounded(&b.set)) {
            return;
        }
        let (mut sum, mut count) = (0.0, 0.0);
        for (i, _) in problem.blocks().iter().enumerate().filter(|(_, b)| !bounded(&b.set)) {
            (sum, count) = (sum + problem.compliance(i, 0), count + 1.0);
        }
        for (i, block) in problem.blocks().iter().enumerate() {
            let d = if bounded(&block.set) { problem.compliance(i, 0) } else { sum / count };
            self.units.extend(std::iter::repeat_n(power_of_two(d.sqrt()), block.set.dim()));
        }
        if self.units.iter().all(|s| *s == self.units[0]) {
            self.units.clear();
        }
    }

    /// The dense system in its own units.
    fn scale(&mut self) {
        if self.units.is_empty() {
            return;
        }
        let rows = self.values.chunks_exact_mut(self.moving.len().max(1)).zip(&mut self.rhs);
        for ((row, right), &i) in rows.zip(&self.moving) {
            let s = self.units[i];
            *right *= s;
            row.iter_mut().zip(&self.moving).for_each(|(v, &j)| *v *= s / self.units[j]);
        }
    }

    /// Whether J is factored sparse.
    pub(super) fn is_sparse(&self) -> bool {
        self.blocks.is_some() || self.general.is_some()
    }

    /// Solves J x = J r − F for the next iterate x, of least norm where J is singular (dense J only). `piece` gives the equation of a block.
    pub(super) fn next(
        &mut self,
        problem: &Problem,
        r: &[f64],
        x: &mut Vec<f64>,
        piece: impl Fn(usize) -> Piece,
    ) -> Solved {
        self.assemble(problem, &|_| 0.0, piece, Some(r), x);
        self.scale();
        let solved = if self.factor() {
            lu_solve(&self.lu, self.moving.len(), &self.pivots, &mut self.rhs);
            Solved::Regular
        } else {
            let n = self.moving.len();
            self.product.resize(n, 0.0);
            self.least_norm.solve(&self.values, n, &self.rhs, &mut self.product, RANK_TOLERANCE);
            self.rhs.copy_from_slice(&self.product);
            Solved::LeastNorm
        };
        self.scatter(x);
        if x.iter().all(|v| v.is_finite()) { solved } else { Solved::Not }
    }

    /// Solves J x = −F for the step x, with `shift` on the diagonal of A. False if J cannot be factored.
    pub(super) fn step(
        &mut self,
        problem: &Problem,
        shift: impl Fn(usize) -> f64,
        x: &mut Vec<f64>,
        piece: impl Fn(usize) -> Piece,
    ) -> bool {
        if !self.is_sparse() {
            self.assemble(problem, &shift, piece, None, x);
            self.scale();
            if !self.factor() {
                return false;
            }
            lu_solve(&self.lu, self.moving.len(), &self.pivots, &mut self.rhs);
            self.scatter(x);
            return x.iter().all(|v| v.is_finite());
        }
        if let Some(mut lu) = self.blocks.take() {
            lu.clear();
            self.assemble_blocks(problem, &shift, &piece, |e, _, _, _, values| {
                lu.block_mut(e, values.len()).copy_from_slice(values);
            });
            let factored = lu.factor().is_ok();
            if factored {
                x.clear();
                x.extend_from_slice(&self.rhs);
                lu.solve(x);
            }
            self.blocks = Some(lu);
            if factored && self.holds(problem, &shift, x, &piece) {
                return true;
            }
        }
        if self.general.is_none()
            && let ReducedMatrix::BlockSparse(a) = self.problem.matrix()
        {
            self.general = Some(general(problem, a));
        }
        let Some(mut m) = self.general.take() else { return false };
        m.clear();
        self.assemble_blocks(problem, &shift, &piece, |_, i, j, rows, values| m.add_block(i, j, rows, values));
        let factored = m.factor().is_ok();
        if factored {
            x.clear();
            x.extend_from_slice(&self.rhs);
            m.solve(x);
        }
        self.general = Some(m);
        factored && x.iter().all(|v| v.is_finite())
    }

    /// Whether x solves J x = −F, which `rhs` holds.
    fn holds(
        &mut self,
        problem: &Problem,
        shift: &impl Fn(usize) -> f64,
        x: &[f64],
        piece: &impl Fn(usize) -> Piece,
    ) -> bool {
        self.product.resize(problem.size(), 0.0);
        problem.velocity(x, &mut self.product);
        let mut sum = 0.0;
        for (b, block) in problem.blocks().iter().enumerate() {
            let (s, p, shift) = (block.start, piece(b), shift(b));
            for i in 0..p.d {
                let mut v = -self.rhs[s + i];
                for k in 0..p.d {
                    let u = self.product[s + k] - problem.b()[s + k] + shift * x[s + k];
                    v += p.by_r[i * p.d + k] * x[s + k] + p.by_u[i * p.d + k] * u;
                }
                sum += v * v;
            }
        }
        sum.sqrt() <= MAX_LINEAR_RESIDUAL * norm(&self.rhs)
    }

    /// Factors the dense J; false where it is singular.
    fn factor(&mut self) -> bool {
        let n = self.moving.len();
        self.lu.clear();
        self.lu.extend_from_slice(&self.values);
        self.pivots.resize(n, 0);
        lu_factor(&mut self.lu, n, &mut self.pivots).is_ok() && {
            let scale = max_norm(&self.values);
            (0..n).all(|i| self.lu[i * n + i].abs() > RANK_TOLERANCE * scale)
        }
    }

    /// Copies the solution of the reduced rows to their positions in `x`.
    fn scatter(&self, x: &mut [f64]) {
        for (&i, v) in self.moving.iter().zip(&self.rhs) {
            x[i] = self.units.get(i).map_or(*v, |s| v / s);
        }
    }

    /// J row by row, and the right side −F, or J r − F. Blocks whose percussion is given (open contacts) are their own solution, in `x`, and are
    /// left out: `moving` lists the rows that remain.
    fn assemble(
        &mut self,
        problem: &Problem,
        shift: &impl Fn(usize) -> f64,
        piece: impl Fn(usize) -> Piece,
        r: Option<&[f64]>,
        x: &mut Vec<f64>,
    ) {
        let n = problem.size();
        self.values.clear();
        self.rhs.clear();
        self.moving.clear();
        x.clear();
        x.resize(n, 0.0);
        let Some(a) = problem.as_dense().or(self.problem.as_dense()) else { return };
        self.pieces.clear();
        self.pieces.extend((0..problem.blocks().len()).map(piece));
        for (block, p) in problem.blocks().iter().zip(&self.pieces) {
            let s = block.start;
            let given = p.by_u[..p.d * p.d].iter().all(|&u| u == 0.0)
                && (0..p.d).all(|i| (0..p.d).all(|k| p.by_r[i * p.d + k] == f64::from(i == k)));
            for i in 0..p.d {
                if given {
                    x[s + i] = r.map_or(0.0, |r| r[s + i]) - p.f[i];
                } else {
                    self.moving.push(s + i);
                }
            }
        }
        self.line.resize(n, 0.0);
        let all = self.moving.len() == n;
        let mut row = 0;
        for (b, block) in problem.blocks().iter().enumerate() {
            let s = block.start;
            if self.moving.get(row) != Some(&s) {
                continue;
            }
            let (p, shift) = (&self.pieces[b], shift(b));
            for i in 0..p.d {
                self.line.fill(0.0);
                for k in 0..p.d {
                    let u = p.by_u[i * p.d + k];
                    if u != 0.0 {
                        for (v, a) in self.line.iter_mut().zip(a.row(s + k)) {
                            *v += u * a;
                        }
                    }
                }
                for k in 0..p.d {
                    self.line[s + k] += p.by_r[i * p.d + k] + p.by_u[i * p.d + k] * shift;
                }
                let right = r.map_or(0.0, |r| dot(&self.line, r)) - p.f[i];
                if all {
                    self.rhs.push(right);
                    self.values.extend_from_slice(&self.line);
                } else {
                    // Rows that remain are zero in x so far: only what is given counts.
                    self.rhs.push(right - dot(&self.line, x));
                    self.values.extend(self.moving.iter().map(|&k| self.line[k]));
                }
            }
            row += p.d;
        }
    }

    /// The blocks of J one by one, to `enter(e, i, j, rows, values)`: e counts the blocks of A, (i, j) is the first entry. −F in `rhs`.
    fn assemble_blocks(
        &mut self,
        problem: &Problem,
        shift: &impl Fn(usize) -> f64,
        piece: &impl Fn(usize) -> Piece,
        mut enter: impl FnMut(usize, usize, usize, usize, &[f64]),
    ) {
        let ReducedMatrix::BlockSparse(a) = self.problem.matrix() else { return };
        self.rhs.clear();
        self.rhs.resize(problem.size(), 0.0);
        let mut product = [0.0; MAX_DIM * MAX_DIM];
        for (b, block) in problem.blocks().iter().enumerate() {
            let (s, p, shift) = (block.start, piece(b), shift(b));
            let d = p.d;
            for i in 0..d {
                self.rhs[s + i] = -p.f[i];
            }
            // An open contact is only its own row.
            let closed = p.by_u[..d * d].iter().any(|&v| v != 0.0);
            for e in a.row[b]..a.row[b + 1] {
                let column = a.column[e];
                let (t, width) = (a.start[column], a.start[column + 1] - a.start[column]);
                if column == b {
                    for (v, (r, u)) in product.iter_mut().zip(p.by_r.iter().zip(&p.by_u)).take(d * d) {
                        *v = r + u * shift;
                    }
                } else if closed {
                    product[..d * width].fill(0.0);
                } else {
                    continue;
                }
                let values = &a.values[a.offset[e]..a.offset[e] + d * width];
                for i in 0..d {
                    for k in 0..d {
                        let u = p.by_u[i * d + k];
                        if u != 0.0 {
                            for c in 0..width {
                                product[i * width + c] += u * values[k * width + c];
                            }
                        }
                    }
                }
                enter(e, s, t, d, &product[..d * width]);
            }
        }
    }
}

/// A general sparse matrix with the blocks of A.
fn general(problem: &Problem, a: &BlockSparse) -> Matrix {
    let mut pattern = Pattern::new(problem.size());
    let mut both = Vec::new();
    for i in 0..problem.blocks().len() {
        for &j in &a.column[a.row[i]..a.row[i + 1]] {
            both.clear();
            both.extend(a.start[i]..a.start[i + 1]);
            if j != i {
                both.extend(a.start[j]..a.start[j + 1]);
            }
            pattern.couple(&both);
        }
    }
    Matrix::new(&pattern)
}
