//! Positions about the start of a step.
//!
//! Most coordinates move along straight lines: q₀ + dt Σ b_l q̇_l is a position again. Those of a body that turns in space are not: a sum of
//! rotations is none. A [`KinematicBlock`](super::KinematicBlock) of m velocities that has a *chart* has m local coordinates ξ about any position q₀ instead,
//!
//! ```text
//! q = q₀ ⊕ ξ,   ξ = q ⊖ q₀,   ξ̇ = T(ξ)⁻¹ u,   T(0) = I
//! ```
//!
//! (for a rotation in body axes: ⊕ by the exponential map, T(ξ)⁻¹ = dexp⁻¹). T(ξ) turns a change of ξ into a displacement along the velocities.
//!
//! Schemes add up vectors y of nq numbers. They hold ξ in the places of the first m coordinates of a block with a chart (0 in the others) and q itself everywhere else:
//!
//! ```text
//! y = y₀ + dt Σ b_l ẏ_l,   y₀ = origin(q₀),   q = retract(q₀, y)
//! ```
//!
//! with ẏ = q̇ outside of charts, and T(ξ)⁻¹u inside. [`System::kinematics`](super::System::kinematics) gives ẏ at ξ = 0, where T is the identity: that is enough for
//! schemes of order 2, since q₀ ⊕ dt ū with a mean velocity ū of the step is of that order. [`Evaluator::local_rates`] gives ẏ at any ξ. Without charts y is q, and
//! nothing here does anything.

use super::evaluator::Evaluator;
use std::cell::Cell;

/// Two vectors of coordinates.
#[derive(Default)]
struct ChartScratch([Vec<f64>; 2]);

impl<'a> Evaluator<'a> {
    /// y₀: q₀ itself, where there are no charts.
    #[inline]
    pub fn origin<'b>(&self, q0: &'b [f64], room: &'b mut Vec<f64>) -> &'b [f64] {
        if !self.has_charts() {
            return q0;
        }
        self.fill_origin(q0, room);
        room
    }

    fn fill_origin(&self, q0: &[f64], out: &mut Vec<f64>) {
        out.clear();
        out.extend_from_slice(q0);
        for block in self.structure().kinematics.iter().filter(|b| b.chart) {
            block.coordinates.iter().for_each(|&i| out[i] = 0.0);
        }
    }

    /// Local coordinates about q₀, in place, become coordinates.
    #[inline]
    pub fn retract(&self, q0: &[f64], y: &mut [f64]) {
        if self.has_charts() {
            self.system().retract(q0, y);
        }
    }

    /// Coordinates, in place, become local coordinates about q₀.
    #[inline]
    pub fn localise(&self, q0: &[f64], q: &mut [f64]) {
        if self.has_charts() {
            self.system().localise(q0, q);
        }
    }

    /// ẏ at q = q₀ ⊕ ξ into `rates`.
    #[inline]
    pub fn local_rates(&self, t: f64, q0: &[f64], q: &[f64], u: &[f64], rates: &mut [f64]) {
        if self.structure().identity_kinematics() {
            rates.copy_from_slice(u);
            return;
        }
        self.kinematics(t, q, u, rates);
        if self.has_charts() {
            self.about(q0, q, |_, y| self.system().local_rates(y, rates));
        }
    }

    /// Calls `f` with the local coordinates about q₀ of q₀ itself and of q.
    #[inline]
    pub fn about<R>(&self, q0: &[f64], q: &[f64], f: impl FnOnce(&[f64], &[f64]) -> R) -> R {
        if !self.has_charts() {
            return f(q0, q);
        }
        let cell = self.workspace().of::<Cell<ChartScratch>>();
        let mut room = cell.take();
        let ChartScratch([origin, y]) = &mut room;
        self.fill_origin(q0, origin);
        y.clear();
        y.extend_from_slice(q);
        self.system().localise(q0, y);
        let result = f(origin, y);
        cell.set(room);
        result
    }

    /// The position at a part s of the way from q₀ to q₁: q₀ ⊕ s (q₁ ⊖ q₀).
    pub fn between(&self, q0: &[f64], q1: &[f64], s: f64, out: &mut Vec<f64>) {
        self.about(q0, q1, |a, b| {
            out.clear();
            out.extend(a.iter().zip(b).map(|(a, b)| (1.0 - s) * a + s * b));
        });
        self.retract(q0, out);
    }

    /// q ⊕ s d for a rate d of [`System::kinematics`](super::System::kinematics) at q.
    pub fn displaced(&self, q: &[f64], d: &[f64], s: f64) -> Vec<f64> {
        let mut out = Vec::new();
        let mut y: Vec<f64> = self.origin(q, &mut out).iter().zip(d).map(|(q, d)| q + s * d).collect();
        self.retract(q, &mut y);
        y
    }
}
