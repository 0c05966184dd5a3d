//! The projection of a position onto contacts and joints within a step [Acary2013, (28), (58)-(60)].
//!
//! With G the normal direction W_N of a contact or W_g of a joint, and multipliers τ, a step moves its end by
//!
//! ```text
//! q_{k+1} = q̃_{k+1} + s,    s = B δ,    δ = N Σ G τ         all at (t_{k+1}, q_{k+1})
//! 0 ≤ g(t_{k+1},q_{k+1}) ⊥ τ ≥ 0      or      g(t_{k+1},q_{k+1}) = 0, τ of free sign
//! ```
//!
//! where q̃_{k+1} is where the velocities lead. The metric N is the inverse of the iteration matrix M̂ (59), that of the first Newton iteration of the
//! step, or the identity, which adds metres and radians. Quaternions have unit length at q_{k+1}. (The paper has q̇ = u;
//! with q̇ = B u + β, G acts on velocities, and B takes what it does to them to the coordinates.)
//!
//! One iteration linearises at the trial q, whose shift is s = B δ:
//!
//! ```text
//! g⁺ = g(q) + Gᵀ(N G τ⁺ − δ),    0 ≤ g⁺ ⊥ τ⁺ ≥ 0   or   g⁺ = 0        (58), (60), corrected: see docs/errata.md
//! ```
//!
//! until no gap is below −`violation_tol`, none whose τ is not zero and no joint is off by more, and s is the shift of G at its own end to
//! `newton_tol`·(1 + max|q|). A contact takes part in the linear problem from the iteration on in which it is violated, or as near as the worst violation.

use super::Failure;
use super::option::words;
use super::velocity_level::{VelocityLevel, gap};
use crate::contract::{Candidates, Evaluator, Interaction, Kind};
use crate::state::rates_into;
use complementarity::linear::dense::{all_finite, max_norm};
use complementarity::linear::{Matrix, Pattern};
use complementarity::sets::MAX_DIM;
use complementarity::{FullProblem, Options, Set, Solver, Status, solver};

words! {
    /// The metric of the projection.
    pub enum Metric (default Mass) {
        /// N = I.
        Identity = "identity",
        /// N = M̂⁻¹ (59).
        Mass = "mass",
    }
}

/// Which contacts are projected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Onto {
    /// All: 0 ≤ g ⊥ τ ≥ 0 (28).
    All,
    /// The active ones (65), (70): g = 0 where a percussion acts, else 0 ≤ g ⊥ τ ≥ 0.
    Active,
}

/// Condition on the position of an interaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    /// Nothing.
    Open,
    /// 0 ≤ g ⊥ τ ≥ 0.
    Unilateral,
    /// g = 0.
    Closed,
}

/// Multipliers, the shift that they make, and the workspace.
pub(super) struct Projection {
    onto: Onto,
    metric: Metric,
    /// Gaps and joints hold to this, m.
    pub(super) tolerance: f64,
    /// The shift holds to this, relative.
    consistency: f64,
    full: Option<FullProblem>,
    made_for: u64,
    solver: Box<dyn Solver>,
    rules: Vec<Rule>,
    /// τ by component of the candidates.
    tau: Vec<f64>,
    /// Whether one of them is not zero.
    any: bool,
    /// N G τ, and B times that.
    delta: Vec<f64>,
    shift: Vec<f64>,
    /// g by component of the candidates, at the last trial.
    gaps: Vec<f64>,
    included: Vec<bool>,
    /// The contacts that should be closed cannot all be closed: they are unilateral for the rest of the step.
    relaxed: bool,
    w: Vec<f64>,
    chi: Vec<f64>,
    r: Vec<f64>,
    other: [Vec<f64>; 3],
}

/// How a trial position stands to its rules.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct PositionCheck {
    /// Largest violation, m, and where.
    pub(super) worst: f64,
    pub(super) culprit: Option<usize>,
    /// Whether everything holds.
    pub(super) holds: bool,
}

