//! Problem files: every reader on small files made here, and on files that are no problem.
//!
//! HDF5 files are made by the writer's core, which knows trees of groups and datasets but no problems, so that wrong
//! ones can be made as well as right ones. Whatever the bytes, reading ends without panic and with little memory.

#![allow(unsafe_code)] // an allocator

mod fclib;
mod fuzz;
mod hdf5;
mod memory;
mod recognition;
mod samples;
mod text;
#[cfg(feature = "fclib-write")]
mod write;
#[allow(dead_code)]
#[path = "../../src/format/write_hdf5.rs"]
mod write_hdf5;

use complementarity::format::{self, Form, FormatError, Loaded};
use complementarity::{FullProblem, Problem};

/// The error of bytes that are no problem, as text.
fn error(bytes: &[u8]) -> String {
    format::read(bytes, None).map(|l| l.kind).unwrap_err().to_string()
}

fn load(bytes: &[u8]) -> Loaded {
    format::read(bytes, None).unwrap()
}

fn reduced(loaded: &Loaded) -> &Problem {
    match &loaded.form {
        Form::Reduced(p) => p,
        Form::Full(_) => panic!("a full problem"),
    }
}

fn full(loaded: &Loaded) -> FullProblem {
    match &loaded.form {
        Form::Full(p) => p.clone(),
        Form::Reduced(_) => panic!("a reduced problem"),
    }
}

/// A, row by row, from products with unit vectors.
fn rows(problem: &Problem) -> Vec<Vec<f64>> {
    let n = problem.size();
    let mut a = vec![vec![0.0; n]; n];
    for j in 0..n {
        let (mut r, mut u) = (vec![0.0; n], vec![0.0; n]);
        r[j] = 1.0;
        problem.velocity(&r, &mut u);
        for i in 0..n {
            a[i][j] = u[i] - problem.b()[i];
        }
    }
    a
}

/// Reads whatever it is: no panic, no large allocation, and what is accepted is a valid problem.
fn read_anything(bytes: &[u8]) -> Result<Loaded, FormatError> {
    let (result, largest) = memory::largest_request(|| format::read(bytes, None));
    // The factor covers a dense matrix from a third of its blocks, each with a single entry; see `assemble`.
    assert!(largest <= 4096 + 128 * bytes.len(), "{largest} bytes at once for a file of {}", bytes.len());
    if let Ok(loaded) = &result {
        assert!(loaded.guess.as_ref().is_none_or(|g| g.len() == loaded.rows()));
        match &loaded.form {
            Form::Reduced(p) => p.validate().unwrap(),
            Form::Full(p) => {
                assert!(p.f.iter().chain(&p.c).all(|v| v.is_finite()));
                assert!(p.blocks().iter().all(|b| b.set.validate().is_ok()));
            }
        }
    }
    result
}
