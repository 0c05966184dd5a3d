//! Augmented time stepping [Studer2008, §5-9]: extrapolation of a base scheme in smooth steps, and steps of the smallest length where the discrete state switches.
//!
//! This is the extrapolation module (§9.2); the step-size module (§9.3) is the controller `step_size.rs`. A step of length dt from (t, q, u, σ̂), σ̂ the modes of all laws in the step before, is
//!
//! ```text
//! T_{i,1}   = (q, u) after n_i steps of the base scheme of length dt/n_i,   n_i = 1, 3, 5, ..                      §8.2
//! T_{i,j+1} = T_{i,j} + (T_{i,j} − T_{i−1,j}) / ((n_i/n_{i−j})^s − 1),      s = 1, or 2 where errors are even       (42)
//! accepted:   T_{i,i} with the first i ≥ 2 for which |u_{i,i} − u_{i−1,i−1}|_∞, |δq/dt_max|_∞ ≤ atol + rtol |u_{i,i}|_∞
//! ```
//!
//! (or the difference is what rounding, the solver of the one-step problems or Newton's method of the base leaves), with δq = q_{i,i} − q_{i−1,i−1} as what moves from one to the other (`error.rs`),
//! while all base steps have the modes σ̂, the order does not exceed `max_order`, and dt/n_i ≥ dt_min; `fixed_order` takes T_{p,p} without the test. It comes out **smooth**, **inaccurate** (no i is enough), or,
//! where a base step has other modes, a switch is **detected**; then the step holds the base step of length dt. A step shorter than 3 dt_min is one base step: it is smooth, or a switch is **resolved** by it.
//!
//! **Base.** With `base = "auto"` a step is made by moreau-midpoint while every contact of its list keeps its direction (W and χ constant), and by
//! moreau-jean where one moves or turns and no more than sixteen interactions are listed (with more, steps are mostly coarse, and the explicit rule costs least): with W and γ⁻ of the middle a contact that is closed opens again, or throws back a velocity of the order of dt, and rows do not agree.
//!
//! **A base step that fails** halves the step. One of the smallest length whose Newton's method does not reach its tolerance is made again to 1e-10, and counts as inaccurate
//! (`Work::loose`).
//!
//! **Modes** are those of `modes.rs`: where rounding decides, a law keeps the mode of the step before.
//!
//! **Even errors.** Where the base scheme says that errors are even in dt (`Scheme::is_even`), rows gain two orders each, so that an order p takes ⌈p/2⌉ rows, and one more for the test. For the midpoint rule that is so if forces do not depend on u,
//! M is constant, and no law acts whose direction changes or turns; `extrapolation` says otherwise. From the third row on
//! the first column shows whether it is true (`Tableau::looks_odd`); if not, the step goes on with every power.
//!
//! **After extrapolation** the loop normalises q and projects joints and contacts that stay closed (constraint mode), q onto g = 0 and u onto γ = 0 (`stabilise.rs`), as the mean of base steps satisfies them only up to its error. With `substeps = "all"`
//! contacts are not: that is the contrast of §8.1, which shows what extrapolation does to them.
//!
//! Positions of bodies that turn in space are extrapolated in local coordinates about q: T_{i,1} has q_{i,1} ⊖ q in their place, and the step ends at q ⊕ ξ_{i,i}.
//!
//! **Percussions** are extrapolated like q and u (sums over the substeps), so that they balance the change of momentum to the same order. Modes are those of the substeps.
//!
//! **Ledger and certificate.** Every substep is accounted for and certified by the base scheme. Lines of the ledger are extrapolated with the same tableau, and what extrapolation itself does to the energy, E(T_{i,i}) − Σ w_j E(T_{j,1}), is the line
//! `numerical.extrapolation`. The certificate is the worst of all substeps, and the difference of the end from the tableau of the substeps.

mod error;
mod examine;
mod modes;
mod options;
mod record;
mod step_size;
mod tableau;

pub use options::{AugmentedOptions, Control, Inaccurate, Powers, StepRestitution, Substeps};
pub use step_size::{Lengths, StepSize};
pub use tableau::Tableau;

pub(crate) use modes::for_each_switch;
pub use record::{AugmentedMemory, AugmentedStep};

use error::{Tangent, distance};
use modes::Modes;

