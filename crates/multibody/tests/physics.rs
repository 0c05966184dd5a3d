//! Closed forms through the time loop, with both schemes of velocity level.

use nonsmooth::contract::Workspace;
use nonsmooth::law::ContactLaw;
use nonsmooth::simulation::{Observer, Status, StepView};
use nonsmooth::{Simulation, SimulationOptions, State, Summary, System, scheme};
use nonsmooth_multibody::{Bar, Body, Builder, Motion, Multibody, Pose, Shape, Spring, Twist, Uniform};
use std::f64::consts::PI;

const SCHEMES: [&str; 2] = ["moreau-midpoint", "moreau-jean"];
const G: f64 = 9.81;

/// The laws of a step hold to 1e-10 of its percussion (the default tolerance of the solvers), and a percussion of persistent
/// contact is at most a few m g dt: velocities are known to a few 1e-10·g·T.
fn solved(end: f64) -> f64 {
    4e-10 * G * end
}

fn run_with(system: &Multibody, start: State, name: &str, step: f64, end: f64, observer: &mut dyn Observer) -> Summary {
    let scheme = scheme::make(name, &Default::default()).unwrap();
    let options = SimulationOptions::new(step, end);
    let summary = Simulation::new(system, start, scheme, options).unwrap().run_with(observer);
    assert_eq!(summary.status, Status::Done, "{name}: {:?}", summary.stop.map(|s| s.to_string()));
    // A few hundred rounding errors beside the sum of all work.
    assert!(summary.energy.closure <= 1e-9, "{name}: the ledger closes to {:.1e}", summary.energy.closure);
    summary
}

fn run(world: &Builder, name: &str, step: f64, end: f64) -> Summary {
    let (system, start) = world.clone().build().unwrap();
    run_with(&system, start, name, step, end, &mut ())
}

fn near(what: &str, found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "{what}: {found}, expected {expected} within {tolerance:.1e}");
}

fn ground() -> Body {
    Body::fixed("ground").shape(Shape::half_plane([0.0, 0.0], [0.0, 1.0]))
}

/// A disc on a plane that gravity is inclined to.
fn incline(alpha: f64, mu: f64) -> Builder {
    let mut world = Builder::new();
    world.gravity([G * alpha.sin(), -G * alpha.cos()]);
    world.body(ground()).body(Body::new("disc").density(3.0).at([0.0, 0.5], 0.0).shape(Shape::disc(0.5)));
    world.contact_of_all("contact", ContactLaw::newton(0.0).coulomb(1, mu));
    world
}

#[test]
fn a_disc_rolls_down_an_incline() {
    for name in SCHEMES {
        let (alpha, end) = (0.4f64, 1.0);
        // Sticks where μ ≥ tan α / 3 for J = m r²/2.
        let s = run(&incline(alpha, 0.2), name, 1e-3, end);
        let a = G * alpha.sin() / 1.5;
        near(name, s.end.u[0], a * end, solved(end));
        near(name, s.end.u[2], -a * end / 0.5, solved(end) / 0.5);
        // Constant acceleration: the position of both schemes is exact.
        near(name, s.end.q[0], 0.5 * a * end * end, solved(end));
        near(name, s.end.q[1], 0.5, solved(end));
        let friction = s.ledger.iter().find(|l| l.0 == "contact.friction").unwrap().1;
        near(name, friction, 0.0, solved(end) * a);
    }
}

#[test]
fn a_disc_with_little_friction_slips_down_an_incline() {
    for name in SCHEMES {
        let (alpha, mu, end) = (0.4f64, 0.1, 1.0);
        assert!(mu < alpha.tan() / 3.0);
        let s = run(&incline(alpha, mu), name, 1e-3, end);
        near(name, s.end.u[0], G * (alpha.sin() - mu * alpha.cos()) * end, solved(end));
        // m r² / J = 2.
        near(name, s.end.u[2], -2.0 * mu * G * alpha.cos() / 0.5 * end, solved(end) / 0.5);
        let friction = s.ledger.iter().find(|l| l.0 == "contact.friction").unwrap().1;
        assert!(friction < -1.0, "{friction}");
    }
}

