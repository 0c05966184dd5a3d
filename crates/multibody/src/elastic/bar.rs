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

use crate::error::{BuildError, check};
use crate::layout::{First, Part};
use complementarity::linear::{Matrix, Pattern};

/// Description of a bar for a [`crate::Builder`].
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

impl Bar {
    /// Number of its nodes.
    pub(crate) fn nodes(&self) -> usize {
        self.elements.saturating_add(1)
    }
}

/// The matrices of a bar in a system.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BarMatrices {
    /// First coordinate and velocity of its nodes.
    pub(crate) first: First,
    elements: usize,
    /// ρ S l_e/6, kg.
    sixth: f64,
    /// E S/l_e, N/m.
    stiffness: f64,
}

impl BarMatrices {
    /// The matrices of a bar whose nodes begin at `first`.
    pub(crate) fn new(bar: &Bar, first: First) -> Result<Self, BuildError> {
        let numbers = [
            ("its length", bar.length),
            ("its area", bar.area),
            ("its density", bar.density),
            ("its modulus", bar.modulus),
            ("its number of elements", bar.elements as f64),
        ];
        for (what, value) in numbers {
            check(&bar.name, what, "positive and finite", value, value > 0.0 && value.is_finite())?;
        }
        for (what, value) in [("its displacement", bar.displacement), ("its velocity", bar.velocity)] {
            check(&bar.name, what, "finite", value, value.is_finite())?;
        }
        let element = bar.length / bar.elements as f64;
        Ok(Self {
            first,
            elements: bar.elements,
            sixth: bar.density * bar.area * element / 6.0,
            stiffness: bar.modulus * bar.area / element,
        })
    }

    fn nodes(&self) -> usize {
        self.elements + 1
    }

    /// Velocities of the first nodes of all elements; that of the other node follows.
    fn velocities_of_elements(&self) -> std::ops::Range<usize> {
        self.first.velocities(Part::Node, self.elements)
    }

    /// Couples neighbouring nodes.
    pub(crate) fn couple(&self, pattern: &mut Pattern) {
        for i in self.velocities_of_elements() {
            pattern.couple(&[i, i + 1]);
        }
    }

    pub(crate) fn add_mass(&self, m: &mut Matrix) {
        for i in self.velocities_of_elements() {
            m.add(i, i, 2.0 * self.sixth);
            m.add(i, i + 1, self.sixth);
            m.add(i + 1, i, self.sixth);
            m.add(i + 1, i + 1, 2.0 * self.sixth);
        }
    }

    pub(crate) fn add_force(&self, q: &[f64], h: &mut [f64]) {
        let q = &q[self.first.coordinates(Part::Node, self.nodes())];
        let h = &mut h[self.first.velocities(Part::Node, self.nodes())];
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
        for i in self.velocities_of_elements() {
            m.add(i, i, -k);
            m.add(i, i + 1, k);
            m.add(i + 1, i, k);
            m.add(i + 1, i + 1, -k);
        }
    }

    pub(crate) fn energy(&self, q: &[f64]) -> f64 {
        let q = &q[self.first.coordinates(Part::Node, self.nodes())];
        0.5 * self.stiffness * q.windows(2).map(|w| (w[1] - w[0]) * (w[1] - w[0])).sum::<f64>()
    }
}
