//! The one-step problem in reduced form, and the one definition of "solved".
//!
//! ```text
//! u = A r + b,    −û_i ∈ N_{C_i}(r_i)   for every block i
//! ```
//!
//! A is any square matrix (it need not be WᵀM̂⁻¹W, nor symmetric), r are percussions, u velocities,
//! C_i the block's [`Set`] and û_i its modified velocity. LCP, mixed LCP, box and friction problems
//! are all of this form.
//!
//! **Solved** means [`Problem::residual`] ≤ tolerance. With the natural map of a block in units of velocity,
//!
//! ```text
//! f_i = D_i ( r_i − proj_C( r_i − û_i/D_i ) ),
//! residual² = Σ_i |f_i|²/D_i  /  Σ_i |b_i|²/D_i        (not divided where b = 0) .
//! ```
//!
//! [`Measure`] says what D_i is:
//!
//! - `Compliance`, for steps of a simulation: D_i = A_ii, the velocity that a unit of percussion makes (of a contact: A_NN; of bilateral rows: each its own).
//!   Then |f_i|²/D_i is an energy, and the residual has no unit: it is the same in grams and tonnes, in millimetres and kilometres, and rows in
//!   m/s and rad/s may stand side by side.
//! - `Unit`, for problems from files: D_i = 1. This is the natural map of an LCP, and for friction the error measure
//!   ‖r − P_K(r − (u + μ‖u_T‖ n))‖/‖q‖ of \[AcaryBremondHuber2018\], with which other codes are compared.

pub use crate::block_sparse::BlockSparse;
use crate::capacity;
use crate::gram::Gram;
use crate::linear::{Dense, dense};
use crate::sets::{BlockMode, MAX_DIM, Set, SetError};
use serde::{Deserialize, Serialize};

/// One block of a problem.
#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    /// Where r_i lives.
    pub set: Set,
    /// First row of the block.
    pub start: usize,
}

impl Block {
    /// Its modes at its part (r_i, u_i) of a solution, with ρ = 1/A_NN.
    #[inline]
    pub(crate) fn mode(&self, a_nn: f64, r: &[f64], u: &[f64]) -> BlockMode {
        self.set.mode(r, u, if a_nn > 0.0 { 1.0 / a_nn } else { 1.0 })
    }
}

/// In which units the residual of a problem is measured. See the [module](self).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Measure {
    /// In those of r and u as they are.
    #[default]
    Unit,
    /// In natural ones, from the diagonal of A.
    Compliance,
}

/// The matrix A of a reduced problem.
#[derive(Debug, Clone, PartialEq)]
pub enum ReducedMatrix {
    /// All entries.
    Dense(Dense),
    /// Only coupled blocks.
    BlockSparse(BlockSparse),
    /// A = Wᵀ D W, by its parts.
    Gram(Gram),
}

impl Default for ReducedMatrix {
    fn default() -> Self {
        ReducedMatrix::Dense(Dense::default())
    }
}

/// The one-step problem in reduced form. See the [module](self).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Problem {
    blocks: Vec<Block>,
    pub(crate) matrix: ReducedMatrix,
    pub(crate) b: Vec<f64>,
    pub(crate) measure: Measure,
}

/// Input that does not describe a problem.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ProblemError {
    /// Sizes that do not fit together.
    #[error("inconsistent sizes: {what} has {found}, expected {expected}")]
    Size {
        /// Which part.
        what: &'static str,
        /// Its size.
        found: usize,
        /// The size that fits the rest.
        expected: usize,
    },
    /// A set with impossible parameters.
    #[error("block {block}: {source}")]
    Set {
        /// Which block.
        block: usize,
        /// What is wrong.
        source: SetError,
    },
    /// An entry that is NaN or infinite.
    #[error("{what}[{index}] is not finite")]
    NotFinite {
        /// Which array.
        what: &'static str,
        /// Which entry, row by row.
        index: usize,
    },
    /// An index that points outside the problem.
    #[error("{what}: index {index} is out of range (size {size})")]
    Index {
        /// Which array.
        what: &'static str,
        /// The index.
        index: usize,
        /// What it indexes.
        size: usize,
    },
    /// The file is not a problem in our JSON form.
    #[error("not a problem file: {0}")]
    Json(String),
}

impl Problem {
    /// A dense problem. Checks sizes, sets and finiteness.
    pub fn dense(sets: Vec<Set>, a: Dense, b: Vec<f64>) -> Result<Self, ProblemError> {
        let mut p = Problem { matrix: ReducedMatrix::Dense(a), b, ..Default::default() };
        for set in sets {
            p.push_block(set);
        }
        p.validate()?;
        Ok(p)
    }

