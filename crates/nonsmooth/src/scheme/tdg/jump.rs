//! The jump at the end of a step: who takes part, with which restitution, and its percussions on velocity level, (57) and (64), (71).
//!
//! The law of what was closed at the stages is about all of its percussion in the step, that of its forces included,
//!
//! ```text
//! P̂ = P + S,    S = dt Σ β_l λ_l,    −(γ⁺ + 2 max(g_N, 0)/dt) ∈ N_{C·dt + D}(P̂)
//! ```
//!
//! so that P has either sign while P̂ is one that the law allows: the end of a step puts a closed contact, and friction that sticks, right from both sides. Where friction slips
//! at the end, S_F is that of S_N along the slip there: the forces of the stages keep their own directions.

use super::CROWD;
use super::tableau::{Side, Tableau};
use super::values::Values;
use crate::contract::{Candidates, Evaluator, Interaction, Kind};
use crate::law::{ElementSets, Friction, Law};
use crate::scheme::acceleration::still;
use crate::scheme::velocity_level::{ACTIVATION, Restitution, VelocityLevel, gap};
use crate::scheme::{Failure, Solve};
use crate::state::{State, Step, StepReport};
use complementarity::capacity;
use complementarity::linear::dense::{all_finite, dot, max_norm, norm};

/// Workspace of the jump.
#[derive(Default)]
pub(super) struct Jump {
    pub(super) work: Option<Box<VelocityLevel>>,
    /// Who takes part.
    pub(super) included: Vec<bool>,
    /// Restitution by interaction; NaN for those that take no part.
    pub(super) restitution: Vec<f64>,
    /// Contacts that come to rest with the jump.
    pub(super) lands: Vec<bool>,
    /// S by component.
    pub(super) carried: Vec<f64>,
    /// Interactions whose friction slips at the end.
    slips: Vec<bool>,
    /// −Σ W S.
    pub(super) impulse: Vec<f64>,
    /// Contacts that were closed at the stages.
    pub(super) persists: Vec<bool>,
    /// Length of the step.
    dt: f64,
    /// Interactions that take part, with their first rows.
    parts: Vec<(usize, usize)>,
    /// Whether a contact takes part that was not there before: a collision.
    pub(super) collision: bool,
    /// Whether so many contacts take part that the stages do not see the jump.
    pub(super) crowd: bool,
    matrix_stays: bool,
}

/// Where and when a jump happens.
#[derive(Clone, Copy)]
pub(super) struct StepInput<'a> {
    pub(super) tableau: &'a Tableau,
    pub(super) start: &'a State,
    pub(super) dt: f64,
}

impl StepInput<'_> {
    fn t(&self) -> f64 {
        self.start.t + self.dt
    }

    /// Whether everything acts by percussions alone, as in the Moreau-Jean scheme.
    fn has_percussions_only(&self) -> bool {
        self.tableau.degree() == 0
    }

    /// Velocity before the jump: that of the start for degree 0, else the left limit at the end.
    fn before<'a>(&'a self, values: &'a Values) -> &'a [f64] {
        if self.has_percussions_only() { &self.start.u } else { &values.left }
    }

    /// Whether the stages see the jump: a collision of D⁺, unless in a crowd.
    pub(super) fn is_within(&self, jump: &Jump) -> bool {
        self.tableau.side == Side::Plus && (self.has_percussions_only() || jump.collision && !jump.crowd)
    }
}

/// Part of its bound on which friction that slipped through all stages is, if its direction turned by less than some tenths of a radian.
const SLIPPED: f64 = 0.99;
/// Percussions of elements that differ from a bound by no more than this part of it are on it.
const ON_BOUND: f64 = 1e-12;
/// Gaps up to this part of 1 + max|q| are zero.
const GAP: f64 = 1e-12;

/// Whether an element has impulses at all.
fn has_impulse(k: &Interaction) -> bool {
    match &*k.law {
        Law::Element(law) => match &law.sets {
            ElementSets::Ball { impulse, .. } => *impulse > 0.0,
            ElementSets::Box { impulse, .. } => impulse.iter().any(|b| b.0 != 0.0 || b.1 != 0.0),
        },
        _ => true,
    }
}

