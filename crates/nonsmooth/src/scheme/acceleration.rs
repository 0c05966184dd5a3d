//! Accelerations and forces at a state, with the laws on acceleration level [Breuling2024, (54), (55)]:
//!
//! ```text
//! M u̇ = h + Σ W λ,    γ̇ = Wᵀ u̇ + (dγ/dt at u̇ = 0)
//! γ̇ = 0                                        joints
//! 0 ≤ g̈_N ⊥ λ_N ≥ 0                            contacts with g_N = 0 and ġ_N = 0
//! −γ̇_F ∈ N_{C_F(λ_N)}(λ_F)                     where γ_F = 0
//! λ_F = −μ λ_N γ_F/‖γ_F‖                       where it slips; elements likewise, with their force sets
//! ```
//!
//! Friction that slips follows the normal force: a row g̈_N with the force direction W_N − μ W_F γ_F/‖γ_F‖.
//!
//! A scheme that looks for the time at which a law changes asks what the forces would be if it did not: `Treat::Closed`, `Treat::Stuck`. One that takes
//! these forces for a whole step from velocities γ₀ at its start asks with these (`Origin`): then a contact or an element at rest is one whose
//! velocity at the end of the step would be none,
//!
//! ```text
//! 0 ≤ g̈_N + max(γ_N0, 0)/Δt ⊥ λ_N ≥ 0,    −(γ̇_F + γ_F0/Δt) ∈ N_{C_F(λ_N)}(λ_F),
//! ```
//!
//! and a slip that has turned against γ_F0 keeps the direction of γ_F0.

use super::{Failure, Solve};
use crate::contract::{Candidates, Evaluator, Interaction, Kind};
use crate::law::{ElementSets, Friction, Law};
use crate::state::{State, StepReport};
use complementarity::linear::dense::{dot, max_norm, norm};
use complementarity::{FullProblem, Problem, Report, Set, Status};

/// Gap (m) and velocity (relative to 1 + max|u|) that count as zero.
const CLOSED: f64 = 1e-10;

/// How an interaction takes part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Treat {
    /// Not at all.
    Open,
    /// By its law; a contact is closed.
    Law,
    /// By its law, at rest: what slip there is, is an error of the velocity, or ends with the step.
    Rest,
    /// A contact that stays closed, whatever normal force that takes, and slips.
    Closed,
    /// As a constraint: closed and stuck, whatever force that takes.
    Stuck,
}

/// Start of the step whose forces are computed.
#[derive(Clone, Copy)]
pub(super) struct Origin<'a> {
    /// γ₀ by component of the candidates.
    pub(super) gamma: &'a [f64],
    /// 1/Δt.
    pub(super) rate: f64,
}

/// Forces at a state. See the [module](self).
pub struct Forces {
    pub(super) full: FullProblem,
    problem: Problem,
    /// Rows of γ̇, block after block: not W where friction slips.
    pub(super) rows: Vec<f64>,
    lambda: Vec<f64>,
    acceleration: Vec<f64>,
    /// Forces, row by row of the blocks.
    pub(super) r: Vec<f64>,
    blocks: Vec<ForceBlock>,
    /// Whether M is constant and there.
    mass_stays: bool,
    /// Rows, χ, γ and its rate of one interaction, and a force direction.
    w: Vec<f64>,
    chi: Vec<f64>,
    gamma: Vec<f64>,
    rate: Vec<f64>,
    force: Vec<f64>,
}

/// Friction of a slip per unit of the normal force, and how many components it has.
type Along = ([f64; 3], usize);
const NONE: Along = ([0.0; 3], 0);

/// Components of λ that a block of the problem determines.
struct ForceBlock {
    /// The interaction, its first component, and the block's first in it.
    interaction: usize,
    first: usize,
    at: usize,
    /// What a slip adds to the others.
    along: Along,
}

/// −γ/‖γ‖ of a slip; against `origin` where it has turned round, or where there is none.
fn against(gamma: &[f64], origin: Option<&[f64]>, scale: f64) -> [f64; 3] {
    let gamma = match origin {
        Some(from) if dot(gamma, from) <= 0.0 => from,
        _ => gamma,
    };
    let speed = norm(gamma).max(f64::MIN_POSITIVE);
    let mut out = [0.0; 3];
    out.iter_mut().zip(gamma).for_each(|(a, g)| *a = -scale * g / speed);
    out
}

