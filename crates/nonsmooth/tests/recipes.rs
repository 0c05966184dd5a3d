//! The recipe of ARCHITECTURE.md for a scheme and a solver, followed from outside the crate: what stands here is all that it takes.

use complementarity::linear::{Dense, Matrix};
use complementarity::{FullProblem, Options, Problem, Report, Set, Solver, SolverInfo, Status};
use nonsmooth::accounting::{Certificate, Ledger, Line, potential_energy};
use nonsmooth::contract::{Evaluator, Feature, Features, Kind};
use nonsmooth::scheme::{Examination, Failure, Order, Scheme, SchemeInfo, Solve};
use nonsmooth::state::Record;
use nonsmooth::{Differentiated, Simulation, SimulationOptions, State, Step};
use nonsmooth_reference::Ball;
use std::sync::Arc;

nonsmooth::record! {
    /// What the scheme carries into the next step.
    "dummy memory" pub struct Memory {
        /// Impacts up to here.
        impacts: u32 = "impacts",
    }
}

static INFO: SchemeInfo = SchemeInfo {
    name: "dummy",
    summary: "Moreau's scheme in its plainest form: q̇ = u, no friction, one contact after the other",
    reference: "-",
    position_level: false,
    impact_steps: 1,
    looks_ahead: false,
    adaptive: false,
    variable_step: true,
    stages: 1,
    supports: Features::of(&[Feature::Restitution]),
    options: &[],
    make: |_| Ok(Box::new(Dummy::default())),
};

/// u₁ = u₀ + M⁻¹(h dt + W P), q₁ = q₀ + dt u₁, 0 ≤ P ⊥ γ⁺ + e γ⁻ ≥ 0 where g ≤ 0.
#[derive(Default)]
struct Dummy {
    problem: Option<Problem>,
}

impl Dummy {
    /// M and dt h at the start.
    fn dynamics(system: &Evaluator, start: &State, dt: f64) -> (Matrix, Vec<f64>) {
        let mut mass = Matrix::new(&system.structure().pattern);
        system.mass(start.t, &start.q, &mut mass);
        let mut h = vec![0.0; start.u.len()];
        system.forces(start.t, &start.q, &start.u, &mut h);
        h.iter_mut().for_each(|h| *h *= dt);
        (mass, h)
    }

    /// Rows of the contact `i`, spread over all velocities.
    fn row(system: &Evaluator, start: &State, step: &Step, i: usize) -> Vec<f64> {
        let k = &step.candidates.items()[i];
        let (mut w, mut chi) = (vec![0.0; k.dofs.len()], vec![0.0; 1]);
        system.velocity(k, start.t, &start.q, &mut w, &mut chi);
        let mut row = vec![0.0; start.u.len()];
        k.dofs.iter().zip(&w).for_each(|(&j, w)| row[j as usize] = *w);
        row
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

impl Scheme for Dummy {
    fn info(&self) -> &'static SchemeInfo {
        &INFO
    }
    fn order(&self) -> Order {
        Order { smooth: 1, impacts: 1 }
    }
    fn records(&self) -> Vec<Box<dyn Record>> {
        vec![Box::<Memory>::default()]
    }
    fn step(
        &mut self,
        system: &Evaluator,
        start: &State,
        dt: f64,
        solve: &mut Solve,
        out: &mut Step,
    ) -> Result<(), Failure> {
        out.begin(dt);
        let (mut mass, mut impulse) = Self::dynamics(system, start, dt);
        mass.factor().map_err(|e| Failure::Singular { what: "M", velocity: e.row.to_string() })?;
        mass.solve(&mut impulse);
        let mut u: Vec<f64> = start.u.iter().zip(&impulse).map(|(u, d)| u + d).collect();
        let mut hit = false;
        for i in 0..out.candidates.len() {
            out.set_inactive(i);
            out.active[i] = false;
            let k = out.candidates.items()[i].clone();
            let mut g = [0.0];
            system.position(&k, start.t, &start.q, &mut g);
            if k.kind != Kind::Contact || g[0] > 0.0 {
                continue;
            }
            let row = Self::row(system, start, out, i);
            let mut x = row.clone();
            mass.solve(&mut x);
            let (before, e) = (dot(&row, &start.u), k.law.restitution(0));
            let (a, b) = (Dense::from_rows(1, 1, vec![dot(&row, &x)]), dot(&row, &u) + e * before);
            let problem = Problem::dense(vec![Set::NonNegative], a.unwrap(), vec![b]).unwrap();
            let mut p = [0.0];
            let report = solve.solver.solve(&problem, &mut p, &solve.options);
            if !report.solved() {
                return Err(Failure::Solver(report));
            }
            u.iter_mut().zip(&x).for_each(|(u, x)| *u += x * p[0]);
            out.active[i] = true;
            hit |= p[0] > 0.0;
            let place = out.candidates.range(i).start;
            out.end.percussions.values_mut()[place] = p[0];
            (out.gamma_minus[place], out.gamma_plus[place]) = (before, dot(&row, &u));
            self.problem = Some(problem);
        }
        out.end.q = start.q.iter().zip(&u).map(|(q, u)| q + dt * u).collect();
        (out.end.t, out.end.u) = (start.t + dt, u);
        out.end.memory.make::<Memory>().impacts = start.memory.of::<Memory>().impacts + u32::from(hit);
        Ok(())
    }
    fn examine(&mut self, system: &Evaluator, start: &State, step: &Step, asked: Examination) {
        if let Some(out) = asked.certificate {
            *out = Self::certificate(system, start, step);
        }
        if let Some((_, out)) = asked.energy {
            Self::work(system, start, step, out);
        }
    }
    fn last_problem(&self) -> Option<&FullProblem> {
        None
    }
}

impl Dummy {
    fn certificate(system: &Evaluator, start: &State, step: &Step) -> Certificate {
        let (mass, mut rest) = Self::dynamics(system, start, step.dt);
        let change: Vec<f64> = step.end.u.iter().zip(&start.u).map(|(a, b)| a - b).collect();
        let mut momentum = vec![0.0; change.len()];
        mass.multiply(&change, &mut momentum);
        for i in (0..step.candidates.len()).filter(|i| step.active[*i]) {
            let row = Self::row(system, start, step, i);
            rest.iter_mut().zip(&row).for_each(|(r, w)| *r += w * step.percussion(i)[0]);
        }
        let dynamics = rest.iter().zip(&momentum).fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()));
        Certificate { dynamics, ..Certificate::default() }
    }
    fn work(system: &Evaluator, start: &State, step: &Step, out: &mut Ledger) {
        let mean: Vec<f64> = start.u.iter().zip(&step.end.u).map(|(a, b)| 0.5 * (a + b)).collect();
        for i in (0..step.candidates.len()).filter(|i| step.active[*i]) {
            let row = Self::row(system, start, step, i);
            out.add(Line::Normal, dot(&row, &mean) * step.percussion(i)[0]);
        }
        let (_, dt_h) = Self::dynamics(system, start, step.dt);
        let potential = |s: &State| potential_energy(system, s.t, &s.q);
        out.add(Line::Quadrature, potential(&step.end) - potential(start) + dot(&dt_h, &mean));
    }
}

