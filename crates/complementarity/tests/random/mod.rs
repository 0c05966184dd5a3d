//! Random one-step problems by family, shared by the tests and `examples/random_check.rs`.
//!
//! A problem is named by its family and a number: [`Family::problem`] gives the same bits for the
//! same pair on every machine with IEEE arithmetic. Two ways of making one:
//!
//! - *planted*: choose sets, a matrix A, and per block a pair (r, u) that satisfies the law, mode by mode
//!   (open, stick, slip, at a bound, degenerate); then b = u − A r has that solution;
//! - *mechanics*: A = Wᵀ M⁻¹ W and b = Wᵀ v from masses, force directions and a velocity. Here u = 0 is a
//!   feasible velocity, hence a solution exists [AcaryCadouxLemarechalMalick2011].

// Every target uses its own part of this module.
#![allow(dead_code)]

mod matrices;
pub(crate) mod verify;

use complementarity::linear::Dense;
use complementarity::{Polygon, Problem, Set};
use matrices::{Bodies, dominant, gram, gram_of, skewed, stretched};
use std::sync::Arc;

/// SplitMix64 [Steele2014]: 64 bits of state, equidistributed, the same everywhere.
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform in [0, 1).
    pub(crate) fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform in [a, b).
    pub(crate) fn between(&mut self, a: f64, b: f64) -> f64 {
        a + (b - a) * self.unit()
    }

    /// Uniform in a..=b.
    pub(crate) fn count(&mut self, a: usize, b: usize) -> usize {
        a + (self.bits() % (b - a + 1) as u64) as usize
    }

    pub(crate) fn chance(&mut self, p: f64) -> bool {
        self.unit() < p
    }

    pub(crate) fn vector(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| self.between(-1.0, 1.0)).collect()
    }

    /// A direction in R^n.
    pub(crate) fn direction(&mut self, n: usize) -> Vec<f64> {
        loop {
            let v = self.vector(n);
            let length = norm(&v);
            // Reject the corners of the cube (uniform on the sphere) and what cannot be normalised well.
            if length > 0.1 && length <= 1.0 {
                return v.iter().map(|x| x / length).collect();
            }
        }
    }
}

pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

pub(crate) fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

/// A problem and, where it was planted, a solution of it.
#[derive(Debug, Clone)]
pub(crate) struct Sample {
    pub(crate) problem: Problem,
    /// (r, u), if planted.
    pub(crate) planted: Option<(Vec<f64>, Vec<f64>)>,
}

/// A family of problems.
pub(crate) struct Family {
    pub(crate) name: &'static str,
    /// Whether `auto` must solve every problem: frictionless with a monotone or P-matrix, or symmetric A with μ ≤ 0.7.
    pub(crate) certain: bool,
    /// Whether A is symmetric positive semidefinite.
    pub(crate) symmetric: bool,
    make: fn(&mut Random) -> Sample,
}

impl Family {
    /// Problem `index` of the family.
    pub(crate) fn problem(&self, index: u64) -> Sample {
        // FNV-1a of the name, so that families are independent of their order in the table.
        let hash = self
            .name
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325_u64, |h, c| (h ^ u64::from(c)).wrapping_mul(0x0000_0100_0000_01b3));
        let mut random = Random::new(hash);
        random.0 = random.bits() ^ index.wrapping_mul(0xd134_2543_de82_ef95);
        random.bits();
        (self.make)(&mut random)
    }
}

const fn family(name: &'static str, certain: bool, symmetric: bool, make: fn(&mut Random) -> Sample) -> Family {
    Family { name, certain, symmetric, make }
}

