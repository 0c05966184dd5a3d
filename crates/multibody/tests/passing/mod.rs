//! Nothing passes through anything in silence: pairs of shapes × schemes × speeds × phases. `examples/passing.rs` takes many more phases.

mod cases;

use cases::{Outcome, cases};
use nonsmooth::scheme::SCHEMES;

/// Motion in a step over the depth of the middle: just not through it, and far beyond. Where in a step bodies meet.
const RATIOS: [f64; 2] = [0.99, 5.0];
const PHASES: [f64; 2] = [0.37, 0.91];
/// Of schemes that choose their steps one of so many pairs is taken: resting pairs of flat sides take them seconds.
const EVERY: usize = 3;

#[test]
fn nothing_passes_through_anything_in_silence() {
    let (mut held, mut stopped, mut halved) = (0, 0, 0);
    for scheme in SCHEMES {
        for case in cases().iter().step_by(if scheme.adaptive { EVERY } else { 1 }) {
            for (ratio, phase) in RATIOS.iter().flat_map(|r| PHASES.map(|p| (*r, p))) {
                match case.run(scheme.name, ratio, phase) {
                    Outcome::Held(rejected) => {
                        held += 1;
                        halved += usize::from(rejected > 0 && ratio > 1.0 && !scheme.adaptive);
                    }
                    Outcome::Stopped(_) => stopped += 1,
                    Outcome::Passed(nearest) => {
                        panic!("{}, {}, {ratio} depths in a step, phase {phase}: {nearest}", scheme.name, case.name)
                    }
                }
            }
        }
    }
    // A scheme with steps of one length stops; the others hold nearly all by halved steps.
    assert!(held > 8 * stopped, "{held} held, {stopped} stopped");
    assert!(halved > 200, "{halved} held by halved steps");
}

#[test]
fn steps_within_the_bound_are_not_halved_for_bodies_that_stay_outside() {
    // At half the depth of the middle no phase of an explicit step goes deeper than that.
    for case in cases().iter().filter(|c| ["disc, segment", "two discs", "rectangle, rectangle"].contains(&c.name)) {
        for k in 0..10 {
            let outcome = case.run("moreau-jean", 0.49, (f64::from(k) + 0.5) / 10.0);
            assert_eq!(outcome, Outcome::Held(0), "{}", case.name);
        }
    }
}
