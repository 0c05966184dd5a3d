//! The Schatzman-Paoli scheme with a θ-method [Acary2013, (20)-(22)], contacts without friction on position level.
//!
//! Two steps: q_{k+1} follows from q_{k−1} and q_k. With q_θ = (1−θ) q_k + θ q_{k+1}, t_θ = t_k + θ dt and, for each contact with its own e,
//! q_e = (q_{k+1} + e q_{k−1})/(1+e), t_e = (t_{k+1} + e t_{k−1})/(1+e):
//!
//! ```text
//! M(t_{k+1},q_{k+1})(q_{k+1} − 2q_k + q_{k−1}) = dt² h(t_θ,q_θ,v_θ) + Σ G(t_e,q_e) p_{k+1}          (20a)
//! 0 ≤ g(t_e,q_e) ⊥ p_{k+1} ≥ 0      contacts,      g(t_{k+1},q_{k+1}) = 0      joints              (22)
//! u_k = (q_{k+1} − q_{k−1})/(2dt)                                                                (20b), its index corrected
//! v_θ = ((½+θ)(q_{k+1} − q_k) + (½−θ)(q_k − q_{k−1}))/dt
//! ```
//!
//! G is W_N of the contract (q̇ = u). The paper leaves v_θ open; here it is the slope at t_θ of the parabola through the three positions: u_k for
//! θ = 0, the velocity of the step for θ = ½. The paper has no explicit time in g; t_e is its place in relative coordinates:
//! on an obstacle in uniform motion everything is as on one at rest.
//!
//! **First step.** Moreau-Jean's step with θ = ½, and the law of this scheme with q₀ − dt u₀ in the place of q_{−1}:
//!
//! ```text
//! (2/dt) M(t_½,q_½)(q₁ − q₀ − dt u₀) = dt h(t_½,q_½,(q₁−q₀)/dt) + Σ G p₁/dt
//! ```
//!
//! (Moreau-Jean's own law does not do: a contact that closes in its step penetrates by up to |γ|dt, (22) lifts it out in the next, and that lift is
//! a rebound with a speed of up to |γ|, whatever e is.)
//!
//! **Velocity and percussion.** u_{k+1} needs q_{k+2}: every step, the last too, solves one equation ahead; the next step's own solve is the same.
//! From (20b), for constant M,
//!
//! ```text
//! M(u_{k+1} − u_k) = (dt/2)(h_{k+1} + h_{k+2}) + (1/2dt)(G p_{k+1} + G p_{k+2}) ,
//! ```
//!
//! so the percussion of a step is P = (p_{k+1} + p_{k+2})/(2dt), in N·s, and at the start with p₁ of the first step. One impact shows in
//! up to four steps in a row; the sum is the momentum exchanged.
//!
//! Order 1; 2 on smooth motion for θ = 0 where M is constant (central differences). For e = 0 contacts never penetrate at grid points (to rounding, or to
//! `newton_tol`·dt for curved ones); for e > 0 by O(dt), and the impact law holds over two or three steps. Joints hold at every grid point.
//!
//! At a [break](crate::contract::Structure::breaks) t_k the equation reaches half a step to both sides: h = ½ (h⁻(t_k) + h⁺(t_θ)).
//!
//! Limits: no friction, no elements, no velocity-level joints, q̇ = u, Newton's restitution, steps of one length. A start that penetrates by δ is
//! lifted out in the first step and leaves with the speed δ/dt.

mod equation;
mod examine;
mod options;
mod record;

pub use options::SchatzmanPaoliOptions;

pub use record::{SchatzmanPaoliMemory, SchatzmanPaoliStep};

use super::{Examination, Failure, Order, Scheme, SchemeInfo, Solve};
use crate::contract::{Evaluator, Feature, Features, Kind};
use crate::state::{Record, Sigma, State, Step, StepReport};
use complementarity::{FullProblem, Options};
use equation::{Before, Equation, EquationInput};
use examine::Split;

pub(super) static INFO: SchemeInfo = SchemeInfo {
    name: "schatzman-paoli",
    summary: "Schatzman-Paoli: two-step, position level for e = 0, no friction, steps of one length",
    reference: "Acary2013, (20)-(22)",
    position_level: true,
    impact_steps: 4,
    looks_ahead: true,
    adaptive: false,
    variable_step: false,
    stages: 1,
    supports: Features::of(&[Feature::Joints, Feature::Restitution, Feature::Moving]),
    options: SchatzmanPaoliOptions::ALL,
    make: |s| Ok(Box::new(SchatzmanPaoli::new(SchatzmanPaoliOptions::from_settings(s)?))),
};