/// A solver: the one contact of a problem with one row, in closed form.
struct ClosedForm;

static CLOSED_FORM: SolverInfo = SolverInfo {
    name: "closed-form",
    summary: "one row",
    reference: "-",
    handles: |set| matches!(set, Set::NonNegative),
    make: || Box::new(ClosedForm),
};

impl Solver for ClosedForm {
    fn info(&self) -> &'static SolverInfo {
        &CLOSED_FORM
    }
    fn solve(&mut self, problem: &Problem, r: &mut [f64], options: &Options) -> Report {
        let mut a = [0.0];
        problem.diagonal_block(0, &mut a);
        r[0] = (-problem.b()[0] / a[0]).max(0.0);
        let residual = problem.residual(r, &mut [0.0]);
        let status = if residual <= options.tolerance { Status::Solved } else { Status::Stalled };
        Report { status, solver: "closed-form", iterations: 1, pivots: 0, residual, row: None, non_unique: false }
    }
}

fn simulation(own_solver: bool) -> Simulation<'static> {
    let system = Arc::new(Differentiated::new(Ball { e: 0.5, ..Ball::default() }).unwrap());
    let start = State::new(0.0, vec![1.0], vec![0.0]);
    let mut run =
        Simulation::new(system, start, Box::new(Dummy::default()), SimulationOptions::new(1e-4, 3.0)).unwrap();
    if own_solver {
        run.set_solver(Box::new(ClosedForm));
    }
    run
}

#[test]
fn a_scheme_and_a_solver_of_another_crate_run_certify_and_balance() {
    let mut run = simulation(false);
    let summary = run.run();
    // The ball rests after infinitely many impacts; the scheme is of order 1.
    assert!(summary.end.q[0].abs() <= 1e-3 && summary.end.u[0].abs() <= 1e-3, "{:?}", summary.end);
    assert!(summary.worst.residual() <= 1e-13 && summary.energy.closure <= 1e-12);
    assert!(run.state().memory.of::<Memory>().impacts > 5);
    // Another solver, the same percussions up to rounding of a division.
    let other = simulation(true).run();
    assert!((other.end.q[0] - summary.end.q[0]).abs() <= 1e-12);
}

#[test]
fn its_record_goes_through_a_checkpoint() {
    let mut first = simulation(false);
    (0..12_000).for_each(|_| _ = first.advance(&mut ()));
    let impacts = first.state().memory.of::<Memory>().impacts;
    assert!(impacts > 0);
    let system = Arc::new(Differentiated::new(Ball { e: 0.5, ..Ball::default() }).unwrap());
    let options = SimulationOptions::new(1e-4, 3.0);
    let mut second = Simulation::resume(system, Box::new(Dummy::default()), options, &first.checkpoint()).unwrap();
    assert_eq!(second.state().memory.of::<Memory>().impacts, impacts);
    assert_eq!(first.run().end, second.run().end);
}
