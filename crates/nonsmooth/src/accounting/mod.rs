//! What is known of a step once it is made: its certificate and the work of everything that it applied.

mod certificate;
pub mod ledger;
mod meter;

pub use certificate::Certificate;
pub use ledger::{Ledger, Line};
pub use meter::{Meter, potential_energy};
