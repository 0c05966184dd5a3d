//! Discs in a turning drum at several sizes: what a step costs, and how fast the drum turns.
//!
//! ```sh
//! discs fixed N SWEEPS STEPS [SCHEME]  # touching discs, a fixed number of Gauss-Seidel sweeps per solve: time and memory per disc
//! discs solved N TOL STEPS [SCHEME]  # discs that fall on each other, every step solved to a residual: time per step
//! discs gas N TOL STEPS [SCHEME]     # the same for discs that fly about and bounce
//! discs mixing N TOL END [FROM] # solved to a residual, before the time FROM to 1e-3: how many times real time
//! discs bandwidth               # bytes per second that one thread of this machine moves (a = b + s c)
//! ```

use complementarity::{Options, Problem, Report, Solver, SolverInfo, Status, solver};
use nonsmooth::law::ContactLaw;
use nonsmooth::scheme::{self, Settings};
use nonsmooth::simulation::{Advance, Observe};
use nonsmooth::{Simulation, SimulationOptions, State};
use nonsmooth_multibody::{Body, Builder, Multibody, Pose, Shape, Twist, Uniform};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

#[derive(Clone, Copy, PartialEq)]
enum Filling {
    /// Of radius 0.02 m ± 10 % on a loose lattice.
    Loose,
    /// Equal ones that touch from the start and move at random.
    Packed,
    /// Of radius 0.012 m ± 10 %, without weight, flying about and bouncing with e = 0.8: contacts in pairs and threes.
    Gas,
}

/// N discs in a drum that they fill as a thousand fill one of radius 1 m.
fn drum(n: usize, filling: Filling) -> (Multibody, State) {
    let packed = filling == Filling::Packed;
    let (gravity, mean, speed, e) = match filling {
        Filling::Gas => (0.0, 0.012, 1.0, 0.8),
        Filling::Loose => (-9.81, 0.02, 0.0, 0.0),
        Filling::Packed => (-9.81, 0.02, 0.1, 0.0),
    };
    let radius = (n as f64 / 1000.0).sqrt();
    let mut world = Builder::new();
    world.gravity([0.0, gravity]);
    let rate = Twist { velocity: [0.0, 0.0], spin: 1.0 };
    world.body(Body::driven("drum", Uniform { start: Pose::default(), rate }).shape(Shape::inner_circle(radius)));
    let spacing = if packed { 0.04 } else { 0.0445 };
    let height = spacing * 0.75f64.sqrt();
    let mut seed = 1u64;
    let mut random = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 11) as f64 / (1u64 << 53) as f64
    };
    let columns = (2.0 * radius / spacing) as usize;
    let mut made = 0;
    for row in 0..(2.0 * radius / height) as usize {
        let y = -radius + (row as f64 + 0.5) * height;
        for column in 0..columns {
            let x = -radius + (column as f64 + 0.5 + 0.5 * (row % 2) as f64) * spacing;
            if made < n && (x * x + y * y).sqrt() < radius - 0.023 {
                let r = if packed { mean } else { mean * (1.0 + 0.1 * (2.0 * random() - 1.0)) };
                let mut body = Body::new(&format!("disc_{made}")).at([x, y], 0.0).density(1000.0);
                if speed > 0.0 {
                    // Every contact has something to do.
                    let mut one = || speed * (2.0 * random() - 1.0);
                    let velocity = [one(), one()];
                    body = body.moving(velocity, 10.0 * random() - 5.0);
                }
                world.body(body.shape(Shape::disc(r)));
                made += 1;
            }
        }
    }
    assert_eq!(made, n, "the drum is too small");
    world.contact_of_all("contact", ContactLaw::newton(e).coulomb(1, 0.3));
    world.build().unwrap_or_else(|e| panic!("{e}"))
}

/// Gauss-Seidel with a fixed number of sweeps, taken as it is: for measuring alone.
struct FixedSweeps(Box<dyn Solver>, usize);

impl Solver for FixedSweeps {
    fn info(&self) -> &'static SolverInfo {
        self.0.info()
    }
    fn solve(&mut self, problem: &Problem, r: &mut [f64], options: &Options) -> Report {
        let options = Options { tolerance: f64::MIN_POSITIVE, max_iterations: self.1, ..*options };
        Report { status: Status::Solved, ..self.0.solve(problem, r, &options) }
    }
}

