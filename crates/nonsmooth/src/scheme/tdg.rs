//! Time discontinuous Galerkin schemes D⁻ and D⁺ of degree M = 0..8 [Schindler2014, Problems 3.1 and 3.2], with the corrections of `docs/errata.md`, for any system.
//!
//! Velocities are polynomials of degree M in a step, continuous but for one jump: at its right end (D⁻, `tdg-minus`) or at its left end (D⁺, `tdg-plus`). With
//! M + 1 Chebyshev points c_l, t_l = t + c_l dt, and the weights β, b, a, κ of `tdg/tableau.rs`, a step from (q, u) is
//!
//! ```text
//! M(t_l,q_l) a_l = h(t_l,q_l,v_l) + Σ W(t_l,q_l) λ_l                        laws on acceleration level, for closed interactions
//! v_l = u + dt Σ_k a_lk a_k + κ_l M⁻¹ Σ W P                                 (69), (70), (74);  κ = 0 for D⁻
//! q_l = q + dt Σ_k b_lk (B v + β)(t_k, q_k, v_k)                            (67), (72)
//! q⁺ = q_M, on the gaps of closed contacts                                  (68), (73); `tdg/projection.rs`
//! u⁺ = u + dt Σ_k β_k a_k + M⁻¹ Σ W P                                       (71), (75);  M, W at (t + dt, q⁺)
//! −(γ⁺ + e γ⁻) ∈ N_{C·dt + D}(P + dt Σ_k β_k λ_k)                           velocity level, for closed interactions; `tdg/jump.rs`
//! ```
//!
//! (for a body that turns in space with its local coordinates about q, q_l = q ⊕ dt Σ b_lk T_k⁻¹v_k: `contract/chart.rs`), so that forces λ and percussions P are told apart. D⁻ is a pair of Lobatto III and IIIA for M ≤ 2, D⁺ of IIIC and IIIA. The stages of D⁺ see P in the step of a collision
//! alone, unless more than 12 contacts take part in it: what else is put right at the end of a step acts there. For M = 0, q⁺ is q + dt (B v + β).
//!
//! **Closed** are joints and elements; a contact at the stages if the step before left it closed (at rest, with a percussion or without approach), or at the start of a run if g_N ≤ ε and γ_N = 0: this set is frozen for
//! the step. At the end also contacts with g_N(t + dt, q_M) ≤ ε: these collide. γ⁻ is the left limit at the end: the velocity of the last stage for D⁻, u + dt Σ β a without any percussion for D⁺.
//!
//! **Closed contacts stay closed.** Their forces hold γ̇_N = 0 at the stages, so that γ_N and g_N are off at the end by the error of the scheme, with either sign. The law at the end is about the whole percussion
//! of the step, dt Σ β λ + P: P pulls as well as it pushes, while the whole is not negative. Friction that sticks is held likewise. The position is projected onto all gaps at once with the same test, so that
//! a contact opens where what it carried cannot hold it; then it keeps the percussion of its forces. A closed contact has no restitution and is no collision.
//!
//! **Laws at the stages** are those of `acceleration.rs`. Where friction slips at the start, in the direction of the slip at the stage. If it would turn round in the step (γ_F⁺·γ_F ≤ 0), the step is
//! made again with the law −(γ̇_F + γ_F/dt) ∈ N(λ_F), where γ_F is that of the start: it stops the slip within the step, or turns it where the cone does not hold it. Where more than 12 contacts with friction are
//! closed that law is taken for all of them, so that the problems stay symmetric.
//!
//! **Restitution** is for contacts that collide. One whose flight would be shorter than two steps, e |γ_N⁻| ≤ dt p, where dt p is by how much ġ_N fell in the step, comes to rest, and so does one with e = 0: the law of the jump
//! and the projection put it and all closed contacts at zero gap together. So the accumulation of impacts ends, on one corner or on many, and nothing sinks. An approach below the scheme's own error, by which
//! the polynomial of the velocity jumps in smooth motion, is no collision.
//!
//! **Degree 0** has no forces at the stage: P acts for the whole step, with sets C·dt + D. That is the Moreau-Jean scheme, θ = 0 with the explicit forecast γ = 1 for D⁻, θ = 1
//! with the free forecast for D⁺ (where M is constant: the Moreau-Jean scheme divides P by the M of its forces).
//!
//! **Stages are solved** by a fixed point while it contracts (one sweep leaves less than half of the change), else by Newton's method for all of them (`tdg/newton.rs`), until velocities and positions change
//! by no more than `newton_tol` of what they change in the step. They begin with the polynomial of the step before, continued. D⁻ of degree 1 is explicit.
//!
//! **Stiff forces.** With (67) neither D⁻ nor D⁺ is stable for steps that are long beside a period: on an oscillator the positions of D⁺ of degree 1 are those of the explicit leapfrog. So D⁺ takes the weights a for
//! positions too (`position`) where the largest eigenvalue of M⁻¹(dt² h_q B + dt h_u), by some steps of a power iteration, exceeds (1 + M/2)²: then it is Lobatto IIIC for both for M ≤ 2, and stable for
//! any step.
//!
//! Order at step ends: 2, 4, 4, 6, 6 for M = 1..5, in smooth motion and while contacts stay closed, on gaps that bend and move, with friction that slides; between step ends M + 1 in u. Order 1 through impacts.

