//! Errors of the engine at their places in the file.

use super::Prepared;
use crate::file::{Fault, Origin, SceneError};
use crate::formula::FormulaError;
use crate::model::bodies;
use nonsmooth::{Error, ModelError};
use std::collections::BTreeMap;

impl Prepared {
    /// An error of the engine at its place in the file.
    pub(super) fn blame(&self, error: &Error) -> SceneError {
        let place = |name: &str| self.places.get(name).cloned().unwrap_or_default();
        let time = |key: &str| self.document.get(&["time", key]).map(|n| n.origin.clone()).unwrap_or_default();
        let origin = match error {
            Error::Penetration { contact, .. } => {
                bodies::place_of_found(contact, &self.places).unwrap_or_else(|| place(contact))
            }
            Error::Joint { joint, .. } => place(joint),
            Error::Mass { .. } | Error::MassNotSymmetric { .. } => place("mass"),
            Error::InitialValue { name, .. } => place(name),
            Error::Step { .. } => time("step"),
            Error::End { .. } => time("end"),
            Error::Unsupported { .. } | Error::Stabilise { .. } | Error::Settings(_) => self.scheme_origin(),
            Error::Uneven { .. } => time("step"),
            Error::Solver { .. } => self.origin_of(&["solver", "name"]),
            Error::SolverOptions(e) if e.option == "max_iterations" => self.origin_of(&["solver", "max_iterations"]),
            Error::SolverOptions(_) => self.origin_of(&["solver", "tol"]),
            Error::Contract(message) => self.named_in(message),
            _ => Origin::Whole,
        };
        let message = match error {
            Error::TooManySteps { steps, limit } => {
                format!(
                    "the run needs {steps} steps, more than the limit of {limit}: raise it with --max-steps, or take a larger --step"
                )
            }
            Error::Penetration { .. } | Error::Joint { .. } => format!("{error} (`initial.tolerance`)"),
            other => other.to_string(),
        };
        self.document.explain(&Fault::new(&origin, message))
    }

    fn origin_of(&self, path: &[&str]) -> Origin {
        self.document.get(path).map(|n| n.origin.clone()).unwrap_or_default()
    }

    fn scheme_origin(&self) -> Origin {
        self.origin_of(&["scheme", "name"])
    }

    /// The place of the first part that a message names.
    fn named_in(&self, message: &str) -> Origin {
        let mut words = message.split('`').skip(1).step_by(2);
        let found = words.find_map(|w| self.places.get(w).or_else(|| self.places.get(&format!("force {w}"))));
        found.cloned().unwrap_or_default()
    }
}

/// An error of a model by formula at the part that it names.
pub(super) fn model_fault(error: &ModelError, places: &BTreeMap<String, Origin>) -> Fault {
    let message = match error {
        ModelError::TooWide { kind, name, count } => format!(
            "{kind} `{name}` depends on {count} coordinates, at most {} are possible: split it into several",
            nonsmooth::contract::MAX_LOCAL
        ),
        other => other.to_string(),
    };
    let found = message.split('`').skip(1).step_by(2);
    let origin = found.clone().find_map(|w| places.get(w).or_else(|| places.get(&format!("force {w}"))));
    Fault::new(&origin.cloned().unwrap_or_default(), message)
}

impl From<FormulaError> for Fault {
    fn from(e: FormulaError) -> Self {
        Fault::new(&Origin::Whole, e.message)
    }
}