impl Forces {
    /// Room for a system.
    pub fn new(system: &Evaluator) -> Self {
        Self {
            full: FullProblem::new(&system.structure().mass_pattern),
            problem: Problem::default(),
            rows: Vec::new(),
            lambda: Vec::new(),
            acceleration: vec![0.0; system.structure().nu()],
            r: Vec::new(),
            blocks: Vec::new(),
            mass_stays: false,
            w: Vec::new(),
            chi: Vec::new(),
            gamma: Vec::new(),
            rate: Vec::new(),
            force: Vec::new(),
        }
    }

    /// Forces λ by component of the candidates, N.
    pub fn lambda(&self) -> &[f64] {
        &self.lambda
    }

    /// u̇.
    pub fn acceleration(&self) -> &[f64] {
        &self.acceleration
    }

    /// Solves at a state. False, with forces zero, if there are none to be found (a paradox, or an impact that is due).
    pub fn solve(&mut self, system: &Evaluator, state: &State, list: &Candidates, solve: &mut Solve) -> bool {
        let (t, q, u) = (state.t, &state.q, &state.u);
        let still = still(u);
        let treat = |i: usize, gamma: &[f64]| {
            let k = &list.items()[i];
            if k.kind != Kind::Contact {
                return Treat::Law;
            }
            let mut g = [0.0];
            system.position(k, t, q, &mut g);
            if g[0] <= CLOSED && gamma[0].abs() <= still { Treat::Law } else { Treat::Open }
        };
        self.solve_by(system, (t, q, u), list, treat, solve)
    }

    /// The same at (t, q, u), with every interaction as `treat` says of its place and velocity.
    pub(super) fn solve_by(
        &mut self,
        system: &Evaluator,
        at: (f64, &[f64], &[f64]),
        list: &Candidates,
        treat: impl Fn(usize, &[f64]) -> Treat,
        solve: &mut Solve,
    ) -> bool {
        self.assemble(system, at, list, |_| true, treat, None);
        self.r.clear();
        let solved = self.solve_assembled(system, solve, &mut StepReport::default()).is_ok();
        if !solved {
            self.lambda.fill(0.0);
        }
        solved
    }

    /// M, h and the laws at (t, q, u): of those that `takes_part` names, every one as `treat` says of its place and velocity.
    pub(super) fn assemble(
        &mut self,
        system: &Evaluator,
        (t, q, u): (f64, &[f64], &[f64]),
        list: &Candidates,
        takes_part: impl Fn(usize) -> bool,
        treat: impl Fn(usize, &[f64]) -> Treat,
        origin: Option<Origin>,
    ) {
        self.lambda.clear();
        self.lambda.resize(list.components(), 0.0);
        self.full.clear_blocks();
        if !self.mass_stays {
            self.full.matrix.clear();
            system.mass(t, q, &mut self.full.matrix);
            self.mass_stays = system.structure().constant_mass;
        }
        self.full.f.fill(0.0);
        system.forces(t, q, u, &mut self.full.f);
        self.rows.clear();
        self.blocks.clear();
        let still = still(u);
        for (i, k) in list.items().iter().enumerate().filter(|(i, _)| takes_part(*i)) {
            let (n, dim) = (k.dofs.len(), k.dim());
            self.w.resize(dim * n, 0.0);
            self.chi.resize(dim, 0.0);
            system.velocity(k, t, q, &mut self.w, &mut self.chi);
            let Self { w, chi, gamma, .. } = self;
            gamma.clear();
            gamma.extend((0..dim).map(|j| chi[j] + k.row_times(&w[j * n..(j + 1) * n], u)));
            let treat = treat(i, gamma);
            if treat == Treat::Open {
                continue;
            }
            self.rate.resize(dim, 0.0);
            system.velocity_rate(k, t, q, u, &mut self.rate);
            self.push(i, k, list.range(i).start, treat, still, origin);
        }
    }

