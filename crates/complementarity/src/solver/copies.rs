//! Blocks that say the same, as one.
//!
//! Blocks are *copies* of each other where set, part of b, rows of A and columns of A are the same: a contact stated several times, the points of a face that all touch alike. k copies have the same velocity u, and if
//! (r_i) solves the problem so does their mean in the place of each. With s = √k r in the place of all k,
//!
//! ```text
//! A'_ij = √k_i A_ij √k_j,   b'_i = √k_i b_i,   C'_i = √k_i C_i
//! ```
//!
//! is the same problem with one block for each group of copies: ‖s‖ is the norm of all its percussions, so that those of least norm are, and the residual of s is that of r. Dense methods, which take the cube of
//! the number of rows, so have to do with what differs.
//!
//! It is worth it for more than a few dozen rows of which half or more are copies.

use super::Report;
use crate::capacity;
use crate::problem::{Problem, ReducedMatrix};
use crate::sets::Set;

/// Rows up to which a problem is taken as it is, and blocks beyond which copies are not looked for.
const FEW_ROWS: usize = 40;
const MANY_BLOCKS: usize = 1000;

/// Scratch. See the [module](self).
#[derive(Debug, Default)]
pub(super) struct Copies {
    merged: Problem,
    /// Blocks in the order of b.
    order: Vec<usize>,
    /// Of every block the group it belongs to; of every group its first block and how many there are.
    group: Vec<usize>,
    groups: Vec<(usize, usize)>,
    s: Vec<f64>,
    column: Vec<f64>,
    unit: Vec<f64>,
}

impl Copies {
    /// Solves a problem with copies by `solve`, without them. `None` where there are few.
    pub(super) fn solve(
        &mut self,
        problem: &Problem,
        r: &mut [f64],
        solve: impl FnOnce(&Problem, &mut [f64]) -> Report,
    ) -> Option<Report> {
        let blocks = problem.blocks();
        if problem.size() <= FEW_ROWS || blocks.len() > MANY_BLOCKS || !self.find(problem) {
            return None;
        }
        self.merge(problem);
        self.s.clear();
        for (g, &(first, count)) in self.groups.iter().enumerate() {
            // √k times the mean: the sum over √k.
            let (at, scale) = (self.s.len(), 1.0 / (count as f64).sqrt());
            self.s.resize(at + blocks[first].set.dim(), 0.0);
            for block in blocks.iter().zip(&self.group).filter(|(_, of)| **of == g).map(|(b, _)| b) {
                self.s[at..].iter_mut().zip(&r[block.start..]).for_each(|(s, r)| *s += scale * r);
            }
        }
        let mut report = solve(&self.merged, &mut self.s);
        for (block, &g) in blocks.iter().zip(&self.group) {
            let (start, scale) = (self.merged.blocks()[g].start, 1.0 / (self.groups[g].1 as f64).sqrt());
            let rows = block.start..block.start + block.set.dim();
            r[rows].iter_mut().zip(&self.s[start..]).for_each(|(r, s)| *r = scale * s);
        }
        let carries = |&(first, count): &(usize, usize)| {
            let rows = blocks[first].start..blocks[first].start + blocks[first].set.dim();
            count > 1 && r[rows].iter().any(|r| *r != 0.0)
        };
        report.non_unique |= report.solved() && self.groups.iter().any(carries);
        report.row = report.row.map(|row| {
            let g = self.merged.blocks().iter().rposition(|b| b.start <= row).unwrap_or(0);
            blocks[self.groups[g].0].start + row - self.merged.blocks()[g].start
        });
        Some(report)
    }

