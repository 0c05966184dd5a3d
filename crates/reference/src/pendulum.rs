//! Pendula with joints: redundant coordinates, position-level constraints.

use nonsmooth::{Layout, Model, Scalar};

/// A point mass (x, y) on a massless rod of length 1 from the origin.
#[derive(Debug, Clone)]
pub struct Pendulum {
    /// Gravity, m/s².
    pub g: f64,
    /// Number of times the same constraint is stated: 2 is redundant.
    pub copies: usize,
}

impl Model for Pendulum {
    fn layout(&self) -> Layout {
        (0..self.copies).fold(Layout::new(["x", "y"]).constant_mass().potential("gravity").linear(), |l, i| {
            l.joint(format!("rod{i}"), 1)
        })
    }
    fn mass<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], m: &mut [T]) {
        m[0] = T::from(1.0);
        m[3] = T::from(1.0);
    }
    fn potential<T: Scalar>(&self, _i: usize, _t: T, q: &[T]) -> T {
        q[1] * self.g
    }
    fn joint<T: Scalar>(&self, _i: usize, _t: T, q: &[T], g: &mut [T]) {
        g[0] = (q[0] * q[0] + q[1] * q[1]).sqrt() - 1.0;
    }
}

/// Two rigid rods in the plane, six coordinates, joined at the origin and to each other (two joints of two rows).
#[derive(Debug, Clone)]
pub struct DoublePendulum {
    /// Length of each rod, m.
    pub length: f64,
    /// Mass of each rod, kg.
    pub mass: f64,
    /// Gravity, m/s².
    pub g: f64,
}

impl DoublePendulum {
    /// Coordinates (x1, y1, phi1, x2, y2, phi2) with the rods at these angles from the downward vertical.
    pub fn configuration(&self, phi1: f64, phi2: f64) -> Vec<f64> {
        let l = self.length;
        let (x1, y1) = (0.5 * l * phi1.sin(), -0.5 * l * phi1.cos());
        let (x2, y2) = (2.0 * x1 + 0.5 * l * phi2.sin(), 2.0 * y1 - 0.5 * l * phi2.cos());
        vec![x1, y1, phi1, x2, y2, phi2]
    }
}

impl Model for DoublePendulum {
    fn layout(&self) -> Layout {
        Layout::new(["x1", "y1", "phi1", "x2", "y2", "phi2"])
            .constant_mass()
            .mass_block("rod1")
            .on([0, 1, 2])
            .mass_block("rod2")
            .on([3, 4, 5])
            .potential("weight1")
            .linear()
            .on([1])
            .potential("weight2")
            .linear()
            .on([4])
            .joint("pivot", 2)
            .on([0, 1, 2])
            .joint("hinge", 2)
    }
    fn mass<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], m: &mut [T]) {
        m[0] = T::from(self.mass);
        m[4] = T::from(self.mass);
        m[8] = T::from(self.mass * self.length * self.length / 12.0);
    }
    fn potential<T: Scalar>(&self, _i: usize, _t: T, q: &[T]) -> T {
        q[0] * (self.mass * self.g)
    }
    fn joint<T: Scalar>(&self, i: usize, _t: T, q: &[T], g: &mut [T]) {
        let half = 0.5 * self.length;
        // Upper end of a rod: centre − half·(sin φ, −cos φ); lower end: centre + half·(…).
        if i == 0 {
            g[0] = q[0] - q[2].sin() * half;
            g[1] = q[1] + q[2].cos() * half;
        } else {
            g[0] = q[3] - q[5].sin() * half - q[0] - q[2].sin() * half;
            g[1] = q[4] + q[5].cos() * half - q[1] + q[2].cos() * half;
        }
    }
}