mod examine;
mod finish;
mod iterate;
mod jump;
mod newton;
mod options;
mod projection;
mod record;
mod stiffness;
mod tableau;
mod values;

pub use options::{Position, TdgOptions};
pub use tableau::{MAX_DEGREE, Side, Tableau};

pub use record::{TdgMemory, TdgStep};

use super::acceleration::{Forces, still};
use super::settings::{Settings, SettingsError};
use super::velocity_level::{ACTIVATION, Iteration, SUPPORTS, VelocityLevel, gap};
use super::{Examination, Failure, Order, Scheme, SchemeInfo, Solve};
use crate::contract::{Evaluator, Kind};
use crate::law::{ElementSets, Law};
use crate::polynomial::lagrange;
use crate::state::{Record, State, Step};
use complementarity::linear::dense::{all_finite, dot, norm};
use complementarity::{FullProblem, capacity};
use jump::{Jump, StepInput};
use newton::Newton;
use projection::Projection;
use stiffness::Stiffness;
use values::Values;

pub(super) static MINUS: SchemeInfo = SchemeInfo {
    name: "tdg-minus",
    summary: "time discontinuous Galerkin D-, velocities of degree M that jump at step ends; forces on acceleration, impacts on velocity level",
    reference: "Schindler2014, Problem 3.2",
    position_level: false,
    impact_steps: 1,
    looks_ahead: false,
    adaptive: false,
    variable_step: true,
    stages: 1,
    supports: SUPPORTS,
    options: options::MINUS,
    make: |s: &Settings| make(Side::Minus, s),
};

pub(super) static PLUS: SchemeInfo = SchemeInfo {
    name: "tdg-plus",
    summary: "time discontinuous Galerkin D+, velocities of degree M that jump at step starts; implicit, stable for stiff forces",
    reference: "Schindler2014, Problem 3.1",
    options: options::PLUS,
    make: |s: &Settings| make(Side::Plus, s),
    ..MINUS
};

fn make(side: Side, s: &Settings) -> Result<Box<dyn Scheme>, SettingsError> {
    Ok(Box::new(Tdg::new(TdgOptions::from_settings(side, s)?)))
}

/// Closed contacts with friction beyond which the law of a slip that ends is taken for all of them.
const CROWD: usize = 12;

