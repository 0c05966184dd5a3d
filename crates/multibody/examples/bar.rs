//! The impacting elastic bar [Acary2013, 6.2] at several sizes: what a step costs, and our side of the comparison with peers.
//!
//! ```sh
//! bar step N STEPS [SCHEME]   # ns per node and step, beside a bare tridiagonal solve of the same size in the same run
//! bar count N STEPS [SCHEME]  # one run and no output, for counting instructions (benches/instructions.sh)
//! bar peers [REPEATS]         # JSON for benches/peers/table.py
//! ```
//!
//! Moreau-Jean, θ = 1/2, step 2e-6 s, activation g ≤ 0; other schemes with their defaults, and, if they have no θ and so may be explicit in the
//! elastic force, with steps of a quarter of the time that a wave needs for an element. The bar of 1 m touches the wall for 3.85e-4 s: for up to 190 steps, contact persists in
//! all of them.

use nonsmooth::law::ContactLaw;
use nonsmooth::scheme::{self, MoreauJean, MoreauJeanOptions, Scheme};
use nonsmooth::simulation::{Advance, Observe};
use nonsmooth::{Simulation, SimulationOptions, State};
use nonsmooth_multibody::{Bar, Builder, Multibody};
use std::time::Instant;

const STEP: f64 = 2e-6;
/// As benches/peers/siconos_bar.py.
const PEER_STEPS: usize = 200;
const PEER_MESHES: [usize; 4] = [100, 300, 1000, 3000];
const REPEATS: usize = 15;

fn bar(elements: usize) -> (Multibody, State) {
    let mut world = Builder::new();
    world.bar(Bar {
        name: "bar".into(),
        elements,
        length: 1.0,
        area: std::f64::consts::PI * 1e-4,
        density: 7800.0,
        modulus: 210e9,
        displacement: 0.0,
        velocity: -0.1,
    });
    world.stop("wall", "bar_0", 1.0, 0.0, ContactLaw::newton(0.0));
    world.build().unwrap_or_else(|e| panic!("{e}"))
}

fn simulation<'a>(
    system: &'a Multibody,
    start: &State,
    steps: usize,
    observe: Observe,
    name: Option<&str>,
) -> Simulation<'a> {
    let (scheme, step): (Box<dyn Scheme>, f64) = match name {
        None => (Box::new(MoreauJean::new(MoreauJeanOptions::default())), STEP),
        Some(name) => {
            let scheme = scheme::make(name, &Default::default()).unwrap_or_else(|e| panic!("{e}"));
            let implicit = scheme.info().options.iter().any(|o| o.key == "theta");
            let explicit_step = 0.25 / ((start.q.len() - 1) as f64 * f64::sqrt(210e9 / 7800.0));
            (scheme, if implicit { STEP } else { explicit_step })
        }
    };
    let mut options = SimulationOptions::new(step, steps as f64 * step);
    options.observe = observe;
    Simulation::new(system, start.clone(), scheme, options).unwrap_or_else(|e| panic!("{e}"))
}

/// Seconds of `steps` steps after a first one, which factors the matrix; how many of them carried a percussion.
fn measure(system: &Multibody, start: &State, steps: usize, observe: Observe, name: Option<&str>) -> (f64, usize) {
    let mut run = simulation(system, start, steps + 1, observe, name);
    assert_eq!(run.advance(&mut ()), Advance::Stepped);
    let mut carrying = 0;
    let clock = Instant::now();
    for _ in 0..steps {
        run.advance(&mut ());
        carrying += usize::from(run.state().percussions.values()[0] > 0.0);
    }
    let seconds = clock.elapsed().as_secs_f64();
    assert_eq!(run.summary().work.steps, steps + 1);
    (seconds, carrying)
}

/// Forward and backward substitution of a factored tridiagonal matrix: what no step can do without.
struct Thomas {
    lower: Vec<f64>,
    upper: Vec<f64>,
    inverse: Vec<f64>,
}

impl Thomas {
    /// Factors tridiag(1, 4, 1), the consistent mass but for its scale.
    fn new(n: usize) -> Self {
        let (mut lower, mut inverse) = (vec![0.0; n], vec![0.25; n]);
        for i in 1..n {
            lower[i] = inverse[i - 1];
            inverse[i] = 1.0 / (4.0 - lower[i]);
        }
        Self { lower, upper: vec![1.0; n], inverse }
    }

