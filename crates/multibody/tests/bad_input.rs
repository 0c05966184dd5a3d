//! Bad input gives an error that names the part, or a stated behaviour; never a hang, never a panic.

use nonsmooth::contract::Workspace;
use nonsmooth::law::ContactLaw;
use nonsmooth::simulation::Status;
use nonsmooth::{Error, Simulation, SimulationOptions, State, Summary, System, scheme};
use nonsmooth_multibody::{Bar, Body, Builder, Motion, Multibody, Pose, Shape, Spring, Twist, Uniform};
use std::time::{Duration, Instant};

const NAN: f64 = f64::NAN;
const INF: f64 = f64::INFINITY;

/// One complaint about a description: what it must say.
fn refused(what: &str, words: &[&str], describe: impl FnOnce(&mut Builder) -> &mut Builder) {
    let mut world = Builder::new();
    describe(&mut world);
    match world.build() {
        Ok(_) => panic!("{what}: not refused"),
        Err(e) => {
            let text = e.to_string();
            for word in words {
                assert!(text.contains(word), "{what}: `{text}` does not say `{word}`");
            }
        }
    }
}

fn ball(name: &str) -> Body {
    Body::new(name).density(1.0).shape(Shape::disc(0.5))
}

fn bar() -> Bar {
    Bar {
        name: "beam".into(),
        elements: 4,
        length: 1.0,
        area: 1.0,
        density: 1.0,
        modulus: 1.0,
        displacement: 0.0,
        velocity: 0.0,
    }
}

fn law() -> ContactLaw {
    ContactLaw::newton(0.5)
}

#[test]
fn shapes_without_extent_are_refused_with_their_body() {
    for radius in [0.0, -1.0, NAN, INF] {
        refused("disc", &["egg", "disc", "radius"], |w| w.body(Body::new("egg").shape(Shape::disc(radius))));
        refused("drum", &["egg", "inner circle", "radius"], |w| {
            w.body(Body::fixed("egg").shape(Shape::disc(1.0)).shape(Shape::inner_circle(radius)))
        });
        refused("rectangle", &["egg", "rectangle", "width"], |w| {
            w.body(Body::fixed("egg").shape(Shape::rectangle(radius, 1.0)))
        });
        refused("rectangle", &["egg", "rectangle", "height"], |w| {
            w.body(Body::new("egg").mass(1.0, 1.0).shape(Shape::rectangle(1.0, radius)))
        });
    }
    for (shape, word) in [
        (Shape::segment([1.0, 2.0], [1.0, 2.0], 0.1), "extent"),
        (Shape::segment([1.0, NAN], [1.0, 2.0], 0.1), "ends"),
        (Shape::segment([1.0, 0.0], [1.0, 2.0], -0.1), "thickness"),
        (Shape::half_plane([0.0, 0.0], [0.0, 0.0]), "normal"),
        (Shape::half_plane([0.0, INF], [0.0, 1.0]), "point"),
        (Shape::Disc { centre: [NAN, 0.0], radius: 1.0 }, "centre"),
        (Shape::Box { centre: [0.0, 0.0], half: [1.0, 1.0], angle: NAN }, "angle"),
    ] {
        // The second of two shapes: its number is said.
        refused(shape.kind(), &["egg", "shape 1", word], |w| {
            w.body(Body::fixed("egg").shape(Shape::disc(1.0)).shape(shape))
        });
    }
}

