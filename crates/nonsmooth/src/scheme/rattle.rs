//! The nonsmooth RATTLE scheme [Breuling2024, (25)-(43)]: order 2 where contacts persist, gaps and joints on position and velocity level.
//!
//! Two stages, with v = u_{n+1/2}, P = P¹ + P², M_n = M(t_n,q_n), W_n = W(t_n,q_n):
//!
//! ```text
//! M_n (v − u_n) = (dt/2) h(t_n,q_n,v) + W_n P¹                                                     (25a)
//! q_{n+1} = q_n + (dt/2)(q̇(t_n,q_n,v) + q̇(t_{n+1},q_{n+1},v))                                       (27)
//! g(t_{n+1},q_{n+1}) = 0                             joints                                       (28a)
//! γ(t_n,q_n,v) + γ(t_{n+1},q_{n+1},v) = 0            velocity joints                              (29a), see below
//! 0 ≤ g_N(t_{n+1},q_{n+1}) ⊥ P¹_N ≥ 0                contacts                                     (33)
//! −γ_F(q_{n+1},v) ∈ N_{C_F(P¹_N)}(P¹_F)              friction, γ_F = W_{n+1}ᵀv + (χ_n + χ_{n+1})/2  (36), see below
//!
//! M_{n+1} (u_{n+1} − v) = (dt/2) h(t_{n+1},q_{n+1},v) + W_{n+1} P²                                 (25b)
//! ġ(t_{n+1},q_{n+1},u_{n+1}) = 0,  γ = 0             joints                                  (28b), (29b)
//! −ξ_N ∈ N_{R₊}(P_N),   −ξ_F ∈ N_{C_F(P_N)}(P_F)     closed contacts, ξ = γ(u_{n+1}) + e γ(u_n)    (32), (34)
//! ```
//!
//! with the corrections of `docs/errata.md`. (29a) has γ(t_{n+1},q_{n+1},v) = 0, which makes v tangent at the end of the step and the scheme of
//! first order where W turns; the mean of both ends is to (29b) what (27), (28a) are to (28b). `velocity_joints = "end"` is (29a) as printed. (36) has
//! γ_F(t_{n+1},q_{n+1},v), which compares v, a velocity of the middle, with that of a surface at the end: order 1 where it accelerates. Elements without a gap: −γ(t_{n+1},q_{n+1},v) ∈ N(P¹) with P¹ ∈ C·dt/2 + D in the first stage, and
//! P ∈ C·dt + D in the second.
//!
//! **Impacts.** (32) compares velocities along two directions, and with that of the start, from where forces still act until the contact is reached: an elastic hit of a turning body makes energy, of a falling one it
//! takes some, of order dt. `approach = "arrival"` takes γ⁻ where the contact is reached (`second`); `"start"` is (32) as printed.
//!
//! Each stage is solved by the semismooth Newton method in active-set form (§4): the factor r decides modes and nothing else; 1/G_ii by
//! default. A stage that it does not solve goes down a ladder: smaller r (a hundredth, a ten-thousandth); the laws by the solver of the run within a Newton
//! iteration on the rest, which is also the way for many contacts, and where a solver is named (not `auto`); then the loop halves the step. Every rung is counted.
//!
//! The start guess has P¹ and P² of the step before, and the velocities and q_{n+1} that they lead to; the paper's, `guess = "previous"`, is (q_n, v, P¹) of
//! the step before, and (u_n, P²). Before the first step: the forces λ of (54), (55), as P¹ = dt/2·λ. With `guess = "previous"`, `r = 0.1`,
//! `newton_norm = "absolute"`, `newton_tol = 1e-8`, `approach = "start"` the iterations of the paper's Table 1 come out.
//!
//! With joints that turn the first stage has other roots than the one that the motion leads to (`neighbourhood`). A step that ends at one is solved again from
//! the other guess; where that does so too, the step fails, and the loop halves it.
//!
//! Order 2 in q and u on smooth motion and where contacts persist while friction does not turn (see `second` for friction that does), else 1.

mod examine;
mod first;
mod memory;
mod misfit;
mod neighbourhood;
mod options;
mod second;
mod sensitivity;

pub use options::{Approach, FrictionDirection, Guess, NewtonNorm, RattleOptions, VelocityJoints};

pub use memory::RattleMemory;

use super::symmetry::{Symmetry, directions_stay};
use super::velocity_level::SUPPORTS;
use super::{Examination, Failure, Order, Scheme, SchemeInfo, Solve, acceleration};
use crate::contract::{Candidates, Evaluator};
use crate::state::{Record, State, Step, StepReport};
use complementarity::FullProblem;
use first::{First, Means};
use neighbourhood::Neighbourhood;
use second::{Second, Solution};

