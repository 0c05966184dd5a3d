//! Recording: which steps are kept, at which times, and how a recorded run is checked again.

use super::{Observer, StepView};
use crate::accounting::Certificate;
use crate::contract::{Evaluator, Reach, System, Workspace};
use crate::polynomial::{Hermite, lagrange, lagrange_integral};
use crate::scheme::Scheme;
use crate::scheme::stabilise::JointProjection;
use crate::state::{Percussions, Records, Sigma, Stages, State, Step};

/// Which steps a [`Trajectory`] keeps.
#[derive(Debug, Clone, PartialEq)]
pub enum Recording {
    /// Every k-th step, and the last; 1 is all.
    Every(usize),
    /// The state at these times, in this order, by side steps or by dense output.
    At(Vec<f64>),
}

/// One kept state.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// Time, s.
    pub t: f64,
    /// Coordinates.
    pub q: Vec<f64>,
    /// Velocities (right limit).
    pub u: Vec<f64>,
    /// The step that led here; `None` for the start and for interpolated states.
    pub step: Option<StepRecord>,
}

/// Data of a step that is kept besides its end state.
#[derive(Debug, Clone, PartialEq)]
pub struct StepRecord {
    /// Length, s.
    pub dt: f64,
    /// Percussions by interaction, N·s.
    pub percussions: Percussions,
    /// Which interactions took part.
    pub active: Vec<bool>,
    /// Their discrete states.
    pub sigma: Vec<Sigma>,
    /// What the scheme carries over from it.
    pub memory: Records,
    /// What the scheme keeps of it besides.
    pub record: Records,
    /// Exponent that it gave the restitution coefficients.
    pub restitution_exponent: f64,
    /// Its certificate.
    pub certificate: Option<Certificate>,
    /// (q, u) as the scheme left them, where they were corrected afterwards.
    pub raw: Option<(Vec<f64>, Vec<f64>)>,
}

/// Kept states of a run, in order of time (or of the requested times).
#[derive(Debug, Clone)]
pub struct Trajectory {
    recording: Recording,
    records: Vec<Record>,
    seen: usize,
    last: Option<State>,
    found: Vec<bool>,
    /// What the scheme carried into the first step, of a run that went on.
    memory: Records,
}

impl Trajectory {
    /// An empty trajectory that keeps the steps of `recording`.
    pub fn new(recording: Recording) -> Self {
        let (records, found) = match &recording {
            Recording::Every(_) => (Vec::new(), Vec::new()),
            Recording::At(times) => {
                let empty = |&t: &f64| Record { t, q: Vec::new(), u: Vec::new(), step: None };
                (times.iter().map(empty).collect(), vec![false; times.len()])
            }
        };
        Self { recording, records, seen: 0, last: None, found, memory: Records::default() }
    }

    /// The records. Requested times that the run did not reach have empty q and u.
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// The records, for tests that tamper with them.
    #[doc(hidden)]
    pub fn records_mut(&mut self) -> &mut [Record] {
        &mut self.records
    }

    fn keep(&mut self, view: &StepView) {
        let step = view.step;
        self.records.push(Record {
            t: view.end.t,
            q: view.end.q.clone(),
            u: view.end.u.clone(),
            step: Some(StepRecord {
                dt: step.dt,
                percussions: step.end.percussions.clone(),
                active: step.active.clone(),
                sigma: step.sigma.clone(),
                memory: step.end.memory.clone(),
                record: step.record.clone(),
                restitution_exponent: step.restitution_exponent,
                certificate: view.certificate.copied(),
                raw: view.is_corrected().then(|| (step.end.q.clone(), step.end.u.clone())),
            }),
        });
    }