/// A time discontinuous Galerkin scheme. See the [module](self).
pub struct Tdg {
    options: TdgOptions,
    tableau: Tableau,
    /// ℓ_k(1 + c_l): the polynomial of the step before at the stages.
    ahead: Vec<f64>,
    values: Values,
    forces: Vec<Forces>,
    jump: Jump,
    projection: Projection,
    /// Percussions of the forces, by component.
    smooth: Vec<f64>,
    /// Without a jump that the stages see, and with one.
    newton: [Option<Box<Newton>>; 2],
    /// γ at the start by component; zero where it is not needed.
    gamma: Vec<f64>,
    /// Forces to begin with, by component: the means of the step before.
    begin: Vec<f64>,
    acts: Vec<bool>,
    rests: Vec<bool>,
    /// Contacts that the step leaves closed.
    held: Vec<bool>,
    /// h_q B dt² + h_u dt and M at the start, and two vectors.
    stiffness: Option<Box<Stiffness>>,
    /// The stage whose problem is being solved: it stays if that fails.
    at_stage: Option<usize>,
    examined: examine::ExamineScratch,
}

impl Tdg {
    /// With given options; wrong ranges are refused by [`super::make`].
    pub fn new(options: TdgOptions) -> Self {
        let tableau = Tableau::new(options.side, options.degree);
        let n = tableau.stages();
        let ahead = (0..n * n).map(|i| lagrange(&tableau.c, i % n, 1.0 + tableau.c[i / n])).collect();
        Self {
            options,
            tableau,
            ahead,
            values: Values::default(),
            forces: Vec::new(),
            jump: Jump::default(),
            projection: Projection::default(),
            smooth: Vec::new(),
            newton: [None, None],
            gamma: Vec::new(),
            begin: Vec::new(),
            acts: Vec::new(),
            rests: Vec::new(),
            held: Vec::new(),
            stiffness: None,
            at_stage: None,
            examined: examine::ExamineScratch::default(),
        }
    }

    /// The weights.
    pub fn tableau(&self) -> &Tableau {
        &self.tableau
    }

    fn prepare(&mut self, system: &Evaluator) {
        let (work, fresh) = VelocityLevel::prepare(&mut self.jump.work, system, Iteration::Mass);
        if fresh {
            work.size_vectors();
            self.forces.clear();
            self.forces.extend((0..self.tableau.stages()).map(|_| Forces::new(system)));
            self.values.size(self.tableau.stages(), system);
            self.newton = [None, None];
            self.stiffness = None;
            self.jump.reset();
            self.projection.reset();
        }
    }

    /// Finds which interactions act at the stages, and which of them stick.
    fn classify_interactions(&mut self, system: &Evaluator, start: &State, step: &Step) -> Result<(), Failure> {
        let Some(work) = self.jump.work.as_mut() else { return Ok(()) };
        let list = &step.candidates;
        work.begin(list);
        self.gamma.clear();
        capacity::resize(&mut self.gamma, list.components(), 0.0);
        self.begin.clear();
        capacity::resize(&mut self.begin, list.components(), 0.0);
        let before: &TdgMemory = start.memory.of();
        let length = before.length;
        if length > 0.0 {
            for (i, k) in list.items().iter().enumerate() {
                if let Some(p) = start.percussions.at(i, k.id).filter(|p| p.len() == k.dim()) {
                    let force = p.iter().map(|p| p / length);
                    self.begin[list.range(i)].iter_mut().zip(force).for_each(|(b, f)| *b = f);
                }
            }
        }
        // Nothing is left of other steps.
        self.forces.iter_mut().for_each(|f| f.r.clear());
        work.r.clear();
        self.acts.clear();
        capacity::resize(&mut self.acts, list.len(), false);
        self.rests.clear();
        capacity::resize(&mut self.rests, list.len(), false);
        if self.tableau.degree() == 0 {
            return Ok(());
        }
        let still = still(&start.u);
        let mut frictional = 0;
        for (i, k) in list.items().iter().enumerate() {
            let contact = k.kind == Kind::Contact;
            if matches!(k.kind, Kind::Joint | Kind::VelocityJoint) {
                self.acts[i] = true;
                continue;
            }
            let place = start.percussions.place(i, k.id);
            let held = contact && place.and_then(|at| before.held.get(at)) == Some(&true);
            if contact && !held && gap(system, k, start.t, &start.q)? > ACTIVATION {
                continue;
            }
            work.velocity_before(system, start.t, &start.q, &start.u, list, i);
            let gamma = work.before(list, i);
            if contact && !held && gamma[0].abs() > still {
                continue;
            }
            self.acts[i] = true;
            let slip = &gamma[usize::from(contact)..];
            self.rests[i] = norm(slip) <= still;
            frictional += usize::from(contact && k.dim() > 1);
            self.gamma[list.range(i)].copy_from_slice(gamma);
        }
        if frictional > CROWD {
            for (i, k) in list.items().iter().enumerate() {
                self.rests[i] |= self.acts[i] && k.kind == Kind::Contact;
            }
        }
        Ok(())
    }

