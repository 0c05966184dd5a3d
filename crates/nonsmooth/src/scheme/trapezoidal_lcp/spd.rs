//! Jacobians of forces that make M̃ positive definite for any step, after [Potra2006, (10.13), (10.14)].
//!
//! For springs and dampers −½ Σ γ φ², −½ Σ δ ψ̇² between points the paper takes k̃_q = −Σ γ ∇φ∇φᵀ and k̃_v = F(v) − Σ δ ∇ψ∇ψᵀ with an antisymmetric F(v): what
//! is left is negative semidefinite, so that M̃ = M − (h/2) k̃_v − (h²/4) k̃_q is positive definite. Here the forces are any: of a Jacobian J the antisymmetric part stays as it is
//! (xᵀJx does not see it, F(v) is a part of it), and of its symmetric part the negative semidefinite one,
//!
//! ```text
//! J̃ = ½ (J − Jᵀ) + [½ (J + Jᵀ)]₋ ,     [Σ λ v vᵀ]₋ = Σ min(λ, 0) v vᵀ .
//! ```
//!
//! Where J has no part that drives, as that of springs in tension, nothing is changed and the order stays 2; the paper's choice drops the
//! geometric stiffness always. Done for each set of velocities that forces couple; of more than [`SMALL`] together, [·]₋ is replaced by
//! taking from each diagonal entry what the others of its row exceed it by (Gershgorin), which keeps the pattern and is exact for a chain of springs.

use complementarity::linear::{Matrix, Pattern};

/// Velocities that are coupled up to which eigenvalues are used.
pub(super) const SMALL: usize = 60;

/// Scratch.
#[derive(Default)]
pub(super) struct Work {
    component: Vec<usize>,
    symmetric: Vec<f64>,
    vectors: Vec<f64>,
}

impl Work {
    /// J ← J̃.
    pub(super) fn dissipative(&mut self, pattern: &Pattern, j: &mut Matrix) {
        let n = pattern.size();
        // Connected components by their smallest member.
        self.component.clear();
        self.component.extend(0..n);
        let component = &mut self.component;
        fn root(component: &mut [usize], mut i: usize) -> usize {
            while component[i] != i {
                component[i] = component[component[i]];
                i = component[i];
            }
            i
        }
        j.for_each_entry(|a, b, v| {
            if v != 0.0 {
                let (a, b) = (root(component, a), root(component, b));
                component[a.max(b)] = a.min(b);
            }
        });
        let mut members: std::collections::BTreeMap<usize, Vec<usize>> = std::collections::BTreeMap::new();
        for i in 0..n {
            let r = root(&mut self.component, i);
            members.entry(r).or_default().push(i);
        }
        for list in members.values() {
            if list.len() <= SMALL { self.clip(list, j) } else { self.dominate(list, j) }
        }
    }

    /// Takes the driving part of the symmetric part of J over some velocities away.
    fn clip(&mut self, list: &[usize], j: &mut Matrix) {
        let n = list.len();
        self.symmetric.clear();
        for &a in list {
            self.symmetric.extend(list.iter().map(|&b| 0.5 * (j.get(a, b) + j.get(b, a))));
        }
        self.vectors.clear();
        self.vectors.resize(n * n, 0.0);
        (0..n).for_each(|i| self.vectors[i * n + i] = 1.0);
        jacobi(n, &mut self.symmetric, &mut self.vectors);
        let scale = (0..n).fold(0.0f64, |m, i| m.max(self.symmetric[i * n + i].abs()));
        for k in 0..n {
            let value = self.symmetric[k * n + k];
            // Rounding of a zero eigenvalue drives nothing.
            if value <= 1e-14 * scale {
                continue;
            }
            for (a, &row) in list.iter().enumerate() {
                for (b, &column) in list.iter().enumerate() {
                    let v = value * self.vectors[a * n + k] * self.vectors[b * n + k];
                    if v != 0.0 {
                        j.add(row, column, -v);
                    }
                }
            }
        }
    }

