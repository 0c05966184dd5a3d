//! What the general sparse LU costs: analysis, factorisation with kept analysis, solve, on matrices of three kinds.
//!
//! `cargo run --release -p complementarity --example sparse_lu`

use complementarity::linear::{Matrix, Pattern};
use std::time::Instant;

/// A matrix as a sum of cliques.
struct Case {
    name: String,
    n: usize,
    cliques: Vec<(Vec<usize>, Vec<f64>)>,
}

/// A fixed pseudo-random sequence in [-1, 1).
fn sequence() -> impl FnMut() -> f64 {
    let mut s = 88_172_645_463_325_252_u64;
    move || {
        s ^= s << 13;
        s ^= s >> 7;
        s ^= s << 17;
        (s >> 11) as f64 / (1u64 << 53) as f64 * 2.0 - 1.0
    }
}

/// Springs between the nodes of a k × k grid, two unknowns per node.
fn grid(k: usize, random: &mut impl FnMut() -> f64) -> Case {
    let at = |i: usize, j: usize| 2 * (i * k + j);
    let mut cliques = Vec::new();
    for (i, j) in (0..k * k).map(|n| (n / k, n % k)) {
        cliques.push((vec![at(i, j), at(i, j) + 1], vec![1.0, 0.1, 0.1, 1.0]));
        for (a, b) in [(i + 1, j), (i, j + 1)].into_iter().filter(|(a, b)| *a < k && *b < k) {
            let entry = |p: usize, q: usize, r: f64| match (p == q, p % 2 == q % 2) {
                (true, _) => 2.0,
                (false, true) => -1.8,
                (false, false) => 0.1 * r,
            };
            let values = (0..16).map(|m| entry(m / 4, m % 4, random())).collect();
            cliques.push((vec![at(i, j), at(i, j) + 1, at(a, b), at(a, b) + 1], values));
        }
    }
    Case { name: format!("grid {k} x {k}"), n: 2 * k * k, cliques }
}

/// Planar bodies in a chain of revolute joints: masses, and multipliers with a zero diagonal.
fn chain(k: usize, random: &mut impl FnMut() -> f64) -> Case {
    let mut cliques = Vec::new();
    for i in 0..k {
        cliques.push((vec![3 * i, 3 * i + 1, 3 * i + 2], vec![2.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.1]));
        for r in 0..2 {
            for (body, sign) in [(Some(i), 1.0), (i.checked_sub(1), -1.0)] {
                let Some(b) = body else { continue };
                let w = [sign, 0.5 * random()];
                let values = vec![0.0, 0.0, w[0], 0.0, 0.0, w[1], w[0], w[1], 0.0];
                cliques.push((vec![3 * b + r, 3 * b + 2, 3 * k + 2 * i + r], values));
            }
        }
    }
    Case { name: format!("chain {k}"), n: 5 * k, cliques }
}

/// Unsymmetric couplings of unknowns that are near each other, one in twenty far.
fn near(n: usize, random: &mut impl FnMut() -> f64) -> Case {
    let mut cliques = Vec::new();
    for i in 0..n {
        let mut dofs = vec![i];
        dofs.extend((0..3).map(|_| (i + (6.0 * random()).abs() as usize) % n));
        if i % 20 == 0 {
            dofs.push((random().abs() * n as f64) as usize % n);
        }
        dofs.sort_unstable();
        dofs.dedup();
        let m = dofs.len();
        let values = (0..m * m).map(|k| if k % (m + 1) == 0 { 3.0 } else { random() }).collect();
        cliques.push((dofs, values));
    }
    Case { name: format!("near {n}"), n, cliques }
}

fn measure(case: &Case) {
    let clock = Instant::now();
    let mut pattern = Pattern::new(case.n);
    case.cliques.iter().for_each(|(dofs, _)| pattern.couple(dofs));
    let mut matrix = Matrix::new(&pattern);
    let analysis = clock.elapsed().as_secs_f64();
    case.cliques.iter().for_each(|(dofs, values)| matrix.add_clique(dofs, values));
    let b: Vec<f64> = (0..case.n).map(|i| (i as f64).cos()).collect();
    let (mut factor, mut solve, mut x) = (f64::MAX, f64::MAX, Vec::new());
    for _ in 0..15 {
        let mut copy = matrix.clone();
        let clock = Instant::now();
        if copy.factor().is_err() {
            println!("{:<14} {:>7}  singular", case.name, case.n);
            return;
        }
        factor = factor.min(clock.elapsed().as_secs_f64());
        x = b.clone();
        let clock = Instant::now();
        copy.solve(&mut x);
        solve = solve.min(clock.elapsed().as_secs_f64());
    }
    let mut y = vec![0.0; case.n];
    matrix.multiply(&x, &mut y);
    let residual = y.iter().zip(&b).fold(0.0f64, |m, (y, b)| m.max((y - b).abs()));
    let us = 1e6;
    println!(
        "{:<14} {:>7} {:>12.0} {:>12.0} {:>9.1} {residual:>10.1e}",
        case.name,
        case.n,
        us * analysis,
        us * factor,
        us * solve
    );
}

fn main() {
    let mut random = sequence();
    println!(
        "{:<14} {:>7} {:>12} {:>12} {:>9} {:>10}",
        "matrix", "n", "analysis us", "factor us", "solve us", "residual"
    );
    [15, 40, 100].into_iter().for_each(|k| measure(&grid(k, &mut random)));
    [20, 200, 3000].into_iter().for_each(|k| measure(&chain(k, &mut random)));
    [300, 3000, 20_000].into_iter().for_each(|n| measure(&near(n, &mut random)));
}
