//! The functions of a model behind one pointer, on every scalar that differentiation needs.
//!
//! A [`Model`] is generic over the scalar, so its code is compiled for each model and scalar. The code that differentiates, gathers and
//! assembles is not generic: it calls the model through [`Functions`] and is compiled once. The scalars are
//!
//! | scalar | for |
//! |---|---|
//! | `f64` | values |
//! | `Dual<f64, 1>` | derivatives along the motion |
//! | `Dual<f64, 2>`, `4`, `6` | Jacobians, with this number of columns at a time |
//! | `Dual<T, 1>` over each of them | the time derivatives of gaps and joints |
//! | `Dual<T, 1>`, `Dual<T, 4>` over each of them | forces as gradients of potentials |

use super::model::{Derivative, Model, Together};
use super::scalar::{Dual, Scalar};

/// A function of a part of a model, of (t, q, u).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Function {
    /// g_N of a contact.
    Gap,
    /// γ_F of a contact.
    Slip,
    /// g of a joint.
    Joint,
    /// γ of a velocity joint.
    VelocityJoint,
    /// γ of an element.
    Element,
    /// h of a force given by value.
    Force,
    /// q̇ of a kinematic block.
    Kinematics,
}

/// The functions of a model on a scalar.
pub(super) trait On<T> {
    fn call(&self, function: Function, i: usize, t: T, q: &[T], u: &[T], out: &mut [T]);
}

impl<M: Model, T: Scalar> On<T> for M {
    fn call(&self, function: Function, i: usize, t: T, q: &[T], u: &[T], out: &mut [T]) {
        match function {
            Function::Gap => out[0] = self.gap(i, t, q),
            Function::Slip => self.slip(i, t, q, u, out),
            Function::Joint => self.joint(i, t, q, out),
            Function::VelocityJoint => self.velocity_joint(i, t, q, u, out),
            Function::Element => self.element(i, t, q, u, out),
            Function::Force => self.force(i, t, q, u, out),
            Function::Kinematics => self.kinematics(i, t, q, u, out),
        }
    }
}

/// Functions of position alone, on a scalar.
pub(super) trait PositionsOn<T> {
    /// [`Function::Gap`] or [`Function::Joint`].
    fn call_position(&self, function: Function, i: usize, t: T, q: &[T], out: &mut [T]);
}

impl<M: Model, T: Scalar> PositionsOn<T> for M {
    fn call_position(&self, function: Function, i: usize, t: T, q: &[T], out: &mut [T]) {
        match function {
            Function::Joint => self.joint(i, t, q, out),
            _ => out[0] = self.gap(i, t, q),
        }
    }
}

/// Potentials on a scalar.
pub(super) trait PotentialsOn<T> {
    fn call_potential(&self, i: usize, t: T, q: &[T]) -> T;
}

impl<M: Model, T: Scalar> PotentialsOn<T> for M {
    fn call_potential(&self, i: usize, t: T, q: &[T]) -> T {
        self.potential(i, t, q)
    }
}

/// What one of the scalars of values and Jacobians asks for.
trait Served<T>: On<T> + PositionsOn<Dual<T, 1>> + PotentialsOn<Dual<T, 1>> + PotentialsOn<Dual<T, 4>> {}

impl<M: Model, T: Scalar> Served<T> for M {}

/// A model whose scalars are chosen.
#[allow(private_bounds)] // the scalars are named here
pub(super) trait Functions:
    Served<f64>
    + Served<Dual<f64, 1>>
    + Served<Dual<f64, 2>>
    + Served<Dual<f64, 4>>
    + Served<Dual<f64, 6>>
    + PotentialsOn<f64>
{
    fn mass(&self, i: usize, t: f64, q: &[f64], m: &mut [f64]);
    fn derivative(&self, what: Derivative, i: usize, t: f64, q: &[f64], u: &[f64], out: &mut [f64]) -> bool;
    fn together(&self, what: Together, t: f64, q: &[f64], u: &[f64], out: &mut [f64]) -> bool;
}

impl<M: Model> Functions for M {
    fn mass(&self, i: usize, t: f64, q: &[f64], m: &mut [f64]) {
        Model::mass(self, i, t, q, m);
    }
    fn derivative(&self, what: Derivative, i: usize, t: f64, q: &[f64], u: &[f64], out: &mut [f64]) -> bool {
        Model::derivative(self, what, i, t, q, u, out)
    }
    fn together(&self, what: Together, t: f64, q: &[f64], u: &[f64], out: &mut [f64]) -> bool {
        Model::together(self, what, t, q, u, out)
    }
}

/// One of the scalars of values and Jacobians.
pub(super) trait Level: Scalar {
    fn call(m: &dyn Functions, function: Function, i: usize, t: Self, q: &[Self], u: &[Self], out: &mut [Self]);
    /// A function of position with the derivative along one direction.
    fn call_position(
        m: &dyn Functions,
        function: Function,
        i: usize,
        t: Dual<Self, 1>,
        q: &[Dual<Self, 1>],
        out: &mut [Dual<Self, 1>],
    );
    /// A potential with one derivative.
    fn potential_1(m: &dyn Functions, i: usize, t: Dual<Self, 1>, q: &[Dual<Self, 1>]) -> Dual<Self, 1>;
    /// A potential with four derivatives.
    fn potential_4(m: &dyn Functions, i: usize, t: Dual<Self, 4>, q: &[Dual<Self, 4>]) -> Dual<Self, 4>;
}

macro_rules! levels {
    ($($scalar:ty),*) => { $(
        impl Level for $scalar {
            #[inline]
            fn call(m: &dyn Functions, function: Function, i: usize, t: Self, q: &[Self], u: &[Self], out: &mut [Self]) {
                On::<Self>::call(m, function, i, t, q, u, out);
            }
            #[inline]
            fn call_position(
                m: &dyn Functions,
                function: Function,
                i: usize,
                t: Dual<Self, 1>,
                q: &[Dual<Self, 1>],
                out: &mut [Dual<Self, 1>],
            ) {
                PositionsOn::<Dual<Self, 1>>::call_position(m, function, i, t, q, out);
            }
            #[inline]
            fn potential_1(m: &dyn Functions, i: usize, t: Dual<Self, 1>, q: &[Dual<Self, 1>]) -> Dual<Self, 1> {
                m.call_potential(i, t, q)
            }
            #[inline]
            fn potential_4(m: &dyn Functions, i: usize, t: Dual<Self, 4>, q: &[Dual<Self, 4>]) -> Dual<Self, 4> {
                m.call_potential(i, t, q)
            }
        }
    )* };
}

levels!(f64, Dual<f64, 1>, Dual<f64, 2>, Dual<f64, 4>, Dual<f64, 6>);
