//! The tableau of Aitken and Neville [Studer2008, (42), (43)], for vectors.

/// Rows T_{i,1}, .., T_{i,i}, of which the last is kept.
#[derive(Debug, Clone, Default)]
pub struct Tableau {
    /// Power s of dt/n in which errors are expanded: 1 or 2.
    power: i32,
    counts: Vec<f64>,
    /// T_{1,1}, T_{2,1}, .., one after the other.
    firsts: Vec<f64>,
    /// T_{i,1}, T_{i,2}, .. one after the other, and those of the row before.
    row: Vec<f64>,
    before: Vec<f64>,
    len: usize,
}

impl Tableau {
    /// An empty tableau for errors in all powers of dt (1), or in even ones (2).
    pub fn begin(&mut self, power: i32) {
        self.power = power;
        self.counts.clear();
        self.firsts.clear();
        self.row.clear();
        self.before.clear();
    }

    /// Adds a row that begins with T_{i,1} = `first`, made with n substeps.
    pub fn push(&mut self, n: usize, first: &[f64]) {
        self.len = first.len();
        self.firsts.extend_from_slice(first);
        self.counts.push(n as f64);
        self.extrapolate(self.counts.len() - 1);
    }

    /// Row `i`, from 0, out of its first approximation and the row before.
    fn extrapolate(&mut self, i: usize) {
        std::mem::swap(&mut self.row, &mut self.before);
        self.row.clear();
        self.row.extend_from_slice(&self.firsts[i * self.len..(i + 1) * self.len]);
        for j in 1..=i {
            let ratio = (self.counts[i] / self.counts[i - j]).powi(self.power) - 1.0;
            for k in 0..self.len {
                let (now, then) = (self.row[(j - 1) * self.len + k], self.before[(j - 1) * self.len + k]);
                self.row.push(now + (now - then) / ratio);
            }
        }
    }

    /// Whether the first column, in these places, shows an expansion that begins with dt where one that begins with dt² was assumed: with three rows of
    /// n_1, n_2, n_3 substeps, the ratio of their differences is
    ///
    /// ```text
    /// (T_{1,1} − T_{2,1})/(T_{2,1} − T_{3,1}) → (n_1^−s − n_2^−s)/(n_2^−s − n_3^−s),    5 for s = 1 and 12.5 for s = 2 with 1, 3, 5 substeps
    /// ```
    ///
    /// in the mean over the places, and the one that was found is nearer to that of s = 1. Differences up to `rounding` say nothing.
    pub fn looks_odd(&self, places: std::ops::Range<usize>, rounding: f64) -> bool {
        if self.counts.len() != 3 || self.power != 2 {
            return false;
        }
        let (mut product, mut square, mut largest) = (0.0, 0.0, 0.0f64);
        for k in places {
            let at = |row: usize| self.firsts[row * self.len + k];
            let (a, b) = (at(0) - at(1), at(1) - at(2));
            (product, square, largest) = (product + a * b, square + b * b, largest.max(b.abs()));
        }
        let [a, b, c] = [self.counts[0], self.counts[1], self.counts[2]];
        let ratio = |s: i32| (a.powi(-s) - b.powi(-s)) / (b.powi(-s) - c.powi(-s));
        let found = product / square;
        // Up to the geometric mean with the ratio of s = 2; less than half of it is no expansion at all.
        largest > rounding && found > ratio(1) / 2.0 && found < (ratio(1) * ratio(2)).sqrt()
    }

    /// Makes the tableau again for errors in other powers of dt.
    pub fn begin_again(&mut self, power: i32) {
        self.power = power;
        (0..self.counts.len()).for_each(|i| self.extrapolate(i));
    }

    /// T_{i,1}, .., T_{i,i} of the last row.
    pub fn row(&self) -> impl Iterator<Item = &[f64]> {
        self.row.chunks_exact(self.len.max(1))
    }

    /// T_{i,i} and T_{i−1,i−1}; the same where there is one row.
    pub fn diagonal(&self) -> (&[f64], &[f64]) {
        let last = |row: &'_ Vec<f64>| row.len().saturating_sub(self.len);
        let best = &self.row[last(&self.row)..];
        (best, if self.counts.len() < 2 { best } else { &self.before[last(&self.before)..] })
    }

