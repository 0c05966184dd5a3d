//! One step on velocity level with explicit forces and one linear problem: what schemes of this kind share.
//!
//! With t_* = t_B + σ dt, q_* = q_B + σ dt q̇(t_B,q_B,u_B) and ū = (1−κ) u_B + κ u_E:
//!
//! ```text
//! M_* (u_E − u_B) = dt h(t_*,q_*,u_B) + Σ W_* P
//! −(γ_E + e γ_B) ∈ N_Â(P),   γ = W_*ᵀ u + χ_*        for active interactions
//! q_E = q_B + dt (B(t_*,q_*) ū + β(t_*,q_*))
//! ```
//!
//! (q_B ⊕ dt ū for a body that turns in space).
//!
//! **Laws at the ends.** W_*ᵀ u_E + χ_* is not the velocity at the end where a joint or contact turns or moves: an ideal joint takes half of P Ẇᵀu dt then, first order, and much. With laws = "ends"
//!
//! ```text
//! γ_E = W_*ᵀ u_E + χ_* + s,   γ_B = W_*ᵀ u_B + χ_* − s σ/(1−σ),   s = γ(t_E, q°, u°) − (W_*ᵀ u° + χ_*)
//! ```
//!
//! with the end (q°, u°) to which the step leads if s is taken with u° = u_B: two problems in a step in which something turns that takes part, and one in any other; of more than sixteen contacts at once s is left out. Of contacts and elements u° is its mean with u_B, so that P
//! works over the mean of γ_E and γ_B where σ = 1/2: an elastic hit takes no energy.
//!
//! σ and κ are the [`Weights`] of a scheme. Joints and elements are always active, a contact if g_N(t_*,q_*) ≤ 0 up to rounding, or
//! ≤ 1e-10 m if it carried in the step before.

use super::moreau_midpoint::MidpointStep;
use super::trapezoidal_lcp::Laws;
use super::velocity_level::{
    ACTIVATION, Ahead, Applied, Iteration, Restitution, Trial, VelocityLevel, gap, kinematics_residual,
};
use super::{Examination, Failure, Solve};
use crate::accounting::{Certificate, Ledger, Meter};
use crate::contract::{Evaluator, Interaction, Kind};
use crate::state::{State, Step, rates};
use complementarity::FullProblem;
use complementarity::linear::dense::{all_finite, max_norm};
use std::marker::PhantomData;

/// Gaps up to this times the largest coordinate (or 1) are rounding: a contact that is met so closely is closed.
const ROUNDING: f64 = 64.0 * f64::EPSILON;

/// Contacts that take part beyond which theirs are the laws of (t_*, q_*): in a heap a second problem is no gain.
const CROWD: usize = 16;

/// Whether more than a few contacts take part.
fn is_crowd(step: &Step) -> bool {
    let items = step.candidates.items().iter().zip(&step.active);
    items.filter(|(k, on)| **on && k.kind == Kind::Contact).count() > CROWD
}

/// What makes a scheme of this kind.
pub(super) trait Weights {
    /// σ: where in the step mass, forces and directions are evaluated.
    const SIGMA: f64;
    /// κ: weight of the velocity of the end in that which moves positions.
    const KAPPA: f64;
}

#[inline]
fn mean(a: f64, b: f64) -> f64 {
    0.5 * (a + b)
}

/// ū.
#[inline]
fn moving<W: Weights>(before: f64, after: f64) -> f64 {
    if W::KAPPA == 0.5 { mean(before, after) } else { (1.0 - W::KAPPA) * before + W::KAPPA * after }
}

/// The step of the [module](self) and its workspace.
pub(super) struct ExplicitStep<W> {
    work: Option<Box<VelocityLevel>>,
    q_star: Vec<f64>,
    qdot: Vec<f64>,
    /// Local coordinates of the start, where there are charts.
    origin: Vec<f64>,
    /// ū.
    u_moving: Vec<f64>,
    /// (u_B + u_E)/2, where that is another velocity.
    u_mean: Vec<f64>,
    /// Whether M̂ = M is assembled and constant.
    assembled: bool,
    /// Where the laws take velocities.
    laws: Laws,
    /// q° and u°, and room for the directions there.
    q_ahead: Vec<f64>,
    u_ahead: Vec<f64>,
    ahead: Ahead,
    weights: PhantomData<W>,
}

