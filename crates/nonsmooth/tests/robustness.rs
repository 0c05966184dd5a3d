//! When a step cannot be made: the ladder, the stop, and what it leaves behind.

use complementarity::{FullProblem, Options, solver};
use nonsmooth::law::ContactLaw;
use nonsmooth::scheme::{Failure, Settings};
use nonsmooth::simulation::{Observer, Policy, Record, Recording, Status, StepView, Summary, Trajectory};
use nonsmooth::{Differentiated, Layout, Model, Scalar, Simulation, SimulationOptions, State, System, scheme};
use nonsmooth_reference::{Ball, Block};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const NAMES: [&str; 3] = ["moreau-jean", "moreau-midpoint", "rattle"];

fn run(system: &dyn System, name: &str, q: &[f64], u: &[f64], options: SimulationOptions) -> (Summary, Vec<Record>) {
    let mut trajectory = Trajectory::new(Recording::Every(1));
    let scheme = scheme::make(name, &Settings::new()).expect("a registered scheme");
    let start = State::new(0.0, q.to_vec(), u.to_vec());
    let summary = Simulation::new(system, start, scheme, options).expect("a good start").run_with(&mut trajectory);
    (summary, trajectory.records().to_vec())
}

/// A point (x, y) with a calm force and one that is NaN after t = 0.5, over the ground y = 0 or on a rail y = 0.
struct Breaking {
    over_ground: bool,
    on_rail: bool,
}

impl Model for Breaking {
    fn layout(&self) -> Layout {
        let mut layout = Layout::new(["x", "y"]).constant_mass().force("calm").force("stormy").on([0]);
        if self.over_ground {
            layout = layout.contact("ground", ContactLaw::newton(0.0).coulomb(1, 0.3));
        }
        if self.on_rail {
            layout = layout.joint("rail", 1);
        }
        layout
    }
    fn mass<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], m: &mut [T]) {
        m[0] = T::from(1.0);
        m[3] = T::from(1.0);
    }
    fn force<T: Scalar>(&self, i: usize, t: T, _q: &[T], _u: &[T], h: &mut [T]) {
        if i == 0 {
            h[1] = T::from(-1.0);
        } else {
            h[0] = if t.value() > 0.5 { T::from(f64::NAN) } else { T::from(1.0) };
        }
    }
    fn gap<T: Scalar>(&self, _i: usize, _t: T, q: &[T]) -> T {
        q[1]
    }
    fn slip<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], u: &[T], gamma: &mut [T]) {
        gamma[0] = u[0];
    }
    fn joint<T: Scalar>(&self, _i: usize, _t: T, q: &[T], g: &mut [T]) {
        g[0] = q[1];
    }
}

#[test]
fn a_force_that_becomes_nan_stops_the_run_with_time_and_culprit() {
    for name in NAMES {
        for (over_ground, on_rail) in [(false, false), (true, false), (false, true)] {
            let system = Differentiated::new(Breaking { over_ground, on_rail }).unwrap();
            let (summary, records) = run(&system, name, &[0.0; 2], &[0.0; 2], SimulationOptions::new(0.02, 1.0));
            let what = format!("{name}, ground {over_ground}, rail {on_rail}");
            assert_eq!(summary.status, Status::Stopped, "{what}");
            let stop = summary.stop.expect("a reason");
            // Forces are evaluated within the step: the last good state is at most one step from 0.5.
            assert!((stop.t - 0.5).abs() <= 0.0201, "{what}: {stop}");
            assert_eq!(stop.t, summary.end.t, "{what}");
            let message = stop.to_string();
            assert!(message.contains("`stormy`") && message.contains("`x'`"), "{what}: {message}");
            assert!(message.contains(&format!("t = {}", stop.t)), "{what}: {message}");
            assert!(matches!(stop.failure, Failure::NotFinite { .. }), "{what}: {:?}", stop.failure);
            assert!(summary.work.rejected > 0, "{what}: the ladder was tried");
            assert!(summary.end.q.iter().chain(&summary.end.u).all(|x| x.is_finite()), "{what}: {:?}", summary.end);
            assert_eq!(records.last().map(|r| r.t), Some(stop.t), "{what}: all good steps were shown");
        }
    }
}

/// A mass that two velocity joints ask for different things from t = `from` on.
struct Torn {
    from: f64,
}