use super::settings::{Settings, SettingsError};
use super::velocity_level::SUPPORTS;
use super::{Examination, Failure, Order, SCHEMES, Scheme, SchemeInfo, Solve};
use crate::accounting::{Certificate, Ledger};
use crate::contract::{Candidates, Evaluator, Kind};
use crate::control::{Controller, Span};
use crate::state::{Record, Sigma, State, Step, StepOutcome};
use complementarity::linear::dense::{all_finite, max_norm};
use complementarity::{FullProblem, capacity};

pub(super) static INFO: SchemeInfo = SchemeInfo {
    name: "augmented",
    summary: "extrapolation of a base scheme in smooth steps, switches resolved by the smallest step; adapts step and order",
    reference: "Studer2008, §5-9",
    position_level: false,
    impact_steps: 1,
    looks_ahead: false,
    adaptive: true,
    variable_step: true,
    stages: 1,
    supports: SUPPORTS,
    options: AugmentedOptions::ALL,
    make: |s: &Settings| {
        let options = AugmentedOptions::from_settings(s)?.checked()?;
        let of_bases = s.without(AugmentedOptions::ALL);
        let (bases, loose) = (options.bases(&of_bases)?, options.loose_bases(&of_bases)?);
        Ok(Box::new(Augmented::over(options, bases, loose)))
    },
};

/// The base that settings name, if they name one.
pub(super) fn base_of(settings: &Settings) -> Option<&'static SchemeInfo> {
    let name = options::BASE.read(settings).ok()?;
    SCHEMES.iter().find(|s| s.name == name).copied()
}

/// A step of less than this many smallest steps is one base step: [Studer2008, §9.3].
const ROWS_FROM: f64 = 3.0;
/// Interactions of which each switch is resolved, however often they switch.
const ALWAYS_RESOLVED: usize = 16;
/// What the solver leaves of its problems, handed on by contacts to each other, and rounding are no errors of the step up to this many times.
const NOISE: f64 = 100.0;
/// Lengths are compared up to rounding.
const ROUNDING: f64 = 1e-9;
/// So is what Newton's method of the base leaves; it is mostly far below its tolerance.
const NEWTON_NOISE: f64 = 10.0;
/// Part of the tolerance up to which a velocity does not tell a mode.
const NEGLIGIBLE: f64 = 0.01;
/// Rows from which the first column tells an expansion in even powers from one in all of them.
const PARITY_ROWS: usize = 3;

/// Augmented time stepping. See the [module](self).
pub struct Augmented {
    options: AugmentedOptions,
    /// The base scheme, or those of `auto`.
    bases: Vec<Box<dyn Scheme>>,
    /// The same with a looser tolerance, for steps of the smallest length that they do not solve; the other way round after such a step.
    loose: Vec<Box<dyn Scheme>>,
    is_loose: bool,
    /// The tolerances of their Newton's methods; 0 where there is none.
    newton: Vec<f64>,
    /// Which of them made the last step.
    used: usize,
    dt_min: f64,
    /// Length to which errors of positions are related, s; 0: that of the step.
    dt_max: f64,
    /// Length over which the tolerance is allowed, s; 0: per step.
    per: f64,
    tableau: Tableau,
    modes: Modes,
    /// Modes of the first row of the step.
    sigma: Vec<Sigma>,
    tangent: Tangent,
    /// q, u and percussions of a row.
    row: Vec<f64>,
    ledger: Option<Ledger>,
    certificate: Certificate,
}

impl Augmented {
    /// With given options, over a base scheme. Without a run `dt_min` is what they say.
    pub fn new(options: AugmentedOptions, base: Box<dyn Scheme>) -> Self {
        Self::over(options, vec![(base, 0.0)], Vec::new())
    }

    /// The same over the bases of a ladder, each with the tolerance of its Newton's method, and the same ones with a looser one.
    fn over(options: AugmentedOptions, bases: Vec<options::Base>, loose: Vec<options::Base>) -> Self {
        let dt_min = options.dt_min.unwrap_or(0.0);
        let (bases, newton) = bases.into_iter().unzip();
        Self {
            options,
            bases,
            loose: loose.into_iter().map(|(base, _)| base).collect(),
            is_loose: false,
            newton,
            used: 0,
            dt_min,
            dt_max: 0.0,
            per: 0.0,
            tableau: Tableau::default(),
            modes: Modes::default(),
            sigma: Vec::new(),
            tangent: Tangent::default(),
            row: Vec::new(),
            ledger: None,
            certificate: Certificate::default(),
        }
    }

