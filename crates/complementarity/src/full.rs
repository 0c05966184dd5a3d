//! The one-step problem in full form, and its reduction.
//!
//! ```text
//! M̂ v = f + W r,    u = Wᵀ v + c,    −û_i ∈ N_{C_i}(r_i)
//! ```
//!
//! M̂ is the iteration matrix of a time step, v the new velocity, W the force directions as short
//! dense blocks over the few unknowns that a block touches. Eliminating v gives the reduced form
//!
//! ```text
//! A = Wᵀ M̂⁻¹ W,    b = Wᵀ M̂⁻¹ f + c,    v = M̂⁻¹ f + M̂⁻¹ W r .
//! ```
//!
//! With a diagonal M̂ (bodies in their centres of mass), A = GᵀG is kept by its factor G = M̂^{−1/2}W; with a block-diagonal one it is
//! kept block-sparse: two blocks couple only if they touch a common component. Otherwise A is dense, which is meant for few blocks on many unknowns.

use crate::gram::Gram;
use crate::linear::{Matrix, Pattern, Singular};
use crate::problem::{BlockSparse, Problem, ProblemError, ReducedMatrix};
use crate::sets::{MAX_DIM, Set};
use crate::solver::{Options, Report, Solver, Status};
use serde::{Deserialize, Serialize};

/// The force directions W, block by block.
#[derive(Debug, Clone, Default)]
pub struct Coupling {
    dof_start: Vec<usize>,
    dofs: Vec<u32>,
    value_start: Vec<usize>,
    values: Vec<f64>,
}

impl Coupling {
    /// Removes all blocks, keeping the memory.
    pub fn clear(&mut self) {
        self.dof_start.clear();
        self.dof_start.push(0);
        self.value_start.clear();
        self.value_start.push(0);
        self.dofs.clear();
        self.values.clear();
    }

    /// Appends a block of `dim` rows over `dofs`; returns its values, rows of Wᵀ, to be filled.
    pub fn push(&mut self, dim: usize, dofs: &[u32]) -> &mut [f64] {
        if self.dof_start.is_empty() {
            self.clear();
        }
        self.dofs.extend_from_slice(dofs);
        self.dof_start.push(self.dofs.len());
        let at = self.values.len();
        self.values.resize(at + dim * dofs.len(), 0.0);
        self.value_start.push(self.values.len());
        &mut self.values[at..]
    }

    /// Number of blocks.
    pub fn len(&self) -> usize {
        self.dof_start.len().saturating_sub(1)
    }

    /// Whether there is no block.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Unknowns that block `i` touches.
    #[inline]
    pub fn dofs(&self, i: usize) -> &[u32] {
        &self.dofs[self.dof_start[i]..self.dof_start[i + 1]]
    }

    /// Rows of Wᵀ of block `i`, each over [`Coupling::dofs`].
    #[inline]
    pub fn values(&self, i: usize) -> &[f64] {
        &self.values[self.value_start[i]..self.value_start[i + 1]]
    }

    /// y += W_i r_i.
    #[inline]
    pub fn add_force(&self, i: usize, r: &[f64], y: &mut [f64]) {
        let dofs = self.dofs(i);
        let mut values = self.values(i);
        for &rk in r {
            let (row, rest) = values.split_at(dofs.len());
            for (&j, w) in dofs.iter().zip(row) {
                y[j as usize] += w * rk;
            }
            values = rest;
        }
    }

    /// u += W_iᵀ v.
    #[inline]
    pub fn add_velocity(&self, i: usize, v: &[f64], u: &mut [f64]) {
        let dofs = self.dofs(i);
        let mut values = self.values(i);
        for uk in u {
            let (row, rest) = values.split_at(dofs.len());
            let mut s = *uk;
            for (&j, w) in dofs.iter().zip(row) {
                s += w * v[j as usize];
            }
            *uk = s;
            values = rest;
        }
    }
}

/// The one-step problem in full form. See the [module](self).
#[derive(Debug, Clone)]
pub struct FullProblem {
    /// Iteration matrix M̂ (kg).
    pub matrix: Matrix,
    /// Right-hand side f (N·s).
    pub f: Vec<f64>,
    /// Force directions W.
    pub coupling: Coupling,
    /// Sets of the blocks.
    pub sets: Vec<Set>,
    /// Velocity offsets c (m/s), block after block.
    pub c: Vec<f64>,
    /// First row of every block.
    rows: Vec<usize>,
    reduction: Reduction,
}

