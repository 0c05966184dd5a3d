//! Formulas: text to an exactly differentiable function.
//!
//! ```text
//! text ──parse──► tree with positions ──lower──► graph (shared, folded) ──compile──► tape (flat, registers)
//! ```
//!
//! **Grammar**, weakest binding first:
//!
//! ```text
//! or    and    not    < <= > >= == !=    + -    * /    unary -    ^ (right-associative)
//! ```
//!
//! so that `-2^2` is −4, `2^3^2` is 512 and `2^-1` is ½. Numbers are decimal (`2`, `.5`, `1e-3`). Names match
//! `[A-Za-z_][A-Za-z0-9_]*`; a prime is the time derivative of a coordinate (`x'`). `pi` is a constant, `t` is the time (s).
//! Functions: sqrt exp log sin cos tan asin acos atan sinh cosh tanh abs sign floor of one argument, atan2 of two, min and max of two
//! or more, `if(condition, a, b)`. Angles are in radians, `log` is the natural logarithm. A comparison is a
//! condition, not a number.
//!
//! **Derivatives** are exact, by dual numbers over the tape, or by the graph's own rules where a derivative becomes
//! a function of its own (a mass matrix from a kinetic energy). At kinks they are one-sided, as [`nonsmooth::contract`] states.
//! `abs` at 0 has slope +1; `min` and `max` at a tie take the first argument. `sign` and `floor`, `sqrt` at 0 and `atan2` at (0, 0)
//! have slope 0. `if` differentiates the branch that is taken; the other may be undefined there.
//!
//! **Limits**: 64 kB of text, nesting up to 200, 100,000 operations and 256 registers for the functions of one part.

mod derivative;
mod graph;
mod instruction;
mod interval;
mod lexer;
mod lower;
mod parser;
mod substitute;
mod switch;
mod tape;

pub use graph::{Affinity, Graph, Id, Role};
pub(crate) use lower::is_reserved;
pub use lower::{Lookup, Scope, lower, lower_condition};
pub use parser::{Tree, parse};
pub use switch::{Switch, Unlocated};
pub use tape::{Slot, Tape, TapeError};

/// Longest text of a formula, bytes.
pub const MAX_TEXT: usize = 64 * 1024;
/// Deepest nesting of a formula.
pub const MAX_DEPTH: usize = 200;

/// What is wrong with a formula, and where in its text (bytes from its start).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct FormulaError {
    /// What is wrong.
    pub message: String,
    /// Where it begins.
    pub at: usize,
}

impl FormulaError {
    pub(crate) fn new(at: usize, message: impl Into<String>) -> Self {
        Self { message: message.into(), at }
    }
}
