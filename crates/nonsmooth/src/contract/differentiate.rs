//! The adapter from values to a system: automatic differentiation of a [`Model`], part by part.

use super::candidates::{Candidates, Interaction, Kind};
use super::evaluate::{
    Element, Force, Function, Gap, Joint, MAX_LOCAL, Potential, PotentialForce, Rate, Slip, VelocityJoint,
    along_motion, derivatives, derivatives_once, rates, times_b, value,
};
use super::layout::{ForceKind, Layout, Place};
use super::model::Model;
use super::system::{Derivatives, ForceInfo, Needs, Structure, System};
use crate::law::{Friction, Law, LawError, Normal};
use complementarity::linear::{Matrix, Pattern};
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A [`Model`] with all its derivatives, as a [`System`].
pub struct Differentiated<M> {
    model: M,
    structure: Structure,
    masses: Vec<(Place, Arc<[usize]>)>,
    forces: Vec<(ForceKind, Place)>,
    /// Name and place of every interaction, by kind.
    parts: [Vec<(String, Place)>; 4],
    interactions: Vec<Interaction>,
    kinematics: Vec<(Vec<usize>, Vec<usize>)>,
    /// Marks candidate lists that this system has filled.
    stamp: u64,
    scratch: RefCell<Scratch>,
}

/// Name, coordinates, dimension, law of a declared interaction, and whether it was stated to be linear.
type Declared<'a> = (&'a String, Option<&'a Vec<usize>>, usize, Law, bool);

#[derive(Default)]
struct Scratch {
    q: Vec<f64>,
    u: Vec<f64>,
    values: Vec<f64>,
    jacobian: Vec<f64>,
    row: Vec<f64>,
}

/// A model that does not fit together.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ModelError {
    /// No coordinates.
    #[error("the model has no coordinates")]
    Empty,
    /// Two parts of one kind with the same name, or an empty name.
    #[error("{kind} name `{name}` is empty or used twice")]
    Name {
        /// Which kind of part.
        kind: &'static str,
        /// The name.
        name: String,
    },
    /// A part that touches a coordinate that does not exist, or one twice.
    #[error("{kind} `{name}`: coordinate {index} does not exist or is listed twice (there are {size})")]
    Coordinate {
        /// Which kind of part.
        kind: &'static str,
        /// Its name.
        name: String,
        /// The index.
        index: usize,
        /// Number of coordinates.
        size: usize,
    },
    /// A part that touches more than [`MAX_LOCAL`] coordinates.
    #[error(
        "{kind} `{name}` touches {count} coordinates, at most {MAX_LOCAL} are possible: split it into parts with `on`"
    )]
    TooWide {
        /// Which kind of part.
        kind: &'static str,
        /// Its name.
        name: String,
        /// How many it touches.
        count: usize,
    },
    /// A law with impossible parameters.
    #[error("{kind} `{name}`: {source}")]
    Law {
        /// Which kind of part.
        kind: &'static str,
        /// Its name.
        name: String,
        /// What is wrong.
        source: LawError,
    },
    /// A joint without components, or with more than the model has velocities.
    #[error("{kind} `{name}`: dimension {dim} is outside 1..={max}")]
    Dimension {
        /// Which kind of part.
        kind: &'static str,
        /// Its name.
        name: String,
        /// Its dimension.
        dim: usize,
        /// Largest possible.
        max: usize,
    },
    /// Kinematic blocks that do not cover every coordinate and velocity exactly once.
    #[error("kinematics: {what} {index} must be in exactly one kinematic block, it is in {count}")]
    Kinematics {
        /// Coordinate or velocity.
        what: &'static str,
        /// Which one.
        index: usize,
        /// In how many blocks it is.
        count: usize,
    },
    /// A break time that is not finite.
    #[error("break time {0} is not finite")]
    Break(f64),
    /// A function that gives NaN or infinity.
    #[error("{kind} `{name}` is not finite at t = {t} (is its function implemented for this part?)")]
    NotFinite {
        /// Which kind of part.
        kind: &'static str,
        /// Its name.
        name: String,
        /// When.
        t: f64,
    },
    /// A part that was stated to be linear (or the mass to be constant) and is not.
    #[error("{kind} `{name}` was stated to be {stated}, but it changes with t or q")]
    NotConstant {
        /// Which kind of part.
        kind: &'static str,
        /// Its name.
        name: String,
        /// What was stated.
        stated: &'static str,
    },
    /// A velocity that is not affine in u.
    #[error("{kind} `{name}`: its velocity is not affine in u (deviation {deviation:.3e})")]
    NotAffine {
        /// Which kind of part.
        kind: &'static str,
        /// Its name.
        name: String,
        /// By how much it deviates.
        deviation: f64,
    },
}

fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Joint => "joint",
        Kind::VelocityJoint => "velocity joint",
        Kind::Contact => "contact",
        Kind::Element => "element",
    }
}

const KINDS: [Kind; 4] = [Kind::Joint, Kind::VelocityJoint, Kind::Contact, Kind::Element];

fn index_of(id: u64) -> usize {
    (id & 0xffff_ffff) as usize
}

static STAMP: AtomicU64 = AtomicU64::new(1);

impl<M: Model> Differentiated<M> {
    /// Takes in a model, checking that its parts fit together.
    pub fn new(model: M) -> Result<Self, ModelError> {
        let layout = model.layout();
        let (nq, nu) = (layout.nq(), layout.nu());
        if nq == 0 || nu == 0 {
            return Err(ModelError::Empty);
        }
        check_kinematics(&layout, nq, nu)?;
        unique("coordinate", layout.coordinates.iter())?;
        if let Some(v) = &layout.velocities {
            unique("velocity", v.iter())?;
        }
        unique("force", layout.forces.iter().map(|p| &p.name))?;
        let interactions = layout
            .joints
            .iter()
            .map(|p| &p.name)
            .chain(layout.velocity_joints.iter().map(|p| &p.name))
            .chain(layout.contacts.iter().map(|p| &p.name))
            .chain(layout.elements.iter().map(|p| &p.name));
        unique("joint, contact or element", interactions)?;
        if let Some(&b) = layout.breaks.iter().find(|b| !b.is_finite()) {
            return Err(ModelError::Break(b));
        }

        let mut pattern = Pattern::new(nu);
        let place = |kind, name: &str, on: Option<&Vec<usize>>, size: usize| {
            if let Some(on) = on {
                for (i, &c) in on.iter().enumerate() {
                    if c >= size || on[..i].contains(&c) {
                        return Err(ModelError::Coordinate { kind, name: name.into(), index: c, size });
                    }
                }
            }
            let p = layout.place(on);
            let count = p.extended.len().max(p.velocities.len());
            if count > MAX_LOCAL {
                return Err(ModelError::TooWide { kind, name: name.into(), count });
            }
            Ok(p)
        };

        let mut masses = Vec::new();
        if layout.masses.is_empty() {
            masses.push(mass_place(&layout, "mass", None, nu)?);
        }
        for part in &layout.masses {
            masses.push(mass_place(&layout, &part.name, part.on.as_ref(), nu)?);
        }
        for (_, dofs) in &masses {
            pattern.couple(dofs);
        }
        let mut forces = Vec::new();
        let mut force_infos = Vec::new();
        for part in &layout.forces {
            let p = place("force", &part.name, part.on.as_ref(), nq)?;
            pattern.couple(&p.velocities);
            force_infos.push(ForceInfo {
                name: part.name.clone(),
                potential: part.what.0 == ForceKind::Potential,
                constant_jacobian: part.what.1,
            });
            forces.push((part.what.0, p));
        }

        let mut needs = Needs { general_kinematics: layout.velocities.is_some(), ..Needs::default() };
        let mut parts: [Vec<(String, Place)>; 4] = Default::default();
        let mut interactions = Vec::new();
        for kind in KINDS {
            let list: Vec<Declared> = match kind {
                Kind::Joint => layout
                    .joints
                    .iter()
                    .map(|p| (&p.name, p.on.as_ref(), p.what.0, Law::Bilateral, p.what.1.linear))
                    .collect(),
                Kind::VelocityJoint => layout
                    .velocity_joints
                    .iter()
                    .map(|p| (&p.name, p.on.as_ref(), p.what.0, Law::Bilateral, p.what.1.linear))
                    .collect(),
                Kind::Contact => layout
                    .contacts
                    .iter()
                    .map(|p| {
                        (
                            &p.name,
                            p.on.as_ref(),
                            p.what.0.slip_dim.saturating_add(1),
                            Law::Contact(p.what.0.clone()),
                            p.what.1.linear,
                        )
                    })
                    .collect(),
                Kind::Element => layout
                    .elements
                    .iter()
                    .map(|p| (&p.name, p.on.as_ref(), p.what.0, Law::Element(p.what.1.clone()), p.what.2.linear))
                    .collect(),
            };
            for (i, (name, on, dim, law, constant)) in list.into_iter().enumerate() {
                let what = kind_name(kind);
                let p = place(what, name, on, nq)?;
                if dim == 0 || dim > MAX_LOCAL {
                    return Err(ModelError::Dimension { kind: what, name: name.clone(), dim, max: MAX_LOCAL });
                }
                law.validate(dim).map_err(|source| ModelError::Law { kind: what, name: name.clone(), source })?;
                note_needs(&mut needs, kind, &law);
                interactions.push(Interaction {
                    id: ((kind as u64) << 32) | i as u64,
                    kind,
                    dim,
                    law: Arc::new(law),
                    dofs: p.velocities.clone(),
                    coordinates: p.extended.clone(),
                    constant,
                });
                parts[kind as usize].push((name.clone(), p));
            }
        }
        needs.moving = layout.contacts.iter().any(|p| p.what.1.moving)
            || layout.joints.iter().chain(&layout.velocity_joints).any(|p| p.what.1.moving);

        let velocities =
            layout.velocities.clone().unwrap_or_else(|| layout.coordinates.iter().map(|c| format!("{c}'")).collect());
        let mut breaks = layout.breaks.clone();
        breaks.sort_by(f64::total_cmp);
        breaks.dedup();
        let structure = Structure {
            coordinates: layout.coordinates.clone(),
            velocities,
            forces: force_infos,
            pattern,
            identity_kinematics: layout.velocities.is_none(),
            constant_mass: layout.constant_mass,
            needs,
            breaks,
        };
        Ok(Self {
            model,
            structure,
            masses,
            forces,
            parts,
            interactions,
            kinematics: layout.kinematics,
            stamp: STAMP.fetch_add(1, Ordering::Relaxed),
            scratch: RefCell::new(Scratch::default()),
        })
    }

