//! Forces and accelerations at a state against closed forms.

use complementarity::{Options, solver};
use nonsmooth::contract::{Candidates, Reach};
use nonsmooth::contract::{Evaluator, Workspace};
use nonsmooth::law::ContactLaw;
use nonsmooth::scheme::{Solve, acceleration::Forces};
use nonsmooth::{Differentiated, Model, State};
use nonsmooth_reference::{Incline, Pendulum, PointOnTable, PulledMass};

/// λ and u̇ at (0, q, u).
fn forces(model: impl Model, q: &[f64], u: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let (system, work) = (Differentiated::new(model).unwrap(), Workspace::default());
    let system = Evaluator::new(&system, &work);
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
    assert!(near(&found.0, lambda) && near(&found.1, acceleration), "{found:?} is not {lambda:?}, {acceleration:?}");
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
