//! One-step problems of chosen steps, written to files for `nonsmooth solve` and `nonsmooth race`.

use crate::output::{Folder, FolderError};
use nonsmooth::simulation::{Observer, StepView};
use std::collections::BTreeSet;
use std::path::Path;

/// Files that a run may write.
pub const MAX_FILES: usize = 10_000;

/// Chosen steps, by number; the first step of a run is 1 and ends at t₀ + h.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Steps {
    /// First and last of each range, ascending, apart from each other.
    ranges: Vec<(usize, usize)>,
}

impl Steps {
    /// Reads `3,10..12`: single steps and ranges with both ends, in any order.
    pub fn parse(text: &str) -> Result<Self, String> {
        let expected = |part: &str| format!("`{part}` is no step, expected a number from 1 on or a range as 100..120");
        let mut ranges = Vec::new();
        for part in text.split(',').map(str::trim) {
            let (first, last) = part.split_once("..").unwrap_or((part, part));
            let number = |word: &str| word.trim().parse::<usize>().ok().filter(|n| *n > 0);
            let (Some(first), Some(last)) = (number(first), number(last)) else { return Err(expected(part)) };
            if first > last {
                return Err(format!("the range `{part}` runs backwards"));
            }
            ranges.push((first, last));
        }
        ranges.sort_unstable();
        let mut apart: Vec<(usize, usize)> = Vec::new();
        for (first, last) in ranges {
            match apart.last_mut() {
                Some(before) if first <= before.1 => before.1 = before.1.max(last),
                _ => apart.push((first, last)),
            }
        }
        Ok(Self { ranges: apart })
    }

    /// Whether no step is chosen.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Whether step `k` is chosen.
    pub fn contains(&self, k: usize) -> bool {
        let next = self.ranges.partition_point(|r| r.1 < k);
        self.ranges.get(next).is_some_and(|r| r.0 <= k)
    }

    /// Refuses too many steps, and steps beyond the end of a run whose number of steps is known.
    pub fn check(&self, steps: Option<usize>) -> Result<(), String> {
        let count = self.ranges.iter().fold(0usize, |n, r| n.saturating_add(r.1 - r.0).saturating_add(1));
        if count > MAX_FILES {
            return Err(format!("{count} steps with --dump-steps, at most {MAX_FILES} are possible"));
        }
        match (self.ranges.last(), steps) {
            (Some((_, last)), Some(steps)) if *last > steps => {
                Err(format!("--dump-steps {last}: the run has only {steps} steps"))
            }
            _ => Ok(()),
        }
    }
}

/// Writes the one-step problems of chosen steps.
pub(crate) struct Dumps {
    steps: Steps,
    folder: Folder,
    written: BTreeSet<usize>,
    /// Why a file could not be written; the run ends then.
    fault: Option<FolderError>,
}

impl Dumps {
    /// Writes into a folder; other files in it are not touched.
    pub(crate) fn new(steps: Steps, path: &Path) -> Result<Self, FolderError> {
        let folder = Folder::open(if path.as_os_str().is_empty() { Path::new(".") } else { path }, true)?;
        Ok(Self { steps, folder, written: BTreeSet::new(), fault: None })
    }

    /// Number of files.
    pub(crate) fn finish(self) -> Result<usize, FolderError> {
        self.fault.map_or(Ok(self.written.len()), Err)
    }
}

impl Observer for Dumps {
    fn wants_hits(&self) -> bool {
        false
    }
    fn step(&mut self, _view: &StepView) {}

    fn wants_problem(&mut self, number: usize) -> bool {
        self.steps.contains(number)
    }

    fn problem(&mut self, number: usize, problem: String) {
        match self.folder.write(&file_name(number), problem.as_bytes()) {
            Ok(()) => _ = self.written.insert(number),
            Err(fault) => self.fault = Some(fault),
        }
    }

    fn ends_run(&self) -> bool {
        self.fault.is_some()
    }
}

/// Name of the file of step `k`.
pub fn file_name(k: usize) -> String {
    format!("step-{k:06}.json")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_and_ranges_are_read_in_any_order() {
        let steps = Steps::parse("12, 3..5,4..7,9").unwrap();
        let chosen: Vec<usize> = (0..20).filter(|&k| steps.contains(k)).collect();
        assert_eq!(chosen, [3, 4, 5, 6, 7, 9, 12]);
        assert!(!Steps::default().contains(1) && Steps::default().check(Some(0)).is_ok());
        for wrong in ["", "0", "3..", "..3", "5..3", "1.5", "-1", "1,,2", "a", "99999999999999999999999"] {
            assert!(Steps::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn too_many_steps_and_steps_beyond_the_end_are_refused() {
        assert!(Steps::parse("1..10000").unwrap().check(None).is_ok());
        assert!(Steps::parse("1..10001").unwrap().check(None).unwrap_err().contains("at most 10000"));
        assert!(Steps::parse("7").unwrap().check(Some(7)).is_ok());
        assert!(Steps::parse("8").unwrap().check(Some(7)).unwrap_err().contains("only 7 steps"));
        let all = format!("1..{}", usize::MAX);
        assert!(Steps::parse(&all).unwrap().check(None).is_err());
    }
}
