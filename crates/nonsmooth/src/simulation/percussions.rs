//! Percussions of every interaction, summed over a run.

use super::by_identity::ByIdentity;
use crate::contract::Evaluator;
use crate::state::{Bytes, Reader, Step, Unreadable, Writer, bytes};
use std::collections::BTreeMap;

/// Most components of a sum that is stored without allocation: enough for any contact.
const INLINE_COMPONENTS: usize = 4;

#[derive(Debug, Clone, Default)]
struct PercussionSum {
    dim: usize,
    few: [f64; INLINE_COMPONENTS],
    many: Vec<f64>,
}

bytes!(PercussionSum { dim, few, many });

/// Sums of percussions, N·s.
#[derive(Debug, Clone, Default)]
pub(crate) struct PercussionSums(ByIdentity<PercussionSum>);

impl Bytes for PercussionSums {
    fn write(&self, out: &mut Writer) {
        self.0.write(out);
    }
    fn read(&mut self, from: &mut Reader) -> Result<(), Unreadable> {
        self.0.read(from)
    }
}

impl PercussionSums {
    /// Adds the percussions of a step. Interactions of the model are listed even if they never carried one; contacts found by detection, from
    /// their first percussion on.
    pub(crate) fn add(&mut self, step: &Step) {
        self.0.set_list(&step.candidates);
        for (i, k) in step.candidates.items().iter().enumerate() {
            let p = step.percussion(i);
            if p.iter().all(|&v| v == 0.0) && (k.detected() || self.0.get(i).is_some()) {
                continue;
            }
            let sum = self.0.entry(i, k.id);
            sum.dim = k.dim();
            let values = if k.dim() <= INLINE_COMPONENTS {
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
            let values = if sum.dim <= INLINE_COMPONENTS { &sum.few[..sum.dim] } else { &sum.many[..] };
            let total = out.entry(system.name(*id)).or_default();
            total.resize(total.len().max(values.len()), 0.0);
            for (t, v) in total.iter_mut().zip(values) {
                *t += v;
            }
        }
        out
    }
}
