//! No allocation in a step once its buffers have reached their size: buffers only grow.

use crate::counting::allocations;
use nonsmooth::law::ContactLaw;
use nonsmooth::simulation::{Advance, Observe};
use nonsmooth::{Simulation, SimulationOptions, State, System, scheme};
use nonsmooth_multibody::{Bar, Body, Builder, Multibody, Pose, Shape, Twist, Uniform};
struct Run<'a> {
    what: String,
    system: &'a dyn System,
    start: State,
    scheme: &'a str,
    step: f64,
    warm_up: usize,
    counted: usize,
    observe: Observe,
    /// Steps of the second part that may allocate: growth that is still to come.
    growing: usize,
}

/// Runs, and says which steps of the second part allocate if they are too many.
fn complaint(run: Run) -> Option<String> {
    let mut options = SimulationOptions::new(run.step, run.step * (run.warm_up + run.counted + 1) as f64);
    options.observe = run.observe;
    // Not `auto`: its sparse Newton makes a new pattern in every call.
    options.solver = "nsgs".into();
    // Coarse, so that it need not be helped: how well a step is solved does not matter here.
    options.solver_options.tolerance = 1e-4;
    let scheme = scheme::make(run.scheme, &Default::default()).unwrap();
    let mut simulation = Simulation::new(run.system, run.start.clone(), scheme, options).unwrap();
    for _ in 0..run.warm_up {
        assert_eq!(simulation.advance(&mut ()), Advance::Stepped);
    }
    let mut fallbacks = simulation.summary().work.fallbacks;
    let mut helped = 0;
    let mut steps = Vec::new();
    for i in 0..run.counted {
        let mut advance = Advance::Stopped;
        let (n, place) = allocations(|| advance = simulation.advance(&mut ()));
        assert_eq!(advance, Advance::Stepped, "{}", run.what);
        let now = simulation.summary().work.fallbacks;
        if now > fallbacks {
            // The fallback is `auto`.
            fallbacks = now;
            helped += 1;
        } else if n > 0 {
            steps.push(format!("step {i}: {n}, the first at\n{place}"));
        }
    }
    let work = simulation.summary().work;
    assert!(work.steps >= run.warm_up + run.counted, "{}: {work:?}", run.what);
    assert!(helped <= run.counted / 50, "{}: {helped} steps were solved by another solver", run.what);
    assert!(work.contacts > run.counted / 4, "{}: hardly any contact: {work:?}", run.what);
    (steps.len() > run.growing)
        .then(|| format!("{}: {} steps allocate\n{}", run.what, steps.len(), steps[..steps.len().min(4)].join("\n")))
}

/// A bar of 200 elements on its way to a stop.
fn bar() -> (Multibody, State) {
    let mut world = Builder::new();
    let bar = Bar {
        name: "bar".into(),
        elements: 200,
        length: 1.0,
        area: 1e-3,
        density: 8000.0,
        modulus: 2e11,
        displacement: 1e-4,
        velocity: -1.0,
    };
    world.bar(bar).stop("stop", "bar_0", 1.0, 0.0, ContactLaw::newton(0.0));
    world.build().unwrap()
}

/// Discs in a turning drum.
fn drum(n: usize) -> (Multibody, State) {
    let mut world = Builder::new();
    world.gravity([0.0, -9.81]);
    let rate = Twist { velocity: [0.0, 0.0], spin: 2.0 };
    world.body(Body::driven("drum", Uniform { start: Pose::default(), rate }).shape(Shape::inner_circle(0.3)));
    let mut made = 0;
    for i in 0..200i32 {
        let at = [0.045 * f64::from(i % 12 - 6) + 0.02, -0.27 + 0.045 * f64::from(i / 12)];
        if made < n && (at[0] * at[0] + at[1] * at[1]).sqrt() < 0.278 {
            let r = 0.02 * (1.0 + 0.1 * f64::from(i).sin());
            world.body(Body::new(&format!("d{made}")).density(1000.0).at(at, 0.0).shape(Shape::disc(r)));
            made += 1;
        }
    }
    assert_eq!(made, n);
    world.contact_of_all("contact", ContactLaw::newton(0.0).coulomb(1, 0.3));
    world.build().unwrap()
}

const SCHEMES: [&str; 2] = ["moreau-midpoint", "moreau-jean"];

#[test]
fn a_bar_that_hits_a_stop_does_not_allocate_in_contact_nor_after() {
    let (system, start) = bar();
    let mut complaints = Vec::new();
    for name in SCHEMES {
        for (observe, growing) in [(Observe::NONE, 0), (Observe::ALL, 0)] {
            // It meets the stop after 1e-4 s and leaves it when the wave is back, 2 L/c = 4e-4 s later; the explicit scheme is stable
            // below 2 l_e/(√12 c) = 5.8e-7 s. The first contact is in the warm-up; what follows is counted.
            let run = Run {
                what: format!("{name}, {observe:?}"),
                system: &system,
                start: start.clone(),
                scheme: name,
                step: 5e-7,
                warm_up: 210,
                counted: 1200,
                observe,
                growing,
            };
            complaints.extend(complaint(run));
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n\n"));
}

#[test]
fn discs_in_a_drum_allocate_only_where_a_buffer_grows() {
    let (system, start) = drum(60);
    let mut complaints = Vec::new();
    for name in SCHEMES {
        for (observe, growing) in [(Observe::NONE, 0), (Observe::ALL, 4)] {
            // With observers, the log of events and the sums of all contacts that ever were still grow: by doubling, at most
            // once each (events, contacts, sums, and the table that finds them) when the time is a third longer.
            let run = Run {
                what: format!("{name}, {observe:?}"),
                system: &system,
                start: start.clone(),
                scheme: name,
                step: 1e-3,
                warm_up: 1200,
                counted: 400,
                observe,
                growing,
            };
            complaints.extend(complaint(run));
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n\n"));
}
