//! A = Wᵀ D W with D = M̂⁻¹ of blocks of at most 3 × 3: contacts between bodies.
//!
//! A itself, with its blocks between all contacts of a body, never needs to be formed: the velocities
//! y = D W r that percussions cause are kept, and a block is read by u_i = W_iᵀ y + b_i and changed by y += D W_i Δr_i. That is one
//! pass over the few unknowns of the block, whatever the number of its neighbours. W is that of the full problem, not a copy.
//!
//! D is diagonal for planar bodies, and for those in space with principal axes. Inertia about other axes, or an implicit gyroscopic term, couples
//! the three angular velocities of a body: then D W is kept beside W, over the same unknowns. D need not be symmetric.

use crate::coupling::Coupling;
use crate::linear::{BlockDiagonal, Dense};
use crate::problem::BlockSparse;
use std::cell::RefCell;
use std::sync::{Arc, LazyLock};

/// A = Wᵀ D W by its parts. See the [module](self).
#[derive(Debug, Clone)]
pub struct Gram {
    coupling: Arc<Coupling>,
    inverse: Inverse,
    scratch: RefCell<Scratch>,
}

/// D.
#[derive(Debug, Clone, PartialEq)]
enum Inverse {
    Diagonal(Vec<f64>),
    Blocks(Blocks),
}

/// D by its rows, and D W.
#[derive(Debug, Clone, Default, PartialEq)]
struct Blocks {
    /// The unknowns of the block that an unknown belongs to, and its row of D over them. A block of fewer names one of its own again, with a zero.
    members: Vec<[u32; MAX_BLOCK]>,
    rows: Vec<[f64; MAX_BLOCK]>,
    /// D W, in the places of W.
    moved: Vec<f64>,
}

/// Largest block of D.
pub(crate) const MAX_BLOCK: usize = 3;

#[derive(Debug, Clone, Default)]
struct Scratch {
    y: Vec<f64>,
    /// Blocks that touch each unknown.
    head: Vec<u32>,
    next: Vec<u32>,
    neighbours: Vec<u32>,
}

static NOTHING: LazyLock<Arc<Coupling>> = LazyLock::new(Arc::default);

impl Blocks {
    /// D from the factors of M̂.
    fn invert(&mut self, m: &BlockDiagonal) {
        let unknowns: usize = (0..m.count()).map(|c| m.size(c)).sum();
        self.members.clear();
        self.members.resize(unknowns, [0; MAX_BLOCK]);
        self.rows.clear();
        self.rows.resize(unknowns, [0.0; MAX_BLOCK]);
        for c in 0..m.count() {
            let members = m.members(c);
            let mut names = [members[0] as u32; MAX_BLOCK];
            names.iter_mut().zip(members).for_each(|(name, &i)| *name = i as u32);
            for (k, _) in members.iter().enumerate() {
                let mut column = [0.0; MAX_BLOCK];
                column[k] = 1.0;
                m.solve_component(c, &mut column[..members.len()]);
                for (&i, value) in members.iter().zip(column) {
                    self.rows[i][k] = value;
                    self.members[i] = names;
                }
            }
        }
    }

    /// Entry `k` of D w, for a w over `dofs`; none if that needs an unknown which is not among them.
    #[inline]
    fn moved(&self, dofs: &[u32], w: &[f64], k: usize) -> Option<f64> {
        let i = dofs[k] as usize;
        let mut sum = 0.0;
        for (&j, d) in self.members[i].iter().zip(&self.rows[i]) {
            // The unknowns of a body mostly follow each other.
            let near = (k + j as usize).wrapping_sub(i);
            let at = if dofs.get(near) == Some(&j) { near } else { dofs.iter().position(|&other| other == j)? };
            sum += d * w[at];
        }
        Some(sum)
    }

