//! What a checkpoint holds, and what a step returns.

use crate::contract::{Candidates, System};
use complementarity::linear::dense::norm;
use complementarity::{Mode, Report, room};

/// Percussions of the last step by interaction: the warm start of the next.
#[derive(Debug, Clone, Default)]
pub struct Percussions {
    ids: Vec<u64>,
    start: Vec<u32>,
    values: Vec<f64>,
    /// Version of the candidate list that they are laid out for.
    version: u64,
}

impl PartialEq for Percussions {
    fn eq(&self, other: &Self) -> bool {
        self.ids == other.ids && self.start == other.start && self.values == other.values
    }
}

impl Percussions {
    /// All components, interaction after interaction (N·s).
    #[inline]
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// All components, interaction after interaction (N·s).
    #[inline]
    pub fn values_mut(&mut self) -> &mut [f64] {
        &mut self.values
    }

    /// Identities of the interactions.
    #[inline]
    pub fn ids(&self) -> &[u64] {
        &self.ids
    }

    /// Components of interaction `i` of the list.
    pub(crate) fn range(&self, i: usize) -> std::ops::Range<usize> {
        self.start[i] as usize..self.start[i + 1] as usize
    }

    fn slot(&self, i: usize) -> &[f64] {
        &self.values[self.range(i)]
    }

    /// Place in the list of an interaction, looked up first at place `i`.
    #[inline]
    pub(crate) fn place(&self, i: usize, id: u64) -> Option<usize> {
        if self.ids.get(i) == Some(&id) { Some(i) } else { self.ids.binary_search(&id).ok() }
    }

    /// The percussion of one interaction, if it is listed.
    #[inline]
    pub fn get(&self, id: u64) -> Option<&[f64]> {
        Some(self.slot(self.ids.binary_search(&id).ok()?))
    }

    /// The percussion of one interaction, looked up first at place `i`: lists rarely change.
    #[inline]
    pub(crate) fn at(&self, i: usize, id: u64) -> Option<&[f64]> {
        self.place(i, id).map(|i| self.slot(i))
    }

    /// Zeros for every interaction of a list.
    pub fn reset(&mut self, candidates: &Candidates) {
        self.ids.clear();
        room::reserve(&mut self.ids, candidates.len());
        self.ids.extend(candidates.items().iter().map(|k| k.id));
        room::assign(&mut self.start, candidates.starts());
        self.values.clear();
        room::resize(&mut self.values, candidates.components(), 0.0);
        self.version = candidates.version();
    }

    /// Copies another set of percussions, keeping the memory.
    fn assign(&mut self, other: &Percussions) {
        if self.version != other.version || self.ids.len() != other.ids.len() {
            room::assign(&mut self.ids, &other.ids);
            room::assign(&mut self.start, &other.start);
            self.version = other.version;
        }
        room::assign(&mut self.values, &other.values);
    }
}

/// The state of a simulation at a time: everything that a step starts from.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct State {
    /// Time, s.
    pub t: f64,
    /// Coordinates.
    pub q: Vec<f64>,
    /// Velocities (right limit).
    pub u: Vec<f64>,
    /// Percussions of the step that led here: warm start.
    pub percussions: Percussions,
    /// What else the scheme carries over.
    pub memory: Memory,
}

/// What a scheme carries from one step into the next beside q, u and percussions: empty before the first step, and where the scheme needs none.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Memory {
    /// Coordinates one step before, for schemes of two steps. They belong to the step length they were made with.
    pub before: Vec<f64>,
    /// Velocity in the middle of the step, for schemes of two stages.
    pub middle: Vec<f64>,
    /// The part of the percussions that acted in the first stage, laid out as they are.
    pub first: Vec<f64>,
    /// Mean accelerations of the step that led here, where Newton's method begins with them.
    pub rates: Vec<f64>,
    /// Accelerations at its stages, for schemes that continue them.
    pub stages: Vec<f64>,
    /// Length of the step that led here, s, for schemes that look back at its forces; otherwise 0.
    pub length: f64,
    /// Steps in a row that ended at an event, up to here, for schemes that locate events.
    pub events: u32,
    /// Discrete state of the step that led here, laid out as the percussions, where the next one is compared with it.
    pub sigma: Vec<Sigma>,
    /// Whether there was such a step.
    pub judged: bool,
}

