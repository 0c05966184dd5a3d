//! Many masses: independent ones, chains and rings. Each part touches few coordinates, so that cost stays linear.

use nonsmooth::law::ContactLaw;
use nonsmooth::{Layout, Model, Scalar};

/// Independent balls of mass 1 and weight 2 N above the ground: copies of [`super::Ball`].
#[derive(Debug, Clone)]
pub struct Balls {
    /// How many.
    pub count: usize,
    /// Restitution.
    pub e: f64,
}

impl Model for Balls {
    fn layout(&self) -> Layout {
        let names = (0..self.count).map(|i| format!("q{i}"));
        (0..self.count).fold(Layout::new(names).constant_mass(), |layout, i| {
            layout
                .mass_block(format!("m{i}"))
                .on([i])
                .potential(format!("weight{i}"))
                .linear()
                .on([i])
                .contact(format!("ground{i}"), ContactLaw::newton(self.e))
                .on([i])
        })
    }
    fn mass<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], m: &mut [T]) {
        m[0] = T::from(1.0);
    }
    fn potential<T: Scalar>(&self, _i: usize, _t: T, q: &[T]) -> T {
        q[0] * 2.0
    }
    fn gap<T: Scalar>(&self, _i: usize, _t: T, q: &[T]) -> T {
        q[0]
    }
}

/// Unit masses on a line, each tied to the next by a stiffening spring V = ½k s² + ¼c s⁴.
///
/// Coordinates are displacements. The springs between two groups of `group` masses have no stiffness: the
/// chain then moves as copies of one group. The last mass of each group has a stop at −`stop`.
#[derive(Debug, Clone)]
pub struct Chain {
    /// Number of masses.
    pub count: usize,
    /// Masses per group.
    pub group: usize,
    /// Stiffness, N/m.
    pub k: f64,
    /// Cubic stiffness, N/m³.
    pub c: f64,
    /// Distance of the stop, m.
    pub stop: f64,
    /// Restitution at the stop.
    pub e: f64,
}

impl Model for Chain {
    fn layout(&self) -> Layout {
        let n = self.count;
        let mut layout = Layout::new((0..n).map(|i| format!("x{i}"))).constant_mass();
        for i in 0..n {
            layout = layout.mass_block(format!("m{i}")).on([i]);
        }
        for i in 0..n.saturating_sub(1) {
            layout = layout.potential(format!("spring{i}")).on([i, i + 1]);
        }
        for i in (self.group.max(1) - 1..n).step_by(self.group.max(1)) {
            layout = layout.contact(format!("stop{i}"), ContactLaw::newton(self.e)).on([i]);
        }
        layout
    }
    fn mass<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], m: &mut [T]) {
        m[0] = T::from(1.0);
    }
    fn potential<T: Scalar>(&self, i: usize, _t: T, q: &[T]) -> T {
        if (i + 1).is_multiple_of(self.group.max(1)) {
            return T::from(0.0);
        }
        stretch(q[1] - q[0], self.k, self.c)
    }
    fn gap<T: Scalar>(&self, _i: usize, _t: T, q: &[T]) -> T {
        q[0] + self.stop
    }
}

/// Unit masses on a ring, each tied to its neighbour and to the one `far` places on.
///
/// A motion of a small ring, repeated, is a motion of any ring of a multiple of its length.
#[derive(Debug, Clone)]
pub struct Ring {
    /// Number of masses.
    pub count: usize,
    /// Distance of the far springs in masses.
    pub far: usize,
    /// Stiffness of all springs, N/m.
    pub k: f64,
    /// Cubic stiffness, N/m³.
    pub c: f64,
}

impl Model for Ring {
    fn layout(&self) -> Layout {
        let n = self.count;
        let mut layout = Layout::new((0..n).map(|i| format!("x{i}"))).constant_mass();
        for i in 0..n {
            layout = layout.mass_block(format!("m{i}")).on([i]);
        }
        for i in 0..n {
            layout = layout.potential(format!("near{i}")).on([i, (i + 1) % n]);
            layout = layout.potential(format!("far{i}")).on([i, (i + self.far) % n]);
        }
        layout
    }
    fn mass<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], m: &mut [T]) {
        m[0] = T::from(1.0);
    }
    fn potential<T: Scalar>(&self, _i: usize, _t: T, q: &[T]) -> T {
        stretch(q[1] - q[0], self.k, self.c)
    }
}

fn stretch<T: Scalar>(s: T, k: f64, c: f64) -> T {
    let square = s * s;
    square * (0.5 * k) + square * square * (0.25 * c)
}
