//! Springs and dampers between points of two bodies, and between their angles.
//!
//! ```text
//! line:     d = x_B − x_A,  ℓ = ‖d‖,  e = d/ℓ,   V = ½ k (ℓ − ℓ₀)²,   damper: force c ℓ̇ along e
//! torsion:  θ = φ_B − φ_A − θ₀,                  V = ½ k θ²,          damper: moment c θ̇
//! ```
//!
//! At ℓ = 0 the direction e does not matter if ℓ₀ = 0 (F = k d). If ℓ₀ > 0 it is undefined, and the force is taken as zero.

use crate::error::{BuildError, check};
use crate::layout::{PLANAR_ANGLE, PLANAR_NQ, PLANAR_NU, Part};
use crate::planar::bodies::{Bodies, RigidBody};
use crate::planar::body::Body;
use crate::planar::plane::{Rotation, Vec2, add, dot, norm, perp, scale, sub};
use crate::planar::pose::Pose;
use complementarity::linear::{Matrix, Pattern};
use nonsmooth::names::hint;

/// Description of a spring with a damper for a [`crate::Builder`].
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
    /// Length without force, m (torsion: angle, rad). Default: the length at the start.
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

/// Coordinates, or velocities, of two planar bodies.
const PAIR: usize = 2 * PLANAR_NU;
/// Indices of the two angles among these.
const ANGLES: [usize; 2] = [PLANAR_ANGLE, PLANAR_NU + PLANAR_ANGLE];
const _: () = assert!(PLANAR_NQ == PLANAR_NU, "forces are written over the coordinates of bodies: q̇ = u");

/// A spring in a system, with bodies by number and a known rest length.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SpringForce {
    pub(crate) bodies: [usize; 2],
    points: [Vec2; 2],
    stiffness: f64,
    damping: f64,
    rest: f64,
    torsion: bool,
}

/// Deflection of a spring with its first and second derivatives with respect to the coordinates of both bodies.
struct Deflection {
    /// ℓ − ℓ₀ or θ.
    value: f64,
    gradient: [f64; PAIR],
    hessian: [[f64; PAIR]; PAIR],
    /// Whether the direction is defined.
    smooth: bool,
}

impl SpringForce {
    /// The spring of a description between these bodies, at the start of the run (s).
    pub(crate) fn new(s: &Spring, bodies: &[Body], start: f64) -> Result<Self, BuildError> {
        let number = |what, value: f64, ok: bool| check(&s.name, what, "finite and not negative", value, ok);
        number("its stiffness", s.stiffness, s.stiffness >= 0.0 && s.stiffness.is_finite())?;
        number("its damping", s.damping, s.damping >= 0.0 && s.damping.is_finite())?;
        if let Some(rest) = s.rest {
            number("its length without force", rest, rest.is_finite() && (s.torsion || rest >= 0.0))?;
        }
        for p in s.points.iter().flatten() {
            number("a coordinate of its ends", *p, p.is_finite())?;
        }
        let find = |name: &String| {
            bodies.iter().position(|b| b.name == *name).ok_or_else(|| {
                let hint = hint(name, bodies.iter().map(|b| b.name.as_str()), String::new);
                BuildError::Unknown { part: s.name.clone(), name: name.clone(), expected: "not a body", hint }
            })
        };
        let (a, b) = (find(&s.bodies[0])?, find(&s.bodies[1])?);
        let mut link = Self {
            bodies: [a, b],
            points: s.points,
            stiffness: s.stiffness,
            damping: s.damping,
            rest: s.rest.unwrap_or(0.0),
            torsion: s.torsion,
        };
        if s.rest.is_none() {
            link.rest = link.deflection(&bodies[a].start(start), &bodies[b].start(start)).value;
            number("its length at the start", link.rest, link.rest.is_finite())?;
        }
        Ok(link)
    }

    /// Whether it has a damper.
    pub(crate) fn is_damped(&self) -> bool {
        self.damping > 0.0
    }

