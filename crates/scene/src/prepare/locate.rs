//! Locates errors of the engine in the file.

use super::Prepared;
use crate::file::{Fault, Origin, SceneError};
use crate::formula::FormulaError;
use crate::model::Places;
use nonsmooth::{Error, ModelError};
use nonsmooth_multibody::BuildError;

impl Prepared {
    /// An error of the engine at its place in the file.
    pub(super) fn locate(&self, error: &Error) -> SceneError {
        let time = |key: &str| self.origin_of(&["time", key]);
        let origin = match error {
            Error::Step { .. } | Error::Uneven { .. } => time("step"),
            Error::End { .. } => time("end"),
            Error::Unsupported { .. } | Error::Stabilise { .. } | Error::Settings(_) => {
                self.origin_of(&["scheme", "name"])
            }
            Error::Solver { .. } => self.origin_of(&["solver", "name"]),
            Error::SolverOptions(e) if e.option == "tolerance" => self.origin_of(&["solver", "tol"]),
            Error::SolverOptions(e) => self.origin_of(&["solver", e.option]),
            other => other.part().map(|part| self.places.of(&part)).unwrap_or_default(),
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
}

/// An error of a model by formula at the part concerned.
pub(super) fn model_fault(error: &ModelError, places: &Places) -> Fault {
    let message = match error {
        ModelError::TooWide { kind, name, count } => format!(
            "{kind} `{name}` depends on {count} coordinates, at most {} are possible: split it into several",
            nonsmooth::contract::MAX_LOCAL
        ),
        other => other.to_string(),
    };
    let origin = error.part().map(|part| places.of(&part)).unwrap_or_default();
    Fault::new(&origin, message)
}

/// An error of the builder of bodies at the part concerned.
pub(super) fn build_fault(error: &BuildError, places: &Places) -> Fault {
    let mention = match error {
        BuildError::Unknown { part, name, .. } => places.mention(part, name),
        _ => None,
    };
    let origin = mention.or_else(|| places.record(error.part()?));
    Fault::new(&origin.cloned().unwrap_or_default(), error.to_string())
}

impl From<FormulaError> for Fault {
    fn from(e: FormulaError) -> Self {
        Fault::new(&Origin::Scene, e.message)
    }
}
