//! What an impact is: the one judgment of a final step that the log, the files, the page and the interpolation of a run ask.
//!
//! A contact or a joint is **hit** in a step if its percussion is more than what finite forces give in the step. In a step of length dt from (t, q, u), with W, χ, h at its
//! start, forces change γ by dt γ̇ at most, where
//!
//! ```text
//! γ̇ = W^T a + (dγ/dt at u̇ = 0),    M a = h(t,q,u) + Σ W λ of joints and elements             along the motion without contacts
//! κ = W^T b + (dγ/dt at u̇ = 0),    M b = h(t,q,u) − h(t,q,0)                                 without the forces at rest: by curvature and motion of the surface
//! δ = max(dt |γ̇|, dt |κ|, G P°_N dt/dt°),     d = dt |W^T b|                                    P°: by the load; d: by the coordinates alone
//! ```
//!
//! (γ̇ and κ are the same in any coordinates, dγ/dt at u̇ = 0 is not: it is zero at a flat wall in x, y and not in r, φ. λ is the smaller one of this step and the one before, so that an
//! impact that passes through a joint is no force.) A contact with P_N > 0 is hit
//!
//! ```text
//! (a)  −γ_N⁻ > 2δ + noise,   and if −γ_N⁻ ≤ 2(δ + d):  G P_N > 2δ + d/2                         it is struck
//! (b)  G Λ > 2δ + noise,     Λ = P − 2 P° dt/dt°,                                              an impulse passes through it
//!      and a contact of the same coupled group is struck; joints likewise, by component
//! ```
//!
//! P° and dt° are percussion and length of the step before: in a stack the weight is carried by percussions ∝ dt and is no impact. (In (a) P° is zero if the contact was hit in that step, and in (b) the load is not in δ.) The factor 2 is for the forces of this step and
//! the one before, in which a contact may have been open. d has to do with (a) where coordinates turn: along a flat wall the velocities of the start
//! approach it by d, and the percussion is next to nothing. `noise` is what the solver left of velocities in this step and the one before, and their rounding. G = W^T M⁻¹ W is bounded from below by
//! (wᵀx)²/(xᵀMx) with x = w/diag M, which is exact where M is diagonal.
//!
//! **What schemes know.** Where a scheme tells impulses from forces (`Record::impulses`) Λ is the percussion of its jump. Then (a) asks for Λ_N > 0 and an approach beyond noise, and without a jump
//! nothing is hit. Where the percussion of one impact is spread over n steps, a contact that carried in the step before is not struck, and what it carries in the n − 1 steps
//! after a hit is the remainder of it. In a paradox of Painlevé (b) alone decides, for all contacts: it is an impulse without approach.

use crate::contract::{Candidates, Evaluator, Interaction, Kind};
use crate::state::{Hit, Impulses, State, Step, bytes};
use complementarity::capacity;
use complementarity::linear::Matrix;
use complementarity::linear::dense::all_finite;

/// The forces of this step and the one before.
const STEPS: f64 = 2.0;
/// The residual of a solver is a norm over all contacts. An approach comes from the step before, whose residual may be some times larger.
const NOISE: f64 = 10.0;
/// Rounding of a sum of products, in ε of its terms.
const ROUNDING: f64 = 16.0 * f64::EPSILON;
/// Part of d that a percussion must exceed. The scheme errs by a smaller one.
const TURNED: f64 = 0.5;

/// Whether a velocity is more than forces that change it by `forces` in a step, or what the solver left unsolved, explain.
#[inline]
pub(crate) fn exceeds(velocity: f64, forces: f64, noise: f64) -> bool {
    velocity > STEPS * forces.abs() + NOISE * noise + f64::EPSILON
}

/// Judges final steps, in their order. See the [module](self).
#[derive(Default)]
pub(crate) struct Judge {
    /// Steps over which the percussion of one impact is spread.
    spread: usize,
    /// Noise and length of the step before.
    noise: f64,
    dt: f64,
    /// Interactions that were hit, in order of identity, and steps since then: in the step before, or while what they carry is the remainder.
    hit: Vec<(u64, usize)>,
    room: Room,
}

// The spread is the scheme's.
bytes!(Judge { noise, dt, hit });

/// Scratch.
#[derive(Default)]
struct Room {
    mass: Option<Matrix>,
    /// Whether `mass` is factored and constant.
    stays: bool,
    /// Whether accelerations are those of this step.
    known: bool,
    /// a and b.
    free: Vec<f64>,
    geometric: Vec<f64>,
    rest: Vec<f64>,
    still: Vec<f64>,
    w: Vec<f64>,
    chi: Vec<f64>,
    rate: Vec<f64>,
    groups: Groups,
}

