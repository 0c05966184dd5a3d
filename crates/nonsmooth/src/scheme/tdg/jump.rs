//! The jump at the end of a step: who takes part, with which restitution, and its percussions on velocity level, (57) and (64), (71).

use super::tableau::{Side, Tableau};
use super::values::Values;
use crate::contract::{Candidates, Evaluator, Interaction, Kind};
use crate::law::{ElementSets, Law};
use crate::scheme::acceleration::still;
use crate::scheme::velocity_level::{ACTIVATION, Restitution, VelocityLevel, gap};
use crate::scheme::{Failure, Solve};
use crate::state::{State, Step, StepReport};
use complementarity::capacity;
use complementarity::linear::dense::all_finite;

/// Workspace of the jump.
#[derive(Default)]
pub(super) struct Jump {
    pub(super) work: Option<Box<VelocityLevel>>,
    /// Who takes part.
    pub(super) included: Vec<bool>,
    /// Restitution by interaction; NaN for those that take no part.
    pub(super) restitution: Vec<f64>,
    /// Velocity after the jump of a contact that comes to rest, m/s.
    pub(super) lift: Vec<f64>,
    /// Whether a contact takes part that was not there before: a collision.
    pub(super) collision: bool,
    matrix_stays: bool,
}

/// Where and when a jump happens.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) tableau: &'a Tableau,
    pub(super) start: &'a State,
    pub(super) dt: f64,
}

impl Place<'_> {
    fn t(&self) -> f64 {
        self.start.t + self.dt
    }

    /// Whether everything acts by percussions alone, as in the Moreau-Jean scheme.
    fn whole(&self) -> bool {
        self.tableau.degree() == 0
    }

    /// Whether γ⁻ is that of the start: D⁺, and degree 0.
    fn takes_start(&self) -> bool {
        self.whole() || self.tableau.side == Side::Plus
    }
}

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

impl Jump {
    pub(super) fn reset(&mut self) {
        self.matrix_stays = false;
    }

    /// Who takes part for sure: joints, contacts with forces at the stages, and in degree 0 elements.
    pub(super) fn begin(&mut self, list: &Candidates, acts: &[bool], place: Place) {
        let n = list.len();
        self.collision = false;
        for values in [&mut self.restitution, &mut self.lift] {
            values.clear();
        }
        self.included.clear();
        self.restitution.resize(n, f64::NAN);
        self.lift.resize(n, 0.0);
        for (i, k) in list.items().iter().enumerate() {
            self.included.push(match k.kind {
                Kind::Joint | Kind::VelocityJoint => true,
                Kind::Element => place.whole(),
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
        place: Place,
    ) -> Result<bool, Failure> {
        let Some(work) = self.work.as_mut() else { return Ok(false) };
        let (list, start, dt, t) = (&step.candidates, place.start, place.dt, place.t());
        let still = still(&values.smooth);
        let mut added = false;
        for (i, k) in list.items().iter().enumerate() {
            if k.kind != Kind::Contact || self.included[i] {
                continue;
            }
            if place.whole() {
                // [Acary2013, (61), (62)]: explicit with γ = 1, or with the velocity without contacts.
                let u = if place.tableau.side == Side::Plus { &values.v } else { &start.u };
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
            let before = normal(t, &values.q_end, &start.u);
            let pull = (before - normal(t, &values.q_end, &values.smooth)) / dt;
            let approach = if place.takes_start() {
                -normal(start.t, &start.q, &start.u)
            } else {
                -normal(t, &values.q_end, values.v(values.n - 1))
            };
            let e = k.law.restitution(0);
            // A flight that is over within a step, or one that is not wanted: the contact comes to rest, at zero gap.
            let short = pull > 0.0 && 2.0 * e * approach <= pull * dt;
            let rest = short || approach <= threshold;
            (self.included[i], self.restitution[i], added) = (true, if rest { 0.0 } else { e }, true);
            let depth = (-distance).max(0.0);
            self.lift[i] = match 2.0 * depth / dt {
                back if short && back <= pull * dt => back,
                _ if short && e > 0.0 => (2.0 * pull * depth).sqrt(),
                _ => 0.0,
            };
            self.collision |= approach > still;
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

    /// The problem of those that take part, from `values` as they are.
    pub(super) fn assemble(&mut self, system: &Evaluator, list: &Candidates, values: &Values, place: Place) {
        let Some(work) = self.work.as_mut() else { return };
        let (t, start) = (place.t(), place.start);
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
        if place.takes_start() {
            work.velocities_before(system, start.t, &start.q, &start.u, list, &self.included);
        } else {
            work.velocities_before(system, t, &values.q_end, values.v(values.n - 1), list, &self.included);
        }
        let mut kinematics = std::mem::take(&mut work.kinematics);
        // Percussions of a jump take no time: forces have acted at the stages.
        let lasts = if place.whole() { place.dt } else { 0.0 };
        work.assemble_blocks(&mut kinematics, system, t, &values.q_end, list, &self.included, lasts);
        work.kinematics = kinematics;
        let full = &mut work.full;
        if self.lift.iter().any(|v| *v != 0.0) {
            let mut c = std::mem::take(&mut full.c);
            work.parts().for_each(|(i, _, row)| c[row] -= self.lift[i]);
            work.full.c = c;
        }
        work.mass.multiply(&values.smooth, &mut work.full.f);
    }

    /// Whether anybody takes part.
    pub(super) fn is_empty(&self) -> bool {
        !self.included.contains(&true)
    }

    /// Whether velocities satisfy all laws without percussions, up to rounding.
    fn is_settled(work: &VelocityLevel, list: &Candidates, values: &Values) -> bool {
        let (u, terms) = (&values.smooth, values.terms);
        work.parts().all(|(i, blocks, row)| {
            let k = &list.items()[i];
            // Friction has nothing to do without a normal percussion.
            let rows = if k.kind == Kind::Contact { row..row + 1 } else { row..row + k.dim() };
            let directions = blocks.flat_map(|b| work.full.coupling().values(b).chunks_exact(k.dofs.len().max(1)));
            rows.zip(directions).all(|(row, w)| {
                let (mut sum, mut size) = (work.full.c[row], work.full.c[row].abs());
                // Velocities are sums of terms that cancel.
                size += terms * w.iter().fold(0.0f64, |m, w| m.max(w.abs()));
                for (&d, w) in k.dofs.iter().zip(w) {
                    let term = w * u[d as usize];
                    (sum, size) = (sum + term, size + term.abs());
                }
                let rounding = 16.0 * f64::EPSILON * size;
                match k.kind {
                    Kind::Contact => sum >= -rounding,
                    Kind::Joint | Kind::VelocityJoint => sum.abs() <= rounding,
                    Kind::Element => false,
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
        place: Place,
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
        self.assemble(system, list, values, place);
        let Some(work) = self.work.as_mut() else { return Ok(()) };
        let rows = work.full.c.len();
        if work.r.len() != rows {
            work.r.clear();
            work.r.resize(rows, 0.0);
        }
        if !place.whole() && Self::is_settled(work, list, values) {
            // Nothing to be done but for rounding.
            work.r.fill(0.0);
            capacity::assign(&mut work.v, &values.smooth);
            values.y.fill(0.0);
            return Ok(());
        }
        work.solve(system, solve, report)?;
        if !all_finite(&work.v) {
            return Err(Failure::NotFinite { what: "the velocity after an impact".into() });
        }
        for ((y, v), s) in values.y.iter_mut().zip(&work.v).zip(&values.smooth) {
            *y = (v - s) / place.dt;
        }
        Ok(())
    }
}
