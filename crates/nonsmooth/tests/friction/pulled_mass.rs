//! Studer's mass on a table: percussions and modes of single steps, by every solver.

use super::{SCHEMES, of, one_step, percussion, take};
use complementarity::{Mode, solver::SOLVERS};
use nonsmooth::contract::Kind;
use nonsmooth_reference::PulledMass;

/// Whether a solver ends one set at rounding accuracy; the others tend to the solution and stop at the tolerance.
fn ends_exactly(solver: &str) -> bool {
    !matches!(solver, "proximal" | "admm")
}

#[test]
fn solvers_that_stop_at_the_tolerance_keep_it() {
    let (mass, bound, dt) = (2.5, 5.0, 0.0137);
    for solver in SOLVERS.iter().filter(|s| !ends_exactly(s.name)) {
        for force in [-4.9, 0.3, 3.0, 4.999, 5.001, 7.0, -80.0f64] {
            let system = take(PulledMass { mass, force, bound, e: 0.5 });
            let end = one_step(&system, "moreau-jean", solver.name, &[0.0], &[0.0], dt);
            let p = percussion(&end, Kind::Element, 0)[0];
            let expected = -force.clamp(-bound, bound) * dt;
            // The residual is relative to F dt/m and is a velocity; times m it is a percussion: 1e-10 · F dt.
            assert!((p - expected).abs() <= 1.1e-10 * (force * dt).abs(), "{}: {p:e} {expected:e}", solver.name);
        }
    }
}

#[test]
fn the_pulled_mass_sticks_with_minus_f_dt_and_slides_with_minus_a_dt_by_every_solver() {
    // [Studer2008, (31)-(35)]: from rest, P = −F dt in constraint mode for |F| < a, P = −a dt impressed for |F| > a;
    // the restitution does not matter at u_B = 0.
    let (mass, bound, dt) = (2.5, 5.0, 0.0137);
    for name in SCHEMES {
        for solver in SOLVERS.iter().filter(|s| ends_exactly(s.name)) {
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
        for solver in SOLVERS.iter().filter(|s| ends_exactly(s.name)) {
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