/// Angle of the centre of the disc and spins in a drum, by Runge-Kutta of the equations in the angle while it slips:
/// m ρ θ'' = T − m g sin θ, J ω' = T r, T = μ N, N = m g cos θ + m ρ θ'².
fn slipping_in_drum(rho: f64, r: f64, mu: f64, end: f64) -> [f64; 3] {
    let f = |y: [f64; 3]| {
        let normal = G * y[0].cos() + rho * y[1] * y[1];
        [y[1], (mu * normal - G * y[0].sin()) / rho, 2.0 * mu * normal / r]
    };
    let (mut y, n) = ([0.0; 3], 20_000);
    let h = end / f64::from(n);
    for _ in 0..n {
        let shift = |k: [f64; 3], s: f64| [y[0] + s * k[0], y[1] + s * k[1], y[2] + s * k[2]];
        let k1 = f(y);
        let k2 = f(shift(k1, 0.5 * h));
        let k3 = f(shift(k2, 0.5 * h));
        let k4 = f(shift(k3, h));
        for i in 0..3 {
            y[i] += h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]);
        }
    }
    y
}

fn drum(spin_of_drum: f64, mu: f64, spin: f64) -> Builder {
    let mut world = Builder::new();
    world.gravity([0.0, -G]);
    let rate = Twist { velocity: [0.0, 0.0], spin: spin_of_drum };
    world.body(Body::driven("drum", Uniform { start: Pose::default(), rate }).shape(Shape::inner_circle(1.0)));
    let disc = Body::new("disc").density(2.0).at([0.0, -0.8], 0.0).moving([0.0, 0.0], spin);
    world.body(disc.shape(Shape::disc(0.2)));
    world.contact_of_all("contact", ContactLaw::newton(0.0).coulomb(1, mu));
    world
}

#[test]
fn a_turning_drum_drags_a_disc_up_by_friction() {
    for name in SCHEMES {
        let (mu, end) = (0.15, 0.5);
        let [theta, rate, spin] = slipping_in_drum(0.8, 0.2, mu, end);
        // It slips all the time: the drum runs at 5 m/s, the surface of the disc is slower.
        assert!(0.2 * spin + 0.8 * rate < 5.0 && theta > 0.1);
        let error = |step: f64| {
            let s = run(&drum(5.0, mu, 0.0), name, step, end);
            let (x, y) = (s.end.q[0], s.end.q[1]);
            let found = x.atan2(-y);
            let speed = s.end.u[0] * found.cos() + s.end.u[1] * found.sin();
            [(found - theta).abs(), (speed - 0.8 * rate).abs(), (s.end.u[2] - spin).abs()]
        };
        let (coarse, fine) = (error(2e-3), error(1e-3));
        for (what, (c, f)) in ["angle", "speed", "spin"].iter().zip(coarse.iter().zip(&fine)) {
            // First order: the error halves, with a fifth of play for the terms of second order; and it is small beside the motion.
            assert!(*f <= 0.6 * c || *f < 1e-6, "{name}, {what}: {c:.2e} then {f:.2e}");
            assert!(*f < 1e-2, "{name}, {what}: {f:.2e}");
        }
    }
}

#[test]
fn a_disc_that_rolls_with_the_drum_stays_where_it_is() {
    for name in SCHEMES {
        // ω r = Ω R: no slip, no friction force.
        let s = run(&drum(2.0, 0.3, 10.0), name, 1e-3, 1.0);
        near(name, s.end.q[0], 0.0, solved(1.0));
        near(name, s.end.u[2], 10.0, solved(1.0) / 0.2);
        // The contact is closed from the start, and W does not change: no drift.
        near(name, s.end.q[1], -0.8, solved(1.0));
    }
}