    /// D W. False if it has entries where W has none.
    fn move_along(&mut self, w: &Coupling) -> bool {
        let mut moved = std::mem::take(&mut self.moved);
        moved.clear();
        crate::capacity::reserve(&mut moved, w.all_values().len());
        let mut closed = true;
        'all: for i in 0..w.len() {
            let dofs = w.dofs(i);
            for p in 0..w.dim(i) {
                for k in 0..dofs.len() {
                    let Some(value) = self.moved(dofs, w.row(i, p), k) else {
                        closed = false;
                        break 'all;
                    };
                    moved.push(value);
                }
            }
        }
        self.moved = moved;
        closed
    }

    /// y += D W_i r_i.
    #[inline]
    fn add_force(&self, w: &Coupling, i: usize, r: &[f64], y: &mut [f64]) {
        let dofs = w.dofs(i);
        for (k, r) in r.iter().enumerate() {
            for (&j, v) in dofs.iter().zip(&self.moved[w.place(i, k)]) {
                y[j as usize] += v * r;
            }
        }
    }
}

impl Default for Gram {
    fn default() -> Self {
        Self { coupling: NOTHING.clone(), inverse: Inverse::Diagonal(Vec::new()), scratch: RefCell::default() }
    }
}

impl PartialEq for Gram {
    fn eq(&self, other: &Self) -> bool {
        self.coupling == other.coupling && self.inverse == other.inverse
    }
}

impl Gram {
    /// Lets go of W, so that its owner can change it in place.
    pub(crate) fn release(&mut self) {
        self.coupling = NOTHING.clone();
    }

    /// Takes W and a diagonal M̂.
    pub(crate) fn set(&mut self, coupling: &Arc<Coupling>, diagonal: &[f64]) {
        self.coupling = coupling.clone();
        if !matches!(self.inverse, Inverse::Diagonal(_)) {
            self.inverse = Inverse::Diagonal(Vec::new());
        }
        if let Inverse::Diagonal(inverse) = &mut self.inverse {
            inverse.clear();
            inverse.extend(diagonal.iter().map(|d| 1.0 / d));
        }
    }

    /// Takes W and an M̂ of blocks of at most [`MAX_BLOCK`], factored. False if some block of W touches a block of M̂ without touching all of it: D W would
    /// then reach beyond the unknowns of W.
    pub(crate) fn set_blocks(&mut self, coupling: &Arc<Coupling>, m: &BlockDiagonal) -> bool {
        if !matches!(self.inverse, Inverse::Blocks(_)) {
            self.inverse = Inverse::Blocks(Blocks::default());
        }
        let Inverse::Blocks(d) = &mut self.inverse else { return false };
        d.invert(m);
        if !d.move_along(coupling) {
            return false;
        }
        self.coupling = coupling.clone();
        true
    }

    pub(crate) fn coupling(&self) -> &Coupling {
        &self.coupling
    }

    /// D, where it is diagonal.
    pub(crate) fn diagonal_inverse(&self) -> Option<&[f64]> {
        match &self.inverse {
            Inverse::Diagonal(d) => Some(d),
            Inverse::Blocks(_) => None,
        }
    }

    /// Number of unknowns.
    pub(crate) fn unknowns(&self) -> usize {
        match &self.inverse {
            Inverse::Diagonal(d) => d.len(),
            Inverse::Blocks(b) => b.rows.len(),
        }
    }

    /// D y.
    pub(crate) fn apply_inverse(&self, y: &[f64]) -> Vec<f64> {
        match &self.inverse {
            Inverse::Diagonal(d) => y.iter().zip(d).map(|(y, d)| y * d).collect(),
            Inverse::Blocks(b) => {
                let rows = b.members.iter().zip(&b.rows);
                rows.map(|(at, row)| at.iter().zip(row).map(|(&j, d)| d * y[j as usize]).sum()).collect()
            }
        }
    }

    fn len(&self) -> usize {
        self.coupling.len()
    }

    /// Entry of A for row p of block i and row k of block j: Σ w (D v) over unknowns that the two share.
    #[inline]
    fn product(&self, i: usize, p: usize, j: usize, k: usize) -> f64 {
        let w = &*self.coupling;
        let (dofs, row, other_dofs) = (w.dofs(i), w.row(i, p), w.dofs(j));
        let (other, inverse) = match &self.inverse {
            Inverse::Diagonal(d) => (w.row(j, k), Some(d)),
            Inverse::Blocks(b) => (&b.moved[w.place(j, k)], None),
        };
        let mut sum = 0.0;
        for (&d, w) in dofs.iter().zip(row) {
            for (&e, v) in other_dofs.iter().zip(other) {
                if d == e {
                    sum += inverse.map_or(*w, |inverse| w * inverse[d as usize]) * v;
                }
            }
        }
        sum
    }

