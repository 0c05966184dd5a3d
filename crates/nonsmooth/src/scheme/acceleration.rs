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
//! A scheme that looks for the time at which a law changes asks what the forces would be if it did not: `Treat::Closed`, `Treat::Stuck`.

use super::Solve;
use crate::contract::{Candidates, Kind, System};
use crate::law::{ElementSets, Friction, Law};
use crate::state::State;
use complementarity::linear::dense::{max_norm, norm};
use complementarity::{FullProblem, Problem, Set};

/// Gap (m) and velocity (relative to 1 + max|u|) that count as zero.
const CLOSED: f64 = 1e-10;

/// How an interaction takes part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Treat {
    /// Not at all.
    Open,
    /// By its law; a contact is closed.
    Law,
    /// By its law, at rest: what slip there is, is an error of the velocity.
    Rest,
    /// A contact that stays closed, whatever normal force that takes, and slips.
    Closed,
    /// As a constraint: closed and stuck, whatever force that takes.
    Stuck,
}

/// Forces at a state. See the [module](self).
pub struct Forces {
    full: FullProblem,
    problem: Problem,
    rows: Vec<f64>,
    lambda: Vec<f64>,
    acceleration: Vec<f64>,
    r: Vec<f64>,
    blocks: Vec<Place>,
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

/// Where the forces of a block go.
struct Place {
    /// First component of the interaction, and of the block in it.
    first: usize,
    at: usize,
    /// What a slip adds to the others.
    along: Along,
}

impl Forces {
    /// Room for a system.
    pub fn new(system: &dyn System) -> Self {
        Self {
            full: FullProblem::new(&system.structure().pattern),
            problem: Problem::default(),
            rows: Vec::new(),
            lambda: Vec::new(),
            acceleration: vec![0.0; system.structure().nu()],
            r: Vec::new(),
            blocks: Vec::new(),
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
    pub fn solve(&mut self, system: &dyn System, state: &State, list: &Candidates, solve: &mut Solve) -> bool {
        let (t, q, u) = (state.t, &state.q, &state.u);
        let still = CLOSED * (1.0 + max_norm(u));
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
        system: &dyn System,
        (t, q, u): (f64, &[f64], &[f64]),
        list: &Candidates,
        treat: impl Fn(usize, &[f64]) -> Treat,
        solve: &mut Solve,
    ) -> bool {
        self.lambda.clear();
        self.lambda.resize(list.components(), 0.0);
        self.full.clear_blocks();
        self.full.matrix.clear();
        system.mass(t, q, &mut self.full.matrix);
        self.full.f.fill(0.0);
        for i in 0..system.structure().forces.len() {
            system.force(i, t, q, u, &mut self.full.f);
        }
        self.rows.clear();
        self.blocks.clear();
        let still = CLOSED * (1.0 + max_norm(u));
        for (i, k) in list.items().iter().enumerate() {
            let (n, dim) = (k.dofs.len(), k.dim());
            let Self { w, chi, gamma, rate, force, full, rows, blocks, lambda, .. } = self;
            w.resize(dim * n, 0.0);
            chi.resize(dim, 0.0);
            rate.resize(dim, 0.0);
            system.velocity(k, t, q, w, chi);
            gamma.clear();
            gamma.extend((0..dim).map(|j| chi[j] + k.row_times(&w[j * n..(j + 1) * n], u)));
            let treat = treat(i, gamma);
            if treat == Treat::Open {
                continue;
            }
            let normal = |held: bool| if held { Set::Free { dim: 1 } } else { Set::NonNegative };
            let held = matches!(treat, Treat::Closed | Treat::Stuck);
            let at_rest = matches!(treat, Treat::Rest | Treat::Stuck);
            system.velocity_rate(k, t, q, u, rate);
            let first = list.range(i).start;
            let speed = if at_rest { 0.0 } else { norm(&gamma[usize::from(k.kind == Kind::Contact)..]) };
            let mut push = |set: Set, at: usize, force: &[f64], along: Along| {
                let d = set.dim();
                full.push_block(set, &k.dofs, &rate[at..at + d]).copy_from_slice(force);
                rows.extend_from_slice(&w[at * n..(at + d) * n]);
                blocks.push(Place { first, at, along });
            };
            match &*k.law {
                Law::Contact(law) => match &law.friction {
                    Some(Friction::Coulomb { mu } | Friction::Polyhedral { mu, .. }) if speed > still => {
                        let mut along = [0.0; 3];
                        along.iter_mut().zip(&gamma[1..]).for_each(|(a, g)| *a = -mu * g / speed);
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
                            for j in 1..dim {
                                lambda[first + j] = -bound * gamma[j] / speed;
                            }
                        } else if held {
                            push(Set::Free { dim: dim - 1 }, 1, &w[n..], NONE);
                        } else {
                            push(Set::Ball { dim: dim - 1, radius: *bound }, 1, &w[n..], NONE);
                        }
                    }
                    _ => {
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
                        for j in 0..dim {
                            lambda[first + j] = -bound * gamma[j] / speed;
                        }
                    }
                    ElementSets::Ball { force, .. } => push(Set::Ball { dim, radius: *force }, 0, w, NONE),
                    ElementSets::Box { force, .. } => {
                        for (j, &(lower, upper)) in force.iter().enumerate() {
                            let bound = if gamma[j] > 0.0 { lower } else { upper };
                            if !at_rest && gamma[j].abs() > still && bound.is_finite() {
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
        if self.full.reduce_onto(&self.rows, &mut self.problem).is_err() {
            self.lambda.fill(0.0);
            return false;
        }
        self.r.clear();
        self.r.resize(self.full.c.len(), 0.0);
        if !self.full.blocks().is_empty() && !solve.solver.solve(&self.problem, &mut self.r, &solve.options).solved() {
            self.lambda.fill(0.0);
            return false;
        }
        self.full.velocity(&self.r, &mut self.acceleration);
        for (block, Place { first, at, along: (along, slips) }) in self.full.blocks().iter().zip(&self.blocks) {
            for k in 0..block.set.dim() {
                self.lambda[first + at + k] = self.r[block.start + k];
            }
            for (k, a) in along[..*slips].iter().enumerate() {
                self.lambda[first + 1 + k] = a * self.r[block.start];
            }
        }
        true
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test fails on an error
mod tests {
    use super::*;
    use crate::contract::Reach;
    use crate::law::ContactLaw;
    use crate::reference::{Incline, Pendulum, PointOnTable, PulledMass};
    use crate::{Differentiated, Model};
    use complementarity::{Options, solver};

    /// λ and u̇ at (0, q, u).
    fn forces(model: impl Model, q: &[f64], u: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let system = Differentiated::new(model).unwrap();
        let state = State::new(0.0, q.to_vec(), u.to_vec());
        let mut list = Candidates::default();
        system.candidates(0.0, q, u, Reach::ALL, &mut list);
        let mut solve = Solve { solver: solver::make("auto").unwrap(), options: Options::default() };
        let mut forces = Forces::new(&system);
        assert!(forces.solve(&system, &state, &list, &mut solve));
        (forces.lambda().to_vec(), forces.acceleration().to_vec())
    }

    fn assert_near(found: &(Vec<f64>, Vec<f64>), lambda: &[f64], acceleration: &[f64]) {
        // The solver's 1e-10 of forces of some 10 N.
        let near = |a: &[f64], b: &[f64]| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-8);
        assert!(
            near(&found.0, lambda) && near(&found.1, acceleration),
            "{found:?} is not {lambda:?}, {acceleration:?}"
        );
    }

    #[test]
    fn forces_are_those_of_the_closed_forms() {
        let (slope, mu, mass, g): (f64, f64, f64, f64) = (0.5, 0.3, 2.0, 9.81);
        let incline = |mu| Incline { slope, mu, mass, g };
        let (normal, along) = (mass * g * slope.cos(), mass * g * slope.sin());
        let down = (along - mu * normal) / mass;
        // Slips down, begins to slip, is thrown up, sticks, is in the air.
        assert_near(&forces(incline(mu), &[0.0; 2], &[1.0, 0.0]), &[normal, -mu * normal], &[down, 0.0]);
        assert_near(&forces(incline(mu), &[0.0; 2], &[0.0; 2]), &[normal, -mu * normal], &[down, 0.0]);
        let up = (along + mu * normal) / mass;
        assert_near(&forces(incline(mu), &[0.0; 2], &[-1.0, 0.0]), &[normal, mu * normal], &[up, 0.0]);
        assert_near(&forces(incline(0.8), &[0.0; 2], &[0.0; 2]), &[normal, -along], &[0.0; 2]);
        assert_near(&forces(incline(mu), &[0.0, 0.1], &[0.0; 2]), &[0.0; 2], &[along / mass, -normal / mass]);
        // A swing through the lowest point: g + v²/l in the rod; and two rods share it.
        assert_near(&forces(Pendulum { g, copies: 1 }, &[0.0, -1.0], &[2.0, 0.0]), &[-(g + 4.0)], &[0.0, 4.0]);
        let half = -0.5 * (g + 4.0);
        assert_near(&forces(Pendulum { g, copies: 2 }, &[0.0, -1.0], &[2.0, 0.0]), &[half, half], &[0.0, 4.0]);
        // An element: slips, sticks, begins to slip.
        let pulled = |force| PulledMass { mass: 1.0, force, bound: 2.0, e: 0.0 };
        assert_near(&forces(pulled(3.0), &[0.0], &[0.5]), &[-2.0], &[1.0]);
        assert_near(&forces(pulled(1.0), &[0.0], &[0.0]), &[-1.0], &[0.0]);
        assert_near(&forces(pulled(3.0), &[0.0], &[0.0]), &[-2.0], &[1.0]);
        // In space, along (3, -4)/5; with a constant bound of 2 N.
        let law = ContactLaw::newton(0.0).tresca(2, 2.0);
        let table = PointOnTable { mass: 1.5, g, law, table: [0.0; 3] };
        let found = forces(table, &[0.0; 3], &[3.0, -4.0, 0.0]);
        assert_near(&found, &[1.5 * g, -1.2, 1.6], &[-0.8, 1.6 / 1.5, 0.0]);
    }
}
