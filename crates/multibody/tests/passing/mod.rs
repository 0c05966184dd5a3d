//! Nothing passes through anything in silence: pairs of shapes × schemes × speeds × phases. `examples/passing.rs` takes many more phases.

mod cases;

use cases::{Outcome, cases};
use nonsmooth::scheme::SCHEMES;

/// Motion in a step over the depth of the middle, and where in a step bodies meet.
const RATIO: f64 = 5.0;
const PHASE: f64 = 0.37;
/// One pair of shapes of so many is taken: a fixed wall, a spinning body, a driven wall, and free bodies are among them.
const EVERY: usize = 4;

#[test]
fn nothing_passes_through_anything_in_silence() {
    let (mut held, mut stopped, mut halved) = (0, 0, 0);
    for scheme in SCHEMES {
        for case in cases().iter().step_by(EVERY) {
            match case.run(scheme.name, RATIO, PHASE) {
                Outcome::Held(rejected) => {
                    held += 1;
                    halved += usize::from(rejected > 0 && !scheme.adaptive);
                }
                Outcome::Stopped(_) => stopped += 1,
                Outcome::Passed(nearest) => panic!("{}, {}: {nearest}", scheme.name, case.name),
            }
        }
    }
    // A scheme with steps of one length stops; the others hold nearly all by halved steps.
    assert!(held > 4 * stopped, "{held} held, {stopped} stopped");
    assert!(halved > 30, "{halved} held by halved steps");
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