impl<W> ExplicitStep<W> {
    pub(super) fn new(laws: Laws) -> Self {
        Self {
            work: None,
            q_star: Vec::new(),
            qdot: Vec::new(),
            origin: Vec::new(),
            u_moving: Vec::new(),
            u_mean: Vec::new(),
            assembled: false,
            laws,
            q_ahead: Vec::new(),
            u_ahead: Vec::new(),
            ahead: Ahead::default(),
            weights: PhantomData,
        }
    }
}

impl<W: Weights> ExplicitStep<W> {
    /// Mass and forces at (t_*, q_*).
    fn evaluate(&mut self, system: &Evaluator, start: &State, dt: f64) {
        let (_, fresh) = VelocityLevel::prepare(&mut self.work, system, Iteration::Mass);
        if fresh {
            self.assembled = false;
        }
        self.q_star.resize(start.q.len(), 0.0);
        let qdot = rates(system, start.t, &start.q, &start.u, &mut self.qdot);
        let origin = system.origin(&start.q, &mut self.origin);
        for ((at, q), rate) in self.q_star.iter_mut().zip(origin).zip(qdot) {
            *at = q + W::SIGMA * dt * rate;
        }
        system.retract(&start.q, &mut self.q_star);
        let t_star = start.t + W::SIGMA * dt;
        if let Some(work) = self.work.as_mut() {
            work.assemble_mass(system, t_star, &self.q_star);
            work.assemble_forces(system, t_star, &self.q_star, &start.u);
        }
    }

    fn moving_velocity(&mut self, start: &State, u: &[f64]) {
        self.u_moving.clear();
        self.u_moving.extend(start.u.iter().zip(u).map(|(a, b)| moving::<W>(*a, *b)));
    }

    /// The rows of the laws, with s for an end with the velocity in `u_ahead` if there is one.
    fn assemble_laws(&mut self, system: &Evaluator, start: &State, step: &Step) {
        let (t_star, whole) = (start.t + W::SIGMA * step.dt, !self.u_ahead.is_empty());
        if whole {
            let mut u_ahead = std::mem::take(&mut self.u_ahead);
            self.moving_velocity(start, &u_ahead);
            let mut q_ahead = std::mem::take(&mut self.q_ahead);
            self.lead(system, start, step.dt, &mut q_ahead);
            let end = Trial { t: start.t + step.dt, q: &q_ahead, u: &u_ahead };
            if let Some(work) = self.work.as_mut() {
                let share = W::SIGMA / (1.0 - W::SIGMA);
                work.velocities_before(system, t_star, &self.q_star, &start.u, &step.candidates, &step.active);
                work.assemble_rows_ahead(
                    &mut self.ahead,
                    system,
                    (t_star, &self.q_star),
                    start,
                    end,
                    share,
                    step,
                    is_crowd(step),
                );
            }
            (self.q_ahead, self.u_ahead) = (q_ahead, std::mem::take(&mut u_ahead));
        } else if let Some(work) = self.work.as_mut() {
            work.velocities_before(system, t_star, &self.q_star, &start.u, &step.candidates, &step.active);
            work.assemble_rows(system, t_star, &self.q_star, step);
        }
    }

    /// Where `u_moving` leads.
    fn lead(&mut self, system: &Evaluator, start: &State, dt: f64, q: &mut Vec<f64>) {
        let qdot = rates(system, start.t + W::SIGMA * dt, &self.q_star, &self.u_moving, &mut self.qdot);
        q.clear();
        let origin = system.origin(&start.q, &mut self.origin);
        q.extend(origin.iter().zip(qdot).map(|(q, r)| q + dt * r));
        system.retract(&start.q, q);
    }

    /// Solves the one-step problem into the end of the step.
    fn solve(&mut self, system: &Evaluator, solve: &mut Solve, out: &mut Step) -> Result<(), Failure> {
        let Some(work) = self.work.as_mut() else { return Ok(()) };
        // Straight into the end of the step.
        std::mem::swap(&mut work.v, &mut out.end.u);
        let solved = work.solve(system, solve, &mut out.report);
        std::mem::swap(&mut work.v, &mut out.end.u);
        solved
    }