impl Memory {
    pub(crate) fn assign(&mut self, other: &Memory) {
        room::assign(&mut self.before, &other.before);
        room::assign(&mut self.middle, &other.middle);
        room::assign(&mut self.first, &other.first);
        room::assign(&mut self.rates, &other.rates);
        room::assign(&mut self.stages, &other.stages);
        self.length = other.length;
        self.events = other.events;
        room::assign(&mut self.sigma, &other.sigma);
        self.judged = other.judged;
    }

    fn clear(&mut self) {
        self.before.clear();
        self.middle.clear();
        self.first.clear();
        self.rates.clear();
        self.stages.clear();
        self.length = 0.0;
        self.events = 0;
        self.sigma.clear();
        self.judged = false;
    }
}

impl State {
    /// A state without history.
    #[inline]
    pub fn new(t: f64, q: Vec<f64>, u: Vec<f64>) -> Self {
        Self { t, q, u, percussions: Percussions::default(), memory: Memory::default() }
    }

    /// Copies another state, keeping the memory.
    pub fn assign(&mut self, other: &State) {
        self.t = other.t;
        room::assign(&mut self.q, &other.q);
        room::assign(&mut self.u, &other.u);
        self.percussions.assign(&other.percussions);
        self.memory.assign(&other.memory);
    }
}

/// Discrete state σ̂ of one interaction: one bit per law, set where the law is impressed.
///
/// Contacts: bit 0 the normal law, bit 1 the friction law. Elements and joints: bit i component or
/// block i. An inactive contact is impressed in all bits [Studer2008, §4].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Sigma(pub u32);

impl Sigma {
    /// All laws impressed: an open contact.
    pub const OPEN: Sigma = Sigma(0b11);

    /// Mode of one law.
    #[inline]
    pub fn mode(self, bit: usize) -> Mode {
        if self.0 >> bit & 1 == 1 { Mode::Impressed } else { Mode::Constraint }
    }

    /// Sets one law.
    pub fn set(&mut self, bit: usize, mode: Mode) {
        match mode {
            Mode::Impressed => self.0 |= 1 << bit,
            Mode::Constraint => self.0 &= !(1 << bit),
        }
    }
}

/// Why a step ended where it did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reason {
    /// It went the whole way.
    #[default]
    Full,
    /// It stopped early at an event that the scheme located.
    Event,
}

/// What a step is made of, for schemes that tell impacts from forces: a smooth part, which may be the first part of a longer step, and a jump at its end.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Parts {
    /// Length of the step of which the smooth part is the first part, s; 0 where it is all of it.
    pub of: f64,
    /// Velocity at the end of that step; empty where the smooth part is all of it.
    pub velocity: Vec<f64>,
    /// A contact took a percussion without approach because no force satisfies the laws at the start: a paradox of Painlevé.
    pub paradox: bool,
    /// Interactions that took part in the smooth part; empty without a jump: all that took part did.
    pub active: Vec<bool>,
    /// Percussions of the smooth part, laid out as all of them; the rest is the jump's. Empty without a jump.
    pub smooth: Vec<f64>,
    /// Percussions of the compression, of jumps that have one.
    pub compression: Vec<f64>,
    /// Restitution that the jump took, by interaction; NaN for those that took no part in it.
    pub restitution: Vec<f64>,
}

impl Parts {
    fn clear(&mut self) {
        self.of = 0.0;
        self.velocity.clear();
        self.paradox = false;
        self.active.clear();
        self.smooth.clear();
        self.compression.clear();
        self.restitution.clear();
    }

    /// Whether there is a jump.
    #[inline]
    pub fn jump(&self) -> bool {
        !self.restitution.is_empty()
    }
}