impl Model for Torn {
    fn layout(&self) -> Layout {
        Layout::new(["x"]).constant_mass().velocity_joint("one", 1).moving().velocity_joint("two", 1).moving()
    }
    fn mass<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], m: &mut [T]) {
        m[0] = T::from(1.0);
    }
    fn velocity_joint<T: Scalar>(&self, i: usize, t: T, _q: &[T], u: &[T], gamma: &mut [T]) {
        let other = i == 1 && t.value() > self.from;
        gamma[0] = u[0] - if other { 1.0 } else { 0.5 };
    }
}

/// A mass that a joint drives with 1 m/s into a wall at x = 0.5.
struct Rammed;

impl Model for Rammed {
    fn layout(&self) -> Layout {
        Layout::new(["x"]).constant_mass().joint("drive", 1).moving().contact("wall", ContactLaw::newton(0.0))
    }
    fn mass<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], m: &mut [T]) {
        m[0] = T::from(1.0);
    }
    fn joint<T: Scalar>(&self, _i: usize, t: T, q: &[T], g: &mut [T]) {
        g[0] = q[0] - t;
    }
    fn gap<T: Scalar>(&self, _i: usize, _t: T, q: &[T]) -> T {
        -q[0] + 0.5
    }
}

/// Asserts that the run stopped near `t` on a problem that was saved and is still unsolved by every solver.
fn assert_unsolvable(what: &str, summary: &Summary, t: f64, h: f64, names: &[&str]) {
    assert_eq!(summary.status, Status::Stopped, "{what}");
    let stop = summary.stop.as_ref().expect("a reason");
    assert!((stop.t - t).abs() <= 2.0 * h, "{what}: {stop}");
    let Failure::Solver(report) = &stop.failure else { panic!("{what}: {:?}", stop.failure) };
    assert!(!report.solved() && report.residual > 1e-3, "{what}: {report:?}");
    // First try, and every halving; on position level shorter steps may still be made, up to the place.
    let tried = 1 + Policy::default().halvings;
    let exactly = what != "rattle";
    assert!(
        summary.work.rejected == tried || (!exactly && summary.work.rejected > tried),
        "{what}: {:?}",
        summary.work
    );
    let json = stop.problem.as_ref().expect("the problem is saved");
    for name in names {
        assert!(json.contains(&format!("\"{name}\"")), "{what}: `{name}` is in the file {json}");
    }
    let (mut problem, guess) = FullProblem::from_json(json).expect("the problem can be loaded");
    assert_eq!(problem.blocks().len(), names.len(), "{what}");
    for info in solver::SOLVERS {
        let (mut r, mut v) = (guess.clone(), vec![0.0; problem.f.len()]);
        let mut s = (info.make)();
        let report = problem.solve(s.as_mut(), &Options { max_iterations: 1000, ..Options::default() }, &mut r, &mut v);
        assert!(!report.solved(), "{what}: {} claims {report:?}", info.name);
    }
    assert!(summary.end.q.iter().chain(&summary.end.u).all(|x| x.is_finite()), "{what}: {:?}", summary.end);
}

#[test]
fn joints_that_contradict_each_other_stop_the_run_with_the_problem_saved() {
    // On the grid, so that no halved step can be made after it.
    let (from, h) = (0.375, 0.125);
    let system = Differentiated::new(Torn { from }).unwrap();
    for name in NAMES {
        let (summary, records) = run(&system, name, &[0.0], &[0.5], SimulationOptions::new(h, 1.0));
        assert_unsolvable(name, &summary, from, h, &["one", "two"]);
        for r in &records {
            // Until then the joints hold.
            assert!((r.u[0] - 0.5).abs() <= 1e-9, "{name}: {r:?}");
        }
    }
}

#[test]
fn a_driven_mass_before_a_wall_stops_the_run_with_the_problem_saved() {
    let system = Differentiated::new(Rammed).unwrap();
    for name in NAMES {
        let (summary, records) = run(&system, name, &[0.0], &[1.0], SimulationOptions::new(0.1, 1.0));
        assert_unsolvable(name, &summary, 0.5, 0.1, &["drive", "wall"]);
        assert!(records.len() >= 5, "{name}: it came to the wall");
    }
}

/// A mass on a spring that is as good as a constant force to the middle, F = −A tanh(x/ε); or on a damper like that, F = −A tanh(u/ε).
struct Stiff {
    force: f64,
    width: f64,
    damper: bool,
}

