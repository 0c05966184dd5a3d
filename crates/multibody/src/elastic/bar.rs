//! A linear elastic bar by finite elements [Acary2013, (71)].
//!
//! N elements of length l_e = L/N, node displacements q_0 .. q_N along the bar,
//!
//! ```text
//! M_e = ρ S l_e/6 [2 1; 1 2],    K_e = E S/l_e [1 −1; −1 1],    V = ½ qᵀ K q
//! ```
//!
//! with the consistent mass. Both are tridiagonal and constant, so that the iteration matrix is factored once and a step
//! is a few passes over the nodes.

use complementarity::linear::Matrix;

/// A bar, as it is described to a [`crate::Builder`].
#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    /// Its name; its coordinates are the displacements `NAME_0` .. `NAME_N` of its nodes, m.
    pub name: String,
    /// Number of elements N.
    pub elements: usize,
    /// Length, m.
    pub length: f64,
    /// Area of the cross section, m².
    pub area: f64,
    /// Density, kg/m³.
    pub density: f64,
    /// Young's modulus, Pa.
    pub modulus: f64,
    /// Displacement of all nodes at the start, m.
    pub displacement: f64,
    /// Velocity of all nodes at the start, m/s.
    pub velocity: f64,
}

/// A bar at work.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Chain {
    /// First coordinate.
    pub(crate) first: usize,
    pub(crate) elements: usize,
    /// ρ S l_e/6, kg.
    pub(crate) sixth: f64,
    /// E S/l_e, N/m.
    pub(crate) stiffness: f64,
}

impl Chain {
    pub(crate) fn add_mass(&self, m: &mut Matrix) {
        for i in self.first..self.first + self.elements {
            m.add(i, i, 2.0 * self.sixth);
            m.add(i, i + 1, self.sixth);
            m.add(i + 1, i, self.sixth);
            m.add(i + 1, i + 1, 2.0 * self.sixth);
        }
    }

    pub(crate) fn add_force(&self, q: &[f64], h: &mut [f64]) {
        let (q, h) = (&q[self.first..=self.first + self.elements], &mut h[self.first..=self.first + self.elements]);
        let mut before = 0.0;
        for (h, q) in h.iter_mut().zip(q.windows(2)) {
            let tension = self.stiffness * (q[1] - q[0]);
            *h += tension - before;
            before = tension;
        }
        h[self.elements] -= before;
    }

    /// Adds a·∂h/∂q = −a K.
    pub(crate) fn add_jacobian(&self, a: f64, m: &mut Matrix) {
        let k = a * self.stiffness;
        for i in self.first..self.first + self.elements {
            m.add(i, i, -k);
            m.add(i, i + 1, k);
            m.add(i + 1, i, k);
            m.add(i + 1, i + 1, -k);
        }
    }

    pub(crate) fn energy(&self, q: &[f64]) -> f64 {
        let q = &q[self.first..=self.first + self.elements];
        0.5 * self.stiffness * q.windows(2).map(|w| (w[1] - w[0]) * (w[1] - w[0])).sum::<f64>()
    }
}
