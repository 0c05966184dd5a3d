//! Arguments of the command.

use clap::{Args, Parser, Subcommand, ValueEnum};
use nonsmooth_scene::prepare::Request;
use nonsmooth_scene::run::{MAX_BYTES, MAX_STEPS};
use std::path::PathBuf;

/// Residual at which a problem from a file counts as solved, as in published races.
const TOLERANCE: f64 = 1e-8;

/// Mechanical systems with contact, impact and friction, simulated with the set-valued laws themselves.
#[derive(Debug, Parser)]
#[command(
    name = "nonsmooth",
    version,
    after_help = "Examples:\n  nonsmooth run woodpecker\n  nonsmooth run bouncing_ball --step 1e-4 --set parameters.e_N=0.8 --json\n  \
                  nonsmooth new mine.toml && nonsmooth check mine.toml && nonsmooth run mine.toml --out result\n\n\
                  A SCENE is a file, or the name of a bundled example (nonsmooth list examples)."
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a scene.
    #[command(
        after_help = "Examples:\n  nonsmooth run woodpecker --out result\n  nonsmooth run bouncing_ball --at 1,2,3 --json\n  \
                            nonsmooth run slider_crank --scheme moreau-midpoint --step 1e-5 --set initial.u=[150,-75,0]\n\n\
                            Files in DIR: report.html (look at it), trajectory.npz (numpy.load), events.csv, meta.json.\n\
                            Exit codes: 0 done, 1 stopped, 2 bad input, 130 interrupted (Ctrl-C finishes the step and writes everything)."
    )]
    Run(RunArguments),
    /// Compare schemes and steps on one scene: errors, orders, work.
    #[command(
        after_help = "Examples:\n  nonsmooth compare bouncing_ball --schemes all --steps 1e-2,5e-3,2e-3,1e-3\n  \
                            nonsmooth compare woodpecker --schemes 'moreau-jean,moreau-jean{theta=1}' --steps 1e-4,5e-5 --reference moreau-midpoint:1e-6 --out result\n\n\
                            Options follow a scheme in braces and may use `step`: augmented{dt_min=step^3}.\n\
                            The reference is the closed form of the scene, a run SCHEME:STEP, or a trajectory.npz. DIR gets compare.html and compare.json."
    )]
    Compare(CompareArguments),
    /// Solve a one-step problem from a file.
    #[command(
        after_help = "Examples:\n  nonsmooth run disc_pile --end 0.1 --dump-steps 20 && nonsmooth solve step-000020.json\n  \
                            nonsmooth solve tower.hdf5 --solver nsgs --tol 1e-6 --time-limit 5 --json\n\n\
                            PROBLEM is our JSON (also what a run saves when a step fails), an FCLIB file (HDF5), or a text file of Siconos; its kind is seen \
                            from its content.\n\
                            The residual is computed anew from the definition, whatever the solver says.\n\
                            Exit codes: 0 solved, 1 unsolved, 2 bad input."
    )]
    Solve(SolveArguments),
    /// Race solvers on all problems in a folder.
    #[command(
        after_help = "Examples:\n  nonsmooth race problems\n  nonsmooth race problems --solvers auto,nsgs,newton --tol 1e-6 --time-limit 2 --out result\n\n\
                            DIR is searched with all folders in it. A file that is no problem is listed and passed over.\n\
                            Files in --out: race.html, profiles.svg (performance profiles), race.csv, race.json.\n\
                            Exit codes: 0 done, 1 nothing was solved, 2 bad input, 130 interrupted (Ctrl-C finishes the solve and writes everything)."
    )]
    Race(RaceArguments),
    /// Validate a scene, explain it, print the model.
    #[command(after_help = "Example:\n  nonsmooth check woodpecker")]
    Check {
        /// A file, or the name of a bundled example.
        scene: String,
        #[command(flatten)]
        request: RequestArguments,
    },
    /// Print a bundled scene.
    #[command(after_help = "Example:\n  nonsmooth show woodpecker > mine.toml")]
    Show {
        /// Its name.
        name: String,
    },
    /// Write a commented starter scene that runs.
    #[command(after_help = "Example:\n  nonsmooth new mine.toml")]
    New {
        /// File to write; it must not exist.
        file: PathBuf,
        /// Overwrite it.
        #[arg(long)]
        force: bool,
    },
    /// List what there is.
    #[command(after_help = "Example:\n  nonsmooth list schemes --json")]
    List {
        /// What to list.
        what: What,
        /// As one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Print completions for a shell.
    #[command(
        after_help = "Example:\n  nonsmooth completions bash > ~/.local/share/bash-completion/completions/nonsmooth"
    )]
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum What {
    /// Bundled scenes.
    Examples,
    /// Time-stepping schemes with their options.
    Schemes,
    /// Solvers of one-step problems.
    Solvers,
    /// Force laws.
    Laws,
}

/// Arguments that change a scene.
#[derive(Debug, Args)]
pub(crate) struct RequestArguments {
    /// Another scheme (drops the scheme options of the file).
    #[arg(long, value_name = "S")]
    scheme: Option<String>,
    /// Step, s.
    #[arg(long, value_name = "H", allow_hyphen_values = true)]
    step: Option<f64>,
    /// End time, s.
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    end: Option<f64>,
    /// Override a key of the scene by its dotted path; repeatable.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Largest number of coordinates of bodies and bars.
    #[arg(long, value_name = "N")]
    max_coordinates: Option<usize>,
}

