//! Solvers of the one-step problem. A solver never advances time and never decides by itself what
//! "solved" means: every report carries the residual of [`Problem::residual`] at the returned r.
//!
//! [`SOLVERS`] is the registry: one row per solver, used by every list, test and option parser.

mod acceleration;
mod active_set;
mod admm;
mod apgd;
mod auto;
mod copies;
mod eliminate;
mod enumerate;
mod equation;
mod impossible;
mod jacobian;
mod least_norm;
mod lemke;
mod local;
mod newton;
mod nsgs;
mod order;
mod planar;
mod proximal;
mod relaxation;
mod spatial;

pub use active_set::{ActiveSet, ActiveSetStep};
pub use admm::Admm;
pub use apgd::ProjectedGradient;
pub use auto::Auto;
pub use lemke::Lemke;
pub use newton::{FischerBurmeister, Newton};
pub use nsgs::GaussSeidel;
pub use order::Order;
pub use proximal::Proximal;
pub use relaxation::{ProjectedGaussSeidel, ProjectedJacobi};

use crate::capacity;
use crate::problem::Problem;
use crate::sets::Set;
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// Options of a solve: accuracy, limits and the order of sweeps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// Residual at which a problem counts as solved.
    pub tolerance: f64,
    /// Largest number of iterations (sweeps, Newton steps, pivots).
    pub max_iterations: usize,
    /// Relaxation factor ω of the sweeping solvers; `None`: 1 for Gauss-Seidel, and for Jacobi the largest
    /// that the row sums of A allow.
    pub relaxation: Option<f64>,
    /// The same of friction laws; `None`: as the others. With [`Options::relaxation`] a diagonal matrix ω by law, for `jacobi` and `gauss-seidel`.
    pub friction_relaxation: Option<f64>,
    /// Factor r of their projections instead of ω/‖A_ii‖: of laws that are no friction, and of friction. In units of 1/A.
    pub r: [Option<f64>; 2],
    /// Order of the blocks in a sweep of `nsgs`.
    pub order: Order,
    /// Largest number of rows for which [`Auto`] polishes a solution that meets the tolerance. A Newton step brings it to rounding accuracy;
    /// percussions that are not unique become those of least norm. The cost grows with the cube. 0: no polishing.
    pub polish: usize,
    /// When to give up, checked between iterations; `None`: never. Simulations set none, because results would depend on the machine.
    pub deadline: Option<Instant>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            tolerance: 1e-10,
            max_iterations: 10_000,
            relaxation: None,
            friction_relaxation: None,
            r: [None; 2],
            order: Order::Natural,
            polish: 40,
            deadline: None,
        }
    }
}

impl Options {
    /// Whether the deadline has passed.
    #[inline]
    pub fn out_of_time(&self) -> bool {
        self.deadline.is_some_and(|d| Instant::now() >= d)
    }

    /// Checks the ranges.
    pub fn validate(&self) -> Result<(), OptionsError> {
        if !(self.tolerance > 0.0 && self.tolerance.is_finite()) {
            return Err(OptionsError { option: "tolerance", value: self.tolerance, range: "(0, inf)" });
        }
        if self.max_iterations == 0 {
            return Err(OptionsError { option: "max_iterations", value: 0.0, range: "[1, inf)" });
        }
        for (option, value) in [("relaxation", self.relaxation), ("friction_relaxation", self.friction_relaxation)] {
            if let Some(value) = value.filter(|w| !(*w > 0.0 && *w < 2.0)) {
                return Err(OptionsError { option, value, range: "(0, 2)" });
            }
        }
        for (option, value) in ["r", "friction_r"].into_iter().zip(self.r) {
            if let Some(value) = value.filter(|r| !(*r > 0.0 && r.is_finite())) {
                return Err(OptionsError { option, value, range: "(0, inf)" });
            }
        }
        Ok(())
    }
}

/// An option outside its range.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("solver option {option} = {value} is outside {range}")]
pub struct OptionsError {
    /// Which option.
    pub option: &'static str,
    /// Its value.
    pub value: f64,
    /// What is allowed.
    pub range: &'static str,
}

