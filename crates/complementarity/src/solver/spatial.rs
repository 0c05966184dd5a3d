//! Contacts with friction in space: the block that most three-dimensional problems are made of, and sweeps over such blocks.
//!
//! The cases are those of [`super::local`], with A as nine numbers. Slip is the root α > 0 of
//!
//! ```text
//! F(α) = ‖r_T(α)‖ − μ r_N(α),    u_N = 0,  u_T = −α r_T
//! ```
//!
//! by Newton's method inside the bracket that F has seen so far, begun where the percussion before had it: in the course of sweeps
//! that is close. A sweep takes a small step of α as it is, with r(α) by its tangent: the error is of second order in what is still to come, and
//! vanishes with it.

use super::local::Local;
use crate::block_sparse::BlockSparse;
use crate::gram::Gram;
use crate::problem::{Measure, Problem, ReducedMatrix};
use crate::sets::Set;

/// r at α and F, with their derivatives; nothing where A_TT + αI is singular.
struct Slip {
    r: [f64; 3],
    dr: [f64; 3],
    f: f64,
    df: f64,
}

#[inline(always)]
fn slip_at(a: &[f64; 9], c: [f64; 3], mu: f64, alpha: f64) -> Option<Slip> {
    let (p, q, s, t) = (a[4] + alpha, a[5], a[7], a[8] + alpha);
    let det = p * t - q * s;
    if !(det > 0.0) {
        return None;
    }
    let inverse = 1.0 / det;
    // B v, B = (A_TT + αI)⁻¹; its derivative is −B².
    let b = |v: [f64; 2]| [(t * v[0] - q * v[1]) * inverse, (p * v[1] - s * v[0]) * inverse];
    let dot = |v: [f64; 2], w: [f64; 2]| v[0] * w[0] + v[1] * w[1];
    let (normal, x, y) = ([a[1], a[2]], b([c[1], c[2]]), b([a[3], a[6]]));
    let (dx, dy) = (b(x), b(y));
    let below = a[0] - dot(normal, y);
    if !(below > 0.0) {
        return None;
    }
    let below = 1.0 / below;
    let rn = (dot(normal, x) - c[0]) * below;
    let rt = [-(y[0] * rn + x[0]), -(y[1] * rn + x[1])];
    let drn = (-dot(normal, dx) - rn * dot(normal, dy)) * below;
    let drt = [dy[0] * rn - y[0] * drn + dx[0], dy[1] * rn - y[1] * drn + dx[1]];
    let size = dot(rt, rt).sqrt();
    let f = size - mu * rn;
    Some(Slip { r: [rn, rt[0], rt[1]], dr: [drn, drt[0], drt[1]], f, df: dot(rt, drt) / size - mu * drn })
}

/// Most steps for α: Newton takes a few, bisection some dozens.
const MAX_STEPS: usize = 100;

/// A contact in the course of sweeps.
#[derive(Debug, Clone, Default)]
pub(super) struct Contact {
    a: [f64; 9],
    /// −A⁻¹; nothing where A is singular.
    stick: Option<[f64; 9]>,
    mu: f64,
    /// α of the last slip, 0 if there was none.
    alpha: f64,
}

impl Contact {
    pub(super) fn new(a: [f64; 9], mu: f64) -> Self {
        let m = |i: usize, j: usize, k: usize, l: usize| a[i] * a[j] - a[k] * a[l];
        let (f0, f1, f2) = (m(4, 8, 5, 7), m(5, 6, 3, 8), m(3, 7, 4, 6));
        let det = a[0] * f0 + a[1] * f1 + a[2] * f2;
        let stick = (det > 1e-12 * a[0] * a[4] * a[8]).then(|| {
            let adjugate = [
                [f0, m(2, 7, 1, 8), m(1, 5, 2, 4)],
                [f1, m(0, 8, 2, 6), m(2, 3, 0, 5)],
                [f2, m(1, 6, 0, 7), m(0, 4, 1, 3)],
            ];
            let inverse = -1.0 / det;
            std::array::from_fn(|k| adjugate[k / 3][k % 3] * inverse)
        });
        Self { a, stick, mu, alpha: 0.0 }
    }