    /// Whether its forces have constant derivatives.
    pub(crate) fn is_linear(&self) -> bool {
        self.torsion
    }

    fn deflection(&self, a: &Pose, b: &Pose) -> Deflection {
        if self.torsion {
            let mut gradient = [0.0; PAIR];
            (gradient[ANGLES[0]], gradient[ANGLES[1]]) = (-1.0, 1.0);
            let value = b.angle - a.angle - self.rest;
            return Deflection { value, gradient, hessian: [[0.0; PAIR]; PAIR], smooth: true };
        }
        let arms = [Rotation::by(a.angle).apply(self.points[0]), Rotation::by(b.angle).apply(self.points[1])];
        let d = sub(add(b.centre, arms[1]), add(a.centre, arms[0]));
        let length = norm(d);
        let smooth = length > 0.0;
        let e = if smooth { scale(1.0 / length, d) } else { [0.0, 0.0] };
        // Columns of ∂d/∂q.
        let columns: [Vec2; PAIR] =
            [[-1.0, 0.0], [0.0, -1.0], scale(-1.0, perp(arms[0])), [1.0, 0.0], [0.0, 1.0], perp(arms[1])];
        let gradient = columns.map(|c| dot(e, c));
        let mut hessian = [[0.0; PAIR]; PAIR];
        // ∂²ℓ = (c_i·c_j − (e·c_i)(e·c_j))/ℓ + e·∂²d; at ℓ = 0 its limit times ℓ.
        let over = if smooth { 1.0 / length } else { 1.0 };
        for i in 0..PAIR {
            for j in 0..PAIR {
                hessian[i][j] = (dot(columns[i], columns[j]) - gradient[i] * gradient[j]) * over;
            }
        }
        hessian[ANGLES[0]][ANGLES[0]] += dot(e, arms[0]);
        hessian[ANGLES[1]][ANGLES[1]] -= dot(e, arms[1]);
        Deflection { value: length - self.rest, gradient, hessian, smooth }
    }

