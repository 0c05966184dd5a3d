//! What is checked before the first step.

use super::options::SimulationOptions;
use crate::contract::{Candidates, Evaluator, Kind, Part, Reach, Violation};
use crate::error::Error;
use crate::scheme::Scheme;
use crate::state::{Misfit, State};
use complementarity::linear::Matrix;
use complementarity::linear::dense::LeastNorm;

/// Largest number of velocities for which symmetry and definiteness are checked entry by entry.
const MAX_CHECKED_VELOCITIES: usize = 400;

/// Most penetrating contacts with a warning each.
const MAX_LISTED_CONTACTS: usize = 5;

/// Largest penetration at the start over the smallest extent of the bodies: what overlaps more was not meant to touch.
const MAX_OVERLAP: f64 = 0.01;

/// Checks state, times, mass matrix, contract, contacts and joints. Returns warnings.
pub(super) fn check(
    system: &Evaluator,
    start: &State,
    scheme: &dyn Scheme,
    o: &SimulationOptions,
    longest: f64,
) -> Result<Vec<String>, Error> {
    let s = system.structure();
    let sizes = [("q", start.q.len(), s.nq()), ("u", start.u.len(), s.nu())];
    for (what, found, expected) in sizes {
        if found != expected {
            return Err(Error::Size { what, found, expected });
        }
    }
    let coordinates = start.q.iter().zip(s.coordinates.iter());
    let velocities = start.u.iter().zip(s.velocities.iter());
    for (&value, name) in coordinates.chain(velocities) {
        if !value.is_finite() {
            return Err(Error::InitialValue { name: name.into(), value });
        }
    }
    start.memory.check(s, &start.percussions).map_err(|(what, misfit)| match misfit {
        Misfit::Size(found, expected) => Error::Size { what, found, expected },
        Misfit::Value(value, name) => Error::InitialValue { name, value },
    })?;
    check_times(start.t, o)?;
    // An adaptive controller may take more: the run then stops at the limit.
    let steps = (o.end - start.t) / longest;
    if steps > o.max_steps as f64 {
        return Err(Error::TooManySteps { steps: steps.ceil(), limit: o.max_steps });
    }
    system.probe(start.t, &start.q, &start.u).map_err(Error::Contract)?;
    check_mass(system, start)?;

    let mut warnings = Vec::new();
    let mut list = Candidates::default();
    system.candidates(start.t, &start.q, &start.u, Reach { time: o.step, distance: 0.0 }, &mut list);
    if let Some(why) = list.fault() {
        return Err(Error::Contract(why.clone()));
    }
    let mut g = Vec::new();
    let (mut penetrating, mut deepest) = (0usize, (0.0, 0));
    for k in list.items() {
        let n = k.position_dim();
        if let Err(e) = k.law.validate(k.dim()) {
            let name = system.name(k.id);
            let why = format!("`{name}`: {e}");
            return Err(Error::Contract(Violation::of(Part::new(k.kind, name), why)));
        }
        if n == 0 {
            continue;
        }
        g.resize(n, 0.0);
        system.position(k, start.t, &start.q, &mut g);
        let worst = g[..n].iter().fold(0.0f64, |m, v| if v.abs() <= m { m } else { v.abs() });
        if k.kind == Kind::Contact {
            if !(-g[0] <= o.initial_tolerance) {
                let contact = system.name(k.id);
                return Err(Error::Penetration { contact, depth: -g[0], tolerance: o.initial_tolerance });
            }
            let extent = system.extent(k);
            if -g[0] > MAX_OVERLAP * extent {
                return Err(Error::Overlap { contact: system.name(k.id), depth: -g[0], extent });
            }
            if g[0] < 0.0 {
                let (name, depth) = (system.name(k.id), -g[0]);
                penetrating += 1;
                if penetrating <= MAX_LISTED_CONTACTS {
                    let what = "m at the start and starts closed";
                    warnings.push(format!("contact `{name}` penetrates by {depth:.3e} {what}"));
                }
                if depth > deepest.0 {
                    deepest = (depth, k.id);
                }
            }
        } else if !(worst <= o.initial_tolerance) {
            let joint = system.name(k.id);
            return Err(Error::Joint { joint, defect: worst, tolerance: o.initial_tolerance });
        }
    }
    if penetrating > MAX_LISTED_CONTACTS {
        let (more, (depth, id)) = (penetrating - MAX_LISTED_CONTACTS, deepest);
        warnings.push(format!(
            "{more} more contacts penetrate at the start; the deepest of all is `{}`, by {depth:.3e} m",
            system.name(id)
        ));
    }
    warnings.extend(inconsistent_joints(system, start, &list));
    warnings.extend(scheme.advice(&list));
    Ok(warnings)
}

