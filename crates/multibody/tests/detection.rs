//! The list of contacts misses none, costs nothing for bodies that are fast or far away, and does not depend on threads.

use complementarity::linear::Matrix;
use nonsmooth::contract::Workspace;
use nonsmooth::contract::{Candidates, Derivatives, Interaction, Reach, Structure};
use nonsmooth::law::ContactLaw;
use nonsmooth::simulation::{Observe, Observer, Status, StepView};
use nonsmooth::{Simulation, SimulationOptions, State, System, scheme};
use nonsmooth_multibody::{Body, Builder, Motion, Multibody, Pose, Shape, Twist};
use std::collections::BTreeSet;

/// A fixed pseudo-random sequence in [−1, 1).
fn sequence(seed: u64) -> impl FnMut() -> f64 {
    let mut s = seed;
    move || {
        s = s.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        2.0 * (s >> 11) as f64 / (1u64 << 53) as f64 - 1.0
    }
}

/// Discs of several sizes and some boxes with random velocities between four half-planes.
fn crowd(n: usize, threads: usize) -> Builder {
    let mut random = sequence(3);
    let columns = (n as f64).sqrt().ceil() as usize;
    let (spacing, half) = (0.05, 0.025 * columns as f64);
    let mut world = Builder::new();
    world.gravity([0.0, -9.81]).threads(threads);
    for (name, point, normal) in [
        ("floor", [0.0, -half], [0.0, 1.0]),
        ("lid", [0.0, half], [0.0, -1.0]),
        ("left", [-half, 0.0], [1.0, 0.0]),
        ("right", [half, 0.0], [-1.0, 0.0]),
    ] {
        world.body(Body::fixed(name).shape(Shape::half_plane(point, normal)));
    }
    for i in 0..n {
        let x = -half + spacing * ((i % columns) as f64 + 0.5);
        let y = -half + spacing * ((i / columns) as f64 + 0.5);
        let body = Body::new(&format!("b{i}")).density(1000.0).at([x, y], random());
        let body = body.moving([2.0 * random(), 2.0 * random()], 10.0 * random());
        let size = 0.016 + 0.006 * random();
        world.body(if i % 7 == 3 {
            body.shape(Shape::rectangle(1.6 * size, 1.2 * size))
        } else {
            body.shape(Shape::disc(size))
        });
    }
    world.contact_of_all("contact", ContactLaw::newton(0.5).coulomb(1, 0.3));
    world
}

/// Makes every list anew by a system that has never made one.
struct Anew {
    world: Builder,
    inner: Multibody,
}

impl System for Anew {
    fn structure(&self) -> &Structure {
        self.inner.structure()
    }
    fn mass(&self, work: &Workspace, t: f64, q: &[f64], m: &mut Matrix) {
        self.inner.mass(work, t, q, m);
    }
    fn force(&self, work: &Workspace, i: usize, t: f64, q: &[f64], u: &[f64], h: &mut [f64]) {
        self.inner.force(work, i, t, q, u, h);
    }
    fn candidates(&self, _work: &Workspace, t: f64, q: &[f64], u: &[f64], reach: Reach, out: &mut Candidates) {
        let mut list = Candidates::default();
        self.world.clone().build().unwrap().0.candidates(&Workspace::default(), t, q, u, reach, &mut list);
        assert_eq!(list.fault(), None);
        out.fill(list.items().iter().cloned());
    }
    fn position(&self, work: &Workspace, k: &Interaction, t: f64, q: &[f64], g: &mut [f64]) {
        self.inner.position(work, k, t, q, g);
    }
    fn velocity(&self, work: &Workspace, k: &Interaction, t: f64, q: &[f64], w: &mut [f64], chi: &mut [f64]) {
        self.inner.velocity(work, k, t, q, w, chi);
    }
    fn travel(&self, t0: f64, q0: &[f64], u0: &[f64], t1: f64, q1: &[f64]) -> f64 {
        self.inner.travel(t0, q0, u0, t1, q1)
    }
    fn derivatives(&self) -> Derivatives {
        self.inner.derivatives()
    }
    fn name(&self, id: u64) -> String {
        self.inner.name(id)
    }
}