    /// The base of a step with these interactions.
    fn base_for(&mut self, list: &Candidates) -> &mut dyn Scheme {
        let turns = || list.items().iter().any(|k| k.kind == Kind::Contact && !k.constant);
        self.used = usize::from(self.bases.len() > 1 && list.len() <= ALWAYS_RESOLVED && turns());
        &mut *self.bases[self.used]
    }

    /// How many laws switched in a base step from `from`.
    fn switches(&mut self, system: &Evaluator, start: &State, from: &State, step: &Step, solve: &Solve) -> usize {
        let free = self.bases[self.used].last_problem().map(|p| p.free_velocity());
        let unsolved = solve.options.tolerance * free.map_or(0.0, max_norm);
        let floor = unsolved.min(NEGLIGIBLE * self.options.atol);
        self.modes.count_switches(system, start, from, step, free, floor)
    }

    /// Substeps of row `i`, from 1.
    fn count(&self, i: usize) -> usize {
        match self.options.substeps {
            Substeps::Odd => 2 * i - 1,
            Substeps::All => i,
        }
    }

    /// Rows that are made at most.
    fn rows(&self, even: bool) -> usize {
        let o = &self.options;
        match (o.fixed_order, even) {
            (Some(p), false) => p,
            (Some(p), true) => p.div_ceil(2),
            (None, false) => o.max_order,
            (None, true) => 1 + o.max_order.div_ceil(2).max(1),
        }
    }

    /// Order of a step with this many rows.
    fn order_of(&self, rows: usize, even: bool) -> u32 {
        (match (rows, even, self.options.fixed_order) {
            (_, false, _) => rows,
            (_, true, Some(_)) => 2 * rows,
            // That of the approximation whose error was tested.
            (_, true, None) => (2 * (rows - 1)).max(1),
        }) as u32
    }

    /// Whether the step is to be extrapolated in powers of dt².
    fn even(&mut self, system: &Evaluator, start: &State, step: &Step) -> bool {
        match self.options.powers {
            Powers::Every => false,
            Powers::Even => true,
            // The contrast of §8.1 is about (42).
            Powers::Auto => {
                self.options.substeps == Substeps::Odd && self.base_for(&step.candidates).is_even(system, start, step)
            }
        }
    }

    /// One base step of length `h` into `step`.
    fn base_step(
        &mut self,
        system: &Evaluator,
        from: &State,
        h: f64,
        solve: &mut Solve,
        step: &mut Step,
    ) -> Result<(), Failure> {
        let modified = self.options.restitution == StepRestitution::Modified && self.dt_min > 0.0;
        step.restitution_exponent = if modified { (h / self.dt_min).max(1.0) } else { 1.0 };
        self.base_for(&step.candidates).step(system, from, h, solve, step)
    }

    /// Takes the bases with the looser tolerance, or those with the other one.
    fn loosen(&mut self, loose: bool) {
        if self.is_loose != loose {
            std::mem::swap(&mut self.bases, &mut self.loose);
            self.is_loose = loose;
        }
    }

