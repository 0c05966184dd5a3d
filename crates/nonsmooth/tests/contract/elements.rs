//! Elements: a spring with pre-stress, whose law has a box that is not symmetric.

use super::{BOTH, run, take};
use nonsmooth::law::ElementLaw;
use nonsmooth::{Layout, Model, Scalar};

/// A unit mass on a spring with pre-stress 3 N that cannot be compressed, under a load that grows with 2 N/s.
struct PreStressed;

impl Model for PreStressed {
    fn layout(&self) -> Layout {
        let law = ElementLaw::boxed(vec![(-3.0, f64::INFINITY)], vec![(0.0, f64::INFINITY)]);
        Layout::new(["x"]).constant_mass().force("load").linear().element("spring", 1, law)
    }
    fn mass<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], m: &mut [T]) {
        m[0] = T::from(1.0);
    }
    fn force<T: Scalar>(&self, _i: usize, t: T, _q: &[T], _u: &[T], h: &mut [T]) {
        h[0] = t * 2.0 - 1.0;
    }
    fn element<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], u: &[T], gamma: &mut [T]) {
        gamma[0] = u[0];
    }
}

#[test]
fn a_pre_stressed_spring_gives_way_only_beyond_its_pre_stress() {
    // The load 2t − 1 pushes against the stiff side first, then pulls; it exceeds 3 N at t = 2, and then
    // x'' = 2(t − 2): x = (t − 2)³/3.
    let system = take(PreStressed);
    let h = 1e-2;
    for name in BOTH {
        let (summary, records) = run(&system, name, &[0.0], &[0.0], h, 4.0);
        for r in &records[1..] {
            let step = r.step.as_ref().expect("a step");
            let p = step.percussions.values()[0];
            // Mean load of the step: linear, so the middle is exact.
            let load = 2.0 * (r.t - 0.5 * h) - 1.0;
            let s = (r.t - 2.0).max(0.0);
            if r.t <= 2.0 + 1e-9 {
                // Held by the law: rounding.
                assert!(r.q[0].abs() <= 1e-14 && (p + load * h).abs() <= 1e-12, "{name}, t = {}: {} {p}", r.t, r.q[0]);
            } else {
                // P = −3 dt at the lower bound; x to the midpoint rule's h²/12 of x''' t.
                assert!((p + 3.0 * h).abs() <= 1e-12, "{name}, t = {}: {p}", r.t);
                assert!((r.q[0] - s * s * s / 3.0).abs() <= h * h * s, "{name}, t = {}: {}", r.t, r.q[0]);
                assert!((r.u[0] - s * s).abs() <= 1e-9, "{name}, t = {}: {}", r.t, r.u[0]);
            }
        }
        let slips: Vec<f64> = summary.events.iter().map(|e| e.t).collect();
        assert_eq!(slips.len(), 1, "{name}: {:?}", summary.events);
        assert!((slips[0] - 2.0).abs() <= 1.01 * h, "{name}: {slips:?}");
    }
}
