//! Cost for accuracy: evaluations of the forces until step ends are right to 1e-8, beside `moreau-jean`.

use super::{degree, prepare};
use complementarity::linear::Matrix;
use nonsmooth::contract::Workspace;
use nonsmooth::contract::{Candidates, Interaction, Reach, System};
use nonsmooth::contract::{Derivatives, Structure};
use nonsmooth::scheme;
use nonsmooth::simulation::{Observe, Status};
use nonsmooth::{Simulation, SimulationOptions, State};
use nonsmooth_scene::prepare::Prepared;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A system that counts how often its forces are evaluated.
struct Counting<'a>(&'a dyn System, AtomicUsize);

impl System for Counting<'_> {
    fn structure(&self) -> &Structure {
        self.0.structure()
    }
    fn mass(&self, work: &Workspace, t: f64, q: &[f64], m: &mut Matrix) {
        self.0.mass(work, t, q, m);
    }
    fn force(&self, work: &Workspace, i: usize, t: f64, q: &[f64], u: &[f64], h: &mut [f64]) {
        self.0.force(work, i, t, q, u, h);
    }
    fn forces(&self, work: &Workspace, t: f64, q: &[f64], u: &[f64], h: &mut [f64]) {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.0.forces(work, t, q, u, h);
    }
    fn candidates(&self, work: &Workspace, t: f64, q: &[f64], u: &[f64], reach: Reach, out: &mut Candidates) {
        self.0.candidates(work, t, q, u, reach, out);
    }
    fn position(&self, work: &Workspace, k: &Interaction, t: f64, q: &[f64], g: &mut [f64]) {
        self.0.position(work, k, t, q, g);
    }
    fn velocity(&self, work: &Workspace, k: &Interaction, t: f64, q: &[f64], w: &mut [f64], chi: &mut [f64]) {
        self.0.velocity(work, k, t, q, w, chi);
    }
    fn kinematics(&self, work: &Workspace, t: f64, q: &[f64], u: &[f64], qdot: &mut [f64]) {
        self.0.kinematics(work, t, q, u, qdot);
    }
    fn potential(&self, work: &Workspace, i: usize, t: f64, q: &[f64]) -> f64 {
        self.0.potential(work, i, t, q)
    }
    fn force_jacobian(&self, work: &Workspace, i: usize, t: f64, q: &[f64], u: &[f64], a: f64, b: f64, m: &mut Matrix) {
        self.0.force_jacobian(work, i, t, q, u, a, b, m);
    }
    fn velocity_rate(&self, work: &Workspace, k: &Interaction, t: f64, q: &[f64], u: &[f64], out: &mut [f64]) {
        self.0.velocity_rate(work, k, t, q, u, out);
    }
    fn derivatives(&self) -> Derivatives {
        self.0.derivatives()
    }
    fn name(&self, id: u64) -> String {
        self.0.name(id)
    }
}

/// The end of a run of `steps` steps from a state, and the evaluations it took.
fn go(system: &dyn System, start: &State, end: f64, scheme: &str, m: Option<usize>, steps: usize) -> (State, usize) {
    let counting = Counting(system, AtomicUsize::new(0));
    let settings = m.map_or_else(scheme::Settings::new, |m| scheme::Settings::new().number("degree", m as f64));
    let scheme = scheme::make(scheme, &settings).unwrap();
    let mut options = SimulationOptions::new((end - start.t) / steps as f64, end);
    options.observe = Observe::NONE;
    let summary = Simulation::new(&counting, start.clone(), scheme, options).unwrap().run();
    assert_eq!(summary.status, Status::Done);
    (summary.end, counting.1.load(Ordering::Relaxed))
}

/// Evaluations until position and velocity at the end are right to 1e-8 of their size.
fn evaluations(system: &dyn System, start: &State, end: f64, exact: &State, scheme: &str, m: Option<usize>) -> usize {
    let mut steps = 2.0f64;
    loop {
        let (found, count) = go(system, start, end, scheme, m, steps as usize);
        let off = |a: &[f64], b: &[f64]| {
            let size = b.iter().fold(0.0f64, |s, b| s.max(b.abs()));
            a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) / size
        };
        if off(&found.q, &exact.q).max(off(&found.u, &exact.u)) <= 1e-8 {
            return count;
        }
        steps = (1.25 * steps).ceil();
        assert!(steps < 1e7, "{scheme} {m:?} does not get there");
    }
}

fn table(name: &str, prepared: &Prepared, start: &State, end: f64) {
    let system = &*prepared.system;
    let (exact, _) = go(system, start, end, "tdg-plus", Some(8), 40);
    let jean = evaluations(system, start, end, &exact, "moreau-jean", None);
    print!("{name}: evaluations of forces to 1e-8: moreau-jean {jean}");
    for scheme in super::SIDES {
        for m in 1..=6 {
            let ours = evaluations(system, start, end, &exact, scheme, Some(m));
            print!(", {scheme} {m}: {ours}");
            assert!(m != 3 || jean >= 10 * ours, "{name}, {scheme}: {ours} beside {jean}");
        }
    }
    println!();
}

#[test]
fn degree_three_needs_a_tenth_of_the_forces() {
    // The first flight of the oscillator, up to the wall at 0.1395 s.
    let oscillator = prepare("impact_oscillator", "tdg-minus", 1e-3, 0.13, &[]);
    table("impact_oscillator", &oscillator, &oscillator.start, 0.13);
    // The woodpecker between the time the sleeve is free, 0.067 s, and the next impact at 0.0779 s.
    let woodpecker = prepare("woodpecker", "tdg-minus", 1e-5, 0.069, &[&degree(3)]);
    let free = woodpecker.simulation().unwrap().run().end;
    let start = State::new(free.t, free.q, free.u);
    table("woodpecker", &woodpecker, &start, 0.0775);
}