/// What a step of a scheme with stages consists of: values at nodes within the step, of polynomials that are its dense output, and forces there. Empty for
/// other schemes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Stages {
    /// Nodes in [0, 1].
    pub nodes: Vec<f64>,
    /// Coordinates, stage after stage.
    pub q: Vec<f64>,
    /// Velocities, stage after stage.
    pub u: Vec<f64>,
    /// Forces by component of the candidates, stage after stage, N.
    pub lambda: Vec<f64>,
    /// Interactions that act with forces at the stages.
    pub acts: Vec<bool>,
    /// Those of them whose slip ends with the step, if there is any.
    pub rests: Vec<bool>,
    /// Restitution that the jump at the end took, by interaction; NaN for those that took no part in it.
    pub restitution: Vec<f64>,
    /// Velocity at which a contact that comes to rest goes back to zero gap, by interaction, m/s.
    pub lift: Vec<f64>,
    /// Positions follow the rule of velocities, because the step is stiff.
    pub stiff: bool,
}

impl Stages {
    pub(crate) fn clear(&mut self) {
        self.stiff = false;
        self.nodes.clear();
        for values in [&mut self.q, &mut self.u, &mut self.lambda, &mut self.restitution, &mut self.lift] {
            values.clear();
        }
        self.acts.clear();
        self.rests.clear();
    }

    /// The stages `from` of a step whose percussions were those, for another list of candidates.
    pub(crate) fn lay_out(&mut self, from: &Stages, those: &Percussions, list: &Candidates) {
        self.clear();
        if from.is_empty() {
            return;
        }
        self.nodes.clone_from(&from.nodes);
        self.q.clone_from(&from.q);
        self.u.clone_from(&from.u);
        self.stiff = from.stiff;
        let (n, components) = (list.len(), list.components());
        self.lambda.resize(components * from.nodes.len(), 0.0);
        self.acts.resize(n, false);
        self.rests.resize(n, false);
        self.restitution.resize(n, f64::NAN);
        self.lift.resize(n, 0.0);
        for (j, k) in list.items().iter().enumerate() {
            let Some(at) = those.place(j, k.id) else { continue };
            self.acts[j] = from.acts[at];
            self.rests[j] = from.rests[at];
            self.restitution[j] = from.restitution[at];
            self.lift[j] = from.lift[at];
            for l in 0..from.nodes.len() {
                let to = list.range(j).start + l * components;
                let values = &from.lambda(l)[those.range(at)];
                self.lambda[to..to + values.len()].copy_from_slice(values);
            }
        }
    }

    /// Whether there are any.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Coordinates at stage `l`.
    pub fn q(&self, l: usize) -> &[f64] {
        let n = self.q.len() / self.nodes.len().max(1);
        &self.q[l * n..(l + 1) * n]
    }

    /// Velocities at stage `l`.
    pub fn u(&self, l: usize) -> &[f64] {
        let n = self.u.len() / self.nodes.len().max(1);
        &self.u[l * n..(l + 1) * n]
    }

    /// Forces at stage `l`, by component of the candidates.
    pub fn lambda(&self, l: usize) -> &[f64] {
        let n = self.lambda.len() / self.nodes.len().max(1);
        &self.lambda[l * n..(l + 1) * n]
    }
}

/// How a step of the augmented scheme came out [Studer2008, §9.2].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// A step of a scheme that does not look.
    #[default]
    Plain,
    /// All substeps have the discrete state of the step before, and the error is small enough.
    Smooth,
    /// The same, but the error is too large.
    Inaccurate,
    /// A substep has another discrete state: there is a switch. The step itself is then one step of the base scheme.
    Detected,
    /// There is a switch, and the step is as short as can be.
    Resolved,
}

/// What an extrapolated step is made of; empty for other schemes.
#[derive(Debug, Clone, Default)]
pub struct Extrapolation {
    /// How the step came out.
    pub outcome: Outcome,
    /// Order of the approximation that it is.
    pub order: u32,
    /// Estimated error over what is allowed; 0 where none was estimated.
    pub error: f64,
    /// Laws whose mode is another than in the step before, in the substep that showed it.
    pub switches: usize,
    /// Numbers of substeps of the rows of the tableau; empty for one step of the base scheme.
    pub counts: Vec<u32>,
    /// By how much the last row changed the velocity, relative to the largest.
    pub change: f64,
    /// Whether another row would have needed steps below the smallest.
    pub exhausted: bool,
    /// Whether it extrapolates in powers of dt².
    pub even: bool,
    /// Whether contacts that stay closed are to be projected after it.
    pub project: bool,
    /// The substeps of all rows, row after row; there may be more, which are room.
    pub steps: Vec<Step>,
}