    /// Rows from the second on, after `out` has become the first. True if the step is then extrapolated, false if a switch was detected.
    fn extrapolate(
        &mut self,
        system: &Evaluator,
        start: &State,
        dt: f64,
        solve: &mut Solve,
        out: &mut Step,
    ) -> Result<bool, Failure> {
        let mut even = self.even(system, start, out);
        let mut most = self.rows(even);
        let mut steps = std::mem::take(&mut out.record.make::<AugmentedStep>().steps);
        let mut report = out.report;
        let mut result = Ok(true);
        let (nq, nu) = (start.q.len(), start.u.len());
        self.tableau.begin(if even { 2 } else { 1 });
        self.row.clear();
        self.row.extend(out.end.q.iter().chain(&out.end.u).chain(out.end.percussions.values()));
        system.localise(&start.q, &mut self.row[..nq]);
        self.tableau.push(1, &self.row);
        // Place 0 is for the first row.
        let (mut rows, mut used, mut accurate) = (1, 1, self.options.fixed_order.is_some());
        let (mut error, mut relative) = (0.0, 0.0);
        'rows: while rows < most && dt >= self.count(rows + 1) as f64 * self.dt_min * (1.0 - ROUNDING) {
            let n = self.count(rows + 1);
            let h = dt / n as f64;
            self.row.truncate(nq + nu);
            self.row.resize(nq + nu + out.end.percussions.values().len(), 0.0);
            for j in 0..n {
                while steps.len() <= used {
                    steps.push(Step::default());
                }
                let (before, rest) = steps.split_at_mut(used);
                let from = if j == 0 { start } else { &before[used - 1].end };
                let step = &mut rest[0];
                step.candidates.assign(&out.candidates);
                if let Err(e) = self.base_step(system, from, h, solve, step) {
                    result = Err(e);
                    break 'rows;
                }
                report.join(&step.report);
                let switches = self.switches(system, start, from, step, solve);
                if switches > 0 {
                    out.record.make::<AugmentedStep>().switches = switches;
                    result = Ok(false);
                    break 'rows;
                }
                let values = step.end.percussions.values();
                self.row[nq + nu..].iter_mut().zip(values).for_each(|(sum, p)| *sum += p);
                used += 1;
            }
            let end = &steps[used - 1].end;
            self.row[..nq].copy_from_slice(&end.q);
            system.localise(&start.q, &mut self.row[..nq]);
            self.row[nq..nq + nu].copy_from_slice(&end.u);
            self.tableau.push(n, &self.row);
            rows += 1;
            if even && rows == PARITY_ROWS {
                let size = max_norm(&self.row[..nq + nu]);
                if self.tableau.looks_odd(0..nq + nu, NOISE * f64::EPSILON * size + NOISE * report.noise) {
                    even = false;
                    most = self.rows(even);
                    self.tableau.begin_again(1);
                }
            }
            if self.options.fixed_order.is_none() {
                let (best, before) = self.tableau.diagonal();
                let (u, last) = (&best[nq..nq + nu], &before[nq..nq + nu]);
                let change = distance(u, last);
                let t = start.t + dt;
                let moved = self.tangent.distance(system, t, &best[..nq], u, &best[..nq], &before[..nq]);
                let share = if self.per > 0.0 { dt / self.per } else { 1.0 };
                let tolerance = (self.options.atol + self.options.rtol * max_norm(u)) * share;
                let allowed = tolerance.max(NOISE * report.noise);
                let (size, place) = (max_norm(u).max(max_norm(last)), max_norm(&best[..nq]));
                let rounding = NOISE * f64::EPSILON;
                let of = |change: f64, size: f64| if size > 0.0 { change / size } else { 0.0 };
                let newton = NEWTON_NOISE * self.newton[self.used];
                let by_u = change / allowed.max((rounding + newton) * size);
                let per = if self.dt_max > 0.0 { self.dt_max } else { dt };
                let by_q = moved / (per * allowed).max((rounding + newton) * place);
                (error, relative) = if by_q > by_u { (by_q, of(moved, place)) } else { (by_u, of(change, size)) };
                accurate = error <= 1.0;
                if accurate {
                    break;
                }
            }
        }
        if !matches!(result, Ok(true)) {
            out.record.make::<AugmentedStep>().steps = steps;
            out.report = report;
            return result;
        }
        let (order, outcome) =
            (self.order_of(rows, even), if accurate { StepOutcome::Smooth } else { StepOutcome::Inaccurate });
        if rows == 1 {
            // One base step it is.
            let e: &mut AugmentedStep = out.record.make();
            (e.order, e.outcome, e.steps) = (order, outcome, steps);
            e.project = self.options.substeps == Substeps::Odd;
            return Ok(true);
        }
        // The first row becomes a substep, and the step what is extrapolated.
        steps[0].candidates.assign(&out.candidates);
        std::mem::swap(out, &mut steps[0]);
        let counts = (1..=rows).map(|i| self.count(i) as u32);
        out.begin(dt);
        out.restitution_exponent = 1.0;
        out.record.make::<AugmentedStep>().counts.extend(counts);
        let (first, last) = (&steps[0], &steps[used - 1]);
        out.end.t = start.t + dt;
        let (best, _) = self.tableau.diagonal();
        capacity::assign(&mut out.end.q, &best[..nq]);
        system.retract(&start.q, &mut out.end.q);
        capacity::assign(&mut out.end.u, &best[nq..nq + nu]);
        out.end.percussions.values_mut().copy_from_slice(&best[nq + nu..]);
        capacity::assign(&mut out.active, &first.active);
        capacity::assign(&mut out.sigma, &first.sigma);
        // Nothing has jumped.
        out.gamma_minus.fill(0.0);
        capacity::assign(&mut out.gamma_plus, &last.gamma_plus);
        out.end.memory.assign(&last.end.memory);
        out.report = report;
        let e: &mut AugmentedStep = out.record.make();
        e.steps = steps;
        (e.order, e.outcome, e.even) = (order, outcome, even);
        (e.error, e.change) = (error, relative);
        // With all numbers of substeps: as in the paper.
        e.exhausted = rows < most && self.options.substeps == Substeps::Odd;
        e.project = self.options.substeps == Substeps::Odd;
        Ok(true)
    }
}

