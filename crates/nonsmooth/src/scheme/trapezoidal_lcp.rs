//! The linearly implicit trapezoidal rule as one LCP per step, with located events [Potra2006, sections 2 and 6 to 8], with the corrections of `docs/errata.md`.
//!
//! **A smooth step** of length h from (t, q, v), with q̇ = B v + β, k the sum of all forces, everything marked ½ at t + h/2, q + (h/2) q̇, and Jacobians at (t+h, q, v)
//! ((2.12)-(2.14), (6.3)-(6.9)):
//!
//! ```text
//! M̃ = M_½ − (h/2) k_v − (h²/4) k_q B
//! k̃ = ½ (k(t,q,v) + k(t+h,q,v) + h k_q q̇)
//! M̃ (v̄ − v) = h k̃ + Σ W_½ P̄,    q̄ = q + h (B_½ (v + v̄)/2 + β_½)
//! −(γ_½(v̄) + s₁) ∈ N_Â(P̄)                        variant I,  (6.12)
//! −(γ_½(v̄) + γ_½(v) + s₁ + s₀) ∈ N_Â(P̄)          variant II, (6.10): the law for the mean velocity
//! ```
//!
//! s₀ and s₁ are zero where directions are constant, and with `laws = "midpoint"`, as the paper prints it. Else they make the laws hold at the ends of the step (`turning.rs`), and joints have the law of
//! variant I in both.
//!
//! for all joints and elements and the contacts that are closed. One linear problem, no Newton iteration. With `facets` generators for the cone of friction in space
//! it is a mixed LCP; without, the cone is the circular one.
//!
//! **Closed contacts** (7.1): gap ≤ max(ε_a, ε_b h³), or a percussion in the smooth step before; not those that separate.
//!
//! **The path** from v to v̄ is the cubic Hermite interpolant of (7.2). Since q̄ belongs to the mean velocity, it is v̂(s) = v + (s/h)(v̄ − v), q̂(s) = q + s (v + v̂)/2: its
//! first part is a step of length s with the coefficients of the whole one and the percussions (s/h) P̄.
//!
//! **Collisions** (7.2), (7.3): the first s at which a gap that is not closed reaches zero along the path, by Brent's method; where forces change in a step by as much as inertia (|M̃ − M| > M on the
//! diagonal) the path between its ends means nothing, and s is sought among steps of their own length instead. The step ends there with (q⁻, v⁻), and with a jump
//! over all contacts that touch, with the laws of contact and friction, joints and elements (impulse sets alone), (7.5)-(7.9):
//!
//! ```text
//! M (v^c − v⁻) = Σ W P^c,   −γ(v^c) ∈ N(P^c)                                                compression
//! M (v⁺ − v⁻) = Σ W (P^c + e n c_n^c + P^x),   −γ(v⁺) ∈ N(P^x)                              Poisson
//! M (v⁺ − v⁻) = Σ W P,       −(γ(v⁺) + e γ(v⁻)) ∈ N(P)                                      Newton
//! ```
//!
//! Contacts of both kinds may meet in one jump. As in (7.9), friction in the decompression is bounded by what c_n^x allows.
//!
//! **Transitions** (§7.5): where the laws of a step leave the mode in which it began (a slip stops or turns, a contact that sticks slips, one that carries opens), the step is solved
//! once more with that mode kept. Along that path the transition is
//!
//! - `events = "continuous"`: the zero of the slip velocity along its direction at the start; of μλ_N − |λ_F|, or of λ_N, where λ are the forces of the laws on acceleration level with the mode
//!   kept (the continuous problem's own event functions);
//! - `events = "basis"`, (7.13)-(7.15): where the basic variables of the kept basis, as functions of the length of the step, lose their sign; forces are means over the step, so that the
//!   transition is taken at half of that length, and at all of it for the slip velocity of variant I.
//!
//! The step ends there: it is made again with that length. The next one starts with the other mode. In a crowd, a group of more than 12 closed contacts that joints, contacts or M̃ couple, or more than 100 in all, transitions are not looked for: in a heap there is one in almost every step.
//!
//! **Many events.** No event ends a step before `min_step` has passed: what happens earlier is resolved at its end. An impact whose flight would be shorter than that (2 e |γ_N⁻| over the
//! acceleration towards contact) or whose approach is below `restitution_threshold` is one with e = 0, so that points of accumulation are passed. After 20 steps in a row that
//! ended at events (2 where more than 12 contacts are closed) the shortest step grows eightfold with every further one: where events are everywhere, as in a heap of discs, the scheme
//! goes on like one that does not locate them.
//!
//! **Paradox.** Where a slipping contact has no force that keeps it slipping (Painlevé), the LCP still has a solution: an impulse without collision. It acts in a step of `min_step`, by variant I.
//!
//! Order 2 in q, v and the multipliers on smooth motion, also between located events. As printed (`laws = "midpoint"`) variant I is of order 1 where joints or contacts turn, since γ_½(v̄) = 0 is not γ(v̄) = 0. Stiff springs and dampers are bounded, not damped (the
//! trapezoidal rule is not L-stable). `jacobians.rs` says which Jacobians keep M̃ positive definite for any step, `definite.rs` what happens where it is not.

