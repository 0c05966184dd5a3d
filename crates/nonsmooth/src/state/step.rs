//! The result of a step.

use super::sigma::Sigma;
use super::{Bytes, Impulses, Misfit, Reader, Record, Records, Stages, State, StepOutcome, Unreadable, Writer, bytes};
use crate::contract::{Candidates, Structure};
use complementarity::{Problem, Report, Status, capacity};

/// Why a step ended where it did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reason {
    /// It has the proposed length.
    #[default]
    Full,
    /// It stopped early at an event that the scheme located.
    Event,
}

/// Whether an interaction was hit in a step: the module `accounting::impact` says what that is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Hit {
    /// What it carried is what forces make.
    #[default]
    None,
    /// A contact that approached.
    Struck,
    /// An impulse passed through it.
    Passed {
        /// A contact of its group that was struck.
        by: usize,
    },
    /// It was hit in a step before, and the scheme spreads the percussion of an impact over several.
    Remainder,
}

impl Hit {
    /// Whether it was hit in this step.
    #[inline]
    pub fn is_hit(self) -> bool {
        matches!(self, Hit::Struck | Hit::Passed { .. })
    }
}

/// Work of one step.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct StepReport {
    /// Calls of the base scheme: more than one in an extrapolated step.
    pub calls: usize,
    /// One-step problems solved.
    pub solves: usize,
    /// Solver iterations of all of them.
    pub iterations: usize,
    /// Pivots of Lemke's method among them.
    pub pivots: usize,
    /// Newton iterations of the scheme.
    pub newton: usize,
    /// The same by stage, for schemes of two stages.
    pub stages: [usize; 2],
    /// Stages that the scheme's first method did not solve, so that a fallback did.
    pub retries: usize,
    /// Contacts that took part.
    pub contacts: usize,
    /// Index sets of contacts for which the step was solved: one, unless the scheme iterates on them.
    pub index_sets: usize,
    /// Iterations of the position projection within the step.
    pub projection: usize,
    /// Largest residual of the one-step problems.
    pub residual: f64,
    /// The same as a velocity, not divided by the size of the problem: the accuracy of relative velocities, m/s.
    pub noise: f64,
    /// The percussions are not unique in the mode found.
    pub non_unique: bool,
}

impl StepReport {
    /// Adds the work of problems whose residuals are accelerations that act for `dt`.
    pub(crate) fn add(&mut self, other: &StepReport, dt: f64) {
        self.solves += other.solves;
        self.iterations += other.iterations;
        self.pivots += other.pivots;
        self.non_unique |= other.non_unique;
        self.residual = self.residual.max(other.residual);
        self.noise = self.noise.max(dt * other.noise);
    }

    /// Adds the work of a substep.
    pub(crate) fn join(&mut self, other: &StepReport) {
        self.calls += other.calls;
        self.newton += other.newton;
        self.stages.iter_mut().zip(other.stages).for_each(|(a, b)| *a += b);
        self.retries += other.retries;
        self.contacts = self.contacts.max(other.contacts);
        self.index_sets = self.index_sets.max(other.index_sets);
        self.projection += other.projection;
        self.add(other, 1.0);
    }

    /// Adds a one-step problem with this b.
    pub(crate) fn take(&mut self, report: &Report, problem: &Problem) {
        self.solves += 1;
        self.iterations += report.iterations;
        self.pivots += report.pivots;
        self.non_unique |= report.non_unique;
        self.residual = self.residual.max(report.residual);
        // Without factors there is no problem.
        if report.status != Status::Singular {
            self.noise = self.noise.max(report.residual * problem.velocity_scale());
        }
    }
}

