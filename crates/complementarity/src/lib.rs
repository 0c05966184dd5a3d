//! The one-step problem of nonsmooth mechanics, its sets, its solvers, and one definition of "solved".
//!
//! Matrices and sets only: no bodies, no time. A problem is either
//! [reduced](problem) (u = A r + b) or [`full`] (M̂ v = f + W r, u = Wᵀ v + c), with one convex
//! [set](sets) per block of percussions r. [Solvers](solver) return a report with the residual that
//! [`Problem::residual`] defines; nothing else decides whether a problem is solved.
//!
//! ```
//! use complementarity::{Problem, Set, linear::Dense, solver};
//!
//! // A point of mass 1 pushed into a table at 1 m/s while it slides at 3 m/s, μ = 0.5.
//! let a = Dense::from_rows(2, 2, vec![1.0, 0.0, 0.0, 1.0]).unwrap();
//! let problem = Problem::dense(vec![Set::Coulomb { dim: 1, mu: 0.5 }], a, vec![-1.0, 3.0]).unwrap();
//! let mut r = vec![0.0; 2];
//! let report = solver::make("auto").unwrap().solve(&problem, &mut r, &Default::default());
//! assert!(report.solved());
//! assert_eq!(r, [1.0, -0.5]);
//! ```

mod block_sparse;
#[doc(hidden)] // for the crates above
pub mod capacity;
mod coupling;
pub mod format;
pub mod full;
mod gram;
pub mod linear;
pub mod problem;
#[cfg(test)]
mod random;
pub mod rank;
pub mod sets;
pub mod solver;
pub mod verify;

pub use coupling::Coupling;
pub use full::FullProblem;
pub use problem::{Measure, Problem, ProblemError};
pub use rank::rank;
pub use sets::{BlockMode, Mode, Polygon, Set, SetError};
pub use solver::{Options, Report, Solver, SolverInfo, Status};
