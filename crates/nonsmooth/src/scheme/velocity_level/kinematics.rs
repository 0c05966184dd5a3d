//! W and χ of the candidates of a step, kept where they are constant, and for as long as the point where they are evaluated stays.

use crate::contract::{Candidates, Evaluator};
use complementarity::capacity;

/// Components of candidates up to which all are kept.
const FEW: usize = 1000;
/// In `known`: evaluated, and constant.
const ALWAYS: u64 = u64::MAX;

/// W and χ of the candidates. Constant ones are evaluated once per list and kept; the others are evaluated into one place, unless
/// [`Kinematics::at`] says where: then these are kept too, until the point or the list changes.
#[derive(Default)]
pub(in crate::scheme) struct Kinematics {
    version: u64,
    /// First value of W, and of χ, of every candidate; empty if none is kept, and so is `known`.
    start: Vec<(u32, u32)>,
    w: Vec<f64>,
    chi: Vec<f64>,
    /// The point at which each was evaluated; none yet: 0.
    known: Vec<u64>,
    /// Whether all are kept, not only the constant ones.
    all: bool,
    /// Number of the present point, 0 if none was said, and (t,q) of it.
    point: u64,
    t: f64,
    q: Vec<f64>,
}

impl Kinematics {
    /// Says that from now on (t,q) is where the candidates of this list are evaluated.
    pub(in crate::scheme) fn at(&mut self, candidates: &Candidates, t: f64, q: &[f64]) {
        if self.point == 0 {
            // Others are kept now.
            self.version = 0;
        }
        if self.point == 0 || !self.is_at(t, q) {
            self.point += 1;
            self.t = t;
            capacity::assign(&mut self.q, q);
        }
        self.prepare(candidates);
    }

    /// Whether (t,q) is the present point.
    pub(in crate::scheme) fn is_at(&self, t: f64, q: &[f64]) -> bool {
        self.point > 0 && self.t == t && self.q == q
    }

    pub(super) fn prepare(&mut self, candidates: &Candidates) {
        if self.version == candidates.version() {
            return;
        }
        self.version = candidates.version();
        let all = self.point > 0 && candidates.components() <= FEW;
        self.all = all;
        // The place of those that are not kept comes first.
        let changing = candidates.items().iter().filter(|k| !(all || k.constant));
        let (mut w, mut chi) = changing.fold((0, 0), |(w, chi), k| (w.max(k.dim() * k.dofs.len()), chi.max(k.dim())));
        self.start.clear();
        self.known.clear();
        if all || candidates.items().iter().any(|k| k.constant) {
            for k in candidates.items() {
                if !(all || k.constant) {
                    self.start.push((0, 0));
                    continue;
                }
                self.start.push((w as u32, chi as u32));
                w += k.dim() * k.dofs.len();
                chi += k.dim();
            }
            self.known.resize(candidates.len(), 0);
        }
        self.w.clear();
        self.w.resize(w, 0.0);
        self.chi.clear();
        self.chi.resize(chi, 0.0);
    }

    /// Rows of Wᵀ and χ of candidate `i` at (t,q).
    #[inline]
    pub(in crate::scheme) fn evaluate(
        &mut self,
        system: &Evaluator,
        list: &Candidates,
        i: usize,
        t: f64,
        q: &[f64],
    ) -> (&[f64], &[f64]) {
        let k = &list.items()[i];
        let (a, b) = self.start.get(i).map_or((0, 0), |&(a, b)| (a as usize, b as usize));
        let (w, chi) = (a..a + k.dim() * k.dofs.len(), b..b + k.dim());
        debug_assert!(self.point == 0 || self.is_at(t, q));
        let known = self.known.get(i).copied().unwrap_or(0);
        if known == 0 || (known != ALWAYS && known != self.point) {
            system.velocity(k, t, q, &mut self.w[w.clone()], &mut self.chi[chi.clone()]);
            if k.constant {
                self.known[i] = ALWAYS;
            } else if self.all {
                self.known[i] = self.point;
            }
        }
        (&self.w[w], &self.chi[chi])
    }

    /// γ of candidate `i` with the kinematics at (t,q).
    #[inline]
    pub(super) fn velocity(
        &mut self,
        system: &Evaluator,
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
