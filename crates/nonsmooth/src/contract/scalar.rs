//! Numbers that a [`Model`](super::Model) is written in: `f64`, and dual numbers that carry derivatives.
//!
//! A model is written once, generic over [`Scalar`]; evaluating it on [`Dual`] numbers gives exact
//! derivatives. Duals nest: `Dual<Dual<f64, 4>, 1>` carries second derivatives.
//!
//! **Conventions at kinks.** Derivatives are one-sided, so that they always exist.
//!
//! - `abs` at 0 has the slope +1 of the right side.
//! - `min(a, b)` and `max(a, b)` at a tie take `a`.
//! - `signum(0)` is 0 with slope 0.
//! - `sqrt` at exactly 0 and `atan2(0, 0)` have slope 0.

use std::fmt::Debug;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

/// A real number, possibly with derivatives. Comparisons look at the value only.
pub trait Scalar:
    Copy
    + Debug
    + PartialOrd
    + From<f64>
    + Neg<Output = Self>
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Add<f64, Output = Self>
    + Sub<f64, Output = Self>
    + Mul<f64, Output = Self>
    + Div<f64, Output = Self>
    + AddAssign
    + SubAssign
{
    /// The value without derivatives.
    fn value(self) -> f64;
    /// Square root.
    fn sqrt(self) -> Self;
    /// Exponential.
    fn exp(self) -> Self;
    /// Natural logarithm.
    fn ln(self) -> Self;
    /// Sine (radians).
    fn sin(self) -> Self;
    /// Cosine (radians).
    fn cos(self) -> Self;
    /// Tangent (radians).
    fn tan(self) -> Self;
    /// Arc sine.
    fn asin(self) -> Self;
    /// Arc cosine.
    fn acos(self) -> Self;
    /// Arc tangent.
    fn atan(self) -> Self;
    /// Angle of the point (x, y) where `self` is y.
    fn atan2(self, x: Self) -> Self;
    /// Hyperbolic sine.
    fn sinh(self) -> Self;
    /// Hyperbolic cosine.
    fn cosh(self) -> Self;
    /// Hyperbolic tangent.
    fn tanh(self) -> Self;
    /// Integer power.
    fn powi(self, n: i32) -> Self;
    /// Real power, for a positive base.
    fn powf(self, p: Self) -> Self;
    /// Absolute value.
    fn abs(self) -> Self {
        if self.value() < 0.0 { -self } else { self }
    }
    /// −1, 0 or 1.
    fn signum(self) -> Self {
        let v = self.value();
        Self::from(if v > 0.0 {
            1.0
        } else if v < 0.0 {
            -1.0
        } else {
            0.0
        })
    }
    /// The smaller one.
    fn min(self, other: Self) -> Self {
        if other.value() < self.value() { other } else { self }
    }
    /// The larger one.
    fn max(self, other: Self) -> Self {
        if other.value() > self.value() { other } else { self }
    }
}

macro_rules! forward {
    ($($name:ident),*) => { $( #[inline] fn $name(self) -> Self { f64::$name(self) } )* };
}

impl Scalar for f64 {
    #[inline]
    fn value(self) -> f64 {
        self
    }
    forward!(sqrt, exp, ln, sin, cos, tan, asin, acos, atan, sinh, cosh, tanh);
    #[inline]
    fn atan2(self, x: Self) -> Self {
        f64::atan2(self, x)
    }
    #[inline]
    fn powi(self, n: i32) -> Self {
        f64::powi(self, n)
    }
    #[inline]
    fn powf(self, p: Self) -> Self {
        f64::powf(self, p)
    }
}

/// A number with `N` directional derivatives.
#[derive(Debug, Clone, Copy)]
pub struct Dual<T, const N: usize> {
    /// Value.
    pub re: T,
    /// Derivatives.
    pub eps: [T; N],
}

impl<T: Scalar, const N: usize> Dual<T, N> {
    /// A number with zero derivatives.
    #[inline]
    pub fn constant(re: T) -> Self {
        Self { re, eps: [T::from(0.0); N] }
    }

    /// f(self) by the chain rule, from the value and the derivative of f.
    #[inline]
    fn chain(self, value: T, slope: T) -> Self {
        Self { re: value, eps: self.eps.map(|e| e * slope) }
    }

    #[inline]
    fn zip(self, other: Self, re: T, f: impl Fn(T, T) -> T) -> Self {
        Self { re, eps: std::array::from_fn(|k| f(self.eps[k], other.eps[k])) }
    }
}

impl<T: Scalar, const N: usize> From<f64> for Dual<T, N> {
    #[inline]
    fn from(v: f64) -> Self {
        Self::constant(T::from(v))
    }
}

impl<T: Scalar, const N: usize> PartialEq for Dual<T, N> {
    fn eq(&self, other: &Self) -> bool {
        self.re == other.re
    }
}

impl<T: Scalar, const N: usize> PartialOrd for Dual<T, N> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        self.re.partial_cmp(&other.re)
    }
}

