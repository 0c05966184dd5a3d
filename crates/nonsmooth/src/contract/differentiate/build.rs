//! Builds the plan of a model from its layout, checking every name, index and law.

use super::{ModelError, Plan};
use crate::contract::candidates::{Interaction, Kind};
use crate::contract::evaluate::MAX_LOCAL;
use crate::contract::features::{Feature, Features};
use crate::contract::layout::{ForceKind, Layout, PartIndices, consecutive};
use crate::contract::part::PartKind;
use crate::contract::system::{ForceInfo, KinematicBlock, Structure};
use crate::law::Law;
use crate::names::Names;
use complementarity::linear::Pattern;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Name, coordinates, dimension, law of a declared interaction, and whether it was stated to be linear.
type Declared<'a> = (&'a String, Option<&'a Vec<usize>>, usize, Law, bool);

const KINDS: [Kind; 4] = [Kind::Joint, Kind::VelocityJoint, Kind::Contact, Kind::Element];

static NEXT_MARK: AtomicU64 = AtomicU64::new(1);

impl Plan {
    /// The plan of a model, checking that its parts fit together.
    pub(super) fn new(layout: Layout) -> Result<Self, ModelError> {
        let (nq, nu) = (layout.nq(), layout.nu());
        if nq == 0 || nu == 0 {
            return Err(ModelError::Empty);
        }
        check_kinematics(&layout, nq, nu)?;
        unique(PartKind::Coordinate, layout.coordinates.iter())?;
        if let Some(v) = &layout.velocities {
            unique(PartKind::Velocity, v.iter())?;
        }
        unique(PartKind::Force, layout.forces.iter().map(|p| &p.name))?;
        let interactions = layout
            .joints
            .iter()
            .map(|p| &p.name)
            .chain(layout.velocity_joints.iter().map(|p| &p.name))
            .chain(layout.contacts.iter().map(|p| &p.name))
            .chain(layout.elements.iter().map(|p| &p.name));
        unique(PartKind::Interaction, interactions)?;
        if let Some(&b) = layout.breaks.iter().find(|b| !b.is_finite()) {
            return Err(ModelError::Break(b));
        }

        let mut pattern = Pattern::new(nu);
        let place = |kind, name: &str, on: Option<&Vec<usize>>, size: usize| {
            if let Some(on) = on {
                for (i, &c) in on.iter().enumerate() {
                    if c >= size || on[..i].contains(&c) {
                        return Err(ModelError::Coordinate { kind, name: name.into(), index: c, size });
                    }
                }
            }
            let p = layout.part_indices(on);
            let count = p.extended.len().max(p.velocities.len());
            if count > MAX_LOCAL {
                return Err(ModelError::TooWide { kind, name: name.into(), count });
            }
            Ok(p)
        };

        let mut masses = Vec::new();
        if layout.masses.is_empty() && !layout.massless {
            masses.push(mass_place(&layout, "mass", None, nu)?);
        }
        for part in &layout.masses {
            masses.push(mass_place(&layout, &part.name, part.on.as_ref(), nu)?);
        }
        for (_, dofs) in &masses {
            pattern.couple(dofs);
        }
        let mass_pattern = pattern.clone();
        let mut forces = Vec::new();
        let mut force_infos = Vec::new();
        for part in &layout.forces {
            let p = place(PartKind::Force, &part.name, part.on.as_ref(), nq)?;
            if p.velocities.len() > 1 {
                pattern.couple(&p.velocities);
            }
            force_infos.push(ForceInfo {
                name: part.name.clone(),
                potential: part.what.0 == ForceKind::Potential,
                spring: part.what.1.spring,
                constant_jacobian: part.what.1.linear,
            });
            forces.push((part.what.0, p));
        }

        let mut needs = Features::NONE;
        needs.insert_if(layout.velocities.is_some(), Feature::GeneralKinematics);
        let mut parts: [Vec<(String, PartIndices)>; 4] = Default::default();
        let mut interactions = Vec::new();
        for kind in KINDS {
            let list: Vec<Declared> = match kind {
                Kind::Joint => layout
                    .joints
                    .iter()
                    .map(|p| (&p.name, p.on.as_ref(), p.what.0, Law::Bilateral, p.what.1.linear))
                    .collect(),
                Kind::VelocityJoint => layout
                    .velocity_joints
                    .iter()
                    .map(|p| (&p.name, p.on.as_ref(), p.what.0, Law::Bilateral, p.what.1.linear))
                    .collect(),
                Kind::Contact => layout
                    .contacts
                    .iter()
                    .map(|p| {
                        (
                            &p.name,
                            p.on.as_ref(),
                            p.what.0.slip_dim.saturating_add(1),
                            Law::Contact(p.what.0.clone()),
                            p.what.1.linear,
                        )
                    })
                    .collect(),
                Kind::Element => layout
                    .elements
                    .iter()
                    .map(|p| (&p.name, p.on.as_ref(), p.what.0, Law::Element(p.what.1.clone()), p.what.2.linear))
                    .collect(),
            };
            for (i, (name, on, dim, law, constant)) in list.into_iter().enumerate() {
                let what = PartKind::from(kind);
                let p = place(what, name, on, nq)?;
                if dim == 0 || dim > MAX_LOCAL {
                    return Err(ModelError::Dimension { kind: what, name: name.clone(), dim, max: MAX_LOCAL });
                }
                law.validate(dim).map_err(|source| ModelError::Law { kind: what, name: name.clone(), source })?;
                match kind {
                    Kind::Joint => needs.insert(Feature::Joints),
                    Kind::VelocityJoint => needs.insert(Feature::VelocityJoints),
                    Kind::Element => needs.insert(Feature::Elements),
                    Kind::Contact => {}
                }
                needs.insert_law(&law);
                let id = ((kind as u64) << 32) | i as u64;
                let k = Interaction::new(id, kind, dim, Arc::new(law), &p.velocities[..]);
                interactions.push(k.with_constant_directions(constant));
                parts[kind as usize].push((name.clone(), p));
            }
        }
        let moving = layout.contacts.iter().any(|p| p.what.1.moving)
            || layout.joints.iter().chain(&layout.velocity_joints).any(|p| p.what.1.moving);
        needs.insert_if(moving, Feature::Moving);

        let (coordinates, rates) = Names::with_rates(|add| layout.coordinates.iter().for_each(|c| add(&[c])));
        let velocities = layout.velocities.as_ref().map_or(rates, |v| v.iter().collect());
        let mut breaks = layout.breaks.clone();
        breaks.sort_by(f64::total_cmp);
        breaks.dedup();
        let blocks = layout.kinematics.into_iter();
        let kinematics =
            blocks.map(|(coordinates, velocities)| KinematicBlock { coordinates, velocities, chart: false }).collect();
        let structure = Structure {
            coordinates,
            velocities,
            forces: force_infos,
            mass_pattern,
            pattern,
            kinematics,
            constant_mass: layout.constant_mass,
            needs,
            breaks,
        };
        Ok(Self { structure, masses, forces, parts, interactions, stamp: NEXT_MARK.fetch_add(1, Ordering::Relaxed) })
    }
}

