//! The adapter from values to a system: automatic differentiation of a [`Model`], part by part.
//!
//! [`Differentiated`] is generic over the model and only forwards it. An [`Assembly`] does the work: a model behind [`Functions`], and a
//! [`Plan`] that locates its parts in the vectors of the system. It is compiled once, for all models.

mod build;
mod error;
mod probe;

pub use error::ModelError;

use super::candidates::{Candidates, Interaction, Kind, Reach};
use super::evaluate::{Local, MAX_LOCAL, Quantity, potential_gradient, rates, row_times_b};
use super::evaluator::Workspace;
use super::functions::{Function, Functions, Level};
use super::layout::{Blocks, ForceKind, PartIndices};
use super::model::{Derivative, Model, Together};
use super::part::Violation;
use super::system::{Derivatives, KinematicBlock, Structure, System};
use complementarity::linear::Matrix;
use std::cell::RefCell;
use std::sync::Arc;

/// A [`Model`] with all its derivatives, as a [`System`].
pub struct Differentiated<M> {
    model: M,
    plan: Plan,
}

impl<M: Model> Differentiated<M> {
    /// Wraps a model after checking that its parts are consistent.
    pub fn new(model: M) -> Result<Self, ModelError> {
        let plan = Plan::new(model.layout())?;
        Ok(Self { model, plan })
    }

    /// The model.
    pub fn model(&self) -> &M {
        &self.model
    }

    /// Checks at a state that every part gives finite values and that velocities are affine in u.
    pub fn probe(&self, t: f64, q: &[f64], u: &[f64]) -> Result<(), ModelError> {
        self.assembly(&Workspace::default()).probe(t, q, u)
    }

    #[inline]
    fn assembly<'a>(&'a self, work: &'a Workspace) -> Assembly<'a> {
        Assembly { model: &self.model, plan: &self.plan, scratch: work.of() }
    }
}

/// Positions of the parts of a model in the vectors of the system.
struct Plan {
    structure: Structure,
    masses: Vec<(PartIndices, Arc<[usize]>)>,
    forces: Vec<(ForceKind, PartIndices)>,
    /// Name and indices of every interaction, by kind.
    parts: [Vec<(String, PartIndices)>; 4],
    interactions: Vec<Interaction>,
    /// Marks candidate lists that this system has filled.
    stamp: u64,
}

/// The blocks of a part that has none.
static NO_BLOCKS: Blocks = Blocks::new();

/// A model and its plan: what evaluates, differentiates and assembles.
#[derive(Clone, Copy)]
struct Assembly<'a> {
    model: &'a dyn Functions,
    plan: &'a Plan,
    scratch: &'a RefCell<Scratch>,
}

#[derive(Default)]
struct Scratch {
    q: Vec<f64>,
    u: Vec<f64>,
    values: Vec<f64>,
    jacobian: Vec<f64>,
    row: Vec<f64>,
    gaps: Gaps,
}

/// The gaps of all contacts as last evaluated together, with the point of evaluation.
#[derive(Default)]
struct Gaps {
    /// The system that they belong to.
    stamp: u64,
    /// Whether the model has said that it does not give them together.
    apart: bool,
    values: Vec<f64>,
    /// (t, q); nothing yet: t is none.
    t: Option<f64>,
    q: Vec<f64>,
}

fn index_of(id: u64) -> usize {
    (id & 0xffff_ffff) as usize
}

