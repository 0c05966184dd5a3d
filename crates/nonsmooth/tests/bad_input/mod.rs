//! Input that cannot be simulated: every fault is a typed error that names the offender, and nothing panics.

mod arbitrary;
mod flawed;
mod functions;
mod layouts;
mod settings;
mod starts;