/// All families.
pub(crate) static FAMILIES: &[Family] = &[
    family("lcp-pd", true, true, |g| {
        let sets = vec![Set::NonNegative; g.count(1, 16)];
        regular(g, sets, false)
    }),
    family("lcp-psd", true, true, |g| {
        let sets = vec![Set::NonNegative; g.count(2, 16)];
        deficient(g, sets, false)
    }),
    family("lcp-degenerate", true, true, |g| {
        let sets = vec![Set::NonNegative; g.count(2, 12)];
        if g.chance(0.5) { regular(g, sets, true) } else { deficient(g, sets, true) }
    }),
    family("lcp-p-matrix", true, false, |g| {
        let sets = vec![Set::NonNegative; g.count(2, 14)];
        let a = dominant(g, sets.len());
        plant(g, sets, a, false)
    }),
    family("lcp-monotone", true, false, |g| {
        let n = g.count(2, 14);
        let rank = g.count(1, n);
        let a = gram(g, n, rank, 0.0);
        let a = skewed(g, a, 1.0);
        plant(g, vec![Set::NonNegative; n], a, false)
    }),
    family("mixed-lcp", true, true, |g| {
        let sets = mixed_sets(g);
        regular(g, sets, false)
    }),
    family("mixed-redundant", true, true, mixed_redundant),
    family("box", true, true, |g| {
        let sets: Vec<Set> = (0..g.count(1, 14)).map(|_| interval(g)).collect();
        either(g, sets)
    }),
    family("ball", true, true, |g| {
        let sets: Vec<Set> = (0..g.count(1, 6)).map(|_| ball(g)).collect();
        either(g, sets)
    }),
    family("friction-2d", true, true, |g| {
        let sets = coulomb(g, 1, 6, 1, 0.0, 0.7);
        regular(g, sets, false)
    }),
    family("friction-3d", true, true, |g| {
        let sets = coulomb(g, 1, 6, 2, 0.0, 0.7);
        regular(g, sets, false)
    }),
    family("friction-4d", true, true, |g| {
        let sets = coulomb(g, 1, 5, 3, 0.0, 0.7);
        regular(g, sets, false)
    }),
    family("friction-polyhedral", true, true, |g| {
        let sets: Vec<Set> = (0..g.count(1, 5)).map(|_| polyhedral(g, 0.7)).collect();
        regular(g, sets, false)
    }),
    family("friction-degenerate", true, true, |g| {
        let dim = g.count(1, 3);
        let sets = coulomb(g, 1, 5, dim, 0.0, 0.7);
        regular(g, sets, true)
    }),
    family("friction-2d-deficient", true, true, |g| {
        let sets = coulomb(g, 2, 6, 1, 0.0, 0.7);
        deficient(g, sets, false)
    }),
    family("friction-3d-deficient", true, true, |g| {
        let sets = coulomb(g, 2, 6, 2, 0.0, 0.7);
        deficient(g, sets, false)
    }),
    family("mechanics-2d", true, true, |g| {
        let sets = coulomb(g, 1, 8, 1, 0.0, 0.7);
        mechanics(g, sets)
    }),
    family("mechanics-3d", true, true, |g| {
        let sets = coulomb(g, 1, 8, 2, 0.0, 0.7);
        mechanics(g, sets)
    }),
    family("mechanics-polyhedral", true, true, |g| {
        let sets: Vec<Set> = (0..g.count(1, 6)).map(|_| polyhedral(g, 0.7)).collect();
        mechanics(g, sets)
    }),
    family("bodies-2d", true, true, |g| bodies(g, 3, false)),
    family("bodies-3d", true, true, |g| bodies(g, 6, false)),
    family("bodies-joints", true, true, |g| {
        let dofs = if g.chance(0.5) { 3 } else { 6 };
        bodies(g, dofs, true)
    }),
    family("bodies-many", true, true, |g| {
        let dofs = if g.chance(0.5) { 3 } else { 6 };
        let (n, contacts) = (g.count(4, 12), g.count(8, 30));
        rigid(g, dofs, n, 0, contacts)
    }),
    family("everything", true, true, |g| {
        let sets = every_set(g);
        regular(g, sets, false)
    }),
    family("friction-unsymmetric", false, false, |g| {
        let dim = g.count(1, 3);
        let sets = coulomb(g, 1, 5, dim, 0.0, 0.7);
        let n = rows(&sets);
        let a = gram(g, n, n, 0.1);
        let a = skewed(g, a, 0.5);
        plant(g, sets, a, false)
    }),
    family("friction-high", false, true, |g| {
        let dim = g.count(1, 3);
        let sets = coulomb(g, 1, 5, dim, 0.7, 2.0);
        regular(g, sets, false)
    }),
    family("friction-stretched", false, true, |g| {
        let dim = g.count(1, 2);
        let sets = coulomb(g, 1, 5, dim, 0.0, 0.7);
        let n = rows(&sets);
        let a = gram(g, n, n, 0.1);
        let a = stretched(g, a, 2.0);
        plant(g, sets, a, false)
    }),
];