impl Model for Stiff {
    fn layout(&self) -> Layout {
        Layout::new(["x"]).constant_mass().force("spring")
    }
    fn mass<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], m: &mut [T]) {
        m[0] = T::from(1.0);
    }
    fn force<T: Scalar>(&self, _i: usize, _t: T, q: &[T], u: &[T], h: &mut [T]) {
        h[0] = (if self.damper { u[0] } else { q[0] } / self.width).tanh() * -self.force;
    }
}

/// Asserts that steps were halved, that those taken are solved, and that the grid 0, h, 2h, .. end is met to the bit.
fn assert_halved(what: &str, summary: &Summary, records: &[Record], h: f64, end: f64) {
    assert_eq!(summary.status, Status::Done, "{what}: {:?}", summary.stop.as_ref().map(ToString::to_string));
    assert!(summary.work.rejected > 0, "{what}: {:?}", summary.work);
    assert_eq!(summary.work.scheme_calls, summary.work.steps + summary.work.rejected, "{what}: {:?}", summary.work);
    let n = (end / h).round() as usize;
    assert!(summary.work.steps > n, "{what}: halved steps were taken: {:?}", summary.work);
    assert_eq!(records.len(), summary.work.steps + 1, "{what}");
    // A step that was taken is solved: Newton's tolerance.
    assert!(summary.worst.residual() <= 1e-9, "{what}: {:?}", summary.worst);
    assert!(records.windows(2).all(|w| w[0].t < w[1].t), "{what}");
    for k in 0..=n {
        let t = if k == n { end } else { k as f64 * h };
        assert!(records.iter().any(|r| r.t == t), "{what}: grid point {k} was missed");
    }
}

#[test]
fn where_newton_fails_the_step_is_halved_and_the_grid_is_kept() {
    // From rest at x0 a step goes A dt²/4 = 10 mm to its middle, beyond the middle of the spring and back: Newton jumps
    // from one flat side of tanh to the other. At half the step it goes 2.5 mm and stays on its side.
    let (force, width, x0, h, end) = (100.0, 5e-4, 4e-3, 0.02, 1.0);
    assert!(force * h * h / 4.0 > 2.0 * x0 && force * h * h / 16.0 < x0 - 2.0 * width);
    let system = Differentiated::new(Stiff { force, width, damper: false }).unwrap();
    let (summary, records) = run(&system, "moreau-jean", &[x0], &[0.0], SimulationOptions::new(h, end));
    assert_halved("moreau-jean", &summary, &records, h, end);
    // rattle takes h(t_n,q_n,v): v = u − (dt/2) A tanh(v/ε) with dt A/2 = 1 m/s > 2 u jumps from one side to the other on every rung, and
    // is solved at once with a quarter of the step.
    let (u0, h, end) = (0.3, 0.02, 0.2);
    let system = Differentiated::new(Stiff { force, width: 1e-3, damper: true }).unwrap();
    let (summary, records) = run(&system, "rattle", &[0.0], &[u0], SimulationOptions::new(h, end));
    println!("rattle: {:?}", summary.work);
    assert_halved("rattle", &summary, &records, h, end);
    assert!(summary.work.retries >= 3 * summary.work.rejected, "every rung was tried: {:?}", summary.work);
}

/// Sets a flag at the k-th step.
struct Trip(Arc<AtomicBool>, usize);

impl Observer for Trip {
    fn step(&mut self, view: &StepView) {
        self.1 -= 1;
        if self.1 == 0 {
            self.0.store(true, Ordering::Relaxed);
        }
        assert!(view.end.t > view.start.t);
    }
}

#[test]
fn an_interrupt_ends_the_run_after_the_present_step() {
    let system = Differentiated::new(Ball::default()).unwrap();
    for name in NAMES {
        let flag = Arc::new(AtomicBool::new(false));
        let mut options = SimulationOptions::new(0.01, 1.0);
        options.interrupt = Some(flag.clone());
        let scheme = scheme::make(name, &Settings::new()).unwrap();
        let start = State::new(0.0, vec![1.0], vec![0.0]);
        let mut simulation = Simulation::new(&system, start, scheme, options).unwrap();
        let summary = simulation.run_with(&mut Trip(flag.clone(), 10));
        assert_eq!((summary.status, summary.work.steps), (Status::Interrupted, 10), "{name}");
        assert!(summary.stop.is_none(), "{name}: nothing failed");
        assert_eq!(summary.end.t, 0.1, "{name}");
        // It can go on from there.
        flag.store(false, Ordering::Relaxed);
        let summary = simulation.run();
        assert_eq!((summary.status, summary.work.steps), (Status::Done, 100), "{name}");
        assert_eq!(summary.end.t, 1.0, "{name}");
    }
}