/// Whether an element has no impulse besides what its force makes of a step.
fn is_lasting(k: &Interaction) -> bool {
    let Law::Element(law) = &*k.law else { return false };
    match &law.sets {
        ElementSets::Ball { impulse, .. } => *impulse == 0.0,
        ElementSets::Box { force, impulse } => {
            force.iter().zip(impulse).all(|(f, i)| (i.0 == 0.0 || f.0 == i.0) && (i.1 == 0.0 || f.1 == i.1))
        }
    }
}

impl Jump {
    pub(super) fn reset(&mut self) {
        self.matrix_stays = false;
    }

    /// Who takes part for sure: joints, contacts and elements with forces at the stages, and in degree 0 all elements.
    pub(super) fn begin(&mut self, list: &Candidates, acts: &[bool], input: StepInput) {
        let n = list.len();
        self.collision = false;
        self.crowd = false;
        self.restitution.clear();
        self.included.clear();
        capacity::assign(&mut self.persists, acts);
        self.lands.clear();
        self.restitution.resize(n, f64::NAN);
        self.lands.resize(n, false);
        for (i, k) in list.items().iter().enumerate() {
            self.included.push(match k.kind {
                Kind::Joint | Kind::VelocityJoint => true,
                Kind::Element => input.has_percussions_only() || acts[i] && is_lasting(k),
                // A contact that persists has nothing to return.
                Kind::Contact => acts[i],
            });
            if self.included[i] {
                self.restitution[i] = 0.0;
            }
        }
    }

    /// Adds contacts that have closed in the step as it is. Returns whether there are any.
    pub(super) fn select(
        &mut self,
        system: &Evaluator,
        step: &Step,
        values: &Values,
        threshold: f64,
        input: StepInput,
    ) -> Result<bool, Failure> {
        let Some(work) = self.work.as_mut() else { return Ok(false) };
        let (list, start, dt, t) = (&step.candidates, input.start, input.dt, input.t());
        let still = still(&values.smooth);
        let mut added = false;
        for (i, k) in list.items().iter().enumerate() {
            if k.kind != Kind::Contact || self.included[i] {
                continue;
            }
            if input.has_percussions_only() {
                // [Acary2013, (61), (62)]: explicit with γ = 1, or with the velocity without contacts.
                let u = if input.tableau.side == Side::Plus { &values.v } else { &start.u };
                let distance = gap(system, k, start.t, &start.q)?;
                work.velocity_before(system, start.t, &start.q, u, list, i);
                if distance + dt * work.before(list, i)[0] <= ACTIVATION {
                    (self.included[i], self.restitution[i], added) = (true, k.law.restitution(0), true);
                }
                continue;
            }
            let distance = gap(system, k, t, &values.q_end)?;
            if distance > ACTIVATION {
                continue;
            }
            let mut normal = |t: f64, q: &[f64], u: &[f64]| {
                work.velocity_before(system, t, q, u, list, i);
                work.before(list, i)[0]
            };
            // The mean acceleration towards contact, of the gap itself: coordinates that turn, gaps that bend or move have their part in it.
            let pull = (normal(start.t, &start.q, &start.u) - normal(t, &values.q_end, &values.smooth)) / dt;
            let approach = -normal(t, &values.q_end, input.before(values));
            let error = normal(t, &values.q_end, &values.rough) - normal(t, &values.q_end, &values.smooth);
            let e = k.law.restitution(0);
            // A flight that is over within two steps, which do not resolve it, or one that is not wanted: the contact comes to rest.
            let short = pull > 0.0 && e * approach <= pull * dt;
            let rest = short || approach <= threshold;
            (self.included[i], self.restitution[i], added) = (true, if rest { 0.0 } else { e }, true);
            self.lands[i] = approach > 0.0 && self.restitution[i] == 0.0;
            self.collision |= approach > still.max(error.abs());
        }
        if self.collision {
            for (i, k) in list.items().iter().enumerate() {
                if k.kind == Kind::Element && !self.included[i] && has_impulse(k) {
                    (self.included[i], self.restitution[i]) = (true, 0.0);
                }
            }
        }
        Ok(added)
    }

    /// Decides whether those that take part are a crowd.
    pub(super) fn count(&mut self, list: &Candidates) {
        let contacts = list.items().iter().zip(&self.included).filter(|(k, on)| **on && k.kind == Kind::Contact);
        self.crowd = contacts.count() > CROWD;
    }