/// Bits of every step, and how often the list changed.
#[derive(Default)]
struct Bits {
    steps: Vec<Vec<u64>>,
    lists: usize,
    version: u64,
    active: usize,
}

impl Observer for Bits {
    fn step(&mut self, view: &StepView) {
        let step = view.step;
        let mut bits: Vec<u64> = step.end.q.iter().chain(&step.end.u).map(|v| v.to_bits()).collect();
        // Percussions of those that took part: which others are listed is free.
        for (i, k) in step.candidates.items().iter().enumerate().filter(|(i, _)| step.active[*i]) {
            bits.push(k.id);
            bits.extend(step.percussion(i).iter().map(|v| v.to_bits()));
            self.active += 1;
        }
        self.steps.push(bits);
        self.lists += usize::from(self.version != step.candidates.version());
        self.version = step.candidates.version();
    }
}

fn run(system: &dyn System, start: &State, name: &str, steps: u32, observer: &mut dyn Observer) {
    let mut options = SimulationOptions::new(1e-3, 1e-3 * f64::from(steps));
    options.observe = Observe::NONE;
    options.solver = "nsgs".into();
    options.solver_options.tolerance = 1e-6;
    let scheme = scheme::make(name, &Default::default()).unwrap();
    let s = Simulation::new(system, start.clone(), scheme, options).unwrap().run_with(observer);
    assert_eq!(s.status, Status::Done, "{:?}", s.stop.map(|s| s.to_string()));
}

fn assert_same(a: &Bits, b: &Bits, what: &str) {
    assert_eq!(a.steps.len(), b.steps.len());
    let parting = a.steps.iter().zip(&b.steps).position(|(a, b)| a != b);
    assert_eq!(parting, None, "{what}: steps part");
}

#[test]
fn a_list_with_a_margin_gives_the_same_bits_as_one_made_anew_in_every_step() {
    for name in ["moreau-midpoint", "moreau-jean"] {
        let world = crowd(200, 1);
        let (system, start) = world.clone().build().unwrap();
        let (mut kept, mut anew) = (Bits::default(), Bits::default());
        run(&system, &start, name, 250, &mut kept);
        let (inner, start) = world.clone().build().unwrap();
        run(&Anew { world, inner }, &start, name, 250, &mut anew);
        assert!(kept.active > 2_000, "{name}: hardly any contact: {}", kept.active);
        // Steps that were halved have lists of their own.
        assert!(anew.lists >= 250 && kept.lists < 200, "{name}: {} lists against {}", kept.lists, anew.lists);
        assert_same(&kept, &anew, name);
    }
}

/// Looks for pairs of discs that overlap and are not listed, by trying all.
struct AllPairs {
    radii: Vec<Option<f64>>,
    met: usize,
}

impl Observer for AllPairs {
    fn step(&mut self, view: &StepView) {
        let step = view.step;
        let listed: BTreeSet<Vec<u32>> = step.candidates.items().iter().map(|k| k.dofs.to_vec()).collect();
        let (q, middle): (&[f64], Vec<f64>) = (&step.end.q, {
            let of = view.start.q.iter().zip(&view.start.u);
            of.map(|(q, u)| q + 0.5 * step.dt * u).collect()
        });
        for j in 0..self.radii.len() {
            for i in 0..j {
                let (Some(a), Some(b)) = (self.radii[i], self.radii[j]) else { continue };
                for q in [q, &middle] {
                    let d = [q[3 * i] - q[3 * j], q[3 * i + 1] - q[3 * j + 1]];
                    if (d[0] * d[0] + d[1] * d[1]).sqrt() <= a + b {
                        let (i, j) = (3 * i as u32, 3 * j as u32);
                        let pair = vec![i, i + 1, i + 2, j, j + 1, j + 2];
                        assert!(listed.contains(&pair), "{i} and {j} at t = {}", step.end.t);
                        self.met += 1;
                    }
                }
            }
        }
    }
}