    /// Weights w_j with T_{i,i} = Σ w_j T_{j,1} for these numbers of substeps.
    pub fn weights(counts: &[u32], power: i32) -> Vec<f64> {
        let mut tableau = Tableau::default();
        tableau.begin(power);
        for (i, &n) in counts.iter().enumerate() {
            let unit: Vec<f64> = (0..counts.len()).map(|j| f64::from(u8::from(i == j))).collect();
            tableau.push(n as usize, &unit);
        }
        tableau.diagonal().0.to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(power: i32, counts: &[usize], first: impl Fn(usize) -> f64) -> Vec<Vec<f64>> {
        let mut t = Tableau::default();
        t.begin(power);
        let mut all = Vec::new();
        for &n in counts {
            t.push(n, &[first(n)]);
            all.push(t.row().map(|v| v[0]).collect());
        }
        all
    }

    fn euler(n: usize) -> f64 {
        (0..n).map(|i| 3.0 * (i as f64 / n as f64).powi(2) / n as f64).sum()
    }

    #[test]
    fn the_example_of_the_paper_44() {
        // y' = 3x², y(0) = 0 by Euler's rule with 1, 2, 4 steps: all numbers are binary fractions.
        let expected: [&[f64]; 3] = [&[0.0], &[0.375, 0.75], &[0.65625, 0.9375, 1.0]];
        assert_eq!(rows(1, &[1, 2, 4], euler), expected);
        // With odd numbers of substeps the third row is exact as well, up to rounding.
        let odd = rows(1, &[1, 3, 5], euler);
        let expected = [0.0, 5.0 / 9.0, 5.0 / 6.0, 0.72, 0.72 + (0.72 - 5.0 / 9.0) * 1.5, 1.0];
        for (found, expected) in odd.concat().iter().zip(expected) {
            assert!((found - expected).abs() <= 4.0 * f64::EPSILON, "{found} {expected}");
        }
    }

    #[test]
    fn a_contact_that_persists_46_47() {
        let restitution = |e: f64| move |n: usize| (-e).powi(n as i32);
        let found = rows(1, &[1, 2, 3, 4], restitution(0.7));
        // As printed, four digits.
        let printed = [-0.7, 0.49, 1.68, -0.343, -2.009, -3.8535, 0.2401, 1.9894, 5.9878, 9.2682];
        for (found, printed) in found.concat().iter().zip(printed) {
            assert!((found - printed).abs() <= 0.5e-4 + f64::EPSILON, "{found} {printed}");
        }
    }

    #[test]
    fn odd_substeps_keep_a_contact_that_persists_from_growing() {
        for k in 0..=1000 {
            let e = f64::from(k) / 1000.0;
            let all = rows(1, &[1, 3, 5, 7, 9, 11], |n| (-e).powi(n as i32));
            for row in &all {
                let last = row[row.len() - 1];
                // Equality at e = 1, where all T are −1.
                assert!(last.abs() <= 1.0 + 1e-14, "e = {e}, row {}: {last}", row.len());
            }
        }
        // The numbers of docs/errata.md.
        let all = rows(1, &[1, 3, 5], |n| (-0.7f64).powi(n as i32));
        assert!((all[1][1] + 0.1645).abs() <= 0.5e-4 && (all[2][2] - 0.159).abs() <= 0.5e-3, "{all:?}");
    }

    #[test]
    fn an_expansion_that_begins_with_dt_shows_in_three_rows() {
        let tableau = |first: fn(f64) -> f64| {
            let mut t = Tableau::default();
            t.begin(2);
            [1, 3, 5].iter().for_each(|&n| t.push(n, &[first(1.0 / n as f64), 0.0]));
            t
        };
        let mut odd = tableau(|h| 2.0 + 0.3 * h + 0.1 * h * h);
        assert!(odd.looks_odd(0..2, 1e-12) && !odd.looks_odd(0..2, 1.0) && !odd.looks_odd(1..2, 0.0));
        assert!(!tableau(|h| 2.0 + 0.3 * h * h + 0.1 * h.powi(4)).looks_odd(0..2, 1e-12));
        // γ⁺ = −e γ⁻ in every substep: no expansion.
        assert!(!tableau(|h| (-0.7f64).powi((1.0 / h).round() as i32)).looks_odd(0..2, 1e-12));
        odd.begin_again(1);
        let off = (odd.diagonal().0[0] - 2.0).abs();
        assert!(off <= 8.0 * f64::EPSILON, "{off:e}: the parabola is continued to 0 exactly");
    }

    #[test]
    fn weights_are_those_of_the_polynomial_through_the_rows() {
        for power in [1, 2] {
            let counts = [1, 3, 5, 7];
            let w = Tableau::weights(&counts, power);
            for p in 0..counts.len() as i32 {
                // A polynomial in (1/n)^s of degree below the number of rows is continued to 0 exactly.
                let sum: f64 = w.iter().zip(counts).map(|(w, n)| w * f64::from(n).powi(-power * p)).sum();
                let expected = if p == 0 { 1.0 } else { 0.0 };
                let size: f64 = w.iter().map(|w| w.abs()).sum();
                assert!((sum - expected).abs() <= 8.0 * f64::EPSILON * size, "s = {power}, p = {p}: {sum}");
            }
        }
    }
}
