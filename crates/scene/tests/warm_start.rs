//! What the percussions of the step before are worth: the one-step problems of a pile that settles, solved from zero and from them.

use complementarity::{FullProblem, Options, Problem, solver};
use nonsmooth::simulation::{Advance, Observer, StepView};
use nonsmooth_scene::prepare::{Prepared, Request};
use serde::Deserialize;
use std::collections::BTreeMap;

/// A pile of the shape of the bundled one, whose box is 4 m wide for a thousand discs. After half a second all have fallen; a few
/// still roll, and contacts come and go.
const DISCS: &str = "number=150";
const WIDTH: &str = "width=1.55";
const END: f64 = 1.0;

/// The part of a dumped problem that [`FullProblem`] does not keep.
#[derive(Deserialize)]
struct Names {
    blocks: Vec<Name>,
}

#[derive(Deserialize)]
struct Name {
    name: String,
}

/// Iterations of all steps of a window.
#[derive(Default)]
struct Iterations {
    steps: usize,
    blocks: usize,
    /// Blocks that the step before did not have.
    new: usize,
    /// From zero, from the solution of the problem before, and from the guess in the file.
    cold: usize,
    warm: usize,
    guess: usize,
}

impl Iterations {
    fn show(&self, what: &str) {
        let per_step = |n: usize| n as f64 / self.steps as f64;
        println!(
            "{what}: {} steps of {:.0} blocks ({} new), iterations per step {:.2} cold, {:.2} warm, {:.2} from the guess of the file",
            self.steps,
            per_step(self.blocks),
            self.new,
            per_step(self.cold),
            per_step(self.warm),
            per_step(self.guess)
        );
    }
}

/// Solves from `r`, with nothing known from other problems; the number of iterations.
fn solve(problem: &Problem, r: &mut [f64], options: &Options) -> usize {
    let report = solver::make("auto").unwrap().solve(problem, r, options);
    let residual = problem.residual(r, &mut vec![0.0; r.len()]);
    assert!(report.solved() && residual <= options.tolerance, "{report:?}, residual {residual:e}");
    report.iterations
}

/// Keeps the problem of the last step.
#[derive(Default)]
struct Kept(String);

impl Observer for Kept {
    fn step(&mut self, _view: &StepView) {}
    fn wants_problem(&mut self, _number: usize) -> bool {
        true
    }
    fn problem(&mut self, _number: usize, problem: String) {
        self.0 = problem;
    }
}

#[test]
fn percussions_of_the_step_before_save_two_thirds_of_the_iterations_of_a_settling_pile() {
    let set = [DISCS, WIDTH].map(|s| format!("parameters.{s}")).to_vec();
    let p = Prepared::load("disc_pile", &Request { set, end: Some(END), ..Request::default() }).unwrap();
    let options = p.options.solver_options;
    let mut run = p.simulation().unwrap();
    let (mut falling, mut settled) = (Iterations::default(), Iterations::default());
    let mut before: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    // The text is that of `nonsmooth run --dump-steps`.
    let mut kept = Kept::default();
    while run.advance(&mut kept) == Advance::Stepped {
        let text = std::mem::take(&mut kept.0);
        let (mut full, mut guess) = FullProblem::from_json(&text).unwrap();
        full.reduce().unwrap();
        let problem = full.reduced();
        let names: Names = serde_json::from_str(&text).unwrap();
        let rows = problem.blocks().iter().map(|b| b.start..b.start + b.set.dim());
        let places = || names.blocks.iter().map(|b| &b.name).zip(rows.clone());
        let (mut cold, mut warm) = (vec![0.0; problem.size()], vec![0.0; problem.size()]);
        let mut new = 0;
        for (name, rows) in places() {
            match before.get(name) {
                Some(r) => warm[rows].copy_from_slice(r),
                None => new += 1,
            }
        }
        let window = if run.state().t <= 0.5 * END { &mut falling } else { &mut settled };
        window.steps += 1;
        window.blocks += problem.blocks().len();
        window.new += new;
        window.cold += solve(problem, &mut cold, &options);
        window.warm += solve(problem, &mut warm, &options);
        window.guess += solve(problem, &mut guess, &options);
        before = places().map(|(name, rows)| (name.clone(), warm[rows].to_vec())).collect();
        assert_eq!(before.len(), names.blocks.len(), "a name for each block");
    }
    assert!((run.state().t - END).abs() < 1e-9, "stopped at {} s", run.state().t);
    falling.show("falling");
    settled.show("settled");
    assert!(settled.steps >= 499 && settled.blocks > 200 * settled.steps);
    assert!(3 * settled.warm <= settled.cold && 3 * settled.guess <= settled.cold);
}