#[test]
fn numbers_that_are_none_are_refused_with_their_part() {
    for v in [NAN, INF, -INF] {
        refused("position", &["egg", "position"], |w| w.body(ball("egg").at([v, 0.0], 0.0)));
        refused("angle", &["egg", "position"], |w| w.body(ball("egg").at([0.0, 0.0], v)));
        refused("fixed", &["egg", "position"], |w| w.body(Body::fixed("egg").at([0.0, v], 0.0)));
        refused("velocity", &["egg", "velocity"], |w| w.body(ball("egg").moving([0.0, v], 0.0)));
        refused("spin", &["egg", "velocity"], |w| w.body(ball("egg").moving([0.0, 0.0], v)));
        refused("gravity", &["gravity"], |w| w.gravity([0.0, v]).body(ball("egg")));
        refused("stop", &["halt", "offset"], |w| w.body(ball("egg")).stop("halt", "egg_x", 1.0, v, law()));
        refused("stop", &["halt", "sign"], |w| w.body(ball("egg")).stop("halt", "egg_x", v, 0.0, law()));
        refused("displacement", &["beam", "displacement"], |w| w.bar(Bar { displacement: v, ..bar() }));
        refused("bar velocity", &["beam", "velocity"], |w| w.bar(Bar { velocity: v, ..bar() }));
    }
    for v in [0.0, -1.0, NAN, INF] {
        refused("mass", &["egg", "mass"], |w| w.body(ball("egg").mass(v, 1.0)));
        refused("inertia", &["egg", "inertia"], |w| w.body(ball("egg").mass(1.0, v)));
        refused("density", &["egg", "density"], |w| w.body(ball("egg").density(v)));
        refused("length", &["beam", "length"], |w| w.bar(Bar { length: v, ..bar() }));
        refused("area", &["beam", "area"], |w| w.bar(Bar { area: v, ..bar() }));
        refused("bar density", &["beam", "density"], |w| w.bar(Bar { density: v, ..bar() }));
        refused("modulus", &["beam", "modulus"], |w| w.bar(Bar { modulus: v, ..bar() }));
    }
    // Squares and fourth powers that are no numbers any more.
    refused("huge disc", &["egg", "mass"], |w| w.body(Body::new("egg").shape(Shape::disc(1e200))));
    refused("tiny disc", &["egg", "mass"], |w| w.body(Body::new("egg").shape(Shape::disc(1e-200))));
    refused("disc", &["egg", "inertia"], |w| w.body(Body::new("egg").shape(Shape::disc(1e-100))));
    refused("stop", &["halt", "sign"], |w| w.body(ball("egg")).stop("halt", "egg_x", 0.0, 0.0, law()));
    refused("elements", &["beam", "elements"], |w| w.bar(Bar { elements: 0, ..bar() }));
    // More nodes than can be numbered: said at once, before any memory is taken.
    let clock = Instant::now();
    for elements in [usize::MAX, usize::MAX - 1, 5_000_000_000] {
        refused("elements", &["coordinates", "at most"], |w| w.bar(Bar { elements, ..bar() }));
    }
    // Milliseconds; gigabytes of memory take minutes, on any machine.
    assert!(clock.elapsed() < Duration::from_secs(60));
}

/// A spring between a ball and a wall.
fn hang(w: &mut Builder, spring: Spring) -> &mut Builder {
    w.body(ball("egg")).body(Body::fixed("wall").at([0.0, 1.0], 0.0)).spring(spring)
}

#[test]
fn springs_with_impossible_numbers_are_refused() {
    let spring = || Spring::new("coil", ("egg", [0.0, 0.0]), ("wall", [0.0, 0.0]), 1.0);
    for v in [-1.0, NAN, INF] {
        refused("stiffness", &["coil", "stiffness"], |w| hang(w, Spring { stiffness: v, ..spring() }));
        refused("damping", &["coil", "damping"], |w| hang(w, spring().damping(v)));
        refused("rest", &["coil", "length"], |w| hang(w, spring().rest(v)));
    }
    refused("end", &["coil", "ends"], |w| hang(w, Spring { points: [[0.0, NAN], [0.0, 0.0]], ..spring() }));
    refused("angle", &["coil"], |w| hang(w, Spring::torsion("coil", "egg", "wall", 1.0).rest(NAN)));
    // A negative angle without moment is one.
    let mut world = Builder::new();
    hang(&mut world, Spring::torsion("coil", "egg", "wall", 1.0).rest(-1.0));
    assert!(world.build().is_ok());
}

