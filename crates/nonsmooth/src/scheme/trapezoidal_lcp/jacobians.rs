//! Jacobians of forces in M̃: k_q B and k_v, or what stands for them.
//!
//! Of stiff forces the exact Jacobian is a bad choice. For springs −Σ γ φ ∇φ and dampers −Σ δ ∇ψ (∇ψᵀv), (10.12), it has terms with φ ∇²φ and ∇ψ (∇²ψ v)ᵀ beside those that are never driving: with φ and ψ̇ of a
//! velocity that alternates they turn and stop the motion. The paper takes
//!
//! ```text
//! k̃_q = −Σ γ ∇φ ∇φᵀ,   k̃_v = F(v) − Σ δ ∇ψ ∇ψᵀ                                    (10.13), (10.14)
//! ```
//!
//! so that M̃ is positive definite for any step.
//! Here these are known of
//!
//! - springs: the potential V = ½ γ φ² of one deflection. With f = −Bᵀ∇V, γ ∇φ ∇φᵀ = f fᵀ/(2V);
//! - dampers: forces that are linear in v, with a symmetric k_v, which is −Σ δ ∇ψ ∇ψᵀ; their k_q is left out;
//! - Coriolis forces f(v) that do no work and are quadratic in v: F(v) = (f pᵀ − p fᵀ)/(p·v), p = M v over the velocities that they touch, is antisymmetric and F(v) v = f(v), so that they do no work in a step
//!   either. (F is not unique, and f' ≠ F for any: with F(v) the order is 1.)
//!
//! `jacobian = "paper"` takes them at the start of the step. There a stiff spring, which acts as a joint does, has the direction of the start for the whole step, and the length of its tangent: the order is 1. `"auto"`
//! takes springs and dampers as the scheme takes joints, and F with the velocity of the middle,
//!
//! ```text
//! k̃ = −γ ∇φ_½ (φ(q) + φ(q + h q̇))/2,  k̃_q = −γ ∇φ_½ ∇φ_½ᵀ;     k̃ = −δ ∇ψ_½ ∇ψ_½ᵀ v,  k̃_v = −δ ∇ψ_½ ∇ψ_½ᵀ;
//! k̃ = F(v*) v,  k̃_v = F(v*),  v* = v + (h/2) v̇.
//! ```
//!
//! Each is of order 2 (F where v̇ is known: without joints and contacts that act, or where their directions turn), a damper takes energy in every step, and a Coriolis force does no work.
//!
//! Other forces keep their Jacobian, as do those whose Jacobian is constant. `jacobian = "auto"` takes the exact one while what the paper's leaves out is small beside inertia,
//!
//! ```text
//! ‖(h/2) (k_v − k̃_v) + (h²/4) (k_q − k̃_q) B‖ ≤ 1e-9   by rows, scaled by the diagonal of M̄
//! ```
//!
//! and these beyond: M̃ is positive definite for any step, and the order is 2.

use super::options::JacobianRule;
use super::spd;
use crate::contract::{Evaluator, ForceInfo};
use complementarity::linear::dense::{dot, max_norm};
use complementarity::linear::{Matrix, Pattern};

/// Part of inertia up to which `auto` takes the exact Jacobians.
const NEGLIGIBLE: f64 = 1e-9;
/// Part of inertia beyond which a spring that turns needs the Jacobian of `auto`: from there on an exact one slows a dumbbell down by more than a hundredth (0.09 of 2 rad at ten times that).
const UNRESOLVED: f64 = 1.0;
/// Rounding of a force by its value, relative.
const ROUNDING: f64 = 1e-10;