    /// The model.
    pub fn model(&self) -> &M {
        &self.model
    }

    fn part(&self, k: &Interaction) -> &Place {
        &self.parts[k.kind as usize][index_of(k.id)].1
    }

    /// Runs `f` with the local coordinates and velocities of a part.
    #[inline]
    fn local<R>(&self, place: &Place, q: &[f64], u: &[f64], f: impl FnOnce(&[f64], &[f64], &mut Work) -> R) -> R {
        let mut scratch = self.scratch.borrow_mut();
        let s = &mut *scratch;
        if place.whole {
            let mut work = Work { values: &mut s.values, jacobian: &mut s.jacobian, row: &mut s.row };
            return f(q, u, &mut work);
        }
        s.q.clear();
        s.q.extend(place.extended.iter().map(|&i| q[i]));
        s.u.clear();
        if !u.is_empty() {
            s.u.extend(place.velocities.iter().map(|&i| u[i]));
        }
        let mut work = Work { values: &mut s.values, jacobian: &mut s.jacobian, row: &mut s.row };
        f(&s.q, &s.u, &mut work)
    }

    /// W and χ of a position-level function: g_q B and g_t + g_q β.
    fn position_rate<P: Function>(
        &self,
        function: &P,
        place: &Place,
        rows: usize,
        t: f64,
        q: &[f64],
        w: &mut [f64],
        chi: &mut [f64],
    ) {
        self.local(place, q, &[], |lq, _, work| {
            let own = place.own;
            let width = own + 1;
            let (values, jacobian) = work.sized(rows, width);
            derivatives(function, t, lq, &[], 0..width, values, jacobian);
            let n = place.velocities.len();
            if place.blocks.is_empty() {
                for r in 0..rows {
                    chi[r] = jacobian[r * width];
                    w[r * n..(r + 1) * n].copy_from_slice(&jacobian[r * width + 1..(r + 1) * width]);
                }
                return;
            }
            let mut row = [0.0; MAX_LOCAL];
            for r in 0..rows {
                row[..own].copy_from_slice(&jacobian[r * width + 1..(r + 1) * width]);
                row[own..lq.len()].fill(0.0);
                let out = &mut w[r * n..(r + 1) * n];
                out.fill(0.0);
                let drift = times_b::<M, f64, MAX_LOCAL>(&self.model, place, t, lq, &row[..lq.len()], 1.0, out);
                chi[r] = jacobian[r * width] + drift;
            }
        });
    }