/// Two discs on a line.
fn collision(of_a: &str, of_b: &str) -> Builder {
    let mut world = Builder::new();
    world.body(
        Body::new("a")
            .mass(2.0, 0.1)
            .at([-1.0, 0.0], 0.0)
            .moving([3.0, 0.0], 0.0)
            .material(of_a)
            .shape(Shape::disc(0.3)),
    );
    world.body(
        Body::new("b")
            .mass(5.0, 0.3)
            .at([1.0, 0.0], 0.0)
            .moving([-1.0, 0.0], 0.0)
            .material(of_b)
            .shape(Shape::disc(0.4)),
    );
    // A contact may only name materials that there are.
    world.body(Body::fixed("some_steel").material("steel")).body(Body::fixed("some_rubber").material("rubber"));
    world.contact("steel_steel", "steel", "steel", ContactLaw::newton(0.8));
    world.contact("steel_rubber", "steel", "rubber", ContactLaw::newton(0.3));
    world.contact_of_all("other", ContactLaw::newton(0.0));
    world
}

fn restitution(world: &Builder, name: &str) -> f64 {
    let s = run(world, name, 1e-2, 1.0);
    // Momentum to rounding.
    near(name, 2.0 * s.end.u[0] + 5.0 * s.end.u[3], 1.0, 1e-13);
    // v_b⁺ − v_a⁺ = e (v_a⁻ − v_b⁻).
    (s.end.u[3] - s.end.u[0]) / 4.0
}

#[test]
fn the_restitution_of_a_collision_is_that_of_the_pair_of_materials() {
    for name in SCHEMES {
        // One contact without friction is solved to rounding.
        for (a, b, e) in
            [("steel", "steel", 0.8), ("steel", "rubber", 0.3), ("rubber", "steel", 0.3), ("rubber", "rubber", 0.0)]
        {
            near(&format!("{name}, {a} and {b}"), restitution(&collision(a, b), name), e, 1e-13);
        }
    }
}

#[test]
fn a_contact_that_names_a_body_goes_before_one_that_names_its_material() {
    for name in SCHEMES {
        let mut world = collision("steel", "rubber");
        world.contact("a_rubber", "rubber", "a", ContactLaw::newton(0.6));
        near(name, restitution(&world, name), 0.6, 1e-13);
        // Both bodies by name go before all.
        world.contact("b_a", "b", "a", ContactLaw::newton(1.0));
        near(name, restitution(&world, name), 1.0, 1e-13);
        // One that names another pair changes nothing.
        let mut world = collision("steel", "rubber");
        world.contact("b_rubber", "b", "rubber", ContactLaw::newton(0.6));
        near(name, restitution(&world, name), 0.3, 1e-13);
    }
}

/// The normal percussions of the last step by contact, over dt.
#[derive(Default)]
struct LastForces(Vec<[f64; 2]>);

impl Observer for LastForces {
    fn step(&mut self, view: &StepView) {
        let step = view.step;
        let of = |i: usize| {
            let p = step.percussion(i);
            [p[0] / step.dt, p.get(1).copied().unwrap_or(0.0) / step.dt]
        };
        self.0 = (0..step.candidates.len()).map(of).filter(|f| f[0] != 0.0).collect();
    }
}

fn block(mu: Option<f64>, height: f64, speed: f64) -> Builder {
    let mut world = Builder::new();
    world.gravity([0.0, -G]);
    world.body(ground());
    let block = Body::new("block").density(10.0).at([0.0, height], 0.0).moving([speed, 0.0], 0.0);
    world.body(block.shape(Shape::rectangle(1.0, 0.4)));
    let law = ContactLaw::newton(0.0);
    world.contact_of_all("contact", if let Some(mu) = mu { law.coulomb(1, mu) } else { law });
    world
}