/// The ladder `auto`, with a tolerance that can be changed on the way.
struct Changing(Box<dyn Solver>, Arc<AtomicU64>);

impl Solver for Changing {
    fn info(&self) -> &'static SolverInfo {
        self.0.info()
    }
    fn solve(&mut self, problem: &Problem, r: &mut [f64], options: &Options) -> Report {
        let tolerance = f64::from_bits(self.1.load(Ordering::Relaxed));
        self.0.solve(problem, r, &Options { tolerance, ..*options })
    }
}

/// Steps before `solved` measures.
const SETTLE: usize = 100;

fn resident() -> f64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find(|l| l.starts_with("VmHWM"));
    line.and_then(|l| l.split_whitespace().nth(1)).and_then(|v| v.parse().ok()).map_or(0.0, |kb: f64| 1024.0 * kb)
}

/// Three streams of 128 MB: far more than any cache.
fn bandwidth() {
    let n = 16_000_000;
    let (mut a, b, c) = (vec![0.0f64; n], vec![1.0f64; n], vec![2.0f64; n]);
    let mut best = f64::INFINITY;
    for k in 0..8 {
        let clock = Instant::now();
        let s = f64::from(k);
        a.iter_mut().zip(&b).zip(&c).for_each(|((a, b), c)| *a = b + s * c);
        best = best.min(clock.elapsed().as_secs_f64());
    }
    println!("{:.1} GB/s (a[7] = {})", 24.0 * n as f64 / best / 1e9, a[7]);
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    if args.get(1).is_some_and(|a| a == "bandwidth") {
        return bandwidth();
    }
    let number = |i: usize| args.get(i).and_then(|a| a.parse::<f64>().ok());
    let (Some(mode), Some(n), Some(a), Some(b)) = (args.get(1), number(2), number(3), number(4)) else {
        eprintln!(
            "usage: discs fixed N SWEEPS STEPS [SCHEME] | discs solved|gas N TOL STEPS [SCHEME] | discs mixing N TOL END [FROM] | discs bandwidth"
        );
        std::process::exit(2);
    };
    let n = n as usize;
    if mode == "fixed" && n > 100 {
        // What the program itself takes is not the discs'.
        let (system, start) = drum(100, Filling::Packed);
        let scheme = scheme::make("moreau-midpoint", &Default::default()).unwrap_or_else(|e| panic!("{e}"));
        Simulation::new(&system, start, scheme, SimulationOptions::new(1e-3, 5e-3))
            .unwrap_or_else(|e| panic!("{e}"))
            .run();
    }
    let before = resident();
    let filling = match mode.as_str() {
        "fixed" | "solved" => Filling::Packed,
        "gas" => Filling::Gas,
        _ => Filling::Loose,
    };
    let (system, start) = drum(n, filling);
    let name = if mode == "mixing" { None } else { args.get(5) };
    // What is not solved must be taken as it is: a scheme with an iteration of its own is content with two digits.
    let rattle = mode == "fixed" && name.is_some_and(|n| n == "rattle");
    let settings = if rattle { Settings::new().number("newton_tol", 1e-2) } else { Settings::new() };
    let scheme =
        scheme::make(name.map_or("moreau-midpoint", String::as_str), &settings).unwrap_or_else(|e| panic!("{e}"));
    let step = 1e-3;
    if mode == "solved" || mode == "gas" {
        // The discs fall on each other first.
        let (settle, steps) = (SETTLE, b as usize);
        let mut options = SimulationOptions::new(step, step * (settle + steps) as f64);
        options.solver_options.tolerance = a;
        options.observe = Observe::NONE;
        let mut run = Simulation::new(&system, start, scheme, options).unwrap_or_else(|e| panic!("{e}"));
        for _ in 0..settle {
            run.advance(&mut ());
        }
        let w = *run.work();
        let clock = Instant::now();
        while run.advance(&mut ()) == Advance::Stepped {}
        let (seconds, summary) = (clock.elapsed().as_secs_f64(), run.summary());
        let s = summary.work;
        let per = |now: usize, then: usize| (now - then) as f64 / (s.scheme_calls - w.scheme_calls) as f64;
        println!(
            "{n} discs: {:.3} ms per step, {:.0} contacts, {:.1} solves and {:.1} iterations of the solver per step, {} rejected, {:?}{}",
            1e3 * seconds / (s.scheme_calls - w.scheme_calls) as f64,
            per(s.contacts, w.contacts),
            per(s.solves, w.solves),
            per(s.iterations, w.iterations),
            s.rejected,
            summary.status,
            summary.stop.map_or_else(String::new, |s| format!(": {s}")),
        );
        return;
    }
    if mode == "fixed" {
        let (sweeps, steps) = (a as usize, b as usize);
        // Buffers reach their sizes; where gaps never close beyond zero, discs that are thrown about must fall on each other first.
        let settle = if rattle { SETTLE } else { 3 };
        let mut options = SimulationOptions::new(step, step * (settle + steps) as f64);
        options.observe = Observe::NONE;
        let mut run = Simulation::new(&system, start, scheme, options).unwrap_or_else(|e| panic!("{e}"));
        let gauss_seidel = solver::make("nsgs").unwrap_or_else(|| panic!("there is a solver nsgs"));
        run.set_solver(Box::new(FixedSweeps(gauss_seidel, sweeps)));
        for _ in 0..settle {
            run.advance(&mut ());
        }
        let w = *run.work();
        let clock = Instant::now();
        for _ in 0..steps {
            run.advance(&mut ());
        }
        let seconds = clock.elapsed().as_secs_f64();
        let s = *run.work();
        let calls = (s.scheme_calls - w.scheme_calls) as f64;
        let contacts = (s.contacts - w.contacts) as f64 / calls;
        println!(
            "{n} discs: {:.1} us per step, {contacts:.0} contacts, {:.1} solves of {:.1} us, {:.1} ns per contact and sweep, {:.1} redone, {:.0} bytes per disc",
            1e6 * seconds / calls,
            (s.solves - w.solves) as f64 / calls,
            1e6 * seconds / (s.solves - w.solves) as f64,
            1e9 * seconds / ((s.solves - w.solves) as f64 * contacts * sweeps as f64),
            (s.reach_redone - w.reach_redone) as f64,
            (resident() - before) / n as f64,
        );
        return;
    }
    let mut options = SimulationOptions::new(step, b);
    options.solver_options.tolerance = a;
    options.observe = Observe::NONE;
    let mut run = Simulation::new(&system, start, scheme, options).unwrap_or_else(|e| panic!("{e}"));
    let from = number(5).unwrap_or(0.0);
    let tolerance = Arc::new(AtomicU64::new(if from > 0.0 { 1e-3f64 } else { a }.to_bits()));
    let auto = solver::make("auto").unwrap_or_else(|| panic!("there is a solver auto"));
    run.set_solver(Box::new(Changing(auto, tolerance.clone())));
    let mut clock = Instant::now();
    let begin = Instant::now();
    let (mut last, mut since) = (*run.work(), run.state().t);
    loop {
        let done = run.advance(&mut ()) != Advance::Stepped;
        let t = run.state().t;
        if t >= from {
            tolerance.store(a.to_bits(), Ordering::Relaxed);
        }
        // The advance that finds the end makes no step.
        if t > since && (done || (t / 0.1).floor() > (since / 0.1).floor()) {
            let w = *run.work();
            let kinetic: f64 = 0.5 * run.state().u.iter().map(|u| u * u).sum::<f64>();
            let steps = (w.steps - last.steps).max(1) as f64;
            eprintln!(
                "t = {t:.3}  {:.1} times real time, {:.1} iterations per step (max {}), {:.0} contacts, redone {}, rejected {}, v^2/2 {kinetic:.3e}",
                clock.elapsed().as_secs_f64() / (t - since),
                (w.iterations - last.iterations) as f64 / steps,
                w.iterations_max,
                (w.contacts - last.contacts) as f64 / (w.scheme_calls - last.scheme_calls).max(1) as f64,
                w.reach_redone - last.reach_redone,
                w.rejected - last.rejected,
            );
            (last, since) = (w, t);
            clock = Instant::now();
        }
        if done {
            let s = run.summary();
            println!(
                "{:?} after {:.2} s: {:?}",
                s.status,
                begin.elapsed().as_secs_f64(),
                s.stop.map(|s| s.to_string())
            );
            break;
        }
    }
}
