//! What a step leaves for the next, and what it is extrapolated from.

use crate::contract::{Candidates, Structure};
use crate::record;
use crate::state::{
    ByInteraction, Bytes, Correction, Empty, Misfit, Percussions, Reader, Record, Sigma, Step, StepOutcome, Unreadable,
    Writer, read_choice, write_choice,
};
use std::any::Any;

record! {
    /// The modes that the next step is compared with.
    "augmented memory" pub struct AugmentedMemory {
        /// Discrete state of the step that led here.
        sigma: ByInteraction<Sigma> = "modes of the last step",
        /// Whether there was such a step.
        judged: bool = "whether there was a step",
    }
}

/// The rows of the tableau that a step is made of, and how it came out.
#[derive(Debug, Clone, Default)]
pub struct AugmentedStep {
    /// How the step came out.
    pub outcome: StepOutcome,
    /// Order of the approximation that it is.
    pub order: u32,
    /// Estimated error over what is allowed; 0 where none was estimated.
    pub error: f64,
    /// Laws whose mode is another than in the step before, in the substep that showed it.
    pub switches: usize,
    /// Numbers of substeps of the rows of the tableau; empty for one step of the base scheme.
    pub counts: Vec<u32>,
    /// By how much the last row changed the velocity, relative to the largest.
    pub change: f64,
    /// Whether another row would have needed steps below the smallest.
    pub exhausted: bool,
    /// Whether it extrapolates in powers of dt².
    pub even: bool,
    /// Whether contacts that stay closed are to be projected after it.
    pub project: bool,
    /// The substeps of all rows, row after row; those beyond are spare.
    pub steps: Vec<Step>,
}

impl AugmentedStep {
    /// Substeps by row.
    pub fn rows(&self) -> impl Iterator<Item = &[Step]> {
        let mut at = 0;
        self.counts.iter().map(move |&n| {
            at += n as usize;
            &self.steps[at - n as usize..at]
        })
    }
}

impl Empty for AugmentedStep {
    fn empty() -> &'static Self {
        static EMPTY: std::sync::LazyLock<AugmentedStep> = std::sync::LazyLock::new(AugmentedStep::default);
        &EMPTY
    }
}

const OUTCOMES: [StepOutcome; 5] =
    [StepOutcome::Plain, StepOutcome::Smooth, StepOutcome::Inaccurate, StepOutcome::Detected, StepOutcome::Resolved];

impl Record for AugmentedStep {
    fn name(&self) -> &'static str {
        "augmented step"
    }

    fn clear(&mut self) {
        let steps = std::mem::take(&mut self.steps);
        let counts = std::mem::take(&mut self.counts);
        *self = Self { steps, counts, ..Self::default() };
        self.counts.clear();
    }

    fn assign(&mut self, other: &dyn Record) {
        match (other as &dyn Any).downcast_ref::<Self>() {
            Some(other) => self.clone_from(other),
            None => self.clear(),
        }
    }

    fn same(&self, other: &dyn Record) -> bool {
        let what = |e: &Self| (e.outcome, e.order, e.error.to_bits(), e.switches, e.even);
        let ends = |(a, b): (&[Step], &[Step])| a.iter().map(|s| &s.end).eq(b.iter().map(|s| &s.end));
        (other as &dyn Any).downcast_ref::<Self>().is_some_and(|other| {
            what(self) == what(other) && self.counts == other.counts && self.rows().zip(other.rows()).all(ends)
        })
    }

    fn copy(&self) -> Box<dyn Record> {
        let used = self.counts.iter().map(|n| *n as usize).sum();
        Box::new(Self { counts: self.counts.clone(), steps: self.steps[..used].to_vec(), ..*self })
    }

    fn lay_out(&mut self, from: &dyn Record, _those: &Percussions, list: &Candidates) {
        self.assign(from);
        // Substeps of a checkpoint have no list.
        self.steps.iter_mut().filter(|s| s.candidates.version() == 0).for_each(|s| s.lay_out(list));
    }

    fn check(&self, structure: &Structure, _percussions: &Percussions) -> Result<(), (&'static str, Misfit)> {
        self.rows().flatten().try_for_each(|step| step.check(structure))
    }

    fn write(&self, out: &mut Writer) {
        write_choice(&self.outcome, &OUTCOMES, out);
        self.order.write(out);
        self.error.write(out);
        self.switches.write(out);
        self.counts.write(out);
        self.change.write(out);
        [self.exhausted, self.even, self.project].write(out);
        self.rows().flatten().for_each(|step| step.write(out));
    }

    fn read(&mut self, from: &mut Reader) -> Result<(), Unreadable> {
        self.outcome = read_choice(&OUTCOMES, from)?;
        self.order.read(from)?;
        self.error.read(from)?;
        self.switches.read(from)?;
        self.counts.read(from)?;
        self.change.read(from)?;
        [self.exhausted, self.even, self.project] = [from.value()?, from.value()?, from.value()?];
        self.steps.clear();
        for _ in 0..self.counts.iter().map(|n| *n as usize).sum() {
            let mut step = Step::default();
            step.read(from)?;
            self.steps.push(step);
        }
        Ok(())
    }

    fn visited(&self, _step: &Step, see: &mut dyn FnMut(f64, &[f64])) {
        self.rows().flatten().for_each(|substep| see(substep.end.t, &substep.end.q));
    }

    fn outcome(&self) -> StepOutcome {
        self.outcome
    }

    fn order(&self) -> u32 {
        self.order
    }

    fn correction(&self) -> Correction {
        match (self.project, self.is_extrapolated()) {
            (true, _) => Correction::JointsAndContacts,
            (false, true) => Correction::Joints,
            (false, false) => Correction::Requested,
        }
    }

    fn is_extrapolated(&self) -> bool {
        !self.counts.is_empty()
    }
}