/// What the elimination of v leaves behind for the way back.
#[derive(Debug, Clone, Default)]
struct Reduction {
    problem: Problem,
    v_free: Vec<f64>,
    /// M̂⁻¹W, one stretch per row of the problem (over all unknowns, or over the touched components); M̂^{−1/2} of a diagonal
    /// kernel.
    columns: Vec<f64>,
    /// G r of a diagonal kernel.
    y: Vec<f64>,
    /// Block-diagonal kernel: touched components of every block, cumulated.
    component_start: Vec<usize>,
    components: Vec<usize>,
    /// First column value of every block.
    column_start: Vec<usize>,
    /// Blocks that touch each component, as a linked list.
    head: Vec<usize>,
    next: Vec<usize>,
    neighbours: Vec<usize>,
    /// Revision of M̂ that A and the columns belong to; `None` if the blocks changed since.
    made_for: Option<u64>,
}

impl FullProblem {
    /// An empty problem over a matrix of this pattern.
    pub fn new(pattern: &Pattern) -> Self {
        let mut coupling = Coupling::default();
        coupling.clear();
        Self {
            matrix: Matrix::new(pattern),
            f: vec![0.0; pattern.size()],
            coupling,
            sets: Vec::new(),
            c: Vec::new(),
            rows: Vec::new(),
            reduction: Reduction::default(),
        }
    }

    /// Removes all blocks, keeping matrix, right-hand side and memory.
    pub fn clear_blocks(&mut self) {
        self.reduction.made_for = None;
        self.coupling.clear();
        self.sets.clear();
        self.c.clear();
        self.rows.clear();
    }

    /// First row of block `i`.
    #[inline]
    pub fn row_of(&self, i: usize) -> usize {
        self.rows[i]
    }

    /// Appends a block; `velocity` is its part of c. Returns the rows of Wᵀ, to be filled.
    pub fn push_block(&mut self, set: Set, dofs: &[u32], velocity: &[f64]) -> &mut [f64] {
        let dim = set.dim();
        debug_assert_eq!(dim, velocity.len());
        self.reduction.made_for = None;
        self.sets.push(set);
        self.rows.push(self.c.len());
        self.c.extend_from_slice(velocity);
        self.coupling.push(dim, dofs)
    }

    /// The reduced form of the last [`FullProblem::reduce`] or [`FullProblem::solve`].
    pub fn reduced(&self) -> &Problem {
        &self.reduction.problem
    }

    /// Velocity without percussions, M̂⁻¹ f, of the last reduction.
    pub fn free_velocity(&self) -> &[f64] {
        &self.reduction.v_free
    }

