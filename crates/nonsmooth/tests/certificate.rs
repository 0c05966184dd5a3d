//! Certificates: every step of every reference model satisfies its scheme's discrete system, and a recorded run in which
//! one number was changed is found out, with the step and the interaction named.

use nonsmooth::contract::{Candidates, Reach};
use nonsmooth::contract::{Evaluator, Workspace};
use nonsmooth::scheme::{self, Settings};
use nonsmooth::simulation::{Recheck, Recording, Status, Trajectory};
use nonsmooth::{Differentiated, Simulation, SimulationOptions, State, Summary};
use nonsmooth_reference::{Case, Swing, cases, variants};
use std::collections::BTreeMap;

/// Schemes solve dynamics and laws to 1e-10 of their largest terms; a certificate may be ten times that.
const CERTIFIED: f64 = 1e-9;
/// What is added to a stored number (N·s, m, m/s). The terms of a step are of order one at most here: a thousand times
/// what is certified.
const CHANGE: f64 = 1e-6;

fn make(name: &str, settings: &Settings) -> Box<dyn scheme::Scheme> {
    scheme::make(name, settings).unwrap()
}

/// `None` if the scheme refuses the model.
fn record(case: &Case, name: &str, settings: &Settings) -> Option<(Summary, Trajectory)> {
    let options = case.options_for(name)?;
    let mut trajectory = Trajectory::new(Recording::Every(1));
    let scheme = make(name, settings);
    let mut simulation = Simulation::new(case.system.as_ref(), case.start.clone(), scheme, options).unwrap();
    Some((simulation.run_with(&mut trajectory), trajectory))
}

#[test]
fn every_step_of_every_model_is_certified_and_rechecks_as_it_was() {
    let mut failures = Vec::new();
    let mut runs = BTreeMap::new();
    for case in cases().unwrap() {
        for variant in variants() {
            let Some((summary, trajectory)) = record(&case, variant.scheme, &variant.settings) else { continue };
            *runs.entry(variant.scheme).or_insert(0) += 1;
            let label = format!("{}, {}", case.name, variant.label);
            if summary.status != Status::Done {
                failures.push(format!("{label}: {}", summary.stop.map_or_else(String::new, |s| s.to_string())));
            }
            let worst = summary.worst;
            // The same functions of the same numbers.
            let found = trajectory.recheck(case.system.as_ref(), make(variant.scheme, &variant.settings).as_mut());
            let (certified, rechecked) = (worst.residual(), found.unwrap().certificate.residual());
            if certified != rechecked {
                failures.push(format!("{label}: certified {certified:e}, rechecked {rechecked:e}"));
            }
            if !(worst.residual() <= CERTIFIED) {
                let (dynamics, kinematics, law) = (worst.dynamics, worst.kinematics, worst.law);
                let at = summary.worst_at.0;
                failures.push(format!(
                    "{label}: dynamics {dynamics:.1e}, kinematics {kinematics:.1e}, laws {law:.1e} at t = {at}"
                ));
            }
        }
    }
    assert!(failures.is_empty(), "{} of them:\n{}", failures.len(), failures.join("\n"));
    // A scheme that refuses most models is still run on some: `position-theta` on those without joints, friction and restitution, with two values of θ.
    println!("{runs:?}");
    assert!(runs.len() == scheme::SCHEMES.len() && runs.values().all(|&n| n >= 12), "{runs:?}");
}

/// Where the terms of a step are small against the momentum, M Δu = dt h ≪ M u, the rounding of M u is all that is left of
/// their difference. A certificate that calls it a residual cries wolf in every fine run.
#[test]
fn rounding_is_not_mistaken_for_a_residual() {
    let swing = Differentiated::new(Swing::default()).unwrap();
    for h in [1e-3, 1e-4, 1e-5, 1e-6] {
        // Through the lowest point, where the force vanishes.
        let start = State::new(0.0, vec![-10.0 * h], vec![5.0]);
        let options = SimulationOptions::new(h, 10.0 * h);
        let scheme = make("moreau-midpoint", &Settings::new());
        let summary = Simulation::new(&swing, start, scheme, options).unwrap().run();
        let found = summary.worst.residual();
        assert!(found <= CERTIFIED, "h = {h}: {found:e}, one explicit step each, exact to rounding");
    }
}

