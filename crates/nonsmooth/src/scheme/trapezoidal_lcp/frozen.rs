//! A step in which some laws keep the mode in which it began, whatever forces that takes: what the motion would be without the transition that
//! is looked for.

use crate::contract::{Candidates, Kind};
use crate::law::{Friction, Law};
use crate::scheme::velocity_level::VelocityLevel;
use crate::scheme::{Failure, Solve};
use crate::state::StepReport;
use complementarity::{FullProblem, Problem, Set};

/// Friction of a slipping contact or element: along −γ_F, so much per unit of the normal force, or a force of so many newtons where it does not
/// depend on one.
pub(super) type Along = [f64; 3];

/// The mode that an interaction keeps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Hold {
    /// None: its law holds.
    Law,
    /// It slips as it did at the start; a contact may open.
    Slip(Along),
    /// It sticks; a contact stays closed.
    Stick,
    /// It stays closed, and slips as it did at the start.
    Closed(Along),
}

/// Whether friction is so much per unit of the normal force.
pub(super) fn follows_normal(law: &Law) -> bool {
    matches!(law, Law::Contact(c) if matches!(c.friction, Some(Friction::Coulomb { .. } | Friction::Polyhedral { .. })))
}

/// Workspace.
#[derive(Default)]
pub(super) struct Frozen {
    full: Option<FullProblem>,
    problem: Problem,
    rows: Vec<f64>,
    r: Vec<f64>,
    /// First component and, where friction follows the normal force, how, of every block.
    map: Vec<(usize, Option<(Along, usize)>)>,
    force: Vec<f64>,
}

impl Frozen {
    /// Forgets everything: another system.
    pub(super) fn reset(&mut self) {
        self.full = None;
    }

    /// The step that is assembled in `work`, with modes kept, into v and percussions by component. False if it has no solution.
    pub(super) fn solve(
        &mut self,
        pattern: &complementarity::linear::Pattern,
        work: &VelocityLevel,
        list: &Candidates,
        holds: &[Hold],
        dt: f64,
        solve: &mut Solve,
        report: &mut StepReport,
        (v, p): (&mut Vec<f64>, &mut Vec<f64>),
    ) -> Result<bool, Failure> {
        let Self { full, problem, rows, r, map, force } = self;
        let full = full.get_or_insert_with(|| FullProblem::new(pattern));
        full.clear_blocks();
        full.matrix.clear();
        full.matrix.add_scaled(1.0, &work.full.matrix);
        full.f.clone_from(&work.full.f);
        rows.clear();
        map.clear();
        p.clear();
        p.resize(list.components(), 0.0);
        let from = &work.full;
        for (i, blocks, row) in work.parts() {
            let k = &list.items()[i];
            let (first, n) = (list.range(i).start, k.dofs.len());
            let along = match holds[i] {
                Hold::Slip(along) | Hold::Closed(along) => Some(along),
                Hold::Law | Hold::Stick => None,
            };
            let normal = if matches!(holds[i], Hold::Closed(_)) { Set::Free { dim: 1 } } else { Set::NonNegative };
            let block = blocks.start;
            match along {
                None => {
                    let mut at = 0;
                    for b in blocks {
                        let set = &from.blocks()[b].set;
                        let d = set.dim();
                        let set = if holds[i] == Hold::Law { set.clone() } else { Set::Free { dim: d } };
                        let values = from.coupling().values(b);
                        full.push_block(set, &k.dofs, &from.c[row + at..row + at + d]).copy_from_slice(values);
                        rows.extend_from_slice(values);
                        map.push((first + at, None));
                        at += d;
                    }
                }
                Some(along) if follows_normal(&k.law) => {
                    let values = from.coupling().values(block);
                    force.clear();
                    force.extend_from_slice(&values[..n]);
                    for (w, a) in values[n..].chunks_exact(n.max(1)).zip(along) {
                        force.iter_mut().zip(w).for_each(|(f, w)| *f += a * w);
                    }
                    full.push_block(normal, &k.dofs, &from.c[row..row + 1]).copy_from_slice(force);
                    rows.extend_from_slice(&values[..n]);
                    map.push((first, Some((along, k.dim() - 1))));
                }
                Some(along) => {
                    // A force that is known: of the rows after the normal one, if there is one.
                    let skip = usize::from(k.kind == Kind::Contact);
                    if skip == 1 {
                        let values = &from.coupling().values(block)[..n];
                        full.push_block(normal, &k.dofs, &from.c[row..row + 1]).copy_from_slice(values);
                        rows.extend_from_slice(values);
                        map.push((first, None));
                    }
                    for (b, at) in (block + skip..blocks.end).zip(0..) {
                        // Elements come component by component where they are boxes.
                        for (j, w) in from.coupling().values(b).chunks_exact(n.max(1)).enumerate() {
                            let percussion = along[at + j] * dt;
                            p[first + skip + at + j] = percussion;
                            k.dofs.iter().zip(w).for_each(|(&d, w)| full.f[d as usize] += percussion * w);
                        }
                    }
                }
            }
        }
        if full.reduce_onto(rows, problem).is_err() {
            return Ok(false);
        }
        r.clear();
        r.resize(full.c.len(), 0.0);
        if !full.blocks().is_empty() {
            let found = solve.solver.solve(problem, r, &solve.options);
            report.take(&found, problem);
            if !found.solved() {
                return Ok(false);
            }
        }
        v.resize(full.f.len(), 0.0);
        full.velocity(r, v);
        for (block, (first, along)) in full.blocks().iter().zip(map) {
            for j in 0..block.set.dim() {
                p[*first + j] = r[block.start + j];
            }
            if let Some((along, slips)) = along {
                for j in 0..*slips {
                    p[*first + 1 + j] = along[j] * r[block.start];
                }
            }
        }
        Ok(true)
    }
}
