//! Controllers: steps that are dropped or taken back leave no trace.

use super::{BOTH, make, run, take};
use nonsmooth::contract::Evaluator;
use nonsmooth::control::{Controller, Proposal, Verdict};
use nonsmooth::simulation::{Observer, Recording, Status, StepView, Trajectory};
use nonsmooth::{Simulation, SimulationOptions, State, Step};
use nonsmooth_reference::{Ball, Balls};
use std::sync::{Arc, Mutex};

/// Steps of `h`; when it first makes the step from `at`, it goes two steps back and on with half the step until `at`.
struct TwoBack {
    h: f64,
    end: f64,
    at: f64,
    rolled: bool,
    lag: usize,
    arrivals: Arc<Mutex<Vec<f64>>>,
}

impl TwoBack {
    fn new(rolled: bool, lag: usize) -> Self {
        Self { h: 0.0625, end: 1.0, at: 0.5, rolled, lag, arrivals: Arc::default() }
    }
}

impl Controller for TwoBack {
    fn propose(&mut self, t: f64) -> Option<Proposal> {
        if t >= self.end {
            return None;
        }
        let fine = self.rolled && t >= self.at - 2.0 * self.h && t < self.at;
        let dt = if fine { 0.5 * self.h } else { self.h };
        Some(Proposal { dt, t_end: t + dt })
    }
    fn judge(&mut self, step: &Step) -> Verdict {
        if !self.rolled && step.end.t > self.at {
            self.rolled = true;
            return Verdict::RollBack(2);
        }
        Verdict::Accept
    }
    fn arrived(&mut self, t: f64) {
        self.arrivals.lock().unwrap().push(t);
    }
    fn lag(&self) -> usize {
        self.lag
    }
}

/// Ends of the steps and whether each starts where the last ended.
#[derive(Default)]
struct Continuity {
    last: Option<State>,
    times: Vec<f64>,
    marked_last: usize,
}

impl Observer for Continuity {
    fn begin(&mut self, _system: &Evaluator, start: &State) {
        self.last = Some(start.clone());
    }
    fn step(&mut self, view: &StepView) {
        let last = self.last.as_ref().expect("begun");
        assert_eq!((last.t, &last.q, &last.u), (view.start.t, &view.start.q, &view.start.u), "a step starts elsewhere");
        assert_eq!(last.percussions, view.start.percussions, "with other percussions");
        assert!(view.end.t > view.start.t, "time goes on");
        assert_eq!(view.end.t - view.start.t, view.step.dt, "binary fractions are exact");
        self.times.push(view.end.t);
        self.marked_last += usize::from(view.last);
        self.last = Some(view.end.clone());
    }
}

#[test]
fn a_controller_may_go_two_steps_back_and_nothing_of_them_remains() {
    // Impacts before, in and after the steps that are dropped.
    let system = take(Balls { count: 3, e: 0.5 });
    let start = || State::new(0.0, vec![0.05, 0.21, 0.9], vec![0.0; 3]);
    for name in BOTH {
        let go = |controller: TwoBack| {
            let mut seen = Continuity::default();
            let options = SimulationOptions::new(0.0625, 1.0);
            let mut simulation =
                Simulation::with_controller(&system, start(), make(name), options, Box::new(controller)).unwrap();
            let summary = simulation.run_with(&mut seen);
            assert_eq!(summary.status, Status::Done);
            assert_eq!(summary.work.steps, seen.times.len(), "{name}: every final step is seen once");
            assert_eq!(seen.last.as_ref(), Some(&summary.end), "{name}: the last one too");
            (summary, seen)
        };
        let controller = TwoBack::new(false, 2);
        let arrivals = controller.arrivals.clone();
        let (rolled, seen) = go(controller);
        // The start, every accepted step, and the place after the roll-back.
        assert_eq!(arrivals.lock().unwrap().len(), 1 + rolled.work.steps + 2 + 1, "{name}: {arrivals:?}");
        let back: Vec<f64> = arrivals.lock().unwrap().windows(2).filter(|w| w[1] < w[0]).map(|w| w[0] - w[1]).collect();
        assert_eq!(back, [2.0 * 0.0625], "{name}: one way back of two steps");
        // The step from 0.5 and the two before it.
        assert_eq!(rolled.work.rejected, 3, "{name}: {:?}", rolled.work);
        assert_eq!(rolled.work.scheme_calls, rolled.work.steps + 3, "{name}: {:?}", rolled.work);
        assert_eq!(seen.marked_last, 1, "{name}");
        // The same steps without any rolling back.
        let (direct, expected) = go(TwoBack::new(true, 0));
        assert_eq!(seen.times, expected.times, "{name}");
        assert_eq!(seen.times.len(), 18);
        assert_eq!(rolled.end, direct.end, "{name}: the same bits");
        assert_eq!(rolled.events, direct.events, "{name}");
        assert_eq!(rolled.ledger, direct.ledger, "{name}");
        assert_eq!(rolled.percussions, direct.percussions, "{name}");
        assert_eq!(rolled.energy, direct.energy, "{name}");
        assert_eq!(rolled.worst, direct.worst, "{name}");
        assert_eq!(direct.work.rejected, 0);
        let (delayed, _) = go(TwoBack::new(true, 2));
        assert_eq!((&delayed.end, &delayed.events), (&direct.end, &direct.events), "{name}: lag alone changes nothing");
    }
}

/// Tries every step with h first, drops it, and takes h/2.
struct Picky {
    dropped: bool,
}

impl Controller for Picky {
    fn propose(&mut self, t: f64) -> Option<Proposal> {
        let dt = if self.dropped { 0.03125 } else { 0.0625 };
        (t < 0.8125).then_some(Proposal { dt, t_end: t + dt })
    }
    fn judge(&mut self, step: &Step) -> Verdict {
        if step.dt > 0.04 {
            self.dropped = true;
            return Verdict::Retry;
        }
        self.dropped = false;
        Verdict::Accept
    }
    fn arrived(&mut self, _t: f64) {}
}

#[test]
fn a_dropped_step_leaves_no_trace_and_a_trajectory_keeps_the_last_state() {
    let system = take(Ball::default());
    for name in BOTH {
        let start = State::new(0.0, vec![0.3], vec![0.0]);
        let mut trajectory = Trajectory::new(Recording::Every(10));
        let options = SimulationOptions::new(0.0625, 0.8125);
        let controller = Box::new(Picky { dropped: false });
        let mut simulation = Simulation::with_controller(&system, start, make(name), options, controller).unwrap();
        let summary = simulation.run_with(&mut trajectory);
        assert_eq!((summary.work.steps, summary.work.rejected), (26, 26), "{name}: {:?}", summary.work);
        let (_, direct) = run(&system, name, &[0.3], &[0.0], 0.03125, 0.8125);
        let last = direct.last().expect("records");
        assert_eq!((&summary.end.q, &summary.end.u), (&last.q, &last.u), "{name}: the same bits");
        // Every tenth and the last, as `Recording::Every` promises.
        let times: Vec<f64> = trajectory.records().iter().map(|r| r.t).collect();
        assert_eq!(times, [0.0, 0.3125, 0.625, 0.8125], "{name}");
    }
}