    /// Evaluates the certificates of a run again, from the records of all its steps alone. Returns the worst step with its index, its
    /// certificate, and the name of the interaction that explains it.
    pub fn recheck(&self, system: &dyn System, scheme: &mut dyn Scheme) -> Option<Recheck> {
        let work = Workspace::default();
        let system = &Evaluator::new(system, &work);
        let mut worst: Option<Recheck> = None;
        let mut step = Step::default();
        for i in 1..self.records.len() {
            let (from, to) = (&self.records[i - 1], &self.records[i]);
            let Some(s) = &to.step else { continue };
            let system = &system.of_step(from.t, to.t);
            let mut start = State::new(from.t, from.q.clone(), from.u.clone());
            start.memory.clone_from(if i == 1 {
                &self.memory
            } else {
                from.step.as_ref().map_or(&self.memory, |s| &s.memory)
            });
            // Identities are stable: the list at the start of the step, cut to what was recorded.
            let distance = system.travel(start.t, &start.q, &start.u, to.t, &to.q);
            system.candidates(start.t, &start.q, &start.u, Reach { time: s.dt, distance }, &mut step.candidates);
            step.begin(s.dt);
            step.restitution_exponent = s.restitution_exponent;
            step.end.memory.lay_out(&s.memory, &s.percussions, &step.candidates);
            step.record.lay_out(&s.record, &s.percussions, &step.candidates);
            for j in 0..step.candidates.len() {
                let id = step.candidates.items()[j].id;
                step.active[j] = false;
                step.set_inactive(j);
                if let Some(at) = s.percussions.place(j, id) {
                    let (range, those) = (step.candidates.range(j), s.percussions.range(at));
                    step.end.percussions.values_mut()[range].copy_from_slice(&s.percussions.values()[those]);
                    step.active[j] = s.active[at];
                    step.sigma[j] = s.sigma[at];
                }
            }
            step.end.t = to.t;
            let (q, u) = s.raw.as_ref().map_or((&to.q, &to.u), |(q, u)| (q, u));
            step.end.q.clone_from(q);
            step.end.u.clone_from(u);
            let mut certificate = Certificate::default();
            scheme.certify(system, &start, &step, &mut certificate);
            if let Some((q, u)) = &s.raw {
                let defect = correction_defect(system, &step, to, q, u);
                if defect.is_nan() || defect > certificate.kinematics {
                    certificate.kinematics = defect;
                }
            }
            if worst.as_ref().is_none_or(|w| !(certificate.residual() <= w.certificate.residual())) {
                let name = certificate.culprit().map(|c| system.name(step.candidates.items()[c].id));
                worst = Some(Recheck { index: i, t: to.t, certificate, interaction: name });
            }
        }
        worst
    }
}

/// How far a stored state is from the correction (normalised, or normalised and projected) of what the scheme left.
fn correction_defect(system: &Evaluator, step: &Step, to: &Record, q: &[f64], u: &[f64]) -> f64 {
    let (mut q, mut u) = (q.to_vec(), u.to_vec());
    system.normalise(&mut q);
    let distance = |q: &[f64], u: &[f64]| {
        let pairs = q.iter().zip(&to.q).chain(u.iter().zip(&to.u));
        pairs.fold(0.0f64, |m, (a, b)| if (a - b).abs() <= m { m } else { (a - b).abs() / (1.0 + a.abs()) })
    };
    let normalised = distance(&q, &u);
    if normalised == 0.0 {
        return 0.0;
    }
    let closed: &[Sigma] = if step.correction().has_contacts() { &step.sigma } else { &[] };
    JointProjection::new(system).project(system, &step.candidates, closed, to.t, &mut q, &mut u);
    normalised.min(distance(&q, &u))
}

/// The worst step of a run that was checked again.
#[derive(Debug, Clone, PartialEq)]
pub struct Recheck {
    /// Index of the record that the step led to.
    pub index: usize,
    /// Its time, s.
    pub t: f64,
    /// Its certificate.
    pub certificate: Certificate,
    /// The interaction that explains the residual best.
    pub interaction: Option<String>,
}