#[test]
fn a_box_dropped_flat_rests_on_two_corners() {
    for name in SCHEMES {
        for mu in [None, Some(0.5)] {
            let (system, start) = block(mu, 0.25, 0.0).build().unwrap();
            let mut last = LastForces::default();
            let s = run_with(&system, start, name, 1e-3, 0.5, &mut last);
            let weight = 4.0 * G;
            assert_eq!(last.0.len(), 2, "{name}: {:?}", last.0);
            for f in &last.0 {
                near(name, f[0], 0.5 * weight, 1e-9 * weight);
            }
            near(name, last.0[0][1] + last.0[1][1], 0.0, 1e-9 * weight);
            for u in &s.end.u {
                near(name, *u, 0.0, solved(0.5));
            }
            // It fell 0.05 m, and a contact closes within one step: penetration at most v dt.
            let v = (2.0 * G * 0.05f64).sqrt();
            assert!((s.end.q[1] - 0.2).abs() <= v * 1e-3, "{name}: {}", s.end.q[1]);
            assert!(s.end.q[2].abs() < 1e-9, "{name}: turned by {}", s.end.q[2]);
        }
    }
}

#[test]
fn a_box_that_slides_stops_where_friction_has_taken_its_energy() {
    for name in SCHEMES {
        let (mu, v0, step) = (0.3, 2.0, 1e-3);
        let s = run(&block(Some(mu), 0.2, v0), name, step, 1.0);
        // The velocity falls by μ g dt in every step and the position follows its mean; only in the last one it stops on the way.
        let expected = v0 * v0 / (2.0 * mu * G);
        near(name, s.end.q[0], expected, 0.5 * mu * G * step * step + solved(1.0));
        near(name, s.end.u[0], 0.0, solved(1.0));
        near(name, s.end.q[2], 0.0, solved(1.0) / 0.2);
        let friction = s.ledger.iter().find(|l| l.0 == "contact.friction").unwrap().1;
        near(name, friction, -0.5 * 4.0 * v0 * v0, 1e-8);
    }
}

fn against(wall: Shape, at: [f64; 2], velocity: [f64; 2], law: ContactLaw) -> Builder {
    let mut world = Builder::new();
    world.body(Body::fixed("wall").shape(wall));
    world.body(Body::new("disc").density(1.0).at(at, 0.0).moving(velocity, 0.0).shape(Shape::disc(0.2)));
    world.contact_of_all("contact", law);
    world
}

#[test]
fn a_disc_comes_back_from_the_corner_and_the_side_of_a_box() {
    let rectangle = Shape::rectangle(1.0, 0.6);
    for name in SCHEMES {
        // Straight at the corner (0.5, 0.3): back on the same line.
        let s = run(&against(rectangle, [1.5, 1.3], [-1.0, -1.0], ContactLaw::newton(0.5)), name, 1e-2, 2.0);
        near(name, s.end.u[0], 0.5, 1e-12);
        near(name, s.end.u[1], 0.5, 1e-12);
        // Upon the side, with friction that slips: Δu_t = −μ (1 + e) |u_n|, Δω = −2 Δu_t/r on the near side.
        let law = ContactLaw::newton(0.5).coulomb(1, 0.1);
        let s = run(&against(rectangle, [-0.3, 1.0], [1.0, -1.0], law), name, 1e-2, 0.8);
        near(name, s.end.u[1], 0.5, 1e-12);
        near(name, s.end.u[0], 1.0 - 0.1 * 1.5, 1e-12);
        near(name, s.end.u[2], -2.0 * 0.1 * 1.5 / 0.2, 1e-11);
        // Beside the corner by more than the radius: nothing happens.
        let s = run(&against(rectangle, [0.71, 1.0], [0.0, -1.0], ContactLaw::newton(0.5)), name, 1e-2, 2.0);
        assert_eq!(s.end.u, [0.0, -1.0, 0.0], "{name}");
    }
}