    /// Eliminates v.
    pub fn reduce(&mut self) -> Result<&Problem, Singular> {
        self.matrix.factor()?;
        let n = self.matrix.size();
        let red = &mut self.reduction;
        red.v_free.clear();
        red.v_free.extend_from_slice(&self.f);
        self.matrix.solve(&mut red.v_free);

        // The same blocks and the same factors: only b is new.
        let kept = red.made_for == Some(self.matrix.revision());
        if kept {
            for (i, set) in self.sets.iter().enumerate() {
                red.problem.renew_set(i, set);
            }
        } else {
            red.problem.clear();
            for set in &self.sets {
                red.problem.push_block(set.clone());
            }
        }
        red.problem.b.clear();
        red.problem.b.extend_from_slice(&self.c);
        for i in 0..self.sets.len() {
            let (s, d) = (self.rows[i], self.sets[i].dim());
            self.coupling.add_velocity(i, &red.v_free, &mut red.problem.b[s..s + d]);
        }
        if kept {
            return Ok(&self.reduction.problem);
        }
        red.made_for = Some(self.matrix.revision());
        if self.matrix.as_diagonal().is_some_and(|m| m.iter().all(|&d| d > 0.0)) {
            self.reduce_diagonal();
            return Ok(&self.reduction.problem);
        }
        if self.matrix.as_block_diagonal().is_some() {
            self.reduce_block_diagonal();
            return Ok(&self.reduction.problem);
        }

        // Columns M̂⁻¹ W_i, then A = Wᵀ (M̂⁻¹ W).
        let red = &mut self.reduction;
        let rows = red.problem.size();
        red.columns.clear();
        red.columns.resize(rows * n, 0.0);
        if !matches!(red.problem.matrix, ReducedMatrix::Dense(_)) {
            red.problem.matrix = ReducedMatrix::default();
        }
        let ReducedMatrix::Dense(a) = &mut red.problem.matrix else { return Err(Singular { row: 0 }) };
        a.reset(rows, rows);
        let mut col = 0;
        for j in 0..self.sets.len() {
            let (dofs, values) = (self.coupling.dofs(j), self.coupling.values(j));
            for k in 0..self.sets[j].dim() {
                let column = &mut red.columns[col * n..(col + 1) * n];
                for (&i, w) in dofs.iter().zip(&values[k * dofs.len()..]) {
                    column[i as usize] += w;
                }
                self.matrix.solve(column);
                let mut row = 0;
                for i in 0..self.sets.len() {
                    let (dofs, values) = (self.coupling.dofs(i), self.coupling.values(i));
                    for p in 0..self.sets[i].dim() {
                        let mut s = 0.0;
                        for (&l, w) in dofs.iter().zip(&values[p * dofs.len()..]) {
                            s += w * column[l as usize];
                        }
                        a[(row, col)] = s;
                        row += 1;
                    }
                }
                col += 1;
            }
        }
        Ok(&self.reduction.problem)
    }

    /// A = GᵀG, G = M̂^{−1/2} W.
    fn reduce_diagonal(&mut self) {
        let Some(m) = self.matrix.as_diagonal() else { return };
        let red = &mut self.reduction;
        red.columns.clear();
        // M̂^{−1/2}, also for the way back.
        red.columns.extend(m.iter().map(|d| 1.0 / d.sqrt()));
        if !matches!(red.problem.matrix, ReducedMatrix::Gram(_)) {
            red.problem.matrix = ReducedMatrix::Gram(Gram::default());
        }
        let ReducedMatrix::Gram(g) = &mut red.problem.matrix else { return };
        g.clear(m.len());
        for i in 0..self.sets.len() {
            let dofs = self.coupling.dofs(i);
            let out = g.push(self.sets[i].dim(), dofs);
            let n = dofs.len().max(1);
            for (row, w) in out.chunks_exact_mut(n).zip(self.coupling.values(i).chunks_exact(n)) {
                for ((g, w), &j) in row.iter_mut().zip(w).zip(dofs) {
                    *g = w * red.columns[j as usize];
                }
            }
        }
    }