    /// The blocks of interaction `i` with the rows, γ and rates as they are, and its forces that are known already.
    fn push(&mut self, i: usize, k: &Interaction, first: usize, treat: Treat, still: f64, origin: Option<Origin>) {
        let (n, dim) = (k.dofs.len(), k.dim());
        let contact = usize::from(k.kind == Kind::Contact);
        let Self { w, gamma, rate, force, full, rows, blocks, lambda, .. } = self;
        let normal = |held: bool| if held { Set::Free { dim: 1 } } else { Set::NonNegative };
        let held = matches!(treat, Treat::Closed | Treat::Stuck);
        let at_rest = matches!(treat, Treat::Rest | Treat::Stuck);
        let begun = origin.map(|o| (&o.gamma[first..first + dim], o.rate));
        if let Some((from, per_step)) = begun {
            if contact == 1 {
                rate[0] += from[0].max(0.0) * per_step;
            }
            if treat == Treat::Rest && k.kind != Kind::Joint && k.kind != Kind::VelocityJoint {
                rate[contact..].iter_mut().zip(&from[contact..]).for_each(|(r, g)| *r += g * per_step);
            }
        }
        // Whether it slips is what the start of the step says, where there is one.
        let from = begun.map(|(from, _)| &from[contact..]);
        let speed = if at_rest { 0.0 } else { norm(from.unwrap_or(&gamma[contact..])) };
        let mut push = |set: Set, at: usize, force: &[f64], along: Along| {
            let d = set.dim();
            full.push_block(set, &k.dofs, &rate[at..at + d]).copy_from_slice(force);
            rows.extend_from_slice(&w[at * n..(at + d) * n]);
            blocks.push(ForceBlock { interaction: i, first, at, along });
        };
        match &*k.law {
            Law::Contact(law) => match &law.friction {
                Some(Friction::Coulomb { mu } | Friction::Polyhedral { mu, .. }) if speed > still => {
                    let along = against(&gamma[1..], from, *mu);
                    force.clear();
                    force.extend_from_slice(&w[..n]);
                    for (row, a) in w[n..].chunks_exact(n.max(1)).zip(&along) {
                        force.iter_mut().zip(row).for_each(|(f, w)| *f += a * w);
                    }
                    push(normal(held), 0, force, (along, dim - 1));
                }
                Some(Friction::Tresca { bound }) => {
                    push(normal(held), 0, &w[..n], NONE);
                    if speed > still {
                        lambda[first + 1..first + dim].copy_from_slice(&against(&gamma[1..], from, *bound)[..dim - 1]);
                    } else if held {
                        push(Set::Free { dim: dim - 1 }, 1, &w[n..], NONE);
                    } else {
                        push(Set::Ball { dim: dim - 1, radius: *bound }, 1, &w[n..], NONE);
                    }
                }
                Some(Friction::Coulomb { .. } | Friction::Polyhedral { .. }) | None => {
                    let mut at = 0;
                    k.law.percussion_sets(dim, 1.0, |set| {
                        let d = set.dim();
                        let set = if held { Set::Free { dim: d } } else { set };
                        push(set, at, &w[at * n..(at + d) * n], NONE);
                        at += d;
                    });
                }
            },
            Law::Element(_) if held => push(Set::Free { dim }, 0, w, NONE),
            Law::Element(law) => match &law.sets {
                ElementSets::Ball { force: bound, .. } if speed > still => {
                    lambda[first..first + dim].copy_from_slice(&against(gamma, from, *bound)[..dim]);
                }
                ElementSets::Ball { force, .. } => push(Set::Ball { dim, radius: *force }, 0, w, NONE),
                ElementSets::Box { force, .. } => {
                    for (j, &(lower, upper)) in force.iter().enumerate() {
                        let slip = from.unwrap_or(gamma)[j];
                        let bound = if slip > 0.0 { lower } else { upper };
                        if !at_rest && slip.abs() > still && bound.is_finite() {
                            lambda[first + j] = bound;
                        } else {
                            push(Set::Interval { lower, upper }, j, &w[j * n..(j + 1) * n], NONE);
                        }
                    }
                }
            },
            Law::Bilateral => {
                let mut at = 0;
                k.law.percussion_sets(dim, 1.0, |set| {
                    let d = set.dim();
                    push(set, at, &w[at * n..(at + d) * n], NONE);
                    at += d;
                });
            }
        }
        // Forces that are known already.
        for j in 0..dim {
            let known = lambda[first + j];
            if known != 0.0 {
                for (&d, w) in k.dofs.iter().zip(&w[j * n..(j + 1) * n]) {
                    full.f[d as usize] += known * w;
                }
            }
        }
    }

    /// Takes forces λ by component as start guess, unless there is one of the right size.
    pub(super) fn begin_with(&mut self, lambda: &[f64]) {
        if self.r.len() == self.full.c.len() {
            return;
        }
        self.take(lambda);
    }

    /// The forces of the blocks from λ.
    fn take(&mut self, lambda: &[f64]) {
        self.r.clear();
        self.r.resize(self.full.c.len(), 0.0);
        for (block, ForceBlock { first, at, .. }) in self.full.blocks().iter().zip(&self.blocks) {
            for k in 0..block.set.dim() {
                self.r[block.start + k] = lambda[first + at + k];
            }
        }
    }

