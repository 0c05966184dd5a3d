//! What a model consists of: names, laws, and which coordinates each part touches.

use crate::law::{ContactLaw, ElementLaw};
use std::sync::Arc;

/// Whether a force contribution is given by its potential or by its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForceKind {
    /// h = −Bᵀ ∂V/∂q from [`Model::potential`](super::Model::potential).
    Potential,
    /// h from [`Model::force`](super::Model::force).
    Value,
}

/// What is stated of a force.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ForceFlags {
    /// Its Jacobians are constant.
    pub(super) linear: bool,
    /// Its potential is ½ γ φ².
    pub(super) spring: bool,
}

/// A part of a model and the coordinates it touches (`None`: all).
#[derive(Debug, Clone)]
pub(super) struct Part<L> {
    pub(super) name: String,
    pub(super) on: Option<Vec<usize>>,
    pub(super) what: L,
}

/// What was stated about an interaction.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Flags {
    pub(super) moving: bool,
    pub(super) linear: bool,
}

/// The parts of a model, declared by chaining. Parts of each kind are numbered in the order in which they are added;
/// that number is the `i` of the [`Model`](super::Model) functions.
///
/// ```
/// use nonsmooth::{Layout, law::ContactLaw};
///
/// let layout = Layout::new(["x", "y"])
///     .constant_mass()
///     .potential("gravity")
///     .contact("ground", ContactLaw::newton(0.5).coulomb(1, 0.3));
/// ```
///
/// A part touches all coordinates unless [`Layout::on`] follows it. Its function then receives only the
/// coordinates named, in that order, and their velocities. If q̇ = u these have the same indices, else they are
/// the velocities of the kinematic blocks touched, in block order. Differentiation runs
/// over these alone, so that large models stay linear in cost.
#[derive(Debug, Clone, Default)]
pub struct Layout {
    pub(super) coordinates: Vec<String>,
    pub(super) velocities: Option<Vec<String>>,
    pub(super) kinematics: Vec<(Vec<usize>, Vec<usize>)>,
    pub(super) masses: Vec<Part<()>>,
    pub(super) forces: Vec<Part<(ForceKind, ForceFlags)>>,
    pub(super) contacts: Vec<Part<(ContactLaw, Flags)>>,
    pub(super) joints: Vec<Part<(usize, Flags)>>,
    pub(super) velocity_joints: Vec<Part<(usize, Flags)>>,
    pub(super) elements: Vec<Part<(usize, ElementLaw, Flags)>>,
    pub(super) constant_mass: bool,
    pub(super) massless: bool,
    pub(super) breaks: Vec<f64>,
    last: Last,
}

#[derive(Debug, Clone, Copy, Default)]
enum Last {
    #[default]
    None,
    Mass,
    Force,
    Contact,
    Joint,
    VelocityJoint,
    Element,
}

fn names<S: Into<String>>(n: impl IntoIterator<Item = S>) -> Vec<String> {
    n.into_iter().map(Into::into).collect()
}

impl Layout {
    /// A model with these coordinates; velocities are their time derivatives unless
    /// [`Layout::velocities`] says otherwise.
    pub fn new<S: Into<String>>(coordinates: impl IntoIterator<Item = S>) -> Self {
        Self { coordinates: names(coordinates), ..Self::default() }
    }

    /// Velocities of their own, q̇ = B u + β. Every coordinate must be in one [`Layout::kinematic_block`].
    pub fn velocities<S: Into<String>>(mut self, velocities: impl IntoIterator<Item = S>) -> Self {
        self.velocities = Some(names(velocities));
        self
    }

    /// A group of coordinates whose rates depend on a group of velocities: one call of
    /// [`Model::kinematics`](super::Model::kinematics).
    pub fn kinematic_block(
        mut self,
        coordinates: impl IntoIterator<Item = usize>,
        velocities: impl IntoIterator<Item = usize>,
    ) -> Self {
        self.kinematics.push((coordinates.into_iter().collect(), velocities.into_iter().collect()));
        self
    }