/// The family of that name.
pub(crate) fn named(name: &str) -> &'static Family {
    FAMILIES.iter().find(|f| f.name == name).unwrap()
}

/// Rows of all sets together.
pub(crate) fn rows(sets: &[Set]) -> usize {
    sets.iter().map(Set::dim).sum()
}

fn interval(g: &mut Random) -> Set {
    let lower = g.between(-2.0, 1.0);
    let upper = lower + g.between(0.1, 2.0);
    match g.count(0, 5) {
        0 => Set::Interval { lower: f64::NEG_INFINITY, upper },
        1 => Set::Interval { lower, upper: f64::INFINITY },
        2 => Set::Interval { lower: f64::NEG_INFINITY, upper: f64::INFINITY },
        _ => Set::Interval { lower, upper },
    }
}

fn ball(g: &mut Random) -> Set {
    Set::Ball { dim: g.count(1, 3), radius: g.between(0.1, 2.0) }
}

/// Between `least` and `most` contacts of tangential dimension `dim`; every tenth without friction.
pub(crate) fn coulomb(g: &mut Random, least: usize, most: usize, dim: usize, low: f64, high: f64) -> Vec<Set> {
    let n = g.count(least, most);
    (0..n)
        .map(|_| {
            let mu = g.between(low, high);
            Set::Coulomb { dim, mu: if low == 0.0 && g.chance(0.1) { 0.0 } else { mu } }
        })
        .collect()
}

/// A convex polygon with 3 to 8 corners on an ellipse around the origin.
pub(crate) fn polygon(g: &mut Random) -> Polygon {
    if g.chance(0.5) {
        return Polygon::regular([3, 4, 8][g.count(0, 2)]).unwrap();
    }
    let m = g.count(3, 8);
    let (turn, squeeze) = (g.between(0.0, 1.0), g.between(0.5, 1.0));
    // Angles jittered by less than a third of their spacing stay ordered with gaps below half a turn for
    // m ≥ 4; three corners are jittered less.
    let jitter = if m == 3 { 0.1 } else { 0.3 };
    let corners = (0..m)
        .map(|j| {
            let angle = std::f64::consts::TAU * (j as f64 + turn + g.between(-jitter, jitter)) / m as f64;
            [angle.cos(), squeeze * angle.sin()]
        })
        .collect();
    Polygon::new(corners).unwrap()
}

pub(crate) fn polyhedral(g: &mut Random, high: f64) -> Set {
    Set::Polyhedral { mu: g.between(0.05, high), polygon: Arc::new(polygon(g)) }
}

fn mixed_sets(g: &mut Random) -> Vec<Set> {
    (0..g.count(2, 8))
        .map(|_| if g.chance(0.4) { Set::Free { dim: g.count(1, 3) } } else { Set::NonNegative })
        .collect()
}

fn every_set(g: &mut Random) -> Vec<Set> {
    (0..g.count(2, 7))
        .map(|_| match g.count(0, 5) {
            0 => Set::Free { dim: g.count(1, 3) },
            1 => Set::NonNegative,
            2 => interval(g),
            3 => ball(g),
            4 => Set::Coulomb { dim: g.count(1, 3), mu: g.between(0.0, 0.7) },
            _ => polyhedral(g, 0.7),
        })
        .collect()
}

/// Planted on a well-conditioned symmetric positive definite A.
fn regular(g: &mut Random, sets: Vec<Set>, degenerate: bool) -> Sample {
    let n = rows(&sets);
    let shift = g.between(0.05, 1.0);
    let a = gram(g, n, n, shift);
    plant(g, sets, a, degenerate)
}

