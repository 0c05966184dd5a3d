//! Accounts of a finished step: its certificate, and the work of every force and percussion.

mod certificate;
mod impact;
pub mod ledger;
mod meter;

pub use certificate::Certificate;
pub(crate) use impact::{Judge, exceeds};
pub use ledger::{Ledger, Line};
pub use meter::{MassFlaw, Meter, potential_energy};