fn unique<'a>(kind: PartKind, names: impl Iterator<Item = &'a String>) -> Result<(), ModelError> {
    let mut seen = std::collections::BTreeSet::new();
    for name in names {
        if name.is_empty() || !seen.insert(name) {
            return Err(ModelError::Name { kind, name: name.clone() });
        }
    }
    Ok(())
}

fn check_kinematics(layout: &Layout, nq: usize, nu: usize) -> Result<(), ModelError> {
    if layout.velocities.is_none() {
        return match layout.kinematics.first() {
            None => Ok(()),
            Some((_, us)) => {
                // Blocks without velocities of their own to map.
                Err(ModelError::Kinematics { what: "velocity", index: us.first().copied().unwrap_or(0), count: 0 })
            }
        };
    }
    let (mut seen_q, mut seen_u) = (vec![0usize; nq], vec![0usize; nu]);
    for (qs, us) in &layout.kinematics {
        for &c in qs {
            *seen_q.get_mut(c).ok_or(ModelError::Kinematics { what: "coordinate", index: c, count: 0 })? += 1;
        }
        for &v in us {
            *seen_u.get_mut(v).ok_or(ModelError::Kinematics { what: "velocity", index: v, count: 0 })? += 1;
        }
        if qs.len().max(us.len()) > MAX_LOCAL {
            let name = "kinematics".to_string();
            return Err(ModelError::TooWide { kind: PartKind::KinematicBlock, name, count: qs.len().max(us.len()) });
        }
    }
    for (what, seen) in [("coordinate", &seen_q), ("velocity", &seen_u)] {
        if let Some(index) = seen.iter().position(|&c| c != 1) {
            return Err(ModelError::Kinematics { what, index, count: seen[index] });
        }
    }
    Ok(())
}

/// Place of a mass block: it is given by its velocities and may depend on the coordinates of their blocks.
fn mass_place(
    layout: &Layout,
    name: &str,
    on: Option<&Vec<usize>>,
    nu: usize,
) -> Result<(PartIndices, Arc<[usize]>), ModelError> {
    let kind = PartKind::MassBlock;
    let dofs: Vec<usize> = on.cloned().unwrap_or_else(|| (0..nu).collect());
    for (i, &d) in dofs.iter().enumerate() {
        if d >= nu || dofs[..i].contains(&d) {
            return Err(ModelError::Coordinate { kind, name: name.into(), index: d, size: nu });
        }
    }
    let coordinates: Vec<usize> = if layout.velocities.is_none() {
        dofs.clone()
    } else {
        let touched = layout.kinematics.iter().filter(|(_, us)| us.iter().any(|u| dofs.contains(u)));
        touched.flat_map(|(qs, _)| qs.iter().copied()).collect()
    };
    let count = dofs.len().max(coordinates.len());
    if count > MAX_LOCAL {
        return Err(ModelError::TooWide { kind, name: name.into(), count });
    }
    let dofs: Arc<[usize]> = dofs.into();
    let own = coordinates.len();
    // Masses receive no velocities.
    let first = consecutive(&coordinates);
    Ok((PartIndices { extended: coordinates.into(), own, velocities: dofs.clone(), blocks: Vec::new(), first }, dofs))
}
