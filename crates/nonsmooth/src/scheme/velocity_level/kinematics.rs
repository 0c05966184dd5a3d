//! W and χ of the candidates of a step, kept where they are constant.

use crate::contract::{Candidates, System};

/// W and χ of the candidates; constant ones are evaluated once per list and kept, the others are evaluated into one place.
#[derive(Default)]
pub(in crate::scheme) struct Kinematics {
    version: u64,
    /// First value of W, and of χ, of every candidate; empty if none is constant, and so is `known`.
    start: Vec<(u32, u32)>,
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
        // The place of those that change comes first.
        let changing = candidates.items().iter().filter(|k| !k.constant);
        let (mut w, mut chi) = changing.fold((0, 0), |(w, chi), k| (w.max(k.dim() * k.dofs.len()), chi.max(k.dim())));
        self.start.clear();
        self.known.clear();
        if candidates.items().iter().any(|k| k.constant) {
            for k in candidates.items() {
                if !k.constant {
                    self.start.push((0, 0));
                    continue;
                }
                self.start.push((w as u32, chi as u32));
                w += k.dim() * k.dofs.len();
                chi += k.dim();
            }
            self.known.resize(candidates.len(), false);
        }
        self.w.clear();
        self.w.resize(w, 0.0);
        self.chi.clear();
        self.chi.resize(chi, 0.0);
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
        let k = &list.items()[i];
        let (a, b) = self.start.get(i).map_or((0, 0), |&(a, b)| (a as usize, b as usize));
        let (w, chi) = (a..a + k.dim() * k.dofs.len(), b..b + k.dim());
        if !self.known.get(i).is_some_and(|known| *known) {
            system.velocity(k, t, q, &mut self.w[w.clone()], &mut self.chi[chi.clone()]);
            if k.constant {
                self.known[i] = true;
            }
        }
        (&self.w[w], &self.chi[chi])
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