impl Observer for Trajectory {
    fn begin(&mut self, _system: &Evaluator, start: &State) {
        self.seen = 0;
        self.memory.clone_from(&start.memory);
        match &self.recording {
            Recording::Every(_) => {
                self.records.clear();
                self.records.push(Record { t: start.t, q: start.q.clone(), u: start.u.clone(), step: None });
            }
            Recording::At(times) => {
                for (i, &t) in times.iter().enumerate() {
                    self.found[i] = t == start.t;
                    if self.found[i] {
                        self.records[i].q.clone_from(&start.q);
                        self.records[i].u.clone_from(&start.u);
                    }
                }
            }
        }
        self.last = None;
    }

    fn wanted_times(&mut self, start: f64, end: f64, times: &mut Vec<f64>) {
        if let Recording::At(at) = &self.recording {
            let near = 1e-9 * (end - start);
            times.extend(at.iter().filter(|t| **t > start + near && **t < end - near));
        }
    }

    fn step(&mut self, view: &StepView) {
        self.seen += 1;
        match &self.recording {
            Recording::Every(k) => {
                if self.seen.is_multiple_of((*k).max(1)) || view.last {
                    self.keep(view);
                }
            }
            Recording::At(times) => {
                let (start, end) = (view.start, view.end);
                let near = 1e-9 * view.step.dt;
                // In the requested order; some may be missing.
                let mut within = view.within.iter().peekable();
                for (i, &t) in times.iter().enumerate() {
                    if self.found[i] && t <= start.t + near {
                        continue;
                    }
                    if (t - end.t).abs() <= near {
                        self.records[i].q.clone_from(&end.q);
                        self.records[i].u.clone_from(&end.u);
                        self.found[i] = true;
                    } else if t > start.t + near && t < end.t - near {
                        let (q, u) = match within.next_if(|s| s.t == t) {
                            Some(s) => (s.q.clone(), s.u.clone()),
                            None => dense_output(view.system, start, view.step, end, t),
                        };
                        self.records[i].q = q;
                        self.records[i].u = u;
                        self.found[i] = true;
                    }
                }
            }
        }
    }
}

/// The state inside a step: by [`interpolate_stages`] if it has stages without a jump in them, else by [`interpolate_step`]. A step whose impact is located
/// at its end is interpolated smoothly.
pub fn dense_output(system: &Evaluator, start: &State, step: &Step, end: &State, t: f64) -> (Vec<f64>, Vec<f64>) {
    let left = step.left();
    if let Some(stages) = step.stages().filter(|_| left.is_empty()) {
        return interpolate_stages(system, start, stages, step.dt, t);
    }
    let u_minus = if left.is_empty() { step.u_minus() } else { left };
    if u_minus.is_empty() {
        return interpolate_step(system, start, end, step.dt, step.impact(), t);
    }
    // Smooth up to the jump, to where the stages led.
    let led_to = step.stages().map_or(&end.q[..], |s| s.q(s.nodes.len().saturating_sub(1)));
    let before = State::new(end.t, led_to.to_vec(), u_minus.to_vec());
    interpolate_step(system, start, &before, step.dt, false, t)
}

/// The state at `t` in a step of length `dt` from `start`: u on the polynomial through the velocities of the stages, q on its integral.
pub fn interpolate_stages(system: &Evaluator, start: &State, stages: &Stages, dt: f64, t: f64) -> (Vec<f64>, Vec<f64>) {
    let s = ((t - start.t) / dt).clamp(0.0, 1.0);
    let (mut room, mut u) = (Vec::new(), vec![0.0; start.u.len()]);
    let mut q = system.origin(&start.q, &mut room).to_vec();
    let mut rate = vec![0.0; q.len()];
    for (k, c) in stages.nodes.iter().enumerate() {
        let (at, by) = (lagrange(&stages.nodes, k, s), dt * lagrange_integral(&stages.nodes, k, s));
        system.local_rates(start.t + c * dt, &start.q, stages.q(k), stages.u(k), &mut rate);
        q.iter_mut().zip(&rate).for_each(|(q, r)| *q += by * r);
        u.iter_mut().zip(stages.u(k)).for_each(|(u, v)| *u += at * v);
    }
    system.retract(&start.q, &mut q);
    (q, u)
}

