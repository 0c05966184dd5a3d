//! The stages and the jump of a step for given modes: a fixed point, or Newton's method. See the module above.

use super::TdgMemory;
use super::newton::Newton;
use super::tableau::Role;
use super::values::{self, Allowed};
use super::{StepInput, Tdg};
use crate::contract::{Evaluator, Kind};
use crate::scheme::acceleration::{Origin, Treat};
use crate::scheme::{Failure, Solve};
use crate::state::{State, Step, StepReport};
use complementarity::capacity;
use complementarity::linear::dense::{all_finite, max_norm};

/// Sweeps of the fixed point.
const MAX_SWEEPS: usize = 50;
/// Part of the change that a sweep may leave, else Newton's method takes over.
const CONTRACTS: f64 = 0.5;
/// An iteration that contracts no more has converged as far as the solver goes if velocities change by no more than this times what the solver leaves of its
/// problems: contacts hand it on to each other. Measured: 10 to 60 in a heap of 40 discs.
const AMPLIFIED: f64 = 100.0;
/// Iterations of Newton's method.
const MAX_NEWTON: usize = 50;
/// The matrix of Newton's method stays while an iteration leaves no more than this part of the change.
const REUSE_MATRIX_BELOW: f64 = 0.1;
/// Largest degree at which stages begin with the polynomial of the step before: beyond, continuing it makes more of rounding than it gains.
const CONTINUED: usize = 5;

impl Tdg {
    /// Accelerations to begin with: those of the step before, continued.
    pub(super) fn guess(&mut self, start: &State, dt: f64) {
        let v = &mut self.values;
        v.begin(start);
        v.terms = 0.0;
        let before: &TdgMemory = start.memory.of();
        if self.tableau.degree() <= CONTINUED && before.length == dt && before.accelerations.len() == v.a.len() {
            v.a.fill(0.0);
            for l in 0..v.n {
                for k in 0..v.n {
                    let from = &before.accelerations[k * v.nu..(k + 1) * v.nu];
                    values::add(self.ahead[l * v.n + k], from, &mut v.a[l * v.nu..(l + 1) * v.nu]);
                }
            }
        } else if let Some(last) =
            before.accelerations.len().checked_sub(v.nu).filter(|_| !before.accelerations.is_empty())
        {
            for l in 0..v.n {
                v.a[l * v.nu..(l + 1) * v.nu].copy_from_slice(&before.accelerations[last..]);
            }
        } else {
            v.a.fill(0.0);
        }
    }

    /// M, h and laws at stage `l`.
    pub(super) fn assemble_stage(&mut self, system: &Evaluator, start: &State, step: &Step, l: usize) {
        let t = start.t + self.tableau.c[l] * step.dt;
        let at = (t, self.values.q(l), self.values.v(l));
        let (acts, rests) = (&self.acts, &self.rests);
        let treat = |i: usize, _: &[f64]| if rests[i] { Treat::Rest } else { Treat::Law };
        let origin = Origin { gamma: &self.gamma, rate: 1.0 / step.dt };
        self.forces[l].assemble(system, at, &step.candidates, |i| acts[i], treat, Some(origin));
    }

    /// The acceleration of stage `l`.
    fn evaluate(
        &mut self,
        system: &Evaluator,
        start: &State,
        step: &Step,
        l: usize,
        solve: &mut Solve,
        work: &mut StepReport,
    ) -> Result<(), Failure> {
        self.assemble_stage(system, start, step, l);
        self.at_stage = Some(l);
        self.forces[l].begin_with(&self.begin);
        self.forces[l].solve_assembled(system, solve, work)?;
        self.at_stage = None;
        self.values.terms = self.values.terms.max(step.dt * max_norm(self.forces[l].full.free_velocity()));
        let a = self.forces[l].acceleration();
        if !all_finite(a) {
            return Err(Failure::NotFinite { what: "the equation of motion".into() });
        }
        self.values.a_mut(l).copy_from_slice(a);
        Ok(())
    }

    /// The accelerations of the stages of one role.
    pub(super) fn evaluate_all(
        &mut self,
        role: Role,
        system: &Evaluator,
        start: &State,
        step: &Step,
        solve: &mut Solve,
        work: &mut StepReport,
    ) -> Result<(), Failure> {
        for l in 0..self.tableau.stages() {
            if self.tableau.role(l) == role {
                self.evaluate(system, start, step, l, solve, work)?;
            }
        }
        Ok(())
    }

    /// Velocities and positions of the stages from accelerations. The measure of their change.
    pub(super) fn combine(&mut self, system: &Evaluator, start: &State, dt: f64) -> f64 {
        let allowed = Allowed { part: self.options.newton_tol, terms: self.values.terms };
        let v = self.values.velocities(&self.tableau, start, dt, allowed);
        v.max(self.values.positions(system, &self.tableau, start, dt, allowed))
    }

