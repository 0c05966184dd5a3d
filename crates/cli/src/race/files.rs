//! The files of a race.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// All files below a folder by their name relative to it, sorted. Hidden ones and those in `except` are left out; links to
/// folders are not followed.
pub(super) fn below(folder: &Path, except: Option<&Path>) -> io::Result<Vec<(String, PathBuf)>> {
    if !folder.is_dir() {
        let why = if folder.exists() { "not a folder (`nonsmooth solve` takes a file)" } else { "no such folder" };
        return Err(io::Error::other(why));
    }
    let except = except.and_then(|p| fs::canonicalize(p).ok());
    let mut out = Vec::new();
    visit(folder, "", except.as_deref(), &mut out)?;
    out.sort();
    Ok(out)
}

fn visit(folder: &Path, prefix: &str, except: Option<&Path>, out: &mut Vec<(String, PathBuf)>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let (path, own) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        if own.starts_with('.') || except.is_some_and(|e| fs::canonicalize(&path).is_ok_and(|p| p == e)) {
            continue;
        }
        let name = format!("{prefix}{own}");
        if entry.file_type()?.is_dir() {
            visit(&path, &format!("{name}/"), except, out)?;
        } else if path.is_file() {
            out.push((name, path));
        }
    }
    Ok(())
}