/// Planted on A = WᵀW of a rank below its size.
fn deficient(g: &mut Random, sets: Vec<Set>, degenerate: bool) -> Sample {
    let n = rows(&sets);
    let rank = g.count(1, n - 1);
    let a = gram(g, n, rank, 0.0);
    plant(g, sets, a, degenerate)
}

fn either(g: &mut Random, sets: Vec<Set>) -> Sample {
    if rows(&sets) > 1 && g.chance(0.3) { deficient(g, sets, false) } else { regular(g, sets, false) }
}

/// Bilateral rows of which some are combinations of others: the same combination in W, hence consistent.
fn mixed_redundant(g: &mut Random) -> Sample {
    let (free, contacts, dofs) = (g.count(1, 3), g.count(1, 6), g.count(4, 10));
    let repeated = g.count(1, 2);
    let mut w: Vec<Vec<f64>> = (0..free).map(|_| g.vector(dofs)).collect();
    for _ in 0..repeated {
        let weights = g.vector(free);
        w.push((0..dofs).map(|k| (0..free).map(|i| weights[i] * w[i][k]).sum()).collect());
    }
    w.extend((0..contacts).map(|_| g.vector(dofs)));
    let a = gram_of(&w, &vec![1.0; dofs]);
    let mut sets = vec![Set::Free { dim: 1 }; free + repeated];
    sets.extend(vec![Set::NonNegative; contacts]);
    plant(g, sets, a, false)
}

/// A = Wᵀ M⁻¹ W and b = Wᵀ v with a full random W, often with more rows than unknowns.
fn mechanics(g: &mut Random, sets: Vec<Set>) -> Sample {
    let n = rows(&sets);
    let dofs = g.count(2, 12);
    let w: Vec<Vec<f64>> = (0..n).map(|_| g.vector(dofs)).collect();
    let compliance: Vec<f64> = (0..dofs).map(|_| g.between(0.2, 2.0)).collect();
    let v = g.vector(dofs);
    let b = w.iter().map(|row| dot(row, &v)).collect();
    Sample { problem: Problem::dense(sets, gram_of(&w, &compliance), b).unwrap(), planted: None }
}

/// One to four rigid bodies, up to eight contacts.
fn bodies(g: &mut Random, dofs: usize, joints: bool) -> Sample {
    let n = g.count(1, 4);
    let joints = if joints { g.count(1, 2) } else { 0 };
    let contacts = g.count(1, 8);
    rigid(g, dofs, n, joints, contacts)
}

/// Rigid bodies (3 or 6 unknowns each) hinged and in contact with each other and the ground.
fn rigid(g: &mut Random, dofs: usize, n: usize, joints: usize, contacts: usize) -> Sample {
    let mut system = Bodies::new(g, dofs, n);
    let mut sets = Vec::new();
    for _ in 0..joints {
        sets.push(Set::Free { dim: if dofs == 3 { 2 } else { 3 } });
        system.joint(g);
    }
    for _ in 0..contacts {
        let mu = g.between(0.0, 0.7);
        sets.push(Set::Coulomb { dim: if dofs == 3 { 1 } else { 2 }, mu });
        system.contact(g);
    }
    let v = g.vector(system.compliance.len());
    let b = system.w.iter().map(|row| dot(row, &v)).collect();
    Sample { problem: Problem::dense(sets, gram_of(&system.w, &system.compliance), b).unwrap(), planted: None }
}

/// b = u − A r for a pair (r, u) chosen block by block.
pub(crate) fn plant(g: &mut Random, sets: Vec<Set>, a: Dense, degenerate: bool) -> Sample {
    let (mut r, mut u) = (Vec::new(), Vec::new());
    for set in &sets {
        let (ri, ui) = pair(g, set, degenerate);
        r.extend(ri);
        u.extend(ui);
    }
    let b = (0..r.len()).map(|i| u[i] - dot(a.row(i), &r)).collect();
    Sample { problem: Problem::dense(sets, a, b).unwrap(), planted: Some((r, u)) }
}

