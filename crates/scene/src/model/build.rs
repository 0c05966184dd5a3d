//! Builds a model from records: reads, checks and compiles every formula.

use super::breaks::Breaks;
use super::mass::MassMatrix;
use super::parts::{Kinematics, Variation};
use super::scope::{Allowed, Numbers, Variables};
use super::together::{CombinedTapes, Roots};
use super::{ForceTape, FormulaModel, Places};
use crate::file::format::{Force, Model, Scene};
use crate::file::{Document, Fault, Formula, Formulas, Key, Origin};
use crate::formula::{Graph, Id, TapeError};
use nonsmooth::Layout;
use nonsmooth::names::hint_or_list;
use std::collections::{BTreeMap, BTreeSet};

/// A model, with the places of its parts in the file.
#[derive(Debug, Clone)]
pub struct Built {
    /// The model.
    pub model: FormulaModel,
    /// Places of forces, contacts, joints, elements, coordinates and velocities by name.
    pub places: Places,
    /// Whether the mass matrix was derived from a kinetic energy.
    pub lagrangian: bool,
    /// Times at which it jumps or has a kink.
    pub breaks: Breaks,
    /// Definitions that nothing refers to.
    pub unused: Vec<String>,
}

impl FormulaModel {
    /// The model of a scene. Coordinates of bodies, `others`, come before its own; formulas may name them. `breaks` are those of bodies.
    pub fn build(
        document: &Document,
        scene: &Scene,
        numbers: &mut Numbers,
        others: &[Key],
        breaks: Breaks,
    ) -> Result<Built, Fault> {
        let nothing = Model::none();
        let model = scene.model.as_ref().unwrap_or(&nothing);
        let identity = scene.kinematics.0.is_empty();
        check_names(scene, model, identity, others)?;
        let coordinates: Vec<Key> = others.iter().chain(&model.coordinates).cloned().collect();
        // The velocity of a body has no name but the rate of its coordinate.
        let velocities: Option<Vec<Key>> =
            model.velocities.as_ref().map(|own| others.iter().chain(own).cloned().collect());
        let variables = Variables::new(document, numbers, &coordinates, velocities.as_deref(), identity, &scene.define);
        let (nq, nu) = (coordinates.len(), velocities.as_ref().map_or(coordinates.len(), Vec::len));
        let variation = Variation { nq, nu, kinematics: Kinematics::Identity };
        let mut builder = ModelBuilder {
            scene,
            others: others.len(),
            graph: Graph::default(),
            variables,
            variation,
            layout: Layout::new(coordinates.iter().map(|k| k.name.clone())),
            places: Places::default(),
            roots: Roots::default(),
            model: FormulaModel {
                layout: Layout::default(),
                masses: Vec::new(),
                forces: Vec::new(),
                gaps: Vec::new(),
                slips: Vec::new(),
                contact_rows: Vec::new(),
                joint_rows: Vec::new(),
                joints: Vec::new(),
                velocity_joints: Vec::new(),
                elements: Vec::new(),
                kinematics: Vec::new(),
                combined: CombinedTapes::default(),
                unit: Vec::new(),
            },
        };
        builder.kinematics(&coordinates, velocities.as_deref(), identity)?;
        let lagrangian = builder.mass_and_forces(model, identity)?;
        for contact in &scene.contact {
            if let Some(gap) = &contact.gap {
                builder.contact(contact, gap)?;
            }
        }
        builder.joints()?;
        for element in &scene.element {
            builder.element(element)?;
        }
        builder.finish(model, lagrangian, breaks)
    }
}

pub(super) struct ModelBuilder<'a> {
    pub(super) scene: &'a Scene,
    /// Number of coordinates of bodies, before those of the model.
    pub(super) others: usize,
    pub(super) graph: Graph,
    pub(super) variables: Variables<'a>,
    pub(super) variation: Variation,
    pub(super) layout: Layout,
    pub(super) places: Places,
    pub(super) model: FormulaModel,
    pub(super) roots: Roots,
}

