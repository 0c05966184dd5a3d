//! The reference of a comparison.

use super::curve::Curve;
use super::request::{ReferenceChoice, SchemeChoice};
use crate::file::{Document, Fault};
use crate::model::ExactSolution;
use crate::output::{Column, ReadArray, columns, read_npz};
use crate::prepare::{Prepared, Request};
use nonsmooth::State;
use nonsmooth::contract::Evaluator;
use nonsmooth::contract::{Candidates, Kind, Reach};
use nonsmooth::simulation::{Observe, Status};

/// The motion against which errors are measured.
pub(super) enum Reference {
    Exact(ExactSolution),
    Curve(Curve),
}

impl Reference {
    /// (q, u) at a time, of this system.
    pub(super) fn at(&self, system: &Evaluator, t: f64) -> (Vec<f64>, Vec<f64>) {
        match self {
            Reference::Exact(e) => e.at(t),
            Reference::Curve(c) => c.at(system, t),
        }
    }

    /// The contacts whose normal percussions it knows.
    pub(super) fn contacts(&self) -> Vec<String> {
        match self {
            Reference::Exact(e) => e.contacts.clone(),
            Reference::Curve(c) => c.contacts().map(String::from).collect(),
        }
    }

    /// Sums of the normal percussions of these contacts up to a time.
    pub(super) fn percussions(&self, t: f64, names: &[String]) -> Vec<f64> {
        match self {
            Reference::Exact(e) => e.percussions(t),
            Reference::Curve(c) => c.percussions_at(t, names),
        }
    }

    /// The curve of a reference that is a run.
    pub(super) fn curve(&self) -> Option<&Curve> {
        match self {
            Reference::Exact(_) => None,
            Reference::Curve(c) => Some(c),
        }
    }

    /// The requested reference, with a description.
    pub(super) fn make(
        document: &Document,
        choice: &ReferenceChoice,
        set: &[String],
        end: Option<f64>,
        steps: &[f64],
    ) -> Result<(Self, String), String> {
        let request = Request { end, set: set.to_vec(), ..Request::default() };
        let mut plain = Prepared::new(document.clone(), &request).map_err(|e| e.to_string())?;
        let exact = || ExactSolution::build(&plain.document, &plain.scene, &mut plain.numbers.clone());
        let explain = |f: Fault| plain.document.explain(&f).to_string();
        match choice {
            ReferenceChoice::Default if plain.scene.exact.is_none() => {
                let finest = steps.iter().copied().fold(f64::INFINITY, f64::min);
                let scheme = SchemeChoice { name: "moreau-jean".into(), options: Vec::new() };
                let choice = ReferenceChoice::Run(scheme, finest / 16.0);
                Self::make(document, &choice, set, end, steps)
            }
            ReferenceChoice::Default | ReferenceChoice::ClosedForm => {
                let Some(exact) = exact().map_err(explain)? else {
                    return Err("the scene has no [exact] closed form: give --reference SCHEME:STEP".into());
                };
                check_exact(&plain, &exact).map_err(explain)?;
                Ok((Reference::Exact(exact), "closed form".into()))
            }
            ReferenceChoice::Run(scheme, step) => {
                let mut set = set.to_vec();
                set.extend(scheme.overrides());
                let request =
                    Request { scheme: Some(scheme.name.clone()), step: Some(*step), end, set, ..Request::default() };
                let mut prepared = Prepared::new(document.clone(), &request).map_err(|e| e.to_string())?;
                prepared.options.observe = Observe::NONE;
                let mut curve = Curve::default();
                let mut simulation = prepared.simulation().map_err(|e| e.to_string())?;
                let summary = simulation.run_with(&mut curve);
                if summary.status != Status::Done {
                    let why = summary.stop.map(|s| s.to_string()).unwrap_or_default();
                    return Err(format!("the reference run {}:{step} {why}", scheme.text()));
                }
                Ok((Reference::Curve(curve), format!("{}:{step}", scheme.text())))
            }
            ReferenceChoice::File(name) => {
                let s = plain.system.structure();
                let columns = columns(&plain.evaluator(), &plain.start);
                let curve = read_curve(name, s.nq(), s.nu(), &columns)?;
                let last = curve.t.last().copied().unwrap_or(0.0);
                if last < plain.options.end * (1.0 - 1e-9) {
                    return Err(format!("`{name}` ends at t = {last} s, before the end {} s", plain.options.end));
                }
                plain.every = 1;
                Ok((Reference::Curve(curve), name.clone()))
            }
        }
    }
}

