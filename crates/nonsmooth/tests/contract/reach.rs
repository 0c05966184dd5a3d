//! Reach: a system that lists only contacts nearby misses none, and warm starts survive a changing list.

use super::{BOTH, distance, make, run_with};
use complementarity::linear::{Matrix, Pattern};
use nonsmooth::contract::Workspace;
use nonsmooth::contract::{Candidates, Features, ForceInfo, Interaction, Kind, Reach, Structure};
use nonsmooth::law::{ContactLaw, Law};
use nonsmooth::scheme::{Forecast, MoreauJean, MoreauJeanOptions, Scheme};
use nonsmooth::simulation::{Observer, Status, StepView};
use nonsmooth::{Simulation, SimulationOptions, State, System};
use std::sync::Arc;

/// Balls of radius 0.05 on a line before a wall at the right; the list holds only contacts within reach, if `limited`.
struct Line {
    structure: Structure,
    contacts: Vec<Interaction>,
    limited: bool,
    /// Constant push on ball i, N, and the time from which a kick of 1000 N acts on ball 0.
    push: Vec<f64>,
    kick: f64,
    wall: f64,
}

const RADIUS: f64 = 0.05;

impl Line {
    fn new(count: usize, e: f64, limited: bool, push: Vec<f64>, kick: f64, wall: f64) -> Self {
        let force =
            |name: &str| ForceInfo { name: name.into(), potential: false, spring: false, constant_jacobian: true };
        let law = Arc::new(Law::Contact(ContactLaw::newton(e)));
        let contacts = (0..count).map(|i| {
            let touched = if i + 1 < count { vec![i, i + 1] } else { vec![i] };
            Interaction::new(i as u64, Kind::Contact, 1, law.clone(), &touched[..])
        });
        let contacts = contacts.collect();
        let structure = Structure {
            coordinates: (0..count).map(|i| format!("x{i}")).collect(),
            velocities: (0..count).map(|i| format!("v{i}")).collect(),
            forces: vec![force("push")],
            mass_pattern: Pattern::new(count),
            pattern: Pattern::new(count),
            kinematics: Vec::new(),
            constant_mass: true,
            needs: Features::NONE,
            breaks: Vec::new(),
        };
        Self { structure, contacts, limited, push, kick, wall }
    }

    fn gap(&self, i: usize, q: &[f64]) -> f64 {
        match q.get(i + 1) {
            Some(next) => next - q[i] - 2.0 * RADIUS,
            None => self.wall - q[i] - RADIUS,
        }
    }
}

impl System for Line {
    fn structure(&self) -> &Structure {
        &self.structure
    }
    fn mass(&self, _work: &Workspace, _t: f64, q: &[f64], m: &mut Matrix) {
        for i in 0..q.len() {
            m.add(i, i, 1.0);
        }
    }
    fn force(&self, _work: &Workspace, _i: usize, t: f64, _q: &[f64], _u: &[f64], h: &mut [f64]) {
        for (h, p) in h.iter_mut().zip(&self.push) {
            *h += p;
        }
        if t >= self.kick {
            h[0] += 1000.0;
        }
    }
    fn candidates(&self, _work: &Workspace, _t: f64, q: &[f64], u: &[f64], reach: Reach, out: &mut Candidates) {
        let allowed = |i: usize| u.get(i).map_or(0.0, |v| reach.time * v.abs() + reach.distance);
        let close = |i: usize| self.gap(i, q) <= allowed(i) + allowed(i + 1);
        let near = self.contacts.iter().enumerate().filter(|(i, _)| !self.limited || close(*i));
        out.fill(near.map(|(_, k)| k.clone()));
    }
    fn position(&self, _work: &Workspace, k: &Interaction, _t: f64, q: &[f64], g: &mut [f64]) {
        g[0] = self.gap(k.id as usize, q);
    }
    fn velocity(&self, _work: &Workspace, k: &Interaction, _t: f64, _q: &[f64], w: &mut [f64], chi: &mut [f64]) {
        w[0] = -1.0;
        if k.dofs.len() > 1 {
            w[1] = 1.0;
        }
        chi[0] = 0.0;
    }
    fn travel(&self, t0: f64, q0: &[f64], u0: &[f64], t1: f64, q1: &[f64]) -> f64 {
        let beyond = |i: usize| (q1[i] - q0[i]).abs() - (t1 - t0) * u0[i].abs();
        if self.limited { (0..q0.len()).map(beyond).fold(0.0, f64::max) } else { 0.0 }
    }
    fn name(&self, id: u64) -> String {
        format!("contact{id}")
    }
}

/// Lists of the contacts of every step, the warm starts and the work.
#[derive(Default)]
struct Lists {
    ids: Vec<Vec<u64>>,
    iterations: Vec<usize>,
    warm: Vec<bool>,
}