pub(super) static INFO: SchemeInfo = SchemeInfo {
    name: "rattle",
    summary: "nonsmooth RATTLE: order 2 in persistent contact, gaps and joints hold on position and velocity level",
    reference: "Breuling2024, (25)-(43)",
    position_level: true,
    impact_steps: 1,
    looks_ahead: false,
    adaptive: false,
    variable_step: true,
    stages: 2,
    supports: SUPPORTS,
    options: RattleOptions::ALL,
    make: |s| Ok(Box::new(Rattle::new(RattleOptions::from_settings(s)?))),
};

/// Newton iterations before a rung is given up: active-set methods that converge do so in far fewer.
const MAX_NEWTON: usize = 20;
/// Iterations with the laws solved by a solver, whose rate is O(dt).
const MAX_OUTER: usize = 50;
/// Factors of r in the attempts of Newton's method, one after the other.
const R_FACTORS: [f64; 3] = [1.0, 1e-2, 1e-4];
/// Components of interactions that take part up to which the dense Newton method is faster than a solver.
const MAX_NEWTON_ROWS: usize = 96;

/// The nonsmooth RATTLE scheme. See the [module](self).
#[derive(Default)]
pub struct Rattle {
    options: RattleOptions,
    first: First,
    second: Second,
    /// Whether the last problem is that of the first stage.
    in_first: bool,
    ledger: examine::Scratch,
    neighbourhood: Neighbourhood,
    symmetry: Symmetry,
}

/// What the equations of a step are made of.
#[derive(Clone, Copy)]
struct StepInput<'a> {
    system: &'a Evaluator<'a>,
    start: &'a State,
    dt: f64,
    list: &'a Candidates,
}

impl StepInput<'_> {
    fn end(&self) -> f64 {
        self.start.t + self.dt
    }
}

/// Why a rung did not solve its stage.
enum Unsolved {
    /// The next rung may.
    Newton,
    /// More contacts take part than are few.
    Many,
    /// None will.
    Failure(Failure),
}

impl From<Failure> for Unsolved {
    fn from(f: Failure) -> Self {
        Unsolved::Failure(f)
    }
}

/// Whether a stage is for its own Newton method first. A solver that is named is for the laws of every stage.
fn by_newton(solve: &Solve) -> bool {
    solve.solver.info().name == "auto"
}

impl Rattle {
    /// With given options; wrong ranges are refused by [`super::make`].
    pub fn new(options: RattleOptions) -> Self {
        let mut made = Self { options, ..Self::default() };
        made.first.means = Means {
            slip: options.friction_direction == FrictionDirection::Mean,
            joints: options.velocity_joints == VelocityJoints::Mean,
        };
        made.second.arrival = options.approach == Approach::Arrival;
        made
    }

    /// The options.
    pub fn options(&self) -> &RattleOptions {
        &self.options
    }

    fn first_stage(
        &mut self,
        input: &StepInput,
        guess: Guess,
        solve: &mut Solve,
        out: &mut StepReport,
    ) -> Result<bool, Failure> {
        self.in_first = true;
        self.first.begin(input);
        // For many contacts the forces of the start are as hard to find as the percussions.
        if input.start.memory.of::<RattleMemory>().middle.is_empty() && input.list.components() <= MAX_NEWTON_ROWS {
            self.initial_guess(input, solve);
        }
        if guess == Guess::Predicted {
            self.first.predict(input)?;
        }
        let rungs = if by_newton(solve) { &R_FACTORS[..] } else { &[] };
        for (rung, &smaller) in rungs.iter().enumerate() {
            if rung > 0 {
                self.first.begin(input);
            }
            match self.first.newton(&self.options, input, smaller, out) {
                Ok(non_unique) => return Ok(non_unique),
                Err(Unsolved::Failure(failure)) => return Err(failure),
                Err(Unsolved::Many) => break,
                Err(Unsolved::Newton) => out.retries += 1,
            }
        }
        self.first.by_solver(&self.options, input, solve, out)
    }

    /// A step that stays near its start, from the guess of the options or from the other one.
    fn solve_from_guesses(&mut self, input: &StepInput, solve: &mut Solve, out: &mut Step) -> Result<(), Failure> {
        let guess = self.options.guess;
        self.solve_stages(input, guess, solve, out)?;
        if self.strayed(input).is_none() {
            return Ok(());
        }
        out.report.retries += 1;
        let other = if guess == Guess::Predicted { Guess::Previous } else { Guess::Predicted };
        self.solve_stages(input, other, solve, out)?;
        match self.strayed(input) {
            None => Ok(()),
            Some(i) => Err(Failure::Strayed { name: input.system.name(input.list.items()[i].id) }),
        }
    }

