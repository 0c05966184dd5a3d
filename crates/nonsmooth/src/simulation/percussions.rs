//! Percussions of every interaction, summed over a run.

use super::by_identity::ByIdentity;
use crate::contract::Evaluator;
use crate::state::{Bytes, Reader, Step, Unreadable, Writer, bytes};
use std::collections::BTreeMap;

/// Components up to which a sum needs no memory of its own: contacts of any kind.
const INLINE: usize = 4;

#[derive(Debug, Clone, Default)]
struct Sum {
    dim: usize,
    few: [f64; INLINE],
    many: Vec<f64>,
}

bytes!(Sum { dim, few, many });

/// Sums of percussions, N·s.
#[derive(Debug, Clone, Default)]
pub(crate) struct PercussionSums(ByIdentity<Sum>);

impl Bytes for PercussionSums {
    fn write(&self, out: &mut Writer) {
        self.0.write(out);
    }
    fn read(&mut self, from: &mut Reader) -> Result<(), Unreadable> {
        self.0.read(from)
    }
}

impl PercussionSums {
    /// Adds the percussions of a step. An interaction that can be named beforehand is listed even if it never carried any; one that
    /// detection found, once it did.
    pub(crate) fn add(&mut self, step: &Step) {
        self.0.attend(&step.candidates);
        for (i, k) in step.candidates.items().iter().enumerate() {
            let p = step.percussion(i);
            if p.iter().all(|&v| v == 0.0) && (k.detected() || self.0.known(i).is_some()) {
                continue;
            }
            let sum = self.0.meet(i, k.id);
            sum.dim = k.dim();
            let values = if k.dim() <= INLINE {
                &mut sum.few[..k.dim()]
            } else {
                sum.many.resize(k.dim(), 0.0);
                &mut sum.many[..]
            };
            for (s, v) in values.iter_mut().zip(p) {
                *s += v;
            }
        }
    }

    /// The sums by name; those of the same name (several contact points of two bodies) together.
    pub(crate) fn by_name(&self, system: &Evaluator) -> BTreeMap<String, Vec<f64>> {
        let mut out: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        for (id, sum) in self.0.iter() {
            let values = if sum.dim <= INLINE { &sum.few[..sum.dim] } else { &sum.many[..] };
            let total = out.entry(system.name(*id)).or_default();
            total.resize(total.len().max(values.len()), 0.0);
            for (t, v) in total.iter_mut().zip(values) {
                *t += v;
            }
        }
        out
    }
}