    /// Percussions of the forces at the stages.
    pub(super) fn sum_forces(&mut self, step: &Step) {
        self.smooth.clear();
        capacity::resize(&mut self.smooth, step.candidates.components(), 0.0);
        for (l, forces) in self.forces.iter().enumerate() {
            values::add(step.dt * self.tableau.beta[l], forces.lambda(), &mut self.smooth);
        }
    }

    /// The position at the end: on contacts that are closed there.
    pub(super) fn project(
        &mut self,
        system: &Evaluator,
        start: &State,
        step: &Step,
        solve: &mut Solve,
        work: &mut StepReport,
    ) -> Result<(), Failure> {
        let (list, dt, n) = (&step.candidates, step.dt, self.tableau.stages());
        self.projection.begin();
        if self.tableau.degree() == 0 {
            return Ok(());
        }
        for (i, k) in list.items().iter().enumerate() {
            if k.kind == Kind::Contact && (self.acts[i] || self.jump.lands[i]) {
                let at = list.range(i).start;
                let part = |l: usize| self.tableau.beta[l] * (1.0 - self.tableau.c[l]) * self.forces[l].lambda()[at];
                self.projection.lands |= self.jump.lands[i];
                self.projection.add(i, dt * dt * (0..n).map(part).sum::<f64>());
            }
        }
        self.projection.project(system, list, (start.t + dt, dt), &mut self.values, solve, work)
    }

    /// The jump, from the end as it is.
    fn jump(
        &mut self,
        system: &Evaluator,
        start: &State,
        step: &Step,
        solve: &mut Solve,
        work: &mut StepReport,
    ) -> Result<(), Failure> {
        self.sum_forces(step);
        let input = StepInput { tableau: &self.tableau, start, dt: step.dt };
        let acting = (&self.acts[..], &self.rests[..]);
        self.jump.carry(system, &step.candidates, &self.values, acting, &self.smooth, input);
        self.jump.solve(system, &step.candidates, &mut self.values, input, solve, work)
    }

    /// The jump of D⁺, which its stages see.
    pub(super) fn jump_within(
        &mut self,
        system: &Evaluator,
        start: &State,
        step: &Step,
        solve: &mut Solve,
        work: &mut StepReport,
    ) -> Result<(), Failure> {
        if !(StepInput { tableau: &self.tableau, start, dt: step.dt }).is_within(&self.jump) {
            return Ok(());
        }
        self.values.sum(&self.tableau, start, step.dt);
        self.project(system, start, step, solve, work)?;
        self.jump(system, start, step, solve, work)
    }

    /// The stages as a fixed point. False if it does not contract.
    pub(super) fn sweep(
        &mut self,
        system: &Evaluator,
        start: &State,
        solve: &mut Solve,
        out: &mut Step,
    ) -> Result<bool, Failure> {
        let (n, dt) = (self.tableau.stages(), out.dt);
        let mut report = StepReport::default();
        let mut jumps = StepReport::default();
        self.evaluate_all(Role::Start, system, start, out, solve, &mut report)?;
        self.combine(system, start, dt);
        let mut contracts = true;
        if (0..n).any(|l| self.tableau.role(l) == Role::Iterated) {
            let mut before = f64::INFINITY;
            contracts = false;
            for sweep in 0..MAX_SWEEPS {
                self.evaluate_all(Role::Iterated, system, start, out, solve, &mut report)?;
                self.jump_within(system, start, out, solve, &mut jumps)?;
                let change = self.combine(system, start, dt);
                out.report.newton += 1;
                if change <= 1.0 {
                    contracts = true;
                    break;
                }
                if !change.is_finite() || sweep > 1 && change > CONTRACTS * before {
                    contracts = self.values.changed <= AMPLIFIED * (dt * report.noise).max(jumps.noise);
                    break;
                }
                before = change;
            }
        } else {
            // Velocities are explicit; positions may follow from themselves.
            for _ in 0..MAX_SWEEPS {
                if system.structure().identity_kinematics() || self.combine(system, start, dt) <= 1.0 {
                    break;
                }
            }
        }
        if contracts {
            self.evaluate_all(Role::Last, system, start, out, solve, &mut report)?;
        }
        out.report.add(&report, dt);
        out.report.add(&jumps, 1.0);
        out.report.projection += jumps.projection;
        Ok(contracts)
    }

    /// Velocity, position and percussions at the end that the forces of the stages lead to, before the jump.
    fn settle_end(
        &mut self,
        system: &Evaluator,
        start: &State,
        out: &Step,
        solve: &mut Solve,
        jumps: &mut StepReport,
    ) -> Result<(), Failure> {
        self.values.sum(&self.tableau, start, out.dt);
        self.project(system, start, out, solve, jumps)?;
        self.sum_forces(out);
        Ok(())
    }

