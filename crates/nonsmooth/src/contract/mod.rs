//! The contract between mechanical systems and time-stepping schemes.
//!
//! Two layers. A [`Model`] is written by the user: values only, generic over the scalar. [`Differentiated`]
//! turns it into a [`System`]: the object-safe `f64` interface that every scheme sees, with all
//! derivatives. Large or special systems (bodies, finite elements) implement [`System`] themselves.
//! The page of [`System`] states the mathematics.

mod candidates;
mod chart;
pub mod check;
mod combined;
mod differentiate;
mod evaluate;
mod evaluator;
mod features;
mod functions;
mod layout;
mod model;
mod part;
mod scalar;
mod system;

pub use candidates::{Candidates, Indices, Interaction, Kind, Reach};
pub use combined::Combined;
pub use differentiate::{Differentiated, ModelError};
pub use evaluate::MAX_LOCAL;
pub use evaluator::{Evaluator, Workspace};
pub use features::{Feature, Features};
pub use layout::{ForceKind, Layout};
pub use model::{Derivative, Model, Together};
pub use part::{Part, PartKind, Violation};
pub use scalar::{Dual, Scalar};
pub use system::{Derivatives, ForceInfo, KinematicBlock, Structure, System};
