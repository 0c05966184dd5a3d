//! What the velocity-level schemes share: assembly and solution of
//!
//! ```text
//! M̂ v = f + Σ W_k P_k,    −(γ_k⁺ + e_k γ_k⁻) ∈ N_{Â_k}(P_k),    γ_k⁺ = W_kᵀ v + χ_k
//! ```
//!
//! for the active interactions, the residual of the dynamics, and (`examine`) the parts of certificate and ledger that do
//! not depend on where a scheme evaluates its functions.

mod between;
mod examine;
mod kinematics;
mod restitution;

pub(super) use between::{Ahead, Between, Trial};
pub(super) use examine::{Applied, kinematics_residual, line_of};

use super::{Failure, Solve};
use crate::contract::{Candidates, Evaluator, Feature, Features, Interaction, Kind};
use crate::state::{Sigma, State, Step, StepReport};
use between::{At, Directions};
use complementarity::linear::Matrix;
use complementarity::linear::dense::{all_finite, max_norm};
use complementarity::sets::MAX_DIM;
use complementarity::{FullProblem, Polygon, Set, Status, capacity};
pub(super) use kinematics::Kinematics;
pub(super) use restitution::Restitution;
use std::sync::Arc;

/// A contact is closed where its gap (or forecast) is at most this, in metres. Positive, so that a
/// contact that rests above zero by an error of the order of `newton_tol` is not lost (errata, "activation test").
pub(super) const ACTIVATION: f64 = 1e-10;
/// Part of its terms up to which a residual may be rounding of velocities: beyond, nobody asks.
const NEARLY: f64 = 1e-6;

/// What schemes on velocity level can take.
pub(super) const SUPPORTS: Features = Features::of(&[
    Feature::Joints,
    Feature::VelocityJoints,
    Feature::GeneralKinematics,
    Feature::Restitution,
    Feature::TangentialRestitution,
    Feature::Moving,
    Feature::Elements,
    Feature::Tresca,
])
.with_friction(3);

/// Whether a joint is among these whose direction turns or that moves by itself.
pub(super) fn has_turning_joint(list: &Candidates) -> bool {
    list.items().iter().any(|k| matches!(k.kind, Kind::Joint | Kind::VelocityJoint) && !k.constant)
}

/// Rows of one active interaction in the one-step problem.
#[derive(Debug, Clone, Copy)]
struct Group {
    interaction: u32,
    /// First row and first block.
    row: u32,
    block: u32,
}

impl Group {
    #[inline]
    fn interaction(&self) -> usize {
        self.interaction as usize
    }

    #[inline]
    fn row(&self) -> usize {
        self.row as usize
    }
}

/// Workspace of a velocity-level step.
pub(super) struct VelocityLevel {
    pub(super) full: FullProblem,
    /// M at the point where the scheme evaluates it.
    pub(super) mass: Matrix,
    /// Σ h_i there.
    pub(super) h: Vec<f64>,
    /// Percussions, row by row of the active interactions.
    pub(super) r: Vec<f64>,
    /// Velocities, and room for other vectors of their size: see [`VelocityLevel::size_vectors`].
    pub(super) v: Vec<f64>,
    pub(super) scratch: Vec<f64>,
    /// Which restitution enters the laws.
    pub(super) restitution: Restitution,
    /// Section of the polyhedral cone that stands for a circular one, if one does.
    pub(super) facets: Option<Arc<Polygon>>,
    /// γ⁻ by component of the candidates.
    before: Vec<f64>,
    /// Percussions by component of the candidates that are a better start guess than those of the step before; NaN where there is none.
    kept: Vec<f64>,
    chi: Vec<f64>,
    groups: Vec<Group>,
    /// Groups that belong to contacts.
    contacts: usize,
    pub(super) kinematics: Kinematics,
    /// What the rows of the one-step problem were made for.
    rows_version: u64,
    rows_dt: f64,
    rows_active: Vec<bool>,
    /// Whether all of them have constant kinematics.
    rows_constant: bool,
    gamma: Vec<f64>,
    /// The list that room was made for beforehand.
    reserved_for: u64,
    /// The system that this workspace was made for.
    made_for: (u64, usize),
    mass_assembled: bool,
}

/// A pattern is unique to the system it was made for, or to its clones, which live elsewhere.
pub(super) fn identity_of(system: &Evaluator) -> (u64, usize) {
    let s = system.structure();
    (s.pattern.id(), std::ptr::from_ref(s) as usize)
}