    /// The same problem with its residual in these units.
    pub fn measured(mut self, measure: Measure) -> Self {
        self.measure = measure;
        self
    }

    /// In which units its residual is measured.
    #[inline]
    pub fn measure(&self) -> Measure {
        self.measure
    }

    /// Measures the residual in these units.
    pub fn set_measure(&mut self, measure: Measure) {
        self.measure = measure;
    }

    /// A linear complementarity problem 0 ≤ u = A r + b ⊥ r ≥ 0.
    pub fn lcp(a: Dense, b: Vec<f64>) -> Result<Self, ProblemError> {
        let n = b.len();
        Self::dense(vec![Set::NonNegative; n], a, b)
    }

    /// Becomes another dense problem, keeping the memory: `fill` writes A (zero before) and b. What it writes is not checked.
    pub fn refill(&mut self, sets: impl IntoIterator<Item = Set>, fill: impl FnOnce(&mut Dense, &mut [f64])) {
        self.blocks.clear();
        sets.into_iter().for_each(|set| self.push_block(set));
        let n = self.size();
        self.b.clear();
        self.b.resize(n, 0.0);
        if !matches!(self.matrix, ReducedMatrix::Dense(_)) {
            self.matrix = ReducedMatrix::default();
        }
        if let ReducedMatrix::Dense(a) = &mut self.matrix {
            a.reset(n, n);
            fill(a, &mut self.b);
        }
    }

    pub(crate) fn clear_blocks(&mut self) {
        self.blocks.clear();
    }

    /// Takes the blocks of another problem, keeping the memory.
    pub(crate) fn clone_blocks(&mut self, other: &Problem) {
        self.measure = other.measure;
        if self.blocks != other.blocks {
            self.blocks.clone_from(&other.blocks);
        }
    }

    /// Replaces the set of block `i` by one of the same dimension.
    pub(crate) fn replace_set(&mut self, i: usize, set: Set) {
        self.blocks[i].set = set;
    }

    /// Makes room for blocks and their rows.
    pub(crate) fn reserve(&mut self, blocks: usize, rows: usize) {
        capacity::reserve(&mut self.blocks, blocks);
        capacity::reserve(&mut self.b, rows);
    }

    /// The same problem with a dense matrix.
    pub(crate) fn densify(&self, out: &mut Problem) {
        out.measure = self.measure;
        out.blocks.clone_from(&self.blocks);
        out.b.clone_from(&self.b);
        if !matches!(out.matrix, ReducedMatrix::Dense(_)) {
            out.matrix = ReducedMatrix::default();
        }
        let ReducedMatrix::Dense(m) = &mut out.matrix else { return };
        match &self.matrix {
            ReducedMatrix::Dense(a) => m.copy_from(a),
            ReducedMatrix::BlockSparse(a) => {
                m.reset(self.size(), self.size());
                for i in 0..self.blocks.len() {
                    for k in a.row[i]..a.row[i + 1] {
                        let (d, e, v) = a.block(k, i);
                        let column = a.start[a.column[k]];
                        for p in 0..d {
                            m.row_mut(a.start[i] + p)[column..column + e].copy_from_slice(&v[p * e..(p + 1) * e]);
                        }
                    }
                }
            }
            ReducedMatrix::Gram(g) => g.densify(m),
        }
    }

    /// The same problem with its coupled blocks one by one, if it is not stored so or dense.
    pub(crate) fn expand(&self, out: &mut Problem) {
        out.measure = self.measure;
        out.blocks.clone_from(&self.blocks);
        out.b.clone_from(&self.b);
        match &self.matrix {
            ReducedMatrix::Gram(g) => {
                if !matches!(out.matrix, ReducedMatrix::BlockSparse(_)) {
                    out.matrix = ReducedMatrix::BlockSparse(BlockSparse::default());
                }
                if let ReducedMatrix::BlockSparse(a) = &mut out.matrix {
                    g.expand(a);
                }
            }
            other => out.matrix.clone_from(other),
        }
    }

