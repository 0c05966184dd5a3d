//! Independent verification of a solution, from the definition alone.
//!
//! Recomputes the velocities that percussions cause and the residual
//!
//! ```text
//! ‖ r − P_K(r − (u + σ(u_T) n)) ‖₂ / ‖b‖₂,    σ(u_T) = μ‖u_T‖ for the ball      (not divided where b = 0)
//! ```
//!
//! of the [problem](crate::problem) in unit scaling, or the one by compliances where the problem is measured so, with its own sums and projections, so that a mistake in code shared by the solvers
//! is found. A full problem is verified before its reduction: M̂ v = f + W r, u = Wᵀ v + c.

use crate::full::FullProblem;
use crate::problem::{Block, Measure, Problem, ReducedMatrix};
use crate::sets::{Polygon, Set};

/// Velocities and residual, recomputed.
#[derive(Debug, Clone, PartialEq)]
pub struct Verification {
    /// Velocities u (m/s).
    pub u: Vec<f64>,
    /// The residual.
    pub residual: f64,
}

/// Verifies percussions r of a reduced problem.
pub fn reduced(problem: &Problem, r: &[f64]) -> Verification {
    let mut u = problem.b().to_vec();
    match problem.matrix() {
        ReducedMatrix::Dense(a) => {
            for (i, u) in u.iter_mut().enumerate() {
                *u += (0..r.len()).map(|j| a[(i, j)] * r[j]).sum::<f64>();
            }
        }
        ReducedMatrix::BlockSparse(a) => {
            for i in 0..problem.blocks().len() {
                let (first, height) = (a.start[i], a.start[i + 1] - a.start[i]);
                for k in a.row[i]..a.row[i + 1] {
                    let (left, width) = (a.start[a.column[k]], a.start[a.column[k] + 1] - a.start[a.column[k]]);
                    for p in 0..height {
                        for q in 0..width {
                            u[first + p] += a.values[a.offset[k] + p * width + q] * r[left + q];
                        }
                    }
                }
            }
        }
        ReducedMatrix::Gram(g) => {
            let w = g.coupling();
            let mut y = vec![0.0; g.unknowns()];
            each_entry(w, |row, unknown, value| y[unknown] += value * r[row]);
            let y = g.apply_inverse(&y);
            each_entry(w, |row, unknown, value| u[row] += value * y[unknown]);
        }
    }
    let by_compliance = problem.measure() == Measure::Compliance;
    let diagonal = by_compliance.then(|| {
        let unit = |row: usize| {
            let mut r = vec![0.0; problem.b().len()];
            r[row] = 1.0;
            let mut u = vec![0.0; r.len()];
            problem.velocity(&r, &mut u);
            u[row] - problem.b()[row]
        };
        (0..problem.b().len()).map(unit).collect::<Vec<f64>>()
    });
    let residual = residual(problem.blocks(), problem.b(), diagonal.as_deref(), r, &u);
    Verification { u, residual }
}

/// Verifies percussions r of a full problem that has been [reduced](FullProblem::reduce).
pub fn full(problem: &FullProblem, r: &[f64]) -> Verification {
    let w = problem.coupling();
    let velocity = |mut momentum: Vec<f64>| {
        problem.matrix.solve(&mut momentum);
        let mut u = problem.c.clone();
        each_entry(w, |row, unknown, value| u[row] += value * momentum[unknown]);
        u
    };
    let b = velocity(problem.f.clone());
    let mut momentum = problem.f.clone();
    each_entry(w, |row, unknown, value| momentum[unknown] += value * r[row]);
    let u = velocity(momentum);
    let by_compliance = problem.reduced().measure() == Measure::Compliance;
    let diagonal = by_compliance.then(|| {
        let unit = |row: usize| {
            let mut momentum = vec![0.0; problem.f.len()];
            each_entry(w, |k, unknown, value| momentum[unknown] += if k == row { value } else { 0.0 });
            velocity(momentum)[row] - problem.c[row]
        };
        (0..problem.c.len()).map(unit).collect::<Vec<f64>>()
    });
    let residual = residual(problem.blocks(), &b, diagonal.as_deref(), r, &u);
    Verification { u, residual }
}

/// Every entry of Wᵀ: row of the problem, unknown, value.
fn each_entry(w: &crate::Coupling, mut visit: impl FnMut(usize, usize, f64)) {
    let mut row = 0;
    for block in 0..w.len() {
        let dofs = w.dofs(block);
        for k in 0..w.dim(block) {
            for (j, &unknown) in dofs.iter().enumerate() {
                visit(row, unknown as usize, w.values(block)[k * dofs.len() + j]);
            }
            row += 1;
        }
    }
}

fn length(x: &[f64]) -> f64 {
    x.iter().map(|v| v * v).sum::<f64>().sqrt()
}