    /// The groups of copies; false if more than half of the blocks are left.
    fn find(&mut self, problem: &Problem) -> bool {
        let (blocks, b) = (problem.blocks(), problem.b());
        self.order.clear();
        self.order.extend(0..blocks.len());
        self.order.sort_unstable_by(|&i, &j| b[blocks[i].start].total_cmp(&b[blocks[j].start]).then(i.cmp(&j)));
        let equal = |i: usize, j: usize| b[blocks[i].start].to_bits() == b[blocks[j].start].to_bits();
        let pairs = self.order.windows(2).filter(|w| equal(w[0], w[1])).count();
        if 2 * pairs < blocks.len() {
            return false;
        }
        self.groups.clear();
        self.group.clear();
        self.group.resize(blocks.len(), 0);
        let mut run = 0;
        for (at, &i) in self.order.iter().enumerate() {
            if at > 0 && !equal(self.order[at - 1], i) {
                run = self.groups.len();
            }
            let known = self.groups[run..].iter().position(|&(j, _)| are_copies(problem, j, i));
            let g = known.map_or(self.groups.len(), |k| run + k);
            if known.is_none() {
                self.groups.push((i, 0));
            }
            self.groups[g].1 += 1;
            self.group[i] = g;
            if 2 * self.groups.len() > blocks.len() {
                return false;
            }
        }
        true
    }

    fn merge(&mut self, problem: &Problem) {
        let Self { merged, groups, column, unit, .. } = self;
        let blocks = problem.blocks();
        let root = |count: usize| (count as f64).sqrt();
        let sets = groups.iter().map(|&(first, count)| scaled(&blocks[first].set, root(count)));
        merged.refill(sets, |a, b| {
            capacity::resize(column, problem.size(), 0.0);
            capacity::resize(unit, problem.size(), 0.0);
            unit.fill(0.0);
            let mut at = 0;
            for &(first, count) in groups.iter() {
                for k in blocks[first].start..blocks[first].start + blocks[first].set.dim() {
                    b[at] = root(count) * problem.b()[k];
                    unit[k] = root(count);
                    column.fill(0.0);
                    match problem.matrix() {
                        ReducedMatrix::Dense(m) => (0..m.rows()).for_each(|i| column[i] = root(count) * m[(i, k)]),
                        ReducedMatrix::Gram(g) => g.add_product(unit, column),
                        ReducedMatrix::BlockSparse(m) => {
                            (0..blocks.len()).for_each(|i| m.add_row(i, unit, &mut column[blocks[i].start..]));
                        }
                    }
                    unit[k] = 0.0;
                    let mut row = 0;
                    for &(other, others) in groups.iter() {
                        for value in &column[blocks[other].start..blocks[other].start + blocks[other].set.dim()] {
                            a[(row, at)] = root(others) * value;
                            row += 1;
                        }
                    }
                    at += 1;
                }
            }
        });
    }
}

/// Whether two blocks say the same. Their first entries of b are equal.
fn are_copies(problem: &Problem, i: usize, j: usize) -> bool {
    let (x, y) = (&problem.blocks()[i], &problem.blocks()[j]);
    let d = x.set.dim();
    let same_b = || problem.b()[x.start..x.start + d] == problem.b()[y.start..y.start + d];
    if x.set != y.set || !same_b() {
        return false;
    }
    match problem.matrix() {
        ReducedMatrix::Dense(a) => (0..d).all(|k| {
            let (p, q) = (x.start + k, y.start + k);
            a.row(p) == a.row(q) && (0..a.rows()).all(|m| a[(m, p)] == a[(m, q)])
        }),
        ReducedMatrix::Gram(g) => {
            let w = g.coupling();
            w.dofs(i) == w.dofs(j) && w.values(i) == w.values(j)
        }
        // Where A is not symmetric equal rows are not enough.
        ReducedMatrix::BlockSparse(a) => {
            let place = |row: usize, column: usize| (a.row[row]..a.row[row + 1]).find(|&m| a.column[m] == column);
            let value = |row: usize, column: usize| place(row, column).map(|m| a.block(m, row));
            let (p, q) = (a.row[i]..a.row[i + 1], a.row[j]..a.row[j + 1]);
            a.column[p.clone()] == a.column[q.clone()]
                && p.clone().zip(q).all(|(m, n)| a.block(m, i) == a.block(n, j))
                && p.map(|m| a.column[m]).all(|c| value(c, i) == value(c, j))
        }
    }
}

