//! Schemes that keep constraints on position level: gaps and joints at grid points, the impact law over some steps, rest, and starts in contact.

use complementarity::FullProblem;
use nonsmooth::law::ContactLaw;
use nonsmooth::scheme::schatzman_paoli::SchatzmanPaoliMemory;
use nonsmooth::scheme::{self, Failure, Settings};
use nonsmooth::simulation::{Record, Recording, Status, Trajectory};
use nonsmooth::{Differentiated, Layout, Model, Scalar, Simulation, SimulationOptions, State, Summary};
use nonsmooth_reference::{Ball, Balls, Block, DoublePendulum, Oscillator, Pendulum};

const SCHEME: &str = "schatzman-paoli";

fn theta(theta: f64) -> Settings {
    Settings::new().number("theta", theta)
}

fn run_from<M: Model>(model: M, start: State, settings: &Settings, h: f64, steps: usize) -> (Summary, Vec<Record>) {
    let system = Differentiated::new(model).unwrap();
    let scheme = scheme::make(SCHEME, settings).unwrap();
    let mut trajectory = Trajectory::new(Recording::Every(1));
    let options = SimulationOptions::new(h, start.t + h * steps as f64);
    let summary = Simulation::new(&system, start, scheme, options).unwrap().run_with(&mut trajectory);
    assert_eq!(summary.status, Status::Done, "{:?}", summary.stop.map(|s| s.to_string()));
    // What the solvers solve to, and rounding of the ledger.
    assert!(summary.worst.residual() <= 1e-9 && summary.energy.closure <= 1e-9, "{:?}", summary.worst);
    (summary, trajectory.records().to_vec())
}

fn run<M: Model>(model: M, q: &[f64], u: &[f64], h: f64, steps: usize) -> (Summary, Vec<Record>) {
    run_from(model, State::new(0.0, q.to_vec(), u.to_vec()), &Settings::new(), h, steps)
}

#[test]
fn without_restitution_contacts_never_penetrate_at_grid_points() {
    for theta_ in [0.0, 0.5, 1.0] {
        let settings = theta(theta_);
        let go = |name: &str, worst: f64, impacts: bool, tolerance: f64| {
            println!("{name}, theta = {theta_}: penetration {worst:.1e}");
            assert!(impacts && worst <= tolerance, "{name}, theta = {theta_}: {worst:e}");
        };
        let hits = |s: &Summary| s.events.iter().any(|e| e.kind.name() == "impact");
        let state = |q: &[f64]| State::new(0.0, q.to_vec(), vec![0.0; q.len()]);
        let ball = Ball { e: 0.0, ..Ball::default() };
        let flat = Block { linearised: true, ..Block::default() };
        // Linear gaps: rounding of coordinates of order one.
        let (s, _) = run_from(ball, state(&[1.0]), &settings, 7e-3, 300);
        go("ball", s.worst.penetration, hits(&s), 1e-12);
        let (s, _) = run_from(flat, state(&[0.0, 0.3, 0.01]), &settings, 1.1e-3, 300);
        go("flat block", s.worst.penetration, hits(&s), 1e-12);
        let (s, _) = run_from(Balls { count: 20, e: 0.0 }, state(&[0.3; 20]), &settings, 7e-3, 200);
        go("balls", s.worst.penetration, hits(&s), 1e-12);
        // Curved gaps: newton_tol (1 + speed) dt = 1e-10 · 10 · 1.1e-3, and rounding.
        let (s, _) = run_from(Block::default(), state(&[0.0, 0.7, 0.4]), &settings, 1.1e-3, 900);
        go("block", s.worst.penetration, hits(&s), 2e-12);
    }
    // With restitution it does, by O(h): q ≥ −e q_{k−1}.
    let (s, _) = run(Ball::default(), &[1.0], &[0.0], 7e-3, 300);
    assert!(s.worst.penetration > 1e-4 && s.worst.penetration <= 0.5 * 2.0 * 7e-3, "{:e}", s.worst.penetration);
}

#[test]
fn joints_hold_at_grid_points() {
    let double = DoublePendulum { length: 1.0, mass: 1.0, g: 9.81 };
    let folded = double.configuration(1.2, 2.0);
    let (s, _) = run(double, &folded, &[0.0; 6], 3e-3, 300);
    // newton_tol (1 + speed) dt.
    assert!(s.worst.joint_violation <= 1e-10 * 10.0 * 3e-3, "{:e}", s.worst.joint_violation);
    // Redundant ones too, and the motion does not depend on how often a joint is stated.
    let swing = |copies| run(Pendulum { g: 9.81, copies }, &[0.6, -0.8], &[0.8, 0.6], 3e-3, 400);
    let ((one, _), (two, _)) = (swing(1), swing(2));
    assert!(two.worst.joint_violation <= 1e-12, "{:e}", two.worst.joint_violation);
    let apart = one.end.q.iter().zip(&two.end.q).fold(0.0f64, |m, (a, b)| m.max((a - b).abs()));
    // Rounding of q, once per step, grows like steps^1.5.
    assert!(apart <= 1e-15 * 400f64.powf(1.5), "{apart:e}");
}

