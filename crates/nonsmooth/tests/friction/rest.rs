//! A block at rest costs next to nothing: the percussions of the step before solve the next one.

use nonsmooth::simulation::{Observe, Observer, Status, StepView};
use nonsmooth::{Differentiated, Simulation, SimulationOptions, State, scheme};
use nonsmooth_reference::Block;

/// Most solver iterations of a step after the first ones.
#[derive(Default)]
struct Iterations {
    seen: usize,
    most: usize,
    motion: f64,
}

/// Steps in which the percussions settle.
const SETTLING: usize = 3;

impl Observer for Iterations {
    fn step(&mut self, view: &StepView) {
        self.seen += 1;
        if self.seen > SETTLING {
            self.most = self.most.max(view.step.report.iterations);
        }
        self.motion = view.end.u.iter().fold(self.motion, |m, u| m.max(u.abs()));
    }
}

#[test]
fn a_block_at_rest_needs_at_most_two_iterations_per_step_after_warm_start() {
    for name in ["moreau-jean", "moreau-midpoint"] {
        for mu in [None, Some(0.5)] {
            for (linearised, solver) in [(true, "auto"), (false, "auto"), (true, "nsgs"), (true, "newton")] {
                let block = Block { linearised, mu, ..Block::default() };
                let height = block.b;
                let system = Differentiated::new(block).expect("a model");
                let mut options = SimulationOptions::new(1e-3, 1.0);
                options.observe = Observe::NONE;
                options.solver = solver.into();
                let start = State::new(0.0, vec![0.0, height, 0.0], vec![0.0; 3]);
                let mut seen = Iterations::default();
                let scheme = scheme::make(name, &Default::default()).expect("a scheme");
                let summary =
                    Simulation::new(&system, start, scheme, options).expect("a good start").run_with(&mut seen);
                let what = format!("{name}, mu = {mu:?}, linearised {linearised}, {solver}");
                assert_eq!(summary.status, Status::Done, "{what}: {:?}", summary.stop);
                println!("{what}: {} iterations at most, speed up to {:.1e}", seen.most, seen.motion);
                assert!(seen.seen == 1000 && seen.most <= 2, "{what}: {} iterations", seen.most);
                // At rest: what a solve to 1e-10 of the weight's impulse of a step leaves.
                assert!(seen.motion <= 1e-10, "{what}: moves at {:e}", seen.motion);
            }
        }
    }
}
