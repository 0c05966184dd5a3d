//! Nonsmooth RATTLE on the examples of its paper [Breuling2024, §5]: iterations, orders, energy, inversion; and friction that turns.
//!
//! `cargo test --release -p nonsmooth-scene --test tests rattle -- --nocapture` prints all tables.

mod crank;
mod far;
mod iterations;
mod slope;
mod turning;
mod whole_runs;

use nonsmooth::State;
use nonsmooth::accounting::Line;
use nonsmooth::contract::Evaluator;
use nonsmooth::contract::Kind;
use nonsmooth::simulation::{Observer, Record, Recording, Status, StepView, Summary, Trajectory};
use nonsmooth_scene::prepare::{Prepared, Request};

/// A scene under `rattle`.
pub(crate) fn scene(name: &str, step: f64, end: f64, set: &[&str]) -> Prepared {
    let set = set.iter().map(|s| (*s).to_string()).collect();
    let request =
        Request { scheme: Some("rattle".into()), step: Some(step), end: Some(end), set, ..Request::default() };
    Prepared::load(name, &request).unwrap()
}

/// All states of a run, its energy, and what is added to the lines of the ledger.
pub(crate) struct Watch {
    states: Trajectory,
    pub(crate) energy: Vec<f64>,
    /// Work of normal percussions and of friction, step by step, J.
    pub(crate) normal: Vec<f64>,
    pub(crate) friction: Vec<f64>,
    /// Largest work in a step of normal percussions of contacts that did not open at its start, and of friction whose slip did not reverse, J.
    pub(crate) impacts: f64,
    pub(crate) slipping: f64,
    /// What the others gained in all, J.
    pub(crate) pressed: f64,
    pub(crate) reversed: f64,
    /// Largest |ġ| of joints at ends of steps, m/s.
    pub(crate) joint_velocity: f64,
    sums: [f64; 2],
}

impl Observer for Watch {
    fn begin(&mut self, system: &Evaluator, start: &State) {
        self.states.begin(system, start);
    }

    fn step(&mut self, view: &StepView) {
        self.states.step(view);
        self.energy.push(view.energy.unwrap());
        let ledger = view.ledger.unwrap();
        let lines = [(Line::Normal, &mut self.normal), (Line::Friction, &mut self.friction)];
        for ((line, list), sum) in lines.into_iter().zip(&mut self.sums) {
            list.push(ledger.get(line) - *sum);
            *sum = ledger.get(line);
        }
        let step = view.step;
        let (mut impacts, mut slipping) = (*self.normal.last().unwrap(), *self.friction.last().unwrap());
        for (i, k) in step.candidates.items().iter().enumerate() {
            let range = step.candidates.range(i);
            let (before, after) = (&step.gamma_minus[range.clone()], &step.gamma_plus[range]);
            if k.kind == Kind::Joint {
                self.joint_velocity = after.iter().fold(self.joint_velocity, |m, g| m.max(g.abs()));
            }
            let work = |j: usize| 0.5 * (before[j] + after[j]) * step.percussion(i)[j];
            if k.kind == Kind::Contact && before[0] > 0.0 {
                impacts -= work(0);
                self.pressed += work(0).max(0.0);
            }
            if k.kind == Kind::Contact && (1..k.dim()).map(|j| before[j] * after[j]).sum::<f64>() < 0.0 {
                let work: f64 = (1..k.dim()).map(work).sum();
                slipping -= work;
                self.reversed += work.max(0.0);
            }
        }
        self.impacts = self.impacts.max(impacts);
        self.slipping = self.slipping.max(slipping);
    }
}

impl Watch {
    pub(crate) fn records(&self) -> &[Record] {
        self.states.records()
    }
}

/// Runs a scene to its end.
pub(crate) fn run(p: &Prepared) -> (Summary, Watch) {
    let mut watch = Watch {
        states: Trajectory::new(Recording::Every(1)),
        energy: Vec::new(),
        normal: Vec::new(),
        friction: Vec::new(),
        impacts: f64::NEG_INFINITY,
        slipping: f64::NEG_INFINITY,
        pressed: 0.0,
        reversed: 0.0,
        joint_velocity: 0.0,
        sums: [0.0; 2],
    };
    let summary = p.simulation().unwrap().run_with(&mut watch);
    assert_eq!(summary.status, Status::Done, "{:?}", summary.stop.as_ref().map(ToString::to_string));
    (summary, watch)
}

/// Slope of ln(error) over ln(step) by least squares.
pub(crate) fn order(errors: &[(f64, f64)]) -> f64 {
    let n = errors.len() as f64;
    let logs: Vec<(f64, f64)> = errors.iter().map(|(h, e)| (h.ln(), e.ln())).collect();
    let (x, y) = logs.iter().fold((0.0, 0.0), |(x, y), l| (x + l.0 / n, y + l.1 / n));
    let (top, bottom) =
        logs.iter().fold((0.0, 0.0), |(a, b), l| (a + (l.0 - x) * (l.1 - y), b + (l.0 - x) * (l.0 - x)));
    top / bottom
}

/// Largest value of a list, at least `least`.
pub(crate) fn largest(list: impl IntoIterator<Item = f64>, least: f64) -> f64 {
    list.into_iter().fold(least, f64::max)
}
