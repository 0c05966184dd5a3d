//! The state at the start.

use crate::file::format::Scene;
use crate::file::{Document, Fault, Formulas};
use crate::model::Numbers;
use nonsmooth::State;
use nonsmooth::contract::Structure;
use nonsmooth::names::hint;

/// Largest deviation from 1 of the length of a unit vector at the start.
const UNIT_TOLERANCE: f64 = 1e-6;

/// The state at the start `t`: that of bodies and bars, then what `initial` gives.
pub(super) fn start(
    document: &Document,
    scene: &Scene,
    numbers: &mut Numbers,
    structure: &Structure,
    t: f64,
    (mut q, mut u): (Vec<f64>, Vec<f64>),
) -> Result<State, Fault> {
    let initial = scene.initial.as_ref();
    q.resize(structure.nq(), 0.0);
    u.resize(structure.nu(), 0.0);
    // A velocity without a name of its own goes by that of its coordinate.
    let velocities: Vec<&str> = structure.velocities.iter().map(|v| v.trim_end_matches('\'')).collect();
    let coordinates: Vec<&str> = structure.coordinates.iter().collect();
    vector(document, numbers, initial.and_then(|i| i.q.as_ref()), &coordinates, "coordinates", &mut q)?;
    vector(document, numbers, initial.and_then(|i| i.u.as_ref()), &velocities, "velocities", &mut u)?;
    let mut state = State::new(t, q, u);
    let Some(model) = &scene.model else { return Ok(state) };
    for group in &model.unit {
        let list: Vec<usize> = group.iter().filter_map(|k| coordinates.iter().position(|c| *c == k.name)).collect();
        let norm = list.iter().map(|&i| state.q[i] * state.q[i]).sum::<f64>().sqrt();
        if !((norm - 1.0).abs() <= UNIT_TOLERANCE) {
            let names: Vec<&str> = group.iter().map(|k| k.name.as_str()).collect();
            let origin = initial.and_then(|i| i.q.as_ref()).map(|f| f.origin().clone()).unwrap_or_default();
            let message = format!("({}) must have length 1 at the start, it has {norm}", names.join(", "));
            return Err(Fault::new(&origin, message));
        }
        list.iter().for_each(|&i| state.q[i] /= norm);
    }
    Ok(state)
}

/// The coordinates at the start that `initial` gives, if it gives any, for these names and the values of the model.
pub(super) fn coordinates(
    document: &Document,
    scene: &Scene,
    numbers: &mut Numbers,
    names: &[&str],
    q: &[f64],
) -> Result<Option<Vec<f64>>, Fault> {
    let Some(given) = scene.initial.as_ref().and_then(|i| i.q.as_ref()) else { return Ok(None) };
    let mut out = q.to_vec();
    out.resize(names.len(), 0.0);
    vector(document, numbers, Some(given), names, "coordinates", &mut out)?;
    Ok(Some(out))
}

fn vector(
    document: &Document,
    numbers: &mut Numbers,
    given: Option<&Formulas>,
    names: &[&str],
    what: &str,
    out: &mut [f64],
) -> Result<(), Fault> {
    let n = names.len();
    match given {
        None => {}
        Some(Formulas::Named(list, _)) => {
            for (key, f) in list {
                let Some(i) = names.iter().position(|k| *k == key.name) else {
                    let hint = hint(&key.name, names.iter().copied(), String::new);
                    return Err(Fault::new(&key.origin, format!("`{}` is none of the {what}{hint}", key.name)));
                };
                out[i] = numbers.evaluate(document, f)?;
            }
        }
        Some(list) => {
            let formulas = list.in_order().unwrap_or(&[]);
            if formulas.len() != n {
                let message = format!("{} values for {n} {what}", formulas.len());
                return Err(Fault::new(list.origin(), message));
            }
            for (o, f) in out.iter_mut().zip(formulas) {
                *o = numbers.evaluate(document, f)?;
            }
        }
    }
    Ok(())
}
