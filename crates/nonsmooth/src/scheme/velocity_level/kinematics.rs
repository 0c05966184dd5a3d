//! W and χ of the candidates of a step, kept where they are constant.

use crate::contract::{Candidates, System};

/// W and χ of the candidates; constant ones are evaluated once per list.
#[derive(Default)]
pub(in crate::scheme) struct Kinematics {
    version: u64,
    w_start: Vec<usize>,
    w: Vec<f64>,
    chi: Vec<f64>,
    known: Vec<bool>,
}

impl Kinematics {
    pub(super) fn prepare(&mut self, candidates: &Candidates) {
        if self.version == candidates.version() {
            return;
        }
        self.version = candidates.version();
        self.w_start.clear();
        self.w_start.push(0);
        let mut total = 0;
        for k in candidates.items() {
            total += k.dim * k.dofs.len();
            self.w_start.push(total);
        }
        self.w.clear();
        self.w.resize(total, 0.0);
        self.chi.clear();
        self.chi.resize(candidates.components(), 0.0);
        self.known.clear();
        self.known.resize(candidates.len(), false);
    }

    /// Rows of Wᵀ and χ of candidate `i` at (t,q).
    #[inline]
    pub(super) fn evaluate(
        &mut self,
        system: &dyn System,
        list: &Candidates,
        i: usize,
        t: f64,
        q: &[f64],
    ) -> (&[f64], &[f64]) {
        let (a, b, range) = (self.w_start[i], self.w_start[i + 1], list.range(i));
        if !self.known[i] {
            let k = &list.items()[i];
            system.velocity(k, t, q, &mut self.w[a..b], &mut self.chi[range.clone()]);
            self.known[i] = k.constant;
        }
        (&self.w[a..b], &self.chi[range])
    }

    /// γ of candidate `i` with the kinematics at (t,q).
    #[inline]
    pub(super) fn velocity(
        &mut self,
        system: &dyn System,
        list: &Candidates,
        i: usize,
        t: f64,
        q: &[f64],
        u: &[f64],
        gamma: &mut [f64],
    ) {
        let dofs = &list.items()[i].dofs;
        let (mut w, chi) = self.evaluate(system, list, i, t, q);
        for (g, chi) in gamma.iter_mut().zip(chi) {
            let (row, rest) = w.split_at(dofs.len());
            let mut s = *chi;
            for (a, &d) in row.iter().zip(dofs.iter()) {
                s += a * u[d as usize];
            }
            *g = s;
            w = rest;
        }
    }
}