    /// W and χ of a velocity function: its Jacobian and value at u = 0.
    fn velocity_rows<F: Function>(
        &self,
        function: &F,
        place: &Place,
        rows: usize,
        t: f64,
        q: &[f64],
        w: &mut [f64],
        chi: &mut [f64],
    ) {
        self.local(place, q, &[], |lq, _, _| {
            let n = place.velocities.len();
            let zeros = [0.0; MAX_LOCAL];
            let first = 1 + lq.len();
            derivatives(function, t, lq, &zeros[..n], first..first + n, &mut chi[..rows], w);
        });
    }

    fn gradient<F: Function>(&self, f: &F, place: &Place, rows: usize, t: f64, q: &[f64], u: &[f64], out: &mut [f64]) {
        self.local(place, q, u, |lq, lu, work| {
            let (values, _) = work.sized(rows, 0);
            derivatives_once(f, t, lq, lu, 1..1 + lq.len(), values, out);
        });
    }

    fn rate<F: Function>(&self, f: &F, place: &Place, t: f64, q: &[f64], u: &[f64], out: &mut [f64]) {
        self.local(place, q, u, |lq, lu, work| {
            work.row.clear();
            work.row.resize(lq.len(), 0.0);
            rates::<M, f64, MAX_LOCAL>(&self.model, place, t, lq, lu, work.row);
            along_motion(f, t, lq, lu, work.row, out);
        });
    }

    /// Adds a·J_q B + b·J_u of a force function to `m`.
    fn add_jacobian<F: Function>(
        &self,
        f: &F,
        place: &Place,
        with_u: bool,
        t: f64,
        q: &[f64],
        u: &[f64],
        a: f64,
        b: f64,
        m: &mut Matrix,
    ) {
        let dofs = &place.velocities;
        let n = dofs.len();
        self.local(place, q, u, |lq, lu, work| {
            let width = lq.len() + if with_u { n } else { 0 };
            let (values, jacobian) = work.sized(n, width);
            derivatives(f, t, lq, lu, 1..1 + width, values, jacobian);
            let mut row = [0.0; MAX_LOCAL];
            for i in 0..n {
                let line = &jacobian[i * width..(i + 1) * width];
                row[..n].fill(0.0);
                if place.blocks.is_empty() {
                    for (r, v) in row[..n].iter_mut().zip(line) {
                        *r = a * v;
                    }
                } else {
                    times_b::<M, f64, MAX_LOCAL>(&self.model, place, t, lq, &line[..lq.len()], a, &mut row[..n]);
                }
                if with_u {
                    for j in 0..n {
                        row[j] += b * line[lq.len() + j];
                    }
                }
                for j in 0..n {
                    if row[j] != 0.0 {
                        m.add(dofs[i], dofs[j], row[j]);
                    }
                }
            }
        });
    }