    /// The step, from `start` into `out`.
    #[inline]
    pub(super) fn step(
        &mut self,
        system: &Evaluator,
        start: &State,
        dt: f64,
        solve: &mut Solve,
        out: &mut Step,
    ) -> Result<(), Failure> {
        out.begin(dt);
        self.evaluate(system, start, dt);
        let t_star = start.t + W::SIGMA * dt;
        let rounding = ROUNDING * (1.0 + max_norm(&self.q_star));
        for (i, k) in out.candidates.items().iter().enumerate() {
            let carried = || start.percussions.at(i, k.id).is_some_and(|p| p[0] > 0.0);
            out.active[i] = k.kind != Kind::Contact || {
                let g = gap(system, k, t_star, &self.q_star)?;
                g <= rounding || g <= ACTIVATION && carried()
            };
        }
        let Some(work) = self.work.as_mut() else { return Ok(()) };
        work.restitution = Restitution::wanted(out);
        work.begin(&out.candidates);
        self.u_ahead.clear();
        let joints_alone = is_crowd(out);
        let turns = |(k, on): (&Interaction, &bool)| *on && !k.constant && !(joints_alone && k.kind == Kind::Contact);
        let turns = self.laws == Laws::Ends && out.candidates.items().iter().zip(&out.active).any(turns);
        if turns {
            self.u_ahead.extend_from_slice(&start.u);
        }
        self.assemble_laws(system, start, out);
        let Some(work) = self.work.as_mut() else { return Ok(()) };
        work.warm_start(start, &out.candidates);
        if !(self.assembled && system.structure().constant_mass) {
            work.full.matrix.clear();
            work.full.matrix.add_scaled(1.0, &work.mass);
            self.assembled = true;
        }
        // f = M u_B + dt h.
        work.mass.multiply(&start.u, &mut work.full.f);
        for i in 0..start.u.len() {
            work.full.f[i] += dt * work.h[i];
        }
        if !all_finite(&work.full.f) {
            return Err(Failure::NotFinite { what: "the equation of motion".into() });
        }
        self.solve(system, solve, out)?;
        let record: &mut MidpointStep = out.record.make();
        record.ahead.0.clear();
        if turns {
            record.ahead.0.extend_from_slice(&out.end.u);
            self.u_ahead.clone_from(&out.end.u);
            self.assemble_laws(system, start, out);
            self.solve(system, solve, out)?;
        }
        let Some(work) = self.work.as_mut() else { return Ok(()) };
        out.end.t = start.t + dt;
        work.forget_velocities();
        work.velocities_after(&out.end.u);
        work.finish(out);
        out.end.q.clear();
        if system.structure().identity_kinematics() {
            let ends = start.q.iter().zip(&start.u).zip(&out.end.u);
            out.end.q.extend(ends.map(|((q, before), after)| q + dt * moving::<W>(*before, *after)));
        } else {
            self.moving_velocity(start, &out.end.u);
            self.lead(system, start, dt, &mut out.end.q);
        }
        if !(all_finite(&out.end.u) && all_finite(&out.end.q)) {
            return Err(Failure::NotFinite { what: "the state".into() });
        }
        Ok(())
    }

    /// Everything of a finished step at (t_*, q_*) again.
    fn revisit(&mut self, system: &Evaluator, start: &State, step: &Step) {
        self.evaluate(system, start, step.dt);
        if let Some(work) = self.work.as_mut() {
            work.restitution = Restitution::wanted(step);
            work.begin(&step.candidates);
        }
        self.u_ahead.clone_from(&step.record.of::<MidpointStep>().ahead);
        self.assemble_laws(system, start, step);
        self.moving_velocity(start, &step.end.u);
        if let Some(work) = self.work.as_mut() {
            work.take_percussions(step);
        }
    }

    /// See [`Scheme::examine`](super::Scheme::examine).
    pub(super) fn examine(&mut self, system: &Evaluator, start: &State, step: &Step, asked: Examination) {
        self.revisit(system, start, step);
        if let Some(out) = asked.certificate {
            self.certify(system, start, step, out);
        }
        if let Some((meter, out)) = asked.energy {
            self.account(system, start, step, meter, out);
        }
    }

    fn certify(&mut self, system: &Evaluator, start: &State, step: &Step, out: &mut Certificate) {
        let t_star = start.t + W::SIGMA * step.dt;
        let qdot = rates(system, t_star, &self.q_star, &self.u_moving, &mut self.qdot);
        let kinematics = kinematics_residual(system, start, step, qdot, None);
        if let Some(work) = self.work.as_mut() {
            work.certify(system, start, step, kinematics, out);
        }
    }

