//! Nonsmooth RATTLE: the smooth limit with joints, percussions that are not unique, the ladder of a stage that Newton's method does not
//! solve, and agreement with another scheme on every reference model.

use nonsmooth::law::ContactLaw;
use nonsmooth::scheme::{self, Scheme, Settings};
use nonsmooth::simulation::{EventKind, Observe, Record, Recording, Status, Trajectory};
use nonsmooth::{Differentiated, Layout, Model, Scalar, Simulation, SimulationOptions, State, Summary, System};
use nonsmooth_reference::{Block, Pendulum, RigidBody, cases};

fn make(settings: &Settings) -> Box<dyn Scheme> {
    scheme::make("rattle", settings).unwrap()
}

fn run(
    system: &dyn System,
    start: &State,
    settings: &Settings,
    step: f64,
    end: f64,
    every: usize,
) -> (Summary, Vec<Record>) {
    let options = SimulationOptions::new(step, end);
    let mut states = Trajectory::new(Recording::Every(every));
    let summary = Simulation::new(system, start.clone(), make(settings), options).unwrap().run_with(&mut states);
    assert_eq!(summary.status, Status::Done, "{:?}", summary.stop.as_ref().map(ToString::to_string));
    (summary, states.records().to_vec())
}

/// A point of 1 kg on a rod of 1 m, by a joint.
fn pendulum(copies: usize) -> Differentiated<Pendulum> {
    Differentiated::new(Pendulum { g: 9.81, copies }).unwrap()
}

#[test]
fn with_joints_only_the_energy_oscillates_and_does_not_drift() {
    let system = pendulum(1);
    let start = State::new(0.0, vec![1.0, 0.0], vec![0.0, 0.0]);
    let step = 1e-2;
    let (summary, records) = run(&system, &start, &Settings::new(), step, 1e5 * step, 1);
    assert_eq!(records.len(), 100_001);
    let energy = |r: &Record| 0.5 * (r.u[0] * r.u[0] + r.u[1] * r.u[1]) + 9.81 * r.q[1];
    let spread = |part: &[Record]| {
        let (low, high) =
            part.iter().map(energy).fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), e| (l.min(e), h.max(e)));
        (low, high)
    };
    let (early, late) = (spread(&records[..10_000]), spread(&records[90_000..]));
    println!(
        "pendulum, 1e5 steps: energy {early:?} in the first tenth, {late:?} in the last; joints {:.1e}",
        summary.worst.joint_violation
    );
    // The band of a symplectic scheme does not move. A thousandth of its width is what sampling at other phases makes.
    let width = early.1 - early.0;
    assert!((late.0 - early.0).abs() <= 1e-3 * width && (late.1 - early.1).abs() <= 1e-3 * width);
    // O(dt²) of 9.81 J: the band is (g dt)²-like, far below a percent.
    assert!(width < 1e-2 * 9.81, "{width}");
    assert!(summary.worst.joint_violation <= 1e-12);
}

#[test]
fn steps_are_reversible_to_rounding() {
    // As exactly as the stages can be solved.
    let settings = Settings::new().number("newton_tol", 1e-15);
    for (name, system, q, u) in [
        ("pendulum", Box::new(pendulum(1)) as Box<dyn System>, vec![0.6, -0.8], vec![0.8, 0.6]),
        ("redundant pendulum", Box::new(pendulum(2)), vec![0.6, -0.8], vec![0.8, 0.6]),
    ] {
        let start = State::new(0.0, q.clone(), u.clone());
        let (_, there) = run(&*system, &start, &settings, 1e-2, 5.0, 1);
        let last = &there[there.len() - 1];
        let back = State::new(0.0, last.q.clone(), last.u.iter().map(|u| -u).collect());
        let (_, back) = run(&*system, &back, &settings, 1e-2, 5.0, 1);
        let end = &back[back.len() - 1];
        let off = end.q.iter().zip(&q).map(|(a, b)| (a - b).abs());
        let off = off.chain(end.u.iter().zip(&u).map(|(a, b)| (a + b).abs())).fold(0.0, f64::max);
        println!("{name}: 500 steps there and back miss the start by {off:.1e}");
        // 1000 steps that round by some 1e-16 each, not growing faster than linearly in a regular motion: 1e-16 · 1000².
        assert!(off <= 1e-10, "{name}: {off:e}");
    }
}