pub(super) fn too_large(origin: &Origin) -> impl Fn(TapeError) -> Fault + '_ {
    move |e| Fault::new(origin, e.to_string())
}

/// Checks that no name is used twice.
fn check_names(scene: &Scene, model: &Model, identity: bool, others: &[Key]) -> Result<(), Fault> {
    if scene.model.is_some() && model.coordinates.is_empty() {
        let own = [model.mass.is_some(), model.kinetic.is_some(), model.force.is_some(), model.potential.is_some()];
        if others.is_empty() {
            return Err(Fault::new(&model.origin, "`coordinates` is empty: a model has at least one coordinate"));
        }
        if own.contains(&true) {
            let message = "`coordinates` is empty: without coordinates of its own a [model] beside bodies has `breaks` alone; \
                           forces on bodies are [[force]]";
            return Err(Fault::new(&model.origin, message));
        }
    }
    let mut seen: BTreeMap<&str, &str> = BTreeMap::new();
    let lists = [
        ("coordinate of a body", others.iter().collect::<Vec<_>>()),
        ("coordinate", model.coordinates.iter().collect()),
        ("velocity", model.velocities.iter().flatten().collect()),
        ("parameter", scene.parameters.0.iter().map(|(k, _)| k).collect()),
        ("definition", scene.define.0.iter().map(|(k, _)| k).collect()),
    ];
    for (what, keys) in lists {
        for key in keys {
            key.refuse_reserved()?;
            if let Some(before) = seen.insert(&key.name, what) {
                let message = format!("the name `{}` of a {what} is already that of a {before}", key.name);
                return Err(Fault::new(&key.origin, message));
            }
        }
    }
    let mut parts: BTreeSet<&str> = BTreeSet::new();
    let named = scene.contact.iter().map(|p| &p.name).chain(scene.joint.iter().map(|p| &p.name));
    let named = named.chain(scene.body.iter().map(|p| &p.name)).chain(scene.bar.iter().map(|p| &p.name));
    let named = named.chain(scene.spring.iter().map(|p| &p.name));
    for key in named.chain(scene.element.iter().map(|p| &p.name)) {
        if !parts.insert(&key.name) {
            return Err(Fault::new(&key.origin, format!("the name `{}` of a part is used twice", key.name)));
        }
    }
    match &model.velocities {
        Some(v) if identity && v.len() != model.coordinates.len() => {
            let message = format!(
                "{} velocities for {} coordinates: without [kinematics] each velocity is the rate of a coordinate",
                v.len(),
                model.coordinates.len()
            );
            Err(Fault::new(&v.first().map_or(model.origin.clone(), |k| k.origin.clone()), message))
        }
        None if !identity => {
            let origin = &scene.kinematics.0[0].0.origin;
            Err(Fault::new(origin, "[kinematics] needs the names of the velocities in `model.velocities`"))
        }
        _ => Ok(()),
    }
}