    /// Checks at a state that every part gives finite values and that velocities are affine in u.
    pub fn probe(&self, t: f64, q: &[f64], u: &[f64]) -> Result<(), ModelError> {
        let bad = |kind: &'static str, name: &str| ModelError::NotFinite { kind, name: name.into(), t };
        let mut h = vec![0.0; self.structure.nu()];
        for (i, info) in self.structure.forces.iter().enumerate() {
            h.fill(0.0);
            self.force(i, t, q, u, &mut h);
            let v = if info.potential { self.potential(i, t, q) } else { 0.0 };
            if !(h.iter().all(|x| x.is_finite()) && v.is_finite()) {
                return Err(bad("force", &info.name));
            }
        }
        if !self.structure.identity_kinematics {
            let mut qdot = vec![0.0; q.len()];
            self.kinematics(t, q, u, &mut qdot);
            if !qdot.iter().all(|x| x.is_finite()) {
                return Err(bad("kinematics", "B u + beta"));
            }
        }
        self.probe_statements(t, q, u)?;
        for k in &self.interactions {
            let kind = kind_name(k.kind);
            let name = self.name(k);
            let mut g = vec![0.0; k.position_dim()];
            self.position(k, t, q, &mut g);
            let mut w = vec![0.0; k.dim * k.dofs.len()];
            let mut chi = vec![0.0; k.dim];
            self.velocity(k, t, q, &mut w, &mut chi);
            if !g.iter().chain(&w).chain(&chi).all(|x| x.is_finite()) {
                return Err(bad(kind, &name));
            }
            // Affine: the value at two speeds that are not special agrees with Wᵀu + χ.
            let place = self.part(k);
            for scale in [0.7, 13.0] {
                let lu: Vec<f64> = (0..k.dofs.len()).map(|j| scale * (1.0 + 0.37 * j as f64).sin()).collect();
                let lq: Vec<f64> = place.extended.iter().map(|&i| q[i]).collect();
                let mut found = vec![0.0; k.dim];
                let i = index_of(k.id);
                let m = &self.model;
                match k.kind {
                    Kind::Joint => value(&Rate(m, place, Joint(m, i, place)), t, &lq, &lu, &mut found),
                    Kind::VelocityJoint => value(&VelocityJoint(m, i, place), t, &lq, &lu, &mut found),
                    Kind::Element => value(&Element(m, i, place), t, &lq, &lu, &mut found),
                    Kind::Contact => {
                        value(&Rate(m, place, Gap(m, i, place)), t, &lq, &lu, &mut found[..1]);
                        if k.dim > 1 {
                            value(&Slip(m, i, place), t, &lq, &lu, &mut found[1..]);
                        }
                    }
                }
                let n = k.dofs.len();
                for r in 0..k.dim {
                    let row = &w[r * n..(r + 1) * n];
                    let expected = chi[r] + row.iter().zip(&lu).map(|(a, b)| a * b).sum::<f64>();
                    let size = chi[r].abs() + row.iter().zip(&lu).map(|(a, b)| (a * b).abs()).sum::<f64>();
                    // Rounding of a sum of n products; anything nonlinear shows at the scale of the terms.
                    let deviation = (found[r] - expected).abs();
                    if !(deviation <= 1e-9 * (size + found[r].abs()) + 1e-300) {
                        return Err(ModelError::NotAffine { kind, name, deviation });
                    }
                }
            }
        }
        Ok(())
    }
}

impl<M: Model> Differentiated<M> {
    /// Checks what was stated as constant or linear at a second, shifted state.
    fn probe_statements(&self, t: f64, q: &[f64], u: &[f64]) -> Result<(), ModelError> {
        let s = &self.structure;
        let n = s.nu();
        let t2 = t + 0.731;
        let q2: Vec<f64> = q.iter().enumerate().map(|(i, x)| x + 0.1 * (1.3 + i as f64).sin()).collect();
        let u2: Vec<f64> = u.iter().enumerate().map(|(i, x)| x + 0.2 * (0.7 + i as f64).cos()).collect();
        // Rounding of the evaluation against a real change, which is of the order of the shift.
        let same = |a: &[f64], b: &[f64]| {
            let scale = a.iter().chain(b).fold(0.0f64, |m, v| m.max(v.abs()));
            // What cannot be evaluated at the shifted state says nothing.
            b.iter().any(|x| !x.is_finite()) || a.iter().zip(b).all(|(x, y)| (x - y).abs() <= 1e-9 * scale)
        };
        let entries = |f: &dyn Fn(&mut Matrix)| {
            let mut m = Matrix::new(&s.pattern);
            f(&mut m);
            let mut out = Vec::new();
            for i in 0..n.min(MAX_LOCAL) {
                out.extend((0..n.min(MAX_LOCAL)).map(|j| m.get(i, j)));
            }
            out
        };
        let changed = |kind, name: &str, stated| Err(ModelError::NotConstant { kind, name: name.into(), stated });
        if s.constant_mass && !same(&entries(&|m| self.mass(t, q, m)), &entries(&|m| self.mass(t2, &q2, m))) {
            return changed("mass", "M", "constant");
        }
        for (i, info) in s.forces.iter().enumerate().filter(|(_, f)| f.constant_jacobian) {
            let at = |t: f64, q: &[f64], u: &[f64]| {
                let mut out = entries(&|m| self.force_jacobian(i, t, q, u, 1.0, 0.0, m));
                out.extend(entries(&|m| self.force_jacobian(i, t, q, u, 0.0, 1.0, m)));
                out
            };
            if !same(&at(t, q, u), &at(t2, &q2, &u2)) {
                return changed("force", &info.name, "linear");
            }
        }
        for k in self.interactions.iter().filter(|k| k.constant) {
            let at = |t: f64, q: &[f64]| {
                let (mut w, mut chi) = (vec![0.0; k.dim * k.dofs.len()], vec![0.0; k.dim]);
                self.velocity(k, t, q, &mut w, &mut chi);
                w.extend(chi);
                w
            };
            if !same(&at(t, q), &at(t2, &q2)) {
                return changed(kind_name(k.kind), &self.name(k), "linear");
            }
        }
        Ok(())
    }
}

