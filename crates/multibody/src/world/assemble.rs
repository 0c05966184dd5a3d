//! Builds a system from a description.

use super::Builder;
use crate::elastic::bar::BarMatrices;
use crate::error::{BuildError, check};
use crate::force::gravity::Gravity;
use crate::force::spring::SpringForce;
use crate::layout::{self, CoordinateLayout, MAX_COORDINATES, Part};
use crate::material::Classes;
use crate::pairing::{self, Laws, Pairing};
use crate::planar::bodies::{Bodies, Placed, RigidBody};
use crate::planar::body::Mobility;
use crate::planar::contact::SLIP;
use crate::proximity::identity::MAX_SHAPES;
use crate::stop::Stop;
use crate::system::{ForceKind, Multibody};
use complementarity::linear::Pattern;
use nonsmooth::State;
use nonsmooth::contract::{Feature, Features, ForceInfo, Structure};
use nonsmooth::names::hint;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};

static NEXT_SYSTEM_MARK: AtomicU64 = AtomicU64::new(1);

/// Forces by number, with the properties that the contract needs of each.
#[derive(Default)]
struct Forces {
    kinds: Vec<ForceKind>,
    infos: Vec<ForceInfo>,
}

impl Forces {
    fn add(&mut self, kind: ForceKind, name: String, potential: bool, constant_jacobian: bool) {
        let spring = matches!(kind, ForceKind::Spring(_));
        self.kinds.push(kind);
        self.infos.push(ForceInfo { name, potential, spring, constant_jacobian });
    }
}

/// The system of a description and its start state, with `others` further coordinates after its own.
pub(super) fn assemble(world: &Builder, others: usize) -> Result<(Multibody, State), BuildError> {
    // Counted before they are named: a number of elements may be anything.
    let free = world.bodies.iter().filter(|b| b.is_free()).count();
    let layout = CoordinateLayout::new(free, world.bars.iter().fold(0, |sum: usize, b| sum.saturating_add(b.nodes())));
    let (nq, nu) = (layout.nq().saturating_add(others), layout.nu().saturating_add(others));
    if nq.max(nu) > MAX_COORDINATES {
        return Err(BuildError::Many { what: "coordinates", found: nq.max(nu), limit: MAX_COORDINATES });
    }
    world.check_names()?;
    for &g in &world.gravity {
        check("gravity", "a component", "finite", g, g.is_finite())?;
    }
    let (mut q, mut u) = (Vec::with_capacity(nq), Vec::with_capacity(nu));

    // Bodies and their laws.
    let classes = classes(world)?;
    let laws = Laws::new(&world.pairings, &classes.list)?;
    let bodies = bodies(world, &layout, &classes, &mut q, &mut u)?;
    world.check_thickness(&classes, &laws)?;
    let mut forces = Forces::default();
    let gravity = Gravity { acceleration: world.gravity };
    if world.gravity != [0.0, 0.0] && free > 0 {
        forces.add(ForceKind::Gravity, "gravity".into(), true, true);
    }

    // Bars and springs, each with its force.
    let mut pattern = Pattern::new(nu);
    let (mut bars, mut node) = (Vec::with_capacity(world.bars.len()), 0);
    for bar in &world.bars {
        let chain = BarMatrices::new(bar, layout.first(Part::Node, node))?;
        chain.couple(&mut pattern);
        node += bar.nodes();
        q.extend(std::iter::repeat_n(bar.displacement, bar.nodes()));
        u.extend(std::iter::repeat_n(bar.velocity, bar.nodes()));
        forces.add(ForceKind::Elastic(bars.len()), bar.name.clone(), true, true);
        bars.push(chain);
    }
    let mass_pattern = pattern.clone();
    let mut springs = Vec::with_capacity(world.springs.len());
    for spring in &world.springs {
        let link = SpringForce::new(spring, &world.bodies, world.start)?;
        link.couple(&bodies, &mut pattern);
        forces.add(ForceKind::Spring(springs.len()), spring.name.clone(), true, link.is_linear());
        if link.is_damped() {
            forces.add(ForceKind::Damper(springs.len()), format!("{}_damper", spring.name), false, link.is_linear());
        }
        springs.push(link);
    }
    // Names of forces must be unique: they name the lines of the energy ledger.
    let mut seen = BTreeSet::new();
    if let Some(twice) = forces.infos.iter().find(|f| !seen.insert(&f.name)) {
        return Err(BuildError::Twice { name: twice.name.clone() });
    }

    let (coordinates, velocities) = layout::names(
        world.bodies.iter().filter(|b| b.is_free()).map(|b| b.name.as_str()),
        world.bars.iter().map(|b| (b.name.as_str(), b.nodes())),
    );
    let stops = world.stops.iter().enumerate().map(|(i, s)| Stop::new(i, s, &coordinates, &layout));
    let stops = stops.collect::<Result<Vec<_>, _>>()?;
    let moving = world.bodies.iter().any(|b| match b.mobility {
        Mobility::Driven(_) => true,
        Mobility::Free | Mobility::Fixed => false,
    });
    let mut needs = Features::NONE;
    needs.insert_if(moving, Feature::Moving);
    laws.iter().chain(stops.iter().map(|s| &*s.interaction.law)).for_each(|law| needs.insert_law(law));
    let structure = Structure {
        velocities,
        coordinates,
        forces: forces.infos,
        mass_pattern,
        pattern,
        kinematics: Vec::new(),
        constant_mass: true,
        needs,
        breaks: Vec::new(),
    };
    let system = Multibody {
        structure,
        layout,
        bodies,
        laws,
        gravity,
        forces: forces.kinds,
        springs,
        bars,
        stops,
        threads: world.threads,
        mark: NEXT_SYSTEM_MARK.fetch_add(1, Ordering::Relaxed),
    };
    Ok((system, State::new(0.0, q, u)))
}

