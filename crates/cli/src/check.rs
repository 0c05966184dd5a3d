//! `nonsmooth check`: validates and explains a scene.

use crate::arguments::RequestArguments;
use crate::errors::Failed;
use crate::print_text;
use nonsmooth_scene::explain::explain;
use nonsmooth_scene::prepare::Prepared;
use std::process::ExitCode;

pub(crate) fn check(scene: &str, request: &RequestArguments) -> Result<ExitCode, Failed> {
    let prepared = Prepared::load(scene, &request.request())?;
    print_text(&explain(&prepared)?);
    Ok(ExitCode::SUCCESS)
}
