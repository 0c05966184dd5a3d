//! Models by formula: from the records of a scene file to a [`nonsmooth::Model`].
//!
//! Variables are numbered: 0 is the time, then the coordinates, then the velocities. Every part of the model becomes one
//! tape over the coordinates and velocities that occur in it, so that differentiation runs over these alone. What the
//! formulas show to be constant or linear is stated to the contract, which then evaluates and factors once:
//!
//! | part | linear if |
//! |---|---|
//! | mass | no variable occurs |
//! | force by value | A (q, u) + f(t) with constant A |
//! | force by potential | its gradient is A q + f(t) |
//! | gap, joint | a·(t, q) + c with constant a |
//! | slip, velocity joint, element | a·u + c with constant a |
//!
//! (the last two only for q̇ = u). With a kinetic energy T(t, q, q̇) the equations are Lagrange's:
//!
//! ```text
//! M = ∂²T/∂u²,     h_gyroscopic = ∂T/∂q − (∂²T/∂u∂q) u − ∂²T/∂u∂t
//! ```

pub mod bodies;
mod breaks;
mod build;
mod derivatives;
mod exact;
mod interactions;
mod law;
mod mass;
mod parts;
mod picture;
mod places;
mod scope;
mod together;

pub use breaks::{Break, Breaks, MAX_BREAKS, OpenSwitch};
pub use build::Built;
pub use exact::ExactSolution;
pub use picture::{Bounds, ContactMark, ContactPose, Figure, Item, Picture, Units};
pub use places::Places;
pub use scope::Numbers;

use crate::formula::Tape;
use nonsmooth::contract::{Derivative, Together};
use nonsmooth::{Layout, Model, Scalar};

/// A force by its potential or by its value.
#[derive(Debug, Clone)]
enum ForceTape {
    /// V, ∂V/∂q, ∂²V/∂q².
    Potential(Tape, [Option<Tape>; 2]),
    /// h, (∂h/∂q, ∂h/∂u).
    Value(Tape, Option<Tape>),
}

/// A model whose functions are tapes.
#[derive(Debug, Clone)]
pub struct FormulaModel {
    layout: Layout,
    masses: Vec<Tape>,
    forces: Vec<ForceTape>,
    gaps: Vec<Tape>,
    slips: Vec<Option<Tape>>,
    /// Derivatives of gap and slip of every contact, and of every joint.
    contact_rows: Vec<Option<Tape>>,
    joint_rows: Vec<Option<Tape>>,
    joints: Vec<Tape>,
    velocity_joints: Vec<Tape>,
    elements: Vec<Tape>,
    kinematics: Vec<Tape>,
    /// All parts of a kind at once.
    combined: together::CombinedTapes,
    /// Groups of coordinates of length 1.
    unit: Vec<Vec<usize>>,
}

impl Model for FormulaModel {
    fn layout(&self) -> Layout {
        self.layout.clone()
    }

    fn mass<T: Scalar>(&self, i: usize, t: T, q: &[T], m: &mut [T]) {
        self.masses[i].evaluate(t, q, &[], m);
    }

    #[inline]
    fn potential<T: Scalar>(&self, i: usize, t: T, q: &[T]) -> T {
        match &self.forces[i] {
            ForceTape::Potential(tape, _) => tape.first(t, q, &[]),
            ForceTape::Value(..) => T::from(f64::NAN),
        }
    }

    #[inline]
    fn force<T: Scalar>(&self, i: usize, t: T, q: &[T], u: &[T], h: &mut [T]) {
        match &self.forces[i] {
            ForceTape::Value(tape, _) => tape.evaluate(t, q, u, h),
            ForceTape::Potential(..) => h.fill(T::from(f64::NAN)),
        }
    }

    #[inline]
    fn gap<T: Scalar>(&self, i: usize, t: T, q: &[T]) -> T {
        self.gaps[i].first(t, q, &[])
    }

    fn slip<T: Scalar>(&self, i: usize, t: T, q: &[T], u: &[T], gamma: &mut [T]) {
        if let Some(tape) = &self.slips[i] {
            tape.evaluate(t, q, u, gamma);
        }
    }

    fn joint<T: Scalar>(&self, i: usize, t: T, q: &[T], g: &mut [T]) {
        self.joints[i].evaluate(t, q, &[], g);
    }

    fn velocity_joint<T: Scalar>(&self, i: usize, t: T, q: &[T], u: &[T], gamma: &mut [T]) {
        self.velocity_joints[i].evaluate(t, q, u, gamma);
    }

    fn element<T: Scalar>(&self, i: usize, t: T, q: &[T], u: &[T], gamma: &mut [T]) {
        self.elements[i].evaluate(t, q, u, gamma);
    }

    fn kinematics<T: Scalar>(&self, i: usize, t: T, q: &[T], u: &[T], qdot: &mut [T]) {
        self.kinematics[i].evaluate(t, q, u, qdot);
    }

    #[inline]
    fn derivative(&self, what: Derivative, i: usize, t: f64, q: &[f64], u: &[f64], out: &mut [f64]) -> bool {
        let force = self.forces.get(i);
        let tape = match what {
            Derivative::Contact => self.contact_rows[i].as_ref(),
            Derivative::Joint => self.joint_rows[i].as_ref(),
            Derivative::Gradient => match force {
                Some(ForceTape::Potential(_, [gradient, _])) => gradient.as_ref(),
                Some(ForceTape::Value(..)) | None => None,
            },
            Derivative::Hessian => match force {
                Some(ForceTape::Potential(_, [_, hessian])) => hessian.as_ref(),
                Some(ForceTape::Value(..)) | None => None,
            },
            Derivative::Jacobian => match force {
                Some(ForceTape::Value(_, jacobian)) => jacobian.as_ref(),
                Some(ForceTape::Potential(..)) | None => None,
            },
        };
        if let Some(tape) = tape {
            tape.evaluate(t, q, u, out);
        }
        tape.is_some()
    }

    #[inline]
    fn together(&self, what: Together, t: f64, q: &[f64], u: &[f64], out: &mut [f64]) -> bool {
        let tape = match what {
            Together::Mass => &self.combined.mass,
            Together::Forces => &self.combined.forces,
            Together::Gaps => &self.combined.gaps,
        };
        if let Some(tape) = tape {
            tape.evaluate(t, q, u, out);
        }
        tape.is_some()
    }

    fn normalise(&self, q: &mut [f64]) {
        for group in &self.unit {
            let norm = group.iter().map(|&i| q[i] * q[i]).sum::<f64>().sqrt();
            if norm > 0.0 && norm.is_finite() {
                group.iter().for_each(|&i| q[i] /= norm);
            }
        }
    }
}