    /// A_ii, entry (p, q).
    #[inline]
    pub(crate) fn diagonal(&self, i: usize, p: usize, q: usize) -> f64 {
        self.diagonal_of(&self.coupling, i, p, q)
    }

    /// The same with other directions.
    #[inline]
    pub(crate) fn diagonal_of(&self, w: &Coupling, i: usize, p: usize, q: usize) -> f64 {
        let (dofs, a, b) = (w.dofs(i), w.row(i, p), w.row(i, q));
        match &self.inverse {
            Inverse::Diagonal(inverse) => {
                dofs.iter().zip(a).zip(b).map(|((&d, a), b)| a * inverse[d as usize] * b).sum()
            }
            Inverse::Blocks(blocks) => (0..dofs.len()).map(|k| a[k] * blocks.moved(dofs, b, k).unwrap_or(0.0)).sum(),
        }
    }

    /// u += W_iᵀ y.
    #[inline(always)]
    pub(crate) fn add_velocity(&self, i: usize, y: &[f64], u: &mut [f64]) {
        self.coupling.add_velocity(i, y, u);
    }

    /// y += D W_i r_i.
    #[inline(always)]
    pub(crate) fn add_force(&self, i: usize, r: &[f64], y: &mut [f64]) {
        let inverse = match &self.inverse {
            Inverse::Diagonal(inverse) => inverse,
            Inverse::Blocks(blocks) => return blocks.add_force(&self.coupling, i, r, y),
        };
        let (dofs, values) = (self.coupling.dofs(i), self.coupling.values(i));
        if let (Ok(dofs), Ok(w), &[p, q]) = (<&[u32; 6]>::try_from(dofs), <&[f64; 12]>::try_from(values), r) {
            for k in 0..6 {
                let j = dofs[k] as usize;
                y[j] += inverse[j] * (w[k] * p + w[6 + k] * q);
            }
            return;
        }
        for (row, r) in values.chunks_exact(dofs.len().max(1)).zip(r) {
            for (&j, w) in dofs.iter().zip(row) {
                y[j as usize] += inverse[j as usize] * (w * r);
            }
        }
    }

    /// y = D W r.
    pub(crate) fn combine(&self, r: &[f64], y: &mut Vec<f64>) {
        y.clear();
        y.resize(self.unknowns(), 0.0);
        self.add_combined(r, y);
    }

    /// y += D W r.
    pub(crate) fn add_combined(&self, r: &[f64], y: &mut [f64]) {
        let mut rest = r;
        for i in 0..self.len() {
            let (own, others) = rest.split_at(self.coupling.dim(i).min(rest.len()));
            self.add_force(i, own, y);
            rest = others;
        }
    }

    /// u += A r.
    pub(crate) fn add_product(&self, r: &[f64], u: &mut [f64]) {
        let y = &mut self.scratch.borrow_mut().y;
        self.combine(r, y);
        let mut rest = u;
        for i in 0..self.len() {
            let (own, others) = rest.split_at_mut(self.coupling.dim(i).min(rest.len()));
            self.add_velocity(i, y, own);
            rest = others;
        }
    }

    pub(crate) fn densify(&self, m: &mut Dense) {
        let w = &*self.coupling;
        let n: usize = (0..w.len()).map(|i| w.dim(i)).sum();
        m.reset(n, n);
        let y = &mut self.scratch.borrow_mut().y;
        y.clear();
        y.resize(self.unknowns(), 0.0);
        let mut column = 0;
        for j in 0..w.len() {
            for k in 0..w.dim(j) {
                match &self.inverse {
                    Inverse::Diagonal(inverse) => {
                        for (&d, v) in w.dofs(j).iter().zip(w.row(j, k)) {
                            y[d as usize] = inverse[d as usize] * v;
                        }
                    }
                    Inverse::Blocks(blocks) => {
                        for (&d, v) in w.dofs(j).iter().zip(&blocks.moved[w.place(j, k)]) {
                            y[d as usize] = *v;
                        }
                    }
                }
                let mut row = 0;
                for i in 0..w.len() {
                    for p in 0..w.dim(i) {
                        m[(row, column)] = w.dofs(i).iter().zip(w.row(i, p)).map(|(&d, v)| v * y[d as usize]).sum();
                        row += 1;
                    }
                }
                w.dofs(j).iter().for_each(|&d| y[d as usize] = 0.0);
                column += 1;
            }
        }
    }