impl PartialEq for Extrapolation {
    fn eq(&self, other: &Self) -> bool {
        let what = |e: &Self| (e.outcome, e.order, e.error, e.switches, e.even);
        let same = |(a, b): (&[Step], &[Step])| a.iter().map(|s| &s.end).eq(b.iter().map(|s| &s.end));
        what(self) == what(other) && self.counts == other.counts && self.rows().zip(other.rows()).all(same)
    }
}

impl Extrapolation {
    /// Forgets everything but its room.
    pub(crate) fn clear(&mut self) {
        (self.outcome, self.order, self.switches) = (Outcome::Plain, 0, 0);
        (self.error, self.change) = (0.0, 0.0);
        (self.even, self.project, self.exhausted) = (false, false, false);
        self.counts.clear();
    }

    /// Substeps by row.
    pub fn rows(&self) -> impl Iterator<Item = &[Step]> {
        let mut at = 0;
        self.counts.iter().map(move |&n| {
            at += n as usize;
            &self.steps[at - n as usize..at]
        })
    }

    /// A copy without room.
    pub(crate) fn kept(&self) -> Self {
        let used = self.counts.iter().map(|n| *n as usize).sum();
        Self { counts: self.counts.clone(), steps: self.steps[..used].to_vec(), ..*self }
    }
}

/// Work of one step.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct StepReport {
    /// Calls of the scheme that makes steps: more than one where they are extrapolated.
    pub calls: usize,
    /// One-step problems solved.
    pub solves: usize,
    /// Solver iterations of all of them.
    pub iterations: usize,
    /// Pivots of Lemke's method among them.
    pub pivots: usize,
    /// Newton iterations of the scheme.
    pub newton: usize,
    /// The same by stage, for schemes of two stages.
    pub stages: [usize; 2],
    /// Stages that the first try did not solve, so that the scheme went down its ladder.
    pub retries: usize,
    /// Contacts that took part.
    pub contacts: usize,
    /// Index sets of contacts for which the step was solved, until they stayed: one, unless the scheme looks for them.
    pub index_sets: usize,
    /// Iterations of the position projection within the step.
    pub projection: usize,
    /// Largest residual of the one-step problems.
    pub residual: f64,
    /// The same as a velocity, not divided by the size of the problem: what relative velocities are known to, m/s.
    pub noise: f64,
    /// The percussions are not unique in the mode found.
    pub non_unique: bool,
}

impl StepReport {
    /// Adds the work of problems whose residuals are accelerations that act for `dt`.
    pub(crate) fn add(&mut self, other: &StepReport, dt: f64) {
        self.solves += other.solves;
        self.iterations += other.iterations;
        self.pivots += other.pivots;
        self.non_unique |= other.non_unique;
        self.residual = self.residual.max(other.residual);
        self.noise = self.noise.max(dt * other.noise);
    }

    /// Adds the work of a substep.
    pub(crate) fn join(&mut self, other: &StepReport) {
        self.calls += other.calls;
        self.newton += other.newton;
        self.stages.iter_mut().zip(other.stages).for_each(|(a, b)| *a += b);
        self.retries += other.retries;
        self.contacts = self.contacts.max(other.contacts);
        self.index_sets = self.index_sets.max(other.index_sets);
        self.projection += other.projection;
        self.add(other, 1.0);
    }

    /// Adds a one-step problem with this b.
    pub(crate) fn take(&mut self, report: &Report, b: &[f64]) {
        self.solves += 1;
        self.iterations += report.iterations;
        self.pivots += report.pivots;
        self.non_unique |= report.non_unique;
        self.residual = self.residual.max(report.residual);
        let size = norm(b);
        self.noise = self.noise.max(report.residual * if size > 0.0 { size } else { 1.0 });
    }
}

