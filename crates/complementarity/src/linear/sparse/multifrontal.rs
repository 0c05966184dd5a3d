//! Multifrontal LU factors with threshold pivoting.
//!
//! Every front [F₁₁ F₁₂; F₂₁ F₂₂] gathers its entries of the matrix and the remainders of its children (extend-add), eliminates its own
//! columns, F = [L₁₁; L₂₁][U₁₁ U₁₂], and hands its remainder F₂₂ − L₂₁U₁₂ to its parent [Duff & Reid 1983], [Liu1992, §4].
//!
//! **Pivots** come from the own rows of a front. The diagonal entry is the pivot if it is at least [`DIAGONAL_THRESHOLD`] times the largest
//! entry of its column. Otherwise it is the largest entry in the own rows, if that is at least [`OFF_DIAGONAL_THRESHOLD`] times the largest.
//! A column with neither is **delayed**: it moves with one row to the parent, which has more own rows. A root owns all of its rows, so that
//! a column without a pivot there proves the matrix singular. Elimination is thus stable for any matrix, and follows the symbolic order where
//! the matrix is close to positive definite. Pivots depend on this matrix alone, not on matrices factored before.

use super::super::Singular;
use super::fronts::Fronts;
use std::ops::Range;

/// Smallest pivot on and off the diagonal, relative to the largest entry of its column. Their inverses bound the growth; exchanges cost fill.
const DIAGONAL_THRESHOLD: f64 = 1e-2;
const OFF_DIAGONAL_THRESHOLD: f64 = 0.1;
/// Columns that are eliminated before the rest of the front is updated.
const PANEL_COLUMNS: usize = 8;

/// Factors of one front: `pivots` columns of a front of `size` rows.
#[derive(Debug, Clone, Copy)]
struct Factor {
    pivots: usize,
    size: usize,
    /// Where L (size × pivots, row by row) and then U (pivots × size) begin in `values`.
    values: usize,
    /// Where its rows and then its columns begin in `indices`.
    indices: usize,
}

/// What a front hands to its parent: a square matrix at the end of the stack, whose first rows and columns are delayed ones.
#[derive(Debug, Clone, Copy)]
struct Remainder {
    front: usize,
    size: usize,
    delayed: usize,
}

/// Numeric factors and the memory to make them.
#[derive(Debug, Clone, Default)]
pub(super) struct Multifrontal {
    factors: Vec<Factor>,
    values: Vec<f64>,
    indices: Vec<u32>,
    front: Vec<f64>,
    rows: Vec<u32>,
    columns: Vec<u32>,
    /// Remainders of fronts whose parent is still to come, and their delayed rows and columns.
    stack: Vec<f64>,
    remainders: Vec<Remainder>,
    delayed: Vec<u32>,
    /// Positions in the front of the rows of a child's remainder.
    places: Vec<u32>,
}

impl Multifrontal {
    /// Factors the matrix of these values.
    pub(super) fn factor(&mut self, fronts: &Fronts, values: &[f64]) -> Result<(), Singular> {
        self.factors.clear();
        self.values.clear();
        self.indices.clear();
        self.stack.clear();
        self.remainders.clear();
        self.delayed.clear();
        for (f, front) in fronts.list.iter().enumerate() {
            let own = self.assemble(fronts, f, values);
            let size = self.rows.len();
            let pivots = eliminate(&mut self.front, size, own, &mut self.rows, &mut self.columns);
            if front.below.is_empty() && pivots < size {
                return Err(Singular { row: fronts.order[self.columns[pivots] as usize] as usize });
            }
            self.keep(pivots, size);
            self.hand_on(f, pivots, own - pivots);
        }
        Ok(())
    }

