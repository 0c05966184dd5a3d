//! Tests of the contract, the schemes and the loop on reference models and closed forms.
//!
//! One program: a file or folder of `tests` is a module of it, and its name picks its tests, as in
//! `cargo test -p nonsmooth --test tests allocation`.
#![allow(clippy::unwrap_used, clippy::neg_cmp_op_on_partial_ord)] // a test fails on an error; NaN must fail too

mod accelerations;
mod allocation;
mod arrows;
mod bad_input;
mod breaks;
mod certificate;
mod contract;
mod convergence;
mod counting;
mod determinism;
mod documents;
mod friction;
mod joints;
mod ledger;
mod position_level;
mod rattle;
mod recipes;
mod robustness;
mod wrapped;
mod zeno;
