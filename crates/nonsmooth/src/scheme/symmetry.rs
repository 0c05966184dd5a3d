//! When the errors of a scheme have even powers of dt alone: a step back from the end of a step leads to its start.
//!
//! That is a matter of the scheme, of forces (an explicit rule needs h = h(t,q)) and of the laws that act: directions W that change, or friction whose direction follows the slip at the end of the step, break it.

use super::velocity_level::identity_of;
use crate::contract::{Evaluator, Kind};
use crate::law::{ElementSets, Law};
use crate::state::{State, Step};
use complementarity::Mode;
use complementarity::linear::Matrix;

/// What is known of the forces of the system that was asked about last.
#[derive(Default)]
pub(super) struct Symmetry {
    known: Option<((u64, usize), bool)>,
}

impl Symmetry {
    /// Whether no force depends on velocities, as far as can be told.
    pub(super) fn forces_without_velocity(&mut self, system: &Evaluator, start: &State) -> bool {
        let identity = identity_of(system);
        match self.known {
            Some((of, answer)) if of == identity => answer,
            _ => {
                let answer = forces_without_velocity(system, start);
                self.known = Some((identity, answer));
                answer
            }
        }
    }
}

/// Whether no force depends on velocities, as far as can be told: those with a potential, and those with constant Jacobians of which h_u is zero.
fn forces_without_velocity(system: &Evaluator, start: &State) -> bool {
    let s = system.structure();
    if s.forces.iter().all(|f| f.potential) {
        return true;
    }
    let mut by_u = Matrix::new(&s.pattern);
    s.forces.iter().enumerate().filter(|(_, f)| !f.potential).all(|(i, f)| {
        by_u.clear();
        system.force_jacobian(i, start.t, &start.q, &start.u, 0.0, 1.0, &mut by_u);
        let mut zero = f.constant_jacobian;
        by_u.for_each_entry(|_, _, v| zero &= v == 0.0);
        zero
    })
}

/// Whether every law that acts in a step acts in a direction that stays: W is constant, and friction in space does not slip.
pub(super) fn directions_stay(step: &Step) -> bool {
    step.candidates.items().iter().enumerate().filter(|(i, _)| step.active[*i]).all(|(i, k)| {
        let slips = match (k.kind, &*k.law) {
            (Kind::Contact, _) => k.dim() > 2 && step.sigma[i].mode(1) == Mode::Impressed,
            (Kind::Element, Law::Element(law)) => {
                let turns = matches!(law.sets, ElementSets::Ball { .. }) && k.dim() > 1;
                turns && step.sigma[i].mode(0) == Mode::Impressed
            }
            _ => false,
        };
        k.constant && !slips
    })
}
