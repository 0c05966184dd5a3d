//! Time-stepping schemes. A scheme makes one step and owns no loop.
//!
//! [`SCHEMES`] is the registry: names, references, orders, what is supported, options, and how to make one.
//! Adding a scheme costs one file whose head states its discrete equations, one row here, one row
//! in the convergence test, one line in the changelog.

pub mod acceleration;
pub mod augmented;
mod explicit_step;
pub mod moreau_jean;
pub mod moreau_midpoint;
mod option;
pub mod position_theta;
mod projected;
pub mod projected_combined;
pub mod projected_direct;
mod projection;
pub mod rattle;
pub mod schatzman_paoli;
mod settings;
pub mod stabilise;
mod symmetry;
pub mod tdg;
mod theta_step;
pub mod trapezoidal_lcp;
mod velocity_level;

pub use augmented::{Augmented, AugmentedOptions};
pub use moreau_jean::{MoreauJean, MoreauJeanOptions};
pub use moreau_midpoint::{MoreauMidpoint, MoreauMidpointOptions};
pub use position_theta::PositionTheta;
pub use projected::{Coupling, ProjectedOptions, ProjectedStep};
pub use projected_combined::ProjectedCombined;
pub use projected_direct::ProjectedDirect;
pub use projection::Metric;
pub use rattle::{Approach, FrictionDirection, NewtonNorm, Rattle, RattleOptions, VelocityJoints};
pub use schatzman_paoli::{SchatzmanPaoli, SchatzmanPaoliOptions};
pub use settings::{OptionInfo, OptionKind, Setting, Settings, SettingsError};
pub use tdg::{Tdg, TdgOptions};
pub use theta_step::{DirectionRule, ForceRule, Forecast, ThetaMemory};
pub use trapezoidal_lcp::{TrapezoidalLcp, TrapezoidalLcpOptions};

use crate::accounting::{Certificate, Ledger, Meter};
use crate::contract::{Candidates, Evaluator, Features};
use crate::control::{Controller, Span};
use crate::names::nearest;
use crate::state::{Record, State, Step};
use complementarity::{FullProblem, Options, Report, Solver};

/// Order of convergence of a scheme.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct Order {
    /// On smooth motion, in q and u, while no constraint acts whose direction turns.
    pub smooth: u32,
    /// Through impacts, in q (sup norm) and u (graph distance).
    pub impacts: u32,
}

/// What a scheme is.
pub struct SchemeInfo {
    /// Name in options and lists.
    pub name: &'static str,
    /// What it does, one line.
    pub summary: &'static str,
    /// Where it comes from (key of `docs/references.bib`).
    pub reference: &'static str,
    /// Whether the gap is kept on position level.
    pub position_level: bool,
    /// Steps in a row over which the percussion of one impact is spread; 1 where the law holds in every step.
    pub impact_steps: usize,
    /// Whether a step also solves for the end of the next one.
    pub looks_ahead: bool,
    /// Whether it chooses the length of its steps: the step of the run is the largest.
    pub adaptive: bool,
    /// Whether it takes steps of changing length.
    pub variable_step: bool,
    /// Stages of a step that Newton's method solves one after the other.
    pub stages: usize,
    /// What it can take.
    pub supports: Features,
    /// Its options.
    pub options: &'static [OptionInfo],
    /// Makes one from settings.
    pub make: fn(&Settings) -> Result<Box<dyn Scheme>, SettingsError>,
}

/// The solver of the one-step problems and its options.
pub struct Solve {
    /// The solver.
    pub solver: Box<dyn Solver>,
    /// Its options.
    pub options: Options,
}

/// Why a step could not be made. The step's start is untouched; the loop decides what to do.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Failure {
    /// A one-step problem was not solved.
    #[error("the one-step problem was not solved ({}): {}, residual {:.3e} after {} iterations", .0.solver, .0.status.explain(), .0.residual, .0.iterations)]
    Solver(Report),
    /// The Newton iteration of the scheme did not converge.
    #[error("Newton's method did not converge in {iterations} iterations (residual {residual:.3e})")]
    Newton {
        /// Iterations made.
        iterations: usize,
        /// Last residual.
        residual: f64,
    },
    /// The position projection of the scheme did not close.
    #[error(
        "the position projection of `{name}` did not close: it is off by {violation:.3e} m (tolerance {tolerance:.0e})"
    )]
    Projection {
        /// The interaction that is off most.
        name: String,
        /// By how much, m.
        violation: f64,
        /// What is allowed, m.
        tolerance: f64,
    },
    /// A body went through another.
    #[error("the step takes the bodies of contact `{name}` through each other; take a shorter step")]
    Passed {
        /// The contact.
        name: String,
    },
    /// A root of the equations of a step to which its velocities do not lead.
    #[error("joint `{name}` jumped: the step ends where its velocities do not lead; take a shorter step")]
    Strayed {
        /// The joint.
        name: String,
    },
    /// Velocities at the end of a step that do not keep a joint.
    #[error(
        "joint `{name}` comes apart: its parts end the step with velocities that differ by half of what they are; take a shorter step"
    )]
    Apart {
        /// The joint.
        name: String,
    },
    /// A matrix that must be regular is not.
    #[error("{what} is singular at velocity `{velocity}`")]
    Singular {
        /// Which matrix.
        what: &'static str,
        /// The unknown at which it shows.
        velocity: String,
    },
    /// Forces drive the motion faster than a step of a linearly implicit scheme can follow.
    #[error("the step is too long for the forces that drive velocity `{velocity}`: take a shorter one")]
    Driven {
        /// The velocity at which it shows.
        velocity: String,
    },
    /// The mass matrix is none any more.
    #[error("the mass matrix is not {lacks} any more at velocity `{velocity}`: the model does not hold there")]
    Mass {
        /// The property that it lacks.
        lacks: &'static str,
        /// A velocity at which it shows.
        velocity: String,
    },
    /// The scheme makes energy.
    #[error(
        "unstable: numerical errors have added {gain:.3e} times the energy of the motion, at more than 1 % of it per step; take a shorter step, or an implicit scheme"
    )]
    Unstable {
        /// Energy added over energy of the motion.
        gain: f64,
    },
    /// More steps than allowed.
    #[error("{steps} steps were not enough: raise the limit (--max-steps), or the smallest step")]
    Steps {
        /// The limit.
        steps: usize,
    },
    /// The contacts could not be listed.
    #[error("{why}")]
    Detection {
        /// What was found.
        why: String,
    },
    /// NaN or infinity.
    #[error("{what} became NaN or infinite")]
    NotFinite {
        /// What did.
        what: String,
    },
}