/// A free mass before the ground: the law alone.
fn free(e: f64) -> Ball {
    Ball { mass: 2.0, weight: 0.0, e }
}

#[test]
fn the_impact_law_holds_over_three_steps() {
    let (h, v) = (0.01, 1.5);
    let mut longest = 0;
    for e in [0.0, 0.1, 0.5, 0.9, 1.0] {
        for place in 0..40 {
            // From far away, and so near that the contact closes in the first steps.
            for away in [0.0, 1.0, 7.0] {
                let q = (away + f64::from(place) / 40.0) * h * v;
                let (s, records) = run(free(e), &[q], &[-v], h, 20);
                let u: Vec<f64> = records.iter().map(|r| r.u[0]).collect();
                let label = format!("e = {e}, start at {} h v", q / (h * v));
                // Rounding of q over h.
                let (before, after) = (|u: f64| (u + v).abs() <= 1e-13, |u: f64| (u - e * v).abs() <= 1e-13);
                let first = u.iter().position(|u| !before(*u)).unwrap();
                let last = u.iter().rposition(|u| !after(*u)).map_or(0, |i| i + 1);
                assert!(after(u[20]), "{label}: {u:?}");
                longest = longest.max(last - first + 1);
                // The momentum exchanged is that of Newton's law.
                let sum = s.percussions["ground"][0];
                assert!((sum - 2.0 * (1.0 + e) * v).abs() <= 1e-12, "{label}: percussion {sum}");
                let kinds: Vec<&str> = s.events.iter().map(|e| e.kind.name()).collect();
                assert_eq!(kinds.iter().filter(|k| **k == "impact").count(), 1, "{label}: {kinds:?}");
                assert_eq!(kinds.contains(&"close"), e == 0.0, "{label}: {kinds:?}");
            }
        }
    }
    println!("velocities of an impact are reached after at most {longest} steps");
    assert!(longest <= 3, "{longest}");
}

/// Why the first step has the scheme's own law: Moreau-Jean's lets the mass pass the ground in its step, and what lifts it out again is a rebound.
#[test]
fn a_first_step_on_velocity_level_would_rebound_without_restitution() {
    let (h, v) = (0.01, 1.5);
    let system = Differentiated::new(free(0.0)).unwrap();
    let start = State::new(0.0, vec![0.3 * h * v], vec![-v]);
    let jean = scheme::make("moreau-jean", &Settings::new()).unwrap();
    let mut one = Simulation::new(&system, start.clone(), jean, SimulationOptions::new(h, h)).unwrap().run().end;
    assert!((one.q[0] + 0.7 * h * v).abs() <= 1e-15, "through the ground: {}", one.q[0]);
    one.memory.make::<SchatzmanPaoliMemory>().before.0.clone_from(&start.q);
    let mut options = SimulationOptions::new(h, 10.0 * h);
    options.initial_tolerance = h * v;
    let goes_on = scheme::make(SCHEME, &Settings::new()).unwrap();
    let after = Simulation::new(&system, one, goes_on, options).unwrap().run().end;
    assert!((after.u[0] - 0.7 * v).abs() <= 1e-12, "{}", after.u[0]);
    let (_, own) = run(free(0.0), &start.q, &start.u, h, 10);
    assert!(own[10].u[0].abs() <= 1e-12 && own[10].q[0] >= 0.0);
}

#[test]
fn rest_is_exact_whatever_the_restitution() {
    for e in [0.0, 0.5, 1.0] {
        let (s, records) = run(Ball { e, ..Ball::default() }, &[0.0], &[0.0], 1e-3, 50);
        assert!(records.iter().all(|r| r.q[0] == 0.0 && r.u[0] == 0.0), "e = {e}");
        // Weight times time.
        assert!((s.percussions["ground"][0] - 2.0 * 0.05).abs() <= 1e-15);
        assert!(s.events.is_empty(), "e = {e}: {:?}", s.events);
    }
}

