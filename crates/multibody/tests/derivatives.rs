//! Every analytic derivative of contacts, springs, bars and stops against differences of the values.

use complementarity::linear::Matrix;
use nonsmooth::contract::Workspace;
use nonsmooth::contract::check::derivatives_within;
use nonsmooth::contract::{Candidates, Interaction, Reach, Structure};
use nonsmooth::law::ContactLaw;
use nonsmooth::{State, System};
use nonsmooth_multibody::{Bar, Body, Builder, Motion, Multibody, Pose, Shape, Spring, Twist};

/// A fixed pseudo-random sequence in [−1, 1).
fn sequence(seed: u64) -> impl FnMut() -> f64 {
    let mut s = seed;
    move || {
        s = s.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        2.0 * (s >> 11) as f64 / (1u64 << 53) as f64 - 1.0
    }
}

/// Swings in all three coordinates, each with its own frequency: velocity and acceleration never vanish together.
#[derive(Debug)]
struct Swing(Pose);

impl Motion for Swing {
    fn at(&self, t: f64) -> (Pose, Twist, Twist) {
        let wave = |a: f64, w: f64| (a * (w * t).sin(), a * w * (w * t).cos(), -a * w * w * (w * t).sin());
        let (x, y, phi) = (wave(0.3, 1.7), wave(0.2, 2.3), wave(0.4, 1.1));
        let centre = [self.0.centre[0] + x.0, self.0.centre[1] + y.0];
        (
            Pose { centre, angle: self.0.angle + phi.0 },
            Twist { velocity: [x.1, y.1], spin: phi.1 },
            Twist { velocity: [x.2, y.2], spin: phi.2 },
        )
    }
}

fn shapes() -> Vec<(&'static str, Shape)> {
    vec![
        ("disc", Shape::disc(0.5)),
        ("disc off centre", Shape::Disc { centre: [0.3, -0.2], radius: 0.4 }),
        ("half-plane", Shape::half_plane([0.1, 0.2], [0.6, 1.1])),
        ("thick segment", Shape::segment([-0.7, 0.2], [0.6, -0.3], 0.2)),
        ("thin segment", Shape::segment([-0.6, -0.2], [0.8, 0.1], 0.0)),
        ("inner circle", Shape::inner_circle(1.4)),
        ("inner circle off centre", Shape::InnerCircle { centre: [0.2, 0.1], radius: 1.5 }),
        ("box", Shape::rectangle(1.2, 0.7)),
        ("box off centre", Shape::Box { centre: [-0.2, 0.3], half: [0.4, 0.6], angle: 0.7 }),
    ]
}

fn endless(s: &Shape) -> bool {
    matches!(s, Shape::HalfPlane { .. } | Shape::InnerCircle { .. })
}

fn thin(s: &Shape) -> bool {
    matches!(s, Shape::Segment { radius: 0.0, .. })
}