fn residual(blocks: &[Block], b: &[f64], diagonal: Option<&[f64]>, r: &[f64], u: &[f64]) -> f64 {
    let mut error = Vec::with_capacity(r.len());
    let mut size = Vec::with_capacity(r.len());
    let known = diagonal.unwrap_or_default().iter().filter(|d| **d > 0.0);
    let mean = known.clone().sum::<f64>() / known.count().max(1) as f64;
    for block in blocks {
        let rows = block.start..block.start + block.set.dim();
        let Some(diagonal) = diagonal else {
            error.extend(natural_map(&block.set, &r[rows.clone()], &u[rows.clone()]));
            size.extend_from_slice(&b[rows]);
            continue;
        };
        // ρ = 1/D: its map in units of √(percussion × velocity).
        let first = |row: usize| if block.set.is_friction() || block.set.dim() == 1 { rows.start } else { row };
        let weight = |row: usize| {
            let row = if matches!(block.set, Set::Ball { .. }) { rows.start } else { first(row) };
            let d = diagonal[row];
            if d > 0.0 {
                d.sqrt()
            } else if mean > 0.0 {
                mean.sqrt()
            } else {
                1.0
            }
        };
        let scaled: Vec<f64> = rows.clone().map(|k| r[k] * weight(k)).collect();
        let velocities: Vec<f64> = rows.clone().map(|k| u[k] / weight(k)).collect();
        let set = match &block.set {
            Set::Interval { lower, upper } => {
                Set::Interval { lower: lower * weight(rows.start), upper: upper * weight(rows.start) }
            }
            Set::Ball { dim, radius } => Set::Ball { dim: *dim, radius: radius * weight(rows.start) },
            other => other.clone(),
        };
        error.extend(natural_map(&set, &scaled, &velocities));
        size.extend(rows.clone().map(|k| b[k] / weight(k)));
    }
    let scale = length(&size);
    if scale > 0.0 { length(&error) / scale } else { length(&error) }
}

/// r − P_K(r − û) of one block. Inside the set that is û, and is taken from there: the difference of two large percussions
/// would lose it.
fn natural_map(set: &Set, r: &[f64], u: &[f64]) -> Vec<f64> {
    let mut modified = u.to_vec();
    match set {
        Set::Coulomb { mu, .. } => modified[0] += mu * length(&u[1..]),
        Set::Polyhedral { mu, polygon } => {
            let along = corners(polygon).into_iter().map(|d| -(d[0] * u[1] + d[1] * u[2]));
            modified[0] += mu * along.fold(f64::NEG_INFINITY, f64::max);
        }
        Set::Free { .. } | Set::NonNegative | Set::Interval { .. } | Set::Ball { .. } => {}
    }
    let x: Vec<f64> = r.iter().zip(&modified).map(|(r, u)| r - u).collect();
    let near = match set {
        Set::Free { .. } => x.clone(),
        Set::NonNegative => vec![x[0].max(0.0)],
        Set::Interval { lower, upper } => vec![x[0].max(*lower).min(*upper)],
        Set::Ball { radius, .. } if length(&x) > *radius => x.iter().map(|v| v * radius / length(&x)).collect(),
        Set::Ball { .. } => x.clone(),
        Set::Coulomb { mu, .. } => on_cone(*mu, &x),
        Set::Polyhedral { mu, polygon } => on_pyramid(*mu, polygon, [x[0], x[1], x[2]]).to_vec(),
    };
    if near == x { modified } else { r.iter().zip(near).map(|(r, near)| r - near).collect() }
}

/// The nearest point of {‖x_T‖ ≤ μ x_N}.
fn on_cone(mu: f64, x: &[f64]) -> Vec<f64> {
    let (normal, tangential) = (x[0], length(&x[1..]));
    if normal >= 0.0 && tangential <= mu * normal {
        return x.to_vec();
    }
    // The nearest point of the half line through the mantle in the plane of x and the axis, if it does not end before.
    let along = (normal + mu * tangential) / (1.0 + mu * mu);
    if along <= 0.0 {
        return vec![0.0; x.len()];
    }
    let mantle = x[1..].iter().map(|t| along * mu * t / tangential);
    std::iter::once(along).chain(mantle).collect()
}

fn corners(polygon: &Polygon) -> Vec<[f64; 2]> {
    polygon.clone().into()
}

/// The nearest point of {x_T ∈ μ x_N conv{d_j}}: x itself where it lies between three edges, else the nearest of all points
/// that an edge or the face between two of them offers.
fn on_pyramid(mu: f64, polygon: &Polygon, x: [f64; 3]) -> [f64; 3] {
    let edges: Vec<[f64; 3]> = corners(polygon).iter().map(|d| [1.0, mu * d[0], mu * d[1]]).collect();
    let dot = |a: &[f64; 3], b: &[f64; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    let cross =
        |a: &[f64; 3], b: &[f64; 3]| [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
    // Counter-clockwise: the inner side of every face is where the normal points.
    let faces = || edges.iter().zip(edges.iter().cycle().skip(1));
    if mu > 0.0 && faces().all(|(a, b)| dot(&cross(a, b), &x) >= 0.0) {
        return x;
    }
    let mut best = [0.0; 3];
    let mut offer = |p: [f64; 3]| {
        let distance = |p: &[f64; 3]| length(&[x[0] - p[0], x[1] - p[1], x[2] - p[2]]);
        if distance(&p) < distance(&best) {
            best = p;
        }
    };
    for (a, b) in faces() {
        let along = dot(a, &x) / dot(a, a);
        if along > 0.0 {
            offer([along * a[0], along * a[1], along * a[2]]);
        }
        // x without its part along the normal of the face, if that lies between the edges.
        let n = cross(a, b);
        let nn = dot(&n, &n);
        if nn > 0.0 {
            let off = dot(&n, &x) / nn;
            let p = [x[0] - off * n[0], x[1] - off * n[1], x[2] - off * n[2]];
            if dot(&cross(&n, a), &p) >= 0.0 && dot(&cross(b, &n), &p) >= 0.0 {
                offer(p);
            }
        }
    }
    best
}