/// What forces do to a component of γ in a step.
struct Change {
    /// δ without the load.
    forces: f64,
    /// d.
    turned: f64,
    /// Rounding of γ.
    rounding: f64,
    /// G, from below.
    inverse_mass: f64,
}

impl Judge {
    /// For a scheme that spreads the percussion of an impact over this many steps.
    pub(crate) fn new(spread: usize) -> Self {
        Self { spread, ..Self::default() }
    }

    /// Writes into `step` what was hit.
    pub(crate) fn judge(&mut self, system: &Evaluator, start: &State, step: &mut Step) {
        let noise = step.report.noise.max(std::mem::replace(&mut self.noise, step.report.noise));
        let before = std::mem::replace(&mut self.dt, step.dt);
        self.room.known = false;
        let mut hit = std::mem::take(&mut step.hit);
        hit.clear();
        let seen = Seen { system, start, step, noise, ratio: if before > 0.0 { step.dt / before } else { 0.0 } };
        let n = step.candidates.len();
        if step.paradox() {
            for i in (0..n).filter(|&i| seen.carries(i)) {
                if self.room.passes(&seen, i) {
                    mark(&mut hit, n, i, Hit::Struck);
                }
            }
        } else if step.impulses() != Impulses::Absent {
            // What is spread over steps and goes on is no other impact.
            let begins = |i: usize| self.spread <= 1 || !(seen.before(i, 0) > 0.0);
            for i in (0..n).filter(|&i| seen.carries(i) && begins(i)) {
                if self.room.strikes(&seen, i, &self.hit) {
                    mark(&mut hit, n, i, Hit::Struck);
                }
            }
            if !hit.is_empty() {
                self.room.pass_on(&seen, &mut hit);
            }
        }
        self.mark_remainders(step, &mut hit);
        step.hit = hit;
    }

    /// Marks what is left of impacts of the steps before, and keeps those of this one.
    fn mark_remainders(&mut self, step: &Step, hit: &mut Vec<Hit>) {
        let (n, most) = (step.candidates.len(), self.spread.saturating_sub(1));
        self.hit.retain_mut(|(id, steps)| {
            *steps += 1;
            if *steps > most {
                return false;
            }
            let Some(i) = step.end.percussions.place(0, *id) else { return false };
            let carries = step.percussion(i).iter().any(|p| *p != 0.0);
            let goes_on = carries && hit.get(i).is_none_or(|h| *h == Hit::None);
            if goes_on {
                mark(hit, n, i, Hit::Remainder);
            }
            goes_on
        });
        for (k, h) in step.candidates.items().iter().zip(&*hit) {
            if h.is_hit() {
                self.hit.push((k.id, 0));
            }
        }
        self.hit.sort_unstable();
    }
}

fn mark(hit: &mut Vec<Hit>, n: usize, i: usize, what: Hit) {
    if hit.is_empty() {
        capacity::resize(hit, n, Hit::None);
    }
    hit[i] = what;
}

/// A step that is judged.
struct Seen<'a> {
    system: &'a Evaluator<'a>,
    start: &'a State,
    step: &'a Step,
    noise: f64,
    /// dt/dt°.
    ratio: f64,
}

impl Seen<'_> {
    fn list(&self) -> &Candidates {
        &self.step.candidates
    }

    /// Whether it is a contact with a percussion.
    fn carries(&self, i: usize) -> bool {
        self.list().items()[i].kind == Kind::Contact && self.step.active[i] && self.step.percussion(i)[0] > 0.0
    }

    /// P° of a component.
    fn before(&self, i: usize, j: usize) -> f64 {
        let id = self.list().items()[i].id;
        self.start.percussions.at(i, id).and_then(|p| p.get(j)).map_or(0.0, |p| *p)
    }

    /// |Λ| of a component, or less than zero.
    fn impulse(&self, i: usize, j: usize) -> f64 {
        let p = self.step.percussion(i)[j];
        match self.step.smooth().get(self.list().range(i).start + j) {
            Some(smooth) => (p - smooth).abs(),
            None => p.abs() - STEPS * self.ratio * self.before(i, j).abs(),
        }
    }
}