    fn ends<'a>(&self, bodies: &'a Bodies) -> [&'a RigidBody; 2] {
        self.bodies.map(|b| &bodies.list[b])
    }

    fn deflection_at(&self, bodies: &Bodies, t: f64, q: &[f64]) -> Deflection {
        let [a, b] = self.ends(bodies);
        self.deflection(&a.pose(t, q), &b.pose(t, q))
    }

    /// Velocities of both bodies.
    fn velocities(&self, bodies: &Bodies, t: f64, u: &[f64]) -> [f64; PAIR] {
        let mut out = [0.0; PAIR];
        for (out, body) in out.chunks_exact_mut(PLANAR_NU).zip(self.ends(bodies)) {
            out.copy_from_slice(&body.twist(t, u).components());
        }
        out
    }

    /// Indices of the velocities of both bodies; `None` for a body that does not move by forces.
    fn dofs(&self, bodies: &Bodies) -> [Option<usize>; PAIR] {
        let mut out = [None; PAIR];
        for (out, body) in out.chunks_exact_mut(PLANAR_NU).zip(self.ends(bodies)) {
            let Some(first) = body.first() else { continue };
            for (out, dof) in out.iter_mut().zip(first.velocities(Part::PlanarBody, 1)) {
                *out = Some(dof);
            }
        }
        out
    }

    /// Couples the velocities of both bodies.
    pub(crate) fn couple(&self, bodies: &Bodies, pattern: &mut Pattern) {
        let dofs: Vec<usize> = self.dofs(bodies).into_iter().flatten().collect();
        pattern.couple(&dofs);
    }

    fn add(&self, bodies: &Bodies, force: [f64; PAIR], h: &mut [f64]) {
        for (dof, f) in self.dofs(bodies).into_iter().zip(force) {
            if let Some(dof) = dof {
                h[dof] += f;
            }
        }
    }

    fn add_matrix(&self, bodies: &Bodies, value: impl Fn(usize, usize) -> f64, m: &mut Matrix) {
        let dofs = self.dofs(bodies);
        for (r, row) in dofs.iter().enumerate() {
            for (c, column) in dofs.iter().enumerate() {
                if let (Some(row), Some(column)) = (row, column) {
                    m.add(*row, *column, value(r, c));
                }
            }
        }
    }

    /// Adds the force of the spring.
    pub(crate) fn add_spring_force(&self, bodies: &Bodies, t: f64, q: &[f64], h: &mut [f64]) {
        self.add(bodies, self.deflection_at(bodies, t, q).spring_force(self.stiffness), h);
    }

    /// Adds the force of the damper.
    pub(crate) fn add_damper_force(&self, bodies: &Bodies, t: f64, q: &[f64], u: &[f64], h: &mut [f64]) {
        let u = self.velocities(bodies, t, u);
        self.add(bodies, self.deflection_at(bodies, t, q).damper_force(self.damping, &u), h);
    }

    /// Adds a·∂h/∂q of the spring.
    pub(crate) fn add_spring_jacobian(&self, bodies: &Bodies, t: f64, q: &[f64], a: f64, m: &mut Matrix) {
        let d = self.deflection_at(bodies, t, q);
        self.add_matrix(bodies, |r, c| a * d.spring_jacobian(self.stiffness, r, c), m);
    }

    /// Adds a·∂h/∂q + b·∂h/∂u of the damper.
    pub(crate) fn add_damper_jacobian(
        &self,
        bodies: &Bodies,
        t: f64,
        q: &[f64],
        u: &[f64],
        a: f64,
        b: f64,
        m: &mut Matrix,
    ) {
        let (d, u) = (self.deflection_at(bodies, t, q), self.velocities(bodies, t, u));
        let value = |r: usize, c: usize| {
            a * d.damper_position_jacobian(self.damping, &u, r, c) + b * d.damper_velocity_jacobian(self.damping, r, c)
        };
        self.add_matrix(bodies, value, m);
    }

    /// V of the spring.
    pub(crate) fn potential(&self, bodies: &Bodies, t: f64, q: &[f64]) -> f64 {
        let x = self.deflection_at(bodies, t, q).value;
        0.5 * self.stiffness * x * x
    }
}

impl Deflection {
    /// Force of the spring over the coordinates.
    fn spring_force(&self, stiffness: f64) -> [f64; PAIR] {
        self.gradient.map(|g| -stiffness * self.value * g)
    }

    /// Force of the damper.
    fn damper_force(&self, damping: f64, u: &[f64; PAIR]) -> [f64; PAIR] {
        let rate: f64 = self.gradient.iter().zip(u).map(|(g, u)| g * u).sum();
        self.gradient.map(|g| -damping * rate * g)
    }

    /// ∂(spring force)_i/∂q_j.
    fn spring_jacobian(&self, stiffness: f64, i: usize, j: usize) -> f64 {
        if !self.smooth {
            return if self.value == 0.0 { -stiffness * self.hessian[i][j] } else { 0.0 };
        }
        -stiffness * (self.gradient[i] * self.gradient[j] + self.value * self.hessian[i][j])
    }

    /// ∂(damper force)_i/∂q_j.
    fn damper_position_jacobian(&self, damping: f64, u: &[f64; PAIR], i: usize, j: usize) -> f64 {
        if !self.smooth {
            return 0.0;
        }
        let rate: f64 = self.gradient.iter().zip(u).map(|(g, u)| g * u).sum();
        let rate_j: f64 = self.hessian[j].iter().zip(u).map(|(h, u)| h * u).sum();
        -damping * (rate_j * self.gradient[i] + rate * self.hessian[i][j])
    }

    /// ∂(damper force)_i/∂u_j.
    fn damper_velocity_jacobian(&self, damping: f64, i: usize, j: usize) -> f64 {
        -damping * self.gradient[i] * self.gradient[j]
    }
}