impl<'a> Assembly<'a> {
    fn part(&self, k: &Interaction) -> &'a PartIndices {
        &self.plan.parts[k.kind as usize][index_of(k.id)].1
    }

    /// A quantity of part `i` with its indices.
    fn local(&self, quantity: Quantity, i: usize, indices: &'a PartIndices) -> Local<'a> {
        Local { model: self.model, quantity, i, own: indices.own, blocks: &indices.blocks }
    }

    /// A function of the model, of part `i`.
    fn function(&self, function: Function, i: usize, indices: &'a PartIndices) -> Local<'a> {
        self.local(Quantity::Value(function), i, indices)
    }

    /// The time derivative of a function of position, of part `i`.
    fn rate_of(&self, function: Function, i: usize, indices: &'a PartIndices) -> Local<'a> {
        self.local(Quantity::Rate(function), i, indices)
    }

    /// Runs `f` with the local coordinates and velocities of a part.
    #[inline]
    fn gathered<R>(
        &self,
        indices: &PartIndices,
        q: &[f64],
        u: &[f64],
        f: impl FnOnce(&[f64], &[f64], &mut Buffers) -> R,
    ) -> R {
        let mut scratch = self.scratch.borrow_mut();
        let s = &mut *scratch;
        if let Some(first) = indices.first {
            let range = first..first + indices.extended.len();
            let mut work = Buffers { values: &mut s.values, jacobian: &mut s.jacobian, row: &mut s.row };
            return f(&q[range.clone()], if u.is_empty() { u } else { &u[range] }, &mut work);
        }
        s.q.clear();
        s.q.extend(indices.extended.iter().map(|&i| q[i]));
        s.u.clear();
        if !u.is_empty() {
            s.u.extend(indices.velocities.iter().map(|&i| u[i]));
        }
        let mut work = Buffers { values: &mut s.values, jacobian: &mut s.jacobian, row: &mut s.row };
        f(&s.q, &s.u, &mut work)
    }

    /// W and χ of a position-level function: g_q B and g_t + g_q β.
    fn position_rate(
        &self,
        function: Local,
        indices: &PartIndices,
        rows: usize,
        t: f64,
        q: &[f64],
        w: &mut [f64],
        chi: &mut [f64],
    ) {
        self.gathered(indices, q, &[], |lq, _, work| {
            let width = indices.own + 1;
            let (values, jacobian) = work.sized(rows, width);
            function.derivatives(t, lq, &[], 0..width, values, jacobian);
            self.rates_from(indices, t, lq, jacobian, w, chi);
        });
    }

    /// The same from (g_t, g_q), row by row.
    fn rates_from(&self, indices: &PartIndices, t: f64, lq: &[f64], jacobian: &[f64], w: &mut [f64], chi: &mut [f64]) {
        let (own, n) = (indices.own, indices.velocities.len());
        let rows = jacobian.chunks_exact(own + 1).enumerate();
        if indices.blocks.is_empty() {
            for (r, line) in rows {
                chi[r] = line[0];
                w[r * n..(r + 1) * n].copy_from_slice(&line[1..]);
            }
            return;
        }
        let mut row = [0.0; MAX_LOCAL];
        for (r, line) in rows {
            row[..own].copy_from_slice(&line[1..]);
            row[own..lq.len()].fill(0.0);
            let out = &mut w[r * n..(r + 1) * n];
            out.fill(0.0);
            chi[r] = line[0] + row_times_b(self.model, &indices.blocks, t, lq, &row[..lq.len()], 1.0, out);
        }
    }

    /// The gap of contact `i`, if the model gives all of them at once: schemes that ask for one ask for the others too.
    #[inline]
    fn gap_together(&self, i: usize, t: f64, q: &[f64]) -> Option<f64> {
        let count = self.plan.parts[Kind::Contact as usize].len();
        let gaps = &mut self.scratch.borrow_mut().gaps;
        if gaps.stamp != self.plan.stamp {
            *gaps = Gaps { stamp: self.plan.stamp, ..Gaps::default() };
        }
        if gaps.apart {
            return None;
        }
        if gaps.t == Some(t) && gaps.q == q {
            return Some(gaps.values[i]);
        }
        gaps.values.resize(count, 0.0);
        gaps.apart = !self.model.together(Together::Gaps, t, q, &[], &mut gaps.values);
        if gaps.apart {
            return None;
        }
        gaps.t = Some(t);
        gaps.q.resize(q.len(), 0.0);
        gaps.q.copy_from_slice(q);
        Some(gaps.values[i])
    }

    /// W and χ of contact `i` or of a joint from what the model knows in closed form. False if it knows nothing.
    fn known_rows(
        &self,
        what: Derivative,
        i: usize,
        indices: &PartIndices,
        t: f64,
        q: &[f64],
        w: &mut [f64],
        chi: &mut [f64],
    ) -> bool {
        self.gathered(indices, q, &[], |lq, _, work| {
            let (own, n) = (indices.own, indices.velocities.len());
            let slips = if what == Derivative::Contact { chi.len() - 1 } else { 0 };
            let positions = chi.len() - slips;
            let (out, _) = work.sized(positions * (own + 1) + slips * (n + 1), 0);
            if !self.model.derivative(what, i, t, &lq[..own], &[], out) {
                return false;
            }
            let (jacobian, slip) = out.split_at(positions * (own + 1));
            let (w_position, w_slip) = w.split_at_mut(positions * n);
            let (chi_position, chi_slip) = chi.split_at_mut(positions);
            self.rates_from(indices, t, lq, jacobian, w_position, chi_position);
            w_slip.copy_from_slice(&slip[..slips * n]);
            chi_slip.copy_from_slice(&slip[slips * n..]);
            true
        })
    }

    /// W and χ of a velocity function: its Jacobian and value at u = 0.
    fn velocity_rows(
        &self,
        function: Local,
        indices: &PartIndices,
        rows: usize,
        t: f64,
        q: &[f64],
        w: &mut [f64],
        chi: &mut [f64],
    ) {
        self.gathered(indices, q, &[], |lq, _, _| {
            let n = indices.velocities.len();
            let zeros = [0.0; MAX_LOCAL];
            let first = 1 + lq.len();
            function.derivatives(t, lq, &zeros[..n], first..first + n, &mut chi[..rows], w);
        });
    }

    /// f_q B of a function, row by row over the velocities of its part.
    fn gradient(&self, f: Local, indices: &PartIndices, rows: usize, t: f64, q: &[f64], u: &[f64], out: &mut [f64]) {
        self.gathered(indices, q, u, |lq, lu, work| {
            if indices.blocks.is_empty() {
                let (values, _) = work.sized(rows, 0);
                f.derivatives(t, lq, lu, 1..1 + lq.len(), values, out);
                return;
            }
            let (values, jacobian) = work.sized(rows, lq.len());
            f.derivatives(t, lq, lu, 1..1 + lq.len(), values, jacobian);
            let n = indices.velocities.len();
            out[..rows * n].fill(0.0);
            for (row, out) in jacobian.chunks_exact(lq.len().max(1)).zip(out.chunks_exact_mut(n.max(1))) {
                row_times_b(self.model, &indices.blocks, t, lq, row, 1.0, out);
            }
        });
    }

    fn rate(&self, f: Local, indices: &PartIndices, t: f64, q: &[f64], u: &[f64], out: &mut [f64]) {
        self.gathered(indices, q, u, |lq, lu, work| {
            work.row.clear();
            work.row.resize(lq.len(), 0.0);
            rates::<f64, MAX_LOCAL>(self.model, &indices.blocks, t, lq, lu, work.row);
            f.along_motion(t, lq, lu, work.row, out);
        });
    }

    /// Adds a·J_q B + b·J_u of a force function to `m`.
    fn add_jacobian(
        &self,
        f: Local,
        indices: &PartIndices,
        with_u: bool,
        t: f64,
        q: &[f64],
        u: &[f64],
        a: f64,
        b: f64,
        m: &mut Matrix,
    ) {
        let dofs = &indices.velocities;
        let n = dofs.len();
        self.gathered(indices, q, u, |lq, lu, work| {
            // By q only where it is needed.
            let nq = if a == 0.0 { 0 } else { lq.len() };
            let width = nq + if with_u { n } else { 0 };
            if width == 0 {
                return;
            }
            let first = 1 + lq.len() - nq;
            let (values, jacobian) = work.sized(n, width);
            f.derivatives(t, lq, lu, first..first + width, values, jacobian);
            let mut row = [0.0; MAX_LOCAL];
            for i in 0..n {
                let line = &jacobian[i * width..(i + 1) * width];
                row[..n].fill(0.0);
                if nq > 0 {
                    row_times_b(self.model, &indices.blocks, t, lq, &line[..nq], a, &mut row[..n]);
                }
                if with_u {
                    for j in 0..n {
                        row[j] += b * line[nq + j];
                    }
                }
                for j in 0..n {
                    if row[j] != 0.0 {
                        m.add(dofs[i], dofs[j], row[j]);
                    }
                }
            }
        });
    }

    /// The same from what the model knows in closed form, where q̇ = u. False if it knows nothing.
    fn add_known_jacobian(&self, i: usize, t: f64, q: &[f64], u: &[f64], a: f64, b: f64, m: &mut Matrix) -> bool {
        let (kind, indices) = &self.plan.forces[i];
        if !indices.blocks.is_empty() {
            return false;
        }
        let n = indices.own;
        match kind {
            ForceKind::Value => self.gathered(indices, q, u, |lq, lu, work| {
                let (sum, jacobian) = work.sized(n * n, 2);
                if !self.model.derivative(Derivative::Jacobian, i, t, lq, lu, jacobian) {
                    return false;
                }
                for (line, sum) in jacobian.chunks_exact(2 * n.max(1)).zip(sum.chunks_exact_mut(n.max(1))) {
                    let (of_q, of_u) = line.split_at(n);
                    for ((s, x), y) in sum.iter_mut().zip(of_q).zip(of_u) {
                        // By q only where it is needed: elsewhere it may not be finite.
                        *s = if a == 0.0 { b * y } else { x * a + b * y };
                    }
                }
                m.add_clique(&indices.velocities, sum);
                true
            }),
            ForceKind::Potential => self.gathered(indices, q, &[], |lq, _, work| {
                let (values, _) = work.sized(n * n, 0);
                if !self.model.derivative(Derivative::Hessian, i, t, lq, &[], values) {
                    return false;
                }
                values.iter_mut().for_each(|v| *v *= -a);
                m.add_clique(&indices.velocities, values);
                true
            }),
        }
    }
}

struct Buffers<'a> {
    values: &'a mut Vec<f64>,
    jacobian: &'a mut Vec<f64>,
    row: &'a mut Vec<f64>,
}

impl Buffers<'_> {
    #[inline]
    fn sized(&mut self, rows: usize, width: usize) -> (&mut [f64], &mut [f64]) {
        if self.values.len() < rows {
            self.values.resize(rows, 0.0);
        }
        if self.jacobian.len() < rows * width {
            self.jacobian.resize(rows * width, 0.0);
        }
        (&mut self.values[..rows], &mut self.jacobian[..rows * width])
    }
}