/// Rate of a joint, m/s or rad/s, relative to the terms it is made of, up to which it is at rest.
const AT_REST: f64 = 1e-9;
/// The same, absolute.
const AT_REST_RATE: f64 = 1e-6;
/// Most joint rows for which velocities that fit are looked for.
const MAX_FITTED_ROWS: usize = 400;
/// Most velocities that are named in a warning.
const MAX_NAMED: usize = 4;

/// Joints that the start velocities break: W u + χ ≠ 0. Names the nearest velocities that fit, in the norm of the kinetic energy:
///
/// ```text
/// u − M⁻¹ Wᵀ (W M⁻¹ Wᵀ)⁻¹ (W u + χ)
/// ```
fn inconsistent_joints(system: &Evaluator, start: &State, list: &Candidates) -> Vec<String> {
    let s = system.structure();
    let n = s.nu();
    let (mut rows, mut rates): (Vec<Vec<(usize, f64)>>, Vec<f64>) = Default::default();
    let mut broken: Vec<(String, f64)> = Vec::new();
    for k in list.items().iter().filter(|k| matches!(k.kind, Kind::Joint | Kind::VelocityJoint)) {
        let m = k.dofs.len();
        let (mut w, mut chi) = (vec![0.0; k.dim() * m], vec![0.0; k.dim()]);
        system.velocity(k, start.t, &start.q, &mut w, &mut chi);
        let (mut worst, mut moves) = (0.0f64, false);
        for (r, chi) in chi.iter().enumerate() {
            let row: Vec<(usize, f64)> =
                k.dofs.iter().map(|d| *d as usize).zip(w[r * m..(r + 1) * m].iter().copied()).collect();
            let terms = || row.iter().map(|(d, w)| w * start.u[*d]);
            let (rate, size) = (chi + terms().sum::<f64>(), chi.abs() + terms().map(f64::abs).sum::<f64>());
            moves |= !(rate.abs() <= (AT_REST * size).max(AT_REST_RATE));
            worst = worst.max(rate.abs());
            rows.push(row);
            rates.push(rate);
        }
        if moves {
            broken.push((system.name(k.id), worst));
        }
    }
    if broken.is_empty() {
        return Vec::new();
    }
    let fit = if rows.len() > MAX_FITTED_ROWS { None } else { fitting_velocities(system, start, &rows, &rates) };
    let mut advice = "the first step makes them consistent by a jump".to_string();
    if let Some(u) = fit {
        let mut changed: Vec<usize> = (0..n).filter(|&i| (u[i] - start.u[i]).abs() > AT_REST_RATE).collect();
        changed.sort_by(|&i, &j| (u[j] - start.u[j]).abs().total_cmp(&(u[i] - start.u[i]).abs()));
        let more = if changed.len() > MAX_NAMED { ", ..." } else { "" };
        let shown: Vec<String> =
            changed.iter().take(MAX_NAMED).map(|&i| format!("{} = {}", &s.velocities[i], rounded(u[i]))).collect();
        advice = format!("{advice}, or give velocities that fit, as {}{more} (`initial.u`)", shown.join(", "));
    }
    let text = |(name, rate): (String, f64)| {
        format!("joint `{name}` is broken by the start velocities, at a rate of {rate:.3e}: {advice}")
    };
    let more = broken.len().saturating_sub(MAX_LISTED_CONTACTS);
    let mut out: Vec<String> = broken.into_iter().take(MAX_LISTED_CONTACTS).map(text).collect();
    if more > 0 {
        out.push(format!("{more} more joints are broken by the start velocities"));
    }
    out
}

/// A number to nine decimals, for showing; no sign at zero.
fn rounded(v: f64) -> f64 {
    (v * 1e9).round() / 1e9 + 0.0
}

/// Velocities near those of the start with W u + χ = 0, if there are any.
fn fitting_velocities(
    system: &Evaluator,
    start: &State,
    rows: &[Vec<(usize, f64)>],
    rates: &[f64],
) -> Option<Vec<f64>> {
    let (n, m) = (start.u.len(), rows.len());
    let mut mass = Matrix::new(&system.structure().mass_pattern);
    system.mass(start.t, &start.q, &mut mass);
    mass.factor().ok()?;
    let solved: Vec<Vec<f64>> = rows
        .iter()
        .map(|row| {
            let mut x = vec![0.0; n];
            row.iter().for_each(|(d, w)| x[*d] += w);
            mass.solve(&mut x);
            x
        })
        .collect();
    let times = |row: &[(usize, f64)], x: &[f64]| row.iter().map(|(d, w)| w * x[*d]).sum::<f64>();
    let gram: Vec<f64> = (0..m * m).map(|k| times(&rows[k / m], &solved[k % m])).collect();
    let mut percussion = vec![0.0; m];
    LeastNorm::default().solve(&gram, m, rates, &mut percussion, 1e-12);
    let mut u = start.u.clone();
    for (x, p) in solved.iter().zip(&percussion) {
        u.iter_mut().zip(x).for_each(|(u, x)| *u -= p * x);
    }
    // Redundant joints may contradict each other.
    let rest = |(row, rate): (&Vec<(usize, f64)>, &f64)| {
        let old = times(row, &start.u);
        (rate - old + times(row, &u)).abs() <= AT_REST_RATE * (1.0 + rate.abs())
    };
    rows.iter().zip(rates).all(rest).then_some(u)
}

