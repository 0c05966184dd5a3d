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
//! With a diagonal M̂ (bodies in their centres of mass), A is kept by its parts W and M̂⁻¹; with a block-diagonal one it is
//! kept block-sparse: two blocks couple only if they touch a common component. Otherwise A is dense, which is meant for few blocks on many unknowns.

use crate::capacity;
use crate::coupling::Coupling;
use crate::gram::{Gram, MAX_BLOCK};
use crate::linear::{Matrix, Pattern, Singular};
use crate::problem::{Block, BlockSparse, Measure, Problem, ProblemError, ReducedMatrix};
use crate::sets::{BlockMode, MAX_DIM, Set};
use crate::solver::{Options, Report, Solver, Status};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The one-step problem in full form. See the [module](self).
#[derive(Debug, Clone)]
pub struct FullProblem {
    /// Iteration matrix M̂ (kg).
    pub matrix: Matrix,
    /// Right-hand side f (N·s).
    pub f: Vec<f64>,
    /// Velocity offsets c (m/s), block after block.
    pub c: Vec<f64>,
    coupling: Arc<Coupling>,
    reduction: Reduction,
    /// Scratch.
    column: Vec<f64>,
}

/// What the elimination of v leaves behind for the way back.
#[derive(Debug, Clone, Default)]
struct Reduction {
    /// Its blocks are those of the full problem at all times.
    problem: Problem,
    v_free: Vec<f64>,
    /// M̂⁻¹W, one stretch per row of the problem (over all unknowns, or over the touched components); nothing for a diagonal
    /// kernel.
    columns: Vec<f64>,
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
    /// An empty problem over a matrix of this pattern. The residual of its reduced form is measured by compliances, as a step of a simulation wants it.
    pub fn new(pattern: &Pattern) -> Self {
        Self {
            matrix: Matrix::new(pattern),
            f: vec![0.0; pattern.size()],
            c: Vec::new(),
            coupling: Arc::default(),
            reduction: Reduction { problem: Problem::default().measured(Measure::Compliance), ..Reduction::default() },
            column: Vec::new(),
        }
    }

    /// The same problem, with the residual of its reduced form in these units.
    pub fn measured(mut self, measure: Measure) -> Self {
        self.reduction.problem.set_measure(measure);
        self
    }

    /// Force directions W.
    #[inline]
    pub fn coupling(&self) -> &Coupling {
        &self.coupling
    }

    /// The blocks in order.
    #[inline]
    pub fn blocks(&self) -> &[Block] {
        self.reduction.problem.blocks()
    }

    /// Forgets what was made of the blocks, so that they can change in place.
    fn blocks_mut(&mut self) -> &mut Coupling {
        self.reduction.made_for = None;
        if let ReducedMatrix::Gram(g) = &mut self.reduction.problem.matrix {
            g.release();
        }
        Arc::make_mut(&mut self.coupling)
    }

    /// Removes all blocks, keeping matrix, right-hand side and memory.
    pub fn clear_blocks(&mut self) {
        self.blocks_mut().clear();
        self.reduction.problem.clear_blocks();
        self.c.clear();
    }

    /// Makes room for blocks, their rows, their unknowns and the values of their rows in all.
    pub fn reserve_blocks(&mut self, blocks: usize, rows: usize, dofs: usize, values: usize) {
        self.blocks_mut().reserve(blocks, dofs, values);
        self.reduction.problem.reserve(blocks, rows);
        capacity::reserve(&mut self.c, rows);
    }

    /// An error where a block of `dim` rows over so many unknowns is more than [`Coupling`] can number.
    pub(crate) fn check_room(&self, dim: usize, dofs: usize) -> Result<(), ProblemError> {
        if self.coupling.fits(dim, dofs) {
            return Ok(());
        }
        let index = self.coupling.all_values().len().saturating_add(dim.saturating_mul(dofs));
        Err(ProblemError::Index { what: "values of W", index, size: u32::MAX as usize })
    }

    /// Appends a block; `velocity` is its part of c. Returns the rows of Wᵀ, to be filled. The limits of [`Coupling`] are the
    /// caller's to keep.
    pub fn push_block(&mut self, set: Set, dofs: &[u32], velocity: &[f64]) -> &mut [f64] {
        let dim = set.dim();
        debug_assert_eq!(dim, velocity.len());
        self.reduction.problem.push_block(set);
        self.c.extend_from_slice(velocity);
        self.blocks_mut().push(dim, dofs)
    }

    /// Replaces the set of block `i` by one of the same dimension. The matrices stay as they are.
    pub fn replace_set(&mut self, i: usize, set: Set) {
        debug_assert_eq!(set.dim(), self.blocks()[i].set.dim());
        self.reduction.problem.replace_set(i, set);
    }

    /// The reduced form of the last [`FullProblem::reduce`] or [`FullProblem::solve`].
    #[inline]
    pub fn reduced(&self) -> &Problem {
        &self.reduction.problem
    }