    /// A block of the mass matrix of its own; without any, there is one block over everything.
    /// For [`Layout::on`], a mass block lists its *velocities*; the block may depend on all coordinates
    /// with the same numbers, or on those of the kinematic blocks of these velocities.
    pub fn mass_block(mut self, name: impl Into<String>) -> Self {
        self.masses.push(Part { name: name.into(), on: None, what: () });
        self.last = Last::Mass;
        self
    }

    /// States that M depends neither on t nor on q.
    pub fn constant_mass(mut self) -> Self {
        self.constant_mass = true;
        self
    }

    /// States that the model adds no mass: it is a part of a [`Combined`](super::Combined) system whose other parts do.
    pub fn without_mass(mut self) -> Self {
        self.massless = true;
        self.constant_mass()
    }

    fn force_part(mut self, name: impl Into<String>, kind: ForceKind) -> Self {
        self.forces.push(Part { name: name.into(), on: None, what: (kind, ForceFlags::default()) });
        self.last = Last::Force;
        self
    }

    /// A force given by its potential.
    pub fn potential(self, name: impl Into<String>) -> Self {
        self.force_part(name, ForceKind::Potential)
    }

    /// A force given by its potential ½ γ φ², φ(t,q) being the deflection of a spring. Linearly implicit schemes then know what of its Jacobian is never driving.
    pub fn spring(mut self, name: impl Into<String>) -> Self {
        self = self.potential(name);
        if let Some(part) = self.forces.last_mut() {
            part.what.1.spring = true;
        }
        self
    }

    /// A force given by its value, without a potential.
    pub fn force(self, name: impl Into<String>) -> Self {
        self.force_part(name, ForceKind::Value)
    }

    /// States that the last part is linear: the Jacobians h_q, h_u of a force are constant; the velocity
    /// of a contact, joint or element depends on u alone (W and χ constant). Schemes then evaluate and
    /// factor once. The statement is checked at the start of a run.
    pub fn linear(mut self) -> Self {
        match self.last {
            Last::Force => self.forces.last_mut().map(|p| p.what.1.linear = true),
            Last::Contact => self.contacts.last_mut().map(|p| p.what.1.linear = true),
            Last::Joint => self.joints.last_mut().map(|p| p.what.1.linear = true),
            Last::VelocityJoint => self.velocity_joints.last_mut().map(|p| p.what.1.linear = true),
            Last::Element => self.elements.last_mut().map(|p| p.what.2.linear = true),
            Last::Mass | Last::None => None,
        };
        self
    }

    /// A unilateral contact.
    pub fn contact(mut self, name: impl Into<String>, law: ContactLaw) -> Self {
        self.contacts.push(Part { name: name.into(), on: None, what: (law, Flags::default()) });
        self.last = Last::Contact;
        self
    }

    /// A bilateral constraint of `dim` components on position level.
    pub fn joint(mut self, name: impl Into<String>, dim: usize) -> Self {
        self.joints.push(Part { name: name.into(), on: None, what: (dim, Flags::default()) });
        self.last = Last::Joint;
        self
    }

    /// A bilateral constraint of `dim` components on velocity level.
    pub fn velocity_joint(mut self, name: impl Into<String>, dim: usize) -> Self {
        self.velocity_joints.push(Part { name: name.into(), on: None, what: (dim, Flags::default()) });
        self.last = Last::VelocityJoint;
        self
    }

    /// An element without a gap, with a velocity of `dim` components.
    pub fn element(mut self, name: impl Into<String>, dim: usize, law: ElementLaw) -> Self {
        self.elements.push(Part { name: name.into(), on: None, what: (dim, law, Flags::default()) });
        self.last = Last::Element;
        self
    }

    /// States that the last contact or joint depends on time explicitly (a moving obstacle).
    pub fn moving(mut self) -> Self {
        match self.last {
            Last::Contact => self.contacts.last_mut().map(|p| p.what.1.moving = true),
            Last::Joint => self.joints.last_mut().map(|p| p.what.1.moving = true),
            Last::VelocityJoint => self.velocity_joints.last_mut().map(|p| p.what.1.moving = true),
            _ => None,
        };
        self
    }

