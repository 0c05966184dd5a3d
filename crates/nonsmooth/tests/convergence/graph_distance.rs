//! The distance of two curves that jump: symmetric Hausdorff distance of their graphs, jumps filled.

use crate::Point;

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
pub(crate) fn graph_distance(a: &[Point], b: &[Point], piece: f64) -> f64 {
    directed(a, b, piece).max(directed(b, a, piece))
}

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