impl<T: Scalar, const N: usize> Neg for Dual<T, N> {
    type Output = Self;
    #[inline]
    fn neg(self) -> Self {
        Self { re: -self.re, eps: self.eps.map(|e| -e) }
    }
}

impl<T: Scalar, const N: usize> Add for Dual<T, N> {
    type Output = Self;
    #[inline]
    fn add(self, o: Self) -> Self {
        self.zip(o, self.re + o.re, |a, b| a + b)
    }
}

impl<T: Scalar, const N: usize> Sub for Dual<T, N> {
    type Output = Self;
    #[inline]
    fn sub(self, o: Self) -> Self {
        self.zip(o, self.re - o.re, |a, b| a - b)
    }
}

impl<T: Scalar, const N: usize> Mul for Dual<T, N> {
    type Output = Self;
    // The product rule is a sum.
    #[allow(clippy::suspicious_arithmetic_impl)]
    #[inline]
    fn mul(self, o: Self) -> Self {
        self.zip(o, self.re * o.re, |a, b| a * o.re + self.re * b)
    }
}

impl<T: Scalar, const N: usize> Div for Dual<T, N> {
    type Output = Self;
    #[inline]
    fn div(self, o: Self) -> Self {
        let inverse = T::from(1.0) / o.re;
        let value = self.re * inverse;
        self.zip(o, value, |a, b| (a - value * b) * inverse)
    }
}

impl<T: Scalar, const N: usize> Add<f64> for Dual<T, N> {
    type Output = Self;
    #[inline]
    fn add(self, o: f64) -> Self {
        Self { re: self.re + o, ..self }
    }
}

impl<T: Scalar, const N: usize> Sub<f64> for Dual<T, N> {
    type Output = Self;
    #[inline]
    fn sub(self, o: f64) -> Self {
        Self { re: self.re - o, ..self }
    }
}

impl<T: Scalar, const N: usize> Mul<f64> for Dual<T, N> {
    type Output = Self;
    #[inline]
    fn mul(self, o: f64) -> Self {
        Self { re: self.re * o, eps: self.eps.map(|e| e * o) }
    }
}

impl<T: Scalar, const N: usize> Div<f64> for Dual<T, N> {
    type Output = Self;
    #[inline]
    fn div(self, o: f64) -> Self {
        Self { re: self.re / o, eps: self.eps.map(|e| e / o) }
    }
}

impl<T: Scalar, const N: usize> AddAssign for Dual<T, N> {
    #[inline]
    fn add_assign(&mut self, o: Self) {
        *self = *self + o;
    }
}

impl<T: Scalar, const N: usize> SubAssign for Dual<T, N> {
    #[inline]
    fn sub_assign(&mut self, o: Self) {
        *self = *self - o;
    }
}

