//! General sparse LU: symbolic analysis once per pattern, numeric factorisation into kept memory.
//!
//! The factored matrix is S A S. S holds powers of two that bring the largest entry of every row and column near 1 [Ruiz2001].
//! Pivots are thereby comparable for light and heavy bodies, metres and radians.
//!
//! A factorisation is probed with a known solution, and a probe that is not reproduced is reported as [`Singular`].

mod fronts;
mod multifrontal;

use super::Singular;
use fronts::Fronts;
pub(crate) use fronts::minimum_degree;
use multifrontal::Multifrontal;
use std::cell::RefCell;
use std::sync::Arc;

#[derive(Clone)]
pub(crate) struct Sparse {
    n: usize,
    col_start: Vec<usize>,
    row: Vec<usize>,
    values: Vec<f64>,
    fronts: Arc<Fronts>,
    /// The diagonal of S, and the values of S A S.
    scale: Vec<f64>,
    scaled: Vec<f64>,
    factors: Multifrontal,
    work: RefCell<Vec<f64>>,
    probe: Vec<f64>,
}

impl std::fmt::Debug for Sparse {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sparse").field("n", &self.n).field("entries", &self.values.len()).finish()
    }
}

impl Sparse {
    pub(crate) fn new<'a>(n: usize, cliques: impl Iterator<Item = &'a [usize]>) -> Self {
        let mut entries: Vec<(usize, usize)> = (0..n).map(|i| (i, i)).collect();
        for clique in cliques {
            for &j in clique {
                entries.extend(clique.iter().map(|&i| (j, i)));
            }
        }
        entries.sort_unstable();
        entries.dedup();
        let mut col_start = vec![0; n + 1];
        for &(j, _) in &entries {
            col_start[j + 1] += 1;
        }
        for j in 0..n {
            col_start[j + 1] += col_start[j];
        }
        let row: Vec<usize> = entries.into_iter().map(|(_, i)| i).collect();
        Self {
            n,
            values: vec![0.0; row.len()],
            scale: vec![1.0; n],
            scaled: vec![0.0; row.len()],
            fronts: Arc::new(Fronts::new(n, &col_start, &row)),
            col_start,
            row,
            factors: Multifrontal::default(),
            work: RefCell::new(vec![0.0; 2 * n]),
            probe: vec![0.0; 2 * n],
        }
    }

    pub(crate) fn clear(&mut self) {
        self.values.fill(0.0);
    }

    pub(crate) fn values(&self) -> &[f64] {
        &self.values
    }

    pub(crate) fn values_mut(&mut self) -> &mut [f64] {
        &mut self.values
    }

    fn slot(&self, i: usize, j: usize) -> Option<usize> {
        let (a, b) = (self.col_start[j], self.col_start[j + 1]);
        self.row[a..b].binary_search(&i).ok().map(|k| a + k)
    }

    pub(crate) fn add(&mut self, i: usize, j: usize, v: f64) {
        if let Some(s) = self.slot(i, j) {
            self.values[s] += v;
        }
    }

    /// Adds a dense block (row by row) whose entries are all in the pattern: its rows are then contiguous in every column.
    pub(crate) fn add_block(&mut self, i: usize, j: usize, rows: usize, values: &[f64]) {
        let columns = values.len() / rows.max(1);
        for c in 0..columns {
            let Some(slot) = self.slot(i, j + c) else { continue };
            debug_assert_eq!(self.row[slot + rows - 1], i + rows - 1);
            for p in 0..rows {
                self.values[slot + p] += values[p * columns + c];
            }
        }
    }

    pub(crate) fn get(&self, i: usize, j: usize) -> f64 {
        self.slot(i, j).map_or(0.0, |s| self.values[s])
    }

    pub(crate) fn for_each_entry(&self, mut f: impl FnMut(usize, usize, f64)) {
        for j in 0..self.n {
            for s in self.col_start[j]..self.col_start[j + 1] {
                f(self.row[s], j, self.values[s]);
            }
        }
    }

    pub(crate) fn multiply(&self, x: &[f64], y: &mut [f64]) {
        y[..self.n].fill(0.0);
        for j in 0..self.n {
            for s in self.col_start[j]..self.col_start[j + 1] {
                y[self.row[s]] += self.values[s] * x[j];
            }
        }
    }

    pub(crate) fn factor(&mut self) -> Result<(), Singular> {
        self.equilibrate()?;
        self.factors.factor(&self.fronts, &self.scaled)?;
        // Probe: A·(1, 1, ...) must solve back to ones. A loss of more than half of the digits
        // (relative error 1e-8) is a matrix that is singular for our purposes.
        let mut probe = std::mem::take(&mut self.probe);
        let (ones, image) = probe.split_at_mut(self.n);
        ones.fill(1.0);
        self.multiply(ones, image);
        self.solve(image);
        let worst = image.iter().enumerate().map(|(i, v)| ((v - 1.0).abs(), i));
        let bad = worst.filter(|(e, _)| *e >= 1e-8 || e.is_nan()).map(|(_, i)| i).next();
        self.probe = probe;
        match bad {
            Some(row) => Err(Singular { row }),
            None => Ok(()),
        }
    }

    /// S and S A S: s_i is divided by the root of the largest entry of row and column i, some times over.
    fn equilibrate(&mut self) -> Result<(), Singular> {
        self.scale.fill(1.0);
        let largest = &mut self.probe[..self.n];
        for _ in 0..EQUILIBRATION_SWEEPS {
            largest.fill(0.0);
            for j in 0..self.n {
                for s in self.col_start[j]..self.col_start[j + 1] {
                    let i = self.row[s];
                    let v = (self.scale[i] * self.values[s] * self.scale[j]).abs();
                    // NaN counts as too large.
                    largest[i] = if v <= largest[i] { largest[i] } else { v };
                    largest[j] = if v <= largest[j] { largest[j] } else { v };
                }
            }
            for (i, (scale, largest)) in self.scale.iter_mut().zip(largest.iter()).enumerate() {
                if !(*largest > 0.0 && *largest <= f64::MAX) {
                    return Err(Singular { row: i });
                }
                *scale /= largest.sqrt();
            }
        }
        self.scale.iter_mut().for_each(|s| *s = s.log2().round().exp2());
        for j in 0..self.n {
            for s in self.col_start[j]..self.col_start[j + 1] {
                self.scaled[s] = self.scale[self.row[s]] * self.values[s] * self.scale[j];
            }
        }
        Ok(())
    }

    pub(crate) fn solve(&self, x: &mut [f64]) {
        let x = &mut x[..self.n];
        x.iter_mut().zip(&self.scale).for_each(|(x, s)| *x *= s);
        self.factors.solve(&self.fronts, x, &mut self.work.borrow_mut());
        x.iter_mut().zip(&self.scale).for_each(|(x, s)| *x *= s);
    }
}