    /// Whether every force acts along the row of its law: nothing slips.
    fn is_symmetric(&self) -> bool {
        self.blocks.iter().all(|b| b.along.1 == 0)
    }

    /// Forces and accelerations of what was assembled, from the start guess in `r` if it has its size.
    pub(super) fn solve_assembled(
        &mut self,
        system: &Evaluator,
        solve: &mut Solve,
        work: &mut StepReport,
    ) -> Result<(), Failure> {
        if self.r.len() != self.full.c.len() {
            self.r.clear();
            self.r.resize(self.full.c.len(), 0.0);
        }
        let report = if self.is_symmetric() {
            let Self { full, r, acceleration, .. } = self;
            let report = full.solve(solve.solver.as_mut(), &solve.options, r, acceleration);
            work.take(&report, full.reduced());
            report
        } else {
            let report = match self.full.reduce_onto(&self.rows, &mut self.problem) {
                Ok(()) => solve.solver.solve(&self.problem, &mut self.r, &solve.options),
                Err(singular) => Report {
                    status: Status::Singular,
                    solver: solve.solver.info().name,
                    iterations: 0,
                    pivots: 0,
                    residual: f64::INFINITY,
                    row: Some(singular.row),
                    non_unique: false,
                },
            };
            work.take(&report, &self.problem);
            if report.solved() {
                self.full.velocity(&self.r, &mut self.acceleration);
            }
            report
        };
        self.scatter();
        self.judge(system, &report)
    }

    /// What a solve means for the step.
    pub(super) fn judge(&self, system: &Evaluator, report: &Report) -> Result<(), Failure> {
        let finite = self.full.f.iter().all(|x| x.is_finite());
        match (report.status, report.row) {
            _ if !finite => Err(Failure::NotFinite { what: "the equation of motion".into() }),
            (Status::NotFinite, _) => Err(Failure::NotFinite { what: "the equation of motion".into() }),
            (Status::Singular, Some(row)) => {
                let velocity = system.structure().velocities[row % system.structure().nu().max(1)].into();
                Err(Failure::Singular { what: "the mass matrix", velocity })
            }
            _ if report.solved() => Ok(()),
            _ => Err(Failure::Solver(*report)),
        }
    }

    /// λ from the forces of the blocks; what is known already stays.
    pub(super) fn scatter(&mut self) {
        for (block, ForceBlock { first, at, along: (along, slips), .. }) in self.full.blocks().iter().zip(&self.blocks)
        {
            for k in 0..block.set.dim() {
                self.lambda[first + at + k] = self.r[block.start + k];
            }
            for (k, a) in along[..*slips].iter().enumerate() {
                self.lambda[first + 1 + k] = a * self.r[block.start];
            }
        }
    }

    /// The forces of the blocks from λ. Returns how far λ is from what slips and known forces make it, N.
    pub(super) fn gather(&mut self, lambda: &[f64]) -> f64 {
        self.take(lambda);
        self.scatter();
        let off = self.lambda.iter().zip(lambda).map(|(a, b)| (a - b).abs());
        off.fold(0.0, |worst, d| if d <= worst { worst } else { d })
    }

    /// u̇ from the forces of the blocks. False if M has no factors.
    pub(super) fn accelerate(&mut self) -> bool {
        let factored = self.full.matrix.factor().is_ok();
        if factored {
            self.full.velocity(&self.r, &mut self.acceleration);
        }
        factored
    }

    /// Interaction, set, forces and relative acceleration of every block, with u̇ as it is.
    pub(super) fn for_each_law(&self, mut f: impl FnMut(usize, &Set, &[f64], &[f64])) {
        let mut rows = &self.rows[..];
        for (b, (block, place)) in self.full.blocks().iter().zip(&self.blocks).enumerate() {
            let (dofs, d) = (self.full.coupling().dofs(b), block.set.dim());
            let mut xi = [0.0; complementarity::sets::MAX_DIM];
            for (j, x) in xi.iter_mut().take(d).enumerate() {
                let (row, rest) = rows.split_at(dofs.len());
                let along = dofs.iter().zip(row).map(|(&l, w)| w * self.acceleration[l as usize]);
                *x = self.full.c[block.start + j] + along.sum::<f64>();
                rows = rest;
            }
            f(place.interaction, &block.set, &self.r[block.start..block.start + d], &xi[..d]);
        }
    }
}

/// The velocity that is none among these.
pub(super) fn still(u: &[f64]) -> f64 {
    CLOSED * (1.0 + max_norm(u))
}