mod definite;
mod events;
mod examine;
mod frozen;
mod jacobians;
mod jump;
mod options;
mod predict;
mod record;
mod spd;
mod turning;

pub use options::{Detection, JacobianRule, Laws, Transitions, TrapezoidalLcpOptions, Variant};

pub use record::{TrapezoidalMemory, TrapezoidalStep};

use super::acceleration::Forces;
use super::settings::{Settings, SettingsError};
use super::velocity_level::{Iteration, Restitution, SUPPORTS, VelocityLevel, gap, has_turning_joint};
use super::{Examination, Failure, Order, Scheme, SchemeInfo, Solve};
use crate::contract::{Candidates, Evaluator, Feature, Kind};
use crate::state::{Reason, Record, State, Step};
use complementarity::FullProblem;
use complementarity::linear::dense::{all_finite, max_norm};
use definite::Definite;
use events::{EventFunction, Groups, Start};
use frozen::{Frozen, Hold};
use jump::Jump;
use predict::Predict;

pub(super) static INFO: SchemeInfo = SchemeInfo {
    name: "trapezoidal-lcp",
    summary: "linearly implicit trapezoidal rule: one LCP per step, collisions and transitions located, order 2 through events",
    reference: "Potra2006, (6.10), (6.12), sections 7 and 8",
    position_level: false,
    impact_steps: 1,
    looks_ahead: false,
    adaptive: false,
    variable_step: true,
    stages: 1,
    supports: SUPPORTS.with_friction(2).with(Feature::Poisson),
    options: TrapezoidalLcpOptions::ALL,
    make: |s: &Settings| -> Result<Box<dyn Scheme>, SettingsError> {
        Ok(Box::new(TrapezoidalLcp::new(TrapezoidalLcpOptions::from_settings(s)?)))
    },
};

/// Velocities below this part of 1 + max|u| are none, or below ten times what the solver leaves, if that is more.
const STILL: f64 = 1e-9;

/// The velocity that is none among these.
fn still(u: &[f64], solve: &Solve) -> f64 {
    STILL.max(10.0 * solve.options.tolerance) * (1.0 + max_norm(u))
}

/// A step that forces drive too fast.
fn driven_at(system: &Evaluator, velocity: usize) -> Failure {
    Failure::Driven { velocity: system.structure().velocities[velocity].into() }
}

/// The trapezoidal LCP scheme. See the [module](self).
pub struct TrapezoidalLcp {
    options: TrapezoidalLcpOptions,
    work: Option<Box<VelocityLevel>>,
    predict: Predict,
    definite: Definite,
    frozen: Frozen,
    jump: Jump,
    /// Whether the last problem was that of a jump.
    jumped: bool,
    forces: Option<Forces>,
    starts: Vec<Start>,
    groups: Groups,
    holds: Vec<Hold>,
    watches: Vec<(usize, EventFunction)>,
    suspects: Vec<(usize, EventFunction)>,
    /// Room for a place on the path.
    q: Vec<f64>,
    v: Vec<f64>,
    /// Room for the velocity after a jump, or the end of a path.
    after: Vec<f64>,
    /// The smooth part of a step that is looked at again.
    seen: Step,
    rows: Vec<f64>,
    chi: Vec<f64>,
}

impl TrapezoidalLcp {
    /// With given options; wrong ranges are refused by [`super::make`].
    pub fn new(options: TrapezoidalLcpOptions) -> Self {
        Self {
            options,
            work: None,
            predict: Predict::default(),
            definite: Definite::default(),
            frozen: Frozen::default(),
            jump: Jump::default(),
            jumped: false,
            forces: None,
            starts: Vec::new(),
            groups: Groups::default(),
            holds: Vec::new(),
            watches: Vec::new(),
            suspects: Vec::new(),
            q: Vec::new(),
            v: Vec::new(),
            after: Vec::new(),
            seen: Step::default(),
            rows: Vec::new(),
            chi: Vec::new(),
        }
    }