    /// A block that no percussion can satisfy: it has no compliance (its rows of A vanish) and its velocity is
    /// forbidden.
    pub fn infeasible_block(&self) -> Option<usize> {
        let vanishes = |i: usize, k: usize| match &self.matrix {
            ReducedMatrix::Dense(a) => a.row(self.blocks[i].start + k).iter().all(|&v| v == 0.0),
            ReducedMatrix::BlockSparse(a) => (a.row[i]..a.row[i + 1]).all(|m| {
                let (_, e, v) = a.block(m, i);
                v[k * e..(k + 1) * e].iter().all(|&v| v == 0.0)
            }),
            ReducedMatrix::Gram(g) => g.coupling().row(i, k).iter().all(|&v| v == 0.0),
        };
        (0..self.blocks.len()).find(|&i| {
            let b = &self.b[self.blocks[i].start..];
            match &self.blocks[i].set {
                Set::Free { dim } => (0..*dim).any(|k| b[k] != 0.0 && vanishes(i, k)),
                Set::NonNegative | Set::Coulomb { .. } | Set::Polyhedral { .. } => b[0] < 0.0 && vanishes(i, 0),
                Set::Interval { lower, upper } => {
                    let open = (b[0] > 0.0 && *lower == f64::NEG_INFINITY) || (b[0] < 0.0 && *upper == f64::INFINITY);
                    open && vanishes(i, 0)
                }
                Set::Ball { .. } => false,
            }
        })
    }

    pub(crate) fn push_block(&mut self, set: Set) {
        let start = self.size();
        self.blocks.push(Block { set, start });
    }

    /// The blocks in order.
    #[inline]
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// Number of rows.
    #[inline]
    pub fn size(&self) -> usize {
        self.blocks.last().map_or(0, |b| b.start.saturating_add(b.set.dim()))
    }

    /// The matrix A.
    #[inline]
    pub fn matrix(&self) -> &ReducedMatrix {
        &self.matrix
    }

    /// The vector b (m/s).
    #[inline]
    pub fn b(&self) -> &[f64] {
        &self.b
    }

    /// A as dense matrix, if it is stored so.
    pub fn as_dense(&self) -> Option<&Dense> {
        match &self.matrix {
            ReducedMatrix::Dense(a) => Some(a),
            ReducedMatrix::BlockSparse(_) | ReducedMatrix::Gram(_) => None,
        }
    }

    /// Checks sizes, sets, indices and finiteness.
    pub fn validate(&self) -> Result<(), ProblemError> {
        for (i, block) in self.blocks.iter().enumerate() {
            block.set.validate().map_err(|source| ProblemError::Set { block: i, source })?;
        }
        let n = self.size();
        let size = |what, found, expected| {
            if found == expected { Ok(()) } else { Err(ProblemError::Size { what, found, expected }) }
        };
        size("b", self.b.len(), n)?;
        let values = match &self.matrix {
            ReducedMatrix::Dense(a) => {
                size("rows of A", a.rows(), n)?;
                size("columns of A", a.cols(), n)?;
                a.data()
            }
            ReducedMatrix::BlockSparse(a) => {
                a.validate(&self.blocks)?;
                &a.values
            }
            ReducedMatrix::Gram(g) => {
                let w = g.coupling();
                size("blocks of W", w.len(), self.blocks.len())?;
                for i in 0..self.blocks.len() {
                    size("rows of a block of W", w.dim(i), self.blocks[i].set.dim())?;
                }
                w.all_values()
            }
        };
        let finite = |what, v: &[f64]| match v.iter().position(|x| !x.is_finite()) {
            Some(index) => Err(ProblemError::NotFinite { what, index }),
            None => Ok(()),
        };
        finite("b", &self.b)?;
        finite("A", values)
    }

    /// u = A r + b.
    pub fn velocity(&self, r: &[f64], u: &mut [f64]) {
        match &self.matrix {
            ReducedMatrix::Dense(a) => {
                for (i, u) in u.iter_mut().enumerate() {
                    *u = self.b[i] + dense::dot(a.row(i), r);
                }
            }
            ReducedMatrix::Gram(g) => {
                u.copy_from_slice(&self.b);
                g.add_product(r, u);
            }
            ReducedMatrix::BlockSparse(a) => {
                u.copy_from_slice(&self.b);
                for i in 0..self.blocks.len() {
                    a.add_row(i, r, &mut u[self.blocks[i].start..]);
                }
            }
        }
    }

    /// The first diagonal entry of block `i`: A_NN of a contact.
    #[inline]
    pub(crate) fn first_diagonal(&self, i: usize) -> f64 {
        match &self.matrix {
            ReducedMatrix::Dense(a) => a[(self.blocks[i].start, self.blocks[i].start)],
            ReducedMatrix::BlockSparse(a) => a.diagonal(i).first().copied().unwrap_or(0.0),
            ReducedMatrix::Gram(g) => g.diagonal(i, 0, 0),
        }
    }

