//! The first stage with its laws solved by a solver in every iteration.

use super::{First, undefined};
use crate::contract::Kind;
use crate::scheme::rattle::misfit::Misfit;
use crate::scheme::rattle::{MAX_OUTER, RattleOptions, StepInput};
use crate::scheme::{Failure, Solve};
use crate::state::StepReport;
use complementarity::linear::dense::all_finite;
use complementarity::sets::MAX_DIM;

/// Steps like the present one within which a contact must close to take part from the beginning.
const NEAR: f64 = 2.0;
/// Gap over dt (m/s) below which it does in any case: a contact at rest stands above zero by rounding.
const RESTING: f64 = 1e-6;

impl First {
    /// The same equations with the laws solved by a solver in every iteration, with G ≈ W_n.
    pub(in crate::scheme::rattle) fn by_solver(
        &mut self,
        o: &RattleOptions,
        input: &StepInput,
        solve: &mut Solve,
        report: &mut StepReport,
    ) -> Result<bool, Failure> {
        let StepInput { system, start, dt, list } = *input;
        self.guess(start, list);
        self.excluded = false;
        self.begin_near(input)?;
        let mut measure = f64::INFINITY;
        let mut polished = false;
        for _ in 0..MAX_OUTER {
            self.evaluate(input)?;
            if self.include_closed() {
                self.scatter(input);
                self.assemble(input);
                self.evaluate(input)?;
            }
            self.assemble_matrix(input);
            self.assemble_right_side(input);
            let Some(work) = self.work.as_mut() else { break };
            for b in 0..work.full.blocks().len() {
                let rows = work.rows(b);
                let mut along = [0.0; MAX_DIM];
                work.full.coupling().add_velocity(b, &self.v, &mut along[..rows.len()]);
                for (row, a) in rows.zip(along) {
                    work.full.c[row] = self.xi[row] - a;
                }
            }
            let unique = report.non_unique;
            report.non_unique = false;
            work.solve(system, solve, report)?;
            // The solver stops at its own tolerance and does not go on from there.
            let left = solve.options.tolerance * work.full.reduced().velocity_scale();
            let non_unique = std::mem::replace(&mut report.non_unique, unique);
            report.newton += 1;
            report.stages[0] += 1;
            self.advance(input);
            if !self.sensitivity.identity {
                self.settle_position(input, MAX_OUTER);
            }
            if !(all_finite(&self.v) && all_finite(&self.q)) {
                return Err(Failure::NotFinite { what: "the state".into() });
            }
            self.evaluate(input)?;
            if self.open.iter().any(|open| *open < 0.0) {
                polished = false;
                continue;
            }
            let m = self.natural_misfit(input);
            // Not by `max`, which would hide a NaN.
            let beyond = |x: f64, left: f64| if x <= left { 0.0 } else { x - left };
            let m = Misfit { position: beyond(m.position, dt * left), velocity: beyond(m.velocity, left), ..m };
            measure = m.measure(o);
            if measure <= 1.0 {
                if polished || measure <= 1e-4 {
                    self.scatter(input);
                    if self.exclude_open(input) {
                        polished = false;
                        continue;
                    }
                    return Ok(non_unique);
                }
                polished = true;
            } else {
                polished = false;
            }
        }
        Err(Failure::Newton { iterations: MAX_OUTER, residual: measure * o.newton_tol })
    }

    /// What takes part from the beginning: contacts that carry, and those that would close within some more steps like the one that the guess makes.
    fn begin_near(&mut self, input: &StepInput) -> Result<(), Failure> {
        let StepInput { system, start, dt, list } = *input;
        self.move_position(input, MAX_OUTER);
        self.included.clear();
        for (i, k) in list.items().iter().enumerate() {
            let mut near = k.kind != Kind::Contact || self.p[list.range(i).start] > 0.0;
            if !near {
                let (mut now, mut then) = ([0.0], [0.0]);
                system.position(k, start.t, &start.q, &mut now);
                system.position(k, input.end(), &self.q, &mut then);
                if !(now[0].is_finite() && then[0].is_finite()) {
                    return Err(undefined(system, k));
                }
                near = now[0].min(then[0]) <= NEAR * (then[0] - now[0]).abs() + RESTING * dt;
            }
            self.included.push(near);
        }
        self.assemble(input);
        Ok(())
    }
}