/// How a solve ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// The residual is within the tolerance.
    Solved,
    /// Stopped by the iteration limit.
    MaxIterations,
    /// Stopped by the deadline.
    TimeLimit,
    /// No further progress, or a cycle.
    Stalled,
    /// Lemke's method ended on a ray: no solution for a copositive-plus matrix (every frictionless
    /// problem with A = WᵀM⁻¹W), undecided otherwise.
    Ray,
    /// The constraints contradict each other, or a block cannot be satisfied by any percussion.
    Infeasible,
    /// The matrix of the problem is singular where it must not be.
    Singular,
    /// NaN or infinity came up.
    NotFinite,
    /// The solver does not handle this kind of problem.
    Unsupported,
}

impl Status {
    /// One sentence for the user.
    pub fn explain(self) -> &'static str {
        match self {
            Status::Solved => "solved",
            Status::MaxIterations => "iteration limit reached before the residual met the tolerance",
            Status::TimeLimit => "time limit reached before the residual met the tolerance",
            Status::Stalled => "no further progress towards the tolerance",
            Status::Ray => "complementary pivoting ended on a ray (no solution, or not decidable by this method)",
            Status::Infeasible => "no percussion satisfies the constraints",
            Status::Singular => "the iteration matrix is singular",
            Status::NotFinite => "a value became NaN or infinite",
            Status::Unsupported => "this solver does not handle this kind of problem",
        }
    }
}

/// Result of a solve: status, work and residual.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Report {
    /// How it ended.
    pub status: Status,
    /// The solver whose r this is.
    pub solver: &'static str,
    /// Iterations (sweeps, Newton steps, pivots) of all stages.
    pub iterations: usize,
    /// Pivots of Lemke's method among them.
    pub pivots: usize,
    /// Residual at the returned r.
    pub residual: f64,
    /// Row at which a singular matrix was found, or the row with the largest part in a contradiction, if that ended the solve.
    pub row: Option<usize>,
    /// The percussions are not determined by the velocities (rank-deficient directions in this mode).
    pub non_unique: bool,
}

impl Report {
    pub(crate) fn trivial(solver: &'static str) -> Self {
        Self { residual: 0.0, ..Self::failed(solver, Status::Solved) }
    }

    pub(crate) fn failed(solver: &'static str, status: Status) -> Self {
        Self { status, solver, iterations: 0, pivots: 0, residual: f64::INFINITY, row: None, non_unique: false }
    }

    /// Whether the residual met the tolerance.
    #[inline]
    pub fn solved(&self) -> bool {
        self.status == Status::Solved
    }
}

/// What a solver is and can do.
#[derive(Debug)]
pub struct SolverInfo {
    /// Name in options and lists.
    pub name: &'static str,
    /// What it does, one line.
    pub summary: &'static str,
    /// Where it comes from (key of `docs/references.bib`).
    pub reference: &'static str,
    /// Which sets it handles.
    pub handles: fn(&Set) -> bool,
    /// Makes one.
    pub make: fn() -> Box<dyn Solver>,
}

/// A solver of the one-step problem. Its fields are scratch memory: dropping them changes no result.
pub trait Solver: Send {
    /// What it is.
    fn info(&self) -> &'static SolverInfo;

    /// Solves from the start guess in `r`, which receives the best percussions found.
    fn solve(&mut self, problem: &Problem, r: &mut [f64], options: &Options) -> Report;

    /// Why the last solve of this problem chose its method, in one line; `None` if there was no choice.
    fn reason(&self, _problem: &Problem) -> Option<String> {
        None
    }
}