/// A trajectory file: `trajectory.npz`, or any archive with arrays t, q and u.
///
/// Percussions are those of the columns of the scene, where the file has all of them and a row for every step.
fn read_curve(name: &str, nq: usize, nu: usize, columns: &[Column]) -> Result<Curve, String> {
    let arrays = read_npz(std::path::Path::new(name)).map_err(|e| format!("`{name}`: {e}"))?;
    let get = |key: &str| arrays.get(key).ok_or_else(|| format!("`{name}` has no array `{key}`"));
    let (t, q, u) = (get("t")?, get("q")?, get("u")?);
    let n = t.rows;
    if q.rows != n || u.rows != n || q.width != nq || u.width != nu || n < 2 {
        return Err(format!(
            "`{name}`: t, q, u have {n}, {}x{}, {}x{} entries, the scene has {nq} coordinates and {nu} velocities",
            q.rows, q.width, u.rows, u.width
        ));
    }
    if !t.values.windows(2).all(|w| w[0] < w[1]) {
        return Err(format!("`{name}`: the times do not ascend"));
    }
    // Without the array no impacts are assumed.
    let impact = arrays.get("impact").filter(|a| a.rows == n);
    let mut curve = Curve::default();
    for k in 0..n {
        let row = |a: &ReadArray| a.values[k * a.width..(k + 1) * a.width].to_vec();
        curve.push(State::new(t.values[k], row(q), row(u)), impact.is_some_and(|a| a.values[k] != 0.0));
    }
    let width = columns.iter().map(|c| c.dim).sum::<usize>();
    let every_step = arrays.get("dt").is_some_and(|dt| {
        dt.rows == n && (1..n).all(|k| (t.values[k] - t.values[k - 1] - dt.values[k]).abs() <= 1e-6 * dt.values[k])
    });
    let Some(p) = arrays.get("percussion").filter(|p| every_step && p.rows == n && p.width == width) else {
        return Ok(curve);
    };
    let contacts: Vec<&Column> = columns.iter().filter(|c| c.kind == "contact").collect();
    let mut sums = vec![vec![0.0; contacts.len()]];
    for k in 1..n {
        let add = |(sum, c): (&f64, &&Column)| sum + p.values[k * width + c.first];
        sums.push(sums[k - 1].iter().zip(&contacts).map(add).collect());
    }
    let names = contacts.iter().map(|c| (c.id, c.name.clone())).collect();
    Ok(curve.with_percussions(names, sums))
}

/// Samples at which a closed form is compared with the model.
const SAMPLES: usize = 200;

/// Checks that a closed form still fits the model after an override: it starts at the start of the model, and
/// away from contacts M u̇ = h and q̇ = B u + β hold.
fn check_exact(p: &Prepared, exact: &ExactSolution) -> Result<(), Fault> {
    let end = p.options.end;
    let bad = |message: String| Err(Fault::new(&exact.origin, message));
    if end > exact.until {
        return bad(format!("the closed form holds until t = {} s, the end is {end} s", exact.until));
    }
    let (q, u) = exact.at(p.start.t);
    let far = |a: &[f64], b: &[f64]| a.iter().zip(b).any(|(x, y)| !((x - y).abs() <= 1e-9 * (1.0 + y.abs())));
    if far(&q, &p.start.q) || far(&u, &p.start.u) {
        return bad(format!(
            "the closed form starts at q = {q:?}, u = {u:?}, the scene at {:?}, {:?}",
            p.start.q, p.start.u
        ));
    }
    match defect(p, exact, p.start.t, end, SAMPLES) {
        None => Ok(()),
        Some((t, defect)) => bad(format!(
            "the closed form does not satisfy the equations of motion at t = {t} s (defect {defect:.1e}): does an override change the model?"
        )),
    }
}

/// Where and by how much a closed form violates the differential equation, at samples away from contacts and jumps.
pub(super) fn defect(p: &Prepared, exact: &ExactSolution, from: f64, to: f64, samples: usize) -> Option<(f64, f64)> {
    let system = &p.evaluator();
    let s = system.structure();
    let mut list = Candidates::default();
    let mut mass = complementarity::linear::Matrix::new(&s.mass_pattern);
    for i in 0..samples {
        // Irrational fractions: no sample falls on an event.
        let t = from + (to - from) * ((i as f64 + 0.5) * 0.618_033_988_749_895).fract();
        let d = 1e-5 * (1.0 + t.abs());
        if t - d < from || t + d > to {
            continue;
        }
        let (q, u) = exact.at(t);
        system.candidates(t, &q, &u, Reach::ALL, &mut list);
        let open = list.items().iter().filter(|k| k.kind == Kind::Contact).all(|k| {
            let mut g = [0.0];
            system.position(k, t, &q, &mut g);
            g[0] > 1e-4
        });
        if !open || list.items().iter().any(|k| k.kind != Kind::Contact) {
            continue;
        }
        let ((q0, u0), (q1, u1)) = (exact.at(t - d), exact.at(t + d));
        mass.clear();
        system.mass(t, &q, &mut mass);
        let slope: Vec<f64> = u0.iter().zip(&u1).map(|(a, b)| (b - a) / (2.0 * d)).collect();
        let mut inertia = vec![0.0; u.len()];
        mass.multiply(&slope, &mut inertia);
        let mut h = vec![0.0; u.len()];
        for f in 0..s.forces.len() {
            system.force(f, t, &q, &u, &mut h);
        }
        let mut qdot = u.clone();
        if !s.identity_kinematics() {
            qdot = vec![0.0; q.len()];
            system.kinematics(t, &q, &u, &mut qdot);
        }
        // Central differences: d² times third derivatives, and rounding over d: some 1e-8 of the terms.
        let size = h.iter().chain(&inertia).fold(1.0f64, |m, v| m.max(v.abs()));
        let dynamics = h.iter().zip(&inertia).map(|(a, b)| (a - b).abs() / size);
        let speed = u.iter().fold(1.0f64, |m, v| m.max(v.abs()));
        let kinematics = (0..q.len()).map(|j| ((q1[j] - q0[j]) / (2.0 * d) - qdot[j]).abs() / speed);
        let worst = dynamics.chain(kinematics).fold(0.0f64, |m, v| if v <= m { m } else { v });
        if !(worst <= 1e-6) {
            return Some((t, worst));
        }
    }
    None
}