impl Room {
    /// (a), after a step that hit `earlier`.
    fn strikes(&mut self, seen: &Seen, i: usize, earlier: &[(u64, usize)]) -> bool {
        let step = seen.step;
        let first = step.candidates.range(i).start;
        let approach = -step.gamma_minus[first];
        if !exceeds(approach, 0.0, seen.noise) {
            return false;
        }
        let (p, apart) = (step.percussion(i)[0], step.impulses() == Impulses::Apart);
        if apart && !(p > step.smooth()[first]) {
            return false;
        }
        self.rows(seen, i);
        let Change { forces, turned, rounding, inverse_mass } = self.change(seen, i, 0);
        let noise = seen.noise + rounding / NOISE;
        if apart {
            return exceeds(approach, 0.0, noise);
        }
        let id = step.candidates.items()[i].id;
        let was_hit = earlier.binary_search_by_key(&id, |(id, _)| *id).is_ok();
        let load = if was_hit { 0.0 } else { inverse_mass * seen.ratio * seen.before(i, 0) };
        let forces = forces.max(load);
        exceeds(approach, forces + turned, noise)
            || exceeds(approach, forces, noise) && inverse_mass * p > STEPS * forces + TURNED * turned
    }

    /// (b), for what a contact or joint carries.
    fn passes(&mut self, seen: &Seen, i: usize) -> bool {
        let k = &seen.list().items()[i];
        let components = if k.kind == Kind::Contact { 0..1 } else { 0..k.dim() };
        let mut rows = false;
        for j in components {
            let impulse = seen.impulse(i, j);
            if !(impulse > 0.0) {
                continue;
            }
            if !std::mem::replace(&mut rows, true) {
                self.rows(seen, i);
            }
            let Change { forces, rounding, inverse_mass, .. } = self.change(seen, i, j);
            if exceeds(inverse_mass * impulse, forces, seen.noise + rounding / NOISE) {
                return true;
            }
        }
        false
    }

    /// Marks what impulses of the contacts that are struck pass through.
    fn pass_on(&mut self, seen: &Seen, hit: &mut [Hit]) {
        let items = seen.list().items();
        let mut groups = std::mem::take(&mut self.groups);
        groups.couple(seen);
        for i in (0..hit.len()).filter(|&i| hit[i] == Hit::Struck) {
            groups.strike(&items[i], i);
        }
        for (i, k) in items.iter().enumerate() {
            let joint = matches!(k.kind, Kind::Joint | Kind::VelocityJoint);
            if hit[i] != Hit::None || !(joint || seen.carries(i)) {
                continue;
            }
            if let Some(by) = groups.struck(k)
                && self.passes(seen, i)
            {
                hit[i] = Hit::Passed { by };
            }
        }
        self.groups = groups;
    }

    /// W^T, χ and the rates of an interaction at the start.
    fn rows(&mut self, seen: &Seen, i: usize) {
        let (k, s) = (&seen.list().items()[i], seen.start);
        self.evaluate(seen, k);
        capacity::resize(&mut self.rate, k.dim(), 0.0);
        seen.system.velocity_rate(k, s.t, &s.q, &s.u, &mut self.rate);
    }

    fn evaluate(&mut self, seen: &Seen, k: &Interaction) {
        capacity::resize(&mut self.w, k.dim() * k.dofs.len(), 0.0);
        capacity::resize(&mut self.chi, k.dim(), 0.0);
        seen.system.velocity(k, seen.start.t, &seen.start.q, &mut self.w, &mut self.chi);
    }

    /// What forces do to component `j` of the interaction whose rows are there.
    fn change(&mut self, seen: &Seen, i: usize, j: usize) -> Change {
        if !std::mem::replace(&mut self.known, true) {
            // The rows are those of others then.
            self.accelerations(seen);
            self.rows(seen, i);
        }
        let k = &seen.list().items()[i];
        let n = k.dofs.len();
        let w = &self.w[j * n..(j + 1) * n];
        let along = |a: &[f64]| k.row_times(w, a);
        let (dt, rate, turned) = (seen.step.dt, self.rate[j], along(&self.geometric));
        let terms = k.dofs.iter().zip(w).map(|(&d, w)| (w * seen.start.u[d as usize]).abs());
        let rounding = ROUNDING * (terms.sum::<f64>() + self.chi[j].abs());
        let forces = dt * (rate + along(&self.free)).abs().max((rate + turned).abs());
        let inverse_mass = self.mass.as_ref().map_or(0.0, |m| inverse_mass(m, &k.dofs, w));
        Change { forces, turned: dt * turned.abs(), rounding, inverse_mass }
    }

