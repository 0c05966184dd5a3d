//! Tests of the command: the real program in a directory of its own.
//!
//! One program: a file or folder of `tests` is a module of it, and its name picks its tests, as in
//! `cargo test -p nonsmooth-cli --test tests bodies`.
#![allow(clippy::unwrap_used)] // a test fails on an error

mod bodies;
mod broken_bodies;
mod broken_scenes;
mod command;
mod commands;
mod compare;
mod documents;
mod problems;
mod race;
mod recipes;
mod solve;
mod watch;
