//! Sweeps over contacts with friction in the plane.
//!
//! Granular problems, of bodies with three velocities, have a matrix by its factors: one pass over the contacts, each of which is read by u = Wᵀ y + b, y = D W r, solved by cases, and written back into y. All that
//! a contact needs is W (96 bytes), its unknowns (24), b, r and μ; A_ii = W_iᵀ D W_i is made on the way, which is faster than loading it.

use super::local::Local;
use crate::block_sparse::BlockSparse;
use crate::gram::Gram;
use crate::problem::{Measure, Problem, ReducedMatrix};
use crate::sets::Set;

/// The matrix of a problem that consists of such contacts alone.
pub(super) fn granular(problem: &Problem) -> Option<&Gram> {
    let ReducedMatrix::Gram(gram) = problem.matrix() else { return None };
    gram.diagonal_inverse()?;
    let blocks = problem.blocks().iter().enumerate();
    let planar = |(i, set): (usize, &Set)| {
        matches!(set, Set::Coulomb { dim: 1, .. }) && matches!(gram.coupling().dofs(i).len(), 3 | 6)
    };
    blocks.map(|(i, b)| (i, &b.set)).all(planar).then_some(gram)
}

/// Every contact once. Returns the sum of the errors met on the way.
pub(super) fn sweep(problem: &Problem, gram: &Gram, r: &mut [f64], y: &mut [f64], local: &mut Local) -> f64 {
    let (w, Some(d)) = (gram.coupling(), gram.diagonal_inverse()) else { return 0.0 };
    let (mut sum, measure) = (0.0, problem.measure());
    let blocks = problem.blocks().iter().zip(r.as_chunks_mut().0).zip(problem.b().as_chunks().0);
    for (i, ((block, r), b)) in blocks.enumerate() {
        let (dofs, values) = (w.dofs(i), w.values(i));
        let Set::Coulomb { mu, .. } = block.set else { continue };
        let solve = |a: &[f64; 4], c: [f64; 2], old: [f64; 2]| {
            solve(a, c, mu).unwrap_or_else(|| {
                let mut next = old;
                local.solve(&block.set, a, &c, &mut next);
                next
            })
        };
        if let (Ok(dofs), Ok(values)) = (<&[u32; 6]>::try_from(dofs), <&[f64; 12]>::try_from(values)) {
            sum += contact(dofs, &values[..6], &values[6..], d, mu, *b, r, y, measure, solve);
        } else if let (Ok(dofs), Ok(values)) = (<&[u32; 3]>::try_from(dofs), <&[f64; 6]>::try_from(values)) {
            sum += contact(dofs, &values[..3], &values[3..], d, mu, *b, r, y, measure, solve);
        }
    }
    sum
}

#[inline(always)]
fn contact<const N: usize>(
    dofs: &[u32; N],
    normal: &[f64],
    tangential: &[f64],
    d: &[f64],
    mu: f64,
    b: [f64; 2],
    r: &mut [f64; 2],
    y: &mut [f64],
    measure: Measure,
    solve: impl FnOnce(&[f64; 4], [f64; 2], [f64; 2]) -> [f64; 2],
) -> f64 {
    let (mut u, mut a) = (b, [0.0; 4]);
    let (mut dn, mut dt) = ([0.0; N], [0.0; N]);
    for k in 0..N {
        let (j, n, t) = (dofs[k] as usize, normal[k], tangential[k]);
        u[0] += n * y[j];
        u[1] += t * y[j];
        (dn[k], dt[k]) = (n * d[j], t * d[j]);
        a[0] += n * dn[k];
        a[1] += n * dt[k];
        a[3] += t * dt[k];
    }
    a[2] = a[1];
    let f = error(mu, a[0], measure, *r, u);
    let c = [u[0] - a[0] * r[0] - a[1] * r[1], u[1] - a[2] * r[0] - a[3] * r[1]];
    let next = solve(&a, c, *r);
    let change = [next[0] - r[0], next[1] - r[1]];
    *r = next;
    for k in 0..N {
        y[dofs[k] as usize] += dn[k] * change[0] + dt[k] * change[1];
    }
    f
}

/// Whether a problem consists of planar contacts alone, with a matrix by blocks.
pub(super) fn by_blocks(problem: &Problem) -> Option<&BlockSparse> {
    let ReducedMatrix::BlockSparse(a) = problem.matrix() else { return None };
    let planar = problem.blocks().iter().all(|b| matches!(b.set, Set::Coulomb { dim: 1, .. }));
    (planar && a.uniform == 2).then_some(a)
}

