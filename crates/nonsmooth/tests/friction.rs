//! Friction against closed forms: sticking, sliding, spin, tangential restitution, moving obstacles.

use complementarity::{Mode, Polygon, solver::SOLVERS};
use nonsmooth::contract::Kind;
use nonsmooth::law::ContactLaw;
use nonsmooth::reference::{Block, Incline, PointOnTable, PulledMass};
use nonsmooth::simulation::{EventKind, Observe, Record, Recording, Status, StepRecord, Trajectory};
use nonsmooth::{Differentiated, Layout, Model, Scalar, Simulation, SimulationOptions, State, Summary, System, scheme};
use std::sync::Arc;

const G: f64 = 9.81;

/// The velocity-level schemes: their friction law is one and the same, so that all closed forms hold for both.
const SCHEMES: [&str; 2] = ["moreau-jean", "moreau-midpoint"];

fn take<M: Model>(model: M) -> Differentiated<M> {
    Differentiated::new(model).expect("the model fits together")
}

fn run(system: &dyn System, name: &str, q: &[f64], u: &[f64], options: SimulationOptions) -> (Summary, Vec<Record>) {
    let mut trajectory = Trajectory::new(Recording::Every(1));
    let scheme = scheme::make(name, &Default::default()).expect("a registered scheme");
    let start = State::new(0.0, q.to_vec(), u.to_vec());
    let summary = Simulation::new(system, start, scheme, options).expect("a good start").run_with(&mut trajectory);
    assert_eq!(summary.status, Status::Done, "{name}: {:?}", summary.stop.map(|s| s.to_string()));
    (summary, trajectory.records().to_vec())
}

/// One step of length `dt`.
fn one_step(system: &dyn System, name: &str, solver: &str, q: &[f64], u: &[f64], dt: f64) -> Record {
    let mut options = SimulationOptions::new(dt, dt);
    options.solver = solver.into();
    run(system, name, q, u, options).1.pop().expect("a step")
}

fn of(record: &Record) -> &StepRecord {
    record.step.as_ref().expect("a step led here")
}

/// Percussion of interaction `i` of a kind.
fn percussion(record: &Record, kind: Kind, i: u64) -> &[f64] {
    of(record).percussions.get(((kind as u64) << 32) | i).expect("the interaction is listed")
}

fn contact(record: &Record, i: u64) -> &[f64] {
    percussion(record, Kind::Contact, i)
}

/// The largest state without motion over `steps` steps, with nothing but the step itself computed.
fn run_bare(system: &dyn System, name: &str, q: &[f64], h: f64, steps: usize) -> State {
    let mut options = SimulationOptions::new(h, h * steps as f64);
    options.observe = Observe::NONE;
    let scheme = scheme::make(name, &Default::default()).expect("a registered scheme");
    let start = State::new(0.0, q.to_vec(), vec![0.0; q.len()]);
    let summary = Simulation::new(system, start, scheme, options).expect("a good start").run();
    assert_eq!((summary.status, summary.work.steps, summary.work.rejected), (Status::Done, steps, 0), "{name}");
    summary.end
}

// (a) Studer's mass on a table.

#[test]
fn the_pulled_mass_sticks_with_minus_f_dt_and_slides_with_minus_a_dt_by_every_solver() {
    // [Studer2008, (31)-(35)]: from rest, P = −F dt in constraint mode for |F| < a, P = −a dt impressed for |F| > a;
    // the restitution does not matter at u_B = 0.
    let (mass, bound, dt) = (2.5, 5.0, 0.0137);
    for name in SCHEMES {
        for solver in SOLVERS {
            for e in [0.0, 0.5, 1.0] {
                for force in [-4.9, 0.3, 3.0, 4.999, 5.001, 7.0, -80.0] {
                    let system = take(PulledMass { mass, force, bound, e });
                    let end = one_step(&system, name, solver.name, &[0.0], &[0.0], dt);
                    let p = percussion(&end, Kind::Element, 0)[0];
                    let what = format!("{name}, {}, e = {e}, F = {force}: P = {p:e}", solver.name);
                    let sticks = force.abs() < bound;
                    let expected = if sticks { -force * dt } else { -bound.copysign(force) * dt };
                    // One product in the law and one in the step: a few rounding errors, 1e-14 is 45 of them.
                    assert!((p - expected).abs() <= 1e-14 * expected.abs(), "{what}, expected {expected:e}");
                    let mode = if sticks { Mode::Constraint } else { Mode::Impressed };
                    assert_eq!(of(&end).sigma[0].mode(0), mode, "{what}");
                    let u = (force - bound.min(force.abs()).copysign(force)) * dt / mass;
                    // Rounding of F dt/m.
                    assert!((end.u[0] - u).abs() <= 1e-14 * (force * dt / mass).abs(), "{what}: u = {}", end.u[0]);
                }
            }
        }
    }
}

