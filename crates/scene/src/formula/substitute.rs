//! Graph nodes with variables set to zero, as nodes.

use super::graph::{Graph, Id, Op};
use std::collections::BTreeMap;

impl Graph {
    /// `root` with all variables that `vanishes` names set to zero.
    pub fn without(&mut self, root: Id, vanishes: impl Fn(u32) -> bool) -> Id {
        let mut new: BTreeMap<Id, Id> = BTreeMap::new();
        for id in self.reachable(&[root]) {
            let op = self.op(id);
            let of = |a: Id| new[&a];
            let changed = op.children().any(|a| of(a) != a);
            let node = match op {
                Op::Variable(v) if vanishes(v) => self.constant(0.0),
                _ if !changed => id,
                Op::Constant(_) | Op::Variable(_) => id,
                Op::Negate(a) => self.negate(of(a)),
                Op::Add(a, b) => self.add(of(a), of(b)),
                Op::Subtract(a, b) => self.subtract(of(a), of(b)),
                Op::Multiply(a, b) => self.multiply(of(a), of(b)),
                Op::Divide(a, b) => self.divide(of(a), of(b)),
                Op::Power(a, b) => self.power(of(a), of(b)),
                Op::IntegerPower(a, n) => self.integer_power(of(a), n),
                Op::Call(f, a) => self.call(f, of(a)),
                Op::Atan2(a, b) => self.atan2(of(a), of(b)),
                Op::Min(a, b) => self.min(of(a), of(b)),
                Op::Max(a, b) => self.max(of(a), of(b)),
                Op::Compare(c, a, b) => self.compare(c, of(a), of(b)),
                Op::And(a, b) => self.and(of(a), of(b)),
                Op::Not(a) => self.not(of(a)),
                Op::Select(c, a, b) => self.select(of(c), of(a), of(b)),
            };
            new.insert(id, node);
        }
        new[&root]
    }
}
