//! One problem with friction in every format, made here.

#![allow(dead_code)] // not every test needs all of it

use complementarity::format::write_fclib::{self, About};
use complementarity::linear::{Dense, Pattern};
use complementarity::{FullProblem, Problem, Set};

/// Two planar contacts of four unknowns: masses, force directions (columns of W are the rows here), momenta, friction.
pub(crate) const M: [f64; 4] = [2.0, 4.0, 1.0, 0.5];
pub(crate) const W: [[f64; 4]; 4] =
    [[2.0, 0.0, 1.0, 0.0], [0.0, 4.0, 0.0, 0.5], [1.0, 0.0, -1.0, 0.0], [0.0, 1.0, 0.0, 1.0]];
pub(crate) const F: [f64; 4] = [-3.0, 6.0, 1.0, -0.25];
pub(crate) const C: [f64; 4] = [0.25, 0.0, 0.5, -0.125];
pub(crate) const MU: [f64; 2] = [0.5, 0.25];

/// A = Wᵀ M⁻¹ W, exact in binary.
pub(crate) fn a() -> [[f64; 4]; 4] {
    let entry = |i: usize, j: usize| (0..4).map(|k| W[i][k] * W[j][k] / M[k]).sum();
    std::array::from_fn(|i| std::array::from_fn(|j| entry(i, j)))
}

/// b = Wᵀ M⁻¹ f + c.
pub(crate) fn b() -> [f64; 4] {
    std::array::from_fn(|i| C[i] + (0..4).map(|k| W[i][k] * F[k] / M[k]).sum::<f64>())
}

fn sets() -> Vec<Set> {
    MU.iter().map(|&mu| Set::Coulomb { dim: 1, mu }).collect()
}

pub(crate) fn reduced() -> Problem {
    Problem::dense(sets(), Dense::from_rows(4, 4, a().concat()).unwrap(), b().to_vec()).unwrap()
}

pub(crate) fn full() -> FullProblem {
    let mut p = FullProblem::new(&Pattern::new(4));
    (0..4).for_each(|i| p.matrix.add(i, i, M[i]));
    p.f.copy_from_slice(&F);
    for (i, set) in sets().into_iter().enumerate() {
        let rows = [W[2 * i], W[2 * i + 1]].concat();
        p.push_block(set, &[0, 1, 2, 3], &C[2 * i..2 * i + 2]).copy_from_slice(&rows);
    }
    p
}

fn words(numbers: impl IntoIterator<Item = f64>) -> String {
    numbers.into_iter().map(|v| format!("{v:?} ")).collect::<String>() + "\n"
}

/// A line per column.
pub(crate) fn dense_text() -> String {
    let columns: String = (0..4).map(|j| words((0..4).map(|i| a()[i][j]))).collect();
    format!("2\n2\n0\n4\n4\n4\t4\n{columns}{}{}", words(b()), words(MU))
}

/// Blocks with their ordinals, each column by column.
pub(crate) fn block_text() -> String {
    let block = |k: usize| {
        let (i, j) = (2 * (k / 2), 2 * (k % 2));
        format!("{k}\n{}", words([a()[i][j], a()[i + 1][j], a()[i][j + 1], a()[i + 1][j + 1]]))
    };
    let blocks: String = (0..4).map(block).collect();
    format!("2\n2\n1\n4\n4\n4\n2\n2\n2\t4\n2\t4\n3\n4\n0\t2\t4\n0\t1\t0\t1\n{blocks}{}{}", words(b()), words(MU))
}

/// A print-out of compressed columns.
pub(crate) fn column_text() -> String {
    let column = |j: usize| {
        let lines: String = (0..4).map(|i| format!("      {i} : {:?}\n", a()[i][j])).collect();
        format!("    col {j} : locations {} to {}\n{lines}", 4 * j, 4 * j + 3)
    };
    let columns: String = (0..4).map(column).collect();
    format!(
        "2\n2\n2\n4\n4\n2\nCSparse Version 3.1.9, May 4, 2016.  Copyright\n4-by-4, nzmax: 16 nnz: 16, 1-norm: 9\n{columns}{}{}",
        words(b()),
        words(MU)
    )
}

/// Every format with its kind and file name.
pub(crate) fn every_format() -> Vec<(&'static str, &'static str, Vec<u8>)> {
    let names = ["left".to_string(), "right".to_string()];
    vec![
        ("dense.dat", "friction2d", dense_text().into_bytes()),
        ("blocks.dat", "friction2d", block_text().into_bytes()),
        ("columns.dat", "friction2d", column_text().into_bytes()),
        ("local.hdf5", "friction2d", write_fclib::local(&reduced(), About::default()).unwrap()),
        ("global.hdf5", "friction2d", write_fclib::global(&full(), About::default()).unwrap()),
        ("reduced.json", "reduced", reduced().to_json().into_bytes()),
        ("full.json", "full", full().to_json(&names, &[0.0; 4]).into_bytes()),
    ]
}

/// 0 ≤ u = [2 1; 1 2] r − (1, 1) ⊥ r ≥ 0, whose solution is r = (1/3, 1/3).
pub(crate) const LCP: &str = "2\n0\n2\n2\n2\t2\n2 1\n1 2\n-1 -1\n";
/// The first row an equality: u₀ = r₀ + r₁ − 1 = 0, 0 ≤ u₁ = −r₀ + r₁ ⊥ r₁ ≥ 0, hence r = (1/2, 1/2).
pub(crate) const MLCP: &str = "1\n0\n1\n1\n0 1 2\n0 1\n0\n2\n2\n2\t2\n1 -1\n1 1\n-1 0\n";
/// No percussion helps: u = −1 whatever r is.
pub(crate) const HOPELESS: &str = "1\n0\n1\n1\n1\t1\n0\n-1\n";
/// A contact in space with the identity.
pub(crate) const SPACE: &str = "3\n1\n0\n3\n3\n3\t3\n1 0 0\n0 1 0\n0 0 1\n-1 0.1 0.2\n0.5\n";