    /// Takes out a contact that has opened: it keeps the percussion of its forces.
    pub(super) fn leave(&mut self, i: usize) {
        (self.included[i], self.restitution[i], self.lands[i]) = (false, f64::NAN, false);
    }

    /// S of those that take part and act at the stages, from the percussions `smooth` of their forces; those of `rests` have the law of a slip that ends.
    pub(super) fn carry(
        &mut self,
        system: &Evaluator,
        list: &Candidates,
        values: &Values,
        (acts, rests): (&[bool], &[bool]),
        smooth: &[f64],
        input: StepInput,
    ) {
        let Self { work: Some(work), carried, slips, included, .. } = self else { return };
        carried.clear();
        capacity::resize(carried, list.components(), 0.0);
        slips.clear();
        capacity::resize(slips, list.len(), false);
        if input.has_percussions_only() {
            return;
        }
        let still = still(&values.smooth);
        for (i, k) in list.items().iter().enumerate().filter(|(i, _)| acts[*i] && included[*i]) {
            let range = list.range(i);
            let carried = &mut carried[range.clone()];
            carried.copy_from_slice(&smooth[range]);
            let contact = usize::from(k.kind == Kind::Contact);
            let bound = match &*k.law {
                Law::Contact(law) => match &law.friction {
                    Some(Friction::Coulomb { mu } | Friction::Polyhedral { mu, .. }) => mu * carried[0],
                    Some(Friction::Tresca { bound }) => bound * input.dt,
                    None => continue,
                },
                Law::Element(law) => match law.sets {
                    ElementSets::Ball { force, .. } => force * input.dt,
                    ElementSets::Box { .. } => continue,
                },
                Law::Bilateral => continue,
            };
            work.velocity_before(system, input.t(), &values.q_end, &values.smooth, list, i);
            let slip = &work.before(list, i)[contact..];
            let (speed, along) = (norm(slip), &mut carried[contact..]);
            slips[i] = speed > still && dot(slip, along) <= 0.0 && (!rests[i] || norm(along) >= SLIPPED * bound);
            if !slips[i] {
                continue;
            }
            along.iter_mut().zip(slip).for_each(|(f, g)| *f = -bound * g / speed);
            if let Law::Contact(law) = &*k.law
                && let Some(Friction::Polyhedral { polygon, .. }) = &law.friction
            {
                // The corner of the section that dissipates most.
                let mut most = f64::INFINITY;
                for corner in polygon.generators() {
                    let power = dot(corner, slip);
                    if power < most {
                        most = power;
                        along.iter_mut().zip(corner).for_each(|(f, c)| *f = bound * c);
                    }
                }
            }
        }
    }

    /// The problem of those that take part, from `values` as they are.
    pub(super) fn assemble(&mut self, system: &Evaluator, list: &Candidates, values: &Values, input: StepInput) {
        self.dt = input.dt;
        let Some(work) = self.work.as_mut() else { return };
        let (t, start) = (input.t(), input.start);
        let mut normal = match std::mem::take(&mut work.restitution) {
            Restitution::Normal(list) => list,
            _ => Vec::new(),
        };
        normal.clear();
        normal.extend(self.restitution.iter().map(|e| if e.is_nan() { 0.0 } else { *e }));
        work.restitution = Restitution::Normal(normal);
        work.assemble_mass(system, t, &values.q_end);
        if !self.matrix_stays {
            work.full.matrix.clear();
            work.full.matrix.add_scaled(1.0, &work.mass);
            self.matrix_stays = system.structure().constant_mass;
        }
        let at = if input.has_percussions_only() { (start.t, &start.q) } else { (t, &values.q_end) };
        work.velocities_before(system, at.0, at.1, input.before(values), list, &self.included);
        let mut kinematics = std::mem::take(&mut work.kinematics);
        work.assemble_blocks(&mut kinematics, system, t, &values.q_end, list, &self.included, input.dt);
        work.kinematics = kinematics;
        work.mass.multiply(&values.smooth, &mut work.full.f);
        if input.has_percussions_only() {
            return;
        }
        // What persists has nothing to return, and comes no nearer than its gap.
        let parts = &mut self.parts;
        parts.clear();
        parts.extend(work.parts().map(|(i, _, row)| (i, row)));
        for (part, &(i, row)) in parts.iter().enumerate() {
            let k = &list.items()[i];
            match k.kind {
                Kind::Contact if self.persists[i] => {
                    work.set_slip_restitution(list, part, Some(0.0));
                    let mut g = [0.0];
                    system.position(k, t, &values.q_end, &mut g);
                    let rounding = GAP * (1.0 + max_norm(&values.q_end));
                    work.full.c[row] += if g[0] > rounding { 2.0 * g[0] / input.dt } else { 0.0 };
                }
                Kind::Element if !self.collision => work.set_slip_restitution(list, part, Some(0.0)),
                _ => {}
            }
        }
        let impulse = &mut self.impulse;
        impulse.clear();
        capacity::resize(impulse, work.mass.size(), 0.0);
        for (i, blocks, row) in work.parts() {
            let carried = &self.carried[list.range(i)];
            for b in blocks {
                let rows = work.rows(b);
                work.full.coupling().add_force(b, &carried[rows.start - row..rows.end - row], impulse);
            }
        }
        impulse.iter_mut().for_each(|x| *x = -*x);
        work.full.f.iter_mut().zip(&*impulse).for_each(|(f, x)| *f += x);
    }