#[test]
fn a_box_that_falls_on_a_disc_centrally_comes_back() {
    for name in SCHEMES {
        let mut world = Builder::new();
        world.body(Body::fixed("peg").shape(Shape::disc(0.2)));
        let block = Body::new("block").density(1.0).at([0.1, 1.0], 0.0).moving([0.0, -2.0], 0.0);
        world.body(block.shape(Shape::rectangle(1.0, 0.4)));
        world.contact_of_all("contact", ContactLaw::newton(0.7));
        // The impact at 0.1 m from the centre: m⁻¹ = 1/m + d²/J, v⁺ = −e v⁻ at the point.
        let (m, j, d) = (0.4, 0.4 * (1.0 + 0.16) / 12.0, 0.1);
        let p = 1.7 * 2.0 / (1.0 / m + d * d / j);
        let errors = [1e-3, 5e-4].map(|step| {
            let s = run(&world, name, step, 0.5);
            [s.end.u[1] - (-2.0 + p / m), s.end.u[2] + d * p / j].map(f64::abs)
        });
        for i in 0..2 {
            let (coarse, fine) = (errors[0][i], errors[1][i]);
            // The laws see the end of the step, when the box has turned by ω dt: first order.
            assert!(fine <= 0.6 * coarse && fine < 1e-2, "{name}: {coarse:.1e} {fine:.1e}");
        }
    }
}

#[test]
fn a_wall_carries_a_disc_and_ends_where_it_ends() {
    for name in SCHEMES {
        for thickness in [0.0, 0.1] {
            let wall = Shape::segment([-1.0, 0.0], [1.0, 0.0], thickness);
            let drop = |x: f64| {
                let mut world = against(wall, [x, 0.4], [0.0, 0.0], ContactLaw::newton(0.0).coulomb(1, 0.5));
                world.gravity([0.0, -G]);
                run(&world, name, 1e-3, 0.5)
            };
            let s = drop(0.5);
            let fall = 0.4 - 0.2 - 0.5 * thickness;
            near(name, s.end.u[1], 0.0, solved(0.5));
            near(name, s.end.q[1], 0.2 + 0.5 * thickness, (2.0 * G * fall).sqrt() * 1e-3);
            // Past the round end.
            let s = drop(1.0 + 0.2 + 0.5 * thickness + 1e-3);
            near(name, s.end.u[1], -G * 0.5, solved(0.5));
            // Upon the end itself: pushed aside.
            let s = drop(1.0 + 0.1);
            assert!(s.end.u[0] > 0.3 && s.end.q[0] > 1.2, "{name}: {:?}", s.end);
        }
    }
}

/// Shakes to and fro.
#[derive(Debug)]
struct Shaker;

impl Motion for Shaker {
    fn at(&self, t: f64) -> (Pose, Twist, Twist) {
        let x = |v: f64| [v, 0.0];
        let velocity = |v: f64| Twist { velocity: x(v), spin: 0.0 };
        let pose = Pose { centre: x(0.2 * (3.0 * t).sin()), angle: 0.0 };
        (pose, velocity(0.6 * (3.0 * t).cos()), velocity(-1.8 * (3.0 * t).sin()))
    }
    fn turns(&self) -> bool {
        false
    }
}

#[test]
fn the_ledger_of_a_spring_pendulum_closes_and_its_damper_only_takes() {
    for name in SCHEMES {
        for damping in [0.0, 0.4] {
            for shaken in [false, true] {
                let mut world = Builder::new();
                world.gravity([0.0, -G]);
                world.body(if shaken { Body::driven("pivot", Shaker) } else { Body::fixed("pivot") });
                world.body(Body::new("bob").mass(0.7, 0.02).at([0.8, -0.6], 0.3).moving([0.3, 0.0], 2.0));
                let spring = Spring::new("rod", ("pivot", [0.0, 0.0]), ("bob", [0.1, 0.05]), 80.0);
                world.spring(spring.rest(0.9).damping(damping));
                // `run` asserts the closure.
                let s = run(&world, name, 1e-3, 3.0);
                let line = |name: &str| s.ledger.iter().find(|l| l.0 == name).map(|l| l.1);
                if damping > 0.0 {
                    assert!(line("force.rod_damper").unwrap() < -0.1, "{name}: {:?}", s.ledger);
                } else {
                    assert_eq!(line("force.rod_damper"), None);
                }
                let drive = line("drive").unwrap();
                assert_eq!(drive != 0.0, shaken, "{name}: {drive}");
                let loss = s.energy.last - s.energy.initial;
                let numerical =
                    s.ledger.iter().filter(|l| l.0.starts_with("numerical")).map(|l| l.1.abs()).sum::<f64>();
                // Second order: (ω dt)²/24 of the energies that change hands, some 10 J, over a few periods.
                assert!(numerical < 10.0 * 80.0 / 0.7 * 1e-6, "{name}: {numerical:.2e} of {loss:.2e}");
            }
        }
    }
}