struct Work<'a> {
    values: &'a mut Vec<f64>,
    jacobian: &'a mut Vec<f64>,
    row: &'a mut Vec<f64>,
}

impl Work<'_> {
    #[inline]
    fn sized(&mut self, rows: usize, width: usize) -> (&mut [f64], &mut [f64]) {
        if self.values.len() < rows {
            self.values.resize(rows, 0.0);
        }
        if self.jacobian.len() < rows * width {
            self.jacobian.resize(rows * width, 0.0);
        }
        (&mut self.values[..rows], &mut self.jacobian[..rows * width])
    }
}

impl<M: Model> System for Differentiated<M> {
    fn structure(&self) -> &Structure {
        &self.structure
    }

    fn mass(&self, t: f64, q: &[f64], m: &mut Matrix) {
        for (i, (place, dofs)) in self.masses.iter().enumerate() {
            let n = dofs.len();
            self.local(place, q, &[], |lq, _, work| {
                work.jacobian.clear();
                work.jacobian.resize(n * n, 0.0);
                self.model.mass(i, t, lq, work.jacobian);
                for a in 0..n {
                    for b in 0..n {
                        let v = work.jacobian[a * n + b];
                        if v != 0.0 {
                            m.add(dofs[a], dofs[b], v);
                        }
                    }
                }
            });
        }
    }

    fn force(&self, i: usize, t: f64, q: &[f64], u: &[f64], h: &mut [f64]) {
        let (kind, place) = &self.forces[i];
        let n = place.velocities.len();
        let u = if *kind == ForceKind::Value { u } else { &[] };
        self.local(place, q, u, |lq, lu, work| {
            let (out, _) = work.sized(n, 0);
            out.fill(0.0);
            match kind {
                ForceKind::Value => value(&Force(&self.model, i, place), t, lq, lu, out),
                ForceKind::Potential => value(&PotentialForce(&self.model, i, place), t, lq, &[], out),
            }
            for (&j, v) in place.velocities.iter().zip(out.iter()) {
                h[j] += v;
            }
        });
    }

    fn potential(&self, i: usize, t: f64, q: &[f64]) -> f64 {
        let (kind, place) = &self.forces[i];
        if *kind != ForceKind::Potential {
            return 0.0;
        }
        let mut v = [0.0];
        self.local(place, q, &[], |lq, _, _| value(&Potential(&self.model, i, place), t, lq, &[], &mut v));
        v[0]
    }

    fn force_jacobian(&self, i: usize, t: f64, q: &[f64], u: &[f64], a: f64, b: f64, m: &mut Matrix) {
        let (kind, place) = &self.forces[i];
        match kind {
            ForceKind::Value => self.add_jacobian(&Force(&self.model, i, place), place, true, t, q, u, a, b, m),
            ForceKind::Potential => {
                self.add_jacobian(&PotentialForce(&self.model, i, place), place, false, t, q, &[], a, b, m);
            }
        }
    }

    fn candidates(&self, _t: f64, _q: &[f64], _reach: f64, out: &mut Candidates) {
        if out.source() != self.stamp {
            out.fill(self.interactions.iter().cloned());
            out.set_source(self.stamp);
        }
    }

    fn position(&self, k: &Interaction, t: f64, q: &[f64], g: &mut [f64]) {
        let place = self.part(k);
        let i = index_of(k.id);
        self.local(place, q, &[], |lq, _, _| match k.kind {
            Kind::Contact => value(&Gap(&self.model, i, place), t, lq, &[], &mut g[..1]),
            Kind::Joint => value(&Joint(&self.model, i, place), t, lq, &[], &mut g[..k.dim]),
            Kind::VelocityJoint | Kind::Element => {}
        });
    }