#[test]
fn with_restitution_a_sliding_mass_is_in_constraint_mode_only_beyond_the_longer_step() {
    // [Studer2008, after (39)]: without pull, the mass stops after dt1 = m u/a, but the element is in constraint
    // mode only for dt > dt2 = (1 + e) m u/a. Generally P = prox(−F dt − (1 + e) m u_B).
    let (mass, bound, u) = (2.0, 4.0, 0.3);
    for name in SCHEMES {
        for solver in SOLVERS {
            for e in [0.0, 0.25, 0.8, 1.0] {
                let system = take(PulledMass { mass, force: 0.0, bound, e });
                let longer = (1.0 + e) * mass * u / bound;
                for (dt, mode) in [(longer * (1.0 - 1e-9), Mode::Impressed), (longer * (1.0 + 1e-9), Mode::Constraint)]
                {
                    let end = one_step(&system, name, solver.name, &[0.0], &[u], dt);
                    let what = format!("{name}, {}, e = {e}, dt = {dt}", solver.name);
                    assert_eq!(of(&end).sigma[0].mode(0), mode, "{what}");
                    let expected = -(bound * dt).min((1.0 + e) * mass * u);
                    let p = percussion(&end, Kind::Element, 0)[0];
                    // A few roundings, as above.
                    assert!((p - expected).abs() <= 1e-14 * expected.abs(), "{what}: {p:e} {expected:e}");
                }
            }
        }
    }
}

// (b) Sticking on a slope.

/// Slope whose tangent is `factor` times μ.
fn slope(mu: f64, factor: f64) -> f64 {
    (mu * factor).atan()
}

#[test]
fn a_point_on_a_slope_sticks_exactly_when_the_tangent_is_below_mu() {
    let mu = 0.4;
    for name in SCHEMES {
        for (factor, sticks) in [(0.5, true), (1.0 - 1e-6, true), (1.0 + 1e-6, false), (2.0, false)] {
            let alpha = slope(mu, factor);
            let system = take(Incline { slope: alpha, mu, mass: 2.0, g: G });
            let (summary, records) = run(&system, name, &[0.0; 2], &[0.0; 2], SimulationOptions::new(1e-3, 2.0));
            check_slope(&summary, &records, name, alpha, mu, sticks, &["slope"]);
        }
    }
}

#[test]
fn a_block_on_two_corners_sticks_exactly_when_the_tangent_is_below_mu() {
    // The corners carry unequally: near the limit the even split of the tangential force is outside the smaller cone.
    let mu = 0.4;
    for name in SCHEMES {
        for (factor, sticks) in [(0.5, true), (1.0 - 1e-6, true), (1.0 + 1e-6, false), (2.0, false)] {
            let alpha = slope(mu, factor);
            let system = take(Block { slope: alpha, mu: Some(mu), ..Block::default() });
            let q = [0.0, 0.25, 0.0];
            let (summary, records) = run(&system, name, &q, &[0.0; 3], SimulationOptions::new(1e-3, 2.0));
            check_slope(&summary, &records, name, alpha, mu, sticks, &["left", "right"]);
        }
    }
}

fn check_slope(
    summary: &Summary,
    records: &[Record],
    name: &str,
    alpha: f64,
    mu: f64,
    sticks: bool,
    contacts: &[&str],
) {
    let end = records.last().expect("records");
    let what = format!("{name}, tan = {} mu: x = {:e}, x' = {:e}", alpha.tan() / mu, end.q[0], end.u[0]);
    if sticks {
        // The solver leaves at most 1e-10 g dt of velocity.
        assert!(end.q[0].abs() <= 1e-10 * G * 1e-3 * end.t, "{what}");
    } else {
        let a = G * (alpha.sin() - mu * alpha.cos());
        let exact = 0.5 * a * end.t * end.t;
        // The solver stops at a residual of 1e-10 g dt while the slope exceeds friction by 1e-6 g: 1e-4; ten times that.
        assert!((end.q[0] - exact).abs() <= 1e-3 * exact, "{what}, exact {exact:e}");
    }
    // The tangential percussion balances the slope, or is μ times the normal one: a sum over 2 s.
    let sum = |k: usize| contacts.iter().map(|c| summary.percussions[*c][k]).sum::<f64>();
    let (normal, tangential) = (sum(0), sum(1));
    let ratio = if sticks { alpha.tan() } else { mu };
    // 2000 steps solved to 1e-10 each.
    assert!((tangential + ratio * normal).abs() <= 1e-9 * normal, "{what}: {normal} {tangential}");
    // What sticks has a contact in constraint mode (another may be at the edge of its cone); what slides has none.
    for r in &records[1..] {
        let held = (0..contacts.len()).any(|i| of(r).sigma[i].mode(1) == Mode::Constraint);
        assert_eq!(held, sticks, "{what} at t = {}", r.t);
    }
}