/// The result of one step. The start state is left untouched.
#[derive(Debug, Clone)]
pub struct Step {
    /// Length of the step, s.
    pub dt: f64,
    /// State at the end, with the percussions of this step. Boxed, so that it becomes the next start without a copy.
    pub end: Box<State>,
    /// The interactions, frozen during the attempt.
    pub candidates: Candidates,
    /// Which of them took part in the velocity-level problem.
    pub active: Vec<bool>,
    /// Discrete state of every interaction.
    pub sigma: Vec<Sigma>,
    /// Relative velocities that the law took as γ⁻ (active interactions; else zero).
    pub gamma_minus: Vec<f64>,
    /// Relative velocities at the end, in the kinematics that the scheme used (active interactions; else zero).
    pub gamma_plus: Vec<f64>,
    /// What was hit, by interaction; empty if nothing was. Written when the step is final: schemes leave it empty.
    pub hit: Vec<Hit>,
    /// Exponent of the restitution coefficients: 1, unless an extrapolating scheme sets another for its base [Studer2008, §8.2].
    pub restitution_exponent: f64,
    /// Why it ended.
    pub reason: Reason,
    /// Work of the step.
    pub report: StepReport,
    /// Records of the scheme.
    pub record: Records,
    /// Version of the candidates that the arrays are sized for.
    sized_for: u64,
}

impl Default for Step {
    fn default() -> Self {
        Self {
            dt: 0.0,
            end: Box::default(),
            candidates: Candidates::default(),
            active: Vec::new(),
            sigma: Vec::new(),
            gamma_minus: Vec::new(),
            gamma_plus: Vec::new(),
            hit: Vec::new(),
            restitution_exponent: 1.0,
            reason: Reason::default(),
            report: StepReport::default(),
            record: Records::default(),
            sized_for: 0,
        }
    }
}

impl Step {
    /// Sizes the per-interaction arrays for the frozen candidates; the scheme fills them.
    pub fn begin(&mut self, dt: f64) {
        self.dt = dt;
        self.report = StepReport { calls: 1, index_sets: 1, ..StepReport::default() };
        self.reason = Reason::Full;
        self.hit.clear();
        self.record.clear();
        self.end.memory.clear();
        let (n, c) = (self.candidates.len(), self.candidates.components());
        if self.sized_for != self.candidates.version() || self.active.len() != n {
            self.sized_for = self.candidates.version();
            capacity::resize(&mut self.active, n, false);
            capacity::resize(&mut self.sigma, n, Sigma::OPEN);
            capacity::resize(&mut self.gamma_minus, c, 0.0);
            capacity::resize(&mut self.gamma_plus, c, 0.0);
        }
        if self.end.percussions.version != self.candidates.version() || self.end.percussions.ids.len() != n {
            self.end.percussions.reset(&self.candidates);
        }
    }

    /// Marks interaction `i` as having taken no part.
    pub fn set_inactive(&mut self, i: usize) {
        self.sigma[i] = Sigma::OPEN;
        for j in self.candidates.range(i) {
            self.end.percussions.values[j] = 0.0;
            self.gamma_minus[j] = 0.0;
            self.gamma_plus[j] = 0.0;
        }
    }

    /// Percussion of interaction `i` of the list.
    #[inline]
    pub fn percussion(&self, i: usize) -> &[f64] {
        &self.end.percussions.values[self.candidates.range(i)]
    }

    /// Checks that end and records have the sizes of a system; else names what does not fit.
    pub(crate) fn check(&self, structure: &Structure) -> Result<(), (&'static str, Misfit)> {
        self.end.check(structure)?;
        self.record.check(structure, &self.end.percussions)
    }

    /// Rearranges the step for another list of interactions. Interactions that are not in it are removed; new ones are inactive.
    pub(crate) fn lay_out(&mut self, list: &Candidates) {
        let from = self.clone();
        let previous = &from.end.percussions;
        self.candidates.assign(list);
        self.begin(from.dt);
        (self.report, self.reason) = (from.report, from.reason);
        for (j, k) in list.items().iter().enumerate() {
            self.active[j] = false;
            self.set_inactive(j);
            let Some(at) = previous.place(j, k.id) else { continue };
            let (to, range) = (list.range(j), previous.range(at));
            self.end.percussions.values[to.clone()].copy_from_slice(&previous.values[range.clone()]);
            self.gamma_minus[to.clone()].copy_from_slice(&from.gamma_minus[range.clone()]);
            self.gamma_plus[to].copy_from_slice(&from.gamma_plus[range]);
            (self.active[j], self.sigma[j]) = (from.active[at], from.sigma[at]);
        }
        self.record.lay_out(&from.record, previous, list);
        self.end.memory.lay_out(&from.end.memory, previous, list);
    }

    /// Whether interaction `i` of the list was hit.
    #[inline]
    pub fn hit(&self, i: usize) -> Hit {
        self.hit.get(i).copied().unwrap_or_default()
    }

