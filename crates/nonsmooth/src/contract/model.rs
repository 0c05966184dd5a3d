//! The user's side of the contract: a model by its values.

use super::layout::Layout;
use super::scalar::Scalar;

/// Derivatives that a [`Model`] may know in closed form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Derivative {
    /// ∂V/∂q of the potential of force `i`.
    Gradient,
    /// ∂²V/∂q², row by row.
    Hessian,
    /// (∂h/∂q, ∂h/∂u) of force `i` given by value, row by row.
    Jacobian,
    /// Of contact `i`: ∂g_N/∂t, ∂g_N/∂q; then ∂γ_F/∂u, row by row; then γ_F at u = 0.
    Contact,
    /// Of joint `i`, for every component: ∂g/∂t, ∂g/∂q.
    Joint,
}

/// Values of all parts of a kind that a [`Model`] may give at once, where the parts share subexpressions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Together {
    /// M, row by row.
    Mass,
    /// Σ h over all forces.
    Forces,
    /// g_N of all contacts.
    Gaps,
}

/// A mechanical model by its values; every derivative is made from them.
///
/// The functions are generic over the [`Scalar`] so that they can be evaluated on dual numbers.
/// Only [`Model::layout`] and [`Model::mass`] are always needed; the others are called for the parts
/// that the layout declares, with the part's number `i` and the coordinates and velocities that it touches.
/// A declared part whose function is missing is reported when a [`Differentiated`](super::Differentiated) is made.
///
/// ```
/// use nonsmooth::{Layout, Model, Scalar, law::ContactLaw};
///
/// struct Ball;
///
/// impl Model for Ball {
///     fn layout(&self) -> Layout {
///         Layout::new(["q"]).potential("weight").contact("ground", ContactLaw::newton(0.5))
///     }
///     fn mass<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], m: &mut [T]) {
///         m[0] = T::from(1.0);
///     }
///     fn potential<T: Scalar>(&self, _i: usize, _t: T, q: &[T]) -> T {
///         q[0] * 2.0
///     }
///     fn gap<T: Scalar>(&self, _i: usize, _t: T, q: &[T]) -> T {
///         q[0]
///     }
/// }
/// ```
pub trait Model: Send + Sync {
    /// Names, laws, and what each part touches.
    fn layout(&self) -> Layout;

    /// Mass block `i`, row by row (all entries; it starts as zero).
    fn mass<T: Scalar>(&self, i: usize, t: T, q: &[T], m: &mut [T]);

    /// Potential of force `i`, J.
    fn potential<T: Scalar>(&self, _i: usize, _t: T, _q: &[T]) -> T {
        T::from(f64::NAN)
    }

    /// Value of force `i` on the velocities it touches (starts as zero).
    fn force<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], _u: &[T], h: &mut [T]) {
        h.fill(T::from(f64::NAN));
    }

    /// Gap of contact `i`, m: positive when open.
    fn gap<T: Scalar>(&self, _i: usize, _t: T, _q: &[T]) -> T {
        T::from(f64::NAN)
    }

    /// Slip velocity of contact `i`, m/s; affine in u.
    fn slip<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], _u: &[T], gamma: &mut [T]) {
        gamma.fill(T::from(f64::NAN));
    }

    /// Defect of joint `i`: zero when satisfied.
    fn joint<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], g: &mut [T]) {
        g.fill(T::from(f64::NAN));
    }

    /// Defect of velocity joint `i`; affine in u.
    fn velocity_joint<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], _u: &[T], gamma: &mut [T]) {
        gamma.fill(T::from(f64::NAN));
    }

    /// Velocity of element `i`; affine in u.
    fn element<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], _u: &[T], gamma: &mut [T]) {
        gamma.fill(T::from(f64::NAN));
    }

    /// Rates of the coordinates of kinematic block `i`; affine in u.
    fn kinematics<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], _u: &[T], qdot: &mut [T]) {
        qdot.fill(T::from(f64::NAN));
    }

    /// A derivative in closed form into all of `out`, with the arguments of the function that is differentiated. False where the
    /// model has none (and leaves `out` unchanged): it is then computed from the values.
    fn derivative(&self, _what: Derivative, _i: usize, _t: f64, _q: &[f64], _u: &[f64], _out: &mut [f64]) -> bool {
        false
    }

    /// Values of all parts at once into all of `out`, from the vectors of the system. False where the model has no such function (and
    /// leaves `out` unchanged): its parts are then evaluated one by one.
    fn together(&self, _what: Together, _t: f64, _q: &[f64], _u: &[f64], _out: &mut [f64]) -> bool {
        false
    }

    /// Brings q back onto its manifold after an accepted step.
    fn normalise(&self, _q: &mut [f64]) {}
}