/// The state at `t` by Hermite interpolation of n states of a smooth step and their rates, of degree 2n − 1. Where q̇ = u the velocity is the
/// slope of that polynomial, otherwise it lies on the polynomial of degree n − 1 through the velocities.
pub fn interpolate_states(system: &Evaluator, states: &[&State], t: f64) -> (Vec<f64>, Vec<f64>) {
    let (from, to) = (states[0].t, states[states.len() - 1].t);
    let dt = to - from;
    let nodes: Vec<f64> = states.iter().map(|s| (s.t - from) / dt).collect();
    let s = ((t - from) / dt).clamp(0.0, 1.0);
    let identity = system.structure().identity_kinematics();
    let (nq, nu) = (states[0].q.len(), states[0].u.len());
    let (mut q, mut u, mut rate) = (vec![0.0; nq], vec![0.0; nu], vec![0.0; nq]);
    let origin = &states[0].q;
    for (k, state) in states.iter().enumerate() {
        system.local_rates(state.t, origin, &state.q, &state.u, &mut rate);
        let w = Hermite::new(&nodes, k, s);
        system.about(origin, &state.q, |_, y| {
            for i in 0..nq {
                q[i] += w.value * y[i] + w.slope * dt * rate[i];
            }
        });
        let by = lagrange(&nodes, k, s);
        for i in 0..nu {
            u[i] += if identity { w.value_rate / dt * state.q[i] + w.slope_rate * rate[i] } else { by * state.u[i] };
        }
    }
    system.retract(origin, &mut q);
    (q, u)
}

/// The state at `t` between two states of a run, `dt` apart. Without an impact q is a cubic Hermite polynomial; the velocity is its slope where
/// q̇ = u, otherwise linear. With an impact q is linear, and u is the value at the start.
pub fn interpolate_step(
    system: &Evaluator,
    a: &State,
    b: &State,
    dt: f64,
    impact: bool,
    t: f64,
) -> (Vec<f64>, Vec<f64>) {
    let s = ((t - a.t) / dt).clamp(0.0, 1.0);
    let linear = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a + s * (b - a)).collect::<Vec<f64>>();
    let n = a.q.len();
    if impact {
        let mut q = system.about(&a.q, &b.q, linear);
        system.retract(&a.q, &mut q);
        return (q, a.u.clone());
    }
    let (mut r0, mut r1) = (vec![0.0; n], vec![0.0; n]);
    system.local_rates(a.t, &a.q, &a.q, &a.u, &mut r0);
    system.local_rates(b.t, &a.q, &b.q, &b.u, &mut r1);
    let (s2, s3) = (s * s, s * s * s);
    let cubic = |q0: &[f64], q1: &[f64]| -> Vec<f64> {
        let at = |i: usize| {
            (2.0 * s3 - 3.0 * s2 + 1.0) * q0[i]
                + (s3 - 2.0 * s2 + s) * dt * r0[i]
                + (3.0 * s2 - 2.0 * s3) * q1[i]
                + (s3 - s2) * dt * r1[i]
        };
        (0..n).map(at).collect()
    };
    let mut q = system.about(&a.q, &b.q, cubic);
    system.retract(&a.q, &mut q);
    if !system.structure().identity_kinematics() {
        return (q, linear(&a.u, &b.u));
    }
    let slope = |i: usize| {
        (6.0 * s2 - 6.0 * s) * (a.q[i] - b.q[i]) / dt
            + (3.0 * s2 - 4.0 * s + 1.0) * r0[i]
            + (3.0 * s2 - 2.0 * s) * r1[i]
    };
    (q, (0..n).map(slope).collect())
}