#[test]
fn a_point_on_a_slope_does_not_creep_in_a_million_steps() {
    let mu = 0.4;
    for name in SCHEMES {
        let system = take(Incline { slope: slope(mu, 0.999), mu, mass: 2.0, g: G });
        let end = run_bare(&system, name, &[0.0; 2], 1e-3, 1_000_000);
        println!("creep of the point, {name}: {:e} m, {:e} m", end.q[0], end.q[1]);
        // The bound that is asked for: 1000 s at velocities of rounding size, 1e-16 · 1e3 s, and a factor of ten.
        assert!(end.q.iter().all(|x| x.abs() <= 1e-12), "{name}: {:?}", end.q);
    }
}

#[test]
fn a_block_on_two_corners_does_not_creep_in_a_million_steps() {
    let mu = 0.4;
    for name in SCHEMES {
        let system = take(Block { slope: slope(mu, 0.999), mu: Some(mu), ..Block::default() });
        let end = run_bare(&system, name, &[0.0, 0.25, 0.0], 1e-3, 1_000_000);
        let moved = [end.q[0], end.q[1] - 0.25, end.q[2]];
        println!("creep of the block, {name}: {moved:?}");
        // As for the point.
        assert!(moved.iter().all(|x| x.abs() <= 1e-12), "{name}: {moved:?}");
    }
}

// (c) A sliding block.

#[test]
fn a_launched_block_slides_its_closed_form_distance_on_both_corners() {
    // Stops after T = v/(μg) at v²/(2μg). With N + 1/2 steps until T, the mean velocity of the last sliding step takes
    // it too far by μg h²/8 and nothing else is approximate: the error is that, and the order is two.
    let (v, mu) = (6.0, 0.5);
    let block = Block { mu: Some(mu), ..Block::default() };
    let (a, b, weight) = (block.a, block.b, block.mass * block.g);
    assert!(a / b >= mu, "a higher block would tip");
    let system = take(block);
    let (stop, distance) = (v / (mu * G), v * v / (2.0 * mu * G));
    for name in SCHEMES {
        let mut errors = Vec::new();
        for n in [50.0, 100.0, 200.0] {
            let h = stop / (n + 0.5);
            let q = [0.0, b, 0.0];
            let (summary, records) = run(&system, name, &q, &[v, 0.0, 0.0], SimulationOptions::new(h, 2.0 * stop));
            let mut sliding = 0;
            for r in &records[1..] {
                let (left, right) = (contact(r, 0), contact(r, 1));
                assert!(left[0] > 0.0 && right[0] > 0.0, "{name}: a corner lifts off at t = {}", r.t);
                // Rotation and lift at rounding size: 1e-16 m/s over 2.4 s, and four decades of room.
                assert!(r.q[2].abs() <= 1e-12 && (r.q[1] - b).abs() <= 1e-12, "{name}: {:?} at t = {}", r.q, r.t);
                if r.t < stop {
                    sliding += 1;
                    // Moment balance: N_right − N_left = μ m g b/a. Solved to 1e-10.
                    let p = weight * h;
                    for (c, sign) in [(left, -1.0), (right, 1.0)] {
                        let normal = 0.5 * p * (1.0 + sign * mu * b / a);
                        assert!((c[0] - normal).abs() <= 1e-9 * p, "{name}: {c:?} {normal}");
                        assert!((c[1] + mu * normal).abs() <= 1e-9 * p, "{name}: {c:?}");
                    }
                }
            }
            assert_eq!(sliding, n as usize);
            let end = records.last().expect("records");
            assert_eq!(
                summary.events.iter().filter(|e| e.kind == EventKind::Stick).count(),
                2,
                "{name}: both corners stick"
            );
            let error = end.q[0] - distance;
            println!("{name}, h = {h:.5}: {:.9} m of {distance:.9} m, error {error:.3e}", end.q[0]);
            // 2n steps solved to 1e-10 of g h each: 1e-9 m at most.
            assert!((error - mu * G * h * h / 8.0).abs() <= 1e-9, "{name}: {error:e}");
            errors.push((h, error));
        }
        for w in errors.windows(2) {
            let order = (w[0].1 / w[1].1).ln() / (w[0].0 / w[1].0).ln();
            println!("{name}: order {order:.4}");
            // The error has one term only; what is left is the 1e-9 m above against 1.5e-5 m.
            assert!((order - 2.0).abs() < 1e-3, "{name}: order {order}");
        }
    }
}