/// Runs whose records are tampered with: contacts with and without friction, elements, joints, moving and projected ones.
const TAMPERED: [&str; 13] = [
    "ball",
    "oscillator",
    "bead-stop",
    "incline-slides",
    "incline-sticks",
    "pulled-slides",
    "belt",
    "table",
    "table-rises",
    "block-rough",
    "pendulum-redundant",
    "double-pendulum",
    "double-pendulum-projected",
];

fn tampered_runs(mut each: impl FnMut(&Case, &str, &Settings, Trajectory)) {
    let all = cases().unwrap();
    for name in TAMPERED {
        let case = all.iter().find(|c| c.name == name).unwrap();
        for (scheme, settings) in [
            ("moreau-midpoint", Settings::new()),
            ("moreau-jean", Settings::new()),
            ("moreau-jean", Settings::new().number("theta", 1.0).word("force", "trapezoid")),
            ("schatzman-paoli", Settings::new()),
            ("schatzman-paoli", Settings::new().number("theta", 1.0)),
        ] {
            let Some((_, trajectory)) = record(case, scheme, &settings) else { continue };
            each(case, scheme, &settings, trajectory);
        }
    }
}

fn recheck(case: &Case, scheme: &str, settings: &Settings, trajectory: &Trajectory) -> Recheck {
    trajectory.recheck(case.system.as_ref(), make(scheme, settings).as_mut()).unwrap()
}

/// Names of the interactions with a force direction within 0.8° of direction `row` of interaction `i` at a state: a change of
/// one of these percussions is, in the dynamics, a change of the other to the 1e-4 to which residuals show it.
fn alike(case: &Case, list: &Candidates, i: usize, row: usize, t: f64, q: &[f64]) -> Vec<String> {
    let nu = case.system.structure().nu();
    let rows = |i: usize| -> Vec<Vec<f64>> {
        let k = &list.items()[i];
        let (mut w, mut chi) = (vec![0.0; k.dim() * k.dofs.len()], vec![0.0; k.dim()]);
        Evaluator::new(&*case.system, &Workspace::default()).velocity(k, t, q, &mut w, &mut chi);
        let spread = |row: &[f64]| {
            let mut full = vec![0.0; nu];
            for (v, &j) in row.iter().zip(k.dofs.iter()) {
                full[j as usize] = *v;
            }
            full
        };
        w.chunks_exact(k.dofs.len()).map(spread).collect()
    };
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
    let cosine = |a: &[f64], b: &[f64]| (dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()).abs();
    let own = &rows(i)[row];
    let near = (0..list.len()).filter(|&j| rows(j).iter().any(|r| cosine(own, r) >= 1.0 - 1e-4));
    near.map(|j| case.system.name(list.items()[j].id)).collect()
}

