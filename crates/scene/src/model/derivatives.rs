//! Derivatives of the parts of a model by formula, as tapes. One evaluation on plain numbers replaces dual numbers, which carry all directions
//! through every operation. Used only where both give the same bits, and not for large functions.

use super::parts::Variation;
use crate::formula::{Graph, Id, Tape};

/// Largest number of operations times directions for which derivatives are compiled; beyond, compiling would take long.
const MAX_WORK: usize = 20_000;

impl Variation {
    fn coordinate(&self, i: usize) -> u32 {
        (1 + i) as u32
    }

    fn velocity(&self, i: usize) -> u32 {
        (1 + self.nq + i) as u32
    }

    /// Derivatives of `roots`, row by row.
    fn jacobian(&self, graph: &mut Graph, roots: &[Id], by: &[u32]) -> Vec<Id> {
        roots.iter().flat_map(|&r| by.iter().map(move |&v| (r, v))).map(|(r, v)| graph.derivative(r, v)).collect()
    }

    fn is_fit(&self, graph: &Graph, roots: &[Id], directions: usize) -> bool {
        graph.size(roots).saturating_mul(directions) <= MAX_WORK && graph.differentiates_as_dual_numbers(roots)
    }

    /// ∂V/∂q and ∂²V/∂q² of a potential over the coordinates `on`.
    pub(super) fn potential_derivatives(&self, graph: &mut Graph, v: Id, on: &[usize]) -> [Option<Tape>; 2] {
        let by: Vec<u32> = on.iter().map(|&i| self.coordinate(i)).collect();
        if !self.is_fit(graph, &[v], by.len() * by.len()) {
            return [None, None];
        }
        let gradient = self.jacobian(graph, &[v], &by);
        let hessian = self.jacobian(graph, &gradient, &by);
        [gradient, hessian].map(|roots| self.tape(graph, &roots, on, &[]).ok())
    }

    /// (∂h/∂q, ∂h/∂u) of a force, where q̇ = u.
    pub(super) fn force_jacobian(
        &self,
        graph: &mut Graph,
        h: &[Id],
        on: &[usize],
        velocities: &[usize],
    ) -> Option<Tape> {
        let by = on.iter().map(|&i| self.coordinate(i)).chain(velocities.iter().map(|&i| self.velocity(i)));
        let by: Vec<u32> = by.collect();
        if !self.is_fit(graph, h, by.len()) {
            return None;
        }
        let roots = self.jacobian(graph, h, &by);
        self.tape(graph, &roots, on, velocities).ok()
    }

    /// ∂g/∂t, ∂g/∂q of every gap or joint component `g`; then ∂γ/∂u and γ at u = 0 of the slip velocities `slip`.
    pub(super) fn rows(
        &self,
        graph: &mut Graph,
        g: &[Id],
        slip: &[Id],
        on: &[usize],
        velocities: &[usize],
    ) -> Option<Tape> {
        let by: Vec<u32> = std::iter::once(0).chain(on.iter().map(|&i| self.coordinate(i))).collect();
        let by_u: Vec<u32> = velocities.iter().map(|&i| self.velocity(i)).collect();
        let all: Vec<Id> = g.iter().chain(slip).copied().collect();
        if !self.is_fit(graph, &all, by.len().max(by_u.len())) {
            return None;
        }
        let mut roots = self.jacobian(graph, g, &by);
        roots.extend(self.jacobian(graph, slip, &by_u));
        for &s in slip {
            roots.push(graph.without(s, |v| v > self.nq as u32));
        }
        self.tape(graph, &roots, on, velocities).ok()
    }
}