// (d) Spatial friction.

fn on_table(law: ContactLaw, table: [f64; 3]) -> Differentiated<PointOnTable> {
    take(PointOnTable { mass: 1.7, g: G, law, table })
}

#[test]
fn a_point_on_a_table_stops_at_its_closed_form_distance_in_its_direction() {
    let mu = 0.3;
    let (v, direction) = (2.5, [0.6, -0.8]);
    for name in SCHEMES {
        for table in [[0.0; 3], [0.7, 0.0, 0.0], [-0.4, 1.1, 0.0]] {
            let system = on_table(ContactLaw::newton(0.0).coulomb(2, mu), table);
            let stop = v / (mu * G);
            let h = stop / 100.5;
            let end_time = 1.5 * stop;
            let u = [table[0] + v * direction[0], table[1] + v * direction[1], 0.0];
            let (_, records) = run(&system, name, &[0.0; 3], &u, SimulationOptions::new(h, end_time));
            for r in &records[1..] {
                let slip = [r.u[0] - table[0], r.u[1] - table[1]];
                // Slip stays along its first direction: 150 steps solved to 1e-10 of g h.
                let across = slip[0] * direction[1] - slip[1] * direction[0];
                assert!(across.abs() <= 1e-9, "{name}: {across:e} across at t = {}", r.t);
                let p = contact(r, 0);
                if r.t < stop {
                    for k in 0..2 {
                        let expected = -mu * p[0] * direction[k];
                        assert!((p[1 + k] - expected).abs() <= 1e-9 * p[0], "{name}: {p:?} at t = {}", r.t);
                    }
                    assert_eq!(of(r).sigma[0].mode(1), Mode::Impressed, "{name}");
                }
            }
            let end = records.last().expect("records");
            assert_eq!(of(end).sigma[0].mode(1), Mode::Constraint, "{name}: sticks in the end");
            // In the frame of the table the way is v²/(2μg) and the last sliding step adds μg h²/8 (see the block).
            let way = v * v / (2.0 * mu * G) + mu * G * h * h / 8.0;
            for k in 0..2 {
                let expected = table[k] * end.t + way * direction[k];
                assert!((end.q[k] - expected).abs() <= 1e-9, "{name}: {:?}, expected {expected}", end.q);
                assert!((end.u[k] - table[k]).abs() <= 1e-10, "{name}: moves with the table, {:?}", end.u);
            }
        }
    }
}

#[test]
fn polyhedral_friction_turns_towards_the_disc_with_more_facets() {
    // Slip at angle φ from a corner d of the section: friction is −μN d until slip has turned onto the bisector of the two
    // nearest corners, then it goes on along the bisector. So the way deviates by no more than |φ − bisector| ≤ π/facets.
    let (mu, v, phi) = (0.3, 2.0, 0.06);
    let u = [v * f64::cos(phi), v * f64::sin(phi), 0.0];
    for name in SCHEMES {
        let disc = on_table(ContactLaw::newton(0.0).coulomb(2, mu), [0.0; 3]);
        let options = || SimulationOptions::new(1e-3, 1.2);
        let direction = |records: &[Record]| {
            let q = &records.last().expect("records").q;
            q[1].atan2(q[0])
        };
        let (_, records) = run(&disc, name, &[0.0; 3], &u, options());
        assert!((direction(&records) - phi).abs() < 1e-9, "the disc keeps the direction, to the solver's 1e-10");
        let mut last = f64::INFINITY;
        for facets in [4, 8, 16, 32] {
            let polygon = Arc::new(Polygon::regular(facets).expect("a polygon"));
            let system = on_table(ContactLaw::newton(0.0).polyhedral(mu, polygon), [0.0; 3]);
            let (_, records) = run(&system, name, &[0.0; 3], &u, options());
            let bisector = std::f64::consts::PI / f64::from(facets as u32);
            let error = direction(&records) - phi;
            println!("{name}, {facets} facets: direction off by {error:.6} rad, at most {:.6}", bisector - phi);
            assert!(error > 0.0, "slip turns away from the corner at angle 0");
            // The step turns slip past the bisector by at most one step's friction: μ g h/v in angle, near the end more,
            // when hardly any way is left: h in the mean.
            assert!(error <= bisector - phi + 1e-3, "{name}, {facets} facets: {error}");
            assert!(error < last, "{name}: more facets are nearer to the disc");
            last = error;

            // Until slip reaches the bisector the velocity is u − μ g t (1, 0): u_y does not change.
            let turned = (u[0] - u[1] / bisector.tan()) / (mu * G);
            for r in records[1..].iter().take_while(|r| r.t < turned - 1e-3) {
                // Up to 1000 steps solved to 1e-10 of g h.
                assert!(
                    (r.u[0] - (u[0] - mu * G * r.t)).abs() <= 1e-9 && (r.u[1] - u[1]).abs() <= 1e-9,
                    "{name}: {r:?}"
                );
            }
            // On the bisector, friction is the middle of the edge: μ N cos(π/facets).
            let beyond = records[1..].iter().find(|r| r.t > turned + 2e-3).expect("slip reaches the bisector");
            let p = contact(beyond, 0);
            let size = p[1].hypot(p[2]);
            let angle = p[2].atan2(p[1]) + std::f64::consts::PI;
            assert!((size - mu * p[0] * bisector.cos()).abs() <= 1e-9 * p[0], "{name}, {facets} facets: {p:?}");
            assert!((angle - bisector).abs() <= 1e-7, "{name}, {facets} facets: {angle} {bisector}");
        }
    }
}

