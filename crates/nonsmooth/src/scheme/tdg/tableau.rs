//! Weights of the schemes, computed from their definitions [Schindler2014, (46), (47), (65), (66)].

use crate::polynomial::{lagrange, lagrange_integral};
use std::f64::consts::FRAC_PI_2;

/// At which end of an interval the velocity may jump.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// D⁻, at its right end: Problem 3.2.
    Minus,
    /// D⁺, at its left end: Problem 3.1.
    Plus,
}

/// Weights of a scheme of degree M with M + 1 stages; matrices row by row, a row for a stage.
#[derive(Debug, Clone, PartialEq)]
pub struct Tableau {
    /// D⁻ or D⁺.
    pub side: Side,
    /// Nodes c_l in [0, 1]: Chebyshev points.
    pub c: Vec<f64>,
    /// β_l, the weights of Clenshaw and Curtis, (46).
    pub beta: Vec<f64>,
    /// b_lk = β_k(t_l), (46): positions of the stages from velocities.
    pub b: Vec<f64>,
    /// a_lk: velocities of the stages from accelerations.
    pub a: Vec<f64>,
    /// κ_l: velocities of the stages from the jump.
    pub kappa: Vec<f64>,
}

/// Largest degree.
pub const MAX_DEGREE: usize = 8;

impl Tableau {
    /// The scheme of degree `degree` ≤ [`MAX_DEGREE`].
    pub fn new(side: Side, degree: usize) -> Self {
        let m = degree.min(MAX_DEGREE);
        let n = m + 1;
        let c = nodes(side, m);
        let beta: Vec<f64> = (0..n).map(|k| lagrange_integral(&c, k, 1.0)).collect();
        if m == 0 {
            // No rule of Clenshaw and Curtis: the stage is the start (D⁻) or the end (D⁺).
            let weight = c[0];
            return Self { side, b: vec![weight], a: vec![weight], kappa: vec![weight], c, beta };
        }
        let mut b = vec![0.0; n * n];
        for l in 0..n {
            for k in 0..n {
                b[l * n + k] = lagrange_integral(&c, k, c[l]);
            }
        }
        let (mut a, mut kappa) = (vec![0.0; n * n], vec![0.0; n]);
        match side {
            Side::Minus => {
                // (74): the acceleration is the polynomial through all stages but the last.
                for l in 0..n {
                    for k in 0..m {
                        a[l * n + k] = lagrange_integral(&c[..m], k, c[l]);
                    }
                }
            }
            Side::Plus => {
                // (69), (70): through all stages but the first, and the first velocity from the jump at its left end.
                let tilde = &c[1..];
                for l in 0..n {
                    a[l * n] = beta[0];
                    for k in 1..n {
                        a[l * n + k] = lagrange_integral(tilde, k - 1, c[l]) - beta[0] * lagrange(tilde, k - 1, 0.0);
                    }
                    kappa[l] = a[l * n + m] / beta[m];
                }
            }
        }
        Self { side, c, beta, b, a, kappa }
    }

    /// Number of stages, M + 1.
    pub fn stages(&self) -> usize {
        self.c.len()
    }

    /// M.
    pub fn degree(&self) -> usize {
        self.c.len() - 1
    }

    /// What stage `l` is for the iteration of a step.
    pub(super) fn role(&self, l: usize) -> Role {
        let n = self.stages();
        let zero = |w: &[f64]| w[l * n..(l + 1) * n].iter().all(|w| *w == 0.0);
        if zero(&self.a) && zero(&self.b) && self.kappa[l] == 0.0 {
            Role::Start
        } else if (0..n).all(|row| self.a[row * n + l] == 0.0) {
            Role::Last
        } else {
            Role::Iterated
        }
    }
}

/// What a stage is for the iteration of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Its position and velocity are those of the start.
    Start,
    /// It depends on accelerations, and others on its own.
    Iterated,
    /// No other stage needs its acceleration.
    Last,
}