    /// Fills the front; its own columns are those delayed by its children, and then those of the plan. Returns how many.
    fn assemble(&mut self, fronts: &Fronts, f: usize, values: &[f64]) -> usize {
        let front = &fronts.list[f];
        let children = self.remainders.len() - front.children;
        let delayed: usize = self.remainders[children..].iter().map(|r| r.delayed).sum();
        let size = delayed + front.own() + front.below.len();
        self.front.clear();
        self.front.resize(size * size, 0.0);
        self.rows.clear();
        self.columns.clear();
        // Delayed rows and columns are stored child by child.
        let mut at = self.delayed.len() - 2 * delayed;
        let kept = at;
        for r in &self.remainders[children..] {
            self.rows.extend_from_slice(&self.delayed[at..at + r.delayed]);
            self.columns.extend_from_slice(&self.delayed[at + r.delayed..at + 2 * r.delayed]);
            at += 2 * r.delayed;
        }
        self.delayed.truncate(kept);
        for list in [&mut self.rows, &mut self.columns] {
            list.extend(front.start as u32..front.end as u32);
            list.extend_from_slice(&front.below);
        }
        for &(slot, i, j) in &front.entries {
            self.front[(delayed + i as usize) * size + delayed + j as usize] += values[slot];
        }
        // Extend-add, the last child first: it is at the end of the stack.
        let mut first_delayed = delayed;
        for r in self.remainders.drain(children..).rev() {
            first_delayed -= r.delayed;
            self.places.clear();
            self.places.extend(first_delayed as u32..(first_delayed + r.delayed) as u32);
            self.places.extend(fronts.list[r.front].into_parent.iter().map(|&p| p + delayed as u32));
            let begin = self.stack.len() - r.size * r.size;
            for (line, &i) in self.stack[begin..].chunks_exact(r.size.max(1)).zip(&self.places) {
                let row = &mut self.front[i as usize * size..(i as usize + 1) * size];
                for (v, &j) in line.iter().zip(&self.places) {
                    row[j as usize] += v;
                }
            }
            self.stack.truncate(begin);
        }
        delayed + front.own()
    }

    /// Keeps the factors of the front.
    fn keep(&mut self, pivots: usize, size: usize) {
        self.factors.push(Factor { pivots, size, values: self.values.len(), indices: self.indices.len() });
        for line in self.front.chunks_exact(size) {
            self.values.extend_from_slice(&line[..pivots]);
        }
        self.values.extend_from_slice(&self.front[..pivots * size]);
        self.indices.extend_from_slice(&self.rows);
        self.indices.extend_from_slice(&self.columns);
    }

    /// Pushes the remainder of the front on the stack.
    fn hand_on(&mut self, front: usize, pivots: usize, delayed: usize) {
        let size = self.rows.len();
        if pivots == size {
            return;
        }
        for line in self.front.chunks_exact(size).skip(pivots) {
            self.stack.extend_from_slice(&line[pivots..]);
        }
        self.remainders.push(Remainder { front, size: size - pivots, delayed });
        self.delayed.extend_from_slice(&self.rows[pivots..pivots + delayed]);
        self.delayed.extend_from_slice(&self.columns[pivots..pivots + delayed]);
    }

    /// Solves A x = b in place; `work` has room for two vectors.
    pub(super) fn solve(&self, fronts: &Fronts, x: &mut [f64], work: &mut [f64]) {
        let n = x.len();
        let (b, y) = work.split_at_mut(n);
        for (b, &i) in b.iter_mut().zip(&fronts.order) {
            *b = x[i as usize];
        }
        // L y = b, front by front; y in the order of the pivots.
        let mut done = 0;
        for factor in &self.factors {
            let (l, _) = self.parts(factor);
            let rows = &self.indices[factor.indices..factor.indices + factor.size];
            let (k, y) = (factor.pivots, &mut y[done..done + factor.pivots]);
            for (r, &i) in rows[..k].iter().enumerate() {
                let line = &l[r * k..r * k + r];
                y[r] = b[i as usize] - dot(line, &y[..r]);
            }
            for (line, &i) in l[k * k..].chunks_exact(k.max(1)).zip(&rows[k..]) {
                b[i as usize] -= dot(line, y);
            }
            done += k;
        }
        // U x = y, backwards; x in the places of b.
        for factor in self.factors.iter().rev() {
            let (_, u) = self.parts(factor);
            let (k, m) = (factor.pivots, factor.size);
            let columns = &self.indices[factor.indices + m..factor.indices + 2 * m];
            done -= k;
            for r in (0..k).rev() {
                let line = &u[r * m..(r + 1) * m];
                let mut sum = y[done + r];
                for (v, &j) in line[r + 1..].iter().zip(&columns[r + 1..]) {
                    sum -= v * b[j as usize];
                }
                b[columns[r] as usize] = sum / line[r];
            }
        }
        for (b, &i) in b.iter().zip(&fronts.order) {
            x[i as usize] = *b;
        }
    }

