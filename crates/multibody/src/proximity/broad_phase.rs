//! Broad phase of collision detection: a hierarchical grid over circles around the shapes.
//!
//! A circle of radius r (shape and margin) belongs to the level whose cells are at least 2r wide, and to the cell of its centre. Two circles
//! that overlap then lie in neighbouring cells of the coarser of their levels. Circles are sorted by level and cell. Each is tested against
//! later circles in the surrounding cells of its own level, and against those of all coarser levels in use. Any distribution of sizes and
//! speeds costs O(n log n) plus the pairs found. Unbounded shapes (half-planes, drums) are tested against everything.
//!
//! Cell indices have 28 bits in each direction. Circles beyond share the outermost cells, which costs time and misses nothing.
//! Circle indices have 32 bits; there are as many circles as shapes, at most 2²⁴ (`identity::MAX_SHAPES`).
//!
//! The search may use several threads. Each takes a range of the sorted circles and writes its own list. The lists are joined in
//! order and sorted by identity, so that the result does not depend on the number of threads.

use super::identity::Identity;

/// A circle around a shape.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Circle {
    /// Number of the shape.
    pub(crate) shape: u32,
    pub(crate) centre: [f64; 2],
    /// Radius with the margin, m; infinite for an unbounded shape.
    pub(crate) radius: f64,
    /// Whether it moves by forces: pairs in which neither does are left out.
    pub(crate) free: bool,
}

const CELL_BITS: u32 = 28;
const CELLS: f64 = (1u64 << CELL_BITS) as f64;
const CELL_OFFSET: f64 = CELLS / 2.0;
/// Levels, each with cells twice as wide as the one before.
const LEVELS: i32 = 64;

/// Workspace of the search.
#[derive(Debug, Default)]
pub(crate) struct Grid {
    /// Level and cell, then the index in the list of circles.
    keys: Vec<(u64, u32)>,
    /// Levels in use, ascending, with the range of their circles in `keys`.
    levels: Vec<(i32, std::ops::Range<usize>)>,
    unbounded: Vec<u32>,
    smallest: f64,
    /// Lists of the threads beyond the first.
    lists: Vec<Vec<Identity>>,
}

fn key(level: i32, row: u64, column: u64) -> u64 {
    ((level as u64) << (2 * CELL_BITS)) | (row << CELL_BITS) | column
}

impl Grid {
    fn width(&self, level: i32) -> f64 {
        2.0 * self.smallest * f64::from(level).exp2()
    }

    /// Level of the cells that are at least as wide as a circle.
    fn level(&self, radius: f64) -> i32 {
        let mut level = (radius / self.smallest).log2().ceil().clamp(0.0, f64::from(LEVELS - 1)) as i32;
        // Rounding of the logarithm.
        while level + 1 < LEVELS && self.width(level) < 2.0 * radius {
            level += 1;
        }
        level
    }

    fn cell(x: f64, width: f64) -> u64 {
        ((x / width).floor() + CELL_OFFSET).clamp(0.0, CELLS - 1.0) as u64
    }

    /// Calls `meet(i, j, list)` once for every pair of circles (by index) that may overlap, and joins the lists. Stops at about `limit` entries
    /// and returns false if there are more.
    pub(crate) fn search(
        &mut self,
        circles: &[Circle],
        threads: usize,
        limit: usize,
        meet: impl Fn(&Circle, &Circle, &mut Vec<Identity>) + Sync,
        out: &mut Vec<Identity>,
    ) -> bool {
        out.clear();
        let bounded = |c: &&Circle| c.radius.is_finite();
        self.smallest = circles.iter().filter(bounded).map(|c| c.radius).fold(f64::INFINITY, f64::min);
        self.keys.clear();
        self.unbounded.clear();
        for (i, c) in circles.iter().enumerate() {
            if !c.radius.is_finite() {
                self.unbounded.push(i as u32);
                continue;
            }
            let level = self.level(c.radius);
            let w = self.width(level);
            self.keys.push((key(level, Self::cell(c.centre[1], w), Self::cell(c.centre[0], w)), i as u32));
        }
        self.keys.sort_unstable();
        self.levels.clear();
        let mut at = 0;
        while at < self.keys.len() {
            let level = (self.keys[at].0 >> (2 * CELL_BITS)) as i32;
            let end = at + self.keys[at..].partition_point(|k| k.0 < key(level + 1, 0, 0));
            self.levels.push((level, at..end));
            at = end;
        }

        let n = self.keys.len();
        let mut lists = std::mem::take(&mut self.lists);
        lists.resize_with(threads.max(1) - 1, Vec::new);
        let this = &*self;
        let complete = if lists.is_empty() {
            this.stretch(circles, 0..n, limit, &meet, out)
        } else {
            let share = n.div_ceil(threads);
            std::thread::scope(|scope| {
                let meet = &meet;
                let others: Vec<_> = lists
                    .iter_mut()
                    .enumerate()
                    .map(|(k, list)| {
                        let range = ((k + 1) * share).min(n)..((k + 2) * share).min(n);
                        scope.spawn(move || {
                            list.clear();
                            this.stretch(circles, range, limit, meet, list)
                        })
                    })
                    .collect();
                let first = this.stretch(circles, 0..share.min(n), limit, meet, out);
                others.into_iter().fold(first, |all, t| all & t.join().unwrap_or(false))
            })
        };
        for list in &lists {
            out.extend_from_slice(list);
        }
        self.lists = lists;
        for (at, &e) in self.unbounded.iter().enumerate() {
            let unbounded = &circles[e as usize];
            let behind = self.unbounded[at + 1..].iter().map(|&i| &circles[i as usize]);
            for c in circles.iter().filter(bounded).chain(behind) {
                if unbounded.free || c.free {
                    meet(c, unbounded, out);
                }
            }
        }
        out.sort_unstable();
        complete && out.len() <= limit
    }