    fn reduce_block_diagonal(&mut self) {
        let Some(m) = self.matrix.as_block_diagonal() else { return };
        let red = &mut self.reduction;
        let blocks = self.sets.len();
        red.component_start.clear();
        red.component_start.push(0);
        red.components.clear();
        red.column_start.clear();
        red.columns.clear();
        red.head.clear();
        red.head.resize(m.count(), usize::MAX);
        red.next.clear();

        // Touched components of every block and the columns over their members.
        for j in 0..blocks {
            let (dofs, values) = (self.coupling.dofs(j), self.coupling.values(j));
            let first = red.components.len();
            for &i in dofs {
                let c = m.component(i as usize);
                if !red.components[first..].contains(&c) {
                    red.components.push(c);
                    red.next.push(red.head[c]);
                    red.head[c] = red.components.len() - 1;
                }
            }
            red.component_start.push(red.components.len());
            red.column_start.push(red.columns.len());
            let touched = &red.components[first..];
            for k in 0..self.sets[j].dim() {
                for &c in touched {
                    let at = red.columns.len();
                    red.columns.resize(at + m.size(c), 0.0);
                    for (&i, w) in dofs.iter().zip(&values[k * dofs.len()..]) {
                        if m.component(i as usize) == c {
                            red.columns[at + m.position(i as usize)] += w;
                        }
                    }
                    m.solve_component(c, &mut red.columns[at..]);
                }
            }
        }

        // Block rows: neighbours of i are the blocks that touch one of its components.
        if !matches!(red.problem.matrix, ReducedMatrix::BlockSparse(_)) {
            red.problem.matrix = ReducedMatrix::BlockSparse(BlockSparse::default());
        }
        let ReducedMatrix::BlockSparse(a) = &mut red.problem.matrix else { return };
        a.start.clear();
        a.row.clear();
        a.column.clear();
        a.offset.clear();
        a.values.clear();
        a.start.push(0);
        a.row.push(0);
        for set in &self.sets {
            a.start.push(a.start[a.start.len() - 1] + set.dim());
        }
        for i in 0..blocks {
            red.neighbours.clear();
            for &c in &red.components[red.component_start[i]..red.component_start[i + 1]] {
                let mut e = red.head[c];
                while e != usize::MAX {
                    // Entry e of `components` belongs to the block whose range holds it.
                    let j = red.component_start.partition_point(|&s| s <= e) - 1;
                    red.neighbours.push(j);
                    e = red.next[e];
                }
            }
            if !red.neighbours.contains(&i) {
                red.neighbours.push(i);
            }
            red.neighbours.sort_unstable();
            red.neighbours.dedup();
            let (dofs, values) = (self.coupling.dofs(i), self.coupling.values(i));
            for &j in &red.neighbours {
                a.column.push(j);
                a.offset.push(a.values.len());
                let touched = &red.components[red.component_start[j]..red.component_start[j + 1]];
                let height: usize = touched.iter().map(|&c| m.size(c)).sum();
                for p in 0..self.sets[i].dim() {
                    for k in 0..self.sets[j].dim() {
                        let mut s = 0.0;
                        for (&l, w) in dofs.iter().zip(&values[p * dofs.len()..]) {
                            let mut at = red.column_start[j] + k * height;
                            for &c in touched {
                                if m.component(l as usize) == c {
                                    s += w * red.columns[at + m.position(l as usize)];
                                }
                                at += m.size(c);
                            }
                        }
                        a.values.push(s);
                    }
                }
            }
            a.row.push(a.column.len());
        }
    }

    /// v = M̂⁻¹ (f + W r), with the columns of the last reduction.
    pub fn recover(&mut self, r: &[f64], v: &mut [f64]) {
        let red = &mut self.reduction;
        v.copy_from_slice(&red.v_free);
        if let ReducedMatrix::Gram(g) = &red.problem.matrix {
            g.combine(r, &mut red.y);
            for ((v, y), root) in v.iter_mut().zip(&red.y).zip(&red.columns) {
                *v += root * y;
            }
            return;
        }
        let Some(m) = self.matrix.as_block_diagonal() else {
            let mut columns = &red.columns[..];
            for &rk in r {
                let (column, rest) = columns.split_at(v.len());
                if rk != 0.0 {
                    for (v, d) in v.iter_mut().zip(column) {
                        *v += d * rk;
                    }
                }
                columns = rest;
            }
            return;
        };
        let mut row = 0;
        for j in 0..self.sets.len() {
            let touched = &red.components[red.component_start[j]..red.component_start[j + 1]];
            let mut at = red.column_start[j];
            for _ in 0..self.sets[j].dim() {
                for &c in touched {
                    for &i in m.members(c) {
                        v[i] += red.columns[at] * r[row];
                        at += 1;
                    }
                }
                row += 1;
            }
        }
    }

    /// Reduces, solves from the start guess in `r`, and recovers v. A singular M̂ is a status.
    pub fn solve(&mut self, solver: &mut dyn Solver, options: &Options, r: &mut [f64], v: &mut [f64]) -> Report {
        if let Err(singular) = self.reduce() {
            return Report { row: Some(singular.row), ..Report::failed(solver.info().name, Status::Singular) };
        }
        let report = if self.sets.is_empty() {
            Report::trivial(solver.info().name)
        } else {
            solver.solve(&self.reduction.problem, r, options)
        };
        self.recover(r, v);
        report
    }
}

/// JSON form of a full problem.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FullFile {
    format: String,
    unknowns: usize,
    /// (row, column, value) of M̂.
    matrix: Vec<(usize, usize, f64)>,
    f: Vec<f64>,
    blocks: Vec<FullBlockFile>,
    /// Start guess, if one was saved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    guess: Vec<f64>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FullBlockFile {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    name: String,
    set: Set,
    dofs: Vec<u32>,
    /// Rows of Wᵀ.
    w: Vec<f64>,
    c: Vec<f64>,
}

