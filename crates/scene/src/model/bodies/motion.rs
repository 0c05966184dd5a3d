//! How bodies move: by forces, not at all, or by formulas.

use super::Reader;
use crate::file::format;
use crate::file::{Fault, Formula, Named};
use crate::formula::{Graph, Id, Slot, Tape};
use crate::model::scope::{Allowed, Variables};
use nonsmooth_multibody::{Mobility, Motion, Pose, Twist};
use std::sync::Arc;

/// A motion by formulas: x, y, phi, their rates, and the rates of these.
#[derive(Debug)]
struct ByFormula {
    tape: Tape,
    /// Whether phi depends on t.
    turns: bool,
}

impl Motion for ByFormula {
    fn at(&self, t: f64) -> (Pose, Twist, Twist) {
        let mut v = [0.0; 9];
        self.tape.evaluate(t, &[], &[], &mut v);
        let twist = |k: usize| Twist { velocity: [v[k], v[k + 1]], spin: v[k + 2] };
        (Pose { centre: [v[0], v[1]], angle: v[2] }, twist(3), twist(6))
    }

    fn turns(&self) -> bool {
        self.turns
    }
}

impl Reader<'_> {
    pub(super) fn mobility(&mut self, body: &format::Body) -> Result<Mobility, Fault> {
        let fixed = body.fixed == Some(true);
        if body.motion.0.is_empty() {
            return Ok(if fixed { Mobility::Fixed } else { Mobility::Free });
        }
        if fixed {
            let message = format!("body `{}` is fixed and has a motion", body.name.name);
            return Err(Fault::new(&body.motion.0[0].0.origin, message));
        }
        self.motion(&body.motion).map(Mobility::Driven)
    }

    fn motion(&mut self, motion: &Named<Formula>) -> Result<Arc<dyn Motion>, Fault> {
        let mut graph = Graph::default();
        let mut variables = Variables::new(self.document, self.numbers, &[], None, true, &self.scene.define);
        let zero = graph.constant(0.0);
        let mut values: [Id; 3] = [zero; 3];
        for (key, formula) in &motion.0 {
            let Some(k) = ["x", "y", "phi"].iter().position(|n| *n == key.name) else {
                let message = format!("a motion has x, y and phi, not `{}`", key.name);
                return Err(Fault::new(&key.origin, message));
            };
            values[k] = variables.node(&mut graph, formula, Allowed::Position("a motion"))?;
        }
        self.out.breaks.find(&graph, &variables.read);
        let rates = values.map(|v| graph.derivative(v, 0));
        let second = rates.map(|v| graph.derivative(v, 0));
        let outputs: Vec<Id> = values.into_iter().chain(rates).chain(second).collect();
        let tape = Tape::new(&graph, &outputs, |_| Slot::Time)
            .map_err(|e| Fault::new(&motion.0[0].1.origin, e.to_string()))?;
        let turns = !graph.variables(&[values[2]]).is_empty();
        Ok(Arc::new(ByFormula { tape, turns }))
    }
}
