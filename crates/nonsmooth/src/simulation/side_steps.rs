//! States inside an extrapolated step, by side steps: shorter steps of the same scheme from the same start that end at the wanted time. Unlike an
//! interpolant through the ends, they have the order of the step itself. They are not counted and do not change the run.

use super::observer::Observer;
use super::run::{Frame, Run};
use crate::contract::Evaluator;
use crate::scheme::Solve;
use crate::scheme::stabilise::JointProjection;
use crate::state::{Sigma, State, Step, StepOutcome};
use complementarity::solver;

/// Workspace of the side steps of a run.
#[derive(Default)]
pub(super) struct SideSteps {
    times: Vec<f64>,
    /// States at these times. States beyond the count of the last step are spare memory.
    states: Vec<State>,
    step: Step,
    /// A separate solver: the run's own may keep a memory, and the run must not depend on side steps.
    solve: Option<Solve>,
}

/// Most contacts for which those that stay closed are projected after extrapolation: they form one dense problem.
const MAX_PROJECTED_CONTACTS: usize = 100;

/// Normalises the end of a step and projects its joints. After an extrapolated step it also projects the contacts that stayed closed.
/// False if joints were not closed.
pub(super) fn project(
    system: &Evaluator,
    projection: &mut Option<JointProjection>,
    step: &Step,
    end: &mut State,
) -> bool {
    let contacts = step.correction().has_contacts() && step.report.contacts <= MAX_PROJECTED_CONTACTS;
    let closed: &[Sigma] = if contacts { &step.sigma } else { &[] };
    let p = projection.get_or_insert_with(|| JointProjection::new(system));
    p.project(system, &step.candidates, closed, end.t, &mut end.q, &mut end.u) || contacts
}

impl Run {
    /// Makes the side steps that an observer wants within a final step, and returns how many states there are now.
    pub(super) fn evaluate_inside(&mut self, system: &Evaluator, frame: &Frame, observer: &mut dyn Observer) -> usize {
        if !frame.step.is_extrapolated() {
            return 0;
        }
        let (start, end) = (&frame.start, &frame.step.end);
        let side = &mut self.side;
        side.times.clear();
        observer.wanted_times(start.t, end.t, &mut side.times);
        if side.times.is_empty() {
            return 0;
        }
        if side.solve.is_none() {
            let options = self.options.solver_options;
            side.solve = solver::make(&self.options.solver).map(|solver| Solve { solver, options });
        }
        let Some(solve) = &mut side.solve else { return 0 };
        let mut made = 0;
        for &t in side.times.iter().filter(|t| **t > start.t && **t < end.t) {
            side.step.candidates.assign(&frame.step.candidates);
            let done = self.scheme.step(system, start, t - start.t, solve, &mut side.step);
            // If a side step fails or finds another mode, observers interpolate between the ends.
            if done.is_err() || side.step.outcome() == StepOutcome::Detected {
                continue;
            }
            if side.states.len() == made {
                side.states.push(State::default());
            }
            let state = &mut side.states[made];
            state.assign(&side.step.end);
            state.t = t;
            system.normalise(&mut state.q);
            if side.step.is_extrapolated() {
                project(system, &mut self.projection, &side.step, state);
            }
            made += 1;
        }
        made
    }
}

impl SideSteps {
    /// The first states of the last step with side steps.
    pub(super) fn states(&self, count: usize) -> &[State] {
        &self.states[..count]
    }
}