pub(crate) const FORMAT: &str = "nonsmooth full problem 1";
/// Largest number of unknowns that a file may declare: 10⁸, beyond any problem that fits in memory.
const MAX_UNKNOWNS: usize = 100_000_000;

impl FullProblem {
    /// The problem as JSON text, with the names of its blocks and the start guess.
    pub fn to_json(&self, names: &[String], guess: &[f64]) -> String {
        let n = self.matrix.size();
        let mut matrix = Vec::new();
        self.matrix.for_each_entry(|i, j, v| matrix.push((i, j, v)));
        let mut at = 0;
        let blocks = (0..self.sets.len())
            .map(|i| {
                let d = self.sets[i].dim();
                at += d;
                FullBlockFile {
                    name: names.get(i).cloned().unwrap_or_default(),
                    set: self.sets[i].clone(),
                    dofs: self.coupling.dofs(i).to_vec(),
                    w: self.coupling.values(i).to_vec(),
                    c: self.c[at - d..at].to_vec(),
                }
            })
            .collect();
        let file =
            FullFile { format: FORMAT.into(), unknowns: n, matrix, f: self.f.clone(), blocks, guess: guess.to_vec() };
        serde_json::to_string(&file).unwrap_or_default()
    }

    /// Reads what [`FullProblem::to_json`] wrote, checking everything. Returns the problem and the start guess.
    pub fn from_json(text: &str) -> Result<(Self, Vec<f64>), ProblemError> {
        let file: FullFile = serde_json::from_str(text).map_err(|e| ProblemError::Json(e.to_string()))?;
        if file.format != FORMAT {
            return Err(ProblemError::Json(format!("format is {:?}, expected {FORMAT:?}", file.format)));
        }
        let n = file.unknowns;
        if n > MAX_UNKNOWNS || file.f.len() != n {
            return Err(ProblemError::Size { what: "f", found: file.f.len(), expected: n });
        }
        let mut pattern = Pattern::new(n);
        for (k, &(i, j, v)) in file.matrix.iter().enumerate() {
            if i >= n || j >= n {
                return Err(ProblemError::Index { what: "matrix", index: i.max(j), size: n });
            }
            if !v.is_finite() {
                return Err(ProblemError::NotFinite { what: "matrix", index: k });
            }
            pattern.couple(&[i, j]);
        }
        let mut p = FullProblem::new(&pattern);
        for &(i, j, v) in &file.matrix {
            p.matrix.add(i, j, v);
        }
        p.f = file.f;
        let mut rows = 0;
        for (k, block) in file.blocks.into_iter().enumerate() {
            block.set.validate().map_err(|source| ProblemError::Set { block: k, source })?;
            let d = block.set.dim();
            rows += d;
            let sized = |what, found, expected| {
                if found == expected { Ok(()) } else { Err(ProblemError::Size { what, found, expected }) }
            };
            sized("c of a block", block.c.len(), d)?;
            sized("w of a block", block.w.len(), d * block.dofs.len())?;
            if let Some(index) = block.dofs.iter().map(|&i| i as usize).find(|&i| i >= n) {
                return Err(ProblemError::Index { what: "dofs of a block", index, size: n });
            }
            p.push_block(block.set, &block.dofs, &block.c).copy_from_slice(&block.w);
        }
        let finite = |what, v: &[f64]| match v.iter().position(|x| !x.is_finite()) {
            Some(index) => Err(ProblemError::NotFinite { what, index }),
            None => Ok(()),
        };
        finite("f", &p.f)?;
        finite("c", &p.c)?;
        finite("w", &p.coupling.values)?;
        finite("guess", &file.guess)?;
        if !file.guess.is_empty() && file.guess.len() != rows {
            return Err(ProblemError::Size { what: "guess", found: file.guess.len(), expected: rows });
        }
        Ok((p, if file.guess.is_empty() { vec![0.0; rows] } else { file.guess }))
    }
}

const _: () = assert!(MAX_DIM >= 4);