fn meet(a: &Shape, b: &Shape) -> bool {
    let cornered = |s: &Shape| thin(s) || matches!(s, Shape::Box { .. });
    let never = endless(a) && endless(b);
    !(never || thin(a) && cornered(b) || thin(b) && cornered(a))
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum How {
    Free,
    Fixed,
    Driven,
}

/// Two bodies that friction law lets touch, poses by `random`.
fn pair(a: &Shape, b: &Shape, how: [How; 2], random: &mut impl FnMut() -> f64) -> (Multibody, State) {
    let mut world = Builder::new();
    for ((name, shape), how) in [("a", a), ("b", b)].into_iter().zip(how) {
        let (centre, angle) = ([0.9 * random(), 0.9 * random()], 3.0 * random());
        let body = match how {
            How::Free => {
                let moving = [random(), random(), random()];
                Body::new(name).mass(1.3, 0.4).at(centre, angle).moving([moving[0], moving[1]], moving[2])
            }
            How::Fixed => Body::fixed(name).at(centre, angle),
            How::Driven => Body::driven(name, Swing(Pose { centre, angle })),
        };
        world.body(body.shape(*shape));
    }
    world.contact_of_all("contact", ContactLaw::newton(0.2).coulomb(1, 0.3));
    world.build().unwrap()
}

/// Whether γ_q is as good as constant in the range of the differences: a change of region, or a curvature that differences
/// cannot follow (κ > 50/m), shows as more than 1e-3 of it.
fn smooth(system: &Multibody, k: &Interaction, t: f64, s: &State) -> bool {
    let n = k.dim() * k.dofs.len();
    let at = |t: f64, q: &[f64]| {
        let (mut gamma_q, mut w, mut chi) = (vec![0.0; n], vec![0.0; n], vec![0.0; k.dim()]);
        system.velocity_gradient(&Workspace::default(), k, 0, t, q, &s.u, &mut gamma_q);
        system.velocity(&Workspace::default(), k, t, q, &mut w, &mut chi);
        gamma_q.extend(w);
        gamma_q
    };
    let (here, size) = (at(t, &s.q), s.q.iter().fold(1.0f64, |m, v| m.max(v.abs())));
    // Twice the step of the differences.
    let step = 2.0 * f64::EPSILON.cbrt() * size;
    let like = |other: &[f64]| {
        let most = here.iter().fold(1.0f64, |m, v| m.max(v.abs()));
        other.iter().zip(&here).all(|(a, b)| (a - b).abs() <= 1e-3 * most)
    };
    let mut ok = like(&at(t + step, &s.q)) && like(&at(t - step, &s.q));
    for j in 0..s.q.len() {
        for sign in [-step, step] {
            let mut q = s.q.clone();
            q[j] += sign;
            ok &= like(&at(t, &q));
            let along: Vec<f64> = s.q.iter().zip(&s.u).map(|(q, u)| q + sign * u).collect();
            ok &= like(&at(t + sign, &along));
        }
    }
    ok
}

#[test]
fn contacts_of_all_pairs_of_shapes_have_exact_derivatives() {
    let reach = Reach { time: 0.0, distance: 0.2 };
    let mut random = sequence(7);
    let mut compared = 0;
    let (mut open, mut deep) = (0, 0);
    for (name_a, a) in shapes() {
        for (name_b, b) in shapes() {
            if !meet(&a, &b) {
                continue;
            }
            for how in [
                [How::Free, How::Free],
                [How::Free, How::Fixed],
                [How::Fixed, How::Free],
                [How::Free, How::Driven],
                [How::Driven, How::Free],
            ] {
                let mut found = 0;
                for _ in 0..4000 {
                    if found >= 12 {
                        break;
                    }
                    let (system, state) = pair(&a, &b, how, &mut random);
                    let t = 1.0 + random();
                    let mut list = Candidates::default();
                    system.candidates(&Workspace::default(), t, &state.q, &state.u, reach, &mut list);
                    let gap = |k: &Interaction| {
                        let mut g = [0.0];
                        system.position(&Workspace::default(), k, t, &state.q, &mut g);
                        g[0]
                    };
                    // Near contact, and not deeper than a thin wall and its disc stand.
                    let gaps: Vec<f64> = list.items().iter().map(gap).collect();
                    let least = gaps.iter().copied().fold(f64::INFINITY, f64::min);
                    if !(-0.09..0.09).contains(&least) || !list.items().iter().all(|k| smooth(&system, k, t, &state)) {
                        continue;
                    }
                    open += usize::from(least > 0.0);
                    deep += usize::from(least < 0.0);
                    found += list.len();
                    let wrong = derivatives_within(&system, t, &state.q, &state.u, reach, 1e-6);
                    assert!(wrong.is_empty(), "{name_a} and {name_b}, {how:?}, gaps {gaps:?}: {wrong:#?}");
                }
                assert!(found >= 12, "{name_a} and {name_b}, {how:?}: only {found} contacts");
                compared += found;
            }
        }
    }
    // 81 ordered pairs without 9 of two endless shapes and 5 of a thin wall with corners, five mobilities, 12 contacts at least.
    assert!(compared >= 67 * 5 * 12, "{compared}");
    assert!(open > 800 && deep > 800, "{open} open, {deep} penetrating");
}

/// Springs of all kinds between free, fixed and driven bodies; a bar; gravity; stops.
fn linked() -> (Multibody, State) {
    let mut world = Builder::new();
    world.gravity([0.7, -9.81]);
    world.body(Body::new("a").mass(1.3, 0.4).at([0.3, 0.2], 0.4).moving([0.2, -0.3], 0.7));
    world.body(Body::new("b").mass(0.9, 0.2).at([-0.4, 0.6], -0.9).moving([-0.5, 0.1], -0.4));
    world.body(Body::fixed("wall").at([1.0, -0.5], 0.3));
    world.body(Body::driven("crank", Swing(Pose { centre: [-1.0, 0.3], angle: 0.2 })));
    let line = |name: &str, a: &str, b: &str| Spring::new(name, (a, [0.3, -0.1]), (b, [-0.2, 0.4]), 3.0);
    world.spring(line("between", "a", "b").rest(0.35).damping(0.4));
    world.spring(line("as_built", "b", "a"));
    world.spring(line("without_rest", "a", "wall").rest(0.0).damping(0.7));
    world.spring(line("from_wall", "wall", "b").rest(2.0).damping(0.2));
    world.spring(line("to_crank", "a", "crank").rest(0.1).damping(0.9));
    world.spring(line("from_crank", "crank", "b").damping(0.3));
    world.spring(Spring::torsion("twist", "a", "b", 2.0).rest(0.3).damping(0.5));
    world.spring(Spring::torsion("twist_crank", "crank", "a", 1.5).damping(0.2));
    world.spring(Spring::torsion("twist_wall", "b", "wall", 1.5).damping(0.2));
    let bar = Bar {
        name: "bar".into(),
        elements: 4,
        length: 2.0,
        area: 0.3,
        density: 1.7,
        modulus: 5.0,
        displacement: 0.1,
        velocity: -0.2,
    };
    world.bar(bar);
    world.stop("low", "a_y", 1.0, -3.0, ContactLaw::newton(0.1));
    world.stop("right", "bar_4", -1.0, 2.0, ContactLaw::newton(0.0));
    world.build().unwrap()
}

#[test]
fn springs_dampers_bars_and_stops_have_exact_derivatives() {
    let (system, start) = linked();
    let forces = system.structure().forces.clone();
    // Gravity, bar, nine springs, eight dampers.
    assert_eq!(forces.len(), 19);
    assert_eq!(forces.iter().filter(|f| f.potential).count(), 11);
    let mut random = sequence(3);
    for _ in 0..50 {
        let q: Vec<f64> = start.q.iter().map(|q| q + 0.5 * random()).collect();
        let u: Vec<f64> = start.u.iter().map(|u| u + random()).collect();
        let t = 2.0 + random();
        let mut list = Candidates::default();
        system.candidates(&Workspace::default(), t, &q, &u, Reach::NONE, &mut list);
        assert_eq!(list.len(), 2, "both stops");
        let wrong = derivatives_within(&system, t, &q, &u, Reach::NONE, 1e-6);
        assert!(wrong.is_empty(), "{wrong:#?}");
        // Stated constant: the Jacobian is that of the start.
        for (i, f) in forces.iter().enumerate().filter(|(_, f)| f.constant_jacobian) {
            let jacobian = |t: f64, q: &[f64], u: &[f64]| {
                let mut m = Matrix::new(&system.structure().pattern);
                system.force_jacobian(&Workspace::default(), i, t, q, u, 0.3, 0.7, &mut m);
                let n = q.len();
                (0..n * n).map(|k| m.get(k / n, k % n)).collect::<Vec<f64>>()
            };
            assert_eq!(jacobian(0.0, &start.q, &start.u), jacobian(t, &q, &u), "{}", f.name);
        }
    }
}

#[test]
fn a_spring_of_length_zero_without_rest_length_has_exact_derivatives_and_one_with_a_rest_length_no_force() {
    let at = |rest: f64| {
        let mut world = Builder::new();
        world.body(Body::new("a").mass(1.0, 1.0).at([0.3, 0.2], 0.5).moving([0.4, 0.1], 0.2));
        world.body(Body::new("b").mass(1.0, 1.0).at([0.3, 0.2], -0.3));
        world.spring(Spring::new("s", ("a", [0.0, 0.0]), ("b", [0.0, 0.0]), 4.0).rest(rest).damping(0.5));
        world.build().unwrap()
    };
    let (system, s) = at(0.0);
    let wrong = derivatives_within(&system, 0.0, &s.q, &s.u, Reach::NONE, 1e-6);
    assert!(wrong.is_empty(), "{wrong:#?}");
    let mut m = Matrix::new(&system.structure().pattern);
    system.force_jacobian(&Workspace::default(), 0, 0.0, &s.q, &s.u, 1.0, 0.0, &mut m);
    assert_eq!([m.get(0, 0), m.get(0, 3), m.get(2, 2)], [-4.0, 4.0, 0.0]);
    let (system, s) = at(0.2);
    for force in 0..2 {
        let mut h = vec![0.0; 6];
        system.force(&Workspace::default(), force, 0.0, &s.q, &s.u, &mut h);
        assert_eq!(h, [0.0; 6]);
    }
}

#[test]
fn forces_are_minus_the_gradient_of_their_potential() {
    let (system, start) = linked();
    let mut random = sequence(11);
    let (mut compared, step) = (0, 1e-4);
    for _ in 0..20 {
        let q: Vec<f64> = start.q.iter().map(|q| q + 0.5 * random()).collect();
        let t = 2.0 + random();
        for (i, f) in system.structure().forces.iter().enumerate().filter(|(_, f)| f.potential) {
            let mut h = vec![0.0; q.len()];
            system.force(&Workspace::default(), i, t, &q, &start.u, &mut h);
            for j in 0..q.len() {
                let v = |s: f64| {
                    let mut x = q.clone();
                    x[j] += s * step;
                    system.potential(&Workspace::default(), i, t, &x)
                };
                // Fourth order: truncation 1e-16 times a fifth derivative, rounding 1e-15·10/1e-4.
                let slope = (8.0 * (v(1.0) - v(-1.0)) - (v(2.0) - v(-2.0))) / (12.0 * step);
                assert!((h[j] + slope).abs() <= 1e-9, "{} over {j}: {} and {slope}", f.name, h[j]);
                compared += usize::from(h[j] != 0.0);
            }
        }
    }
    assert!(compared > 20 * 30, "{compared}");
}

/// A system whose γ_q is wrong by one part in ten thousand.
struct Wrong(Multibody);

impl System for Wrong {
    fn structure(&self) -> &Structure {
        self.0.structure()
    }
    fn mass(&self, work: &Workspace, t: f64, q: &[f64], m: &mut Matrix) {
        self.0.mass(work, t, q, m);
    }
    fn force(&self, work: &Workspace, i: usize, t: f64, q: &[f64], u: &[f64], h: &mut [f64]) {
        self.0.force(work, i, t, q, u, h);
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
    fn velocity_gradient(
        &self,
        work: &Workspace,
        k: &Interaction,
        skip: usize,
        t: f64,
        q: &[f64],
        u: &[f64],
        out: &mut [f64],
    ) {
        self.0.velocity_gradient(work, k, skip, t, q, u, out);
        out[0] += 1e-4;
    }
    fn name(&self, id: u64) -> String {
        self.0.name(id)
    }
}

#[test]
fn a_wrong_derivative_is_seen() {
    let mut random = sequence(1);
    let (disc, wall) = (Shape::disc(0.5), Shape::half_plane([0.0, 0.0], [0.0, 1.0]));
    let (system, s) = pair(&disc, &wall, [How::Free, How::Driven], &mut random);
    let reach = Reach { time: 0.0, distance: 10.0 };
    assert!(derivatives_within(&system, 1.0, &s.q, &s.u, reach, 1e-6).is_empty());
    let wrong = derivatives_within(&Wrong(system), 1.0, &s.q, &s.u, reach, 1e-6);
    assert!(wrong.len() == 1 && wrong[0].what.contains("gamma_q"), "{wrong:?}");
}
