//! Which contacts are active in a step: forecasts of their gaps [Acary2013, (61), (62)], all, or none.

use super::{Begin, Forecast, Positions, ThetaStep, blend};
use crate::contract::{Evaluator, Kind};
use crate::scheme::velocity_level::gap;
use crate::scheme::{Failure, Solve};
use crate::state::{State, Step};

impl ThetaStep {
    /// Decides which contacts are active, by a forecast of their gap that is at most `closed`, and takes γ⁻ of all active interactions.
    pub(in crate::scheme) fn activate(
        &mut self,
        system: &Evaluator,
        start: &State,
        forecast: Forecast,
        closed: f64,
        solve: &mut Solve,
        out: &mut Step,
    ) -> Result<(), Failure> {
        match forecast {
            Forecast::Explicit { gamma } => self.activate_explicit(system, start, gamma, closed, out),
            Forecast::Free => self.activate_free(system, start, closed, solve, out),
        }
    }

    /// Forecast (61).
    fn activate_explicit(
        &mut self,
        system: &Evaluator,
        start: &State,
        gamma: f64,
        closed: f64,
        out: &mut Step,
    ) -> Result<(), Failure> {
        let Some(work) = self.work.as_mut() else { return Ok(()) };
        let (t, q, u) = (start.t, &start.q, &start.u);
        for (i, k) in out.candidates.items().iter().enumerate() {
            let mut known = false;
            out.active[i] = match k.kind {
                Kind::Contact => {
                    let mut forecast = gap(system, k, t, q)?;
                    if gamma > 0.0 {
                        work.velocity_before(system, t, q, u, &out.candidates, i);
                        known = true;
                        forecast += gamma * out.dt * work.before(&out.candidates, i)[0];
                    }
                    forecast <= closed
                }
                _ => true,
            };
            if out.active[i] && !known {
                work.velocity_before(system, t, q, u, &out.candidates, i);
            }
        }
        Ok(())
    }

    /// Forecast (62): the same with the end velocity of the step without contacts.
    fn activate_free(
        &mut self,
        system: &Evaluator,
        start: &State,
        closed: f64,
        solve: &mut Solve,
        out: &mut Step,
    ) -> Result<(), Failure> {
        let contacts = out.candidates.items().iter().any(|k| k.kind == Kind::Contact);
        self.activate_no_contact(system, start, out);
        if !contacts {
            return Ok(());
        }
        self.newton(system, start, solve, out, Positions::Integrated, Begin::Anew)?;
        let Some(work) = self.work.as_mut() else { return Ok(()) };
        let (t, q, u) = (start.t, &start.q, &start.u);
        let b = &mut self.buffers;
        blend(self.options.theta, u, &b.v, &mut b.u_theta);
        for (i, k) in out.candidates.items().iter().enumerate() {
            if k.kind == Kind::Contact {
                work.velocity_before(system, t, q, &b.u_theta, &out.candidates, i);
                let forecast = gap(system, k, t, q)? + out.dt * work.before(&out.candidates, i)[0];
                out.active[i] = forecast <= closed;
            }
        }
        work.velocities_before(system, t, q, u, &out.candidates, &out.active);
        Ok(())
    }

    /// Everything, with γ⁻.
    pub(in crate::scheme) fn activate_all(&mut self, system: &Evaluator, start: &State, out: &mut Step) {
        out.active.fill(true);
        if let Some(work) = self.work.as_mut() {
            work.velocities_before(system, start.t, &start.q, &start.u, &out.candidates, &out.active);
        }
    }

    /// Everything but contacts, with γ⁻.
    pub(in crate::scheme) fn activate_no_contact(&mut self, system: &Evaluator, start: &State, out: &mut Step) {
        for (i, k) in out.candidates.items().iter().enumerate() {
            out.active[i] = k.kind != Kind::Contact;
        }
        if let Some(work) = self.work.as_mut() {
            work.velocities_before(system, start.t, &start.q, &start.u, &out.candidates, &out.active);
        }
    }
}
