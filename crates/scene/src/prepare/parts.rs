//! The system of a scene: bodies, a model by formula, or both.

use super::Request;
use super::locate::{build_fault, model_fault};
use super::start;
use crate::file::format::Scene;
use crate::file::{Document, Fault, Key, Origin};
use crate::model::bodies::{self, Drawn, DrawnBar, DrawnSpring};
use crate::model::{Breaks, FormulaModel, Numbers, Places};
use nonsmooth::contract::Combined;
use nonsmooth::{Differentiated, System};
use nonsmooth_multibody::{Builder, CoordinateLayout, Geometry, Multibody};
use std::sync::Arc;

/// Pairs without geometry with a warning each.
const MAX_LISTED_PAIRS: usize = 5;

/// The system of a scene, with the layout, geometry and places of its parts.
pub(super) struct SystemParts {
    pub(super) system: Arc<dyn System>,
    pub(super) drawn: Vec<Drawn>,
    pub(super) springs: Vec<DrawnSpring>,
    pub(super) bars: Vec<DrawnBar>,
    pub(super) geometry: Option<Geometry>,
    /// Coordinates and velocities of bodies and bars, by number.
    pub(super) layout: CoordinateLayout,
    /// Their values at the start.
    pub(super) at_start: (Vec<f64>, Vec<f64>),
    pub(super) places: Places,
    pub(super) lagrangian: bool,
    pub(super) unused: Vec<String>,
    pub(super) warnings: Vec<String>,
    pub(super) breaks: Breaks,
}

impl SystemParts {
    pub(super) fn new(
        document: &Document,
        scene: &Scene,
        numbers: &mut Numbers,
        request: &Request,
        breaks: Breaks,
    ) -> Result<Self, Fault> {
        if !bodies::any(scene) {
            let faults = [
                scene.spring.first().map(|s| (&s.origin, "a spring")),
                scene.world.as_ref().map(|w| (&w.origin, "[world]")),
                scene.contact.iter().find(|c| c.gap.is_none()).map(|c| (&c.origin, "a contact without a `gap`")),
            ];
            if let Some((origin, what)) = faults.into_iter().flatten().next() {
                return Err(Fault::new(origin, format!("{what} needs a [[body]], and the scene has none")));
            }
            let built = FormulaModel::build(document, scene, numbers, &[], breaks)?;
            let places = built.places;
            let system = Differentiated::new(built.model).map_err(|e| model_fault(&e, &places))?;
            return Ok(Self {
                system: Arc::new(system),
                drawn: Vec::new(),
                springs: Vec::new(),
                bars: Vec::new(),
                geometry: None,
                layout: CoordinateLayout::default(),
                at_start: (Vec::new(), Vec::new()),
                places,
                lagrangian: built.lagrangian,
                unused: built.unused,
                warnings: Vec::new(),
                breaks: built.breaks,
            });
        }
        let most = request.max_coordinates.unwrap_or(bodies::MAX_COORDINATES);
        let read = bodies::read(document, scene, numbers, most, breaks)?;
        let own = scene.model.as_ref();
        let (nq, nu) =
            own.map_or((0, 0), |m| (m.coordinates.len(), m.velocities.as_ref().map_or(m.coordinates.len(), Vec::len)));
        let mut builder = read.builder;
        let unshaped = builder.contacts_without_shapes();
        let build = |builder: Builder| builder.build_beside(nu).map_err(|e| build_fault(&e, &read.places));
        let (mut multibody, mut state) = build(builder.clone())?;
        // The poses of the start are those that `initial` gives.
        let t0 = scene.time.start.as_ref().map_or(Ok(0.0), |t| numbers.evaluate(document, t))?;
        let names = multibody.structure().coordinates.clone();
        let names: Vec<&str> = names.iter().chain(own.iter().flat_map(|m| &m.coordinates).map(|k| &*k.name)).collect();
        let given = start::coordinates(document, scene, numbers, &names, &state.q)?;
        if given.is_some() || t0 != 0.0 {
            builder.start_at(t0, given.as_ref().unwrap_or(&state.q));
            (multibody, state) = build(builder)?;
        }
        let (mut drawn, springs, mut bars) = (read.drawn, read.springs, read.bars);
        bodies::locate(&multibody, &mut drawn, &mut bars);
        for (i, body) in drawn.iter_mut().enumerate() {
            body.pose = multibody.pose(i, t0, &state.q);
        }
        let (geometry, layout) = (Some(multibody.geometry()), multibody.layout());
        let mut places = read.places;
        let mut warnings = Vec::new();
        for (a, b) in multibody.pairs_without_law() {
            warnings.push(format!("no [[contact]] is for `{a}` and `{b}`: they pass through each other"));
        }
        for (law, name) in unshaped {
            warnings.push(format!("contact `{law}` never acts: `{name}` has no shape"));
        }
        let surfaces = multibody.pairs_without_geometry();
        for (a, b) in surfaces.iter().take(MAX_LISTED_PAIRS) {
            warnings.push(format!(
                "`{a}` and `{b}` pass through each other: half-planes and inner circles do not touch each other; give one of them another shape"
            ));
        }
        if surfaces.len() > MAX_LISTED_PAIRS {
            warnings.push(format!(
                "{} more pairs of half-planes and inner circles do so",
                surfaces.len() - MAX_LISTED_PAIRS
            ));
        }
        let at_start = (state.q, state.u);
        let by_formula = own.is_some()
            || !(scene.force.is_empty() && scene.joint.is_empty() && scene.element.is_empty())
            || scene.contact.iter().any(|c| c.gap.is_some())
            || !scene.define.0.is_empty()
            || !read.breaks.list.is_empty();
        if !by_formula {
            if let Some((key, _)) =
                scene.parameters.0.iter().find(|(k, _)| multibody.structure().coordinates.iter().any(|n| n == k.name))
            {
                let message =
                    format!("the name `{}` of a parameter is already that of a coordinate of a body", key.name);
                return Err(Fault::new(&key.origin, message));
            }
            let (lagrangian, unused) = (false, Vec::new());
            let system = Arc::new(multibody);
            return Ok(Self {
                system,
                drawn,
                springs,
                bars,
                geometry,
                layout,
                at_start,
                places,
                lagrangian,
                unused,
                warnings,
                breaks: read.breaks,
            });
        }
        let (names, velocities) = (&multibody.structure().coordinates, &multibody.structure().velocities);
        let others: Vec<Key> = names.iter().map(|n| Key { name: n.into(), origin: Origin::Scene }).collect();
        let built = FormulaModel::build(document, scene, numbers, &others, read.breaks)?;
        places.extend(built.places);
        let formulas = Differentiated::new(built.model).map_err(|e| model_fault(&e, &places))?;
        let s = formulas.structure();
        let names = names.and(s.coordinates.iter().skip(s.nq() - nq));
        let velocities = velocities.and(s.velocities.iter().skip(s.nu() - nu));
        let parts: Vec<(u64, Box<dyn System>)> =
            vec![(0, Box::new(formulas)), (Multibody::FIRST_IDENTITY, Box::new(multibody))];
        Ok(Self {
            system: Arc::new(Combined::new(names, velocities, parts)),
            drawn,
            springs,
            bars,
            geometry,
            layout,
            at_start,
            places,
            lagrangian: built.lagrangian,
            unused: built.unused,
            warnings,
            breaks: built.breaks,
        })
    }
}