impl Assembly<'_> {
    fn mass(&self, t: f64, q: &[f64], m: &mut Matrix) {
        if self.plan.masses.len() > 1 {
            let n = self.plan.structure.nu();
            let scratch = &mut *self.scratch.borrow_mut();
            if scratch.values.len() < n * n {
                scratch.values.resize(n * n, 0.0);
            }
            let values = &mut scratch.values[..n * n];
            if self.model.together(Together::Mass, t, q, &[], values) {
                m.add_all(values);
                return;
            }
        }
        for (i, (indices, dofs)) in self.plan.masses.iter().enumerate() {
            let n = dofs.len();
            self.gathered(indices, q, &[], |lq, _, work| {
                let (values, _) = work.sized(n * n, 0);
                values.fill(0.0);
                self.model.mass(i, t, lq, values);
                m.add_clique(dofs, values);
            });
        }
    }

    fn force(&self, i: usize, t: f64, q: &[f64], u: &[f64], h: &mut [f64]) {
        let (kind, indices) = &self.plan.forces[i];
        let n = indices.velocities.len();
        let u = if *kind == ForceKind::Value { u } else { &[] };
        self.gathered(indices, q, u, |lq, lu, work| {
            let (out, _) = work.sized(n, 0);
            if *kind == ForceKind::Potential && indices.blocks.is_empty() {
                if !self.model.derivative(Derivative::Gradient, i, t, lq, &[], out) {
                    potential_gradient(self.model, i, t, lq, out);
                }
                indices.velocities.iter().zip(out).for_each(|(&j, v)| h[j] -= *v);
                return;
            }
            out.fill(0.0);
            match kind {
                ForceKind::Value => f64::call(self.model, Function::Force, i, t, &lq[..indices.own], lu, out),
                ForceKind::Potential => self.local(Quantity::PotentialForce, i, indices).value(t, lq, &[], out),
            }
            for (&j, v) in indices.velocities.iter().zip(out.iter()) {
                h[j] += v;
            }
        });
    }

    fn forces(&self, t: f64, q: &[f64], u: &[f64], h: &mut [f64]) {
        if self.plan.forces.len() > 1 {
            let scratch = &mut *self.scratch.borrow_mut();
            if scratch.values.len() < h.len() {
                scratch.values.resize(h.len(), 0.0);
            }
            let values = &mut scratch.values[..h.len()];
            if self.model.together(Together::Forces, t, q, u, values) {
                h.iter_mut().zip(values).for_each(|(h, v)| *h += *v);
                return;
            }
        }
        for i in 0..self.plan.forces.len() {
            self.force(i, t, q, u, h);
        }
    }

    fn potential(&self, i: usize, t: f64, q: &[f64]) -> f64 {
        let (kind, indices) = &self.plan.forces[i];
        if *kind != ForceKind::Potential {
            return 0.0;
        }
        self.gathered(indices, q, &[], |lq, _, _| self.model.call_potential(i, t, &lq[..indices.own]))
    }

    fn force_jacobian(&self, i: usize, t: f64, q: &[f64], u: &[f64], a: f64, b: f64, m: &mut Matrix) {
        if self.add_known_jacobian(i, t, q, u, a, b, m) {
            return;
        }
        let (kind, indices) = &self.plan.forces[i];
        match kind {
            ForceKind::Value => {
                self.add_jacobian(self.function(Function::Force, i, indices), indices, true, t, q, u, a, b, m);
            }
            ForceKind::Potential => {
                self.add_jacobian(self.local(Quantity::PotentialForce, i, indices), indices, false, t, q, &[], a, b, m);
            }
        }
    }

    fn position(&self, k: &Interaction, t: f64, q: &[f64], g: &mut [f64]) {
        let indices = self.part(k);
        let i = index_of(k.id);
        let function = match k.kind {
            Kind::Contact => {
                if let Some(gap) = self.gap_together(i, t, q) {
                    g[0] = gap;
                    return;
                }
                Function::Gap
            }
            Kind::Joint => Function::Joint,
            Kind::VelocityJoint | Kind::Element => return,
        };
        let out = &mut g[..k.position_dim()];
        self.gathered(indices, q, &[], |lq, _, _| f64::call(self.model, function, i, t, &lq[..indices.own], &[], out));
    }

    fn velocity(&self, k: &Interaction, t: f64, q: &[f64], w: &mut [f64], chi: &mut [f64]) {
        let indices = self.part(k);
        let (i, n) = (index_of(k.id), indices.velocities.len());
        let known = match k.kind {
            Kind::Contact => Some(Derivative::Contact),
            Kind::Joint => Some(Derivative::Joint),
            Kind::VelocityJoint | Kind::Element => None,
        };
        if known.is_some_and(|what| self.known_rows(what, i, indices, t, q, &mut w[..k.dim() * n], &mut chi[..k.dim()]))
        {
            return;
        }
        let of = |function| self.function(function, i, indices);
        match k.kind {
            Kind::Joint => self.position_rate(of(Function::Joint), indices, k.dim(), t, q, w, chi),
            Kind::VelocityJoint => self.velocity_rows(of(Function::VelocityJoint), indices, k.dim(), t, q, w, chi),
            Kind::Element => self.velocity_rows(of(Function::Element), indices, k.dim(), t, q, w, chi),
            Kind::Contact => {
                self.position_rate(of(Function::Gap), indices, 1, t, q, &mut w[..n], &mut chi[..1]);
                if k.dim() > 1 {
                    let (w, chi) = (&mut w[n..], &mut chi[1..]);
                    self.velocity_rows(of(Function::Slip), indices, k.dim() - 1, t, q, w, chi);
                }
            }
        }
    }

    fn kinematics(&self, t: f64, q: &[f64], u: &[f64], qdot: &mut [f64]) {
        let (mut lq, mut lu, mut lr) = ([0.0; MAX_LOCAL], [0.0; MAX_LOCAL], [0.0; MAX_LOCAL]);
        for (b, KinematicBlock { coordinates, velocities, .. }) in self.plan.structure.kinematics.iter().enumerate() {
            for (x, &c) in lq.iter_mut().zip(coordinates) {
                *x = q[c];
            }
            for (x, &v) in lu.iter_mut().zip(velocities) {
                *x = u[v];
            }
            let n = coordinates.len();
            self.block(b, n).value(t, &lq[..n], &lu[..velocities.len()], &mut lr[..n]);
            for (x, &c) in lr.iter().zip(coordinates) {
                qdot[c] = *x;
            }
        }
    }

    /// q̇ of kinematic block `b` with `n` coordinates.
    fn block(&self, b: usize, n: usize) -> Local<'_> {
        let quantity = Quantity::Value(Function::Kinematics);
        Local { model: self.model, quantity, i: b, own: n, blocks: &NO_BLOCKS }
    }

    fn kinematics_jacobian(&self, block: usize, t: f64, q: &[f64], u: &[f64], by_q: &mut [f64], by_u: &mut [f64]) {
        let wanted = !by_q.is_empty();
        let KinematicBlock { coordinates, velocities, .. } = &self.plan.structure.kinematics[block];
        let (mut lq, mut lu) = ([0.0; MAX_LOCAL], [0.0; MAX_LOCAL]);
        let (n, m) = (coordinates.len(), velocities.len());
        lq.iter_mut().zip(coordinates).for_each(|(x, &c)| *x = q[c]);
        lu.iter_mut().zip(velocities).for_each(|(x, &v)| *x = u[v]);
        let s = &mut *self.scratch.borrow_mut();
        let mut work = Buffers { values: &mut s.values, jacobian: &mut s.jacobian, row: &mut s.row };
        let skip = if wanted { 0 } else { n };
        let width = n + m - skip;
        let (values, jacobian) = work.sized(n, width);
        self.block(block, n).derivatives(t, &lq[..n], &lu[..m], 1 + skip..1 + n + m, values, jacobian);
        for (r, line) in jacobian.chunks_exact(width.max(1)).enumerate() {
            let (of_q, of_u) = line.split_at(n - skip);
            if wanted {
                by_q[r * n..(r + 1) * n].copy_from_slice(of_q);
            }
            by_u[r * m..(r + 1) * m].copy_from_slice(of_u);
        }
    }

    fn velocity_gradient(&self, k: &Interaction, skip: usize, t: f64, q: &[f64], u: &[f64], out: &mut [f64]) {
        let indices = self.part(k);
        let (i, n) = (index_of(k.id), indices.velocities.len());
        debug_assert!(skip <= k.position_dim());
        let of = |function| self.function(function, i, indices);
        let rate_of = |function| self.rate_of(function, i, indices);
        match k.kind {
            Kind::Joint if skip > 0 => {}
            Kind::Joint => self.gradient(rate_of(Function::Joint), indices, k.dim(), t, q, u, out),
            Kind::VelocityJoint => self.gradient(of(Function::VelocityJoint), indices, k.dim(), t, q, u, out),
            Kind::Element => self.gradient(of(Function::Element), indices, k.dim(), t, q, u, out),
            Kind::Contact => {
                let (normal, tangential) = out.split_at_mut(if skip > 0 { 0 } else { n });
                if skip == 0 {
                    self.gradient(rate_of(Function::Gap), indices, 1, t, q, u, normal);
                }
                if k.dim() > 1 {
                    self.gradient(of(Function::Slip), indices, k.dim() - 1, t, q, u, tangential);
                }
            }
        }
    }

    fn velocity_rate(&self, k: &Interaction, t: f64, q: &[f64], u: &[f64], out: &mut [f64]) {
        let indices = self.part(k);
        let (i, d) = (index_of(k.id), k.dim());
        let of = |function| self.function(function, i, indices);
        let rate_of = |function| self.rate_of(function, i, indices);
        match k.kind {
            Kind::Joint => self.rate(rate_of(Function::Joint), indices, t, q, u, &mut out[..d]),
            Kind::VelocityJoint => self.rate(of(Function::VelocityJoint), indices, t, q, u, &mut out[..d]),
            Kind::Element => self.rate(of(Function::Element), indices, t, q, u, &mut out[..d]),
            Kind::Contact => {
                self.rate(rate_of(Function::Gap), indices, t, q, u, &mut out[..1]);
                if d > 1 {
                    self.rate(of(Function::Slip), indices, t, q, u, &mut out[1..d]);
                }
            }
        }
    }
}

