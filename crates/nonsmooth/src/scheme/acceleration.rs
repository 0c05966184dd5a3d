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

use super::Solve;
use crate::contract::{Candidates, Kind, System};
use crate::law::{ElementSets, Friction, Law};
use crate::state::State;
use complementarity::linear::dense::{max_norm, norm};
use complementarity::{FullProblem, Problem, Set};

/// Gap (m) and velocity (relative to 1 + max|u|) that count as zero.
const CLOSED: f64 = 1e-10;

/// Forces at a state. See the [module](self).
pub struct Forces {
    full: FullProblem,
    problem: Problem,
    rows: Vec<f64>,
    lambda: Vec<f64>,
    acceleration: Vec<f64>,
    r: Vec<f64>,
    /// Interaction and first component of every block, and what a slip adds to the others.
    blocks: Vec<(usize, usize, Vec<f64>)>,
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
            let (mut w, mut chi, mut rate) = (vec![0.0; dim * n], vec![0.0; dim], vec![0.0; dim]);
            system.velocity(k, t, q, &mut w, &mut chi);
            let gamma: Vec<f64> = (0..dim).map(|j| chi[j] + k.row_times(&w[j * n..(j + 1) * n], u)).collect();
            if k.kind == Kind::Contact {
                let mut g = [0.0];
                system.position(k, t, q, &mut g);
                if !(g[0] <= CLOSED && gamma[0].abs() <= still) {
                    continue;
                }
            }
            system.velocity_rate(k, t, q, u, &mut rate);
            let first = list.range(i).start;
            let speed = norm(&gamma[usize::from(k.kind == Kind::Contact)..]);
            let mut push = |set: Set, at: usize, force: &[f64], along: Vec<f64>| {
                let d = set.dim();
                self.full.push_block(set, &k.dofs, &rate[at..at + d]).copy_from_slice(force);
                self.rows.extend_from_slice(&w[at * n..(at + d) * n]);
                self.blocks.push((first, at, along));
            };
            match &*k.law {
                Law::Contact(law) => match &law.friction {
                    Some(Friction::Coulomb { mu } | Friction::Polyhedral { mu, .. }) if speed > still => {
                        let along: Vec<f64> = gamma[1..].iter().map(|g| -mu * g / speed).collect();
                        let mut force = w[..n].to_vec();
                        for (row, a) in w[n..].chunks_exact(n.max(1)).zip(&along) {
                            force.iter_mut().zip(row).for_each(|(f, w)| *f += a * w);
                        }
                        push(Set::NonNegative, 0, &force, along);
                    }
                    Some(Friction::Tresca { bound }) => {
                        push(Set::NonNegative, 0, &w[..n], Vec::new());
                        if speed > still {
                            for j in 1..dim {
                                self.lambda[first + j] = -bound * gamma[j] / speed;
                            }
                        } else {
                            push(Set::Ball { dim: dim - 1, radius: *bound }, 1, &w[n..], Vec::new());
                        }
                    }
                    _ => {
                        let mut at = 0;
                        k.law.percussion_sets(dim, 1.0, |set| {
                            let d = set.dim();
                            push(set, at, &w[at * n..(at + d) * n], Vec::new());
                            at += d;
                        });
                    }
                },
                Law::Element(law) => match &law.sets {
                    ElementSets::Ball { force, .. } if speed > still => {
                        for j in 0..dim {
                            self.lambda[first + j] = -force * gamma[j] / speed;
                        }
                    }
                    ElementSets::Ball { force, .. } => push(Set::Ball { dim, radius: *force }, 0, &w, Vec::new()),
                    ElementSets::Box { force, .. } => {
                        for (j, &(lower, upper)) in force.iter().enumerate() {
                            let bound = if gamma[j] > 0.0 { lower } else { upper };
                            if gamma[j].abs() > still && bound.is_finite() {
                                self.lambda[first + j] = bound;
                            } else {
                                push(Set::Interval { lower, upper }, j, &w[j * n..(j + 1) * n], Vec::new());
                            }
                        }
                    }
                },
                Law::Bilateral => {
                    let mut at = 0;
                    k.law.percussion_sets(dim, 1.0, |set| {
                        let d = set.dim();
                        push(set, at, &w[at * n..(at + d) * n], Vec::new());
                        at += d;
                    });
                }
            }
            // Forces that are known already.
            for j in 0..dim {
                let known = self.lambda[first + j];
                if known != 0.0 {
                    for (&d, w) in k.dofs.iter().zip(&w[j * n..(j + 1) * n]) {
                        self.full.f[d as usize] += known * w;
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
        for (block, (first, at, along)) in self.full.blocks().iter().zip(&self.blocks) {
            for k in 0..block.set.dim() {
                self.lambda[first + at + k] = self.r[block.start + k];
            }
            for (k, a) in along.iter().enumerate() {
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