/// k̃_q B and k̃_v of all forces.
#[derive(Default)]
pub(super) struct Jacobians {
    pub(super) by_q: Option<Matrix>,
    pub(super) by_v: Option<Matrix>,
    /// Whether these are constant and made.
    pub(super) made: bool,
    /// Whether they are not the exact ones.
    pub(super) replaced: bool,
    /// Whether a spring or damper that turns is stiffer than a step resolves, of Jacobians other than those of `auto`.
    pub(super) unresolved: bool,
    /// The paper's.
    stiff: Option<[Matrix; 2]>,
    /// Of one force.
    part: Option<Matrix>,
    /// What k̃ has beyond ½ (k(t,q,v) + k(t+h,q,v) + h k̃_q q̇).
    pub(super) beyond: Vec<f64>,
    scratch: Scratch,
    sums: Vec<f64>,
    spd: spd::Work,
}

/// Workspace for the forces of one contribution.
#[derive(Default)]
pub(super) struct Scratch {
    f: Vec<f64>,
    other: Vec<f64>,
    moved: Vec<f64>,
    touched: Vec<bool>,
    velocity: Vec<f64>,
}

/// Data of a step that its forces depend on.
#[derive(Clone, Copy)]
pub(super) struct ForceInput<'a> {
    /// Start and length.
    pub(super) t: f64,
    pub(super) h: f64,
    pub(super) q: &'a [f64],
    pub(super) u: &'a [f64],
    /// q + (h/2) q̇, and q̇.
    pub(super) q_mid: &'a [f64],
    pub(super) rate: &'a [f64],
    /// v̇ at the start, if the laws asked for it.
    pub(super) acceleration: &'a [f64],
}

impl Jacobians {
    /// Forgets everything: another system.
    pub(super) fn reset(&mut self, pattern: &Pattern, rule: JacobianRule) {
        *self = Self::default();
        self.by_q = Some(Matrix::new(pattern));
        self.by_v = Some(Matrix::new(pattern));
        self.stiff = Some([Matrix::new(pattern), Matrix::new(pattern)]);
        if matches!(rule, JacobianRule::Auto | JacobianRule::Paper) {
            self.part = Some(Matrix::new(pattern));
        }
    }

    /// All of them for a step with inertia `mass`.
    pub(super) fn make(&mut self, system: &Evaluator, rule: JacobianRule, input: ForceInput, mass: &Matrix) {
        let ForceInput { h, q, u, .. } = input;
        let t = input.t + h;
        let s = system.structure();
        let constant = s.forces.iter().all(|f| f.constant_jacobian);
        if constant && self.made {
            return;
        }
        let (Some(by_q), Some(by_v)) = (&mut self.by_q, &mut self.by_v) else { return };
        by_q.clear();
        by_v.clear();
        for i in 0..s.forces.len() {
            system.force_jacobian(i, t, q, u, 1.0, 0.0, by_q);
            system.force_jacobian(i, t, q, u, 0.0, 1.0, by_v);
        }
        self.made = constant;
        self.replaced = false;
        if rule != JacobianRule::Auto && !self.unresolved && s.forces.iter().any(may_be_stiff) {
            self.unresolved = self.size_of_stiff(system, input, mass) > UNRESOLVED;
        }
        let (Some(by_q), Some(by_v)) = (&mut self.by_q, &mut self.by_v) else { return };
        match rule {
            JacobianRule::Exact => {}
            JacobianRule::Spd => {
                self.spd.dissipative(&s.pattern, by_q);
                self.spd.dissipative(&s.pattern, by_v);
                self.replaced = true;
            }
            JacobianRule::Auto | JacobianRule::Paper if !s.forces.iter().any(may_be_stiff) => {}
            JacobianRule::Auto if self.size(h, mass, false) <= NEGLIGIBLE => {}
            JacobianRule::Auto | JacobianRule::Paper => {
                self.make_stiff(system, rule, input, mass);
                let wanted = rule == JacobianRule::Paper || self.size(h, mass, true) > NEGLIGIBLE;
                let Self { by_q: Some(by_q), by_v: Some(by_v), stiff: Some([q, v]), replaced, .. } = self else {
                    return;
                };
                if wanted {
                    std::mem::swap(by_q, q);
                    std::mem::swap(by_v, v);
                    *replaced = true;
                }
            }
        }
    }