/// What the matrix M̂ of a step is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Iteration {
    /// M alone.
    Mass,
    /// M and derivatives of forces.
    Jacobian,
}

impl VelocityLevel {
    fn new(system: &Evaluator, iteration: Iteration) -> Self {
        let s = system.structure();
        let n = s.nu();
        Self {
            full: FullProblem::new(match iteration {
                Iteration::Mass => &s.mass_pattern,
                Iteration::Jacobian => &s.pattern,
            }),
            mass: Matrix::new(&s.mass_pattern),
            h: vec![0.0; n],
            r: Vec::new(),
            v: Vec::new(),
            scratch: Vec::new(),
            restitution: Restitution::Law,
            facets: None,
            before: Vec::new(),
            kept: Vec::new(),
            chi: Vec::new(),
            groups: Vec::new(),
            contacts: 0,
            kinematics: Kinematics::default(),
            rows_version: 0,
            rows_dt: 0.0,
            rows_active: Vec::new(),
            rows_constant: false,
            gamma: Vec::new(),
            reserved_for: 0,
            made_for: identity_of(system),
            mass_assembled: false,
        }
    }

    /// The workspace for this system, made at the first call. True if it is new.
    pub(super) fn prepare<'a>(
        slot: &'a mut Option<Box<Self>>,
        system: &Evaluator,
        iteration: Iteration,
    ) -> (&'a mut Self, bool) {
        let fresh = slot.as_ref().is_none_or(|w| w.made_for != identity_of(system));
        if fresh {
            *slot = Some(Box::new(Self::new(system, iteration)));
        }
        (slot.get_or_insert_with(|| Box::new(Self::new(system, iteration))), fresh)
    }

    /// Gives `v` and `scratch` their size.
    pub(super) fn size_vectors(&mut self) {
        let n = self.h.len();
        self.v.resize(n, 0.0);
        self.scratch.resize(n, 0.0);
    }

    /// M(t,q) into `mass`; once if it is constant.
    #[inline]
    pub(super) fn assemble_mass(&mut self, system: &Evaluator, t: f64, q: &[f64]) {
        if self.mass_assembled && system.structure().constant_mass {
            return;
        }
        self.mass.clear();
        system.mass(t, q, &mut self.mass);
        self.mass_assembled = true;
    }

    /// Σ h_i(t,q,u) into `h`.
    #[inline]
    pub(super) fn assemble_forces(&mut self, system: &Evaluator, t: f64, q: &[f64], u: &[f64]) {
        self.h.fill(0.0);
        system.forces(t, q, u, &mut self.h);
    }

    /// Makes room for a list of candidates.
    #[inline]
    pub(super) fn begin(&mut self, candidates: &Candidates) {
        self.kinematics.prepare(candidates);
        capacity::resize(&mut self.before, candidates.components(), 0.0);
    }

    /// γ⁻ of interaction `i` with the kinematics at (t,q).
    #[inline]
    pub(super) fn velocity_before(
        &mut self,
        system: &Evaluator,
        t: f64,
        q: &[f64],
        u: &[f64],
        candidates: &Candidates,
        i: usize,
    ) {
        let range = candidates.range(i);
        self.kinematics.velocity(system, candidates, i, t, q, u, &mut self.before[range]);
    }

    /// γ⁻ as taken last.
    #[inline]
    pub(super) fn before(&self, candidates: &Candidates, i: usize) -> &[f64] {
        &self.before[candidates.range(i)]
    }

    /// The same, for another value.
    pub(super) fn before_mut(&mut self, candidates: &Candidates, i: usize) -> &mut [f64] {
        &mut self.before[candidates.range(i)]
    }

    /// γ⁻ of all active interactions with the kinematics at (t,q).
    pub(super) fn velocities_before(
        &mut self,
        system: &Evaluator,
        t: f64,
        q: &[f64],
        u: &[f64],
        list: &Candidates,
        active: &[bool],
    ) {
        let mut kinematics = std::mem::take(&mut self.kinematics);
        self.velocities_before_by(&mut kinematics, system, t, q, u, list, active);
        self.kinematics = kinematics;
    }

    /// The same with kinematics that a scheme keeps itself.
    pub(super) fn velocities_before_by(
        &mut self,
        kinematics: &mut Kinematics,
        system: &Evaluator,
        t: f64,
        q: &[f64],
        u: &[f64],
        list: &Candidates,
        active: &[bool],
    ) {
        for i in (0..list.len()).filter(|&i| active[i]) {
            kinematics.velocity(system, list, i, t, q, u, &mut self.before[list.range(i)]);
        }
    }

    /// Whether the rows depend neither on time nor on position.
    pub(super) fn constant_rows(&self) -> bool {
        self.rows_constant
    }

    /// The blocks of the one-step problem with kinematics at (t,q).
    #[inline]
    pub(super) fn assemble_rows(&mut self, system: &Evaluator, t: f64, q: &[f64], step: &Step) {
        if self.reuse_rows(&step.candidates, &step.active, step.dt) {
            return;
        }
        let mut kinematics = std::mem::take(&mut self.kinematics);
        self.assemble_blocks(&mut kinematics, system, t, q, &step.candidates, &step.active, step.dt);
        self.kinematics = kinematics;
    }

    /// Keeps the rows as they are, with new velocities before, if they are constant and made for this list, active set and length of step. False if they must be
    /// made anew.
    fn reuse_rows(&mut self, list: &Candidates, active: &[bool], dt: f64) -> bool {
        let same = self.rows_version == list.version() && self.rows_dt == dt && self.rows_active == active;
        if !(same && self.rows_constant) {
            return false;
        }
        for g in &self.groups {
            let k = &list.items()[g.interaction()];
            let before = &self.before[list.range(g.interaction())];
            for j in 0..k.dim() {
                self.full.c[g.row() + j] =
                    self.chi[g.row() + j] + self.restitution.of(g.interaction(), k, j) * before[j];
            }
        }
        true
    }

    /// The same for a list of candidates, those of them that take part, and forces that act for `dt`, with kinematics that a scheme keeps itself.
    pub(super) fn assemble_blocks(
        &mut self,
        kinematics: &mut Kinematics,
        system: &Evaluator,
        t: f64,
        q: &[f64],
        list: &Candidates,
        active: &[bool],
        dt: f64,
    ) {
        if !self.reuse_rows(list, active, dt) {
            self.assemble(&mut At { kinematics, system, list, t, q }, list, active, dt);
        }
    }

    /// The same with directions from anywhere, which may change γ⁻.
    fn assemble(&mut self, directions: &mut impl Directions, list: &Candidates, active: &[bool], dt: f64) {
        self.rows_version = list.version();
        self.rows_dt = dt;
        capacity::assign(&mut self.rows_active, active);
        self.rows_constant = true;
        self.full.clear_blocks();
        self.groups.clear();
        self.contacts = 0;
        self.chi.clear();
        self.make_room(list, Some(active), dt);
        for (i, k) in list.items().iter().enumerate() {
            if !active[i] {
                continue;
            }
            self.rows_constant &= k.constant;
            self.contacts += usize::from(k.kind == Kind::Contact);
            let (n, row) = (k.dofs.len(), self.chi.len());
            let (w, chi) = directions.of(i, &mut self.before[list.range(i)]);
            self.chi.extend_from_slice(chi);
            self.groups.push(Group { interaction: i as u32, row: row as u32, block: self.full.blocks().len() as u32 });
            let before = &self.before[list.range(i)];
            let full = &mut self.full;
            let (restitution, facets) = (&self.restitution, &self.facets);
            let mut at = 0;
            k.law.percussion_sets(k.dim(), dt, |set| {
                let d = set.dim();
                let mut c = [0.0; MAX_DIM];
                for j in 0..d {
                    c[j] = chi[at + j] + restitution.of(i, k, at + j) * before[at + j];
                }
                let set = match (set, facets) {
                    (Set::Coulomb { dim: 2, mu }, Some(polygon)) => Set::Polyhedral { mu, polygon: polygon.clone() },
                    (set, _) => set,
                };
                full.push_block(set, &k.dofs, &c[..d]).copy_from_slice(&w[at * n..(at + d) * n]);
                at += d;
            });
        }
    }

    /// Replaces the velocity law of contacts by the linearised gap: with c such that Wᵀv⁺ + c = g⁺/`scale`, linearised at (q, v), where v⁺ moves q by `scale` v⁺.
    pub(super) fn use_gap_laws(
        &mut self,
        system: &Evaluator,
        t: f64,
        q: &[f64],
        v: &[f64],
        scale: f64,
        list: &Candidates,
    ) {
        for g in &self.groups {
            let k = &list.items()[g.interaction()];
            if k.kind == Kind::Contact {
                let mut gap = [0.0];
                system.position(k, t, q, &mut gap);
                let row = &self.full.coupling().values(g.block as usize)[..k.dofs.len()];
                self.full.c[g.row()] = gap[0] / scale - k.row_times(row, v);
            }
        }
    }

    /// Forgets all rows: nothing takes part.
    pub(super) fn forget_rows(&mut self) {
        if !self.groups.is_empty() {
            self.full.clear_blocks();
            self.groups.clear();
            self.chi.clear();
            (self.rows_version, self.contacts) = (0, 0);
        }
    }

    /// Room for all candidates of a list at once, for schemes in which few of them take part at first.
    pub(super) fn reserve(&mut self, list: &Candidates) {
        if self.reserved_for != list.version() {
            self.reserved_for = list.version();
            self.make_room(list, None, 1.0);
            let rows = list.components();
            for rows_of in [&mut self.r, &mut self.gamma] {
                capacity::reserve(rows_of, rows);
            }
        }
    }

    /// Room for the active interactions of a step.
    fn make_room(&mut self, list: &Candidates, active: Option<&[bool]>, dt: f64) {
        let (mut groups, mut rows, mut blocks, mut dofs, mut values) = (0, 0, 0, 0, 0);
        for (i, k) in list.items().iter().enumerate() {
            if !active.is_none_or(|a| a[i]) {
                continue;
            }
            groups += 1;
            rows += k.dim();
            k.law.percussion_sets(k.dim(), dt, |set| {
                blocks += 1;
                dofs += k.dofs.len();
                values += set.dim() * k.dofs.len();
            });
        }
        capacity::reserve(&mut self.groups, groups);
        capacity::reserve(&mut self.chi, rows);
        self.full.reserve_blocks(blocks, rows, dofs, values);
    }

    /// Keeps the percussions of the rows as they are for the next [`Self::warm_start`], or none.
    pub(super) fn keep_percussions(&mut self, list: Option<&Candidates>) {
        self.kept.clear();
        let Some(list) = list else { return };
        capacity::resize(&mut self.kept, list.components(), f64::NAN);
        for g in &self.groups {
            let range = list.range(g.interaction());
            self.kept[range.clone()].copy_from_slice(&self.r[g.row()..g.row() + range.len()]);
        }
    }

    /// Percussions that were kept, or of the step before, as start guess.
    pub(super) fn warm_start(&mut self, start: &State, candidates: &Candidates) {
        capacity::resize(&mut self.r, self.chi.len(), 0.0);
        for g in &self.groups {
            let k = &candidates.items()[g.interaction()];
            let r = &mut self.r[g.row()..g.row() + k.dim()];
            let kept = if self.kept.is_empty() { &[] } else { &self.kept[candidates.range(g.interaction())] };
            if kept.first().is_some_and(|p| !p.is_nan()) {
                r.copy_from_slice(kept);
                continue;
            }
            match start.percussions.at(g.interaction(), k.id) {
                Some(p) if p.len() == k.dim() => r.copy_from_slice(p),
                _ => r.fill(0.0),
            }
        }
    }

    /// Percussions of a finished step, for looking at it again.
    pub(super) fn take_percussions(&mut self, step: &Step) {
        self.gather(&step.candidates, step.end.percussions.values());
    }

    /// Percussions from values by component of the candidates.
    pub(super) fn gather(&mut self, list: &Candidates, values: &[f64]) {
        capacity::resize(&mut self.r, self.chi.len(), 0.0);
        for g in &self.groups {
            let range = list.range(g.interaction());
            self.r[g.row()..g.row() + range.len()].copy_from_slice(&values[range]);
        }
    }

    /// Percussions to values by component of the candidates; zero for those that take no part.
    pub(super) fn scatter(&self, list: &Candidates, values: &mut [f64]) {
        values.fill(0.0);
        for g in &self.groups {
            let range = list.range(g.interaction());
            values[range.clone()].copy_from_slice(&self.r[g.row()..g.row() + range.len()]);
        }
    }

    /// Interactions that take part, each with its blocks and its first row.
    pub(super) fn parts(&self) -> impl Iterator<Item = (usize, std::ops::Range<usize>, usize)> + '_ {
        self.groups.iter().enumerate().map(|(g, group)| (group.interaction(), self.blocks(g), group.row()))
    }

    /// Solves the one-step problem into `r` and `v`.
    pub(super) fn solve(
        &mut self,
        system: &Evaluator,
        solve: &mut Solve,
        work: &mut StepReport,
    ) -> Result<(), Failure> {
        self.v.resize(self.h.len(), 0.0);
        let report = self.full.solve(solve.solver.as_mut(), &solve.options, &mut self.r, &mut self.v);
        work.take(&report, self.full.reduced());
        if let (Status::Singular, Some(row)) = (report.status, report.row) {
            return Err(self.singular(system, row));
        }
        if report.status == Status::NotFinite || !all_finite(&self.full.f) {
            return Err(Failure::NotFinite { what: "the equation of motion".into() });
        }
        if !report.solved() {
            return Err(Failure::Solver(report));
        }
        Ok(())
    }

    /// Why M̂ has no factors: something in it is not finite, or it is singular at a velocity.
    pub(super) fn singular(&self, system: &Evaluator, row: usize) -> Failure {
        let mut finite = all_finite(&self.full.f);
        self.full.matrix.for_each_entry(|_, _, v| finite &= v.is_finite());
        if !finite {
            return Failure::NotFinite { what: "the equation of motion".into() };
        }
        Failure::Singular { what: "the iteration matrix", velocity: system.structure().velocities[row].into() }
    }

    /// M(v − u₀) − dt·h − W r into `scratch`; its largest entry beyond rounding, and the size of its terms.
    ///
    /// The velocities themselves are rounded: what M makes of that, a few ε Σ_j |M_ij| |v_j|, is no residual. That is more than ε |M v| where the
    /// momentum of several velocities cancels.
    pub(super) fn dynamics_residual(&mut self, u0: &[f64], v: &[f64], dt: f64) -> (f64, f64) {
        self.residual_with(|work| &work.mass, u0, v, dt)
    }

    /// The same with M̂ for M.
    pub(super) fn linear_residual(&mut self, u0: &[f64], v: &[f64], dt: f64) -> (f64, f64) {
        self.residual_with(|work| &work.full.matrix, u0, v, dt)
    }

    fn residual_with(&mut self, matrix: fn(&Self) -> &Matrix, u0: &[f64], v: &[f64], dt: f64) -> (f64, f64) {
        let n = v.len();
        self.size_vectors();
        let mut scratch = std::mem::take(&mut self.scratch);
        matrix(self).multiply(v, &mut scratch);
        let momentum = max_norm(&scratch);
        matrix(self).multiply(u0, &mut scratch);
        let rounding = 16.0 * f64::EPSILON * momentum.max(max_norm(&scratch));
        for i in 0..n {
            self.v[i] = v[i] - u0[i];
        }
        matrix(self).multiply(&self.v, &mut scratch);
        self.scratch = scratch;
        let mut scale = max_norm(&self.scratch);
        self.v.fill(0.0);
        for b in 0..self.full.blocks().len() {
            let rows = self.rows(b);
            self.full.coupling().add_force(b, &self.r[rows], &mut self.v);
        }
        scale = scale.max(max_norm(&self.v));
        for i in 0..n {
            let force = dt * self.h[i];
            scale = scale.max(force.abs());
            self.scratch[i] -= force + self.v[i];
        }
        let residual = max_norm(&self.scratch);
        let is_rounding =
            residual <= rounding || residual <= NEARLY * scale && residual <= self.rounding_of(matrix, u0, v);
        (if is_rounding { 0.0 } else { residual }, scale)
    }

    /// A few ε max_i Σ_j |M_ij| max(|v_j|, |u_j|).
    fn rounding_of(&mut self, matrix: fn(&Self) -> &Matrix, u0: &[f64], v: &[f64]) -> f64 {
        let mut sums = std::mem::take(&mut self.v);
        sums.fill(0.0);
        matrix(self).for_each_entry(|i, j, m| sums[i] += m.abs() * u0[j].abs().max(v[j].abs()));
        self.v = sums;
        16.0 * f64::EPSILON * max_norm(&self.v)
    }

    /// Blocks of a group.
    #[inline]
    fn blocks(&self, group: usize) -> std::ops::Range<usize> {
        let end = self.groups.get(group + 1).map_or(self.full.blocks().len(), |next| next.block as usize);
        self.groups[group].block as usize..end
    }

    /// Rows of a block.
    #[inline]
    pub(super) fn rows(&self, block: usize) -> std::ops::Range<usize> {
        let first = self.full.blocks()[block].start;
        first..first + self.full.coupling().dim(block)
    }

    /// γ⁺ = Wᵀv + χ of all rows into `gamma`. Returns the largest change against what was there before.
    pub(super) fn velocities_after(&mut self, v: &[f64]) -> f64 {
        let before = self.gamma.len() == self.chi.len();
        if !before {
            self.gamma.clear();
            capacity::resize(&mut self.gamma, self.chi.len(), 0.0);
        }
        let mut change: f64 = 0.0;
        let coupling = self.full.coupling();
        for (b, block) in self.full.blocks().iter().enumerate() {
            let dofs = coupling.dofs(b);
            let mut values = coupling.values(b);
            for row in block.start..block.start + coupling.dim(b) {
                let (w, rest) = values.split_at(dofs.len());
                let mut u = self.chi[row];
                for (&j, w) in dofs.iter().zip(w) {
                    u += w * v[j as usize];
                }
                let gamma = &mut self.gamma[row];
                change = change.max((u - *gamma).abs());
                *gamma = u;
                values = rest;
            }
        }
        if before { change } else { f64::INFINITY }
    }

    /// χ of a row.
    pub(super) fn chi(&self, row: usize) -> f64 {
        self.chi[row]
    }

    /// γ⁺ of all rows, as taken last.
    pub(super) fn after(&self) -> &[f64] {
        &self.gamma
    }

    /// Gives the friction of the `part`-th interaction that takes part another restitution than its law's, or that of its law.
    pub(super) fn set_slip_restitution(&mut self, list: &Candidates, part: usize, e: Option<f64>) {
        let g = self.groups[part];
        let k = &list.items()[g.interaction()];
        let before = &self.before[list.range(g.interaction())];
        for j in usize::from(k.kind == Kind::Contact)..k.dim() {
            let e = e.unwrap_or(k.law.restitution(j));
            self.full.c[g.row() + j] = self.chi[g.row() + j] + e * before[j];
        }
    }

    /// Largest |γ⁺| of the rows.
    pub(super) fn velocity_scale(&self) -> f64 {
        max_norm(&self.gamma)
    }

    /// Forgets γ⁺, so that the next [`Self::velocities_after`] reports a change.
    pub(super) fn forget_velocities(&mut self) {
        self.gamma.clear();
    }

    /// Discrete state of the interaction with these blocks, with γ⁺ as taken last.
    #[inline]
    pub(super) fn sigma(&self, blocks: std::ops::Range<usize>) -> Sigma {
        let mut sigma = Sigma(0);
        let mut bit = 0;
        for b in blocks {
            // ξ = γ⁺ + e γ⁻ decides the mode; c − χ is its second part.
            let rows = self.rows(b);
            let mut xi = [0.0; MAX_DIM];
            for (xi, i) in xi.iter_mut().zip(rows.clone()) {
                *xi = self.gamma[i] + (self.full.c[i] - self.chi[i]);
            }
            let mode = self.full.mode(b, &self.r[rows.clone()], &xi[..rows.len()]);
            for m in [Some(mode.normal), mode.tangential].into_iter().flatten() {
                if bit < 32 {
                    sigma.set(bit, m);
                }
                bit += 1;
            }
        }
        sigma
    }

    /// Percussions, discrete state, γ⁻ and γ⁺ into the step.
    pub(super) fn finish(&mut self, step: &mut Step) {
        step.report.contacts = self.contacts;
        let mut next = 0;
        for (gi, g) in self.groups.iter().enumerate() {
            for i in next..g.interaction() {
                step.set_inactive(i);
            }
            next = g.interaction() + 1;
            let range = step.candidates.range(g.interaction());
            let rows = g.row()..g.row() + range.len();
            let (r, gamma, before) = (&self.r[rows.clone()], &self.gamma[rows], &self.before[range.clone()]);
            let percussions = &mut step.end.percussions.values_mut()[range.clone()];
            let (minus, plus) = (&mut step.gamma_minus[range.clone()], &mut step.gamma_plus[range]);
            for j in 0..r.len() {
                (percussions[j], minus[j], plus[j]) = (r[j], before[j], gamma[j]);
            }
            step.sigma[g.interaction()] = self.sigma(self.blocks(gi));
        }
        for i in next..step.candidates.len() {
            step.set_inactive(i);
        }
    }
}

/// The gap of a contact, which must be finite.
#[inline]
pub(super) fn gap(system: &Evaluator, k: &Interaction, t: f64, q: &[f64]) -> Result<f64, Failure> {
    let mut g = [0.0];
    system.position(k, t, q, &mut g);
    if g[0].is_finite() {
        Ok(g[0])
    } else {
        Err(Failure::NotFinite { what: format!("the gap of contact `{}`", system.name(k.id)) })
    }
}