#[test]
fn the_pendulum_on_a_joint_is_of_second_order() {
    // φ̈ = −g cos φ by Runge-Kutta with a small step: an independent solution.
    let (end, n) = (1.5, 15_000);
    let h = end / f64::from(n);
    let (mut phi, mut w) = (0.0f64, 0.0f64);
    let f = |phi: f64| -9.81 * phi.cos();
    for _ in 0..n {
        let (k1, l1) = (w, f(phi));
        let (k2, l2) = (w + 0.5 * h * l1, f(phi + 0.5 * h * k1));
        let (k3, l3) = (w + 0.5 * h * l2, f(phi + 0.5 * h * k2));
        let (k4, l4) = (w + h * l3, f(phi + h * k3));
        phi += h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
        w += h / 6.0 * (l1 + 2.0 * l2 + 2.0 * l3 + l4);
    }
    let exact = ([phi.cos(), phi.sin()], [-w * phi.sin(), w * phi.cos()]);
    let system = pendulum(1);
    let start = State::new(0.0, vec![1.0, 0.0], vec![0.0, 0.0]);
    let mut last = f64::NAN;
    for step in [2e-2, 1e-2, 5e-3, 2.5e-3] {
        let (_, records) = run(&system, &start, &Settings::new(), step, end, 1);
        let r = &records[records.len() - 1];
        let error = (0..2).map(|i| (r.q[i] - exact.0[i]).abs().max((r.u[i] - exact.1[i]).abs())).fold(0.0, f64::max);
        let order = (last / error).log2();
        println!("pendulum, step {step:e}: error {error:.2e}, order {order:.3}");
        assert!(last.is_nan() || (order - 2.0).abs() < 0.05, "order {order}");
        last = error;
    }
}

#[test]
fn redundant_joints_and_a_block_on_two_corners_are_solved_and_said_to_be_not_unique() {
    // Twice the same joint: each carries half.
    let start = State::new(0.0, vec![1.0, 0.0], vec![0.0, 0.0]);
    let (one, single) = run(&pendulum(1), &start, &Settings::new(), 1e-2, 1.0, 1);
    let (two, double) = run(&pendulum(2), &start, &Settings::new(), 1e-2, 1.0, 1);
    let redundant = |s: &Summary| s.events.iter().any(|e| e.kind == EventKind::Redundancy);
    assert!(!redundant(&one) && redundant(&two));
    for (a, b) in single.iter().zip(&double).skip(1) {
        let p = |r: &Record| r.step.as_ref().unwrap().percussions.values().to_vec();
        let (p, pair) = (p(a), p(b));
        assert!(a.q.iter().zip(&b.q).all(|(a, b)| (a - b).abs() <= 1e-11), "t = {}", a.t);
        let tolerance = 1e-10 * (1.0 + p[0].abs());
        assert!((pair[0] - 0.5 * p[0]).abs() <= tolerance && (pair[1] - 0.5 * p[0]).abs() <= tolerance, "t = {}", a.t);
    }
    // A rough block at rest on a slope: four percussions, three equations.
    let block = Block { mu: Some(0.8), slope: 0.3, ..Block::default() };
    let system = Differentiated::new(block).unwrap();
    let start = State::new(0.0, vec![0.0, 0.25, 0.0], vec![0.0; 3]);
    let (summary, records) = run(&system, &start, &Settings::new(), 1e-3, 0.5, 1);
    assert!(redundant(&summary));
    let last = &records[records.len() - 1];
    let moved = last.q.iter().zip(&start.q).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    println!("block on a slope: moved {moved:.1e} in 500 steps, {} retries", summary.work.retries);
    // It stays: 500 steps that round by 1e-16 m.
    assert!(moved <= 1e-13, "{moved:e}");
    assert_eq!(summary.work.retries, 0);
    // Least norm: both tangential percussions are the same.
    let p = last.step.as_ref().unwrap().percussions.values();
    assert!((p[1] - p[3]).abs() <= 1e-9 * (p[1].abs() + p[3].abs()), "{p:?}");
}

#[test]
fn a_newton_method_that_cycles_goes_down_the_ladder_and_says_so() {
    // r far above 1/G_ii cycles (errata); the rungs below have r/100 and r/10⁴, then the solver of the run.
    let system = Differentiated::new(Block { mu: Some(0.5), e: 0.3, ..Block::default() }).unwrap();
    let start = State::new(0.0, vec![0.0, 0.7, 0.4], vec![2.0, 0.0, 0.0]);
    let (good, states) = run(&system, &start, &Settings::new(), 1.1e-3, 1.0, 1);
    assert_eq!(good.work.retries, 0);
    for r in [1e2, 1e4, 1e8] {
        let (summary, other) = run(&system, &start, &Settings::new().number("r", r), 1.1e-3, 1.0, 1);
        println!(
            "r = {r:e}: {} retries, {} solves, {} Newton iterations",
            summary.work.retries, summary.work.solves, summary.work.newton
        );
        assert!(summary.work.retries > 0, "r = {r:e}");
        assert!(summary.worst.residual() <= 1e-9, "r = {r:e}: residual {:e}", summary.worst.residual());
        // The same motion until an impact of two corners, where one rounding decides.
        let apart = |a: &Record, b: &Record| a.q.iter().zip(&b.q).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        let worst =
            states.iter().zip(&other).take_while(|(a, _)| a.t < 0.5).map(|(a, b)| apart(a, b)).fold(0.0, f64::max);
        assert!(worst <= 1e-8, "r = {r:e}: {worst:e}");
    }
}

