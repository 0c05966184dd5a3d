//! States inside a step that is extrapolated: by steps of the same scheme from the same start, shorter ones, which end where the state is wanted. They
//! have the order of the step itself, where an interpolant through its ends has its own. They are not counted, and the run is the same without them.

use super::observer::Observer;
use super::run::{Frame, Run};
use crate::contract::Evaluator;
use crate::scheme::Solve;
use crate::scheme::stabilise::JointProjection;
use crate::state::{Outcome, Sigma, State, Step};
use complementarity::solver;

/// Room for the side steps of one run.
#[derive(Default)]
pub(super) struct SideSteps {
    times: Vec<f64>,
    /// States at these times; those beyond the count of the last step are spare.
    states: Vec<State>,
    step: Step,
    /// A solver of its own: one that remembers would let the run depend on what is asked of it.
    solve: Option<Solve>,
}

/// Contacts up to which those that stay closed are projected after extrapolation: all of them make one dense problem.
const PROJECTED: usize = 100;

/// Normalises the end of a step that is extrapolated or whose joints are to be projected, and projects joints, and the contacts that stayed closed if it is extrapolated.
/// False if joints were not closed.
pub(super) fn project(
    system: &Evaluator,
    projection: &mut Option<JointProjection>,
    step: &Step,
    end: &mut State,
) -> bool {
    let contacts = step.correction().has_contacts() && step.report.contacts <= PROJECTED;
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
        observer.wanted(start.t, end.t, &mut side.times);
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
            // Where a shorter step finds another mode or fails, observers have what is between the ends.
            if done.is_err() || side.step.outcome() == Outcome::Detected {
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
    /// The first states of the last step that was looked into.
    pub(super) fn states(&self, count: usize) -> &[State] {
        &self.states[..count]
    }
}