    fn prepare(&mut self, system: &Evaluator) {
        let (work, fresh) = VelocityLevel::prepare(&mut self.work, system, Iteration::Jacobian);
        if fresh {
            work.facets.clone_from(&self.options.facets);
            work.size_vectors();
            self.predict.reset(system, self.options.jacobian);
            self.frozen.reset();
            self.forces = None;
        }
    }

    /// M̃, k̃ and the rows of a smooth step of length `h`.
    fn assemble(&mut self, system: &Evaluator, start: &State, h: f64, step: &Step, active: &[bool]) {
        let Some(work) = self.work.as_mut() else { return };
        // After an impulse the velocity at the end is what friction has to do with.
        let weight = if step.paradox() { 0.0 } else { self.options.weight() };
        work.restitution = match self.options.laws {
            Laws::Ends => Restitution::AllButJoints(weight),
            Laws::Midpoint => Restitution::All(weight),
        };
        let acceleration = &step.record.of::<TrapezoidalStep>().acceleration;
        self.predict.assemble(system, self.options.jacobian, start, h, acceleration, work);
        let (t, q, list) = (start.t + 0.5 * h, &self.predict.q_mid, &step.candidates);
        work.begin(list);
        work.velocities_before(system, t, q, &start.u, list, active);
        let mut kinematics = std::mem::take(&mut work.kinematics);
        work.assemble_blocks(&mut kinematics, system, t, q, list, active, h);
        work.kinematics = kinematics;
        self.turn(system, start, h, step, weight);
    }

    /// The trial of length `h`: by the laws, or with the modes in `holds` kept. False if that has no solution.
    fn try_step(
        &mut self,
        system: &Evaluator,
        start: &State,
        h: f64,
        held: bool,
        solve: &mut Solve,
        out: &mut Step,
    ) -> Result<bool, Failure> {
        let active = std::mem::take(&mut out.active);
        self.assemble(system, start, h, out, &active);
        out.active = active;
        let Some(work) = self.work.as_mut() else { return Ok(true) };
        if !all_finite(&work.full.f) {
            return Err(Failure::NotFinite { what: "the equation of motion".into() });
        }
        if self.predict.unchecked() {
            let drives = self.definite.drives(&work.full.matrix, &work.mass);
            self.predict.driven = drives.map_err(|at| driven_at(system, at))?;
        }
        let (list, p) = (&out.candidates, &mut self.predict);
        if held {
            let pattern = &system.structure().pattern;
            let into = (&mut p.v, &mut p.p);
            if !self.frozen.solve(pattern, work, list, &self.holds, h, solve, &mut out.report, into)? {
                return Ok(false);
            }
        } else {
            work.warm_start(start, list);
            work.solve(system, solve, &mut out.report)?;
            p.v.clone_from(&work.v);
            p.p.resize(list.components(), 0.0);
            work.scatter(list, &mut p.p);
            work.forget_velocities();
            work.velocities_after(&p.v);
        }
        p.set_position(system, start);
        if !(all_finite(&p.v) && all_finite(&p.q)) {
            return Err(Failure::NotFinite { what: "the state".into() });
        }
        Ok(true)
    }

    /// What the linearisation leaves out of a trial per square of its length, for the next step to remember. In a driven step, and where memory says that it may be
    /// too much, the forces must be those of the linearisation.
    fn follows_forces(&mut self, system: &Evaluator, start: &State) -> Result<f64, Failure> {
        let (driven, square) = (self.predict.driven, self.predict.h * self.predict.h);
        let faded = FADES * start.memory.of::<TrapezoidalMemory>().left_out;
        if !driven && faded * square <= FADES * definite::FORGET_DRIVE_BELOW {
            return Ok(faded);
        }
        let Some(work) = self.work.as_mut() else { return Ok(faded) };
        let (left_out, at) = self.predict.left_out(system, start, work);
        if !(left_out <= definite::MAX_LINEARISATION_ERROR) {
            return Err(driven_at(system, at));
        }
        let least = if driven { definite::MAX_LINEARISATION_ERROR } else { 0.0 };
        Ok(faded.max(left_out.max(least) / square))
    }

    /// Ends the step after `s` of the trial, by its laws.
    fn end_at(&mut self, system: &Evaluator, start: &State, s: f64, out: &mut Step) {
        let whole = s == self.predict.h;
        if let Some(work) = self.work.as_mut() {
            work.finish(out);
        }
        self.note_closed(out);
        out.dt = s;
        out.end.t = start.t + s;
        out.end.memory.make::<TrapezoidalMemory>().length = s;
        if whole {
            out.end.q.clone_from(&self.predict.q);
            out.end.u.clone_from(&self.predict.v);
            return;
        }
        let record: &mut TrapezoidalStep = out.record.make();
        record.full_dt = self.predict.h;
        record.full_velocity.0.clone_from(&self.predict.v);
        let part = s / self.predict.h;
        out.end.percussions.values_mut().iter_mut().for_each(|p| *p *= part);
        self.predict.path(system, start, s, &mut out.end.q, &mut out.end.u);
    }