/// Classes of the bodies, after a check that pairings name existing bodies and materials.
fn classes(world: &Builder) -> Result<Classes<'_>, BuildError> {
    let named = |name: &str| world.pairings.iter().any(|p| p.between.iter().flatten().any(|n| n == name));
    let bodies = || world.bodies.iter().map(|b| (b.name.as_str(), b.material.as_str()));
    let classes = Classes::new(bodies(), named)?;
    pairing::check(&world.pairings, &classes, SLIP, |pairing: &Pairing, name: &str| {
        let hint = hint(name, bodies().flat_map(|(body, material)| [body, material]), String::new);
        let expected = "neither a body nor a material";
        BuildError::Unknown { part: pairing.name.clone(), name: name.into(), expected, hint }
    })?;
    Ok(classes)
}

/// The bodies with their shapes; appends the coordinates and velocities at the start of those that move by forces.
fn bodies(
    world: &Builder,
    layout: &CoordinateLayout,
    classes: &Classes,
    q: &mut Vec<f64>,
    u: &mut Vec<f64>,
) -> Result<Bodies, BuildError> {
    let mut list = Vec::with_capacity(world.bodies.len());
    let mut shapes = Vec::with_capacity(world.bodies.iter().map(|b| b.shapes.len()).sum());
    let mut free = 0;
    for (i, body) in world.bodies.iter().enumerate() {
        list.push(RigidBody::new(body, layout.first(Part::PlanarBody, free))?);
        if body.is_free() {
            free += 1;
            q.extend(body.pose.coordinates());
            u.extend(body.twist.components());
        }
        for (index, shape) in body.shapes.iter().enumerate() {
            if let Some(fault) = shape.fault() {
                return Err(BuildError::Shape { body: body.name.clone(), index, kind: shape.kind(), fault });
            }
            let shape = shape.normalised();
            shapes.push(Placed { body: i as u32, class: classes.of_body[i], round: shape.is_round(), shape });
        }
    }
    if shapes.len() > MAX_SHAPES {
        return Err(BuildError::Many { what: "shapes", found: shapes.len(), limit: MAX_SHAPES });
    }
    let names = world.bodies.iter().map(|b| &b.name).collect();
    Ok(Bodies::new(names, list, shapes))
}
