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
///
/// An evaluator [of a step](Evaluator::of_step) that begins or ends at a break of the model sees the model from within the step: times are
/// moved into its interior by the rounding of the break. What jumps there has its right limit at the start and its left limit at the end.
#[derive(Clone, Copy)]
pub struct Evaluator<'a> {
    system: &'a dyn System,
    work: &'a Workspace,
    /// First and last time at which the system is evaluated, s.
    span: (f64, f64),
    /// Whether a block of the kinematics has a chart.
    charts: bool,
    /// Whether the model has breaks.
    breaks: bool,
}

/// Breaks nearer than this part of a step to its start or end are there: steps end within it of a known time.
const AT_BREAK: f64 = 1e-9;
/// How far from a break the model is evaluated, in units of the rounding of its time: a break that follows from a condition of a formula
/// is known to a few of them.
const ROUNDINGS: f64 = 16.0;

impl<'a> Evaluator<'a> {
    /// A system and memory to evaluate it.
    #[inline]
    pub fn new(system: &'a dyn System, work: &'a Workspace) -> Self {
        let structure = system.structure();
        let charts = structure.kinematics.iter().any(|block| block.chart);
        let breaks = !structure.breaks.is_empty();
        Self { system, work, span: (f64::NEG_INFINITY, f64::INFINITY), charts, breaks }
    }

    /// The same system seen from within a step from `t0` to `t1`.
    #[inline]
    pub fn of_step(self, t0: f64, t1: f64) -> Self {
        if self.breaks { self.between_breaks(t0, t1) } else { self }
    }

    /// The same by reference, with `room` for it where it is another one: most models have no breaks.
    #[inline]
    pub(crate) fn inside<'b>(&'b self, t0: f64, t1: f64, room: &'b mut Option<Self>) -> &'b Self {
        if self.breaks { room.insert(self.between_breaks(t0, t1)) } else { self }
    }

    #[cold]
    fn between_breaks(self, t0: f64, t1: f64) -> Self {
        let near = AT_BREAK * (t1 - t0);
        let breaks = &self.structure().breaks;
        let first = breaks.partition_point(|&b| b < t0 - near);
        let mut span = (f64::NEG_INFINITY, f64::INFINITY);
        for &b in breaks[first..].iter().take_while(|&&b| b <= t1 + near) {
            let off = ROUNDINGS * f64::EPSILON * b.abs().max(t1 - t0);
            if (b - t0).abs() <= near {
                span.0 = b + off;
            } else if (b - t1).abs() <= near {
                span.1 = b - off;
                break;
            }
        }
        Self { span, ..self }
    }

    /// The same system with both sides of every break: for schemes whose equations reach over more than a step.
    pub fn unbounded(self) -> Self {
        Self { span: (f64::NEG_INFINITY, f64::INFINITY), ..self }
    }

    /// Whether some coordinates do not move along straight lines: see [`KinematicBlock::chart`](super::KinematicBlock).
    #[inline]
    pub fn has_charts(&self) -> bool {
        self.charts
    }

