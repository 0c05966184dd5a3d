//! Springs and dampers between points of two bodies, and between their angles.
//!
//! ```text
//! line:     d = x_B − x_A,  ℓ = ‖d‖,  e = d/ℓ,   V = ½ k (ℓ − ℓ₀)²,   damper: force c ℓ̇ along e
//! torsion:  θ = φ_B − φ_A − θ₀,                  V = ½ k θ²,          damper: moment c θ̇
//! ```
//!
//! At ℓ = 0 the direction of a spring with ℓ₀ = 0 does not matter (F = k d); with ℓ₀ > 0 it is undefined and the force is taken as zero.

use crate::planar::plane::{Turn, Vec2, add, dot, norm, perp, scale, sub};
use crate::planar::pose::{Pose, Twist};

/// A spring with a damper, as it is described to a [`crate::Builder`].
#[derive(Debug, Clone, PartialEq)]
pub struct Spring {
    /// Its name.
    pub name: String,
    /// Names of the two bodies.
    pub bodies: [String; 2],
    /// Its ends in the frames of the bodies, m; not used by a torsion spring.
    pub points: [Vec2; 2],
    /// Stiffness, N/m (torsion: N m/rad).
    pub stiffness: f64,
    /// Damping, N s/m (torsion: N m s/rad).
    pub damping: f64,
    /// Length without force, m (torsion: angle, rad); that of the start if it is not given.
    pub rest: Option<f64>,
    /// Whether it acts between the angles of the bodies.
    pub torsion: bool,
}

impl Spring {
    /// A spring between points of two bodies, without force at the start.
    pub fn new(name: &str, a: (&str, Vec2), b: (&str, Vec2), stiffness: f64) -> Self {
        Self {
            name: name.into(),
            bodies: [a.0.into(), b.0.into()],
            points: [a.1, b.1],
            stiffness,
            damping: 0.0,
            rest: None,
            torsion: false,
        }
    }

    /// A spring between the angles of two bodies, without moment at the start.
    pub fn torsion(name: &str, a: &str, b: &str, stiffness: f64) -> Self {
        Self { torsion: true, ..Self::new(name, (a, [0.0; 2]), (b, [0.0; 2]), stiffness) }
    }

    /// Adds a damper.
    pub fn damping(mut self, damping: f64) -> Self {
        self.damping = damping;
        self
    }

    /// Sets the length (angle) without force.
    pub fn rest(mut self, rest: f64) -> Self {
        self.rest = Some(rest);
        self
    }
}

/// A spring at work: bodies by number, rest length known.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Link {
    pub(crate) bodies: [usize; 2],
    pub(crate) points: [Vec2; 2],
    pub(crate) stiffness: f64,
    pub(crate) damping: f64,
    pub(crate) rest: f64,
    pub(crate) torsion: bool,
}

/// Deflection of a link with its first and second derivatives over the six coordinates of both bodies.
pub(crate) struct Deflection {
    /// ℓ − ℓ₀ or θ.
    pub(crate) value: f64,
    pub(crate) gradient: [f64; 6],
    pub(crate) hessian: [[f64; 6]; 6],
    /// Whether the direction is defined.
    smooth: bool,
}

impl Link {
    pub(crate) fn deflection(&self, a: &Pose, b: &Pose) -> Deflection {
        if self.torsion {
            let mut gradient = [0.0; 6];
            (gradient[2], gradient[5]) = (-1.0, 1.0);
            return Deflection { value: b.angle - a.angle - self.rest, gradient, hessian: [[0.0; 6]; 6], smooth: true };
        }
        let arms = [Turn::by(a.angle).apply(self.points[0]), Turn::by(b.angle).apply(self.points[1])];
        let d = sub(add(b.centre, arms[1]), add(a.centre, arms[0]));
        let length = norm(d);
        let smooth = length > 0.0;
        let e = if smooth { scale(1.0 / length, d) } else { [0.0, 0.0] };
        // Columns of ∂d/∂q.
        let columns: [Vec2; 6] =
            [[-1.0, 0.0], [0.0, -1.0], scale(-1.0, perp(arms[0])), [1.0, 0.0], [0.0, 1.0], perp(arms[1])];
        let gradient = columns.map(|c| dot(e, c));
        let mut hessian = [[0.0; 6]; 6];
        // ∂²ℓ = (c_i·c_j − (e·c_i)(e·c_j))/ℓ + e·∂²d; at ℓ = 0 its limit times ℓ.
        let over = if smooth { 1.0 / length } else { 1.0 };
        for i in 0..6 {
            for j in 0..6 {
                hessian[i][j] = (dot(columns[i], columns[j]) - gradient[i] * gradient[j]) * over;
            }
        }
        hessian[2][2] += dot(e, arms[0]);
        hessian[5][5] -= dot(e, arms[1]);
        Deflection { value: length - self.rest, gradient, hessian, smooth }
    }

    pub(crate) fn energy(&self, a: &Pose, b: &Pose) -> f64 {
        let x = self.deflection(a, b).value;
        0.5 * self.stiffness * x * x
    }
}

/// The six velocities of two bodies.
pub(crate) fn six(a: &Twist, b: &Twist) -> [f64; 6] {
    [a.velocity[0], a.velocity[1], a.spin, b.velocity[0], b.velocity[1], b.spin]
}

impl Deflection {
    /// Force of the spring over the six coordinates.
    pub(crate) fn spring_force(&self, stiffness: f64) -> [f64; 6] {
        self.gradient.map(|g| -stiffness * self.value * g)
    }

    /// Force of the damper.
    pub(crate) fn damper_force(&self, damping: f64, u: &[f64; 6]) -> [f64; 6] {
        let rate: f64 = self.gradient.iter().zip(u).map(|(g, u)| g * u).sum();
        self.gradient.map(|g| -damping * rate * g)
    }

    /// ∂(spring force)_i/∂q_j.
    pub(crate) fn spring_jacobian(&self, stiffness: f64, i: usize, j: usize) -> f64 {
        if !self.smooth {
            return if self.value == 0.0 { -stiffness * self.hessian[i][j] } else { 0.0 };
        }
        -stiffness * (self.gradient[i] * self.gradient[j] + self.value * self.hessian[i][j])
    }

    /// ∂(damper force)_i/∂q_j.
    pub(crate) fn damper_position_jacobian(&self, damping: f64, u: &[f64; 6], i: usize, j: usize) -> f64 {
        if !self.smooth {
            return 0.0;
        }
        let rate: f64 = self.gradient.iter().zip(u).map(|(g, u)| g * u).sum();
        let rate_j: f64 = self.hessian[j].iter().zip(u).map(|(h, u)| h * u).sum();
        -damping * (rate_j * self.gradient[i] + rate * self.hessian[i][j])
    }

    /// ∂(damper force)_i/∂u_j.
    pub(crate) fn damper_velocity_jacobian(&self, damping: f64, i: usize, j: usize) -> f64 {
        -damping * self.gradient[i] * self.gradient[j]
    }
}
