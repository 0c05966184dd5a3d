//! Distance of two motions with jumps, and the order of a sequence of errors.
//!
//! **Graph distance**: the symmetric Hausdorff distance (Euclidean, seconds and units of x) of the curves {(t, x)}, jumps filled by
//! vertical segments. A jump with a small delay gives a small distance.
//!
//! **Order**: the slope p of ln error = p ln h + c by least squares, with its standard error.

/// A point (t, x) of a curve.
pub type Point = (f64, f64);

/// Square of the distance of a point from a segment.
fn square_distance(p: Point, from: Point, to: Point) -> f64 {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let square = dx * dx + dy * dy;
    let along = if square > 0.0 { ((p.0 - from.0) * dx + (p.1 - from.1) * dy) / square } else { 0.0 };
    let along = along.clamp(0.0, 1.0);
    let (x, y) = (p.0 - from.0 - along * dx, p.1 - from.1 - along * dy);
    x * x + y * y
}

/// Hausdorff distance from the points of curve `a` (joined, sampled every `piece`) to the joined curve `b`.
fn directed(a: &[Point], b: &[Point], piece: f64) -> f64 {
    let mut worst: f64 = 0.0;
    // Segment of b that begins at or before the present time; both curves go forward in time.
    let mut here = 0;
    for w in a.windows(2) {
        let length = (w[1].0 - w[0].0).hypot(w[1].1 - w[0].1);
        let n = (length / piece).ceil().max(1.0) as usize;
        for i in 0..=n {
            let s = i as f64 / n as f64;
            let p = (w[0].0 + s * (w[1].0 - w[0].0), w[0].1 + s * (w[1].1 - w[0].1));
            while here + 2 < b.len() && b[here + 1].0 <= p.0 {
                here += 1;
            }
            // Outwards in time, until time alone is farther, or the point cannot be the worst any more.
            let mut best = f64::INFINITY;
            let (mut left, mut right) = (Some(here), here + 1);
            while best > worst && (left.is_some() || right + 1 < b.len()) {
                if let Some(j) = left {
                    let gap = (p.0 - b[j + 1].0).max(0.0);
                    best = best.min(square_distance(p, b[j], b[j + 1]));
                    left = if j > 0 && gap * gap <= best { Some(j - 1) } else { None };
                }
                if right + 1 < b.len() {
                    let gap = b[right].0 - p.0;
                    best = best.min(square_distance(p, b[right], b[right + 1]));
                    right = if gap * gap <= best { right + 1 } else { b.len() };
                }
            }
            worst = worst.max(best);
        }
    }
    worst.sqrt()
}

/// Symmetric Hausdorff distance of two curves that go forward in time.
pub fn graph_distance(a: &[Point], b: &[Point], piece: f64) -> f64 {
    directed(a, b, piece).max(directed(b, a, piece))
}

/// A fitted order.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fit {
    /// The slope.
    pub order: f64,
    /// Its standard error; `None` for two points, which fit exactly.
    pub uncertainty: Option<f64>,
}

/// The order of errors over steps; `None` if there are not two different steps.
pub fn fit_order(steps: &[f64], errors: &[f64]) -> Option<Fit> {
    let n = steps.len() as f64;
    let (x, y): (Vec<f64>, Vec<f64>) = steps.iter().zip(errors).map(|(h, e)| (h.ln(), e.ln())).unzip();
    let (mx, my) = (x.iter().sum::<f64>() / n, y.iter().sum::<f64>() / n);
    let square: f64 = x.iter().map(|a| (a - mx) * (a - mx)).sum();
    if steps.len() < 2 || !(square > 0.0) {
        return None;
    }
    let order = x.iter().zip(&y).map(|(a, b)| (a - mx) * (b - my)).sum::<f64>() / square;
    let rest: f64 = x.iter().zip(&y).map(|(a, b)| (b - my - order * (a - mx)).powi(2)).sum();
    let uncertainty = (steps.len() > 2).then(|| (rest / (n - 2.0) / square).sqrt());
    Some(Fit { order, uncertainty })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_graph_distance_of_known_curves_is_right() {
        let jump = |t: f64| vec![(0.0, 0.0), (t, 0.0), (t, 1.0), (2.0, 1.0)];
        // Two unit jumps 0.1 apart in time: 0.1, not 1 as in the largest difference.
        assert!((graph_distance(&jump(0.5), &jump(0.6), 1e-3) - 0.1).abs() < 1e-12);
        // A constant beside a step: as far as the step is high.
        assert!((graph_distance(&jump(0.5), &[(0.0, 0.0), (2.0, 0.0)], 1e-3) - 1.0).abs() < 1e-12);
        // A spike that only one of them has is seen from that one.
        let spike = [(0.0, 0.0), (0.5, 0.0), (0.5, 0.3), (0.5, 0.0), (2.0, 0.0)];
        assert!((graph_distance(&[(0.0, 0.0), (2.0, 0.0)], &spike, 1e-3) - 0.3).abs() < 1e-12);
    }

    #[test]
    fn the_order_of_a_power_is_its_exponent_and_scatter_shows_as_uncertainty() {
        let steps = [0.1, 0.05, 0.025, 0.0125];
        let exact: Vec<f64> = steps.iter().map(|h: &f64| 3.0 * h.powi(2)).collect();
        let fit = fit_order(&steps, &exact).unwrap();
        assert!((fit.order - 2.0).abs() < 1e-12 && fit.uncertainty.unwrap() < 1e-12);
        // Factors 1.1 and 1/1.1 in turn: residuals of ln 1.1 about the line.
        let rough: Vec<f64> =
            exact.iter().enumerate().map(|(i, e)| if i % 2 == 0 { e * 1.1 } else { e / 1.1 }).collect();
        let fit = fit_order(&steps, &rough).unwrap();
        assert!((fit.order - 2.0).abs() < 3.0 * fit.uncertainty.unwrap() && fit.uncertainty.unwrap() > 0.03);
        assert_eq!(fit_order(&[0.1], &[1.0]), None);
        assert_eq!(fit_order(&[0.1, 0.1], &[1.0, 2.0]), None);
        assert_eq!(fit_order(&[0.1, 0.2], &[1.0, 2.0]).unwrap().uncertainty, None);
    }
}
