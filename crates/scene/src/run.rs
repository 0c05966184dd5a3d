//! Runs a scene with its observers: progress, recording, requested times, dumps.

use crate::dump::{Dumps, Steps};
use crate::file::SceneError;
use crate::output::{Folder, FolderError, Recorder, columns, events_csv, meta_json, row_bytes};
use crate::prepare::Prepared;
use crate::report::write_run_page;
use nonsmooth::Summary;
use nonsmooth::simulation::{Observer, Record, Recording, Status, StepView, Trajectory};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// Options of a run of a scene: requested times, files and limits.
#[derive(Debug, Clone)]
pub struct RunOptions {
    /// Times at which the state is wanted, s.
    pub at: Vec<f64>,
    /// Folder for the files.
    pub out: Option<PathBuf>,
    /// Whether a folder with other files may be used.
    pub force: bool,
    /// Largest number of steps.
    pub max_steps: usize,
    /// Largest number of bytes that may be recorded.
    pub max_bytes: u64,
    /// Flag that another thread sets to end the run.
    pub interrupt: Option<Arc<AtomicBool>>,
    /// Steps whose one-step problem is written to a file, by number; the first step is 1.
    pub dump: Steps,
    /// Folder for these files.
    pub dump_to: PathBuf,
}

/// Default limit on the steps of a run.
pub const MAX_STEPS: usize = 100_000_000;
/// Default limit on the bytes that a run records: 4 GiB.
pub const MAX_BYTES: u64 = 4 << 30;
/// Most times of `--at`.
pub const MAX_TIMES: usize = 100_000;

impl Default for RunOptions {
    fn default() -> Self {
        Self {
            at: Vec::new(),
            out: None,
            force: false,
            max_steps: MAX_STEPS,
            max_bytes: MAX_BYTES,
            interrupt: None,
            dump: Steps::default(),
            dump_to: PathBuf::new(),
        }
    }
}

/// Result of a run of a scene.
#[derive(Debug, Clone)]
pub struct RunOutcome {
    /// The summary.
    pub summary: Summary,
    /// States at the requested times; q is empty where the run did not reach the time.
    pub at: Vec<Record>,
    /// Seconds of the time loop alone.
    pub seconds: f64,
    /// Where the problem of a failed step was saved.
    pub saved: Option<String>,
    /// Number of requested one-step problems that were written.
    pub dumped: usize,
}

/// Why a run could not start or be recorded.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// Bad input.
    #[error(transparent)]
    Scene(#[from] SceneError),
    /// Bad input on the command line.
    #[error("{0}")]
    Request(String),
    /// The folder.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The trajectory could not be written.
    #[error("the trajectory could not be written: {0}")]
    Trajectory(#[from] std::io::Error),
}

/// Reports progress from time to time.
struct Progress<'a> {
    tell: &'a mut dyn FnMut(f64, f64),
    /// Start and length of the run, s.
    span: (f64, f64),
    steps: usize,
}

impl Observer for Progress<'_> {
    fn wants_hits(&self) -> bool {
        false
    }
    fn step(&mut self, view: &StepView) {
        self.steps += 1;
        if self.steps.is_multiple_of(256) {
            let (start, length) = self.span;
            (self.tell)(view.end.t, (view.end.t - start) / length);
        }
    }
}

impl Prepared {
    /// Runs the scene. `progress` is called now and then with the time and the fraction done.
    pub fn run(&mut self, run: &RunOptions, progress: &mut dyn FnMut(f64, f64)) -> Result<RunOutcome, RunError> {
        self.options.max_steps = run.max_steps;
        self.options.interrupt = run.interrupt.clone();
        let end = self.options.end;
        if run.at.len() > MAX_TIMES {
            return Err(RunError::Request(format!(
                "{} times with --at, at most {MAX_TIMES} are possible",
                run.at.len()
            )));
        }
        let start = self.start.t;
        if let Some(t) = run.at.iter().find(|t| !(**t >= start && **t <= end)) {
            return Err(RunError::Request(format!("--at {t} lies outside [{start}, {end}]")));
        }
        let mut simulation = self.simulation()?;
        let steps = simulation.remaining().unwrap_or(0);
        run.dump.check(simulation.remaining()).map_err(RunError::Request)?;
        let mut recorder = None;
        let mut folder = None;
        if let Some(path) = &run.out {
            let columns = columns(&self.evaluator(), &self.start);
            let bytes = row_bytes(&self.evaluator(), &columns, self.options.observe) as u64
                * (steps as u64 / self.every as u64 + 2);
            if bytes > run.max_bytes {
                let message = format!(
                    "recording needs {bytes} bytes, more than the limit of {}: raise it with --max-bytes, or record less \
                     with --set output.every=K",
                    run.max_bytes
                );
                return Err(RunError::Request(message));
            }
            let order = simulation.scheme_mut().order().smooth;
            let opened = Folder::open(path, run.force)?;
            recorder = Some(Recorder::new(
                &opened.file("trajectory.npz"),
                &self.evaluator(),
                columns,
                self.every,
                order,
                !self.drawn.is_empty(),
                self.options.observe,
            )?);
            folder = Some(opened);
        }
        let dumps = if run.dump.is_empty() { None } else { Some(Dumps::new(run.dump.clone(), &run.dump_to)?) };
        let span = (self.start.t, end - self.start.t);
        let progress = Progress { tell: progress, span, steps: 0 };
        let at = Trajectory::new(Recording::At(run.at.clone()));
        let mut watch = ((at, recorder.as_mut()), (dumps, progress));
        let clock = Instant::now();
        let mut summary = simulation.run_with(&mut watch);
        let seconds = clock.elapsed().as_secs_f64();
        summary.warnings.extend(self.warnings.iter().cloned());
        let ((at, _), (dumps, _)) = watch;
        let (at, dumped) = (at.records().to_vec(), dumps.map_or(Ok(0), Dumps::finish)?);

        let mut saved = None;
        if let Some(problem) = summary.stop.as_ref().and_then(|s| s.problem.as_ref()) {
            let name = "failed-problem.json";
            match &folder {
                Some(f) => {
                    f.write(name, problem.as_bytes())?;
                    saved = Some(f.file(name).display().to_string());
                }
                None => {
                    let path = PathBuf::from(format!("{}-{name}", stem(&self.document.name)));
                    std::fs::write(&path, problem).map_err(|e| FolderError::Io(path.display().to_string(), e))?;
                    saved = Some(path.display().to_string());
                }
            }
        }
        let outcome = RunOutcome { summary, at, seconds, saved, dumped };
        if let (Some(folder), Some(recorder), Some(path)) = (folder, recorder, &run.out) {
            let summary = &outcome.summary;
            let recorded = recorder.finish()?;
            if self.options.observe.events {
                folder.write("events.csv", events_csv(&summary.events).as_bytes())?;
            } else {
                folder.remove("events.csv")?;
            }
            folder.write("meta.json", meta_json(self, &recorded, status_name(summary.status)).as_bytes())?;
            let (trajectory, shown) = (folder.file("trajectory.npz"), path.display().to_string());
            folder
                .write_with("report.html", |out| write_run_page(out, self, &outcome, &recorded, &trajectory, &shown))?;
        }
        Ok(outcome)
    }
}

/// Name of a scene without folder and ending.
fn stem(name: &str) -> String {
    std::path::Path::new(name).file_stem().map_or_else(|| "scene".into(), |s| s.to_string_lossy().into_owned())
}

/// Name of a status in files.
pub fn status_name(status: Status) -> &'static str {
    match status {
        Status::Done => "done",
        Status::Stopped => "stopped",
        Status::Interrupted => "interrupted",
    }
}