impl<T: Scalar, const N: usize> Scalar for Dual<T, N> {
    #[inline]
    fn value(self) -> f64 {
        self.re.value()
    }
    #[inline]
    fn sqrt(self) -> Self {
        let r = self.re.sqrt();
        if r.value() == 0.0 { Self::constant(r) } else { self.chain(r, T::from(0.5) / r) }
    }
    #[inline]
    fn exp(self) -> Self {
        let e = self.re.exp();
        self.chain(e, e)
    }
    #[inline]
    fn ln(self) -> Self {
        self.chain(self.re.ln(), T::from(1.0) / self.re)
    }
    #[inline]
    fn sin(self) -> Self {
        self.chain(self.re.sin(), self.re.cos())
    }
    #[inline]
    fn cos(self) -> Self {
        self.chain(self.re.cos(), -self.re.sin())
    }
    #[inline]
    fn tan(self) -> Self {
        let t = self.re.tan();
        self.chain(t, t * t + 1.0)
    }
    #[inline]
    fn asin(self) -> Self {
        let slope = T::from(1.0) / (-(self.re * self.re) + 1.0).sqrt();
        self.chain(self.re.asin(), slope)
    }
    #[inline]
    fn acos(self) -> Self {
        let slope = -(T::from(1.0) / (-(self.re * self.re) + 1.0).sqrt());
        self.chain(self.re.acos(), slope)
    }
    #[inline]
    fn atan(self) -> Self {
        self.chain(self.re.atan(), T::from(1.0) / (self.re * self.re + 1.0))
    }
    #[inline]
    fn atan2(self, x: Self) -> Self {
        let r2 = self.re * self.re + x.re * x.re;
        let value = self.re.atan2(x.re);
        if r2.value() == 0.0 {
            return Self::constant(value);
        }
        self.zip(x, value, |dy, dx| (dy * x.re - dx * self.re) / r2)
    }
    #[inline]
    fn sinh(self) -> Self {
        self.chain(self.re.sinh(), self.re.cosh())
    }
    #[inline]
    fn cosh(self) -> Self {
        self.chain(self.re.cosh(), self.re.sinh())
    }
    #[inline]
    fn tanh(self) -> Self {
        let t = self.re.tanh();
        self.chain(t, -(t * t) + 1.0)
    }
    #[inline]
    fn powi(self, n: i32) -> Self {
        match n {
            0 => Self::from(1.0),
            1 => self,
            _ => {
                let lower = self.re.powi(n - 1);
                self.chain(lower * self.re, lower * f64::from(n))
            }
        }
    }
    #[inline]
    fn powf(self, p: Self) -> Self {
        let value = self.re.powf(p.re);
        // x^p: p x^(p−1) dx + x^p ln x dp; the second term only where p varies and x > 0.
        let by_base = p.re * self.re.powf(p.re - 1.0);
        let by_exponent = if self.re.value() > 0.0 { value * self.re.ln() } else { T::from(0.0) };
        self.zip(p, value, |dx, dp| by_base * dx + by_exponent * dp)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn derivative(f: impl Fn(Dual<f64, 1>) -> Dual<f64, 1>, x: f64) -> f64 {
        f(Dual { re: x, eps: [1.0] }).eps[0]
    }

    /// Every function against central differences: truncation h² f'''/6 ~ 1e-10, rounding 1e-16/h ~ 1e-11.
    #[test]
    fn first_derivatives_agree_with_differences() {
        type F1 = fn(Dual<f64, 1>) -> Dual<f64, 1>;
        let functions: [(&str, F1); 19] = [
            ("sqrt", |x| x.sqrt()),
            ("exp", |x| x.exp()),
            ("ln", |x| x.ln()),
            ("sin", |x| x.sin()),
            ("cos", |x| x.cos()),
            ("tan", |x| x.tan()),
            ("asin", |x| x.asin()),
            ("acos", |x| x.acos()),
            ("atan", |x| x.atan()),
            ("sinh", |x| x.sinh()),
            ("cosh", |x| x.cosh()),
            ("tanh", |x| x.tanh()),
            ("abs", |x| (-x).abs()),
            ("powi", |x| x.powi(-3)),
            ("powf", |x| x.powf(x * 2.0)),
            ("atan2", |x| (x * x).atan2(x - 2.0)),
            ("div", |x| (x + 1.0) / (x * x + 3.0)),
            ("max", |x| (x * x).max(x - 1.0)),
            ("min", |x| (x * x).min(x - 1.0)),
        ];
        let h = 1e-5;
        for (name, f) in functions {
            for x in [0.3, 0.72] {
                let value = |x: f64| f(Dual::constant(x)).re;
                let expected = (value(x + h) - value(x - h)) / (2.0 * h);
                let found = derivative(f, x);
                assert!((found - expected).abs() < 2e-8 * (1.0 + expected.abs()), "{name}({x}): {found} {expected}");
            }
        }
    }

    #[test]
    fn nested_duals_give_second_derivatives() {
        // f = x³ y at (2, 5): f_x = 60, f_y = 8, f_xx = 60, f_xy = 12.
        let inner = |re: f64, d: [f64; 2]| Dual { re, eps: d };
        let x = Dual { re: inner(2.0, [1.0, 0.0]), eps: [inner(1.0, [0.0, 0.0])] };
        let y: Dual<Dual<f64, 2>, 1> = Dual::constant(inner(5.0, [0.0, 1.0]));
        let f = x.powi(3) * y;
        assert_eq!(f.re.eps, [60.0, 8.0]);
        assert_eq!(f.eps[0].re, 60.0);
        assert_eq!(f.eps[0].eps, [60.0, 12.0]);
    }

    #[test]
    fn kinks_follow_the_stated_sides() {
        assert_eq!(derivative(|x| x.abs(), 0.0), 1.0);
        assert_eq!(derivative(|x| x.sqrt(), 0.0), 0.0);
        assert_eq!(derivative(|x| x.max(Dual::from(0.0)), 0.0), 1.0);
        assert_eq!(derivative(|x| x.signum(), 0.0), 0.0);
    }
}