/// A percussion is positive beyond this part of the largest one of a contact.
const PERCUSSION: f64 = 1e-14;
/// Iterations: the linearisation is quadratic, the shift converges by O(τ).
pub(super) const MAX_ITERATIONS: usize = 50;
/// Iterations in a row without a smaller violation after which the projection is given up.
pub(super) const MAX_STAGNATION: usize = 8;
/// Largest number of rows of a linear problem that is solved to rounding. Larger ones are solved inexactly, by iterations.
const MAX_EXACT_ROWS: usize = 100;
/// Residual of a large linear problem that is left to the next iteration.
const INEXACT_SHARE: f64 = 1e-3;
/// Rounding of a gap that is computed from coordinates of size one: where iterations lead no further, it is no violation.
pub(super) const ROUNDING: f64 = 8.0 * f64::EPSILON;

impl Projection {
    pub(super) fn new(onto: Onto, metric: Metric, tolerance: f64, consistency: f64) -> Self {
        Self {
            onto,
            metric,
            tolerance,
            consistency,
            full: None,
            made_for: 0,
            solver: solver::make("auto").unwrap_or_else(|| Box::new(solver::Newton::default())),
            rules: Vec::new(),
            tau: Vec::new(),
            any: false,
            delta: Vec::new(),
            shift: Vec::new(),
            gaps: Vec::new(),
            included: Vec::new(),
            relaxed: false,
            w: Vec::new(),
            chi: Vec::new(),
            r: Vec::new(),
            other: Default::default(),
        }
    }

    /// No multipliers, for a list of candidates.
    pub(super) fn begin(&mut self, system: &Evaluator, list: &Candidates) {
        let s = system.structure();
        if self.full.is_none() || self.made_for != s.pattern.id() {
            self.made_for = s.pattern.id();
            let full = match self.metric {
                Metric::Identity => {
                    let mut full = FullProblem::new(&Pattern::new(s.nu()));
                    (0..s.nu()).for_each(|i| full.matrix.add(i, i, 1.0));
                    full
                }
                Metric::Mass => FullProblem::new(&s.pattern),
            };
            self.full = Some(full);
            self.delta.clear();
            self.shift.clear();
        }
        self.delta.resize(s.nu(), 0.0);
        self.shift.resize(s.nq(), 0.0);
        if self.any {
            self.delta.fill(0.0);
            self.shift.fill(0.0);
        }
        self.any = false;
        self.relaxed = false;
        self.tau.clear();
        self.tau.resize(list.components(), 0.0);
        self.gaps.resize(list.components(), 0.0);
        self.rules.clear();
        self.rules.resize(list.len(), Rule::Open);
        self.included.clear();
        self.included.resize(list.len(), false);
    }

    /// Sets the condition of every interaction. `work` has the percussions of the active ones.
    pub(super) fn set_rules(&mut self, list: &Candidates, work: &VelocityLevel) {
        let closed = if self.relaxed { Rule::Unilateral } else { Rule::Closed };
        let others = if self.onto == Onto::All { Rule::Unilateral } else { Rule::Open };
        for (rule, k) in self.rules.iter_mut().zip(list.items()) {
            *rule = match k.kind {
                Kind::Joint => Rule::Closed,
                Kind::Contact => others,
                Kind::VelocityJoint | Kind::Element => Rule::Open,
            };
        }
        if self.onto == Onto::All {
            return;
        }
        let contact = |i: usize| list.items()[i].kind == Kind::Contact;
        let normal = |(i, _, row): (usize, _, usize)| if contact(i) { work.r[row] } else { 0.0 };
        let largest = work.parts().map(normal).fold(0.0, f64::max);
        let mut closed_contacts = 0;
        for (i, _, row) in work.parts().filter(|(i, ..)| contact(*i)) {
            let pressed = work.r[row] > PERCUSSION * largest;
            self.rules[i] = if pressed { closed } else { Rule::Unilateral };
            closed_contacts += usize::from(pressed);
        }
        if closed_contacts > MAX_EXACT_ROWS {
            // Many contacts are redundant: packs.
            let contacts = self.rules.iter_mut().zip(list.items()).filter(|(_, k)| k.kind == Kind::Contact);
            contacts.filter(|(r, _)| **r == Rule::Closed).for_each(|(r, _)| *r = Rule::Unilateral);
        }
    }

