//! The matrices of random problems.

use super::{Random, dot};
use complementarity::linear::Dense;

/// A = WᵀW/rank + shift·I with a random W of `rank` rows.
pub(crate) fn gram(g: &mut Random, n: usize, rank: usize, shift: f64) -> Dense {
    let w: Vec<Vec<f64>> = (0..n).map(|_| g.vector(rank)).collect();
    let mut a = gram_of(&w, &vec![1.0; rank]);
    for v in a.data_mut() {
        *v /= rank as f64;
    }
    for i in 0..n {
        a[(i, i)] += shift;
    }
    a
}

/// Wᵀ diag(compliance) W, from the rows of Wᵀ.
pub(crate) fn gram_of(w: &[Vec<f64>], compliance: &[f64]) -> Dense {
    let n = w.len();
    let mut a = Dense::zeros(n, n);
    for i in 0..n {
        for j in 0..=i {
            let s = (0..compliance.len()).map(|k| w[i][k] * compliance[k] * w[j][k]).sum();
            a[(i, j)] = s;
            a[(j, i)] = s;
        }
    }
    a
}

/// Adds a skew matrix with entries up to `size` times the mean diagonal: A stays as monotone as it was.
pub(crate) fn skewed(g: &mut Random, mut a: Dense, size: f64) -> Dense {
    let n = a.rows();
    let scale = size * (0..n).map(|i| a[(i, i)]).sum::<f64>() / n as f64;
    for i in 0..n {
        for j in 0..i {
            let s = g.between(-scale, scale);
            a[(i, j)] += s;
            a[(j, i)] -= s;
        }
    }
    a
}

/// Unsymmetric with a strictly dominant positive diagonal in every row: a P-matrix.
pub(crate) fn dominant(g: &mut Random, n: usize) -> Dense {
    let mut a = Dense::zeros(n, n);
    for i in 0..n {
        let row = g.vector(n);
        let sum: f64 = (0..n).filter(|&j| j != i).map(|j| row[j].abs()).sum();
        a.row_mut(i).copy_from_slice(&row);
        a[(i, i)] = 1.05 * sum + 0.01;
    }
    a
}

/// D A D with entries of D between 10^−decades/2 and 10^decades/2.
pub(crate) fn stretched(g: &mut Random, mut a: Dense, decades: f64) -> Dense {
    let n = a.rows();
    let d: Vec<f64> = (0..n).map(|_| 10f64.powf(g.between(-0.5, 0.5) * decades)).collect();
    for i in 0..n {
        for j in 0..n {
            a[(i, j)] *= d[i] * d[j];
        }
    }
    a
}

/// Rigid bodies: discs with (x, y, angle) or balls with six unknowns, contact points on random levers.
pub(crate) struct Bodies {
    dofs: usize,
    pub(crate) compliance: Vec<f64>,
    /// Rows of Wᵀ.
    pub(crate) w: Vec<Vec<f64>>,
}

impl Bodies {
    pub(crate) fn new(g: &mut Random, dofs: usize, bodies: usize) -> Self {
        let mut compliance = Vec::new();
        for _ in 0..bodies {
            let mass = g.between(0.5, 3.0);
            let translations = if dofs == 3 { 2 } else { 3 };
            // A solid disc or ball of radius one: J = m/2 or 2m/5.
            let inertia = if dofs == 3 { 0.5 * mass } else { 0.4 * mass };
            compliance.extend((0..dofs).map(|k| if k < translations { 1.0 / mass } else { 1.0 / inertia }));
        }
        Self { dofs, compliance, w: Vec::new() }
    }

    /// The row of direction `n` at lever `p` on a body, with a sign.
    fn add(&self, row: &mut [f64], body: usize, sign: f64, n: &[f64], p: &[f64]) {
        let row = &mut row[body * self.dofs..(body + 1) * self.dofs];
        let spin: Vec<f64> = if self.dofs == 3 {
            vec![p[0] * n[1] - p[1] * n[0]]
        } else {
            vec![p[1] * n[2] - p[2] * n[1], p[2] * n[0] - p[0] * n[2], p[0] * n[1] - p[1] * n[0]]
        };
        for (x, y) in row.iter_mut().zip(n.iter().chain(&spin)) {
            *x += sign * y;
        }
    }

    /// Rows of the directions between a random body and another one or the ground.
    fn connect(&mut self, g: &mut Random, directions: &[Vec<f64>]) {
        let n = self.compliance.len() / self.dofs;
        let space = if self.dofs == 3 { 2 } else { 3 };
        let first = g.count(0, n - 1);
        let second = g.count(0, n);
        let (p, q) = (g.direction(space), g.direction(space));
        for d in directions {
            let mut row = vec![0.0; self.compliance.len()];
            self.add(&mut row, first, 1.0, d, &p);
            if second < n && second != first {
                self.add(&mut row, second, -1.0, d, &q);
            }
            self.w.push(row);
        }
    }

    pub(crate) fn contact(&mut self, g: &mut Random) {
        let frame = if self.dofs == 3 {
            let n = g.direction(2);
            let t = vec![-n[1], n[0]];
            vec![n, t]
        } else {
            let n = g.direction(3);
            let mut s = g.direction(3);
            let along = dot(&s, &n);
            for k in 0..3 {
                s[k] -= along * n[k];
            }
            let length = dot(&s, &s).sqrt().max(1e-3);
            let s: Vec<f64> = s.iter().map(|x| x / length).collect();
            let t = vec![n[1] * s[2] - n[2] * s[1], n[2] * s[0] - n[0] * s[2], n[0] * s[1] - n[1] * s[0]];
            vec![n, s, t]
        };
        self.connect(g, &frame);
    }

    pub(crate) fn joint(&mut self, g: &mut Random) {
        let space = if self.dofs == 3 { 2 } else { 3 };
        let axes: Vec<Vec<f64>> =
            (0..space).map(|i| (0..space).map(|k| if i == k { 1.0 } else { 0.0 }).collect()).collect();
        self.connect(g, &axes);
    }
}