    /// The solution of u = A r + c with −û ∈ N_K(r); nothing where A is singular or no case fits. Steps of α up to the part `close` of it are
    /// taken by the tangent.
    #[inline(always)]
    fn solve(&mut self, c: [f64; 3], close: f64) -> Option<[f64; 3]> {
        if c[0] >= 0.0 {
            return Some([0.0; 3]);
        }
        let m = self.stick.as_ref()?;
        let stick = [
            m[0] * c[0] + m[1] * c[1] + m[2] * c[2],
            m[3] * c[0] + m[4] * c[1] + m[5] * c[2],
            m[6] * c[0] + m[7] * c[1] + m[8] * c[2],
        ];
        let mu = self.mu;
        if stick[1] * stick[1] + stick[2] * stick[2] <= mu * mu * stick[0] * stick[0] && stick[0] >= 0.0 {
            return Some(stick);
        }
        let a = &self.a;
        if mu == 0.0 {
            return Some([-c[0] / a[0], 0.0, 0.0]);
        }
        let mut alpha = if self.alpha > 0.0 { self.alpha } else { a[4].abs() + a[8].abs() };
        let (mut low, mut high) = (0.0, f64::INFINITY);
        for _ in 0..MAX_STEPS {
            let s = slip_at(a, c, mu, alpha)?;
            // F > 0 below the root.
            if s.f > 0.0 {
                low = alpha;
            } else {
                high = alpha;
            }
            let mut next = alpha - s.f / s.df;
            if !(next > low && next < high) {
                next = if high == f64::INFINITY { 4.0 * alpha } else { 0.5 * (low + high) };
            }
            let step = next - alpha;
            let done = s.f.abs() <= 4.0 * f64::EPSILON * mu * s.r[0].abs() || step.abs() <= f64::EPSILON * alpha;
            if done || step.abs() <= close * alpha {
                let [rn, x, y] = std::array::from_fn(|k| s.r[k] + s.dr[k] * if done { 0.0 } else { step });
                self.alpha = if done { alpha } else { next };
                // Onto the cone exactly.
                let shrink = mu * rn / (x * x + y * y).sqrt();
                let fits = rn >= 0.0 && shrink.is_finite() && (shrink - 1.0).abs() < if done { 1e-6 } else { 0.1 };
                if fits {
                    return Some([rn, x * shrink, y * shrink]);
                }
                if done {
                    return None;
                }
            }
            alpha = next;
        }
        None
    }
}

/// The solution of u = A r + c with −û ∈ N_K(r), from the percussion before; nothing where A is singular or no case fits.
#[inline]
pub(super) fn solve(a: &[f64; 9], c: [f64; 3], mu: f64, before: [f64; 3]) -> Option<[f64; 3]> {
    let mut contact = Contact::new(*a, mu);
    // α of the percussion before.
    let scale = a[4].abs() + a[8].abs();
    let square = before[1] * before[1] + before[2] * before[2];
    let u = [
        a[3] * before[0] + a[4] * before[1] + a[5] * before[2] + c[1],
        a[6] * before[0] + a[7] * before[1] + a[8] * before[2] + c[2],
    ];
    let last = -(u[0] * before[1] + u[1] * before[2]) / square;
    if last > 1e-12 * scale && last < 1e12 * scale {
        contact.alpha = last;
    }
    contact.solve(c, 0.0)
}

/// Part of α up to which a sweep steps by the tangent.
const CLOSE: f64 = 0.05;

/// Whether a problem consists of such contacts alone.
pub(super) fn fits(problem: &Problem) -> bool {
    !problem.blocks().is_empty() && problem.blocks().iter().all(|b| matches!(b.set, Set::Coulomb { dim: 2, .. }))
}