    /// Whether interactions that are not active have no condition.
    pub(super) fn leaves_inactive_alone(&self) -> bool {
        self.onto == Onto::Active
    }

    /// τ by component of the candidates.
    pub(super) fn tau(&self) -> &[f64] {
        &self.tau
    }

    /// s, if it is not zero.
    pub(super) fn shift(&self) -> Option<&[f64]> {
        self.any.then_some(&self.shift)
    }

    /// s, zero or not.
    pub(super) fn shift_values(&self) -> &[f64] {
        &self.shift
    }

    /// Violation of the constraints at a trial position.
    pub(super) fn check_position(
        &mut self,
        system: &Evaluator,
        t: f64,
        q: &[f64],
        list: &Candidates,
    ) -> Result<PositionCheck, Failure> {
        let mut check = PositionCheck { worst: 0.0, culprit: None, holds: true };
        for (i, k) in list.items().iter().enumerate() {
            let rule = self.rules[i];
            if rule == Rule::Open {
                continue;
            }
            let range = list.range(i);
            let violation = match k.kind {
                Kind::Contact => {
                    let g = gap(system, k, t, q)?;
                    self.gaps[range.start] = g;
                    if rule == Rule::Closed || self.tau[range.start] != 0.0 { g.abs() } else { -g }
                }
                Kind::Joint => {
                    let g = &mut self.gaps[range];
                    system.position(k, t, q, g);
                    if !all_finite(g) {
                        return Err(Failure::NotFinite { what: format!("joint `{}`", system.name(k.id)) });
                    }
                    max_norm(g)
                }
                Kind::VelocityJoint | Kind::Element => continue,
            };
            if violation > check.worst {
                (check.worst, check.culprit) = (violation, Some(i));
            }
        }
        check.holds = check.worst <= self.tolerance && self.is_consistent(system, t, q, list);
        Ok(check)
    }

    /// Whether the shift is that of the multipliers with the directions at (t,q).
    fn is_consistent(&mut self, system: &Evaluator, t: f64, q: &[f64], list: &Candidates) -> bool {
        if !self.any || list.items().iter().all(|k| k.constant) && system.structure().identity_kinematics() {
            return true;
        }
        let mut tau = std::mem::take(&mut self.tau);
        let mut shift = std::mem::take(&mut self.other[2]);
        self.shift_of(system, t, q, list, &tau, &mut shift);
        std::mem::swap(&mut self.tau, &mut tau);
        let off = shift.iter().zip(&self.shift).fold(0.0f64, |m, (a, b)| m.max((a - b).abs()));
        self.other[2] = shift;
        off <= self.consistency * (1.0 + max_norm(q))
    }

    /// Whether M̂ at the start of Newton's method is the metric: it must then be one that can be made again.
    pub(super) fn measures_by_matrix(&self) -> bool {
        self.metric == Metric::Mass
    }

    /// M̂ as the metric of the step, where it is that. What is singular there is so in the equation of motion, too.
    pub(super) fn set_matrix(&mut self, matrix: &Matrix) {
        if let (Metric::Mass, Some(full)) = (self.metric, &mut self.full) {
            full.matrix.clear();
            full.matrix.add_scaled(1.0, matrix);
            let _ = full.matrix.factor();
        }
    }

    /// B N G τ with everything at (t,q). With the metric of the masses, M̂ is that of the step.
    pub(super) fn shift_of(
        &mut self,
        system: &Evaluator,
        t: f64,
        q: &[f64],
        list: &Candidates,
        tau: &[f64],
        shift: &mut Vec<f64>,
    ) {
        let mut delta = std::mem::take(&mut self.other[0]);
        delta.clear();
        delta.resize(system.structure().nu(), 0.0);
        for (i, k) in list.items().iter().enumerate() {
            let range = list.range(i);
            if tau[range.clone()].iter().all(|&x| x == 0.0) {
                continue;
            }
            self.directions(system, k, t, q);
            for (row, tau) in self.w.chunks_exact(k.dofs.len().max(1)).zip(&tau[range]) {
                k.dofs.iter().zip(row).for_each(|(&j, w)| delta[j as usize] += w * tau);
            }
        }
        if self.metric == Metric::Mass
            && let Some(full) = &mut self.full
        {
            full.matrix.solve(&mut delta);
        }
        self.coordinates_of(system, t, q, &delta, shift);
        self.other[0] = delta;
    }

