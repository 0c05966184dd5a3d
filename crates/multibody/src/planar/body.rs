//! Descriptions of bodies.

use super::plane::Vec2;
use super::pose::{Motion, Pose, Twist};
use super::shape::Shape;
use crate::material::DEFAULT_MATERIAL;
use std::sync::Arc;

/// How a body moves.
#[derive(Debug, Clone)]
pub enum Mobility {
    /// By forces: it has coordinates and a mass.
    Free,
    /// Not at all.
    Fixed,
    /// As prescribed.
    Driven(Arc<dyn Motion>),
}

/// Mass of a body.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Weight {
    /// Mass (kg) and moment of inertia about the centre of mass (kg m²).
    Given {
        /// Mass, kg.
        mass: f64,
        /// Moment of inertia, kg m².
        inertia: f64,
    },
    /// Mass per area (kg/m²): mass and inertia follow from the shapes.
    Density(f64),
}

/// Description of a planar rigid body for a [`crate::Builder`].
#[derive(Debug, Clone)]
pub struct Body {
    /// Its name; its coordinates are `NAME_x`, `NAME_y`, `NAME_phi`.
    pub name: String,
    /// How it moves.
    pub mobility: Mobility,
    /// Its mass; ignored for fixed and driven bodies.
    pub weight: Weight,
    /// Pose at the start.
    pub pose: Pose,
    /// Velocity at the start.
    pub twist: Twist,
    /// Its shapes, in the frame of the body.
    pub shapes: Vec<Shape>,
    /// Name of its material.
    pub material: String,
}

impl Body {
    fn of(name: &str, mobility: Mobility) -> Self {
        Self {
            name: name.into(),
            mobility,
            weight: Weight::Density(1.0),
            pose: Pose::default(),
            twist: Twist::default(),
            shapes: Vec::new(),
            material: DEFAULT_MATERIAL.into(),
        }
    }

    /// A body that moves by forces.
    pub fn new(name: &str) -> Self {
        Self::of(name, Mobility::Free)
    }

    /// A body that does not move.
    pub fn fixed(name: &str) -> Self {
        Self::of(name, Mobility::Fixed)
    }

    /// A body that moves as prescribed.
    pub fn driven(name: &str, motion: impl Motion + 'static) -> Self {
        Self::of(name, Mobility::Driven(Arc::new(motion)))
    }

    /// Sets mass (kg) and moment of inertia about the centre of mass (kg m²).
    pub fn mass(mut self, mass: f64, inertia: f64) -> Self {
        self.weight = Weight::Given { mass, inertia };
        self
    }

    /// Sets the mass per area, kg/m².
    pub fn density(mut self, density: f64) -> Self {
        self.weight = Weight::Density(density);
        self
    }

    /// Sets position (m) and angle (rad) at the start.
    pub fn at(mut self, centre: Vec2, angle: f64) -> Self {
        self.pose = Pose { centre, angle };
        self
    }

    /// Sets velocity (m/s) and angular velocity (rad/s) at the start.
    pub fn moving(mut self, velocity: Vec2, spin: f64) -> Self {
        self.twist = Twist { velocity, spin };
        self
    }

    /// Adds a shape.
    pub fn shape(mut self, shape: Shape) -> Self {
        self.shapes.push(shape);
        self
    }

    /// Sets the material.
    pub fn material(mut self, material: &str) -> Self {
        self.material = material.into();
        self
    }

    /// Whether it moves by forces.
    pub(crate) fn is_free(&self) -> bool {
        match self.mobility {
            Mobility::Free => true,
            Mobility::Fixed | Mobility::Driven(_) => false,
        }
    }

    /// Pose at the start `t` of the run.
    pub(crate) fn start(&self, t: f64) -> Pose {
        match &self.mobility {
            Mobility::Free | Mobility::Fixed => self.pose,
            Mobility::Driven(m) => m.at(t).0,
        }
    }
}
