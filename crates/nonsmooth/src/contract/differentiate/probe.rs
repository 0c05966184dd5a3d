//! Checks of a model at a state: finite values, velocities affine in u, and what was stated as constant or linear.

use super::{Assembly, ModelError, index_of};
use crate::contract::candidates::Kind;
use crate::contract::evaluate::MAX_LOCAL;
use crate::contract::functions::Function;
use crate::contract::part::PartKind;
use complementarity::linear::Matrix;

impl Assembly<'_> {
    /// Checks at a state that every part gives finite values and that velocities are affine in u.
    pub(super) fn probe(&self, t: f64, q: &[f64], u: &[f64]) -> Result<(), ModelError> {
        let bad = |kind: PartKind, name: &str| ModelError::NotFinite { kind, name: name.into(), t };
        let mut h = vec![0.0; self.plan.structure.nu()];
        for (i, info) in self.plan.structure.forces.iter().enumerate() {
            h.fill(0.0);
            self.force(i, t, q, u, &mut h);
            let v = if info.potential { self.potential(i, t, q) } else { 0.0 };
            if !(h.iter().all(|x| x.is_finite()) && v.is_finite()) {
                return Err(bad(PartKind::Force, &info.name));
            }
        }
        if !self.plan.structure.identity_kinematics() {
            let mut qdot = vec![0.0; q.len()];
            self.kinematics(t, q, u, &mut qdot);
            if !qdot.iter().all(|x| x.is_finite()) {
                return Err(bad(PartKind::Kinematics, "B u + beta"));
            }
        }
        self.probe_statements(t, q, u)?;
        for k in &self.plan.interactions {
            let kind = PartKind::from(k.kind);
            let name = self.plan.name(k.id);
            let mut g = vec![0.0; k.position_dim()];
            self.position(k, t, q, &mut g);
            let mut w = vec![0.0; k.dim() * k.dofs.len()];
            let mut chi = vec![0.0; k.dim()];
            self.velocity(k, t, q, &mut w, &mut chi);
            if !g.iter().chain(&w).chain(&chi).all(|x| x.is_finite()) {
                return Err(bad(kind, &name));
            }
            // Affine: the value at two speeds that are not special agrees with Wᵀu + χ.
            let indices = self.part(k);
            for scale in [0.7, 13.0] {
                let lu: Vec<f64> = (0..k.dofs.len()).map(|j| scale * (1.0 + 0.37 * j as f64).sin()).collect();
                let lq: Vec<f64> = indices.extended.iter().map(|&i| q[i]).collect();
                let mut found = vec![0.0; k.dim()];
                let i = index_of(k.id);
                let of = |function| self.function(function, i, indices);
                let rate_of = |function| self.rate_of(function, i, indices);
                match k.kind {
                    Kind::Joint => rate_of(Function::Joint).value(t, &lq, &lu, &mut found),
                    Kind::VelocityJoint => of(Function::VelocityJoint).value(t, &lq, &lu, &mut found),
                    Kind::Element => of(Function::Element).value(t, &lq, &lu, &mut found),
                    Kind::Contact => {
                        rate_of(Function::Gap).value(t, &lq, &lu, &mut found[..1]);
                        if k.dim() > 1 {
                            of(Function::Slip).value(t, &lq, &lu, &mut found[1..]);
                        }
                    }
                }
                let n = k.dofs.len();
                for r in 0..k.dim() {
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

impl Assembly<'_> {
    /// Checks what was stated as constant or linear at a second, shifted state.
    fn probe_statements(&self, t: f64, q: &[f64], u: &[f64]) -> Result<(), ModelError> {
        let s = &self.plan.structure;
        let n = s.nu();
        let t2 = t + 0.731;
        let q2: Vec<f64> = q.iter().enumerate().map(|(i, x)| x + 0.1 * (1.3 + i as f64).sin()).collect();
        let u2: Vec<f64> = u.iter().enumerate().map(|(i, x)| x + 0.2 * (0.7 + i as f64).cos()).collect();
        // Rounding of the evaluation against a real change, which is of the order of the shift.
        let same = |a: &[f64], b: &[f64]| {
            let scale = a.iter().chain(b).fold(0.0f64, |m, v| m.max(v.abs()));
            // A part that cannot be evaluated at the shifted state is not checked.
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
            return changed(PartKind::Mass, "M", "constant");
        }
        for (i, info) in s.forces.iter().enumerate().filter(|(_, f)| f.constant_jacobian) {
            let at = |t: f64, q: &[f64], u: &[f64]| {
                let mut out = entries(&|m| self.force_jacobian(i, t, q, u, 1.0, 0.0, m));
                out.extend(entries(&|m| self.force_jacobian(i, t, q, u, 0.0, 1.0, m)));
                out
            };
            if !same(&at(t, q, u), &at(t2, &q2, &u2)) {
                return changed(PartKind::Force, &info.name, "linear");
            }
        }
        for k in self.plan.interactions.iter().filter(|k| k.constant) {
            let at = |t: f64, q: &[f64]| {
                let (mut w, mut chi) = (vec![0.0; k.dim() * k.dofs.len()], vec![0.0; k.dim()]);
                self.velocity(k, t, q, &mut w, &mut chi);
                w.extend(chi);
                w
            };
            if !same(&at(t, q), &at(t2, &q2)) {
                return changed(k.kind.into(), &self.plan.name(k.id), "linear");
            }
        }
        Ok(())
    }
}