    /// a and b.
    fn accelerations(&mut self, seen: &Seen) {
        let (system, s) = (seen.system, seen.start);
        let structure = system.structure();
        let nu = structure.nu();
        for a in [&mut self.free, &mut self.geometric, &mut self.rest, &mut self.still] {
            a.clear();
            capacity::resize(a, nu, 0.0);
        }
        if !self.stays {
            let mass = self.mass.get_or_insert_with(|| Matrix::new(&structure.mass_pattern));
            mass.clear();
            system.mass(s.t, &s.q, mass);
            if mass.factor().is_err() {
                return;
            }
            self.stays = structure.constant_mass;
        }
        system.forces(s.t, &s.q, &s.u, &mut self.free);
        self.geometric.copy_from_slice(&self.free);
        system.forces(s.t, &s.q, &self.still, &mut self.rest);
        // A force that has no value at rest is none of rest.
        if all_finite(&self.rest) {
            self.geometric.iter_mut().zip(&self.rest).for_each(|(b, rest)| *b -= rest);
        }
        self.add_loads(seen);
        let Some(mass) = &self.mass else { return };
        mass.solve(&mut self.free);
        mass.solve(&mut self.geometric);
    }

    /// Adds the forces of joints and elements.
    fn add_loads(&mut self, seen: &Seen) {
        for (i, k) in seen.list().items().iter().enumerate() {
            if k.kind == Kind::Contact {
                continue;
            }
            self.evaluate(seen, k);
            let p = seen.step.smooth().get(seen.list().range(i)).unwrap_or(seen.step.percussion(i));
            for (j, (&p, w)) in p.iter().zip(self.w.chunks_exact(k.dofs.len().max(1))).enumerate() {
                let scaled = seen.ratio * seen.before(i, j);
                let smaller = if seen.ratio > 0.0 && scaled.abs() < p.abs() { scaled } else { p };
                for (&d, w) in k.dofs.iter().zip(w) {
                    self.free[d as usize] += w * smaller / seen.step.dt;
                }
            }
        }
    }
}

/// w^T M⁻¹ w from below.
fn inverse_mass(mass: &Matrix, dofs: &[u32], w: &[f64]) -> f64 {
    let x = |i: usize| w[i] / mass.get(dofs[i] as usize, dofs[i] as usize);
    let (mut along, mut energy) = (0.0, 0.0);
    for i in 0..dofs.len() {
        along += w[i] * x(i);
        for j in 0..dofs.len() {
            energy += x(i) * mass.get(dofs[i] as usize, dofs[j] as usize) * x(j);
        }
    }
    if energy > 0.0 { along * along / energy } else { 0.0 }
}

/// Velocities that M and interactions which act couple.
#[derive(Default)]
struct Groups {
    /// Parents of velocities by M alone; made once.
    by_mass: Vec<u32>,
    parent: Vec<u32>,
    /// A contact that is struck, by root; none: `u32::MAX`.
    by: Vec<u32>,
}

fn root(parent: &mut [u32], i: u32) -> u32 {
    let mut i = i as usize;
    while parent[i] as usize != i {
        parent[i] = parent[parent[i] as usize];
        i = parent[i] as usize;
    }
    i as u32
}

fn join(parent: &mut [u32], a: u32, b: u32) {
    let (a, b) = (root(parent, a), root(parent, b));
    parent[a.max(b) as usize] = a.min(b);
}

impl Groups {
    /// The groups of a step.
    fn couple(&mut self, seen: &Seen) {
        let structure = seen.system.structure();
        let nu = structure.nu();
        if self.by_mass.len() != nu {
            self.by_mass = (0..nu as u32).collect();
            let parent = &mut self.by_mass;
            structure.mass_pattern.for_each_clique(|dofs| {
                dofs.windows(2).for_each(|pair| join(parent, pair[0] as u32, pair[1] as u32));
            });
        }
        capacity::assign(&mut self.parent, &self.by_mass);
        self.by.clear();
        capacity::resize(&mut self.by, nu, u32::MAX);
        for (i, k) in seen.list().items().iter().enumerate() {
            let acts = seen.step.active[i] && seen.step.percussion(i).iter().any(|p| *p != 0.0);
            if acts {
                k.dofs.windows(2).for_each(|pair| join(&mut self.parent, pair[0], pair[1]));
            }
        }
    }

    fn strike(&mut self, k: &Interaction, i: usize) {
        if let Some(&d) = k.dofs.first() {
            let place = &mut self.by[root(&mut self.parent, d) as usize];
            *place = (*place).min(i as u32);
        }
    }

    /// The first contact of the group that is struck.
    fn struck(&mut self, k: &Interaction) -> Option<usize> {
        let by = self.by[root(&mut self.parent, *k.dofs.first()?) as usize];
        (by != u32::MAX).then_some(by as usize)
    }
}
