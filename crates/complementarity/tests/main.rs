//! Tests of the sets, the solvers and the formats of problems.
//!
//! One program: a file or folder of `tests` is a module of it, and its name picks its tests, as in
//! `cargo test -p complementarity --test tests clarabel_oracle`.
#![allow(clippy::unwrap_used)] // a test fails on an error

mod clarabel_oracle;
mod format;
mod full_problem;
mod json;
mod random;
mod sets;
mod solvers;