    /// L and U of a front.
    fn parts(&self, factor: &Factor) -> (&[f64], &[f64]) {
        let n = factor.pivots * factor.size;
        let both = &self.values[factor.values..factor.values + 2 * n];
        both.split_at(n)
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Eliminates up to `own` columns of a square front (row by row), with L below the diagonal, U on and above it. Exchanges rows and columns among
/// the first `own`, and their indices in `rows` and `columns`. Returns the number of eliminated columns.
fn eliminate(f: &mut [f64], size: usize, own: usize, rows: &mut [u32], columns: &mut [u32]) -> usize {
    let mut done = 0;
    // Columns that are still to be tried end here, and where that began.
    let (mut limit, mut from) = (own, 0);
    loop {
        if done == limit {
            // Those that failed are tried again once others have been eliminated.
            if limit == own || done == from {
                return done;
            }
            (limit, from) = (own, done);
        }
        let panel = done..limit.min(done + PANEL_COLUMNS);
        let end = eliminate_panel(f, size, own, panel.clone(), rows);
        update(f, size, done..end, panel.end);
        done = end;
        if end < panel.end {
            limit -= 1;
            for line in f.chunks_exact_mut(size) {
                line.swap(end, limit);
            }
            columns.swap(end, limit);
        }
    }
}

/// Eliminates the columns of a panel, keeping only the panel up to date, until one has no pivot. Returns the first that is not eliminated.
fn eliminate_panel(f: &mut [f64], size: usize, own: usize, panel: Range<usize>, rows: &mut [u32]) -> usize {
    for k in panel.clone() {
        let Some(p) = pivot(f, size, own, k) else { return k };
        if p != k {
            let (upper, lower) = f.split_at_mut(p * size);
            upper[k * size..(k + 1) * size].swap_with_slice(&mut lower[..size]);
            rows.swap(k, p);
        }
        let (upper, lower) = f.split_at_mut((k + 1) * size);
        let line = &upper[k * size..];
        let inverse = 1.0 / line[k];
        for row in lower.chunks_exact_mut(size) {
            if row[k] != 0.0 {
                let l = row[k] * inverse;
                row[k] = l;
                for j in k + 1..panel.end {
                    row[j] -= l * line[j];
                }
            }
        }
    }
    panel.end
}

/// The row of the pivot of column `k`.
fn pivot(f: &[f64], size: usize, own: usize, k: usize) -> Option<usize> {
    let at = |i: usize| f[i * size + k].abs();
    let (mut best, mut largest) = (k, at(k));
    for i in k + 1..own {
        if at(i) > largest {
            (best, largest) = (i, at(i));
        }
    }
    let all = (own..size).map(at).fold(largest, f64::max);
    if at(k) >= DIAGONAL_THRESHOLD * all && at(k) > 0.0 {
        Some(k)
    } else if largest >= OFF_DIAGONAL_THRESHOLD * all && largest > 0.0 {
        Some(best)
    } else {
        None
    }
}

/// Brings all columns from `first` on up to date with the pivots of a panel.
fn update(f: &mut [f64], size: usize, pivots: Range<usize>, first: usize) {
    if pivots.is_empty() || first == size {
        return;
    }
    let (upper, lower) = f.split_at_mut(pivots.end * size);
    let upper = &mut upper[pivots.start * size..];
    // U₁₂ = L₁₁⁻¹ F₁₂.
    for b in 1..pivots.len() {
        let (before, line) = upper.split_at_mut(b * size);
        for (a, row) in before.chunks_exact(size).enumerate() {
            let l = line[pivots.start + a];
            line[first..size].iter_mut().zip(&row[first..]).for_each(|(x, u)| *x -= l * u);
        }
    }
    // F₂₂ −= L₂₁ U₁₂, four pivots at a time.
    for row in lower.chunks_exact_mut(size) {
        let (l, x) = row.split_at_mut(first);
        let l = &l[pivots.clone()];
        let mut four = l.chunks_exact(4);
        let mut at = 0;
        for c in &mut four {
            let [u0, u1, u2, u3] = [0, 1, 2, 3].map(|a| &upper[(at + a) * size + first..(at + a + 1) * size]);
            for ((((x, u0), u1), u2), u3) in x.iter_mut().zip(u0).zip(u1).zip(u2).zip(u3) {
                *x -= (c[0] * u0 + c[1] * u1) + (c[2] * u2 + c[3] * u3);
            }
            at += 4;
        }
        for &c in four.remainder() {
            x.iter_mut().zip(&upper[at * size + first..(at + 1) * size]).for_each(|(x, u)| *x -= c * u);
            at += 1;
        }
    }
}