impl RequestArguments {
    pub(crate) fn request(&self) -> Request {
        Request {
            scheme: self.scheme.clone(),
            step: self.step,
            end: self.end,
            set: self.set.clone(),
            max_coordinates: self.max_coordinates,
            watch: None,
        }
    }
}

impl RunArguments {
    pub(crate) fn request(&self) -> Request {
        let words = |text: &String| match text.trim() {
            "" => Vec::new(),
            text => text.split(',').map(|word| word.trim().into()).collect(),
        };
        Request { watch: self.watch.as_ref().map(words), ..self.request.request() }
    }
}

#[derive(Debug, Args)]
pub(crate) struct CompareArguments {
    /// A file, or the name of a bundled example.
    pub(crate) scene: String,
    /// Schemes with their options, or `all` that fit the model.
    #[arg(long, value_name = "A,B,..")]
    pub(crate) schemes: String,
    /// Steps, s.
    #[arg(long, value_name = "H1,H2,..", value_delimiter = ',', required = true, allow_hyphen_values = true)]
    pub(crate) steps: Vec<f64>,
    /// `closed-form`, SCHEME:STEP, or a trajectory file.
    #[arg(long, value_name = "REFERENCE")]
    pub(crate) reference: Option<String>,
    /// Override a key of the scene by its dotted path; repeatable.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// End time, s.
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    pub(crate) end: Option<f64>,
    /// Times at which errors are taken, instead of all step ends, s.
    #[arg(long, value_name = "T1,T2,..", value_delimiter = ',', allow_hyphen_values = true)]
    pub(crate) at: Vec<f64>,
    /// Errors over the whole of every step, by the dense output of the scheme, instead of at step ends.
    #[arg(long)]
    pub(crate) dense: bool,
    /// Print one JSON object and nothing else.
    #[arg(long)]
    pub(crate) json: bool,
    /// Folder for compare.html and compare.json.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Write into a folder that is not empty and not ours.
    #[arg(long)]
    pub(crate) force: bool,
    /// Threads; 0 means one per core. The results do not depend on it.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) threads: usize,
}

#[derive(Debug, Args)]
pub(crate) struct SolveArguments {
    /// A file with a one-step problem.
    pub(crate) problem: PathBuf,
    /// Solver (nonsmooth list solvers).
    #[arg(long, value_name = "S", default_value = "auto")]
    pub(crate) solver: String,
    /// Residual at which the problem counts as solved.
    #[arg(long, value_name = "X", default_value_t = TOLERANCE, allow_hyphen_values = true)]
    pub(crate) tol: f64,
    /// Read the file as this kind: friction2d, friction3d, lcp, mlcp, reduced or full.
    #[arg(long, value_name = "K")]
    pub(crate) kind: Option<String>,
    /// Time limit, s; checked between iterations.
    #[arg(long, value_name = "S", default_value_t = 60.0, allow_hyphen_values = true)]
    pub(crate) time_limit: f64,
    /// Start from the guess in the file instead of zero.
    #[arg(long)]
    pub(crate) warm: bool,
    /// Print one JSON object and nothing else.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RaceArguments {
    /// Folder with problems.
    pub(crate) folder: PathBuf,
    /// Solvers [default: all].
    #[arg(long, value_name = "A,B,..", value_delimiter = ',')]
    pub(crate) solvers: Vec<String>,
    /// Residual at which a problem counts as solved.
    #[arg(long, value_name = "X", default_value_t = TOLERANCE, allow_hyphen_values = true)]
    pub(crate) tol: f64,
    /// Time limit of a solver for each problem, s; checked between iterations.
    #[arg(long, value_name = "S", default_value_t = 10.0, allow_hyphen_values = true)]
    pub(crate) time_limit: f64,
    /// Print one JSON object and nothing else.
    #[arg(long)]
    pub(crate) json: bool,
    /// Folder for race.html, profiles.svg, race.csv and race.json.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Write into a folder that is not empty and not ours.
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    /// A file, or the name of a bundled example.
    pub(crate) scene: String,
    #[command(flatten)]
    pub(crate) request: RequestArguments,
    /// What is recorded besides the motion: events, certificate, energy, percussions; or all, none [default: what the scene says].
    #[arg(long, value_name = "A,B,..")]
    pub(crate) watch: Option<String>,
    /// Times at which the state is printed, s.
    #[arg(long, value_name = "T1,T2,..", value_delimiter = ',', allow_hyphen_values = true)]
    pub(crate) at: Vec<f64>,
    /// Print one JSON object and nothing else.
    #[arg(long)]
    pub(crate) json: bool,
    /// Folder for report.html, trajectory.npz, events.csv and meta.json.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Write into a folder that is not empty and not that of a run.
    #[arg(long)]
    pub(crate) force: bool,
    /// Write the one-step problems of these steps to files, step-000123.json (nonsmooth solve); ranges as 100..120.
    #[arg(long, value_name = "K1,K2,..")]
    pub(crate) dump_steps: Option<String>,
    /// Folder for these files [default: the current one].
    #[arg(long, value_name = "DIR", requires = "dump_steps")]
    pub(crate) dump_to: Option<PathBuf>,
    /// Largest number of steps.
    #[arg(long, value_name = "N", default_value_t = MAX_STEPS)]
    pub(crate) max_steps: usize,
    /// Largest number of bytes to record.
    #[arg(long, value_name = "N", default_value_t = MAX_BYTES)]
    pub(crate) max_bytes: u64,
}