    /// The pairs of a range of the sorted circles with later ones on their level, and with coarser levels.
    fn stretch(
        &self,
        circles: &[Circle],
        range: std::ops::Range<usize>,
        limit: usize,
        meet: &impl Fn(&Circle, &Circle, &mut Vec<Identity>),
        out: &mut Vec<Identity>,
    ) -> bool {
        const LAST: u64 = (1 << CELL_BITS) - 1;
        let try_all = |c: &Circle, found: &[(u64, u32)], out: &mut Vec<Identity>| {
            for &(_, j) in found {
                let other = &circles[j as usize];
                let (dx, dy) = (c.centre[0] - other.centre[0], c.centre[1] - other.centre[1]);
                let r = c.radius + other.radius;
                if dx * dx + dy * dy <= r * r && (c.free || other.free) {
                    meet(c, other, out);
                }
            }
        };
        // Where the cells below and to the right of the last circle begin: neighbours in the list have near ones.
        let find = |level: &std::ops::Range<usize>, low: u64, high: u64| {
            let slice = &self.keys[level.clone()];
            let from = slice.partition_point(|k| k.0 < low);
            let to = from + slice[from..].partition_point(|k| k.0 <= high);
            &slice[from..to]
        };
        for at in range {
            let (k, i) = self.keys[at];
            let c = &circles[i as usize];
            if out.len() > limit {
                return false;
            }
            let own = (k >> (2 * CELL_BITS)) as i32;
            for (level, place) in self.levels.iter().filter(|(l, _)| *l >= own) {
                let (row, column) = if *level == own {
                    ((k >> CELL_BITS) & LAST, k & LAST)
                } else {
                    let w = self.width(*level);
                    (Self::cell(c.centre[1], w), Self::cell(c.centre[0], w))
                };
                let (left, right) = (column.saturating_sub(1), (column + 1).min(LAST));
                if *level == own {
                    // The rest of the own cell, the next one, and three cells of the next row.
                    let behind = &self.keys[at + 1..place.end];
                    let to = behind.iter().take_while(|o| o.0 <= key(own, row, right)).count();
                    try_all(c, &behind[..to], out);
                    if row < LAST {
                        try_all(c, find(place, key(own, row + 1, left), key(own, row + 1, right)), out);
                    }
                } else {
                    for row in row.saturating_sub(1)..=(row + 1).min(LAST) {
                        try_all(c, find(place, key(*level, row, left), key(*level, row, right)), out);
                    }
                }
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proximity::identity::{Feature, Pair};

    /// A fixed pseudo-random sequence in [0, 1).
    fn sequence(seed: u64) -> impl FnMut() -> f64 {
        let mut s = seed;
        move || {
            s = s.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (s >> 11) as f64 / (1u64 << 53) as f64
        }
    }

    fn between(a: &Circle, b: &Circle) -> Identity {
        Identity::contact(Pair::of(a.shape, b.shape), Feature::PointOfFirst(0))
    }

    fn pairs(circles: &[Circle], threads: usize) -> Vec<Identity> {
        let mut out = Vec::new();
        let meet = |a: &Circle, b: &Circle, out: &mut Vec<Identity>| {
            out.push(between(a, b));
        };
        assert!(Grid::default().search(circles, threads, usize::MAX, meet, &mut out));
        out
    }

    #[test]
    fn the_grid_finds_exactly_the_pairs_that_overlap() {
        for seed in 0..20 {
            let mut random = sequence(seed);
            let circles: Vec<Circle> = (0..300)
                .map(|shape| {
                    // Sizes over five decades, some far away, some without end.
                    let radius = 10f64.powf(-4.0 + 5.0 * random().powi(3));
                    let far = if random() < 0.05 { 1e9 } else { 1.0 };
                    let centre = [far * (random() - 0.5), far * (random() - 0.5)];
                    let radius = if random() < 0.02 { f64::INFINITY } else { radius };
                    Circle { shape, centre, radius, free: random() < 0.7 }
                })
                .collect();
            let mut expected = Vec::new();
            for a in &circles {
                for b in circles.iter().filter(|b| b.shape > a.shape) {
                    let (dx, dy) = (a.centre[0] - b.centre[0], a.centre[1] - b.centre[1]);
                    let r = a.radius + b.radius;
                    if (dx * dx + dy * dy <= r * r) && (a.free || b.free) {
                        expected.push(between(a, b));
                    }
                }
            }
            expected.sort_unstable();
            for threads in [1, 2, 5] {
                assert_eq!(pairs(&circles, threads), expected, "seed {seed}, {threads} threads");
            }
            assert!(expected.len() > 100);
        }
    }

    #[test]
    fn a_search_that_finds_too_much_ends() {
        let circles: Vec<Circle> =
            (0..2000).map(|shape| Circle { shape, centre: [0.0, 0.0], radius: 1.0, free: true }).collect();
        let meet = |_: &Circle, _: &Circle, out: &mut Vec<Identity>| out.push(Identity::stop(0));
        let mut out = Vec::new();
        assert!(!Grid::default().search(&circles, 1, 10_000, meet, &mut out));
        assert!(out.len() < 15_000);
    }
}