/// Every contact once, with the diagonal blocks of A one after the other. Returns the sum of the errors met on the way.
pub(super) fn sweep_blocks(
    problem: &Problem,
    a: &BlockSparse,
    diagonal: &[f64],
    r: &mut [f64],
    local: &mut Local,
) -> f64 {
    let r = r.as_chunks_mut::<2>().0;
    let mut sum = 0.0;
    let blocks = problem.blocks().iter().zip(diagonal.as_chunks::<4>().0).zip(problem.b().as_chunks::<2>().0);
    for (i, ((block, own), b)) in blocks.enumerate() {
        let Set::Coulomb { mu, .. } = block.set else { continue };
        let (u, old) = (a.row_times::<2, 4>(i, r, *b), r[i]);
        sum += error(mu, own[0], problem.measure(), old, u);
        let c = [u[0] - own[0] * old[0] - own[1] * old[1], u[1] - own[2] * old[0] - own[3] * old[1]];
        r[i] = solve(own, c, mu).unwrap_or_else(|| {
            let mut next = old;
            local.solve(&block.set, own, &c, &mut next);
            next
        });
    }
    sum
}

/// What a contact adds to the square of the residual: see [`crate::problem`].
#[inline(always)]
fn error(mu: f64, a_nn: f64, measure: Measure, r: [f64; 2], u: [f64; 2]) -> f64 {
    match measure {
        Measure::Compliance if a_nn > 0.0 => natural_map(mu, [a_nn * r[0], a_nn * r[1]], u) / a_nn,
        _ => natural_map(mu, r, u),
    }
}

/// ‖r − proj(r − û)‖² with û = (u_N + μ|u_T|, u_T).
#[inline]
fn natural_map(mu: f64, r: [f64; 2], u: [f64; 2]) -> f64 {
    let x = [r[0] - u[0] - mu * u[1].abs(), r[1] - u[1]];
    let t = x[1].abs();
    // On the ray (1, μ) that is nearer, or the apex; inside, x itself. By selection: no one can predict the modes of 10⁵ contacts.
    let s = ((x[0] + mu * t) / (1.0 + mu * mu)).max(0.0);
    let inside = t <= mu * x[0];
    let normal = if inside { x[0] } else { s };
    let tangential = if inside { t } else { mu * s };
    let (n, t) = (r[0] - normal, r[1] - tangential.copysign(x[1]));
    n * n + t * t
}

/// Take-off, stick or slip as in [`super::local`]; nothing where A is not positive definite or no case fits.
#[inline]
fn solve(a: &[f64; 4], c: [f64; 2], mu: f64) -> Option<[f64; 2]> {
    if c[0] >= 0.0 {
        return Some([0.0, 0.0]);
    }
    if mu == 0.0 {
        return (a[0] > 0.0).then(|| [-c[0] / a[0], 0.0]);
    }
    let det = a[0] * a[3] - a[1] * a[2];
    // A singular block is left to the general solver.
    if !(det > 1e-12 * a[0] * a[3]) {
        return None;
    }
    let (n, t) = (a[1] * c[1] - a[3] * c[0], a[2] * c[0] - a[0] * c[1]);
    if t.abs() <= mu * n {
        let inverse = 1.0 / det;
        return Some([n * inverse, t * inverse]);
    }
    // The sign of the stick percussion is the likelier one.
    let likely = if t > 0.0 { -1.0 } else { 1.0 };
    for s in [likely, -likely] {
        let denominator = a[0] - s * mu * a[1];
        if denominator > 0.0 {
            let rn = -c[0] / denominator;
            let rt = -s * mu * rn;
            if s * (a[2] * rn + a[3] * rt + c[1]) >= 0.0 {
                return Some([rn, rt]);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::sequence;
    use crate::sets::MAX_DIM;

    #[test]
    fn the_natural_map_is_that_of_the_set() {
        let mut unit = sequence(1);
        let mut random = || 2.0 * unit();
        for _ in 0..1000 {
            let (mu, r, u) = (random().abs(), [random(), random()], [random(), random()]);
            let mut f = [0.0; MAX_DIM];
            Set::Coulomb { dim: 1, mu }.natural_map(&r, &u, &mut f);
            let expected = f[0] * f[0] + f[1] * f[1];
            // Rounding of a few terms of size 10.
            assert!((natural_map(mu, r, u) - expected).abs() <= 1e-13 * (1.0 + expected), "{mu} {r:?} {u:?}");
        }
    }

    #[test]
    fn the_cases_solve_the_law_of_one_contact() {
        let mut random = sequence(7);
        let mut cases = [0; 3];
        for _ in 0..1000 {
            let (mu, p, q, s) = (random().abs(), random().abs() + 0.1, random().abs() + 0.1, random());
            let a = [p, s * (p * q).sqrt(), s * (p * q).sqrt(), q];
            let c = [random(), random()];
            let Some(r) = solve(&a, c, mu) else { continue };
            let u = [c[0] + a[0] * r[0] + a[1] * r[1], c[1] + a[2] * r[0] + a[3] * r[1]];
            // |r| is up to 1/(smallest eigenvalue): blocks closer to singular than 1e-3 are rare here.
            assert!(natural_map(mu, r, u).sqrt() <= 1e-10, "{a:?} {c:?} {mu}: {r:?}");
            cases[if r == [0.0, 0.0] { 0 } else { 1 + usize::from(r[1].abs() < 0.999 * mu * r[0]) }] += 1;
        }
        assert!(cases.iter().all(|n| *n > 50), "{cases:?}");
    }
}
