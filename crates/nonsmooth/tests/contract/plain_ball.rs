//! The first test of the design: a ball by hand runs every scheme.

use super::{run, take};
use nonsmooth::law::ContactLaw;
use nonsmooth::scheme::SCHEMES;
use nonsmooth::{Layout, Model, Scalar, System};

struct PlainBall;

impl Model for PlainBall {
    fn layout(&self) -> Layout {
        Layout::new(["q"]).potential("weight").contact("ground", ContactLaw::newton(0.5))
    }
    fn mass<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], m: &mut [T]) {
        m[0] = T::from(1.0);
    }
    fn potential<T: Scalar>(&self, _i: usize, _t: T, q: &[T]) -> T {
        q[0] * 2.0
    }
    fn gap<T: Scalar>(&self, _i: usize, _t: T, q: &[T]) -> T {
        q[0]
    }
}

#[test]
fn the_plain_bouncing_ball_runs_every_scheme() {
    let ball = take(PlainBall);
    assert!(SCHEMES.len() >= 2);
    for info in SCHEMES {
        if info.supports.missing(&ball.structure().needs).is_some() {
            assert_eq!(info.name, "position-theta", "the contrast without restitution is the only one that refuses it");
            continue;
        }
        let h = 1e-3;
        let (summary, records) = run(&ball, info.name, &[1.0], &[0.0], h, 5.0);
        // Impacts accumulate at t = 3 in the exact motion; velocity errors of O(h) delay that by O(h).
        let last = records.last().expect("records");
        // Projected without a percussion, a ball never rests (Acary 2013, 4.5): it hops by what its weight makes of u in two steps.
        let hop = if info.name == "projected-direct" { 2.0 * 2.0 * h } else { 1e-10 };
        assert!(last.u[0].abs() <= hop && last.q[0].abs() <= 2.0 * 2.0 * h, "{}: {last:?}", info.name);
        assert!(summary.energy.closure <= 1e-9, "{}: {:?}", info.name, summary.energy);
        assert!(summary.worst.residual() <= 1e-9, "{}: {:?}", info.name, summary.worst);
        let kinds: Vec<&str> = summary.events.iter().map(|e| e.kind.name()).collect();
        assert!(kinds.contains(&"impact") && kinds.contains(&"close"), "{}: {kinds:?}", info.name);
    }
}