/// What sweeps need to know of the contacts of a problem that [fits].
pub(super) fn prepare(problem: &Problem, contacts: &mut Vec<Contact>) {
    contacts.clear();
    for (i, block) in problem.blocks().iter().enumerate() {
        let mut a = [0.0; 9];
        problem.diagonal_block(i, &mut a);
        let mu = if let Set::Coulomb { mu, .. } = block.set { mu } else { 0.0 };
        contacts.push(Contact::new(a, mu));
    }
}

/// Every contact once. Returns the sum of the errors met on the way. `y` is D W r of a matrix by its factors.
pub(super) fn sweep(
    problem: &Problem,
    contacts: &mut [Contact],
    r: &mut [f64],
    y: &mut [f64],
    local: &mut Local,
) -> f64 {
    let b = problem.b().as_chunks::<3>().0;
    match problem.matrix() {
        ReducedMatrix::Dense(a) => {
            let rows = |i: usize, r: &[[f64; 3]]| {
                let mut u = b[i];
                for k in 0..3 {
                    for (a, r) in a.row(3 * i + k).as_chunks::<3>().0.iter().zip(r) {
                        u[k] += a[0] * r[0] + a[1] * r[1] + a[2] * r[2];
                    }
                }
                u
            };
            pass(problem, contacts, r, local, &mut (), |_, i, r| rows(i, r), |_, _, _| {})
        }
        ReducedMatrix::BlockSparse(a) => {
            pass(problem, contacts, r, local, &mut (), |_, i, r| block_row(a, i, r, b[i]), |_, _, _| {})
        }
        ReducedMatrix::Gram(g) => {
            let read = |y: &mut &mut [f64], i: usize, _: &[[f64; 3]]| {
                let mut u = b[i];
                g.add_velocity(i, y, &mut u);
                u
            };
            let write = |y: &mut &mut [f64], i: usize, change: [f64; 3]| add_force(g, i, change, y);
            pass(problem, contacts, r, local, &mut { y }, read, write)
        }
    }
}

/// b + (A r)_i.
#[inline(always)]
fn block_row(a: &BlockSparse, i: usize, r: &[[f64; 3]], b: [f64; 3]) -> [f64; 3] {
    if a.uniform == 3 {
        return a.row_times::<3, 9>(i, r, b);
    }
    let mut u = b;
    a.add_row(i, r.as_flattened(), &mut u);
    u
}

/// y += D W_i r_i.
#[inline(always)]
fn add_force(g: &Gram, i: usize, r: [f64; 3], y: &mut [f64]) {
    let Some(d) = g.diagonal_inverse() else { return g.add_force(i, &r, y) };
    let w = g.coupling();
    let (dofs, values) = (w.dofs(i), w.values(i));
    let n = dofs.len();
    let (wn, rest) = values.split_at(n);
    let (ws, wt) = rest.split_at(n);
    for k in 0..n {
        let j = dofs[k] as usize;
        y[j] += d[j] * (wn[k] * r[0] + ws[k] * r[1] + wt[k] * r[2]);
    }
}

/// One pass with u_i from `read` and changes of r_i to `write`, both of which may keep a state.
#[inline(always)]
fn pass<S>(
    problem: &Problem,
    contacts: &mut [Contact],
    r: &mut [f64],
    local: &mut Local,
    state: &mut S,
    read: impl Fn(&mut S, usize, &[[f64; 3]]) -> [f64; 3],
    write: impl Fn(&mut S, usize, [f64; 3]),
) -> f64 {
    let r = r.as_chunks_mut::<3>().0;
    let mut sum = 0.0;
    for (i, contact) in contacts.iter_mut().enumerate() {
        let u = read(state, i, r);
        let (own, a) = (r[i], &contact.a);
        sum += match problem.measure() {
            Measure::Compliance if a[0] > 0.0 => natural_map(contact.mu, own.map(|r| a[0] * r), u) / a[0],
            _ => natural_map(contact.mu, own, u),
        };
        let c = std::array::from_fn(|k| u[k] - (a[3 * k] * own[0] + a[3 * k + 1] * own[1] + a[3 * k + 2] * own[2]));
        let next = contact.solve(c, CLOSE).unwrap_or_else(|| {
            let mut next = own;
            local.solve(&problem.blocks()[i].set, &contact.a, &c, &mut next);
            next
        });
        r[i] = next;
        write(state, i, std::array::from_fn(|k| next[k] - own[k]));
    }
    sum
}

