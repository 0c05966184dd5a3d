//! Polynomials through nodes in [0, 1], by Lagrange's formula, and their integrals.
//!
//! ```text
//! ℓ_k(s) = Π_{j≠k} (s − c_j)/(c_k − c_j),      w_k(s) = ∫₀ˢ ℓ_k
//! ```
//!
//! and those with given values and slopes at the nodes (Hermite): Σ f_k (1 − 2 (s − c_k) ℓ_k'(c_k)) ℓ_k(s)² + f_k' (s − c_k) ℓ_k(s)².
//!
//! Integrals are sums over Gauss-Legendre points, which have positive weights: for the few nodes of a time step they are exact up to rounding,
//! where sums of powers would cancel.

use std::sync::OnceLock;

/// Most nodes for which integrals are exact: a polynomial of degree 2·POINTS − 1 has one more.
pub const MAX_NODES: usize = 2 * POINTS;
const POINTS: usize = 6;

/// Gauss-Legendre points and weights on [0, 1].
pub fn gauss() -> &'static [(f64, f64); POINTS] {
    static GAUSS: OnceLock<[(f64, f64); POINTS]> = OnceLock::new();
    GAUSS.get_or_init(|| {
        let n = POINTS as f64;
        std::array::from_fn(|i| {
            // Newton's method for the i-th zero of the Legendre polynomial, from Tricomi's guess.
            let mut x = (std::f64::consts::PI * (i as f64 + 0.75) / (n + 0.5)).cos();
            let mut slope = 1.0;
            for _ in 0..20 {
                let (mut p, mut before) = (x, 1.0);
                for k in 2..=POINTS {
                    let k = k as f64;
                    (p, before) = (((2.0 * k - 1.0) * x * p - (k - 1.0) * before) / k, p);
                }
                slope = n * (x * p - before) / (x * x - 1.0);
                x -= p / slope;
            }
            (0.5 * (1.0 - x), 1.0 / ((1.0 - x * x) * slope * slope))
        })
    })
}

/// ℓ_k(s) of the nodes.
pub fn lagrange(nodes: &[f64], k: usize, s: f64) -> f64 {
    let others = nodes.iter().enumerate().filter(|(j, _)| *j != k);
    others.fold(1.0, |product, (_, c)| product * ((s - c) / (nodes[k] - c)))
}

/// ℓ_k'(s) of the nodes.
fn lagrange_slope(nodes: &[f64], k: usize, s: f64) -> f64 {
    let others = || nodes.iter().enumerate().filter(move |(j, _)| *j != k);
    let without = |i: usize| others().filter(|(j, _)| *j != i).fold(1.0, |p, (_, c)| p * ((s - c) / (nodes[k] - c)));
    others().map(|(i, c)| without(i) / (nodes[k] - c)).sum()
}

/// Weights of the value and the slope at node k in the Hermite polynomial at s, and in its slope.
pub struct Hermite {
    /// Of the value at the node, in the value.
    pub value: f64,
    /// Of the slope at the node, in the value.
    pub slope: f64,
    /// Of the value at the node, in the slope.
    pub value_rate: f64,
    /// Of the slope at the node, in the slope.
    pub slope_rate: f64,
}

impl Hermite {
    /// The weights of node k at s.
    pub fn new(nodes: &[f64], k: usize, s: f64) -> Self {
        let (l, rate, tilt) = (lagrange(nodes, k, s), lagrange_slope(nodes, k, s), lagrange_slope(nodes, k, nodes[k]));
        let (d, square, change) = (s - nodes[k], l * l, 2.0 * l * rate);
        Self {
            value: (1.0 - 2.0 * d * tilt) * square,
            slope: d * square,
            value_rate: -2.0 * tilt * square + (1.0 - 2.0 * d * tilt) * change,
            slope_rate: square + d * change,
        }
    }
}

/// w_k(s) = ∫₀ˢ ℓ_k of at most [`MAX_NODES`] nodes.
pub fn lagrange_integral(nodes: &[f64], k: usize, s: f64) -> f64 {
    s * gauss().iter().map(|(x, w)| w * lagrange(nodes, k, s * x)).sum::<f64>()
}

/// ∫ over [0, 1] of a function, by the same points: exact for polynomials of degree 11.
pub fn integrate(mut f: impl FnMut(f64) -> f64) -> f64 {
    gauss().iter().map(|(x, w)| w * f(*x)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integrals_of_powers_are_exact() {
        for degree in 0..=11 {
            let found = integrate(|x| x.powi(degree));
            // Six products and sums of numbers below one.
            assert!((found - 1.0 / f64::from(degree + 1)).abs() <= 8.0 * f64::EPSILON, "degree {degree}: {found}");
        }
    }

    #[test]
    fn a_polynomial_of_degree_7_is_its_own_interpolant_with_slopes() {
        let nodes = [0.0, 0.3, 0.7, 1.0];
        let (f, df) = (|x: f64| x.powi(7) - 2.0 * x * x, |x: f64| 7.0 * x.powi(6) - 4.0 * x);
        for s in [0.0, 0.1, 0.3, 0.5, 1.0] {
            let (mut value, mut slope) = (0.0, 0.0);
            for (k, &c) in nodes.iter().enumerate() {
                let h = Hermite::new(&nodes, k, s);
                value += h.value * f(c) + h.slope * df(c);
                slope += h.value_rate * f(c) + h.slope_rate * df(c);
            }
            assert!((value - f(s)).abs() <= 1e-14 && (slope - df(s)).abs() <= 1e-13, "{s}: {value}, {slope}");
        }
    }

    #[test]
    fn a_cubic_is_its_own_interpolant() {
        let nodes = [0.0, 0.2, 0.7, 1.0];
        let (f, integral) = (|x: f64| 2.0 - x + 3.0 * x * x * x, |x: f64| 2.0 * x - x * x / 2.0 + 0.75 * x.powi(4));
        for s in [0.0, 0.1, 0.5, 1.0, 1.3] {
            let value: f64 = (0..4).map(|k| lagrange(&nodes, k, s) * f(nodes[k])).sum();
            let sum: f64 = (0..4).map(|k| lagrange_integral(&nodes, k, s) * f(nodes[k])).sum();
            // Lagrange's weights reach some 20 at 1.3.
            assert!((value - f(s)).abs() <= 1e-13 && (sum - integral(s)).abs() <= 1e-13, "{s}: {value}, {sum}");
        }
    }
}