    /// The same as `size`, of the forces that may be stiff and turn.
    fn size_of_stiff(&mut self, system: &Evaluator, input: ForceInput, mass: &Matrix) -> f64 {
        let Some([by_q, by_v]) = &mut self.stiff else { return 0.0 };
        by_q.clear();
        by_v.clear();
        for (i, _) in system.structure().forces.iter().enumerate().filter(|(_, f)| may_be_stiff(f)) {
            system.force_jacobian(i, input.t + input.h, input.q, input.u, 1.0, 0.0, by_q);
            system.force_jacobian(i, input.t + input.h, input.q, input.u, 0.0, 1.0, by_v);
        }
        let exact = (self.by_q.take(), self.by_v.take());
        if let Some([by_q, by_v]) = self.stiff.take() {
            (self.by_q, self.by_v) = (Some(by_q), Some(by_v));
        }
        let size = self.size(input.h, mass, false);
        self.stiff = self.by_q.take().zip(self.by_v.take()).map(|(q, v)| [q, v]);
        (self.by_q, self.by_v) = exact;
        size
    }

    /// ‖(h/2) k_v + (h²/4) k_q B‖ by rows, relative to inertia; without the paper's, if so wanted.
    fn size(&mut self, h: f64, mass: &Matrix, without_stiff: bool) -> f64 {
        let (Some(by_q), Some(by_v)) = (&self.by_q, &self.by_v) else { return 0.0 };
        self.sums.clear();
        self.sums.resize(mass.size(), 0.0);
        let stiff = self.stiff.as_ref().filter(|_| without_stiff);
        for (k, matrix) in [by_q, by_v].into_iter().enumerate() {
            let scale = if k == 0 { 0.25 * h * h } else { 0.5 * h };
            matrix.for_each_entry(|i, j, v| {
                let v = v - stiff.map_or(0.0, |s| s[k].get(i, j));
                if v != 0.0 {
                    self.sums[i] += scale * v.abs() / (mass.get(i, i) * mass.get(j, j)).sqrt();
                }
            });
        }
        max_norm(&self.sums)
    }

    /// The paper's, of all forces.
    fn make_stiff(&mut self, system: &Evaluator, rule: JacobianRule, input: ForceInput, mass: &Matrix) {
        let s = system.structure();
        let Self { stiff: Some([by_q, by_v]), part: Some(part), beyond, scratch, .. } = self else { return };
        by_q.clear();
        by_v.clear();
        beyond.clear();
        beyond.resize(input.u.len(), 0.0);
        for i in 0..s.forces.len() {
            if !scratch.add_stiff(system, rule, i, input, mass, (by_q, by_v, part), beyond) {
                system.force_jacobian(i, input.t + input.h, input.q, input.u, 1.0, 0.0, by_q);
                system.force_jacobian(i, input.t + input.h, input.q, input.u, 0.0, 1.0, by_v);
            }
        }
    }

    /// Adds those of force `i` as the step took them, and its part of `beyond`.
    pub(super) fn add_of(
        &mut self,
        system: &Evaluator,
        rule: JacobianRule,
        i: usize,
        input: ForceInput,
        mass: &Matrix,
        (by_q, by_v): (&mut Matrix, &mut Matrix),
        beyond: &mut [f64],
    ) {
        let stiff = matches!(rule, JacobianRule::Auto | JacobianRule::Paper) && self.replaced;
        let Self { part, scratch, .. } = self;
        if let (true, Some(part)) = (stiff, part)
            && scratch.add_stiff(system, rule, i, input, mass, (by_q, by_v, part), beyond)
        {
            return;
        }
        system.force_jacobian(i, input.t + input.h, input.q, input.u, 1.0, 0.0, by_q);
        system.force_jacobian(i, input.t + input.h, input.q, input.u, 0.0, 1.0, by_v);
    }
}

