//! No allocation in a step once its buffers have reached their size.

use crate::counting::allocations;
use nonsmooth::law::ContactLaw;
use nonsmooth::scheme::stabilise::Stabilise;
use nonsmooth::scheme::{SCHEMES, SchemeInfo, Settings};
use nonsmooth::simulation::Observe;
use nonsmooth::{Differentiated, Simulation, SimulationOptions, State, System, scheme};
use nonsmooth_reference::{Ball, Balls, Block, DoublePendulum, Incline, PointOnTable, RigidBody};

/// Steps before the count: all buffers have seen contact by then.
const WARM_UP: usize = 100;
const COUNTED: usize = 400;

struct Case<'a> {
    name: &'a str,
    system: &'a dyn System,
    start: State,
    stabilise: Stabilise,
}

/// Allocations of one case with one scheme, as a complaint.
fn complaint(case: &Case, name: &str, settings: &Settings) -> Option<String> {
    let scheme = scheme::make(name, settings).expect("a registered scheme");
    // Steps of a scheme that chooses them are not shorter than a smallest one, and there are more of them.
    let longer = if scheme.info().adaptive { 100.0 } else { 1.0 };
    let end = 1e-3 * longer * (WARM_UP + COUNTED + 1) as f64;
    let mut options = SimulationOptions::new(1e-3, end);
    options.observe = Observe::NONE;
    options.stabilise = case.stabilise;
    let mut simulation = Simulation::new(case.system, case.start.clone(), scheme, options).expect("a good start");
    // One that chooses its steps comes to its longest and its highest order later.
    let warm_up = if longer > 1.0 { 20 * WARM_UP } else { WARM_UP };
    for _ in 0..warm_up {
        simulation.advance(&mut ());
    }
    let (n, place) = allocations(|| {
        for _ in 0..COUNTED {
            simulation.advance(&mut ());
        }
    });
    let work = simulation.summary().work;
    // Some of them may have been rolled back.
    let made = if longer > 1.0 && simulation.state().t < end { WARM_UP + COUNTED } else { work.steps };
    assert_eq!(made, WARM_UP + COUNTED, "{}, {name}: all steps were made", case.name);
    (n > 0).then(|| {
        format!("{}, {name} {settings:?}: {n} allocations in {COUNTED} steps, the first at\n{place}", case.name)
    })
}

#[test]
fn a_step_without_observers_does_not_allocate() {
    let ball = Differentiated::new(Ball::default()).unwrap();
    let block = Differentiated::new(Block { mu: Some(0.5), ..Block::default() }).unwrap();
    let smooth = Differentiated::new(Block::default()).unwrap();
    let incline = Differentiated::new(Incline { slope: 0.3, mu: 0.2, mass: 1.0, g: 9.81 }).unwrap();
    let law = ContactLaw::newton(0.0).coulomb(2, 0.3);
    let table =
        Differentiated::new(PointOnTable { mass: 1.0, g: 9.81, law: law.clone(), table: [0.1, 0.0, 0.0] }).unwrap();
    let model = DoublePendulum { length: 1.0, mass: 1.0, g: 9.81 };
    let hanging = model.configuration(1.0, 0.4);
    let pendulum = Differentiated::new(model).unwrap();
    let balls = Differentiated::new(Balls { count: 200, e: 0.5 }).unwrap();
    let tumbling = Differentiated::new(RigidBody::free()).unwrap();
    let rolling = Differentiated::new(RigidBody::ball(0.1, law)).unwrap();
    let state = |q: &[f64], u: &[f64]| State::new(0.0, q.to_vec(), u.to_vec());
    let case = |name, system, start| Case { name, system, start, stabilise: Stabilise::None };
    let upright = [1.0, 0.0, 0.0, 0.0];
    let cases = [
        case("ball", &ball as &dyn System, state(&[5e-4], &[0.0])),
        case("rough block", &block, state(&[0.0, 0.25, 0.0], &[6.0, 0.0, 0.0])),
        case("rough block at rest", &block, state(&[0.0, 0.25, 0.0], &[0.0; 3])),
        case("dropped block", &smooth, state(&[0.0, 0.251, 0.0], &[0.0; 3])),
        case("incline", &incline, state(&[0.0; 2], &[0.0; 2])),
        // One slides all the time, one has stopped before the count.
        case("point on a table", &table, state(&[0.0; 3], &[2.0, -2.0, 0.0])),
        case("point that stops on a table", &table, state(&[0.0; 3], &[0.2, -0.1, 0.0])),
        case("double pendulum", &pendulum, state(&hanging, &[0.0; 6])),
        Case {
            name: "projected double pendulum",
            system: &pendulum,
            start: state(&hanging, &[0.0; 6]),
            stabilise: Stabilise::Projection,
        },
        case("200 balls", &balls, state(&[5e-4; 200], &[0.0; 200])),
        case("tumbling body", &tumbling, state(&[&[0.0; 3][..], &upright].concat(), &[0.0, 0.0, 0.0, 1.0, 0.2, 2.0])),
        case(
            "rolling ball",
            &rolling,
            state(&[&[0.0, 0.0, 0.1][..], &upright].concat(), &[1.0, 0.0, 0.0, 0.0, 0.0, 3.0]),
        ),
    ];
    let complaints: Vec<String> = cases
        .iter()
        .flat_map(|c| {
            let needs = c.system.structure().needs;
            let fits = move |s: &&&SchemeInfo| {
                s.supports.missing(&needs).is_none() && !(s.position_level && c.stabilise != Stabilise::None)
            };
            SCHEMES.iter().filter(fits).map(move |s| (c, s.name))
        })
        .filter_map(|(c, name)| complaint(c, name, &Settings::new()))
        .collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n\n"));
}

#[test]
fn schatzman_paoli_does_not_allocate_with_other_options_nor_with_curved_contacts() {
    let tilted = Differentiated::new(Block { e: 0.3, ..Block::default() }).unwrap();
    // Both corners land within the warm-up.
    let start = State::new(0.0, vec![0.0, 0.2525, 0.003], vec![0.0; 3]);
    let case = Case { name: "tilted block", system: &tilted, start, stabilise: Stabilise::None };
    let settings = [0.0, 0.5, 1.0].map(|theta| Settings::new().number("theta", theta));
    let complaints: Vec<String> = settings.iter().filter_map(|s| complaint(&case, "schatzman-paoli", s)).collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n\n"));
}

#[test]
fn the_options_of_moreau_jean_do_not_make_it_allocate() {
    let block = Differentiated::new(Block { mu: Some(0.5), e: 0.3, ..Block::default() }).unwrap();
    let case = Case {
        name: "rough block",
        system: &block,
        // Lands, slides and comes to rest within the warm-up.
        start: State::new(0.0, vec![0.0, 0.251, 0.0], vec![0.2, 0.0, 0.0]),
        stabilise: Stabilise::None,
    };
    let settings = [
        Settings::new().word("forecast", "free"),
        Settings::new().number("gamma", 0.5),
        Settings::new().word("force", "trapezoid"),
        Settings::new().number("theta", 1.0),
        Settings::new().number("theta", 0.0),
    ];
    let complaints: Vec<String> = settings.iter().filter_map(|s| complaint(&case, "moreau-jean", s)).collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n\n"));
}