/// The Schatzman-Paoli scheme. See the [module](self).
pub struct SchatzmanPaoli {
    options: SchatzmanPaoliOptions,
    equation: Equation,
    ahead: Ahead,
    /// q_{k+1} and p_{k+1}/dt of the step being made.
    q: Vec<f64>,
    p: Vec<f64>,
    velocity: VelocityOf,
    split: Option<Split>,
}

/// The equation solved ahead in the last step, with everything that its solution depends on. Solving it again gives the same bits.
#[derive(Default)]
struct Ahead {
    /// Bits of t and dt, version of the candidates, system, solver; `None` before the first.
    key: Option<(u64, u64, u64, usize, &'static str, Options)>,
    before: Vec<f64>,
    middle: Vec<f64>,
    q: Vec<f64>,
    p: Vec<f64>,
    report: StepReport,
}

fn same_bits(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits())
}

/// γ of one interaction, and its scratch.
#[derive(Default)]
struct VelocityOf {
    w: Vec<f64>,
    chi: Vec<f64>,
}

impl SchatzmanPaoli {
    /// With given options; wrong ranges are refused by [`super::make`].
    pub fn new(options: SchatzmanPaoliOptions) -> Self {
        Self {
            options,
            equation: Equation::default(),
            ahead: Ahead::default(),
            q: Vec::new(),
            p: Vec::new(),
            velocity: VelocityOf::default(),
            split: None,
        }
    }

    /// The options.
    pub fn options(&self) -> &SchatzmanPaoliOptions {
        &self.options
    }

    /// q_{k+1} and P_{k+1}: kept from the step before, or solved.
    fn solve_step(
        &mut self,
        system: &Evaluator,
        start: &State,
        dt: f64,
        solve: &mut Solve,
        out: &mut Step,
    ) -> Result<(), Failure> {
        let first = start.memory.of::<SchatzmanPaoliMemory>().before.is_empty();
        let before = if first {
            Before::Velocity(&start.u)
        } else {
            Before::Position(&start.memory.of::<SchatzmanPaoliMemory>().before)
        };
        let input = EquationInput { t: start.t, dt, before, middle: &start.q };
        let kept = self.ahead.key == Some(key(system, &input, solve, out)) && !first;
        let ahead = &mut self.ahead;
        if kept
            && same_bits(&ahead.before, &start.memory.of::<SchatzmanPaoliMemory>().before)
            && same_bits(&ahead.middle, &start.q)
        {
            std::mem::swap(&mut self.q, &mut ahead.q);
            std::mem::swap(&mut self.p, &mut ahead.p);
            out.report.residual = ahead.report.residual;
            out.report.non_unique = ahead.report.non_unique;
            return Ok(());
        }
        let mut report = StepReport::default();
        self.equation.solve(&self.options, system, &input, &out.candidates, solve, &mut report)?;
        self.q.clone_from(&self.equation.q);
        self.equation.percussions(&out.candidates, &mut self.p);
        // The work of this equation was counted in the step that looked ahead.
        out.report = StepReport { index_sets: 1, ..if first { report } else { StepReport::default() } };
        out.report.residual = report.residual;
        out.report.non_unique = report.non_unique;
        Ok(())
    }

    /// q_{k+2} and P_{k+2} into `ahead`.
    fn look_ahead(
        &mut self,
        system: &Evaluator,
        start: &State,
        t: f64,
        solve: &mut Solve,
        out: &mut Step,
    ) -> Result<(), Failure> {
        self.ahead.key = None;
        let input = EquationInput { t, dt: out.dt, before: Before::Position(&start.q), middle: &self.q };
        let mut report = StepReport::default();
        self.equation.solve(&self.options, system, &input, &out.candidates, solve, &mut report)?;
        let found = key(system, &input, solve, out);
        let ahead = &mut self.ahead;
        ahead.before.clone_from(&start.q);
        ahead.middle.clone_from(&self.q);
        ahead.q.clone_from(&self.equation.q);
        self.equation.percussions(&out.candidates, &mut ahead.p);
        ahead.report = report;
        ahead.key = Some(found);
        let all = &mut out.report;
        all.solves += report.solves;
        all.iterations += report.iterations;
        all.pivots += report.pivots;
        all.newton += report.newton;
        all.residual = all.residual.max(report.residual);
        all.non_unique |= report.non_unique;
        Ok(())
    }

