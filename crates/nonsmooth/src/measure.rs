//! Distance of two motions with jumps, and the order of a sequence of errors.
//!
//! **Graph distance**: the symmetric Hausdorff distance (Euclidean, seconds and units of x) of the curves {(t, x)}, jumps filled by
//! vertical segments. A jump with a small delay gives a small distance.
//!
//! The distance to one segment is convex, so that over a piece of the other curve it is largest at an end. That bounds the distance over the
//! piece from above by any one segment; a piece is halved only while the bound is above the largest distance found. The nearest segment is
//! found in a tree of boxes, whatever the units of x are.
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

/// Bounds of some segments: least and largest t, least and largest x.
type Bounds = [f64; 4];

/// A curve with boxes around its segments: node k has the children 2k and 2k + 1, segment j is the leaf `leaves` + j.
struct Boxes<'a> {
    points: &'a [Point],
    leaves: usize,
    nodes: Vec<Bounds>,
}

impl<'a> Boxes<'a> {
    fn new(points: &'a [Point]) -> Self {
        let leaves = points.len().saturating_sub(1).max(1).next_power_of_two();
        let nothing = [f64::INFINITY, f64::NEG_INFINITY, f64::INFINITY, f64::NEG_INFINITY];
        let mut nodes = vec![nothing; 2 * leaves];
        for (j, w) in points.windows(2).enumerate() {
            let ((t0, x0), (t1, x1)) = (w[0], w[1]);
            nodes[leaves + j] = [t0.min(t1), t0.max(t1), x0.min(x1), x0.max(x1)];
        }
        for k in (1..leaves).rev() {
            let (a, b) = (nodes[2 * k], nodes[2 * k + 1]);
            nodes[k] = [a[0].min(b[0]), a[1].max(b[1]), a[2].min(b[2]), a[3].max(b[3])];
        }
        Self { points, leaves, nodes }
    }

    fn to_segment(&self, j: usize, p: Point) -> f64 {
        square_distance(p, self.points[j], self.points[j + 1])
    }

    fn to_box(&self, k: usize, (t, x): Point) -> f64 {
        let [t0, t1, x0, x1] = self.nodes[k];
        let (dt, dx) = ((t0 - t).max(t - t1).max(0.0), (x0 - x).max(x - x1).max(0.0));
        dt * dt + dx * dx
    }

    /// The square of the distance to a point, and the nearest segment, if it is nearer than segment `guess`.
    fn nearest(&self, p: Point, guess: usize, stack: &mut Vec<usize>) -> (f64, usize) {
        let mut best = (self.to_segment(guess, p), guess);
        stack.clear();
        stack.push(1);
        while let Some(k) = stack.pop() {
            if !(self.to_box(k, p) < best.0) {
                continue;
            }
            if k >= self.leaves {
                let d = self.to_segment(k - self.leaves, p);
                if d < best.0 {
                    best = (d, k - self.leaves);
                }
                continue;
            }
            // The nearer child comes off the stack first.
            let (a, b) = (2 * k, 2 * k + 1);
            let (near, far) = if self.to_box(b, p) < self.to_box(a, p) { (b, a) } else { (a, b) };
            stack.extend([far, near]);
        }
        best
    }
}

/// Relative accuracy of the square of the distance.
const ACCURACY: f64 = 1e-9;
/// Accuracy of the distance in units of the size of the curves: rounding of differences of points.
const ROUNDING: f64 = 1e-15;
/// Most halvings of a piece: beyond them its ends are one point.
const MAX_HALVINGS: usize = 50;

