//! What the projected schemes share: options, and the examination of a finished step.

mod record;

pub use record::ProjectedStep;

use super::option::{Declared, choice, number, options, words};
use super::projection::{Metric, Onto, Projection};
use super::theta_step::{
    Begin, Coupled, DIRECTIONS, DirectionRule, ForceRule, Level, NEWTON_TOL, Positions, THETA, ThetaOptions, ThetaStep,
};
use super::velocity_level::ACTIVATION;
use super::{Examination, Failure, Solve};
use crate::accounting::Certificate;
use crate::contract::{Evaluator, Kind};
use crate::state::{State, Step};

pub(super) const VIOLATION_TOL: Declared<f64> =
    number("violation_tol", 1e-10, [1e-14, 1e-3], "m", "what gaps and joints may be off by at the end of a step");
pub(super) const COUPLING: Declared<Coupling> = choice(
    "coupling",
    "percussions and projection by one problem after the other (56)-(60), or by one for both (52)-(55)",
);
pub(super) const METRIC: Declared<Metric> =
    choice("metric", "metric of the projection: identity (28), or that of the iteration matrix (59)");

words! {
    /// How percussions and multipliers of the projection are solved for. Both converge to the same step.
    pub enum Coupling (default Decoupled) {
        /// One after the other in each Newton iteration, (56)-(60).
        Decoupled = "decoupled",
        /// Together, (52)-(55).
        Coupled = "coupled",
    }
}

options! {
    /// Options of the projected schemes.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct ProjectedOptions: Default {
        /// θ, 0 to 1.
        pub theta: f64 = THETA,
        /// What gaps and joints may be off by at the end of a step, m.
        pub violation_tol: f64 = VIOLATION_TOL,
        /// How percussions and multipliers are solved for.
        pub coupling: Coupling = COUPLING,
        /// Metric of the projection.
        pub metric: Metric = METRIC,
        /// Where directions of percussions are taken.
        pub directions: DirectionRule = DIRECTIONS,
        /// Relative residual at which Newton's method stops.
        pub newton_tol: f64 = NEWTON_TOL,
    }
}

impl ProjectedOptions {
    /// A contact counts as closed where its gap is at most this, m.
    pub(super) fn closed(&self) -> f64 {
        ACTIVATION.max(self.violation_tol)
    }
}

/// Largest number of components of candidates for which the coupled form, which is dense, is tried after the other has failed.
const MAX_COUPLED_ROWS: usize = 200;

/// A step on velocity level and its projection.
pub(super) struct Projected {
    pub(super) options: ProjectedOptions,
    pub(super) step: ThetaStep,
    pub(super) projection: Projection,
    coupled: Coupled,
    onto: Onto,
    shift: Vec<f64>,
}

impl Projected {
    pub(super) fn new(options: ProjectedOptions, onto: Onto) -> Self {
        let ProjectedOptions { theta, directions, newton_tol, violation_tol, metric, .. } = options;
        let step = ThetaOptions { theta, force: ForceRule::Theta, directions, level: Level::Velocity, newton_tol };
        Self {
            options,
            step: ThetaStep::new(step),
            projection: Projection::new(onto, metric, violation_tol, newton_tol),
            coupled: Coupled::default(),
            onto,
            shift: Vec::new(),
        }
    }

    /// Newton's method for the active set in `out`, from the start of the step or from the trial that the set before led to.
    pub(super) fn newton(
        &mut self,
        system: &Evaluator,
        start: &State,
        solve: &mut Solve,
        out: &mut Step,
        begin: Begin,
    ) -> Result<(), Failure> {
        let coupled = self.options.coupling == Coupling::Coupled;
        let failure = match self.by(coupled, system, start, solve, out, begin) {
            Err(f @ (Failure::Newton { .. } | Failure::Projection { .. })) => f,
            Err(f @ Failure::Solver(_)) if coupled => f,
            done => return done,
        };
        // What one form does not solve, the other may; the coupled one is dense.
        if !coupled && out.candidates.components() > MAX_COUPLED_ROWS {
            return Err(failure);
        }
        out.report.retries += 1;
        self.projection.begin(system, &out.candidates);
        self.by(!coupled, system, start, solve, out, Begin::Anew).map_err(|_| failure)
    }

    /// The same by one form.
    fn by(
        &mut self,
        coupled: bool,
        system: &Evaluator,
        start: &State,
        solve: &mut Solve,
        out: &mut Step,
        begin: Begin,
    ) -> Result<(), Failure> {
        let p = &mut self.projection;
        let positions = if coupled { Positions::Coupled(p, &mut self.coupled) } else { Positions::Projected(p) };
        self.step.newton(system, start, solve, out, positions, begin)
    }

    /// The solved step into `out`.
    pub(super) fn finish(&mut self, system: &Evaluator, start: &State, out: &mut Step) -> Result<(), Failure> {
        self.step.finish(system, start, out)?;
        let multipliers = &mut out.record.make::<ProjectedStep>().multipliers;
        multipliers.clear();
        multipliers.extend_from_slice(self.projection.tau());
        Ok(())
    }

    /// s of a finished step.
    fn shift_of(&mut self, system: &Evaluator, start: &State, step: &Step) {
        self.projection.begin(system, &step.candidates);
        self.shift.clear();
        self.shift.resize(step.end.q.len(), 0.0);
        let multipliers = &step.record.of::<ProjectedStep>().multipliers;
        if multipliers.iter().all(|&tau| tau == 0.0) || multipliers.len() != step.candidates.components() {
            return;
        }
        if self.options.metric == Metric::Mass
            && let Some(matrix) = self.step.first_matrix(system, start, step)
        {
            self.projection.set_matrix(matrix);
        }
        let (t, q, list) = (step.end.t, &step.end.q, &step.candidates);
        self.projection.shift_of(system, t, q, list, multipliers, &mut self.shift);
    }

    pub(super) fn examine(&mut self, system: &Evaluator, start: &State, step: &Step, asked: Examination) {
        self.shift_of(system, start, step);
        let Examination { mut certificate, energy } = asked;
        let inner = Examination { certificate: certificate.as_deref_mut(), energy };
        self.step.examine(system, start, step, Some(&self.shift), inner);
        if let Some(out) = certificate {
            self.certify_positions(system, step, out);
        }
    }

    /// The rules of the projection at the end of the step, besides the certificate of its velocities.
    fn certify_positions(&self, system: &Evaluator, step: &Step, out: &mut Certificate) {
        let multipliers = &step.record.of::<ProjectedStep>().multipliers;
        let size = 1.0 + step.end.q.iter().fold(0.0f64, |m, q| m.max(q.abs()));
        for (i, k) in step.candidates.items().iter().enumerate() {
            if k.kind != Kind::Contact {
                continue;
            }
            let mut g = [0.0];
            system.position(k, step.end.t, &step.end.q, &mut g);
            let tau = multipliers.get(step.candidates.range(i).start).copied().unwrap_or(0.0);
            out.multiplier = out.multiplier.max(tau.abs());
            // g = 0 with any τ where the combined scheme closes a contact, else 0 ≤ g ⊥ τ ≥ 0.
            let unilateral = g[0].min(tau).abs();
            let asked = match self.onto {
                Onto::All => unilateral,
                Onto::Active if step.active[i] => unilateral.min(g[0].abs()),
                Onto::Active => tau.abs(),
            };
            if !(asked / size <= out.law) {
                out.law = asked / size;
                out.law_culprit = Some(i);
            }
        }
    }
}
