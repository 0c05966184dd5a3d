//! A root of a function of one variable, by Brent's method [Brent1973, ch. 4]: inverse quadratic interpolation and secants, kept inside a bracket by
//! bisection.

/// A root of `f` between `a` and `b`, where f(a) = `fa` and f(b) = `fb` have opposite signs (or one is zero), to within `tolerance` of the
/// variable. If the signs are alike, the end with the smaller value.
pub(crate) fn brent<E>(
    (mut a, mut fa): (f64, f64),
    (mut b, mut fb): (f64, f64),
    tolerance: f64,
    mut f: impl FnMut(f64) -> Result<f64, E>,
) -> Result<f64, E> {
    if (fa > 0.0) == (fb > 0.0) {
        return Ok(if fa.abs() < fb.abs() { a } else { b });
    }
    let (mut c, mut fc) = (a, fa);
    let mut step = b - a;
    let mut before = step;
    for _ in 0..MAX_ITERATIONS {
        if fc.abs() < fb.abs() {
            // b is the best point, c keeps the bracket closed.
            (a, b, c) = (b, c, b);
            (fa, fb, fc) = (fb, fc, fb);
        }
        let near = 2.0 * f64::EPSILON * b.abs() + 0.5 * tolerance;
        let half = 0.5 * (c - b);
        if half.abs() <= near || fb == 0.0 {
            break;
        }
        (step, before) = if before.abs() < near || fa.abs() <= fb.abs() {
            (half, half)
        } else {
            interpolate(a, b, c, fa, fb, fc, step, before, near)
        };
        (a, fa) = (b, fb);
        b += if step.abs() > near { step } else { near.copysign(half) };
        fb = f(b)?;
        if (fb > 0.0) == (fc > 0.0) {
            (c, fc) = (a, fa);
            step = b - a;
            before = step;
        }
    }
    Ok(b)
}

/// Evaluations before the best point so far is taken: bisection alone halves the bracket 60 times in 60.
const MAX_ITERATIONS: usize = 100;

/// The next step from b, and the one before it: by interpolation if that stays well inside the bracket and shrinks, else by bisection.
#[allow(clippy::too_many_arguments)] // the state of the iteration
fn interpolate(a: f64, b: f64, c: f64, fa: f64, fb: f64, fc: f64, step: f64, before: f64, near: f64) -> (f64, f64) {
    let half = 0.5 * (c - b);
    let s = fb / fa;
    let (mut p, mut q) = if a == c {
        (2.0 * half * s, 1.0 - s)
    } else {
        let (q, r) = (fa / fc, fb / fc);
        (s * (2.0 * half * q * (q - r) - (b - a) * (r - 1.0)), (q - 1.0) * (r - 1.0) * (s - 1.0))
    };
    if p > 0.0 {
        q = -q;
    } else {
        p = -p;
    }
    if 2.0 * p < (3.0 * half * q - (near * q).abs()).min((before * q).abs()) { (p / q, step) } else { (half, half) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root(f: impl Fn(f64) -> f64, a: f64, b: f64) -> (f64, usize) {
        let mut calls = 0;
        let found = brent((a, f(a)), (b, f(b)), 1e-15, |x| {
            calls += 1;
            Ok::<_, ()>(f(x))
        });
        (found.unwrap_or(f64::NAN), calls)
    }

    #[test]
    fn roots_are_found_to_rounding_in_few_calls() {
        for (f, a, b, x) in [
            ((|x| x * x - 2.0) as fn(f64) -> f64, 0.0, 2.0, 2f64.sqrt()),
            (|x| x.cos() - x, 0.0, 1.0, 0.739_085_133_215_160_6),
            (|x: f64| x.exp() - 1e-3, -20.0, 0.0, 1e-3f64.ln()),
            (|x| 3.0 - x, 1.0, 8.0, 3.0),
        ] {
            let (found, calls) = root(f, a, b);
            assert!((found - x).abs() <= 4e-15 * x.abs(), "{found} is not {x}");
            assert!(calls <= 20, "{calls} calls for {x}");
        }
    }

    #[test]
    fn a_jump_is_located_by_bisection() {
        let (found, calls) = root(|x| if x < 0.3 { 1.0 } else { -1e-9 }, 0.0, 1.0);
        assert!((found - 0.3).abs() <= 1e-14 && calls <= 100, "{found} after {calls}");
    }

    #[test]
    fn without_a_change_of_sign_the_better_end_is_returned() {
        assert_eq!(root(|x| 1.0 + x, 0.0, 1.0).0, 0.0);
        assert_eq!(root(|x| x - 3.0, 0.0, 1.0).0, 1.0);
    }
}