    fn velocity(&self, k: &Interaction, t: f64, q: &[f64], w: &mut [f64], chi: &mut [f64]) {
        let place = self.part(k);
        let (i, m, n) = (index_of(k.id), &self.model, place.velocities.len());
        match k.kind {
            Kind::Joint => self.position_rate(&Joint(m, i, place), place, k.dim, t, q, w, chi),
            Kind::VelocityJoint => self.velocity_rows(&VelocityJoint(m, i, place), place, k.dim, t, q, w, chi),
            Kind::Element => self.velocity_rows(&Element(m, i, place), place, k.dim, t, q, w, chi),
            Kind::Contact => {
                self.position_rate(&Gap(m, i, place), place, 1, t, q, &mut w[..n], &mut chi[..1]);
                if k.dim > 1 {
                    self.velocity_rows(&Slip(m, i, place), place, k.dim - 1, t, q, &mut w[n..], &mut chi[1..]);
                }
            }
        }
    }

    fn kinematics(&self, t: f64, q: &[f64], u: &[f64], qdot: &mut [f64]) {
        if self.structure.identity_kinematics {
            qdot.copy_from_slice(u);
            return;
        }
        let (mut lq, mut lu, mut lr) = ([0.0; MAX_LOCAL], [0.0; MAX_LOCAL], [0.0; MAX_LOCAL]);
        for (b, (coordinates, velocities)) in self.kinematics.iter().enumerate() {
            for (x, &c) in lq.iter_mut().zip(coordinates) {
                *x = q[c];
            }
            for (x, &v) in lu.iter_mut().zip(velocities) {
                *x = u[v];
            }
            let n = coordinates.len();
            self.model.kinematics(b, t, &lq[..n], &lu[..velocities.len()], &mut lr[..n]);
            for (x, &c) in lr.iter().zip(coordinates) {
                qdot[c] = *x;
            }
        }
    }

    fn position_gradient(&self, k: &Interaction, t: f64, q: &[f64], out: &mut [f64]) {
        let place = self.part(k);
        let (i, m) = (index_of(k.id), &self.model);
        match k.kind {
            Kind::Joint => self.gradient(&Joint(m, i, place), place, k.dim, t, q, &[], out),
            Kind::Contact => self.gradient(&Gap(m, i, place), place, 1, t, q, &[], out),
            Kind::VelocityJoint | Kind::Element => {}
        }
    }

    fn velocity_gradient(&self, k: &Interaction, t: f64, q: &[f64], u: &[f64], out: &mut [f64]) {
        let place = self.part(k);
        let (i, m, n) = (index_of(k.id), &self.model, place.extended.len());
        match k.kind {
            Kind::Joint => self.gradient(&Rate(m, place, Joint(m, i, place)), place, k.dim, t, q, u, out),
            Kind::VelocityJoint => self.gradient(&VelocityJoint(m, i, place), place, k.dim, t, q, u, out),
            Kind::Element => self.gradient(&Element(m, i, place), place, k.dim, t, q, u, out),
            Kind::Contact => {
                self.gradient(&Rate(m, place, Gap(m, i, place)), place, 1, t, q, u, &mut out[..n]);
                if k.dim > 1 {
                    self.gradient(&Slip(m, i, place), place, k.dim - 1, t, q, u, &mut out[n..]);
                }
            }
        }
    }

    fn velocity_rate(&self, k: &Interaction, t: f64, q: &[f64], u: &[f64], out: &mut [f64]) {
        let place = self.part(k);
        let (i, m, d) = (index_of(k.id), &self.model, k.dim);
        match k.kind {
            Kind::Joint => self.rate(&Rate(m, place, Joint(m, i, place)), place, t, q, u, &mut out[..d]),
            Kind::VelocityJoint => self.rate(&VelocityJoint(m, i, place), place, t, q, u, &mut out[..d]),
            Kind::Element => self.rate(&Element(m, i, place), place, t, q, u, &mut out[..d]),
            Kind::Contact => {
                self.rate(&Rate(m, place, Gap(m, i, place)), place, t, q, u, &mut out[..1]);
                if d > 1 {
                    self.rate(&Slip(m, i, place), place, t, q, u, &mut out[1..d]);
                }
            }
        }
    }

    fn normalise(&self, q: &mut [f64]) {
        self.model.normalise(q);
    }