#[test]
fn a_tresca_bound_gives_bound_times_dt_against_slip_and_nothing_at_an_impact() {
    let (bound, dt) = (3.0, 2e-3);
    let direction = [0.28, 0.96];
    for name in SCHEMES {
        // Falling fast onto the table while sliding: Coulomb would brake by μ times the impulse of the impact.
        for (falling, e) in [(0.0, 0.0), (4.0, 0.0), (4.0, 0.7)] {
            for dim in [1, 2] {
                let direction = if dim == 1 { [1.0, 0.0] } else { direction };
                let law = ContactLaw::newton(e).tresca(dim, bound);
                let system = take(Slider { dim, law });
                let u = [2.0 * direction[0], 2.0 * direction[1], -falling];
                let end = one_step(&system, name, "auto", &[0.0; 3], &u, dt);
                let p = contact(&end, 0);
                let what = format!("{name}, dim {dim}, falling at {falling}: {p:?}");
                // m = 1: the normal percussion carries weight and impact. Everything solved to 1e-10.
                let normal = G * dt + (1.0 + e) * falling;
                assert!((p[0] - normal).abs() <= 1e-9 * normal, "{what}");
                for k in 0..dim {
                    assert!((p[1 + k] + bound * dt * direction[k]).abs() <= 1e-9 * bound * dt, "{what}");
                }
            }
        }
        // And none at all while the contact is open.
        let system = take(Slider { dim: 2, law: ContactLaw::newton(0.0).tresca(2, bound) });
        let end = one_step(&system, name, "auto", &[0.0, 0.0, 1.0], &[2.0, 1.0, 0.0], dt);
        assert_eq!(contact(&end, 0), [0.0; 3], "{name}");
        assert_eq!(end.u[..2], [2.0, 1.0], "{name}");
    }
}

/// A unit point mass over a table with a slip of one or two components.
struct Slider {
    dim: usize,
    law: ContactLaw,
}

impl Model for Slider {
    fn layout(&self) -> Layout {
        Layout::new(["x", "y", "z"]).constant_mass().potential("gravity").linear().contact("table", self.law.clone())
    }
    fn mass<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], m: &mut [T]) {
        for k in 0..3 {
            m[4 * k] = T::from(1.0);
        }
    }
    fn potential<T: Scalar>(&self, _i: usize, _t: T, q: &[T]) -> T {
        q[2] * G
    }
    fn gap<T: Scalar>(&self, _i: usize, _t: T, q: &[T]) -> T {
        q[2]
    }
    fn slip<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], u: &[T], gamma: &mut [T]) {
        gamma.copy_from_slice(&u[..self.dim]);
    }
}

/// A disc (x, y, z, φ about z) on a table with Coulomb-Contensou friction: slip (x', y', r φ').
struct Spinner {
    mu: f64,
    r: f64,
    /// J/(m r²).
    inertia: f64,
}

impl Model for Spinner {
    fn layout(&self) -> Layout {
        Layout::new(["x", "y", "z", "phi"])
            .constant_mass()
            .potential("gravity")
            .linear()
            .contact("table", ContactLaw::newton(0.0).coulomb(3, self.mu))
    }
    fn mass<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], m: &mut [T]) {
        for k in 0..3 {
            m[5 * k] = T::from(1.0);
        }
        m[15] = T::from(self.inertia * self.r * self.r);
    }
    fn potential<T: Scalar>(&self, _i: usize, _t: T, q: &[T]) -> T {
        q[2] * G
    }
    fn gap<T: Scalar>(&self, _i: usize, _t: T, q: &[T]) -> T {
        q[2]
    }
    fn slip<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], u: &[T], gamma: &mut [T]) {
        gamma[0] = u[0];
        gamma[1] = u[1];
        gamma[2] = u[3] * self.r;
    }
}

