//! The order of the blocks in a sweep.
//!
//! Coloured: blocks of one colour share no unknown, so that a sweep over them is the same in any order and could run in parallel. Colouring is
//! greedy: each block takes the first colour that no neighbour has.

use crate::problem::{Problem, ReducedMatrix};
use serde::{Deserialize, Serialize};

/// Order of the blocks in a sweep of [`super::GaussSeidel`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// The order of the problem.
    #[default]
    Natural,
    /// A new random order in every sweep, from this seed.
    Shuffled(u64),
    /// Colour by colour.
    Coloured,
}

/// Permutation of the blocks, and the state of the random generator.
#[derive(Debug, Default)]
pub(super) struct Arrangement {
    pub(super) blocks: Vec<u32>,
    state: u64,
    expanded: Problem,
}

impl Arrangement {
    /// Begins with a problem.
    pub(super) fn begin(&mut self, problem: &Problem, order: Order) {
        let n = problem.blocks().len();
        self.blocks.clear();
        self.blocks.extend(0..n as u32);
        match order {
            Order::Natural => {}
            Order::Shuffled(seed) => self.state = seed,
            Order::Coloured => {
                let colours = self.colours(problem);
                self.blocks.sort_by_key(|&b| (colours[b as usize], b));
            }
        }
    }

    /// Before a sweep.
    pub(super) fn next_sweep(&mut self, order: Order) {
        if !matches!(order, Order::Shuffled(_)) {
            return;
        }
        for i in (1..self.blocks.len()).rev() {
            // The upper half of a linear congruential sequence.
            self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let j = ((self.state >> 32) * (i as u64 + 1)) >> 32;
            self.blocks.swap(i, j as usize);
        }
    }

    /// The colour of every block.
    fn colours(&mut self, problem: &Problem) -> Vec<u32> {
        let n = problem.blocks().len();
        if problem.as_dense().is_none() {
            problem.expand(&mut self.expanded);
        }
        let coupled = |i: usize, j: usize| match problem.as_dense() {
            Some(a) => {
                let (p, q) = (&problem.blocks()[i], &problem.blocks()[j]);
                let columns = q.start..q.start + q.set.dim();
                (p.start..p.start + p.set.dim()).any(|k| a.row(k)[columns.clone()].iter().any(|&v| v != 0.0))
            }
            None => false,
        };
        let symmetric = match self.expanded.matrix() {
            ReducedMatrix::BlockSparse(a) => a.has_symmetric_pattern(),
            _ => true,
        };
        let mut colours = vec![u32::MAX; n];
        let mut taken = vec![usize::MAX; n + 1];
        for i in 0..n {
            let mut include = |j: usize| {
                if colours[j] != u32::MAX {
                    taken[colours[j] as usize] = i;
                }
            };
            match self.expanded.matrix() {
                ReducedMatrix::BlockSparse(a) if problem.as_dense().is_none() => {
                    a.column[a.row[i]..a.row[i + 1]].iter().for_each(|&j| include(j));
                    if !symmetric {
                        let row = |j: usize| &a.column[a.row[j]..a.row[j + 1]];
                        (0..i).filter(|&j| row(j).binary_search(&i).is_ok()).for_each(include);
                    }
                }
                _ => (0..i).filter(|&j| coupled(i, j) || coupled(j, i)).for_each(include),
            }
            colours[i] = (0..=n).find(|&c| taken[c] != i).unwrap_or(n) as u32;
        }
        colours
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::Dense;
    use crate::sets::Set;

    /// A chain: every block is coupled with the next.
    fn chain(n: usize) -> Problem {
        let mut a = Dense::zeros(n, n);
        for i in 0..n {
            a[(i, i)] = 2.0;
            if i > 0 {
                (a[(i, i - 1)], a[(i - 1, i)]) = (-1.0, -1.0);
            }
        }
        Problem::dense(vec![Set::NonNegative; n], a, vec![-1.0; n]).unwrap()
    }

    #[test]
    fn a_chain_has_two_colours_and_no_neighbours_share_one() {
        let mut arrangement = Arrangement::default();
        arrangement.begin(&chain(9), Order::Coloured);
        assert_eq!(arrangement.blocks, [0, 2, 4, 6, 8, 1, 3, 5, 7]);
    }

    #[test]
    fn a_shuffle_is_an_order_of_all_blocks_and_the_same_for_the_same_seed() {
        let problem = chain(50);
        let run = |seed| {
            let mut arrangement = Arrangement::default();
            arrangement.begin(&problem, Order::Shuffled(seed));
            (0..3)
                .map(|_| {
                    arrangement.next_sweep(Order::Shuffled(seed));
                    arrangement.blocks.clone()
                })
                .collect::<Vec<_>>()
        };
        let (first, again, other) = (run(1), run(1), run(2));
        assert_eq!(first, again);
        assert!(first[0] != first[1] && first[0] != other[0]);
        let mut sorted = first[2].clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..50).collect::<Vec<u32>>());
    }
}
