//! Tests of bodies: gaps, derivatives, detection, motion; and of the arrows between modules.
//!
//! One program: a file or folder of `tests` is a module of it, and its name picks its tests, as in
//! `cargo test -p nonsmooth-multibody --test tests allocation`.
#![allow(clippy::unwrap_used)] // a test fails on an error

mod allocation;
mod arrows;
mod bad_input;
#[path = "../../nonsmooth/tests/counting/mod.rs"]
mod counting;
mod derivatives;
mod detection;
mod gaps;
mod impacting_bar;
mod passing;
mod physics;
mod rest;
