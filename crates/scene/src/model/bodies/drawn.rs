//! What is drawn of bodies, springs and bars.

use nonsmooth_multibody::{Multibody, Pose, Shape, Vec2};

/// What is drawn of a body: for files and pictures.
#[derive(Debug, Clone)]
pub struct Drawn {
    /// Its name.
    pub name: String,
    /// Its shapes.
    pub shapes: Vec<Shape>,
    /// Number of its colour.
    pub colour: f64,
    /// First of its coordinates, if it has any.
    pub first: Option<usize>,
    /// Pose at the start.
    pub pose: Pose,
}

/// What is drawn of a spring.
#[derive(Debug, Clone)]
pub struct DrawnSpring {
    /// Its name.
    pub name: String,
    /// Numbers of its bodies.
    pub bodies: [usize; 2],
    /// Its ends in the frames of these.
    pub points: [Vec2; 2],
}

/// What is drawn of a bar.
#[derive(Debug, Clone)]
pub struct DrawnBar {
    /// Its name.
    pub name: String,
    /// Its first coordinate.
    pub first: usize,
    /// Number of its elements.
    pub elements: usize,
    /// Its length, m.
    pub length: f64,
}

/// Records the first coordinates of bodies and bars in their system.
pub(crate) fn locate(system: &Multibody, bodies: &mut [Drawn], bars: &mut [DrawnBar]) {
    for (i, body) in bodies.iter_mut().enumerate() {
        body.first = system.first_coordinate(i);
    }
    for (i, bar) in bars.iter_mut().enumerate() {
        bar.first = system.first_coordinate_of_bar(i);
    }
}