#[test]
fn no_pair_that_meets_is_missing_in_the_list() {
    let world = crowd(150, 1);
    let disc = |b: &Body| match b.shapes[0] {
        Shape::Disc { radius, .. } => Some(radius),
        _ => None,
    };
    let radii = world.bodies()[4..].iter().map(disc).collect();
    let (system, start) = world.build().unwrap();
    let mut all = AllPairs { radii, met: 0 };
    run(&system, &start, "moreau-midpoint", 300, &mut all);
    assert!(all.met > 5000, "{}", all.met);
}

#[test]
fn threads_do_not_change_a_bit_nor_does_another_run() {
    let bits = |threads: usize| {
        let (system, start) = crowd(300, threads).build().unwrap();
        let mut bits = Bits::default();
        run(&system, &start, "moreau-midpoint", 200, &mut bits);
        bits
    };
    let one = bits(1);
    assert!(one.active > 2_000 && one.lists > 10, "{} contacts, {} lists", one.active, one.lists);
    assert_same(&one, &bits(1), "the same again");
    assert_same(&one, &bits(2), "two threads");
    // The comparison sees a small change.
    let (system, mut start) = crowd(300, 1).build().unwrap();
    start.u[0] *= 1.0 + 1e-12;
    let mut other = Bits::default();
    run(&system, &start, "moreau-midpoint", 200, &mut other);
    assert!(one.steps != other.steps);
}

/// Contacts listed in every step, with and without body `extra`.
struct Count {
    extra: Option<usize>,
    most: usize,
    most_without: usize,
}

impl Observer for Count {
    fn step(&mut self, view: &StepView) {
        let of_extra = |k: &&Interaction| self.extra.is_none_or(|e| !k.dofs.contains(&(3 * e as u32)));
        let items = view.step.candidates.items();
        self.most = self.most.max(items.len());
        self.most_without = self.most_without.max(items.iter().filter(of_extra).count());
    }
}

/// A thousand discs at rest that do not touch, and one more.
fn resting(extra: Option<([f64; 2], [f64; 2])>) -> Count {
    let mut world = Builder::new();
    for i in 0..1000 {
        // In pairs, 1 mm from each other: nearer than a twentieth of their size; the pairs 10 mm.
        let at = [0.05 * f64::from(i % 40) - if i % 2 == 1 { 0.009 } else { 0.0 }, 0.05 * f64::from(i / 40)];
        world.body(Body::new(&format!("b{i}")).density(1000.0).at(at, 0.0).shape(Shape::disc(0.02)));
    }
    if let Some((at, velocity)) = extra {
        world.body(Body::new("extra").density(1000.0).at(at, 0.0).moving(velocity, 0.0).shape(Shape::disc(0.02)));
    }
    world.contact_of_all("contact", ContactLaw::newton(0.0));
    let (system, start) = world.build().unwrap();
    let mut count = Count { extra: extra.map(|_| 1000), most: 0, most_without: 0 };
    run(&system, &start, "moreau-midpoint", 100, &mut count);
    count
}

#[test]
fn a_fast_body_and_a_far_one_leave_the_lists_of_the_others_alone() {
    let alone = resting(None);
    assert_eq!(alone.most, 500);
    // Past all others at 1e6 m/s, two metres above: it may meet each of them, but they not each other.
    let fast = resting(Some(([-5e3, 3.0], [1e6, 0.0])));
    assert_eq!(fast.most_without, alone.most, "contacts among those at rest");
    assert!(fast.most > alone.most && fast.most <= alone.most + 1000, "{} and {}", fast.most, alone.most);
    for at in [[1e9, 0.0], [0.0, -1e9], [-1e9, 1e9], [1e300, 1e300]] {
        let far = resting(Some((at, [1.0, 1.0])));
        assert_eq!(far.most, alone.most, "{at:?}");
    }
}

/// A table that tilts from rest: its angle grows as t².
#[derive(Debug)]
struct Tilt;

impl Motion for Tilt {
    fn at(&self, t: f64) -> (Pose, Twist, Twist) {
        let turn = |spin: f64| Twist { velocity: [0.0, 0.0], spin };
        (Pose { centre: [0.0, 0.0], angle: -0.2 * t * t }, turn(-0.4 * t), turn(-0.4))
    }
}