    /// The modes of block `i` at its part (r_i, u_i) of a solution. The blocks may have been made anew since the last reduction, as
    /// long as there are as many of the same sizes: a scheme evaluates its rows at the end of a step once more.
    #[inline]
    pub fn mode(&self, i: usize, r: &[f64], u: &[f64]) -> BlockMode {
        let a = match &self.reduction.problem.matrix {
            ReducedMatrix::Gram(g) => g.diagonal_of(&self.coupling, i, 0, 0),
            _ => self.reduction.problem.first_diagonal(i),
        };
        self.blocks()[i].mode(a, r, u)
    }

    /// Velocity without percussions, M̂⁻¹ f, of the last reduction.
    #[inline]
    pub fn free_velocity(&self) -> &[f64] {
        &self.reduction.v_free
    }

    /// The velocity without percussions, M̂⁻¹ f, whatever the blocks are.
    pub fn free(&mut self) -> Result<&[f64], Singular> {
        self.matrix.factor()?;
        capacity::assign(&mut self.reduction.v_free, &self.f);
        self.matrix.solve(&mut self.reduction.v_free);
        Ok(&self.reduction.v_free)
    }

    /// Eliminates v.
    pub fn reduce(&mut self) -> Result<&Problem, Singular> {
        self.free()?;
        let n = self.matrix.size();
        let red = &mut self.reduction;
        capacity::assign(&mut red.problem.b, &self.c);
        for i in 0..self.coupling.len() {
            let (s, d) = (red.problem.blocks()[i].start, self.coupling.dim(i));
            self.coupling.add_velocity(i, &red.v_free, &mut red.problem.b[s..s + d]);
        }
        // The same blocks and the same factors: only b is new.
        if red.made_for == Some(self.matrix.revision()) {
            return Ok(&self.reduction.problem);
        }
        red.made_for = Some(self.matrix.revision());
        if self.matrix.as_diagonal().is_some_and(|m| m.iter().all(|&d| d > 0.0)) {
            self.reduce_diagonal();
            return Ok(&self.reduction.problem);
        }
        if self.matrix.as_block_diagonal().is_some() {
            if !self.reduce_small_blocks() {
                self.reduce_block_diagonal();
            }
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
        for j in 0..self.coupling.len() {
            let (dofs, values) = (self.coupling.dofs(j), self.coupling.values(j));
            for k in 0..self.coupling.dim(j) {
                let column = &mut red.columns[col * n..(col + 1) * n];
                for (&i, w) in dofs.iter().zip(&values[k * dofs.len()..]) {
                    column[i as usize] += w;
                }
                self.matrix.solve(column);
                let mut row = 0;
                for i in 0..self.coupling.len() {
                    let (dofs, values) = (self.coupling.dofs(i), self.coupling.values(i));
                    for p in 0..self.coupling.dim(i) {
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

    /// A = Wᵀ M̂⁻¹ W by its parts.
    fn reduce_diagonal(&mut self) {
        let Some(m) = self.matrix.as_diagonal() else { return };
        let red = &mut self.reduction;
        if !matches!(red.problem.matrix, ReducedMatrix::Gram(_)) {
            red.problem.matrix = ReducedMatrix::Gram(Gram::default());
        }
        let ReducedMatrix::Gram(g) = &mut red.problem.matrix else { return };
        g.set(&self.coupling, m);
    }

    /// The same where M̂ has blocks of three at most and every block of W touches all of those that it touches at all. False elsewhere.
    fn reduce_small_blocks(&mut self) -> bool {
        let Some(m) = self.matrix.as_block_diagonal() else { return false };
        let red = &mut self.reduction;
        if m.largest() > MAX_BLOCK {
            return false;
        }
        if !matches!(red.problem.matrix, ReducedMatrix::Gram(_)) {
            red.problem.matrix = ReducedMatrix::Gram(Gram::default());
        }
        let ReducedMatrix::Gram(g) = &mut red.problem.matrix else { return false };
        g.set_blocks(&self.coupling, m)
    }

    fn reduce_block_diagonal(&mut self) {
        let Some(m) = self.matrix.as_block_diagonal() else { return };
        let red = &mut self.reduction;
        let blocks = self.coupling.len();
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
            for k in 0..self.coupling.dim(j) {
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
        for i in 0..blocks {
            a.start.push(a.start[i] + self.coupling.dim(i));
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
                for p in 0..self.coupling.dim(i) {
                    for k in 0..self.coupling.dim(j) {
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
        a.settle();
    }

    /// The reduced problem for velocities u = Gᵀv + c whose rows Gᵀ are not those of the force directions: A = GᵀM̂⁻¹W, dense, and
    /// b = Gᵀ M̂⁻¹f + c, into `out`. `rows` holds Gᵀ, block after block, each over the unknowns of its block.
    pub fn reduce_onto(&mut self, rows: &[f64], out: &mut Problem) -> Result<(), Singular> {
        self.matrix.factor()?;
        debug_assert_eq!(rows.len(), self.coupling.all_values().len());
        out.clone_blocks(&self.reduction.problem);
        if !matches!(out.matrix, ReducedMatrix::Dense(_)) {
            out.matrix = ReducedMatrix::default();
        }
        let ReducedMatrix::Dense(a) = &mut out.matrix else { return Ok(()) };
        let size = self.c.len();
        a.reset(size, size);
        // Every column of M̂⁻¹W in turn; of a diagonal M̂ it has the places of W alone.
        let diagonal = self.matrix.as_diagonal();
        self.column.clear();
        self.column.resize(self.matrix.size(), 0.0);
        let mut col = 0;
        for j in 0..self.coupling.len() {
            let dofs = self.coupling.dofs(j);
            for k in 0..self.coupling.dim(j) {
                for (&i, w) in dofs.iter().zip(self.coupling.row(j, k)) {
                    self.column[i as usize] += diagonal.map_or(*w, |m| w / m[i as usize]);
                }
                if diagonal.is_none() {
                    self.matrix.solve(&mut self.column);
                }
                onto(&self.coupling, rows, &self.column, |row, s| a[(row, col)] = s);
                if diagonal.is_none() {
                    self.column.fill(0.0);
                } else {
                    dofs.iter().for_each(|&i| self.column[i as usize] = 0.0);
                }
                col += 1;
            }
        }
        self.free_onto(rows, out);
        Ok(())
    }

    /// b of [`FullProblem::reduce_onto`] alone, where M̂, W and Gᵀ are those of the last time, and f or c are not.
    pub fn free_onto(&mut self, rows: &[f64], out: &mut Problem) {
        let free = &mut self.reduction.v_free;
        capacity::assign(free, &self.f);
        self.matrix.solve(free);
        capacity::assign(&mut out.b, &self.c);
        onto(&self.coupling, rows, free, |row, s| out.b[row] += s);
    }

    /// v = M̂⁻¹ (f + W r), by a solve of its own: whatever was reduced last.
    pub fn velocity(&self, r: &[f64], v: &mut [f64]) {
        v.copy_from_slice(&self.f);
        for (i, block) in self.blocks().iter().enumerate() {
            self.coupling.add_force(i, &r[block.start..block.start + self.coupling.dim(i)], v);
        }
        self.matrix.solve(v);
    }

    /// v = M̂⁻¹ (f + W r), with the columns of the last reduction.
    pub fn recover(&mut self, r: &[f64], v: &mut [f64]) {
        let red = &mut self.reduction;
        v.copy_from_slice(&red.v_free);
        if let ReducedMatrix::Gram(g) = &red.problem.matrix {
            g.add_combined(r, v);
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
        for j in 0..self.coupling.len() {
            let touched = &red.components[red.component_start[j]..red.component_start[j + 1]];
            let mut at = red.column_start[j];
            for _ in 0..self.coupling.dim(j) {
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
        let report = if self.coupling.is_empty() {
            Report::trivial(solver.info().name)
        } else {
            solver.solve(&self.reduction.problem, r, options)
        };
        self.recover(r, v);
        report
    }
}

/// Every row of Gᵀ, block after block over the unknowns of its block, times v.
fn onto(coupling: &Coupling, mut rows: &[f64], v: &[f64], mut take: impl FnMut(usize, f64)) {
    let mut row = 0;
    for i in 0..coupling.len() {
        let dofs = coupling.dofs(i);
        for _ in 0..coupling.dim(i) {
            let (g, rest) = rows.split_at(dofs.len());
            take(row, dofs.iter().zip(g).map(|(&l, g)| g * v[l as usize]).sum());
            (rows, row) = (rest, row + 1);
        }
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
        let blocks = self.blocks().iter().enumerate();
        let blocks = blocks
            .map(|(i, block)| FullBlockFile {
                name: names.get(i).cloned().unwrap_or_default(),
                set: block.set.clone(),
                dofs: self.coupling.dofs(i).to_vec(),
                w: self.coupling.values(i).to_vec(),
                c: self.c[block.start..][..block.set.dim()].to_vec(),
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
        let mut p = FullProblem::new(&pattern).measured(Measure::Unit);
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
            p.check_room(d, block.dofs.len())?;
            p.push_block(block.set, &block.dofs, &block.c).copy_from_slice(&block.w);
        }
        let finite = |what, v: &[f64]| match v.iter().position(|x| !x.is_finite()) {
            Some(index) => Err(ProblemError::NotFinite { what, index }),
            None => Ok(()),
        };
        finite("f", &p.f)?;
        finite("c", &p.c)?;
        finite("w", p.coupling.all_values())?;
        finite("guess", &file.guess)?;
        if !file.guess.is_empty() && file.guess.len() != rows {
            return Err(ProblemError::Size { what: "guess", found: file.guess.len(), expected: rows });
        }
        Ok((p, if file.guess.is_empty() { vec![0.0; rows] } else { file.guess }))
    }
}

const _: () = assert!(MAX_DIM >= 4);
