//! Polynomials inside a step.

use super::Percussions;
use super::bytes::bytes;
use super::field::{Field, Misfit};
use crate::contract::{Candidates, Structure};

/// Values at nodes within a step: they define the polynomials of its dense output, and the forces there.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Stages {
    /// Nodes in [0, 1].
    pub nodes: Vec<f64>,
    /// Coordinates, stage after stage.
    pub q: Vec<f64>,
    /// Velocities, stage after stage.
    pub u: Vec<f64>,
    /// Forces by component of the candidates, stage after stage, N.
    pub lambda: Vec<f64>,
}

impl Stages {
    /// Coordinates at stage `l`.
    pub fn q(&self, l: usize) -> &[f64] {
        let n = self.q.len() / self.nodes.len().max(1);
        &self.q[l * n..(l + 1) * n]
    }

    /// Velocities at stage `l`.
    pub fn u(&self, l: usize) -> &[f64] {
        let n = self.u.len() / self.nodes.len().max(1);
        &self.u[l * n..(l + 1) * n]
    }

    /// Forces at stage `l`, by component of the candidates.
    pub fn lambda(&self, l: usize) -> &[f64] {
        let n = self.lambda.len() / self.nodes.len().max(1);
        &self.lambda[l * n..(l + 1) * n]
    }

    fn vectors(&self) -> [&Vec<f64>; 4] {
        [&self.nodes, &self.q, &self.u, &self.lambda]
    }

    fn vectors_mut(&mut self) -> [&mut Vec<f64>; 4] {
        [&mut self.nodes, &mut self.q, &mut self.u, &mut self.lambda]
    }
}

impl Field for Stages {
    fn clear(&mut self) {
        self.vectors_mut().into_iter().for_each(Vec::clear);
    }
    fn assign(&mut self, other: &Self) {
        self.vectors_mut().into_iter().zip(other.vectors()).for_each(|(a, b)| a.assign(b));
    }
    fn same(&self, other: &Self) -> bool {
        self.vectors().into_iter().zip(other.vectors()).all(|(a, b)| a.same(b))
    }
    fn check(&self, structure: &Structure, percussions: &Percussions) -> Result<(), Misfit> {
        let n = self.nodes.len();
        let sizes = [(&self.q, structure.nq()), (&self.u, structure.nu()), (&self.lambda, percussions.values().len())];
        match sizes.into_iter().find(|(values, width)| values.len() != n * width) {
            Some((values, width)) => Err(Misfit::Size(values.len(), n * width)),
            None => Ok(()),
        }
    }
    fn lay_out(&mut self, from: &Self, layout: &Percussions, list: &Candidates) {
        self.assign(from);
        let components = list.components();
        self.lambda.clear();
        self.lambda.resize(components * from.nodes.len(), 0.0);
        for (j, k) in list.items().iter().enumerate() {
            let Some(at) = layout.place(j, k.id) else { continue };
            for l in 0..from.nodes.len() {
                let (to, values) = (list.range(j).start + l * components, &from.lambda(l)[layout.range(at)]);
                self.lambda[to..to + values.len()].copy_from_slice(values);
            }
        }
    }
}

bytes!(Stages { nodes, q, u, lambda });