    /// Whether there was an impact: something was hit.
    pub fn impact(&self) -> bool {
        self.hit.iter().any(|h| h.is_hit())
    }

    /// See [`Record::stages`].
    pub fn stages(&self) -> Option<&Stages> {
        self.record.iter().find_map(|r| r.stages())
    }

    fn first(&self, of: impl Fn(&dyn Record) -> &[f64]) -> &[f64] {
        self.record.iter().map(of).find(|values| !values.is_empty()).unwrap_or_default()
    }

    /// See [`Record::u_minus`].
    pub fn u_minus(&self) -> &[f64] {
        self.first(|r| r.u_minus())
    }

    /// See [`Record::left`](super::Record::left).
    #[inline]
    pub fn left(&self) -> &[f64] {
        self.first(|r| r.left())
    }

    /// See [`Record::impulses`]. What is extrapolated is smooth.
    pub fn impulses(&self) -> Impulses {
        if self.is_extrapolated() {
            return Impulses::Absent;
        }
        let known = self.record.iter().map(|r| r.impulses());
        known.filter(|k| *k != Impulses::Mixed).last().unwrap_or_default()
    }

    /// See [`Record::smooth`].
    pub fn smooth(&self) -> &[f64] {
        self.first(|r| r.smooth())
    }

    /// See [`Record::multipliers`].
    pub fn multipliers(&self) -> &[f64] {
        self.first(|r| r.multipliers())
    }

    /// See [`Record::paradox`].
    pub fn paradox(&self) -> bool {
        self.record.iter().any(|r| r.paradox())
    }

    /// See [`Record::visited`].
    pub(crate) fn visited(&self, see: &mut dyn FnMut(f64, &[f64])) {
        self.record.iter().for_each(|r| r.visited(self, see));
    }

    /// See [`Record::outcome`].
    pub fn outcome(&self) -> StepOutcome {
        self.record.iter().map(|r| r.outcome()).find(|o| *o != StepOutcome::Plain).unwrap_or_default()
    }

    /// See [`Record::order`].
    pub fn order(&self) -> u32 {
        self.record.iter().map(|r| r.order()).max().unwrap_or_default()
    }

    /// See [`Record::correction`].
    pub fn correction(&self) -> super::Correction {
        let wanted = super::Correction::Requested;
        self.record.iter().map(|r| r.correction()).find(|c| *c != wanted).unwrap_or(wanted)
    }

    /// See [`Record::is_extrapolated`].
    pub fn is_extrapolated(&self) -> bool {
        self.record.iter().any(|r| r.is_extrapolated())
    }
}

bytes!(StepReport {
    calls,
    solves,
    iterations,
    pivots,
    newton,
    stages,
    retries,
    contacts,
    index_sets,
    projection,
    residual,
    noise,
    non_unique,
});

/// Everything but the list of interactions, which `lay_out` restores, and what was hit, which is not known before the step is final.
impl Bytes for Step {
    fn write(&self, out: &mut Writer) {
        self.dt.write(out);
        self.end.write(out);
        self.active.write(out);
        self.sigma.write(out);
        self.gamma_minus.write(out);
        self.gamma_plus.write(out);
        self.restitution_exponent.write(out);
        (self.reason == Reason::Event).write(out);
        self.report.write(out);
        self.record.write(out);
    }
    fn read(&mut self, from: &mut Reader) -> Result<(), Unreadable> {
        self.dt.read(from)?;
        self.end.read(from)?;
        self.active.read(from)?;
        self.sigma.read(from)?;
        self.gamma_minus.read(from)?;
        self.gamma_plus.read(from)?;
        self.restitution_exponent.read(from)?;
        self.reason = if from.value()? { Reason::Event } else { Reason::Full };
        self.report.read(from)?;
        self.record.read(from)?;
        // Arrays in the layout of the percussions have their sizes.
        let (n, c) = (self.end.percussions.ids.len(), self.end.percussions.values.len());
        let by_interaction = self.active.len() == n && self.sigma.len() == n;
        if by_interaction && self.gamma_minus.len() == c && self.gamma_plus.len() == c {
            return Ok(());
        }
        Err(Unreadable::Other { found: "a step of other sizes".into(), expected: format!("{n} interactions") })
    }
}