/// Requested results of the examination of a finished step, which is evaluated once for all of them.
#[derive(Default)]
pub struct Examination<'a> {
    /// The scheme's full discrete system (dynamics, kinematics, laws), evaluated anew.
    pub certificate: Option<&'a mut Certificate>,
    /// The work of everything that the step applied, and its numerical defects, added to the ledger.
    pub energy: Option<(&'a mut Meter, &'a mut Ledger)>,
}

/// A scheme: one step, and how a step that was made is examined.
///
/// Fields of an implementation are options (fixed) and workspace (scratch): dropping the workspace changes
/// no result, and everything that a step starts from is in [`State`].
pub trait Scheme: Send {
    /// What it is.
    fn info(&self) -> &'static SchemeInfo;

    /// Its order with the options it has.
    fn order(&self) -> Order;

    /// The scheme that makes the steps: itself, or the base of one that extrapolates.
    fn base(&self) -> &'static SchemeInfo {
        self.info()
    }

    /// The controller of its steps; `None` for the controller of the run.
    fn controller(&mut self, _span: &Span) -> Result<Option<Box<dyn Controller>>, SettingsError> {
        Ok(None)
    }

    /// Whether errors of a smooth motion with the interactions of this step, which was made, have an expansion in even powers of dt.
    fn is_even(&mut self, _system: &Evaluator, _start: &State, _step: &Step) -> bool {
        false
    }

    /// What to know before the first step with these candidates: a choice of options with which the motion need not be right.
    fn advice(&self, _list: &Candidates) -> Option<String> {
        None
    }

    /// What was found of the motion since the scheme was made that makes a choice of options a bad one.
    fn remark(&self) -> Option<&'static str> {
        None
    }

    /// One step of length `dt` from `start` into `out`, whose candidates have been filled and stay frozen. `out.end.t` may hold
    /// where the loop wants the step to end: start.t + dt up to rounding.
    fn step(
        &mut self,
        system: &Evaluator,
        start: &State,
        dt: f64,
        solve: &mut Solve,
        out: &mut Step,
    ) -> Result<(), Failure>;

    /// Evaluates a finished step, from `start`, the step's end state and its percussions alone, and fills the requested results.
    fn examine(&mut self, system: &Evaluator, start: &State, step: &Step, asked: Examination);

    /// The certificate of a step alone.
    fn certify(&mut self, system: &Evaluator, start: &State, step: &Step, out: &mut Certificate) {
        self.examine(system, start, step, Examination { certificate: Some(out), energy: None });
    }

    /// The lines of the ledger of a step alone.
    fn account(&mut self, system: &Evaluator, start: &State, step: &Step, meter: &mut Meter, out: &mut Ledger) {
        self.examine(system, start, step, Examination { certificate: None, energy: Some((meter, out)) });
    }

    /// One record of each type that its states and steps may have, empty: a checkpoint is read into copies of them.
    fn records(&self) -> Vec<Box<dyn Record>> {
        Vec::new()
    }

    /// The last one-step problem, for saving.
    fn last_problem(&self) -> Option<&FullProblem>;

    /// Which candidates the last one-step problem is made of, where they are not those that the step calls active.
    fn last_included(&self) -> Option<&[bool]> {
        None
    }
}

/// All schemes.
pub static SCHEMES: &[&SchemeInfo] = &[
    &moreau_jean::INFO,
    &moreau_midpoint::INFO,
    &schatzman_paoli::INFO,
    &projected_direct::INFO,
    &projected_combined::INFO,
    &rattle::INFO,
    &trapezoidal_lcp::INFO,
    &tdg::MINUS,
    &tdg::PLUS,
    &augmented::INFO,
    &position_theta::INFO,
];

/// The options of a scheme with these settings: its own, and those of its base.
pub fn options(info: &SchemeInfo, settings: &Settings) -> impl Iterator<Item = &'static OptionInfo> {
    let base = if info.name == augmented::INFO.name { augmented::base_of(settings) } else { None };
    info.options.iter().chain(base.into_iter().flat_map(|b| b.options))
}

/// Makes a scheme by name. An unknown name is an error that suggests the nearest.
pub fn make(name: &str, settings: &Settings) -> Result<Box<dyn Scheme>, SettingsError> {
    match SCHEMES.iter().find(|s| s.name == name) {
        Some(info) => {
            settings.check_keys(info, options(info, settings))?;
            (info.make)(settings)
        }
        None => Err(SettingsError::Scheme {
            name: name.into(),
            nearest: nearest(name, SCHEMES.iter().map(|s| s.name)).unwrap_or_default().into(),
        }),
    }
}