/// All solvers.
pub static SOLVERS: &[SolverInfo] = &[
    SolverInfo {
        name: "auto",
        summary: "Newton from the warm start, then Gauss-Seidel with a Newton finish, then Lemke (many bodies: Gauss-Seidel first); the first that is verified",
        reference: "-",
        handles: |_| true,
        make: || Box::new(Auto::default()),
    },
    SolverInfo {
        name: "jacobi",
        summary: "projected Jacobi relaxation (PJOR)",
        reference: "Studer2008, (22)",
        handles: |_| true,
        make: || Box::new(ProjectedJacobi::default()),
    },
    SolverInfo {
        name: "gauss-seidel",
        summary: "projected Gauss-Seidel relaxation (PSOR)",
        reference: "Studer2008, (23)",
        handles: |_| true,
        make: || Box::new(ProjectedGaussSeidel::default()),
    },
    SolverInfo {
        name: "nsgs",
        summary: "block nonlinear Gauss-Seidel with exact local solves, momentum, and jumps along a drift",
        reference: "Jean1999",
        handles: |_| true,
        make: || Box::new(GaussSeidel::default()),
    },
    SolverInfo {
        name: "apgd",
        summary: "accelerated projected gradient with an adaptive step length; many contacts, products with A only",
        reference: "Mazhar2015",
        handles: |_| true,
        make: || Box::new(ProjectedGradient::default()),
    },
    SolverInfo {
        name: "lemke",
        summary: "Lemke's complementary pivoting, lexicographic; LCP, mixed LCP, boxes, planar and polyhedral friction",
        reference: "CottlePangStone1992, 4.4",
        handles: |set| match set {
            Set::Ball { dim, .. } | Set::Coulomb { dim, .. } => *dim == 1,
            Set::Free { .. } | Set::NonNegative | Set::Interval { .. } | Set::Polyhedral { .. } => true,
        },
        make: || Box::new(Lemke::default()),
    },
    SolverInfo {
        name: "newton",
        summary: "semismooth Newton on the frozen projections with line search; dense with least norm where rank-deficient, sparse beyond 400 rows",
        reference: "AlartCurnier1991",
        handles: |_| true,
        make: || Box::new(Newton::default()),
    },
    SolverInfo {
        name: "fischer-burmeister",
        summary: "semismooth Newton on the function of Fischer and Burmeister (contacts; other sets by their projections)",
        reference: "FukushimaLuoTseng2002",
        handles: |_| true,
        make: || Box::new(FischerBurmeister::default()),
    },
    SolverInfo {
        name: "proximal",
        summary: "proximal point iteration around a semismooth Newton, sparse or dense; for rank-deficient and hard problems",
        reference: "Rockafellar1976",
        handles: |_| true,
        make: || Box::new(Proximal::default()),
    },
    SolverInfo {
        name: "admm",
        summary: "alternating directions with one factorisation per penalty; for structures at rest, where most contacts stick",
        reference: "Boyd2011",
        handles: |_| true,
        make: || Box::new(Admm::default()),
    },
];

fn info(name: &str) -> &'static SolverInfo {
    SOLVERS.iter().find(|s| s.name == name).unwrap_or(&SOLVERS[0])
}

/// Makes a solver by name.
#[inline]
pub fn make(name: &str) -> Option<Box<dyn Solver>> {
    SOLVERS.iter().find(|s| s.name == name).map(|s| (s.make)())
}

/// Scratch for evaluating the residual.
#[derive(Debug, Default, Clone)]
struct Judge {
    u: Vec<f64>,
}

impl Judge {
    fn residual(&mut self, problem: &Problem, r: &[f64]) -> f64 {
        capacity::resize(&mut self.u, problem.size(), 0.0);
        problem.residual(r, &mut self.u)
    }
}

/// The best percussions of an iteration: the result is never worse than the start.
#[derive(Debug, Default, Clone)]
struct Best {
    r: Vec<f64>,
    residual: f64,
}

impl Best {
    fn start(&mut self) {
        self.residual = f64::INFINITY;
    }

    fn note(&mut self, r: &[f64], residual: f64) {
        if residual < self.residual {
            self.residual = residual;
            capacity::assign(&mut self.r, r);
        }
    }

    /// Restores the best percussions into `r` and their residual into the report.
    fn restore(&self, r: &mut [f64], report: &mut Report) {
        if self.residual < f64::INFINITY {
            r.copy_from_slice(&self.r);
        } else {
            r.fill(0.0);
        }
        report.residual = self.residual;
    }
}

/// Replaces a start guess that is not finite by zeros.
fn sanitise(r: &mut [f64]) {
    if !r.iter().all(|x| x.is_finite()) {
        r.fill(0.0);
    }
}
