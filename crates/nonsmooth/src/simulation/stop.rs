//! The end of a run that cannot continue: the part concerned, and the one-step problem for diagnosis.

use super::events::{Event, EventKind};
use super::observer::Observer;
use super::run::{Advance, Run};
use super::summary::{Status, Stop};
use crate::contract::{Evaluator, Kind};
use crate::scheme::Failure;
use crate::state::State;

impl Run {
    /// Ends the run with all information about the failure.
    pub(super) fn stop(&mut self, system: &Evaluator, failure: Failure, observer: &mut dyn Observer) -> Advance {
        self.flush(system, observer);
        let problem = match &failure {
            Failure::Solver(_) | Failure::Newton { .. } => self.last_problem(system, &self.state, &self.trial.step),
            _ => None,
        };
        let culprit = self.culprit(system, &failure);
        self.summary.status = Status::Stopped;
        self.summary.stop = Some(Stop { t: self.state.t, failure, culprit, problem });
        Advance::Stopped
    }

    /// Ends the run at a step whose energy is NaN or infinite although its motion is not.
    pub(super) fn undefined_energy(&mut self, system: &Evaluator, end: &State) {
        let forces = system.structure().forces.iter().enumerate();
        let culprit = forces
            .filter(|(i, f)| f.potential && !system.potential(*i, end.t, &end.q).is_finite())
            .map(|(_, f)| format!("the potential of force `{}`", f.name))
            .next();
        let failure = Failure::NotFinite { what: "the energy".into() };
        self.summary.status = Status::Stopped;
        self.summary.stop = Some(Stop { t: end.t, failure, culprit, problem: None });
    }

    /// Ends the run where the mass matrix is none any more.
    pub(super) fn check_mass(&mut self, system: &Evaluator, end: &State) {
        let Some(flaw) = self.meter.mass_flaw(system, end.t, &end.q).filter(|_| self.summary.stop.is_none()) else {
            return;
        };
        let velocity = system.structure().velocities[flaw.velocity].into();
        let failure = Failure::Mass { velocity, lacks: if flaw.symmetric { "positive definite" } else { "symmetric" } };
        self.summary.status = Status::Stopped;
        self.summary.stop = Some(Stop { t: end.t, failure, culprit: None, problem: None });
    }

    /// Ends the run at a step up to which the numerics have made more energy than there was.
    pub(super) fn unstable(&mut self, end: &State, gain: f64) {
        self.summary.events.push(Event { t: end.t, kind: EventKind::Instability, ..Event::default() });
        self.summary.status = Status::Stopped;
        let failure = Failure::Unstable { gain };
        self.summary.stop = Some(Stop { t: end.t, failure, culprit: None, problem: None });
    }

    /// The force or interaction that gives NaN or infinity near the present state.
    fn culprit(&self, system: &Evaluator, failure: &Failure) -> Option<String> {
        if !matches!(failure, Failure::NotFinite { .. }) {
            return None;
        }
        let (state, dt) = (&self.state, self.options.step);
        let mut qdot = vec![0.0; state.q.len()];
        crate::state::rates_into(system, state.t, &state.q, &state.u, &mut qdot);
        for fraction in [0.0, 0.5, 1.0] {
            let t = state.t + fraction * dt;
            let q: Vec<f64> = state.q.iter().zip(&qdot).map(|(q, r)| q + fraction * dt * r).collect();
            for (i, f) in system.structure().forces.iter().enumerate() {
                let mut h = vec![0.0; state.u.len()];
                system.force(i, t, &q, &state.u, &mut h);
                if let Some(j) = h.iter().position(|x| !x.is_finite()) {
                    return Some(format!("force `{}` on `{}`", f.name, &system.structure().velocities[j]));
                }
            }
            for k in self.trial.step.candidates.items() {
                let mut g = vec![0.0; k.position_dim()];
                system.position(k, t, &q, &mut g);
                let (mut w, mut chi) = (vec![0.0; k.dim() * k.dofs.len()], vec![0.0; k.dim()]);
                system.velocity(k, t, &q, &mut w, &mut chi);
                if !g.iter().chain(&w).chain(&chi).all(|x| x.is_finite()) {
                    let kind = match k.kind {
                        Kind::Joint | Kind::VelocityJoint => "joint",
                        Kind::Contact => "contact",
                        Kind::Element => "element",
                    };
                    return Some(format!("{kind} `{}`", system.name(k.id)));
                }
            }
        }
        None
    }
}
