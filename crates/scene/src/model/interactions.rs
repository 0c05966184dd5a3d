//! Contacts, joints and elements of a model by formula.

use super::build::{ModelBuilder, too_large};
use super::law::Slip;
use super::scope::Allowed;
use crate::file::format::{Contact, Element};
use crate::file::{Fault, Formula, Formulas, Origin};
use crate::formula::Id;
use nonsmooth::law::{ElementLaw, ElementSets};

impl ModelBuilder<'_> {
    /// Components of a velocity of a part, each affine in u.
    fn velocity_nodes(&mut self, what: &str, formulas: &Formulas) -> Result<Vec<Id>, Fault> {
        let Some(list) = formulas.in_order() else {
            return Err(Fault::new(formulas.origin(), format!("{what} is a formula or a list of formulas")));
        };
        let list = list.to_vec();
        let mut out = Vec::new();
        for formula in &list {
            let id = self.variables.node(&mut self.graph, formula, Allowed::All)?;
            if let Some(v) = self.variation.curved_velocity(&mut self.graph, id) {
                let names = self.velocity_names();
                let prime = if self.variables.velocities.is_none() { "'" } else { "" };
                return Err(Fault::new(&formula.origin, format!("{what} is not affine in `{}{prime}`", names[v])));
            }
            out.push(id);
        }
        Ok(out)
    }

    fn not_negative_bound(&mut self, formula: &Formula) -> Result<f64, Fault> {
        self.variables.numbers.not_negative(self.variables.document, formula, "a bound")
    }

    pub(super) fn contact(&mut self, contact: &Contact, formula: &Formula) -> Result<(), Fault> {
        let name = &contact.name.name;
        if let Some(key) = contact.between.as_ref().and_then(|list| list.first()) {
            let message = format!("contact `{name}` has a `gap` and `between`: give one of them");
            return Err(Fault::new(&key.origin, message));
        }
        let gap = self.variables.node(&mut self.graph, formula, Allowed::Position("a gap"))?;
        if !self.graph.variables(&[gap]).iter().any(|v| *v > 0) {
            return Err(Fault::new(&formula.origin, format!("the gap of contact `{name}` depends on no coordinate")));
        }
        let zero = self.graph.constant(0.0);
        if (1..=self.nq() as u32).all(|i| self.graph.derivative(gap, i) == zero) {
            let message =
                format!("the gap of contact `{name}` has no direction: its slope by every coordinate is zero");
            return Err(Fault::new(&formula.origin, message));
        }
        let slip = match &contact.slip {
            Some(f) => self.velocity_nodes("a slip velocity", f)?,
            None => Vec::new(),
        };
        if let Some(f) = contact.slip.as_ref().filter(|_| slip.is_empty() || slip.len() > 3) {
            let message = format!("a slip velocity has 1 to 3 components, this has {}", slip.len());
            return Err(Fault::new(f.origin(), message));
        }
        let (document, slips) = (self.variables.document, Slip::Formula(slip.len()));
        let law = self.variables.numbers.contact_law(document, contact, slips)?;
        let mut roots = vec![gap];
        roots.extend(&slip);
        let (on, velocities) = self.variation.touched(&self.graph, &roots, &[]);
        let gap_tape = self.variation.tape(&self.graph, &[gap], &on, &velocities);
        self.model.gaps.push(gap_tape.map_err(too_large(&formula.origin))?);
        let slip_tape = match slip.is_empty() {
            true => None,
            false => {
                let tape = self.variation.tape(&self.graph, &slip, &on, &velocities);
                Some(tape.map_err(too_large(&formula.origin))?)
            }
        };
        self.model.slips.push(slip_tape);
        self.roots.gaps.push(gap);
        self.model.contact_rows.push(self.variation.rows(&mut self.graph, &[gap], &slip, &on, &velocities));
        let linear =
            self.variation.linear_position(&self.graph, &[gap]) && self.variation.linear_velocity(&self.graph, &slip);
        let moving = self.variation.uses_time(&self.graph, &roots);
        self.layout = std::mem::take(&mut self.layout).contact(name.clone(), law).on(on);
        self.flags(linear, moving);
        self.places.insert(name, &contact.name.origin);
        Ok(())
    }

    fn flags(&mut self, linear: bool, moving: bool) {
        if linear {
            self.layout = std::mem::take(&mut self.layout).linear();
        }
        if moving {
            self.layout = std::mem::take(&mut self.layout).moving();
        }
    }

    pub(super) fn joints(&mut self) -> Result<(), Fault> {
        let scene = self.scene;
        // Joints on position level come first: parts are numbered kind by kind.
        for joint in &scene.joint {
            let name = &joint.name.name;
            self.places.insert(name, &joint.name.origin);
            match (&joint.position, &joint.velocity) {
                (Some(f), None) => {
                    let Some(list) = f.in_order() else {
                        return Err(Fault::new(f.origin(), "a joint is a formula or a list of formulas"));
                    };
                    let roots = self.nodes(list, Allowed::Position("a joint on position level"))?;
                    self.depends(&roots, name, f.origin())?;
                    let local = self.variation.local(&self.graph, &roots).map_err(too_large(f.origin()))?;
                    let linear = self.variation.linear_position(&self.graph, &roots);
                    let moving = self.variation.uses_time(&self.graph, &roots);
                    self.model.joint_rows.push(self.variation.rows(&mut self.graph, &roots, &[], &local.on, &[]));
                    self.layout = std::mem::take(&mut self.layout).joint(name.clone(), roots.len()).on(local.on);
                    self.flags(linear, moving);
                    self.model.joints.push(local.tape);
                }
                (None, Some(f)) => {
                    let roots = self.velocity_nodes("the velocity of a joint", f)?;
                    self.depends(&roots, name, f.origin())?;
                    let local = self.variation.local(&self.graph, &roots).map_err(too_large(f.origin()))?;
                    let linear = self.variation.linear_velocity(&self.graph, &roots);
                    let moving = self.variation.uses_time(&self.graph, &roots);
                    self.layout =
                        std::mem::take(&mut self.layout).velocity_joint(name.clone(), roots.len()).on(local.on);
                    self.flags(linear, moving);
                    self.model.velocity_joints.push(local.tape);
                }
                _ => {
                    let message = format!("joint `{name}` needs `position` or `velocity`, one of them");
                    return Err(Fault::new(&joint.origin, message));
                }
            }
        }
        Ok(())
    }

    fn depends(&self, roots: &[Id], name: &str, origin: &Origin) -> Result<(), Fault> {
        if roots.is_empty() {
            return Err(Fault::new(origin, format!("`{name}` has no components")));
        }
        match roots.iter().position(|&r| !self.graph.variables(&[r]).iter().any(|v| *v > 0)) {
            None => Ok(()),
            Some(i) => {
                let message = format!("component {} of `{name}` depends on no coordinate and no velocity", i + 1);
                Err(Fault::new(origin, message))
            }
        }
    }

    pub(super) fn element(&mut self, element: &Element) -> Result<(), Fault> {
        let name = &element.name.name;
        let roots = self.velocity_nodes("the velocity of an element", &element.velocity)?;
        self.depends(&roots, name, element.velocity.origin())?;
        let n = roots.len();
        let e = match &element.restitution {
            Some(e) => self.variables.numbers.restitution(self.variables.document, e)?,
            None => 0.0,
        };
        let sets = match (&element.bound, &element.range) {
            (Some(a), None) => {
                if n > 3 {
                    let message = format!("a `bound` is for 1 to 3 components, this has {n}: use `range`");
                    return Err(Fault::new(&a.origin, message));
                }
                if element.impulse_range.is_some() {
                    return Err(Fault::new(&element.origin, "`impulse_range` belongs to `range`; use `impulse_bound`"));
                }
                let impulse = match &element.impulse_bound {
                    Some(b) => self.not_negative_bound(b)?,
                    None => 0.0,
                };
                ElementSets::Ball { force: self.not_negative_bound(a)?, impulse }
            }
            (None, Some(range)) => {
                if element.impulse_bound.is_some() {
                    return Err(Fault::new(&element.origin, "`impulse_bound` belongs to `bound`; use `impulse_range`"));
                }
                let force = self.ranges(range, n, &element.origin)?;
                let impulse = match &element.impulse_range {
                    Some(r) => self.ranges(r, n, &element.origin)?,
                    None => vec![(0.0, 0.0); n],
                };
                ElementSets::Box { force, impulse }
            }
            _ => {
                let message = format!("element `{name}` needs `bound` or `range`, one of them");
                return Err(Fault::new(&element.origin, message));
            }
        };
        let local = self.variation.local(&self.graph, &roots).map_err(too_large(element.velocity.origin()))?;
        let linear = self.variation.linear_velocity(&self.graph, &roots);
        self.layout = std::mem::take(&mut self.layout).element(name.clone(), n, ElementLaw { sets, e }).on(local.on);
        self.flags(linear, false);
        self.model.elements.push(local.tape);
        self.places.insert(name, &element.name.origin);
        Ok(())
    }

    fn ranges(&mut self, range: &[Vec<Formula>], n: usize, origin: &Origin) -> Result<Vec<(f64, f64)>, Fault> {
        if range.len() != n {
            let message = format!("{} pairs of bounds for {n} components", range.len());
            return Err(Fault::new(origin, message));
        }
        let mut out = Vec::new();
        for pair in range {
            let [low, high] = pair.as_slice() else {
                return Err(Fault::new(
                    pair.first().map_or(origin, |f| &f.origin),
                    "a pair [lower, upper] is expected",
                ));
            };
            let bounds = (self.bound(low)?, self.bound(high)?);
            if !(bounds.0 <= bounds.1) {
                return Err(Fault::new(&low.origin, format!("the range [{}, {}] is empty", bounds.0, bounds.1)));
            }
            out.push(bounds);
        }
        Ok(out)
    }

    /// A number, or ±"inf".
    fn bound(&mut self, formula: &Formula) -> Result<f64, Fault> {
        match formula.text.trim() {
            "inf" | "+inf" => Ok(f64::INFINITY),
            "-inf" => Ok(f64::NEG_INFINITY),
            _ => self.number(formula),
        }
    }
}