    /// Rows of Wᵀ of an interaction into `w`.
    fn directions(&mut self, system: &Evaluator, k: &Interaction, t: f64, q: &[f64]) {
        self.w.resize(k.dim() * k.dofs.len(), 0.0);
        self.chi.resize(k.dim(), 0.0);
        system.velocity(k, t, q, &mut self.w, &mut self.chi);
    }

    /// B(t,q) δ.
    fn coordinates_of(&mut self, system: &Evaluator, t: f64, q: &[f64], delta: &[f64], shift: &mut Vec<f64>) {
        shift.resize(q.len(), 0.0);
        rates_into(system, t, q, delta, shift);
        if !system.structure().identity_kinematics() {
            let (zero, still) = (&mut self.r, &mut self.other[1]);
            zero.clear();
            zero.resize(delta.len(), 0.0);
            still.resize(q.len(), 0.0);
            system.kinematics(t, q, zero, still);
            shift.iter_mut().zip(still).for_each(|(s, b)| *s -= *b);
        }
    }

    /// One iteration at the trial (t,q), which [`Projection::look`] has seen.
    pub(super) fn iterate(
        &mut self,
        system: &Evaluator,
        t: f64,
        q: &[f64],
        list: &Candidates,
        check: &PositionCheck,
    ) -> Result<(), Failure> {
        let Some(mut full) = self.full.take() else { return Ok(()) };
        let solved = self.linear(system, t, q, list, check, &mut full);
        self.full = Some(full);
        solved?;
        self.place_shift(system, t, q);
        Ok(())
    }

    /// The linear problem of an iteration, into τ and δ.
    fn linear(
        &mut self,
        system: &Evaluator,
        t: f64,
        q: &[f64],
        list: &Candidates,
        check: &PositionCheck,
        full: &mut FullProblem,
    ) -> Result<(), Failure> {
        self.include(list, check);
        loop {
            self.rows(system, t, q, list, full);
            let few = self.r.len() <= MAX_EXACT_ROWS;
            let options =
                Options { tolerance: if few { 1e-12 } else { INEXACT_SHARE }, polish: 0, ..Options::default() };
            let next = &mut self.other[0];
            next.resize(self.delta.len(), 0.0);
            let report = full.solve(self.solver.as_mut(), &options, &mut self.r, next);
            if let (Status::Singular, Some(row)) = (report.status, report.row) {
                let velocity = system.structure().velocities[row].into();
                return Err(Failure::Singular { what: "the metric of the projection", velocity });
            }
            if !(all_finite(&self.r) && all_finite(next)) {
                return Err(Failure::NotFinite { what: "the position projection".into() });
            }
            // Little is left: the next iteration begins there.
            if report.solved() || report.residual <= INEXACT_SHARE {
                break;
            }
            // Redundant contacts cannot all be closed.
            if self.relaxed || !self.relax(list) {
                return Err(Failure::Solver(report));
            }
        }
        std::mem::swap(&mut self.delta, &mut self.other[0]);
        self.spread_multipliers(list);
        Ok(())
    }

    /// Decides who takes part in the linear problem.
    fn include(&mut self, list: &Candidates, check: &PositionCheck) {
        for (i, k) in list.items().iter().enumerate() {
            let at = list.range(i).start;
            self.included[i] |= match (self.rules[i], k.kind) {
                (Rule::Open, _) | (_, Kind::VelocityJoint | Kind::Element) => false,
                (Rule::Closed, _) => true,
                (Rule::Unilateral, _) => self.gaps[at] <= check.worst || self.tau[at] != 0.0,
            };
            if self.rules[i] == Rule::Open {
                self.included[i] = false;
                self.tau[list.range(i)].fill(0.0);
            }
        }
    }

