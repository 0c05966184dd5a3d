//! A ball that bounces infinitely often in three seconds, written by its values, and what a run tells.
//!
//! `cargo run --release --example bouncing_ball [SCHEME]`

use nonsmooth::law::ContactLaw;
use nonsmooth::scheme::{self, Settings};
use nonsmooth::simulation::{Recording, Trajectory};
use nonsmooth::{Differentiated, Error, Layout, Model, Scalar, Simulation, SimulationOptions, State};

/// A ball of 1 kg under a force of 2 N, coefficient of restitution 1/2 [Acary2013, Ex. 1].
struct Ball;

impl Model for Ball {
    fn layout(&self) -> Layout {
        Layout::new(["q"]).potential("weight").contact("ground", ContactLaw::newton(0.5))
    }
    fn mass<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], m: &mut [T]) {
        m[0] = T::from(1.0);
    }
    fn potential<T: Scalar>(&self, _i: usize, _t: T, q: &[T]) -> T {
        q[0] * 2.0
    }
    fn gap<T: Scalar>(&self, _i: usize, _t: T, q: &[T]) -> T {
        q[0]
    }
}

fn main() {
    if let Err(error) = run() {
        eprintln!("error: {error}");
        std::process::exit(2);
    }
}

fn run() -> Result<(), Error> {
    let name = std::env::args().nth(1).unwrap_or_else(|| "moreau-jean".into());
    let ball = Differentiated::new(Ball)?;
    let start = State::new(0.0, vec![1.0], vec![0.0]);
    let scheme = scheme::make(&name, &Settings::new())?;
    let mut path = Trajectory::new(Recording::Every(1));
    let summary = Simulation::new(&ball, start, scheme, SimulationOptions::new(7e-4, 4.0))?.run_with(&mut path);

    println!("A ball under 2 N falls from 1 m, restitution 1/2. Scheme {name}, step 7e-4 s.\n");
    draw(&path);
    println!("\nevents");
    for e in &summary.events {
        println!("  t = {:<9.4} {:<20} {}", e.t, e.kind.name(), e.contact.as_deref().unwrap_or(""));
    }
    println!("\nenergy     initial {:.6} J, final {:.6} J", summary.energy.initial, summary.energy.last);
    for (line, work) in summary.ledger.iter().filter(|(_, w)| *w != 0.0) {
        println!("  {line:<24} {work:+.6e} J");
    }
    println!("  closure of the ledger    {:.1e}", summary.energy.closure);
    println!("\ncertificate  worst residual {:.1e}", summary.worst.residual());
    println!("             deepest penetration {:.2e} m at t = {:.4} s", summary.worst.penetration, summary.worst_at.1);
    let w = summary.work;
    println!("work       {} steps, {} solver iterations, {} rejected", w.steps, w.iterations, w.rejected);
    Ok(())
}

/// Height over time in characters.
fn draw(path: &Trajectory) {
    const WIDTH: usize = 96;
    const HEIGHT: usize = 16;
    let mut canvas = vec![vec![' '; WIDTH]; HEIGHT];
    for r in path.records() {
        let column = ((r.t / 4.0) * (WIDTH - 1) as f64).round() as usize;
        let row = ((1.0 - r.q[0]) * (HEIGHT - 1) as f64).round().clamp(0.0, (HEIGHT - 1) as f64) as usize;
        canvas[row][column.min(WIDTH - 1)] = 'o';
    }
    for (i, row) in canvas.iter().enumerate() {
        let label = if i == 0 { "1 m" } else { "   " };
        println!("{label} |{}", row.iter().collect::<String>().trim_end());
    }
    println!("0 m +{}", "-".repeat(WIDTH));
    println!("    0{:>24}{:>24}{:>24}{:>22} s", 1, 2, 3, 4);
}