/// Square of ‖r − proj_K(r − û)‖.
#[inline(always)]
fn natural_map(mu: f64, r: [f64; 3], u: [f64; 3]) -> f64 {
    let slip = u[1] * u[1] + u[2] * u[2];
    let modified = [u[0] + mu * slip.sqrt(), u[1], u[2]];
    let x: [f64; 3] = std::array::from_fn(|k| r[k] - modified[k]);
    let square = |v: [f64; 3]| v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
    let t2 = x[1] * x[1] + x[2] * x[2];
    // Inside the cone, or inside the polar one.
    if x[0] >= 0.0 && t2 <= mu * mu * x[0] * x[0] {
        return square(modified);
    }
    if x[0] <= 0.0 && mu * mu * t2 <= x[0] * x[0] {
        return square(r);
    }
    let t = t2.sqrt();
    let n = (x[0] + mu * t) / (1.0 + mu * mu);
    let shrink = mu * n / t;
    square([r[0] - n, r[1] - shrink * x[1], r[2] - shrink * x[2]])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::sequence;
    use crate::sets::{MAX_DIM, Set};

    #[test]
    fn the_cases_solve_the_law_of_one_contact() {
        let mut random = sequence(3);
        let mut cases = [0; 4];
        for _ in 0..20_000 {
            // A = GᵀG + 0.1 I plus a skew part, as implicit forces make it.
            let g: [f64; 9] = std::array::from_fn(|_| random());
            let skew: [f64; 3] = std::array::from_fn(|_| 0.1 * random());
            let mut a = [0.0; 9];
            for i in 0..3 {
                for j in 0..3 {
                    a[3 * i + j] =
                        (0..3).map(|k| g[3 * k + i] * g[3 * k + j]).sum::<f64>() + if i == j { 0.1 } else { 0.0 };
                }
            }
            for (k, (i, j)) in [(0, 1), (0, 2), (1, 2)].into_iter().enumerate() {
                a[3 * i + j] += skew[k];
                a[3 * j + i] -= skew[k];
            }
            let (c, mu) = ([random(), random(), random()], random().abs());
            let before = [random().abs(), random(), random()];
            let Some(r) = solve(&a, c, mu, before) else {
                cases[3] += 1;
                continue;
            };
            let u: [f64; 3] = std::array::from_fn(|i| c[i] + (0..3).map(|j| a[3 * i + j] * r[j]).sum::<f64>());
            let mut f = [0.0; MAX_DIM];
            Set::Coulomb { dim: 2, mu }.natural_map(&r, &u, &mut f);
            let size = r.iter().fold(1.0f64, |m, v| m.max(v.abs()));
            // Rounding of α is amplified by at most the condition of A, about 91 (eigenvalues 0.1 to 9.1).
            assert!(f[..3].iter().all(|v| v.abs() <= 1e-12 * size), "{a:?} {c:?} {mu}: {r:?} {f:?}");
            let t = (r[1] * r[1] + r[2] * r[2]).sqrt();
            cases[if r[0] == 0.0 { 0 } else { 1 + usize::from(t < 0.999_999 * mu * r[0]) }] += 1;
        }
        // Open, slip, stick; now and then μ is so large that no case fits.
        assert!(cases[..3].iter().all(|n| *n > 1000) && cases[3] < 200, "{cases:?}");
    }
}