impl ModelBuilder<'_> {
    pub(super) fn nq(&self) -> usize {
        self.variation.nq
    }

    pub(super) fn number(&mut self, formula: &Formula) -> Result<f64, Fault> {
        self.variables.numbers.evaluate(self.variables.document, formula)
    }

    pub(super) fn nodes(&mut self, formulas: &[Formula], allowed: Allowed) -> Result<Vec<Id>, Fault> {
        formulas.iter().map(|f| self.variables.node(&mut self.graph, f, allowed)).collect()
    }

    /// Names of the velocities as they can stand in a table of components.
    pub(super) fn velocity_names(&self) -> Vec<String> {
        let list = match self.variables.velocities {
            Some(v) => v,
            None => self.variables.coordinates,
        };
        list.iter().map(|k| k.name.clone()).collect()
    }

    /// Components of a vector over all velocities, and those that were given.
    fn over_velocities(&mut self, formulas: &Formulas) -> Result<(Vec<Id>, Vec<usize>), Fault> {
        let names = self.velocity_names();
        let n = names.len();
        match formulas {
            Formulas::Named(list, _) => {
                let zero = self.graph.constant(0.0);
                let mut out = vec![zero; n];
                let mut given = Vec::new();
                for (key, f) in list {
                    let i = position(&names, key, "velocity")?;
                    out[i] = self.variables.node(&mut self.graph, f, Allowed::All)?;
                    given.push(i);
                }
                Ok((out, given))
            }
            Formulas::One(_) | Formulas::List(..) => {
                // A list is for the velocities of the model itself.
                let (list, own) = (formulas.in_order().unwrap_or(&[]), n - self.others);
                if list.len() != own {
                    let message = format!("{} components, the model has {own} velocities", list.len());
                    return Err(Fault::new(formulas.origin(), message));
                }
                let zero = self.graph.constant(0.0);
                let mut out = vec![zero; self.others];
                out.extend(self.nodes(list, Allowed::All)?);
                Ok((out, (self.others..n).collect()))
            }
        }
    }

    fn kinematics(&mut self, coordinates: &[Key], velocities: Option<&[Key]>, identity: bool) -> Result<(), Fault> {
        for key in coordinates[self.others..].iter().chain(velocities.into_iter().flatten()) {
            self.places.insert(&key.name, &key.origin);
        }
        let Some(velocities) = velocities.filter(|_| !identity) else {
            return Ok(());
        };
        let (nq, nu) = (coordinates.len(), velocities.len());
        let names: Vec<String> = coordinates.iter().map(|k| k.name.clone()).collect();
        let mut rates: Vec<Option<Id>> = vec![None; nq];
        for i in 0..self.others {
            rates[i] = Some(self.graph.variable(self.variables.velocity(i)));
        }
        for (key, formula) in &self.scene.kinematics.0 {
            let i = position(&names, key, "coordinate")?;
            if i < self.others {
                let message = format!("`{}` belongs to a body: its rate is known", key.name);
                return Err(Fault::new(&key.origin, message));
            }
            let id = self.variables.node(&mut self.graph, formula, Allowed::All)?;
            if let Some(v) = self.variation.curved_velocity(&mut self.graph, id) {
                let message = format!("the rate of `{}` is not affine in `{}`", key.name, velocities[v].name);
                return Err(Fault::new(&formula.origin, message));
            }
            rates[i] = Some(id);
        }
        let mut all = Vec::new();
        for (i, rate) in rates.iter().enumerate() {
            match rate {
                Some(id) => all.push(*id),
                None => {
                    let message = format!("[kinematics] does not give the rate of coordinate `{}`", names[i]);
                    return Err(Fault::new(&self.scene.kinematics.0[0].0.origin, message));
                }
            }
        }
        // Groups of coordinates and velocities that occur together; numbers nq.. are velocities.
        let mut group: Vec<usize> = (0..nq + nu).collect();
        for (i, &id) in all.iter().enumerate() {
            for v in self.graph.variables(&[id]) {
                if v > 0 {
                    let (a, b) = (group[i], group[v as usize - 1]);
                    group.iter_mut().filter(|g| **g == b).for_each(|g| *g = a);
                }
            }
        }
        let mut blocks: Vec<(Vec<usize>, Vec<usize>)> = Vec::new();
        let mut done = BTreeSet::new();
        for i in 0..nq {
            if done.insert(group[i]) {
                let members = |range: std::ops::Range<usize>| range.filter(|&k| group[k] == group[i]);
                blocks.push((members(0..nq).collect(), members(nq..nq + nu).map(|k| k - nq).collect()));
            }
        }
        if let Some(v) = (0..nu).find(|&v| !blocks.iter().any(|(_, us)| us.contains(&v))) {
            let message =
                format!("velocity `{}` moves no coordinate: it is missing in [kinematics]", velocities[v].name);
            return Err(Fault::new(&velocities[v].origin, message));
        }
        let mut layout = std::mem::take(&mut self.layout).velocities(velocities.iter().map(|k| k.name.clone()));
        for (qs, us) in &blocks {
            layout = layout.kinematic_block(qs.iter().copied(), us.iter().copied());
            let roots: Vec<Id> = qs.iter().map(|&i| all[i]).collect();
            let tape = self.variation.tape(&self.graph, &roots, qs, us);
            self.model.kinematics.push(tape.map_err(too_large(&self.scene.kinematics.0[0].0.origin))?);
        }
        self.layout = layout;
        self.variation.kinematics = Kinematics::Blocks(blocks);
        Ok(())
    }

    fn mass_and_forces(&mut self, model: &Model, identity: bool) -> Result<bool, Fault> {
        // A model without coordinates of its own has no mass.
        if model.coordinates.is_empty() {
            self.layout = std::mem::take(&mut self.layout).without_mass();
            self.named_forces()?;
            return Ok(false);
        }
        let (first, nu) = (self.others, self.variation.nu - self.others);
        let (mass, origin, gyroscopic) = match (&model.mass, &model.kinetic) {
            (Some(mass), None) => {
                let origin = match mass {
                    crate::file::format::Mass::One(f) => f.origin.clone(),
                    crate::file::format::Mass::Diagonal(_, o) | crate::file::format::Mass::Rows(_, o) => o.clone(),
                };
                (MassMatrix::given(mass, first, nu, &mut self.graph, &mut self.variables)?, origin, None)
            }
            (None, Some(kinetic)) => {
                if !identity {
                    let message = "`kinetic` needs velocities that are the rates of the coordinates: with [kinematics] give \
                                   `mass` and the gyroscopic terms as a force";
                    return Err(Fault::new(&kinetic.origin, message));
                }
                let (mass, force) = MassMatrix::derived(kinetic, first, nu, &mut self.graph, &mut self.variables)?;
                let zero = self.graph.constant(0.0);
                let force = force.map(|h| std::iter::repeat_n(zero, first).chain(h).collect::<Vec<_>>());
                (mass, kinetic.origin.clone(), force)
            }
            (Some(_), Some(kinetic)) => {
                return Err(Fault::new(&kinetic.origin, "give `mass` or `kinetic`, not both"));
            }
            (None, None) => {
                return Err(Fault::new(&model.origin, "[model] needs `mass` or `kinetic`"));
            }
        };
        if mass.is_constant(&self.graph) {
            self.layout = std::mem::take(&mut self.layout).constant_mass();
        }
        if first == 0 {
            self.roots.mass.clone_from(&mass.entries);
        }
        for block in mass.blocks(&self.graph, &self.variation).map_err(too_large(&origin))? {
            let name = format!("mass {}", self.model.masses.len() + 1);
            self.layout = std::mem::take(&mut self.layout).mass_block(name).on(block.dofs);
            self.model.masses.push(block.tape);
        }
        self.places.insert_mass(&origin);
        if let Some(h) = &gyroscopic {
            self.value_force("gyroscopic", h, &[], &origin)?;
        }
        if let Some(v) = &model.potential {
            self.potential_force("potential", v)?;
        }
        if let Some(f) = &model.force {
            let (h, given) = self.over_velocities(f)?;
            self.value_force("force", &h, &given, f.origin())?;
        }
        self.named_forces()?;
        Ok(model.kinetic.is_some())
    }

    fn named_forces(&mut self) -> Result<(), Fault> {
        for force in &self.scene.force {
            let name = &force.name.name;
            if ["gyroscopic", "potential", "force"].contains(&name.as_str()) {
                let message = format!("the name `{name}` of a force is reserved (gyroscopic, potential, force are)");
                return Err(Fault::new(&force.name.origin, message));
            }
            if self.places.has_force(name) {
                return Err(Fault::new(&force.name.origin, format!("the name `{name}` of a force is used twice")));
            }
            match (&force.potential, &force.value) {
                (None, None) if force.deflection.is_some() => self.spring_and_damper(force)?,
                _ if [&force.deflection, &force.stiffness, &force.damping].iter().any(|f| f.is_some()) => {
                    let message = format!(
                        "force `{name}`: `deflection` comes with `stiffness` or `damping`, and without `potential` and `value`"
                    );
                    return Err(Fault::new(&force.origin, message));
                }
                (Some(v), None) => self.potential_force(name, v)?,
                (None, Some(f)) => {
                    let (h, given) = self.over_velocities(f)?;
                    self.value_force(name, &h, &given, f.origin())?;
                }
                (Some(v), Some(f)) => {
                    let message = format!("force `{name}` has a `potential` and a `value`: give one of them");
                    let origin = if matches!(v.origin, Origin::Override(_)) { &v.origin } else { f.origin() };
                    return Err(Fault::new(origin, message));
                }
                (None, None) => {
                    let message = format!("force `{name}` needs `potential`, `value` or `deflection`");
                    return Err(Fault::new(&force.origin, message));
                }
            }
            self.places.insert_force(name, &force.name.origin);
        }
        Ok(())
    }

    fn value_force(&mut self, name: &str, h: &[Id], given: &[usize], origin: &Origin) -> Result<(), Fault> {
        let zero = self.graph.constant(0.0);
        self.roots.forces.resize(h.len(), zero);
        for (sum, &h) in self.roots.forces.iter_mut().zip(h) {
            *sum = self.graph.add(*sum, h);
        }
        // Components that are zero do not act, unless nothing else does.
        let mut acted: Vec<usize> = (0..h.len()).filter(|&i| h[i] != zero).collect();
        if acted.is_empty() {
            acted.push(given.first().copied().unwrap_or(0));
        }
        let (on, velocities) = self.variation.touched(&self.graph, h, &acted);
        let roots: Vec<Id> = velocities.iter().map(|&v| h[v]).collect();
        let tape = self.variation.tape(&self.graph, &roots, &on, &velocities).map_err(too_large(origin))?;
        let linear = self.variation.linear_force(&self.graph, &roots);
        let jacobian = self.variation.force_jacobian(&mut self.graph, &roots, &on, &velocities);
        self.layout = std::mem::take(&mut self.layout).force(name).on(on);
        if linear {
            self.layout = std::mem::take(&mut self.layout).linear();
        }
        self.model.forces.push(ForceTape::Value(tape, jacobian));
        self.places.insert_force(name, origin);
        Ok(())
    }

    /// V = ½ γ φ², and −δ φ̇ ∂φ/∂q as a force `NAME_damper`.
    fn spring_and_damper(&mut self, force: &Force) -> Result<(), Fault> {
        let name = &force.name.name;
        let Some(formula) = &force.deflection else { return Ok(()) };
        let mut strength = |f: &Option<Formula>, what: &str| -> Result<Option<f64>, Fault> {
            let Some(f) = f else { return Ok(None) };
            let value = self.number(f)?;
            if !(value >= 0.0 && value.is_finite()) {
                return Err(Fault::new(
                    &f.origin,
                    format!("force `{name}`: its {what} must be finite and not negative"),
                ));
            }
            Ok(Some(value))
        };
        let (stiffness, damping) = (strength(&force.stiffness, "stiffness")?, strength(&force.damping, "damping")?);
        if stiffness.is_none() && damping.is_none() {
            let message = format!("force `{name}` with a `deflection` needs `stiffness` or `damping`");
            return Err(Fault::new(&formula.origin, message));
        }
        let phi = self.variables.node(&mut self.graph, formula, Allowed::Position("a deflection"))?;
        if let Some(stiffness) = stiffness {
            let half = self.graph.constant(0.5 * stiffness);
            let square = self.graph.multiply(phi, phi);
            let v = self.graph.multiply(half, square);
            self.potential_by(name, v, formula, true)?;
        }
        if let Some(damping) = damping {
            if !self.scene.kinematics.0.is_empty() {
                let message = format!("force `{name}`: `damping` needs q' = u; give the damper by its `value`");
                return Err(Fault::new(&formula.origin, message));
            }
            let slopes: Vec<Id> = (0..self.nq()).map(|i| self.graph.derivative(phi, (1 + i) as u32)).collect();
            let mut rate = self.graph.derivative(phi, 0);
            for (i, &slope) in slopes.iter().enumerate() {
                let u = self.graph.variable((1 + self.nq() + i) as u32);
                let part = self.graph.multiply(slope, u);
                rate = self.graph.add(rate, part);
            }
            let minus = self.graph.constant(-damping);
            let force_along = self.graph.multiply(minus, rate);
            let h: Vec<Id> = slopes.iter().map(|&slope| self.graph.multiply(force_along, slope)).collect();
            self.value_force(&format!("{name}_damper"), &h, &[], &formula.origin)?;
        }
        Ok(())
    }

    fn potential_force(&mut self, name: &str, formula: &Formula) -> Result<(), Fault> {
        let v = self.variables.node(&mut self.graph, formula, Allowed::Position("a potential"))?;
        self.potential_by(name, v, formula, false)
    }

    /// A force by the node of its potential, which may be that of a spring.
    fn potential_by(&mut self, name: &str, v: Id, formula: &Formula, spring: bool) -> Result<(), Fault> {
        let mut local = self.variation.local(&self.graph, &[v]).map_err(too_large(&formula.origin))?;
        if local.on.is_empty() {
            // A potential of time alone: no force, but energy.
            local.on.push(0);
        }
        let gradient: Vec<Id> = (0..self.nq()).map(|i| self.graph.derivative(v, (1 + i) as u32)).collect();
        let zero = self.graph.constant(0.0);
        self.roots.apart |= !self.graph.differentiates_as_dual_numbers(&[v]);
        self.roots.forces.resize(self.variation.nu, zero);
        for (sum, &slope) in self.roots.forces.iter_mut().zip(&gradient) {
            *sum = self.graph.subtract(*sum, slope);
        }
        let linear = self.variation.linear_force(&self.graph, &gradient);
        let derivatives = self.variation.potential_derivatives(&mut self.graph, v, &local.on);
        let layout = std::mem::take(&mut self.layout);
        self.layout = if spring { layout.spring(name) } else { layout.potential(name) }.on(local.on);
        if linear {
            self.layout = std::mem::take(&mut self.layout).linear();
        }
        self.model.forces.push(ForceTape::Potential(local.tape, derivatives));
        self.places.insert_force(name, &formula.origin);
        Ok(())
    }

    fn finish(mut self, model: &Model, lagrangian: bool, mut breaks: Breaks) -> Result<Built, Fault> {
        let names: Vec<String> = model.coordinates.iter().map(|k| k.name.clone()).collect();
        for group in &model.unit {
            let own = |k: &Key| position(&names, k, "coordinate").map(|i| i + self.others);
            let list: Result<Vec<usize>, Fault> = group.iter().map(own).collect();
            self.model.unit.push(list?);
        }
        for f in &model.breaks {
            breaks.state(self.number(f)?, f);
        }
        breaks.find(&self.graph, &self.variables.read);
        breaks.settle();
        let unused = self.scene.define.0.iter().map(|(k, _)| k.name.clone());
        let unused = unused.filter(|n| !self.variables.used.contains(n)).collect();
        // Unused definitions are read too: an error in one is reported.
        for (_, formula) in &self.scene.define.0 {
            self.variables.node(&mut self.graph, formula, Allowed::All)?;
        }
        let (masses, forces) = (self.model.masses.len(), self.model.forces.len());
        self.model.combined = CombinedTapes::new(&self.graph, &self.variation, &self.roots, masses, forces);
        self.model.layout = self.layout.breaks(breaks.times());
        Ok(Built { model: self.model, places: self.places, lagrangian, breaks, unused })
    }
}

/// The place of a name in a list.
fn position(names: &[String], key: &Key, what: &str) -> Result<usize, Fault> {
    names.iter().position(|n| *n == key.name).ok_or_else(|| {
        let hint = hint_or_list(&key.name, names.iter().map(String::as_str));
        Fault::new(&key.origin, format!("there is no {what} `{}`{hint}", key.name))
    })
}
