//! Interval arithmetic: enclosures of a function of one variable and of its slope over an interval.
//!
//! Every result is widened by a few roundings, so that what is computed lies inside it. The slope follows by the chain rule.

use super::graph::Function;
use std::f64::consts::{FRAC_PI_2, PI, TAU};

/// All numbers from `lo` to `hi`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Interval {
    pub(super) lo: f64,
    pub(super) hi: f64,
}

/// Widening of a result: elementary functions are within one rounding, arithmetic within half of one.
const WIDEN: f64 = 4.0 * f64::EPSILON;

impl Interval {
    pub(super) const WHOLE: Self = Self { lo: f64::NEG_INFINITY, hi: f64::INFINITY };
    pub(super) const ZERO: Self = Self { lo: 0.0, hi: 0.0 };
    /// Where the function is not defined. It contains nothing.
    const EMPTY: Self = Self { lo: f64::NAN, hi: f64::NAN };

    pub(super) fn point(v: f64) -> Self {
        if v.is_finite() { Self { lo: v, hi: v } } else { Self::WHOLE }
    }

    pub(super) fn contains(self, v: f64) -> bool {
        self.lo <= v && v <= self.hi
    }

    /// Whether an integer is in it.
    pub(super) fn contains_integer(self) -> bool {
        self.lo.ceil() <= self.hi
    }

    fn is_empty(self) -> bool {
        self.lo.is_nan()
    }

    /// The part between two bounds.
    fn within(self, from: f64, to: f64) -> Self {
        if self.hi < from || self.lo > to || self.is_empty() {
            Self::EMPTY
        } else {
            Self { lo: self.lo.max(from), hi: self.hi.min(to) }
        }
    }

    /// Bounds of a result, widened.
    fn of(lo: f64, hi: f64) -> Self {
        if lo.is_nan() || hi.is_nan() {
            return Self::WHOLE;
        }
        Self { lo: lo - WIDEN * lo.abs(), hi: hi + WIDEN * hi.abs() }
    }

    fn size(self) -> f64 {
        self.lo.abs().max(self.hi.abs())
    }

    fn negate(self) -> Self {
        Self { lo: -self.hi, hi: -self.lo }
    }

    fn add(self, b: Self) -> Self {
        if self.is_empty() || b.is_empty() {
            return Self::EMPTY;
        }
        Self::of(self.lo + b.lo, self.hi + b.hi)
    }

    fn multiply(self, b: Self) -> Self {
        if self.is_empty() || b.is_empty() {
            return Self::EMPTY;
        }
        if self == Self::ZERO || b == Self::ZERO {
            return Self::ZERO;
        }
        // An infinite bound times zero is zero: the factor is finite, however large.
        let product = |x: f64, y: f64| if x == 0.0 || y == 0.0 { 0.0 } else { x * y };
        let all = [(self.lo, b.lo), (self.lo, b.hi), (self.hi, b.lo), (self.hi, b.hi)].map(|(x, y)| product(x, y));
        Self::of(all.into_iter().fold(f64::INFINITY, f64::min), all.into_iter().fold(f64::NEG_INFINITY, f64::max))
    }

    fn reciprocal(self) -> Self {
        if self.is_empty() {
            Self::EMPTY
        } else if self.contains(0.0) {
            Self::WHOLE
        } else {
            Self::of(self.hi.recip(), self.lo.recip())
        }
    }

    fn square(self) -> Self {
        if self.is_empty() {
            return Self::EMPTY;
        }
        let high = self.size();
        let low = if self.contains(0.0) { 0.0 } else { self.lo.abs().min(self.hi.abs()) };
        Self::of(low * low, high * high)
    }

    /// An increasing function, defined from `from` to `to`.
    fn increasing(self, from: f64, to: f64, f: impl Fn(f64) -> f64) -> Self {
        let x = self.within(from, to);
        if x.is_empty() { Self::EMPTY } else { Self::of(f(x.lo), f(x.hi)) }
    }