#[test]
fn names_that_are_none_used_twice_or_unknown_are_refused() {
    let long = "x".repeat(65);
    for name in ["", "1a", "a b", "ä", "a-b", long.as_str()] {
        refused("name", &["is not a name"], |w| w.body(ball(name)));
        refused("name", &["is not a name"], |w| w.body(ball("egg")).contact_of_all(name, law()));
    }
    let twice = ["`egg`", "twice"];
    refused("bodies", &twice, |w| w.body(ball("egg")).body(Body::fixed("egg")));
    refused("bar", &twice, |w| w.body(ball("egg")).bar(Bar { name: "egg".into(), ..bar() }));
    refused("contact", &twice, |w| w.body(ball("egg")).contact_of_all("egg", law()));
    refused("stop", &twice, |w| w.body(ball("egg")).stop("egg", "egg_x", 1.0, 0.0, law()));
    let coil = |name: &str, a: &str, b: &str| Spring::new(name, (a, [0.0, 0.0]), (b, [0.0, 0.0]), 1.0).rest(1.0);
    refused("spring", &twice, |w| w.body(ball("egg")).body(ball("b")).spring(coil("egg", "egg", "b")));
    // Names of forces: lines of the ledger.
    refused("gravity", &["`gravity`", "twice"], |w| {
        w.gravity([0.0, -1.0]).body(ball("egg")).body(ball("b")).spring(coil("gravity", "egg", "b"))
    });
    refused("damper", &["`coil_damper`", "twice"], |w| {
        let springs = [coil("coil", "egg", "b").damping(1.0), coil("coil_damper", "egg", "b")];
        w.body(ball("egg")).body(ball("b"));
        springs.into_iter().fold(w, |w, s| w.spring(s))
    });
    refused("spring", &["`coil`", "`eg`", "did you mean `egg`?"], |w| {
        w.body(ball("egg")).body(ball("b")).spring(coil("coil", "eg", "b"))
    });
    refused("contact", &["`rule`", "`eg`", "did you mean `egg`?"], |w| {
        w.body(ball("egg")).body(ball("b")).contact("rule", "eg", "b", law())
    });
    refused("material", &["`rule`", "`steal`", "did you mean `steel`?"], |w| {
        w.body(ball("egg").material("steel")).contact("rule", "steal", "egg", law())
    });
    refused("coordinate", &["`halt`", "`egg_z`"], |w| w.body(ball("egg")).stop("halt", "egg_z", 1.0, 0.0, law()));
    refused("coordinate of a fixed body", &["`halt`", "`wall_x`"], |w| {
        w.body(ball("egg")).body(Body::fixed("wall")).stop("halt", "wall_x", 1.0, 0.0, law())
    });
}

#[test]
fn contacts_that_contradict_each_other_or_have_impossible_laws_are_refused() {
    let pair = |w: &mut Builder| {
        w.body(ball("egg").material("shell")).body(ball("cup").material("china").at([5.0, 0.0], 0.0));
    };
    refused("the same pair twice", &["`one`", "`two`", "both"], |w| {
        pair(w);
        w.contact("one", "shell", "china", law()).contact("two", "china", "shell", law())
    });
    refused("all twice", &["`one`", "`two`"], |w| {
        pair(w);
        w.contact_of_all("one", law()).contact_of_all("two", law())
    });
    // Each names one of the bodies and the material of the other.
    refused("body and material", &["`one`", "`two`", "`egg`", "`cup`"], |w| {
        pair(w);
        w.contact("one", "egg", "china", law()).contact("two", "shell", "cup", law())
    });
    for (bad, word) in [
        (ContactLaw::newton(1.5), "restitution"),
        (ContactLaw::newton(NAN), "restitution"),
        (law().coulomb(1, -0.1), "friction"),
        (law().coulomb(1, INF), "friction"),
        (law().coulomb(2, 0.1), "dimension"),
        (law().tresca(1, NAN), "bound"),
    ] {
        refused("law", &["`rule`", word], |w| {
            pair(w);
            w.contact_of_all("rule", bad.clone())
        });
    }
    refused("stop with friction", &["`halt`", "dimension"], |w| {
        pair(w);
        w.stop("halt", "egg_x", 1.0, 0.0, law().coulomb(1, 0.1))
    });
}

#[test]
fn corners_against_walls_without_thickness_are_refused_where_they_can_meet() {
    let wall = || Body::fixed("wall").material("wall").shape(Shape::segment([0.0, 0.0], [1.0, 0.0], 0.0));
    let block = |name: &str| Body::new(name).at([0.0, 3.0], 0.0).density(1.0).shape(Shape::rectangle(1.0, 1.0));
    refused("rectangle", &["`wall`", "`block`", "thickness"], |w| {
        w.body(wall()).body(block("block")).contact_of_all("c", law())
    });
    refused("thin rod", &["thickness"], |w| {
        let rod = Body::new("rod").mass(1.0, 1.0).shape(Shape::segment([0.0, 1.0], [1.0, 1.0], 0.0));
        w.body(wall()).body(rod).contact_of_all("c", law())
    });
    // Behind other bodies of the same material.
    refused("the last of many", &["`wall`", "`block`"], |w| {
        w.body(wall()).body(ball("a")).body(ball("b")).body(block("block")).contact_of_all("c", law())
    });
    // Without a law they do not meet, and a disc is stopped by its radius.
    let mut world = Builder::new();
    world.body(wall()).body(block("block")).body(ball("egg").material("egg").at([0.0, 8.0], 0.0));
    world.contact("c", "wall", "egg", law());
    assert!(world.build().is_ok());
}

