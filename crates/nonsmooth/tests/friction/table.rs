//! Spatial friction of a point on a table: Coulomb's disc, polygons instead of it, a bound of Tresca.

use super::{G, SCHEMES, contact, of, one_step, run, take};
use complementarity::{Mode, Polygon};
use nonsmooth::law::ContactLaw;
use nonsmooth::simulation::Record;
use nonsmooth::{Differentiated, Layout, Model, Scalar, SimulationOptions};
use nonsmooth_reference::PointOnTable;
use std::sync::Arc;

pub(crate) fn on_table(law: ContactLaw, table: [f64; 3]) -> Differentiated<PointOnTable> {
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
            // In the frame of the table the way is v²/(2μg) and the last sliding step adds μg h²/8 (see `sliding_block.rs`).
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