/// Square of the Hausdorff distance from the points of the joined curve `a` to the joined curve `b`; at least `worst`.
fn directed(a: &[Point], b: &Boxes, size: f64, mut worst: f64) -> f64 {
    let floor = (ROUNDING * size) * (ROUNDING * size);
    let (mut stack, mut pieces) = (Vec::new(), Vec::new());
    let mut here = b.nearest(a[0], 0, &mut stack);
    worst = worst.max(here.0);
    for w in a.windows(2) {
        // Over this piece one segment may be near enough.
        let bound = |j: usize, p: Point, q: Point| b.to_segment(j, p).max(b.to_segment(j, q));
        if bound(here.1, w[0], w[1]) <= worst {
            here.0 = b.to_segment(here.1, w[1]);
            continue;
        }
        let first = b.nearest(w[0], here.1, &mut stack);
        let last = b.nearest(w[1], first.1, &mut stack);
        worst = worst.max(first.0).max(last.0);
        pieces.push((w[0], first.1, w[1], last.1, 0));
        while let Some((p, i, q, j, halvings)) = pieces.pop() {
            let above = bound(i, p, q).min(bound(j, p, q));
            if above <= worst * (1.0 + ACCURACY) + floor || halvings == MAX_HALVINGS {
                continue;
            }
            let middle = (0.5 * (p.0 + q.0), 0.5 * (p.1 + q.1));
            let (d, k) = b.nearest(middle, i, &mut stack);
            worst = worst.max(d);
            pieces.push((middle, k, q, j, halvings + 1));
            pieces.push((p, i, middle, k, halvings + 1));
        }
        here = last;
    }
    worst
}

/// Symmetric Hausdorff distance of two curves; infinite if one has no point or a point is not finite.
pub fn graph_distance(a: &[Point], b: &[Point]) -> f64 {
    let all = || a.iter().chain(b);
    if a.is_empty() || b.is_empty() || !all().all(|(t, x)| t.is_finite() && x.is_finite()) {
        return f64::INFINITY;
    }
    // A point is a segment without length.
    let (twice_a, twice_b) = ([a[0]; 2], [b[0]; 2]);
    let (a, b) = (if a.len() == 1 { &twice_a } else { a }, if b.len() == 1 { &twice_b } else { b });
    let size = all().fold(0.0f64, |m, (t, x)| m.max(t.abs()).max(x.abs()));
    let worst = directed(a, &Boxes::new(b), size, 0.0);
    directed(b, &Boxes::new(a), size, worst).sqrt()
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
        assert!((graph_distance(&jump(0.5), &jump(0.6)) - 0.1).abs() < 1e-12);
        // A constant beside a step: as far as the step is high.
        assert!((graph_distance(&jump(0.5), &[(0.0, 0.0), (2.0, 0.0)]) - 1.0).abs() < 1e-12);
        assert_eq!(graph_distance(&[(1.0, 2.0)], &[(1.0, 5.0)]), 3.0);
        // A spike that only one of them has is seen from that one.
        let spike = [(0.0, 0.0), (0.5, 0.0), (0.5, 0.3), (0.5, 0.0), (2.0, 0.0)];
        assert!((graph_distance(&[(0.0, 0.0), (2.0, 0.0)], &spike) - 0.3).abs() < 1e-12);
    }

    #[test]
    fn the_graph_distance_does_not_depend_on_how_curves_are_divided_or_on_their_units() {
        let wave = |n: usize, late: f64| -> Vec<Point> {
            (0..=n).map(|i| 2.0 * i as f64 / n as f64).map(|t| (t, 300.0 * (5.0 * (t - late)).sin())).collect()
        };
        // The slope is 1500 and less: what a delay of 1e-3 s makes is the delay, but at the crests and at the ends.
        let coarse = graph_distance(&wave(4000, 0.0), &wave(4000, 1e-3));
        let (a, b) = (wave(4000, 0.0), wave(4000, 1e-3));
        // By brute force: every point against every segment.
        let to =
            |p: Point, c: &[Point]| c.windows(2).map(|w| square_distance(p, w[0], w[1])).fold(f64::INFINITY, f64::min);
        let points = |a: &[Point], b: &[Point]| a.iter().map(|p| to(*p, b)).fold(0.0, f64::max).sqrt();
        let known = points(&a, &b).max(points(&b, &a));
        assert!(coarse >= known && coarse <= known * 1.01, "{coarse} {known}");
        let mut halved: Vec<Point> =
            a.windows(2).flat_map(|w| [w[0], (0.5 * (w[0].0 + w[1].0), 0.5 * (w[0].1 + w[1].1))]).collect();
        halved.push(a[a.len() - 1]);
        // Rounding of points of the size 300.
        assert!(graph_distance(&a, &halved) < 1e-12);
        assert!((graph_distance(&halved, &b) - coarse).abs() < 1e-8 * coarse);
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
