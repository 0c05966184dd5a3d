//! Discs in a turning drum at several sizes: what a step costs, and how fast the drum turns.
//!
//! ```sh
//! discs fixed N SWEEPS STEPS    # touching discs, a fixed number of Gauss-Seidel sweeps per step: time and memory per disc
//! discs mixing N TOL END [FROM] # solved to a residual, before the time FROM to 1e-3: how many times real time
//! discs bandwidth               # bytes per second that one thread of this machine moves (a = b + s c)
//! ```

use complementarity::{Options, Problem, Report, Solver, SolverInfo, Status, solver};
use nonsmooth::law::ContactLaw;
use nonsmooth::scheme;
use nonsmooth::simulation::{Advance, Observe};
use nonsmooth::{Simulation, SimulationOptions, State};
use nonsmooth_multibody::{Body, Builder, Multibody, Pose, Shape, Twist, Uniform};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// N discs in a drum that they fill as a thousand fill one of radius 1 m: of radius 0.02 m ± 10 % on a loose lattice, or equal ones that
/// touch from the start and move at random.
fn drum(n: usize, packed: bool) -> (Multibody, State) {
    let radius = (n as f64 / 1000.0).sqrt();
    let mut world = Builder::new();
    world.gravity([0.0, -9.81]);
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
                let r = if packed { 0.02 } else { 0.02 * (1.0 + 0.1 * (2.0 * random() - 1.0)) };
                let mut body = Body::new(&format!("disc_{made}")).at([x, y], 0.0).density(1000.0);
                if packed {
                    // Every contact has something to do.
                    body = body.moving([0.2 * random() - 0.1, 0.2 * random() - 0.1], 10.0 * random() - 5.0);
                }
                world.body(body.shape(Shape::disc(r)));
                made += 1;
            }
        }
    }
    assert_eq!(made, n, "the drum is too small");
    world.contact_of_all("contact", ContactLaw::newton(0.0).coulomb(1, 0.3));
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
        eprintln!("usage: discs fixed N SWEEPS STEPS | discs mixing N TOL END [FROM] | discs bandwidth");
        std::process::exit(2);
    };
    let n = n as usize;
    if mode == "fixed" && n > 100 {
        // What the program itself takes is not the discs'.
        let (system, start) = drum(100, true);
        let scheme = scheme::make("moreau-midpoint", &Default::default()).unwrap_or_else(|e| panic!("{e}"));
        Simulation::new(&system, start, scheme, SimulationOptions::new(1e-3, 5e-3))
            .unwrap_or_else(|e| panic!("{e}"))
            .run();
    }
    let before = resident();
    let (system, start) = drum(n, mode == "fixed");
    let scheme = scheme::make("moreau-midpoint", &Default::default()).unwrap_or_else(|e| panic!("{e}"));
    let step = 1e-3;
    if mode == "fixed" {
        let (sweeps, steps) = (a as usize, b as usize);
        // Buffers reach their sizes.
        let settle = 3;
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
        let contacts = (s.index_set - w.index_set) as f64 / calls;
        println!(
            "{n} discs: {:.1} us per step, {contacts:.0} contacts, {:.1} ns per contact and sweep, {:.1} redone, {:.0} bytes per disc",
            1e6 * seconds / calls,
            1e9 * seconds / (calls * contacts * sweeps as f64),
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
    let mut last = *run.work();
    loop {
        let done = run.advance(&mut ()) != Advance::Stepped;
        let t = run.state().t;
        if t >= from {
            tolerance.store(a.to_bits(), Ordering::Relaxed);
        }
        if done || (t / 0.1).floor() > ((t - step) / 0.1).floor() {
            let w = *run.work();
            let kinetic: f64 = 0.5 * run.state().u.iter().map(|u| u * u).sum::<f64>();
            let steps = (w.steps - last.steps).max(1) as f64;
            eprintln!(
                "t = {t:.3}  {:.1} times real time, {:.1} iterations per step (max {}), {:.0} contacts, redone {}, rejected {}, v^2/2 {kinetic:.3e}",
                clock.elapsed().as_secs_f64() / (steps * step),
                (w.iterations - last.iterations) as f64 / steps,
                w.iterations_max,
                (w.index_set - last.index_set) as f64 / (w.scheme_calls - last.scheme_calls).max(1) as f64,
                w.reach_redone - last.reach_redone,
                w.rejected - last.rejected,
            );
            last = w;
            clock = Instant::now();
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
}