impl Scratch {
    /// k_i(t, q, v) into `f`.
    fn force(&mut self, system: &Evaluator, i: usize, t: f64, q: &[f64], u: &[f64]) {
        self.f.clear();
        self.f.resize(u.len(), 0.0);
        system.force(i, t, q, u, &mut self.f);
    }

    /// Adds k̃_q B and k̃_v of force `i` if it is one of those whose k̃ are known. False if not.
    fn add_stiff(
        &mut self,
        system: &Evaluator,
        rule: JacobianRule,
        i: usize,
        input: ForceInput,
        mass: &Matrix,
        (by_q, by_v, part): (&mut Matrix, &mut Matrix, &mut Matrix),
        beyond: &mut [f64],
    ) -> bool {
        let info = &system.structure().forces[i];
        let ForceInput { t, h, q, u, q_mid, rate, .. } = input;
        if !may_be_stiff(info) {
            return false;
        }
        let printed = rule == JacobianRule::Paper;
        let (at, place) = if printed { (t + h, q) } else { (t + 0.5 * h, q_mid) };
        self.force(system, i, at, place, u);
        let size = max_norm(&self.f);
        if info.spring {
            let v = system.potential(i, at, place);
            if !(v > 0.0 && size > 0.0) {
                return false;
            }
            add_outer(by_q, &self.f, &self.f, -0.5 / v);
            if !printed {
                // φ at the start and at the end of its tangent, relative to φ_½.
                self.moved.clear();
                self.moved.extend(q.iter().zip(rate).map(|(q, r)| q + h * r));
                let start = self.deflection(system, i, t, q, u, v);
                let moved = std::mem::take(&mut self.moved);
                let end = self.deflection(system, i, t + h, &moved, u, v);
                self.moved = moved;
                // Instead of ½ (k(t,q) + k(t+h,q) + h k̃_q q̇).
                let slope = -0.5 * dot(&self.f, u) / v;
                let part = 0.5 * (start + end) - 0.5 * h * slope;
                beyond.iter_mut().zip(&self.f).for_each(|(b, f)| *b += part * f);
                self.subtract_mean(system, i, input, beyond);
            }
            return true;
        }
        // By its value: what it does with the velocity.
        part.clear();
        system.force_jacobian(i, at, place, u, 0.0, 1.0, part);
        if self.is_damper(system, i, (at, place, u), part) {
            by_v.add_scaled(1.0, part);
            if !printed {
                beyond.iter_mut().zip(&self.f).for_each(|(b, f)| *b += f);
                self.subtract_mean(system, i, input, beyond);
            }
            return true;
        }
        self.force(system, i, t + h, q, u);
        if !self.is_coriolis(system, i, (t + h, q, u)) {
            return false;
        }
        let Self { f, other, moved, touched, velocity } = self;
        velocity.clear();
        velocity.extend_from_slice(u);
        touched.clear();
        touched.resize(u.len(), false);
        part.for_each_entry(|i, j, v| {
            if v != 0.0 {
                (touched[i], touched[j]) = (true, true);
            }
        });
        if !printed {
            // v* = v + (h/2) v̇.
            moved.clear();
            moved.resize(u.len(), 0.0);
            if input.acceleration.is_empty() {
                system.forces(t, q, u, moved);
                part.clear();
                part.add_scaled(1.0, mass);
                if part.factor().is_err() {
                    return false;
                }
                part.solve(moved);
            } else {
                moved.copy_from_slice(input.acceleration);
            }
            velocity.iter_mut().zip(&*moved).for_each(|(v, a)| *v += 0.5 * h * a);
            f.fill(0.0);
            system.force(i, t + 0.5 * h, q_mid, velocity, f);
        }
        // p, over the velocities that it touches.
        other.resize(u.len(), 0.0);
        mass.multiply(velocity, other);
        other.iter_mut().zip(&*touched).for_each(|(p, on)| *p = if *on { *p } else { 0.0 });
        let pv = dot(other, velocity);
        if !(pv > 0.0) {
            return false;
        }
        add_outer(by_v, f, other, 1.0 / pv);
        add_outer(by_v, other, f, -1.0 / pv);
        if !printed {
            let (along, across) = (dot(other, u) / pv, dot(f, u) / pv);
            for ((b, f), p) in beyond.iter_mut().zip(&*f).zip(&*other) {
                *b += along * f - across * p;
            }
            self.subtract_mean(system, i, input, beyond);
        }
        true
    }