#[test]
fn spin_lowers_sliding_friction_and_both_stop_together_with_matched_inertia() {
    // J = m r²: the slip s = (x', y', r φ') is braked by μ g along itself, so it keeps its direction, stops after
    // |s|/(μ g), and the way is v|s|/(2 μ g): farther by |s|/v than without spin.
    let (mu, r) = (0.4, 0.2);
    let (v, spin) = ([1.2, -0.9], 10.0);
    let s = [v[0], v[1], r * spin];
    let size = (s[0] * s[0] + s[1] * s[1] + s[2] * s[2]).sqrt();
    let stop = size / (mu * G);
    let h = stop / 80.5;
    let system = take(Spinner { mu, r, inertia: 1.0 });
    for name in SCHEMES {
        let u = [v[0], v[1], 0.0, spin];
        let (_, records) = run(&system, name, &[0.0; 4], &u, SimulationOptions::new(h, 1.5 * stop));
        for record in &records[1..] {
            let p = contact(record, 0);
            if record.t < stop {
                // 80 steps solved to 1e-10 of g h.
                for k in 0..3 {
                    let expected = s[k] * (1.0 - record.t / stop);
                    let found = if k == 2 { r * record.u[3] } else { record.u[k] };
                    assert!((found - expected).abs() <= 1e-9, "{name}: slip {k} at t = {}", record.t);
                    assert!((p[1 + k] + mu * p[0] * s[k] / size).abs() <= 1e-9 * p[0], "{name}: {p:?}");
                }
                let braking = p[1].hypot(p[2]) / p[0];
                assert!(braking < 0.999 * mu, "{name}: spin must lower the sliding friction, {braking}");
            } else if record.t > stop + h {
                assert!(record.u.iter().all(|x| x.abs() <= 1e-9), "{name}: at rest, {:?}", record.u);
            }
        }
        let end = records.last().expect("records");
        // The last sliding step adds μg h²/8 along s (see the block).
        let way = size / (2.0 * mu * G) + mu * G * h * h / 8.0 / size;
        for (k, x) in [(0, end.q[0]), (1, end.q[1]), (2, r * end.q[3])] {
            assert!((x - way * s[k]).abs() <= 1e-9, "{name}: {k} {x} {}", way * s[k]);
        }
    }
}

#[test]
fn with_other_inertias_sliding_and_spin_still_stop_in_the_same_step() {
    // v' = −μ g v/|s|, (rφ')' = −(μ g/κ) rφ'/|s| with κ = J/(m r²): v/v0 = (φ'/φ0')^κ, so that neither stops first.
    let (mu, r, v, spin) = (0.4, 0.2, 1.5, 10.0);
    for kappa in [0.5, 2.0] {
        let system = take(Spinner { mu, r, inertia: kappa });
        for name in SCHEMES {
            let mut errors = Vec::new();
            for h in [2e-3, 1e-3, 5e-4] {
                let u = [v, 0.0, 0.0, spin];
                let (_, records) = run(&system, name, &[0.0; 4], &u, SimulationOptions::new(h, 1.5));
                let mut worst: f64 = 0.0;
                for w in records.windows(2) {
                    let (slides, spins) = (w[1].u[0].abs() > 1e-9, w[1].u[3].abs() > 1e-9);
                    assert_eq!(slides, spins, "{name}, kappa = {kappa}, t = {}: {:?}", w[1].t, w[1].u);
                    if slides {
                        worst = worst.max((w[1].u[0] / v - (w[1].u[3] / spin).powf(kappa)).abs());
                    }
                }
                assert!(records.last().expect("records").u[0].abs() < 1e-9, "{name}: it stops within 1.5 s");
                errors.push(worst);
            }
            println!("{name}, kappa = {kappa}: deviation from v = c spin^kappa {errors:?}");
            // First order in h, from μ g h/|s| of one step: halving h halves it, within a third of the factor.
            for w in errors.windows(2) {
                let ratio = w[0] / w[1];
                assert!((1.5..2.7).contains(&ratio), "{name}, kappa = {kappa}: {errors:?}");
            }
        }
    }
}

// (e) Tangential restitution.

/// A planar ball (x, y, φ) of mass 1 over the ground, without weight.
struct Superball {
    radius: f64,
    inertia: f64,
    law: ContactLaw,
}