    fn sin(self) -> Self {
        if self.is_empty() {
            return Self::EMPTY;
        }
        // Beyond that the rounding of the argument is a part of a turn.
        if !(self.hi - self.lo < TAU) || self.size() > 1e12 {
            return Self { lo: -1.0, hi: 1.0 };
        }
        let near = WIDEN * (1.0 + self.size());
        let passes = |crest: f64| ((self.lo - near - crest) / TAU).ceil() * TAU + crest <= self.hi + near;
        let (a, b) = (self.lo.sin(), self.hi.sin());
        let lo = if passes(-FRAC_PI_2) { -1.0 } else { a.min(b) - near };
        let hi = if passes(FRAC_PI_2) { 1.0 } else { a.max(b) + near };
        Self { lo, hi }
    }

    fn cos(self) -> Self {
        self.add(Self::point(FRAC_PI_2)).sin()
    }
}

/// Value and slope.
#[derive(Debug, Clone, Copy)]
pub(super) struct Jet {
    pub(super) value: Interval,
    pub(super) slope: Interval,
}

impl Jet {
    pub(super) fn constant(v: f64) -> Self {
        Self { value: Interval::point(v), slope: Interval::ZERO }
    }

    /// The variable itself.
    pub(super) fn variable(lo: f64, hi: f64) -> Self {
        Self { value: Interval { lo, hi }, slope: Interval::point(1.0) }
    }

    pub(super) fn negate(self) -> Self {
        Self { value: self.value.negate(), slope: self.slope.negate() }
    }

    pub(super) fn add(self, b: Self) -> Self {
        Self { value: self.value.add(b.value), slope: self.slope.add(b.slope) }
    }

    pub(super) fn subtract(self, b: Self) -> Self {
        self.add(b.negate())
    }

    pub(super) fn multiply(self, b: Self) -> Self {
        let slope = self.slope.multiply(b.value).add(self.value.multiply(b.slope));
        Self { value: self.value.multiply(b.value), slope }
    }

    pub(super) fn divide(self, b: Self) -> Self {
        let inverse = b.value.reciprocal();
        let minus = b.slope.multiply(inverse.square()).negate();
        self.multiply(Self { value: inverse, slope: minus })
    }

    pub(super) fn integer_power(self, n: i32) -> Self {
        let power = |x: Interval, k: u32| {
            let odd = x.increasing(f64::NEG_INFINITY, f64::INFINITY, |v| v.powi(k as i32));
            match k {
                _ if x.is_empty() => x,
                0 => Interval::point(1.0),
                1 => x,
                _ if k % 2 == 1 => odd,
                _ => {
                    let y = Interval { lo: x.square().lo.max(0.0).sqrt(), hi: x.size() };
                    Interval::of(y.lo.powi(k as i32), y.hi.powi(k as i32))
                }
            }
        };
        let k = n.unsigned_abs();
        let slope = power(self.value, k.saturating_sub(1)).multiply(Interval::point(f64::from(k))).multiply(self.slope);
        let positive = Self { value: power(self.value, k), slope: if k == 0 { Interval::ZERO } else { slope } };
        if n < 0 { Self::constant(1.0).divide(positive) } else { positive }
    }

    /// a^b = exp(b log a), for a > 0.
    pub(super) fn power(self, b: Self) -> Self {
        b.multiply(self.call(Function::Log)).call(Function::Exp)
    }