    /// Whether anybody takes part.
    pub(super) fn is_empty(&self) -> bool {
        !self.included.contains(&true)
    }

    /// Whether velocities satisfy all laws with S for P̂, up to rounding: there is no jump.
    fn is_settled(&self, work: &VelocityLevel, list: &Candidates, values: &Values) -> bool {
        let (u, terms) = (&values.smooth, values.terms);
        work.parts().all(|(i, blocks, row)| {
            let (k, carried) = (&list.items()[i], &self.carried[list.range(i)]);
            let contact = usize::from(k.kind == Kind::Contact);
            let directions = blocks.flat_map(|b| work.full.coupling().values(b).chunks_exact(k.dofs.len().max(1)));
            directions.enumerate().all(|(j, w)| {
                let c = work.full.c[row + j];
                // Velocities are sums of terms that cancel.
                let (mut sum, mut size) = (c, c.abs() + terms * w.iter().fold(0.0f64, |m, w| m.max(w.abs())));
                for (&d, w) in k.dofs.iter().zip(w) {
                    let term = w * u[d as usize];
                    (sum, size) = (sum + term, size + term.abs());
                }
                let rounding = 16.0 * f64::EPSILON * size;
                match &*k.law {
                    Law::Contact(_) if j == 0 && carried[0] <= 0.0 => sum >= -rounding,
                    // Friction has nothing to do without a normal percussion.
                    Law::Contact(law) if j > 0 && carried[0] <= 0.0 => {
                        sum.abs() <= rounding || !matches!(law.friction, Some(Friction::Tresca { .. }))
                    }
                    Law::Element(law) if let ElementSets::Box { force, .. } = &law.sets => {
                        let bound = self.dt * if sum > 0.0 { force[j].0 } else { force[j].1 };
                        sum.abs() <= rounding || (carried[j] - bound).abs() <= ON_BOUND * bound.abs()
                    }
                    _ => sum.abs() <= rounding || j >= contact && self.slips[i],
                }
            })
        })
    }

    /// Velocity after the jump into the workspace, and y; `values` has everything before it.
    pub(super) fn solve(
        &mut self,
        system: &Evaluator,
        list: &Candidates,
        values: &mut Values,
        input: StepInput,
        solve: &mut Solve,
        report: &mut StepReport,
    ) -> Result<(), Failure> {
        if self.is_empty() {
            values.y.fill(0.0);
            if let Some(work) = self.work.as_mut() {
                work.forget_rows();
            }
            return Ok(());
        }
        self.assemble(system, list, values, input);
        let Some(mut work) = self.work.take() else { return Ok(()) };
        let settled = !input.has_percussions_only() && self.is_settled(&work, list, values);
        if settled || work.r.len() != work.full.c.len() {
            work.gather(list, &self.carried);
        }
        let work = self.work.insert(work);
        if settled {
            // Nothing to be done but for rounding.
            capacity::assign(&mut work.v, &values.smooth);
            values.y.fill(0.0);
            return Ok(());
        }
        work.solve(system, solve, report)?;
        if !all_finite(&work.v) {
            return Err(Failure::NotFinite { what: "the velocity after an impact".into() });
        }
        for ((y, v), s) in values.y.iter_mut().zip(&work.v).zip(&values.smooth) {
            *y = (v - s) / input.dt;
        }
        Ok(())
    }
}