impl<M: Model> System for Differentiated<M> {
    fn structure(&self) -> &Structure {
        &self.plan.structure
    }

    fn mass(&self, work: &Workspace, t: f64, q: &[f64], m: &mut Matrix) {
        self.assembly(work).mass(t, q, m);
    }

    fn force(&self, work: &Workspace, i: usize, t: f64, q: &[f64], u: &[f64], h: &mut [f64]) {
        self.assembly(work).force(i, t, q, u, h);
    }

    fn forces(&self, work: &Workspace, t: f64, q: &[f64], u: &[f64], h: &mut [f64]) {
        self.assembly(work).forces(t, q, u, h);
    }

    fn potential(&self, work: &Workspace, i: usize, t: f64, q: &[f64]) -> f64 {
        self.assembly(work).potential(i, t, q)
    }

    fn force_jacobian(&self, work: &Workspace, i: usize, t: f64, q: &[f64], u: &[f64], a: f64, b: f64, m: &mut Matrix) {
        self.assembly(work).force_jacobian(i, t, q, u, a, b, m);
    }

    fn candidates(&self, _work: &Workspace, _t: f64, _q: &[f64], _u: &[f64], _reach: Reach, out: &mut Candidates) {
        if out.source() != self.plan.stamp {
            out.fill(self.plan.interactions.iter().cloned());
            out.set_source(self.plan.stamp);
        }
    }