/// Chebyshev points on [0, 1], symmetric to the last bit; for M = 0 the start or the end.
fn nodes(side: Side, m: usize) -> Vec<f64> {
    if m == 0 {
        return vec![if side == Side::Minus { 0.0 } else { 1.0 }];
    }
    let point = |l: usize| (FRAC_PI_2 * l as f64 / m as f64).sin().powi(2);
    (0..=m)
        .map(|l| match (2 * l).cmp(&m) {
            std::cmp::Ordering::Less => point(l),
            std::cmp::Ordering::Equal => 0.5,
            std::cmp::Ordering::Greater => 1.0 - point(m - l),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: [Side; 2] = [Side::Minus, Side::Plus];
    /// Sums of nine products of weights, the largest of which is near 3 (κ, a of degree 8).
    const ROUNDING: f64 = 32.0 * f64::EPSILON;

    fn near(found: f64, expected: f64, what: &str) {
        assert!((found - expected).abs() <= ROUNDING, "{what}: {found} is not {expected}");
    }

    #[test]
    fn weights_are_those_of_clenshaw_and_curtis() {
        // [Trefethen, Is Gauss quadrature better than Clenshaw-Curtis?, clencurt]: the same from cosine sums, on [-1, 1].
        for m in 1..=MAX_DEGREE {
            let t = Tableau::new(Side::Minus, m);
            for l in 0..=m {
                let theta = std::f64::consts::PI * l as f64 / m as f64;
                let ends = l == 0 || l == m;
                let mut w = 1.0;
                for k in 1..=m / 2 {
                    let half = if 2 * k == m { 1.0 } else { 2.0 };
                    w -= half * (2.0 * k as f64 * theta).cos() / (4.0 * (k * k) as f64 - 1.0);
                }
                let expected = w / m as f64 * if ends { 0.5 } else { 1.0 };
                near(t.beta[l], expected, &format!("beta_{l} of degree {m}"));
            }
        }
    }

    #[test]
    fn weights_satisfy_their_identities() {
        for side in BOTH {
            for m in 0..=MAX_DEGREE {
                let (t, n) = (Tableau::new(side, m), m + 1);
                let sum = |w: &[f64]| w.iter().sum::<f64>();
                near(sum(&t.beta), 1.0, "sum of beta");
                for l in 0..n {
                    near(sum(&t.b[l * n..(l + 1) * n]), t.c[l], "sum of a row of b");
                    // Stage velocities are exact for a constant acceleration.
                    near(sum(&t.a[l * n..(l + 1) * n]), t.c[l], "sum of a row of a");
                }
                // Exact for powers up to M, and one more where M is even: the order of the quadrature.
                let exact = if m.is_multiple_of(2) && m > 0 { m + 1 } else { m };
                for p in 0..=exact {
                    let powers: f64 = t.beta.iter().zip(&t.c).map(|(w, c)| w * c.powi(p as i32)).sum();
                    near(powers, 1.0 / (p as f64 + 1.0), "a power");
                }
                let next = exact as i32 + 1;
                let powers: f64 = t.beta.iter().zip(&t.c).map(|(w, c)| w * c.powi(next)).sum();
                assert!((powers - 1.0 / f64::from(next + 1)).abs() > 1e-8, "no more than that: degree {m}");
                // The last position is that of the end, and so is the last velocity of D⁺.
                if m > 0 {
                    (0..n).for_each(|k| near(t.b[m * n + k], t.beta[k], "last row of b"));
                }
                if side == Side::Plus {
                    (0..n).for_each(|k| near(t.a[m * n + k], t.beta[k], "last row of a"));
                    near(t.kappa[m], 1.0, "the jump in the last stage");
                    if m > 0 {
                        let mean: f64 = t.beta.iter().zip(&t.kappa).map(|(w, k)| w * k).sum();
                        near(mean, 0.0, "the position does not depend on the jump");
                    }
                }
            }
        }
    }

    /// (75) and (71) in full: v_M + Δt β_M {a_M − Σ ℓ̃⁻_k(t_i) a_k}, and the last stage of D⁺, have the total weights β.
    #[test]
    fn total_velocity_weights_equal_beta() {
        for m in 1..=MAX_DEGREE {
            let (t, n) = (Tableau::new(Side::Minus, m), m + 1);
            for k in 0..n {
                let jump = if k == m { 1.0 } else { -lagrange(&t.c[..m], k, 1.0) };
                near(t.a[m * n + k] + t.beta[m] * jump, t.beta[k], &format!("D-, degree {m}, stage {k}"));
            }
        }
    }

    #[test]
    fn small_degrees_are_known_tableaux() {
        let matrix = |side, m| Tableau::new(side, m).a;
        let check = |found: Vec<f64>, expected: &[f64]| {
            found.iter().zip(expected).for_each(|(a, b)| near(*a, *b, "a tableau"));
        };
        // Lobatto III and IIIC of two and three stages (Hairer & Wanner, Solving Ordinary Differential Equations II, IV.5).
        check(matrix(Side::Minus, 1), &[0.0, 0.0, 1.0, 0.0]);
        check(matrix(Side::Plus, 1), &[0.5, -0.5, 0.5, 0.5]);
        check(matrix(Side::Minus, 2), &[0.0, 0.0, 0.0, 0.25, 0.25, 0.0, 0.0, 1.0, 0.0]);
        let iiic = [1.0, -2.0, 1.0, 1.0, 2.5, -0.5, 1.0, 4.0, 1.0].map(|x| x / 6.0);
        check(matrix(Side::Plus, 2), &iiic);
        // Stage coefficients of the jump (docs/errata.md).
        let kappa = |m| Tableau::new(Side::Plus, m).kappa;
        check(kappa(1), &[-1.0, 1.0]);
        check(kappa(2), &[1.0, -0.5, 1.0]);
        check(kappa(3), &[-1.0, 1.0, -1.0, 1.0]);
        check(kappa(4), &[1.0, -0.875, 1.0, -0.875, 1.0]);
    }
}