/// A skate that turns and is pushed along x: a velocity joint whose direction changes.
struct Skate;

impl Model for Skate {
    fn layout(&self) -> Layout {
        Layout::new(["x", "y", "phi"]).constant_mass().force("push").velocity_joint("blade", 1)
    }
    fn mass<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], m: &mut [T]) {
        (m[0], m[4], m[8]) = (T::from(1.0), T::from(1.0), T::from(0.1));
    }
    fn force<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], _u: &[T], h: &mut [T]) {
        h[0] = T::from(2.0);
    }
    fn velocity_joint<T: Scalar>(&self, _i: usize, _t: T, q: &[T], u: &[T], gamma: &mut [T]) {
        gamma[0] = u[1] * q[2].cos() - u[0] * q[2].sin();
    }
}

#[test]
fn velocity_joints_that_turn_are_of_second_order() {
    // φ = 2t, speed v along the blade with v̇ = 2 cos 2t: v = 1 + sin 2t; x = ∫ v cos 2t, y = ∫ v sin 2t.
    let exact = |t: f64| {
        let (s, c) = ((2.0 * t).sin(), (2.0 * t).cos());
        let x = 0.5 * s + 0.25 * s * s;
        let y = 0.5 * (1.0 - c) + 0.5 * (t - 0.5 * s * c);
        [x, y, 2.0 * t]
    };
    let system = Differentiated::new(Skate).unwrap();
    let start = State::new(0.0, vec![0.0; 3], vec![1.0, 0.0, 2.0]);
    // (29a) as printed makes u_{n+1/2} tangent at the end of the step: order 1.
    for (word, wanted) in [("mean", 2.0), ("end", 1.0)] {
        let settings = Settings::new().word("velocity_joints", word);
        let mut last = f64::NAN;
        for step in [4e-2, 2e-2, 1e-2, 5e-3] {
            let (_, records) = run(&system, &start, &settings, step, 2.0, 1);
            let q = &records[records.len() - 1].q;
            let error = q.iter().zip(exact(2.0)).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            let order = (last / error).log2();
            println!("skate, {word}, step {step:e}: error {error:.2e}, order {order:.3}");
            assert!(last.is_nan() || (order - wanted).abs() < 0.05, "{word}: order {order}");
            last = error;
        }
    }
}

/// Balls on a table that do not know of each other.
struct Several {
    one: RigidBody,
    count: usize,
}

impl Model for Several {
    fn layout(&self) -> Layout {
        let names = |list: &[&str]| -> Vec<String> {
            (0..self.count).flat_map(|b| list.iter().map(move |n| format!("{n}_{b}"))).collect()
        };
        let mut l = Layout::new(names(&["x", "y", "z", "p0", "p1", "p2", "p3"]))
            .velocities(names(&["vx", "vy", "vz", "ox", "oy", "oz"]));
        for b in 0..self.count {
            let (q, u) = (7 * b, 6 * b);
            l = l.kinematic_block(q..q + 3, u..u + 3).kinematic_block(q + 3..q + 7, u + 3..u + 6);
        }
        l = l.constant_mass();
        for b in 0..self.count {
            let u = 6 * b;
            l = l
                .mass_block(format!("translation_{b}"))
                .on(u..u + 3)
                .mass_block(format!("rotation_{b}"))
                .on(u + 3..u + 6);
        }
        for b in 0..self.count {
            let q = 7 * b;
            l = l
                .force(format!("gyroscopic_{b}"))
                .on(q + 3..q + 7)
                .potential(format!("gravity_{b}"))
                .linear()
                .on([q + 2]);
        }
        let law = self.one.law.clone().unwrap();
        (0..self.count).fold(l, |l, b| l.contact(format!("table_{b}"), law.clone()).on(7 * b..7 * b + 7))
    }
    fn mass<T: Scalar>(&self, i: usize, t: T, q: &[T], m: &mut [T]) {
        self.one.mass(i % 2, t, q, m);
    }
    fn kinematics<T: Scalar>(&self, i: usize, t: T, q: &[T], u: &[T], qdot: &mut [T]) {
        self.one.kinematics(i % 2, t, q, u, qdot);
    }
    fn force<T: Scalar>(&self, i: usize, t: T, q: &[T], u: &[T], h: &mut [T]) {
        self.one.force(i, t, q, u, h);
    }
    fn potential<T: Scalar>(&self, i: usize, t: T, q: &[T]) -> T {
        self.one.potential(i, t, q)
    }
    fn gap<T: Scalar>(&self, i: usize, t: T, q: &[T]) -> T {
        self.one.gap(i, t, q)
    }
    fn slip<T: Scalar>(&self, i: usize, t: T, q: &[T], u: &[T], gamma: &mut [T]) {
        self.one.slip(i, t, q, u, gamma);
    }
    fn normalise(&self, q: &mut [f64]) {
        q.chunks_exact_mut(7).for_each(|q| self.one.normalise(q));
    }
}