    fn derivatives(&self) -> Derivatives {
        Derivatives::Exact
    }

    fn name(&self, k: &Interaction) -> String {
        self.parts[k.kind as usize][index_of(k.id)].0.clone()
    }

    fn probe(&self, t: f64, q: &[f64], u: &[f64]) -> Result<(), String> {
        Differentiated::probe(self, t, q, u).map_err(|e| e.to_string())
    }
}

fn unique<'a>(kind: &'static str, names: impl Iterator<Item = &'a String>) -> Result<(), ModelError> {
    let mut seen = std::collections::BTreeSet::new();
    for name in names {
        if name.is_empty() || !seen.insert(name) {
            return Err(ModelError::Name { kind, name: name.clone() });
        }
    }
    Ok(())
}

fn check_kinematics(layout: &Layout, nq: usize, nu: usize) -> Result<(), ModelError> {
    if layout.velocities.is_none() {
        return match layout.kinematics.first() {
            None => Ok(()),
            Some((_, us)) => {
                // Blocks without velocities of their own to map.
                Err(ModelError::Kinematics { what: "velocity", index: us.first().copied().unwrap_or(0), count: 0 })
            }
        };
    }
    let (mut seen_q, mut seen_u) = (vec![0usize; nq], vec![0usize; nu]);
    for (qs, us) in &layout.kinematics {
        for &c in qs {
            *seen_q.get_mut(c).ok_or(ModelError::Kinematics { what: "coordinate", index: c, count: 0 })? += 1;
        }
        for &v in us {
            *seen_u.get_mut(v).ok_or(ModelError::Kinematics { what: "velocity", index: v, count: 0 })? += 1;
        }
        if qs.len().max(us.len()) > MAX_LOCAL {
            let name = "kinematics".to_string();
            return Err(ModelError::TooWide { kind: "kinematic block", name, count: qs.len().max(us.len()) });
        }
    }
    for (what, seen) in [("coordinate", &seen_q), ("velocity", &seen_u)] {
        if let Some(index) = seen.iter().position(|&c| c != 1) {
            return Err(ModelError::Kinematics { what, index, count: seen[index] });
        }
    }
    Ok(())
}

/// Place of a mass block: it is given by its velocities and may depend on the coordinates of their blocks.
fn mass_place(
    layout: &Layout,
    name: &str,
    on: Option<&Vec<usize>>,
    nu: usize,
) -> Result<(Place, Arc<[usize]>), ModelError> {
    let kind = "mass block";
    let dofs: Vec<usize> = on.cloned().unwrap_or_else(|| (0..nu).collect());
    for (i, &d) in dofs.iter().enumerate() {
        if d >= nu || dofs[..i].contains(&d) {
            return Err(ModelError::Coordinate { kind, name: name.into(), index: d, size: nu });
        }
    }
    let coordinates: Vec<usize> = if layout.velocities.is_none() {
        dofs.clone()
    } else {
        let touched = layout.kinematics.iter().filter(|(_, us)| us.iter().any(|u| dofs.contains(u)));
        touched.flat_map(|(qs, _)| qs.iter().copied()).collect()
    };
    let count = dofs.len().max(coordinates.len());
    if count > MAX_LOCAL {
        return Err(ModelError::TooWide { kind, name: name.into(), count });
    }
    let dofs: Arc<[usize]> = dofs.into();
    let own = coordinates.len();
    Ok((Place { extended: coordinates.into(), own, velocities: dofs.clone(), blocks: Vec::new(), whole: false }, dofs))
}

fn note_needs(needs: &mut Needs, kind: Kind, law: &Law) {
    match kind {
        Kind::Joint => needs.joints = true,
        Kind::VelocityJoint => needs.velocity_joints = true,
        Kind::Element => needs.elements = true,
        Kind::Contact => needs.contacts = true,
    }
    needs.note(law);
}

impl Needs {
    /// Adds what a law asks for.
    pub fn note(&mut self, law: &Law) {
        if let Law::Contact(law) = law {
            self.friction_dim = self.friction_dim.max(law.slip_dim);
            self.poisson |= matches!(law.normal, Normal::Poisson { .. });
            self.tangential_restitution |= law.e_tangential != 0.0;
            self.tresca |= matches!(law.friction, Some(Friction::Tresca { .. }));
        }
    }
}