    /// Copies the diagonal block A_ii, row by row.
    #[inline]
    pub fn diagonal_block(&self, i: usize, out: &mut [f64]) {
        let (s, d) = (self.blocks[i].start, self.blocks[i].set.dim());
        match &self.matrix {
            ReducedMatrix::Dense(a) => {
                for k in 0..d {
                    out[k * d..(k + 1) * d].copy_from_slice(&a.row(s + k)[s..s + d]);
                }
            }
            ReducedMatrix::BlockSparse(a) => {
                let own = a.diagonal(i);
                out[..own.len()].copy_from_slice(own);
            }
            ReducedMatrix::Gram(g) => {
                for p in 0..d {
                    for q in 0..d {
                        out[p * d + q] = g.diagonal(i, p, q);
                    }
                }
            }
        }
    }

    /// The mean of the diagonal of A of every block, in `means`: the metric of proximal and gradient steps. A block without compliance of its own takes
    /// the mean of the others.
    pub(crate) fn mean_diagonals(&self, means: &mut Vec<f64>) {
        means.clear();
        for (i, block) in self.blocks.iter().enumerate() {
            let (d, mut a) = (block.set.dim(), [0.0; MAX_DIM * MAX_DIM]);
            self.diagonal_block(i, &mut a);
            means.push((0..d).map(|k| a[k * d + k].abs()).sum::<f64>() / d as f64);
        }
        let mean = means.iter().sum::<f64>() / means.len().max(1) as f64;
        let mean = if mean > 0.0 { mean } else { 1.0 };
        means.iter_mut().filter(|d| !(**d > 0.0)).for_each(|d| *d = mean);
    }

    /// The compliance of row `k` of block `i`: A_kk of bilateral rows and of a bound, A_NN of a contact. Rows without one are measured by the
    /// mean of the others.
    pub(crate) fn compliance(&self, i: usize, k: usize) -> f64 {
        let block = &self.blocks[i];
        let k = if block.set.is_friction() { 0 } else { k };
        let own = match &self.matrix {
            ReducedMatrix::Dense(a) => a[(block.start + k, block.start + k)],
            ReducedMatrix::BlockSparse(a) => a.diagonal(i).get(k * (block.set.dim() + 1)).copied().unwrap_or(0.0),
            ReducedMatrix::Gram(g) => g.diagonal(i, k, k),
        };
        if own > 0.0 { own } else { self.mean_compliance() }
    }

    /// The velocity that a residual of one may leave at a block, m/s.
    pub fn velocity_scale(&self) -> f64 {
        let roots = (0..self.blocks.len()).map(|i| self.root_compliance(i));
        self.scale() * roots.fold(0.0, f64::max)
    }

    /// √D of block `i`: velocities divided by it, and percussions times it, are in the units of the residual.
    #[inline]
    pub(crate) fn root_compliance(&self, i: usize) -> f64 {
        match self.measure {
            Measure::Unit => 1.0,
            Measure::Compliance => self.compliance(i, 0).sqrt(),
        }
    }

    /// Mean of the diagonal of A over the rows that have compliance; 1 if none has.
    #[cold]
    pub(crate) fn mean_compliance(&self) -> f64 {
        let (mut sum, mut count, mut a) = (0.0, 0.0, [0.0; MAX_DIM * MAX_DIM]);
        for (i, block) in self.blocks.iter().enumerate() {
            let d = block.set.dim();
            self.diagonal_block(i, &mut a);
            for own in (0..d).map(|k| a[k * (d + 1)]).filter(|v| *v > 0.0) {
                (sum, count) = (sum + own, count + 1.0);
            }
        }
        if count > 0.0 { sum / count } else { 1.0 }
    }

    /// The residual that decides "solved". `u` receives A r + b.
    pub fn residual(&self, r: &[f64], u: &mut [f64]) -> f64 {
        self.velocity(r, u);
        self.residual_at(r, u)
    }

    /// The residual of percussions r with velocities u, whatever these come from.
    pub(crate) fn residual_at(&self, r: &[f64], u: &[f64]) -> f64 {
        self.residual_of(r, |block| {
            let mut own = [0.0; MAX_DIM];
            let (s, d) = (self.blocks[block].start, self.blocks[block].set.dim());
            own[..d].copy_from_slice(&u[s..s + d]);
            own
        })
    }