    /// y = f(x), y' = f'(x) x'. The branches of `abs`, `sign` and `floor` are chosen before.
    pub(super) fn call(self, f: Function) -> Self {
        let x = self.value;
        let (all, whole) = (f64::INFINITY, Interval::WHOLE);
        let one = Interval::point(1.0);
        let (value, by) = match f {
            Function::Sqrt => {
                let y = x.increasing(0.0, all, f64::sqrt);
                (y, y.multiply(Interval::point(2.0)).reciprocal())
            }
            Function::Exp => {
                let y = x.increasing(-all, all, f64::exp);
                (y, y)
            }
            Function::Log => (x.increasing(0.0, all, f64::ln), x.reciprocal()),
            Function::Sin => (x.sin(), x.cos()),
            Function::Cos => (x.cos(), x.sin().negate()),
            Function::Tan => {
                let c = x.cos();
                let y = if c.contains(0.0) { whole } else { x.increasing(-all, all, f64::tan) };
                (y, c.square().reciprocal())
            }
            Function::Asin | Function::Acos => {
                let root = one.add(x.square().negate());
                let by = if root.lo > 0.0 { root.increasing(0.0, all, f64::sqrt).reciprocal() } else { whole };
                let y = x.increasing(-1.0, 1.0, f64::asin);
                if f == Function::Asin { (y, by) } else { (Interval::point(FRAC_PI_2).add(y.negate()), by.negate()) }
            }
            Function::Atan => (x.increasing(-all, all, f64::atan), one.add(x.square()).reciprocal()),
            Function::Sinh => (x.increasing(-all, all, f64::sinh), Self::cosh(x)),
            Function::Cosh => (Self::cosh(x), x.increasing(-all, all, f64::sinh)),
            Function::Tanh => {
                let y = x.increasing(-all, all, f64::tanh);
                (y, one.add(y.square().negate()))
            }
            Function::Abs | Function::Sign | Function::Floor => (whole, whole),
        };
        Self { value, slope: if self.slope == Interval::ZERO { Interval::ZERO } else { by.multiply(self.slope) } }
    }

    fn cosh(x: Interval) -> Interval {
        if x.is_empty() {
            return Interval::EMPTY;
        }
        let low = if x.contains(0.0) { 0.0 } else { x.lo.abs().min(x.hi.abs()) };
        Interval::of(low.cosh(), x.size().cosh())
    }

    /// The angle of (x, y). Where it may pass ±π only that bound is known.
    pub(super) fn angle(y: Self, x: Self) -> Self {
        let slope = y.slope.multiply(x.value).add(x.slope.multiply(y.value).negate());
        let slope = slope.multiply(x.value.square().add(y.value.square()).reciprocal());
        let value =
            if x.value.lo > 0.0 { y.divide(x).call(Function::Atan).value } else { Interval { lo: -PI, hi: PI } };
        Self { value, slope }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn enclosures_hold_values_and_slopes() {
        let functions = [
            Function::Sqrt,
            Function::Exp,
            Function::Log,
            Function::Sin,
            Function::Cos,
            Function::Tan,
            Function::Asin,
            Function::Acos,
            Function::Atan,
            Function::Sinh,
            Function::Cosh,
            Function::Tanh,
        ];
        for (k, width) in [(0, 1e-3), (1, 0.1), (2, 0.7), (3, 5.0)] {
            for i in 0..200 {
                let lo = -8.0 + 0.083 * f64::from(i) + 0.01 * f64::from(k);
                let hi = lo + width;
                let x = Jet::variable(lo, hi);
                let cube = |v: f64| v.powi(3) - 2.0 / v.powi(2);
                let jet = x.integer_power(3).subtract(Jet::constant(2.0).multiply(x.integer_power(-2)));
                for j in 0..=20 {
                    let v = lo + width * f64::from(j) / 20.0;
                    let holds = |jet: Jet, f: &dyn Fn(f64) -> f64| {
                        let (y, d) = (f(v), 1e-6);
                        let slope = (f(v + d) - f(v - d)) / (2.0 * d);
                        // Differences are good to d² times a third derivative, and to rounding over d.
                        let near = 1e-4 * (1.0 + slope.abs() + y.abs());
                        let inside = |i: Interval, y: f64, near: f64| i.lo - near <= y && y <= i.hi + near;
                        y.is_nan()
                            || (inside(jet.value, y, 0.0)
                                && (slope.is_nan() || slope.abs() > 1e3 || inside(jet.slope, slope, near)))
                    };
                    for f in functions {
                        assert!(holds(x.call(f), &|v| f.apply(v)), "{f:?} at {v} in [{lo}, {hi}]: {:?}", x.call(f));
                    }
                    assert!(holds(jet, &cube), "cube at {v} in [{lo}, {hi}]: {jet:?}");
                    let angle = Jet::angle(x, x.call(Function::Cos));
                    assert!(holds(angle, &|v| v.atan2(v.cos())) || v.cos() < 0.0, "angle at {v}");
                }
            }
        }
    }
}