impl Scheme for Augmented {
    fn info(&self) -> &'static SchemeInfo {
        &INFO
    }

    fn base(&self) -> &'static SchemeInfo {
        self.bases[0].info()
    }

    fn order(&self) -> Order {
        Order { smooth: self.options.fixed_order.unwrap_or(self.options.max_order) as u32, impacts: 1 }
    }

    fn controller(&mut self, span: &Span) -> Result<Option<Box<dyn Controller>>, SettingsError> {
        let lengths = self.options.lengths(span)?;
        (self.dt_min, self.dt_max) = (lengths.dt_min, lengths.dt_max);
        self.per = if self.options.control == Control::Tolerance { lengths.dt_max } else { 0.0 };
        let accept = self.options.inaccurate == Inaccurate::Accept;
        Ok(Some(Box::new(StepSize::new(span, lengths, accept, self.options.crowd))))
    }

    fn step(
        &mut self,
        system: &Evaluator,
        start: &State,
        dt: f64,
        solve: &mut Solve,
        out: &mut Step,
    ) -> Result<(), Failure> {
        let smallest = dt < ROWS_FROM * self.dt_min * (1.0 - ROUNDING);
        self.loosen(false);
        match self.base_step(system, start, dt, solve, out) {
            Err(Failure::Newton { .. }) if smallest && !self.loose.is_empty() => {
                self.loosen(true);
                self.base_step(system, start, dt, solve, out)?;
            }
            made => made?,
        }
        let found = self.switches(system, start, start, out, solve);
        capacity::assign(&mut self.sigma, &self.modes.sigma);
        let one = smallest || !start.memory.of::<AugmentedMemory>().judged;
        let e: &mut AugmentedStep = out.record.make();
        (e.order, e.switches, e.exhausted) = (1, found, self.is_loose);
        e.outcome = match (one, found) {
            (_, 0) if self.is_loose => StepOutcome::Inaccurate,
            (_, 0) => StepOutcome::Smooth,
            (true, _) => StepOutcome::Resolved,
            (false, _) => StepOutcome::Detected,
        };
        if !one && found == 0 && !self.extrapolate(system, start, dt, solve, out)? {
            out.record.make::<AugmentedStep>().outcome = StepOutcome::Detected;
        }
        if !(all_finite(&out.end.q) && all_finite(&out.end.u)) {
            return Err(Failure::NotFinite { what: "the state".into() });
        }
        let memory: &mut AugmentedMemory = out.end.memory.make();
        capacity::assign(&mut memory.sigma, &self.sigma);
        memory.judged = true;
        Ok(())
    }

    fn examine(&mut self, system: &Evaluator, start: &State, step: &Step, asked: Examination) {
        self.evaluate_finished(system, start, step, asked);
    }

    fn records(&self) -> Vec<Box<dyn Record>> {
        let mut records: Vec<Box<dyn Record>> = Vec::new();
        for record in self.bases.iter().flat_map(|b| b.records()) {
            if !records.iter().any(|r| r.name() == record.name()) {
                records.push(record);
            }
        }
        records.push(Box::<AugmentedMemory>::default());
        records.push(Box::<AugmentedStep>::default());
        records
    }

    fn last_problem(&self) -> Option<&FullProblem> {
        self.bases[self.used].last_problem()
    }

    fn last_included(&self) -> Option<&[bool]> {
        self.bases[self.used].last_included()
    }
}