/// A pair (r, u) with −u in the normal cone (frictionless) or of the Coulomb law. Degenerate pairs lie
/// where two modes meet.
pub(crate) fn pair(g: &mut Random, set: &Set, degenerate: bool) -> (Vec<f64>, Vec<f64>) {
    let d = set.dim();
    let meet = degenerate && g.chance(0.5);
    match set {
        Set::Free { .. } => (g.vector(d), vec![0.0; d]),
        Set::NonNegative => {
            let x = g.between(0.05, 2.0);
            match (meet, g.chance(0.5)) {
                (true, _) => (vec![0.0], vec![0.0]),
                (_, true) => (vec![x], vec![0.0]),
                _ => (vec![0.0], vec![x]),
            }
        }
        Set::Interval { lower, upper } => {
            let speed = if meet { 0.0 } else { g.between(0.05, 2.0) };
            match g.count(0, 2) {
                0 if lower.is_finite() => (vec![*lower], vec![speed]),
                1 if upper.is_finite() => (vec![*upper], vec![-speed]),
                _ => {
                    let low = if lower.is_finite() { *lower } else { upper.min(1.0) - 2.0 };
                    let high = if upper.is_finite() { *upper } else { low + 2.0 };
                    (vec![g.between(low, high)], vec![0.0])
                }
            }
        }
        Set::Ball { radius, .. } => {
            let t = g.direction(d);
            if g.chance(0.5) && !meet {
                let length = radius * g.unit();
                return (t.iter().map(|x| x * length).collect(), vec![0.0; d]);
            }
            let speed = if meet { 0.0 } else { g.between(0.05, 2.0) };
            (t.iter().map(|x| x * radius).collect(), t.iter().map(|x| -speed * x).collect())
        }
        Set::Coulomb { mu, .. } => {
            let t = g.direction(d - 1);
            let normal = g.between(0.1, 2.0);
            match g.count(0, 2) {
                // Open, or grazing.
                0 => (vec![0.0; d], block(if meet { 0.0 } else { normal }, &t, g.unit())),
                // Stick, or on the boundary of the cone without slip.
                1 => {
                    let share = if meet { 1.0 } else { 0.95 * g.unit() };
                    (block(normal, &t, share * mu * normal), vec![0.0; d])
                }
                // Slip.
                _ => {
                    let speed = g.between(0.05, 2.0);
                    (block(normal, &t, -mu * normal), block(0.0, &t, speed))
                }
            }
        }
        Set::Polyhedral { mu, polygon } => {
            let corners = polygon.generators();
            let m = corners.len();
            let j = g.count(0, m - 1);
            let (before, a, b) = (corners[(j + m - 1) % m], corners[j], corners[(j + 1) % m]);
            // Outward normals of the edges before and after corner j (counter-clockwise).
            let (n1, n2) = ([a[1] - before[1], before[0] - a[0]], [b[1] - a[1], a[0] - b[0]]);
            let normal = g.between(0.1, 2.0);
            let at = |p: [f64; 2]| vec![normal, mu * normal * p[0], mu * normal * p[1]];
            let speed = g.between(0.05, 2.0);
            match g.count(0, 3) {
                0 => {
                    let t = g.direction(2);
                    (vec![0.0; 3], block(if meet { 0.0 } else { normal }, &t, g.unit()))
                }
                1 => {
                    let s = if meet { 1.0 } else { 0.95 * g.unit() };
                    (at([s * a[0], s * a[1]]), vec![0.0; 3])
                }
                // Slip at a corner: −u_T between the normals of its edges.
                2 => {
                    let (p, q) = (g.unit(), if meet { 0.0 } else { g.unit() });
                    (at(a), vec![0.0, -speed * (p * n1[0] + q * n2[0]), -speed * (p * n1[1] + q * n2[1])])
                }
                // Slip across an edge.
                _ => {
                    let s = g.unit();
                    let p = [a[0] + s * (b[0] - a[0]), a[1] + s * (b[1] - a[1])];
                    (at(p), vec![0.0, -speed * n2[0], -speed * n2[1]])
                }
            }
        }
    }
}

fn block(normal: f64, t: &[f64], length: f64) -> Vec<f64> {
    std::iter::once(normal).chain(t.iter().map(|x| length * x)).collect()
}
