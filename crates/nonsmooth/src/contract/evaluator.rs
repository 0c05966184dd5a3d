//! A system with the memory to evaluate it: what a scheme sees.

use super::candidates::{Candidates, Interaction, Reach};
use super::part::Violation;
use super::system::{Derivatives, Structure, System};
use complementarity::linear::Matrix;
use std::any::Any;
use std::cell::OnceCell;

/// Memory for the evaluation of one system by one thread: scratch, and what is kept from call to call to save work. Results do not depend
/// on it. A [`System`] itself is constant and shared; each run has a workspace of its own.
#[derive(Default)]
pub struct Workspace {
    held: OnceCell<Box<dyn Any + Send>>,
    /// For memory of another type.
    next: OnceCell<Box<Workspace>>,
}

impl Workspace {
    /// The memory of a type, made at the first call. What changes in it is in cells of its own.
    #[inline]
    pub fn of<T: Any + Send + Default>(&self) -> &T {
        let mut here = self;
        loop {
            let held = here.held.get_or_init(|| Box::<T>::default());
            if let Some(found) = held.downcast_ref() {
                return found;
            }
            here = here.next.get_or_init(Box::default);
        }
    }
}

impl std::fmt::Debug for Workspace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Workspace").finish_non_exhaustive()
    }
}

/// A [`System`] and a [`Workspace`] for it: the methods of the system, without the workspace as an argument.
#[derive(Clone, Copy)]
pub struct Evaluator<'a> {
    system: &'a dyn System,
    work: &'a Workspace,
}

impl<'a> Evaluator<'a> {
    /// A system and memory to evaluate it.
    #[inline]
    pub fn new(system: &'a dyn System, work: &'a Workspace) -> Self {
        Self { system, work }
    }

    /// The system.
    #[inline]
    pub fn system(&self) -> &'a dyn System {
        self.system
    }

    /// See [`System::structure`].
    #[inline]
    pub fn structure(&self) -> &'a Structure {
        self.system.structure()
    }

    /// See [`System::mass`].
    #[inline]
    pub fn mass(&self, t: f64, q: &[f64], m: &mut Matrix) {
        self.system.mass(self.work, t, q, m);
    }

    /// See [`System::force`].
    #[inline]
    pub fn force(&self, i: usize, t: f64, q: &[f64], u: &[f64], h: &mut [f64]) {
        self.system.force(self.work, i, t, q, u, h);
    }

    /// See [`System::forces`].
    #[inline]
    pub fn forces(&self, t: f64, q: &[f64], u: &[f64], h: &mut [f64]) {
        self.system.forces(self.work, t, q, u, h);
    }

    /// See [`System::candidates`].
    #[inline]
    pub fn candidates(&self, t: f64, q: &[f64], u: &[f64], reach: Reach, out: &mut Candidates) {
        self.system.candidates(self.work, t, q, u, reach, out);
    }

    /// See [`System::position`].
    #[inline]
    pub fn position(&self, k: &Interaction, t: f64, q: &[f64], g: &mut [f64]) {
        self.system.position(self.work, k, t, q, g);
    }

    /// See [`System::velocity`].
    #[inline]
    pub fn velocity(&self, k: &Interaction, t: f64, q: &[f64], w: &mut [f64], chi: &mut [f64]) {
        self.system.velocity(self.work, k, t, q, w, chi);
    }

    /// See [`System::kinematics`].
    #[inline]
    pub fn kinematics(&self, t: f64, q: &[f64], u: &[f64], qdot: &mut [f64]) {
        self.system.kinematics(self.work, t, q, u, qdot);
    }

    /// See [`System::kinematics_jacobian`].
    pub fn kinematics_jacobian(&self, t: f64, q: &[f64], u: &[f64], by_q: &mut [f64], by_u: &mut [f64]) {
        self.system.kinematics_jacobian(self.work, t, q, u, by_q, by_u);
    }

    /// See [`System::potential`].
    #[inline]
    pub fn potential(&self, i: usize, t: f64, q: &[f64]) -> f64 {
        self.system.potential(self.work, i, t, q)
    }

    /// See [`System::force_jacobian`].
    #[inline]
    pub fn force_jacobian(&self, i: usize, t: f64, q: &[f64], u: &[f64], a: f64, b: f64, m: &mut Matrix) {
        self.system.force_jacobian(self.work, i, t, q, u, a, b, m);
    }

    /// See [`System::position_gradient`].
    #[inline]
    pub fn position_gradient(&self, k: &Interaction, t: f64, q: &[f64], out: &mut [f64]) {
        self.system.position_gradient(self.work, k, t, q, out);
    }

    /// See [`System::velocity_gradient`].
    #[inline]
    pub fn velocity_gradient(&self, k: &Interaction, skip: usize, t: f64, q: &[f64], u: &[f64], out: &mut [f64]) {
        self.system.velocity_gradient(self.work, k, skip, t, q, u, out);
    }

    /// See [`System::velocity_rate`].
    #[inline]
    pub fn velocity_rate(&self, k: &Interaction, t: f64, q: &[f64], u: &[f64], out: &mut [f64]) {
        self.system.velocity_rate(self.work, k, t, q, u, out);
    }

    /// See [`System::normalise`].
    #[inline]
    pub fn normalise(&self, q: &mut [f64]) {
        self.system.normalise(q);
    }

    /// See [`System::travel`].
    #[inline]
    pub fn travel(&self, t0: f64, q0: &[f64], u0: &[f64], t1: f64, q1: &[f64]) -> f64 {
        self.system.travel(t0, q0, u0, t1, q1)
    }

    /// See [`System::derivatives`].
    pub fn derivatives(&self) -> Derivatives {
        self.system.derivatives()
    }

    /// See [`System::name`].
    pub fn name(&self, id: u64) -> String {
        self.system.name(id)
    }

    /// See [`System::probe`].
    pub fn probe(&self, t: f64, q: &[f64], u: &[f64]) -> Result<(), Violation> {
        self.system.probe(self.work, t, q, u)
    }
}
