//! Positions of the coordinates and velocities of bodies and bars in q and u.
//!
//! | part | coordinates | velocities |
//! |---|---|---|
//! | planar body that moves by forces | x, y of its centre of mass (m), angle φ (rad) | their rates |
//! | node of a bar | displacement (m) | its rate |
//!
//! Both are numbered part after part: bodies in their order, then the nodes of the bars. Only this file knows how many of them a part has.
//! Coordinates and velocities are counted separately, because an orientation as unit quaternion has more of the former.

use nonsmooth::names::Names;
use std::ops::Range;

/// Largest number of coordinates or velocities, from 32-bit indices. More are an error when a system is built; scenes have a far lower limit.
pub(crate) const MAX_COORDINATES: usize = u32::MAX as usize - 1;

/// Number of coordinates of a planar body: x, y, φ.
pub(crate) const PLANAR_NQ: usize = 3;
/// Number of its velocities: the rates of these.
pub(crate) const PLANAR_NU: usize = 3;
/// Index of φ among its coordinates, and of its rate among its velocities.
pub(crate) const PLANAR_ANGLE: usize = 2;

const PLANAR_SUFFIXES: [&str; PLANAR_NQ] = ["_x", "_y", "_phi"];
const PLANAR_UNITS: [&str; PLANAR_NQ] = ["m", "m", "rad"];
const PLANAR_RATE_UNITS: [&str; PLANAR_NU] = ["m/s", "m/s", "rad/s"];

/// A part that has coordinates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// A planar body that moves by forces.
    PlanarBody,
    /// A node of a bar.
    Node,
}

impl Part {
    #[inline]
    const fn nq(self) -> usize {
        match self {
            Part::PlanarBody => PLANAR_NQ,
            Part::Node => 1,
        }
    }

    #[inline]
    const fn nu(self) -> usize {
        match self {
            Part::PlanarBody => PLANAR_NU,
            Part::Node => 1,
        }
    }

    fn units(self) -> &'static [&'static str] {
        match self {
            Part::PlanarBody => &PLANAR_UNITS,
            Part::Node => &["m"],
        }
    }

    fn rate_units(self) -> &'static [&'static str] {
        match self {
            Part::PlanarBody => &PLANAR_RATE_UNITS,
            Part::Node => &["m/s"],
        }
    }
}

/// First coordinate and first velocity of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct First {
    q: u32,
    u: u32,
}

impl First {
    /// First coordinate.
    #[inline]
    pub(crate) fn q(self) -> usize {
        self.q as usize
    }

    /// First velocity.
    #[inline]
    pub(crate) fn u(self) -> usize {
        self.u as usize
    }

    /// Coordinates of `count` parts from here on.
    #[inline]
    pub(crate) fn coordinates(self, part: Part, count: usize) -> Range<usize> {
        self.q()..self.q() + count * part.nq()
    }

    /// Velocities of `count` parts from here on.
    #[inline]
    pub(crate) fn velocities(self, part: Part, count: usize) -> Range<usize> {
        self.u()..self.u() + count * part.nu()
    }
}

/// Coordinates and velocities of a system of bodies and bars, by number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CoordinateLayout {
    /// Planar bodies that move by forces.
    bodies: usize,
    /// Nodes of all bars.
    nodes: usize,
}

impl CoordinateLayout {
    /// The layout of planar bodies that move by forces, and of nodes of bars.
    pub fn new(bodies: usize, nodes: usize) -> Self {
        Self { bodies, nodes }
    }

    /// Parts of each kind, in their order.
    fn parts(&self) -> [(Part, usize); 2] {
        [(Part::PlanarBody, self.bodies), (Part::Node, self.nodes)]
    }

    /// Number of coordinates.
    pub fn nq(&self) -> usize {
        self.parts().into_iter().fold(0, |sum, (part, n)| sum.saturating_add(n.saturating_mul(part.nq())))
    }