    /// Both stages from one start guess.
    fn solve_stages(
        &mut self,
        input: &StepInput,
        guess: Guess,
        solve: &mut Solve,
        out: &mut Step,
    ) -> Result<(), Failure> {
        match self.first_stage(input, guess, solve, &mut out.report) {
            Ok(many) => out.report.non_unique |= many,
            Err(failure) => {
                // What the problem that failed is made of.
                out.active.clone_from(&self.first.included);
                return Err(failure);
            }
        }
        self.second.activate(input, &self.first.q, &self.first.p, &mut out.active);
        self.second.assemble(input, &mut self.first, &out.active);
        self.second_stage(input, solve, &mut out.report)
    }

    /// P¹ of the first step from the forces at its start.
    fn initial_guess(&mut self, input: &StepInput, solve: &mut Solve) {
        let mut forces = acceleration::Forces::new(input.system);
        if forces.solve(input.system, input.start, input.list, solve) {
            self.first.set_guess(input, forces.lambda());
        }
    }

    fn second_stage(&mut self, input: &StepInput, solve: &mut Solve, out: &mut StepReport) -> Result<(), Failure> {
        self.in_first = false;
        let mut predicted = self.options.guess == Guess::Predicted;
        self.second.guess(input, predicted);
        let mut round = 0;
        loop {
            let mut solved = None;
            let rungs = if by_newton(solve) { &R_FACTORS[..] } else { &[] };
            for (rung, &smaller) in rungs.iter().enumerate() {
                if rung > 0 {
                    self.second.guess(input, false);
                }
                let predicted = std::mem::take(&mut predicted);
                match self.second.newton(&self.options, input, &self.first.v, smaller, predicted, out) {
                    Ok(solution) => {
                        solved = Some(solution);
                        break;
                    }
                    Err(Unsolved::Failure(failure)) => return Err(failure),
                    Err(Unsolved::Many) => break,
                    Err(Unsolved::Newton) => out.retries += 1,
                }
            }
            match solved {
                Some(Solution { non_unique, doubtful: false }) => out.non_unique |= non_unique,
                _ => self.second.by_solver(input, solve, out)?,
            }
            if !self.second.align(&self.options, input, out.noise, round) {
                return Ok(());
            }
            round += 1;
        }
    }
}

impl Scheme for Rattle {
    fn info(&self) -> &'static SchemeInfo {
        &INFO
    }

    fn order(&self) -> Order {
        Order { smooth: 2, impacts: 1 }
    }

    /// Where h = h(t,q): a step back from its end leads to its start.
    fn is_even(&mut self, system: &Evaluator, start: &State, step: &Step) -> bool {
        directions_stay(step) && self.symmetry.forces_without_velocity(system, start)
    }

    fn step(
        &mut self,
        system: &Evaluator,
        start: &State,
        dt: f64,
        solve: &mut Solve,
        out: &mut Step,
    ) -> Result<(), Failure> {
        self.first.prepare(system);
        self.second.prepare(system);
        out.begin(dt);
        // The list is frozen; the rest of the step is filled in beside it.
        let list = std::mem::take(&mut out.candidates);
        let input = StepInput { system, start, dt, list: &list };
        let made = self.solve_from_guesses(&input, solve, out);
        out.candidates = list;
        made?;
        out.end.t = start.t + dt;
        out.end.q.clone_from(&self.first.q);
        out.end.u.clone_from(&self.second.u);
        let memory = out.end.memory.make::<RattleMemory>();
        memory.middle.0.clone_from(&self.first.v);
        memory.first.0.clone_from(&self.first.p);
        if let Some(work) = self.second.work.as_mut() {
            work.velocities_after(&self.second.u);
            work.finish(out);
        }
        Ok(())
    }

    fn examine(&mut self, system: &Evaluator, start: &State, step: &Step, asked: Examination) {
        self.evaluate_finished(system, start, step, asked);
    }

    fn records(&self) -> Vec<Box<dyn Record>> {
        vec![Box::<RattleMemory>::default()]
    }

    fn last_problem(&self) -> Option<&FullProblem> {
        let work = if self.in_first { &self.first.work } else { &self.second.work };
        work.as_ref().map(|w| &w.full)
    }
}