fn launched(solver: &str, policy: Policy, iterations: usize, name: &str) -> (Summary, Vec<Record>) {
    let block = Block { mu: Some(0.5), e: 0.2, ..Block::default() };
    let system = Differentiated::new(block).expect("the model fits together");
    let mut options = SimulationOptions::new(2e-3, 0.5);
    options.solver = solver.into();
    options.solver_options.max_iterations = iterations;
    options.policy = policy;
    let (summary, records) = run(&system, name, &[0.0, 0.26, 0.0], &[1.5, 0.0, 0.0], options);
    assert_eq!(summary.status, Status::Done, "{name}, {solver}: {:?}", summary.stop.map(|s| s.to_string()));
    (summary, records)
}

/// Largest difference of two runs.
fn difference(a: &[Record], b: &[Record]) -> f64 {
    assert_eq!(a.len(), b.len());
    let states = a.iter().zip(b);
    let values = states.flat_map(|(a, b)| a.q.iter().chain(&a.u).zip(b.q.iter().chain(&b.u)));
    values.map(|(x, y)| (x - y).abs()).fold(0.0, f64::max)
}

#[test]
fn a_weak_solver_falls_back_and_the_result_is_that_of_auto() {
    for name in NAMES {
        let (auto, expected) = launched("auto", Policy::default(), 10_000, name);
        assert_eq!(auto.work.fallbacks, 0, "{name}");
        let (weak, records) = launched("jacobi", Policy::default(), 5, name);
        // rattle has a solver of its own for few contacts, and asks others where percussions are not unique.
        assert!(weak.work.fallbacks > 0 || name == "rattle", "{name}: {:?}", weak.work);
        assert_eq!(weak.work.rejected, 0, "{name}: no step was lost, {:?}", weak.work);
        // 250 steps solved to 1e-10 of numbers of order one.
        let d = difference(&records, &expected);
        assert!(d <= 1e-7, "{name}: {d:e}");
    }
}

#[test]
fn every_solver_runs_the_block_on_two_corners() {
    for name in NAMES {
        let (_, expected) = launched("auto", Policy::default(), 10_000, name);
        for info in solver::SOLVERS {
            let policy = Policy { fallback: false, halvings: 0 };
            let (summary, records) = launched(info.name, policy, 10_000, name);
            let d = difference(&records, &expected);
            println!("{name}, {}: differs by {d:.1e}, {:?}", info.name, summary.work);
            // As above.
            assert!(d <= 1e-7, "{name}, {}: {d:e}", info.name);
            assert!(summary.worst.residual() <= 1e-8, "{name}, {}: {:?}", info.name, summary.worst);
        }
    }
}

/// Two unit masses on a line, without any force.
struct Pair;

impl Model for Pair {
    fn layout(&self) -> Layout {
        Layout::new(["a", "b"]).constant_mass().contact("touch", ContactLaw::newton(0.0))
    }
    fn mass<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], m: &mut [T]) {
        m[0] = T::from(1.0);
        m[3] = T::from(2.0);
    }
    fn gap<T: Scalar>(&self, _i: usize, _t: T, q: &[T]) -> T {
        q[1] - q[0]
    }
}

#[test]
fn two_free_masses_that_met_without_bounce_go_on_together() {
    // Nothing acts after the impact: all terms of the dynamics are rounding errors, which must not count as a residual.
    let system = Differentiated::new(Pair).unwrap();
    for name in NAMES {
        for v in [0.3, 7.7, 40.1] {
            let (summary, records) = run(&system, name, &[0.0, 0.1 * v], &[v, 0.0], SimulationOptions::new(0.01, 1.0));
            assert_eq!(summary.status, Status::Done, "{name}, v = {v}: {:?}", summary.stop.map(|s| s.to_string()));
            assert_eq!(summary.work.rejected, 0, "{name}, v = {v}: {:?}", summary.work);
            // Nor in the certificate.
            assert!(summary.worst.residual() <= 1e-9, "{name}, v = {v}: {:?}", summary.worst);
            for r in records.iter().filter(|r| r.t > 0.13) {
                // Momentum: v/3 for both, to rounding.
                assert!(r.u.iter().all(|u| (u - v / 3.0).abs() <= 1e-12 * v), "{name}, v = {v}: {:?}", r.u);
            }
        }
    }
}