    /// Number of velocities.
    pub fn nu(&self) -> usize {
        self.parts().into_iter().fold(0, |sum, (part, n)| sum.saturating_add(n.saturating_mul(part.nu())))
    }

    /// First coordinate and velocity of the `k`-th part of a kind, in a layout of at most [`MAX_COORDINATES`].
    pub(crate) fn first(&self, part: Part, k: usize) -> First {
        let before = self.parts().into_iter().take_while(|(p, _)| *p != part).chain([(part, k)]);
        let (q, u) = before.fold((0, 0), |(q, u), (p, n)| (q + n * p.nq(), u + n * p.nu()));
        First { q: q as u32, u: u as u32 }
    }

    /// The velocity that is the rate of a coordinate, if there is one.
    pub(crate) fn rate_of(&self, coordinate: usize) -> Option<usize> {
        let (mut q, mut u) = (0, 0);
        for (part, n) in self.parts() {
            if coordinate - q < n * part.nq() {
                return match part {
                    Part::PlanarBody | Part::Node => Some(u + (coordinate - q)),
                };
            }
            (q, u) = (q + n * part.nq(), u + n * part.nu());
        }
        None
    }

    /// Unit of a coordinate; none if it is not of a body or a bar.
    pub fn coordinate_unit(&self, i: usize) -> Option<&'static str> {
        self.unit(i, Part::units)
    }

    /// Unit of a velocity; none if it is not of a body or a bar.
    pub fn velocity_unit(&self, i: usize) -> Option<&'static str> {
        self.unit(i, Part::rate_units)
    }

    fn unit(&self, i: usize, units: impl Fn(Part) -> &'static [&'static str]) -> Option<&'static str> {
        let mut before = 0;
        for (part, n) in self.parts() {
            let of_part = units(part);
            if i - before < n * of_part.len() {
                return Some(of_part[(i - before) % of_part.len()]);
            }
            before += n * of_part.len();
        }
        None
    }
}

/// Names of the coordinates and velocities of free planar bodies, and of bars with their numbers of nodes.
pub(crate) fn names<'a>(
    bodies: impl Iterator<Item = &'a str>,
    bars: impl Iterator<Item = (&'a str, usize)>,
) -> (Names, Names) {
    Names::with_rates(|add| {
        for body in bodies {
            PLANAR_SUFFIXES.iter().for_each(|suffix| add(&[body, suffix]));
        }
        for (bar, nodes) in bars {
            (0..nodes).for_each(|i| add(&[bar, "_", &i.to_string()]));
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_follow_one_another_without_gaps() {
        let layout = CoordinateLayout::new(2, 7);
        assert_eq!(layout.first(Part::PlanarBody, 0), First { q: 0, u: 0 });
        assert_eq!(layout.first(Part::PlanarBody, 1).coordinates(Part::PlanarBody, 1), 3..6);
        assert_eq!(layout.first(Part::Node, 0).coordinates(Part::Node, 4), 6..10);
        assert_eq!(layout.first(Part::Node, 4).velocities(Part::Node, 3), 10..13);
        assert_eq!((layout.nq(), layout.nu()), (13, 13));
        assert_eq!((layout.rate_of(5), layout.rate_of(12), layout.rate_of(13)), (Some(5), Some(12), None));
    }

    #[test]
    fn every_coordinate_has_a_unit_and_no_other_has() {
        let layout = CoordinateLayout::new(1, 2);
        let units: Vec<_> = (0..6).map(|i| layout.coordinate_unit(i)).collect();
        assert_eq!(units, [Some("m"), Some("m"), Some("rad"), Some("m"), Some("m"), None]);
        let rates: Vec<_> = (0..6).map(|i| layout.velocity_unit(i)).collect();
        assert_eq!(rates, [Some("m/s"), Some("m/s"), Some("rad/s"), Some("m/s"), Some("m/s"), None]);
    }

    #[test]
    fn a_number_of_nodes_may_be_anything() {
        assert_eq!(CoordinateLayout::new(1, usize::MAX).nq(), usize::MAX);
    }
}