impl Model for Superball {
    fn layout(&self) -> Layout {
        Layout::new(["x", "y", "phi"]).constant_mass().contact("ground", self.law.clone())
    }
    fn mass<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], m: &mut [T]) {
        m[0] = T::from(1.0);
        m[4] = T::from(1.0);
        m[8] = T::from(self.inertia);
    }
    fn gap<T: Scalar>(&self, _i: usize, _t: T, q: &[T]) -> T {
        q[1] - self.radius
    }
    fn slip<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], u: &[T], gamma: &mut [T]) {
        gamma[0] = u[0] + u[2] * self.radius;
    }
}

#[test]
fn a_superball_reverses_its_slip_in_stick_mode() {
    // γ_T⁺ = −e_F γ_T⁻, γ_N⁺ = −e_N γ_N⁻; P_T = −(1 + e_F) γ_T⁻/(1 + R²/J), as long as that is inside the cone.
    let (radius, inertia, mu) = (0.5, 0.1, 0.9);
    let u = [1.0, -2.0, 3.0];
    let slip = u[0] + radius * u[2];
    let compliance = 1.0 + radius * radius / inertia;
    for name in SCHEMES {
        for (e_n, e_f) in [(0.5, 0.0), (0.9, 0.9), (1.0, 1.0), (0.0, 0.4)] {
            let law = ContactLaw::newton(e_n).coulomb(1, mu).tangential_restitution(e_f);
            let system = take(Superball { radius, inertia, law });
            let end = one_step(&system, name, "auto", &[0.0, radius, 0.0], &u, 1e-3);
            let p = contact(&end, 0);
            let what = format!("{name}, e_N = {e_n}, e_F = {e_f}: {p:?}");
            let (normal, tangential) = ((1.0 + e_n) * 2.0, -(1.0 + e_f) * slip / compliance);
            assert!(tangential.abs() < mu * normal, "the case sticks");
            // Linear in the mode found: a few rounding errors of numbers of order one.
            let exact = [u[0] + tangential, u[1] + normal, u[2] + radius * tangential / inertia];
            for k in 0..3 {
                assert!((end.u[k] - exact[k]).abs() <= 1e-13, "{what}: {:?} {exact:?}", end.u);
            }
            assert!((end.u[0] + radius * end.u[2] + e_f * slip).abs() <= 1e-13, "{what}");
            assert!((p[0] - normal).abs() <= 1e-13 && (p[1] - tangential).abs() <= 1e-13, "{what}");
            assert_eq!(of(&end).sigma[0].mode(1), Mode::Constraint, "{what}");
            if (e_n, e_f) == (1.0, 1.0) {
                // The perfect superball keeps its energy.
                let energy = |u: &[f64]| u[0] * u[0] + u[1] * u[1] + inertia * u[2] * u[2];
                assert!((energy(&end.u) - energy(&u)).abs() <= 1e-12, "{what}");
            }
        }
        // With little friction it slips: P_T = −μ P_N, and the restitution has no say.
        let law = ContactLaw::newton(0.5).coulomb(1, 0.05).tangential_restitution(0.9);
        let system = take(Superball { radius, inertia, law });
        let end = one_step(&system, name, "auto", &[0.0, radius, 0.0], &u, 1e-3);
        let p = contact(&end, 0);
        assert!((p[0] - 3.0).abs() <= 1e-13 && (p[1] + 0.05 * 3.0).abs() <= 1e-13, "{name}: {p:?}");
        assert_eq!(of(&end).sigma[0].mode(1), Mode::Impressed, "{name}");
    }
}

// (f) Obstacles that move along their normal.

#[test]
fn an_impact_on_a_rising_table_reflects_the_relative_velocity() {
    for name in SCHEMES {
        for e in [0.0, 0.6, 1.0] {
            for rising in [-0.5, 0.0, 1.5] {
                let fall = -2.0;
                let system = on_table(ContactLaw::newton(e).coulomb(2, 0.3), [0.0, 0.0, rising]);
                let end = one_step(&system, name, "auto", &[0.0; 3], &[0.4, 0.0, fall], 1e-3);
                // u⁺ = (1 + e) v_table − e u⁻, a linear law: rounding only.
                let exact = (1.0 + e) * rising - e * fall;
                assert!((end.u[2] - exact).abs() <= 1e-13, "{name}, e = {e}, table {rising}: {} {exact}", end.u[2]);
            }
        }
    }
}

/// A ball over a table that oscillates as A sin ωt.
struct Shaken {
    amplitude: f64,
    omega: f64,
    e: f64,
}