    /// The residual from the velocities of single blocks.
    fn residual_of(&self, r: &[f64], velocity: impl Fn(usize) -> [f64; MAX_DIM]) -> f64 {
        let mut sum = 0.0;
        for (i, block) in self.blocks.iter().enumerate() {
            let (s, d) = (block.start, block.set.dim());
            sum += self.block_error(i, &r[s..s + d], &velocity(i)[..d]);
        }
        sum.sqrt() / self.scale()
    }

    /// |f_i|²/D_i of a block.
    #[inline]
    pub(crate) fn block_error(&self, i: usize, r: &[f64], u: &[f64]) -> f64 {
        match (&self.blocks[i].set, self.measure) {
            (Set::Free { .. }, Measure::Compliance) => self.bilateral_size(i, u),
            (set, Measure::Compliance) => block_error(set, self.compliance(i, 0), r, u),
            (set, Measure::Unit) => block_error(set, 1.0, r, u),
        }
    }

    /// Σ u_k²/D_k over the rows of a bilateral block.
    fn bilateral_size(&self, i: usize, u: &[f64]) -> f64 {
        u.iter().enumerate().map(|(k, u)| u * u / self.compliance(i, k)).sum()
    }

    /// What the residual is relative to: √(Σ |b_i|²/D_i), or 1 where b = 0.
    pub(crate) fn scale(&self) -> f64 {
        let sum: f64 = match self.measure {
            Measure::Unit => dense::dot(&self.b, &self.b),
            Measure::Compliance => (self.blocks.iter().enumerate())
                .map(|(i, block)| {
                    let b = &self.b[block.start..block.start + block.set.dim()];
                    match block.set {
                        Set::Free { .. } => self.bilateral_size(i, b),
                        _ => dense::dot(b, b) / self.compliance(i, 0),
                    }
                })
                .sum(),
        };
        if sum > 0.0 { sum.sqrt() } else { 1.0 }
    }

    /// The modes of block `i` at its part (r_i, u_i) of a solution, with ρ = 1/A_NN of the block.
    #[inline]
    pub fn mode(&self, i: usize, r: &[f64], u: &[f64]) -> BlockMode {
        self.blocks[i].mode(self.first_diagonal(i), r, u)
    }

    /// The modes of all blocks at a solution (r, u). See [`Problem::mode`].
    pub fn modes(&self, r: &[f64], u: &[f64], modes: &mut Vec<BlockMode>) {
        modes.clear();
        modes.extend(self.blocks.iter().enumerate().map(|(i, block)| {
            let rows = block.start..block.start + block.set.dim();
            self.mode(i, &r[rows.clone()], &u[rows])
        }));
    }
}

/// |f|²/D of a block with the percussions r and the velocities u.
#[inline]
pub(crate) fn block_error(set: &Set, d: f64, r: &[f64], u: &[f64]) -> f64 {
    let (mut x, mut f) = ([0.0; MAX_DIM], [0.0; MAX_DIM]);
    for (x, r) in x.iter_mut().zip(r) {
        *x = d * r;
    }
    set.natural_map_scaled(d, &x[..r.len()], u, &mut f);
    dense::dot(&f[..r.len()], &f[..r.len()]) / d
}

/// Velocities of single blocks while percussions change block by block.
#[derive(Debug, Default, Clone)]
pub(crate) struct Relative {
    /// D W r of a problem in Gram form.
    pub(crate) y: Vec<f64>,
}

impl Relative {
    /// Begins at r.
    pub(crate) fn begin(&mut self, problem: &Problem, r: &[f64]) {
        if let ReducedMatrix::Gram(g) = &problem.matrix {
            g.combine(r, &mut self.y);
        }
    }

    /// Begins at r; the residual there.
    pub(crate) fn residual(&mut self, problem: &Problem, r: &[f64]) -> f64 {
        self.begin(problem, r);
        problem.residual_of(r, |i| {
            let mut u = [0.0; MAX_DIM];
            self.velocity(problem, i, r, &mut u);
            u
        })
    }

    /// u_i = (A r + b)_i of one block.
    #[inline(always)]
    pub(crate) fn velocity(&self, problem: &Problem, i: usize, r: &[f64], u: &mut [f64]) {
        let (s, d) = (problem.blocks[i].start, problem.blocks[i].set.dim());
        u[..d].copy_from_slice(&problem.b[s..s + d]);
        match &problem.matrix {
            ReducedMatrix::Dense(a) => {
                for k in 0..d {
                    u[k] += dense::dot(a.row(s + k), r);
                }
            }
            ReducedMatrix::BlockSparse(a) => a.add_row(i, r, u),
            ReducedMatrix::Gram(g) => g.add_velocity(i, &self.y, &mut u[..d]),
        }
    }