    /// Whether a slip has turned round, so that the step is to be made again with it at rest.
    fn has_turned(&mut self, system: &Evaluator, start: &State, step: &Step) -> bool {
        let Some(work) = self.jump.work.as_mut() else { return false };
        let (list, t) = (&step.candidates, start.t + step.dt);
        let still = still(&start.u);
        let mut turned = false;
        for (i, k) in list.items().iter().enumerate() {
            let skip = usize::from(k.kind == Kind::Contact);
            let frictional = matches!(k.kind, Kind::Contact | Kind::Element) && k.dim() > skip;
            if !(self.acts[i] && frictional) || self.rests[i] {
                continue;
            }
            work.velocity_before(system, t, &self.values.q_end, &self.values.smooth, list, i);
            let (before, after) = (&self.gamma[list.range(i)][skip..], &work.before(list, i)[skip..]);
            let boxed = matches!(&*k.law, Law::Element(law) if matches!(law.sets, ElementSets::Box { .. }));
            self.rests[i] = if boxed {
                before.iter().zip(after).any(|(a, b)| a.abs() > still && a * b < 0.0)
            } else {
                dot(before, after) <= 0.0
            };
            turned |= self.rests[i];
        }
        turned
    }

    /// Takes the law of a slip that ends for everything. False if that is so already.
    fn rest_all(&mut self, step: &Step) -> bool {
        let mut changed = false;
        for (i, k) in step.candidates.items().iter().enumerate() {
            if self.acts[i] && !self.rests[i] && matches!(k.kind, Kind::Contact | Kind::Element) {
                self.rests[i] = true;
                changed = true;
            }
        }
        changed
    }
}

impl Scheme for Tdg {
    fn info(&self) -> &'static SchemeInfo {
        match self.options.side {
            Side::Minus => &MINUS,
            Side::Plus => &PLUS,
        }
    }

    fn order(&self) -> Order {
        let m = self.tableau.degree() as u32;
        let smooth = if m == 0 { 1 } else { m + 1 + u32::from(m.is_multiple_of(2)) };
        Order { smooth, impacts: 1 }
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
        self.prepare(system);
        self.classify_interactions(system, start, out)?;
        self.values.stiff = self.is_stiff(system, start, dt);
        loop {
            self.guess(start, dt);
            let again = match self.solve_all(system, start, solve, out) {
                Ok(()) => self.has_turned(system, start, out),
                // No force keeps a slip: it may stop.
                Err(Failure::Solver(_) | Failure::Newton { .. }) if self.rest_all(out) => true,
                Err(failure) => return Err(failure),
            };
            if !again {
                break;
            }
            out.report.index_sets += 1;
        }
        if !(all_finite(&self.values.q_end) && all_finite(&self.values.smooth)) {
            return Err(Failure::NotFinite { what: "the state".into() });
        }
        self.finish(system, start, out);
        Ok(())
    }

    fn examine(&mut self, system: &Evaluator, start: &State, step: &Step, asked: Examination) {
        self.evaluate_finished(system, start, step, asked);
    }

    fn records(&self) -> Vec<Box<dyn Record>> {
        vec![Box::<TdgMemory>::default(), Box::<TdgStep>::default()]
    }

    fn last_problem(&self) -> Option<&FullProblem> {
        match self.at_stage {
            Some(l) => self.forces.get(l).map(|f| &f.full),
            None => self.jump.work.as_ref().map(|w| &w.full),
        }
    }

    fn last_included(&self) -> Option<&[bool]> {
        Some(if self.at_stage.is_some() { &self.acts } else { &self.jump.included })
    }
}