#[test]
fn a_body_without_mass_is_refused_with_the_reason() {
    refused("no shape", &["`egg`", "no shape"], |w| w.body(Body::new("egg")));
    for shape in [
        Shape::half_plane([0.0, 0.0], [0.0, 1.0]),
        Shape::inner_circle(1.0),
        Shape::segment([0.0, 0.0], [1.0, 0.0], 0.0),
    ] {
        refused("no area", &["`egg`", shape.kind(), "no area"], |w| w.body(Body::new("egg").shape(shape)));
    }
    let off = Shape::Disc { centre: [0.1, 0.2], radius: 0.5 };
    refused("centroid", &["`egg`", "centroid", "0.1", "0.2", "centre of mass"], |w| {
        w.body(Body::new("egg").shape(off))
    });
    // Two halves that balance have their centroid at the origin.
    let mut world = Builder::new();
    let other = Shape::Disc { centre: [-0.1, -0.2], radius: 0.5 };
    world.body(Body::new("egg").shape(off).shape(other));
    assert!(world.build().is_ok());
}

fn begin<'a>(system: &'a Multibody, start: State, step: f64, end: f64) -> Result<Simulation<'a>, Error> {
    let scheme = scheme::make("moreau-midpoint", &Default::default()).unwrap();
    Simulation::new(system, start, scheme, SimulationOptions::new(step, end))
}

fn run(world: Builder, step: f64, end: f64) -> Summary {
    let (system, start) = world.build().unwrap();
    begin(&system, start, step, end).unwrap().run()
}

#[test]
fn ten_thousand_bodies_at_one_point_end_with_an_error_that_names_a_pair() {
    for threads in [1, 2] {
        let clock = Instant::now();
        let mut world = Builder::new();
        world.threads(threads).contact_of_all("c", law());
        for i in 0..10_000 {
            world.body(ball(&format!("b{i}")));
        }
        let (system, start) = world.build().unwrap();
        let Err(e) = begin(&system, start, 1e-3, 1.0) else { panic!("not refused") };
        let text = e.to_string();
        assert!(text.contains("10000 shapes") && text.contains("overlap") && text.contains("-b"), "{text}");
        // A tenth of a second; a list of all 5e7 pairs takes a hundred times as long, on any machine.
        assert!(clock.elapsed() < Duration::from_secs(60), "{:?}", clock.elapsed());
    }
}

