//! The real binary in an empty directory.

#![allow(dead_code)] // not every test needs all of it

pub(crate) mod broken;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A directory that is removed in the end.
pub(crate) struct Directory {
    path: PathBuf,
}

impl Directory {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("nonsmooth-test-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self { path }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.path.join(name), content).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    /// Names of everything in it, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        let mut out: Vec<String> = std::fs::read_dir(&self.path)
            .unwrap()
            .map(|e| e.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        out.sort();
        out
    }

    /// Runs `nonsmooth` with these words.
    pub(crate) fn run(&self, words: &[&str]) -> Output {
        let child = Command::new(env!("CARGO_BIN_EXE_nonsmooth"))
            .args(words)
            .current_dir(&self.path)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .output()
            .unwrap();
        Output {
            code: child.status.code().unwrap_or(-1),
            out: String::from_utf8_lossy(&child.stdout).into_owned(),
            err: String::from_utf8_lossy(&child.stderr).into_owned(),
        }
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

/// How a command ended.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Output {
    /// Standard output as JSON.
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e}: {}{}", self.out, self.err))
    }
}

/// A Python with numpy: that of `test.sh`, or whatever there is.
pub(crate) fn python() -> String {
    let own = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/python/bin/python3");
    let has_numpy = |p: &&str| {
        std::process::Command::new(p).args(["-c", "import numpy"]).output().is_ok_and(|o| o.status.success())
    };
    [own, "python3", "/usr/bin/python3"]
        .into_iter()
        .find(has_numpy)
        .expect("a python3 with numpy (./test.sh installs one)")
        .into()
}