    /// The stages by Newton's method.
    pub(super) fn newton(
        &mut self,
        system: &Evaluator,
        start: &State,
        solve: &mut Solve,
        out: &mut Step,
    ) -> Result<(), Failure> {
        let (n, dt) = (self.tableau.stages(), out.dt);
        let plus = StepInput { tableau: &self.tableau, start, dt }.is_within(&self.jump);
        let mut newton = match self.newton[usize::from(plus)].take() {
            Some(newton) => newton,
            None => Box::new(Newton::new(system, n, plus)),
        };
        let (mut report, mut jumps) = (StepReport::default(), StepReport::default());
        let (mut before, mut change) = (f64::INFINITY, f64::INFINITY);
        self.combine(system, start, dt);
        let mut result = Err(Failure::Newton { iterations: MAX_NEWTON, residual: f64::INFINITY });
        for iteration in 0..MAX_NEWTON {
            // Forces of the iterate before: assembling forgets them.
            if plus && iteration > 0 {
                self.settle_end(system, start, out, solve, &mut jumps)?;
            }
            for l in 0..n {
                self.assemble_stage(system, start, out, l);
                self.forces[l].begin_with(&self.begin);
            }
            if iteration == 0 {
                let free = self.forces.iter_mut().map(|f| f.full.free().map_or(0.0, max_norm));
                self.values.terms = free.fold(self.values.terms, |terms, a| terms.max(dt * a));
            }
            if plus {
                if iteration == 0 {
                    self.settle_end(system, start, out, solve, &mut jumps)?;
                }
                let input = StepInput { tableau: &self.tableau, start, dt };
                let acting = (&self.acts[..], &self.rests[..]);
                self.jump.carry(system, &out.candidates, &self.values, acting, &self.smooth, input);
                self.jump.assemble(system, &out.candidates, &self.values, input);
            }
            let jump = if plus { Some(&mut self.jump) } else { None };
            if iteration == 0 || change > REUSE_MATRIX_BELOW * before {
                let at = (start.t, dt);
                let mass = jump.as_deref().and_then(|j| j.work.as_deref());
                newton.assemble_matrix(system, &self.tableau, &self.values, &self.forces, mass, at);
            }
            let (tableau, values, forces) = (&self.tableau, &mut self.values, &mut self.forces);
            if let Err(e) = newton.iterate(system, tableau, start, dt, values, forces, jump, solve, &mut report) {
                result = Err(e);
                break;
            }
            before = change;
            change = self.combine(system, start, dt);
            out.report.newton += 1;
            if !change.is_finite() {
                result = Err(Failure::NotFinite { what: "the state".into() });
                break;
            }
            let solved = change > CONTRACTS * before && self.values.changed <= AMPLIFIED * dt * report.noise;
            if change <= 1.0 || solved {
                result = Ok(());
                break;
            }
            result = Err(Failure::Newton { iterations: MAX_NEWTON, residual: change * self.options.newton_tol });
        }
        out.report.add(&report, dt);
        out.report.add(&jumps, 1.0);
        out.report.projection += jumps.projection;
        self.newton[usize::from(plus)] = Some(newton);
        result
    }

    /// All stages and the jump, for the modes as they are.
    pub(super) fn solve_all(
        &mut self,
        system: &Evaluator,
        start: &State,
        solve: &mut Solve,
        out: &mut Step,
    ) -> Result<(), Failure> {
        let dt = out.dt;
        let input = StepInput { tableau: &self.tableau, start, dt };
        self.jump.begin(&out.candidates, &self.acts, input);
        let threshold = self.options.restitution_threshold;
        let mut newton = self.values.stiff;
        let mut extended = false;
        loop {
            if !newton {
                newton = !self.sweep(system, start, solve, out)?;
                if newton {
                    out.report.retries += 1;
                    self.guess(start, dt);
                }
            }
            if newton {
                self.newton(system, start, solve, out)?;
            }
            self.values.sum(&self.tableau, start, dt);
            if !extended {
                self.values.take_left(&self.tableau);
            }
            // Collisions of D⁺ act back on its stages; its positions hardly depend on them, those of degree 0 do.
            let input = StepInput { tableau: &self.tableau, start, dt };
            let once = extended && self.tableau.degree() == 0;
            let more = !once && self.jump.select(system, out, &self.values, threshold, input)?;
            if !extended {
                self.jump.count(&out.candidates);
            }
            let within = input.is_within(&self.jump);
            if !(more && within) {
                let mut report = StepReport::default();
                self.project(system, start, out, solve, &mut report)?;
                if within {
                    self.sum_forces(out);
                } else {
                    let q_end = &self.values.q_end;
                    for i in self.projection.opened(system, &out.candidates, start.t + dt, q_end) {
                        self.jump.leave(i);
                    }
                    self.jump(system, start, out, solve, &mut report)?;
                }
                out.report.add(&report, 1.0);
                out.report.projection += report.projection;
                return Ok(());
            }
            extended = true;
        }
    }
}