#[test]
fn a_changed_percussion_is_found_with_its_step_and_its_interaction() {
    let (mut failures, mut tried) = (Vec::new(), 0);
    tampered_runs(|case, scheme, settings, mut trajectory| {
        let mut list = Candidates::default();
        Evaluator::new(&*case.system, &Workspace::default()).candidates(
            0.0,
            &case.start.q,
            &case.start.u,
            Reach::ALL,
            &mut list,
        );
        for i in 0..list.len() {
            let k = &list.items()[i];
            // Steps in which it took part: the first, two on the way, the last.
            let took = |r: &nonsmooth::simulation::Record| r.step.as_ref().is_some_and(|s| s.active[i]);
            let steps: Vec<usize> =
                (1..trajectory.records().len()).filter(|&n| took(&trajectory.records()[n])).collect();
            assert!(!steps.is_empty(), "{}: `{}` never took part", case.name, case.system.name(k.id));
            let n = steps.len();
            for index in [steps[0], steps[n / 3], steps[2 * n / 3], steps[n - 1]] {
                for component in list.range(i) {
                    let before = trajectory.records()[index].clone();
                    let step = trajectory.records_mut()[index].step.as_mut().unwrap();
                    step.percussions.values_mut()[component] += CHANGE;
                    let found = recheck(case, scheme, settings, &trajectory);
                    let row = component - list.range(i).start;
                    let names = alike(case, &list, i, row, before.t, &before.q);
                    let named = found.interaction.as_ref().is_some_and(|n| names.contains(n));
                    let seen = found.certificate.residual() > CERTIFIED && found.index == index;
                    if !(named && seen) {
                        let residual = found.certificate.residual();
                        failures.push(format!(
                            "{}, {scheme} {settings:?}: component {row} of {names:?} in step {index} (t = {}); found step {} \
                             (t = {}), {:?}, residual {residual:.1e}",
                            case.name, before.t, found.index, found.t, found.interaction
                        ));
                    }
                    trajectory.records_mut()[index] = before;
                    tried += 1;
                }
            }
        }
    });
    println!("{tried} changes tried");
    assert!(failures.is_empty(), "{} of {tried}:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn a_percussion_at_an_open_contact_is_found() {
    let mut failures = Vec::new();
    tampered_runs(|case, scheme, settings, mut trajectory| {
        let mut list = Candidates::default();
        Evaluator::new(&*case.system, &Workspace::default()).candidates(
            0.0,
            &case.start.q,
            &case.start.u,
            Reach::ALL,
            &mut list,
        );
        for i in 0..list.len() {
            let open = |r: &nonsmooth::simulation::Record| r.step.as_ref().is_some_and(|s| !s.active[i]);
            let Some(index) = (1..trajectory.records().len()).find(|&n| open(&trajectory.records()[n])) else {
                continue;
            };
            let before = trajectory.records()[index].clone();
            let step = trajectory.records_mut()[index].step.as_mut().unwrap();
            step.percussions.values_mut()[list.range(i).start] += CHANGE;
            let found = recheck(case, scheme, settings, &trajectory);
            let name = case.system.name(list.items()[i].id);
            let named = found.interaction.as_deref() == Some(&name);
            if !(found.index == index && named && found.certificate.residual() > CERTIFIED) {
                let what = (found.index, found.interaction, found.certificate.residual());
                failures
                    .push(format!("{}, {scheme} {settings:?}: `{name}` in step {index}, found {what:?}", case.name));
            }
            trajectory.records_mut()[index] = before;
        }
    });
    assert!(failures.is_empty(), "{}:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn a_changed_coordinate_or_velocity_is_found() {
    let (mut failures, mut tried) = (Vec::new(), 0);
    tampered_runs(|case, scheme, settings, mut trajectory| {
        let last = trajectory.records().len() - 1;
        let (nq, nu) = (case.start.q.len(), case.start.u.len());
        for index in [0, 1, last / 3, last / 2, last - 1, last] {
            for component in 0..nq + nu {
                // The state itself, and what the scheme left before it was corrected.
                for raw in [false, true] {
                    let before = trajectory.records()[index].clone();
                    let touched = &mut trajectory.records_mut()[index];
                    let (q, u) = match (raw, touched.step.as_mut().and_then(|s| s.raw.as_mut())) {
                        (true, Some((q, u))) => (q, u),
                        (true, None) => continue,
                        (false, _) => (&mut touched.q, &mut touched.u),
                    };
                    if component < nq {
                        q[component] += CHANGE;
                    } else {
                        u[component - nq] += CHANGE;
                    }
                    let found = recheck(case, scheme, settings, &trajectory);
                    // A state ends one step and starts the next; with two steps its position enters a third.
                    let two_steps = scheme == "schatzman-paoli" && component < nq;
                    let near = (index..=index + 1 + usize::from(two_steps)).contains(&found.index);
                    if !(near && found.certificate.residual() > CERTIFIED) {
                        failures.push(format!(
                            "{}, {scheme} {settings:?}: component {component} of record {index} of {last} (raw: {raw}), found \
                             {} with {:.1e}",
                            case.name,
                            found.index,
                            found.certificate.residual()
                        ));
                    }
                    trajectory.records_mut()[index] = before;
                    tried += 1;
                }
            }
        }
    });
    println!("{tried} changes tried");
    assert!(failures.is_empty(), "{} of {tried}:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn a_projected_run_stores_what_the_scheme_left() {
    let all = cases().unwrap();
    let case = all.iter().find(|c| c.name == "double-pendulum-projected").unwrap();
    let (summary, trajectory) = record(case, "moreau-jean", &Settings::new()).unwrap();
    let corrected =
        trajectory.records()[1..].iter().filter(|r| r.step.as_ref().is_some_and(|s| s.raw.is_some())).count();
    assert!(corrected * 2 > summary.work.steps, "{corrected} of {} steps were corrected", summary.work.steps);
    // The joints close to the tolerance of the projection, without it they drift by O(dt²).
    assert!(summary.worst.joint_violation <= 1e-12, "{:e}", summary.worst.joint_violation);
    let drifting = all.iter().find(|c| c.name == "double-pendulum").unwrap();
    assert!(record(drifting, "moreau-jean", &Settings::new()).unwrap().0.worst.joint_violation > 1e-6);
}