impl Model for Shaken {
    fn layout(&self) -> Layout {
        Layout::new(["z"])
            .constant_mass()
            .potential("gravity")
            .linear()
            .contact("table", ContactLaw::newton(self.e))
            .moving()
    }
    fn mass<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], m: &mut [T]) {
        m[0] = T::from(1.0);
    }
    fn potential<T: Scalar>(&self, _i: usize, _t: T, q: &[T]) -> T {
        q[0] * G
    }
    fn gap<T: Scalar>(&self, _i: usize, t: T, q: &[T]) -> T {
        q[0] - (t * self.omega).sin() * self.amplitude
    }
}

#[test]
fn an_impact_on_a_shaken_table_has_the_velocity_of_the_closed_form() {
    let (amplitude, omega, e) = (0.05, 8.0, 0.7);
    let system = take(Shaken { amplitude, omega, e });
    let z0 = 0.4;
    // First zero of z0 − g t²/2 − A sin ωt by bisection: the gap falls monotonically from t = 0.2 on.
    let gap = |t: f64| z0 - 0.5 * G * t * t - amplitude * (omega * t).sin();
    let (mut low, mut high) = (0.2, 0.4);
    assert!(gap(low) > 0.0 && gap(high) < 0.0);
    for _ in 0..60 {
        let mid = 0.5 * (low + high);
        if gap(mid) > 0.0 { low = mid } else { high = mid }
    }
    let table = amplitude * omega * (omega * low).cos();
    let exact = (1.0 + e) * table + e * G * low;
    for name in SCHEMES {
        let h = 1e-4;
        let (summary, records) = run(&system, name, &[z0], &[0.0], SimulationOptions::new(h, 0.5));
        let impact = summary.events.iter().find(|e| e.kind == EventKind::Impact).expect("an impact").t;
        let after =
            records.iter().find(|r| r.step.is_some() && contact(r, 0)[0] > 0.0).expect("the step of the impact");
        // The impact is made up to two steps late, at table and ball velocities of that time.
        let tolerance = 2.0 * h * ((1.0 + e) * amplitude * omega * omega + e * G);
        assert!(
            (impact - low).abs() <= 2.0 * h && (after.t - low).abs() <= 2.0 * h,
            "{name}: {impact} {} {low}",
            after.t
        );
        assert!((after.u[0] - exact).abs() <= tolerance, "{name}: {} {exact} {tolerance:e}", after.u[0]);
    }
}

#[test]
fn a_ball_rests_on_a_table_that_is_shaken_gently() {
    // A ω² < g: the ball stays on the table. The law is on velocity level: the gap drifts by A ω³ h³/12 in a step, and where
    // it opens, the ball falls for one step and is caught, (g − Aω²) h² deep. That is more than the drift of the whole run.
    let (amplitude, omega, h) = (0.05, 8.0, 1e-3);
    let system = take(Shaken { amplitude, omega, e: 0.0 });
    let (shaking, table) = (amplitude * omega * omega, |t: f64| amplitude * omega * (omega * t).cos());
    let (drift, steps) = (amplitude * omega.powi(3) * h.powi(3) / 12.0, 2000.0);
    assert!(shaking < G && (G - shaking) * h * h > drift * steps);
    let (_, records) = run(&system, "moreau-jean", &[0.0], &[table(0.0)], SimulationOptions::new(h, steps * h));
    let mut lost = 0;
    for w in records.windows(2) {
        let r = &w[1];
        let (gap, velocity) = (r.q[0] - amplitude * (omega * r.t).sin(), r.u[0] - table(r.t));
        // One step of free fall in velocity, two half steps in position, and the drift of all steps.
        assert!(velocity.abs() <= (G + shaking) * h, "t = {}: velocity {velocity:e}", r.t);
        assert!(gap.abs() <= (G + shaking) * h * h + drift * steps, "t = {}: gap {gap:e}", r.t);
        if !of(r).active[0] {
            lost += 1;
            continue;
        }
        // The law at the end of the step: rounding.
        assert!(velocity.abs() <= 1e-12, "t = {}: {velocity:e}", r.t);
        if w[0].step.as_ref().is_some_and(|s| s.active[0]) {
            // Mean force over a step against m (g − A ω² sin ωt) in its middle: A ω⁴ h²/24.
            let exact = G - shaking * (omega * (r.t - 0.5 * h)).sin();
            let force = contact(r, 0)[0] / h;
            assert!((force - exact).abs() <= amplitude * omega.powi(4) * h * h / 24.0 + 1e-9, "{force} {exact}");
        }
    }
    assert!(lost <= 1, "lost {lost} times");
}
