//! What the joints of a step look like from outside, whatever the scheme: a step whose velocities do not keep them is refused, work that they do by its error is said.
//!
//! With γ = Wᵀu + χ at the end of a step and s = max_i (Σ_j |w_ij u_j| + |χ_i|), the speed of the parts that a joint connects, the step has left a joint where
//!
//! ```text
//! |γ| > c s   or   |g(q_{k+1}) − g(q_k)| > c dt s
//! ```
//!
//! with c = 1/2, and s not small beside what it has been in the run (a body at rest moves by rounding). A scheme whose laws are those of the ends has γ = 0 to its order; with W of the middle
//! |γ| is half of the angle of the turn in a step times s.
//!
//! A joint that does not move by itself does no work. What its percussions do nevertheless, with what the stages of a scheme add (lines joints and stages of the ledger), is error. More
//! than 5 % of the largest kinetic energy is a warning.

use crate::accounting::{Ledger, Line};
use crate::contract::{Evaluator, Kind};
use crate::state::{State, Step, bytes};
use complementarity::linear::dense::max_norm;

/// c of the module head.
const APART: f64 = 0.5;
/// Part of the speed at the start of a step from which its velocities do not keep a joint.
const BROKEN: f64 = 0.1;
/// Speeds below this part of the largest of the run are none.
const AT_REST: f64 = 1e-3;
/// Part of the largest kinetic energy that joints may do.
const IDLE: f64 = 0.05;

/// The watch. See the [module](self).
#[derive(Debug, Clone, Default)]
pub(super) struct JointWatch {
    /// Largest speed across a joint that was accepted or tried.
    fastest: f64,
    /// Whether a joint moves by itself.
    driven: bool,
    w: Vec<f64>,
    chi: Vec<f64>,
    g: [Vec<f64>; 2],
}

bytes!(JointWatch { fastest, driven });

impl JointWatch {
    /// The candidate that a step has left, if it has left one. The velocities of the start of a run, its `first` step, may break joints.
    pub(super) fn left(&mut self, system: &Evaluator, start: &State, step: &Step, first: bool) -> Option<usize> {
        let Self { fastest, driven, w, chi, g: [before, after] } = self;
        let end = &step.end;
        let mut found = None;
        for (i, k) in step.candidates.items().iter().enumerate() {
            if k.kind != Kind::Joint || k.constant {
                continue;
            }
            let (n, dim) = (k.dofs.len(), k.dim());
            w.resize(dim * n, 0.0);
            for room in [&mut *chi, &mut *before, &mut *after] {
                room.resize(dim, 0.0);
            }
            system.velocity(k, end.t, &end.q, w, chi);
            system.position(k, start.t, &start.q, before);
            system.position(k, end.t, &end.q, after);
            let (mut speed, mut apart) = (0.0f64, 0.0f64);
            for (row, (chi, (a, b))) in w.chunks_exact(n.max(1)).zip(chi.iter().zip(before.iter().zip(&*after))) {
                let terms = row.iter().zip(k.dofs.iter()).map(|(w, &j)| w * end.u[j as usize]);
                let (sum, size) = terms.fold((*chi, chi.abs()), |(sum, size), v| (sum + v, size + v.abs()));
                speed = speed.max(size);
                apart = apart.max(sum.abs()).max((b - a).abs() / step.dt);
            }
            *driven |= max_norm(chi) > 0.0;
            *fastest = fastest.max(speed);
            if found.is_none() && apart > APART * speed && apart > AT_REST * *fastest {
                // They are made consistent by a jump, which is not an error of the scheme.
                system.velocity(k, start.t, &start.q, w, chi);
                let broken = first
                    && w.chunks_exact(n.max(1)).zip(&*chi).any(|(row, chi)| {
                        let terms = row.iter().zip(k.dofs.iter()).map(|(w, &j)| w * start.u[j as usize]);
                        let (sum, size) = terms.fold((*chi, chi.abs()), |(sum, size), v| (sum + v, size + v.abs()));
                        sum.abs() > BROKEN * size
                    });
                if !broken {
                    found = Some(i);
                }
            }
        }
        found
    }

    /// What to say of the work of joints, with the largest kinetic energy of the run.
    pub(super) fn warning(&self, ledger: &Ledger, kinetic: f64) -> Option<String> {
        let (joints, stages) = (ledger.get(Line::Joints), ledger.get(Line::Stages));
        let work = joints + stages;
        let idle = self.driven || !(joints.abs() > IDLE * kinetic && work.abs() > IDLE * kinetic);
        let (verb, advice) = (if work < 0.0 { "taken" } else { "made" }, "take a shorter step");
        (!idle).then(|| format!("joints have {verb} {:.3e} J by the error of the scheme, of {kinetic:.3e} J of kinetic energy: {advice}", work.abs()))
    }
}