#[test]
fn an_overlap_at_the_start_names_the_pair() {
    let mut world = Builder::new();
    world.body(ball("egg")).body(ball("cup").at([0.9, 0.0], 0.0)).contact_of_all("c", law());
    let (system, start) = world.build().unwrap();
    match begin(&system, start, 1e-3, 1.0).err() {
        Some(Error::Penetration { contact, depth, .. }) => {
            assert_eq!(contact, "egg-cup");
            assert!((depth - 0.1).abs() < 1e-15);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn no_bodies_at_all_and_a_fixed_body_alone_make_a_run_of_nothing() {
    let s = run(Builder::new(), 0.1, 1.0);
    assert_eq!((s.status, s.work.steps, s.end.q.len()), (Status::Done, 10, 0));
    let mut world = Builder::new();
    world.gravity([0.0, -9.81]).body(Body::fixed("rock").shape(Shape::disc(1.0))).contact_of_all("c", law());
    let s = run(world, 0.1, 1.0);
    assert_eq!((s.status, s.work.steps, s.end.q.len()), (Status::Done, 10, 0));
}

#[test]
fn a_spring_of_a_body_with_itself_does_nothing() {
    let mut world = Builder::new();
    world.body(ball("egg").moving([1.0, 0.0], 2.0));
    world.spring(Spring::new("coil", ("egg", [0.1, 0.0]), ("egg", [0.0, 0.3]), 50.0).rest(0.1).damping(1.0));
    let s = run(world, 0.01, 1.0);
    assert_eq!(s.status, Status::Done);
    // Both forces of a spring on one body cancel but for rounding of 10 N over 1 s on 0.8 kg.
    for (found, expected) in s.end.u.iter().zip([1.0, 0.0, 2.0]) {
        assert!((found - expected).abs() < 1e-12, "{:?}", s.end.u);
    }
}

#[test]
fn a_body_that_leaves_the_world_does_not_stop_the_others() {
    let mut world = Builder::new();
    world.gravity([0.0, -9.81]);
    world.body(Body::fixed("table").shape(Shape::segment([-1.0, 0.0], [1.0, 0.0], 0.2)));
    for i in 0..3 {
        let at = [0.6 * f64::from(i - 1), 0.1 + 0.25];
        world.body(Body::new(&format!("cup{i}")).density(1.0).at(at, 0.0).shape(Shape::disc(0.25)));
    }
    world.body(ball("lost").at([5.0, 0.0], 0.0).moving([1.0, 0.0], 0.0));
    world.contact_of_all("c", ContactLaw::newton(0.0).coulomb(1, 0.3));
    let s = run(world, 100.0, 1e4);
    assert_eq!(s.status, Status::Done, "{:?}", s.stop.map(|s| s.to_string()));
    // Those on the table stay; their forces are solved to 1e-10 of m g dt = 1e3 N s in every step.
    for i in 0..3 {
        let v = s.end.u[3 * i + 1];
        assert!(v.abs() < 1e-6, "cup{i} moves at {v} m/s");
    }
    // Free fall: constant acceleration, exact but for rounding.
    let fall = s.end.q[10] / (-0.5 * 9.81 * 1e8) - 1.0;
    assert!(fall.abs() < 1e-12 && (s.end.u[10] / -9.81e4 - 1.0).abs() < 1e-12, "{fall}");
}

#[test]
fn a_force_that_is_not_finite_stops_the_run_and_is_named() {
    let mut world = Builder::new();
    world.body(ball("egg").moving([1e150, 0.0], 0.0)).body(Body::fixed("wall").at([2.0, 0.0], 0.0));
    world.spring(Spring::new("coil", ("wall", [0.0, 0.0]), ("egg", [0.0, 0.0]), 1e250));
    let s = run(world, 1.0, 10.0);
    assert_eq!(s.status, Status::Stopped);
    let text = s.stop.unwrap().to_string();
    assert!(text.contains("not finite") || text.contains("finite"), "{text}");
    assert!(text.contains("coil"), "{text}");
}

/// Stands still until 0.5 s and is nowhere then.
#[derive(Debug)]
struct Vanishes;

impl Motion for Vanishes {
    fn at(&self, t: f64) -> (Pose, Twist, Twist) {
        let x = if t <= 0.5 { 0.0 } else { NAN };
        (Pose { centre: [x, 0.0], angle: 0.0 }, Twist::default(), Twist::default())
    }
}

#[test]
fn a_motion_that_is_not_finite_is_named_and_not_forgotten() {
    let world = |paddle: Body| {
        let mut world = Builder::new();
        world.body(paddle.shape(Shape::disc(0.2))).body(ball("egg").at([3.0, 0.0], 0.0).moving([-1.0, 0.0], 0.0));
        world.contact_of_all("c", law());
        world.build().unwrap()
    };
    // From the start.
    for rate in [[NAN, 0.0], [INF, 0.0]] {
        let motion = Uniform { start: Pose::default(), rate: Twist { velocity: rate, spin: 0.0 } };
        let (system, start) = world(Body::driven("paddle", motion));
        let Err(e) = begin(&system, start, 0.01, 5.0) else { panic!("not refused") };
        assert!(e.to_string().contains("paddle"), "{e}");
    }
    // On the way: the run stops and does not go on without the paddle.
    let (system, start) = world(Body::driven("paddle", Vanishes));
    let s = begin(&system, start, 0.01, 5.0).unwrap().run();
    assert_eq!(s.status, Status::Stopped);
    let text = s.stop.unwrap().to_string();
    assert!(text.contains("paddle") && s.end.t <= 0.51, "{text}");
}

#[test]
fn identities_of_stops_and_contacts_have_names() {
    let mut world = Builder::new();
    world.body(ball("egg")).body(ball("cup").at([1.0, 0.0], 0.0)).contact_of_all("c", law());
    world.stop("halt", "egg_x", 1.0, -3.0, law());
    let (system, s) = world.build().unwrap();
    let mut list = nonsmooth::contract::Candidates::default();
    system.candidates(&Workspace::default(), 0.0, &s.q, &s.u, nonsmooth::contract::Reach::NONE, &mut list);
    let names: Vec<String> = list.items().iter().map(|k| system.name(k.id)).collect();
    assert_eq!(names, ["halt", "egg-cup"]);
}