/// Alone a ball is solved by the dense Newton method with exact sensitivities; twelve have more coordinates than those are made for, forty more
/// contacts than are few.
#[test]
fn many_balls_move_as_each_of_them_alone() {
    let one = RigidBody::ball(0.1, ContactLaw::newton(0.3).coulomb(2, 0.3));
    let alone = Differentiated::new(one.clone()).unwrap();
    let start = |b: usize| {
        let x = b as f64;
        (vec![0.0, 0.0, 0.15, 1.0, 0.0, 0.0, 0.0], vec![1.0 + 0.01 * x, 0.3, 0.0, 5.0, 0.1 * x, 2.0])
    };
    for count in [12, 40] {
        let system = Differentiated::new(Several { one: one.clone(), count }).unwrap();
        let (q, u): (Vec<_>, Vec<_>) = (0..count).map(start).unzip();
        let (summary, all) = run(&system, &State::new(0.0, q.concat(), u.concat()), &Settings::new(), 3e-3, 1.0, 1);
        assert!(summary.worst.residual() <= 1e-9, "{count} balls: {:e}", summary.worst.residual());
        assert_eq!((summary.work.retries, summary.work.rejected), (0, 0), "{count} balls: {:?}", summary.work);
        let mut worst = 0.0f64;
        for b in 0..count {
            let (q, u) = start(b);
            let (_, records) = run(&alone, &State::new(0.0, q, u), &Settings::new(), 3e-3, 1.0, 1);
            for (r, all) in records.iter().zip(&all) {
                let pairs = r.q.iter().zip(&all.q[7 * b..]).chain(r.u.iter().zip(&all.u[6 * b..]));
                worst = pairs.map(|(a, b)| (a - b).abs()).fold(worst, f64::max);
            }
        }
        println!(
            "{count} balls: at most {worst:.1e} from each alone; {:?} iterations of the stages",
            summary.work.stages
        );
        // 330 steps solved to 1e-10 of velocities of some m/s and rad/s.
        assert!(worst <= 1e-7, "{count} balls: {worst:e}");
    }
}

#[test]
fn every_model_moves_as_under_another_scheme() {
    println!(
        "mean difference of q from moreau-jean with a sixteenth of the step: at the step, at a quarter of it, bound"
    );
    for case in cases().unwrap() {
        let Some(mut options) = case.options_for("rattle") else { continue };
        options.observe = Observe::NONE;
        let states = |name: &str, step: f64| {
            let mut o = options.clone();
            o.step = step;
            let mut states = Trajectory::new(Recording::Every(1));
            let scheme = scheme::make(name, &Settings::new()).unwrap();
            let summary = Simulation::new(&*case.system, case.start.clone(), scheme, o).unwrap().run_with(&mut states);
            assert_eq!(summary.status, Status::Done, "{}: {:?}", case.name, summary.stop.map(|s| s.to_string()));
            states.records().to_vec()
        };
        let fine = states("moreau-jean", case.step / 16.0);
        let apart = |a: &Record, b: &Record| a.q.iter().zip(&b.q).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        let off = |step: f64, many: usize| {
            let run = states("rattle", step);
            // All but the last, which is off the grid.
            let pairs = run.iter().zip(fine.iter().step_by(many)).take(run.len() - 1);
            pairs.map(|(a, b)| apart(a, b)).sum::<f64>() / (run.len() - 1) as f64
        };
        let (coarse, finer) = (off(case.step, 16), off(case.step / 4.0, 4));
        let speed = fine.iter().flat_map(|r| &r.u).fold(0.0f64, |m, u| m.max(u.abs()));
        // What a step (a quarter of the case's) moves at the largest speed: both are of first order through impacts.
        let bound = 0.25 * case.step * speed;
        println!("{:28} {coarse:.2e}   {finer:.2e}   {bound:.2e}", case.name);
        assert!(finer <= bound, "{}: {finer:e}, more than {bound:e}", case.name);
    }
}