    /// Takes note that the percussion of block i changed by `change`.
    #[inline(always)]
    pub(crate) fn change(&mut self, problem: &Problem, i: usize, change: &[f64]) {
        if let ReducedMatrix::Gram(g) = &problem.matrix {
            g.add_force(i, change, &mut self.y);
        }
    }
}

/// JSON form of a reduced problem.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ProblemFile {
    format: String,
    sets: Vec<Set>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    dense: Option<Vec<f64>>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    blocks: Option<Vec<BlockFile>>,
    b: Vec<f64>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct BlockFile {
    row: usize,
    column: usize,
    values: Vec<f64>,
}

pub(crate) const FORMAT: &str = "nonsmooth reduced problem 1";

impl Problem {
    /// The problem as JSON text; [`Problem::from_json`] gives back the same bits.
    pub fn to_json(&self) -> String {
        let (dense, blocks) = match &self.matrix {
            ReducedMatrix::Gram(_) => {
                let mut expanded = Problem::default();
                self.expand(&mut expanded);
                return expanded.to_json();
            }
            ReducedMatrix::Dense(a) => (Some(a.data().to_vec()), None),
            ReducedMatrix::BlockSparse(a) => {
                let mut blocks = Vec::new();
                for i in 0..self.blocks.len() {
                    for k in a.row[i]..a.row[i + 1] {
                        blocks.push(BlockFile { row: i, column: a.column[k], values: a.block(k, i).2.to_vec() });
                    }
                }
                (None, Some(blocks))
            }
        };
        let file = ProblemFile {
            format: FORMAT.into(),
            sets: self.blocks.iter().map(|b| b.set.clone()).collect(),
            dense,
            blocks,
            b: self.b.clone(),
        };
        serde_json::to_string(&file).unwrap_or_default()
    }

    /// Reads what [`Problem::to_json`] wrote, checking everything.
    pub fn from_json(text: &str) -> Result<Self, ProblemError> {
        let file: ProblemFile = serde_json::from_str(text).map_err(|e| ProblemError::Json(e.to_string()))?;
        if file.format != FORMAT {
            return Err(ProblemError::Json(format!("format is {:?}, expected {FORMAT:?}", file.format)));
        }
        for (block, set) in file.sets.iter().enumerate() {
            set.validate().map_err(|source| ProblemError::Set { block, source })?;
        }
        let n: usize = file.sets.iter().map(Set::dim).sum();
        match (file.dense, file.blocks) {
            (Some(data), None) => {
                let found = data.len();
                let a =
                    Dense::from_rows(n, n, data).ok_or(ProblemError::Size { what: "dense", found, expected: n * n })?;
                Self::dense(file.sets, a, file.b)
            }
            (None, Some(mut entries)) => {
                let mut p = Problem { b: file.b, ..Default::default() };
                for set in file.sets {
                    p.push_block(set);
                }
                entries.sort_by_key(|e| (e.row, e.column));
                if let Some(w) = entries.windows(2).find(|w| (w[0].row, w[0].column) == (w[1].row, w[1].column)) {
                    return Err(ProblemError::Json(format!("block ({}, {}) is given twice", w[0].row, w[0].column)));
                }
                let nb = p.blocks.len();
                let mut a = BlockSparse { start: vec![0], row: vec![0; nb + 1], ..Default::default() };
                for block in &p.blocks {
                    a.start.push(block.start + block.set.dim());
                }
                for e in entries {
                    if e.row >= nb || e.column >= nb {
                        return Err(ProblemError::Index { what: "blocks", index: e.row.max(e.column), size: nb });
                    }
                    let expected = p.blocks[e.row].set.dim() * p.blocks[e.column].set.dim();
                    if e.values.len() != expected {
                        return Err(ProblemError::Size { what: "block values", found: e.values.len(), expected });
                    }
                    a.row[e.row + 1] += 1;
                    a.column.push(e.column);
                    a.offset.push(a.values.len());
                    a.values.extend(e.values);
                }
                for i in 0..nb {
                    a.row[i + 1] += a.row[i];
                }
                a.settle();
                p.matrix = ReducedMatrix::BlockSparse(a);
                p.validate()?;
                Ok(p)
            }
            _ => Err(ProblemError::Json("exactly one of `dense` and `blocks` must be given".into())),
        }
    }
}
