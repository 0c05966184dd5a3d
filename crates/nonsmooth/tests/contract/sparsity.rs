//! Large and sparse: systems of many equal parts move as one part, whatever the kernel of their matrix.

use super::{BOTH, distance, run, take};
use complementarity::linear::Matrix;
use nonsmooth::System;
use nonsmooth_reference::{Ball, Balls, Chain, Ring};

fn kernel(system: &dyn System) -> &'static str {
    Matrix::new(&system.structure().pattern).kernel_name()
}

fn mass_kernel(system: &dyn System) -> &'static str {
    Matrix::new(&system.structure().mass_pattern).kernel_name()
}

#[test]
fn two_hundred_balls_move_as_one() {
    let (many, one) = (take(Balls { count: 200, e: 0.5 }), take(Ball::default()));
    assert_eq!(kernel(&many), "diagonal");
    let height = |i: usize| 0.5 + 0.005 * (i % 7) as f64;
    let q: Vec<f64> = (0..200).map(height).collect();
    for name in BOTH {
        let (summary, records) = run(&many, name, &q, &[0.0; 200], 1e-3, 2.5);
        assert!(summary.energy.closure <= 1e-9, "{name}: {:?}", summary.energy);
        for i in 0..7 {
            let (_, single) = run(&one, name, &[height(i)], &[0.0], 1e-3, 2.5);
            for (r, s) in records.iter().zip(&single) {
                for k in (i..200).step_by(7) {
                    // Independent problems: the same arithmetic up to rounding; 1e-10 as asked.
                    assert!(
                        (r.q[k] - s.q[0]).abs() <= 1e-10 && (r.u[k] - s.u[0]).abs() <= 1e-10,
                        "{name}: ball {k} {}",
                        r.t
                    );
                }
            }
        }
    }
}

#[test]
fn a_chain_of_three_hundred_masses_moves_as_its_groups_of_twenty() {
    let chain = |count| take(Chain { count, group: 20, k: 50.0, c: 400.0, stop: 0.15, e: 0.5 });
    let (long, short) = (chain(300), chain(20));
    assert_eq!((kernel(&long), kernel(&short)), ("banded", "dense"));
    // Springs couple the masses, not their mass: schemes without Jacobians pay for nothing else.
    assert_eq!((mass_kernel(&long), mass_kernel(&short)), ("diagonal", "dense"));
    let q: Vec<f64> = (0..20).map(|i| 0.1 * (0.9 * f64::from(i)).sin()).collect();
    let u: Vec<f64> = (0..20).map(|i| if i == 19 { -1.0 } else { 0.0 }).collect();
    let (many_q, many_u) = (q.repeat(15), u.repeat(15));
    for name in BOTH {
        let (a, ra) = run(&long, name, &many_q, &many_u, 2e-3, 1.5);
        let (b, rb) = run(&short, name, &q, &u, 2e-3, 1.5);
        assert!(b.events.iter().any(|e| e.kind.name() == "impact"), "{name}: the stop is hit");
        assert_eq!(a.events.len(), 15 * b.events.len(), "{name}");
        for (r, s) in ra.iter().zip(&rb) {
            for g in 0..15 {
                // Both are solved to 1e-10 of a step's terms and more; the motion is not chaotic in 1.5 s.
                let part = g * 20..(g + 1) * 20;
                let d = distance(&r.q[part.clone()], &s.q).max(distance(&r.u[part], &s.u));
                assert!(d <= 1e-10, "{name}, group {g}, t = {}: {d:e}", r.t);
            }
        }
    }
}

#[test]
fn a_ring_with_far_springs_moves_as_a_small_ring() {
    let ring = |count| take(Ring { count, far: 10, k: 50.0, c: 400.0 });
    let (large, small) = (ring(120), ring(20));
    assert_eq!((kernel(&large), kernel(&small)), ("sparse", "dense"));
    let q: Vec<f64> = (0..20).map(|i| 0.1 * (0.9 * f64::from(i)).sin()).collect();
    let u: Vec<f64> = (0..20).map(|i| 0.5 * (2.3 * f64::from(i)).cos()).collect();
    for name in BOTH {
        let (_, ra) = run(&large, name, &q.repeat(6), &u.repeat(6), 2e-3, 1.0);
        let (_, rb) = run(&small, name, &q, &u, 2e-3, 1.0);
        for (r, s) in ra.iter().zip(&rb) {
            for g in 0..6 {
                let part = g * 20..(g + 1) * 20;
                // As for the chain.
                let d = distance(&r.q[part.clone()], &s.q).max(distance(&r.u[part], &s.u));
                assert!(d <= 1e-10, "{name}, copy {g}, t = {}: {d:e}", r.t);
            }
        }
    }
}
