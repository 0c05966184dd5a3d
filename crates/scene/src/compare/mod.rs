//! Orders and work-precision: several schemes and steps on one scene, against one reference.
//!
//! For a run with step ends t_k and errors e_k = ‖x_k − x(t_k)‖₂ (x is q or u; quaternions up to their sign)
//!
//! ```text
//! L¹ = Σ dt_k e_k,   L² = (Σ dt_k e_k²)^½,   sup = max e_k,   graph = max over components of the graph distance
//! ```
//!
//! and likewise for the sums of normal percussions up to t (x is p), where the reference knows them.
//!
//! - **`--dense`**: the sums become integrals over every step, by dense output at 6 Gauss points.
//! - **`--at`**: errors are taken at the given times alone, with equal weights 1/n.
//! - **The reference** is a closed form (`[exact]`), a finer run of a scheme, or the trajectory of a file. Runs and trajectories are evaluated
//!   between their grid points by dense output, in extrapolated steps by the polynomial through three side steps and both ends.
//! - **The graph distance** is that of the whole motions, or of the points given by `--at`. Run and reference are sampled at the same times, 8 per
//!   step and the grid points of both, by dense output; a step of a run in which a jump was not located is a straight line.
//! - **The order** is fitted to L¹ ([`nonsmooth::measure::fit_order`]), of u also to the graph distance. With N steps, errors below ε N max|x|
//!   are rounding and are left out, and those below 1e-10 max|x| that do not fall with the step. If fewer than two remain there is no order, and
//!   the reason is said.

mod curve;
mod errors;
mod page;
mod reference;
mod request;
mod rows;

pub use errors::{Errors, Norms, Sums};
pub use page::compare_page;
pub use request::{CompareRequest, ReferenceChoice, SchemeChoice};
pub use rows::{Comparison, OrderRow, Row, compare, compare_json};