impl Observer for Lists {
    fn step(&mut self, view: &StepView) {
        let ids: Vec<u64> = view.step.candidates.items().iter().map(|k| k.id).collect();
        assert!(ids.is_sorted(), "{ids:?}");
        assert_eq!(ids, view.end.percussions.ids(), "percussions are laid out as the list");
        // What a contact carried before it carries now.
        let kept = |id: &u64| match (view.start.percussions.get(*id), view.end.percussions.get(*id)) {
            (Some(a), Some(b)) => (a[0] - b[0]).abs() <= 1e-12,
            _ => true,
        };
        self.warm.push(ids.iter().all(kept));
        self.ids.push(ids);
        self.iterations.push(view.step.report.iterations);
    }
}

#[test]
fn a_system_with_limited_reach_misses_no_contact_of_fast_balls() {
    // A ball at 40 m/s and a kick in the middle: 0.2 m per step, twenty times what the first reach allows.
    // A weak push on all, so that no step is without forces.
    let q = [0.0, 1.0, 1.2, 3.0, 3.1];
    let u = [40.0, 0.0, 0.0, -1.0, 0.0];
    let push = || vec![0.5; 5];
    let forecasts = [Forecast::Explicit { gamma: 0.0 }, Forecast::Explicit { gamma: 1.0 }, Forecast::Free];
    // The last looks one step ahead.
    let schemes = forecasts.map(Some).into_iter().chain([None]);
    for e in [0.0, 0.5, 1.0] {
        for forecast in schemes.clone() {
            let all = Line::new(5, e, false, push(), 0.3, 5.0);
            let near = Line::new(5, e, true, push(), 0.3, 5.0);
            let scheme = || -> Box<dyn Scheme> {
                match forecast {
                    Some(forecast) => Box::new(MoreauJean::new(MoreauJeanOptions { forecast, ..Default::default() })),
                    None => make("schatzman-paoli"),
                }
            };
            let (a, ra) = run_with(&all, scheme(), &q, &u, 5e-3, 0.6);
            let (b, rb) = run_with(&near, scheme(), &q, &u, 5e-3, 0.6);
            for (x, y) in ra.iter().zip(&rb) {
                // The same problems with rows left out that carry nothing: rounding of velocities up to 100 m/s.
                let d = distance(&x.q, &y.q).max(distance(&x.u, &y.u));
                assert!(d <= 1e-9, "e = {e}, {forecast:?}, t = {}: {d:e}", x.t);
            }
            assert_eq!(a.events, b.events, "e = {e}, {forecast:?}");
            assert!(!a.events.is_empty(), "there are impacts");
            assert_eq!(a.work.reach_redone, 0, "a complete list has no reach");
            assert!(b.work.reach_redone >= 1, "{:?}", b.work);
            assert_eq!(b.work.rejected, b.work.reach_redone, "{:?}", b.work);
            assert!(b.work.reach_redone < 20, "the reach follows the speed: {:?}", b.work);
        }
    }
}

#[test]
fn warm_starts_follow_the_identity_of_a_contact_through_a_changing_list() {
    // Balls 1 to 3 are pressed against the wall; ball 0 drifts into reach from the left, so that a contact comes up
    // in front of all others. It has not touched yet: the percussions of the others stay, and no solver works.
    let wall = 1.0;
    let x3 = wall - RADIUS;
    let q = [x3 - 6.0 * RADIUS - 0.4, x3 - 4.0 * RADIUS, x3 - 2.0 * RADIUS, x3];
    let u = [1.0, 0.0, 0.0, 0.0];
    let system = Line::new(4, 0.0, true, vec![0.0, 5.0, 5.0, 5.0], f64::INFINITY, wall);
    for name in BOTH {
        let mut lists = Lists::default();
        let start = State::new(0.0, q.to_vec(), u.to_vec());
        // Ends with the touch at t = 0.4: the contact is listed once it can close within a step.
        let summary = Simulation::new(&system, start, make(name), SimulationOptions::new(1e-3, 0.4))
            .unwrap()
            .run_with(&mut lists);
        assert_eq!(summary.status, Status::Done);
        assert_eq!(lists.ids[1], [1, 2, 3], "{name}: ball 0 is far away in the beginning");
        let change = lists.ids.iter().position(|l| l.contains(&0)).expect("ball 0 comes into reach");
        assert!(change > 100, "{name}: {change}");
        assert_eq!(lists.ids[change], [0, 1, 2, 3], "{name}");
        // From the second step on the pressed balls are in the steady state.
        assert!(lists.warm[2..].iter().all(|w| *w), "{name}: percussions of the others stay");
        assert!(lists.iterations[2..change].iter().all(|n| *n == 0), "{name}: {:?}", &lists.iterations[..5]);
        assert_eq!(lists.iterations[change], 0, "{name}: the list changed, the warm start must not be lost");
    }
}