/// s C.
fn scaled(set: &Set, s: f64) -> Set {
    match set {
        Set::Interval { lower, upper } => Set::Interval { lower: s * lower, upper: s * upper },
        Set::Ball { dim, radius } => Set::Ball { dim: *dim, radius: s * radius },
        cone @ (Set::Free { .. } | Set::NonNegative | Set::Coulomb { .. } | Set::Polyhedral { .. }) => cone.clone(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test fails on an error
mod tests {
    use crate::linear::Dense;
    use crate::solver::{self, Options};
    use crate::{Problem, Set};

    /// `count` copies of each of three contacts on six unknowns, the second pulled on, the third with less friction; the order mixes them.
    fn copied(count: usize) -> Problem {
        // Six rows that are independent, each of one unknown and a part of the others.
        let w = |row: usize, unknown: usize| {
            if row == unknown { 1.0 } else { 0.1 * ((row + 2 * unknown) % 3) as f64 - 0.1 }
        };
        let offset = [[-1.0, 0.3], [-0.4, -0.9], [-0.7, 0.2]];
        let kind: Vec<usize> = (0..3 * count).map(|i| i % 3).collect();
        let mu = [0.5, 0.2, 0.1];
        let n = 2 * kind.len();
        let mut a = Dense::zeros(n, n);
        let row = |i: usize| (0..6).map(move |unknown| w(2 * (i / 2 % 3) + i % 2, unknown));
        for i in 0..n {
            for j in 0..n {
                a[(i, j)] = row(i).zip(row(j)).map(|(x, y)| x * y).sum();
            }
        }
        let b = (0..n).map(|i| offset[kind[i / 2]][i % 2]).collect();
        Problem::dense(kind.iter().map(|&k| Set::Coulomb { dim: 1, mu: mu[k] }).collect(), a, b).unwrap()
    }

    #[test]
    fn copies_have_equal_shares_of_what_one_would_have() {
        let (one, options) = (copied(1), Options::default());
        for name in ["auto", "lemke"] {
            let mut solver = solver::make(name).unwrap();
            let mut single = vec![0.0; one.size()];
            assert!(solver.solve(&one, &mut single, &options).solved());
            for count in [12, 50, 100, 300] {
                let many = copied(count);
                let mut r = vec![0.0; many.size()];
                let report = solver.solve(&many, &mut r, &options);
                let mut u = vec![0.0; many.size()];
                assert!(
                    report.solved() && many.residual(&r, &mut u) <= options.tolerance,
                    "{name}, {count}: {report:?}"
                );
                assert!(report.non_unique, "{name}, {count}");
                for (i, r) in r.iter().enumerate() {
                    assert!((r * count as f64 - single[i % 6]).abs() <= 1e-8, "{name}, {count}, row {i}: {r}");
                }
                // From its solution it is solved as it is.
                let again = r.clone();
                assert!(solver.solve(&many, &mut r, &options).solved());
                assert!(r.iter().zip(&again).all(|(a, b)| (a - b).abs() <= 1e-12), "{name}, {count}");
            }
        }
    }

    #[test]
    fn bounds_are_those_of_all_copies_together() {
        // A friction bound of 0.01 a hundred times on a mass of 1 kg at −3 m/s: 1 N s.
        let n = 100;
        let ones = Dense::from_rows(n, n, vec![1.0; n * n]).unwrap();
        let problem = Problem::dense(vec![Set::Ball { dim: 1, radius: 0.01 }; n], ones, vec![-3.0; n]).unwrap();
        let mut r = vec![0.0; n];
        let report = solver::make("auto").unwrap().solve(&problem, &mut r, &Options::default());
        assert!(report.solved(), "{report:?}");
        assert!(r.iter().all(|r| (r - 0.01).abs() <= 1e-14), "{r:?}");
    }
}
