//! `report.html`: what stands on the page is what was run.

mod memory;
mod opened;
mod picture;
mod plots;
mod replay;
mod safety;

use nonsmooth_scene::prepare::{Prepared, Request};
use nonsmooth_scene::run::{RunOptions, RunOutcome};
use opened::{Directory, Page};

/// A run of a bundled scene with its files.
pub(crate) struct Ran {
    pub(crate) prepared: Prepared,
    pub(crate) outcome: RunOutcome,
    pub(crate) directory: Directory,
    pub(crate) page: Page,
}

/// Runs a bundled scene and opens its page. `end` is another end, s.
pub(crate) fn ran(name: &str, end: Option<f64>, set: &[&str]) -> Ran {
    let set = set.iter().map(|s| (*s).to_string()).collect();
    let mut prepared = Prepared::load(name, &Request { end, set, ..Request::default() }).unwrap();
    let directory = Directory::new();
    let options = RunOptions { out: Some(directory.path().to_path_buf()), ..RunOptions::default() };
    let outcome = prepared.run(&options, &mut |_, _| {}).unwrap();
    let page = Page::open(&directory.path().join("report.html"));
    Ran { prepared, outcome, directory, page }
}
