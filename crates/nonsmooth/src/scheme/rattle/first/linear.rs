//! The linear model of the first stage at an iterate: M̂, f, Gᵀ and c.

use super::{First, along, takes_mean};
use crate::scheme::Failure;
use crate::scheme::rattle::StepInput;
use complementarity::capacity;

impl First {
    /// Gᵀ at the present (q, v), after [`First::evaluate`].
    pub(super) fn linearise(&mut self, input: &StepInput) {
        let StepInput { system, start, dt, list } = *input;
        let t1 = input.end();
        self.sensitivity.update(system, start, t1, &self.q, &self.v, dt);
        let s = &self.sensitivity;
        self.rows.clear();
        self.slopes.clear();
        for (i, k) in list.items().iter().enumerate().filter(|(i, _)| self.included[*i]) {
            let (n, dim, positions) = (k.dofs.len(), k.dim(), k.position_dim());
            let (w, _) = self.ahead.evaluate(system, list, i, t1, &self.q);
            let at = self.rows.len();
            self.rows.extend_from_slice(w);
            if n == 0 {
                continue;
            }
            let (rows, first) = (&mut self.rows[at..], self.slopes.len());
            capacity::resize(&mut self.slopes, first + dim * n, 0.0);
            let (lengths, velocities) = self.slopes[first..].split_at_mut(positions * n);
            lengths.copy_from_slice(&rows[..positions * n]);
            if !s.identity {
                // g_q B Z/dt in the place of g_q B.
                rows[..positions * n].fill(0.0);
                for (g, line) in lengths.chunks_exact(n).zip(rows.chunks_exact_mut(n)) {
                    s.add_gradient(g, &k.dofs, dt, 1.0 / dt, line);
                }
            }
            if positions < dim && !k.constant {
                system.velocity_gradient(k, positions, t1, &self.q, &self.v, velocities);
                for (g, line) in velocities.chunks_exact(n).zip(rows.chunks_exact_mut(n).skip(positions)) {
                    s.add_gradient(g, &k.dofs, dt, 1.0, line);
                }
            }
            if positions < dim && takes_mean(k, self.means) {
                let (w, _) = self.now.evaluate(system, list, i, start.t, &start.q);
                rows.iter_mut().zip(w).skip(positions * n).for_each(|(row, w)| *row = 0.5 * (*row + w));
                velocities.iter_mut().for_each(|g| *g *= 0.5);
            }
        }
    }

    /// c = ξ − δξ(−y) − Gᵀv: where the linear model starts from.
    fn assemble_offsets(&mut self, input: &StepInput) {
        let Some(work) = self.work.as_mut() else { return };
        self.sensitivity.solve_y();
        let (eta, moves) = (self.sensitivity.eta(), self.kinematics != 0.0);
        let (mut row, mut rows, mut slopes) = (0, &self.rows[..], &self.slopes[..]);
        for (k, _) in input.list.items().iter().zip(&self.included).filter(|(_, included)| **included) {
            let n = k.dofs.len();
            for j in 0..k.dim() {
                let (line, rest) = rows.split_at(n);
                let mut c = self.xi[row] - along(line, &k.dofs, &self.v);
                if moves && n > 0 {
                    let (g, after) = slopes.split_at(n);
                    c -= along(g, &k.dofs, eta) / if j < k.position_dim() { input.dt } else { 1.0 };
                    slopes = after;
                }
                work.full.c[row] = c;
                (rows, row) = (rest, row + 1);
            }
        }
    }

    /// M̂ into the one-step problem.
    pub(super) fn assemble_matrix(&mut self, input: &StepInput) {
        let StepInput { system, start, dt, .. } = *input;
        let Some(work) = self.work.as_mut() else { return };
        if self.constant_matrix && self.assembled_for == Some(dt) {
            return;
        }
        self.assembled_for = Some(dt);
        work.full.matrix.clear();
        work.full.matrix.add_scaled(1.0, &work.mass);
        for (i, info) in system.structure().forces.iter().enumerate() {
            if !info.potential {
                system.force_jacobian(i, start.t, &start.q, &self.v, 0.0, -0.5 * dt, &mut work.full.matrix);
            }
        }
    }

    /// f = M̂ v − M_n (v − u_n) + (dt/2) h.
    pub(super) fn assemble_right_side(&mut self, input: &StepInput) {
        let Some(work) = self.work.as_mut() else { return };
        work.full.matrix.multiply(&self.v, &mut work.full.f);
        for (d, (v, u)) in self.dv.iter_mut().zip(self.v.iter().zip(&input.start.u)) {
            *d = v - u;
        }
        work.mass.multiply(&self.dv, &mut work.scratch);
        for ((f, m), h) in work.full.f.iter_mut().zip(&work.scratch).zip(&work.h) {
            *f += 0.5 * input.dt * h - m;
        }
    }

    /// The linear model at the present iterate as a one-step problem in `problem`; or with the matrices of the last one.
    pub(super) fn reduce(&mut self, input: &StepInput, keep: bool) -> Result<(), Failure> {
        if !keep {
            // The matrix of the prediction is near enough for one iteration.
            if !std::mem::take(&mut self.predicted) {
                self.assemble_matrix(input);
            }
            self.linearise(input);
        }
        self.assemble_right_side(input);
        self.assemble_offsets(input);
        let Some(work) = self.work.as_mut() else { return Ok(()) };
        if keep {
            work.full.free_onto(&self.rows, &mut self.problem);
            return Ok(());
        }
        work.full.reduce_onto(&self.rows, &mut self.problem).map_err(|e| work.singular(input.system, e.row))
    }
}
