//! The exact solution of a scene, by the formulas of `[exact]`.

use super::scope::{Allowed, Numbers, Variables};
use crate::file::format::Scene;
use crate::file::{Document, Fault, Formulas, Key, Named, Origin};
use crate::formula::{Graph, Id, Slot, Tape};
use nonsmooth::names::hint;

/// Closed form of q(t) and u(t), u right-continuous.
#[derive(Debug, Clone)]
pub struct ExactSolution {
    tape: Tape,
    nq: usize,
    nu: usize,
    /// Contacts whose normal percussions are known.
    pub contacts: Vec<String>,
    /// Time up to which it holds, s.
    pub until: f64,
    /// Where it was written.
    pub origin: Origin,
}

impl ExactSolution {
    /// The exact solution of a scene, if it states one that holds for its parameters.
    pub fn build(document: &Document, scene: &Scene, numbers: &mut Numbers) -> Result<Option<Self>, Fault> {
        let (Some(exact), Some(model)) = (&scene.exact, &scene.model) else { return Ok(None) };
        for (key, _) in &exact.define.0 {
            key.refuse_reserved()?;
        }
        if let Some(when) = &exact.when
            && !numbers.holds(document, when)?
        {
            let message = format!("the closed form of this scene holds only where {}", when.text);
            return Err(Fault::new(&when.origin, message));
        }
        let until = match &exact.until {
            Some(f) => constant(document, numbers, &exact.define, f)?,
            None => f64::INFINITY,
        };
        let velocities = model.velocities.as_ref().unwrap_or(&model.coordinates);
        // Functions of time and parameters: there are no coordinates here.
        let mut variables = Variables::new(document, numbers, &[], None, true, &exact.define);
        let mut graph = Graph::default();
        let mut roots = components(&mut graph, &mut variables, &exact.q, &model.coordinates, "coordinates")?;
        roots.extend(components(&mut graph, &mut variables, &exact.u, velocities, "velocities")?);
        let mut contacts = Vec::new();
        for (key, formula) in &exact.percussion.0 {
            if !scene.contact.iter().any(|c| c.name.name == key.name) {
                let hint = hint(&key.name, scene.contact.iter().map(|c| c.name.name.as_str()), String::new);
                return Err(Fault::new(&key.origin, format!("`{}` is none of the contacts{hint}", key.name)));
            }
            contacts.push(key.name.clone());
            roots.push(variables.node(&mut graph, formula, Allowed::All)?);
        }
        let tape = Tape::new(&graph, &roots, |_| Slot::Time).map_err(|e| Fault::new(&exact.origin, e.to_string()))?;
        Ok(Some(Self {
            tape,
            nq: model.coordinates.len(),
            nu: velocities.len(),
            contacts,
            until,
            origin: exact.origin.clone(),
        }))
    }

    /// (q, u) at a time.
    pub fn at(&self, t: f64) -> (Vec<f64>, Vec<f64>) {
        let mut q = self.all(t);
        q.truncate(self.nq + self.nu);
        let u = q.split_off(self.nq);
        (q, u)
    }

    /// Normal percussions of the contacts, summed up to a time, N·s.
    pub fn percussions(&self, t: f64) -> Vec<f64> {
        self.all(t).split_off(self.nq + self.nu)
    }

    fn all(&self, t: f64) -> Vec<f64> {
        let mut out = vec![0.0; self.nq + self.nu + self.contacts.len()];
        self.tape.evaluate(t, &[], &[], &mut out);
        out
    }
}

/// A number that may use the definitions of `[exact]`.
fn constant(
    document: &Document,
    numbers: &mut Numbers,
    define: &Named<crate::file::Formula>,
    formula: &crate::file::Formula,
) -> Result<f64, Fault> {
    let mut variables = Variables::new(document, numbers, &[], None, true, define);
    let mut graph = Graph::default();
    let id = variables.node(&mut graph, formula, Allowed::All)?;
    match graph.value(id) {
        Some(v) if !v.is_nan() => Ok(v),
        _ => Err(Fault::new(&formula.origin, "a number is expected here")),
    }
}

fn components(
    graph: &mut Graph,
    variables: &mut Variables,
    formulas: &Formulas,
    names: &[Key],
    what: &str,
) -> Result<Vec<Id>, Fault> {
    let n = names.len();
    if let Some(list) = formulas.in_order() {
        if list.len() != n {
            return Err(Fault::new(formulas.origin(), format!("{} formulas for {n} {what}", list.len())));
        }
        return list.iter().map(|f| variables.node(graph, f, Allowed::All)).collect();
    }
    let mut out = vec![graph.constant(0.0); n];
    if let Formulas::Named(list, _) = formulas {
        for (key, f) in list {
            let Some(i) = names.iter().position(|k| k.name == key.name) else {
                let hint = hint(&key.name, names.iter().map(|k| k.name.as_str()), String::new);
                return Err(Fault::new(&key.origin, format!("`{}` is none of the {what}{hint}", key.name)));
            };
            out[i] = variables.node(graph, f, Allowed::All)?;
        }
    }
    Ok(out)
}