    /// A as blocks between the blocks that share an unknown.
    pub(crate) fn expand(&self, a: &mut BlockSparse) {
        const NONE: u32 = u32::MAX;
        let w = &*self.coupling;
        let scratch = &mut *self.scratch.borrow_mut();
        let (head, next) = (&mut scratch.head, &mut scratch.next);
        head.clear();
        head.resize(self.unknowns(), NONE);
        next.clear();
        // Lists of the entries of `all_dofs` by unknown run from the last block to the first.
        for (e, &d) in w.all_dofs().iter().enumerate() {
            next.push(head[d as usize]);
            head[d as usize] = e as u32;
        }
        for list in [&mut a.start, &mut a.row, &mut a.column, &mut a.offset] {
            list.clear();
        }
        a.values.clear();
        a.start.push(0);
        a.row.push(0);
        for i in 0..w.len() {
            a.start.push(a.start[i] + w.dim(i));
        }
        for i in 0..w.len() {
            let neighbours = &mut scratch.neighbours;
            neighbours.clear();
            neighbours.push(i as u32);
            for &d in w.dofs(i) {
                let mut e = head[d as usize];
                while e != NONE {
                    neighbours.push(w.owner(e as usize) as u32);
                    e = next[e as usize];
                }
            }
            neighbours.sort_unstable();
            neighbours.dedup();
            for &j in neighbours.iter() {
                let j = j as usize;
                a.column.push(j);
                a.offset.push(a.values.len());
                for p in 0..w.dim(i) {
                    for k in 0..w.dim(j) {
                        a.values.push(self.product(i, p, j, k));
                    }
                }
            }
            a.row.push(a.column.len());
        }
        a.settle();
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test fails on an error
mod tests {

    use crate::full::FullProblem;
    use crate::linear::Pattern;
    use crate::problem::ReducedMatrix;
    use crate::random::sequence;
    use crate::sets::Set;

    const BODIES: usize = 14;

    /// Bodies of a position (diagonal) and three angular velocities that an unsymmetric 3 × 3 block couples, each contact between two of them.
    fn pack(whole: bool) -> FullProblem {
        let n = 6 * BODIES;
        let mut pattern = Pattern::new(n);
        (0..BODIES).for_each(|b| pattern.couple(&[6 * b + 3, 6 * b + 4, 6 * b + 5]));
        let mut p = FullProblem::new(&pattern);
        let mut random = sequence(7);
        for b in 0..BODIES {
            for i in 0..3 {
                p.matrix.add(6 * b + i, 6 * b + i, 2.0 + random());
                for j in 0..3 {
                    p.matrix.add(6 * b + 3 + i, 6 * b + 3 + j, if i == j { 3.0 } else { 0.5 * random() });
                }
            }
        }
        p.f.iter_mut().for_each(|f| *f = random());
        for i in 0..2 * BODIES {
            let (a, b) = (i % BODIES, (5 * i + 1) % BODIES);
            let of = |body: usize| (6 * body as u32..6 * body as u32 + 6).collect::<Vec<u32>>();
            let mut dofs = of(a);
            if b != a {
                dofs.extend(of(b));
            }
            if !whole && i == 3 {
                dofs.truncate(4);
            }
            let w = p.push_block(Set::Coulomb { dim: 2, mu: 0.3 }, &dofs, &[0.1, 0.2, 0.3]);
            w.iter_mut().for_each(|w| *w = random());
        }
        p
    }

    /// A of a pack, column by column from solves with M̂.
    fn columns(p: &mut FullProblem) -> Vec<Vec<f64>> {
        p.matrix.factor().unwrap();
        let rows = p.c.len();
        (0..rows)
            .map(|j| {
                let mut r = vec![0.0; rows];
                r[j] = 1.0;
                let mut y = vec![0.0; p.matrix.size()];
                (0..p.coupling().len()).for_each(|i| p.coupling().add_force(i, &r[3 * i..3 * i + 3], &mut y));
                p.matrix.solve(&mut y);
                let mut u = vec![0.0; rows];
                (0..p.coupling().len()).for_each(|i| p.coupling().add_velocity(i, &y, &mut u[3 * i..3 * i + 3]));
                u
            })
            .collect()
    }

    #[test]
    fn blocks_of_three_give_the_entries_of_a_matrix_that_is_formed() {
        let mut p = pack(true);
        let expected = columns(&mut p);
        let reduced = p.reduce().unwrap();
        assert!(matches!(reduced.matrix(), ReducedMatrix::Gram(g) if g.diagonal_inverse().is_none()));
        let (mut dense, mut expanded) = (crate::Problem::default(), crate::Problem::default());
        reduced.densify(&mut dense);
        reduced.expand(&mut expanded);
        let rows = reduced.size();
        for j in 0..rows {
            let mut r = vec![0.0; rows];
            r[j] = 1.0;
            for problem in [reduced, &dense, &expanded] {
                let mut u = vec![0.0; rows];
                problem.velocity(&r, &mut u);
                for i in 0..rows {
                    // Sums of 24 terms of order one; M̂ has a condition number below ten.
                    assert!((u[i] - reduced.b()[i] - expected[j][i]).abs() <= 1e-13, "({i}, {j})");
                }
            }
        }
        for i in 0..reduced.blocks().len() {
            let mut a = [0.0; 9];
            reduced.diagonal_block(i, &mut a);
            for (k, a) in a.iter().enumerate() {
                assert!((a - expected[3 * i + k % 3][3 * i + k / 3]).abs() <= 1e-13);
            }
        }
    }

    #[test]
    fn a_contact_that_touches_a_part_of_a_block_is_reduced_by_forming_a() {
        let mut p = pack(false);
        let expected = columns(&mut p);
        let reduced = p.reduce().unwrap();
        assert!(matches!(reduced.matrix(), ReducedMatrix::BlockSparse(_)));
        let (mut r, mut u) = (vec![0.0; reduced.size()], vec![0.0; reduced.size()]);
        r[10] = 1.0;
        reduced.velocity(&r, &mut u);
        for i in 0..r.len() {
            assert!((u[i] - reduced.b()[i] - expected[10][i]).abs() <= 1e-13);
        }
    }

    #[test]
    fn every_solver_that_fits_solves_a_pack_of_blocks() {
        use crate::solver::{Options, SOLVERS, make};
        let mut reference: Option<Vec<f64>> = None;
        for info in SOLVERS.iter().filter(|s| ["auto", "nsgs", "newton", "proximal"].contains(&s.name)) {
            let mut p = pack(true);
            let (mut r, mut v) = (vec![0.0; p.c.len()], vec![0.0; p.matrix.size()]);
            let report = p.solve(make(info.name).unwrap().as_mut(), &Options::default(), &mut r, &mut v);
            assert!(report.solved(), "{}: {report:?}", info.name);
            // v = M̂⁻¹ (f + W r), by a solve of its own: rounding.
            let mut again = vec![0.0; v.len()];
            p.velocity(&r, &mut again);
            assert!(v.iter().zip(&again).all(|(a, b)| (a - b).abs() <= 1e-12), "{}", info.name);
            let verdict = crate::verify::reduced(p.reduced(), &r);
            assert!(verdict.residual <= 1e-9, "{}: {}", info.name, verdict.residual);
            // The motion is unique for this small μ: to the tolerance 1e-10 times a condition number of A of a few hundred.
            let first = reference.get_or_insert_with(|| v.clone());
            assert!(v.iter().zip(&*first).all(|(a, b)| (a - b).abs() <= 1e-7), "{}", info.name);
        }
    }
}
