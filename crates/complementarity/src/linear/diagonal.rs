//! A diagonal matrix: bodies whose coordinates are those of their centres of mass.

use super::Singular;

#[derive(Debug, Clone)]
pub(crate) struct Diagonal {
    values: Vec<f64>,
}

impl Diagonal {
    pub(crate) fn new(n: usize) -> Self {
        Self { values: vec![0.0; n] }
    }

    pub(crate) fn values(&self) -> &[f64] {
        &self.values
    }

    pub(crate) fn values_mut(&mut self) -> &mut [f64] {
        &mut self.values
    }

    #[inline]
    pub(crate) fn add(&mut self, i: usize, j: usize, v: f64) {
        if i == j {
            self.values[i] += v;
        }
    }

    pub(crate) fn get(&self, i: usize, j: usize) -> f64 {
        if i == j { self.values[i] } else { 0.0 }
    }

    pub(crate) fn multiply(&self, x: &[f64], y: &mut [f64]) {
        for ((y, x), d) in y.iter_mut().zip(x).zip(&self.values) {
            *y = d * x;
        }
    }

    /// Nothing to factor: one division per unknown does it.
    pub(crate) fn factor(&self) -> Result<(), Singular> {
        match self.values.iter().map(|v| 1.0 / v).position(|inverse| !(inverse.is_finite() && inverse != 0.0)) {
            Some(row) => Err(Singular { row }),
            None => Ok(()),
        }
    }

    pub(crate) fn solve(&self, x: &mut [f64]) {
        for (x, v) in x.iter_mut().zip(&self.values) {
            *x /= v;
        }
    }
}