/// Checks end and step.
pub(super) fn check_times(t: f64, o: &SimulationOptions) -> Result<(), Error> {
    if !(o.end.is_finite() && t.is_finite() && o.end > t) {
        return Err(Error::End { start: t, end: o.end });
    }
    let progress = o.step > 0.0 && o.step.is_finite() && t + o.step != t && o.end - o.step != o.end;
    if !progress {
        return Err(Error::Step { step: o.step, t });
    }
    Ok(())
}

/// Contacts that touch and do not move apart or together at the start, and elements; and whether they slip.
pub(super) fn closed_contacts(system: &Evaluator, start: &State, mut found: impl FnMut(u64, bool)) {
    let mut list = Candidates::default();
    system.candidates(start.t, &start.q, &start.u, Reach::NONE, &mut list);
    for k in list.items().iter().filter(|k| matches!(k.kind, Kind::Contact | Kind::Element)) {
        let mut g = [0.0];
        if k.kind == Kind::Contact {
            system.position(k, start.t, &start.q, &mut g);
        }
        let (mut w, mut chi) = (vec![0.0; k.dim() * k.dofs.len()], vec![0.0; k.dim()]);
        system.velocity(k, start.t, &start.q, &mut w, &mut chi);
        // Rounding of the terms of a velocity is no velocity.
        let moves = |r: usize| {
            let terms = || k.dofs.iter().zip(&w[r * k.dofs.len()..]).map(|(&j, w)| w * start.u[j as usize]);
            let (rate, size) = (chi[r] + terms().sum::<f64>(), chi[r].abs() + terms().map(f64::abs).sum::<f64>());
            rate.abs() > 1e-12 * size
        };
        if k.kind == Kind::Element {
            found(k.id, (0..k.dim()).any(moves));
            continue;
        }
        // A gap up to the activation threshold of the schemes.
        if g[0] <= 1e-10 && !moves(0) {
            found(k.id, (1..k.dim()).any(moves));
        }
    }
}

fn check_mass(system: &Evaluator, start: &State) -> Result<(), Error> {
    let s = system.structure();
    let n = s.nu();
    let mut m = Matrix::new(&s.mass_pattern);
    system.mass(start.t, &start.q, &mut m);
    let bad = |row: usize| Error::Mass { velocity: s.velocities[row].into() };
    for i in 0..n {
        let d = m.get(i, i);
        if !(d > 0.0 && d.is_finite()) {
            return Err(bad(i));
        }
    }
    if n > MAX_CHECKED_VELOCITIES {
        return m.factor().map_err(|e| bad(e.row));
    }
    // Symmetry to rounding of a sum of a few contributions, then Cholesky with a relative pivot test.
    let mut a: Vec<f64> = (0..n * n).map(|k| m.get(k / n, k % n)).collect();
    for i in 0..n {
        for j in 0..i {
            let difference = (a[i * n + j] - a[j * n + i]).abs();
            let scale = (a[i * n + i] * a[j * n + j]).sqrt();
            if !(difference <= 1e-12 * scale) {
                let (row, column) = (s.velocities[i].into(), s.velocities[j].into());
                return Err(Error::MassNotSymmetric { row, column, difference });
            }
        }
    }
    for k in 0..n {
        let diagonal = m.get(k, k);
        let mut d = a[k * n + k];
        for j in 0..k {
            d -= a[k * n + j] * a[k * n + j];
        }
        // A pivot below n rounding errors of its diagonal entry is none.
        if !(d > n as f64 * f64::EPSILON * diagonal) {
            return Err(bad(k));
        }
        let l = d.sqrt();
        a[k * n + k] = l;
        for i in k + 1..n {
            let mut v = a[i * n + k];
            for j in 0..k {
                v -= a[i * n + j] * a[k * n + j];
            }
            a[i * n + k] = v / l;
        }
    }
    Ok(())
}
