//! A thousand discs fall into a box and come to rest: `disc_pile` as it is bundled.

use complementarity::Mode;
use nonsmooth::State;
use nonsmooth::contract::Evaluator;
use nonsmooth::simulation::{EventKind, Observer, Status, StepView};
use nonsmooth_scene::prepare::{Prepared, Request};

const GRAVITY: f64 = 9.81;

/// Looks for discs that roll, and keeps the total contact force of the last step.
#[derive(Default)]
struct Watch {
    rolling: usize,
    force: [f64; 2],
}

impl Observer for Watch {
    fn begin(&mut self, _system: &Evaluator, _start: &State) {}

    fn step(&mut self, view: &StepView) {
        let step = view.step;
        self.force = [0.0; 2];
        for (i, k) in step.candidates.items().iter().enumerate() {
            let p = step.percussion(i);
            if !step.active[i] || p[0] <= 0.0 {
                continue;
            }
            // A disc on the floor that sticks and turns: it rolls.
            if k.dofs.len() == 3 && step.sigma[i].mode(1) == Mode::Constraint {
                let spin = step.end.u[k.dofs[2] as usize];
                self.rolling += usize::from(spin.abs() > 0.5);
            }
            if view.last {
                let (mut w, mut chi) = (vec![0.0; k.dim() * k.dofs.len()], vec![0.0; k.dim()]);
                // The midpoint of a step at rest is its start.
                view.system.velocity(k, view.start.t, &view.start.q, &mut w, &mut chi);
                for (row, p) in w.chunks_exact(k.dofs.len()).zip(p) {
                    for (&d, w) in k.dofs.iter().zip(row).filter(|(d, _)| **d % 3 < 2) {
                        self.force[d as usize % 3] += w * p / step.dt;
                    }
                }
            }
        }
    }
}

#[test]
fn a_thousand_discs_come_to_rest_and_the_box_carries_their_weight() {
    let p = Prepared::load("disc_pile", &Request::default()).unwrap();
    let mut mass = complementarity::linear::Matrix::new(&p.system.structure().pattern);
    p.evaluator().mass(0.0, &p.start.q, &mut mass);
    let weight: f64 = (0..1000).map(|i| GRAVITY * mass.get(3 * i, 3 * i)).sum();
    let mut watch = Watch::default();
    let summary = p.simulation().unwrap().run_with(&mut watch);
    assert_eq!(summary.status, Status::Done, "{:?}", summary.stop);

    // At rest: what is left of the velocities is rounding of a step's free fall, g·dt = 1e-2 m/s, through a problem with a condition
    // number of some 1e4 (discs of radius 0.02 m turn up to 1/r times as fast).
    let fastest = summary.end.u.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    println!("fastest {fastest:e}, rolling {} times, force {:?} N of {weight} N", watch.rolling, watch.force);
    assert!(fastest <= 1e-10, "{fastest:e}");
    // Force and weight balance to the change of velocity of the last step, fastest/(g dt).
    assert!((watch.force[1] / weight - 1.0).abs() <= 1e-6, "{:?} of {weight}", watch.force);
    assert!(watch.force[0].abs() <= 1e-6 * weight, "{:?}", watch.force);

    // On the way everything happened.
    let count = |kind| summary.events.iter().filter(|e| e.kind == kind).count();
    for kind in
        [EventKind::AccumulationStart, EventKind::AccumulationEnd, EventKind::Stick, EventKind::Slip, EventKind::Impact]
    {
        assert!(count(kind) >= 10, "{kind:?}: {}", count(kind));
    }
    assert!(watch.rolling >= 10, "{}", watch.rolling);
    assert!(summary.energy.closure <= 1e-12, "{:e}", summary.energy.closure);
}
