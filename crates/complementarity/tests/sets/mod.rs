//! Properties of the convex sets: projection, its Jacobians, modes, validation, JSON.
//!
//! What a property compares with is computed here from the definition of the set, never with the code under test.

mod jacobians;
mod json;
mod modes;
mod natural_map;
mod projection;
mod samples;
mod validation;

use complementarity::Set;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// The same cases in every run.
fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        rng_seed: RngSeed::Fixed(20_080_101),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

fn projected(set: &Set, x: &[f64]) -> Vec<f64> {
    let mut p = x[..set.dim()].to_vec();
    set.project(&mut p);
    p
}

fn minus(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(x, y)| x - y).collect()
}

/// Rounding of a projection of numbers of this size: some thirty operations, among them a division by the angle
/// between neighbouring generators (sin² 45° for the octagon, 0.2 for the irregular pentagon).
fn rounding(size: f64) -> f64 {
    200.0 * f64::EPSILON * (1.0 + size)
}