    /// Makes −½(J + Jᵀ) diagonally dominant over some velocities.
    fn dominate(&mut self, list: &[usize], j: &mut Matrix) {
        let mut others: std::collections::BTreeMap<usize, f64> = list.iter().map(|&i| (i, 0.0)).collect();
        j.for_each_entry(|a, b, v| {
            if a != b {
                for i in [a, b] {
                    if let Some(sum) = others.get_mut(&i) {
                        *sum += 0.5 * v.abs();
                    }
                }
            }
        });
        for (&i, &sum) in &others {
            let excess = j.get(i, i) + sum;
            if excess > 1e-14 * sum {
                j.add(i, i, -excess);
            }
        }
    }
}

/// Eigenvalues (onto the diagonal) and eigenvectors (columns) of a symmetric matrix by Jacobi's rotations.
fn jacobi(n: usize, a: &mut [f64], vectors: &mut [f64]) {
    for _ in 0..50 {
        let off: f64 = (0..n).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| a[i * n + j] * a[i * n + j]).sum();
        let diagonal: f64 = (0..n).map(|i| a[i * n + i] * a[i * n + i]).sum();
        if off <= 1e-32 * diagonal || off == 0.0 {
            return;
        }
        for p in 0..n {
            for q in p + 1..n {
                let apq = a[p * n + q];
                if apq == 0.0 {
                    continue;
                }
                let theta = (a[q * n + q] - a[p * n + p]) / (2.0 * apq);
                let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
                let c = 1.0 / (t * t + 1.0).sqrt();
                let s = t * c;
                for k in 0..n {
                    let (x, y) = (a[k * n + p], a[k * n + q]);
                    (a[k * n + p], a[k * n + q]) = (c * x - s * y, s * x + c * y);
                }
                for k in 0..n {
                    let (x, y) = (a[p * n + k], a[q * n + k]);
                    (a[p * n + k], a[q * n + k]) = (c * x - s * y, s * x + c * y);
                }
                for k in 0..n {
                    let (x, y) = (vectors[k * n + p], vectors[k * n + q]);
                    (vectors[k * n + p], vectors[k * n + q]) = (c * x - s * y, s * x + c * y);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(n: usize, values: &[f64]) -> (Pattern, Matrix) {
        let mut pattern = Pattern::new(n);
        pattern.couple(&(0..n).collect::<Vec<_>>());
        let mut m = Matrix::new(&pattern);
        m.add_all(values);
        (pattern, m)
    }

    fn after(n: usize, values: &[f64]) -> Vec<f64> {
        let (pattern, mut m) = matrix(n, values);
        Work::default().dissipative(&pattern, &mut m);
        (0..n * n).map(|i| m.get(i / n, i % n)).collect()
    }

    #[test]
    fn what_does_not_drive_stays_and_what_drives_goes() {
        // A spring between two points, a gyroscopic part, and both.
        let spring = [-2.0, 2.0, 2.0, -2.0];
        assert_eq!(after(2, &spring), spring);
        let gyroscopic = [0.0, 3.0, -3.0, 0.0];
        assert_eq!(after(2, &gyroscopic), gyroscopic);
        let near = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-14);
        assert!(near(&after(2, &[-2.0, 5.0, -1.0, -2.0]), &[-2.0, 5.0, -1.0, -2.0]));
        // diag(1, -4) turned by 45 degrees: the part along (1, 1)/sqrt 2 drives.
        assert!(near(&after(2, &[-1.5, 2.5, 2.5, -1.5]), &[-2.0, 2.0, 2.0, -2.0]));
        assert!(near(&after(1, &[7.0]), &[0.0]));
    }

    #[test]
    fn a_long_chain_stays_as_it_is_and_its_driving_part_goes() {
        let n = SMALL + 5;
        let mut chain = vec![0.0; n * n];
        for i in 0..n {
            chain[i * n + i] = -2.0;
            if i > 0 {
                (chain[i * n + i - 1], chain[(i - 1) * n + i]) = (1.0, 1.0);
            }
        }
        assert_eq!(after(n, &chain), chain);
        chain[3 * n + 3] = 1.0;
        let found = after(n, &chain);
        assert_eq!(found[3 * n + 3], -2.0);
    }
}