    /// φ(t, q)/φ_½ of a spring, with its force in the middle in `f` and V_½.
    fn deflection(&mut self, system: &Evaluator, i: usize, t: f64, q: &[f64], u: &[f64], v: f64) -> f64 {
        self.other.clear();
        self.other.resize(u.len(), 0.0);
        system.force(i, t, q, u, &mut self.other);
        (system.potential(i, t, q).max(0.0) / v).sqrt() * dot(&self.f, &self.other).signum()
    }

    /// Takes ½ (k(t,q,v) + k(t+h,q,v)) of force `i` away.
    fn subtract_mean(&mut self, system: &Evaluator, i: usize, input: ForceInput, beyond: &mut [f64]) {
        self.other.clear();
        self.other.resize(input.u.len(), 0.0);
        system.force(i, input.t, input.q, input.u, &mut self.other);
        system.force(i, input.t + input.h, input.q, input.u, &mut self.other);
        beyond.iter_mut().zip(&self.other).for_each(|(b, k)| *b -= 0.5 * k);
    }

    /// Whether the force in `f` is k_v v with a symmetric k_v.
    fn is_damper(&mut self, system: &Evaluator, i: usize, (t, q, u): (f64, &[f64], &[f64]), by_v: &Matrix) -> bool {
        let Self { f, other, moved: still, .. } = self;
        let mut largest = 0.0f64;
        by_v.for_each_entry(|_, _, v| largest = largest.max(v.abs()));
        let mut symmetric = largest > 0.0;
        by_v.for_each_entry(|r, c, v| symmetric &= (v - by_v.get(c, r)).abs() <= ROUNDING * largest);
        if !symmetric {
            return false;
        }
        let near = ROUNDING * largest * max_norm(u);
        other.resize(u.len(), 0.0);
        by_v.multiply(u, other);
        if other.iter().zip(&*f).any(|(a, b)| !((a - b).abs() <= near)) {
            return false;
        }
        still.clear();
        still.resize(u.len(), 0.0);
        other.fill(0.0);
        system.force(i, t, q, still, other);
        max_norm(other) <= near
    }

    /// Whether the force in `f` is quadratic in v and does no work.
    fn is_coriolis(&mut self, system: &Evaluator, i: usize, (t, q, u): (f64, &[f64], &[f64])) -> bool {
        let Self { f, other, moved, .. } = self;
        let size = max_norm(f);
        let work: f64 = f.iter().zip(u).map(|(f, u)| (f * u).abs()).sum();
        if !(size > 0.0 && dot(f, u).abs() <= ROUNDING * work) {
            return false;
        }
        [-1.0, 2.0].into_iter().all(|scale| {
            moved.clear();
            moved.extend(u.iter().map(|u| scale * u));
            other.clear();
            other.resize(u.len(), 0.0);
            system.force(i, t, q, moved, other);
            other.iter().zip(&*f).all(|(a, b)| (a - scale * scale * b).abs() <= scale * scale * ROUNDING * size)
        })
    }
}

/// Whether a force can be one of those whose k̃ are known.
fn may_be_stiff(info: &ForceInfo) -> bool {
    !info.constant_jacobian && (info.spring || !info.potential)
}

/// Adds scale·a bᵀ where both have entries.
fn add_outer(m: &mut Matrix, a: &[f64], b: &[f64], scale: f64) {
    for (i, a) in a.iter().enumerate().filter(|(_, a)| **a != 0.0) {
        for (j, b) in b.iter().enumerate().filter(|(_, b)| **b != 0.0) {
            m.add(i, j, scale * a * b);
        }
    }
}