    /// The jump at the end of the step, if something that touches there approaches.
    fn collide(&mut self, system: &Evaluator, start: &State, solve: &mut Solve, out: &mut Step) -> Result<(), Failure> {
        let (t, dt) = (out.end.t, out.dt);
        let still = still(&out.end.u, solve);
        let (touching, earliest) = (self.options.touching(dt), self.earliest(start));
        let mut hit = false;
        self.jump.touching.clear();
        self.jump.restitution.clear();
        for i in 0..out.candidates.len() {
            let k = &out.candidates.items()[i];
            if k.kind != Kind::Contact {
                self.jump.touching.push(true);
                self.jump.restitution.push(0.0);
                continue;
            }
            let carries = out.active[i] && out.percussion(i)[0] > 0.0;
            let on = carries || gap(system, k, t, &out.end.q)? <= touching;
            self.jump.touching.push(on);
            if !on {
                self.jump.restitution.push(f64::NAN);
                continue;
            }
            let approach = -self.normal_velocity(system, out, i, (t, &out.end.q), &out.end.u);
            // The mean acceleration towards contact, of the gap itself.
            let before = -self.normal_velocity(system, out, i, (start.t, &start.q), &start.u);
            let pull = (approach - before) / dt;
            let e = out.candidates.items()[i].law.restitution(0);
            let slow = approach <= self.options.threshold || approach <= still;
            let short = pull > 0.0 && 2.0 * e * approach < pull * earliest;
            hit |= approach > still && !carries;
            self.jump.restitution.push(if slow || short { 0.0 } else { e });
        }
        if !hit {
            return Ok(());
        }
        let smooth = &mut out.end.memory.make::<TrapezoidalMemory>().smooth;
        smooth.clear();
        smooth.extend_from_slice(out.end.percussions.values());
        let record: &mut TrapezoidalStep = out.record.make();
        record.u_minus.0.clone_from(&out.end.u);
        record.closes = false;
        record.smooth.clone_from(smooth);
        record.active.0.clone_from(&out.active);
        let at = (t, &out.end.q[..], &out.record.of::<TrapezoidalStep>().u_minus[..]);
        let mut report = out.report;
        let facets = &self.options.facets;
        self.jumped = true;
        self.jump.solve(system, facets, at, out, solve, &mut report, &mut self.after)?;
        out.report = report;
        if !all_finite(&self.after) {
            return Err(Failure::NotFinite { what: "the velocity after an impact".into() });
        }
        out.end.u.clone_from(&self.after);
        out.end.percussions.values_mut().iter_mut().zip(&self.jump.p).for_each(|(p, jump)| *p += jump);
        let record: &mut TrapezoidalStep = out.record.make();
        record.restitution.0.clone_from(&self.jump.restitution);
        record.compression.0.clone_from(&self.jump.compression);
        for (active, on) in out.active.iter_mut().zip(&self.jump.touching) {
            *active |= on;
        }
        self.jump.finish(&self.after, out);
        Ok(())
    }

    /// The groups of closed contacts, with M̃ as it is assembled.
    fn group(&mut self, out: &Step) {
        if let Some(work) = self.work.as_ref() {
            self.groups.make(&out.candidates, &self.starts, &out.active, &work.full.matrix);
        }
    }

    /// The shortest step that an event may end, after the events that led here.
    fn earliest(&self, start: &State) -> f64 {
        let more = start.memory.of::<TrapezoidalMemory>().events.saturating_sub(self.groups.max_event_steps()).min(20);
        self.options.min_step * 8f64.powi(more as i32)
    }

    /// γ_N of contact `i` at (t, q).
    fn normal_velocity(&mut self, system: &Evaluator, step: &Step, i: usize, at: (f64, &[f64]), u: &[f64]) -> f64 {
        self.velocity_of(system, step, i, at, u, 0)
    }

    /// Component `j` of the relative velocity of interaction `i` at (t, q).
    fn velocity_of(
        &mut self,
        system: &Evaluator,
        step: &Step,
        i: usize,
        (t, q): (f64, &[f64]),
        u: &[f64],
        j: usize,
    ) -> f64 {
        let k = &step.candidates.items()[i];
        let n = k.dofs.len();
        self.rows.resize(k.dim() * n, 0.0);
        self.chi.resize(k.dim(), 0.0);
        system.velocity(k, t, q, &mut self.rows, &mut self.chi);
        self.chi[j] + k.row_times(&self.rows[j * n..(j + 1) * n], u)
    }
}