/// The result of one step. The start state is left untouched.
#[derive(Debug, Clone, Default)]
pub struct Step {
    /// Length that was gone, s.
    pub dt: f64,
    /// State at the end, with the percussions of this step. Boxed, so that it becomes the next start by pointer.
    pub end: Box<State>,
    /// Velocity before the jump at the end, where the scheme locates one; otherwise empty, and always for Moreau-type schemes, whose
    /// percussions act over the whole step: their γ⁻ is taken with the start velocity.
    pub u_minus: Vec<f64>,
    /// Smooth part and jump of a step of a scheme that tells them apart.
    pub parts: Parts,
    /// Stages of a step of a scheme that has them.
    pub stages: Stages,
    /// The interactions, frozen during the attempt.
    pub candidates: Candidates,
    /// Which of them took part in the velocity-level problem.
    pub active: Vec<bool>,
    /// Discrete state of every interaction.
    pub sigma: Vec<Sigma>,
    /// Relative velocities that the law took as γ⁻ (active interactions; else zero).
    pub gamma_minus: Vec<f64>,
    /// Relative velocities at the end, in the kinematics that the scheme used (active interactions; else zero).
    pub gamma_plus: Vec<f64>,
    /// Multipliers τ of a projection of the position, by component of the candidates (of a contact, its first); empty for schemes without.
    pub multipliers: Vec<f64>,
    /// Whether the velocity jumped: a contact took a percussion that it approached faster than forces explain, an impact. The
    /// percussion of a contact that persists is a force times dt and no jump.
    pub impact: bool,
    /// Coordinates beyond the end that the scheme looked at, empty for schemes of one step: the reach of the candidates must
    /// cover them too.
    pub ahead: Vec<f64>,
    /// Why it ended.
    pub reason: Reason,
    /// What it is extrapolated from, where it is.
    pub extrapolation: Extrapolation,
    /// Power to which restitutions are raised, where it is not the first (0): [Studer2008, §8.2].
    pub restitution_power: f64,
    /// What it cost.
    pub report: StepReport,
    /// Version of the candidates that the arrays are sized for.
    begun_for: u64,
}

impl Step {
    /// Sizes the per-interaction arrays for the frozen candidates; the scheme fills them.
    pub(crate) fn begin(&mut self, dt: f64) {
        self.dt = dt;
        self.report = StepReport { calls: 1, index_sets: 1, ..StepReport::default() };
        self.reason = Reason::Full;
        self.impact = false;
        self.u_minus.clear();
        self.parts.clear();
        self.stages.clear();
        self.extrapolation.clear();
        self.ahead.clear();
        self.multipliers.clear();
        self.end.memory.clear();
        let (n, c) = (self.candidates.len(), self.candidates.components());
        if self.begun_for != self.candidates.version() || self.active.len() != n {
            self.begun_for = self.candidates.version();
            room::resize(&mut self.active, n, false);
            room::resize(&mut self.sigma, n, Sigma::OPEN);
            room::resize(&mut self.gamma_minus, c, 0.0);
            room::resize(&mut self.gamma_plus, c, 0.0);
        }
        if self.end.percussions.version != self.candidates.version() || self.end.percussions.ids.len() != n {
            self.end.percussions.reset(&self.candidates);
        }
    }

    /// Marks interaction `i` as having taken no part.
    pub(crate) fn set_inactive(&mut self, i: usize) {
        self.sigma[i] = Sigma::OPEN;
        for j in self.candidates.range(i) {
            self.end.percussions.values[j] = 0.0;
            self.gamma_minus[j] = 0.0;
            self.gamma_plus[j] = 0.0;
        }
    }

    /// Percussion of interaction `i` of the list.
    #[inline]
    pub fn percussion(&self, i: usize) -> &[f64] {
        &self.end.percussions.values[self.candidates.range(i)]
    }
}

/// q̇ into `out`.
#[inline]
pub(crate) fn rates_into(system: &dyn System, t: f64, q: &[f64], u: &[f64], out: &mut [f64]) {
    if system.structure().identity_kinematics {
        out.copy_from_slice(u);
    } else {
        system.kinematics(t, q, u, out);
    }
}

/// q̇, by the shortest way: u itself, or what `room` then holds.
#[inline]
pub(crate) fn rates<'a>(system: &dyn System, t: f64, q: &[f64], u: &'a [f64], room: &'a mut Vec<f64>) -> &'a [f64] {
    if system.structure().identity_kinematics {
        return u;
    }
    room.resize(q.len(), 0.0);
    system.kinematics(t, q, u, room);
    room
}