    fn solve(&self, x: &mut [f64]) {
        let mut before = 0.0;
        for (x, l) in x.iter_mut().zip(&self.lower) {
            before = *x - l * before;
            *x = before;
        }
        let mut after = 0.0;
        for ((x, u), inverse) in x.iter_mut().zip(&self.upper).zip(&self.inverse).rev() {
            after = (*x - u * after) * inverse;
            *x = after;
        }
    }
}

/// Seconds of `solves` bare solves.
fn measure_bare(thomas: &Thomas, x: &mut [f64], solves: usize) -> f64 {
    let clock = Instant::now();
    for _ in 0..solves {
        thomas.solve(x);
        // The next right-hand side must not shrink to zero: denormals are slow.
        x[0] += 1.0;
        let last = x.len() - 1;
        x[last] += 1.0;
        std::hint::black_box(&mut *x);
    }
    clock.elapsed().as_secs_f64()
}

fn step(elements: usize, steps: usize, name: Option<&str>) {
    let (system, start) = bar(elements);
    let nodes = elements + 1;
    let thomas = Thomas::new(nodes);
    let mut x = vec![1.0; nodes];
    let (mut none, mut all, mut bare) = (f64::INFINITY, f64::INFINITY, f64::INFINITY);
    let mut carrying = 0;
    // Alternate, so that a slow spell of a shared machine meets all three.
    for _ in 0..REPEATS {
        x.fill(1.0);
        bare = bare.min(measure_bare(&thomas, &mut x, steps));
        let (seconds, count) = measure(&system, &start, steps, Observe::NONE, name);
        (none, carrying) = (none.min(seconds), count);
        all = all.min(measure(&system, &start, steps, Observe::ALL, name).0);
    }
    let [none, all, bare] = [none, all, bare].map(|s| 1e9 * s / (steps * nodes) as f64);
    println!(
        "N = {elements}: {none:.2} ns per node and step ({all:.2} with everything observed), bare solve {bare:.2} ns, ratio {:.2}; \
         {carrying} of {steps} steps in contact, best of {REPEATS}",
        none / bare
    );
}

fn peers(repeats: usize) {
    let mut cases = Vec::new();
    for elements in PEER_MESHES {
        let (system, start) = bar(elements);
        let mut best = f64::INFINITY;
        let mut end = start.clone();
        for _ in 0..repeats {
            let mut run = simulation(&system, &start, PEER_STEPS, Observe::NONE, None);
            let clock = Instant::now();
            let summary = run.run();
            best = best.min(clock.elapsed().as_secs_f64());
            assert_eq!(summary.work.steps, PEER_STEPS);
            end = summary.end;
        }
        cases.push(format!(
            "\"bar N={elements}\": {{\"steps\": {PEER_STEPS}, \"cpu_seconds\": {best:e}, \"steps_per_cpu_second\": {:e}, \
             \"final\": {{\"q\": {:?}, \"v\": {:?}}}}}",
            PEER_STEPS as f64 / best,
            &end.q[..1],
            &end.u[..1]
        ));
    }
    println!("{{\"nonsmooth\": \"{}\", \"cases\": {{{}}}}}", env!("CARGO_PKG_VERSION"), cases.join(", "));
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let number = |i: usize| args.get(i).and_then(|a| a.parse::<usize>().ok()).filter(|&n| n > 0);
    let name = args.get(3).map(String::as_str);
    match (args.first().map(String::as_str), number(1), number(2)) {
        (Some("step"), Some(elements), Some(steps)) => step(elements, steps, name),
        (Some("count"), Some(elements), Some(steps)) => {
            let (system, start) = bar(elements);
            let summary = simulation(&system, &start, steps, Observe::NONE, name).run();
            assert_eq!(summary.work.steps, steps);
        }
        (Some("peers"), repeats, None) => peers(repeats.unwrap_or(REPEATS)),
        _ => {
            eprintln!("usage: bar step N STEPS [SCHEME] | bar count N STEPS [SCHEME] | bar peers [REPEATS]");
            std::process::exit(2);
        }
    }
}