#[test]
fn a_half_plane_that_begins_to_turn_carries_what_lies_on_it_and_hides_no_other_contact() {
    for name in ["moreau-midpoint", "moreau-jean"] {
        let mut world = Builder::new();
        world.gravity([0.0, -9.81]);
        world.body(Body::driven("table", Tilt).shape(Shape::half_plane([0.0, 0.0], [0.0, 1.0])));
        world.body(Body::new("block").density(10.0).at([3.0, 0.1], 0.0).shape(Shape::rectangle(0.4, 0.2)));
        // Falls upon a disc at rest in the air, from so high that velocities at the start of a long step do not show it.
        world.body(Body::new("high").density(10.0).at([0.0, 30.0], 0.0).shape(Shape::disc(0.1)));
        world.body(Body::fixed("peg").at([0.0, 20.0], 0.0).shape(Shape::disc(1.0)));
        world.contact_of_all("contact", ContactLaw::newton(0.0).coulomb(1, 0.8));
        let (system, start) = world.build().unwrap();
        let mut options = SimulationOptions::new(0.01, 1.5);
        options.initial_tolerance = 1e-9;
        let scheme = scheme::make(name, &Default::default()).unwrap();
        let s = Simulation::new(&system, start, scheme, options).unwrap().run();
        assert_eq!(s.status, Status::Done, "{name}: {:?}", s.stop.map(|s| s.to_string()));
        // tan 0.45 < 0.8: the block sticks and turns with the table.
        let angle = -0.2 * 1.5 * 1.5;
        assert!((s.end.q[2] - angle).abs() < 0.01, "{name}: the block turned by {}, the table by {angle}", s.end.q[2]);
        let distance = (s.end.q[0] * s.end.q[0] + s.end.q[1] * s.end.q[1]).sqrt();
        assert!((distance - (9.0f64 + 0.01).sqrt()).abs() < 0.02, "{name}: it slid to {distance}");
        // After 8.9 m of fall the disc meets the peg, at t = 1.35 s.
        assert!(s.percussions.contains_key("high-peg"), "{name}: {:?}", s.percussions.keys());
    }
}

#[test]
fn a_contact_is_where_its_percussion_acts() {
    let (system, state) = crowd(49, 1).build().unwrap();
    let geometry = system.geometry();
    let mut list = Candidates::default();
    system.candidates(&Workspace::default(), 0.0, &state.q, &state.u, Reach { time: 0.01, distance: 0.0 }, &mut list);
    let mut seen = 0;
    for k in list.items() {
        let (_, second) = system.bodies_of_contact(k.id).unwrap();
        let Some(first) = system.first_coordinate(second) else { continue };
        let at = geometry.contact_place(k.id, 0.0, &state.q).unwrap();
        let (n, width) = (at.normal, k.dofs.len());
        let (mut w, mut chi) = (vec![0.0; k.dim() * width], vec![0.0; k.dim()]);
        system.velocity(&Workspace::default(), k, 0.0, &state.q, &mut w, &mut chi);
        let place = k.dofs.iter().position(|d| *d as usize == first).unwrap();
        let arm = [at.point[0] - state.q[first], at.point[1] - state.q[first + 1]];
        // Force and moment on the second body; the gap along the normal moves the point, not the normal moment.
        let row = |r: usize| &w[r * width + place..r * width + place + 3];
        let expected = [n[0], n[1], arm[0] * n[1] - arm[1] * n[0]];
        assert!(row(0).iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{:?} {expected:?}", row(0));
        assert!((row(1)[0] + n[1]).abs() < 1e-12 && (row(1)[1] - n[0]).abs() < 1e-12, "{:?} {n:?}", row(1));
        let mut gap = [0.0];
        system.position(&Workspace::default(), k, 0.0, &state.q, &mut gap);
        assert_eq!(gap[0], at.gap);
        seen += 1;
    }
    assert!(seen > 20, "{seen}");
    assert!(geometry.contact_place(Multibody::FIRST_IDENTITY, 0.0, &state.q).is_none());
}
