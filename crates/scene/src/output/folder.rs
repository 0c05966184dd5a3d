//! The folder of a run.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A folder with one of these files was written by this program and may be overwritten.
const OWN_FILES: [&str; 3] = ["meta.json", "compare.json", "race.json"];

/// A folder that outputs go to.
#[derive(Debug, Clone)]
pub struct Folder {
    path: PathBuf,
}

/// Why a folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// It has files that this program did not write.
    #[error("`{0}` is not empty and not the folder of a run: choose another, or give --force")]
    Foreign(String),
    /// It is a file.
    #[error("`{0}` is not a folder")]
    File(String),
    /// It cannot be made or written.
    #[error("`{0}` cannot be written: {1}")]
    Io(String, io::Error),
}

impl Folder {
    /// Checks that a folder may be used, without touching anything.
    pub fn check(path: &Path, force: bool) -> Result<(), FolderError> {
        let shown = || path.display().to_string();
        if !path.exists() {
            return Ok(());
        }
        if !path.is_dir() {
            return Err(FolderError::File(shown()));
        }
        let mut entries = fs::read_dir(path).map_err(|e| FolderError::Io(shown(), e))?;
        let ours = OWN_FILES.iter().any(|m| path.join(m).is_file());
        if !force && !ours && entries.next().is_some() {
            return Err(FolderError::Foreign(shown()));
        }
        Ok(())
    }

    /// Makes the folder if it is not there.
    pub fn open(path: &Path, force: bool) -> Result<Self, FolderError> {
        Self::check(path, force)?;
        fs::create_dir_all(path).map_err(|e| FolderError::Io(path.display().to_string(), e))?;
        Ok(Self { path: path.into() })
    }

    /// Path of a file in the folder.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Removes a file of an earlier run, if it is there.
    pub fn remove(&self, name: &str) -> Result<(), FolderError> {
        let path = self.file(name);
        match fs::remove_file(&path) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(FolderError::Io(path.display().to_string(), e)),
            _ => Ok(()),
        }
    }

    /// Writes a file under a temporary name and renames it.
    pub fn write(&self, name: &str, content: &[u8]) -> Result<(), FolderError> {
        self.write_with(name, |file| file.write_all(content))
    }

    /// The same with a content that is made while it is written.
    pub fn write_with(
        &self,
        name: &str,
        content: impl FnOnce(&mut io::BufWriter<fs::File>) -> io::Result<()>,
    ) -> Result<(), FolderError> {
        let (temporary, path) = (self.file(&format!(".{name}.part")), self.file(name));
        let result = (|| {
            let mut file = io::BufWriter::new(fs::File::create(&temporary)?);
            content(&mut file)?;
            file.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
            fs::rename(&temporary, &path)
        })();
        result.map_err(|e| {
            let _ = fs::remove_file(&temporary);
            FolderError::Io(path.display().to_string(), e)
        })
    }
}