    fn account(&mut self, system: &Evaluator, start: &State, step: &Step, meter: &mut Meter, out: &mut Ledger) {
        if W::KAPPA != 0.5 {
            self.u_mean.clear();
            self.u_mean.extend(start.u.iter().zip(&step.end.u).map(|(a, b)| mean(*a, *b)));
        }
        let Some(work) = self.work.as_mut() else { return };
        let (t_star, q_star) = (start.t + W::SIGMA * step.dt, &self.q_star);
        let moved = &self.u_moving;
        let mean = if W::KAPPA == 0.5 { moved } else { &self.u_mean };
        let applied = Applied { mean, moved, q_star, led_to: &step.end.q };
        let force = |_: &mut VelocityLevel, i: usize, h: &mut [f64]| system.force(i, t_star, q_star, &start.u, h);
        work.account(system, start, step, &applied, force, meter, out);
    }

    /// See [`Scheme::last_problem`](super::Scheme::last_problem).
    pub(super) fn last_problem(&self) -> Option<&FullProblem> {
        self.work.as_ref().map(|w| &w.full)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test fails on an error
mod tests {
    use super::*;
    use crate::law::ContactLaw;
    use crate::scheme::velocity_level::SUPPORTS;
    use crate::scheme::{Order, Scheme, SchemeInfo};
    use crate::{Differentiated, Layout, Model, Scalar, Simulation, SimulationOptions};

    /// Forces of the start, and the velocity of the end: symplectic Euler.
    struct Euler;

    impl Weights for Euler {
        const SIGMA: f64 = 0.0;
        const KAPPA: f64 = 1.0;
    }

    static INFO: SchemeInfo = SchemeInfo {
        name: "symplectic-euler",
        summary: "",
        reference: "",
        position_level: false,
        impact_steps: 1,
        looks_ahead: false,
        adaptive: false,
        variable_step: true,
        stages: 1,
        supports: SUPPORTS,
        options: &[],
        make: |_| Ok(Box::new(SymplecticEuler::default())),
    };

    struct SymplecticEuler(ExplicitStep<Euler>);

    impl Default for SymplecticEuler {
        fn default() -> Self {
            Self(ExplicitStep::new(Laws::Midpoint))
        }
    }

    impl Scheme for SymplecticEuler {
        fn info(&self) -> &'static SchemeInfo {
            &INFO
        }
        fn order(&self) -> Order {
            Order { smooth: 1, impacts: 1 }
        }
        fn step(&mut self, s: &Evaluator, a: &State, dt: f64, solve: &mut Solve, b: &mut Step) -> Result<(), Failure> {
            self.0.step(s, a, dt, solve, b)
        }
        fn examine(&mut self, s: &Evaluator, a: &State, b: &Step, asked: Examination) {
            self.0.examine(s, a, b, asked);
        }
        fn last_problem(&self) -> Option<&FullProblem> {
            self.0.last_problem()
        }
    }

    /// A ball on a spring above a wall.
    struct Sprung;

    impl Model for Sprung {
        fn layout(&self) -> Layout {
            Layout::new(["q"]).potential("spring").contact("wall", ContactLaw::newton(0.5)).constant_mass()
        }
        fn mass<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], m: &mut [T]) {
            m[0] = T::from(2.0);
        }
        fn potential<T: Scalar>(&self, _i: usize, _t: T, q: &[T]) -> T {
            q[0] * q[0] * 9.0
        }
        fn gap<T: Scalar>(&self, _i: usize, _t: T, q: &[T]) -> T {
            q[0]
        }
    }

    #[test]
    fn weights_make_another_scheme_with_its_certificate_and_ledger() {
        let system = Differentiated::new(Sprung).unwrap();
        let (h, q) = (1e-3, 0.5);
        let run = |end: f64| {
            let start = State::new(0.0, vec![q], vec![0.0]);
            let scheme = Box::new(SymplecticEuler::default());
            Simulation::new(&system, start, scheme, SimulationOptions::new(h, end)).unwrap().run()
        };
        // One step by hand: u = −h k q/m, then q + h u, to rounding.
        let one = run(h);
        let u = -h * 9.0 * q;
        assert!((one.end.u[0] - u).abs() <= 1e-16 && (one.end.q[0] - (q + h * u)).abs() <= 1e-15, "{:?}", one.end);
        // Through impacts.
        let long = run(4.0);
        assert!(long.events.iter().any(|e| e.kind.name() == "impact"));
        assert!(long.energy.closure <= 1e-9, "{:?}", long.energy);
        assert!(long.worst.residual() <= 1e-9, "{:?}", long.worst);
    }
}