    /// The coordinates that the last part touches (for a mass block: the velocities).
    pub fn on(mut self, coordinates: impl IntoIterator<Item = usize>) -> Self {
        let on = Some(coordinates.into_iter().collect());
        match self.last {
            Last::Mass => self.masses.last_mut().map(|p| p.on = on),
            Last::Force => self.forces.last_mut().map(|p| p.on = on),
            Last::Contact => self.contacts.last_mut().map(|p| p.on = on),
            Last::Joint => self.joints.last_mut().map(|p| p.on = on),
            Last::VelocityJoint => self.velocity_joints.last_mut().map(|p| p.on = on),
            Last::Element => self.elements.last_mut().map(|p| p.on = on),
            Last::None => None,
        };
        self
    }

    /// Known times at which forces or motions jump: a step ends there.
    pub fn breaks(mut self, times: impl IntoIterator<Item = f64>) -> Self {
        self.breaks.extend(times);
        self
    }
}

/// Kinematic blocks that a part touches: block, positions of its coordinates in [`PartIndices::extended`], positions of its velocities in
/// [`PartIndices::velocities`].
pub(super) type Blocks = Vec<(usize, Vec<usize>, Vec<usize>)>;

/// Indices of a part in the vectors of the system.
#[derive(Debug, Clone)]
pub(super) struct PartIndices {
    /// Coordinates over which the part is differentiated: its own, then the rest of the kinematic blocks touched.
    pub(super) extended: Arc<[usize]>,
    /// Number of leading entries of `extended` that the part's function receives.
    pub(super) own: usize,
    /// Velocities that the part's function receives, and that its W or h acts on.
    pub(super) velocities: Arc<[usize]>,
    /// Kinematic blocks touched. Empty for q̇ = u.
    pub(super) blocks: Blocks,
    /// The first coordinate, if q̇ = u and the part touches consecutive coordinates. It then receives slices of the vectors of the system.
    pub(super) first: Option<usize>,
}

/// The first of consecutive indices.
pub(super) fn consecutive(list: &[usize]) -> Option<usize> {
    let first = *list.first()?;
    list.iter().copied().eq(first..first + list.len()).then_some(first)
}

impl Layout {
    pub(super) fn nq(&self) -> usize {
        self.coordinates.len()
    }

    pub(super) fn nu(&self) -> usize {
        self.velocities.as_ref().map_or(self.nq(), Vec::len)
    }

    pub(super) fn part_indices(&self, on: Option<&Vec<usize>>) -> PartIndices {
        let own: Vec<usize> = on.cloned().unwrap_or_else(|| (0..self.nq()).collect());
        let n = own.len();
        if self.velocities.is_none() {
            let first = consecutive(&own);
            let list: Arc<[usize]> = own.into();
            return PartIndices { extended: list.clone(), own: n, velocities: list, blocks: Vec::new(), first };
        }
        let mut extended = own.clone();
        let mut velocities = Vec::new();
        let mut blocks = Vec::new();
        for (b, (qs, us)) in self.kinematics.iter().enumerate() {
            if !qs.iter().any(|c| own.contains(c)) {
                continue;
            }
            let mut positions = Vec::new();
            for &c in qs {
                let at = extended.iter().position(|&e| e == c).unwrap_or_else(|| {
                    extended.push(c);
                    extended.len() - 1
                });
                positions.push(at);
            }
            let mut velocity_positions = Vec::new();
            for &v in us {
                let at = velocities.iter().position(|&e| e == v).unwrap_or_else(|| {
                    velocities.push(v);
                    velocities.len() - 1
                });
                velocity_positions.push(at);
            }
            blocks.push((b, positions, velocity_positions));
        }
        PartIndices { extended: extended.into(), own: n, velocities: velocities.into(), blocks, first: None }
    }
}