/// [Acary2013, §3.3]: with flexibility the scheme makes no artificial rebound. The spring presses the mass on the stop, e = 0: once there it stays, however
/// stiff the spring is for the step.
#[test]
fn a_stiff_oscillator_that_is_pressed_on_its_stop_does_not_rebound() {
    let h = 1e-2;
    for theta_ in [0.5, 1.0] {
        for stiffness in [0.1, 1.0, 3.0, 10.0f64] {
            let k = (stiffness / h).powi(2);
            let model = Oscillator { mass: 1.0, c: 0.0, k, e: 0.0, stop: 0.2 };
            let start = State::new(0.0, vec![1.0], vec![0.0]);
            let (_, records) = run_from(model, start, &theta(theta_), h, 200);
            let touch = records.iter().position(|r| r.q[0] <= 0.2 + 1e-12).unwrap();
            assert!(touch < 30, "h omega = {stiffness}");
            for r in &records[touch..] {
                assert!(
                    (r.q[0] - 0.2).abs() <= 1e-14,
                    "h omega = {stiffness}, theta = {theta_}: {} at {}",
                    r.q[0],
                    r.t
                );
            }
            for r in &records[touch + 1..] {
                let force = r.step.as_ref().unwrap().percussions.values()[0] / h;
                assert!(r.u[0].abs() <= 1e-12, "h omega = {stiffness}: moves with {}", r.u[0]);
                assert!(force > 0.0, "h omega = {stiffness}: pressed at {}", r.t);
            }
            // The contact force is that of the spring.
            let force = records[150].step.as_ref().unwrap().percussions.values()[0] / h;
            assert!((force - 0.2 * k).abs() <= 1e-9 * k, "h omega = {stiffness}: {force}");
        }
    }
}

/// A mass under a weight above a floor that rises uniformly.
struct Lift {
    speed: f64,
}

impl Model for Lift {
    fn layout(&self) -> Layout {
        Layout::new(["z"])
            .constant_mass()
            .potential("weight")
            .linear()
            .contact("floor", ContactLaw::newton(0.6))
            .moving()
    }
    fn mass<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], m: &mut [T]) {
        m[0] = T::from(1.0);
    }
    fn potential<T: Scalar>(&self, _i: usize, _t: T, q: &[T]) -> T {
        q[0] * 9.81
    }
    fn gap<T: Scalar>(&self, _i: usize, t: T, q: &[T]) -> T {
        q[0] - t * self.speed
    }
}

#[test]
fn a_floor_in_uniform_motion_is_as_good_as_one_at_rest() {
    let (h, steps, v) = (4e-3, 300, 0.7);
    let (_, still) = run(Lift { speed: 0.0 }, &[0.5], &[0.0], h, steps);
    let (_, moving) = run(Lift { speed: v }, &[0.5], &[v], h, steps);
    for (a, b) in still.iter().zip(&moving) {
        // Rounding of q, once per step, grows like steps^1.5.
        let bound = 1e-15 * (steps as f64).powf(1.5);
        assert!((a.q[0] - (b.q[0] - v * b.t)).abs() <= bound, "t = {}: {} and {}", a.t, a.q[0], b.q[0] - v * b.t);
    }
}

#[test]
fn a_state_taken_up_with_another_step_is_seen_by_the_certificate() {
    let system = Differentiated::new(Ball::default()).unwrap();
    let go = |start: State, h: f64, end: f64| {
        let scheme = scheme::make(SCHEME, &Settings::new()).unwrap();
        Simulation::new(&system, start, scheme, SimulationOptions::new(h, end)).unwrap().run()
    };
    let half = go(State::new(0.0, vec![1.0], vec![0.0]), 0.01, 0.5).end;
    assert!(go(half.clone(), 0.01, 0.9).worst.residual() <= 1e-12);
    // At the speed of 1 m/s the position before is off by 0.005 m.
    assert!(go(half, 0.005, 0.9).worst.kinematics >= 1e-3);
}

#[test]
fn a_step_that_fails_is_not_halved() {
    let system = Differentiated::new(Block { e: 0.3, ..Block::default() }).unwrap();
    let go = |fallback: bool| {
        let mut options = SimulationOptions::new(1e-3, 0.3);
        options.solver = "jacobi".into();
        options.solver_options.max_iterations = 1;
        options.policy.fallback = fallback;
        let start = State::new(0.0, vec![0.0, 0.2525, 0.003], vec![0.0; 3]);
        Simulation::new(&system, start, scheme::make(SCHEME, &Settings::new()).unwrap(), options).unwrap().run()
    };
    let stopped = go(false);
    assert_eq!((stopped.status, stopped.work.rejected), (Status::Stopped, 1));
    let stop = stopped.stop.unwrap();
    assert!(matches!(stop.failure, Failure::Solver(_)), "{stop}");
    // On the grid, and the problem can be loaded.
    assert!((stop.t / 1e-3 - (stop.t / 1e-3).round()).abs() <= 1e-9 && stop.t > 0.0, "{}", stop.t);
    assert!(FullProblem::from_json(&stop.problem.unwrap()).is_ok());
    let saved = go(true);
    assert!(saved.status == Status::Done && saved.work.fallbacks > 0 && saved.work.rejected == 0);
    assert_eq!(saved.work.steps, 300);
}