impl Scheme for TrapezoidalLcp {
    fn info(&self) -> &'static SchemeInfo {
        &INFO
    }

    fn order(&self) -> Order {
        // Jacobians that leave a part out cost an order where forces have it.
        let smooth = if matches!(self.options.jacobian, JacobianRule::Spd | JacobianRule::Paper) { 1 } else { 2 };
        Order { smooth, impacts: if self.options.detection == Detection::None { 1 } else { smooth } }
    }

    fn advice(&self, list: &Candidates) -> Option<String> {
        let o = &self.options;
        let drifts = match o.variant {
            Variant::I => "velocities across joints that turn are right to first order",
            Variant::II => {
                "errors of velocities across joints that turn at a rate w grow as exp(w t), whatever the step"
            }
        };
        (o.laws == Laws::Midpoint && has_turning_joint(list))
            .then(|| format!("laws = midpoint: {drifts}; laws = ends is of second order"))
    }

    fn remark(&self) -> Option<&'static str> {
        let text = match self.options.jacobian {
            JacobianRule::Auto => return None,
            JacobianRule::Exact => {
                "jacobian = exact: a spring or damper that turns is stiffer than the step resolves, and slows the motion down or drives it; jacobian = auto does not"
            }
            JacobianRule::Spd => {
                "jacobian = spd: a spring or damper that turns is stiffer than the step resolves, and slows the motion down; jacobian = auto does not"
            }
            JacobianRule::Paper => {
                "jacobian = paper: a spring or damper that turns is stiffer than the step resolves, and makes energy, to first order in the step; jacobian = auto does not"
            }
        };
        self.predict.jacobians.unresolved.then_some(text)
    }

    fn step(
        &mut self,
        system: &Evaluator,
        start: &State,
        dt: f64,
        solve: &mut Solve,
        out: &mut Step,
    ) -> Result<(), Failure> {
        out.begin(dt);
        // It tells impulses from forces, in every step.
        out.record.make::<TrapezoidalStep>();
        self.jumped = false;
        self.prepare(system);
        for work in [&mut self.work, &mut self.jump.work].into_iter().flatten() {
            work.reserve(&out.candidates);
        }
        let approaching = self.classify_interactions(system, start, dt, solve, out)?;
        if approaching || Groups::may_crowd(&self.starts) {
            // How short a step may be depends on the groups, and they on M̃.
            let active = std::mem::take(&mut out.active);
            self.assemble(system, start, dt, out, &active);
            out.active = active;
        }
        self.group(out);
        self.accelerate(system, start, solve, out);
        // What approaches at the very start hits at once: in a step that is as short as time allows.
        let many = start.memory.of::<TrapezoidalMemory>().events > self.groups.max_event_steps()
            || self.options.detection == Detection::None;
        let shortest = if many { self.earliest(start) } else { 8.0 * f64::EPSILON * start.t.abs() };
        let h = if approaching { (dt * IMMEDIATE).max(shortest).min(dt) } else { dt };
        self.try_step(system, start, h, false, solve, out)?;
        let left_out = self.follows_forces(system, start)?;
        let found = if approaching { None } else { self.event(system, start, solve, out)? };
        let (s, event) = found.unwrap_or((h, approaching && h < dt));
        self.end_at(system, start, s, out);
        out.end.memory.make::<TrapezoidalMemory>().left_out = left_out;
        if event {
            out.reason = Reason::Event;
            out.end.memory.make::<TrapezoidalMemory>().events =
                start.memory.of::<TrapezoidalMemory>().events.saturating_add(1);
        }
        self.collide(system, start, solve, out)
    }

    fn examine(&mut self, system: &Evaluator, start: &State, step: &Step, asked: Examination) {
        self.evaluate_finished(system, start, step, asked);
    }

    fn records(&self) -> Vec<Box<dyn Record>> {
        vec![Box::<TrapezoidalMemory>::default(), Box::<TrapezoidalStep>::default()]
    }

    fn last_problem(&self) -> Option<&FullProblem> {
        let work = if self.jumped { &self.jump.work } else { &self.work };
        work.as_ref().map(|w| &w.full)
    }

    fn last_included(&self) -> Option<&[bool]> {
        self.jumped.then_some(&self.jump.touching)
    }
}

/// Part of what a step has left out that the next one remembers: a single step may leave out nothing by chance.
const FADES: f64 = 0.25;
/// Part of a step in which what approaches at its start may still move.
const IMMEDIATE: f64 = 1e-12;