    /// The linear problem at the trial (t,q), which [`Projection::look`] has seen, without its solution: c = g − Gᵀδ, G and sets, and the multipliers now.
    pub(super) fn linearise(
        &mut self,
        system: &Evaluator,
        t: f64,
        q: &[f64],
        list: &Candidates,
        check: &PositionCheck,
    ) -> Option<(&FullProblem, &[f64])> {
        let mut full = self.full.take()?;
        self.include(list, check);
        self.rows(system, t, q, list, &mut full);
        let regular = full.matrix.factor().is_ok();
        let full = self.full.insert(full);
        regular.then_some((full, &self.r))
    }

    /// Takes the multipliers of a linear problem that was solved elsewhere; `directions` are its N G, each over all velocities.
    pub(super) fn take(
        &mut self,
        system: &Evaluator,
        t: f64,
        q: &[f64],
        list: &Candidates,
        tau: &[f64],
        directions: &[f64],
    ) -> Result<(), Failure> {
        let n = self.delta.len();
        self.delta.fill(0.0);
        for (direction, tau) in directions.chunks_exact(n.max(1)).zip(tau) {
            self.delta.iter_mut().zip(direction).for_each(|(d, x)| *d += x * tau);
        }
        self.r.clear();
        self.r.extend_from_slice(tau);
        self.spread_multipliers(list);
        if !all_finite(&self.delta) {
            return Err(Failure::NotFinite { what: "the position projection".into() });
        }
        self.place_shift(system, t, q);
        Ok(())
    }

    /// Solution of the linear problem to τ by component.
    fn spread_multipliers(&mut self, list: &Candidates) {
        let mut row = 0;
        for (i, k) in list.items().iter().enumerate().filter(|(i, _)| self.included[*i]) {
            let range = list.range(i);
            let n = if k.kind == Kind::Contact { 1 } else { range.len() };
            self.tau[range.start..range.start + n].copy_from_slice(&self.r[row..row + n]);
            row += n;
        }
    }

    /// s = B δ.
    fn place_shift(&mut self, system: &Evaluator, t: f64, q: &[f64]) {
        let (delta, mut shift) = (std::mem::take(&mut self.delta), std::mem::take(&mut self.shift));
        self.coordinates_of(system, t, q, &delta, &mut shift);
        (self.delta, self.shift) = (delta, shift);
        self.any = self.tau.iter().any(|&x| x != 0.0);
    }

    /// Makes closed contacts unilateral. False if there is none.
    fn relax(&mut self, list: &Candidates) -> bool {
        self.relaxed = true;
        let mut any = false;
        for (i, k) in list.items().iter().enumerate() {
            if k.kind == Kind::Contact && self.rules[i] == Rule::Closed {
                self.rules[i] = Rule::Unilateral;
                // A multiplier of the wrong sign is no guess.
                let tau = &mut self.tau[list.range(i).start];
                *tau = tau.max(0.0);
                any = true;
            }
        }
        any
    }

    /// Whether contacts that should be closed were made unilateral.
    pub(super) fn is_relaxed(&self) -> bool {
        self.relaxed
    }

    /// The rows of all included interactions, c = g − Gᵀδ, and the guess.
    fn rows(&mut self, system: &Evaluator, t: f64, q: &[f64], list: &Candidates, full: &mut FullProblem) {
        full.clear_blocks();
        self.r.clear();
        for (i, k) in list.items().iter().enumerate() {
            if !self.included[i] {
                continue;
            }
            self.directions(system, k, t, q);
            let (n, range) = (k.dofs.len(), list.range(i));
            let rows = if k.kind == Kind::Contact { 1 } else { k.dim() };
            let mut at = 0;
            while at < rows {
                let set = match self.rules[i] {
                    Rule::Unilateral => Set::NonNegative,
                    _ => Set::Free { dim: (rows - at).min(MAX_DIM) },
                };
                let d = set.dim();
                let w = &self.w[at * n..(at + d) * n];
                let mut c = [0.0; MAX_DIM];
                for ((c, row), j) in c.iter_mut().zip(w.chunks_exact(n.max(1))).zip(range.start + at..) {
                    *c = self.gaps[j] - k.row_times(row, &self.delta);
                }
                full.push_block(set, &k.dofs, &c[..d]).copy_from_slice(w);
                self.r.extend_from_slice(&self.tau[range.start + at..range.start + at + d]);
                at += d;
            }
        }
    }
}