    /// The memory to evaluate the system.
    #[inline]
    pub(super) fn workspace(&self) -> &'a Workspace {
        self.work
    }

    /// The same system before and after the time `t`, if that is a break of the model, seen from steps of length `dt`.
    pub fn at_break(self, t: f64, dt: f64) -> Option<[Self; 2]> {
        let after = self.of_step(t, t + dt);
        after.begins_at_break().then(|| [self.of_step(t - dt, t), after])
    }

    /// Whether the step that this evaluator belongs to begins at a break of the model.
    #[inline]
    pub fn begins_at_break(&self) -> bool {
        self.span.0 > f64::NEG_INFINITY
    }

    /// The time at which the model is evaluated for a time of the step.
    #[inline]
    fn within(&self, t: f64) -> f64 {
        if self.breaks { t.max(self.span.0).min(self.span.1) } else { t }
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
        self.system.mass(self.work, self.within(t), q, m);
    }

    /// See [`System::force`].
    #[inline]
    pub fn force(&self, i: usize, t: f64, q: &[f64], u: &[f64], h: &mut [f64]) {
        self.system.force(self.work, i, self.within(t), q, u, h);
    }

    /// See [`System::forces`].
    #[inline]
    pub fn forces(&self, t: f64, q: &[f64], u: &[f64], h: &mut [f64]) {
        self.system.forces(self.work, self.within(t), q, u, h);
    }

    /// See [`System::candidates`].
    #[inline]
    pub fn candidates(&self, t: f64, q: &[f64], u: &[f64], reach: Reach, out: &mut Candidates) {
        self.system.candidates(self.work, self.within(t), q, u, reach, out);
    }

    /// See [`System::position`].
    #[inline]
    pub fn position(&self, k: &Interaction, t: f64, q: &[f64], g: &mut [f64]) {
        self.system.position(self.work, k, self.within(t), q, g);
    }

    /// See [`System::velocity`].
    #[inline]
    pub fn velocity(&self, k: &Interaction, t: f64, q: &[f64], w: &mut [f64], chi: &mut [f64]) {
        self.system.velocity(self.work, k, self.within(t), q, w, chi);
    }

    /// See [`System::kinematics`].
    #[inline]
    pub fn kinematics(&self, t: f64, q: &[f64], u: &[f64], qdot: &mut [f64]) {
        self.system.kinematics(self.work, self.within(t), q, u, qdot);
    }

    /// See [`System::kinematics_jacobian`].
    pub fn kinematics_jacobian(&self, block: usize, t: f64, q: &[f64], u: &[f64], by_q: &mut [f64], by_u: &mut [f64]) {
        self.system.kinematics_jacobian(self.work, block, self.within(t), q, u, by_q, by_u);
    }

    /// See [`System::tangent`].
    pub fn tangent(&self, block: usize, y: &[f64], out: &mut [f64]) {
        self.system.tangent(block, y, out);
    }

    /// See [`System::potential`].
    #[inline]
    pub fn potential(&self, i: usize, t: f64, q: &[f64]) -> f64 {
        self.system.potential(self.work, i, self.within(t), q)
    }

    /// See [`System::force_jacobian`].
    #[inline]
    pub fn force_jacobian(&self, i: usize, t: f64, q: &[f64], u: &[f64], a: f64, b: f64, m: &mut Matrix) {
        self.system.force_jacobian(self.work, i, self.within(t), q, u, a, b, m);
    }

    /// See [`System::velocity_gradient`].
    #[inline]
    pub fn velocity_gradient(&self, k: &Interaction, skip: usize, t: f64, q: &[f64], u: &[f64], out: &mut [f64]) {
        self.system.velocity_gradient(self.work, k, skip, self.within(t), q, u, out);
    }

    /// See [`System::velocity_rate`].
    #[inline]
    pub fn velocity_rate(&self, k: &Interaction, t: f64, q: &[f64], u: &[f64], out: &mut [f64]) {
        self.system.velocity_rate(self.work, k, self.within(t), q, u, out);
    }

    /// See [`System::normalise`].
    #[inline]
    pub fn normalise(&self, q: &mut [f64]) {
        self.system.normalise(q);
    }

    /// See [`System::travel`].
    #[inline]
    pub fn travel(&self, t0: f64, q0: &[f64], u0: &[f64], t1: f64, q1: &[f64]) -> f64 {
        self.system.travel(self.within(t0), q0, u0, self.within(t1), q1)
    }

    /// See [`System::extent`].
    pub fn extent(&self, k: &Interaction) -> f64 {
        self.system.extent(k)
    }

    /// See [`System::passed`].
    #[inline]
    pub fn passed(
        &self,
        list: &Candidates,
        (t0, q0): (f64, &[f64]),
        (t1, q1): (f64, &[f64]),
        closely: bool,
    ) -> Option<u64> {
        self.system.passed(self.work, list, (self.within(t0), q0), (self.within(t1), q1), closely)
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
        self.system.probe(self.work, self.within(t), q, u)
    }
}