    /// Percussions, discrete state, γ⁻ and γ⁺ into the step.
    fn finish(&mut self, system: &Evaluator, start: &State, out: &mut Step) {
        let n = out.candidates.len();
        for i in 0..n {
            let range = out.candidates.range(i);
            let kind = out.candidates.items()[i].kind;
            let carries = range.clone().any(|j| self.p[j] != 0.0 || self.ahead.p[j] != 0.0);
            out.active[i] = carries || kind == Kind::Joint;
            if !out.active[i] {
                out.set_inactive(i);
                continue;
            }
            out.report.contacts += usize::from(kind == Kind::Contact);
            out.sigma[i] = Sigma(0);
            let percussions = out.end.percussions.values_mut();
            for j in range.clone() {
                percussions[j] = 0.5 * (self.p[j] + self.ahead.p[j]);
            }
            let k = &out.candidates.items()[i];
            self.velocity.evaluate(system, k, start.t, &start.q, &start.u, &mut out.gamma_minus[range.clone()]);
            self.velocity.evaluate(system, k, out.end.t, &out.end.q, &out.end.u, &mut out.gamma_plus[range]);
        }
    }
}

/// Everything besides the positions that the solution of an equation depends on.
fn key(
    system: &Evaluator,
    input: &EquationInput,
    solve: &Solve,
    step: &Step,
) -> (u64, u64, u64, usize, &'static str, Options) {
    let pattern = system.structure().pattern.id();
    let system = std::ptr::from_ref(system.structure()) as usize ^ (pattern as usize).rotate_left(32);
    let (t, dt) = (input.t.to_bits(), input.dt.to_bits());
    (t, dt, step.candidates.version(), system, solve.solver.info().name, solve.options)
}

impl VelocityOf {
    /// γ at (t,q,u) into `gamma`; the rows of Wᵀ stay in `w`.
    fn evaluate(
        &mut self,
        system: &Evaluator,
        k: &crate::contract::Interaction,
        t: f64,
        q: &[f64],
        u: &[f64],
        gamma: &mut [f64],
    ) {
        let n = k.dofs.len();
        self.w.resize(k.dim() * n, 0.0);
        self.chi.resize(k.dim(), 0.0);
        system.velocity(k, t, q, &mut self.w, &mut self.chi);
        for (j, gamma) in gamma.iter_mut().enumerate() {
            *gamma = self.chi[j] + k.row_times(&self.w[j * n..(j + 1) * n], u);
        }
    }
}

impl Scheme for SchatzmanPaoli {
    fn info(&self) -> &'static SchemeInfo {
        &INFO
    }

    fn order(&self) -> Order {
        Order { smooth: 1, impacts: 1 }
    }

    fn step(
        &mut self,
        system: &Evaluator,
        start: &State,
        dt: f64,
        solve: &mut Solve,
        out: &mut Step,
    ) -> Result<(), Failure> {
        let system = &system.unbounded();
        // The next step starts from the time that the loop has in mind, and must find the same equation.
        let t = start.t + dt;
        let rounding = 4.0 * f64::EPSILON * start.t.abs().max(t.abs());
        let t = if (out.end.t - t).abs() <= rounding { out.end.t } else { t };
        self.equation.prepare(system);
        out.begin(dt);
        let mut made = self.solve_step(system, start, dt, solve, out);
        if made.is_ok() {
            made = self.look_ahead(system, start, t, solve, out);
        }
        if made.is_err() {
            // What the problem that failed is made of.
            out.active.clone_from(&self.equation.included);
            return made;
        }
        out.end.t = t;
        out.end.q.clone_from(&self.q);
        out.end.memory.make::<SchatzmanPaoliMemory>().before.0.clone_from(&start.q);
        let ahead = &mut out.record.make::<SchatzmanPaoliStep>().ahead;
        ahead.0.clone_from(&self.ahead.q);
        out.end.u.clear();
        out.end.u.extend(ahead.iter().zip(&start.q).map(|(ahead, q)| (ahead - q) / (2.0 * dt)));
        self.finish(system, start, out);
        Ok(())
    }

    fn examine(&mut self, system: &Evaluator, start: &State, step: &Step, asked: Examination) {
        self.evaluate_finished(system, start, step, asked);
    }

    fn records(&self) -> Vec<Box<dyn Record>> {
        vec![Box::<SchatzmanPaoliMemory>::default(), Box::<SchatzmanPaoliStep>::default()]
    }

    fn last_problem(&self) -> Option<&FullProblem> {
        self.equation.work.as_ref().map(|w| &w.full)
    }

    fn last_included(&self) -> Option<&[bool]> {
        Some(&self.equation.included)
    }
}