    fn position(&self, work: &Workspace, k: &Interaction, t: f64, q: &[f64], g: &mut [f64]) {
        self.assembly(work).position(k, t, q, g);
    }

    fn velocity(&self, work: &Workspace, k: &Interaction, t: f64, q: &[f64], w: &mut [f64], chi: &mut [f64]) {
        self.assembly(work).velocity(k, t, q, w, chi);
    }

    fn kinematics(&self, work: &Workspace, t: f64, q: &[f64], u: &[f64], qdot: &mut [f64]) {
        if self.plan.structure.identity_kinematics() {
            qdot.copy_from_slice(u);
        } else {
            self.assembly(work).kinematics(t, q, u, qdot);
        }
    }

    fn kinematics_jacobian(
        &self,
        work: &Workspace,
        block: usize,
        t: f64,
        q: &[f64],
        u: &[f64],
        by_q: &mut [f64],
        by_u: &mut [f64],
    ) {
        self.assembly(work).kinematics_jacobian(block, t, q, u, by_q, by_u);
    }

    fn velocity_gradient(
        &self,
        work: &Workspace,
        k: &Interaction,
        skip: usize,
        t: f64,
        q: &[f64],
        u: &[f64],
        out: &mut [f64],
    ) {
        self.assembly(work).velocity_gradient(k, skip, t, q, u, out);
    }

    fn velocity_rate(&self, work: &Workspace, k: &Interaction, t: f64, q: &[f64], u: &[f64], out: &mut [f64]) {
        self.assembly(work).velocity_rate(k, t, q, u, out);
    }

    fn normalise(&self, q: &mut [f64]) {
        self.model.normalise(q);
    }

    fn derivatives(&self) -> Derivatives {
        Derivatives::Exact
    }

    fn name(&self, id: u64) -> String {
        self.plan.name(id)
    }

    fn probe(&self, work: &Workspace, t: f64, q: &[f64], u: &[f64]) -> Result<(), Violation> {
        Ok(self.assembly(work).probe(t, q, u)?)
    }
}

impl Plan {
    fn name(&self, id: u64) -> String {
        let part = self.parts.get((id >> 32) as usize).and_then(|list| list.get(index_of(id)));
        part.map(|p| p.0.clone()).unwrap_or_default()
    }
}