/// Sweeps of the equilibration: the largest entries are then within a factor of two of 1, as near as powers of two can bring them.
const EQUILIBRATION_SWEEPS: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::sequence;

    /// Overlapping cliques of 2 to 5 unknowns, most of them near each other, some far.
    fn pattern(n: usize, seed: u64) -> Sparse {
        let mut random = sequence(seed);
        let mut below = |n: usize| ((0.5 + 0.5 * random()) * n as f64) as usize % n;
        let mut cliques = Vec::new();
        for i in 0..n {
            let mut clique = vec![i];
            for k in 0..1 + i % 4 {
                clique.push(if k < 3 { (i + below(5)) % n } else { below(n) });
            }
            clique.sort_unstable();
            clique.dedup();
            cliques.push(clique);
        }
        Sparse::new(n, cliques.iter().map(Vec::as_slice))
    }

    /// Values on the pattern from (row, column, a random number).
    fn fill(a: &mut Sparse, seed: u64, mut value: impl FnMut(usize, usize, f64) -> f64) {
        let mut random = sequence(seed);
        for j in 0..a.n {
            for s in a.col_start[j]..a.col_start[j + 1] {
                a.values[s] = value(a.row[s], j, random());
            }
        }
    }

    /// Largest |A x − b| beside Σ|A||x|: the backward error of a solution.
    fn backward_error(a: &Sparse, seed: u64) -> f64 {
        let mut random = sequence(seed);
        let b: Vec<f64> = (0..a.n).map(|_| random()).collect();
        let mut x = b.clone();
        a.solve(&mut x);
        let (mut image, mut size) = (vec![0.0; a.n], vec![0.0; a.n]);
        a.multiply(&x, &mut image);
        a.for_each_entry(|i, j, v| size[i] += (v * x[j]).abs());
        let scale = size.iter().fold(0.0f64, |m, v| m.max(*v));
        image.iter().zip(&b).fold(0.0f64, |m, (y, b)| m.max((y - b).abs())) / scale
    }

    #[test]
    fn matrices_of_every_kind_are_solved_to_rounding() {
        for (seed, n) in [(1, 97), (2, 150), (3, 400), (4, 1000)] {
            let mut a = pattern(n, seed);
            // Close to positive definite; indefinite; a third of the diagonal missing, as with joints; masses from 1e-6 to 1e6; a weak
            // diagonal, so that pivots are exchanged and delayed.
            let weight = |i: usize| 10f64.powi((i * 7 % 13) as i32 - 6);
            type Entry = fn(usize, usize, f64) -> f64;
            let kinds: [Entry; 4] = [
                |i, j, r| if i == j { 12.0 + r } else { r },
                |i, j, r| if i == j { 4.0 * r } else { r },
                |i, j, r| if i == j && i % 3 == 0 { 0.0 } else { r },
                |i, j, r| if i == j { 1e-9 * r } else { r },
            ];
            for (k, kind) in kinds.iter().enumerate() {
                fill(&mut a, seed + 10, kind);
                if a.factor().is_err() {
                    // Only those without a strong diagonal may be singular for our purposes.
                    assert!(k > 0, "kind {k}, n = {n}");
                    continue;
                }
                // Rounding of some hundred operations, times the growth that the pivots allow.
                let error = backward_error(&a, seed);
                assert!(error <= 1e-12, "kind {k}, n = {n}: {error:e}");
            }
            fill(&mut a, seed + 20, |i, j, r| (if i == j { 12.0 + r } else { r }) * (weight(i) * weight(j)).sqrt());
            a.factor().unwrap();
            let error = backward_error(&a, seed);
            assert!(error <= 1e-12, "scaled, n = {n}: {error:e}");
        }
    }

    #[test]
    fn pivots_are_delayed_and_not_lost() {
        // Pairs coupled by their off-diagonal alone, far from each other in the order: no front of one has a pivot.
        let n = 200;
        let cliques: Vec<Vec<usize>> = (0..n).map(|i| vec![i, (i + 1) % n, (i + 77) % n]).collect();
        let mut a = Sparse::new(n, cliques.iter().map(Vec::as_slice));
        fill(&mut a, 5, |i, j, r| if i == j { 0.0 } else { r });
        a.factor().unwrap();
        let error = backward_error(&a, 6);
        assert!(error <= 1e-12, "{error:e}");
    }

    #[test]
    fn what_is_chosen_depends_on_the_matrix_alone() {
        let mut a = pattern(300, 8);
        fill(&mut a, 1, |_, _, r| r);
        let b: Vec<f64> = (0..300).map(|i| f64::from(i).cos()).collect();
        let solution = |a: &mut Sparse| {
            a.factor().unwrap();
            let mut x = b.clone();
            a.solve(&mut x);
            x
        };
        let first = solution(&mut a);
        let mut other = a.clone();
        fill(&mut other, 2, |i, j, r| if i == j { 9.0 } else { r });
        let _ = solution(&mut other);
        fill(&mut other, 1, |_, _, r| r);
        assert_eq!(solution(&mut other), first);
    }

    #[test]
    fn singular_matrices_are_reported() {
        let mut a = pattern(150, 9);
        let strong = |i: usize, j: usize, r: f64| if i == j { 12.0 + r } else { r };
        // An empty row; two rows that are the same where their patterns are; a matrix of NaN.
        fill(&mut a, 3, |i, j, r| if i == 40 { 0.0 } else { strong(i, j, r) });
        assert!(a.factor().is_err());
        let n = 120;
        let cliques: Vec<Vec<usize>> =
            (0..n / 2).map(|i| vec![2 * i, 2 * i + 1, (2 * i + 2) % n, (2 * i + 3) % n]).collect();
        let mut twin = Sparse::new(n, cliques.iter().map(Vec::as_slice));
        fill(
            &mut twin,
            4,
            |i, j, _| if (i == 10 || i == 11) && (8..14).contains(&j) { j as f64 } else { strong(i, j, 0.3) },
        );
        assert!(twin.factor().is_err());
        fill(&mut a, 3, |i, j, r| if i == 7 && j == 7 { f64::NAN } else { strong(i, j, r) });
        assert!(a.factor().is_err());
        fill(&mut a, 3, strong);
        assert!(a.factor().is_ok(), "and it serves again afterwards");
    }
}
