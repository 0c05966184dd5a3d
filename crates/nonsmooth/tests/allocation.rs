//! No allocation in a step once its buffers have reached their size.
#![allow(unsafe_code)]

use nonsmooth::law::ContactLaw;
use nonsmooth::reference::{Ball, Balls, Block, DoublePendulum, Incline, PointOnTable, RigidBody};
use nonsmooth::scheme::stabilise::Stabilise;
use nonsmooth::scheme::{SCHEMES, SchemeInfo, Settings};
use nonsmooth::simulation::Observe;
use nonsmooth::{Differentiated, Simulation, SimulationOptions, State, System, scheme};
use std::alloc::{GlobalAlloc, Layout, System as Heap};
use std::backtrace::Backtrace;
use std::cell::{Cell, RefCell};

/// Counts the allocations of the threads that ask for it, and keeps where the first came from.
struct Counting;

thread_local! {
    static ARMED: Cell<bool> = const { Cell::new(false) };
    static COUNT: Cell<usize> = const { Cell::new(0) };
    static FIRST: RefCell<Option<String>> = const { RefCell::new(None) };
}

fn count() {
    // Not armed while the place is looked up: that allocates itself.
    if ARMED.try_with(|a| a.replace(false)).unwrap_or(false) {
        COUNT.with(|c| c.set(c.get() + 1));
        FIRST.with(|f| {
            if f.borrow().is_none() {
                *f.borrow_mut() = Some(Backtrace::force_capture().to_string());
            }
        });
        ARMED.with(|a| a.set(true));
    }
}

// SAFETY: passes everything on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        unsafe { Heap.alloc(layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count();
        unsafe { Heap.alloc_zeroed(layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        unsafe { Heap.realloc(pointer, layout, size) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { Heap.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Allocations of `f`, and the lines of our own code in the stack of the first.
fn allocations(f: impl FnOnce()) -> (usize, String) {
    COUNT.with(|c| c.set(0));
    FIRST.with(|first| *first.borrow_mut() = None);
    ARMED.with(|a| a.set(true));
    f();
    ARMED.with(|a| a.set(false));
    let stack = FIRST.with(|first| first.borrow_mut().take()).unwrap_or_default();
    let lines: Vec<&str> = stack.lines().collect();
    let ours = lines
        .windows(2)
        .filter(|w| w[1].contains("/crates/") && !w[1].contains("/tests/"))
        .map(|w| format!("{} {}", w[0].trim(), w[1].trim()));
    (COUNT.with(Cell::get), ours.collect::<Vec<_>>().join("\n"))
}

#[test]
fn the_counter_counts() {
    let (n, _) = allocations(|| drop(std::hint::black_box(vec![1.0; 10])));
    assert_eq!(n, 1);
    let mut v: Vec<f64> = Vec::with_capacity(4);
    let (n, _) = allocations(|| v.extend([1.0; 5]));
    assert_eq!(n, 1, "growth counts too");
    let (n, _) = allocations(|| v.fill(std::hint::black_box(1.0)));
    assert_eq!(n, 0);
}

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
    let mut options = SimulationOptions::new(1e-3, 1e-3 * (WARM_UP + COUNTED + 1) as f64);
    options.observe = Observe::NONE;
    options.stabilise = case.stabilise;
    let scheme = scheme::make(name, settings).expect("a registered scheme");
    let mut simulation = Simulation::new(case.system, case.start.clone(), scheme, options).expect("a good start");
    for _ in 0..WARM_UP {
        simulation.advance(&mut ());
    }
    let (n, place) = allocations(|| {
        for _ in 0..COUNTED {
            simulation.advance(&mut ());
        }
    });
    let work = simulation.summary().work;
    assert_eq!(work.steps, WARM_UP + COUNTED, "{}, {name}: all steps were made", case.name);
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
        case("ball", &ball as &dyn System, state(&[1e-3], &[0.0])),
        case("rough block", &block, state(&[0.0, 0.25, 0.0], &[6.0, 0.0, 0.0])),
        case("rough block at rest", &block, state(&[0.0, 0.25, 0.0], &[0.0; 3])),
        case("dropped block", &smooth, state(&[0.0, 0.251, 0.0], &[0.0; 3])),
        case("incline", &incline, state(&[0.0; 2], &[0.0; 2])),
        case("point on a table", &table, state(&[0.0; 3], &[1.0, -1.0, 0.0])),
        case("double pendulum", &pendulum, state(&hanging, &[0.0; 6])),
        Case {
            name: "projected double pendulum",
            system: &pendulum,
            start: state(&hanging, &[0.0; 6]),
            stabilise: Stabilise::Projection,
        },
        case("200 balls", &balls, state(&[1e-3; 200], &[0.0; 200])),
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
