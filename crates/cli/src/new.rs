//! `nonsmooth new`.

use crate::errors::Failed;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

/// The starter scene.
pub(crate) const STARTER: &str = include_str!("starter.toml");

pub(crate) fn new(file: &Path, force: bool) -> Result<ExitCode, Failed> {
    let shown = file.display();
    let mut options = std::fs::OpenOptions::new();
    options.write(true);
    if force {
        options.create(true).truncate(true);
    } else {
        options.create_new(true);
    }
    let written = options.open(file).and_then(|mut f| f.write_all(STARTER.as_bytes()));
    match written {
        Ok(()) => {
            say!("{shown} written; now: nonsmooth check {shown}, then: nonsmooth run {shown}");
            Ok(ExitCode::SUCCESS)
        }
        Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => {
            Err(Failed(format!("`{shown}` exists: choose another name, or give --force")))
        }
        Err(e) => Err(Failed(format!("`{shown}` cannot be written: {e}"))),
    }
}