fn bar(elements: usize) -> Bar {
    Bar {
        name: "bar".into(),
        elements,
        length: 2.0,
        area: 0.3,
        density: 1.5,
        modulus: 6.0,
        displacement: 0.0,
        velocity: 0.0,
    }
}

#[test]
fn the_first_frequency_of_a_free_bar_converges_with_second_order() {
    // c = 2 m/s, k = π/L.
    let (exact, k) = (PI * 2.0 / 2.0, PI / 2.0);
    for name in SCHEMES {
        let mut errors = Vec::new();
        for elements in [8, 16, 32] {
            let mut world = Builder::new();
            world.bar(bar(elements));
            let (system, mut start) = world.build().unwrap();
            let l = 2.0 / elements as f64;
            for (i, q) in start.q.iter_mut().enumerate() {
                *q = 0.01 * (k * l * i as f64).cos();
            }
            // Half a period less a bit; steps stable for the explicit scheme: dt √12 c/l < 2.
            let (steps, dt) = (100u32, 0.008);
            assert!(dt * 12f64.sqrt() * 2.0 / l < 2.0);
            let s = run_with(&system, start, name, dt, f64::from(steps) * dt, &mut ());
            // The first mode is an eigenvector of the discrete bar too: its nodes swing as cos ω_n t, where leapfrog has
            // sin(ω_n dt/2) = ω_h dt/2 and the trapezoidal rule tan(ω_n dt/2) = ω_h dt/2.
            let phase = (s.end.q[0] / 0.01).acos() / f64::from(steps);
            let found = if name == "moreau-jean" { (0.5 * phase).tan() } else { (0.5 * phase).sin() } * 2.0 / dt;
            let c = (k * l).cos();
            let discrete = 2.0 / l * (6.0 * (1.0 - c) / (2.0 + c)).sqrt();
            // Rounding of a hundred steps through acos, well inside (0, π); Newton's tolerance for the implicit scheme.
            near(&format!("{name}, {elements} elements"), found, discrete, 1e-8);
            errors.push(found / exact - 1.0);
            // Consistent mass: (k l)²/24, the next term is of fourth order.
            near(name, found / exact - 1.0, (k * l).powi(2) / 24.0, (k * l).powi(4) / 24.0);
        }
        for pair in errors.windows(2) {
            near(name, pair[0] / pair[1], 4.0, 0.05);
        }
    }
}

#[test]
fn a_free_bar_keeps_its_momentum() {
    for name in SCHEMES {
        let mut world = Builder::new();
        world.bar(Bar { velocity: 0.7, ..bar(20) });
        let (system, mut start) = world.build().unwrap();
        for (i, q) in start.q.iter_mut().enumerate() {
            *q = 0.01 * (1.3 * i as f64).sin();
        }
        let mut m = complementarity::linear::Matrix::new(&system.structure().pattern);
        system.mass(&Workspace::default(), 0.0, &start.q, &mut m);
        let momentum = |u: &[f64]| {
            let mut p = vec![0.0; u.len()];
            m.multiply(u, &mut p);
            p.iter().sum::<f64>()
        };
        near("momentum at the start", momentum(&start.u), 0.7 * 1.5 * 0.3 * 2.0, 1e-14);
        let s = run_with(&system, start, name, 0.01, 5.0, &mut ());
        // 500 steps, each closes the dynamics of 21 nodes to 1e-10 (Newton) of forces of 0.4 N over 0.01 s.
        near(name, momentum(&s.end.u), 0.7 * 0.9, 500.0 * 21.0 * 1e-10 * 4e-3);
    }
}
