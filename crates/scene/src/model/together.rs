//! Combined tapes for all parts of a kind, for small models: mass blocks, forces and gaps of a mechanism share their sines and
//! cosines.

use super::parts::{Kinematics, Variation};
use crate::formula::{Graph, Id, Tape};

/// Most coordinates, velocities and contacts of a model whose parts are evaluated together. In larger models parts share little, and are
/// often evaluated one by one.
const MAX_SIZE: usize = 8;
/// Most operations of a tape.
const MAX_OPERATIONS: usize = 1000;

/// Functions of all parts, as they are collected.
#[derive(Debug, Clone, Default)]
pub(super) struct Roots {
    /// M, row by row; empty unless it is that of all velocities.
    pub(super) mass: Vec<Id>,
    /// Σ h, and whether a gradient in it has other bits than that of its potential by dual numbers.
    pub(super) forces: Vec<Id>,
    pub(super) apart: bool,
    pub(super) gaps: Vec<Id>,
}

/// The combined tapes; `None` for a kind with a single part, or where the tape would be too large.
#[derive(Debug, Clone, Default)]
pub(super) struct CombinedTapes {
    pub(super) mass: Option<Tape>,
    pub(super) forces: Option<Tape>,
    pub(super) gaps: Option<Tape>,
}

impl CombinedTapes {
    /// `masses` and `forces` count parts: one of a kind needs nothing but its own tape.
    pub(super) fn new(graph: &Graph, variation: &Variation, roots: &Roots, masses: usize, forces: usize) -> Self {
        let (q, u): (Vec<usize>, Vec<usize>) = ((0..variation.nq).collect(), (0..variation.nu).collect());
        let small = q.len().max(u.len()).max(roots.gaps.len()) <= MAX_SIZE;
        if !small || !matches!(variation.kinematics, Kinematics::Identity) {
            return Self::default();
        }
        let tape = |roots: &[Id], parts: usize| {
            if parts < 2 || roots.is_empty() || graph.size(roots) > MAX_OPERATIONS {
                return None;
            }
            variation.tape(graph, roots, &q, &u).ok()
        };
        Self {
            mass: tape(&roots.mass, masses),
            forces: tape(&roots.forces, if roots.apart { 0 } else { forces }),
            gaps: tape(&roots.gaps, roots.gaps.len()),
        }
    }
}
